/*-------------------------------------------------------------------------
 *
 * act/verify.h
 *		The effect of moves: predicted before, measured after.
 *
 * The method and its limits are described in docs/internals/effect.md.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_VERIFY_H
#define TIER_VERIFY_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/server/relation.h"

/*
 * The cost of a relation with its TOAST table where it is, and the expected cost elsewhere, in
 * device-seconds per hour, by the profiles of the tiers and the load that the advice counts on,
 * as of the last sample.  NaN: not known, because a tablespace is in no tier or the relation was
 * never sampled.  Inside a scope; takes only the locks of reading catalogs.
 */
extern void tier_verify_expect(const TierSet *set, const TierRelationInfo *info,
							   Oid to_tablespace_oid,
							   double *before_s_per_hour, double *predicted_s_per_hour);

/*
 * Stores the baseline of the effect when the move is done.  Drops pending measurements of older
 * moves of the relation.  Inside a scope, in the transaction that completes the move's record.
 */
extern void tier_verify_begin(int64 move_id, int64 batch_id, const TierSet *set, Oid relation_oid,
							  Oid from_tablespace_oid, Oid to_tablespace_oid);

/*
 * Takes a sample inside the caller's transaction.  Then it begins to measure moves that are done,
 * measures those whose time has come, at most 1000 of either, and warns once of each batch that
 * has made things worse: in the log if this is a worker, else by a warning.  False as from
 * tier_sample_run(), then nothing was done.
 */
extern bool tier_verify_sample(int patience_ms);

#endif							/* TIER_VERIFY_H */
