/*-------------------------------------------------------------------------
 *
 * server/relation.c
 *		The only gateway to user relations.
 *
 * Look-ups take no lock: they read only catalog rows, which may be stale.
 * server/relation_parts.c finds the parts of a relation, and server/relation_rights.c checks
 * the rights to move it.
 *
 * Locks are taken here alone: by tier_relation_lock() for an online move, and by
 * tier_relation_move(), one relation in one transaction.  Neither transaction holds
 * another lock on anything of a user, so they can never be part of a deadlock; both
 * wait for a bounded time and check everything again under the lock.
 *
 * A move acts with the least rights that suffice.  SET TABLESPACE runs no code of the owner:
 * blocks are copied as they are, no index expression, trigger or constraint is evaluated.
 * Still it runs under SECURITY_RESTRICTED_OPERATION, so that this does not have to be trusted.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/storage.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/base/transaction.h"
#include "src/server/relation.h"

/* ---------------------------------------------------------------------
 * Looking
 * ---------------------------------------------------------------------
 */

/*
 * Independent of quote_all_identifiers: the name is stored, and compared with names stored by
 * other sessions.
 */
static char *
qualified_name(const char *schema, const char *name)
{
	bool		quotes_all = quote_all_identifiers;
	char	   *qualified;

	quote_all_identifiers = false;
	PG_TRY();
	{
		qualified = quote_qualified_identifier(schema, name);
	}
	PG_FINALLY();
	{
		quote_all_identifiers = quotes_all;
	}
	PG_END_TRY();
	return qualified;
}

bool
tier_relation_lookup(Oid relation_oid, TierRelationInfo *info)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation_oid));
	Form_pg_class form;
	char	   *schema;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	info->relation_oid = relation_oid;
	info->owner_oid = form->relowner;
	info->tablespace_oid = OidIsValid(form->reltablespace) ? form->reltablespace :
		MyDatabaseTableSpace;
	info->file_number = form->relfilenode;
	info->toast_oid = form->reltoastrelid;
	info->am_oid = form->relam;
	info->kind = form->relkind;
	info->persistence = form->relpersistence;
	info->is_system = IsSystemClass(relation_oid, form) || relation_oid < FirstNormalObjectId;
	schema = get_namespace_name(form->relnamespace);
	info->name = qualified_name(schema == NULL ? "?" : schema, NameStr(form->relname));
	ReleaseSysCache(tuple);
	return true;
}

void
tier_relation_require(Oid relation_oid, TierRelationInfo *info)
{
	if (!tier_relation_lookup(relation_oid, info))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation_oid)));
}

void
tier_relation_require_pages(Oid relation_oid, TierRelationInfo *info, const char *hint)
{
	tier_relation_require(relation_oid, info);
	if (info->kind == RELKIND_PARTITIONED_TABLE || info->kind == RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s has no storage", tier_relation_kind_name(info->kind),
						info->name),
				 errhint(hint, quote_literal_cstr(info->name))));
	if (info->kind != RELKIND_RELATION && info->kind != RELKIND_MATVIEW &&
		info->kind != RELKIND_INDEX && info->kind != RELKIND_TOASTVALUE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s has no pages", tier_relation_kind_name(info->kind), info->name),
				 errhint("Tables, materialized views, indexes and TOAST tables have pages.")));
	if (info->persistence == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s is temporary", tier_relation_kind_name(info->kind), info->name),
				 errdetail("Temporary relations are in the memory of their session only, and "
						   "never moved.")));
}

const char *
tier_tablespace_name(Oid tablespace_oid)
{
	char	   *name = get_tablespace_name(tablespace_oid);

	return name == NULL ? "?" : name;
}

const char *
tier_relation_kind_name(char kind)
{
	switch (kind)
	{
		case RELKIND_RELATION:
			return "table";
		case RELKIND_INDEX:
			return "index";
		case RELKIND_TOASTVALUE:
			return "toast table";
		case RELKIND_MATVIEW:
			return "materialized view";
		case RELKIND_PARTITIONED_TABLE:
			return "partitioned table";
		case RELKIND_PARTITIONED_INDEX:
			return "partitioned index";
		case RELKIND_VIEW:
			return "view";
		case RELKIND_FOREIGN_TABLE:
			return "foreign table";
		case RELKIND_SEQUENCE:
			return "sequence";
		case RELKIND_COMPOSITE_TYPE:
			return "composite type";
		default:
			return "relation";
	}
}

RelFileLocator
tier_relation_locator(const TierRelationInfo *info)
{
	return tier_compat_locator(info->tablespace_oid, MyDatabaseId, info->file_number);
}

/* Returns true if every change of an index of this kind is logged, and made in shared buffers. */
static bool
is_known_index_method(Oid am_oid)
{
	char	   *name;

	switch (am_oid)
	{
		case BTREE_AM_OID:
		case HASH_AM_OID:
		case GIST_AM_OID:
		case GIN_AM_OID:
		case SPGIST_AM_OID:
		case BRIN_AM_OID:
			return true;
		default:
			/* Only a superuser can call an access method by this name. */
			name = get_am_name(am_oid);
			return name != NULL && strcmp(name, "bloom") == 0;
	}
}

const char *
tier_relation_why_not_online(const TierRelationInfo *info)
{
	if (info->persistence == RELPERSISTENCE_UNLOGGED)
		return "it is unlogged, so changes during the copy cannot be tracked";
	if (!XLogIsNeeded())
		return "wal_level is minimal, so changes during the copy cannot be tracked";
	if (info->kind == RELKIND_INDEX ? !is_known_index_method(info->am_oid) :
		info->am_oid != HEAP_TABLE_AM_OID)
	{
		const char *name = get_am_name(info->am_oid);

		return psprintf("nothing is known about how access method \"%s\" logs its changes",
						name == NULL ? "?" : name);
	}
	return NULL;
}

static bool
is_complete(Oid index_oid)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index_oid));
	Form_pg_index form;
	bool		complete;

	/* Dropped concurrently: opening it raises the error. */
	if (!HeapTupleIsValid(tuple))
		return true;
	form = (Form_pg_index) GETSTRUCT(tuple);
	complete = form->indisvalid && form->indisready && form->indislive;
	ReleaseSysCache(tuple);
	return complete;
}

const char *
tier_relation_why_incomplete(const TierRelationInfo *info)
{
	return info->kind != RELKIND_INDEX || is_complete(info->relation_oid) ? NULL :
		"the index is not valid: it is being built or dropped, or a build of it failed";
}

/* ---------------------------------------------------------------------
 * Locks
 * ---------------------------------------------------------------------
 */

/*
 * The rows of pg_class that this process has claimed, by the tuple locks that their
 * updaters take before they read them; the first nclaimed mean something.  Set by
 * tier_relation_claim_row().  The locks are the session's and outlast the commit; unset by
 * tier_relation_release_rows() after that, or by an abort.
 */
static LOCKTAG claimed[TIER_RELATION_MAX_PARTS];
static int	nclaimed = 0;

void
tier_relation_lock(Oid relation_oid, LOCKMODE mode, int timeout_ms, int next_timeout_ms)
{
	tier_transaction_limit_lock_waits(timeout_ms);
	LockRelationOid(relation_oid, mode);
	tier_transaction_limit_lock_waits(next_timeout_ms);
}

bool
tier_relation_lock_exclusively(Oid relation_oid, bool may_queue, int timeout_ms,
							   int next_timeout_ms)
{
	if (ConditionalLockRelationOid(relation_oid, AccessExclusiveLock))
		tier_transaction_limit_lock_waits(next_timeout_ms);
	else if ((may_queue && !tier_relation_has_lasting_holder(relation_oid)) ||
			 tier_debug_skips("queueing"))
		tier_relation_lock(relation_oid, AccessExclusiveLock, timeout_ms, next_timeout_ms);
	else
		return false;
	return true;
}

int
tier_relation_count_lockers(Oid relation_oid, LOCKMODE mode)
{
	LOCKTAG		tag;
	int			n;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relation_oid);
	pfree(GetLockConflicts(&tag, mode, &n));
	return n;
}

void
tier_relation_release_rows(void)
{
	while (nclaimed > 0)
		LockRelease(&claimed[--nclaimed], InplaceUpdateTupleLock, true);
}

static void
claim_callback(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_ABORT)
		tier_relation_release_rows();
}

/*
 * The lock that updaters of pg_class take before they read the row, without
 * waiting.  As a session's lock: it must outlast the commit, after which
 * others learn of the new row.
 */
static bool
lock_row(ItemPointer tid)
{
	static bool registered = false;

	if (!registered)
	{
		RegisterXactCallback(claim_callback, NULL);
		registered = true;
	}
	if (nclaimed == lengthof(claimed))
		elog(ERROR, "too many catalog rows are claimed");
	SET_LOCKTAG_TUPLE(claimed[nclaimed], MyDatabaseId, RelationRelationId,
					  ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid));
	if (LockAcquire(&claimed[nclaimed], InplaceUpdateTupleLock, true, true) ==
		LOCKACQUIRE_NOT_AVAIL)
		return false;
	nclaimed++;
	return true;
}

bool
tier_relation_claim_row(Oid relation_oid)
{
	Relation	rel;
	HeapTuple	cached;
	HeapTupleData tuple;
	TM_FailureData failure;
	TM_Result	result = TM_Deleted;
	Buffer		buffer;

	/*
	 * A session that has locked all of pg_class may be about to use the
	 * relation.
	 */
	if (!ConditionalLockRelationOid(RelationRelationId, RowExclusiveLock))
		return false;
	rel = table_open(RelationRelationId, NoLock);
	cached = SearchSysCache1(RELOID, ObjectIdGetDatum(relation_oid));
	if (HeapTupleIsValid(cached))
	{
		tuple.t_self = cached->t_self;
		ReleaseSysCache(cached);
		if (lock_row(&tuple.t_self))
		{
			result = heap_lock_tuple(rel, &tuple, GetCurrentCommandId(true),
									 LockTupleNoKeyExclusive,
									 LockWaitSkip, false, &buffer, &failure);
			ReleaseBuffer(buffer);
		}
	}
	table_close(rel, NoLock);
	return result == TM_Ok;
}

/* ---------------------------------------------------------------------
 * The end of an online move
 * ---------------------------------------------------------------------
 */

#ifdef TIER_DEBUG

/*
 * Sets another file in the same tablespace.  Only for tests, which must leave no trace in
 * pg_class.reltablespace.
 */
static void
set_file_number(Relation rel, RelFileNumber file_number)
{
	Relation	pg_class = table_open(RelationRelationId, RowExclusiveLock);
	HeapTuple	tuple = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(RelationGetRelid(rel)));

	((Form_pg_class) GETSTRUCT(tuple))->relfilenode = file_number;
	CatalogTupleUpdate(pg_class, &tuple->t_self, tuple);
	heap_freetuple(tuple);
	table_close(pg_class, RowExclusiveLock);
}

#endif

/* The row of pg_class that says where the blocks are. */
static void
set_file(Relation rel, RelFileLocator file)
{
	Oid			tablespace_oid = tier_compat_locator_tablespace(file);

#ifdef TIER_DEBUG
	if (tablespace_oid == tier_compat_locator_tablespace(tier_compat_relation_locator(rel)))
	{
		set_file_number(rel, tier_compat_locator_file_number(file));
		return;
	}
#endif

	if (!CheckRelationTableSpaceMove(rel, tablespace_oid))
		elog(ERROR, "relation %u is in tablespace %u already", RelationGetRelid(rel),
			 tablespace_oid);
	SetRelationTableSpace(rel, tablespace_oid, tier_compat_locator_file_number(file));
}

void
tier_relation_swap_file(Oid relation_oid, RelFileLocator file)
{
	Relation	rel = relation_open(relation_oid, NoLock);

	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock, false));
	CheckTableNotInUse(rel, "SET TABLESPACE");
	set_file(rel, file);
	RelationDropStorage(rel);
	InvokeObjectPostAlterHook(RelationRelationId, relation_oid, 0);
	tier_compat_relation_assume_new_file(rel);
	relation_close(rel, NoLock);
	CommandCounterIncrement();
}

/* ---------------------------------------------------------------------
 * A move under one lock
 * ---------------------------------------------------------------------
 */

/*
 * The TOAST table and its index are moved along.  They are locked before the
 * copy begins, not after half of it; without waiting, since the table is locked already.
 */
static bool
lock_toast(Oid relation_oid)
{
	TierRelationInfo info;
	List	   *indexes;
	ListCell   *cell;

	if (!tier_relation_lookup(relation_oid, &info) || !OidIsValid(info.toast_oid))
		return true;
	if (!ConditionalLockRelationOid(info.toast_oid, AccessExclusiveLock))
		return false;
	indexes = tier_relation_indexes(info.toast_oid);
	foreach(cell, indexes)
		if (!ConditionalLockRelationOid(lfirst_oid(cell), AccessExclusiveLock))
		return false;
	return true;
}

static void
lock_step(void *argument)
{
	Oid			relation_oid = *(Oid *) argument;

	if (!tier_relation_lock_exclusively(relation_oid, true, tier_move_lock_timeout_ms,
										tier_move_lock_timeout_ms) ||
		!lock_toast(relation_oid))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg_internal("the relation is in use")));
}

/*
 * Waits for the strongest lock in a subtransaction.  True when it is granted;
 * false after the timeout, with nothing held.
 */
static bool
lock_with_timeout(Oid relation_oid)
{
	ErrorData  *error = tier_attempt(lock_step, &relation_oid);

	if (error == NULL)
		return true;			/* the lock is of the caller's level now */
	if (error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
		ReThrowError(error);
	FreeErrorData(error);
	return false;
}

/* ALTER ... SET TABLESPACE of a relation that this transaction has locked. */
static void
set_tablespace(const TierRelationInfo *info, Oid tablespace_oid)
{
	AlterTableCmd *command = makeNode(AlterTableCmd);
	Relation	rel = relation_open(info->relation_oid, NoLock);

	CheckTableNotInUse(rel, "SET TABLESPACE");
	relation_close(rel, NoLock);

	command->subtype = AT_SetTableSpace;
	command->name = get_tablespace_name(tablespace_oid);
	if (command->name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tablespace with OID %u does not exist", tablespace_oid)));
	AlterTableInternal(info->relation_oid, list_make1(command), false);
}

TierMoveResult
tier_relation_move(Oid relation_oid, Oid requester_oid, bool for_owner, Oid extension_oid,
				   Oid tablespace_oid, TierMoveTiming *timing)
{
	TierRelationInfo info;
	int64		asked_at;
	Oid			caller;
	int			caller_context;
	Oid			actor;

	timing->locked_at = 0;
	timing->lock_wait_ms = 0;

	/*
	 * In force to the end of the transaction: also the TOAST table's lock and
	 * the pg_class row are waited for while all other users are blocked.
	 */
	tier_transaction_limit_lock_waits(tier_move_lock_timeout_ms);

	InvalidateCatalogSnapshot();
	asked_at = tier_clock_monotonic_us();
	if (!lock_with_timeout(relation_oid))
	{
		timing->lock_wait_ms = (double) (tier_clock_monotonic_us() - asked_at) / 1000.0;
		return TIER_MOVE_LOCK_TIMEOUT;
	}
	timing->locked_at = tier_clock_monotonic_us();
	timing->lock_wait_ms = (double) (timing->locked_at - asked_at) / 1000.0;

	/* While we waited anything may have happened to it. */
	if (!tier_relation_lookup(relation_oid, &info))
		return TIER_MOVE_GONE;
	if (info.tablespace_oid == tablespace_oid)
		return TIER_MOVE_NOT_NEEDED;
	if (for_owner)
		tier_relation_check_owner(&info, requester_oid);
	tier_relation_check_move(&info, requester_oid, tablespace_oid);
	tier_relation_check_extension(&info, extension_oid);
	if (!tier_relation_claim_row(relation_oid))
		return TIER_MOVE_LOCK_TIMEOUT;

	actor = tier_relation_choose_actor(&info, requester_oid, tablespace_oid);
	GetUserIdAndSecContext(&caller, &caller_context);
	SetUserIdAndSecContext(actor, caller_context |
						   SECURITY_RESTRICTED_OPERATION | SECURITY_LOCAL_USERID_CHANGE);

	/*
	 * Not before: a snapshot would hold vacuum back while we wait for the
	 * lock.
	 */
	PushActiveSnapshot(GetTransactionSnapshot());
	set_tablespace(&info, tablespace_oid);
	PopActiveSnapshot();
	SetUserIdAndSecContext(caller, caller_context);
	return TIER_MOVE_DONE;
}
