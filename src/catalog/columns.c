/*-------------------------------------------------------------------------
 *
 * catalog/columns.c
 *		Structs as rows: column tables; parameters and fields of results.
 *
 * See catalog/tables.h.  A table of the extension whose rows are structs has one list of its
 * columns, from which statements, loading and storing are generated, so that no column can be
 * missing in one of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"
#include "src/catalog/tables.h"

/* No sum of squares of ours comes near it, and its own square is finite. */
#define MOST_STORED 1e100

/* Bytes, blocks, rows or operations: more than any server has, or does in an hour. */
#define MOST_AMOUNT 1e18

/* The field of `row` as a value of the column. */
static TierValue
get_known_field(const void *row, const TierColumn *column)
{
	const char *field = (const char *) row + column->offset;
	bytea	   *copy;

	switch (column->type)
	{
		case BOOLOID:
			return tier_arg_bool(*(const bool *) field);
		case CHAROID:
			return tier_arg_char(*field);
		case INT4OID:
			return tier_arg_int4(*(const int32 *) field);
		case INT8OID:
			return tier_arg_int8(*(const int64 *) field);
		case OIDOID:
			return tier_arg_oid(*(const Oid *) field);
		case NAMEOID:
			return tier_arg_name((const NameData *) field);
		case TEXTOID:
			return tier_arg_text(*(char *const *) field);
		case INTERVALOID:
			return tier_arg_interval((const Interval *) field);
		case TIER_FLOAT8_OR_NAN:
			return tier_arg_float8(*(const double *) field);
		case TIMESTAMPTZOID:
			return tier_arg_if(!column->null_if_zero || *(const TimestampTz *) field != 0,
							   tier_arg_time(*(const TimestampTz *) field));
		case BYTEAOID:
			copy = palloc(VARHDRSZ + column->bytes);
			SET_VARSIZE(copy, VARHDRSZ + column->bytes);
			memcpy(VARDATA(copy), field, column->bytes);
			return TIER_VALUE(BYTEAOID, PointerGetDatum(copy));
		default:
			Assert(column->type == FLOAT8OID);
			return TIER_VALUE(FLOAT8OID, Float8GetDatum(*(const double *) field));
	}
}

static TierValue
get_field(const void *row, const TierColumn *column)
{
	return tier_arg_if(column->has == 0 || *((const bool *) row + column->has),
					   get_known_field(row, column));
}

/* Returns the value, or 0 (unknown) if it cannot be used in computations. */
static double
known_or_0(double value, const TierColumn *column)
{
	double		most = column->is_amount ? MOST_AMOUNT : MOST_STORED;

	return value >= (column->is_signed ? -most : 0.0) && value <= most ? value : 0.0;
}

/*
 * Copies a stored array of amounts into a field of `bytes` bytes.  Invalid values become 0:
 * negative ones unless is_signed, for amounts that may shrink; NaN; and values that are too
 * large. The whole array becomes 0 if the stored value has another length.
 */
static void
set_amounts(float *field, size_t bytes, bool is_signed, const bytea *stored)
{
	double		least = is_signed ? -MOST_AMOUNT : 0.0;

	memset(field, 0, bytes);
	if (VARSIZE_ANY_EXHDR(stored) != bytes)
		return;
	memcpy(field, VARDATA_ANY(stored), bytes);
	for (size_t i = 0; i < bytes / sizeof(float); i++)
		if (!(field[i] >= least && field[i] <= MOST_AMOUNT))
			field[i] = 0.0f;
}

/* An infinite time becomes 0 (unknown) if null_if_zero, else the current time. */
static TimestampTz
known_time(TimestampTz at, bool null_if_zero)
{
	if (!TIMESTAMP_NOT_FINITE(at))
		return at;
	return null_if_zero ? 0 : tier_clock_now();
}

void
tier_column_set(void *row, const TierColumn *column, Datum value)
{
	char	   *field = (char *) row + column->offset;

	if (column->has != 0)
		*((bool *) row + column->has) = true;
	switch (column->type)
	{
		case BOOLOID:
			*(bool *) field = DatumGetBool(value);
			break;
		case CHAROID:
			*field = DatumGetChar(value);
			break;
		case NAMEOID:
			*(NameData *) field = *DatumGetName(value);
			break;
		case TEXTOID:
			*(char **) field = TextDatumGetCString(value);
			break;
		case TIER_FLOAT8_OR_NAN:
			*(double *) field = DatumGetFloat8(value);
			break;
		case INT4OID:
			*(int32 *) field = DatumGetInt32(value);
			break;
		case INT8OID:
			*(int64 *) field = DatumGetInt64(value);
			break;
		case OIDOID:
			*(Oid *) field = DatumGetObjectId(value);
			break;
		case INTERVALOID:
			*(Interval *) field = *DatumGetIntervalP(value);
			break;
		case TIMESTAMPTZOID:
			*(TimestampTz *) field = known_time(DatumGetTimestampTz(value),
												column->null_if_zero);
			break;
		case BYTEAOID:
			set_amounts((float *) field, column->bytes, column->is_signed,
						DatumGetByteaPP(value));
			break;
		default:
			Assert(column->type == FLOAT8OID);
			*(double *) field = known_or_0(DatumGetFloat8(value), column);
			break;
	}
}

void
tier_columns_append(StringInfo sql, const char *prefix, const TierColumn *columns, int ncolumns)
{
	for (int i = 0; i < ncolumns; i++)
		appendStringInfo(sql, "%s%s%s", i == 0 ? "" : ", ", prefix, columns[i].name);
}

void
tier_columns_append_parameters(StringInfo sql, int first, int n)
{
	for (int i = 0; i < n; i++)
		appendStringInfo(sql, "%s$%d", i == 0 ? "" : ", ", first + i);
}

void
tier_columns_append_update(StringInfo sql, const TierColumn *columns, int ncolumns)
{
	for (int i = 0; i < ncolumns; i++)
		appendStringInfo(sql, "%s%s = EXCLUDED.%s", i == 0 ? "" : ", ",
						 columns[i].name, columns[i].name);
}

void
tier_columns_load(void *row, const TierColumn *columns, int ncolumns,
				  uint64 result_row, int first_column)
{
	Datum		values[MaxTupleAttributeNumber];
	bool		nulls[MaxTupleAttributeNumber];

	heap_deform_tuple(SPI_tuptable->vals[result_row], SPI_tuptable->tupdesc, values, nulls);
	for (int i = 0; i < ncolumns; i++)
	{
		int			place = first_column - 1 + i;

		if (!nulls[place])
			tier_column_set(row, &columns[i], values[place]);
		else if (columns[i].type == TIER_FLOAT8_OR_NAN)
			tier_column_set(row, &columns[i], Float8GetDatum(get_float8_nan()));
	}
}

void *
tier_rows(MemoryContext context, const TierColumn *columns, int ncolumns, size_t row_bytes,
		  uint64 n)
{
	MemoryContext old_context = MemoryContextSwitchTo(context);
	char	   *rows = palloc_extended(row_bytes * Max(n, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (uint64 i = 0; i < n; i++)
		tier_columns_load(rows + row_bytes * i, columns, ncolumns, i, 1);
	MemoryContextSwitchTo(old_context);
	return rows;
}

void
tier_columns_args(const void *row, const TierColumn *columns, int ncolumns, TierValue *values)
{
	for (int i = 0; i < ncolumns; i++)
		values[i] = get_field(row, &columns[i]);
}

/* ---------------------------------------------------------------------
 * Tables
 * ---------------------------------------------------------------------
 */

void *
tier_table_load(MemoryContext context, const TierTable *table, const char *condition,
				Oid argument, int *n)
{
	const TierValue value = tier_arg_oid(argument);
	StringInfoData sql;
	void	   *rows;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT ");
	tier_columns_append(&sql, "", table->columns, table->ncolumns);
	appendStringInfo(&sql, " FROM _tiered_storage.%s%s ORDER BY 1", table->name, condition);
	*n = (int) tier_catalog_run(sql.data, &value, condition[0] == '\0' ? 0 : 1);
	rows = tier_rows(context, table->columns, table->ncolumns, table->row_bytes, *n);
	SPI_freetuptable(SPI_tuptable);
	return rows;
}

TierBulk *
tier_table_store(const TierTable *table)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "INSERT INTO _tiered_storage.%s (", table->name);
	tier_columns_append(&sql, "", table->columns, table->ncolumns);
	appendStringInfoString(&sql, ") SELECT ");

	/* In FROM, each of them would be made a table first. */
	for (int i = 1; i <= table->ncolumns; i++)
		appendStringInfo(&sql, "%sunnest($%d)", i == 1 ? "" : ", ", i);
	appendStringInfo(&sql, " ON CONFLICT (%s) DO UPDATE SET ", table->columns[0].name);
	tier_columns_append_update(&sql, table->columns + 1, table->ncolumns - 1);
	return tier_bulk_create(sql.data);
}

void
tier_table_add(TierBulk *bulk, const TierTable *table, const void *row)
{
	TierValue	values[FUNC_MAX_ARGS];

	Assert(table->ncolumns <= FUNC_MAX_ARGS);
	tier_columns_args(row, table->columns, table->ncolumns, values);
	tier_bulk_add(bulk, values, table->ncolumns);
}

/* ---------------------------------------------------------------------
 * Single values
 * ---------------------------------------------------------------------
 */

TierValue
tier_arg_float8(double value)
{
	return (TierValue)
	{
		FLOAT8OID, Float8GetDatum(value), isnan(value)
	};
}

TierValue
tier_arg_text(const char *value)
{
	return (TierValue)
	{
		TEXTOID, value == NULL ? (Datum) 0 : CStringGetTextDatum(value), value == NULL
	};
}

TierValue
tier_arg_name_text(const char *value)
{
	NameData   *name = palloc0(sizeof(NameData));

	if (value != NULL)
		namestrcpy(name, value);
	return tier_arg_if(value != NULL, tier_arg_name(name));
}

static TierValue
arg_array(Datum *values, int n, Oid type)
{
	int16		length;
	bool		by_value;
	char		align;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	return TIER_VALUE(get_array_type(type),
					  PointerGetDatum(construct_array(values, n, type, length, by_value,
													  align)));
}

TierValue
tier_arg_fields(const void *rows, int n, size_t row_bytes, const TierColumn *column)
{
	Datum	   *values = palloc_extended(sizeof(Datum) * Max(n, 1), MCXT_ALLOC_HUGE);

	for (int i = 0; i < n; i++)
		values[i] = get_field((const char *) rows + row_bytes * i, column).datum;
	return arg_array(values, n, column->type);
}

TierValue
tier_arg_oids(const Oid *values, int n)
{
	static const TierColumn column = {.type = OIDOID};

	return tier_arg_fields(values, n, sizeof(Oid), &column);
}

TierValue
tier_arg_float8s(const void *doubles, int n)
{
	static const TierColumn column = {.type = FLOAT8OID};

	return tier_arg_fields(doubles, n, sizeof(double), &column);
}

uint64
tier_catalog_run(const char *sql, const TierValue *values, int nvalues)
{
	Oid			types[FUNC_MAX_ARGS];
	Datum		datums[FUNC_MAX_ARGS];
	char		nulls[FUNC_MAX_ARGS];

	Assert(nvalues <= FUNC_MAX_ARGS);
	for (int i = 0; i < nvalues; i++)
	{
		types[i] = values[i].type;
		datums[i] = values[i].datum;
		nulls[i] = values[i].isnull ? 'n' : ' ';
	}
	return tier_catalog_execute(sql, nvalues, types, datums, nulls);
}

Datum
tier_get_datum(uint64 row, int column, Datum if_null)
{
	bool		isnull;
	Datum		value = tier_catalog_datum(row, column, &isnull);

	return isnull ? if_null : value;
}

void
tier_get_float8s(uint64 row, int column, void *doubles, int n)
{
	bool		isnull;
	Datum		value = tier_catalog_datum(row, column, &isnull);
	Datum	   *datums;
	int			ndatums;

	memset(doubles, 0, sizeof(double) * n);
	if (isnull || array_contains_nulls(DatumGetArrayTypeP(value)))
		return;
	deconstruct_array(DatumGetArrayTypeP(value), FLOAT8OID, sizeof(double), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &datums, NULL, &ndatums);
	for (int i = 0; i < Min(n, ndatums); i++)
		((double *) doubles)[i] = DatumGetFloat8(datums[i]);
}

char *
tier_get_text(MemoryContext context, uint64 row, int column)
{
	bool		isnull;
	Datum		value = tier_catalog_datum(row, column, &isnull);

	return isnull ? NULL : MemoryContextStrdup(context, TextDatumGetCString(value));
}

NameData
tier_get_name(uint64 row, int column)
{
	NameData	name = {{0}};
	bool		isnull;
	Datum		value = tier_catalog_datum(row, column, &isnull);

	return isnull ? name : *DatumGetName(value);
}
