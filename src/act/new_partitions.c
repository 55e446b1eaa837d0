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
#include "utils/snapmgr.h"

#include "src/compat.h"
#include "src/act/gate.h"
#include "src/act/new_partitions.h"
#include "src/act/patience.h"
#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/base/transaction.h"
#include "src/move/throttle.h"

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

/*
 * What is set and what is remembered of it are true together, or neither: without the
 * extension, an error undoes it.
 */
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
	if (job->result != TIER_MOVE_DONE)
		return;
	tier_catalog_enter(&scope);
	if (gives_back(place))
		tier_catalog_note_given_back(&row);
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
	TierPartitionDefault remembered = {place->info.relation_oid, place->before_oid,
	place->set_oid};
	TierCatalogScope scope;

	tier_catalog_enter(&scope);
	if (place->state == TIER_BIRTH_FORGET)
		tier_catalog_forget_unchanged_default(&remembered);
	else
		tier_catalog_note_new_default(&row);
	tier_catalog_leave(&scope);
}

static bool
is_to_be_noted(const TierBirthplace *place)
{
	return place->state == TIER_BIRTH_IN_FORCE && !place->is_remembered &&
		place->policy->is_enabled;
}

/* Is it to be set as it was found, by the same policy and with the rights of the same role? */
static bool
is_same(const TierBirthplace *place, const TierBirthplace *now)
{
	if (now->state != place->state || now->to_tablespace != place->to_tablespace ||
		now->before_oid != place->before_oid ||
		now->info.tablespace_oid != place->info.tablespace_oid)
		return false;
	if (place->policy == NULL || now->policy == NULL)
		return place->policy == now->policy;
	return now->policy->policy_id == place->policy->policy_id &&
		now->policy->is_enabled == place->policy->is_enabled &&
		now->policy->created_by == place->policy->created_by;
}

/*
 * While others were waited for, policies may have been altered, their tiers given other
 * tablespaces, and the table put elsewhere: it is decided again, for this one.
 */
static bool
decide_again(const TierBirthplace *place)
{
	MemoryContext context = CurrentMemoryContext;
	const TierBirthplace *now;
	TierCatalogScope scope;
	TierSet    *set;
	TierPolicyRow *policies;
	TierPartitionDefault *defaults;
	int			npolicies;
	int			ndefaults;

	if (!tier_catalog_try_enter(&scope))
		return false;
	set = tier_catalog_load_tiers(context);
	policies = tier_catalog_load_policies(context, &npolicies);
	defaults = tier_catalog_load_partition_defaults(context, &ndefaults);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	PushActiveSnapshot(GetTransactionSnapshot());
	now = tier_birthplace_find(policies, npolicies, set, defaults, ndefaults, &place->info);
	PopActiveSnapshot();
	return now != NULL && is_same(place, now);
}

/* Afterwards nothing is locked, neither by this nor by what was asked before. */
static bool
still_wanted(const TierBirthplace *place)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "tiered_storage new partitions",
												  ALLOCSET_DEFAULT_SIZES);
	bool		wanted;

	MemoryContextSwitchTo(context);
	wanted = decide_again(place);
	tier_transaction_commit();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return wanted;
}

/*
 * Why it is not set now, in words; NULL: nothing speaks against it.  Nobody has to bear an
 * error for a window, nor for a pause, which are for moves: this one moves nothing.  So it
 * waits for no pressure, either: what is created in the wrong place has to be moved later.
 */
static const char *
why_waiting(const TierBirthplace *place, const TierSet *set, bool ignore_windows)
{
	TierMoveStart start;

	if (place->is_urgent)
		return NULL;
	if (tier_throttle_is_paused())
		return "waiting for tiered_storage.resume(), as moves are paused";
	if (ignore_windows)
		return NULL;
	start = tier_gate_ask_windows(set);
	return start.may_begin ? NULL : start.reason;
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
			 error == NULL || error->detail == NULL ? 0 :
			 errdetail_internal("%s", error->detail),
			 errhint("It is tried again by the worker, or by the next "
					 "CALL tiered_storage.migrate().")));
}

static void
note(TierBirthplace *place, bool by_worker)
{
	MemoryContext context = CurrentMemoryContext;
	ErrorData  *error = tier_attempt(note_step, place);

	tier_transaction_commit();
	MemoryContextSwitchTo(context);
	if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	if (error != NULL)
		ereport(by_worker ? LOG : WARNING,
				(errcode(error->sqlerrcode),
				 errmsg("could not remember where new partitions of %s are created: %s",
						text_of(place), error->message),
				 error->detail == NULL ? 0 : errdetail_internal("%s", error->detail),
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

/* What a run has not set, as it has to wait. */
typedef struct Waiting
{
	int			n;
	const TierBirthplace *first;
	const char *why;			/* of the first */
} Waiting;

static void
report_waiting(const Waiting *waiting)
{
	if (waiting->n == 0)
		return;
	ereport(NOTICE,
			(errmsg("where new partitions of %s%s are created is not set now",
					text_of(waiting->first), waiting->n == 1 ? "" :
					psprintf(" and of %d more", waiting->n - 1)),
			 errdetail("%c%s.", pg_toupper((unsigned char) waiting->why[0]), waiting->why + 1),
			 tier_throttle_is_paused() ? 0 :
			 errhint("CALL tiered_storage.migrate(ignore_windows => true) does not wait.")));
}

static void
run_jobs(const TierBirthplace *places, int n, const TierSet *set, bool by_worker,
		 bool ignore_windows)
{
	TierPatience patience = {.context = CurrentMemoryContext};
	Waiting		waiting = {0};

	for (int i = 0; i < n; i++)
	{
		Job			job = {&places[i], TIER_MOVE_GONE};
		Oid			owner_oid = places[i].info.owner_oid;
		int64		begun_at_us = tier_clock_monotonic_us();
		const char *why;

		CHECK_FOR_INTERRUPTS();
		if (!is_to_be_set(&places[i]) ||
			(tier_patience_is_over(&patience, owner_oid) &&
			 tier_relation_count_lockers(places[i].info.relation_oid) > 0))
			continue;
		if (by_worker && tier_auto_migrate == TIER_AUTO_MIGRATE_OFF)
			return;
		why = why_waiting(&places[i], set, ignore_windows);
		if (why != NULL)
		{
			if (waiting.n++ == 0)
				waiting.why = why;
			waiting.first = waiting.first != NULL ? waiting.first : &places[i];
			continue;
		}
		if (run_job(&job, by_worker))
			tier_patience_spend(&patience, owner_oid,
								(double) (tier_clock_monotonic_us() - begun_at_us) / 1000.0);
	}
	if (!by_worker)
		report_waiting(&waiting);
}

/*
 * What is below a relation whose tablespace was set, and has the same one, is taken for
 * created since then, unless it is remembered: so it is remembered before anything is set,
 * and forgotten after that.
 */
void
tier_new_partitions_run(TierBirthplace *places, int n, const TierSet *set,
						bool by_worker, bool ignore_windows)
{
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_to_be_noted(&places[i]))
			note(&places[i], by_worker);
	}
	run_jobs(places, n, set, by_worker, ignore_windows);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (places[i].state == TIER_BIRTH_FORGET)
			note(&places[i], by_worker);
	}
}

void
tier_new_partitions_announce(const TierBirthplace *places, int n, const TierSet *set,
							 bool ignore_windows)
{
	for (int i = 0; i < n; i++)
	{
		const char *why;
		char	   *name;

		if (!is_to_be_set(&places[i]))
			continue;
		why = why_waiting(&places[i], set, ignore_windows);
		name = get_tablespace_name(places[i].to_tablespace);
		ereport(NOTICE,
				(errmsg("would create new partitions of %s in tablespace \"%s\"",
						text_of(&places[i]), name == NULL ? "?" : name),
				 why == NULL ? 0 : errdetail("Now it would be %s.", why)));
	}
}

const char *
tier_new_partitions_outlook(const TierBirthplace *place, const TierSet *set)
{
	const char *why;

	if (!is_to_be_set(place))
		return "";
	why = why_waiting(place, set, false);
	if (why != NULL)
		return psprintf("; %s", why);
	return tier_relation_holders(place->info.relation_oid) == NIL ? "" :
		"; the lock for it is not granted while the table is in use, as it is now";
}
