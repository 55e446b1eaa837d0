/*-------------------------------------------------------------------------
 *
 * tier_guc.h
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
} TierAutoMigrate;

extern int	tier_sample_interval_s;
extern int	tier_migrate_interval_s;
extern int	tier_history_retention_min;
extern int	tier_history_max_size_mb;
extern int	tier_auto_migrate;	/* TierAutoMigrate */
extern int	tier_max_workers;
extern int	tier_move_lock_timeout_ms;
extern int	tier_move_lock_attempts;
extern int	tier_move_max_lock_time_s;
extern int	tier_observation_period_min;

/* Defines them all; called once, from _PG_init. */
extern void tier_guc_init(void);

#endif							/* TIER_GUC_H */
