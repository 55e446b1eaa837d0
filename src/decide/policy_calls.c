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

#include "utils/builtins.h"

#include "src/base/options.h"
#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/decide/policy_calls.h"

PG_FUNCTION_INFO_V1(tier_alter_policy);
PG_FUNCTION_INFO_V1(tier_remove_policy);

/* To alter all but the last; to add those from no_writes_for on. */
static const TierOption tiering_options[] = {
	{"move_after", INTERVALOID, POLICY_MOVE_AFTER},
	{"tier", NAMEOID, POLICY_TIER},
	{"index_tier", NAMEOID, POLICY_INDEX_TIER},
	{"idle_for", INTERVALOID, POLICY_IDLE_FOR},
	{"no_writes_for", INTERVALOID, POLICY_NO_WRITES_FOR},
	{"below_reads_per_hour", FLOAT8OID, POLICY_BELOW_READS},
	{"key_unit", TEXTOID, POLICY_KEY_UNIT},
	{"key_epoch", TIMESTAMPTZOID, POLICY_KEY_EPOCH},
	{"key_shift", INT4OID, POLICY_KEY_SHIFT},
	{"time_zone", TEXTOID, POLICY_TIME_ZONE},
	{"include_indexes", BOOLOID, POLICY_INCLUDE_INDEXES},
	{"return_when_reads_per_hour", FLOAT8OID, POLICY_RETURN},
	{"return_after", INTERVALOID, POLICY_RETURN_AFTER},
	{"return_tier", NAMEOID, POLICY_RETURN_TIER},
	{"on_shards", BOOLOID, POLICY_ON_SHARDS},
};

#define POSITIONAL_OPTIONS 4

static const TierOption fullness_changes[] = {
	{"high_watermark", FLOAT8OID, POLICY_HIGH},
	{"low_watermark", FLOAT8OID, POLICY_LOW},
	{"target", NAMEOID, POLICY_TIER},
};

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
		POLICY_IDLE_FOR, POLICY_IN_SCHEMA, POLICY_NAMES_LIKE, POLICY_INDEX_TIER,
	POLICY_IF_NOT_EXISTS};

	begin_call(call, fcinfo, POLICY_ARGUMENTS);
	for (int i = 0; i < (int) lengthof(arguments); i++)
		call->args[arguments[i]] = fcinfo->args[i];
	(void) tier_options_spread(fcinfo, lengthof(arguments), "options",
							   tiering_options + POSITIONAL_OPTIONS,
							   lengthof(tiering_options) - POSITIONAL_OPTIONS, call);
}

/*
 * Arguments 0, 1 and 2 of alter_policy() and remove_policy(): relation, tier, policy_id.  Is a
 * fullness policy meant?
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
		return true;
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
tier_alter_policy(PG_FUNCTION_ARGS)
{
	List	   *nulls;
	bool		fullness;

	LOCAL_FCINFO(call, POLICY_ARGUMENTS);

	tier_require_writable("tiered_storage.alter_policy()");
	fullness = means_fullness(fcinfo);
	begin_call(call, fcinfo, POLICY_ARGUMENTS);
	nulls = tier_options_spread(fcinfo, CHANGE_CHANGES, "changes",
								fullness ? fullness_changes : tiering_options,
								fullness ? lengthof(fullness_changes) :
								lengthof(tiering_options) - 1, call);
	for (int i = POLICY_RELATION; i <= POLICY_ID; i++)
		call->args[i] = fcinfo->args[i];
	call->args[POLICY_ENABLED] = fcinfo->args[CHANGE_ENABLED];
	call->args[POLICY_IF_EXISTS] = fcinfo->args[CHANGE_IF_EXISTS];
	return fullness ? tier_fullness_alter(call, nulls) : tier_policy_alter(call, nulls);
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

	for (int i = POLICY_TIER; i <= POLICY_LOW; i++)
		changes = changes || !call->args[i].isnull;
	if (!changes && call->args[POLICY_ENABLED].isnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("nothing of the %s policy is to be changed", kind),
				 errhint("Give at least one property, such as enabled.")));
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
