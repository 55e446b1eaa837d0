/*-------------------------------------------------------------------------
 *
 * base/settings.h
 *		Settings, with their units.
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

extern int	tier_sample_interval_s;
extern int	tier_migrate_interval_s;
extern int	tier_wait_sample_interval_ms;
extern int	tier_history_retention_min;
extern int	tier_history_max_size_mb;
extern int	tier_auto_migrate;	/* TierAutoMigrate */
extern int	tier_max_workers;
extern int	tier_move_lock_timeout_ms;
extern int	tier_move_lock_attempts;
extern int	tier_move_max_lock_time_s;
extern int	tier_move_lock_hold_limit_ms;
extern int	tier_move_rate_limit_mb;
extern int	tier_worker_rate_limit_mb;
extern int	tier_max_movers;
extern int	tier_move_limit_per_day_mb; /* -1: no limit */
extern bool tier_move_prewarm;
extern bool tier_log_moves;
extern int	tier_observation_period_min;
extern int	tier_effect_after_min;
extern int	tier_residence_time_min;
extern int	tier_wal_sample_size_mb;
extern bool tier_track_page_cache;
extern int	tier_buffer_scan_limit;
extern bool tier_track_access;
extern double tier_track_sample_rate;
extern char *tier_ignore_applications;
extern uint32 tier_ignore_applications_version; /* another one for each list */
extern int	tier_track_max_relations;

/*
 * What the settings of a session are in the configuration of the server stays so in
 * this process, whatever somebody has set for its database or role.  Called
 * before the process connects to a database.
 */
extern void tier_guc_keep_server_values(void);

/* Defines them all; called once, from _PG_init. */
extern void tier_guc_init(void);

/* As the server is set: more may be forced, by WAL or by hand. */
extern double tier_checkpoints_per_hour(void);

#endif							/* TIER_GUC_H */
