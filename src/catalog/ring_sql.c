/*-------------------------------------------------------------------------
 *
 * catalog/ring_sql.c
 *		Empties a member of a ring of tables: check, call, return.
 *
 * See sql/06_state.sql.  TRUNCATE would be replicated logically, too, and empty the table of
 * that name on a subscriber, which has its own history in it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "commands/tablecmds.h"
#include "fmgr.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

PG_FUNCTION_INFO_V1(tier_empty_member);

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
