/*-------------------------------------------------------------------------
 *
 * server/distributed.h
 *		Facts about relations that are sharded over several servers.
 *
 * A shell is a table whose rows are in shards: it is empty, and is never moved or advised.  A
 * shard is an ordinary table.
 *
 * They come from a table of callbacks.  The default table finds shells in the catalog of
 * Citus, and knows no shards; without Citus each call costs one cache look-up.  The library of
 * tiered_storage_citus installs its own table (citus/shards.c), which keeps the default
 * callbacks for shells.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DISTRIBUTED_H
#define TIER_DISTRIBUTED_H

#include "postgres.h"

/* A callback may take AccessShareLock on a catalog table of Citus while it reads that table. */
typedef struct TierDistributed
{
	/*
	 * Returns true for a shell (distributed, reference or Citus local table),
	 * and for an index of one.
	 */
	bool		(*is_shell) (Oid relation_oid);

	/*
	 * All shells of this database without their indexes, sorted, *n of them,
	 * in the current memory context; NULL: nothing here is sharded.
	 */
	Oid		   *(*shells) (int *n);

	/*
	 * The shell of a shard, or of an index or TOAST table of a shard; else
	 * InvalidOid.
	 */
	Oid			(*table_of) (Oid relation_oid);

	/*
	 * The shell of a shard that is placed on this node and has the owner of
	 * the shell; else InvalidOid, also for a shard that is arriving or waits
	 * to be dropped, and for a table that merely has the name of a shard.
	 */
	Oid			(*placed_table_of) (Oid relation_oid);

	/*
	 * Why a shard, or an index or TOAST table of one, must not be moved now,
	 * in words that can follow "could not move it: "; NULL: it may be.  Takes
	 * no lock that others wait for.
	 */
	const char *(*why_busy) (Oid relation_oid);

	bool		is_second;		/* not the default */
} TierDistributed;

/*
 * The rendezvous variable with a TierDistributed *.  Our _PG_init puts the default there, and
 * that of tiered_storage_citus its own, at any time.
 */
#define TIER_DISTRIBUTED_VARIABLE "tiered_storage_distributed_1"

extern const TierDistributed **tier_distributed_answers;

#define tier_distributed (*tier_distributed_answers)

extern void tier_distributed_init(void);

/* The table of an index; any other relation itself. */
extern Oid	tier_distributed_table_with(Oid relation_oid);

#endif							/* TIER_DISTRIBUTED_H */
