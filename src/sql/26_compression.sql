---------------------------------------------------------------------------
-- How relations would compress.
---------------------------------------------------------------------------

/*
 * What estimate_compression() has found; of a relation and an algorithm the last row counts.
 *
 * Rows are added and never changed; the last one of a relation and an algorithm counts, and
 * samples remove the others.  What was measured is not dumped, as samples are not.
 */
CREATE TABLE _tiered_storage.compression_estimate (
	relation_oid oid NOT NULL,	-- OID of the relation
	algorithm name NOT NULL,	-- zstd, lz4, zlib or lzo
	estimated_at timestamptz NOT NULL,	-- when
	ratio float8 NOT NULL,	-- bytes of data per byte stored
	ratio_low float8 NOT NULL,	-- lower end of its interval of 90 %
	ratio_high float8 NOT NULL,	-- upper end of its interval of 90 %
	-- size of the relation then, without its free space map and visibility map
	size_bytes bigint NOT NULL,
	pieces bigint NOT NULL,	-- pieces of 128 kB that this is
	sampled_pieces bigint NOT NULL,	-- of these, how many were compressed
	file_number oid,	-- the file that it had; null: not known
	-- a key, without which no row could be removed while a publication has all tables
	estimate_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY
);
CREATE INDEX compression_estimate_relation
	ON _tiered_storage.compression_estimate (relation_oid, algorithm);

CREATE FUNCTION tiered_storage.estimate_compression(
	relation regclass, algorithm text DEFAULT NULL, include_indexes boolean DEFAULT true,
	OUT part regclass, OUT compressor text,
	OUT ratio float8, OUT ratio_low float8, OUT ratio_high float8,
	OUT size_bytes bigint, OUT stored_bytes bigint, OUT pieces bigint, OUT sampled_pieces bigint,
	OUT elapsed_ms float8, OUT reason text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 4
AS 'MODULE_PATHNAME', 'tier_estimate_compression';
COMMENT ON FUNCTION tiered_storage.estimate_compression IS
'how a file system would compress a relation, its TOAST table and its indexes: some of its pages '
'are read in pieces of 128 kB and compressed; without an algorithm by all of zstd, lz4, zlib and '
'lzo. At most 64 MB of each are read, through shared buffers and without waiting for a lock';

/*
 * The last estimate of each existing relation and algorithm, and why it does not count any
 * more.
 *
 * Another half of its rows may be of another kind.  That it was rewritten is noticed by the next
 * sample: who estimates before that has seen the new file.
 */
CREATE VIEW _tiered_storage.last_estimates AS
	SELECT e.*, CASE WHEN s.size_bytes / 2 > e.size_bytes
			THEN 'it has grown to more than twice its size since'
		WHEN s.rewritten_at > e.estimated_at AND e.file_number IS DISTINCT FROM r.relfilenode
			THEN 'it was rewritten since' END AS unused_reason
	FROM (
		SELECT DISTINCT ON (x.relation_oid, x.algorithm) x.*
		FROM _tiered_storage.compression_estimate x
		ORDER BY x.relation_oid, x.algorithm, x.estimated_at DESC
	) e
	CROSS JOIN LATERAL _tiered_storage.relation_entry(e.relation_oid) r
	LEFT JOIN _tiered_storage.stored_relation_state() s ON s.relation_oid = e.relation_oid;
