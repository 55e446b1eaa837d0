/*-------------------------------------------------------------------------
 *
 * base/sql.h
 *		Helpers of the SQL functions: building result rows, checking arguments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SQL_H
#define TIER_SQL_H

#include "postgres.h"

#include "fmgr.h"
#include "datatype/timestamp.h"
#include "nodes/execnodes.h"

#define TIER_ROW_COLUMNS 48

/*
 * A row for a materialized result: set by column, then put.  On the stack of the
 * SQL function.  Of the values, as many count as the result has columns; they are
 * copied by put, and live until then in the context in which they were made.
 */
typedef struct TierResultRow
{
	ReturnSetInfo *result;		/* by start; the tuplestore lives as long as
								 * the query */
	Datum		values[TIER_ROW_COLUMNS];
	bool		nulls[TIER_ROW_COLUMNS];
} TierResultRow;

/*
 * start begins a materialized result, and raises an error where the caller accepts
 * none.  Then for each row: clear (all columns null), set columns, which count
 * from 0, and put.  Values are made in the current memory context, so a function
 * with many rows resets one.  put checks for interrupts.
 */
extern void tier_result_start(FunctionCallInfo fcinfo, TierResultRow *row);
extern void tier_row_clear(TierResultRow *row);
extern void tier_row_put(TierResultRow *row);

/* These copy the value.  NULL, and a time of 0, leave the column null. */
extern void tier_row_datum(TierResultRow *row, int column, Datum value);
extern void tier_row_text(TierResultRow *row, int column, const char *value);
extern void tier_row_name(TierResultRow *row, int column, const char *value);
extern void tier_row_time(TierResultRow *row, int column, TimestampTz value);

/* A month has 30 days. */
static inline double
tier_interval_seconds(const Interval *interval)
{
	return (interval->month * (double) DAYS_PER_MONTH + interval->day) * SECS_PER_DAY +
		(double) interval->time / USECS_PER_SEC;
}

/* Raises an error that names the argument when it is null. */
extern void tier_require_argument(FunctionCallInfo fcinfo, int argument, const char *name);

/*
 * Raises an error on a standby and in a read-only transaction.  `what` is the name of
 * the function, for the error.
 */
extern void tier_require_writable(const char *what);

/* Returns true if the procedure may commit: called by CALL outside of a transaction block. */
extern bool tier_may_commit(FunctionCallInfo fcinfo);

/*
 * Begins a procedure that commits: connects to SPI.  Raises an error if the caller's
 * transaction must not end, is read-only, or has set a role by SET LOCAL, and during recovery.
 * `what` is the name of the procedure, for the error.  Commits, so that the next transaction
 * has the settings of base/transaction.h.  CurrentMemoryContext is then SPI's procedure
 * context, which lives until tier_disconnect_nonatomic().
 */
extern void tier_connect_nonatomic(FunctionCallInfo fcinfo, const char *what);

/*
 * Ends such a procedure, unless an error does: commits, so that its caller, such as a DO
 * block, continues in a transaction with the session's settings.
 */
extern void tier_disconnect_nonatomic(void);

/*
 * Copies, into the current memory context, a text that another database has left in shared
 * memory in its encoding.  If the text is invalid in the encoding of this database, each
 * non-ASCII byte becomes '?'.
 */
extern char *tier_foreign_text(const char *foreign);

/* "123 MB", by pg_size_pretty; in the current memory context. */
extern char *tier_size_text(double bytes);

/*
 * A number from user input, such as "0.9", with all of its digits; in the current memory
 * context.
 */
extern char *tier_given_text(double number);

#endif							/* TIER_SQL_H */
