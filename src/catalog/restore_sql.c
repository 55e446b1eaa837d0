/*-------------------------------------------------------------------------
 *
 * catalog/restore_sql.c
 *		Does a client load our tables itself, as pg_restore does?
 *
 * The statement that the client runs is looked at as it was parsed, not as text, and the
 * server has checked the right to insert before a trigger can ask.  Only a role that may write
 * these tables can therefore get the answer "yes".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "tcop/pquery.h"
#include "utils/lsyscache.h"

#include "src/compat.h"

PG_FUNCTION_INFO_V1(tier_is_restore);

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
				   get_rel_namespace(table) == get_namespace_oid("_tiered_storage", true));
}
