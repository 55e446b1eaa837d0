---------------------------------------------------------------------------
-- The worker: whether it runs, and why not.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.worker_status(
	OUT database_name name, OUT state text, OUT reason text, OUT pid integer,
	OUT last_started_at timestamptz, OUT last_finished_at timestamptz,
	OUT next_run_at timestamptz, OUT failures integer, OUT last_error text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_worker_status';
COMMENT ON FUNCTION _tiered_storage.worker_status() IS 'one row for each database: see the view workers';

CREATE VIEW tiered_storage.workers AS
	SELECT * FROM _tiered_storage.worker_status();
COMMENT ON VIEW tiered_storage.workers IS
'for each database whether its worker runs, when it runs next, and why not';
COMMENT ON COLUMN tiered_storage.workers.database_name IS 'database of the worker';
COMMENT ON COLUMN tiered_storage.workers.state IS 'whether it runs';
COMMENT ON COLUMN tiered_storage.workers.reason IS 'why not';
COMMENT ON COLUMN tiered_storage.workers.pid IS 'its process';
COMMENT ON COLUMN tiered_storage.workers.last_started_at IS 'when it last began a cycle';
COMMENT ON COLUMN tiered_storage.workers.last_finished_at IS 'when it last ended one';
COMMENT ON COLUMN tiered_storage.workers.next_run_at IS 'when the next cycle begins';
COMMENT ON COLUMN tiered_storage.workers.failures IS 'failed cycles in a row';
COMMENT ON COLUMN tiered_storage.workers.last_error IS 'error of the last one that failed';

CREATE FUNCTION _tiered_storage.notify_launcher() RETURNS void
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_notify_launcher';
COMMENT ON FUNCTION _tiered_storage.notify_launcher() IS
'tells the launcher to look at this database now; does nothing without shared_preload_libraries';
