-- One round of TPC-H queries on recent data, repeated for as long as the load runs.
\set date 1997-10-01
\set first 1998-01-01
\set last 1998-12-31
\ir ../../bench/tpch/q06.sql
\ir ../../bench/tpch/q20.sql
\set date 1998-06-01
\ir ../../bench/tpch/q14.sql
\ir ../../bench/tpch/q15.sql
\ir ../../bench/tpch/q11.sql
\ir ../../bench/tpch/q07.sql
\ir ../../bench/tpch/q02.sql
\ir ../../bench/tpch/q16.sql
SELECT pg_sleep(0.5);
