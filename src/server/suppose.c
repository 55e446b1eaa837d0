/*-------------------------------------------------------------------------
 *
 * server/suppose.c
 *		Relations that this session plans as if they were in other tablespaces.
 *
 * The planner takes the costs of a page from the tablespace that the catalogs name for
 * a table and for each of its indexes.  A hook replaces it in the planner's own copy,
 * after other hooks, which may add hypothetical indexes; these are supposed to be where
 * their table is.  Nothing else reads that field, so no plan touches another file.
 *
 * What is supposed is the value of a setting that nobody can SET and no list shows.
 * So it ends as settings do, with rolled back transactions, by DISCARD ALL of a
 * connection pool, after functions with SECURITY_RESTRICTED_OPERATION, and parallel
 * workers, which may plan what functions execute, have the same.  The hook is
 * installed by the first supposition: other sessions never pay for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "lib/stringinfo.h"
#include "nodes/pathnodes.h"
#include "utils/guc.h"
#include "utils/plancache.h"
#include "utils/syscache.h"

#include "src/compat.h"
#include "src/server/suppose.h"

#define SETTING "tiered_storage.supposed"

/* What the check hook makes of the value "relation:tablespace,..."; the setting owns it. */
typedef struct Supposed
{
	int			n;
	TierSupposition entries[FLEXIBLE_ARRAY_MEMBER]; /* by relation */
}			Supposed;

static char *setting = NULL;
static const Supposed *supposed = NULL; /* NULL: nothing is */
static bool may_change = false; /* it is tier_suppose() that sets it */

static TierCompatRelationHook previous_hook = NULL;
static bool has_hook = false;

static int
compare_relations(const void *a, const void *b)
{
	Oid			left = ((const TierSupposition *) a)->relation_oid;
	Oid			right = ((const TierSupposition *) b)->relation_oid;

	return left < right ? -1 : left > right;
}

static const TierSupposition *
find(const TierSupposition *entries, int n, Oid relation_oid)
{
	TierSupposition key = {.relation_oid = relation_oid};

	return n == 0 ? NULL : bsearch(&key, entries, n, sizeof(key), compare_relations);
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

static bool
check_setting(char **new_value, void **extra, GucSource source)
{
	Supposed   *made;
	int			n = 0;

	if (**new_value == '\0')
		return true;
	if (!may_change && !InitializingParallelWorker)
	{
		GUC_check_errhint("tiered_storage.suppose() supposes something, suppose_reset() ends it.");
		return false;
	}
	for (const char *at = *new_value; at != NULL; at = strchr(at + 1, ','))
		n++;
	made = tier_compat_setting_extra(offsetof(Supposed, entries) + sizeof(TierSupposition) * n);
	if (made == NULL)
		return false;
	made->n = 0;
	for (const char *at = *new_value; made->n < n && at != NULL; at = strchr(at, ','))
	{
		TierSupposition *entry = &made->entries[made->n++];

		at += *at == ',';
		if (sscanf(at, "%u:%u", &entry->relation_oid, &entry->tablespace_oid) != 2)
			elog(ERROR, "invalid value of " SETTING);
	}
	*extra = made;
	return true;
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
	DefineCustomStringVariable(SETTING, "Holds what tiered_storage.suppose() has supposed.", NULL,
							   &setting, "", PGC_USERSET,
							   GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE,
							   check_setting, assign_setting, NULL);
}

/*
 * Adds what is supposed already and not said anew, but for relations that have been dropped
 * since, to the first n entries.  Returns how many there are.
 */
static int
add_earlier(TierSupposition *entries, int n)
{
	int			all = n;

	for (int i = 0; supposed != NULL && i < supposed->n; i++)
	{
		Oid			relation_oid = supposed->entries[i].relation_oid;

		if (find(entries, n, relation_oid) == NULL &&
			SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation_oid)))
			entries[all++] = supposed->entries[i];
	}
	qsort(entries, all, sizeof(TierSupposition), compare_relations);
	return all;
}

void
tier_suppose(const TierSupposition *entries, int n, bool instead)
{
	int			room = Max(n + (supposed == NULL ? 0 : supposed->n), 1);
	TierSupposition *all = palloc(sizeof(TierSupposition) * room);
	StringInfoData value;

	for (int i = 0; i < n; i++)
		all[i] = entries[i];
	qsort(all, n, sizeof(TierSupposition), compare_relations);
	if (!instead)
		n = add_earlier(all, n);
	if (n > TIER_MOST_SUPPOSITIONS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a session cannot suppose the tiers of more than %d relations",
						TIER_MOST_SUPPOSITIONS),
				 errhint("tiered_storage.suppose_reset() ends all suppositions.")));
	initStringInfo(&value);
	for (int i = 0; i < n; i++)
		appendStringInfo(&value, "%s%u:%u", i == 0 ? "" : ",", all[i].relation_oid,
						 all[i].tablespace_oid);
	may_change = true;
	PG_TRY();
	{
		(void) set_config_option(SETTING, value.data, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SET,
								 true, 0, false);
	}
	PG_FINALLY();
	{
		may_change = false;
	}
	PG_END_TRY();
}

const TierSupposition *
tier_supposed(int *n)
{
	*n = supposed == NULL ? 0 : supposed->n;
	return supposed == NULL ? NULL : supposed->entries;
}
