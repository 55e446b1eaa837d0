/*-------------------------------------------------------------------------
 *
 * test_solver.c
 *		Tests of the solver.  Prints TAP; run it by test/unit/run.
 *
 * Cases computed by hand, then random ones with fixed seeds: small ones against brute
 * force, larger ones against what the contract promises, and numbers that make no sense.
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

#define MAX_UNITS 2500
#define MAX_TIERS 4
#define MAX_RESOURCES 3
#define INF INFINITY

static int	allocations = 0;

static void *
counting_alloc(size_t bytes)
{
	void	   *ptr = malloc(bytes);

	if (bytes == 0 || ptr == NULL)
		abort();
	memset(ptr, 0x7f, bytes);	/* zeros are not promised */
	allocations++;
	return ptr;
}

static void
counting_release(void *ptr)
{
	allocations--;
	free(ptr);
}

static struct
{
	TierSolverProblem problem;
	TierSolverResult result;
	double		cost[MAX_UNITS * MAX_TIERS];
	double		price[MAX_UNITS * MAX_TIERS];
	double		use[MAX_UNITS * MAX_TIERS * MAX_RESOURCES];
	double		limit[MAX_TIERS * MAX_RESOURCES];
	int			start[MAX_UNITS];
	int			tier[MAX_UNITS];
	double		limit_price[MAX_TIERS * MAX_RESOURCES];
}			c;

static void
begin(int nunits, int ntiers, int nresources)
{
	memset(&c, 0, sizeof(c));
	c.problem.nunits = nunits;
	c.problem.ntiers = ntiers;
	c.problem.nresources = nresources;
	c.problem.cost = c.cost;
	c.problem.price = c.price;
	c.problem.use = c.use;
	c.problem.limit = c.limit;
	c.problem.start = c.start;
	c.problem.alloc = counting_alloc;
	c.problem.release = counting_release;
	c.result.tier = c.tier;
	c.result.limit_price = c.limit_price;
	for (int row = 0; row < MAX_TIERS * MAX_RESOURCES; row++)
		c.limit[row] = INF;
}

static double *
use_of(int unit, int tier)
{
	return &c.use[(unit * c.problem.ntiers + tier) * c.problem.nresources];
}

static double
cost_of(int unit, int tier)
{
	return tier < 0 ? INF : c.cost[unit * c.problem.ntiers + tier];
}

/* Appends a unit with one size and its ntiers costs. */
static int
add_unit(int start, double size,...)
{
	int			unit = c.problem.nunits++;
	va_list		costs;

	c.start[unit] = start;
	va_start(costs, size);
	for (int t = 0; t < c.problem.ntiers; t++)
	{
		c.cost[unit * c.problem.ntiers + t] = va_arg(costs, double);
		use_of(unit, t)[0] = size;
	}
	va_end(costs);
	return unit;
}

static void
solve(void)
{
	memset(c.tier, 0x55, sizeof(c.tier));
	tier_solver_solve(&c.problem, &c.result);
}

/* Solves, and compares the tiers, e.g. "01-". */
static void
solves_to(const char *tiers, const char *name)
{
	char		got[64] = "";

	solve();
	for (int u = 0; u < c.problem.nunits; u++)
		got[u] = c.tier[u] < 0 ? '-' : '0' + c.tier[u];
	ok(strcmp(got, tiers) == 0, "%s", name);
	if (strcmp(got, tiers) != 0)
		printf("# got %s, expected %s\n", got, tiers);
}

static void
add_up(const int *tier, double *used)
{
	memset(used, 0, sizeof(double) * MAX_TIERS * MAX_RESOURCES);
	for (int u = 0; u < c.problem.nunits; u++)
		for (int r = 0; tier[u] >= 0 && r < c.problem.nresources; r++)
			used[tier[u] * c.problem.nresources + r] += use_of(u, tier[u])[r];
}

/* Does it keep all limits, with all units where they may be? */
static bool
keeps(const int *tier)
{
	double		used[MAX_TIERS * MAX_RESOURCES];

	add_up(tier, used);
	for (int u = 0; u < c.problem.nunits; u++)
		if (isinf(cost_of(u, tier[u])))
			return false;
	for (int row = 0; row < c.problem.ntiers * c.problem.nresources; row++)
		if (used[row] > c.limit[row] * (1.0 + 1e-11))
			return false;
	return true;
}

static double
sum_of(const int *tier)
{
	double		sum = 0.0;

	for (int u = 0; u < c.problem.nunits; u++)
		sum += isinf(cost_of(u, tier[u])) ? 0.0 : cost_of(u, tier[u]);
	return sum;
}

/* What the contract promises of any answer; NULL: it holds. */
static const char *
broken_promise(void)
{
	double		used[MAX_TIERS * MAX_RESOURCES];
	double		before[MAX_TIERS * MAX_RESOURCES];
	int			nresources = c.problem.nresources;

	add_up(c.tier, used);
	add_up(c.start, before);
	if (allocations != 0)
		return "memory is left";
	if (keeps(c.start) && (!keeps(c.tier) || sum_of(c.tier) > sum_of(c.start) * (1 + 1e-9)))
		return "worse than the start";
	if (c.result.keeps_limits != keeps(c.tier))
		return "keeps_limits";
	if (c.result.keeps_limits &&
		fabs(c.result.objective - sum_of(c.tier)) > 1e-9 * c.result.objective)
		return "objective";
	if (c.result.lower_bound > c.result.objective)
		return "bound above the objective";
	for (int row = 0; row < c.problem.ntiers * nresources; row++)
		if (used[row] > c.limit[row] * (1 + 1e-11) && used[row] > before[row] * (1 + 1e-11))
			return "a tier that has too much has more";
	for (int u = 0; u < c.problem.nunits; u++)
		for (int r = 0; c.tier[u] != c.start[u] && r < nresources; r++)
			if (c.tier[u] < 0 || (use_of(u, c.tier[u])[r] > 0.0 &&
								  used[c.tier[u] * nresources + r] >
								  c.limit[c.tier[u] * nresources + r] * (1 + 1e-11)))
				return "moved to where there is no room";
	return NULL;
}

static void
test_by_hand(void)
{
	begin(0, 2, 1);
	solves_to("", "no unit");
	ok(c.result.objective == 0 && c.result.keeps_limits, "no unit: nothing to pay");
	add_unit(1, 10.0, 1.0, 5.0);
	add_unit(0, 20.0, 7.0, 3.0);
	solves_to("01", "everybody gets the cheapest tier");
	is(c.result.objective, 4.0, "the objective is the sum");
	is(c.result.lower_bound, 4.0, "and so is the bound, without a limit");

	begin(0, 2, 1);
	c.limit[0] = 21;
	add_unit(1, 10.0, 1.0, 5.0);
	add_unit(1, 20.0, 2.0, 12.0);
	add_unit(1, 1.0, 1.0, 2.0);
	solves_to("100", "most saved per byte first");
	c.limit[0] = 26;
	solves_to("100", "what fits no more stays");
	is(c.limit_price[0], 0.4, "a byte is worth what the last unit saves for each");
	is(c.result.lower_bound, 6.0, "the bound splits the last unit");

	begin(0, 2, 1);
	c.limit[0] = 10;
	add_unit(0, 10.0, 0.0, 0.0);
	add_unit(1, 10.0, 1.0, 9.0);
	solves_to("10", "an idle unit gives way to a hot one");
	begin(0, 2, 1);
	c.limit[0] = 10;
	add_unit(1, 10.0, 1.0, 9.0);
	add_unit(0, 10.0, 1.0, 9.0);
	solves_to("10", "equal units do not change places");

	begin(0, 2, 1);
	c.limit[0] = 10;
	add_unit(1, 1.0, 0.0, 2.0);
	add_unit(1, 10.0, 0.0, 10.0);
	solves_to("10", "a small dense unit does not shut out a large one");
	begin(0, 2, 1);
	c.limit[0] = 10;
	for (int i = 0; i < 5; i++)
		add_unit(1, 1.0, 0.0, 1.5);
	add_unit(1, 10.0, 0.0, 10.0);
	solves_to("111110", "nor do several that save less together");

	begin(0, 3, 1);
	c.limit[0] = c.limit[1] = 10;
	add_unit(2, 10.0, 0.0, 1.0, 100.0);
	add_unit(2, 10.0, 0.0, 2.0, 4.0);
	add_unit(2, 10.0, 0.0, 3.0, 5.0);
	solve();
	is(c.result.objective, 5.0, "three tiers, the optimum");
}

static void
test_ties(void)
{
	begin(0, 3, 1);
	add_unit(1, 10.0, 1.0, 1.0, 1.0);
	solves_to("1", "of equal tiers the unit's own");
	c.price[0] = 3.0;
	c.price[1] = 2.0;
	c.price[2] = 2.0;
	solves_to("1", "also if another one is as cheap");
	c.price[2] = 1.5;
	solves_to("2", "the price decides");
	c.price[1] = 0.0;
	solves_to("1", "an unknown price is no reason to leave");
	c.price[1] = 2.0;
	c.price[2] = 0.0;
	solves_to("1", "and none to come");
}

static void
test_not_possible(void)
{
	begin(0, 2, 1);
	add_unit(0, 10.0, INF, INF);
	add_unit(1, 10.0, 1.0, 4.0);
	c.limit[0] = 15;
	solves_to("01", "who may be nowhere stays, and counts");
	begin(0, 2, 1);
	add_unit(0, 10.0, 1.0, 2.0);
	add_unit(0, 4.0, 1.0, 3.0);
	add_unit(1, 1.0, 1.0, 9.0);
	c.limit[0] = 3;
	c.limit[1] = 5;
	solves_to("011", "too full: who can leaves, who fits nowhere stays");
	ok(!c.result.keeps_limits, "too full: which is said");
	begin(0, 2, 1);
	add_unit(-1, 10.0, 1.0, 2.0);
	add_unit(-1, 10.0, 1.0, 3.0);
	add_unit(-1, 10.0, INF, INF);
	c.limit[0] = 10;
	solves_to("10-", "units that are on no tier");
}

/* Sizes, uses and limits of all kinds. */
static void
fill(int nunits, int ntiers, int nresources, double room, bool is_ample)
{
	double		total[MAX_RESOURCES] = {0};

	begin(nunits, ntiers, nresources);
	for (int u = 0; u < nunits; u++)
	{
		double		size = floor(exp(5 * random_unit()) * 10);
		double		heat = random_int(3) ? random_unit() : exp(6 * random_unit());

		c.start[u] = random_int(ntiers);
		for (int t = 0; t < ntiers; t++)
		{
			c.cost[u * ntiers + t] = random_int(20) == 0 && t != c.start[u] ? INF :
				heat * (1 + t * t) + (t == c.start[u] ? 0 : 0.001 * size);
			for (int r = 0; r < nresources; r++)
				use_of(u, t)[r] = r == 0 ? size : floor(heat * (1 + t) * random_unit());
			for (int r = 0; r < nresources; r++)
				total[r] += use_of(u, t)[r] / ntiers;
		}
	}
	for (int t = 0; t < ntiers; t++)
		for (int r = 0; r < nresources; r++)
			c.limit[t * nresources + r] = is_ample && t == ntiers - 1 ? INF :
				floor(total[r] * room / ntiers * (0.5 + random_unit()));
}

/* The least cost of all placements; INFINITY: none keeps the limits. */
static double
brute_force(void)
{
	int			tier[MAX_UNITS] = {0};
	double		best = INF;
	long		n = 1;

	for (int u = 0; u < c.problem.nunits; u++)
		n *= c.problem.ntiers;
	for (long i = 0; i < n; i++)
	{
		long		rest = i;

		for (int u = 0; u < c.problem.nunits; u++, rest /= c.problem.ntiers)
			tier[u] = (int) (rest % c.problem.ntiers);
		if (keeps(tier))
			best = fmin(best, sum_of(tier));
	}
	return best;
}

/* What a greedy by what is saved for each byte makes of two tiers. */
static double
greedy_by_density(void)
{
	int			tier[MAX_UNITS];
	double		room = c.limit[0];

	for (int u = 0; u < c.problem.nunits; u++)
		tier[u] = 1;
	for (;;)
	{
		double		most = 0.0;
		int			best = -1;

		for (int u = 0; u < c.problem.nunits; u++)
		{
			double		density = (cost_of(u, 1) - cost_of(u, 0)) / use_of(u, 0)[0];

			if (tier[u] == 1 && density > most && use_of(u, 0)[0] <= room)
			{
				most = density;
				best = u;
			}
		}
		if (best < 0)
			return sum_of(tier);
		tier[best] = 0;
		room -= use_of(best, 0)[0];
	}
}

static void
test_brute_force(int ntiers, int nresources, bool is_ample, double most)
{
	int			broken = 0;
	int			missed = 0;
	int			below = 0;
	int			possible = 0;
	double		worst = 0;
	double		sum = 0;

	for (int trial = 0; trial < 400; trial++)
	{
		double		optimum;
		const char *promise;

		fill(2 + random_int(ntiers == 2 ? 9 : 6), ntiers, nresources, is_ample ? 0.6 : 1.5,
			 is_ample);
		optimum = brute_force();
		solve();
		promise = broken_promise();
		if (promise != NULL && broken++ == 0)
			printf("# trial %d: %s\n", trial, promise);
		if (isinf(optimum))
			continue;
		possible++;
		missed += !c.result.keeps_limits;
		if (!c.result.keeps_limits)
			continue;
		below += c.result.objective < optimum * (1 - 1e-9) ||
			c.result.lower_bound > optimum * (1 + 1e-9);
		worst = fmax(worst, c.result.objective / optimum - 1);
		sum += c.result.objective / optimum - 1;
	}
	printf("# %d tiers, %d resources: %d possible, %d missed, at most %.2f %%, mean %.3f %%\n",
		   ntiers, nresources, possible, missed, 100 * worst, 100 * sum / possible);
	ok(broken == 0, "%d tiers, %d resources: the promises are kept", ntiers, nresources);
	ok(below == 0, "%d tiers, %d resources: optima are between bound and answer", ntiers,
	   nresources);
	ok(missed <= (is_ample ? 0 : possible / 20),
	   "%d tiers, %d resources: limits are kept where they can be", ntiers, nresources);
	ok(sum / possible <= most, "%d tiers, %d resources: near the optimum", ntiers, nresources);
}

static void
test_greedy(void)
{
	int			worse = 0;

	for (int trial = 0; trial < 200; trial++)
	{
		fill(5 + random_int(60), 2, 1, 0.6, true);
		for (int u = 0; u < c.problem.nunits; u++)
		{
			c.start[u] = 1;
			for (int t = 0; t < 2; t++)
				if (isinf(cost_of(u, t)))
					c.cost[u * 2 + t] = 1.0;
		}
		solve();
		worse += c.result.objective > greedy_by_density() * (1 + 1e-9);
	}
	ok(worse == 0, "never worse than a greedy by density (%d)", worse);
}

static void
test_large(void)
{
	for (int n = 30; n <= 2500; n *= 4)
		for (int quick = 0; quick < 2; quick++)
		{
			const char *promise;

			fill(n, 4, 3, 0.8, true);
			c.problem.quick = quick;
			solve();
			promise = broken_promise();
			ok(promise == NULL, "%d units%s: the promises are kept", n, quick ? ", quick" : "");
			if (promise != NULL)
				printf("# %s\n", promise);
		}
	fill(2000, 2, 1, 0.8, true);
	solve();
	ok(c.result.objective - c.result.lower_bound < 0.01 * c.result.objective,
	   "many units: near the bound");
	memcpy(c.start, c.tier, sizeof(c.start));
	solve();
	ok(memcmp(c.start, c.tier, sizeof(int) * 2000) == 0, "many units: and there it stays");
}

static int	polls;
static int	polls_allowed;
static jmp_buf leave;

static bool
interrupt(void *argument)
{
	(void) argument;
	return ++polls > polls_allowed;
}

static bool
interrupt_by_jump(void *argument)
{
	if (interrupt(argument))
		longjmp(leave, 1);
	return false;
}

/* Memory that is freed as a whole, as a memory context is. */
static void *arena[100000];
static volatile int arena_used = 0;

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
test_interruption(void)
{
	int			wrong = 0;
	int			stopped = 0;
	volatile int jumps = 0;

	for (polls_allowed = 0; polls_allowed < 40; polls_allowed++)
	{
		fill(300, 3, 2, 0.8, true);
		c.problem.interrupted = interrupt;
		polls = 0;
		solve();
		wrong += broken_promise() != NULL;
		stopped += c.result.interrupted;
	}
	ok(wrong == 0, "interrupted: what is known so far keeps the promises");
	ok(stopped == 40, "interrupted: which is said");
	c.problem.interrupted = interrupt_by_jump;
	c.problem.alloc = arena_alloc;
	c.problem.release = arena_release;
	for (int i = 0; i < 5; i++)
	{
		polls = 0;
		polls_allowed = 2 * i;
		if (setjmp(leave) == 0)
			solve();
		else
			jumps++;
		while (arena_used > 0)
			free(arena[--arena_used]);
	}
	ok(jumps == 5, "a jump out of it leaves nothing that its memory does not hold");
}

/* Numbers that make no sense, in all places. */
static void
test_nonsense(void)
{
	static const double numbers[] = {0, -0.0, 1, -1, 5, 1e18, 1e300, DBL_MAX, -DBL_MAX,
	DBL_MIN, 5e-324, 1e-9, INFINITY, -INFINITY, NAN, 9007199254740993.0};
	int			wrong = 0;

	for (int trial = 0; trial < 3000; trial++)
	{
		int			rate = 1 + random_int(6);

		fill(random_int(8), 1 + random_int(MAX_TIERS), 1 + random_int(MAX_RESOURCES), 1.0,
			 trial % 2);
#define NONSENSE(where) \
		do { if (random_int(rate) == 0) (where) = numbers[random_int(16)]; } while (0)
		for (int u = 0; u < c.problem.nunits; u++)
		{
			c.start[u] = random_int(8) - 2;
			for (int t = 0; t < c.problem.ntiers; t++)
			{
				NONSENSE(c.cost[u * c.problem.ntiers + t]);
				NONSENSE(c.price[u * c.problem.ntiers + t]);
				for (int r = 0; r < c.problem.nresources; r++)
					NONSENSE(use_of(u, t)[r]);
			}
		}
		for (int row = 0; row < c.problem.ntiers * c.problem.nresources; row++)
			NONSENSE(c.limit[row]);
#undef NONSENSE
		solve();
		for (int u = 0; u < c.problem.nunits; u++)
			wrong += c.tier[u] < -1 || c.tier[u] >= c.problem.ntiers ||
				(c.tier[u] < 0 && c.start[u] >= 0 && c.start[u] < c.problem.ntiers);
		for (int row = 0; row < c.problem.ntiers * c.problem.nresources; row++)
			wrong += !(c.limit_price[row] >= 0.0 && c.limit_price[row] <= DBL_MAX);
		wrong += !isfinite(c.result.objective) || !(c.result.lower_bound <= c.result.objective) ||
			allocations != 0;
	}
	ok(wrong == 0, "numbers that make no sense: the answer is one (%d)", wrong);
}

int
main(void)
{
	random_state = 61;
	test_by_hand();
	test_ties();
	test_not_possible();
	test_brute_force(2, 1, true, 0.002);
	test_brute_force(2, 3, true, 0.005);
	test_brute_force(3, 2, true, 0.01);
	test_brute_force(3, 2, false, 0.02);
	test_greedy();
	test_large();
	test_interruption();
	test_nonsense();
	return done();
}
