/*-------------------------------------------------------------------------
 *
 * act/emptying.h
 *		Steps of emptying a tier, which a run and its forecast take alike.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACT_EMPTYING_H
#define TIER_ACT_EMPTYING_H

#include "postgres.h"

#include "src/act/move.h"
#include "src/decide/fullness.h"

/* Is something to leave its tier, whose turn it is? */
extern bool tier_emptying_has_turn(const TierFullnessQuestion *question,
								   const TierFullnessEvaluation *evaluation);

/* The coldest of those that leave; -1: none. */
extern int	tier_emptying_next(const TierFullnessResult *result);

/*
 * Does unit i take no more than the room that there is, with the files that it has by now?  The
 * unit is as large as these from then on.
 */
extern bool tier_emptying_fits(TierFullnessEvaluation *evaluation, const TierSet *set, int i,
							   const TierRelationInfo *info);

/* How much its moves press: until the tier is below its high watermark, with what will come. */
extern TierPressing tier_emptying_pressing(const TierFullnessEvaluation *evaluation);

/* The move of member i of the evaluation, without its batch; in the current memory context. */
extern TierMoveRequest tier_emptying_request(const TierFullnessEvaluation *evaluation, int i);

/* As if the unit, or a sum of units, had left; not of the room in tablespaces. */
extern void tier_emptying_take_away(TierFullnessProblem *problem, const TierFullnessUnit *unit);

/* Unit i leaves no more, in this run, and it is decided again what does. */
extern void tier_emptying_set_aside(TierFullnessEvaluation *evaluation, int i, const char *why);

#endif							/* TIER_ACT_EMPTYING_H */
