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
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "src/compat.h"
#include "src/decide/new_partitions.h"

/* A policy says something of a relation. */
typedef struct Claim
{
	Oid			relation_oid;
	const TierPolicyRow *policy;
	int			tree_size;		/* of the policy's table: the smaller, the
								 * nearer */
} Claim;

typedef struct Claims
{
	Claim	   *claims;
	int			n;
	int			capacity;
} Claims;

static void
add_claim(Claims *claims, Oid relation_oid, const TierPolicyRow *policy, int tree_size)
{
	if (claims->n == claims->capacity)
	{
		claims->capacity *= 2;
		claims->claims = repalloc_huge(claims->claims, sizeof(Claim) * claims->capacity);
	}
	claims->claims[claims->n++] = (Claim)
	{
		relation_oid, policy, tree_size
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
	if (left->tree_size != right->tree_size)
		return left->tree_size - right->tree_size;
	return left->policy->policy_id - right->policy->policy_id;
}

static void
claim_indexes(Claims *claims, Oid table_oid, const TierPolicyRow *policy, int tree_size)
{
	List	   *indexes = tier_relation_indexes(table_oid);
	ListCell   *cell;

	foreach(cell, indexes)
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_PARTITIONED_INDEX)
		add_claim(claims, lfirst_oid(cell), policy, tree_size);
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
	const TierPartitionDefault *parent = recall(memory,
												tier_relation_parent(place->info.relation_oid));

	return parent != NULL && parent->set_oid == place->info.tablespace_oid ? parent->before_oid :
		place->info.tablespace_oid;
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

/* What a policy says of it, in the light of what was set before, if anything was. */
static void
judge(TierBirthplace *place, const TierSet *set, const Memory *memory)
{
	const TierPartitionDefault *remembered = recall(memory, place->info.relation_oid);
	Oid			now_oid = place->info.tablespace_oid;
	Oid			to_oid;

	place->to_tier = tier_set_find_tier(set, NameStr(place->policy->new_partitions_on));
	place->before_oid = remembered == NULL ? now_oid : remembered->before_oid;
	place->is_remembered = remembered != NULL;
	if (place->to_tier >= 0 && tier_set_tier_of_tablespace(set, now_oid) == place->to_tier)
	{
		if (is_refused(place, now_oid))
		{
			/* Or nobody could create a partition any more. */
			if (remembered != NULL && remembered->set_oid == now_oid &&
				!tier_relation_may_create(place->info.owner_oid, now_oid) &&
				tier_relation_may_create(place->info.owner_oid, remembered->before_oid))
			{
				place->state = TIER_BIRTH_GIVE_BACK;
				place->to_tablespace = remembered->before_oid;
			}
			return;
		}
		if (remembered == NULL)
			place->before_oid = before_of(place, memory);
		place->state = TIER_BIRTH_IN_FORCE;
		place->reason = psprintf("new partitions are created in %s%s", tablespace_text(now_oid),
								 now_oid == MyDatabaseTableSpace ?
								 ", unless default_tablespace names another" : "");
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
	if (!OidIsValid(to_oid))
	{
		place->state = TIER_BIRTH_NO_TABLESPACE;
		place->reason = psprintf("tier \"%s\" has no tablespace",
								 NameStr(place->policy->new_partitions_on));
		return;
	}
	if (is_refused(place, to_oid))
		return;
	place->state = TIER_BIRTH_PENDING;
	place->to_tablespace = to_oid;
	place->reason = psprintf("new partitions are created in %s until the worker or migrate() "
							 "has set %s", tablespace_text(now_oid), tablespace_text(to_oid));
}

/* No policy says anything of it any more. */
static void
judge_unclaimed(TierBirthplace *place, const TierPartitionDefault *remembered)
{
	place->to_tier = -1;
	place->is_remembered = true;
	place->before_oid = remembered->before_oid;
	place->state = TIER_BIRTH_FORGET;
	if (remembered->set_oid == place->info.tablespace_oid &&
		remembered->before_oid != remembered->set_oid)
	{
		place->state = TIER_BIRTH_GIVE_BACK;
		place->to_tablespace = remembered->before_oid;
	}
	place->reason = pstrdup("no policy says any more where new partitions are created");
}

static int
compare_places(const void *a, const void *b)
{
	Oid			left = ((const TierBirthplace *) a)->info.relation_oid;
	Oid			right = ((const TierBirthplace *) b)->info.relation_oid;

	return left < right ? -1 : left > right;
}

TierBirthplace *
tier_birthplaces_find(const TierPolicyRow *policies, int npolicies, const TierSet *set,
					  const TierPartitionDefault *defaults, int ndefaults, int *n)
{
	Claims		claims = {palloc(sizeof(Claim) * 16), 0, 16};
	TierBirthplace *places;
	bool	   *is_claimed = palloc0(sizeof(bool) * Max(ndefaults, 1));
	Memory		memory = {defaults, ndefaults};

	for (int i = 0; i < npolicies; i++)
		if (policies[i].has_new_partitions_on && OidIsValid(policies[i].relation_oid))
			claim_tree(&claims, &policies[i]);
	qsort(claims.claims, claims.n, sizeof(Claim), compare_claims);
	places = palloc_extended(sizeof(TierBirthplace) * Max(claims.n + ndefaults, 1),
							 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	*n = 0;
	for (int i = 0; i < claims.n; i++)
	{
		const Claim *claim = &claims.claims[i];
		const TierPartitionDefault *remembered;

		if (i > 0 && claims.claims[i - 1].relation_oid == claim->relation_oid)
			continue;
		if (!tier_relation_lookup(claim->relation_oid, &places[*n].info))
			continue;
		remembered = recall(&memory, claim->relation_oid);
		if (remembered != NULL)
			is_claimed[remembered - defaults] = true;
		places[*n].policy = claim->policy;
		judge(&places[(*n)++], set, &memory);
	}
	for (int i = 0; i < ndefaults; i++)
		if (!is_claimed[i] && tier_relation_lookup(defaults[i].relation_oid, &places[*n].info))
			judge_unclaimed(&places[(*n)++], &defaults[i]);
	qsort(places, *n, sizeof(TierBirthplace), compare_places);
	return places;
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
		case TIER_BIRTH_GIVE_BACK:
		case TIER_BIRTH_FORGET:
			return "not in force any more";
	}
	return NULL;
}
