/*-------------------------------------------------------------------------
 *
 * model/policy.h
 *		Decides which partitions are due under a policy, by age, idleness and heat; and why.
 *
 * Pure: decides on a snapshot that the caller has loaded.  Times are microseconds on one axis
 * (PostgreSQL's TimestampTz); the caller has already turned dates, timestamps and integer keys
 * into it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_POLICY_H
#define TIER_POLICY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum TierPartitionBound
{
	TIER_BOUND_FINITE,			/* time is meaningful */
	TIER_BOUND_OPEN,			/* MINVALUE, MAXVALUE, an infinite time, or an
								 * unknown one */
	TIER_BOUND_NONE,			/* default partition, or below one */
} TierPartitionBound;

/*
 * The use of a table with its TOAST table and its indexes.  Use between two samples counts as of
 * the later one.
 */
typedef struct TierPartitionUse
{
	bool		is_observed;	/* if not, the rest means nothing */
	int64_t		first_seen_us;	/* in a sample, which may be long after it was
								 * created */
	int64_t		reads_known_since_us;	/* no read can have been missed since */
	int64_t		writes_known_since_us;
	int64_t		rate_known_since_us;
	bool		was_read;
	int64_t		last_read_us;	/* if it was */
	bool		was_written;
	int64_t		last_written_us;	/* if it was */
	double		reads_per_hour; /* of the relations that would move */
	bool		is_held;		/* a transaction holds it whose use is not
								 * counted yet */
	bool		may_be_hidden;	/* a session that hides its use at this moment
								 * may have used it */
} TierPartitionUse;

/* One leaf partition as the policy sees it. */
typedef struct TierPartition
{
	TierPartitionBound lower_kind;
	TierPartitionBound upper_kind;
	int64_t		lower_us;		/* inclusive, the tightest of all levels */
	int64_t		upper_us;		/* exclusive, the tightest of all levels */
	bool		is_foreign;		/* a foreign table: never moved */
	bool		is_temporary;
	bool		is_immovable;	/* for all roles */
	bool		not_allowed;	/* to the role of the policy */
	bool		has_no_age;		/* its table is not partitioned by a time */
	bool		on_target;		/* it and the relations that move along are
								 * there already, or on a slower tier */
	bool		on_slower_tier; /* the same, and the table is on a slower one */
	bool		pinned_elsewhere;	/* all that would move has to be elsewhere */
	TierPartitionUse use;		/* for policies that ask for it */
} TierPartition;

/* The conditions on a partition, all of which must be true; times as instants. */
typedef struct TierPolicyConditions
{
	bool		has_age;
	int64_t		age_us;			/* everything in it is before */
	bool		has_idle;
	int64_t		idle_us;		/* neither read nor written after */
	bool		has_no_writes;
	int64_t		no_writes_us;	/* not written after */
	bool		has_reads;
	double		below_reads_per_hour;
	int64_t		rate_us;		/* the rate must be known since */
	bool		has_keep;		/* a leaf that is read returns, so it does not
								 * leave */
	double		keep_reads_per_hour;	/* as long as its rate is not below
										 * this */
} TierPolicyConditions;

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
	TIER_VERDICT_IMMOVABLE,
	TIER_VERDICT_PINNED,
	TIER_VERDICT_IN_USE,
	TIER_VERDICT_NOT_OBSERVED,
	TIER_VERDICT_NO_RIGHT,
	TIER_VERDICT_NO_AGE,
	TIER_VERDICT_RETURNS,		/* by decide/policy_return.c alone */
	TIER_VERDICT_ERROR,			/* it could not be evaluated */
} TierPolicyVerdict;

/*
 * The verdict on a partition.  Due means: all conditions hold, and there is no other obstacle to
 * moving it.
 *
 * Of age: all rows in it are older, that is upper_us <= age_us.  Idle, and without writes: it is
 * known not to have been used after the instant.  A partition that is not known back to that
 * instant is not due, and neither is one that a transaction holds at this moment.
 *
 * Verdicts are checked in the order foreign, temporary, immovable, no right; if age matters no
 * age, default, open bound, too young; in use, not observed; in use by the rate that keeps it; on
 * target, on slower tier, pinned.  A lower bound that is open does not matter.
 */
extern TierPolicyVerdict tier_policy_evaluate(const TierPartition *partition,
											  const TierPolicyConditions *conditions);

/*
 * Judges the use by the conditions: whether it is in use, or not observed for long enough.
 * TIER_VERDICT_DUE: neither.
 */
extern TierPolicyVerdict tier_policy_judge_use(const TierPartitionUse *use,
											   const TierPolicyConditions *conditions);

/*
 * For a policy that lets tables return at so many reads per hour: the rate, of a day and of a
 * fortnight, below which they may leave.  At most half of it, unless the policy sets it, so that
 * a table that has returned does not leave at once when it is read a little less.
 */
extern double tier_policy_keep(double return_reads_per_hour, double below_reads_per_hour);

#endif							/* TIER_POLICY_H */
