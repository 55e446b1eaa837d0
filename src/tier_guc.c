/*-------------------------------------------------------------------------
 *
 * tier_guc.c
 *		Settings of the extension: names, defaults, limits, units.
 *
 * The worker's settings are for the whole cluster and change with a reload;
 * those of a move can be set in a session, because a person who moves a
 * relation by hand may have more patience than the worker.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "tier_guc.h"
#include "utils/guc.h"

#define MINUTES_PER_DAY (24 * 60)

int			tier_sample_interval_s = 60;
int			tier_migrate_interval_s = 300;
int			tier_history_retention_min = 90 * MINUTES_PER_DAY;
int			tier_history_max_size_mb = 256;
int			tier_auto_migrate = TIER_AUTO_MIGRATE_POLICIES;
int			tier_max_workers = 2;
int			tier_move_lock_timeout_ms = 200;
int			tier_move_lock_attempts = 5;
int			tier_move_max_lock_time_s = 300;
int			tier_observation_period_min = 7 * MINUTES_PER_DAY;

static const struct config_enum_entry auto_migrate_options[] = {
	{"off", TIER_AUTO_MIGRATE_OFF, false},
	{"policies", TIER_AUTO_MIGRATE_POLICIES, false},
	{NULL, 0, false}
};

void
tier_guc_init(void)
{
	DefineCustomIntVariable("tiered_storage.sample_interval",
							"Sets the time between two samples of a database by its worker.",
							NULL,
							&tier_sample_interval_s,
							60, 1, 86400,
							PGC_SIGHUP, GUC_UNIT_S,
							NULL, NULL, NULL);

	DefineCustomIntVariable("tiered_storage.migrate_interval",
							"Sets the time between two evaluations of the tiering policies by the worker.",
							NULL,
							&tier_migrate_interval_s,
							300, 1, 86400,
							PGC_SIGHUP, GUC_UNIT_S,
							NULL, NULL, NULL);

	DefineCustomIntVariable("tiered_storage.history_retention",
							"Sets how long the history of the relations' activity and of moves is kept.",
							NULL,
							&tier_history_retention_min,
							90 * MINUTES_PER_DAY, 60, INT_MAX / 60,
							PGC_SIGHUP, GUC_UNIT_MIN,
							NULL, NULL, NULL);

	DefineCustomIntVariable("tiered_storage.history_max_size",
							"Sets the size that the activity history of a database may reach.",
							"The oldest periods are deleted when it is exceeded, also within the retention time.",
							&tier_history_max_size_mb,
							256, 1, 1024 * 1024,
							PGC_SIGHUP, GUC_UNIT_MB,
							NULL, NULL, NULL);

	DefineCustomEnumVariable("tiered_storage.auto_migrate",
							 "Sets what the worker moves by itself.",
							 "\"policies\" moves what a tiering policy asks for; \"off\" moves nothing.",
							 &tier_auto_migrate,
							 TIER_AUTO_MIGRATE_POLICIES, auto_migrate_options,
							 PGC_SIGHUP, 0,
							 NULL, NULL, NULL);

	DefineCustomIntVariable("tiered_storage.max_workers",
							"Sets how many databases are worked on at the same time.",
							"Each takes one of max_worker_processes while it works.",
							&tier_max_workers,
							2, 1, 64,
							PGC_SIGHUP, 0,
							NULL, NULL, NULL);

	DefineCustomIntVariable("tiered_storage.move_lock_timeout",
							"Sets how long one attempt of a move waits for a lock.",
							"Others queue behind a waiting move, so this bounds how long a move can hold them up before it has even started.",
							&tier_move_lock_timeout_ms,
							200, 1, 60000,
							PGC_USERSET, GUC_UNIT_MS,
							NULL, NULL, NULL);

	DefineCustomIntVariable("tiered_storage.move_lock_attempts",
							"Sets how often a move asks for a lock before it gives up.",
							NULL,
							&tier_move_lock_attempts,
							5, 1, 100,
							PGC_USERSET, 0,
							NULL, NULL, NULL);

	DefineCustomIntVariable("tiered_storage.move_max_lock_time",
							"Sets for how long the worker may lock a relation to move it, by estimate.",
							"A relation that would take longer is skipped and reported; 0 means no limit.",
							&tier_move_max_lock_time_s,
							300, 0, INT_MAX / 1000,
							PGC_USERSET, GUC_UNIT_S,
							NULL, NULL, NULL);

	DefineCustomIntVariable("tiered_storage.observation_period",
							"Sets how long a relation must have been observed before advice about it is firm.",
							"Nothing is recommended to leave a faster tier on less data.",
							&tier_observation_period_min,
							7 * MINUTES_PER_DAY, 0, INT_MAX / 60,
							PGC_USERSET, GUC_UNIT_MIN,
							NULL, NULL, NULL);

	MarkGUCPrefixReserved("tiered_storage");
}
