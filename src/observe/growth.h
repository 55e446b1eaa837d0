/*-------------------------------------------------------------------------
 *
 * observe/growth.h
 *		What came to each tablespace and went from it since the last sample.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_OBSERVE_GROWTH_H
#define TIER_OBSERVE_GROWTH_H

#include "postgres.h"

#include "src/catalog/tables.h"

/*
 * Notes in growths by how much the relations in each tablespace have grown or shrunk
 * since the last sample, with those that are new and without those that are gone.
 * What only went to another tablespace is no change.  `last` is what the sample at
 * `since` has left (0: there was none, and noting begins), `states` what merge has
 * made of it; both by OID.  Memory for new tablespaces is where growths->tablespaces is.
 */
extern void tier_growth_observe(TierGrowths *growths, const TierRelationState *last, int nlast,
								TimestampTz since, const TierRelationState *states, int nstates,
								TimestampTz now);

#endif							/* TIER_OBSERVE_GROWTH_H */
