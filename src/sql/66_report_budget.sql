---------------------------------------------------------------------------
-- The report: the size of the fastest tier.
---------------------------------------------------------------------------

/*
 * The section about the size of the fastest tier.
 *
 * The best that each size of the tier makes possible is a stair; sizes far apart are drawn
 * on a logarithmic scale.
 */
CREATE FUNCTION _tiered_storage.report_budget(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH point AS MATERIALIZED (
		SELECT n, (p ->> 'capacity_bytes')::float8 AS capacity,
			(p ->> 'io_s_per_hour')::float8 + (p ->> 'queue_s_per_hour')::float8 AS io_s,
			(p ->> 'is_current')::boolean AS is_current, p
		FROM jsonb_array_elements(COALESCE(NULLIF(facts #> '{curve,rows}', 'null'), '[]'))
			WITH ORDINALITY x (p, n)),
	range AS MATERIALIZED (
		SELECT min(p.capacity) FILTER (WHERE p.capacity > 0) AS least, max(p.capacity) AS most,
			NULLIF(max(p.io_s), 0) AS io_s, count(*) AS n,
			COALESCE(max(p.capacity) > 100 * min(p.capacity) FILTER (WHERE p.capacity > 0), false)
				AS is_log
		FROM point p),
	placed AS MATERIALIZED (
		SELECT p.*, 90 + 840 * CASE WHEN r.most = 0 THEN 0
				WHEN r.is_log THEN CASE WHEN p.capacity < r.least THEN 0
					ELSE ln(p.capacity / r.least) / NULLIF(ln(r.most / r.least), 0) END
				ELSE p.capacity / r.most END AS x,
			20 + 200 * (1 - p.io_s / r.io_s) AS y
		FROM point p CROSS JOIN range r),
	stair AS (
		SELECT string_agg(CASE WHEN p.n = 1 THEN format('M%s %s', round(p.x::numeric, 1),
				round(p.y::numeric, 1)) ELSE format('H%sV%s', round(p.x::numeric, 1),
				round(p.y::numeric, 1)) END, '' ORDER BY p.n) AS path
		FROM placed p),
	vertical AS (
		SELECT string_agg(format('<path class="grid" d="M90 %s h850"/>', round((20 + 200
			* (1 - t / r.io_s))::numeric, 1)) || _tiered_storage.report_label(82, 24 + 200
			* (1 - t / r.io_s), 'tick end', _tiered_storage.report_words(t)), '') AS ticks
		FROM range r CROSS JOIN _tiered_storage.report_ticks(r.io_s) t),
	horizontal AS (
		SELECT string_agg(format('<path class="grid" d="M%s 20v200"/>', round((90 + 840 * t.share)
			::numeric, 1)) || _tiered_storage.report_label(90 + 840 * t.share, 238, 'tick mid',
				_tiered_storage.report_words(t.bytes, 'bytes')), '') AS ticks
		FROM range r CROSS JOIN LATERAL (
			SELECT b AS bytes, b / r.most AS share FROM _tiered_storage.report_ticks(r.most) b
			WHERE NOT r.is_log
			UNION ALL
			SELECT b, ln(b / r.least) / ln(r.most / r.least) FROM generate_series(0, 17) e
			CROSS JOIN LATERAL (SELECT 10::float8 ^ (e % 3) * 1024::float8 ^ (e / 3) AS b) x
			WHERE r.is_log AND b BETWEEN r.least AND r.most) t),
	marked AS (
		SELECT format('<path class="today" d="M%s 14v206"/>', round(p.x::numeric, 1))
				|| _tiered_storage.report_label(p.x + CASE WHEN p.x > 700 THEN -6 ELSE 6 END, 26,
					CASE WHEN p.x > 700 THEN 'note end' ELSE 'note' END, 'today '
					|| _tiered_storage.report_words(p.capacity, 'bytes')) AS marks
		FROM placed p WHERE p.is_current)
	SELECT _tiered_storage.report_figure('size-curve',
			'Device time and queues by size of the tier',
			'A curve that falls as the tier becomes larger; the present size is marked.', 262,
			COALESCE((SELECT v.ticks FROM vertical v), '')
			|| COALESCE((SELECT h.ticks FROM horizontal h), '')
			|| (SELECT format('<path class="curve" d="%s"/>', s.path) FROM stair s)
			|| COALESCE((SELECT m.marks FROM marked m), '')
			|| _tiered_storage.report_label(90, 10, 'tick', 'device time and queues, s/h')
			|| _tiered_storage.report_label(935, 256, 'tick end', 'size of the tier'
				|| CASE WHEN r.is_log THEN ', logarithmic' ELSE '' END))
		|| _tiered_storage.report_table('curve-table', 'Sizes of the tier and what they are '
			'worth',
			'{Size|capacity_bytes|bytes,Used|used_bytes|bytes,Device time|io_s_per_hour|s/h,
				Queues|queue_s_per_hour|s/h,Saved|saved_s_per_hour|s/h,
				Price per month|price_per_month,
				Mark|mark|html,Remark|reason|why}',
			(SELECT jsonb_agg(p.p || jsonb_build_object('mark',
				CASE WHEN p.is_current THEN '<strong>today</strong>' END) ORDER BY p.n)
				FROM point p))
	FROM range r WHERE r.n > 1 AND r.io_s IS NOT NULL AND r.least IS NOT NULL
$$;
