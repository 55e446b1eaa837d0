-- Relations on a tier that compresses: each by what was estimated of it.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_packed LOCATION '';
SET client_min_messages = warning;
DO $$
BEGIN
	PERFORM tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, price_per_gb_month => 1000000,
	device => '{"compressed": false}');
	PERFORM tiered_storage.add_tier('regress_packed', '{regress_ts_packed}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, price_per_gb_month => 100000,
	device => '{"compressed": true, "compression_ratio": 2}');
END
$$;
SET tiered_storage.track_access = off;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';

-- 64 blocks each.
CREATE TABLE regress_p_1 (a int, t text) WITH (autovacuum_enabled = off, fillfactor = 100) TABLESPACE regress_ts_fast;
ALTER TABLE regress_p_1 ALTER t SET STORAGE PLAIN;
INSERT INTO regress_p_1 SELECT i, repeat('x', 7000) FROM generate_series(1, 64) i;
CREATE TABLE regress_p_2 (LIKE regress_p_1 INCLUDING STORAGE) WITH (autovacuum_enabled = off)
	TABLESPACE regress_ts_fast;
INSERT INTO regress_p_2 SELECT * FROM regress_p_1;
CREATE TABLE regress_p_3 (LIKE regress_p_1 INCLUDING STORAGE) WITH (autovacuum_enabled = off)
	TABLESPACE regress_ts_packed;
INSERT INTO regress_p_3 SELECT * FROM regress_p_1;
CREATE TABLE regress_p_4 (LIKE regress_p_1 INCLUDING STORAGE) WITH (autovacuum_enabled = off)
	TABLESPACE regress_ts_packed;
INSERT INTO regress_p_4 SELECT * FROM regress_p_1;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, heat_at = '2030-01-01 00:00:00+00',
	observed_since = '2020-01-01', sampled_since = '2029-12-01',
	random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0,
		sequential_high_slow = 0,
	hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0,
		size_bytes = CASE kind WHEN 'r' THEN 64 * 8192 ELSE 0 END;

CREATE FUNCTION regress_p(overrides jsonb DEFAULT NULL) RETURNS TABLE (relation text, on_fast numeric,
	on_packed numeric, price numeric) LANGUAGE sql AS $$
	SELECT r.name, max(e.stored_bytes) FILTER (WHERE e.tier_name = 'regress_fast') / 8192.0,
		round(max(e.stored_bytes) FILTER (WHERE e.tier_name = 'regress_packed') / 8192.0, 2),
		round(max(e.price_per_month) FILTER (WHERE e.tier_name = 'regress_packed')::numeric, 2)
	FROM (VALUES ('regress_p_1'), ('regress_p_2'), ('regress_p_3'), ('regress_p_4')) r (name),
		LATERAL _tiered_storage.explain_placement(r.name::regclass, overrides => regress_p.overrides) e
	GROUP BY r.name ORDER BY r.name
$$;
-- What was found, by whatever the file system beneath compresses with.
CREATE FUNCTION regress_p_found(relation text, ratio float8, minutes int DEFAULT 0) RETURNS void LANGUAGE sql AS $$
	INSERT INTO _tiered_storage.compression_estimate (relation_oid, algorithm, estimated_at, ratio, ratio_low,
		ratio_high, size_bytes, pieces, sampled_pieces) SELECT COALESCE(to_regclass(relation)::oid, 0), a.name,
			'2030-01-01'::timestamptz + make_interval(mins => minutes), ratio, 1, 32, 64 * 8192, 4, 4
		FROM (VALUES ('zstd'::name), ('lz4'), ('zlib'), ('lzo')) a (name)
$$;
SET client_min_messages = warning;
\set ECHO all

-- Nothing was estimated: all by the ratio of the tier.
SELECT * FROM regress_p();
-- What comes is by its own estimate, the last one of it.
SELECT regress_p_found('regress_p_1', 8), regress_p_found('regress_p_2', 4), regress_p_found('regress_p_2', 1,
	1) \g /dev/null
SELECT * FROM regress_p();
-- What is there takes together what it took: the ratio of the tier is what was found there.
SELECT regress_p_found('regress_p_3', 4) \g /dev/null
SELECT * FROM regress_p();
SELECT tier_name, used_bytes / 8192.0 AS used FROM _tiered_storage.placement_summary() WHERE tier_name IS NOT NULL;
-- Who asks what if the tier compressed by another ratio is told of that.
SELECT * FROM regress_p('{"regress_packed": {"compression_ratio": 16}}');
SELECT * FROM regress_p('{"regress_packed": {"price_per_gb_month": 200000}}');
-- Where money decides, and there is little room: what compresses well goes there.
SELECT tiered_storage.alter_tier('regress_packed',
	device => jsonb_build_object('capacity_bytes', 80 * 8192)) \g /dev/null
SELECT relation, recommended_tier FROM tiered_storage.recommend_placement(objective => 'money') ORDER BY 1::text;
DELETE FROM _tiered_storage.compression_estimate;
SELECT regress_p_found('regress_p_2', 8), regress_p_found('regress_p_1', 1) \g /dev/null
SELECT relation, recommended_tier FROM tiered_storage.recommend_placement(objective => 'money') ORDER BY 1::text;

-- What has grown to more than twice its size since, or was rewritten, is not any more what was looked at.
DELETE FROM _tiered_storage.compression_estimate;
SELECT regress_p_found('regress_p_1', 8), regress_p_found('regress_p_2', 8) \g /dev/null
CREATE VIEW regress_p_used AS SELECT relation_oid::regclass AS relation, unused_reason
	FROM _tiered_storage.last_estimates WHERE algorithm = 'lz4' ORDER BY relation_oid::regclass::text;
UPDATE _tiered_storage.compression_estimate SET size_bytes = 32 * 8192 WHERE relation_oid = 'regress_p_1'::regclass;
SELECT * FROM regress_p();
UPDATE _tiered_storage.compression_estimate SET size_bytes = 32 * 8192 - 1
	WHERE relation_oid = 'regress_p_1'::regclass;
SELECT * FROM regress_p();
SELECT * FROM regress_p_used;
-- Rewritten, as a sample notices later: of what was estimated in between it was the new file.
UPDATE _tiered_storage.compression_estimate SET size_bytes = 64 * 8192,
	file_number = pg_relation_filenode(relation_oid);
UPDATE _tiered_storage.relation_state SET rewritten_at = '2030-01-01 00:30:00+00'
	WHERE relation_oid = 'regress_p_2'::regclass;
SELECT * FROM regress_p_used;
UPDATE _tiered_storage.compression_estimate SET file_number = 1;
SELECT * FROM regress_p_used;
SELECT * FROM regress_p();
SELECT regress_p_found('regress_p_2', 4, 60) \g /dev/null
SELECT * FROM regress_p_used;
SELECT * FROM regress_p();
UPDATE _tiered_storage.relation_state SET rewritten_at = NULL WHERE relation_oid = 'regress_p_2'::regclass;
DROP VIEW regress_p_used;

-- A tier that does not compress knows of no ratio.
SELECT tiered_storage.alter_tier('regress_packed', device => '{"compressed": false}') \g /dev/null
SELECT * FROM regress_p();
SELECT tiered_storage.alter_tier('regress_packed',
	device => '{"compressed": true, "compression_ratio": 2}') \g /dev/null

-- Values that no estimate has do no harm.
DELETE FROM _tiered_storage.compression_estimate;
SELECT regress_p_found('regress_p_1', 'NaN'), regress_p_found('regress_p_2', 'Infinity'),
	regress_p_found('regress_p_3',
	-1), regress_p_found('regress_p_4', 0), regress_p_found('regress_p_5', 2) \g /dev/null
SELECT * FROM regress_p();
\set ECHO none
-- TOAST is a part of its table.
DELETE FROM _tiered_storage.compression_estimate;
CREATE TABLE regress_p_5 (a int, t text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
SELECT reltoastrelid::regclass AS toast FROM pg_class WHERE oid = 'regress_p_5'::regclass \gset
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT regress_p_found('regress_p_5', 32), regress_p_found(:'toast', 32.0 / 31) \g /dev/null
-- Both as large, with nothing else.
UPDATE _tiered_storage.relation_state SET sampled_since = '2029-12-01', size_bytes = CASE
	WHEN relation_oid IN ('regress_p_5'::regclass, :'toast'::regclass) THEN 64 * 8192 ELSE 0 END;
\set ECHO all
SELECT tier_name, round(stored_bytes / 8192.0, 2) AS blocks FROM _tiered_storage.explain_placement('regress_p_5')
	ORDER BY tier_name;
-- Of one part it is outdated: the other one is not taken for all.
UPDATE _tiered_storage.compression_estimate SET ratio = 16 WHERE relation_oid = 'regress_p_5'::regclass;
SELECT tier_name, round(stored_bytes / 8192.0, 2) AS blocks FROM _tiered_storage.explain_placement('regress_p_5')
	ORDER BY tier_name;
UPDATE _tiered_storage.compression_estimate SET size_bytes = 8192 WHERE relation_oid = :'toast'::regclass;
SELECT tier_name, round(stored_bytes / 8192.0, 2) AS blocks FROM _tiered_storage.explain_placement('regress_p_5')
	ORDER BY tier_name;

DROP EXTENSION tiered_storage;
DROP TABLE regress_p_1, regress_p_2, regress_p_3, regress_p_4, regress_p_5;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_packed;
DROP FUNCTION regress_p, regress_p_found;
