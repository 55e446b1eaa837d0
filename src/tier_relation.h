/*-------------------------------------------------------------------------
 *
 * tier_relation.h
 *		The one gateway to a relation of a user.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_RELATION_H
#define TIER_RELATION_H

#include "postgres.h"

/* What pg_class says of a relation, without lock; may be stale at once. */
typedef struct TierRelationInfo
{
	Oid			relation_oid;
	Oid			owner_oid;
	Oid			tablespace_oid; /* never 0 for a relation with a file */
	Oid			file_number;	/* 0: none (partitioned, view, mapped) */
	Oid			toast_oid;		/* 0: none */
	char		kind;			/* relkind */
	char		persistence;
	bool		is_system;
	char	   *name;			/* schema-qualified and quoted */
} TierRelationInfo;

/* False when it does not exist (any more).  Strings in the current context. */
extern bool tier_relation_lookup(Oid relation_oid, TierRelationInfo *info);

/* "table", "index", "materialized view", ...: for messages and columns. */
extern const char *tier_relation_kind_name(char kind);

/*
 * Raises an error unless the role may move this relation there as it could
 * with ALTER TABLE SET TABLESPACE: it is the owner (or a member of it), or a
 * tier administrator, and has CREATE on the tablespace, unless that is the
 * database's default one.  The kinds that cannot be moved at all are refused
 * first: system, temporary, without a file.
 */
extern void tier_relation_check_move(const TierRelationInfo *info, Oid role_oid,
									 Oid tablespace_oid);

/* The same as a question; if false, *why and *hint (may be NULL). */
extern bool tier_relation_may_move(const TierRelationInfo *info, Oid role_oid,
								   Oid tablespace_oid, char **why, char **hint);

/* Raises an error unless the role owns the relation or is administrator. */
extern void tier_relation_check_rights(const TierRelationInfo *info, Oid role_oid);

/* Superusers, and roles with EXECUTE on alter_tier(). */
extern bool tier_is_administrator(Oid role_oid);

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
	TimestampTz locked_at;		/* 0: not granted */
} TierMoveTiming;

/*
 * Moves one relation with its TOAST table by SET TABLESPACE in the current
 * transaction, which holds no lock on any relation of a user and is
 * committed by the caller at once.  Waits for the lock no longer than
 * tiered_storage.move_lock_timeout, inside a subtransaction, so that after a
 * timeout no lock is held and the transaction can go on.  After the grant
 * everything is checked again, the rights of the requester included.  Acts as
 * the owner of the relation, if he may create there, else as the requester, if
 * he owns it, else as the bootstrap superuser.  Other errors are thrown.
 */
extern TierMoveResult tier_relation_move(Oid relation_oid, Oid requester_oid,
										 Oid tablespace_oid, TierMoveTiming *timing);

/*
 * Bytes on disk of all forks of the relation and of its TOAST table with its
 * index, by stat(); no lock.
 */
extern int64 tier_relation_disk_bytes(const TierRelationInfo *info);

/* The valid indexes of a table, as OIDs; NIL when it is gone.  No lock stays. */
extern List *tier_relation_indexes(Oid relation_oid);

/*
 * All leaf partitions of a partitioned table (tables and materialized views
 * alone yield themselves); NIL when it is gone.  No lock stays.
 */
extern List *tier_relation_leaves(Oid relation_oid);

#endif							/* TIER_RELATION_H */
