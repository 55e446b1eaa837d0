---------------------------------------------------------------------------
-- When relations are read: hours, days, bursts.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.hourly_reads(only_relation regclass, OUT relation_oid oid, OUT t timestamptz, OUT reads float8)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT r.relation_oid, date_trunc('hour', r.period_start + n * interval '1 hour'),
		sum((r.random_reads + r.sequential_reads)::float8 / p.hours)
	FROM tiered_storage.relation_history r
	CROSS JOIN LATERAL (SELECT LEAST(GREATEST(ceil(r.period_s / 3600.0), 1), 10000)::integer AS hours) p
	CROSS JOIN LATERAL generate_series(0, p.hours - 1) n
	WHERE (only_relation IS NULL OR r.relation_oid = only_relation) AND r.random_reads + r.sequential_reads > 0
	GROUP BY 1, 2
$$;
COMMENT ON FUNCTION _tiered_storage.hourly_reads(regclass) IS
'reads by hour, by the clock of the reader; a longer period counts in equal parts in each of its hours; no row for an hour without reads';

/*
 * By the clock of the reader: hours and days are those of his time zone.  An
 * hour in which a relation was observed and has no row is an hour without
 * reads, and counts.
 */
CREATE FUNCTION tiered_storage.rhythm(
	only_relation regclass DEFAULT NULL,
	OUT relation regclass, OUT unit text, OUT value integer,
	OUT reads_per_hour float8, OUT share float8, OUT active_days integer, OUT observed_days integer)
RETURNS SETOF record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
BEGIN
	IF only_relation IS NOT NULL AND NOT EXISTS (SELECT FROM tiered_storage.heat h WHERE h.relation = only_relation) THEN
		RAISE EXCEPTION 'relation % is not observed', only_relation
			USING ERRCODE = 'undefined_object',
				HINT = 'Tables, partitions, materialized views, indexes and TOAST tables are, from the next sample on, but for temporary and system ones.';
	END IF;
	RETURN QUERY
		WITH span AS MATERIALIZED (
			SELECT s.last_sample_at AS ends_at, (SELECT min(h.period_start) FROM tiered_storage.relation_history h) AS begins_at
			FROM tiered_storage.sampler s
		), observed AS MATERIALIZED (
			SELECT h.relation, date_trunc('hour', GREATEST(h.sampled_since, s.begins_at)) AS begins_at
			FROM tiered_storage.heat h CROSS JOIN span s
			WHERE only_relation IS NULL OR h.relation = only_relation
		), hour AS MATERIALIZED (
			SELECT t, u.unit, u.value
			FROM span s
			CROSS JOIN LATERAL generate_series((SELECT min(o.begins_at) FROM observed o), s.ends_at, interval '1 hour') t
			CROSS JOIN LATERAL (VALUES
				('hour of day', EXTRACT(hour FROM t)::integer),
				('day of week', EXTRACT(isodow FROM t)::integer),
				('day of month', EXTRACT(day FROM t)::integer),
				('days to end of month', (date_trunc('month', t) + interval '1 month' - interval '1 day')::date - t::date)) u (unit, value)
			WHERE t < s.ends_at
		), slot AS MATERIALIZED (
			SELECT b.begins_at, h.unit, h.value, count(DISTINCT h.t::date)::integer AS days,
				sum(LEAST(1, EXTRACT(epoch FROM s.ends_at - h.t)::float8 / 3600)) AS hours
			FROM (SELECT DISTINCT o.begins_at FROM observed o) b
			JOIN hour h ON h.t >= b.begins_at
			CROSS JOIN span s
			GROUP BY b.begins_at, h.unit, h.value
		), read AS MATERIALIZED (
			SELECT * FROM _tiered_storage.hourly_reads(only_relation)
		), done AS (
			SELECT r.relation_oid, h.unit, h.value, sum(r.reads) AS reads, count(DISTINCT h.t::date)::integer AS days
			FROM read r JOIN hour h ON h.t = r.t
			GROUP BY 1, 2, 3
		)
		SELECT o.relation, s.unit, s.value, COALESCE(d.reads, 0) / s.hours,
			COALESCE(d.reads / NULLIF(sum(d.reads) OVER (PARTITION BY o.relation, s.unit), 0), 0),
			COALESCE(d.days, 0), s.days
		FROM observed o
		JOIN slot s ON s.begins_at = o.begins_at
		LEFT JOIN done d ON d.relation_oid = o.relation AND d.unit = s.unit AND d.value = s.value
		WHERE only_relation IS NOT NULL OR EXISTS (SELECT FROM done x WHERE x.relation_oid = o.relation)
		ORDER BY o.relation::text COLLATE "C",
			array_position('{hour of day,day of week,day of month,days to end of month}'::text[], s.unit), s.value;
END
$$;
COMMENT ON FUNCTION tiered_storage.rhythm(regclass) IS
'when a relation is read: mean reads per hour in each hour of the day, day of the week (1 is Monday), day of the month and day before its end, in the time zone of the reader, over the history that is kept; without an argument all relations that were read';

CREATE FUNCTION _tiered_storage.find_heat_peaks(
	OUT relation regclass, OUT peak_at timestamptz, OUT peak_reads_per_hour float8,
	OUT mean_reads_per_hour float8, OUT busiest_day_of_month integer, OUT busiest_days_to_end_of_month integer,
	OUT active_days integer, OUT observed_days integer, OUT burst_share float8, OUT is_burst boolean)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH span AS (
		SELECT s.last_sample_at AS ends_at, (SELECT min(h.period_start) FROM tiered_storage.relation_history h) AS begins_at
		FROM tiered_storage.sampler s
	), read AS MATERIALIZED (
		SELECT * FROM _tiered_storage.hourly_reads(NULL)
	), peak AS (
		SELECT DISTINCT ON (relation_oid) relation_oid, t, reads FROM read ORDER BY relation_oid, reads DESC, t
	), day AS (
		SELECT relation_oid, t::date AS day, sum(reads) AS reads FROM read GROUP BY 1, 2
	), ranked AS (
		SELECT d.relation_oid, d.reads, row_number() OVER (PARTITION BY d.relation_oid ORDER BY d.reads DESC) AS place,
			(SELECT (s.ends_at - interval '1 microsecond')::date FROM span s) - GREATEST(h.sampled_since, (SELECT s.begins_at FROM span s))::date + 1 AS days,
			h.relation, EXTRACT(epoch FROM (SELECT s.ends_at FROM span s) - GREATEST(h.sampled_since, (SELECT s.begins_at FROM span s)))::float8 / 3600 AS hours
		FROM day d JOIN tiered_storage.heat h ON h.relation = d.relation_oid
	), summed AS (
		SELECT relation, relation_oid, sum(reads) AS reads, count(*)::integer AS active_days, max(days) AS days, max(hours) AS hours,
			sum(reads) FILTER (WHERE place <= ceil(days / 10.0)) / sum(reads) AS burst_share
		FROM ranked GROUP BY relation, relation_oid
	), slot AS MATERIALIZED (
		SELECT DISTINCT ON (r.relation, r.unit) r.relation, r.unit, r.value
		FROM tiered_storage.rhythm() r
		WHERE r.unit IN ('day of month', 'days to end of month')
		ORDER BY r.relation, r.unit, r.reads_per_hour DESC, r.value
	)
	SELECT s.relation, p.t, p.reads, s.reads / GREATEST(s.hours, 1), m.value, e.value,
		s.active_days, s.days, s.burst_share, s.days >= 10 AND s.burst_share > 0.5
	FROM summed s
	JOIN peak p ON p.relation_oid = s.relation_oid
	LEFT JOIN slot m ON m.relation = s.relation AND m.unit = 'day of month'
	LEFT JOIN slot e ON e.relation = s.relation AND e.unit = 'days to end of month'
$$;
COMMENT ON FUNCTION _tiered_storage.find_heat_peaks() IS 'see the view heat_peaks';

CREATE VIEW tiered_storage.heat_peaks AS
	SELECT * FROM _tiered_storage.find_heat_peaks();
COMMENT ON VIEW tiered_storage.heat_peaks IS
'the busiest hour of each relation in the history that is kept, its busiest day of the month, and whether it works in bursts: more than half of its reads on the busiest tenth of at least ten observed days; days are those of the reader''s time zone';
COMMENT ON COLUMN tiered_storage.heat_peaks.relation IS 'the relation';
COMMENT ON COLUMN tiered_storage.heat_peaks.peak_at IS 'begin of its busiest hour';
COMMENT ON COLUMN tiered_storage.heat_peaks.peak_reads_per_hour IS 'reads in that hour';
COMMENT ON COLUMN tiered_storage.heat_peaks.mean_reads_per_hour IS 'mean over the history';
COMMENT ON COLUMN tiered_storage.heat_peaks.busiest_day_of_month IS 'day of the month with most reads';
COMMENT ON COLUMN tiered_storage.heat_peaks.busiest_days_to_end_of_month IS 'the same, counted from the end of the month: 0 is its last day';
COMMENT ON COLUMN tiered_storage.heat_peaks.active_days IS 'days on which it was read';
COMMENT ON COLUMN tiered_storage.heat_peaks.observed_days IS 'days on which it was observed';
COMMENT ON COLUMN tiered_storage.heat_peaks.burst_share IS 'share of its reads on the busiest tenth of the observed days';
COMMENT ON COLUMN tiered_storage.heat_peaks.is_burst IS 'more than half of its reads on the busiest tenth of at least ten observed days';
