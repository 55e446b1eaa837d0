/*-------------------------------------------------------------------------
 *
 * act/preflight_server.c
 *		preflight(): what reads the WAL of the move, or keeps it.
 *
 * All that is copied goes into the WAL, and from there to archives, slots, standbys and
 * backups.  None of them is in the way of a move by itself, so that these rows warn at most.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "replication/slot.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/act/preflight_rows.h"
#include "src/catalog/tables.h"

#define BYTES_PER_MB (1024.0 * 1024.0)

/* What was read of the server, in one scope. */
typedef struct Readers
{
	TierSlots	slots;
	TierReplicas replicas;
	TierArchive archive;
	int			backups;
	int			backup_pid;
	char	   *backup_phase;	/* NULL: not known */
} Readers;

static Readers
load_readers(void)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	Readers		readers = {0};

	tier_catalog_enter(&scope);
	readers.slots = tier_catalog_slots(context);
	readers.replicas = tier_catalog_replicas(context);
	readers.archive = tier_catalog_archive(context);
	readers.backups = tier_catalog_backups(context, &readers.backup_pid, &readers.backup_phase);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	return readers;
}

static void
put_slots(TierResultRow *row, const TierSlots *slots, double wal_bytes)
{
	double		most_bytes = max_slot_wal_keep_size_mb * BYTES_PER_MB;

	if (slots->n == 0)
		tier_preflight_put(row, "slots", TIER_PREFLIGHT_OK, "there is no replication slot", NULL);
	else if (slots->wal_status != NULL && (strcmp(slots->wal_status, "lost") == 0 ||
										   strcmp(slots->wal_status, "unreserved") == 0))
		tier_preflight_put(row, "slots", TIER_PREFLIGHT_WARNING,
						   psprintf("replication slot \"%s\" is %s: its WAL %s", slots->name,
									slots->wal_status,
									strcmp(slots->wal_status, "lost") == 0 ? "is gone" :
									"goes with the next checkpoint"),
						   "Drop it, or let its reader catch up first.");
	else if (most_bytes >= 0 && slots->wal_status != NULL &&
			 slots->lag_bytes + wal_bytes > most_bytes)
		tier_preflight_put(row, "slots", TIER_PREFLIGHT_WARNING,
						   psprintf("slot \"%s\" is %s behind; with %s of this move it may exceed "
									"max_slot_wal_keep_size (%s)", slots->name,
									tier_size_text(slots->lag_bytes), tier_size_text(wal_bytes),
									tier_size_text(most_bytes)),
						   "Let its reader catch up first, lower tiered_storage.move_rate_limit, "
						   "or raise max_slot_wal_keep_size.");
	else if (slots->idle > 0)
		tier_preflight_put(row, "slots", TIER_PREFLIGHT_WARNING,
						   psprintf("%d of %d slots are not in use, and keep the %s of WAL%s",
									slots->idle, slots->n, tier_size_text(wal_bytes),
									slots->is_idle ? psprintf("; \"%s\" is %s behind", slots->name,
															  tier_size_text(slots->lag_bytes)) :
									""),
						   "Drop those that nobody needs: SELECT pg_drop_replication_slot(...).");
	else
		tier_preflight_put(row, "slots", TIER_PREFLIGHT_OK,
						   psprintf("%d in use, at most %s behind", slots->n,
									tier_size_text(slots->lag_bytes)),
						   NULL);
}

static bool
is_set(const char *setting)
{
	const char *value = GetConfigOption(setting, true, false);

	return value != NULL && value[0] != '\0';
}

static void
put_archive(TierResultRow *row, const TierArchive *archive, double wal_bytes)
{
	if (!XLogArchivingActive())
		tier_preflight_put(row, "archive", TIER_PREFLIGHT_OK, "archive_mode is off", NULL);
	else if (!is_set("archive_command") && !is_set("archive_library"))
		tier_preflight_put(row, "archive", TIER_PREFLIGHT_WARNING,
						   psprintf("nothing archives, so pg_wal keeps the %s of WAL",
									tier_size_text(wal_bytes)),
						   "Set archive_command or archive_library.");
	else if (archive->failed_at > archive->archived_at)
		tier_preflight_put(row, "archive", TIER_PREFLIGHT_WARNING,
						   psprintf("archiving of %s fails, so pg_wal keeps the %s of WAL",
									archive->failed_wal == NULL ? "WAL" : archive->failed_wal,
									tier_size_text(wal_bytes)),
						   "See the server's log, and pg_stat_archiver.");
	else
		tier_preflight_put(row, "archive", TIER_PREFLIGHT_OK,
						   psprintf("it gets %s of WAL, and works", tier_size_text(wal_bytes)),
						   NULL);
}

/*
 * A standby has as much to replay as this move writes when it is that far behind, which is
 * as long again for whoever reads there.
 */
static void
put_standbys(TierResultRow *row, const TierReplicas *replicas, double wal_bytes)
{
	double		most_bytes = Max(wal_bytes, wal_segment_size);

	if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
		tier_preflight_put(row, "standbys", TIER_PREFLIGHT_WARNING,
						   "not known: this role may not read pg_stat_replication",
						   psprintf("GRANT pg_monitor TO %s allows it.",
									quote_identifier(GetUserNameFromId(GetUserId(), false))));
	else if (is_set("synchronous_standby_names") && replicas->synchronous == 0)
		tier_preflight_put(row, "standbys", TIER_PREFLIGHT_WARNING,
						   "no synchronous standby is connected: the record of the move would "
						   "wait for one",
						   "Start it, or change synchronous_standby_names.");
	else if (replicas->n == 0)
		tier_preflight_put(row, "standbys", TIER_PREFLIGHT_OK, "no standby is connected", NULL);
	else if (replicas->lag_bytes < 0)
		tier_preflight_put(row, "standbys", TIER_PREFLIGHT_WARNING,
						   psprintf("not known: how far standby \"%s\" is behind", replicas->name),
						   "See pg_stat_replication.");
	else
		tier_preflight_put(row, "standbys", replicas->lag_bytes > most_bytes ?
						   TIER_PREFLIGHT_WARNING : TIER_PREFLIGHT_OK,
						   psprintf("%d connected; \"%s\" has %s to replay, and gets %s more",
									replicas->n, replicas->name,
									tier_size_text(replicas->lag_bytes),
									tier_size_text(wal_bytes)),
						   "Wait until it has caught up, or lower "
						   "tiered_storage.move_rate_limit.");
}

/* Which process makes it, and how far it is: for those to whom the server tells that. */
static const char *
backup_text(const Readers *readers)
{
	if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
		return "";
	return psprintf(", process %d%s%s", readers->backup_pid,
					readers->backup_phase == NULL ? "" : ", ",
					readers->backup_phase == NULL ? "" : readers->backup_phase);
}

static void
put_backup(TierResultRow *row, const Readers *readers, double wal_bytes)
{
	if (readers->backups == 0)
		tier_preflight_put(row, "backup", TIER_PREFLIGHT_OK,
						   "no pg_basebackup is running; other backups are not seen", NULL);
	else
		tier_preflight_put(row, "backup", TIER_PREFLIGHT_WARNING,
						   psprintf("%d base backup%s running%s: it needs %s more of WAL",
									readers->backups, readers->backups == 1 ? " is" : "s are",
									backup_text(readers), tier_size_text(wal_bytes)),
						   "Wait for its end, or both take longer.");
}

void
tier_preflight_server_rows(TierResultRow *row, const TierMoveCall *call, const TierCargo *cargo)
{
	static const char *const checks[] = {"slots", "archive", "standbys", "backup"};
	Readers		readers;

	if (RecoveryInProgress())
	{
		for (int i = 0; i < (int) lengthof(checks); i++)
			tier_preflight_put(row, checks[i], TIER_PREFLIGHT_WARNING,
							   "not known: a standby does not see it", "Ask the primary.");
		return;
	}
	readers = load_readers();
	put_slots(row, &readers.slots, cargo->wal_bytes);
	put_archive(row, &readers.archive, cargo->wal_bytes);
	put_standbys(row, &readers.replicas, cargo->wal_bytes);
	put_backup(row, &readers, cargo->wal_bytes);
}
