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

#include "utils/builtins.h"
#include "utils/timestamp.h"

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

TierSlots
tier_catalog_slots(MemoryContext context)
{
	static const char sql[] =
	"SELECT count(*) OVER ()::float8, "
	"count(*) FILTER (WHERE NOT s.active AND s.restart_lsn IS NOT NULL) OVER ()::float8, "
	"s.slot_name::text, s.wal_status, "
	"(NOT s.active AND s.restart_lsn IS NOT NULL)::int4::float8, "
	"greatest(pg_catalog.pg_current_wal_insert_lsn() - s.restart_lsn, 0)::float8 AS lag "
	"FROM pg_catalog.pg_replication_slots s "
	"ORDER BY COALESCE(s.wal_status IN ('unreserved', 'lost'), false) DESC, "
	"lag DESC NULLS LAST, s.slot_name LIMIT 1";
	TierSlots	slots = {0};

	if (tier_query_plain(sql) == 0)
		return slots;
	slots.n = (int) tier_get_float8_or(0, 1, 0);
	slots.idle = (int) tier_get_float8_or(0, 2, 0);
	slots.name = tier_get_text(context, 0, 3);
	slots.wal_status = tier_get_text(context, 0, 4);
	slots.is_idle = tier_get_float8_or(0, 5, 0) > 0;
	slots.lag_bytes = tier_get_float8_or(0, 6, 0);
	return slots;
}

TierReplicas
tier_catalog_replicas(MemoryContext context)
{
	static const char sql[] =
	"SELECT count(*) OVER ()::float8, "
	"count(*) FILTER (WHERE r.sync_state IN ('sync', 'quorum')) OVER ()::float8, "
	"r.application_name, "
	"greatest(pg_catalog.pg_current_wal_insert_lsn() - r.replay_lsn, 0)::float8 AS lag "
	"FROM pg_catalog.pg_stat_replication r WHERE r.state <> 'backup' "
	"ORDER BY lag DESC NULLS FIRST, r.application_name LIMIT 1";
	TierReplicas replicas = {0};

	if (tier_query_plain(sql) == 0)
		return replicas;
	replicas.n = (int) tier_get_float8_or(0, 1, 0);
	replicas.synchronous = (int) tier_get_float8_or(0, 2, 0);
	replicas.name = tier_get_text(context, 0, 3);
	replicas.lag_bytes = tier_get_float8_or(0, 4, -1);
	return replicas;
}

TierArchive
tier_catalog_archive(MemoryContext context)
{
	static const char sql[] =
	"SELECT a.last_archived_time, a.last_failed_time, a.failed_count::float8, a.last_failed_wal "
	"FROM pg_catalog.pg_stat_archiver a";
	TierArchive archive = {0};

	if (tier_query_plain(sql) == 0)
		return archive;
	archive.archived_at = tier_get_time(0, 1);
	archive.failed_at = tier_get_time(0, 2);
	archive.failures = (int64) tier_get_float8_or(0, 3, 0);
	archive.failed_wal = tier_get_text(context, 0, 4);
	return archive;
}

int
tier_catalog_backups(MemoryContext context, int *pid, char **phase)
{
	static const char sql[] =
	"SELECT count(*) OVER ()::float8, b.pid::float8, b.phase "
	"FROM pg_catalog.pg_stat_progress_basebackup b ORDER BY b.pid LIMIT 1";

	if (tier_query_plain(sql) == 0)
		return 0;
	*pid = (int) tier_get_float8_or(0, 2, 0);
	*phase = tier_get_text(context, 0, 3);
	return (int) tier_get_float8_or(0, 1, 0);
}
