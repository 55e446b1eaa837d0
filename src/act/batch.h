/*-------------------------------------------------------------------------
 *
 * act/batch.h
 *		Moves that belong together: their number, and a line in the log at both ends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_BATCH_H
#define TIER_BATCH_H

#include "postgres.h"

/*
 * Begins a batch with its first move, and logs what it is about to move; `cause` is what
 * asks for it: "tiering policies".  Returns its number; 0: the extension has gone.  In a
 * transaction, outside of a scope; commits it.  A process has one batch at a time.
 */
extern int64 tier_batch_begin(const char *cause, int relations, double bytes);

/*
 * Logs what came of it; nothing for number 0.  A batch that ends by an error or a cancel
 * has that in the log instead.
 */
extern void tier_batch_end(int64 batch_id, const char *cause, int moved, int64 moved_bytes,
						   int not_moved, int waiting);

/*
 * ALTER EXTENSION does not wait for those who move.  What was updated meanwhile has another
 * library, and what this one would do to its tables is for nobody to say: so this is asked
 * between two moves of a series, and ends it when it says false, which is in the log of a
 * worker, and a warning for a person.  In a transaction, outside of a scope; commits it.
 */
extern bool tier_batch_may_go_on(bool by_worker);

#endif							/* TIER_BATCH_H */
