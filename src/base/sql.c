/*-------------------------------------------------------------------------
 *
 * base/sql.c
 *		Helpers of the SQL functions; see base/sql.h.
 *
 * Runs in the backend that calls.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "src/compat.h"
#include "src/base/sql.h"
#include "src/base/transaction.h"

PG_FUNCTION_INFO_V1(tier_require_writable_sql);

void
tier_result_start(FunctionCallInfo fcinfo, TierResultRow *row)
{
	tier_compat_init_materialized_srf(fcinfo, 0);
	row->result = (ReturnSetInfo *) fcinfo->resultinfo;
}

void
tier_row_clear(TierResultRow *row)
{
	memset(row->values, 0, sizeof(row->values));
	memset(row->nulls, true, sizeof(row->nulls));
}

void
tier_row_datum(TierResultRow *row, int column, Datum value)
{
	row->values[column] = value;
	row->nulls[column] = false;
}

void
tier_row_text(TierResultRow *row, int column, const char *value)
{
	if (value != NULL)
		tier_row_datum(row, column, CStringGetTextDatum(value));
}

/* A name; NULL or an unknown object leaves the column null. */
void
tier_row_name(TierResultRow *row, int column, const char *value)
{
	if (value != NULL)
	{
		Name		name = palloc(sizeof(NameData));

		namestrcpy(name, value);
		tier_row_datum(row, column, NameGetDatum(name));
	}
}

void
tier_row_time(TierResultRow *row, int column, TimestampTz value)
{
	if (value != 0)
		tier_row_datum(row, column, TimestampTzGetDatum(value));
}

void
tier_row_put(TierResultRow *row)
{
	tuplestore_putvalues(row->result->setResult, row->result->setDesc, row->values, row->nulls);
	CHECK_FOR_INTERRUPTS();
}

void
tier_require_argument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"%s\" must not be null", name)));
}

void
tier_require_writable(const char *what)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot execute %s during recovery", what),
				 errhint("Call it on the primary; what it changes is replicated.")));
	PreventCommandIfReadOnly(what);
}

Datum
tier_require_writable_sql(PG_FUNCTION_ARGS)
{
	tier_require_writable(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}

bool
tier_may_commit(FunctionCallInfo fcinfo)
{
	return fcinfo->context && IsA(fcinfo->context, CallContext) &&
		!castNode(CallContext, fcinfo->context)->atomic;
}

void
tier_connect_nonatomic(FunctionCallInfo fcinfo, const char *what)
{
	Oid			role_oid = GetUserId();

	if (!tier_may_commit(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block or function", what),
				 errdetail("It commits several transactions, to hold its locks "
						   "as short as possible."),
				 errhint("Run it alone, with autocommit: in psql \\set AUTOCOMMIT on, in a driver "
						 "a connection in autocommit mode.")));
	tier_require_writable(what);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");

	/* This one has the settings of the session, and a snapshot already. */
	tier_transaction_commit();

	/*
	 * Rights that the caller has given up for this transaction must not come
	 * back.
	 */
	if (GetUserId() != role_oid)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run after SET LOCAL ROLE", what),
				 errdetail("It commits several transactions, and SET LOCAL ends with the first."),
				 errhint("Use SET ROLE.")));
}

void
tier_disconnect_nonatomic(void)
{
	SPI_commit();
	SPI_finish();
}

char *
tier_foreign_text(const char *foreign)
{
	char	   *copy = pstrdup(foreign);

	if (!pg_verifymbstr(copy, strlen(copy), true))
		for (char *c = copy; *c != '\0'; c++)
			if (IS_HIGHBIT_SET(*c))
				*c = '?';
	return copy;
}

char *
tier_size_text(double bytes)
{
	Datum		pretty = DirectFunctionCall1(pg_size_pretty, Int64GetDatum((int64) bytes));

	return text_to_cstring(DatumGetTextPP(pretty));
}

char *
tier_given_text(double number)
{
	return float8out_internal(number);
}
