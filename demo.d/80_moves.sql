-- What that took
-- Each table and index is copied, block for block, while it is read and written. It is locked
-- only when its new file takes the place of the old one, for as long as the last changed
-- blocks and a flush of the WAL take. Each attempt waits 200 ms for that lock at most, then
-- the worker steps back, so that nobody queues behind it for longer. longest_wait_ms is that of
-- all attempts of one move together.
SELECT kind, count(*) AS moves, sum(attempts) AS attempts,
       max(lock_wait_ms)::numeric(9, 1) AS longest_wait_ms,
       (percentile_disc(0.5) WITHIN GROUP (ORDER BY lock_held_ms))::numeric(9, 1)
         AS median_held_ms,
       max(lock_held_ms)::numeric(9, 1) AS longest_held_ms,
       max(lock_flush_ms)::numeric(9, 1) AS longest_flush_ms
FROM _tiered_storage.moves WHERE state = 'done' GROUP BY kind ORDER BY kind DESC;
SELECT * FROM tiered_storage.policies;
-- Where the space went:
CALL tiered_storage.sample();
SELECT t.tier_name, pg_size_pretty(b.relation_bytes) AS before,
       pg_size_pretty(t.relation_bytes) AS after, pg_size_pretty(t.capacity_bytes) AS capacity
FROM _tiered_storage.tiers t JOIN tiers_before b USING (tier_name) ORDER BY t.rank;
