/*-------------------------------------------------------------------------
 *
 * server/waits.h
 *		Time that the backends of each database wait for I/O, by class of file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WAITS_H
#define TIER_WAITS_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "src/base/shmem.h"
#include "src/model/wait_class.h"

/*
 * Launcher only: if a second has passed since the last look, looks once
 * at what each backend waits for, and adds the time since the last look to the
 * slots of their databases.  Returns the milliseconds until the next look, -1
 * when there is nothing to look for.  Takes tier_shmem->lock for a moment.
 */
extern long tier_waits_sample(void);

/*
 * Copies the totals of a database since the server started.  Returns false without preload,
 * and before the first sample.
 */
extern bool tier_waits_read(Oid database_oid, int64 wait_ms[TIER_WAIT_CLASSES],
							int64 *sampled_ms);

/*
 * How many processes of users, of all databases, work, and how many wait for files or the
 * WAL, at this moment.  Those that move something are none, nor are workers of ours; without
 * preload that is known of this process alone.  *done only grows, with what the server
 * does: transactions that have written, and buffers that were looked at to find one for a
 * block that is read.  Takes tier_shmem->lock, in shared mode, and a spinlock for a moment.
 */
extern void tier_waits_look(int *working, int *waiting, uint64 *done);

#endif							/* TIER_WAITS_H */
