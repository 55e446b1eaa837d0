/*-------------------------------------------------------------------------
 *
 * model/correction.h
 *		By which factors a device differs from its profile, learned from what
 *		was measured after moves.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CORRECTION_H
#define TIER_CORRECTION_H

#include "src/model/cost.h"
#include "src/model/effect.h"

/* No factor is further from 1 than these. */
#define TIER_CORRECTION_LEAST 0.5
#define TIER_CORRECTION_MOST 2.0

/*
 * The factors of a tier from n measurements of what its devices did and in what time.  They
 * are compared with the figures of the profile as they are now, without the correction
 * that it may have: so what was learned before is never learned again, and a profile
 * that is calibrated, or set to what was measured, is corrected by nothing.  Each
 * factor is 1 where there is no evidence, and near to 1 where there is little.
 */
extern TierCostCorrection tier_correction_learn(const TierEffectParts *measured, int n,
												const TierCostProfile *profile);

#endif							/* TIER_CORRECTION_H */
