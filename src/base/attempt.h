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
 * Takes the error that is being handled, in a PG_CATCH that does not rethrow it;
 * instead of CopyErrorData() and FlushErrorState().  The copy lives in the current
 * memory context, which must not be ErrorContext.  The transaction remains to be
 * rolled back by the caller.
 */
extern ErrorData *tier_attempt_take_error(void);

/*
 * Runs a step in a subtransaction of its own.  When the step fails, that is undone
 * as a whole, with subtransactions that the step has left open.  Returns what was
 * thrown, a cancel included, in the memory context that is current at the call
 * (not ErrorContext), or NULL.  Memory context and resource owner are afterwards
 * what they were.  A FATAL error is not caught.
 */
extern ErrorData *tier_attempt(void (*step) (void *argument), void *argument);

#endif							/* TIER_ATTEMPT_H */
