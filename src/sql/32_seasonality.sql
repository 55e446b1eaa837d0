---------------------------------------------------------------------------
-- When relations are read: hours, days, bursts.
---------------------------------------------------------------------------

/*
 * The groups, an hour of each relation, are too many to be sorted, but the planner, which
 * does not know the argument, expects few.
 */
CREATE FUNCTION _tiered_storage.hourly_reads(only_relation regclass, OUT relation_oid oid,
	OUT t timestamptz, OUT reads float8)
RETURNS SETOF record
LANGUAGE sql STABLE ROWS 100000 SET search_path = pg_catalog, pg_temp SET jit = off
	SET work_mem = '64MB' SET enable_sort = off SET max_parallel_workers_per_gather = 0
AS $$
	SELECT x.relation_oid, x.t, sum(x.reads)
	FROM (
		SELECT r.relation_oid, date_trunc('hour', r.period_start) AS t,
			(r.random_reads + r.sequential_reads)::float8 AS reads
		FROM tiered_storage.relation_history r
		WHERE (only_relation IS NULL OR r.relation_oid = only_relation)
			AND r.random_reads + r.sequential_reads > 0 AND r.period_s <= 3600
		UNION ALL
		SELECT r.relation_oid, date_trunc('hour', r.period_start + n * interval '1 hour'),
			(r.random_reads + r.sequential_reads)::float8 / p.hours
		FROM tiered_storage.relation_history r
		CROSS JOIN LATERAL (SELECT LEAST(ceil(r.period_s / 3600.0), 10000)::integer AS hours) p
		CROSS JOIN LATERAL generate_series(0, p.hours - 1) n
		WHERE (only_relation IS NULL OR r.relation_oid = only_relation)
			AND r.random_reads + r.sequential_reads > 0 AND r.period_s > 3600) x
	GROUP BY 1, 2
$$;
COMMENT ON FUNCTION _tiered_storage.hourly_reads(regclass) IS
'blocks read by hour, in the time zone of the session; a longer period is spread evenly over its '
'hours; no row for an hour without reads';

CREATE FUNCTION _tiered_storage.observed_slots(begins_at timestamptz, ends_at timestamptz,
	OUT cycle text, OUT value integer, OUT days integer, OUT hours float8)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT u.cycle, u.value, count(DISTINCT t::date)::integer,
		sum(LEAST(1, EXTRACT(epoch FROM ends_at - t)::float8 / 3600))
	-- Of the last 20 years at most, which bounds the rows; a series until infinity has no end.
	FROM generate_series(GREATEST(begins_at, ends_at - interval '20 years'),
		CASE WHEN isfinite(ends_at) THEN ends_at END, interval '1 hour') t
	CROSS JOIN LATERAL (VALUES
		('hour of day', EXTRACT(hour FROM t)::integer),
		('day of week', EXTRACT(isodow FROM t)::integer),
		('day of month', EXTRACT(day FROM t)::integer),
		('days to end of month', (date_trunc('month', t) + interval '1 month'
			- interval '1 day')::date - t::date)) u (cycle, value)
	WHERE t < ends_at
	GROUP BY 1, 2
$$;
COMMENT ON FUNCTION _tiered_storage.observed_slots(timestamptz, timestamptz) IS
'how many days and hours of a period fall on each hour of the day, day of the week, day of the '
'month and day before the end of the month, in the time zone of the session';

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
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
	SET work_mem = '64MB'
AS $$
#variable_conflict use_column
BEGIN
	IF only_relation IS NOT NULL AND NOT EXISTS (SELECT FROM tiered_storage.heat h
		WHERE h.relation = only_relation) THEN
		RAISE EXCEPTION 'relation % is not observed', only_relation
			USING ERRCODE = 'undefined_object',
				HINT = 'Tables, partitions, materialized views, indexes and TOAST tables are, '
					'from the next sample on, but for temporary and system ones.';
	END IF;
	RETURN QUERY
		WITH span AS MATERIALIZED (
			SELECT s.last_sample_at AS ends_at,
				(SELECT min(h.period_start) FROM tiered_storage.relation_history h) AS begins_at
			FROM tiered_storage.sampler s
		), observed AS MATERIALIZED (
			SELECT h.relation, h.relation::text COLLATE "C" AS name,
				date_trunc('hour', GREATEST(h.sampled_since, s.begins_at)) AS begins_at
			FROM tiered_storage.heat h CROSS JOIN span s
			WHERE only_relation IS NULL OR h.relation = only_relation
		), slot AS MATERIALIZED (
			SELECT b.begins_at, x.*
			FROM (SELECT DISTINCT o.begins_at FROM observed o) b
			CROSS JOIN span s
			CROSS JOIN LATERAL _tiered_storage.observed_slots(b.begins_at, s.ends_at) x
		), read AS (
			SELECT * FROM _tiered_storage.hourly_reads(only_relation)
		), hour AS MATERIALIZED (	-- one that clocks show twice is one
			SELECT r.relation_oid, r.t::date AS day, EXTRACT(hour FROM r.t)::integer AS hour,
				sum(r.reads) AS reads
			FROM read r
			WHERE r.t >= (SELECT min(o.begins_at) FROM observed o)
				AND r.t < (SELECT s.ends_at FROM span s)
			GROUP BY 1, 2, 3
		), day AS MATERIALIZED (
			SELECT h.relation_oid, h.day, sum(h.reads) AS reads FROM hour h GROUP BY 1, 2
		), done AS (
			SELECT h.relation_oid, 'hour of day' AS cycle, h.hour AS value, sum(h.reads) AS reads,
				count(*)::integer AS days
			FROM hour h
			GROUP BY 1, 3
			UNION ALL
			SELECT d.relation_oid, u.cycle, u.value, sum(d.reads), count(*)::integer
			FROM day d
			CROSS JOIN LATERAL (VALUES
				('day of week', EXTRACT(isodow FROM d.day)::integer),
				('day of month', EXTRACT(day FROM d.day)::integer),
				('days to end of month', (date_trunc('month', d.day::timestamp)
					+ interval '1 month')::date - d.day - 1)) u (cycle, value)
			GROUP BY 1, 2, 3
		)
		SELECT o.relation, s.cycle, s.value, COALESCE(d.reads, 0) / s.hours,
			COALESCE(d.reads / NULLIF(sum(d.reads) OVER (PARTITION BY o.relation, s.cycle), 0), 0),
			COALESCE(d.days, 0), s.days
		FROM observed o
		JOIN slot s ON s.begins_at = o.begins_at
		LEFT JOIN done d ON d.relation_oid = o.relation AND d.cycle = s.cycle AND d.value = s.value
		WHERE only_relation IS NOT NULL OR EXISTS (SELECT FROM done x
			WHERE x.relation_oid = o.relation)
		ORDER BY o.name,
			array_position('{hour of day,day of week,day of month,days to end of month}'::text[],
				s.cycle), s.value;
END
$$;
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
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
	SET work_mem = '64MB'
AS $$
	WITH span AS (
		SELECT s.last_sample_at AS ends_at, (SELECT min(h.period_start)
			FROM tiered_storage.relation_history h) AS begins_at
		FROM tiered_storage.sampler s
	), read AS MATERIALIZED (
		SELECT * FROM _tiered_storage.hourly_reads(NULL)
	), peak AS (
		SELECT DISTINCT ON (relation_oid) relation_oid, t, reads FROM read
			ORDER BY relation_oid, reads DESC, t
	), day AS (
		SELECT relation_oid, t::date AS day, sum(reads) AS reads FROM read GROUP BY 1, 2
	), ranked AS (
		SELECT d.relation_oid, d.reads, row_number() OVER (PARTITION BY d.relation_oid
			ORDER BY d.reads DESC) AS place,
			(SELECT (s.ends_at - interval '1 microsecond')::date FROM span s)
				- GREATEST(h.sampled_since, (SELECT s.begins_at FROM span s))::date + 1 AS days,
			h.relation, EXTRACT(epoch FROM (SELECT s.ends_at FROM span s)
				- GREATEST(h.sampled_since, (SELECT s.begins_at FROM span s)))::float8 / 3600
				AS hours
		FROM day d JOIN tiered_storage.heat h ON h.relation = d.relation_oid
	), summed AS (
		SELECT relation, relation_oid, sum(reads) AS reads, count(*)::integer AS active_days,
			max(days) AS days, max(hours) AS hours,
			sum(reads) FILTER (WHERE place <= ceil(days / 10.0)) / sum(reads) AS burst_share
		FROM ranked GROUP BY relation, relation_oid
	), observed AS MATERIALIZED (
		SELECT h.relation::oid AS relation_oid,
			date_trunc('hour', GREATEST(h.sampled_since, s.begins_at)) AS begins_at
		FROM tiered_storage.heat h CROSS JOIN span s
	), slot AS MATERIALIZED (
		SELECT b.begins_at, x.cycle, x.value, x.hours
		FROM (SELECT DISTINCT o.begins_at FROM observed o) b
		CROSS JOIN span s
		CROSS JOIN LATERAL _tiered_storage.observed_slots(b.begins_at, s.ends_at) x
	), done AS (
		SELECT d.relation_oid, u.cycle, u.value, sum(d.reads) AS reads
		FROM day d
		CROSS JOIN LATERAL (VALUES
			('day of month', EXTRACT(day FROM d.day)::integer),
			('days to end of month', (date_trunc('month', d.day::timestamp)
				+ interval '1 month')::date - d.day - 1)) u (cycle, value)
		GROUP BY 1, 2, 3
	), busiest AS MATERIALIZED (
		SELECT DISTINCT ON (d.relation_oid, d.cycle) d.relation_oid, d.cycle, d.value
		FROM done d
		JOIN observed o ON o.relation_oid = d.relation_oid
		JOIN slot s ON s.begins_at = o.begins_at AND s.cycle = d.cycle AND s.value = d.value
		ORDER BY d.relation_oid, d.cycle, d.reads / s.hours DESC, d.value
	)
	SELECT s.relation, p.t, p.reads, s.reads / GREATEST(s.hours, 1), m.value, e.value,
		s.active_days, s.days, s.burst_share, s.days >= 10 AND s.burst_share > 0.5
	FROM summed s
	JOIN peak p ON p.relation_oid = s.relation_oid
	LEFT JOIN busiest m ON m.relation_oid = s.relation_oid AND m.cycle = 'day of month'
	LEFT JOIN busiest e ON e.relation_oid = s.relation_oid AND e.cycle = 'days to end of month'
$$;
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
