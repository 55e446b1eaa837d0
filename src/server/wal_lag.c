/*-------------------------------------------------------------------------
 *
 * server/wal_lag.c
 *		How far readers of the WAL are behind, and whether it can be archived.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "replication/slot.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/lwlock.h"
#include "storage/spin.h"

#include "src/compat.h"
#include "src/server/processes.h"
#include "src/server/wal_lag.h"

static double
behind(XLogRecPtr now, XLogRecPtr position)
{
	return now > position ? (double) (now - position) : 0.0;
}

static void
find_standby(XLogRecPtr now, TierWalLag *standby)
{
	for (int i = 0; i < max_wal_senders; i++)
	{
		WalSnd	   *walsnd = &WalSndCtl->walsnds[i];
		XLogRecPtr	apply;
		bool		is_backup;
		int			pid;

		SpinLockAcquire(&walsnd->mutex);
		pid = walsnd->pid;
		is_backup = walsnd->state == WALSNDSTATE_BACKUP;
		apply = walsnd->apply;
		SpinLockRelease(&walsnd->mutex);

		/*
		 * One that replays nothing, as pg_receivewal, never says how far it
		 * is.
		 */
		if (pid == 0 || is_backup || XLogRecPtrIsInvalid(apply) ||
			behind(now, apply) <= standby->bytes)
			continue;
		standby->bytes = behind(now, apply);
		standby->pid = pid;
	}
	for (int i = 0; i < MaxBackends && standby->pid != 0; i++)
	{
		PgBackendStatus status;

		if (!tier_processes_read(i, &status) || status.st_procpid != standby->pid)
			continue;
		strlcpy(standby->name, status.st_appname, sizeof(standby->name));
		break;
	}
}

static void
find_slot(XLogRecPtr now, TierWalLag *found)
{
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
		if (is_invalid || XLogRecPtrIsInvalid(restart) || behind(now, restart) <= found->bytes)
			continue;
		found->bytes = behind(now, restart);
		strlcpy(found->name, NameStr(slot->data.name), sizeof(found->name));
	}
	LWLockRelease(ReplicationSlotControlLock);
}

void
tier_wal_lag(TierWalLag *standby, TierWalLag *slot)
{
	XLogRecPtr	now;

	memset(standby, 0, sizeof(TierWalLag));
	memset(slot, 0, sizeof(TierWalLag));
	if (RecoveryInProgress())
		return;
	now = GetXLogInsertRecPtr();
	find_standby(now, standby);
	find_slot(now, slot);
}

TimestampTz
tier_archiving_fails_since(void)
{
	const PgStat_ArchiverStats *archiver;

	if (!XLogArchivingActive())
		return 0;
	archiver = pgstat_fetch_stat_archiver();
	return archiver->last_failed_timestamp > archiver->last_archived_timestamp ?
		archiver->last_failed_timestamp : 0;
}
