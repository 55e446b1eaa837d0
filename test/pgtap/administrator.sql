-- The role for tier administrators in docs/guide/operations.md: its very statements, and what
-- it can do with them and cannot.
SET client_min_messages = warning;
SET allow_in_place_tablespaces = true;
CREATE TABLESPACE fast LOCATION '';
CREATE TABLESPACE slow LOCATION '';
-- Rights that a new object would have by default are not those of ours.
CREATE ROLE tap_default;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO tap_default;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO tap_default;
ALTER DEFAULT PRIVILEGES GRANT ALL ON ROUTINES TO tap_default;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO tap_default;
CREATE EXTENSION tiered_storage;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM tap_default;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM tap_default;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON ROUTINES FROM tap_default;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SCHEMAS FROM tap_default;
SELECT plan(30);
SELECT is_empty($$ SELECT oid::regprocedure FROM pg_proc WHERE pronamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND has_function_privilege('tap_default', oid, 'EXECUTE') $$,
	'default privileges on functions are not for ours');
SELECT is_empty($$ SELECT oid::regclass FROM pg_class WHERE relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace)
	AND (relkind IN ('r', 'v') AND has_table_privilege('tap_default', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
		OR relkind = 'S' AND has_sequence_privilege('tap_default', oid, 'USAGE, SELECT, UPDATE')) $$, 'nor those on tables and sequences');
SELECT ok(NOT has_schema_privilege('tap_default', 'tiered_storage', 'USAGE, CREATE')
	AND NOT has_schema_privilege('tap_default', '_tiered_storage', 'USAGE, CREATE'), 'nor those on schemas');
SELECT isnt_empty($$ SELECT FROM pg_proc p, aclexplode(p.proacl) a WHERE p.oid = 'tiered_storage.evaluate_policies()'::regprocedure AND a.grantee = 'pg_monitor'::regrole $$,
	'what is granted to pg_monitor is');

-- The statements.
\set statements `sed -n '/^CREATE ROLE tier_admin/,/^GRANT pg_monitor TO tier_admin/p' docs/guide/operations.md`
:statements
SELECT has_role('tier_admin');
CREATE ROLE tap_jane IN ROLE tier_admin;
CREATE ROLE tap_owner;
CREATE SCHEMA tap_s AUTHORIZATION tap_owner;
GRANT USAGE ON SCHEMA tap_s TO PUBLIC;
SET ROLE tap_owner;
CREATE TABLE tap_s.p (at date) PARTITION BY RANGE (at);
RESET ROLE;
CREATE TABLE tap_s.p_1 PARTITION OF tap_s.p FOR VALUES FROM ('2001-01-01') TO ('2001-02-01') TABLESPACE fast;
ALTER TABLE tap_s.p_1 OWNER TO tap_owner;
CREATE TABLE tap_s.t (a int);
ALTER TABLE tap_s.t OWNER TO tap_owner;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
CREATE FUNCTION tap_where(relation regclass) RETURNS name LANGUAGE sql AS
	$$ SELECT COALESCE((SELECT spcname FROM pg_tablespace s WHERE s.oid = c.reltablespace), 'pg_default') FROM pg_class c WHERE c.oid = $1 $$;

-- All that it is for.
SET ROLE tap_jane;
SELECT lives_ok($$ SELECT tiered_storage.add_tier('tap_fast', '{fast}', profile => 'nvme', reserve_fraction => 0) $$, 'add_tier()');
SELECT lives_ok($$ SELECT tiered_storage.add_tier('tap_slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0) $$, 'add_tier()');
SELECT lives_ok($$ SELECT tiered_storage.alter_tier('tap_slow', price_per_gb_month => 0.01) $$, 'alter_tier()');
SELECT lives_ok($$ SELECT tiered_storage.discover_tiers() $$, 'discover_tiers()');
SET client_min_messages = error;
SELECT lives_ok($$ SELECT tiered_storage.calibrate_tier('tap_slow', max_seconds => 0.1, max_bytes => 8388608, dry_run => true) $$, 'calibrate_tier()');
SET client_min_messages = warning;
SELECT lives_ok($$ SELECT tiered_storage.add_tiering_policy('tap_s.p', '1 day', 'tap_slow') $$, 'add_tiering_policy() on the table of another role');
SELECT lives_ok($$ SELECT tiered_storage.pin('tap_s.t', 'tap_slow') $$, 'pin() of the table of another role');
CALL tiered_storage.sample();
CALL tiered_storage.move_relation('tap_s.t', 'tap_slow');
SELECT is(tap_where('tap_s.t'), 'slow', 'move_relation() of the table of another role');
SELECT lives_ok($$ SELECT tiered_storage.unpin('tap_s.t') $$, 'unpin()');
CALL tiered_storage.migrate();
SELECT is(tap_where('tap_s.p_1'), 'slow', 'migrate()');
SELECT lives_ok($$ SELECT tiered_storage.alter_policy('tap_s.p', enabled => false) $$, 'alter_policy()');
SELECT lives_ok($$ SELECT tiered_storage.remove_policy('tap_s.p') $$, 'remove_policy()');
SELECT tiered_storage.pin('tap_s.t', 'tap_fast') \g /dev/null
CALL tiered_storage.apply_placement(relations => '{tap_s.t}');
SELECT is(tap_where('tap_s.t'), 'fast', 'apply_placement()');
SELECT tiered_storage.unpin('tap_s.t') \g /dev/null
SELECT max(batch_id) AS batch FROM _tiered_storage.move_batches \gset
CALL tiered_storage.undo_move(:batch);
SELECT is(tap_where('tap_s.t'), 'slow', 'undo_move()');
SELECT lives_ok($$ SELECT tiered_storage.pause(), tiered_storage.resume() $$, 'pause(), resume()');
SELECT lives_ok($$ SELECT tiered_storage.remove_tier('tap_slow') $$, 'remove_tier()');

-- And no more.
SELECT throws_ok($$ SELECT tiered_storage.add_standby('s', conninfo => 'host=x') $$, '42501', 'permission denied for function add_standby', 'not add_standby()');
SELECT throws_ok($$ INSERT INTO _tiered_storage.standby (standby_name, conninfo, added_by, added_by_oid) VALUES ('s', 'host=x', 'postgres', 10) $$, '42501', 'permission denied for table standby', 'nor what is beneath it');
SELECT throws_ok($$ SELECT _tiered_storage.refresh_pins() $$, '42501', 'permission denied for function refresh_pins', 'nothing internal');
SELECT is_empty($$ SELECT oid::regclass FROM pg_class WHERE relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND relkind IN ('r', 'v')
	AND has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') $$, 'no table but through functions');
SELECT throws_ok($$ CREATE FUNCTION tiered_storage.x() RETURNS int LANGUAGE sql AS 'SELECT 1' $$, '42501', 'permission denied for schema tiered_storage', 'nothing new in the schema');
SELECT throws_ok($$ ALTER TABLE tap_s.t SET (fillfactor = 50) $$, '42501', NULL, 'nothing but a move of the tables of others');
RESET ROLE;
SELECT is_empty($$ SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = '_tiered_storage'::regnamespace AND has_function_privilege('tap_jane', p.oid, 'EXECUTE')
	AND NOT has_function_privilege('pg_monitor', p.oid, 'EXECUTE') $$, 'no internal function but those beneath views');

-- Who is one is said by the extension's own function, whatever else has its name.
CREATE ROLE tap_other;
GRANT USAGE ON SCHEMA tiered_storage TO tap_other;
GRANT EXECUTE ON FUNCTION tiered_storage.pin TO tap_other;
CREATE FUNCTION tiered_storage.alter_tier(integer) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION public.alter_tier(integer) RETURNS int LANGUAGE sql AS 'SELECT 1';
SET ROLE tap_other;
SELECT throws_ok($$ SELECT tiered_storage.pin('tap_s.t') $$, '42501', 'must be owner of table tap_s.t', 'another function of that name makes no administrator');
SET ROLE tap_jane;
SELECT lives_ok($$ SELECT tiered_storage.add_tier('tap_slow', '{slow}', reserve_fraction => 0); SELECT tiered_storage.pin('tap_s.t') $$, 'nor unmakes one');
RESET ROLE;

SELECT * FROM finish();
DROP FUNCTION tiered_storage.alter_tier(integer);
DROP EXTENSION tiered_storage;
DROP SCHEMA tap_s CASCADE;
DROP TABLESPACE fast;
DROP TABLESPACE slow;
