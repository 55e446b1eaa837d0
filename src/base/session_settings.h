/*-------------------------------------------------------------------------
 *
 * base/session_settings.h
 *		Isolation of the extension from settings of databases, roles and sessions.
 *
 * There are two mechanisms.  Neither depends on a list of settings:
 *
 * - The worker forgets what its database and the role have set
 *	 (tier_settings_remember, tier_settings_restore).
 * - While a function of the extension runs, in the worker or for a user, the
 *	 settings that change parsing, planning, texts or which rows are seen have
 *	 fixed values (tier_settings_fix): in each transaction of a CALL, in each
 *	 attempt, between tier_catalog_enter() and tier_catalog_leave(), and in
 *	 functions in SQL and PL/pgSQL, by the hook of the function manager.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SESSION_SETTINGS_H
#define TIER_SESSION_SETTINGS_H

#include "postgres.h"

#include "utils/guc.h"

/*
 * Fixes the settings until the end of the transaction (GUC_ACTION_LOCAL), or of the innermost
 * GUC nest level (GUC_ACTION_SAVE), which the caller has begun.  Cheap if all settings have
 * their fixed values.  Must be called in a transaction.  The current user does not need the
 * right to set them.
 */
extern void tier_settings_fix(GucAction action);

/*
 * Fixes one more setting in the same way.  The value is in the format of GetConfigOption(),
 * without a unit.
 */
extern void tier_settings_fix_at(const char *name, const char *value, GucAction action);

/*
 * For a process that connects to a database by itself.  The first function is called before
 * the connection, the second one after it; settings of the database and the role have no
 * effect from then on.  Later changes of a configuration file apply as usual, except to the
 * settings that were reset.
 */
extern void tier_settings_remember(void);
extern void tier_settings_restore(void);

/* Installs the hook; called once, from _PG_init. */
extern void tier_settings_init(void);

#endif							/* TIER_SESSION_SETTINGS_H */
