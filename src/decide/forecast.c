/*-------------------------------------------------------------------------
 *
 * decide/forecast.c
 *		How long a move will take, and how long it will lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "src/base/settings.h"
#include "src/decide/forecast.h"

/* Of tiered_storage.move_rate_limit. */
#define BYTES_PER_MB (1024.0 * 1024.0)

const TierCostProfile *
tier_forecast_profile(const TierSet *set, Oid tablespace_oid)
{
	int			tier = tier_set_tier_of_tablespace(set, tablespace_oid);

	return tier < 0 ? NULL : &set->tiers[tier].profile;
}

TierForecast
tier_forecast_by_pace(const TierSet *set, Oid from_tablespace_oid, Oid to_tablespace_oid,
					  const TierMovePace *pace)
{
	TierForecast forecast;

	forecast.from = tier_forecast_profile(set, from_tablespace_oid);
	forecast.to = tier_forecast_profile(set, to_tablespace_oid);
	forecast.pace = *pace;
	return forecast;
}

TierForecast
tier_forecast_between(const TierSet *set, Oid from_tablespace_oid, Oid to_tablespace_oid)
{
	TierMovePace pace;
	TierCatalogScope scope;

	tier_catalog_enter(&scope);
	pace = tier_catalog_move_pace(from_tablespace_oid, to_tablespace_oid);
	tier_catalog_leave(&scope);
	return tier_forecast_by_pace(set, from_tablespace_oid, to_tablespace_oid, &pace);
}

/* The prediction of the profiles. */
static double
profile_seconds(const TierForecast *forecast, int moves, double bytes)
{
	double		flush_s = Max(forecast->from->fsync_ms, forecast->to->fsync_ms) / 1000.0;

	return tier_cost_move_s(bytes, forecast->from, forecast->to) +
		moves * TIER_FLUSHES_PER_MOVE * flush_s;
}

/* For all moves of the server, and for each background worker. */
double
tier_forecast_limited_seconds(double bytes, bool by_worker)
{
	double		seconds = 0;

	if (tier_move_rate_limit_mb > 0)
		seconds = bytes / (tier_move_rate_limit_mb * BYTES_PER_MB);
	if (tier_worker_rate_limit_mb > 0 && (by_worker || MyBackendType == B_BG_WORKER))
		seconds = Max(seconds, bytes / (tier_worker_rate_limit_mb * BYTES_PER_MB));
	return seconds;
}

double
tier_forecast_seconds(const TierForecast *forecast, int moves, double bytes, bool by_worker)
{
	const TierMovePace *pace = &forecast->pace;
	double		seconds;

	if (forecast->from != NULL && forecast->to != NULL)
	{
		double		this_s = profile_seconds(forecast, moves, bytes);
		double		past_s = profile_seconds(forecast, pace->moves, pace->bytes);

		seconds = this_s;
		if (past_s + this_s > 0)
			seconds = this_s * (pace->seconds + this_s) / (past_s + this_s);
	}
	else if (pace->bytes > 0)
		seconds = pace->seconds * bytes / pace->bytes;
	else
		return NAN;
	return Max(seconds, tier_forecast_limited_seconds(bytes, by_worker));
}

char *
tier_forecast_text(double seconds)
{
	if (seconds < 1)
		return pstrdup("less than a second");
	if (seconds < 2 * 60)
		return psprintf("about %.0f s", seconds);
	if (seconds < 2 * 3600)
		return psprintf("about %.0f minutes", seconds / 60);
	return psprintf("about %.1f hours", seconds / 3600);
}
