/*-------------------------------------------------------------------------
 *
 * server/suppose.h
 *		Planning as if relations were in other tablespaces, in this session.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SUPPOSE_H
#define TIER_SUPPOSE_H

#include "postgres.h"

typedef struct TierSupposition
{
	Oid			relation_oid;	/* a table, materialized view or index */
	Oid			tablespace_oid;
} TierSupposition;

/* A session that supposes more than that needs a placement, not a plan. */
#define TIER_MOST_SUPPOSITIONS 10000

/* Defines the setting that holds them.  Before tier_guc_init(), which closes the prefix. */
extern void tier_suppose_init(void);

/*
 * From here on the session plans these relations with the costs of these tablespaces; an entry
 * takes the place of an earlier one of the same relation, and all of them with `instead`.  The
 * session's cached plans are made anew.  It ends like a SET: with the (sub)transaction if that is
 * rolled back, by RESET ALL and DISCARD ALL, and with the session.  No relation is in the
 * entries twice.  Outside of a scope.  An error if there would be more than
 * TIER_MOST_SUPPOSITIONS.
 */
extern void tier_suppose(const TierSupposition *entries, int n, bool instead);

#endif							/* TIER_SUPPOSE_H */
