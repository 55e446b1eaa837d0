/*-------------------------------------------------------------------------
 *
 * base/sql.h
 *		What the SQL functions share: building result rows, checking arguments.
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

/* Copies of what is passed; NULL, and a time of 0, leave the column null. */
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

/* Is it called, by CALL outside of a transaction block, so that it may commit? */
extern bool tier_may_commit(FunctionCallInfo fcinfo);

/*
 * How a procedure that commits begins: connects to SPI, or raises an error where
 * the caller's transaction must not end, is read only, has a role of its own (SET
 * LOCAL), or during recovery.  `what` is its name, for the error.  Commits, so that
 * what follows is in a transaction with the settings of base/transaction.h;
 * CurrentMemoryContext is then SPI's procedure context, which lives until
 * tier_disconnect_nonatomic().
 */
extern void tier_connect_nonatomic(FunctionCallInfo fcinfo, const char *what);

/*
 * How it ends, unless by an error: commits, so that its caller, a DO block perhaps,
 * goes on in a transaction with the session's own settings.
 */
extern void tier_disconnect_nonatomic(void);

/*
 * A copy, in the current memory context, of a text that another database has left
 * in shared memory in its encoding.  If it is not valid in ours, each byte that is
 * not ASCII becomes '?'.
 */
extern char *tier_foreign_text(const char *foreign);

/* "123 MB", by pg_size_pretty; in the current memory context. */
extern char *tier_size_text(double bytes);

/* A number that a person has given: "0.9", all of its digits; in the current memory context. */
extern char *tier_given_text(double number);

#endif							/* TIER_SQL_H */
