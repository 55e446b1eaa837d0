/*-------------------------------------------------------------------------
 *
 * model/placement_problem.h
 *		The input of a placement: units, their costs on each tier, and limits.
 *
 * Shared by model/placement.c and the modules that it calls.  Pure, like the solver.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PLACEMENT_PROBLEM_H
#define TIER_PLACEMENT_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "src/model/solver/solver.h"

/*
 * TIME: the least device time.  Price decides only
 * between equals; tier_materiality_drop() takes moves back that are for the price
 * alone, since storage that is paid for and has room costs nothing.
 * MONEY: the lowest price that the devices can carry.  Time decides only
 * between equals.
 */
typedef enum TierObjective
{
	TIER_OBJECTIVE_TIME,
	TIER_OBJECTIVE_MONEY,
} TierObjective;

/*
 * A placement loads no device with more than this, unless it is loaded so now, or
 * a tier would be too full otherwise.
 */
#define TIER_PLACEMENT_BUSY_LIMIT 0.6

/* A move has to save so many times its cost, within the horizon. */
#define TIER_PLACEMENT_MOVE_MUST_PAY 2.0

/*
 * Loads vary: of what a move saves or costs in device time, this share is taken for
 * chance, to its disadvantage.  So two relations change places only if one is
 * worth (1 + x) / (1 - x) times the other: 1.35 times.
 */
#define TIER_PLACEMENT_DOUBT 0.15

/*
 * The amounts that a placement takes of a tier.  Only tier_placement_add_up() fills it in; values
 * that are not finite are left out.
 */
typedef struct TierPlacementTotals
{
	double		bytes;			/* stored */
	double		busy_s;			/* per hour */
	double		occupied_s;		/* per hour: 3600 is all of the device */
	double		queue_s;		/* client-seconds per hour of the clock */
	double		wait_s;			/* client-seconds per hour, without the queue */
	double		written_bytes;	/* per day */
	double		price;			/* per month */
	int			units;
} TierPlacementTotals;

/*
 * Filled in by the caller and not changed afterwards.  Arrays by unit and tier are laid out [unit
 * * ntiers + tier].  A cost that is not finite means the same as allowed = false.
 */
typedef struct TierPlacementProblem
{
	int			nunits;
	int			ntiers;			/* 1 .. TIER_SOLVER_MAX_TIERS */
	const double *busy_s;		/* per hour, as in TierCost */
	const double *occupied_s;
	const double *wait_s;
	const double *written_bytes;	/* per day, the writes of the move
									 * included */
	const double *stored_bytes;
	const double *price;		/* per month */
	const double *move_s;		/* device-seconds, once; 0 where it is */
	const bool *allowed;
	const int  *current;		/* by unit; -1: on none of them */
	const double *available_bytes;	/* by tier; may be INFINITY, or negative:
									 * too full even if it is empty */
	const double *endurance_bytes_per_day;	/* by tier; INFINITY: no limit */
	double		clients;		/* that may wait at once; 0: any number */
	double		horizon_hours;	/* in which a move has to pay, > 0 */
	TierObjective objective;
	bool		quick;			/* as the solver's: one of many */
	void	   *(*alloc) (size_t bytes);
	void		(*release) (void *ptr);
	bool		(*interrupted) (void *argument);
	void	   *interrupted_argument;
} TierPlacementProblem;

/* The limited resources of a tier: bytes, device-seconds per hour, and bytes written a day. */
typedef enum TierPlacementResource
{
	TIER_RESOURCE_BYTES,
	TIER_RESOURCE_BUSY,
	TIER_RESOURCE_ENDURANCE,
} TierPlacementResource;

#define TIER_PLACEMENT_RESOURCES 3

/* The limits of one tier, by TierPlacementResource; INFINITY: none. */
typedef struct TierPlacementLimits
{
	double		of[TIER_PLACEMENT_RESOURCES];
} TierPlacementLimits;

/* The weight of each kind of cost in the objective. */
typedef struct TierPlacementWeights
{
	double		price;			/* per month */
	double		busy;			/* device-seconds per hour */
} TierPlacementWeights;

/* By the objective alone. */
extern TierPlacementWeights tier_placement_weights(const TierPlacementProblem *problem);

/* The cost of one cell by these weights, without its move. */
extern double tier_placement_cost(const TierPlacementProblem *problem,
								  const TierPlacementWeights *weights, size_t cell);

/*
 * The same with the cost of the move and the doubt about its gain; both compared with the
 * present place of the unit.
 */
extern double tier_placement_unit_cost(const TierPlacementProblem *problem,
									   const TierPlacementWeights *weights, int unit, int tier);

/* The amounts that a placement takes; -1 counts nowhere.  totals: array of ntiers. */
extern void tier_placement_add_up(const TierPlacementProblem *problem, const int *tier,
								  TierPlacementTotals *totals);

/*
 * Adds the limited amounts of one cell, that many times, to those of a tier; -1 takes them away.
 */
extern void tier_placement_count(const TierPlacementProblem *problem, size_t cell, double times,
								 TierPlacementTotals *total);

/* The amount of a resource that one cell takes. */
extern double tier_placement_use(const TierPlacementProblem *problem, size_t cell,
								 TierPlacementResource resource);

/* Returns true if the unit may be placed there at all. */
extern bool tier_placement_may_live(const TierPlacementProblem *problem, int unit, int tier);

/*
 * The limits as they should be kept: the room there is, negative where even an empty tier
 * would be too full, TIER_PLACEMENT_BUSY_LIMIT and the endurance; but no unit has to leave a
 * device that is busier now, or is written to more.
 */
extern void tier_placement_ask(const TierPlacementProblem *problem, TierPlacementLimits *asked);

/*
 * Whether a tier exceeds this limit by more than rounding; and whether all tiers keep all limits.
 */
extern bool tier_placement_exceeds(const TierPlacementTotals *total,
								   const TierPlacementLimits *limit,
								   TierPlacementResource resource);
extern bool tier_placement_keeps(const TierPlacementProblem *problem,
								 const TierPlacementTotals *totals,
								 const TierPlacementLimits *limits);

/* The asked limits, raised to the amounts that the tier takes. */
extern TierPlacementLimits tier_placement_kept(const TierPlacementTotals *total,
											   const TierPlacementLimits *asked);

/* The first limit for which one more unit has no room; TIER_PLACEMENT_RESOURCES: it has room. */
extern int	tier_placement_lacks(const TierPlacementProblem *problem,
								 const TierPlacementTotals *total,
								 const TierPlacementLimits *limit, size_t cell);

#endif							/* TIER_PLACEMENT_PROBLEM_H */
