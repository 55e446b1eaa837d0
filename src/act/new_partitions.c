/*-------------------------------------------------------------------------
 *
 * act/new_partitions.c
 *		Setting where new partitions are created.
 *
 * The lock keeps everybody from a partitioned table, so it is asked for with nothing
 * locked, once, and no longer than that of a move.  Nobody who adds, alters or removes a
 * policy waits for it: the worker and migrate() do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "src/compat.h"
#include "src/act/gate.h"
#include "src/act/new_partitions.h"
#include "src/base/attempt.h"
#include "src/base/settings.h"
#include "src/base/transaction.h"
#include "src/move/throttle.h"

/* So many relations of one owner that are locked are waited for, as in act/migrate.c. */
#define PATIENCE_WITH_OWNER 2

typedef struct Job
{
	const TierBirthplace *place;
	TierMoveResult result;
} Job;

static bool
gives_back(const TierBirthplace *place)
{
	return place->state == TIER_BIRTH_GIVE_BACK;
}

static bool
is_to_be_set(const TierBirthplace *place)
{
	return gives_back(place) ||
		(place->state == TIER_BIRTH_PENDING && place->policy->is_enabled);
}

/* What is set and what is remembered of it are true together, or neither. */
static void
set_step(void *argument)
{
	Job		   *job = argument;
	const TierBirthplace *place = job->place;
	TierPartitionDefault row = {place->info.relation_oid, place->before_oid, place->to_tablespace};
	Oid			requester_oid = InvalidOid;
	TierCatalogScope scope;

	if (!gives_back(place))
		requester_oid = OidIsValid(place->policy->created_by) ? place->policy->created_by :
			place->info.owner_oid;
	job->result = tier_relation_set_default(place->info.relation_oid, requester_oid,
											place->info.tablespace_oid, place->to_tablespace);
	if (job->result != TIER_MOVE_DONE || !tier_catalog_try_enter(&scope))
		return;
	if (gives_back(place))
		tier_catalog_forget_partition_default(place->info.relation_oid);
	else
		tier_catalog_note_partition_default(&row);
	tier_catalog_leave(&scope);
}

/* What needs no lock: to remember what is so already, or to forget it. */
static void
note_step(void *argument)
{
	const TierBirthplace *place = argument;
	TierPartitionDefault row = {place->info.relation_oid, place->before_oid,
	place->info.tablespace_oid};
	TierCatalogScope scope;

	if (!tier_catalog_try_enter(&scope))
		return;
	if (place->state == TIER_BIRTH_FORGET)
		tier_catalog_forget_partition_default(row.relation_oid);
	else
		tier_catalog_note_partition_default(&row);
	tier_catalog_leave(&scope);
}

static bool
is_to_be_noted(const TierBirthplace *place)
{
	return place->state == TIER_BIRTH_FORGET ||
		(place->state == TIER_BIRTH_IN_FORCE && !place->is_remembered &&
		 place->policy->is_enabled);
}

static void
note(TierBirthplace *place)
{
	MemoryContext context = CurrentMemoryContext;
	ErrorData  *error = tier_attempt(note_step, place);

	tier_transaction_commit();
	MemoryContextSwitchTo(context);
	if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
}

/* Has the policy been altered, disabled or removed since it was evaluated? */
static bool
still_wanted(const TierBirthplace *place)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	bool		wanted = true;

	if (gives_back(place))
		return true;
	if (!tier_catalog_try_enter(&scope))
		return false;
	wanted = tier_catalog_policy_wants_new_partitions(place->policy);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	tier_transaction_commit();	/* releases the extension */
	return wanted;
}

static int
times_locked(const List *locked, Oid owner_oid)
{
	int			n = 0;
	ListCell   *cell;

	foreach(cell, locked)
		n += lfirst_oid(cell) == owner_oid;
	return n;
}

static const char *
text_of(const TierBirthplace *place)
{
	return place->info.kind == RELKIND_PARTITIONED_INDEX ?
		psprintf("index %s", place->info.name) : place->info.name;
}

static void
report(const TierBirthplace *place, bool by_worker)
{
	char	   *name = get_tablespace_name(place->to_tablespace);

	ereport(by_worker ? LOG : NOTICE,
			(errmsg(gives_back(place) ?
					"new partitions of %s are created in tablespace \"%s\" again" :
					"new partitions of %s are created in tablespace \"%s\"",
					text_of(place), name == NULL ? "?" : name)));
}

static void
complain(const TierBirthplace *place, const ErrorData *error, bool by_worker)
{
	ereport(by_worker ? LOG : WARNING,
			(errcode(error != NULL ? error->sqlerrcode : ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("could not set where new partitions of %s are created: %s",
					text_of(place),
					error == NULL || error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ?
					"it is in use, and the lock was not granted in time" : error->message),
			 errhint("It is tried again by the worker, or by the next "
					 "CALL tiered_storage.migrate().")));
}

/* True if it was locked, or is in use otherwise. */
static bool
run_job(Job *job, bool by_worker)
{
	MemoryContext context = CurrentMemoryContext;
	ErrorData  *error;
	bool		locked;

	if (!still_wanted(job->place))
		return false;
	error = tier_attempt(set_step, job);
	MemoryContextSwitchTo(context);
	tier_transaction_commit();
	tier_relation_release_row();
	MemoryContextSwitchTo(context);
	if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	locked = error != NULL ? error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE :
		job->result == TIER_MOVE_LOCK_TIMEOUT;
	if (error != NULL || locked)
		complain(job->place, error, by_worker);
	else if (job->result == TIER_MOVE_DONE)
		report(job->place, by_worker);
	return locked;
}

void
tier_new_partitions_run(TierBirthplace *places, int n, const TierSet *set,
						bool by_worker, bool ignore_windows)
{
	List	   *locked = NIL;

	for (int i = 0; i < n; i++)
	{
		Job			job = {&places[i], TIER_MOVE_GONE};

		CHECK_FOR_INTERRUPTS();
		if (is_to_be_noted(&places[i]))
			note(&places[i]);
		if (!is_to_be_set(&places[i]) ||
			times_locked(locked, places[i].info.owner_oid) >= PATIENCE_WITH_OWNER)
			continue;
		if (tier_throttle_is_paused() ||
			(!ignore_windows && !tier_gate_ask_any(set).may_begin) ||
			(by_worker && tier_auto_migrate == TIER_AUTO_MIGRATE_OFF))
			return;
		if (run_job(&job, by_worker))
			locked = lappend_oid(locked, places[i].info.owner_oid);
	}
}

void
tier_new_partitions_announce(const TierBirthplace *places, int n)
{
	for (int i = 0; i < n; i++)
	{
		char	   *name;

		if (!is_to_be_set(&places[i]))
			continue;
		name = get_tablespace_name(places[i].to_tablespace);
		ereport(NOTICE,
				(errmsg("would create new partitions of %s in tablespace \"%s\"",
						text_of(&places[i]), name == NULL ? "?" : name)));
	}
}
