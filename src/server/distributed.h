/*-------------------------------------------------------------------------
 *
 * server/distributed.h
 *		What Citus says of a relation: is it a shard, or a table that has shards?
 *
 * Citus is found at run time, by its catalog tables; without them each question costs one
 * look-up in a cache.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DISTRIBUTED_H
#define TIER_DISTRIBUTED_H

#include "postgres.h"

/*
 * Is it a table whose rows are in shards (distributed, reference, or a local table that
 * Citus knows), or an index of one?  Such a relation is empty itself, whatever is asked of
 * it.  AccessShareLock on the catalog of Citus, for the moment.
 */
extern bool tier_distributed_is_shell(Oid relation_oid);

/* The table that has shards: itself, or that of the index. */
extern Oid	tier_distributed_table_with(Oid relation_oid);

/*
 * All of this database whose rows are in shards, sorted, *n of them; NULL: there is no Citus.
 * Indexes are not among them.  In the current context; the same lock.
 */
extern Oid *tier_distributed_shells(int *n);

/*
 * The distributed table that a shard, an index of a shard or its TOAST table is a part of;
 * InvalidOid: it is none.  The same lock.
 */
extern Oid	tier_distributed_table_of(Oid relation_oid);

/*
 * The same of a shard alone, which belongs to the owner of that table, and which Citus has
 * placed on this node: not of one that arrives, of one that has gone to another node and will
 * be dropped, nor of a table that somebody else has given such a name.
 */
extern Oid	tier_distributed_placed_table_of(Oid relation_oid);

/*
 * Why a shard, or an index or TOAST table of one, is not to be moved at this moment, in words
 * that can follow "could not move it: "; NULL: it may be, or is none.  Waits for nothing and
 * keeps nobody waiting.
 */
extern const char *tier_distributed_why_busy(Oid relation_oid);

#endif							/* TIER_DISTRIBUTED_H */
