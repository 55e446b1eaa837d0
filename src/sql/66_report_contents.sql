---------------------------------------------------------------------------
-- The report: its sections in their order.
---------------------------------------------------------------------------

/*
 * The sections of the page: HTML, or why there is nothing to show.
 *
 * What moves, load, files and writes are made of needs no function of its own.
 */
CREATE FUNCTION _tiered_storage.report_sections(facts jsonb, OUT id text, OUT short text,
	OUT title text, OUT lead text, OUT body text, OUT why_empty text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH wait AS (
		SELECT jsonb_agg(jsonb_build_object('name', p.name, 'lines', jsonb_build_array(
				jsonb_build_object('note', _tiered_storage.report_words(p.total) || ' active',
					'parts', p.parts))) ORDER BY p.place) AS rows
		FROM (SELECT p.place, p.name, sum((r ->> p.key)::float8) AS total,
				jsonb_object_agg('w' || c.n, r -> p.key) AS parts
			FROM jsonb_array_elements(NULLIF(facts #> '{load,rows}', 'null')) r
			JOIN unnest('{cpu,relations,wal,temp,slru,other_io,lock,lwlock,other}'::text[])
				WITH ORDINALITY c (class, n) ON r ->> 'metric' = 'wait_' || c.class
			CROSS JOIN (VALUES (0, 'before', 'first_per_s'), (1, 'this period', 'second_per_s'))
				p (place, name, key)
			GROUP BY p.place, p.name) p
		WHERE p.total IS NOT NULL),
	load AS (
		SELECT jsonb_agg(r || jsonb_build_object('name', replace(r ->> 'metric', '_', ' '),
			'first', _tiered_storage.report_cell(r ->> 'first_per_s', v.unit),
			'second', _tiered_storage.report_cell(r ->> 'second_per_s', v.unit),
			'first_tx', _tiered_storage.report_cell(r ->> 'first_per_transaction', v.unit),
			'second_tx', _tiered_storage.report_cell(r ->> 'second_per_transaction', v.unit),
			'ratio', _tiered_storage.report_cell(r ->> 'per_second_ratio', '&times;'),
			'pair', '<svg class="pair" viewBox="0 0 100 14" aria-hidden="true">' || COALESCE(
				_tiered_storage.report_bar(0, 1, 100 * v.first_per_s / v.most, 5, 'before')
				|| _tiered_storage.report_bar(0, 8, 100 * v.second_per_s / v.most, 5, 'now'), '')
				|| '</svg>') ORDER BY n) AS rows
		FROM jsonb_array_elements(NULLIF(facts #> '{load,rows}', 'null')) WITH ORDINALITY x (r, n)
		CROSS JOIN LATERAL (SELECT (r ->> 'first_per_s')::float8 AS first_per_s,
			(r ->> 'second_per_s')::float8 AS second_per_s,
			NULLIF(GREATEST((r ->> 'first_per_s')::float8, (r ->> 'second_per_s')::float8), 0)
				AS most,
			CASE r ->> 'unit' WHEN 'bytes' THEN 'bytes' WHEN 'ratio' THEN '%' ELSE '#' END AS unit)
			v),
	file AS (
		SELECT jsonb_agg(f || jsonb_build_object('class', CASE WHEN v.is_total THEN '<strong>'
					|| (f ->> 'file_class') || '</strong>' ELSE f ->> 'file_class' END,
				'place', COALESCE(f ->> 'place', 'all')) ORDER BY n)
			FILTER (WHERE v.is_total OR v.bytes > 0) AS rows
		FROM jsonb_array_elements(facts -> 'files') WITH ORDINALITY x (f, n)
		CROSS JOIN LATERAL (SELECT (f ->> 'is_total')::boolean AS is_total,
			COALESCE((f ->> 'read_bytes_per_hour')::float8, 0)
				+ COALESCE((f ->> 'write_bytes_per_hour')::float8, 0) AS bytes) v),
	class AS (
		SELECT jsonb_agg(jsonb_build_object('name', c.file_class, 'lines', jsonb_build_array(
			jsonb_build_object('note', COALESCE(_tiered_storage.report_words(c.reads, 'bytes/h'),
				'not counted'), 'parts', jsonb_build_object('read', c.reads)),
			jsonb_build_object('note', COALESCE(_tiered_storage.report_words(c.writes, 'bytes/h'),
				'not counted'), 'parts', jsonb_build_object('written', c.writes))))
			ORDER BY c.n) AS rows
		FROM (SELECT f ->> 'file_class' AS file_class, min(n) AS n,
				COALESCE(max((f ->> 'read_bytes_per_hour')::float8)
					FILTER (WHERE (f ->> 'is_total')::boolean),
					sum((f ->> 'read_bytes_per_hour')::float8)) AS reads,
				max((f ->> 'write_bytes_per_hour')::float8)
					FILTER (WHERE (f ->> 'is_total')::boolean) AS writes
			FROM jsonb_array_elements(facts -> 'files') WITH ORDINALITY x (f, n) GROUP BY 1) c),
	written AS (
		SELECT jsonb_agg(w || jsonb_build_object('tier', CASE WHEN (w ->> 'is_total')::boolean
				THEN '<strong>all</strong>' ELSE _tiered_storage.report_cell(w ->> 'tier_name',
					'tier', facts -> 'classes') END) ORDER BY n) AS rows,
			jsonb_agg(jsonb_build_object('name', COALESCE(_tiered_storage.report_escape(
				w ->> 'tier_name'), 'no tier'), 'lines', jsonb_build_array(jsonb_build_object(
				'note', _tiered_storage.report_words((SELECT sum(p.value::float8)
					FROM jsonb_each_text(v.parts) p), 'bytes/h'), 'parts', v.parts))) ORDER BY n)
				FILTER (WHERE NOT (w ->> 'is_total')::boolean) AS bars
		FROM jsonb_array_elements(facts -> 'writes') WITH ORDINALITY x (w, n)
		CROSS JOIN LATERAL (SELECT jsonb_build_object('w1', w -> 'page_write_bytes_per_hour',
			'w2', w -> 'maintenance_write_bytes_per_hour', 'w3', (w ->> 'wal_bytes_per_hour')
				::float8 - (w ->> 'full_page_image_bytes_per_hour')::float8,
			'w4', w -> 'full_page_image_bytes_per_hour', 'w5', w -> 'moved_bytes_per_hour')
			AS parts) v),
	wear AS (
		SELECT jsonb_agg(d || jsonb_build_object('of_it', (d ->> 'written_bytes_per_day')::float8
				/ NULLIF((d ->> 'endurance_bytes_per_day')::float8, 0),
			'verdict', CASE d ->> 'wear_exceeded' WHEN 'true' THEN 'more than it endures'
				WHEN 'false' THEN 'endures it' ELSE 'not known' END) ORDER BY n) AS rows
		FROM jsonb_array_elements(facts -> 'wear') WITH ORDINALITY x (d, n)),
	advice AS (
		SELECT COALESCE(jsonb_agg(r || jsonb_build_object('name', _tiered_storage.report_cell(
				r ->> 'relation', 'name'), 'why', r ->> 'reason') ORDER BY n), '[]')
			|| CASE WHEN (a ->> 'others')::float8 > 0 THEN jsonb_build_object('name',
				_tiered_storage.report_cell(a ->> 'others', 'others'),
				'size_bytes', a -> 'others_bytes', 'saved_io_s_per_hour', a -> 'others_io_s',
				'saved_wait_s_per_hour', a -> 'others_wait_s', 'price_delta_per_month',
				a -> 'others_price', 'move_cost_s', a -> 'others_cost_s',
				'why', 'all are in recommend_placement()') ELSE '[]' END AS rows
		FROM (SELECT facts -> 'advice' AS a) f
		LEFT JOIN jsonb_array_elements(a -> 'rows') WITH ORDINALITY x (r, n) ON true
		WHERE jsonb_array_length(a -> 'rows') > 0 GROUP BY a)
	SELECT * FROM (VALUES
	('answer', NULL, 'What to do', NULL, _tiered_storage.report_answer(facts), NULL),
	('tiers', 'Tiers', 'Tiers', 'What there is to store on, how full it is, and when it will be '
		'full if nothing is moved.', _tiered_storage.report_tiers(facts),
		'No tier is defined in this database.'),
	('heat', 'Heat map', 'Heat map', 'Blocks read and pages written per hour by the busiest '
		'relations, hottest first. The thin line beneath a row is the tier that the relation was '
		'on at that time; a diamond is a move.', _tiered_storage.report_heat_map(facts),
		CASE WHEN facts ->> 'sampler' IS NULL THEN 'No sample was taken yet. The worker takes '
			'them, or <code>CALL tiered_storage.sample();</code>'
		ELSE 'No relation of this database was read or written in this period, as far as it was '
			'sampled.' END),
	('budget', 'Budget curve', 'How much of the fast tier pays off', 'Device time and queues of '
		'the best placement, for each size of ' || COALESCE('tier ' || _tiered_storage.report_cell(
			NULLIF(facts #>> '{curve,tier_name}', ''), 'name'), 'the fastest tier')
		|| '. Beyond the knee more of it brings little.', _tiered_storage.report_budget(facts),
		COALESCE(_tiered_storage.report_escape(facts #>> '{curve,why}'),
			'Nothing is known yet that takes device time.')),
	('recommendations', 'Recommendations', 'Recommendations', 'What should move, what saves most '
		'first; a negative saving makes room for others, or saves money.',
		(SELECT _tiered_storage.report_table('recommendations-table', 'Recommended moves',
			'{Relation|name|html,Kind|kind|text,From|current_tier|tier,To|recommended_tier|tier,
				Size|size_bytes|bytes,Device time saved|saved_io_s_per_hour|s/h,
				Price per month|price_delta_per_month,Confidence|confidence|text,
				Firm|firm_when|text,Why|why|why}',
			a.rows, facts -> 'classes') FROM advice a),
		COALESCE('The advice: ' || _tiered_storage.report_escape(facts #>> '{advice,all,reason}')
			|| '.', 'Nothing is known that could be placed.')),
	('moves', 'Moves', 'Moves in the period', NULL, _tiered_storage.report_moved(facts),
		'No move ran in this period.' || COALESCE(' Worker: ' || _tiered_storage.report_escape(
			facts #>> '{worker,reason}') || '.', '')),
	('load', 'Load', 'Load of two periods', format(CASE
			WHEN facts #>> '{load,why}' IS NOT NULL THEN NULL
			WHEN facts -> 'load' ? 'before' THEN 'This one, %s to %s, beside the one before it, '
				'from %s on.%s'
			ELSE '%s to %s, as far as it was sampled; of the period before it nothing is known.'
			END, _tiered_storage.report_cell(facts #>> '{load,from}', 'time'),
			_tiered_storage.report_cell(facts #>> '{load,to}', 'time'),
			_tiered_storage.report_cell(facts #>> '{load,before}', 'time'),
			CASE WHEN (facts #>> '{load,cut}')::boolean THEN ' Only what was sampled counts.'
				ELSE '' END),
		(SELECT COALESCE(_tiered_storage.report_bars('waits',
			'What sessions did: the two periods',
			'Two bars of the sessions that were active at once, by what they did or waited for.',
			w.rows, '{w1|on CPU,w2|relations,w3|WAL,w4|temporary files,w5|SLRU,w6|other I/O,
				w7|locks,w8|internal locks,w9|other}'), '<p class="empty"><strong>Nothing to '
			'show.</strong> What sessions waited for was not sampled: that takes '
			'<code>shared_preload_libraries</code>.</p>')
		|| _tiered_storage.report_table('load-table', 'Load per second and per transaction; waits '
			'per second are sessions active at once', '{Metric|name|text,Unit|unit|text,
				Per second before|first|n,Per second now|second|n,Change|pair|html,
				Ratio|ratio|n,Per transaction before|first_tx|n,Per transaction now|second_tx|n}',
			l.rows) FROM wait w CROSS JOIN load l WHERE l.rows IS NOT NULL),
		_tiered_storage.report_escape(facts #>> '{load,why}')),
	('files', 'Files', 'I/O by class of files', 'Over the last sampled day: relations, WAL, '
		'temporary files, SLRUs and logs, and what their sessions waited for.',
		(SELECT _tiered_storage.report_bars('file-classes',
			'Bytes read and written by class of files',
			'Two bars for each class: bytes read and bytes written per hour.', c.rows,
			'{read|read,written|written}')
		|| _tiered_storage.report_table('files-table', 'I/O per hour by class and place',
			'{Class|class|html,Place|place|name,Tier|tier_name|tier,Reads|reads_per_hour,
				Read|read_bytes_per_hour|bytes/h,Writes|writes_per_hour,
				Written|write_bytes_per_hour|bytes/h,Fsyncs|fsyncs_per_hour,
				Waits|wait_s_per_hour|s/h,Waits saved if fastest|saved_s_per_hour|s/h,
				What is not known|null_reason|why}', f.rows, facts -> 'classes')
		FROM class c CROSS JOIN file f),
		'There are no two samples yet, or nothing was read or written between them.'),
	('writes', 'Writes and wear', 'Write amplification and wear', 'What the permanent relations '
		'of this database write for each byte of a changed row; and what everybody writes to the '
		'devices, beside what these endure.',
		(SELECT COALESCE(_tiered_storage.report_bars('write-kinds',
			'Bytes written per hour by tier and kind', 'A bar for each tier, by what was written.',
			w.bars, '{w1|pages,w2|maintenance,w3|WAL,w4|full-page images,w5|moves}')
		|| _tiered_storage.report_table('writes-table', 'Bytes written for changed rows',
			'{Tier|tier|html,Rows changed|row_changes_per_hour|/h,
				Bytes of rows|row_bytes_per_hour|bytes/h,Pages|page_write_bytes_per_hour|bytes/h,
				Maintenance|maintenance_write_bytes_per_hour|bytes/h,
				WAL|wal_bytes_per_hour|bytes/h,
				of it page images|full_page_image_bytes_per_hour|bytes/h,
				Moves|moved_bytes_per_hour|bytes/h,Amplification|amplification|&times;}',
			w.rows), '<p class="empty"><strong>Nothing to show.</strong> ' || CASE
			WHEN facts #>> '{sampler,wal_since}' IS NULL THEN 'No sample was taken yet.'
			ELSE 'Nothing was written.' END || E'</p>\n')
		|| CASE WHEN d.rows IS NOT NULL THEN _tiered_storage.report_table('wear-table',
			'What devices are written and endure', '{Device|device|name,Tier|tier_name|tier,
				Written per day|written_bytes_per_day|bytes/day,
				Pages of relations|relation_bytes_per_day|bytes/day,
				WAL|wal_bytes_per_day|bytes/day,Moves|moved_bytes_per_day|bytes/day,
				Endured per day|endurance_bytes_per_day|bytes/day,of that|of_it|%,
				Life used|used_fraction|%,Lasts|expected_life_years|years,Verdict|verdict|text,
				What is not known|reason|why}', d.rows, facts -> 'classes') ELSE '' END
		FROM written w CROSS JOIN wear d), NULL),
	('unknown', 'Not known', 'What is not known, and why', NULL,
		_tiered_storage.report_unknown(facts), NULL))
		s (id, short, title, lead, body, why_empty)
$$;
