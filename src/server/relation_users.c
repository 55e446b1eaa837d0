/*-------------------------------------------------------------------------
 *
 * server/relation_users.c
 *		Transactions that wait for a relation, or have locked it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/twophase.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/server/processes.h"
#include "src/server/relation.h"

/*
 * A transaction that has locked a relation for this long may keep it for longer than a move
 * waits; so may a transaction that has been idle for this long.  Each transaction is idle for
 * a moment between two statements, and of many busy ones there is always one that is.
 */
#define LASTING_MS 1000
#define LASTING_IDLE_MS 100

/*
 * LockHasWaitersRelation would be the function to call, but it crashes when our
 * lock took the fast path.  Locks never leave shared memory, so that reading
 * one which has just gone reads another's tag at worst.
 */
bool
tier_relation_someone_waits_for(const LOCKTAG *tag, const LOCKTAG *other)
{
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		const volatile PGPROC *process = &ProcGlobal->allProcs[i];
		LOCK	   *lock = process->waitLock;
		LOCKTAG		awaited;

		if (lock == NULL)
			continue;
		awaited = lock->tag;
		if (memcmp(&awaited, tag, sizeof(awaited)) == 0 ||
			memcmp(&awaited, other, sizeof(awaited)) == 0)
			return true;
	}
	return false;
}

bool
tier_relation_has_waiters(Oid relation_oid)
{
	VirtualTransactionId vxid;
	LOCKTAG		relation_tag;
	LOCKTAG		transaction_tag;

	SET_LOCKTAG_RELATION(relation_tag, MyDatabaseId, relation_oid);
	GET_VXID_FROM_PGPROC(vxid, *MyProc);
	SET_LOCKTAG_VIRTUALTRANSACTION(transaction_tag, vxid);
	return tier_relation_someone_waits_for(&relation_tag, &transaction_tag);
}

/* Fills in the published status of the process; false if there is none. */
static bool
describe_process(TierHolder *holder)
{
	for (int i = 0; i < MaxBackends; i++)
	{
		PgBackendStatus status;
		char	   *application;

		if (!tier_processes_read(i, &status) || status.st_procpid != holder->pid)
			continue;
		holder->since = status.st_xact_start_timestamp;
		holder->role_oid = status.st_userid;
		application = palloc(NAMEDATALEN);
		strlcpy(application, status.st_backendType == B_BACKEND ? status.st_appname :
				GetBackendTypeDesc(status.st_backendType), NAMEDATALEN);
		holder->application = application;
		holder->is_idle = (status.st_state == STATE_IDLEINTRANSACTION ||
						   status.st_state == STATE_IDLEINTRANSACTION_ABORTED) &&
			TimestampDifferenceExceeds(status.st_state_start_timestamp, GetCurrentTimestamp(),
									   LASTING_IDLE_MS);
		return true;
	}
	return false;
}

/*
 * A prepared transaction has the virtual ID of the session that prepared it, which
 * has another one by then; or, after a restart, only its own ID.  With those that do not
 * tell since when they have been there.
 */
static List *
all_holders(Oid relation_oid)
{
	List	   *holders = NIL;
	LOCKTAG		tag;
	VirtualTransactionId *ids;
	int			n;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relation_oid);
	ids = GetLockConflicts(&tag, AccessExclusiveLock, &n);
	for (int i = 0; i < n; i++)
	{
		TierHolder *holder = palloc0(sizeof(TierHolder));
		PGPROC	   *process = tier_compat_process_of(ids[i]);
		VirtualTransactionId now;
		bool		more;

		SetInvalidVirtualTransactionId(now);
		if (process != NULL)
			GET_VXID_FROM_PGPROC(now, *process);
		if (VirtualTransactionIdIsRecoveredPreparedXact(ids[i]))
			holder->xid = ids[i].localTransactionId;
		else if (VirtualTransactionIdEquals(now, ids[i]))
			holder->pid = process->pid;
		else
			holder->xid = TwoPhaseGetXidByVirtualXID(ids[i], &more);
		if (TransactionIdIsValid(holder->xid) || (holder->pid != 0 && describe_process(holder)))
			holders = lappend(holders, holder);
	}
	return holders;
}

List *
tier_relation_holders(Oid relation_oid)
{
	List	   *holders = NIL;
	ListCell   *cell;

	foreach(cell, all_holders(relation_oid))
	{
		TierHolder *holder = lfirst(cell);

		if (holder->pid == 0 || holder->since != 0)
			holders = lappend(holders, holder);
	}
	return holders;
}

bool
tier_relation_has_lasting_holder(Oid relation_oid)
{
	TimestampTz now = GetCurrentTimestamp();
	ListCell   *cell;

	foreach(cell, all_holders(relation_oid))
	{
		const TierHolder *holder = lfirst(cell);

		if (holder->pid == 0 || holder->since == 0 || holder->is_idle ||
			strncmp(holder->application, "pg_dump", strlen("pg_dump")) == 0 ||
			TimestampDifferenceExceeds(holder->since, now, LASTING_MS))
			return true;
	}
	return false;
}
