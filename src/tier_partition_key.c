/*-------------------------------------------------------------------------
 *
 * tier_partition_key.c
 *		Which key ages the partitions of a table, and its values as times.
 *
 * Catalog look-ups without any lock on the table.  Only a key function runs
 * code of a user; see tier_partition_evaluate for whose rights it has.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "tier_partition_key.h"
#include "tier_relation.h"

/* First key column of a partitioned table; false when it is no plain column. */
bool
tier_partition_read_key(Oid relation_oid, char *strategy, int *ncolumns, NameData *column, Oid *type_oid)
{
	HeapTuple	tuple = SearchSysCache1(PARTRELID, ObjectIdGetDatum(relation_oid));
	Form_pg_partitioned_table form;
	AttrNumber	attribute;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_partitioned_table) GETSTRUCT(tuple);
	*strategy = form->partstrat;
	*ncolumns = form->partnatts;
	attribute = form->partattrs.values[0];
	ReleaseSysCache(tuple);

	if (attribute == 0)
		return false;
	name = get_attname(relation_oid, attribute, true);
	if (name == NULL)
		return false;
	namestrcpy(column, name);
	*type_oid = get_atttype(relation_oid, attribute);
	return true;
}

static int64
units_per_second(const char *key_unit)
{
	if (strcmp(key_unit, "seconds") == 0)
		return 1;
	if (strcmp(key_unit, "milliseconds") == 0)
		return 1000;
	if (strcmp(key_unit, "microseconds") == 0)
		return 1000000;
	if (strcmp(key_unit, "nanoseconds") == 0)
		return 1000000000;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid key unit \"%s\"", key_unit),
			 errhint("Use seconds, milliseconds, microseconds or nanoseconds (since 1970-01-01 UTC), or a key function.")));
	return 0;
}

static void
check_key_function(Oid function_oid, Oid key_type)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function_oid));
	Form_pg_proc form;
	bool		fits;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("key function with OID %u does not exist", function_oid)));
	form = (Form_pg_proc) GETSTRUCT(tuple);
	fits = form->prokind == PROKIND_FUNCTION && !form->proretset && form->pronargs == 1 &&
		form->proargtypes.values[0] == key_type && form->provolatile != PROVOLATILE_VOLATILE &&
		(form->prorettype == TIMESTAMPTZOID || form->prorettype == TIMESTAMPOID || form->prorettype == DATEOID);
	ReleaseSysCache(tuple);
	if (!fits)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("function %s cannot convert the partition key to a time", format_procedure(function_oid)),
				 errdetail("A key function takes one argument of type %s, returns timestamp with time zone, timestamp or date, and is not volatile.",
						   format_type_be(key_type))));
}

void
tier_partition_check_key(Oid relation_oid, const char *key_unit, Oid function_oid, TierPartitionKey *key)
{
	TierRelationInfo info;
	char		strategy;
	int			ncolumns;

	if (!tier_relation_lookup(relation_oid, &info))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation_oid)));
	if (info.kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s is not a partitioned table", tier_relation_kind_name(info.kind), info.name),
				 errhint("An age policy moves the partitions of a range-partitioned table; move a single relation with CALL tiered_storage.move_relation().")));
	if (info.persistence == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("temporary table %s cannot have a tiering policy", info.name)));

	memset(key, 0, sizeof(TierPartitionKey));
	if (!tier_partition_read_key(relation_oid, &strategy, &ncolumns, &key->column, &key->type_oid) ||
		strategy != PARTITION_STRATEGY_RANGE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table %s is not partitioned by range of a column", info.name),
				 errhint("If its partitions are range-partitioned themselves, add the policy to each of them.")));

	if (key_unit != NULL && OidIsValid(function_oid))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key_unit and key_function cannot be used together")));
	if (OidIsValid(function_oid))
	{
		check_key_function(function_oid, key->type_oid);
		key->function_oid = function_oid;
		return;
	}

	switch (key->type_oid)
	{
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			if (key_unit != NULL)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("key_unit is only for integer keys"),
						 errdetail("The partition key \"%s\" is of type %s.",
								   NameStr(key->column), format_type_be(key->type_oid))));
			break;
		case INT2OID:
		case INT4OID:
		case INT8OID:
			if (key_unit == NULL)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("an integer partition key needs a conversion to a time"),
						 errdetail("The partition key \"%s\" is of type %s.",
								   NameStr(key->column), format_type_be(key->type_oid)),
						 errhint("Give key_unit => 'seconds', 'milliseconds', 'microseconds' or 'nanoseconds', or a key_function.")));
			key->units_per_s = units_per_second(key_unit);
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("partition key \"%s\" of type %s does not tell the age of a row",
							NameStr(key->column), format_type_be(key->type_oid)),
					 errhint("Date, timestamp and integer keys do; for other types give a key_function.")));
	}
}

/* A time as microseconds; false for infinite ones. */
static bool
finite_time(Datum value, Oid type_oid, int64 *us)
{
	TimestampTz time;

	switch (type_oid)
	{
		case DATEOID:
			{
				DateADT		date = DatumGetDateADT(value);

				if (DATE_NOT_FINITE(date) || date >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)
					return false;
				time = DatumGetTimestampTz(DirectFunctionCall1(date_timestamptz, value));
				break;
			}
		case TIMESTAMPOID:
			if (TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)))
				return false;
			time = DatumGetTimestampTz(DirectFunctionCall1(timestamp_timestamptz, value));
			break;
		default:
			time = DatumGetTimestampTz(value);
			break;
	}
	*us = time;
	return !TIMESTAMP_NOT_FINITE(time);
}

/* An integer counted from the Unix epoch; false beyond what a time can be. */
static bool
integer_time(int64 value, int64 units_per_s, int64 *us)
{
	int64		epoch_us = ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)) * USECS_PER_DAY;
	int64		result;

	if (units_per_s > USECS_PER_SEC)
		result = value / (units_per_s / USECS_PER_SEC);
	else if (pg_mul_s64_overflow(value, USECS_PER_SEC / units_per_s, &result))
		return false;
	if (pg_sub_s64_overflow(result, epoch_us, &result))
		return false;
	*us = result;
	return IS_VALID_TIMESTAMP(result);
}

/* Calls the key function; false when it returns null or an infinite time. */
static bool
function_time(Oid function_oid, Datum value, int64 *us)
{
	FmgrInfo	function;

	LOCAL_FCINFO(call, 1);
	Datum		result;

	fmgr_info(function_oid, &function);
	InitFunctionCallInfoData(*call, &function, 1, InvalidOid, NULL, NULL);
	call->args[0].value = value;
	call->args[0].isnull = false;
	result = FunctionCallInvoke(call);
	if (call->isnull)
		return false;
	return finite_time(result, get_func_rettype(function_oid), us);
}

/*
 * A bound as a time.  Where rows may equal the bound (multi-column keys) the
 * result is the first time after it.
 */
bool
tier_partition_bound_time(const TierPartitionKey *key, Const *bound, bool inclusive, int64 *us)
{
	if (bound->constisnull)
		return false;
	if (OidIsValid(key->function_oid))
	{
		if (!function_time(key->function_oid, bound->constvalue, us))
			return false;
		*us += inclusive ? 1 : 0;
		return true;
	}
	switch (key->type_oid)
	{
		case INT2OID:
			return integer_time((int64) DatumGetInt16(bound->constvalue) + inclusive, key->units_per_s, us);
		case INT4OID:
			return integer_time((int64) DatumGetInt32(bound->constvalue) + inclusive, key->units_per_s, us);
		case INT8OID:
			{
				int64		value = DatumGetInt64(bound->constvalue);

				if (inclusive && value < PG_INT64_MAX)
					value++;
				return integer_time(value, key->units_per_s, us);
			}
		default:
			if (!finite_time(bound->constvalue, key->type_oid, us))
				return false;
			if (inclusive)
				*us += key->type_oid == DATEOID ? USECS_PER_DAY : 1;
			return true;
	}
}
