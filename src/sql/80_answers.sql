---------------------------------------------------------------------------
-- The answers that people read: functions of _tiered_storage with all their numbers, in the width
-- of a terminal.
---------------------------------------------------------------------------

/* A figure now and then: "12 s/h > 3.0 s/h"; once, if both are the same. */
CREATE FUNCTION _tiered_storage.now_and_then(now_is text, then_is text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
	CASE WHEN now_is <> then_is THEN concat(now_is, ' > ', then_is)
		ELSE COALESCE(now_is, then_is) END;

/* Money in short. */
CREATE FUNCTION _tiered_storage.short_price(price float8) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _tiered_storage.short_quantity(price, 1000, '', 'k', 'M', 'G');

CREATE FUNCTION tiered_storage.explain_placement(
	relation regclass,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	OUT tier_name name, OUT place text, OUT random text, OUT scans text, OUT writes text,
	OUT price text, OUT move text, OUT reason text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT e.tier_name, CASE WHEN e.is_current THEN CASE WHEN e.is_recommended THEN 'stays'
			ELSE 'now' END WHEN e.is_recommended THEN 'recommended' END,
		_tiered_storage.short_seconds(e.random_read_s_per_hour),
		_tiered_storage.short_seconds(e.sequential_read_s_per_hour),
		_tiered_storage.short_seconds(e.write_s_per_hour),
		_tiered_storage.short_price(e.price_per_month),
		_tiered_storage.short_quantity(NULLIF(e.move_cost_s, 0), 60, ' s', ' min', ' h'),
		_tiered_storage.wrap(e.reason, 24)
	FROM _tiered_storage.explain_placement(relation, tiers, overrides, horizon, objective, schemas,
		relations) e
$$;
COMMENT ON FUNCTION tiered_storage.explain_placement IS
'costs of a relation on each tier: device time per hour, price per month, device time of the '
'move there, and the reason for the recommendation';

CREATE FUNCTION tiered_storage.placement_summary(
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	OUT tier_name name, OUT used text, OUT room text, OUT work text, OUT price text,
	OUT reason text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT p.tier_name, _tiered_storage.now_and_then(_tiered_storage.short_bytes(p.used_bytes),
			_tiered_storage.short_bytes(p.advised_bytes)),
		_tiered_storage.short_bytes(p.available_bytes),
		_tiered_storage.now_and_then(_tiered_storage.short_seconds(p.io_s_per_hour),
			_tiered_storage.short_seconds(p.advised_io_s_per_hour)),
		_tiered_storage.now_and_then(_tiered_storage.short_price(p.price_per_month),
			_tiered_storage.short_price(p.advised_price_per_month)),
		_tiered_storage.wrap(concat_ws('; ', 'limited by ' || p.limited_by, p.reason,
			'full in ' || _tiered_storage.short_number(p.days_until_full) || ' days'), 26)
	FROM _tiered_storage.placement_summary(tiers, overrides, horizon, objective, schemas,
		relations) p
$$;
COMMENT ON FUNCTION tiered_storage.placement_summary IS
'each tier now and after the recommended moves (now > then), and a total, whose tier_name is '
'null';

CREATE FUNCTION tiered_storage.simulate_placement(
	changes jsonb DEFAULT '{}',
	load_factor float8 DEFAULT 1,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	OUT tier_name name, OUT used text, OUT room text, OUT work text, OUT price text,
	OUT reason text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.tier_name, _tiered_storage.now_and_then(_tiered_storage.short_bytes(s.advised_bytes),
			_tiered_storage.short_bytes(s.simulated_bytes)),
		_tiered_storage.now_and_then(_tiered_storage.short_bytes(s.available_bytes),
			_tiered_storage.short_bytes(s.simulated_available_bytes)),
		_tiered_storage.now_and_then(_tiered_storage.short_seconds(s.advised_io_s_per_hour),
			_tiered_storage.short_seconds(s.simulated_io_s_per_hour)),
		_tiered_storage.now_and_then(_tiered_storage.short_price(s.advised_price_per_month),
			_tiered_storage.short_price(s.simulated_price_per_month)),
		_tiered_storage.wrap(concat_ws('; ', 'limited by ' || s.limited_by, s.reason, concat(
			'clients ', round(s.simulated_speedup_low::numeric, 2), ' to ')
			|| round(s.simulated_speedup_high::numeric, 2) || ' times as fast'), 17)
	FROM _tiered_storage.simulate_placement(changes, load_factor, tiers, overrides, horizon,
		objective, schemas, relations) s
$$;
COMMENT ON FUNCTION tiered_storage.simulate_placement IS
'placement with other tiers (changes, such as {"ssd": {"capacity_bytes": 200000000000}}) or '
'another load (load_factor) beside the recommended one (now > then): one row per tier, and a '
'total, whose tier_name is null';

CREATE FUNCTION tiered_storage.evaluate_policies(
	OUT policy_id integer, OUT relation regclass, OUT verdict text, OUT ends text, OUT size text,
	OUT reason text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT e.policy_id, e.relation, e.verdict, to_char(e.upper_bound, 'YYYY-MM-DD'),
		_tiered_storage.short_bytes(e.size_bytes), _tiered_storage.wrap(e.reason, 31)
	FROM _tiered_storage.evaluate_policies() e
$$;
COMMENT ON FUNCTION tiered_storage.evaluate_policies IS
'present verdict of each policy, also of disabled ones, per partition or relation, with the '
'reason; changes nothing';
