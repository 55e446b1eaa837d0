/*-------------------------------------------------------------------------
 *
 * tier_move.c
 *		Moving relations, one transaction for each.
 *
 * Runs in the worker and in sessions that CALL move_relation or migrate.  The
 * copy is SET TABLESPACE, which locks the relation while it copies; see
 * tier_relation.c for the step under the lock.  Around it, here: is there
 * room, is it worth the lock, the record that others can see, attempts with
 * pauses in which nothing is locked and no snapshot is held.
 *
 * A move is three transactions: one makes the record, one moves, one completes
 * the record.  A crash between them leaves a record of a process that is gone,
 * which the next sample turns into a failure; the data itself is as the second
 * transaction left it, moved or not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_tablespace.h"
#include "commands/dbcommands.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "tier_clock.h"
#include "tier_guc.h"
#include "tier_move.h"
#include "tier_partition.h"
#include "tier_relation.h"
#include "tier_shmem.h"

/* Pause before the second attempt, doubled each time, and its limit. */
#define FIRST_PAUSE_MS 100
#define LONGEST_PAUSE_MS 5000

/* Why a move is not even tried; message NULL when it is. */
typedef struct Obstacle
{
	char	   *message;
	char	   *hint;
	const char *sqlstate;
} Obstacle;

static double
ms_between(TimestampTz from, TimestampTz to)
{
	return to <= from ? 0.0 : (double) (to - from) / 1000.0;
}

/* ---------------------------------------------------------------------
 * Before
 * ---------------------------------------------------------------------
 */

/*
 * Bytes of WAL that may pile up while the relation is copied: all of it is
 * logged, but checkpoints recycle what exceeds max_wal_size.
 */
static double
wal_bytes_needed(int64 size_bytes)
{
	if (!XLogIsNeeded())
		return 0;
	return Min(size_bytes * 1.01, 2.0 * max_wal_size_mb * 1024.0 * 1024.0);
}

/* "123 MB", as pg_size_pretty has it. */
static char *
size_text(double bytes)
{
	return text_to_cstring(DatumGetTextPP(DirectFunctionCall1(pg_size_pretty, Int64GetDatum((int64) bytes))));
}

/* Room on the target and for the WAL. */
static Obstacle
check_space(const TierTablespace *target, const TierTier *tier, int64 size_bytes)
{
	Obstacle	obstacle = {NULL, NULL, NULL};
	const TierDevice *device = target->device;
	double		wal_needed = wal_bytes_needed(size_bytes);
	double		reserve = tier->reserve_fraction * Max(device->total_bytes, 0);
	uint64		wal_fs_id;
	int64		wal_free;
	int64		target_free = tier_device_free_bytes(device->path, &wal_fs_id);
	uint64		target_fs_id = wal_fs_id;
	char		wal_directory[MAXPGPATH];

	snprintf(wal_directory, sizeof(wal_directory), "%s/pg_wal", DataDir);
	wal_free = tier_device_free_bytes(wal_directory, &wal_fs_id);
	obstacle.sqlstate = "53100";

	if (target_free >= 0)
	{
		double		needed = size_bytes + (wal_free >= 0 && wal_fs_id == target_fs_id ? wal_needed : 0);

		if (target_free - needed < reserve)
		{
			obstacle.message = psprintf("not enough space in tablespace \"%s\": %s are needed%s and %s reserved, %s are free",
										NameStr(target->name), size_text(needed),
										needed > size_bytes ? " (with WAL, which is on the same file system)" : "",
										size_text(reserve), size_text(target_free));
			obstacle.hint = "Free space there, or lower the reserve_fraction of the tier.";
			return obstacle;
		}
	}
	if (wal_free >= 0 && wal_free < wal_needed)
	{
		obstacle.message = psprintf("not enough space for WAL: the move may write %s, %s are free",
									size_text(wal_needed), size_text(wal_free));
		obstacle.hint = "Free space in the file system of pg_wal.";
	}
	return obstacle;
}

/* Bytes that this database's relations take on the tier, by the last sample. */
static int64
tier_relation_bytes(const char *tier_name)
{
	static const Oid types[] = {NAMEOID};
	TierCatalogScope scope;
	NameData	name;
	Datum		value;
	int64		bytes = 0;
	bool		isnull;

	namestrcpy(&name, tier_name);
	value = NameGetDatum(&name);
	tier_catalog_enter(&scope);
	tier_catalog_execute("SELECT COALESCE(sum(s.size_bytes), 0)::int8 FROM tiered_storage.relation_state s "
						 "JOIN tiered_storage.tier_tablespaces t ON t.tablespace_oid = s.tablespace_oid "
						 "WHERE t.tier_name = $1", 1, types, &value, NULL);
	bytes = DatumGetInt64(tier_catalog_datum(0, 1, &isnull));
	tier_catalog_leave(&scope);
	return bytes;
}

static Obstacle
find_obstacle(const TierRelationInfo *info, const TierMoveRequest *request,
			  const TierSet *set, int64 size_bytes)
{
	Obstacle	obstacle = {NULL, NULL, NULL};
	const TierTablespace *target = tier_set_tablespace(set, request->tablespace_oid);
	const TierTablespace *source = tier_set_tablespace(set, info->tablespace_oid);
	const TierTier *tier;
	char	   *why;

	if (!tier_relation_may_move(info, request->requester_oid, request->tablespace_oid, &why))
	{
		obstacle.message = why;
		obstacle.sqlstate = "42501";
		return obstacle;
	}
	if (target == NULL)
		return obstacle;		/* in no tier: nothing is known of it */
	tier = &set->tiers[target->tier];

	if (!target->device->exists || !target->device->writable)
	{
		obstacle.message = psprintf("directory \"%s\" of tablespace \"%s\" is %s",
									target->device->path, NameStr(target->name),
									target->device->exists ? "not writable" : "missing");
		obstacle.hint = "Is its file system mounted, and mounted read-write?";
		obstacle.sqlstate = "58P01";
		return obstacle;
	}

	obstacle = check_space(target, tier, size_bytes);
	if (obstacle.message != NULL)
		return obstacle;

	if (tier->capacity_bytes > 0 && tier->capacity_bytes < Max(target->device->total_bytes, 0))
	{
		int64		used = tier_relation_bytes(NameStr(tier->name));
		double		usable = tier->capacity_bytes * (1.0 - tier->reserve_fraction);

		if (source != NULL && source->tier == target->tier)
			used = Max(used - size_bytes, 0);
		if (used + size_bytes > usable)
		{
			obstacle.message = psprintf("tier \"%s\" is full: %s are needed, %s of %s usable are taken",
										NameStr(tier->name), size_text(size_bytes), size_text(used), size_text(usable));
			obstacle.hint = "Raise capacity_bytes of the tier, or move something else away.";
			obstacle.sqlstate = "53100";
			return obstacle;
		}
	}

	if (request->limit_lock_time && tier_move_max_lock_time_s > 0)
	{
		double		slowest = tier->profile.sequential_write_mb_per_s;
		double		seconds;

		if (source != NULL)
			slowest = Min(slowest, set->tiers[source->tier].profile.sequential_read_mb_per_s);
		seconds = size_bytes / (slowest * 1e6);
		if (seconds > tier_move_max_lock_time_s)
		{
			obstacle.message = psprintf("moving it would lock it for about %.0f seconds", seconds);
			obstacle.hint = "Raise tiered_storage.move_max_lock_time, or CALL tiered_storage.move_relation() at a quiet time.";
			obstacle.sqlstate = "55000";
		}
	}
	return obstacle;
}

/* ---------------------------------------------------------------------
 * The move
 * ---------------------------------------------------------------------
 */

/* Waits with nothing locked and no snapshot to hold anybody up. */
static void
pause_ms(long milliseconds)
{
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);

	for (;;)
	{
		long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until);

		CHECK_FOR_INTERRUPTS();
		if (left <= 0)
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 left, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

/*
 * One attempt after a pause, undone as a whole when it fails.  *error NULL:
 * none.  A cancel, also one during the pause, is an error like others.
 */
static TierMoveResult
attempt(const TierMoveRequest *request, long pause, TierMoveTiming *timing, ErrorData **error)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile TierMoveResult result = TIER_MOVE_GONE;
	int			level = GetCurrentTransactionNestLevel();

	memset(timing, 0, sizeof(*timing));
	*error = NULL;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		pause_ms(pause);
		PushActiveSnapshot(GetTransactionSnapshot());
		result = tier_relation_move(request->relation_oid, request->requester_oid,
									request->tablespace_oid, timing);
		PopActiveSnapshot();
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		*error = CopyErrorData();
		FlushErrorState();
		while (GetCurrentTransactionNestLevel() > level)
			RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return result;
}

/* Attempts until one succeeds, fails, or enough have waited in vain. */
static void
move_with_retries(const TierMoveRequest *request, TierMoveReport *report, TierMoveOutcome *outcome,
				  ErrorData **thrown)
{
	long		pause = 0;

	outcome->lock_held_ms = -1;
	for (outcome->attempts = 1;; outcome->attempts++)
	{
		TierMoveTiming timing;
		TierMoveResult result = attempt(request, pause, &timing, thrown);

		/* Ends the transaction at once: that is what releases the lock. */
		SPI_commit();
		outcome->lock_wait_ms += timing.lock_wait_ms;
		if (timing.locked_at != 0)
			outcome->lock_held_ms = ms_between(timing.locked_at, GetCurrentTimestamp());

		if (*thrown != NULL)
		{
			report->state = TIER_STATE_FAILED;
			report->error = pstrdup((*thrown)->message);
			report->hint = (*thrown)->hint ? pstrdup((*thrown)->hint) : NULL;
			strlcpy(report->sqlstate, unpack_sql_state((*thrown)->sqlerrcode), sizeof(report->sqlstate));
			return;
		}
		if (result == TIER_MOVE_DONE)
		{
			report->state = TIER_STATE_DONE;
			return;
		}
		if (result != TIER_MOVE_LOCK_TIMEOUT)
		{
			report->state = TIER_STATE_NOT_NEEDED;
			return;
		}
		if (outcome->attempts >= tier_move_lock_attempts)
		{
			report->state = TIER_STATE_SKIPPED;
			report->error = psprintf("could not lock the relation within %d ms in %d attempts",
									 tier_move_lock_timeout_ms, outcome->attempts);
			report->hint = "Others are using it. Raise tiered_storage.move_lock_timeout or move_lock_attempts, or try again later.";
			strlcpy(report->sqlstate, "55P03", sizeof(report->sqlstate));
			return;
		}
		pause = pause == 0 ? FIRST_PAUSE_MS : Min(pause * 2, LONGEST_PAUSE_MS);
	}
}

/* ---------------------------------------------------------------------
 * The record
 * ---------------------------------------------------------------------
 */

static const char *
tier_name_or_null(const TierSet *set, int tier)
{
	return tier < 0 ? NULL : NameStr(set->tiers[tier].name);
}

/* Makes the record and commits it; 0 when the extension has gone. */
static int64
begin_record(const TierMoveRequest *request, const TierSet *set,
			 const TierRelationInfo *info, int64 size_bytes)
{
	TierCatalogScope scope;
	TierMoveRow row;
	int64		move_id = 0;

	row.relation_oid = info->relation_oid;
	row.relation_name = info->name;
	row.kind = tier_relation_kind_name(info->kind);
	row.from_tablespace = get_tablespace_name(info->tablespace_oid);
	row.to_tablespace = get_tablespace_name(request->tablespace_oid);
	row.from_tier = tier_name_or_null(set, tier_set_tier_of_tablespace(set, info->tablespace_oid));
	row.to_tier = tier_name_or_null(set, tier_set_tier_of_tablespace(set, request->tablespace_oid));
	row.requested_by = GetUserNameFromId(request->requester_oid, true);
	row.policy_id = request->policy_id;
	row.reason = request->reason;
	row.method = "set tablespace";
	row.size_bytes = size_bytes;
	if (row.from_tablespace == NULL || row.to_tablespace == NULL || row.requested_by == NULL)
		return 0;				/* dropped in this moment */

	if (tier_catalog_try_enter(&scope))
	{
		move_id = tier_catalog_begin_move(&row);
		tier_catalog_leave(&scope);
	}
	return move_id;
}

static void
finish_record(int64 move_id, const TierMoveReport *report, TierMoveOutcome *outcome)
{
	TierCatalogScope scope;

	switch (report->state)
	{
		case TIER_STATE_DONE:
			outcome->state = "done";
			break;
		case TIER_STATE_FAILED:
			outcome->state = "failed";
			break;
		case TIER_STATE_NOT_NEEDED:
			outcome->state = "done";
			break;
		case TIER_STATE_SKIPPED:
			outcome->state = "skipped";
			break;
	}
	outcome->error = report->error;
	outcome->sqlstate = report->error ? report->sqlstate : NULL;
	if (tier_catalog_try_enter(&scope))
	{
		tier_catalog_finish_move(move_id, outcome);
		tier_catalog_leave(&scope);
	}
	SPI_commit();
}

TierMoveReport
tier_move_one(const TierMoveRequest *request, const TierSet *set)
{
	TierMoveReport report;
	TierMoveOutcome outcome;
	TierRelationInfo info;
	TimestampTz started_at = GetCurrentTimestamp();
	ErrorData  *thrown = NULL;
	Obstacle	obstacle;
	int64		move_id;

	memset(&report, 0, sizeof(report));
	memset(&outcome, 0, sizeof(outcome));
	report.state = TIER_STATE_NOT_NEEDED;

	/* 1. Is it still there, and is there anything to do? */
	if (!tier_relation_lookup(request->relation_oid, &info))
		return report;
	report.relation_name = info.name;
	report.size_bytes = tier_relation_disk_bytes(&info);
	if (info.tablespace_oid == request->tablespace_oid)
		return report;

	/* 2. Let others see it. */
	move_id = begin_record(request, set, &info, report.size_bytes);
	SPI_commit();
	if (move_id == 0)
		return report;

	/* 3. Move it, unless something is in the way. */
	obstacle = find_obstacle(&info, request, set, report.size_bytes);
	if (obstacle.message != NULL)
	{
		report.state = TIER_STATE_SKIPPED;
		report.error = obstacle.message;
		report.hint = obstacle.hint;
		strlcpy(report.sqlstate, obstacle.sqlstate, sizeof(report.sqlstate));
		outcome.lock_held_ms = -1;
	}
	else
		move_with_retries(request, &report, &outcome, &thrown);

	/* 4. What became of it. */
	outcome.elapsed_ms = ms_between(started_at, GetCurrentTimestamp());
	finish_record(move_id, &report, &outcome);
	if (thrown != NULL && thrown->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ThrowErrorData(thrown);
	return report;
}

/* ---------------------------------------------------------------------
 * Migrate
 * ---------------------------------------------------------------------
 */

/* One leaf to move, with the evaluation that says so. */
typedef struct Job
{
	const TierEvaluation *evaluation;
	const TierLeaf *leaf;
} Job;

static int
compare_jobs(const void *a, const void *b)
{
	const Job  *left = a;
	const Job  *right = b;

	if (left->leaf->info.relation_oid != right->leaf->info.relation_oid)
		return left->leaf->info.relation_oid < right->leaf->info.relation_oid ? -1 : 1;
	return left->evaluation->policy->policy_id - right->evaluation->policy->policy_id;
}

static int
compare_oid(const void *a, const void *b)
{
	Oid			left = *(const Oid *) a;
	Oid			right = *(const Oid *) b;

	return left < right ? -1 : left > right ? 1 : 0;
}

/*
 * All leaves that are due, each once: where several policies want it, the
 * slowest tier wins, which is the policy for the greatest age.
 */
static Job *
collect_jobs(TierEvaluation **evaluations, int nevaluations, const TierSet *set, int *njobs)
{
	Job		   *jobs;
	int			n = 0;
	int			kept = 0;

	for (int i = 0; i < nevaluations; i++)
		n += evaluations[i]->nleaves;
	jobs = palloc_extended(sizeof(Job) * Max(n, 1), MCXT_ALLOC_HUGE);
	n = 0;
	for (int i = 0; i < nevaluations; i++)
	{
		for (int j = 0; j < evaluations[i]->nleaves; j++)
		{
			if (evaluations[i]->leaves[j].verdict != TIER_VERDICT_DUE)
				continue;
			jobs[n].evaluation = evaluations[i];
			jobs[n++].leaf = &evaluations[i]->leaves[j];
		}
	}
	qsort(jobs, n, sizeof(Job), compare_jobs);
	for (int i = 0; i < n; i++)
	{
		if (kept > 0 && jobs[kept - 1].leaf->info.relation_oid == jobs[i].leaf->info.relation_oid)
		{
			if (set->tiers[jobs[i].evaluation->to_tier].rank >
				set->tiers[jobs[kept - 1].evaluation->to_tier].rank)
				jobs[kept - 1] = jobs[i];
			continue;
		}
		jobs[kept++] = jobs[i];
	}
	*njobs = kept;
	return jobs;
}

static void
announce(const Job *job, const TierSet *set)
{
	ListCell   *cell;

	foreach(cell, job->leaf->pending)
	{
		TierRelationInfo info;
		char	   *target = get_tablespace_name(job->leaf->to_tablespace);

		if (tier_relation_lookup(lfirst_oid(cell), &info))
			ereport(NOTICE,
					(errmsg("would move %s %s to tier \"%s\"",
							tier_relation_kind_name(info.kind), info.name,
							NameStr(set->tiers[job->evaluation->to_tier].name)),
					 errdetail("Tablespace \"%s\"; %s.", target ? target : "none can be used", job->leaf->reason)));
	}
}

static void
report_failure(const TierMoveReport *report, bool by_worker)
{
	if (report->state != TIER_STATE_SKIPPED && report->state != TIER_STATE_FAILED)
		return;
	ereport(by_worker ? LOG : WARNING,
			(errcode(MAKE_SQLSTATE(report->sqlstate[0], report->sqlstate[1], report->sqlstate[2],
								   report->sqlstate[3], report->sqlstate[4])),
			 errmsg("could not move %s: %s", report->relation_name, report->error),
			 report->hint ? errhint("%s", report->hint) : 0));
}

/* Moves one leaf with what goes along; a relation that fails does not stop the rest. */
static void
run_job(const Job *job, const TierSet *set, const Oid *backoff, int nbackoff,
		bool by_worker, TierMigrateSummary *summary)
{
	const TierPolicyRow *policy = job->evaluation->policy;
	ListCell   *cell;

	if (!OidIsValid(job->leaf->to_tablespace))
	{
		ereport(by_worker ? LOG : WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not move %s: tier \"%s\" has no tablespace", job->leaf->info.name,
						NameStr(policy->tier_name)),
				 errhint("Give it one with tiered_storage.alter_tier().")));
		summary->not_moved += list_length(job->leaf->pending);
		return;
	}
	foreach(cell, job->leaf->pending)
	{
		Oid			relation_oid = lfirst_oid(cell);
		TierMoveRequest request;
		TierMoveReport report;

		CHECK_FOR_INTERRUPTS();
		if (bsearch(&relation_oid, backoff, nbackoff, sizeof(Oid), compare_oid) != NULL)
		{
			summary->not_moved++;
			continue;
		}
		request.relation_oid = relation_oid;
		request.tablespace_oid = job->leaf->to_tablespace;
		request.requester_oid = OidIsValid(policy->created_by) ? policy->created_by : job->leaf->info.owner_oid;
		request.policy_id = policy->policy_id;
		request.reason = job->leaf->reason;
		request.limit_lock_time = by_worker;
		report = tier_move_one(&request, set);
		report_failure(&report, by_worker);
		if (report.state == TIER_STATE_DONE)
		{
			summary->moved++;
			summary->moved_bytes += report.size_bytes;
		}
		else if (report.state != TIER_STATE_NOT_NEEDED)
			summary->not_moved++;
	}
}

char *
tier_move_publish_claims(const TierSet *set)
{
	TierClaim  *claims = palloc(sizeof(TierClaim) * Max(set->ntablespaces, 1));
	char	   *message = NULL;
	Oid			database_oid;
	NameData	tier_name;
	int			conflict;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		claims[i].tablespace_oid = set->tablespaces[i].oid;
		claims[i].database_oid = MyDatabaseId;
		claims[i].tier_name = set->tiers[set->tablespaces[i].tier].name;
		claims[i].is_weak = set->tablespaces[i].discovered;
	}
	conflict = tier_shmem_publish_claims(MyDatabaseId, claims, set->ntablespaces, &database_oid, &tier_name);
	if (conflict >= 0)
	{
		char	   *database = get_database_name(database_oid);

		message = psprintf("nothing is moved, because tablespace \"%s\" belongs to tier \"%s\" here, but to tier \"%s\" in database \"%s\"",
						   NameStr(set->tablespaces[conflict].name), NameStr(claims[conflict].tier_name),
						   NameStr(tier_name), database ? database : "?");
	}
	pfree(claims);
	return message;
}

static void
record_evaluations(TierEvaluation **evaluations, int n)
{
	TierCatalogScope scope;

	if (!tier_catalog_try_enter(&scope))
		return;
	for (int i = 0; i < n; i++)
	{
		int			due = 0;
		int			on_target = 0;

		for (int j = 0; j < evaluations[i]->nleaves; j++)
		{
			due += evaluations[i]->leaves[j].verdict == TIER_VERDICT_DUE;
			on_target += evaluations[i]->leaves[j].verdict == TIER_VERDICT_ON_TARGET;
		}
		tier_catalog_policy_evaluated(evaluations[i]->policy->policy_id, due, on_target,
									  evaluations[i]->error ? evaluations[i]->error :
									  psprintf("%d of %d partitions are due", due, evaluations[i]->nleaves));
	}
	tier_catalog_leave(&scope);
}

TierMigrateSummary
tier_move_migrate(bool dry_run, bool by_worker, void (*between_moves) (void))
{
	TierMigrateSummary summary = {0, 0, 0, 0};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "tiered_storage migrate",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	TierCatalogScope scope;
	TierSet    *set;
	TierPolicyRow *policies;
	TierEvaluation **evaluations;
	Oid		   *backoff;
	Job		   *jobs;
	char	   *conflict;
	int			npolicies;
	int			nbackoff = 0;
	int			njobs;

	/* 1. Load. */
	if (!by_worker)
		tier_catalog_enter(&scope);
	else if (!tier_catalog_try_enter(&scope))
	{
		MemoryContextSwitchTo(old_context);
		return summary;
	}
	if (!dry_run)
		tier_catalog_refresh_identities();
	set = tier_catalog_load_tiers(context);
	policies = tier_catalog_load_policies(context, &npolicies);
	backoff = tier_catalog_load_backoff(context, &nbackoff);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	if (!by_worker)
		nbackoff = 0;			/* a person who asks means now */

	/* 2. Decide. */
	evaluations = palloc(sizeof(TierEvaluation *) * Max(npolicies, 1));
	PushActiveSnapshot(GetTransactionSnapshot());
	for (int i = 0; i < npolicies; i++)
		evaluations[i] = tier_partition_evaluate(&policies[i], set, tier_clock_now());
	PopActiveSnapshot();
	jobs = collect_jobs(evaluations, npolicies, set, &njobs);
	summary.due = njobs;
	if (dry_run)
	{
		for (int i = 0; i < njobs; i++)
			announce(&jobs[i], set);
		MemoryContextSwitchTo(old_context);
		MemoryContextDelete(context);
		return summary;
	}
	conflict = tier_move_publish_claims(set);
	if (conflict != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("%s", conflict),
				 errdetail("A tablespace is shared by all databases, which must agree on its tier."),
				 errhint("Use tiered_storage.alter_tier() in one of them.")));
	record_evaluations(evaluations, npolicies);
	SPI_commit();

	/* 3. Act. */
	for (int i = 0; i < njobs; i++)
	{
		run_job(&jobs[i], set, backoff, nbackoff, by_worker, &summary);
		if (between_moves != NULL)
			between_moves();
	}

	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return summary;
}
