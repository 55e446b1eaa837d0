/*-------------------------------------------------------------------------
 *
 * observe/access_copy.h
 *		What COPY table TO reads, of an application that is ignored.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ACCESS_COPY_H
#define TIER_ACCESS_COPY_H

#include "postgres.h"

#include "nodes/parsenodes.h"

#include "src/compat.h"

/* The table, its TOAST table and the index of that. */
#define TIER_ACCESS_COPY_RELATIONS 3

/* What they had before one COPY; needs no end if that fails: then it counts as use. */
typedef struct TierAccessCopy
{
	int			n;				/* 0: it reads nothing that is observed */
	Oid			relation_oids[TIER_ACCESS_COPY_RELATIONS];
	TierCompatBlockCounts before[TIER_ACCESS_COPY_RELATIONS];
} TierAccessCopy;

/*
 * Before a COPY of a table to somewhere.  Locks the table as that will, and raises no error that
 * it would not.
 */
extern void tier_access_copy_begin(TierAccessCopy *copy, const CopyStmt *statement);

/* It has succeeded, and no plan that is watched has run within it. */
extern void tier_access_copy_end(const TierAccessCopy *copy);

#endif							/* TIER_ACCESS_COPY_H */
