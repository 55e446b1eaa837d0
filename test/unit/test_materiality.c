/*-------------------------------------------------------------------------
 *
 * test_materiality.c
 *		Tests of which moves of a placement matter.  Prints TAP; run it by
 *		test/unit/run.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "src/model/cost.h"
#include "src/model/materiality.h"

#define MOST_UNITS 60
#define TIERS 2
#define CELLS (MOST_UNITS * TIERS)

enum
{
	FAST,
	SLOW
};

/* A problem on two tiers, with everything it needs. */
typedef struct Case
{
	TierPlacementProblem problem;
	double		busy[CELLS];
	double		occupied[CELLS];
	double		wait[CELLS];
	double		written[CELLS];
	double		stored[CELLS];
	double		price[CELLS];
	double		move[CELLS];
	bool		allowed[CELLS];
	int			current[MOST_UNITS];
	double		available[TIERS];
	double		endurance[TIERS];
	int			tier[MOST_UNITS];
} Case;

static void
begin(Case *c)
{
	memset(c, 0, sizeof(*c));
	c->available[FAST] = c->available[SLOW] = c->endurance[FAST] = c->endurance[SLOW] = INFINITY;
	c->problem.ntiers = TIERS;
	c->problem.busy_s = c->busy;
	c->problem.occupied_s = c->occupied;
	c->problem.wait_s = c->wait;
	c->problem.written_bytes = c->written;
	c->problem.stored_bytes = c->stored;
	c->problem.price = c->price;
	c->problem.move_s = c->move;
	c->problem.allowed = c->allowed;
	c->problem.current = c->current;
	c->problem.available_bytes = c->available;
	c->problem.endurance_bytes_per_day = c->endurance;
	c->problem.horizon_hours = 720.0;
	c->problem.objective = TIER_OBJECTIVE_TIME;
	c->problem.alloc = malloc;
	c->problem.release = free;
}

/* A unit with this device time on the slow tier, a hundredth of it on the fast one. */
static void
unit(Case *c, double bytes, double slow_s, int current, int tier)
{
	int			u = c->problem.nunits++;

	c->current[u] = current;
	c->tier[u] = tier;
	for (int t = 0; t < TIERS; t++)
	{
		size_t		cell = (size_t) u * TIERS + t;

		c->busy[cell] = c->occupied[cell] = c->wait[cell] = t == SLOW ? slow_s : slow_s / 100.0;
		c->stored[cell] = bytes;
		c->price[cell] = bytes * (t == SLOW ? 1e-9 : 1e-8);
		c->allowed[cell] = true;
	}
}

static TierMaterialityDropped
drop(Case *c, double give_up)
{
	TierPlacementLimits limits[TIERS];

	tier_placement_ask(&c->problem, limits);
	return tier_materiality_drop(&c->problem, limits, give_up, give_up, c->tier);
}

static void
test_small(void)
{
	Case		c;
	TierMaterialityDropped dropped;

	begin(&c);
	unit(&c, 1e9, 100.0, SLOW, FAST);
	unit(&c, 1e6, 0.3, SLOW, FAST);
	unit(&c, 1e6, 0.4, SLOW, FAST);
	unit(&c, 1e6, 0.5, SLOW, FAST);
	dropped = drop(&c, 1.0);
	ok(c.tier[0] == FAST && c.tier[1] == SLOW && c.tier[2] == SLOW && c.tier[3] == FAST,
	   "least first, as long as their sum is within what may be given up");
	ok(dropped.units == 2 && fabs(dropped.gain - 0.693) < 1e-3,
	   "and says what that was");
	dropped = drop(&c, 0.0);
	ok(dropped.units == 0 && c.tier[0] == FAST, "nothing more for nothing");
	dropped = drop(&c, INFINITY);
	ok(dropped.units == 2 && c.tier[0] == SLOW && c.tier[3] == SLOW, "everything for everything");
}

static void
test_room(void)
{
	Case		c;

	/* One that is worth it comes into the place of a cold one. */
	begin(&c);
	c.available[FAST] = 1e9;
	unit(&c, 1e9, 100.0, SLOW, FAST);
	unit(&c, 1e9, 0.0, FAST, SLOW);
	ok(drop(&c, 1.0).units == 0 && c.tier[1] == SLOW, "what makes room for others goes");

	/* One that is not. */
	c.busy[SLOW] = c.occupied[SLOW] = c.wait[SLOW] = 0.5;
	ok(drop(&c, 1.0).units == 2 && c.tier[0] == SLOW && c.tier[1] == FAST,
	   "but stays when these stay");

	/* Cold, and there is room. */
	begin(&c);
	unit(&c, 1e9, 0.0, FAST, SLOW);
	ok(drop(&c, 0.0).units == 1 && c.tier[0] == FAST, "nothing leaves a tier that has room");

	/* A tier that is too full. */
	begin(&c);
	c.available[FAST] = 5e8;
	unit(&c, 1e9, 0.0, FAST, SLOW);
	ok(drop(&c, 10.0).units == 0 && c.tier[0] == SLOW, "but one that is too full");

	/* A busy device. */
	begin(&c);
	unit(&c, 1e6, 1700.0, SLOW, SLOW);
	unit(&c, 1e6, 900.0, SLOW, FAST);
	ok(drop(&c, 1e9).units == 1 && c.tier[1] == SLOW, "a device may stay as busy as it is");

	/* Endurance. */
	begin(&c);
	c.endurance[FAST] = 10.0;
	unit(&c, 1e6, 0.1, FAST, SLOW);
	unit(&c, 1e6, 100.0, SLOW, FAST);
	c.written[0] = 8.0;
	c.written[2] = 8.0;
	ok(drop(&c, 1.0).units == 0 && c.tier[0] == SLOW,
	   "what would wear out the device does not stay");
}

static void
test_rules(void)
{
	Case		c;

	begin(&c);
	unit(&c, 1e6, 0.0, SLOW, FAST);
	c.allowed[SLOW] = false;
	unit(&c, 1e6, 0.0, -1, -1);
	unit(&c, 1e6, 0.0, SLOW, SLOW);
	ok(drop(&c, 10.0).units == 0 && c.tier[0] == FAST && c.tier[1] == -1,
	   "what may not stay goes");

	begin(&c);
	c.problem.objective = TIER_OBJECTIVE_MONEY;
	unit(&c, 1e9, 50.0, FAST, SLOW);
	unit(&c, 1e11, 50.0, FAST, SLOW);
	ok(drop(&c, 10.0).units == 1 && c.tier[0] == FAST && c.tier[1] == SLOW,
	   "money counts where it is asked for");
}

static void
test_random(void)
{
	bool		sane = true;

	for (int i = 0; i < 3000; i++)
	{
		Case		c;
		double		give_up = random_unit() * 100.0;
		double		before[TIERS] = {0, 0};
		double		after[TIERS] = {0, 0};
		double		saved = 0;
		TierMaterialityDropped dropped;
		int			first[MOST_UNITS];

		begin(&c);
		for (int n = random_int(MOST_UNITS); n >= 0; n--)
			unit(&c, 1e6 * (1 + random_int(1000)), random_unit() * random_unit() * 50.0,
				 random_int(2), random_int(2));
		for (int u = 0; u < c.problem.nunits; u++)
			before[c.tier[u]] += c.stored[u * TIERS];
		c.available[FAST] = before[FAST] * (1.0 + random_unit());
		c.available[SLOW] = before[SLOW] * (1.0 + random_unit());
		memcpy(first, c.tier, sizeof(first));
		dropped = drop(&c, give_up);
		for (int u = 0; u < c.problem.nunits; u++)
		{
			after[c.tier[u]] += c.stored[u * TIERS];
			sane &= c.tier[u] == first[u] || c.tier[u] == c.current[u];
			if (c.tier[u] != first[u])
				saved += c.busy[u * TIERS + c.current[u]] - c.busy[u * TIERS + first[u]];
		}
		sane &= after[FAST] <= c.available[FAST] * (1 + 1e-6) &&
			after[SLOW] <= c.available[SLOW] * (1 + 1e-6);
		sane &= dropped.gain <= give_up && saved <= give_up + 1e-6;
	}
	ok(sane, "random placements: no tier beyond its room, nobody gives up more");
}

/* Reads go from 3 s to 1 s, for which the device writes for 1.8 s longer. */
static void
test_wait(void)
{
	Case		c;

	begin(&c);
	unit(&c, 1e6, 3.0, SLOW, FAST);
	c.busy[FAST] = c.occupied[FAST] = 2.8;
	c.wait[FAST] = 1.0;
	ok(drop(&c, 1.0).units == 0 && c.tier[0] == FAST, "what clients wait matters, too");
	ok(drop(&c, 3.0).units == 1 && c.tier[0] == SLOW, "but not what is within the threshold");

	c.tier[0] = FAST;
	c.wait[FAST] = 2.8;
	ok(drop(&c, 1.0).units == 1, "as much of both is too little");
	c.tier[0] = FAST;
	c.wait[FAST] = 1.0;
	c.problem.objective = TIER_OBJECTIVE_MONEY;
	c.price[SLOW] = c.price[FAST] + 0.5;
	ok(drop(&c, 1.0).units == 1, "money does not wait");

	/* Together, as what devices save. */
	begin(&c);
	for (int u = 0; u < 3; u++)
	{
		unit(&c, 1e6, 3.0, SLOW, FAST);
		c.busy[u * TIERS + FAST] = c.occupied[u * TIERS + FAST] = 2.99;
		c.wait[u * TIERS + FAST] = 2.4;
	}
	ok(drop(&c, 1.5).units == 2, "nor together");
}

int
main(void)
{
	test_small();
	test_wait();
	test_room();
	test_rules();
	test_random();
	return done();
}
