---------------------------------------------------------------------------
-- Running moves, and the calls that make, pause and undo moves.
---------------------------------------------------------------------------

/*
 * Progress of the move that this process runs; no row if it runs none; see the view
 * move_progress.
 */
CREATE FUNCTION _tiered_storage.mover_progress(
	pid integer, OUT phase text, OUT blocks_total bigint, OUT blocks_done bigint,
	OUT copied_bytes bigint, OUT catch_up_rounds integer, OUT attempts integer,
	OUT restarts integer,
	OUT started_at timestamptz, OUT waits_for text, OUT pace_bytes_per_s float8,
	OUT slowdown float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_mover_progress';

CREATE FUNCTION _tiered_storage.orphaned_files(
	OUT tablespace_name name, OUT file_number oid, OUT path text, OUT size_bytes bigint,
	OUT written_at timestamptz, OUT is_registered boolean)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_orphaned_files';
CREATE VIEW _tiered_storage.move_progress AS
	SELECT m.move_id, CASE WHEN _tiered_storage.relation_persistence(m.relation_oid) IS NULL
			THEN m.relation_name ELSE m.relation_oid::regclass::text END
			AS relation, m.kind,
		m.from_tablespace, m.to_tablespace, a.pid, m.method,
		COALESCE(p.phase, 'starting') AS phase, p.waits_for,
		p.blocks_total, p.blocks_done,
		GREATEST(p.blocks_total - p.blocks_done, 0) AS blocks_to_go,
		p.copied_bytes / NULLIF(t.copying_s, 0) AS bytes_per_s,
		p.pace_bytes_per_s, p.slowdown,
		CASE WHEN p.blocks_done > 0 THEN t.copying_s * GREATEST(p.blocks_total - p.blocks_done, 0)
			/ p.blocks_done END AS remaining_s,
		p.catch_up_rounds, p.attempts, p.restarts,
		m.size_bytes, m.started_at,
		(EXTRACT(epoch FROM clock_timestamp() - m.started_at) * 1000)::float8 AS elapsed_ms
	FROM _tiered_storage.move m
	JOIN pg_stat_activity a ON a.pid = m.pid AND a.backend_start = m.backend_start
	LEFT JOIN LATERAL _tiered_storage.mover_progress(m.pid) p ON true
	LEFT JOIN LATERAL (SELECT EXTRACT(epoch FROM clock_timestamp()
		- p.started_at)::float8 AS copying_s) t ON true
	WHERE m.state = 'running';

CREATE PROCEDURE tiered_storage.move_relation(
	relation regclass, target name, include_indexes boolean DEFAULT true,
	allow_lock boolean DEFAULT false, index_target name DEFAULT NULL,
	dry_run boolean DEFAULT false)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_move_relation';
COMMENT ON PROCEDURE tiered_storage.move_relation IS
'moves a table, materialized view, index, or all leaf partitions of a partitioned table to a '
'tier or tablespace while it is in use; allow_lock: locks a relation that cannot be moved '
'online for the whole copy; dry_run only reports; cannot run in a transaction block otherwise';

/*
 * What preflight() finds of readers of the WAL, of which the move writes so much: of each kind
 * what is in most trouble; without a remedy it is in none.  Called as the owner of the
 * extension; what the role may not read is not told.
 */
CREATE FUNCTION _tiered_storage.wal_readers(wal_bytes float8, role oid)
RETURNS TABLE (check_name text, finding text, remedy text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH wal AS (SELECT wal_bytes AS bytes, pg_size_pretty(wal_bytes::int8) AS text,
			pg_has_role(role, 'pg_read_all_stats', 'USAGE') AS may_read,
			pg_size_bytes(current_setting('max_slot_wal_keep_size')) AS keep),
		slot AS (SELECT s.*, count(*) OVER () AS n,
				count(*) FILTER (WHERE s.is_idle) OVER () AS idle
			FROM (SELECT slot_name, wal_status, NOT active AND restart_lsn IS NOT NULL AS is_idle,
				COALESCE(greatest(pg_current_wal_insert_lsn() - restart_lsn, 0), 0) AS lag
				FROM pg_replication_slots) s
			ORDER BY COALESCE(wal_status IN ('unreserved', 'lost'), false) DESC, lag DESC,
				slot_name LIMIT 1),
		standby AS (SELECT application_name AS name, count(*) OVER () AS n,
				count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) OVER () AS synchronous,
				greatest(pg_current_wal_insert_lsn() - replay_lsn, 0) AS lag
			FROM pg_stat_replication WHERE state <> 'backup'
			ORDER BY lag DESC NULLS FIRST, application_name LIMIT 1),
		backup AS (SELECT pid, phase, count(*) OVER () AS n FROM pg_stat_progress_basebackup
			ORDER BY pid LIMIT 1)
	SELECT f.name, f.finding[1], f.finding[2] FROM (
		SELECT 'slots' AS name, CASE
			WHEN s.n IS NULL THEN ARRAY['there is no replication slot']
			WHEN s.wal_status IN ('lost', 'unreserved') THEN
				ARRAY[format('replication slot "%s" is %s: its WAL %s', s.slot_name, s.wal_status,
					CASE s.wal_status WHEN 'lost' THEN 'is gone'
					ELSE 'is removed by the next checkpoint' END),
					'Drop it, or let its reader catch up first.']
			WHEN w.keep >= 0 AND s.wal_status IS NOT NULL AND s.lag + w.bytes > w.keep THEN
				ARRAY[format('slot "%s" is %s behind; with %s of this move it may exceed '
					'max_slot_wal_keep_size (%s)', s.slot_name, pg_size_pretty(s.lag), w.text,
					pg_size_pretty(w.keep)), 'Let its reader catch up first, lower '
					'tiered_storage.move_rate_limit, or raise max_slot_wal_keep_size.']
			WHEN s.idle > 0 THEN
				ARRAY[format('%s of %s slots are not in use, and keep the %s of WAL%s', s.idle,
					s.n, w.text, CASE WHEN s.is_idle THEN format('; "%s" is %s behind',
					s.slot_name, pg_size_pretty(s.lag)) END),
					'Drop those that are not needed: SELECT pg_drop_replication_slot(...).']
			ELSE ARRAY[format('%s in use, at most %s behind', s.n, pg_size_pretty(s.lag))]
			END AS finding
		FROM wal w LEFT JOIN slot s ON true
		UNION ALL SELECT 'archive', CASE
			WHEN current_setting('archive_mode') = 'off' THEN ARRAY['archive_mode is off']
			WHEN current_setting('archive_command') = ''
				AND current_setting('archive_library') = '' THEN
				ARRAY[format('nothing archives, so pg_wal keeps the %s of WAL', w.text),
					'Set archive_command or archive_library.']
			WHEN a.last_failed_time > COALESCE(a.last_archived_time, '-infinity') THEN
				ARRAY[format('archiving of %s fails, so pg_wal keeps the %s of WAL',
					a.last_failed_wal, w.text), 'See the server''s log, and pg_stat_archiver.']
			ELSE ARRAY[format('it works, and receives %s of WAL', w.text)] END
		FROM wal w, pg_stat_archiver a
		UNION ALL SELECT 'standbys', CASE
			WHEN NOT w.may_read THEN ARRAY['not known: this role may not read pg_stat_replication',
				format('GRANT pg_monitor TO %s allows it.', role::regrole)]
			WHEN current_setting('synchronous_standby_names') <> ''
				AND COALESCE(s.synchronous, 0) = 0 THEN
				ARRAY['no synchronous standby is connected: the record of the move would wait '
					'for one',
					'Start it, or change synchronous_standby_names.']
			WHEN s.n IS NULL THEN ARRAY['no standby is connected']
			WHEN s.lag IS NULL THEN
				ARRAY[format('not known: how far standby "%s" is behind', s.name),
				'See pg_stat_replication.']
			ELSE ARRAY[format('%s connected; "%s" has %s to replay, and gets %s more', s.n, s.name,
				pg_size_pretty(s.lag), w.text), CASE WHEN s.lag > greatest(w.bytes,
				pg_size_bytes(current_setting('wal_segment_size'))) THEN 'Wait until it has '
				'caught up, or lower tiered_storage.move_rate_limit.' END] END
		FROM wal w LEFT JOIN standby s ON true
		UNION ALL SELECT 'backup', CASE
			WHEN b.n IS NULL THEN ARRAY['no pg_basebackup is running; other backups are not seen']
			ELSE ARRAY[format('%s base backup%s running%s: it needs %s more WAL', b.n,
				CASE b.n WHEN 1 THEN ' is' ELSE 's are' END, CASE WHEN w.may_read THEN
				concat(', process ', b.pid, ', ' || b.phase) END, w.text),
				'Wait for its end, or both take longer.'] END
		FROM wal w LEFT JOIN backup b ON true) f
$$;

CREATE FUNCTION tiered_storage.preflight(
	relation regclass, target name, include_indexes boolean DEFAULT true,
	allow_lock boolean DEFAULT false, index_target name DEFAULT NULL,
	include_all boolean DEFAULT false,
	OUT check_name text, OUT verdict text, OUT finding text, OUT remedy text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_preflight_sql';
COMMENT ON FUNCTION tiered_storage.preflight IS
'checks what move_relation() with the same arguments would meet: the verdict (ok, warning, '
'blocks), then a row per check that is not ok; include_all: all checks; locks nothing, changes '
'nothing, and does not wait';

CREATE PROCEDURE tiered_storage.apply_placement(
	confidence text DEFAULT 'firm', max_bytes bigint DEFAULT NULL,
	dry_run boolean DEFAULT false,
	tiers name[] DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_apply_placement';
COMMENT ON PROCEDURE tiered_storage.apply_placement IS
'carries out the recommendations of at least this confidence (firm or tentative) as one batch '
'of at most max_bytes, in an order in which no tier overflows, the highest saving per second of'
' moving first; dry_run only reports';

CREATE PROCEDURE tiered_storage.undo_move(
	batch_id bigint DEFAULT NULL, dry_run boolean DEFAULT false, relation regclass DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_undo_move';
COMMENT ON PROCEDURE tiered_storage.undo_move IS
'moves back a batch, or the last move of a relation with its indexes and partitions; relations '
'that have moved elsewhere since are left alone; dry_run only reports';

CREATE FUNCTION tiered_storage.pause() RETURNS boolean
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_pause';
COMMENT ON FUNCTION tiered_storage.pause IS
'pauses all moves of the server at once, also across restarts, until resume(); workers give up '
'their moves, sessions wait; returns false if moves were paused already';

CREATE FUNCTION tiered_storage.resume() RETURNS boolean
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_resume';
COMMENT ON FUNCTION tiered_storage.resume IS
'lets moves continue after pause(), those of workers from their beginning; returns false if '
'they were not paused';

/*
 * Whether the moves of this server are paused; see pause().
 */
CREATE FUNCTION _tiered_storage.is_paused() RETURNS boolean
LANGUAGE C STABLE AS 'MODULE_PATHNAME', 'tier_is_paused';

CREATE PROCEDURE tiered_storage.migrate(
	dry_run boolean DEFAULT false,
	ignore_windows boolean DEFAULT false)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_migrate';
COMMENT ON PROCEDURE tiered_storage.migrate IS
'carries out the moves that policies, and with auto_migrate = placement firm recommendations, '
'ask for now; ignore_windows: also outside of move windows and while the server is under '
'pressure; dry_run only reports';

/*
 * Updates the names of relations that were moved; what is recorded of an index that was rebuilt
 * becomes that of the index in its place.
 *
 * What is not there any more, nor replaced, is neither locked nor written: its record stays for
 * as long as any other, and there may be many.  REINDEX CONCURRENTLY gives the old index, which
 * is invalid from then on, a name of its own that says nothing.  In a scope, so that names are
 * quoted as ever.
 */
CREATE FUNCTION _tiered_storage.refresh_moves() RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	WITH present AS MATERIALIZED (
		SELECT l.relation_oid AS old_oid, l.relation_name AS old_name,
			_tiered_storage.present_relation(m) AS oid
		FROM (SELECT max(l.move_id) AS move_id, l.relation_oid, l.relation_name
			FROM _tiered_storage.move l GROUP BY l.relation_oid, l.relation_name) l
		JOIN _tiered_storage.move m ON m.move_id = l.move_id),
	here AS MATERIALIZED (
		SELECT c.oid, format('%I.%I', c.nspname, c.relname) AS relation_name, i.table_oid,
			i.index_name, i.definition_hash, i.other_indexes
		FROM (SELECT DISTINCT p.oid FROM present p) p
		CROSS JOIN LATERAL _tiered_storage.relation_entry(p.oid) c
		CROSS JOIN LATERAL _tiered_storage.index_identity(p.oid) i
		LEFT JOIN pg_index x ON x.indexrelid = c.oid
		WHERE x.indisvalid IS DISTINCT FROM false),
	changed AS MATERIALIZED (
		SELECT m.move_id, h.*
		FROM _tiered_storage.move m
		JOIN present p ON p.old_oid = m.relation_oid AND p.old_name = m.relation_name
		JOIN here h ON h.oid = p.oid
		WHERE m.state <> 'running'
			AND (m.relation_oid, m.relation_name, m.table_oid, m.index_name, m.definition_hash,
				m.other_indexes) IS DISTINCT FROM (h.oid, h.relation_name, h.table_oid,
				h.index_name, h.definition_hash, h.other_indexes)
		FOR UPDATE OF m SKIP LOCKED)
	UPDATE _tiered_storage.move m
		SET relation_oid = c.oid, relation_name = c.relation_name, table_oid = c.table_oid,
			index_name = c.index_name, definition_hash = c.definition_hash,
			other_indexes = c.other_indexes
		FROM changed c WHERE c.move_id = m.move_id
$$;
