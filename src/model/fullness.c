/*-------------------------------------------------------------------------
 *
 * model/fullness.c
 *		Which relations leave a tier that has become too full, and in which order.
 *
 * The cheapest set of relations that together make enough room is a knapsack turned
 * around.  Taking the coldest until it is enough may end with a large relation of
 * which a small part would do, while a smaller one is nearly as cold.  So each
 * relation that would complete the set is compared, and passed over to see whether
 * smaller ones after it do better.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>

#include "src/model/fullness.h"

/* Differences of sums that are due to rounding, as a share of the capacity. */
#define ROUNDING 1e-12

double
tier_fullness_bytes(const TierFullnessLevel *level)
{
	return level->disk_bytes > level->own_bytes ? level->disk_bytes : level->own_bytes;
}

/* Seconds per hour that it costs to have it elsewhere, its move included. */
static double
cost_of(const TierFullnessUnit *unit)
{
	return unit->lost_s + unit->used_s + unit->move_s;
}

static double
bytes_of(const TierFullnessUnit *unit)
{
	return unit->own_bytes > unit->disk_bytes ? unit->own_bytes : unit->disk_bytes;
}

/* ---------------------------------------------------------------------
 * The order
 * ---------------------------------------------------------------------
 */

static double
density_of(const TierFullnessUnit *unit)
{
	double		bytes = bytes_of(unit);

	return cost_of(unit) / (bytes > 1.0 ? bytes : 1.0);
}

/* The input of compare_units() while tier_fullness_arrange() runs. */
static const TierFullnessUnit *compared_units;

static int
compare_units(const void *a, const void *b)
{
	int			i = *(const int *) a;
	int			j = *(const int *) b;
	double		left = density_of(&compared_units[i]);
	double		right = density_of(&compared_units[j]);

	if (compared_units[i].reluctance != compared_units[j].reluctance)
		return compared_units[i].reluctance - compared_units[j].reluctance;
	return left != right ? (left < right ? -1 : 1) : i - j;
}

void
tier_fullness_arrange(const TierFullnessProblem *problem, TierFullnessResult *result)
{
	int			n = 0;

	for (int i = 0; i < problem->nunits; i++)
		if (problem->units[i].obstacle == TIER_FULLNESS_NONE)
			result->order[n++] = i;
	result->norder = n;
	compared_units = problem->units;
	qsort(result->order, (size_t) n, sizeof(int), compare_units);
}

/* ---------------------------------------------------------------------
 * The decision
 * ---------------------------------------------------------------------
 */

/* The excess that remains after some units have left. */
typedef struct State
{
	double		own;			/* bytes above the low watermark, by each of
								 * the two measures; 0 or less: it is reached */
	double		disk;
	double		room;			/* left on the target */
	double		cost;			/* of the units that have left */
	double		bytes;
} State;

static State
state_of(const TierFullnessProblem *problem)
{
	const TierFullnessLevel *level = &problem->level;
	double		wanted = level->capacity_bytes * (problem->low + ROUNDING);

	return (State)
	{
		.own = level->own_bytes - wanted,.disk = level->disk_bytes - wanted,
			.room = problem->target_bytes
	};
}

static bool
is_reached(const State *state)
{
	return state->own <= 0.0 && state->disk <= 0.0;
}

static State
without(const State *state, const TierFullnessUnit *unit)
{
	State		after = *state;

	after.own -= unit->own_bytes;
	after.disk -= unit->disk_bytes;
	after.room -= unit->target_bytes;
	after.cost += cost_of(unit);
	after.bytes += bytes_of(unit);
	return after;
}

/* Returns true if the unit reduces the remaining excess. */
static bool
is_useful(const State *state, const TierFullnessUnit *unit)
{
	return (state->own > 0.0 && unit->own_bytes > 0.0) ||
		(state->disk > 0.0 && unit->disk_bytes > 0.0);
}

static bool
is_cheaper(const State *left, const State *right)
{
	return left->cost != right->cost ? left->cost < right->cost : left->bytes < right->bytes;
}

/*
 * Fills chosen with some units of the order that are enough, or with all that help if no set is;
 * returns how many.  *after: the excess that remains.
 */
static int
choose(const TierFullnessProblem *problem, TierFullnessResult *result, int *chosen, State *after)
{
	State		state = state_of(problem);
	State		best = state;
	int			best_last = -1; /* completes the set */
	int			best_taken = 0; /* and so many of chosen before it */
	int			n = 0;

	for (int i = 0; i < result->norder; i++)
	{
		int			u = result->order[i];
		const TierFullnessUnit *unit = &problem->units[u];
		State		next = without(&state, unit);

		if (best_last >= 0 && unit->reluctance > problem->units[best_last].reluctance)
			break;				/* without these it is enough */
		if (!is_useful(&state, unit))
			result->verdicts[u] = TIER_FULLNESS_FREES_NOTHING;
		else if (next.room < 0.0)
			result->verdicts[u] = TIER_FULLNESS_NO_ROOM;
		else if (!is_reached(&next))
		{
			chosen[n++] = u;
			state = next;
		}
		else if (best_last < 0 || is_cheaper(&next, &best))
		{
			best = next;
			best_last = u;
			best_taken = n;
		}
	}
	*after = state;
	if (best_last < 0)
		return n;
	*after = best;
	chosen[best_taken] = best_last;
	return best_taken + 1;
}

/* Leaves out those without which the rest is enough, the hottest first. */
static int
prune(const TierFullnessProblem *problem, int *chosen, int n, State *after)
{
	int			kept = 0;

	for (int i = n - 1; i >= 0; i--)
	{
		const TierFullnessUnit *unit = &problem->units[chosen[i]];
		State		with = *after;

		with.own += unit->own_bytes;
		with.disk += unit->disk_bytes;
		if (!is_reached(&with))
			continue;
		*after = with;
		after->bytes -= bytes_of(unit);
		chosen[i] = -1;
	}
	for (int i = 0; i < n; i++)
		if (chosen[i] >= 0)
			chosen[kept++] = chosen[i];
	return kept;
}

void
tier_fullness_decide(const TierFullnessProblem *problem, TierFullnessResult *result)
{
	const TierFullnessLevel *level = &problem->level;
	double		begins = problem->has_begun ? problem->low : problem->high;
	double		bytes = tier_fullness_bytes(level);
	State		after;

	result->is_needed = bytes > level->capacity_bytes * (begins + ROUNDING);
	result->is_enough = !result->is_needed;
	result->nleaving = 0;
	result->leaving_bytes = 0.0;
	result->arriving_bytes = 0.0;
	result->after_bytes = bytes;
	for (int i = 0; i < problem->nunits; i++)
		result->verdicts[i] = problem->units[i].obstacle != TIER_FULLNESS_NONE ?
			TIER_FULLNESS_OBSTACLE :
			result->is_needed ? TIER_FULLNESS_STAYS : TIER_FULLNESS_NOT_NEEDED;
	if (!result->is_needed)
		return;
	result->nleaving = choose(problem, result, result->scratch, &after);
	result->is_enough = is_reached(&after);
	if (result->is_enough)
		result->nleaving = prune(problem, result->scratch, result->nleaving, &after);
	for (int i = 0; i < result->nleaving; i++)
	{
		result->verdicts[result->scratch[i]] = TIER_FULLNESS_LEAVES;
		result->arriving_bytes += problem->units[result->scratch[i]].target_bytes;
	}
	result->leaving_bytes = after.bytes;
	result->after_bytes = level->capacity_bytes * problem->low +
		(after.own > after.disk ? after.own : after.disk);
}

/* ---------------------------------------------------------------------
 * The forecast
 * ---------------------------------------------------------------------
 */

double
tier_fullness_may_leave(const TierFullnessProblem *problem)
{
	bool		by_disk = problem->level.disk_bytes > problem->level.own_bytes;
	double		bytes = 0.0;

	for (int i = 0; i < problem->nunits; i++)
	{
		const TierFullnessUnit *unit = &problem->units[i];

		if (unit->obstacle == TIER_FULLNESS_NONE)
			bytes += by_disk ? unit->disk_bytes : unit->own_bytes;
	}
	return bytes;
}

double
tier_fullness_can_leave(const TierFullnessProblem *problem)
{
	double		leaving = tier_fullness_may_leave(problem);
	double		room = problem->later_bytes > problem->target_bytes ? problem->later_bytes :
	problem->target_bytes;

	if (room < leaving)
		leaving = room;
	return leaving > 0.0 ? leaving : 0.0;
}
