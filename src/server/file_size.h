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

#include "common/relpath.h"

/*
 * Bytes of one fork by stat() of its segments, without lock or open; 0 when
 * the file is gone.  The tablespace's OID is never 0.
 */
extern int64 tier_file_size(Oid tablespace_oid, Oid file_number, ForkNumber fork);

#endif							/* TIER_FILE_SIZE_H */
