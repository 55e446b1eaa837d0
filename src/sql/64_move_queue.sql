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

/* Rows of the two functions below. */
CREATE TYPE _tiered_storage.plan_entry AS (
	place integer, relation regclass, from_tier name, to_tier name,
	from_tablespace name, to_tablespace name, size_bytes bigint, cause text,
	policy_id integer, state text, reason text, failures integer,
	next_attempt_at timestamptz, last_error text, planned_at timestamptz);

/* The plan as it would be made now, by which tests and tools judge. */
CREATE FUNCTION _tiered_storage.plan_moves()
RETURNS SETOF _tiered_storage.plan_entry
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_made_plan';

/*
 * The stored plan, in the order in which it will be tried, and what runs; see the view moves.
 * Evaluates no policy: a run, and the worker every migrate_interval, makes the plan of what
 * policies ask for, and with auto_migrate = placement of what is advised.
 */
CREATE FUNCTION _tiered_storage.move_queue_entries()
RETURNS SETOF _tiered_storage.plan_entry
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_stored_plan';
