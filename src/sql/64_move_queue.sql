---------------------------------------------------------------------------
-- The queue: all that wants to move, and what it waits for.
---------------------------------------------------------------------------

/*
 * All that wants to move, in the order in which it will be tried; see the view moves.
 *
 * What runs, what policies ask for, and with auto_migrate = placement what is advised for where
 * everything is now, which a run decides on after the moves of the policies.
 */
CREATE FUNCTION _tiered_storage.move_queue_entries(
	OUT place integer, OUT relation regclass, OUT from_tier name, OUT to_tier name,
	OUT from_tablespace name, OUT to_tablespace name, OUT size_bytes bigint, OUT cause text,
	OUT policy_id integer, OUT state text, OUT reason text, OUT failures integer,
	OUT next_attempt_at timestamptz, OUT last_error text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_move_queue';
