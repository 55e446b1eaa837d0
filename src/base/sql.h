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

#define TIER_ROW_COLUMNS 32

/* A row for a materialized result: set by column, then put. */
typedef struct TierResultRow
{
	ReturnSetInfo *result;
	Datum		values[TIER_ROW_COLUMNS];
	bool		nulls[TIER_ROW_COLUMNS];
} TierResultRow;

/*
 * Starts a materialized result; to be called before anything that allocates.
 * Then for each row: clear (all columns null), set columns counted from 0, put.
 */
extern void tier_result_start(FunctionCallInfo fcinfo, TierResultRow *row);
extern void tier_row_clear(TierResultRow *row);
extern void tier_row_put(TierResultRow *row);

/* NULL, and a time of 0, leave the column null. */
extern void tier_row_datum(TierResultRow *row, int column, Datum value);
extern void tier_row_text(TierResultRow *row, int column, const char *value);
extern void tier_row_name(TierResultRow *row, int column, const char *value);
extern void tier_row_time(TierResultRow *row, int column, TimestampTz value);

/* Raises an error that names the argument when it is null. */
extern void tier_require_argument(FunctionCallInfo fcinfo, int argument, const char *name);

/* Is it called in a way that it may commit? */
extern bool tier_may_commit(FunctionCallInfo fcinfo);

/*
 * How a procedure begins that commits: connects to SPI, or raises an error where
 * the caller's transaction must not end, is read only, or during recovery.  Then
 * it is in a transaction as base/transaction.h has it.
 */
extern void tier_connect_nonatomic(FunctionCallInfo fcinfo, const char *what);

/*
 * How it ends, unless by an error: whoever called it, a DO block perhaps, goes on in
 * a transaction with settings of his own.
 */
extern void tier_disconnect_nonatomic(void);

/* "123 MB", as pg_size_pretty has it. */
extern char *tier_size_text(double bytes);

#endif							/* TIER_SQL_H */
