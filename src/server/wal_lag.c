/*-------------------------------------------------------------------------
 *
 * server/wal_lag.c
 *		Lag of the readers of the WAL, and failures of the archiver.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "replication/slot.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/lwlock.h"
#include "storage/spin.h"
#include "utils/acl.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/server/processes.h"
#include "src/server/wal_lag.h"

#define BYTES_PER_MB 1048576.0

static double
behind(XLogRecPtr now, XLogRecPtr position)
{
	return now > position ? (double) (now - position) : 0.0;
}

/* The bytes of the standby that is furthest behind, and its WAL sender; 0: none is. */
static double
find_standby(XLogRecPtr now, int *pid)
{
	double		furthest = 0.0;

	*pid = 0;
	for (int i = 0; i < max_wal_senders; i++)
	{
		WalSnd	   *walsnd = &WalSndCtl->walsnds[i];
		XLogRecPtr	apply;
		bool		is_backup;
		int			sender;

		SpinLockAcquire(&walsnd->mutex);
		sender = walsnd->pid;
		is_backup = walsnd->state == WALSNDSTATE_BACKUP;
		apply = walsnd->apply;
		SpinLockRelease(&walsnd->mutex);

		/*
		 * One that replays nothing, as pg_receivewal, never says how far it
		 * is.
		 */
		if (sender == 0 || is_backup || XLogRecPtrIsInvalid(apply) ||
			behind(now, apply) <= furthest)
			continue;
		furthest = behind(now, apply);
		*pid = sender;
	}
	return furthest;
}

/* The application_name of a process; unchanged if it has gone. */
static void
set_name(int pid, char *name)
{
	for (int i = 0; i < MaxBackends; i++)
	{
		PgBackendStatus status;

		if (!tier_processes_read(i, &status) || status.st_procpid != pid)
			continue;
		strlcpy(name, status.st_appname, NAMEDATALEN);
		break;
	}
}

/* The bytes of the slot that keeps most, and its name; 0: none keeps any. */
static double
find_slot(XLogRecPtr now, char *name)
{
	double		most = 0.0;

	LWLockAcquire(ReplicationSlotControlLock, LW_SHARED);
	for (int i = 0; i < max_replication_slots; i++)
	{
		ReplicationSlot *slot = &ReplicationSlotCtl->replication_slots[i];
		XLogRecPtr	restart;
		bool		is_invalid;

		if (!slot->in_use)
			continue;
		SpinLockAcquire(&slot->mutex);
		restart = slot->data.restart_lsn;
		is_invalid = TIER_COMPAT_SLOT_IS_INVALID(slot);
		SpinLockRelease(&slot->mutex);
		if (is_invalid || XLogRecPtrIsInvalid(restart) || behind(now, restart) <= most)
			continue;
		most = behind(now, restart);
		strlcpy(name, NameStr(slot->data.name), NAMEDATALEN);
	}
	LWLockRelease(ReplicationSlotControlLock);
	return most;
}

/* Returns true if there is a physical slot. */
static bool
has_physical_slot(void)
{
	bool		has = false;

	LWLockAcquire(ReplicationSlotControlLock, LW_SHARED);
	for (int i = 0; i < max_replication_slots && !has; i++)
	{
		ReplicationSlot *slot = &ReplicationSlotCtl->replication_slots[i];

		has = slot->in_use && SlotIsPhysical(slot);
	}
	LWLockRelease(ReplicationSlotControlLock);
	return has;
}

bool
tier_wal_is_streamed(void)
{
	if (has_physical_slot())
		return true;
	for (int i = 0; i < max_wal_senders; i++)
	{
		WalSnd	   *walsnd = &WalSndCtl->walsnds[i];
		bool		is_sent;

		SpinLockAcquire(&walsnd->mutex);
		is_sent = walsnd->pid != 0 && walsnd->state != WALSNDSTATE_BACKUP;
		SpinLockRelease(&walsnd->mutex);
		if (is_sent)
			return true;
	}
	return false;
}

/* When it last failed, if it has not succeeded since; else 0. */
static TimestampTz
archiver_failed_at(void)
{
	const PgStat_ArchiverStats *archiver;

	if (!XLogArchivingActive())
		return 0;
	archiver = pgstat_fetch_stat_archiver();
	return archiver->last_failed_timestamp > archiver->last_archived_timestamp ?
		archiver->last_failed_timestamp : 0;
}

static bool
is_too_far(double bytes)
{
	return tier_move_max_lag_mb >= 0 && bytes > tier_move_max_lag_mb * BYTES_PER_MB;
}

TierWalLag
tier_wal_lag(void)
{
	TierWalLag	lag;
	XLogRecPtr	now;
	int			pid;

	memset(&lag, 0, sizeof(lag));
	if (RecoveryInProgress())
		return lag;
	now = GetXLogInsertRecPtr();
	lag.bytes = find_standby(now, &pid);
	if (is_too_far(lag.bytes))
	{
		lag.reader = TIER_WAL_STANDBY;
		set_name(pid, lag.name);
		return lag;
	}
	lag.bytes = find_slot(now, lag.name);
	if (is_too_far(lag.bytes))
	{
		lag.reader = TIER_WAL_SLOT;
		return lag;
	}
	memset(&lag, 0, sizeof(lag));
	lag.failed_at = archiver_failed_at();
	if (lag.failed_at != 0)
		lag.reader = TIER_WAL_ARCHIVER;
	return lag;
}

/* Its name and position are shown in pg_stat_replication, which not all roles may read. */
static char *
standby_text(const TierWalLag *lag)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ?
		psprintf("standby \"%s\" is %s behind", lag->name, tier_size_text(lag->bytes)) :
		"a standby is too far behind";
}

char *
tier_wal_lag_text(const TierWalLag *lag)
{
	char	   *limit = psprintf("move_max_lag is %s",
								 tier_size_text(tier_move_max_lag_mb * BYTES_PER_MB));

	switch (lag->reader)
	{
		case TIER_WAL_NOBODY:
			break;
		case TIER_WAL_STANDBY:
			return psprintf("%s (%s)", standby_text(lag), limit);
		case TIER_WAL_SLOT:
			return psprintf("replication slot \"%s\" keeps %s of WAL (%s)", lag->name,
							tier_size_text(lag->bytes), limit);
		case TIER_WAL_ARCHIVER:
			return psprintf("WAL cannot be archived, last tried at %s",
							timestamptz_to_str(lag->failed_at));
	}
	return NULL;
}
