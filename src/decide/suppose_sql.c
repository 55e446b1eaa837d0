/*-------------------------------------------------------------------------
 *
 * decide/suppose_sql.c
 *		Plans with another layout: check, call, return.
 *
 * A supposition is about a move, so it applies to relations that can be moved, and includes the
 * relations that move_relation() includes.  It changes only plans of the session, which may set
 * the planner's costs as it likes: it takes no right on the relation or the tablespace.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "src/catalog/tables.h"
#include "src/server/relation.h"
#include "src/server/suppose.h"

PG_FUNCTION_INFO_V1(tier_suppose_moves);

/*
 * Adds the relations that move_relation() would put there to the entries.  The tablespace within
 * the tier does not matter: relations on the tier stay.
 */
static void
add_move(StringInfo entries, const TierSet *set, Oid relation_oid, int tier, bool include_indexes)
{
	TierRelationInfo info;
	Oid			tablespace_oid = tier_set_usable_tablespace(set, tier, GetUserId());
	ListCell   *cell;

	if (!OidIsValid(tablespace_oid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tier \"%s\" has no tablespace", NameStr(set->tiers[tier].name)),
				 errhint("Give it one with tiered_storage.alter_tier().")));
	tier_relation_require(relation_oid, &info);
	foreach(cell, tier_relation_members(&info, include_indexes, false))
	{
		TierSupposition entry = {lfirst_oid(cell), tablespace_oid};
		TierRelationInfo member;
		TierObstacle refusal;

		CHECK_FOR_INTERRUPTS();
		if (!tier_relation_lookup(entry.relation_oid, &member))
			continue;
		/* A shard is another session's. */
		refusal = tier_relation_refuse_shell(&member, "");
		refusal.hint = NULL;
		if (refusal.message == NULL)
			refusal = tier_relation_refuse_object(&member, tablespace_oid);
		if (tier_set_tier_of_tablespace(set, member.tablespace_oid) == tier)
			entry.tablespace_oid = member.tablespace_oid;
		if (refusal.message == NULL)
			appendBinaryStringInfo(entries, (char *) &entry, sizeof(entry));
		else if (member.relation_oid == relation_oid)
			tier_obstacle_throw(&refusal);
	}
}

/* _tiered_storage.suppose_moves(relations, tiers, include_indexes, instead) */
Datum
tier_suppose_moves(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	const TierSet *set;
	StringInfoData entries;
	Datum	   *relations;
	Datum	   *tiers;
	bool	   *nulls[2];
	int			n;
	int			ntiers;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), OIDOID, sizeof(Oid), true, TYPALIGN_INT,
					  &relations, &nulls[0], &n);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &tiers, &nulls[1], &ntiers);
	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(context);
	tier_catalog_leave(&scope);
	initStringInfo(&entries);
	for (int i = 0; i < Min(n, ntiers); i++)
	{
		if (nulls[0][i] || nulls[1][i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("\"%s\" must not be null", nulls[0][i] ? "relation" : "tier")));
		add_move(&entries, set, DatumGetObjectId(relations[i]),
				 tier_require_tier(set, NameStr(*DatumGetName(tiers[i]))),
				 PG_GETARG_BOOL(2));
	}
	n = entries.len / sizeof(TierSupposition);
	tier_suppose((TierSupposition *) entries.data, n, PG_GETARG_BOOL(3));
	tier_catalog_enter(&scope);
	(void) tier_query_plain("SELECT _tiered_storage.warn_of_equal_costs()");
	tier_catalog_leave(&scope);
	PG_RETURN_INT32(n);
}
