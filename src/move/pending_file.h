/*-------------------------------------------------------------------------
 *
 * move/pending_file.h
 *		Registering, adopting and removing new files that no relation uses yet.
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
 * The number of relations that this process moves next to about the same place; initially 0.
 * The next tier_pending_register() that has to wait for its WAL registers files for some of
 * them as well, which need not wait then.
 */
extern void tier_pending_expect(int relations);

/*
 * Ends the registration of spare files, which no relation has used, in the current
 * transaction, and resets the expected number.  The second function is for error paths, which
 * cannot write: it releases the locks only, and the next sweep ends the registration.  Both
 * may be repeated.
 */
extern void tier_pending_unregister_spares(void);
extern void tier_pending_release_spares(void);

/*
 * Keeps DROP EXTENSION waiting, so that registrations persist.  Call it at the beginning of
 * each transaction while a file is registered, because a rollback releases the lock.  Does not
 * wait.  Returns false if the extension is being dropped or does not exist: then the file must
 * be removed, too.
 */
extern bool tier_pending_hold_extension(void);

/* Returns true if another session waits for this process to drop or alter the extension. */
extern bool tier_pending_extension_is_wanted(void);

/*
 * The registration ends with the current transaction, which makes the file the relation's:
 * both are seen by others at the same moment, or neither.  Never waits.  TIER_PENDING_BUSY:
 * another transaction has locked the row or the table. TIER_PENDING_LOST: the file is not
 * registered, or by another process; it must not be used.
 */
typedef enum TierPendingResult
{
	TIER_PENDING_OK,
	TIER_PENDING_BUSY,
	TIER_PENDING_LOST,
} TierPendingResult;

extern TierPendingResult tier_pending_adopt(RelFileLocator file);

/*
 * Removes all forks of the file at the commit of the current transaction, here and on
 * standbys, unless a relation uses the file, as seen by a snapshot taken here.  The caller
 * created the file, or has it locked (tier_pending_sweep), so that no process can begin to use
 * it later.  Assigns a transaction ID, because standbys and crash recovery would not see the
 * commit without one.  Returns false, with a message in the log, if the file is in use.
 */
extern bool tier_pending_drop(RelFileLocator file);

/*
 * Ends the registration in the current transaction, if nothing is left of the file except the
 * segment that the next checkpoint removes, and if the table is not locked.  Otherwise it
 * stays for tier_pending_sweep().  If another file has got the number in the meantime, it is
 * not touched, and the registration ends.
 */
extern void tier_pending_unregister(RelFileLocator file, bool is_ours);

/*
 * Releases all locks: others can remove the files, move the relation and drop
 * the extension.  No error; harmless when repeated.
 */
extern void tier_pending_release(void);

/*
 * Removes, at the commit of the current transaction, files whose movers have exited or given
 * up, and ends registrations of files that do not exist.  Failures are logged; the file stays
 * registered, and the next sweep tries again.  Returns the number of files with blocks that
 * are removed.
 */
extern int	tier_pending_sweep(void);

/* Returns true if the file is registered now, by any process; false without the extension. */
extern bool tier_pending_is_registered(RelFileLocator file);

#endif							/* TIER_PENDING_FILE_H */
