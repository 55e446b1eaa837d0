-- The functions and procedures: names, arguments, defaults, results, behaviour.
SET client_min_messages = warning;
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION tiered_storage;
SELECT plan(16);

CREATE TEMP VIEW routines AS
	SELECT p.*, n.nspname, l.lanname, obj_description(p.oid, 'pg_proc') AS comment
	FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang JOIN pg_namespace n ON n.oid = p.pronamespace
	WHERE n.nspname IN ('tiered_storage', '_tiered_storage');

-- What a person, a script, a monitoring system calls: every letter of it counts.
SELECT bag_eq($$
	SELECT CASE prokind WHEN 'p' THEN 'procedure' WHEN 'f' THEN 'function' ELSE prokind::text END AS kind, proname::text AS name,
		pg_get_function_arguments(oid) AS arguments, COALESCE(pg_get_function_result(oid), '') AS result,
		CASE provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END AS volatility, prosecdef, proisstrict,
		CASE proparallel WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted' ELSE 'unsafe' END AS parallel, lanname::text AS language
	FROM routines WHERE nspname = 'tiered_storage'
$$, $$ VALUES
	('function', 'add_tier', 'name name, tablespaces text, profile text DEFAULT NULL::text, rank integer DEFAULT NULL::integer, price_per_gb_month numeric DEFAULT NULL::numeric, reserve_fraction double precision DEFAULT 0.15, low_watermark double precision DEFAULT 0.80, high_watermark double precision DEFAULT 0.90, device jsonb DEFAULT NULL::jsonb', 'void', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'add_tiering_policy', 'relation regclass DEFAULT NULL::regclass, move_after interval DEFAULT NULL::interval, tier name DEFAULT NULL::name, idle_for interval DEFAULT NULL::interval, in_schema name DEFAULT NULL::name, index_tier name DEFAULT NULL::name, if_not_exists boolean DEFAULT false, options jsonb DEFAULT NULL::jsonb, dry_run boolean DEFAULT false', 'integer', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'alter_tier', 'name name, new_name name DEFAULT NULL::name, tablespaces text DEFAULT NULL::text, profile text DEFAULT NULL::text, rank integer DEFAULT NULL::integer, price_per_gb_month numeric DEFAULT NULL::numeric, reserve_fraction double precision DEFAULT NULL::double precision, low_watermark double precision DEFAULT NULL::double precision, high_watermark double precision DEFAULT NULL::double precision, device jsonb DEFAULT NULL::jsonb', 'void', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'block_heat', 'relation regclass, buckets integer DEFAULT 100, OUT bucket integer, OUT first_block bigint, OUT last_block bigint, OUT cached_buffers bigint, OUT dirty_buffers bigint, OUT usage_sum bigint, OUT os_cached_bytes bigint, OUT heat double precision, OUT error double precision', 'SETOF record', 'volatile', false, false, 'restricted', 'c'),
	('function', 'calibrate_tier', 'name name, max_seconds double precision DEFAULT 20, max_bytes bigint DEFAULT 268435456, dry_run boolean DEFAULT false, OUT measurement text, OUT unit text, OUT prior numeric, OUT previous numeric, OUT measured numeric', 'SETOF record', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'device_profiles', 'OUT profile text, OUT random_ms text, OUT mb_per_s text, OUT fsync_ms numeric, OUT parallel numeric, OUT price numeric, OUT dwpd numeric, OUT source text', 'SETOF record', 'stable', false, false, 'safe', 'sql'),
	('function', 'discover_tiers', 'OUT tier_name name, OUT tablespace_name name, OUT device text, OUT kind text, OUT action text', 'SETOF record', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'estimate_compression', 'relation regclass, algorithm text DEFAULT NULL::text, include_indexes boolean DEFAULT true, OUT part regclass, OUT compressor text, OUT ratio numeric, OUT range text, OUT size text, OUT stored text, OUT sampled text, OUT reason text', 'SETOF record', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'evaluate_policies', 'OUT policy_id integer, OUT relation regclass, OUT verdict text, OUT ends text, OUT size text, OUT reason text', 'SETOF record', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'explain_placement', 'relation regclass, tiers name[] DEFAULT NULL::name[], overrides jsonb DEFAULT NULL::jsonb, horizon interval DEFAULT ''30 days''::interval, objective text DEFAULT ''time''::text, schemas name[] DEFAULT NULL::name[], relations regclass[] DEFAULT NULL::regclass[], OUT tier_name name, OUT place text, OUT random text, OUT scans text, OUT writes text, OUT price text, OUT move text, OUT reason text', 'SETOF record', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'add_fullness_policy', 'tier name, target name, high_watermark double precision DEFAULT NULL::double precision, low_watermark double precision DEFAULT NULL::double precision, if_not_exists boolean DEFAULT false', 'integer', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'orphaned_files', 'OUT path text, OUT size text, OUT written text, OUT tablespace_name name, OUT is_registered boolean', 'SETOF record', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'pause', '', 'boolean', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'recommend_placement', 'include_unchanged boolean DEFAULT false, tiers name[] DEFAULT NULL::name[], overrides jsonb DEFAULT NULL::jsonb, horizon interval DEFAULT ''30 days''::interval, objective text DEFAULT ''time''::text, schemas name[] DEFAULT NULL::name[], relations regclass[] DEFAULT NULL::regclass[], OUT relation regclass, OUT kind text, OUT current_tier name, OUT recommended_tier name, OUT size_bytes bigint, OUT saved_io_s_per_hour double precision, OUT saved_wait_s_per_hour double precision, OUT price_delta_per_month double precision, OUT move_cost_s double precision, OUT confidence text, OUT reason text, OUT command text, OUT firm_when text, OUT random_reads_per_hour double precision, OUT sequential_reads_per_hour double precision', 'SETOF record', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'placement_summary', 'tiers name[] DEFAULT NULL::name[], overrides jsonb DEFAULT NULL::jsonb, horizon interval DEFAULT ''30 days''::interval, objective text DEFAULT ''time''::text, schemas name[] DEFAULT NULL::name[], relations regclass[] DEFAULT NULL::regclass[], OUT tier_name name, OUT used text, OUT room text, OUT work text, OUT price text, OUT reason text', 'SETOF record', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'preflight', 'relation regclass, target name, include_indexes boolean DEFAULT true, allow_lock boolean DEFAULT false, index_target name DEFAULT NULL::name, include_all boolean DEFAULT false, OUT check_name text, OUT verdict text, OUT finding text, OUT remedy text', 'SETOF record', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'explain_tiers', 'query text, "analyze" boolean DEFAULT false, OUT node text, OUT relation regclass, OUT tier name, OUT random_reads numeric, OUT sequential_reads numeric, OUT device_ms numeric', 'SETOF record', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'suppose', 'relation regclass, tier name, include_indexes boolean DEFAULT true', 'integer', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'suppose_recommended', '', 'integer', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'suppose_reset', '', 'integer', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'simulate_placement', 'changes jsonb DEFAULT ''{}''::jsonb, load_factor double precision DEFAULT 1, tiers name[] DEFAULT NULL::name[], overrides jsonb DEFAULT NULL::jsonb, horizon interval DEFAULT ''30 days''::interval, objective text DEFAULT ''time''::text, schemas name[] DEFAULT NULL::name[], relations regclass[] DEFAULT NULL::regclass[], OUT tier_name name, OUT used text, OUT room text, OUT work text, OUT price text, OUT reason text', 'SETOF record', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'tier_size_curve', 'tier name, points integer DEFAULT 21, tiers name[] DEFAULT NULL::name[], overrides jsonb DEFAULT NULL::jsonb, horizon interval DEFAULT ''30 days''::interval, objective text DEFAULT ''time''::text, schemas name[] DEFAULT NULL::name[], relations regclass[] DEFAULT NULL::regclass[], OUT capacity_bytes bigint, OUT used text, OUT work text, OUT queues text, OUT saves text, OUT price text, OUT mark text, OUT reason text', 'SETOF record', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'recommend_settings', 'include_all boolean DEFAULT false, OUT setting text, OUT tablespace_name text, OUT value text, OUT reason text, OUT command text', 'SETOF record', 'stable', false, false, 'unsafe', 'sql'),
	('function', 'add_move_window', 'name name, days text[], starts time without time zone, ends time without time zone, time_zone text DEFAULT NULL::text, max_bytes bigint DEFAULT NULL::bigint, enabled boolean DEFAULT true', 'void', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'remove_move_window', 'name name, if_exists boolean DEFAULT false', 'void', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'remove_tier', 'name name, if_exists boolean DEFAULT false', 'void', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'pin', 'relation regclass, tier name DEFAULT NULL::name, until timestamp with time zone DEFAULT NULL::timestamp with time zone, include_indexes boolean DEFAULT true', 'integer', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'unpin', 'relation regclass, include_indexes boolean DEFAULT true', 'integer', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'resume', '', 'boolean', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'add_standby', 'name name, conninfo text', 'void', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'compare_load', 'from1 timestamp with time zone, to1 timestamp with time zone, from2 timestamp with time zone, to2 timestamp with time zone, OUT metric text, OUT first_per_s numeric, OUT second_per_s numeric, OUT ratio numeric, OUT first_per_xact numeric, OUT second_per_xact numeric, OUT unit text', 'SETOF record', 'stable', false, false, 'unsafe', 'plpgsql'),
	('function', 'load_profile', 'from_at timestamp with time zone DEFAULT NULL::timestamp with time zone, to_at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT metric text, OUT total numeric, OUT per_second numeric, OUT per_transaction numeric, OUT unit text', 'SETOF record', 'stable', false, false, 'unsafe', 'plpgsql'),
	('function', 'recommend_partitioning', 'min_size_bytes bigint DEFAULT 1073741824, include_all boolean DEFAULT false, OUT relation regclass, OUT size text, OUT confidence text, OUT reason text, OUT command text', 'SETOF record', 'volatile', false, false, 'unsafe', 'sql'),
	('function', 'partitioning_script', 'relation regclass, key_column name, step text, tier name DEFAULT NULL::name, bound text DEFAULT NULL::text', 'text', 'stable', false, false, 'unsafe', 'plpgsql'),
	('function', 'remove_standby', 'name name, if_exists boolean DEFAULT false', 'void', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'alter_device_profile', 'profile text, device jsonb', 'void', 'volatile', true, false, 'unsafe', 'plpgsql'),
	('function', 'report', 'from_at timestamp with time zone DEFAULT (now() - ''7 days''::interval), to_at timestamp with time zone DEFAULT now()', 'text', 'volatile', false, false, 'unsafe', 'plpgsql'),
	('function', 'unused_relations', 'unused_for interval DEFAULT NULL::interval, OUT relation regclass, OUT kind text, OUT size text, OUT unread_since date, OUT writes text, OUT move text, OUT saves text', 'SETOF record', 'volatile', false, false, 'unsafe', 'sql'),
	('procedure', 'apply_placement', 'IN confidence text DEFAULT ''firm''::text, IN max_bytes bigint DEFAULT NULL::bigint, IN dry_run boolean DEFAULT false, IN tiers name[] DEFAULT NULL::name[], IN horizon interval DEFAULT ''30 days''::interval, IN objective text DEFAULT ''time''::text, IN schemas name[] DEFAULT NULL::name[], IN relations regclass[] DEFAULT NULL::regclass[]', '', 'volatile', false, false, 'unsafe', 'c'),
	('procedure', 'migrate', 'IN dry_run boolean DEFAULT false, IN ignore_windows boolean DEFAULT false', '', 'volatile', false, false, 'unsafe', 'c'),
	('procedure', 'move_relation', 'IN relation regclass, IN target name, IN include_indexes boolean DEFAULT true, IN allow_lock boolean DEFAULT false, IN index_target name DEFAULT NULL::name, IN dry_run boolean DEFAULT false', '', 'volatile', false, false, 'unsafe', 'c'),
	('procedure', 'sample', '', '', 'volatile', false, false, 'unsafe', 'c'),
	('procedure', 'undo_move', 'IN batch_id bigint DEFAULT NULL::bigint, IN dry_run boolean DEFAULT false, IN relation regclass DEFAULT NULL::regclass', '', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'alter_policy', 'relation regclass DEFAULT NULL::regclass, tier name DEFAULT NULL::name, policy_id integer DEFAULT NULL::integer, enabled boolean DEFAULT NULL::boolean, changes jsonb DEFAULT NULL::jsonb, if_exists boolean DEFAULT false', 'integer', 'volatile', false, false, 'unsafe', 'c'),
	('function', 'remove_policy', 'relation regclass DEFAULT NULL::regclass, tier name DEFAULT NULL::name, policy_id integer DEFAULT NULL::integer, if_exists boolean DEFAULT false', 'integer', 'volatile', false, false, 'unsafe', 'c')
$$, 'the functions and procedures are these, with these arguments, defaults, results, volatility, security, strictness, parallel safety');

-- Those beneath have names.
SELECT bag_eq($$ SELECT proname::text FROM routines WHERE nspname = '_tiered_storage' $$, $$ VALUES
	('plan_reads'), ('priced_plan'), ('query_reads'), ('query_texts'), ('relation_queries'), ('main_queries'), ('state_tables'), ('take_snapshot'), ('restore_state'), ('ring_member'), ('empty_member'), ('split_samples'), ('roll_up'), ('refuse'), ('first_hour'), ('forget_standbys'),
	('calibration_store'), ('calibration_verdict'),
	('calibration_warn'), ('claimed_elsewhere'), ('device_fit'), 
	('effect_verdict'), ('counted_file_io'), ('counter_growth'), ('directory_tiers'), ('file_class_io'),
	('file_counters'), ('file_io_ms'), ('file_io_parts'), ('file_period'), ('file_sample'),
	('relation_file_counters'), ('relation_file_io'), ('server_directories'),
	('temp_places'), ('wal_file_counters'), ('hot_range'), ('ignore_replicated'), ('refuse_other_roles'), ('load_is_possible'),
	('load_totals'), ('unsampled'), ('measure_device'), ('measure_wal_sync'),
	('settings_of_images'), ('setting_obstacle'), ('settings_of_tablespaces'),
	('settings_of_temp'), ('settings_of_wal_place'), ('wal_places'), ('temp_saved_s'),
	('role_list'), ('roles_without_create'), ('roomiest_places'),
	('wal_move_command'), ('settings_of_wal_sync'), ('move_window_openings'), ('moved_within'), ('move_queue_entries'), ('made_plan'), ('worker_plans'), ('show_plan'), ('relation_bytes'),
	('mover_progress'), ('period_share'), ('notify_launcher'), ('partition_advice'),
	('plan_moves'), 
	('partition_interval'), ('partition_key'), ('spare_path'), ('partition_obstacles'), ('partition_bounds'), ('partition_grantees'), ('partition_name_obstacles'), ('partition_owner_check'), ('partition_grants'), ('partition_renames'), ('partition_views'),
	('partition_locks'), ('partition_companions'), ('partition_parent'), ('partition_switch'), ('partition_undo'), ('refresh_moves'),
	('refresh_pins'), ('refresh_policies'), ('refresh_tablespaces'), ('index_identity'), ('present_pinned'),
	('present_relation'), ('relation_entry'), ('relation_entry'), ('relation_identity'), ('relation_persistence'),
	('remove_unused_tiers'), ('count_wear'), ('forget_wear'), ('wear_state'), ('relation_write_amplification'),
	('wal_written_ratio'), ('smoothed_rate'),
	('second_tier_statement'), ('second_tier_statements'), ('tablespace_claims'), ('require_writable'),
	('tier_after_insert'), ('tier_rank_discovered'), ('is_alike'), ('wal_readers'), ('is_restore'), ('restore_in_turn'),
	('expect_tiers'), ('tier_before_insert'), ('tier_begin_change'), ('tier_say_ranks'),
	('tier_check_values'), ('tier_in_use'), 
	('tier_insert_discovered'), ('tier_limits'), ('tier_make_rank'), ('tier_new'), ('tier_overwrite'),
	('tier_require'), ('tier_require_unused'), ('tier_set_tablespaces'), ('tier_misfit'),
	('tier_watermarks_fit'), ('load_library'), ('default_profiles'), ('profile_check'),
	('tier_with_profile'), ('tier_with_values'), ('tier_without'), ('activity_rows'),
	('first_columns'), ('clip'), ('wrap'), ('no_heat'), ('now_and_then'), ('short_price'),
	('explain_placement'), ('placement_summary'), ('simulate_placement'), ('evaluate_policies'), ('short_number'), ('short_quantity'), ('short_bytes'),
	('short_reason'), ('short_recommendations'), ('worker_status'), 
	('report_answer'), ('report_bar'), ('report_bars'), ('report_budget'), ('report_cell'), ('report_escape'),
	('report_facts'), ('report_figure'), ('report_heat'), ('report_heat_map'), ('report_heat_step'),
	('report_label'), ('report_legend'), ('report_load'), ('report_moved'), 
	('report_table'), ('report_ticks'), ('report_tiers'), ('report_time_ticks'), ('report_unknown'),
	('report_words'), ('report_page'), ('access_statistics'), ('access_tracking'),
	('calibrate_wal'), ('distributed_table'), ('is_paused'), ('tablespace_devices'),
	('tier_figures'), ('tier_set_wear'), ('wait_times'), ('publication_of_all'), ('remove_ownerless'),
	('tier_size_curve'), ('unused_relations'), ('recommend_partitioning'), ('recommend_settings'), ('device_profiles'),
	('estimate_compression'), ('orphaned_files'), ('readable'), ('short_savings'), ('move_cause'), ('tablespace_names'),
	('from_to'), ('metric_values'), ('percent'), ('short_rate'), ('short_saving'), ('short_seconds'),
	('short_time'), ('significant'), ('suppose_moves'), ('warn_of_equal_costs')
	UNION ALL SELECT 'stored_' || t FROM unnest(_tiered_storage.state_tables()) t$$,
	'beneath them are these');
SELECT is_empty($$ SELECT oid::regprocedure FROM routines WHERE nspname = 'tiered_storage' AND COALESCE(comment, '') = '' $$,
	'each that users call has a comment');
SELECT is_empty($$ SELECT oid::regprocedure FROM routines WHERE comment ~ '^[A-Z][a-z]' OR comment ~ '[.]$' $$, 'comments are phrases, as those of pg_proc');

-- Who owns them, what they look up, where.
SELECT is_empty($$ SELECT oid::regprocedure FROM routines WHERE proowner <> (SELECT extowner FROM pg_extension WHERE extname = 'tiered_storage') $$,
	'the owner of the extension owns them');
SELECT is_empty($$ SELECT r.oid::regprocedure FROM routines r WHERE NOT EXISTS (SELECT FROM pg_depend d, pg_extension e
	WHERE e.extname = 'tiered_storage' AND d.classid = 'pg_proc'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_extension'::regclass
		AND d.refobjid = e.oid AND d.deptype = 'e') $$, 'all of them belong to the extension');
SELECT is_empty($$ SELECT oid::regprocedure, proconfig FROM routines
	WHERE lanname <> 'c' AND oid NOT IN (SELECT p.oid FROM pg_proc p WHERE p.prosqlbody IS NOT NULL) AND (proconfig[1] IS DISTINCT FROM 'search_path=pg_catalog, pg_temp' OR array_to_string(proconfig[2:], ' ') !~ '^((lock_timeout=[0-9]+s|client_min_messages=warning|TimeZone=UTC)( |$))*$') $$, 'those whose body is a string pin their search_path, pg_temp last, and leave other settings to the library');
SELECT is_empty($$ SELECT oid::regprocedure FROM routines WHERE lanname = 'c' AND (proconfig IS NOT NULL OR probin <> 'tiered_storage') $$,
	'those in C are in the library of the extension');
SELECT bag_eq($$ SELECT proname::text FROM routines WHERE prosecdef $$,
	$$ VALUES ('add_move_window'), ('add_tier'), ('alter_device_profile'), ('alter_tier'), ('calibrate_tier'),
	('discover_tiers'), ('file_class_io'), ('first_hour'), ('move_queue_entries'), ('move_window_openings'), ('show_plan'), ('remove_move_window'), ('remove_standby'), ('remove_tier'),
	('relation_write_amplification'), ('wal_written_ratio'), ('wear_state')
	UNION ALL SELECT 'stored_' || t FROM unnest(_tiered_storage.state_tables()) t $$, 'security definer: those of tiers and windows, and what monitors see of plans and files only');
SELECT is_empty($$ SELECT p.oid::regprocedure, p.proconfig FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
		AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'tiered_storage')
	WHERE p.prosecdef AND NOT COALESCE('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false) $$, 'and each of them, in whatever schema and language, looks names up in pg_catalog first and pg_temp last');
SELECT is_empty($$ SELECT r.oid::regprocedure, t.oid::regtype FROM routines r JOIN pg_type t
	ON t.oid = ANY (COALESCE(r.proallargtypes, r.proargtypes::oid[]) || r.prorettype)
	WHERE r.prosecdef AND (t.typtype = 'p' AND t.typname NOT IN ('record', 'void', 'trigger') OR t.typnamespace NOT IN ('pg_catalog'::regnamespace, '_tiered_storage'::regnamespace)) $$,
	'and none of them takes or returns a value of a type that the caller chooses: its domains run functions of others');
SELECT is_empty($$ SELECT oid::regprocedure FROM routines WHERE prosecdef AND lanname = 'c' $$, 'none of them is in C, where no text of ours says what is looked up');
SELECT is_empty($$ SELECT d.objid::regprocedure, p.oid::regprocedure FROM pg_depend d JOIN routines r ON d.classid = 'pg_proc'::regclass AND d.objid = r.oid
		JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = p.oid
	WHERE p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) $$, 'no argument default and no body calls what others own');
SELECT is_empty($$ SELECT w.ev_class::regclass, d.refclassid::regclass, d.refobjid
	FROM pg_rewrite w JOIN pg_class c ON c.oid = w.ev_class AND c.relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace)
		JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
		LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
		LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
		LEFT JOIN pg_type t ON d.refclassid = 'pg_type'::regclass AND t.oid = d.refobjid
		LEFT JOIN pg_class x ON d.refclassid = 'pg_class'::regclass AND x.oid = d.refobjid
	WHERE COALESCE(p.pronamespace, o.oprnamespace, t.typnamespace, x.relnamespace)
		NOT IN ('pg_catalog'::regnamespace, 'tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) $$, 'no view depends on what others own');
SELECT is_empty($$ SELECT oid::regprocedure FROM routines WHERE lanname NOT IN ('c', 'sql', 'plpgsql') $$, 'no other language');


-- What their text and their plans depend on is the library's affair, whatever the caller has set.
CREATE FUNCTION _tiered_storage.probe() RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
	$$ SELECT concat_ws(', ', current_setting('jit'), current_setting('extra_float_digits'), current_setting('DateStyle'), current_setting('IntervalStyle'),
		current_setting('session_replication_role'), current_setting('max_parallel_workers_per_gather')) $$;
SET LOCAL jit = on;
SET LOCAL extra_float_digits = -15;
SET LOCAL "DateStyle" = 'German, DMY';
SET LOCAL "IntervalStyle" = sql_standard;
SET LOCAL session_replication_role = replica;
SET LOCAL max_parallel_workers_per_gather = 8;
SELECT is(_tiered_storage.probe(), 'off, 1, ISO, MDY, postgres, origin, 0', 'their settings have fixed values');

SELECT * FROM finish();
ROLLBACK;
