---------------------------------------------------------------------------
-- The worker: whether it runs, and why not.
---------------------------------------------------------------------------

/* The rows of the view workers. */
CREATE FUNCTION _tiered_storage.worker_status(
	OUT database_name name, OUT state text, OUT reason text, OUT pid integer,
	OUT last_started_at timestamptz, OUT last_finished_at timestamptz,
	OUT next_run_at timestamptz, OUT failures integer, OUT last_error text,
	OUT left_out integer, OUT left_out_why text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_worker_status';

CREATE VIEW tiered_storage.workers AS
	SELECT * FROM _tiered_storage.worker_status();
COMMENT ON VIEW tiered_storage.workers IS
'the worker of each database: whether it runs, when it runs next, and if not, why';
COMMENT ON COLUMN tiered_storage.workers.database_name IS 'database of the worker';
COMMENT ON COLUMN tiered_storage.workers.state IS 'what the worker does now';
COMMENT ON COLUMN tiered_storage.workers.reason IS
'what it waits for, or why it moves nothing or does not run; null: nothing to say';
COMMENT ON COLUMN tiered_storage.workers.pid IS 'its process; null: it does not run';
COMMENT ON COLUMN tiered_storage.workers.last_started_at IS
'when its last cycle started; null: never';
COMMENT ON COLUMN tiered_storage.workers.last_finished_at IS
'when its last cycle ended; null: never';
COMMENT ON COLUMN tiered_storage.workers.next_run_at IS
'when its next cycle starts; null: none is planned';
COMMENT ON COLUMN tiered_storage.workers.failures IS 'number of failed cycles in a row';
COMMENT ON COLUMN tiered_storage.workers.last_error IS
'error of the last cycle that failed; null: none has failed';
COMMENT ON COLUMN tiered_storage.workers.left_out IS
'number of relations that its cycles leave out, because of errors about them alone; they are '
'tried again after a sample interval, then after twice as long, up to an hour';
COMMENT ON COLUMN tiered_storage.workers.left_out_why IS
'the first of these relations, each with the step that fails and its error; null: none';

/* Wakes the launcher for this database; does nothing without shared_preload_libraries. */
CREATE FUNCTION _tiered_storage.notify_launcher() RETURNS void
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_notify_launcher';
