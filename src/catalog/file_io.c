/*-------------------------------------------------------------------------
 *
 * catalog/file_io.c
 *		The store of what is read and written by class of file: file_history.
 *
 * Runs with each sample, in its transaction.  What is counted, and where, is read by
 * SQL, since the server's views differ between versions (sql/29_file_counters.sql).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"

void
tier_catalog_sample_files(TimestampTz now_at, bool by_another_server)
{
	tier_query("SELECT _tiered_storage.file_sample($1, $2)", tier_arg_time(now_at),
			   tier_arg_bool(by_another_server));
}
