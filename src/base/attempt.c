/*-------------------------------------------------------------------------
 *
 * base/attempt.c
 *		Running a step that may fail, and continuing afterwards.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "src/base/attempt.h"
#include "src/base/session_settings.h"

ErrorData *
tier_attempt_take_error(void)
{
	ErrorData  *error;

	Assert(CurrentMemoryContext != ErrorContext);
	error = CopyErrorData();
	FlushErrorState();

	/*
	 * The server takes note of all that is pending before it throws an error
	 * for a cancel or a lock timeout, and looks at the rest the next time
	 * that anything comes in.  A session does not have to wait for long.  We
	 * may fail by lock timeouts alone, for minutes, and until we look, a
	 * process that waits until all processes have absorbed a barrier, as DROP
	 * DATABASE does, waits for us.
	 */
	InterruptPending = true;
	return error;
}

ErrorData *
tier_attempt(void (*step) (void *argument), void *argument)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	int			level = GetCurrentTransactionNestLevel();
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		tier_settings_fix(GUC_ACTION_SAVE);
		step(argument);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = tier_attempt_take_error();
		while (GetCurrentTransactionNestLevel() > level)
			RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}
