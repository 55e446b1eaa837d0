/*-------------------------------------------------------------------------
 *
 * server/relation.h
 *		The only gateway to user relations.
 *
 * The room server/ has the adapters to PostgreSQL's internals: this gateway, the WAL as it is
 * written (wal.h), the headers of shared buffers (buffers.h), wait events of backends
 * (waits.h), file sizes (file_size.h).  They do not know tiers or the extension's tables.
 *
 * Everything that opens, locks or changes a user relation goes through here, so that these
 * rules have one place: reading its catalog entries takes no lock on it; a lock is requested
 * with nothing else locked, and for a bounded time; conditions that held before the lock are
 * checked again under it; the rights are those of a requester, checked by OID each time; and
 * no code of the owner is executed.
 *
 * relation.c looks up, locks and changes; relation_rights.c checks rights; relation_parts.c
 * finds the parts of a relation.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_RELATION_H
#define TIER_RELATION_H

#include "postgres.h"

#include "catalog/pg_index.h"

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/hsearch.h"

#include "src/compat.h"
#include "src/base/debug.h"

/* The pg_class entry of a relation, read without a lock; may be stale at once. */
typedef struct TierRelationInfo
{
	Oid			relation_oid;
	Oid			owner_oid;
	Oid			tablespace_oid; /* never 0 for a relation with a file */
	Oid			file_number;	/* 0: none (partitioned, view, mapped) */
	Oid			toast_oid;		/* 0: none */
	Oid			am_oid;			/* access method; 0: none */
	char		kind;			/* relkind */
	char		persistence;
	bool		is_system;
	char	   *name;			/* schema-qualified, quoted where needed */
} TierRelationInfo;

/* Returns false if it does not exist.  Strings are in the current memory context. */
extern bool tier_relation_lookup(Oid relation_oid, TierRelationInfo *info);

/* The same; raises an error if it does not exist. */
extern void tier_relation_require(Oid relation_oid, TierRelationInfo *info);

/*
 * The same; raises an error unless it has pages that other sessions see, too.  `hint` is the
 * hint for a partitioned relation, a format with its name as a literal.
 */
extern void tier_relation_require_pages(Oid relation_oid, TierRelationInfo *info,
										const char *hint);

/*
 * The identity of an index at some time, by which it is found again: REINDEX CONCURRENTLY, or
 * a DROP INDEX and CREATE INDEX, replaces it by another relation.  Its schema is that of its
 * table, and may change meanwhile.
 */
typedef struct TierIndexIdentity
{
	Oid			relation_oid;
	Oid			table_oid;		/* 0: it is no index, and the rest has no
								 * meaning */
	NameData	name;
	int64		definition_hash;	/* of columns, operator families,
									 * expressions, predicate, and whether it
									 * is unique */
	List	   *others;			/* OIDs of the other indexes of its table that
								 * were valid, sorted */
} TierIndexIdentity;

/*
 * A hash of its definition without expressions: columns, collations, operator families and
 * with them the access method, sort order, and the constraint that it enforces.  The arguments
 * are attributes of the same row of pg_index, none of which is toasted.  A rebuilt index has
 * the same hash, even after a change of the type of a column, if an operator family has both
 * types.
 */
extern uint64 tier_relation_hash_index(Form_pg_index form, Datum collations, Datum classes,
									   Datum options);

/*
 * The identity now; a relation that does not exist is not an index.  In the current memory
 * context.
 */
extern void tier_relation_identify(Oid relation_oid, TierIndexIdentity *identity);

/*
 * The relation itself; or, for an index that was dropped or replaced, the index that has its
 * name now, on the same table and with the same definition.  Names may have been exchanged
 * before one of the two was rebuilt: an index that existed under another name then has not
 * taken its place.  If this is uncertain, the index of that name is not returned, and
 * *is_uncertain is set, which may be NULL.
 */
extern Oid	tier_relation_present(const TierIndexIdentity *identity, bool *is_uncertain);

/* "table", "index", "materialized view", ...: for messages and columns. */
extern const char *tier_relation_kind_name(char kind);

/* The same; "?": it was dropped. */
extern const char *tier_tablespace_name(Oid tablespace_oid);

/*
 * Raises an error unless the role may move this relation there as it could
 * with ALTER TABLE SET TABLESPACE: it is the owner (or a member of it), or a
 * tier administrator, and has CREATE on the tablespace, unless that is the
 * database's default one.  The kinds that cannot be moved at all are refused
 * first: system, temporary, without a file.
 */
extern void tier_relation_check_move(const TierRelationInfo *info, Oid role_oid,
									 Oid tablespace_oid);

/* A table, sequence or view that an extension has made. */
typedef struct TierExtensionMember
{
	Oid			relation_oid;
	Oid			extension_oid;
} TierExtensionMember;

/*
 * All members in this database, sorted by relation_oid, *n of them, in the current memory
 * context.  Indexes and TOAST tables are not members; their tables are.  AccessShareLock on
 * pg_depend.
 */
extern TierExtensionMember *tier_relation_extension_members(int *n);

/* The extension that one of them belongs to, InvalidOid: none. */
extern Oid	tier_relation_extension_of(const TierExtensionMember *members, int n,
									   Oid relation_oid);

/* The reason why a relation may not be moved, or a move is not tried; message NULL: none. */
typedef struct TierObstacle
{
	int			sqlstate;		/* of the message */
	char	   *message;
	char	   *hint;			/* NULL: none */
	char	   *detail;			/* NULL: none */
	bool		passes;			/* the move waits for that, and no action is
								 * required */
} TierObstacle;

/*
 * Reports the obstacle with another message; raises it as an error, if there is one; reports
 * it in a WARNING "would not move NAME".
 */
extern void tier_obstacle_report(int level, const TierObstacle *obstacle, const char *message);
extern void tier_obstacle_throw(const TierObstacle *obstacle);
extern void tier_obstacle_warn(const TierObstacle *obstacle, const char *name);

/*
 * The obstacle for a table whose rows are in shards of Citus, or an index of one; message NULL
 * for any other relation.  The hint runs the statement, in which %L is the shard's name, for
 * all its shards.
 */
#define TIER_MOVE_OF_SHARD "CALL tiered_storage.move_relation(%L, ...)"

extern TierObstacle tier_relation_refuse_shell(const TierRelationInfo *info,
											   const char *statement);
extern void tier_relation_check_shell(const TierRelationInfo *info, const char *statement);

/*
 * Why no role can move this table, in words that can follow "it cannot be moved: "; NULL: its
 * access method supports it.
 */
extern const char *tier_relation_why_never(const TierRelationInfo *info);

/*
 * The same for a table of an extension, or an index of one: the extension may drop, truncate
 * and lock it at any time, and may rely on its tablespace.  It is moved only to the tier that
 * it is pinned to.
 */
extern const char *tier_relation_why_of_extension(const TierRelationInfo *info);

/*
 * The extension that such a table belongs to; 0: none.  One look-up in an index of pg_depend.
 * The second function raises an error if that is not the extension for which the move was
 * admitted: the table was added to another one concurrently.  ALTER EXTENSION locks the table,
 * so the result is stable under a strong lock on the table, but not under one on its index or
 * TOAST table, which are not members of the extension.
 */
extern Oid	tier_relation_table_extension(const TierRelationInfo *info);
extern void tier_relation_check_extension(const TierRelationInfo *info, Oid admitted_oid);

/*
 * The two parts of tier_relation_check_move(), in this order: the reasons for which no role
 * may move it there, and those for this role; and the part of the latter that concerns the
 * relation alone.
 */
extern TierObstacle tier_relation_refuse_object(const TierRelationInfo *info, Oid tablespace_oid);
extern TierObstacle tier_relation_refuse_role(const TierRelationInfo *info, Oid role_oid,
											  Oid tablespace_oid);
extern TierObstacle tier_relation_refuse_owner(const TierRelationInfo *info, Oid role_oid);

/*
 * Returns true if the current user may see how well its pages compress: a user who may read
 * all of its rows, or move it.  Compression reveals something about rows to a role that can
 * add rows beside them.
 */
extern bool tier_relation_may_sample(const TierRelationInfo *info);

/* Returns true if the role may create relations of this database there. */
extern bool tier_relation_may_create(Oid role_oid, Oid tablespace_oid);

/* Both parts in one call, with the first obstacle. */
extern TierObstacle tier_relation_refuse(const TierRelationInfo *info, Oid role_oid,
										 Oid tablespace_oid);

/* Raises an error if the role is not its owner. */
extern void tier_relation_check_owner(const TierRelationInfo *info, Oid role_oid);

/*
 * The role that executes a move for which the requester has the rights.  The command requires
 * an owner with CREATE on the tablespace.  If the owner lacks it, and the requester is an
 * administrator who has it but does not own the relation, only the superuser can do both; no
 * code of the owner runs in it.
 */
extern Oid	tier_relation_choose_actor(const TierRelationInfo *info, Oid requester_oid,
									   Oid tablespace_oid);

/* Superusers, and roles with EXECUTE on alter_tier(). */
extern bool tier_is_administrator(Oid role_oid);

/*
 * NULL if the relation's blocks can be copied while it is used: it is permanent, every change
 * of it is in the WAL, and its access method is known to go through shared buffers.  Otherwise
 * the reason, in words that can follow "it cannot be moved online: ".
 */
extern const char *tier_relation_why_not_online(const TierRelationInfo *info);

/*
 * NULL unless it is an index that is not valid, ready and live; then its state in words. Such
 * an index is not moved online.
 */
extern const char *tier_relation_why_incomplete(const TierRelationInfo *info);

/* The hint for such an index. */
#define TIER_INCOMPLETE_HINT "REINDEX it or drop it."

/* Where its blocks are.  It has a file (file_number is not 0). */
extern RelFileLocator tier_relation_locator(const TierRelationInfo *info);

/*
 * Returns true if another process waits for a lock on this relation, or for the end of our
 * transaction.  Reads the state of other processes without locks, so the result may be wrong
 * for a moment, but not for long.
 */
extern bool tier_relation_has_waiters(Oid relation_oid);

/* The same for any two locks, which may be one. */
extern bool tier_relation_someone_waits_for(const LOCKTAG *tag, const LOCKTAG *other);

/*
 * The number of attempts to lock before a move gives up.  With the growing pauses in between,
 * that is one to two minutes, which is long enough for most transactions.
 */
#define TIER_LOCK_ATTEMPTS tier_debug_constant(lock_attempts, 30)

/*
 * The time that a move works under the strong lock, WAL flushes not counted: too short for an
 * application to notice.  If the work takes longer, it is tried again.
 */
#define TIER_LOCK_HOLD_LIMIT_MS tier_debug_constant(lock_hold_limit_ms, 20)

/*
 * Waits for the lock at most timeout_ms, and then for any other lock of this transaction at
 * most next_timeout_ms.  Nothing of the relation or its table may be locked yet, or the
 * deadlock check could cancel another session. Raises ERRCODE_LOCK_NOT_AVAILABLE if it is not
 * granted.
 */
extern void tier_relation_lock(Oid relation_oid, LOCKMODE mode, int timeout_ms,
							   int next_timeout_ms);

/*
 * ACCESS EXCLUSIVE, as tier_relation_lock().  Others queue behind a request for this lock, and
 * requests with NOWAIT fail, such as those of pg_dump --jobs.  So the request is queued only
 * if may_queue, and never behind a transaction that will keep its lock: a dump, a transaction
 * that is idle (and not just between two statements) or prepared, or one that has lasted for
 * more than a second.  Returns false if the lock is not free and the request was not queued.
 */
extern bool tier_relation_lock_exclusively(Oid relation_oid, bool may_queue, int timeout_ms,
										   int next_timeout_ms);

/*
 * The number of other processes that have it locked in a mode that conflicts with this one.
 * Locks nothing, so the result is a snapshot.  Waiting processes do not count.
 */
extern int	tier_relation_count_lockers(Oid relation_oid, LOCKMODE mode);

/* A transaction that has locked a relation. */
typedef struct TierHolder
{
	int			pid;			/* 0: it is prepared */
	TransactionId xid;			/* of a prepared one */
	TimestampTz since;			/* when a transaction that is not prepared
								 * began */
	Oid			role_oid;		/* 0: not a user's */
	const char *application;	/* or what kind of process it is */
	bool		is_idle;		/* in the transaction, not just now */
} TierHolder;

/*
 * Transactions of other processes that have any lock on the relation: TierHolder.  Leaves out
 * processes that do not publish when their transaction began.  Takes no lock on the relation.
 */
extern List *tier_relation_holders(Oid relation_oid);

/*
 * Returns true if a transaction that has locked the relation will keep it.  application_name
 * is only a hint: any session with the name of a dump counts as one.  A session with
 * track_activities off is unknown, and counts, too.
 */
extern bool tier_relation_has_lasting_holder(Oid relation_oid);

/* The relations that a move changes at once: a table, its TOAST table and that table's index. */
#define TIER_RELATION_MAX_PARTS 3

/*
 * Claims the relation's pg_class row, which the move updates at its end; at most the rows of
 * TIER_RELATION_MAX_PARTS relations.  An open GRANT holds that row without any lock on the
 * relation; waiting for it under a strong lock would block all users for as long as that
 * transaction lasts.  Returns false if another transaction has locked the row, or pg_class.
 *
 * Commands that update the row without a lock on the relation (GRANT, SET SCHEMA of an index's
 * table) then wait, before they read it, until the caller releases it after the commit; an
 * abort releases it, too.
 */
extern bool tier_relation_claim_row(Oid relation_oid);
extern void tier_relation_release_rows(void);

/*
 * Gives the relation, which this transaction has locked exclusively and whose
 * row it has claimed, another file; its old one goes with the commit.  The
 * blocks must be the same.
 */
extern void tier_relation_swap_file(Oid relation_oid, RelFileLocator file);

typedef enum TierMoveResult
{
	TIER_MOVE_DONE,
	TIER_MOVE_GONE,				/* the relation was dropped */
	TIER_MOVE_NOT_NEEDED,		/* it is in that tablespace already */
	TIER_MOVE_LOCK_TIMEOUT,		/* the lock was not granted in time, or the
								 * catalog row is busy; to be tried again in
								 * another transaction */
} TierMoveResult;

typedef struct TierMoveTiming
{
	double		lock_wait_ms;
	int64		locked_at;		/* by tier_clock_monotonic_us; 0: not granted */
} TierMoveTiming;

/*
 * Moves one relation with its TOAST table by SET TABLESPACE in the current transaction, which
 * holds no lock on any user relation and is committed by the caller at once.  Waits for the
 * lock at most for tiered_storage.move_lock_timeout, inside a subtransaction, so that after a
 * timeout no lock is held and the transaction can continue.  After the grant all conditions
 * are checked again: the rights of the requester, with for_owner that the requester is the
 * owner, and that the relation belongs to no extension but extension_oid (0: none).  Acts as
 * the owner of the relation, if that role may create there, else as the requester, if that
 * role owns it, else as the bootstrap superuser.  Other errors are raised.
 */
extern TierMoveResult tier_relation_move(Oid relation_oid, Oid requester_oid, bool for_owner,
										 Oid extension_oid, Oid tablespace_oid,
										 TierMoveTiming *timing);

/* The OIDs of the valid indexes of a table; NIL if it does not exist.  Keeps no lock. */
extern List *tier_relation_indexes(Oid relation_oid);

/*
 * The relations that a statement about a relation includes: itself, or the leaves of a
 * partitioned table, each before its indexes, if these are included.  also_invalid: includes
 * indexes that are being built, or are left over from a failed build.
 */
extern List *tier_relation_members(const TierRelationInfo *info, bool include_indexes,
								   bool also_invalid);

/*
 * The relations that are moved together, in this order: the TOAST table's index, the TOAST
 * table, and the relation itself, which is always included.
 */
extern List *tier_relation_parts(Oid relation_oid);

/* The parts that exist and are not in the tablespace; NIL: nothing to move. */
extern List *tier_relation_parts_elsewhere(Oid relation_oid, Oid tablespace_oid);

/* A set of OIDs, empty, in the current memory context. */
extern HTAB *tier_relation_set(void);

/*
 * The relation and all that inherit from it, each once, parents before their children.  Takes
 * no lock; the relations may be dropped at any time. find_all_inheritors() raises an internal
 * error for one that is dropped concurrently, unless it may lock them.
 */
extern List *tier_relation_inheritors(Oid relation_oid);

/*
 * The reverse: the relation itself, then all relations that it is a partition of, or inherits
 * from.
 */
extern List *tier_relation_above(Oid relation_oid);

/*
 * All leaf partitions of a partitioned table; for another table or materialized view, the
 * relation itself; NIL if it does not exist.  Keeps no lock.
 */
extern List *tier_relation_leaves(Oid relation_oid);

/*
 * Partitions that DETACH PARTITION CONCURRENTLY is about to detach, or has left so when it was
 * interrupted.  They are not among the leaves.
 */
extern List *tier_relation_detaching(Oid relation_oid);

#endif							/* TIER_RELATION_H */
