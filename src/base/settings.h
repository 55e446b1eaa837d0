/*-------------------------------------------------------------------------
 *
 * base/settings.h
 *		Settings, with their units.
 *
 * Each process has its own copy of these variables.  Only the server's GUC code changes them:
 * at a reload, by SET, or at the end of a transaction or function.  So a value can change
 * wherever interrupts are processed or a command ends; an operation that needs a stable value
 * copies it at its start.  The last part of a name is the unit.  settings.c says who may
 * change which setting, and why.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_GUC_H
#define TIER_GUC_H

#include "postgres.h"

typedef enum TierAutoMigrate
{
	TIER_AUTO_MIGRATE_OFF,
	TIER_AUTO_MIGRATE_POLICIES,
	TIER_AUTO_MIGRATE_PLACEMENT,	/* policies, then the advice */
} TierAutoMigrate;

/* Worker and launcher. */
extern int	tier_sample_interval_s;
extern int	tier_migrate_interval_s;
extern int	tier_auto_migrate;	/* TierAutoMigrate */
extern int	tier_max_workers;

/* History. */
extern int	tier_history_retention_min;
extern int	tier_history_max_size_mb;

/* Moves. */
extern int	tier_move_lock_timeout_ms;	/* of one attempt */
extern double tier_move_rate_limit_mb;	/* per second, all moves; 0: no limit */
extern double tier_worker_rate_limit_mb;	/* per second, each worker's; 0:
											 * no limit */
extern double tier_move_max_slowdown;	/* of users, a share; 0: off */
extern int	tier_max_movers;
extern int	tier_move_max_lag_mb;	/* of standbys and slots; -1: no limit */
extern int	tier_move_limit_per_day_mb; /* by advice; -1: no limit */
extern bool tier_log_moves;

/* Advice and effects. */
extern int	tier_observation_period_min;
extern int	tier_cooldown_min;

/* Samples. */
extern bool tier_track_access;
extern char *tier_ignore_applications;	/* names, separated by commas */
extern uint32 tier_ignore_applications_version; /* changes with the list */

/* For tests, benchmarks and the demonstration; no list of settings shows them. */
extern bool tier_test_page_cache;	/* samples look at it */
extern int	tier_test_evidence_interval_s;	/* shortest one; > 0 */
extern int	tier_test_buffer_scan_limit;	/* buffer headers */

/* Defines all settings; called once, from _PG_init. */
extern void tier_guc_init(void);

/* By checkpoint_timeout alone; max_wal_size and CHECKPOINT may cause more checkpoints. */
extern double tier_checkpoints_per_hour(void);

#endif							/* TIER_GUC_H */
