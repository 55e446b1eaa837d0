/*-------------------------------------------------------------------------
 *
 * tier_partition_key.h
 *		Which key ages the partitions of a table, and its values as times.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PARTITION_KEY_H
#define TIER_PARTITION_KEY_H

#include "postgres.h"

#include "nodes/primnodes.h"

/* The key that ages the partitions of a table. */
typedef struct TierPartitionKey
{
	NameData	column;
	Oid			type_oid;
	Oid			function_oid;	/* converts it to a time, 0: none */
	int64		units_per_s;	/* integer keys without function; else 0 */
} TierPartitionKey;

/*
 * Strategy, number of columns, and the first column with its type, of a
 * partitioned table's key; false when that is no plain column, or there is no
 * such table (any more).
 */
extern bool tier_partition_read_key(Oid relation_oid, char *strategy, int *ncolumns,
									NameData *column, Oid *type_oid);

/*
 * Checks that relation is a table that an age policy can be put on, and
 * returns its key.  Raises an error that says what is missing.  key_unit and
 * key_function as given by the user, NULL / 0 if not.
 */
extern void tier_partition_check_key(Oid relation_oid, const char *key_unit,
									 Oid function_oid, TierPartitionKey *key);

/*
 * A bound as microseconds on the time axis of policies; false for nulls,
 * infinite times and what is beyond the calendar.  Where rows may equal the
 * bound (inclusive: an upper bound of a key of several columns) the result is
 * the first time after it.  May call the key function.
 */
extern bool tier_partition_bound_time(const TierPartitionKey *key, Const *bound,
									  bool inclusive, int64 *us);

#endif							/* TIER_PARTITION_KEY_H */
