/*-------------------------------------------------------------------------
 *
 * act/batch.c
 *		Moves that belong together: their number, and the locks of those who make them.
 *
 * Between two of its moves nothing in the tables shows that a batch goes on.  So its process
 * has a lock of the session on the batch, from its first move to its end, which the server
 * releases when the process ends in whatever way.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_extension.h"
#include "catalog/pg_sequence.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/lock.h"

#include "src/act/batch.h"
#include "src/base/settings.h"
#include "src/base/transaction.h"
#include "src/catalog/tables.h"
#include "src/move/pending_file.h"
#include "src/move/throttle.h"

/*
 * Makes the lock differ from that of the extension itself, and from that of move windows
 * (act/gate.c).
 */
#define ALONE_LOCK_SUBID 2

/* Those that this process has begun in tier_batch_run(), with a lock each for the session. */
static int64 batches[TIER_MOST_BATCHES];
static int	nbatches = 0;

/*
 * A user lock outlives the rollbacks within a batch, and this class is not reachable by
 * pg_advisory_lock().  Batch numbers come from a sequence, and the lock tag holds the lower 48
 * bits of the number.  Batches whose numbers have the same lower 48 bits never run at the same
 * time.
 */
static LOCKTAG
batch_lock(int64 batch_id)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, SequenceRelationId, (uint32) batch_id,
					   (uint16) (batch_id >> 32));
	tag.locktag_lockmethodid = USER_LOCKMETHOD;
	return tag;
}

bool
tier_batch_is_under_way(int64 batch_id)
{
	LOCKTAG		tag = batch_lock(batch_id);

	/* A standby allows no stronger lock on objects. */
	LOCKMODE	weak = RowShareLock;

	for (int i = 0; i < nbatches; i++)
		if (batch_id == batches[i])
			return true;
	if (LockAcquire(&tag, weak, true, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, weak, true);
	return false;
}

static void
end_batches(void)
{
	while (nbatches > 0)
	{
		LOCKTAG		tag = batch_lock(batches[--nbatches]);

		LockRelease(&tag, ExclusiveLock, true);
	}
}

void
tier_batch_run(void (*body) (void *argument), void *argument)
{
	Assert(nbatches == 0);
	PG_TRY();
	{
		body(argument);
	}
	PG_CATCH();
	{
		end_batches();
		tier_pending_release_spares();
		PG_RE_THROW();
	}
	PG_END_TRY();
	end_batches();
}

int64
tier_batch_begin(void)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	int64		batch_id = 0;
	LOCKTAG		tag;

	Assert(nbatches < TIER_MOST_BATCHES);
	if (tier_catalog_try_enter(&scope))
	{
		batch_id = tier_catalog_next_batch();
		tier_catalog_leave(&scope);
	}
	tier_transaction_commit();
	MemoryContextSwitchTo(context);
	if (batch_id == 0)
		return 0;
	tag = batch_lock(batch_id);
	if (LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL)
		batches[nbatches++] = batch_id;
	return batch_id;
}

bool
tier_batch_may_go_on(bool by_worker)
{
	MemoryContext context = CurrentMemoryContext;
	bool		is_the_same = tier_catalog_extension_state() == TIER_EXTENSION_PRESENT;

	tier_transaction_commit();
	MemoryContextSwitchTo(context);
	if (!is_the_same)
		ereport(by_worker ? LOG : WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("nothing more is moved: the extension was updated or dropped "
						"concurrently"),
				 errdetail("The remaining relations stay where they are until the next run or "
						   "request.")));
	return is_the_same;
}

bool
tier_batch_is_switched_off(int least)
{
	tier_throttle_check_pause();
	return tier_auto_migrate < least;
}

char *
tier_batch_policies(int64 batch_id, int *n, TierPolicyKind *kind)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	char	   *policies;

	if (batch_id == 0 || !tier_catalog_try_enter(&scope))
		return NULL;
	policies = tier_catalog_policies_of_batch(context, batch_id, n, kind);
	tier_catalog_leave(&scope);
	return policies;
}

/* A lock on the extension that only this function takes: two batches would fill the same room. */
bool
tier_batch_lock_alone(LOCKTAG *tag)
{
	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, ExtensionRelationId,
					   get_extension_oid(TIER_EXTENSION_NAME, true), ALONE_LOCK_SUBID);
	tag->locktag_lockmethodid = USER_LOCKMETHOD;
	return LockAcquire(tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL;
}
