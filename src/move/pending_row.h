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

/* A row, as read. */
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
 * move_file of the extension as it is now; an OID of 0 when there is none.  Not
 * whatever else has that name.
 */
extern Oid	tier_pending_table_oid(Oid extension_oid);

/*
 * Is it as the install script has made it?  Superusers can alter it, and what is
 * below here relies on its columns, and on there being no index but the key.
 */
extern bool tier_pending_table_is_intact(Relation table);

/*
 * The table, locked to the end of the transaction; NULL when it is gone, or was
 * altered.  Waits for nobody: a DROP EXTENSION may have it already and wait for us.
 */
extern Relation tier_pending_table_open_if_free(Oid table_oid);

/* Adds a row of this process. */
extern void tier_pending_row_insert(Relation table, Oid relation_oid, RelFileLocator file);

/*
 * The row of a file as of now; false when there is none.  A row from before ALTER
 * DATABASE SET TABLESPACE may name what is the default tablespace now.
 */
extern bool tier_pending_row_find(Relation table, RelFileLocator file, TierPendingRow *row);

/* The same by the primary key. */
extern bool tier_pending_row_find_stored(Relation table, Oid stored_tablespace_oid,
										 RelFileNumber file_number, TierPendingRow *row);

/* At most `most` of the rows as of now, in the current memory context. */
extern TierPendingRow *tier_pending_row_read_all(Relation table, int most, int *n);

/*
 * Deletes a row, unless that would have to wait for somebody; then false.  Below
 * the executor: triggers, rules and publications of others have no say.
 */
extern bool tier_pending_row_delete(Relation table, ItemPointer tid);

#endif							/* TIER_PENDING_ROW_H */
