/*-------------------------------------------------------------------------
 *
 * observe/subscriber_sql.c
 *		Refusing foreign writes to our tables: from another server, and by other roles.
 *
 * A publication FOR ALL TABLES includes our tables, and no option of the server keeps them
 * out.  Their rows are about the storage of the publisher, so a subscriber ignores them and
 * keeps its local rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "utils/rel.h"

#include "src/compat.h"

PG_FUNCTION_INFO_V1(tier_ignore_replicated);
PG_FUNCTION_INFO_V1(tier_refuse_other_roles);

static void
require_trigger(FunctionCallInfo fcinfo, const char *name)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager", name)));
}

/*
 * Rows that a logical worker writes are ignored.  Those of any other session count, also of one
 * that loads a dump while session_replication_role is "replica".
 */
Datum
tier_ignore_replicated(PG_FUNCTION_ARGS)
{
	TriggerData *data;

	require_trigger(fcinfo, "ignore_replicated");
	data = (TriggerData *) fcinfo->context;
	if (!TRIGGER_FIRED_BEFORE(data->tg_event) || !TRIGGER_FIRED_FOR_ROW(data->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" must be fired BEFORE ROW", "ignore_replicated")));
	if (IsLogicalWorker())
		PG_RETURN_POINTER(NULL);
	if (TRIGGER_FIRED_BY_UPDATE(data->tg_event))
		PG_RETURN_POINTER(data->tg_newtuple);
	PG_RETURN_POINTER(data->tg_trigtuple);
}

/*
 * A statement trigger.  Rows name the roles on whose behalf relations are moved, and servers
 * to connect to.  So only the owner and superusers write them, whatever else a role may write:
 * a member of pg_write_all_data has only its own rights.  This is so in a logical worker, too:
 * it runs triggers of other roles.  The changes that it applies fire no statement trigger.
 * Its initial copy does, and for that it is the owner or a superuser unless run_as_owner is
 * set.
 */
Datum
tier_refuse_other_roles(PG_FUNCTION_ARGS)
{
	Relation	table;

	require_trigger(fcinfo, "refuse_other_roles");
	table = ((TriggerData *) fcinfo->context)->tg_relation;
	if (GetUserId() != table->rd_rel->relowner && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s", RelationGetRelationName(table)),
				 errdetail("Only the owner and superusers write tables of tiered_storage.")));
	PG_RETURN_POINTER(NULL);
}
