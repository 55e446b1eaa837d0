/*-------------------------------------------------------------------------
 *
 * decide/move_window_sql.c
 *		SQL functions on move windows: check, call, return.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/sql.h"
#include "src/decide/window_schedule.h"

PG_FUNCTION_INFO_V1(tier_move_window_state);

static void
put_window(TierResultRow *row, const TierMoveWindows *windows, int index, double moved_bytes)
{
	const TierOpening *current = NULL;
	const TierOpening *next = NULL;

	for (int i = windows->nopenings - 1; i >= 0; i--)
	{
		const TierOpening *opening = &windows->openings[i];

		if (opening->window != index)
			continue;
		if (opening->opens_us > windows->now)
			next = opening;
		else
			current = opening;
	}
	tier_row_clear(row);
	tier_row_name(row, 0, NameStr(windows->rows[index].name));
	tier_row_datum(row, 1, BoolGetDatum(current != NULL));
	tier_row_time(row, 2, next != NULL ? next->opens_us : 0);
	tier_row_time(row, 3, current != NULL ? current->closes_us :
				  next != NULL ? next->closes_us : 0);
	if (current != NULL)
		tier_row_datum(row, 4, Int64GetDatum((int64) moved_bytes));
	tier_row_put(row);
}

/* Since the opening in which a window is. */
static double
bytes_in_opening(const TierMoveWindows *windows, int index)
{
	for (int i = 0; i < windows->nopenings; i++)
	{
		const TierOpening *opening = &windows->openings[i];

		if (opening->window == index && opening->opens_us <= windows->now)
			return tier_catalog_bytes_moved_within(tier_seconds_between(opening->opens_us,
																		windows->now));
	}
	return 0.0;
}

Datum
tier_move_window_state(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierMoveWindows *windows;
	TierResultRow row;
	double	   *moved_bytes;

	tier_result_start(fcinfo, &row);
	tier_catalog_enter(&scope);
	windows = tier_move_windows_load(context);
	moved_bytes = MemoryContextAlloc(context, sizeof(double) * Max(windows->nrows, 1));
	for (int i = 0; i < windows->nrows; i++)
		moved_bytes[i] = bytes_in_opening(windows, i);
	tier_catalog_leave(&scope);
	for (int i = 0; i < windows->nrows; i++)
		put_window(&row, windows, i, moved_bytes[i]);
	return (Datum) 0;
}
