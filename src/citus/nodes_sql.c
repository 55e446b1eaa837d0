/*-------------------------------------------------------------------------
 *
 * citus/nodes_sql.c
 *		Reads from all nodes of Citus, and changes all of them.
 *
 * A change of all nodes is no transaction: each node commits by itself.  It is therefore
 * rehearsed first, run and rolled back on every node, and carried out only if all nodes can do
 * it.  It is accepted on the coordinator alone, where a lock makes changes take turns, so that
 * concurrent changes reach all nodes in the same order.  Each node checks the rights of the
 * current role.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_proc.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "src/citus/ask.h"
#include "src/server/distributed.h"

PG_FUNCTION_INFO_V1(tier_citus_ask_all_nodes);
PG_FUNCTION_INFO_V1(tier_citus_change_all_nodes);
PG_FUNCTION_INFO_V1(tier_citus_require_shards);

/* Of the function that changes all nodes: not the lock of its DDL. */
#define TURN_LOCK_SUBID 1

static bool
is_true(const char *query)
{
	bool		isnull = true;
	bool		result = false;

	if (SPI_execute(query, true, 1) == SPI_OK_SELECT && SPI_processed == 1)
		result = DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1,
											&isnull));
	return result && !isnull;
}

/*
 * Citus would wait at the end of the transaction for a node that does not answer, on the
 * connections that the transaction had before.
 */
static void
require_unused_transaction(void)
{
	if (is_true("SELECT pg_catalog.to_regprocedure("
				"'pg_catalog.get_current_transaction_id()') IS NOT NULL") &&
		is_true("SELECT t.transaction_number OPERATOR(pg_catalog.<>) 0 "
				"FROM pg_catalog.get_current_transaction_id() t"))
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("nodes cannot be asked in a transaction that has already used them"),
				 errdetail("Citus would wait for a node that does not answer, with the locks of "
						   "the transaction."),
				 errhint("Call it in a separate transaction.")));
}

static TierCitusNode
node_from(HeapTuple tuple, TupleDesc tupdesc, MemoryContext context)
{
	TierCitusNode node = {0};
	bool		isnull;

	node.id = DatumGetInt32(SPI_getbinval(tuple, tupdesc, 1, &isnull));
	node.name = MemoryContextStrdup(context, SPI_getvalue(tuple, tupdesc, 2));
	node.port = DatumGetInt32(SPI_getbinval(tuple, tupdesc, 3, &isnull));
	node.is_active = DatumGetBool(SPI_getbinval(tuple, tupdesc, 4, &isnull));
	return node;
}

/*
 * The primaries by number, *n of them, and this node if it is a coordinator that is not listed.
 * *is_coordinator: this node is the coordinator.  Only objects of Citus in pg_catalog are used,
 * and the functions that call this one set search_path to pg_catalog.
 */
static TierCitusNode *
find_nodes(int *n, bool *is_coordinator)
{
	static const char query[] =
	"SELECT n.nodeid::int4, n.nodename::text, n.nodeport::int4, n.isactive "
	"FROM pg_catalog.pg_dist_node n WHERE n.noderole::text = 'primary' "
	"AND n.nodecluster = COALESCE(current_setting('citus.cluster_name', true), n.nodecluster) "
	"UNION ALL "
	"SELECT 0, COALESCE(current_setting('citus.local_hostname', true), 'localhost'), "
	"current_setting('port')::int4, true "
	"WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_dist_node n "
	"JOIN pg_catalog.pg_dist_local_group g ON g.groupid = n.groupid) ORDER BY 1";
	MemoryContext context = CurrentMemoryContext;
	TierCitusNode *nodes;

	SPI_connect();
	if (!is_true("SELECT to_regclass('pg_catalog.pg_dist_node') IS NOT NULL "
				 "AND to_regclass('pg_catalog.pg_dist_local_group') IS NOT NULL "
				 "AND to_regprocedure('pg_catalog.master_run_on_worker(text[],integer[],text[],"
				 "boolean)') IS NOT NULL"))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("there are no nodes of Citus in this database"),
				 errdetail("The extension \"citus\" has not been created.")));
	require_unused_transaction();
	*is_coordinator = is_true("SELECT g.groupid = 0 FROM pg_catalog.pg_dist_local_group g");
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read pg_dist_node");
	*n = (int) SPI_processed;
	nodes = MemoryContextAllocZero(context, sizeof(TierCitusNode) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
		nodes[i] = node_from(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, context);
	SPI_finish();
	return nodes;
}

/* One row for each node. */
static void
put_answers(FunctionCallInfo fcinfo, const TierCitusNode *nodes, int n)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < n; i++)
	{
		bool		nulls[5] = {false};
		Datum		values[5];

		values[0] = Int32GetDatum(nodes[i].id);
		values[1] = CStringGetTextDatum(nodes[i].name);
		values[2] = Int32GetDatum(nodes[i].port);
		values[3] = BoolGetDatum(nodes[i].succeeded);
		values[4] = CStringGetTextDatum(nodes[i].answer);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/* _tiered_storage_citus.ask_all_nodes(command) */
Datum
tier_citus_ask_all_nodes(PG_FUNCTION_ARGS)
{
	int			n;
	bool		is_coordinator;
	TierCitusNode *nodes = find_nodes(&n, &is_coordinator);

	tier_citus_ask(nodes, n, text_to_cstring(PG_GETARG_TEXT_PP(0)), false);
	put_answers(fcinfo, nodes, n);
	return (Datum) 0;
}

/* The nodes that have failed, comma-separated, or one a line with their errors. */
static char *
failed_nodes(const TierCitusNode *nodes, int n, bool with_errors, int *nfailed)
{
	StringInfoData list;

	initStringInfo(&list);
	*nfailed = 0;
	for (int i = 0; i < n; i++)
	{
		if (nodes[i].succeeded)
			continue;
		if ((*nfailed)++ > 0)
			appendStringInfoString(&list, with_errors ? "\n" : ", ");
		appendStringInfo(&list, "%s:%d", nodes[i].name, nodes[i].port);
		if (with_errors)
			appendStringInfo(&list, ": %s", nodes[i].answer);
	}
	return list.data;
}

/* Runs the statement on all nodes and rolls it back. */
static void
rehearse(TierCitusNode *nodes, int n, const char *statement)
{
	char	   *body = psprintf("BEGIN EXECUTE %s; RAISE SQLSTATE 'TS001'; "
								"EXCEPTION WHEN SQLSTATE 'TS001' THEN NULL; END",
								quote_literal_cstr(statement));
	int			nfailed;
	char	   *errors;

	tier_citus_ask(nodes, n, psprintf("DO %s", quote_literal_cstr(body)), false);
	errors = failed_nodes(nodes, n, true, &nfailed);
	if (nfailed > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the change is not possible on %d of %d nodes", nfailed, n),
				 errdetail("%s", errors),
				 errhint("Nothing was changed on any node.")));
}

/* _tiered_storage_citus.change_all_nodes(statement) */
Datum
tier_citus_change_all_nodes(PG_FUNCTION_ARGS)
{
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int			n;
	bool		is_coordinator;
	TierCitusNode *nodes;
	int			nfailed;
	char	   *failed;

	PreventCommandIfReadOnly("a change of all nodes");
	PreventCommandDuringRecovery("a change of all nodes");
	nodes = find_nodes(&n, &is_coordinator);
	if (!is_coordinator)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a change of all nodes is not allowed on this node"),
				 errhint("Connect to the coordinator and run it again.")));

	/*
	 * The nodes have committed when this returns, so the next turn need not
	 * wait for the transaction.  An error releases the lock with the
	 * transaction.
	 */
	LockDatabaseObject(ProcedureRelationId, fcinfo->flinfo->fn_oid, TURN_LOCK_SUBID,
					   ExclusiveLock);
	rehearse(nodes, n, statement);
	tier_citus_ask(nodes, n, statement, true);
	UnlockDatabaseObject(ProcedureRelationId, fcinfo->flinfo->fn_oid, TURN_LOCK_SUBID,
						 ExclusiveLock);
	put_answers(fcinfo, nodes, n);
	failed = failed_nodes(nodes, n, false, &nfailed);
	if (nfailed > 0)
		ereport(WARNING,
				(errmsg("the change was not made on all nodes"),
				 errdetail("It failed, or its outcome is unknown, on %s.", failed),
				 errhint("Run it again with if_not_exists => true or if_exists => true.")));
	return (Datum) 0;
}

/*
 * The questions of the core.  Its library fills the variable when it is loaded, and need not
 * have been.
 */
static const TierDistributed *
core(void)
{
	const TierDistributed **distributed =
	(const TierDistributed **) find_rendezvous_variable(TIER_DISTRIBUTED_VARIABLE);

	if (*distributed == NULL)
		load_file("tiered_storage", false);
	if (*distributed == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tiered_storage and tiered_storage_citus have different versions"),
				 errhint("Install the same version of both, and reconnect.")));
	return *distributed;
}

/* _tiered_storage_citus.require_shards(relation) */
Datum
tier_citus_require_shards(PG_FUNCTION_ARGS)
{
	Oid			relation_oid;
	char	   *name;
	char	   *schema;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"relation\" must not be null")));
	relation_oid = PG_GETARG_OID(0);
	name = get_rel_name(relation_oid);
	schema = get_namespace_name(get_rel_namespace(relation_oid));
	if (name == NULL || schema == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation_oid)));
	if (!core()->is_shell(relation_oid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table %s has no shards of Citus",
						quote_qualified_identifier(schema, name)),
				 errhint("Use tiered_storage.add_tiering_policy() on the node of the table.")));
	PG_RETURN_TEXT_P(cstring_to_text(quote_qualified_identifier(schema, name)));
}
