---------------------------------------------------------------------------
-- The report: the moves of the period.
---------------------------------------------------------------------------

/* A line is the time of the copy, the mark at its end the lock, as high as that was held. */
CREATE FUNCTION _tiered_storage.report_move_times(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH given AS (
		SELECT (facts ->> 'from')::timestamptz AS from_at, (facts ->> 'to')::timestamptz AS to_at,
			date_part('epoch', (facts ->> 'from')::timestamptz) AS from_s,
			date_part('epoch', (facts ->> 'to')::timestamptz) AS to_s),
	point AS MATERIALIZED (
		SELECT n, m ->> 'state' AS state, (m ->> 'lock_held_ms')::float8 AS lock_ms,
			GREATEST(date_part('epoch', (m ->> 'started_at')::timestamptz), g.from_s) AS begins_s,
			LEAST(COALESCE(date_part('epoch', (m ->> 'finished_at')::timestamptz), g.to_s),
				g.to_s) AS ends_s
		FROM given g CROSS JOIN jsonb_array_elements(facts #> '{moves,points}')
			WITH ORDINALITY x (m, n)),
	range AS (
		SELECT LEAST(0, floor(log(COALESCE(min(p.lock_ms) FILTER (WHERE p.lock_ms > 0.001), 1))))
				AS low,
			GREATEST(2, ceil(log(COALESCE(max(p.lock_ms) FILTER (WHERE p.lock_ms > 0.001), 1))))
				AS high
		FROM point p),
	placed AS (
		SELECT p.*, round((90 + 840 * (p.begins_s - g.from_s) / (g.to_s - g.from_s))::numeric, 1)
				AS x0,
			round((90 + 840 * (p.ends_s - g.from_s) / (g.to_s - g.from_s))::numeric, 1) AS x,
			round(CASE WHEN p.lock_ms > 0.001 THEN 20 + 150 * (1 - (log(p.lock_ms) - r.low)
				/ (r.high - r.low)) ELSE 184 END::numeric, 1) AS y
		FROM point p CROSS JOIN range r CROSS JOIN given g)
	SELECT _tiered_storage.report_figure('move-times', 'Moves and how long they locked',
		'Each move at the time when it ended, as high as its longest lock was held; the line '
			'before '
		|| 'it is the time of its copy. The numbers are in the table below.', 960, 214,
		(SELECT string_agg(format('<path class="grid" d="M90 %s h850"/>', round((20 + 150
				* (r.high - e) / (r.high - r.low))::numeric, 1))
			|| _tiered_storage.report_label(82, 24 + 150 * (r.high - e) / (r.high - r.low),
				'tick end', _tiered_storage.report_words(power(10::float8, e), 'ms')), '')
			FROM range r CROSS JOIN generate_series(r.low::integer, r.high::integer) e)
		|| _tiered_storage.report_label(82, 188, 'tick end', 'no lock')
		|| '<path class="grid" d="M90 184h850"/>'
		|| COALESCE((SELECT string_agg(format('<path class="grid" d="M%s 20v170"/>', round((90
			+ 840
				* t.share)::numeric, 1))
			|| _tiered_storage.report_label(90 + 840 * t.share, 207, CASE WHEN t.share > 0.96
				THEN 'tick end' ELSE 'tick mid' END, t.label), '')
			FROM given g CROSS JOIN _tiered_storage.report_time_ticks(g.from_at, g.to_at) t), '')
		|| COALESCE((SELECT format('<path class="copy" d="%s"/>', string_agg(format('M%s %sH%s',
			p.x0,
				p.y, p.x), '' ORDER BY p.n)) FROM placed p), '')
		|| COALESCE((SELECT string_agg(CASE p.state
				WHEN 'done' THEN format('<circle class="done" cx="%s" cy="%s" r="4"/>', p.x, p.y)
				WHEN 'failed' THEN format('<path class="failed" d="M%s %sl10 10m0 -10l-10 10"/>',
					p.x - 5, p.y - 5)
				ELSE format('<circle class="open" cx="%s" cy="%s" r="4"/>', p.x, p.y) END, ''
				ORDER BY p.n DESC) FROM placed p), '')
		|| _tiered_storage.report_label(90, 10, 'tick', 'longest lock'),
		_tiered_storage.report_legend('done|done', 'failed|failed',
			'open|skipped, running or interrupted', 'copy line|copying'))
$$;
COMMENT ON FUNCTION _tiered_storage.report_move_times(jsonb) IS
'the moves of the period over time, as a picture';

CREATE FUNCTION _tiered_storage.report_effects(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH effect AS MATERIALIZED (
		SELECT n, e ->> 'relation' AS relation, e ->> 'effect' AS effect,
			(e ->> 'predicted_saved_io_s_per_hour')::float8 AS predicted,
			(e ->> 'measured_saved_io_s_per_hour')::float8 AS measured
		FROM jsonb_array_elements(facts #> '{moves,effects}') WITH ORDINALITY x (e, n)),
	range AS (
		SELECT LEAST(0, min(e.predicted), min(e.measured)) AS low,
			GREATEST(0, max(e.predicted), max(e.measured)) AS high, count(*) AS n
		FROM effect e),
	placed AS (
		SELECT e.*, 300 + 560 * (e.predicted - r.low) / NULLIF(r.high - r.low, 0) AS predicted_x,
			300 + 560 * (e.measured - r.low) / NULLIF(r.high - r.low, 0) AS measured_x,
			20 + 24 * e.n AS y
		FROM effect e CROSS JOIN range r)
	SELECT CASE WHEN r.n = 0 THEN _tiered_storage.report_empty(format('No move of this period '
		'has '
			|| 'a measured effect: %s wait for it (<code>effect_period</code> is %s), %s cannot '
				'be '
			|| 'measured.',
				_tiered_storage.report_value((facts #>> '{moves,unmeasured}')::float8),
			_tiered_storage.report_escape(facts #>> '{settings,effect_period}'),
			_tiered_storage.report_value((facts #>> '{moves,not_measurable}')::float8)))
		ELSE _tiered_storage.report_figure('effects', 'Predicted and measured saving of moves',
			'A line for each move from the predicted to the measured saving of device time. The '
			|| 'numbers are in the table below.', 960, 40 + 24 * r.n,
			format('<path class="axis" d="M%s 22v%s"/>', round((300 + 560 * (0 - r.low)
				/ NULLIF(r.high - r.low, 0))::numeric, 1), 24 * r.n + 8)
			|| (SELECT string_agg(_tiered_storage.report_label(0, p.y + 4, 'name',
					_tiered_storage.report_escape(_tiered_storage.report_shorten(p.relation, 42)))
				|| COALESCE(format('<path class="copy" d="M%s %sH%s"/>'
					|| '<circle class="open" cx="%1$s" cy="%2$s" r="5"/>',
					round(p.predicted_x::numeric, 1), p.y, round(p.measured_x::numeric, 1)), '')
				|| COALESCE(format('<circle class="done" cx="%s" cy="%s" r="5"/>',
					round(p.measured_x::numeric, 1), p.y), '')
				|| _tiered_storage.report_label(950, p.y + 4, 'note end',
					_tiered_storage.report_words(p.measured, 's/h')), '' ORDER BY p.n)
						FROM placed p)
			|| _tiered_storage.report_label(300, 12, 'tick', 'saved device time, s/h'),
			_tiered_storage.report_legend('open|predicted', 'done|measured'))
		|| _tiered_storage.report_table('effects-table', 'Measured moves, the largest first',
			'{Relation,#Predicted saving,#Measured saving,Verdict}',
			(SELECT string_agg(_tiered_storage.report_row(_tiered_storage.report_name(e.relation),
				_tiered_storage.report_value(e.predicted, 's/h'),
				_tiered_storage.report_value(e.measured, 's/h'),
				_tiered_storage.report_escape(e.effect)), '' ORDER BY e.n) FROM effect e)) END
	FROM range r
$$;
COMMENT ON FUNCTION _tiered_storage.report_effects(jsonb) IS
'what moves were predicted to save and what they did, as a picture and a table';

CREATE FUNCTION _tiered_storage.report_moved(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT _tiered_storage.report_section('moves', 'Moves in the period',
		concat_ws(', ', _tiered_storage.report_value((m.moves ->> 'done')::float8) || ' done ('
				|| _tiered_storage.report_value((m.moves ->> 'done_bytes')::float8, 'bytes')
					|| ')',
			_tiered_storage.report_value((m.moves ->> 'failed')::float8) || ' failed',
			_tiered_storage.report_value((m.moves ->> 'skipped')::float8) || ' skipped',
			_tiered_storage.report_value((m.moves ->> 'running')::float8) || ' running',
			_tiered_storage.report_value((m.moves ->> 'interrupted')::float8) || ' interrupted')
		|| '. The strong lock was held for '
		|| _tiered_storage.report_value((m.moves ->> 'median_lock_ms')::float8, 'ms')
		|| ' (median), at most '
		|| _tiered_storage.report_value((m.moves ->> 'longest_lock_ms')::float8, 'ms') || '.',
		CASE WHEN (m.moves ->> 'moves')::float8 = 0 THEN _tiered_storage.report_empty('No move '
			'ran in '
			|| 'this period. ' || COALESCE('Worker: ' || _tiered_storage.report_escape(
				facts #>> '{worker,reason}') || '.', ''))
		ELSE _tiered_storage.report_move_times(facts)
		|| _tiered_storage.report_table('moves-table', 'The last moves'
			|| CASE WHEN (m.moves ->> 'moves')::integer > jsonb_array_length(m.moves -> 'rows')
				THEN format(', %s of %s', jsonb_array_length(m.moves -> 'rows'),
					m.moves ->> 'moves') ELSE '' END,
			'{Relation,From,To,State,Error,Began,#Size,#Took,#Lock held,#Lock waited for,
				#Predicted saving,#Measured saving,Asked for by,Why}',
			(SELECT string_agg(_tiered_storage.report_row(
				_tiered_storage.report_name(r ->> 'relation'),
				_tiered_storage.report_tier(facts -> 'tiers', r ->> 'from_tier'),
				_tiered_storage.report_tier(facts -> 'tiers', r ->> 'to_tier'), r ->> 'state',
				CASE WHEN r ->> 'error' IS NOT NULL THEN '<span class="why">'
					|| _tiered_storage.report_escape(left(r ->> 'error', 500)) || '</span>'
						END,
				_tiered_storage.report_time((r ->> 'started_at')::timestamptz),
				_tiered_storage.report_value((r ->> 'size_bytes')::float8, 'bytes'),
				_tiered_storage.report_value((r ->> 'elapsed_ms')::float8, 'ms'),
				_tiered_storage.report_value((r ->> 'lock_held_ms')::float8, 'ms'),
				_tiered_storage.report_value((r ->> 'lock_wait_ms')::float8, 'ms'),
				_tiered_storage.report_value((r ->> 'predicted_saved_io_s_per_hour')::float8,
					's/h'),
				_tiered_storage.report_value((r ->> 'measured_saved_io_s_per_hour')::float8,
					's/h'),
				_tiered_storage.report_name(r ->> 'requested_by'),
				'<span class="why">' || _tiered_storage.report_escape(r ->> 'reason')
					|| '</span>'), ''
				ORDER BY n)
				FROM jsonb_array_elements(m.moves -> 'rows') WITH ORDINALITY x (r, n)))
		|| '<h3>Predicted against measured</h3>' || _tiered_storage.report_effects(facts) END)
	FROM (SELECT facts -> 'moves' AS moves) m
$$;
COMMENT ON FUNCTION _tiered_storage.report_moved(jsonb) IS
'the section about the moves of the period';
