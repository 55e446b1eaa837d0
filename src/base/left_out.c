/*-------------------------------------------------------------------------
 *
 * base/left_out.c
 *		Relations that a step leaves out, because of an error about them alone.
 *
 * What is remembered is in shared memory (TierLeftOut, under tier_shmem->lock), since a worker
 * ends with its cycle.  Only the worker of a database writes its entries.  A pass copies what it
 * needs when it begins, so that the lock is not taken for each relation.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/base/sql.h"

/* So many are named in the view workers. */
#define MOST_NAMED 5

static bool is_worker = false;

static const char *const step_names[] = {
	[TIER_STEP_IDENTIFY] = "search for renamed relations",
	[TIER_STEP_SAMPLE] = "sample",
	[TIER_STEP_EVALUATE] = "evaluation",
	[TIER_STEP_PLAN] = "plan",
	[TIER_STEP_MOVE] = "move",
	[TIER_STEP_VERIFY] = "verification",
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

void
tier_pass_begin(TierPass *pass, TierStep step)
{
	pass->step = step;
	pass->began_at = GetCurrentTimestamp();
	pass->nknown = pass->nfailed = 0;
	if (!is_worker || tier_shmem == NULL)
		return;
	LWLockAcquire(tier_shmem->lock, LW_SHARED);
	for (int i = 0; i < TIER_MAX_LEFT_OUT; i++)
	{
		const TierLeftOut *entry = &tier_shmem->left_out[i];

		if (entry->database_oid == MyDatabaseId && entry->step == step)
			pass->known[pass->nknown++] = (TierKnownFailure)
		{
			entry->relation_oid, entry->next_try_at > pass->began_at
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

/* The entry of this database, or a free one; NULL: all are taken.  The lock is held. */
static TierLeftOut *
find_entry(TierStep step, Oid relation_oid)
{
	TierLeftOut *free_entry = NULL;

	for (int i = 0; i < TIER_MAX_LEFT_OUT; i++)
	{
		TierLeftOut *entry = &tier_shmem->left_out[i];

		if (entry->database_oid == MyDatabaseId && entry->relation_oid == relation_oid &&
			entry->step == step)
			return entry;
		if (free_entry == NULL && !OidIsValid(entry->database_oid))
			free_entry = entry;
	}
	return free_entry;
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
	TimestampTz now = GetCurrentTimestamp();
	TierLeftOut *entry;

	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	entry = find_entry(pass->step, relation_oid);
	if (entry != NULL)
	{
		int			failures = OidIsValid(entry->database_oid) ? entry->failures + 1 : 1;

		entry->database_oid = MyDatabaseId;
		entry->relation_oid = relation_oid;
		entry->step = pass->step;
		entry->failures = Min(failures, 1000);
		entry->next_try_at = TimestampTzPlusMilliseconds(now, tier_left_out_backoff_ms(failures));
		copy_clipped(entry->name, name, TIER_LEFT_OUT_NAME_LENGTH);
		copy_clipped(entry->error, message, TIER_ERROR_LENGTH);
	}
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

/* What has failed in this pass alone has failed because of something else. */
static void
forget_new(const TierPass *pass)
{
	LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
	for (int i = 0; i < TIER_MAX_LEFT_OUT; i++)
	{
		TierLeftOut *entry = &tier_shmem->left_out[i];

		if (entry->database_oid == MyDatabaseId && entry->step == pass->step &&
			entry->next_try_at > pass->began_at && !tier_pass_skips(pass, entry->relation_oid))
			entry->database_oid = InvalidOid;
	}
	LWLockRelease(tier_shmem->lock);
}

char *
tier_pass_failed(TierPass *pass, Oid relation_oid, const char *name, ErrorData *error)
{
	char	   *message;

	if (tier_error_is_about_all(error))
		ReThrowError(error);
	if (++pass->nfailed > TIER_MOST_LEFT_OUT)
	{
		if (is_worker && tier_shmem != NULL)
			forget_new(pass);
		ReThrowError(error);
	}
	if (OidIsValid(relation_oid))
		name = name_of(relation_oid);
	message = pstrdup(error->message);
	ereport(is_worker ? LOG : WARNING,
			(errcode(error->sqlerrcode),
			 errmsg("%s left out of the %s: %s", name, step_names[pass->step], message),
			 error->detail == NULL ? 0 : errdetail_internal("%s", error->detail),
			 error->hint == NULL ? 0 : errhint("%s", error->hint)));
	if (is_worker && tier_shmem != NULL)
		remember(pass, relation_oid, name, message);
	FreeErrorData(error);
	return message;
}

void
tier_pass_end(TierPass *pass)
{
	for (int i = 0; i < pass->nknown; i++)
	{
		TierLeftOut *entry;

		if (pass->known[i].is_backed_off)
			continue;
		LWLockAcquire(tier_shmem->lock, LW_EXCLUSIVE);
		entry = find_entry(pass->step, pass->known[i].relation_oid);
		if (entry != NULL && entry->next_try_at <= pass->began_at)
			entry->database_oid = InvalidOid;
		LWLockRelease(tier_shmem->lock);
	}
	pass->nknown = 0;
}

int
tier_left_out_describe(const TierShmem *shared, Oid database_oid, char **description)
{
	StringInfoData buf;
	int			n = 0;

	initStringInfo(&buf);
	for (int i = 0; i < TIER_MAX_LEFT_OUT; i++)
	{
		const TierLeftOut *entry = &shared->left_out[i];

		if (!OidIsValid(entry->database_oid) || entry->database_oid != database_oid)
			continue;
		if (n++ < MOST_NAMED)
			appendStringInfo(&buf, "%s%s (%s): %s", n == 1 ? "" : "; ",
							 tier_foreign_text(entry->name), step_names[entry->step],
							 tier_foreign_text(entry->error));
	}
	if (n > MOST_NAMED)
		appendStringInfo(&buf, "; and %d more", n - MOST_NAMED);
	*description = n == 0 ? NULL : buf.data;
	return n;
}
