/*-------------------------------------------------------------------------
 *
 * observe/query_reads.c
 *		Reads from below shared buffers, by query and relation.
 *
 * A table of fixed size in shared memory, by database, user, query identifier and relation.  A
 * query has its entries in one bucket, by its hash.  If the bucket is full, it replaces the
 * entry with the fewest recent misses; each replacement halves the recency of the others.  So
 * queries that read much stay, and a search is limited to the few entries of one bucket.
 *
 * Plans that are watched by chance also stand for those that are not (access.c), in the number
 * of calls, too.  Lost at a restart.  No text of a query is stored: only pg_stat_statements
 * has these, and decides who sees them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "src/compat.h"
#include "src/base/settings.h"
#include "src/base/shmem.h"
#include "src/base/sql.h"
#include "src/observe/query_reads.h"

PG_FUNCTION_INFO_V1(tier_query_reads_sql);

/* 4,096 reads of queries, in 256 kB. */
#define NBUCKETS 128
#define PLACES 32

/* Of one query.  Under the lock of its bucket; query_id 0: free, nothing else means anything. */
typedef struct QueryEntry
{
	int64		query_id;
	Oid			database_oid;
	Oid			user_oid;
	double		calls;			/* since it first read this relation */
	double		recent;			/* misses, halved with each that is turned out */
	TierQueryRead read;
} QueryEntry;

/* NULL: not preloaded. */
static QueryEntry (*buckets)[PLACES] = NULL;
static LWLockPadded *locks = NULL;	/* one for each bucket */

static void
attach(void *memory, LWLockPadded *new_locks)
{
	buckets = memory;
	locks = new_locks;
}

void
tier_query_reads_init(void)
{
	tier_shmem_reserve("tiered_storage_queries", sizeof(QueryEntry) * NBUCKETS * PLACES, NBUCKETS,
					   attach);
}

static bool
is_of(const QueryEntry *entry, int64 query_id, Oid user_oid)
{
	return entry->query_id == query_id && entry->user_oid == user_oid &&
		entry->database_oid == MyDatabaseId;
}

static void
add_read(QueryEntry *bucket, int64 query_id, Oid user_oid, double calls, const TierQueryRead *read)
{
	QueryEntry *entry = &bucket[0];
	int			i = 0;

	while (i < PLACES && !(is_of(&bucket[i], query_id, user_oid) &&
						   bucket[i].read.relation_oid == read->relation_oid))
	{
		if (entry->query_id != 0 &&
			(bucket[i].query_id == 0 || bucket[i].recent < entry->recent))
			entry = &bucket[i];
		i++;
	}
	if (i < PLACES)
		entry = &bucket[i];
	else
	{
		for (i = 0; entry->query_id != 0 && i < PLACES; i++)
			bucket[i].recent /= 2.0;
		*entry = (QueryEntry)
		{
			query_id, MyDatabaseId, user_oid, calls,.read.relation_oid = read->relation_oid
		};
	}
	entry->read.random += read->random;
	entry->read.sequential += read->sequential;
	entry->recent += read->random + read->sequential;
}

void
tier_query_reads_add(int64 query_id, double calls, const TierQueryRead *reads, int n)
{
	Oid			user_oid = GetUserId();
	uint32		bucket;

	if (buckets == NULL || query_id == 0)
		return;
	bucket = hash_combine(murmurhash32((uint32) query_id), murmurhash32(user_oid)) % NBUCKETS;
	if (!LWLockConditionalAcquire(&locks[bucket].lock, LW_EXCLUSIVE))
		return;
	for (int i = 0; i < PLACES; i++)
		if (is_of(&buckets[bucket][i], query_id, user_oid))
			buckets[bucket][i].calls += calls;
	for (int i = 0; i < n; i++)
		add_read(buckets[bucket], query_id, user_oid, calls, &reads[i]);
	LWLockRelease(&locks[bucket].lock);
}

/* _tiered_storage.query_reads(): of this database, that the caller may see. */
Datum
tier_query_reads_sql(PG_FUNCTION_ARGS)
{
	bool		sees_all = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
	TierResultRow row;
	bool		any = false;

	tier_result_start(fcinfo, &row);
	if (PG_GETARG_BOOL(0) && (buckets == NULL || !tier_track_access || !IsQueryIdEnabled()))
		ereport(NOTICE,
				(errmsg("queries are not counted"),
				 errhint("Set compute_query_id = on and tiered_storage.track_access = on, with "
						 "tiered_storage in shared_preload_libraries.")));
	for (int bucket = 0; buckets != NULL && bucket < NBUCKETS; bucket++)
	{
		QueryEntry	entries[PLACES];

		LWLockAcquire(&locks[bucket].lock, LW_SHARED);
		memcpy(entries, buckets[bucket], sizeof(entries));
		LWLockRelease(&locks[bucket].lock);
		for (int i = 0; i < PLACES; i++)
		{
			const QueryEntry *entry = &entries[i];

			if (entry->query_id == 0 || entry->database_oid != MyDatabaseId ||
				(!sees_all && entry->user_oid != GetUserId()))
				continue;
			tier_row_clear(&row);
			tier_row_datum(&row, 0, ObjectIdGetDatum(entry->user_oid));
			tier_row_datum(&row, 1, Int64GetDatum(entry->query_id));
			tier_row_datum(&row, 2, Float8GetDatum(entry->calls));
			tier_row_datum(&row, 3, ObjectIdGetDatum(entry->read.relation_oid));
			tier_row_datum(&row, 4, Float8GetDatum(entry->read.random));
			tier_row_datum(&row, 5, Float8GetDatum(entry->read.sequential));
			tier_row_put(&row);
			any = true;
		}
	}
	if (PG_GETARG_BOOL(0) && !any)
		ereport(NOTICE,
				(errmsg("no reads of queries have been counted yet"),
				 errdetail("Each server counts its own queries, from its start on.")));
	return (Datum) 0;
}
