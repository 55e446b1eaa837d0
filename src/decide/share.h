/*-------------------------------------------------------------------------
 *
 * decide/share.h
 *		What the databases of the cluster may have of a tier that several of them want.
 *
 * Everybody who asks finds the same answer, from what all have published (base/cluster.h): nobody
 * is in charge, and nobody has to be asked.  It is a limit of an advice only; whether a
 * move has room is found out by the move itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SHARE_OF_TIER_H
#define TIER_SHARE_OF_TIER_H

#include "postgres.h"

#include "src/base/cluster.h"
#include "src/catalog/tables.h"

/*
 * Who shares a tier: databases that have the same tablespaces in it and the same name for it, and
 * have published lately.  Whoever has no part keeps what it has.
 */
typedef struct TierShared
{
	int			n;				/* fewer than two: nobody has to share */
	int		   *rows;			/* which of the published, */
	TierShareDemand *demands;	/* and what they want */
	int			own;			/* this database among them; -1: it is not */
	double		own_capacity_bytes; /* as it has published it */
	double		usable_bytes;	/* the least that one of them says it has;
								 * INFINITY: none does */
	double		used_bytes;		/* stored, by their files */
	double		others_bytes;	/* the same of all other databases */
} TierShared;

/* How often a worker says what its database wants, microseconds. */
extern int64 tier_share_interval_us(void);

/* Was it said so lately that it counts?  If not, the worker of that database does not run. */
extern bool tier_share_is_current(const TierPublished *published);

/* Everything that is published, by databases that are still there.  In a transaction. */
extern TierPublished *tier_share_published(int *n);

/*
 * Who shares a tier of the set.  Looks at the files of all databases if there are two of them.
 * In the current memory context.
 */
extern TierShared *tier_share_find(const TierSet *set, int tier, const TierPublished *rows,
								   int nrows);

/*
 * The clearing price of the tier if it had this capacity, in device-seconds per hour and byte, and
 * the share of each, in the order of shared->rows; 0: there is room for all, and the shares
 * are what they want.
 */
extern double tier_share_price(const TierSet *set, int tier, const TierShared *shared,
							   double capacity_bytes, double *shares);

#endif							/* TIER_SHARE_OF_TIER_H */
