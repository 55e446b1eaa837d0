-- How relations would compress, told from some of their pages.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql

\set ECHO none
-- Each of these is looked at as a whole, but for the last one.
CREATE TABLE regress_c_text WITH (autovacuum_enabled = off) AS SELECT i, repeat('the quick brown fox ', 20) AS t
	FROM generate_series(1, 4000) i;
CREATE TABLE regress_c_number WITH (autovacuum_enabled = off) AS SELECT i, i * 2 AS j FROM generate_series(1, 50000) i;
CREATE INDEX regress_c_number_i ON regress_c_number (i);
CREATE FUNCTION regress_c_noise(first int, n int) RETURNS text LANGUAGE sql
	AS $$ SELECT string_agg(sha512((first + i)::text::bytea)::text, '' ORDER BY i) FROM generate_series(1, n) i $$;
CREATE TABLE regress_c_noise (i int, b bytea) WITH (autovacuum_enabled = off);
ALTER TABLE regress_c_noise ALTER b SET STORAGE PLAIN;
INSERT INTO regress_c_noise SELECT i, (SELECT string_agg(sha512((100 * i + k)::text::bytea), '' ORDER BY k)
	FROM generate_series(1, 62) k) FROM generate_series(1, 400) i;
CREATE TABLE regress_c_toast (i int, t text) WITH (autovacuum_enabled = off);
INSERT INTO regress_c_toast SELECT i, regress_c_noise(100 * i, 40) FROM generate_series(1, 400) i;
CREATE TABLE regress_c_large WITH (autovacuum_enabled = off) AS SELECT i, repeat('x', 1000) AS t
	FROM generate_series(1, 40000) i;
CREATE TABLE regress_c_empty (i int, t text);
-- No page is there that only some versions would have added.
VACUUM FULL regress_c_text, regress_c_large;
\set ECHO all

---------------------------------------------------------------------------
-- What is found
---------------------------------------------------------------------------

CREATE FUNCTION regress_c(relation regclass, algorithm text DEFAULT NULL) RETURNS TABLE (part text, compressor text,
	ratio numeric, exact boolean, all_of_it boolean, stored boolean, reason text) LANGUAGE sql AS $$
	SELECT CASE WHEN e.part::text ~ 'pg_toast' THEN 'toast table' ELSE e.part::text END, e.compressor,
		round(e.ratio::numeric, 1), e.ratio_low = e.ratio AND e.ratio_high = e.ratio,
		e.sampled_pieces = e.pieces AND e.pieces = (pg_relation_size(e.part) + 131071) / 131072,
			e.size_bytes = pg_relation_size(e.part) AND abs(e.stored_bytes * e.ratio - e.size_bytes) <= e.ratio,
				e.reason
	FROM _tiered_storage.estimate_compression(relation, algorithm) e
	-- Not every system has its library.
	WHERE e.compressor <> 'lzo'
$$;
-- 128 kB cannot take less than a sector of 4 kB.
SELECT * FROM regress_c('regress_c_text');
-- Libraries are not of one version everywhere.
SELECT part, compressor, ratio BETWEEN 1.5 AND 8 AS compresses, exact, all_of_it, stored, reason
	FROM regress_c('regress_c_number');
-- What cannot be compressed is stored as it is; of zfs also what can be, by less than an eighth.
SELECT * FROM regress_c('regress_c_noise');
-- What is not there is said.
SELECT count(*), count(ratio) = 1 OR bool_and(reason IS NOT NULL) AS is_said
	FROM _tiered_storage.estimate_compression('regress_c_noise', 'lzo');
-- Hexadecimal digits of noise are half as long, which pglz has not noticed.
SELECT part, compressor, ratio > 1.5 AS compresses, exact, all_of_it, stored, reason
	FROM regress_c('regress_c_toast', 'zstd');
SELECT * FROM regress_c('regress_c_text', 'zstd');
SELECT part, compressor, ratio, size_bytes, stored_bytes, pieces, sampled_pieces, reason
	FROM _tiered_storage.estimate_compression('regress_c_empty', 'lz4');
-- No more is looked at than has to be.
-- The last piece, which is shorter, may be among them.
SELECT part, compressor, ratio > 30 AS compresses, ratio BETWEEN ratio_low AND ratio_high AS between, pieces,
	sampled_pieces, elapsed_ms > 0 AS took_time FROM _tiered_storage.estimate_compression('regress_c_large', 'zstd');
-- An index alone, a table without its indexes, a TOAST table.
SELECT part, compressor FROM _tiered_storage.estimate_compression('regress_c_number_i', 'lz4');
SELECT part, compressor FROM _tiered_storage.estimate_compression('regress_c_number', 'lz4', include_indexes => false);
SELECT reltoastrelid::regclass AS toast FROM pg_class WHERE oid = 'regress_c_toast'::regclass \gset
SELECT count(*), min(compressor) FROM _tiered_storage.estimate_compression(:'toast', 'lz4');
-- Other kinds.
CREATE UNLOGGED TABLE regress_c_unlogged AS SELECT i, repeat('x', 1000) AS t FROM generate_series(1, 1000) i;
CREATE MATERIALIZED VIEW "regress_c Quoted" AS SELECT i, repeat('x', 1000) AS t FROM generate_series(1, 1000) i;
VACUUM FULL regress_c_unlogged, "regress_c Quoted";
SELECT * FROM regress_c('regress_c_unlogged', 'zlib');
SELECT * FROM regress_c('"regress_c Quoted"', 'zlib');
SELECT count(*) > 0 AS catalogs_too FROM regress_c('pg_class', 'zlib');
-- It is no use of the relation.
SELECT pg_stat_force_next_flush();
SELECT heap_blks_read AS read, heap_blks_hit AS hit FROM pg_statio_user_tables
	WHERE relid = 'regress_c_large'::regclass \gset
SELECT count(*) FROM _tiered_storage.estimate_compression('regress_c_large');
SELECT pg_stat_force_next_flush();
SELECT heap_blks_read - :read AS read, heap_blks_hit - :hit AS hit FROM pg_statio_user_tables
	WHERE relid = 'regress_c_large'::regclass;

---------------------------------------------------------------------------
-- Bad input
---------------------------------------------------------------------------

\set ECHO none
CREATE TABLE regress_c_p (i int) PARTITION BY RANGE (i);
CREATE INDEX regress_c_p_i ON regress_c_p (i);
CREATE VIEW regress_c_view AS SELECT 1 AS i;
CREATE SEQUENCE regress_c_sequence;
CREATE FOREIGN DATA WRAPPER regress_c_fdw;
CREATE SERVER regress_c_server FOREIGN DATA WRAPPER regress_c_fdw;
CREATE FOREIGN TABLE regress_c_foreign (i int) SERVER regress_c_server;
CREATE TEMP TABLE regress_c_temp (i int);
\set ECHO all
SELECT * FROM _tiered_storage.estimate_compression(NULL);
SELECT * FROM _tiered_storage.estimate_compression('regress_c_text', include_indexes => NULL);
SELECT * FROM _tiered_storage.estimate_compression('regress_c_text', 'gzip');
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM _tiered_storage.estimate_compression('regress_c_text', '')
SELECT * FROM _tiered_storage.estimate_compression(4294967295)
SELECT * FROM _tiered_storage.estimate_compression('regress_c_p')
$refused$);
\set ECHO all
SELECT * FROM _tiered_storage.estimate_compression('regress_c_p_i');
SELECT * FROM _tiered_storage.estimate_compression('regress_c_view');
SELECT * FROM _tiered_storage.estimate_compression('regress_c_sequence');
SELECT * FROM _tiered_storage.estimate_compression('regress_c_foreign');
\set VERBOSITY sqlstate
SELECT * FROM _tiered_storage.estimate_compression('regress_c_temp');
\set VERBOSITY default
SELECT part, compressor, ratio, reason FROM _tiered_storage.estimate_compression('pg_database', 'lz4')
	WHERE part = 'pg_database'::regclass;
-- The statement that is offered for partitions.
CREATE TABLE regress_c_p_1 PARTITION OF regress_c_p FOR VALUES FROM (0) TO (10);
INSERT INTO regress_c_p VALUES (1);
SELECT e.part FROM pg_partition_tree('regress_c_p') p, _tiered_storage.estimate_compression(p.relid, 'lz4') e
	WHERE p.isleaf;

---------------------------------------------------------------------------
-- Rights
---------------------------------------------------------------------------

CREATE ROLE regress_c_nobody;
CREATE ROLE regress_c_monitor IN ROLE pg_monitor;
CREATE ROLE regress_c_reader IN ROLE pg_monitor, pg_read_all_data;
CREATE ROLE regress_c_owner IN ROLE pg_monitor;
ALTER TABLE regress_c_empty OWNER TO regress_c_owner;
GRANT USAGE ON SCHEMA tiered_storage TO regress_c_nobody;
SET ROLE regress_c_nobody;
SELECT * FROM tiered_storage.estimate_compression('regress_c_text');
SET ROLE regress_c_monitor;
SELECT * FROM _tiered_storage.estimate_compression('regress_c_text');
SELECT * FROM _tiered_storage.estimate_compression('regress_c_number_i'); \echo :SQLSTATE
SET ROLE regress_c_reader;
SELECT count(*) FROM _tiered_storage.estimate_compression('regress_c_number_i', 'lz4');
SET ROLE regress_c_owner;
SELECT count(*) FROM _tiered_storage.estimate_compression('regress_c_empty', 'lz4');
-- Who may read some rows only.
RESET ROLE;
ALTER TABLE regress_c_number ENABLE ROW LEVEL SECURITY;
SET ROLE regress_c_reader;
SELECT count(*) FROM _tiered_storage.estimate_compression('regress_c_number', 'lz4');
\set ECHO none
RESET ROLE;

SET client_min_messages = warning;
DROP OWNED BY regress_c_nobody;
DROP EXTENSION tiered_storage;
DROP TABLE regress_c_text, regress_c_number, regress_c_noise, regress_c_toast, regress_c_large, regress_c_empty,
	regress_c_unlogged, regress_c_p, regress_c_temp;
DROP VIEW regress_c_view;
DROP SEQUENCE regress_c_sequence;
DROP FOREIGN DATA WRAPPER regress_c_fdw CASCADE;
DROP FUNCTION regress_c, regress_c_noise;
DROP ROLE regress_c_nobody, regress_c_monitor, regress_c_reader, regress_c_owner;
\set ECHO all
