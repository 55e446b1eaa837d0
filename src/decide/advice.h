/*-------------------------------------------------------------------------
 *
 * decide/advice.h
 *		From what was observed to where each relation should live.
 *
 * In three steps: decide/units.c makes units of what is known of relations,
 * decide/advice.c asks for the best placement, decide/advice_text.c says why.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ADVICE_H
#define TIER_ADVICE_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "src/catalog/tables.h"
#include "src/model/cost.h"
#include "src/model/placement.h"

typedef enum TierConfidence
{
	TIER_CONFIDENCE_INSUFFICIENT,
	TIER_CONFIDENCE_TENTATIVE,
	TIER_CONFIDENCE_FIRM,
} TierConfidence;

/* What a tier would be if it were another one; NaN: as it is. */
typedef struct TierOverride
{
	NameData	tier_name;
	double		capacity_bytes;
	double		reserve_fraction;
	double		price_per_gb_month;
	double		random_read_ms;
	double		random_write_ms;
	double		sequential_read_mb_per_s;
	double		sequential_write_mb_per_s;
	double		parallelism;
	double		compression_ratio;
} TierOverride;

/*
 * What is asked for.  tier_advice_default_options() is what everybody gets who
 * asks for nothing.
 */
typedef struct TierAdviceOptions
{
	List	   *tiers;			/* of char *: only these take anything in;
								 * NIL: all */
	int			noverrides;
	TierOverride *overrides;
	double		horizon_hours;
	TierObjective objective;
	double		price_per_wait_hour;	/* NaN: to be found */
	List	   *schemas;		/* of OIDs; NIL: all */
	List	   *relations;		/* of OIDs, partitioned tables and indexes
								 * included; NIL: all */
	TimestampTz as_of;			/* load as observed until then; 0: until now */
	double		load_factor;	/* all loads times this */
	bool		bounds;			/* find out how sure it is */
} TierAdviceOptions;

/*
 * One thing to place: a table or materialized view with its TOAST table, or
 * an index.  Tiers are indexes into the set.
 */
typedef struct TierAdviceUnit
{
	Oid			relation_oid;
	Oid			heap_oid;		/* of an index: its table; else itself */
	char		kind;			/* relkind */
	int			current_tier;	/* -1: in no tier, then left alone */
	int			recommended_tier;
	int			wanted_tier;	/* where it would be if there were room; -1:
								 * there */
	int			policy_tier;	/* where a policy has put it, -1: no policy */
	bool		is_selected;	/* by schemas and relations of the options */
	int			pinned_tier;	/* where a pin wants it, -1: not pinned */
	double		size_bytes;
	TierCostLoad load;			/* middle of what is not known exactly */
	double		sequential_low; /* blocks per hour */
	double		sequential_high;
	double		reads_low;		/* blocks per hour, both kinds together */
	double		reads_high;
	double		misses_per_hour;	/* of which load is what reached the
									 * device */
	double		hits_per_hour;
	double		cached_fraction;
	double		unexplained;	/* residual of the device, if that is too much
								 * for trust; else 0 */
	const char *device;			/* NULL: not known */
	double		observed_s;
	double		resides_s;		/* still to stay, since it was moved lately */
	bool		writes_estimated;	/* page_writes, of some of it, from row
									 * changes */
	bool		depends_on_sequential;	/* other bounds, other tier */
	bool		depends_on_reads;
	int			indexes_staying;	/* of a table that goes: indexes that do
									 * not, */
	double		indexes_staying_bytes;
	double		indexes_staying_cached_bytes;	/* and what of them is in
												 * shared buffers */
	TierConfidence confidence;
} TierAdviceUnit;

typedef struct TierAdvice
{
	TierAdviceOptions options;
	TierSet    *set;			/* with the overrides */
	bool	   *takes;			/* by tier: may take something in */
	int			nunits;
	TierAdviceUnit *units;		/* by OID */
	TimestampTz writes_since;	/* counted from the WAL since then; 0: not */
	double	   *used_bytes;		/* by tier: what the units take there now */
	double	   *available_bytes;	/* by tier: what the units may take there */
	TierPlacementResult placement;	/* its arrays, too; tier is by unit */
} TierAdvice;

extern void tier_advice_default_options(TierAdviceOptions *options);

/*
 * Looks at all relations now, together with what is remembered, as far as the
 * options ask for, and finds the placement.  options may be NULL.  Reads only;
 * must not be called inside a scope; needs an active snapshot.  Result in the
 * current memory context.  Raises an error for what the options name and does
 * not exist.
 */
extern TierAdvice *tier_advice_make(const TierAdviceOptions *options);

/*
 * The two halves of it.  The second may be called again after a change of
 * options.overrides.
 */
extern TierAdvice *tier_advice_load(const TierAdviceOptions *options);
extern void tier_advice_decide(TierAdvice *advice);

/* What a unit costs on a tier. */
extern TierCost tier_advice_cost(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

/* Device-seconds per hour, bytes stored, and money per month of a unit on a tier. */
extern double tier_advice_busy(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);
extern double tier_advice_stored(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);
extern double tier_advice_price(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

/* Device-seconds of moving it there, once; 0 for where it is. */
extern double tier_advice_move_s(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

/* The unit of this relation, or NULL. */
extern const TierAdviceUnit *tier_advice_find(const TierAdvice *advice, Oid relation_oid);

/* Why it may not live there, in words after "it" ("is not ..."); NULL: it may. */
extern const char *tier_advice_why_not(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

extern const char *tier_advice_confidence_text(TierConfidence confidence);

/* One sentence with the numbers in it, for where it should be. */
extern char *tier_advice_reason(const TierAdvice *advice, const TierAdviceUnit *unit);

/* The statement that does it, or NULL when there is nothing to do. */
extern char *tier_advice_command(const TierAdvice *advice, const TierAdviceUnit *unit);

#endif							/* TIER_ADVICE_H */
