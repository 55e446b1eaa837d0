/*-------------------------------------------------------------------------
 *
 * act/plan_notice.c
 *		A dry run: what the plan would do, as NOTICEs and WARNINGs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "src/act/apply_notice.h"
#include "src/act/plan.h"
#include "src/base/sql.h"
#include "src/server/relation.h"

/* Nothing, if the relation has gone meanwhile. */
static void
print_entry(const TierPlan *plan, const TierPlanEntry *entry)
{
	const TierObstacle *obstacle = &entry->obstacle;
	TierRelationInfo info;

	if (!tier_relation_lookup(entry->relation_oid, &info))
		return;
	if (entry->is_beyond_limit)
	{
		tier_return_warn_limit(info.name, plan->left_bytes);
		return;
	}
	if (obstacle->message != NULL)
	{
		tier_obstacle_warn(obstacle, info.name);
		return;
	}
	ereport(NOTICE,
			(errmsg("would move %s %s (%s)%s to tier \"%s\"%s: %s",
					tier_relation_kind_name(info.kind), info.name, tier_size_text(entry->bytes),
					entry->from_tier == NULL ? "" :
					psprintf(" from tier \"%s\"", entry->from_tier),
					entry->to_tier == NULL ? "?" : entry->to_tier,
					entry->reason == NULL ? "" : psprintf(" (%s)", entry->reason),
					entry->why == NULL ? "?" : entry->why)));
}

/* Each look at what leaves is as expensive as all that comes before. */
static void
print_cut(void)
{
	ereport(NOTICE,
			(errmsg("what leaves tiers in between is not foreseen any further"),
			 errdetail("The run makes another plan at this point: more may leave then, "
					   "and find room, than is said here.")));
}

void
tier_plan_print(TierPlan *plan)
{
	bool		advises = plan->advice != NULL && plan->request.max_bytes > 0;

	for (int i = 0; i < plan->n; i++)
	{
		const TierPlanEntry *entry = &plan->entries[i];

		CHECK_FOR_INTERRUPTS();
		if (i == plan->cut_at)
			print_cut();
		if (!entry->is_left && (advises || entry->source != TIER_SOURCE_ADVICE))
			print_entry(plan, entry);
	}
	if (advises)
		tier_apply_tell(plan, true);
}
