/*-------------------------------------------------------------------------
 *
 * act/preflight_checks.h
 *		The checks of preflight(): each has a verdict, a finding and a remedy.
 *
 * preflight_survey.c applies the mover's own checks to the relations of a call and their targets;
 * preflight_sql.c has the list of all checks; preflight_forecast.c estimates the time.  The
 * checks take no lock on a relation of a user, change nothing, and wait for nothing.  A check
 * without a result is a warning that says so, and never "ok".
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PREFLIGHT_CHECKS_H
#define TIER_PREFLIGHT_CHECKS_H

#include "postgres.h"

#include "src/act/call.h"
#include "src/decide/forecast.h"

typedef enum TierVerdict
{
	TIER_PREFLIGHT_OK,
	TIER_PREFLIGHT_WARNING,		/* it can be made, with a remark */
	TIER_PREFLIGHT_BLOCKS,		/* it would be refused */
} TierVerdict;

typedef struct TierFinding
{
	TierVerdict verdict;
	const char *text;			/* NULL: there is nothing to say */
	const char *remedy;			/* NULL: none */
} TierFinding;

static inline TierFinding
tier_finding(TierVerdict verdict, const char *remedy, const char *finding)
{
	return (TierFinding)
	{
		verdict, finding, remedy
	};
}

/* With a text as of psprintf(). */
#define tier_finding_ok(...) tier_finding(TIER_PREFLIGHT_OK, NULL, psprintf(__VA_ARGS__))
#define tier_finding_warn(remedy, ...) \
	tier_finding(TIER_PREFLIGHT_WARNING, remedy, psprintf(__VA_ARGS__))

/* All that the call would move between two tablespaces. */
typedef struct TierRoute
{
	Oid			from_tablespace_oid;
	Oid			to_tablespace_oid;
	TierForecast forecast;
	int			moves;
	double		bytes;
	double		largest_bytes;	/* of one move */
} TierRoute;

/* The result of one of the mover's checks for all relations. */
typedef struct TierTally
{
	int			blocked;
	TierObstacle first;			/* of these */
	char	   *name;			/* whose that is */
} TierTally;

/* The survey of the relations of a call. */
typedef struct TierSurvey
{
	const TierMoveCall *call;
	TierForesight *foresight;
	MemoryContext context;		/* of data that outlives one relation */
	TierTally	tallies[TIER_CHECKS];
	List	   *routes;			/* TierRoute */
	int			relations;
	int			moves;			/* of these: have something to move */
	int			locked;			/* of these: would be locked for the whole
								 * copy */
	double		largest_locked_bytes;
	double		bytes;			/* of moves */
	double		wal_bytes;
	int			split;			/* whose TOAST tables are elsewhere than they */
	TierRelationInfo split_info;	/* of the first */
	int			used;			/* by others now */
	TierHolder	user;			/* the user of one of them for the longest
								 * time, if there is one */
	char	   *user_of;
	int			used_there;		/* for long, on a standby */
	TierStandbyUser there;		/* of the first */
	char	   *there_of;

	/* The one that needs most. */
	TierSpace	space;
	Oid			space_oid;		/* 0: none looked for room */
	double		space_bytes;
	double		logged_bytes;	/* of the largest that goes into the WAL */
} TierSurvey;

/* Fills in the survey of the relations of survey->call; its context and foresight are set. */
extern void tier_preflight_survey(TierSurvey *survey);

/* preflight_forecast.c: how long it would take, and when it would begin. */
extern TierFinding tier_preflight_time(TierSurvey *survey);
extern TierFinding tier_preflight_start(TierSurvey *survey);

#endif							/* TIER_PREFLIGHT_CHECKS_H */
