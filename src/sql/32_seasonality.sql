---------------------------------------------------------------------------
-- When relations are read: hours, days, bursts.
---------------------------------------------------------------------------

/*
 * Hours and days are those of the session's time zone.  An hour in which a relation was
 * observed and has no row is an hour without reads, and counts.
 */
CREATE FUNCTION tiered_storage.seasonality(
	only_relation regclass DEFAULT NULL,
	OUT relation regclass, OUT cycle text, OUT value integer,
	OUT reads_per_hour float8, OUT share float8, OUT active_days integer,
	OUT observed_days integer)
RETURNS SETOF record
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_seasonality';
COMMENT ON FUNCTION tiered_storage.seasonality(regclass) IS
'when relations are read: mean reads per hour by hour of the day, day of the week (1 is Monday), '
'day of the month and days to the end of the month, in the time zone of the session, over the '
'history that is kept; without an argument all relations that were read';

CREATE FUNCTION _tiered_storage.find_heat_peaks(
	OUT relation regclass, OUT peak_at timestamptz, OUT peak_reads_per_hour float8,
	OUT mean_reads_per_hour float8, OUT busiest_day_of_month integer,
	OUT busiest_days_to_end_of_month integer,
	OUT active_days integer, OUT observed_days integer, OUT burst_share float8,
	OUT is_burst boolean)
RETURNS SETOF record
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_heat_peaks';
COMMENT ON FUNCTION _tiered_storage.find_heat_peaks() IS
'the rows of the view heat_peaks';

CREATE VIEW tiered_storage.heat_peaks AS
	SELECT * FROM _tiered_storage.find_heat_peaks();
COMMENT ON VIEW tiered_storage.heat_peaks IS
'the busiest hour and day of each relation in the history that is kept, and whether it is read '
'in bursts; days are those of the session''s time zone';
COMMENT ON COLUMN tiered_storage.heat_peaks.relation IS
'table, partition, materialized view, index or TOAST table';
COMMENT ON COLUMN tiered_storage.heat_peaks.peak_at IS 'start of its busiest hour';
COMMENT ON COLUMN tiered_storage.heat_peaks.peak_reads_per_hour IS
'blocks read in its busiest hour';
COMMENT ON COLUMN tiered_storage.heat_peaks.mean_reads_per_hour IS
'blocks read per hour, mean over the history';
COMMENT ON COLUMN tiered_storage.heat_peaks.busiest_day_of_month IS
'day of the month with the most reads per hour';
COMMENT ON COLUMN tiered_storage.heat_peaks.busiest_days_to_end_of_month IS
'the same counted from the end of the month; 0 is its last day';
COMMENT ON COLUMN tiered_storage.heat_peaks.active_days IS 'number of days on which it was read';
COMMENT ON COLUMN tiered_storage.heat_peaks.observed_days IS
'number of days on which it was observed';
COMMENT ON COLUMN tiered_storage.heat_peaks.burst_share IS
'fraction of its reads on the busiest tenth of the observed days';
COMMENT ON COLUMN tiered_storage.heat_peaks.is_burst IS
'whether more than half of its reads fell on the busiest tenth of at least ten observed days';
