/*-------------------------------------------------------------------------
 *
 * storage/database_files.h
 *		Bytes that the databases of the cluster use in a tablespace, by its files.
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
 * Bytes of all databases in the tablespace: the lengths of their files, before compression by
 * the file system.  By stat() of each file, without a lock, so it takes some seconds for a
 * million files.  Includes temporary tables, but not the catalogs that initdb numbers.  The
 * tablespace's OID is never 0.
 */
extern double tier_database_files_of_all(Oid tablespace_oid);

/* Bytes of all databases but this one. */
extern double tier_database_files_of_others(Oid tablespace_oid);

/* Bytes of this database alone. */
extern double tier_database_files_of_own(Oid tablespace_oid);

/* Bytes of the other databases, from a cache of this process that is some seconds old at most. */
extern double tier_database_files_of_others_lately(Oid tablespace_oid);

#endif							/* TIER_DATABASE_FILES_H */
