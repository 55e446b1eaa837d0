/*-------------------------------------------------------------------------
 *
 * act/launcher.h
 *		The launcher: which database gets a worker, and when.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_LAUNCHER_H
#define TIER_LAUNCHER_H

#include "postgres.h"

/* Registers the launcher; only while preloading. */
extern void tier_launcher_init(void);

/* Entry point of the process, found by name in the library. */
extern PGDLLEXPORT void tier_launcher_main(Datum argument);

#endif							/* TIER_LAUNCHER_H */
