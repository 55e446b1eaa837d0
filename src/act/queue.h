/*-------------------------------------------------------------------------
 *
 * act/queue.h
 *		All that wants to move, in the order in which it will be tried.
 *
 * The queue is not stored.  What wants to move follows from policies and advice, what
 * runs and what has failed from the record of moves, and what it waits for from the
 * gate (gate.h) and the mover's own checks (move/preflight.h): the same that is asked
 * before each move.  So it is what it was after a crash, nothing in it is ever stuck or
 * stale, and a relation that is dropped is not in it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_QUEUE_H
#define TIER_QUEUE_H

#include "postgres.h"

#include "src/catalog/tables.h"

typedef enum TierQueueState
{
	TIER_QUEUE_RUNNING,
	TIER_QUEUE_READY,			/* the next run of the worker moves it */
	TIER_QUEUE_WAITING,			/* it would not begin now */
	TIER_QUEUE_FAILED,			/* it was tried, and will be again later */
} TierQueueState;

typedef enum TierQueueCause
{
	TIER_CAUSE_TIERING,			/* of a tiering policy */
	TIER_CAUSE_FULLNESS,
	TIER_CAUSE_ADVICE,
	TIER_CAUSE_REQUEST,			/* somebody has called for it */
} TierQueueCause;

typedef struct TierQueueEntry
{
	Oid			relation_oid;
	Oid			from_tablespace_oid;
	Oid			to_tablespace_oid;	/* 0: the tier has none that can be used */
	int			from_tier;		/* indexes into the set; -1: none */
	int			to_tier;
	double		bytes;
	TierQueueCause cause;
	int			policy_id;		/* 0: none */
	TierQueueState state;
	const char *reason;			/* why it is in this state */
	int			failures;		/* tries in a row */
	TimestampTz next_attempt_at;	/* of FAILED; else 0 */
	const char *last_error;		/* NULL: none */
} TierQueueEntry;

typedef struct TierQueue
{
	const TierSet *set;
	TierQueueEntry *entries;
	int			n;
} TierQueue;

/*
 * Outside of a scope, with an active snapshot; changes nothing and locks nothing of a
 * user.  In the current memory context.
 */
extern TierQueue tier_queue_load(void);

#endif							/* TIER_QUEUE_H */
