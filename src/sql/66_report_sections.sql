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

/*
 * What the recommendations are worth: what can be said of it, in the order in which people ask.
 * Where nothing of it could be told from nothing, they are there to make room.
 */
CREATE FUNCTION _tiered_storage.report_gain(total jsonb) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	here_s float8 := (total ->> 'io_s_per_hour')::float8;
	saved_s float8 := here_s - (total ->> 'advised_io_s_per_hour')::float8;
	price_delta float8 := (total ->> 'advised_price_per_month')::float8
		- (total ->> 'price_per_month')::float8;
	speedup_low float8 := (total ->> 'advised_speedup_low')::float8;
	speedup_high float8 := (total ->> 'advised_speedup_high')::float8;
	gains text[] := '{}';
BEGIN
	IF abs(saved_s) >= 0.0005 THEN
		gains := ARRAY[format(CASE WHEN saved_s > 0
				THEN 'saves %s of the %s of device time per hour (%s)'
				ELSE 'takes %s of device time per hour more than the %s of now (%s)' END,
			_tiered_storage.report_value(abs(saved_s), 's'),
			_tiered_storage.report_value(here_s, 's'),
			_tiered_storage.report_value(abs(saved_s) / NULLIF(here_s, 0), '%'))];
	END IF;
	IF abs(price_delta) >= 0.005 THEN
		gains := gains || format('costs %s %s a month',
			_tiered_storage.report_value(abs(price_delta)),
			CASE WHEN price_delta < 0 THEN 'less' ELSE 'more' END);
	END IF;
	IF speedup_low >= 1.005 OR speedup_high >= 1.005 THEN
		gains := gains || format('lets clients get %s times as much done', concat_ws(' to ',
			_tiered_storage.report_value(speedup_low), CASE WHEN speedup_high
				IS DISTINCT FROM speedup_low THEN _tiered_storage.report_value(speedup_high) END));
	END IF;
	IF cardinality(gains) = 0 OR saved_s < 0.0005 AND COALESCE(price_delta, 0) > -0.005 THEN
		gains := array_prepend('makes room where a tier is too full', gains);
	END IF;
	RETURN 'That ' || CASE cardinality(gains) WHEN 1 THEN gains[1]
		WHEN 2 THEN gains[1] || ' and ' || gains[2]
		ELSE array_to_string(gains[:cardinality(gains) - 1], ', ') || ', and '
			|| gains[cardinality(gains)] END || '.';
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_gain(jsonb) IS
'the sentence about what the recommendations are worth';

/*
 * What to do, what that saves, what comes: a sentence each.  What nobody can act on now (too
 * little is known, moves are paused, this is a standby) is said before anything is asked for.
 */
CREATE FUNCTION _tiered_storage.report_answer(facts jsonb) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	advice jsonb := facts -> 'advice';
	total jsonb := facts -> 'advice' -> 'all';
	moved jsonb := facts -> 'moves';
	advised float8 := (facts -> 'advice' ->> 'moves')::float8;
	firm float8 := (facts -> 'advice' ->> 'firm')::float8;
	tentative float8 := (facts -> 'advice' ->> 'tentative')::float8;
	here_s float8 := (total ->> 'io_s_per_hour')::float8;
	saved_s float8 := here_s - (total ->> 'advised_io_s_per_hour')::float8;
	price float8 := (total ->> 'price_per_month')::float8;
	price_delta float8 := (total ->> 'advised_price_per_month')::float8 - price;
	is_standby boolean := (facts ->> 'standby')::boolean;
	is_sampled boolean := NULLIF(facts -> 'sampler', 'null') IS NOT NULL;
	failed float8 := (facts -> 'moves' ->> 'failed')::float8;
	usable bigint := (SELECT count(*) FROM jsonb_array_elements(facts -> 'tiers') t
		WHERE NULLIF(t -> 'tablespaces', 'null') IS NOT NULL);
	confidence text := '';
	/* A headline that is too long ends in dots. */
	reason text := regexp_replace(regexp_replace(total ->> 'reason', '^no move(; |$)', ''),
		'[;,]? *[.]{3}$', '; others for other reasons');
	sentences text[];
	coming text;
	command text;
BEGIN
	SELECT string_agg(_tiered_storage.report_value(c.n) || ' ' || c.label, ', ') INTO confidence
		FROM (VALUES (firm, 'firm'), (tentative, 'tentative'),
			((advice ->> 'insufficient')::float8, 'on too little data')) c (n, label)
		WHERE c.n > 0;
	IF jsonb_array_length(facts -> 'tiers') = 0 THEN
		sentences := ARRAY['Define tiers first: none is, so that nothing can be advised.',
			'<code>SELECT * FROM tiered_storage.discover_tiers()</code> looks what devices there '
			'are, <code>add_tier()</code> says what it cannot see.'];
	ELSIF NOT is_sampled THEN
		sentences := ARRAY['Nothing is known yet of what relations cost: no sample was taken.',
			CASE WHEN is_standby THEN 'Samples are taken on the primary.' ELSE
			'The worker takes them, or <code>CALL tiered_storage.sample();</code> by a timer.'
			END];
	ELSIF advised > 0 THEN
		sentences := ARRAY[format(CASE WHEN firm + tentative > 0 THEN 'Move %s, %s together: %s.'
				ELSE 'Wait: %s, %s together, would be better elsewhere, but too little has been '
					'observed yet to be sure of it.' END,
			_tiered_storage.report_count(advised, 'relation', 'relations'),
			_tiered_storage.report_value((advice ->> 'size_bytes')::float8, 'bytes'), confidence),
			CASE WHEN firm + tentative > 0 THEN _tiered_storage.report_gain(total) END];
	ELSIF usable < 2 THEN
		sentences := ARRAY[format('Nothing can be moved: %s.', CASE usable WHEN 1
			THEN format('%s is the only tier with a tablespace', _tiered_storage.report_name((
				SELECT t ->> 'tier_name' FROM jsonb_array_elements(facts -> 'tiers') t
				WHERE NULLIF(t -> 'tablespaces', 'null') IS NOT NULL)))
			ELSE 'no tier has a tablespace' END),
			'Create a tablespace on another kind of storage, and <code>add_tier()</code> makes it '
			'a tier.'];
	ELSE
		sentences := ARRAY[
			format('Nothing is to be moved now%s.', COALESCE(': '
				|| _tiered_storage.report_escape(NULLIF(reason, '')), '')),
			format(CASE WHEN here_s >= 0.0005 THEN '%s take %s of device time per hour and %s a '
					'month where they are.'
				ELSE '%1$s cost next to no device time, and %3$s a month where they are.' END,
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
	IF coming IS NOT NULL THEN
		sentences := sentences || coming;
	ELSIF jsonb_array_length(facts -> 'tiers') > 0 AND is_sampled THEN
		sentences := sentences || 'No tier is foreseen to fill up within a year.'::text;
	END IF;
	IF (facts ->> 'paused')::boolean THEN
		sentences := sentences || ('Moves are paused on this server; <code>SELECT '
			'tiered_storage.resume();</code> ends that.')::text;
	END IF;
	IF failed > 0 THEN
		sentences := sentences || format(
			'%s of this period failed: see <a href="#moves">moves</a>.',
			_tiered_storage.report_count(failed, 'move', 'moves'));
	END IF;
	command := CASE
		WHEN advised > 0 AND firm + tentative = 0 THEN 'What is known of each so far: '
			'<code>SELECT * FROM tiered_storage.recommend_placement();</code>'
		WHEN firm > 0 THEN 'What is firm, in the right order: <code>CALL '
			'tiered_storage.apply_placement();</code>'
		WHEN tentative > 0 THEN 'Nothing of it is firm yet. A dry run: <code>CALL '
			'tiered_storage.apply_placement(''tentative'', dry_run =&gt; true);</code>' END;
	RETURN _tiered_storage.report_section('answer', 'What to do', NULL,
		'<p class="answer">' || array_to_string(sentences, ' ') || E'</p>\n'
		|| COALESCE('<p class="do">' || CASE WHEN is_standby AND firm + tentative > 0
			THEN 'On the primary, since this is a standby. ' ELSE '' END || command || E'</p>\n',
			'')
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
			concat_ws(', ', _tiered_storage.report_value(failed) || ' failed', 'longest lock '
				|| _tiered_storage.report_value((moved ->> 'longest_lock_ms')::float8, 'ms'))
				|| CASE WHEN (facts ->> 'to')::timestamptz - (facts ->> 'from')::timestamptz
					> interval '24 hours'
					THEN '; last 24 h: '
						|| _tiered_storage.report_value((moved ->> 'day_done')::float8)
						|| ' done (' || _tiered_storage.report_value(
							(moved ->> 'day_done_bytes')::float8, 'bytes') || '), '
						|| _tiered_storage.report_value((moved ->> 'day_failed')::float8)
						|| ' failed' ELSE '' END)
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
			|| '<p class="big">%s</p><p>%s</p>', class,
			_tiered_storage.report_name(tier ->> 'tier_name'),
			CASE WHEN v.used IS NULL THEN '<small>capacity not known</small>'
				ELSE _tiered_storage.report_value(v.used, '%') || '<small> used</small>' END,
			CASE WHEN v.is_given THEN format('%s of %s by this database; %s used of the %s of its '
					'file systems',
				_tiered_storage.report_value(v.relation_bytes, 'bytes'),
				_tiered_storage.report_value(v.capacity, 'bytes'),
				_tiered_storage.report_value(v.used_bytes, 'bytes'),
				_tiered_storage.report_value(v.disk_bytes, 'bytes'))
			ELSE format(CASE WHEN v.relation_bytes > v.used_bytes
					THEN '%s used of %s, although the relations of this database are %s: they are '
						'compressed, or have holes'
					ELSE '%s used of %s, %s of it by this database' END,
				_tiered_storage.report_value(v.used_bytes, 'bytes'),
				_tiered_storage.report_value(v.capacity, 'bytes'),
				_tiered_storage.report_value(v.relation_bytes, 'bytes')) END)
		|| CASE WHEN v.used IS NULL THEN '' ELSE format(
			'<svg class="gauge" role="img" aria-labelledby="gauge%1$s-title gauge%1$s-desc" '
			|| 'viewBox="0 0 1000 44" preserveAspectRatio="none"><title id="gauge%1$s-title">How '
			|| 'full tier %2$s is</title><desc id="gauge%1$s-desc">%3$s used, low watermark '
				'%4$s, high '
			|| 'watermark %5$s, %6$s kept in reserve</desc>'
			|| '<rect class="track" y="6" width="1000" height="28"/>'
			|| '<rect class="reserve" x="%7$s" y="6" width="%8$s" height="28"/>'
			|| '<rect class="others" y="6" width="%9$s" height="28"/>'
			|| '<rect class="%10$s" y="6" width="%11$s" height="28"/>'
			|| '<path class="mark" d="M%12$s 0v40M%13$s 0v40"/></svg>', place,
			_tiered_storage.report_escape(tier ->> 'tier_name'),
			_tiered_storage.report_words(v.used, '%'), _tiered_storage.report_words(v.low, '%'),
			_tiered_storage.report_words(v.high, '%'), _tiered_storage.report_words(v.reserve,
				'%'),
			round((1000 * (1 - v.reserve))::numeric), round((1000 * v.reserve)::numeric),
			round((1000 * LEAST(1, v.used))::numeric), class,
			round((1000 * LEAST(1, v.used, v.relation_bytes / v.capacity))::numeric),
			round((1000 * v.low)::numeric), round((1000 * v.high)::numeric)) END
		|| format('<p class="fine">Marks: %s low, %s high; reserve %s. %s</p>%s</div>' || E'\n',
			_tiered_storage.report_value(v.low, '%'), _tiered_storage.report_value(v.high, '%'),
			_tiered_storage.report_value(v.reserve, '%'),
			CASE WHEN v.days <= 0 THEN '<strong>No room is left.</strong>'
				WHEN v.days <= 3650 THEN format('<strong>Full in %s</strong>, growing %s.',
				_tiered_storage.report_value(v.days, 'days'),
				_tiered_storage.report_value(v.growth, 'bytes/day'))
			ELSE 'Not foreseen to fill up.' END,
			COALESCE('<p class="remark">' || _tiered_storage.report_name(tier ->> 'tier_name')
				|| ' ' || _tiered_storage.report_escape(NULLIF(summary ->> 'reason', ''))
				|| '.</p>', ''))
	FROM (SELECT CASE WHEN b.capacity < 0.99 * b.disk_bytes
			THEN GREATEST(b.relation_bytes / NULLIF(b.capacity, 0), b.used_bytes / b.disk_bytes)
			ELSE b.used_bytes / NULLIF(b.capacity, 0) END AS used, b.used_bytes, b.capacity,
		b.relation_bytes, b.disk_bytes,
		COALESCE(b.capacity < 0.99 * b.disk_bytes, false) AS is_given,
		(tier ->> 'low_watermark')::float8 AS low, (tier ->> 'high_watermark')::float8 AS high,
		(tier ->> 'reserve_fraction')::float8 AS reserve,
		(summary ->> 'days_until_full')::float8 AS days,
		(summary ->> 'growth_bytes_per_day')::float8 AS growth
		/* A capacity that was given may be less than the file systems have. */
		FROM (SELECT (tier ->> 'used_bytes')::float8 AS used_bytes,
			(tier ->> 'capacity_bytes')::float8 AS capacity,
			(tier ->> 'relation_bytes')::float8 AS relation_bytes,
			(tier ->> 'used_bytes')::float8 + (tier ->> 'free_bytes')::float8 AS disk_bytes) b) v
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
		'What there is to store on, how full it is, and when it will be full if nothing is '
			'moved.',
		CASE WHEN jsonb_array_length(facts -> 'tiers') = 0
		THEN _tiered_storage.report_empty('No tier is defined in this database.')
		ELSE (SELECT '<div class="cards">' || string_agg(_tiered_storage.report_tier_gauge(x.t,
			x.s,
				x.class, x.n), '' ORDER BY x.n) || '</div>' FROM tier x)
		|| _tiered_storage.report_legend('others|used by others, or not by relations',
			'track|free', 'reserve|reserve', 'mark|low and high watermark')
		|| (SELECT _tiered_storage.report_table('tiers-table',
			'Tiers: space, growth and price now',
			'{Tier,#Relations,#Relations'' bytes,#Used,#Free,#Capacity,#Reserve,#Low mark,#High '
				'mark,
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
				_tiered_storage.report_value((x.s ->> 'growth_bytes_per_day')::float8,
					'bytes/day'),
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
