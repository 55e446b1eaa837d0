/*-------------------------------------------------------------------------
 *
 * act/fullness_sql.c
 *		evaluate_policies(): what the fullness policies say now.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"

#include "src/act/due.h"
#include "src/act/fullness.h"
#include "src/act/level.h"
#include "src/base/sql.h"

static void
put_error(TierResultRow *row, const TierFullnessEvaluation *evaluation)
{
	tier_row_clear(row);
	tier_row_datum(row, 0, Int32GetDatum(evaluation->policy->policy_id));
	tier_row_text(row, 2, "error");
	tier_row_name(row, 5, NameStr(evaluation->policy->tier_name));
	tier_row_name(row, 7, NameStr(evaluation->policy->target_name));
	tier_row_text(row, 12, evaluation->error);
	tier_row_put(row);
}

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

int
tier_fullness_put(TierResultRow *row, bool *any)
{
	MemoryContext context = CurrentMemoryContext;
	TierFullnessQuestion question = {0};
	TierFullnessEvaluation *evaluations;
	TierCatalogScope scope;
	const TierSet *set;
	const TierPins *pins;
	int			n;

	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(context);
	pins = tier_catalog_load_pins(context);
	question.backoff = tier_catalog_load_backoff(context, &question.nbackoff);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	question.returning = tier_due_returning(set, pins, &question.nreturning);
	question.flight = tier_fullness_flight;
	question.due_leave = true;
	evaluations = tier_fullness_evaluate(&question, &n);
	for (int e = 0; e < n; e++)
	{
		const TierFullnessEvaluation *evaluation = &evaluations[e];
		const TierFullnessResult *result = &evaluation->result;

		*any = *any || evaluation->error != NULL || evaluation->problem.nunits > 0;
		if (evaluation->error != NULL)
		{
			put_error(row, evaluation);
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
