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
#include "src/observe/sample.h"

/*
 * Notes in growths by how much the relations in each tablespace have grown or shrunk
 * since the sample in memory, with those that are new and without those that
 * are gone.  What only went to another tablespace is no change.  The first sample
 * notes none, and that noting begins.  Memory for new tablespaces is in the context of
 * growths->tablespaces.
 */
extern void tier_growth_observe(TierGrowths *growths, const TierSampleMemory *memory,
								const TierSampleView *view);

/* The evidence of a tablespace; NULL: nothing is known of it. */
extern const TierEvidence *tier_growth_of(const TierGrowths *growths, Oid tablespace_oid);

#endif							/* TIER_OBSERVE_GROWTH_H */
