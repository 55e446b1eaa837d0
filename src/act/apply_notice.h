/*-------------------------------------------------------------------------
 *
 * act/apply_notice.h
 *		What a person is told of what the advice asks for, and of what is left out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_APPLY_NOTICE_H
#define TIER_APPLY_NOTICE_H

#include "postgres.h"

#include "src/act/apply_candidates.h"

/* Of what is not moved, why; for a person or a log. */
extern void tier_apply_tell_left(const TierAdvice *advice, const TierCandidate *candidates,
								 const TierArrangement *arrangement, bool by_worker);

/* For a person; what is tried again is no news in a log. */
extern void tier_apply_tell_tried_again(const TierMoveReport *report, bool by_worker);

/*
 * What a person has to know of what is left out; nothing, if nothing is.  The surest
 * of what is not sure enough says what to ask for.
 */
extern void tier_apply_tell_unsure(const TierApplyRequest *request, const TierAdvice *advice,
								   TierApplySummary *summary);

/* Why there is nothing to do.  Not for a worker, to whom that is nothing new. */
extern void tier_apply_tell_nothing(const TierApplyRequest *request, const TierAdvice *advice,
									TierApplySummary *summary);

/*
 * That it goes to what wears out, of the first n.  What a person asks for is done, but not in
 * silence.
 */
extern void tier_apply_tell_wear(const TierApplyRequest *request, const TierAdvice *advice,
								 const TierCandidate *candidates, int n);

/*
 * What is advised, but not with the rights that count, or only under a lock that nobody has
 * asked for: a dry run lists it, too.
 */
extern void tier_apply_tell_others(const TierApplyRequest *request, const TierAdvice *advice);

/* Raises the error that another session has a batch under way. */
extern void tier_apply_raise_busy(void);

/* What became of it, for a person, in a NOTICE; an error if it was busy. */
extern void tier_apply_report(const TierApplySummary *summary);

/* The same for a dry run. */
extern void tier_apply_report_dry_run(const TierApplySummary *summary);

/* For ereport: how much is advised that may not be moved; nothing, if nothing is. */
extern int	tier_apply_others_detail(const TierApplySummary *summary);

#endif							/* TIER_APPLY_NOTICE_H */
