---------------------------------------------------------------------------
-- The first look, so that there is something to see at once.
---------------------------------------------------------------------------

SELECT pg_catalog.count(*) FROM tiered_storage.discover_tiers();
CALL tiered_storage.sample();
SELECT _tiered_storage.notify_launcher();

/*
 * The planner takes a table that was never analyzed for ten pages.  Autovacuum leaves these
 * alone, they are so small, and views that join several would be thought to be dear enough
 * to be compiled.
 */
ANALYZE _tiered_storage.tier, _tiered_storage.tier_tablespace, _tiered_storage.sampler,
	_tiered_storage.tier_calibration;
