/*-------------------------------------------------------------------------
 *
 * decide/policy_calls.c
 *		Calls about policies: which policy, which kind, and the arguments spelled out.
 *
 * A tiering policy is named by its relation, or that and its tier; a fullness policy by its
 * tier alone; both by their number, which are numbers of one sequence.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/primnodes.h"
#include "utils/builtins.h"

#include "src/base/options.h"
#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/decide/policy_calls.h"

PG_FUNCTION_INFO_V1(tier_remove_policy);

static const TierOption fullness_changes[] = {
	{"high_watermark", FLOAT8OID, POLICY_HIGH},
	{"low_watermark", FLOAT8OID, POLICY_LOW},
	{"target", NAMEOID, POLICY_TIER},
};

/* The properties from that argument on and one more key; returns how many. */
static int
list_options(TierOption *options, int argument, TierOption last)
{
	int			n = 0;

	for (; argument < POLICY_PROPERTIES + TIER_POLICY_PROPERTIES; argument++)
	{
		const TierColumn *property = &tier_policy_properties[argument - POLICY_PROPERTIES];

		options[n++] = (TierOption)
		{
			property->name, property->type == TIER_FLOAT8_OR_NAN ? FLOAT8OID : property->type,
				argument
		};
	}
	options[n++] = last;
	return n;
}

/* A call without arguments yet. */
static void
begin_call(FunctionCallInfo call, FunctionCallInfo fcinfo, int n)
{
	InitFunctionCallInfoData(*call, fcinfo->flinfo, n, fcinfo->fncollation, NULL, NULL);
	for (int i = 0; i < n; i++)
	{
		call->args[i].value = (Datum) 0;
		call->args[i].isnull = true;
	}
}

void
tier_policy_spread(FunctionCallInfo fcinfo, FunctionCallInfo call)
{
	static const int arguments[] = {POLICY_RELATION, POLICY_MOVE_AFTER, POLICY_TIER,
	POLICY_IDLE_FOR, POLICY_IN_SCHEMA, POLICY_INDEX_TIER, POLICY_IF_NOT_EXISTS};
	static const TierOption on_shards = {"on_shards", BOOLOID, POLICY_ON_SHARDS};
	TierOption	options[TIER_POLICY_PROPERTIES + 1];

	begin_call(call, fcinfo, POLICY_ARGUMENTS);
	for (int i = 0; i < (int) lengthof(arguments); i++)
		call->args[arguments[i]] = fcinfo->args[i];
	(void) tier_options_spread(fcinfo, lengthof(arguments), "options", options,
							   list_options(options, POLICY_IDLE_FOR + 1, on_shards), call);
}

/*
 * Arguments 0, 1 and 2 of alter_policy() and remove_policy(): relation, tier, policy_id.  Returns
 * true if a fullness policy is meant.
 */
static bool
means_fullness(FunctionCallInfo fcinfo)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierFullnessRow *rows;
	int			n;

	if (PG_ARGISNULL(0) && PG_ARGISNULL(1) && PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"relation\", \"tier\" or \"policy_id\" must be given")));
	if (!PG_ARGISNULL(0))
		return false;
	if (PG_ARGISNULL(2))
	{
		const Node *call = fcinfo->flinfo->fn_expr;

		/*
		 * A relation that to_regclass() does not find does not mean the
		 * fullness policy.
		 */
		if (call != NULL && IsA(call, FuncExpr) &&
			!IsA(linitial(castNode(FuncExpr, unconstify(Node *, call))->args), Const))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("\"relation\" must not be null"),
					 errhint("Omit relation for the fullness policy of a tier.")));
		return true;
	}
	tier_catalog_enter(&scope);
	rows = tier_catalog_load_fullness(context, &n);
	tier_catalog_leave(&scope);
	for (int i = 0; i < n; i++)
		if (rows[i].policy_id == PG_GETARG_INT32(2))
			return true;
	return false;
}

/* Arguments of alter_policy() after the three that say which. */
#define CHANGE_ENABLED 3
#define CHANGE_CHANGES 4
#define CHANGE_IF_EXISTS 5

Datum
tier_policy_alter_call(FunctionCallInfo fcinfo, List **changed, TierSet **set)
{
	static const TierOption tier = {"tier", NAMEOID, POLICY_TIER};
	TierOption	tiering_changes[TIER_POLICY_PROPERTIES + 1];
	List	   *nulls;
	bool		fullness;

	LOCAL_FCINFO(call, POLICY_ARGUMENTS);

	tier_require_writable("tiered_storage.alter_policy()");
	fullness = means_fullness(fcinfo);
	begin_call(call, fcinfo, POLICY_ARGUMENTS);
	nulls = tier_options_spread(fcinfo, CHANGE_CHANGES, "changes",
								fullness ? fullness_changes : tiering_changes,
								fullness ? (int) lengthof(fullness_changes) :
								list_options(tiering_changes, POLICY_PROPERTIES, tier), call);
	for (int i = POLICY_RELATION; i <= POLICY_ID; i++)
		call->args[i] = fcinfo->args[i];
	call->args[POLICY_ENABLED] = fcinfo->args[CHANGE_ENABLED];
	call->args[POLICY_IF_EXISTS] = fcinfo->args[CHANGE_IF_EXISTS];
	return fullness ? tier_fullness_alter(call, nulls) :
		tier_policy_alter(call, nulls, changed, set);
}

Datum
tier_remove_policy(PG_FUNCTION_ARGS)
{
	tier_require_writable("tiered_storage.remove_policy()");
	return means_fullness(fcinfo) ? tier_fullness_remove(fcinfo) : tier_policy_remove(fcinfo);
}

bool
tier_policy_changes(FunctionCallInfo call, const List *unset, const char *kind)
{
	bool		enables = !call->args[POLICY_ENABLED].isnull &&
	DatumGetBool(call->args[POLICY_ENABLED].value);
	bool		changes = unset != NIL;

	for (int i = POLICY_TIER; i < POLICY_ENABLED; i++)
		changes = changes || !call->args[i].isnull;
	if (!changes && call->args[POLICY_ENABLED].isnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no change to the %s policy was given", kind),
				 errhint("Specify at least one property, such as enabled.")));
	return changes || enables;
}

void
tier_policy_complain_of_none(FunctionCallInfo call, const char *kind, bool if_exists)
{
	const NullableDatum *args = call->args;
	StringInfoData which;

	initStringInfo(&which);
	appendStringInfo(&which, "%s policy", kind);
	if (!args[POLICY_ID].isnull)
		appendStringInfo(&which, " %d", DatumGetInt32(args[POLICY_ID].value));
	if (!args[POLICY_RELATION].isnull)
		appendStringInfo(&which, " of relation %s",
						 DatumGetCString(DirectFunctionCall1(regclassout,
															 args[POLICY_RELATION].value)));
	if (!args[POLICY_OF_TIER].isnull)
		appendStringInfo(&which, " for tier \"%s\"",
						 NameStr(*DatumGetName(args[POLICY_OF_TIER].value)));
	ereport(if_exists ? NOTICE : ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("%s does not exist%s", which.data, if_exists ? ", skipping" : ""),
			 if_exists ? 0 :
			 errhint("SELECT * FROM tiered_storage.policies lists the policies.")));
}
