/*-------------------------------------------------------------------------
 *
 * act/policy_add_sql.c
 *		add_tiering_policy() stores a policy, or only reports its effect; alter_policy().
 *
 * Both report the effect of the policy, its first evaluation, and how to stop it.  The worker
 * leaves a new or changed policy alone for one migrate_interval (act/policy_candidates.h), and
 * evaluates it at the moment reported here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/act/gate.h"
#include "src/base/settings.h"
#include "src/base/shmem.h"
#include "src/base/sql.h"
#include "src/decide/policy_calls.h"
#include "src/decide/policy_preview.h"
#include "src/move/throttle.h"

PG_FUNCTION_INFO_V1(tier_add_tiering_policy);
PG_FUNCTION_INFO_V1(tier_alter_policy);

static void
print_leaf(const TierEvaluation *evaluation, const TierLeaf *leaf, const TierSet *set)
{
	ereport(NOTICE,
			(errmsg("%s %s (%s) would move%s to tier \"%s\": %s",
					tier_relation_kind_name(leaf->info.kind), leaf->info.name,
					tier_size_text((double) leaf->pending_bytes),
					leaf->from_tier < 0 ? "" :
					psprintf(" from tier \"%s\"", NameStr(set->tiers[leaf->from_tier].name)),
					NameStr(evaluation->policy->tier_name), leaf->reason)));
}

/* "2 of 5 partitions (16 kB) are due to move to tier "hdd"". */
static char *
due_text(const TierEvaluation *evaluation, int due, double bytes)
{
	TierRelationInfo info;
	const char *things = psprintf("%s%s", OidIsValid(evaluation->policy->relation_oid) &&
								  tier_relation_lookup(evaluation->policy->relation_oid, &info) &&
								  info.kind == RELKIND_PARTITIONED_TABLE ? "partition" : "table",
								  evaluation->nleaves == 1 ? "" : "s");

	if (due == 0)
		return psprintf("nothing is due to move to tier \"%s\" yet, of %d %s",
						NameStr(evaluation->policy->tier_name), evaluation->nleaves, things);
	return psprintf("%d of %d %s (%s) %s due to move to tier \"%s\"", due, evaluation->nleaves,
					things, tier_size_text(bytes), due == 1 ? "is" : "are",
					NameStr(evaluation->policy->tier_name));
}

/* How to stop it. */
static char *
remove_text(const TierPolicyRow *policy)
{
	return policy->is_group ? psprintf("policy_id => %d", policy->policy_id) :
		psprintf("%s, %s", quote_literal_cstr(policy->relation_name),
				 quote_literal_cstr(NameStr(policy->tier_name)));
}

static void
tell(const TierPolicyRow *policy, const TierEvaluation *evaluation, const TierSet *set,
	 bool is_dry_run)
{
	/* A copy: others that are worded below use the same buffer. */
	const char *first_at = pstrdup(timestamptz_to_str(tier_policy_first_at(policy)));
	double		bytes = 0;
	bool		worker_moves;
	int			due = 0;

	(void) tier_gate_worker_text(&worker_moves);
	for (int i = 0; i < evaluation->nleaves; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (evaluation->leaves[i].verdict != TIER_VERDICT_DUE)
			continue;
		if (is_dry_run)
			print_leaf(evaluation, &evaluation->leaves[i], set);
		due++;
		bytes += (double) evaluation->leaves[i].pending_bytes;
	}
	ereport(NOTICE,
			(errmsg_internal("%s%s", evaluation->error != NULL ? evaluation->error :
							 due_text(evaluation, due, bytes),
							 evaluation->error == NULL &&
							 set->tiers[evaluation->to_tier].is_object_store ?
							 "; the worker freezes tables first" : ""),
			 !worker_moves ? 0 :
			 errdetail("The worker evaluates the policy for the first time at %s%s%s.", first_at,
					   is_dry_run ? ", if it is added now" : "",
					   tier_throttle_is_paused() ? ", if moves are not paused then" : ""),
			 is_dry_run || (!worker_moves && due == 0) ? 0 : worker_moves ?
			 errhint("SELECT tiered_storage.remove_policy(%s) before then stops it.",
					 remove_text(policy)) :
			 errhint("The worker moves nothing, see the view workers; CALL "
					 "tiered_storage.migrate() moves relations that are due.")));
}

/* Has its worker look at the policy then, or earlier for another one. */
static void
set_alarm(const TierPolicyRow *policy)
{
	TimestampTz first_at = tier_policy_first_at(policy);
	TierDatabaseSlot *slot;

	if (tier_shmem == NULL || tier_auto_migrate == TIER_AUTO_MIGRATE_OFF)
		return;
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	slot = tier_shmem_slot(MyDatabaseId, false);
	if (slot != NULL && (slot->policy_due_at == 0 || first_at < slot->policy_due_at))
		slot->policy_due_at = first_at;
	tier_shmem_wake_launcher();
	LWLockRelease(tier_shmem->lock);
}

Datum
tier_add_tiering_policy(PG_FUNCTION_ARGS)
{
	bool		is_dry_run = !PG_ARGISNULL(ADD_TIERING_POLICY_DRY_RUN) &&
	PG_GETARG_BOOL(ADD_TIERING_POLICY_DRY_RUN);
	TierEvaluation *evaluation;
	TierPolicyRow policy;
	TierSet    *set;
	bool		existed;

	LOCAL_FCINFO(call, POLICY_ARGUMENTS);

	if (!is_dry_run)
		tier_require_writable("tiered_storage.add_tiering_policy()");
	tier_policy_spread(fcinfo, call);
	tier_policy_prepare(call, &policy, &set);
	evaluation = tier_policy_preview(&policy, set);
	tier_policy_refuse(&policy, evaluation, set);
	if (is_dry_run)
	{
		tell(&policy, evaluation, set, true);
		PG_RETURN_NULL();
	}
	policy.policy_id = tier_policy_store(call, &policy, set, &existed);
	if (!existed)
	{
		set_alarm(&policy);
		tell(&policy, evaluation, set, false);
	}
	PG_RETURN_INT32(policy.policy_id);
}

/* What it causes is said as of a new policy, and comes as late. */
Datum
tier_alter_policy(PG_FUNCTION_ARGS)
{
	List	   *changed = NIL;
	TierSet    *set = NULL;
	Datum		count = tier_policy_alter_call(fcinfo, &changed, &set);
	ListCell   *cell;

	foreach(cell, changed)
	{
		const TierPolicyRow *policy = lfirst(cell);

		set_alarm(policy);
		tell(policy, tier_policy_preview(policy, set), set, false);
	}
	return count;
}
