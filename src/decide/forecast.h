/*-------------------------------------------------------------------------
 *
 * decide/forecast.h
 *		How long a move will take, and how long it will lock.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_FORECAST_H
#define TIER_FORECAST_H

#include "postgres.h"

#include "src/catalog/tables.h"

/*
 * A move, however small, is some transactions whose commits wait for a flush: the
 * record, the registration of the file, the swap, and the end of the record.
 */
#define TIER_FLUSHES_PER_MOVE 4

/*
 * The basis for the expected duration of moves from one tablespace to another.  Filled in once by
 * tier_forecast_between() and not changed afterwards; points into the set.
 */
typedef struct TierForecast
{
	const TierCostProfile *from;	/* NULL: in no tier */
	const TierCostProfile *to;
	TierMovePace pace;			/* how earlier ones went */
} TierForecast;

/* Of the tier of a tablespace; NULL: it is in none. */
extern const TierCostProfile *tier_forecast_profile(const TierSet *set, Oid tablespace_oid);

/* Must not be called inside a scope. */
extern TierForecast tier_forecast_between(const TierSet *set, Oid from_tablespace_oid,
										  Oid to_tablespace_oid);

/* The same, if it is known how earlier ones went. */
extern TierForecast tier_forecast_by_pace(const TierSet *set, Oid from_tablespace_oid,
										  Oid to_tablespace_oid, const TierMovePace *pace);

/*
 * Seconds of so many moves of so many bytes in all, without any waits, at the rate that is
 * allowed to a worker, or to this session; NaN: no profile and no past move is known.
 *
 * The prediction of the profiles of the tiers is corrected by past moves between them: (T + p) /
 * (P + p), where T is the time of the past moves, P their prediction by the profiles, and p that
 * of this one.  So past moves have the weight of the bytes they have copied, compared with the
 * bytes to be copied now.
 */
extern double tier_forecast_seconds(const TierForecast *forecast, int moves, double bytes,
									bool by_worker);

/* By the allowed rate alone; 0: there is no limit. */
extern double tier_forecast_limited_seconds(double bytes, bool by_worker);

/* "about 3 s", "about 20 minutes"; the shortest is "less than a second". */
extern char *tier_forecast_text(double seconds);

#endif							/* TIER_FORECAST_H */
