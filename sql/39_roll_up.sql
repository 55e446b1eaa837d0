-- What is read over a window: the same before and after the roll-up, nothing lost, nothing twice.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
CREATE TABLE regress_r (a int) WITH (autovacuum_enabled = off);
CREATE TABLE regress_r2 (a int) WITH (autovacuum_enabled = off);
SELECT pg_stat_force_next_flush() \g /dev/null
SET tiered_storage.test_now = '2030-05-01 00:00:00+00';
CALL tiered_storage.sample();

---------------------------------------------------------------------------
-- Samples at random times
---------------------------------------------------------------------------

\set ECHO none
-- Three days: most samples are short, some are not, a few take hours; in one of four the
-- database, and in one of three each relation, does nothing.
CREATE TABLE regress_samples AS SELECT NULL::timestamptz AS starts, NULL::float8 AS s, NULL::int AS n LIMIT 0;
DO $$
DECLARE
	at timestamptz := '2030-04-01 00:00:00+00';
	s float8;
BEGIN
	PERFORM setseed(0.35);
	WHILE at < '2030-04-04' LOOP
		s := CASE WHEN random() < 0.02 THEN 3600 + random() * 9000 WHEN random() < 0.2 THEN random() * 3600
			ELSE 1 + random() * 300 END::numeric(12, 3);
		INSERT INTO regress_samples VALUES (at, s, random() * 100000);
		at := at + s * interval '1 second';
	END LOOP;
END
$$;
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks; the load of hours.
TRUNCATE _tiered_storage.load_history, _tiered_storage.relation_history, _tiered_storage.history_hour;
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, rollbacks, temp_bytes, wal_bytes,
	wait_sampled_ms, wait_wal_ms)
	SELECT starts, s, l.n, l.n % 7, l.n::bigint * 1000003, l.n::bigint * 65537, s * 1000,
		CASE WHEN r.n % 5 > 0 THEN l.n END
		FROM regress_samples r CROSS JOIN LATERAL (SELECT CASE WHEN r.n % 4 > 0 THEN r.n ELSE 0 END AS n) l;
INSERT INTO _tiered_storage.relation_history
	SELECT date_trunc('second', starts), r, greatest(1, extract(epoch
		FROM date_trunc('second', starts + s * interval '1 second') - date_trunc('second', starts))),
		n % 11, n, n / 2, n % 13, n % 17, n % 19
	FROM regress_samples, unnest('{regress_r, regress_r2}'::regclass[]) r WHERE (n + r::oid::bigint % 2) % 3 > 0;
-- Two samples within the last second of an hour: each counts a second, so both reach into the next hour.
INSERT INTO _tiered_storage.relation_history
	SELECT '2030-04-02 05:59:59+00'::timestamptz + s * interval '1 second', r, 1, 3, 50, 20, 7, 11, 9
	FROM unnest('{regress_r, regress_r2}'::regclass[]) r, unnest('{0.25,0.75}'::float8[]) s;
UPDATE _tiered_storage.load_state SET observed_since = '2030-04-01 00:00+00', sampled_at = '2030-04-04 00:00+00';
UPDATE _tiered_storage.sampler SET rolled_up_until = NULL, history_since = NULL,
	last_sample_at = '2030-04-04 00:00+00';
UPDATE _tiered_storage.relation_state SET sampled_since = '2030-04-01 00:00+00';
\set ECHO all
SELECT count(*) > 300 AS many, count(*) FILTER (WHERE s > 3600) > 5 AS long, count(*) FILTER (WHERE n % 4 = 0) > 50
	AS idle FROM regress_samples;

\set ECHO none
-- What there is to compare: each hour, and windows of random whole hours; sums of all.
CREATE TABLE regress_hours AS SELECT h AS begins_at, h + (CASE WHEN i <= 72 THEN 1
	ELSE 1 + i % 30 END) * interval '1 hour' AS ends_at
	FROM generate_series(1, 200) i CROSS
		JOIN LATERAL (SELECT '2030-04-01 00:00+00'::timestamptz + (i - 1) % 72 * interval '1 hour' AS h) h;
CREATE FUNCTION regress_read() RETURNS TABLE (what text, at text, value numeric) LANGUAGE sql AS $$
	SELECT t.metric, w::text, t.total::numeric FROM regress_hours w, _tiered_storage.load_totals(w.begins_at,
		w.ends_at) t WHERE t.metric <> 'prorated' AND t.total IS NOT NULL
	UNION ALL SELECT 'sum of all', 'load',
		sum(commits) + sum(rollbacks) + sum(temp_bytes) + sum(wal_bytes) + sum(wait_sampled_ms) + sum(wait_wal_ms)
			FROM _tiered_storage.load_rows
	UNION ALL SELECT 'sum of all', relation_oid::regclass::text,
		sum(scans) + sum(random_reads) + sum(sequential_reads) + sum(hits) + sum(row_changes) + sum(page_writes)
		FROM _tiered_storage.history_rows GROUP BY 2
	UNION ALL SELECT 'file_class_io', file_class, reads_per_hour FROM _tiered_storage.file_class_io()
		WHERE file_class = 'relations'
$$;
CREATE TABLE regress_before AS SELECT * FROM regress_read();
\set ECHO all
SELECT what, count(*) > 0 AS is_there FROM regress_before WHERE what !~ '_|^wait|dead' GROUP BY 1
	ORDER BY what COLLATE "C";
-- Windows side by side have together what they are as one.
SELECT count(*) AS differences FROM (SELECT what, sum(value) AS value FROM (SELECT DISTINCT what, at, value
	FROM regress_before
	WHERE at IN (SELECT w::text FROM regress_hours w WHERE ends_at = begins_at + interval '1 hour')) b GROUP BY 1) h
	JOIN (SELECT metric, total FROM _tiered_storage.load_totals('2030-04-01 00:00+00',
		'2030-04-04 00:00+00')) t ON t.metric = h.what
	WHERE metric IN ('transactions', 'server_wal_bytes', 'wait_wal') AND abs(h.value / total::numeric - 1) > 1e-9;

\set ECHO none
-- Roll-ups at random times.
DO $$
DECLARE
	at timestamptz := '2030-04-01 01:00:00+00';
BEGIN
	WHILE at < '2030-04-04 12:00+00' LOOP
		PERFORM _tiered_storage.roll_up(date_trunc('hour', at), at, 1e12, 1e9);
		at := at + random() * interval '5 hours';
	END LOOP;
END
$$;
\set ECHO all
SELECT count(*) AS rows, count(*) FILTER (WHERE period_s < 3600) > 10 AS parts_of_hours,
	count(*) FILTER (WHERE period_s > 3600) = (SELECT count(*) FROM regress_samples
		WHERE s > 3600) AS long_ones,
	count(*) - count(DISTINCT date_trunc('hour', period_start)) - count(*) FILTER (WHERE period_s > 3600) <= 0
		AS one_each_hour,
	bool_and(period_s > 3600 OR period_start + period_s * interval '1 second' <= date_trunc('hour',
		period_start) + interval '1 hour') AS within_it
	FROM _tiered_storage.load_rows WHERE period_start < '2030-04-04';
SELECT count(*) < 160 AS few, bool_and(period_s > 3600
	OR period_start + period_s * interval '1 second' <= date_trunc('hour', period_start) + interval '1 hour')
		AS within_it
	FROM _tiered_storage.history_rows;
-- A sample that was split is a whole number on both sides, so that an hour may be off by one at either end, and what
-- reads it.
CREATE TABLE regress_after AS SELECT * FROM regress_read();
SELECT what, at, b.value AS before, a.value AS after FROM regress_before b FULL JOIN regress_after a USING (what, at)
	WHERE CASE what WHEN 'sum of all' THEN a.value IS DISTINCT FROM b.value WHEN 'hit_ratio' THEN false
		WHEN 'file_class_io' THEN abs(a.value - b.value) < 0.5 IS NOT TRUE
			ELSE abs(a.value - b.value) <= 2 IS NOT TRUE END
	ORDER BY 1, 2 LIMIT 20;

---------------------------------------------------------------------------
-- One burst
---------------------------------------------------------------------------

\set ECHO none
-- A thousand transactions in ten minutes are a thousand in these ten minutes, until they are rolled up.
TRUNCATE _tiered_storage.load_history, _tiered_storage.relation_history, _tiered_storage.history_hour;
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, rollbacks) VALUES ('2030-04-05 10:20+00',
	600, 1000, 0), ('2030-04-05 10:00+00', 1200, 0, 0), ('2030-04-05 10:30+00', 1800, 0, 0);
INSERT INTO _tiered_storage.relation_history VALUES ('2030-04-05 10:20+00', 'regress_r'::regclass, 600, 0, 900, 100, 0,
	0);
UPDATE _tiered_storage.sampler SET rolled_up_until = NULL;
CREATE FUNCTION regress_burst() RETURNS TABLE (period text, transactions float8, per_second float8) LANGUAGE sql AS $$
	UPDATE _tiered_storage.load_state SET sampled_at = '2030-04-06 09:00+00';
	SELECT w, p.total, p.per_second FROM unnest('{10:20 10:30,10:00 11:00,10:25 10:35,10:30 11:00}'::text[]) w,
		tiered_storage.load_profile(('2030-04-05 ' || split_part(w, ' ', 1))::timestamptz,
			('2030-04-05 ' || split_part(w, ' ', 2))::timestamptz) p WHERE p.metric = 'transactions'
$$;
\set ECHO all
SELECT * FROM regress_burst();
SET tiered_storage.test_now = '2030-04-05 14:00+00';
CALL tiered_storage.sample();
-- Nothing is deleted yet.
SELECT rolled_up_until, history_since FROM _tiered_storage.sampler;
SELECT * FROM regress_burst();

---------------------------------------------------------------------------
-- Windows whose edges rows straddle
---------------------------------------------------------------------------

-- Of the last day: a row that begins before it, one within, one that has not ended with it, one that is over.
TRUNCATE _tiered_storage.load_history, _tiered_storage.relation_history, _tiered_storage.history_hour;
UPDATE _tiered_storage.load_state SET observed_since = '2030-04-01 00:00+00', sampled_at = '2030-04-06 09:00+00';
UPDATE _tiered_storage.sampler SET history_since = NULL;
INSERT INTO _tiered_storage.relation_history VALUES
	('2030-04-05 08:30+00', 'regress_r'::regclass, 3600, 0, 1000, 0, 0, 0), ('2030-04-05 12:00+00',
		'regress_r'::regclass, 3600, 0, 24, 0, 0, 0),
	('2030-04-06 08:45+00', 'regress_r'::regclass, 3600, 0, 400, 0, 0, 0), ('2030-04-05 08:00+00',
		'regress_r2'::regclass, 3600, 0, 7777, 0, 0, 0);
SELECT reads_per_hour * 24 AS reads FROM _tiered_storage.file_class_io() WHERE file_class = 'relations';
-- A row that begins two days before.
INSERT INTO _tiered_storage.relation_history VALUES ('2030-04-04 09:00+00', 'regress_r2'::regclass, 2 * 86400, 0,
	48000,
	0, 0, 0);
DELETE FROM _tiered_storage.relation_history WHERE relation_oid = 'regress_r'::regclass
	AND period_start < '2030-04-05 09:00+00' OR period_start = '2030-04-05 08:00+00';
SELECT reads_per_hour * 24 AS reads FROM _tiered_storage.file_class_io() WHERE file_class = 'relations';
-- Rates are per hour of which there is history.
UPDATE _tiered_storage.sampler SET history_since = '2030-04-06 08:45+00';
DELETE FROM _tiered_storage.relation_history WHERE period_start < '2030-04-06 08:45+00';
SELECT reads_per_hour FROM _tiered_storage.file_class_io() WHERE file_class = 'relations';
UPDATE _tiered_storage.sampler SET history_since = '2030-04-06 09:00+00';
SELECT reads_per_hour FROM _tiered_storage.file_class_io() WHERE file_class = 'relations';

-- A history that cannot be rolled up does not end the sample; the next one tries again.
ALTER TABLE _tiered_storage.history_hour ADD CONSTRAINT regress_never CHECK (id IS NULL) NOT VALID;
SET tiered_storage.test_now = '2030-04-07 10:00+00';
\set VERBOSITY sqlstate
CALL tiered_storage.sample();
\set VERBOSITY default
SELECT last_sample_at, rolled_up_until < last_sample_at - interval '1 hour' AS is_late FROM _tiered_storage.sampler;
ALTER TABLE _tiered_storage.history_hour DROP CONSTRAINT regress_never;
SET tiered_storage.test_now = '2030-04-07 10:01+00';
CALL tiered_storage.sample();
SELECT last_sample_at, rolled_up_until FROM _tiered_storage.sampler;

DROP TABLE regress_r, regress_r2, regress_samples, regress_hours, regress_before, regress_after;
DROP FUNCTION regress_read(), regress_burst();
DROP EXTENSION tiered_storage;
