/*-------------------------------------------------------------------------
 *
 * move/pending_row.h
 *		The rows of _tiered_storage.move_file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_PENDING_ROW_H
#define TIER_PENDING_ROW_H

#include "postgres.h"

#include "storage/itemptr.h"
#include "utils/relcache.h"

#include "src/compat.h"

/* A row as stored. */
typedef struct TierPendingRow
{
	RelFileLocator file;
	Oid			stored_tablespace;	/* 0: the default one of the database */
	int			pid;
	int64		system_identifier;
	Oid			table_oid;		/* that the row is in */
	ItemPointerData tid;
} TierPendingRow;

/*
 * The OID of the extension's table move_file; 0 if there is none.  Ignores other tables of
 * that name.
 */
extern Oid	tier_pending_table_oid(Oid extension_oid);

/*
 * Returns true if the table is as the install script has made it.  Superusers can alter it,
 * and the functions below rely on its columns and on the key as its only index.
 */
extern bool tier_pending_table_is_intact(Relation table);

/*
 * Opens the table and locks it until the end of the transaction.  Returns NULL if it does not
 * exist or was altered.  Never waits, because a DROP EXTENSION may have locked it and wait for
 * this process.
 */
extern Relation tier_pending_table_open_if_free(Oid table_oid);

/* Adds a row of this process. */
extern void tier_pending_row_insert(Relation table, Oid relation_oid, RelFileLocator file);

/*
 * The current row of a file; false if there is none.  A row from before ALTER DATABASE SET
 * TABLESPACE may name the tablespace that is the default one now.
 */
extern bool tier_pending_row_find(Relation table, RelFileLocator file, TierPendingRow *row);

/* The same by the primary key. */
extern bool tier_pending_row_find_stored(Relation table, Oid stored_tablespace_oid,
										 RelFileNumber file_number, TierPendingRow *row);

/* At most `most` of the rows as of now, in the current memory context. */
extern TierPendingRow *tier_pending_row_read_all(Relation table, int most, int *n);

/*
 * Deletes a row.  Returns false instead of waiting for a lock.  Bypasses the executor, so
 * triggers, rules and publications do not apply.
 */
extern bool tier_pending_row_delete(Relation table, ItemPointer tid);

#endif							/* TIER_PENDING_ROW_H */
