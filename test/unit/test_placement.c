/*-------------------------------------------------------------------------
 *
 * test_placement.c
 *		Tests of what a placement costs and which one is chosen: queues, limits,
 *		objectives, compressed tiers, and that nothing goes to and fro.  Prints
 *		TAP; run it by test/unit/run.
 *
 * Numbers in fixtures were computed by hand; the arithmetic is beside them.
 * Optima come from brute force, with formulas written down anew.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "src/model/cost.h"
#include "src/model/heat.h"
#include "src/model/placement.h"

#define MAX_UNITS 400
#define MAX_TIERS 4

static int	allocations = 0;

static void *
counting_alloc(size_t bytes)
{
	void	   *ptr = malloc(bytes);

	if (bytes == 0 || ptr == NULL)
		abort();
	memset(ptr, 0x7f, bytes);
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
static struct
{
	TierPlacementProblem problem;
	TierPlacementResult result;
	double		busy[MAX_UNITS * MAX_TIERS];
	double		occupied[MAX_UNITS * MAX_TIERS];
	double		wait[MAX_UNITS * MAX_TIERS];
	double		written[MAX_UNITS * MAX_TIERS];
	double		stored[MAX_UNITS * MAX_TIERS];
	double		price[MAX_UNITS * MAX_TIERS];
	double		move[MAX_UNITS * MAX_TIERS];
	bool		allowed[MAX_UNITS * MAX_TIERS];
	int			current[MAX_UNITS];
	double		available[MAX_TIERS];
	double		endurance[MAX_TIERS];
	int			tier[MAX_UNITS];
	TierPlacementTotals now[MAX_TIERS];
	TierPlacementTotals after[MAX_TIERS];
	TierPlacementLimits asked[MAX_TIERS];
	TierPlacementLimits kept[MAX_TIERS];
}			c;

static void
begin(int ntiers)
{
	memset(&c, 0, sizeof(c));
	c.problem.ntiers = ntiers;
	c.problem.busy_s = c.busy;
	c.problem.occupied_s = c.occupied;
	c.problem.wait_s = c.wait;
	c.problem.written_bytes = c.written;
	c.problem.stored_bytes = c.stored;
	c.problem.price = c.price;
	c.problem.move_s = c.move;
	c.problem.allowed = c.allowed;
	c.problem.current = c.current;
	c.problem.available_bytes = c.available;
	c.problem.endurance_bytes_per_day = c.endurance;
	c.problem.horizon_hours = 720;
	c.problem.alloc = counting_alloc;
	c.problem.release = counting_release;
	c.result.tier = c.tier;
	c.result.now = c.now;
	c.result.after = c.after;
	c.result.asked = c.asked;
	c.result.kept = c.kept;
	for (int t = 0; t < MAX_TIERS; t++)
		c.available[t] = c.endurance[t] = INFINITY;
}

/* A unit of this size on this tier; then what it costs on each. */
static int
add_unit(double size, int current)
{
	int			u = c.problem.nunits++;

	c.current[u] = current;
	for (int t = 0; t < c.problem.ntiers; t++)
	{
		c.stored[u * c.problem.ntiers + t] = size;
		c.allowed[u * c.problem.ntiers + t] = true;
	}
	return u;
}

static void
costs(int u, int t, double busy, double occupied, double price)
{
	int			cell = u * c.problem.ntiers + t;

	c.busy[cell] = c.wait[cell] = busy;
	c.occupied[cell] = occupied;
	c.price[cell] = price;
}

static void
solve(void)
{
	tier_placement_solve(&c.problem, &c.result);
}

/*-------------------------------------------------------------------------
 * Costs
 *-------------------------------------------------------------------------
 */

static void
test_cost(void)
{
	TierCostProfile profile = {0};
	TierCostLoad load = {0};
	TierCostLoad idle = {0};
	TierCost	cost;

	profile.random_read_ms = 0.1;
	profile.random_write_ms = 0.2;
	profile.sequential_read_mb_per_s = 819.2;
	profile.parallelism = 10;
	load.random_reads = 1e6;
	load.sequential_reads = 1e6;
	load.scans = 5e5;
	load.page_writes = 1e6;
	cost = tier_cost_on(&load, &profile);
	/* 1.5e6 * 0.1 ms + 1e6 * 0.2 ms + 8.192e9 / 819.2e6 */
	is(cost.busy_s, 150 + 200 + 10, "cost: busy");
	is(cost.occupied_s, 15 + 20 + 10, "cost: what is served at once occupies less");

	/*
	 * Looking at a page takes 5 us, reading it 10 us: half of 10 s is waited
	 * for.
	 */
	is(cost.wait_s, 150 + 10 - 5, "cost: nobody waits for writes, and not for all of a scan");
	is(cost.written_bytes, 8192e6, "cost: bytes written");
	is(tier_cost_busy_s_per_hour(&load, &profile), cost.busy_s, "cost: busy alone is the same");

	profile.sequential_read_mb_per_s = 8192;
	is(tier_cost_on(&load, &profile).wait_s, 150,
	   "cost: reads faster than one can look are not waited for");

	/* Bare figures of a device on which 2 bytes fit into 1. */
	profile.sequential_read_mb_per_s = 819.2;
	profile.compression_ratio = 2;
	cost = tier_cost_on(&load, &profile);

	/*
	 * A read fetches 65536 bytes, 57344 more than 8192: 0.07 ms, and unpacks
	 * 131072 of them: 0.131072 ms; together 0.301072 ms.  A write costs 0.4
	 * ms; half the bytes are read.
	 */
	is(cost.busy_s, 1.5e6 * 0.301072e-3 + 400 + 5, "cost: compressed, bare figures");
	is(cost.written_bytes, 3 * 8192e6, "cost: compressed, writes are amplified");
	is(tier_cost_stored_bytes(1000, &profile), 500, "cost: compressed, half the bytes");
	is(tier_cost_price_per_month(2e9, &idle, &profile, 0.5), 0,
	   "cost: no price");
	profile.price_per_gb_month = 3;
	is(tier_cost_price_per_month(2e9, &idle, &profile, 0.5), 6,
	   "cost: compressed, half the price");
	profile.calibrated = true;
	is(tier_cost_on(&load, &profile).busy_s, 360, "cost: compressed, figures measured through it");
	profile.compression_ratio = 0.5;
	is(tier_cost_stored_bytes(1000, &profile), 1000, "cost: a ratio below 1 is none");
}

static void
test_ratio_of_files(void)
{
	is(tier_cost_ratio_of_files(300e6, 100e6, false), 3, "ratio: as the file system says");
	is(tier_cost_ratio_of_files(120e6, 100e6, false), 1.2, "ratio: less than assumed");
	is(tier_cost_ratio_of_files(90e6, 100e6, false), 1, "ratio: with other files, none");
	is(tier_cost_ratio_of_files(120e6, 100e6, true), 2, "ratio: shared, the assumption");
	is(tier_cost_ratio_of_files(300e6, 100e6, true), 3, "ratio: shared, proved to be more");
	is(tier_cost_ratio_of_files(60e6, 30e6 / 4, false), 2, "ratio: hardly anything is there");
	is(tier_cost_ratio_of_files(0, 0, false), 2, "ratio: nothing is there");
	is(tier_cost_ratio_of_files(NAN, NAN, false), 2, "ratio: nothing is known");
	is(tier_cost_ratio_of_files(1e300, 1e8, false), 1e6, "ratio: at most what may be given");
}

/* Hours waited for u hours of work, by halving until client-hours add up. */
static double
reference_queue_hours(double u, double n)
{
	double		low = fmax(1, (n - 1) / n * u);
	double		high = 1 + u;

	for (int i = 0; i < 200; i++)
	{
		double		middle = (low + high) / 2;
		double		there = u / (1 - (n - 1) / n * u / middle);

		if (n * middle < n + there)
			low = middle;
		else
			high = middle;
	}
	return n * low - n - u;
}

static void
test_queue(void)
{
	int			wrong = 0;
	int			too_much = 0;
	int			not_convex = 0;

	/*
	 * n = 9, u = 1: S = 2 / 3, so 9 / 2 * 2 / 3 - 1 = 2 wait, and the work
	 * takes 4 / 3 of an hour.
	 */
	is(tier_cost_queue_s(1, 9), 2 * 3600, "queue: full");
	is(tier_cost_queue_s_per_hour(1, 9), 1.5 * 3600, "queue: full, in an hour by the clock");
	is(tier_cost_queue_s(0, 9), 0, "queue: idle");
	ok(fabs(tier_cost_queue_s(0.7, 1)) < 1e-9 && fabs(tier_cost_queue_s(7, 1)) < 1e-9,
	   "queue: a single client waits for nobody");

	/* Little: u * u / (1 - u) wait of any number. */
	ok(fabs(tier_cost_queue_s(0.5, INFINITY) - 1800) < 0.1 &&
	   fabs(tier_cost_queue_s(0.5, NAN)) < 1e-9, "queue: half, of any number");
	ok(tier_cost_queue_s(NAN, 9) == 0 && tier_cost_queue_s(-1, 9) == 0 &&
	   tier_cost_queue_s(0.5, -3) == 0,
	   "queue: nonsense is idle");
	ok(isfinite(tier_cost_queue_s(1e300, 1e9)) &&
	   tier_cost_queue_s_per_hour(1e300, 20) < 19 * 3600 + 1e-3, "queue: always finite");

	for (int i = 1; i <= 400; i++)
		for (int k = 0; k < 6; k++)
		{
			static const double numbers[] = {1, 1.5, 2, 10, 100, 2000};
			double		n = numbers[k];
			double		u = i / 100.0;
			double		here = tier_cost_queue_s(u, n);
			double		step = 1e-4;
			double		before = tier_cost_queue_s(u - step, n);
			double		after = tier_cost_queue_s(u + step, n);

			if (fabs(here / 3600 - reference_queue_hours(u, n)) > 1e-7 * fmax(1, n))
				wrong++;
			if (tier_cost_queue_s_per_hour(u, n) > 3600 * (n - 1) + 1e-9 ||
				tier_cost_queue_s_per_hour(u, n) > here + 1e-9)
				too_much++;
			if (before + after < 2 * here - 1e-6)
				not_convex++;
		}
	ok(wrong == 0, "queue: the hours of all clients add up (%d)", wrong);
	ok(too_much == 0, "queue: never more than there are clients to wait (%d)", too_much);
	ok(not_convex == 0, "queue: convex (%d)", not_convex);
}

/*-------------------------------------------------------------------------
 * Fixtures
 *-------------------------------------------------------------------------
 */

static void
test_busy_limit(void)
{
	int			u;

	/* A slow device takes no more than 60 % of its time, whatever the price. */
	begin(2);
	c.problem.objective = TIER_OBJECTIVE_MONEY;
	for (int i = 0; i < 10; i++)
	{
		u = add_unit(100, 0);
		costs(u, 0, 3, 3, 100);
		costs(u, 1, 300, 300, 1);
	}
	solve();
	ok(c.after[1].units == 7 && c.after[1].occupied_s == 2100,
	   "money: as many on the cheap device as it carries");

	/* What is overloaded now may stay so, and takes nothing more. */
	begin(2);
	c.problem.objective = TIER_OBJECTIVE_MONEY;
	for (int i = 0; i < 10; i++)
	{
		u = add_unit(100, i < 9 ? 1 : 0);
		costs(u, 0, 3, 3, 100);
		costs(u, 1, 300, 300, 1);
	}
	solve();
	ok(c.after[1].occupied_s <= 2700 && c.tier[9] == 0,
	   "money: an overloaded device takes nothing in");
	ok(c.result.keeps_limits, "money: and is no contradiction");
}

static void
test_endurance(void)
{
	int			u;

	begin(2);
	c.endurance[0] = 1000;
	u = add_unit(100, 1);
	costs(u, 0, 1, 1, 1);
	costs(u, 1, 100, 100, 1);
	c.written[u * 2] = 1001;
	u = add_unit(100, 1);
	costs(u, 0, 1, 1, 1);
	costs(u, 1, 90, 90, 1);
	c.written[u * 2] = 999;
	solve();
	ok(c.tier[0] == 1 && c.tier[1] == 0, "endurance: who writes too much stays");

	/* There already: then it is not sent away for it. */
	c.current[0] = 0;
	solve();
	ok(c.tier[0] == 0 && c.tier[1] == 1, "endurance: what is written now may go on");
}

static void
test_objectives(void)
{
	int			u;

	/* 36 s an hour less, for 10 more a month. */
	begin(2);
	u = add_unit(100, 1);
	costs(u, 0, 0, 0, 11);
	costs(u, 1, 36, 36, 1);
	solve();
	ok(c.tier[0] == 0, "time: at any price");
	c.problem.objective = TIER_OBJECTIVE_MONEY;
	solve();
	ok(c.tier[0] == 1, "money: the cheapest");
}

static void
test_nothing(void)
{
	begin(1);
	solve();
	ok(c.result.objective == 0 && allocations == 0, "nothing to place");

	begin(2);
	(void) add_unit(100, -1);
	(void) add_unit(100, 1);
	costs(0, 0, 1, 1, 1);
	costs(0, 1, 1, 1, 1);
	c.allowed[0] = c.allowed[1] = false;
	costs(1, 0, 1, 1, 1);
	costs(1, 1, INFINITY, INFINITY, 1);
	solve();
	ok(c.tier[0] == -1, "who is in no tier stays there");
	ok(c.tier[1] == 0, "who costs without end goes where he does not");
}

/*-------------------------------------------------------------------------
 * Against brute force
 *-------------------------------------------------------------------------
 */

static double
reference_value(const int *tier)
{
	double		sum = 0;

	for (int u = 0; u < c.problem.nunits; u++)
	{
		int			cell = u * c.problem.ntiers + tier[u];

		sum += c.busy[cell] + 2 * c.move[cell] / c.problem.horizon_hours +
			0.15 * fabs(c.busy[cell] - c.busy[u * c.problem.ntiers + c.current[u]]);
	}
	return sum;
}

static bool
reference_feasible(const int *tier)
{
	for (int t = 0; t < c.problem.ntiers; t++)
	{
		double		bytes = 0;
		double		occupied = 0;
		double		occupied_now = 0;

		for (int u = 0; u < c.problem.nunits; u++)
		{
			int			cell = u * c.problem.ntiers + t;

			bytes += tier[u] == t ? c.stored[cell] : 0;
			occupied += tier[u] == t ? c.occupied[cell] : 0;
			occupied_now += c.current[u] == t ? c.occupied[cell] : 0;
		}
		if (bytes > c.available[t] || occupied > fmax(2160, occupied_now) * (1 + 1e-9))
			return false;
	}
	return true;
}

static void
test_brute_force(void)
{
	int			infeasible = 0;
	int			value_wrong = 0;
	int			worse_than_stay = 0;
	int			far = 0;
	int			busy_cases = 0;
	double		total_gap = 0;

	random_state = 20260101;
	for (int round = 0; round < 400; round++)
	{
		int			ntiers = 2 + random_int(2);
		int			nunits = 3 + random_int(4);
		double		load = pow(10, 3 * random_unit() - 1.5);
		double		used[MAX_TIERS] = {0};
		double		best = INFINITY;
		long		combinations = 1;
		int			tier[MAX_UNITS];

		begin(ntiers);
		for (int i = 0; i < nunits; i++)
		{
			int			u = add_unit(1 + random_int(100), random_int(ntiers));
			double		reads = load * 600 * random_unit();

			for (int t = 0; t < ntiers; t++)
			{
				costs(u, t, reads * pow(8, t), reads * pow(8, t) / (4 - t), 1);
				c.move[u * ntiers + t] = t == c.current[u] ? 0 : 10 * random_unit();
			}
			used[c.current[u]] += c.stored[u * ntiers];
			combinations *= ntiers;
		}
		for (int t = 0; t < ntiers - 1; t++)
			c.available[t] = fmax(used[t], 60 * nunits * random_unit());
		c.problem.clients = pow(10, 3 * random_unit());
		solve();
		for (long code = 0; code < combinations; code++)
		{
			long		rest = code;

			for (int u = 0; u < nunits; u++, rest /= ntiers)
				tier[u] = (int) (rest % ntiers);
			if (reference_feasible(tier))
				best = fmin(best, reference_value(tier));
		}
		if (!reference_feasible(c.tier))
			infeasible++;
		if (fabs(reference_value(c.tier) - c.result.objective) >
			1e-6 * fmax(1, c.result.objective))
			value_wrong++;
		if (c.result.objective >
			reference_value(c.current) * (1 + 1e-7) + 1e-7)
			worse_than_stay++;
		if (c.result.objective > best * 1.05)
			far++;
		if (reference_value(c.tier) > 100)
			busy_cases++;
		total_gap += fmax(0, c.result.objective - best) / fmax(best, 1);
	}
	ok(infeasible == 0, "brute force: limits are kept");
	ok(value_wrong == 0, "brute force: the objective is what the placement costs");
	ok(worse_than_stay == 0, "brute force: never worse than staying (%d)", worse_than_stay);
	ok(far <= 8 && total_gap / 400 < 0.01,
	   "brute force: within 5 %% of the optimum in all but 2 %% of the cases (%d), "
	   "1 %% in the mean (%.4f)", far, total_gap / 400);
	ok(busy_cases > 200, "brute force: enough of the cases have a load that matters");
	ok(allocations == 0, "brute force: all memory is given back");
}

/*-------------------------------------------------------------------------
 * Limits that cannot be kept
 *-------------------------------------------------------------------------
 */

static void
test_overfull(void)
{
	int			u;

	/*
	 * 453 MB on a tier that has 200, and a disk that would be busy for 90 %
	 * of its time with what has to go there: bytes come first.
	 */
	begin(2);
	c.available[0] = 200;
	for (int i = 0; i < 9; i++)
	{
		u = add_unit(50, 0);
		costs(u, 0, 1, 1, 1);
		costs(u, 1, 540, 540, 1);
	}
	solve();
	ok(c.after[0].bytes == 200 && c.after[1].occupied_s == 5 * 540,
	   "overfull: room is made, though the disk is busier than it should be");
	ok(!c.result.keeps_limits,
	   "overfull: which is said");
	is(c.asked[1].of[TIER_RESOURCE_BUSY], 2160 * (1 + 1e-9), "overfull: as it should be");
	ok(c.kept[1].of[TIER_RESOURCE_BUSY] >= 2700 && c.kept[1].of[TIER_RESOURCE_BUSY] <= 2720,
	   "overfull: and no more than it has to be");

	/* 4 of the 9 on the disk keep its limit: 250 on the other. */

	/* What is hot stays. */
	for (int i = 0; i < 9; i++)
		c.busy[i * 2 + 1] = c.wait[i * 2 + 1] = c.occupied[i * 2 + 1] = i < 4 ? 900 : 90;
	solve();
	ok(c.tier[0] == 0 && c.tier[3] == 0 && c.tier[4] == 1 && c.tier[8] == 1,
	   "overfull: what needs it least leaves");
	ok(c.result.keeps_limits, "overfull: all limits are kept after that");

	/* Six of them must stay. */
	for (int i = 0; i < 6; i++)
		c.allowed[i * 2 + 1] = false;
	(void) add_unit(10, 1);
	costs(9, 0, 1, 1, 1);
	costs(9, 1, 3000, 3000, 1);
	solve();
	ok(c.after[0].bytes == 300 && c.tier[9] == 1,
	   "overfull: as far as it goes, and nobody enters");

	/* Pinned to a tier that is too full: not even then. */
	c.current[0] = 1;
	c.allowed[1] = false;
	solve();
	ok(c.tier[0] == 1 && c.after[0].bytes == 250, "overfull: not even who should");
	c.available[0] = 300;
	solve();
	ok(c.tier[0] == 0 && c.after[0].bytes == 300, "overfull: but with room he does");

	/* More comes to the first than it holds, whatever is placed there. */
	begin(2);
	c.available[0] = -30;
	for (int i = 0; i < 2; i++)
	{
		u = add_unit(50, 0);
		costs(u, 0, 1, 1, 1);
		costs(u, 1, 2, 2, 1);
	}
	solve();
	ok(c.after[0].bytes == 0 && !c.result.keeps_limits,
	   "overfull: nothing stays where nothing fits, and that is not enough");
	c.allowed[1] = false;
	solve();
	ok(allocations == 0, "overfull: all memory is given back");
}

static void
test_endurance_last(void)
{
	int			u;

	/* Of two that could leave, both for a disk that endures only one. */
	begin(2);
	c.available[0] = 100;
	c.endurance[1] = 1000;
	for (int i = 0; i < 3; i++)
	{
		u = add_unit(50, 0);
		costs(u, 0, 1, 1, 1);
		costs(u, 1, 10, 10, 1);
		c.written[u * 2 + 1] = 2000 - 100 * i;
	}
	solve();
	ok(c.after[0].bytes == 100 && c.after[1].units == 1, "endurance: gives way to bytes");
}

/* What a placement has too much of, one resource after the other. */
static void
reference_excess(const int *tier, double excess[2])
{
	excess[0] = excess[1] = 0;
	for (int t = 0; t < c.problem.ntiers; t++)
	{
		double		bytes = 0;
		double		occupied = 0;
		double		occupied_now = 0;

		for (int u = 0; u < c.problem.nunits; u++)
		{
			int			cell = u * c.problem.ntiers + t;

			bytes += tier[u] == t ? c.stored[cell] : 0;
			occupied += tier[u] == t ? c.occupied[cell] : 0;
			occupied_now += c.current[u] == t ? c.occupied[cell] : 0;
		}
		excess[0] += fmax(0, bytes - c.available[t]);
		excess[1] += fmax(0, occupied - fmax(2160, occupied_now));
	}
}

/* Everybody where he may be, and nobody comes to what is too full. */
static bool
reference_may(const int *tier)
{
	for (int t = 0; t < c.problem.ntiers; t++)
	{
		double		bytes = 0;
		bool		enters = false;

		for (int u = 0; u < c.problem.nunits; u++)
		{
			if (tier[u] != t)
				continue;
			if (!c.allowed[u * c.problem.ntiers + t])
				return false;
			bytes += c.stored[u * c.problem.ntiers + t];
			enters |= c.current[u] != t;
		}
		if (enters && bytes > c.available[t])
			return false;
	}
	return true;
}

/* Tiers that are too full, units that must stay, devices that are too slow. */
static void
make_overfull(int ntiers, int nunits)
{
	double		load = pow(10, 2 * random_unit());
	double		used[MAX_TIERS] = {0};

	begin(ntiers);
	for (int i = 0; i < nunits; i++)
	{
		int			u = add_unit(1 + random_int(100), random_int(ntiers));
		double		reads = load * 60 * random_unit();

		for (int t = 0; t < ntiers; t++)
		{
			costs(u, t, reads * pow(8, t), reads * pow(8, t) / (4 - t), 1);
			c.move[u * ntiers + t] = t == c.current[u] ? 0 : 10 * random_unit();
			if (t != c.current[u] && random_int(4) == 0)
				c.allowed[u * ntiers + t] = false;
		}
		used[c.current[u]] += c.stored[u * ntiers];
	}
	c.available[0] = floor(used[0] * random_unit());
	if (random_int(3) == 0)
		c.available[ntiers - 1] = floor(used[ntiers - 1] * 2 * random_unit());
}

static void
test_least_violation(void)
{
	int			too_full = 0;
	int			too_busy = 0;
	int			violated = 0;
	int			not_allowed = 0;

	random_state = 20261123;
	for (int round = 0; round < 600; round++)
	{
		int			ntiers = 2 + random_int(2);
		int			nunits = 3 + random_int(4);
		double		least[2] = {INFINITY, INFINITY};
		double		got[2];
		long		combinations = 1;
		int			tier[MAX_UNITS];

		make_overfull(ntiers, nunits);
		for (int i = 0; i < nunits; i++)
			combinations *= ntiers;
		solve();
		for (long code = 0; code < combinations; code++)
		{
			long		rest = code;
			double		excess[2];

			for (int u = 0; u < nunits; u++, rest /= ntiers)
				tier[u] = (int) (rest % ntiers);
			if (reference_may(tier))
			{
				reference_excess(tier, excess);
				if (excess[0] < least[0] - 1e-6 ||
					(excess[0] < least[0] + 1e-6 && excess[1] < least[1]))
					memcpy(least, excess, sizeof(least));
			}
		}
		reference_excess(c.tier, got);
		violated += least[0] > 0 || least[1] > 0;
		not_allowed += !reference_may(c.tier);
		too_full += got[0] > least[0] * 1.005 + 1e-6;
		too_busy += got[0] < least[0] * 1.005 + 1e-6 &&
			got[1] > least[1] + 0.01 * (2160 + least[1]);
	}
	ok(violated > 200, "least violation: enough of the limits cannot be kept (%d)", violated);
	ok(not_allowed == 0, "least violation: everybody may be where he is (%d)", not_allowed);

	/*
	 * Where two are too full nobody changes between them, though that might
	 * help.
	 */
	ok(too_full <= 6, "least violation: no tier is fuller than it has to be, in 99 %% (%d)",
	   too_full);
	ok(too_busy <= 60, "least violation: and hardly a device busier, then (%d)", too_busy);
	ok(allocations == 0, "least violation: all memory is given back");
}

/*-------------------------------------------------------------------------
 * Over time
 *-------------------------------------------------------------------------
 */

#define HOURS 24
#define RELATIONS 60

typedef struct Relation
{
	double		size;
	double		reads;			/* per hour, in the mean */
	double		fast;
	double		slow;
	int			moves;
} Relation;

/* The larger rate counts, as for the advice; the smaller one is what surely lasts. */
static double
load_of(const Relation *r, double hours, bool low)
{
	double		fast = tier_heat_read(r->fast, 0, hours * 3600, 86400.0);
	double		slow = tier_heat_read(r->slow, 0, hours * 3600, 14 * 86400.0);

	return low ? fmin(fast, slow) : fmax(fast, slow);
}

static void
advise(const Relation *r, int *where, double hours, bool low)
{
	TierCostProfile profile[2];

	memset(profile, 0, sizeof(profile));
	profile[0].random_read_ms = 0.15;
	profile[0].parallelism = 10;
	profile[1].random_read_ms = 12.4;
	profile[1].parallelism = 1;
	for (int t = 0; t < 2; t++)
		profile[t].random_write_ms = profile[t].sequential_read_mb_per_s =
			profile[t].sequential_write_mb_per_s = 150;
	begin(2);
	for (int i = 0; i < RELATIONS; i++)
	{
		TierCostLoad load = {0};
		int			u = add_unit(r[i].size, where[i]);

		load.random_reads = load_of(&r[i], hours, low);
		for (int t = 0; t < 2; t++)
		{
			TierCost	cost = tier_cost_on(&load, &profile[t]);

			costs(u, t, cost.busy_s, cost.occupied_s,
				  r[i].size * (t == 0 ? 8e-11 : 2.5e-11));
			c.move[u * 2 + t] = t == where[i] ? 0 :
				tier_cost_move_s(r[i].size, &profile[where[i]], &profile[t]);
		}
	}
	c.available[0] = 15e9;
	solve();
}

static double
stored_on(const Relation *r, const int *where, int tier)
{
	double		bytes = 0;

	for (int i = 0; i < RELATIONS; i++)
		bytes += where[i] == tier ? r[i].size : 0;
	return bytes;
}

/* A day of load, then the advice, and what of it is firm is done. */
static void
live_a_day(Relation *r, int *where, int day)
{
	int			at_least[RELATIONS];

	for (int hour = 0; hour < HOURS; hour++)
	{
		/* Office hours, noise of 30 %, and now and then ten times as much. */
		double		shape = hour >= 8 && hour < 18 ? 2.0 : 0.3;

		for (int i = 0; i < RELATIONS; i++)
		{
			double		reads = r[i].reads * shape * (0.7 + 0.6 * random_unit());

			if (random_int(200) == 0)
				reads *= 10;
			r[i].fast = tier_heat_advance(r[i].fast, reads, 3600, 86400.0);
			r[i].slow = tier_heat_advance(r[i].slow, reads, 3600, 14 * 86400.0);
		}
	}
	advise(r, where, (day + 1) * 24.0, true);
	memcpy(at_least, c.tier, sizeof(at_least));
	advise(r, where, (day + 1) * 24.0, false);

	/* Who leaves makes room first; nobody enters without. */
	for (int tier = 1; tier >= 0; tier--)
		for (int i = 0; i < RELATIONS; i++)
		{
			if (c.tier[i] == where[i] || c.tier[i] != at_least[i] || c.tier[i] != tier ||
				stored_on(r, where, tier) + r[i].size > c.available[tier])
				continue;
			r[i].moves++;
			where[i] = tier;
		}
}

/* How much of the reads that the fast tier could have it has. */
static double
share_of_ideal(const Relation *r, const int *where)
{
	double		sorted[RELATIONS] = {0};
	double		ideal = 0;
	double		real = 0;

	for (int i = 0; i < RELATIONS; i++)
	{
		int			k = i;

		for (; k > 0 && sorted[k - 1] < r[i].reads; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = r[i].reads;
		real += where[i] == 0 ? r[i].reads : 0;
	}
	for (int i = 0; i < 15; i++)
		ideal += sorted[i];
	return real / ideal;
}

static void
test_over_time(void)
{
	Relation	r[RELATIONS];
	int			where[RELATIONS];
	int			moves = 0;
	int			early = 0;
	int			days;

	random_state = 42;
	memset(r, 0, sizeof(r));
	for (int i = 0; i < RELATIONS; i++)
	{
		/* 60 GB together, 15 of them fit; one is hardly hotter than the next. */
		r[i].size = 1e9;
		r[i].reads = 200.0 * (RELATIONS - i);
		where[i] = 1;
	}
	for (int day = 0; day < 7; day++)
		live_a_day(r, where, day);
	ok(share_of_ideal(r, where) > 0.9, "time: after a week what is hot is on the fast tier (%.2f)",
	   share_of_ideal(r, where));
	for (int i = 0; i < RELATIONS; i++)
	{
		early += r[i].moves;
		r[i].moves = 0;
	}
	for (int day = 7; day < 97; day++)
		live_a_day(r, where, day);
	for (int i = 0; i < RELATIONS; i++)
	{
		moves += r[i].moves;
		r[i].moves = 0;
	}
	printf("# stationary: %d moves in the first week, %d in the 90 days after it\n", early, moves);
	ok(moves <= 2, "time: under a stationary load next to nothing moves any more (%d)", moves);

	/* Hot and cold change places. */
	for (int i = 0; i < RELATIONS; i++)
		r[i].reads = 200.0 * (i + 1);
	for (days = 0; days < 60 && share_of_ideal(r, where) < 0.9; days++)
		live_a_day(r, where, 97 + days);
	moves = 0;
	for (int i = 0; i < RELATIONS; i++)
		moves += r[i].moves;
	printf("# phase change: 90 %% of what can be had after %d days, by %d moves\n", days, moves);
	ok(days <= 28,
	   "time: the advice follows a change of the load within two of the longer half-lives");
	ok(moves <= 2 * 2 * 15, "time: without many detours");
}

int
main(void)
{
	test_cost();
	test_ratio_of_files();
	test_queue();
	test_busy_limit();
	test_endurance();
	test_objectives();
	test_nothing();
	test_brute_force();
	test_overfull();
	test_endurance_last();
	test_least_violation();
	test_over_time();
	return done();
}
