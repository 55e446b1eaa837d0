/*-------------------------------------------------------------------------
 *
 * move/preflight.h
 *		Is anything in the way of a move?
 *
 * The mover asks tier_preflight() for the first thing that is; who wants to know
 * everything beforehand asks tier_preflight_check() for one after the other.  Both
 * run the same functions, so that what is foretold is what happens.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PREFLIGHT_H
#define TIER_PREFLIGHT_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/move/space.h"
#include "src/server/relation.h"

/* What is looked at, in this order. */
typedef enum TierCheck
{
	TIER_CHECK_OBJECT,			/* can it be moved there at all, by anybody? */
	TIER_CHECK_RIGHTS,
	TIER_CHECK_PIN,
	TIER_CHECK_METHOD,			/* online, or under a lock that is allowed */
	TIER_CHECK_DIRECTORY,
	TIER_CHECK_SPACE,
	TIER_CHECK_WAL_SPACE,
	TIER_CHECK_CAPACITY,		/* that somebody has given the tier */
	TIER_CHECK_STANDBYS,		/* their directories and room, as last told */
	TIER_CHECK_USERS,			/* who will not release it in time */
	TIER_CHECK_STANDBY_USERS,	/* the same there, for a move that waits for
								 * them */
	TIER_CHECKS
} TierCheck;

/* Where it is to be moved, with whose rights, and how. */
typedef struct TierMoveTarget
{
	Oid			tablespace_oid;
	Oid			requester_oid;	/* whose rights count */
	bool		allow_lock;		/* what cannot be moved online may be locked
								 * for the whole copy */
	bool		yields_to_standbys; /* nobody named it: who uses it on a
									 * standby goes first */
} TierMoveTarget;

/*
 * What is looked up once, and serves all relations that go to the same place: NULL, and a negative
 * number, if that was not done yet.
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
 * One question.  On the stack of who asks; what follows info is set by him, and may be changed
 * between two checks.
 */
typedef struct TierAdmission
{
	const TierRelationInfo *info;
	const TierSet *set;
	TierMoveTarget where;
	int64		size_bytes;		/* what it takes on disk, all forks and TOAST */
	const TierPins *pins;		/* NULL: looked up for the relation */
	bool		announces;		/* a move follows: others leave room for it */
	TierPlaceFacts *facts;		/* its own, or those of a series */
	double		earlier_bytes;	/* that the tier will have by moves which come
								 * first */
	TierPlaceFacts own;
} TierAdmission;

/* Without what was looked up; the pins are left to be set. */
extern void tier_preflight_init(TierAdmission *admission, const TierRelationInfo *info,
								const TierMoveTarget *where, const TierSet *set,
								int64 size_bytes);

/*
 * One check.  Takes no lock on the relation; must not be called inside a scope.  Strings,
 * and what is looked up, in the current memory context.
 */
extern TierObstacle tier_preflight_check(TierAdmission *admission, TierCheck check);

/* The first obstacle of all. */
extern TierObstacle tier_preflight(TierAdmission *admission);

/*
 * The pin that is against moving the relation there, or NULL.  None is against what stays
 * on its tier, nor where only the TOAST table has to follow.
 */
extern const TierPinned *tier_preflight_pin(const TierPins *pins, const TierSet *set,
											const TierRelationInfo *info, Oid tablespace_oid);

/* "SELECT tiered_storage.unpin(...)" in a hint. */
extern char *tier_preflight_unpin_hint(const TierPinned *pinned);

/*
 * The space that is looked up for the admission, if it was not yet; and what all databases
 * have by now, or will have by moves that were announced before, of the tier's capacity, or
 * a negative number where nobody has given it one.
 */
extern TierSpace *tier_preflight_space(TierAdmission *admission);
extern double tier_preflight_tier_bytes(TierAdmission *admission);

/* What standbys have told of where it goes, if that was not looked up yet. */
extern TierStandbyRoom *tier_preflight_standby_rooms(TierAdmission *admission);

/* What standbys have told of who uses what, if that was not looked up yet. */
extern TierStandbyUser *tier_preflight_standby_users(TierAdmission *admission);

/*
 * Of these, who has used the relation, or a part of it, for the longest time; NULL: nobody has
 * for long.  The swap is replayed like an ALTER TABLE.
 */
extern const TierStandbyUser *tier_preflight_standby_user(TierAdmission *admission);

/* That somebody does, as far as the role may know; and what the move would do to him. */
extern char *tier_preflight_standby_use_text(const TierStandbyUser *user, Oid role_oid);
extern char *tier_preflight_standby_conflict_text(const TierStandbyUser *user);

/* What preflight.c and preflight_standby.c share; for these alone. */
extern TierObstacle tier_preflight_check_standbys(TierAdmission *admission);
extern TierObstacle tier_preflight_check_standby_users(TierAdmission *admission);
extern char *tier_preflight_age_text(int64 ms);
extern double tier_preflight_logged_bytes(const TierAdmission *admission);

/* Bytes of the tablespace's file system that its tier keeps free; 0 if it has none. */
extern double tier_preflight_reserve(const TierSet *set, Oid tablespace_oid);

/*
 * The transaction that has used the relation, or a part of it, for the longest time, of
 * those of others that have it locked now; NULL: none.  *n of them.
 */
extern TierHolder *tier_preflight_oldest_user(Oid relation_oid, int *n);

/*
 * May the role know when the transaction began, and what its process calls itself?  As
 * pg_stat_activity and pg_prepared_xacts have it.
 */
extern bool tier_preflight_may_know_user(const TierHolder *holder, Oid role_oid);

/* Who that is, as far as the role may know: "process 12 (psql)". */
extern char *tier_preflight_user_text(const TierHolder *holder, Oid role_oid);

#endif							/* TIER_PREFLIGHT_H */
