/*-------------------------------------------------------------------------
 *
 * decide/policy_return.c
 *		Finds relations that policies have moved and that return because they are read again.
 *
 * A relation returns when history shows it read at the policy's rate in a third of return_after.
 * The averages of the sampler are not used, since they remember a burst for days.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/base/by_oid.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/decide/policy_return.h"
#include "src/storage/file_size.h"

/* Longer than most reports, shorter than a working week. */
#define RETURN_AFTER_S (3.0 * SECS_PER_DAY)

/* It must be read in a third of return_after: a working day is more than a third of a day. */
#define RETURN_PARTS 3.0

/* Something that is read enough to be looked at more closely. */
typedef struct Candidate
{
	TierEvaluation *evaluation;
	TierLeaf   *leaf;
	List	   *members;		/* OIDs: the relations on the policy's tier */
	double		read_s;			/* of return_after, at the rate */
} Candidate;

/* A leaf in one of the evaluations. */
typedef struct LeafPlace
{
	Oid			relation_oid;
	const TierEvaluation *evaluation;
	const TierLeaf *leaf;
} LeafPlace;

/* The data common to all candidates. */
typedef struct Returning
{
	const TierSet *set;
	const TierPins *pins;
	TimestampTz now;
	TierFullnessFlightOf flight;
	LeafPlace  *places;			/* by OID, of enabled policies */
	int			nplaces;
	TierLastMove *moves;		/* by OID */
	int			nmoves;
	TierRecentMove *placed;		/* within the cooldown, by OID */
	int			nplaced;
	double	   *room_bytes;		/* by tier; relations that return use it up */
	Candidate  *candidates;
	int			ncandidates;
} Returning;

double
tier_policy_return_seconds(const TierPolicyRow *policy)
{
	return policy->has_return_after ? tier_interval_seconds(&policy->return_after) :
		RETURN_AFTER_S;
}

/* ---------------------------------------------------------------------
 * Candidates for return
 * ---------------------------------------------------------------------
 */

bool
tier_policy_is_met(const TierLeaf *leaf)
{
	return leaf->verdict == TIER_VERDICT_DUE || leaf->verdict == TIER_VERDICT_ON_TARGET ||
		leaf->verdict == TIER_VERDICT_ON_SLOWER_TIER || leaf->verdict == TIER_VERDICT_PINNED;
}

static int
tier_of(const TierSet *set, Oid relation_oid)
{
	TierRelationInfo info;

	return tier_relation_lookup(relation_oid, &info) ?
		tier_set_tier_of_tablespace(set, info.tablespace_oid) : -1;
}

/* The relations of the leaf that are on the policy's tier. */
static List *
members_of(const TierEvaluation *evaluation, const TierLeaf *leaf, const TierSet *set)
{
	List	   *indexes = evaluation->policy->include_indexes ?
	tier_relation_indexes(leaf->info.relation_oid) : NIL;
	List	   *members = NIL;
	ListCell   *cell;

	if (leaf->from_tier == evaluation->to_tier)
		members = lappend_oid(members, leaf->info.relation_oid);
	foreach(cell, indexes)
		if (tier_of(set, lfirst_oid(cell)) == evaluation->index_tier)
		members = lappend_oid(members, lfirst_oid(cell));
	return members;
}

static bool
is_candidate(const TierEvaluation *evaluation, const TierLeaf *leaf)
{
	return !leaf->partition.is_foreign && !leaf->partition.is_temporary &&
		!leaf->partition.is_immovable && !tier_policy_is_met(leaf) &&
		leaf->verdict != TIER_VERDICT_NO_RIGHT && leaf->verdict != TIER_VERDICT_ERROR &&
		leaf->partition.use.reads_per_hour >= evaluation->conditions.keep_reads_per_hour;
}

static void
find_candidates(Returning *returning, TierEvaluation **evaluations, int n)
{
	int			most = 0;

	for (int i = 0; i < n; i++)
		most += evaluations[i]->nleaves;
	returning->candidates = palloc_extended(sizeof(Candidate) * Max(most, 1),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < n; i++)
		for (int j = 0; evaluations[i]->conditions.has_keep && j < evaluations[i]->nleaves; j++)
		{
			Candidate  *candidate = &returning->candidates[returning->ncandidates];

			if (!is_candidate(evaluations[i], &evaluations[i]->leaves[j]))
				continue;
			candidate->evaluation = evaluations[i];
			candidate->leaf = &evaluations[i]->leaves[j];
			returning->ncandidates++;
		}
}

static void
find_members(void *argument, int i)
{
	Returning  *returning = argument;
	Candidate  *candidate = &returning->candidates[i];

	tier_debug_relation("return", candidate->leaf->info.relation_oid);
	candidate->members = members_of(candidate->evaluation, candidate->leaf, returning->set);
}

/* Leaves out those of which nothing is on the policy's tier, or that have failed. */
static void
keep_candidates(Returning *returning)
{
	int			kept = 0;

	for (int i = 0; i < returning->ncandidates; i++)
		if (returning->candidates[i].members != NIL)
			returning->candidates[kept++] = returning->candidates[i];
	returning->ncandidates = kept;
}

static Oid
candidate_oid(const void *argument, int i)
{
	return ((const Returning *) argument)->candidates[i].leaf->info.relation_oid;
}

static void
leave_out_candidate(void *argument, int i, char *message)
{
	Candidate  *candidate = &((Returning *) argument)->candidates[i];
	TierLeaf   *leaf = candidate->leaf;

	candidate->members = NIL;
	leaf->error = leaf->reason = message;
	leaf->verdict = TIER_VERDICT_ERROR;
	leaf->pending = leaf->returns = NIL;
}

/* ---------------------------------------------------------------------
 * For how long it has been read
 * ---------------------------------------------------------------------
 */

/* All whose reads are the leaf's, as tier_uses_find() counts them. */
static List *
readers_of(const Candidate *candidate)
{
	const TierRelationInfo *info = &candidate->leaf->info;
	List	   *relations = list_make1_oid(info->relation_oid);

	if (OidIsValid(info->toast_oid))
	{
		relations = lappend_oid(relations, info->toast_oid);
		relations = list_concat(relations, tier_relation_indexes(info->toast_oid));
	}
	if (candidate->evaluation->policy->include_indexes)
		relations = list_concat(relations, tier_relation_indexes(info->relation_oid));
	return relations;
}

static void
read_history(Candidate *candidates, int n, TimestampTz now)
{
	TierReadTime *times = palloc_extended(sizeof(TierReadTime) * n, MCXT_ALLOC_HUGE);
	TierCatalogScope scope;

	for (int i = 0; i < n; i++)
	{
		const TierPolicyRow *policy = candidates[i].evaluation->policy;

		times[i].relations = readers_of(&candidates[i]);
		times[i].since = now - (int64) (tier_policy_return_seconds(policy) * USECS_PER_SEC);
		times[i].reads_per_hour = policy->return_when_reads_per_hour;
		times[i].seconds = 0.0;
	}
	tier_catalog_enter(&scope);
	tier_catalog_find_read_time(times, n, now);
	tier_catalog_leave(&scope);
	for (int i = 0; i < n; i++)
		candidates[i].read_s = times[i].seconds;
	pfree(times);
}

/* ---------------------------------------------------------------------
 * Where to
 * ---------------------------------------------------------------------
 */

static void
load_moves(Returning *returning, const Candidate *candidates, int n)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	List	   *all = NIL;
	Oid		   *relations;
	int			i = 0;
	ListCell   *cell;

	for (int c = 0; c < n; c++)
		foreach(cell, candidates[c].members)
			all = lappend_oid(all, lfirst_oid(cell));
	relations = palloc_extended(sizeof(Oid) * Max(list_length(all), 1), MCXT_ALLOC_HUGE);
	foreach(cell, all)
		relations[i++] = lfirst_oid(cell);
	returning->room_bytes = palloc(sizeof(double) * Max(returning->set->ntiers, 1));
	tier_catalog_enter(&scope);
	returning->moves = tier_catalog_load_last_moves(context, relations, i, &returning->nmoves);
	returning->placed = tier_catalog_load_placed(context, relations, i, returning->now -
												 tier_cooldown_min * USECS_PER_MINUTE,
												 &returning->nplaced);
	for (int t = 0; t < returning->set->ntiers; t++)
	{
		const TierTier *tier = &returning->set->tiers[t];
		TierFullnessQuestion question = {.flight = returning->flight};
		TierFullnessLevel level;

		returning->room_bytes[t] = INFINITY;
		if (tier->capacity_bytes <= 0)
			continue;
		level = tier_fullness_level(returning->set, t, &question);
		returning->room_bytes[t] = level.capacity_bytes *
			Min(tier_fullness_stay_mark(tier), 1.0 - tier->reserve_fraction) -
			tier_fullness_bytes(&level);
	}
	tier_catalog_leave(&scope);
}

static void
find_places(Returning *returning, TierEvaluation **evaluations, int n)
{
	int			most = 0;

	for (int i = 0; i < n; i++)
		most += evaluations[i]->nleaves;
	returning->places = palloc_extended(sizeof(LeafPlace) * Max(most, 1), MCXT_ALLOC_HUGE);
	for (int i = 0; i < n; i++)
		for (int j = 0; evaluations[i]->policy->is_enabled && j < evaluations[i]->nleaves; j++)
			returning->places[returning->nplaces++] = (LeafPlace)
		{
			evaluations[i]->leaves[j].info.relation_oid, evaluations[i],
				&evaluations[i]->leaves[j]
		};
	qsort(returning->places, returning->nplaces, sizeof(LeafPlace), oid_cmp);
}

/* The slowest tier to which another policy would move it from there; -1: none would. */
static int
slowest_wish(const Returning *returning, const Candidate *candidate, Oid relation_oid)
{
	Oid			leaf_oid = candidate->leaf->info.relation_oid;
	int			slowest = -1;
	const LeafPlace *found = tier_by_oid_find(leaf_oid, returning->places, returning->nplaces,
											  sizeof(LeafPlace));
	const LeafPlace *end = returning->places + returning->nplaces;

	while (found != NULL && found > returning->places && found[-1].relation_oid == leaf_oid)
		found--;
	for (const LeafPlace *place = found;
		 place != NULL && place < end && place->relation_oid == leaf_oid; place++)
	{
		int			target;

		if (place->evaluation == candidate->evaluation || !tier_policy_is_met(place->leaf) ||
			(relation_oid != leaf_oid && !place->evaluation->policy->include_indexes))
			continue;
		target = tier_partition_target(place->evaluation, place->leaf, relation_oid);
		if (tier_pins_against(returning->pins, returning->set, relation_oid, target) == NULL)
			slowest = Max(slowest, target);
	}
	return slowest;
}

/* The remaining time for which it stays, whether moved by a policy or by hand; 0: over. */
static double
resides_s(const Returning *returning, Oid relation_oid)
{
	const TierRecentMove *placed = tier_by_oid_find(relation_oid, returning->placed,
													returning->nplaced, sizeof(TierRecentMove));

	return placed == NULL ? 0.0 :
		Max(tier_cooldown_min * (double) SECS_PER_MINUTE -
			tier_seconds_between(placed->finished_at, returning->now), 0.0);
}

/* The tier from which the policy has moved it, or the configured one; -1: *why not. */
static int
origin_of(const Returning *returning, const Candidate *candidate, Oid relation_oid,
		  const TierRelationInfo *info, const char **why)
{
	const TierPolicyRow *policy = candidate->evaluation->policy;
	const TierLastMove *move = tier_by_oid_find(relation_oid, returning->moves, returning->nmoves,
												sizeof(TierLastMove));
	double		stays_s;
	int			tier;

	if (move == NULL ? !policy->has_return_tier :
		(move->policy_id != policy->policy_id || move->placed_since ||
		 move->to_tablespace_oid != info->tablespace_oid))
	{
		*why = move == NULL ? "no move by this policy is recorded" :
			"this policy was not the last to move it";
		return -1;
	}
	stays_s = resides_s(returning, relation_oid);
	if (stays_s > 0.0)
	{
		*why = psprintf("it was moved recently, and stays for another %s",
						tier_advice_duration(stays_s));
		return -1;
	}
	if (policy->has_return_tier)
		return tier_set_find_tier(returning->set, NameStr(policy->return_tier));
	tier = tier_set_tier_of_tablespace(returning->set, move->from_tablespace_oid);
	if (tier < 0 && NameStr(move->from_tier)[0] != '\0')
		tier = tier_set_find_tier(returning->set, NameStr(move->from_tier));
	if (tier < 0)
		*why = "its source belongs to no tier; set return_tier of the policy";
	return tier;
}

/* One member; NULL: *why not. */
static TierReturn *
find_return(Returning *returning, const Candidate *candidate, Oid relation_oid, const char **why)
{
	const TierPolicyRow *policy = candidate->evaluation->policy;
	const TierSet *set = returning->set;
	TierReturn	found = {relation_oid, -1, InvalidOid};
	const TierPinned *pinned;
	TierReturn *result;
	TierRelationInfo info;
	double		bytes;

	if (!tier_relation_lookup(relation_oid, &info))
		return NULL;
	found.tier = origin_of(returning, candidate, relation_oid, &info, why);
	if (found.tier < 0)
		return NULL;
	found.tier = Max(found.tier, slowest_wish(returning, candidate, relation_oid));
	if (found.tier >= tier_partition_target(candidate->evaluation, candidate->leaf, relation_oid))
	{
		*why = "another policy would move it here again";
		return NULL;
	}
	pinned = tier_pins_against(returning->pins, set, relation_oid, found.tier);
	if (pinned != NULL)
	{
		*why = psprintf("%s is pinned to %s", pinned->pinned_as, NameStr(pinned->tier_name));
		return NULL;
	}
	found.tablespace_oid = tier_set_usable_tablespace(set, found.tier,
													  OidIsValid(policy->created_by) ?
													  policy->created_by :
													  candidate->leaf->info.owner_oid);
	if (!OidIsValid(found.tablespace_oid))
	{
		*why = psprintf("no tablespace of tier \"%s\" can be used",
						NameStr(set->tiers[found.tier].name));
		return NULL;
	}
	bytes = tier_cost_stored_bytes(tier_relation_disk_bytes(&info),
								   &set->tiers[found.tier].profile);
	if (bytes > returning->room_bytes[found.tier])
	{
		*why = psprintf("tier \"%s\" has no room for it below its %s watermark",
						NameStr(set->tiers[found.tier].name),
						set->tiers[found.tier].emptied_to > 0.0 ? "low" : "high");
		return NULL;
	}
	if (policy->is_enabled)
		returning->room_bytes[found.tier] -= bytes;
	result = palloc(sizeof(TierReturn));
	*result = found;
	return result;
}

/* ---------------------------------------------------------------------
 * All of it
 * ---------------------------------------------------------------------
 */

/* "at least 100 reads per hour for 27 hours of the last 3 days" */
static char *
rate_text(const Candidate *candidate)
{
	const TierPolicyRow *policy = candidate->evaluation->policy;

	return psprintf("at least %s reads per hour for %s of the last %s",
					tier_given_text(policy->return_when_reads_per_hour),
					tier_advice_duration(candidate->read_s),
					tier_advice_duration(tier_policy_return_seconds(policy)));
}

static void
decide(void *argument, int i)
{
	Returning  *returning = argument;
	Candidate  *candidate = &returning->candidates[i];
	const TierPolicyRow *policy = candidate->evaluation->policy;
	TierLeaf   *leaf = candidate->leaf;
	List	   *members = NIL;
	int64		bytes = 0;
	const char *last_why = NULL;
	const char *stays = NULL;	/* the first that does */
	ListCell   *cell;

	if (candidate->read_s <= 0.0)
		return;
	if (candidate->read_s * RETURN_PARTS < tier_policy_return_seconds(policy))
	{
		leaf->reason = psprintf("%s; %s, which is less than a third", leaf->reason,
								rate_text(candidate));
		return;
	}
	foreach(cell, candidate->members)
	{
		const char *why = NULL;
		TierReturn *found = find_return(returning, candidate, lfirst_oid(cell), &why);
		TierRelationInfo info;

		if (!tier_relation_lookup(lfirst_oid(cell), &info))
			continue;
		if (found == NULL)
		{
			last_why = why;
			if (stays == NULL && why != NULL)
				stays = psprintf("%s stays, as %s", info.name, why);
			continue;
		}
		leaf->returns = lappend(leaf->returns, found);
		members = lappend_oid(members, found->relation_oid);
		bytes += tier_relation_disk_bytes(&info);
	}
	if (leaf->returns == NIL)
	{
		leaf->reason = psprintf("%s; %s, but %s", leaf->reason, rate_text(candidate),
								last_why != NULL ? last_why : "it no longer exists");
		return;
	}
	leaf->verdict = TIER_VERDICT_RETURNS;
	leaf->pending = members;
	leaf->pending_bytes = bytes;
	leaf->return_tier = ((TierReturn *) linitial(leaf->returns))->tier;
	leaf->to_tablespace = ((TierReturn *) linitial(leaf->returns))->tablespace_oid;
	leaf->reason = stays == NULL ? rate_text(candidate) :
		psprintf("%s; %s", rate_text(candidate), stays);
}

void
tier_policy_find_returns(TierEvaluation **evaluations, int n, const TierSet *set,
						 const TierPins *pins, TimestampTz now, TierFullnessFlightOf flight)
{
	Returning	returning = {.set = set,.pins = pins,.now = now,.flight = flight};
	TierEach	each = {
		0, candidate_oid, find_members, leave_out_candidate, &returning
	};
	TierPass	pass;

	find_candidates(&returning, evaluations, n);
	tier_pass_begin(&pass, TIER_STEP_EVALUATE);
	each.n = returning.ncandidates;
	tier_pass_each(&pass, &each);
	keep_candidates(&returning);
	if (returning.ncandidates == 0)
		return;
	read_history(returning.candidates, returning.ncandidates, now);
	load_moves(&returning, returning.candidates, returning.ncandidates);
	find_places(&returning, evaluations, n);
	each.n = returning.ncandidates;
	each.step = decide;
	tier_pass_each(&pass, &each);
}
