---------------------------------------------------------------------------
-- How relations would compress.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.estimate_compression(
	relation regclass, algorithm text DEFAULT NULL, include_indexes boolean DEFAULT true,
	OUT part regclass, OUT compressor text,
	OUT ratio float8, OUT ratio_low float8, OUT ratio_high float8,
	OUT size_bytes bigint, OUT stored_bytes bigint, OUT pieces bigint, OUT sampled_pieces bigint,
	OUT elapsed_ms float8, OUT reason text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 4
AS 'MODULE_PATHNAME', 'tier_estimate_compression';
