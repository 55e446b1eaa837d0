---------------------------------------------------------------------------
-- What statements read of each tier, and which queries wait for which.
---------------------------------------------------------------------------

/*
 * What the nodes of a statement's plan read: with the caller's rights and settings.  The query is
 * null while EXPLAIN (TIERS) asks.
 */
CREATE FUNCTION _tiered_storage.plan_reads(
	query text, executed boolean, OUT node_id integer, OUT node text,
	OUT relation_oid oid, OUT tablespace_oid oid,
	OUT random float8, OUT sequential float8, OUT scans float8, OUT device_share float8,
	OUT waits float8, OUT elapsed_ms float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_plan_reads';

/*
 * The names in it were looked up here, so that it can leave the caller's search_path to the
 * statement.  Where a relation is tells how much of it is in memory; elsewhere it would be the
 * same.
 *
 * Executed, reads were at random as often as the process has waited for one, without the waits
 * with which scans begin, but not more often than the planner has it: what the kernel reads ahead,
 * because look-ups are in order, is waited for in windows, and may be more than what was asked
 * for.  Nor more often than there was time for beside the transfer of all blocks.  The blocks of a
 * bitmap are in order, and may be near or far.
 */
CREATE FUNCTION _tiered_storage.priced_plan(
	query text, executed boolean, OUT node_id integer, OUT supposed boolean, OUT node text,
	OUT relation regclass, OUT tier name, OUT random_reads numeric, OUT sequential_reads numeric,
	OUT device_ms numeric)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	WITH plan AS MATERIALIZED (
		SELECT row_number() OVER () AS n, r.*, r.random + r.sequential AS blocks,
			CASE WHEN b.is_measured THEN 0 ELSE r.scans END AS begun,
			CASE WHEN b.is_measured THEN r.random + r.sequential ELSE r.random END AS most
		FROM _tiered_storage.plan_reads(priced_plan.query, priced_plan.executed) r
		CROSS JOIN LATERAL (SELECT r.node = 'Bitmap Heap Scan' AND r.waits IS NOT NULL
			AS is_measured) b),
	shared AS (
		SELECT r.*, f.tier_name AS tier, t.tier_name AS supposed_tier, s.is_supposed, h.share,
			LEAST(h.share, 1) AS random_share, c.starts,
			sum(c.starts) OVER () AS start_waits, d.random_read_ms,
			h.share * r.blocks * 8.192 / d.sequential_read_mb_per_s AS transfer_ms
		FROM plan r
		LEFT JOIN _tiered_storage.tier_tablespaces f ON f.tablespace_oid = r.tablespace_oid
		LEFT JOIN _tiered_storage.tiers d ON d.tier_name = f.tier_name
		LEFT JOIN _tiered_storage.observed_shares o ON o.tier_name = f.tier_name
		CROSS JOIN LATERAL (SELECT CASE WHEN priced_plan.executed
			THEN COALESCE(r.device_share, o.of_misses, 1)
			ELSE COALESCE(o.of_pages, 0.1) END AS share) h
		CROSS JOIN LATERAL (SELECT LEAST(r.begun, h.share * r.sequential) AS starts) c
		CROSS JOIN (SELECT count(*) > 0 AS is_supposed FROM _tiered_storage.suppositions) s
		LEFT JOIN _tiered_storage.suppositions p ON p.relation_oid = r.relation_oid
		LEFT JOIN _tiered_storage.tier_tablespaces t
			ON t.tablespace_oid = COALESCE(p.tablespace_oid, r.tablespace_oid)),
	parted AS (
		SELECT r.*, r.most * CASE WHEN r.waits IS NULL THEN 1 ELSE LEAST(COALESCE(
			GREATEST(r.waits - COALESCE(r.start_waits, 0), 0)
				/ NULLIF(r.random_share * sum(r.most) OVER (), 0), 0),
			GREATEST(r.elapsed_ms - sum(r.transfer_ms) OVER (), 0)
				/ NULLIF(sum(r.random_share * r.most * r.random_read_ms) OVER (), 0), 1) END
			AS apart
		FROM shared r),
	priced AS (
		SELECT r.n, r.node_id, r.node, r.relation_oid, r.apart AS random,
			r.blocks - r.apart AS sequential, l.supposed, l.tier,
			l.tier IS DISTINCT FROM r.tier AS is_elsewhere, d.rank,
			r.random_share * r.apart * d.random_read_ms
				+ (r.share * r.blocks - r.random_share * r.apart) * 8.192
				/ d.sequential_read_mb_per_s
				+ r.starts * d.random_read_ms AS ms
		FROM parted r
		CROSS JOIN LATERAL (SELECT false AS supposed, r.tier
			UNION ALL SELECT true, r.supposed_tier WHERE r.is_supposed) l
		LEFT JOIN _tiered_storage.tiers d ON d.tier_name = l.tier),
	shown AS (
		SELECT p.n, p.node_id, p.supposed, NULL::integer AS rank,
			CASE WHEN p.supposed THEN 'supposed' ELSE p.node END AS node,
			NULLIF(p.relation_oid, 0) AS relation_oid, p.tier, p.random, p.sequential, p.ms
		FROM priced p WHERE NOT p.supposed OR p.is_elsewhere
		UNION ALL
		SELECT NULL, -1, p.supposed, p.rank,
			CASE WHEN p.supposed THEN 'supposed sum' ELSE 'sum' END, NULL, p.tier,
			sum(p.random), sum(p.sequential), sum(p.ms)
		FROM priced p GROUP BY p.supposed, p.rank, p.tier)
	SELECT s.node_id, s.supposed, s.node, s.relation_oid::regclass, s.tier,
		_tiered_storage.readable(s.random),
		_tiered_storage.readable(s.sequential), _tiered_storage.significant(s.ms)
	FROM shown s
	ORDER BY s.n NULLS LAST, s.supposed, s.rank, s.tier;
END;

CREATE FUNCTION tiered_storage.explain_tiers(
	query text, "analyze" boolean DEFAULT false,
	OUT node text, OUT relation regclass, OUT tier name, OUT random_reads numeric,
	OUT sequential_reads numeric, OUT device_ms numeric)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	SELECT p.node, p.relation, p.tier, p.random_reads, p.sequential_reads, p.device_ms
	FROM _tiered_storage.priced_plan(explain_tiers.query, explain_tiers."analyze") p;
END;
COMMENT ON FUNCTION tiered_storage.explain_tiers IS
'what the plan of a statement reads of each relation, and the time that devices take for it, '
'where the relations are and are supposed to be, with sums by tier; estimated by the planner, '
'or with analyze executed, with all effects, and counted; with the rights of the caller';

/*
 * Where what each query reads is, and would be: of what devices were read for, the share of all
 * that the relation has missed.  A TOAST table, with its index, goes where its table does.
 */
CREATE VIEW _tiered_storage.query_costs AS
	WITH advice AS MATERIALIZED (
		SELECT a.relation::oid AS relation_oid, a.recommended_tier
		FROM tiered_storage.recommend_placement(true) a
		WHERE a.recommended_tier <> a.current_tier)
	SELECT r.user_oid, r.query_id, r.calls, r.relation_oid, p.table_oid, h.tier_name,
		d.random + d.sequential AS reads,
		d.random * f.random_read_ms + d.sequential * 8.192 / f.sequential_read_mb_per_s AS ms,
		COALESCE(d.random * (f.random_read_ms - t.random_read_ms) + d.sequential * 8.192
			* (1 / f.sequential_read_mb_per_s - 1 / t.sequential_read_mb_per_s), 0) AS saved_ms
	FROM _tiered_storage.query_reads(true) r
	JOIN _tiered_storage.heat h ON h.relation::oid = r.relation_oid
	JOIN _tiered_storage.tiers f ON f.tier_name = h.tier_name
	LEFT JOIN _tiered_storage.heat o ON h.kind = 'index' AND o.relation::oid = h.heap_oid
		AND o.kind = 'toast table'
	CROSS JOIN LATERAL (SELECT CASE WHEN h.kind = 'toast table' THEN h.heap_oid
		ELSE COALESCE(o.heap_oid, h.relation::oid) END AS table_oid) p
	CROSS JOIN LATERAL (SELECT COALESCE(LEAST(h.reads_14d_per_hour
		/ NULLIF(h.misses_14d_per_hour, 0), 1), 1) AS share) s
	CROSS JOIN LATERAL (SELECT r.random * s.share / r.calls AS random,
		r.sequential * s.share / r.calls AS sequential) d
	LEFT JOIN advice a ON a.relation_oid = p.table_oid
	LEFT JOIN _tiered_storage.tiers t ON t.tier_name = a.recommended_tier
	WHERE r.calls > 0;

CREATE VIEW tiered_storage.query_tiers AS
	WITH texts AS MATERIALIZED (SELECT * FROM _tiered_storage.query_texts())
	SELECT q.query_id,
		_tiered_storage.wrap(_tiered_storage.clip(regexp_replace(t.query, E'\\s+', ' ', 'g'), 100),
			24) AS query,
		_tiered_storage.significant(q.calls) AS calls, q.tier_name AS tier,
		_tiered_storage.significant(q.reads) AS reads,
		_tiered_storage.significant(q.ms) AS device_ms,
		_tiered_storage.significant(q.saved_ms) AS saved_ms
	FROM (
		SELECT c.user_oid, c.query_id, c.tier_name, max(c.calls) AS calls, sum(c.reads) AS reads,
			sum(c.ms) AS ms, sum(c.saved_ms) AS saved_ms,
			sum(sum(c.calls * c.ms)) OVER (PARTITION BY c.user_oid, c.query_id) AS all_ms
		FROM _tiered_storage.query_costs c
		GROUP BY c.user_oid, c.query_id, c.tier_name) q
	LEFT JOIN texts t ON t.user_oid = q.user_oid AND t.query_id = q.query_id
	ORDER BY q.all_ms DESC, q.query_id, q.user_oid, q.ms DESC;
COMMENT ON VIEW tiered_storage.query_tiers IS
'queries that devices were read for, those that took most time of devices first, with a row for '
'each tier that they read; of about 1,000 queries, since the start of the server; of other '
'users only for members of pg_read_all_stats';
COMMENT ON COLUMN tiered_storage.query_tiers.query_id IS
'as in pg_stat_statements';
COMMENT ON COLUMN tiered_storage.query_tiers.query IS
'begin of its text, from pg_stat_statements as you see it';
COMMENT ON COLUMN tiered_storage.query_tiers.calls IS
'since it was first counted';
COMMENT ON COLUMN tiered_storage.query_tiers.tier IS
'present tier of what it reads';
COMMENT ON COLUMN tiered_storage.query_tiers.reads IS
'device reads per call, in blocks';
COMMENT ON COLUMN tiered_storage.query_tiers.device_ms IS
'device time per call';
COMMENT ON COLUMN tiered_storage.query_tiers.saved_ms IS
'device time per call that the recommended moves save';
