/*-------------------------------------------------------------------------
 *
 * act/apply_notice.c
 *		What a person is told of what the advice asks for, and of what is left out.
 *
 * Whoever has seen an advice and then finds that little of it is done asks why.  A worker, to
 * whom the same is nothing new from run to run, says it with DEBUG1 or not at all.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/act/apply_notice.h"
#include "src/act/foresee.h"
#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/decide/wear.h"

static void
complain_of_room(const TierAdvice *advice, const TierCandidate *candidate, int level)
{
	const TierAdviceUnit *unit = candidate->unit;

	ereport(level,
			(errcode(ERRCODE_DISK_FULL),
			 errmsg("cannot move %s: tier \"%s\" has no room for it while the other "
					"moves are made", tier_candidate_name(unit),
					NameStr(advice->set->tiers[unit->recommended_tier].name)),
			 errdetail("It takes %s, and nothing that may leave that tier first makes enough "
					   "room.",
					   tier_size_text(candidate->disk_bytes)),
			 errhint("Move something to a third place meanwhile, "
					 "or lower the reserve_fraction of a tier.")));
}

/* What would be moved for what cannot come is not: that it would be lost where it is now. */
static void
tell_spare(const TierAdvice *advice, const TierCandidate *candidate, int level)
{
	const TierAdviceUnit *unit = candidate->unit;

	ereport(level,
			(errmsg("%s is not moved: the room that it would make on tier \"%s\" would stay empty",
					tier_candidate_name(unit),
					NameStr(advice->set->tiers[unit->current_tier].name)),
			 errdetail("What is advised to come there has no room even so, is not sure enough, "
					   "failed lately, or may not be moved.")));
}

void
tier_apply_tell_left(const TierAdvice *advice, const TierCandidate *candidates,
					 const TierArrangement *arrangement, bool by_worker)
{
	const TierCandidate *left_over = &candidates[arrangement->possible];
	const TierCandidate *spare = &left_over[arrangement->left_over];

	for (int i = 0; i < arrangement->left_over; i++)
		if (!left_over[i].has_room)
			complain_of_room(advice, &left_over[i], by_worker ? DEBUG1 : WARNING);
	for (int i = 0; i < arrangement->spare; i++)
		tell_spare(advice, &spare[i], by_worker ? DEBUG1 : NOTICE);
}

void
tier_apply_tell_tried_again(const TierMoveReport *report, bool by_worker)
{
	ereport(by_worker ? DEBUG1 : NOTICE,
			(errmsg("%s is moved later in this batch: %s", report->relation_name,
					report->error)));
}

/* Is anything as sure as that, and less than `below`? */
static bool
is_advised_any(const TierAdvice *advice, TierConfidence least, TierConfidence below)
{
	for (int i = 0; i < advice->nunits; i++)
		if (tier_candidate_is_advised(&advice->units[i], least) &&
			advice->units[i].confidence < below)
			return true;
	return false;
}

void
tier_apply_tell_unsure(const TierApplyRequest *request, const TierAdvice *advice,
					   TierApplySummary *summary)
{
	if (request->by_worker)
		return;
	if (summary->beyond_limit > 0 && summary->advised > 0)
		ereport(NOTICE,
				(errmsg("advised, but beyond the limit of %s: %d more",
						tier_size_text(request->max_bytes), summary->beyond_limit)));
	if (summary->unsure == 0)
		return;
	ereport(NOTICE,
			(errmsg("%s", summary->advice_text),
			 request->for_owners ||
			 !is_advised_any(advice, TIER_CONFIDENCE_TENTATIVE, request->least) ? 0 :
			 errhint("CALL tiered_storage.apply_placement('tentative') includes what is "
					 "tentative.")));
}

void
tier_apply_tell_nothing(const TierApplyRequest *request, const TierAdvice *advice,
						TierApplySummary *summary)
{
	if (request->by_worker || summary->others > 0 || summary->advised > 0)
		return;
	if (summary->beyond_limit > 0)
		ereport(NOTICE,
				(errmsg("nothing is moved: each of the advised moves exceeds the limit of %s",
						tier_size_text(request->max_bytes)),
				 request->for_owners ?
				 errhint("It is what tiered_storage.move_limit_per_day leaves for today.") :
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
				(errmsg("nothing is moved: what is advised cannot be moved online"),
				 errhint("recommend_placement() has the commands "
						 "that lock it for the whole copy.")));
	summary->is_told = true;
}

void
tier_apply_tell_wear(const TierApplyRequest *request, const TierAdvice *advice,
					 const TierCandidate *candidates, int n)
{
	List	   *to_tablespaces = NIL;

	for (int i = 0; i < n; i++)
		to_tablespaces = list_append_unique_oid(to_tablespaces, candidates[i].tablespace_oid);
	if (!request->for_owners)
		tier_wear_tell(advice->set, to_tablespaces);
}

void
tier_apply_tell_others(const TierApplyRequest *request, const TierAdvice *advice)
{
	for (int i = 0; i < advice->nunits; i++)
	{
		TierCandidate candidate = {.unit = &advice->units[i]};
		bool		is_others;
		char	   *why;
		char	   *hint;

		CHECK_FOR_INTERRUPTS();
		if (!tier_candidate_is_advised(candidate.unit, request->least) ||
			tier_candidate_is_moved_before(request, candidate.unit) ||
			tier_candidate_may_move(request, advice, &candidate, &is_others, &why, &hint) ||
			why == NULL)
			continue;
		ereport(WARNING,
				(errmsg("would not move %s: %s", tier_candidate_name(candidate.unit), why),
				 errdetail("It is advised to move to tier \"%s\".",
						   NameStr(advice->set->tiers[candidate.unit->recommended_tier].name)),
				 hint == NULL ? 0 : errhint("%s", hint)));
	}
}

/* Of what is advised and not moved; NULL: nothing. */
static char *
others_text(const TierApplySummary *summary)
{
	return summary->others == 0 ? NULL :
		psprintf("Advised, but not allowed to %s: %d.",
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
			 errmsg("another batch of moves is under way in this database"),
			 errdetail("Two of them could fill the same room."),
			 errhint("SELECT * FROM tiered_storage.move_progress shows what is being moved.")));
}

void
tier_apply_report(const TierApplySummary *summary)
{
	if (summary->is_busy)
		tier_apply_raise_busy();
	if (summary->is_told)
		return;
	if (summary->batch_id == 0)
	{
		ereport(NOTICE,
				(errmsg("nothing is moved: %d advised", summary->advised),
				 tier_apply_others_detail(summary)));
		return;
	}
	ereport(NOTICE,
			(errmsg("batch " INT64_FORMAT ": relations moved: %d, not moved: %d",
					summary->batch_id, summary->counts.moved, summary->counts.not_moved),
			 tier_apply_others_detail(summary),
			 summary->counts.moved == 0 ? 0 :
			 errhint("CALL tiered_storage.undo_move(" INT64_FORMAT ") moves them back.",
					 summary->batch_id)));
}

void
tier_apply_report_dry_run(const TierApplySummary *summary)
{
	if (summary->is_told)
		return;
	tier_foresee_report(summary->counts.moved, (double) summary->counts.moved_bytes,
						summary->counts.not_moved,
						others_text(summary));
}
