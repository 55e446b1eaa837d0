/*-------------------------------------------------------------------------
 *
 * catalog/tables.c
 *		Entering and leaving the extension's own tables.
 *
 * See catalog/tables.h.  Also here: the common parts of rows about user relations.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace_d.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "src/base/attempt.h"
#include "src/base/left_out.h"
#include "src/base/session_settings.h"
#include "src/catalog/tables.h"

/* The longest wait for a lock, in ms. */
#define LONGEST_LOCK_WAIT_MS 30000

/* How long to wait for a REINDEX of our tables, and the interval of checks for its end. */
#define LOCK_TABLES_PATIENCE_MS 1000
#define LOCK_POLL_MS 10

/* The limit for stored error messages, which may come from other code. */
#define MAX_MESSAGE_BYTES 1000

/* Version and owner of the extension as installed in this database. */
static bool
read_extension(Oid extension_oid, char **version, Oid *owner)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(extension_oid));
	scan = systable_beginscan(rel, ExtensionOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		datum = heap_getattr(tuple, Anum_pg_extension_extversion,
										 RelationGetDescr(rel), &isnull);

		*version = isnull ? pstrdup("") : TextDatumGetCString(datum);
		*owner = ((Form_pg_extension) GETSTRUCT(tuple))->extowner;
		found = true;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/* The relations that are members of the extension, in the order in which a DROP locks them. */
static List *
find_members(Oid extension_oid, bool first_only)
{
	Relation	rel = table_open(DependRelationId, AccessShareLock);
	List	   *members = NIL;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(ExtensionRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(extension_oid));
	scan = systable_beginscan(rel, DependReferenceIndexId, true, NULL, 2, keys);
	while (!(first_only && members != NIL) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend depend = (Form_pg_depend) GETSTRUCT(tuple);

		/*
		 * An object that a user has made DEPEND ON EXTENSION may be locked by
		 * its owner.
		 */
		if (depend->classid == RelationRelationId && depend->deptype == DEPENDENCY_EXTENSION)
			members = lappend_oid(members, depend->objid);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return members;
}

Oid
tier_catalog_guard_oid(Oid extension_oid)
{
	List	   *members = find_members(extension_oid, true);

	return members == NIL ? InvalidOid : linitial_oid(members);
}

bool
tier_catalog_lock_within(Oid relation_oid, LOCKMODE mode, int *patience_ms)
{
	while (!ConditionalLockRelationOid(relation_oid, mode))
	{
		if (*patience_ms <= 0)
			return false;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 LOCK_POLL_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		*patience_ms -= LOCK_POLL_MS;
	}
	return true;
}

/* Calls lock these against each other until they commit, and no sample writes them. */
static bool
is_locked_by_calls(const char *table)
{
	return strcmp(table, "tier") == 0 || strcmp(table, "move_window") == 0 ||
		strcmp(table, "restore_turn") == 0;
}

void
tier_catalog_lock_tables(void)
{
	List	   *members = find_members(get_extension_oid(TIER_EXTENSION_NAME, false), false);
	int			patience_ms = LOCK_TABLES_PATIENCE_MS;
	ListCell   *cell;

	foreach(cell, members)
	{
		Oid			table_oid = lfirst_oid(cell);
		const char *name = get_rel_name(table_oid);

		if (name != NULL && get_rel_relkind(table_oid) == RELKIND_RELATION &&
			!is_locked_by_calls(name))
			(void) tier_catalog_lock_within(table_oid, RowExclusiveLock, &patience_ms);
	}
	list_free(members);
}

/*
 * Waits until the guard is still the same under its lock: an update of the extension may have
 * replaced it meanwhile.  No guard: the caller is an extension script that has not created the
 * relation yet.
 */
static void
lock_guard(Oid extension_oid)
{
	Oid			locked_oid = InvalidOid;
	Oid			guard_oid = tier_catalog_guard_oid(extension_oid);

	while (OidIsValid(guard_oid) && guard_oid != locked_oid)
	{
		if (OidIsValid(locked_oid))
			UnlockRelationOid(locked_oid, AccessShareLock);
		LockRelationOid(guard_oid, AccessShareLock);
		locked_oid = guard_oid;
		guard_oid = tier_catalog_guard_oid(extension_oid);
	}
}

/*
 * Our statements name their schemas.  If one were renamed, a role that may create schemas
 * could put functions in its place, which would run as the owner of the extension.
 */
static void
require_schema(const char *name, Oid extension_oid)
{
	Oid			schema_oid = get_namespace_oid(name, true);

	if (!OidIsValid(schema_oid) ||
		getExtensionOfObject(NamespaceRelationId, schema_oid) != extension_oid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("schema \"%s\" of extension \"%s\" is missing", name, TIER_EXTENSION_NAME),
				 errdetail("It was renamed, or is no longer a member of the extension.")));
}

/*
 * As tier_catalog_extension_state; *owner is a superuser if it is present.
 *
 * The script of CREATE EXTENSION calls this function, too: then the row exists, with the
 * version being created.
 */
static TierExtensionState
lock_extension(Oid *owner)
{
	Oid			extension_oid = get_extension_oid(TIER_EXTENSION_NAME, true);
	char	   *version;

	if (!OidIsValid(extension_oid))
		return TIER_EXTENSION_ABSENT;
	lock_guard(extension_oid);
	if (!read_extension(extension_oid, &version, owner))
		return TIER_EXTENSION_ABSENT;
	if (strcmp(version, TIER_VERSION) != 0)
		return TIER_EXTENSION_OTHER_VERSION;

	/*
	 * The tables define the roles on whose behalf the worker moves, and the
	 * servers to connect to.
	 */
	if (!superuser_arg(*owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("owner of extension \"%s\" must be a superuser", TIER_EXTENSION_NAME),
				 errdetail("It is owned by role \"%s\".", GetUserNameFromId(*owner, false)),
				 errhint("Give the role that attribute, or the extension to a superuser with "
						 "REASSIGN OWNED.")));
	require_schema("tiered_storage", extension_oid);
	require_schema("_tiered_storage", extension_oid);
	return TIER_EXTENSION_PRESENT;
}

TierExtensionState
tier_catalog_extension_state(void)
{
	Oid			owner;

	return lock_extension(&owner);
}

static void
set_for_scope(void)
{
	tier_settings_fix(GUC_ACTION_SAVE);
	tier_settings_fix_at("search_path", "pg_catalog, pg_temp", GUC_ACTION_SAVE);

	/* Hours that are rolled up begin in all sessions at one moment. */
	tier_settings_fix_at("TimeZone", "UTC", GUC_ACTION_SAVE);
	if (LockTimeout == 0 || LockTimeout > LONGEST_LOCK_WAIT_MS)
		tier_settings_fix_at("lock_timeout", CppAsString2(LONGEST_LOCK_WAIT_MS), GUC_ACTION_SAVE);
}

static void
enter_as(TierCatalogScope *scope, Oid owner)
{
	GetUserIdAndSecContext(&scope->caller, &scope->caller_context);
	scope->guc_level = NewGUCNestLevel();
	set_for_scope();
	SetUserIdAndSecContext(owner, scope->caller_context |
						   SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	PushActiveSnapshot(GetTransactionSnapshot());
	tier_catalog_hold_snapshot(false);
	scope->entered = true;
}

bool
tier_catalog_try_enter(TierCatalogScope *scope)
{
	Oid			owner;

	scope->entered = false;
	if (lock_extension(&owner) != TIER_EXTENSION_PRESENT)
		return false;
	enter_as(scope, owner);
	return true;
}

void
tier_catalog_enter(TierCatalogScope *scope)
{
	Oid			owner;

	scope->entered = false;
	switch (lock_extension(&owner))
	{
		case TIER_EXTENSION_ABSENT:
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("extension \"%s\" does not exist", TIER_EXTENSION_NAME)));
			break;
		case TIER_EXTENSION_OTHER_VERSION:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("extension \"%s\" is not at the version of its library, %s",
							TIER_EXTENSION_NAME, TIER_VERSION),
					 errhint("Run ALTER EXTENSION %s UPDATE.", TIER_EXTENSION_NAME)));
			break;
		case TIER_EXTENSION_PRESENT:
			enter_as(scope, owner);
			break;
	}
}

void
tier_catalog_leave(TierCatalogScope *scope)
{
	if (!scope->entered)
		return;
	PopActiveSnapshot();
	SPI_finish();
	AtEOXact_GUC(false, scope->guc_level);
	SetUserIdAndSecContext(scope->caller, scope->caller_context);
	scope->entered = false;
}

void
tier_catalog_identify(const TierCatalogScope *scope, Oid relation_oid, Oid owner_oid,
					  const NameData *tier, TierIdentity *identity)
{
	char	   *relation_name = get_rel_name(relation_oid);
	char	   *schema_name = get_namespace_name(get_rel_namespace(relation_oid));

	if (schema_name == NULL || relation_name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation_oid)));
	identity->relation_oid = relation_oid;
	namestrcpy(&identity->schema, schema_name);
	namestrcpy(&identity->relation, relation_name);
	identity->tier = *tier;
	namestrcpy(&identity->creator, GetUserNameFromId(scope->caller, false));
	namestrcpy(&identity->owner, GetUserNameFromId(owner_oid, false));
}

char *
tier_catalog_clip(const char *message)
{
	/* No more than that is looked at of a message that has no end. */
	int			length = (int) Min(strlen(message), MAX_MESSAGE_BYTES * 2);

	return pnstrdup(message, pg_mbcliplen(message, length, MAX_MESSAGE_BYTES));
}

Datum
tier_catalog_datum(uint64 row, int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, isnull);
}

static void
execute_step(void *argument)
{
	tier_query_plain(argument);
}

/*
 * Rows that cannot be updated now stay unchanged until the next time; the rest continues.
 *
 * A session that has moved something while the extension was updated cannot record the result,
 * and may stay idle for days; nor can one that was killed just after its swap.  The current
 * tablespace of the relation tells it, unless a later move has brought it there.
 *
 * A restart is no failure of the relation, so it is tried again at once; but after some more
 * its move may have crashed the server.  That has restarted if its checkpointer is younger;
 * the crash counts once, with the move that began last.  The copied bytes are unknown, so the
 * whole size counts for limits.
 */
void
tier_catalog_refresh_identities(void)
{
	static const char sql[] =
	"WITH ended AS (SELECT r.move_id, r.started_at, "
	"COALESCE(r.backend_start < (SELECT max(a.backend_start) "
	"FROM pg_catalog.pg_stat_activity a WHERE a.backend_type = 'checkpointer'), false) "
	"AS crashed, "
	"EXISTS (SELECT "
	"FROM _tiered_storage.relation_entry(r.relation_oid) c "
	"LEFT JOIN LATERAL _tiered_storage.relation_entry(c.reltoastrelid) t ON true "
	"CROSS JOIN (SELECT d.dattablespace FROM pg_catalog.pg_database d "
	"WHERE d.datname = current_database()) own "
	"WHERE COALESCE(NULLIF(c.reltablespace, 0), own.dattablespace) = r.to_tablespace_oid "
	"AND (t.oid IS NULL OR t.reltablespace = c.reltablespace)) "
	"AND NOT EXISTS (SELECT FROM _tiered_storage.move l "
	"WHERE l.relation_oid = r.relation_oid AND l.move_id > r.move_id) AS arrived "
	"FROM _tiered_storage.move r "
	"WHERE r.state = 'running' AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity a "
	"WHERE a.pid = r.pid AND a.backend_start = r.backend_start "
	"AND a.state IS DISTINCT FROM 'idle') FOR UPDATE OF r SKIP LOCKED) "
	"UPDATE _tiered_storage.move m SET finished_at = now(), pid = NULL, backend_start = NULL, "
	"state = CASE WHEN e.arrived THEN 'done' ELSE 'failed' END, "
	"failures = m.failures + CASE WHEN e.arrived THEN 0 ELSE 1 END, "
	"costly_failures = m.costly_failures + CASE WHEN e.arrived THEN 0 ELSE 1 END, "
	"next_attempt_at = CASE WHEN NOT e.arrived THEN now() + CASE WHEN m.costly_failures < 3 "
	"THEN interval '0' ELSE least(interval '1 hour', interval '1 minute' * "
	"power(2, least(m.costly_failures, 10) - 3)) END END, "
	"copied_bytes = CASE WHEN e.arrived THEN m.copied_bytes "
	"ELSE COALESCE(m.copied_bytes, m.size_bytes) END, "
	"error = CASE WHEN e.arrived THEN NULL "
	"ELSE 'the process that moved it ended before it was done' END, "
	"sqlstate = CASE WHEN e.arrived THEN NULL WHEN e.crashed THEN '57P02' ELSE '57P01' END, "
	"crashes = m.crashes + (e.move_id IS NOT DISTINCT FROM (SELECT l.move_id FROM ended l "
	"WHERE l.crashed AND NOT l.arrived ORDER BY l.started_at DESC, l.move_id DESC "
	"LIMIT 1))::integer "
	"FROM ended e WHERE e.move_id = m.move_id";

	static const char *const refreshed[][2] = {
		{"tablespaces of tiers", "SELECT _tiered_storage.refresh_tablespaces()"},
		{"policies", "SELECT _tiered_storage.refresh_policies()"},
		{"pins", "SELECT _tiered_storage.refresh_pins()"},
		{"moves", "SELECT _tiered_storage.refresh_moves()"},
		{"moves that have ended", sql},
	};

	/* To plan the last one takes longer than all the others. */
	bool		runs = tier_query_plain("SELECT FROM _tiered_storage.move "
										"WHERE state = 'running'") > 0;
	TierPass	pass;

	/* A transaction that has looked before would miss who has begun since. */
	if (runs)
		(void) tier_query_plain("SELECT pg_catalog.pg_stat_clear_snapshot()");
	tier_pass_begin(&pass, TIER_STEP_IDENTIFY);
	for (int i = 0; i < (int) lengthof(refreshed) - !runs; i++)
	{
		ErrorData  *error = tier_attempt(execute_step, unconstify(char *, refreshed[i][1]));

		if (error != NULL)
			(void) tier_pass_failed(&pass, (Oid) i, refreshed[i][0], error);
	}
	tier_pass_end(&pass);
}

bool
tier_catalog_prepared(MemoryContext context, TransactionId xid, const char **gid,
					  TimestampTz *prepared_at)
{
	static const char sql[] =
	"SELECT p.gid, p.prepared FROM pg_catalog.pg_prepared_xacts p WHERE p.transaction = $1";
	const TierValue value = {XIDOID, TransactionIdGetDatum(xid), false};

	if (tier_catalog_run(sql, &value, 1) == 0)
		return false;
	*gid = tier_get_text(context, 0, 1);
	*prepared_at = tier_get_time(0, 2);
	return true;
}

bool
tier_catalog_any_prepared(void)
{
	return tier_query_plain("SELECT FROM pg_catalog.pg_prepared_xact() LIMIT 1") > 0;
}

char *
tier_catalog_new_publication_of_all(MemoryContext context)
{
	static const char sql[] =
	"UPDATE _tiered_storage.sampler s SET told_publication = p.pubname "
	"FROM (SELECT _tiered_storage.publication_of_all() AS pubname) p "
	"WHERE s.told_publication IS DISTINCT FROM p.pubname "
	"RETURNING s.told_publication::text";

	return tier_query_plain(sql) > 0 ? tier_get_text(context, 0, 1) : NULL;
}

TierWalFinding *
tier_catalog_wal_readers(MemoryContext context, double wal_bytes, Oid role_oid, int *n)
{
	static const char sql[] = "SELECT * FROM _tiered_storage.wal_readers($1, $2)";
	static const TierColumn fields[] = {
		TIER_FIELD(TierWalFinding, check, TEXTOID),
		TIER_FIELD(TierWalFinding, finding, TEXTOID),
		TIER_FIELD(TierWalFinding, remedy, TEXTOID),
	};

	*n = (int) tier_query(sql, tier_arg_float8(wal_bytes), tier_arg_oid(role_oid));
	return TIER_ROWS(context, TierWalFinding, fields, *n);
}
