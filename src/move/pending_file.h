/*-------------------------------------------------------------------------
 *
 * move/pending_file.h
 *		Files that no relation has yet: registering, adopting, removing them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PENDING_FILE_H
#define TIER_PENDING_FILE_H

#include "postgres.h"

#include "src/compat.h"

/*
 * Registers, in the current transaction, n files (TIER_RELATION_MAX_PARTS at most) that
 * this process is about to create for the relation and what belongs to it (part_oids), and
 * says where.  The files
 * may be created once that transaction has committed, which waits for its WAL.  Until
 * tier_pending_release() no other process can register or remove those files, nor
 * begin to move the relation.
 *
 * One move at a time in a process.  Errors: another process is moving the
 * relation (ERRCODE_OBJECT_IN_USE), the extension is gone or about to go.
 */
extern void tier_pending_register(Oid relation_oid, Oid tablespace_oid, int n,
								  const Oid *part_oids, RelFileLocator *files);

/*
 * So many relations more are moved next by this process, to about the same place: 0 at
 * first.  The next tier_pending_register() that has to wait for its WAL registers files for
 * some of them as well, which need not wait then.
 */
extern void tier_pending_expect(int relations);

/*
 * Ends the registration of files that no relation has come for, in the current transaction, and
 * expects no more.  After an error, where nothing can be written: releases their locks only, and
 * the next sweep ends the registration.  Harmless when repeated.
 */
extern void tier_pending_unregister_spares(void);
extern void tier_pending_release_spares(void);

/*
 * Keeps DROP EXTENSION waiting, so that what is registered stays known.  To be
 * called at the beginning of each transaction while a file is registered: a
 * rollback releases it.  Does not wait; false when the extension is being dropped, or
 * is gone: then the file has to go, too.
 */
extern bool tier_pending_hold_extension(void);

/* Does somebody wait for us to drop or alter the extension? */
extern bool tier_pending_extension_is_wanted(void);

/*
 * The registration ends with the current transaction, which makes the file the
 * relation's: both are seen by others at the same moment, or neither.  Never
 * waits.  TIER_PENDING_BUSY: somebody has locked the row or the table.
 * TIER_PENDING_LOST: the file is not registered (any more), or not by us; it
 * must not be used.
 */
typedef enum TierPendingResult
{
	TIER_PENDING_OK,
	TIER_PENDING_BUSY,
	TIER_PENDING_LOST,
} TierPendingResult;

extern TierPendingResult tier_pending_adopt(RelFileLocator file);

/*
 * Removes the file, all forks, at the commit of the current transaction, on
 * standbys, too; unless some relation uses it, as seen by a snapshot taken here.
 * The caller created the file, or has it locked (tier_pending_sweep), so that
 * nobody can begin to use it later.  Gives the transaction an ID, without which
 * its commit would say nothing to standbys and to crash recovery.  False, with a
 * message in the log, when the file is in use.
 */
extern bool tier_pending_drop(RelFileLocator file);

/*
 * Ends the registration in the current transaction, if nothing is left of the
 * file but what the next checkpoint removes, and nobody has locked the table.
 * Otherwise it stays for tier_pending_sweep().  A file that is not ours, but has
 * got the number in the meantime, is left alone, and the registration ends.
 */
extern void tier_pending_unregister(RelFileLocator file, bool is_ours);

/*
 * Releases all locks: others can remove the files, move the relation and drop
 * the extension.  No error; harmless when repeated.
 */
extern void tier_pending_release(void);

/*
 * Removes, at the commit of the current transaction, files whose movers are gone
 * or have given up, and ends registrations of files that are gone.  Whatever
 * fails is logged, stays registered, and is tried again by the next sweep.  Returns
 * how many files with blocks are removed.
 */
extern int	tier_pending_sweep(void);

/* Is the file registered, by any process?  As of now; false without the extension. */
extern bool tier_pending_is_registered(RelFileLocator file);

#endif							/* TIER_PENDING_FILE_H */
