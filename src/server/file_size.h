/*-------------------------------------------------------------------------
 *
 * server/file_size.h
 *		How large the files of a relation are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_FILE_SIZE_H
#define TIER_FILE_SIZE_H

#include "postgres.h"

#include <sys/stat.h>

#include "common/relpath.h"
#include "datatype/timestamp.h"

/*
 * Bytes of one fork by stat() of its segments, without lock or open; 0 when
 * the file is gone.  The tablespace's OID is never 0.
 */
extern int64 tier_file_size(Oid tablespace_oid, Oid file_number, ForkNumber fork);

/*
 * When the file was last written, to the microsecond: in one second a database is created, filled
 * and indexed.
 */
extern TimestampTz tier_file_modified_at(const struct stat *st);

/*
 * When the fork that has been left alone for longest was last written, by its
 * file: the relation is at least that old.  0 when there is no file.
 */
extern TimestampTz tier_file_written_at(Oid tablespace_oid, Oid file_number);

#endif							/* TIER_FILE_SIZE_H */
