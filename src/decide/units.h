/*-------------------------------------------------------------------------
 *
 * decide/units.h
 *		The units to be placed, and the facts about each.
 *
 * The first of three steps; decide/advice.h has the others.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_UNITS_H
#define TIER_UNITS_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "src/catalog/tables.h"
#include "src/model/cost.h"
#include "src/model/materiality.h"
#include "src/model/placement.h"
#include "src/model/relation_load.h"

/*
 * How sure an advice is.  Provisional: from the server's statistics of the time before, or
 * observed for less than TIER_PROVISIONAL_S; never carried out.  Tentative: for less than
 * tier_units_required_s(), or another one within the errors; carried out if asked for.  Firm alone
 * is carried out by itself.
 */
typedef enum TierConfidence
{
	TIER_CONFIDENCE_PROVISIONAL,
	TIER_CONFIDENCE_TENTATIVE,
	TIER_CONFIDENCE_FIRM,
} TierConfidence;

/* A figure of a tier if it were another one. */
typedef struct TierOverride
{
	NameData	tier_name;
	size_t		offset;			/* of the figure in TierTier; 0: none */
	double		value;
	const TierCostProfile *device;	/* instead of the device of the tier,
									 * beneath figures; NULL: the tier's */
	double		endurance_dwpd; /* of that; 0: not known */
} TierOverride;

/* The options of an advice.  tier_advice_default_options() has the defaults. */
typedef struct TierAdviceOptions
{
	List	   *tiers;			/* of char *: only these take anything in;
								 * NIL: all */
	int			noverrides;
	TierOverride *overrides;
	double		horizon_hours;
	TierObjective objective;
	List	   *schemas;		/* of OIDs; NIL: all */
	List	   *relations;		/* of OIDs, partitioned tables and indexes
								 * included; NIL: all */
	double		load_factor;	/* all loads times this */
	bool		bounds;			/* find out how sure it is */
	bool		quick;			/* one of many placements, as the solver's */
	bool		as_if_observed; /* the advice that would be given if all units
								 * had been observed for long enough */
	bool		from_scratch;	/* as if all were bought and filled anew:
								 * where relations are now does not count */
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
	int			policy_floor;	/* fastest tier that policies allow at its
								 * present or future age, -1: no policy */
	bool		is_due;			/* a policy moves it as soon as it can, and
								 * has the rights to */
	bool		is_selected;	/* by schemas and relations of the options */
	int			pinned_tier;	/* where a pin wants it, -1: not pinned */
	Oid			extension_oid;	/* it belongs to, or its table; it is moved by
								 * pins only.  InvalidOid: none */
	const char *immovable;		/* why nothing moves it, in words that can
								 * follow "cannot be moved: "; NULL: it can */
	double		size_bytes;		/* of all forks, which take room and are
								 * moved; loads has that of main forks, which
								 * are read */
	TierRelationLoad loads;		/* of all its relations; middle counts */
	double		operations;		/* scans that the server's statistics know, of
								 * a table also those of its indexes */
	double		observed_s;		/* by samples */
	double		known_s;		/* of observed_s, in which no use can have
								 * been missed */
	double		proven_s;		/* the same by the server's statistics, at
								 * least known_s */
	bool		never_scanned;	/* by these */
	TimestampTz last_used_at;	/* by samples; 0: not in any */
	TimestampTz last_read_at;	/* last scan, of a table also of its indexes;
								 * 0: not known */
	TimestampTz unread_since;	/* that, or since when never_scanned is
								 * proven; not before no read can have been
								 * missed.  0: not known */
	double		resides_s;		/* still to stay, since it was moved lately */
	bool		depends_on_load;	/* a load at the other end of its range
									 * leads to another tier */
	double		saved_s;		/* device time by the recommended tier, s per
								 * hour; negative: an additional cost */
	bool		makes_room;		/* leaves a tier that is too full among the
								 * first, which are enough */
	bool		is_urgent;		/* does so without having been observed for
								 * long enough */
	double		random_reads;	/* as tier_relation_measured() says, by the
								 * last sample; NaN: it was in none */
	double		sequential_reads;
	bool		is_past;		/* loads is of the time before the first
								 * sample */
	TierConfidence confidence;
} TierAdviceUnit;

typedef struct TierAdvice
{
	TierAdviceOptions options;
	TierSet    *set;			/* with the overrides */
	bool	   *takes;			/* by tier: may take something in */
	const char **why_closed;	/* by tier: see tier_set_why_closed() */
	bool	   *is_urgent;		/* by tier: is too full, and the units
								 * observed for long enough do not make enough
								 * room */
	int			nunits;
	TierAdviceUnit *units;		/* by OID */
	TierFullnessRow *fullness;	/* the other policies, of the tiers above */
	int			nfullness;
	TimestampTz known_until;	/* on a standby: when the primary took the
								 * last snapshot; elsewhere now */
	TimestampTz uses_since;		/* uses may have been missed before, and reads
								 * on standbys; 0: they never were */
	const char *uncounted;		/* the users whose use of the database is not
								 * counted; NULL: all are */
	const char *silent_standby; /* see TierStandbyUse */
	TimestampTz writes_since;	/* counted from the WAL since then; 0: not */
	TierClientTime client_time; /* the time of clients */
	double		clients;		/* that may wait at once */
	double	   *used_bytes;		/* by tier: the bytes that the units take
								 * there now */
	double	   *available_bytes;	/* by tier: the bytes that the units may
									 * take there now */
	double	   *others_bytes;	/* by tier: the bytes of other databases in a
								 * capacity that is less than the size of the
								 * disks; NaN: not asked for yet */
	double	   *others_written_bytes;	/* by tier: written to its devices in
										 * a day by others than the units:
										 * WAL, temporary files, other
										 * databases; 0 if that is not known */
	double	   *reserve_missing;	/* by tier: bytes of its reserve that
									 * other files have taken */
	double		observed_hours; /* the longest of any unit: no forecast
								 * reaches further */
	double	   *growth_per_hour;	/* by tier: bytes before any compression */
	double	   *now_bytes;		/* by tier: as used_bytes, with the overrides */
	TierPlacementResult placement;	/* its arrays, too; tier is by unit */
	TierMaterialityDropped dropped; /* the moves that were taken back */
} TierAdvice;

/*
 * Fills set, units and writes_since of an advice whose options are there:
 * everything but what depends on a decision.  Same expectations as
 * tier_advice_load().
 */
extern void tier_units_load(TierAdvice *advice);

/*
 * Seconds that a relation must have been observed before advice about it is firm:
 * tiered_storage.observation_period, but never less than it takes to tell a rate
 * from an event.
 */
extern double tier_units_required_s(void);

/* Blocks per hour that count, both kinds together. */
static inline double
tier_unit_reads(const TierAdviceUnit *unit)
{
	return unit->loads.middle.random_reads + unit->loads.middle.sequential_reads;
}

/* Returns true if a move of the unit is advised. */
static inline bool
tier_unit_moves(const TierAdviceUnit *unit)
{
	return unit->recommended_tier != unit->current_tier;
}

/* The unit of this relation, or NULL. */
extern const TierAdviceUnit *tier_advice_find(const TierAdvice *advice, Oid relation_oid);

#endif							/* TIER_UNITS_H */
