/*-------------------------------------------------------------------------
 *
 * decide/partition_key.c
 *		Which key ages the partitions of a table, and its values as times.
 *
 * Catalog look-ups without any lock on the table, and arithmetic on values of
 * built-in types; see tier_partition_evaluate for why it matters that nothing
 * else runs here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "src/decide/hypertable.h"
#include "src/decide/partition_key.h"
#include "src/server/relation.h"
#include "src/server/time_zone.h"

/*
 * Returns true if the first column is ordered by the server's own operator.  An operator class of
 * a user may reverse the order, or define another one.  No operator is called.
 */
static bool
is_order_known(HeapTuple tuple)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(PARTRELID, tuple, Anum_pg_partitioned_table_partclass,
										&isnull);
	Oid			class_oid = isnull ? InvalidOid :
	((oidvector *) DatumGetPointer(value))->values[0];
	Oid			family_oid;
	Oid			type_oid;

	if (!OidIsValid(class_oid) ||
		!get_opclass_opfamily_and_input_type(class_oid, &family_oid, &type_oid))
		return false;
	return get_opfamily_member(family_oid, type_oid, type_oid, BTLessStrategyNumber) ==
		lookup_type_cache(type_oid, TYPECACHE_LT_OPR)->lt_opr;
}

bool
tier_partition_read_key(Oid relation_oid, TierTableKey *key)
{
	HeapTuple	tuple = SearchSysCache1(PARTRELID, ObjectIdGetDatum(relation_oid));
	Form_pg_partitioned_table form;
	AttrNumber	attribute;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_partitioned_table) GETSTRUCT(tuple);
	key->strategy = form->partstrat;
	key->ncolumns = form->partnatts;
	attribute = form->partattrs.values[0];
	key->order_known = is_order_known(tuple);
	ReleaseSysCache(tuple);

	if (attribute == 0)
		return false;
	name = get_attname(relation_oid, attribute, true);
	if (name == NULL)
		return false;
	namestrcpy(&key->column, name);
	key->type_oid = getBaseType(get_atttype(relation_oid, attribute));
	return true;
}

#define UNIX_EPOCH_US (-((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)) * USECS_PER_DAY)

/* The units that a user can name. */
struct TierKeyUnit
{
	const char *name;
	TierKeyKind kind;
	int64		units_per_s;	/* of a count */
};

static const TierKeyUnit key_units[] = {
	{"seconds", TIER_KEY_COUNT, INT64CONST(1)},
	{"milliseconds", TIER_KEY_COUNT, INT64CONST(1000)},
	{"microseconds", TIER_KEY_COUNT, INT64CONST(1000000)},
	{"nanoseconds", TIER_KEY_COUNT, INT64CONST(1000000000)},
	{"yyyymmdd", TIER_KEY_YYYYMMDD, 0},
	{"yyyymm", TIER_KEY_YYYYMM, 0},
	{"yyyy", TIER_KEY_YYYY, 0},
	{"uuidv7", TIER_KEY_UUIDV7, 0},
};

#define NUMBER_UNITS "seconds, milliseconds, microseconds, nanoseconds, yyyymmdd, yyyymm or yyyy"

static bool
is_number(Oid type_oid)
{
	return type_oid == INT2OID || type_oid == INT4OID || type_oid == INT8OID ||
		type_oid == NUMERICOID;
}

const TierKeyUnit *
tier_partition_find_unit(const char *name)
{
	if (name == NULL)
		return NULL;
	for (int i = 0; i < (int) lengthof(key_units); i++)
		if (strcmp(key_units[i].name, name) == 0)
			return &key_units[i];
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid key unit \"%s\"", name),
			 errhint("Use %s for a number, uuidv7 for a uuid.", NUMBER_UNITS)));
	return NULL;				/* not reached */
}

/* Raises an error unless this is a unit for the key's type. */
static void
check_unit(const char *key_unit, TierPartitionKey *key)
{
	const TierKeyUnit *unit = tier_partition_find_unit(key_unit);
	bool		is_time = key->type_oid == DATEOID || key->type_oid == TIMESTAMPOID ||
	key->type_oid == TIMESTAMPTZOID;
	bool		has_number = is_number(key->type_oid);

	if (!is_time && !has_number && key->type_oid != UUIDOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("partition key \"%s\" of type %s does not tell the age of a row",
						NameStr(key->column), format_type_be(key->type_oid)),
				 errhint("Supported types are date, timestamp, timestamptz, smallint, "
						 "integer, bigint, numeric and uuid (version 7).")));
	if (is_time ? unit != NULL :
		unit == NULL || has_number != (unit->kind != TIER_KEY_UUIDV7))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("partition key \"%s\" of type %s %s", NameStr(key->column),
						format_type_be(key->type_oid), is_time ? "is a time without key_unit" :
						"needs a conversion to a time"),
				 is_time ? 0 : errhint("Set key_unit in options to %s.", has_number ?
									   NUMBER_UNITS : "uuidv7, if all keys are of version 7")));
	key->kind = unit == NULL ? TIER_KEY_TIME : unit->kind;
	key->units_per_s = unit == NULL ? 0 : unit->units_per_s;
}

/* False: there is no such hypertable. */
static bool
read_hypertable_key(Oid relation_oid, TierTableKey *key)
{
	if (!tier_hypertable_column(relation_oid, &key->column))
		return false;
	key->strategy = PARTITION_STRATEGY_RANGE;
	key->ncolumns = 1;
	key->type_oid = getBaseType(get_atttype(relation_oid,
											get_attnum(relation_oid, NameStr(key->column))));
	key->order_known = true;
	return OidIsValid(key->type_oid);
}

void
tier_partition_check_key(Oid relation_oid, const char *key_unit, TierPartitionKey *key)
{
	TierRelationInfo info;
	TierTableKey table;
	bool		is_hypertable;

	tier_relation_require(relation_oid, &info);
	is_hypertable = info.kind == RELKIND_RELATION && read_hypertable_key(relation_oid, &table);
	if (info.kind != RELKIND_PARTITIONED_TABLE && !is_hypertable)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s is not a partitioned table",
						tier_relation_kind_name(info.kind), info.name),
				 errdetail("move_after requires range partitions or chunks of a "
						   "hypertable, whose bounds tell their age."),
				 errhint("For other tables and materialized views, use idle_for, "
						 "no_writes_for or below_reads_per_hour.")));

	memset(key, 0, sizeof(TierPartitionKey));
	if ((!is_hypertable && !tier_partition_read_key(relation_oid, &table)) ||
		table.strategy != PARTITION_STRATEGY_RANGE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table %s is not partitioned by range of a column", info.name),
				 errdetail("move_after needs bounds that tell the age of a partition."),
				 errhint("If its partitions are range-partitioned themselves, add the policy to "
						 "each of them. Otherwise use idle_for, no_writes_for or "
						 "below_reads_per_hour, which consider the use of each partition.")));
	key->column = table.column;
	key->type_oid = table.type_oid;
	check_unit(key_unit, key);
	if (!table.order_known)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column %s of table %s has a custom sort order",
						quote_identifier(NameStr(key->column)), info.name),
				 errdetail("The operator class of the partition key does not order by the "
						   "server's operator <, so the later bound is unknown."),
				 errhint("Move its partitions with CALL tiered_storage.move_relation().")));
}

/*
 * Puts a bound on the axis of times.  A time that the time zone moves before the calendar becomes
 * the earliest one; a time after the calendar is in the future.
 */
static bool
within_calendar(int64 *us)
{
	*us = Max(*us, MIN_TIMESTAMP);
	return *us < END_TIMESTAMP;
}

/*
 * The begin of a day in the zone of TimeZone; false behind the calendar, which ends before
 * dates do, and for infinite dates.
 */
static bool
date_time(DateADT date, int64 *us)
{
	if (DATE_NOT_FINITE(date) || date < DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE ||
		date >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)
		return false;
	return tier_time_zone_bound(date * USECS_PER_DAY, false, us) && within_calendar(us);
}

/*
 * A bound that is a time.  An upper one is the smallest step above the last row that can
 * be: on a day that clocks are set, the time after it may be an hour later, or earlier.
 */
static bool
plain_time(const TierPartitionKey *key, Datum value, TierBoundEnd end, int64 *us)
{
	bool		is_inclusive = end == TIER_END_UPPER_INCLUSIVE;

	switch (key->type_oid)
	{
		case DATEOID:
			if (DATE_NOT_FINITE(DatumGetDateADT(value)))
				return false;
			return date_time(DatumGetDateADT(value) + (is_inclusive ? 1 : 0), us);
		case TIMESTAMPOID:
			*us = DatumGetTimestamp(value);
			if (TIMESTAMP_NOT_FINITE(*us))
				return false;
			if (end == TIER_END_LOWER || (*us == MIN_TIMESTAMP && !is_inclusive))
				return tier_time_zone_bound(*us, false, us) && within_calendar(us);
			if (!tier_time_zone_bound(*us - (is_inclusive ? 0 : 1), true, us))
				return false;
			*us += 1;
			return within_calendar(us);
		default:
			*us = DatumGetTimestampTz(value);
			if (TIMESTAMP_NOT_FINITE(*us))
				return false;
			*us += is_inclusive ? 1 : 0;
			return within_calendar(us);
	}
}

/* A numeric as an integer, rounded up or down; false if it is not a number, or does not fit. */
static bool
numeric_to_integer(Datum value, bool round_up, int64 *result)
{
	Datum		least = NumericGetDatum(int64_to_numeric(PG_INT64_MIN));
	Datum		most = NumericGetDatum(int64_to_numeric(PG_INT64_MAX));
	Datum		rounded;

	if (numeric_is_nan(DatumGetNumeric(value)) || numeric_is_inf(DatumGetNumeric(value)))
		return false;
	rounded = DirectFunctionCall1(round_up ? numeric_ceil : numeric_floor, value);
	if (DatumGetBool(DirectFunctionCall2(numeric_lt, rounded, least)) ||
		DatumGetBool(DirectFunctionCall2(numeric_gt, rounded, most)))
		return false;
	*result = DatumGetInt64(DirectFunctionCall1(numeric_int8, rounded));
	return true;
}

/*
 * Converts a numeric bound to the integer with the same meaning for whole numbers: the first
 * one that is not below it, and with an inclusive end the first one above it.  So a value
 * between two whole numbers belongs to the smaller one.
 */
static bool
integer_bound(Oid type_oid, Datum value, TierBoundEnd end, int64 *result)
{
	switch (type_oid)
	{
		case INT2OID:
			*result = DatumGetInt16(value);
			break;
		case INT4OID:
			*result = DatumGetInt32(value);
			break;
		case INT8OID:
			*result = DatumGetInt64(value);
			break;
		default:
			if (!numeric_to_integer(value, end == TIER_END_UPPER, result))
				return false;
			break;
	}
	return end != TIER_END_UPPER_INCLUSIVE || !pg_add_s64_overflow(*result, 1, result);
}

/* Units since 1970; false if beyond the range of times. */
static bool
count_time(const TierPartitionKey *key, int64 value, bool round_up, int64 *us)
{
	int64		count = value;

	if (key->units_per_s > USECS_PER_SEC)
	{
		int64		divisor = key->units_per_s / USECS_PER_SEC;
		int64		rest = count % divisor;

		count /= divisor;
		if (rest > 0 && round_up)
			count++;
		else if (rest < 0 && !round_up)
			count--;
	}
	else if (pg_mul_s64_overflow(count, USECS_PER_SEC / key->units_per_s, &count))
		return false;
	return !pg_add_s64_overflow(count, UNIX_EPOCH_US, us) && IS_VALID_TIMESTAMP(*us);
}

/*
 * The begin of the first day, month or year that is not below a number such as 20260131, 202601
 * or 2026.  The number need not be a date itself: 20260132 is above all of January 2026, and
 * 20260000 below it.  There are no dates below the year 1; a number there, such as 0 for an
 * unknown date, has no time.
 */
static bool
calendar_time(TierKeyKind kind, int64 value, int64 *us)
{
	bool		has_day = kind == TIER_KEY_YYYYMMDD;
	bool		has_month = kind == TIER_KEY_YYYYMM;
	int64		year = has_day ? value / 10000 : has_month ? value / 100 : value;
	int			month = has_day ? value / 100 % 100 : has_month ? value % 100 : 1;
	int			day = has_day ? value % 100 : 1;

	if (value <= 0 || year < 1 || year >= JULIAN_MAXYEAR)
		return false;
	if (month < 1)
		month = day = 1;
	else if (day > (month <= MONTHS_PER_YEAR ? day_tab[isleap(year)][month - 1] : 0))
	{
		month++;
		day = 1;
	}
	if (month > MONTHS_PER_YEAR)
	{
		year++;
		month = day = 1;
	}
	return date_time(date2j((int) year, month, Max(day, 1)) - POSTGRES_EPOCH_JDATE, us);
}

/*
 * A uuid of version 7 begins with 48 bits of milliseconds since 1970-01-01 UTC.
 * Bounds need not be of that version: of many only the time is set, and
 * all zeros or all ones follow.  Whatever else is there was not made for
 * this, and has no time; nor has the greatest time, that of the greatest uuid.
 */
static bool
uuid_time(const pg_uuid_t *uuid, TierBoundEnd end, int64 *us)
{
	/* The smallest of version 7 and the usual variant, without its time. */
	static const uint8 smallest[UUID_LEN - 6] = {0x70, 0x00, 0x80};
	const uint8 *rest = uuid->data + 6;
	bool		zeros = true;
	bool		ones = true;
	int64		ms = 0;

	for (int i = 0; i < 6; i++)
		ms = (ms << 8) | uuid->data[i];
	for (int i = 0; i < UUID_LEN - 6; i++)
	{
		zeros = zeros && rest[i] == 0x00;
		ones = ones && rest[i] == 0xff;
	}
	if (!(zeros || ones || rest[0] >> 4 == 7) || ms == (INT64CONST(1) << 48) - 1)
		return false;
	if (end == TIER_END_UPPER_INCLUSIVE ||
		(end == TIER_END_UPPER && memcmp(rest, smallest, sizeof(smallest)) > 0))
		ms++;
	*us = ms * 1000 + UNIX_EPOCH_US;
	return true;
}

bool
tier_partition_bound_time(const TierPartitionKey *key, const Const *bound,
						  TierBoundEnd end, int64 *us)
{
	int64		value;

	if (bound->constisnull)
		return false;
	switch (key->kind)
	{
		case TIER_KEY_TIME:
			return plain_time(key, bound->constvalue, end, us);
		case TIER_KEY_UUIDV7:
			return uuid_time(DatumGetUUIDP(bound->constvalue), end, us);
		case TIER_KEY_COUNT:
			return integer_bound(key->type_oid, bound->constvalue, end, &value) &&
				count_time(key, value, end != TIER_END_LOWER, us);
		case TIER_KEY_YYYYMMDD:
		case TIER_KEY_YYYYMM:
		case TIER_KEY_YYYY:
			return integer_bound(key->type_oid, bound->constvalue, end, &value) &&
				calendar_time(key->kind, value, us);
	}
	return false;
}
