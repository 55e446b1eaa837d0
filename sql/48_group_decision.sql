-- What a policy on a schema has found to be due is moved: whether it still is, is
-- decided by the same rules right before the move.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE ROLE regress_old;
CREATE ROLE regress_new;
GRANT USAGE ON SCHEMA tiered_storage TO regress_old, regress_new;
GRANT EXECUTE ON FUNCTION tiered_storage.add_tiering_policy, tiered_storage.alter_policy,
	tiered_storage.remove_policy TO regress_old, regress_new;
GRANT CREATE ON TABLESPACE regress_ts_fast, regress_ts_slow, regress_ts_cheap TO regress_old, regress_new;
CREATE SCHEMA regress_g AUTHORIZATION regress_old;
GRANT ALL ON SCHEMA regress_g TO regress_new;
CREATE VIEW regress_says AS
	SELECT policy_id, relation, verdict, to_tier FROM _tiered_storage.evaluate_policies();
CREATE VIEW regress_where AS
	SELECT c.oid::regclass AS relation, t.spcname FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.relnamespace = 'regress_g'::regnamespace AND c.relkind = 'r';

CREATE TABLE regress_g.events (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_g.events_2020 PARTITION OF regress_g.events FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_g', move_after => '90 days', tier => 'regress_slow')
	AS schema \gset
\set ECHO all
SELECT relation, verdict, to_tier FROM regress_says;
CALL tiered_storage.migrate();
SELECT * FROM regress_where;

-- What a role may not move, its policy does not take from that of another.
SET ROLE regress_new;
CREATE TABLE regress_g.theirs (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_g.theirs_2020 PARTITION OF regress_g.theirs FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_fast;
SET ROLE regress_old;
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_g', move_after => '100 years', tier => 'regress_cheap')
	AS other \gset
RESET ROLE;
SELECT policy_id = :schema AS of_schema, relation, verdict, to_tier FROM regress_says ORDER BY 1, 2::text;
CALL tiered_storage.migrate();
SELECT * FROM regress_where ORDER BY relation::text COLLATE "C";

-- A policy on a schema is that of whoever owns the schema now.
ALTER SCHEMA regress_g OWNER TO regress_new;
SET ROLE regress_old;
SELECT tiered_storage.alter_policy(policy_id => :other, changes => '{"move_after": "90 years"}'); \echo :SQLSTATE
SELECT tiered_storage.alter_policy(policy_id => :other, enabled => false); \echo :SQLSTATE
SELECT tiered_storage.remove_policy(policy_id => :other); \echo :SQLSTATE
SET ROLE regress_new;
SELECT tiered_storage.alter_policy(policy_id => :other, changes => '{"move_after": "90 years"}');
SELECT tiered_storage.remove_policy(policy_id => :other);
RESET ROLE;

SELECT tiered_storage.remove_policy(policy_id => :schema);
\set ECHO none
SET client_min_messages = warning;
DROP VIEW regress_says, regress_where;
DROP SCHEMA regress_g CASCADE;
DROP OWNED BY regress_old, regress_new;
DROP ROLE regress_old, regress_new;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
\set ECHO all
