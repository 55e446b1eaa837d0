/*-------------------------------------------------------------------------
 *
 * decide/wear.h
 *		Comparison of the writes to a tier's devices with their endurance.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DECIDE_WEAR_H
#define TIER_DECIDE_WEAR_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "src/catalog/tables.h"

/* As of the moment in which it was loaded; not changed afterwards. */
typedef struct TierWears
{
	TierWear   *rows;
	int			n;
} TierWears;

/* Inside of a scope; the result lives in the given context. */
extern TierWears *tier_wears_load(MemoryContext context);

/*
 * The bytes written to the tier's devices in a day, without moves, and their endurance; NaN
 * unless that is known of each of them.
 */
extern void tier_wears_of(const TierWears *wears, const NameData *tier_name, double *written,
						  double *endures);

/*
 * Why nothing optional is moved to that tablespace, in the current memory context; NULL:
 * nothing speaks against it.
 */
extern char *tier_wears_reason(const TierWears *wears, const TierSet *set,
							   Oid to_tablespace_oid);

/*
 * Reports to a session that asks for moves to these tablespaces (OIDs) that they wear out, a
 * NOTICE for each tier.  Outside of a scope.
 */
extern void tier_wear_tell(const TierSet *set, const List *to_tablespaces);

/* Warns of each device that is worn too fast, once a day.  Inside of a scope. */
extern void tier_wear_warn(void);

#endif							/* TIER_DECIDE_WEAR_H */
