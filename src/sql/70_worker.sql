---------------------------------------------------------------------------
-- The worker: whether it runs, and why not.
---------------------------------------------------------------------------

CREATE FUNCTION tiered_storage.worker_status(
	OUT database_name name, OUT state text, OUT reason text, OUT pid integer,
	OUT last_started_at timestamptz, OUT last_finished_at timestamptz,
	OUT next_run_at timestamptz, OUT failures integer, OUT last_error text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_worker_status';
COMMENT ON FUNCTION tiered_storage.worker_status() IS 'one row for each database: see the view workers';

CREATE VIEW tiered_storage.workers AS
	SELECT * FROM tiered_storage.worker_status();
COMMENT ON VIEW tiered_storage.workers IS
'for each database whether its worker runs, when it runs next, and why not';

CREATE FUNCTION tiered_storage.notify_launcher() RETURNS void
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_notify_launcher';
COMMENT ON FUNCTION tiered_storage.notify_launcher() IS
'tells the launcher to look at this database now; does nothing without shared_preload_libraries';
