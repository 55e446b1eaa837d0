---------------------------------------------------------------------------
-- Rights.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.change_right(statement text) RETURNS void
LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'tier_change_right';
COMMENT ON FUNCTION _tiered_storage.change_right(text) IS
'for updates of the extension: gives or takes a right as a user would, so that a dump has it';

/*
 * No role has rights except those granted here, or later by somebody who meant these
 * objects: neither PUBLIC, nor roles of ALTER DEFAULT PRIVILEGES, nor roles that could
 * create in a schema that existed before.  A role that can write our tables has the rights
 * of the roles named in them.
 */
DO $$
DECLARE
	revoke_all text;
BEGIN
	FOR revoke_all IN
		SELECT pg_catalog.format('REVOKE ALL ON %s FROM %s', o.object,
			CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC'
				ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)::pg_catalog.text)
					END)
		FROM (
			SELECT pg_catalog.format('SCHEMA %I', n.nspname) AS object, n.nspacl AS acl,
				n.nspowner AS owner
			FROM pg_catalog.pg_namespace n
			WHERE n.nspname OPERATOR(pg_catalog.=) ANY ('{tiered_storage,_tiered_storage}')
			UNION ALL
			SELECT pg_catalog.format('%s %I.%I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE'
				ELSE 'TABLE' END,
				n.nspname, c.relname), c.relacl, c.relowner
			FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
			WHERE n.nspname OPERATOR(pg_catalog.=) ANY ('{tiered_storage,_tiered_storage}')
				AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,v,S}'::pg_catalog."char"[])
			UNION ALL
			SELECT pg_catalog.format('ROUTINE %s', p.oid::pg_catalog.regprocedure),
				COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner)), p.proowner
			FROM pg_catalog.pg_proc p
			WHERE p.pronamespace OPERATOR(pg_catalog.=)
				ANY ('{tiered_storage,_tiered_storage}'::pg_catalog.regnamespace[])
		) o
		CROSS JOIN LATERAL pg_catalog.aclexplode(o.acl) a
		WHERE a.grantee OPERATOR(pg_catalog.<>) o.owner
		GROUP BY o.object, a.grantee
	LOOP
		EXECUTE revoke_all;
	END LOOP;
END
$$;

/* pg_monitor may use what only reads. */
GRANT USAGE ON SCHEMA tiered_storage TO pg_monitor;
GRANT SELECT ON tiered_storage.tiers, tiered_storage.tier_calibration,
	tiered_storage.wal_calibration,
	tiered_storage.heat, tiered_storage.relation_history, tiered_storage.sampler,
	tiered_storage.device_io, tiered_storage.wear, tiered_storage.compression_estimates,
	tiered_storage.file_class_io,
	tiered_storage.write_amplification, tiered_storage.relation_write_amplification,
	tiered_storage.server_writes, tiered_storage.standbys,
	tiered_storage.policies, tiered_storage.fullness_policies, tiered_storage.pins,
	tiered_storage.pinned_relations,
	tiered_storage.moves, tiered_storage.move_batches, tiered_storage.move_progress,
	tiered_storage.move_windows, tiered_storage.move_queue,
	tiered_storage.recommendations, tiered_storage.workers,
	tiered_storage.server_metrics, tiered_storage.tier_metrics, tiered_storage.relation_metrics,
	tiered_storage.move_metrics, tiered_storage.metrics,
	tiered_storage.activity, tiered_storage.recent_moves, tiered_storage.hot_relations
	TO pg_monitor;
GRANT EXECUTE ON FUNCTION tiered_storage.tablespace_devices(), tiered_storage.device_profiles(),
	tiered_storage.recommend_settings(boolean),
	tiered_storage.relation_buffers(), tiered_storage.block_heat(regclass, integer),
	tiered_storage.estimate_compression(regclass, text, boolean),
	tiered_storage.access_statistics(), tiered_storage.access_tracking(),
	tiered_storage.wait_times(),
	tiered_storage.load_profile(timestamptz, timestamptz),
	tiered_storage.compare_load(timestamptz, timestamptz, timestamptz, timestamptz),
	tiered_storage.unused_relations(interval),
	tiered_storage.recommend_placement(boolean, name[], jsonb, interval, text, float8, name[],
		regclass[]),
	tiered_storage.explain_placement(regclass, name[], jsonb, interval, text, float8, name[],
		regclass[]),
	tiered_storage.placement_summary(name[], jsonb, interval, text, float8, name[], regclass[]),
	tiered_storage.simulate_placement(jsonb, float8, name[], jsonb, interval, text, float8, name[],
		regclass[]),
	tiered_storage.tier_size_curve(name, integer, name[], jsonb, interval, text, float8, name[],
		regclass[]),
	tiered_storage.recommend_partitioning(bigint, boolean),
	tiered_storage.evaluate_policies(), tiered_storage.evaluate_fullness(),
	tiered_storage.preflight(regclass, name, boolean, boolean, name),
	tiered_storage.orphaned_files(), tiered_storage.is_paused(),
	tiered_storage.distributed_table(regclass),
	tiered_storage.report(timestamptz, timestamptz) TO pg_monitor;

/*
 * And what these depend on, where it runs with the rights of the caller: a view checks
 * EXECUTE for the caller, and a function that is not SECURITY DEFINER checks everything.
 */
GRANT USAGE ON SCHEMA _tiered_storage TO pg_monitor;
GRANT SELECT ON _tiered_storage.tier_tablespaces,
	_tiered_storage.load_history, _tiered_storage.load_state,
	_tiered_storage.device_profile TO pg_monitor;
GRANT EXECUTE ON FUNCTION _tiered_storage.tablespace_claims(),
	_tiered_storage.relation_entry(oid), _tiered_storage.relation_entry(name, name),
	_tiered_storage.relation_persistence(oid),
	_tiered_storage.present_relation(_tiered_storage.move),
	_tiered_storage.present_pinned(_tiered_storage.pin),
	_tiered_storage.measured_compression(oid), _tiered_storage.may_estimate(oid),
	_tiered_storage.smoothed_rate(float8, float8, float8, float8),
	_tiered_storage.period_share(timestamptz, float8, timestamptz, timestamptz),
	_tiered_storage.wal_written_ratio(),
	_tiered_storage.activity_pattern(timestamptz, float8, bytea, timestamptz, float8, float8,
		timestamptz),
	_tiered_storage.growth_per_hour(timestamptz, float8, bytea, timestamptz),
	_tiered_storage.device_fit(float8, float8, float8, float8),
	_tiered_storage.wear_state(),
	_tiered_storage.server_write_counters(),
	_tiered_storage.relation_write_amplification(),
	_tiered_storage.load_period(timestamptz, timestamptz),
	_tiered_storage.load_is_possible(_tiered_storage.load_history),
	_tiered_storage.load_sums(timestamptz, timestamptz),
	_tiered_storage.load_totals(timestamptz, timestamptz),
	_tiered_storage.default_profiles(),
	_tiered_storage.file_class_io(),
	_tiered_storage.file_period(), _tiered_storage.server_directories(),
	_tiered_storage.directory_tiers(), _tiered_storage.settings_of_tablespaces(),
	_tiered_storage.settings_of_temp(boolean), _tiered_storage.settings_of_wal_place(boolean),
	_tiered_storage.settings_of_temp_rights(), _tiered_storage.role_list(name[]),
	_tiered_storage.temp_saved_s(float8, float8, float8, float8),
	_tiered_storage.roles_without_create(name), _tiered_storage.temp_places(),
	_tiered_storage.wal_places(), _tiered_storage.roomiest_places(),
	_tiered_storage.wal_move_command(text),
	_tiered_storage.settings_of_wal_sync(boolean), _tiered_storage.settings_of_images(boolean),
	_tiered_storage.settings_of_io_method(boolean),
	_tiered_storage.setting_obstacle(text, name, boolean),
	_tiered_storage.cached_ranges(regclass, integer), _tiered_storage.hot_range(regclass),
	_tiered_storage.partition_interval(oid, text, text), _tiered_storage.partition_key(regclass),
	_tiered_storage.partition_saving(name, bigint),
	_tiered_storage.partition_command(regclass, name),
	_tiered_storage.partition_heat(tiered_storage.heat),
	_tiered_storage.partition_column(tiered_storage.heat, float8),
	_tiered_storage.partition_confidence(bigint, timestamptz, float8),
	_tiered_storage.partition_advice(tiered_storage.heat, boolean),
	_tiered_storage.effect_verdict(float8, float8, float8),
	_tiered_storage.mover_progress(integer),
	_tiered_storage.move_window_state(), _tiered_storage.move_queue_entries(),
	_tiered_storage.worker_status(),
	_tiered_storage.short_recommendations(), _tiered_storage.short_reason(text),
	_tiered_storage.short_number(float8), _tiered_storage.first_columns(text, integer),
	_tiered_storage.clip(text, integer),
	_tiered_storage.clip_words(text, integer),
	_tiered_storage.short_quantity(float8, float8, text[]), _tiered_storage.short_bytes(float8),
	_tiered_storage.activity_rows() TO pg_monitor;

GRANT EXECUTE ON FUNCTION _tiered_storage.report_advice(integer),
	_tiered_storage.report_heat(timestamptz, timestamptz, integer),
	_tiered_storage.heat_parts(timestamptz, timestamptz, timestamptz, float8, integer),
	_tiered_storage.report_moves(timestamptz, timestamptz, integer),
	_tiered_storage.report_load(timestamptz, timestamptz),
	_tiered_storage.report_facts(timestamptz, timestamptz),
	_tiered_storage.report_answer(jsonb), _tiered_storage.report_tiers(jsonb),
	_tiered_storage.report_heat_step(float8), _tiered_storage.report_heat_map(jsonb),
	_tiered_storage.report_budget(jsonb), _tiered_storage.report_moved(jsonb),
	_tiered_storage.report_unknown(jsonb), _tiered_storage.report_sections(jsonb),
	_tiered_storage.report_escape(text), _tiered_storage.report_words(float8, text),
	_tiered_storage.report_cell(text, text, jsonb),
	_tiered_storage.report_table(text, text, text[], jsonb, jsonb),
	_tiered_storage.report_figure(text, text, text, float8, text, text[]),
	_tiered_storage.report_label(float8, float8, text, text),
	_tiered_storage.report_bar(float8, float8, float8, float8, text),
	_tiered_storage.report_bars(text, text, text, jsonb, text[]),
	_tiered_storage.report_legend(text[]), _tiered_storage.report_ticks(float8),
	_tiered_storage.report_time_ticks(timestamptz, timestamptz),
	_tiered_storage.report_page(jsonb) TO pg_monitor;
