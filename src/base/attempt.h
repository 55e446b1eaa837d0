/*-------------------------------------------------------------------------
 *
 * base/attempt.h
 *		Doing what may fail, and going on afterwards.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ATTEMPT_H
#define TIER_ATTEMPT_H

#include "postgres.h"

/*
 * Takes the error that is being handled: in a PG_CATCH that does not throw it
 * on, instead of CopyErrorData() and FlushErrorState().  In the current memory
 * context, which must not be ErrorContext.  The transaction remains to be
 * rolled back.
 */
extern ErrorData *tier_attempt_take_error(void);

/*
 * Runs a step in a subtransaction of its own, undone as a whole when the step
 * fails; subtransactions that the step has left open, too.  Returns what was
 * thrown, a cancel included, in the current memory context, or NULL.  Memory
 * context and resource owner are afterwards what they were.
 */
extern ErrorData *tier_attempt(void (*step) (void *argument), void *argument);

#endif							/* TIER_ATTEMPT_H */
