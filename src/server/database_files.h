/*-------------------------------------------------------------------------
 *
 * server/database_files.h
 *		What the databases of the cluster have in a tablespace, by its files.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DATABASE_FILES_H
#define TIER_DATABASE_FILES_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* The OIDs of all tablespaces but pg_global, in ascending order. */
extern List *tier_tablespaces(void);

/*
 * What databases have in the tablespace, as long as their files are: not compressed.  By stat() of
 * each file, without a lock, so it takes some seconds for a million.  Catalogs as initdb numbers
 * them are left out, temporary tables are not.  The tablespace's OID is never 0.
 */
extern double tier_database_files_of_all(Oid tablespace_oid);

/* Of all but this database. */
extern double tier_database_files_of_others(Oid tablespace_oid);

/* Of this database alone. */
extern double tier_database_files_of_own(Oid tablespace_oid);

/* What others have, as this process has seen it some seconds ago at most. */
extern double tier_database_files_of_others_lately(Oid tablespace_oid);

#endif							/* TIER_DATABASE_FILES_H */
