/*-------------------------------------------------------------------------
 *
 * model/fullness.h
 *		Which relations leave a tier that has become too full, and in which order.
 *
 * A tier above its high watermark is emptied until it is at its low one or below.  The relations
 * that leave lose least device time for each byte of room that they make; among relations that
 * memory serves, the least used ones leave.  A relation stays if the others are enough without
 * it.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_FULLNESS_H
#define TIER_FULLNESS_H

#include <stdbool.h>

/* Why a relation does not leave, whatever room is needed. */
typedef enum TierFullnessObstacle
{
	TIER_FULLNESS_NONE,
	TIER_FULLNESS_PINNED,
	TIER_FULLNESS_OF_EXTENSION,
	TIER_FULLNESS_MOVED_LATELY,
	TIER_FULLNESS_DUE,			/* a tiering policy moves it in this run */
	TIER_FULLNESS_EMPTY,
	TIER_FULLNESS_NOT_ONLINE,
	TIER_FULLNESS_NO_RIGHT,
	TIER_FULLNESS_TOO_LARGE,	/* for the room of any file system of the
								 * target */
	TIER_FULLNESS_NOT_NOW,		/* it was tried in vain, lately or in this run */
} TierFullnessObstacle;

/*
 * One relation of the tier.  Bytes are those that are stored, at least 0 and finite.
 */
typedef struct TierFullnessUnit
{
	double		own_bytes;		/* by which relations take less of the tier */
	double		disk_bytes;		/* by which its file systems have more free;
								 * 0: it stays on the same file system */
	double		target_bytes;	/* that it takes of the target */
	double		lost_s;			/* device time per hour that it costs there
								 * more than here; negative: less */
	double		used_s;			/* per hour, of use that memory serves: at
								 * least 0, and small beside device time */
	double		move_s;			/* of its move, for each hour of the horizon */
	int			reluctance;		/* leaves only if all with less of it that may
								 * are not enough */
	TierFullnessObstacle obstacle;
} TierFullnessUnit;

/*
 * How full a tier is: two measures of the same, of which the larger one counts.
 */
typedef struct TierFullnessLevel
{
	double		capacity_bytes; /* positive and finite */
	double		own_bytes;		/* relations, by their sizes */
	double		disk_bytes;		/* the capacity without the free space of file
								 * systems; -INFINITY: not known */
} TierFullnessLevel;

typedef struct TierFullnessProblem
{
	TierFullnessLevel level;
	double		high;			/* shares of the capacity, 0 < low < high <= 1 */
	double		low;
	bool		has_begun;		/* it was above the high watermark, and is
								 * being emptied */
	double		target_bytes;	/* that the target can take; INFINITY: any */
	double		later_bytes;	/* the same, with all that tiering policies
								 * may move off the tier as it fills; counts
								 * if that is more */
	int			nunits;
	const TierFullnessUnit *units;
} TierFullnessProblem;

typedef enum TierFullnessVerdict
{
	TIER_FULLNESS_LEAVES,
	TIER_FULLNESS_STAYS,		/* the others are enough */
	TIER_FULLNESS_NOT_NEEDED,	/* the tier is not too full */
	TIER_FULLNESS_FREES_NOTHING,	/* on the same file system */
	TIER_FULLNESS_NO_ROOM,		/* on the target */
	TIER_FULLNESS_OBSTACLE,
} TierFullnessVerdict;

typedef struct TierFullnessResult
{
	bool		is_needed;		/* something has to leave */
	bool		is_enough;		/* and the low watermark is reached by it */
	int			nleaving;
	double		leaving_bytes;	/* by the larger measure */
	double		arriving_bytes; /* that these take of the target */
	double		after_bytes;	/* how much the tier holds then */
	TierFullnessVerdict *verdicts;	/* by unit; given by the caller */
	int		   *order;			/* units without an obstacle, the coldest
								 * first; given by the caller, for nunits */
	int			norder;
	int		   *scratch;		/* for nunits; given by the caller */
} TierFullnessResult;

/* The larger of the two measures, in bytes. */
extern double tier_fullness_bytes(const TierFullnessLevel *level);

/* Fills `order`: by reluctance, then by device time lost for each byte. */
extern void tier_fullness_arrange(const TierFullnessProblem *problem,
								  TierFullnessResult *result);

/*
 * Decides, on an arranged result.  With the order in which they are in `order`, those that leave
 * are the coldest ones, except the last: of all that would then be enough, it is chosen such that
 * all together cost least device time, their moves included (Guentzer and Jungnickel's greedy
 * method for the least cost of a sum that must be reached, at most twice the optimum where one of
 * two costs counts).
 *
 * True for every result: no unit with an obstacle leaves; the target gets at most the bytes that
 * it can take; each unit that leaves is needed, so that without any one of them the tier would
 * stay above its low watermark; and no unit leaves a tier that is at it or below.
 */
extern void tier_fullness_decide(const TierFullnessProblem *problem,
								 TierFullnessResult *result);

/* The bytes without an obstacle, by the measure that counts. */
extern double tier_fullness_may_leave(const TierFullnessProblem *problem);

/*
 * The bytes that may leave by the measure that counts, within the room that the target has or
 * will have for them.
 */
extern double tier_fullness_can_leave(const TierFullnessProblem *problem);

#endif							/* TIER_FULLNESS_H */
