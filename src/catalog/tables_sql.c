/*-------------------------------------------------------------------------
 *
 * catalog/tables_sql.c
 *		SQL functions about our own tables: check, call, return.
 *
 * A recorded move or a pin, and the index that there is now; emptying a member of a ring of
 * tables; and whether a client loads our tables itself, as pg_restore does.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "commands/tablecmds.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "tcop/pquery.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

PG_FUNCTION_INFO_V1(tier_present_relation);
PG_FUNCTION_INFO_V1(tier_present_pinned);
PG_FUNCTION_INFO_V1(tier_empty_member);
PG_FUNCTION_INFO_V1(tier_is_restore);

/* Of a row that has the identity in these columns; 0: in none. */
static Oid
present(HeapTupleHeader row, const char *const columns[TIER_IDENTITY_COLUMNS])
{
	TierIndexIdentity identity;
	Datum		values[TIER_IDENTITY_COLUMNS];
	bool		nulls[TIER_IDENTITY_COLUMNS];

	for (int i = 0; i < TIER_IDENTITY_COLUMNS; i++)
		values[i] = GetAttributeByName(row, columns[i], &nulls[i]);
	if (nulls[0])
		return InvalidOid;
	tier_catalog_read_identity(values, nulls, &identity);
	return tier_relation_present(&identity, NULL);
}

static Datum
return_oid(FunctionCallInfo fcinfo, Oid relation_oid)
{
	if (!OidIsValid(relation_oid))
		PG_RETURN_NULL();
	PG_RETURN_OID(relation_oid);
}

/* _tiered_storage.present_relation(move _tiered_storage.move) */
Datum
tier_present_relation(PG_FUNCTION_ARGS)
{
	static const char *const columns[TIER_IDENTITY_COLUMNS] = {
		"relation_oid", "table_oid", "index_name", "definition_hash", "other_indexes"
	};

	return return_oid(fcinfo, present(PG_GETARG_HEAPTUPLEHEADER(0), columns));
}

/* _tiered_storage.present_pinned(pin _tiered_storage.pin) */
Datum
tier_present_pinned(PG_FUNCTION_ARGS)
{
	static const char *const columns[TIER_IDENTITY_COLUMNS] = {
		"relation_oid", "table_oid", "relation_name", "definition_hash", "other_indexes"
	};

	return return_oid(fcinfo, present(PG_GETARG_HEAPTUPLEHEADER(0), columns));
}

/* ---------------------------------------------------------------------
 * Rings
 *
 * See sql/06_state.sql.  TRUNCATE would be replicated logically, too, and empty the table of
 * that name on a subscriber, which has its own history in it.
 * ---------------------------------------------------------------------
 */

/* Another file, as the change of its relfilenode is transactional. */
static void
give_new_file(Oid relation_oid)
{
	Relation	relation = table_open(relation_oid, AccessExclusiveLock);
	Oid			toast_oid = relation->rd_rel->reltoastrelid;

	CheckTableNotInUse(relation, "TRUNCATE");
	pgstat_count_truncate(relation);
	tier_compat_new_file(relation);
	table_close(relation, NoLock);
	if (!OidIsValid(toast_oid))
		return;
	relation = table_open(toast_oid, AccessExclusiveLock);
	tier_compat_new_file(relation);
	table_close(relation, NoLock);
}

/* _tiered_storage.empty_member(member) */
Datum
tier_empty_member(PG_FUNCTION_ARGS)
{
	Oid			relation_oid = PG_GETARG_OID(0);
	ReindexParams params = {0};

	if (get_rel_namespace(relation_oid) != get_namespace_oid(TIER_CATALOG_SCHEMA, false))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("table with OID %u is not of tiered_storage", relation_oid)));
	if (!ConditionalLockRelationOid(relation_oid, AccessExclusiveLock))
		PG_RETURN_BOOL(false);
	give_new_file(relation_oid);
	tier_compat_reindex(relation_oid, &params);
	PG_RETURN_BOOL(true);
}

/* ---------------------------------------------------------------------
 * Restores
 *
 * The statement that the client runs is looked at as it was parsed, not as text, and the
 * server has checked the right to insert before a trigger can ask.  Only a role that may write
 * these tables can therefore get the answer "yes".
 * ---------------------------------------------------------------------
 */

/* The table that the statement loads; InvalidOid: it is another kind of statement. */
static Oid
loaded_table(const PlannedStmt *statement)
{
	const ModifyTable *insert = (const ModifyTable *) statement->planTree;
	const CopyStmt *copy = (const CopyStmt *) statement->utilityStmt;

	if (statement->commandType == CMD_INSERT && IsA(statement->planTree, ModifyTable))
		return rt_fetch(linitial_int(insert->resultRelations), statement->rtable)->relid;
	if (statement->commandType == CMD_UTILITY && copy != NULL && IsA(copy, CopyStmt) &&
		copy->is_from && copy->relation != NULL)
		return RangeVarGetRelid(copy->relation, NoLock, true);
	return InvalidOid;
}

/* _tiered_storage.is_restore() */
Datum
tier_is_restore(PG_FUNCTION_ARGS)
{
	Oid			table;

	if (ActivePortal == NULL || list_length(ActivePortal->stmts) != 1)
		PG_RETURN_BOOL(false);
	table = loaded_table(linitial_node(PlannedStmt, ActivePortal->stmts));
	PG_RETURN_BOOL(OidIsValid(table) &&
				   get_rel_namespace(table) == get_namespace_oid(TIER_CATALOG_SCHEMA, true));
}
