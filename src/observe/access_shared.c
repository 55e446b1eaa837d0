/*-------------------------------------------------------------------------
 *
 * observe/access_shared.c
 *		Reads of plans, by relation, in memory shared with the sampler.
 *
 * An open hash table in a fixed number of regions, each with a lock, that are filled by linear
 * probing.  A key stays in its region.  Reads for a full region are dropped, and counted as
 * dropped.  The sampler of a database empties the table of its database's entries, so a table
 * full of them means that more relations are active between two samples than fit.
 *
 * There is also a line for each sampled database; backends of other databases do not count.  A
 * restart loses everything; then nothing is covered until the first sample.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "port/pg_bitutils.h"
#include "storage/lwlock.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/shmem.h"
#include "src/observe/access_shared.h"
#include "src/server/io_workers.h"

#define NREGIONS 16

/*
 * Relations of all databases whose reads are counted between two samples, about.  Each takes
 * 350 bytes of shared memory; the reads of others are judged by their statistics.
 */
#define TRACKED_RELATIONS tier_debug_constant(tracked_relations, 16384)
#define MAX_DATABASES 256

/*
 * A database without a sample for so long is ignored: the extension or the database was
 * dropped.
 */
#define EXPIRY_S (25 * 3600)

/*
 * Counts that a sample takes before the statistics have them wait until the next sample, and
 * longer if samples follow each other quickly: an idle session reports its counters after ten
 * seconds (PGSTAT_IDLE_INTERVAL of postgres.c).
 */
#define MOST_CARRIED_US INT64CONST(15000000)

/* A region is full when this many of its slots are free: probes stay short. */
#define FREE_SLOTS(slots) Max((slots) / 8, 8)

/*
 * One relation.  Both counts are added to, or replaced, under the lock of the
 * region, and mean nothing in a slot that is free.
 */
typedef struct AccessEntry
{
	Oid			database_oid;	/* InvalidOid: free */
	Oid			relation_oid;
	TierSplitPlans fresh;		/* since the last take; backends add to it */
	TierSplitPlans carried;		/* given back by the last take: it came too
								 * early for the statistics */
	int64		carried_since_us;	/* when the first of that was taken, by
									 * tier_clock_monotonic_us; 0: it is not
									 * young */
} AccessEntry;

/*
 * A database that is sampled.  Changed under the first lock.  A line that has
 * expired may be taken by another database; a backend that finds another's OID
 * there has lost its own.
 */
typedef struct AccessDatabase
{
	Oid			database_oid;	/* InvalidOid: free */
	bool		covered;		/* counted without a gap since the last sample
								 * that was committed: a take that drains ends
								 * it, its commit begins it again */
	TimestampTz expires_at;		/* advanced by each take that drains; 0: not
								 * since the start of the server */
	double		dropped;		/* reads that found no room, since the last
								 * take */
	pg_atomic_uint32 uncounted; /* changes with each plan that the statistics
								 * do not count; without the lock */
	uint32		uncounted_taken;	/* as of the last take that was committed */
	TierIoWorkers workers;		/* as of the last take that drained */
} AccessDatabase;

/*
 * All of it.  Entries, and how many of them are used, are guarded by the lock of their region,
 * databases and the generation by the first lock.  A process never holds two of them, and runs
 * no code that may fail while it holds one.  Backends read the line of their own database, and
 * the generation, without a lock: an old value makes them count a little too early or too
 * late, which a take drops or misses as well.
 */
typedef struct AccessShared
{
	LWLockPadded *locks;		/* 1 + NREGIONS; set at startup */
	uint32		region_slots;	/* a power of two; set at startup */
	uint32		generation;		/* changes when a database becomes known */
	bool		device_seen;	/* see tier_access_shared_saw_device(); set
								 * once, without a lock */
	AccessDatabase databases[MAX_DATABASES];
	int			used[NREGIONS]; /* entries in each region */
	AccessEntry entries[FLEXIBLE_ARRAY_MEMBER];
} AccessShared;

/* NULL: not preloaded. */
static AccessShared *shared = NULL;

/* A line in shared->databases, once it was found; it may become another's. */
static AccessDatabase *my_database = NULL;
static uint32 generation_seen = 0;

/* As this process has taken it last. */
static uint32 uncounted_seen = 0;

static uint32
region_slots(void)
{
	return pg_nextpower2_32((uint32) TRACKED_RELATIONS / NREGIONS);
}

static Size
shared_size(void)
{
	return add_size(offsetof(AccessShared, entries),
					mul_size(sizeof(AccessEntry), mul_size(region_slots(), NREGIONS)));
}

static void
attach(void *memory, LWLockPadded *locks)
{
	shared = memory;
	shared->locks = locks;
	shared->region_slots = region_slots();
}

void
tier_access_shared_init(void)
{
	tier_shmem_reserve("tiered_storage_access", shared_size(), 1 + NREGIONS, attach);
}

bool
tier_access_shared_exists(void)
{
	return shared != NULL;
}

void
tier_access_shared_saw_device(void)
{
	if (shared != NULL && !shared->device_seen)
		shared->device_seen = true;
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
	pg_atomic_init_u32(&usable->uncounted, 0);
	usable->database_oid = MyDatabaseId;
	shared->generation++;
	return usable;
}

bool
tier_access_shared_wanted(void)
{
	TimestampTz now;

	if (shared == NULL || !OidIsValid(MyDatabaseId))
		return false;

	/*
	 * Without the lock: a value that is a moment old is as good, and needless
	 * counts are dropped later.
	 */
	now = GetCurrentStatementStartTimestamp();
	if (my_database != NULL && my_database->database_oid == MyDatabaseId)
		return now < my_database->expires_at;
	my_database = NULL;

	/* Search for the database only once for each generation. */
	if (generation_seen == shared->generation)
		return false;
	generation_seen = shared->generation;
	my_database = find_database(false);
	return my_database != NULL && now < my_database->expires_at;
}

void
tier_access_shared_drop(double reads)
{
	AccessDatabase *database;

	LWLockAcquire(database_lock(), LW_EXCLUSIVE);
	database = find_database(false);
	if (database != NULL)
		database->dropped += reads;
	LWLockRelease(database_lock());
}

void
tier_access_shared_cover(void)
{
	AccessDatabase *database;

	LWLockAcquire(database_lock(), LW_EXCLUSIVE);
	database = find_database(false);
	if (database != NULL)
	{
		database->covered = true;
		database->uncounted_taken = uncounted_seen;
	}
	LWLockRelease(database_lock());
}

void
tier_access_shared_note_uncounted(void)
{
	AccessDatabase *database;

	if (shared == NULL || !OidIsValid(MyDatabaseId))
		return;
	if (tier_access_shared_wanted())
	{
		pg_atomic_fetch_add_u32(&my_database->uncounted, 1);
		return;
	}

	/*
	 * The next sample, which may be the first one since the start, has to
	 * know.
	 */
	LWLockAcquire(database_lock(), LW_EXCLUSIVE);
	database = find_database(true);
	if (database != NULL)
		pg_atomic_fetch_add_u32(&database->uncounted, 1);
	LWLockRelease(database_lock());
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
		if ((uint32) shared->used[region] +
			FREE_SLOTS(shared->region_slots) >= shared->region_slots)
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

TierAccessAdded
tier_access_shared_add(Oid relation_oid, const TierSplitPlans *plans, bool wait)
{
	uint32		hash = hash_of(MyDatabaseId, relation_oid);
	int			region = region_of(hash);
	AccessEntry *entry;

	if (wait)
		LWLockAcquire(region_lock(region), LW_EXCLUSIVE);
	else if (!LWLockConditionalAcquire(region_lock(region), LW_EXCLUSIVE))
		return TIER_ACCESS_LOCKED;
	entry = find_entry(region, hash, relation_oid);
	if (entry != NULL)
		tier_split_add_plans(&entry->fresh, plans);
	LWLockRelease(region_lock(region));
	return entry != NULL ? TIER_ACCESS_ADDED : TIER_ACCESS_FULL;
}

/* ---------------------------------------------------------------------
 * From shared memory to the sampler
 * ---------------------------------------------------------------------
 */

static void
copy_entry(TierAccessTaken *taken, const AccessEntry *entry, int64 now_us)
{
	TierAccessCount *count = &taken->counts[taken->n++];
	bool		is_young = entry->carried_since_us != 0 &&
	now_us - entry->carried_since_us < MOST_CARRIED_US;

	count->relation_oid = entry->relation_oid;
	count->young = entry->fresh;
	count->plans = entry->fresh;
	tier_split_add_plans(&count->plans, &entry->carried);
	if (is_young)
		count->young = count->plans;
	count->young_since_us = is_young ? entry->carried_since_us : now_us;
}

/* Removes the entries of databases that are not sampled, to make room. */
static void
remove_expired(void)
{
	Oid			sampled[MAX_DATABASES];
	int			nsampled = 0;
	TimestampTz now = GetCurrentTimestamp();

	LWLockAcquire(database_lock(), LW_SHARED);
	for (int i = 0; i < MAX_DATABASES; i++)
		if (OidIsValid(shared->databases[i].database_oid) &&
			shared->databases[i].expires_at >= now)
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

bool
tier_access_shared_take_database(TierAccessTaken *taken, bool drain, bool drained)
{
	AccessDatabase *database;
	TierIoWorkers workers = {0};

	memset(taken, 0, sizeof(TierAccessTaken));
	if (drain)
		tier_io_workers_read(&workers);
	taken->device_seen = shared->device_seen;
	LWLockAcquire(database_lock(), drain ? LW_EXCLUSIVE : LW_SHARED);
	database = find_database(drain);
	if (database != NULL)
	{
		TimestampTz now = GetCurrentTimestamp();
		uint32		uncounted = pg_atomic_read_u32(&database->uncounted);

		taken->covered = now < database->expires_at && (database->covered || drained);
		taken->dropped = database->dropped;
		taken->uncounted = uncounted != database->uncounted_taken;
		if (drain)
		{
			uncounted_seen = uncounted;
			taken->worker_bytes = tier_io_workers_bytes_between(&database->workers, &workers);
			database->workers = workers;
			database->covered = false;
			database->dropped = 0.0;
			database->expires_at = now + EXPIRY_S * USECS_PER_SEC;
		}
	}
	LWLockRelease(database_lock());
	return database != NULL;
}

/* The regions one by one; room is made before the lock is taken. */
void
tier_access_shared_take_entries(TierAccessTaken *taken, bool drain)
{
	Size		capacity = shared->region_slots;
	int64		now_us = tier_clock_monotonic_us();

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
				copy_entry(taken, &entries[i], now_us);
				if (!drain)
					break;
				free_entry(region, i);
			}
		}
		LWLockRelease(region_lock(region));
		CHECK_FOR_INTERRUPTS();
	}
	qsort(taken->counts, taken->n, sizeof(TierAccessCount), oid_cmp);
	if (drain)
		remove_expired();
}

void
tier_access_shared_carry(Oid relation_oid, const TierSplitPlans *plans, int64 since_us)
{
	uint32		hash = hash_of(MyDatabaseId, relation_oid);
	int			region = region_of(hash);
	AccessEntry *entry;

	LWLockAcquire(region_lock(region), LW_EXCLUSIVE);
	entry = find_entry(region, hash, relation_oid);
	if (entry != NULL)
	{
		entry->carried = *plans;
		entry->carried_since_us = since_us;
	}
	LWLockRelease(region_lock(region));
}

TierAccessStatus
tier_access_shared_status(void)
{
	TierAccessStatus status = {0};
	AccessDatabase *database;

	if (shared == NULL)
		return status;
	status.exists = true;
	status.max_entries = (int) ((shared->region_slots - FREE_SLOTS(shared->region_slots)) *
								NREGIONS);
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
