/*-------------------------------------------------------------------------
 *
 * act/preflight_forecast.c
 *		preflight(): when the move would begin, and how long it would take.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/act/claims.h"
#include "src/act/preflight_checks.h"
#include "src/base/settings.h"
#include "src/base/sql.h"
#include "src/move/throttle.h"

TierFinding
tier_preflight_time(TierSurvey *survey)
{
	double		seconds = 0;
	int			past_moves = 0;
	ListCell   *cell;

	foreach(cell, survey->routes)
	{
		const TierRoute *route = lfirst(cell);

		seconds += tier_forecast_seconds(&route->forecast, route->moves, route->bytes, false);
		past_moves += route->forecast.pace.moves;
	}
	if (survey->moves == 0)
		return tier_finding_ok("none: there is nothing to move");
	if (isnan(seconds))
		return tier_finding_warn("SELECT tiered_storage.add_tier(...) tells its figures.",
								 "not known: a tablespace belongs to no tier, and no "
								 "similar move is recorded");
	return tier_finding_ok("%s, by the tiers' profiles%s%s; %s are written there, and %s of WAL",
						   tier_forecast_text(seconds),
						   past_moves == 0 ? "" :
						   psprintf(" and %d past move%s", past_moves, past_moves == 1 ? "" : "s"),
						   tier_move_rate_limit_mb <= 0 ? "" :
						   psprintf("; move_rate_limit is %.0f MB/s", tier_move_rate_limit_mb),
						   tier_size_text(survey->bytes), tier_size_text(survey->wal_bytes));
}

/*
 * Why the worker, or migrate(), would not begin with the largest of it now, by the gate that they
 * use; else the state of the worker.
 */
static char *
automatic_text(const TierSurvey *survey)
{
	char	   *conflict = tier_claims_find_conflict(survey->call->set);
	ListCell   *cell;

	if (conflict != NULL)
		return psprintf("automatic moves: %s", conflict);
	foreach(cell, survey->routes)
	{
		const TierRoute *route = lfirst(cell);
		TierPlannedMove planned = {
			.from_tablespace_oid = route->from_tablespace_oid,
			.to_tablespace_oid = route->to_tablespace_oid,
			.bytes = route->largest_bytes,
			.by_worker = true
		};
		TierMoveStart start = tier_gate_ask(survey->call->set, &planned);

		if (!start.may_begin)
			return psprintf("automatic moves: %s", start.reason);
	}
	return tier_gate_worker_text(NULL);
}

TierFinding
tier_preflight_start(TierSurvey *survey)
{
	static const char *const remedy =
	"SELECT * FROM tiered_storage.move_progress shows how far they are.";
	Oid			role_oid = GetUserId();
	int			n = tier_throttle_others();
	char	   *others = psprintf("%d other%s under way", n, n == 1 ? " is" : "s are");
	char	   *automatic;

	tier_gate_forget();
	automatic = automatic_text(survey);
	if (tier_throttle_is_paused())
		return tier_finding_warn("SELECT tiered_storage.resume();",
								 "moves are paused: a CALL waits until they are resumed; %s",
								 automatic);
	switch (tier_throttle_ask(role_oid, tier_is_administrator(role_oid)))
	{
		case TIER_THROTTLE_FREE:
			break;
		case TIER_THROTTLE_FULL:
			return tier_finding_warn(remedy, "%s, as many as max_movers permits: a CALL waits; %s",
									 others, automatic);
		case TIER_THROTTLE_HAS_ONE:
			return tier_finding_warn(remedy, "a move of role %s is under way, which has one at a "
									 "time: a CALL waits; %s",
									 quote_identifier(GetUserNameFromId(role_oid, false)),
									 automatic);
		case TIER_THROTTLE_KEPT_FREE:
			return tier_finding_warn(remedy, "%s, and the last place is for administrators: "
									 "a CALL waits; %s", others, automatic);
	}
	return tier_finding_ok("by CALL at once; %s", automatic);
}
