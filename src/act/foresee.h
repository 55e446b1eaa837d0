/*-------------------------------------------------------------------------
 *
 * act/foresee.h
 *		Predicts the result of moves without making them.
 *
 * For dry runs and preflight().  The checks are the mover's own (move/preflight.h), made for the
 * moment at which a move has its turn: bytes that earlier moves of the same series have put on a
 * file system, or on a tier, are counted.  Nothing is announced, locked or changed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_FORESEE_H
#define TIER_FORESEE_H

#include "postgres.h"

#include "src/act/gate.h"
#include "src/act/move.h"
#include "src/catalog/tables.h"
#include "src/move/preflight.h"

/* A series of moves; lives in the memory context that is current at create. */
typedef struct TierForesight TierForesight;

extern TierForesight *tier_foresight_create(const TierSet *set);

/*
 * Makes the admission of a move ready for tier_preflight_check().  info and pins (NULL:
 * looked up) must outlive it.  Its space is shared with other moves to the same place.
 */
extern void tier_foresight_ask(TierForesight *foresight, const TierMoveRequest *request,
							   const TierRelationInfo *info, const TierPins *pins,
							   int64 size_bytes, TierAdmission *admission);

/*
 * The tablespace of a move to another tier, of those that the tier has: by then, another one may
 * have more free space.
 */
extern void tier_foresight_choose(const TierForesight *foresight, TierMoveRequest *request);

/* The move of this admission is made by then. */
extern void tier_foresight_count(TierForesight *foresight, const TierAdmission *admission);

/*
 * Reports the effect of the request in a NOTICE, and counts it; or in a WARNING why it would not
 * be tried.
 */
extern void tier_foresee(TierForesight *foresight, const TierMoveRequest *request,
						 const TierPins *pins, TierMoveCounts *counts);

/* The predicted result of one move of the series. */
typedef struct TierProspect
{
	TierRelationInfo info;
	int64		bytes;			/* that it would move */
	TierMoveStart start;		/* the reason for which it would wait, if any */
	TierObstacle obstacle;		/* the obstacle; no message: none */
	bool		begins;			/* it would be made now */
	bool		comes;			/* it would be, now or when a move window
								 * opens or pressure ends */
} TierProspect;

/*
 * The same, but all is left to the caller to say; a move that begins is counted, with the time
 * that it takes.  False: the relation has gone.  With the tablespace that it goes to.
 */
extern bool tier_foresee_prospect(TierForesight *foresight, const TierMoveRequest *request,
								  const TierPins *pins, bool by_worker, bool ignore_windows,
								  TierProspect *prospect);

/* When the move would begin, after the moves of the series that precede it. */
extern TierMoveStart tier_foresee_start(const TierForesight *foresight,
										const TierRelationInfo *info,
										const TierMoveRequest *request, bool by_worker);

/* Returns true if a move of the relation has been counted. */
extern bool tier_foresight_has_moved(const TierForesight *foresight, Oid relation_oid);

/* The change of the bytes of a tablespace by the moves counted so far. */
extern double tier_foresight_flow(const TierForesight *foresight, Oid tablespace_oid);

/*
 * The same for tier_fullness_level(), with the moves of other processes; the argument is a
 * TierForesight.
 */
extern TierFullnessFlight tier_foresight_flight(Oid tablespace_oid, const void *foresight);

/*
 * The tiers, by index, that are above the high watermark of an enabled fullness policy after the
 * moves counted so far.  Outside of a scope.
 */
extern Bitmapset *tier_foresight_above(TierForesight *foresight);

/* Reports the result of a dry run in a NOTICE; the detail may be NULL. */
extern void tier_foresee_report(const TierMoveCounts *counts, const char *detail);

#endif							/* TIER_FORESEE_H */
