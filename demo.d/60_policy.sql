-- A policy: what is older than the last two years of the data goes to the HDD
SELECT tiered_storage.add_tiering_policy('lineitem', move_after => (current_date - date '1997-01-01') * interval '1 day', tier => 'hdd');
SELECT tiered_storage.add_tiering_policy('orders', move_after => (current_date - date '1996-09-01') * interval '1 day', tier => 'hdd');
\set ECHO none
CALL tiered_storage.sample();
CREATE TABLE tiers_before AS SELECT tier_name, relation_bytes FROM _tiered_storage.tiers;
