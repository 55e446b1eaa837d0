/*-------------------------------------------------------------------------
 *
 * model/calendar.h
 *		At which hours and on which days something happens, and in bursts or not.
 *
 * Pure.  Whoever calls knows the time zone, and says what an hour is called in it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CALENDAR_H
#define TIER_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TierCycle
{
	TIER_HOUR_OF_DAY,			/* 0 to 23 */
	TIER_DAY_OF_WEEK,			/* 1, Monday, to 7 */
	TIER_DAY_OF_MONTH,			/* 1 to 31 */
	TIER_DAYS_TO_END_OF_MONTH,	/* 0, the last day, to 30 */
	TIER_CYCLES
} TierCycle;

/* More than the positions of any cycle. */
#define TIER_CYCLE_POSITIONS 32

/* Where an hour is in each cycle. */
typedef struct TierLocalHour
{
	int32_t		day;			/* consecutive days have consecutive numbers */
	int8_t		position[TIER_CYCLES];
} TierLocalHour;

/* All zero: nothing was added. */
typedef struct TierCalendarPosition
{
	double		amount;
	int			days;			/* on which there was any */
	int32_t		first_day;		/* of these; mean nothing while there are none */
	int32_t		last_day;
} TierCalendarPosition;

typedef struct TierCalendar
{
	TierCalendarPosition positions[TIER_CYCLES][TIER_CYCLE_POSITIONS];
} TierCalendar;

/*
 * Adds an amount to the position of an hour in each cycle.  Hours come in the order of
 * time or in that order reversed: so a day is counted once, also by a position that
 * it has twice because clocks were set back.
 */
extern void tier_calendar_add(TierCalendar *calendar, const TierLocalHour *hour, double amount);

extern bool tier_calendar_is_empty(const TierCalendar *calendar);

/*
 * Of two calendars, of what was observed (amounts are hours) and of what happened
 * then.  What is at positions that were not observed counts nowhere.
 */
extern double tier_calendar_total(const TierCalendar *observed, const TierCalendar *happened,
								  TierCycle cycle);

/* The position with the largest amount for each hour, the first of several; -1: none. */
extern int	tier_calendar_busiest(const TierCalendar *observed, const TierCalendar *happened,
								  TierCycle cycle);

/* What happened in a period, an hour or a day, that is known by its number or begin. */
typedef struct TierPeriodAmount
{
	int64_t		period;
	double		amount;
} TierPeriodAmount;

/* Sorts by period and adds what belongs to the same one; how many are left. */
extern size_t tier_periods_merge(TierPeriodAmount *periods, size_t n);

/* The one with the largest amount, the first of several; of n > 0 that are merged. */
extern const TierPeriodAmount *tier_periods_peak(const TierPeriodAmount *periods, size_t n);

/*
 * Which part of all of it fell on the busiest tenth, rounded up, of so many observed
 * days: 1 where it fell on no more days than that.  NaN if none was observed, or nothing
 * happened.  Sorts the days.
 */
extern double tier_periods_burst_share(TierPeriodAmount *days, size_t n, int observed_days);

#endif							/* TIER_CALENDAR_H */
