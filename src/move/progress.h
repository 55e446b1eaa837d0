/*-------------------------------------------------------------------------
 *
 * move/progress.h
 *		How far a move is, for other sessions to see.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PROGRESS_H
#define TIER_PROGRESS_H

#include "postgres.h"

#include "nodes/pg_list.h"

typedef enum TierPhase
{
	TIER_PHASE_STARTING,
	TIER_PHASE_COPYING,
	TIER_PHASE_CATCHING_UP,
	TIER_PHASE_SWAPPING,		/* waits for the strong lock, or has it */
	TIER_PHASE_PREWARMING,
	TIER_PHASE_GIVING_WAY,		/* backing off: somebody else wanted the
								 * relation */
	TIER_PHASE_WAITING,			/* for readers of the WAL */
	TIER_PHASE_PAUSED,
	TIER_PHASE_QUEUED,			/* too many others move something */
	TIER_PHASE_CLEANING_UP,
	TIER_PHASE_LOCKED,			/* the plain path, under one lock */
} TierPhase;

/* One field each; all numbers count from the beginning of the move. */
typedef enum TierProgressField
{
	TIER_PROGRESS_PHASE,
	TIER_PROGRESS_BLOCKS_TOTAL,
	TIER_PROGRESS_BLOCKS_DONE,
	TIER_PROGRESS_BYTES_COPIED, /* blocks that were copied again included */
	TIER_PROGRESS_ROUNDS,		/* of catching up */
	TIER_PROGRESS_ATTEMPTS,		/* for the strong lock */
	TIER_PROGRESS_RESTARTS,
	TIER_PROGRESS_STARTED,		/* TimestampTz */
	TIER_PROGRESS_PACE,			/* bytes per second, see move/pace.h; 0: none */
	TIER_PROGRESS_SLOWDOWN,		/* of users, per mille; -1: not known */
	TIER_PROGRESS_FIELDS
} TierProgressField;

/* A move begins: all fields are 0, and this process shows up. */
extern void tier_progress_start(Oid relation_oid);
extern void tier_progress_set(TierProgressField field, int64 value);

/*
 * How long all moves of this process were paused, waited for readers of the WAL, or had no
 * place among the movers.
 */
extern double tier_progress_waited_ms(void);

/*
 * What is said of a time that has such waiting in it: "3.200 s, paused or waiting for
 * 622.000 s"; of the latter only what is not 0 when rounded.  In the current memory context.
 */
extern char *tier_progress_time_text(double elapsed_ms, double waited_ms);

extern void tier_progress_add(TierProgressField field, int64 value);

/* This process shows up no more. */
extern void tier_progress_end(void);

/* What the process of that PID shows; false when it moves nothing. */
extern bool tier_progress_read(int pid, int64 *fields);

/* The PIDs of sessions of all databases that move something. */
extern List *tier_progress_sessions(void);

extern const char *tier_progress_phase_name(TierPhase phase);

/*
 * What a mover in this phase waits for now, if that is something that others see (readers
 * of the WAL), as tier_wal_lag_text() says it; NULL: nothing like that.
 */
extern char *tier_progress_waits_for(TierPhase phase);

/* What a move has still to write, so that others leave room for it. */
typedef struct TierAnnouncement
{
	Oid			tablespace_oid;
	int64		bytes;
	int64		at_us;			/* tier_clock_monotonic_us; 0: it is just
								 * being announced.  Read only */
	Oid			from_oid;		/* tablespace in which so much is free when
								 * the */
	int64		leaving_bytes;	/* move has ended */
	Oid			database_oid;	/* of the process; read only */
} TierAnnouncement;

/*
 * Until the next call; a tablespace_oid of 0: nothing more.  A move that begins leaves
 * it.  Since when: who has announced something before, but not after that, was told of us,
 * and we can see him.
 */
extern int64 tier_progress_announce(const TierAnnouncement *announcement);
extern void tier_progress_announced_written(int64 bytes);
extern int64 tier_progress_announced_bytes(void);

/* What process number i, from 0 to MaxBackends - 1, has announced; false: nothing. */
extern bool tier_progress_announced(int i, int *pid, TierAnnouncement *announcement);

#endif							/* TIER_PROGRESS_H */
