---------------------------------------------------------------------------
-- Reads that the executor counts.
---------------------------------------------------------------------------

/*
 * Blocks that tracked plans have read of each relation of this database since the last
 * sample, extrapolated to all plans: at random, sequentially, by ignored applications,
 * and from shared buffers; plans is the number of tracked plans, standard_error that of
 * random_reads + sequential_reads; measured_reads are the sequential reads that the
 * kernel was asked about, device_reads those of them that came from a device; both are
 * null until it was asked.
 */
CREATE FUNCTION _tiered_storage.access_statistics(
	OUT relation regclass, OUT random_reads float8, OUT sequential_reads float8,
	OUT ignored_reads float8, OUT hits float8, OUT plans bigint, OUT standard_error float8,
	OUT measured_reads float8, OUT device_reads float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_access_statistics';

/*
 * State of the tracking of reads by the executor: available with
 * shared_preload_libraries, enabled by tiered_storage.track_access, complete since the
 * last sample; relations tracked in all databases and how many there is room for; reads
 * of this database that found no room since the last sample.
 */
CREATE FUNCTION _tiered_storage.access_tracking(
	OUT available boolean, OUT enabled boolean, OUT complete boolean, OUT sample_rate float8,
	OUT relations integer, OUT max_relations integer, OUT dropped_reads float8)
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_access_tracking';
