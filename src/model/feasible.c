/*-------------------------------------------------------------------------
 *
 * model/feasible.c
 *		Which limits a placement can keep: as asked, or raised by as little as
 *		possible.
 *
 * One resource after the other: of the tiers that have too much of it in the placement
 * at hand the solver makes the sum as small as possible, while all others keep
 * their limits.  The placement at hand is one of the possible answers, so that it only
 * gets better, and each resource that has enough on all tiers costs nothing.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "src/model/feasible.h"

#define S_PER_HOUR 3600.0

/* Rounding in sums of what is there now must not make it too much. */
#define ROUNDING 1e-9

/* Without this much more than the least, nothing but a puzzle of sizes would be left. */
#define GIVE_WAY 5e-3

/* Tiers that turn out to have enough let the others have less; then again. */
#define MAX_TRIES 3

typedef struct Work
{
	const TierPlacementProblem *problem;
	bool		over[TIER_SOLVER_MAX_TIERS];
	TierPlacementTotals totals[TIER_SOLVER_MAX_TIERS];
	TierPlacementTotals start[TIER_SOLVER_MAX_TIERS];	/* of the first
														 * placement */
	int		   *home;			/* that placement */
	double	   *cost;
	double	   *use;
	int		   *tier;
} Work;

double
tier_feasible_used(const TierPlacementTotals *total, TierPlacementResource resource)
{
	const double of[TIER_PLACEMENT_RESOURCES] = {
		total->bytes, total->occupied_s, total->written_bytes
	};

	return of[resource];
}

static bool
is_over(const TierPlacementTotals *total, const TierPlacementLimits *limit, int resource)
{
	return tier_feasible_used(total, (TierPlacementResource) resource) >
		limit->of[resource] * (1.0 + ROUNDING);
}

bool
tier_feasible_keeps(const TierPlacementProblem *problem, const TierPlacementTotals *totals,
					const TierPlacementLimits *limits)
{
	for (int t = 0; t < problem->ntiers; t++)
		for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
			if (is_over(&totals[t], &limits[t], r))
				return false;
	return true;
}

/* How many are where they must not be, though they may be somewhere. */
static int
count_misplaced(const TierPlacementProblem *problem, const int *placement)
{
	int			misplaced = 0;

	for (int u = 0; u < problem->nunits; u++)
	{
		bool		may = false;

		if (placement[u] >= 0 && tier_placement_may_live(problem, u, placement[u]))
			continue;
		for (int t = 0; t < problem->ntiers; t++)
			may |= tier_placement_may_live(problem, u, t);
		misplaced += may;
	}
	return misplaced;
}

/* Beyond the limits, all tiers together. */
static double
excess(const Work *work, const TierPlacementLimits *limits, int resource)
{
	double		sum = 0.0;

	for (int t = 0; t < work->problem->ntiers; t++)
		sum += fmax(0.0, tier_feasible_used(&work->totals[t], (TierPlacementResource) resource) -
					limits[t].of[resource]);
	return sum;
}

/* Where units are; those that are nowhere go where there is most room. */
static void
begin_placement(Work *work, int *placement)
{
	const TierPlacementProblem *problem = work->problem;

	tier_placement_add_up(problem, problem->current, work->totals);
	for (int u = 0; u < problem->nunits; u++)
	{
		int			from = problem->current[u];
		double		most = -INFINITY;

		placement[u] = from;
		for (int t = 0; from < 0 && t < problem->ntiers; t++)
		{
			double		room = problem->available_bytes[t] - work->totals[t].bytes;

			if (!tier_placement_may_live(problem, u, t) || room <= most)
				continue;
			most = room;
			placement[u] = t;
		}
	}
	memcpy(work->home, placement, sizeof(int) * problem->nunits);
	tier_placement_add_up(problem, placement, work->totals);
	memcpy(work->start, work->totals, sizeof(TierPlacementTotals) * problem->ntiers);
}

void
tier_feasible_ask(const TierPlacementProblem *problem, TierPlacementLimits *asked)
{
	TierPlacementTotals now[TIER_SOLVER_MAX_TIERS];

	tier_placement_add_up(problem, problem->current, now);
	for (int t = 0; t < problem->ntiers; t++)
	{
		asked[t].of[TIER_RESOURCE_BYTES] = problem->available_bytes[t];
		asked[t].of[TIER_RESOURCE_BUSY] =
			fmax(TIER_PLACEMENT_BUSY_LIMIT * S_PER_HOUR, now[t].occupied_s) * (1.0 + ROUNDING);
		asked[t].of[TIER_RESOURCE_ENDURANCE] =
			fmax(problem->endurance_bytes_per_day[t], now[t].written_bytes) * (1.0 + ROUNDING);
	}
}

/*
 * The least sum of a resource on the tiers that are marked, within the limits, beginning with
 * a placement.  True if
 * there is one that keeps them; it is in the work, with its totals.
 */
static bool
minimise(Work *work, int resource, const TierPlacementLimits *limits,
		 const bool *is_closed, const int *start)
{
	const TierPlacementProblem *problem = work->problem;
	int			ntiers = problem->ntiers;
	double		limit[TIER_SOLVER_MAX_TIERS * TIER_PLACEMENT_RESOURCES];
	TierSolverProblem call = {0};
	TierSolverResult solved = {0};

	for (int u = 0; u < problem->nunits; u++)
		for (int t = 0; t < ntiers; t++)
		{
			size_t		cell = (size_t) u * ntiers + t;

			for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
				work->use[cell * TIER_PLACEMENT_RESOURCES + r] =
					tier_placement_use(problem, cell, (TierPlacementResource) r);
			work->cost[cell] = !tier_placement_may_live(problem, u, t) ||
				(is_closed[t] && work->home[u] != t) ? INFINITY :
				work->over[t] ?
				tier_placement_use(problem, cell, (TierPlacementResource) resource) : 0.0;
		}
	for (int t = 0; t < ntiers; t++)
		for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
			limit[t * TIER_PLACEMENT_RESOURCES + r] = limits[t].of[r];
	call.nunits = problem->nunits;
	call.ntiers = ntiers;
	call.nresources = TIER_PLACEMENT_RESOURCES;
	call.cost = work->cost;
	call.use = work->use;
	call.limit = limit;
	call.start = start;
	call.quick = problem->quick;
	call.alloc = problem->alloc;
	call.release = problem->release;
	call.interrupted = problem->interrupted;
	call.interrupted_argument = problem->interrupted_argument;
	solved.tier = work->tier;
	tier_solver_solve(&call, &solved);
	tier_placement_add_up(problem, work->tier, work->totals);
	return tier_feasible_keeps(problem, work->totals, limits);
}

/* Marks the tiers that have too much of it; true if that is another set than before. */
static bool
mark_over(Work *work, int resource, const TierPlacementLimits *asked)
{
	bool		changed = false;

	for (int t = 0; t < work->problem->ntiers; t++)
	{
		bool		over = is_over(&work->totals[t], &asked[t], resource);

		changed |= over != work->over[t];
		work->over[t] = over;
	}
	return changed;
}

/* One try to make the placement exceed the limits of a resource by less; false: it did not. */
static bool
relieve(Work *work, int resource, const TierPlacementLimits *asked,
		const TierPlacementLimits *kept, int *placement)
{
	const TierPlacementProblem *problem = work->problem;
	TierPlacementLimits limits[TIER_SOLVER_MAX_TIERS];
	bool		closed[TIER_SOLVER_MAX_TIERS];
	double		before = excess(work, asked, resource);
	int			misplaced = count_misplaced(problem, placement);
	int			misplaced_after;

	if (before <= 0.0 && (misplaced == 0 || resource != TIER_RESOURCE_BYTES))
		return false;
	for (int t = 0; t < problem->ntiers; t++)
	{
		limits[t] = kept[t];
		for (int r = resource; r < TIER_PLACEMENT_RESOURCES; r++)
			limits[t].of[r] = r > resource || work->over[t] ? INFINITY : asked[t].of[r];
		closed[t] = resource == TIER_RESOURCE_BYTES ? work->over[t] :
			kept[t].of[TIER_RESOURCE_BYTES] > asked[t].of[TIER_RESOURCE_BYTES];
	}
	if (!minimise(work, resource, limits, closed, placement))
		return false;
	misplaced_after = count_misplaced(problem, work->tier);
	if (misplaced_after > misplaced ||
		(misplaced_after == misplaced && excess(work, asked, resource) >= before))
		return false;
	memcpy(placement, work->tier, sizeof(int) * problem->nunits);
	return true;
}

/* Makes the placement exceed the limits of a resource by less, and keeps what is left. */
static void
relax(Work *work, int resource, const TierPlacementLimits *asked, TierPlacementLimits *kept,
	  int *placement)
{
	memset(work->over, 0, sizeof(work->over));
	for (int i = 0; i < MAX_TRIES; i++)
		if ((!mark_over(work, resource, asked) && i > 0) ||
			!relieve(work, resource, asked, kept, placement))
			break;
	tier_placement_add_up(work->problem, placement, work->totals);
	for (int t = 0; t < work->problem->ntiers; t++)
	{
		double		used = tier_feasible_used(&work->totals[t], (TierPlacementResource) resource);
		double		most = resource != TIER_RESOURCE_BYTES ? INFINITY :
		tier_feasible_used(&work->start[t], TIER_RESOURCE_BYTES);

		kept[t].of[resource] = !is_over(&work->totals[t], &asked[t], resource) ?
			asked[t].of[resource] : fmax(used, fmin(used * (1.0 + GIVE_WAY), most));
	}
}

static void
begin_work(Work *work, const TierPlacementProblem *problem)
{
	size_t		ncells = (size_t) problem->nunits * problem->ntiers;
	size_t		nunits = problem->nunits;

	memset(work, 0, sizeof(*work));
	work->problem = problem;
	work->cost = problem->alloc(sizeof(double) * ncells + 1);
	work->use = problem->alloc(sizeof(double) * ncells * TIER_PLACEMENT_RESOURCES + 1);
	work->home = problem->alloc(sizeof(int) * nunits + 1);
	work->tier = problem->alloc(sizeof(int) * nunits + 1);
}

static void
end_work(Work *work)
{
	work->problem->release(work->cost);
	work->problem->release(work->use);
	work->problem->release(work->home);
	work->problem->release(work->tier);
}

void
tier_feasible_limits(const TierPlacementProblem *problem, TierPlacementLimits *asked,
					 TierPlacementLimits *kept, int *placement)
{
	Work		work;

	begin_work(&work, problem);
	begin_placement(&work, placement);
	tier_feasible_ask(problem, asked);
	memcpy(kept, asked, sizeof(TierPlacementLimits) * problem->ntiers);
	for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
		relax(&work, r, asked, kept, placement);
	end_work(&work);
}
