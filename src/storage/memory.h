/*-------------------------------------------------------------------------
 *
 * storage/memory.h
 *		Checking whether the server's memory is full, so that reads evict other pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MEMORY_H
#define TIER_MEMORY_H

#include "postgres.h"

/* Unknown facts are false, and bytes 0. */
typedef struct TierMemory
{
	bool		is_new;			/* the machine was started within the last
								 * day; never by the clock of a test, which
								 * may be any day */
	bool		is_free;		/* some is, which the page cache may still
								 * take */
	double		bytes;			/* what there is of it for the server */
} TierMemory;

/*
 * Of this process, hence of the server: the machine's, and that of each memory cgroup that it is
 * in and that has a limit.  `root` is put before /proc and /sys.  No lock, nothing stays open; a
 * few small files are read.  Errors only for memory, file descriptors and interrupts.
 */
extern TierMemory tier_memory_look(const char *root);

#endif							/* TIER_MEMORY_H */
