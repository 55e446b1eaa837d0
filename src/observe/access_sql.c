/*-------------------------------------------------------------------------
 *
 * observe/access_sql.c
 *		SQL functions that show the reads observed in the executor.
 *
 * Runs in the calling backend.  Shows the counts for the next sample.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"

#include "src/observe/access.h"
#include "src/observe/access_counts.h"
#include "src/base/settings.h"
#include "src/base/sql.h"

PG_FUNCTION_INFO_V1(tier_access_statistics);
PG_FUNCTION_INFO_V1(tier_access_tracking);

/* Columns of _tiered_storage.access_statistics(), in order */
enum
{
	STATISTICS_RELATION,
	STATISTICS_RANDOM,
	STATISTICS_SEQUENTIAL,
	STATISTICS_IGNORED,
	STATISTICS_HITS,
	STATISTICS_PLANS,
	STATISTICS_ERROR,
	STATISTICS_MEASURED,
	STATISTICS_DEVICE,
};

/* Columns of _tiered_storage.access_tracking(), in order */
enum
{
	TRACKING_AVAILABLE,
	TRACKING_ENABLED,
	TRACKING_COMPLETE,
	TRACKING_RATE,
	TRACKING_RELATIONS,
	TRACKING_MAX_RELATIONS,
	TRACKING_DROPPED,
	TRACKING_COLUMNS
};

Datum
tier_access_statistics(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	TierAccessTaken taken;

	tier_result_start(fcinfo, &row);
	taken = tier_access_counts_take(false);
	for (int i = 0; i < taken.n; i++)
	{
		const TierSplitPlans *plans = &taken.counts[i].plans;

		tier_row_clear(&row);
		tier_row_datum(&row, STATISTICS_RELATION, ObjectIdGetDatum(taken.counts[i].relation_oid));
		tier_row_datum(&row, STATISTICS_RANDOM, Float8GetDatum(plans->random));
		tier_row_datum(&row, STATISTICS_SEQUENTIAL, Float8GetDatum(plans->sequential));
		tier_row_datum(&row, STATISTICS_IGNORED, Float8GetDatum(plans->ignored.misses));
		tier_row_datum(&row, STATISTICS_HITS, Float8GetDatum(plans->hits + plans->ignored.hits));
		tier_row_datum(&row, STATISTICS_PLANS,
					   Int64GetDatum((int64) (plans->plans + plans->ignored.plans + 0.5)));
		tier_row_datum(&row, STATISTICS_ERROR,
					   Float8GetDatum(sqrt(plans->random_variance + plans->sequential_variance)));
		if (taken.device_seen)
		{
			tier_row_datum(&row, STATISTICS_MEASURED, Float8GetDatum(plans->measured));
			tier_row_datum(&row, STATISTICS_DEVICE, Float8GetDatum(plans->measured_device));
		}
		tier_row_put(&row);
	}
	return (Datum) 0;
}

Datum
tier_access_tracking(PG_FUNCTION_ARGS)
{
	TierAccessStatus status = tier_access_shared_status();
	TupleDesc	descriptor;
	Datum		values[TRACKING_COLUMNS];
	bool		nulls[TRACKING_COLUMNS] = {0};

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[TRACKING_AVAILABLE] = BoolGetDatum(status.exists);
	values[TRACKING_ENABLED] = BoolGetDatum(tier_track_access);
	values[TRACKING_COMPLETE] = BoolGetDatum(status.covered);
	values[TRACKING_RATE] = Float8GetDatum(TIER_TRACK_SHARE);
	values[TRACKING_RELATIONS] = Int32GetDatum(status.entries);
	values[TRACKING_MAX_RELATIONS] = Int32GetDatum(status.max_entries);
	values[TRACKING_DROPPED] = Float8GetDatum(status.dropped);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls));
}
