/*-------------------------------------------------------------------------
 *
 * act/plan_notice.h
 *		What a person is told of what the advice asks for, and of what is left out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PLAN_NOTICE_H
#define TIER_PLAN_NOTICE_H

#include "postgres.h"

#include "src/act/plan.h"

/*
 * Of a plan what a person has to know of the advice: why there is nothing to do, what is left out
 * and why, and what wears out.  A dry run lists also what is advised, but not with the rights that
 * count, or only under a lock that nobody has asked for.  Sets is_told of plan->applied.
 */
extern void tier_apply_tell(TierPlan *plan, bool is_dry_run);

/* For a person; what is tried again is no news in a log. */
extern void tier_apply_tell_tried_again(const TierMoveReport *report, bool by_worker);

/* Raises the error that another session has a batch under way. */
extern void tier_apply_raise_busy(void);

/* What became of it, for a person, in a NOTICE; an error if it was busy. */
extern void tier_apply_report(const TierApplySummary *summary);

/* The same for a dry run. */
extern void tier_apply_report_dry_run(const TierApplySummary *summary);

/* For ereport: how much is advised that may not be moved; nothing, if nothing is. */
extern int	tier_apply_others_detail(const TierApplySummary *summary);

#endif							/* TIER_PLAN_NOTICE_H */
