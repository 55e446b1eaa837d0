/*-------------------------------------------------------------------------
 *
 * decide/window_schedule.h
 *		When an automatic move may begin, and how long it takes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WINDOW_SCHEDULE_H
#define TIER_WINDOW_SCHEDULE_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "src/catalog/tables.h"

/*
 * The windows of this database, with the bytes moved in those that are open, as of the moment in
 * which they were loaded; not changed afterwards.
 */
typedef struct TierMoveWindows
{
	TierMoveWindowRow *rows;
	int			nrows;			/* 0: moves may begin at any time */
	bool		any_is_enabled;
	TimestampTz now;			/* when it was loaded, by tier_clock_now */
	TierOpening *openings;		/* of the next three weeks; window: the row */
	int			nopenings;

	/* How earlier moves went, looked up when it is asked for: TierRoutePace. */
	List	   *paces;
	MemoryContext context;		/* of all of this */
} TierMoveWindows;

/* Inside of a scope; the result lives in the given context. */
extern TierMoveWindows *tier_move_windows_load(MemoryContext context);

/*
 * Whether a move makes room on a tier that is above its high watermark.  Such a move does not
 * wait for conditions that moves make worse without stopping the server.
 */
typedef enum TierPressing
{
	TIER_PRESSING_BY_LEVEL,		/* as full as the tier is that it leaves */
	TIER_PRESSING_NO,
	TIER_PRESSING_YES,
} TierPressing;

/* One move, as far as windows and pressure are concerned. */
typedef struct TierPlannedMove
{
	Oid			from_tablespace_oid;
	Oid			to_tablespace_oid;
	double		bytes;			/* of all forks */
	bool		by_worker;		/* tiered_storage.worker_rate_limit counts */
	bool		is_optional;	/* only the load asks for it: advice, or the
								 * return of a policy */
	TierPressing pressing;
	double		earlier_bytes;	/* of moves that are made before, from now on;
								 * less than zero: its own, which its record
								 * counts already */
	double		earlier_from_bytes; /* that these bring to the tier that it
									 * leaves, or take away: less than zero */
	double		earlier_s;		/* and how long these take */
} TierPlannedMove;

typedef struct TierMoveStart
{
	bool		may_begin;		/* now */
	TimestampTz at;				/* the time at which it may; 0: not known, or
								 * never in the present state */
	double		seconds;		/* expected duration; NaN: not known */
	char	   *reason;			/* "waiting for window ...", in the current
								 * memory context; NULL: it need not wait */
	bool		under_pressure; /* that is why it may not (act/gate.h); the
								 * end is not known */
} TierMoveStart;

/*
 * Whether the move may begin now, or when.  A move that would not end while windows are open may
 * not.  Its duration is that of decide/forecast.h; without a forecast, the minimum at the allowed
 * rate.  Outside of a scope, in a transaction.
 */
extern TierMoveStart tier_move_windows_ask(TierMoveWindows *windows, const TierSet *set,
										   const TierPlannedMove *move);

#endif							/* TIER_WINDOW_SCHEDULE_H */
