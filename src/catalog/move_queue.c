/*-------------------------------------------------------------------------
 *
 * catalog/move_queue.c
 *		Moves that run, and moves that have failed and will be tried again.
 *
 * See catalog/tables.h.  There is no table of what waits: that follows from policies,
 * advice and the record of moves, which is what survives a crash.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

TierRunningMove *
tier_catalog_load_running_moves(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT m.relation_oid, m.from_tablespace_oid, m.to_tablespace_oid, m.size_bytes::float8, "
	"COALESCE(m.policy_id, 0), COALESCE(m.policy_kind = 'fullness', false), "
	"m.policy_id IS NULL AND m.batch_id IS NOT NULL AND m.undo_of IS NULL, m.failures, "
	"COALESCE(p.phase, 'starting'), CASE WHEN p.blocks_total > 0 "
	"THEN format('%s of %s blocks', p.blocks_done, p.blocks_total) END "
	"FROM _tiered_storage.move m JOIN pg_catalog.pg_stat_activity a "
	"ON a.pid = m.pid AND a.backend_start = m.backend_start "
	"LEFT JOIN LATERAL _tiered_storage.mover_progress(m.pid) p ON true "
	"WHERE m.state = 'running' ORDER BY m.started_at, m.move_id";
	TierRunningMove *moves;
	bool		isnull;
	Datum		value;

	*n = (int) tier_catalog_execute(sql, 0, NULL, NULL, NULL);
	moves = MemoryContextAllocZero(context, sizeof(TierRunningMove) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		moves[i].relation_oid = DatumGetObjectId(tier_catalog_datum(i, 1, &isnull));
		moves[i].from_tablespace_oid = DatumGetObjectId(tier_catalog_datum(i, 2, &isnull));
		moves[i].to_tablespace_oid = DatumGetObjectId(tier_catalog_datum(i, 3, &isnull));
		moves[i].bytes = DatumGetFloat8(tier_catalog_datum(i, 4, &isnull));
		moves[i].policy_id = DatumGetInt32(tier_catalog_datum(i, 5, &isnull));
		moves[i].policy_kind = DatumGetBool(tier_catalog_datum(i, 6, &isnull)) ?
			TIER_POLICY_FULLNESS : TIER_POLICY_TIERING;
		moves[i].is_advised = DatumGetBool(tier_catalog_datum(i, 7, &isnull));
		moves[i].failures = DatumGetInt32(tier_catalog_datum(i, 8, &isnull));
		value = tier_catalog_datum(i, 9, &isnull);
		moves[i].phase = MemoryContextStrdup(context, TextDatumGetCString(value));
		value = tier_catalog_datum(i, 10, &isnull);
		if (!isnull)
			moves[i].blocks = MemoryContextStrdup(context, TextDatumGetCString(value));
	}
	return moves;
}

TierFailedMove *
tier_catalog_load_failed_moves(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT l.relation_oid, l.failures, l.next_attempt_at, l.next_attempt_at > now(), l.error "
	"FROM (SELECT DISTINCT ON (m.relation_oid) m.* FROM _tiered_storage.move m "
	"ORDER BY m.relation_oid, m.move_id DESC) l "
	"WHERE l.state IN ('failed', 'skipped') ORDER BY l.relation_oid";
	TierFailedMove *moves;
	bool		isnull;
	Datum		value;

	*n = (int) tier_catalog_execute(sql, 0, NULL, NULL, NULL);
	moves = MemoryContextAllocHuge(context, sizeof(TierFailedMove) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		moves[i].relation_oid = DatumGetObjectId(tier_catalog_datum(i, 1, &isnull));
		moves[i].failures = DatumGetInt32(tier_catalog_datum(i, 2, &isnull));
		value = tier_catalog_datum(i, 3, &isnull);
		moves[i].next_attempt_at = isnull ? 0 : DatumGetTimestampTz(value);
		value = tier_catalog_datum(i, 4, &isnull);
		moves[i].backs_off = !isnull && DatumGetBool(value);
		value = tier_catalog_datum(i, 5, &isnull);
		moves[i].error = isnull ? NULL : MemoryContextStrdup(context, TextDatumGetCString(value));
	}
	return moves;
}
