-- The views, their columns in order, and what is beneath them.
SET client_min_messages = warning;
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION tiered_storage;
SELECT plan(40);

CREATE TEMP VIEW relations AS
	SELECT c.*, obj_description(c.oid, 'pg_class') AS comment FROM pg_class c
	WHERE c.relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace);

CREATE FUNCTION pg_temp.columns_of(relation text) RETURNS text LANGUAGE sql AS $$
	SELECT E'\n' || string_agg(E'\t' || attname || ' ' || format_type(atttypid, atttypmod), E',\n' ORDER BY attnum) || E'\n' FROM pg_attribute
	WHERE attrelid = ('tiered_storage.' || relation)::regclass AND attnum > 0 AND NOT attisdropped
$$;

SELECT views_are('tiered_storage', ARRAY[
	'activity', 'devices', 'file_class_io', 'heat', 'history', 'metrics', 'move_batches', 'move_progress',
	'move_windows', 'moves', 'pins', 'policies', 'recommendations',
	'query_tiers', 'standbys', 'supposed', 'tiers', 'workers', 'write_amplification']);
SELECT views_are('_tiered_storage', ARRAY[
	'device_io', 'file_rows', 'fullness_policies', 'heat', 'history_rows',
	'last_load', 'last_sample', 'load_rows', 'observed_shares', 'planner_costs', 'query_costs', 'suppositions',
	'move_batches', 'move_progress', 'move_windows', 'moves', 'pin_targets', 'pinned_relations',
	'pins', 'placed_heat', 'policies', 'policy_schemas', 'standbys', 'tier_tablespaces', 'tiers',
	'write_amplification']);
SELECT tables_are('tiered_storage', '{}'::name[], 'users meet no tables');
SELECT tables_are('_tiered_storage', ARRAY['device_profile', 'device_state', 'device_wear', 'device_wear_day', 'device_wear_given', 'file_history', 'file_state', 'fullness_policy', 'history_hour', 'history_hour_0', 'history_hour_1', 'history_hour_2', 'history_hour_3', 'history_hour_4', 'history_hour_5', 'history_hour_6', 'history_hour_7', 'load_history', 'load_state', 'move', 'move_effect', 'move_file', 'move_window', 'pin', 'planned_move', 'policy', 'policy_result', 'rebuilt_index', 'relation_history', 'relation_state', 'restore_turn', 'sampler', 'standby', 'standby_counters', 'standby_reads', 'standby_room', 'standby_state', 'state_snapshot', 'state_snapshot_0', 'state_snapshot_1', 'tablespace_growth', 'tier', 'tier_calibration', 'tier_tablespace', 'wal_calibration']);
SELECT bag_eq($$ SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = '_tiered_storage'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'u' AND c.relname <> 'planned_move' $$,
	$$ SELECT unnest(_tiered_storage.state_tables()) $$, 'unlogged are the tables of state, which are in each snapshot');
SELECT is_empty($$ SELECT c.relname, c.reloptions FROM pg_class c WHERE c.relnamespace = '_tiered_storage'::regnamespace AND c.relkind = 'r'
	AND (c.relpersistence = 'u' OR c.relispartition) AND NOT COALESCE(c.reloptions && '{autovacuum_enabled=off,autovacuum_analyze_threshold=2147483647}', false) $$,
	'none of them is analyzed, and no member of a ring vacuumed');
SELECT sequences_are('_tiered_storage', ARRAY['move_batch', 'move_move_id_seq', 'pin_pin_id_seq', 'policy_policy_id_seq']);

SELECT is(pg_temp.columns_of('activity'), $$
	part text,
	name text,
	now text
$$, 'columns of activity, in order');
SELECT is(pg_temp.columns_of('devices'), $$
	tier_name name,
	device text,
	busy text,
	read_ms numeric,
	price numeric,
	calibrated text,
	written_a_day text,
	worn text,
	life_years text
$$, 'columns of devices, in order');
SELECT is(pg_temp.columns_of('file_class_io'), $$
	file_class text,
	tier_name name,
	place text,
	read text,
	written text,
	fsyncs text,
	waits text,
	saves text
$$, 'columns of file_class_io, in order');
SELECT is(pg_temp.columns_of('heat'), $$
	relation text,
	tier_name text,
	size text,
	random_reads_per_hour numeric,
	sequential_reads_per_hour numeric
$$, 'columns of heat, in order');
SELECT is(pg_temp.columns_of('metrics'), $$
	name text,
	labels jsonb,
	value double precision,
	kind text,
	help text
$$, 'columns of metrics, in order');
SELECT is(pg_temp.columns_of('move_batches'), $$
	batch_id bigint,
	kind text,
	requested_by text,
	started text,
	moves text,
	moved text,
	predicted text,
	measured text,
	undo text
$$, 'columns of move_batches, in order');
SELECT is(pg_temp.columns_of('move_progress'), $$
	relation text,
	target text,
	pid integer,
	phase text,
	done text,
	size text,
	speed text,
	remaining text
$$, 'columns of move_progress, in order');
SELECT is(pg_temp.columns_of('move_windows'), $$
	window_name name,
	days text,
	hours text,
	time_zone text,
	at_most text,
	state text,
	opens text
$$, 'columns of move_windows, in order');
SELECT is(pg_temp.columns_of('moves'), $$
	at text,
	relation text,
	move text,
	size text,
	state text,
	batch bigint,
	note text
$$, 'columns of moves, in order');
SELECT is(pg_temp.columns_of('pins'), $$
	relation text,
	tier_name name,
	until text,
	pinned_by name,
	relations bigint,
	state text
$$, 'columns of pins, in order');
SELECT is(pg_temp.columns_of('policies'), $$
	policy_id integer,
	kind text,
	relation text,
	tier_name text,
	condition text,
	last_result text
$$, 'columns of policies, in order');
SELECT is(pg_temp.columns_of('recommendations'), $$
	relation regclass,
	size text,
	move text,
	saves text,
	confidence text,
	firm_when text,
	reason text
$$, 'columns of recommendations, in order');
SELECT is(pg_temp.columns_of('query_tiers'), $$
	query_id bigint,
	query text,
	calls numeric,
	tier name,
	reads numeric,
	device_ms numeric,
	saved_ms numeric
$$, 'columns of query_tiers, in order');
SELECT is(pg_temp.columns_of('supposed'), $$
	relation regclass,
	current_tier name,
	supposed_tier name,
	seq_page_cost double precision,
	random_page_cost double precision
$$, 'columns of supposed, in order');
SELECT is(pg_temp.columns_of('history'), $$
	period_start timestamp with time zone,
	relation_oid oid,
	period_s integer,
	scans bigint,
	random_reads bigint,
	sequential_reads bigint,
	hits bigint,
	row_changes bigint,
	page_writes bigint,
	hour timestamp with time zone
$$, 'columns of history, in order');
SELECT is(pg_temp.columns_of('standbys'), $$
	standby_name name,
	relations bigint,
	last_pull text,
	next_pull text,
	failures integer,
	error text
$$, 'columns of standbys, in order');
SELECT is(pg_temp.columns_of('tiers'), $$
	tier_name name,
	rank integer,
	tablespaces text,
	profile text,
	capacity text,
	free text,
	used text
$$, 'columns of tiers, in order');
SELECT is(pg_temp.columns_of('workers'), $$
	database_name name,
	state text,
	pid integer,
	last_run text,
	next_run text,
	note text
$$, 'columns of workers, in order');
SELECT is(pg_temp.columns_of('write_amplification'), $$
	tier_name name,
	relation regclass,
	rows text,
	pages text,
	upkeep text,
	wal text,
	images text,
	factor text
$$, 'columns of write_amplification, in order');

-- Names that others rely on, whatever comes between them.
SELECT is_empty($$ SELECT v.name FROM (VALUES ('discover_tiers'), ('add_tier'), ('alter_tier'), ('remove_tier'), ('sample'), ('recommend_placement'),
	('explain_placement'), ('placement_summary'), ('simulate_placement'), ('tier_size_curve'), ('apply_placement'), ('undo_move'), ('calibrate_tier'), ('recommend_settings'),
	('add_tiering_policy'), ('alter_policy'), ('remove_policy'), ('pin'), ('unpin'), ('move_relation'), ('preflight'), ('migrate'), ('pause'), ('resume')) v (name)
	WHERE NOT EXISTS (SELECT FROM pg_proc p WHERE p.pronamespace = 'tiered_storage'::regnamespace AND p.proname = v.name) $$,
	'functions and procedures that the design fixes');
SELECT is_empty($$ SELECT v.name FROM unnest(ARRAY['relation', 'kind', 'current_tier', 'recommended_tier', 'size_bytes', 'reason', 'command']) v (name)
	WHERE v.name <> ALL ((SELECT proargnames FROM pg_proc WHERE oid = 'tiered_storage.recommend_placement'::regproc)::text[]) $$,
	'columns of recommend_placement() that the design fixes');

-- Units come last in names, and times end in _at, _since or _until.
SELECT is_empty($$ SELECT c.relname, a.attname FROM relations c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	WHERE c.relkind IN ('v', 'r') AND a.atttypid = 'timestamptz'::regtype AND a.attname !~ '(_at|_since|_until|^until)$' AND a.attname NOT IN ('period_start', 'hour') AND (c.relname, a.attname) NOT IN (('move', 'backend_start')) $$,
	'columns of type timestamptz are named as times');

-- Comments, owners, membership.
SELECT is_empty($$ SELECT relname FROM relations WHERE relkind IN ('v', 'r') AND relnamespace = 'tiered_storage'::regnamespace
	AND COALESCE(comment, '') = '' $$, 'each view has a comment');
SELECT is_empty($$ SELECT oid::regclass FROM relations WHERE relowner <> (SELECT extowner FROM pg_extension WHERE extname = 'tiered_storage') $$,
	'the owner of the extension owns them');
SELECT is_empty($$ SELECT r.oid::regclass FROM relations r WHERE relkind IN ('v', 'r', 'S') AND NOT EXISTS (SELECT FROM pg_depend d, pg_extension e
	WHERE e.extname = 'tiered_storage' AND d.classid = 'pg_class'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_extension'::regclass
		AND d.refobjid = e.oid AND d.deptype = 'e') $$, 'all of them belong to the extension');
SELECT is_empty($$ SELECT relname FROM relations WHERE relkind = 'r' AND relpersistence <> 'p' AND relname <> 'planned_move' AND relname <> ALL (_tiered_storage.state_tables()) $$, 'all other tables are permanent and logged');

-- What pg_dump saves: what a person has defined, and nothing that was only seen.
SELECT set_eq($$ SELECT unnest(extconfig)::regclass::text FROM pg_extension WHERE extname = 'tiered_storage' $$,
	$$ VALUES ('_tiered_storage.tier'), ('_tiered_storage.tier_tablespace'), ('_tiered_storage.device_profile'), ('_tiered_storage.move_window'), ('_tiered_storage.policy'), ('_tiered_storage.policy_policy_id_seq'), ('_tiered_storage.fullness_policy'), ('_tiered_storage.pin'), ('_tiered_storage.pin_pin_id_seq'), ('_tiered_storage.standby') $$,
	'tables that are dumped with their rows');
SELECT ok(bool_and(c LIKE 'WHERE NOT discovered%'), 'of the tiers, not those that were only discovered')
	FROM pg_extension e, unnest(e.extconfig, e.extcondition) u (t, c)
	WHERE e.extname = 'tiered_storage' AND u.t IN ('_tiered_storage.tier'::regclass, '_tiered_storage.tier_tablespace'::regclass);
SELECT fk_ok('_tiered_storage', 'tier_tablespace', 'tier_name', '_tiered_storage', 'tier', 'tier_name');
SELECT fk_ok('_tiered_storage', 'policy', 'tier_name', '_tiered_storage', 'tier', 'tier_name');
SELECT fk_ok('_tiered_storage', 'fullness_policy', 'tier_name', '_tiered_storage', 'tier', 'tier_name');
SELECT fk_ok('_tiered_storage', 'fullness_policy', 'target_name', '_tiered_storage', 'tier', 'tier_name');
SELECT fk_ok('_tiered_storage', 'pin', 'tier_name', '_tiered_storage', 'tier', 'tier_name');

SELECT * FROM finish();
ROLLBACK;
