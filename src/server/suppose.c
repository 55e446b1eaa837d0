/*-------------------------------------------------------------------------
 *
 * server/suppose.c
 *		Planning as if relations were in other tablespaces, in this session.
 *
 * The planner takes the costs of a page from the tablespace that the catalogs name for
 * a table and for each of its indexes.  A hook replaces it in the planner's own copy,
 * after other hooks, which may add hypothetical indexes; these are supposed to be where
 * their table is.  Nothing else reads that field, so no plan touches another file.
 *
 * The suppositions are the value of a setting that no list shows and nothing stores.  So they
 * end as settings do: with a rolled back transaction, by DISCARD ALL of a connection pool,
 * after functions with SECURITY_RESTRICTED_OPERATION.  Parallel workers, which may plan
 * statements of functions, have the same value.  The setting changes only costs, which a
 * session may set anyway.  The hook is installed by the first supposition: other sessions
 * never pay for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/guc.h"
#include "utils/plancache.h"

#include "src/compat.h"
#include "src/server/suppose.h"

#define SETTING "tiered_storage.supposed"

/* The parsed value "relation:tablespace,..." of the setting, which owns it. */
typedef struct Supposed
{
	int			n;
	TierSupposition entries[FLEXIBLE_ARRAY_MEMBER];
}			Supposed;

static char *setting = NULL;
static const Supposed *supposed = NULL; /* NULL: nothing is */

static TierCompatRelationHook previous_hook = NULL;
static bool has_hook = false;

static const TierSupposition *
find(const TierSupposition *entries, int n, Oid relation_oid)
{
	for (int i = 0; i < n; i++)
		if (entries[i].relation_oid == relation_oid)
			return &entries[i];
	return NULL;
}

/* Once a process has supposed something, it runs for all relations that are planned there. */
static void
plan_as_supposed(TIER_COMPAT_RELATION_HOOK_PARAMETERS)
{
	const TierSupposition *table;
	ListCell   *cell;

	if (previous_hook != NULL)
		previous_hook(TIER_COMPAT_RELATION_HOOK_ARGUMENTS);
	if (supposed == NULL)
		return;
	table = find(supposed->entries, supposed->n, TIER_COMPAT_RELATION_HOOK_OID);
	if (table != NULL)
		rel->reltablespace = table->tablespace_oid;
	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);
		const TierSupposition *own = index->hypothetical ? table :
		find(supposed->entries, supposed->n, index->indexoid);

		if (own != NULL)
			index->reltablespace = own->tablespace_oid;
	}
}

/* Nothing else than this session has it: no role, database, function or client brings it along. */
static bool
check_setting(char **new_value, void **extra, GucSource source)
{
	const char *at = *new_value;
	Supposed   *made;
	int			length;

	if (*at == '\0')
		return true;
	/* An entry has three characters at least. */
	made = source != PGC_S_SESSION ? NULL :
		tier_compat_setting_extra(offsetof(Supposed, entries) +
								  sizeof(TierSupposition) * (strlen(at) / 3 + 1));
	if (made == NULL)
		return false;
	made->n = 0;
	do
	{
		TierSupposition *entry = &made->entries[made->n++];

		if (sscanf(at, "%u:%u%n", &entry->relation_oid, &entry->tablespace_oid, &length) < 2)
			return false;
		at += length;
	} while (*at++ == ',');
	*extra = made;
	return at[-1] == '\0';
}

/* Also while a transaction aborts: it raises no error and looks nothing up. */
static void
assign_setting(const char *new_value, void *extra)
{
	if (supposed == extra)
		return;
	supposed = extra;
	if (!has_hook)
	{
		previous_hook = tier_compat_relation_hook;
		tier_compat_relation_hook = plan_as_supposed;
		has_hook = true;
	}
	ResetPlanCache();
}

void
tier_suppose_init(void)
{
	DefineCustomStringVariable(SETTING, "Holds the suppositions of suppose().", NULL,
							   &setting, "", PGC_USERSET,
							   GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE,
							   check_setting, assign_setting, NULL);
}

void
tier_suppose(const TierSupposition *entries, int n, bool instead)
{
	int			earlier = instead || supposed == NULL ? 0 : supposed->n;
	int			all = 0;
	StringInfoData value;

	initStringInfo(&value);
	for (int i = 0; i < n + earlier; i++)
	{
		const TierSupposition *entry = i < n ? &entries[i] : &supposed->entries[i - n];

		if (i < n || find(entries, n, entry->relation_oid) == NULL)
			appendStringInfo(&value, "%s%u:%u", all++ == 0 ? "" : ",", entry->relation_oid,
							 entry->tablespace_oid);
	}
	if (all > TIER_MOST_SUPPOSITIONS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a session cannot suppose the tiers of more than %d relations",
						TIER_MOST_SUPPOSITIONS),
				 errhint("tiered_storage.suppose_reset() ends all suppositions.")));
	SetConfigOption(SETTING, value.data, PGC_USERSET, PGC_S_SESSION);
}
