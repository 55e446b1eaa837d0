/*-------------------------------------------------------------------------
 *
 * server/processes.h
 *		Whose counters are still to come.
 *
 * A process hands its counters of blocks on when its transaction and its statement
 * have ended; an autovacuum worker does when it exits.  What it did to files, to
 * devices, to the WAL, and that it has vacuumed a table, is seen at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PROCESSES_H
#define TIER_PROCESSES_H

#include "postgres.h"

#include "datatype/timestamp.h"

/*
 * After its transaction a process may keep counters for so long, when the statistics
 * are busy (PGSTAT_MAX_INTERVAL of pgstat.c).
 */
#define TIER_COUNTERS_LAG_MS 60000

/*
 * The functions below look at the statuses of processes as this transaction has seen
 * them first, which the server keeps until its end; so to a process that began later,
 * they are blind.
 */

/*
 * Since when the oldest process but this one, of any database, has had counters that are
 * still to come; 0: there is none.
 */
extern TimestampTz tier_processes_oldest(void);

/*
 * May one that was at work at that time still hand on counters of blocks that it has
 * added to this table of the current database, or to what belongs to it?  It may if it
 * has a lock for that, or if it is in a procedure that has committed: then it may have
 * given that lock up.
 */
extern bool tier_processes_may_have_extended(Oid table_oid, TimestampTz when);

/* May one that was at work at that time still hand on counters of a vacuum or analyze? */
extern bool tier_processes_may_have_vacuumed(TimestampTz when);

#endif							/* TIER_PROCESSES_H */
