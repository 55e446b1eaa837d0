/*-------------------------------------------------------------------------
 *
 * tier_sql.c
 *		What the SQL functions share; see tier_sql.h.
 *
 * Runs in the backend that calls.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "tier_sql.h"

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
