/*-------------------------------------------------------------------------
 *
 * decide/new_partitions.h
 *		Where new partitions are created, and where policies want them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_NEW_PARTITIONS_H
#define TIER_NEW_PARTITIONS_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/server/relation.h"

typedef enum TierBirthState
{
	TIER_BIRTH_IN_FORCE,		/* what is new is created on the tier */
	TIER_BIRTH_PENDING,			/* is to be */
	TIER_BIRTH_CHANGED,			/* was, until somebody has changed it */
	TIER_BIRTH_NO_RIGHT,
	TIER_BIRTH_NO_TABLESPACE,
	TIER_BIRTH_NO_ROOM,			/* the tier is too full */
	TIER_BIRTH_GIVE_BACK,		/* what was there before is to be set again */
	TIER_BIRTH_FORGET,			/* nothing is to be given back any more */
} TierBirthState;

/* A partitioned table, or a partitioned index. */
typedef struct TierBirthplace
{
	TierRelationInfo info;
	const TierPolicyRow *policy;	/* that decides; NULL: none does any more */
	int			to_tier;		/* index into the set, -1: no policy */
	Oid			to_tablespace;	/* if it is PENDING or GIVE_BACK; else 0 */
	Oid			before_oid;		/* what there was before any policy */
	bool		is_remembered;	/* that is in the store */
	Oid			set_oid;		/* if so: what was set, 0: that is gone */
	TierBirthState state;
	bool		is_urgent;		/* as it is, whoever creates a partition gets
								 * an error, or is about to: what is to be set
								 * waits for no window and no resume() */
	char	   *reason;			/* one sentence */
} TierBirthplace;

/*
 * Of each partitioned table below a policy's, and of their indexes if the policy includes
 * them, each once: the policy of the nearest table decides; of several of one table the
 * oldest; before all that are disabled.  And what is remembered of tables that no policy
 * says anything of.  By OID, in the current memory context; refers to the policies.  No lock
 * on a relation of a user; an active snapshot.
 */
extern TierBirthplace *tier_birthplaces_find(const TierPolicyRow *policies, int npolicies,
											 const TierSet *set,
											 const TierPartitionDefault *defaults, int ndefaults,
											 int *n);

/*
 * The same of one of them alone, for whoever is about to set it: NULL if neither a policy nor
 * the store says anything of it any more, or it is gone.
 */
extern const TierBirthplace *tier_birthplace_find(const TierPolicyRow *policies, int npolicies,
												  const TierSet *set,
												  const TierPartitionDefault *defaults,
												  int ndefaults, const TierRelationInfo *info);

/* "in force", ...; for columns. */
extern const char *tier_birth_state_name(TierBirthState state);

#endif							/* TIER_NEW_PARTITIONS_H */
