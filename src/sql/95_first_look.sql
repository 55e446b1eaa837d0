---------------------------------------------------------------------------
-- The first look, so that there is something to see at once.
---------------------------------------------------------------------------

SELECT pg_catalog.count(*) FROM tiered_storage.discover_tiers();
CALL tiered_storage.sample();
SELECT _tiered_storage.notify_launcher();
