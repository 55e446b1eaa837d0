/*-------------------------------------------------------------------------
 *
 * act/plan_notice.h
 *		Reports to a session the moves of the advice, and those that are left out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PLAN_NOTICE_H
#define TIER_PLAN_NOTICE_H

#include "postgres.h"

#include "src/act/plan.h"

/*
 * Reports to a session why the advice has nothing to do, which moves are left out and why, and
 * which devices wear out.  A dry run also lists advised moves that the rights in force do not
 * permit, or that need a lock which was not asked for.  Sets is_told of plan->applied.
 */
extern void tier_apply_tell(TierPlan *plan, bool is_dry_run);

/* Raises the error that another session has a batch under way. */
extern void tier_apply_raise_busy(void);

/* Reports the result to a session, in a NOTICE; an error if another batch was under way. */
extern void tier_apply_report(const TierApplySummary *summary);

/* The same for a dry run. */
extern void tier_apply_report_dry_run(const TierApplySummary *summary);

/* For ereport: how much is advised that may not be moved; nothing, if nothing is. */
extern int	tier_apply_others_detail(const TierApplySummary *summary);

#endif							/* TIER_PLAN_NOTICE_H */
