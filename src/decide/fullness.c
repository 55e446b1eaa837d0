/*-------------------------------------------------------------------------
 *
 * decide/fullness.c
 *		What the fullness policies say about the tiers as they are now.
 *
 * Reads only.  How full a tier is is asked twice: what relations take of the capacity, those
 * of other databases included where it is less than the disks have, and what its file
 * systems have free, which others use, too; the answer that is fuller counts.  A move within
 * one file system makes room by the first alone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/base/sql.h"
#include "src/decide/fullness.h"
#include "src/decide/growth.h"
#include "src/server/relation.h"

/*
 * A move is some transactions whose commits wait for a flush (as in act/apply.c): of what is
 * small, most of its cost, for next to no room.
 */
#define FLUSHES_PER_MOVE 4

/* ---------------------------------------------------------------------
 * How full tiers are
 * ---------------------------------------------------------------------
 */

TierFullnessLevel
tier_fullness_level(const TierSet *set, int tier, double own_bytes,
					const TierFullnessQuestion *question)
{
	const TierTier *t = &set->tiers[tier];
	TierFullnessLevel level;

	level.capacity_bytes = t->capacity_bytes;
	level.own_bytes = own_bytes + tier_set_others_bytes(set, tier, (double) t->capacity_bytes);
	level.disk_bytes = t->free_bytes >= 0 ? (double) t->capacity_bytes - t->free_bytes : -INFINITY;
	for (int i = 0; i < set->ntablespaces && question->flight != NULL; i++)
	{
		TierFullnessFlight flight;

		if (set->tablespaces[i].tier != tier)
			continue;
		flight = question->flight(set->tablespaces[i].oid);
		level.own_bytes += flight.own_bytes;
		level.disk_bytes += flight.disk_bytes;
	}
	return level;
}

double
tier_fullness_room(const TierSet *set, int tier, double own_bytes,
				   const TierFullnessQuestion *question)
{
	const TierTier *t = &set->tiers[tier];
	double		mark = t->emptied_above > 0.0 ? t->emptied_above : t->high_watermark;
	TierFullnessLevel level;

	if (t->capacity_bytes <= 0)
		return INFINITY;
	level = tier_fullness_level(set, tier, own_bytes, question);
	return level.capacity_bytes * Min(mark, 1.0 - t->reserve_fraction) -
		tier_fullness_bytes(&level);
}

double
tier_fullness_share(const TierFullnessEvaluation *evaluation)
{
	return evaluation->error != NULL ? NAN :
		(tier_fullness_bytes(&evaluation->problem.level) - evaluation->arriving_bytes) /
		evaluation->problem.level.capacity_bytes;
}

/* ---------------------------------------------------------------------
 * What keeps a relation where it is
 * ---------------------------------------------------------------------
 */

static bool
is_among(Oid relation_oid, const Oid *sorted, int n)
{
	return n > 0 && bsearch(&relation_oid, sorted, n, sizeof(Oid), oid_cmp) != NULL;
}

/* What can be said of it without a look at it. */
static TierFullnessObstacle
known_obstacle(const TierFullnessEvaluation *evaluation, const TierFullnessQuestion *question,
			   const TierAdviceUnit *unit, const char **why)
{
	if (unit->pinned_tier >= 0 && unit->pinned_tier != evaluation->target)
	{
		*why = psprintf("it is pinned to tier \"%s\"",
						NameStr(evaluation->advice->set->tiers[unit->pinned_tier].name));
		return TIER_FULLNESS_PINNED;
	}
	if (OidIsValid(unit->extension_oid) && unit->pinned_tier < 0)
	{
		*why = "it belongs to an extension";
		return TIER_FULLNESS_OF_EXTENSION;
	}
	if (unit->is_due || is_among(unit->relation_oid, question->moved, question->nmoved))
	{
		*why = "a tiering policy moves it";
		return TIER_FULLNESS_DUE;
	}
	if (unit->resides_s > 0.0)
	{
		*why = psprintf("it was moved lately, and stays for another %s",
						tier_advice_duration(unit->resides_s));
		return TIER_FULLNESS_MOVED_LATELY;
	}
	if (unit->size_bytes <= 0.0)
	{
		*why = "it is empty";
		return TIER_FULLNESS_EMPTY;
	}
	if (is_among(unit->relation_oid, question->backoff, question->nbackoff))
	{
		*why = "it could not be moved lately; the view moves says when it is tried again";
		return TIER_FULLNESS_NOT_NOW;
	}
	return TIER_FULLNESS_NONE;
}

/*
 * Nobody asks for these moves but the policy, which has no rights of its own: they need
 * those of the owner, and no lock for the whole copy.
 */
static TierFullnessObstacle
find_obstacle(const TierFullnessEvaluation *evaluation, const TierFullnessQuestion *question,
			  const TierRelationInfo *info, TierFullnessMember *member)
{
	TierFullnessObstacle obstacle = known_obstacle(evaluation, question, member->unit,
												   &member->why);
	char	   *why;
	char	   *hint;

	if (obstacle != TIER_FULLNESS_NONE)
		return obstacle;
	why = unconstify(char *, tier_relation_why_not_online(info));
	if (why == NULL && tier_relation_why_incomplete(info) != NULL)
		why = "the index is not valid";
	if (why != NULL)
	{
		member->why = psprintf("it cannot be moved online: %s", why);
		return TIER_FULLNESS_NOT_ONLINE;
	}
	if (!OidIsValid(member->to_tablespace) ||
		!tier_relation_may_move(info, info->owner_oid, member->to_tablespace, &why, &hint))
	{
		member->why = !OidIsValid(member->to_tablespace) ? "the target has no tablespace" :
			psprintf("its owner may not move it: %s", why);
		return TIER_FULLNESS_NO_RIGHT;
	}
	return TIER_FULLNESS_NONE;
}

/* ---------------------------------------------------------------------
 * One policy
 * ---------------------------------------------------------------------
 */

/* Does a move from one tablespace to the other leave the file system as full as it is? */
static bool
shares_file_system(const TierSet *set, Oid from_oid, Oid to_oid)
{
	const TierTablespace *from = tier_set_tablespace(set, from_oid);
	const TierTablespace *to = tier_set_tablespace(set, to_oid);

	return from != NULL && to != NULL && from->device->fs_id != 0 &&
		from->device->fs_id == to->device->fs_id;
}

/* Seconds that both devices are busy with its move, the flushes of its commits included. */
static double
move_seconds(const TierFullnessEvaluation *evaluation, const TierAdviceUnit *unit)
{
	const TierAdvice *advice = evaluation->advice;

	return tier_advice_move_s(advice, unit, evaluation->target) + FLUSHES_PER_MOVE *
		Max(advice->set->tiers[evaluation->tier].profile.fsync_ms,
			advice->set->tiers[evaluation->target].profile.fsync_ms) / 1000.0;
}

/* Whose it is, where it would go, and whether it may. */
static void
look_at_member(const TierFullnessEvaluation *evaluation, const TierFullnessQuestion *question,
			   const TierRelationInfo *info, int i)
{
	TierFullnessMember *member = &evaluation->members[i];

	member->owner_oid = info->owner_oid;
	member->to_tablespace = tier_set_usable_tablespace(evaluation->advice->set,
													   evaluation->target, info->owner_oid);
	member->why = NULL;
	evaluation->units[i].obstacle = find_obstacle(evaluation, question, info, member);
}

bool
tier_fullness_look_again(TierFullnessEvaluation *evaluation, const TierFullnessQuestion *question,
						 int i)
{
	TierRelationInfo info;

	if (tier_relation_lookup(evaluation->members[i].unit->relation_oid, &info) &&
		tier_set_tier_of_tablespace(evaluation->advice->set,
									info.tablespace_oid) == evaluation->tier)
		look_at_member(evaluation, question, &info, i);
	else
	{
		evaluation->units[i].obstacle = TIER_FULLNESS_NOT_NOW;
		evaluation->members[i].why = "it is not there any more";
	}
	return evaluation->units[i].obstacle == TIER_FULLNESS_NONE;
}

static void
add_member(TierFullnessEvaluation *evaluation, const TierFullnessQuestion *question,
		   const TierAdviceUnit *unit)
{
	const TierAdvice *advice = evaluation->advice;
	int			i = evaluation->problem.nunits;
	TierFullnessMember *member = &evaluation->members[i];
	TierFullnessUnit *model = &evaluation->units[i];
	TierRelationInfo info;

	if (!tier_relation_lookup(unit->relation_oid, &info))
		return;
	evaluation->problem.nunits++;
	member->unit = unit;
	look_at_member(evaluation, question, &info, i);
	model->own_bytes = tier_advice_stored(advice, unit, evaluation->tier);
	model->disk_bytes = shares_file_system(advice->set, info.tablespace_oid,
										   member->to_tablespace) ? 0.0 : model->own_bytes;
	model->target_bytes = tier_advice_stored(advice, unit, evaluation->target);
	model->lost_s = tier_advice_busy(advice, unit, evaluation->target) -
		tier_advice_busy(advice, unit, evaluation->tier);
	model->move_s = move_seconds(evaluation, unit) / advice->options.horizon_hours;

	/* What next to nothing is known of may be hot. */
	model->reluctance = unit->confidence == TIER_CONFIDENCE_INSUFFICIENT ? 1 : 0;
	if (question->due_leave && unit->is_due)
	{
		evaluation->problem.level.own_bytes -= model->own_bytes;
		evaluation->problem.level.disk_bytes -= model->disk_bytes;
	}
}

static double
own_bytes_of(const TierAdvice *advice, int tier)
{
	return advice->used_bytes[tier];
}

/* What is said of the tiers fits; else why not. */
static char *
check_policy(const TierFullnessEvaluation *evaluation)
{
	const TierSet *set = evaluation->advice->set;
	const TierTier *tier = &set->tiers[evaluation->tier];
	const TierTier *target = &set->tiers[evaluation->target];

	if (target->rank <= tier->rank)
		return psprintf("tier \"%s\" is not slower than tier \"%s\"", NameStr(target->name),
						NameStr(tier->name));
	if (!(evaluation->problem.low > 0.0 && evaluation->problem.low < evaluation->problem.high &&
		  evaluation->problem.high <= 1.0))
		return psprintf("its low watermark of %g is not below its high one of %g",
						evaluation->problem.low, evaluation->problem.high);
	if (tier->capacity_bytes <= 0)
		return psprintf("the capacity of tier \"%s\" is not known", NameStr(tier->name));
	if (evaluation->advice->why_closed[evaluation->target] != NULL)
		return psprintf("tier \"%s\" %s", NameStr(target->name),
						evaluation->advice->why_closed[evaluation->target]);
	return NULL;
}

static void
begin_evaluation(TierFullnessEvaluation *evaluation, const TierAdvice *advice,
				 const TierFullnessRow *policy, const TierFullnessQuestion *question)
{
	const TierTier *tier;
	int			n = 0;

	evaluation->policy = policy;
	evaluation->advice = advice;
	evaluation->tier = tier_set_find_tier(advice->set, NameStr(policy->tier_name));
	evaluation->target = tier_set_find_tier(advice->set, NameStr(policy->target_name));
	if (evaluation->tier < 0 || evaluation->target < 0)
	{
		evaluation->error = "a tier of it does not exist";
		return;
	}
	tier = &advice->set->tiers[evaluation->tier];
	evaluation->problem.high = isnan(policy->high_watermark) ? tier->high_watermark :
		policy->high_watermark;
	evaluation->problem.low = isnan(policy->low_watermark) ? tier->low_watermark :
		policy->low_watermark;
	evaluation->error = check_policy(evaluation);
	if (evaluation->error != NULL)
		return;
	for (int i = 0; i < advice->nunits; i++)
		n += advice->units[i].current_tier == evaluation->tier;
	evaluation->units = palloc_extended(sizeof(TierFullnessUnit) * Max(n, 1),
										MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	evaluation->members = palloc_extended(sizeof(TierFullnessMember) * Max(n, 1),
										  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	evaluation->problem.units = evaluation->units;
	evaluation->problem.target_bytes = INFINITY;
	evaluation->problem.level = tier_fullness_level(advice->set, evaluation->tier,
													own_bytes_of(advice, evaluation->tier),
													question);
	for (int i = 0; i < advice->nunits; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (advice->units[i].current_tier == evaluation->tier)
			add_member(evaluation, question, &advice->units[i]);
	}
	evaluation->result.verdicts = palloc_extended(sizeof(TierFullnessVerdict) * Max(n, 1),
												  MCXT_ALLOC_HUGE);
	evaluation->result.order = palloc_extended(sizeof(int) * Max(n, 1), MCXT_ALLOC_HUGE);
	evaluation->result.scratch = palloc_extended(sizeof(int) * Max(n, 1), MCXT_ALLOC_HUGE);
	tier_fullness_arrange(&evaluation->problem, &evaluation->result);
}

/* ---------------------------------------------------------------------
 * All policies
 * ---------------------------------------------------------------------
 */

/* By tier, the slowest first. */
static int
compare_evaluations(const void *a, const void *b)
{
	const TierFullnessEvaluation *left = a;
	const TierFullnessEvaluation *right = b;

	return right->tier - left->tier;
}

static TierFullnessEvaluation *
evaluation_of(TierFullnessEvaluation *evaluations, int n, int tier)
{
	for (int i = 0; i < n; i++)
		if (evaluations[i].tier == tier && evaluations[i].error == NULL)
			return &evaluations[i];
	return NULL;
}

/* From the fastest tier down: what leaves it is about to come to the next. */
static void
pass_on(TierFullnessEvaluation *evaluations, int n)
{
	for (int i = n - 1; i >= 0; i--)
	{
		TierFullnessEvaluation *from = &evaluations[i];
		TierFullnessEvaluation *to = evaluation_of(evaluations, n, from->target);

		if (from->error != NULL || !from->policy->is_enabled || to == NULL)
			continue;
		tier_fullness_decide(&from->problem, &from->result);
		to->arriving_bytes += from->result.leaving_bytes;
		to->problem.level.own_bytes += from->result.leaving_bytes;
		to->problem.level.disk_bytes += from->result.leaving_bytes;
	}
}

/* From the slowest tier up: what has left makes room for what comes. */
static void
decide_all(TierFullnessEvaluation *evaluations, int n, const TierFullnessQuestion *question)
{
	for (int i = 0; i < n; i++)
	{
		TierFullnessEvaluation *evaluation = &evaluations[i];
		const TierAdvice *advice = evaluation->advice;
		const TierFullnessEvaluation *next;

		if (evaluation->error != NULL)
			continue;
		next = evaluation_of(evaluations, n, evaluation->target);
		evaluation->problem.target_bytes =
			tier_fullness_room(advice->set, evaluation->target,
							   own_bytes_of(advice, evaluation->target), question);
		if (next != NULL && next->policy->is_enabled)
			evaluation->problem.target_bytes += next->result.leaving_bytes;
		tier_fullness_decide(&evaluation->problem, &evaluation->result);
	}
}

TierFullnessEvaluation *
tier_fullness_evaluate(const TierFullnessQuestion *question, int *n)
{
	MemoryContext context = CurrentMemoryContext;
	TierFullnessEvaluation *evaluations;
	TierFullnessRow *rows;
	TierAdviceOptions options;
	TierCatalogScope scope;
	TierAdvice *advice;

	tier_catalog_enter(&scope);
	rows = tier_catalog_load_fullness(context, n);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	if (*n == 0)
		return NULL;
	tier_advice_default_options(&options);
	advice = tier_advice_load(&options);
	tier_advice_add_bytes(advice, false, advice->now_bytes);
	tier_advice_forecast(advice);
	evaluations = palloc0(sizeof(TierFullnessEvaluation) * *n);
	for (int i = 0; i < *n; i++)
		begin_evaluation(&evaluations[i], advice, &rows[i], question);
	qsort(evaluations, *n, sizeof(TierFullnessEvaluation), compare_evaluations);
	pass_on(evaluations, *n);
	decide_all(evaluations, *n, question);
	return evaluations;
}
