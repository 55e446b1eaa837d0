/*-------------------------------------------------------------------------
 *
 * observe/access_requests.c
 *		Assigning reads from devices to the misses of relations.
 *
 * Runs in every backend and parallel worker with a watched plan.  The kernel counts the reads
 * of the process from devices, for all relations together.  If one call of a node misses
 * blocks of two relations, as an index scan's first call mostly does, each relation gets a
 * share by its probability in the calls before.
 *
 * The probability is learned from calls that missed blocks of one relation only.  Device reads
 * for two relations do not tell their shares: learning from one's own guesses would preserve
 * the initial ones.  They do if the probability of the other relation is known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/observe/access_plan_private.h"

#define RELATION_SLOTS 256

/*
 * The share of recent misses that caused a request.  Old misses fade, because the cached
 * blocks change.
 */
typedef struct Learned
{
	float		misses;
	float		requests;
} Learned;

typedef struct RelationSlot
{
	Oid			relation_oid;
	Learned		alone;			/* in calls that missed nothing else */
	Learned		shared;			/* in shared calls, by the share that was
								 * likely then */
} RelationSlot;

#define REMEMBERED_MISSES 1024.0

/*
 * The share learned from calls shared with another relation is as uncertain as the other
 * relation's share, and depends on it.  So only this fraction of the misses in shared calls
 * counts.  (Simulated with shares of 0.05 to 0.9: with a tenth, an index whose every call also
 * misses a block of its table is estimated within 4 %, and two relations that are seldom alone
 * hardly worse than with none.)
 */
#define SHARED_WEIGHT 0.1

/* In misses and in requests, as that of the prior of Jeffreys (1946) for a share. */
#define PRIOR 0.5

static RelationSlot relation_slots[RELATION_SLOTS];

static RelationSlot *
slot_of(Oid relation_oid)
{
	RelationSlot *slot = &relation_slots[relation_oid % RELATION_SLOTS];

	if (slot->relation_oid != relation_oid)
	{
		memset(slot, 0, sizeof(*slot));
		slot->relation_oid = relation_oid;
	}
	return slot;
}

/*
 * That a miss causes a request, against that it does not.  known: misses from which that of
 * the others in the call is known.
 */
static double
odds_of(const RelationSlot *slot, double known)
{
	double		weight = Min(slot->shared.misses, SHARED_WEIGHT * known);
	double		misses = slot->alone.misses + weight;
	double		requests = slot->alone.requests;

	if (weight > 0.0)
		requests += weight * slot->shared.requests / slot->shared.misses;
	return (requests + PRIOR) / (Max(misses - requests, 0.0) + PRIOR);
}

static void
remember(Learned *learned, double misses, double requests)
{
	learned->misses += misses;
	learned->requests += Min(requests, misses);
	if (learned->misses > REMEMBERED_MISSES)
	{
		learned->misses /= 2.0;
		learned->requests /= 2.0;
	}
}

/* Of the other relations in a call: how much is known at least. */
static double
known_of_others(const CallMisses *calls, int ncalls, int self)
{
	double		known = REMEMBERED_MISSES;

	for (int i = 0; i < ncalls; i++)
		if (i != self && calls[i].misses > 0)
			known = Min(known, slot_of(calls[i].use->relation_oid)->alone.misses);
	return known;
}

double
tier_access_share_requests(const CallMisses *calls, int ncalls, int64 misses, double blocks,
						   double ahead)
{
	double		weights[MAX_RELATIONS_OF_CALL];
	double		all = 0.0;
	double		theirs = 0.0;
	int64		unknown = misses;

	for (int i = 0; i < ncalls; i++)
		unknown -= calls[i].misses;
	for (int i = 0; i < ncalls; i++)
	{
		double		known = unknown > 0 ? 0.0 : known_of_others(calls, ncalls, i);

		weights[i] = calls[i].misses * odds_of(slot_of(calls[i].use->relation_oid), known);
		all += weights[i];
	}
	all += unknown;				/* as likely as not */

	for (int i = 0; i < ncalls; i++)
	{
		RelationUse *use = calls[i].use;
		RelationSlot *slot = slot_of(use->relation_oid);
		int64		own = calls[i].misses;
		double		others = misses - own;
		double		odds = 1.0;
		TierSplitRequests requests;

		if (own <= 0)
			continue;
		if (others > 0.0 && all > weights[i])
			odds = weights[i] / own * others / (all - weights[i]);
		requests = tier_split_bound_requests(own, misses, blocks, 0.0, odds);
		requests.ahead = ahead * (weights[i] / all);
		tier_split_add_requests(&use->requests, &requests, 1.0);
		use->watched += own;
		theirs += requests.mid + requests.ahead;
		remember(others > 0.0 ? &slot->shared : &slot->alone, own, requests.mid);
	}
	return theirs;
}
