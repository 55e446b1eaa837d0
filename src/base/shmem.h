/*-------------------------------------------------------------------------
 *
 * base/shmem.h
 *		What the launcher, the workers and the sessions tell each other.
 *
 * Exists only when the library was loaded by shared_preload_libraries:
 * tier_shmem is NULL otherwise, and nothing here may be touched then.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SHMEM_H
#define TIER_SHMEM_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "storage/lwlock.h"
#include "src/model/wait_class.h"

/* Databases beyond this number get no worker; the view workers says so. */
#define TIER_MAX_DATABASES 256
#define TIER_MAX_CLAIMS 512
#define TIER_ERROR_LENGTH 256

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

/* One database.  database_oid is InvalidOid in a free slot. */
typedef struct TierDatabaseSlot
{
	Oid			database_oid;
	TierWorkerState state;
	int			pid;
	TimestampTz started_at;		/* begin of the last cycle, 0: never */
	TimestampTz finished_at;	/* its end, 0: never */
	TimestampTz next_run_at;	/* 0: as soon as possible; while waiting, the
								 * sample interval in force now counts, too */
	TimestampTz migrated_at;	/* 0: migrate in the next cycle */
	bool		notified;		/* tier_shmem_notify came since started_at */
	bool		is_moving;		/* running, and migrating: takes no place from
								 * those who sample */
	int			failures;		/* in a row */
	char		last_error[TIER_ERROR_LENGTH];

	/* By the launcher, see server/waits.c; since the slot was made. */
	int64		wait_sampled_ms;	/* how long it has looked */
	int64		wait_ms[TIER_WAIT_CLASSES]; /* sum over backends */
} TierDatabaseSlot;

/*
 * A database says that a tablespace belongs to a tier of this name.  What was
 * only discovered is a weak claim: nobody has said it, so it is neither
 * published nor compared.
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

/* See move/throttle.c. */
typedef struct TierMoverControl
{
	int64		free_at;		/* all that was copied is paid for then; by
								 * tier_clock_monotonic_us */
	int			pids[TIER_MAX_MOVERS];	/* 0: free */
	Oid			limited_roles[TIER_MAX_MOVERS]; /* whose move it is; 0: an
												 * administrator's */
} TierMoverControl;

typedef struct TierShmem
{
	LWLock	   *lock;			/* guards everything below */
	int			launcher_pid;	/* 0: not running */
	struct Latch *launcher_latch;	/* valid while launcher_pid is not 0 */
	bool		database_overflow;	/* some database got no slot */
	int			ndatabases;		/* slots in use or free below this */
	int			nclaims;
	TierDatabaseSlot databases[TIER_MAX_DATABASES];
	TierClaim	claims[TIER_MAX_CLAIMS];
	TierMoverControl movers;
} TierShmem;

extern TierShmem *tier_shmem;

/* Installs the shared memory hooks; only while preloading. */
extern void tier_shmem_init(void);

/*
 * The slot of a database, or NULL when it has none and `create` is false or
 * all are taken.  The caller holds tier_shmem->lock, exclusively for create.
 */
extern TierDatabaseSlot *tier_shmem_slot(Oid database_oid, bool create);

/* Makes the launcher look at this database at once.  No-op without preload. */
extern void tier_shmem_notify(Oid database_oid);

/*
 * Publishes what this database calls its tablespaces, replacing what it said
 * before.  A tablespace that another database has claimed with another tier
 * name is a conflict: it is not published, and the index of the first such
 * entry is returned; -1 when all is well (or without preload).
 * *conflict_database and *conflict_tier then say who claims what.
 */
extern int	tier_shmem_publish_claims(Oid database_oid, const TierClaim *claims,
									  int nclaims, Oid *conflict_database,
									  NameData *conflict_tier);

/* Copies all claims into the current memory context. */
extern TierClaim *tier_shmem_copy_claims(int *nclaims);

/* Forgets a database that has lost the extension. */
extern void tier_shmem_forget_claims(Oid database_oid);

/* Forgets the claims of all databases but these; the lock is held exclusively. */
extern void tier_shmem_keep_claims(const Oid *database_oids, int n);

#endif							/* TIER_SHMEM_H */
