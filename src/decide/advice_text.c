/*-------------------------------------------------------------------------
 *
 * decide/advice_text.c
 *		Advice in words: reasons with numbers, commands.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "utils/builtins.h"

#include "src/decide/advice.h"
#include "src/base/settings.h"
#include "src/server/relation.h"

/* Blocks: what is rarer than this is not worth a word. */
#define LEAST_PER_HOUR 0.05

/* Device-seconds per hour: so is less than that. */
#define LEAST_SAVED_S 0.005

/* From this share of its time on, a busy device is a reason. */
#define WORTH_MENTIONING_BUSY 0.5

/* Reads that are known as well as that are not what advice depends on. */
#define NARROW_RANGE 1.1

#define S_PER_HOUR 3600.0

const char *
tier_advice_confidence_text(TierConfidence confidence)
{
	switch (confidence)
	{
		case TIER_CONFIDENCE_FIRM:
			return "firm";
		case TIER_CONFIDENCE_TENTATIVE:
			return "tentative";
		case TIER_CONFIDENCE_INSUFFICIENT:
			break;
	}
	return "insufficient data";
}

/* "3 minutes", "5 hours", "12 days" */
static char *
duration_text(double seconds)
{
	if (seconds < 2 * 3600)
		return psprintf("%.0f minutes", seconds / 60);
	if (seconds < 2 * 86400)
		return psprintf("%.0f hours", seconds / 3600);
	return psprintf("%.0f days", seconds / 86400);
}

/* What it does, in numbers. */
static char *
load_text(const TierAdviceUnit *unit)
{
	double		reads = unit->load.random_reads + unit->load.sequential_reads;
	double		misses = unit->misses_per_hour;
	double		requests = misses + unit->hits_per_hour;
	char	   *passed = "";

	if (reads < LEAST_PER_HOUR && unit->load.page_writes < LEAST_PER_HOUR)
		return psprintf("it causes no I/O (%.0f%% cached)", 100.0 * unit->cached_fraction);
	if (reads < misses * 0.995)
		passed = psprintf(", %.0f%% of these the page cache, too", 100.0 * reads / misses);
	return psprintf("%.0f%% of its %.0f block requests per hour miss shared buffers%s (%.0f random, %.0f sequential), %.0f pages per hour are written%s",
					requests <= 0 ? 0.0 : 100.0 * misses / requests, requests, passed,
					unit->load.random_reads, unit->load.sequential_reads, unit->load.page_writes,
					unit->writes_estimated || unit->load.page_writes < 0.5 ? "" : ", as counted in the WAL");
}

char *
tier_advice_reason(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	const TierTier *tiers = advice->set->tiers;
	const TierPlacementTotals *now = advice->placement.now;
	int			from = unit->current_tier;
	int			to = unit->recommended_tier;
	StringInfoData buffer;

	if (from < 0)
		return pstrdup("its tablespace belongs to no tier");

	initStringInfo(&buffer);
	appendStringInfoString(&buffer, load_text(unit));
	if (to == from)
	{
		appendStringInfo(&buffer, "; it stays on %s, where that takes %.2f s of device time per hour",
						 NameStr(tiers[from].name), tier_advice_busy(advice, unit, from));
		if (unit->pinned_tier < 0 && unit->policy_tier >= 0)
			appendStringInfoString(&buffer, ", because a tiering policy has put it there");
		else if (unit->pinned_tier < 0 && unit->resides_s > 0.0)
			appendStringInfo(&buffer, "; it was moved here %s ago and stays for %s",
							 duration_text(tier_residence_time_min * 60.0 - unit->resides_s),
							 duration_text(tier_residence_time_min * 60.0));
	}
	else
	{
		double		saved = tier_advice_busy(advice, unit, from) - tier_advice_busy(advice, unit, to);
		double		cheaper = tier_advice_price(advice, unit, from) - tier_advice_price(advice, unit, to);

		if (saved >= LEAST_SAVED_S || (saved > 0 && cheaper <= 0))
			appendStringInfo(&buffer, "; on %s this takes %.2f s of device time per hour instead of %.2f s on %s",
							 NameStr(tiers[to].name), tier_advice_busy(advice, unit, to),
							 tier_advice_busy(advice, unit, from), NameStr(tiers[from].name));
		else if (cheaper > 0)
			appendStringInfo(&buffer, "; on %s it costs %.4f less per month%s and %.3f s more device time per hour",
							 NameStr(tiers[to].name), cheaper,
							 tiers[to].price_is_assumed || tiers[from].price_is_assumed ? " (at assumed prices)" : "",
							 Max(-saved, 0.0));
		else
			appendStringInfo(&buffer, "; on %s it takes %.3f s of device time per hour more than on %s",
							 NameStr(tiers[to].name), Max(-saved, 0.0), NameStr(tiers[from].name));
		if (now[from].occupied_s > WORTH_MENTIONING_BUSY * S_PER_HOUR || (saved < LEAST_SAVED_S && cheaper <= 0))
			appendStringInfo(&buffer, "; device time of %s is used to %.0f%% now, and of %s to %.0f%%",
							 NameStr(tiers[from].name), 100.0 * now[from].occupied_s / S_PER_HOUR,
							 NameStr(tiers[to].name), 100.0 * now[to].occupied_s / S_PER_HOUR);
		if (unit->indexes_staying > 0)
			appendStringInfo(&buffer, "; %d of its indexes %s: %.0f%% cached", unit->indexes_staying,
							 unit->indexes_staying == 1 ? "stays" : "stay",
							 100.0 * unit->indexes_staying_cached_bytes / Max(unit->indexes_staying_bytes, 1.0));
	}
	if (unit->pinned_tier >= 0)
		appendStringInfo(&buffer, "; it is pinned to %s", NameStr(tiers[unit->pinned_tier].name));
	if (unit->wanted_tier >= 0 && unit->wanted_tier != to)
		appendStringInfo(&buffer, "; %s would be better, but %s", NameStr(tiers[unit->wanted_tier].name),
						 advice->placement.bottleneck[unit->wanted_tier] == TIER_BOTTLENECK_BUSY ? "its device would be too busy" :
						 advice->placement.bottleneck[unit->wanted_tier] == TIER_BOTTLENECK_ENDURANCE ? "would be written to too much" :
						 "is full");
	if (unit->confidence == TIER_CONFIDENCE_INSUFFICIENT)
		appendStringInfo(&buffer, "; observed for %s only", duration_text(unit->observed_s));
	else if (unit->depends_on_sequential)
		appendStringInfo(&buffer, "; depends on how many of its reads are sequential, %.0f to %.0f per hour",
						 unit->sequential_low, unit->sequential_high);
	else if (unit->depends_on_reads && unit->reads_high <= unit->reads_low * NARROW_RANGE)
		appendStringInfoString(&buffer, "; depends on how many reads others will have");
	else if (unit->depends_on_reads)
		appendStringInfo(&buffer, "; depends on how many reads there will be, %.0f to %.0f per hour",
						 unit->reads_low, unit->reads_high);
	if (unit->unexplained > 0.0)
		appendStringInfo(&buffer, "; %.0f%% of what device %s read is not explained by what this database asked for",
						 100.0 * Min(unit->unexplained, 1.0), unit->device);
	return buffer.data;
}

char *
tier_advice_command(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	TierRelationInfo info;

	if (unit->recommended_tier < 0 || unit->recommended_tier == unit->current_tier ||
		!tier_relation_lookup(unit->relation_oid, &info))
		return NULL;
	return psprintf("CALL tiered_storage.move_relation(%s, %s%s)",
					quote_literal_cstr(info.name),
					quote_literal_cstr(NameStr(advice->set->tiers[unit->recommended_tier].name)),
					unit->kind == RELKIND_INDEX ? "" : ", include_indexes => false");
}
