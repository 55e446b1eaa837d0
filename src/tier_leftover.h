/*-------------------------------------------------------------------------
 *
 * tier_leftover.h
 *		Files of moves that did not end, and their removal.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_LEFTOVER_H
#define TIER_LEFTOVER_H

#include "postgres.h"

#include "compat.h"

/*
 * Writes down, in the current transaction, that this process is about to make
 * that file for that relation.  An error when another process that still runs
 * does the same for the relation, or the extension is gone.
 */
extern void tier_leftover_remember(Oid relation_oid, RelFileLocator file);

/* The file belongs to a relation now, or is gone.  In the current transaction. */
extern void tier_leftover_forget(RelFileLocator file);

/*
 * Removes, at the commit of the current transaction, the files of processes
 * that have ended which no relation uses; and forgets those that are gone.
 * Returns how many files with blocks were removed.  A file is forgotten when it
 * can be seen to be gone, which is after the next checkpoint.
 */
extern int	tier_leftover_sweep(void);

#endif							/* TIER_LEFTOVER_H */
