---------------------------------------------------------------------------
-- Is it OLTP or analytics?
---------------------------------------------------------------------------

/*
 * Of what reaches the devices, four of five blocks at least have to be of one kind.  Too little
 * is no workload: a hundred blocks an hour are a look at the catalog.
 */
CREATE FUNCTION _tiered_storage.workload_class(random float8, sequential float8, writes float8)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN NOT t.blocks >= 100 THEN NULL
		WHEN sequential >= 0.8 * t.blocks THEN 'analytics'
		WHEN sequential <= 0.2 * t.blocks THEN 'OLTP'
		ELSE 'mixed' END
	FROM (SELECT random + sequential + writes AS blocks) t
$$;
COMMENT ON FUNCTION _tiered_storage.workload_class(float8, float8, float8) IS
'analytics, OLTP or mixed, by blocks per hour read at random, read in sequence, and written; '
'null: too few';

/* What was loaded or scanned once is no workload.  TOAST and indexes belong to their table. */
CREATE FUNCTION _tiered_storage.workload_of_schemas(
	OUT schema_name name, OUT is_whole boolean, OUT random float8, OUT sequential float8,
	OUT sequential_low float8, OUT sequential_high float8, OUT writes float8,
	OUT observed_s float8)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH h AS MATERIALIZED (
		SELECT x.relation::oid AS relation_oid, x.random_reads_14d_per_hour AS random,
			x.sequential_reads_14d_per_hour AS sequential,
			LEAST(x.sequential_reads_low_14d_per_hour, x.sequential_reads_14d_per_hour) AS low,
			LEAST(GREATEST(x.sequential_reads_high_14d_per_hour, x.sequential_reads_14d_per_hour),
				x.random_reads_14d_per_hour + x.sequential_reads_14d_per_hour) AS high,
			x.page_writes_14d_per_hour AS writes,
			x.read_pattern IS DISTINCT FROM 'event' AS reads_again,
			x.write_pattern IS DISTINCT FROM 'event' AS writes_again,
			EXTRACT(epoch FROM GREATEST(now(), x.heat_at) - x.sampled_since)::float8 AS observed_s,
			e.nspname, e.reltoastrelid
		FROM tiered_storage.heat x
		CROSS JOIN LATERAL _tiered_storage.relation_entry(x.relation) e),
	-- TOAST, and its index, count for the schema of the table.
	placed AS (
		SELECT h.*, COALESCE(o.nspname, h.nspname) AS schema_name
		FROM h
		LEFT JOIN pg_index i ON i.indexrelid = h.relation_oid
		LEFT JOIN h o ON o.reltoastrelid = COALESCE(i.indrelid, h.relation_oid))
	SELECT h.schema_name, grouping(h.schema_name) = 1,
		sum(h.random) FILTER (WHERE h.reads_again), sum(h.sequential) FILTER (WHERE h.reads_again),
		sum(h.low) FILTER (WHERE h.reads_again), sum(h.high) FILTER (WHERE h.reads_again),
		sum(h.writes) FILTER (WHERE h.writes_again),
		max(h.observed_s)
	FROM placed h
	GROUP BY GROUPING SETS ((h.schema_name), ())
$$;
COMMENT ON FUNCTION _tiered_storage.workload_of_schemas() IS
'blocks per hour of each schema, and of the whole database, that go on being read and written';

/* Of two weeks, as the rates are; idle hours count. */
CREATE FUNCTION _tiered_storage.workload_of_transactions(
	OUT per_s float8, OUT blocks float8, OUT temp_bytes float8)
RETURNS record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT t.n / NULLIF(p.seconds, 0), (t.blocks_read + t.blocks_hit) / NULLIF(t.n, 0),
		t.temp_bytes / NULLIF(t.n, 0)
	FROM (SELECT s.sampled_at,
			LEAST(EXTRACT(epoch FROM s.sampled_at - s.observed_since), 1209600)::float8 AS seconds
		FROM _tiered_storage.load_state s) p
	CROSS JOIN LATERAL (SELECT l.commits + l.rollbacks AS n, l.*
		FROM _tiered_storage.load_sums(p.sampled_at - make_interval(secs => p.seconds),
			p.sampled_at) l) t
$$;
COMMENT ON FUNCTION _tiered_storage.workload_of_transactions() IS
'transactions of this database per second, and blocks and temporary bytes of one';

CREATE FUNCTION _tiered_storage.workload_profile(
	OUT schema_name name, OUT workload text, OUT random_reads_per_hour float8,
	OUT sequential_reads_per_hour float8, OUT page_writes_per_hour float8,
	OUT sequential_fraction float8, OUT sequential_fraction_low float8,
	OUT sequential_fraction_high float8, OUT write_fraction float8,
	OUT transactions_per_s float8, OUT blocks_per_transaction float8,
	OUT temp_bytes_per_transaction float8, OUT observed_s float8, OUT reason text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH load AS (
		SELECT s.schema_name, s.is_whole, COALESCE(s.random, 0) AS random,
			COALESCE(s.sequential, 0) AS sequential, COALESCE(s.low, 0) AS low,
			COALESCE(s.high, 0) AS high, s.writes, COALESCE(s.writes, 0) AS known_writes,
			s.observed_s
		FROM _tiered_storage.workload_of_schemas() s (schema_name, is_whole, random, sequential,
			low, high, writes, observed_s)),
	class AS (
		SELECT l.*, l.random + l.sequential + l.known_writes AS blocks,
			_tiered_storage.workload_class(l.random, l.sequential, l.known_writes) AS middle,
			_tiered_storage.workload_class(l.random + l.sequential - l.low, l.low, l.known_writes)
				AS at_low,
			_tiered_storage.workload_class(l.random + l.sequential - l.high, l.high,
				l.known_writes) AS at_high
		FROM load l),
	verdict AS (
		SELECT c.*, t.per_s, t.blocks AS per_transaction, t.temp_bytes,
			c.observed_s < LEAST(3600, EXTRACT(epoch FROM
				current_setting('tiered_storage.observation_period', true)::interval)) AS is_short,
			-- Where both kinds are possible, neither is said.
			c.high - c.low > 0.5 * c.blocks
				OR c.at_low = 'OLTP' AND c.at_high = 'analytics' AS is_vague,
			-- Many small transactions are not analytics alone, nor a few large ones OLTP.
			c.middle = 'analytics' AND t.per_s >= 1 AND t.blocks < 100
				OR c.middle = 'OLTP' AND t.blocks > 100000 AS is_both
		FROM class c
		LEFT JOIN _tiered_storage.workload_of_transactions() t ON c.is_whole)
	SELECT v.schema_name,
		CASE WHEN v.is_short OR v.is_vague THEN NULL WHEN v.is_both THEN 'mixed'
			ELSE v.middle END,
		v.random, v.sequential, v.writes, v.sequential / NULLIF(v.blocks, 0),
		v.low / NULLIF(v.blocks, 0), v.high / NULLIF(v.blocks, 0),
		v.writes / NULLIF(v.blocks, 0), v.per_s, v.per_transaction, v.temp_bytes, v.observed_s,
		CASE
			WHEN v.observed_s IS NULL THEN 'not enough is known: nothing was observed yet'
			WHEN v.is_short THEN format('not enough is known: observed for %s minutes',
				floor(v.observed_s / 60))
			WHEN v.middle IS NULL THEN format('not enough is known: %s blocks/h reach the devices',
				_tiered_storage.short_number(v.blocks))
			WHEN v.is_vague THEN format('not enough is known: between %s and %s %% of %s blocks/h '
				'may be sequential reads (tiered_storage.track_access tells them apart)',
				round(100 * v.low / v.blocks), round(100 * v.high / v.blocks),
				_tiered_storage.short_number(v.blocks))
			ELSE format('%s %%%s of %s blocks/h are read in sequence, %s %% at random, %s',
				round(100 * v.sequential / v.blocks), CASE WHEN v.at_low <> v.at_high THEN
					format(' (%s to %s %%)', round(100 * v.low / v.blocks),
						round(100 * v.high / v.blocks)) ELSE '' END,
				_tiered_storage.short_number(v.blocks),
				round(100 * v.random / v.blocks),
				CASE WHEN v.writes IS NULL THEN 'writes are not counted'
					ELSE format('%s %% written', round(100 * v.writes / v.blocks)) END)
				|| CASE WHEN v.per_transaction IS NOT NULL THEN
					format('; %s transactions/s of %s blocks',
						_tiered_storage.short_number(v.per_s),
						_tiered_storage.short_number(v.per_transaction)) ELSE '' END
			END
	FROM verdict v
	ORDER BY v.is_whole DESC, v.blocks DESC, v.schema_name
$$;
COMMENT ON FUNCTION _tiered_storage.workload_profile() IS 'see the view workload_profile';

CREATE VIEW tiered_storage.workload_profile AS
	SELECT w.schema_name, w.workload, w.random_reads_per_hour, w.sequential_reads_per_hour,
		w.page_writes_per_hour, w.sequential_fraction, w.sequential_fraction_low,
		w.sequential_fraction_high, w.write_fraction, w.transactions_per_s,
		w.blocks_per_transaction, w.temp_bytes_per_transaction, w.observed_s, w.reason
	FROM _tiered_storage.workload_profile() w;
COMMENT ON VIEW tiered_storage.workload_profile IS
'OLTP or analytics, by what was measured in the last weeks: the whole database, and each schema';
COMMENT ON COLUMN tiered_storage.workload_profile.schema_name IS
'schema; null: the whole database';
COMMENT ON COLUMN tiered_storage.workload_profile.workload IS
'OLTP (at most a fifth of the blocks are read in sequence), analytics (at least four fifths), or '
'mixed; null: not enough is known, see reason';
COMMENT ON COLUMN tiered_storage.workload_profile.random_reads_per_hour IS
'blocks per hour that are read at random and are not in shared buffers, half-life 14 days; '
'without what was read once only';
COMMENT ON COLUMN tiered_storage.workload_profile.sequential_reads_per_hour IS
'the same of blocks that are read in sequence';
COMMENT ON COLUMN tiered_storage.workload_profile.page_writes_per_hour IS
'pages per hour that checkpoints write, half-life 14 days; null: the WAL is not read';
COMMENT ON COLUMN tiered_storage.workload_profile.sequential_fraction IS
'share of sequential reads in all of these';
COMMENT ON COLUMN tiered_storage.workload_profile.sequential_fraction_low IS
'the same at least, as reads at random and in sequence cannot always be told apart';
COMMENT ON COLUMN tiered_storage.workload_profile.sequential_fraction_high IS 'the same at most';
COMMENT ON COLUMN tiered_storage.workload_profile.write_fraction IS
'share of written pages; null: the WAL is not read';
COMMENT ON COLUMN tiered_storage.workload_profile.transactions_per_s IS
'transactions per second of the whole database, mean of up to 14 days; null: of a schema, or not '
'sampled';
COMMENT ON COLUMN tiered_storage.workload_profile.blocks_per_transaction IS
'blocks of 8 kB that a transaction asks for, in memory or not; null as before';
COMMENT ON COLUMN tiered_storage.workload_profile.temp_bytes_per_transaction IS
'bytes of temporary files of a transaction; null as before';
COMMENT ON COLUMN tiered_storage.workload_profile.observed_s IS
'seconds for which the longest known of its relations has been sampled';
COMMENT ON COLUMN tiered_storage.workload_profile.reason IS
'the numbers that it comes from, or what is missing';
