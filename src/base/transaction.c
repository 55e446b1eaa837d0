/*-------------------------------------------------------------------------
 *
 * base/transaction.c
 *		Starting the transactions of a move, and limiting their age.
 *
 * Runs in the worker and in sessions that CALL move_relation, migrate, apply_placement or
 * undo_move.  A move is many transactions, each of which starts with the defaults of the
 * session, which may come from its role or database.  Some defaults that suit an application
 * would make a move fail: under SERIALIZABLE or REPEATABLE READ two movers that write their
 * records could not be serialized; default_transaction_read_only may be switched on when the
 * first transaction has long been committed; transaction_timeout is meant for transactions
 * that hold others up.  Ours end when they are half as old, where they can be ended; the sync
 * of a large file cannot be.
 *
 * None of them waits for a synchronous standby.  A standby that does not answer would block a
 * mover with its locks and files, and a cancel only ends the wait of one commit: the CALL
 * would continue with the next one.  If the primary is lost before the standby has received a
 * move, the move is not made there, or not recorded.
 *
 * Locks.  A process that has waited for deadlock_timeout looks for a deadlock, and when it
 * finds that an autovacuum worker is in its way, it cancels that worker.  A move is never so
 * urgent, because it is tried again later.  So for the lock on the relation the check is
 * disabled, and lock_timeout ends the wait instead.  That is safe: a mover holds no lock on a
 * relation of a user while it waits for another one, and a process that waits for us in a
 * circle finds the deadlock by its own check.  A lock_timeout below deadlock_timeout would not
 * do, as the latter may be 1 ms.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "access/xact.h"
#include "executor/spi.h"
#include "portability/instr_time.h"
#include "storage/proc.h"
#include "utils/guc.h"

#include "src/compat.h"
#include "src/base/debug.h"
#include "src/base/session_settings.h"
#include "src/base/transaction.h"

/*
 * Applies to locks on other relations: the tables of the extension and system catalogs.  Other
 * processes hold these locks for a moment only, an autovacuum worker for longer.
 */
#define LEAST_LOCK_WAIT_MS 10000

/*
 * No transaction of a copy gets older, so that a search for old transactions does
 * not find a mover; it holds neither a snapshot nor an ID.
 */
#define LONGEST_MS 60000
#define SHORTEST_MS 100

/*
 * Of the current transaction: set by tier_transaction_prepare(), and meaningless
 * before its first call.  By the real clock, which cannot be set.
 */
static instr_time began_at;
static int	transaction_timeout_ms = 0; /* that of the session; 0: none */
static int	longest_ms = LONGEST_MS;

/* To the end of the transaction; the current user need not have the right. */
static void
set_for_transaction(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_LOCAL, true, 0, false);
}

static void
set_time_for_transaction(const char *name, int milliseconds)
{
	char		value[32];

	snprintf(value, sizeof(value), "%dms", milliseconds);
	set_for_transaction(name, value);
}

void
tier_transaction_limit_lock_waits(int timeout_ms)
{
	set_time_for_transaction("deadlock_timeout", INT_MAX);
	set_time_for_transaction("lock_timeout", timeout_ms);
}

void
tier_transaction_prepare(void)
{
	/* As the server itself does for COMMIT AND CHAIN. */
	XactIsoLevel = XACT_READ_COMMITTED;
	XactReadOnly = false;
	XactDeferrable = false;

	tier_settings_fix(GUC_ACTION_LOCAL);
	if (synchronous_commit > SYNCHRONOUS_COMMIT_LOCAL_FLUSH)
		set_for_transaction("synchronous_commit", "local");
	INSTR_TIME_SET_CURRENT(began_at);
	longest_ms = LONGEST_MS;
	transaction_timeout_ms = tier_compat_transaction_timeout_ms();
	if (transaction_timeout_ms > 0)
	{
		longest_ms = Max(SHORTEST_MS, Min(longest_ms, transaction_timeout_ms / 2));
		set_time_for_transaction(TIER_COMPAT_TRANSACTION_TIMEOUT, 0);
	}
	if (LockTimeout > 0 && LockTimeout < LEAST_LOCK_WAIT_MS)
		set_time_for_transaction("lock_timeout", LEAST_LOCK_WAIT_MS);
	if (DeadlockTimeout < LEAST_LOCK_WAIT_MS)
		set_time_for_transaction("deadlock_timeout", LEAST_LOCK_WAIT_MS);
}

void
tier_transaction_obey_timeout(void)
{
	if (transaction_timeout_ms > 0)
		set_time_for_transaction(TIER_COMPAT_TRANSACTION_TIMEOUT, transaction_timeout_ms);
}

void
tier_transaction_start(void)
{
	StartTransactionCommand();
	tier_transaction_prepare();
}

void
tier_transaction_commit(void)
{
	SPI_commit();
	tier_transaction_prepare();
}

void
tier_transaction_commit_async(void)
{
	set_for_transaction("synchronous_commit", "off");
	tier_transaction_commit();
}

void
tier_transaction_rollback(void)
{
	SPI_rollback();
	tier_transaction_prepare();
}

bool
tier_transaction_is_old(void)
{
	instr_time	age;

	INSTR_TIME_SET_CURRENT(age);
	INSTR_TIME_SUBTRACT(age, began_at);
	if (tier_debug_skips("patience"))
		return INSTR_TIME_GET_MILLISEC(age) > SHORTEST_MS;
	return INSTR_TIME_GET_MILLISEC(age) > longest_ms;
}
