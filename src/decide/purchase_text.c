/*-------------------------------------------------------------------------
 *
 * decide/purchase_text.c
 *		Words for other hardware: what it is, how much less is waited with it, at what price.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"

#include "src/decide/purchase.h"

/* Money per month that is rounded to nothing. */
#define LEAST_PRICE 5e-3

/* From here on, times say more than per cent. */
#define MANY_TIMES 1.0

const char *
tier_purchase_bound_text(int bound)
{
	switch (bound)
	{
		case TIER_BOUND_CPU:
			return "cpu";
		case TIER_BOUND_DEVICE:
			return "device";
		case TIER_BOUND_WAL:
			return "wal";
		case TIER_BOUND_TEMP:
			return "temp";
		case TIER_BOUND_LOCK:
			return "lock";
		case TIER_BOUND_OTHER:
			return "other";
	}
	return NULL;
}

static const char *
tier_name(const TierPurchase *purchase, const TierPurchaseChange *change)
{
	return change->new_name != NULL ? change->new_name :
		NameStr(purchase->tiers[change->tier].name);
}

static const char *
volume_name(const TierPurchase *purchase, int v)
{
	return v >= 0 ? purchase->volumes[v].name : NULL;
}

static char *
size_text(double gb)
{
	return tier_advice_bytes(gb * TIER_PURCHASE_BYTES_PER_GB);
}

/* How much larger it gets; NaN: its size stays, or was not known. */
static double
more_gb(const TierPurchase *purchase, const TierPurchaseChange *change)
{
	if (isnan(change->gb) || change->new_name != NULL ||
		purchase->tiers[change->tier].capacity_bytes < 0)
		return NAN;
	return change->gb - tier_purchase_gb(purchase, change->tier);
}

char *
tier_purchase_name(const TierPurchase *purchase, const TierPurchaseOption *option)
{
	StringInfoData name;

	if (option->nchanges == 0)
		return pstrdup("today");
	initStringInfo(&name);
	for (int i = 0; i < option->nchanges; i++)
	{
		const TierPurchaseChange *change = &option->changes[i];
		double		more = more_gb(purchase, change);

		appendStringInfo(&name, "%s%s%s", i > 0 ? ", " : "", change->is_removed ? "no " : "",
						 tier_name(purchase, change));
		if (change->new_name != NULL)
			appendStringInfo(&name, ": new, %s", size_text(change->gb));
		else if (!isnan(more) && more != 0.0)
			appendStringInfo(&name, " %c %s", more > 0.0 ? '+' : '-', size_text(fabs(more)));
		else if (!isnan(change->gb))
			appendStringInfo(&name, ": %s", size_text(change->gb));
		if (change->volume >= 0)
			appendStringInfo(&name, ": %s", volume_name(purchase, change->volume));
		if (!isnan(change->requests))
			appendStringInfo(&name, ", %s IOPS", tier_advice_number(change->requests));
		if (!isnan(change->throughput))
			appendStringInfo(&name, ", %s MB/s", tier_advice_number(change->throughput));
		if (!isnan(change->price_per_gb_month))
			appendStringInfo(&name, ", at %s a GB",
							 tier_advice_number(change->price_per_gb_month));
	}
	return name.data;
}

/* What the sentence is about: "200 GB more of ssd". */
static void
add_subject(const TierPurchase *purchase, const TierPurchaseChange *change, StringInfo line)
{
	const char *name = tier_name(purchase, change);
	const char *was = volume_name(purchase, purchase->volume_of[change->tier]);
	double		more = more_gb(purchase, change);
	const char *comma = "";

	if (change->is_removed)
	{
		appendStringInfo(line, "without %s", name);
		return;
	}
	if (change->new_name != NULL)
	{
		appendStringInfo(line, "%s of %s as a new tier", size_text(change->gb),
						 volume_name(purchase, change->volume));
		comma = ", ";
	}
	else if (!isnan(more) && more != 0.0)
	{
		appendStringInfo(line, "%s %s of %s", size_text(fabs(more)),
						 more > 0.0 ? "more" : "less", name);
		comma = ", ";
	}
	else if (!isnan(change->gb))
	{
		appendStringInfo(line, "%s for %s", size_text(change->gb), name);
		comma = ", ";
	}
	if (change->volume >= 0 && change->new_name == NULL)
	{
		appendStringInfo(line, "%s%s instead of %s", comma,
						 volume_name(purchase, change->volume), was == NULL ? name : was);
		if (was != NULL && strcmp(was, name) != 0)
			appendStringInfo(line, " for %s", name);
		comma = ", ";
	}
	if (!isnan(change->requests))
	{
		appendStringInfo(line, "%s%s IOPS for %s", comma, tier_advice_number(change->requests),
						 name);
		comma = ", ";
	}
	if (!isnan(change->throughput))
	{
		appendStringInfo(line, "%s%s MB/s for %s", comma,
						 tier_advice_number(change->throughput), name);
		comma = ", ";
	}
	if (!isnan(change->price_per_gb_month))
		appendStringInfo(line, "%s%s at %s a GB", comma, name,
						 tier_advice_number(change->price_per_gb_month));
}

static char *
subject_of(const TierPurchase *purchase, const TierPurchaseOption *option)
{
	StringInfoData line;

	if (option->nchanges == 0)
		return pstrdup("what there is");
	initStringInfo(&line);
	for (int i = 0; i < option->nchanges; i++)
	{
		if (i > 0)
			appendStringInfoString(&line, " and ");
		add_subject(purchase, &option->changes[i], &line);
	}
	return line.data;
}

static char *
money_text(double delta)
{
	if (fabs(delta) < LEAST_PRICE)
		return pstrdup("at the same price");
	return psprintf("%s a month %s", tier_advice_money(fabs(delta)),
					delta > 0.0 ? "more" : "less");
}

/* "38 %", or "under 1 %"; of a share that is not negative. */
static char *
percent_text(double share)
{
	double		percent = 100.0 * share;

	if (percent > 0.0 && percent < 0.5)
		return pstrdup("under 1");
	return psprintf("%.0f", percent);
}

static char *
range_text(double low, double high)
{
	char	   *from = percent_text(Max(low, 0.0));
	char	   *to = percent_text(Max(high, 0.0));

	return strcmp(from, to) == 0 ? psprintf("%s %%", to) : psprintf("%s to %s %%", from, to);
}

/* What clients wait longer, as shares. */
static char *
longer_text(double low, double high)
{
	if (high > MANY_TIMES)
	{
		char	   *from = tier_advice_number(1.0 + Max(low, 0.0));
		char	   *to = tier_advice_number(1.0 + high);

		return strcmp(from, to) == 0 ? psprintf("clients wait %s times as long", to) :
			psprintf("clients wait %s to %s times as long", from, to);
	}
	return psprintf("%s more waiting", range_text(low, high));
}

/* The time that devices save an hour: both ends of it, as one of them alone may be nothing. */
static char *
device_time_text(double low_s, double high_s)
{
	char	   *from = tier_advice_number(Min(fabs(low_s), fabs(high_s)));
	char	   *to = tier_advice_number(Max(fabs(low_s), fabs(high_s)));

	if (low_s < 0.0 && high_s > 0.0)
		return psprintf("from %s s/h more to %s s/h less", tier_advice_number(-low_s),
						tier_advice_number(high_s));
	return psprintf("%s%s%s s/h %s", strcmp(from, to) == 0 ? "" : from,
					strcmp(from, to) == 0 ? "" : " to ", to,
					low_s < 0.0 || high_s < 0.0 ? "more" : "less");
}

/* What clients' time goes into instead. */
static const char *
instead_text(int bound)
{
	switch (bound)
	{
		case TIER_BOUND_CPU:
			return "you are CPU bound";
		case TIER_BOUND_WAL:
			return "clients wait for WAL";
		case TIER_BOUND_TEMP:
			return "clients wait for temporary files";
		case TIER_BOUND_LOCK:
			return "clients wait for each other";
		case TIER_BOUND_OTHER:
			return "clients wait for something else";
	}
	return "it changes nothing that clients wait for";
}

/* Is all that there will be one tier?  Its name, or that of its device if that is another one. */
static const char *
only_tier(const TierPurchase *purchase, const TierPurchaseOption *option)
{
	const char *only = NULL;
	bool		is_other = false;
	int			n = 0;

	for (int i = 0; i < option->nchanges; i++)
		is_other |= option->changes[i].is_removed || option->changes[i].volume >= 0;
	for (int t = 0; t < purchase->advice->set->ntiers; t++)
	{
		bool		is_there = t < purchase->ntiers;
		const char *name = NameStr(purchase->tiers[t].name);

		for (int i = 0; i < option->nchanges; i++)
			if (option->changes[i].tier == t)
			{
				is_there = !option->changes[i].is_removed;
				if (option->changes[i].volume >= 0)
					name = volume_name(purchase, option->changes[i].volume);
			}
		if (is_there)
		{
			only = name;
			n++;
		}
	}
	return n == 1 && is_other ? only : NULL;
}

static char *
today_sentence(const TierPurchase *purchase)
{
	const TierPurchaseOption *today = &purchase->today;

	switch (today->verdict)
	{
		case TIER_PURCHASE_DEVICES_ONLY:
			return psprintf("what there is: moving everything to where it is best saves %s s/h "
							"of device time; what clients gain is not known, too little was "
							"seen of what they wait for",
							tier_advice_number(Max(today->gain.io_s_low, 0.0)));
		case TIER_PURCHASE_FASTER:
		case TIER_PURCHASE_EITHER:
			return psprintf("what there is: %s less waiting by moving alone, for nothing; all "
							"else is compared with that",
							range_text(today->gain.less_low, today->gain.less_high));
		default:
			break;
	}
	return psprintf("what there is: moving gains nothing that clients would notice");
}

char *
tier_purchase_sentence(const TierPurchase *purchase, const TierPurchaseOption *option)
{
	const TierPurchaseGain *gain = &option->gain;
	char	   *subject = subject_of(purchase, option);
	char	   *money = money_text(option->price_per_month - purchase->today.price_per_month);
	const char *only = only_tier(purchase, option);

	if (option->verdict == TIER_PURCHASE_NOT_OBSERVED)
		return purchase->observed_s > 0.0 || purchase->is_observed ?
			psprintf("%s: not known yet, most of the load was observed for %s of %s", subject,
					 tier_advice_duration(purchase->observed_s),
					 tier_advice_duration(tier_units_required_s())) :
			psprintf("%s: not known, nothing was observed yet", subject);
	if (option->nchanges == 0)
		return today_sentence(purchase);
	switch (option->verdict)
	{
		case TIER_PURCHASE_TOO_SMALL:
			return psprintf("%s: %s less room than there has to be", subject,
							tier_advice_bytes(option->missing_bytes));
		case TIER_PURCHASE_DEVICES_ONLY:
			return psprintf("%s: %s device time, %s; what clients gain is not known, too little "
							"was seen of what they wait for", subject,
							device_time_text(gain->io_s_low, gain->io_s_high), money);
		case TIER_PURCHASE_ENOUGH:
			return only != NULL && option->bound != TIER_BOUND_DEVICE ?
				psprintf("%s: %s is enough for this database, %s", subject, only, money) :
				psprintf("%s: nobody would notice, %s", subject, money);
		case TIER_PURCHASE_NOTHING:
			return psprintf("%s: nothing, %s, %s", subject, option->is_unused ?
							"nothing that gains from it would fit" :
							instead_text(option->bound), money);
		case TIER_PURCHASE_FASTER:
			return psprintf("%s: %s less waiting, %s", subject,
							range_text(gain->less_low, gain->less_high), money);
		case TIER_PURCHASE_SLOWER:
			return psprintf("%s: %s, %s", subject,
							longer_text(-gain->less_high, -gain->less_low), money);
		case TIER_PURCHASE_EITHER:
		case TIER_PURCHASE_NOT_OBSERVED:
			break;
	}
	return psprintf("%s: from %s more to %s less waiting, %s", subject,
					range_text(-gain->less_low, -gain->less_low),
					range_text(gain->less_high, gain->less_high), money);
}
