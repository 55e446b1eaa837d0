-- A table without rows, which others inherit from: what is created for it later is created
-- where it is, so a policy leaves it there.  And a dump has each tier that something needs.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET tiered_storage.cooldown = 0;
SET tiered_storage.test_now = '2040-01-01 00:00:00+00';
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
DELETE FROM _tiered_storage.sampler; DELETE FROM _tiered_storage.state_snapshot;
DELETE FROM _tiered_storage.relation_state;
CREATE TABLE regress_p (at int, v int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE INDEX regress_p_at ON regress_p (at) TABLESPACE regress_ts_fast;
CREATE TABLE regress_p_1 () INHERITS (regress_p) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_p_2 () INHERITS (regress_p) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_alone (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
\set ECHO all
SELECT tiered_storage.add_tiering_policy(r, tier => 'regress_slow', idle_for => '3 days') > 0 AS added
	FROM unnest('{regress_p,regress_alone}'::regclass[]) r;
INSERT INTO regress_p_1 SELECT i, i FROM generate_series(1, 100) i;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2040-01-05 00:00:00+00';
CREATE VIEW regress_places AS SELECT relname, spcname FROM pg_class c LEFT
	JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE relname ~ '^regress_(p|alone)' AND relkind IN ('r', 'i');
SELECT relation, verdict FROM _tiered_storage.evaluate_policies() ORDER BY relation::text;
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT * FROM regress_places ORDER BY relname;
CALL tiered_storage.migrate();

-- With a row of its own it is a table as any other.
INSERT INTO regress_p VALUES (0, 0);
SELECT set_config('tiered_storage.test_now', '2040-01-06 00:00:00+00', false), pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2040-01-10 00:00:00+00';
SELECT relation, verdict FROM _tiered_storage.evaluate_policies() ORDER BY relation::text;
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT * FROM regress_places ORDER BY relname;

-- Each column that refers to a tier, of what is dumped, is in what a dump of tiers asks for.
SELECT c.relname, a.attname, e.tier_table::regclass
FROM pg_constraint k
JOIN pg_class c ON c.oid = k.conrelid
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
CROSS JOIN (SELECT unnest(extconfig) AS tier_table, unnest(extcondition) AS condition FROM pg_extension
	WHERE extname = 'tiered_storage') e
WHERE k.confrelid = '_tiered_storage.tier'::regclass AND k.conrelid <> '_tiered_storage.tier_tablespace'::regclass
	AND k.conrelid = ANY ((SELECT extconfig FROM pg_extension WHERE extname = 'tiered_storage')::oid[])
	AND e.tier_table IN ('_tiered_storage.tier'::regclass, '_tiered_storage.tier_tablespace'::regclass)
	AND e.condition !~ ('[pf]\.' || a.attname || '\M')
ORDER BY 1, 2, 3;

DROP VIEW regress_places;
DROP TABLE regress_p, regress_p_1, regress_p_2, regress_alone;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
