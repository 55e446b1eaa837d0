/*-------------------------------------------------------------------------
 *
 * tier_clock.c
 *		An injectable clock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "tier_clock.h"

static char *test_now_string = NULL;

TimestampTz
tier_clock_now(void)
{
	if (test_now_string == NULL || test_now_string[0] == '\0')
		return GetCurrentTimestamp();
	return DatumGetTimestampTz(DirectFunctionCall3(timestamptz_in,
												   CStringGetDatum(test_now_string),
												   ObjectIdGetDatum(InvalidOid),
												   Int32GetDatum(-1)));
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
