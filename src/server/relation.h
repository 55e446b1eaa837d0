/*-------------------------------------------------------------------------
 *
 * server/relation.h
 *		The one gateway to a relation of a user.
 *
 * The room server/ has the adapters to PostgreSQL's inside: this gateway, the WAL as
 * it is written (wal.h), the headers of shared buffers (buffers.h), what backends wait
 * for (waits.h), file sizes (file_size.h).  They know no tier and no table of ours.
 *
 * Everything that opens, locks or changes a relation of a user goes through here, so
 * that these rules have one place: looking takes no lock on it; a lock is asked for
 * with nothing locked, and for a bounded time; what was true before the lock is
 * checked again under it; the rights are those of a requester, checked by OID each
 * time; and nothing of the owner is executed.
 *
 * relation.c looks, locks and changes; relation_rights.c says who may do what,
 * relation_parts.c what belongs to a relation.
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

#include "src/compat.h"
#include "src/base/debug.h"

/* What pg_class says of a relation, without lock; may be stale at once. */
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

/* False when it does not exist (any more).  Strings in the current context. */
extern bool tier_relation_lookup(Oid relation_oid, TierRelationInfo *info);

/* The same; raises an error if it does not exist. */
extern void tier_relation_require(Oid relation_oid, TierRelationInfo *info);

/*
 * The same, and an error unless it has pages that other sessions see, too.  The hint is that for
 * a partitioned one, in a format that has its name as a literal.
 */
extern void tier_relation_require_pages(Oid relation_oid, TierRelationInfo *info,
										const char *hint);

/*
 * By what an index is found again, as it was at some time: REINDEX CONCURRENTLY, or whoever
 * creates an index anew to take the place of an old one, leaves another relation.  Its schema is
 * that of its table, and may change meanwhile.
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
 * What of its definition can be had without looking at expressions: columns, collations, operator
 * families and with them the access method, sort order, and what it enforces.  The attributes of
 * the same row of pg_index, none of which is toasted.  A rebuilt index has the same hash; also one
 * of a column of another type by now, if an operator family has both types.
 */
extern uint64 tier_relation_hash_index(Form_pg_index form, Datum collations, Datum classes,
									   Datum options);

/* As it is now; what does not exist is no index.  In the current context. */
extern void tier_relation_identify(Oid relation_oid, TierIndexIdentity *identity);

/*
 * The relation itself; or, of an index that is gone or was replaced, the one that has its name
 * now, on the same table and of the same definition.  Names may have been exchanged before one of
 * the two was rebuilt: what was another index then has not taken its place.  An index of that name
 * of which this is not certain is not taken, and *is_uncertain is set, which may be NULL.
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
 * All of this database, sorted by relation_oid, *n of them, in the current context.  Indexes
 * and TOAST tables are not members; their tables are.  AccessShareLock on pg_depend.
 */
extern TierExtensionMember *tier_relation_extension_members(int *n);

/* The extension that one of them belongs to, InvalidOid: none. */
extern Oid	tier_relation_extension_of(const TierExtensionMember *members, int n,
									   Oid relation_oid);

/* Why a relation may not be moved, or a move is not even tried; message NULL when it is. */
typedef struct TierObstacle
{
	int			sqlstate;		/* of the message */
	char	   *message;
	char	   *hint;			/* NULL: none */
	char	   *detail;			/* NULL: none */
	bool		passes;			/* the move waits for that, and nobody has to
								 * do anything */
} TierObstacle;

/*
 * Reports it with another message; raises an error, if there is one; says in a WARNING that "would
 * not move NAME".
 */
extern void tier_obstacle_report(int level, const TierObstacle *obstacle, const char *message);
extern void tier_obstacle_throw(const TierObstacle *obstacle);
extern void tier_obstacle_warn(const TierObstacle *obstacle, const char *name);

/*
 * Of a table whose rows are in shards of Citus, or an index of one; message NULL: it is none.
 * The hint runs the statement, in which %L is the shard's name, for all its shards.
 */
#define TIER_MOVE_OF_SHARD "CALL tiered_storage.move_relation(%L, ...)"

extern TierObstacle tier_relation_refuse_shell(const TierRelationInfo *info,
											   const char *statement);
extern void tier_relation_check_shell(const TierRelationInfo *info, const char *statement);

/*
 * Why nobody can move this table, in words that can follow "it cannot be moved: "; NULL: its
 * access method can be asked to.
 */
extern const char *tier_relation_why_never(const TierRelationInfo *info);

/*
 * The same of a table that an extension has made, or an index of one: it may drop, truncate
 * and lock it as it likes, and may count on where it is.  It is moved only to the tier that
 * somebody has pinned it to.
 */
extern const char *tier_relation_why_of_extension(const TierRelationInfo *info);

/*
 * The extension that such a table belongs to, 0: none: one look-up in an index of pg_depend.
 * And an error if that is another one than at the time when the move was admitted: an
 * extension that has got the table meanwhile was not asked.  ALTER EXTENSION locks the table,
 * so that under a strong lock on that it stays true; not under one on its index or TOAST
 * table, which are none of the extension's.
 */
extern Oid	tier_relation_table_extension(const TierRelationInfo *info);
extern void tier_relation_check_extension(const TierRelationInfo *info, Oid admitted_oid);

/*
 * The two halves of it as questions, in this order: what nobody may move there, and
 * what this role may not; and of that the part which is about the relation alone.
 */
extern TierObstacle tier_relation_refuse_object(const TierRelationInfo *info, Oid tablespace_oid);
extern TierObstacle tier_relation_refuse_role(const TierRelationInfo *info, Oid role_oid,
											  Oid tablespace_oid);
extern TierObstacle tier_relation_refuse_owner(const TierRelationInfo *info, Oid role_oid);

/*
 * May the current user learn how well its pages compress?  Who may read all of its rows, or move
 * it: that says something of rows to somebody who can add some beside them.
 */
extern bool tier_relation_may_sample(const TierRelationInfo *info);

/* May the role put relations of this database there? */
extern bool tier_relation_may_create(Oid role_oid, Oid tablespace_oid);

/* The same as one question, with what is in the way. */
extern TierObstacle tier_relation_refuse(const TierRelationInfo *info, Oid role_oid,
										 Oid tablespace_oid);

/* Raises an error if somebody else is its owner by now. */
extern void tier_relation_check_owner(const TierRelationInfo *info, Oid role_oid);

/*
 * Who executes a move that the requester was found to be entitled to.  The
 * command wants an owner who may create there.  Where the owner may not, and
 * the requester is an administrator who may but does not own it, only the
 * superuser can do both; no code of the owner runs in it.
 */
extern Oid	tier_relation_choose_actor(const TierRelationInfo *info, Oid requester_oid,
									   Oid tablespace_oid);

/* Superusers, and roles with EXECUTE on alter_tier(). */
extern bool tier_is_administrator(Oid role_oid);

/*
 * NULL when the relation's blocks can be copied while it is used: it is
 * permanent, every change of it is in the WAL, and its access method is known
 * to go through shared buffers.  Else why not, in words that can follow "it
 * cannot be moved online: ".
 */
extern const char *tier_relation_why_not_online(const TierRelationInfo *info);

/*
 * NULL if it is no index, or one that is valid, ready and live; else what it is.
 * Such an index is not moved online.
 */
extern const char *tier_relation_why_incomplete(const TierRelationInfo *info);

/* What somebody can do about it. */
#define TIER_INCOMPLETE_HINT "REINDEX it or drop it."

/* Where its blocks are.  It has a file (file_number is not 0). */
extern RelFileLocator tier_relation_locator(const TierRelationInfo *info);

/*
 * Does anybody wait for a lock on this relation, or for the end of our
 * transaction?  A glance at other processes without locks: may be wrong for
 * the moment, not for long.
 */
extern bool tier_relation_has_waiters(Oid relation_oid);

/* The same for any two locks, which may be one. */
extern bool tier_relation_someone_waits_for(const LOCKTAG *tag, const LOCKTAG *other);

/*
 * How often a move asks for a lock before it gives up.  With the pauses between, which grow,
 * that is about two minutes: long enough for most transactions, and not for ever.
 */
#define TIER_LOCK_ATTEMPTS tier_debug_constant(lock_attempts, 30)

/*
 * How long a move works under the strong lock, WAL flushes not counted: no longer than an
 * application notices.  What does not fit is tried again.
 */
#define TIER_LOCK_HOLD_LIMIT_MS tier_debug_constant(lock_hold_limit_ms, 20)

/*
 * Waits for the lock at most timeout_ms, and then for any other lock of this
 * transaction at most next_timeout_ms.  Nothing of the relation or its table
 * may be locked yet, or somebody could be failed by the deadlock check.
 * ERRCODE_LOCK_NOT_AVAILABLE when it was not granted.
 */
extern void tier_relation_lock(Oid relation_oid, LOCKMODE mode, int timeout_ms,
							   int next_timeout_ms);

/*
 * ACCESS EXCLUSIVE, as tier_relation_lock(), but others queue behind who waits for it, and who
 * asks with NOWAIT is refused, as the processes of pg_dump --jobs do.  So it is queued for
 * only if may_queue, and never behind a holder who will keep it: a dump, a transaction that
 * is idle (and not just between two statements) or prepared, or one that has lasted for longer
 * than a second.  False when it is not free and was not queued for.
 */
extern bool tier_relation_lock_exclusively(Oid relation_oid, bool may_queue, int timeout_ms,
										   int next_timeout_ms);

/*
 * How many others have it locked in a way that conflicts with this mode.  Locks nothing, so
 * that it is true of the moment only.  Who waits does not count.
 */
extern int	tier_relation_count_lockers(Oid relation_oid, LOCKMODE mode);

/* A transaction that has locked a relation. */
typedef struct TierHolder
{
	int			pid;			/* 0: it is prepared */
	TransactionId xid;			/* of a prepared one */
	TimestampTz since;			/* when a transaction that is not prepared
								 * began */
	Oid			role_oid;		/* 0: no user's */
	const char *application;	/* or what kind of process it is */
	bool		is_idle;		/* in the transaction, not just now */
} TierHolder;

/*
 * Transactions of others that have any lock on the relation: TierHolder.  Of a
 * process that does not tell when its transaction began nothing is known, and it is
 * left out.  No lock on the relation.
 */
extern List *tier_relation_holders(Oid relation_oid);

/*
 * Will somebody keep the relation who has it?  The application's name is a hint alone: who calls
 * himself a dump is waited for.  With track_activities off nothing is known, and he is waited
 * for, too.
 */
extern bool tier_relation_has_lasting_holder(Oid relation_oid);

/* What a move changes at once: a table, its TOAST table and the index of that. */
#define TIER_RELATION_MAX_PARTS 3

/*
 * Claims the relation's pg_class row, which the move updates at its end; those of
 * TIER_RELATION_MAX_PARTS relations at most.  An
 * open GRANT holds that row without any lock on the relation; waiting for it
 * under a strong lock would keep everybody out for as long as that transaction
 * lasts.  False when somebody has it, or pg_class.
 *
 * Others who update the row without a lock on the relation (GRANT, SET SCHEMA of an
 * index's table) then wait, before they read it, until it is
 * released: after the commit by the caller; an abort releases it, too.
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
	TIER_MOVE_GONE,				/* the relation does not exist any more */
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
 * Moves one relation with its TOAST table by SET TABLESPACE in the current
 * transaction, which holds no lock on any relation of a user and is
 * committed by the caller at once.  Waits for the lock no longer than
 * tiered_storage.move_lock_timeout, inside a subtransaction, so that after a
 * timeout no lock is held and the transaction can go on.  After the grant
 * everything is checked again, the rights of the requester included, with for_owner
 * that he is the owner, and that no other extension than extension_oid (0: none) has got
 * it.  Acts as
 * the owner of the relation, if he may create there, else as the requester, if
 * he owns it, else as the bootstrap superuser.  Other errors are thrown.
 */
extern TierMoveResult tier_relation_move(Oid relation_oid, Oid requester_oid, bool for_owner,
										 Oid extension_oid, Oid tablespace_oid,
										 TierMoveTiming *timing);

/*
 * Bytes on disk of all forks of the relation and of its TOAST table with its
 * index, by stat(); no lock.
 */
extern int64 tier_relation_disk_bytes(const TierRelationInfo *info);

/* The valid indexes of a table, as OIDs; NIL when it is gone.  No lock stays. */
extern List *tier_relation_indexes(Oid relation_oid);

/*
 * All that a statement about a relation means: itself, or the leaves of a partitioned table,
 * each before its indexes, unless these are not included; also_invalid: those too that are being
 * built, or are left over from a failed build.
 */
extern List *tier_relation_members(const TierRelationInfo *info, bool include_indexes,
								   bool also_invalid);

/*
 * What is moved with a relation, in the order of moving: the TOAST table's
 * index, the TOAST table, and the relation itself, which is always there.
 */
extern List *tier_relation_parts(Oid relation_oid);

/* Those of them that exist and are not in the tablespace; NIL: nothing is to be moved. */
extern List *tier_relation_parts_elsewhere(Oid relation_oid, Oid tablespace_oid);

/*
 * The relation and all that inherit from it, each once, parents before their
 * children.  No lock, and none of them need exist.  find_all_inheritors() takes
 * one that is dropped meanwhile for an internal error, unless it may lock them.
 */
extern List *tier_relation_inheritors(Oid relation_oid);

/* The reverse: itself, then all that it is a partition of, or inherits from. */
extern List *tier_relation_above(Oid relation_oid);

/*
 * All leaf partitions of a partitioned table (tables and materialized views
 * alone yield themselves); NIL when it is gone.  No lock stays.
 */
extern List *tier_relation_leaves(Oid relation_oid);

/*
 * Partitions that DETACH PARTITION CONCURRENTLY is about to detach, or has left so when it was
 * interrupted.  They are none of the leaves.
 */
extern List *tier_relation_detaching(Oid relation_oid);

#endif							/* TIER_RELATION_H */
