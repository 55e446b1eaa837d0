/*-------------------------------------------------------------------------
 *
 * test_solver.c
 *		Tests of the solver.  Prints TAP; run it by test/unit/run.
 *
 * First the problem with sizes alone, in fixtures computed by hand and in random
 * instances; then all the rest: several resources, pins, prices of limits, what
 * is missing, many units, effort, interruption, and numbers that make no sense.
 * Optima come from brute force and dynamic programming.  Random instances have a
 * fixed seed, so a failure repeats.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "src/model/solver/solver.h"


/*-------------------------------------------------------------------------
 * Fixtures
 *-------------------------------------------------------------------------
 */

#define MAX_UNITS 3000
#define MAX_TIERS 4
#define INF INFINITY

static int	allocations = 0;

static void *
counting_alloc(size_t bytes)
{
	void	   *ptr = malloc(bytes);

	if (bytes == 0 || ptr == NULL)
		abort();
	memset(ptr, 0x7f, bytes);	/* nobody may rely on zeros */
	allocations++;
	return ptr;
}

static void
counting_release(void *ptr)
{
	allocations--;
	free(ptr);
}

/* A problem with its arrays, and the answer. */
typedef struct Case
{
	TierSolverProblem problem;
	TierSolverResult result;
	double		cost[MAX_UNITS * MAX_TIERS];
	double		price[MAX_UNITS * MAX_TIERS];
	double		size[MAX_UNITS];
	int			current[MAX_UNITS];
	double		capacity[MAX_TIERS];
	int			tier[MAX_UNITS];
	int			pushed_out_of[MAX_UNITS];
	double		used[MAX_TIERS];
} Case;

static Case the_case;

static Case *
new_case(int ntiers)
{
	Case	   *c = &the_case;

	memset(c, 0, sizeof(*c));
	c->problem.ntiers = ntiers;
	c->problem.cost = c->cost;
	c->problem.price = c->price;
	c->problem.size = c->size;
	c->problem.current = c->current;
	c->problem.capacity = c->capacity;
	c->problem.alloc = counting_alloc;
	c->problem.release = counting_release;
	c->result.tier = c->tier;
	c->result.pushed_out_of = c->pushed_out_of;
	c->result.used = c->used;
	for (int t = 0; t < ntiers; t++)
		c->capacity[t] = INF;
	return c;
}

/* Appends a unit; its ntiers costs follow. */
static void
add_unit(Case *c, int current, double size,...)
{
	int			unit = c->problem.nunits++;
	va_list		costs;

	c->current[unit] = current;
	c->size[unit] = size;
	va_start(costs, size);
	for (int t = 0; t < c->problem.ntiers; t++)
		c->cost[unit * c->problem.ntiers + t] = va_arg(costs, double);
	va_end(costs);
}

static void
set_price(Case *c, int unit, int tier, double price)
{
	c->price[unit * c->problem.ntiers + tier] = price;
}

static void
solve(Case *c)
{
	memset(c->tier, 0x55, sizeof(c->tier));
	memset(c->pushed_out_of, 0x55, sizeof(c->pushed_out_of));
	memset(c->used, 0x55, sizeof(c->used));
	tier_solver_solve(&c->problem, &c->result);
}

/* Solves, and compares tier and pushed_out_of by unit, e.g. "0 1", "- 0". */
static void
solves_to(Case *c, TierSolverStatus status, const char *tiers,
		  const char *pushed, const char *name)
{
	char		got_tiers[64] = "";
	char		got_pushed[64] = "";
	bool		passed;

	solve(c);
	for (int u = 0; u < c->problem.nunits; u++)
	{
		const char *space = u > 0 ? " " : "";
		size_t		at = strlen(got_tiers);

		if (c->tier[u] < 0)
			snprintf(got_tiers + at, sizeof(got_tiers) - at, "%s-", space);
		else
			snprintf(got_tiers + at, sizeof(got_tiers) - at, "%s%d", space,
					 c->tier[u]);
		at = strlen(got_pushed);
		if (c->pushed_out_of[u] < 0)
			snprintf(got_pushed + at, sizeof(got_pushed) - at, "%s-", space);
		else
			snprintf(got_pushed + at, sizeof(got_pushed) - at, "%s%d", space,
					 c->pushed_out_of[u]);
	}
	passed = c->result.status == status &&
		strcmp(got_tiers, tiers) == 0 && strcmp(got_pushed, pushed) == 0;
	ok(passed, "solver: %s", name);
	if (!passed)
		printf("#      got: status %d, tiers %s, pushed out of %s\n"
			   "# expected: status %d, tiers %s, pushed out of %s\n",
			   (int) c->result.status, got_tiers, got_pushed,
			   (int) status, tiers, pushed);
}

/* Tier 0 is fast, tier 1 is slow, tier 2, if any, is slower. */
static void
test_solver_basics(void)
{
	Case	   *c = new_case(2);

	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "", "", "no unit");
	ok(c->result.objective == 0 && c->result.lower_bound == 0 &&
	   c->used[0] == 0 && c->used[1] == 0, "solver: no unit, no sums");

	add_unit(c, 1, 10.0, 1.0, 5.0);
	add_unit(c, 0, 20.0, 7.0, 3.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0 1", "- -",
			  "everybody gets the cheapest tier");
	is(c->result.objective, 4.0, "solver: objective is the sum");
	is(c->result.lower_bound, 4.0, "solver: the bound is tight then");
	ok(c->used[0] == 10 && c->used[1] == 20, "solver: used bytes");

	/* Savings per byte: 4/10, 10/20, 1/1; room for 21 */
	c = new_case(2);
	c->capacity[0] = 21;
	add_unit(c, 1, 10.0, 1.0, 5.0);
	add_unit(c, 1, 20.0, 2.0, 12.0);
	add_unit(c, 1, 1.0, 1.0, 2.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0 0", "0 - -",
			  "most saved per byte first");
	is(c->result.objective, 8.0, "solver: objective when constrained");
	/* fractional: nothing of unit 0 fits, 1 + 2 + 5 */
	ok(fabs(c->result.lower_bound - 8.0) < 1e-7,
	   "solver: fractional bound, full tier");
	c->capacity[0] = 26;
	solve(c);
	/* half of unit 0 would fit: 8 - 2; but no unit can be split */
	ok(fabs(c->result.lower_bound - 8.0) < 1e-7,
	   "solver: the bound is that of whole units");

	/* A full tier of exactly the right size */
	c = new_case(2);
	c->capacity[0] = 10;
	add_unit(c, 1, 10.0, 1.0, 5.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0", "-", "just fits");
	c->capacity[0] = 9;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1", "0", "just does not fit");
	is(c->result.lower_bound, 5.0,
	   "solver: the bound knows who is too large alone");

	c = new_case(1);
	c->capacity[0] = 5;
	add_unit(c, 0, 5.0, 3.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0", "-", "a single tier");
	ok(allocations == 0, "solver: all scratch memory was released");
}

static void
test_solver_displaces(void)
{
	Case	   *c = new_case(2);

	/* an idle unit fills the fast tier */
	c->capacity[0] = 10;
	add_unit(c, 0, 10.0, 0.0, 0.0);
	add_unit(c, 1, 10.0, 1.0, 9.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "an idle unit yields to a hot one");

	/* both want to be there, the one that gains less per byte yields */
	c->cost[1] = 5.0;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "a warm unit yields to a hot one");
	c->cost[1] = 20.0;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1", "- 0",
			  "but not to a cooler one");

	/* the same gain: nobody moves for nothing, whatever the index */
	c = new_case(2);
	c->capacity[0] = 10;
	add_unit(c, 1, 10.0, 1.0, 9.0);
	add_unit(c, 0, 10.0, 1.0, 9.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "equal units do not change places");
	c->cost[1] = 9.05;
	c->problem.cost_epsilon = 0.1;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "nor for less than epsilon");
	c->problem.cost_epsilon = 0.02;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1", "- 0",
			  "but for more");

	/* ties are broken by index */
	c = new_case(2);
	c->capacity[0] = 10;
	for (int i = 0; i < 3; i++)
		add_unit(c, 1, 10.0, 1.0, 9.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1 1", "- 0 0",
			  "of equal units the first one wins");
}

static void
test_solver_greedy_traps(void)
{
	Case	   *c = new_case(2);

	/* Unit 0: 2 per byte but only 2 in all; unit 1: 1 per byte, 10 in all */
	c->capacity[0] = 10;
	add_unit(c, 1, 1.0, 0.0, 2.0);
	add_unit(c, 1, 10.0, 0.0, 10.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "a small dense unit does not shut out a large one");
	c->current[1] = 0;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "nor push it out");

	/* The trap beside a good move that must be made all the same */
	add_unit(c, 0, 5.0, 50.0, 1.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0 1", "0 - -",
			  "nor in the shadow of a good move");

	/*
	 * Per byte against the next best, unit 0 (0.1) comes last and falls to
	 * tier 2; against the worst it comes first.
	 */
	c = new_case(3);
	c->capacity[0] = 10;
	c->capacity[1] = 10;
	add_unit(c, 2, 10.0, 0.0, 1.0, 100.0);
	add_unit(c, 2, 10.0, 0.0, 2.0, 4.0);
	add_unit(c, 2, 10.0, 0.0, 3.0, 5.0);
	solve(c);
	is(c->result.objective, 5.0, "solver: three tiers, the optimum");
}

/*
 * A rotation that greedy finds at once and no series of single moves and
 * exchanges does: units 0 and 1 together take the place of unit 2.  Each of
 * them saves `saving`.
 */
static void
add_rotation(Case *c, int fast, int slow, double saving)
{
	for (int i = 0; i < 3; i++)
	{
		int			unit = c->problem.nunits++;

		for (int t = 0; t < c->problem.ntiers; t++)
			c->cost[unit * c->problem.ntiers + t] = INF;
		c->size[unit] = i < 2 ? 4 : 10;
		c->current[unit] = i < 2 ? slow : fast;
		c->cost[unit * c->problem.ntiers + fast] = 1.0;
		c->cost[unit * c->problem.ntiers + slow] = i < 2 ? 1.0 + saving : 1.0;
	}
}

static void
test_solver_rotation(void)
{
	Case	   *c = new_case(2);

	c->capacity[0] = 10;
	c->capacity[1] = 10;
	c->problem.cost_epsilon = 0.1;
	add_rotation(c, 0, 1, 0.2);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 0 1", "- - 0",
			  "a rotation between full tiers");
	/* three moves save 0.29 together, though per byte more than unit 2 */
	c = new_case(2);
	c->capacity[0] = 10;
	c->capacity[1] = 10;
	c->problem.cost_epsilon = 0.1;
	add_rotation(c, 0, 1, 0.145);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 1 0", "0 0 -",
			  "but not for less than epsilon a move");

	/* units 3 and 4 gain the same, less than 0 and 1 */
	c = new_case(2);
	c->capacity[0] = 20;
	c->capacity[1] = 20;
	add_rotation(c, 0, 1, 9.0);
	add_unit(c, 1, 10.0, 1.0, 2.0);
	add_unit(c, 0, 10.0, 1.0, 2.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 0 1 1 0", "- - 0 0 -",
			  "beside it, equal units do not change places");

	/* unit 3 must not take the room of unit 4: unit 5 is in its way */
	c = new_case(4);
	c->capacity[0] = 100;
	c->capacity[1] = 90;
	c->capacity[2] = 10;
	c->capacity[3] = 10;
	add_rotation(c, 2, 3, 9.0);
	add_unit(c, 1, 60.0, 1.0, 99.0, INF, INF);
	add_unit(c, 0, 90.0, 1.0, 2.0, INF, INF);
	add_unit(c, 1, 30.0, INF, 2.0, INF, INF);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "2 2 3 1 0 1", "- - 2 0 - -",
			  "beside it, who has to stay keeps its room");
}

/* Where each order alone fails. */
static void
test_solver_orders(void)
{
	Case	   *c = new_case(2);

	/* Five small ones save 7.5, the large one 10; no exchange fits. */
	c->capacity[0] = 10;
	for (int i = 0; i < 5; i++)
		add_unit(c, 1, 1.0, 0.0, 1.5);
	add_unit(c, 1, 10.0, 0.0, 10.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 1 1 1 1 0", "0 0 0 0 0 -",
			  "one that saves more than all small ones");

	/*
	 * Tiers 0 and 1: the dense unit 0 shuts out unit 1, which only an order
	 * by the total or an exchange sets right.  Tiers 2 and 3: ten units
	 * together save more than unit 2, which only an order by byte sees. Tiers
	 * 1 and 3 have no room to spare.
	 */
	c = new_case(4);
	c->capacity[0] = 10;
	c->capacity[1] = 10;
	c->capacity[2] = 10;
	c->capacity[3] = 10;
	add_unit(c, 0, 1.0, 0.0, 2.0, INF, INF);
	add_unit(c, 1, 10.0, 0.0, 10.0, INF, INF);
	add_unit(c, 2, 10.0, INF, INF, 0.0, 12.0);
	for (int i = 0; i < 10; i++)
		add_unit(c, 3, 1.0, INF, INF, 0.0, 2.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0 3 2 2 2 2 2 2 2 2 2 2",
			  "0 - 2 - - - - - - - - - -", "an exchange on top of an order");
}

static void
test_solver_ties(void)
{
	Case	   *c = new_case(3);

	c->problem.cost_epsilon = 0.5;
	add_unit(c, 1, 10.0, 1.0, 1.4, 1.2);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "within epsilon a unit stays");
	set_price(c, 0, 0, 3.0);
	set_price(c, 0, 1, 2.0);
	set_price(c, 0, 2, 2.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "also when another one is as cheap");
	set_price(c, 0, 2, 1.5);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "2", "-", "the price decides");
	c->cost[2] = 1.6;
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "but only within epsilon");
	set_price(c, 0, 0, 0.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "an unknown price attracts nobody");
	c->cost[2] = 1.2;
	set_price(c, 0, 1, 0.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "and drives nobody away");
	c->cost[1] = 1.6;
	set_price(c, 0, 2, 0.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0", "-",
			  "the cost decides when no price is known");
	c->cost[2] = 1.0;
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0", "-", "then the index");
	c->current[0] = -1;
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0", "-",
			  "also for a unit that is nowhere");

	/* Idle and cheaper elsewhere, but that is full */
	c = new_case(2);
	add_unit(c, 0, 10.0, 0.0, 0.0);
	set_price(c, 0, 0, 5.0);
	set_price(c, 0, 1, 1.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "an idle unit goes where it is cheap");
	c->capacity[1] = 9;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0", "1",
			  "it stays if there is no room");
}

static void
test_solver_zero_sizes(void)
{
	Case	   *c = new_case(2);

	c->capacity[0] = 0;
	add_unit(c, 1, 0.0, 1.0, 2.0);
	add_unit(c, 1, 0.0, 1.0, 1.0);
	add_unit(c, 1, 8.0, 1.0, 2.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1 1", "- - 0",
			  "zero-size units need no room");
	c->capacity[0] = -5;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1 1", "- - 0",
			  "negative capacity is none");
	c->capacity[0] = NAN;
	c->size[0] = NAN;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1 1", "- - 0",
			  "nor is NaN a size or a capacity");
	c->size[0] = -3;
	solve(c);
	ok(c->used[0] == 0 && c->used[1] == 8,
	   "solver: a negative size counts as 0");
}

static void
test_solver_forbidden(void)
{
	Case	   *c = new_case(2);

	add_unit(c, 0, 10.0, INF, INF);
	add_unit(c, 1, 10.0, 1.0, 4.0);
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0 0", "- -",
			  "a unit that may live nowhere stays");
	is(c->result.objective, 1.0, "solver: it does not count in the objective");
	is(c->result.lower_bound, 1.0, "solver: nor in the bound");
	ok(c->used[0] == 20, "solver: but its bytes do count");
	c->capacity[0] = 19;
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0 1", "- 0",
			  "its room is not to be had");
	c->current[0] = -1;
	solves_to(c, TIER_SOLVER_INFEASIBLE, "- 0", "- -",
			  "nowhere and may live nowhere");

	/* must leave, and can */
	c = new_case(2);
	add_unit(c, 0, 10.0, INF, 7.0);
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-",
			  "a unit leaves where it may not live");
	/* must leave, and cannot */
	c->capacity[1] = 9;
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0", "1", "unless nothing has room");
	ok(c->result.objective == 0 && c->result.lower_bound == 0,
	   "solver: the homeless count in no sum");
	c->cost[1] = NAN;
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0", "-", "NaN permits nothing");
	c->cost[0] = NAN;
	c->cost[1] = 7.0;
	c->capacity[1] = 10;
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "1", "-", "also not to stay");

	/* pinned: goes before one that gains more */
	c = new_case(2);
	c->capacity[0] = 10;
	add_unit(c, 1, 10.0, 1.0, 900.0);
	add_unit(c, 1, 10.0, 1.0, INF);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "a unit with one possibility goes first");
	/* tier 0 cannot hold it, so tier 1 is its one possibility */
	c = new_case(2);
	c->capacity[0] = 10;
	c->capacity[1] = 20;
	add_unit(c, -1, 10.0, 4.0, 3.0);
	add_unit(c, -1, 20.0, 0.0, 1.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1", "1 0",
			  "a tier that is too small is no possibility");
	is(c->result.lower_bound, 5.0, "solver: nor is it for the bound");

	/* placing it makes the sum larger, for it did not count before */
	c = new_case(2);
	c->capacity[0] = 10;
	add_unit(c, 0, 10.0, 1.0, 3.0);
	add_unit(c, -1, 10.0, 5.0, INF);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "a tier for each unit is worth more than any saving");

	c = new_case(2);
	c->capacity[0] = 10;
	c->capacity[1] = 10;
	add_unit(c, -1, 20.0, 1.0, 1.0);
	add_unit(c, -1, 10.0, 1.0, 2.0);
	add_unit(c, 7, 10.0, 1.0, 3.0);
	add_unit(c, -3, 10.0, 1.0, 1.5);
	solves_to(c, TIER_SOLVER_INFEASIBLE, "- 1 0 -", "0 0 - 0",
			  "units without a tier remain so if nothing has room");
}

static void
test_solver_over_full(void)
{
	Case	   *c = new_case(2);

	c->capacity[0] = 15;
	c->capacity[1] = 5;
	add_unit(c, 0, 10.0, 1.0, 2.0);
	add_unit(c, 0, 10.0, 1.0, 3.0);
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0 0", "- 0",
			  "over-full and nowhere to go: stay");
	ok(c->used[0] == 20 && c->used[1] == 0, "solver: over-full, used bytes");
	is(c->result.objective, 2.0, "solver: over-full, objective");
	is(c->result.lower_bound, 2.0, "solver: over-full, the bound ignores it");

	c->capacity[1] = 10;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "over-full and somewhere to go: the coolest leaves");
	c->capacity[0] = 20;
	solves_to(c, TIER_SOLVER_UNCONSTRAINED, "0 0", "- -", "full, but not over");

	/* units 0 and 1 make it too full; unit 2 would like to come in */
	c = new_case(2);
	c->capacity[0] = 15;
	c->capacity[1] = 5;
	add_unit(c, 0, 10.0, 1.0, 2.0);
	add_unit(c, 0, 10.0, 1.0, 3.0);
	add_unit(c, 1, 5.0, 1.0, 100.0);
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0 0 1", "- 0 0",
			  "an over-full tier takes nobody in");

	/* only a part can leave: the coolest that fits, the hottest never */
	c = new_case(2);
	c->capacity[0] = 20;
	c->capacity[1] = 10;
	add_unit(c, 0, 10.0, 1.0, 5.0);
	add_unit(c, 0, 10.0, 1.0, 3.0);
	add_unit(c, 0, 10.0, 1.0, 2.0);
	add_unit(c, 0, 10.0, 1.0, 4.0);
	solves_to(c, TIER_SOLVER_INFEASIBLE, "0 0 1 0", "- 0 0 -",
			  "over-full: who can leaves, the rest stays");

	/* nowhere to go for unit 1, so unit 0 must not take its room */
	c = new_case(2);
	c->capacity[0] = 100;
	c->capacity[1] = 80;
	add_unit(c, 1, 80.0, 1.0, 99.0);
	add_unit(c, 0, 90.0, 1.0, 2.0);
	solves_to(c, TIER_SOLVER_CONSTRAINED, "1 0", "0 -",
			  "nobody moves into the room of one who has to stay");
	/* with room for it the same move is right */
	c->capacity[1] = 90;
	solves_to(c, TIER_SOLVER_CONSTRAINED, "0 1", "- 0",
			  "but into that of one who can leave");
}


/*-------------------------------------------------------------------------
 * Size alone: random instances against brute force
 *-------------------------------------------------------------------------
 */

/* What is true of a placement: current or an answer. */
typedef struct Facts
{
	double		used[MAX_TIERS];
	double		cost;
	int			homeless;
	bool		fits;			/* all capacities are respected */
} Facts;

static void
find_facts(const Case *c, const int *tier, Facts *facts)
{
	int			ntiers = c->problem.ntiers;

	memset(facts, 0, sizeof(*facts));
	for (int u = 0; u < c->problem.nunits; u++)
	{
		if (tier[u] >= 0)
			facts->used[tier[u]] += c->size[u];
		if (tier[u] < 0 || isinf(c->cost[u * ntiers + tier[u]]))
			facts->homeless++;
		else
			facts->cost += c->cost[u * ntiers + tier[u]];
	}
	facts->fits = true;
	for (int t = 0; t < ntiers; t++)
		if (facts->used[t] > c->capacity[t])
			facts->fits = false;
}

/* The least cost of all placements, INFINITY if none is feasible. */
static double
brute_force(const Case *c)
{
	int			n = c->problem.nunits;
	int			ntiers = c->problem.ntiers;
	int			tier[16] = {0};
	double		best = INFINITY;

	for (;;)
	{
		Facts		facts;
		int			u = 0;

		find_facts(c, tier, &facts);
		if (facts.fits && facts.homeless == 0 && facts.cost < best)
			best = facts.cost;
		while (u < n && ++tier[u] == ntiers)
			tier[u++] = 0;
		if (u == n)
			return best;
	}
}

typedef enum Family
{
	FAMILY_TYPICAL,				/* scarce fast tiers, an ample slowest one */
	FAMILY_TIGHT,				/* every tier is scarce */
	FAMILY_WILD,				/* forbidden tiers, no tier, over-full, ties */
} Family;

#define NUM_FAMILIES 3

static const char *const family_names[] = {"typical", "tight", "wild"};

static void
random_case(Case *c, Family family, int nunits)
{
	int			ntiers = c->problem.ntiers;
	double		total = 0.0;

	for (int u = 0; u < nunits; u++)
	{
		double		reads = exp(random_unit() * 8.0);
		double		cost = 0.001 * reads;
		int			current = random_int(ntiers);
		double		size = floor(exp(random_unit() * 4.0));

		c->problem.nunits++;
		if (family == FAMILY_WILD && random_int(6) == 0)
			size = 0.0;
		if (family == FAMILY_WILD && random_int(8) == 0)
			current = -1;
		if (family == FAMILY_WILD && random_int(4) == 0)
			cost = random_int(3);
		c->size[u] = size;
		c->current[u] = current;
		total += size;
		for (int t = 0; t < ntiers; t++)
		{
			double	   *here = &c->cost[u * ntiers + t];

			*here = cost;
			if (family == FAMILY_WILD && random_int(6) == 0)
				*here = INF;
			if (family == FAMILY_WILD)
				cost = floor(cost + random_unit() * 3.0);
			else
				cost *= 1.0 + random_unit() * 9.0;
			c->price[u * ntiers + t] = random_int(3) * size;
		}
	}
	for (int t = 0; t < ntiers; t++)
		c->capacity[t] = floor(total * random_unit() *
							   (family == FAMILY_TIGHT ? 2.0 / ntiers : 1.0));
	if (family == FAMILY_TYPICAL)
		c->capacity[ntiers - 1] = INF;
}

/* What every answer must be; NULL if it is, else what it is not. */
static const char *
violation(const Case *c)
{
	int			ntiers = c->problem.ntiers;
	int			pushed = 0;
	double		sum_of_least = 0.0;
	double		allowance;
	Facts		now;
	Facts		then;

	find_facts(c, c->current, &now);
	find_facts(c, c->tier, &then);
	allowance = c->problem.cost_epsilon * (ntiers + 1) * c->problem.nunits;

	for (int u = 0; u < c->problem.nunits; u++)
	{
		int			tier = c->tier[u];
		double		least = INF;

		for (int t = 0; t < ntiers; t++)
			least = fmin(least, c->cost[u * ntiers + t]);
		sum_of_least += isinf(least) ? 0.0 : least;

		if (tier < -1 || tier >= ntiers)
			return "a tier that does not exist";
		if (c->pushed_out_of[u] < -1 || c->pushed_out_of[u] >= ntiers)
			return "pushed out of a tier that does not exist";
		if (c->pushed_out_of[u] >= 0)
		{
			pushed++;
			if (isinf(c->cost[u * ntiers + c->pushed_out_of[u]]))
				return "pushed out of a forbidden tier";
			if (c->pushed_out_of[u] == tier &&
				then.used[tier] <= c->capacity[tier])
				return "too many where there is room";
		}
		if (tier == c->current[u])
			continue;
		if (tier < 0)
			return "a unit has lost its tier";
		if (isinf(c->cost[u * ntiers + tier]))
			return "a move to a forbidden tier";
		if (then.used[tier] > c->capacity[tier] && c->size[u] > 0)
			return "a move to a tier without room";
	}

	for (int t = 0; t < ntiers; t++)
	{
		if (c->used[t] != then.used[t])
			return "wrong sum of used bytes";
		if (then.used[t] > c->capacity[t] && then.used[t] > now.used[t])
			return "an over-full tier holds more than before";
	}
	if (!near(c->result.objective, then.cost))
		return "wrong objective";
	if (c->result.lower_bound > c->result.objective)
		return "bound above objective";
	if (then.homeless > now.homeless)
		return "more homeless than before";
	if (now.fits && now.homeless == 0 &&
		then.cost > now.cost * (1 + 1e-9) + allowance)
		return "worse than no move";
	if ((c->result.status == TIER_SOLVER_INFEASIBLE) !=
		(!then.fits || then.homeless > 0))
		return "wrong about feasibility";
	if (c->result.status == TIER_SOLVER_CONSTRAINED && pushed == 0)
		return "constrained by nothing";
	if (c->result.status == TIER_SOLVER_UNCONSTRAINED &&
		(pushed > 0 || then.cost > sum_of_least * (1 + 1e-9) + allowance))
		return "unconstrained but not the best";
	return NULL;
}

/* No unit could change to a tier with room and save more than epsilon. */
static bool
has_idle_improvement(const Case *c)
{
	int			ntiers = c->problem.ntiers;

	for (int u = 0; u < c->problem.nunits; u++)
		for (int t = 0; t < ntiers; t++)
		{
			if (t == c->tier[u] || (c->size[u] > 0 &&
									c->used[t] + c->size[u] > c->capacity[t]))
				continue;
			if (c->tier[u] < 0 ? !isinf(c->cost[u * ntiers + t]) :
				c->cost[u * ntiers + t] + c->problem.cost_epsilon * 1.000001 <
				c->cost[u * ntiers + c->tier[u]])
				return true;
		}
	return false;
}

static void
test_solver_random(Family family, int trials)
{
	double		worst_gap = 0.0;
	double		sum_bound_gap = 0.0;
	int			violations = 0;
	int			better_than_optimum = 0;
	int			bound_above_optimum = 0;
	int			idle_improvements = 0;
	int			not_repeated = 0;
	int			missed = 0;
	int			solved = 0;
	int			optimal = 0;
	int			bound_helps = 0;
	const char *first = NULL;

	random_state = 21 + (uint64_t) family;
	for (int trial = 0; trial < trials; trial++)
	{
		Case	   *c = new_case(1 + random_int(MAX_TIERS));
		int			ntiers = c->problem.ntiers;
		int			previous[16];
		const char *wrong;
		double		optimum;
		double		least = 0.0;

		random_case(c, family, 1 + random_int(ntiers == 4 ? 6 : 7));
		c->problem.cost_epsilon = trial % 4 == 0 ? 0.1 : 0.0;
		solve(c);

		wrong = violation(c);
		if (wrong != NULL)
		{
			violations++;
			if (first == NULL)
				first = wrong;
		}
		if (has_idle_improvement(c))
			idle_improvements++;

		memcpy(previous, c->tier, c->problem.nunits * sizeof(int));
		solve(c);
		if (memcmp(previous, c->tier, c->problem.nunits * sizeof(int)) != 0)
			not_repeated++;

		optimum = brute_force(c);
		if (c->result.status == TIER_SOLVER_INFEASIBLE)
		{
			if (!isinf(optimum))
				missed++;
			continue;
		}
		if (c->result.objective < optimum * (1 - 1e-9))
			better_than_optimum++;
		if (c->result.lower_bound > optimum * (1 + 1e-9) + 1e-12)
			bound_above_optimum++;
		for (int u = 0; u < c->problem.nunits; u++)
		{
			double		lowest = INF;

			for (int t = 0; t < ntiers; t++)
				lowest = fmin(lowest, c->cost[u * ntiers + t]);
			least += lowest;
		}
		if (c->result.lower_bound > least * 1.001)
			bound_helps++;
		if (c->problem.cost_epsilon > 0.0 || optimum <= 0.0)
			continue;
		solved++;
		sum_bound_gap += 1 - c->result.lower_bound / optimum;
		worst_gap = fmax(worst_gap, c->result.objective / optimum - 1);
		if (c->result.objective <= optimum * (1 + 1e-9))
			optimal++;
	}

	ok(violations == 0, "solver, %s: every answer keeps the promises",
	   family_names[family]);
	if (violations > 0)
		printf("# %d violations, the first: %s\n", violations, first);
	ok(better_than_optimum == 0, "solver, %s: nothing beats brute force",
	   family_names[family]);
	ok(bound_above_optimum == 0, "solver, %s: the bound is one",
	   family_names[family]);
	ok(bound_helps > trials / 20,
	   "solver, %s: the bound is often better than the sum of least costs",
	   family_names[family]);
	ok(idle_improvements == 0,
	   "solver, %s: no single move is left that would help",
	   family_names[family]);
	ok(not_repeated == 0, "solver, %s: the same problem, the same answer",
	   family_names[family]);
	ok(solved > trials / 10, "solver, %s: enough instances have a solution",
	   family_names[family]);
	ok(solved == optimal, "solver, %s: every answer is the optimum",
	   family_names[family]);
	ok(sum_bound_gap <= 1e-7 * solved, "solver, %s: the bound proves it",
	   family_names[family]);
	ok(missed == 0, "solver, %s: no solution is missed",
	   family_names[family]);
	if (solved != optimal || missed > 0)
		printf("# %s: optimal in %d of %d, worst gap %g; missed: %d\n",
			   family_names[family], optimal, solved, worst_gap, missed);
}

/* Every answer is a fixed point: solved again from there, nobody moves. */
static void
test_solver_is_stable(void)
{
	int			moved = 0;

	random_state = 41;
	for (int trial = 0; trial < 2000; trial++)
	{
		Case	   *c = new_case(2 + random_int(3));
		double		first;

		random_case(c, FAMILY_TIGHT, 1 + random_int(12));
		c->problem.cost_epsilon = 0.01;
		solve(c);
		if (c->result.status == TIER_SOLVER_INFEASIBLE)
			continue;
		first = c->result.objective;
		memcpy(c->current, c->tier, sizeof(c->current));
		solve(c);
		if (memcmp(c->current, c->tier, c->problem.nunits * sizeof(int)) != 0 &&
			c->result.objective > first - 1e-9)
			moved++;
	}
	ok(moved == 0, "solver: once placed, nobody moves without a saving");
}

static void
test_solver_large(void)
{
	Case	   *c = new_case(4);
	const char *wrong;
	double		gap;

	random_state = 51;
	random_case(c, FAMILY_TYPICAL, MAX_UNITS);
	c->capacity[0] = c->capacity[1] = c->capacity[2] = 4000;
	c->problem.gap_wanted = 1e-4;
	c->problem.effort = 5e8;
	solve(c);
	wrong = violation(c);
	gap = 1 - c->result.lower_bound / c->result.objective;
	ok(wrong == NULL, "solver: %d units keep the promises", MAX_UNITS);
	if (wrong != NULL)
		printf("# %s\n", wrong);
	ok(gap <= 1e-4 && !c->result.limit_hit,
	   "solver: %d units, bound and objective within 1e-4", MAX_UNITS);
	if (gap > 1e-4)
		printf("# gap %g\n", gap);
	ok(allocations == 0, "solver: no scratch memory is left");
}


/*-------------------------------------------------------------------------
 * Several resources: a problem of any size, and brute force
 *-------------------------------------------------------------------------
 */

#define MAX_RESOURCES 4			/* with the size */

/* All arrays are of the size that nunits, ntiers and nresources ask for. */
typedef struct Rich
{
	TierSolverProblem problem;
	TierSolverResult result;
	int			nall;			/* resources, with the size */
	double	   *cost;
	double	   *size_by_tier;
	double	   *use;
	int		   *current;
	int		   *pinned;
	double	   *capacity;
	double	   *limit;
} Rich;

static void *
array(size_t n, size_t size)
{
	void	   *ptr = calloc(n > 0 ? n : 1, size);

	if (ptr == NULL)
		abort();
	return ptr;
}

/* Nothing is limited, and everybody is on the last tier and costs nothing. */
static Rich *
new_rich(int nunits, int ntiers, int nresources)
{
	Rich	   *p = array(1, sizeof(Rich));
	size_t		cells = (size_t) nunits * ntiers;
	size_t		rows = (size_t) ntiers * (1 + nresources);

	p->nall = 1 + nresources;
	p->cost = array(cells, sizeof(double));
	p->size_by_tier = array(cells, sizeof(double));
	p->use = array(cells * nresources, sizeof(double));
	p->current = array(nunits, sizeof(int));
	p->pinned = array(nunits, sizeof(int));
	p->capacity = array(ntiers, sizeof(double));
	p->limit = array(rows, sizeof(double));
	for (int u = 0; u < nunits; u++)
	{
		p->current[u] = ntiers - 1;
		p->pinned[u] = -1;
	}
	for (int t = 0; t < ntiers; t++)
		p->capacity[t] = INF;
	for (int i = 0; i < ntiers * nresources; i++)
		p->limit[i] = INF;

	p->problem.nunits = nunits;
	p->problem.ntiers = ntiers;
	p->problem.nresources = nresources;
	p->problem.cost = p->cost;
	p->problem.size_by_tier = p->size_by_tier;
	p->problem.use = p->use;
	p->problem.current = p->current;
	p->problem.pinned = p->pinned;
	p->problem.capacity = p->capacity;
	p->problem.limit = p->limit;
	p->problem.alloc = counting_alloc;
	p->problem.release = counting_release;

	p->result.tier = array(nunits, sizeof(int));
	p->result.pushed_out_of = array(nunits, sizeof(int));
	p->result.obstacle = array(nunits, sizeof(TierSolverObstacle));
	p->result.used = array(ntiers, sizeof(double));
	p->result.used_of = array(rows, sizeof(double));
	p->result.dual_price = array(rows, sizeof(double));
	p->result.excess = array(rows, sizeof(double));
	p->result.missing = array(rows, sizeof(double));
	return p;
}

static void
free_rich(Rich *p)
{
	free(p->cost);
	free(p->size_by_tier);
	free(p->use);
	free(p->current);
	free(p->pinned);
	free(p->capacity);
	free(p->limit);
	free(p->result.tier);
	free(p->result.pushed_out_of);
	free(p->result.obstacle);
	free(p->result.used);
	free(p->result.used_of);
	free(p->result.dual_price);
	free(p->result.excess);
	free(p->result.missing);
	free(p);
}

static void
solve_rich(Rich *p)
{
	memset(p->result.tier, 0x55, p->problem.nunits * sizeof(int));
	tier_solver_solve(&p->problem, &p->result);
}

static double *
cost_of(Rich *p, int unit, int tier)
{
	return &p->cost[unit * p->problem.ntiers + tier];
}

/* Resource 0 is the size. */
static double *
use_of(const Rich *p, int unit, int tier, int resource)
{
	size_t		cell = (size_t) unit * p->problem.ntiers + tier;

	if (resource == 0)
		return &p->size_by_tier[cell];
	return &p->use[cell * p->problem.nresources + resource - 1];
}

static double *
limit_of(const Rich *p, int tier, int resource)
{
	if (resource == 0)
		return &p->capacity[tier];
	return &p->limit[tier * p->problem.nresources + resource - 1];
}

static bool
may_be_on(const Rich *p, int unit, int tier)
{
	return !isinf(p->cost[unit * p->problem.ntiers + tier]) &&
		(p->pinned[unit] < 0 || p->pinned[unit] == tier);
}

/* Depth first; costs are not negative, so that what is too dear is cut. */
typedef struct Brute
{
	const Rich *p;
	double		used[MAX_TIERS * MAX_RESOURCES];
	double		best;
} Brute;

static void
try_unit(Brute *b, int unit, double cost)
{
	const Rich *p = b->p;

	if (cost >= b->best)
		return;
	if (unit == p->problem.nunits)
	{
		b->best = cost;
		return;
	}
	for (int t = 0; t < p->problem.ntiers; t++)
	{
		bool		fits = may_be_on(p, unit, t);

		for (int r = 0; r < p->nall; r++)
		{
			b->used[t * p->nall + r] += *use_of(p, unit, t, r);
			fits = fits && b->used[t * p->nall + r] <= *limit_of(p, t, r);
		}
		if (fits)
			try_unit(b, unit + 1, cost + p->cost[unit * p->problem.ntiers + t]);
		for (int r = 0; r < p->nall; r++)
			b->used[t * p->nall + r] -= *use_of(p, unit, t, r);
	}
}

static double
optimum_of(const Rich *p)
{
	Brute		b;

	memset(&b, 0, sizeof(b));
	b.p = p;
	b.best = INF;
	try_unit(&b, 0, 0.0);
	return b.best;
}

/* What is wrong with an answer, whatever the problem; NULL: nothing. */
static const char *
rich_violation(const Rich *p)
{
	const TierSolverResult *result = &p->result;
	int			ntiers = p->problem.ntiers;
	double		used[MAX_TIERS * MAX_RESOURCES] = {0};
	double		now[MAX_TIERS * MAX_RESOURCES] = {0};
	double		cost = 0.0;
	double		cost_now = 0.0;
	bool		fits = true;
	bool		fits_now = true;

	for (int u = 0; u < p->problem.nunits; u++)
	{
		int			tier = result->tier[u];
		int			home = p->current[u];

		if (tier < -1 || tier >= ntiers)
			return "a tier that does not exist";
		if (tier >= 0 && may_be_on(p, u, tier))
			cost += p->cost[u * ntiers + tier];
		else
			fits = false;
		if (home >= 0 && may_be_on(p, u, home))
			cost_now += p->cost[u * ntiers + home];
		else
			fits_now = false;
		if (tier != home && (tier < 0 || !may_be_on(p, u, tier)))
			return "a move to nowhere";
		for (int r = 0; r < p->nall; r++)
		{
			if (tier >= 0)
				used[tier * p->nall + r] += *use_of(p, u, tier, r);
			if (home >= 0)
				now[home * p->nall + r] += *use_of(p, u, home, r);
		}
	}
	for (int t = 0; t < ntiers; t++)
		for (int r = 0; r < p->nall; r++)
		{
			int			row = t * p->nall + r;
			double		limit = *limit_of(p, t, r);

			if (!near(used[row], result->used_of[row]) ||
				(r == 0 && used[row] != result->used[t]))
				return "wrong sums";
			if (used[row] <= limit ? result->excess[row] != 0 :
				!near(result->excess[row], used[row] - limit))
				return "wrong excess";
			if (used[row] > limit && used[row] > now[row])
				return "more than before where it was too much";
			if (!(result->dual_price[row] >= 0) || isinf(result->dual_price[row]))
				return "a price that is none";
			fits = fits && used[row] <= limit;
			fits_now = fits_now && now[row] <= limit;
		}
	for (int u = 0; u < p->problem.nunits; u++)
		for (int r = 0; r < p->nall && result->tier[u] != p->current[u]; r++)
			if (*use_of(p, u, result->tier[u], r) > 0 &&
				result->excess[result->tier[u] * p->nall + r] > 0)
				return "a move to where there is too much";
	if (!near(cost, result->objective))
		return "wrong objective";
	if (!(result->lower_bound <= result->objective))
		return "bound above objective";
	if (fits_now && cost > cost_now * (1 + 1e-9))
		return "worse than no move";
	if (fits != (result->status != TIER_SOLVER_INFEASIBLE))
		return "wrong about feasibility";
	if (allocations != 0)
		return "memory is left";
	return NULL;
}

/*
 * The bound that follows from the prices of the limits, computed anew; only
 * where all units may be somewhere.
 */
static double
bound_by_prices(const Rich *p)
{
	double		bound = 0.0;

	for (int u = 0; u < p->problem.nunits; u++)
	{
		double		least = INF;

		for (int t = 0; t < p->problem.ntiers; t++)
		{
			double		cost = p->cost[u * p->problem.ntiers + t];
			bool		fits = may_be_on(p, u, t);

			for (int r = 0; r < p->nall; r++)
			{
				cost += p->result.dual_price[t * p->nall + r] * *use_of(p, u, t, r);
				fits = fits && *use_of(p, u, t, r) <= *limit_of(p, t, r);
			}
			if (fits)
				least = fmin(least, cost);
		}
		bound += least;
	}
	for (int t = 0; t < p->problem.ntiers; t++)
		for (int r = 0; r < p->nall; r++)
			if (p->result.dual_price[t * p->nall + r] > 0)
				bound -= p->result.dual_price[t * p->nall + r] * *limit_of(p, t, r);
	return bound;
}

/*
 * Whole numbers, so that sums are exact.  With tightness 1 limits are about what
 * the units would use if they were spread evenly.
 */
static void
fill_rich(Rich *p, double tightness, bool last_is_ample)
{
	int			ntiers = p->problem.ntiers;

	for (int u = 0; u < p->problem.nunits; u++)
	{
		double		size = 1 + floor(exp(random_unit() * 4.0));
		double		heat = exp(random_unit() * 5.0);

		p->current[u] = random_int(ntiers);
		for (int t = 0; t < ntiers; t++)
		{
			*cost_of(p, u, t) = random_int(3);
			*cost_of(p, u, t) += floor(heat * (1 + 3 * t * random_unit()));
			*use_of(p, u, t, 0) = random_int(3) ? size : floor(size / 2);
			for (int r = 1; r < p->nall; r++)
				*use_of(p, u, t, r) = random_int(5) ?
					floor(1 + heat * random_unit() * (1 + t)) : 0;
		}
	}
	for (int t = 0; t < ntiers; t++)
		for (int r = 0; r < p->nall; r++)
		{
			double		total = 0;

			for (int u = 0; u < p->problem.nunits; u++)
				total += *use_of(p, u, t, r);
			*limit_of(p, t, r) = (last_is_ample && t == ntiers - 1) || random_int(6) == 0 ?
				INF : floor(total / ntiers * tightness * (0.5 + random_unit()));
		}
}

/* All instances of a kind against brute force. */
static void
test_rich_random(const char *name, int trials, int max_units, double tightness,
				 bool last_is_ample)
{
	int			wrong = 0;
	int			not_optimal = 0;
	int			not_proven = 0;
	int			missed = 0;
	int			bad_prices = 0;
	int			bad_missing = 0;
	int			feasible = 0;
	int			infeasible = 0;
	int			many_tight = 0;
	int			searched = 0;
	const char *first = NULL;

	for (int trial = 0; trial < trials; trial++)
	{
		int			ntiers = 2 + random_int(MAX_TIERS - 1);
		int			nunits = 1 + random_int(max_units);
		Rich	   *p = new_rich(nunits, ntiers, random_int(MAX_RESOURCES));
		const char *violated;
		double		optimum;
		int			tight = 0;
		bool		any_missing = false;

		fill_rich(p, tightness, last_is_ample);
		for (int u = 0; u < p->problem.nunits && trial % 3 == 0; u++)
		{
			if (random_int(4) == 0)
				*cost_of(p, u, random_int(ntiers)) = INF;
			if (random_int(8) == 0)
				p->pinned[u] = random_int(ntiers);
		}
		solve_rich(p);
		violated = rich_violation(p);
		if (violated != NULL)
		{
			wrong++;
			if (first == NULL)
				first = violated;
		}
		for (int row = 0; row < ntiers * p->nall; row++)
		{
			tight += p->result.dual_price[row] > 0;
			any_missing = any_missing || p->result.missing[row] > 0;
		}
		optimum = optimum_of(p);
		if (isinf(optimum))
		{
			infeasible++;
			if (p->result.status != TIER_SOLVER_INFEASIBLE)
				wrong++;
		}
		else
		{
			feasible++;
			many_tight += tight > 2;
			searched += p->result.nnodes > 2;
			if (any_missing)
				bad_missing++;
			if (p->result.status == TIER_SOLVER_INFEASIBLE)
				missed++;
			else if (!near(p->result.objective, optimum))
				not_optimal++;
			if (p->result.lower_bound > optimum * (1 + 1e-9))
				wrong++;
			if (p->result.lower_bound < optimum * (1 - 1e-6) || p->result.limit_hit)
				not_proven++;
			if (p->result.nobstacles == 0 && bound_by_prices(p) > optimum * (1 + 1e-9))
				bad_prices++;
		}
		free_rich(p);
	}
	ok(wrong == 0, "%s: every answer keeps the promises", name);
	if (wrong > 0)
		printf("# %d times, first: %s\n", wrong, first == NULL ? "feasibility or bound" : first);
	ok(missed == 0, "%s: a solution that exists is found", name);
	ok(not_optimal == 0, "%s: it is the optimum of brute force", name);
	ok(not_proven == 0, "%s: and is proven to be", name);
	ok(bad_prices == 0, "%s: the prices of the limits are a bound", name);
	ok(bad_missing == 0, "%s: nothing is missing where there is a solution", name);
	ok(feasible > trials / 4 && many_tight > trials / 150 && searched > trials / 10,
	   "%s: enough instances are hard", name);
	if (wrong + missed + not_optimal + not_proven > 0 || feasible <= trials / 4 ||
		many_tight <= trials / 150 || searched <= trials / 10)
		printf("# %d feasible, %d not; %d with more than two tight limits, %d searched;"
			   " missed %d, not optimal %d, not proven %d\n", feasible, infeasible,
			   many_tight, searched, missed, not_optimal, not_proven);
}

/* Two limited tiers and an ample one, by dynamic programming over both rooms. */
static double
optimum_by_table(const Rich *p)
{
	int			n0 = (int) p->capacity[0] + 1;
	int			n1 = (int) p->capacity[1] + 1;
	double	   *best = array((size_t) n0 * n1, sizeof(double));
	double		optimum;

	for (int u = 0; u < p->problem.nunits; u++)
		for (int a = n0 - 1; a >= 0; a--)
			for (int b = n1 - 1; b >= 0; b--)
			{
				int			size = (int) *use_of(p, u, 0, 0);
				double		cost = best[a * n1 + b] + p->cost[u * 3 + 2];

				if (a >= size)
					cost = fmin(cost, best[(a - size) * n1 + b] + p->cost[u * 3]);
				if (b >= size)
					cost = fmin(cost, best[a * n1 + b - size] + p->cost[u * 3 + 1]);
				best[a * n1 + b] = cost;
			}
	optimum = best[(size_t) n0 * n1 - 1];
	free(best);
	return optimum;
}

/* The cost of a unit falls with its size, so that all are worth about the same. */
static Rich *
knapsacks(int nunits, int room, double spread)
{
	Rich	   *p = new_rich(nunits, 3, 0);

	for (int u = 0; u < nunits; u++)
	{
		double		size = 5 + random_int(40);
		double		worth = size * (1 + spread * random_unit());

		for (int t = 0; t < 3; t++)
		{
			*use_of(p, u, t, 0) = size;
			*cost_of(p, u, t) = t == 0 ? 1 :
				t == 1 ? 1 + worth : 1 + worth * (1.5 + spread * random_unit());
		}
	}
	p->capacity[0] = room;
	p->capacity[1] = room + 17;
	return p;
}

static void
test_rich_tables(void)
{
	int			wrong = 0;
	int			not_optimal = 0;
	long		nodes = 0;

	random_state = 71;
	for (int trial = 0; trial < 400; trial++)
	{
		bool		large = trial % 8 == 0;
		int			nunits = large ? 20 + random_int(15) : 8 + random_int(10);
		int			room = large ? 60 + random_int(120) : 40 + random_int(60);
		Rich	   *p = knapsacks(nunits, room, large ? 0.5 : trial % 3 == 0 ? 0.02 : 1.0);

		p->problem.gap_wanted = 1e-9;
		p->problem.effort = 5e8;
		solve_rich(p);
		wrong += rich_violation(p) != NULL || p->result.limit_hit;
		not_optimal += fabs(p->result.objective - optimum_by_table(p)) > 1e-6;
		nodes += p->result.nnodes;
		free_rich(p);
	}
	ok(wrong == 0, "8 to 34 units: every answer keeps the promises");
	ok(not_optimal == 0, "8 to 34 units: the optimum of dynamic programming");
	ok(nodes > 1000, "8 to 34 units: they take a search");
}

/* Equal worth for each byte, and hardly any effort allowed. */
static void
test_rich_honest_gap(void)
{
	int			dishonest = 0;
	int			unproven = 0;

	random_state = 81;
	for (int trial = 0; trial < 60; trial++)
	{
		int			room = 150 + random_int(50);
		Rich	   *p = knapsacks(30 + random_int(20), room, 1e-3);
		double		optimum = optimum_by_table(p);

		p->problem.gap_wanted = 1e-12;
		p->problem.effort = 1000 + random_int(20000);
		solve_rich(p);
		dishonest += p->result.lower_bound > optimum * (1 + 1e-9) ||
			p->result.objective < optimum * (1 - 1e-9) ||
			fabs(p->result.gap - 1 + p->result.lower_bound / p->result.objective) > 1e-12 ||
			p->result.limit_hit != (p->result.gap > 2e-9) ||
			rich_violation(p) != NULL;
		unproven += p->result.limit_hit;
		free_rich(p);
	}
	ok(dishonest == 0, "without effort: the gap is honest");
	ok(unproven > 5, "without effort: something remains unproven");
}


/*-------------------------------------------------------------------------
 * Several resources: by hand
 *-------------------------------------------------------------------------
 */

static void
set_unit(Rich *p, int unit, int current, double size,...)
{
	va_list		costs;

	va_start(costs, size);
	for (int t = 0; t < p->problem.ntiers; t++)
	{
		*cost_of(p, unit, t) = va_arg(costs, double);
		*use_of(p, unit, t, 0) = size;
	}
	va_end(costs);
	p->current[unit] = current;
}

static bool
is_placed(const Rich *p, TierSolverStatus status, const char *tiers)
{
	for (int u = 0; u < p->problem.nunits; u++)
		if (p->result.tier[u] != (tiers[u] == '-' ? -1 : tiers[u] - '0'))
			return false;
	return p->result.status == status && (int) strlen(tiers) == p->problem.nunits;
}

static void
test_rich_by_hand(void)
{
	Rich	   *p = new_rich(3, 2, 1);

	/* Room for two of three: saved per byte 9, 8, 7 */
	set_unit(p, 0, 1, 10.0, 0.0, 90.0);
	set_unit(p, 1, 1, 10.0, 0.0, 80.0);
	set_unit(p, 2, 1, 10.0, 0.0, 70.0);
	p->capacity[0] = 25;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_CONSTRAINED, "001"), "size alone");
	ok(fabs(p->result.dual_price[0] - 7.0) < 1e-6,
	   "one more byte is worth what the next unit would save by it");
	ok(p->result.nactive == 3, "all three had a choice");

	/* Tier 0 is busy for 30 a unit with the hot ones, limit 60; 2 needs none. */
	for (int u = 0; u < 3; u++)
		*use_of(p, u, 0, 1) = u == 2 ? 0 : 30;
	*limit_of(p, 0, 1) = 59;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_CONSTRAINED, "010"), "busy time is in the way");
	ok(near(p->result.objective, 80.0), "busy time: the sum");
	ok(p->result.used_of[1] == 30 && p->result.used_of[0] == 20, "busy time: what is used");

	/* Too busy as it is: only a unit that needs no time may come in. */
	set_unit(p, 0, 0, 10.0, 0.0, INF);
	set_unit(p, 1, 0, 10.0, 0.0, INF);
	p->capacity[0] = 40;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_INFEASIBLE, "000"),
	   "who needs nothing of what is too much may come");
	ok(p->result.excess[1] == 1 && p->result.missing[1] == 1 && p->result.missing[0] == 0,
	   "one second too much, on this tier, of this resource");
	*use_of(p, 2, 0, 1) = 1e-3;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_INFEASIBLE, "001"), "who needs a little of it may not");
	free_rich(p);

	/* Compressed where it is slow: 40 bytes are 10 there */
	p = new_rich(2, 2, 0);
	set_unit(p, 0, 0, 40.0, 1.0, 5.0);
	set_unit(p, 1, 0, 40.0, 1.0, 7.0);
	p->capacity[0] = 40;
	p->capacity[1] = 15;
	*use_of(p, 0, 1, 0) = *use_of(p, 1, 1, 0) = 10;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_CONSTRAINED, "10") && p->result.used[1] == 10,
	   "a size for each tier");
	free_rich(p);
}

static void
test_rich_infeasible(void)
{
	Rich	   *p = new_rich(4, 2, 0);

	/* 40 bytes, room for 19 + 14 */
	for (int u = 0; u < 4; u++)
		set_unit(p, u, 1, 10.0, 1.0, 2.0 + u);
	p->capacity[0] = 19;
	p->capacity[1] = 14;
	solve_rich(p);
	ok(p->result.status == TIER_SOLVER_INFEASIBLE, "all together are too many");
	ok(fabs(p->result.missing[0] - 7) < 1e-6 && fabs(p->result.missing[1] - 7) < 1e-6,
	   "seven bytes are missing, here or there");
	ok(p->result.excess[0] == 0 && p->result.excess[1] == 16 && p->result.tier[3] == 0,
	   "the best that is possible all the same: one leaves, the hottest");

	/* Pins */
	p->capacity[0] = 19;
	p->capacity[1] = 100;
	p->pinned[0] = p->pinned[1] = 0;
	solve_rich(p);
	ok(p->result.status == TIER_SOLVER_INFEASIBLE && p->result.missing[0] == 1 &&
	   p->result.missing[1] == 0, "two pins that do not fit together, by one byte");
	ok(p->result.nobstacles == 0, "each of them would");
	p->pinned[1] = -1;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_CONSTRAINED, "0111"), "a pin is kept");
	p->capacity[0] = 9;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_INFEASIBLE, "1111") &&
	   p->result.obstacle[0] == TIER_SOLVER_PIN_TOO_LARGE && p->result.nobstacles == 1,
	   "a pin that does not fit alone");
	*cost_of(p, 0, 0) = INF;
	solve_rich(p);
	ok(p->result.obstacle[0] == TIER_SOLVER_PIN_FORBIDDEN, "a pin where it may not be");
	p->pinned[0] = -1;
	*cost_of(p, 0, 1) = INF;
	solve_rich(p);
	ok(p->result.obstacle[0] == TIER_SOLVER_FORBIDDEN &&
	   p->result.obstacle[1] == TIER_SOLVER_NO_OBSTACLE, "a unit that may be nowhere");
	*cost_of(p, 0, 1) = 1;
	p->capacity[1] = 35;
	*use_of(p, 0, 0, 0) = *use_of(p, 0, 1, 0) = 36;
	p->current[0] = 0;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_INFEASIBLE, "0111") &&
	   p->result.obstacle[0] == TIER_SOLVER_TOO_LARGE, "a unit that is too large for all");
	p->pinned[2] = 77;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_INFEASIBLE, "0111"), "a pin to no tier is none");

	/* Too large for where it is, and its neighbours can go and do */
	p->capacity[0] = 100;
	p->capacity[1] = 19;
	p->pinned[2] = -1;
	p->pinned[0] = 1;
	*use_of(p, 0, 0, 0) = *use_of(p, 0, 1, 0) = 36;
	for (int u = 0; u < 4; u++)
	{
		p->current[u] = 1;
		*cost_of(p, u, 0) = 5;
		*cost_of(p, u, 1) = 1;
	}
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_INFEASIBLE, "1000") && p->result.excess[1] == 17,
	   "the others make room for one that is too large as well as they can");
	free_rich(p);
}


/* What cannot be kept is no excuse for the rest. */
static void
test_rich_infeasible_rest(void)
{
	Rich	   *p = new_rich(4, 2, 0);
	int			wrong = 0;

	/* Two pins too many on tier 0; 2 and 3 could change places */
	for (int u = 0; u < 2; u++)
	{
		set_unit(p, u, 0, 8.0, 1.0, 2.0);
		p->pinned[u] = 0;
	}
	set_unit(p, 2, 0, 4.0, 1.0, 2.0);
	set_unit(p, 3, 1, 4.0, 1.0, 50.0);
	p->capacity[0] = 10;
	p->capacity[1] = 4;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_INFEASIBLE, "0001"),
	   "nobody comes into a tier that is too full, not even for another one");
	free_rich(p);

	/* Three tiers with an optimum, and a fourth one with two pins too many */
	random_state = 76;
	for (int trial = 0; trial < 40; trial++)
	{
		Rich	   *small = knapsacks(12, 60 + random_int(60), 1.0);
		double		optimum = optimum_by_table(small);
		const char *violated;

		p = new_rich(14, 4, 0);
		for (int u = 0; u < 14; u++)
			for (int t = 0; t < 4; t++)
			{
				*use_of(p, u, t, 0) = u < 12 ? *use_of(small, u, 0, 0) : 8;
				*cost_of(p, u, t) = u < 12 && t < 3 ? *cost_of(small, u, t) : u < 12 ? INF : 1;
				p->pinned[u] = u < 12 ? -1 : 3;
				p->current[u] = u < 12 ? 2 : 3;
			}
		for (int t = 0; t < 3; t++)
			p->capacity[t] = small->capacity[t];
		p->capacity[3] = 15;
		solve_rich(p);
		violated = rich_violation(p);
		if (violated != NULL || p->result.status != TIER_SOLVER_INFEASIBLE ||
			p->result.missing[3] != 1 || p->result.excess[3] != 1 ||
			fabs(p->result.objective - optimum - 2) > 1e-6)
			wrong++;
		free_rich(p);
		free_rich(small);
	}
	ok(wrong == 0, "beside a tier that is too full all others are placed as well as can be");
}


/*-------------------------------------------------------------------------
 * Many units, interruption, nonsense
 *-------------------------------------------------------------------------
 */

/* As a database may be: few hot units, sizes of all magnitudes. */
static Rich *
database(int nunits, int nresources)
{
	static const double speed[MAX_TIERS] = {1, 2.5, 12, 90};
	static const double share[MAX_TIERS] = {0.04, 0.15, 0.4, 2.0};
	Rich	   *p = new_rich(nunits, MAX_TIERS, nresources);
	double		total = 0;

	for (int u = 0; u < nunits; u++)
	{
		double		size = floor(exp(6 + 2 * (random_unit() + random_unit() + random_unit()) * 2));
		double		heat = random_int(4) ? 0.01 * random_unit() : exp(random_unit() * 9) * 0.01;
		double		scans = random_unit() * 1e-6 * size;

		p->current[u] = random_int(MAX_TIERS);
		for (int t = 0; t < MAX_TIERS; t++)
		{
			*use_of(p, u, t, 0) = size;
			*cost_of(p, u, t) = heat * speed[t] + scans * (1 + t) +
				(t == p->current[u] ? 0 : 1e-8 * size);
			for (int r = 1; r <= nresources; r++)
				*use_of(p, u, t, r) = r == 1 ? heat * speed[t] : scans * random_unit();
		}
		total += size;
	}
	for (int t = 0; t < MAX_TIERS; t++)
	{
		p->capacity[t] = floor(share[t] * total);
		for (int r = 1; r <= nresources; r++)
		{
			double		sum = 0;

			for (int u = 0; u < nunits; u++)
				sum += *use_of(p, u, t, r);
			*limit_of(p, t, r) = t == MAX_TIERS - 1 ? INF : 0.35 * sum;
		}
	}
	return p;
}

/* By default, and with what it takes to come close to the optimum. */
static void
test_rich_many(void)
{
	static const int sizes[] = {30, 100, 300, 1000, 5000};

	random_state = 91;
	for (int i = 0; i < 5; i++)
	{
		Rich	   *p = database(sizes[i], 2);

		for (int exact = 0; exact < 2; exact++)
		{
			double		wanted = exact ? 1e-4 : TIER_SOLVER_GAP;
			const char *violated;
			double		gap;

			p->problem.gap_wanted = exact ? wanted : 0;
			p->problem.effort = exact ? 1e8 : 0;
			solve_rich(p);
			violated = rich_violation(p);
			gap = 1 - p->result.lower_bound / p->result.objective;
			ok(violated == NULL && p->result.status == TIER_SOLVER_CONSTRAINED,
			   "%d units: the answer keeps the promises", sizes[i]);
			if (violated != NULL)
				printf("# %s\n", violated);
			ok(gap <= wanted && !p->result.limit_hit,
			   "%d units: a gap of %g", sizes[i], wanted);
			if (gap > wanted)
				printf("# gap %g after %ld nodes, effort %g\n", gap, p->result.nnodes,
					   p->result.effort);
		}
		free_rich(p);
	}
}

/*
 * States that make no sense, with a thousand units: effort has a bound, the answer
 * keeps the promises, and says how far it may be from the best.
 */
static void
test_rich_absurd(void)
{
	static const char *const names[] = {"no room at all", "all pinned where few fit",
		"three times too busy", "all equal", "equal worth for each byte", "costs of nothing",
	"one tier", "sizes of all magnitudes"};

	random_state = 95;
	for (int kind = 0; kind < 8; kind++)
	{
		Rich	   *p = kind == 6 ? new_rich(1000, 1, 2) : database(1000, 2);
		int			ntiers = p->problem.ntiers;
		const char *violated;

		for (int u = 0; u < 1000; u++)
		{
			double		size = floor(exp(random_unit() * 40));

			if (kind == 1)
				p->pinned[u] = 0;
			for (int t = 0; t < ntiers; t++)
			{
				if (kind >= 3 && kind <= 6)
					*use_of(p, u, t, 0) = kind == 4 ? 10 + u % 7 : 10;
				if (kind == 7)
					*use_of(p, u, t, 0) = size;
				if (kind == 4)
					*cost_of(p, u, t) = (10 + u % 7) * (1 + t);
				else if (kind >= 3 && kind <= 6)
					*cost_of(p, u, t) = kind == 5 ? 0 : 1 + t;
			}
		}
		for (int t = 0; t < ntiers; t++)
		{
			double		busy = 0;

			for (int u = 0; u < 1000; u++)
				busy += *use_of(p, u, t, 1);
			if (kind == 0)
				p->capacity[t] = 0;
			else if (kind == 1)
				p->capacity[t] *= 0.1;
			else if (kind >= 3)
				p->capacity[t] = kind == 7 ? 1e16 : 3007;
			if (kind == 2)
				*limit_of(p, t, 1) = busy / ntiers / 3;
		}
		solve_rich(p);
		violated = rich_violation(p);
		ok(violated == NULL, "%s: the answer keeps the promises", names[kind]);
		if (violated != NULL)
			printf("# %s\n", violated);
		ok(p->result.effort <= 2.5 * TIER_SOLVER_EFFORT, "%s: effort has a bound", names[kind]);
		if (p->result.effort > 2.5 * TIER_SOLVER_EFFORT)
			printf("# effort %g\n", p->result.effort);
		free_rich(p);
	}
}

/*
 * All is on a tier that has no room, and a quarter of it fits elsewhere.  The
 * hottest should go there, about as if the tier had just the room that the rest
 * takes; the puzzle of which sizes fill the quarter to the last byte is not worth
 * a worse choice.
 */
static void
test_rich_too_full(void)
{
	int			wrong = 0;
	double		worst = 0;

	random_state = 97;
	for (int trial = 0; trial < 20; trial++)
	{
		Rich	   *p = new_rich(300, 2, 0);
		double		total = 0;
		double		with_room;

		for (int u = 0; u < 300; u++)
		{
			double		size = floor(exp(10 + 8 * random_unit()));

			set_unit(p, u, 1, size, 1.0, 1.0 + exp(random_unit() * 9));
			total += size;
		}
		p->capacity[0] = floor(0.25 * total);
		p->capacity[1] = 0.76 * total;
		solve_rich(p);
		wrong += p->result.status == TIER_SOLVER_INFEASIBLE;
		with_room = p->result.objective;
		p->capacity[1] = 0;
		solve_rich(p);
		wrong += p->result.status != TIER_SOLVER_INFEASIBLE ||
			p->result.excess[1] > 0.76 * total ||
			rich_violation(p) != NULL;
		worst = fmax(worst, p->result.objective / with_room);
		free_rich(p);
	}
	ok(wrong == 0, "a tier without room: the answer keeps the promises");
	ok(worst < 1.05, "a tier without room: those leave who gain most");
	if (worst >= 1.05)
		printf("# %g times as much as with room\n", worst);
}

static int	polls;
static int	polls_allowed;
static jmp_buf leave;

static bool
interrupt(void *argument)
{
	polls++;
	return argument != NULL && polls > polls_allowed;
}

static bool
interrupt_by_jump(void *argument)
{
	if (++polls > polls_allowed)
		longjmp(leave, 1);
	return false;
}

/* Memory that is freed as a whole, as a memory context is. */
static void *arena[100000];
static int	arena_used = 0;

static void *
arena_alloc(size_t bytes)
{
	if (arena_used == 100000 || (arena[arena_used] = malloc(bytes)) == NULL)
		abort();
	return arena[arena_used++];
}

static void
arena_release(void *ptr)
{
	(void) ptr;
}

static void
test_rich_interruption(void)
{
	Rich	   *p;
	int			wrong = 0;
	int			stopped = 0;
	int			all;
	volatile int jumps = 0;

	random_state = 101;
	p = database(2500, 2);
	p->problem.gap_wanted = 1e-5;
	p->problem.effort = 5e7;
	p->problem.interrupted = interrupt;
	polls = 0;
	solve_rich(p);
	all = polls;
	ok(all >= 10, "it asks whether to go on");
	for (polls_allowed = 0; polls_allowed < 30; polls_allowed++)
	{
		p->problem.interrupted_argument = &all;
		polls = 0;
		solve_rich(p);
		wrong += rich_violation(p) != NULL;
		stopped += p->result.interrupted;
		if (p->result.interrupted && polls != polls_allowed + 1)
			wrong++;
	}
	ok(wrong == 0, "interrupted: what is known so far keeps the promises");
	ok(stopped >= 10, "interrupted: it says so");

	p->problem.interrupted = interrupt_by_jump;
	p->problem.alloc = arena_alloc;
	p->problem.release = arena_release;
	for (int i = 0; i < 5; i++)
	{
		polls = 0;
		polls_allowed = 2 * i;
		if (setjmp(leave) == 0)
			solve_rich(p);
		else
			jumps++;
		while (arena_used > 0)
			free(arena[--arena_used]);
	}
	ok(jumps == 5, "a jump out of it leaves nothing that its memory does not hold");
	free_rich(p);
}

/* Numbers that make no sense, in all places. */
static void
test_rich_nonsense(void)
{
	static const double numbers[] = {0, -0.0, 1, -1, 5, 1e18, 1e300, DBL_MAX, -DBL_MAX,
	DBL_MIN, 5e-324, 1e-9, INFINITY, -INFINITY, NAN, 9007199254740993.0};
	int			wrong = 0;

	random_state = 111;
	for (int trial = 0; trial < 4000; trial++)
	{
		int			nunits = random_int(8);
		int			ntiers = 1 + random_int(MAX_TIERS);
		Rich	   *p = new_rich(nunits, ntiers, random_int(MAX_RESOURCES));
		int			rate = 1 + random_int(6);
		int			rows;

		fill_rich(p, 1.0, trial % 2);
		rows = p->problem.ntiers * p->nall;
#define NONSENSE(where) \
		do { if (random_int(rate) == 0) (where) = numbers[random_int(16)]; } while (0)
		for (int u = 0; u < p->problem.nunits; u++)
		{
			p->current[u] = random_int(8) - 2;
			p->pinned[u] = random_int(20) - 10;
			for (int t = 0; t < p->problem.ntiers; t++)
			{
				NONSENSE(*cost_of(p, u, t));
				for (int r = 0; r < p->nall; r++)
					NONSENSE(*use_of(p, u, t, r));
			}
		}
		for (int t = 0; t < p->problem.ntiers; t++)
			for (int r = 0; r < p->nall; r++)
				NONSENSE(*limit_of(p, t, r));
		NONSENSE(p->problem.cost_epsilon);
		NONSENSE(p->problem.gap_wanted);
#undef NONSENSE
		p->problem.effort = random_int(2) ? NAN : 1e5;
		solve_rich(p);
		for (int u = 0; u < p->problem.nunits; u++)
		{
			int			tier = p->result.tier[u];

			if (tier < -1 || tier >= p->problem.ntiers ||
				(tier < 0 && p->current[u] >= 0 && p->current[u] < p->problem.ntiers))
				wrong++;
		}
		for (int row = 0; row < rows; row++)
			if (!isfinite(p->result.used_of[row]) || !isfinite(p->result.excess[row]) ||
				!isfinite(p->result.missing[row]) || !isfinite(p->result.dual_price[row]) ||
				p->result.dual_price[row] < 0 || p->result.missing[row] < 0)
				wrong++;
		if (!isfinite(p->result.objective) || !isfinite(p->result.lower_bound) ||
			p->result.lower_bound > p->result.objective ||
			!(p->result.gap >= 0 && p->result.gap <= 1) || allocations != 0)
			wrong++;
		free_rich(p);
	}
	ok(wrong == 0, "numbers that make no sense: the answer is one");
}

static void
test_rich_edges(void)
{
	Rich	   *p = new_rich(2, 40, 0);
	double		pow53 = 9007199254740992.0;

	solve_rich(p);
	ok(p->result.status == TIER_SOLVER_INFEASIBLE && p->result.tier[0] == -1 + 40 &&
	   p->result.objective == 0, "too many tiers: nobody moves");
	p->problem.ntiers = 0;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_INFEASIBLE, "--"), "no tier");
	p->problem.nunits = 0;
	solve_rich(p);
	ok(p->result.status == TIER_SOLVER_UNCONSTRAINED, "nothing at all");
	p->problem.ntiers = 3;
	p->problem.nresources = TIER_SOLVER_MAX_RESOURCES;
	p->problem.nunits = 1;
	solve_rich(p);
	ok(p->result.status == TIER_SOLVER_INFEASIBLE, "too many resources");
	p->problem.nresources = -1;
	solve_rich(p);
	ok(p->result.status == TIER_SOLVER_INFEASIBLE, "fewer than no resources");
	free_rich(p);

	/* All that the result may be told not to say */
	p = new_rich(2, 2, 1);
	set_unit(p, 0, 1, pow53, 1.0, 2.0);
	set_unit(p, 1, 1, 1e18, 1.0, 3.0);
	p->capacity[0] = 1e18;
	free(p->result.obstacle);
	free(p->result.used_of);
	free(p->result.dual_price);
	free(p->result.excess);
	free(p->result.missing);
	p->result.obstacle = NULL;
	p->result.used_of = p->result.dual_price = p->result.excess = p->result.missing = NULL;
	solve_rich(p);
	ok(is_placed(p, TIER_SOLVER_CONSTRAINED, "10"), "exabytes, and an answer in brief");
	free_rich(p);

	/* 32 tiers, each takes one unit, and a bit that nobody can use */
	p = new_rich(32, 32, 0);
	p->problem.effort = 1e6;
	for (int u = 0; u < 32; u++)
		for (int t = 0; t < 32; t++)
		{
			*cost_of(p, u, t) = 1 + abs(t - (u * 7) % 32);
			*use_of(p, u, t, 0) = 3;
			p->capacity[t] = 5;
			p->current[u] = -1;
		}
	solve_rich(p);
	ok(p->result.status == TIER_SOLVER_UNCONSTRAINED && near(p->result.objective, 32),
	   "32 tiers with room for one unit each");
	for (int u = 0; u < 32; u++)
		for (int t = 0; t < 32; t++)
			*cost_of(p, u, t) = t == 0 ? 1 : 2;
	solve_rich(p);
	ok(p->result.status == TIER_SOLVER_CONSTRAINED && near(p->result.objective, 63),
	   "32 tiers, of which all want the same one");
	p->capacity[9] = 2;
	solve_rich(p);
	ok(p->result.status == TIER_SOLVER_INFEASIBLE && p->result.limit_hit,
	   "32 units for 31 tiers, and no proof that it is impossible");
	p->problem.effort = 0;
	solve_rich(p);
	ok(p->result.limit_hit && p->result.effort <= 1.5 * TIER_SOLVER_EFFORT,
	   "32 units for 31 tiers: by default the search for a proof ends");
	free_rich(p);
}

int
main(void)
{
	test_solver_basics();
	test_solver_displaces();
	test_solver_greedy_traps();
	test_solver_rotation();
	test_solver_orders();
	test_solver_ties();
	test_solver_zero_sizes();
	test_solver_forbidden();
	test_solver_over_full();
	for (int family = 0; family < NUM_FAMILIES; family++)
		test_solver_random((Family) family, 2000);
	test_solver_is_stable();
	test_solver_large();

	test_rich_by_hand();
	test_rich_infeasible();
	test_rich_infeasible_rest();
	random_state = 61;
	test_rich_random("an ample tier", 1500, 9, 0.7, true);
	test_rich_random("all tiers are scarce", 1500, 8, 1.8, false);
	test_rich_tables();
	test_rich_honest_gap();
	test_rich_many();
	test_rich_absurd();
	test_rich_too_full();
	test_rich_interruption();
	test_rich_nonsense();
	test_rich_edges();

	return done();
}
