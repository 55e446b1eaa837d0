/*-------------------------------------------------------------------------
 *
 * observe/read_hours.h
 *		In which hours relations were read, by the history that is kept.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_READ_HOURS_H
#define TIER_READ_HOURS_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "src/model/calendar.h"

/* A relation that is observed. */
typedef struct TierReader
{
	Oid			relation_oid;
	TimestampTz since;			/* when its history begins */
	const TierCalendar *observed;	/* amounts are hours, from the one in
									 * which it begins to the last sample */
	TierPeriodAmount *hours;	/* blocks read by the begin of the hour,
								 * merged; only hours with reads; NULL: none */
	size_t		nhours;
	size_t		room;			/* for so many; of no interest to others */
} TierReader;

typedef struct TierLocalHours TierLocalHours;

typedef struct TierReadHours
{
	int			nreaders;
	TierReader *readers;		/* by qualified name */
	TimestampTz last_sample_at; /* means nothing without readers */
	TimestampTz begins_at;		/* the first hour that any of them was
								 * observed; the same */
	TierLocalHours *local;		/* the session's time zone */
} TierReadHours;

/*
 * Of all relations or, if only_relation is one, of this one if it is observed, in the
 * current memory context.  A period that lies over several hours is shared among them in
 * proportion.  Enters a scope of the catalog.
 */
extern TierReadHours *tier_read_hours_load(Oid only_relation);

/* What the hour of a moment is called in the session's time zone, as of the load. */
extern const TierLocalHour *tier_read_hours_local(TierReadHours *read, TimestampTz at);

#endif							/* TIER_READ_HOURS_H */
