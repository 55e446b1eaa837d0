/*-------------------------------------------------------------------------
 *
 * base/clock.c
 *		A clock that tests can set, and one that cannot be set.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <time.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"

static char *test_now_string = NULL;

bool
tier_clock_is_set(void)
{
	return test_now_string != NULL && test_now_string[0] != '\0';
}

TimestampTz
tier_clock_now(void)
{
	if (!tier_clock_is_set())
		return GetCurrentTimestamp();
	return DatumGetTimestampTz(DirectFunctionCall3(timestamptz_in,
												   CStringGetDatum(test_now_string),
												   ObjectIdGetDatum(InvalidOid),
												   Int32GetDatum(-1)));
}

static int64
read_clock(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		elog(ERROR, "could not read clock %d: %m", (int) clock);
	return (int64) now.tv_sec * USECS_PER_SEC + now.tv_nsec / 1000;
}

int64
tier_clock_monotonic_us(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64
tier_clock_cpu_us(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void
tier_clock_init(void)
{
	DefineCustomStringVariable("tiered_storage.test_now",
							   "Sets the time by which age is judged, for tests.",
							   "Empty means the real time.",
							   &test_now_string,
							   "",
							   PGC_SUSET,
							   GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE,
							   NULL, NULL, NULL);
}
