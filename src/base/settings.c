/*-------------------------------------------------------------------------
 *
 * base/settings.c
 *		Settings of the extension: names, defaults, limits, units.
 *
 * The worker's settings are for the whole cluster and change with a reload; those of a move
 * can be set in a session, because the user of a manual move may accept longer waits than the
 * worker.  They only allow a role to make others wait for a relation that the role may lock
 * anyway.  Settings of a database or role do not apply to the worker (session_settings.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "postmaster/bgwriter.h"
#include "src/base/settings.h"
#include "src/base/shmem.h"
#include "utils/guc.h"

#define MINUTES_PER_DAY (24 * 60)

int			tier_sample_interval_s = 60;
int			tier_migrate_interval_s = 300;
int			tier_history_retention_min = 90 * MINUTES_PER_DAY;
int			tier_history_max_size_mb = 512;
int			tier_auto_migrate = TIER_AUTO_MIGRATE_POLICIES;
int			tier_max_workers = 2;
int			tier_move_lock_timeout_ms = 50;
double		tier_move_rate_limit_mb = 0;
double		tier_worker_rate_limit_mb = 50;
double		tier_move_max_slowdown = 0;
int			tier_max_movers = 4;
int			tier_move_max_lag_mb = 1024;
int			tier_move_limit_per_day_mb = 100 * 1024;
bool		tier_log_moves = true;
int			tier_observation_period_min = MINUTES_PER_DAY;
int			tier_test_evidence_interval_s = 300;
int			tier_cooldown_min = MINUTES_PER_DAY;
bool		tier_track_access = true;
bool		tier_test_page_cache = true;
int			tier_test_buffer_scan_limit = 4 * 1024 * 1024;
char	   *tier_ignore_applications = NULL;
uint32		tier_ignore_applications_version = 0;

static const struct config_enum_entry auto_migrate_options[] = {
	{"off", TIER_AUTO_MIGRATE_OFF, false},
	{"policies", TIER_AUTO_MIGRATE_POLICIES, false},
	{"placement", TIER_AUTO_MIGRATE_PLACEMENT, false},
	{NULL, 0, false}
};

static void
assign_ignore_applications(const char *new_value, void *extra)
{
	tier_ignore_applications_version++;
}

/* The present value of the variable is the default of the setting. */
static void
define_int(const char *name, const char *what, const char *more, int *variable, int least,
		   int most, GucContext context, int flags)
{
	DefineCustomIntVariable(name, what, more, variable, *variable, least, most, context, flags,
							NULL, NULL, NULL);
}

static void
define_real(const char *name, const char *what, const char *more, double *variable, double least,
			double most, GucContext context, int flags)
{
	DefineCustomRealVariable(name, what, more, variable, *variable, least, most, context, flags,
							 NULL, NULL, NULL);
}

static void
define_bool(const char *name, const char *what, const char *more, bool *variable,
			GucContext context, int flags)
{
	DefineCustomBoolVariable(name, what, more, variable, *variable, context, flags, NULL, NULL,
							 NULL);
}

void
tier_guc_init(void)
{
	define_int("tiered_storage.sample_interval",
			   "Sets the time between two samples of a database by its worker.",
			   NULL,
			   &tier_sample_interval_s, 1, 86400, PGC_SIGHUP, GUC_UNIT_S);

	define_int("tiered_storage.migrate_interval",
			   "Sets the time between two evaluations of the policies by the worker.",
			   "A tier above its high watermark does not wait for it.",
			   &tier_migrate_interval_s, 1, 86400, PGC_SIGHUP, GUC_UNIT_S);

	define_int("tiered_storage.history_retention",
			   "Sets how long the history of activity and of moves is kept.",
			   NULL,
			   &tier_history_retention_min, 60, INT_MAX / 60, PGC_SIGHUP, GUC_UNIT_MIN);

	define_int("tiered_storage.history_max_size",
			   "Sets the maximum size of the activity history of a database.",
			   "The oldest periods are deleted first, also within the retention time.",
			   &tier_history_max_size_mb, 1, 1024 * 1024, PGC_SIGHUP, GUC_UNIT_MB);

	DefineCustomEnumVariable("tiered_storage.auto_migrate",
							 "Sets what the worker moves automatically.",
							 "\"policies\" carries out policies; \"placement\" also firm "
							 "recommendations; \"off\" moves nothing.",
							 &tier_auto_migrate,
							 TIER_AUTO_MIGRATE_POLICIES, auto_migrate_options,
							 PGC_SIGHUP, 0,
							 NULL, NULL, NULL);

	define_int("tiered_storage.max_workers",
			   "Sets how many databases are sampled at the same time.",
			   "As many are migrated at the same time.  Each takes one of "
			   "max_worker_processes while it works.",
			   &tier_max_workers, 1, 64, PGC_SIGHUP, 0);

	define_int("tiered_storage.move_lock_timeout",
			   "Sets how long one attempt of a move waits for a lock.",
			   "Other sessions queue behind it for that long.",
			   &tier_move_lock_timeout_ms, 1, 60000, PGC_SUSET, GUC_UNIT_MS);

	/* Not rounded: less than half a MB must not become 0, which is no limit. */
	define_real("tiered_storage.move_rate_limit",
				"Limits how much all moves of the server together copy per second.",
				"0 means no limit.  A change takes effect at once.",
				&tier_move_rate_limit_mb, 0, 999999, PGC_SIGHUP, GUC_UNIT_MB);

	define_real("tiered_storage.worker_rate_limit",
				"Limits how much one worker copies per second.",
				"0 means no limit except move_rate_limit.  A change takes effect at once.",
				&tier_worker_rate_limit_mb, 0, 999999, PGC_SIGHUP, GUC_UNIT_MB);

	define_real("tiered_storage.move_max_slowdown",
				"Sets the share by which a copy may make other sessions wait longer.",
				"A copy adapts its rate to it within the rate limits.  0 turns this off.  "
				"A change takes effect at once.",
				&tier_move_max_slowdown, 0, 100, PGC_SIGHUP, 0);

	define_int("tiered_storage.max_movers",
			   "Sets how many relations of the server are moved at the same time.",
			   "Further moves are queued.",
			   &tier_max_movers, 1, TIER_MAX_MOVERS, PGC_SIGHUP, 0);

	define_int("tiered_storage.move_max_lag",
			   "Sets how far standbys and replication slots may lag while automatic moves copy.",
			   "-1 means no limit.",
			   &tier_move_max_lag_mb, -1, INT_MAX, PGC_SUSET, GUC_UNIT_MB);

	define_int("tiered_storage.move_limit_per_day",
			   "Limits how much a database copies in 24 hours because of recommendations.",
			   "0 means nothing, -1 no limit.  Returns of policies count; other moves by "
			   "policies and by hand do not.",
			   &tier_move_limit_per_day_mb, -1, INT_MAX, PGC_SIGHUP, GUC_UNIT_MB);

	define_bool("tiered_storage.log_moves",
				"Logs each completed move, and reports it to the caller of move_relation().",
				"Event triggers and log_statement do not see moves.",
				&tier_log_moves, PGC_SUSET, 0);

	define_int("tiered_storage.observation_period",
			   "Sets how long a relation is observed before advice about it is firm.",
			   "Advice is provisional for ten minutes, then tentative.",
			   &tier_observation_period_min, 0, INT_MAX / 60, PGC_USERSET, GUC_UNIT_MIN);

	define_int("tiered_storage.cooldown",
			   "Sets how long after a move of a relation no other move of it is recommended.",
			   "0 means no waiting time.",
			   &tier_cooldown_min, 0, INT_MAX / 60, PGC_USERSET, GUC_UNIT_MIN);

	define_bool("tiered_storage.track_access",
				"Distinguishes random from sequential reads of the executor.",
				"Needs shared_preload_libraries.",
				&tier_track_access, PGC_SUSET, 0);

	DefineCustomStringVariable("tiered_storage.ignore_applications",
							   "Lists applications whose reads do not count as use.",
							   "Values of application_name, separated by commas.",
							   &tier_ignore_applications,
							   "pg_dump",
							   PGC_SIGHUP, 0,
							   NULL, assign_ignore_applications, NULL);

	define_bool("tiered_storage.test_page_cache",
				"Sets whether samples look at the page cache, for tests.",
				"Otherwise, all reads that miss shared buffers count as reads of the device.",
				&tier_test_page_cache, PGC_SUSET, GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE);

	/*
	 * Five samples at the default interval: most single statements and
	 * reports are over by then.
	 */
	define_int("tiered_storage.test_evidence_interval",
			   "Sets the length of the shortest interval in which activity counts "
			   "as one event, for tests.",
			   "Activity in fewer than four such intervals counts as a single event.",
			   &tier_test_evidence_interval_s, 1, SECS_PER_HOUR, PGC_SIGHUP,
			   GUC_UNIT_S | GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE);

	define_int("tiered_storage.test_buffer_scan_limit",
			   "Sets how many headers of shared buffers a scan reads, for tests.",
			   "Of more headers, a random sample of that size is read.",
			   &tier_test_buffer_scan_limit, 16, INT_MAX / 2, PGC_SUSET,
			   GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE);

	MarkGUCPrefixReserved("tiered_storage");
}

double
tier_checkpoints_per_hour(void)
{
	return 3600.0 / Max(CheckPointTimeout, 1);
}
