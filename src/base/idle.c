/*-------------------------------------------------------------------------
 *
 * base/idle.c
 *		Databases in which nothing happens: they need no samples.
 *
 * The statistics of a database do not tell: each visit of autovacuum changes them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/idle.h"
#include "src/base/settings.h"

#define COUNTERS_LAG_MS tier_debug_constant(counters_lag_ms, TIER_COUNTERS_LAG_MS)

bool		tier_idle_ignores_me = false;

/* Written once between two looks of the launcher, however many transactions end. */
static void
touch(Oid database_oid)
{
	volatile bool *is_touched = &tier_shmem->is_touched[database_oid % TIER_TOUCHED];

	if (!*is_touched)
		*is_touched = true;
}

/* Takes the mark back, and notes the time in the slots of all databases that share it. */
static void
note_touched(Oid database_oid, TimestampTz now)
{
	volatile bool *is_touched = &tier_shmem->is_touched[database_oid % TIER_TOUCHED];

	if (!*is_touched)
		return;
	*is_touched = false;
	pg_memory_barrier();
	for (int i = 0; i < tier_shmem->ndatabases; i++)
		if (tier_shmem->databases[i].database_oid % TIER_TOUCHED == database_oid % TIER_TOUCHED)
			tier_shmem->databases[i].touched_at = now;
}

/*
 * While it is still seen by is_in_transaction(), if it commits; a look after that has the time.  A
 * visit of autovacuum that finds nothing to do has one transaction to connect, and one to look
 * around; before the first table is vacuumed or analyzed, both have ended.
 */
static void
at_transaction_end(XactEvent event, void *argument)
{
	static int	ntransactions = 0;

	if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_ABORT &&
		event != XACT_EVENT_PRE_PREPARE)
		return;
	if (!tier_idle_ignores_me && OidIsValid(MyDatabaseId) &&
		(MyBackendType != B_AUTOVAC_WORKER || ++ntransactions > 2))
		touch(MyDatabaseId);
}

void
tier_idle_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
}

void
tier_idle_rest(TierRest rest)
{
	TierDatabaseSlot *slot;
	int			left_out = 0;

	/* A relation that is left out has its own time of the next attempt. */
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(MyDatabaseId, false);
	for (int i = 0; slot != NULL && i < TIER_MOST_REMEMBERED; i++)
		left_out += slot->left_out[i].failures;
	if (slot != NULL && rest != TIER_REST_NONE && left_out == 0)
	{
		slot->wake_at = (GetCurrentTimestamp() / USECS_PER_HOUR + 1) * USECS_PER_HOUR;
		if (rest == TIER_REST_BETWEEN_RUNS || tier_auto_migrate == TIER_AUTO_MIGRATE_PLACEMENT)
			slot->wake_at = Min(slot->wake_at, tier_migrate_interval_s * USECS_PER_SEC +
								(tier_auto_migrate == TIER_AUTO_MIGRATE_OFF ? slot->planned_at :
								 slot->migrated_at));
	}
	LWLockRelease(tier_shmem->lock);
}

/* Read without a lock: whoever has ended a transaction since has left a mark. */
static bool
is_in_transaction(Oid database_oid)
{
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		volatile PGPROC *proc = &ProcGlobal->allProcs[i];

		if (proc->databaseId == database_oid && proc->pid != 0 &&
			TIER_COMPAT_LXID(proc) != InvalidLocalTransactionId)
			return true;
	}
	return false;
}

bool
tier_idle_look(TierDatabaseSlot *slot, TimestampTz now)
{
	XLogRecPtr	position = GetFlushRecPtr(NULL);

	/* Of all that has happened before `now`, at the latest. */
	note_touched(slot->database_oid, now);
	if (is_in_transaction(slot->database_oid))
		slot->touched_at = now;
	if (slot->state != TIER_WORKER_WAITING || slot->wake_at <= now || slot->started_at > now ||
		slot->started_at < PgReloadTime || slot->next_run_at == 0 || slot->notified ||
		(slot->policy_due_at > slot->started_at && slot->policy_due_at <= now))
		return false;

	/* The last sample has its counters only if it came some time after it. */
	if (slot->touched_at > now ||
		TimestampTzPlusMilliseconds(slot->touched_at, COUNTERS_LAG_MS) > slot->started_at)
		return false;
	slot->idle_until = now;
	slot->idle_position = position;
	slot->next_run_at = Min(slot->wake_at, now + tier_sample_interval_s * USECS_PER_SEC);
	return true;
}

TimestampTz
tier_idle_until(TimestampTz sampled_at, XLogRecPtr *position)
{
	const TierDatabaseSlot *slot;

	if (tier_shmem == NULL || sampled_at == 0 || tier_clock_is_set())
		return sampled_at;
	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	slot = tier_shmem_slot(MyDatabaseId, false);
	if (slot != NULL && slot->idle_until <= GetCurrentTimestamp())
	{
		sampled_at = Max(sampled_at, slot->idle_until);
		if (position != NULL)
			*position = Max(*position, slot->idle_position);
	}
	LWLockRelease(tier_shmem->lock);
	return sampled_at;
}
