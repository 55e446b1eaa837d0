/*-------------------------------------------------------------------------
 *
 * test_fullness.c
 *		Tests of src/model/fullness.c: what leaves a tier that is too full.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "src/model/fullness.h"
#include "tap.h"

#define MOST 12

static TierFullnessUnit units[MOST];
static TierFullnessVerdict verdicts[MOST];
static int	order[MOST];
static int	scratch[MOST];

static TierFullnessResult
decide(TierFullnessProblem *problem)
{
	TierFullnessResult result;

	memset(&result, 0, sizeof(result));
	result.verdicts = verdicts;
	result.order = order;
	result.scratch = scratch;
	problem->units = units;
	tier_fullness_arrange(problem, &result);
	tier_fullness_decide(problem, &result);
	return result;
}

/* A tier of 100 with marks at 90 and 80, that relations alone fill. */
static TierFullnessProblem
problem_of(int nunits, double own)
{
	TierFullnessProblem problem;

	memset(&problem, 0, sizeof(problem));
	problem.level.capacity_bytes = 100.0;
	problem.level.own_bytes = own;
	problem.level.disk_bytes = -INFINITY;
	problem.high = 0.9;
	problem.low = 0.8;
	problem.target_bytes = INFINITY;
	problem.nunits = nunits;
	return problem;
}

static void
set_unit(int i, double bytes, double lost_s)
{
	memset(&units[i], 0, sizeof(units[i]));
	units[i].own_bytes = units[i].disk_bytes = units[i].target_bytes = bytes;
	units[i].lost_s = lost_s;
	units[i].move_s = bytes / 1000.0;
}

/* "1,4": those that leave. */
static const char *
leaving(int n)
{
	static char text[64];
	int			length = 0;

	text[		0] = '\0';

	for (int i = 0; i < n; i++)
		if (verdicts[i] == TIER_FULLNESS_LEAVES)
			length += snprintf(text +length, sizeof(text) - length, "%s%d",
							   length > 0 ? "," : "", i);
	return text;
}

static void
test_marks(void)
{
	TierFullnessProblem problem = problem_of(5, 90.0);
	TierFullnessResult result;

	for (int i = 0; i < 5; i++)
		set_unit(i, 5.0, 5.0 - i);
	result = decide(&problem);
	ok(!result.is_needed && result.nleaving == 0 && result.is_enough,
	   "at the high watermark nothing leaves");
	problem.level.own_bytes = 91.0;
	result = decide(&problem);
	ok(strcmp(leaving(5), "2,3,4") == 0 && result.is_enough,
	   "above it the coldest leave: %s", leaving(5));
	for (int i = 2; i < 5; i++)
		units[i].target_bytes = 8.0;
	result = decide(&problem);
	ok(fabs(result.arriving_bytes - 24.0) < 1e-9, "what comes to the target is by its measure");
	ok(fabs(result.after_bytes - 76.0) < 1e-9 && fabs(result.leaving_bytes - 15.0) < 1e-9,
	   "down to the low one: %g", result.after_bytes);
	problem.level.own_bytes = 85.0;
	problem.has_begun = true;
	result = decide(&problem);
	ok(strcmp(leaving(5), "4") == 0, "what has begun goes on");
	problem.level.own_bytes = 80.0;
	result = decide(&problem);
	ok(result.nleaving == 0, "and ends at the low watermark");
	problem.has_begun = false;
	problem.level.own_bytes = 10.0;
	problem.level.disk_bytes = 95.0;
	result = decide(&problem);
	ok(strcmp(leaving(5), "2,3,4") == 0, "what others take counts");
	for (int i = 0; i < 5; i++)
		units[i].disk_bytes = 0.0;
	result = decide(&problem);
	ok(result.is_needed && result.nleaving == 0 && verdicts[0] == TIER_FULLNESS_FREES_NOTHING,
	   "a move within the file system does not help with that");
	problem.level.own_bytes = 93.0;
	result = decide(&problem);
	ok(result.nleaving == 3 && !result.is_enough, "but with what relations take");
}

static void
test_last(void)
{
	TierFullnessProblem problem = problem_of(4, 92.0);

	/* As cold as each other: not the large one. */
	set_unit(0, 60.0, 0.0);
	set_unit(1, 4.0, 0.0);
	set_unit(2, 4.0, 0.0);
	set_unit(3, 4.0, 0.0);
	decide(&problem);
	ok(strcmp(leaving(4), "1,2,3") == 0, "of equals those that are just enough: %s", leaving(4));

	/* Memory serves one of them. */
	units[2].used_s = 0.001;
	set_unit(0, 4.0, 0.0);
	decide(&problem);
	ok(strcmp(leaving(4), "0,1,3") == 0, "of equals those that are used least: %s", leaving(4));
	set_unit(0, 60.0, 0.0);
	units[2].used_s = 0.0;

	/* A large one that is cold, and small ones that are not. */
	for (int i = 1; i < 4; i++)
		units[i].lost_s = 10.0;
	decide(&problem);
	ok(strcmp(leaving(4), "0") == 0, "no hot ones instead of a large cold one: %s", leaving(4));
	units[0].obstacle = TIER_FULLNESS_PINNED;
	decide(&problem);
	ok(strcmp(leaving(4), "1,2,3") == 0 && verdicts[0] == TIER_FULLNESS_OBSTACLE,
	   "unless it is pinned");
	units[0].obstacle = TIER_FULLNESS_NONE;
	problem.target_bytes = 50.0;
	decide(&problem);
	ok(strcmp(leaving(4), "1,2,3") == 0 && verdicts[0] == TIER_FULLNESS_NO_ROOM,
	   "or has no room");
	problem.target_bytes = INFINITY;

	/* What leaves reluctantly comes last, however cold it is. */
	for (int i = 1; i < 4; i++)
		units[i].reluctance = 1;
	set_unit(0, 12.0, 100.0);
	decide(&problem);
	ok(strcmp(leaving(4), "0") == 0, "what is less reluctant first");
	problem.level.own_bytes = 95.0;
	decide(&problem);
	ok(strcmp(leaving(4), "0,1") == 0, "then the others: %s", leaving(4));
}

static void
set_random(TierFullnessProblem *problem)
{
	problem->level.disk_bytes = random_unit() < 0.3 ? 60.0 + 45.0 * random_unit() : -INFINITY;
	problem->level.own_bytes = 0.0;
	problem->target_bytes = random_unit() < 0.5 ? INFINITY : 40.0 * random_unit() - 5.0;
	problem->has_begun = random_unit() < 0.2;
	for (int i = 0; i < problem->nunits; i++)
	{
		set_unit(i, 1.0 + 20.0 * random_unit() * random_unit(),
				 random_unit() < 0.3 ? 0.0 : 10.0 * random_unit() - 1.0);
		units[i].reluctance = random_unit() < 0.2 ? 1 + random_int(2) : 0;
		units[i].disk_bytes = random_unit() < 0.2 ? 0.0 : units[i].own_bytes;
		units[i].target_bytes = units[i].own_bytes * (0.5 + random_unit());
		if (random_unit() < 0.3)
			units[i].obstacle = (TierFullnessObstacle) (1 + random_int(7));
		problem->level.own_bytes += units[i].own_bytes;
	}
	problem->level.own_bytes += 40.0 * random_unit();
}

/* How much the tier holds when those of the mask have left. */
static double
after(const TierFullnessProblem *problem, unsigned mask)
{
	TierFullnessLevel level = problem->level;

	for (int i = 0; i < problem->nunits; i++)
		if (mask & (1u << i))
		{
			level.own_bytes -= units[i].own_bytes;
			level.disk_bytes -= units[i].disk_bytes;
		}
	return tier_fullness_bytes(&level);
}

static double
cost(int n, unsigned mask)
{
	double		sum = 0.0;

	for (int i = 0; i < n; i++)
		if (mask & (1u << i))
			sum += units[i].lost_s + units[i].move_s;
	return sum;
}

typedef struct Failures
{
	int			needless;
	int			obstacle;
	int			room;
	int			short_of;
	int			wrong_sum;
	int			dear;
	int			cases;			/* in which something left */
	int			enough;
} Failures;

/* The least cost of all sets that are enough; INFINITY: none is. */
static double
best_cost(const TierFullnessProblem *problem)
{
	double		best = INFINITY;
	double		wanted = problem->level.capacity_bytes * problem->low;

	for (unsigned mask = 0; mask < 1u << problem->nunits; mask++)
	{
		double		room = problem->target_bytes;
		int			may = 1;

		for (int i = 0; i < problem->nunits && may; i++)
			if (mask & (1u << i))
			{
				room -= units[i].target_bytes;
				may = units[i].obstacle == TIER_FULLNESS_NONE;
			}
		if (may && room >= 0.0 && after(problem, mask) <= wanted &&
			cost(problem->nunits, mask) < best)
			best = cost(problem->nunits, mask);
	}
	return best;
}

static void
check(const TierFullnessProblem *problem, const TierFullnessResult *result, Failures *failures)
{
	double		wanted = problem->level.capacity_bytes * problem->low;
	double		room = problem->target_bytes;
	unsigned	mask = 0;
	int			simple = 1;

	for (int i = 0; i < problem->nunits; i++)
	{
		simple &= units[i].reluctance == 0 && units[i].disk_bytes > 0.0;
		if (verdicts[i] != TIER_FULLNESS_LEAVES)
			continue;
		mask |= 1u << i;
		room -= units[i].target_bytes;
		failures->obstacle += units[i].obstacle != TIER_FULLNESS_NONE;
	}
	failures->cases += mask != 0;
	failures->enough += mask != 0 && result->is_enough;
	failures->room += mask != 0 && room < -1e-9;
	failures->needless += mask != 0 && tier_fullness_bytes(&problem->level) <= wanted;
	failures->wrong_sum += fabs(after(problem, mask) - result->after_bytes) > 1e-6;
	failures->short_of += result->is_enough && result->is_needed &&
		after(problem, mask) > wanted + 1e-6;

	/* Without any one of them the tier would stay above its low watermark. */
	for (int i = 0; i < problem->nunits; i++)
		failures->needless += (mask & (1u << i)) != 0 &&
			after(problem, mask & ~(1u << i)) <= wanted - 1e-6;

	/* Without room to think of, it is never twice as dear as the best. */
	for (int i = 0; i < problem->nunits; i++)
		simple &= units[i].lost_s >= 0.0;
	if (simple && result->is_needed && isinf(problem->target_bytes))
	{
		double		best = best_cost(problem);

		failures->dear += isinf(best) == (int) result->is_enough ||
			(result->is_enough && cost(problem->nunits, mask) > 2.0 * best + 1e-9);
	}
}

static void
test_random(void)
{
	Failures	failures;

	memset(&failures, 0, sizeof(failures));
	for (int n = 0; n < 20000; n++)
	{
		TierFullnessProblem problem = problem_of(1 + random_int(MOST), 0.0);
		TierFullnessResult result;

		set_random(&problem);
		if (n % 4 == 0)			/* nothing that would make it less simple */
		{
			problem.target_bytes = INFINITY;
			for (int i = 0; i < problem.nunits; i++)
			{
				units[i].reluctance = 0;
				units[i].disk_bytes = units[i].own_bytes;
				units[i].lost_s = fabs(units[i].lost_s);
			}
		}
		result = decide(&problem);
		check(&problem, &result, &failures);
	}
	ok(failures.cases > 4000 && failures.enough > 2000, "%d random tiers are emptied, %d enough",
	   failures.cases, failures.enough);
	ok(failures.obstacle == 0, "what is pinned or may not stays");
	ok(failures.room == 0, "the target gets no more than it can take");
	ok(failures.needless == 0, "nothing leaves without which the rest would be enough");
	ok(failures.short_of == 0 && failures.wrong_sum == 0, "the low watermark is reached");
	ok(failures.dear == 0, "at most at twice the least cost");
}

/* A tier that grows by 1 a day, decided each day, for two years. */
static void
test_days(void)
{
	double		highest = 0.0;
	double		lowest = 100.0;
	double		own = 50.0;
	int			emptied = 0;

	for (int day = 0; day < 730; day++)
	{
		TierFullnessProblem problem = problem_of(MOST, own);
		TierFullnessResult result;

		for (int i = 0; i < MOST; i++)
			set_unit(i, own / MOST, (i * 7 + day) % MOST);
		result = decide(&problem);
		own = result.after_bytes;
		emptied += result.nleaving > 0;
		if (emptied > 0 && own < lowest)
			lowest = own;
		own += 1.0;
		if (own > highest)
			highest = own;
	}
	ok(highest <= 91.0, "the high watermark is exceeded by a day's growth at most: %g", highest);
	ok(lowest > 80.0 - 91.0 / MOST, "and the low one by less than a relation: %g", lowest);
	ok(emptied > 10 && emptied < 730 / 9, "not every day: %d times", emptied);
}

static void
test_may_leave(void)
{
	TierFullnessProblem problem = problem_of(2, 85.0);

	set_unit(0, 10.0, 0.0);
	set_unit(1, 10.0, 0.0);
	problem.units = units;
	ok(tier_fullness_can_leave(&problem) == 20.0, "all without an obstacle may leave");
	problem.target_bytes = 3.0;
	ok(tier_fullness_may_leave(&problem) == 20.0 && tier_fullness_can_leave(&problem) == 3.0,
	   "as far as the target has room");
	problem.later_bytes = 12.0;
	ok(tier_fullness_can_leave(&problem) == 12.0, "or will have");
	units[0].obstacle = units[1].obstacle = TIER_FULLNESS_PINNED;
	ok(tier_fullness_may_leave(&problem) == 0.0, "nothing may leave");
}

int
main(void)
{
	random_state = 15;
	test_marks();
	test_last();
	test_random();
	test_days();
	test_may_leave();
	return done();
}
