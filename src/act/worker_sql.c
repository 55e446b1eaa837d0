/*-------------------------------------------------------------------------
 *
 * act/worker_sql.c
 *		SQL functions around the sampler and the workers.
 *
 * Runs in the backend that calls.  Shared memory is copied under the lock and
 * looked at afterwards.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_database.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "src/compat.h"
#include "src/base/settings.h"
#include "src/model/heat.h"
#include "src/act/verify.h"
#include "src/base/left_out.h"
#include "src/base/shmem.h"
#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/move/throttle.h"

PG_FUNCTION_INFO_V1(tier_sample_sql);
PG_FUNCTION_INFO_V1(tier_smoothed_rate);
PG_FUNCTION_INFO_V1(tier_tablespace_claims);
PG_FUNCTION_INFO_V1(tier_worker_status);
PG_FUNCTION_INFO_V1(tier_notify_launcher);

Datum
tier_sample_sql(PG_FUNCTION_ARGS)
{
	static const char *const what = "CALL tiered_storage.sample";

	/*
	 * In a transaction of the caller, all settings of that transaction apply.
	 */
	if (!tier_may_commit(fcinfo))
	{
		tier_require_writable(what);
		(void) tier_verify_sample(-1);
		PG_RETURN_NULL();
	}
	tier_connect_nonatomic(fcinfo, what);
	(void) tier_verify_sample(-1);
	tier_disconnect_nonatomic();
	PG_RETURN_NULL();
}

Datum
tier_smoothed_rate(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(tier_heat_read(PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1),
									PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3)));
}

Datum
tier_tablespace_claims(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	TierClaim  *claims;
	int			n;

	tier_result_start(fcinfo, &row);
	claims = tier_shmem_copy_claims(&n);
	for (int i = 0; i < n; i++)
	{
		tier_row_clear(&row);
		tier_row_datum(&row, 0, ObjectIdGetDatum(claims[i].tablespace_oid));
		tier_row_datum(&row, 1, ObjectIdGetDatum(claims[i].database_oid));
		tier_row_name(&row, 2, tier_foreign_text(NameStr(claims[i].tier_name)));
		tier_row_put(&row);
	}
	return (Datum) 0;
}

/* Describes the state of a slot in words. */
static void
describe_slot(const TierDatabaseSlot *slot, const char **state, const char **reason)
{
	static const char *const texts[][2] = {
		[TIER_WORKER_NEVER_RUN] = {"starting", "the launcher is about to start it"},
		[TIER_WORKER_STARTING] = {"starting", "the launcher is about to start it"},
		[TIER_WORKER_RUNNING] = {"running",
		"a sample is being taken or relations are being moved"},
		[TIER_WORKER_WAITING] = {"waiting", "until the next sample"},
		[TIER_WORKER_NO_EXTENSION] = {"not running",
		"the database does not have the extension"},
		[TIER_WORKER_VERSION_MISMATCH] = {"not running",
			"the extension is not at the version of its library; "
		"run ALTER EXTENSION tiered_storage UPDATE"},
		[TIER_WORKER_FAILED] = {"failed",
		"the last cycle failed; see the server log"},
	};

	*state = texts[slot->state][0];
	*reason = texts[slot->state][1];
	if (slot->state == TIER_WORKER_RUNNING && tier_throttle_is_paused())
		*reason = "a sample is being taken; "
			"moves nothing until tiered_storage.resume() is called";
	if (slot->state != TIER_WORKER_WAITING || slot->last_error[0] != '\0')
		return;
	if (tier_throttle_is_paused())
		*reason = "until the next sample; moves nothing until tiered_storage.resume() is called";
	else if (tier_auto_migrate == TIER_AUTO_MIGRATE_OFF)
		*reason = "until the next sample; moves nothing, "
			"because tiered_storage.auto_migrate is off";
	else if (slot->idle_until > slot->started_at)
		*reason = "no activity since the last sample";
}

static void
describe_database(Form_pg_database form, const TierShmem *shared, const TierDatabaseSlot *slot,
				  const char **state, const char **reason)
{
	*state = "not running";
	if (shared == NULL)
		*reason = "tiered_storage is not in shared_preload_libraries";
	else if (RecoveryInProgress())
	{
		*state = "idle";
		*reason = "the server is in recovery, where nothing can be written";
	}
	else if (form->datconnlimit == TIER_COMPAT_INVALID_DATABASE)
		*reason = "the database is invalid, because DROP DATABASE was interrupted; drop it";
	else if (!form->datallowconn)
		*reason = "the database does not allow connections";
	else if (form->datistemplate)
		*reason = "the database is a template";
	else if (shared->launcher_pid == 0)
		*reason = "the launcher is not running; see the server log";
	else if (slot != NULL)
		describe_slot(slot, state, reason);
	else if (shared->database_overflow)
		*reason = "the server has more databases than the launcher can serve";
	else
	{
		*state = "starting";
		*reason = "the launcher has not looked at the database yet";
	}
}

Datum
tier_worker_status(PG_FUNCTION_ARGS)
{
	TierShmem  *shared = NULL;
	TierResultRow row;
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;

	tier_result_start(fcinfo, &row);
	if (tier_shmem != NULL)
	{
		shared = palloc(sizeof(TierShmem));
		LWLockAcquire(tier_shmem->lock, LW_SHARED);
		memcpy(shared, tier_shmem, sizeof(TierShmem));
		LWLockRelease(tier_shmem->lock);
	}

	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);
		const TierDatabaseSlot *slot = NULL;
		const char *state = NULL;
		const char *reason = NULL;
		char	   *left_out = NULL;

		for (int i = 0; shared != NULL && i < shared->ndatabases; i++)
			if (shared->databases[i].database_oid == form->oid)
				slot = &shared->databases[i];
		describe_database(form, shared, slot, &state, &reason);
		tier_row_clear(&row);
		tier_row_name(&row, 0, NameStr(form->datname));
		tier_row_text(&row, 1, state);
		tier_row_text(&row, 2, reason);
		if (slot != NULL)
		{
			if (slot->pid != 0)
				tier_row_datum(&row, 3, Int32GetDatum(slot->pid));
			tier_row_time(&row, 4, slot->started_at);
			tier_row_time(&row, 5, slot->finished_at);
			tier_row_time(&row, 6, slot->next_run_at);
			tier_row_datum(&row, 7, Int32GetDatum(slot->failures));
			tier_row_text(&row, 8,
						  slot->last_error[0] ? tier_foreign_text(slot->last_error) : NULL);
			tier_row_datum(&row, 9, Int32GetDatum(tier_left_out_describe(slot, &left_out)));
			tier_row_text(&row, 10, left_out);
		}
		tier_row_put(&row);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return (Datum) 0;
}

/* At commit: before it, the worker would not see the extension yet. */
static bool notify_at_commit = false;
static bool callback_registered = false;

static void
notify_callback(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_COMMIT && notify_at_commit)
		tier_shmem_notify(MyDatabaseId);
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		notify_at_commit = false;
}

/*
 * A warning, because the server hides notices of an extension's script.  If the library is loaded
 * only into a session, no worker ever starts.
 */
static void
warn_not_preloaded(void)
{
	const char *libraries = shared_preload_libraries_string;
	const char *others = libraries == NULL ? "" : libraries;

	ereport(WARNING,
			(errmsg("tiered_storage is not in shared_preload_libraries: no worker will run"),
			 errdetail("Tiers, advice and explicit calls work. Samples, policies and measurements "
					   "of moves do not run automatically, random and sequential reads are only "
					   "estimated, and tiered_storage.max_movers is not enforced."),
			 errhint("Set shared_preload_libraries = '%s%stiered_storage' in postgresql.conf and "
					 "restart the server. Until then, run CALL tiered_storage.sample() and CALL "
					 "tiered_storage.migrate() from a scheduler such as cron.",
					 others, others[0] == '\0' ? "" : ",")));
}

Datum
tier_notify_launcher(PG_FUNCTION_ARGS)
{
	if (creating_extension && tier_throttle_is_paused())
		ereport(WARNING,
				(errmsg("moves of this server are paused"),
				 errhint("SELECT tiered_storage.resume() ends the pause.")));
	if (tier_shmem == NULL)
	{
		if (creating_extension)
			warn_not_preloaded();
		PG_RETURN_VOID();
	}
	if (!callback_registered)
	{
		RegisterXactCallback(notify_callback, NULL);
		callback_registered = true;
	}
	notify_at_commit = true;
	PG_RETURN_VOID();
}
