/*-------------------------------------------------------------------------
 *
 * observe/access_plan.h
 *		What one running plan reads of each of its relations.
 *
 * A plan that is watched lives as long as the memory of its execution; when that
 * goes, however it ends, what it has read is passed to tier_access_counts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACCESS_PLAN_H
#define TIER_ACCESS_PLAN_H

#include "postgres.h"

#include "executor/execdesc.h"

typedef struct TierAccessPlan TierAccessPlan;

/*
 * Executions of this process that are watched, from tier_access_plan_watch() until
 * their memory goes.  Mostly none, and then nothing below need be called.
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

/* Is a watched plan running at this moment? */
extern bool tier_access_plan_is_running(void);

/*
 * Around each run.  From enter to leave what is read belongs to `plan` (NULL:
 * to nobody) and not to the one that was running; leave goes back to that one,
 * which enter has returned.  After an error, leave ends the watch and
 * allocates nothing.
 */
extern TierAccessPlan *tier_access_plan_enter(TierAccessPlan *plan);
extern void tier_access_plan_leave(TierAccessPlan *plan, TierAccessPlan *outer, bool failed);

/* Ends all watches that run, because the process ends. */
extern void tier_access_plan_abandon(void);

#endif							/* TIER_ACCESS_PLAN_H */
