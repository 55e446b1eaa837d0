/*-------------------------------------------------------------------------
 *
 * observe/read_hours.c
 *		In which hours relations were read, by the history that is kept.
 *
 * The history may have millions of rows, but few different hours: what an hour is called
 * in the session's time zone is found out once for each quarter of it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "port/pg_bitutils.h"
#include "utils/datetime.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"
#include "src/model/period.h"
#include "src/observe/read_hours.h"

/* A longer time is not looked at hour by hour: how often each hour was observed. */
#define LONGEST_OBSERVED (INT64CONST(175320) * USECS_PER_HOUR)	/* 20 years */

/* Of a period, in seconds; a longer one would have to be a clock's mistake. */
#define LONGEST_PERIOD (10000 * SECS_PER_HOUR)

/*
 * Quarters of an hour that are remembered, of more than 90 days.  Local hours begin at the
 * begin of one, in all zones of today.
 */
#define REMEMBERED 16384
#define USECS_PER_QUARTER (15 * USECS_PER_MINUTE)

typedef struct RememberedHour
{
	int64		quarter;		/* that was asked for; 0: none */
	TimestampTz begins_at;		/* of its hour */
	TierLocalHour hour;
} RememberedHour;

struct TierLocalHours
{
	pg_tz	   *zone;
	RememberedHour remembered[REMEMBERED];
};

/* Finds readers by OID: open addressing, at most half full. */
typedef struct ReaderIndex
{
	uint32		mask;			/* number of places - 1, a power of 2 - 1 */
	int		   *places;			/* indexes of readers; -1: free */
} ReaderIndex;

/* While the history is read. */
typedef struct Reading
{
	TierReadHours *read;
	ReaderIndex by_oid;
	MemoryContext context;
} Reading;

/* The place of a relation, or the free one where it would be. */
static int *
place_of(const Reading *reading, Oid relation_oid)
{
	const ReaderIndex *index = &reading->by_oid;
	uint32		place = murmurhash32(relation_oid) & index->mask;

	while (index->places[place] >= 0 &&
		   reading->read->readers[index->places[place]].relation_oid != relation_oid)
		place = (place + 1) & index->mask;
	return &index->places[place];
}

static void
index_readers(Reading *reading)
{
	TierReadHours *read = reading->read;
	uint32		places = pg_nextpower2_32(Max(read->nreaders, 1)) * 2;

	reading->by_oid.mask = places - 1;
	reading->by_oid.places = MemoryContextAllocHuge(reading->context, sizeof(int) * (Size) places);
	for (uint32 i = 0; i < places; i++)
		reading->by_oid.places[i] = -1;
	for (int i = 0; i < read->nreaders; i++)
		*place_of(reading, read->readers[i].relation_oid) = i;
}

static void
look_up(RememberedHour *found, pg_tz *zone, TimestampTz at)
{
	struct pg_tm tm;
	fsec_t		fraction;
	int			offset;
	int			julian;

	if (timestamp2tm(at, &offset, &tm, &fraction, NULL, zone) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	julian = date2j(tm.tm_year, tm.tm_mon, tm.tm_mday);
	found->begins_at = at - ((int64) tm.tm_min * SECS_PER_MINUTE + tm.tm_sec) * USECS_PER_SEC -
		fraction;
	found->hour.day = julian;
	found->hour.position[TIER_HOUR_OF_DAY] = (int8) tm.tm_hour;
	found->hour.position[TIER_DAY_OF_WEEK] = (int8) (j2day(julian) == 0 ? 7 : j2day(julian));
	found->hour.position[TIER_DAY_OF_MONTH] = (int8) tm.tm_mday;
	found->hour.position[TIER_DAYS_TO_END_OF_MONTH] =
		(int8) (day_tab[isleap(tm.tm_year)][tm.tm_mon - 1] - tm.tm_mday);
}

static const RememberedHour *
remember(TierLocalHours *local, TimestampTz at)
{
	int64		quarter = at / USECS_PER_QUARTER;
	RememberedHour *found = &local->remembered[(uint64) quarter % REMEMBERED];

	if (quarter == 0 || found->quarter != quarter || at < found->begins_at ||
		at >= found->begins_at + USECS_PER_HOUR)
	{
		look_up(found, local->zone, at);
		found->quarter = quarter;
	}
	return found;
}

const TierLocalHour *
tier_read_hours_local(TierReadHours *read, TimestampTz at)
{
	return &remember(read->local, at)->hour;
}

/* hour: when it begins */
static void
add_reads(Reading *reading, TierReader *reader, TimestampTz hour, double reads)
{
	/* The samples of an hour that has not been rolled up follow each other. */
	if (reader->nhours > 0 && reader->hours[reader->nhours - 1].period == hour)
	{
		reader->hours[reader->nhours - 1].amount += reads;
		return;
	}
	if (reader->nhours >= reader->room)
	{
		reader->room = Max(reader->room * 2, 32);
		reader->hours = reader->hours == NULL ?
			MemoryContextAlloc(reading->context, reader->room * sizeof(TierPeriodAmount)) :
			repalloc_huge(reader->hours, reader->room * sizeof(TierPeriodAmount));
	}
	reader->hours[reader->nhours].period = hour;
	reader->hours[reader->nhours].amount = reads;
	reader->nhours++;
}

/*
 * A period that lies over several hours is shared among them in proportion; what was before
 * the relation's history begins is not of it.
 */
static void
note_period(void *argument, const TierHistoryPeriod *period)
{
	Reading    *reading = argument;
	int			place = *place_of(reading, period->relation_oid);
	double		seconds = Min(Max(period->seconds, 1), LONGEST_PERIOD);
	TimestampTz end = period->start + (int64) seconds * USECS_PER_SEC;
	TierReader *reader;
	TimestampTz from;

	if (place < 0 || !(period->reads > 0))
		return;
	reader = &reading->read->readers[place];
	from = Max(period->start, reader->since);
	while (from < end)
	{
		TimestampTz hour = remember(reading->read->local, from)->begins_at;
		TimestampTz until = Min(hour + USECS_PER_HOUR, end);
		double		share = tier_period_share(period->start, seconds, from, until);

		add_reads(reading, reader, hour, period->reads * share);
		from = until;
	}
}

static void
merge_hours(TierReadHours *read)
{
	for (int i = 0; i < read->nreaders; i++)
	{
		TierReader *reader = &read->readers[i];

		reader->nhours = tier_periods_merge(reader->hours, reader->nhours);
	}
}

/* ---------------------------------------------------------------------
 * What was observed
 * ---------------------------------------------------------------------
 */

/* A reader and the hour in which its history begins. */
typedef struct Begin
{
	TimestampTz hour;
	TierReader *reader;
} Begin;

/* The latest first. */
static int
compare_begins(const void *a, const void *b)
{
	const Begin *left = a;
	const Begin *right = b;

	return (left->hour < right->hour) - (left->hour > right->hour);
}

/*
 * The hours from `from` to before `until` and before the last sample, the last one
 * first; of the last one the part that has been observed.  A whole number of
 * hours, if `until` is not after the last sample.
 */
static void
add_observed(TierReadHours *read, TierCalendar *calendar, TimestampTz from, TimestampTz until)
{
	TimestampTz end = Min(until, read->last_sample_at);
	int64		hours = end > from ? (end - from - 1) / USECS_PER_HOUR + 1 : 0;

	for (int64 i = hours - 1; i >= 0; i--)
	{
		TimestampTz at = from + i * USECS_PER_HOUR;
		double		part = (double) (read->last_sample_at - at) / USECS_PER_HOUR;

		tier_calendar_add(calendar, tier_read_hours_local(read, at), Min(part, 1.0));
	}
}

/*
 * Relations that were found together share a calendar, and one that begins earlier is
 * the later one and the hours between; if not by a whole number of them, as where clocks
 * are changed by half an hour, all of it.
 */
static void
observe(TierReadHours *read)
{
	Begin	   *begins = palloc_extended(sizeof(Begin) * Max(read->nreaders, 1),
										 MCXT_ALLOC_HUGE);
	TierCalendar *calendar = NULL;

	for (int i = 0; i < read->nreaders; i++)
	{
		TimestampTz since = Max(read->readers[i].since, read->last_sample_at - LONGEST_OBSERVED);

		begins[i].reader = &read->readers[i];
		begins[i].hour = remember(read->local, since)->begins_at;
	}
	qsort(begins, read->nreaders, sizeof(Begin), compare_begins);
	for (int i = 0; i < read->nreaders; i++)
	{
		TimestampTz from = begins[i].hour;

		if (i == 0 || from != begins[i - 1].hour)
		{
			TimestampTz until = read->last_sample_at;
			TierCalendar *later = calendar;

			CHECK_FOR_INTERRUPTS();
			calendar = palloc0(sizeof(TierCalendar));
			if (later != NULL && (begins[i - 1].hour - from) % USECS_PER_HOUR == 0)
			{
				*calendar = *later;
				until = begins[i - 1].hour;
			}
			add_observed(read, calendar, from, until);
		}
		begins[i].reader->observed = calendar;
		read->begins_at = from;
	}
	pfree(begins);
}

TierReadHours *
tier_read_hours_load(Oid only_relation)
{
	TierReadHours *read = palloc0(sizeof(TierReadHours));
	Reading		reading = {.read = read,.context = CurrentMemoryContext};
	TierCatalogScope scope;
	TierWatched *watched;

	/* Inside of the scope the time zone is another one. */
	read->local = palloc0(sizeof(TierLocalHours));
	read->local->zone = session_timezone;

	tier_catalog_enter(&scope);
	watched = tier_catalog_load_watched(reading.context, only_relation, &read->nreaders,
										&read->last_sample_at);
	read->readers = MemoryContextAllocExtended(reading.context,
											   sizeof(TierReader) * Max(read->nreaders, 1),
											   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < read->nreaders; i++)
	{
		read->readers[i].relation_oid = watched[i].relation_oid;
		read->readers[i].since = watched[i].since;
	}
	index_readers(&reading);
	if (read->nreaders > 0)
		tier_catalog_visit_history(only_relation, note_period, &reading);
	tier_catalog_leave(&scope);

	pfree(reading.by_oid.places);
	pfree(watched);
	merge_hours(read);
	observe(read);
	return read;
}
