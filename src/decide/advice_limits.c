/*-------------------------------------------------------------------------
 *
 * decide/advice_limits.c
 *		Limits that tiers do not keep: the excess, the units that leave first, the obstacles,
 *		and the remedies.
 *
 * A tier that is too full cannot wait until everything is known.  Cost decides which relations
 * leave, as always, but some must leave.  So a move that makes room is as certain as the
 * observation of its relation, however close the next candidate is.  If the relations observed
 * for long enough are not enough, others leave, too; these moves are tentative: a worker does not
 * make them, a user may.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "src/decide/advice.h"
#include "src/model/growth.h"

#define S_PER_HOUR 3600.0

/* A device is busy all of the time at most; the rest is for rounding and smoothing. */
#define BUSIER_THAN_CAN_BE 1.02

/* Sums are equal within this. */
#define ROUNDING 1e-6

bool
tier_advice_is_too_full(const TierAdvice *advice, int tier)
{
	return advice->now_bytes[tier] > advice->available_bytes[tier] * (1.0 + ROUNDING);
}

/* Remains beyond a limit after the advice. */
static bool
exceeds(const TierAdvice *advice, int tier, double used, TierPlacementResource resource)
{
	return used > advice->placement.asked[tier].of[resource] * (1.0 + ROUNDING);
}

bool
tier_advice_is_over(const TierAdvice *advice, int tier)
{
	const TierPlacementTotals *now = &advice->placement.now[tier];

	return tier_advice_is_too_full(advice, tier) ||
		exceeds(advice, tier, now->bytes, TIER_RESOURCE_BYTES) ||
		exceeds(advice, tier, now->occupied_s, TIER_RESOURCE_BUSY) ||
		exceeds(advice, tier, now->written_bytes, TIER_RESOURCE_ENDURANCE);
}

/* ---------------------------------------------------------------------
 * The way out
 * ---------------------------------------------------------------------
 */

/* Device time that leaving costs, for each byte: the least is the first step. */
typedef struct Step
{
	TierAdviceUnit *unit;
	double		loss;
} Step;

static int
compare_steps(const void *a, const void *b)
{
	const Step *left = a;
	const Step *right = b;

	if (left->loss != right->loss)
		return left->loss < right->loss ? -1 : 1;
	return left->unit->relation_oid < right->unit->relation_oid ? -1 :
		left->unit->relation_oid > right->unit->relation_oid;
}

/* The units that leave the tier, in the order in which they should; to be freed. */
static Step *
steps_from(const TierAdvice *advice, int tier, int *nsteps)
{
	Step	   *steps = palloc_extended(sizeof(Step) * Max(advice->nunits, 1), MCXT_ALLOC_HUGE);
	int			n = 0;

	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		if (unit->current_tier != tier || unit->recommended_tier == tier)
			continue;
		steps[n].unit = unit;
		steps[n++].loss = (tier_advice_busy(advice, unit, unit->recommended_tier) -
						   tier_advice_busy(advice, unit, tier)) /
			Max(tier_advice_stored(advice, unit, tier), 1.0);
	}
	qsort(steps, n, sizeof(Step), compare_steps);
	*nsteps = n;
	return steps;
}

void
tier_advice_mark_room(TierAdvice *advice)
{
	for (int i = 0; i < advice->nunits; i++)
		advice->units[i].makes_room = false;
	for (int t = 0; t < advice->set->ntiers; t++)
	{
		double		excess = advice->now_bytes[t] - advice->available_bytes[t];
		int			n;
		Step	   *steps;

		if (!tier_advice_is_too_full(advice, t))
			continue;
		steps = steps_from(advice, t, &n);
		for (int i = 0; i < n && excess > 0.0; i++)
		{
			steps[i].unit->makes_room = true;
			excess -= tier_advice_stored(advice, steps[i].unit, t);
		}
		pfree(steps);
	}
}

/* "Moves from it would free 24 MB of the 40 MB needed." */
static char *
way_out(const TierAdvice *advice, int tier)
{
	double		bytes = 0.0;

	for (int i = 0; i < advice->nunits; i++)
		if (advice->units[i].makes_room && advice->units[i].current_tier == tier)
			bytes += tier_advice_stored(advice, &advice->units[i], tier);
	return bytes == 0.0 ? pstrdup("No relation may leave it.") :
		psprintf("Moves from it would free %s of the %s needed.",
				 tier_advice_bytes(bytes),
				 tier_advice_bytes(advice->now_bytes[tier] - advice->available_bytes[tier]));
}

/* ---------------------------------------------------------------------
 * How fast tiers fill, and when they are full
 * ---------------------------------------------------------------------
 */

double
tier_advice_growth_per_hour(const TierAdvice *advice, int tier)
{
	return advice->observed_hours < HOURS_PER_DAY ? NAN :
		tier_cost_stored_bytes(advice->growth_per_hour[tier],
							   &advice->set->tiers[tier].profile);
}

/* Bytes until nothing more fits, reserve included. */
static double
physical_room(const TierAdvice *advice, int tier)
{
	const TierTier *t = &advice->set->tiers[tier];
	double		others = isnan(advice->others_bytes[tier]) ? 0.0 : advice->others_bytes[tier];
	double		room = t->capacity_bytes >= 0 ?
	t->capacity_bytes - others - advice->now_bytes[tier] : INFINITY;

	return t->free_bytes >= 0 ? Min(room, (double) t->free_bytes) : room;
}

double
tier_advice_days_until_full(const TierAdvice *advice, int tier)
{
	return tier_growth_hours_until(physical_room(advice, tier),
								   tier_advice_growth_per_hour(advice, tier)) / HOURS_PER_DAY;
}

double
tier_advice_days_until_reserve(const TierAdvice *advice, int tier)
{
	return tier_growth_hours_until(advice->available_bytes[tier] - advice->now_bytes[tier],
								   tier_advice_growth_per_hour(advice, tier)) / HOURS_PER_DAY;
}

/* ---------------------------------------------------------------------
 * In words
 * ---------------------------------------------------------------------
 */

static bool
is_profile_wrong(double occupied_s)
{
	return occupied_s > S_PER_HOUR * BUSIER_THAN_CAN_BE;
}

double
tier_advice_busy_fraction(double occupied_s)
{
	return Min(occupied_s / S_PER_HOUR, 1.0);
}

static void
add_remark(StringInfo line, const char *remark)
{
	appendStringInfo(line, "%s%s", line->len > 0 ? "; " : "", remark);
}

/* "grows by 1.2 GB a day: its reserve is reached in 12 days, and it is full in 30 days" */
static void
remark_growth(const TierAdvice *advice, int tier, StringInfo line)
{
	double		per_day = tier_advice_growth_per_hour(advice, tier) * HOURS_PER_DAY;
	double		ahead_days = advice->observed_hours / HOURS_PER_DAY;
	double		full = tier_advice_days_until_full(advice, tier);
	double		reserve = tier_advice_days_until_reserve(advice, tier);
	StringInfoData remark;

	if (!(per_day > 0.0) || Min(full, reserve) > ahead_days)
		return;
	initStringInfo(&remark);
	if (full <= 0.0)
	{
		add_remark(line, psprintf("grows by %s a day, and is full", tier_advice_bytes(per_day)));
		return;
	}
	appendStringInfo(&remark, "grows by %s a day: ", tier_advice_bytes(per_day));
	if (reserve > 0.0 && reserve < full)
		appendStringInfo(&remark, "its reserve is reached in %s, and ",
						 tier_advice_duration(reserve * SECS_PER_DAY));
	appendStringInfo(&remark, "it is full in %s", tier_advice_duration(full * SECS_PER_DAY));
	add_remark(line, remark.data);
}

static void
remark_now(const TierAdvice *advice, int tier, StringInfo line)
{
	const TierTier *t = &advice->set->tiers[tier];
	const TierPlacementTotals *now = &advice->placement.now[tier];
	double		endures = t->profile.endurance_bytes_per_day;
	double		others = advice->others_written_bytes[tier];
	double		written = now->written_bytes + others;

	if (is_profile_wrong(now->occupied_s))
		add_remark(line, psprintf("has a profile that predicts %.0f %% utilization; run "
								  "calibrate_tier()",
								  100.0 * now->occupied_s / S_PER_HOUR));
	if (endures > 0 && written > endures)
		add_remark(line, psprintf("receives %s of writes a day%s: %s times its "
								  "endurance of %s a day",
								  tier_advice_bytes(written), others <= 0.0 ? "" :
								  psprintf(", %s of it by others", tier_advice_bytes(others)),
								  tier_advice_number(written / endures),
								  tier_advice_bytes(endures)));
	if (tier_advice_is_too_full(advice, tier))
		add_remark(line, psprintf("is too full by %s",
								  tier_advice_bytes(advice->now_bytes[tier] -
													advice->available_bytes[tier])));
	if (advice->reserve_missing[tier] > 0.0)
		add_remark(line, psprintf("has %s less free space than its reserve, because of "
								  "other files: nothing is moved there",
								  tier_advice_bytes(advice->reserve_missing[tier])));
	remark_growth(advice, tier, line);
}

char *
tier_advice_violation(const TierAdvice *advice, int tier)
{
	const TierPlacementTotals *after = &advice->placement.after[tier];
	const TierPlacementLimits *asked = &advice->placement.asked[tier];
	StringInfoData line;

	initStringInfo(&line);
	if (advice->why_closed[tier] != NULL)
		add_remark(&line, psprintf("%s: nothing is moved there", advice->why_closed[tier]));
	if (exceeds(advice, tier, after->bytes, TIER_RESOURCE_BYTES))
		add_remark(&line, psprintf(tier_advice_is_too_full(advice, tier) ?
								   "would remain too full by %s" :
								   "would become too full by %s",
								   tier_advice_bytes(after->bytes -
													 asked->of[TIER_RESOURCE_BYTES])));
	if (exceeds(advice, tier, after->occupied_s, TIER_RESOURCE_BUSY))
		add_remark(&line, psprintf("would have %.0f %% utilization, beyond the limit of "
								   "%.0f %%%s",
								   100.0 * after->occupied_s / S_PER_HOUR,
								   100.0 * asked->of[TIER_RESOURCE_BUSY] / S_PER_HOUR,
								   after->occupied_s > S_PER_HOUR ?
								   ", which is impossible" : ""));
	else if (is_profile_wrong(after->occupied_s))
		add_remark(&line, psprintf("would have %.0f %% utilization, which is impossible",
								   100.0 * after->occupied_s / S_PER_HOUR));
	if (exceeds(advice, tier, after->written_bytes, TIER_RESOURCE_ENDURANCE))
		add_remark(&line, psprintf("would receive %s of writes a day, beyond the limit of %s",
								   tier_advice_bytes(after->written_bytes),
								   tier_advice_bytes(asked->of[TIER_RESOURCE_ENDURANCE])));
	return line.len > 0 ? line.data : NULL;
}

char *
tier_advice_tier_remark(const TierAdvice *advice, int tier)
{
	StringInfoData line;
	char	   *violation = tier_advice_violation(advice, tier);

	initStringInfo(&line);
	remark_now(advice, tier, &line);
	if (violation != NULL)
		add_remark(&line, violation);
	return line.len > 0 ? line.data : NULL;
}

/* The hint how to open a tier where nothing can be put. */
static char *
closed_hint(const TierAdvice *advice, int tier)
{
	const char *name = quote_literal_cstr(NameStr(advice->set->tiers[tier].name));

	for (int i = 0; i < advice->set->ntablespaces; i++)
		if (advice->set->tablespaces[i].tier == tier)
			return pstrdup("Check that its file system is mounted read-write and accessible.");
	return psprintf("SELECT tiered_storage.alter_tier(%s, tablespaces => '{...}') gives it one, "
					"tiered_storage.remove_tier(%s) removes it.", name, name);
}

void
tier_advice_notice_tiers(const TierAdvice *advice)
{
	for (int t = 0; t < advice->set->ntiers && advice->nunits > 0; t++)
	{
		const char *name = NameStr(advice->set->tiers[t].name);
		char	   *remark = tier_advice_tier_remark(advice, t);

		if (remark == NULL)
			continue;
		ereport(NOTICE,
				(errmsg("tier \"%s\" %s", name, remark),
				 tier_advice_is_too_full(advice, t) ?
				 errdetail("%s", way_out(advice, t)) : 0,
				 advice->why_closed[t] != NULL ? errhint("%s", closed_hint(advice, t)) :
				 is_profile_wrong(advice->placement.now[t].occupied_s) ?
				 errhint("SELECT * FROM tiered_storage.calibrate_tier(%s) measures its devices.",
						 quote_literal_cstr(name)) : 0));
	}
}
