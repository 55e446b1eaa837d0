---------------------------------------------------------------------------
-- The plan: all that wants to move, in its order, and what it waits for.
---------------------------------------------------------------------------

/*
 * The plan as the last run has made it, for people to look at.  Not logged: each run makes its
 * own.  The columns are those of the struct in catalog/moves.h.
 */
CREATE UNLOGGED TABLE _tiered_storage.planned_move
(
	relation_oid oid NOT NULL PRIMARY KEY,
	place integer NOT NULL,
	from_tablespace_oid oid NOT NULL,
	to_tablespace_oid oid NOT NULL,
	from_tier text,
	to_tier text,
	source integer NOT NULL,
	policy_id integer NOT NULL,
	waits_for text,
	planned_at timestamptz NOT NULL
) WITH (autovacuum_analyze_threshold = 2147483647);

/* Rows of the two functions at the end. */
CREATE TYPE _tiered_storage.plan_entry AS (
	place integer, relation regclass, from_tier name, to_tier name,
	from_tablespace name, to_tablespace name, size_bytes bigint, cause text,
	policy_id integer, state text, reason text, failures integer,
	next_attempt_at timestamptz, last_error text, planned_at timestamptz);

CREATE FUNCTION _tiered_storage.made_plan() RETURNS SETOF _tiered_storage.planned_move
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_made_plan';

/* When the worker makes its next plan, in words, or why it moves nothing. */
CREATE FUNCTION _tiered_storage.worker_plans(OUT moves boolean, OUT reason text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1
AS 'MODULE_PATHNAME', 'tier_worker_plans';

/*
 * What runs, and what is planned: without relations that are gone or have been moved since, and
 * with what depends on the worker, the clock, a pause and past attempts.
 */
CREATE FUNCTION _tiered_storage.show_plan(planned _tiered_storage.planned_move[])
RETURNS SETOF _tiered_storage.plan_entry
LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH own AS (
		SELECT d.dattablespace FROM pg_database d WHERE d.datname = current_database()),
	worker AS MATERIALIZED (
		SELECT w.moves, w.reason, _tiered_storage.is_paused() AS is_paused
		FROM _tiered_storage.worker_plans() w),
	failed AS MATERIALIZED (
		SELECT l.*, l.next_attempt_at > now() AS backs_off
		FROM (SELECT DISTINCT ON (m.relation_oid) m.* FROM _tiered_storage.move m
			ORDER BY m.relation_oid, m.move_id DESC) l
		WHERE l.state IN ('failed', 'skipped')),
	running AS MATERIALIZED (
		SELECT m.*, COALESCE(p.phase, 'starting') AS phase, p.waits_for,
			CASE WHEN p.blocks_total > 0
				THEN format('%s of %s blocks', p.blocks_done, p.blocks_total) END AS blocks
		FROM _tiered_storage.move m
		JOIN pg_stat_activity a ON a.pid = m.pid AND a.backend_start = m.backend_start
		LEFT JOIN LATERAL _tiered_storage.mover_progress(m.pid) p ON true
		WHERE m.state = 'running'),
	entry AS (
		SELECT row_number() OVER (ORDER BY r.started_at, r.move_id) - 10000 AS place,
			r.relation_oid, f.tier_name::text AS from_tier, t.tier_name::text AS to_tier,
			r.from_tablespace_oid, r.to_tablespace_oid, r.size_bytes,
			CASE r.policy_kind WHEN 'fullness' THEN 'fullness' WHEN 'tiering' THEN 'age'
				ELSE CASE WHEN r.batch_id IS NOT NULL AND r.undo_of IS NULL
					THEN 'advice' ELSE 'request' END END AS cause,
			r.policy_id, 'running' AS state,
			CASE WHEN r.waits_for IS NULL THEN concat_ws(': ', r.phase, r.blocks)
				ELSE concat_ws('; ', 'waiting: ' || r.waits_for, r.blocks) END AS reason,
			r.failures, NULL::timestamptz AS next_attempt_at, NULL AS last_error,
			NULL::timestamptz AS planned_at
		FROM running r
		LEFT JOIN _tiered_storage.tier_tablespaces f ON f.tablespace_oid = r.from_tablespace_oid
		LEFT JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid = r.to_tablespace_oid
		UNION ALL
		SELECT p.place, p.relation_oid, p.from_tier, p.to_tier, p.from_tablespace_oid,
			p.to_tablespace_oid, _tiered_storage.relation_bytes(p.relation_oid),
			(ARRAY['age', 'use', 'return', 'fullness', 'advice'])[p.source + 1],
			NULLIF(p.policy_id, 0), CASE WHEN h.reason IS NOT NULL THEN 'waiting'
				WHEN f.backs_off THEN 'failed' ELSE 'ready' END,
			COALESCE(h.reason, CASE WHEN f.backs_off THEN concat(
				'next attempt at ', f.next_attempt_at, CASE WHEN f.failures > 0 THEN
					format(' after %s failure%s', f.failures, left('s', f.failures - 1)) END,
				': ' || f.error) END, w.reason),
			COALESCE(f.failures, 0), CASE WHEN h.reason IS NULL AND f.backs_off
				THEN f.next_attempt_at END, f.error, p.planned_at
		FROM worker w CROSS JOIN unnest(planned) p
		CROSS JOIN LATERAL _tiered_storage.relation_entry(p.relation_oid) c
		LEFT JOIN failed f ON f.relation_oid = p.relation_oid
		CROSS JOIN LATERAL (SELECT CASE
			WHEN w.is_paused THEN 'waiting: moves are paused, see resume()'
			WHEN p.waits_for IS NOT NULL THEN p.waits_for
			WHEN NOT w.moves THEN 'waiting for CALL tiered_storage.migrate(): ' || w.reason
			END AS reason) h
		WHERE COALESCE(NULLIF(c.reltablespace, 0), (SELECT o.dattablespace FROM own o))
				= p.from_tablespace_oid
			AND NOT EXISTS (SELECT FROM running r WHERE r.relation_oid = p.relation_oid))
	SELECT row_number() OVER (ORDER BY e.place), e.relation_oid, e.from_tier, e.to_tier,
		f.spcname, t.spcname, e.size_bytes, e.cause, e.policy_id, e.state, e.reason, e.failures,
		e.next_attempt_at, e.last_error, e.planned_at
	FROM entry e
	LEFT JOIN pg_tablespace f ON f.oid = e.from_tablespace_oid
	LEFT JOIN pg_tablespace t ON t.oid = e.to_tablespace_oid
	ORDER BY e.place;
END;

/* The plan as it would be made now, by which tests and tools judge. */
CREATE FUNCTION _tiered_storage.plan_moves() RETURNS SETOF _tiered_storage.plan_entry
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	SELECT * FROM _tiered_storage.show_plan(ARRAY(SELECT p FROM _tiered_storage.made_plan() p));
END;

/*
 * The stored plan, in the order in which it will be tried, and what runs; see the view moves.
 * Evaluates no policy: a run, and the worker every migrate_interval, makes the plan of what
 * policies ask for, and with auto_migrate = placement of what is advised.  A policy may have been
 * removed or disabled since.  A standby has no table that is not logged.
 */
CREATE FUNCTION _tiered_storage.move_queue_entries() RETURNS SETOF _tiered_storage.plan_entry
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	planned _tiered_storage.planned_move[];
BEGIN
	IF NOT pg_is_in_recovery() THEN
		planned := ARRAY(SELECT p FROM _tiered_storage.planned_move p WHERE p.policy_id = 0
			OR EXISTS (SELECT FROM _tiered_storage.policy t
				WHERE t.policy_id = p.policy_id AND t.enabled)
			OR EXISTS (SELECT FROM _tiered_storage.fullness_policy f
				WHERE f.policy_id = p.policy_id AND f.enabled));
	END IF;
	RETURN QUERY SELECT * FROM _tiered_storage.show_plan(planned);
END
$$;
