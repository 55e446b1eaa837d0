/*-------------------------------------------------------------------------
 *
 * server/remote.h
 *		One connection to another server, by libpq, with a deadline.
 *
 * Only a worker connects: name resolution cannot be interrupted, and the variables that libpq
 * reads from the environment are removed from the process.  Outside of a transaction, so that
 * no lock and no snapshot is held while the network is waited for.
 *
 * Results are untrusted: types and lengths are checked, rows are counted, and messages are
 * truncated and made valid in the encoding of this database.  The connection string comes from
 * a superuser; observe/standby_sql.c says why it must.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_REMOTE_H
#define TIER_REMOTE_H

#include "postgres.h"

/* A connection string has fewer bytes. */
#define TIER_REMOTE_ADDRESS_BYTES	1024

typedef struct TierRemote TierRemote;

/*
 * Raises an error unless the connection string names one server, by the allowed keywords
 * alone.  Does not connect.
 */
extern void tier_remote_check(const char *conninfo);

/*
 * Connects, runs body, and disconnects, whatever body does.  `database` is connected to unless
 * the string names another one.  Raises ERRCODE_CONNECTION_FAILURE when there is no connection
 * within its connect_timeout (3 s), when it is lost, and when body has not all answers within
 * ten seconds more; body, too, may raise errors.
 */
extern void tier_remote_run(const char *conninfo, const char *database,
							void (*body) (TierRemote *remote, void *argument), void *argument);

/*
 * Runs one statement, and calls `row` for each row.  Returns NULL, or why the other server
 * refused the statement, in the current memory context; rows may have come before that.
 * Raises ERRCODE_CONNECTION_FAILURE if the connection is lost, if columns have other types,
 * and for more than max_rows.
 */
extern char *tier_remote_query(TierRemote *remote, const char *sql, const Oid *types, int ncolumns,
							   int max_rows, void (*row) (TierRemote *remote, void *argument),
							   void *argument);

/* Raises ERRCODE_CONNECTION_FAILURE with this message, which may be the other server's. */
extern void tier_remote_fail(const char *problem);

/*
 * Fields of the row that `row` was called for; columns count from 0.  Raise an error where the
 * field does not have the form of its type, or is null where no value is given for that.
 * Times are in microseconds since 2000, as here.
 */
extern Oid	tier_remote_oid(TierRemote *remote, int column);
extern bool tier_remote_bool(TierRemote *remote, int column);
extern int64 tier_remote_int64(TierRemote *remote, int column);
extern int64 tier_remote_int64_or(TierRemote *remote, int column, int64 if_null);

#endif							/* TIER_REMOTE_H */
