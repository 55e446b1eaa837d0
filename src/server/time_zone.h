/*-------------------------------------------------------------------------
 *
 * server/time_zone.h
 *		Time zones as UTC offsets, for modules that do not use the server's time zone code.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_TIME_ZONE_H
#define TIER_TIME_ZONE_H

#include "postgres.h"

#include "datatype/timestamp.h"

/*
 * A timestamp as an instant, in the zone of the setting TimeZone: no timestamp from it on
 * is before that, or, at an end, none up to it is after.  Of a time that clocks show twice
 * the server takes the second.  False: it is no valid timestamp.  The instant may be
 * outside of the calendar, by as much as the zone differs from UTC.
 */
extern bool tier_time_zone_bound(Timestamp local, bool is_end, TimestampTz *instant);

/* "2026-11-23 22:00 CET", in that zone; in UTC where the server does not know it. */
extern char *tier_time_zone_text(const char *name, TimestampTz moment);

#endif							/* TIER_TIME_ZONE_H */
