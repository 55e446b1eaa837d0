/*-------------------------------------------------------------------------
 *
 * decide/purchase_usual.c
 *		Hardware that is tried when nothing is asked for.
 *
 * Of each tier: to do without it, other volumes of the same provider instead of it, more room if
 * anything gains from that, less if it is half empty, more requests where they are sold.  Where
 * there is one tier: a second one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "src/decide/purchase.h"

/* Of a tier that is made smaller, what is free beyond what it holds. */
#define SPARE_ROOM 1.25

/* Sizes of a tier at which is looked: all that gains, half of it, and so on. */
#define CURVE_POINTS 4

/* No tier has as many GB. */
#define AS_MUCH_AS_WANTED 9e9

/* Less than this share of the size is no gain of room. */
#define LEAST_MORE 1e-3

/* Less than this share of the size is what one would buy again. */
#define MUCH_SMALLER 0.7

/* A device that is occupied for less of an hour is not short of requests. */
#define BUSY_S 360.0

/* A second tier: how much faster or cheaper it has to be, and the share of data of a fast one. */
#define MUCH_FASTER 0.5
#define MUCH_CHEAPER 0.7
#define SHARE_OF_FAST 0.25

/* In the order of tiers; a full list ends it. */
typedef struct Usual
{
	TierPurchase *purchase;
	TierPurchaseOption *options;
	int			n;
} Usual;

static TierPurchaseChange *
add_option(Usual *usual, int tier)
{
	TierPurchaseOption *option;
	TierPurchaseChange *change;

	if (usual->n == TIER_PURCHASE_MOST_OPTIONS)
		return NULL;
	option = &usual->options[usual->n++];
	option->nchanges = 1;
	change = option->changes = palloc0(sizeof(TierPurchaseChange));
	change->tier = tier;
	change->volume = -1;
	change->gb = change->price_per_gb_month = change->requests = change->throughput = NAN;
	return change;
}

/* 1, 2 or 5 times a power of ten, no less than that. */
static double
round_up(double gb)
{
	double		unit = pow(10.0, floor(log10(gb)));

	if (gb <= unit * 1.0001)
		return unit;
	return gb <= 2.0 * unit ? 2.0 * unit : gb <= 5.0 * unit ? 5.0 * unit : 10.0 * unit;
}

static const TierVolumeRow *
row_of(const TierPurchase *purchase, int tier)
{
	int			v = purchase->volume_of[tier];

	return v < 0 ? NULL : &purchase->volumes[v];
}

/* Is it sold in this size, by the provider of the tier? */
static bool
is_offered(const TierPurchase *purchase, int tier, int v, double gb)
{
	const TierVolumeRow *here = row_of(purchase, tier);
	const TierVolumeRow *there = &purchase->volumes[v];

	return here != NULL && here->provider != NULL && there->provider != NULL &&
		strcmp(here->provider, there->provider) == 0 && here != there &&
		!(there->volume.most_gb > 0.0 && gb > there->volume.most_gb);
}

static void
try_without(Usual *usual, int tier)
{
	double		bytes;
	TierPurchaseChange *change;

	if (usual->purchase->ntiers < 2 || tier_purchase_holds_catalogs(usual->purchase, tier) ||
		tier_purchase_stuck(usual->purchase, tier, &bytes) != NULL)
		return;
	change = add_option(usual, tier);
	if (change != NULL)
		change->is_removed = true;
}

static void
try_others(Usual *usual, int tier)
{
	const TierPurchase *purchase = usual->purchase;

	for (int v = 0; v < purchase->nvolumes; v++)
	{
		TierPurchaseChange *change;

		if (!is_offered(purchase, tier, v, tier_purchase_gb(purchase, tier)))
			continue;
		change = add_option(usual, tier);
		if (change != NULL)
			change->volume = v;
	}
}

static void
try_size(Usual *usual, int tier, double gb)
{
	const TierVolumeRow *row = row_of(usual->purchase, tier);
	TierPurchaseChange *change;

	if (row != NULL && row->volume.most_gb > 0.0 && gb > row->volume.most_gb)
		return;
	change = add_option(usual, tier);
	if (change != NULL)
		change->gb = gb;
}

/*
 * What more room saves is a curve; where it bends, and where it ends.  `all` is how much more
 * than today holds all that gains.
 */
static void
try_more(Usual *usual, int tier, double all)
{
	TierPurchase *purchase = usual->purchase;
	double		gb = tier_purchase_gb(purchase, tier);
	double		size[CURVE_POINTS + 1] = {gb};
	double		saves[CURVE_POINTS + 1] = {-purchase->today.io_s_per_hour};
	double		bytes;
	int			knee;
	int			n = 1;

	for (int i = CURVE_POINTS - 1; i >= 0; i--)
	{
		double		next = gb + round_up(ldexp(all, -i));

		if (next <= size[n - 1])
			continue;
		size[n] = next;
		saves[n] = -tier_purchase_try_size(purchase, tier, next, &bytes);
		n++;
	}
	knee = tier_placement_knee(size, saves, n);
	if (knee > 0 && knee < n - 1)
		try_size(usual, tier, size[knee]);
	try_size(usual, tier, size[n - 1]);
}

static void
try_sizes(Usual *usual, int tier)
{
	TierPurchase *purchase = usual->purchase;
	double		reserve = purchase->tiers[tier].reserve_fraction;
	double		gb = tier_purchase_gb(purchase, tier);
	double		best = purchase->best_bytes[tier] / TIER_PURCHASE_BYTES_PER_GB;
	double		bytes;
	double		more;

	if (purchase->tiers[tier].capacity_bytes <= 0 || purchase->advice->why_closed[tier] != NULL)
		return;
	(void) tier_purchase_try_size(purchase, tier, AS_MUCH_AS_WANTED, &bytes);
	more = (bytes / TIER_PURCHASE_BYTES_PER_GB - best) / (1.0 - reserve);
	if (more > gb * LEAST_MORE)
		try_more(usual, tier, more);
	(void) tier_purchase_stuck(purchase, tier, &bytes);
	best = (Max(best, bytes / TIER_PURCHASE_BYTES_PER_GB) +
			tier_purchase_others(purchase, tier) / TIER_PURCHASE_BYTES_PER_GB) /
		(1.0 - reserve) * SPARE_ROOM;
	if (best > 0.0 && round_up(best) < gb * MUCH_SMALLER)
		try_size(usual, tier, round_up(best));
}

static void
try_requests(Usual *usual, int tier)
{
	const TierPurchase *purchase = usual->purchase;
	const TierVolumeRow *row = row_of(purchase, tier);
	double		now;
	double		twice;
	TierPurchaseChange *change;

	if (row == NULL || !(row->volume.requests.price >= 0.0) ||
		purchase->best_occupied[tier] < BUSY_S)
		return;
	now = tier_volume_requests(&row->volume, tier_purchase_gb(purchase, tier));
	twice = row->volume.requests.most > 0.0 ? Min(2.0 * now, row->volume.requests.most) :
		2.0 * now;
	if (twice < now * 1.2)
		return;
	change = add_option(usual, tier);
	if (change != NULL)
		change->requests = twice;
}

/* Under the name of its profile. */
static void
try_new(Usual *usual, int v, double gb)
{
	TierPurchase *purchase = usual->purchase;
	const TierVolumeRow *row = &purchase->volumes[v];
	TierPurchaseChange *change;

	if (purchase->spare < 0 || strlen(row->name) >= NAMEDATALEN ||
		strcmp(row->name, NameStr(purchase->tiers[0].name)) == 0 ||
		(row->volume.most_gb > 0.0 && gb > row->volume.most_gb))
		return;
	change = add_option(usual, purchase->spare);
	if (change == NULL)
		return;
	change->new_name = row->name;
	change->volume = v;
	change->gb = gb;
}

static void
try_second(Usual *usual)
{
	TierPurchase *purchase = usual->purchase;
	const TierCostProfile *here = &purchase->tiers[0].profile;
	double		reserve = purchase->spare < 0 ? 0.0 :
	purchase->tiers[purchase->spare].reserve_fraction;
	double		gb = purchase->stored_gb / (1.0 - reserve);

	for (int v = 0; v < purchase->nvolumes && gb > 0.0; v++)
	{
		const TierCostProfile *there = &purchase->volumes[v].volume.figures;

		if (!is_offered(purchase, 0, v, gb))
			continue;
		if (there->random_read_ms <= here->random_read_ms * MUCH_FASTER)
			try_new(usual, v, round_up(gb * SHARE_OF_FAST));
		else if (there->price_per_gb_month <= here->price_per_gb_month * MUCH_CHEAPER)
			try_new(usual, v, round_up(gb));
	}
}

TierPurchaseOption *
tier_purchase_usual(TierPurchase *purchase, int *n)
{
	Usual		usual = {.purchase = purchase};

	usual.options = palloc0(sizeof(TierPurchaseOption) * TIER_PURCHASE_MOST_OPTIONS);
	for (int t = 0; t < purchase->ntiers; t++)
		try_without(&usual, t);
	for (int t = 0; t < purchase->ntiers; t++)
	{
		try_sizes(&usual, t);
		try_requests(&usual, t);
	}
	if (purchase->ntiers == 1)
		try_second(&usual);
	for (int t = 0; t < purchase->ntiers; t++)
		try_others(&usual, t);
	*n = usual.n;
	return usual.options;
}
