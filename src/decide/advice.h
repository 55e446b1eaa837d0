/*-------------------------------------------------------------------------
 *
 * decide/advice.h
 *		From what was observed to where each relation should live.
 *
 * In three steps: decide/units.c makes units of what is known of relations,
 * decide/advice.c asks for the best placement that decide/advice_rules.c allows,
 * decide/advice_text.c says why, and decide/advice_limits.c which limits are in the way.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ADVICE_H
#define TIER_ADVICE_H

#include "postgres.h"

#include "src/decide/units.h"
#include "src/model/prediction.h"

/*
 * Advice is to be short: a move that gains less than this is not worth its risk and the
 * reader's time.  A percent is less than the error of the rates and of the devices' figures.
 * A second of an hour is what nobody notices.  1 is the price of some minutes of work; prices
 * have no currency.  1 MB is the smallest relation whose move can matter by its size alone:
 * smaller ones are read once and then are in memory, so they have to gain more than these
 * by themselves.
 */
#define TIER_ADVICE_MIN_BYTES (1024.0 * 1024.0)
#define TIER_ADVICE_MIN_BYTES_TEXT "1 MB"
#define TIER_ADVICE_MIN_SHARE 0.01
#define TIER_ADVICE_MIN_SAVED_S 1.0 /* per hour */
#define TIER_ADVICE_MIN_SAVED_PRICE 1.0 /* per month */

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

/* Which tiers may be used, for options.tiers, and what is on them; a part of loading. */
extern void tier_advice_load_rules(TierAdvice *advice);

/* Which end of what is known of the load. */
typedef enum TierScenario
{
	TIER_SCENARIO_MIDDLE,
	TIER_SCENARIO_LOW,			/* reads, those at random, and write requests */
	TIER_SCENARIO_HIGH,
	TIER_SCENARIO_AGAINST_MOVES,	/* LOW of what moves for its own sake,
									 * HIGH of what gives way to it */
} TierScenario;

/* What is known of the load of a unit, at one end of a range. */
extern TierCostLoad tier_advice_load_in(const TierAdviceUnit *unit, TierScenario scenario);

/*
 * What clients gain, if one of two decided advices is followed: all that is where it was
 * when `before` was loaded, with its tiers, against what `after` advises, with its
 * tiers and load.  Both may be the same.
 */
extern TierPrediction tier_advice_predict(const TierAdvice *before, const TierAdvice *after);

/* What a load of the unit costs on a tier; and all of its load. */
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

/* What the units take of each tier today, where they are. */
extern void tier_advice_add_bytes(const TierAdvice *advice, double *bytes);

/* Device-seconds of moving it there, once; 0 for where it is. */
extern double tier_advice_move_s(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

/*
 * Of a decided advice: what the recommended tier saves per hour by the objective: device
 * time, or money.  In the same unit, *move: what its
 * move costs, once.
 */
extern double tier_advice_gain(const TierAdvice *advice, const TierAdviceUnit *unit,
							   double *move);

/*
 * What the units may have of a tier with this capacity, and of its file systems, where
 * other files count as taken, whatever the capacity is said to be.  A capacity beyond
 * the file systems' size is that of larger ones.  Negative: not known, INFINITY.
 * What other files have taken of the reserve, and other databases of the capacity, makes
 * nobody leave, so it is never less than what the units take, as far as the capacity goes.
 * Where a fullness policy empties the tier, nothing is added above its low watermark.  Where
 * nothing can be put (tier_set_why_closed()), it is what the units take, whatever the capacity.
 */
extern double tier_advice_available(const TierAdvice *advice, int tier, double capacity_bytes);

/*
 * Bytes that files of others have of the file systems of a tier as it is today, which a
 * smaller device would have to hold, too; less what they have taken of its reserve, for
 * nobody asks them to give that back.  0 for a tier that is limited to a part of its file
 * systems: they are on the rest.
 */
extern double tier_advice_taken(const TierAdvice *advice, int tier, const TierTier *today);

/*
 * Is it smaller than TIER_ADVICE_MIN_BYTES, and saves no more than
 * TIER_ADVICE_MIN_SAVED_S wherever it is?  It has to be in a tier.
 */
extern bool tier_advice_is_small(const TierAdvice *advice, const TierAdviceUnit *unit);

/* Why a tier takes no more of it, though it would be better there, in words after its name. */
extern const char *tier_advice_obstacle(const TierAdvice *advice, const TierAdviceUnit *unit,
										int tier);

/* Why it may not live there, in words after "it" ("is not ..."); NULL: it may. */
extern const char *tier_advice_why_not(const TierAdvice *advice,
									   const TierAdviceUnit *unit, int tier);

extern const char *tier_advice_confidence_text(TierConfidence confidence);

/* Why it should be where it should, with the numbers: what decides first. */
#define TIER_REASON_CHARACTERS 120

extern char *tier_advice_reason(const TierAdvice *advice, const TierAdviceUnit *unit,
								int most_characters);

/* A count or an amount as people say it: "4,100", "12", "0.3". */
extern char *tier_advice_number(double number);

/* What would make it firm, in one clause of at most 15 characters; NULL: it is. */
extern char *tier_advice_firm_when(const TierAdvice *advice, const TierAdviceUnit *unit);

/* "3 minutes", "5 hours", "12 days" */
extern char *tier_advice_duration(double seconds);

/* "3.2 GB" */
extern char *tier_advice_bytes(double bytes);

/* A price: "0.80", "12", "under 0.01". */
extern char *tier_advice_money(double money);

/* "12 March", or with the year if it is another one. */
extern char *tier_advice_date(TimestampTz at);

/* Has it mostly done what is taken for an event, not for a rate? */
extern bool tier_advice_is_event(const TierAdviceUnit *unit);

/* Since when it has not been used; 0: it was within a day, or that is not known. */
extern TimestampTz tier_advice_unused_since(const TierAdviceUnit *unit);

/* Of a decided advice: is there more on the tier than its limit of bytes allows? */
extern bool tier_advice_is_too_full(const TierAdvice *advice, int tier);

/* Or more of anything than any of its limits asks for? */
extern bool tier_advice_is_over(const TierAdvice *advice, int tier);

/*
 * What a decided advice would be if its units of too little observation had been observed for long
 * enough, by what the server's statistics know of the time before the first sample.  NULL: there
 * is no such unit.  Never to be carried out.
 */
extern TierAdvice *tier_advice_provisional(const TierAdvice *advice);

/*
 * Which of the two is said of a unit: `provisional`, which may be NULL, only where that sends
 * it to a faster tier and nothing else is advised.  That something was not used for so short a
 * time says nothing.
 */
extern const TierAdvice *tier_advice_shown(const TierAdvice *advice,
										   const TierAdvice *provisional, int unit);

/*
 * "3 moves are advised: 1 firm, 2 provisional"; of what is selected.  NULL: none is.  Adds to
 * *nprovisional how many are advised in `provisional` alone.
 */
extern char *tier_advice_moves_text(const TierAdvice *advice, const TierAdvice *provisional,
									int *nprovisional);

/* Tells in a NOTICE why nothing is advised, and what to do about it. */
extern void tier_advice_notice_empty(const TierAdvice *advice);

/*
 * Says whose uses are not seen, if anybody's.  relies_on_it: something that is said or advised
 * rests on it that something was not read, so that standbys count of which nothing is known.
 */
extern void tier_advice_notice_unseen(const TierAdvice *advice, bool relies_on_it);

/*
 * Tells in a NOTICE that what is asked about the whole rests on next to nothing: no
 * tier or only one, no relation, or none that has been observed for long enough.
 */
extern void tier_advice_notice_unknown(const TierAdvice *advice);

/* What the advice comes to, in one sentence: what is left out, and why. */
extern char *tier_advice_headline(const TierAdvice *advice);

/* The name of its relation, for a message. */
extern char *tier_advice_relation_name(const TierAdviceUnit *unit);

/*
 * Marks, on each tier that is too full, those that leave it first and are enough to make
 * the room: what loses least device time for each byte.
 */
extern void tier_advice_mark_room(TierAdvice *advice);

/*
 * How busy a device is, in per cent: "45%"; what none can be comes with the word that
 * it is the profile's doing: "640% (its profile is wrong)".
 */
extern char *tier_advice_busy_text(double occupied_s);

/* The same as a share, at most 1: no device is busier. */
extern double tier_advice_busy_fraction(double occupied_s);

/*
 * That nothing can be put on a tier; which limits it exceeds after the advice, by how much,
 * and what is in the way; and how much more of it would do.  In words after its name;
 * NULL: nothing of it.
 */
extern char *tier_advice_violation(const TierAdvice *advice, int tier);

/*
 * What is wrong with a tier as it is: busier than a device can be, so that its figures
 * are not those of the device, written to beyond its endurance, too full; then what
 * tier_advice_violation() says.  NULL: nothing.
 */
extern char *tier_advice_tier_remark(const TierAdvice *advice, int tier);

/* The same in NOTICEs, one for each tier, and what leaves first. */
extern void tier_advice_notice_tiers(const TierAdvice *advice);

/* By how many bytes a tier grows as things are. */
extern double tier_advice_growth_per_hour(const TierAdvice *advice, int tier);

/*
 * Days until nothing more fits on a tier, and until its reserve is reached, if nothing is
 * moved; INFINITY: never.
 */
extern double tier_advice_days_until_full(const TierAdvice *advice, int tier);
extern double tier_advice_days_until_reserve(const TierAdvice *advice, int tier);

/* The statement that does it, or NULL when there is nothing to do. */
extern char *tier_advice_command(const TierAdvice *advice, const TierAdviceUnit *unit);

#endif							/* TIER_ADVICE_H */
