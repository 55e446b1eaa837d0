/*-------------------------------------------------------------------------
 *
 * act/fullness_foretell.h
 *		What a run of fullness policies would do, without moving.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACT_FULLNESS_FORETELL_H
#define TIER_ACT_FULLNESS_FORETELL_H

#include "postgres.h"

#include "src/act/foresee.h"
#include "src/act/fullness.h"

/*
 * What is told of relations that would leave, in the order of a run: member i of the evaluation.
 * Why it does not leave now, for a reason that holds for all of them: `closed`; else NULL, and
 * the answer is whether it leaves, now or when what it waits for is over: then what comes next is
 * judged by how full the tier is without it.
 */
typedef bool (*TierFullnessTell) (void *argument, const TierFullnessEvaluation *evaluation, int i,
								  const char *closed);

/*
 * What the run would do after the moves that were foreseen already; changes nothing.  Needs an
 * active snapshot.  First of all those that would leave but for run->backoff,
 * which counts for nothing.
 */
extern TierFullnessSummary tier_fullness_foretell(const TierFullnessRun *run,
												  TierForesight *foresight,
												  TierFullnessTell tell, void *argument);

#endif							/* TIER_ACT_FULLNESS_FORETELL_H */
