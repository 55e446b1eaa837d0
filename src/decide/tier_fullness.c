/*-------------------------------------------------------------------------
 *
 * decide/tier_fullness.c
 *		Evaluates the fullness policies on the present tiers.
 *
 * Reads only.  The fullness of a tier has two measures, and the fuller one counts.  The first one
 * is the share of the capacity that relations take by their present files; files of other
 * databases are included if the capacity is less than the size of the disks.  The second one is
 * the free space of its file systems, which other files share.  A move within one file system
 * makes room by the first measure alone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/base/by_oid.h"
#include "src/base/debug.h"
#include "src/base/left_out.h"
#include "src/base/sql.h"
#include "src/decide/forecast.h"
#include "src/decide/tier_fullness.h"
#include "src/server/relation.h"

/*
 * Use that memory serves costs no device time, and tells apart what costs none: as much as this
 * many moves of the relation, half of it where all of it is read once a day.  Rates decay, so
 * that the last use counts, too.
 */
#define MOVES_FOR_USE 10.0
#define HALF_USE_PER_HOUR (1.0 / 24.0)

/* Looks at what comes to the tiers of a chain and has room there. */
#define MOST_ROUNDS 16

/* ---------------------------------------------------------------------
 * How full tiers are
 * ---------------------------------------------------------------------
 */

/*
 * Moves in progress are read before the files: bytes written in between are counted twice rather
 * than missed.
 */
TierFullnessLevel
tier_fullness_level(const TierSet *set, int tier, const TierFullnessQuestion *question)
{
	const TierTier *t = &set->tiers[tier];
	TierFullnessLevel level = {0};

	level.capacity_bytes = t->capacity_bytes;
	level.disk_bytes = t->free_bytes >= 0 ? (double) t->capacity_bytes - t->free_bytes : -INFINITY;
	for (int i = 0; i < set->ntablespaces && question->flight != NULL; i++)
	{
		TierFullnessFlight flight;

		if (set->tablespaces[i].tier != tier)
			continue;
		flight = question->flight(set->tablespaces[i].oid, question->argument);
		level.own_bytes += tier_set_counts_others(set, tier) ? flight.disk_bytes :
			flight.own_bytes;
		level.disk_bytes += flight.disk_bytes;
	}
	level.own_bytes += tier_set_bytes_now(set, tier);
	return level;
}

double
tier_fullness_high_mark(const TierTier *tier)
{
	return tier->emptied_above > 0.0 ? tier->emptied_above : tier->high_watermark;
}

double
tier_fullness_stay_mark(const TierTier *tier)
{
	return tier->emptied_to > 0.0 ? tier->emptied_to : tier->high_watermark;
}

static double
room_of(const TierSet *set, int tier, const TierFullnessQuestion *question)
{
	const TierTier *t = &set->tiers[tier];
	TierFullnessLevel level;

	if (t->capacity_bytes <= 0)
		return INFINITY;
	level = tier_fullness_level(set, tier, question);
	return level.capacity_bytes * Min(tier_fullness_high_mark(t), 1.0 - t->reserve_fraction) -
		tier_fullness_bytes(&level);
}

double
tier_fullness_room(const TierFullnessEvaluation *evaluation, const TierSet *set,
				   const TierFullnessQuestion *question)
{
	return room_of(set, evaluation->target, question);
}

double
tier_fullness_share(const TierFullnessEvaluation *evaluation)
{
	return evaluation->error != NULL ? NAN :
		(tier_fullness_bytes(&evaluation->problem.level) - evaluation->arriving_bytes) /
		evaluation->problem.level.capacity_bytes;
}

/*
 * A tier of a whole file system is at the mark when that is.  One that is declared smaller
 * is when its relations are, and the rest of the file system is free, too.
 */
double
tier_fullness_crash_room(const TierFullnessLevel *level, double high)
{
	return (1.0 - high) * level->capacity_bytes + Max(level->own_bytes - level->disk_bytes, 0.0);
}

bool
tier_fullness_may_lack_crash_room(const TierFullnessLevel *level, double high)
{
	return tier_fullness_crash_room(level, high) < max_wal_size_mb * 1048576.0 - 1.0;
}

/* ---------------------------------------------------------------------
 * Obstacles
 * ---------------------------------------------------------------------
 */

static bool
is_among(Oid relation_oid, const Oid *sorted, int n)
{
	return tier_by_oid_find(relation_oid, sorted, n, sizeof(Oid)) != NULL;
}

static TierFullnessObstacle
because(const char *reason, TierFullnessObstacle obstacle, const char **why)
{
	*why = reason;
	return obstacle;
}

/* The obstacle that is known without looking the relation up. */
static TierFullnessObstacle
known_obstacle(const TierFullnessEvaluation *evaluation, const TierFullnessQuestion *question,
			   const TierAdviceUnit *unit, const char **why)
{
	if (unit->pinned_tier >= 0 && unit->pinned_tier != evaluation->target)
		return because(psprintf("it is pinned to tier \"%s\"",
								NameStr(evaluation->advice->set->tiers[unit->pinned_tier].name)),
					   TIER_FULLNESS_PINNED, why);
	if (unit->immovable != NULL)
		return because(psprintf("it cannot be moved: %s", unit->immovable),
					   TIER_FULLNESS_NOT_ONLINE, why);
	if (OidIsValid(unit->extension_oid) && unit->pinned_tier < 0)
		return because("it belongs to an extension", TIER_FULLNESS_OF_EXTENSION, why);
	if (is_among(unit->relation_oid, question->moved, question->nmoved) ||
		((unit->is_due ||
		  is_among(unit->relation_oid, question->returning, question->nreturning)) &&
		 !is_among(unit->relation_oid, question->in_vain, question->nin_vain)))
		return because("a tiering policy moves it", TIER_FULLNESS_DUE, why);
	if (unit->resides_s > 0.0)
		return because(psprintf("it was moved recently, and stays for another %s",
								tier_advice_duration(unit->resides_s)),
					   TIER_FULLNESS_MOVED_LATELY, why);
	if (unit->size_bytes <= 0.0)
		return because("it is empty", TIER_FULLNESS_EMPTY, why);
	if (tier_by_oid_find(unit->relation_oid, question->backoff, question->nbackoff,
						 sizeof(TierBackoff)) != NULL)
		return because("a recent move of it failed; the view moves shows the next attempt",
					   TIER_FULLNESS_NOT_NOW, why);
	return TIER_FULLNESS_NONE;
}

/*
 * Returns true if a move from one tablespace to the other leaves the file system as full as it
 * is.
 */
static bool
shares_file_system(const TierSet *set, Oid from_oid, Oid to_oid)
{
	const TierTablespace *from = tier_set_tablespace(set, from_oid);
	const TierTablespace *to = tier_set_tablespace(set, to_oid);

	return from != NULL && to != NULL && tier_set_same_file_system(from, to);
}

/* One file system takes a relation as a whole; this is the roomiest of the target. */
static bool
fits_nowhere(const TierSet *set, Oid tablespace_oid, double bytes)
{
	const TierTablespace *place = tier_set_tablespace(set, tablespace_oid);

	return place != NULL && place->device->total_bytes >= 0 &&
		bytes > place->device->free_bytes -
		set->tiers[place->tier].reserve_fraction * place->device->total_bytes;
}

/*
 * These moves are automatic, and the policy has no rights: they need those of the owner, and no
 * lock for the whole copy.
 */
static TierFullnessObstacle
find_obstacle(const TierFullnessEvaluation *evaluation, const TierFullnessQuestion *question,
			  const TierRelationInfo *info, TierFullnessMember *member)
{
	TierFullnessObstacle obstacle = known_obstacle(evaluation, question, member->unit,
												   &member->why);
	char	   *why;

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
	why = !OidIsValid(member->to_tablespace) ? NULL :
		tier_relation_refuse(info, info->owner_oid, member->to_tablespace).message;
	if (OidIsValid(member->to_tablespace) && why == NULL)
		return shares_file_system(evaluation->advice->set, info->tablespace_oid,
								  member->to_tablespace) ||
			!fits_nowhere(evaluation->advice->set, member->to_tablespace,
						  member->unit->size_bytes) ? TIER_FULLNESS_NONE :
			because("it is larger than the room on each file system of the target",
					TIER_FULLNESS_TOO_LARGE, &member->why);
	member->why = why == NULL ? "the target has no tablespace" :
		psprintf("its owner may not move it: %s", why);
	return TIER_FULLNESS_NO_RIGHT;
}

/* ---------------------------------------------------------------------
 * One policy
 * ---------------------------------------------------------------------
 */

/* Seconds that both devices are busy with its move, the flushes of its commits included. */
static double
move_seconds(const TierFullnessEvaluation *evaluation, const TierAdviceUnit *unit)
{
	const TierAdvice *advice = evaluation->advice;

	return tier_advice_move_s(advice, unit, evaluation->target) + TIER_FLUSHES_PER_MOVE *
		Max(advice->set->tiers[evaluation->tier].profile.fsync_ms,
			advice->set->tiers[evaluation->target].profile.fsync_ms) / 1000.0;
}

/* From 0, no use, to 1, by how often it is read as a whole, from wherever. */
static double
use_of(const TierAdviceUnit *unit)
{
	double		blocks = Max(unit->size_bytes / BLCKSZ, 1.0);
	double		per_hour = (unit->loads.misses + unit->loads.hits) / blocks;

	return per_hour / (per_hour + HALF_USE_PER_HOUR);
}

/* Whose it is, where it would go, and whether it may. */
static void
look_at_member(const TierFullnessEvaluation *evaluation, const TierFullnessQuestion *question,
			   const TierSet *set, const TierRelationInfo *info, int i)
{
	TierFullnessMember *member = &evaluation->members[i];

	member->owner_oid = info->owner_oid;
	member->to_tablespace = tier_set_usable_tablespace(set, evaluation->target, info->owner_oid);
	member->why = NULL;
	evaluation->units[i].obstacle = find_obstacle(evaluation, question, info, member);
}

/* Returns true if the relation is still on the tier.  Otherwise it does not leave. */
static bool
is_there(TierFullnessEvaluation *evaluation, const TierSet *set, int i, TierRelationInfo *info)
{
	if (tier_relation_lookup(evaluation->members[i].unit->relation_oid, info) &&
		tier_set_tier_of_tablespace(set, info->tablespace_oid) == evaluation->tier)
		return true;
	evaluation->units[i].obstacle = TIER_FULLNESS_NOT_NOW;
	evaluation->members[i].why = "it no longer exists";
	return false;
}

bool
tier_fullness_look_again(TierFullnessEvaluation *evaluation, const TierFullnessQuestion *question,
						 const TierSet *set, int i)
{
	TierRelationInfo info;

	if (is_there(evaluation, set, i, &info))
		look_at_member(evaluation, question, set, &info, i);
	return evaluation->units[i].obstacle == TIER_FULLNESS_NONE;
}

/* The input for the evaluation of the units of a tier. */
typedef struct Asking
{
	TierFullnessEvaluation *evaluation;
	const TierFullnessQuestion *question;
} Asking;

static Oid
unit_oid(const void *argument, int i)
{
	return ((const Asking *) argument)->evaluation->advice->units[i].relation_oid;
}

/* One that fails does not leave. */
static void
leave_out_unit(void *argument, int i, char *message)
{
}

static void
add_member(void *argument, int u)
{
	TierFullnessEvaluation *evaluation = ((Asking *) argument)->evaluation;
	const TierFullnessQuestion *question = ((Asking *) argument)->question;
	const TierAdvice *advice = evaluation->advice;
	const TierAdviceUnit *unit = &advice->units[u];
	int			i = evaluation->problem.nunits;
	TierFullnessMember *member = &evaluation->members[i];
	TierFullnessUnit *model = &evaluation->units[i];
	TierRelationInfo info;

	if (unit->current_tier != evaluation->tier)
		return;
	tier_debug_relation("leave", unit->relation_oid);
	if (!tier_relation_lookup(unit->relation_oid, &info))
		return;
	member->unit = unit;
	look_at_member(evaluation, question, advice->set, &info, i);
	model->own_bytes = tier_advice_stored(advice, unit, evaluation->tier);
	model->disk_bytes = shares_file_system(advice->set, info.tablespace_oid,
										   member->to_tablespace) ? 0.0 : model->own_bytes;
	model->target_bytes = tier_advice_stored(advice, unit, evaluation->target);
	model->lost_s = tier_advice_busy(advice, unit, evaluation->target) -
		tier_advice_busy(advice, unit, evaluation->tier);
	model->move_s = move_seconds(evaluation, unit) / advice->options.horizon_hours;
	model->used_s = MOVES_FOR_USE * model->move_s * use_of(unit);

	/* A unit with almost no observation may be hot. */
	model->reluctance = unit->proven_s < tier_units_required_s() ? 1 : 0;
	if (question->due_leave && unit->is_due)
	{
		evaluation->problem.level.own_bytes -= model->own_bytes;
		evaluation->problem.level.disk_bytes -= model->disk_bytes;
	}
	evaluation->problem.nunits++;
}

/* Those that the policy does not have are the tier's. */
static void
set_marks(TierFullnessEvaluation *evaluation, const TierTier *tier)
{
	const TierFullnessRow *policy = evaluation->policy;

	evaluation->problem.high = isnan(policy->high_watermark) ? tier->high_watermark :
		policy->high_watermark;
	evaluation->problem.low = isnan(policy->low_watermark) ? tier->low_watermark :
		policy->low_watermark;
}

/* Returns NULL if the tiers of the policy are valid; else why not. */
static char *
check_policy(const TierFullnessEvaluation *evaluation, const TierSet *set)
{
	const TierTier *tier = &set->tiers[evaluation->tier];
	const TierTier *target = &set->tiers[evaluation->target];

	if (target->rank <= tier->rank)
		return psprintf("tier \"%s\" is not slower than tier \"%s\"", NameStr(target->name),
						NameStr(tier->name));
	if (!(evaluation->problem.low > 0.0 && evaluation->problem.low < evaluation->problem.high &&
		  evaluation->problem.high <= 1.0))
		return psprintf("its low watermark of %s is not below its high one of %s",
						tier_given_text(evaluation->problem.low),
						tier_given_text(evaluation->problem.high));
	if (tier->capacity_bytes <= 0)
		return psprintf("the capacity of tier \"%s\" is not known", NameStr(tier->name));
	if (evaluation->advice->why_closed[evaluation->target] != NULL)
		return psprintf("tier \"%s\" %s", NameStr(target->name),
						evaluation->advice->why_closed[evaluation->target]);
	return NULL;
}

static void
begin_evaluation(TierFullnessEvaluation *evaluation, const TierAdvice *advice,
				 TierFullnessRow *policy, const TierFullnessQuestion *question)
{
	Asking		asking = {evaluation, question};
	const TierEach each = {advice->nunits, unit_oid, add_member, leave_out_unit, &asking};
	const TierTier *tier;
	TierPass	pass;
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
	set_marks(evaluation, tier);
	evaluation->error = check_policy(evaluation, advice->set);
	if (evaluation->error != NULL)
		return;
	for (int i = 0; i < advice->nunits; i++)
		n += advice->units[i].current_tier == evaluation->tier;
	evaluation->units = palloc_extended(sizeof(TierFullnessUnit) * Max(n, 1),
										MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	evaluation->members = palloc_extended(sizeof(TierFullnessMember) * Max(n, 1),
										  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	evaluation->result.verdicts = palloc_extended(sizeof(TierFullnessVerdict) * Max(n, 1),
												  MCXT_ALLOC_HUGE);
	evaluation->result.order = palloc_extended(sizeof(int) * Max(n, 1), MCXT_ALLOC_HUGE);
	evaluation->result.scratch = palloc_extended(sizeof(int) * Max(n, 1), MCXT_ALLOC_HUGE);
	evaluation->problem.units = evaluation->units;
	evaluation->problem.has_begun = list_member_int(question->begun, policy->policy_id);
	evaluation->room_bytes = tier_fullness_room(evaluation, advice->set, question);
	evaluation->problem.target_bytes = INFINITY;
	evaluation->problem.level = tier_fullness_level(advice->set, evaluation->tier, question);
	tier_pass_begin(&pass, TIER_STEP_PLAN);
	tier_pass_each(&pass, &each);
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

bool
tier_fullness_has_turn(const TierFullnessEvaluation *evaluation,
					   const TierFullnessQuestion *question)
{
	const ListCell *cell;

	foreach(cell, question->not_yet)
	{
		if (strcmp(lfirst(cell), NameStr(evaluation->policy->tier_name)) == 0)
			return false;
	}
	return evaluation->policy->is_enabled && evaluation->error == NULL;
}

static TierFullnessEvaluation *
evaluation_of(TierFullnessEvaluation *evaluations, int n, int tier)
{
	for (int i = 0; i < n; i++)
		if (evaluations[i].tier == tier && evaluations[i].error == NULL)
			return &evaluations[i];
	return NULL;
}

/* So much is about to come. */
static void
expect(TierFullnessEvaluation *evaluation, double bytes)
{
	evaluation->arriving_bytes += bytes;
	evaluation->problem.level.own_bytes += bytes;
	evaluation->problem.level.disk_bytes += bytes;
}

/*
 * From the fastest tier down: units that leave a tier are about to arrive at the next one, as far
 * as it has room.  Units that have no turn yet are not.
 */
static void
pass_on(TierFullnessEvaluation *evaluations, int n, const TierFullnessQuestion *question)
{
	for (int i = 0; i < n; i++)
	{
		TierFullnessLevel *level = &evaluations[i].problem.level;

		level->own_bytes -= evaluations[i].arriving_bytes;
		level->disk_bytes -= evaluations[i].arriving_bytes;
		evaluations[i].arriving_bytes = evaluations[i].passed_bytes = 0.0;
	}
	for (int i = n - 1; i >= 0; i--)
	{
		TierFullnessEvaluation *from = &evaluations[i];
		TierFullnessEvaluation *to = evaluation_of(evaluations, n, from->target);

		if (!tier_fullness_has_turn(from, question) || to == NULL)
			continue;
		tier_fullness_decide(&from->problem, &from->result);
		from->passed_bytes = from->result.arriving_bytes;
		expect(to, from->passed_bytes);
	}
}

/* The room of a tier: with the units that other tiers send first, and after its own have left. */
static void
find_room(TierFullnessEvaluation *evaluations, int i, int n, const TierFullnessQuestion *question)
{
	TierFullnessEvaluation *evaluation = &evaluations[i];
	TierFullnessProblem *problem = &evaluation->problem;
	const TierFullnessEvaluation *next = evaluation_of(evaluations, n, evaluation->target);

	problem->target_bytes = evaluation->room_bytes;
	for (int j = 0; j < i; j++)
		if (tier_fullness_has_turn(&evaluations[j], question) &&
			evaluations[j].target == evaluation->target)
			problem->target_bytes -= evaluations[j].result.arriving_bytes;
	if (next == NULL || !next->policy->is_enabled)
		return;
	problem->later_bytes = problem->target_bytes + tier_fullness_can_leave(&next->problem);
	if (!tier_fullness_has_turn(next, question))
		return;
	problem->target_bytes += next->result.leaving_bytes;
}

/* From the slowest tier up: units that leave make room for those that arrive. */
static void
decide_all(TierFullnessEvaluation *evaluations, int n, const TierFullnessQuestion *question)
{
	for (int i = 0; i < n; i++)
	{
		if (evaluations[i].error != NULL)
			continue;
		find_room(evaluations, i, n, question);
		tier_fullness_decide(&evaluations[i].problem, &evaluations[i].result);
	}
}

/* Returns true if a unit that was to arrive has no room, whatever leaves its target. */
static bool
comes_less(const TierFullnessEvaluation *evaluations, int n)
{
	for (int i = 0; i < n; i++)
		if (evaluations[i].result.arriving_bytes < evaluations[i].passed_bytes)
			return true;
	return false;
}

/*
 * A tier makes room for relations that another tier sends, and these depend on the room that
 * it makes.  At first all relations that should come are expected; then those that have room
 * after the departures for them, which are never more, until all expected relations come.  A
 * chain that does not converge soon expects none: each tier is then evaluated separately.
 */
static void
settle(TierFullnessEvaluation *evaluations, int n, const TierFullnessQuestion *question)
{
	for (int round = 0; round < MOST_ROUNDS; round++)
	{
		CHECK_FOR_INTERRUPTS();
		pass_on(evaluations, n, question);
		decide_all(evaluations, n, question);
		if (!comes_less(evaluations, n))
			return;
	}
	for (int i = 0; i < n; i++)
		evaluations[i].problem.target_bytes = -INFINITY;
	pass_on(evaluations, n, question);
	decide_all(evaluations, n, question);
}

TierFullnessEvaluation *
tier_fullness_evaluate(const TierFullnessQuestion *question, int *n)
{
	MemoryContext context = CurrentMemoryContext;
	TierFullnessEvaluation *evaluations;
	TierAdviceOptions options;
	TierCatalogScope scope;
	TierAdvice *advice;

	tier_catalog_enter(&scope);
	(void) tier_catalog_load_fullness(context, n);
	tier_catalog_leave(&scope);
	if (*n == 0)
		return NULL;
	tier_advice_default_options(&options);
	advice = tier_advice_load(&options);
	*n = advice->nfullness;
	tier_advice_add_bytes(advice, advice->now_bytes);
	evaluations = palloc0(sizeof(TierFullnessEvaluation) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
		begin_evaluation(&evaluations[i], advice, &advice->fullness[i], question);
	qsort(evaluations, *n, sizeof(TierFullnessEvaluation), compare_evaluations);
	settle(evaluations, *n, question);
	return evaluations;
}
