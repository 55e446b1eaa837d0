/*-------------------------------------------------------------------------
 *
 * decide/whatif_sql.c
 *		Summarizes the advice by tier, and shows its results with other tiers.
 *
 * All functions use the same advice as recommend_placement(), its provisional part included: the
 * same question has the same answer everywhere.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/base/refuse.h"
#include "src/decide/advice.h"
#include "src/decide/advice_options.h"
#include "src/base/sql.h"

PG_FUNCTION_INFO_V1(tier_placement_summary);
PG_FUNCTION_INFO_V1(tier_simulate_placement);
PG_FUNCTION_INFO_V1(tier_size_curve);

#define BYTES_PER_GB 1e9

/* At least both ends of the curve and the present point. */
#define LEAST_CURVE_POINTS 3
#define MAX_CURVE_POINTS 1000

/* Of the whole curve: steps that are narrower are not looked for. */
#define LEAST_STEP 1e-3

/*
 * A share of the cost of the step before it: smaller gains are no step.  A share of the cost of
 * the first step would hide all steps after the one that ends an overload.
 */
#define LEAST_DIFFERENCE 2e-3

/* As good as no limit. */
#define MOST_BYTES 9.2e18

#define MOST_LOAD_FACTOR 1e6

/* The advice with the loads and moves that are provisional. */
static TierAdvice *
with_provisional(TierAdvice *advice)
{
	TierAdvice *provisional = tier_advice_provisional(advice);

	return provisional == NULL ? advice : provisional;
}

/*
 * The limit that keeps more from going there; a tier without endurance left takes no more,
 * whatever the price.
 */
static const char *
limited_by(const TierAdvice *advice, int tier)
{
	static const char *const words[] = {
		[TIER_BOTTLENECK_NONE] = NULL,
		[TIER_BOTTLENECK_BYTES] = "capacity",
		[TIER_BOTTLENECK_BUSY] = "device time",
		[TIER_BOTTLENECK_ENDURANCE] = "endurance",
	};
	TierPlacementBottleneck bottleneck = advice->placement.bottleneck[tier];
	double		endures = advice->set->tiers[tier].profile.endurance_bytes_per_day;

	if (bottleneck == TIER_BOTTLENECK_NONE && endures > 0 &&
		advice->placement.after[tier].written_bytes + advice->others_written_bytes[tier] > endures)
		bottleneck = TIER_BOTTLENECK_ENDURANCE;
	return words[bottleneck];
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

/* How a tier fills if nothing is moved: three columns. */
static void
set_growth(TierResultRow *row, int column, const TierAdvice *advice, int tier)
{
	set_number(row, column, tier_advice_growth_per_hour(advice, tier) * HOURS_PER_DAY);
	set_number(row, column + 1, tier_advice_days_until_reserve(advice, tier));
	set_number(row, column + 2, tier_advice_days_until_full(advice, tier));
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
	set_number(row, 11, now->wait_s);
	set_number(row, 12, after->wait_s);
	set_number(row, 13, now->price);
	set_number(row, 14, after->price);
	set_number(row, 15, now->written_bytes);
}

/* The gain of clients; in the row of all tiers. */
static void
set_prediction(TierResultRow *row, int column, const TierAdvice *before, const TierAdvice *after)
{
	TierPrediction prediction = tier_advice_predict(before, after);
	const TierClientTime *time = &after->client_time;

	if (time->active_s > 0)
		set_number(row, column, Min(time->device_s / time->active_s, 1.0));
	set_number(row, column + 1, prediction.saved_s_low);
	set_number(row, column + 2, prediction.saved_s_high);
	set_number(row, column + 3, prediction.speedup_low);
	set_number(row, column + 4, prediction.speedup_high);
}

static Datum
placement_summary(PG_FUNCTION_ARGS)
{
	TierAdviceOptions options;
	TierAdvice *decided;
	TierAdvice *advice;
	const TierPlacementResult *placement;
	TierResultRow row;
	TierPlacementTotals now;
	TierPlacementTotals after;
	double		per_day = 0.0;
	int			ntiers;

	tier_result_start(fcinfo, &row);
	tier_advice_options_from(fcinfo, 0, true, &options);
	options.bounds = false;
	decided = tier_advice_make(&options);
	advice = with_provisional(decided);
	tier_advice_notice_unknown(advice);
	placement = &advice->placement;
	ntiers = advice->set->ntiers;
	for (int t = 0; t < ntiers; t++)
	{
		const TierTier *tier = &advice->set->tiers[t];
		double		missing;

		tier_row_clear(&row);
		tier_row_name(&row, 0, NameStr(tier->name));
		set_totals(&row, &placement->now[t], &placement->after[t]);
		set_bytes(&row, 5, advice->available_bytes[t]);
		set_number(&row, 8, tier_advice_busy_fraction(placement->now[t].occupied_s));
		set_number(&row, 9, tier_advice_busy_fraction(placement->after[t].occupied_s));
		if (tier->profile.endurance_bytes_per_day > 0)
			set_number(&row, 16, tier->profile.endurance_bytes_per_day);
		tier_row_text(&row, 17, limited_by(advice, t));
		missing = placement->after[t].bytes - advice->available_bytes[t];
		if (missing > 0)
			set_bytes(&row, 18, ceil(missing));
		set_growth(&row, 19, advice, t);
		per_day += tier_advice_growth_per_hour(advice, t) * HOURS_PER_DAY;
		tier_row_text(&row, 22, tier_advice_tier_remark(advice, t));
		tier_row_put(&row);
	}
	now = total_of(placement->now, ntiers);
	after = total_of(placement->after, ntiers);
	tier_row_clear(&row);
	set_totals(&row, &now, &after);
	set_number(&row, 19, per_day);
	tier_row_text(&row, 22, tier_advice_headline(decided));
	set_prediction(&row, 23, advice, advice);
	tier_row_put(&row);
	return (Datum) 0;
}

Datum
tier_placement_summary(PG_FUNCTION_ARGS)
{
	return tier_call_for_sql(placement_summary, fcinfo);
}

/* A smaller capacity is what the tier may use of its disks: no files of others are in it. */
static void
notice_taken(const TierAdvice *advice, const TierAdvice *simulated, int tier)
{
	const TierTier *today = &advice->set->tiers[tier];
	const TierTier *then = &simulated->set->tiers[tier];
	double		others = tier_advice_taken(advice, tier, today);
	double		placed = simulated->placement.after[tier].bytes;

	if (others <= 0.0 || then->capacity_bytes >= today->capacity_bytes ||
		(simulated->available_bytes[tier] <= advice->available_bytes[tier] &&
		 placed + others <= then->capacity_bytes * (1.0 - then->reserve_fraction)))
		return;
	ereport(NOTICE,
			(errmsg("the capacity of %s for tier \"%s\" is simulated without other files",
					tier_advice_bytes((double) then->capacity_bytes), NameStr(today->name)),
			 errdetail("%s would be placed there. Other files occupy %s there now.",
					   tier_advice_bytes(placed), tier_advice_bytes(others)),
			 errhint("A device has to hold both.")));
}

static Datum
simulate_placement(PG_FUNCTION_ARGS)
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
	tier_advice_options_from(fcinfo, 2, true, &options);
	options.bounds = false;
	tier_advice_options_from(fcinfo, 2, true, &changed);
	changed.bounds = false;
	tier_advice_add_overrides(&changed, PG_GETARG_DATUM(0), "changes");
	changed.load_factor = PG_GETARG_FLOAT8(1);
	if (!(changed.load_factor >= 0) || changed.load_factor > MOST_LOAD_FACTOR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid load_factor"),
				 errhint("It must be between 0 and 1000000; 2 means twice the present load.")));
	advice = with_provisional(tier_advice_make(&options));
	simulated = with_provisional(tier_advice_make(&changed));
	tier_advice_notice_unknown(advice);
	ntiers = Min(advice->set->ntiers, simulated->set->ntiers);
	for (int t = 0; t <= ntiers; t++)
	{
		TierPlacementTotals now = t < ntiers ? advice->placement.now[t] :
		total_of(advice->placement.now, ntiers);
		TierPlacementTotals after = t < ntiers ? advice->placement.after[t] :
		total_of(advice->placement.after, ntiers);
		TierPlacementTotals then = t < ntiers ? simulated->placement.after[t] :
		total_of(simulated->placement.after, ntiers);

		tier_row_clear(&row);
		if (t < ntiers)
		{
			notice_taken(advice, simulated, t);
			tier_row_name(&row, 0, NameStr(advice->set->tiers[t].name));
			set_bytes(&row, 4, advice->available_bytes[t]);
			set_bytes(&row, 5, simulated->available_bytes[t]);
			set_number(&row, 9,
					   tier_advice_busy_fraction(advice->placement.after[t].occupied_s));
			set_number(&row, 10,
					   tier_advice_busy_fraction(simulated->placement.after[t].occupied_s));
			tier_row_text(&row, 14, limited_by(simulated, t));
			tier_row_text(&row, 15, tier_advice_violation(simulated, t));
		}
		else
			set_prediction(&row, 16, advice, simulated);
		set_bytes(&row, 1, now.bytes);
		set_bytes(&row, 2, after.bytes);
		set_bytes(&row, 3, then.bytes);
		set_number(&row, 6, now.busy_s);
		set_number(&row, 7, after.busy_s);
		set_number(&row, 8, then.busy_s);
		set_number(&row, 11, now.price);
		set_number(&row, 12, after.price);
		set_number(&row, 13, then.price);
		tier_row_put(&row);
	}
	return (Datum) 0;
}

Datum
tier_simulate_placement(PG_FUNCTION_ARGS)
{
	return tier_call_for_sql(simulate_placement, fcinfo);
}

/*
 * One answer of the curve: the best placement with `capacity`, the least with which it
 * fits, and with everything up to flat_until, as far as that was tried.
 */
typedef struct CurvePoint
{
	double		capacity;
	double		flat_until;
	double		used;
	double		busy_s;			/* of all tiers */
	double		queue_s;
	double		price;			/* of all tiers, this one's for all of its
								 * capacity */
	double		objective;
	char	   *violation;		/* limits that are not kept, or NULL */
	bool		is_current;
} CurvePoint;

/* Steps by capacity, each better than the one before it. */
typedef struct Curve
{
	TierAdvice *advice;
	int			tier;
	int			nsteps;
	int			most_steps;
	CurvePoint *steps;			/* one more than most_steps */
} Curve;

static double
price_with(const TierAdvice *advice, int tier, double capacity)
{
	const TierPlacementTotals *after = advice->placement.after;

	return total_of(after, advice->set->ntiers).price - after[tier].price +
		capacity / BYTES_PER_GB * advice->set->tiers[tier].profile.price_per_gb_month;
}

/* Of all tiers, "hdd would ...; ssd would ..."; NULL: none. */
static char *
violations(const TierAdvice *advice)
{
	char	   *all = NULL;

	for (int t = 0; t < advice->set->ntiers; t++)
	{
		char	   *violation = tier_advice_violation(advice, t);

		if (violation != NULL)
			all = psprintf("%s%s%s %s", all == NULL ? "" : all, all == NULL ? "" : "; ",
						   NameStr(advice->set->tiers[t].name), violation);
	}
	return all;
}

static CurvePoint
solve_point(TierAdvice *advice, int tier, double capacity)
{
	TierPlacementTotals after;
	CurvePoint	point = {0};

	CHECK_FOR_INTERRUPTS();
	advice->set->tiers[tier].capacity_bytes = (int64) Min(capacity, MOST_BYTES);
	tier_advice_decide(advice);
	after = total_of(advice->placement.after, advice->set->ntiers);
	point.capacity = point.flat_until = capacity;
	point.used = advice->placement.after[tier].bytes;
	point.busy_s = after.busy_s;
	point.queue_s = after.queue_s;
	point.price = price_with(advice, tier, capacity);
	point.objective = advice->placement.objective;
	point.violation = violations(advice);
	return point;
}

/* The least capacity with which so much is available, if it is not more than `most`. */
static double
capacity_for(const TierAdvice *advice, int tier, double bytes, double most)
{
	double		low = 0.0;
	double		high = most;

	if (advice->why_closed[tier] != NULL || tier_advice_available(advice, tier, 0.0) >= bytes)
		return 0.0;
	while (high - low > 0.5 && high - low > high * 1e-15)
	{
		double		middle = low + (high - low) / 2.0;

		if (tier_advice_available(advice, tier, middle) >= bytes)
			high = middle;
		else
			low = middle;
	}
	high = ceil(high);
	return tier_advice_available(advice, tier, high - 1.0) >= bytes ? high - 1.0 : high;
}

static void
insert_point(Curve *curve, int at, const CurvePoint *point)
{
	memmove(&curve->steps[at + 1], &curve->steps[at], sizeof(CurvePoint) * (curve->nsteps - at));
	curve->steps[at] = *point;
	curve->nsteps++;
}

/* The answer for a capacity, as the step where it begins. */
static CurvePoint
step_for(const Curve *curve, double capacity)
{
	CurvePoint	point = solve_point(curve->advice, curve->tier, capacity);

	point.capacity = capacity_for(curve->advice, curve->tier, point.used, MOST_BYTES);
	point.price = price_with(curve->advice, curve->tier, point.capacity);
	return point;
}

static bool
is_better(const CurvePoint *point, const CurvePoint *other)
{
	return point->objective < other->objective * (1.0 - LEAST_DIFFERENCE);
}

/* Looks for a step between the one before `at` and the one there. */
static void
try_between(Curve *curve, int at, double capacity)
{
	CurvePoint *before = &curve->steps[at - 1];
	CurvePoint	point = step_for(curve, capacity);

	if (point.capacity > capacity || !is_better(&point, before))
		before->flat_until = capacity;
	else if (is_better(before + 1, &point))
		insert_point(curve, at, &point);
	else
		before[1] = point;
}

/*
 * The step after the largest unknown interval, measured by capacity times savings.  0: none.
 */
static int
widest_gap(const Curve *curve)
{
	double		least = Max(LEAST_STEP * (curve->steps[curve->nsteps - 1].capacity -
										  curve->steps[0].capacity), 2.0);
	double		most = 0.0;
	int			widest = 0;

	for (int i = 1; i < curve->nsteps; i++)
	{
		double		width = curve->steps[i].capacity - curve->steps[i - 1].flat_until;
		double		area = width * (curve->steps[i - 1].objective - curve->steps[i].objective);

		if (width < least || area <= most)
			continue;
		most = area;
		widest = i;
	}
	return widest;
}

/*
 * From the bytes that must be on the tier to the bytes that it would hold if everything had room.
 */
static void
find_steps(Curve *curve)
{
	CurvePoint	least = step_for(curve, 0.0);
	CurvePoint	most = step_for(curve, MOST_BYTES);
	int			at;

	/*
	 * Units that must be there need room: with less, the answer is that of a
	 * tier that is too full.
	 */
	if (least.capacity > 0.0)
		least = step_for(curve, least.capacity);
	insert_point(curve, 0, &least);
	if (is_better(&most, &least))
		insert_point(curve, 1, &most);
	for (int solved = 3; solved < 2 * curve->most_steps && curve->nsteps < curve->most_steps;
		 solved++)
	{
		const CurvePoint *step;

		at = widest_gap(curve);
		if (at == 0)
			break;
		step = &curve->steps[at];
		try_between(curve, at,
					floor(step[-1].flat_until + (step->capacity - step[-1].flat_until) / 2.0));
	}
}

static void
put_point(TierResultRow *row, const CurvePoint *point, double now_s)
{
	tier_row_clear(row);
	set_bytes(row, 0, point->capacity);
	set_bytes(row, 1, point->used);
	set_number(row, 2, point->busy_s);
	set_number(row, 3, point->queue_s);
	set_number(row, 4, now_s - point->busy_s - point->queue_s);
	set_number(row, 5, point->price);
	tier_row_datum(row, 6, BoolGetDatum(point->is_current));
	tier_row_text(row, 7, point->violation);
	tier_row_put(row);
}

/* Puts the present capacity into its place among the steps. */
static void
add_current(Curve *curve, const CurvePoint *current)
{
	int			at = 0;

	while (at < curve->nsteps && curve->steps[at].capacity < current->capacity)
		at++;
	if (at < curve->nsteps && curve->steps[at].capacity == current->capacity)
		curve->steps[at] = *current;
	else
		insert_point(curve, at, current);
}

static Datum
size_curve(PG_FUNCTION_ARGS)
{
	TierAdviceOptions options;
	TierAdvice *advice;
	TierResultRow row;
	TierPlacementTotals now;
	CurvePoint	current = {0};
	Curve		curve = {0};
	double		now_s;
	double		capacity;
	const char *name;
	int			npoints;

	tier_require_argument(fcinfo, 0, "tier");
	tier_require_argument(fcinfo, 1, "points");
	npoints = PG_GETARG_INT32(1);
	if (npoints < LEAST_CURVE_POINTS || npoints > MAX_CURVE_POINTS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid number of points: %d", npoints),
				 errhint("Between %d and %d.", LEAST_CURVE_POINTS, MAX_CURVE_POINTS)));
	tier_result_start(fcinfo, &row);
	tier_advice_options_from(fcinfo, 2, true, &options);
	options.bounds = false;
	advice = with_provisional(tier_advice_make(&options));
	name = NameStr(*PG_GETARG_NAME(0));
	curve.advice = advice;
	curve.tier = tier_require_tier(advice->set, name);
	now = total_of(advice->placement.now, advice->set->ntiers);
	now_s = now.busy_s + now.queue_s;
	capacity = advice->set->tiers[curve.tier].capacity_bytes;

	tier_advice_notice_unknown(advice);

	/*
	 * Once is enough.  The value of a size does not depend on the present
	 * places.
	 */
	advice->options.noverrides = 0;
	advice->options.from_scratch = true;
	if (capacity >= 0)
	{
		current = solve_point(advice, curve.tier, capacity);
		current.is_current = true;
	}
	curve.most_steps = npoints - (capacity >= 0);
	curve.steps = palloc(sizeof(CurvePoint) * (curve.most_steps + 1));
	advice->options.quick = true;
	find_steps(&curve);
	if (capacity >= 0)
		add_current(&curve, &current);
	for (int i = 0; i < curve.nsteps; i++)
		put_point(&row, &curve.steps[i], now_s);
	return (Datum) 0;
}

Datum
tier_size_curve(PG_FUNCTION_ARGS)
{
	return tier_call_for_sql(size_curve, fcinfo);
}
