/*-------------------------------------------------------------------------
 *
 * observe/query_reads.c
 *		Which queries read from below shared buffers, and of which relations.
 *
 * A table of fixed size in shared memory, by database, user and query identifier.  A query has
 * its place in one bucket, by its hash; where that is full it takes the place of the one that
 * has missed least, lately: each that is turned out makes the others half as recent.  So
 * what reads much stays, and no bucket is ever searched beyond its few places.
 *
 * What is watched by chance counts for those that are not (access.c), as calls as well.
 * Lost at a restart.  No text of a query is stored: only pg_stat_statements has these, and
 * decides who sees them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/acl.h"

#include "src/compat.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/observe/query_reads.h"

PG_FUNCTION_INFO_V1(tier_query_reads_sql);

#define TRANCHE_NAME "tiered_storage_queries"

/* 1,024 queries, in 256 kB. */
#define NBUCKETS 128
#define PLACES 8

/* One query.  Under the lock of its bucket; query_id 0: free, and nothing else means anything. */
typedef struct QueryEntry
{
	int64		query_id;
	Oid			database_oid;
	Oid			user_oid;
	double		calls;
	double		recent;			/* misses, halved with each query turned out */
	int			n;
	TierQueryRead reads[TIER_QUERY_RELATIONS];	/* by relation, in no order */
} QueryEntry;

typedef struct QueryShared
{
	LWLockPadded *locks;		/* one for each bucket; set at startup */
	QueryEntry	entries[NBUCKETS][PLACES];
} QueryShared;

/* NULL: not preloaded. */
static QueryShared *shared = NULL;

static shmem_startup_hook_type previous_shmem_startup_hook = NULL;
static shmem_request_hook_type previous_shmem_request_hook = NULL;

static void
query_shmem_request(void)
{
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
	RequestAddinShmemSpace(MAXALIGN(sizeof(QueryShared)));
	RequestNamedLWLockTranche(TRANCHE_NAME, NBUCKETS);
}

static void
query_shmem_startup(void)
{
	bool		found;

	if (previous_shmem_startup_hook)
		previous_shmem_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("tiered_storage queries", sizeof(QueryShared), &found);
	if (!found)
	{
		memset(shared, 0, sizeof(QueryShared));
		shared->locks = GetNamedLWLockTranche(TRANCHE_NAME);
	}
	LWLockRelease(AddinShmemInitLock);
}

void
tier_query_reads_init(void)
{
	previous_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = query_shmem_request;
	previous_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = query_shmem_startup;
}

/* The place of a query in its bucket; NULL: it has none, and gets none. */
static QueryEntry *
find_entry(QueryEntry *bucket, int64 query_id, Oid user_oid, bool create)
{
	QueryEntry *least = &bucket[0];

	for (int i = 0; i < PLACES; i++)
	{
		QueryEntry *entry = &bucket[i];

		if (entry->query_id == query_id && entry->user_oid == user_oid &&
			entry->database_oid == MyDatabaseId)
			return entry;
		if (least->query_id != 0 &&
			(entry->query_id == 0 || entry->recent < least->recent))
			least = entry;
	}
	if (!create)
		return NULL;
	if (least->query_id != 0)
		for (int i = 0; i < PLACES; i++)
			bucket[i].recent /= 2.0;
	memset(least, 0, sizeof(QueryEntry));
	least->query_id = query_id;
	least->user_oid = user_oid;
	least->database_oid = MyDatabaseId;
	return least;
}

/* Of more relations than there is room for, the last place has the others. */
static void
add_read(QueryEntry *entry, const TierQueryRead *read)
{
	int			i = 0;

	while (i < entry->n && entry->reads[i].relation_oid != read->relation_oid)
		i++;
	if (i == TIER_QUERY_RELATIONS)
	{
		i--;
		entry->reads[i].relation_oid = InvalidOid;
	}
	else if (i == entry->n)
		entry->reads[entry->n++] = (TierQueryRead)
	{
		read->relation_oid, 0.0, 0.0
	};
	entry->reads[i].random += read->random;
	entry->reads[i].sequential += read->sequential;
	entry->recent += read->random + read->sequential;
}

void
tier_query_reads_add(int64 query_id, double calls, const TierQueryRead *reads, int n)
{
	Oid			user_oid = GetUserId();
	uint32		bucket;
	QueryEntry *entry;

	if (shared == NULL || query_id == 0)
		return;
	bucket = hash_combine(murmurhash32((uint32) query_id), murmurhash32(user_oid)) % NBUCKETS;
	if (!LWLockConditionalAcquire(&shared->locks[bucket].lock, LW_EXCLUSIVE))
		return;
	entry = find_entry(shared->entries[bucket], query_id, user_oid, n > 0);
	if (entry != NULL)
	{
		entry->calls += calls;
		for (int i = 0; i < n; i++)
			add_read(entry, &reads[i]);
	}
	LWLockRelease(&shared->locks[bucket].lock);
}

/* Says why nothing is counted. */
static void
notice_uncounted(void)
{
	if (shared == NULL || !tier_track_access)
		ereport(NOTICE,
				(errmsg("queries are not watched"),
				 errhint("Set tiered_storage.track_access = on, and have tiered_storage in "
						 "shared_preload_libraries.")));
	else if (!IsQueryIdEnabled())
		ereport(NOTICE,
				(errmsg("queries have no identifiers, so none is counted"),
				 errhint("Set compute_query_id = on, or load pg_stat_statements.")));
}

/* _tiered_storage.query_reads(): of this database, that the caller may see. */
Datum
tier_query_reads_sql(PG_FUNCTION_ARGS)
{
	bool		sees_all = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
	TierResultRow row;

	tier_result_start(fcinfo, &row);
	notice_uncounted();
	for (int bucket = 0; shared != NULL && bucket < NBUCKETS; bucket++)
	{
		QueryEntry	entries[PLACES];

		LWLockAcquire(&shared->locks[bucket].lock, LW_SHARED);
		memcpy(entries, shared->entries[bucket], sizeof(entries));
		LWLockRelease(&shared->locks[bucket].lock);
		for (int i = 0; i < PLACES; i++)
		{
			const QueryEntry *entry = &entries[i];

			if (entry->query_id == 0 || entry->database_oid != MyDatabaseId ||
				(!sees_all && entry->user_oid != GetUserId()))
				continue;
			for (int j = 0; j < entry->n; j++)
			{
				tier_row_clear(&row);
				tier_row_datum(&row, 0, ObjectIdGetDatum(entry->user_oid));
				tier_row_datum(&row, 1, Int64GetDatum(entry->query_id));
				tier_row_datum(&row, 2, Float8GetDatum(entry->calls));
				tier_row_datum(&row, 3, ObjectIdGetDatum(entry->reads[j].relation_oid));
				tier_row_datum(&row, 4, Float8GetDatum(entry->reads[j].random));
				tier_row_datum(&row, 5, Float8GetDatum(entry->reads[j].sequential));
				tier_row_put(&row);
			}
		}
	}
	return (Datum) 0;
}
