/*-------------------------------------------------------------------------
 *
 * decide/unused_sql.c
 *		Relations that are not read, since when, and their cost elsewhere.
 *
 * The server's statistics prove this long before rates are known: a scan that was never counted
 * has not happened.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"
#include "src/base/refuse.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/decide/advice.h"
#include "src/server/relation.h"

PG_FUNCTION_INFO_V1(tier_unused_relations);

/* Smaller ones are not listed. */
#define LEAST_BYTES (1024.0 * 1024.0)
#define LEAST_BYTES_TEXT "1 MB"

typedef struct Unused
{
	const TierAdviceUnit *unit;
	int			cheapest;		/* tier; the current one: none is cheaper */
	double		saved_price;	/* per month */
} Unused;

/* The largest saving first, then the largest relation. */
static int
compare_unused(const void *a, const void *b)
{
	const Unused *left = a;
	const Unused *right = b;

	if (left->saved_price != right->saved_price)
		return left->saved_price > right->saved_price ? -1 : 1;
	if (left->unit->size_bytes != right->unit->size_bytes)
		return left->unit->size_bytes > right->unit->size_bytes ? -1 : 1;
	return left->unit->relation_oid < right->unit->relation_oid ? -1 : 1;
}

static double
interval_s(const Interval *interval)
{
	double		seconds = tier_interval_seconds(interval);

	if (!(seconds >= 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unused_for must not be negative")));
	return seconds;
}

static Unused
price(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	Unused		unused = {unit, unit->current_tier, 0.0};

	for (int t = 0; t < advice->set->ntiers; t++)
	{
		double		saved = tier_advice_price(advice, unit, unit->current_tier) -
		tier_advice_price(advice, unit, t);

		if (saved > unused.saved_price && advice->why_closed[t] == NULL)
		{
			unused.saved_price = saved;
			unused.cheapest = t;
		}
	}
	return unused;
}

static void
notice_none(double unused_for_s, double longest_s)
{
	ereport(NOTICE,
			(errmsg("no relation of at least " LEAST_BYTES_TEXT " in a tier is known to "
					"be unread for %s", tier_advice_duration(unused_for_s)),
			 errdetail("Observed for %s.",
					   tier_advice_duration(longest_s)),
			 longest_s < 4 * SECS_PER_MINUTE || unused_for_s <= longest_s ? 0 :
			 errhint("For a shorter time, use tiered_storage.unused_relations('%s').",
					 tier_advice_duration(longest_s / 2))));
}

static Datum
unused_relations(PG_FUNCTION_ARGS)
{
	double		unused_for_s = PG_ARGISNULL(0) ? tier_observation_period_min * 60.0 :
	interval_s(PG_GETARG_INTERVAL_P(0));
	TierAdvice *advice;
	TierResultRow row;
	Unused	   *unused;
	int			n = 0;
	double		longest_s = 0.0;

	tier_result_start(fcinfo, &row);
	advice = tier_advice_load(NULL);
	unused = palloc_extended(sizeof(Unused) * Max(advice->nunits, 1), MCXT_ALLOC_HUGE);
	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];

		longest_s = Max(longest_s, unit->proven_s);
		if (unit->unread_since == 0 ||
			tier_seconds_between(unit->unread_since, advice->known_until) < unused_for_s)
			continue;
		if (unit->size_bytes >= LEAST_BYTES && unit->current_tier >= 0)
			unused[n++] = price(advice, unit);
	}
	qsort(unused, n, sizeof(Unused), compare_unused);
	for (int i = 0; i < n; i++)
	{
		const TierAdviceUnit *unit = unused[i].unit;

		tier_row_clear(&row);
		tier_row_datum(&row, 0, ObjectIdGetDatum(unit->relation_oid));
		tier_row_text(&row, 1, tier_relation_kind_name(unit->kind));
		tier_row_name(&row, 2, NameStr(advice->set->tiers[unit->current_tier].name));
		tier_row_time(&row, 3, unit->unread_since);
		tier_row_datum(&row, 4, Int64GetDatum((int64) unit->size_bytes));
		tier_row_datum(&row, 5, Float8GetDatum(unit->loads.middle.page_writes));
		if (unused[i].cheapest != unit->current_tier)
		{
			tier_row_name(&row, 6, NameStr(advice->set->tiers[unused[i].cheapest].name));
			tier_row_datum(&row, 7, Float8GetDatum(unused[i].saved_price));
		}
		tier_row_put(&row);
	}
	tier_advice_notice_unseen(advice, n > 0);
	if (n == 0)
		notice_none(unused_for_s, longest_s);
	return (Datum) 0;
}

Datum
tier_unused_relations(PG_FUNCTION_ARGS)
{
	return tier_call_for_sql(unused_relations, fcinfo);
}
