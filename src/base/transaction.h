/*-------------------------------------------------------------------------
 *
 * base/transaction.h
 *		Starting the transactions of a move, and limiting their age.
 *
 * Only these functions start a transaction or continue in a new one; SPI_commit()
 * and the like are not called anywhere else, since what follows would have the
 * settings of the session.  (tier_disconnect_nonatomic() calls it for just that
 * reason.)  A commit or rollback ends all snapshots, relation locks and memory of
 * the transaction; SPI's procedure context survives both.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_TRANSACTION_H
#define TIER_TRANSACTION_H

#include "postgres.h"

/*
 * StartTransactionCommand(), for workers and exit callbacks; the transaction has
 * the settings of tier_transaction_prepare().
 */
extern void tier_transaction_start(void);

/*
 * SPI_commit() and SPI_rollback(); the next transaction has the settings of
 * tier_transaction_prepare(), too.  Connected to SPI non-atomically, outside of a
 * catalog scope, with no subtransaction open.  CurrentMemoryContext is SPI's
 * procedure context afterwards.
 */
extern void tier_transaction_commit(void);
extern void tier_transaction_rollback(void);

/* tier_transaction_commit() without waiting for the disk: a crash may lose the changes. */
extern void tier_transaction_commit_async(void);

/*
 * Makes a transaction that has just begun, and has no snapshot yet, independent of
 * what the session, its role or database have set: READ COMMITTED, read write,
 * not ended by transaction_timeout, with at least ten seconds for locks on
 * our own tables, and committed without waiting for a synchronous standby.
 */
extern void tier_transaction_prepare(void);

/*
 * From now to the end of the transaction, waits for a lock end after timeout_ms
 * with an error, and do not cancel an autovacuum worker.
 */
extern void tier_transaction_limit_lock_waits(int timeout_ms);

/*
 * From now on transaction_timeout, if the session has one, ends this transaction
 * after all, and the session with it: others may have to wait for it.
 */
extern void tier_transaction_obey_timeout(void);

/*
 * Has the transaction lasted so long that a step which can go on in another one
 * should be interrupted?  After a minute, or half of transaction_timeout.
 */
extern bool tier_transaction_is_old(void);

#endif							/* TIER_TRANSACTION_H */
