/*-------------------------------------------------------------------------
 *
 * observe/access_counts.c
 *		Reads of the plans of this process, by relation, until they are passed on.
 *
 * Each process collects counts in a small local table, and passes them on to access_shared.c
 * at the end of a transaction: then, and not earlier, the server's statistics of the same
 * reads are on their way too.  The two are compared for the same period, and must not be far
 * apart in time.  Counts of ignored applications must match exactly: they are passed on only
 * then, and the server is asked to report its statistics at the same time.
 *
 * Coverage: counts that are drained by a transaction that aborts are lost.  Whether a
 * database's counts are complete since the last sample that was committed is therefore kept
 * beside them: draining ends it, and the commit of that transaction begins it again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/observe/access_counts.h"

/*
 * Relations that a process collects before it hands them on: three quarters of this.  Where it
 * is ignored there may be more of them, in a larger table: a dump reads all in one transaction.
 */
#define LOCAL_SLOTS 128
#define MAX_LOCAL_SLOTS 32768

/* Hits in buffers are not urgent. */
#define FLUSH_INTERVAL_S 1

/*
 * From so many misses on, a flush waits for the lock on the table: the statistics have them
 * now, and reads that the executor has not reported do not count as use.
 */
#define MANY_MISSES 1000.0

typedef struct LocalEntry
{
	Oid			relation_oid;	/* InvalidOid: free */
	TierSplitPlans plans;		/* since it was handed on; means nothing in a
								 * free slot */
} LocalEntry;

/* This process's, not yet handed on: changed by adding, and emptied by flush(). */
static LocalEntry first_entries[LOCAL_SLOTS];
static LocalEntry *local_entries = first_entries;	/* or a larger one */
static int	local_slots = LOCAL_SLOTS;
static int	nlocal = 0;			/* slots that are not free */
static bool local_ignored = false;	/* something in them is ignored */
static double local_misses = 0.0;
static double local_dropped = 0.0;	/* reads that found no room */
static TimestampTz flushed_at = 0;
static bool is_due = true;		/* the end of a transaction has to look */

static void (*before_exit_callback) (void) = NULL;

/* The sub-transaction level that has drained, 0: none. */
static int	drained_at_level = 0;

/* The large table goes when it is empty. */
static void
shrink(void)
{
	if (local_entries == first_entries)
		return;
	pfree(local_entries);
	memset(first_entries, 0, sizeof(first_entries));
	local_entries = first_entries;
	local_slots = LOCAL_SLOTS;
}

/*
 * Passes the counts on.  Without waiting, counts for a region that another process has locked
 * stay here.
 */
static void
flush(bool wait)
{
	int			left = 0;
	double		left_misses = 0.0;
	int			todo = nlocal;

	for (int i = 0; i < local_slots && todo > 0; i++)
	{
		LocalEntry *local = &local_entries[i];

		if (!OidIsValid(local->relation_oid))
			continue;
		todo--;
		switch (tier_access_shared_add(local->relation_oid, &local->plans, wait))
		{
			case TIER_ACCESS_LOCKED:
				left++;
				left_misses += tier_split_misses(&local->plans);
				continue;
			case TIER_ACCESS_FULL:
				local_dropped += tier_split_misses(&local->plans);
				break;
			case TIER_ACCESS_ADDED:
				break;
		}

		/*
		 * A slot that is freed may cut off others of its chain, which are
		 * found again only if all are; until then they are handed on as two.
		 */
		local->relation_oid = InvalidOid;
	}
	nlocal = left;
	is_due |= left > 0;
	if (left == 0)
	{
		local_ignored = false;
		shrink();
	}
	local_misses = left_misses;
	flushed_at = GetCurrentStatementStartTimestamp();

	if (local_dropped > 0.0)
	{
		tier_access_shared_drop(local_dropped);
		local_dropped = 0.0;
	}
}

/* Hands on what this process has counted.  Waits for locks if it has to. */
static void
flush_all(void)
{
	if (tier_access_shared_exists() && nlocal > 0)
		flush(true);
}

/* The counts of this process for a relation; NULL: there is no room. */
static TierSplitPlans *
find_slot(Oid relation_oid)
{
	uint32		slot = murmurhash32(relation_oid) % local_slots;

	for (int i = 0; i < local_slots; i++, slot = (slot + 1) % local_slots)
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

static bool
is_full(void)
{
	return nlocal >= local_slots / 4 * 3;
}

/* Makes room for more; if there is no memory for it, all stays as it is. */
static void
grow(void)
{
	LocalEntry *old = local_entries;
	int			nold = local_slots;
	LocalEntry *entries;

	if (local_slots >= MAX_LOCAL_SLOTS)
		return;
	entries = MemoryContextAllocExtended(TopMemoryContext, sizeof(LocalEntry) * local_slots * 4,
										 MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);
	if (entries == NULL)
		return;
	local_entries = entries;
	local_slots *= 4;
	nlocal = 0;
	for (int i = 0; i < nold; i++)
		if (OidIsValid(old[i].relation_oid))
			tier_split_add_plans(find_slot(old[i].relation_oid), &old[i].plans);
	if (old != first_entries)
		pfree(old);
}

/* The same, after making room; ignored: rather in this process. */
static TierSplitPlans *
find_local(Oid relation_oid, bool ignored)
{
	if (is_full() && ignored)
		grow();
	if (is_full())
		flush(false);
	return find_slot(relation_oid);
}

void
tier_access_counts_add(Oid relation_oid, const TierSplitPlans *plans)
{
	TierSplitPlans *local = find_local(relation_oid, false);

	if (local == NULL)
	{
		local_dropped += tier_split_misses(plans);
		return;
	}
	tier_split_add_plans(local, plans);
	local_misses += Max(tier_split_misses(plans), 0.0);
	is_due = true;
}

void
tier_access_counts_add_hits(Oid relation_oid, double hits)
{
	TierSplitPlans *local = find_local(relation_oid, false);

	if (local == NULL)
		return;
	local->hits += hits;
	local->plans += 1.0;
	is_due |= GetCurrentStatementStartTimestamp() - flushed_at > FLUSH_INTERVAL_S * USECS_PER_SEC;
}

void
tier_access_counts_add_ignored(Oid relation_oid, const TierCompatBlockCounts *counts)
{
	TierSplitPlans *local;
	TierSplitIgnored ignored;

	if (counts->scans <= 0 && counts->tuples <= 0 && counts->fetched <= 0)
		return;
	local = find_local(relation_oid, true);
	if (local == NULL)
		return;					/* it counts as use */
	ignored.scans = counts->scans;
	ignored.tuples = counts->tuples;
	ignored.hits = counts->hit;
	ignored.misses = counts->fetched - counts->hit;
	ignored.plans = 1.0;
	tier_split_add_ignored(&local->ignored, &ignored);
	local_ignored = is_due = true;
}

static void
at_exit(int code, Datum arg)
{
	if (before_exit_callback != NULL)
		before_exit_callback();
	flush_all();
}

static bool has_exit_callback = false;

/*
 * At the end of a transaction.  Not where a procedure commits within a
 * statement: the server hands on its statistics when that one has ended.
 */
static void
at_transaction_end(XactEvent event, void *arg)
{
	if (!is_due)
		return;
	switch (event)
	{
		case XACT_EVENT_COMMIT:
			if (drained_at_level > 0)
			{
				drained_at_level = 0;
				tier_access_shared_cover();
			}
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:	/* may still be rolled back */
			drained_at_level = 0;
			break;
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PARALLEL_ABORT:

			/* This process ends, and the leader may look. */
			flush_all();
			return;
		default:
			return;
	}

	/*
	 * Here and not with the first plan: exit callbacks are a stack, and a
	 * plan may run within code that expects its own callback on top.
	 */
	if (!has_exit_callback && ActivePortal == NULL && !proc_exit_inprogress)
	{
		has_exit_callback = true;
		before_shmem_exit(at_exit, (Datum) 0);
	}
	is_due = ActivePortal != NULL;
	if (nlocal == 0 || is_due)
		return;
	if (local_ignored)
	{
		/* A sample must not run between these two calls. */
		pgstat_force_next_flush();
		flush(true);
	}
	else
		flush(local_misses >= MANY_MISSES);
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

TierAccessTaken
tier_access_counts_take(bool drain)
{
	TierAccessTaken taken = {0};

	if (!tier_access_shared_exists())
		return taken;

	/* A session sees its own earlier reads. */
	flush_all();

	if (drain)
		tier_access_counts_prepare(NULL);
	is_due |= drain;

	/* From here on, that is before something can fail, an abort loses counts. */
	if (tier_access_shared_take_database(&taken, drain, drained_at_level > 0) && drain)
		drained_at_level = GetCurrentTransactionNestLevel();
	tier_access_shared_take_entries(&taken, drain);
	return taken;
}
