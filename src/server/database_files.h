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

/* One database in one tablespace. */
typedef struct TierDatabaseFiles
{
	Oid			database_oid;
	double		bytes;			/* as long as the files are: not compressed */
} TierDatabaseFiles;

/*
 * What databases have in the tablespace, each that has a directory there, in no particular
 * order; in the current memory context.  By stat() of each file, without a lock, so it takes
 * some seconds for a million.  Catalogs as initdb numbers them are left out, temporary
 * tables are not.  The tablespace's OID is never 0.
 */
extern TierDatabaseFiles *tier_database_files(Oid tablespace_oid, int *n);

/* In all of them. */
extern double tier_database_files_of_all(Oid tablespace_oid);

/* In all but this database. */
extern double tier_database_files_of_others(Oid tablespace_oid);

/* In this database alone. */
extern double tier_database_files_of_own(Oid tablespace_oid);

/* What others have, as this process has seen it some seconds ago at most. */
extern double tier_database_files_of_others_lately(Oid tablespace_oid);

#endif							/* TIER_DATABASE_FILES_H */
