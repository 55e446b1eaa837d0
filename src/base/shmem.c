/*-------------------------------------------------------------------------
 *
 * base/shmem.c
 *		Shared memory: the state of each database's worker, and the claims of
 *		databases on tablespaces.
 *
 * base/shmem.h says which process changes which field, and under which lock.
 *
 * Claims prevent two databases from assigning one tablespace to tiers of different names: each
 * worker publishes its claims before it moves anything, and moves nothing if another database
 * has claimed the tablespace for another name first.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/shmem.h"

/* All that the library has: the state of workers, of counting and of queries. */
#define MOST_RESERVED 3

typedef struct Reservation
{
	const char *name;
	Size		size;
	int			nlocks;
	TierShmemAttach attach;
} Reservation;

TierShmem  *tier_shmem = NULL;

static Reservation reserved[MOST_RESERVED];
static int	nreserved = 0;

static shmem_startup_hook_type previous_shmem_startup_hook = NULL;
static shmem_request_hook_type previous_shmem_request_hook = NULL;

static void
shmem_request(void)
{
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
	for (int i = 0; i < nreserved; i++)
	{
		RequestAddinShmemSpace(MAXALIGN(reserved[i].size));
		RequestNamedLWLockTranche(reserved[i].name, reserved[i].nlocks);
	}
}

static void
shmem_startup(void)
{
	if (previous_shmem_startup_hook)
		previous_shmem_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	for (int i = 0; i < nreserved; i++)
	{
		bool		found;
		void	   *memory = ShmemInitStruct(reserved[i].name, reserved[i].size, &found);

		if (!found)
			memset(memory, 0, reserved[i].size);
		reserved[i].attach(memory, GetNamedLWLockTranche(reserved[i].name));
	}
	LWLockRelease(AddinShmemInitLock);
}

void
tier_shmem_reserve(const char *name, Size size, int nlocks, TierShmemAttach attach)
{
	Assert(nreserved < MOST_RESERVED);
	if (nreserved == 0)
	{
		previous_shmem_request_hook = shmem_request_hook;
		shmem_request_hook = shmem_request;
		previous_shmem_startup_hook = shmem_startup_hook;
		shmem_startup_hook = shmem_startup;
	}
	reserved[nreserved++] = (Reservation)
	{
		name, size, nlocks, attach
	};
}

static void
attach_workers(void *memory, LWLockPadded *locks)
{
	tier_shmem = memory;
	tier_shmem->lock = &locks->lock;
}

void
tier_shmem_init(void)
{
	tier_shmem_reserve("tiered_storage", sizeof(TierShmem), 1, attach_workers);
}

TierDatabaseSlot *
tier_shmem_slot(Oid database_oid, bool create)
{
	TierDatabaseSlot *free_slot = NULL;

	for (int i = 0; i < tier_shmem->ndatabases; i++)
	{
		TierDatabaseSlot *slot = &tier_shmem->databases[i];

		if (slot->database_oid == database_oid)
			return slot;
		if (!OidIsValid(slot->database_oid) ||
			(free_slot == NULL && slot->state == TIER_WORKER_NO_EXTENSION && !slot->notified))
			free_slot = slot;
	}

	if (!create)
		return NULL;
	if ((free_slot == NULL || OidIsValid(free_slot->database_oid)) &&
		tier_shmem->ndatabases < TIER_MAX_DATABASES)
		free_slot = &tier_shmem->databases[tier_shmem->ndatabases++];
	if (free_slot == NULL)
		return NULL;
	memset(free_slot, 0, sizeof(TierDatabaseSlot));
	free_slot->database_oid = database_oid;
	free_slot->state = TIER_WORKER_NEVER_RUN;
	return free_slot;
}

void
tier_shmem_wake_launcher(void)
{
	if (tier_shmem->launcher_pid != 0)
		SetLatch(tier_shmem->launcher_latch);
}

void
tier_shmem_notify(Oid database_oid)
{
	TierDatabaseSlot *slot;

	if (tier_shmem == NULL)
		return;

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(database_oid, true);
	if (slot != NULL)
	{
		slot->notified = true;
		slot->next_run_at = slot->migrated_at = slot->planned_at = 0;
	}
	tier_shmem_wake_launcher();
	LWLockRelease(tier_shmem->lock);
}

/* Removes the database's claims; the lock is held exclusively. */
static void
remove_claims(Oid database_oid)
{
	int			kept = 0;

	for (int i = 0; i < tier_shmem->nclaims; i++)
		if (tier_shmem->claims[i].database_oid != database_oid)
			tier_shmem->claims[kept++] = tier_shmem->claims[i];
	tier_shmem->nclaims = kept;
}

void
tier_shmem_withdraw_claims(Oid database_oid)
{
	TierDatabaseSlot *slot;

	if (tier_shmem == NULL)
		return;
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	remove_claims(database_oid);
	slot = tier_shmem_slot(database_oid, false);
	if (slot != NULL)
	{
		memset(slot->left_out, 0, sizeof(slot->left_out));
		memset(slot->not_remembered, 0, sizeof(slot->not_remembered));
	}
	LWLockRelease(tier_shmem->lock);
}

static TierClaim *
copy_claims(int *nclaims)
{
	TierClaim  *copy = palloc(sizeof(TierClaim) * TIER_MAX_CLAIMS);

	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	*nclaims = tier_shmem->nclaims;
	memcpy(copy, tier_shmem->claims, sizeof(TierClaim) * tier_shmem->nclaims);
	LWLockRelease(tier_shmem->lock);
	return copy;
}

/* A database whose DROP DATABASE was interrupted is gone, too.  In a transaction. */
static bool
has_database(Oid database_oid)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(database_oid));
	bool		exists;

	if (!HeapTupleIsValid(tuple))
		return false;
	exists = ((Form_pg_database) GETSTRUCT(tuple))->datconnlimit != TIER_COMPAT_INVALID_DATABASE;
	ReleaseSysCache(tuple);
	return exists;
}

/*
 * Removes the claims of databases that are gone, of which the launcher has not heard yet.  Not
 * while the lock is held, as the catalog is read.
 */
static void
forget_dropped(void)
{
	int			nclaims;
	TierClaim  *claims = copy_claims(&nclaims);

	/* Those of one database stand together. */
	for (int i = 0; i < nclaims; i++)
		if ((i == 0 || claims[i].database_oid != claims[i - 1].database_oid) &&
			!has_database(claims[i].database_oid))
			tier_shmem_withdraw_claims(claims[i].database_oid);
	pfree(claims);
}

/* Another database's claim on the tablespace with another name; lock held. */
static const TierClaim *
find_conflict(const TierClaim *claim)
{
	for (int i = 0; i < tier_shmem->nclaims; i++)
	{
		const TierClaim *other = &tier_shmem->claims[i];

		if (other->tablespace_oid == claim->tablespace_oid &&
			other->database_oid != claim->database_oid &&
			strcmp(NameStr(other->tier_name), NameStr(claim->tier_name)) != 0)
			return other;
	}
	return NULL;
}

int
tier_shmem_find_conflict(const TierClaim *claims, int nclaims, bool publishes,
						 Oid *conflict_database, NameData *conflict_tier)
{
	int			conflict = -1;

	if (tier_shmem == NULL)
		return -1;

	forget_dropped();
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);

	/*
	 * The former claims are removed in any case: a claim that was given up
	 * must not block other databases.
	 */
	if (publishes)
		remove_claims(MyDatabaseId);
	for (int i = 0; i < nclaims; i++)
	{
		const TierClaim *other = claims[i].is_weak ? NULL : find_conflict(&claims[i]);

		if (other != NULL && conflict < 0)
		{
			*conflict_database = other->database_oid;
			*conflict_tier = other->tier_name;
			conflict = i;
		}

		/*
		 * Beyond the limit claims are dropped: a disagreement may then go
		 * unnoticed, which is what a cluster without preload has anyway.
		 */
		if (publishes && other == NULL && !claims[i].is_weak &&
			tier_shmem->nclaims < TIER_MAX_CLAIMS)
			tier_shmem->claims[tier_shmem->nclaims++] = claims[i];
	}
	LWLockRelease(tier_shmem->lock);
	return conflict;
}

TierClaim *
tier_shmem_copy_claims(int *nclaims)
{
	*nclaims = 0;
	if (tier_shmem == NULL)
		return NULL;
	forget_dropped();
	return copy_claims(nclaims);
}
