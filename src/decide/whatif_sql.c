/*-------------------------------------------------------------------------
 *
 * decide/whatif_sql.c
 *		What the advice comes to, tier by tier, and what it would come to if
 *		the tiers were others.
 *
 * All of it is made from the same advice as recommend_placement(): the same
 * question has the same answer everywhere.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/decide/advice.h"
#include "src/decide/advice_options.h"
#include "src/base/sql.h"

PG_FUNCTION_INFO_V1(tier_placement_summary);
PG_FUNCTION_INFO_V1(tier_simulate_placement);
PG_FUNCTION_INFO_V1(tier_size_curve);

#define BYTES_PER_GB 1e9
#define S_PER_HOUR 3600.0

#define MAX_CURVE_POINTS 1000
#define MOST_LOAD_FACTOR 1e6

static const char *
bottleneck_text(TierPlacementBottleneck bottleneck)
{
	switch (bottleneck)
	{
		case TIER_BOTTLENECK_BYTES:
			return "capacity";
		case TIER_BOTTLENECK_BUSY:
			return "device time";
		case TIER_BOTTLENECK_ENDURANCE:
			return "endurance";
		case TIER_BOTTLENECK_NONE:
			break;
	}
	return NULL;
}

static void
set_number(TierResultRow *row, int column, double value)
{
	if (!isnan(value) && !isinf(value))
		tier_row_datum(row, column, Float8GetDatum(value));
}

static void
set_bytes(TierResultRow *row, int column, double value)
{
	if (!isnan(value) && value < 9.2e18)
		tier_row_datum(row, column, Int64GetDatum((int64) value));
}

static TierPlacementTotals
total_of(const TierPlacementTotals *totals, int ntiers)
{
	TierPlacementTotals sum = {0};

	for (int t = 0; t < ntiers; t++)
	{
		sum.bytes += totals[t].bytes;
		sum.busy_s += totals[t].busy_s;
		sum.queue_s += totals[t].queue_s;
		sum.wait_s += totals[t].wait_s;
		sum.written_bytes += totals[t].written_bytes;
		sum.price += totals[t].price;
		sum.units += totals[t].units;
	}
	return sum;
}

/* The columns that a tier and the total have in common. */
static void
set_totals(TierResultRow *row, const TierPlacementTotals *now, const TierPlacementTotals *after)
{
	tier_row_datum(row, 1, Int32GetDatum(now->units));
	tier_row_datum(row, 2, Int32GetDatum(after->units));
	set_bytes(row, 3, now->bytes);
	set_bytes(row, 4, after->bytes);
	set_number(row, 6, now->busy_s);
	set_number(row, 7, after->busy_s);
	set_number(row, 10, now->queue_s);
	set_number(row, 11, after->queue_s);
	set_number(row, 12, now->wait_s);
	set_number(row, 13, after->wait_s);
	set_number(row, 14, now->price);
	set_number(row, 15, after->price);
	set_number(row, 16, now->written_bytes);
	set_number(row, 17, after->written_bytes);
}

Datum
tier_placement_summary(PG_FUNCTION_ARGS)
{
	TierAdviceOptions options;
	TierAdvice *advice;
	const TierPlacementResult *placement;
	TierResultRow row;
	TierPlacementTotals now;
	TierPlacementTotals after;
	int			ntiers;

	tier_result_start(fcinfo, &row);
	tier_advice_options_from(fcinfo, 0, &options);
	options.bounds = false;
	advice = tier_advice_make(&options);
	placement = &advice->placement;
	ntiers = advice->set->ntiers;
	for (int t = 0; t < ntiers; t++)
	{
		const TierTier *tier = &advice->set->tiers[t];

		tier_row_clear(&row);
		tier_row_name(&row, 0, NameStr(tier->name));
		set_totals(&row, &placement->now[t], &placement->after[t]);
		set_bytes(&row, 5, advice->available_bytes[t]);
		set_number(&row, 8, placement->now[t].occupied_s / S_PER_HOUR);
		set_number(&row, 9, placement->after[t].occupied_s / S_PER_HOUR);
		if (tier->profile.endurance_bytes_per_day > 0)
			set_number(&row, 18, tier->profile.endurance_bytes_per_day);
		tier_row_text(&row, 19, bottleneck_text(placement->bottleneck[t]));
		if (!isinf(advice->available_bytes[t]))
			set_number(&row, 20, placement->byte_worth[t] * BYTES_PER_GB);
		if (placement->missing_bytes[t] > 0)
			set_bytes(&row, 21, ceil(placement->missing_bytes[t]));
		tier_row_put(&row);
	}
	now = total_of(placement->now, ntiers);
	after = total_of(placement->after, ntiers);
	tier_row_clear(&row);
	set_totals(&row, &now, &after);
	set_number(&row, 22, placement->objective);
	set_number(&row, 23, placement->lower_bound);
	set_number(&row, 24, placement->gap);
	set_number(&row, 25, placement->price_per_wait_hour);
	tier_row_put(&row);
	return (Datum) 0;
}

Datum
tier_simulate_placement(PG_FUNCTION_ARGS)
{
	TierAdviceOptions options;
	TierAdviceOptions changed;
	TierAdvice *advice;
	TierAdvice *simulated;
	TierResultRow row;
	int			ntiers;

	tier_require_argument(fcinfo, 0, "changes");
	tier_require_argument(fcinfo, 1, "load_factor");
	tier_result_start(fcinfo, &row);
	tier_advice_options_from(fcinfo, 2, &options);
	options.bounds = false;
	changed = options;
	changed.overrides = NULL;
	changed.noverrides = 0;
	for (int i = 0; i < options.noverrides; i++)
		*tier_advice_new_override(&changed, NameStr(options.overrides[i].tier_name)) = options.overrides[i];
	tier_advice_add_overrides(&changed, PG_GETARG_DATUM(0), "changes");
	changed.load_factor = PG_GETARG_FLOAT8(1);
	if (!(changed.load_factor >= 0) || changed.load_factor > MOST_LOAD_FACTOR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid load_factor"),
				 errhint("It is between 0 and a million; 2 is twice as much load as now.")));
	advice = tier_advice_make(&options);
	simulated = tier_advice_make(&changed);
	ntiers = Min(advice->set->ntiers, simulated->set->ntiers);
	for (int t = 0; t <= ntiers; t++)
	{
		TierPlacementTotals now = t < ntiers ? advice->placement.now[t] : total_of(advice->placement.now, ntiers);
		TierPlacementTotals after = t < ntiers ? advice->placement.after[t] : total_of(advice->placement.after, ntiers);
		TierPlacementTotals then = t < ntiers ? simulated->placement.after[t] : total_of(simulated->placement.after, ntiers);

		tier_row_clear(&row);
		if (t < ntiers)
		{
			tier_row_name(&row, 0, NameStr(advice->set->tiers[t].name));
			set_bytes(&row, 4, advice->available_bytes[t]);
			set_bytes(&row, 5, simulated->available_bytes[t]);
			set_number(&row, 9, advice->placement.after[t].occupied_s / S_PER_HOUR);
			set_number(&row, 10, simulated->placement.after[t].occupied_s / S_PER_HOUR);
			tier_row_text(&row, 18, bottleneck_text(simulated->placement.bottleneck[t]));
		}
		set_bytes(&row, 1, now.bytes);
		set_bytes(&row, 2, after.bytes);
		set_bytes(&row, 3, then.bytes);
		set_number(&row, 6, now.busy_s);
		set_number(&row, 7, after.busy_s);
		set_number(&row, 8, then.busy_s);
		set_number(&row, 11, after.queue_s);
		set_number(&row, 12, then.queue_s);
		set_number(&row, 13, now.price);
		set_number(&row, 14, after.price);
		set_number(&row, 15, then.price);
		set_number(&row, 16, after.written_bytes);
		set_number(&row, 17, then.written_bytes);
		tier_row_put(&row);
	}
	return (Datum) 0;
}

/* One capacity of the tier, and what the best placement is like with it. */
typedef struct CurvePoint
{
	double		capacity;
	double		used;
	double		busy_s;			/* of all tiers */
	double		queue_s;
	double		price;			/* of all tiers, this one's for all of its
								 * capacity */
	double		byte_worth;
	bool		is_current;
} CurvePoint;

static void
solve_point(TierAdvice *advice, int tier, CurvePoint *point)
{
	int			ntiers = advice->set->ntiers;
	TierPlacementTotals after;

	advice->set->tiers[tier].capacity_bytes = (int64) Min(point->capacity, 9.2e18);
	tier_advice_decide(advice);
	after = total_of(advice->placement.after, ntiers);
	point->used = advice->placement.after[tier].bytes;
	point->busy_s = after.busy_s;
	point->queue_s = after.queue_s;
	point->price = after.price - advice->placement.after[tier].price +
		point->capacity / BYTES_PER_GB * advice->set->tiers[tier].profile.price_per_gb_month;
	point->byte_worth = advice->placement.byte_worth[tier];
}

static int
compare_points(const void *a, const void *b)
{
	double		left = ((const CurvePoint *) a)->capacity;
	double		right = ((const CurvePoint *) b)->capacity;

	return left < right ? -1 : left > right ? 1 : 0;
}

Datum
tier_size_curve(PG_FUNCTION_ARGS)
{
	TierAdviceOptions options;
	TierAdvice *advice;
	TierResultRow row;
	CurvePoint *points;
	double	   *x;
	double	   *y;
	double		usable;
	double		largest;
	double		current;
	const char *name;
	int			tier;
	int			npoints;
	int			n = 0;
	int			knee;

	tier_require_argument(fcinfo, 0, "tier");
	tier_require_argument(fcinfo, 1, "points");
	npoints = PG_GETARG_INT32(1);
	if (npoints < 2 || npoints > MAX_CURVE_POINTS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid number of points: %d", npoints),
				 errhint("Between 2 and %d.", MAX_CURVE_POINTS)));
	tier_result_start(fcinfo, &row);
	tier_advice_options_from(fcinfo, 2, &options);
	options.bounds = false;
	advice = tier_advice_make(&options);
	name = NameStr(*PG_GETARG_NAME(0));
	tier = tier_set_find_tier(advice->set, name);
	if (tier < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tier \"%s\" does not exist", name),
				 errhint("SELECT tier_name FROM tiered_storage.tiers lists the tiers.")));

	/* From nothing to what would be used if there were room for everything. */
	advice->options.noverrides = 0; /* they are applied, once is enough */
	current = advice->set->tiers[tier].capacity_bytes;
	usable = 1.0 - advice->set->tiers[tier].reserve_fraction;
	points = palloc0(sizeof(CurvePoint) * (npoints + 2));
	points[0].capacity = 9.2e18;
	solve_point(advice, tier, &points[0]);
	largest = ceil(points[0].used / Max(usable, 0.01)) + 1;
	for (int i = 0; i < npoints; i++)
	{
		points[n].capacity = floor(largest * i / (npoints - 1));
		if (points[n].capacity != current && (n == 0 || points[n].capacity > points[n - 1].capacity))
			n++;
	}
	if (current >= 0)
	{
		points[n].capacity = current;
		points[n++].is_current = true;
	}
	qsort(points, n, sizeof(CurvePoint), compare_points);
	x = palloc(sizeof(double) * n);
	y = palloc(sizeof(double) * n);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		solve_point(advice, tier, &points[i]);
		x[i] = points[i].capacity;
		y[i] = points[0].busy_s + points[0].queue_s - points[i].busy_s - points[i].queue_s;
	}

	/* Beyond the end of the curve nothing bends any more. */
	for (knee = n; knee > 0 && points[knee - 1].capacity > largest; knee--)
		;
	knee = tier_placement_knee(x, y, knee);
	for (int i = 0; i < n; i++)
	{
		tier_row_clear(&row);
		set_bytes(&row, 0, points[i].capacity);
		set_bytes(&row, 1, points[i].used);
		set_number(&row, 2, points[i].busy_s);
		set_number(&row, 3, points[i].queue_s);
		set_number(&row, 4, y[i]);
		set_number(&row, 5, points[i].price);
		set_number(&row, 6, points[i].byte_worth * BYTES_PER_GB);
		set_number(&row, 7, advice->set->tiers[tier].profile.price_per_gb_month);
		tier_row_datum(&row, 8, BoolGetDatum(points[i].is_current));
		tier_row_datum(&row, 9, BoolGetDatum(i == knee));
		tier_row_put(&row);
	}
	return (Datum) 0;
}
