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

/* Wakes the launcher for this database; does nothing without shared_preload_libraries. */
CREATE FUNCTION _tiered_storage.notify_launcher() RETURNS void
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_notify_launcher';
