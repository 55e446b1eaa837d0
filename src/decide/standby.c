/*-------------------------------------------------------------------------
 *
 * decide/standby.c
 *		What units cost on standbys of whose devices something was told.
 *
 * Which part of a unit's reads each of them has is decide/units.c's to say.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "src/compat.h"
#include "src/decide/compression.h"
#include "src/decide/standby.h"
#include "src/model/standby.h"

TierCost
tier_standby_cost_of(const TierAdvice *advice, const TierAdviceUnit *unit,
					 const TierCostLoad *load, int tier)
{
	int			n = unit->standby_shares == NULL ? 0 : advice->standbys.n;
	TierCostProfile primary = tier_advice_profile(advice, unit, tier);

	return tier_standby_cost(load, &primary,
							 n == 0 ? NULL : &advice->standbys.profiles[tier * n],
							 unit->standby_shares, n);
}

double
tier_standby_move_s(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	double		seconds = 0.0;

	for (int s = 0; s < advice->standbys.n; s++)
	{
		TierCostProfile source = {.sequential_read_mb_per_s = INFINITY};

		seconds += tier_cost_move_s(unit->size_bytes, &source,
									&advice->standbys.profiles[tier * advice->standbys.n + s]);
	}
	return seconds;
}

/* What one standby's device has to do for it less there than here. */
static double
saved_by(const TierAdvice *advice, const TierAdviceUnit *unit, int standby, int from, int to)
{
	const TierCostProfile *profiles = advice->standbys.profiles;
	int			n = advice->standbys.n;
	TierCostLoad load = tier_standby_load(&unit->load, unit->standby_shares[standby]);

	return tier_cost_on(&load, &profiles[from * n + standby]).busy_s -
		tier_cost_on(&load, &profiles[to * n + standby]).busy_s;
}

const char *
tier_standby_that_decides(const TierAdvice *advice, const TierAdviceUnit *unit, int from, int to)
{
	double		whole = tier_standby_cost_of(advice, unit, &unit->load, from).busy_s -
	tier_standby_cost_of(advice, unit, &unit->load, to).busy_s;

	for (int s = 0; s < advice->standbys.n && unit->standby_shares != NULL; s++)
		if (fabs(saved_by(advice, unit, s, from, to)) > fabs(whole) / 2.0 &&
			(whole > 0.0) == (saved_by(advice, unit, s, from, to) > 0.0))
			return NameStr(advice->standbys.names[s]);
	return NULL;
}
