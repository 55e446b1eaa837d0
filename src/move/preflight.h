/*-------------------------------------------------------------------------
 *
 * move/preflight.h
 *		Checks whether a move is possible.
 *
 * A mover calls tier_preflight(), which returns the first obstacle.  To list all obstacles
 * beforehand, callers run tier_preflight_check() for each check.  Both run the same functions,
 * so that a preflight predicts the result of the move.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PREFLIGHT_H
#define TIER_PREFLIGHT_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/move/space.h"
#include "src/server/relation.h"

/* The checks, in this order. */
typedef enum TierCheck
{
	TIER_CHECK_OBJECT,			/* whether any role can move it there */
	TIER_CHECK_RIGHTS,
	TIER_CHECK_PIN,
	TIER_CHECK_METHOD,			/* online, or under a lock that is allowed */
	TIER_CHECK_FROZEN,			/* for an object store */
	TIER_CHECK_DIRECTORY,
	TIER_CHECK_SPACE,
	TIER_CHECK_WAL_SPACE,
	TIER_CHECK_CAPACITY,		/* capacity that is set for the tier */
	TIER_CHECK_STANDBYS,		/* their directories and room, as last
								 * reported */
	TIER_CHECK_USERS,			/* transactions that will not release it in
								 * time */
	TIER_CHECK_STANDBY_USERS,	/* the same on standbys, for a move that waits
								 * for them */
	TIER_CHECKS
} TierCheck;

/* The target of a move, the requester, and the permitted method. */
typedef struct TierMoveTarget
{
	Oid			tablespace_oid;
	Oid			requester_oid;	/* whose rights count */
	bool		allow_lock;		/* a relation that cannot be moved online may
								 * be locked for the whole copy */
	bool		yields_to_standbys; /* an automatic move: transactions that
									 * use it on a standby go first */
} TierMoveTarget;

/*
 * Facts that are looked up once for all relations that go to the same place.  NULL, or a
 * negative number: not looked up yet.
 */
typedef struct TierPlaceFacts
{
	TierSpace  *space;
	double		tier_bytes;
	TierStandbyRoom *rooms;		/* on standbys */
	int			nrooms;
	TierStandbyUser *users;		/* there, of any relation */
	int			nusers;
} TierPlaceFacts;

/*
 * One preflight.  On the stack of the caller, which sets the fields after info and may change
 * them between two checks.
 */
typedef struct TierAdmission
{
	const TierRelationInfo *info;
	const TierSet *set;
	TierMoveTarget where;
	int64		size_bytes;		/* size on disk of all forks and TOAST */
	const TierPins *pins;		/* NULL: looked up for the relation */
	bool		announces;		/* a move follows: others leave room for it */
	TierPlaceFacts *facts;		/* its own, or those of a series */
	double		earlier_bytes;	/* that earlier moves will add to the tier */
	TierPlaceFacts own;
} TierAdmission;

/* Initializes the admission with no facts looked up.  The caller sets the pins. */
extern void tier_preflight_init(TierAdmission *admission, const TierRelationInfo *info,
								const TierMoveTarget *where, const TierSet *set,
								int64 size_bytes);

/*
 * Runs one check.  Takes no lock on the relation; must not be called inside a scope.  Strings
 * and looked-up facts live in the current memory context.
 */
extern TierObstacle tier_preflight_check(TierAdmission *admission, TierCheck check);

/* The first obstacle of all. */
extern TierObstacle tier_preflight(TierAdmission *admission);

/*
 * The pin that forbids moving the relation there, or NULL.  No pin forbids a move within the
 * tier, or one of the TOAST table alone.
 */
extern const TierPinned *tier_preflight_pin(const TierPins *pins, const TierSet *set,
											const TierRelationInfo *info, Oid tablespace_oid);

/* "SELECT tiered_storage.unpin(...)" in a hint. */
extern char *tier_preflight_unpin_hint(const TierPinned *pinned);

/*
 * The space on the target, looked up on the first call; and the bytes of the tier's capacity
 * that all databases use, or will use by moves that were announced before: a negative number
 * if no capacity is set.
 */
extern TierSpace *tier_preflight_space(TierAdmission *admission);
extern double tier_preflight_tier_bytes(TierAdmission *admission);

/* The reports of standbys on the target, looked up on the first call. */
extern TierStandbyRoom *tier_preflight_standby_rooms(TierAdmission *admission);

/* The reports of standbys on users of relations, looked up on the first call. */
extern TierStandbyUser *tier_preflight_standby_users(TierAdmission *admission);

/*
 * The transaction on a standby that has used the relation, or a part of it, for the longest
 * time; NULL if there is no long one.  The swap is replayed like an ALTER TABLE.
 */
extern const TierStandbyUser *tier_preflight_standby_user(TierAdmission *admission);

/* Describes such a transaction, as far as the role may know; and the effect of the move on it. */
extern char *tier_preflight_standby_use_text(const TierStandbyUser *user, Oid role_oid);
extern char *tier_preflight_standby_conflict_text(const TierStandbyUser *user);

/* For preflight.c and preflight_standby.c only. */
extern TierObstacle tier_preflight_check_standbys(TierAdmission *admission);
extern TierObstacle tier_preflight_check_standby_users(TierAdmission *admission);
extern char *tier_preflight_age_text(int64 ms);
extern double tier_preflight_logged_bytes(const TierAdmission *admission);

/* Bytes of the tablespace's file system that its tier keeps free; 0 if it has none. */
extern double tier_preflight_reserve(const TierSet *set, Oid tablespace_oid);

/*
 * The oldest transaction of other processes that has the relation, or a part of it, locked
 * now; NULL if there is none.  *n gets the number of such transactions.
 */
extern TierHolder *tier_preflight_oldest_user(Oid relation_oid, int *n);

/*
 * Returns true if the role may see the start time and the application_name of the transaction,
 * by the rules of pg_stat_activity and pg_prepared_xacts.
 */
extern bool tier_preflight_may_know_user(const TierHolder *holder, Oid role_oid);

/* Describes the transaction, as far as the role may know: "process 12 (psql)". */
extern char *tier_preflight_user_text(const TierHolder *holder, Oid role_oid);

#endif							/* TIER_PREFLIGHT_H */
