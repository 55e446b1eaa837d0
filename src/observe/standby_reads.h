/*-------------------------------------------------------------------------
 *
 * observe/standby_reads.h
 *		Reads of standbys, pulled and added to those of this server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_STANDBY_READS_H
#define TIER_STANDBY_READS_H

#include "postgres.h"

#include "src/catalog/standbys.h"

/*
 * Worker only, outside of a transaction: asks the standbys that are due, one after the other,
 * and stores each answer in a separate transaction.  Errors are shown in the view standbys, or
 * else logged, and have no other consequence.
 */
extern void tier_standby_pull(void);

/*
 * Asks the standbys that have answered the last time for transactions that have locked one of
 * the relations there for long; in a worker, before a move.  Waits for some seconds at most.
 * Connected to SPI non-atomically, with no lock, snapshot or scope; commits.  The result, of
 * the first standby with such a transaction, is in the current memory context, which must
 * outlive transactions.
 */
extern TierStandbyUser tier_standby_ask_user(const List *relation_oids);

#endif							/* TIER_STANDBY_READS_H */
