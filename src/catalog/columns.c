/*-------------------------------------------------------------------------
 *
 * catalog/columns.c
 *		Structs as rows: column tables, and bulk writes of many rows.
 *
 * See catalog/tables.h.  A table of ours whose rows are structs has one list of
 * its columns, from which statements, loading and storing are made, so that a
 * column cannot be missing in one of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"
#include "src/catalog/tables.h"
#include "src/server/wal.h"

#define BULK_BATCH_ROWS 1000

/* No sum of squares of ours comes near it, and its own square is finite. */
#define MOST_STORED 1e100

/* Bytes, blocks, rows or operations: more than any server has, or does in an hour. */
#define MOST_AMOUNT 1e18

struct TierBulk
{
	const char *sql;
	int			ncolumns;
	Oid		   *types;			/* of the elements */
	Oid		   *array_types;
	int			nrows;
	Datum	  **values;			/* by column, BULK_BATCH_ROWS each */
	bool	  **nulls;
	MemoryContext batch_context;	/* copies of by-reference values */
};

/* The field of `row` as a value of the column; *isnull gets whether it is NULL. */
static Datum
get_field(const void *row, const TierColumn *column, bool *isnull)
{
	const char *field = (const char *) row + column->offset;

	*isnull = column->null_if_zero && *(const TimestampTz *) field == 0;
	switch (column->type)
	{
		case CHAROID:
			return CharGetDatum(*field);
		case INT4OID:
			return Int32GetDatum(*(const int32 *) field);
		case INT8OID:
			return Int64GetDatum(*(const int64 *) field);
		case OIDOID:
			return ObjectIdGetDatum(*(const Oid *) field);
		case TIMESTAMPTZOID:
			return TimestampTzGetDatum(*(const TimestampTz *) field);
		case BYTEAOID:
			{
				bytea	   *copy = palloc(VARHDRSZ + column->bytes);

				SET_VARSIZE(copy, VARHDRSZ + column->bytes);
				memcpy(VARDATA(copy), field, column->bytes);
				return PointerGetDatum(copy);
			}
		default:
			Assert(column->type == FLOAT8OID);
			return Float8GetDatum(*(const double *) field);
	}
}

/* A number that may be computed with: what cannot be is not known. */
static double
known_or_0(double value, const TierColumn *column)
{
	double		most = column->is_amount ? MOST_AMOUNT : MOST_STORED;

	return value >= (column->is_signed ? -most : 0.0) && value <= most ? value : 0.0;
}

void
tier_column_amounts(float *field, size_t bytes, bool is_signed, const bytea *stored)
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

/* What has no end or no beginning is unknown, or else begins now. */
static TimestampTz
known_time(TimestampTz at, bool null_if_zero)
{
	if (!TIMESTAMP_NOT_FINITE(at))
		return at;
	return null_if_zero ? 0 : tier_clock_now();
}

/* Stores a value, which is not NULL, in the field of `row`. */
static void
set_field(void *row, const TierColumn *column, Datum value)
{
	char	   *field = (char *) row + column->offset;

	switch (column->type)
	{
		case CHAROID:
			*field = DatumGetChar(value);
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
		case TIMESTAMPTZOID:
			*(TimestampTz *) field = known_time(DatumGetTimestampTz(value),
												column->null_if_zero);
			break;
		case BYTEAOID:
			tier_column_amounts((float *) field, column->bytes, column->is_signed,
								DatumGetByteaPP(value));
			break;
		default:
			Assert(column->type == FLOAT8OID);
			*(double *) field = known_or_0(DatumGetFloat8(value), column);
			break;
	}
}

void
tier_columns_append(StringInfo sql, const TierColumn *columns, int ncolumns)
{
	for (int i = 0; i < ncolumns; i++)
		appendStringInfo(sql, "%s%s", i == 0 ? "" : ", ", columns[i].name);
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
	for (int i = 0; i < ncolumns; i++)
	{
		bool		isnull;
		Datum		value = tier_catalog_datum(result_row, first_column + i, &isnull);

		if (!isnull)
			set_field(row, &columns[i], value);
	}
}

void
tier_columns_get(const void *row, const TierColumn *columns, int ncolumns,
				 Datum *values, bool *nulls)
{
	for (int i = 0; i < ncolumns; i++)
		values[i] = get_field(row, &columns[i], &nulls[i]);
}

/* ---------------------------------------------------------------------
 * Bulk writes
 * ---------------------------------------------------------------------
 */

TierBulk *
tier_bulk_create(const char *sql, int ncolumns, const Oid *types)
{
	TierBulk   *bulk = palloc0(sizeof(TierBulk));

	bulk->sql = sql;
	bulk->ncolumns = ncolumns;
	bulk->types = palloc(sizeof(Oid) * ncolumns);
	bulk->array_types = palloc(sizeof(Oid) * ncolumns);
	bulk->values = palloc(sizeof(Datum *) * ncolumns);
	bulk->nulls = palloc(sizeof(bool *) * ncolumns);
	for (int i = 0; i < ncolumns; i++)
	{
		bulk->types[i] = types[i];
		bulk->array_types[i] = get_array_type(types[i]);
		bulk->values[i] = palloc(sizeof(Datum) * BULK_BATCH_ROWS);
		bulk->nulls[i] = palloc(sizeof(bool) * BULK_BATCH_ROWS);
	}
	bulk->batch_context = AllocSetContextCreate(CurrentMemoryContext,
												"tiered_storage bulk write",
												ALLOCSET_DEFAULT_SIZES);
	return bulk;
}

static void
bulk_send(TierBulk *bulk)
{
	MemoryContext old_context;
	Datum	   *arrays;

	if (bulk->nrows == 0)
		return;

	old_context = MemoryContextSwitchTo(bulk->batch_context);
	arrays = palloc(sizeof(Datum) * bulk->ncolumns);
	for (int i = 0; i < bulk->ncolumns; i++)
	{
		int			lower = 1;
		int16		length;
		bool		by_value;
		char		align;

		get_typlenbyvalalign(bulk->types[i], &length, &by_value, &align);
		arrays[i] = PointerGetDatum(construct_md_array(bulk->values[i], bulk->nulls[i],
													   1, &bulk->nrows, &lower,
													   bulk->types[i], length, by_value, align));
	}
	MemoryContextSwitchTo(old_context);

	tier_catalog_execute(bulk->sql, bulk->ncolumns, bulk->array_types, arrays, NULL);
	bulk->nrows = 0;
	MemoryContextReset(bulk->batch_context);
	CHECK_FOR_INTERRUPTS();
	tier_wal_keep_up();
}

void
tier_bulk_add(TierBulk *bulk, const Datum *values, const bool *nulls)
{
	for (int i = 0; i < bulk->ncolumns; i++)
	{
		bulk->values[i][bulk->nrows] = values[i];
		bulk->nulls[i][bulk->nrows] = nulls != NULL && nulls[i];
	}
	if (++bulk->nrows == BULK_BATCH_ROWS)
		bulk_send(bulk);
}

void
tier_bulk_finish(TierBulk *bulk)
{
	bulk_send(bulk);
	MemoryContextDelete(bulk->batch_context);
}
