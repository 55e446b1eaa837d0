/*-------------------------------------------------------------------------
 *
 * tier_migrate.h
 *		Doing what the policies ask for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MIGRATE_H
#define TIER_MIGRATE_H

#include "postgres.h"

#include "tier_catalog.h"

/*
 * Tells the other databases what this one calls its tablespaces.  NULL, or,
 * when another database was first with another name for one of them, a
 * message that says so; then nothing may be moved here.
 */
extern char *tier_migrate_publish_claims(const TierSet *set);

/* Counts of one run. */
typedef struct TierMigrateSummary
{
	int			due;
	int			moved;
	int			not_moved;		/* skipped or failed */
	int64		moved_bytes;
} TierMigrateSummary;

/*
 * What CALL migrate() and the worker do: evaluates all policies and moves what
 * is due.  With dry_run nothing is changed or committed and each move is a
 * NOTICE.  by_worker limits lock times, respects back-off, and returns without
 * an error when the extension has gone.  between_moves, if not NULL, is called
 * between two relations, with a transaction but nothing else open.  Else as
 * tier_move_one.
 */
extern TierMigrateSummary tier_migrate_run(bool dry_run, bool by_worker,
										   void (*between_moves) (void));

#endif							/* TIER_MIGRATE_H */
