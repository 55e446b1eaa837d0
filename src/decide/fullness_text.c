/*-------------------------------------------------------------------------
 *
 * decide/fullness_text.c
 *		Describes a fullness policy in words.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "lib/stringinfo.h"

#include "src/base/sql.h"
#include "src/decide/tier_fullness.h"

static const char *
tier_name(const TierFullnessEvaluation *evaluation, int tier)
{
	return NameStr(evaluation->advice->set->tiers[tier].name);
}

static const char *const obstacle_words[] = {
	[TIER_FULLNESS_NONE] = "stays",
	[TIER_FULLNESS_PINNED] = "pinned",
	[TIER_FULLNESS_OF_EXTENSION] = "of extension",
	[TIER_FULLNESS_MOVED_LATELY] = "moved lately",
	[TIER_FULLNESS_DUE] = "due by policy",
	[TIER_FULLNESS_EMPTY] = "empty",
	[TIER_FULLNESS_NOT_ONLINE] = "not online",
	[TIER_FULLNESS_NO_RIGHT] = "no right",
	[TIER_FULLNESS_TOO_LARGE] = "too large",
	[TIER_FULLNESS_NOT_NOW] = "failed lately",
};

const char *
tier_fullness_verdict(const TierFullnessEvaluation *evaluation, int i)
{
	switch (evaluation->result.verdicts[i])
	{
		case TIER_FULLNESS_LEAVES:
			return evaluation->policy->is_enabled ? "leaves" : "disabled";
		case TIER_FULLNESS_STAYS:
			return "stays";
		case TIER_FULLNESS_NOT_NEEDED:
			return "not needed";
		case TIER_FULLNESS_FREES_NOTHING:
			return "frees nothing";
		case TIER_FULLNESS_NO_ROOM:
			return "no room";
		case TIER_FULLNESS_OBSTACLE:
			return obstacle_words[evaluation->units[i].obstacle];
	}
	return NULL;
}

static char *
percent(double share)
{
	return psprintf("%.1f %%", 100.0 * share);
}

/* " (20 MB more due to arrive)" */
static char *
arriving_text(const TierFullnessEvaluation *evaluation)
{
	return evaluation->arriving_bytes <= 0.0 ? "" :
		psprintf(" (%s more due to arrive)", tier_advice_bytes(evaluation->arriving_bytes));
}

/* "it costs 0.2 s/h more there" */
static char *
loss_text(const TierFullnessEvaluation *evaluation, int i)
{
	double		lost_s = evaluation->units[i].lost_s;

	return psprintf("%s s/h %s on \"%s\"%s", tier_advice_number(fabs(lost_s)),
					lost_s >= 0.0 ? "more" : "less",
					tier_name(evaluation, evaluation->target),
					evaluation->units[i].reluctance > 0 ?
					", as observed so far" : "");
}

char *
tier_fullness_reason(const TierFullnessEvaluation *evaluation, int i)
{
	switch (evaluation->result.verdicts[i])
	{
		case TIER_FULLNESS_LEAVES:
			return psprintf("tier \"%s\" is %s full%s, and this relation loses least by "
							"leaving: %s",
							tier_name(evaluation, evaluation->tier),
							percent(tier_fullness_share(evaluation)), arriving_text(evaluation),
							loss_text(evaluation, i));
		case TIER_FULLNESS_STAYS:
			return psprintf("colder relations free enough space; %s", loss_text(evaluation, i));
		case TIER_FULLNESS_NOT_NEEDED:
			return psprintf("tier \"%s\" is %s full, not above %s; %s",
							tier_name(evaluation, evaluation->tier),
							percent(tier_fullness_share(evaluation)),
							percent(evaluation->problem.high), loss_text(evaluation, i));
		case TIER_FULLNESS_FREES_NOTHING:
			return psprintf("tier \"%s\" is on the same file system",
							tier_name(evaluation, evaluation->target));
		case TIER_FULLNESS_NO_ROOM:
			return psprintf("tier \"%s\" has no room for it below its watermark and reserve",
							tier_name(evaluation, evaluation->target));
		case TIER_FULLNESS_OBSTACLE:
			return pstrdup(evaluation->members[i].why);
	}
	return NULL;
}

/* ---------------------------------------------------------------------
 * The summary
 * ---------------------------------------------------------------------
 */

/* The obstacles of relations, with the bytes: "200 MB pinned, 30 MB moved lately". */
static char *
obstacles_text(const TierFullnessEvaluation *evaluation)
{
	double		bytes[lengthof(obstacle_words)] = {0};
	StringInfoData line;

	initStringInfo(&line);
	for (int i = 0; i < evaluation->problem.nunits; i++)
		bytes[evaluation->units[i].obstacle] += evaluation->units[i].own_bytes;
	for (int o = TIER_FULLNESS_PINNED; o < (int) lengthof(obstacle_words); o++)
		if (bytes[o] > 0.0)
			appendStringInfo(&line, "%s%s %s", line.len > 0 ? ", " : "",
							 tier_advice_bytes(bytes[o]), obstacle_words[o]);
	return line.data;
}

/* The obstacles to moving as much as has to leave. */
static void
append_shortage(StringInfo line, const TierFullnessEvaluation *evaluation, double needed,
				double leaving)
{
	double		room = Max(Max(evaluation->problem.target_bytes,
							   evaluation->problem.later_bytes), 0.0);
	char	   *obstacles;

	if (room < needed && room <= leaving)
	{
		appendStringInfo(line, "tier \"%s\" has room for %s of %s",
						 tier_name(evaluation, evaluation->target), tier_advice_bytes(room),
						 tier_advice_bytes(needed));
		return;
	}
	if (leaving >= needed)
	{
		appendStringInfo(line, "tier \"%s\" has no room for enough of the %s that may leave",
						 tier_name(evaluation, evaluation->target), tier_advice_bytes(leaving));
		return;
	}
	obstacles = obstacles_text(evaluation);
	appendStringInfo(line, "%s of %s may leave%s%s", tier_advice_bytes(leaving),
					 tier_advice_bytes(needed), obstacles[0] == '\0' ? "" : "; ", obstacles);
}

/* "; its high watermark leaves 4096 MB free, and after a crash as much as ..." */
static void
append_crash_room(StringInfo line, const TierFullnessProblem *problem)
{
	double		room = tier_fullness_crash_room(&problem->level, problem->high);
	double		wal_bytes = max_wal_size_mb * 1048576.0;

	if (tier_fullness_may_lack_crash_room(&problem->level, problem->high))
		appendStringInfo(line, "; its high watermark leaves %s free, and after a crash as much "
						 "as max_wal_size, %s, may be needed",
						 tier_size_text(Max(room, 0.0)), tier_size_text(wal_bytes));
}

char *
tier_fullness_summary(const TierFullnessEvaluation *evaluation)
{
	const TierFullnessProblem *problem = &evaluation->problem;
	const TierFullnessResult *result = &evaluation->result;
	double		full_days;
	StringInfoData line;

	if (evaluation->error != NULL)
		return pstrdup(evaluation->error);
	initStringInfo(&line);
	appendStringInfo(&line, "%s full%s", percent(tier_fullness_share(evaluation)),
					 arriving_text(evaluation));
	if (!result->is_needed)
		appendStringInfo(&line, ", not above %s", percent(problem->high));
	else if (result->nleaving == 0)
		appendStringInfo(&line, ", above %s, and nothing can leave", percent(problem->high));
	else
		appendStringInfo(&line, ", above %s: %d %s with %s %s, which leaves it at %s",
						 percent(problem->high),
						 result->nleaving, result->nleaving == 1 ? "relation" : "relations",
						 tier_advice_bytes(result->leaving_bytes),
						 result->nleaving == 1 ? "leaves" : "leave",
						 percent(Max(result->after_bytes, 0.0) / problem->level.capacity_bytes));
	if (!result->is_enough)
	{
		appendStringInfoString(&line, "; ");
		append_shortage(&line, evaluation,
						tier_fullness_bytes(&problem->level) -
						problem->level.capacity_bytes * problem->low,
						tier_fullness_may_leave(problem));
	}
	full_days = tier_advice_days_until_full(evaluation->advice, evaluation->tier);
	if (full_days > 0.0 && full_days * HOURS_PER_DAY <= evaluation->advice->observed_hours)
		appendStringInfo(&line, "; as it grows now, full in about %s if nothing leaves",
						 tier_advice_duration(full_days * SECS_PER_DAY));
	append_crash_room(&line, problem);
	return line.data;
}
