/*-------------------------------------------------------------------------
 *
 * observe/access_plan.h
 *		The reads of one running plan, by relation.
 *
 * The watch of a plan lives as long as the memory context of its execution.  When that is
 * deleted, after success or an error, the reads are passed to tier_access_counts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACCESS_PLAN_H
#define TIER_ACCESS_PLAN_H

#include "postgres.h"

#include "executor/execdesc.h"

typedef struct TierAccessPlan TierAccessPlan;

/*
 * The number of watched executions in this process, from tier_access_plan_watch() until their
 * memory is freed.  If it is 0, as mostly, no function below need be called.
 */
extern int	tier_access_plans_watched;

/*
 * Watches a plan that was started and has not yet run; nothing if it has no
 * relation that is observed.  Each of its reads counts 1 / probability times.
 * `ignored`: its reads are not use.
 */
extern void tier_access_plan_watch(QueryDesc *query, double probability, bool ignored);

/* The watch of this execution, or NULL. */
extern TierAccessPlan *tier_access_plan_find(EState *estate);

/* Returns true if a watched plan is running at this moment. */
extern bool tier_access_plan_is_running(void);

/*
 * Called around each run.  From enter to leave, reads belong to `plan` (NULL: to no plan) and
 * not to the outer plan; leave returns to the outer plan, which enter has returned.  After an
 * error, leave ends the watch and allocates nothing.
 */
extern TierAccessPlan *tier_access_plan_enter(TierAccessPlan *plan);
extern void tier_access_plan_leave(TierAccessPlan *plan, TierAccessPlan *outer, bool failed);

/* Ends all watches that run, because the process ends. */
extern void tier_access_plan_abandon(void);

#endif							/* TIER_ACCESS_PLAN_H */
