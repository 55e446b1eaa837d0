---------------------------------------------------------------------------
-- How relations would compress.
---------------------------------------------------------------------------

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
