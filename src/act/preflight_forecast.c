/*-------------------------------------------------------------------------
 *
 * act/preflight_forecast.c
 *		preflight(): when the move would begin, and what it would take.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/act/claims.h"
#include "src/act/gate.h"
#include "src/act/preflight_rows.h"
#include "src/base/settings.h"
#include "src/decide/forecast.h"
#include "src/decide/wear.h"
#include "src/move/progress.h"
#include "src/move/throttle.h"
#include "src/server/relation.h"
#include "src/storage/device.h"

/* Of all routes. */
typedef struct Outlook
{
	double		seconds;		/* NaN: not known of one of them */
	double		longest_lock_s; /* of a copy under a lock; NaN as above; 0:
								 * none */
	int			online_moves;
	int			past_moves;		/* that the above rests on */
	double		lock_held_ms;	/* of these: the slowest route's; negative:
								 * none */
	double		longest_lock_ms;
	int			rivals;			/* moves that the seconds are shared with */
	double		rival_bytes;	/* that these have still to copy */
} Outlook;

static const TierDevice *
device_of(const TierSet *set, Oid tablespace_oid)
{
	const TierTablespace *tablespace = tier_set_tablespace(set, tablespace_oid);

	return tablespace != NULL ? tablespace->device : tier_device_lookup(tablespace_oid, "");
}

static bool
share_device(const TierSet *set, Oid a, Oid b)
{
	return a == b || tier_device_is_shared(device_of(set, a), device_of(set, b));
}

/* Does the other move read or write what is read or written on this route? */
static bool
meets(const TierSet *set, const TierRoute *route, const TierAnnouncement *other)
{
	return share_device(set, route->from_tablespace_oid, other->from_oid) ||
		share_device(set, route->from_tablespace_oid, other->tablespace_oid) ||
		share_device(set, route->to_tablespace_oid, other->from_oid) ||
		share_device(set, route->to_tablespace_oid, other->tablespace_oid);
}

/* Seconds of what moves on routes that the other one meets, and of the other; NaN: not known. */
static double
shared_seconds(const TierMoveCall *call, const TierCargo *cargo, const TierAnnouncement *other)
{
	double		own = 0;
	TierForecast forecast;
	double		others;
	ListCell   *cell;

	foreach(cell, cargo->routes)
	{
		const TierRoute *route = lfirst(cell);

		if (!meets(call->set, route, other))
			continue;
		forecast = tier_forecast_between(call->set, route->from_tablespace_oid,
										 route->to_tablespace_oid);
		own += tier_forecast_seconds(&forecast, route->moves, route->bytes, false);
	}
	if (!(own > 0))
		return own;
	forecast = tier_forecast_between(call->set, other->from_oid, other->tablespace_oid);
	others = tier_forecast_seconds(&forecast, 1, other->bytes, false);
	return isnan(others) ? own : Min(own, others);
}

/*
 * Who moves at the same time, or is before this one, gets a like share of a device, and of
 * move_rate_limit: so each takes as long again as the shorter one of the two would alone.
 */
static void
add_rivals(Outlook *outlook, const TierMoveCall *call, const TierCargo *cargo)
{
	double		limited_bytes = cargo->bytes;

	for (int i = 0; i < MaxBackends; i++)
	{
		TierAnnouncement other;
		double		seconds;
		int			pid;

		CHECK_FOR_INTERRUPTS();
		if (!tier_progress_announced(i, &pid, &other) || pid == MyProcPid || other.bytes <= 0)
			continue;
		seconds = shared_seconds(call, cargo, &other);
		if (seconds == 0 && tier_move_rate_limit_mb <= 0)
			continue;
		limited_bytes += Min((double) other.bytes, cargo->bytes);
		outlook->seconds += seconds;
		outlook->rivals++;
		outlook->rival_bytes += (double) other.bytes;
	}
	outlook->seconds = isnan(outlook->seconds) ? NAN :
		Max(outlook->seconds, tier_forecast_limited_seconds(limited_bytes, false));
}

static Outlook
look_ahead(const TierMoveCall *call, const TierCargo *cargo)
{
	Outlook		outlook = {0};
	ListCell   *cell;

	outlook.lock_held_ms = outlook.longest_lock_ms = -1;
	foreach(cell, cargo->routes)
	{
		const TierRoute *route = lfirst(cell);
		TierForecast forecast = tier_forecast_between(call->set, route->from_tablespace_oid,
													  route->to_tablespace_oid);

		outlook.seconds += tier_forecast_seconds(&forecast, route->moves, route->bytes,
												 false);
		outlook.online_moves += route->moves - route->locked_moves;
		outlook.past_moves += forecast.pace.moves;
		if (route->locked_moves > 0)
		{
			double		lock_s = tier_forecast_seconds(&forecast, 1, route->largest_locked_bytes,
													   false);

			if (isnan(lock_s) || lock_s > outlook.longest_lock_s)
				outlook.longest_lock_s = lock_s;
		}
		if (forecast.pace.moves > 0 && forecast.pace.lock_held_ms > outlook.lock_held_ms)
		{
			outlook.lock_held_ms = forecast.pace.lock_held_ms;
			outlook.longest_lock_ms = forecast.pace.longest_lock_ms;
		}
	}
	if (cargo->moves > 0)
		add_rivals(&outlook, call, cargo);
	return outlook;
}

static char *
rivals_text(const Outlook *outlook)
{
	if (outlook->rivals == 0)
		return "";
	return outlook->rivals == 1 ?
		psprintf("; another move shares what it needs, and has %s to copy",
				 tier_size_text(outlook->rival_bytes)) :
		psprintf("; %d other moves share what it needs, and have %s to copy", outlook->rivals,
				 tier_size_text(outlook->rival_bytes));
}

static char *
limit_text(void)
{
	return tier_move_rate_limit_mb <= 0 ? "" :
		psprintf("; move_rate_limit is %.0f MB/s", tier_move_rate_limit_mb);
}

static void
put_time(TierResultRow *row, const TierCargo *cargo, const Outlook *outlook)
{
	if (cargo->moves == 0)
		tier_preflight_put(row, "time", TIER_PREFLIGHT_OK, "none: there is nothing to move", NULL);
	else if (isnan(outlook->seconds))
		tier_preflight_put(row, "time", TIER_PREFLIGHT_WARNING,
						   "not known: a tablespace is in no tier, and nothing was moved "
						   "like this before",
						   "SELECT tiered_storage.add_tier(...) says what the device can do.");
	else
		tier_preflight_put(row, "time", TIER_PREFLIGHT_OK,
						   psprintf("%s, by the tiers' profiles%s%s%s",
									tier_forecast_text(outlook->seconds),
									outlook->past_moves == 0 ? "" :
									psprintf(" and %d past move%s", outlook->past_moves,
											 outlook->past_moves == 1 ? "" : "s"),
									limit_text(), rivals_text(outlook)),
						   NULL);
}

static void
put_bytes(TierResultRow *row, const TierCargo *cargo)
{
	tier_preflight_put(row, "bytes", TIER_PREFLIGHT_OK,
					   psprintf("%s are written there, and %s of WAL",
								tier_size_text(cargo->bytes), tier_size_text(cargo->wal_bytes)),
					   NULL);
}

/*
 * Of the tiers that something goes to the one that wears out, else one of which that is not
 * known, else one that has a budget.  Where there is none, nothing limits it.
 */
static void
put_wear_of(TierResultRow *row, const TierMoveCall *call, const TierCargo *cargo,
			const TierWears *wears)
{
	const NameData *unknown = NULL;
	const NameData *within = NULL;
	ListCell   *cell;

	foreach(cell, cargo->routes)
	{
		const TierRoute *route = lfirst(cell);
		int			tier = tier_set_tier_of_tablespace(call->set, route->to_tablespace_oid);
		const NameData *name = tier < 0 ? NULL : &call->set->tiers[tier].name;
		const TierWear *exceeded = name == NULL ? NULL : tier_wears_exceeded(wears, name);

		if (exceeded != NULL)
		{
			tier_preflight_put(row, "wear", TIER_PREFLIGHT_WARNING,
							   psprintf("tier \"%s\" wears out: %s; what only the load asks for "
										"is not moved there", NameStr(*name),
										tier_wear_text(exceeded)),
							   "SELECT * FROM tiered_storage.devices says what is written to it; "
							   "a CALL and policies by age move all the same.");
			return;
		}
		if (name == NULL || isnan(tier_wears_endurance(wears, name)))
			continue;
		if (isnan(tier_wears_written(wears, name)))
			unknown = name;
		else
			within = name;
	}
	if (unknown != NULL)
		tier_preflight_put(row, "wear", TIER_PREFLIGHT_WARNING,
						   psprintf("not known: how much is written to the devices of tier \"%s\"",
									NameStr(*unknown)),
						   "SELECT * FROM tiered_storage.devices says why.");
	else if (within != NULL)
		tier_preflight_put(row, "wear", TIER_PREFLIGHT_OK,
						   psprintf("tier \"%s\" is written to less than it endures",
									NameStr(*within)), NULL);
	else
		tier_preflight_put(row, "wear", TIER_PREFLIGHT_OK, cargo->moves == 0 ?
						   "nothing is written there" :
						   "no endurance was told of the target, so no wear limits it", NULL);
}

static void
put_wear(TierResultRow *row, const TierMoveCall *call, const TierCargo *cargo)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierWears  *wears;

	if (RecoveryInProgress())
	{
		tier_preflight_put(row, "wear", TIER_PREFLIGHT_WARNING,
						   "not known: a standby does not see it", "Ask the primary.");
		return;
	}
	tier_catalog_enter(&scope);
	wears = tier_wears_load(context);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	put_wear_of(row, call, cargo, wears);
}

static void
put_lock(TierResultRow *row, const TierCargo *cargo, const Outlook *outlook)
{
	char	   *past = "";

	if (outlook->lock_held_ms >= 0)
		past = psprintf("; half of %d past moves: %.1f ms, longest %.1f ms", outlook->past_moves,
						outlook->lock_held_ms, outlook->longest_lock_ms);
	if (cargo->moves == 0)
		tier_preflight_put(row, "lock", TIER_PREFLIGHT_OK, "none", NULL);
	else if (isnan(outlook->longest_lock_s))
		tier_preflight_put(row, "lock", TIER_PREFLIGHT_WARNING,
						   "not known: ACCESS EXCLUSIVE for the whole copy, see time",
						   "Leave allow_lock out.");
	else if (outlook->longest_lock_s > 0)
		tier_preflight_put(row, "lock", TIER_PREFLIGHT_WARNING,
						   psprintf("ACCESS EXCLUSIVE for the whole copy: %s at a time",
									tier_forecast_text(outlook->longest_lock_s)),
						   "Do it at a quiet time, or leave allow_lock out.");
	else
		tier_preflight_put(row, "lock", TIER_PREFLIGHT_OK,
						   psprintf("ACCESS EXCLUSIVE for at most %d ms and a WAL flush%s",
									TIER_LOCK_HOLD_LIMIT_MS, past),
						   NULL);
}

/* Whether the role that asks would get a place among the movers. */
static TierThrottleWait
wait_for_place(void)
{
	Oid			role_oid = GetUserId();

	return tier_throttle_ask(role_oid, tier_is_administrator(role_oid));
}

static void
put_pause(TierResultRow *row)
{
	static const char *const remedy =
	"SELECT * FROM tiered_storage.move_progress shows how far they are.";
	int			others = tier_throttle_others();
	char	   *finding = NULL;

	if (tier_throttle_is_paused())
	{
		tier_preflight_put(row, "pause", TIER_PREFLIGHT_WARNING,
						   "moves are paused: a CALL waits until they are resumed",
						   "SELECT tiered_storage.resume();");
		return;
	}
	switch (wait_for_place())
	{
		case TIER_THROTTLE_FREE:
			break;
		case TIER_THROTTLE_FULL:
			finding = psprintf("%d other%s under way, as many as max_movers permits: "
							   "a CALL waits", others, others == 1 ? " is" : "s are");
			break;
		case TIER_THROTTLE_HAS_ONE:
			finding = psprintf("a move of role %s is under way, which has one at a time: "
							   "a CALL waits",
							   quote_identifier(GetUserNameFromId(GetUserId(), false)));
			break;
		case TIER_THROTTLE_KEPT_FREE:
			finding = psprintf("%d other%s under way, and the last place is for administrators: "
							   "a CALL waits", others, others == 1 ? " is" : "s are");
			break;
	}
	if (finding != NULL)
		tier_preflight_put(row, "pause", TIER_PREFLIGHT_WARNING, finding, remedy);
	else
		tier_preflight_put(row, "pause", TIER_PREFLIGHT_OK,
						   psprintf("moves are not paused, and %d other%s under way", others,
									others == 1 ? " is" : "s are"),
						   NULL);
}

/*
 * Why the worker, or migrate(), would not begin with the largest of it now, by the gate that
 * they ask; else what the worker does.
 */
static char *
automatic_text(const TierMoveCall *call, const TierCargo *cargo)
{
	char	   *conflict = tier_claims_find_conflict(call->set);
	ListCell   *cell;

	if (conflict != NULL)
		return psprintf("of what is not asked for, %s", conflict);
	foreach(cell, cargo->routes)
	{
		const TierRoute *route = lfirst(cell);
		TierPlannedMove planned = {
			.from_tablespace_oid = route->from_tablespace_oid,
			.to_tablespace_oid = route->to_tablespace_oid,
			.bytes = route->largest_bytes,
			.by_worker = true
		};
		TierMoveStart start = tier_gate_ask(call->set, &planned);

		if (!start.may_begin)
			return psprintf("of what is not asked for: %s", start.reason);
	}
	return tier_gate_worker_text(NULL);
}

static void
put_start(TierResultRow *row, const TierMoveCall *call, const TierCargo *cargo)
{
	if (RecoveryInProgress())
		tier_preflight_put(row, "start", TIER_PREFLIGHT_WARNING,
						   "not known: a standby moves nothing", "Ask the primary.");
	else
		tier_preflight_put(row, "start", TIER_PREFLIGHT_OK,
						   psprintf("%s; %s", tier_throttle_is_paused() ?
									"by CALL after resume()" :
									wait_for_place() != TIER_THROTTLE_FREE ?
									"by CALL when another move has ended" : "by CALL at once",
									automatic_text(call, cargo)),
						   NULL);
}

void
tier_preflight_forecast_rows(TierResultRow *row, const TierMoveCall *call, const TierCargo *cargo)
{
	Outlook		outlook = look_ahead(call, cargo);

	put_pause(row);
	put_time(row, cargo, &outlook);
	put_bytes(row, cargo);
	put_wear(row, call, cargo);
	put_lock(row, cargo, &outlook);
	tier_gate_forget();
	put_start(row, call, cargo);
}
