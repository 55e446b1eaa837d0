/*-------------------------------------------------------------------------
 *
 * model/policy.h
 *		Which partitions are due under an age policy, and why.
 *
 * Pure: decides on a snapshot that somebody else loaded.  Times are
 * microseconds on one axis (PostgreSQL's TimestampTz); the caller has already
 * turned dates, timestamps and integer keys into it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_H
#define TIER_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* How the values of a key become times, as the user said it. */
typedef struct TierKeyConversion
{
	char	   *unit;			/* NULL: the key is a date or timestamp */
	int64_t		epoch;			/* what a count begins at, if has_epoch; else
								 * 1970-01-01 UTC */
	bool		has_epoch;
	int			shift;			/* bits beneath the count */
} TierKeyConversion;

typedef enum TierPartitionBound
{
	TIER_BOUND_FINITE,			/* time is meaningful */
	TIER_BOUND_OPEN,			/* MINVALUE, MAXVALUE, or an infinite time */
	TIER_BOUND_NONE,			/* default partition, or below one */
} TierPartitionBound;

/* One leaf partition as the policy sees it. */
typedef struct TierPartition
{
	TierPartitionBound lower_kind;
	TierPartitionBound upper_kind;
	int64_t		lower_us;		/* inclusive, the tightest of all levels */
	int64_t		upper_us;		/* exclusive, the tightest of all levels */
	bool		is_foreign;		/* a foreign table: not ours to move */
	bool		is_temporary;
	bool		is_empty;		/* no block in it */
	bool		on_target;		/* it and what moves along is there already,
								 * or on a slower one */
	bool		on_slower_tier; /* the same, and the table is on a slower one */
	bool		pinned_elsewhere;	/* all that would move has to be elsewhere */
} TierPartition;

typedef enum TierPolicyVerdict
{
	TIER_VERDICT_DUE,
	TIER_VERDICT_ON_TARGET,
	TIER_VERDICT_ON_SLOWER_TIER,
	TIER_VERDICT_TOO_YOUNG,
	TIER_VERDICT_DEFAULT_PARTITION,
	TIER_VERDICT_OPEN_BOUND,
	TIER_VERDICT_FOREIGN,
	TIER_VERDICT_TEMPORARY,
	TIER_VERDICT_PINNED,
} TierPolicyVerdict;

/*
 * The instant from which age is counted when a policy counts from its newest
 * partition: the end of the newest partition that holds data, or its begin
 * where the end is open; the latest of these where several are candidates.
 * Foreign tables and default partitions are evidence of nothing.  False, and
 * reference_us untouched, when no partition says.
 */
extern bool tier_policy_newest(const TierPartition *partitions, int n,
							   int64_t *reference_us);

/*
 * One verdict for each partition.  Due means: everything in it is older than
 * threshold_us, that is upper_us <= threshold_us, and nothing else speaks
 * against moving it.  Verdicts are checked in the order foreign, temporary,
 * default, open bound, too young, on target, on slower tier, pinned.  A lower
 * bound that is open does not matter.
 */
extern void tier_policy_evaluate(const TierPartition *partitions, int n,
								 int64_t threshold_us,
								 TierPolicyVerdict *verdicts);

/* A short English reason for a verdict, without numbers; never NULL. */
extern const char *tier_policy_verdict_text(TierPolicyVerdict verdict);

#endif							/* TIER_POLICY_H */
