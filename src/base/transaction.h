/*-------------------------------------------------------------------------
 *
 * base/transaction.h
 *		How each transaction of a move begins, and when it is old enough.
 *
 * Only these functions start or continue a transaction; SPI_commit() and the like
 * are not called anywhere else, since what follows would have the settings of the
 * session.  (But by tier_disconnect_nonatomic(), for that reason.)
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
 * SPI_commit() and SPI_rollback(), and the next transaction has these settings,
 * too.  Connected to SPI non-atomically, with no subtransaction open.
 */
extern void tier_transaction_commit(void);
extern void tier_transaction_rollback(void);

/*
 * Makes a transaction that has just begun, and has no snapshot yet, independent of
 * what the session, its role or database have set: READ COMMITTED, read write,
 * not ended by transaction_timeout; with patience for locks on our own tables.
 */
extern void tier_transaction_prepare(void);

/*
 * From now on to the end of the transaction we wait no longer than this for any
 * lock, and do not make an autovacuum worker give it up.
 */
extern void tier_transaction_limit_lock_waits(int timeout_ms);

/*
 * From now on transaction_timeout, if the session has one, ends this transaction
 * after all, and the session: it keeps others waiting.
 */
extern void tier_transaction_obey_timeout(void);

/*
 * Has the transaction lasted so long that a step which can go on in another one
 * should be interrupted?  After a minute, or half of transaction_timeout.
 */
extern bool tier_transaction_is_old(void);

#endif							/* TIER_TRANSACTION_H */
