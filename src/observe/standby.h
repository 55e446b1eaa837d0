/*-------------------------------------------------------------------------
 *
 * observe/standby.h
 *		Reads of standbys, pulled and added to those of this server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_STANDBY_H
#define TIER_STANDBY_H

#include "postgres.h"

#include "src/model/relation_state.h"

/*
 * Takes what was pulled from standbys since the last sample out of
 * standby_reads and puts it into the `standby` field of the states, which are
 * ordered by OID; inside a scope, under the sampler's lock.  What belongs to
 * none of them is forgotten.
 */
extern void tier_standby_take(TierRelationState *states, int nstates);

/*
 * Worker only, outside of a transaction: pulls the counters of the standbys
 * whose time has come, in a transaction of its own.  An error is logged, and
 * otherwise without consequence.
 */
extern void tier_standby_pull(void);

#endif							/* TIER_STANDBY_H */
