/*-------------------------------------------------------------------------
 *
 * decide/purchase.c
 *		What the measured load would come to on other hardware, and what that costs.
 *
 * See decide/purchase.h.  Each option changes the tiers of the advice in memory, decides
 * again, and leaves them as they were.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_tablespace_d.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "src/decide/purchase.h"

/* Of the solver, for all options: less than a second. */
#define EFFORT_OF_ALL 1e8

/* Bytes that are missing by rounding. */
#define ROUNDING_BYTES 1.0

/* As good as no limit. */
#define MOST_BYTES 9.2e18

#define NSCENARIOS (TIER_SCENARIO_WRITES_HIGH + 1)

double
tier_purchase_gb(const TierPurchase *purchase, int tier)
{
	int64		capacity = purchase->tiers[tier].capacity_bytes;

	return (capacity >= 0 ? (double) capacity : purchase->advice->used_bytes[tier]) /
		TIER_PURCHASE_BYTES_PER_GB;
}

/* ---------------------------------------------------------------------
 * Tiers that are others
 * ---------------------------------------------------------------------
 */

void
tier_purchase_mark_gone(TierPurchase *purchase, const TierPurchaseOption *option)
{
	for (int t = 0; t < purchase->advice->set->ntiers; t++)
		purchase->advice->is_gone[t] = t == purchase->spare;
	for (int i = 0; i < option->nchanges; i++)
		purchase->advice->is_gone[option->changes[i].tier] = option->changes[i].is_removed;
}

static void
restore_tiers(TierPurchase *purchase)
{
	TierAdvice *advice = purchase->advice;

	memcpy(advice->set->tiers, purchase->tiers, sizeof(TierTier) * advice->set->ntiers);
	memset(advice->taken_bytes, 0, sizeof(double) * advice->set->ntiers);
	tier_purchase_mark_gone(purchase, &purchase->today);
}

double
tier_purchase_others(const TierPurchase *purchase, int tier)
{
	return tier_advice_taken(purchase->advice, tier, &purchase->tiers[tier]);
}

/*
 * What is bought comes to the disk, whatever of that other files have; these need as much of a
 * smaller one.
 */
static void
set_capacity(TierPurchase *purchase, int t, double gb)
{
	TierTier   *tier = &purchase->advice->set->tiers[t];
	double		bytes = Min(gb * TIER_PURCHASE_BYTES_PER_GB, MOST_BYTES);
	double		more = tier->capacity_bytes < 0 ? 0.0 : bytes - tier->capacity_bytes;

	if (more < 0.0)
		purchase->advice->taken_bytes[t] = tier_purchase_others(purchase, t);
	if (more > 0.0 && tier->free_bytes >= 0)
	{
		tier->device_bytes = (int64) Min(tier->device_bytes + more, MOST_BYTES);
		tier->free_bytes = (int64) Min(tier->free_bytes + more, MOST_BYTES);
	}
	tier->capacity_bytes = (int64) bytes;
}

/* Another device knows nothing of what was measured of the one before. */
static void
replace_device(const TierPurchase *purchase, const TierPurchaseChange *change, TierTier *tier)
{
	const TierVolume *volume = &purchase->volumes[change->volume].volume;
	double		ratio = tier->profile.compression_ratio;
	double		gb = tier->capacity_bytes >= 0 ?
	tier->capacity_bytes / TIER_PURCHASE_BYTES_PER_GB : tier_purchase_gb(purchase, change->tier);

	tier->profile = tier_volume_profile(volume, gb, change->requests, change->throughput);
	tier->profile.compression_ratio = ratio;
	tier->profile.endurance_bytes_per_day = Max(volume->endurance_dwpd, 0.0) * gb *
		TIER_PURCHASE_BYTES_PER_GB;
	tier->price_is_assumed = true;
}

/* More of the same device: what was measured of it changes as its profile does. */
static void
grow_device(const TierPurchase *purchase, const TierPurchaseChange *change, TierTier *tier)
{
	int			v = purchase->volume_of[change->tier];
	double		gb_now = tier_purchase_gb(purchase, change->tier);
	double		gb = isnan(change->gb) ? gb_now : change->gb;

	if (v >= 0)
		tier->profile = tier_volume_grown(&purchase->volumes[v].volume, &tier->profile, gb_now,
										  gb, change->requests, change->throughput);
	if (gb_now > 0.0)
		tier->profile.endurance_bytes_per_day *= gb / gb_now;
}

static void
apply_change(TierPurchase *purchase, const TierPurchaseChange *change)
{
	TierTier   *tier = &purchase->advice->set->tiers[change->tier];

	if (change->is_removed)
		return;
	if (!isnan(change->gb))
		set_capacity(purchase, change->tier, change->gb);
	if (change->volume >= 0)
		replace_device(purchase, change, tier);
	else
		grow_device(purchase, change, tier);
	if (!isnan(change->price_per_gb_month))
	{
		tier->profile.price_per_gb_month = change->price_per_gb_month;
		tier->price_is_assumed = false;
	}
}

static const TierPurchaseChange *
change_of(const TierPurchaseOption *option, int tier)
{
	for (int i = 0; i < option->nchanges; i++)
		if (option->changes[i].tier == tier)
			return &option->changes[i];
	return NULL;
}

/*
 * What is paid for a tier as it is now in the advice.  A price that was given is that of a GB with
 * everything that belongs to it; what is bought beyond comes on top.
 */
static double
price_of_tier(const TierPurchase *purchase, const TierPurchaseOption *option, int t)
{
	const TierTier *tier = &purchase->advice->set->tiers[t];
	const TierPurchaseChange *change = change_of(option, t);
	int			v = change != NULL && change->volume >= 0 ? change->volume :
	purchase->volume_of[t];
	double		gb = (tier->capacity_bytes >= 0 ? (double) tier->capacity_bytes :
					  purchase->advice->placement.after[t].bytes) / TIER_PURCHASE_BYTES_PER_GB;
	double		requests = change == NULL ? NAN : change->requests;
	double		throughput = change == NULL ? NAN : change->throughput;
	TierVolume	volume;

	if (v < 0)
		return gb * tier->profile.price_per_gb_month;
	volume = purchase->volumes[v].volume;
	if (!tier->price_is_assumed)
		return gb * tier->profile.price_per_gb_month +
			tier_volume_price(&volume, gb, requests, throughput) -
			tier_volume_price(&volume, gb, NAN, NAN);
	return tier_volume_price(&volume, gb, requests, throughput);
}

/* ---------------------------------------------------------------------
 * What comes of it
 * ---------------------------------------------------------------------
 */

static TierPlacementTotals *
totals_in(const TierPurchase *purchase, TierPlacementTotals *totals, TierScenario scenario)
{
	return &totals[scenario * purchase->advice->set->ntiers];
}

/* By scenario and tier; false: something costs without end. */
static bool
add_up(const TierPurchase *purchase, bool as_advised, TierPlacementTotals *totals)
{
	bool		is_finite = true;

	for (TierScenario s = TIER_SCENARIO_MIDDLE; s < NSCENARIOS; s++)
		is_finite &= tier_advice_totals_in(purchase->advice, s, as_advised, 1.0,
										   purchase->advice->set->ntiers,
										   totals_in(purchase, totals, s));
	return is_finite;
}

static TierPlacementTotals *
new_totals(const TierPurchase *purchase)
{
	return palloc0(sizeof(TierPlacementTotals) * NSCENARIOS * purchase->advice->set->ntiers);
}

static TierPurchaseGain
gain_of(TierPurchase *purchase, TierPlacementTotals *best, TierPlacementTotals *then)
{
	TierPurchaseGain gain = TIER_PURCHASE_UNKNOWN;

	for (TierScenario s = TIER_SCENARIO_MIDDLE; s < NSCENARIOS; s++)
		tier_purchase_add(&purchase->clients, totals_in(purchase, purchase->now, s),
						  totals_in(purchase, best, s), totals_in(purchase, then, s),
						  purchase->advice->set->ntiers, &gain);
	return gain;
}

/* What clients' time goes into, if they wait so long for the devices. */
static int
bound_with(const TierPurchase *purchase, double device_s)
{
	const TierClientTime *time = &purchase->advice->client_time;
	double		factor = purchase->advice->options.load_factor;
	double		seconds[TIER_PURCHASE_BOUNDS] = {0};

	if (!(time->active_s > 0.0))
		return -1;
	seconds[TIER_BOUND_CPU] = factor * time->processor_s;
	seconds[TIER_BOUND_DEVICE] = Max(device_s, 0.0);
	seconds[TIER_BOUND_WAL] = factor * time->wal_s;
	seconds[TIER_BOUND_TEMP] = factor * time->temp_s;
	seconds[TIER_BOUND_LOCK] = factor * time->lock_s;
	seconds[TIER_BOUND_OTHER] = factor * (time->active_s - time->processor_s - time->device_s -
										  time->wal_s - time->temp_s - time->lock_s);
	return tier_purchase_bound(seconds);
}

/* By how much tiers hold less than has to be there, and where most. */
static double
missing_bytes(const TierPurchase *purchase, int *tier)
{
	const TierAdvice *advice = purchase->advice;
	double		sum = 0.0;
	double		most = 0.0;

	*tier = -1;
	for (int t = 0; t < advice->set->ntiers; t++)
	{
		double		missing = advice->is_gone[t] ? advice->placement.after[t].bytes :
		advice->placement.after[t].bytes - advice->limit_bytes[t];

		if (!(missing > ROUNDING_BYTES))
			continue;
		sum += missing;
		if (missing > most)
		{
			most = missing;
			*tier = t;
		}
	}
	return sum;
}

/* Limits that the placement does not keep, of tiers that are there; NULL: none. */
static char *
remark_of(const TierPurchase *purchase, const TierPurchaseOption *option)
{
	const TierAdvice *advice = purchase->advice;
	char	   *all = NULL;

	for (int t = 0; t < advice->set->ntiers; t++)
	{
		const TierPurchaseChange *change = change_of(option, t);
		char	   *violation = advice->is_gone[t] ? NULL : tier_advice_violation(advice, t);

		if (violation != NULL && advice->taken_bytes[t] > 0.0)
			violation = psprintf("%s, beside %s of other files", violation,
								 tier_advice_bytes(advice->taken_bytes[t]));
		if (violation != NULL)
			all = psprintf("%s%s%s %s", all == NULL ? "" : all, all == NULL ? "" : "; ",
						   change != NULL && change->new_name != NULL ? change->new_name :
						   NameStr(advice->set->tiers[t].name), violation);
	}
	return all;
}

/* Is it room alone, and nothing more is there than without it? */
static bool
is_unused(const TierPurchase *purchase, const TierPurchaseOption *option)
{
	for (int i = 0; i < option->nchanges; i++)
	{
		const TierPurchaseChange *change = &option->changes[i];

		if (change->is_removed || isnan(change->gb) ||
			(change->volume >= 0 && change->new_name == NULL) ||
			!isnan(change->requests) || !isnan(change->throughput) ||
			purchase->advice->placement.after[change->tier].bytes >
			(change->new_name != NULL ? 0.0 : purchase->best_bytes[change->tier]) +
			ROUNDING_BYTES)
			return false;
	}
	return true;
}

static void
decide(TierPurchase *purchase, TierPurchaseOption *option)
{
	const TierAdvice *advice = purchase->advice;

	CHECK_FOR_INTERRUPTS();
	restore_tiers(purchase);
	tier_purchase_mark_gone(purchase, option);
	for (int i = 0; i < option->nchanges; i++)
		apply_change(purchase, &option->changes[i]);
	tier_advice_decide(purchase->advice);
	option->price_per_month = 0.0;
	option->io_s_per_hour = 0.0;
	for (int t = 0; t < advice->set->ntiers; t++)
	{
		const TierPlacementTotals *after = &advice->placement.after[t];

		if (!advice->is_gone[t])
			option->price_per_month += price_of_tier(purchase, option, t);
		option->io_s_per_hour += after->busy_s + after->queue_s;
	}
}

/* What is not known is not said. */
static void
forget_gain(TierPurchaseOption *option)
{
	option->gain = (TierPurchaseGain) TIER_PURCHASE_UNKNOWN;
	option->performance = NAN;
	option->io_s_per_hour = NAN;
	option->bound = -1;
}

void
tier_purchase_evaluate(TierPurchase *purchase, TierPurchaseOption *option)
{
	TierPlacementTotals *then = new_totals(purchase);
	bool		is_finite;

	decide(purchase, option);
	is_finite = add_up(purchase, true, then);
	option->gain = gain_of(purchase, purchase->best, then);
	option->missing_bytes = Max(missing_bytes(purchase, &option->missing_tier) -
								purchase->today.missing_bytes - ROUNDING_BYTES, 0.0);
	option->is_unused = is_unused(purchase, option);
	option->remark = remark_of(purchase, option);
	option->bound = bound_with(purchase, purchase->device_s -
							   (option->gain.wait_s_low + option->gain.wait_s_high) / 2.0);
	option->performance = tier_purchase_performance(option->gain.speedup,
													purchase->today.price_per_month,
													option->price_per_month);
	option->verdict = tier_purchase_verdict(&option->gain, purchase->is_observed && is_finite,
											option->missing_bytes <= 0.0,
											option->price_per_month -
											purchase->today.price_per_month);
	if (option->verdict == TIER_PURCHASE_NOT_OBSERVED ||
		option->verdict == TIER_PURCHASE_TOO_SMALL)
		forget_gain(option);
	pfree(then);
	restore_tiers(purchase);
}

double
tier_purchase_try_size(TierPurchase *purchase, int tier, double gb, double *bytes)
{
	const TierAdvice *advice = purchase->advice;
	double		io_s = 0.0;

	/* The device is what it is: only its room is another one. */
	CHECK_FOR_INTERRUPTS();
	restore_tiers(purchase);
	set_capacity(purchase, tier, gb);
	tier_advice_decide(purchase->advice);
	*bytes = advice->placement.after[tier].bytes;
	for (int t = 0; t < advice->set->ntiers; t++)
		io_s += advice->placement.after[t].busy_s + advice->placement.after[t].queue_s;
	restore_tiers(purchase);
	return io_s;
}

const TierAdviceUnit *
tier_purchase_stuck(const TierPurchase *purchase, int tier, double *bytes)
{
	const TierAdvice *advice = purchase->advice;
	const TierAdviceUnit *found = NULL;

	*bytes = 0.0;
	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];
		bool		may_leave = false;

		if (unit->current_tier != tier && unit->pinned_tier != tier)
			continue;
		for (int t = 0; t < advice->set->ntiers; t++)
			may_leave |= t != tier && tier_advice_why_not(advice, unit, t) == NULL;
		if (may_leave)
			continue;
		*bytes += tier_advice_stored(advice, unit, tier);
		if (found == NULL)
			found = unit;
	}
	return found;
}

bool
tier_purchase_holds_catalogs(const TierPurchase *purchase, int tier)
{
	const TierSet *set = purchase->advice->set;

	return tier_set_tier_of_tablespace(set, DEFAULTTABLESPACE_OID) == tier ||
		tier_set_tier_of_tablespace(set, MyDatabaseTableSpace) == tier;
}

/* ---------------------------------------------------------------------
 * Today
 * ---------------------------------------------------------------------
 */

/* Most of the load has to be of what was observed for long enough. */
static void
look_at_evidence(TierPurchase *purchase)
{
	const TierAdvice *advice = purchase->advice;
	double		known_s = 0.0;
	double		unknown_s = 0.0;
	int			known = 0;

	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];
		bool		is_known = unit->confidence > TIER_CONFIDENCE_INSUFFICIENT;
		double		busy_s;

		if (unit->current_tier < 0)
			continue;
		busy_s = tier_advice_busy(advice, unit, unit->current_tier);
		purchase->stored_gb += unit->size_bytes / TIER_PURCHASE_BYTES_PER_GB;
		known += is_known;
		*(is_known ? &known_s : &unknown_s) += isfinite(busy_s) ? busy_s : 0.0;
		if (!is_known)
			purchase->observed_s = Max(purchase->observed_s, unit->known_s);
	}
	purchase->is_observed = known > 0 && known_s >= unknown_s;
}

static bool
has_units_in_tiers(const TierAdvice *advice)
{
	for (int i = 0; i < advice->nunits; i++)
		if (advice->units[i].current_tier >= 0)
			return true;
	return false;
}

/* Where everything is now, and where it would be best with what there is. */
static void
look_at_today(TierPurchase *purchase)
{
	TierPurchaseOption *today = &purchase->today;
	const TierAdvice *advice = purchase->advice;
	bool		is_finite;

	restore_tiers(purchase);
	purchase->now = new_totals(purchase);
	purchase->best = new_totals(purchase);
	is_finite = add_up(purchase, false, purchase->now);
	decide(purchase, today);
	is_finite &= add_up(purchase, true, purchase->best);
	purchase->is_observed &= is_finite;
	purchase->best_bytes = palloc(sizeof(double) * advice->set->ntiers);
	purchase->best_occupied = palloc(sizeof(double) * advice->set->ntiers);
	for (int t = 0; t < advice->set->ntiers; t++)
	{
		purchase->best_bytes[t] = advice->placement.after[t].bytes;
		purchase->best_occupied[t] = advice->placement.after[t].occupied_s;
	}
	today->gain = gain_of(purchase, purchase->now, purchase->best);
	today->missing_bytes = missing_bytes(purchase, &today->missing_tier);
	today->remark = remark_of(purchase, today);
	purchase->device_s = purchase->clients.active_s > 0.0 ? purchase->clients.device_s -
		(today->gain.wait_s_low + today->gain.wait_s_high) / 2.0 : 0.0;
	today->bound = bound_with(purchase, purchase->device_s);
	today->performance = purchase->clients.active_s > 0.0 && today->price_per_month > 0.0 ?
		1.0 : NAN;
	today->verdict = tier_purchase_verdict(&today->gain, purchase->is_observed, true, 0.0);
	if (today->verdict == TIER_PURCHASE_NOT_OBSERVED)
		forget_gain(today);
	restore_tiers(purchase);
}

TierPurchase *
tier_purchase_load(double load_factor, int noptions)
{
	TierPurchase *purchase = palloc0(sizeof(TierPurchase));
	MemoryContext context = CurrentMemoryContext;
	TierAdviceOptions options;
	TierCatalogScope scope;
	TierAdvice *advice;

	tier_advice_default_options(&options);
	options.bounds = false;
	options.from_scratch = true;
	options.spare_tier = true;
	options.load_factor = load_factor;
	options.effort = Min(EFFORT_OF_ALL / Max(noptions, 1), TIER_PLACEMENT_EFFORT);
	advice = purchase->advice = tier_advice_load(&options);
	purchase->spare = -1;
	for (int t = 0; t < advice->set->ntiers; t++)
		if (advice->is_gone[t])
			purchase->spare = t;
	purchase->ntiers = advice->set->ntiers - (purchase->spare >= 0);
	if (purchase->ntiers == 0 || !has_units_in_tiers(advice))
	{
		tier_advice_notice_unknown(advice);
		return NULL;
	}
	tier_catalog_enter(&scope);
	purchase->volumes = tier_catalog_load_volumes(context, &purchase->nvolumes);
	purchase->volume_of = tier_catalog_load_volume_of_tiers(context, advice->set,
															purchase->volumes,
															purchase->nvolumes);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	purchase->tiers = palloc(sizeof(TierTier) * advice->set->ntiers);
	memcpy(purchase->tiers, advice->set->tiers, sizeof(TierTier) * advice->set->ntiers);
	purchase->clients = tier_advice_clients(advice);
	look_at_evidence(purchase);
	look_at_today(purchase);
	return purchase;
}
