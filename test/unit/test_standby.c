/*-------------------------------------------------------------------------
 *
 * test_standby.c
 *		Tests of layouts that suit a primary and its standbys.  Prints TAP; run it by
 *		test/unit/run.
 *
 * Optima come from brute force.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "src/model/feasible.h"
#include "src/model/placement.h"
#include "src/model/standby.h"

#define UNITS 8
#define TIERS 2
#define CELLS (UNITS * TIERS)

static double busy[CELLS];
static double occupied[CELLS];
static double standby[CELLS];
static double zero[CELLS];
static double bytes[CELLS];
static bool allowed[CELLS];
static int	current[UNITS];
static double unlimited[TIERS] = {INFINITY, INFINITY};

static void *
allocate(size_t size)
{
	return malloc(size > 0 ? size : 1);
}

static void
test_cost(void)
{
	TierCostProfile here = {.random_read_ms = 0.1,.random_write_ms = 0.2,
	.sequential_read_mb_per_s = 819.2,.sequential_write_mb_per_s = 819.2,.parallelism = 1};
	TierCostProfile there[2] = {here, here};
	TierStandbyShare none[2] = {{0, 0}, {0, 0}};
	TierStandbyShare half = {0.5, 0.0};
	TierStandbyShare some[2] = {{0.5, 0.25}, {0.25, 0.75}};
	TierCostLoad load = {.random_reads = 1e6,.sequential_reads = 1e6,.page_writes = 1e6};
	TierCost	cost = tier_standby_cost(&load, &here, NULL, NULL, 0);

	/* 1e6 * 0.1 ms + 8.192e9 / 819.2e6 + 1e6 * 0.2 ms */
	is(cost.busy_s, 100 + 10 + 200, "without standbys: as on one server");
	is(cost.standby_occupied_s, 0, "whose devices have nothing to do");

	there[0].random_read_ms = 1.0;
	cost = tier_standby_cost(&load, &here, there, &half, 1);
	is(cost.busy_s, (50 + 10 + 200) + (500 + 200), "half of the reads there, all writes in both");
	is(cost.occupied_s, 50 + 10 + 200, "the primary's device does the rest");
	is(cost.standby_occupied_s, 500 + 200, "and the standby's its part");

	cost = tier_standby_cost(&load, &here, there, some, 2);
	is(cost.busy_s, (25 + 0 + 200) + (500 + 2.5 + 200) + (25 + 7.5 + 200), "two standbys");
	is(cost.standby_occupied_s, 500 + 2.5 + 200, "of which one has most to do");
	cost = tier_standby_cost(&load, &here, there, none, 2);
	is(cost.occupied_s, 100 + 10 + 200, "reads of neither are the primary's");
	some[0].random = some[1].random = NAN;
	cost = tier_standby_cost(&load, &here, there, some, 2);
	ok(cost.busy_s > 0 && cost.busy_s <= 1e9, "no share is nothing");
	some[0].random = some[1].random = 7.0;
	is(tier_standby_rest(&load, some, 2).random_reads, 0, "nobody reads less than nothing");
}

/* The least sum of busy with no device above its limit; INFINITY: there is none. */
static double
brute_force(void)
{
	double		best = INFINITY;

	for (int choice = 0; choice < 1 << UNITS; choice++)
	{
		double		used[TIERS] = {0, 0};
		double		used_there[TIERS] = {0, 0};
		double		sum = 0;

		for (int u = 0; u < UNITS; u++)
		{
			int			t = (choice >> u) & 1;

			sum += busy[u * TIERS + t];
			used[t] += occupied[u * TIERS + t];
			used_there[t] += standby[u * TIERS + t];
		}
		if (used[0] <= 2160 && used[1] <= 2160 && used_there[0] <= 2160 && used_there[1] <= 2160)
			best = fmin(best, sum);
	}
	return best;
}

/* From scratch, so that only costs and limits count; without queues, which are others' matter. */
static void
test_placement(void)
{
	int			limited = 0;

	for (int round = 0; round < 200; round++)
	{
		TierPlacementProblem problem = {.nunits = UNITS,.ntiers = TIERS,.busy_s = busy,
			.occupied_s = occupied,.standby_occupied_s = standby,.wait_s = zero,
			.written_bytes = zero,.stored_bytes = bytes,.price = zero,.move_s = zero,
			.allowed = allowed,.current = current,.available_bytes = unlimited,
			.endurance_bytes_per_day = unlimited,.clients = 1,.horizon_hours = 720,
			.objective = TIER_OBJECTIVE_TIME,.price_per_wait_hour = NAN,.alloc = allocate,
		.release = free};
		int			tier[UNITS];
		TierPlacementTotals after[TIERS] = {0};
		TierPlacementResult result = {.tier = tier,.after = after};
		double		expected;
		double		sum = 0;

		for (int u = 0; u < UNITS; u++)
		{
			current[u] = -1;
			for (int t = 0; t < TIERS; t++)
			{
				int			cell = u * TIERS + t;

				allowed[cell] = true;
				bytes[cell] = 1;
				occupied[cell] = 100.0 * random_unit();
				standby[cell] = random_int(1000) * (t == 0 ? 0.8 : 0.4);
				busy[cell] = occupied[cell] + standby[cell] * (t == 0 ? 0.1 : 1.0);
			}
		}
		expected = brute_force();
		tier_placement_solve(&problem, &result);
		for (int u = 0; u < UNITS; u++)
			sum += busy[u * TIERS + tier[u]];
		if (isinf(expected))
			continue;
		limited += result.after[0].standby_occupied_s > 1900;
		if (after[0].standby_occupied_s > 2160.1 || after[1].standby_occupied_s > 2160.1 ||
			sum > expected * (1 + 1e-6) || result.status == TIER_SOLVER_INFEASIBLE)
		{
			ok(false, "a layout that suits both, the best one");
			printf("# round %d: %g instead of %g, %g there\n", round, sum, expected,
				   after[0].standby_occupied_s);
			return;
		}
	}
	ok(true, "a layout that suits both, the best one");
	ok(limited > 20, "in many of which the standby's device is the limit");
}

int
main(void)
{
	test_cost();
	test_placement();
	return done();
}
