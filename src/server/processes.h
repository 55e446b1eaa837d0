/*-------------------------------------------------------------------------
 *
 * server/processes.h
 *		What other processes do, and whose counters are still to come.
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
#include "utils/backend_status.h"

/*
 * After its transaction a process may keep counters for so long, when the statistics
 * are busy (PGSTAT_MAX_INTERVAL of pgstat.c).
 */
#define TIER_COUNTERS_LAG_MS 60000

/*
 * A process keeps its counters for so long anyway, however short its statements are
 * (PGSTAT_MIN_INTERVAL of pgstat.c).
 */
#define TIER_COUNTERS_KEPT_MS 1000

/*
 * What process number i, from 0 to MaxBackends - 1, says of itself at this moment; false:
 * there is none.  From 17 on auxiliary processes follow.  The server's own functions keep
 * for the rest of a transaction what they have seen first, and that transaction may be a
 * user's, whose pg_stat_activity would stay as it is.  Of the strings, the pointers lead
 * to what may be changing: strlcpy them.
 */
extern bool tier_processes_read(int i, PgBackendStatus *status);

/*
 * Sets numbers of this process's own progress, all of them at once for who reads, and also
 * with track_activities off.
 */
extern void tier_processes_show(int first, int n, const int64 *values);

/*
 * Since when the oldest process but this one, of any database, has had counters that are
 * still to come; 0: there is none.
 */
extern TimestampTz tier_processes_oldest(void);

/*
 * Since when the oldest statement of the current database runs of which it cannot be seen
 * what it has used; 0: there is none.  Locks tell that of a transaction until it ends, and
 * the statistics when its statement has ended.  Between the two is what a procedure, or one
 * message with several statements, has done before its last COMMIT.  Statements that have
 * just begun, replication and the work of this extension do not matter.
 */
extern TimestampTz tier_processes_hiding_since(void);

/*
 * May one that was at work at that time still hand on counters of blocks that it has
 * added to this table of the current database, or to what belongs to it?  It may if it
 * has a lock for that, or if it is in a procedure that has committed: then it may have
 * given that lock up.
 */
extern bool tier_processes_may_have_extended(Oid table_oid, TimestampTz when);

/* May one that was at work at that time still hand on counters of a vacuum or analyze? */
extern bool tier_processes_may_have_vacuumed(TimestampTz when);

/*
 * Whether the database of this process is locked, as DROP, RENAME and CREATE DATABASE with it as
 * template have it locked while they wait five seconds for its processes to leave, by a role that
 * may do that: the server looks at rights only when it has the lock.  Looks once in
 * DATABASE_INTERVAL_US; in between: the last answer.  With or without a transaction.
 */
extern bool tier_processes_database_is_wanted(void);

#endif							/* TIER_PROCESSES_H */
