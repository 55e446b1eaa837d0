-- What is hot, and what is not?
-- Rates are per hour, of reads that reached the device and of pages that are written;
-- 20 seconds count as an hour in which nothing else happened.
SELECT * FROM tiered_storage.heat LIMIT 6;
-- The coldest:
SELECT * FROM tiered_storage.heat WHERE random IS NULL AND scanned IS NULL AND written IS NULL
ORDER BY size_bytes DESC LIMIT 4;
