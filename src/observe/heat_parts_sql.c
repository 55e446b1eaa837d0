/*-------------------------------------------------------------------------
 *
 * observe/heat_parts_sql.c
 *		The history of a period, cut into parts of time, for the busiest relations: what
 *		the heat map of the report shows.
 *
 * The history may have millions of rows.  They are read once, with the rights of whoever
 * calls, and never held: each is added to its relation when it comes.  Memory is taken for
 * eight parts at a time, so that it stays below what the history itself takes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "tcop/dest.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/model/period.h"

#define PARTS_AT_MOST 64
#define PARTS_PER_PIECE 8
#define HEADER 2				/* busy relations, parts */
#define ROW_HEAD 3				/* relation, reads, writes */

typedef struct RelationParts
{
	Oid			relation;		/* the key */
	double		total;			/* of the rows as they are, by which they are
								 * ranked */
	double		reads;			/* of what lies in the period, as the parts */
	double		writes;
	double	   *pieces[PARTS_AT_MOST / PARTS_PER_PIECE];
} RelationParts;

/* Columns of the statement below, in order */
enum
{
	ROW_RELATION,
	ROW_START,
	ROW_LENGTH,
	ROW_RANDOM,
	ROW_SEQUENTIAL,
	ROW_WRITES,
	ROW_COLUMNS
};

typedef struct PartsReceiver
{
	DestReceiver pub;
	MemoryContext context;
	HTAB	   *relations;
	TimestampTz from;
	TimestampTz until;
	TimestampTz grid;			/* where part 0 begins, at or before "from" */
	double		width_us;
	int			n;				/* parts */
} PartsReceiver;

PG_FUNCTION_INFO_V1(tier_heat_parts);

static void
add_to_part(PartsReceiver *receiver, RelationParts *entry, int part, double amount)
{
	double	  **piece = &entry->pieces[part / PARTS_PER_PIECE];

	if (*piece == NULL)
		*piece = MemoryContextAllocZero(receiver->context, sizeof(double) * PARTS_PER_PIECE);
	(*piece)[part % PARTS_PER_PIECE] += amount;
}

static TimestampTz
part_start(const PartsReceiver *receiver, int part)
{
	return receiver->grid + (TimestampTz) rint(part * receiver->width_us);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	PartsReceiver *receiver = (PartsReceiver *) self;
	RelationParts *entry;
	Oid			relation;
	bool		found;
	TimestampTz start;
	double		seconds;
	double		end_us;
	double		reads;
	double		writes;
	int			first;
	int			last;

	slot_getallattrs(slot);
	for (int i = 0; i < ROW_WRITES; i++)
		if (slot->tts_isnull[i])
			return true;
	start = DatumGetTimestampTz(slot->tts_values[ROW_START]);
	seconds = DatumGetInt32(slot->tts_values[ROW_LENGTH]);
	end_us = (double) start + seconds * 1e6;
	if (end_us <= (double) receiver->from)
		return true;
	reads = (double) DatumGetInt64(slot->tts_values[ROW_RANDOM]) +
		(double) DatumGetInt64(slot->tts_values[ROW_SEQUENTIAL]);
	writes = slot->tts_isnull[ROW_WRITES] ? 0.0 :
		(double) DatumGetInt64(slot->tts_values[ROW_WRITES]);
	relation = DatumGetObjectId(slot->tts_values[ROW_RELATION]);
	entry = hash_search(receiver->relations, &relation, HASH_ENTER, &found);
	if (!found)
	{
		entry->total = entry->reads = entry->writes = 0.0;
		memset(entry->pieces, 0, sizeof(entry->pieces));
	}
	entry->total += reads + writes;

	/* A clock that was ahead may have written of times beyond all parts. */
	first = (int) Min(receiver->n,
					  Max(0.0, floor(((double) start - (double) receiver->grid) /
									 receiver->width_us)));
	last = (int) Min(receiver->n,
					 ceil((end_us - (double) receiver->grid) / receiver->width_us)) - 1;
	if (first == last && start >= receiver->from && end_us <= (double) receiver->until)
	{
		entry->reads += reads;
		entry->writes += writes;
		add_to_part(receiver, entry, first, reads + writes);
		return true;
	}
	for (int part = first; part <= last; part++)
	{
		TimestampTz begin = Max(receiver->from, part_start(receiver, part));
		TimestampTz end = Min(receiver->until, part_start(receiver, part + 1));
		double		share = tier_period_share(start, seconds, begin, end);

		if (share <= 0.0)
			continue;
		entry->reads += reads * share;
		entry->writes += writes * share;
		add_to_part(receiver, entry, part, (reads + writes) * share);
	}
	return true;
}

static void
receiver_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
}

static void
receiver_done(DestReceiver *self)
{
}

/* The busiest first; those that are alike by their OIDs. */
static int
compare_relations(const void *a, const void *b)
{
	const RelationParts *left = *(RelationParts *const *) a;
	const RelationParts *right = *(RelationParts *const *) b;

	if (left->total != right->total)
		return left->total > right->total ? -1 : 1;
	return left->relation < right->relation ? -1 : left->relation > right->relation;
}

static void
add_relation(double *row, const RelationParts *entry, int n)
{
	row[1] += entry->reads;
	row[2] += entry->writes;
	for (int part = 0; part < n; part++)
		if (entry->pieces[part / PARTS_PER_PIECE] != NULL)
			row[ROW_HEAD + part] += entry->pieces[part / PARTS_PER_PIECE][part % PARTS_PER_PIECE];
}

/*
 * _tiered_storage.heat_parts(from_at, to_at, grid_at, width_s, at_most)
 *
 * How many relations were busy and how many parts there are; then rows of a relation's
 * OID, its blocks read and written, and both together for each part: so many of the
 * busiest, and if there are more, one of OID 0 for all the others.
 */
Datum
tier_heat_parts(PG_FUNCTION_ARGS)
{
	static const char sql[] =
	"SELECT h.relation_oid, h.period_start, h.period_s, h.random_reads, h.sequential_reads, "
	"h.page_writes FROM tiered_storage.history h "
	"WHERE h.hour OPERATOR(pg_catalog.>=) _tiered_storage.first_hour($2) "
	"AND h.period_start OPERATOR(pg_catalog.<) $1";
	Oid			types[] = {TIMESTAMPTZOID, TIMESTAMPTZOID};
	Datum		values[] = {PG_GETARG_DATUM(1), PG_GETARG_DATUM(0)};
	int			at_most = PG_GETARG_INT32(4);
	MemoryContext caller = CurrentMemoryContext;
	PartsReceiver receiver = {0};
	SPIExecuteOptions options = {0};
	SPIPlanPtr	plan;
	ParamListInfo params;
	HASH_SEQ_STATUS scan;
	HASHCTL		control = {0};
	RelationParts *entry;
	RelationParts **busy;
	int			nbusy = 0;
	int			nrows;
	int			width;
	double		length_us;
	double	   *result;
	Datum	   *datums;

	receiver.from = PG_GETARG_TIMESTAMPTZ(0);
	receiver.until = PG_GETARG_TIMESTAMPTZ(1);
	receiver.grid = PG_GETARG_TIMESTAMPTZ(2);
	receiver.width_us = PG_GETARG_FLOAT8(3) * 1e6;
	/* All that there are do not fit into a TimestampTz. */
	length_us = (double) receiver.until - (double) receiver.grid;
	if (TIMESTAMP_NOT_FINITE(receiver.grid) || TIMESTAMP_NOT_FINITE(receiver.until) ||
		!(receiver.width_us >= 1.0) || receiver.grid > receiver.from ||
		receiver.from >= receiver.until || at_most < 0 ||
		length_us / receiver.width_us > PARTS_AT_MOST)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a period cannot be cut like this")));
	receiver.n = (int) ceil(length_us / receiver.width_us);
	receiver.pub.receiveSlot = receive_row;
	receiver.pub.rStartup = receiver_startup;
	receiver.pub.rShutdown = receiver_done;
	receiver.pub.rDestroy = receiver_done;
	/* What is for DestNone, SPI takes for discarded. */
	receiver.pub.mydest = DestTuplestore;

	SPI_connect();
	receiver.context = AllocSetContextCreate(CurrentMemoryContext, "heat of relations",
											 ALLOCSET_DEFAULT_SIZES);
	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(RelationParts);
	control.hcxt = receiver.context;
	receiver.relations = hash_create("heat of relations", 1024, &control,
									 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	plan = SPI_prepare(sql, lengthof(types), types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	params = makeParamList(lengthof(types));
	for (int i = 0; i < (int) lengthof(types); i++)
		params->params[i] = (ParamExternData)
	{
		.value = values[i],.pflags = PARAM_FLAG_CONST,.ptype = types[i]
	};
	options.params = params;
	options.read_only = true;
	options.dest = &receiver.pub;
	if (SPI_execute_plan_extended(plan, &options) != SPI_OK_SELECT)
		elog(ERROR, "the history could not be read");

	nrows = (int) hash_get_num_entries(receiver.relations);
	busy = MemoryContextAllocHuge(receiver.context, sizeof(RelationParts *) * Max(nrows, 1));
	hash_seq_init(&scan, receiver.relations);
	while ((entry = hash_seq_search(&scan)) != NULL)
		if (entry->total > 0.0)
			busy[nbusy++] = entry;
	qsort(busy, nbusy, sizeof(RelationParts *), compare_relations);

	width = ROW_HEAD + receiver.n;
	nrows = Min(nbusy, at_most) + (nbusy > at_most ? 1 : 0);
	result = MemoryContextAllocZero(receiver.context,
									sizeof(double) * (HEADER + (Size) nrows * width));
	result[0] = nbusy;
	result[1] = receiver.n;
	for (int i = 0; i < nbusy; i++)
	{
		double	   *row = result + HEADER + (Size) Min(i, at_most) * width;

		row[0] = i < at_most ? busy[i]->relation : 0;
		add_relation(row, busy[i], receiver.n);
	}
	MemoryContextSwitchTo(caller);
	datums = palloc(sizeof(Datum) * (HEADER + (Size) nrows * width));
	for (int i = 0; i < HEADER + nrows * width; i++)
		datums[i] = Float8GetDatum(result[i]);
	SPI_finish();
	PG_RETURN_POINTER(construct_array(datums, HEADER + nrows * width, FLOAT8OID, sizeof(double),
									  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
