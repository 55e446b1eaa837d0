/*-------------------------------------------------------------------------
 *
 * decide/publish.c
 *		What a database tells the others about its tiers; see decide/publish.h.
 *
 * What it wants of a tier: for each relation, the device time that a byte there saves beside the
 * best of the slower tiers.  What is there counts for more, and what would have to be moved for
 * less, exactly as in a placement (TIER_PLACEMENT_DOUBT, TIER_PLACEMENT_MOVE_MUST_PAY): so
 * nobody gives way to what would not come, and what has changed places stays there.
 *
 * What gets its place on a faster tier wants none on this one; what does depends on that tier's
 * price, and so on what all databases want there, but never the other way round.  So prices
 * are settled tier by tier, from the fastest one on, and cannot swing.  The slowest tier has no
 * price: what has no place elsewhere stays there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"
#include "src/base/cluster.h"
#include "src/decide/advice.h"
#include "src/decide/growth.h"
#include "src/decide/publish.h"

/* What a unit takes there when the horizon ends. */
static double
bytes_there(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	return tier_advice_stored(advice, unit, tier) + tier_advice_grown(advice, unit, tier);
}

/* Device time that it costs on the best of the slower tiers; INFINITY: it may be on none. */
static double
cost_on_slower(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	double		least = INFINITY;

	for (int t = tier + 1; t < advice->set->ntiers; t++)
		if (tier_advice_why_not(advice, unit, t) == NULL)
			least = Min(least, tier_advice_busy(advice, unit, t));
	return least;
}

/*
 * Would it come, if it got the room?  Nobody gives way to what is too large, or not known for
 * long enough.
 */
static bool
would_come(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	const TierTier *t = &advice->set->tiers[tier];

	if (t->capacity_bytes >= 0 && bytes_there(advice, unit, tier) >
		(double) t->capacity_bytes * (1.0 - t->reserve_fraction))
		return false;
	return unit->pinned_tier == tier ||
		(unit->confidence == TIER_CONFIDENCE_FIRM && !tier_advice_is_small(advice, unit));
}

/*
 * What a byte of it may cost there, at most; INFINITY: any price, 0 or less: nothing.  A pin
 * keeps what is there; it takes nothing away from other databases, whose owners have not
 * pinned it.
 */
static double
price_of(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	double		bytes = bytes_there(advice, unit, tier);
	double		elsewhere = cost_on_slower(advice, unit, tier);
	bool		is_there = unit->current_tier == tier;
	double		saved;
	double		move;

	if (!(bytes > 0.0) || unit->current_tier < 0 ||
		tier_advice_why_not(advice, unit, tier) != NULL)
		return 0.0;
	if (is_there && isinf(elsewhere))
		return INFINITY;
	if (!is_there && !would_come(advice, unit, tier))
		return 0.0;
	if (isinf(elsewhere))
		elsewhere = tier_advice_busy(advice, unit, unit->current_tier);
	saved = elsewhere - tier_advice_busy(advice, unit, tier);
	move = TIER_PLACEMENT_MOVE_MUST_PAY * tier_advice_move_s(advice, unit, tier) /
		advice->options.horizon_hours;
	return (saved + (is_there ? 1.0 : -1.0) * TIER_PLACEMENT_DOUBT * fabs(saved) - move) / bytes;
}

/* Has it a place on a faster tier at the prices of these? */
static bool
is_served(const TierAdvice *advice, const TierAdviceUnit *unit, int tier, const double *prices)
{
	for (int t = 0; t < tier; t++)
		if (price_of(advice, unit, t) > prices[t])
			return true;
	return false;
}

/* The last tier wants nothing but what has to be there. */
static void
gather_demand(const TierAdvice *advice, int tier, const double *prices, TierShareStep *steps,
			  TierPublished *row)
{
	double		kept = 0.0;
	int			n = 0;

	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];
		double		price;

		CHECK_FOR_INTERRUPTS();
		price = price_of(advice, unit, tier);
		if (!(price > 0.0) || (!isinf(price) && is_served(advice, unit, tier, prices)))
			continue;
		if (isinf(price))
			kept += bytes_there(advice, unit, tier);
		else
		{
			steps[n].bytes = bytes_there(advice, unit, tier);
			steps[n].largest = steps[n].bytes;
			steps[n++].price = price;
		}
	}
	tier_share_gather(&row->demand, kept, steps, n);
}

static void
describe_tier(const TierAdvice *advice, int tier, TierPublished *row)
{
	const TierSet *set = advice->set;
	const TierTier *t = &set->tiers[tier];

	row->database_oid = MyDatabaseId;
	row->at_us = tier_clock_monotonic_us();
	row->published_at = GetCurrentTimestamp();
	row->tier_name = t->name;
	row->rank = t->rank;
	row->capacity_bytes = (double) t->capacity_bytes;
	row->capacity_is_given = t->capacity_bytes != t->device_bytes;
	row->reserve_fraction = t->reserve_fraction;
	row->high_watermark = t->high_watermark;
	row->low_watermark = t->low_watermark;
	row->price_per_gb_month = t->profile.price_per_gb_month;
	row->random_read_ms = t->profile.random_read_ms;
	row->sequential_read_mb_per_s = t->profile.sequential_read_mb_per_s;
	for (int i = 0; i < set->ntablespaces; i++)
		if (set->tablespaces[i].tier == tier)
		{
			if (row->ntablespaces < TIER_MAX_PUBLISHED_TABLESPACES)
				row->tablespaces[row->ntablespaces] = set->tablespaces[i].oid;
			row->ntablespaces++;
		}
	row->used_bytes = advice->used_bytes[tier];
	for (int i = 0; i < advice->nunits; i++)
		if (advice->units[i].current_tier == tier)
			row->occupied_s += tier_advice_cost(advice, &advice->units[i], tier).occupied_s;
}

/* By what the others have published, and what this database is about to. */
static double
price_of_tier(const TierAdvice *advice, int tier, const TierPublished *own)
{
	int			nothers;
	TierPublished *others = tier_share_published(&nothers);
	TierPublished *rows = palloc(sizeof(TierPublished) * (nothers + 1));
	TierShared *shared;
	int			n = 0;

	for (int i = 0; i < nothers; i++)
		if (others[i].database_oid != MyDatabaseId)
			rows[n++] = others[i];
	rows[n++] = *own;
	shared = tier_share_find(advice->set, tier, rows, n);
	return tier_share_price(advice->set, tier, shared,
							(double) advice->set->tiers[tier].capacity_bytes,
							palloc(sizeof(double) * Max(shared->n, 1)));
}

static void
publish(void)
{
	TierAdviceOptions options;
	TierAdvice *advice;
	TierPublished *rows;
	TierShareStep *steps;
	double	   *prices;
	int			ntiers;

	tier_advice_default_options(&options);
	options.is_alone = true;
	advice = tier_advice_load(&options);
	tier_advice_forecast(advice);
	ntiers = advice->set->ntiers;
	rows = palloc0(sizeof(TierPublished) * Max(ntiers, 1));
	prices = palloc0(sizeof(double) * Max(ntiers, 1));
	steps = palloc_extended(sizeof(TierShareStep) * Max(advice->nunits, 1), MCXT_ALLOC_HUGE);
	for (int t = 0; t < ntiers; t++)
	{
		describe_tier(advice, t, &rows[t]);
		gather_demand(advice, t, prices, steps, &rows[t]);
		if (t < ntiers - 2)
			prices[t] = price_of_tier(advice, t, &rows[t]);
	}
	if (!tier_cluster_publish(MyDatabaseId, rows, ntiers))
		ereport(LOG,
				(errmsg("the tiers of this database are not shared with other databases by price"),
				 errdetail("There is room for %d tiers of all databases.", TIER_MAX_PUBLISHED)));
}

void
tier_publish_own(void)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "tiered_storage what is published",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);

	publish();
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
}
