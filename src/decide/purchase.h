/*-------------------------------------------------------------------------
 *
 * decide/purchase.h
 *		What the measured load would come to on other hardware, and what that costs.
 *
 * The same advice as always, made again and again for tiers that are changed in memory:
 *
 *		purchase_changes.c	what is asked for, from JSON and back
 *		purchase_usual.c	what is tried if nothing is asked for
 *		purchase.c			changes the tiers, decides, adds up
 *		purchase_text.c		says it in a sentence
 *		purchase_sql.c		the function
 *
 * Everything is placed from scratch, as for the curve of sizes: what hardware is worth does not
 * depend on where things are today.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DECIDE_PURCHASE_H
#define TIER_DECIDE_PURCHASE_H

#include "postgres.h"

#include "src/decide/advice.h"
#include "src/model/purchase.h"

#define TIER_PURCHASE_BYTES_PER_GB 1e9

/* Options that are looked at in one call. */
#define TIER_PURCHASE_MOST_OPTIONS 48

/* What becomes of one tier; NaN: as it is. */
typedef struct TierPurchaseChange
{
	int			tier;			/* of the set */
	const char *new_name;		/* of a tier that is bought, in the place of
								 * the spare one; else NULL */
	bool		is_removed;
	int			volume;			/* of the price list, instead of its device;
								 * -1: stays */
	double		gb;
	double		price_per_gb_month;
	double		requests;		/* bought, per second */
	double		throughput;		/* MB per second */
} TierPurchaseChange;

/* Hardware to look at, and what came of it. */
typedef struct TierPurchaseOption
{
	int			nchanges;		/* 0: today's */
	TierPurchaseChange *changes;

	/* Filled in by tier_purchase_evaluate(). */
	double		price_per_month;
	double		io_s_per_hour;	/* device time and queues, placed best */
	TierPurchaseGain gain;		/* of today's: what moving alone gains */
	int			bound;			/* TierPurchaseBound; -1: not known */
	double		performance;	/* work per price, today's is 1; NaN: not
								 * known */
	double		missing_bytes;	/* of what has to be there, more than today;
								 * 0: all fits */
	int			missing_tier;	/* where most of it is missing */
	bool		is_unused;		/* is more room, and nothing would be there */
	char	   *remark;			/* limits that are exceeded; NULL: none */
	TierPurchaseVerdict verdict;
} TierPurchaseOption;

typedef struct TierPurchase
{
	TierAdvice *advice;
	int			ntiers;			/* that are there */
	int			spare;			/* the place of one that is bought; -1: there
								 * are as many as can be */
	TierTier   *tiers;			/* as they are, by tier of the set */
	TierVolumeRow *volumes;
	int			nvolumes;
	int		   *volume_of;		/* by tier: what it is by the price list; -1:
								 * not known */
	TierPredictionClients clients;
	bool		is_observed;	/* for long enough, most of the load */
	double		observed_s;		/* the longest of what was not */
	double		stored_gb;		/* of the database */
	TierPlacementTotals *now;	/* by scenario and tier: where everything is */
	TierPlacementTotals *best;	/* and where it is best today */
	TierPurchaseOption today;
	double		device_s;		/* that clients wait for the devices there
								 * are, with everything where it is best */
	double	   *best_bytes;		/* by tier: what is there then */
	double	   *best_occupied;	/* and how long that occupies the device, per
								 * hour */
} TierPurchase;

/*
 * Loads everything and places it on what there is.  noptions: that will be evaluated, among
 * which the time is divided.  NULL: there is nothing to place, or nowhere, which a NOTICE says.
 */
extern TierPurchase *tier_purchase_load(double load_factor, int noptions);

/* The size of a tier as it is: the capacity, or what is stored where that is not known. */
extern double tier_purchase_gb(const TierPurchase *purchase, int tier);

/* See tier_advice_taken(). */
extern double tier_purchase_others(const TierPurchase *purchase, int tier);

/* Which tiers are not there with this option; until the next one is evaluated. */
extern void tier_purchase_mark_gone(TierPurchase *purchase, const TierPurchaseOption *option);

/* What cannot leave a tier for one that is there: bytes stored, and one of them; NULL: nothing. */
extern const TierAdviceUnit *tier_purchase_stuck(const TierPurchase *purchase, int tier,
												 double *bytes);

/*
 * Are the system catalogs there, which nothing here moves: those of this database, or those that
 * all databases share, beside pg_default?  Whoever buys something has to put them somewhere.
 */
extern bool tier_purchase_holds_catalogs(const TierPurchase *purchase, int tier);

extern void tier_purchase_evaluate(TierPurchase *purchase, TierPurchaseOption *option);

/* Device time and queues of all tiers, if a tier had this size, and what would be on it then. */
extern double tier_purchase_try_size(TierPurchase *purchase, int tier, double gb, double *bytes);

/* The options that are asked for, checked; an error names what is wrong. */
extern TierPurchaseOption *tier_purchase_asked(TierPurchase *purchase, Datum jsonb, int *n);

/* How many there are in it, as far as that can be seen before anything is loaded. */
extern int	tier_purchase_count_asked(Datum jsonb);

/* The same way back; today's is {}. */
extern Datum tier_purchase_changes_of(const TierPurchase *purchase,
									  const TierPurchaseOption *option);

/* Those that are tried when nothing is asked for. */
extern TierPurchaseOption *tier_purchase_usual(TierPurchase *purchase, int *n);

/* "ssd + 200 GB", and the sentence. */
extern char *tier_purchase_name(const TierPurchase *purchase, const TierPurchaseOption *option);
extern char *tier_purchase_sentence(const TierPurchase *purchase,
									const TierPurchaseOption *option);

extern const char *tier_purchase_bound_text(int bound);

#endif							/* TIER_DECIDE_PURCHASE_H */
