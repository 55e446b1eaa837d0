/*-------------------------------------------------------------------------
 *
 * base/debug.c
 *		Points at which tests stop a mover, make it fail, or disable a rule.
 *
 * A stop point takes and releases an advisory lock.  A test holds the lock to stop the
 * process, sees in pg_locks that the process waits, and releases the lock to let it continue.
 * No timing is involved, and the isolation tester recognizes a session that waits for such a
 * lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/base/debug.h"

#ifdef TIER_DEBUG

#include <limits.h>
#include <signal.h>

#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "src/compat.h"

/* First key of the advisory locks: 'tier'. */
#define LOCK_CLASS 0x74696572

PG_FUNCTION_INFO_V1(tier_debug_point_key);

int			tier_debug_lock_attempts = -1;
int			tier_debug_lock_hold_limit_ms = -1;
int			tier_debug_lag_timeout_s = -1;
int			tier_debug_tracked_relations = -1;
int			tier_debug_track_group = -1;
int			tier_debug_counters_lag_ms = -1;

static char *debug_skip = NULL;
static char *debug_fault = NULL;
static char *debug_relation = NULL;
static char *debug_root = NULL;

static int32
point_key(const char *name)
{
	Datum		hash = hash_any((const unsigned char *) name, (int) strlen(name));

	return (int32) (DatumGetUInt32(hash) & 0x7FFFFFFF);
}

/* For tests: SELECT pg_advisory_lock(1953064306, key('copied')). */
Datum
tier_debug_point_key(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(point_key(text_to_cstring(PG_GETARG_TEXT_PP(0))));
}

void
tier_debug_point(const char *name)
{
	LOCKTAG		tag;
	char	   *kind;
	size_t		length = strlen(name);

	/* Tests beside which movers run must not see their locks. */
	if (tier_debug_skips("points"))
		return;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, LOCK_CLASS, (uint32) point_key(name), 2);
	if (LockAcquire(&tag, ExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
	{
		int			save_nestlevel = NewGUCNestLevel();

		(void) set_config_option("lock_timeout", "0", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
		(void) LockAcquire(&tag, ExclusiveLock, true, false);
		AtEOXact_GUC(true, save_nestlevel);
	}
	LockRelease(&tag, ExclusiveLock, true);

	if (debug_fault == NULL || strncmp(debug_fault, name, length) != 0 ||
		debug_fault[length] != ':')
		return;
	kind = debug_fault + length + 1;
	if (strcmp(kind, "error") == 0)
		elog(ERROR, "fault at \"%s\"", name);
	else if (strcmp(kind, "fatal") == 0)
		elog(FATAL, "fault at \"%s\"", name);
	else if (strcmp(kind, "kill") == 0)
		kill(MyProcPid, SIGKILL);
	else
		elog(ERROR, "unknown fault \"%s\"", kind);
}

void
tier_debug_relation(const char *step, Oid relation_oid)
{
	char	   *name;

	if (debug_relation == NULL || debug_relation[0] == '\0')
		return;
	name = get_rel_name(relation_oid);
	if (name != NULL && strstr(psprintf(",%s,", debug_relation),
							   psprintf(",%s:%s,", step, name)) != NULL)
		elog(ERROR, "fault in %s of \"%s\"", step, name);
}

bool
tier_debug_skips(const char *rule)
{
	const char *found = debug_skip == NULL ? NULL : strstr(debug_skip, rule);

	return found != NULL;
}

const char *
tier_debug_root(void)
{
	return debug_root == NULL ? "" : debug_root;
}

static void
define_constant(const char *name, int *value, GucContext context, int unit)
{
	DefineCustomIntVariable(name, "Sets a constant to another value, if not negative.", NULL,
							value, -1, -1, INT_MAX, context,
							GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | unit, NULL, NULL, NULL);
}

void
tier_debug_init(void)
{
	define_constant("tiered_storage.debug_lock_attempts", &tier_debug_lock_attempts,
					PGC_USERSET, 0);
	define_constant("tiered_storage.debug_lock_hold_limit", &tier_debug_lock_hold_limit_ms,
					PGC_USERSET, GUC_UNIT_MS);
	define_constant("tiered_storage.debug_counters_lag", &tier_debug_counters_lag_ms,
					PGC_SIGHUP, GUC_UNIT_MS);
	define_constant("tiered_storage.debug_lag_timeout", &tier_debug_lag_timeout_s,
					PGC_SUSET, GUC_UNIT_S);
	define_constant("tiered_storage.debug_track_group", &tier_debug_track_group, PGC_SUSET, 0);
	define_constant("tiered_storage.debug_tracked_relations", &tier_debug_tracked_relations,
					process_shared_preload_libraries_in_progress ? PGC_POSTMASTER : PGC_SIGHUP,
					0);
	DefineCustomStringVariable("tiered_storage.debug_root",
							   "Sets where samples look for /proc and /sys of devices.",
							   NULL, &debug_root, "", PGC_SUSET,
							   GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomStringVariable("tiered_storage.debug_skip",
							   "Names rules of the mover that are not to be followed.",
							   NULL, &debug_skip, "", PGC_SUSET,
							   GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomStringVariable("tiered_storage.debug_fault",
							   "Names a point of the mover, and what happens there.",
							   "\"point:error\", \"point:fatal\" or \"point:kill\".",
							   &debug_fault, "", PGC_SUSET,
							   GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomStringVariable("tiered_storage.debug_relation",
							   "Names steps that fail, and the relations of which they fail.",
							   NULL, &debug_relation, "", PGC_SUSET,
							   GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}

#endif
