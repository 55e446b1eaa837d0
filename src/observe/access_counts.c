/*-------------------------------------------------------------------------
 *
 * observe/access_counts.c
 *		What plans read of each relation, on its way from the backends to the
 *		sampler.
 *
 * Each process collects in a small table of its own, and hands on at the end of a
 * transaction: then, and not earlier, the server's statistics of the same reads
 * are on their way too.  The two are compared for the same period, and must
 * not be far apart in time.
 *
 * The shared table is an open hash table in a fixed number of regions, each
 * with a lock, that are filled by linear probing.  A key stays in its region.
 * What finds its region full is dropped, and counted as such.  The sampler of a
 * database empties the table of its database's entries, so a table full of them means that
 * more relations are active between two samples than fit.
 *
 * Backends of databases of which no sample is taken do not count.
 *
 * Coverage: what is drained by a transaction that aborts is lost.  Whether a
 * database's counts are complete since the last sample that was committed is
 * therefore kept beside them: draining ends it, and the commit of that
 * transaction begins it again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "tcop/pquery.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/observe/access_counts.h"
#include "src/base/settings.h"

#define TRANCHE_NAME "tiered_storage_access"

#define NREGIONS 16
#define MAX_DATABASES 256

/*
 * A database of which no sample was taken for so long does not count any more:
 * the extension, or the database, is gone.
 */
#define EXPIRY_S (25 * 3600)

/* A region is full when this many of its slots are free: probes stay short. */
#define FREE_SLOTS(slots) Max((slots) / 8, 8)

/* Relations that a process collects before it hands them on. */
#define LOCAL_SLOTS 128
#define LOCAL_MAX 96

/* What was found in buffers only is not urgent. */
#define FLUSH_INTERVAL_S 1

typedef struct AccessEntry
{
	Oid			database_oid;	/* InvalidOid: free */
	Oid			relation_oid;
	TierSplitPlans fresh;
	TierSplitPlans carried;
} AccessEntry;

/* A database that is sampled. */
typedef struct AccessDatabase
{
	Oid			database_oid;	/* InvalidOid: free */
	bool		covered;
	TimestampTz expires_at;		/* 0: not since the start of the server */
	double		dropped;		/* since the last take */
} AccessDatabase;

/*
 * Entries are guarded by the lock of their region, databases by the first lock;
 * nobody holds two.  A backend looks at the line of its own database, and at
 * the generation, without lock; device_seen is set once.
 */
typedef struct AccessShared
{
	LWLockPadded *locks;		/* 1 + NREGIONS */
	uint32		region_slots;	/* a power of two */
	uint32		generation;		/* changes when a database becomes known */
	bool		device_seen;	/* see tier_access_counts_saw_device() */
	AccessDatabase databases[MAX_DATABASES];
	int			used[NREGIONS]; /* entries in each region */
	AccessEntry entries[FLEXIBLE_ARRAY_MEMBER];
} AccessShared;

typedef struct LocalEntry
{
	Oid			relation_oid;	/* InvalidOid: free */
	TierSplitPlans plans;
} LocalEntry;

static AccessShared *shared = NULL;

/* This process's, not yet handed on. */
static LocalEntry local_entries[LOCAL_SLOTS];
static int	nlocal = 0;
static bool local_has_misses = false;
static double local_dropped = 0.0;
static TimestampTz flushed_at = 0;

static void (*before_exit_callback) (void) = NULL;

/* A line in shared->databases, once it was found; it may become another's. */
static AccessDatabase *my_database = NULL;
static uint32 generation_seen = 0;

/* The sub-transaction level that has drained, 0: none. */
static int	drained_at_level = 0;

static shmem_startup_hook_type previous_shmem_startup_hook = NULL;
static shmem_request_hook_type previous_shmem_request_hook = NULL;

static uint32
region_slots(void)
{
	return pg_nextpower2_32((uint32) tier_track_max_relations / NREGIONS);
}

static Size
shared_size(void)
{
	return add_size(offsetof(AccessShared, entries),
					mul_size(sizeof(AccessEntry), mul_size(region_slots(), NREGIONS)));
}

static void
access_shmem_request(void)
{
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();

	RequestAddinShmemSpace(MAXALIGN(shared_size()));
	RequestNamedLWLockTranche(TRANCHE_NAME, 1 + NREGIONS);
}

static void
access_shmem_startup(void)
{
	bool		found;

	if (previous_shmem_startup_hook)
		previous_shmem_startup_hook();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("tiered_storage access", shared_size(), &found);
	if (!found)
	{
		memset(shared, 0, shared_size());
		shared->locks = GetNamedLWLockTranche(TRANCHE_NAME);
		shared->region_slots = region_slots();
	}
	LWLockRelease(AddinShmemInitLock);
}

void
tier_access_counts_init(void)
{
	previous_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = access_shmem_request;
	previous_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = access_shmem_startup;
}

static void
add_plans(TierSplitPlans *sum, const TierSplitPlans *more)
{
	sum->random += more->random;
	sum->sequential += more->sequential;
	sum->random_variance += more->random_variance;
	sum->sequential_variance += more->sequential_variance;
	sum->added += more->added;
	sum->ignored += more->ignored;
	sum->hits += more->hits;
	sum->plans += more->plans;
	sum->measured += more->measured;
	sum->measured_device += more->measured_device;
	sum->shared += more->shared;
	sum->shared_device += more->shared_device;
}

static double
misses_of(const TierSplitPlans *plans)
{
	return plans->random + plans->sequential + plans->ignored;
}

/* ---------------------------------------------------------------------
 * Databases
 * ---------------------------------------------------------------------
 */

static LWLock *
database_lock(void)
{
	return &shared->locks[0].lock;
}

/* The line of this database; with create, of one that has expired, if need be. */
static AccessDatabase *
find_database(bool create)
{
	AccessDatabase *usable = NULL;
	TimestampTz now = create ? GetCurrentTimestamp() : 0;

	for (int i = 0; i < MAX_DATABASES; i++)
	{
		AccessDatabase *database = &shared->databases[i];

		if (database->database_oid == MyDatabaseId)
			return database;
		if (create && usable == NULL &&
			(!OidIsValid(database->database_oid) || database->expires_at < now))
			usable = database;
	}
	if (!create || usable == NULL)
		return NULL;
	memset(usable, 0, sizeof(AccessDatabase));
	usable->database_oid = MyDatabaseId;
	shared->generation++;
	return usable;
}

bool
tier_access_counts_wanted(void)
{
	TimestampTz now;

	if (shared == NULL || !OidIsValid(MyDatabaseId))
		return false;

	/*
	 * Without the lock: a value that is a moment old is as good, and whoever
	 * counts without need is dropped later.
	 */
	now = GetCurrentStatementStartTimestamp();
	if (my_database != NULL && my_database->database_oid == MyDatabaseId)
		return now < my_database->expires_at;
	my_database = NULL;

	/* Not every statement searches for what is not there. */
	if (generation_seen == shared->generation)
		return false;
	generation_seen = shared->generation;
	my_database = find_database(false);
	return my_database != NULL && now < my_database->expires_at;
}

/* ---------------------------------------------------------------------
 * Shared entries
 * ---------------------------------------------------------------------
 */

static LWLock *
region_lock(int region)
{
	return &shared->locks[1 + region].lock;
}

static uint32
hash_of(Oid database_oid, Oid relation_oid)
{
	return hash_combine(murmurhash32(database_oid), murmurhash32(relation_oid));
}

static int
region_of(uint32 hash)
{
	return (int) (hash >> 28);
}

StaticAssertDecl(NREGIONS == 16, "region_of takes four bits");

static AccessEntry *
region_entries(int region)
{
	return shared->entries + (Size) region * shared->region_slots;
}

/* The entry, or a new one; NULL: the region is full.  Its lock is held. */
static AccessEntry *
find_entry(int region, uint32 hash, Oid relation_oid)
{
	AccessEntry *entries = region_entries(region);
	uint32		mask = shared->region_slots - 1;

	/* Some slots are always free, so the search ends. */
	for (uint32 i = hash & mask;; i = (i + 1) & mask)
	{
		AccessEntry *entry = &entries[i];

		if (entry->relation_oid == relation_oid && entry->database_oid == MyDatabaseId)
			return entry;
		if (OidIsValid(entry->database_oid))
			continue;
		if ((uint32) shared->used[region] + FREE_SLOTS(shared->region_slots) >= shared->region_slots)
			return NULL;
		memset(entry, 0, sizeof(AccessEntry));
		entry->database_oid = MyDatabaseId;
		entry->relation_oid = relation_oid;
		shared->used[region]++;
		return entry;
	}
}

/*
 * Frees a slot.  What follows without a gap, and would not be found beyond
 * one, moves up; so the slot may be taken again when this returns.
 */
static void
free_entry(int region, uint32 slot)
{
	AccessEntry *entries = region_entries(region);
	uint32		mask = shared->region_slots - 1;
	uint32		hole = slot;

	for (uint32 i = (slot + 1) & mask; OidIsValid(entries[i].database_oid); i = (i + 1) & mask)
	{
		uint32		home = hash_of(entries[i].database_oid, entries[i].relation_oid) & mask;

		/* It may move if its home is not behind the hole. */
		if (((i - home) & mask) >= ((i - hole) & mask))
		{
			entries[hole] = entries[i];
			hole = i;
		}
	}
	entries[hole].database_oid = InvalidOid;
	shared->used[region]--;
}

/* ---------------------------------------------------------------------
 * From this process to shared memory
 * ---------------------------------------------------------------------
 */

/*
 * Hands on what can be handed on.  Without waiting, what is in a region that
 * somebody else has locked stays.
 */
static void
flush(bool wait)
{
	int			left = 0;
	int			todo = nlocal;

	for (int i = 0; i < LOCAL_SLOTS && todo > 0; i++)
	{
		LocalEntry *local = &local_entries[i];
		uint32		hash;
		int			region;
		AccessEntry *entry;

		if (!OidIsValid(local->relation_oid))
			continue;
		todo--;
		hash = hash_of(MyDatabaseId, local->relation_oid);
		region = region_of(hash);
		if (wait)
			LWLockAcquire(region_lock(region), LW_EXCLUSIVE);
		else if (!LWLockConditionalAcquire(region_lock(region), LW_EXCLUSIVE))
		{
			left++;
			continue;
		}
		entry = find_entry(region, hash, local->relation_oid);
		if (entry != NULL)
			add_plans(&entry->fresh, &local->plans);
		else
			local_dropped += misses_of(&local->plans);
		LWLockRelease(region_lock(region));

		/*
		 * A slot that is freed may cut off others of its chain, which are
		 * found again only if all are; until then they are handed on as two.
		 */
		local->relation_oid = InvalidOid;
	}
	nlocal = left;
	local_has_misses = left > 0;
	flushed_at = GetCurrentStatementStartTimestamp();

	if (local_dropped > 0.0)
	{
		LWLockAcquire(database_lock(), LW_EXCLUSIVE);
		{
			AccessDatabase *database = find_database(false);

			if (database != NULL)
				database->dropped += local_dropped;
		}
		LWLockRelease(database_lock());
		local_dropped = 0.0;
	}
}

void
tier_access_counts_flush(void)
{
	if (shared != NULL && nlocal > 0)
		flush(true);
}

/* The counts of this process for a relation; NULL: there is no room. */
static TierSplitPlans *
find_local(Oid relation_oid)
{
	uint32		slot = murmurhash32(relation_oid) % LOCAL_SLOTS;

	if (nlocal >= LOCAL_MAX)
		flush(false);
	for (int i = 0; i < LOCAL_SLOTS; i++, slot = (slot + 1) % LOCAL_SLOTS)
	{
		LocalEntry *local = &local_entries[slot];

		if (!OidIsValid(local->relation_oid))
		{
			local->relation_oid = relation_oid;
			memset(&local->plans, 0, sizeof(local->plans));
			nlocal++;
		}
		if (local->relation_oid == relation_oid)
			return &local->plans;
	}

	/* Locks that could not be had since long, and a table full of others. */
	return NULL;
}

void
tier_access_counts_add(Oid relation_oid, const TierSplitPlans *plans)
{
	TierSplitPlans *local = find_local(relation_oid);

	if (local == NULL)
	{
		local_dropped += misses_of(plans);
		return;
	}
	add_plans(local, plans);
	local_has_misses |= misses_of(plans) > 0.0;
}

void
tier_access_counts_add_hits(Oid relation_oid, double hits)
{
	TierSplitPlans *local = find_local(relation_oid);

	if (local == NULL)
		return;
	local->hits += hits;
	local->plans += 1.0;
}

void
tier_access_counts_saw_device(void)
{
	if (shared != NULL && !shared->device_seen)
		shared->device_seen = true;
}

static void
at_exit(int code, Datum arg)
{
	if (before_exit_callback != NULL)
		before_exit_callback();
	tier_access_counts_flush();
}

static bool has_exit_callback = false;

/*
 * At the end of a transaction.  Not where a procedure commits within a
 * statement: the server hands on its statistics when that one has ended.
 */
static void
at_transaction_end(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_COMMIT:
			if (drained_at_level > 0)
			{
				drained_at_level = 0;
				LWLockAcquire(database_lock(), LW_EXCLUSIVE);
				{
					AccessDatabase *database = find_database(false);

					if (database != NULL)
						database->covered = true;
				}
				LWLockRelease(database_lock());
			}
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:	/* may still be rolled back */
			drained_at_level = 0;
			break;
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PARALLEL_ABORT:

			/* This process ends, and the leader may look. */
			tier_access_counts_flush();
			return;
		default:
			return;
	}

	/*
	 * Here and not with the first plan: exit callbacks are a stack, and a
	 * plan may run where somebody wants his own one back on top.
	 */
	if (!has_exit_callback && ActivePortal == NULL && !proc_exit_inprogress)
	{
		has_exit_callback = true;
		before_shmem_exit(at_exit, (Datum) 0);
	}
	if (nlocal == 0 || ActivePortal != NULL)
		return;
	if (local_has_misses ||
		GetCurrentStatementStartTimestamp() - flushed_at > FLUSH_INTERVAL_S * USECS_PER_SEC)
		flush(false);
}

static void
at_subtransaction_end(SubXactEvent event, SubTransactionId subid,
					  SubTransactionId parent_subid, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();

	if (drained_at_level < level)
		return;
	if (event == SUBXACT_EVENT_COMMIT_SUB)
		drained_at_level = level - 1;
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		drained_at_level = 0;
}

void
tier_access_counts_prepare(void (*before_exit) (void))
{
	static bool is_prepared = false;

	if (before_exit != NULL)
		before_exit_callback = before_exit;
	if (is_prepared)
		return;
	is_prepared = true;
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
}

/* ---------------------------------------------------------------------
 * From shared memory to the sampler
 * ---------------------------------------------------------------------
 */

static int
compare_counts(const void *a, const void *b)
{
	Oid			left = ((const TierAccessCount *) a)->relation_oid;
	Oid			right = ((const TierAccessCount *) b)->relation_oid;

	return left < right ? -1 : left > right ? 1 : 0;
}

static void
copy_entry(TierAccessTaken *taken, const AccessEntry *entry)
{
	TierAccessCount *count = &taken->counts[taken->n++];

	count->relation_oid = entry->relation_oid;
	count->fresh = entry->fresh;
	count->plans = entry->fresh;
	add_plans(&count->plans, &entry->carried);
}

/* The regions one by one; room is made before the lock is taken. */
static void
take_entries(TierAccessTaken *taken, bool drain)
{
	Size		capacity = shared->region_slots;

	taken->counts = palloc_extended(sizeof(TierAccessCount) * capacity, MCXT_ALLOC_HUGE);
	for (int region = 0; region < NREGIONS; region++)
	{
		AccessEntry *entries = region_entries(region);

		if (capacity - taken->n < shared->region_slots)
		{
			capacity = capacity * 2 + shared->region_slots;
			taken->counts = repalloc_huge(taken->counts, sizeof(TierAccessCount) * capacity);
		}
		LWLockAcquire(region_lock(region), drain ? LW_EXCLUSIVE : LW_SHARED);
		for (uint32 i = 0; i < shared->region_slots; i++)
		{
			/* Another entry may move into the slot that is freed. */
			while (entries[i].database_oid == MyDatabaseId)
			{
				copy_entry(taken, &entries[i]);
				if (!drain)
					break;
				free_entry(region, i);
			}
		}
		LWLockRelease(region_lock(region));
		CHECK_FOR_INTERRUPTS();
	}
	qsort(taken->counts, taken->n, sizeof(TierAccessCount), compare_counts);
}

/* Entries of databases that are not sampled any more are in the way. */
static void
remove_expired(void)
{
	Oid			sampled[MAX_DATABASES];
	int			nsampled = 0;
	TimestampTz now = GetCurrentTimestamp();

	LWLockAcquire(database_lock(), LW_SHARED);
	for (int i = 0; i < MAX_DATABASES; i++)
		if (OidIsValid(shared->databases[i].database_oid) && shared->databases[i].expires_at >= now)
			sampled[nsampled++] = shared->databases[i].database_oid;
	LWLockRelease(database_lock());

	for (int region = 0; region < NREGIONS; region++)
	{
		AccessEntry *entries = region_entries(region);

		LWLockAcquire(region_lock(region), LW_EXCLUSIVE);
		for (uint32 i = 0; i < shared->region_slots && shared->used[region] > 0; i++)
		{
			while (OidIsValid(entries[i].database_oid))
			{
				bool		is_sampled = false;

				for (int j = 0; j < nsampled && !is_sampled; j++)
					is_sampled = sampled[j] == entries[i].database_oid;
				if (is_sampled)
					break;
				free_entry(region, i);
			}
		}
		LWLockRelease(region_lock(region));
		CHECK_FOR_INTERRUPTS();
	}
}

TierAccessTaken
tier_access_counts_take(bool drain)
{
	TierAccessTaken taken = {0};
	AccessDatabase *database;

	if (shared == NULL)
		return taken;
	taken.device_seen = shared->device_seen;

	/* What this session did before it asks, it wants to see. */
	tier_access_counts_flush();

	if (drain)
		tier_access_counts_prepare(NULL);
	LWLockAcquire(database_lock(), drain ? LW_EXCLUSIVE : LW_SHARED);
	database = find_database(drain);
	if (database != NULL)
	{
		TimestampTz now = GetCurrentTimestamp();

		taken.covered = now < database->expires_at &&
			(database->covered || drained_at_level > 0);
		taken.dropped = database->dropped;
		if (drain)
		{
			database->covered = false;
			database->dropped = 0.0;
			database->expires_at = now + EXPIRY_S * USECS_PER_SEC;
			drained_at_level = GetCurrentTransactionNestLevel();
		}
	}
	LWLockRelease(database_lock());

	take_entries(&taken, drain);
	if (drain)
		remove_expired();
	return taken;
}

void
tier_access_counts_carry(Oid relation_oid, const TierSplitPlans *plans)
{
	uint32		hash = hash_of(MyDatabaseId, relation_oid);
	int			region = region_of(hash);
	AccessEntry *entry;

	LWLockAcquire(region_lock(region), LW_EXCLUSIVE);
	entry = find_entry(region, hash, relation_oid);
	if (entry != NULL)
		entry->carried = *plans;
	LWLockRelease(region_lock(region));
}

TierAccessStatus
tier_access_counts_status(void)
{
	TierAccessStatus status = {0};
	AccessDatabase *database;

	if (shared == NULL)
		return status;
	status.exists = true;
	status.max_entries = (int) ((shared->region_slots - FREE_SLOTS(shared->region_slots)) * NREGIONS);
	LWLockAcquire(database_lock(), LW_SHARED);
	database = find_database(false);
	if (database != NULL)
	{
		status.covered = database->covered && GetCurrentTimestamp() < database->expires_at;
		status.dropped = database->dropped;
	}
	LWLockRelease(database_lock());
	for (int region = 0; region < NREGIONS; region++)
	{
		LWLockAcquire(region_lock(region), LW_SHARED);
		status.entries += shared->used[region];
		LWLockRelease(region_lock(region));
	}
	return status;
}
