---------------------------------------------------------------------------
-- Rights.
---------------------------------------------------------------------------

/*
 * No role has rights except those granted here, or later by a GRANT on these objects: neither
 * PUBLIC, nor roles of ALTER DEFAULT PRIVILEGES, nor roles that could create in a schema that
 * existed before.  A role that can write our tables has the rights of the roles named in them.
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
	tiered_storage.supposed, tiered_storage.query_tiers,
	tiered_storage.policies, tiered_storage.pins, tiered_storage.move_windows,
	tiered_storage.moves, tiered_storage.move_progress, tiered_storage.move_batches,
	tiered_storage.activity, tiered_storage.workers, tiered_storage.metrics TO pg_monitor;
GRANT EXECUTE ON FUNCTION tiered_storage.device_profiles, tiered_storage.recommend_settings,
	tiered_storage.block_heat, tiered_storage.estimate_compression,
	tiered_storage.load_profile, tiered_storage.compare_load,
	tiered_storage.unused_relations, tiered_storage.recommend_placement,
	tiered_storage.explain_placement, tiered_storage.placement_summary,
	tiered_storage.simulate_placement, tiered_storage.tier_size_curve,
	tiered_storage.recommend_partitioning, tiered_storage.partitioning_script,
	tiered_storage.suppose,
	tiered_storage.suppose_recommended, tiered_storage.suppose_reset,
	tiered_storage.explain_tiers,
	tiered_storage.evaluate_policies, tiered_storage.preflight, tiered_storage.orphaned_files,
	tiered_storage.report TO pg_monitor;

/*
 * And what these depend on, where it runs with the rights of the caller: a view checks
 * EXECUTE for the caller, and a function that is not SECURITY DEFINER checks everything.
 */
GRANT USAGE ON SCHEMA _tiered_storage TO pg_monitor;
GRANT SELECT ON _tiered_storage.tier_tablespaces,
	_tiered_storage.tier_calibration, _tiered_storage.wal_calibration, _tiered_storage.last_sample,
	_tiered_storage.tiers, _tiered_storage.heat, _tiered_storage.placed_heat,
	_tiered_storage.observed_shares, _tiered_storage.query_costs,
	_tiered_storage.suppositions, _tiered_storage.planner_costs,
	_tiered_storage.device_io,
	_tiered_storage.write_amplification,
	_tiered_storage.standbys, _tiered_storage.policies, _tiered_storage.fullness_policies,
	_tiered_storage.pins, _tiered_storage.pinned_relations, _tiered_storage.move_windows,
	_tiered_storage.moves, _tiered_storage.move_batches, _tiered_storage.move_progress,
	_tiered_storage.load_rows, _tiered_storage.last_load,
	_tiered_storage.device_profile TO pg_monitor;
DO $$
DECLARE
	f text;
BEGIN
	FOREACH f IN ARRAY pg_catalog.array_cat('{
		refuse,first_hour,tablespace_claims,is_paused,tablespace_devices,distributed_table,
		access_tracking,relation_entry(oid),"relation_entry(name, name)",relation_persistence,
		present_relation,present_pinned,smoothed_rate,period_share,wal_written_ratio,
		device_fit,wear_state,relation_write_amplification,
		load_is_possible,load_totals,unsampled,default_profiles,file_class_io,file_period,
		server_directories,directory_tiers,settings_of_tablespaces,settings_of_temp,
		settings_of_wal_place,role_list,temp_saved_s,roles_without_create,
		temp_places,wal_places,roomiest_places,wal_move_command,settings_of_wal_sync,
		settings_of_images,setting_obstacle,hot_range,
		partition_interval,partition_key,partition_advice,spare_path,partition_obstacles,
		partition_name_obstacles,partition_grantees,partition_owner_check,
		partition_bounds,partition_grants,partition_renames,partition_views,partition_locks,
		partition_companions,partition_parent,partition_switch,partition_undo,effect_verdict,
		mover_progress,move_window_openings,move_queue_entries,worker_status,short_recommendations,
		short_reason,short_number,first_columns,clip,wrap,short_quantity,short_bytes,short_rate,
		short_saving,no_heat,now_and_then,short_price,explain_placement,placement_summary,
		simulate_placement,evaluate_policies,tier_size_curve,unused_relations,
		recommend_partitioning,recommend_settings,device_profiles,estimate_compression,
		orphaned_files,readable,short_savings,move_cause,
		short_seconds,short_time,percent,significant,from_to,metric_values,
		activity_rows,report_heat,report_load,report_facts,report_answer,report_tiers,
		report_heat_step,report_heat_map,report_budget,report_moved,
		report_unknown,report_escape,
		report_words,report_cell,report_table,report_figure,report_label,report_bar,report_bars,
		report_legend,report_ticks,report_time_ticks,report_page,suppose_moves,
		warn_of_equal_costs,
		plan_reads,priced_plan,query_reads,query_texts,relation_queries,main_queries}',
		ARRAY(SELECT pg_catalog.concat('stored_', t)
			FROM pg_catalog.unnest(_tiered_storage.state_tables()) t))
	LOOP
		EXECUTE pg_catalog.format('GRANT EXECUTE ON FUNCTION _tiered_storage.%s TO pg_monitor', f);
	END LOOP;
END
$$;
