---------------------------------------------------------------------------
-- Which tables should be partitioned, and how.
---------------------------------------------------------------------------

/* The shortest run of parts of a relation, from 1, that has nine tenths of its cached blocks. */
CREATE FUNCTION _tiered_storage.hot_range(
	relation regclass,
	OUT cached_blocks bigint, OUT parts integer, OUT first_part integer, OUT last_part integer)
RETURNS record LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
	WITH h AS MATERIALIZED (SELECT bucket, cached_buffers, sum(cached_buffers) OVER () AS total,
		sum(cached_buffers) OVER (ORDER BY bucket) AS up_to
		FROM tiered_storage.block_heat(relation, 100))
	SELECT t.total, t.parts, r.first_part, r.last_part
	FROM (SELECT max(h.total)::bigint AS total, count(*)::integer AS parts FROM h) t
	LEFT JOIN LATERAL (SELECT a.bucket AS first_part, b.bucket AS last_part
		FROM h a JOIN h b ON b.bucket >= a.bucket
		WHERE t.total > 0 AND b.up_to - a.up_to + a.cached_buffers >= ceil(0.9 * t.total)
		ORDER BY b.bucket - a.bucket, b.bucket LIMIT 1) r ON true
$$;

/*
 * An interval that makes ten partitions or a few more: natural for times, round for numbers;
 * null: the range of values is too small.
 */
CREATE FUNCTION _tiered_storage.partition_interval(
	column_type oid, lowest text, highest text,
	OUT step text, OUT partitions integer)
RETURNS record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	span numeric;
	power numeric;
BEGIN
	IF column_type IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN
		span := highest::numeric - lowest::numeric;
		IF span < 100 THEN
			RETURN;
		END IF;
		power := 10::numeric ^ (trunc(log(span)) - 1);
		SELECT trim_scale(x.step)::text, ceil(span / x.step) INTO step, partitions
			FROM (SELECT power * m AS step FROM unnest('{1, 2, 5, 10}'::integer[]) m) x
			WHERE span / x.step >= 10 ORDER BY x.step DESC LIMIT 1;
	ELSIF column_type IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) THEN
		/* As numbers: not all days are times, nor all differences of times intervals. */
		EXECUTE format('SELECT EXTRACT(epoch FROM $1::%1$s) - EXTRACT(epoch FROM $2::%1$s)',
			column_type::regtype) INTO span USING highest, lowest;
		SELECT u.step, ceil(span / u.seconds) INTO step, partitions
			FROM (VALUES ('1 year', 31556952), ('3 months', 7889238), ('1 month', 2629746),
				('1 week', 604800), ('1 day', 86400), ('1 hour', 3600)) u (step, seconds)
			WHERE span < 'Infinity' AND span / u.seconds >= 10
				AND (column_type <> 'date'::regtype OR u.seconds >= 86400)
			ORDER BY u.seconds DESC LIMIT 1;
	END IF;
END
$$;

/*
 * The column that follows the order of a table's blocks best, times before numbers, by the
 * statistics that the caller may see, and its lowest and highest value; no row: there is none.
 */
CREATE FUNCTION _tiered_storage.partition_key(
	relation regclass,
	OUT attname name, OUT atttypid oid, OUT correlation float8, OUT lowest text, OUT highest text)
RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT a.attname, a.atttypid, p.correlation, h.bounds[1], h.bounds[cardinality(h.bounds)]
		FROM _tiered_storage.relation_entry(relation) c
		JOIN pg_attribute a ON a.attrelid = c.oid
		JOIN pg_stats p ON p.schemaname = c.nspname AND p.tablename = c.relname
			AND p.attname = a.attname AND NOT p.inherited AND p.null_frac <= 0.01
			AND abs(p.correlation) >= 0.9 AND p.histogram_bounds IS NOT NULL
		CROSS JOIN LATERAL (SELECT p.histogram_bounds::text::text[]) h (bounds)
		WHERE a.atttypid = ANY ('{date,timestamp,timestamptz,int2,int4,int8}'::regtype[])
		ORDER BY a.atttypid = ANY ('{int2,int4,int8}'::regtype[]), abs(p.correlation) DESC,
			a.attnum LIMIT 1
$$;

/*
 * The row of recommend_partitioning() for one table; incomplete unless include_all is set or
 * partitioning is recommended.
 */
CREATE FUNCTION _tiered_storage.partition_advice(
	t _tiered_storage.heat, include_all boolean,
	OUT hot_fraction float8, OUT key_column name, OUT key_correlation float8,
	OUT partition_interval text, OUT partitions integer, OUT cold_bytes bigint,
	OUT cold_tier name, OUT saved_per_month float8,
	OUT confidence text, OUT reason text, OUT command text)
RETURNS record LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	hot record;
	key record;
	obstacles text;
BEGIN
	SELECT * INTO hot FROM _tiered_storage.hot_range(t.relation);
	confidence := 'provisional';
	-- 1. Is the heat in one place?  What is cached is not what whole scans read from the device.
	IF t.sequential_reads_per_hour * current_setting('block_size')::bigint >= t.size_bytes THEN
		reason := 'scans read as much as all of it each hour';
	ELSIF hot.first_part IS NULL OR hot.cached_blocks < LEAST(100,
		t.size_bytes / current_setting('block_size')::bigint / 100 + 1) THEN
		reason := format('only %s of its blocks are in shared buffers, too few to know which '
						 'are used', COALESCE(hot.cached_blocks, 0));
	ELSE
		hot_fraction := (hot.last_part - hot.first_part + 1)::float8 / hot.parts;
		IF hot_fraction > 0.3 THEN
			reason := format('its heat is spread: nine tenths of its cached blocks take %s %% of '
				'it', round((hot_fraction * 100)::numeric));
		END IF;
	END IF;
	IF reason IS NOT NULL AND include_all IS NOT TRUE THEN
		RETURN;
	END IF;
	-- 2. Which column follows the order of the blocks?
	SELECT * INTO key FROM _tiered_storage.partition_key(t.relation);
	key_column := key.attname;
	key_correlation := key.correlation;
	IF key_column IS NOT NULL THEN
		SELECT p.step, p.partitions INTO partition_interval, partitions
			FROM _tiered_storage.partition_interval(key.atttypid, key.lowest, key.highest) p;
	END IF;
	reason := COALESCE(reason, CASE
		WHEN partition_interval IS NOT NULL THEN NULL
		WHEN key_column IS NOT NULL
		THEN format('the values of %I span too little for partitions', key_column)
		WHEN NOT EXISTS (SELECT FROM _tiered_storage.relation_entry(t.relation) c
			JOIN pg_stats p ON p.schemaname = c.nspname AND p.tablename = c.relname)
		THEN 'it was never analyzed, or its statistics are not visible to you'
		ELSE format('nine tenths of its cached blocks take %s %% of it, but no date, timestamp or '
			'integer column with more than a few values follows the order of its blocks '
			'(correlation of at least 0.9, at most 1 %% null)',
			round((hot_fraction * 100)::numeric)) END);
	IF reason IS NOT NULL THEN
		RETURN;
	END IF;
	-- 3. What does it bring?  The cheapest tier with room.
	cold_bytes := t.size_bytes * (1 - hot_fraction);
	SELECT c.tier_name, cold_bytes / 1e9 * (h.price_per_gb_month - c.price_per_gb_month)
		INTO cold_tier, saved_per_month
		FROM _tiered_storage.tiers h
		JOIN _tiered_storage.tiers c ON c.price_per_gb_month < h.price_per_gb_month
			AND c.free_bytes - c.reserve_fraction * c.capacity_bytes >= cold_bytes
		WHERE h.tier_name = t.tier_name
		ORDER BY c.price_per_gb_month, c.rank LIMIT 1;
	confidence := CASE
		WHEN hot.cached_blocks < 100 OR now() - t.observed_since
			< current_setting('tiered_storage.observation_period', true)::interval
		THEN 'provisional'
		WHEN hot.cached_blocks < 1000 OR abs(key_correlation) < 0.99 THEN 'tentative'
		ELSE 'firm' END;
	reason := format('nine tenths of its cached blocks are in %s %% of it, by %s %I (correlation '
		'%s); in partitions of %s (about %s), %s would be cold%s',
		round((hot_fraction * 100)::numeric), CASE
		WHEN hot.last_part = hot.parts AND key_correlation > 0
			OR hot.first_part = 1 AND key_correlation < 0 THEN 'the highest values of'
		WHEN hot.first_part = 1 OR hot.last_part = hot.parts THEN 'the lowest values of'
		ELSE 'a middle range of' END, key_column,
		round(key_correlation::numeric, 3), partition_interval, partitions,
		pg_size_pretty(cold_bytes),
		CASE WHEN saved_per_month IS NULL THEN ', but no cheaper tier has room for it'
			ELSE format(' and cost %s less per month on tier %I',
				round(saved_per_month::numeric, 2), cold_tier) END);
	obstacles := (SELECT string_agg(o, '; ')
		FROM _tiered_storage.partition_obstacles(t.relation, key_column) o);
	reason := concat_ws('; but not without rewriting it: ', reason, obstacles);
	IF obstacles IS NULL THEN
		command := concat(format('SELECT tiered_storage.partitioning_script(%L, %L, %L',
			t.relation, key_column, partition_interval), ', ' || quote_literal(cold_tier), ')');
	END IF;
END
$$;

CREATE FUNCTION _tiered_storage.recommend_partitioning(
	min_size_bytes bigint DEFAULT 1073741824, include_all boolean DEFAULT false,
	OUT relation regclass, OUT size_bytes bigint, OUT current_tier name, OUT hot_fraction float8,
	OUT key_column name, OUT key_correlation float8, OUT partition_interval text,
	OUT partitions integer, OUT cold_bytes bigint, OUT cold_tier name,
	OUT saved_per_month float8, OUT confidence text, OUT reason text, OUT command text)
RETURNS SETOF record LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
	IF min_size_bytes IS NULL OR min_size_bytes < 0 THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'"min_size_bytes" must not be null or negative');
	END IF;
	RETURN QUERY
		SELECT h.relation, h.size_bytes, h.tier_name, a.*
		FROM _tiered_storage.heat h
		CROSS JOIN LATERAL _tiered_storage.relation_entry(h.relation) c
		CROSS JOIN LATERAL _tiered_storage.partition_advice(h, include_all) a
		WHERE c.relkind = 'r' AND h.size_bytes >= min_size_bytes
			AND h.size_bytes > 0 AND h.distributed_table IS NULL
			AND NOT EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
			AND (a.cold_bytes IS NOT NULL OR include_all)
		ORDER BY h.size_bytes DESC, h.relation::text COLLATE "C";
	IF NOT FOUND THEN
		RAISE NOTICE 'partitioning is recommended for no table of % or more',
			pg_size_pretty(min_size_bytes)
			USING HINT = 'recommend_partitioning(0, include_all => true) says why not.';
	END IF;
END
$$;
