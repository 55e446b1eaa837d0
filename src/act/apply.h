/*-------------------------------------------------------------------------
 *
 * act/apply.h
 *		From advice to moves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_APPLY_H
#define TIER_APPLY_H

#include "postgres.h"

#include "storage/lock.h"

#include "src/act/apply_request.h"
#include "src/act/foresee.h"
#include "src/act/move.h"

/*
 * Does what the advice says, as one batch, in an order that always has room; in
 * a database one batch at a time.  The caller has made sure of the claims, and
 * that the extension is there; else as tier_move_one.
 */
extern TierApplySummary tier_apply_run(const TierApplyRequest *request);

/*
 * Takes the lock that lets one batch at a time run in this database; false when
 * another session has it.  It is the session's, outlives transactions, and is to
 * be released with LockRelease(tag, ExclusiveLock, true).
 */
extern bool tier_apply_lock(LOCKTAG *tag);

/* Raises the error that another session has it. */
extern void tier_apply_raise_busy(void);

/* What became of it, for a person, in a NOTICE; an error if it was busy. */
extern void tier_apply_report(const TierApplySummary *summary);

/* For ereport: how much is advised that may not be moved; nothing, if nothing is. */
extern int	tier_apply_others_detail(const TierApplySummary *summary);

#endif							/* TIER_APPLY_H */
