/*-------------------------------------------------------------------------
 *
 * act/evaluate_sql.c
 *		evaluate_policies(): the results of the policies, and the reasons for which moves wait.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "utils/timestamp.h"

#include "src/act/policy_candidates.h"
#include "src/act/level.h"
#include "src/base/by_oid.h"
#include "src/base/refuse.h"
#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/decide/tier_fullness.h"
#include "src/decide/partition.h"
#include "src/decide/policy_group.h"

PG_FUNCTION_INFO_V1(tier_evaluate_policies);

static const char *const verdict_codes[] = {
	[TIER_VERDICT_DUE] = "due",
	[TIER_VERDICT_ON_TARGET] = "on target",
	[TIER_VERDICT_ON_SLOWER_TIER] = "on slower tier",
	[TIER_VERDICT_TOO_YOUNG] = "too young",
	[TIER_VERDICT_DEFAULT_PARTITION] = "default partition",
	[TIER_VERDICT_OPEN_BOUND] = "open bound",
	[TIER_VERDICT_FOREIGN] = "foreign table",
	[TIER_VERDICT_TEMPORARY] = "temporary table",
	[TIER_VERDICT_IMMOVABLE] = "immovable",
	[TIER_VERDICT_PINNED] = "pinned",
	[TIER_VERDICT_IN_USE] = "in use",
	[TIER_VERDICT_NOT_OBSERVED] = "not observed",
	[TIER_VERDICT_NO_RIGHT] = "no right",
	[TIER_VERDICT_NO_AGE] = "no age",
	[TIER_VERDICT_RETURNS] = "returns",
	[TIER_VERDICT_ERROR] = "error",
};

/* Its reason, and if another policy decides where it goes, which. */
static const char *
reason_of(const TierEvaluation *evaluation, const TierLeaf *leaf, const TierSet *set,
		  const TierPolicyClaim *claims, int nclaims)
{
	const TierPolicyClaim *claim = leaf->pending == NIL ? NULL :
	tier_by_oid_find(linitial_oid(leaf->pending), claims, nclaims, sizeof(TierPolicyClaim));

	if (!evaluation->policy->is_enabled || claim == NULL || claim->evaluation == evaluation ||
		(leaf->verdict != TIER_VERDICT_DUE && leaf->verdict != TIER_VERDICT_RETURNS))
		return leaf->reason;
	return psprintf("%s; policy %d decides, for tier \"%s\"", leaf->reason,
					claim->evaluation->policy->policy_id,
					NameStr(set->tiers[claim->to_tier].name));
}

static void
put_leaf(TierResultRow *row, const TierEvaluation *evaluation, const TierLeaf *leaf,
		 const TierSet *set, const char *reason)
{
	const TierPartition *partition = &leaf->partition;

	tier_row_clear(row);
	tier_row_datum(row, 0, Int32GetDatum(evaluation->policy->policy_id));
	tier_row_datum(row, 1, ObjectIdGetDatum(leaf->info.relation_oid));
	tier_row_text(row, 2, !evaluation->policy->is_enabled &&
				  (leaf->verdict == TIER_VERDICT_DUE || leaf->verdict == TIER_VERDICT_RETURNS) ?
				  "disabled" : verdict_codes[leaf->verdict]);
	if (partition->lower_kind == TIER_BOUND_FINITE)
		tier_row_datum(row, 3, TimestampTzGetDatum(partition->lower_us));
	if (partition->upper_kind == TIER_BOUND_FINITE)
		tier_row_datum(row, 4, TimestampTzGetDatum(partition->upper_us));
	if (leaf->from_tier >= 0)
		tier_row_name(row, 5, NameStr(set->tiers[leaf->from_tier].name));
	if (OidIsValid(leaf->info.file_number))
		tier_row_name(row, 6, get_tablespace_name(leaf->info.tablespace_oid));
	tier_row_name(row, 7, NameStr(set->tiers[leaf->verdict == TIER_VERDICT_RETURNS ?
											 leaf->return_tier : evaluation->to_tier].name));
	if (OidIsValid(leaf->to_tablespace))
		tier_row_name(row, 8, get_tablespace_name(leaf->to_tablespace));
	if (leaf->pending_bytes >= 0)
		tier_row_datum(row, 9, Int64GetDatum(leaf->pending_bytes));
	tier_row_text(row, 12, reason);
	tier_row_put(row);
}

/* A policy that cannot be evaluated; relation_oid 0, and from NULL: none. */
static void
put_error(TierResultRow *row, int policy_id, Oid relation_oid, const char *from, const char *to,
		  const char *error)
{
	tier_row_clear(row);
	tier_row_datum(row, 0, Int32GetDatum(policy_id));
	if (OidIsValid(relation_oid))
		tier_row_datum(row, 1, ObjectIdGetDatum(relation_oid));
	tier_row_text(row, 2, "error");
	if (from != NULL)
		tier_row_name(row, 5, from);
	tier_row_name(row, 7, to);
	tier_row_text(row, 12, error);
	tier_row_put(row);
}

/* ---------------------------------------------------------------------
 * Fullness policies
 * ---------------------------------------------------------------------
 */

/* place: after how many others it leaves, counted from 1; 0: it may not. */
static void
put_member(TierResultRow *row, const TierFullnessEvaluation *evaluation, int i, int place)
{
	const TierFullnessMember *member = &evaluation->members[i];

	tier_row_clear(row);
	tier_row_datum(row, 0, Int32GetDatum(evaluation->policy->policy_id));
	tier_row_datum(row, 1, ObjectIdGetDatum(member->unit->relation_oid));
	tier_row_text(row, 2, tier_fullness_verdict(evaluation, i));
	tier_row_name(row, 5, NameStr(evaluation->policy->tier_name));
	tier_row_name(row, 7, NameStr(evaluation->policy->target_name));
	if (OidIsValid(member->to_tablespace))
		tier_row_name(row, 8, get_tablespace_name(member->to_tablespace));
	tier_row_datum(row, 9, Int64GetDatum((int64) member->unit->size_bytes));
	if (place > 0)
		tier_row_datum(row, 10, Int32GetDatum(place));
	tier_row_datum(row, 11, Float8GetDatum(evaluation->units[i].lost_s));
	tier_row_text(row, 12, tier_fullness_reason(evaluation, i));
	tier_row_put(row);
}

/* Sets any if there are rows; returns the number of fullness policies. */
static int
put_fullness(TierResultRow *row, const TierPolicyClaim *claims, int nclaims, bool *any)
{
	MemoryContext context = CurrentMemoryContext;
	TierFullnessQuestion question = {.flight = tier_fullness_flight,.due_leave = true};
	TierFullnessEvaluation *evaluations;
	TierCatalogScope scope;
	List	   *returning = NIL;
	int			n;

	tier_catalog_enter(&scope);
	question.backoff = tier_catalog_load_backoff(context, &question.nbackoff);
	tier_catalog_leave(&scope);
	for (int i = 0; i < nclaims; i++)
		if (claims[i].leaf->verdict == TIER_VERDICT_RETURNS)
			returning = lappend_oid(returning, claims[i].relation_oid);
	question.returning = tier_sorted_oids(returning, &question.nreturning);
	evaluations = tier_fullness_evaluate(&question, &n);
	for (int e = 0; e < n; e++)
	{
		const TierFullnessEvaluation *evaluation = &evaluations[e];
		const TierFullnessResult *result = &evaluation->result;

		*any = *any || evaluation->error != NULL || evaluation->problem.nunits > 0;
		if (evaluation->error != NULL)
		{
			put_error(row, evaluation->policy->policy_id, InvalidOid,
					  NameStr(evaluation->policy->tier_name),
					  NameStr(evaluation->policy->target_name), evaluation->error);
			continue;
		}
		for (int i = 0; i < result->norder; i++)
			put_member(row, evaluation, result->order[i], i + 1);
		for (int i = 0; i < evaluation->problem.nunits; i++)
			if (evaluation->units[i].obstacle != TIER_FULLNESS_NONE)
				put_member(row, evaluation, i, 0);
	}
	return n;
}

/* ---------------------------------------------------------------------
 * All policies
 * ---------------------------------------------------------------------
 */

/* Why there is no row. */
static void
explain_nothing(int npolicies)
{
	if (npolicies == 0)
		ereport(NOTICE,
				(errmsg("there is no policy"),
				 errhint("Add one with tiered_storage.add_tiering_policy() "
						 "or tiered_storage.add_fullness_policy().")));
	else
		ereport(NOTICE,
				(errmsg("no relation of this database has a policy"),
				 errhint("SELECT * FROM tiered_storage.policies lists the policies.")));
}

static Datum
evaluate_policies(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierPolicyRow *policies;
	TierEvaluation **evaluations;
	TierSet    *set;
	TierPins   *pins;
	TierPolicyClaim *claims;
	TierResultRow row;
	bool		any = false;
	int			npolicies;
	int			nclaims;

	tier_result_start(fcinfo, &row);
	tier_catalog_enter(&scope);
	tier_catalog_hold_snapshot(true);
	set = tier_catalog_load_tiers(context);
	policies = tier_catalog_load_policies(context, &npolicies);
	pins = tier_catalog_load_pins(context);
	tier_catalog_leave(&scope);
	tier_groups_find(policies, npolicies);
	evaluations = tier_policies_evaluate(policies, npolicies, set, pins);
	claims = tier_policy_claims(evaluations, npolicies, &nclaims);
	for (int i = 0; i < npolicies; i++)
	{
		const TierEvaluation *evaluation = evaluations[i];

		any = any || evaluation->error != NULL || evaluation->nleaves > 0;
		if (evaluation->error != NULL)
			put_error(&row, policies[i].policy_id, policies[i].relation_oid, NULL,
					  NameStr(policies[i].tier_name), evaluation->error);
		for (int j = 0; j < evaluation->nleaves; j++)
			put_leaf(&row, evaluation, &evaluation->leaves[j], set,
					 reason_of(evaluation, &evaluation->leaves[j], set, claims, nclaims));
	}
	npolicies += put_fullness(&row, claims, nclaims, &any);
	if (!any)
		explain_nothing(npolicies);
	return (Datum) 0;
}

Datum
tier_evaluate_policies(PG_FUNCTION_ARGS)
{
	return tier_call_for_sql(evaluate_policies, fcinfo);
}
