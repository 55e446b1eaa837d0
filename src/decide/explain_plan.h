/*-------------------------------------------------------------------------
 *
 * decide/explain_plan.h
 *		What a plan reads of each relation, node by node.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_EXPLAIN_PLAN_H
#define TIER_EXPLAIN_PLAN_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "src/base/sql.h"

/* A statement that is explained: what is noted of it, and of the process since it began. */
typedef struct TierExplained
{
	MemoryContext context;
	MemoryContextCallback callback;
	List	   *noted;			/* of IndexReads * */
	double		device_blocks;	/* that the kernel has read for us */
	int64		misses;
	PlanState  *top;			/* while EXPLAIN is answered */
	List	   *shown;			/* of char **: that answer, by row */
} TierExplained;

/* What is put of a plan. */
typedef struct TierPut
{
	TierResultRow row;
	const TierExplained *explained;
	bool		executed;
	double		share;			/* of the misses came from devices; -1: not
								 * known */
	bool		is_measured;	/* for all rows */
	int64		twice;			/* misses that an InitPlan and who asked for
								 * it first both have */
} TierPut;

/* What is planned is noted for this one; NULL: for none. */
extern TierExplained *tier_explained;

/* Another one, in the current memory context: until that ends, at the latest. */
extern TierExplained *tier_explain_begin(void);

/*
 * Puts a row for each relation that each node of a plan reads: plan_node_id, name of the node,
 * relation and tablespace (0: not known), blocks at random and in sequence, scans in sequence,
 * the share of the blocks that came from devices (null: not measured).  The plan has been started;
 * put->explained, ->executed and ->is_measured (true) are set.
 */
extern void tier_explain_put(TierPut *put, PlanState *top);

/* Adds the option TIERS to EXPLAIN, where the server lets extensions; from _PG_init. */
extern void tier_explain_init(void);

#endif							/* TIER_EXPLAIN_PLAN_H */
