/*-------------------------------------------------------------------------
 *
 * citus/ask.h
 *		Runs a command on nodes of Citus, for a bounded time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CITUS_ASK_H
#define TIER_CITUS_ASK_H

#include "postgres.h"

/* A node, and its answer. */
typedef struct TierCitusNode
{
	int32		id;				/* pg_dist_node.nodeid; 0: a coordinator that
								 * is not listed there */
	char	   *name;
	int32		port;
	bool		is_active;		/* false: Citus has disabled it */
	bool		succeeded;		/* set by tier_citus_ask(), as is the answer */
	const char *answer;			/* the first column of the first row, or the
								 * error */
} TierCitusNode;

/*
 * How long to wait for a node to connect, and again to answer.  Nodes that work answer within
 * milliseconds, and a user who waits for several that do not has not lost patience by then.
 */
extern int	tier_citus_test_node_timeout_ms;

/*
 * Runs the command on the nodes as the current role, and sets `succeeded` and `answer` of each
 * of them, in the current memory context.  A node that does not answer in time
 * fails.  one_by_one: the nodes run it one after the other; otherwise at the same time.  Raises
 * an error if the caller may not run commands on nodes, or cancels.
 */
extern void tier_citus_ask(TierCitusNode *nodes, int n, const char *command, bool one_by_one);

#endif							/* TIER_CITUS_ASK_H */
