-- What should live where?
-- Nothing is advised to leave fast storage before it has been observed for a day:
SELECT relation, current_tier, recommended_tier FROM tiered_storage.recommend_placement();
-- This demonstration has not got a day. It asks for the advice at once:
SET tiered_storage.observation_period = 0;
SELECT relation, current_tier, recommended_tier FROM tiered_storage.recommend_placement();
-- The SSD has room, and leaving it saves no time. But what nobody reads costs money there.
-- So what is the cheapest placement that the devices can carry?
SELECT current_tier || ' > ' || recommended_tier AS move, kind, count(*) AS relations,
       pg_size_pretty(sum(size_bytes)) AS size,
       round(sum(price_delta_per_month)::numeric, 2) AS price_per_month
FROM tiered_storage.recommend_placement(objective => 'money')
GROUP BY 1, 2 ORDER BY sum(size_bytes) DESC;
-- The three that save most, with their reasons:
\x
SELECT relation, current_tier || ' > ' || recommended_tier AS move,
       pg_size_pretty(size_bytes) AS size, confidence, reason
FROM tiered_storage.recommend_placement(objective => 'money')
ORDER BY price_delta_per_month LIMIT 3;
-- All of it in one line, with what was left out:
SELECT reason FROM tiered_storage.placement_summary(objective => 'money') WHERE tier_name IS NULL;
-- Why does the largest table stay?
SELECT * FROM tiered_storage.explain_placement('pgbench_accounts', objective => 'money');
