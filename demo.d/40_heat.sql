-- What is hot, and what is not?
-- Rates are blocks per hour of the time that was observed, of reads that reached the device.
SELECT * FROM tiered_storage.heat LIMIT 6;
-- The coldest:
SELECT * FROM tiered_storage.heat WHERE random_reads_per_hour + sequential_reads_per_hour < 1
LIMIT 4;
