/*-------------------------------------------------------------------------
 *
 * decide/partition_key.h
 *		Which key ages the partitions of a table, and its values as times.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PARTITION_KEY_H
#define TIER_PARTITION_KEY_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "nodes/primnodes.h"

/* The meaning of one value. */
typedef enum TierKeyKind
{
	TIER_KEY_TIME,				/* a date or timestamp */
	TIER_KEY_COUNT,				/* units since 1970-01-01 UTC */
	TIER_KEY_YYYYMMDD,
	TIER_KEY_YYYYMM,
	TIER_KEY_YYYY,
	TIER_KEY_UUIDV7,
} TierKeyKind;

/* The key that ages the partitions of a table. */
typedef struct TierPartitionKey
{
	NameData	column;
	Oid			type_oid;
	TierKeyKind kind;
	int64		units_per_s;	/* of a count */
} TierPartitionKey;

/* The partition key of a table, as it is. */
typedef struct TierTableKey
{
	char		strategy;
	int			ncolumns;
	NameData	column;			/* the first one */
	Oid			type_oid;		/* of that */
	bool		order_known;	/* it is ordered as the server orders its type */
} TierTableKey;

/* False: the first column is not a plain column, or there is no such table. */
extern bool tier_partition_read_key(Oid relation_oid, TierTableKey *key);

/* The unit of that name; NULL: that of a date or timestamp.  Raises an error if there is none. */
typedef struct TierKeyUnit TierKeyUnit;
extern const TierKeyUnit *tier_partition_find_unit(const char *name);

/*
 * Checks that relation is a table that can have an age policy, and that the unit fits its key,
 * which is returned.  Raises an error that names the missing property.
 */
extern void tier_partition_check_key(Oid relation_oid, const char *key_unit,
									 TierPartitionKey *key);

/* Which end of a partition a bound is. */
typedef enum TierBoundEnd
{
	TIER_END_LOWER,				/* no row is before it */
	TIER_END_UPPER,				/* each row is before it */
	TIER_END_UPPER_INCLUSIVE,	/* and rows may equal it: an upper bound of a
								 * key of several columns */
} TierBoundEnd;

/*
 * A bound as microseconds on the time axis of policies, on which the end decides; false for
 * nulls, infinite times, times after the calendar, and values that are no time at all.  A time
 * that the zone puts before the calendar is its begin.  A bound between two times counts as the
 * earlier one below, as the later one above.  Dates begin, and timestamps without time zone are,
 * in the zone of the setting TimeZone.  Runs only code of the server and of the extension.
 */
extern bool tier_partition_bound_time(const TierPartitionKey *key, const Const *bound,
									  TierBoundEnd end, int64 *us);

#endif							/* TIER_PARTITION_KEY_H */
