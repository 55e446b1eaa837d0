/*-------------------------------------------------------------------------
 *
 * move/progress.h
 *		The progress of moves, visible to other sessions.
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
	TIER_PHASE_GIVING_WAY,		/* backing off: another session wanted the
								 * relation */
	TIER_PHASE_WAITING,			/* for readers of the WAL */
	TIER_PHASE_PAUSED,
	TIER_PHASE_QUEUED,			/* no free place among the movers */
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

/* Begins a move: sets all fields to 0, and makes this process visible. */
extern void tier_progress_start(Oid relation_oid);
extern void tier_progress_set(TierProgressField field, int64 value);

/*
 * The total time that moves of this process were paused, waited for readers of the WAL, or had
 * no place among the movers.
 */
extern double tier_progress_waited_ms(void);

/*
 * Formats a time that includes such waits: "3.200 s, paused or waiting for 622.000 s".  Omits
 * a wait that rounds to 0.  In the current memory context.
 */
extern char *tier_progress_time_text(double elapsed_ms, double waited_ms);

extern void tier_progress_add(TierProgressField field, int64 value);

/* Ends the move: hides this process. */
extern void tier_progress_end(void);

/* Reads the fields of the process with that PID; false if it moves nothing. */
extern bool tier_progress_read(int pid, int64 *fields);

/* The PIDs of all sessions, of all databases, with a move. */
extern List *tier_progress_sessions(void);

extern const char *tier_progress_phase_name(TierPhase phase);

/*
 * The readers of the WAL that a mover in this phase waits for now, as text of
 * tier_wal_lag_text(); NULL if it does not wait for them.
 */
extern char *tier_progress_waits_for(TierPhase phase);

/* The bytes that a move has yet to write, so that other moves leave room for them. */
typedef struct TierAnnouncement
{
	Oid			tablespace_oid;
	int64		bytes;
	int64		at_us;			/* tier_clock_monotonic_us; 0: being announced
								 * at this moment; read only */
	Oid			from_oid;		/* source tablespace */
	int64		leaving_bytes;	/* bytes that the move frees in from_oid */
	Oid			database_oid;	/* of the process; read only */
} TierAnnouncement;

/*
 * Announces a move, until the next call; a tablespace_oid of 0 withdraws the announcement.
 * The start of a move keeps it.  Returns the time of the announcement: announcements with an
 * earlier time are visible to this process.
 */
extern int64 tier_progress_announce(const TierAnnouncement *announcement);
extern void tier_progress_announced_written(int64 bytes);
extern int64 tier_progress_announced_bytes(void);

/* When this process announced its move; PG_INT64_MAX: it has not. */
extern int64 tier_progress_announced_at(void);

/* The announcement of process number i, from 0 to MaxBackends - 1; false if there is none. */
extern bool tier_progress_announced(int i, int *pid, TierAnnouncement *announcement);

#endif							/* TIER_PROGRESS_H */
