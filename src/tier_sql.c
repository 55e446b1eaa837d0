/*-------------------------------------------------------------------------
 *
 * tier_sql.c
 *		SQL functions that decide or change: check, call, return.
 *
 * What a function may do is decided by its EXECUTE privilege (nothing here is
 * granted to PUBLIC) and, where it touches a relation of somebody, by the
 * checks of tier_relation.c for the calling role.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "tier_advice.h"
#include "tier_catalog.h"
#include "tier_clock.h"
#include "tier_guc.h"
#include "tier_heat.h"
#include "tier_move.h"
#include "tier_partition.h"
#include "tier_relation.h"
#include "tier_sample.h"
#include "tier_shmem.h"

PG_FUNCTION_INFO_V1(tier_sample_sql);
PG_FUNCTION_INFO_V1(tier_smoothed_rate);
PG_FUNCTION_INFO_V1(tier_tablespace_claims);
PG_FUNCTION_INFO_V1(tier_recommend_placement);
PG_FUNCTION_INFO_V1(tier_explain_placement);
PG_FUNCTION_INFO_V1(tier_add_tiering_policy);
PG_FUNCTION_INFO_V1(tier_remove_tiering_policy);
PG_FUNCTION_INFO_V1(tier_evaluate_policies);
PG_FUNCTION_INFO_V1(tier_move_relation);
PG_FUNCTION_INFO_V1(tier_migrate);
PG_FUNCTION_INFO_V1(tier_worker_status);
PG_FUNCTION_INFO_V1(tier_notify_launcher);

/* ---------------------------------------------------------------------
 * Helpers
 * ---------------------------------------------------------------------
 */

/* A row for a materialized result: set by column, then put. */
typedef struct ResultRow
{
	ReturnSetInfo *result;
	Datum		values[16];
	bool		nulls[16];
}			ResultRow;

static void
start_result(FunctionCallInfo fcinfo, ResultRow * row)
{
	tier_compat_init_materialized_srf(fcinfo, 0);
	row->result = (ReturnSetInfo *) fcinfo->resultinfo;
}

static void
clear_row(ResultRow * row)
{
	memset(row->values, 0, sizeof(row->values));
	memset(row->nulls, true, sizeof(row->nulls));
}

static void
set_datum(ResultRow * row, int column, Datum value)
{
	row->values[column] = value;
	row->nulls[column] = false;
}

static void
set_text(ResultRow * row, int column, const char *value)
{
	if (value != NULL)
		set_datum(row, column, CStringGetTextDatum(value));
}

/* A name; NULL or an unknown object leaves the column null. */
static void
set_name(ResultRow * row, int column, const char *value)
{
	if (value != NULL)
	{
		Name		name = palloc(sizeof(NameData));

		namestrcpy(name, value);
		set_datum(row, column, NameGetDatum(name));
	}
}

static void
set_time(ResultRow * row, int column, TimestampTz value)
{
	if (value != 0)
		set_datum(row, column, TimestampTzGetDatum(value));
}

static void
put_row(ResultRow * row)
{
	tuplestore_putvalues(row->result->setResult, row->result->setDesc, row->values, row->nulls);
	CHECK_FOR_INTERRUPTS();
}

static void
require_argument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"%s\" must not be null", name)));
}

/* As what a procedure that commits has to be called. */
static void
connect_nonatomic(FunctionCallInfo fcinfo, const char *what)
{
	bool		atomic = !(fcinfo->context && IsA(fcinfo->context, CallContext)) ||
	castNode(CallContext, fcinfo->context)->atomic;

	if (atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block or function", what),
				 errdetail("It uses one transaction for each relation, to hold its locks as short as possible.")));
	PreventCommandDuringRecovery(what);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
}

/* ---------------------------------------------------------------------
 * Observation
 * ---------------------------------------------------------------------
 */

Datum
tier_sample_sql(PG_FUNCTION_ARGS)
{
	PreventCommandDuringRecovery("CALL tiered_storage.sample");
	tier_sample_run();
	PG_RETURN_NULL();
}

Datum
tier_smoothed_rate(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(tier_heat_read(PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1),
									PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3)));
}

Datum
tier_tablespace_claims(PG_FUNCTION_ARGS)
{
	ResultRow	row;
	TierClaim  *claims;
	int			n;

	start_result(fcinfo, &row);
	claims = tier_shmem_copy_claims(&n);
	for (int i = 0; i < n; i++)
	{
		clear_row(&row);
		set_datum(&row, 0, ObjectIdGetDatum(claims[i].tablespace_oid));
		set_datum(&row, 1, ObjectIdGetDatum(claims[i].database_oid));
		set_name(&row, 2, NameStr(claims[i].tier_name));
		put_row(&row);
	}
	return (Datum) 0;
}

/* ---------------------------------------------------------------------
 * Advice
 * ---------------------------------------------------------------------
 */

static void
set_tier(ResultRow * row, int column, const TierAdvice *advice, int tier)
{
	if (tier >= 0)
		set_name(row, column, NameStr(advice->set->tiers[tier].name));
}

Datum
tier_recommend_placement(PG_FUNCTION_ARGS)
{
	bool		include_unchanged = !PG_ARGISNULL(0) && PG_GETARG_BOOL(0);
	MemoryContext row_context;
	TierAdvice *advice;
	ResultRow	row;

	start_result(fcinfo, &row);
	advice = tier_advice_make();
	row_context = AllocSetContextCreate(CurrentMemoryContext, "tiered_storage row", ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];
		bool		changes = unit->recommended_tier != unit->current_tier;
		MemoryContext old_context;

		if (!changes && !include_unchanged)
			continue;
		old_context = MemoryContextSwitchTo(row_context);
		clear_row(&row);
		set_datum(&row, 0, ObjectIdGetDatum(unit->relation_oid));
		set_text(&row, 1, tier_relation_kind_name(unit->kind));
		set_tier(&row, 2, advice, unit->current_tier);
		set_tier(&row, 3, advice, unit->recommended_tier);
		set_datum(&row, 4, Int64GetDatum((int64) unit->size_bytes));
		if (unit->current_tier >= 0)
		{
			int			from = unit->current_tier;
			int			to = unit->recommended_tier;

			set_datum(&row, 5, Float8GetDatum(tier_advice_busy(advice, unit, from) - tier_advice_busy(advice, unit, to)));
			set_datum(&row, 6, Float8GetDatum(tier_advice_price(advice, unit, to) - tier_advice_price(advice, unit, from)));
			set_datum(&row, 7, Float8GetDatum(tier_advice_move_s(advice, unit, to)));
		}
		set_text(&row, 8, tier_advice_confidence_text(unit->confidence));
		set_text(&row, 9, tier_advice_reason(advice, unit));
		set_text(&row, 10, tier_advice_command(advice, unit));
		put_row(&row);
		MemoryContextSwitchTo(old_context);
		MemoryContextReset(row_context);
	}
	return (Datum) 0;
}

/* The unit that a relation is placed with: TOAST goes with its table. */
static const TierAdviceUnit *
require_unit(const TierAdvice *advice, Oid relation_oid)
{
	TierRelationInfo info;

	if (!tier_relation_lookup(relation_oid, &info))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation_oid)));
	for (int i = 0; i < advice->nunits; i++)
	{
		if (advice->units[i].relation_oid != relation_oid)
			continue;
		if (advice->units[i].current_tier < 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("tablespace of %s %s belongs to no tier", tier_relation_kind_name(info.kind), info.name),
					 errhint("Use tiered_storage.discover_tiers(), add_tier() or alter_tier().")));
		return &advice->units[i];
	}
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("%s %s is not placed by itself", tier_relation_kind_name(info.kind), info.name),
			 errhint("Tables, partitions, materialized views and indexes of this database are, but for temporary and system ones.")));
	return NULL;
}

static char *
explain_tier(const TierAdvice *advice, const TierAdviceUnit *unit, int tier, bool fits)
{
	double		busy = tier_advice_busy(advice, unit, tier);
	double		difference = unit->current_tier < 0 ? 0 : busy - tier_advice_busy(advice, unit, unit->current_tier);

	if (tier == unit->recommended_tier)
		return tier_advice_reason(advice, unit);
	if (tier == unit->wanted_tier && !fits)
		return psprintf("it would be better here, but others gain more from the space for each byte");
	if (tier == unit->current_tier)
		return psprintf("it is here now, and %s is better", NameStr(advice->set->tiers[unit->recommended_tier].name));
	if (unit->policy_tier >= 0)
		return pstrdup("a tiering policy keeps it on its tier");
	if (!fits)
		return pstrdup("there is no room");
	if (unit->confidence == TIER_CONFIDENCE_INSUFFICIENT &&
		advice->set->tiers[tier].rank > advice->set->tiers[unit->current_tier].rank)
		return pstrdup("it has not been observed for long enough to be sent to a slower tier");
	return psprintf("%.3f s %s device time per hour than where it is", fabs(difference), difference >= 0 ? "more" : "less");
}

Datum
tier_explain_placement(PG_FUNCTION_ARGS)
{
	const TierAdviceUnit *unit;
	TierAdvice *advice;
	ResultRow	row;

	require_argument(fcinfo, 0, "relation");
	start_result(fcinfo, &row);
	advice = tier_advice_make();
	unit = require_unit(advice, PG_GETARG_OID(0));
	for (int t = 0; t < advice->set->ntiers; t++)
	{
		const TierCostProfile *profile = &advice->set->tiers[t].profile;
		TierCostLoad random_load = {0};
		TierCostLoad sequential_load = {0};
		TierCostLoad write_load = {0};
		double		available = advice->available_bytes[t];
		bool		fits;

		for (int i = 0; i < advice->nunits; i++)
			if (advice->units[i].recommended_tier == t && &advice->units[i] != unit)
				available -= advice->units[i].size_bytes;
		available = Max(available, 0.0);
		fits = unit->size_bytes <= available || t == unit->current_tier;
		random_load.random_reads = unit->load.random_reads;
		sequential_load.sequential_reads = unit->load.sequential_reads;
		sequential_load.scans = unit->load.scans;
		write_load.page_writes = unit->load.page_writes;

		clear_row(&row);
		set_tier(&row, 0, advice, t);
		set_datum(&row, 1, BoolGetDatum(t == unit->current_tier));
		set_datum(&row, 2, BoolGetDatum(t == unit->recommended_tier));
		set_datum(&row, 3, Float8GetDatum(tier_advice_busy(advice, unit, t)));
		set_datum(&row, 4, Float8GetDatum(tier_cost_busy_s_per_hour(&random_load, profile)));
		set_datum(&row, 5, Float8GetDatum(tier_cost_busy_s_per_hour(&sequential_load, profile)));
		set_datum(&row, 6, Float8GetDatum(tier_cost_busy_s_per_hour(&write_load, profile)));
		set_datum(&row, 7, Float8GetDatum(tier_advice_price(advice, unit, t)));
		set_datum(&row, 8, Float8GetDatum(tier_advice_move_s(advice, unit, t)));
		if (!isinf(available))
			set_datum(&row, 9, Int64GetDatum((int64) available));
		set_datum(&row, 10, BoolGetDatum(fits));
		set_text(&row, 11, explain_tier(advice, unit, t, fits));
		put_row(&row);
	}
	return (Datum) 0;
}

/* ---------------------------------------------------------------------
 * Policies
 * ---------------------------------------------------------------------
 */

static void
check_move_after(const Interval *move_after)
{
	Interval	zero;

	memset(&zero, 0, sizeof(zero));
	if (tier_compat_interval_is_infinite(move_after) ||
		DatumGetBool(DirectFunctionCall2(interval_lt, IntervalPGetDatum(move_after), IntervalPGetDatum(&zero))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("move_after must not be negative or infinite")));

	/* An age that reaches beyond the calendar would fail at every evaluation. */
	(void) DirectFunctionCall2(timestamptz_mi_interval, TimestampTzGetDatum(tier_clock_now()),
							   IntervalPGetDatum(move_after));
}

/* Owner or administrator; and somebody who may create on the tier. */
static void
check_policy_rights(const TierRelationInfo *info, const TierSet *set, int tier)
{
	bool		allowed = false;

	if (!tier_compat_owns_relation(info->relation_oid, GetUserId()) && !tier_is_administrator(GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of table %s", info->name)));
	for (int i = 0; i < set->ntablespaces; i++)
		if (set->tablespaces[i].tier == tier &&
			(set->tablespaces[i].oid == MyDatabaseTableSpace ||
			 tier_compat_may_create_in_tablespace(set->tablespaces[i].oid, GetUserId())))
			allowed = true;
	if (!allowed)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for the tablespaces of tier \"%s\"", NameStr(set->tiers[tier].name)),
				 errhint("GRANT CREATE ON TABLESPACE allows it.")));
}

Datum
tier_add_tiering_policy(PG_FUNCTION_ARGS)
{
	TierCatalogScope scope;
	TierRelationInfo info;
	TierPartitionKey key;
	TierPolicyRow policy;
	TierSet    *set;
	Oid			function_oid = PG_ARGISNULL(6) ? InvalidOid : PG_GETARG_OID(6);
	bool		if_not_exists = !PG_ARGISNULL(7) && PG_GETARG_BOOL(7);
	bool		existed;
	char	   *age_from;
	int			tier;
	int			policy_id;

	require_argument(fcinfo, 0, "relation");
	require_argument(fcinfo, 1, "move_after");
	require_argument(fcinfo, 2, "tier");
	require_argument(fcinfo, 4, "age_from");

	memset(&policy, 0, sizeof(policy));
	policy.relation_oid = PG_GETARG_OID(0);
	policy.move_after = *PG_GETARG_INTERVAL_P(1);
	policy.tier_name = *PG_GETARG_NAME(2);
	policy.include_indexes = PG_ARGISNULL(3) || PG_GETARG_BOOL(3);
	age_from = text_to_cstring(PG_GETARG_TEXT_PP(4));
	policy.key_unit = PG_ARGISNULL(5) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(5));

	/* 1. Is it well-formed? */
	if (strcmp(age_from, "now") != 0 && strcmp(age_from, "newest") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid age_from \"%s\"", age_from),
				 errhint("Age counts from \"now\", or from the \"newest\" partition that holds data.")));
	policy.age_from_newest = strcmp(age_from, "newest") == 0;
	check_move_after(&policy.move_after);
	tier_partition_check_key(policy.relation_oid, policy.key_unit, function_oid, &key);
	if (OidIsValid(function_oid))
	{
		if (!tier_compat_may_execute(function_oid, GetUserId()))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied for function %s", format_procedure(function_oid))));
		policy.key_function = format_procedure_qualified(function_oid);
	}
	if (!tier_relation_lookup(policy.relation_oid, &info))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", policy.relation_oid)));

	/* 2. Does the tier exist, and may the caller? */
	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(CurrentMemoryContext);
	tier = tier_set_find_tier(set, NameStr(policy.tier_name));
	if (tier < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tier \"%s\" does not exist", NameStr(policy.tier_name)),
				 errhint("SELECT tier_name FROM tiered_storage.tiers lists the tiers; add_tier() defines one.")));
	SetUserIdAndSecContext(scope.caller, scope.caller_context);
	check_policy_rights(&info, set, tier);
	tier_catalog_leave(&scope);

	/* 3. Remember it. */
	tier_catalog_enter(&scope);
	policy_id = tier_catalog_add_policy(&scope, &policy, &existed);
	tier_catalog_leave(&scope);
	if (existed)
		ereport(if_not_exists ? NOTICE : ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("table %s already has a tiering policy for tier \"%s\"%s", info.name,
						NameStr(policy.tier_name), if_not_exists ? ", skipping" : ""),
				 if_not_exists ? 0 : errhint("Remove it with tiered_storage.remove_tiering_policy(), or use if_not_exists => true.")));
	PG_RETURN_INT32(policy_id);
}

/* Does the policy match what the caller asked for? */
static bool
policy_matches(const TierPolicyRow *policy, FunctionCallInfo fcinfo)
{
	if (!PG_ARGISNULL(0) && policy->relation_oid != PG_GETARG_OID(0))
		return false;
	if (!PG_ARGISNULL(1) && strcmp(NameStr(policy->tier_name), NameStr(*PG_GETARG_NAME(1))) != 0)
		return false;
	if (!PG_ARGISNULL(2) && policy->policy_id != PG_GETARG_INT32(2))
		return false;
	return true;
}

Datum
tier_remove_tiering_policy(PG_FUNCTION_ARGS)
{
	bool		if_exists = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierPolicyRow *policies;
	int			npolicies;
	int			removed = 0;

	if (PG_ARGISNULL(0) && PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"relation\" or \"policy_id\" must be given")));

	tier_catalog_enter(&scope);
	policies = tier_catalog_load_policies(context, &npolicies);
	for (int i = 0; i < npolicies; i++)
	{
		if (!policy_matches(&policies[i], fcinfo))
			continue;

		/* A policy whose table is gone is nobody's any more. */
		if (OidIsValid(policies[i].relation_oid) &&
			!tier_compat_owns_relation(policies[i].relation_oid, scope.caller) &&
			!tier_is_administrator(scope.caller))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("must be owner of table %s", policies[i].relation_name)));
		tier_catalog_delete_policy(policies[i].policy_id);
		removed++;
	}
	tier_catalog_leave(&scope);

	if (removed == 0)
	{
		char	   *which = PG_ARGISNULL(0) ? psprintf("tiering policy %d", PG_GETARG_INT32(2)) :
		psprintf("tiering policy of relation %s",
				 DatumGetCString(DirectFunctionCall1(regclassout, PG_GETARG_DATUM(0))));

		ereport(if_exists ? NOTICE : ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("%s does not exist%s", which, if_exists ? ", skipping" : ""),
				 if_exists ? 0 : errhint("SELECT * FROM tiered_storage.policies lists the policies.")));
	}
	PG_RETURN_INT32(removed);
}

static const char *
verdict_code(TierPolicyVerdict verdict)
{
	switch (verdict)
	{
		case TIER_VERDICT_DUE:
			return "due";
		case TIER_VERDICT_ON_TARGET:
			return "on target";
		case TIER_VERDICT_ON_SLOWER_TIER:
			return "on slower tier";
		case TIER_VERDICT_TOO_YOUNG:
			return "too young";
		case TIER_VERDICT_DEFAULT_PARTITION:
			return "default partition";
		case TIER_VERDICT_OPEN_BOUND:
			return "open bound";
		case TIER_VERDICT_FOREIGN:
			return "foreign table";
		case TIER_VERDICT_TEMPORARY:
			return "temporary table";
	}
	return NULL;
}

static void
put_leaf(ResultRow * row, const TierEvaluation *evaluation, const TierLeaf *leaf, const TierSet *set)
{
	const TierPartition *partition = &leaf->partition;

	clear_row(row);
	set_datum(row, 0, Int32GetDatum(evaluation->policy->policy_id));
	set_datum(row, 1, ObjectIdGetDatum(leaf->info.relation_oid));
	set_text(row, 2, verdict_code(leaf->verdict));
	if (partition->lower_kind == TIER_BOUND_FINITE)
		set_datum(row, 3, TimestampTzGetDatum(partition->lower_us));
	if (partition->upper_kind == TIER_BOUND_FINITE)
		set_datum(row, 4, TimestampTzGetDatum(partition->upper_us));
	if (leaf->from_tier >= 0)
		set_name(row, 5, NameStr(set->tiers[leaf->from_tier].name));
	if (OidIsValid(leaf->info.file_number))
		set_name(row, 6, get_tablespace_name(leaf->info.tablespace_oid));
	set_name(row, 7, NameStr(set->tiers[evaluation->to_tier].name));
	if (OidIsValid(leaf->to_tablespace))
		set_name(row, 8, get_tablespace_name(leaf->to_tablespace));
	if (leaf->pending_bytes >= 0)
		set_datum(row, 9, Int64GetDatum(leaf->pending_bytes));
	set_text(row, 10, leaf->reason);
	put_row(row);
}

Datum
tier_evaluate_policies(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierPolicyRow *policies;
	TierSet    *set;
	ResultRow	row;
	int			npolicies;

	start_result(fcinfo, &row);
	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(context);
	policies = tier_catalog_load_policies(context, &npolicies);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);

	for (int i = 0; i < npolicies; i++)
	{
		TierEvaluation *evaluation = tier_partition_evaluate(&policies[i], set, tier_clock_now());

		if (evaluation->error != NULL)
		{
			clear_row(&row);
			set_datum(&row, 0, Int32GetDatum(policies[i].policy_id));
			if (OidIsValid(policies[i].relation_oid))
				set_datum(&row, 1, ObjectIdGetDatum(policies[i].relation_oid));
			set_text(&row, 2, "error");
			set_name(&row, 7, NameStr(policies[i].tier_name));
			set_text(&row, 10, evaluation->error);
			put_row(&row);
		}
		for (int j = 0; j < evaluation->nleaves; j++)
			put_leaf(&row, evaluation, &evaluation->leaves[j], set);
	}
	return (Datum) 0;
}

/* ---------------------------------------------------------------------
 * Moves
 * ---------------------------------------------------------------------
 */

/* The tablespace that a tier's or tablespace's name means for this relation. */
static Oid
resolve_target(const TierSet *set, const char *target)
{
	int			tier = tier_set_find_tier(set, target);
	Oid			tablespace_oid = get_tablespace_oid(target, true);
	const TierTablespace *best = NULL;

	if (tier < 0 && !OidIsValid(tablespace_oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("neither a tier nor a tablespace named \"%s\" exists", target),
				 errhint("SELECT tier_name, tablespaces FROM tiered_storage.tiers lists them.")));
	if (tier < 0)
		return tablespace_oid;
	if (OidIsValid(tablespace_oid))
	{
		if (tier_set_tier_of_tablespace(set, tablespace_oid) == tier)
			return tablespace_oid;
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_ALIAS),
				 errmsg("\"%s\" is the name of a tier and of a tablespace outside of that tier", target),
				 errhint("Name the tablespace that is meant, or rename the tier with tiered_storage.alter_tier().")));
	}
	for (int i = 0; i < set->ntablespaces; i++)
	{
		const TierTablespace *candidate = &set->tablespaces[i];

		if (candidate->tier == tier &&
			(best == NULL || candidate->device->free_bytes > best->device->free_bytes))
			best = candidate;
	}
	if (best == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tier \"%s\" has no tablespace", target),
				 errhint("Give it one with tiered_storage.alter_tier().")));
	return best->oid;
}

/* Everything that the call means, tables before their indexes. */
static List *
expand_relation(Oid relation_oid, char kind, bool include_indexes)
{
	List	   *heaps = kind == RELKIND_PARTITIONED_TABLE ? tier_relation_leaves(relation_oid) : list_make1_oid(relation_oid);
	List	   *all = NIL;
	ListCell   *cell;

	foreach(cell, heaps)
	{
		all = lappend_oid(all, lfirst_oid(cell));
		if (include_indexes && kind != RELKIND_INDEX)
			all = list_concat(all, tier_relation_indexes(lfirst_oid(cell)));
	}
	return all;
}

Datum
tier_move_relation(PG_FUNCTION_ARGS)
{
	TierCatalogScope scope;
	TierRelationInfo info;
	TierMoveReport report;
	TierSet    *set;
	MemoryContext context;
	char	   *target;
	Oid			tablespace_oid;
	List	   *relations;
	ListCell   *cell;
	int			failed = 0;
	TierMoveReport first_failure = {0};

	require_argument(fcinfo, 0, "relation");
	require_argument(fcinfo, 1, "target");
	connect_nonatomic(fcinfo, "CALL tiered_storage.move_relation");
	context = CurrentMemoryContext;
	target = pstrdup(NameStr(*PG_GETARG_NAME(1)));

	/* 1. What, and where to?  Refuse before anything is moved. */
	if (!tier_relation_lookup(PG_GETARG_OID(0), &info))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", PG_GETARG_OID(0))));
	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(context);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	tablespace_oid = resolve_target(set, target);
	relations = expand_relation(info.relation_oid, info.kind, PG_ARGISNULL(2) || PG_GETARG_BOOL(2));
	if (info.kind != RELKIND_PARTITIONED_TABLE)
		tier_relation_check_move(&info, GetUserId(), tablespace_oid);

	/* 2. One after the other; one that fails does not stop the others. */
	foreach(cell, relations)
	{
		TierMoveRequest request;

		request.relation_oid = lfirst_oid(cell);
		request.tablespace_oid = tablespace_oid;
		request.requester_oid = GetUserId();
		request.policy_id = 0;
		request.reason = "requested";
		request.limit_lock_time = false;
		report = tier_move_one(&request, set);
		if (report.state != TIER_STATE_SKIPPED && report.state != TIER_STATE_FAILED)
			continue;
		if (failed++ == 0)
			first_failure = report;
	}

	/* 3. All moves that succeeded are committed; now say what did not. */
	if (failed > 0)
		ereport(ERROR,
				(errcode(MAKE_SQLSTATE(first_failure.sqlstate[0], first_failure.sqlstate[1], first_failure.sqlstate[2],
									   first_failure.sqlstate[3], first_failure.sqlstate[4])),
				 errmsg("could not move %s: %s", first_failure.relation_name, first_failure.error),
				 failed == 1 ? 0 : errdetail("%d of %d relations could not be moved; see tiered_storage.moves.",
											 failed, list_length(relations)),
				 first_failure.hint ? errhint("%s", first_failure.hint) : 0));
	SPI_finish();
	PG_RETURN_NULL();
}

Datum
tier_migrate(PG_FUNCTION_ARGS)
{
	bool		dry_run = !PG_ARGISNULL(0) && PG_GETARG_BOOL(0);
	TierMigrateSummary summary;

	if (dry_run)
	{
		summary = tier_move_migrate(true, false, NULL);
		ereport(NOTICE,
				(errmsg_plural("%d partition is due", "%d partitions are due", summary.due, summary.due)));
		PG_RETURN_NULL();
	}
	connect_nonatomic(fcinfo, "CALL tiered_storage.migrate");
	summary = tier_move_migrate(false, false, NULL);
	SPI_finish();
	ereport(NOTICE,
			(errmsg("%d partitions were due; %d relations moved, %d not moved",
					summary.due, summary.moved, summary.not_moved)));
	PG_RETURN_NULL();
}

/* ---------------------------------------------------------------------
 * Worker
 * ---------------------------------------------------------------------
 */

/* What a slot says, in words. */
static void
describe_slot(const TierDatabaseSlot *slot, const char **state, const char **reason)
{
	switch (slot->state)
	{
		case TIER_WORKER_NEVER_RUN:
		case TIER_WORKER_STARTING:
			*state = "starting";
			*reason = "the launcher is about to start it";
			return;
		case TIER_WORKER_RUNNING:
			*state = "running";
			*reason = "a sample is being taken or relations are being moved";
			return;
		case TIER_WORKER_WAITING:
			*state = "waiting";
			*reason = tier_auto_migrate == TIER_AUTO_MIGRATE_OFF ?
				"until the next sample; moves nothing, because tiered_storage.auto_migrate is off" :
				"until the next sample";
			return;
		case TIER_WORKER_NO_EXTENSION:
			*state = "not running";
			*reason = "the database does not have the extension";
			return;
		case TIER_WORKER_VERSION_MISMATCH:
			*state = "not running";
			*reason = "the extension is not at the version of its library; run ALTER EXTENSION tiered_storage UPDATE";
			return;
		case TIER_WORKER_FAILED:
			*state = "failed";
			*reason = "the last cycle failed; see last_error and the server log";
			return;
	}
}

static void
describe_database(Form_pg_database form, const TierShmem *shared, const TierDatabaseSlot *slot,
				  const char **state, const char **reason)
{
	*state = "not running";
	if (shared == NULL)
		*reason = "tiered_storage is not in shared_preload_libraries";
	else if (RecoveryInProgress())
	{
		*state = "idle";
		*reason = "the server is in recovery, where nothing can be written";
	}
	else if (!form->datallowconn)
		*reason = "the database does not allow connections";
	else if (form->datistemplate)
		*reason = "the database is a template";
	else if (shared->launcher_pid == 0)
		*reason = "the launcher is not running; see the server log";
	else if (slot != NULL)
		describe_slot(slot, state, reason);
	else if (shared->database_overflow)
		*reason = "the server has more databases than the launcher can serve";
	else
	{
		*state = "starting";
		*reason = "the launcher has not looked at the database yet";
	}
}

Datum
tier_worker_status(PG_FUNCTION_ARGS)
{
	TierShmem  *shared = NULL;
	ResultRow	row;
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;

	start_result(fcinfo, &row);
	if (tier_shmem != NULL)
	{
		shared = palloc(sizeof(TierShmem));
		LWLockAcquire(tier_shmem->lock, LW_SHARED);
		memcpy(shared, tier_shmem, sizeof(TierShmem));
		LWLockRelease(tier_shmem->lock);
	}

	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);
		const TierDatabaseSlot *slot = NULL;
		const char *state = NULL;
		const char *reason = NULL;

		for (int i = 0; shared != NULL && i < shared->ndatabases; i++)
			if (shared->databases[i].database_oid == form->oid)
				slot = &shared->databases[i];
		describe_database(form, shared, slot, &state, &reason);
		clear_row(&row);
		set_name(&row, 0, NameStr(form->datname));
		set_text(&row, 1, state);
		set_text(&row, 2, reason);
		if (slot != NULL)
		{
			if (slot->pid != 0)
				set_datum(&row, 3, Int32GetDatum(slot->pid));
			set_time(&row, 4, slot->started_at);
			set_time(&row, 5, slot->finished_at);
			set_time(&row, 6, slot->next_run_at);
			set_datum(&row, 7, Int32GetDatum(slot->failures));
			set_text(&row, 8, slot->last_error[0] ? slot->last_error : NULL);
		}
		put_row(&row);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return (Datum) 0;
}

/* At commit: before it, the worker would not see the extension yet. */
static bool notify_at_commit = false;
static bool callback_registered = false;

static void
notify_callback(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_COMMIT && notify_at_commit)
		tier_shmem_notify(MyDatabaseId);
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		notify_at_commit = false;
}

Datum
tier_notify_launcher(PG_FUNCTION_ARGS)
{
	if (tier_shmem == NULL)
		PG_RETURN_VOID();
	if (!callback_registered)
	{
		RegisterXactCallback(notify_callback, NULL);
		callback_registered = true;
	}
	notify_at_commit = true;
	PG_RETURN_VOID();
}
