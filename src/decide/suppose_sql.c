/*-------------------------------------------------------------------------
 *
 * decide/suppose_sql.c
 *		What the planner would do with another layout: check, call, return.
 *
 * A supposition is about a move, so it is of relations that can be moved, and it
 * takes along what move_relation() does.  It changes nothing but plans of the
 * session, which may set the planner's costs as it likes: it takes no right on the
 * relation or the tablespace.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/spccache.h"

#include "src/compat.h"
#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/decide/advice.h"
#include "src/server/relation.h"
#include "src/server/suppose.h"

PG_FUNCTION_INFO_V1(tier_suppose_sql);
PG_FUNCTION_INFO_V1(tier_suppose_recommended);
PG_FUNCTION_INFO_V1(tier_suppose_reset);
PG_FUNCTION_INFO_V1(tier_suppositions);

/* What is to be supposed, and what the planner's costs say of them. */
typedef struct Layout
{
	const TierSet *set;
	TierSupposition *entries;
	int			n;
	int			nequal;			/* from one tablespace to another of the same
								 * costs */
	List	   *equal;			/* these tablespaces, each once */
} Layout;

/* Where the caller's move_relation() would put something. */
static Oid
tablespace_of_tier(const TierSet *set, int tier)
{
	Oid			tablespace_oid = tier_set_usable_tablespace(set, tier, GetUserId());

	if (!OidIsValid(tablespace_oid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tier \"%s\" has no tablespace", NameStr(set->tiers[tier].name)),
				 errhint("Give it one with tiered_storage.alter_tier().")));
	return tablespace_oid;
}

static bool
have_equal_costs(Oid a, Oid b)
{
	double		random[2];
	double		sequential[2];

	get_tablespace_page_costs(a, &random[0], &sequential[0]);
	get_tablespace_page_costs(b, &random[1], &sequential[1]);
	return random[0] == random[1] && sequential[0] == sequential[1];
}

/* On which tablespace of the tier it is does not matter: what is there stays. */
static void
add(Layout *layout, const TierRelationInfo *info, int tier, Oid tablespace_oid)
{
	TierSupposition *entry = &layout->entries[layout->n++];

	if (tier_set_tier_of_tablespace(layout->set, info->tablespace_oid) == tier)
		tablespace_oid = info->tablespace_oid;
	entry->relation_oid = info->relation_oid;
	entry->tablespace_oid = tablespace_oid;
	if (tablespace_oid == info->tablespace_oid ||
		!have_equal_costs(tablespace_oid, info->tablespace_oid))
		return;
	layout->nequal++;
	layout->equal = list_append_unique_oid(layout->equal, info->tablespace_oid);
	layout->equal = list_append_unique_oid(layout->equal, tablespace_oid);
}

static void
warn_of_equal_costs(const Layout *layout)
{
	int			n = list_length(layout->equal);
	Oid		   *oids = palloc(sizeof(Oid) * Max(n, 1));
	char	   *names = NULL;
	char	   *statements;

	if (n == 0)
		return;
	for (int i = 0; i < n; i++)
	{
		oids[i] = list_nth_oid(layout->equal, i);
		names = psprintf("%s%s\"%s\"", names == NULL ? "" : names, i == 0 ? "" :
						 i == n - 1 ? " and " : ", ", tier_tablespace_name(oids[i]));
	}
	statements = tier_catalog_planner_cost_statements(oids, n);
	ereport(WARNING,
			(errmsg_plural("%d relation of %d is planned as before: tablespaces %s have the same "
						   "planner costs",
						   "%d relations of %d are planned as before: tablespaces %s have the "
						   "same planner costs",
						   layout->nequal, layout->nequal, layout->n, names),
			 statements != NULL ? errhint("%s", statements) :
			 errhint("By their figures the devices are equally fast, so recommend_settings() has "
					 "no other costs for them.")));
}

static int
suppose(const Layout *layout, bool instead)
{
	tier_suppose(layout->entries, layout->n, instead);
	warn_of_equal_costs(layout);
	return layout->n;
}

/* Why this relation cannot be moved there, whoever asks; a shard is another session's. */
static TierObstacle
refuse(const TierRelationInfo *info, Oid tablespace_oid)
{
	TierObstacle refusal = tier_relation_refuse_shell(info, "");

	refusal.hint = NULL;
	if (refusal.message == NULL)
		refusal = tier_relation_refuse_object(info, tablespace_oid);
	return refusal;
}

Datum
tier_suppose_sql(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierRelationInfo info;
	Layout		layout = {0};
	Oid			tablespace_oid;
	List	   *members;
	ListCell   *cell;
	int			tier;

	tier_require_argument(fcinfo, 0, "relation");
	tier_require_argument(fcinfo, 1, "tier");
	tier_relation_require(PG_GETARG_OID(0), &info);
	tier_catalog_enter(&scope);
	layout.set = tier_catalog_load_tiers(context);
	tier_catalog_leave(&scope);
	tier = tier_require_tier(layout.set, NameStr(*PG_GETARG_NAME(1)));
	tablespace_oid = tablespace_of_tier(layout.set, tier);
	members = tier_relation_members(&info, PG_ARGISNULL(2) || PG_GETARG_BOOL(2), false);
	layout.entries = palloc(sizeof(TierSupposition) * Max(list_length(members), 1));
	foreach(cell, members)
	{
		TierRelationInfo member;
		TierObstacle refusal;

		CHECK_FOR_INTERRUPTS();
		if (!tier_relation_lookup(lfirst_oid(cell), &member))
			continue;
		refusal = refuse(&member, tablespace_oid);
		if (refusal.message == NULL)
			add(&layout, &member, tier, tablespace_oid);
		else if (member.relation_oid == info.relation_oid)
			tier_obstacle_throw(&refusal);
	}
	PG_RETURN_INT32(suppose(&layout, false));
}

Datum
tier_suppose_recommended(PG_FUNCTION_ARGS)
{
	const TierAdvice *advice = tier_advice_make(NULL);
	const TierAdvice *provisional = tier_advice_provisional(advice);
	Layout		layout = {.set = advice->set};
	Oid			tablespaces[TIER_MAX_TIERS] = {InvalidOid};

	layout.entries = palloc(sizeof(TierSupposition) * Max(advice->nunits, 1));
	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &tier_advice_shown(advice, provisional, i)->units[i];
		int			tier = unit->recommended_tier;
		TierRelationInfo info;

		CHECK_FOR_INTERRUPTS();
		if (!unit->is_selected || tier < 0 || tier == unit->current_tier ||
			!tier_relation_lookup(unit->relation_oid, &info))
			continue;
		if (!OidIsValid(tablespaces[tier]))
			tablespaces[tier] = tablespace_of_tier(layout.set, tier);
		add(&layout, &info, tier, tablespaces[tier]);
	}
	if (layout.n == 0)
		tier_advice_notice_empty(advice);
	PG_RETURN_INT32(suppose(&layout, true));
}

Datum
tier_suppose_reset(PG_FUNCTION_ARGS)
{
	int			n;

	(void) tier_supposed(&n);
	tier_suppose(NULL, 0, true);
	PG_RETURN_INT32(n);
}

/* _tiered_storage.suppositions(): what is planned, and by which costs. */
Datum
tier_suppositions(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	const TierSupposition *entries;
	TierRelationInfo info;
	int			n;

	tier_result_start(fcinfo, &row);
	entries = tier_supposed(&n);
	for (int i = 0; i < n; i++)
	{
		double		random;
		double		sequential;

		if (!tier_relation_lookup(entries[i].relation_oid, &info))
			continue;
		get_tablespace_page_costs(entries[i].tablespace_oid, &random, &sequential);
		tier_row_clear(&row);
		tier_row_datum(&row, 0, ObjectIdGetDatum(info.relation_oid));
		tier_row_datum(&row, 1, ObjectIdGetDatum(info.tablespace_oid));
		tier_row_datum(&row, 2, ObjectIdGetDatum(entries[i].tablespace_oid));
		tier_row_datum(&row, 3, Float8GetDatum(sequential));
		tier_row_datum(&row, 4, Float8GetDatum(random));
		tier_row_put(&row);
	}
	return (Datum) 0;
}
