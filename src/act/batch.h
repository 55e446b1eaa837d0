/*-------------------------------------------------------------------------
 *
 * act/batch.h
 *		Moves that belong together: their number, and the locks of those who make them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_BATCH_H
#define TIER_BATCH_H

#include "postgres.h"

#include "storage/lock.h"

#include "src/act/move.h"

/* A run has one for each cause: tiering policies, fullness policies, advice. */
#define TIER_MOST_BATCHES 3

/*
 * Calls body(argument), in which batches may begin, and ends these, however body() ends: by an
 * error or a cancel, too.  An error also releases files that were registered ahead.
 */
extern void tier_batch_run(void (*body) (void *argument), void *argument);

/*
 * Begins a batch with its first move, and returns its number; 0: the extension has gone.  In a
 * transaction, outside of a scope; commits it.  Within tier_batch_run().
 */
extern int64 tier_batch_begin(void);

/*
 * Returns true if a process of this server still runs the batch.  A batch without any record may
 * be about to begin.  Records that are read after this has returned false are complete.
 */
extern bool tier_batch_is_under_way(int64 batch_id);

/*
 * ALTER EXTENSION does not wait for movers.  An extension that was updated during a series has
 * another library, and the effect of the old library on the new tables is undefined.  So this is
 * called between two moves of a series, which ends if it returns false.  A worker reports that in
 * the log, a session with a warning.  In a transaction, outside of a scope; commits it.
 */
extern bool tier_batch_may_go_on(bool by_worker);

/*
 * For a worker, between two moves: returns true if auto_migrate has ceased to ask for the series.
 * least: the lowest of its values that does.
 */
extern bool tier_batch_is_switched_off(int least);

/*
 * The policies that asked for moves of a batch and are still enabled, *n of them:
 * "1, 2", in the current memory context; NULL: none.  They are of one kind.
 */
extern char *tier_batch_policies(int64 batch_id, int *n, TierPolicyKind *kind);

/*
 * Takes the lock that lets one batch of advice, or one that undoes another, run at a time in this
 * database; false when another session has it.  It is the session's, outlives transactions, and
 * is to be released with LockRelease(tag, ExclusiveLock, true).
 */
extern bool tier_batch_lock_alone(LOCKTAG *tag);

#endif							/* TIER_BATCH_H */
