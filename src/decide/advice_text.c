/*-------------------------------------------------------------------------
 *
 * decide/advice_text.c
 *		Advice in words: reasons with numbers, commands.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "commands/tablespace.h"
#include "mb/pg_wchar.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "src/decide/advice.h"
#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/model/wording.h"
#include "src/server/relation.h"

/* Blocks: lower rates are not mentioned. */
#define LEAST_PER_HOUR 0.05

/* Device-seconds per hour: so is less than that. */
#define LEAST_SAVED_S 0.005

/* Reads that are known as well as that are not what advice depends on. */
#define NARROW_RANGE 1.1

/* Of the reads that are shown: what is left out is not mentioned if as much counts. */
#define LEAST_PART 0.95

/* A tier with no more than this share of it left is full. */
#define LEAST_ROOM 0.05

/* Of a name in a reason. */
#define NAME_CHARACTERS 30

static const char *const month_names[] = {
	"January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December"
};

const char *
tier_advice_confidence_text(TierConfidence confidence)
{
	switch (confidence)
	{
		case TIER_CONFIDENCE_FIRM:
			return "firm";
		case TIER_CONFIDENCE_TENTATIVE:
			return "tentative";
		case TIER_CONFIDENCE_PROVISIONAL:
			break;
	}
	return "provisional";
}

/* "3 minutes", "5 hours", "12 days" */
char *
tier_advice_duration(double seconds)
{
	if (seconds < 60)
		return pstrdup("less than a minute");
	if (seconds < 90)
		return pstrdup("1 minute");
	if (seconds < 2 * 3600)
		return psprintf("%.0f minutes", seconds / 60);
	if (seconds < 2 * 86400)
		return psprintf("%.0f hours", seconds / 3600);
	return psprintf("%.0f days", seconds / 86400);
}

/*
 * The measured reads, as everywhere else.  Reads from the statistics before the first sample,
 * and reads since the last sample, were not measured.
 */
static double
random_reads(const TierAdviceUnit *unit)
{
	return !unit->is_past && unit->random_reads > 0.0 ? unit->random_reads :
		unit->loads.middle.random_reads;
}

static double
sequential_reads(const TierAdviceUnit *unit)
{
	return !unit->is_past && unit->sequential_reads > 0.0 ? unit->sequential_reads :
		unit->loads.middle.sequential_reads;
}

/* For so short a time that time alone would make it firmer. */
static bool
is_observed_little(const TierAdviceUnit *unit)
{
	return unit->confidence < TIER_CONFIDENCE_FIRM &&
		unit->known_s < tier_units_required_s();
}

static const char *
extension_name(const TierAdviceUnit *unit)
{
	char	   *name = get_extension_name(unit->extension_oid);

	return name == NULL ? "that is being dropped" : quote_identifier(name);
}

/* ---------------------------------------------------------------------
 * In short
 * ---------------------------------------------------------------------
 */

char *
tier_advice_number(double number)
{
	char	   *words = palloc(TIER_NUMBER_TEXT);

	tier_number_text(number, words);
	return words;
}

char *
tier_advice_bytes(double bytes)
{
	char	   *words = palloc(TIER_NUMBER_TEXT);

	tier_bytes_text(bytes, words);
	return words;
}

char *
tier_advice_money(double money)
{
	char	   *words = palloc(TIER_NUMBER_TEXT);

	tier_money_text(money, words);
	return words;
}

/* Cuts the line, in place, at so many characters, of which the last are "..." then. */
static char *
clipped(char *line, int characters)
{
	if (pg_mbstrlen(line) > characters)
		strcpy(line + pg_mbcharcliplen(line, strlen(line), characters - 3), "...");
	return line;
}

/* A name that leaves room for the rest of a reason: it may have 63 characters. */
static char *
short_name(const char *name)
{
	return clipped(pstrdup(name), NAME_CHARACTERS);
}

static char *
tier_name(const TierAdvice *advice, int tier)
{
	return short_name(NameStr(advice->set->tiers[tier].name));
}

char *
tier_advice_date(TimestampTz at)
{
	pg_time_t	then = timestamptz_to_time_t(at);
	pg_time_t	now = timestamptz_to_time_t(tier_clock_now());
	int			year = pg_localtime(&now, session_timezone)->tm_year;
	struct pg_tm *tm = pg_localtime(&then, session_timezone);

	if (tm->tm_year == year)
		return psprintf("%d %s", tm->tm_mday, month_names[tm->tm_mon]);
	return psprintf("%d %s %d", tm->tm_mday, month_names[tm->tm_mon], tm->tm_year + 1900);
}

double
tier_advice_busy_of(const TierAdvice *advice, const TierAdviceUnit *unit, TierLoadPart part,
					int tier)
{
	TierCostLoad load = {.size_bytes = unit->loads.middle.size_bytes};

	if (part == TIER_PART_RANDOM)
		load.random_reads = unit->loads.middle.random_reads;
	else if (part == TIER_PART_SEQUENTIAL)
	{
		load.sequential_reads = unit->loads.middle.sequential_reads;
		load.scans = unit->loads.middle.scans;
	}
	else
	{
		load.page_writes = unit->loads.middle.page_writes;
		load.merged_writes = unit->loads.middle.merged_writes;
	}
	return tier_advice_cost_of(advice, unit, &load, tier).busy_s;
}

/* Of one that the device does next to nothing for. */
static char *
idle_text(const TierAdviceUnit *unit)
{
	if (tier_advice_is_event(unit))
		return pstrdup("loaded or used once");
	return pstrdup(unit->loads.misses >= 1.0 &&
				   tier_unit_reads(unit) + unit->loads.event_reads <
				   LEAST_PER_HOUR ?
				   "reads are served from the page cache" : "almost no I/O");
}

/*
 * ", 12 % of the blocks requested": the part of its requests that memory did not serve; where less
 * was `counted` on than is `shown`, that part.
 */
static const char *
share_text(const TierAdviceUnit *unit, double counted, double shown)
{
	double		reads = tier_unit_reads(unit);
	double		share = reads / Max(unit->loads.misses + unit->loads.hits, reads);

	if (unit->is_past)
		return " by the server's statistics";
	if (counted < LEAST_PART * shown)
		return psprintf(", %.0f %% likely to continue", 100.0 * counted / shown);
	return share > 0.995 ? "" :
		share < 0.005 ? ", under 1 % of the blocks requested" :
		psprintf(", %.0f %% of the blocks requested", 100.0 * share);
}

/*
 * The part of the load that differs most between two tiers; for one tier: the part that takes
 * most.
 */
static char *
use_text(const TierAdvice *advice, const TierAdviceUnit *unit, int from, int to)
{
	double		reads = tier_unit_reads(unit);
	double		most = -1;
	TierLoadPart part = TIER_PART_RANDOM;

	for (TierLoadPart p = TIER_PART_RANDOM; p <= TIER_PART_WRITES; p++)
	{
		double		there_s = from == to ? 0.0 : tier_advice_busy_of(advice, unit, p, to);
		double		difference = fabs(tier_advice_busy_of(advice, unit, p, from) - there_s);

		if (difference > most)
		{
			most = difference;
			part = p;
		}
	}
	if (reads < LEAST_PER_HOUR && part != TIER_PART_WRITES)
		return idle_text(unit);
	switch (part)
	{
		case TIER_PART_RANDOM:
			break;
		case TIER_PART_SEQUENTIAL:
			return psprintf("scans read %s/h%s",
							tier_advice_bytes(sequential_reads(unit) * BLCKSZ),
							share_text(unit, unit->loads.middle.sequential_reads,
									   sequential_reads(unit)));
		case TIER_PART_WRITES:
			return psprintf("%s pages/h written",
							tier_advice_number(unit->loads.middle.page_writes));
	}

	return psprintf("%s random reads/h%s", tier_advice_number(random_reads(unit)),
					share_text(unit, unit->loads.middle.random_reads, random_reads(unit)));
}

bool
tier_advice_is_event(const TierAdviceUnit *unit)
{
	double		events = unit->loads.event_reads + unit->loads.event_writes;

	return events >= LEAST_PER_HOUR &&
		events > tier_unit_reads(unit) + unit->loads.middle.page_writes;
}

static bool
is_over_a_day_ago(TimestampTz at)
{
	return TimestampDifferenceExceeds(at, tier_clock_now(), SECS_PER_DAY * 1000);
}

TimestampTz
tier_advice_unused_since(const TierAdviceUnit *unit)
{
	if (tier_unit_reads(unit) >= LEAST_PER_HOUR)
		return 0;
	if (unit->last_read_at != 0)
		return unit->loads.event_reads < LEAST_PER_HOUR && is_over_a_day_ago(unit->last_read_at) ?
			unit->unread_since : 0;

	/* Reads without a scan come from loading and maintenance. */
	return unit->never_scanned || is_over_a_day_ago(unit->unread_since) ? unit->unread_since : 0;
}

/* Not known for so long that it would mean something that it is not used. */
static bool
is_new(const TierAdviceUnit *unit)
{
	return unit->proven_s < tier_units_required_s();
}

static char *
reason_to_go(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	const char *there = tier_name(advice, unit->recommended_tier);
	int			from = unit->current_tier;
	int			to = unit->recommended_tier;
	double		here_s = tier_advice_busy(advice, unit, from);
	double		there_s = tier_advice_busy(advice, unit, to);
	double		here_price = tier_advice_price(advice, unit, from);
	double		cheaper = here_price - tier_advice_price(advice, unit, to);
	TimestampTz since = is_new(unit) ? 0 : tier_advice_unused_since(unit);
	char	   *use;

	if (here_s - there_s >= LEAST_SAVED_S)
		return psprintf("%s: %s s/h here, %s s/h on %s", use_text(advice, unit, from, to),
						tier_advice_number(here_s), tier_advice_number(there_s), there);
	use = since != 0 ? psprintf("not read since %s", tier_advice_date(since)) :
		use_text(advice, unit, from, to);
	if (advice->options.objective != TIER_OBJECTIVE_TIME && cheaper > 0)
		return psprintf("%s: %s cheaper a month, %s s/h more", use, tier_advice_money(cheaper),
						tier_advice_number(Max(there_s - here_s, 0.0)));
	if (unit->is_urgent)
		return psprintf("makes room on %s, which is too full",
						tier_name(advice, from));
	if (tier_advice_is_too_full(advice, from))
		return psprintf("%s: makes room on %s, which is too full, %s s/h more", use,
						tier_name(advice, from),
						tier_advice_number(Max(there_s - here_s, 0.0)));
	return psprintf("%s: makes room for hotter relations on %s, %s s/h more", use,
					tier_name(advice, from),
					tier_advice_number(Max(there_s - here_s, 0.0)));
}

static char *
reason_to_stay(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	const char *here = tier_name(advice, unit->current_tier);
	double		busy_s = tier_advice_busy(advice, unit, unit->current_tier);
	double		cooldown_s = tier_cooldown_min * 60.0;
	TimestampTz since;

	if (unit->immovable != NULL)
		return psprintf("cannot be moved: %s", unit->immovable);
	if (OidIsValid(unit->extension_oid))
		return psprintf("belongs to extension %s: stays unless it is pinned elsewhere",
						short_name(extension_name(unit)));
	if (unit->policy_tier >= 0)
		return psprintf("put on %s by a tiering policy", here);
	if (unit->resides_s > 0.0)
		return psprintf("moved to %s %s ago: stays for %s", here,
						tier_advice_duration(cooldown_s - unit->resides_s),
						tier_advice_duration(cooldown_s));
	since = is_new(unit) ? 0 : tier_advice_unused_since(unit);
	if (since != 0 && busy_s < LEAST_SAVED_S)
		return psprintf("not read since %s", tier_advice_date(since));
	if (tier_advice_is_event(unit))
	{
		if (unit->last_used_at != 0 && is_over_a_day_ago(unit->last_used_at))
			return psprintf("loaded or used once, and not since %s",
							tier_advice_date(unit->last_used_at));
		return pstrdup(unit->loads.filling_reads >
					   0.5 * (unit->loads.event_reads + unit->loads.event_writes) ?
					   "reads have filled memory, and may not continue" :
					   "recently loaded or used once, and may not continue");
	}
	if (busy_s < LEAST_SAVED_S)
		return idle_text(unit);
	return psprintf("%s: %s s/h on %s",
					use_text(advice, unit, unit->current_tier, unit->current_tier),
					tier_advice_number(busy_s), here);
}

/* The part of the load that is not known well enough. */
static char *
range_text(const TierAdviceUnit *unit)
{
	double		low = unit->loads.reads_low;
	double		high = unit->loads.reads_high;

	return high < 1.0 || high <= low * NARROW_RANGE ? pstrdup("depends on the load") :
		psprintf("if that goes on, %s to %s reads/h", tier_advice_number(low),
				 tier_advice_number(high));
}

const char *
tier_advice_obstacle(const TierAdvice *advice, const TierAdviceUnit *unit, int tier)
{
	double		stored = tier_advice_stored(advice, unit, tier);
	double		limit = advice->available_bytes[tier];

	if (advice->why_closed[tier] != NULL)
		return advice->why_closed[tier];
	if (advice->placement.bottleneck[tier] == TIER_BOTTLENECK_BUSY)
		return "would be too busy";
	if (advice->placement.bottleneck[tier] == TIER_BOTTLENECK_ENDURANCE)
		return "would wear out";

	/*
	 * Whether the unit is larger than the tier, or there is room, but less
	 * than the unit takes.
	 */
	if (stored > limit || limit - advice->placement.after[tier].bytes > LEAST_ROOM * limit)
		return psprintf("has no room for its %s", tier_advice_bytes(stored));
	return "is full";
}

/* The quantity that the move depends on, or its obstacle; NULL: none. */
static char *
but_text(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	int			wanted = unit->wanted_tier;

	if (is_observed_little(unit))
		return psprintf("observed for %s of %s", tier_advice_duration(unit->known_s),
						tier_advice_duration(tier_units_required_s()));
	if (wanted >= 0 && wanted != unit->recommended_tier &&
		!(wanted == unit->current_tier && tier_advice_is_too_full(advice, wanted)))
		return psprintf("%s %s", tier_name(advice, wanted),
						tier_advice_obstacle(advice, unit, wanted));
	if (unit->recommended_tier == unit->current_tier || unit->makes_room)
		return NULL;
	if (unit->depends_on_load)
		return range_text(unit);
	return unit->confidence < TIER_CONFIDENCE_FIRM ?
		pstrdup("if the relations that need its place move") : NULL;
}

char *
tier_advice_firm_when(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	if (unit->confidence == TIER_CONFIDENCE_FIRM)
		return NULL;
	if (is_observed_little(unit))
		return psprintf("in %s", tier_advice_duration(Max(tier_units_required_s() -
														  unit->known_s, 60.0)));
	return pstrdup(unit->depends_on_load ? "if it goes on" : "if others move");
}

/* The difference of the command from an ordinary one, or why there is none; or NULL. */
static char *
method_text(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	const TierTier *tiers = advice->set->tiers;
	TierRelationInfo info;
	double		mb_per_s;

	if (unit->recommended_tier < 0 || unit->recommended_tier == unit->current_tier ||
		!tier_relation_lookup(unit->relation_oid, &info))
		return NULL;
	if (tier_relation_why_incomplete(&info) != NULL)
		return pstrdup("not valid: REINDEX it first");
	if (tier_relation_why_not_online(&info) == NULL)
		return NULL;
	mb_per_s = Min(tiers[unit->recommended_tier].profile.sequential_write_mb_per_s,
				   tiers[unit->current_tier].profile.sequential_read_mb_per_s);
	return psprintf("%s, so the move locks it for %s s",
					info.persistence == RELPERSISTENCE_UNLOGGED ? "unlogged" :
					!XLogIsNeeded() ? "wal_level is minimal" : "foreign access method",
					tier_advice_number(Max(unit->size_bytes / (mb_per_s * 1e6), 0.001)));
}

/* Adds a part if there is room for it. */
static char *
with_part(char *reason, const char *part, int most)
{
	return part != NULL && pg_mbstrlen(reason) + 2 + pg_mbstrlen(part) <= most ?
		psprintf("%s; %s", reason, part) : reason;
}

char *
tier_advice_reason(const TierAdvice *advice, const TierAdviceUnit *unit, int most_characters)
{
	char	   *reason;
	char	   *method = method_text(advice, unit);

	if (unit->current_tier < 0)
		return pstrdup("its tablespace belongs to no tier");
	if (unit->pinned_tier >= 0)
		reason = psprintf("pinned to %s", tier_name(advice, unit->pinned_tier));
	else if (unit->recommended_tier != unit->current_tier)
		reason = reason_to_go(advice, unit);
	else
		reason = reason_to_stay(advice, unit);
	/* Why it takes no time there, although it is read. */
	if ((unit->pinned_tier >= 0 || unit->policy_tier >= 0 || unit->resides_s > 0.0) &&
		tier_advice_is_event(unit))
		reason = with_part(reason, "recent use may not continue", most_characters);
	if (method != NULL && pg_mbstrlen(reason) + 2 + pg_mbstrlen(method) > most_characters)
		reason = method;
	else
		reason = with_part(reason, method, most_characters);
	reason = with_part(reason, but_text(advice, unit), most_characters);
	return clipped(reason, most_characters);
}

/*
 * The argument of move_relation() for the tier: its name, or if that is also the name of a
 * tablespace elsewhere, the name of one of its tablespaces.  NULL: there is none.
 */
static const char *
target_name(const TierSet *set, int tier)
{
	const char *name = NameStr(set->tiers[tier].name);
	Oid			namesake_oid = get_tablespace_oid(name, true);
	const char *target = NULL;

	if (!OidIsValid(namesake_oid) || tier_set_tier_of_tablespace(set, namesake_oid) == tier)
		return name;
	for (int i = 0; i < set->ntablespaces && target == NULL; i++)
	{
		int			namesake = tier_set_find_tier(set, NameStr(set->tablespaces[i].name));

		if (set->tablespaces[i].tier == tier && (namesake < 0 || namesake == tier))
			target = NameStr(set->tablespaces[i].name);
	}
	return target;
}

char *
tier_advice_command(const TierAdvice *advice, const TierAdviceUnit *unit)
{
	TierRelationInfo info;
	const char *target;

	if (unit->recommended_tier < 0 || unit->recommended_tier == unit->current_tier ||
		!tier_relation_lookup(unit->relation_oid, &info))
		return NULL;
	target = target_name(advice->set, unit->recommended_tier);
	if (target == NULL || tier_relation_why_incomplete(&info) != NULL)
		return NULL;
	return psprintf("CALL tiered_storage.move_relation(%s, %s%s%s)",
					quote_literal_cstr(info.name), quote_literal_cstr(target),
					unit->kind == RELKIND_INDEX ? "" : ", include_indexes => false",
					tier_relation_why_not_online(&info) == NULL ? "" : ", allow_lock => true");
}
