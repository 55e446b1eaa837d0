/*-------------------------------------------------------------------------
 *
 * server/distributed.h
 *		Six questions about relations that are sharded over several servers.
 *
 * A shell is a table whose rows are in shards: it is empty, and is never moved or advised.  A
 * shard is an ordinary table.
 *
 * The answers come from a table of callbacks.  The default reads the catalog of Citus, which is
 * found at run time; without Citus each question costs one look-up in a cache.  No other
 * extension is needed for it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DISTRIBUTED_H
#define TIER_DISTRIBUTED_H

#include "postgres.h"

/* The default takes AccessShareLock on a catalog table of Citus while it reads it. */
typedef struct TierDistributed
{
	/*
	 * Is it a shell (distributed, reference or Citus local table), or an
	 * index of one?
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

	/* The table of an index; any other relation itself. */
	Oid			(*table_with) (Oid relation_oid);
} TierDistributed;

/*
 * The rendezvous variable with a TierDistributed *.  Our _PG_init puts the default there, unless
 * a library that was loaded before has put a table of its own there, which then answers us, too.
 * The number changes with the struct.
 */
#define TIER_DISTRIBUTED_VARIABLE "tiered_storage_distributed_1"

extern const TierDistributed *tier_distributed;

extern void tier_distributed_init(void);

#endif							/* TIER_DISTRIBUTED_H */
