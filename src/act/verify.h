/*-------------------------------------------------------------------------
 *
 * act/verify.h
 *		The effect of moves: predicted before, measured after.
 *
 * How it is measured, and what cannot be, is in docs/internals/effect.md.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_VERIFY_H
#define TIER_VERIFY_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/server/relation.h"

/*
 * What a relation with its TOAST table costs where it is, and what it should
 * cost elsewhere, in device-seconds per hour, by the profiles of the tiers and
 * the load that the advice counts on, as of the last sample.  NaN: not known,
 * because a tablespace is in no tier or the relation was never sampled.  Inside a
 * scope; no locks but those of reading catalogs.
 */
extern void tier_verify_expect(const TierSet *set, const TierRelationInfo *info,
							   Oid to_tablespace_oid,
							   double *before_s_per_hour, double *predicted_s_per_hour);

/*
 * The move is done: stores what its effect is to be measured against.  What
 * was still to be measured of older moves of the relation cannot be any more.
 * Inside a scope, in the transaction that completes the move's record.
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
