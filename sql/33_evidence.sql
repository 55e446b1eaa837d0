-- How much evidence a move needs: more than chance.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET tiered_storage.track_access = off;
SET tiered_storage.test_page_cache = off;
SET tiered_storage.observation_period = 0;
SET tiered_storage.cooldown = 0;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
CREATE TABLE regress_g_a (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_g_b (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
INSERT INTO regress_g_a SELECT generate_series(1, 30000);
INSERT INTO regress_g_b SELECT generate_series(1, 30000);
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();

-- Random reads per hour, and since when that has been seen.
CREATE FUNCTION regress_reads(relation regclass, per_hour float8, since timestamptz, placed timestamptz DEFAULT NULL)
RETURNS void LANGUAGE sql AS $$
	-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
	UPDATE _tiered_storage.relation_state SET random_fast = r, random_slow = r, device_random_fast = r,
		device_random_slow = r,
		sequential_fast = 0, sequential_slow = 0, device_sequential_fast = 0, device_sequential_slow = 0,
			changes_fast = 0, changes_slow = 0,
		page_writes_fast = 0, page_writes_slow = 0, evidence_interval_s = 0, heat_at = '2030-02-01',
			observed_since = '2020-01-01',
		sampled_since = since, placed_at = placed
	FROM (SELECT per_hour AS r) x WHERE relation_oid = relation
$$;
CREATE VIEW regress_moves AS
	SELECT r.relation, r.recommended_tier, r.confidence, substring(e.reason
		FROM '; (if the relations that need its place|if that goes on)') AS why
	FROM tiered_storage.recommend_placement(relations => '{regress_g_a,regress_g_b}') r,
		_tiered_storage.explain_placement(r.relation) e
	WHERE e.is_recommended ORDER BY r.relation::text COLLATE "C";
UPDATE _tiered_storage.sampler SET last_sample_at = '2030-02-01', wal_since = NULL;
SET tiered_storage.test_now = '2030-02-01 00:00:00+00';
\set ECHO all

---------------------------------------------------------------------------
-- What gives way gives way to what moves
---------------------------------------------------------------------------

SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', pg_relation_size('regress_g_b') * 3 / 2)) \g /dev/null
SET tiered_storage.observation_period = '1d';
SELECT regress_reads('regress_g_b', 1, '2029-01-01') \g /dev/null
SELECT regress_reads('regress_g_a', 300, '2030-01-31 12:00:00') \g /dev/null
SELECT * FROM regress_moves;
SELECT regress_reads('regress_g_a', 300, '2030-01-20') \g /dev/null
SELECT * FROM regress_moves;
SET tiered_storage.observation_period = 0;

---------------------------------------------------------------------------
-- Two change places if not even chance makes them equal
---------------------------------------------------------------------------

-- Counted for an hour, with an error of a tenth or so for each.
SELECT regress_reads('regress_g_b', 100, '2030-01-31 23:00:00'), regress_reads('regress_g_a', 160,
	'2030-01-31 23:00:00') \g /dev/null
UPDATE _tiered_storage.relation_state SET observed_since = '2030-01-31 23:00:00'
	WHERE relation_oid IN ('regress_g_a'::regclass, 'regress_g_b'::regclass);
SELECT relation, recommended_tier, confidence FROM regress_moves;
-- The same rates, known well.
SELECT regress_reads('regress_g_b', 100, '2030-01-31 23:00:00'), regress_reads('regress_g_a', 160,
	'2030-01-31 23:00:00') \g /dev/null
SELECT relation, recommended_tier, confidence FROM regress_moves;

---------------------------------------------------------------------------
-- What an extension has made is left to it, and so are its indexes
---------------------------------------------------------------------------

SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}') \g /dev/null
CREATE INDEX regress_g_index ON regress_g_a (a) TABLESPACE regress_ts_slow;
CALL tiered_storage.sample();
SELECT regress_reads('regress_g_a', 160, '2029-01-01'), regress_reads('regress_g_index', 100,
	'2029-01-01') \g /dev/null
SELECT DISTINCT recommended_tier FROM tiered_storage.recommend_placement(relations => '{regress_g_a}');
ALTER EXTENSION plpgsql ADD TABLE regress_g_a;
SELECT * FROM tiered_storage.recommend_placement(relations => '{regress_g_a}');
SELECT relation, recommended_tier, reason FROM tiered_storage.recommend_placement(true, relations => '{regress_g_a}')
	ORDER BY relation::text COLLATE "C";
SELECT tier_name, is_recommended, reason FROM _tiered_storage.explain_placement('regress_g_a') WHERE NOT is_recommended
	ORDER BY tier_name;
-- A pin is somebody's word.
SELECT tiered_storage.pin('regress_g_a', 'regress_fast') \g /dev/null
SELECT relation, recommended_tier, split_part(reason, ';', 1) AS reason FROM tiered_storage.recommend_placement(relations => '{regress_g_a}')
	ORDER BY relation::text COLLATE "C";
\set ECHO none
SELECT tiered_storage.unpin('regress_g_a') \g /dev/null
ALTER EXTENSION plpgsql DROP TABLE regress_g_a;
DROP INDEX regress_g_index;

SET client_min_messages = warning;
DROP VIEW regress_moves;
DROP TABLE regress_g_a, regress_g_b;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
\set ECHO all
