---------------------------------------------------------------------------
-- Recommendations: the tier of each relation, and what if.
---------------------------------------------------------------------------

/*
 * These functions have the same options, and so the same arguments, which SQL has to spell
 * out in each: tiers that may receive relations, figures of tiers to replace, the time in
 * which a move has to pay off, the objective (time, money), and which relations may move.
 */
CREATE FUNCTION tiered_storage.recommend_placement(
	include_unchanged boolean DEFAULT false,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	OUT relation regclass, OUT kind text, OUT current_tier name, OUT recommended_tier name,
	OUT size_bytes bigint, OUT saved_io_s_per_hour float8, OUT saved_wait_s_per_hour float8,
	OUT price_delta_per_month float8,
	OUT move_cost_s float8, OUT confidence text, OUT reason text, OUT command text,
	OUT firm_when text, OUT random_reads_per_hour float8, OUT sequential_reads_per_hour float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_recommend_placement';
COMMENT ON FUNCTION tiered_storage.recommend_placement IS
'recommended tier of each table, index and materialized view, with savings, confidence, reason '
'and command; include_unchanged: also relations that stay';

/*
 * The first clause of a reason of recommend_placement(), in lines of at most so many columns.
 *
 * What decides: what follows are the numbers of `saves` and what it depends on.
 */
CREATE FUNCTION _tiered_storage.short_reason(reason text, width integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT _tiered_storage.wrap(CASE WHEN length(b.line) > short_reason.width
		THEN regexp_replace(b.line, '^(.{10,}?), .*$', E'\\1') ELSE b.line END, short_reason.width)
	FROM regexp_replace(short_reason.reason,
			'(: (over |under )?[0-9,.]+ (s/h|cheaper)|, (over )?[0-9,.]+ s/h more|; ).*$',
			'') a (line),
		regexp_replace(replace(a.line, 'under ', '<'), '^.*: makes room (for|on) ',
			E'makes room \\1 ') b (line)
$$;

/*
 * A number with about two digits, or as an integer.
 *
 * Two digits are enough for a person, and all of a number of seconds.
 */
CREATE FUNCTION _tiered_storage.short_number(number float8) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
	CASE WHEN NOT abs(number) < 1e15
			THEN CASE WHEN number > 0 THEN '> 999999999999999' ELSE '< -999999999999999' END
		ELSE round(number::numeric, CASE WHEN abs(number) >= 9.95 OR number = 0 THEN 0
			WHEN abs(number) >= 0.095 THEN 1 ELSE 2 END)::text END;

/* Rows of tiered_storage.recommendations, and how to go on from there. */
CREATE FUNCTION _tiered_storage.short_recommendations(
	OUT relation regclass, OUT size text, OUT move text, OUT saves text, OUT confidence text,
	OUT firm_when text, OUT reason text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	r record;
	moves integer := 0;
	firm integer := 0;
	tentative integer := 0;
	width integer;
	what text;
BEGIN
	/* Tiers are clipped, or left out, and the reason is short, where names are long. */
	FOR r IN SELECT p.*, 81 - max(length(p.relation::text)) OVER w
				- GREATEST(max(length(p.confidence)) OVER w, 10)
				- GREATEST(max(length(p.firm_when)) OVER w, 9) AS room,
			max(length(p.current_tier) + length(p.recommended_tier)) OVER w + 3 AS move_width,
			m.query
		FROM tiered_storage.recommend_placement() p
		LEFT JOIN _tiered_storage.main_queries() m ON m.relation_oid = p.relation::oid
		WINDOW w AS ()
		ORDER BY p.saved_io_s_per_hour DESC, p.price_delta_per_month, p.relation
	LOOP
		relation := r.relation;
		size := _tiered_storage.short_bytes(r.size_bytes);
		move := CASE WHEN r.room - r.move_width >= 24
				THEN r.current_tier || ' > ' || r.recommended_tier
			WHEN r.room >= 39
				THEN _tiered_storage.from_to(r.current_tier::text, r.recommended_tier::text)
			ELSE '> ' || _tiered_storage.clip(r.recommended_tier::text, 12) END;
		saves := _tiered_storage.short_saving(r.saved_io_s_per_hour, -r.price_delta_per_month);
		confidence := r.confidence;
		firm_when := r.firm_when;
		width := GREATEST(r.room - CASE WHEN r.room - r.move_width >= 24 THEN r.move_width
			WHEN r.room >= 39 THEN 19 ELSE 14 END, 16);
		reason := concat(_tiered_storage.short_reason(r.reason, width), E'\n'
			|| _tiered_storage.wrap('mostly for query ' || _tiered_storage.clip(r.query, 60),
				width));
		moves := moves + 1;
		firm := firm + (r.confidence = 'firm')::integer;
		tentative := tentative + (r.confidence = 'tentative')::integer;
		RETURN NEXT;
	END LOOP;
	/* As tier_advice_moves_text(). */
	what := format('%s recommended: %s', moves || CASE moves WHEN 1 THEN ' move is'
			ELSE ' moves are' END,
		concat_ws(', ', NULLIF(firm, 0) || ' firm', NULLIF(tentative, 0) || ' tentative',
			NULLIF(moves - firm - tentative, 0) || ' provisional'));
	IF firm > 0 THEN
		RAISE NOTICE '%', what
			USING HINT = 'To preview the moves: CALL tiered_storage.apply_placement(dry_run '
				'=> true). For a command for each: SELECT relation, command FROM '
				'tiered_storage.recommend_placement().';
	ELSIF tentative > 0 THEN
		RAISE NOTICE '%', what
			USING HINT = 'To preview the moves: CALL tiered_storage.apply_placement('
				'confidence => ''tentative'', dry_run => true). For their conditions: SELECT '
				'relation, reason, command FROM tiered_storage.recommend_placement().';
	ELSIF moves > 0 THEN
		RAISE NOTICE '%', what
			USING HINT = 'Provisional recommendations are not applied: too little has been '
						 'observed. Retry in ten minutes.';
	END IF;
END
$$;

/* These three in full; those of tiered_storage are their short forms. */
CREATE FUNCTION _tiered_storage.explain_placement(
	relation regclass,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	OUT tier_name name, OUT is_current boolean, OUT is_recommended boolean,
	OUT io_s_per_hour float8, OUT random_read_s_per_hour float8,
	OUT sequential_read_s_per_hour float8, OUT write_s_per_hour float8,
	OUT price_per_month float8, OUT move_cost_s float8,
	OUT available_bytes bigint, OUT fits boolean, OUT reason text,
	OUT wait_s_per_hour float8, OUT written_bytes_per_day float8, OUT stored_bytes bigint,
	OUT random_reads_per_hour float8, OUT sequential_reads_per_hour float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_explain_placement';

CREATE FUNCTION _tiered_storage.placement_summary(
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	OUT tier_name name, OUT relations integer, OUT advised_relations integer,
	OUT used_bytes bigint, OUT advised_bytes bigint, OUT available_bytes bigint,
	OUT io_s_per_hour float8, OUT advised_io_s_per_hour float8,
	OUT busy_fraction float8, OUT advised_busy_fraction float8,
	OUT queue_s_per_hour float8, OUT wait_s_per_hour float8, OUT advised_wait_s_per_hour float8,
	OUT price_per_month float8, OUT advised_price_per_month float8,
	OUT written_bytes_per_day float8, OUT endurance_bytes_per_day float8, OUT limited_by text,
	OUT missing_bytes bigint, OUT growth_bytes_per_day float8,
	OUT days_until_reserve float8, OUT days_until_full float8,
	OUT reason text, OUT device_wait_fraction float8,
	OUT advised_saved_wait_s_per_hour_low float8, OUT advised_saved_wait_s_per_hour_high float8,
	OUT advised_speedup_low float8, OUT advised_speedup_high float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_placement_summary';

CREATE FUNCTION _tiered_storage.simulate_placement(
	changes jsonb DEFAULT '{}',
	load_factor float8 DEFAULT 1,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	OUT tier_name name, OUT used_bytes bigint, OUT advised_bytes bigint,
	OUT simulated_bytes bigint,
	OUT available_bytes bigint, OUT simulated_available_bytes bigint,
	OUT io_s_per_hour float8, OUT advised_io_s_per_hour float8, OUT simulated_io_s_per_hour float8,
	OUT advised_busy_fraction float8, OUT simulated_busy_fraction float8,
	OUT price_per_month float8, OUT advised_price_per_month float8,
	OUT simulated_price_per_month float8,
	OUT limited_by text, OUT reason text, OUT device_wait_fraction float8,
	OUT simulated_saved_wait_s_per_hour_low float8,
	OUT simulated_saved_wait_s_per_hour_high float8,
	OUT simulated_speedup_low float8, OUT simulated_speedup_high float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_simulate_placement';

CREATE FUNCTION _tiered_storage.tier_size_curve(
	tier name,
	points integer DEFAULT 21,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	OUT capacity_bytes bigint, OUT used_bytes bigint, OUT io_s_per_hour float8,
	OUT queue_s_per_hour float8,
	OUT saved_s_per_hour float8, OUT price_per_month float8, OUT is_current boolean,
	OUT reason text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_size_curve';
CREATE FUNCTION _tiered_storage.unused_relations(
	unused_for interval DEFAULT NULL,
	OUT relation regclass, OUT kind text, OUT tier_name name, OUT unread_since timestamptz,
	OUT size_bytes bigint, OUT page_writes_per_hour float8, OUT cheapest_tier name,
	OUT saved_price_per_month float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_unused_relations';
