---------------------------------------------------------------------------
-- What samples remember of relations, and the view of it.
---------------------------------------------------------------------------

/*
 * One row per relation: the counters at the last look, and the smoothed rates
 * that were right at heat_at.  An idle relation's row is not touched: rates
 * decay by the clock when they are read.
 */
CREATE TABLE _tiered_storage.relation_state
(
	relation_oid oid NOT NULL PRIMARY KEY,
	tablespace_oid oid NOT NULL,
	file_number oid NOT NULL,
	kind "char" NOT NULL,
	size_bytes bigint NOT NULL,
	tuples float8 NOT NULL,
	cached_buffers integer NOT NULL,
	dirty_buffers integer NOT NULL,
	os_cached_bytes bigint NOT NULL,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL,
	row_changes bigint NOT NULL,
	heat_at timestamptz NOT NULL,
	observed_since timestamptz NOT NULL,
	sampled_since timestamptz NOT NULL,
	last_used_at timestamptz,
	last_written_at timestamptz,
	rewritten_at timestamptz,
	placed_at timestamptz,
	random_fast float8 NOT NULL,
	random_slow float8 NOT NULL,
	sequential_fast float8 NOT NULL,
	sequential_slow float8 NOT NULL,
	sequential_low_slow float8 NOT NULL,
	sequential_high_slow float8 NOT NULL,
	hits_slow float8 NOT NULL,
	scans_slow float8 NOT NULL,
	standby_fast float8 NOT NULL,
	changes_fast float8 NOT NULL,
	changes_slow float8 NOT NULL,
	previous_tablespace_oid oid NOT NULL,
	previous_file_number oid NOT NULL,
	vacuums bigint NOT NULL,
	page_writes_fast float8 NOT NULL,
	page_writes_slow float8 NOT NULL,
	maintenance_writes_fast float8 NOT NULL,
	wal_bytes_fast float8 NOT NULL,
	image_bytes_fast float8 NOT NULL,
	device_random_fast float8 NOT NULL,
	device_random_slow float8 NOT NULL,
	device_sequential_fast float8 NOT NULL,
	device_sequential_slow float8 NOT NULL,
	source "char" NOT NULL DEFAULT 's',
	maintenance bigint NOT NULL DEFAULT 0,
	other_fast float8 NOT NULL DEFAULT 0,
	other_slow float8 NOT NULL DEFAULT 0,
	total_random_reads float8 NOT NULL DEFAULT 0,
	total_sequential_reads float8 NOT NULL DEFAULT 0,
	total_scans float8 NOT NULL DEFAULT 0,
	total_page_writes float8 NOT NULL DEFAULT 0,
	total_row_changes float8 NOT NULL DEFAULT 0
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE _tiered_storage.relation_state IS
'counters and smoothed rates of each relation at the last sample; use the view tiered_storage.heat';
COMMENT ON COLUMN _tiered_storage.relation_state.observed_since IS
'begin of the time that the rates speak of, the time before the first sample included where the server''s statistics covered it';
COMMENT ON COLUMN _tiered_storage.relation_state.sampled_since IS
'the first sample that saw this relation';
COMMENT ON COLUMN _tiered_storage.relation_state.total_random_reads IS
'reads that are taken to have reached the device since the first sample; this and the other totals include those of a table''s TOAST table';
COMMENT ON COLUMN _tiered_storage.relation_state.placed_at IS
'when it came to this tablespace, or was first seen there; NULL: it has been there since the first sample';
COMMENT ON COLUMN _tiered_storage.relation_state.os_cached_bytes IS
'how much of the file was in the page cache of the operating system when it was last looked at; -1: unknown';

/*
 * Every table of ours has a key, also those that only grow at one end and are
 * emptied at the other: without one, UPDATE and DELETE fail as soon as somebody
 * makes a publication FOR ALL TABLES.  Here the key costs 28 bytes beside a row
 * of 92 and is written at its right end only.  REPLICA IDENTITY FULL would cost
 * nothing here, but a subscriber would read its whole table for each row that is
 * deleted.  The key also finds the first period, and what is too old.
 */
CREATE TABLE _tiered_storage.relation_history
(
	period_start timestamptz NOT NULL,
	relation_oid oid NOT NULL,
	period_s integer NOT NULL,
	scans bigint NOT NULL,
	random_reads bigint NOT NULL,
	sequential_reads bigint NOT NULL,
	hits bigint NOT NULL,
	row_changes bigint NOT NULL,
	page_writes bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (period_start, relation_oid)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2);
COMMENT ON TABLE _tiered_storage.relation_history IS
'what each active relation did in a period; idle relations have no row; recent rows are one sample, older ones are rolled up to an hour';

/* One row: when, how long, how much; what tells a reset from a slow hour. */
CREATE TABLE _tiered_storage.sampler
(
	singleton boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (singleton),
	last_sample_at timestamptz NOT NULL,
	last_duration_ms float8 NOT NULL,
	last_relations integer NOT NULL,
	last_active integer NOT NULL,
	samples bigint NOT NULL,
	counter_resets bigint NOT NULL,
	rolled_up_until timestamptz,
	wal_position pg_lsn,
	wal_since timestamptz,
	last_wal_bytes bigint,
	last_wal_read_bytes bigint,
	last_wal_scale float8,
	last_wal_unattributed_bytes bigint,
	changed_pages bytea
);
COMMENT ON TABLE _tiered_storage.sampler IS 'the last sample: when, how long it took, how many relations were active';

COMMENT ON COLUMN _tiered_storage.sampler.wal_position IS
'the WAL before this position was looked at, all or a part of it; NULL while tiered_storage.wal_sample_size is 0';
COMMENT ON COLUMN _tiered_storage.sampler.wal_since IS
'since when the writes of the relations are counted from the WAL';
COMMENT ON COLUMN _tiered_storage.sampler.last_wal_bytes IS
'WAL that the server wrote between the last two samples';
COMMENT ON COLUMN _tiered_storage.sampler.last_wal_read_bytes IS
'as much of it as was read; tiered_storage.wal_sample_size is the limit';
COMMENT ON COLUMN _tiered_storage.sampler.last_wal_scale IS
'what was counted was multiplied by this, to stand for all of the WAL; NULL when none of it could be read any more';
COMMENT ON COLUMN _tiered_storage.sampler.last_wal_unattributed_bytes IS
'WAL that belongs to no relation that is sampled: catalogs, other databases, commits, new files that no relation had yet';
COMMENT ON COLUMN _tiered_storage.sampler.changed_pages IS
'a sample of the pages changed since the last checkpoint, while full_page_writes is off';

CREATE VIEW tiered_storage.relation_history AS
	SELECT h.period_start, h.relation_oid, h.period_s, h.scans, h.random_reads, h.sequential_reads, h.hits, h.row_changes, h.page_writes
	FROM _tiered_storage.relation_history h;
COMMENT ON VIEW tiered_storage.relation_history IS
'what each active relation did in a period; idle relations have no row; recent rows are one sample, older ones are rolled up to an hour';
COMMENT ON COLUMN tiered_storage.relation_history.period_start IS 'begin of the period';
COMMENT ON COLUMN tiered_storage.relation_history.relation_oid IS 'OID of the relation';
COMMENT ON COLUMN tiered_storage.relation_history.period_s IS 'length of the period in seconds';
COMMENT ON COLUMN tiered_storage.relation_history.scans IS 'scans that began';
COMMENT ON COLUMN tiered_storage.relation_history.random_reads IS 'blocks read at random that missed shared buffers';
COMMENT ON COLUMN tiered_storage.relation_history.sequential_reads IS 'blocks read in sequence that missed shared buffers';
COMMENT ON COLUMN tiered_storage.relation_history.hits IS 'blocks found in shared buffers';
COMMENT ON COLUMN tiered_storage.relation_history.row_changes IS 'rows inserted, updated and deleted';
COMMENT ON COLUMN tiered_storage.relation_history.page_writes IS 'pages written, counted from the WAL';

CREATE VIEW tiered_storage.sampler AS
	SELECT s.last_sample_at, s.last_duration_ms, s.last_relations, s.last_active, s.samples, s.counter_resets, s.rolled_up_until,
		s.wal_position, s.wal_since, s.last_wal_bytes, s.last_wal_read_bytes, s.last_wal_scale, s.last_wal_unattributed_bytes
	FROM _tiered_storage.sampler s;
COMMENT ON VIEW tiered_storage.sampler IS
'the last sample: when, how long it took, how many relations were active';
COMMENT ON COLUMN tiered_storage.sampler.last_sample_at IS 'when the last sample was taken';
COMMENT ON COLUMN tiered_storage.sampler.last_duration_ms IS 'how long it took, in ms';
COMMENT ON COLUMN tiered_storage.sampler.last_relations IS 'relations that it saw';
COMMENT ON COLUMN tiered_storage.sampler.last_active IS 'relations that were used since the sample before';
COMMENT ON COLUMN tiered_storage.sampler.samples IS 'samples taken';
COMMENT ON COLUMN tiered_storage.sampler.counter_resets IS 'how often the server''s statistics turned out to have been reset';
COMMENT ON COLUMN tiered_storage.sampler.rolled_up_until IS 'history before this time is one row per hour';
COMMENT ON COLUMN tiered_storage.sampler.wal_position IS 'the WAL before this position was looked at, all or a part of it; null while tiered_storage.wal_sample_size is 0';
COMMENT ON COLUMN tiered_storage.sampler.wal_since IS 'since when the writes of the relations are counted from the WAL';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_bytes IS 'WAL that the server wrote between the last two samples';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_read_bytes IS 'as much of it as was read; tiered_storage.wal_sample_size is the limit';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_scale IS 'what was counted was multiplied by this, to stand for all of the WAL; null when none of it could be read any more';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_unattributed_bytes IS 'WAL that belongs to no relation that is sampled: catalogs, other databases, commits, new files that no relation had yet';

CREATE PROCEDURE tiered_storage.sample()
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_sample_sql';
COMMENT ON PROCEDURE tiered_storage.sample() IS
'reads the counters, sizes and cached blocks of all relations of this database and adds them to the history; the worker calls the same code';

CREATE FUNCTION tiered_storage.relation_buffers(
	OUT relation regclass, OUT tablespace_oid oid, OUT file_number oid,
	OUT cached_buffers bigint, OUT dirty_buffers bigint, OUT usage_sum bigint,
	OUT standard_error float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_relation_buffers';
COMMENT ON FUNCTION tiered_storage.relation_buffers() IS
'how many blocks of each relation of this database are in shared buffers, and how many of them are dirty; of more than 4 million buffers a random sample is looked at, and standard_error says how sure cached_buffers is';

CREATE FUNCTION _tiered_storage.smoothed_rate(rate float8, idle_s float8, observed_s float8, half_life_s float8)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_smoothed_rate';
COMMENT ON FUNCTION _tiered_storage.smoothed_rate(float8, float8, float8, float8) IS
'an exponentially smoothed rate as it is idle_s seconds after it was last advanced, for something observed for observed_s seconds';

CREATE VIEW tiered_storage.heat AS
	SELECT s.relation_oid::pg_catalog.regclass AS relation,
		CASE s.kind WHEN 'r' THEN 'table' WHEN 'i' THEN 'index' WHEN 't' THEN 'toast table'
			WHEN 'm' THEN 'materialized view' ELSE s.kind::pg_catalog.text END AS kind,
		tt.tier_name,
		s.size_bytes,
		_tiered_storage.smoothed_rate(s.random_fast, a.idle_s, a.observed_s, 86400) AS random_reads_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_fast, a.idle_s, a.observed_s, 86400) AS sequential_reads_per_hour,
		_tiered_storage.smoothed_rate(s.device_random_fast, a.idle_s, a.observed_s, 86400) AS device_random_reads_per_hour,
		_tiered_storage.smoothed_rate(s.device_sequential_fast, a.idle_s, a.observed_s, 86400) AS device_sequential_reads_per_hour,
		_tiered_storage.smoothed_rate(s.changes_fast, a.idle_s, a.observed_s, 86400) AS writes_per_hour,
		_tiered_storage.smoothed_rate(s.random_slow, a.idle_s, a.observed_s, 1209600) AS random_reads_14d_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_slow, a.idle_s, a.observed_s, 1209600) AS sequential_reads_14d_per_hour,
		_tiered_storage.smoothed_rate(s.changes_slow, a.idle_s, a.observed_s, 1209600) AS writes_14d_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_low_slow, a.idle_s, a.observed_s, 1209600) AS sequential_reads_low_14d_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_high_slow, a.idle_s, a.observed_s, 1209600) AS sequential_reads_high_14d_per_hour,
		_tiered_storage.smoothed_rate(s.other_fast, a.idle_s, a.observed_s, 86400) AS other_reads_per_hour,
		_tiered_storage.smoothed_rate(s.other_slow, a.idle_s, a.observed_s, 1209600) AS other_reads_14d_per_hour,
		_tiered_storage.smoothed_rate(s.hits_slow, a.idle_s, a.observed_s, 1209600) AS hits_14d_per_hour,
		CASE WHEN s.size_bytes OPERATOR(pg_catalog.>) 0 THEN
			LEAST(1.0, s.cached_buffers OPERATOR(pg_catalog.*) 8192.0 OPERATOR(pg_catalog./) s.size_bytes)::pg_catalog.float8 END AS cached_fraction,
		CASE WHEN s.size_bytes OPERATOR(pg_catalog.>) 0 AND s.os_cached_bytes OPERATOR(pg_catalog.>=) 0 THEN
			LEAST(1.0, s.os_cached_bytes OPERATOR(pg_catalog.*) 1.0 OPERATOR(pg_catalog./) s.size_bytes)::pg_catalog.float8 END AS os_cached_fraction,
		s.dirty_buffers,
		s.last_used_at, s.last_written_at, s.rewritten_at, s.placed_at,
		s.sampled_since, s.observed_since, s.heat_at,
		_tiered_storage.smoothed_rate(s.standby_fast, a.idle_s, a.observed_s, 86400) AS standby_reads_per_hour,
		CASE s.source WHEN 'e' THEN 'executor' ELSE 'statistics' END AS source,
		_tiered_storage.smoothed_rate(s.page_writes_fast, a.idle_s, w.observed_s, 86400) AS page_writes_per_hour,
		_tiered_storage.smoothed_rate(s.page_writes_slow, a.idle_s, w.observed_s, 1209600) AS page_writes_14d_per_hour,
		_tiered_storage.smoothed_rate(s.maintenance_writes_fast, a.idle_s, w.observed_s, 86400) AS maintenance_writes_per_hour,
		_tiered_storage.smoothed_rate(s.wal_bytes_fast, a.idle_s, w.observed_s, 86400) AS wal_bytes_per_hour,
		_tiered_storage.smoothed_rate(s.image_bytes_fast, a.idle_s, w.observed_s, 86400) AS full_page_image_bytes_per_hour,
		CASE WHEN w.observed_s IS NULL THEN 'statistics' ELSE 'wal' END AS write_source
	FROM _tiered_storage.relation_state s
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) s.relation_oid
	LEFT JOIN _tiered_storage.tier_tablespaces tt ON tt.tablespace_oid OPERATOR(pg_catalog.=) s.tablespace_oid
	CROSS JOIN LATERAL (SELECT
		GREATEST(0, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) s.heat_at))::pg_catalog.float8 AS idle_s,
		GREATEST(3600, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) s.observed_since))::pg_catalog.float8 AS observed_s) a
	LEFT JOIN LATERAL (SELECT
		GREATEST(3600, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-)
			GREATEST(x.wal_since, s.observed_since)))::pg_catalog.float8 AS observed_s
		FROM _tiered_storage.sampler x
		WHERE x.wal_since IS NOT NULL AND c.relpersistence OPERATOR(pg_catalog.=) 'p') w ON true;
COMMENT ON VIEW tiered_storage.heat IS
'each relation''s smoothed rates per hour as of now: reads are blocks that missed shared buffers, device reads those of them that the page cache did not have either, writes are changed rows; half-life 1 day, and 14 days in the *_14d columns; less than an hour of observation counts as an hour; placed_at is when it was moved where it is, NULL if it has not been moved; page writes (those of vacuum and rewrites are maintenance) and WAL are counted from the WAL, and NULL where write_source is not ''wal''; standby_reads_per_hour are those of the reads that came from standbys; other reads are those of maintenance, which no query needed; source says how random and sequential were told apart when the relation was last active';
COMMENT ON COLUMN tiered_storage.heat.relation IS 'table, partition, materialized view, index or TOAST table';
COMMENT ON COLUMN tiered_storage.heat.kind IS 'table, index, toast table or materialized view';
COMMENT ON COLUMN tiered_storage.heat.tier_name IS 'where it is; null: its tablespace belongs to no tier';
COMMENT ON COLUMN tiered_storage.heat.size_bytes IS 'size of the main fork at the last sample';
COMMENT ON COLUMN tiered_storage.heat.random_reads_per_hour IS 'blocks read at random that missed shared buffers, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_per_hour IS 'blocks read in sequence that missed shared buffers, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.device_random_reads_per_hour IS 'those of the random reads that the page cache did not have either';
COMMENT ON COLUMN tiered_storage.heat.device_sequential_reads_per_hour IS 'those of the sequential reads that the page cache did not have either';
COMMENT ON COLUMN tiered_storage.heat.writes_per_hour IS 'changed rows, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.random_reads_14d_per_hour IS 'the same as random_reads_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_14d_per_hour IS 'the same as sequential_reads_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.writes_14d_per_hour IS 'the same as writes_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_low_14d_per_hour IS 'lower bound of sequential_reads_14d_per_hour';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_high_14d_per_hour IS 'upper bound of sequential_reads_14d_per_hour';
COMMENT ON COLUMN tiered_storage.heat.other_reads_per_hour IS 'reads of maintenance and dumps, which no query needed, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.other_reads_14d_per_hour IS 'the same as other_reads_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.hits_14d_per_hour IS 'blocks found in shared buffers, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.cached_fraction IS 'share of its blocks that was in shared buffers at the last sample';
COMMENT ON COLUMN tiered_storage.heat.os_cached_fraction IS 'share of its file that was in the page cache when it was last looked at; null: not known';
COMMENT ON COLUMN tiered_storage.heat.dirty_buffers IS 'blocks in shared buffers that were not written yet';
COMMENT ON COLUMN tiered_storage.heat.last_used_at IS 'the end of the last period in which it was used';
COMMENT ON COLUMN tiered_storage.heat.last_written_at IS 'the end of the last period in which it was changed';
COMMENT ON COLUMN tiered_storage.heat.rewritten_at IS 'when it got a new file in the same tablespace: TRUNCATE, VACUUM FULL and the like';
COMMENT ON COLUMN tiered_storage.heat.placed_at IS 'when it was moved where it is; null: it was never moved';
COMMENT ON COLUMN tiered_storage.heat.sampled_since IS 'the first sample that saw it';
COMMENT ON COLUMN tiered_storage.heat.observed_since IS 'begin of the time that the rates speak of, earlier than sampled_since where the server''s statistics reach back further';
COMMENT ON COLUMN tiered_storage.heat.heat_at IS 'when the rates were last advanced';
COMMENT ON COLUMN tiered_storage.heat.standby_reads_per_hour IS 'those of the reads that came from standbys';
COMMENT ON COLUMN tiered_storage.heat.source IS 'how random and sequential were told apart: executor, or statistics';
COMMENT ON COLUMN tiered_storage.heat.page_writes_per_hour IS 'pages written, counted from the WAL, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.page_writes_14d_per_hour IS 'the same as page_writes_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.maintenance_writes_per_hour IS 'pages written by vacuum and rewrites, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.wal_bytes_per_hour IS 'WAL for its changes, in bytes, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.full_page_image_bytes_per_hour IS 'those of the WAL bytes that are full-page images';
COMMENT ON COLUMN tiered_storage.heat.write_source IS 'wal, or statistics where page writes and WAL are not known';

CREATE FUNCTION tiered_storage.access_statistics(
	OUT relation regclass, OUT random_reads float8, OUT sequential_reads float8,
	OUT ignored_reads float8, OUT hits float8, OUT plans bigint, OUT standard_error float8,
	OUT measured_reads float8, OUT device_reads float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_access_statistics';
COMMENT ON FUNCTION tiered_storage.access_statistics() IS
'what tracked plans have read of each relation of this database since the last sample, in blocks, extrapolated to all plans: random, sequential, by applications that are ignored, and from shared buffers; the number of these plans, and the standard error of random + sequential reads; measured_reads are those of the sequential ones of which the kernel counted what came from a device, device_reads what did, both NULL until it has counted any';

CREATE FUNCTION tiered_storage.access_tracking(
	OUT available boolean, OUT enabled boolean, OUT complete boolean, OUT sample_rate float8,
	OUT relations integer, OUT max_relations integer, OUT dropped_reads float8)
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_access_tracking';
COMMENT ON FUNCTION tiered_storage.access_tracking() IS
'whether the executor''s reads are tracked: available with shared_preload_libraries, enabled by tiered_storage.track_access, complete since the last sample; relations of all databases that are tracked now and that fit, and reads of this database that found no room since then';
