/*-------------------------------------------------------------------------
 *
 * decide/purchase_sql.c
 *		SQL function that says what other hardware is worth: check, call, return.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "src/base/sql.h"
#include "src/decide/purchase.h"

PG_FUNCTION_INFO_V1(tier_simulate_hardware);

#define MOST_LOAD_FACTOR 1e6

static void
set_number(TierResultRow *row, int column, double value)
{
	if (isfinite(value))
		tier_row_datum(row, column, Float8GetDatum(value));
}

static void
put_option(TierResultRow *row, const TierPurchase *purchase, const TierPurchaseOption *option)
{
	const TierPurchaseOption *today = &purchase->today;
	const TierPurchaseGain *gain = &option->gain;

	tier_row_clear(row);
	tier_row_text(row, 0, tier_purchase_name(purchase, option));
	tier_row_datum(row, 1, tier_purchase_changes_of(purchase, option));
	set_number(row, 2, today->price_per_month);
	set_number(row, 3, option->price_per_month);
	set_number(row, 4, option->price_per_month - today->price_per_month);
	set_number(row, 5, purchase->stored_gb > 0.0 ?
			   option->price_per_month / purchase->stored_gb : NAN);
	set_number(row, 6, today->io_s_per_hour);
	set_number(row, 7, option->io_s_per_hour);
	if (!isnan(option->io_s_per_hour))
	{
		set_number(row, 8, gain->io_s_low);
		set_number(row, 9, gain->io_s_high);
	}
	set_number(row, 10, gain->wait_s_low);
	set_number(row, 11, gain->wait_s_high);
	set_number(row, 12, gain->less_low);
	set_number(row, 13, gain->less_high);
	set_number(row, 14, gain->speedup_low);
	set_number(row, 15, gain->speedup_high);
	set_number(row, 16, option->performance);
	tier_row_text(row, 17, tier_purchase_bound_text(today->bound));
	tier_row_text(row, 18, tier_purchase_bound_text(option->bound));
	tier_row_text(row, 19, option->remark);
	tier_row_text(row, 20, tier_purchase_sentence(purchase, option));
	tier_row_put(row);
}

/* What to sort by: work for the price; where clients are not known, that of devices. */
static double
rank_of(const TierPurchaseOption *option)
{
	if (!isnan(option->performance))
		return option->performance;
	if (option->io_s_per_hour > 0.0 && option->price_per_month > 0.0)
		return 1.0 / (option->io_s_per_hour * option->price_per_month);
	return -option->price_per_month;
}

/* What does not hold the data comes last. */
static int
compare_options(const void *a, const void *b)
{
	const TierPurchaseOption *left = *(TierPurchaseOption *const *) a;
	const TierPurchaseOption *right = *(TierPurchaseOption *const *) b;
	bool		left_fits = left->verdict != TIER_PURCHASE_TOO_SMALL;
	bool		right_fits = right->verdict != TIER_PURCHASE_TOO_SMALL;

	if (left_fits != right_fits)
		return left_fits ? -1 : 1;
	if (rank_of(left) != rank_of(right))
		return rank_of(left) > rank_of(right) ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* Whose prices nobody has said; what there is to know about the rows as a whole. */
static void
tell_about(const TierPurchase *purchase, bool is_usual)
{
	StringInfoData assumed;

	initStringInfo(&assumed);
	for (int t = 0; t < purchase->ntiers; t++)
		if (purchase->tiers[t].price_is_assumed)
			appendStringInfo(&assumed, "%s\"%s\"", assumed.len > 0 ? ", " : "",
							 NameStr(purchase->tiers[t].name));
	if (RecoveryInProgress())
		ereport(NOTICE,
				(errmsg("this is a standby: the load and the waits are those of the primary")));
	if (is_usual && purchase->ntiers == 1)
		ereport(NOTICE,
				(errmsg("there is only one tier, \"%s\"", NameStr(purchase->tiers[0].name)),
				 errdetail("A second one, and other devices instead of it, are tried.")));
	if (assumed.len > 0)
		ereport(NOTICE,
				(errmsg("the prices of %s are those of the price list", assumed.data),
				 errdetail("Prices change, and depend on the region and on what was agreed."),
				 errhint("Check device_profiles(), and say what you pay: "
						 "set_device_profile(), or alter_tier(price_per_gb_month => ...).")));
	if (!(purchase->clients.active_s > 0.0))
		ereport(NOTICE,
				(errmsg("what clients wait for is not known"),
				 errdetail("They count from an hour on in which they were sampled for a minute."),
				 errhint("With tiered_storage in shared_preload_libraries their waits are "
						 "sampled once a second.")));
}

Datum
tier_simulate_hardware(PG_FUNCTION_ARGS)
{
	bool		is_usual = PG_ARGISNULL(0);
	double		load_factor;
	TierPurchase *purchase;
	TierPurchaseOption *options;
	TierPurchaseOption **sorted;
	TierResultRow row;
	int			n;

	tier_require_argument(fcinfo, 1, "load_factor");
	load_factor = PG_GETARG_FLOAT8(1);
	if (!(load_factor > 0) || load_factor > MOST_LOAD_FACTOR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid load_factor"),
				 errhint("It is more than 0 and a million at most; 2 is twice as much load as "
						 "now.")));
	n = is_usual ? TIER_PURCHASE_MOST_OPTIONS : tier_purchase_count_asked(PG_GETARG_DATUM(0));
	tier_result_start(fcinfo, &row);
	purchase = tier_purchase_load(load_factor, n);
	if (purchase == NULL)
		return (Datum) 0;
	options = is_usual ? tier_purchase_usual(purchase, &n) :
		tier_purchase_asked(purchase, PG_GETARG_DATUM(0), &n);
	tell_about(purchase, is_usual);
	sorted = palloc(sizeof(TierPurchaseOption *) * (n + 1));
	sorted[0] = &purchase->today;
	for (int i = 0; i < n; i++)
	{
		tier_purchase_evaluate(purchase, &options[i]);
		sorted[i + 1] = &options[i];
	}

	/* What was asked for keeps its order. */
	if (is_usual)
		qsort(sorted, n + 1, sizeof(TierPurchaseOption *), compare_options);
	for (int i = 0; i <= n; i++)
		put_option(&row, purchase, sorted[i]);
	return (Datum) 0;
}
