/*-------------------------------------------------------------------------
 *
 * test_bottleneck.c
 *		Tests of what keeps units from where they would be better.  Prints TAP; run it by
 *		test/unit/run.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "src/model/bottleneck.h"

#define MOST_UNITS 8
#define TIERS 2
#define CELLS (MOST_UNITS * TIERS)

enum
{
	FAST,
	SLOW
};

/* A problem on two tiers with a placement, and the answer. */
typedef struct Case
{
	TierPlacementProblem problem;
	double		busy[CELLS];
	double		written[CELLS];
	double		stored[CELLS];
	double		price[CELLS];
	double		move[CELLS];
	bool		allowed[CELLS];
	int			current[MOST_UNITS];
	double		available[TIERS];
	double		endurance[TIERS];
	int			tier[MOST_UNITS];
	int			pushed[MOST_UNITS];
	TierPlacementLimits asked[TIERS];
	TierPlacementLimits limits[TIERS];
	double		raised;			/* what the placement keeps of the fast tier's
								 * bytes, if that is more */
	TierPlacementBottleneck bottleneck[TIERS];
	double		least;
} Case;

static void
begin(Case *c)
{
	memset(c, 0, sizeof(*c));
	c->available[FAST] = c->available[SLOW] = c->endurance[FAST] = c->endurance[SLOW] = INFINITY;
	c->problem.ntiers = TIERS;
	c->problem.busy_s = c->problem.occupied_s = c->problem.wait_s = c->busy;
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

/* A unit with this device time on the slow tier and none on the fast one. */
static void
unit(Case *c, double bytes, double slow_s, int tier)
{
	int			u = c->problem.nunits++;

	c->current[u] = c->tier[u] = tier;
	for (int t = 0; t < TIERS; t++)
	{
		size_t		cell = (size_t) u * TIERS + t;

		c->busy[cell] = t == SLOW ? slow_s : 0.0;
		c->stored[cell] = bytes;
		c->price[cell] = bytes * (t == SLOW ? 1e-9 : 1e-8);
		c->allowed[cell] = true;
	}
}

static void
find(Case *c)
{
	TierBottleneckQuestion question = {.problem = &c->problem,.tier = c->tier,
	.least = c->least};
	TierPlacementResult result = {.pushed_out_of = c->pushed,.asked = c->asked,
	.kept = c->limits,.bottleneck = c->bottleneck};

	tier_placement_ask(&c->problem, c->asked);
	for (int t = 0; t < TIERS; t++)
		for (int r = 0; r < TIER_PLACEMENT_RESOURCES; r++)
			c->limits[t].of[r] = c->asked[t].of[r];
	if (c->raised > 0)
		c->limits[FAST].of[TIER_RESOURCE_BYTES] = c->raised;
	tier_bottleneck_find(&question, &result);
}

static void
test_too_large(void)
{
	Case		c;

	/*
	 * 153 are there, 27 are taken, and 163 would save 2.8 less what is
	 * doubtful.
	 */
	begin(&c);
	c.available[FAST] = 153;
	unit(&c, 27, 5.0, FAST);
	unit(&c, 163, 2.8, SLOW);
	find(&c);
	ok(c.bottleneck[FAST] == TIER_BOTTLENECK_BYTES && c.pushed[1] == FAST,
	   "too large: it is the capacity that keeps it out");
	ok(c.pushed[0] == -1 && c.bottleneck[SLOW] == TIER_BOTTLENECK_NONE,
	   "too large: nothing else is kept from anywhere");

	/*
	 * Not if it may not be there, if it has room, or if it matters too
	 * little.
	 */
	c.allowed[1 * TIERS + FAST] = false;
	find(&c);
	ok(c.bottleneck[FAST] == TIER_BOTTLENECK_NONE && c.pushed[1] == -1, "not allowed");
	c.allowed[1 * TIERS + FAST] = true;
	c.least = 2.5;
	find(&c);
	ok(c.bottleneck[FAST] == TIER_BOTTLENECK_NONE, "too little to matter");
	c.least = 0.0;
	c.available[FAST] = 190;
	find(&c);
	ok(c.bottleneck[FAST] == TIER_BOTTLENECK_NONE && c.pushed[1] == -1,
	   "there is room");
}

static void
test_money(void)
{
	Case		c;

	/*
	 * An empty tier that nobody is kept from is not full, whatever the
	 * objective.
	 */
	begin(&c);
	c.problem.objective = TIER_OBJECTIVE_MONEY;
	c.available[SLOW] = 321e6;
	unit(&c, 163e6, 1.0, FAST);
	find(&c);
	ok(c.bottleneck[SLOW] == TIER_BOTTLENECK_NONE && c.pushed[0] == -1, "money: there is room");
	unit(&c, 400e6, 1.0, FAST);
	find(&c);
	ok(c.bottleneck[SLOW] == TIER_BOTTLENECK_BYTES && c.pushed[1] == SLOW,
	   "money: what is larger than the tier is kept out by that");
}

static void
test_busy(void)
{
	Case		c;

	begin(&c);
	c.problem.objective = TIER_OBJECTIVE_MONEY;
	unit(&c, 100, 2000.0, SLOW);
	unit(&c, 100, 1000.0, FAST);
	find(&c);
	ok(c.bottleneck[SLOW] == TIER_BOTTLENECK_BUSY,
	   "busy: the device would be");
	c.endurance[SLOW] = 10;
	c.busy[1 * TIERS + SLOW] = 1.0;
	c.written[1 * TIERS + SLOW] = 11;
	find(&c);
	ok(c.bottleneck[SLOW] == TIER_BOTTLENECK_ENDURANCE, "endurance: it would be written too much");
	c.available[SLOW] = 150;
	find(&c);
	ok(c.bottleneck[SLOW] == TIER_BOTTLENECK_BYTES,
	   "capacity and endurance: the capacity is named");
}

/* Nobody comes to a tier that is too full. */
static void
test_too_full(void)
{
	Case		c;

	begin(&c);
	c.available[FAST] = 50;
	c.raised = 81;
	unit(&c, 80, 5.0, FAST);
	unit(&c, 20, 4.0, SLOW);
	find(&c);
	ok(c.bottleneck[FAST] == TIER_BOTTLENECK_BYTES,
	   "too full: it is the capacity");
	ok(c.pushed[1] == FAST, "too full: nobody comes to it");
}

/* Who may not be where he is needs room elsewhere, whatever that costs. */
static void
test_must_leave(void)
{
	Case		c;

	begin(&c);
	c.available[SLOW] = 10;
	unit(&c, 80, 5.0, FAST);
	c.allowed[FAST] = false;
	c.least = 1.0;
	find(&c);
	ok(c.bottleneck[SLOW] == TIER_BOTTLENECK_BYTES && c.pushed[0] == SLOW,
	   "must leave: it is the capacity that keeps it from there");
	c.available[SLOW] = 80;
	find(&c);
	ok(c.bottleneck[SLOW] == TIER_BOTTLENECK_NONE && c.pushed[0] == -1, "must leave: it can");
}

/* What it costs where it is need not be known. */
static void
test_unknown(void)
{
	Case		c;

	begin(&c);
	c.available[FAST] = 10;
	unit(&c, 80, INFINITY, SLOW);
	unit(&c, 80, 1.0, SLOW);
	find(&c);
	ok(c.bottleneck[FAST] == TIER_BOTTLENECK_BYTES && c.pushed[0] == FAST,
	   "unknown: but it may not be where it is");
	c.problem.ntiers = 1;
	c.tier[0] = c.tier[1] = FAST;
	find(&c);
	ok(c.bottleneck[FAST] == TIER_BOTTLENECK_NONE, "one tier: nobody");
}

int
main(void)
{
	test_too_large();
	test_money();
	test_busy();
	test_too_full();
	test_must_leave();
	test_unknown();
	return done();
}
