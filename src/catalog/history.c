/*-------------------------------------------------------------------------
 *
 * catalog/history.c
 *		The time in which relations were read, by the history.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "src/catalog/tables.h"

/* No row of the history is longer: a rolled-up one is an hour, a sample a day at most. */
#define LONGEST_PERIOD_US USECS_PER_DAY

/* One relation of a request, which is at `place`. */
typedef struct ReadBy
{
	int			place;
	Oid			relation_oid;
	TimestampTz since;
	double		reads_per_hour;
} ReadBy;

static const TierColumn read_by_columns[] = {
	TIER_FIELD(ReadBy, place, INT4OID),
	TIER_FIELD(ReadBy, relation_oid, OIDOID),
	TIER_FIELD(ReadBy, since, TIMESTAMPTZOID),
	TIER_FIELD(ReadBy, reads_per_hour, FLOAT8OID),
};

void
tier_catalog_find_read_time(TierReadTime *times, int n, TimestampTz now)
{
	/*
	 * Hour by hour, from the first read of any of the relations to the last:
	 * the roll-up of an hour keeps of each relation what this looks at.
	 */
	static const char sql[] =
	"SELECT p.place, sum(p.seconds) FROM (SELECT c.place, c.rate, sum(c.reads) AS reads, "
	"extract(epoch FROM max(c.ends_at) - min(c.begins_at))::float8 AS seconds "
	"FROM (SELECT r.place, r.rate, date_trunc('hour', h.period_start, 'UTC') AS hour, "
	"GREATEST(h.period_start, r.since) AS begins_at, "
	"LEAST(h.period_start + h.period_s * interval '1 second', $5) AS ends_at, "
	"(h.random_reads::float8 + h.sequential_reads) * "
	"_tiered_storage.period_share(h.period_start, h.period_s, r.since, $5) AS reads "
	"FROM unnest($1, $2, $3, $4) r (place, relation_oid, since, rate) "
	"JOIN _tiered_storage.history_rows h ON h.relation_oid = r.relation_oid "
	"AND h.period_start + h.period_s * interval '1 second' > r.since "
	"WHERE h.hour >= $6 - interval '1 hour' AND h.period_start < $5 "
	"AND h.random_reads + h.sequential_reads > 0) c "
	"GROUP BY c.place, c.rate, c.hour) p "
	"WHERE p.reads * 3600.0 >= p.rate * p.seconds * (1 - 1e-9) GROUP BY 1";
	TierValue	values[lengthof(read_by_columns) + 2];
	ReadBy	   *rows;
	TimestampTz earliest = now;
	int			nrows = 0;
	uint64		found;

	for (int i = 0; i < n; i++)
		nrows += list_length(times[i].relations);
	rows = palloc_extended(sizeof(ReadBy) * Max(nrows, 1), MCXT_ALLOC_HUGE);
	nrows = 0;
	for (int i = 0; i < n; i++)
	{
		ListCell   *cell;

		earliest = Min(earliest, times[i].since);
		foreach(cell, times[i].relations)
			rows[nrows++] = (ReadBy)
		{
			i, lfirst_oid(cell), times[i].since, times[i].reads_per_hour
		};
	}
	for (int c = 0; c < (int) lengthof(read_by_columns); c++)
		values[c] = tier_arg_fields(rows, nrows, sizeof(ReadBy), &read_by_columns[c]);
	values[lengthof(read_by_columns)] = tier_arg_time(now);
	values[lengthof(read_by_columns) + 1] = tier_arg_time(earliest - LONGEST_PERIOD_US);
	found = tier_catalog_run(sql, values, lengthof(values));
	for (uint64 i = 0; i < found; i++)
	{
		int			place = tier_get_int4(i, 1);

		times[place].seconds = tier_get_float8(i, 2);
	}
}
