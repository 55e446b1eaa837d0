/*-------------------------------------------------------------------------
 *
 * base/left_out.c
 *		Relations that a step leaves out, because of an error about them alone.
 *
 * Failures are remembered in the slot of the database, under tier_shmem->lock, because a
 * worker exits after its cycle.  A pass copies them when it begins, so that the lock is not
 * taken for each relation.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "src/base/attempt.h"
#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/base/sql.h"

/* Relations that the view workers names, at most. */
#define MOST_NAMED 5

static bool is_worker = false;

/* Failures that found no entry, since a pass of the step has ended. */
static int	not_remembered[TIER_STEPS];

static const char *const step_names[] = {
	[TIER_STEP_IDENTIFY] = "search for renamed relations",
	[TIER_STEP_SAMPLE] = "sample",
	[TIER_STEP_EVALUATE] = "evaluation",
	[TIER_STEP_ADVISE] = "advice",
	[TIER_STEP_PLAN] = "plan",
	[TIER_STEP_MOVE] = "move",
	[TIER_STEP_VERIFY] = "verification",
	[TIER_STEP_JUDGE] = "verdict",
};

void
tier_left_out_is_worker(void)
{
	is_worker = true;
}

int64
tier_left_out_backoff_ms(int failures)
{
	int64		interval_ms = (int64) tier_sample_interval_s * 1000;
	int64		longest_ms = Max(TIER_LONGEST_BACKOFF_MS, interval_ms);

	for (int i = 1; i < failures && interval_ms < longest_ms; i++)
		interval_ms *= 2;
	return Min(interval_ms, longest_ms);
}

/* The slot of this database, with the lock, or NULL without it. */
static TierDatabaseSlot *
lock_slot(LWLockMode mode)
{
	TierDatabaseSlot *slot;

	if (!is_worker || tier_shmem == NULL)
		return NULL;
	LWLockAcquire(tier_shmem->lock, mode);
	slot = tier_shmem_slot(MyDatabaseId, false);
	if (slot == NULL)
		LWLockRelease(tier_shmem->lock);
	return slot;
}

/* A clock that was set back puts off nothing; kinds of rows are always tried. */
static bool
is_backed_off(const TierLeftOut *entry, TimestampTz now)
{
	int64		backoff_ms = tier_left_out_backoff_ms(entry->failures);

	return entry->step != TIER_STEP_IDENTIFY && entry->failed_at <= now &&
		TimestampTzPlusMilliseconds(entry->failed_at, backoff_ms) > now;
}

void
tier_pass_begin(TierPass *pass, TierStep step)
{
	TierDatabaseSlot *slot = lock_slot(LW_SHARED);

	pass->step = step;
	pass->began_at = GetCurrentTimestamp();
	pass->nknown = pass->nfailed = 0;
	if (slot == NULL)
		return;
	for (int i = 0; i < TIER_MOST_REMEMBERED; i++)
	{
		const TierLeftOut *entry = &slot->left_out[i];

		if (entry->failures > 0 && entry->step == step)
			pass->known[pass->nknown++] = (TierKnownFailure)
		{
			entry->relation_oid, is_backed_off(entry, pass->began_at)
		};
	}
	LWLockRelease(tier_shmem->lock);
}

bool
tier_pass_skips(const TierPass *pass, Oid relation_oid)
{
	for (int i = 0; i < pass->nknown; i++)
		if (pass->known[i].relation_oid == relation_oid)
			return pass->known[i].is_backed_off;
	return false;
}

/*
 * The remembered failure of the relation.  If there is none, returns NULL, and *unused, unless
 * that is NULL, gets a free entry, or NULL.  The lock is held.
 */
static TierLeftOut *
find_entry(TierDatabaseSlot *slot, TierStep step, Oid relation_oid, TierLeftOut **unused)
{
	for (int i = 0; i < TIER_MOST_REMEMBERED; i++)
	{
		TierLeftOut *entry = &slot->left_out[i];

		if (entry->failures > 0 && entry->relation_oid == relation_oid && entry->step == step)
			return entry;
		if (entry->failures == 0 && unused != NULL && *unused == NULL)
			*unused = entry;
	}
	return NULL;
}

static void
copy_clipped(char *to, const char *from, int size)
{
	int			length = pg_mbcliplen(from, (int) strlen(from), size - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

static void
remember(const TierPass *pass, Oid relation_oid, const char *name, const char *message)
{
	TierDatabaseSlot *slot = lock_slot(LW_EXCLUSIVE);
	TierLeftOut *unused = NULL;
	TierLeftOut *entry;

	if (slot == NULL)
		return;
	entry = find_entry(slot, pass->step, relation_oid, &unused);
	if (entry == NULL)
		entry = unused;
	if (entry != NULL)
	{
		/* However often it fails in one pass, the pass has failed once. */
		if (entry->failures == 0 || entry->failed_at < pass->began_at)
			entry->failures = Min(entry->failures + 1, 1000);
		entry->step = pass->step;
		entry->relation_oid = relation_oid;
		entry->failed_at = GetCurrentTimestamp();
		copy_clipped(entry->name, name, TIER_LEFT_OUT_NAME_LENGTH);
		copy_clipped(entry->error, message, TIER_LEFT_OUT_ERROR_LENGTH);
	}
	else
		not_remembered[pass->step]++;
	LWLockRelease(tier_shmem->lock);
}

static const char *
name_of(Oid relation_oid)
{
	char	   *name = get_rel_name(relation_oid);
	char	   *schema = name == NULL ? NULL :
	get_namespace_name(get_rel_namespace(relation_oid));

	return schema == NULL ? psprintf("relation %u", relation_oid) :
		quote_qualified_identifier(schema, name);
}

bool
tier_error_is_about_all(const ErrorData *error)
{
	switch (ERRCODE_TO_CATEGORY(error->sqlerrcode))
	{
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_INVALID_TRANSACTION_STATE:
			return true;
		default:
			return false;
	}
}

/* A server of which everything fails fills no disk with messages. */
static void
tell(const TierPass *pass, const char *name, const ErrorData *error)
{
	int			level = is_worker ? LOG : WARNING;

	if (pass->nfailed <= TIER_MOST_TOLD)
		ereport(level,
				(errcode(error->sqlerrcode),
				 errmsg("%s left out of the %s: %s", name, step_names[pass->step],
						error->message),
				 error->detail == NULL ? 0 : errdetail_internal("%s", error->detail),
				 error->hint == NULL ? 0 : errhint("%s", error->hint)));
	else if (pass->nfailed == TIER_MOST_TOLD + 1)
		ereport(level,
				(errmsg("more than %d relations left out of the %s", TIER_MOST_TOLD,
						step_names[pass->step]),
				 errdetail("Further errors are not reported.")));
}

char *
tier_pass_failed(TierPass *pass, Oid relation_oid, const char *name, ErrorData *error)
{
	char	   *message;

	if (tier_error_is_about_all(error))
		ReThrowError(error);
	pass->nfailed++;
	if (name == NULL)
		name = name_of(relation_oid);
	message = pstrdup(error->message);
	tell(pass, name, error);
	remember(pass, relation_oid, name, message);
	FreeErrorData(error);
	return message;
}

/* The progress of tier_pass_each(). */
typedef struct EachState
{
	TierPass   *pass;
	const TierEach *each;
	int			i;
} EachState;

static void
each_step(void *argument)
{
	EachState  *state = argument;
	const TierEach *each = state->each;

	for (; state->i < each->n; state->i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (state->pass->nknown > 0 &&
			tier_pass_skips(state->pass, each->relation_of(each->argument, state->i)))
			each->leave_out(each->argument, state->i,
							pstrdup("it has failed, and is tried again later"));
		else
			each->step(each->argument, state->i);
	}
}

void
tier_pass_each(TierPass *pass, const TierEach *each)
{
	EachState	state = {.pass = pass,.each = each};
	ErrorData  *error;

	while ((error = tier_attempt(each_step, &state)) != NULL)
	{
		Oid			relation_oid;

		if (state.i >= each->n)
			ReThrowError(error);
		relation_oid = each->relation_of(each->argument, state.i);
		each->leave_out(each->argument, state.i,
						tier_pass_failed(pass, relation_oid, NULL, error));
		state.i++;
	}
}

void
tier_pass_end(TierPass *pass)
{
	TierDatabaseSlot *slot = lock_slot(LW_EXCLUSIVE);

	if (slot == NULL)
		return;
	for (int i = 0; i < pass->nknown; i++)
	{
		TierLeftOut *entry = find_entry(slot, pass->step, pass->known[i].relation_oid, NULL);

		if (entry != NULL && !pass->known[i].is_backed_off && entry->failed_at < pass->began_at)
			entry->failures = 0;
	}
	slot->not_remembered[pass->step] = not_remembered[pass->step];
	LWLockRelease(tier_shmem->lock);
	pass->nknown = 0;
	not_remembered[pass->step] = 0;
}

int
tier_left_out_describe(const TierDatabaseSlot *slot, char **description)
{
	StringInfoData buf;
	int			nnamed = 0;
	int			nothers = 0;

	initStringInfo(&buf);
	for (int i = 0; i < TIER_MOST_REMEMBERED; i++)
	{
		const TierLeftOut *entry = &slot->left_out[i];

		if (entry->failures == 0)
			continue;
		if (nnamed == MOST_NAMED)
		{
			nothers++;
			continue;
		}
		appendStringInfo(&buf, "%s%s (%s): %s", nnamed++ == 0 ? "" : "; ",
						 tier_foreign_text(entry->name), step_names[entry->step],
						 tier_foreign_text(entry->error));
	}
	for (int i = 0; i < TIER_STEPS; i++)
		nothers += slot->not_remembered[i];
	if (nothers > 0)
		appendStringInfo(&buf, "%s%d more", nnamed == 0 ? "" : "; and ", nothers);
	*description = nnamed + nothers == 0 ? NULL : buf.data;
	return nnamed + nothers;
}
