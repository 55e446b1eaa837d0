/*-------------------------------------------------------------------------
 *
 * observe/standby.c
 *		Reads of standbys, pulled and added to those of this server.
 *
 * pull_standby_statistics() (in SQL, by way of dblink) compares a standby's
 * counters with those of the last pull and adds the growth to standby_reads.
 * The next sample takes it from there as if it had happened on this server.
 * So a reset, a restart or the removal of a standby is never a step backwards
 * of a relation's counters here.
 *
 * The connections are made by the owner of the extension, a superuser.  dblink
 * lets a superuser connect without a password of his own: by password
 * files, service files, certificates and the operating system's word of who we
 * are, as a superuser of this very server and with settings such as
 * session_preload_libraries.  So what a connection is made of must come from a
 * superuser, and from nobody else:
 *
 * - Only a superuser may add a standby, in a session of his own, himself: see
 *   require_own_superuser().
 * - A foreign server must belong to a superuser, since whoever owns it chooses
 *   where it leads, with which options and, by a user mapping for PUBLIC, as
 *   whom.  So must its wrapper and the functions of dblink.
 * - All of that is looked at again for each connection, by OID: roles lose rights,
 *   and are dropped and created again; servers get other owners.
 * - The table standby can be written by the owner of the extension and
 *   superusers only, and a dump is restored into it by no one else.  A row from
 *   another cluster has the OID that a role had there.  Unless the role with
 *   that OID has the same name here, and is a superuser, the row does nothing
 *   until a superuser adds the standby again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "pgstat.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "src/compat.h"
#include "src/catalog/tables.h"
#include "src/base/sql.h"
#include "src/observe/standby.h"
#include "src/base/transaction.h"

PG_FUNCTION_INFO_V1(tier_add_standby);
PG_FUNCTION_INFO_V1(tier_check_standby);

void
tier_standby_pull(void)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		TierCatalogScope scope;

		tier_transaction_start();
		PushActiveSnapshot(GetTransactionSnapshot());
		if (tier_catalog_try_enter(&scope))
		{
			tier_catalog_pull_standbys();
			tier_catalog_leave(&scope);
		}
		PopActiveSnapshot();
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		/* A request to end the worker or its query is for the whole cycle. */
		if (geterrcode() == ERRCODE_QUERY_CANCELED || geterrcode() == ERRCODE_ADMIN_SHUTDOWN)
			PG_RE_THROW();
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		FlushErrorState();
		AbortOutOfAnyTransaction();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	pgstat_report_stat(true);
}

/* ---------------------------------------------------------------------
 * Who may have us connect where
 * ---------------------------------------------------------------------
 */

/*
 * The superuser has to be there, as himself: logged in as one, not by way of
 * SET ROLE or SET SESSION AUTHORIZATION, and not while code runs that was
 * switched to another role's rights.  The latter is how code that somebody else
 * wrote gets into his session against his will: a function of an index that he
 * rebuilds, of a table that he analyzes, of a materialized view that he
 * refreshes; and how superuser's rights get into another session: a
 * SECURITY DEFINER function, the script of a trusted extension.  Nor in a worker,
 * which nobody has logged in to.
 *
 * What settings such as is_superuser and role say does not count, nor do the
 * names session_user and current_user: in all of these cases they may name a
 * superuser.
 *
 * A superuser who calls a function that somebody else wrote, in no such
 * context, has given it all of his rights: it could make its author a
 * superuser, and has no need of us.
 */
static void
require_own_superuser(void)
{
	bool		switched = InSecurityRestrictedOperation() || InLocalUserIdChange() ||
	MyBackendType != B_BACKEND;

	if (switched || !superuser_arg(GetUserId()) || !superuser_arg(GetOuterUserId()) ||
		!superuser_arg(GetSessionUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to add a standby"),
				 errdetail("The connection to it is made with the rights of a superuser."),
				 switched && superuser_arg(GetSessionUserId()) ?
				 errhint("Call it by itself, "
						 "not from code that runs with the rights of another role.") :
				 errhint("A superuser can add it, logged in as such.")));
}

/*
 * add_standby(): who may is decided here, with the rights of the caller; all else
 * by standby_add(), with those of the owner of the extension.
 */
Datum
tier_add_standby(PG_FUNCTION_ARGS)
{
	char		nulls[] = "   ";
	Datum		values[3];
	Oid			added_by_oid;
	TierCatalogScope scope;

	require_own_superuser();
	for (int i = 0; i < 3; i++)
	{
		values[i] = PG_ARGISNULL(i) ? (Datum) 0 : PG_GETARG_DATUM(i);
		nulls[i] = PG_ARGISNULL(i) ? 'n' : ' ';
	}
	added_by_oid = GetUserId();
	tier_catalog_enter(&scope);
	tier_catalog_add_standby(values, nulls, added_by_oid);
	tier_catalog_leave(&scope);
	PG_RETURN_VOID();
}

static void
check_adder(Oid role_oid, const char *role_name)
{
	char	   *here = GetUserNameFromId(role_oid, true);

	if (here == NULL || strcmp(here, role_name) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("the role that added the standby, \"%s\", is not the same any more",
						role_name),
				 errdetail("It was dropped or renamed, "
						   "or the standby was restored from another cluster."),
				 errhint("A superuser can remove the standby and add it again.")));
	if (!superuser_arg(role_oid))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the role that added the standby, \"%s\", is not a superuser any more",
						role_name),
				 errhint("A superuser can remove the standby and add it again.")));
}

static void
check_server(const char *server_name)
{
	ForeignServer *server = GetForeignServerByName(server_name, true);

	if (server == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("server \"%s\" does not exist", server_name)));
	if (!superuser_arg(server->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("server \"%s\" does not belong to a superuser", server_name),
				 errdetail("Its owner could have a superuser's connection lead anywhere."),
				 errhint("A superuser can make one for this, or ALTER SERVER ... OWNER TO "
						 "after a look at its options and user mappings.")));
	if (!superuser_arg(GetForeignDataWrapper(server->fdwid)->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("foreign-data wrapper of server \"%s\" does not belong to a superuser",
						server_name)));
}

/*
 * The functions that standby_fetch() and standby_wait() call in this schema, with
 * just these arguments, are those of dblink, and nobody but a superuser can replace them.
 */
static void
check_dblink(const char *schema)
{
	static const struct
	{
		const char *name;
		int			nargs;
	}			functions[] = {
		{"dblink_connect", 2}, {"dblink_send_query", 2}, {"dblink_is_busy", 1},
		{"dblink_get_result", 1}, {"dblink_disconnect", 1},
	};
	static const Oid texts[] = {TEXTOID, TEXTOID};
	Oid			extension_oid = get_extension_oid("dblink", true);

	if (!OidIsValid(extension_oid) || schema == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" is not installed", "dblink"),
				 errdetail("It connects to the standby."),
				 errhint("Use CREATE EXTENSION dblink.")));
	for (int i = 0; i < (int) lengthof(functions); i++)
	{
		List	   *name = list_make2(makeString(pstrdup(schema)),
									  makeString(pstrdup(functions[i].name)));
		Oid			function_oid = LookupFuncName(name, functions[i].nargs, texts, false);
		HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function_oid));
		bool		sound = HeapTupleIsValid(tuple) &&
		superuser_arg(((Form_pg_proc) GETSTRUCT(tuple))->proowner) &&
		getExtensionOfObject(ProcedureRelationId, function_oid) == extension_oid;

		if (HeapTupleIsValid(tuple))
			ReleaseSysCache(tuple);
		if (!sound)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("function %s of extension \"%s\" does not belong to it "
							"and a superuser",
							functions[i].name, "dblink")));
	}
}

/*
 * standby_check(): raises an error unless a connection to this standby may be
 * made.  When it is added, and each time before.
 */
Datum
tier_check_standby(PG_FUNCTION_ARGS)
{
	tier_require_argument(fcinfo, 0, "added_by_oid");
	tier_require_argument(fcinfo, 1, "added_by");
	check_adder(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)));
	check_dblink(PG_ARGISNULL(3) ? NULL : NameStr(*PG_GETARG_NAME(3)));
	if (!PG_ARGISNULL(2))
		check_server(NameStr(*PG_GETARG_NAME(2)));
	PG_RETURN_VOID();
}
