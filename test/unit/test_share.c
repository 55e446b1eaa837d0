/*-------------------------------------------------------------------------
 *
 * test_share.c
 *		Tests of src/model/share.c: databases that share a tier by price.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "src/model/placement_problem.h"
#include "src/model/share.h"
#include "tap.h"

#define MAX_DATABASES 8
#define UNITS 60
#define GB 1e9
#define ROUNDING 1e-9

/* A capacity of which so much is given. */
#define GIVING(bytes) ((bytes) / (1.0 - TIER_SHARE_SLACK))

static double
sum_of(const double *numbers, int n)
{
	double		sum = 0.0;

	for (int i = 0; i < n; i++)
		sum += numbers[i];
	return sum;
}

static TierShareDemand
demand_of(double kept_bytes, double bytes, double price)
{
	TierShareStep step = {bytes, price, 0.0};
	TierShareDemand demand;

	tier_share_gather(&demand, kept_bytes, &step, 1);
	return demand;
}

static bool
is_near(double a, double b)
{
	return fabs(a - b) <= ROUNDING * fabs(b);
}

static void
test_price(void)
{
	TierShareDemand demands[3];
	double		shares[3];

	demands[0] = demand_of(10 * GB, 40 * GB, 3e-9);
	demands[1] = demand_of(0, 40 * GB, 1e-9);
	ok(tier_share_clear(demands, 2, 100 * GB, shares) == 0.0, "what all fits costs nothing");
	ok(shares[0] == 50 * GB && shares[1] == 40 * GB, "and everybody gets it");
	ok(tier_share_clear(demands, 2, 90 * GB, shares) == 0.0, "just so");
	is(tier_share_clear(demands, 2, GIVING(60 * GB), shares), 1e-9,
	   "the one at the margin says how much");
	ok(is_near(shares[0], 50 * GB) && is_near(shares[1], 10 * GB), "and gets what is left");
	ok(tier_share_clear(demands, 2, GIVING(50 * GB), shares) > 0.0 &&
	   is_near(shares[0], 50 * GB) && fabs(shares[1]) < 1.0, "nothing is left");
	is(tier_share_clear(demands, 2, GIVING(30 * GB), shares), 3e-9, "the higher price counts");
	ok(is_near(shares[0], 30 * GB) && shares[1] == 0.0, "and the lower gets nothing");
	is(tier_share_clear(demands, 2, GIVING(5 * GB), shares), 3e-9, "less than is kept");
	ok(shares[0] == 10 * GB && shares[1] == 0.0, "what is kept is kept");
	is(tier_share_clear(demands, 2, -5 * GB, shares), 3e-9, "none at all");
	ok(shares[0] == 10 * GB, "whatever there is");
	ok(tier_share_clear(demands, 0, GB, shares) == 0.0, "nobody");

	demands[2] = demand_of(0, 20 * GB, 1e-9);
	is(tier_share_clear(demands, 3, GIVING(80 * GB), shares), 1e-9, "equal prices");
	is(shares[1], 20 * GB, "are served in proportion: the first");
	is(shares[2], 10 * GB, "and the other");

	ok(tier_share_clear(demands, 2, 89.999 * GB, shares) > 0.0 &&
	   is_near(shares[1], 89.999 * GB * (1.0 - TIER_SHARE_SLACK) - 50 * GB),
	   "who shares leaves a little");
	ok(tier_share_allows(80, 100) == 100, "who has less than his share may have it");
	ok(tier_share_allows(105, 100) == 105, "who has a little more keeps it");
	ok(tier_share_allows(106, 100) == 100, "who has much more gives way");
	ok(tier_share_allows(1, 0) == 0, "to the last byte");
}

/* What would have to be split is given to nobody; the next one has the room. */
static void
test_pieces(void)
{
	TierShareDemand demands[3];
	double		shares[3];
	TierShareStep steps[2] = {{40 * GB, 1e-9, 40 * GB}, {5 * GB, 1e-9, 5 * GB}};

	demands[0] = demand_of(0, 50 * GB, 3e-9);
	demands[1] = demand_of(0, 40 * GB, 2e-9);
	demands[1].steps[0].largest = 40 * GB;
	demands[2] = demand_of(0, 20 * GB, 1e-9);
	demands[2].steps[0].largest = 20 * GB;
	ok(tier_share_clear(demands, 3, GIVING(80 * GB), shares) > 0.0, "not all of it fits");
	ok(is_near(shares[0], 50 * GB) && shares[1] == 0.0, "a part of one piece is no use");
	is(shares[2], 20 * GB, "to who wants less it is");
	tier_share_clear(demands, 3, GIVING(100 * GB), shares);
	ok(is_near(shares[1], 40 * GB) && shares[2] == 0.0, "where it fits, the higher price counts");

	/* Steps that are one by their price: the smaller of the two fits. */
	tier_share_gather(&demands[1], 0, steps, 2);
	demands[1].steps[0].bytes = 45 * GB;
	demands[1].nsteps = 1;
	tier_share_clear(demands, 2, GIVING(70 * GB), shares);
	is(shares[1], 5 * GB, "beside a piece that is too large its neighbours have their share");
	tier_share_clear(demands, 2, GIVING(90 * GB), shares);
	ok(is_near(shares[1], 40 * GB), "and with it, too");

	/* More than there is room for at all, at the highest price. */
	demands[0] = demand_of(0, 246 * GB, 3e-9);
	demands[0].steps[0].largest = 246 * GB;
	tier_share_clear(demands, 2, GIVING(97 * GB), shares);
	ok(shares[0] == 0.0 && is_near(shares[1], 45 * GB), "what can never come evicts nobody");
}

static void
test_odd_numbers(void)
{
	TierShareStep steps[] = {{NAN, 1, 0}, {1, NAN, 0}, {INFINITY, 1, 0}, {1, INFINITY, 0},
	{-1, 1, 0}, {1, -1, 0}, {0, 1, 0}, {1, 0, 0}, {1, 2, 0}};
	TierShareDemand demand;
	double		share;

	tier_share_gather(&demand, NAN, steps, 9);
	ok(demand.nsteps == 1 && demand.kept_bytes == 0.0 && demand.steps[0].price == 2.0,
	   "what is no number wants nothing");
	ok(tier_share_clear(&demand, 1, INFINITY, &share) == 0.0 && share == 1.0, "any room");
}

/* Thousands of steps become few, and bytes and value stay. */
static void
test_gather(void)
{
	enum
	{
		MANY = 5000
	};
	static TierShareStep steps[MANY];
	TierShareDemand demand;
	double		bytes = 0.0;
	double		value = 0.0;
	double		after = 0.0;
	double		value_after = 0.0;
	bool		falls = true;

	for (int i = 0; i < MANY; i++)
	{
		steps[i].largest = 0.0;
		steps[i].bytes = exp(10.0 * random_unit());
		steps[i].price = exp(-10.0 * random_unit());
		bytes += steps[i].bytes;
		value += steps[i].bytes * steps[i].price;
	}
	tier_share_gather(&demand, 0, steps, MANY);
	for (int s = 0; s < demand.nsteps; s++)
	{
		after += demand.steps[s].bytes;
		value_after += demand.steps[s].bytes * demand.steps[s].price;
		falls &= s == 0 || demand.steps[s].price <= demand.steps[s - 1].price;
	}
	ok(demand.nsteps == TIER_SHARE_STEPS, "many steps become few");
	ok(falls, "the highest price first");
	ok(fabs(after / bytes - 1.0) < 1e-9 && fabs(value_after / value - 1.0) < 1e-9,
	   "bytes and value stay");
}

static void
test_any(void)
{
	bool		fits = true;
	bool		is_wanted = true;
	bool		is_full = true;

	for (int round = 0; round < 20000; round++)
	{
		TierShareDemand demands[MAX_DATABASES];
		double		shares[MAX_DATABASES];
		int			n = 1 + random_int(MAX_DATABASES);
		double		capacity = 100.0 * random_unit();
		double		kept = 0.0;
		double		wanted = 0.0;
		double		given;
		double		price;

		for (int i = 0; i < n; i++)
		{
			TierShareStep steps[40];
			int			nsteps = random_int(40);

			for (int s = 0; s < nsteps; s++)
			{
				steps[s].bytes = random_unit() * 3;
				steps[s].largest = 0.0;
				steps[s].price = 1 + random_int(6);
			}
			tier_share_gather(&demands[i], random_unit() * 10 - 5, steps, nsteps);
			kept += demands[i].kept_bytes;
		}
		price = tier_share_clear(demands, n, capacity, shares);
		for (int i = 0; i < n; i++)
		{
			double		most = demands[i].kept_bytes;

			for (int s = 0; s < demands[i].nsteps; s++)
				most += demands[i].steps[s].bytes;
			wanted += most;
			is_wanted &= shares[i] <= most * (1 + 1e-12) && shares[i] >= demands[i].kept_bytes;
		}
		fits &= sum_of(shares, n) <= fmax(capacity, kept) * (1 + 1e-12);
		given = price > 0.0 ? fmax(capacity * (1.0 - TIER_SHARE_SLACK), kept) : wanted;
		is_full &= (price > 0.0) == (wanted > capacity && wanted > kept) &&
			fabs(sum_of(shares, n) - given) < 1e-9;
	}
	ok(fits, "the shares are no more than the capacity, or than what is kept");
	ok(is_wanted, "nobody gets less than he keeps, or more than he wants");
	ok(is_full, "nothing is left as long as anybody wants it, and it costs as long");
}

/* ---------------------------------------------------------------------
 * Many rounds
 * ---------------------------------------------------------------------
 */

typedef struct Unit
{
	double		bytes;
	double		value;			/* saved by being on the tier */
	double		move;			/* that has to be gained by its move */
	bool		is_there;
} Unit;

typedef struct Database
{
	Unit		units[UNITS];
	TierShareDemand demand;
} Database;

/* What a byte of it has to cost for the unit to be elsewhere. */
static double
worth_of(const Unit *unit)
{
	return (unit->value + (unit->is_there ? unit->move : -unit->move)) / unit->bytes;
}

/* By loads that are taken for so many times what they are. */
static void
publish(Database *database, double factor)
{
	TierShareStep steps[UNITS];

	for (int u = 0; u < UNITS; u++)
	{
		steps[u].bytes = database->units[u].bytes;
		steps[u].largest = steps[u].bytes;
		steps[u].price = worth_of(&database->units[u]) * factor;
	}
	tier_share_gather(&database->demand, 0, steps, UNITS);
}

static double
used_by(const Database *database)
{
	double		bytes = 0.0;

	for (int u = 0; u < UNITS; u++)
		bytes += database->units[u].is_there ? database->units[u].bytes : 0.0;
	return bytes;
}

static int
compare_worth(const void *a, const void *b)
{
	double		left = worth_of(*(Unit *const *) a);
	double		right = worth_of(*(Unit *const *) b);

	return left > right ? -1 : left < right;
}

/* Has those there that are worth most, as far as its share and the room go; how many moves. */
static int
settle(Database *databases, int n, int i, double capacity)
{
	TierShareDemand demands[MAX_DATABASES];
	double		shares[MAX_DATABASES];
	Unit	   *by_worth[UNITS];
	double		left = capacity;
	int			moves = 0;

	for (int d = 0; d < n; d++)
	{
		demands[d] = databases[d].demand;
		left -= d == i ? 0.0 : used_by(&databases[d]);
	}
	if (tier_share_clear(demands, n, capacity, shares) > 0.0)
		left = fmin(left, tier_share_allows(used_by(&databases[i]), shares[i]));
	left += ROUNDING * capacity;
	for (int u = 0; u < UNITS; u++)
		by_worth[u] = &databases[i].units[u];
	qsort(by_worth, UNITS, sizeof(Unit *), compare_worth);
	for (int u = 0; u < UNITS; u++)
	{
		bool		is_there = by_worth[u]->bytes <= left && worth_of(by_worth[u]) > 0.0;

		left -= is_there ? by_worth[u]->bytes : 0.0;
		moves += is_there != by_worth[u]->is_there;
		by_worth[u]->is_there = is_there;
	}
	return moves;
}

static int
compare_density(const void *a, const void *b)
{
	const Unit *left = a;
	const Unit *right = b;

	return left->value / left->bytes > right->value / right->bytes ? -1 : 1;
}

/* Of all databases at once, with units that can be split. */
static double
best_value(const Database *databases, int n, double capacity)
{
	static Unit all[MAX_DATABASES * UNITS];
	double		value = 0.0;

	for (int i = 0; i < n; i++)
		memcpy(&all[i * UNITS], databases[i].units, sizeof(databases[i].units));
	qsort(all, n * UNITS, sizeof(Unit), compare_density);
	for (int u = 0; u < n * UNITS && capacity > 0.0; u++)
	{
		value += all[u].value * fmin(1.0, capacity / all[u].bytes);
		capacity -= all[u].bytes;
	}
	return value;
}

static void
make_database(Database *database, double heat)
{
	for (int u = 0; u < UNITS; u++)
	{
		Unit	   *unit = &database->units[u];

		unit->bytes = exp(4.0 * random_unit());
		unit->value = heat * unit->bytes * exp(-6.0 * random_unit());
		unit->move = 0.15 * unit->value + 1e-6 * unit->bytes;
		unit->is_there = false;
	}
}

/* Demands that do not change: they come to rest, at what is best for all. */
static void
test_rounds(void)
{
	bool		fits = true;
	bool		rests = true;
	int			most_rounds = 0;
	double		by_chance = 0.0;
	double		chances = 0.0;
	double		worst = 1.0;

	for (int run = 0; run < 300; run++)
	{
		static Database databases[MAX_DATABASES];
		int			n = 2 + random_int(MAX_DATABASES - 1);
		double		capacity = n * (100.0 + 700.0 * random_unit());
		double		value = 0.0;
		double		best;
		int			round;
		int			moves = 1;

		for (int i = 0; i < n; i++)
		{
			make_database(&databases[i], exp(3.0 * random_unit()));
			publish(&databases[i], 1.0);

			/* First come, first served: the first ones have it all. */
			for (int u = 0; u < UNITS; u++)
			{
				double		used = 0.0;

				for (int d = 0; d <= i; d++)
					used += used_by(&databases[d]);
				databases[i].units[u].is_there = used + databases[i].units[u].bytes <= capacity;
			}
		}
		for (round = 0; round < 50 && moves > 0; round++)
		{
			moves = 0;
			for (int i = 0; i < n; i++)
			{
				double		used = 0.0;

				publish(&databases[i], 1.0);
				moves += settle(databases, n, i, capacity);
				for (int d = 0; d < n; d++)
					used += used_by(&databases[d]);
				fits &= used <= capacity * (1 + 2 * ROUNDING);
			}
		}
		rests &= moves == 0;
		most_rounds = round > most_rounds ? round : most_rounds;

		/* Then they vary, and next to nothing moves by chance. */
		for (int later = 0; later < 50; later++)
			for (int i = 0; i < n; i++)
			{
				publish(&databases[i], 0.9 + 0.2 * random_unit());
				by_chance += settle(databases, n, i, capacity);
				chances += UNITS;
			}
		for (int i = 0; i < n; i++)
			for (int u = 0; u < UNITS; u++)
			{
				const Unit *unit = &databases[i].units[u];

				value += unit->is_there ? unit->value : 0.0;
			}
		best = best_value(databases, n, capacity);
		worst = fmin(worst, value / best);
	}
	ok(fits, "the tier is never overfull");
	ok(rests, "nothing moves any more after some rounds: %d at most", most_rounds);
	ok(by_chance < 0.002 * chances,
	   "loads that vary by a tenth move next to nothing: %.2f %% of all",
	   100.0 * by_chance / chances);
	ok(worst > 0.9, "together they save what is best for all: at least %.3f of it", worst);
}

/* One that has become idle gives way to one that is busy, and has it again later. */
static void
test_idle(void)
{
	static Database databases[2];
	double		first;
	double		second;

	make_database(&databases[0], 10.0);
	make_database(&databases[1], 10.0);
	for (int phase = 0; phase < 2; phase++)
	{
		for (int u = 0; u < UNITS; u++)
		{
			databases[phase].units[u].value = databases[phase].units[u].bytes * 5.0;
			databases[1 - phase].units[u].value = 0.0;
			databases[0].units[u].move = databases[1].units[u].move =
				1e-6 * databases[0].units[u].bytes;
		}
		for (int round = 0; round < 10; round++)
			for (int i = 0; i < 2; i++)
			{
				publish(&databases[i], 1.0);
				settle(databases, 2, i, 300.0);
			}
		first = used_by(&databases[phase]);
		second = used_by(&databases[1 - phase]);
		ok(first > 200.0 && second <= 300.0 - first, "who is busy has it: %.0f, %.0f",
		   first, second);
	}
}

int
main(void)
{
	test_price();
	test_pieces();
	test_odd_numbers();
	test_gather();
	test_any();
	test_rounds();
	test_idle();
	return done();
}
