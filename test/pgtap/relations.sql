-- The views, their columns in order, and what is beneath them.
SET client_min_messages = warning;
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION tiered_storage;
SELECT plan(43);

CREATE TEMP VIEW relations AS
	SELECT c.*, obj_description(c.oid, 'pg_class') AS comment FROM pg_class c
	WHERE c.relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace);

CREATE FUNCTION pg_temp.columns_of(relation text) RETURNS text LANGUAGE sql AS $$
	SELECT E'\n' || string_agg(E'\t' || attname || ' ' || format_type(atttypid, atttypmod), E',\n' ORDER BY attnum) || E'\n' FROM pg_attribute
	WHERE attrelid = ('tiered_storage.' || relation)::regclass AND attnum > 0 AND NOT attisdropped
$$;

SELECT views_are('tiered_storage', ARRAY['activity', 'compression_estimates', 'device_io', 'file_class_io', 'fullness_policies', 'heat', 'hot_relations', 'metrics', 'move_batches', 'move_metrics', 'move_progress', 'move_queue', 'move_windows', 'moves', 'pinned_relations', 'pins', 'policies', 'recent_moves', 'recommendations', 'relation_history', 'relation_metrics', 'relation_write_amplification', 'sampler', 'server_metrics', 'server_writes', 'standbys', 'tier_calibration', 'tier_metrics', 'tiers', 'wal_calibration', 'wear', 'workers', 'write_amplification']);
SELECT views_are('_tiered_storage', ARRAY['last_estimates', 'pin_targets', 'policy_schemas', 'tier_tablespaces']);
SELECT tables_are('tiered_storage', '{}'::name[], 'users meet no tables');
SELECT tables_are('_tiered_storage', ARRAY['compression_estimate', 'device_profile', 'device_state', 'device_wear', 'device_wear_day', 'device_wear_given', 'file_history', 'file_state', 'fullness_policy', 'load_history', 'load_state', 'move', 'move_effect', 'move_file', 'move_window', 'pin', 'policy', 'relation_history', 'relation_state', 'restore_turn', 'sampler', 'standby', 'standby_counters', 'standby_reads', 'standby_room', 'standby_state', 'tablespace_growth', 'tier', 'tier_calibration', 'tier_tablespace', 'wal_calibration']);
SELECT sequences_are('_tiered_storage', ARRAY['compression_estimate_estimate_id_seq', 'move_batch', 'move_move_id_seq', 'pin_pin_id_seq', 'policy_policy_id_seq']);

SELECT is(pg_temp.columns_of('device_io'), $$
	device text,
	tier_name name,
	tablespaces text[],
	sampled_at timestamp with time zone,
	period_s double precision,
	reads_per_s double precision,
	read_bytes_per_s double precision,
	writes_per_s double precision,
	write_bytes_per_s double precision,
	busy_fraction double precision,
	reads_1d_per_s double precision,
	read_bytes_1d_per_s double precision,
	writes_1d_per_s double precision,
	write_bytes_1d_per_s double precision,
	busy_1d_fraction double precision,
	read_bytes bigint,
	predicted_read_bytes double precision,
	foreign_read_bytes double precision,
	fit_factor double precision,
	fit_residual double precision,
	request_fit_factor double precision,
	request_fit_residual double precision,
	fit_periods double precision,
	explained boolean,
	write_fit_factor double precision,
	write_fit_residual double precision,
	write_request_fit_factor double precision,
	write_request_fit_residual double precision,
	write_fit_periods double precision,
	writes_explained boolean
$$, 'columns of device_io, in order');
SELECT is(pg_temp.columns_of('heat'), $$
	relation regclass,
	kind text,
	tier_name name,
	size_bytes bigint,
	random_reads_per_hour double precision,
	sequential_reads_per_hour double precision,
	device_random_reads_per_hour double precision,
	device_sequential_reads_per_hour double precision,
	writes_per_hour double precision,
	random_reads_14d_per_hour double precision,
	sequential_reads_14d_per_hour double precision,
	writes_14d_per_hour double precision,
	sequential_reads_low_14d_per_hour double precision,
	sequential_reads_high_14d_per_hour double precision,
	maintenance_reads_per_hour double precision,
	maintenance_reads_14d_per_hour double precision,
	hits_14d_per_hour double precision,
	cached_fraction double precision,
	os_cached_fraction double precision,
	dirty_buffers integer,
	last_used_at timestamp with time zone,
	last_written_at timestamp with time zone,
	rewritten_at timestamp with time zone,
	placed_at timestamp with time zone,
	sampled_since timestamp with time zone,
	observed_since timestamp with time zone,
	heat_at timestamp with time zone,
	standby_reads_per_hour double precision,
	source text,
	page_writes_per_hour double precision,
	page_writes_14d_per_hour double precision,
	merged_writes_per_hour double precision,
	maintenance_writes_per_hour double precision,
	wal_bytes_per_hour double precision,
	full_page_image_bytes_per_hour double precision,
	write_source text,
	read_pattern text,
	write_pattern text,
	growth_bytes_per_day double precision,
	distributed_table regclass
$$, 'columns of heat, in order');
SELECT is(pg_temp.columns_of('recommendations'), $$
	relation regclass,
	size text,
	move text,
	saves text,
	confidence text,
	reason text
$$, 'columns of recommendations, in order');
SELECT is(pg_temp.columns_of('write_amplification'), $$
	tier_name name,
	is_total boolean,
	row_changes_per_hour double precision,
	row_bytes_per_hour double precision,
	page_write_bytes_per_hour double precision,
	maintenance_write_bytes_per_hour double precision,
	moved_bytes_per_hour double precision,
	wal_bytes_per_hour double precision,
	full_page_image_bytes_per_hour double precision,
	amplification double precision
$$, 'columns of write_amplification, in order');
SELECT is(pg_temp.columns_of('relation_write_amplification'), $$
	relation regclass,
	tier_name name,
	row_changes_per_hour double precision,
	row_width_bytes double precision,
	row_bytes_per_hour double precision,
	table_write_bytes_per_hour double precision,
	toast_write_bytes_per_hour double precision,
	index_write_bytes_per_hour double precision,
	maintenance_write_bytes_per_hour double precision,
	wal_bytes_per_hour double precision,
	full_page_image_bytes_per_hour double precision,
	page_amplification double precision,
	wal_amplification double precision,
	amplification double precision,
	reason text
$$, 'columns of relation_write_amplification, in order');
SELECT is(pg_temp.columns_of('wear'), $$
	device text,
	tier_name name,
	shared_with text[],
	counted_since timestamp with time zone,
	counted_at timestamp with time zone,
	written_bytes bigint,
	written_bytes_per_day double precision,
	relation_bytes_per_day double precision,
	wal_bytes_per_day double precision,
	moved_bytes_per_day double precision,
	own_fraction double precision,
	endurance_bytes double precision,
	endurance_bytes_per_day double precision,
	given_at timestamp with time zone,
	given_written_bytes bigint,
	given_used_fraction double precision,
	used_fraction double precision,
	expected_life_years double precision,
	wear_exceeded boolean,
	reason text
$$, 'columns of wear, in order');
SELECT is(pg_temp.columns_of('server_writes'), $$
	checkpoint_bytes bigint,
	bgwriter_bytes bigint,
	backend_bytes bigint,
	buffers_since timestamp with time zone,
	wal_bytes bigint,
	full_page_images bigint,
	wal_since timestamp with time zone,
	temp_bytes bigint,
	temp_since timestamp with time zone,
	moved_bytes bigint,
	moved_since timestamp with time zone
$$, 'columns of server_writes, in order');
SELECT is(pg_temp.columns_of('compression_estimates'), $$
	relation regclass,
	algorithm name,
	ratio double precision,
	ratio_low double precision,
	ratio_high double precision,
	size_bytes bigint,
	pieces bigint,
	sampled_pieces bigint,
	estimated_at timestamp with time zone,
	measured_ratio double precision,
	measured_reason text,
	unused_reason text
$$, 'columns of compression_estimates, in order');
SELECT is(pg_temp.columns_of('file_class_io'), $$
	file_class text,
	tier_name name,
	reads_per_hour double precision,
	read_bytes_per_hour double precision,
	writes_per_hour double precision,
	write_bytes_per_hour double precision,
	wait_s_per_hour double precision,
	place text,
	is_total boolean,
	device text,
	fsyncs_per_hour double precision,
	io_s_per_hour double precision,
	saved_s_per_hour double precision,
	null_reason text
$$, 'columns of file_class_io, in order');
SELECT is(pg_temp.columns_of('standbys'), $$
	standby_name name,
	conninfo text,
	relations bigint,
	last_pull_at timestamp with time zone,
	last_attempt_at timestamp with time zone,
	next_pull_at timestamp with time zone,
	failures integer,
	error text
$$, 'columns of standbys, in order');
SELECT is(pg_temp.columns_of('move_progress'), $$
	move_id bigint,
	relation text,
	kind text,
	from_tablespace name,
	to_tablespace name,
	pid integer,
	method text,
	phase text,
	waits_for text,
	blocks_total bigint,
	blocks_done bigint,
	blocks_to_go bigint,
	bytes_per_s double precision,
	pace_bytes_per_s double precision,
	slowdown double precision,
	remaining_s double precision,
	catch_up_rounds integer,
	attempts integer,
	restarts integer,
	size_bytes bigint,
	started_at timestamp with time zone,
	elapsed_ms double precision
$$, 'columns of move_progress, in order');
SELECT is(pg_temp.columns_of('moves'), $$
	move_id bigint,
	relation text,
	kind text,
	from_tier name,
	to_tier name,
	from_tablespace name,
	to_tablespace name,
	state text,
	requested_by name,
	policy_id integer,
	reason text,
	method text,
	size_bytes bigint,
	started_at timestamp with time zone,
	finished_at timestamp with time zone,
	elapsed_ms double precision,
	waited_ms double precision,
	attempts integer,
	failures integer,
	next_attempt_at timestamp with time zone,
	lock_wait_ms double precision,
	lock_held_ms double precision,
	lock_flush_ms double precision,
	copied_bytes bigint,
	error text,
	sqlstate text,
	batch_id bigint,
	predicted_saved_io_s_per_hour double precision,
	before_io_s_per_hour double precision,
	predicted_io_s_per_hour double precision,
	measured_at timestamp with time zone,
	effect_source text,
	unmoved_io_s_per_hour double precision,
	measured_io_s_per_hour double precision,
	measured_saved_io_s_per_hour double precision,
	effect text,
	plan_change text,
	undo_of bigint,
	policy_kind text
$$, 'columns of moves, in order');
SELECT is(pg_temp.columns_of('move_batches'), $$
	batch_id bigint,
	kind text,
	requested_by name,
	started_at timestamp with time zone,
	finished_at timestamp with time zone,
	moves_done bigint,
	moves_failed bigint,
	moves_skipped bigint,
	moves_running bigint,
	moved_bytes bigint,
	predicted_saved_io_s_per_hour double precision,
	measured_saved_io_s_per_hour double precision,
	measured_moves bigint,
	effect text,
	plan_changes bigint,
	undo_command text,
	undo_of bigint,
	undone_by bigint
$$, 'columns of move_batches, in order');
SELECT is(pg_temp.columns_of('fullness_policies'), $$
	policy_id integer,
	tier_name name,
	target_name name,
	high_watermark double precision,
	low_watermark double precision,
	follows_tier boolean,
	created_by name,
	created_at timestamp with time zone,
	last_evaluated_at timestamp with time zone,
	last_fill double precision,
	last_leaving integer,
	last_result text,
	created_by_oid oid,
	enabled boolean
$$, 'columns of fullness_policies, in order');
SELECT is(pg_temp.columns_of('policies'), $$
	policy_id integer,
	relation regclass,
	relation_name text,
	move_after interval,
	tier_name name,
	include_indexes boolean,
	age_from text,
	key_unit text,
	key_epoch timestamp with time zone,
	key_shift integer,
	time_zone text,
	created_by name,
	created_at timestamp with time zone,
	last_evaluated_at timestamp with time zone,
	last_due integer,
	last_on_target integer,
	last_result text,
	created_by_oid oid,
	enabled boolean,
	idle_for interval,
	no_writes_for interval,
	below_reads_per_hour double precision,
	index_tier name,
	in_schema name,
	names_like text,
	return_when_reads_per_hour double precision,
	return_after interval,
	return_tier name
$$, 'columns of policies, in order');
SELECT is(pg_temp.columns_of('pins'), $$
	relation regclass,
	relation_name text,
	tier_name name,
	until timestamp with time zone,
	include_indexes boolean,
	pinned_by name,
	pinned_at timestamp with time zone,
	relations bigint,
	is_on_tier boolean,
	is_expired boolean
$$, 'columns of pins, in order');
SELECT is(pg_temp.columns_of('pinned_relations'), $$
	relation regclass,
	tier_name name,
	until timestamp with time zone,
	pinned_as regclass,
	current_tier name,
	is_on_tier boolean,
	pin_id integer
$$, 'columns of pinned_relations, in order');
SELECT is(pg_temp.columns_of('tier_calibration'), $$
	tier_name name,
	calibrated_at timestamp with time zone,
	measurement text,
	unit text,
	measured double precision,
	previous double precision,
	prior double precision,
	tablespace_name name
$$, 'columns of tier_calibration, in order');
SELECT is(pg_temp.columns_of('wal_calibration'), $$
	calibrated_at timestamp with time zone,
	method text,
	write_ms double precision,
	error_ms double precision,
	writes bigint,
	path text,
	device text
$$, 'columns of wal_calibration, in order');
SELECT is(pg_temp.columns_of('relation_history'), $$
	period_start timestamp with time zone,
	relation_oid oid,
	period_s integer,
	scans bigint,
	random_reads bigint,
	sequential_reads bigint,
	hits bigint,
	row_changes bigint,
	page_writes bigint
$$, 'columns of relation_history, in order');
SELECT is(pg_temp.columns_of('sampler'), $$
	last_sample_at timestamp with time zone,
	last_duration_ms double precision,
	last_relations integer,
	last_active integer,
	samples bigint,
	counter_resets bigint,
	rolled_up_until timestamp with time zone,
	history_since timestamp with time zone,
	wal_position pg_lsn,
	wal_since timestamp with time zone,
	last_wal_bytes bigint,
	last_wal_read_bytes bigint,
	last_wal_scale double precision,
	last_wal_unattributed_bytes bigint
$$, 'columns of sampler, in order');
SELECT is(pg_temp.columns_of('tiers'), $$
	tier_name name,
	rank integer,
	tablespaces text[],
	profile text,
	devices text[],
	compressed boolean,
	random_read_ms double precision,
	random_write_ms double precision,
	sequential_read_mb_per_s double precision,
	sequential_write_mb_per_s double precision,
	fsync_ms double precision,
	parallelism double precision,
	price_per_gb_month numeric,
	price_is_assumed boolean,
	capacity_bytes bigint,
	used_bytes bigint,
	free_bytes bigint,
	relation_bytes bigint,
	relations bigint,
	reserve_fraction double precision,
	low_watermark double precision,
	high_watermark double precision,
	endurance_tbw double precision,
	endurance_dwpd double precision,
	discovered boolean,
	compression_ratio double precision,
	calibrated_at timestamp with time zone,
	scan_start_ms double precision,
	wear_exceeded boolean
$$, 'columns of tiers, in order');
SELECT is(pg_temp.columns_of('workers'), $$
	database_name name,
	state text,
	reason text,
	pid integer,
	last_started_at timestamp with time zone,
	last_finished_at timestamp with time zone,
	next_run_at timestamp with time zone,
	failures integer,
	last_error text,
	left_out integer,
	left_out_why text
$$, 'columns of workers, in order');

-- Names that others rely on, whatever comes between them.
SELECT is_empty($$ SELECT v.* FROM (VALUES
	('tiers', 'tier_name'),
	('heat', 'relation'), ('heat', 'random_reads_per_hour'), ('heat', 'sequential_reads_per_hour'), ('heat', 'writes_per_hour'), ('heat', 'tier_name'),
	('moves', 'relation'), ('moves', 'from_tier'), ('moves', 'to_tier'), ('moves', 'state'), ('moves', 'lock_wait_ms'), ('moves', 'lock_held_ms'), ('moves', 'lock_flush_ms'), ('moves', 'copied_bytes'), ('moves', 'error'),
	('policies', 'relation'), ('pins', 'relation'), ('pins', 'tier_name'), ('move_progress', 'relation'), ('move_progress', 'phase'), ('move_progress', 'blocks_done'), ('move_progress', 'blocks_to_go'), ('move_progress', 'remaining_s')) v (view, "column")
	WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = to_regclass('tiered_storage.' || v.view) AND a.attname = v."column") $$,
	'columns that the design fixes');
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
	WHERE c.relkind IN ('v', 'r') AND a.atttypid = 'timestamptz'::regtype AND a.attname !~ '(_at|_since|_until|^until)$' AND (c.relname, a.attname) NOT IN (('relation_history', 'period_start'), ('load_history', 'period_start'), ('file_history', 'period_start'), ('policy', 'key_epoch'), ('policies', 'key_epoch'), ('move', 'backend_start')) $$,
	'columns of type timestamptz are named as times');

-- Comments, owners, membership.
SELECT is_empty($$ SELECT relname FROM relations WHERE relkind IN ('v', 'r') AND relnamespace = 'tiered_storage'::regnamespace
	AND COALESCE(comment, '') = '' $$, 'each view has a comment');
SELECT is_empty($$ SELECT oid::regclass FROM relations WHERE relowner <> (SELECT extowner FROM pg_extension WHERE extname = 'tiered_storage') $$,
	'the owner of the extension owns them');
SELECT is_empty($$ SELECT r.oid::regclass FROM relations r WHERE relkind IN ('v', 'r', 'S') AND NOT EXISTS (SELECT FROM pg_depend d, pg_extension e
	WHERE e.extname = 'tiered_storage' AND d.classid = 'pg_class'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_extension'::regclass
		AND d.refobjid = e.oid AND d.deptype = 'e') $$, 'all of them belong to the extension');
SELECT is_empty($$ SELECT relname FROM relations WHERE relkind = 'r' AND relpersistence <> 'p' $$, 'tables are permanent and logged');

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
