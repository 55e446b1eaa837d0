-- What new_partitions_on has set is given back: to what was created below, to what a restore
-- brought, to nothing that only has the same name, and not where the owner may not create.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
-- However full the disks of this machine are.
SELECT count(tiered_storage.alter_tier(tier_name, capacity_bytes => 1000000000)) FROM tiered_storage.tiers WHERE tier_name LIKE 'regress%';
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE ROLE regress_gb_owner;
CREATE ROLE regress_gb_other;
GRANT CREATE ON TABLESPACE regress_ts_fast, regress_ts_cheap TO regress_gb_owner, regress_gb_other;
CREATE VIEW regress_gb_places AS
	SELECT c.relname, c.relkind, COALESCE(t.spcname, 'of the database') AS tablespace
	FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.relname LIKE 'regress\_gb\_%' AND c.relkind IN ('p', 'I');
CREATE VIEW regress_gb_says AS
	SELECT relation, verdict, from_tablespace, to_tablespace, reason
	FROM tiered_storage.evaluate_policies() WHERE relation::text LIKE 'regress\_gb\_%';
CREATE VIEW regress_gb_rows AS
	SELECT relation_name, owner_name, before_name, set_name, store_oid = tableoid AS is_own, is_changed
	FROM _tiered_storage.partition_default;
-- As a restore of the whole database brings them: into another table, of other relations.
CREATE PROCEDURE regress_gb_restore() LANGUAGE sql AS
	$$UPDATE _tiered_storage.partition_default SET relation_oid = relation_oid::int8 % 1000 + 1, store_oid = 1$$;

---------------------------------------------------------------------------
-- What was created below, on each level, and the worker has not seen
---------------------------------------------------------------------------

CREATE TABLE regress_gb_t (at date NOT NULL, v int NOT NULL, w int NOT NULL) PARTITION BY RANGE (at) TABLESPACE regress_ts_cheap;
CREATE INDEX regress_gb_t_v ON regress_gb_t (v);
CREATE TABLE regress_gb_t_own PARTITION OF regress_gb_t FOR VALUES FROM ('2026-01-01') TO ('2026-02-01') PARTITION BY HASH (v) TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_gb_t', '90 days', 'regress_slow', new_partitions_on => 'regress_fast') AS id \gset
CALL tiered_storage.migrate();
CREATE TABLE regress_gb_t_1 PARTITION OF regress_gb_t FOR VALUES FROM ('2026-02-01') TO ('2026-03-01') PARTITION BY HASH (v);
CREATE TABLE regress_gb_t_1_1 PARTITION OF regress_gb_t_1 FOR VALUES WITH (MODULUS 1, REMAINDER 0) PARTITION BY HASH (w);
CREATE TABLE regress_gb_t_2 PARTITION OF regress_gb_t FOR VALUES FROM ('2026-03-01') TO ('2026-04-01') PARTITION BY HASH (v) TABLESPACE regress_ts_slow;
SELECT * FROM regress_gb_places ORDER BY 1;
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
CALL tiered_storage.migrate();
-- What somebody had on the tier before, or created elsewhere, stays there.
SELECT * FROM regress_gb_places ORDER BY 1;
CALL tiered_storage.migrate();
SELECT * FROM regress_gb_rows ORDER BY 1;
DROP TABLE regress_gb_t;

---------------------------------------------------------------------------
-- The owner may not create there any more: it is not tried, and said
---------------------------------------------------------------------------

CREATE TABLE regress_gb_r (at date NOT NULL) PARTITION BY RANGE (at) TABLESPACE regress_ts_cheap;
ALTER TABLE regress_gb_r OWNER TO regress_gb_owner;
SELECT tiered_storage.add_tiering_policy('regress_gb_r', '90 days', 'regress_slow', new_partitions_on => 'regress_fast') AS id \gset
CALL tiered_storage.migrate();
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
REVOKE CREATE ON TABLESPACE regress_ts_cheap FROM regress_gb_owner;
SELECT * FROM regress_gb_says;
CALL tiered_storage.migrate();
SELECT * FROM regress_gb_rows;
GRANT CREATE ON TABLESPACE regress_ts_cheap TO regress_gb_owner;
SELECT * FROM regress_gb_says;
CALL tiered_storage.migrate();
SELECT * FROM regress_gb_places;
SELECT * FROM regress_gb_rows;
DROP TABLE regress_gb_r;

---------------------------------------------------------------------------
-- Identity
---------------------------------------------------------------------------

CREATE TABLE regress_gb_i (at date NOT NULL) PARTITION BY RANGE (at) TABLESPACE regress_ts_cheap;
ALTER TABLE regress_gb_i OWNER TO regress_gb_owner;
SELECT tiered_storage.add_tiering_policy('regress_gb_i', '90 days', 'regress_slow', new_partitions_on => 'regress_fast') AS id \gset
CALL tiered_storage.migrate();
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
CREATE TEMP TABLE saved AS SELECT * FROM _tiered_storage.partition_default;
-- Dropped, and another created in its name: that has nothing to do with it.
DROP TABLE regress_gb_i;
CREATE TABLE regress_gb_i (at date NOT NULL) PARTITION BY RANGE (at) TABLESPACE regress_ts_fast;
ALTER TABLE regress_gb_i OWNER TO regress_gb_owner;
SELECT * FROM regress_gb_says;
CALL tiered_storage.migrate();
SELECT * FROM regress_gb_places;
SELECT * FROM regress_gb_rows;
-- Restored: the table of that name and owner has got what it had; nobody else's does.
INSERT INTO _tiered_storage.partition_default SELECT * FROM saved;
CALL regress_gb_restore();
ALTER TABLE regress_gb_i OWNER TO regress_gb_other;
SELECT * FROM regress_gb_says;
CALL tiered_storage.migrate();
SELECT * FROM regress_gb_places;
SELECT * FROM regress_gb_rows;
-- By OID in this cluster, by name in another.
ALTER ROLE regress_gb_owner RENAME TO regress_gb_renamed;
ALTER ROLE regress_gb_other RENAME TO regress_gb_owner;
SELECT * FROM regress_gb_says;
BEGIN;
UPDATE _tiered_storage.partition_default SET system_identifier = 1;
SELECT relation, verdict, from_tablespace, to_tablespace FROM regress_gb_says;
ROLLBACK;
ALTER ROLE regress_gb_owner RENAME TO regress_gb_other;
ALTER ROLE regress_gb_renamed RENAME TO regress_gb_owner;
-- Nor does another kind of relation.
ALTER TABLE regress_gb_i RENAME TO regress_gb_table;
CREATE INDEX regress_gb_i ON regress_gb_table (at) TABLESPACE regress_ts_fast;
ALTER TABLE regress_gb_table OWNER TO regress_gb_owner;
SELECT * FROM regress_gb_says;
DROP INDEX regress_gb_i;
ALTER TABLE regress_gb_table RENAME TO regress_gb_i;
SELECT relation, verdict, from_tablespace, to_tablespace FROM regress_gb_says;
-- As it was found it stays, whatever it is called.
CALL tiered_storage.sample();
SELECT * FROM regress_gb_rows;
ALTER TABLE regress_gb_i RENAME TO regress_gb_renamed;
CALL tiered_storage.migrate();
SELECT * FROM regress_gb_places;
ALTER TABLE regress_gb_renamed RENAME TO regress_gb_i;

-- What is not found for long is forgotten.
INSERT INTO _tiered_storage.partition_default SELECT * FROM saved;
UPDATE _tiered_storage.partition_default SET relation_name = 'regress_gb_gone';
CALL regress_gb_restore();
CALL tiered_storage.sample();
SELECT relation_name, missing_since IS NULL AS found FROM _tiered_storage.partition_default;
UPDATE _tiered_storage.partition_default SET missing_since = now() - interval '31 days';
CALL tiered_storage.sample();
SELECT count(*) FROM _tiered_storage.partition_default;

-- Several rows that mean the same relation: its own stays.
SELECT tiered_storage.add_tiering_policy('regress_gb_i', '90 days', 'regress_slow', new_partitions_on => 'regress_fast') AS id \gset
CALL tiered_storage.migrate();
INSERT INTO _tiered_storage.partition_default SELECT (jsonb_populate_record(p, '{"relation_oid": 1, "store_oid": 1, "before_name": null, "before_oid": 0}')).* FROM _tiered_storage.partition_default p;
INSERT INTO _tiered_storage.partition_default SELECT (jsonb_populate_record(p, '{"relation_oid": 2, "store_oid": 1}')).* FROM _tiered_storage.partition_default p WHERE store_oid = 1;
CALL tiered_storage.sample();
SELECT * FROM regress_gb_rows;

---------------------------------------------------------------------------
-- Restored without its tablespace: the policy sets it again
---------------------------------------------------------------------------

CALL regress_gb_restore();
ALTER TABLE regress_gb_i SET TABLESPACE pg_default;
SELECT relation, verdict FROM regress_gb_says;
CALL tiered_storage.migrate();
SELECT * FROM regress_gb_rows;
-- What somebody had changed, and the last sample had seen, is left as it was.
ALTER TABLE regress_gb_i SET TABLESPACE regress_ts_cheap;
CALL tiered_storage.sample();
SELECT * FROM regress_gb_rows;
CALL regress_gb_restore();
CALL tiered_storage.migrate();
SELECT relation, verdict FROM regress_gb_says;
SELECT * FROM regress_gb_rows;
SELECT * FROM regress_gb_places;
SELECT tiered_storage.remove_tiering_policy(policy_id => :id);
DROP TABLE regress_gb_i;
CALL tiered_storage.migrate();
SELECT count(*) FROM _tiered_storage.partition_default;

DROP VIEW regress_gb_places, regress_gb_says, regress_gb_rows;
DROP PROCEDURE regress_gb_restore;
DROP TABLE saved;
DROP OWNED BY regress_gb_owner, regress_gb_other;
DROP ROLE regress_gb_owner, regress_gb_other;
SET client_min_messages = warning;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
DROP EXTENSION tiered_storage;
