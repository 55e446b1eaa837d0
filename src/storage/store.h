/*-------------------------------------------------------------------------
 *
 * storage/store.h
 *		Whether the file system of a tablespace answers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_STORE_H
#define TIER_STORE_H

#include "postgres.h"

#include "datatype/timestamp.h"

/*
 * Returns false if the tablespace is on a remote file system that does not answer, or without
 * the server's directory.  Then no call may touch its files: it could last for ever.  Call it
 * before each such call; what it has found counts for some seconds, so it is cheap.
 *
 * Otherwise waits for an answer until the question is five seconds old, one second if it has
 * stalled, and interrupts are served.  The first to find that it does not answer, or answers
 * again, raises a WARNING.  In a transaction.  Always true for pg_default and pg_global.  Errors
 * only for memory and interrupts.
 */
extern bool tier_store_answers(Oid tablespace_oid);

/*
 * Returns true if somebody has found that it does not answer, and nobody that it does again.
 * Does not wait.  Errors only for memory.
 */
extern bool tier_store_has_stalled(Oid tablespace_oid);

/* Returns true if it answers again since then, or was first asked since then. */
extern bool tier_store_is_back_since(Oid tablespace_oid, TimestampTz since);

#endif							/* TIER_STORE_H */
