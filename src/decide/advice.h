/*-------------------------------------------------------------------------
 *
 * decide/advice.h
 *		Derives the recommended tier of each relation from its observed load.
 *
 * In three steps: decide/units.c makes units of relations and their history; decide/advice.c
 * finds the best placement that decide/advice_rules.c allows; decide/advice_text.c explains it,
 * and decide/advice_limits.c reports the limits that restrict it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ADVICE_H
#define TIER_ADVICE_H

#include "postgres.h"

#include "src/decide/units.h"
#include "src/model/prediction.h"

/*
 * Advice is to be short: a move that gains less than this is not worth its risk and the reader's
 * time.  A percent is less than the error of the rates and of the devices' figures.  A second per
 * hour is not noticeable.  A price of 1 is that of some minutes of work; prices have no currency.
 */
#define TIER_ADVICE_MIN_SHARE 0.01
#define TIER_ADVICE_MIN_SAVED_S 1.0 /* per hour */
#define TIER_ADVICE_MIN_SAVED_PRICE 1.0 /* per month */

extern void tier_advice_default_options(TierAdviceOptions *options);

/*
 * Looks at all relations now, together with their stored state, as far as the options ask for,
 * and finds the placement.  options may be NULL.  Reads only; must not be called inside a scope;
 * needs an active snapshot.  Result in the current memory context.  Raises an error if the
 * options name an object that does not exist.
 */
extern TierAdvice *tier_advice_make(const TierAdviceOptions *options);

/*
 * The two halves of it.  The second may be called again after a change of
 * options.overrides.
 */
extern TierAdvice *tier_advice_load(const TierAdviceOptions *options);
extern void tier_advice_decide(TierAdvice *advice);

/* Loads the tiers that may be used, for options.tiers, and their use; a part of loading. */
extern void tier_advice_load_rules(TierAdvice *advice);

/* The end of the range of loads. */
typedef enum TierScenario
{
	TIER_SCENARIO_MIDDLE,
	TIER_SCENARIO_LOW,			/* reads, those at random, and write requests */
	TIER_SCENARIO_HIGH,
	TIER_SCENARIO_AGAINST_MOVES,	/* LOW for units that move for their own
									 * sake, HIGH for those that make room */
} TierScenario;

/* The load of a unit at one end of its range. */
extern TierCostLoad tier_advice_load_in(const TierAdviceUnit *unit, TierScenario scenario);

/*
 * The gain of clients if one of two decided advices is followed: compares the placement when
 * `before` was loaded, with its tiers, against the placement that `after` advises, with its tiers
 * and load.  Both may be the same.
 */
extern TierPrediction tier_advice_predict(const TierAdvice *before, const TierAdvice *after);

/* The cost of one load of the unit on a tier; and of all of its load. */
extern TierCost tier_advice_cost_of(const TierAdvice *advice, const TierAdviceUnit *unit,
									const TierCostLoad *load, int tier);
extern TierCost tier_advice_cost(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

/* The parts of a load. */
typedef enum TierLoadPart
{
	TIER_PART_RANDOM,
	TIER_PART_SEQUENTIAL,
	TIER_PART_WRITES
} TierLoadPart;

/* Device-seconds per hour that one of them takes on a tier. */
extern double tier_advice_busy_of(const TierAdvice *advice, const TierAdviceUnit *unit,
								  TierLoadPart part, int tier);

/* Device-seconds per hour, bytes stored, and money per month of a unit on a tier. */
extern double tier_advice_busy(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);
extern double tier_advice_stored(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);
extern double tier_advice_price(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

/* The bytes that the units take of each tier today, where they are. */
extern void tier_advice_add_bytes(const TierAdvice *advice, double *bytes);

/* Device-seconds of moving it there, once; 0 for where it is. */
extern double tier_advice_move_s(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

/*
 * The bytes that the units may have of a tier with this capacity, and of its file systems.  Other
 * files count as taken, whatever capacity is given.  A capacity beyond the size of the file
 * systems is that of larger ones.  Negative: not known, INFINITY.  Other files within the
 * reserve, and other databases within the capacity, push out no unit; so the result is at least
 * the bytes that the units take, as far as the capacity goes.  Where a fullness policy empties
 * the tier, nothing is added above its low watermark.  Where nothing can be put
 * (tier_set_why_closed()), it is the bytes that the units take, whatever the capacity.
 */
extern double tier_advice_available(const TierAdvice *advice, int tier, double capacity_bytes);

/*
 * Bytes of other files on the file systems of a tier as it is today, which a smaller device would
 * have to hold, too; less the bytes they have taken of its reserve, which they keep.  0 for a
 * tier that is limited to a part of its file systems: other files are on the rest.
 */
extern double tier_advice_taken(const TierAdvice *advice, int tier, const TierTier *today);

/* Why a tier takes no more of it, though it would be better there, in words after its name. */
extern const char *tier_advice_obstacle(const TierAdvice *advice, const TierAdviceUnit *unit,
										int tier);

/* Why it may not live there, in words after "it" ("is not ..."); NULL: it may. */
extern const char *tier_advice_why_not(const TierAdvice *advice,
									   const TierAdviceUnit *unit, int tier);

extern const char *tier_advice_confidence_text(TierConfidence confidence);

/* The reason for the recommended tier, with its numbers: the deciding one first. */
#define TIER_REASON_CHARACTERS 120

extern char *tier_advice_reason(const TierAdvice *advice, const TierAdviceUnit *unit,
								int most_characters);

/* A count or an amount as people say it: "4,100", "12", "0.3". */
extern char *tier_advice_number(double number);

/* The condition that would make it firm, in one clause of at most 15 characters; NULL: it is. */
extern char *tier_advice_firm_when(const TierAdvice *advice, const TierAdviceUnit *unit);

/* "3 minutes", "5 hours", "12 days" */
extern char *tier_advice_duration(double seconds);

/* "3.2 GB" */
extern char *tier_advice_bytes(double bytes);

/* A price: "0.80", "12", "under 0.01". */
extern char *tier_advice_money(double money);

/* "12 March", or with the year if it is another one. */
extern char *tier_advice_date(TimestampTz at);

/* Returns true if most of its reads and writes are taken for an event, not for a rate. */
extern bool tier_advice_is_event(const TierAdviceUnit *unit);

/* Since when it has not been used; 0: it was within a day, or that is not known. */
extern TimestampTz tier_advice_unused_since(const TierAdviceUnit *unit);

/* For a decided advice: returns true if the tier has more bytes than its limit allows. */
extern bool tier_advice_is_too_full(const TierAdvice *advice, int tier);

/* The same for any of its limits. */
extern bool tier_advice_is_over(const TierAdvice *advice, int tier);

/*
 * The decided advice as it would be if units with too little observation had been observed for
 * long enough, by the server's statistics of the time before the first sample.  NULL: there is no
 * such unit.  Never to be carried out.
 */
extern TierAdvice *tier_advice_provisional(const TierAdvice *advice);

/*
 * Selects the advice to show for a unit: `provisional`, which may be NULL, only if it moves the
 * unit and the other advises no move.
 */
extern const TierAdvice *tier_advice_shown(const TierAdvice *advice,
										   const TierAdvice *provisional, int unit);

/*
 * "3 moves are recommended: 1 firm, 2 provisional"; for the selected units.  NULL: none is.  Adds
 * to *nprovisional the number advised in `provisional` alone.
 */
extern char *tier_advice_moves_text(const TierAdvice *advice, const TierAdvice *provisional,
									int *nprovisional);

/* Reports in a NOTICE why nothing is advised, and how to proceed. */
extern void tier_advice_notice_empty(const TierAdvice *advice);

/*
 * Reports the standbys and sessions whose uses are not seen, if any.  relies_on_it: the answer
 * relies on relations not being read, so that standbys without data are reported, too.
 */
extern void tier_advice_notice_unseen(const TierAdvice *advice, bool relies_on_it);

/*
 * Reports in a NOTICE that an answer about the whole has almost no basis: no tier or only one, no
 * relation, or none that has been observed for long enough.
 */
extern void tier_advice_notice_unknown(const TierAdvice *advice);

/* Summarizes the advice in one sentence: the units left out, and why. */
extern char *tier_advice_headline(const TierAdvice *advice);

/*
 * Marks, on each tier that is too full, the units that leave it first and are enough to make the
 * room: those that lose least device time for each byte.
 */
extern void tier_advice_mark_room(TierAdvice *advice);

/* The same as a share, at most 1: no device is busier. */
extern double tier_advice_busy_fraction(double occupied_s);

/*
 * Describes in words, after the name of the tier: that nothing can be put there; the limits that
 * it exceeds after the advice, and by how much; the obstacles; and the additional capacity
 * needed.  NULL: none of these.
 */
extern char *tier_advice_violation(const TierAdvice *advice, int tier);

/*
 * Describes the present problem of a tier: busier than a device can be, so that its figures are
 * not those of the device; written to beyond its endurance; too full; then the text of
 * tier_advice_violation().  NULL: none.
 */
extern char *tier_advice_tier_remark(const TierAdvice *advice, int tier);

/* The same in NOTICEs, one for each tier, and the units that leave first. */
extern void tier_advice_notice_tiers(const TierAdvice *advice);

/*
 * By how many bytes a tier grows as things are; NaN before a day was observed: work and rest of a
 * day differ.
 */
extern double tier_advice_growth_per_hour(const TierAdvice *advice, int tier);

/*
 * Days until nothing more fits on a tier, and until its reserve is reached, if nothing is
 * moved; INFINITY: never, or not known.
 */
extern double tier_advice_days_until_full(const TierAdvice *advice, int tier);
extern double tier_advice_days_until_reserve(const TierAdvice *advice, int tier);

/* The statement that does it, or NULL when there is nothing to do. */
extern char *tier_advice_command(const TierAdvice *advice, const TierAdviceUnit *unit);

#endif							/* TIER_ADVICE_H */
