/*-------------------------------------------------------------------------
 *
 * catalog/statement.c
 *		Statements on our own tables.  See catalog/tables.h.
 *
 * A move of a small table runs a dozen of them, and parsing and analyzing them would take a
 * third of its time.  So a statement that a process runs again is kept with its plan.  The
 * server invalidates both when an object that the statement uses has changed, as it does for
 * PL/pgSQL.  After a few executions a statement is planned again, because our tables may have
 * grown.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/namespace.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "src/catalog/tables.h"
#include "src/server/wal.h"

/* A process runs fewer; plans of further statements are not kept. */
#define MAX_STATEMENTS 128

/* Executions until the statement is planned again. */
#define MAX_USES 16

typedef struct Statement
{
	uint32		hash;			/* of its text */
	char	   *sql;			/* NULL: it has run once only */
	SPIPlanPtr	plan;			/* NULL while sql is */
	uint32		uses;
} Statement;

/* In the order of their first run.  Of this process alone. */
static Statement statements[MAX_STATEMENTS];
static int	nstatements = 0;

/* See tier_catalog_hold_snapshot(). */
static bool holds_snapshot = false;
static bool is_lost = false;	/* the state, until the next sample */

/* Its place, or NULL where it is not kept. */
static Statement *
find_statement(const char *sql)
{
	uint32		hash = hash_bytes((const unsigned char *) sql, (int) strlen(sql));

	for (int i = 0; i < nstatements; i++)
	{
		Statement  *statement = &statements[i];

		if (statement->hash == hash &&
			(statement->sql == NULL || strcmp(statement->sql, sql) == 0))
			return statement;
	}
	if (nstatements < MAX_STATEMENTS)
		statements[nstatements++].hash = hash;
	return NULL;
}

/* The next execution plans it again. */
static void
forget_generic_plan(SPIPlanPtr plan)
{
	ListCell   *cell;

	foreach(cell, SPI_plan_get_plan_sources(plan))
	{
		CachedPlanSource *source = (CachedPlanSource *) lfirst(cell);

		if (source->gplan != NULL)
			source->gplan->is_valid = false;
	}
}

/* The plan to run; NULL: the statement is not kept. */
static SPIPlanPtr
kept_plan(const char *sql, int nargs, const Oid *types)
{
	Statement  *statement = NULL;
	SPIPlanPtr	plan;
	char	   *copy;

	/* The best plan depends on the number of elements of an array. */
	for (int i = 0; i < nargs; i++)
		if (type_is_array(types[i]))
			return NULL;
	statement = find_statement(sql);
	if (statement == NULL)
		return NULL;
	if (statement->plan != NULL)
	{
		if (statement->uses++ % MAX_USES == 0)
			forget_generic_plan(statement->plan);
		return statement->plan;
	}
	plan = SPI_prepare_cursor(sql, nargs, unconstify(Oid *, types), CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL)
		elog(ERROR, "statement on the tiering catalog failed: %s: %s",
			 SPI_result_code_string(SPI_result), sql);
	copy = MemoryContextStrdup(TopMemoryContext, sql);
	if (SPI_keepplan(plan) != 0)
		elog(ERROR, "could not keep a plan");
	statement->sql = copy;
	statement->plan = plan;
	return plan;
}

/*
 * The statement with each state table replaced by its contents in the snapshot.  A state table
 * is one that stored_TABLE() is defined for.
 */
static const char *
of_snapshot(const char *sql)
{
	static const char schema[] = TIER_CATALOG_SCHEMA ".";
	Oid			schema_oid = get_namespace_oid(TIER_CATALOG_SCHEMA, false);
	StringInfoData buf;
	const char *at;

	initStringInfo(&buf);
	while ((at = strstr(sql, schema)) != NULL)
	{
		const char *name = at + sizeof(schema) - 1;
		int			length = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
		char	   *stored = psprintf("stored_%.*s", length, name);

		appendBinaryStringInfo(&buf, sql, (int) (name - sql));
		if (SearchSysCacheExists3(PROCNAMEARGSNSP, CStringGetDatum(stored),
								  PointerGetDatum(buildoidvector(NULL, 0)),
								  ObjectIdGetDatum(schema_oid)))
			appendStringInfo(&buf, "%s()", stored);
		else
			appendBinaryStringInfo(&buf, name, length);
		sql = name + length;
	}
	appendStringInfoString(&buf, sql);
	return buf.data;
}

void
tier_catalog_hold_snapshot(bool holds)
{
	is_lost = holds && !RecoveryInProgress() &&
		tier_query_plain("SELECT FROM _tiered_storage.sampler") == 0;
	holds_snapshot = holds;
}

static int
execute_as_of_scope(SPIPlanPtr plan, const char *sql, int nargs, const Oid *types,
					const Datum *values, const char *nulls)
{
	if (plan == NULL)
		plan = SPI_prepare(sql, nargs, unconstify(Oid *, types));
	if (plan == NULL)
		return SPI_result;
	return SPI_execute_snapshot(plan, unconstify(Datum *, values), nulls, GetActiveSnapshot(),
								InvalidSnapshot, false, true, 0);
}

uint64
tier_catalog_execute(const char *sql, int nargs, const Oid *types,
					 const Datum *values, const char *nulls)
{
	SPIPlanPtr	plan;
	int			rc;

	if (is_lost || RecoveryInProgress())
		sql = of_snapshot(sql);
	plan = kept_plan(sql, nargs, types);
	if (holds_snapshot)
		rc = execute_as_of_scope(plan, sql, nargs, types, values, nulls);
	else if (plan != NULL)
		rc = SPI_execute_plan(plan, unconstify(Datum *, values), nulls, false, 0);
	else
		rc = SPI_execute_with_args(sql, nargs, unconstify(Oid *, types),
								   unconstify(Datum *, values), nulls, false, 0);
	if (rc < 0)
		elog(ERROR, "statement on the tiering catalog failed: %s: %s",
			 SPI_result_code_string(rc), sql);
	return SPI_processed;
}

/* ---------------------------------------------------------------------
 * Bulk writes
 * ---------------------------------------------------------------------
 */

/* Each batch is planned anew. */
#define BULK_BATCH_ROWS 10000

struct TierBulk
{
	const char *sql;
	MemoryContext context;		/* of all that follows */
	int			ncolumns;		/* 0: no row yet */
	Oid		   *types;			/* of the elements */
	int			nrows;
	Datum	  **values;			/* by column, BULK_BATCH_ROWS each */
	bool	  **nulls;
	MemoryContext batch_context;	/* of the arrays */
};

TierBulk *
tier_bulk_create(const char *sql)
{
	TierBulk   *bulk = palloc0(sizeof(TierBulk));

	bulk->sql = sql;
	bulk->context = CurrentMemoryContext;
	bulk->batch_context = AllocSetContextCreate(CurrentMemoryContext,
												"tiered_storage bulk write",
												ALLOCSET_DEFAULT_SIZES);
	return bulk;
}

/* Makes room for rows as this one. */
static void
bulk_begin(TierBulk *bulk, const TierValue *values, int nvalues)
{
	MemoryContext old_context = MemoryContextSwitchTo(bulk->context);

	bulk->ncolumns = nvalues;
	bulk->types = palloc(sizeof(Oid) * nvalues);
	bulk->values = palloc(sizeof(Datum *) * nvalues);
	bulk->nulls = palloc(sizeof(bool *) * nvalues);
	for (int i = 0; i < nvalues; i++)
	{
		bulk->types[i] = values[i].type;
		bulk->values[i] = palloc(sizeof(Datum) * BULK_BATCH_ROWS);
		bulk->nulls[i] = palloc(sizeof(bool) * BULK_BATCH_ROWS);
	}
	MemoryContextSwitchTo(old_context);
}

static void
bulk_send(TierBulk *bulk)
{
	MemoryContext old_context;
	TierValue  *arrays;

	if (bulk->nrows == 0)
		return;

	old_context = MemoryContextSwitchTo(bulk->batch_context);
	arrays = palloc(sizeof(TierValue) * bulk->ncolumns);
	for (int i = 0; i < bulk->ncolumns; i++)
	{
		int			lower = 1;
		int16		length;
		bool		by_value;
		char		align;

		get_typlenbyvalalign(bulk->types[i], &length, &by_value, &align);
		arrays[i] = (TierValue)
		{
			get_array_type(bulk->types[i]),
				PointerGetDatum(construct_md_array(bulk->values[i], bulk->nulls[i], 1,
												   &bulk->nrows, &lower, bulk->types[i], length,
												   by_value, align)), false
		};
	}
	MemoryContextSwitchTo(old_context);

	tier_catalog_run(bulk->sql, arrays, bulk->ncolumns);
	bulk->nrows = 0;
	MemoryContextReset(bulk->batch_context);
	CHECK_FOR_INTERRUPTS();
	tier_wal_keep_up();
}

void
tier_bulk_add(TierBulk *bulk, const TierValue *values, int nvalues)
{
	if (bulk->ncolumns == 0)
		bulk_begin(bulk, values, nvalues);
	Assert(bulk->ncolumns == nvalues);
	for (int i = 0; i < nvalues; i++)
	{
		bulk->values[i][bulk->nrows] = values[i].datum;
		bulk->nulls[i][bulk->nrows] = values[i].isnull;
	}
	if (++bulk->nrows == BULK_BATCH_ROWS)
		bulk_send(bulk);
}

void
tier_bulk_finish(TierBulk *bulk)
{
	bulk_send(bulk);
	MemoryContextDelete(bulk->batch_context);
}
