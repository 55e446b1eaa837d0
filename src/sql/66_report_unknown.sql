---------------------------------------------------------------------------
-- The report: what is not known.
---------------------------------------------------------------------------

/*
 * The section about what is not known.
 *
 * Each is a condition that is looked at, not an error that came.
 */
CREATE FUNCTION _tiered_storage.report_unknown(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH lacking AS (
		SELECT string_agg(n.name, ', ') FILTER (WHERE (t ->> 'price_is_assumed')::boolean)
				AS price,
			string_agg(n.name, ', ') FILTER (WHERE t ->> 'capacity_bytes' IS NULL) AS capacity,
			string_agg(n.name, ', ') FILTER (WHERE t ->> 'calibrated_at' IS NULL) AS calibration,
			string_agg(n.name, ', ') FILTER (WHERE t ->> 'endurance_tbw' IS NULL
				AND t ->> 'endurance_dwpd' IS NULL) AS endurance
		FROM jsonb_array_elements(facts -> 'tiers') t CROSS JOIN LATERAL (
			SELECT _tiered_storage.report_cell(t ->> 'tier_name', 'name') AS name) n),
	known AS (
		SELECT l.*, NULLIF(facts -> 'sampler', 'null') AS sampler,
			facts #>> '{worker,state}' AS worker,
			_tiered_storage.report_escape(facts #>> '{worker,reason}') AS reason,
			date_trunc('second', (facts ->> 'now')::timestamptz
				- (facts ->> 'load_since')::timestamptz) AS observed,
			(facts #>> '{settings,observation_period}')::interval AS needed,
			(SELECT string_agg(_tiered_storage.report_cell(d ->> 'device', 'name'), ', ')
				FROM jsonb_array_elements(facts -> 'devices') d
				WHERE d ->> 'explained' = 'false') AS unexplained
		FROM lacking l),
	unknown AS (
		SELECT u.* FROM known k CROSS JOIN LATERAL (VALUES
			(1, jsonb_array_length(facts -> 'tiers') = 0, 'Placement',
				'No tier is defined.', 'SELECT * FROM tiered_storage.discover_tiers();'),
			(2, k.sampler IS NULL, 'Activity',
				'No sample was taken in this database.', 'CALL tiered_storage.sample();'),
			(5, k.observed < k.needed, 'Typical load',
				format('Observed for %s of %s (<code>observation_period</code>), so that no '
					'recommendation is firm.', justify_interval(k.observed), k.needed), NULL),
			(6, k.worker <> 'running' AND k.reason IS NOT NULL, 'Automatic moves',
				'Worker: ' || k.reason || '.', NULL),
			(7, k.worker IS NULL, 'Automatic moves', 'There is no worker: the library is '
				'not in shared_preload_libraries, or the server is a standby.', NULL),
			(8, true, 'Fill level of ' || k.capacity, 'The file system does not report '
				'its size, and no capacity was given.',
				'alter_tier(..., device => ''{"capacity_bytes": ...}'')'),
			(9, true, 'Price of ' || k.price,
				'The price is that of the device profile.',
				'alter_tier(..., price_per_gb_month => ...)'),
			(10, true, 'Speed of ' || k.calibration, 'The figures are those of the '
				'device profile, or given; nothing was measured.', 'calibrate_tier(...)'),
			(11, true, 'Life of ' || k.endurance, 'No endurance was given.',
				'alter_tier(..., device => ''{"endurance_tbw": ...}'')'),
			(12, true, 'Reads of ' || k.unexplained, 'What the device reads does not follow what '
				'this database asks for, so that estimates are uncertain.', NULL),
			(13, k.sampler IS NOT NULL AND k.sampler ->> 'wal_since' IS NULL,
				'Writes of relations', 'The WAL was not read yet.',
				'CALL tiered_storage.sample();'),
			(14, facts #>> '{moves,unmeasured}' <> '0', format('Effect of %s moves of the '
				'period', facts #>> '{moves,unmeasured}'), 'Measuring takes a day after a move.',
				NULL),
			(15, true, 'The load of the period',
				_tiered_storage.report_escape(facts #>> '{load,why}'), NULL),
			(16, NOT facts -> 'load' ?| '{why,before}', 'The load of the period before',
				'It was not sampled.', NULL),
			(17, (facts ->> 'standby')::boolean, 'Samples of this standby',
				'This server is a standby: samples are those of its primary.', NULL)
			) u (n, holds, what, why, remedy)
		WHERE u.holds AND u.what IS NOT NULL AND u.why IS NOT NULL
		UNION ALL
		SELECT 3, true, format('Activity from %s to %s', to_char(to_timestamp(u.from_s),
				'YYYY-MM-DD HH24:MI'), to_char(to_timestamp(u.to_s), 'YYYY-MM-DD HH24:MI')),
			'It was not sampled, or a crash has lost the samples.', NULL
		FROM jsonb_to_recordset(facts -> 'unsampled') u (from_s float8, to_s float8)
		WHERE u.to_s - u.from_s > 0.02 * date_part('epoch', (facts ->> 'to')::timestamptz
			- (facts ->> 'from')::timestamptz)
		UNION ALL
		SELECT 20, true, 'I/O of ' || (f ->> 'file_class'), string_agg(
			_tiered_storage.report_escape(f ->> 'null_reason'), '; '), NULL
		FROM jsonb_array_elements(facts -> 'files') f
		WHERE (f ->> 'is_total')::boolean AND f ->> 'null_reason' IS NOT NULL
		GROUP BY 3)
	SELECT CASE WHEN count(*) > 0 THEN _tiered_storage.report_table('unknown-table', 'Not known',
			'{What|what|html,Why|why|html,What helps|remedy|code}',
			jsonb_agg(jsonb_build_object('what', u.what, 'why', '<span class="why">' || u.why
				|| '</span>', 'remedy', u.remedy) ORDER BY u.n, u.what))
		ELSE '<p>All figures of this page are known.</p>' END
	FROM unknown u
$$;
