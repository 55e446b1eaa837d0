/*-------------------------------------------------------------------------
 *
 * base/by_oid.h
 *		Arrays whose elements begin with an OID, sorted by it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_BY_OID_H
#define TIER_BY_OID_H

#include "postgres.h"

#include "utils/builtins.h"

/* The element with that OID, any of several; NULL: there is none. */
static inline void *
tier_by_oid_find(Oid oid, const void *array, int n, Size size)
{
	return n > 0 ? (void *) bsearch(&oid, array, n, size, oid_cmp) : NULL;
}

#endif							/* TIER_BY_OID_H */
