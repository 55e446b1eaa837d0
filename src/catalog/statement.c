/*-------------------------------------------------------------------------
 *
 * catalog/statement.c
 *		Statements on our own tables.  See catalog/tables.h.
 *
 * A move of a small table runs a dozen of them, and to parse and analyze them took a third
 * of its time.  So a statement that a process runs again is kept with its plan.  The server
 * makes both anew when an object that it names has changed, as it does for PL/pgSQL.  After
 * a few executions it is planned again, because our tables may have grown.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "access/xlog.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

/* A process runs fewer; what comes after them is not kept. */
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

	/*
	 * What is done with the elements of an array depends on how many there
	 * are.
	 */
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

/* The tables of state, of which statements read the snapshot in recovery; as in state_tables(). */
static const char *const state_tables[] = {
	"device_state", "device_wear", "device_wear_day", "file_history", "file_state",
	"load_history", "load_state", "policy_result", "rebuilt_index", "relation_history",
	"relation_state", "sampler", "standby_counters", "standby_reads", "standby_room",
	"standby_state", "tablespace_growth"
};

/* The table of state that is named where this begins, or NULL. */
static const char *
state_table_at(const char *sql)
{
	static const char schema[] = TIER_CATALOG_SCHEMA ".";

	if (strncmp(sql, schema, sizeof(schema) - 1) != 0)
		return NULL;
	sql += sizeof(schema) - 1;
	for (int i = 0; i < (int) lengthof(state_tables); i++)
	{
		size_t		length = strlen(state_tables[i]);

		if (strncmp(sql, state_tables[i], length) == 0 &&
			!isalnum((unsigned char) sql[length]) && sql[length] != '_')
			return state_tables[i];
	}
	return NULL;
}

/* The statement with each table of state replaced by what is stored of it in the snapshot. */
static const char *
of_snapshot(const char *sql)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (; *sql != '\0'; sql++)
	{
		const char *table = state_table_at(sql);

		if (table == NULL)
			appendStringInfoChar(&buf, *sql);
		else
		{
			appendStringInfo(&buf, TIER_CATALOG_SCHEMA ".stored_%s()", table);
			sql += strlen(TIER_CATALOG_SCHEMA) + strlen(table);
		}
	}
	return buf.data;
}

uint64
tier_catalog_execute(const char *sql, int nargs, const Oid *types,
					 const Datum *values, const char *nulls)
{
	SPIPlanPtr	plan;
	int			rc;

	if (RecoveryInProgress())
		sql = of_snapshot(sql);
	plan = kept_plan(sql, nargs, types);
	if (plan != NULL)
		rc = SPI_execute_plan(plan, unconstify(Datum *, values), nulls, false, 0);
	else
		rc = SPI_execute_with_args(sql, nargs, unconstify(Oid *, types),
								   unconstify(Datum *, values), nulls, false, 0);
	if (rc < 0)
		elog(ERROR, "statement on the tiering catalog failed: %s: %s",
			 SPI_result_code_string(rc), sql);
	return SPI_processed;
}
