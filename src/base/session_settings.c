/*-------------------------------------------------------------------------
 *
 * base/session_settings.c
 *		Isolation of the extension from settings of databases, roles and sessions.
 *
 * See base/session_settings.h.  The owner of a database may set for it any setting that a
 * session may set, and does not know which of them the extension relies on.  A list of
 * settings would be incomplete with each new release of the server.  So settings are chosen by
 * group, and get their built-in values.
 *
 * These settings keep the value of the session: timeouts; the user; settings that are reported
 * to the client, of which client_encoding and TimeZone define the format of results; message
 * levels; memory and I/O; tiered_storage.*, which are for callers; and lc_* and
 * default_text_search_config, which are slow to set and on which no statement of the extension
 * depends.
 *
 * The server reports a setting to the client before it waits for the next command,
 * not when it changes.  So DateStyle may have another value during a call.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_proc.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/guc_tables.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "src/compat.h"
#include "src/base/session_settings.h"

/* Settings that get another value than the built-in one, or belong to none of the groups. */
static const char *const own_values[][2] = {
	{"DateStyle", "ISO, MDY"},
	{"IntervalStyle", "postgres"},
	{"extra_float_digits", "1"},
	{"standard_conforming_strings", "on"},
	{"zero_damaged_pages", "off"},	/* a damaged page is never copied */
	{"ignore_checksum_failure", "off"},
	{"row_security", "off"},	/* rather an error than fewer rows */
	{"session_replication_role", "origin"}, /* our keys and triggers count */
	{"stats_fetch_consistency", "none"},	/* as it is, not as the
											 * transaction has seen it before */
	{"jit", "off"},				/* small tables, many expressions */
	{"max_parallel_workers_per_gather", "0"},
	{"client_min_messages", NULL},	/* the caller's */
	{"search_path", NULL},		/* each function's, and catalog/tables.c's */
};

typedef struct FixedSetting
{
	const struct config_generic *setting;
	const char *value;
	bool		is_default;		/* it has the value, unless it was set */
} FixedSetting;

/* Those that are fixed; made at the first use in a process. */
static FixedSetting *fixed = NULL;
static int	nfixed = 0;

/* The value of a setting before the process connected to its database. */
typedef struct RememberedSetting
{
	const struct config_generic *setting;
	char	   *value;			/* NULL: it is not to be set back */
} RememberedSetting;

static RememberedSetting *remembered = NULL;
static int	nremembered = 0;

PG_FUNCTION_INFO_V1(tier_load_library_sql);

static fmgr_hook_type next_fmgr_hook = NULL;

/* ---------------------------------------------------------------------
 * Fixed values
 * ---------------------------------------------------------------------
 */

static bool
is_in_group(const struct config_generic *setting)
{
	switch (setting->group)
	{
		case QUERY_TUNING_METHOD:
		case QUERY_TUNING_COST:
		case QUERY_TUNING_GEQO:
		case QUERY_TUNING_OTHER:
		case CLIENT_CONN_STATEMENT:
		case CLIENT_CONN_OTHER:
		case COMPAT_OPTIONS_PREVIOUS:
		case TIER_COMPAT_OPTIONS_OTHER:
		case ERROR_HANDLING_OPTIONS:
		case DEVELOPER_OPTIONS:
			return true;
		case CUSTOM_OPTIONS:
			return strncmp(setting->name, "plpgsql.", strlen("plpgsql.")) == 0;
		default:
			return false;
	}
}

/* The value that the setting has in our work, or NULL for that of the session. */
static const char *
fixed_value(struct config_generic *setting)
{
	for (int i = 0; i < (int) lengthof(own_values); i++)
		if (strcmp(setting->name, own_values[i][0]) == 0)
			return own_values[i][1];
	if (setting->context != PGC_USERSET || !is_in_group(setting) ||
		(setting->flags & (GUC_UNIT_TIME | GUC_REPORT | GUC_NO_RESET_ALL |
						   GUC_CUSTOM_PLACEHOLDER)) != 0)
		return NULL;
	return tier_compat_boot_value(setting);
}

static void
choose_settings(void)
{
	MemoryContext context = MemoryContextSwitchTo(TopMemoryContext);
	struct config_generic **settings;
	FixedSetting *chosen;
	int			n;
	int			nchosen = 0;

	/* Before it is loaded, its settings are strings without a meaning. */
	load_file("$libdir/plpgsql", false);
	settings = tier_compat_guc_variables(&n);
	chosen = palloc(sizeof(FixedSetting) * n);
	for (int i = 0; i < n; i++)
	{
		const char *value = fixed_value(settings[i]);
		const char *boot_value = value == NULL ? NULL : tier_compat_boot_value(settings[i]);

		if (value == NULL)
			continue;
		chosen[nchosen].setting = settings[i];
		chosen[nchosen].value = value;
		chosen[nchosen].is_default = boot_value != NULL && strcmp(value, boot_value) == 0;
		nchosen++;
	}
	MemoryContextSwitchTo(context);
	nfixed = nchosen;
	fixed = chosen;
}

void
tier_settings_fix_at(const char *name, const char *value, GucAction action)
{
	if (strcmp(GetConfigOption(name, false, false), value) != 0)
		(void) set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, action, true, 0, false);
}

void
tier_settings_fix(GucAction action)
{
	if (fixed == NULL)
		choose_settings();
	for (int i = 0; i < nfixed; i++)
	{
		const char *name = fixed[i].setting->name;

		if (fixed[i].is_default && fixed[i].setting->source == PGC_S_DEFAULT)
			continue;

		/*
		 * Cost settings of the whole server stay: costs are compared with
		 * those of all plans.
		 */
		if (fixed[i].setting->group == QUERY_TUNING_COST &&
			fixed[i].setting->source <= PGC_S_ARGV)
			continue;
		tier_settings_fix_at(name, fixed[i].value, action);
	}
}

/* ---------------------------------------------------------------------
 * Functions in SQL and PL/pgSQL
 * ---------------------------------------------------------------------
 */

/*
 * Returns true for a function of the extension with SET clauses, which runs in a GUC nest
 * level that ends with it.
 */
static bool
is_our_function(Oid function_oid)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function_oid));
	bool		has_settings;
	char	   *schema;
	bool		is_ours;

	if (!HeapTupleIsValid(tuple))
		return false;
	has_settings = !heap_attisnull(tuple, Anum_pg_proc_proconfig, NULL);
	schema = get_namespace_name(((Form_pg_proc) GETSTRUCT(tuple))->pronamespace);
	ReleaseSysCache(tuple);
	if (schema == NULL)
		return false;
	is_ours = has_settings &&
		(strcmp(schema, "tiered_storage") == 0 || strcmp(schema, "_tiered_storage") == 0);
	pfree(schema);
	return is_ours;
}

/* The settings of the function itself are in force, its body has not begun. */
static void
function_hook(FmgrHookEventType event, FmgrInfo *function, Datum *argument)
{
	if (event == FHET_START && is_our_function(function->fn_oid))
		tier_settings_fix(GUC_ACTION_SAVE);
	if (next_fmgr_hook != NULL)
		next_fmgr_hook(event, function, argument);
}

void
tier_settings_init(void)
{
	next_fmgr_hook = fmgr_hook;
	fmgr_hook = function_hook;
}

/* Support of the planner for these functions, of which it makes nothing: see 89_library.sql. */
Datum
tier_load_library_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(NULL);
}

/* ---------------------------------------------------------------------
 * A worker
 * ---------------------------------------------------------------------
 */

void
tier_settings_remember(void)
{
	MemoryContext context = MemoryContextSwitchTo(TopMemoryContext);
	struct config_generic **settings;

	load_file("$libdir/plpgsql", false);
	settings = tier_compat_guc_variables(&nremembered);
	remembered = palloc(sizeof(RememberedSetting) * nremembered);
	for (int i = 0; i < nremembered; i++)
	{
		const char *value = GetConfigOption(settings[i]->name, true, false);

		/* The session's user takes a transaction, and is not known yet. */
		if (strcmp(settings[i]->name, "session_authorization") == 0)
			value = NULL;
		remembered[i].setting = settings[i];
		remembered[i].value = value == NULL ? NULL : pstrdup(value);
	}
	MemoryContextSwitchTo(context);
}

/*
 * As at the start of the server, but for reloads: the source that a file has is too weak
 * to take the place of a database's.
 */
void
tier_settings_restore(void)
{
	for (int i = 0; i < nremembered; i++)
	{
		const struct config_generic *setting = remembered[i].setting;

		if (remembered[i].value == NULL || setting->source < PGC_S_GLOBAL ||
			setting->source > PGC_S_DATABASE_USER)
			continue;
		(void) set_config_option(setting->name, remembered[i].value, PGC_SUSET,
								 PGC_S_OVERRIDE, GUC_ACTION_SET, true, LOG, false);
	}
	SetSessionAuthorization(BOOTSTRAP_SUPERUSERID, true);
}
