/*-------------------------------------------------------------------------
 *
 * base/attempt.h
 *		Running a step that may fail, and continuing afterwards.
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
 * Runs a step in a subtransaction.  If the step fails, the subtransaction is rolled back with
 * all subtransactions that the step has left open.  Returns the error, a cancel included, in
 * the memory context that is current at the call (not ErrorContext), or NULL.  Restores the
 * memory context and the resource owner.  A FATAL error is not caught.
 */
extern ErrorData *tier_attempt(void (*step) (void *argument), void *argument);

#endif							/* TIER_ATTEMPT_H */
