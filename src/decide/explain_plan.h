/*-------------------------------------------------------------------------
 *
 * decide/explain_plan.h
 *		The reads of each relation by a plan, node by node.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_EXPLAIN_PLAN_H
#define TIER_EXPLAIN_PLAN_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "src/base/sql.h"

/*
 * A statement that is explained: the notes on its plan, and on the process around its execution.
 */
typedef struct TierExplained
{
	MemoryContext context;
	MemoryContextCallback callback;
	List	   *noted;			/* of IndexReads * */
	void	   *planned;		/* its PlannerGlobal, to compare; NULL: not
								 * yet */
	double		misses;			/* these four by tier_explain_count() */
	double		device_blocks;
	double		waits;
	double		elapsed_ms;
	PlanState  *top;			/* while EXPLAIN is answered */
	List	   *shown;			/* of char **: that answer, by row */
	TierResultRow row;			/* to put */
	bool		executed;
	bool		is_measured;	/* the reads of devices, for all rows so far */
	double		share;			/* device reads for a miss; -1: not known */
	int64		twice;			/* misses counted both for an InitPlan and for
								 * the node that asked for it first */
} TierExplained;

/* The statement that receives notes on planned paths; NULL: none. */
extern TierExplained *tier_explained;

/* Another one, in the current memory context: until that ends, at the latest. */
extern TierExplained *tier_explain_begin(void);

/*
 * Counts the reads of this process: blocks missed in shared buffers, bytes read from devices,
 * waits, and the time.  At the beginning of the statement it stores the totals, at its end the
 * differences.
 */
extern void tier_explain_count(TierExplained *explained, bool ended);

/*
 * Puts a row for each relation that each node of a plan reads: plan_node_id, name of the node,
 * relation and tablespace (0: not known), blocks at random and in sequence, scans in sequence,
 * how many blocks devices have read for each of these and how often the process has waited (null:
 * not measured).  The plan has been started; ->row and ->executed are set, and if so, it was
 * counted.
 */
extern void tier_explain_put(TierExplained *explained, PlanState *top);

/* Adds the option TIERS to EXPLAIN, where the server lets extensions; from _PG_init. */
extern void tier_explain_init(void);

#endif							/* TIER_EXPLAIN_PLAN_H */
