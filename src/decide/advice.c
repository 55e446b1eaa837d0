/*-------------------------------------------------------------------------
 *
 * decide/advice.c
 *		Derives the recommended tier of each relation from its observed load.
 *
 * Reads only.  Quantities that are not known exactly have a range: the number of sequential
 * reads, and the future numbers of reads and of writes.  The placement is found for the middle of
 * the ranges, and then with less load on units that move for their own sake and more load on
 * units that make room for them.  A move that disappears then is tentative, and reports the
 * quantity it depends on.
 *
 * Rules stand above cost (see decide/advice_rules.c).  Moves of the placement that save almost
 * nothing are dropped.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"
#include "src/decide/advice.h"
#include "src/decide/units.h"
#include "src/decide/wear.h"
#include "src/model/bottleneck.h"


void
tier_advice_default_options(TierAdviceOptions *options)
{
	memset(options, 0, sizeof(*options));
	options->horizon_hours = 30.0 * HOURS_PER_DAY;
	options->objective = TIER_OBJECTIVE_TIME;
	options->load_factor = 1.0;
	options->bounds = true;
}

/* ---------------------------------------------------------------------
 * Costs of a unit
 * ---------------------------------------------------------------------
 */

TierCost
tier_advice_cost_of(const TierAdvice *advice, const TierAdviceUnit *unit,
					const TierCostLoad *load, int tier)
{
	return tier_cost_on(load, &advice->set->tiers[tier].profile);
}

TierCost
tier_advice_cost(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	return tier_advice_cost_of(advice, unit, &unit->loads.middle, tier);
}

double
tier_advice_busy(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	return tier_advice_cost(advice, unit, tier).busy_s;
}

double
tier_advice_stored(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	return tier_cost_stored_bytes(unit->size_bytes, &advice->set->tiers[tier].profile);
}

double
tier_advice_price(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	return tier_cost_price_per_month(unit->size_bytes, &unit->loads.middle,
									 &advice->set->tiers[tier].profile,
									 advice->set->tiers[tier].reserve_fraction);
}

double
tier_advice_move_s(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	if (unit->current_tier < 0 || unit->current_tier == tier)
		return 0.0;
	return tier_cost_move_s(unit->size_bytes, &advice->set->tiers[unit->current_tier].profile,
							&advice->set->tiers[tier].profile);
}

/* ---------------------------------------------------------------------
 * Known facts at the start
 * ---------------------------------------------------------------------
 */

/* Measurements of the present device do not apply to another one. */
static void
replace_device(TierTier *tier, const TierOverride *override)
{
	double		ratio = tier->profile.compression_ratio;

	tier->profile = *override->device;
	tier->profile.compression_ratio = ratio;
	tier->price_is_assumed = true;
}

static void
apply_overrides(TierAdvice *advice)
{
	for (int i = 0; i < advice->options.noverrides; i++)
	{
		const TierOverride *override = &advice->options.overrides[i];
		int			t = tier_require_tier(advice->set, NameStr(override->tier_name));
		TierTier   *tier = &advice->set->tiers[t];

		if (override->device != NULL)
			replace_device(tier, override);
		else if (override->offset == offsetof(TierTier, capacity_bytes))
			tier->capacity_bytes = (int64) override->value;
		else if (override->offset != 0)
			*(double *) ((char *) tier + override->offset) = override->value;
		if (override->offset == offsetof(TierTier, profile.price_per_gb_month))
			tier->price_is_assumed = false;
	}
	for (int i = 0; i < advice->options.noverrides; i++)
	{
		const TierOverride *override = &advice->options.overrides[i];
		TierTier   *tier = &advice->set->tiers[tier_require_tier(advice->set,
																 NameStr(override->tier_name))];

		if (override->device != NULL)
			tier->profile.endurance_bytes_per_day =
				override->endurance_dwpd * Max((double) tier->capacity_bytes, 0.0);
	}
}

/*
 * Writes to the devices beyond the known writes of the units wear the devices, too, wherever the
 * units are.
 */
static void
load_wear(TierAdvice *advice)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierWears  *wears;
	double	   *ours = palloc0(sizeof(double) * Max(advice->set->ntiers, 1));

	tier_catalog_enter(&scope);
	wears = tier_wears_load(context);
	tier_catalog_leave(&scope);
	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];

		if (unit->current_tier >= 0)
			ours[unit->current_tier] += HOURS_PER_DAY /
				Max(advice->options.load_factor, 1e-9) *
				tier_advice_cost(advice, unit, unit->current_tier).written_bytes;
	}
	for (int t = 0; t < advice->set->ntiers; t++)
	{
		TierTier   *tier = &advice->set->tiers[t];
		double		endures;
		double		written;

		tier_wears_of(wears, &tier->name, &written, &endures);
		if (!isnan(endures))
			tier->profile.endurance_bytes_per_day = endures;
		if (!isnan(written))
			advice->others_written_bytes[t] = Max(written - ours[t], 0.0);
	}
	pfree(ours);
}

TierAdvice *
tier_advice_load(const TierAdviceOptions *options)
{
	TierAdvice *advice = palloc0(sizeof(TierAdvice));

	if (options != NULL)
		advice->options = *options;
	else
		tier_advice_default_options(&advice->options);
	tier_units_load(advice);
	tier_advice_load_rules(advice);
	load_wear(advice);
	return advice;
}

/* ---------------------------------------------------------------------
 * The decision
 * ---------------------------------------------------------------------
 */

/* As many reads, of the same kinds. */
static void
set_reads(TierCostLoad *load, double wanted)
{
	double		reads = load->random_reads + load->sequential_reads;
	double		factor = reads > 0 ? wanted / reads : 1.0;

	load->random_reads *= factor;
	load->sequential_reads *= factor;
	load->scans *= factor;
}

static void
set_requests(TierCostLoad *load, double requests)
{
	load->page_writes = Max(load->page_writes, requests);
	load->merged_writes = load->page_writes - requests;
}

TierCostLoad
tier_advice_load_in(const TierAdviceUnit *unit, TierScenario scenario)
{
	TierCostLoad load = unit->loads.middle;
	bool		is_low;

	if (scenario == TIER_SCENARIO_AGAINST_MOVES &&
		unit->recommended_tier != unit->current_tier)
		scenario = unit->saved_s > 0.0 ? TIER_SCENARIO_LOW : TIER_SCENARIO_HIGH;
	if (scenario != TIER_SCENARIO_LOW && scenario != TIER_SCENARIO_HIGH)
		return load;
	is_low = scenario == TIER_SCENARIO_LOW;
	load.sequential_reads = Min(is_low ? unit->loads.sequential_high : unit->loads.sequential_low,
								tier_unit_reads(unit));
	load.random_reads += unit->loads.middle.sequential_reads - load.sequential_reads;
	set_reads(&load, is_low ? unit->loads.reads_low : unit->loads.reads_high);
	set_requests(&load, is_low ? unit->loads.write_requests_low : unit->loads.write_requests_high);
	return load;
}

static void *
solver_alloc(size_t bytes)
{
	return palloc_extended(Max(bytes, 1), MCXT_ALLOC_HUGE);
}

/* May leave by an error; the solver's memory is in the memory context. */
static bool
solver_interrupted(void *argument)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

/* The sum of that if they are on these tiers. */
static double
whole_of(const TierPlacementProblem *problem, const double *cost, const int *tier)
{
	double		whole = 0;

	for (int i = 0; i < problem->nunits; i++)
	{
		size_t		cell = (size_t) i * problem->ntiers + tier[i];

		if (problem->current[i] >= 0 && tier[i] >= 0)
			whole += cost[cell];
	}
	return whole;
}

/*
 * The saving that may be given up for fewer moves: all, if it is no more than a share of the cost
 * of the best placement, so that the noise of another day moves nothing; else the same share of
 * the saving, because a busy device leaves much, of which a share may be most of what is saved; or
 * `least`.  A share of the present cost might be all that the best placement leaves of it.
 */
static double
give_up_of(const TierPlacementProblem *problem, const double *cost, const int *best,
		   double least)
{
	double		now = whole_of(problem, cost, problem->current);
	double		left = whole_of(problem, cost, best);

	double		immaterial = Min(now, left) * TIER_ADVICE_MIN_SHARE;

	if (now - left > immaterial)
		immaterial = Min(immaterial, (now - left) * TIER_ADVICE_MIN_SHARE);
	return Max(immaterial, least);
}

/* The same in the objective. */
static double
give_up(const TierPlacementProblem *problem, const int *best)
{
	return problem->objective == TIER_OBJECTIVE_TIME ?
		give_up_of(problem, problem->busy_s, best, TIER_ADVICE_MIN_SAVED_S) :
		give_up_of(problem, problem->price, best, TIER_ADVICE_MIN_SAVED_PRICE);
}

/*
 * Where it is as far as that matters to the placement: from scratch, only if it cannot be
 * anywhere else.
 */
static int
present_tier(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	if (advice->options.from_scratch)
		for (int t = 0; t < advice->set->ntiers; t++)
			if (t != unit->current_tier && tier_advice_why_not(advice, unit, t) == NULL &&
				tier_advice_why_not(advice, unit, unit->current_tier) == NULL)
				return -1;
	return unit->current_tier;
}

/* A unit that has to leave before it is observed leaves only for the room, not for the price. */
static int
priced_tier(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	return unit->confidence == TIER_CONFIDENCE_PROVISIONAL && unit->current_tier >= 0 &&
		advice->is_urgent[unit->current_tier] ? unit->current_tier : tier;
}

/* The placement at one end of a range; the middle leaves its sums in the advice. */
static void
solve(TierAdvice *advice, TierScenario scenario, TierPlacementResult *result)
{
	int			ntiers = advice->set->ntiers;
	int			nunits = advice->nunits;
	size_t		ncells = (size_t) Max(nunits, 1) * Max(ntiers, 1);
	double	   *numbers = solver_alloc(sizeof(double) * ncells * 7);
	bool	   *allowed = solver_alloc(sizeof(bool) * ncells);
	int		   *current = solver_alloc(sizeof(int) * nunits);
	double	   *endurance = solver_alloc(sizeof(double) * ntiers);
	double	   *busy = numbers;
	double	   *occupied = busy + ncells;
	double	   *wait = occupied + ncells;
	double	   *written = wait + ncells;
	double	   *stored = written + ncells;
	double	   *price = stored + ncells;
	double	   *move = price + ncells;
	TierPlacementProblem problem = {0};
	TierMaterialityDropped dropped;
	double		most;

	for (int t = 0; t < ntiers; t++)
		endurance[t] = advice->set->tiers[t].profile.endurance_bytes_per_day > 0 ?
			Max(advice->set->tiers[t].profile.endurance_bytes_per_day -
				advice->others_written_bytes[t], 0.0) : INFINITY;
	for (int i = 0; i < nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];
		TierCostLoad load = tier_advice_load_in(unit, scenario);

		current[i] = present_tier(advice, unit);
		for (int t = 0; t < ntiers; t++)
		{
			size_t		cell = (size_t) i * ntiers + t;
			TierCost	cost = tier_advice_cost_of(advice, unit, &load, t);

			busy[cell] = cost.busy_s;
			occupied[cell] = cost.occupied_s;
			wait[cell] = cost.wait_s;
			stored[cell] = tier_advice_stored(advice, unit, t);
			price[cell] = tier_advice_price(advice, unit, priced_tier(advice, unit, t));
			move[cell] = current[i] < 0 ? 0.0 : tier_advice_move_s(advice, unit, t);
			written[cell] = cost.written_bytes * HOURS_PER_DAY +
				(t == unit->current_tier || current[i] < 0 ? 0.0 :
				 stored[cell] * HOURS_PER_DAY / advice->options.horizon_hours);
			allowed[cell] = tier_advice_why_not(advice, unit, t) == NULL;
		}
	}
	problem.nunits = nunits;
	problem.ntiers = ntiers;
	problem.busy_s = busy;
	problem.occupied_s = occupied;
	problem.wait_s = wait;
	problem.written_bytes = written;
	problem.stored_bytes = stored;
	problem.price = price;
	problem.move_s = move;
	problem.allowed = allowed;
	problem.current = current;
	problem.available_bytes = advice->available_bytes;
	problem.clients = advice->clients;
	problem.endurance_bytes_per_day = endurance;
	problem.horizon_hours = advice->options.horizon_hours;
	problem.objective = advice->options.objective;
	problem.quick = advice->options.quick;
	problem.alloc = solver_alloc;
	problem.release = pfree;
	problem.interrupted = solver_interrupted;

	result->kept = palloc(sizeof(TierPlacementLimits) * ntiers);
	tier_placement_solve(&problem, result);
	most = give_up(&problem, result->tier);
	dropped = tier_materiality_drop(&problem, result->kept, most,
									give_up_of(&problem, wait, result->tier,
											   TIER_ADVICE_MIN_SAVED_S),
									result->tier);
	if (scenario == TIER_SCENARIO_MIDDLE)
	{
		TierBottleneckQuestion question = {
			.problem = &problem,
			.tier = result->tier,
			.least = most,
		};

		tier_bottleneck_find(&question, result);
		advice->dropped = dropped;
		tier_placement_add_up(&problem, result->tier, result->after);
		result->objective += dropped.gain;
	}
	pfree(numbers);
	pfree(allowed);
	pfree(current);
	pfree(endurance);
}

/*
 * Marks the units that depend on their loads: those that a placement with the loads against it
 * does not move.
 */
static void
mark_dependence(TierAdvice *advice)
{
	TierPlacementResult other = {.tier = solver_alloc(sizeof(int) * advice->nunits)};

	solve(advice, TIER_SCENARIO_AGAINST_MOVES, &other);
	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		unit->depends_on_load = unit->recommended_tier != unit->current_tier &&
			other.tier[i] != advice->placement.tier[i];
	}
	pfree(other.tier);
}

static void
allocate_placement(TierAdvice *advice)
{
	TierPlacementResult *placement = &advice->placement;
	int			nunits = Max(advice->nunits, 1);
	int			ntiers = Max(advice->set->ntiers, 1);

	if (placement->tier != NULL)
		return;
	placement->tier = palloc_extended(sizeof(int) * nunits, MCXT_ALLOC_HUGE);
	placement->pushed_out_of = palloc_extended(sizeof(int) * nunits, MCXT_ALLOC_HUGE);
	placement->now = palloc0(sizeof(TierPlacementTotals) * ntiers);
	placement->after = palloc0(sizeof(TierPlacementTotals) * ntiers);
	placement->bottleneck = palloc0(sizeof(TierPlacementBottleneck) * ntiers);
	placement->asked = palloc0(sizeof(TierPlacementLimits) * ntiers);
	placement->kept = palloc0(sizeof(TierPlacementLimits) * ntiers);
}

/* Returns true if the unit is worse off where it goes. */
static bool
gives_way(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	double		cheaper = tier_advice_price(advice, unit, unit->current_tier) -
	tier_advice_price(advice, unit, unit->recommended_tier);

	return advice->options.objective == TIER_OBJECTIVE_TIME || cheaper == 0.0 ?
		unit->saved_s < 0.0 : cheaper < 0.0;
}

/*
 * A unit that gives way is not firm before one for which it does.  A unit leaves a tier that
 * receives none because of that tier's limits.
 */
static void
limit_confidence(TierAdvice *advice)
{
	bool	   *takes_any = palloc0(sizeof(bool) * advice->set->ntiers);
	bool	   *takes_firm = palloc0(sizeof(bool) * advice->set->ntiers);

	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];

		if (unit->recommended_tier == unit->current_tier)
			continue;
		takes_any[unit->recommended_tier] = true;
		takes_firm[unit->recommended_tier] |= unit->confidence == TIER_CONFIDENCE_FIRM;
	}
	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		if (unit->recommended_tier != unit->current_tier && takes_any[unit->current_tier] &&
			!takes_firm[unit->current_tier] && unit->pinned_tier < 0 && !unit->makes_room &&
			gives_way(advice, unit))
			unit->confidence = Min(unit->confidence, TIER_CONFIDENCE_TENTATIVE);
	}
	pfree(takes_any);
	pfree(takes_firm);
}

/* A move that depends on an uncertain quantity is tentative; room has to be made all the same. */
static void
find_dependence(TierAdvice *advice)
{
	mark_dependence(advice);
	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		if (unit->confidence == TIER_CONFIDENCE_FIRM && !unit->makes_room &&
			unit->depends_on_load)
			unit->confidence = TIER_CONFIDENCE_TENTATIVE;
	}
	limit_confidence(advice);
}

/*
 * Finds tiers that are too full and remain so although units that have not been observed for long
 * enough could leave them.
 */
static bool
find_urgent(TierAdvice *advice)
{
	const TierPlacementResult *placement = &advice->placement;
	bool		any = false;

	for (int i = 0; i < advice->nunits && !advice->options.from_scratch; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];
		int			tier = unit->current_tier;

		if (tier < 0 || placement->tier[i] != tier || !tier_advice_is_too_full(advice, tier) ||
			unit->confidence != TIER_CONFIDENCE_PROVISIONAL ||
			placement->kept[tier].of[TIER_RESOURCE_BYTES] <=
			placement->asked[tier].of[TIER_RESOURCE_BYTES])
			continue;
		advice->is_urgent[tier] = any = true;
	}
	return any;
}

/* Units leave such a tier whatever their use is, which is not known. */
static void
mark_urgent(TierAdvice *advice)
{
	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		unit->is_urgent = unit->makes_room && unit->pinned_tier < 0 &&
			advice->is_urgent[unit->current_tier] && unit->known_s < tier_units_required_s() &&
			unit->confidence < TIER_CONFIDENCE_FIRM;
	}
}

void
tier_advice_decide(TierAdvice *advice)
{
	TierPlacementResult *placement = &advice->placement;
	int			ntiers = advice->set->ntiers;

	apply_overrides(advice);
	tier_advice_add_bytes(advice, advice->now_bytes);
	for (int t = 0; t < ntiers; t++)
	{
		double		capacity = advice->set->tiers[t].capacity_bytes;

		advice->available_bytes[t] = tier_advice_available(advice, t, capacity);
		advice->reserve_missing[t] = tier_advice_is_too_full(advice, t) ? 0.0 :
			Max(-tier_set_room_on_disk(advice->set, t, capacity), 0.0);
	}
	allocate_placement(advice);
	for (int t = 0; t < ntiers; t++)
		advice->is_urgent[t] = false;
	if (advice->nunits > 0 && ntiers > 0)
		solve(advice, TIER_SCENARIO_MIDDLE, placement);
	if (find_urgent(advice))
		solve(advice, TIER_SCENARIO_MIDDLE, placement);
	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];

		unit->recommended_tier = unit->current_tier < 0 ? -1 : placement->tier[i];
		unit->wanted_tier = unit->current_tier < 0 ? -1 : placement->pushed_out_of[i];
		if (unit->pinned_tier >= 0 && unit->current_tier >= 0 && unit->is_selected &&
			unit->recommended_tier != unit->pinned_tier)
			unit->wanted_tier = unit->pinned_tier;
		unit->depends_on_load = false;
		unit->saved_s = unit->current_tier < 0 ? 0.0 :
			tier_advice_busy(advice, unit, unit->current_tier) -
			tier_advice_busy(advice, unit, unit->recommended_tier);
	}
	tier_advice_mark_room(advice);
	if (advice->options.bounds && advice->nunits > 0 && ntiers > 0)
		find_dependence(advice);
	mark_urgent(advice);
}

TierAdvice *
tier_advice_make(const TierAdviceOptions *options)
{
	TierAdvice *advice = tier_advice_load(options);

	tier_advice_decide(advice);
	return advice;
}
