/*-------------------------------------------------------------------------
 *
 * observe/seasonality_sql.c
 *		SQL functions that show when relations are read: seasonality() and the rows
 *		of heat_peaks.
 *
 * Runs in the backend that calls.  Reads the whole history each time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/timestamp.h"

#include "src/base/sql.h"
#include "src/observe/read_hours.h"

PG_FUNCTION_INFO_V1(tier_seasonality);
PG_FUNCTION_INFO_V1(tier_heat_peaks);

/* More than half of the reads, on the busiest tenth of at least so many days. */
#define BURST_SHARE 0.5
#define BURST_LEAST_DAYS 10

static const char *const cycle_names[TIER_CYCLES] = {
	[TIER_HOUR_OF_DAY] = "hour of day",
	[TIER_DAY_OF_WEEK] = "day of week",
	[TIER_DAY_OF_MONTH] = "day of month",
	[TIER_DAYS_TO_END_OF_MONTH] = "days to end of month",
};

/* Of the hours that any relation was observed; an hour without reads adds nothing. */
static void
add_up(TierReadHours *read, const TierReader *reader, TierCalendar *reads)
{
	memset(reads, 0, sizeof(*reads));
	for (size_t i = 0; i < reader->nhours; i++)
	{
		TimestampTz at = reader->hours[i].period;

		if (at >= read->begins_at && at < read->last_sample_at)
			tier_calendar_add(reads, tier_read_hours_local(read, at), reader->hours[i].amount);
	}
}

static void
put_cycle(TierResultRow *row, const TierReader *reader, const TierCalendar *reads,
		  TierCycle cycle, Datum cycle_name)
{
	double		total = tier_calendar_total(reader->observed, reads, cycle);

	for (int i = 0; i < TIER_CYCLE_POSITIONS; i++)
	{
		const TierCalendarPosition *observed = &reader->observed->positions[cycle][i];
		const TierCalendarPosition *read = &reads->positions[cycle][i];

		if (observed->days == 0)
			continue;
		tier_row_clear(row);
		tier_row_datum(row, 0, ObjectIdGetDatum(reader->relation_oid));
		tier_row_datum(row, 1, cycle_name);
		tier_row_datum(row, 2, Int32GetDatum(i));
		tier_row_datum(row, 3, Float8GetDatum(read->amount / observed->amount));
		tier_row_datum(row, 4, Float8GetDatum(total > 0 ? read->amount / total : 0));
		tier_row_datum(row, 5, Int32GetDatum(read->days));
		tier_row_datum(row, 6, Int32GetDatum(observed->days));
		tier_row_put(row);
	}
}

/* tiered_storage.seasonality(only_relation) */
Datum
tier_seasonality(PG_FUNCTION_ARGS)
{
	bool		only_one = !PG_ARGISNULL(0);
	TierReadHours *read = tier_read_hours_load(only_one ? PG_GETARG_OID(0) : InvalidOid);
	TierCalendar *reads = palloc(sizeof(TierCalendar));
	Datum		names[TIER_CYCLES];
	TierResultRow row;

	if (only_one && read->nreaders == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("relation %s is not observed",
						DatumGetCString(DirectFunctionCall1(regclassout, PG_GETARG_DATUM(0)))),
				 errhint("Tables, partitions, materialized views, indexes and TOAST tables are, "
						 "from the next sample on, but for temporary and system ones.")));
	tier_result_start(fcinfo, &row);
	for (int cycle = 0; cycle < TIER_CYCLES; cycle++)
		names[cycle] = CStringGetTextDatum(cycle_names[cycle]);
	for (int i = 0; i < read->nreaders; i++)
	{
		const TierReader *reader = &read->readers[i];

		add_up(read, reader, reads);
		if (!only_one && tier_calendar_is_empty(reads))
			continue;
		for (int cycle = 0; cycle < TIER_CYCLES; cycle++)
			put_cycle(&row, reader, reads, cycle, names[cycle]);
	}
	return (Datum) 0;
}

/* Blocks read by day; as many at most as there are hours. */
static size_t
by_day(TierReadHours *read, const TierReader *reader, TierPeriodAmount *days)
{
	for (size_t i = 0; i < reader->nhours; i++)
	{
		days[i].period = tier_read_hours_local(read, reader->hours[i].period)->day;
		days[i].amount = reader->hours[i].amount;
	}
	return tier_periods_merge(days, reader->nhours);
}

static void
put_busiest(TierResultRow *row, int column, const TierReader *reader, const TierCalendar *reads,
			TierCycle cycle)
{
	int			position = tier_calendar_busiest(reader->observed, reads, cycle);

	if (position >= 0)
		tier_row_datum(row, column, Int32GetDatum(position));
}

static void
put_peak(TierResultRow *row, TierReadHours *read, const TierReader *reader)
{
	const TierPeriodAmount *peak = tier_periods_peak(reader->hours, reader->nhours);
	TierPeriodAmount *days = palloc_extended(sizeof(TierPeriodAmount) * reader->nhours,
											 MCXT_ALLOC_HUGE);
	TierCalendar *reads = palloc0(sizeof(TierCalendar));
	size_t		ndays = by_day(read, reader, days);
	int			observed_days = tier_read_hours_local(read, read->last_sample_at - 1)->day -
	tier_read_hours_local(read, reader->since)->day + 1;
	double		hours = (double) (read->last_sample_at - reader->since) / USECS_PER_HOUR;
	double		burst_share = tier_periods_burst_share(days, ndays, observed_days);
	double		sum = 0;

	for (size_t i = 0; i < reader->nhours; i++)
	{
		tier_calendar_add(reads, tier_read_hours_local(read, reader->hours[i].period),
						  reader->hours[i].amount);
		sum += reader->hours[i].amount;
	}
	tier_row_clear(row);
	tier_row_datum(row, 0, ObjectIdGetDatum(reader->relation_oid));
	tier_row_datum(row, 1, TimestampTzGetDatum(peak->period));
	tier_row_datum(row, 2, Float8GetDatum(peak->amount));
	tier_row_datum(row, 3, Float8GetDatum(sum / Max(hours, 1)));
	put_busiest(row, 4, reader, reads, TIER_DAY_OF_MONTH);
	put_busiest(row, 5, reader, reads, TIER_DAYS_TO_END_OF_MONTH);
	tier_row_datum(row, 6, Int32GetDatum((int) ndays));
	tier_row_datum(row, 7, Int32GetDatum(observed_days));
	if (!isnan(burst_share))
		tier_row_datum(row, 8, Float8GetDatum(burst_share));
	tier_row_datum(row, 9, BoolGetDatum(observed_days >= BURST_LEAST_DAYS &&
										burst_share > BURST_SHARE));
	tier_row_put(row);
}

/* _tiered_storage.find_heat_peaks() */
Datum
tier_heat_peaks(PG_FUNCTION_ARGS)
{
	TierReadHours *read = tier_read_hours_load(InvalidOid);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "heat peaks",
												  ALLOCSET_DEFAULT_SIZES);
	TierResultRow row;

	tier_result_start(fcinfo, &row);
	for (int i = 0; i < read->nreaders; i++)
	{
		MemoryContext caller = MemoryContextSwitchTo(context);

		if (read->readers[i].nhours > 0)
			put_peak(&row, read, &read->readers[i]);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(context);
	}
	return (Datum) 0;
}
