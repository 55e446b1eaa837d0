---------------------------------------------------------------------------
-- What samples store of relations, and the views of it.
---------------------------------------------------------------------------

/*
 * Counters and smoothed rates of each relation at the last sample; use the view
 * _tiered_storage.heat.
 *
 * One row per relation: the counters at the last sample, and smoothed rates as of heat_at.
 * The row of an idle relation is not touched: rates decay with time when they are read.
 */
CREATE UNLOGGED TABLE _tiered_storage.relation_state
(
	relation_oid oid NOT NULL PRIMARY KEY,
	heap_oid oid NOT NULL DEFAULT 0,
	name_hash integer NOT NULL DEFAULT 0,
	tablespace_oid oid NOT NULL,
	file_number oid NOT NULL,
	kind "char" NOT NULL,
	size_bytes bigint NOT NULL,
	-- bytes of the free space map, the visibility map and the init fork, which size_bytes is
	-- without
	maps_bytes bigint NOT NULL,
	tuples float8 NOT NULL,
	cached_buffers integer NOT NULL,
	dirty_buffers integer NOT NULL,
	-- bytes of the file in the operating system's page cache when last examined; -1: unknown
	os_cached_bytes bigint NOT NULL,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL,
	row_changes bigint NOT NULL,
	-- when the server reset the counters of this relation alone; null: never, or before 19
	counters_reset_at timestamptz,
	heat_at timestamptz NOT NULL,
	-- start of the time that the rates cover
	observed_since timestamptz NOT NULL,
	sampled_since timestamptz NOT NULL,	-- time of the first sample that included this relation
	-- since when what no counter shows is known not to have happened: the statistics counted,
	-- and the relation existed; not after the first sample
	proven_since timestamptz NOT NULL DEFAULT now(),
	last_read_at timestamptz,
	last_used_at timestamptz,
	last_written_at timestamptz,
	rewritten_at timestamptz,
	-- when the relation came to this tablespace, or was first seen there; null: it has been
	-- there since the first sample
	placed_at timestamptz,
	random_fast float8 NOT NULL,
	random_slow float8 NOT NULL,
	sequential_fast float8 NOT NULL,
	sequential_slow float8 NOT NULL,
	sequential_low_slow float8 NOT NULL,
	sequential_high_slow float8 NOT NULL,
	hits_slow float8 NOT NULL,
	scans_slow float8 NOT NULL,
	changes_fast float8 NOT NULL,
	changes_slow float8 NOT NULL,
	previous_tablespace_oid oid NOT NULL,
	previous_file_number oid NOT NULL,
	vacuums bigint NOT NULL,
	page_writes_fast float8 NOT NULL,
	page_writes_slow float8 NOT NULL,
	merged_writes_fast float8 NOT NULL DEFAULT 0,
	merged_writes_slow float8 NOT NULL DEFAULT 0,
	maintenance_writes_fast float8 NOT NULL,
	wal_bytes_fast float8 NOT NULL,
	image_bytes_fast float8 NOT NULL,
	device_random_fast float8 NOT NULL,
	device_random_slow float8 NOT NULL,
	device_sequential_fast float8 NOT NULL,
	device_sequential_slow float8 NOT NULL,
	source "char" NOT NULL DEFAULT 's',
	maintenance bigint NOT NULL DEFAULT 0,
	maintenance_reads_fast float8 NOT NULL DEFAULT 0,
	-- blocks that were added to the file and that no counter has yet, since their transaction
	-- has not ended
	unclaimed_growth bigint NOT NULL DEFAULT 0,
	-- when growth without a counter was seen last, or a transaction that may have that counter;
	-- without one, the growth is given up after two samples and a minute
	unclaimed_at timestamptz NOT NULL DEFAULT '2000-01-01 00:00:00+00',
	-- when a vacuum or analyze of it was seen whose reads may still come; null: none
	maintained_at timestamptz,
	evidence_began_at timestamptz NOT NULL DEFAULT '2000-01-01 00:00:00+00',
	evidence_interval_s float8 NOT NULL DEFAULT 0,
	-- reads in each of 16 intervals of evidence_interval_s that begin at evidence_began_at,
	-- which tell a rate from an event; 4-byte floats
	evidence_reads bytea NOT NULL DEFAULT '',
	evidence_writes bytea NOT NULL DEFAULT '',
	-- bytes by which the file grew, or shrank, in each of these intervals; 4-byte floats
	evidence_growth bytea NOT NULL DEFAULT '',
	-- reads per hour of the time that the server's statistics covered at the first sample; no
	-- rate has them
	past_random_reads_per_hour float8 NOT NULL DEFAULT 0,
	past_sequential_reads_per_hour float8 NOT NULL DEFAULT 0,
	past_scans_per_hour float8 NOT NULL DEFAULT 0,
	-- blocks read from the device since the first sample, as estimated; this and the other
	-- totals of a table include its TOAST table
	total_random_reads float8 NOT NULL DEFAULT 0,
	total_sequential_reads float8 NOT NULL DEFAULT 0,
	total_scans float8 NOT NULL DEFAULT 0,
	total_page_writes float8 NOT NULL DEFAULT 0,
	total_merged_writes float8 NOT NULL DEFAULT 0,
	total_row_changes float8 NOT NULL DEFAULT 0,
	CHECK (pg_catalog.isfinite(heat_at) AND pg_catalog.isfinite(observed_since)
		AND pg_catalog.isfinite(sampled_since) AND pg_catalog.isfinite(proven_since))
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.1,
	autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('relation_state');

/*
 * Bytes by which the relations of each tablespace grew or shrank together, in each of 16
 * intervals of evidence_interval_s that begin at evidence_began_at.
 *
 * One row for each tablespace with relations of this database.  What a relation grows by is
 * in its own row above; here is what came to the tablespace and went from it, new and dropped
 * relations included.  Moves are neither.
 */
CREATE UNLOGGED TABLE _tiered_storage.tablespace_growth
(
	tablespace_oid oid NOT NULL PRIMARY KEY,
	evidence_began_at timestamptz NOT NULL,
	evidence_interval_s float8 NOT NULL,
	evidence_growth bytea NOT NULL
) WITH (autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('tablespace_growth');

/*
 * Activity of each relation by sample, until the hour has ended; a relation that was idle has
 * no row.
 */
CREATE UNLOGGED TABLE _tiered_storage.relation_history
(
	period_start timestamptz NOT NULL CHECK (pg_catalog.isfinite(period_start)),
	relation_oid oid NOT NULL,
	period_s integer NOT NULL,
	scans bigint NOT NULL,
	random_reads bigint NOT NULL,
	sequential_reads bigint NOT NULL,
	hits bigint NOT NULL,
	row_changes bigint NOT NULL,
	page_writes bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (period_start, relation_oid)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2,
	autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('relation_history');

/* The OIDs that indexes had before they were rebuilt, which history_hour has until then. */
CREATE UNLOGGED TABLE _tiered_storage.rebuilt_index
(
	old_oid oid NOT NULL PRIMARY KEY,
	new_oid oid NOT NULL,	-- the present one, however often it was rebuilt since
	rebuilt_at timestamptz NOT NULL
) WITH (autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('rebuilt_index');
ALTER FUNCTION _tiered_storage.stored_rebuilt_index() ROWS 10;	-- else all of history is sorted

/*
 * The last sample: time, duration, number of active relations.
 *
 * One row about the last sample.  It helps to tell a reset of the statistics from a quiet
 * hour.  A sample has it locked from its beginning to its end, so that autovacuum would be
 * refused again and again, and would say so; pruning is enough for one row.
 */
CREATE UNLOGGED TABLE _tiered_storage.sampler
(
	singleton boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (singleton),
	last_sample_at timestamptz NOT NULL CHECK (pg_catalog.isfinite(last_sample_at)),
	last_duration_ms float8 NOT NULL,
	last_relations integer NOT NULL,
	last_active integer NOT NULL,
	samples bigint NOT NULL,
	counter_resets bigint NOT NULL,
	told_publication name,
	rolled_up_until timestamptz,
	history_since timestamptz,
	-- the WAL before this position has been processed, all or a part of it; null: none yet
	wal_position pg_lsn,
	-- when counting the writes of relations from the WAL began; null: they are not counted
	wal_since timestamptz,
	last_wal_bytes bigint,	-- bytes of WAL that the server wrote between the last two samples
	last_wal_read_bytes bigint,	-- bytes of that WAL that were read, at most 16 MB
	-- factor by which the counts were multiplied to stand for all of the WAL; null: none of the
	-- WAL could be read any more
	last_wal_scale float8,
	-- bytes of WAL that belong to no sampled relation: catalogs, other databases, commits, new
	-- files not yet assigned to a relation
	last_wal_unattributed_bytes bigint,
	-- a sample of the pages changed since the last checkpoint, and which of them lie side by
	-- side
	changed_pages bytea,
	-- since when no count of use can have been lost: by a reset, a crash, a restore, another
	-- server
	counts_since timestamptz,
	system_identifier bigint,
	timeline integer,	-- with system_identifier the server whose statistics the last sample read
	-- the clock was set back after a sample at this time, and has not reached it again; null:
	-- not so
	clock_ahead_until timestamptz,
	-- when a sample found that counts of more than an hour are lost, or that not all is
	-- counted; null: never
	counts_lost_at timestamptz
) WITH (autovacuum_enabled = off);
SELECT _tiered_storage.define_stored('sampler');

/* The row of sampler, see stored_TABLE(). */
CREATE VIEW _tiered_storage.last_sample AS
	SELECT s.* FROM _tiered_storage.stored_sampler() s LIMIT 1;

/*
 * All of the history, minutes and hours; hour is that in which the period began.  An hour has
 * one row for a relation, about the part of it in which that was active; but one more for an
 * index that was rebuilt in it, for each longer period, and for each time that the clock
 * was set back to it.
 */
CREATE VIEW _tiered_storage.history_rows AS
	SELECT date_trunc('hour', m.period_start, 'UTC') AS hour, m.*
	FROM _tiered_storage.stored_relation_history() m
	UNION ALL
	SELECT h.hour, h.hour + make_interval(secs => u.starts_ms / 1000.0::float8),
		COALESCE(b.new_oid, u.relation_oid), u.period_s, u.scans::bigint, u.random_reads::bigint,
		u.sequential_reads::bigint, u.hits::bigint, u.row_changes::bigint, u.page_writes::bigint
	FROM _tiered_storage.history_hour h
	-- In a list of columns they make one row after another, in FROM each a table first.
	CROSS JOIN LATERAL (SELECT unnest(h.relation_oids) AS relation_oid,
		unnest(h.starts_ms) AS starts_ms, unnest(h.periods_s) AS period_s,
		unnest(h.scans) AS scans, unnest(h.random_reads) AS random_reads,
		unnest(h.sequential_reads) AS sequential_reads, unnest(h.hits) AS hits,
		unnest(h.row_changes) AS row_changes, unnest(h.page_writes) AS page_writes) u
	LEFT JOIN _tiered_storage.stored_rebuilt_index() b ON b.old_oid = u.relation_oid
		AND h.written_at <= b.rebuilt_at
	WHERE h.relation_oids IS NOT NULL;

/* The first hour in which a period may have begun that reaches beyond a moment. */
CREATE FUNCTION _tiered_storage.first_hour(moment timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
	SELECT COALESCE((SELECT max(h.hour) FROM _tiered_storage.history_hour h
		WHERE h.hour < date_trunc('hour', moment, 'UTC')), '-infinity')
$$;

/*
 * The part of a period that lies from from_at to before until_at, between 0 and 1.
 *
 * Whoever reads history over a window shares the rows that reach beyond it in proportion:
 * windows side by side then have together what they have as one.
 */
CREATE FUNCTION _tiered_storage.period_share(period_start timestamptz, period_s float8,
	from_at timestamptz, until_at timestamptz)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_period_share_sql';

CREATE VIEW tiered_storage.history AS
	SELECT h.period_start, h.relation_oid, h.period_s, h.scans, h.random_reads, h.sequential_reads,
		h.hits, h.row_changes, h.page_writes, h.hour
	FROM _tiered_storage.history_rows h;
COMMENT ON VIEW tiered_storage.history IS
'activity of relations by period, all numbers for programs: samples in the current hour, one row '
'per hour before; idle relations have no row';
COMMENT ON COLUMN tiered_storage.history.hour IS
'hour (UTC) in which the period began; a condition on it finds rows fast';
COMMENT ON COLUMN tiered_storage.history.period_start IS 'start of the period';
COMMENT ON COLUMN tiered_storage.history.relation_oid IS
'OID of the relation, which may have been dropped';
COMMENT ON COLUMN tiered_storage.history.period_s IS 'length of the period in seconds';
COMMENT ON COLUMN tiered_storage.history.scans IS 'scans started';
COMMENT ON COLUMN tiered_storage.history.random_reads IS
'blocks read at random that missed shared buffers';
COMMENT ON COLUMN tiered_storage.history.sequential_reads IS
'blocks read sequentially that missed shared buffers';
COMMENT ON COLUMN tiered_storage.history.hits IS 'blocks found in shared buffers';
COMMENT ON COLUMN tiered_storage.history.row_changes IS
'rows inserted, updated and deleted';
COMMENT ON COLUMN tiered_storage.history.page_writes IS
'pages written, counted from the WAL; 0 while the WAL is not read';

CREATE PROCEDURE tiered_storage.sample()
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_sample_sql';
COMMENT ON PROCEDURE tiered_storage.sample IS
'takes a sample, as the worker does in each cycle: adds counters, sizes and cached blocks of '
'all relations of this database to the history';
