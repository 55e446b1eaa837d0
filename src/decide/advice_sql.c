/*-------------------------------------------------------------------------
 *
 * decide/advice_sql.c
 *		SQL functions that give advice: check, call, return.
 *
 * Access is controlled by the EXECUTE privilege on each function (none is granted to PUBLIC)
 * and, for relations of other roles, by the checks of server/relation.c for the calling role.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "src/base/refuse.h"
#include "src/decide/advice.h"
#include "src/decide/advice_options.h"
#include "src/server/relation.h"
#include "src/base/sql.h"
#include "src/model/wording.h"

/* A device that is busy for this share of its time makes others wait. */
#define WORTH_MENTIONING_BUSY 0.1

PG_FUNCTION_INFO_V1(tier_recommend_placement);
PG_FUNCTION_INFO_V1(tier_explain_placement);

static void
set_tier(TierResultRow *row, int column, const TierAdvice *advice, int tier)
{
	if (tier >= 0)
		tier_row_name(row, column, NameStr(advice->set->tiers[tier].name));
}

static bool
goes_to_slower(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	return tier_unit_moves(unit) && advice->set->tiers[unit->recommended_tier].rank >
		advice->set->tiers[unit->current_tier].rank;
}

/* Two columns, the same as in heat. */
static void
put_measured(TierResultRow *row, int column, const TierAdviceUnit *unit)
{
	if (isnan(unit->random_reads))
		return;
	tier_row_datum(row, column, Float8GetDatum(tier_significant(unit->random_reads)));
	tier_row_datum(row, column + 1, Float8GetDatum(tier_significant(unit->sequential_reads)));
}

static void
put_recommendation(TierResultRow *row, const TierAdvice *advice, const TierAdviceUnit *unit)
{
	tier_row_clear(row);
	tier_row_datum(row, 0, ObjectIdGetDatum(unit->relation_oid));
	tier_row_text(row, 1, tier_relation_kind_name(unit->kind));
	set_tier(row, 2, advice, unit->current_tier);
	set_tier(row, 3, advice, unit->recommended_tier);
	tier_row_datum(row, 4, Int64GetDatum((int64) unit->size_bytes));
	if (unit->current_tier >= 0)
	{
		int			from = unit->current_tier;
		int			to = unit->recommended_tier;
		TierCost	here = tier_advice_cost(advice, unit, from);
		TierCost	there = tier_advice_cost(advice, unit, to);

		tier_row_datum(row, 5, Float8GetDatum(here.busy_s - there.busy_s));
		tier_row_datum(row, 6, Float8GetDatum(here.wait_s - there.wait_s));
		tier_row_datum(row, 7, Float8GetDatum(tier_advice_price(advice, unit, to) -
											  tier_advice_price(advice, unit, from)));
		tier_row_datum(row, 8, Float8GetDatum(tier_advice_move_s(advice, unit, to)));
	}
	tier_row_text(row, 9, tier_advice_confidence_text(unit->confidence));
	tier_row_text(row, 10, tier_advice_reason(advice, unit, TIER_REASON_CHARACTERS));
	tier_row_text(row, 11, tier_advice_command(advice, unit));
	tier_row_text(row, 12, tier_advice_firm_when(advice, unit));
	put_measured(row, 13, unit);
	tier_row_put(row);
}

Datum
tier_recommend_placement(PG_FUNCTION_ARGS)
{
	bool		include_unchanged = !PG_ARGISNULL(0) && PG_GETARG_BOOL(0);
	TierAdviceOptions options;
	MemoryContext row_context;
	TierAdvice *advice;
	TierAdvice *provisional;
	TierResultRow row;
	int			nrows = 0;
	bool		any_goes = false;

	tier_result_start(fcinfo, &row);
	tier_advice_options_from(fcinfo, 1, true, &options);
	advice = tier_advice_make(&options);
	provisional = tier_advice_provisional(advice);
	row_context = AllocSetContextCreate(CurrentMemoryContext, "tiered_storage row",
										ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdvice *by = tier_advice_shown(advice, provisional, i);
		const TierAdviceUnit *unit = &by->units[i];
		MemoryContext old_context;

		if (!unit->is_selected || (!tier_unit_moves(unit) && !include_unchanged))
			continue;
		old_context = MemoryContextSwitchTo(row_context);
		any_goes |= goes_to_slower(by, unit);
		put_recommendation(&row, by, unit);
		nrows++;
		MemoryContextSwitchTo(old_context);
		MemoryContextReset(row_context);
	}
	tier_advice_notice_tiers(advice);
	tier_advice_notice_unseen(advice, any_goes);
	if (nrows == 0)
		tier_advice_notice_empty(advice);
	return (Datum) 0;
}

/* The unit that a relation is placed with: TOAST goes with its table. */
static const TierAdviceUnit *
require_unit(const TierAdvice *advice, Oid relation_oid)
{
	const TierAdviceUnit *unit = tier_advice_find(advice, relation_oid);
	TierRelationInfo info;

	tier_relation_require(relation_oid, &info);
	if (unit == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot recommend a placement for %s %s",
						tier_relation_kind_name(info.kind), info.name),
				 errhint("Placements are recommended for tables, partitions, materialized views "
						 "and indexes of this database, except temporary and system ones.")));
	if (unit->current_tier < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tablespace of %s %s belongs to no tier",
						tier_relation_kind_name(info.kind), info.name),
				 errhint("Use tiered_storage.discover_tiers(), add_tier() or alter_tier().")));
	return unit;
}

static char *
explain_tier(const TierAdvice *advice, const TierAdviceUnit *unit, int tier, bool fits)
{
	double		busy = tier_advice_busy(advice, unit, tier);
	double		difference = busy - tier_advice_busy(advice, unit, unit->current_tier);
	const char *why_not = tier_advice_why_not(advice, unit, tier);
	double		used_s;
	char	   *answer;

	if (tier == unit->recommended_tier)
		return tier_advice_reason(advice, unit, INT_MAX);
	if (advice->why_closed[tier] != NULL && tier != unit->current_tier)
		return psprintf("the tier cannot be used: it %s", advice->why_closed[tier]);
	if (tier == unit->wanted_tier && tier != unit->current_tier &&
		(!fits || advice->placement.bottleneck[tier] == TIER_BOTTLENECK_BUSY ||
		 advice->placement.bottleneck[tier] == TIER_BOTTLENECK_ENDURANCE))
		return psprintf("it would be better here, but the tier %s",
						tier_advice_obstacle(advice, unit, tier));
	if (unit->pinned_tier >= 0)
		return psprintf("it is pinned to %s", NameStr(advice->set->tiers[unit->pinned_tier].name));
	if (tier == unit->current_tier)
		return psprintf("it is here now, and %s is better",
						NameStr(advice->set->tiers[unit->recommended_tier].name));
	if (why_not != NULL)
		return psprintf("it %s", why_not);
	if (!fits)
		return pstrdup("there is no room");
	if (fabs(difference) < 5e-4)
		answer = pstrdup("the same device time per hour as where it is");
	else
		answer = psprintf("%s s %s device time per hour than where it is",
						  tier_advice_number(fabs(difference)), difference >= 0 ? "more" : "less");
	used_s = advice->placement.after[tier].occupied_s +
		tier_advice_cost(advice, unit, tier).occupied_s;
	if (used_s >= WORTH_MENTIONING_BUSY * 3600.0)
		answer = psprintf("%s, on a device that would be needed for %.0f %% of its time",
						  answer, 100.0 * used_s / 3600.0);
	return answer;
}

static Datum
explain_placement(PG_FUNCTION_ARGS)
{
	const TierAdviceUnit *unit;
	TierAdviceOptions options;
	TierAdvice *advice;
	TierResultRow row;

	tier_require_argument(fcinfo, 0, "relation");
	tier_result_start(fcinfo, &row);
	tier_advice_options_from(fcinfo, 1, true, &options);
	advice = tier_advice_make(&options);
	unit = require_unit(advice, PG_GETARG_OID(0));
	advice = unconstify(TierAdvice *, tier_advice_shown(advice, tier_advice_provisional(advice),
														unit - advice->units));
	unit = require_unit(advice, PG_GETARG_OID(0));
	if (unit->confidence == TIER_CONFIDENCE_PROVISIONAL)
		tier_advice_notice_unknown(advice);
	for (int t = 0; t < advice->set->ntiers; t++)
	{
		TierCost	cost = tier_advice_cost(advice, unit, t);
		double		needed = tier_advice_stored(advice, unit, t);
		double		available = advice->available_bytes[t] - advice->placement.after[t].bytes;
		bool		fits;

		if (unit->recommended_tier == t)
			available += needed;
		available = advice->why_closed[t] != NULL ? 0.0 : Max(available, 0.0);
		fits = needed <= available || t == unit->current_tier;
		tier_row_clear(&row);
		set_tier(&row, 0, advice, t);
		tier_row_datum(&row, 1, BoolGetDatum(t == unit->current_tier));
		tier_row_datum(&row, 2, BoolGetDatum(t == unit->recommended_tier));
		tier_row_datum(&row, 3, Float8GetDatum(cost.busy_s));
		for (TierLoadPart p = TIER_PART_RANDOM; p <= TIER_PART_WRITES; p++)
			tier_row_datum(&row, 4 + p, Float8GetDatum(tier_advice_busy_of(advice, unit, p, t)));
		tier_row_datum(&row, 7, Float8GetDatum(tier_advice_price(advice, unit, t)));
		tier_row_datum(&row, 8, Float8GetDatum(tier_advice_move_s(advice, unit, t)));
		if (!isinf(available))
			tier_row_datum(&row, 9, Int64GetDatum((int64) available));
		tier_row_datum(&row, 10, BoolGetDatum(fits));
		tier_row_text(&row, 11, explain_tier(advice, unit, t, fits));
		tier_row_datum(&row, 12, Float8GetDatum(cost.wait_s));
		tier_row_datum(&row, 13, Float8GetDatum(cost.written_bytes * 24));
		tier_row_datum(&row, 14, Int64GetDatum((int64) tier_advice_stored(advice, unit, t)));
		put_measured(&row, 15, unit);
		tier_row_put(&row);
	}
	return (Datum) 0;
}

Datum
tier_explain_placement(PG_FUNCTION_ARGS)
{
	return tier_call_for_sql(explain_placement, fcinfo);
}
