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
	WITH answer AS MATERIALIZED (
		SELECT e.* FROM _tiered_storage.explain_placement(relation, tiers, overrides, horizon,
			objective, schemas, relations) e),
	/* From where it is to where it should be. */
	gains AS (
		SELECT q.query, q.random * (f.random_read_ms - t.random_read_ms) + q.sequential * 8.192
			* (1 / f.sequential_read_mb_per_s - 1 / t.sequential_read_mb_per_s) AS gain
		FROM answer now
		JOIN answer best ON best.is_recommended AND NOT best.is_current
		JOIN _tiered_storage.tiers f ON f.tier_name = now.tier_name
		JOIN _tiered_storage.tiers t ON t.tier_name = best.tier_name
		JOIN _tiered_storage.relation_queries() q
			ON q.relation_oid = explain_placement.relation::oid
		WHERE now.is_current ORDER BY gain DESC LIMIT 3)
	SELECT e.tier_name, CASE WHEN e.is_current THEN CASE WHEN e.is_recommended THEN 'stays'
			ELSE 'now' END WHEN e.is_recommended THEN 'recommended' END,
		_tiered_storage.short_seconds(e.random_read_s_per_hour),
		_tiered_storage.short_seconds(e.sequential_read_s_per_hour),
		_tiered_storage.short_seconds(e.write_s_per_hour),
		_tiered_storage.short_price(e.price_per_month),
		_tiered_storage.short_quantity(NULLIF(e.move_cost_s, 0), 60, ' s', ' min', ' h'),
		concat(_tiered_storage.wrap(e.reason, 24), CASE WHEN e.is_recommended THEN (
			SELECT E'\nqueries that gain most:\n' || string_agg(_tiered_storage.clip(g.query, 24),
				E'\n' ORDER BY g.gain DESC) FROM gains g WHERE g.gain > 0) END)
	FROM answer e
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

CREATE FUNCTION tiered_storage.tier_size_curve(
	tier name,
	points integer DEFAULT 21,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	OUT capacity_bytes bigint, OUT used text, OUT work text, OUT queues text, OUT saves text,
	OUT price text, OUT mark text, OUT reason text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT c.capacity_bytes, _tiered_storage.short_bytes(c.used_bytes),
		_tiered_storage.short_seconds(c.io_s_per_hour),
		_tiered_storage.short_seconds(c.queue_s_per_hour),
		_tiered_storage.short_seconds(c.saved_s_per_hour),
		_tiered_storage.short_price(c.price_per_month),
		CASE WHEN c.is_current THEN 'now' END,
		_tiered_storage.wrap(c.reason, 30)
	FROM _tiered_storage.tier_size_curve(tier, points, tiers, overrides, horizon, objective,
		schemas, relations) c
$$;
COMMENT ON FUNCTION tiered_storage.tier_size_curve IS
'sizes of a tier, each with its best placement and what that saves compared with now, which '
'mark tells; reason: limits that are exceeded; at most `points` rows';

CREATE FUNCTION tiered_storage.unused_relations(
	unused_for interval DEFAULT NULL,
	OUT relation regclass, OUT kind text, OUT size text, OUT unread_since date, OUT writes text,
	OUT move text, OUT saves text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT u.relation, u.kind, _tiered_storage.short_bytes(u.size_bytes), u.unread_since::date,
		_tiered_storage.short_quantity(u.page_writes_per_hour, 1000, '', 'k', 'M', 'G') || '/h',
		CASE WHEN u.cheapest_tier IS NOT NULL
			THEN _tiered_storage.from_to(u.tier_name::text, u.cheapest_tier::text) END,
		_tiered_storage.short_price(u.saved_price_per_month) || ' a month'
	FROM _tiered_storage.unused_relations(unused_for) u
$$;
COMMENT ON FUNCTION tiered_storage.unused_relations IS
'tables, materialized views and indexes that have not been read for unused_for (default: '
'tiered_storage.observation_period), and what the cheapest tier would save';

CREATE FUNCTION tiered_storage.recommend_partitioning(
	min_size_bytes bigint DEFAULT 1073741824, include_all boolean DEFAULT false,
	OUT relation regclass, OUT size text, OUT confidence text, OUT reason text, OUT command text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT p.relation, _tiered_storage.short_bytes(p.size_bytes), p.confidence,
		_tiered_storage.wrap(p.reason, 22), _tiered_storage.wrap(p.command, 43, true)
	FROM _tiered_storage.recommend_partitioning(min_size_bytes, include_all) p
$$;
COMMENT ON FUNCTION tiered_storage.recommend_partitioning IS
'large tables whose cached blocks lie together, with a partition key, an interval, and the '
'saving; include_all: also tables for which partitions bring nothing, and why';

CREATE FUNCTION tiered_storage.recommend_settings(
	include_all boolean DEFAULT false,
	OUT setting text, OUT tablespace_name text, OUT value text, OUT reason text, OUT command text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.setting, _tiered_storage.clip(s.tablespace_name::text, 15),
		_tiered_storage.wrap(_tiered_storage.now_and_then(s.current_value, s.recommended_value),
			12),
		_tiered_storage.wrap(concat_ws('; ', s.reason, s.effect,
			'takes effect after: ' || NULLIF(s.requires, 'nothing')), 24),
		_tiered_storage.wrap(s.command, 28, true)
	FROM _tiered_storage.recommend_settings(include_all) s
$$;
COMMENT ON FUNCTION tiered_storage.recommend_settings IS
'settings that do not fit the tiers and the load (now > then), with expected effects and '
'commands; include_all: also settings that stay; changes nothing';

CREATE FUNCTION tiered_storage.device_profiles(
	OUT profile text, OUT random_ms text, OUT mb_per_s text, OUT fsync_ms numeric,
	OUT parallel numeric, OUT price numeric, OUT dwpd numeric, OUT source text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT _tiered_storage.clip(p.profile, 24),
		concat_ws(' / ', _tiered_storage.significant(p.random_read_ms),
			_tiered_storage.significant(p.random_write_ms)),
		concat_ws(' / ', _tiered_storage.significant(p.sequential_read_mb_per_s),
			_tiered_storage.significant(p.sequential_write_mb_per_s)),
		_tiered_storage.significant(p.fsync_ms), _tiered_storage.significant(p.parallelism),
		_tiered_storage.significant(p.price_per_gb_month::float8),
		_tiered_storage.significant(p.endurance_dwpd),
		_tiered_storage.wrap(concat_ws('; ', CASE WHEN p.is_edited THEN 'edited' END,
			p.price_source,
			_tiered_storage.significant(p.price_per_million_reads) || ' per million reads'), 21)
	FROM _tiered_storage.device_profiles() p
$$;
COMMENT ON FUNCTION tiered_storage.device_profiles IS
'device profiles for add_tier() and simulate_placement(): time of a random read / write, '
'bandwidth of reads / writes, and prices, which are assumed until they are measured or given';

CREATE FUNCTION tiered_storage.estimate_compression(
	relation regclass, algorithm text DEFAULT NULL, include_indexes boolean DEFAULT true,
	OUT part regclass, OUT compressor text, OUT ratio numeric, OUT range text, OUT size text,
	OUT stored text, OUT sampled text, OUT reason text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 100000 ROWS 4 SET search_path = pg_catalog, pg_temp
AS $$
	SELECT e.part, e.compressor, _tiered_storage.significant(e.ratio),
		CASE WHEN e.ratio_low < e.ratio_high
			THEN concat(_tiered_storage.significant(e.ratio_low), ' to ',
				_tiered_storage.significant(e.ratio_high)) END,
		_tiered_storage.short_bytes(e.size_bytes), _tiered_storage.short_bytes(e.stored_bytes),
		_tiered_storage.percent(e.sampled_pieces, e.pieces), _tiered_storage.wrap(e.reason, 24)
	FROM _tiered_storage.estimate_compression(relation, algorithm, include_indexes) e
$$;
COMMENT ON FUNCTION tiered_storage.estimate_compression IS
'estimates how a file system would compress a relation, its TOAST table and its indexes, from a'
' sample of at most 64 MB of each; algorithm: zstd, lz4, zlib or lzo; null: all';

CREATE FUNCTION tiered_storage.orphaned_files(
	OUT path text, OUT size text, OUT written text, OUT tablespace_name name,
	OUT is_registered boolean)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT f.path, _tiered_storage.short_bytes(f.size_bytes),
		_tiered_storage.short_time(f.written_at), f.tablespace_name, f.is_registered
	FROM _tiered_storage.orphaned_files() f
$$;
COMMENT ON FUNCTION tiered_storage.orphaned_files IS
'files of this database that no relation uses and no open transaction can have created, such as'
' after a crash; the next move or worker cycle removes those that are registered';
