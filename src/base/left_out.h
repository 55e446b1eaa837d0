/*-------------------------------------------------------------------------
 *
 * base/left_out.h
 *		Relations that a step leaves out, because of an error about them alone.
 *
 * A step that goes over many relations tries them in a subtransaction (base/attempt.h).  When
 * one fails, it is left out and the others go on, however many fail.  A worker counts them in
 * the view workers, and remembers TIER_MOST_REMEMBERED of each database: it names them there,
 * and tries them again after a sample interval, then after twice as long, up to an hour.  It
 * tries the others in each pass.  Sessions remember nothing; they try all and warn.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_LEFT_OUT_H
#define TIER_LEFT_OUT_H

#include "postgres.h"

#include "src/base/shmem.h"

/* No backoff is longer, unless the sample interval is. */
#define TIER_LONGEST_BACKOFF_MS (60 * 60 * 1000)

/* Errors of a pass that are logged, or sent to the session, at most. */
#define TIER_MOST_TOLD 16

/* A relation that the pass has to deal with. */
typedef struct TierKnownFailure
{
	Oid			relation_oid;
	bool		is_backed_off;	/* not to be tried in this pass */
} TierKnownFailure;

/* One pass of a step over relations. */
typedef struct TierPass
{
	TierStep	step;
	TimestampTz began_at;
	int			nknown;			/* that have failed before; only in a worker */
	int			nfailed;		/* in this pass */
	TierKnownFailure known[TIER_MOST_REMEMBERED];
} TierPass;

/*
 * The steps of a pass for each of n relations, which are given by number. leave_out() is
 * called for one that fails, with the error's message, and for one that is not tried this
 * time.  Neither keeps what step() has done in memory from being seen.
 */
typedef struct TierEach
{
	int			n;
	Oid			(*relation_of) (const void *argument, int i);
	void		(*step) (void *argument, int i);
	void		(*leave_out) (void *argument, int i, char *message);
	void	   *argument;
} TierEach;

/* Says that this process is the worker of its database; once, when it begins. */
extern void tier_left_out_is_worker(void);

/* Begins a pass: looks up earlier failures. */
extern void tier_pass_begin(TierPass *pass, TierStep step);

/* Returns true if the relation is skipped in this pass because of a recent failure. */
extern bool tier_pass_skips(const TierPass *pass, Oid relation_oid);

/*
 * Returns true for errors that do not concern one relation alone: a cancel, a shutdown, out of
 * memory, disk full.
 */
extern bool tier_error_is_about_all(const ErrorData *error);

/*
 * Records that the relation has failed.  `name` names an object that is not a relation;
 * otherwise it is NULL.  Frees the error, and returns its message in the current memory
 * context.  If tier_error_is_about_all(), rethrows the error instead.
 */
extern char *tier_pass_failed(TierPass *pass, Oid relation_oid, const char *name,
							  ErrorData *error);

/* Runs the step for each relation; leaves out relations that fail or have failed recently. */
extern void tier_pass_each(TierPass *pass, const TierEach *each);

/*
 * Ends a pass over all relations.  Forgets relations that were due for a retry and have not
 * failed since the pass began, in this pass or in another pass of the step, and relations that
 * do not exist.  A pass of the step that is not ended counts as part of the next one that is.
 */
extern void tier_pass_end(TierPass *pass);

/* How many relations the database of the slot leaves out; *description names some. */
extern int	tier_left_out_describe(const TierDatabaseSlot *slot, char **description);

/* The n-th failure in a row: milliseconds until the next try. */
extern int64 tier_left_out_backoff_ms(int failures);

#endif							/* TIER_LEFT_OUT_H */
