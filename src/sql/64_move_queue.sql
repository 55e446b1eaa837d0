---------------------------------------------------------------------------
-- The queue: all that wants to move, and what it waits for.
---------------------------------------------------------------------------

/* The rows of the view move_queue. */
CREATE FUNCTION _tiered_storage.move_queue_entries(
	OUT place integer, OUT relation regclass, OUT from_tier name, OUT to_tier name,
	OUT from_tablespace name, OUT to_tablespace name, OUT size_bytes bigint, OUT cause text,
	OUT policy_id integer, OUT state text, OUT reason text, OUT failures integer,
	OUT next_attempt_at timestamptz, OUT last_error text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_move_queue';

CREATE VIEW tiered_storage.move_queue AS
	SELECT * FROM _tiered_storage.move_queue_entries();
COMMENT ON VIEW tiered_storage.move_queue IS
'all that wants to move, in the order in which it will be tried: what runs, what policies ask '
'for, and with auto_migrate = placement what is advised for where everything is now, which a '
'run decides on after the moves of the policies; each with what it waits for';
COMMENT ON COLUMN tiered_storage.move_queue.place IS 'place in the queue, from 1';
COMMENT ON COLUMN tiered_storage.move_queue.relation IS 'relation that moves, or wants to';
COMMENT ON COLUMN tiered_storage.move_queue.from_tier IS 'tier that it is on; null: none';
COMMENT ON COLUMN tiered_storage.move_queue.to_tier IS 'tier that it goes to; null: none';
COMMENT ON COLUMN tiered_storage.move_queue.from_tablespace IS 'tablespace that it is in';
COMMENT ON COLUMN tiered_storage.move_queue.to_tablespace IS
'tablespace that it goes to; null: the tier has none that can be used';
COMMENT ON COLUMN tiered_storage.move_queue.size_bytes IS
'size in bytes of all forks of the relation, TOAST included';
COMMENT ON COLUMN tiered_storage.move_queue.cause IS
'who asks for it: tiering policy, fullness policy, advice, or request (somebody''s CALL)';
COMMENT ON COLUMN tiered_storage.move_queue.policy_id IS 'policy that asks for it; null: none';
COMMENT ON COLUMN tiered_storage.move_queue.state IS
'running, ready (the next run of the worker moves it), waiting (it would not begin now), or '
'failed (it was tried, and will be again at next_attempt_at)';
COMMENT ON COLUMN tiered_storage.move_queue.reason IS 'why it is in this state';
COMMENT ON COLUMN tiered_storage.move_queue.failures IS
'number of failures in a row, calls by hand included; the pause after them is a minute, doubled '
'each time, at most an hour, or ten minutes after a refusal for want of room, which does not '
'count for the pause after others';
COMMENT ON COLUMN tiered_storage.move_queue.next_attempt_at IS
'when the worker tries it again; null: it need not wait for that, or waits for something else';
COMMENT ON COLUMN tiered_storage.move_queue.last_error IS
'error of the last try; null: it has not failed, or has succeeded since';
