/*-------------------------------------------------------------------------
 *
 * catalog/history.c
 *		Reading all of the history of relations.
 *
 * It has millions of rows, so that they are handed over as the executor finds
 * them, and are never held together.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "utils/array.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"

/* Columns of the statement that is received */
enum
{
	COLUMN_RELATION_OID,
	COLUMN_PERIOD_START,
	COLUMN_PERIOD_S,
	COLUMN_RANDOM_READS,
	COLUMN_SEQUENTIAL_READS,
	COLUMNS
};

typedef struct Receiver
{
	DestReceiver dest;			/* first: what is passed to the callbacks */
	TierVisitHistory visit;
	void	   *argument;
} Receiver;

TierWatched *
tier_catalog_load_watched(MemoryContext context, Oid only_relation, int *nwatched,
						  TimestampTz *last_sample_at)
{
	static const char sql[] =
	"SELECT s.relation_oid, GREATEST(s.sampled_since, p.history_since), p.last_sample_at "
	"FROM _tiered_storage.relation_state s "
	"CROSS JOIN _tiered_storage.sampler p "
	"WHERE ($1 = 0 OR s.relation_oid = $1) "
	"AND _tiered_storage.relation_persistence(s.relation_oid) IS NOT NULL "
	"ORDER BY s.relation_oid::regclass::text COLLATE \"C\"";
	static const Oid types[] = {OIDOID};
	Datum		value = ObjectIdGetDatum(only_relation);
	uint64		n = tier_catalog_execute(sql, 1, types, &value, NULL);
	TierWatched *watched;
	bool		isnull;

	watched = MemoryContextAllocHuge(context, sizeof(TierWatched) * Max(n, 1));
	for (uint64 i = 0; i < n; i++)
	{
		watched[i].relation_oid = DatumGetObjectId(tier_catalog_datum(i, 1, &isnull));
		watched[i].since = DatumGetTimestampTz(tier_catalog_datum(i, 2, &isnull));
		*last_sample_at = DatumGetTimestampTz(tier_catalog_datum(i, 3, &isnull));
	}
	*nwatched = (int) n;
	return watched;
}

static void
start_receiving(DestReceiver *self, int operation, TupleDesc descriptor)
{
}

static void
end_receiving(DestReceiver *self)
{
}

static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	Receiver   *receiver = (Receiver *) self;
	TierHistoryPeriod period;

	slot_getsomeattrs(slot, COLUMNS);
	period.relation_oid = DatumGetObjectId(slot->tts_values[COLUMN_RELATION_OID]);
	period.start = DatumGetTimestampTz(slot->tts_values[COLUMN_PERIOD_START]);
	period.seconds = DatumGetInt32(slot->tts_values[COLUMN_PERIOD_S]);
	period.reads = (double) DatumGetInt64(slot->tts_values[COLUMN_RANDOM_READS]) +
		(double) DatumGetInt64(slot->tts_values[COLUMN_SEQUENTIAL_READS]);
	receiver->visit(receiver->argument, &period);
	return true;
}

void
tier_catalog_visit_history(Oid only_relation, TierVisitHistory visit, void *argument)
{
	static const char sql[] =
	"SELECT h.relation_oid, h.period_start, h.period_s, h.random_reads, h.sequential_reads "
	"FROM _tiered_storage.relation_history h";
	Receiver	receiver = {
		{receive, start_receiving, end_receiving, end_receiving, DestNone}, visit, argument
	};
	SPIExecuteOptions options = {.read_only = true,.dest = &receiver.dest};
	int			rc;

	rc = SPI_execute_extended(OidIsValid(only_relation) ?
							  psprintf("%s WHERE h.relation_oid = %u", sql, only_relation) : sql,
							  &options);
	if (rc < 0)
		elog(ERROR, "could not read the history of relations: %s", SPI_result_code_string(rc));
}

void
tier_catalog_visit_history_since(const Oid *relations, int nrelations, TimestampTz since,
								 TierVisitHistory visit, void *argument)
{
	static const char sql[] =
	"SELECT h.relation_oid, h.period_start, h.period_s, h.random_reads, h.sequential_reads "
	"FROM _tiered_storage.relation_history h "
	"WHERE h.period_start >= $2 AND h.relation_oid = ANY ($1)";
	static const Oid types[] = {OIDARRAYOID, TIMESTAMPTZOID};
	Datum		values[2];
	Datum	   *oids = palloc_extended(sizeof(Datum) * Max(nrelations, 1), MCXT_ALLOC_HUGE);
	uint64		n;
	bool		isnull;

	for (int i = 0; i < nrelations; i++)
		oids[i] = ObjectIdGetDatum(relations[i]);
	values[0] = PointerGetDatum(construct_array(oids, nrelations, OIDOID, sizeof(Oid), true,
												TYPALIGN_INT));
	values[1] = TimestampTzGetDatum(since);
	n = tier_catalog_execute(sql, 2, types, values, NULL);
	for (uint64 i = 0; i < n; i++)
	{
		TierHistoryPeriod period;

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		period.relation_oid = DatumGetObjectId(tier_catalog_datum(i, 1, &isnull));
		period.start = DatumGetTimestampTz(tier_catalog_datum(i, 2, &isnull));
		period.seconds = DatumGetInt32(tier_catalog_datum(i, 3, &isnull));
		period.reads = (double) DatumGetInt64(tier_catalog_datum(i, 4, &isnull)) +
			(double) DatumGetInt64(tier_catalog_datum(i, 5, &isnull));
		visit(argument, &period);
	}
}
