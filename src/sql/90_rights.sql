---------------------------------------------------------------------------
-- Rights.
---------------------------------------------------------------------------

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
				AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,S}'::pg_catalog."char"[])
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
GRANT SELECT ON tiered_storage.tiers, tiered_storage.devices, tiered_storage.heat,
	tiered_storage.history, tiered_storage.file_class_io,
	tiered_storage.write_amplification, tiered_storage.standbys, tiered_storage.recommendations,
	tiered_storage.policies, tiered_storage.pins, tiered_storage.move_windows,
	tiered_storage.moves, tiered_storage.move_progress, tiered_storage.move_batches,
	tiered_storage.activity, tiered_storage.workers, tiered_storage.metrics TO pg_monitor;
GRANT EXECUTE ON FUNCTION tiered_storage.device_profiles, tiered_storage.recommend_settings,
	tiered_storage.block_heat, tiered_storage.estimate_compression,
	tiered_storage.load_profile, tiered_storage.compare_load,
	tiered_storage.unused_relations, tiered_storage.recommend_placement,
	tiered_storage.explain_placement, tiered_storage.placement_summary,
	tiered_storage.simulate_placement, tiered_storage.tier_size_curve,
	tiered_storage.recommend_partitioning, tiered_storage.evaluate_policies,
	tiered_storage.preflight, tiered_storage.orphaned_files,
	tiered_storage.report TO pg_monitor;

/*
 * And what these depend on, where it runs with the rights of the caller: a view checks
 * EXECUTE for the caller, and a function that is not SECURITY DEFINER checks everything.
 */
GRANT USAGE ON SCHEMA _tiered_storage TO pg_monitor;
GRANT SELECT ON _tiered_storage.tier_tablespaces,
	_tiered_storage.tier_calibration, _tiered_storage.wal_calibration, _tiered_storage.last_sample,
	_tiered_storage.tiers, _tiered_storage.heat, _tiered_storage.placed_heat,
	_tiered_storage.device_io,
	_tiered_storage.write_amplification,
	_tiered_storage.standbys, _tiered_storage.policies, _tiered_storage.fullness_policies,
	_tiered_storage.pins, _tiered_storage.pinned_relations, _tiered_storage.move_windows,
	_tiered_storage.moves, _tiered_storage.move_batches, _tiered_storage.move_progress,
	_tiered_storage.load_rows, _tiered_storage.last_load,
	_tiered_storage.device_profile TO pg_monitor;
DO $$
DECLARE
	t text;
BEGIN
	FOREACH t IN ARRAY _tiered_storage.state_tables()
	LOOP
		EXECUTE pg_catalog.format(
			'GRANT EXECUTE ON FUNCTION _tiered_storage.stored_%s TO pg_monitor', t);
	END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION _tiered_storage.refuse, _tiered_storage.first_hour,
	_tiered_storage.tablespace_claims, _tiered_storage.is_paused,
	_tiered_storage.tablespace_devices, _tiered_storage.distributed_table,
	_tiered_storage.access_tracking,
	_tiered_storage.relation_entry(oid), _tiered_storage.relation_entry(name, name),
	_tiered_storage.relation_persistence, _tiered_storage.present_relation,
	_tiered_storage.present_pinned, _tiered_storage.smoothed_rate, _tiered_storage.period_share,
	_tiered_storage.wal_written_ratio, _tiered_storage.activity_pattern,
	_tiered_storage.device_fit, _tiered_storage.wear_state,
	_tiered_storage.relation_write_amplification,
	_tiered_storage.load_period, _tiered_storage.load_is_possible, _tiered_storage.load_sums,
	_tiered_storage.load_totals, _tiered_storage.default_profiles,
	_tiered_storage.file_class_io, _tiered_storage.file_period,
	_tiered_storage.server_directories, _tiered_storage.directory_tiers,
	_tiered_storage.settings_of_tablespaces, _tiered_storage.settings_of_temp,
	_tiered_storage.settings_of_wal_place, _tiered_storage.settings_of_temp_rights,
	_tiered_storage.role_list, _tiered_storage.temp_saved_s,
	_tiered_storage.roles_without_create, _tiered_storage.temp_places,
	_tiered_storage.wal_places, _tiered_storage.roomiest_places,
	_tiered_storage.wal_move_command, _tiered_storage.settings_of_wal_sync,
	_tiered_storage.settings_of_images, _tiered_storage.settings_of_io_method,
	_tiered_storage.setting_obstacle, _tiered_storage.cached_ranges, _tiered_storage.hot_range,
	_tiered_storage.partition_interval, _tiered_storage.partition_key,
	_tiered_storage.partition_saving, _tiered_storage.partition_command,
	_tiered_storage.partition_heat, _tiered_storage.partition_column,
	_tiered_storage.partition_confidence, _tiered_storage.partition_advice,
	_tiered_storage.effect_verdict, _tiered_storage.mover_progress,
	_tiered_storage.move_window_state, _tiered_storage.move_queue_entries,
	_tiered_storage.worker_status, _tiered_storage.short_recommendations,
	_tiered_storage.short_reason, _tiered_storage.short_number, _tiered_storage.first_columns,
	_tiered_storage.clip, _tiered_storage.clip_words, _tiered_storage.short_quantity,
	_tiered_storage.short_bytes, _tiered_storage.short_rate, _tiered_storage.short_seconds,
	_tiered_storage.short_time, _tiered_storage.percent, _tiered_storage.significant,
	_tiered_storage.from_to, _tiered_storage.policy_words, _tiered_storage.metric_values,
	_tiered_storage.activity_rows TO pg_monitor;

GRANT EXECUTE ON FUNCTION _tiered_storage.report_advice, _tiered_storage.report_heat,
	_tiered_storage.heat_parts, _tiered_storage.report_moves, _tiered_storage.report_load,
	_tiered_storage.report_facts, _tiered_storage.report_answer, _tiered_storage.report_tiers,
	_tiered_storage.report_heat_step, _tiered_storage.report_heat_map,
	_tiered_storage.report_budget, _tiered_storage.report_moved,
	_tiered_storage.report_unknown, _tiered_storage.report_sections,
	_tiered_storage.report_escape, _tiered_storage.report_words, _tiered_storage.report_cell,
	_tiered_storage.report_table, _tiered_storage.report_figure, _tiered_storage.report_label,
	_tiered_storage.report_bar, _tiered_storage.report_bars, _tiered_storage.report_legend,
	_tiered_storage.report_ticks, _tiered_storage.report_time_ticks,
	_tiered_storage.report_page TO pg_monitor;
