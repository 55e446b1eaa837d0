/*-------------------------------------------------------------------------
 *
 * act/plan_state.h
 *		Declarations shared by the parts of tier_plan_make().  For these only:
 *
 *		plan_make.c			the plan, and what tiering policies ask for
 *		plan_entry.c		one entry: what it waits for
 *		plan_fullness.c		what fullness policies ask for
 *		plan_advice.c		what is advised
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PLAN_STATE_H
#define TIER_PLAN_STATE_H

#include "postgres.h"

#include "utils/hsearch.h"

#include "src/act/foresee.h"
#include "src/act/plan.h"
#include "src/base/left_out.h"
#include "src/decide/tier_fullness.h"

/* While the plan is made.  On the stack of tier_plan_make(). */
typedef struct TierPlanning
{
	const TierPlanOptions *options;
	TierPlan   *plan;
	int			room;			/* for entries */
	HTAB	   *listed;			/* by OID: each relation is tried once */
	const TierSet *set;
	const TierPins *pins;
	TierBackoff *backoff;		/* by OID: the relations that the worker
								 * leaves alone for now */
	int			nbackoff;
	TierForesight *foresight;
	const char *held_up;		/* why nothing at all begins; NULL: it may */
	List	   *begun;			/* OIDs of the relations that tiering policies
								 * would move now */
	List	   *returning;		/* the relations that policies bring back, now
								 * or later */
	List	   *in_vain;		/* the relations that policies cannot move */
	Bitmapset  *first;			/* tiers from which something goes first */
	bool		has_emptied;	/* tiers that are too full have had their turn */
	Bitmapset  *stuck;			/* and these have stayed so */
	int			emptied_begun;	/* length of `begun` after that */
	int			nforetold;		/* how often */
	TierPass	pass;			/* a relation that fails is left out of the
								 * plan */
	MemoryContext context;		/* of the plan */
} TierPlanning;

/* ---------------------------------------------------------------------
 * Entries
 * ---------------------------------------------------------------------
 */

/* The argument of the function that adds a move of a source. */
typedef struct TierPlanItem
{
	TierPlanning *planning;
	Oid			relation_oid;
	bool		answer;			/* of the function; false: it has failed */
	const TierPolicyCandidate *job; /* of tiering policies */
	const TierCandidate *candidate; /* of the advice */
	TierFullnessEvaluation *evaluation; /* of a fullness policy, */
	int			member;			/* whose member; */
	const char *closed;			/* why none leaves now; NULL: it may */
} TierPlanItem;

/*
 * Calls add(item), which adds an entry for the relation if that is possible.  One that fails is
 * not in the plan, and the others are.  Returns item->answer.
 */
extern bool tier_plan_add(TierPlanItem *item, void (*add) (void *item));

extern HTAB *tier_plan_create_list(void);

/*
 * A relation that was tried in this run is not listed again; in_vain: unless for another source.
 */
extern void tier_plan_add_tried(TierPlanning *planning, const List *oids, bool in_vain);
extern bool tier_plan_was_tried(const TierPlanning *planning, Oid relation_oid);

/*
 * An entry without the reason for which it waits.  NULL: the relation has gone, or has an entry
 * already, unless that is of a tiering policy that cannot move it: then that one is void.
 */
extern TierPlanEntry *tier_plan_begin_entry(TierPlanning *planning,
											const TierMoveRequest *request,
											TierPlanSource source, int to_tier,
											TierRelationInfo *info);

/* A tiering policy cannot move the relation, which has an entry. */
extern void tier_plan_set_in_vain(TierPlanning *planning, Oid relation_oid);

extern void tier_plan_set_waiting(TierPlanEntry *entry, const char *reason);

/*
 * Sets the state of the entry, unless it has failed recently, as of its turn.  Returns the
 * predicted result of a run; empty if the relation was not asked for.
 */
extern TierProspect tier_plan_judge(TierPlanning *planning, TierPlanEntry *entry,
									const TierMoveRequest *request,
									const TierRelationInfo *info);

/* Why an entry waits for another day; left_bytes: of this day, when its turn comes. */
extern char *tier_plan_limit_text(const TierPlanEntry *entry, double left_bytes);

/* Notes the tiers that are above the marks of their fullness policies after the last entry. */
extern void tier_plan_note_above(TierPlanning *planning);

/* ---------------------------------------------------------------------
 * Sources
 * ---------------------------------------------------------------------
 */

/* Adds the advised moves, as plan->request asks for. */
extern void tier_plan_add_advised(TierPlanning *planning);

/*
 * Adds the units that leave tiers that are too full after the moves foreseen so far.  Adds to
 * plan->emptied and plan->fullness.  Needs an active snapshot.
 */
extern void tier_plan_add_leaving(TierPlanning *planning);

#endif							/* TIER_PLAN_STATE_H */
