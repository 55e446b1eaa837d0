/*-------------------------------------------------------------------------
 *
 * catalog/wal_readers.c
 *		Who reads the server's WAL, and may keep it.  See catalog/tables.h.
 *
 * Of no table of ours: these are the server's own views, read in a scope with the rights of
 * the extension's owner.  Callers show what comes from pg_stat_replication only to roles that
 * could read it there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

char *
tier_catalog_new_publication_of_all(MemoryContext context)
{
	static const char sql[] =
	"UPDATE _tiered_storage.sampler s SET told_publication = p.pubname "
	"FROM (SELECT _tiered_storage.publication_of_all() AS pubname) p "
	"WHERE s.told_publication IS DISTINCT FROM p.pubname "
	"RETURNING s.told_publication::text";

	return tier_query_plain(sql) > 0 ? tier_get_text(context, 0, 1) : NULL;
}

TierWalFinding *
tier_catalog_wal_readers(MemoryContext context, double wal_bytes, Oid role_oid, int *n)
{
	/* Of each what is in most trouble; without a remedy it is in none. */
	static const char sql[] =
	"WITH wal AS (SELECT $1 AS bytes, pg_size_pretty($1::int8) AS text, $2 AS may_read, "
	"pg_size_bytes(current_setting('max_slot_wal_keep_size')) AS keep, "
	"greatest($1, pg_size_bytes(current_setting('wal_segment_size'))) AS most), "
	"slot AS (SELECT s.*, count(*) OVER () AS n, "
	"count(*) FILTER (WHERE s.is_idle) OVER () AS idle "
	"FROM (SELECT slot_name, wal_status, NOT active AND restart_lsn IS NOT NULL AS is_idle, "
	"COALESCE(greatest(pg_current_wal_insert_lsn() - restart_lsn, 0), 0) AS lag "
	"FROM pg_replication_slots) s "
	"ORDER BY COALESCE(wal_status IN ('unreserved', 'lost'), false) DESC, "
	"lag DESC, slot_name LIMIT 1), "
	"standby AS (SELECT application_name AS name, count(*) OVER () AS n, "
	"count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) OVER () AS synchronous, "
	"greatest(pg_current_wal_insert_lsn() - replay_lsn, 0) AS lag "
	"FROM pg_stat_replication WHERE state <> 'backup' "
	"ORDER BY lag DESC NULLS FIRST, application_name LIMIT 1), "
	"backup AS (SELECT pid, phase, count(*) OVER () AS n FROM pg_stat_progress_basebackup "
	"ORDER BY pid LIMIT 1) "
	"SELECT f.name, f.finding[1], f.finding[2] FROM (SELECT 'slots' AS name, CASE "
	"WHEN s.n IS NULL THEN ARRAY['there is no replication slot'] "
	"WHEN s.wal_status IN ('lost', 'unreserved') THEN "
	"ARRAY[format('replication slot \"%s\" is %s: its WAL %s', s.slot_name, "
	"s.wal_status, CASE s.wal_status WHEN 'lost' THEN 'is gone' "
	"ELSE 'goes with the next checkpoint' END), 'Drop it, or let its reader catch up first.'] "
	"WHEN w.keep >= 0 AND s.wal_status IS NOT NULL AND s.lag + w.bytes > w.keep THEN "
	"ARRAY[format('slot \"%s\" is %s behind; with %s of this move it may exceed "
	"max_slot_wal_keep_size (%s)', s.slot_name, pg_size_pretty(s.lag), w.text, "
	"pg_size_pretty(w.keep)), 'Let its reader catch up first, lower "
	"tiered_storage.move_rate_limit, or raise max_slot_wal_keep_size.'] "
	"WHEN s.idle > 0 THEN ARRAY[format('%s of %s slots are not in use, and keep the %s of WAL%s', "
	"s.idle, s.n, w.text, CASE WHEN s.is_idle THEN format('; \"%s\" is %s behind', s.slot_name, "
	"pg_size_pretty(s.lag)) END), "
	"'Drop those that are not needed: SELECT pg_drop_replication_slot(...).'] "
	"ELSE ARRAY[format('%s in use, at most %s behind', s.n, pg_size_pretty(s.lag))] "
	"END AS finding "
	"FROM wal w LEFT JOIN slot s ON true "
	"UNION ALL SELECT 'archive', CASE "
	"WHEN current_setting('archive_mode') = 'off' THEN ARRAY['archive_mode is off'] "
	"WHEN current_setting('archive_command') = '' AND current_setting('archive_library') = '' "
	"THEN ARRAY[format('nothing archives, so pg_wal keeps the %s of WAL', w.text), "
	"'Set archive_command or archive_library.'] "
	"WHEN a.last_failed_time > COALESCE(a.last_archived_time, '-infinity') "
	"THEN ARRAY[format('archiving of %s fails, so pg_wal keeps the %s of WAL', "
	"a.last_failed_wal, w.text), 'See the server''s log, and pg_stat_archiver.'] "
	"ELSE ARRAY[format('it gets %s of WAL, and works', w.text)] END "
	"FROM wal w, pg_stat_archiver a "
	"UNION ALL SELECT 'standbys', CASE "
	"WHEN NOT w.may_read THEN ARRAY['not known: this role may not read pg_stat_replication', "
	"format('GRANT pg_monitor TO %I allows it.', $3)] "
	"WHEN current_setting('synchronous_standby_names') <> '' AND COALESCE(s.synchronous, 0) = 0 "
	"THEN ARRAY['no synchronous standby is connected: the record of the move would wait for one', "
	"'Start it, or change synchronous_standby_names.'] "
	"WHEN s.n IS NULL THEN ARRAY['no standby is connected'] "
	"WHEN s.lag IS NULL THEN ARRAY[format('not known: how far standby \"%s\" is behind', s.name), "
	"'See pg_stat_replication.'] "
	"ELSE ARRAY[format('%s connected; \"%s\" has %s to replay, and gets %s more', s.n, s.name, "
	"pg_size_pretty(s.lag), w.text), CASE WHEN s.lag > w.most THEN 'Wait until it has caught up, "
	"or lower tiered_storage.move_rate_limit.' END] END FROM wal w LEFT JOIN standby s ON true "
	"UNION ALL SELECT 'backup', CASE WHEN b.n IS NULL "
	"THEN ARRAY['no pg_basebackup is running; other backups are not seen'] "
	"ELSE ARRAY[format('%s base backup%s running%s: it needs %s more of WAL', b.n, "
	"CASE b.n WHEN 1 THEN ' is' ELSE 's are' END, CASE WHEN w.may_read THEN "
	"concat(', process ', b.pid, ', ' || b.phase) END, w.text), "
	"'Wait for its end, or both take longer.'] END FROM wal w LEFT JOIN backup b ON true) f";
	static const TierColumn fields[] = {
		TIER_FIELD(TierWalFinding, check, TEXTOID),
		TIER_FIELD(TierWalFinding, finding, TEXTOID),
		TIER_FIELD(TierWalFinding, remedy, TEXTOID),
	};
	NameData	role;

	namestrcpy(&role, GetUserNameFromId(role_oid, false));
	*n = (int) tier_query(sql, tier_arg_float8(wal_bytes),
						  tier_arg_bool(has_privs_of_role(role_oid, ROLE_PG_READ_ALL_STATS)),
						  tier_arg_name(&role));
	return TIER_ROWS(context, TierWalFinding, fields, *n);
}
