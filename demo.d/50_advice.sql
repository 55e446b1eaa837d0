-- What should live where?
-- Advice to leave fast storage takes 7 days of observation. This demonstration has not got
-- them and asks for the advice at once:
SET tiered_storage.observation_period = 0;
SELECT current_tier || ' > ' || recommended_tier AS move, kind, count(*) AS relations,
       pg_size_pretty(sum(size_bytes)) AS size,
       round(sum(price_delta_per_month)::numeric, 4) AS price_per_month
FROM tiered_storage.recommend_placement() GROUP BY 1, 2 ORDER BY sum(size_bytes) DESC;
-- The three that save most, with their reasons:
\x
SELECT relation, current_tier || ' > ' || recommended_tier AS move,
       pg_size_pretty(size_bytes) AS size, confidence, reason
FROM tiered_storage.recommend_placement() ORDER BY price_delta_per_month LIMIT 3;
