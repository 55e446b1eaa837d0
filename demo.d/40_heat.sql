-- What is hot, and what is not?
-- Reads are blocks that were not in shared_buffers, writes are changed rows, both per hour;
-- 20 seconds count as an hour in which nothing else happened.
SELECT relation, kind, pg_size_pretty(size_bytes) AS size,
       random_reads_per_hour::int AS random,
       sequential_reads_per_hour::int AS sequential, writes_per_hour::int AS writes
FROM tiered_storage.heat ORDER BY random_reads_per_hour DESC LIMIT 6;
-- The coldest:
SELECT relation, kind, pg_size_pretty(size_bytes) AS size,
       random_reads_per_hour::int AS random,
       sequential_reads_per_hour::int AS sequential, writes_per_hour::int AS writes
FROM tiered_storage.heat WHERE size_bytes > 100000
ORDER BY random_reads_per_hour + sequential_reads_per_hour + writes_per_hour,
         size_bytes DESC LIMIT 4;
