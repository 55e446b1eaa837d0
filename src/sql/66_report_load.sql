---------------------------------------------------------------------------
-- The report: load, classes of files, writes.
---------------------------------------------------------------------------

/* How sessions spent their time, per second: so many of them at once. */
CREATE FUNCTION _tiered_storage.report_waits(load jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH class AS MATERIALIZED (
		SELECT c.n, c.metric, c.label, (r ->> 'first_per_s')::float8 AS first_per_s,
			(r ->> 'second_per_s')::float8 AS second_per_s
		FROM (VALUES (1, 'wait_cpu', 'on CPU'), (2, 'wait_relations', 'relations'),
			(3, 'wait_wal', 'WAL'), (4, 'wait_temp', 'temporary files'), (5, 'wait_slru', 'SLRU'),
			(6, 'wait_other_io', 'other I/O'), (7, 'wait_lock', 'locks'),
			(8, 'wait_lwlock', 'internal locks'), (9, 'wait_other', 'other')) c (n, metric, label)
		JOIN jsonb_array_elements(load -> 'rows') r ON r ->> 'metric' = c.metric),
	bar AS (
		SELECT b.place, b.label, c.n, b.amount, sum(b.amount) OVER (PARTITION BY b.place
			ORDER BY c.n)
			- b.amount AS starts, sum(b.amount) OVER (PARTITION BY b.place) AS total
		FROM class c CROSS JOIN LATERAL (VALUES (0, 'before', c.first_per_s),
			(1, 'this period', c.second_per_s)) b (place, label, amount)
		WHERE b.amount IS NOT NULL),
	range AS (SELECT NULLIF(max(b.total), 0) AS most FROM bar b)
	SELECT CASE WHEN r.most IS NULL THEN _tiered_storage.report_empty('What sessions waited for '
		'was '
			|| 'not sampled: that takes <code>shared_preload_libraries</code>.')
		ELSE _tiered_storage.report_figure('waits', 'What sessions did: the two periods',
			'Two bars of the sessions that were active at once, by what they did or waited for. '
				'The '
			|| 'numbers are in the table below.', 960, 96,
			(SELECT string_agg(_tiered_storage.report_bar(110 + 740 * b.starts / r.most,
				12 + 42 * b.place, 740 * b.amount / r.most, 28, 'w' || b.n), '') FROM bar b)
			|| (SELECT string_agg(_tiered_storage.report_label(0, 31 + 42 * t.place, 'name',
				t.label)
				|| _tiered_storage.report_label(950, 31 + 42 * t.place, 'note end',
					_tiered_storage.report_digits(t.total) || ' active'), '')
				FROM (SELECT DISTINCT b.place, b.label, b.total FROM bar b) t),
			(SELECT _tiered_storage.report_legend(VARIADIC array_agg(format('w%s|%s', c.n,
				c.label)
				ORDER BY c.n)) FROM class c)) END
	FROM range r
$$;
COMMENT ON FUNCTION _tiered_storage.report_waits(jsonb) IS
'what the sessions of two periods did, as a picture';

CREATE FUNCTION _tiered_storage.report_loads(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT _tiered_storage.report_section('load', 'Load of two periods',
		CASE WHEN l.load ? 'why' THEN NULL
			WHEN l.load ? 'before' THEN format('This one, %s to %s, beside the one before it, '
				|| 'from %s on.%s', _tiered_storage.report_time((l.load ->> 'from')::timestamptz),
				_tiered_storage.report_time((l.load ->> 'to')::timestamptz),
				_tiered_storage.report_time((l.load ->> 'before')::timestamptz),
				CASE WHEN (l.load ->> 'cut')::boolean
					THEN ' Only what was sampled counts.' ELSE '' END)
			ELSE format('%s to %s, as far as it was sampled; of the period before it nothing is '
				|| 'known.', _tiered_storage.report_time((l.load ->> 'from')::timestamptz),
				_tiered_storage.report_time((l.load ->> 'to')::timestamptz)) END,
		CASE WHEN l.load ? 'why'
			THEN _tiered_storage.report_empty(_tiered_storage.report_escape(l.load ->> 'why'))
		ELSE _tiered_storage.report_waits(l.load)
		|| _tiered_storage.report_table('load-table', 'Load per second and per transaction; '
			'waits '
			|| 'per second are sessions active at once',
			'{Metric,Unit,#Per second before,#Per second now,Change,#Ratio,#Per transaction '
				'before,
				#Per transaction now}',
			(SELECT string_agg(_tiered_storage.report_row(
				replace(_tiered_storage.report_escape(r ->> 'metric'), '_', ' '), r ->> 'unit',
				_tiered_storage.report_value(v.first_per_s, v.unit),
				_tiered_storage.report_value(v.second_per_s, v.unit),
				'<svg class="pair" viewBox="0 0 100 14" aria-hidden="true">'
				|| COALESCE(_tiered_storage.report_bar(0, 1, 100 * v.first_per_s / v.most, 5,
					'before')
				|| _tiered_storage.report_bar(0, 8, 100 * v.second_per_s / v.most, 5, 'now'), '')
				|| '</svg>',
				_tiered_storage.report_value((r ->> 'per_second_ratio')::float8, '&times;'),
				_tiered_storage.report_value((r ->> 'first_per_transaction')::float8, v.unit),
				_tiered_storage.report_value((r ->> 'second_per_transaction')::float8, v.unit)),
					''
				ORDER BY n)
				FROM jsonb_array_elements(l.load -> 'rows') WITH ORDINALITY x (r, n)
				CROSS JOIN LATERAL (SELECT (r ->> 'first_per_s')::float8 AS first_per_s,
					(r ->> 'second_per_s')::float8 AS second_per_s,
					NULLIF(GREATEST((r ->> 'first_per_s')::float8,
						(r ->> 'second_per_s')::float8),
						0) AS most,
					CASE r ->> 'unit' WHEN 'bytes' THEN 'bytes' WHEN 'ratio' THEN '%' ELSE '' END
						AS unit) v))
		END)
	FROM (SELECT facts -> 'load' AS load) l
$$;
COMMENT ON FUNCTION _tiered_storage.report_loads(jsonb) IS
'the section about the load of two periods';

CREATE FUNCTION _tiered_storage.report_files(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH file AS MATERIALIZED (
		SELECT n, f, f ->> 'file_class' AS file_class, (f ->> 'is_total')::boolean AS is_total,
			(f ->> 'read_bytes_per_hour')::float8 AS read_bytes,
			(f ->> 'write_bytes_per_hour')::float8 AS write_bytes
		FROM jsonb_array_elements(facts -> 'files') WITH ORDINALITY x (f, n)),
	class AS (
		SELECT f.file_class, COALESCE(max(f.read_bytes) FILTER (WHERE f.is_total),
				sum(f.read_bytes) FILTER (WHERE NOT f.is_total)) AS read_bytes,
			max(f.write_bytes) FILTER (WHERE f.is_total) AS write_bytes,
			row_number() OVER (ORDER BY min(f.n)) AS place
		FROM file f GROUP BY 1),
	range AS (
		SELECT NULLIF(GREATEST(max(c.read_bytes), max(c.write_bytes)), 0) AS most, count(*) AS n
		FROM class c)
	SELECT _tiered_storage.report_section('files', 'I/O by class of files',
		'Over the last sampled day: relations, WAL, temporary files, SLRUs and logs, and what '
			'their '
		|| 'sessions waited for.',
		CASE WHEN r.most IS NULL THEN _tiered_storage.report_empty('There are no two samples '
			'yet, or '
			|| 'nothing was read or written between them.')
		ELSE _tiered_storage.report_figure('file-classes',
			'Bytes read and written by class of files',
			'Two bars for each class: bytes read and bytes written per hour. The numbers are in '
				'the '
			|| 'table below.', 960, 8 + 40 * r.n,
			(SELECT string_agg(_tiered_storage.report_label(0, 24 + 40 * (c.place - 1), 'name',
					c.file_class)
				|| _tiered_storage.report_bar(110, 8 + 40 * (c.place - 1), 700 * COALESCE(
					c.read_bytes, 0) / r.most, 12, 'read')
				|| _tiered_storage.report_bar(110, 22 + 40 * (c.place - 1), 700 * COALESCE(
					c.write_bytes, 0) / r.most, 12, 'written')
				|| _tiered_storage.report_label(950, 18 + 40 * (c.place - 1), 'note end',
					COALESCE(_tiered_storage.report_words(c.read_bytes, 'bytes/h'),
						'not counted'))
				|| _tiered_storage.report_label(950, 33 + 40 * (c.place - 1), 'note end',
					COALESCE(_tiered_storage.report_words(c.write_bytes, 'bytes/h'),
						'not counted')), '' ORDER BY c.place)
				FROM class c),
			_tiered_storage.report_legend('read|read', 'written|written'))
		|| _tiered_storage.report_table('files-table', 'I/O per hour by class and place',
			'{Class,Place,Tier,#Reads,#Read,#Writes,#Written,#Fsyncs,#Waits,#Waits saved if
				fastest,What is not known}',
			(SELECT string_agg(_tiered_storage.report_row(CASE WHEN f.is_total
					THEN '<strong>' || f.file_class || '</strong>' ELSE f.file_class END,
				CASE WHEN f.f ->> 'place' IS NULL THEN 'all'
					ELSE _tiered_storage.report_name(f.f ->> 'place') END,
				_tiered_storage.report_tier(facts -> 'tiers', f.f ->> 'tier_name'),
				_tiered_storage.report_value((f.f ->> 'reads_per_hour')::float8),
				_tiered_storage.report_value(f.read_bytes, 'bytes/h'),
				_tiered_storage.report_value((f.f ->> 'writes_per_hour')::float8),
				_tiered_storage.report_value(f.write_bytes, 'bytes/h'),
				_tiered_storage.report_value((f.f ->> 'fsyncs_per_hour')::float8),
				_tiered_storage.report_value((f.f ->> 'wait_s_per_hour')::float8, 's/h'),
				_tiered_storage.report_value((f.f ->> 'saved_s_per_hour')::float8, 's/h'),
				'<span class="why">' || _tiered_storage.report_escape(f.f ->> 'null_reason')
					|| '</span>'), '' ORDER BY f.n) FROM file f
				WHERE f.is_total OR COALESCE(f.read_bytes, 0) + COALESCE(f.write_bytes, 0) > 0))
		END)
	FROM range r
$$;
COMMENT ON FUNCTION _tiered_storage.report_files(jsonb) IS
'the section about classes of files';

CREATE FUNCTION _tiered_storage.report_written(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH tier AS MATERIALIZED (
		SELECT n, w, (w ->> 'is_total')::boolean AS is_total, w ->> 'tier_name' AS tier_name
		FROM jsonb_array_elements(facts -> 'writes') WITH ORDINALITY x (w, n)),
	piece AS (
		SELECT t.n, p.class, p.place, COALESCE(p.bytes, 0) AS bytes,
			sum(COALESCE(p.bytes, 0)) OVER (PARTITION BY t.n ORDER BY p.place)
				- COALESCE(p.bytes, 0) AS starts,
			sum(COALESCE(p.bytes, 0)) OVER (PARTITION BY t.n) AS total
		FROM tier t CROSS JOIN LATERAL (VALUES
			(1, 'w1', (t.w ->> 'page_write_bytes_per_hour')::float8),
			(2, 'w2', (t.w ->> 'maintenance_write_bytes_per_hour')::float8),
			(3, 'w3', (t.w ->> 'wal_bytes_per_hour')::float8
				- (t.w ->> 'full_page_image_bytes_per_hour')::float8),
			(4, 'w4', (t.w ->> 'full_page_image_bytes_per_hour')::float8),
			(5, 'w5', (t.w ->> 'moved_bytes_per_hour')::float8)) p (place, class, bytes)
		WHERE NOT t.is_total),
	range AS (
		SELECT NULLIF(max(p.total), 0) AS most, count(DISTINCT p.n) AS n FROM piece p)
	SELECT _tiered_storage.report_section('writes', 'Write amplification and wear',
		'What the permanent relations of this database write for each byte of a changed row; and '
			'what '
		|| 'everybody writes to the devices, beside what these endure.',
		CASE WHEN r.most IS NULL THEN _tiered_storage.report_empty(CASE
			WHEN facts #>> '{sampler,wal_since}' IS NULL THEN 'No sample was taken yet.'
			ELSE 'Nothing was written.' END)
		ELSE _tiered_storage.report_figure('write-kinds',
			'Bytes written per hour by tier and kind',
			'A bar for each tier, by what was written. The numbers are in the table below.', 960,
			8 + 40 * r.n,
			(SELECT string_agg(_tiered_storage.report_bar(110 + 700 * p.starts / r.most,
				8 + 40 * (d.place - 1), 700 * p.bytes / r.most, 26, p.class), '')
				FROM piece p JOIN (SELECT t.n, row_number() OVER (ORDER BY t.n) AS place
					FROM tier t
					WHERE NOT t.is_total) d USING (n))
			|| (SELECT string_agg(_tiered_storage.report_label(0, 26 + 40 * (d.place - 1), 'name',
					COALESCE(_tiered_storage.report_escape(d.tier_name), 'no tier'))
				|| _tiered_storage.report_label(950, 26 + 40 * (d.place - 1), 'note end',
					_tiered_storage.report_words(d.total, 'bytes/h')), '')
				FROM (SELECT t.n, t.tier_name, max(p.total) AS total,
					row_number() OVER (ORDER BY t.n) AS place FROM tier t JOIN piece p USING (n)
					GROUP BY 1, 2) d),
			_tiered_storage.report_legend('w1|pages', 'w2|maintenance', 'w3|WAL',
				'w4|full-page images', 'w5|moves'))
		|| _tiered_storage.report_table('writes-table', 'Bytes written for changed rows',
			'{Tier,#Rows changed,#Bytes of rows,#Pages,#Maintenance,#WAL,#of it page '
				'images,#Moves,
				#Amplification}',
			(SELECT string_agg(_tiered_storage.report_row(
				CASE WHEN t.is_total THEN '<strong>all</strong>'
					ELSE _tiered_storage.report_tier(facts -> 'tiers', t.tier_name) END,
				_tiered_storage.report_value((t.w ->> 'row_changes_per_hour')::float8, '/h'),
				_tiered_storage.report_value((t.w ->> 'row_bytes_per_hour')::float8, 'bytes/h'),
				_tiered_storage.report_value((t.w ->> 'page_write_bytes_per_hour')::float8,
					'bytes/h'),
				_tiered_storage.report_value((t.w ->> 'maintenance_write_bytes_per_hour')::float8,
					'bytes/h'),
				_tiered_storage.report_value((t.w ->> 'wal_bytes_per_hour')::float8, 'bytes/h'),
				_tiered_storage.report_value((t.w ->> 'full_page_image_bytes_per_hour')::float8,
					'bytes/h'),
				_tiered_storage.report_value((t.w ->> 'moved_bytes_per_hour')::float8, 'bytes/h'),
				_tiered_storage.report_value((t.w ->> 'amplification')::float8, '&times;')), ''
				ORDER BY t.n) FROM tier t))
		END
		|| COALESCE((SELECT _tiered_storage.report_table('wear-table',
				'What devices are written and endure',
				'{Device,Tier,#Written per day,#Pages of relations,#WAL,#Moves,#Endured per day,
					#of that,#Life used,#Lasts,Verdict,What is not known}',
				string_agg(_tiered_storage.report_row(
					_tiered_storage.report_name(d ->> 'device'),
					_tiered_storage.report_tier(facts -> 'tiers', d ->> 'tier_name'),
					_tiered_storage.report_value((d ->> 'written_bytes_per_day')::float8,
						'bytes/day'),
					_tiered_storage.report_value((d ->> 'relation_bytes_per_day')::float8,
						'bytes/day'),
					_tiered_storage.report_value((d ->> 'wal_bytes_per_day')::float8, 'bytes/day'),
					_tiered_storage.report_value((d ->> 'moved_bytes_per_day')::float8,
						'bytes/day'),
					_tiered_storage.report_value((d ->> 'endurance_bytes_per_day')::float8,
						'bytes/day'),
					_tiered_storage.report_value((d ->> 'written_bytes_per_day')::float8
						/ NULLIF((d ->> 'endurance_bytes_per_day')::float8, 0), '%'),
					_tiered_storage.report_value((d ->> 'used_fraction')::float8, '%'),
					_tiered_storage.report_value((d ->> 'expected_life_years')::float8, 'years'),
					CASE d ->> 'wear_exceeded' WHEN 'true' THEN 'more than it endures'
						WHEN 'false' THEN 'endures it' ELSE _tiered_storage.report_none(
						'not known') END,
					'<span class="why">' || COALESCE(_tiered_storage.report_escape(
						d ->> 'reason'), '') || '</span>'), '' ORDER BY n))
			FROM jsonb_array_elements(facts -> 'wear') WITH ORDINALITY x (d, n)
			HAVING count(*) > 0), ''))
	FROM range r
$$;
COMMENT ON FUNCTION _tiered_storage.report_written(jsonb) IS
'the section about write amplification and wear';
