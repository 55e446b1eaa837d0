/*-------------------------------------------------------------------------
 *
 * act/plan_notice.c
 *		Prints a dry run and reports on the advice, as NOTICEs and WARNINGs.
 *
 * If little of an advice is carried out, the session needs the reason.  For a worker the same
 * reports would be repeated with every run; it uses DEBUG1, or omits them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "src/act/plan_notice.h"
#include "src/act/foresee.h"
#include "src/base/sql.h"
#include "src/server/relation.h"
#include "src/catalog/tables.h"
#include "src/decide/wear.h"

/* Moves that have no room, or make room for no other move; without those beyond the limit. */
static void
tell_left(const TierPlan *plan)
{
	for (int i = 0; i < plan->n; i++)
	{
		const TierPlanEntry *entry = &plan->entries[i];

		if (entry->is_left && !entry->is_beyond_limit && entry->state == TIER_PLAN_WAITING)
			ereport(NOTICE,
					(errmsg("%s is not moved: %s", tier_candidate_name(entry->candidate->unit),
							entry->reason)));
	}
}

/* Returns true if the confidence of any move is at least `least` and below `below`. */
static bool
is_advised_any(const TierAdvice *advice, TierConfidence least, TierConfidence below)
{
	for (int i = 0; i < advice->nunits; i++)
		if (tier_candidate_is_advised(&advice->units[i], least) &&
			advice->units[i].confidence < below)
			return true;
	return false;
}

/*
 * Moves that are left out because they are beyond a limit or not certain enough.  The most
 * certain ones determine the hint.
 */
static void
tell_unsure(const TierPlan *plan)
{
	const TierApplyRequest *request = &plan->request;
	const TierApplySummary *summary = &plan->applied;

	if (summary->beyond_limit > 0 && summary->advised > 0)
		ereport(NOTICE,
				(errmsg("recommended moves beyond the limit of %s: %d",
						tier_size_text(request->max_bytes), summary->beyond_limit)));
	if (summary->unsure == 0)
		return;
	ereport(NOTICE,
			(errmsg("%s", summary->advice_text),
			 request->for_owners ||
			 !is_advised_any(plan->advice, TIER_CONFIDENCE_TENTATIVE, request->least) ? 0 :
			 errhint("CALL tiered_storage.apply_placement('tentative') includes tentative "
					 "recommendations.")));
}

static void
tell_nothing(TierPlan *plan)
{
	const TierApplyRequest *request = &plan->request;
	const TierAdvice *advice = plan->advice;
	TierApplySummary *summary = &plan->applied;

	if (summary->others > 0 || summary->advised > 0)
		return;
	if (summary->beyond_limit > 0)
		ereport(NOTICE,
				(errmsg("nothing is moved: each recommended move exceeds the limit of %s",
						tier_size_text(request->max_bytes)),
				 request->for_owners ?
				 errhint("The limit is the rest of tiered_storage.move_limit_per_day for "
						 "today.") :
				 errhint("Raise max_bytes.")));
	else if (summary->unsure > 0)
		ereport(NOTICE,
				(errmsg("nothing is moved: no recommendation is \"%s\"",
						tier_advice_confidence_text(request->least))));
	else if (!is_advised_any(advice, TIER_CONFIDENCE_PROVISIONAL,
							 TIER_CONFIDENCE_FIRM + 1))
		tier_advice_notice_empty(advice);
	else
		ereport(NOTICE,
				(errmsg("nothing is moved: the recommended relations cannot be moved online"),
				 errhint("The commands of recommend_placement() lock them for the whole copy.")));
	summary->is_told = true;
}

/* A requested move is made, but its wear is reported. */
static void
tell_wear(const TierPlan *plan)
{
	List	   *to_tablespaces = NIL;

	for (int i = 0; i < plan->arrangement.possible; i++)
		to_tablespaces = list_append_unique_oid(to_tablespaces,
												plan->candidates[i].tablespace_oid);
	if (!plan->request.for_owners)
		tier_wear_tell(plan->advice->set, to_tablespaces);
}

static void
tell_others(const TierPlan *plan)
{
	const TierApplyRequest *request = &plan->request;
	const TierAdvice *advice = plan->advice;
	const TierTier *tiers = advice->set->tiers;

	for (int i = 0; i < advice->nunits; i++)
	{
		TierCandidate candidate = {.unit = &advice->units[i]};
		TierObstacle obstacle;

		CHECK_FOR_INTERRUPTS();
		if (!tier_candidate_is_advised(candidate.unit, request->least) ||
			tier_candidate_is_moved_before(request, candidate.unit) ||
			tier_candidate_may_move(request, advice, &candidate, &obstacle) ||
			obstacle.message == NULL)
			continue;
		obstacle.detail = psprintf("The recommended tier is \"%s\".",
								   NameStr(tiers[candidate.unit->recommended_tier].name));
		tier_obstacle_warn(&obstacle, tier_candidate_name(candidate.unit));
	}
}

void
tier_apply_tell(TierPlan *plan, bool is_dry_run)
{
	if (plan->request.by_worker)
		return;
	tell_nothing(plan);
	tell_wear(plan);
	tell_left(plan);
	if (is_dry_run)
		tell_others(plan);
	tell_unsure(plan);
}

/* The advised moves that are not made; NULL: none. */
static char *
others_text(const TierApplySummary *summary)
{
	return summary->others == 0 ? NULL :
		psprintf("Recommended, but not permitted to %s: %d.",
				 summary->for_owners ? "their owners" : "this role", summary->others);
}

int
tier_apply_others_detail(const TierApplySummary *summary)
{
	char	   *others = others_text(summary);

	return others == NULL ? 0 : errdetail_internal("%s", others);
}

void
tier_apply_raise_busy(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("another batch of moves is running in this database"),
			 errdetail("Concurrent batches could use the same free space."),
			 errhint("SELECT * FROM tiered_storage.move_progress shows what is being moved.")));
}

void
tier_apply_report(const TierApplySummary *summary)
{
	if (summary->is_busy)
		tier_apply_raise_busy();
	if (summary->is_told)
		return;
	if (summary->counts.batch_id == 0)
	{
		ereport(NOTICE,
				(errmsg("nothing is moved: %d recommended", summary->advised),
				 tier_apply_others_detail(summary)));
		return;
	}
	ereport(NOTICE,
			(errmsg("batch " INT64_FORMAT ": relations moved: %d, not moved: %d",
					summary->counts.batch_id, summary->counts.moved, summary->counts.not_moved),
			 tier_apply_others_detail(summary),
			 summary->counts.moved == 0 ? 0 :
			 errhint("CALL tiered_storage.undo_move(" INT64_FORMAT ") moves them back.",
					 summary->counts.batch_id)));
}

void
tier_apply_report_dry_run(const TierApplySummary *summary)
{
	if (summary->is_told)
		return;
	tier_foresee_report(&summary->counts, others_text(summary));
}

/* ---------------------------------------------------------------------
 * A dry run
 * ---------------------------------------------------------------------
 */

/* Prints nothing if the relation was dropped concurrently. */
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

/* Each evaluation of a tier is as expensive as all steps before it. */
static void
print_cut(void)
{
	ereport(NOTICE,
			(errmsg("moves after this point are not predicted"),
			 errdetail("The run makes another plan at this point. More relations may leave then "
					   "than are shown here.")));
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
