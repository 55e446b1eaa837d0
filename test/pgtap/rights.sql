-- Rights: what is granted to whom, and nothing else.
SET client_min_messages = warning;
SET allow_in_place_tablespaces = true;
CREATE TABLESPACE tap_far LOCATION '';
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION tiered_storage;
SELECT plan(68);

-- Functions: pg_monitor what only looks, and what that rests on; nobody else anything.
SELECT bag_eq($$ SELECT n.nspname || '.' || p.proname, COALESCE(NULLIF(a.grantee, 0)::regrole::text, 'PUBLIC'), a.privilege_type
	FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace, aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) a
	WHERE n.nspname IN ('tiered_storage', '_tiered_storage') AND a.grantee <> p.proowner $$, $$ VALUES
	('_tiered_storage.access_tracking', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.block_heat', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.recommend_partitioning', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.estimate_compression', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.orphaned_files', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.device_profiles', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.short_savings', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.readable', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.move_cause', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.tier_size_curve', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.unused_relations', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.recommend_settings', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.estimate_compression', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.compare_load', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.device_profiles', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.evaluate_policies', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.explain_placement', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.distributed_table', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.is_paused', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.load_profile', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.orphaned_files', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.placement_summary', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.preflight', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.partitioning_script', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.recommend_partitioning', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.recommend_placement', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.recommend_settings', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.report', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.explain_tiers', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.plan_reads', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.priced_plan', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.query_reads', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.query_texts', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.relation_queries', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.main_queries', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.suppose', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.suppose_recommended', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.suppose_reset', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.suppose_moves', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.warn_of_equal_costs', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.refuse', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.first_hour', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.short_saving', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_answer', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_bar', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_bars', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_budget', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_cell', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_escape', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_facts', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_figure', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_heat', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_heat_map', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_heat_step', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_label', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_legend', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_load', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_moved', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_page', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_table', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_ticks', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_tiers', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_time_ticks', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_unknown', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.report_words', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.unused_relations', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.simulate_placement', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.tablespace_devices', 'pg_monitor', 'EXECUTE'),
	('tiered_storage.tier_size_curve', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.device_fit', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.effect_verdict', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.directory_tiers', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.file_class_io', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.file_period', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.server_directories', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.settings_of_images', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.setting_obstacle', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.settings_of_tablespaces', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.settings_of_temp', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.roomiest_places', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.wal_places', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.role_list', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.roles_without_create', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.temp_places', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.wal_move_command', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.temp_saved_s', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.settings_of_wal_place', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.settings_of_wal_sync', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.hot_range', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.load_is_possible', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.load_totals', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.unsampled', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.move_queue_entries', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.move_window_openings', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.mover_progress', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_advice', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_interval', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_key', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.spare_path', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_obstacles', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_bounds', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_grants', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_grantees', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_name_obstacles', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_owner_check', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_renames', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_views', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_locks', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_companions', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_parent', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_switch', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.partition_undo', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.relation_entry', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.relation_entry', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.relation_persistence', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.present_relation', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.present_pinned', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.relation_write_amplification', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.wear_state', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.smoothed_rate', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.period_share', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.wal_written_ratio', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.tablespace_claims', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.short_number', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.short_quantity', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.short_bytes', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.first_columns', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.clip', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.wrap', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.no_heat', 'pg_monitor', 'EXECUTE'), ('_tiered_storage.now_and_then', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.short_price', 'pg_monitor', 'EXECUTE'), ('_tiered_storage.explain_placement', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.placement_summary', 'pg_monitor', 'EXECUTE'), ('_tiered_storage.simulate_placement', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.evaluate_policies', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.activity_rows', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.short_reason', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.default_profiles', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.short_recommendations', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.worker_status', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.from_to', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.metric_values', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.percent', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.short_rate', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.short_seconds', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.short_time', 'pg_monitor', 'EXECUTE'),
	('_tiered_storage.significant', 'pg_monitor', 'EXECUTE')
	UNION ALL SELECT '_tiered_storage.stored_' || t, 'pg_monitor', 'EXECUTE' FROM unnest(_tiered_storage.state_tables()) t
$$, 'EXECUTE is granted to pg_monitor on these functions, and to nobody else on any');
SELECT bag_eq($$ SELECT n.nspname || '.' || c.relname, COALESCE(NULLIF(a.grantee, 0)::regrole::text, 'PUBLIC'), a.privilege_type
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
		aclexplode(COALESCE(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's'::"char" ELSE 'r' END, c.relowner))) a
	WHERE n.nspname IN ('tiered_storage', '_tiered_storage') AND a.grantee <> c.relowner $$, $$ VALUES
	('_tiered_storage.device_io', 'pg_monitor', 'SELECT'),
	('_tiered_storage.fullness_policies', 'pg_monitor', 'SELECT'),
	('_tiered_storage.heat', 'pg_monitor', 'SELECT'),
	('_tiered_storage.placed_heat', 'pg_monitor', 'SELECT'),
	('_tiered_storage.move_batches', 'pg_monitor', 'SELECT'),
	('_tiered_storage.move_progress', 'pg_monitor', 'SELECT'),
	('_tiered_storage.move_windows', 'pg_monitor', 'SELECT'),
	('_tiered_storage.moves', 'pg_monitor', 'SELECT'),
	('_tiered_storage.pinned_relations', 'pg_monitor', 'SELECT'),
	('_tiered_storage.pins', 'pg_monitor', 'SELECT'),
	('_tiered_storage.policies', 'pg_monitor', 'SELECT'),
	('_tiered_storage.device_profile', 'pg_monitor', 'SELECT'),
	('tiered_storage.recommendations', 'pg_monitor', 'SELECT'),
	('tiered_storage.history', 'pg_monitor', 'SELECT'),
	('_tiered_storage.standbys', 'pg_monitor', 'SELECT'),
	('_tiered_storage.tier_calibration', 'pg_monitor', 'SELECT'),
	('_tiered_storage.wal_calibration', 'pg_monitor', 'SELECT'),
	('_tiered_storage.tiers', 'pg_monitor', 'SELECT'),
	('tiered_storage.metrics', 'pg_monitor', 'SELECT'),
	('tiered_storage.activity', 'pg_monitor', 'SELECT'),
	('_tiered_storage.write_amplification', 'pg_monitor', 'SELECT'),
	('_tiered_storage.load_rows', 'pg_monitor', 'SELECT'),
	('_tiered_storage.last_load', 'pg_monitor', 'SELECT'),
	('_tiered_storage.tier_tablespaces', 'pg_monitor', 'SELECT'),
	('_tiered_storage.last_sample', 'pg_monitor', 'SELECT'),
	('tiered_storage.devices', 'pg_monitor', 'SELECT'),
	('tiered_storage.file_class_io', 'pg_monitor', 'SELECT'),
	('tiered_storage.heat', 'pg_monitor', 'SELECT'),
	('tiered_storage.move_batches', 'pg_monitor', 'SELECT'),
	('tiered_storage.move_progress', 'pg_monitor', 'SELECT'),
	('tiered_storage.move_windows', 'pg_monitor', 'SELECT'),
	('tiered_storage.moves', 'pg_monitor', 'SELECT'),
	('tiered_storage.pins', 'pg_monitor', 'SELECT'),
	('tiered_storage.policies', 'pg_monitor', 'SELECT'),
	('tiered_storage.standbys', 'pg_monitor', 'SELECT'),
	('_tiered_storage.observed_shares', 'pg_monitor', 'SELECT'),
	('_tiered_storage.query_costs', 'pg_monitor', 'SELECT'),
	('_tiered_storage.suppositions', 'pg_monitor', 'SELECT'),
	('_tiered_storage.planner_costs', 'pg_monitor', 'SELECT'),
	('tiered_storage.query_tiers', 'pg_monitor', 'SELECT'),
	('tiered_storage.supposed', 'pg_monitor', 'SELECT'),
	('tiered_storage.tiers', 'pg_monitor', 'SELECT'),
	('tiered_storage.workers', 'pg_monitor', 'SELECT'),
	('tiered_storage.write_amplification', 'pg_monitor', 'SELECT')
$$, 'SELECT is granted to pg_monitor on these relations, and nothing else to anybody');
SELECT is_empty($$ SELECT attrelid::regclass, attname FROM pg_attribute WHERE attacl IS NOT NULL
	AND attrelid IN (SELECT oid FROM pg_class WHERE relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace)) $$, 'no rights on single columns');
SELECT bag_eq($$ SELECT n.nspname::text, COALESCE(NULLIF(a.grantee, 0)::regrole::text, 'PUBLIC'), a.privilege_type, a.is_grantable
	FROM pg_namespace n, aclexplode(COALESCE(n.nspacl, acldefault('n', n.nspowner))) a
	WHERE n.nspname IN ('tiered_storage', '_tiered_storage') AND a.grantee <> n.nspowner $$,
	$$ VALUES ('tiered_storage', 'pg_monitor', 'USAGE', false), ('_tiered_storage', 'pg_monitor', 'USAGE', false) $$, 'USAGE on the schemas is granted to pg_monitor');
SELECT is_empty($$ SELECT t.typname FROM pg_type t, aclexplode(t.typacl) a
	WHERE t.typnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND a.grantee <> t.typowner $$,
	'no rights on types are granted');

-- By role: what counts in the end.
CREATE ROLE tap_user;
CREATE ROLE tap_monitor IN ROLE pg_monitor;
CREATE ROLE tap_admin;
GRANT USAGE ON SCHEMA tiered_storage, _tiered_storage TO tap_admin;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA tiered_storage, _tiered_storage TO tap_admin;
SELECT is_empty($$ SELECT oid::regprocedure FROM pg_proc WHERE pronamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND has_function_privilege('tap_user', oid, 'EXECUTE') $$,
	'a plain user executes nothing');
SELECT is_empty($$ SELECT oid::regclass FROM pg_class WHERE relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND relkind IN ('r', 'v')
	AND has_table_privilege('tap_user', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') $$, 'a plain user reads nothing');
SELECT is_empty($$ SELECT oid::regclass FROM pg_class WHERE relnamespace = 'tiered_storage'::regnamespace AND relkind = 'v'
	AND NOT has_table_privilege('tap_monitor', oid, 'SELECT') $$, 'a member of pg_monitor reads every view');
SELECT is_empty($$ SELECT oid::regclass FROM pg_class WHERE relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND relkind IN ('r', 'v')
	AND has_table_privilege('tap_monitor', oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') $$, 'a member of pg_monitor changes none');
SELECT is_empty($$ SELECT oid::regclass FROM pg_class WHERE relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND relkind IN ('r', 'v')
	AND has_table_privilege('tap_admin', oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') $$, 'an administrator of tiers changes no table but through functions');
SELECT is_empty($$ SELECT n.nspname, r.rolname FROM pg_namespace n, pg_roles r WHERE n.nspname IN ('tiered_storage', '_tiered_storage')
	AND (r.rolname IN ('tap_monitor', 'tap_admin') AND has_schema_privilege(r.oid, n.oid, 'CREATE')
		OR r.rolname = 'tap_user' AND has_schema_privilege(r.oid, n.oid, 'USAGE, CREATE')) $$, 'nobody creates in the schemas');
-- All views work with those rights alone: a view checks EXECUTE for the one who asks.
SET ROLE tap_monitor;
SELECT lives_ok('SELECT * FROM _tiered_storage.device_io', 'pg_monitor: device_io');
SELECT lives_ok('SELECT * FROM _tiered_storage.heat', 'pg_monitor: heat');
SELECT lives_ok('SELECT * FROM tiered_storage.estimate_compression(''pg_class'')', 'pg_monitor: estimate_compression()');
SELECT lives_ok('SELECT * FROM _tiered_storage.file_class_io()', 'pg_monitor: file_class_io');
SELECT lives_ok('SELECT * FROM _tiered_storage.standbys', 'pg_monitor: standbys');
SELECT lives_ok('SELECT * FROM tiered_storage.recommend_partitioning(0, true)', 'pg_monitor: recommend_partitioning()');
SELECT throws_ok('SELECT * FROM _tiered_storage.standby', '42501', 'permission denied for table standby', 'pg_monitor: not the table beneath');
SELECT throws_ok('SELECT * FROM tiered_storage.load_profile()', '55000', NULL, 'pg_monitor: load_profile(), of which one sample is not enough');
SELECT lives_ok('SELECT * FROM _tiered_storage.move_progress', 'pg_monitor: move_progress');
SELECT lives_ok('SELECT * FROM _tiered_storage.moves', 'pg_monitor: moves');
SELECT lives_ok('SELECT * FROM _tiered_storage.move_batches', 'pg_monitor: move_batches');
SELECT throws_ok('SELECT * FROM _tiered_storage.move_effect', '42501', 'permission denied for table move_effect', 'pg_monitor does not read what is beneath');
SELECT lives_ok('SELECT * FROM _tiered_storage.pins', 'pg_monitor: pins');
SELECT lives_ok('SELECT * FROM _tiered_storage.pinned_relations', 'pg_monitor: pinned_relations');
SELECT lives_ok('SELECT * FROM _tiered_storage.policies', 'pg_monitor: policies');
SELECT lives_ok('SELECT * FROM _tiered_storage.fullness_policies', 'pg_monitor: fullness_policies');
SELECT lives_ok('SELECT * FROM _tiered_storage.move_queue_entries()', 'pg_monitor: move_queue');
SELECT lives_ok('SELECT * FROM _tiered_storage.tier_tablespaces', 'pg_monitor: tier_tablespaces');
SELECT lives_ok('SELECT * FROM _tiered_storage.tiers', 'pg_monitor: tiers');
SELECT lives_ok('SELECT * FROM tiered_storage.metrics', 'pg_monitor: metrics');
SELECT lives_ok('SELECT * FROM tiered_storage.activity', 'pg_monitor: activity');
SELECT lives_ok('SELECT * FROM _tiered_storage.worker_status()', 'pg_monitor: workers');
SELECT lives_ok('SELECT * FROM _tiered_storage.write_amplification', 'pg_monitor: write_amplification');
SELECT lives_ok('SELECT * FROM _tiered_storage.relation_write_amplification()', 'pg_monitor: relation_write_amplification');
SELECT lives_ok('SELECT * FROM _tiered_storage.wear_state()', 'pg_monitor: wear');
SELECT lives_ok('SELECT * FROM _tiered_storage.tablespace_devices()', 'pg_monitor: tablespace_devices()');
SELECT lives_ok('SELECT * FROM _tiered_storage.tablespace_claims()', 'pg_monitor: tablespace_claims()');
SELECT lives_ok('SELECT * FROM tiered_storage.device_profiles()', 'pg_monitor: device_profiles()');
SELECT lives_ok('SELECT * FROM tiered_storage.block_heat(''pg_class'', 10)', 'pg_monitor: block_heat()');
SELECT lives_ok('SELECT * FROM tiered_storage.recommendations', 'pg_monitor: recommendations');
SELECT lives_ok('SELECT * FROM tiered_storage.recommend_placement()', 'pg_monitor: recommend_placement()');
SELECT lives_ok('SELECT * FROM tiered_storage.recommend_placement(true)', 'pg_monitor: recommend_placement(true)');
SELECT lives_ok('SELECT * FROM tiered_storage.evaluate_policies()', 'pg_monitor: evaluate_policies()');
SELECT lives_ok('SELECT * FROM _tiered_storage.worker_status()', 'pg_monitor: worker_status()');
SELECT lives_ok('SELECT * FROM _tiered_storage.access_tracking()', 'pg_monitor: access_tracking()');
SELECT lives_ok('SELECT * FROM _tiered_storage.mover_progress(pg_backend_pid())', 'pg_monitor: mover_progress()');
SELECT lives_ok('SELECT _tiered_storage.is_paused()', 'pg_monitor: is_paused()');
SELECT throws_ok('SELECT tiered_storage.pause()', '42501', 'permission denied for function pause', 'pg_monitor does not pause moves');
SELECT throws_ok('SELECT tiered_storage.resume()', '42501', 'permission denied for function resume', 'pg_monitor does not resume them');
SELECT lives_ok('SELECT * FROM tiered_storage.devices', 'pg_monitor: the view devices');
SELECT lives_ok('SELECT * FROM tiered_storage.file_class_io', 'pg_monitor: the view file_class_io');
SELECT lives_ok('SELECT * FROM tiered_storage.heat', 'pg_monitor: the view heat');
SELECT lives_ok('SELECT * FROM tiered_storage.move_batches', 'pg_monitor: the view move_batches');
SELECT lives_ok('SELECT * FROM tiered_storage.move_progress', 'pg_monitor: the view move_progress');
SELECT lives_ok('SELECT * FROM tiered_storage.move_windows', 'pg_monitor: the view move_windows');
SELECT lives_ok('SELECT * FROM tiered_storage.moves', 'pg_monitor: the view moves');
SELECT lives_ok('SELECT * FROM tiered_storage.pins', 'pg_monitor: the view pins');
SELECT lives_ok('SELECT * FROM tiered_storage.policies', 'pg_monitor: the view policies');
SELECT lives_ok('SELECT * FROM tiered_storage.history', 'pg_monitor: the view history');
SELECT lives_ok('SELECT * FROM tiered_storage.standbys', 'pg_monitor: the view standbys');
SELECT lives_ok('SELECT * FROM tiered_storage.supposed', 'pg_monitor: the view supposed');
SELECT lives_ok('SELECT * FROM tiered_storage.tiers', 'pg_monitor: the view tiers');
SELECT lives_ok('SELECT * FROM tiered_storage.workers', 'pg_monitor: the view workers');
SELECT lives_ok('SELECT * FROM tiered_storage.write_amplification', 'pg_monitor: the view write_amplification');
RESET ROLE;

-- A role that is no administrator has so many policies and no more: each run evaluates all of them.
SELECT tiered_storage.add_tier('tap', '{tap_far}', profile => 'hdd_7200') \g /dev/null
CREATE SCHEMA tap_many AUTHORIZATION tap_user;
GRANT USAGE ON SCHEMA tiered_storage TO tap_user;
GRANT EXECUTE ON FUNCTION tiered_storage.add_tiering_policy TO tap_user;
GRANT CREATE ON TABLESPACE tap_far TO tap_user;
CREATE FUNCTION pg_temp.add_policies(first int, last int) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(tiered_storage.add_tiering_policy(format('tap_many.t%s', i)::regclass, tier => 'tap', idle_for => '1 year'))
	FROM generate_series(first, last) i $$;
SELECT format('CREATE TABLE tap_many.t%s (); ALTER TABLE tap_many.t%s OWNER TO tap_user', i, i) FROM generate_series(1, 1002) i \gexec
SET ROLE tap_user;
SELECT is(pg_temp.add_policies(1, 1000), 1000::bigint, 'a role adds a thousand policies');
SELECT throws_ok('SELECT pg_temp.add_policies(1001, 1001)', '53400', 'role "tap_user" already has 1000 tiering policies, which is the maximum', 'and no more');
RESET ROLE;
SELECT is(pg_temp.add_policies(1001, 1002), 2::bigint, 'an administrator does');

SELECT * FROM finish();
ROLLBACK;
DROP TABLESPACE tap_far;
