/*-------------------------------------------------------------------------
 *
 * act/claims.h
 *		The tiers that the databases of a cluster assign their tablespaces to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CLAIMS_H
#define TIER_CLAIMS_H

#include "postgres.h"

#include "src/catalog/tables.h"

/*
 * Publishes this database's names of its tablespaces to the other databases.  Returns NULL, or a
 * message if another database was first with another name for one of them; then nothing may be
 * moved here.
 */
extern char *tier_claims_publish(const TierSet *set);

/* The same message, for a caller that only asks; publishes nothing. */
extern char *tier_claims_find_conflict(const TierSet *set);

/* An error where nothing may be moved; a dry run publishes nothing. */
extern void tier_claims_require(const TierSet *set, bool dry_run);

#endif							/* TIER_CLAIMS_H */
