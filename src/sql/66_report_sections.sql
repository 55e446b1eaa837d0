---------------------------------------------------------------------------
-- The report: its sections.  Each is made of the facts alone; null: nothing to show.
---------------------------------------------------------------------------

/*
 * The first section: what to do now, and what that is worth.
 *
 * What to do, what that saves, what comes: a sentence each.  Reasons for which the reader
 * cannot act now (too little is known, moves are paused, this is a standby) come before any
 * request.  Where nothing of the gain could be told from nothing, moves are there to make
 * room.
 */
CREATE FUNCTION _tiered_storage.report_answer(facts jsonb) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	advice jsonb := facts -> 'advice';
	total jsonb := facts -> 'advice' -> 'all';
	moved jsonb := facts -> 'moves';
	advised float8 := (advice ->> 'moves')::float8;
	sure float8 := (advice ->> 'firm')::float8 + (advice ->> 'tentative')::float8;
	here_s float8 := (total ->> 'io_s_per_hour')::float8;
	saved_s float8 := here_s - (total ->> 'advised_io_s_per_hour')::float8;
	price float8 := (total ->> 'price_per_month')::float8;
	price_delta float8 := (total ->> 'advised_price_per_month')::float8 - price;
	speedup_low text := total ->> 'advised_speedup_low';
	speedup_high text := total ->> 'advised_speedup_high';
	is_standby boolean := (facts ->> 'standby')::boolean;
	is_sampled boolean := NULLIF(facts -> 'sampler', 'null') IS NOT NULL;
	usable text[] := ARRAY(SELECT t ->> 'tier_name' FROM jsonb_array_elements(facts -> 'tiers') t
		WHERE NULLIF(t -> 'tablespaces', 'null') IS NOT NULL);
	confidence text;
	/* A headline that is too long ends in dots. */
	reason text := regexp_replace(regexp_replace(total ->> 'reason', '^no move(; |$)', ''),
		'[;,]? *[.]{3}$', '; others for other reasons');
	gains text[] := '{}';
	sentences text[];
	coming text;
	command text;
BEGIN
	SELECT string_agg(_tiered_storage.report_cell(c.n) || ' ' || c.label, ', ') INTO confidence
		FROM (VALUES (advice ->> 'firm', 'firm'), (advice ->> 'tentative', 'tentative'),
			(advice ->> 'provisional', 'provisional')) c (n, label)
		WHERE c.n::float8 > 0;
	IF jsonb_array_length(facts -> 'tiers') = 0 THEN
		sentences := ARRAY['Define tiers first: without tiers there is no advice.',
			'<code>SELECT * FROM tiered_storage.discover_tiers()</code> finds the '
			'devices, <code>add_tier()</code> defines tiers that it does not find.'];
	ELSIF NOT is_sampled THEN
		sentences := ARRAY['The costs of relations are unknown: no sample was taken.',
			CASE WHEN is_standby THEN 'Samples are taken on the primary.' ELSE
			'The worker takes them, or <code>CALL tiered_storage.sample();</code> by a timer.'
			END];
	ELSIF advised > 0 THEN
		IF abs(saved_s) >= 0.0005 THEN
			gains := ARRAY[format(CASE WHEN saved_s > 0
					THEN 'saves %s of the %s of device time per hour (%s)'
					ELSE 'takes %s of device time per hour more than the %s of now (%s)' END,
				_tiered_storage.report_cell(abs(saved_s)::text, 's'),
				_tiered_storage.report_cell(here_s::text, 's'),
				_tiered_storage.report_cell((abs(saved_s) / NULLIF(here_s, 0))::text, '%'))];
		END IF;
		IF abs(price_delta) >= 0.005 THEN
			gains := gains || format('costs %s %s a month',
				_tiered_storage.report_cell(abs(price_delta)::text),
				CASE WHEN price_delta < 0 THEN 'less' ELSE 'more' END);
		END IF;
		IF GREATEST(speedup_low::float8, speedup_high::float8) >= 1.005 THEN
			gains := gains || format('multiplies the throughput of clients by %s',
				concat_ws(' to ',
				_tiered_storage.report_cell(speedup_low), CASE WHEN speedup_high
					<> speedup_low THEN _tiered_storage.report_cell(speedup_high) END));
		END IF;
		IF cardinality(gains) = 0 OR saved_s < 0.0005 AND COALESCE(price_delta, 0) > -0.005 THEN
			gains := array_prepend('makes room where a tier is too full', gains);
		END IF;
		sentences := ARRAY[format(CASE WHEN sure > 0 THEN 'Move %s, %s together: %s.'
				ELSE 'Move nothing yet: %s, %s together, would be better elsewhere, but too '
					'little has been observed (%s).' END,
			_tiered_storage.report_cell(advised::text, CASE advised WHEN 1 THEN 'relation'
				ELSE 'relations' END),
			_tiered_storage.report_cell(advice ->> 'size_bytes', 'bytes'), confidence),
			CASE WHEN sure > 0 THEN 'That ' || regexp_replace(array_to_string(gains, ', '),
				'^(.*), ', CASE cardinality(gains) WHEN 2 THEN E'\\1 and '
					ELSE E'\\1, and ' END)
				|| '.' END];
	ELSIF cardinality(usable) < 2 THEN
		sentences := ARRAY[format('Nothing can be moved: %s.', CASE cardinality(usable) WHEN 1
			THEN _tiered_storage.report_cell(usable[1], 'name')
				|| ' is the only tier with a tablespace'
			ELSE 'no tier has a tablespace' END),
			'Create a tablespace on another kind of storage, and <code>add_tier()</code> makes it '
			'a tier.'];
	ELSE
		sentences := ARRAY[
			format('Nothing needs to be moved now%s.', COALESCE(': '
				|| _tiered_storage.report_escape(NULLIF(reason, '')), '')),
			format(CASE WHEN (total ->> 'relations')::float8 = 0 THEN NULL
				WHEN here_s >= 0.0005 THEN '%s take %s of device time per hour and %s a '
					'month where they are.'
				ELSE '%1$s take almost no device time, and %3$s a month where they are.' END,
				_tiered_storage.report_cell(total ->> 'relations', CASE total ->> 'relations'
					WHEN '1' THEN 'relation' ELSE 'relations' END),
				_tiered_storage.report_cell(here_s::text, 's'),
				_tiered_storage.report_cell(price::text))];
	END IF;
	SELECT format(CASE WHEN (t ->> 'days_until_full')::float8 > 0
				THEN 'Tier %s will be full in %s at its present growth of %s.'
				ELSE 'Tier %s has no room left.' END,
			_tiered_storage.report_cell(t ->> 'tier_name', 'name'),
			_tiered_storage.report_cell(t ->> 'days_until_full', 'days'),
			_tiered_storage.report_cell(t ->> 'growth_bytes_per_day', 'bytes/day'))
		INTO coming FROM jsonb_array_elements(advice -> 'tiers') t
		WHERE (t ->> 'days_until_full')::float8 <= 365
		ORDER BY (t ->> 'days_until_full')::float8 LIMIT 1;
	sentences := sentences || COALESCE(coming,
			CASE WHEN jsonb_array_length(facts -> 'tiers') > 0 AND is_sampled
				THEN CASE WHEN (advice #>> '{all,growth_bytes_per_day}') IS NULL
					THEN 'How soon a tier fills up is not known before a day has been observed.'
				ELSE 'No tier is expected to fill up within a year.' END END)
		|| CASE WHEN (facts ->> 'paused')::boolean THEN 'Moves are paused on this server; '
			'<code>SELECT tiered_storage.resume();</code> ends that.' END
		|| CASE WHEN (moved ->> 'failed')::float8 > 0 THEN format(
			'%s of this period failed: see <a href="#moves">moves</a>.',
			_tiered_storage.report_cell(moved ->> 'failed', CASE moved ->> 'failed' WHEN '1'
				THEN 'move' ELSE 'moves' END)) END;
	command := CASE
		WHEN advised > 0 AND sure = 0 THEN 'To list them with what is known so far: '
			'<code>SELECT * FROM tiered_storage.recommend_placement();</code>'
		WHEN (advice ->> 'firm')::float8 > 0 THEN 'To make the firm moves, in order: <code>CALL '
			'tiered_storage.apply_placement();</code>'
		WHEN sure > 0 THEN 'No move is firm yet. For a dry run: <code>CALL '
			'tiered_storage.apply_placement(''tentative'', dry_run =&gt; true);</code>' END;
	RETURN '<p class="answer">' || array_to_string(sentences, ' ') || E'</p>\n'
		|| COALESCE('<p class="do">' || CASE WHEN is_standby AND sure > 0
			THEN 'This is a standby; run it on the primary. ' ELSE '' END || command || E'</p>\n',
			'')
		|| '<dl class="tiles">' || (SELECT string_agg(format(
			E'<div class="tile"><dt>%s</dt><dd>%s<small>%s</small></dd></div>\n', v.label, v.value,
			v.note), '') FROM (VALUES
		('Recommended moves', _tiered_storage.report_cell(advised::text),
			COALESCE(confidence, 'none')),
		('Device time saved', _tiered_storage.report_cell(CASE WHEN sure > 0 OR advised = 0
			THEN saved_s::text END, 's/h'),
			'of ' || _tiered_storage.report_cell(here_s::text, 's/h') || ' now'),
		('Price per month', _tiered_storage.report_cell((price + price_delta)::text),
			CASE _tiered_storage.report_cell(price::text)
				WHEN _tiered_storage.report_cell((price + price_delta)::text) THEN 'as now'
				ELSE 'from ' || _tiered_storage.report_cell(price::text) || ' now' END),
		('Moves in the period', _tiered_storage.report_cell(moved ->> 'done', 'done'),
			_tiered_storage.report_cell(moved ->> 'failed') || ' failed, longest lock '
			|| _tiered_storage.report_cell(moved ->> 'longest_lock_ms', 'ms')
			|| CASE WHEN (facts ->> 'to')::timestamptz - (facts ->> 'from')::timestamptz
				> interval '24 hours' THEN format('; last 24 h: %s done (%s), %s failed',
					_tiered_storage.report_cell(moved ->> 'day_done'),
					_tiered_storage.report_cell(moved ->> 'day_done_bytes', 'bytes'),
					_tiered_storage.report_cell(moved ->> 'day_failed')) ELSE '' END))
			v (label, value, note)) || E'</dl>\n';
END
$$;

/* The section about tiers: how full each is, and what it holds now and as recommended. */
CREATE FUNCTION _tiered_storage.report_tiers(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH tier AS MATERIALIZED (
		SELECT t, n, facts -> 'classes' ->> (t ->> 'tier_name') AS class, s,
			(t ->> 'used_bytes')::float8 AS used_bytes,
			(t ->> 'capacity_bytes')::float8 AS capacity,
			(t ->> 'relation_bytes')::float8 AS relation_bytes,
			(t ->> 'used_bytes')::float8 + (t ->> 'free_bytes')::float8 AS disk_bytes,
			(t ->> 'low_watermark')::float8 AS low, (t ->> 'high_watermark')::float8 AS high,
			(t ->> 'reserve_fraction')::float8 AS reserve
		FROM jsonb_array_elements(facts -> 'tiers') WITH ORDINALITY x (t, n)
		LEFT JOIN jsonb_array_elements(facts #> '{advice,tiers}') s
			ON s ->> 'tier_name' = t ->> 'tier_name'),
	/* A capacity that was given may be less than the file systems have. */
	filled AS MATERIALIZED (
		SELECT t.*, COALESCE(t.capacity < 0.99 * t.disk_bytes, false) AS is_given,
			(t ->> 'used_fraction')::float8 AS used
		FROM tier t),
	card AS (
		SELECT f.n, format('<div class="card"><h3><i class="%s" aria-hidden="true"></i>%s</h3>'
				'<p class="big">%s</p><p>%s</p>', f.class, _tiered_storage.report_cell(
					f.t ->> 'tier_name', 'name'),
			CASE WHEN f.used IS NULL THEN '<small>capacity not known</small>'
				ELSE _tiered_storage.report_cell(f.used::text, '%') || '<small> used</small>' END,
			format(CASE WHEN f.is_given THEN '%3$s of %2$s by this database; %1$s used of the '
					'%4$s of its file systems'
				WHEN f.relation_bytes > f.used_bytes THEN '%1$s used of %2$s, although the '
					'relations of this database are %3$s: they are compressed, or have holes'
				ELSE '%1$s used of %2$s, %3$s of it by this database' END,
				_tiered_storage.report_cell(f.used_bytes::text, 'bytes'),
				_tiered_storage.report_cell(f.capacity::text, 'bytes'),
				_tiered_storage.report_cell(f.relation_bytes::text, 'bytes'),
				_tiered_storage.report_cell(f.disk_bytes::text, 'bytes')))
			|| COALESCE(format('<svg class="gauge" role="img" aria-labelledby="gauge%1$s-title '
				'gauge%1$s-desc" viewBox="0 0 1000 44" preserveAspectRatio="none">'
				'<title id="gauge%1$s-title">How full tier %2$s is</title>'
				'<desc id="gauge%1$s-desc">%3$s used, low watermark %4$s, high watermark %5$s, '
				'%6$s kept in reserve</desc><rect class="track" y="6" width="1000" height="28"/>'
				'<rect class="reserve" x="%7$s" y="6" width="%8$s" height="28"/>'
				'<rect class="others" y="6" width="%9$s" height="28"/>'
				'<rect class="%10$s" y="6" width="%11$s" height="28"/>'
				'<path class="mark" d="M%12$s 0v40M%13$s 0v40"/></svg>', f.n,
				_tiered_storage.report_escape(f.t ->> 'tier_name'),
				_tiered_storage.report_words(f.used, '%'),
				_tiered_storage.report_words(f.low, '%'),
				_tiered_storage.report_words(f.high, '%'),
				_tiered_storage.report_words(f.reserve, '%'),
				round(1000 * (1 - f.reserve)), round(1000 * f.reserve),
				round(1000 * LEAST(1, NULLIF(f.used, 'NaN'))), f.class,
				round(1000 * LEAST(1, f.used, f.relation_bytes / f.capacity)),
				round(1000 * f.low), round(1000 * f.high)), '')
			|| format(E'<p class="fine">Marks: %s low, %s high; reserve %s. %s</p>%s</div>\n',
				_tiered_storage.report_cell(f.low::text, '%'),
				_tiered_storage.report_cell(f.high::text, '%'),
				_tiered_storage.report_cell(f.reserve::text, '%'),
				CASE WHEN (f.s ->> 'days_until_full')::float8 <= 0
					THEN '<strong>No room is left.</strong>'
				WHEN (f.s ->> 'growth_bytes_per_day') IS NULL THEN ''
				WHEN (f.s ->> 'days_until_full')::float8 <= 3650
					THEN format('<strong>Full in %s</strong>, growing %s.',
					_tiered_storage.report_cell(f.s ->> 'days_until_full', 'days'),
					_tiered_storage.report_cell(f.s ->> 'growth_bytes_per_day', 'bytes/day'))
				ELSE 'Not expected to fill up.' END,
				'<p class="remark">' || _tiered_storage.report_cell(f.t ->> 'tier_name', 'name')
					|| ' ' || _tiered_storage.report_escape(NULLIF(f.s ->> 'reason', ''))
					|| '.</p>') AS html
		FROM filled f)
	SELECT '<div class="cards">' || (SELECT string_agg(c.html, '' ORDER BY c.n) FROM card c)
		|| '</div>' || _tiered_storage.report_legend(ARRAY['others|used by others, or not '
			'by relations', 'track|free', 'reserve|reserve', 'mark|low and high watermark'])
		|| _tiered_storage.report_table('tiers-table',
			'Tiers: space, growth and price now',
			'{Tier|tier_name|tier,Relations|relations,Relations'' bytes|relation_bytes|bytes,
				Used|used_bytes|bytes,Free|free_bytes|bytes,Capacity|capacity_bytes|bytes,
				Reserve|reserve_fraction|%,Low mark|low_watermark|%,High mark|high_watermark|%,
				Growth|growth_bytes_per_day|bytes/day,
				Until the reserve|days_until_reserve|days,
				Until it is full|days_until_full|days,
				Price per GB and month|price_per_gb_month,Price per month|price_per_month}',
			jsonb_agg(COALESCE(f.s, '{}') || f.t ORDER BY f.n), facts -> 'classes')
		|| _tiered_storage.report_table('placement-table',
			'Tiers: device time now and as recommended',
			'{Tier|tier|html,Device time now|io_s_per_hour|s/h,
				as recommended|advised_io_s_per_hour|s/h,Busy now|busy_fraction|%,
				as recommended|advised_busy_fraction|%,Waits now|wait_s_per_hour|s/h,
				as recommended|advised_wait_s_per_hour|s/h,Bytes now|used_bytes|bytes,
				as recommended|advised_bytes|bytes,Price per month|price_per_month,
				as recommended|advised_price_per_month,Limited by|limited_by|text}',
			COALESCE(jsonb_agg(f.s || jsonb_build_object('tier',
				_tiered_storage.report_cell(f.t ->> 'tier_name', 'tier', facts -> 'classes'))
				ORDER BY f.n) FILTER (WHERE f.s IS NOT NULL), '[]')
			|| ((facts #> '{advice,all}') || '{"tier": "all tiers"}'))
	FROM filled f HAVING count(*) > 0
$$;

/*
 * The section about the moves of the period, and what they were predicted to save and did.
 *
 * A line is the time of the copy, the mark at its end the lock, as high as that was held.
 */
CREATE FUNCTION _tiered_storage.report_moved(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH given AS (
		SELECT facts -> 'moves' AS moves,
			(facts ->> 'from')::timestamptz AS from_at, (facts ->> 'to')::timestamptz AS to_at,
			date_part('epoch', (facts ->> 'from')::timestamptz) AS from_s,
			date_part('epoch', (facts ->> 'to')::timestamptz) AS to_s),
	point AS MATERIALIZED (
		SELECT n, m ->> 'state' AS state, (m ->> 'lock_held_ms')::float8 AS lock_ms,
			GREATEST(date_part('epoch', (m ->> 'started_at')::timestamptz), g.from_s) AS begins_s,
			LEAST(COALESCE(date_part('epoch', (m ->> 'finished_at')::timestamptz), g.to_s),
				g.to_s) AS ends_s
		FROM given g CROSS JOIN jsonb_array_elements(g.moves -> 'points')
			WITH ORDINALITY x (m, n)),
	range AS MATERIALIZED (
		SELECT LEAST(0, floor(log(COALESCE(min(p.lock_ms) FILTER (WHERE p.lock_ms > 0.001), 1))))
				AS low,
			GREATEST(2, ceil(log(COALESCE(max(p.lock_ms) FILTER (WHERE p.lock_ms > 0.001), 1))))
				AS high
		FROM point p),
	placed AS MATERIALIZED (
		SELECT p.*, round((90 + 840 * (p.begins_s - g.from_s) / (g.to_s - g.from_s))::numeric, 1)
				AS x0,
			round((90 + 840 * (p.ends_s - g.from_s) / (g.to_s - g.from_s))::numeric, 1) AS x,
			round(CASE WHEN p.lock_ms > 0.001 THEN 20 + 150 * (r.high - log(p.lock_ms))
				/ (r.high - r.low) ELSE 184 END::numeric, 1) AS y
		FROM point p CROSS JOIN range r CROSS JOIN given g),
	effects AS (
		SELECT _tiered_storage.report_table('effects-table', 'Measured moves, the largest first',
			'{Relation|relation|name,Predicted saving|predicted_saved_io_s_per_hour|s/h,
				Measured saving|measured_saved_io_s_per_hour|s/h,Verdict|effect|text}',
			jsonb_agg(x.e ORDER BY x.n)) AS html
		FROM jsonb_array_elements(facts #> '{moves,effects}') WITH ORDINALITY x (e, n)
		HAVING count(*) > 0)
	SELECT '<p class="lead">' || (SELECT string_agg(_tiered_storage.report_cell(g.moves ->> s, s)
			|| CASE s WHEN 'done' THEN ' (' || _tiered_storage.report_cell(
				g.moves ->> 'done_bytes', 'bytes') || ')' ELSE '' END, ', ' ORDER BY n)
			FROM unnest('{done,failed,skipped,running,interrupted}'::text[]) WITH ORDINALITY
				x (s, n))
		|| format(E'. The strong lock was held for %s (median), at most %s.</p>\n',
			_tiered_storage.report_cell(g.moves ->> 'median_lock_ms', 'ms'),
			_tiered_storage.report_cell(g.moves ->> 'longest_lock_ms', 'ms'))
		|| _tiered_storage.report_figure('move-times', 'Moves and how long they locked',
		'Each move at the time when it ended, as high as its longest lock was held; the line '
			'before it is the time of its copy.', 214,
		(SELECT string_agg(format('<path class="grid" d="M90 %s h850"/>', round((20 + 150
				* (r.high - e) / (r.high - r.low))::numeric, 1))
			|| _tiered_storage.report_label(82, 24 + 150 * (r.high - e) / (r.high - r.low),
				'tick end', _tiered_storage.report_words(power(10::float8, e), 'ms')), '')
			FROM range r CROSS JOIN generate_series(r.low::integer, r.high::integer) e)
		|| _tiered_storage.report_label(82, 188, 'tick end', 'no lock')
		|| '<path class="grid" d="M90 184h850"/>'
		|| COALESCE((SELECT string_agg(format('<path class="grid" d="M%s 20v170"/>',
				round((90 + 840 * t.share)::numeric, 1))
			|| _tiered_storage.report_label(90 + 840 * t.share, 207, CASE WHEN t.share > 0.96
				THEN 'tick end' ELSE 'tick mid' END, t.label), '')
			FROM _tiered_storage.report_time_ticks(g.from_at, g.to_at) t), '')
		|| COALESCE((SELECT format('<path class="copy" d="%s"/>', string_agg(format('M%s %sH%s',
			p.x0, p.y, p.x), '' ORDER BY p.n)) FROM placed p), '')
		|| COALESCE((SELECT string_agg(CASE p.state
				WHEN 'done' THEN format('<circle class="done" cx="%s" cy="%s" r="4"/>', p.x, p.y)
				WHEN 'failed' THEN format('<path class="failed" d="M%s %sl10 10m0 -10l-10 10"/>',
					p.x - 5, p.y - 5)
				ELSE format('<circle class="open" cx="%s" cy="%s" r="4"/>', p.x, p.y) END, ''
				ORDER BY p.n DESC) FROM placed p), '')
		|| _tiered_storage.report_label(90, 10, 'tick', 'longest lock'),
		ARRAY['done|done', 'failed|failed', 'open|skipped, running or interrupted',
			'copy line|copying'])
		|| _tiered_storage.report_table('moves-table', format('The last moves, %s of %s',
				jsonb_array_length(g.moves -> 'rows'), g.moves ->> 'moves'),
			'{Relation|relation|name,From|from_tier|tier,To|to_tier|tier,State|state|text,
				Began|started_at|time,Size|size_bytes|bytes,Took|elapsed_ms|ms,
				Lock held|lock_held_ms|ms,Asked for by|requested_by|name,Why|why|why}',
			(SELECT jsonb_agg(r || jsonb_build_object('why',
				COALESCE(left(r ->> 'error', 500), r ->> 'reason')) ORDER BY n)
				FROM jsonb_array_elements(g.moves -> 'rows') WITH ORDINALITY x (r, n)),
			facts -> 'classes')
		|| '<h3>Predicted against measured</h3>' || COALESCE((SELECT e.html FROM effects e),
			format('<p class="empty"><strong>Nothing to show.</strong> No move of this period '
				'has a measured effect: %s wait for it, %s cannot be measured.</p>',
				_tiered_storage.report_cell(g.moves ->> 'unmeasured'),
				_tiered_storage.report_cell(g.moves ->> 'not_measurable')))
	FROM given g WHERE (g.moves ->> 'moves')::float8 > 0
$$;
