-- A policy: months that ended two years before the newest one go to the HDD
SELECT tiered_storage.add_tiering_policy('lineitem', move_after => '2 years', tier => 'hdd', options => jsonb_build_object('age_from', 'newest'));
SELECT tiered_storage.add_tiering_policy('orders', move_after => '2 years', tier => 'hdd', options => jsonb_build_object('age_from', 'newest'));
\set ECHO none
CALL tiered_storage.sample();
CREATE TABLE tiers_before AS SELECT tier_name, relation_bytes FROM _tiered_storage.tiers;
