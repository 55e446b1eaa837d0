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

#include "src/decide/units.h"

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

/* Why it may not live there, in words after "it" ("is not ..."); NULL: it may. */
extern const char *tier_advice_why_not(const TierAdvice *advice, const TierAdviceUnit *unit, int tier);

extern const char *tier_advice_confidence_text(TierConfidence confidence);

/* One sentence with the numbers in it, for where it should be. */
extern char *tier_advice_reason(const TierAdvice *advice, const TierAdviceUnit *unit);

/* The statement that does it, or NULL when there is nothing to do. */
extern char *tier_advice_command(const TierAdvice *advice, const TierAdviceUnit *unit);

#endif							/* TIER_ADVICE_H */
