/*-------------------------------------------------------------------------
 *
 * observe/access_plan_private.h
 *		The state of one watched plan, shared by the files that process it.
 *
 * access_relations.c walks the plan before it runs, and lists the relations that it will read
 * (uses) and the nodes to measure (measures).  access_plan.c counts around each run, and
 * measures the nodes.  access_report.c splits the reads into random and sequential ones when
 * the plan has ended, and passes them on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACCESS_PLAN_PRIVATE_H
#define TIER_ACCESS_PLAN_PRIVATE_H

#include "postgres.h"

#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "src/compat.h"
#include "src/model/split.h"

/* Plans with no more than this need no memory of their own. */
#define INLINE_USES 12
#define INLINE_MEASURES 8

/* Of one bitmap scan: the table, and as many indexes; further ones count as random. */
#define MAX_MEASURES_OF_NODE 4

/* The relations whose misses in a call of a node are known: those, a TOAST table and its index. */
#define MAX_RELATIONS_OF_CALL (MAX_MEASURES_OF_NODE + 2)

#define ORDER_BIT(order) (1 << (order))
#define NO_USE (-1)

/*
 * One relation in a plan.  access_relations.c sets the fields up to correlation before the
 * plan runs; for partitions that rows are routed to, while it runs.  access_plan.c counts the
 * rest.
 */
typedef struct RelationUse
{
	Oid			relation_oid;
	Relation	rel;			/* open as long as the plan is, or NULL; not
								 * looked at when it has ended */
	Oid			tablespace_oid; /* InvalidOid: of one that is not open */
	int			next;			/* in the same bucket, NO_USE: none; means
								 * nothing without buckets */
	int			orders;			/* ORDER_BIT of all orders it is read in */
	bool		is_changed;		/* blocks may be added to it */
	bool		is_late;		/* added after the plan began to run: `own` is
								 * inferred */
	bool		is_foreign_method;	/* its access method is an extension's */

	int			table_use;		/* INDEX: the table it leads to, or NO_USE */
	int			index_use;		/* VALUES: the index of the TOAST table; GAPS:
								 * one that is scanned once for each pass over
								 * the table; or NO_USE */
	int			toast_use;		/* of a table whose values are read: its TOAST
								 * table, or NO_USE */
	double		pages;			/* 0: unknown */
	double		correlation;	/* of an index */

	/*
	 * The counters when counting last began, continued or stopped, and the
	 * counts until then.  Complete while the plan is not the current one.
	 */
	TierCompatBlockCounts base;
	TierCompatBlockCounts own;
	int64		measured_fetched;	/* of own, what its nodes have */
	int64		measured_hit;

	/*
	 * Own misses in calls of nodes for which the reads counted by the kernel
	 * were compared, and how many of these caused a request; and the number
	 * of own misses considered so far, compared or not.
	 */
	int64		watched;
	int64		looked_at;
	TierSplitRequests requests;
	double		sequential;		/* of own misses; set by access_report.c when
								 * the plan has ended */
} RelationUse;

/* The misses of one relation in one call of a node. */
typedef struct CallMisses
{
	RelationUse *use;
	int64		misses;
} CallMisses;

/* The reads of one relation by one node. */
typedef struct NodeMeasure
{
	PlanState  *node;
	ExecProcNodeMtd real;		/* what measure_node() stands for; set when
								 * all measures are known, as is is_mixed */
	int			use;
	TierSplitOrder order;
	bool		is_mixed;		/* other nodes read it in another order */
	int64		fetched;		/* counted if is_mixed */
	int64		hit;
	double		read_ahead;		/* GAPS, of the first of the node: blocks that
								 * came from devices before they were missed */
} NodeMeasure;

/*
 * One watched execution.  Belongs to its process alone, so there is no lock.
 * Set up by tier_access_plan_watch(); lives until the memory of the execution
 * goes, which calls back and has it reported.
 */
struct TierAccessPlan
{
	/* Identity: does not change while it is watched. */
	MemoryContextCallback callback;
	struct TierAccessPlan *next_spare;	/* in the list of spare ones only */
	EState	   *estate;
	int64		query_id;		/* 0: none */
	double		weight;			/* each of its reads counts so often */
	bool		ignored;		/* its reads are not use */
	bool		has_changes;	/* rows are changed: partitions may come late */
	bool		is_parallel;	/* the counts of its workers will be added to
								 * pgBufferUsage */

	/* How far it is. */
	struct TierAccessPlan *outer;	/* while it runs: what ran before */
	bool		has_run;		/* else there is nothing to report */
	bool		is_done;		/* reported, or not to be watched: counting
								 * has ended */

	/* Reads: see above. */
	int			nuses;
	int			max_uses;
	RelationUse *uses;
	int		   *buckets;		/* as many as max_uses, first use of each;
								 * NULL: the few are searched one by one */
	int			nmeasures;
	int			max_measures;
	NodeMeasure *measures;		/* ordered by node, when all are known */
	int			last_measure;	/* the node that was asked for last */
	int			nrouted;		/* partitions known so far */

	/* As of the moment when counting last began, went on or stopped. */
	int64		read_base;		/* blocks of all relations, as of base */
	int64		hit_base;
	int64		temp_base;
	int64		device_base;	/* read by this process from devices, bytes */
	bool		has_paused;		/* it has stopped at least once */
	int64		requests_at_pause;	/* see all_requests(); if has_paused */
	int64		requests_at_resume;

	/* Sums of all the times that it was counted. */
	int64		device_bytes;	/* read from devices */
	int64		all_misses;		/* blocks of any relation, if !is_parallel */
	int64		temp_blocks;	/* read from temporary files */
	int64		watched_misses; /* of all_misses, those in calls of nodes for
								 * each of which the kernel was asked */
	double		watched_blocks; /* that came from devices in these */

	/* Not zeroed: only what uses and measures point at has a meaning. */
	RelationUse inline_uses[INLINE_USES];
	NodeMeasure inline_measures[INLINE_MEASURES];
};

/* ---------------------------------------------------------------------
 * access_relations.c: which relations a plan reads, and in which order
 * ---------------------------------------------------------------------
 */

/* Fills in uses and measures of a plan that was started and has not yet run. */
extern void tier_access_relations_find(struct TierAccessPlan *plan, PlanState *root);

/*
 * A table that is locked, its TOAST table and the index of that, as far as they are there; 0: it
 * is not observed.  Looks into catalogs.
 */
extern int	tier_access_relations_of_table(Oid relation_oid, Oid relation_oids[3]);

/*
 * Adds a table whose rows are changed, if it is observed, with its TOAST table
 * and, where they have to take in entries, its indexes.  May look into catalogs.
 */
extern void tier_access_relations_add_result(struct TierAccessPlan *plan, Relation rel,
											 bool with_indexes);

/*---------------------------------------------------------------------
 * access_requests.c: assigning reads from devices to the misses of relations
 *---------------------------------------------------------------------
 */

/*
 * A call of a node has missed so many blocks, those of at most MAX_RELATIONS_OF_CALL relations
 * among them, and so many were read from devices for it, and so many of them ahead of its
 * misses.  Adds to `requests` and `watched` of these, and returns how many of the blocks were
 * theirs.  No error, no memory, no catalog.
 */
extern double tier_access_share_requests(const CallMisses *calls, int ncalls, int64 misses,
										 double blocks, double ahead);

/*---------------------------------------------------------------------
 * access_report.c: its random and sequential reads
 *---------------------------------------------------------------------
 */

/*
 * Passes the reads of the plan to tier_access_counts.  Looks at numbers only: the relations
 * may be closed already.  No error, no memory.
 */
extern void tier_access_report(struct TierAccessPlan *plan);

#endif							/* TIER_ACCESS_PLAN_PRIVATE_H */
