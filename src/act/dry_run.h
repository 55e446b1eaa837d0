/*-------------------------------------------------------------------------
 *
 * act/dry_run.h
 *		What a run of tiering and fullness policies would do, as NOTICEs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DRY_RUN_H
#define TIER_DRY_RUN_H

#include "postgres.h"

#include "src/act/due.h"
#include "src/act/foresee.h"
#include "src/act/fullness.h"

/*
 * So often a dry run and the queue look what leaves tiers that become too full in the course of
 * it, which takes as long as a piece of advice; the last time at its end.
 */
#define TIER_MOST_FORETOLD 8

/* A dry run, and what it has come to so far.  The caller sets what stands before return_bytes. */
typedef struct TierDryRun
{
	const TierSet *set;
	const TierPins *pins;
	TierForesight *foresight;
	bool		ignore_windows;
	Bitmapset  *first;			/* tiers from which something goes first; NULL
								 * once that is done */
	double		return_bytes;	/* of what would return */
	List	   *done;			/* OIDs of what would be moved */
	List	   *in_vain;		/* and of what could not be */
	bool		has_emptied;	/* all fullness policies have had their turn */
	Bitmapset  *stuck;			/* tiers that would be above their marks then */
	int			emptied_done;	/* length of `done` after that */
	int			nforetold;		/* times that fullness policies had a turn */
	bool		is_cut;			/* they would have more */
} TierDryRun;

/*
 * Says what would be done about the jobs, and what leaves tiers that would be too full then,
 * which is counted in the summary.  In a transaction.
 */
extern void tier_dry_run_announce(TierDryRun *run, const TierDueJob *jobs, int njobs,
								  TierFullnessSummary *summary);

#endif							/* TIER_DRY_RUN_H */
