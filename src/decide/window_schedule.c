/*-------------------------------------------------------------------------
 *
 * decide/window_schedule.c
 *		When an automatic move may begin, and how long it takes.
 *
 * The decision is that of model/move_window.c; this module provides its input: the time zones,
 * the clock, the bytes moved since a window opened, and the duration of a move.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"
#include "src/base/sql.h"
#include "src/decide/advice.h"
#include "src/decide/forecast.h"
#include "src/decide/window_schedule.h"
#include "src/server/time_zone.h"

/* As _tiered_storage.move_window_openings() has it. */
#define HORIZON_DAYS 21

TierMoveWindows *
tier_move_windows_load(MemoryContext context)
{
	TierMoveWindows *windows = MemoryContextAllocZero(context, sizeof(TierMoveWindows));

	windows->context = context;
	windows->now = tier_clock_now();
	windows->rows = tier_catalog_load_move_windows(context, &windows->nrows);
	windows->openings = MemoryContextAlloc(context, sizeof(TierOpening) * Max(windows->nrows, 1));
	for (int i = 0; i < windows->nrows; i++)
	{
		windows->any_is_enabled |= windows->rows[i].is_enabled;
		if (windows->rows[i].opening.opens_us == 0)
			continue;
		windows->openings[windows->nopenings] = windows->rows[i].opening;
		windows->openings[windows->nopenings++].window = i;
	}
	return windows;
}

/* How earlier moves between two tablespaces went. */
typedef struct TierRoutePace
{
	Oid			from_tablespace_oid;
	Oid			to_tablespace_oid;
	TierMovePace pace;
} TierRoutePace;

/* A run asks for thousands of relations, which go few ways. */
static const TierMovePace *
find_pace(TierMoveWindows *windows, Oid from_oid, Oid to_oid)
{
	MemoryContext old_context;
	TierCatalogScope scope;
	TierMovePace pace = {0};
	TierRoutePace *route;
	ListCell   *cell;

	foreach(cell, windows->paces)
	{
		route = lfirst(cell);
		if (route->from_tablespace_oid == from_oid && route->to_tablespace_oid == to_oid)
			return &route->pace;
	}
	old_context = CurrentMemoryContext;
	if (tier_catalog_try_enter(&scope))
	{
		pace = tier_catalog_move_pace(from_oid, to_oid);
		tier_catalog_leave(&scope);
	}
	MemoryContextSwitchTo(windows->context);
	route = palloc(sizeof(TierRoutePace));
	*route = (TierRoutePace)
	{
		from_oid, to_oid, pace
	};
	windows->paces = lappend(windows->paces, route);
	MemoryContextSwitchTo(old_context);
	return &route->pace;
}

static double
forecast_s(TierMoveWindows *windows, const TierSet *set, const TierPlannedMove *move)
{
	double		limited = tier_forecast_limited_seconds(move->bytes, move->by_worker);
	TierForecast forecast;
	double		seconds = NAN;

	if (OidIsValid(move->from_tablespace_oid))
	{
		forecast = tier_forecast_by_pace(set, move->from_tablespace_oid, move->to_tablespace_oid,
										 find_pace(windows, move->from_tablespace_oid,
												   move->to_tablespace_oid));
		seconds = tier_forecast_seconds(&forecast, 1, move->bytes, move->by_worker);
	}
	return isnan(seconds) && limited > 0.0 ? limited : seconds;
}

/* The reason for which it cannot begin now although a window is open; "": none is open. */
static char *
why_not_now(const TierWindowAnswer *answer, const TierPlannedMove *move, double seconds)
{
	switch (answer->verdict)
	{
		case TIER_WINDOW_USED_UP:
			return psprintf(": the open window has less than its %s left",
							tier_size_text(move->bytes));
		case TIER_WINDOW_TOO_SHORT:
			return psprintf(": it takes %s%s, and the open window closes before",
							seconds < SECS_PER_MINUTE ? "" : "about ",
							tier_advice_duration(seconds));
		default:
			return "";
	}
}

/* Why it will not begin in any of the openings. */
static char *
why_never(const TierMoveWindows *windows, const TierWindowAnswer *answer,
		  const TierPlannedMove *move, double seconds)
{
	if (!windows->any_is_enabled)
		return pstrdup("waiting: all move windows are disabled");
	if (windows->nopenings == 0)
		return psprintf("waiting: no move window opens within %d days", HORIZON_DAYS);
	if (answer->is_too_large)
		return psprintf("waiting: its %s are more than may be moved in any window",
						tier_size_text(move->bytes));
	return psprintf("waiting: it takes %s%s, which is longer than any window is open",
					seconds < SECS_PER_MINUTE ? "" : "about ", tier_advice_duration(seconds));
}

/*
 * The openings, without the bytes that earlier moves of a series use up of those that are open.
 */
static const TierOpening *
openings_left(const TierMoveWindows *windows, const TierPlannedMove *move)
{
	TierOpening *openings;

	if (move->earlier_bytes == 0.0)
		return windows->openings;
	openings = palloc(sizeof(TierOpening) * Max(windows->nopenings, 1));
	for (int i = 0; i < windows->nopenings; i++)
	{
		openings[i] = windows->openings[i];
		if (openings[i].opens_us <= windows->now)
			openings[i].left_bytes -= move->earlier_bytes;
	}
	return openings;
}

TierMoveStart
tier_move_windows_ask(TierMoveWindows *windows, const TierSet *set,
					  const TierPlannedMove *move)
{
	TierMoveStart start = {true, windows->now, 0.0, NULL, false};
	TierWindowAnswer answer;
	const TierMoveWindowRow *row;

	start.seconds = forecast_s(windows, set, move);
	if (windows->nrows == 0)
		return start;
	answer = tier_openings_ask(openings_left(windows, move), windows->nopenings,
							   windows->now + (int64) (move->earlier_s * USECS_PER_SEC),
							   move->bytes, start.seconds);
	start.may_begin = answer.verdict == TIER_WINDOW_OPEN;
	if (start.may_begin)
		return start;
	start.at = answer.opening < 0 ? 0 : answer.at_us;
	if (answer.opening < 0)
	{
		start.reason = why_never(windows, &answer, move, start.seconds);
		return start;
	}
	row = &windows->rows[windows->openings[answer.opening].window];
	start.reason = psprintf("waiting for window %s, opens %s%s",
							quote_identifier(NameStr(row->name)),
							tier_time_zone_text(row->time_zone, answer.at_us),
							why_not_now(&answer, move, start.seconds));
	return start;
}
