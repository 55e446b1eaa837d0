/*-------------------------------------------------------------------------
 *
 * server/processes.c
 *		Activity of other processes, and counters that they have not reported yet.
 *
 * Runs in the process that takes a sample, or moves something.  Takes only the locks of the
 * process statuses and of the lock table, for a moment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/transaction.h"
#include "src/server/processes.h"

/* A statement of the lock manager each time, which a loop over blocks would feel. */
#define DATABASE_INTERVAL_US 500000

bool
tier_processes_read(int i, PgBackendStatus *status)
{
	volatile PgBackendStatus *entry;
	int			before;
	int			after;

	if (MyBEEntry == NULL)
		return false;
	entry = tier_compat_backend_entry(i);
	for (;;)
	{
		pgstat_begin_read_activity(entry, before);
		status->st_procpid = entry->st_procpid;
		if (status->st_procpid > 0)
			memcpy(status, unvolatize(PgBackendStatus *, entry), sizeof(PgBackendStatus));
		pgstat_end_read_activity(entry, after);
		if (pgstat_read_activity_complete(before, after))
			return status->st_procpid > 0;
		CHECK_FOR_INTERRUPTS();
	}
}

void
tier_processes_show(int first, int n, const int64 *values)
{
	volatile PgBackendStatus *entry = MyBEEntry;

	if (entry == NULL)
		return;
	PGSTAT_BEGIN_WRITE_ACTIVITY(entry);
	for (int i = 0; i < n; i++)
		entry->st_progress_param[first + i] = values[i];
	PGSTAT_END_WRITE_ACTIVITY(entry);
}

static bool
is_running(const PgBackendStatus *status)
{
	return status->st_state == STATE_RUNNING || status->st_state == STATE_FASTPATH;
}

/*
 * Since when it has had counters that it has not handed on; 0: it has none.  A
 * procedure that commits begins transactions, but stays the same statement.  Without a
 * transaction a statement counts nothing: a WAL sender is in one as long as it lives.
 */
static TimestampTz
at_work_since(const PgBackendStatus *status)
{
	if (status->st_procpid <= 0 || status->st_xact_start_timestamp == 0)
		return 0;
	if (status->st_backendType == B_AUTOVAC_WORKER)
		return status->st_proc_start_timestamp;
	if (is_running(status) && status->st_activity_start_timestamp != 0)
		return Min(status->st_xact_start_timestamp, status->st_activity_start_timestamp);
	return status->st_xact_start_timestamp;
}

static bool
was_at_work(const PgBackendStatus *status, TimestampTz when)
{
	TimestampTz since = at_work_since(status);

	return since != 0 && since <= when;
}

TimestampTz
tier_processes_oldest(void)
{
	TimestampTz oldest = 0;

	for (int i = 0; i < MaxBackends; i++)
	{
		PgBackendStatus status;
		TimestampTz since;

		if (!tier_processes_read(i, &status) || status.st_procpid == MyProcPid)
			continue;
		since = at_work_since(&status);
		if (since != 0 && (oldest == 0 || since < oldest))
			oldest = since;
	}
	return oldest;
}

/* Returns true if the query has another statement after one that may end a transaction. */
static bool
ends_transactions(const char *query)
{
	static const char *const words[] = {"abort", "commit", "end", "prepare", "rollback"};
	bool		has_end = false;

	while (*query != '\0')
	{
		size_t		length = 0;

		while (isalnum((unsigned char) query[length]) || query[length] == '_')
			length++;
		for (int i = 0; i < (int) lengthof(words); i++)
			has_end = has_end ||
				(length == strlen(words[i]) && pg_strncasecmp(query, words[i], length) == 0);
		query += Max(length, 1);
		if (has_end && *query == ';' && query[1 + strspn(query + 1, " \t\r\n;")] != '\0')
			return true;
	}
	return false;
}

/* The text may change meanwhile, but never ends beyond its place. */
static bool
has_text_that_ends_transactions(const PgBackendStatus *status)
{
	char	   *query = palloc(pgstat_track_activity_query_size);
	bool		ends;

	strlcpy(query, status->st_activity_raw, pgstat_track_activity_query_size);
	ends = ends_transactions(query);
	pfree(query);
	return ends;
}

static bool
is_in_transaction(int pid)
{
	const PGPROC *process = BackendPidGetProc(pid);
	VirtualTransactionId id;

	if (process == NULL)
		return false;
	GET_VXID_FROM_PGPROC(id, *process);
	return VirtualTransactionIdIsValid(id);
}

/* Since when it may have used what neither locks nor statistics tell; 0: it has not. */
static TimestampTz
hiding_since(const PgBackendStatus *status)
{
	if (status->st_databaseid != MyDatabaseId || status->st_procpid == MyProcPid ||
		status->st_backendType == B_AUTOVAC_WORKER)
		return 0;

	/* track_activities is off. */
	if (status->st_state == STATE_DISABLED || status->st_state == STATE_UNDEFINED)
		return status->st_backendType == B_BACKEND && is_in_transaction(status->st_procpid) ?
			status->st_proc_start_timestamp : 0;
	if (!is_running(status) || status->st_xact_start_timestamp == 0 ||
		status->st_activity_start_timestamp == 0)
		return 0;

	/*
	 * A new transaction begins at that moment, the first one with the
	 * statement.
	 */
	if (status->st_xact_start_timestamp > status->st_activity_start_timestamp)
		return status->st_activity_start_timestamp;
	if (status->st_xact_start_timestamp == status->st_activity_start_timestamp &&
		has_text_that_ends_transactions(status))
		return status->st_activity_start_timestamp;
	return 0;
}

/* Workers of this extension use nothing; those of replication hand their counters on. */
static bool
is_harmless_worker(const PgBackendStatus *status)
{
	const char *type;

	if (status->st_backendType != B_BG_WORKER)
		return false;
	type = GetBackgroundWorkerTypeByPid(status->st_procpid);
	return type != NULL &&
		(strncmp(type, "tiered_storage", strlen("tiered_storage")) == 0 ||
		 strncmp(type, "logical replication", strlen("logical replication")) == 0);
}

TimestampTz
tier_processes_hiding_since(void)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz oldest = 0;

	for (int i = 0; i < MaxBackends; i++)
	{
		PgBackendStatus status;
		TimestampTz since;

		if (!tier_processes_read(i, &status))
			continue;
		since = hiding_since(&status);
		if (since != 0 && (oldest == 0 || since < oldest) &&
			TimestampDifferenceExceeds(since, now, TIER_COUNTERS_KEPT_MS) &&
			!is_harmless_worker(&status))
			oldest = since;
	}
	return oldest;
}

/* Returns true if this process may have added blocks in its current transaction. */
static bool
may_have_extended_myself(const LOCKTAG *tag, TimestampTz when)
{
	if (GetCurrentTransactionStartTimestamp() > when)
		return false;
	for (LOCKMODE mode = RowExclusiveLock; mode <= AccessExclusiveLock; mode++)
		if (tier_compat_lock_is_held(tag, mode))
			return true;
	return false;
}

static bool
is_one_of(int pid, const VirtualTransactionId *ids, int n)
{
	for (int i = 0; i < n; i++)
	{
		const PGPROC *process = tier_compat_process_of(ids[i]);

		if (process != NULL && process->pid == pid)
			return true;
	}
	return false;
}

bool
tier_processes_may_have_extended(Oid table_oid, TimestampTz when)
{
	LOCKTAG		tag;
	VirtualTransactionId *holders;
	int			nholders;
	bool		found;

	if (RecoveryInProgress())
		return false;
	SET_LOCKTAG_RELATION(tag, MyDatabaseId, table_oid);
	found = may_have_extended_myself(&tag, when);

	/*
	 * Locks that conflict with SHARE are those of processes that change rows,
	 * or stronger ones.
	 */
	holders = GetLockConflicts(&tag, ShareLock, &nholders);
	for (int i = 0; i < MaxBackends && !found; i++)
	{
		PgBackendStatus status;

		found = tier_processes_read(i, &status) && status.st_databaseid == MyDatabaseId &&
			status.st_procpid != MyProcPid && was_at_work(&status, when) &&
			((is_running(&status) &&
			  status.st_xact_start_timestamp > status.st_activity_start_timestamp) ||
			 is_one_of(status.st_procpid, holders, nholders));
	}
	pfree(holders);
	return found;
}

static bool
is_maintaining(const PgBackendStatus *status)
{
	const PGPROC *process;

	if (status->st_backendType == B_AUTOVAC_WORKER ||
		status->st_progress_command == PROGRESS_COMMAND_VACUUM ||
		status->st_progress_command == PROGRESS_COMMAND_ANALYZE)
		return true;

	/* Between two tables of one VACUUM, or waiting for the lock on one. */
	process = BackendPidGetProc(status->st_procpid);
	return process != NULL && (process->statusFlags & PROC_IN_VACUUM) != 0;
}

bool
tier_processes_may_have_vacuumed(TimestampTz when)
{
	for (int i = 0; i < MaxBackends; i++)
	{
		PgBackendStatus status;

		if (tier_processes_read(i, &status) && status.st_databaseid == MyDatabaseId &&
			was_at_work(&status, when) && is_maintaining(&status))
			return true;
	}
	return false;
}

/* Returns true if the role may drop, rename or copy the database of this process. */
static bool
may_want_database(Oid role_oid)
{
	HeapTuple	database = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	HeapTuple	role = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role_oid));
	bool		may = false;

	if (HeapTupleIsValid(database) && HeapTupleIsValid(role))
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(database);

		may = is_member_of_role(role_oid, form->datdba) ||
			(form->datistemplate && ((Form_pg_authid) GETSTRUCT(role))->rolcreatedb);
	}
	if (HeapTupleIsValid(role))
		ReleaseSysCache(role);
	if (HeapTupleIsValid(database))
		ReleaseSysCache(database);
	return may;
}

static bool
look_for_holder(void)
{
	LOCKTAG		tag;
	VirtualTransactionId *holders;
	int			nholders;
	bool		is_wanted = false;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	holders = GetLockConflicts(&tag, RowExclusiveLock, &nholders);
	for (int i = 0; i < nholders && !is_wanted; i++)
	{
		const PGPROC *process = tier_compat_process_of(holders[i]);
		MemoryContext context = CurrentMemoryContext;
		bool		has_transaction = IsTransactionState();

		if (process == NULL)
			continue;
		if (!has_transaction)
			tier_transaction_start();
		is_wanted = may_want_database(process->roleId);
		if (!has_transaction)
			CommitTransactionCommand();
		MemoryContextSwitchTo(context);
	}
	pfree(holders);
	return is_wanted;
}

bool
tier_processes_database_is_wanted(void)
{
	static int64 looked_at = 0;
	static bool is_wanted = false;
	int64		now = tier_clock_monotonic_us();

	if (looked_at == 0 || now >= looked_at + DATABASE_INTERVAL_US)
	{
		looked_at = now;
		is_wanted = look_for_holder();
	}
	return is_wanted;
}
