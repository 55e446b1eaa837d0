/*-------------------------------------------------------------------------
 *
 * server/relation_pages.c
 *		Reading some pages of a relation outside of a query.
 *
 * See server/relation_pages.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/visibilitymap.h"
#include "access/xlog.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_tablespace_d.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_node.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "src/compat.h"
#include "src/server/relation.h"
#include "src/server/relation_pages.h"
#include "src/server/wal.h"

struct TierPages
{
	Relation	relation;
	RelFileLocator file;
	BlockNumber npages;
	bool		is_permanent;
	BufferAccessStrategy strategy;
};

/* Checked without a lock, and again under the lock. */
static const char *
why_not(const TierRelationInfo *info)
{
	if (info->kind != RELKIND_RELATION && info->kind != RELKIND_MATVIEW &&
		info->kind != RELKIND_INDEX && info->kind != RELKIND_TOASTVALUE)
		return "it has no pages";
	if (info->persistence == RELPERSISTENCE_TEMP)
		return "it is temporary";
	if (info->persistence == RELPERSISTENCE_UNLOGGED && RecoveryInProgress())
		return "it is unlogged, and empty on a standby";
	if (info->tablespace_oid == GLOBALTABLESPACE_OID)
		return "it belongs to all databases";
	if (info->kind != RELKIND_INDEX && info->am_oid != HEAP_TABLE_AM_OID)
		return "the page format of its access method is unknown";
	return NULL;
}

TierPages *
tier_pages_open(Oid relation_oid, const char **why)
{
	TierRelationInfo info;
	TierPages  *pages;
	Relation	relation;

	*why = "it no longer exists";
	if (!tier_relation_lookup(relation_oid, &info) || (*why = why_not(&info)) != NULL)
		return NULL;
	if (!ConditionalLockRelationOid(relation_oid, AccessShareLock))
	{
		*why = "another session holds or awaits an exclusive lock; try again";
		return NULL;
	}
	relation = try_relation_open(relation_oid, NoLock);
	if (relation == NULL || !tier_relation_lookup(relation_oid, &info) ||
		(*why = why_not(&info)) != NULL)
	{
		if (relation == NULL)
			*why = "it no longer exists";
		else
			relation_close(relation, NoLock);
		UnlockRelationOid(relation_oid, AccessShareLock);
		return NULL;
	}
	pages = palloc0(sizeof(TierPages));
	pages->relation = relation;
	pages->file = tier_compat_relation_locator(relation);
	pages->npages = RelationGetNumberOfBlocks(relation);
	pages->is_permanent = info.persistence == RELPERSISTENCE_PERMANENT;
	pages->strategy = GetAccessStrategy(BAS_BULKREAD);
	return pages;
}

BlockNumber
tier_pages_count(const TierPages *pages)
{
	return pages->npages;
}

BlockNumber
tier_pages_count_frozen(const TierPages *pages)
{
	BlockNumber visible;
	BlockNumber frozen;

	visibilitymap_count(pages->relation, &visible, &frozen);
	return frozen;
}

void
tier_pages_read(TierPages *pages, BlockNumber first, int n, char *bytes)
{
	for (int i = 0; i < n; i++)
	{
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		buffer = ReadBufferWithoutRelcache(pages->file, MAIN_FORKNUM, first + i, RBM_NORMAL,
										   pages->strategy, pages->is_permanent);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		memcpy(bytes + (Size) i * BLCKSZ, BufferGetPage(buffer), BLCKSZ);
		UnlockReleaseBuffer(buffer);
	}
}

bool
tier_pages_are_awaited(const TierPages *pages)
{
	return tier_relation_has_waiters(RelationGetRelid(pages->relation));
}

void
tier_pages_close(TierPages *pages)
{
	FreeAccessStrategy(pages->strategy);
	relation_close(pages->relation, AccessShareLock);
	pfree(pages);
}

void
tier_pages_yield(bool yields)
{
	LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
	if (yields)
		MyProc->statusFlags |= PROC_IS_AUTOVACUUM;
	else
		MyProc->statusFlags &= ~PROC_IS_AUTOVACUUM;
	ProcGlobal->statusFlags[MyProc->pgxactoff] = MyProc->statusFlags;
	LWLockRelease(ProcArrayLock);
}

/*
 * Returns true if a vacuum of the table may evaluate an expression of one of its indexes.  BRIN
 * does so when it summarizes new ranges.
 */
static bool
runs_code(Relation table)
{
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(table))
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(cell)));
		bool		is_plain = HeapTupleIsValid(tuple) &&
		heap_attisnull(tuple, Anum_pg_index_indexprs, NULL) &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
		TierRelationInfo index;

		if (HeapTupleIsValid(tuple))
			ReleaseSysCache(tuple);
		if (!is_plain &&
			(!tier_relation_lookup(lfirst_oid(cell), &index) ||
			 (index.am_oid != BTREE_AM_OID && index.am_oid != HASH_AM_OID &&
			  index.am_oid != GIST_AM_OID && index.am_oid != GIN_AM_OID &&
			  index.am_oid != SPGIST_AM_OID)))
			return true;
	}
	return false;
}

/*
 * No index may be added after the look, so the session holds the lock across the transactions of
 * the vacuum.  An error releases it.
 *
 * Without index_cleanup it may skip a few dead rows, whose pages it then cannot freeze.  To
 * shrink the file it would take the strongest lock.  A page is not all visible while the commit
 * of one of its rows, or a later one near it, is not flushed.  The statement outlives the
 * transaction.
 */
void
tier_pages_freeze(Oid table_oid)
{
	static char *const options[][2] = {
		{"freeze", "on"}, {"index_cleanup", "on"}, {"truncate", "off"}, {"skip_locked", "on"},
	};
	LockRelId	id = {table_oid, MyDatabaseId};
	VacuumStmt *statement;
	Relation	table;
	bool		may_freeze;

	if (!ConditionalLockRelationOid(table_oid, ShareUpdateExclusiveLock))
		return;
	MemoryContextSwitchTo(PortalContext);
	statement = makeNode(VacuumStmt);
	LockRelationIdForSession(&id, ShareUpdateExclusiveLock);
	table = try_relation_open(table_oid, NoLock);
	may_freeze = table != NULL && !runs_code(table);
	if (table != NULL && !may_freeze)
		ereport(WARNING,
				(errmsg("could not freeze table \"%s\"", RelationGetRelationName(table)),
				 errdetail("A vacuum would call functions of its owner, for a BRIN index with an "
						   "expression or a predicate."),
				 errhint("Run VACUUM (FREEZE, INDEX_CLEANUP ON) as its owner.")));
	if (table != NULL)
		relation_close(table, NoLock);
	statement->is_vacuumcmd = true;
	statement->rels = list_make1(makeVacuumRelation(NULL, table_oid, NIL));
	statement->options = list_make1(makeDefElem("parallel", (Node *) makeInteger(0), -1));
	for (int i = 0; i < (int) lengthof(options); i++)
		statement->options = lappend(statement->options,
									 makeDefElem(options[i][0],
												 (Node *) makeString(options[i][1]), -1));
	(void) tier_wal_flush();
	if (may_freeze)
		ExecVacuum(make_parsestate(NULL), statement, true);
	UnlockRelationIdForSession(&id, ShareUpdateExclusiveLock);
	MemoryContextSwitchTo(CurTransactionContext);
}
