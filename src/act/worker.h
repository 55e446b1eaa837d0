/*-------------------------------------------------------------------------
 *
 * act/worker.h
 *		The worker of a database: one cycle, and its state.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WORKER_H
#define TIER_WORKER_H

#include "postgres.h"

#include "postmaster/bgworker.h"

#include "src/base/shmem.h"

/* The library of the entry points of the extension's processes. */
#define TIER_LIBRARY_NAME "tiered_storage"

/* Entry point of the process, found by name in the library. */
extern PGDLLEXPORT void tier_worker_main(Datum database_oid);

/* Describes a process of the extension, of that name, that is not restarted. */
extern void tier_worker_describe(BackgroundWorker *worker, const char *name,
								 const char *function);

/*
 * For the launcher: registers a worker for the database, whose slot is STARTING.
 * False when no background worker is free.
 */
extern bool tier_worker_start(Oid database_oid);

/*
 * Ends a cycle in the slot: sets the state, the next time and the failure, if any; wakes the
 * launcher.  tier_shmem->lock is held exclusively.
 */
extern void tier_worker_end_cycle(TierDatabaseSlot *slot, TierWorkerState state,
								  const char *error);

/*
 * Settings that the server, a database or a role may have must not stop launcher
 * and workers.  To be called before they connect, which is a transaction, too.
 */
extern void tier_worker_use_own_settings(void);

#endif							/* TIER_WORKER_H */
