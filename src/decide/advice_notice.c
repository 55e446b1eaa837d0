/*-------------------------------------------------------------------------
 *
 * decide/advice_notice.c
 *		Summarizes the advice as a whole, and explains an empty one.
 *
 * An empty answer must not be taken for "all is well", above all not after a new installation.
 * So it names the obstacle, the most basic one first: no tiers, no samples, no time, nothing that
 * matters.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "lib/stringinfo.h"
#include "pgstat.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "src/base/settings.h"
#include "src/catalog/tables.h"
#include "src/decide/advice.h"
#include "src/model/evidence.h"

/* Money per month that is rounded to nothing. */
#define LEAST_PRICE 5e-3

/* So few operations tell nothing of use, and so many are certain to be use. */
#define FEW_OPERATIONS 8.0
#define MANY_OPERATIONS 32.0

/* Device-seconds per hour: smaller gains are negligible. */
#define LEAST_SAVED_S 0.01

/* The counts of units that explain the advice. */
typedef struct Counts
{
	int			selected;
	int			in_no_tier;
	int			changed;		/* each is counted once, from here on */
	int			provisional;	/* advised only in the provisional advice */
	int			unknown;		/* of all: at most provisional */
	int			past;			/* of these, with a load that is shown as if
								 * it went on */
	int			short_time;		/* of all: observed for less than it takes to
								 * be sure */
	int			too_new;		/* of these, none of those below */
	int			events;
	int			held;			/* by a pin, a policy, or a cooldown */
	int			kept_out;		/* of all: would be better elsewhere, where
								 * there is no room */
	int			unused;			/* none of the above, and not read for long */
	double		unused_bytes;
	TimestampTz unused_since;	/* the last one of them */
	double		longest_s;		/* that one of short_time has been observed */
} Counts;

static bool
is_of_short_time(const TierAdviceUnit *unit)
{
	return unit->pinned_tier < 0 && unit->known_s < tier_units_required_s();
}

/* provisional: the provisional advice, or NULL. */
static Counts
count_units(const TierAdvice *advice, const TierAdvice *provisional)
{
	Counts		counts = {0};

	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];
		TimestampTz since;

		if (!unit->is_selected)
			continue;
		counts.selected++;
		counts.unknown += unit->confidence == TIER_CONFIDENCE_PROVISIONAL;
		counts.past += unit->is_past;
		if (is_of_short_time(unit))
		{
			counts.short_time++;
			counts.longest_s = Max(counts.longest_s, unit->known_s);
		}
		if (unit->current_tier >= 0 && unit->wanted_tier >= 0 &&
			unit->wanted_tier != unit->recommended_tier)
			counts.kept_out++;
		if (unit->current_tier < 0)
			counts.in_no_tier++;
		else if (unit->recommended_tier != unit->current_tier)
			counts.changed++;
		else if (tier_advice_shown(advice, provisional, i) != advice)
			counts.provisional++;
		else if (unit->pinned_tier >= 0 || unit->policy_tier >= 0 || unit->resides_s > 0.0 ||
				 OidIsValid(unit->extension_oid) || unit->immovable != NULL)
			counts.held++;
		else if (unit->proven_s >= tier_units_required_s() &&
				 (since = tier_advice_unused_since(unit)) != 0)
		{
			counts.unused++;
			counts.unused_bytes += unit->size_bytes;
			counts.unused_since = Max(counts.unused_since, since);
		}
		else if (tier_advice_is_event(unit))
			counts.events++;
		else if (is_of_short_time(unit))
			counts.too_new++;
	}
	return counts;
}

static const char *
plural(int n)
{
	return n == 1 ? "" : "s";
}

/*
 * The same relations, to be decided with other options: facts about them are not looked up again,
 * and their confidence is not computed.
 */
static TierAdvice *
undecided_copy(const TierAdvice *advice)
{
	TierAdvice *copy = palloc(sizeof(TierAdvice));
	Size		size = sizeof(TierAdviceUnit) * advice->nunits;

	*copy = *advice;
	copy->units = palloc_extended(Max(size, 1), MCXT_ALLOC_HUGE);
	if (size > 0)
		memcpy(copy->units, advice->units, size);
	memset(&copy->placement, 0, sizeof(copy->placement));
	copy->options.bounds = false;
	return copy;
}

/*
 * Its load in the first minutes, if all observed activity goes on, from before the first sample
 * or since then, without reads that only filled memory.  A load and the indexes that are built
 * after it scan a table a few times, so only many operations are use.
 */
static TierCostLoad
past_load(const TierAdviceUnit *unit)
{
	TierCostLoad load = unit->loads.middle;
	double		weight = Max(0.0, Min(1.0, (unit->operations - FEW_OPERATIONS) /
									  (MANY_OPERATIONS - FEW_OPERATIONS)));
	double		random = unit->loads.event_reads - unit->loads.event_sequential_reads;
	double		again = weight *
	(1.0 - unit->loads.filling_reads / Max(unit->loads.event_reads, 1e-9));

	if (unit->confidence != TIER_CONFIDENCE_PROVISIONAL)
		return load;
	load.random_reads = Max(load.random_reads + again * random,
							weight * unit->loads.past.random_reads);
	load.sequential_reads = Max(load.sequential_reads + again * unit->loads.event_sequential_reads,
								weight * unit->loads.past.sequential_reads);
	load.scans = Max(load.scans, weight * unit->loads.past.scans);
	return load;
}

/*
 * Gives the units the load of the past.  The server's statistics count blocks that came from the
 * page cache, too: no device has worked for more than an hour in an hour.
 */
static void
use_past(TierAdvice *advice)
{
	double	   *occupied_s = palloc0(sizeof(double) * Max(advice->set->ntiers, 1));

	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdviceUnit *unit = &advice->units[i];
		TierCostLoad load = past_load(unit);

		if (unit->current_tier >= 0)
			occupied_s[unit->current_tier] +=
				tier_advice_cost_of(advice, unit, &load, unit->current_tier).occupied_s;
	}
	for (int i = 0; i < advice->nunits; i++)
	{
		TierAdviceUnit *unit = &advice->units[i];
		TierCostLoad load = past_load(unit);
		double		factor;

		if (unit->current_tier < 0 || unit->confidence != TIER_CONFIDENCE_PROVISIONAL)
			continue;
		factor = Min(1.0, advice->options.load_factor * SECS_PER_HOUR /
					 Max(occupied_s[unit->current_tier], 1.0));
		unit->is_past = load.random_reads + load.sequential_reads >
			tier_unit_reads(unit);
		unit->loads.middle = load;
		unit->loads.middle.random_reads *= factor;
		unit->loads.middle.sequential_reads *= factor;
		unit->loads.middle.scans *= factor;
		unit->loads.sequential_low = unit->loads.middle.sequential_reads;
		unit->loads.sequential_high = unit->loads.middle.sequential_reads;
		unit->loads.reads_low = unit->loads.reads_high = tier_unit_reads(unit);
	}
	pfree(occupied_s);
}

TierAdvice *
tier_advice_provisional(const TierAdvice *advice)
{
	TierAdvice *then;
	bool		any = false;

	for (int i = 0; i < advice->nunits && !any; i++)
		any = advice->units[i].confidence == TIER_CONFIDENCE_PROVISIONAL;
	if (!any || advice->options.as_if_observed)
		return NULL;
	then = undecided_copy(advice);
	then->options.as_if_observed = true;
	use_past(then);
	tier_advice_decide(then);
	return then;
}

const TierAdvice *
tier_advice_shown(const TierAdvice *advice, const TierAdvice *provisional, int unit)
{
	const TierAdviceUnit *now = &advice->units[unit];

	return provisional != NULL && now->confidence == TIER_CONFIDENCE_PROVISIONAL &&
		!tier_unit_moves(now) && tier_unit_moves(&provisional->units[unit]) ?
		provisional : advice;
}

char *
tier_advice_moves_text(const TierAdvice *advice, const TierAdvice *provisional,
					   int *nprovisional)
{
	int			of[TIER_CONFIDENCE_FIRM + 1] = {0};
	int			n = 0;
	const char *separator = ": ";
	StringInfoData line;

	for (int i = 0; i < advice->nunits; i++)
	{
		const TierAdvice *by = tier_advice_shown(advice, provisional, i);
		const TierAdviceUnit *unit = &by->units[i];

		if (!unit->is_selected || !tier_unit_moves(unit))
			continue;
		*nprovisional += by != advice;
		of[unit->confidence]++;
		n++;
	}
	if (n == 0)
		return NULL;
	initStringInfo(&line);
	appendStringInfo(&line, "%d move%s recommended", n, n == 1 ? " is" : "s are");
	for (int c = TIER_CONFIDENCE_FIRM; c >= TIER_CONFIDENCE_PROVISIONAL; c--)
	{
		if (of[c] == 0)
			continue;
		appendStringInfo(&line, "%s%d %s", separator, of[c],
						 tier_advice_confidence_text((TierConfidence) c));
		separator = ", ";
	}
	return line.data;
}

/* Statements that make two tiers of the tablespaces that there are. */
static char *
tiers_hint(void)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	char	   *statements;

	tier_catalog_enter(&scope);
	statements = tier_catalog_second_tier_statements(context);
	tier_catalog_leave(&scope);
	if (statements == NULL)
		return pstrdup("Create a tablespace on another device, "
					   "then SELECT * FROM tiered_storage.discover_tiers().");
	return psprintf("If the tablespaces are on different devices, define their tiers: %s",
					statements);
}

static bool
any_is_too_full(const TierAdvice *advice)
{
	for (int t = 0; t < advice->set->ntiers; t++)
		if (tier_advice_is_too_full(advice, t))
			return true;
	return false;
}

/* A standby that receives WAL, can be read, and does not report its reads; or NULL. */
static char *
unknown_standby(int *n)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	char	   *name;

	tier_catalog_enter(&scope);
	name = tier_catalog_unknown_standby(context, n);
	tier_catalog_leave(&scope);
	return name;
}

void
tier_advice_notice_unseen(const TierAdvice *advice, bool relies_on_it)
{
	char	   *unknown = NULL;
	int			n = 0;

	if (advice->uncounted != NULL)
		ereport(NOTICE,
				(errmsg("activity of %s is not counted, so no relation is known to be unread",
						advice->uncounted),
				 errhint("ALTER ROLE and ALTER DATABASE have set track_counts off.")));
	else if (!pgstat_track_counts)
		ereport(NOTICE,
				(errmsg("track_counts is off: reads and writes are not counted, so no relation "
						"is known to be unread"),
				 errhint("Set track_counts = on in the server's configuration, then reload it.")));
	if (advice->silent_standby != NULL)
		ereport(NOTICE,
				(errmsg("%s, so no relation is known to be unread", advice->silent_standby),
				 errhint("Use remove_standby() for a standby that no longer exists.")));
	if (relies_on_it && !RecoveryInProgress())
		unknown = unknown_standby(&n);
	if (unknown != NULL)
		ereport(NOTICE,
				(errmsg_plural("%d standby is not asked for its reads, such as \"%s\"",
							   "%d standbys are not asked for their reads, such as \"%s\"",
							   n, n, unknown),
				 errhint("Use add_standby() to count the reads of a standby.")));
}

/* Why nothing is recommended, and how to proceed; the most important reason first. */
void
tier_advice_notice_empty(const TierAdvice *advice)
{
	const TierSet *set = advice->set;
	Counts		counts = count_units(advice, NULL);
	bool		is_full = any_is_too_full(advice);
	char	   *why;
	const char *detail = NULL;
	const char *hint = NULL;

	if (set->ntiers == 0 || (counts.selected > 0 && counts.in_no_tier == counts.selected))
	{
		why = ": no tablespace of these relations belongs to a tier";
		hint = "SELECT * FROM tiered_storage.discover_tiers() finds the devices; add_tier() "
			"defines tiers.";
	}
	else if (set->ntiers == 1)
	{
		why = psprintf(": there is only one tier, \"%s\"", NameStr(set->tiers[0].name));
		hint = tiers_hint();
	}
	else if (counts.selected == 0)
	{
		why = ": there is nothing to place";
		detail = "Temporary relations, system relations and those of tiered_storage are "
			"never moved.";
	}
	else if (!is_full && counts.short_time > counts.held &&
			 counts.short_time + counts.held >= counts.selected &&
			 !advice->options.as_if_observed)
	{
		why = psprintf(" yet: observed for %s of %s",
					   tier_advice_duration(counts.longest_s),
					   tier_advice_duration(tier_units_required_s()));
		detail = counts.events > 0 ?
			psprintf("%d relation%s loaded, used once or read into memory so far.", counts.events,
					 counts.events == 1 ? " was" : "s were") :
			"The load observed so far would not lead to a recommendation.";
		hint = psprintf("The time is tiered_storage.observation_period, but at least %s. "
						"explain_placement() shows the present state of a relation.",
						tier_advice_duration(TIER_EVIDENCE_RATE *
											 tier_test_evidence_interval_s));
	}
	else
	{
		why = is_full || counts.kept_out > 0 ?
			": the tiers where relations would be better have no room" :
			counts.events > 0 ?
			" yet: relations were loaded, used once or read into memory so far" :
			counts.held > 0 && counts.held + counts.short_time >= counts.selected ?
			": pins, policies, extensions and the cooldown keep relations where they are" :
			": all relations are where they are best, or moving them would save too little";
		detail = tier_advice_headline(advice);
		if (is_full)
			hint = "Enlarge a tier, or unpin relations that may leave it.";
	}
	ereport(NOTICE,
			(errmsg_internal("nothing is recommended%s", why),
			 detail == NULL ? 0 : errdetail_internal("%s", detail),
			 hint == NULL ? 0 : errhint("%s", hint)));
}

void
tier_advice_notice_unknown(const TierAdvice *advice)
{
	Counts		counts = count_units(advice, NULL);

	if (advice->set->ntiers < 2 || counts.in_no_tier == counts.selected)
	{
		tier_advice_notice_empty(advice);
		return;
	}
	if (counts.unknown == counts.selected)
		ereport(NOTICE,
				(errmsg("little is known yet: observed for %s of %s",
						tier_advice_duration(counts.longest_s),
						tier_advice_duration(tier_units_required_s())),
				 errdetail("The figures are provisional.")));
	else if (counts.past > 0)
		ereport(NOTICE,
				(errmsg_plural("the load of %d relation is provisional",
							   "the loads of %d relations are provisional",
							   counts.past, counts.past),
				 errdetail("They have been observed for less than %s of %s.",
						   tier_advice_duration(TIER_PROVISIONAL_S),
						   tier_advice_duration(tier_units_required_s()))));
}

/* "; see ssd, hdd": tiers whose own rows say something. */
static void
append_tiers(StringInfo line, const TierAdvice *advice)
{
	const char *separator = "; see ";

	for (int t = 0; t < advice->set->ntiers; t++)
		if (tier_advice_tier_remark(advice, t) != NULL)
		{
			appendStringInfo(line, "%s%s", separator, NameStr(advice->set->tiers[t].name));
			separator = ", ";
		}
}

char *
tier_advice_headline(const TierAdvice *advice)
{
	const TierPlacementResult *placement = &advice->placement;
	Counts		counts = count_units(advice, tier_advice_provisional(advice));
	StringInfoData line;
	double		saved_s = 0.0;
	double		cheaper = 0.0;

	for (int t = 0; t < advice->set->ntiers; t++)
	{
		saved_s += placement->now[t].busy_s - placement->after[t].busy_s;
		cheaper += placement->now[t].price - placement->after[t].price;
	}
	initStringInfo(&line);
	if (counts.changed > 0)
	{
		appendStringInfo(&line, "%d move%s: %s s/h of device time %s",
						 counts.changed, plural(counts.changed),
						 tier_advice_number(fabs(saved_s)), saved_s >= 0 ? "saved" : "more");
		if (fabs(cheaper) >= LEAST_PRICE ||
			(cheaper > 0.0 && advice->options.objective != TIER_OBJECTIVE_TIME))
			appendStringInfo(&line, ", %s a month %s", tier_advice_money(fabs(cheaper)),
							 cheaper >= 0 ? "cheaper" : "more expensive");
	}
	else
		appendStringInfoString(&line, counts.provisional > 0 ? "no move yet" : "no move");
	if (counts.provisional > 0)
		appendStringInfo(&line, "; %d provisional", counts.provisional);
	if (advice->options.objective == TIER_OBJECTIVE_TIME && advice->dropped.gain >= LEAST_SAVED_S)
		appendStringInfo(&line, "; %d left out that would save %s s/h together",
						 advice->dropped.units,
						 tier_advice_number(advice->dropped.gain));
	else if (advice->options.objective != TIER_OBJECTIVE_TIME &&
			 advice->dropped.gain >= LEAST_PRICE)
		appendStringInfo(&line, "; %d left out that would save %s a month together",
						 advice->dropped.units,
						 tier_advice_money(advice->dropped.gain));
	if (counts.events > 0)
		appendStringInfo(&line, "; %d loaded, used once or read into memory so far",
						 counts.events);
	if (counts.too_new > 0)
		appendStringInfo(&line, "; %d observed for too short a time", counts.too_new);
	if (counts.unused > 0)
		appendStringInfo(&line, "; %d (%s) not read since %s", counts.unused,
						 tier_advice_bytes(counts.unused_bytes),
						 tier_advice_date(counts.unused_since));
	if (counts.held > 0)
		appendStringInfo(&line, "; %d held by pins, policies or the cooldown", counts.held);
	append_tiers(&line, advice);
	return line.data;
}
