/*-------------------------------------------------------------------------
 *
 * act/migrate.h
 *		Doing what the policies ask for, and what is advised.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MIGRATE_H
#define TIER_MIGRATE_H

#include "postgres.h"

#include "src/act/apply.h"
#include "src/act/fullness.h"
#include "src/act/move.h"
#include "src/catalog/tables.h"
#include "src/decide/partition.h"
#include "src/move/online.h"

/*
 * The policies that asked for moves of a batch and are still enabled, *n of them:
 * "1, 2", in the current memory context; NULL: none.  They are of one kind.
 */
extern char *tier_migrate_policies_of(int64 batch_id, int *n, TierPolicyKind *kind);

/* Counts of one run. */
typedef struct TierMigrateSummary
{
	int			due;			/* partitions */
	int			due_relations;	/* of these, with their indexes */
	double		due_bytes;		/* of all files */
	TierMoveCounts counts;		/* waiting: due, but not now */
	int			no_longer_due;	/* by the time that they could begin; in no
								 * other count */
	int64		batch_id;		/* of these moves; 0: none was begun */
	int			policies;
	int			disabled;		/* of them */
	int			failed;			/* of them: could not be evaluated */
	int			partitions;		/* that were looked at */
	char	   *why_waiting;	/* of the first of them, or of what is
								 * advised, in the memory context of the
								 * caller; NULL: nothing waits */
	TierFullnessSummary emptied;	/* of fullness policies; not in the above */
	bool		placement;		/* auto_migrate says so, and
								 * move_limit_per_day is not used up */
	bool		placement_waits;	/* if so: nothing of it may begin now, for
									 * what is in applied.why_waiting */
	TierApplySummary applied;	/* not in the above; its why_waiting is in the
								 * memory context of the caller */
} TierMigrateSummary;

/*
 * What CALL migrate() and the worker do: evaluates all policies, stores the plan
 * (act/plan.h) and carries it out: moves what is due; then what has to leave tiers that are
 * too full; then, with auto_migrate = placement, what the advice is sure of.  by_worker
 * limits lock times, respects backoff, and returns without an error when the
 * extension has gone.  Nothing begins while all move windows are closed, unless
 * ignore_windows says so.  What idle (may be NULL) says is done between moves and during
 * them.  Else as tier_move_one.
 */
extern TierMigrateSummary tier_migrate_run(bool by_worker, bool ignore_windows,
										   const TierIdle *idle);

/* Prints the plan, and changes nothing. */
extern TierMigrateSummary tier_migrate_dry_run(bool ignore_windows);

/* Of a worker that moves nothing now: only stores the plan.  In a transaction. */
extern void tier_migrate_plan(void);

#endif							/* TIER_MIGRATE_H */
