/*-------------------------------------------------------------------------
 *
 * act/worker.h
 *		The launcher, and the worker of each database.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WORKER_H
#define TIER_WORKER_H

#include "postgres.h"

/* Registers the launcher; only while preloading. */
extern void tier_worker_init(void);

/* Entry points of the processes, found by name in the library. */
extern PGDLLEXPORT void tier_launcher_main(Datum argument);
extern PGDLLEXPORT void tier_worker_main(Datum database_oid);

#endif							/* TIER_WORKER_H */
