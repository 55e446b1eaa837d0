-- The functions and procedures: names, arguments, defaults, results, behaviour.
SET client_min_messages = warning;
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION tiered_storage;
SELECT plan(10);

CREATE TEMP VIEW routines AS
	SELECT p.*, l.lanname, obj_description(p.oid, 'pg_proc') AS comment
	FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
	WHERE p.pronamespace = 'tiered_storage'::regnamespace;

-- What a person, a script, a monitoring system calls: every letter of it counts.
SELECT bag_eq($$
	SELECT CASE prokind WHEN 'p' THEN 'procedure' WHEN 'f' THEN 'function' ELSE prokind::text END AS kind, proname::text AS name,
		pg_get_function_arguments(oid) AS arguments, COALESCE(pg_get_function_result(oid), '') AS result,
		CASE provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END AS volatility, prosecdef, proisstrict,
		CASE proparallel WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted' ELSE 'unsafe' END AS parallel, lanname::text AS language
	FROM routines WHERE comment !~ '^(internal|trigger): '
$$, $$ VALUES
	('function', 'add_tier', 'name name, tablespaces name[], profile text DEFAULT NULL::text, rank integer DEFAULT NULL::integer, random_read_ms double precision DEFAULT NULL::double precision, random_write_ms double precision DEFAULT NULL::double precision, sequential_read_mb_per_s double precision DEFAULT NULL::double precision, sequential_write_mb_per_s double precision DEFAULT NULL::double precision, fsync_ms double precision DEFAULT NULL::double precision, parallelism double precision DEFAULT NULL::double precision, price_per_gb_month numeric DEFAULT NULL::numeric, capacity_bytes bigint DEFAULT NULL::bigint, reserve_fraction double precision DEFAULT 0.15, low_watermark double precision DEFAULT 0.80, high_watermark double precision DEFAULT 0.90, endurance_tbw double precision DEFAULT NULL::double precision, endurance_dwpd double precision DEFAULT NULL::double precision, compressed boolean DEFAULT NULL::boolean', 'void', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'add_tiering_policy', 'relation regclass, move_after interval, tier name, include_indexes boolean DEFAULT true, age_from text DEFAULT ''now''::text, key_unit text DEFAULT NULL::text, key_function regprocedure DEFAULT NULL::regprocedure, if_not_exists boolean DEFAULT false', 'integer', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'alter_tier', 'name name, new_name name DEFAULT NULL::name, tablespaces name[] DEFAULT NULL::name[], profile text DEFAULT NULL::text, rank integer DEFAULT NULL::integer, random_read_ms double precision DEFAULT NULL::double precision, random_write_ms double precision DEFAULT NULL::double precision, sequential_read_mb_per_s double precision DEFAULT NULL::double precision, sequential_write_mb_per_s double precision DEFAULT NULL::double precision, fsync_ms double precision DEFAULT NULL::double precision, parallelism double precision DEFAULT NULL::double precision, price_per_gb_month numeric DEFAULT NULL::numeric, capacity_bytes bigint DEFAULT NULL::bigint, reserve_fraction double precision DEFAULT NULL::double precision, low_watermark double precision DEFAULT NULL::double precision, high_watermark double precision DEFAULT NULL::double precision, endurance_tbw double precision DEFAULT NULL::double precision, endurance_dwpd double precision DEFAULT NULL::double precision, compressed boolean DEFAULT NULL::boolean, unset text[] DEFAULT NULL::text[]', 'void', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'device_profiles', 'OUT profile text, OUT random_read_ms double precision, OUT random_write_ms double precision, OUT sequential_read_mb_per_s double precision, OUT sequential_write_mb_per_s double precision, OUT fsync_ms double precision, OUT parallelism double precision, OUT price_per_gb_month numeric, OUT endurance_dwpd double precision', 'SETOF record', 'immutable', false, false, 'safe', 'sql'),
	('function', 'discover_tiers', 'OUT tier_name name, OUT tablespace_name name, OUT device text, OUT kind text, OUT action text', 'SETOF record', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'evaluate_policies', 'OUT policy_id integer, OUT relation regclass, OUT verdict text, OUT lower_bound timestamp with time zone, OUT upper_bound timestamp with time zone, OUT from_tier name, OUT from_tablespace name, OUT to_tier name, OUT to_tablespace name, OUT size_bytes bigint, OUT reason text', 'SETOF record', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'explain_placement', 'relation regclass, OUT tier_name name, OUT is_current boolean, OUT is_recommended boolean, OUT io_s_per_hour double precision, OUT random_read_s_per_hour double precision, OUT sequential_read_s_per_hour double precision, OUT write_s_per_hour double precision, OUT price_per_month double precision, OUT move_cost_s double precision, OUT available_bytes bigint, OUT fits boolean, OUT reason text', 'SETOF record', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'notify_launcher', '', 'void', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'recommend_placement', 'include_unchanged boolean DEFAULT false, OUT relation regclass, OUT kind text, OUT current_tier name, OUT recommended_tier name, OUT size_bytes bigint, OUT saved_io_s_per_hour double precision, OUT price_delta_per_month double precision, OUT move_cost_s double precision, OUT confidence text, OUT reason text, OUT command text', 'SETOF record', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'relation_buffers', 'OUT relation regclass, OUT tablespace_oid oid, OUT file_number oid, OUT cached_buffers bigint, OUT dirty_buffers bigint, OUT usage_sum bigint', 'SETOF record', 'volatile', false, false, 'restricted', 'c'),
	('function', 'remove_tier', 'name name, if_exists boolean DEFAULT false', 'void', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'remove_tiering_policy', 'relation regclass DEFAULT NULL::regclass, tier name DEFAULT NULL::name, policy_id integer DEFAULT NULL::integer, if_exists boolean DEFAULT false', 'integer', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'smoothed_rate', 'rate double precision, idle_s double precision, observed_s double precision, half_life_s double precision', 'double precision', 'immutable', false, true, 'safe', 'c'),
	('function', 'tablespace_claims', 'OUT tablespace_oid oid, OUT database_oid oid, OUT tier_name name', 'SETOF record', 'volatile', false, false, 'restricted', 'c'),
	('function', 'tablespace_devices', 'OUT tablespace_name name, OUT tablespace_oid oid, OUT path text, OUT path_exists boolean, OUT writable boolean, OUT device text, OUT filesystem text, OUT mount_point text, OUT kind text, OUT rotational boolean, OUT is_virtual boolean, OUT compressed boolean, OUT file_system_id bigint, OUT total_bytes bigint, OUT free_bytes bigint, OUT profile text', 'SETOF record', 'volatile', false, false, 'restricted', 'c'),
	('function', 'worker_status', 'OUT database_name name, OUT state text, OUT reason text, OUT pid integer, OUT last_started_at timestamp with time zone, OUT last_finished_at timestamp with time zone, OUT next_run_at timestamp with time zone, OUT failures integer, OUT last_error text', 'SETOF record', 'volatile', false, false, 'restricted', 'c'),
	('procedure', 'migrate', 'IN dry_run boolean DEFAULT false', '', 'volatile', false, false, 'unsafe', 'c'),
	('procedure', 'move_relation', 'IN relation regclass, IN target name, IN include_indexes boolean DEFAULT true', '', 'volatile', false, false, 'unsafe', 'c'),
	('procedure', 'sample', '', '', 'volatile', false, false, 'unsafe', 'c')
$$, 'the functions and procedures are these, with these arguments, defaults, results, volatility, security, strictness, parallel safety');

-- Those beneath have names, and a comment that says what they are.
SELECT bag_eq($$ SELECT proname::text FROM routines WHERE comment ~ '^(internal|trigger): ' $$,
	$$ VALUES ('refresh_identities'), ('tier_before_insert'), ('tier_check_values'), ('tier_make_rank'), ('tier_set_tablespaces') $$, 'internal functions');
SELECT is_empty($$ SELECT oid::regprocedure FROM routines WHERE comment IS NULL OR comment = '' $$, 'each has a comment');
SELECT is_empty($$ SELECT oid::regprocedure FROM routines WHERE comment ~ '^[A-Z][a-z]' OR comment ~ '[.]$' $$, 'comments are phrases, as those of pg_proc');

-- Who owns them, what they look up, where.
SELECT is_empty($$ SELECT oid::regprocedure FROM routines WHERE proowner <> (SELECT extowner FROM pg_extension WHERE extname = 'tiered_storage') $$,
	'the owner of the extension owns them');
SELECT is_empty($$ SELECT r.oid::regprocedure FROM routines r WHERE NOT EXISTS (SELECT FROM pg_depend d, pg_extension e
	WHERE e.extname = 'tiered_storage' AND d.classid = 'pg_proc'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_extension'::regclass
		AND d.refobjid = e.oid AND d.deptype = 'e') $$, 'all of them belong to the extension');
SELECT is_empty($$ SELECT oid::regprocedure, proconfig FROM routines
	WHERE lanname <> 'c' AND proconfig IS DISTINCT FROM ARRAY['search_path=pg_catalog, pg_temp'] $$, 'those not in C pin their search_path, pg_temp last');
SELECT is_empty($$ SELECT oid::regprocedure FROM routines WHERE lanname = 'c' AND (proconfig IS NOT NULL OR probin <> '$libdir/tiered_storage') $$,
	'those in C are in the library of the extension');
SELECT bag_eq($$ SELECT proname::text FROM routines WHERE prosecdef $$,
	$$ VALUES ('add_tier'), ('alter_tier'), ('discover_tiers'), ('remove_tier') $$, 'security definer: the functions of tiers only');
SELECT is_empty($$ SELECT oid::regprocedure FROM routines WHERE lanname NOT IN ('c', 'sql', 'plpgsql') $$, 'no other language');

SELECT * FROM finish();
ROLLBACK;
