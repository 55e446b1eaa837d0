-- One statement, no configuration: which storage is there?
CREATE EXTENSION tiered_storage;
\if :plain_directories
-- Two directories of one disk are one tier, so here the tiers have to be named.
SELECT tiered_storage.add_tier('ssd', '{fast,pg_default}', profile => 'sata_ssd');
SELECT tiered_storage.add_tier('hdd', 'slow', profile => 'hdd_7200');
\endif
-- Prices per GB and month are assumptions, until alter_tier() is told the true ones. Here they
-- are those of a thousand times as much, as if the 345 MB were as many GB.
SELECT count(tiered_storage.alter_tier(tier_name,
       price_per_gb_month => 1000 * price)) AS tiers_altered FROM tiered_storage.devices;
SELECT * FROM tiered_storage.tiers;
SELECT tier_name, device, read_ms, price FROM tiered_storage.devices;
