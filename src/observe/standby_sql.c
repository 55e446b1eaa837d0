/*-------------------------------------------------------------------------
 *
 * observe/standby_sql.c
 *		add_standby(): rights to make the server connect to a standby.
 *
 * The connections are made by the worker, as the operating system's user that the server runs
 * as: with its password file, its certificates, and the peer authentication of every server of
 * this machine.  So the target of a connection must come from a superuser, who has these
 * rights anyway:
 *
 * - Only a superuser may add a standby, directly and in a superuser's session: see
 *   require_own_superuser().
 * - The worker looks at that role again before each connection (observe/standby_reads.c), and
 *   parses the connection string again (server/remote.c).
 * - Only the owner of the extension and superusers can write the table standby, and restore a
 *   dump into it.  A row from another cluster has the OID that a role had there.  Unless the
 *   role with that OID has the same name here, and is a superuser, the row does nothing until
 *   a superuser adds the standby again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/server/remote.h"

PG_FUNCTION_INFO_V1(tier_add_standby);

/*
 * The session user must be a superuser, who has logged in as one: not by SET ROLE or SET
 * SESSION AUTHORIZATION, and not while code runs with the rights of another role.  Such code
 * may come from another role without the superuser's consent: a function of an index that the
 * superuser rebuilds, of a table that is analyzed, or of a materialized view that is
 * refreshed.  It may also carry a superuser's rights into another session: a SECURITY DEFINER
 * function, the script of a trusted extension.  A worker, which has no login, is refused, too.
 *
 * The settings is_superuser and role, and the names session_user and current_user, are not
 * used: in all of these cases they may name a superuser.
 *
 * A superuser who calls a function of another role outside of such a context has given it all
 * rights: it could make its author a superuser anyway.
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
				 errhint("Call it directly, "
						 "not from code that runs with the rights of another role.") :
				 errhint("Connect as a superuser to add it.")));
}

Datum
tier_add_standby(PG_FUNCTION_ARGS)
{
	const char *name;
	char	   *conninfo;
	Oid			added_by_oid = GetUserId();
	TierCatalogScope scope;

	require_own_superuser();
	tier_require_writable("tiered_storage.add_standby()");
	tier_require_argument(fcinfo, 0, "name");
	tier_require_argument(fcinfo, 1, "conninfo");
	name = NameStr(*PG_GETARG_NAME(0));
	conninfo = text_to_cstring(PG_GETARG_TEXT_PP(1));
	if (name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the name of a standby must not be empty")));
	tier_remote_check(conninfo);
	tier_catalog_enter(&scope);
	tier_catalog_add_standby(name, conninfo, added_by_oid);
	tier_catalog_leave(&scope);
	PG_RETURN_VOID();
}
