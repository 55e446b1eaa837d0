---------------------------------------------------------------------------
-- The report: what is not known.
---------------------------------------------------------------------------

/* Each is a condition that is looked at, not an error that came. */
CREATE FUNCTION _tiered_storage.report_unknown(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH unknown AS (
		SELECT u.n, u.what, u.why, u.remedy
		FROM (SELECT facts -> 'sampler' AS sampler,
			(facts ->> 'load_since')::timestamptz AS since,
			(facts ->> 'from')::timestamptz AS from_at, (facts ->> 'to')::timestamptz AS to_at,
			facts #>> '{worker,state}' AS worker, facts #>> '{worker,reason}' AS reason,
			(facts #>> '{settings,observation_period}')::interval AS needed,
			(SELECT string_agg(_tiered_storage.report_name(t ->> 'tier_name'), ', ')
				FROM jsonb_array_elements(facts -> 'tiers') t
				WHERE (t ->> 'price_is_assumed')::boolean) AS no_price,
			(SELECT string_agg(_tiered_storage.report_name(t ->> 'tier_name'), ', ')
				FROM jsonb_array_elements(facts -> 'tiers') t
				WHERE t ->> 'capacity_bytes' IS NULL) AS no_capacity,
			(SELECT string_agg(_tiered_storage.report_name(t ->> 'tier_name'), ', ')
				FROM jsonb_array_elements(facts -> 'tiers') t
				WHERE t ->> 'calibrated_at' IS NULL) AS no_calibration,
			(SELECT string_agg(_tiered_storage.report_name(t ->> 'tier_name'), ', ')
				FROM jsonb_array_elements(facts -> 'tiers') t
				WHERE t ->> 'endurance_tbw' IS NULL AND t ->> 'endurance_dwpd' IS NULL)
				AS no_endurance,
			(SELECT string_agg(_tiered_storage.report_name(d ->> 'device'), ', ')
				FROM jsonb_array_elements(facts -> 'devices') d
				WHERE d ->> 'explained' = 'false') AS unexplained) k
		CROSS JOIN LATERAL (VALUES
			(1, jsonb_array_length(facts -> 'tiers') = 0, 'Where anything should be',
				'No tier is defined.', 'SELECT * FROM tiered_storage.discover_tiers();'),
			(2, k.sampler IS NULL OR k.sampler = 'null', 'How anything is used',
				'No sample was taken in this database.', 'CALL tiered_storage.sample();'),
			(3, k.since > k.from_at, 'What was before '
				|| COALESCE(to_char(k.since, 'YYYY-MM-DD HH24:MI'), ''),
				'Samples of this database begin then.', NULL),
			(4, (k.sampler ->> 'last_sample_at')::timestamptz < k.to_at - interval '1 hour',
				'What was after '
					'' || COALESCE(to_char((k.sampler ->> 'last_sample_at')::timestamptz,
					'YYYY-MM-DD HH24:MI'), ''), 'That was the last sample.', NULL),
			(5, (facts ->> 'now')::timestamptz - k.since < k.needed,
				'Whether the load is typical',
				format('Observed for %s of %s (<code>observation_period</code>), so that no '
					|| 'recommendation is firm.', justify_interval(date_trunc(
						CASE WHEN (facts ->> 'now')::timestamptz - k.since < '1 hour' THEN 'second'
							ELSE 'minute' END, (facts ->> 'now')::timestamptz - k.since)),
					_tiered_storage.report_escape(facts #>> '{settings,observation_period}')),
						NULL),
			(6, k.worker IS DISTINCT FROM 'running' AND k.reason IS NOT NULL,
				'What happens by itself', 'Worker: ' || _tiered_storage.report_escape(k.reason)
				|| '.', NULL),
			(7, k.worker IS NULL, 'What happens by itself',
				'There is no worker: the library is not '
				|| 'in shared_preload_libraries, or the server is a standby.', NULL),
			(8, k.no_capacity IS NOT NULL, 'How full ' || k.no_capacity || ' is',
				'The file system does not tell its size, and no capacity was given.',
				'alter_tier(..., capacity_bytes =&gt; ...)'),
			(9, k.no_price IS NOT NULL, 'What ' || k.no_price || ' costs you',
				'The price is that of the device profile.',
				'alter_tier(..., price_per_gb_month =&gt; ...)'),
			(10, k.no_calibration IS NOT NULL, 'How fast ' || k.no_calibration || ' is here',
				'The figures are those of the device profile, or given; nothing was measured.',
				'calibrate_tier(...)'),
			(11, k.no_endurance IS NOT NULL, 'How long ' || k.no_endurance || ' lasts',
				'No endurance was given.', 'alter_tier(..., endurance_tbw =&gt; ...)'),
			(12, k.unexplained IS NOT NULL, 'Who else reads from ' || k.unexplained,
				'The device reads much that this database did not ask for.', NULL),
			(13, k.sampler ->> 'wal_since' IS NULL AND k.sampler <> 'null',
				'What relations write',
				'The WAL was not read yet.', 'CALL tiered_storage.sample()'),
			(14, (facts #>> '{moves,unmeasured}')::float8 > 0,
				format('What %s moves of the period '
				|| 'were worth', facts #>> '{moves,unmeasured}'),
					format('Measuring takes %s after a '
				|| 'move (<code>effect_period</code>).',
				_tiered_storage.report_escape(facts #>> '{settings,effect_period}')), NULL),
			(15, facts #>> '{load,why}' IS NOT NULL, 'The load of the period',
				_tiered_storage.report_escape(facts #>> '{load,why}'), NULL),
			(16, NOT facts -> 'load' ? 'why' AND NOT facts -> 'load' ? 'before',
				'The load of the period before', 'It was not sampled.', NULL),
			(17, (facts ->> 'standby')::boolean, 'What this standby does by itself',
				'This server is a standby: samples are those of its primary.', NULL)
			) u (n, holds, what, why, remedy)
		WHERE u.holds
		UNION ALL
		SELECT 20, 'I/O of ' || (f ->> 'file_class'), string_agg(
				_tiered_storage.report_escape(f ->> 'null_reason'), '; '), NULL
		FROM jsonb_array_elements(facts -> 'files') f
		WHERE (f ->> 'is_total')::boolean AND f ->> 'null_reason' IS NOT NULL
		GROUP BY 2)
	SELECT _tiered_storage.report_section('unknown', 'What is not known, and why', NULL,
		COALESCE((SELECT _tiered_storage.report_table('unknown-table', 'Not known',
			'{What,Why,What helps}', string_agg(_tiered_storage.report_row(u.what,
				'<span class="why">' || u.why || '</span>', '<code>' || u.remedy || '</code>'), ''
				ORDER BY u.n, u.what)) FROM unknown u HAVING count(*) > 0),
			'<p>Everything that this page is about is known.</p>'))
$$;
COMMENT ON FUNCTION _tiered_storage.report_unknown(jsonb) IS
'the section about what is not known';
