/*-------------------------------------------------------------------------
 *
 * act/preflight_rows.h
 *		The rows of preflight(): what is in the way of a move, and what it will cost.
 *
 * preflight_sql.c looks at the relations and where they go, by the mover's own checks;
 * preflight_server.c at the rest of the server; preflight_forecast.c
 * says what the move would take.  All look without a lock on anything of a user, change
 * nothing, and wait for nothing.  What cannot be known is a warning that says so, and never
 * "ok".
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PREFLIGHT_ROWS_H
#define TIER_PREFLIGHT_ROWS_H

#include "postgres.h"

#include "src/act/call.h"
#include "src/base/sql.h"

typedef enum TierPreflightVerdict
{
	TIER_PREFLIGHT_OK,
	TIER_PREFLIGHT_WARNING,		/* it can be made, and somebody should know
								 * this */
	TIER_PREFLIGHT_BLOCKS,		/* it would be refused */
} TierPreflightVerdict;

/* One row; the remedy is left out of one that is ok. */
extern void tier_preflight_put(TierResultRow *row, const char *check, TierPreflightVerdict verdict,
							   const char *finding, const char *remedy);

/* All that the call would move between two tablespaces. */
typedef struct TierRoute
{
	Oid			from_tablespace_oid;
	Oid			to_tablespace_oid;
	int			moves;
	double		bytes;
	double		largest_bytes;	/* of one move */
	int			locked_moves;	/* of these, those under a lock for the whole
								 * copy */
	double		largest_locked_bytes;	/* the longest lock is that of the
										 * largest */
} TierRoute;

/* Sums over the relations of a call. */
typedef struct TierCargo
{
	List	   *routes;			/* TierRoute */
	int			relations;
	int			moves;			/* of these: have something to move */
	double		bytes;			/* of moves */
	double		wal_bytes;
} TierCargo;

/* Slots, archive, standbys, backups: what reads the WAL of the move, or keeps it. */
extern void tier_preflight_server_rows(TierResultRow *row, const TierMoveCall *call,
									   const TierCargo *cargo);

/* Pause and places among the movers; and how long, how much, which lock, when. */
extern void tier_preflight_forecast_rows(TierResultRow *row, const TierMoveCall *call,
										 const TierCargo *cargo);

#endif							/* TIER_PREFLIGHT_ROWS_H */
