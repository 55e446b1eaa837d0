-- new_partitions_on: not on a tier that is full, and what does harm is given back at once.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE VIEW regress_nr_says AS
	SELECT relation, verdict, from_tablespace, to_tablespace,
		regexp_replace(reason, '\d+ kB of its', 'N kB of its') AS reason
	FROM tiered_storage.evaluate_policies() WHERE relation::text LIKE 'regress\_nr\_%' ORDER BY relation::text;
CREATE VIEW regress_nr_places AS
	SELECT c.relname, COALESCE(t.spcname, 'of the database') AS tablespace
	FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.relname LIKE 'regress\_nr\_%' AND c.relkind IN ('p', 'I') ORDER BY 1;
-- A hundred blocks of 8192 bytes, as a row takes more than a tenth of one.
CREATE PROCEDURE regress_nr_fill() LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE regress_filler (v text) WITH (fillfactor = 10) TABLESPACE regress_ts_fast;
	INSERT INTO regress_filler SELECT repeat('x', 900) FROM generate_series(1, 100);
END $$;
SELECT tiered_storage.alter_tier('regress_fast', capacity_bytes => 1000000, low_watermark => 0.5, high_watermark => 0.7),
	tiered_storage.alter_tier('regress_slow', capacity_bytes => 100000000);
CREATE TABLE regress_nr_t (at date NOT NULL) PARTITION BY RANGE (at) TABLESPACE regress_ts_cheap;

---------------------------------------------------------------------------
-- A tier that is full when the policy is added
---------------------------------------------------------------------------

CALL regress_nr_fill();
SELECT tiered_storage.add_tiering_policy('regress_nr_t', '90 days', 'regress_slow', new_partitions_on => 'regress_fast') AS id \gset
SELECT * FROM regress_nr_says;
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT * FROM regress_nr_places;
-- There is room.
DROP TABLE regress_filler;
CALL tiered_storage.migrate();
SELECT * FROM regress_nr_says;
CREATE TABLE regress_nr_t_1 PARTITION OF regress_nr_t FOR VALUES FROM ('2026-05-01') TO ('2026-06-01') PARTITION BY RANGE (at);

---------------------------------------------------------------------------
-- It becomes full: what there was before is set again, also while windows are closed
---------------------------------------------------------------------------

-- Between the watermarks nothing changes.
CALL regress_nr_fill();
SELECT tiered_storage.alter_tier('regress_fast', capacity_bytes => 1400000);
SELECT verdict FROM regress_nr_says WHERE relation = 'regress_nr_t'::regclass;
SELECT tiered_storage.alter_tier('regress_fast', capacity_bytes => 1000000);
SELECT tiered_storage.add_move_window('later', NULL, '01:00', '01:05', 'UTC');
SELECT * FROM regress_nr_says;
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT * FROM regress_nr_places;
SELECT * FROM regress_nr_says;
-- Not again before it is below the low watermark; and that waits for the window.
SELECT tiered_storage.alter_tier('regress_fast', capacity_bytes => 1400000);
SELECT verdict FROM regress_nr_says;
SELECT tiered_storage.alter_tier('regress_fast', capacity_bytes => 2000000);
SELECT verdict, reason FROM regress_nr_says;
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT * FROM regress_nr_places;
CALL tiered_storage.migrate(dry_run => true, ignore_windows => true);
CALL tiered_storage.migrate(ignore_windows => true);
SELECT * FROM regress_nr_places;
-- The reserve is as good as the watermark.
SELECT tiered_storage.alter_tier('regress_fast', reserve_fraction => 0.9);
SELECT DISTINCT verdict FROM regress_nr_says;
SELECT tiered_storage.alter_tier('regress_fast', reserve_fraction => 0);
-- And so is the mark of a fullness policy.
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', high_watermark => 0.3, low_watermark => 0.2) AS full_id \gset
SELECT DISTINCT verdict FROM regress_nr_says;
SELECT tiered_storage.remove_fullness_policy('regress_fast');
-- What somebody has put there himself is left there.
ALTER TABLE regress_nr_t_1 SET TABLESPACE regress_ts_cheap;
ALTER TABLE regress_nr_t SET TABLESPACE regress_ts_fast;
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
CALL tiered_storage.migrate(ignore_windows => true);
ALTER TABLE regress_nr_t SET TABLESPACE regress_ts_fast;
SELECT tiered_storage.alter_tier('regress_fast', capacity_bytes => 1000000);
SELECT tiered_storage.add_tiering_policy('regress_nr_t', '90 days', 'regress_slow', new_partitions_on => 'regress_fast') AS id \gset
SELECT * FROM regress_nr_says;
CALL tiered_storage.migrate();
SELECT * FROM regress_nr_places;
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
DROP TABLE regress_filler, regress_nr_t;

---------------------------------------------------------------------------
-- The owner may not create there any more, while windows are closed
---------------------------------------------------------------------------

CREATE ROLE regress_nr_owner;
GRANT CREATE ON TABLESPACE regress_ts_fast TO regress_nr_owner;
CREATE TABLE regress_nr_u (at date NOT NULL) PARTITION BY RANGE (at);
ALTER TABLE regress_nr_u OWNER TO regress_nr_owner;
SELECT tiered_storage.add_tiering_policy('regress_nr_u', '90 days', 'regress_slow', new_partitions_on => 'regress_fast') AS id \gset
CALL tiered_storage.migrate(ignore_windows => true);
REVOKE CREATE ON TABLESPACE regress_ts_fast FROM regress_nr_owner;
SELECT * FROM regress_nr_says;
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT * FROM regress_nr_places;
GRANT CREATE ON TABLESPACE regress_ts_fast TO regress_nr_owner;
-- What no policy asks for any more waits for the window, unless it does harm.
CALL tiered_storage.migrate(ignore_windows => true);
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
SELECT * FROM regress_nr_says;
CALL tiered_storage.migrate();
SELECT * FROM regress_nr_places;
REVOKE CREATE ON TABLESPACE regress_ts_fast FROM regress_nr_owner;
CALL tiered_storage.migrate();
SELECT * FROM regress_nr_places;
SELECT count(*) FROM _tiered_storage.partition_default;
DROP TABLE regress_nr_u;
DROP ROLE regress_nr_owner;
DROP VIEW regress_nr_says, regress_nr_places;
DROP PROCEDURE regress_nr_fill;
SET client_min_messages = warning;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
DROP EXTENSION tiered_storage;
