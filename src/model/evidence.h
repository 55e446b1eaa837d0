/*-------------------------------------------------------------------------
 *
 * model/evidence.h
 *		The number of separate intervals with activity, which distinguishes a rate from an
 *		event.
 *
 * A load, a restore or a report at the end of the month leaves the same totals as steady work,
 * and is not repeated tomorrow.  So in addition to a smoothed rate, the times of its events and
 * of the growth of the file are kept: the last days in up to 16 intervals of equal length.  These
 * are short at first and widen with the time that is covered, up to TIER_EVIDENCE_LONGEST_S each;
 * older amounts are forgotten.
 *
 * The server's statistics of the time before the first sample are kept apart (TierPast): their
 * amounts are known, but not their times.
 *
 * Pure.  Times are microseconds, on any one clock.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_EVIDENCE_H
#define TIER_EVIDENCE_H

#include <stdint.h>

#define TIER_EVIDENCE_INTERVALS 16

/* 16 of these are about a week: activity that did not happen several times in it is no rate. */
#define TIER_EVIDENCE_LONGEST_S 43200.0

/*
 * Equal amounts in so many intervals are an event, and from so many on certainly a rate; between
 * the two they count in part.  If an event comes on top of steady work, the steady work counts.
 */
#define TIER_EVIDENCE_EVENT 2.0
#define TIER_EVIDENCE_RATE 4.0

/*
 * One relation's events.  All zero: nothing was ever noted.  Changed by
 * tier_evidence_note() and tier_evidence_begin() alone; all amounts share
 * the intervals.
 */
typedef struct TierEvidence
{
	int64_t		began_at;		/* begin of the first interval; 0: none yet */
	double		interval_s;		/* length of each; means nothing before */
	float		reads[TIER_EVIDENCE_INTERVALS];
	float		writes[TIER_EVIDENCE_INTERVALS];
	float		growth[TIER_EVIDENCE_INTERVALS];	/* bytes; negative where
													 * more went than came */
} TierEvidence;

/* The judgement of a rate. */
typedef struct TierEvidenceJudgement
{
	int			intervals;		/* covered until now, 0 to 16 */
	double		active;			/* so many intervals of equal amounts would
								 * say the same: (sum x)^2 / sum x^2 */
	double		weight;			/* 0: an event; 1: a rate */
	double		error;			/* standard error of the mean over the
								 * intervals, relative to it; 1 of a single
								 * one */
} TierEvidenceJudgement;

/*
 * Notes what a sample at `at` found.  All of it happened in one interval, however
 * long ago the sample before was: that it came evenly is not known.
 * `shortest_s` (> 0) is the length that intervals begin with, `since` where the first
 * one begins if this is the first event.  Negative reads and writes, and amounts that
 * are not finite, count as 0.
 */
extern void tier_evidence_note(TierEvidence *evidence, int64_t since, int64_t at,
							   double shortest_s, double reads, double writes, double growth);

/* Notes that nothing is known of the time before `at`, which is when it begins. */
extern void tier_evidence_begin(TierEvidence *evidence, int64_t at, double shortest_s);

/*
 * `amounts` is evidence->reads or evidence->writes.  If nothing was ever noted, there is no
 * evidence against a rate: weight 1, error 0.  A rate that lies entirely before the intervals is
 * over: weight 0.
 */
extern TierEvidenceJudgement tier_evidence_judge(const TierEvidence *evidence,
												 const float *amounts, int64_t now);

/*
 * The growth in each interval that is covered until now, the oldest first; returns
 * how many these are, and in *covered_s how long they are together.  0: nothing was
 * ever noted.
 */
extern int	tier_evidence_growth(const TierEvidence *evidence, int64_t now,
								 double growth[TIER_EVIDENCE_INTERVALS], double *covered_s);

/* 0 for as few intervals as an event, 1 for a rate, see above. */
extern double tier_evidence_weight(double active);

#endif							/* TIER_EVIDENCE_H */
