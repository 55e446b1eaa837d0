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
'estimates how a file system would compress a relation, its TOAST table and its indexes, from a'
' sample of at most 64 MB of each; algorithm: zstd, lz4, zlib or lzo; null: all';
