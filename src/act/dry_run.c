/*-------------------------------------------------------------------------
 *
 * act/dry_run.c
 *		What a run of tiering and fullness policies would do, as NOTICEs.
 *
 * The same steps as in act/migrate.c, on a forecast of how full the tiers will be then.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "src/act/dry_run.h"
#include "src/act/fullness_foretell.h"
#include "src/act/level.h"

/* What the run would do about one member of a job that has a tablespace to go to. */
static void
announce_member(TierDryRun *run, const TierDueJob *job, Oid relation_oid)
{
	const TierForeseenRun how = {.ignore_windows = run->ignore_windows};
	TierMoveRequest request = tier_due_request(job, run->set, relation_oid);
	char	   *target;
	const char *waiting;
	TierProspect prospect;

	tier_foresight_choose(run->foresight, &request);
	target = get_tablespace_name(request.tablespace_oid);
	if (!tier_foresee_prospect(run->foresight, &request, run->pins, &how, &prospect))
		return;
	if (prospect.obstacle.message != NULL)
	{
		run->in_vain = lappend_oid(run->in_vain, relation_oid);
		tier_foresee_warn(&prospect);
		return;
	}
	if (prospect.begins)
	{
		run->done = lappend_oid(run->done, relation_oid);
		if (job->leaf->verdict == TIER_VERDICT_RETURNS)
			run->return_bytes += prospect.bytes;
	}
	waiting = tier_foresee_waiting(&prospect.start);
	ereport(NOTICE,
			(errmsg("would move %s %s to tier \"%s\"",
					tier_relation_kind_name(prospect.info.kind), prospect.info.name,
					NameStr(tier_due_target(job, run->set, relation_oid)->name)),
			 errdetail("Tablespace \"%s\"; %s.%s", target ? target : "?", job->leaf->reason,
					   waiting == NULL ? "" : psprintf(" Now it would be %s.", waiting))));
}

/* What the run would move, and what not and why. */
static void
announce(TierDryRun *run, const TierDueJob *job)
{
	ListCell   *cell;

	foreach(cell, job->members)
	{
		Oid			relation_oid = lfirst_oid(cell);
		TierRelationInfo info;

		CHECK_FOR_INTERRUPTS();
		if (!OidIsValid(tier_partition_tablespace(job->leaf, relation_oid)))
		{
			if (tier_relation_lookup(relation_oid, &info))
				tier_due_warn_no_tablespace(&info, tier_due_target(job, run->set, relation_oid),
											WARNING);
		}
		else if (tier_due_is_within_limit(job, relation_oid, false, run->return_bytes))
			announce_member(run, job, relation_oid);
	}
}

static bool
is_foreseen_too_full(const TierDryRun *run)
{
	Bitmapset  *above = tier_foresight_above(run->foresight);

	return bms_nonempty_difference(bms_difference(above, run->first), run->stuck);
}

/* As empty_tiers(). */
static void
announce_leaving(TierDryRun *run, const TierDueJob *jobs, int njobs, TierFullnessSummary *summary)
{
	MemoryContext old_context = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(old_context, "tiered_storage emptying",
												  ALLOCSET_DEFAULT_SIZES);
	TierFullnessRun how = {.ignore_windows = run->ignore_windows};
	TierFullnessSummary emptied;

	MemoryContextSwitchTo(context);
	how.moved = tier_due_sorted_oids(run->done, &how.nmoved);
	how.returning = tier_due_returning_of(jobs, njobs, &how.nreturning);
	how.in_vain = tier_due_sorted_oids(run->in_vain, &how.nin_vain);
	how.not_yet = tier_level_names(run->set, run->first);
	PushActiveSnapshot(GetTransactionSnapshot());
	emptied = tier_fullness_announce(&how, run->foresight);
	PopActiveSnapshot();
	MemoryContextSwitchTo(old_context);
	emptied.tried = list_copy(emptied.tried);
	MemoryContextDelete(context);
	run->nforetold++;
	run->has_emptied = run->first == NULL;
	run->stuck = bms_difference(tier_foresight_above(run->foresight), run->first);
	run->done = list_concat(run->done, emptied.tried);
	run->emptied_done = list_length(run->done);
	tier_fullness_add(summary, &emptied);
}

/* Each look at what leaves is as expensive as all that comes before. */
static void
announce_cut(TierDryRun *run)
{
	ereport(NOTICE,
			(errmsg("tiers would be emptied again before what follows, which is foretold %d times "
					"only", TIER_MOST_FORETOLD),
			 errdetail("The run itself does it as often as need be: more may leave then, and find "
					   "room, than is said here.")));
	run->is_cut = true;
}

void
tier_dry_run_announce(TierDryRun *run, const TierDueJob *jobs, int njobs,
					  TierFullnessSummary *summary)
{
	for (int i = 0; i < njobs; i++)
	{
		if (!jobs[i].comes_first)
			run->first = NULL;
		if (!run->is_cut && is_foreseen_too_full(run))
		{
			if (run->nforetold < TIER_MOST_FORETOLD - 1)
				announce_leaving(run, jobs, njobs, summary);
			else
				announce_cut(run);
		}
		announce(run, &jobs[i]);
	}
	run->first = NULL;
	if (list_length(run->done) != run->emptied_done)
		run->stuck = NULL;
	if (!run->has_emptied || is_foreseen_too_full(run))
		announce_leaving(run, jobs, njobs, summary);
}
