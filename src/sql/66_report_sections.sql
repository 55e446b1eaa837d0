---------------------------------------------------------------------------
-- The report: its sections.  Each is made of the facts alone.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.report_section(id text, title text, introduction text, body text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT format(E'<section id="%s" aria-labelledby="%1$s-head">\n<h2 id="%1$s-head">%s</h2>\n',
		id, title) || COALESCE('<p class="lead">' || introduction || E'</p>\n', '')
		|| COALESCE(body, '') || E'</section>\n'
$$;
COMMENT ON FUNCTION _tiered_storage.report_section(text, text, text, text) IS
'a section of the page';

CREATE FUNCTION _tiered_storage.report_empty(why text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT '<p class="empty"><strong>Nothing to show.</strong> ' || why || E'</p>\n'
$$;
COMMENT ON FUNCTION _tiered_storage.report_empty(text) IS
'what a section says that has nothing to show';

/* Tiers have a colour each by their order, and always their name beside it. */
CREATE FUNCTION _tiered_storage.report_tier_class(tiers jsonb, tier text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	RETURN COALESCE((SELECT 't' || LEAST(5, t.n - 1)
		FROM jsonb_array_elements(tiers) WITH ORDINALITY t (entry, n)
		WHERE t.entry ->> 'tier_name' = tier), 'tx');
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_tier_class(jsonb, text) IS
'the class of a tier in the page, which has its colour';

CREATE FUNCTION _tiered_storage.report_tier(tiers jsonb, tier text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	RETURN CASE WHEN tier IS NULL THEN _tiered_storage.report_none('no tier')
		ELSE '<span class="tier"><i class="' || _tiered_storage.report_tier_class(tiers, tier)
			|| '" aria-hidden="true"></i>' || _tiered_storage.report_name(tier) || '</span>' END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_tier(jsonb, text) IS
'the name of a tier in the page, with its colour';

CREATE FUNCTION _tiered_storage.report_count(number float8, one text, many text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT _tiered_storage.report_value(number) || '&nbsp;' || CASE WHEN number = 1 THEN one
		ELSE many END
$$;
COMMENT ON FUNCTION _tiered_storage.report_count(float8, text, text) IS
'a number of things';

CREATE FUNCTION _tiered_storage.report_tile(label text, value text, note text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT format(E'<div class="tile"><dt>%s</dt><dd>%s<small>%s</small></dd></div>\n', label,
		value, note)
$$;
COMMENT ON FUNCTION _tiered_storage.report_tile(text, text, text) IS
'a figure that stands by itself';

/* What to do, what it is worth, what comes: a sentence each. */
CREATE FUNCTION _tiered_storage.report_answer(facts jsonb) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	advice jsonb := facts -> 'advice';
	total jsonb := facts -> 'advice' -> 'all';
	moved jsonb := facts -> 'moves';
	advised float8 := (facts -> 'advice' ->> 'moves')::float8;
	here_s float8 := (total ->> 'io_s_per_hour')::float8;
	saved_s float8 := here_s - (total ->> 'advised_io_s_per_hour')::float8;
	price float8 := (total ->> 'price_per_month')::float8;
	price_delta float8 := (total ->> 'advised_price_per_month')::float8 - price;
	speedup_low float8 := (total ->> 'advised_speedup_low')::float8;
	speedup_high float8 := (total ->> 'advised_speedup_high')::float8;
	confidence text := '';
	reason text := regexp_replace(total ->> 'reason', '^no move(; |$)', '');
	sentences text[];
	coming text;
BEGIN
	SELECT string_agg(_tiered_storage.report_value(c.n) || ' ' || c.label, ', ') INTO confidence
		FROM (VALUES ((advice ->> 'firm')::float8, 'firm'),
			((advice ->> 'tentative')::float8, 'tentative'),
			((advice ->> 'insufficient')::float8, 'on too little data')) c (n, label)
		WHERE c.n > 0;
	IF jsonb_array_length(facts -> 'tiers') = 0 THEN
		sentences := ARRAY['Define tiers first: none is, so that nothing can be advised.',
			'<code>SELECT * FROM tiered_storage.discover_tiers()</code> looks what devices there '
			'are, <code>add_tier()</code> says what it cannot see.'];
	ELSIF advised > 0 THEN
		sentences := ARRAY[
			format('Move %s, %s together: %s.', _tiered_storage.report_count(advised, 'relation',
				'relations'), _tiered_storage.report_value((advice ->> 'size_bytes')::float8,
				'bytes'), confidence),
			format('That saves %s of the %s of device time per hour (%s)%s, and lets clients get '
				'%s times as much done.',
				_tiered_storage.report_value(saved_s, 's'),
				_tiered_storage.report_value(here_s, 's'),
				_tiered_storage.report_value(saved_s / NULLIF(here_s, 0), '%'),
				CASE WHEN abs(price_delta) >= 0.005 THEN format(', costs %s %s a month',
					_tiered_storage.report_value(abs(price_delta)),
					CASE WHEN price_delta < 0 THEN 'less' ELSE 'more' END) ELSE '' END,
				concat_ws(' to ', _tiered_storage.report_value(speedup_low),
					CASE WHEN speedup_high IS DISTINCT FROM speedup_low
						THEN _tiered_storage.report_value(speedup_high) END))];
		IF speedup_low IS NULL THEN
			sentences[2] := regexp_replace(sentences[2], ', and lets clients.*$', '.');
		END IF;
	ELSE
		sentences := ARRAY[
			format('Nothing is to be moved now%s.', COALESCE(': '
				|| _tiered_storage.report_escape(NULLIF(reason, '')), '')),
			format('%s take %s of device time per hour and %s a month where they are.',
				_tiered_storage.report_count((total ->> 'relations')::float8, 'relation',
					'relations'),
				_tiered_storage.report_value(here_s, 's'),
				_tiered_storage.report_value(price))];
	END IF;
	SELECT format(CASE WHEN (t ->> 'days_until_full')::float8 > 0
				THEN 'Tier %s is full in %s at its present growth of %s.'
				ELSE 'Tier %s has no room left.' END,
			_tiered_storage.report_name(t ->> 'tier_name'),
			_tiered_storage.report_value((t ->> 'days_until_full')::float8, 'days'),
			_tiered_storage.report_value((t ->> 'growth_bytes_per_day')::float8, 'bytes/day'))
		INTO coming FROM jsonb_array_elements(advice -> 'tiers') t
		WHERE (t ->> 'days_until_full')::float8 <= 365
		ORDER BY (t ->> 'days_until_full')::float8 LIMIT 1;
	IF jsonb_array_length(facts -> 'tiers') > 0 THEN
		sentences := sentences || COALESCE(coming,
			'No tier is foreseen to fill up within a year.');
	END IF;
	RETURN _tiered_storage.report_section('answer', 'What to do', NULL,
		'<p class="answer">' || array_to_string(sentences, ' ') || E'</p>\n'
		|| CASE WHEN (advice ->> 'firm')::float8 > 0 THEN '<p class="do">What is firm, in the right '
			|| E'order: <code>CALL tiered_storage.apply_placement();</code></p>\n'
			WHEN advised > 0 THEN '<p class="do">Nothing of it is firm yet. A dry run: <code>CALL '
			|| E'tiered_storage.apply_placement(''tentative'', dry_run =&gt; true);</code></p>\n'
			ELSE '' END
		|| '<dl class="tiles">'
		|| _tiered_storage.report_tile('Recommended moves', _tiered_storage.report_value(advised),
			COALESCE(confidence, 'none'))
		|| _tiered_storage.report_tile('Device time saved',
			_tiered_storage.report_value(saved_s, 's/h'),
			'of ' || _tiered_storage.report_value(here_s, 's/h') || ' now')
		|| _tiered_storage.report_tile('Price per month',
			_tiered_storage.report_value(price + price_delta),
			CASE WHEN abs(price_delta) >= 0.005 THEN 'from '
				|| _tiered_storage.report_value(price) || ' now' ELSE 'as now' END)
		|| _tiered_storage.report_tile('Moves in the period',
			_tiered_storage.report_value((moved ->> 'done')::float8) || '&nbsp;done',
			concat_ws(', ', _tiered_storage.report_value((moved ->> 'failed')::float8)
				|| ' failed', 'longest lock '
				|| _tiered_storage.report_value((moved ->> 'longest_lock_ms')::float8, 'ms')))
		|| E'</dl>\n');
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_answer(jsonb) IS
'the first section: what to do now, and what that is worth';

CREATE FUNCTION _tiered_storage.report_tier_gauge(tier jsonb, summary jsonb, class text,
	place bigint)
RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT format('<div class="card"><h3><i class="%s" aria-hidden="true"></i>%s</h3>'
			|| '<p class="big">%s</p><p>%s used of %s, %s of it by this database</p>', class,
			_tiered_storage.report_name(tier ->> 'tier_name'),
			CASE WHEN v.used IS NULL THEN '<small>capacity not known</small>'
				ELSE _tiered_storage.report_value(v.used, '%') || '<small> used</small>' END,
			_tiered_storage.report_value(v.used_bytes, 'bytes'),
			_tiered_storage.report_value(v.capacity, 'bytes'),
			_tiered_storage.report_value(v.relation_bytes, 'bytes'))
		|| CASE WHEN v.used IS NULL THEN '' ELSE format(
			'<svg class="gauge" role="img" aria-labelledby="gauge%1$s-title gauge%1$s-desc" '
			|| 'viewBox="0 0 1000 44" preserveAspectRatio="none"><title id="gauge%1$s-title">How '
			|| 'full tier %2$s is</title><desc id="gauge%1$s-desc">%3$s used, low watermark %4$s, high '
			|| 'watermark %5$s, %6$s kept in reserve</desc>'
			|| '<rect class="track" y="6" width="1000" height="28"/>'
			|| '<rect class="reserve" x="%7$s" y="6" width="%8$s" height="28"/>'
			|| '<rect class="others" y="6" width="%9$s" height="28"/>'
			|| '<rect class="%10$s" y="6" width="%11$s" height="28"/>'
			|| '<path class="mark" d="M%12$s 0v40M%13$s 0v40"/></svg>', place,
			_tiered_storage.report_escape(tier ->> 'tier_name'),
			_tiered_storage.report_words(v.used, '%'), _tiered_storage.report_words(v.low, '%'),
			_tiered_storage.report_words(v.high, '%'), _tiered_storage.report_words(v.reserve, '%'),
			round((1000 * (1 - v.reserve))::numeric), round((1000 * v.reserve)::numeric),
			round((1000 * LEAST(1, v.used))::numeric), class,
			round((1000 * LEAST(1, v.used, v.relation_bytes / v.capacity))::numeric),
			round((1000 * v.low)::numeric), round((1000 * v.high)::numeric)) END
		|| format('<p class="fine">Marks: %s low, %s high; reserve %s. %s</p></div>' || E'\n',
			_tiered_storage.report_value(v.low, '%'), _tiered_storage.report_value(v.high, '%'),
			_tiered_storage.report_value(v.reserve, '%'),
			CASE WHEN v.days <= 0 THEN '<strong>No room is left.</strong>'
				WHEN v.days <= 3650 THEN format('<strong>Full in %s</strong>, growing %s.',
				_tiered_storage.report_value(v.days, 'days'),
				_tiered_storage.report_value(v.growth, 'bytes/day'))
			ELSE 'Not foreseen to fill up.' END)
	FROM (SELECT (tier ->> 'used_bytes')::float8 / NULLIF((tier ->> 'capacity_bytes')::float8, 0)
			AS used, (tier ->> 'used_bytes')::float8 AS used_bytes,
		(tier ->> 'capacity_bytes')::float8 AS capacity,
		(tier ->> 'relation_bytes')::float8 AS relation_bytes,
		(tier ->> 'low_watermark')::float8 AS low, (tier ->> 'high_watermark')::float8 AS high,
		(tier ->> 'reserve_fraction')::float8 AS reserve,
		(summary ->> 'days_until_full')::float8 AS days,
		(summary ->> 'growth_bytes_per_day')::float8 AS growth) v
$$;
COMMENT ON FUNCTION _tiered_storage.report_tier_gauge(jsonb, jsonb, text, bigint) IS
'how full a tier is, as a picture';

CREATE FUNCTION _tiered_storage.report_tiers(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH tier AS (
		SELECT t.entry AS t, t.n, _tiered_storage.report_tier_class(facts -> 'tiers',
			t.entry ->> 'tier_name') AS class, s.entry AS s
		FROM jsonb_array_elements(facts -> 'tiers') WITH ORDINALITY t (entry, n)
		LEFT JOIN jsonb_array_elements(facts #> '{advice,tiers}') s (entry)
			ON s.entry ->> 'tier_name' = t.entry ->> 'tier_name')
	SELECT _tiered_storage.report_section('tiers', 'Tiers',
		'What there is to store on, how full it is, and when it will be full if nothing is moved.',
		CASE WHEN jsonb_array_length(facts -> 'tiers') = 0
		THEN _tiered_storage.report_empty('No tier is defined in this database.')
		ELSE (SELECT '<div class="cards">' || string_agg(_tiered_storage.report_tier_gauge(x.t, x.s,
				x.class, x.n), '' ORDER BY x.n) || '</div>' FROM tier x)
		|| _tiered_storage.report_legend('others|used by others, or not by relations',
			'track|free', 'reserve|reserve', 'mark|low and high watermark')
		|| (SELECT _tiered_storage.report_table('tiers-table', 'Tiers: space, growth and price now',
			'{Tier,#Relations,#Relations'' bytes,#Used,#Free,#Capacity,#Reserve,#Low mark,#High mark,
				#Growth,#Until the reserve,#Until it is full,#Price per GB and month,
				#Price per month}',
			string_agg(_tiered_storage.report_row(
				_tiered_storage.report_tier(facts -> 'tiers', x.t ->> 'tier_name'),
				_tiered_storage.report_value((x.t ->> 'relations')::float8),
				_tiered_storage.report_value((x.t ->> 'relation_bytes')::float8, 'bytes'),
				_tiered_storage.report_value((x.t ->> 'used_bytes')::float8, 'bytes'),
				_tiered_storage.report_value((x.t ->> 'free_bytes')::float8, 'bytes'),
				_tiered_storage.report_value((x.t ->> 'capacity_bytes')::float8, 'bytes'),
				_tiered_storage.report_value((x.t ->> 'reserve_fraction')::float8, '%'),
				_tiered_storage.report_value((x.t ->> 'low_watermark')::float8, '%'),
				_tiered_storage.report_value((x.t ->> 'high_watermark')::float8, '%'),
				_tiered_storage.report_value((x.s ->> 'growth_bytes_per_day')::float8, 'bytes/day'),
				_tiered_storage.report_value((x.s ->> 'days_until_reserve')::float8, 'days'),
				_tiered_storage.report_value((x.s ->> 'days_until_full')::float8, 'days'),
				_tiered_storage.report_value((x.t ->> 'price_per_gb_month')::float8),
				_tiered_storage.report_value((x.s ->> 'price_per_month')::float8)), ''
				ORDER BY x.n)) FROM tier x)
		|| (SELECT _tiered_storage.report_table('placement-table',
			'Tiers: device time now and as recommended',
			'{Tier,#Device time now,#as recommended,#Busy now,#as recommended,#Waits now,
				#as recommended,#Bytes now,#as recommended,#Price per month,#as recommended,
				Limited by,Remark}',
			string_agg(_tiered_storage.report_row(
				CASE WHEN x.s ->> 'tier_name' IS NULL THEN 'all tiers'
					ELSE _tiered_storage.report_tier(facts -> 'tiers', x.s ->> 'tier_name') END,
				_tiered_storage.report_value((x.s ->> 'io_s_per_hour')::float8, 's/h'),
				_tiered_storage.report_value((x.s ->> 'advised_io_s_per_hour')::float8, 's/h'),
				_tiered_storage.report_value((x.s ->> 'busy_fraction')::float8, '%'),
				_tiered_storage.report_value((x.s ->> 'advised_busy_fraction')::float8, '%'),
				_tiered_storage.report_value((x.s ->> 'wait_s_per_hour')::float8, 's/h'),
				_tiered_storage.report_value((x.s ->> 'advised_wait_s_per_hour')::float8, 's/h'),
				_tiered_storage.report_value((x.s ->> 'used_bytes')::float8, 'bytes'),
				_tiered_storage.report_value((x.s ->> 'advised_bytes')::float8, 'bytes'),
				_tiered_storage.report_value((x.s ->> 'price_per_month')::float8),
				_tiered_storage.report_value((x.s ->> 'advised_price_per_month')::float8),
				_tiered_storage.report_escape(x.s ->> 'limited_by'),
				_tiered_storage.report_escape(CASE WHEN x.s ->> 'tier_name' IS NOT NULL
					THEN x.s ->> 'reason' END)), '' ORDER BY x.n))
			FROM (SELECT t.s, t.n FROM tier t WHERE t.s IS NOT NULL
				UNION ALL SELECT facts #> '{advice,all}', 1000000) x)
		END)
$$;
COMMENT ON FUNCTION _tiered_storage.report_tiers(jsonb) IS
'the section about tiers';

/* Steps of 1, 3, 10, 30, ...: the number of the last one that is not above the value. */
CREATE FUNCTION _tiered_storage.report_heat_step(value float8) RETURNS integer
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	decade integer;
BEGIN
	IF value > 0 AND value < 'Infinity' THEN
		decade := floor(log(value) + 1e-9);
		RETURN 2 * decade + CASE WHEN value >= 2.99999 * power(10, decade) THEN 1 ELSE 0 END;
	END IF;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_heat_step(float8) IS
'the step of a logarithmic scale that a value is on; null: on none';

/*
 * Each class of a row is one path, which is a tenth of what a rectangle for each cell would
 * take.
 */
CREATE FUNCTION _tiered_storage.report_heat_map(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH given AS (
		SELECT facts -> 'heat' AS heat, facts -> 'tiers' AS tiers,
			jsonb_array_length(facts #> '{heat,rows}') AS n_rows,
			NULLIF(facts #> '{heat,others}', 'null') AS others,
			(facts ->> 'from')::timestamptz AS from_at, (facts ->> 'to')::timestamptz AS to_at,
			date_part('epoch', (facts ->> 'from')::timestamptz) AS from_s,
			date_part('epoch', (facts ->> 'to')::timestamptz) AS to_s,
			date_part('epoch', (facts ->> 'load_since')::timestamptz) AS since_s,
			date_part('epoch', (facts #>> '{sampler,last_sample_at}')::timestamptz) AS last_s,
			(facts #>> '{heat,start_s}')::float8 AS start_s,
			620.0 / jsonb_array_length(facts #> '{heat,parts}') AS cell,
			620.0 / jsonb_array_length(facts #> '{heat,parts}')
				/ (facts #>> '{heat,width_s}')::float8 AS pixels_per_s, 330.0 AS x0, 19 AS high),
	part AS MATERIALIZED (
		SELECT (p ->> 'part')::integer AS part, (p ->> 'at')::timestamptz AS at,
			(p ->> 'hours')::float8 AS hours
		FROM given g CROSS JOIN jsonb_array_elements(g.heat -> 'parts') p),
	line AS MATERIALIZED (
		SELECT n AS place, r AS entry, r -> 'parts' AS parts
		FROM given g CROSS JOIN jsonb_array_elements(g.heat -> 'rows') WITH ORDINALITY x (r, n)
		UNION ALL
		SELECT g.n_rows + 1, g.others, g.others -> 'parts' FROM given g WHERE g.others IS NOT NULL),
	cell AS MATERIALIZED (
		SELECT l.place, p.part, c.value::float8 / p.hours AS per_hour,
			_tiered_storage.report_heat_step(c.value::float8 / p.hours) AS step
		FROM line l CROSS JOIN jsonb_each_text(NULLIF(l.parts, 'null')) c
		JOIN part p ON p.part = c.key::integer
		WHERE p.hours > 0),
	top AS (SELECT max(c.step) AS step FROM cell c),
	painted AS (
		SELECT k.place, string_agg(k.path, '' ORDER BY k.class) AS paths
		FROM (SELECT c.place, v.class, format('<path class="h%s" d="%s"/>', v.class,
				string_agg(format('M%s %sh%sv13h-%3$sz',
					round((g.x0 + c.part * g.cell)::numeric, 1), 27 + (c.place - 1) * g.high,
					round((g.cell - 0.6)::numeric, 1)), '' ORDER BY c.part)) AS path
			FROM cell c CROSS JOIN given g CROSS JOIN top t
			CROSS JOIN LATERAL (SELECT GREATEST(1, 7 - t.step + c.step) AS class) v
			GROUP BY c.place, v.class) k
		GROUP BY k.place),
	moved AS MATERIALIZED (
		SELECT l.place, m ->> 'from_tier' AS from_tier, m ->> 'to_tier' AS to_tier,
			date_part('epoch', (m ->> 'at')::timestamptz) AS at_s,
			(m ->> 'at')::timestamptz AS at
		FROM line l CROSS JOIN jsonb_array_elements(NULLIF(l.entry -> 'moved', 'null')) m),
	stay AS (
		SELECT l.place, l.entry ->> 'tier_name' AS tier_name, g.from_s AS begins_s,
			g.to_s AS ends_s
		FROM line l CROSS JOIN given g
		WHERE l.place <= g.n_rows AND NOT EXISTS (SELECT FROM moved m WHERE m.place = l.place)
		UNION ALL
		(SELECT DISTINCT ON (m.place) m.place, m.from_tier, g.from_s, m.at_s
		FROM moved m CROSS JOIN given g ORDER BY m.place, m.at_s)
		UNION ALL
		SELECT m.place, m.to_tier, m.at_s, COALESCE(lead(m.at_s) OVER (PARTITION BY m.place
			ORDER BY m.at_s), g.to_s)
		FROM moved m CROSS JOIN given g),
	strip AS (
		SELECT s.place, string_agg(_tiered_storage.report_bar(
			g.x0 + (GREATEST(s.begins_s, g.from_s) - g.start_s) * g.pixels_per_s,
			40 + (s.place - 1) * g.high, (LEAST(s.ends_s, g.to_s) - GREATEST(s.begins_s, g.from_s))
				* g.pixels_per_s, 3, _tiered_storage.report_tier_class(g.tiers, s.tier_name)), ''
			ORDER BY s.begins_s) AS bars
		FROM stay s CROSS JOIN given g
		WHERE LEAST(s.ends_s, g.to_s) > GREATEST(s.begins_s, g.from_s) GROUP BY s.place),
	diamond AS (
		SELECT m.place, string_agg(format('<path class="moved" d="M%s %sl5 5l-5 5l-5 -5z"/>',
			round((g.x0 + (m.at_s - g.start_s) * g.pixels_per_s)::numeric, 1),
			28.5 + (m.place - 1) * g.high), '' ORDER BY m.at_s) AS paths
		FROM moved m CROSS JOIN given g WHERE m.at_s < g.to_s GROUP BY m.place),
	named AS MATERIALIZED (
		SELECT l.place, l.entry, CASE WHEN l.place > g.n_rows THEN format('%s others',
				l.entry ->> 'relations')
			WHEN l.entry ->> 'name' ~ '^[0-9]+$' THEN format('dropped, OID %s',
				l.entry ->> 'name')
			ELSE l.entry ->> 'name' END AS name
		FROM line l CROSS JOIN given g),
	drawn AS (
		SELECT string_agg('<g><title>' || _tiered_storage.report_escape(n.name) || '</title>'
			|| _tiered_storage.report_bar(g.x0, 27 + (n.place - 1) * g.high, 620, 13, 'track')
			|| format('<text x="0" y="%1$s" class="name">%2$s</text><text x="262" y="%1$s" '
				|| 'class="name dim">%3$s</text>', 38 + (n.place - 1) * g.high,
				_tiered_storage.report_escape(_tiered_storage.report_shorten(n.name, 40)),
				_tiered_storage.report_escape(_tiered_storage.report_shorten(
					n.entry ->> 'tier_name', 10)))
			|| COALESCE(p.paths, '') || COALESCE(s.bars, '') || COALESCE(d.paths, '')
			|| E'</g>\n', '' ORDER BY n.place) AS rows
		FROM named n CROSS JOIN given g LEFT JOIN painted p USING (place)
		LEFT JOIN strip s USING (place) LEFT JOIN diamond d USING (place)),
	axis AS (
		SELECT string_agg(format('<path class="grid" d="M%s 20v%s"/>', x.x,
				6 + g.high * (SELECT count(*) FROM line))
			|| _tiered_storage.report_label(x.x, 13, CASE WHEN t.share > 0.94 THEN 'tick end'
				ELSE 'tick mid' END, t.label), '' ORDER BY t.at)
			AS ticks
		FROM given g CROSS JOIN _tiered_storage.report_time_ticks(g.from_at, g.to_at) t
		CROSS JOIN LATERAL (SELECT round((g.x0 + (date_part('epoch', t.at) - g.start_s)
			* g.pixels_per_s)::numeric, 1) AS x) x),
	unknown AS (
		SELECT string_agg(_tiered_storage.report_bar(g.x0 + (u.begins_s - g.start_s)
			* g.pixels_per_s, 24, (u.ends_s - u.begins_s) * g.pixels_per_s,
			g.high * (SELECT count(*) FROM line), 'unknown'), '') AS bars
		FROM given g CROSS JOIN LATERAL (VALUES (g.from_s, LEAST(g.since_s, g.to_s)),
			(GREATEST(g.last_s, g.from_s), g.to_s)) u (begins_s, ends_s)
		WHERE u.ends_s > u.begins_s + 0.002 * (g.to_s - g.from_s)),
	scale AS (
		SELECT array_agg(format('h%s|%s', k.class, CASE WHEN k.class = 1 THEN '&lt; '
				|| v.label ELSE v.label END) ORDER BY k.class)
			|| ARRAY['moved|move', 'unknown|not sampled'] AS entries
		FROM top t CROSS JOIN generate_series(1, 7) k (class)
		CROSS JOIN LATERAL (SELECT GREATEST(2, k.class) + t.step - 7 AS step) s
		CROSS JOIN LATERAL (SELECT _tiered_storage.report_digits(power(10::float8,
			floor(s.step / 2.0)) * CASE WHEN s.step % 2 = 0 THEN 1 ELSE 3 END) AS label) v),
	tier_scale AS (
		SELECT array_agg(format('%s line|%s', _tiered_storage.report_tier_class(g.tiers,
			t ->> 'tier_name'), _tiered_storage.report_name(t ->> 'tier_name')) ORDER BY n)
			AS entries
		FROM given g CROSS JOIN jsonb_array_elements(g.tiers) WITH ORDINALITY x (t, n)),
	totals AS (
		SELECT string_agg(_tiered_storage.report_row(_tiered_storage.report_name(n.name),
			_tiered_storage.report_escape(n.entry ->> 'kind'),
			_tiered_storage.report_tier(g.tiers, n.entry ->> 'tier_name'),
			_tiered_storage.report_value((n.entry ->> 'size_bytes')::float8, 'bytes'),
			_tiered_storage.report_value((n.entry ->> 'reads')::float8),
			_tiered_storage.report_value((n.entry ->> 'writes')::float8),
			_tiered_storage.report_value(((n.entry ->> 'reads')::float8
				+ (n.entry ->> 'writes')::float8) / (g.to_s - g.from_s) * 3600),
			(SELECT string_agg(format('%s to %s at %s', _tiered_storage.report_name(m.from_tier),
				_tiered_storage.report_name(m.to_tier), _tiered_storage.report_time(m.at)), ', '
				ORDER BY m.at) FROM moved m WHERE m.place = n.place AND m.at_s < g.to_s)), ''
			ORDER BY n.place) AS rows
		FROM named n CROSS JOIN given g),
	numbers AS (
		SELECT string_agg('<tr><th scope="row">' || _tiered_storage.report_name(n.name) || '</th>'
			|| x.cells || E'</tr>\n', '' ORDER BY n.place) AS rows
		FROM named n CROSS JOIN LATERAL (SELECT string_agg(format('<td class="n">%s</td>',
				CASE WHEN c.per_hour IS NULL THEN '0'
					ELSE _tiered_storage.report_digits(c.per_hour) END), '' ORDER BY p.part) AS cells
			FROM part p LEFT JOIN cell c ON c.part = p.part AND c.place = n.place) x)
	SELECT _tiered_storage.report_section('heat', 'Heat map', 'Blocks read and pages written per '
		'hour by the busiest relations, hottest first. The thin line beneath a row is the tier '
		'that the relation was on at that time; a diamond is a move.',
		CASE WHEN g.n_rows = 0 THEN _tiered_storage.report_empty(
			CASE WHEN facts ->> 'sampler' IS NULL THEN 'No sample was taken yet. The worker takes '
				'them, or <code>CALL tiered_storage.sample();</code>'
			ELSE 'No relation of this database was read or written in this period, as far as it '
				'was sampled.' END)
		ELSE _tiered_storage.report_figure('heat-map', 'Activity of the busiest relations over time',
			'One row for each relation, time from left to right; the darker or brighter a cell, '
			|| 'the more blocks per hour. The numbers are in the tables below.', 960,
			30 + g.high * (SELECT count(*) FROM line),
			COALESCE((SELECT a.ticks FROM axis a), '') || (SELECT d.rows FROM drawn d)
				|| COALESCE((SELECT u.bars FROM unknown u), ''),
			(SELECT _tiered_storage.report_legend(VARIADIC ARRAY['Blocks per hour from']
				|| s.entries || t.entries) FROM scale s CROSS JOIN tier_scale t))
		|| '<details><summary>The numbers of this picture</summary>'
		|| _tiered_storage.report_table('heat-table', 'The busiest relations in the period',
			'{Relation,Kind,Tier now,#Size,#Blocks read,#Pages written,#Blocks per hour,Moved}',
			(SELECT t.rows FROM totals t))
		|| _tiered_storage.report_table('heat-numbers', 'Blocks per hour over time, each column '
			|| 'from the time at its head on', ARRAY['Relation'] || (SELECT array_agg('#'
				|| to_char(p.at, 'DD Mon HH24:MI') ORDER BY p.part) FROM part p),
			(SELECT n.rows FROM numbers n))
		|| '</details>' END)
	FROM given g
$$;
COMMENT ON FUNCTION _tiered_storage.report_heat_map(jsonb) IS
'the section about the activity of relations over time';

/*
 * The best that each size of the tier makes possible is a stair; sizes far apart are drawn
 * on a logarithmic scale.
 */
CREATE FUNCTION _tiered_storage.report_budget(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH point AS MATERIALIZED (
		SELECT n, (p ->> 'capacity_bytes')::float8 AS capacity,
			(p ->> 'io_s_per_hour')::float8 + (p ->> 'queue_s_per_hour')::float8 AS io_s,
			(p ->> 'is_current')::boolean AS is_current, (p ->> 'is_knee')::boolean AS is_knee, p
		FROM jsonb_array_elements(COALESCE(NULLIF(facts #> '{curve,rows}', 'null'), '[]'))
			WITH ORDINALITY x (p, n)),
	range AS MATERIALIZED (
		SELECT min(p.capacity) FILTER (WHERE p.capacity > 0) AS least, max(p.capacity) AS most,
			NULLIF(max(p.io_s), 0) AS io_s, count(*) AS n,
			COALESCE(max(p.capacity) > 20 * min(p.capacity) FILTER (WHERE p.is_knee
				AND p.capacity > 0), false) AS is_log
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
			* (1 - t / r.io_s), 'tick end', _tiered_storage.report_digits(t)), '') AS ticks
		FROM range r CROSS JOIN _tiered_storage.report_ticks(r.io_s) t),
	horizontal AS (
		SELECT string_agg(format('<path class="grid" d="M%s 20v200"/>', round((90 + 840 * t.share)
			::numeric, 1)) || _tiered_storage.report_label(90 + 840 * t.share, 238, 'tick mid',
				_tiered_storage.report_words(t.bytes, 'bytes')), '') AS ticks
		FROM range r CROSS JOIN LATERAL (
			SELECT b AS bytes, b / r.most AS share FROM _tiered_storage.report_ticks(r.most) b
			WHERE NOT r.is_log
			UNION ALL
			SELECT power(10::float8, e), ln(power(10::float8, e) / r.least) / ln(r.most / r.least)
			FROM generate_series(ceil(log(r.least))::integer, floor(log(r.most))::integer) e
			WHERE r.is_log) t),
	marked AS (
		SELECT string_agg(CASE WHEN p.is_current THEN format('<path class="today" '
				|| 'd="M%s 14v206"/>', round(p.x::numeric, 1))
				|| _tiered_storage.report_label(p.x + CASE WHEN p.x > 700 THEN -6 ELSE 6 END, 26,
					CASE WHEN p.x > 700 THEN 'note end' ELSE 'note' END, 'today '
					|| _tiered_storage.report_words(p.capacity, 'bytes')) ELSE '' END
			|| CASE WHEN p.is_knee THEN format('<circle class="knee" cx="%s" cy="%s" r="6"/>',
				round(p.x::numeric, 1), round(p.y::numeric, 1))
				|| _tiered_storage.report_label(p.x + CASE WHEN p.x > 700 THEN -10 ELSE 10 END,
					p.y - 10, CASE WHEN p.x > 700 THEN 'note end' ELSE 'note' END, 'knee '
					|| _tiered_storage.report_words(p.capacity, 'bytes')) ELSE '' END, '') AS marks
		FROM placed p WHERE p.is_current OR p.is_knee)
	SELECT _tiered_storage.report_section('budget', 'How much of the fast tier pays off',
		'The device time that the best placement takes, for each size of '
		|| COALESCE('tier ' || _tiered_storage.report_name(facts #>> '{curve,tier_name}'),
			'the fastest tier') || '. Beyond the knee more of it brings little.',
		CASE WHEN r.n < 2 OR r.io_s IS NULL OR r.least IS NULL
		THEN _tiered_storage.report_empty(COALESCE(
			_tiered_storage.report_escape(facts #>> '{curve,why}'),
			'Nothing is known yet that takes device time.'))
		ELSE _tiered_storage.report_figure('size-curve', 'Device time by size of the tier',
			'A stair that goes down as the tier becomes larger; today''s size and the knee are '
			|| 'marked. The numbers are in the table below.', 960, 262,
			COALESCE((SELECT v.ticks FROM vertical v), '')
			|| COALESCE((SELECT h.ticks FROM horizontal h), '')
			|| (SELECT format('<path class="curve" d="%s"/>', s.path) FROM stair s)
			|| COALESCE((SELECT m.marks FROM marked m), '')
			|| _tiered_storage.report_label(90, 10, 'tick', 'device time, s/h')
			|| _tiered_storage.report_label(935, 256, 'tick end', 'size of the tier'
				|| CASE WHEN r.is_log THEN ', logarithmic' ELSE '' END))
		|| _tiered_storage.report_table('curve-table', 'Sizes of the tier and what they are worth',
			'{#Size,#Used,#Device time,#Queues,#Saved,#Price per month,#One more GB saves,Mark,
				Remark}',
			(SELECT string_agg(_tiered_storage.report_row(
				_tiered_storage.report_value(p.capacity, 'bytes'),
				_tiered_storage.report_value((p.p ->> 'used_bytes')::float8, 'bytes'),
				_tiered_storage.report_value((p.p ->> 'io_s_per_hour')::float8, 's/h'),
				_tiered_storage.report_value((p.p ->> 'queue_s_per_hour')::float8, 's/h'),
				_tiered_storage.report_value((p.p ->> 'saved_s_per_hour')::float8, 's/h'),
				_tiered_storage.report_value((p.p ->> 'price_per_month')::float8),
				_tiered_storage.report_value((p.p ->> 'next_gb_saves_per_hour')::float8, 's/h'),
				concat_ws(', ', CASE WHEN p.is_current THEN '<strong>today</strong>' END,
					CASE WHEN p.is_knee THEN '<strong>knee</strong>' END),
				'<span class="why">' || _tiered_storage.report_escape(p.p ->> 'reason')
					|| '</span>'), '' ORDER BY p.n) FROM point p))
		END)
	FROM range r
$$;
COMMENT ON FUNCTION _tiered_storage.report_budget(jsonb) IS
'the section about the size of the fastest tier';

CREATE FUNCTION _tiered_storage.report_recommendations(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT _tiered_storage.report_section('recommendations', 'Recommendations',
		'What should move, what saves most first; a negative saving makes room for others, or '
		|| 'saves money.',
		CASE WHEN jsonb_array_length(a.advice -> 'rows') = 0 THEN _tiered_storage.report_empty(
			COALESCE('The advice: ' || _tiered_storage.report_escape(a.advice #>> '{all,reason}')
			|| '.', 'Nothing is known that could be placed.'))
		ELSE _tiered_storage.report_table('recommendations-table', 'Recommended moves',
			'{Relation,Kind,From,To,#Size,#Device time saved,Confidence,Why,#Waits saved,
				#Price per month,#Takes,Statement}',
			(SELECT string_agg(_tiered_storage.report_row(
				_tiered_storage.report_name(r ->> 'relation'), r ->> 'kind',
				_tiered_storage.report_tier(facts -> 'tiers', r ->> 'current_tier'),
				_tiered_storage.report_tier(facts -> 'tiers', r ->> 'recommended_tier'),
				_tiered_storage.report_value((r ->> 'size_bytes')::float8, 'bytes'),
				_tiered_storage.report_value((r ->> 'saved_io_s_per_hour')::float8, 's/h'),
				r ->> 'confidence', '<span class="why">' || _tiered_storage.report_escape(
					r ->> 'reason') || '</span>',
				_tiered_storage.report_value((r ->> 'saved_wait_s_per_hour')::float8, 's/h'),
				_tiered_storage.report_value((r ->> 'price_delta_per_month')::float8),
				_tiered_storage.report_value((r ->> 'move_cost_s')::float8, 's'),
				'<code>' || _tiered_storage.report_escape(r ->> 'command') || '</code>'), ''
				ORDER BY n)
				FROM jsonb_array_elements(a.advice -> 'rows') WITH ORDINALITY x (r, n))
			|| CASE WHEN (a.advice ->> 'others')::float8 > 0 THEN _tiered_storage.report_row(
				_tiered_storage.report_value((a.advice ->> 'others')::float8) || ' others', NULL,
				NULL, NULL,
				_tiered_storage.report_value((a.advice ->> 'others_bytes')::float8, 'bytes'),
				_tiered_storage.report_value((a.advice ->> 'others_io_s')::float8, 's/h'), NULL,
				'all are in <code>recommend_placement()</code>',
				_tiered_storage.report_value((a.advice ->> 'others_wait_s')::float8, 's/h'),
				_tiered_storage.report_value((a.advice ->> 'others_price')::float8),
				_tiered_storage.report_value((a.advice ->> 'others_cost_s')::float8, 's'), NULL) ELSE '' END) END)
	FROM (SELECT facts -> 'advice' AS advice) a
$$;
COMMENT ON FUNCTION _tiered_storage.report_recommendations(jsonb) IS
'the section about recommended moves';

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
		'Each move at the time when it ended, as high as its longest lock was held; the line before '
		|| 'it is the time of its copy. The numbers are in the table below.', 960, 214,
		(SELECT string_agg(format('<path class="grid" d="M90 %s h850"/>', round((20 + 150
				* (r.high - e) / (r.high - r.low))::numeric, 1))
			|| _tiered_storage.report_label(82, 24 + 150 * (r.high - e) / (r.high - r.low),
				'tick end', _tiered_storage.report_words(power(10::float8, e), 'ms')), '')
			FROM range r CROSS JOIN generate_series(r.low::integer, r.high::integer) e)
		|| _tiered_storage.report_label(82, 188, 'tick end', 'no lock')
		|| '<path class="grid" d="M90 184h850"/>'
		|| COALESCE((SELECT string_agg(format('<path class="grid" d="M%s 20v170"/>', round((90 + 840
				* t.share)::numeric, 1))
			|| _tiered_storage.report_label(90 + 840 * t.share, 207, CASE WHEN t.share > 0.96
				THEN 'tick end' ELSE 'tick mid' END, t.label), '')
			FROM given g CROSS JOIN _tiered_storage.report_time_ticks(g.from_at, g.to_at) t), '')
		|| COALESCE((SELECT format('<path class="copy" d="%s"/>', string_agg(format('M%s %sH%s', p.x0,
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
	SELECT CASE WHEN r.n = 0 THEN _tiered_storage.report_empty(format('No move of this period has '
			|| 'a measured effect: %s wait for it (<code>effect_period</code> is %s), %s cannot be '
			|| 'measured.', _tiered_storage.report_value((facts #>> '{moves,unmeasured}')::float8),
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
					_tiered_storage.report_words(p.measured, 's/h')), '' ORDER BY p.n) FROM placed p)
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
				|| _tiered_storage.report_value((m.moves ->> 'done_bytes')::float8, 'bytes') || ')',
			_tiered_storage.report_value((m.moves ->> 'failed')::float8) || ' failed',
			_tiered_storage.report_value((m.moves ->> 'skipped')::float8) || ' skipped',
			_tiered_storage.report_value((m.moves ->> 'running')::float8) || ' running',
			_tiered_storage.report_value((m.moves ->> 'interrupted')::float8) || ' interrupted')
		|| '. The strong lock was held for '
		|| _tiered_storage.report_value((m.moves ->> 'median_lock_ms')::float8, 'ms')
		|| ' (median), at most '
		|| _tiered_storage.report_value((m.moves ->> 'longest_lock_ms')::float8, 'ms') || '.',
		CASE WHEN (m.moves ->> 'moves')::float8 = 0 THEN _tiered_storage.report_empty('No move ran in '
			|| 'this period. ' || COALESCE('Worker: ' || _tiered_storage.report_escape(
				facts #>> '{worker,reason}') || '.', ''))
		ELSE _tiered_storage.report_move_times(facts)
		|| _tiered_storage.report_table('moves-table', 'The last moves'
			|| CASE WHEN (m.moves ->> 'moves')::integer > jsonb_array_length(m.moves -> 'rows')
				THEN format(', %s of %s', jsonb_array_length(m.moves -> 'rows'),
					m.moves ->> 'moves') ELSE '' END,
			'{Relation,From,To,State,Began,#Size,#Took,#Lock held,#Lock waited for,#Predicted saving,
				#Measured saving,Asked for by,Why,Error}',
			(SELECT string_agg(_tiered_storage.report_row(
				_tiered_storage.report_name(r ->> 'relation'),
				_tiered_storage.report_tier(facts -> 'tiers', r ->> 'from_tier'),
				_tiered_storage.report_tier(facts -> 'tiers', r ->> 'to_tier'), r ->> 'state',
				_tiered_storage.report_time((r ->> 'started_at')::timestamptz),
				_tiered_storage.report_value((r ->> 'size_bytes')::float8, 'bytes'),
				_tiered_storage.report_value((r ->> 'elapsed_ms')::float8, 'ms'),
				_tiered_storage.report_value((r ->> 'lock_held_ms')::float8, 'ms'),
				_tiered_storage.report_value((r ->> 'lock_wait_ms')::float8, 'ms'),
				_tiered_storage.report_value((r ->> 'predicted_saved_io_s_per_hour')::float8, 's/h'),
				_tiered_storage.report_value((r ->> 'measured_saved_io_s_per_hour')::float8, 's/h'),
				_tiered_storage.report_name(r ->> 'requested_by'),
				'<span class="why">' || _tiered_storage.report_escape(r ->> 'reason') || '</span>',
				CASE WHEN r ->> 'error' IS NOT NULL THEN '<span class="why">'
					|| _tiered_storage.report_escape(left(r ->> 'error', 500)) || '</span>' END), ''
				ORDER BY n)
				FROM jsonb_array_elements(m.moves -> 'rows') WITH ORDINALITY x (r, n)))
		|| '<h3>Predicted against measured</h3>' || _tiered_storage.report_effects(facts) END)
	FROM (SELECT facts -> 'moves' AS moves) m
$$;
COMMENT ON FUNCTION _tiered_storage.report_moved(jsonb) IS
'the section about the moves of the period';

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
		SELECT b.place, b.label, c.n, b.amount, sum(b.amount) OVER (PARTITION BY b.place ORDER BY c.n)
			- b.amount AS starts, sum(b.amount) OVER (PARTITION BY b.place) AS total
		FROM class c CROSS JOIN LATERAL (VALUES (0, 'before', c.first_per_s),
			(1, 'this period', c.second_per_s)) b (place, label, amount)
		WHERE b.amount IS NOT NULL),
	range AS (SELECT NULLIF(max(b.total), 0) AS most FROM bar b)
	SELECT CASE WHEN r.most IS NULL THEN _tiered_storage.report_empty('What sessions waited for was '
			|| 'not sampled: that takes <code>shared_preload_libraries</code> and '
			|| '<code>wait_sample_interval</code>.')
		ELSE _tiered_storage.report_figure('waits', 'What sessions did: the two periods',
			'Two bars of the sessions that were active at once, by what they did or waited for. The '
			|| 'numbers are in the table below.', 960, 96,
			(SELECT string_agg(_tiered_storage.report_bar(110 + 740 * b.starts / r.most,
				12 + 42 * b.place, 740 * b.amount / r.most, 28, 'w' || b.n), '') FROM bar b)
			|| (SELECT string_agg(_tiered_storage.report_label(0, 31 + 42 * t.place, 'name', t.label)
				|| _tiered_storage.report_label(950, 31 + 42 * t.place, 'note end',
					_tiered_storage.report_digits(t.total) || ' active'), '')
				FROM (SELECT DISTINCT b.place, b.label, b.total FROM bar b) t),
			(SELECT _tiered_storage.report_legend(VARIADIC array_agg(format('w%s|%s', c.n, c.label)
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
		|| _tiered_storage.report_table('load-table', 'Load per second and per transaction; waits '
			|| 'per second are sessions active at once',
			'{Metric,Unit,#Per second before,#Per second now,Change,#Ratio,#Per transaction before,
				#Per transaction now}',
			(SELECT string_agg(_tiered_storage.report_row(
				replace(_tiered_storage.report_escape(r ->> 'metric'), '_', ' '), r ->> 'unit',
				_tiered_storage.report_value(v.first_per_s, v.unit),
				_tiered_storage.report_value(v.second_per_s, v.unit),
				'<svg class="pair" viewBox="0 0 100 14" aria-hidden="true">'
				|| _tiered_storage.report_bar(0, 1, 100 * v.first_per_s / v.most, 5, 'before')
				|| _tiered_storage.report_bar(0, 8, 100 * v.second_per_s / v.most, 5, 'now')
				|| '</svg>',
				_tiered_storage.report_value((r ->> 'per_second_ratio')::float8, '&times;'),
				_tiered_storage.report_value((r ->> 'first_per_transaction')::float8, v.unit),
				_tiered_storage.report_value((r ->> 'second_per_transaction')::float8, v.unit)), ''
				ORDER BY n)
				FROM jsonb_array_elements(l.load -> 'rows') WITH ORDINALITY x (r, n)
				CROSS JOIN LATERAL (SELECT COALESCE((r ->> 'first_per_s')::float8, 0) AS first_bar,
					(r ->> 'first_per_s')::float8 AS first_per_s,
					(r ->> 'second_per_s')::float8 AS second_per_s,
					NULLIF(GREATEST((r ->> 'first_per_s')::float8, (r ->> 'second_per_s')::float8),
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
		'Over the last sampled day: relations, WAL, temporary files, SLRUs and logs, and what their '
		|| 'sessions waited for.',
		CASE WHEN r.most IS NULL THEN _tiered_storage.report_empty('There are no two samples yet, or '
			|| 'nothing was read or written between them.')
		ELSE _tiered_storage.report_figure('file-classes', 'Bytes read and written by class of files',
			'Two bars for each class: bytes read and bytes written per hour. The numbers are in the '
			|| 'table below.', 960, 8 + 40 * r.n,
			(SELECT string_agg(_tiered_storage.report_label(0, 24 + 40 * (c.place - 1), 'name',
					c.file_class)
				|| _tiered_storage.report_bar(110, 8 + 40 * (c.place - 1), 700 * COALESCE(
					c.read_bytes, 0) / r.most, 12, 'read')
				|| _tiered_storage.report_bar(110, 22 + 40 * (c.place - 1), 700 * COALESCE(
					c.write_bytes, 0) / r.most, 12, 'written')
				|| _tiered_storage.report_label(950, 18 + 40 * (c.place - 1), 'note end',
					COALESCE(_tiered_storage.report_words(c.read_bytes, 'bytes/h'), 'not counted'))
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
		SELECT n, w, (w ->> 'is_total')::boolean AS is_total, w ->> 'tier_name' AS tier_name,
			s.entry AS s
		FROM jsonb_array_elements(facts -> 'writes') WITH ORDINALITY x (w, n)
		LEFT JOIN jsonb_array_elements(facts #> '{advice,tiers}') s (entry)
			ON s.entry ->> 'tier_name' = w ->> 'tier_name'),
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
		'What the permanent relations of this database write for each byte of a changed row, and how '
		|| 'that compares with what the devices endure.',
		CASE WHEN r.most IS NULL THEN _tiered_storage.report_empty(CASE
			WHEN facts #>> '{sampler,wal_since}' IS NULL THEN 'The WAL is not read '
				|| '(<code>wal_read_limit</code>), or no sample was taken yet.'
			ELSE 'Nothing was written.' END)
		ELSE _tiered_storage.report_figure('write-kinds', 'Bytes written per hour by tier and kind',
			'A bar for each tier, by what was written. The numbers are in the table below.', 960,
			8 + 40 * r.n,
			(SELECT string_agg(_tiered_storage.report_bar(110 + 700 * p.starts / r.most,
				8 + 40 * (d.place - 1), 700 * p.bytes / r.most, 26, p.class), '')
				FROM piece p JOIN (SELECT t.n, row_number() OVER (ORDER BY t.n) AS place FROM tier t
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
			'{Tier,#Rows changed,#Bytes of rows,#Pages,#Maintenance,#WAL,#of it page images,#Moves,
				#Amplification,#Written per day,#Endured per day,#of that}',
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
				_tiered_storage.report_value((t.w ->> 'amplification')::float8, '&times;'),
				_tiered_storage.report_value((t.s ->> 'written_bytes_per_day')::float8,
					'bytes/day'),
				_tiered_storage.report_value((t.s ->> 'endurance_bytes_per_day')::float8,
					'bytes/day'),
				_tiered_storage.report_value((t.s ->> 'written_bytes_per_day')::float8
					/ NULLIF((t.s ->> 'endurance_bytes_per_day')::float8, 0), '%')), ''
				ORDER BY t.n) FROM tier t))
		END)
	FROM range r
$$;
COMMENT ON FUNCTION _tiered_storage.report_written(jsonb) IS
'the section about write amplification and wear';

/* Each is a condition that is looked at, not an error that came. */
CREATE FUNCTION _tiered_storage.report_unknown(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH unknown AS (
		SELECT u.n, u.what, u.why, u.remedy
		FROM (SELECT facts -> 'sampler' AS sampler, (facts ->> 'load_since')::timestamptz AS since,
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
				'What was after ' || COALESCE(to_char((k.sampler ->> 'last_sample_at')::timestamptz,
					'YYYY-MM-DD HH24:MI'), ''), 'That was the last sample.', NULL),
			(5, (facts ->> 'now')::timestamptz - k.since < k.needed, 'Whether the load is typical',
				format('Observed for %s of %s (<code>observation_period</code>), so that no '
					|| 'recommendation is firm.', justify_interval(date_trunc('minute',
					(facts ->> 'now')::timestamptz - k.since)),
					_tiered_storage.report_escape(facts #>> '{settings,observation_period}')), NULL),
			(6, k.worker IS DISTINCT FROM 'running' AND k.reason IS NOT NULL,
				'What happens by itself', 'Worker: ' || _tiered_storage.report_escape(k.reason)
				|| '.', NULL),
			(7, k.worker IS NULL, 'What happens by itself', 'There is no worker: the library is not '
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
			(13, k.sampler ->> 'wal_since' IS NULL AND k.sampler <> 'null', 'What relations write',
				'The WAL is not read.', 'tiered_storage.wal_read_limit'),
			(14, (facts #>> '{moves,unmeasured}')::float8 > 0, format('What %s moves of the period '
				|| 'were worth', facts #>> '{moves,unmeasured}'), format('Measuring takes %s after a '
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
