/*-------------------------------------------------------------------------
 *
 * server/processes.h
 *		Activity of other processes, and counters that they have not reported yet.
 *
 * A process reports its block counters when its transaction and its statement have ended, an
 * autovacuum worker when it exits.  Its effects on files, devices and the WAL, and its
 * vacuums, are visible at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PROCESSES_H
#define TIER_PROCESSES_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "utils/backend_status.h"

/*
 * A process keeps its counters for so long anyway, however short its statements are
 * (PGSTAT_MIN_INTERVAL of pgstat.c).
 */
#define TIER_COUNTERS_KEPT_MS 1000

/*
 * Reads the current status of process number i, from 0 to MaxBackends - 1; returns false if
 * there is none.  From 17 on auxiliary processes follow.  The server's own functions are not
 * used, because they take a snapshot of all statuses for the rest of the transaction, which
 * would freeze a user's pg_stat_activity.  The string pointers lead to memory that may be
 * changing: strlcpy them.
 */
extern bool tier_processes_read(int i, PgBackendStatus *status);

/*
 * Sets progress counters of this process, atomically for readers, even if track_activities is
 * off.
 */
extern void tier_processes_show(int first, int n, const int64 *values);

/*
 * Since when the oldest process but this one, of any database, has had unreported counters; 0:
 * there is none.
 */
extern TimestampTz tier_processes_oldest(void);

/*
 * The start of the oldest running statement of the current database whose use of relations
 * cannot be observed; 0: there is none.  Locks tell that of a transaction until it ends, and
 * the statistics when its statement has ended.  Between the two is what a procedure, or one
 * message with several statements, has done before its last COMMIT.  Statements that have just
 * begun, replication and the work of this extension do not matter.
 */
extern TimestampTz tier_processes_hiding_since(void);

/*
 * Returns true if a process that was active at that time may still report counters of blocks
 * that it has added to this table of the current database, or to its TOAST table or indexes.
 * That is so if the process holds a lock for that, or is in a procedure that has committed:
 * then it may have released that lock.
 */
extern bool tier_processes_may_have_extended(Oid table_oid, TimestampTz when);

/*
 * Returns true if a process that was active at that time may still report counters of a vacuum
 * or analyze.
 */
extern bool tier_processes_may_have_vacuumed(TimestampTz when);

/*
 * Whether the database of this process is locked, as DROP, RENAME and CREATE DATABASE with it as
 * template have it locked while they wait five seconds for its processes to leave, by a role that
 * may do that: the server looks at rights only when it has the lock.  Looks once in
 * DATABASE_INTERVAL_US; in between: the last answer.  With or without a transaction.
 */
extern bool tier_processes_database_is_wanted(void);

#endif							/* TIER_PROCESSES_H */
