/*-------------------------------------------------------------------------
 *
 * base/shmem.h
 *		State shared by the launcher, the workers and the sessions.
 *
 * Exists only if the library was loaded by shared_preload_libraries.  Otherwise tier_shmem is
 * NULL, and nothing here may be accessed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SHMEM_H
#define TIER_SHMEM_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "access/xlogdefs.h"
#include "storage/lwlock.h"
#include "src/model/wait_class.h"

/* Databases beyond this number get no worker; the view workers says so. */
#define TIER_MAX_DATABASES 256
#define TIER_MAX_CLAIMS 512
#define TIER_ERROR_LENGTH 256
#define TIER_TOUCHED 1024

typedef enum TierWorkerState
{
	TIER_WORKER_NEVER_RUN,		/* to be looked at */
	TIER_WORKER_STARTING,		/* registered, not yet running */
	TIER_WORKER_RUNNING,		/* pid is valid */
	TIER_WORKER_WAITING,		/* last cycle ended well; next at next_run_at */
	TIER_WORKER_NO_EXTENSION,	/* the database has no tiered_storage */
	TIER_WORKER_VERSION_MISMATCH,	/* ALTER EXTENSION UPDATE is due */
	TIER_WORKER_FAILED,			/* last_error is valid; next_run_at backs off */
} TierWorkerState;

/* Steps that process one relation at a time; see base/left_out.h. */
typedef enum TierStep
{
	TIER_STEP_IDENTIFY,			/* of no relation: of a kind of rows of ours */
	TIER_STEP_SAMPLE,
	TIER_STEP_EVALUATE,
	TIER_STEP_ADVISE,
	TIER_STEP_PLAN,
	TIER_STEP_MOVE,
	TIER_STEP_VERIFY,
	TIER_STEP_JUDGE,			/* of no relation: of a batch */
	TIER_STEPS
} TierStep;

/* More relations of a database that are left out are only counted. */
#define TIER_MOST_REMEMBERED 16
#define TIER_LEFT_OUT_NAME_LENGTH (2 * NAMEDATALEN + 8)
#define TIER_LEFT_OUT_ERROR_LENGTH 128

/*
 * A relation that a step of a worker has left out, because of an error about it alone.  The
 * rest means nothing while failures is 0.
 */
typedef struct TierLeftOut
{
	int			failures;		/* in a row; 0: the entry is free */
	TierStep	step;
	Oid			relation_oid;	/* or the number of an object that is no
								 * relation */
	TimestampTz failed_at;		/* for the last time */
	char		name[TIER_LEFT_OUT_NAME_LENGTH];	/* qualified; clipped */
	char		error[TIER_LEFT_OUT_ERROR_LENGTH];	/* clipped */
} TierLeftOut;

/*
 * One database.  All fields are read and changed under tier_shmem->lock.  A pointer to a slot
 * is valid only while the lock is held; afterwards the slot is looked up again by its OID.
 *
 * The launcher makes slots and frees those of databases that are gone, but never
 * while a worker is STARTING or RUNNING.  It changes a slot to STARTING, with
 * started_at, when it registers a worker.  That worker makes it RUNNING, with its
 * pid, and from then on the slot is the worker's until it ends the cycle
 * (tier_worker_end_cycle), by its exit callback at the latest.  The launcher ends
 * the cycle itself where no worker could be registered, or none has begun in time;
 * one that begins later finds no STARTING slot and exits.  Any session may set
 * notified, next_run_at, migrated_at and planned_at (tier_shmem_notify), and policy_due_at.
 */
typedef struct TierDatabaseSlot
{
	Oid			database_oid;	/* InvalidOid: the slot is free, and nothing
								 * else in it means anything */
	TierWorkerState state;
	int			pid;			/* of the worker while RUNNING, else 0 */
	TimestampTz started_at;		/* beginning of the last cycle, 0: never */
	TimestampTz finished_at;	/* end of the last cycle that has ended, 0:
								 * none; before started_at while one runs */
	TimestampTz next_run_at;	/* 0: as soon as possible; means nothing while
								 * STARTING or RUNNING.  While WAITING, the
								 * sample interval in force now counts, too */
	TimestampTz wake_at;		/* until then no cycle is needed while nothing
								 * happens (base/idle.h); 0: each is */
	TimestampTz touched_at;		/* when the launcher last saw that a
								 * transaction had ended, or was open */
	TimestampTz idle_until;		/* nothing has happened since the last cycle;
								 * by the launcher; 0, or before started_at:
								 * nobody has looked */
	XLogRecPtr	idle_position;	/* end of the flushed WAL at idle_until */
	TimestampTz migrated_at;	/* when it last began to migrate; 0: migrate
								 * in the next cycle */
	TimestampTz planned_at;		/* when it last made the plan of moves; 0: in
								 * the next cycle */
	TimestampTz policy_due_at;	/* when the first of the new policies is to be
								 * evaluated; 0: there is none */
	bool		was_paused;		/* a pause has ended its run, which begins
								 * again at resume() */
	bool		notified;		/* tier_shmem_notify came since the worker
								 * began; asks for another cycle at once */
	uint64		stays_full;		/* tiers that were above the marks of their
								 * fullness policies after it had last
								 * migrated, and since: a bit by name */
	bool		is_moving;		/* RUNNING, and migrating: takes no place from
								 * those who sample */
	int			failures;		/* in a row, up to the last cycle that ended */
	char		last_error[TIER_ERROR_LENGTH];	/* of FAILED; or, while
												 * WAITING, what keeps it from
												 * moving anything; "":
												 * nothing. Of the last cycle
												 * that has ended */

	/*
	 * By the worker alone, see base/left_out.c.  How many each step has left
	 * out without remembering them, in its last pass that has ended.
	 */
	TierLeftOut left_out[TIER_MOST_REMEMBERED];
	int			not_remembered[TIER_STEPS];

	/*
	 * By the launcher alone, see server/waits.c; since the slot was made.
	 * They mean nothing while wait_sampled_ms is 0.
	 */
	int64		wait_sampled_ms;	/* how long it has looked */
	int64		wait_ms[TIER_WAIT_CLASSES]; /* sum over backends */
} TierDatabaseSlot;

/*
 * A database's claim that a tablespace belongs to a tier of this name.  A tier that was only
 * discovered is a weak claim: it was not declared, so it is neither published nor compared.
 *
 * All claims of a database are replaced at once by a process that is connected to it, before
 * that moves anything (tier_shmem_find_conflict).  They are removed when the extension or the
 * database has been dropped, by the next process that reads the claims.
 * The claims of one database are adjacent; otherwise they are in no particular order.  Only
 * the first nclaims entries are valid.  Protected by tier_shmem->lock.
 */
typedef struct TierClaim
{
	Oid			tablespace_oid;
	Oid			database_oid;
	NameData	tier_name;
	bool		is_weak;
} TierClaim;

/* More processes than this never move at the same time. */
#define TIER_MAX_MOVERS 64

/*
 * The movers, and their common rate limit; see move/throttle.c.  Protected by
 * tier_shmem->lock.  A mover takes a place, and gives it back while it only waits, or at its
 * exit at the latest.  limited_roles[i] is meaningless while pids[i] is 0.  After
 * tiered_storage.max_movers is lowered, movers in places beyond it keep them until they
 * finish.
 */
typedef struct TierMoverControl
{
	int64		free_at;		/* when the rate limit allows the next batch,
								 * by tier_clock_monotonic_us; every mover
								 * advances it with each batch; in the past:
								 * no wait; meaningless without
								 * tiered_storage.move_rate_limit */
	int			pids[TIER_MAX_MOVERS];	/* 0: free */
	Oid			limited_roles[TIER_MAX_MOVERS]; /* whose move it is; 0: an
												 * administrator's */
} TierMoverControl;

/* All zero at the start of the server; rebuilt by the launcher and the workers. */
typedef struct TierShmem
{
	LWLock	   *lock;			/* set once; guards everything below */
	int			launcher_pid;	/* by the launcher itself; 0: not running */
	struct Latch *launcher_latch;	/* valid while launcher_pid is not 0 */
	bool		database_overflow;	/* some database got no slot; as of the
									 * launcher's last scan */
	int			ndatabases;		/* slots in use or free below this; never less
								 * than before */
	int			nclaims;
	TierDatabaseSlot databases[TIER_MAX_DATABASES];
	TierClaim	claims[TIER_MAX_CLAIMS];
	TierMoverControl movers;

	/*
	 * A transaction has ended, by the OID of its database modulo
	 * TIER_TOUCHED.  Without the lock.
	 */
	bool		is_touched[TIER_TOUCHED];
} TierShmem;

extern TierShmem *tier_shmem;

/*
 * Reserves shared memory, zeroed at the start of the server, and locks in a tranche of that
 * name.  `attach` receives their addresses.  Only while preloading.  The name is not copied.
 */
typedef void (*TierShmemAttach) (void *memory, LWLockPadded *locks);
extern void tier_shmem_reserve(const char *name, Size size, int nlocks, TierShmemAttach attach);

/* Requests the shared memory of the structs above; only while preloading. */
extern void tier_shmem_init(void);

/*
 * The slot of a database, or NULL if it has none and `create` is false.  If all are taken, create
 * reuses the slot of a database that was found to be without the extension, unless somebody has
 * notified it.  If there is no such slot, it returns NULL.
 * The caller holds tier_shmem->lock, exclusively for create.
 */
extern TierDatabaseSlot *tier_shmem_slot(Oid database_oid, bool create);

/* Wakes the launcher, if there is one, to scan its slots; the lock is held in any mode. */
extern void tier_shmem_wake_launcher(void);

/* Makes the launcher look at this database at once.  No-op without preload. */
extern void tier_shmem_notify(Oid database_oid);

/*
 * The next two functions read the claims of existing databases, so they need a transaction.
 *
 * A tablespace that another database has claimed for a tier of another name is a conflict: the
 * index of the first such claim is returned; -1 if there is none (or without preload).
 * *conflict_database and *conflict_tier then say who claims what.  If publishes, the claims of
 * this database are replaced by those without a conflict.
 */
extern int	tier_shmem_find_conflict(const TierClaim *claims, int nclaims, bool publishes,
									 Oid *conflict_database, NameData *conflict_tier);

/* Copies all claims into the current memory context. */
extern TierClaim *tier_shmem_copy_claims(int *nclaims);

/*
 * Removes the claims of a database in which the extension was dropped, and its list of
 * relations that are left out.
 */
extern void tier_shmem_withdraw_claims(Oid database_oid);

#endif							/* TIER_SHMEM_H */
