/*-------------------------------------------------------------------------
 *
 * decide/new_partitions.c
 *		Where new partitions are created, and where policies want them.
 *
 * The server creates a partition in the tablespace of its parent, and an index of it in that
 * of the partitioned index, unless somebody names another.  Neither has a file, so that
 * nothing but that depends on what their tablespace is.
 *
 * What somebody has set since the policy did is his, and is neither set again nor given back.
 *
 * What was set is also given back where it would do harm: where the owner may not create any
 * more, and where there is no room any more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "src/compat.h"
#include "src/decide/birth_room.h"
#include "src/decide/new_partitions.h"
#include "src/server/distributed.h"

/* A policy says something of a relation. */
typedef struct Claim
{
	Oid			relation_oid;
	const TierPolicyRow *policy;
	int			distance;		/* the smaller, the nearer is the policy's
								 * table: the size of its tree, or how far
								 * above it is */
} Claim;

typedef struct Claims
{
	Claim	   *claims;
	int			n;
	int			capacity;
} Claims;

static void
add_claim(Claims *claims, Oid relation_oid, const TierPolicyRow *policy, int distance)
{
	if (claims->n == claims->capacity)
	{
		claims->capacity *= 2;
		claims->claims = repalloc_huge(claims->claims, sizeof(Claim) * claims->capacity);
	}
	claims->claims[claims->n++] = (Claim)
	{
		relation_oid, policy, distance
	};
}

/* By relation; the one that decides comes first. */
static int
compare_claims(const void *a, const void *b)
{
	const Claim *left = a;
	const Claim *right = b;

	if (left->relation_oid != right->relation_oid)
		return left->relation_oid < right->relation_oid ? -1 : 1;
	if (left->policy->is_enabled != right->policy->is_enabled)
		return left->policy->is_enabled ? -1 : 1;
	if (left->distance != right->distance)
		return left->distance - right->distance;
	return left->policy->policy_id - right->policy->policy_id;
}

static void
claim_indexes(Claims *claims, Oid table_oid, const TierPolicyRow *policy, int distance)
{
	List	   *indexes = tier_relation_indexes(table_oid);
	ListCell   *cell;

	foreach(cell, indexes)
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_PARTITIONED_INDEX)
		add_claim(claims, lfirst_oid(cell), policy, distance);
	list_free(indexes);
}

static void
claim_tree(Claims *claims, const TierPolicyRow *policy)
{
	List	   *tree = tier_relation_inheritors(policy->relation_oid);
	ListCell   *cell;

	foreach(cell, tree)
	{
		CHECK_FOR_INTERRUPTS();
		if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_PARTITIONED_TABLE)
			continue;
		add_claim(claims, lfirst_oid(cell), policy, list_length(tree));
		if (policy->include_indexes)
			claim_indexes(claims, lfirst_oid(cell), policy, list_length(tree));
	}
	list_free(tree);
}

/* What the policy says of one relation, if its table is one of those above, the nearest first. */
static void
claim_one(Claims *claims, const TierPolicyRow *policy, const TierRelationInfo *info,
		  const List *above)
{
	if (info->kind == RELKIND_PARTITIONED_INDEX && !policy->include_indexes)
		return;
	for (int i = 0; i < list_length(above); i++)
		if (list_nth_oid(above, i) == policy->relation_oid)
			add_claim(claims, info->relation_oid, policy, i);
}

static int
compare_default(const void *key, const void *row)
{
	Oid			relation_oid = *(const Oid *) key;
	Oid			row_oid = ((const TierPartitionDefault *) row)->relation_oid;

	return relation_oid < row_oid ? -1 : relation_oid > row_oid;
}

/* The remembered defaults, by OID. */
typedef struct Memory
{
	const TierPartitionDefault *rows;
	int			n;
} Memory;

static const TierPartitionDefault *
recall(const Memory *memory, Oid relation_oid)
{
	return bsearch(&relation_oid, memory->rows, memory->n, sizeof(TierPartitionDefault),
				   compare_default);
}

/*
 * What there was before any policy, of something that is in force though nobody has set it
 * there: it may have been created below a parent where that was set, and has it from there.
 */
static Oid
before_of(const TierBirthplace *place, const Memory *memory)
{
	Oid			now_oid = place->info.tablespace_oid;
	Oid			parent_oid = tier_relation_parent(place->info.relation_oid);
	TierRelationInfo parent;

	while (OidIsValid(parent_oid) && tier_relation_lookup(parent_oid, &parent) &&
		   parent.tablespace_oid == now_oid)
	{
		const TierPartitionDefault *remembered = recall(memory, parent_oid);

		if (remembered != NULL)
			return remembered->set_oid == now_oid ? remembered->before_oid : now_oid;
		parent_oid = tier_relation_parent(parent_oid);
	}
	return now_oid;
}

static char *
tablespace_text(Oid tablespace_oid)
{
	char	   *name = get_tablespace_name(tablespace_oid);

	return psprintf("tablespace \"%s\"", name == NULL ? "?" : name);
}

/* The role whose rights the policy needs. */
static Oid
requester_of(const TierBirthplace *place)
{
	return OidIsValid(place->policy->created_by) ? place->policy->created_by :
		place->info.owner_oid;
}

static bool
is_refused(TierBirthplace *place, Oid tablespace_oid)
{
	TierRefusal refusal = tier_relation_refuse_default(&place->info, requester_of(place),
													   tablespace_oid);

	if (refusal.message == NULL)
		return false;
	place->state = TIER_BIRTH_NO_RIGHT;
	place->reason = refusal.message;
	return true;
}

/* Is it there because a policy has set it, for itself or for what it was created below? */
static bool
is_set_by_policy(const TierBirthplace *place)
{
	Oid			now_oid = place->info.tablespace_oid;

	return (!place->is_remembered || place->set_oid == now_oid) && place->before_oid != now_oid;
}

/* What was there before is to be set again, as what is there now does harm. */
static void
give_back(TierBirthplace *place)
{
	place->state = TIER_BIRTH_GIVE_BACK;
	place->to_tablespace = place->before_oid;
	place->is_urgent = true;
}

/* It is in force, and its role or the owner may not create there. */
static void
judge_refused(TierBirthplace *place)
{
	/* Or nobody could create a partition any more. */
	if (is_set_by_policy(place) &&
		!tier_relation_may_create(place->info.owner_oid, place->info.tablespace_oid) &&
		tier_relation_may_create(place->info.owner_oid, place->before_oid))
		give_back(place);
}

/*
 * It is where there is no room: another tablespace of the tier may have some, or else what
 * there was before.  What somebody else has put there stays.
 */
static void
judge_full(TierBirthplace *place, TierBirthRooms *rooms, const char *why)
{
	Oid			other_oid = tier_set_usable_tablespace(rooms->set, place->to_tier,
													   place->info.owner_oid);

	place->state = TIER_BIRTH_NO_ROOM;
	place->reason = psprintf("new partitions are created in %s all the same: %s",
							 tablespace_text(place->info.tablespace_oid), why);
	if (!is_set_by_policy(place))
		return;
	if (other_oid != place->info.tablespace_oid &&
		tier_birth_why_full(rooms, other_oid, false) == NULL &&
		tier_relation_may_create(place->info.owner_oid, other_oid) &&
		tier_relation_may_create(requester_of(place), other_oid))
	{
		place->state = TIER_BIRTH_PENDING;
		place->to_tablespace = other_oid;
		place->is_urgent = true;
	}
	else if (tier_relation_may_create(place->info.owner_oid, place->before_oid) &&
			 tier_birth_why_full(rooms, place->before_oid, true) == NULL)
		give_back(place);
	if (OidIsValid(place->to_tablespace))
		place->reason = psprintf("new partitions are created in %s until the worker or "
								 "migrate() has set %s: %s",
								 tablespace_text(place->info.tablespace_oid),
								 tablespace_text(place->to_tablespace), why);
}

/* It is on the tier. */
static void
judge_set(TierBirthplace *place, TierBirthRooms *rooms, const Memory *memory)
{
	Oid			now_oid = place->info.tablespace_oid;
	const char *why_full;

	if (!place->is_remembered)
		place->before_oid = before_of(place, memory);
	if (is_refused(place, now_oid))
	{
		judge_refused(place);
		return;
	}
	why_full = tier_birth_why_full(rooms, now_oid, true);
	if (why_full != NULL)
	{
		judge_full(place, rooms, why_full);
		return;
	}
	place->state = TIER_BIRTH_IN_FORCE;
	place->reason = psprintf("new partitions are created in %s%s", tablespace_text(now_oid),
							 now_oid == MyDatabaseTableSpace ?
							 ", unless default_tablespace names another" : "");
}

/* It is not there yet, and comes there if there is room. */
static void
judge_pending(TierBirthplace *place, TierBirthRooms *rooms, Oid to_oid)
{
	Oid			now_oid = place->info.tablespace_oid;
	const char *why_full;

	if (is_refused(place, to_oid))
		return;
	why_full = tier_birth_why_full(rooms, to_oid, false);
	if (why_full != NULL)
	{
		place->state = TIER_BIRTH_NO_ROOM;
		place->reason = psprintf("new partitions are created in %s: %s",
								 tablespace_text(now_oid), why_full);
		return;
	}
	place->state = TIER_BIRTH_PENDING;
	place->to_tablespace = to_oid;
	place->reason = psprintf("new partitions are created in %s until the worker or migrate() "
							 "has set %s", tablespace_text(now_oid), tablespace_text(to_oid));
}

/* What a policy says of it, in the light of what was set before, if anything was. */
static void
judge(TierBirthplace *place, TierBirthRooms *rooms, const Memory *memory)
{
	const TierPartitionDefault *remembered = recall(memory, place->info.relation_oid);
	const TierSet *set = rooms->set;
	Oid			now_oid = place->info.tablespace_oid;
	Oid			to_oid;

	place->to_tier = tier_set_find_tier(set, NameStr(place->policy->new_partitions_on));
	place->before_oid = remembered == NULL ? now_oid : remembered->before_oid;
	place->is_remembered = remembered != NULL;
	place->set_oid = remembered == NULL ? InvalidOid : remembered->set_oid;
	if (place->to_tier >= 0 && tier_set_tier_of_tablespace(set, now_oid) == place->to_tier)
	{
		judge_set(place, rooms, memory);
		return;
	}
	if (remembered != NULL && remembered->set_oid != now_oid)
	{
		place->state = TIER_BIRTH_CHANGED;
		place->reason = psprintf("somebody has set %s since the policy was in force, "
								 "which is left as it is until the policy is altered",
								 tablespace_text(now_oid));
		return;
	}
	to_oid = place->to_tier < 0 ? InvalidOid :
		tier_set_usable_tablespace(set, place->to_tier, place->info.owner_oid);
	if (OidIsValid(to_oid))
	{
		judge_pending(place, rooms, to_oid);
		return;
	}
	place->state = TIER_BIRTH_NO_TABLESPACE;
	place->reason = psprintf("tier \"%s\" has no tablespace",
							 NameStr(place->policy->new_partitions_on));
}

/* No policy says anything of it any more. */
static void
judge_unclaimed(TierBirthplace *place, TierBirthRooms *rooms,
				const TierPartitionDefault *remembered)
{
	TierRefusal refusal;

	place->to_tier = -1;
	place->is_remembered = true;
	place->set_oid = remembered->set_oid;
	place->before_oid = remembered->before_oid;
	place->state = TIER_BIRTH_FORGET;
	place->reason = pstrdup("no policy says any more where new partitions are created");
	if (remembered->set_oid != place->info.tablespace_oid ||
		remembered->before_oid == remembered->set_oid)
		return;
	refusal = tier_relation_refuse_default(&place->info, InvalidOid, remembered->before_oid);
	if (refusal.message != NULL)
	{
		place->state = TIER_BIRTH_NO_RIGHT;
		place->reason = psprintf("%s, but %s is not set again: %s", place->reason,
								 tablespace_text(remembered->before_oid), refusal.message);
		return;
	}
	give_back(place);
	place->is_urgent = !tier_relation_may_create(place->info.owner_oid, place->set_oid) ||
		tier_birth_why_full(rooms, place->set_oid, true) != NULL;
}

static int
compare_places(const void *a, const void *b)
{
	Oid			left = ((const TierBirthplace *) a)->info.relation_oid;
	Oid			right = ((const TierBirthplace *) b)->info.relation_oid;

	return left < right ? -1 : left > right;
}

/* A table whose rows are in shards has partitions that are empty, wherever they are. */
static bool
has_birthplace(const TierPolicyRow *policy)
{
	return policy->has_new_partitions_on && OidIsValid(policy->relation_oid) &&
		!tier_distributed->is_shell(policy->relation_oid);
}

TierBirthplace *
tier_birthplaces_find(const TierPolicyRow *policies, int npolicies, const TierSet *set,
					  const TierPartitionDefault *defaults, int ndefaults, int *n)
{
	Claims		claims = {palloc(sizeof(Claim) * 16), 0, 16};
	TierBirthplace *places;
	bool	   *is_claimed = palloc0(sizeof(bool) * Max(ndefaults, 1));
	Memory		memory = {defaults, ndefaults};
	TierBirthRooms *rooms = tier_birth_rooms_create(set);

	for (int i = 0; i < npolicies; i++)
		if (has_birthplace(&policies[i]))
			claim_tree(&claims, &policies[i]);
	qsort(claims.claims, claims.n, sizeof(Claim), compare_claims);
	places = palloc_extended(sizeof(TierBirthplace) * Max(claims.n + ndefaults, 1),
							 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	*n = 0;
	for (int i = 0; i < claims.n; i++)
	{
		const Claim *claim = &claims.claims[i];
		const TierPartitionDefault *remembered;

		CHECK_FOR_INTERRUPTS();
		if (i > 0 && claims.claims[i - 1].relation_oid == claim->relation_oid)
			continue;
		if (!tier_relation_lookup(claim->relation_oid, &places[*n].info))
			continue;
		remembered = recall(&memory, claim->relation_oid);
		if (remembered != NULL)
			is_claimed[remembered - defaults] = true;
		places[*n].policy = claim->policy;
		judge(&places[(*n)++], rooms, &memory);
	}
	for (int i = 0; i < ndefaults; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_claimed[i] && tier_relation_lookup(defaults[i].relation_oid, &places[*n].info))
			judge_unclaimed(&places[(*n)++], rooms, &defaults[i]);
	}
	qsort(places, *n, sizeof(TierBirthplace), compare_places);
	return places;
}

const TierBirthplace *
tier_birthplace_find(const TierPolicyRow *policies, int npolicies, const TierSet *set,
					 const TierPartitionDefault *defaults, int ndefaults,
					 const TierRelationInfo *info)
{
	Claims		claims = {palloc(sizeof(Claim) * 16), 0, 16};
	Memory		memory = {defaults, ndefaults};
	TierBirthRooms *rooms = tier_birth_rooms_create(set);
	TierBirthplace *place = palloc0(sizeof(TierBirthplace));
	const TierPartitionDefault *remembered = recall(&memory, info->relation_oid);
	Oid			table_oid = info->relation_oid;
	List	   *above;

	if (!tier_relation_lookup(info->relation_oid, &place->info) ||
		place->info.kind != info->kind)
		return NULL;
	if (info->kind == RELKIND_PARTITIONED_INDEX)
		table_oid = IndexGetRelation(info->relation_oid, true);
	above = tier_relation_above(table_oid);
	for (int i = 0; i < npolicies; i++)
		if (has_birthplace(&policies[i]))
			claim_one(&claims, &policies[i], info, above);
	if (claims.n == 0 && remembered == NULL)
		return NULL;
	if (claims.n == 0)
		judge_unclaimed(place, rooms, remembered);
	else
	{
		qsort(claims.claims, claims.n, sizeof(Claim), compare_claims);
		place->policy = claims.claims[0].policy;
		judge(place, rooms, &memory);
	}
	return place;
}

const char *
tier_birth_state_name(TierBirthState state)
{
	switch (state)
	{
		case TIER_BIRTH_IN_FORCE:
			return "in force";
		case TIER_BIRTH_PENDING:
			return "not in force yet";
		case TIER_BIRTH_CHANGED:
			return "changed by hand";
		case TIER_BIRTH_NO_RIGHT:
			return "no right";
		case TIER_BIRTH_NO_TABLESPACE:
			return "no tablespace";
		case TIER_BIRTH_NO_ROOM:
			return "no room";
		case TIER_BIRTH_GIVE_BACK:
		case TIER_BIRTH_FORGET:
			return "not in force any more";
	}
	return NULL;
}
