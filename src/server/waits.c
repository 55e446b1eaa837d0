/*-------------------------------------------------------------------------
 *
 * server/waits.c
 *		Time that the backends of each database wait for I/O, by class of file.
 *
 * The launcher samples about once a second.  A backend that waits in some class, or works, is
 * assumed to have done so since the last sample; over many samples that is an unbiased
 * estimate, as in every sampled average of active sessions.
 *
 * Each PGPROC is read one machine word at a time and without a lock: a value may be stale by a
 * moment, which is no worse than a sample taken a moment earlier.  Up to 15, a PGPROC keeps
 * its contents after its process has ended; its latch shows whether a process owns it.
 *
 * Not counted: backends that wait for their client or are idle, processes
 * without a database, autovacuum, and our own workers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "src/compat.h"
#include "src/base/sql.h"
#include "src/server/waits.h"

PG_FUNCTION_INFO_V1(tier_wait_times);

/*
 * Time between two looks.  A wait for storage takes milliseconds, so that one look sees few
 * of them; but looks are many, 3600 an hour, and each costs microseconds for each backend.
 */
#define LOOK_INTERVAL_MS 1000

#define CLASS_MASK 0xFF000000
#define EVENT_MASK 0x0000FFFF

/* Events of a class whose names are looked up once; others each time. */
#define CACHED_EVENTS 256

/* One database's backends at one look. */
typedef struct DatabaseLook
{
	Oid			database_oid;
	int			backends[TIER_WAIT_CLASSES];
} DatabaseLook;

/*
 * The launcher's own.  looked_at: the last look, 0: none yet; set by
 * tier_waits_sample().  looks: what that look has found, for the first nlooks
 * databases; they mean nothing between two calls.
 */
static TimestampTz looked_at = 0;
static DatabaseLook looks[TIER_MAX_DATABASES];
static int	nlooks;

/* 0: not known yet, else the class + 1. */
typedef struct ClassCache
{
	uint32		class_id;
	uint8		classes[CACHED_EVENTS];
} ClassCache;

static ClassCache caches[] = {
	{PG_WAIT_IO, {0}}, {PG_WAIT_LWLOCK, {0}}, {PG_WAIT_IPC, {0}}
};

static TierWaitClass
look_up(uint32 info)
{
	return tier_wait_classify(pgstat_get_wait_event_type(info), pgstat_get_wait_event(info));
}

/*
 * Only built-in names are asked for: those of extensions say nothing about
 * files, and asking may take locks and fail.
 */
static TierWaitClass
classify(uint32 info)
{
	uint32		event = info & EVENT_MASK;

	if (info == 0)
		return TIER_WAIT_CPU;
	if ((info & CLASS_MASK) == PG_WAIT_LOCK)
		return TIER_WAIT_LOCK;
	if ((info & CLASS_MASK) == PG_WAIT_LWLOCK && event >= LWTRANCHE_FIRST_USER_DEFINED)
		return TIER_WAIT_LWLOCK;
	for (int i = 0; i < (int) lengthof(caches); i++)
	{
		ClassCache *cache = &caches[i];

		if ((info & CLASS_MASK) != cache->class_id)
			continue;
		if (event >= CACHED_EVENTS)
			return look_up(info);
		if (cache->classes[event] == 0)
			cache->classes[event] = (uint8) look_up(info) + 1;
		return (TierWaitClass) (cache->classes[event] - 1);
	}
	return TIER_WAIT_OTHER;
}

static bool
is_of_interest(const TierDatabaseSlot *slot)
{
	return OidIsValid(slot->database_oid) && slot->state != TIER_WORKER_NEVER_RUN &&
		slot->state != TIER_WORKER_NO_EXTENSION && slot->state != TIER_WORKER_VERSION_MISMATCH;
}

/* The databases that have the extension, and the pids of our workers. */
static int
begin_look(int *worker_pids)
{
	int			nworkers = 0;

	nlooks = 0;
	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	for (int i = 0; i < tier_shmem->ndatabases; i++)
	{
		const TierDatabaseSlot *slot = &tier_shmem->databases[i];

		if (!is_of_interest(slot))
			continue;
		memset(&looks[nlooks], 0, sizeof(DatabaseLook));
		looks[nlooks++].database_oid = slot->database_oid;
		if (slot->pid != 0)
			worker_pids[nworkers++] = slot->pid;
	}
	LWLockRelease(tier_shmem->lock);
	return nworkers;
}

static DatabaseLook *
find_look(Oid database_oid)
{
	static int	last = 0;

	if (last < nlooks && looks[last].database_oid == database_oid)
		return &looks[last];
	for (last = 0; last < nlooks; last++)
		if (looks[last].database_oid == database_oid)
			return &looks[last];
	return NULL;
}

/*
 * Returns true if a process owns the PGPROC that neither waits for its client nor is a worker
 * of this extension.  *info gets its wait event.
 */
static bool
is_at_work(volatile PGPROC *proc, int *pid, Oid *database_oid, uint32 *info)
{
	*database_oid = proc->databaseId;
	*info = proc->wait_event_info;
	*pid = proc->pid;
	return *pid != 0 && proc->procLatch.owner_pid == *pid && OidIsValid(*database_oid) &&
		(proc->statusFlags & PROC_IS_AUTOVACUUM) == 0 &&
		(*info & CLASS_MASK) != PG_WAIT_CLIENT && (*info & CLASS_MASK) != PG_WAIT_ACTIVITY;
}

static void
look_at_backends(const int *worker_pids, int nworkers)
{
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		Oid			database_oid;
		uint32		info;
		int			pid;
		DatabaseLook *look;
		bool		is_ours = false;

		if (!is_at_work(&ProcGlobal->allProcs[i], &pid, &database_oid, &info))
			continue;
		for (int j = 0; j < nworkers && !is_ours; j++)
			is_ours = worker_pids[j] == pid;
		look = is_ours ? NULL : find_look(database_oid);
		if (look != NULL)
			look->backends[classify(info)]++;
	}
}

/* Lists the PIDs of movers and workers, this process first; returns their number. */
static int
our_pids(int *pids)
{
	int			n = 1;

	pids[0] = MyProcPid;
	if (tier_shmem == NULL)
		return n;
	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	for (int i = 0; i < TIER_MAX_MOVERS; i++)
		if (tier_shmem->movers.pids[i] != 0)
			pids[n++] = tier_shmem->movers.pids[i];
	for (int i = 0; i < tier_shmem->ndatabases; i++)
		if (tier_shmem->databases[i].pid != 0)
			pids[n++] = tier_shmem->databases[i].pid;
	LWLockRelease(tier_shmem->lock);
	return n;
}

/*
 * Both are counted in shared memory as they happen, where statistics come a second late.
 * Scans of large tables, which use a ring of buffers, are not in it.
 */
static uint64
count_done(void)
{
	uint32		passes;
	int			position = StrategySyncStart(&passes, NULL);

	return TIER_COMPAT_XACT_COMPLETION_COUNT + (uint64) passes * NBuffers + position;
}

void
tier_waits_look(int *working, int *waiting, uint64 *done)
{
	int			pids[1 + TIER_MAX_MOVERS + TIER_MAX_DATABASES];
	int			npids = our_pids(pids);

	*working = *waiting = 0;
	*done = count_done();
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		Oid			database_oid;
		uint32		info;
		int			pid;
		bool		is_ours = false;
		TierWaitClass wait_class;

		if (!is_at_work(&ProcGlobal->allProcs[i], &pid, &database_oid, &info))
			continue;
		for (int j = 0; j < npids && !is_ours; j++)
			is_ours = pids[j] == pid;
		if (is_ours)
			continue;
		wait_class = classify(info);
		*working += wait_class == TIER_WAIT_CPU;
		*waiting += wait_class != TIER_WAIT_CPU && wait_class != TIER_WAIT_LOCK &&
			wait_class != TIER_WAIT_OTHER;
	}
}

static void
add_look(int64 elapsed_ms)
{
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	for (int i = 0; i < nlooks; i++)
	{
		TierDatabaseSlot *slot = tier_shmem_slot(looks[i].database_oid, false);

		if (slot == NULL)
			continue;
		slot->wait_sampled_ms += elapsed_ms;
		for (int j = 0; j < TIER_WAIT_CLASSES; j++)
			slot->wait_ms[j] += looks[i].backends[j] * elapsed_ms;
	}
	LWLockRelease(tier_shmem->lock);
}

long
tier_waits_sample(void)
{
	TimestampTz now = GetCurrentTimestamp();
	int64		elapsed_ms = (now - looked_at) / 1000;
	int			worker_pids[TIER_MAX_DATABASES];
	int			nworkers;

	if (elapsed_ms >= 0 && elapsed_ms < LOOK_INTERVAL_MS)
		return (long) (LOOK_INTERVAL_MS - elapsed_ms);

	nworkers = begin_look(worker_pids);
	if (nlooks == 0)
		return -1;
	look_at_backends(worker_pids, nworkers);

	/*
	 * After a long pause, or when the clock was set, one look does not speak
	 * for all the time.
	 */
	add_look(looked_at == 0 || elapsed_ms < 0 || elapsed_ms > 2 * LOOK_INTERVAL_MS ?
			 LOOK_INTERVAL_MS : elapsed_ms);
	looked_at = now;
	return LOOK_INTERVAL_MS;
}

bool
tier_waits_read(Oid database_oid, int64 wait_ms[TIER_WAIT_CLASSES], int64 *sampled_ms)
{
	const TierDatabaseSlot *slot;

	*sampled_ms = 0;
	if (tier_shmem == NULL)
		return false;
	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	slot = tier_shmem_slot(database_oid, false);
	if (slot != NULL)
	{
		*sampled_ms = slot->wait_sampled_ms;
		memcpy(wait_ms, slot->wait_ms, sizeof(slot->wait_ms));
	}
	LWLockRelease(tier_shmem->lock);
	return *sampled_ms > 0;
}

/* _tiered_storage.wait_times() */
Datum
tier_wait_times(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	int64		wait_ms[TIER_WAIT_CLASSES];
	int64		sampled_ms;

	tier_result_start(fcinfo, &row);
	if (!tier_waits_read(MyDatabaseId, wait_ms, &sampled_ms))
		return (Datum) 0;
	for (int i = 0; i < TIER_WAIT_CLASSES; i++)
	{
		tier_row_clear(&row);
		tier_row_text(&row, 0, tier_wait_class_name((TierWaitClass) i));
		tier_row_datum(&row, 1, Float8GetDatum(wait_ms[i] / 1000.0));
		tier_row_datum(&row, 2, Float8GetDatum(sampled_ms / 1000.0));
		tier_row_put(&row);
	}
	return (Datum) 0;
}
