/*-------------------------------------------------------------------------
 *
 * act/fullness_foretell.c
 *		What a run of fullness policies would do, without moving.
 *
 * The same steps as in act/fullness.c, on a forecast of how full the tiers will be then.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/act/emptying.h"
#include "src/act/fullness_foretell.h"
#include "src/act/gate.h"
#include "src/act/level.h"
#include "src/server/relation.h"

/* What would leave, and who is told of it. */
typedef struct Foretelling
{
	const TierFullnessRun *run;
	TierFullnessQuestion question;
	TierFullnessTell tell;
	void	   *argument;
	List	   *tried;			/* OIDs of what leaves, as far as can be seen */
} Foretelling;

/* As if member i had left. */
static void
foretold(TierFullnessEvaluation *evaluation, int i)
{
	tier_emptying_take_away(&evaluation->problem, &evaluation->units[i]);
	if (evaluation->result.places[i] >= 0)
		evaluation->problem.place_bytes[evaluation->result.places[i]] -=
			evaluation->units[i].place_bytes;
}

/* As move_next(). */
static void
foretell_next(Foretelling *foretelling, TierFullnessEvaluation *evaluation, int i)
{
	TierRelationInfo info;

	if (tier_relation_lookup(evaluation->members[i].unit->relation_oid, &info))
	{
		if (!tier_emptying_fits(evaluation, evaluation->advice->set, i, &info))
			return;
		foretelling->tried = lappend_oid(foretelling->tried, info.relation_oid);
		if (foretelling->tell(foretelling->argument, evaluation, i, NULL))
			foretold(evaluation, i);
	}
	tier_emptying_set_aside(evaluation, i, "it was looked at");
}

/* As empty_locked() goes on from move to move. */
static void
foretell_tier(Foretelling *foretelling, TierFullnessEvaluation *evaluation)
{
	const TierSet *set = evaluation->advice->set;
	TierFullnessProblem *problem = &evaluation->problem;
	TierFullnessResult *result = &evaluation->result;
	int			next;

	problem->level = tier_fullness_level(set, evaluation->tier, &foretelling->question);
	problem->level.own_bytes += evaluation->arriving_bytes;
	problem->level.disk_bytes += evaluation->arriving_bytes;
	tier_fullness_find_room(evaluation, set, &foretelling->question);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		tier_fullness_decide(problem, result);
		next = tier_emptying_next(result);
		if (next < 0)
			break;
		if (tier_fullness_look_again(evaluation, &foretelling->question, set, next))
			foretell_next(foretelling, evaluation, next);
		else
			tier_fullness_arrange(problem, result);
	}
}

/* Those that would leave have this in common; NULL: those of run->backoff. */
static void
tell_all(const Foretelling *foretelling, const TierFullnessEvaluation *evaluation,
		 const char *closed)
{
	const TierFullnessResult *result = &evaluation->result;
	const TierFullnessRun *run = foretelling->run;

	for (int i = 0; i < result->norder; i++)
	{
		int			u = result->order[i];
		Oid			relation_oid = evaluation->members[u].unit->relation_oid;

		CHECK_FOR_INTERRUPTS();
		if (result->verdicts[u] != TIER_FULLNESS_LEAVES)
			continue;
		if (closed != NULL)
			(void) foretelling->tell(foretelling->argument, evaluation, u, closed);
		else if (run->nbackoff > 0 &&
				 bsearch(&relation_oid, run->backoff, run->nbackoff, sizeof(Oid), oid_cmp) != NULL)
			(void) foretelling->tell(foretelling->argument, evaluation, u,
									 "waiting: it could not be moved lately");
	}
}

/* Is a move window open?  If not, that is said of each that would leave. */
static bool
is_open(const Foretelling *foretelling, const TierFullnessEvaluation *evaluation)
{
	TierMoveStart start;

	if (foretelling->run->ignore_windows)
		return true;
	start = tier_gate_ask_any(evaluation->advice->set, TIER_PRESSING_YES);
	if (!start.may_begin)
		tell_all(foretelling, evaluation, start.reason);
	return start.may_begin;
}

TierFullnessSummary
tier_fullness_foretell(const TierFullnessRun *run, TierForesight *foresight,
					   TierFullnessTell tell, void *argument)
{
	TierFullnessSummary summary = {0};
	Foretelling foretelling = {
		.run = run,
		.question =
		{
			.flight = tier_foresight_flight,
			.argument = foresight,
			.moved = run->moved,.nmoved = run->nmoved,
			.returning = run->returning,.nreturning = run->nreturning,
			.in_vain = run->in_vain,.nin_vain = run->nin_vain,
			.not_yet = run->not_yet
		},
		.tell = tell,
		.argument = argument
	};
	TierFullnessEvaluation *evaluations;
	int			n;

	evaluations = tier_fullness_evaluate(&foretelling.question, &n);
	for (int i = 0; i < n; i++)
	{
		tier_fullness_count(&summary, &evaluations[i]);
		if (tier_emptying_has_turn(&foretelling.question, &evaluations[i]))
			tell_all(&foretelling, &evaluations[i], NULL);
	}
	if (run->nbackoff > 0)
	{
		foretelling.question.backoff = run->backoff;
		foretelling.question.nbackoff = run->nbackoff;
		evaluations = tier_fullness_evaluate(&foretelling.question, &n);
	}
	for (int i = 0; i < n; i++)
		if (tier_emptying_has_turn(&foretelling.question, &evaluations[i]) &&
			is_open(&foretelling, &evaluations[i]))
			foretell_tier(&foretelling, &evaluations[i]);
	summary.tried = foretelling.tried;
	return summary;
}
