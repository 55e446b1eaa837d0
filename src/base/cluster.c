/*-------------------------------------------------------------------------
 *
 * base/cluster.c
 *		What the databases of the cluster tell each other about their tiers; see
 *		base/cluster.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/syscache.h"

#include "src/compat.h"
#include "src/base/cluster.h"

#define TIER_CLUSTER_NAME "tiered_storage cluster"

/* All zero at the start of the server, and after a crash. */
typedef struct TierCluster
{
	LWLock	   *lock;			/* set once; guards everything below */
	int			npublished;		/* only these rows mean anything */
	TierPublished published[TIER_MAX_PUBLISHED];
} TierCluster;

static TierCluster *cluster = NULL; /* NULL: not preloaded */

static shmem_startup_hook_type previous_shmem_startup_hook = NULL;
static shmem_request_hook_type previous_shmem_request_hook = NULL;

static void
cluster_request(void)
{
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();

	RequestAddinShmemSpace(MAXALIGN(sizeof(TierCluster)));
	RequestNamedLWLockTranche(TIER_CLUSTER_NAME, 1);
}

static void
cluster_startup(void)
{
	bool		found;

	if (previous_shmem_startup_hook)
		previous_shmem_startup_hook();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	cluster = ShmemInitStruct(TIER_CLUSTER_NAME, sizeof(TierCluster), &found);
	if (!found)
	{
		memset(cluster, 0, sizeof(TierCluster));
		cluster->lock = &(GetNamedLWLockTranche(TIER_CLUSTER_NAME))->lock;
	}
	LWLockRelease(AddinShmemInitLock);
}

void
tier_cluster_init(void)
{
	previous_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = cluster_request;
	previous_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = cluster_startup;
}

bool
tier_cluster_has_database(Oid database_oid)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(database_oid));
	bool		exists;

	if (!HeapTupleIsValid(tuple))
		return false;
	exists = ((Form_pg_database) GETSTRUCT(tuple))->datconnlimit != TIER_COMPAT_INVALID_DATABASE;
	ReleaseSysCache(tuple);
	return exists;
}

/* Keeps the rows of these databases, or those of all others; the lock is held exclusively. */
static void
keep_rows(const Oid *database_oids, int n, bool of_these)
{
	int			kept = 0;

	for (int i = 0; i < cluster->npublished; i++)
	{
		bool		found = false;

		for (int j = 0; j < n && !found; j++)
			found = cluster->published[i].database_oid == database_oids[j];
		if (found != of_these)
			continue;
		if (kept != i)
			cluster->published[kept] = cluster->published[i];
		kept++;
	}
	cluster->npublished = kept;
}

bool
tier_cluster_publish(Oid database_oid, const TierPublished *rows, int n)
{
	bool		fits;

	if (cluster == NULL)
		return true;
	LWLockAcquire(cluster->lock, LW_EXCLUSIVE);
	keep_rows(&database_oid, 1, false);
	fits = cluster->npublished + n <= TIER_MAX_PUBLISHED;
	for (int i = 0; i < n && fits; i++)
		cluster->published[cluster->npublished++] = rows[i];
	LWLockRelease(cluster->lock);
	return fits;
}

void
tier_cluster_keep(const Oid *database_oids, int n)
{
	LWLockAcquire(cluster->lock, LW_EXCLUSIVE);
	keep_rows(database_oids, n, true);
	LWLockRelease(cluster->lock);
}

TierPublished *
tier_cluster_copy(int *n)
{
	TierPublished *copy;

	*n = 0;
	if (cluster == NULL)
		return NULL;
	copy = palloc(sizeof(TierPublished) * TIER_MAX_PUBLISHED);
	LWLockAcquire(cluster->lock, LW_SHARED);
	*n = cluster->npublished;
	memcpy(copy, cluster->published, sizeof(TierPublished) * cluster->npublished);
	LWLockRelease(cluster->lock);
	return copy;
}

int64
tier_cluster_published_at(Oid database_oid)
{
	int64		at_us = 0;

	if (cluster == NULL)
		return 0;
	LWLockAcquire(cluster->lock, LW_SHARED);
	for (int i = 0; i < cluster->npublished && at_us == 0; i++)
		if (cluster->published[i].database_oid == database_oid)
			at_us = cluster->published[i].at_us;
	LWLockRelease(cluster->lock);
	return at_us;
}
