-- The schema that users meet: exactly what is written here, each with a comment; and the
-- one beneath it, which is nobody's.
SET client_min_messages = warning;
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION tiered_storage;
SELECT plan(17);

CREATE TEMP VIEW objects AS
	SELECT d.classid, d.objid, i.type, i.schema, i.name, i.identity
	FROM pg_depend d
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'tiered_storage',
		pg_identify_object(d.classid, d.objid, 0) i
	WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e';

-- Types come with their tables and views, indexes and rules as well.
SELECT bag_eq($$ SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = 'tiered_storage'::regnamespace $$, $$ VALUES
	('activity'), ('file_class_io'), ('heat'), ('history'), ('metrics'), ('move_batches'), ('move_progress'), ('move_windows'),
	('moves'), ('pins'), ('policies'), ('recommendations'), ('standbys'),
	('query_tiers'), ('supposed'), ('tiers'), ('workers'), ('write_amplification'), ('devices')
$$, 'relations that users read');
SELECT bag_eq($$ SELECT p.proname::text FROM pg_proc p WHERE p.pronamespace = 'tiered_storage'::regnamespace $$, $$ VALUES
	('add_fullness_policy'), ('add_move_window'), ('remove_move_window'), ('add_standby'), ('add_tier'),
	('add_tiering_policy'), ('alter_device_profile'), ('alter_tier'), ('apply_placement'), ('block_heat'),
	('calibrate_tier'), ('compare_load'), ('device_profiles'), ('discover_tiers'), ('estimate_compression'),
	('evaluate_policies'), ('explain_placement'), ('load_profile'), ('migrate'), ('move_relation'),
	('orphaned_files'), ('pause'), ('pin'), ('placement_summary'), ('preflight'), ('partitioning_script'), ('recommend_partitioning'),
	('recommend_placement'), ('recommend_settings'), ('remove_standby'), ('remove_tier'), ('report'), ('resume'),
	('sample'), ('simulate_placement'), ('tier_size_curve'), ('unused_relations'), ('undo_move'), ('unpin'),
	('alter_policy'), ('remove_policy'), ('suppose'), ('suppose_recommended'), ('suppose_reset'),
	('explain_tiers')
$$, 'functions and procedures that users call');
SELECT is_empty($$ SELECT identity FROM objects WHERE schema = 'tiered_storage' AND type NOT IN ('view', 'function', 'procedure', 'type') $$,
	'there is nothing else');
SELECT is_empty($$ SELECT identity FROM objects WHERE schema <> ALL ('{tiered_storage,_tiered_storage}') $$,
	'and nothing is elsewhere');
SELECT is_empty($$ SELECT identity FROM objects WHERE schema = 'tiered_storage' AND type <> 'type'
	AND COALESCE(obj_description(objid, classid::regclass::name), '') = '' $$, 'each object has a comment');
SELECT is_empty($$ SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	WHERE c.relnamespace = 'tiered_storage'::regnamespace AND COALESCE(col_description(c.oid, a.attnum), '') = '' $$,
	'and so has each column of a view');
-- Drivers hand an array of names on as a string.
SELECT is_empty($$ SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	WHERE c.relnamespace = 'tiered_storage'::regnamespace AND a.atttypid = 'name[]'::regtype
	UNION ALL SELECT p.proname, a.name FROM pg_proc p, unnest(p.proallargtypes, p.proargmodes, p.proargnames) AS a (type, mode, name)
	WHERE p.pronamespace = 'tiered_storage'::regnamespace AND a.type = 'name[]'::regtype AND a.mode NOT IN ('i', 'v')
	UNION ALL SELECT p.proname, NULL FROM pg_proc p WHERE p.pronamespace = 'tiered_storage'::regnamespace AND p.prorettype = 'name[]'::regtype $$,
	'no column that users read is an array of names: they are arrays of text');
SELECT is_empty($$ SELECT nspname FROM pg_namespace WHERE nspname IN ('tiered_storage', '_tiered_storage')
	AND COALESCE(obj_description(oid, 'pg_namespace'), '') = '' $$, 'and both schemas');

-- It fits a screen; sql/69_widths.sql measures how wide the views are.  Of what there is at
-- most, four functions and two views are about plans: what the planner and queries would gain.
SELECT cmp_ok(count(*), '<=', 45::bigint, 'at most 45 functions and procedures')
	FROM pg_proc WHERE pronamespace = 'tiered_storage'::regnamespace;
SELECT cmp_ok(count(*), '<=', 19::bigint, 'at most 19 views, but for one of the sampler')
	FROM pg_class WHERE relnamespace = 'tiered_storage'::regnamespace AND relname <> 'sampler';
SELECT cmp_ok(count(*), '<=', 18::bigint, 'at most 18 settings')
	FROM pg_settings WHERE name ~ '^tiered_storage\.' AND name !~ '^tiered_storage\.(debug_|test_)';
SELECT is_empty($$ SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'tiered_storage'::regnamespace AND pronargs > 10 $$,
	'no call has more than ten arguments');
SELECT is_empty($$ SELECT oid::regclass FROM pg_class WHERE relnamespace = 'tiered_storage'::regnamespace AND relnatts > 14 $$,
	'no view has more than fourteen columns');

-- What is beneath.
SELECT isnt_empty($$ SELECT FROM objects WHERE type = 'schema' AND identity = '_tiered_storage' $$,
	'the schema beneath belongs to the extension: dropped with it, made by it after a restore');
SELECT is_empty($$ SELECT p.oid::regprocedure FROM pg_proc p, aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) a
	WHERE p.pronamespace = '_tiered_storage'::regnamespace AND a.grantee = 0 $$, 'PUBLIC executes nothing of it');
SELECT is_empty($$ SELECT c.oid::regclass FROM pg_class c, aclexplode(c.relacl) a
	WHERE c.relnamespace = '_tiered_storage'::regnamespace AND a.grantee = 0
	UNION ALL SELECT a.attrelid::regclass FROM pg_attribute a, aclexplode(a.attacl) x
	WHERE a.attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = '_tiered_storage'::regnamespace) AND x.grantee = 0 $$, 'and reads nothing of it');
SELECT is_empty($$ SELECT FROM pg_namespace n, aclexplode(n.nspacl) a
	WHERE n.nspname IN ('tiered_storage', '_tiered_storage') AND a.grantee = 0 $$, 'nor uses either schema');

SELECT * FROM finish();
ROLLBACK;
