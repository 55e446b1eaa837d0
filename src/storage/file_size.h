/*-------------------------------------------------------------------------
 *
 * storage/file_size.h
 *		Sizes and modification times of the files of a relation.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_FILE_SIZE_H
#define TIER_FILE_SIZE_H

#include "postgres.h"

#include <sys/stat.h>

#include "common/relpath.h"
#include "datatype/timestamp.h"

#include "src/server/relation.h"

/*
 * Bytes of one fork by stat() of its segments, without lock or open; 0 if the file does not
 * exist, or its store does not answer (storage/store.h).  The tablespace's OID is never 0.
 */
extern int64 tier_file_size(Oid tablespace_oid, Oid file_number, ForkNumber fork);

/*
 * When the file was last written, to the microsecond: in one second a database is created, filled
 * and indexed.
 */
extern TimestampTz tier_file_modified_at(const struct stat *st);

/*
 * The earliest modification time of the relation's forks: the relation is at least that old.
 * 0 if there is no file, or its store does not answer.
 */
extern TimestampTz tier_file_written_at(Oid tablespace_oid, Oid file_number);

/*
 * Bytes on disk of all forks of the relation and of its TOAST table with its
 * index, as tier_file_size() counts them.
 */
extern int64 tier_relation_disk_bytes(const TierRelationInfo *info);

#endif							/* TIER_FILE_SIZE_H */
