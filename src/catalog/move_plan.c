/*-------------------------------------------------------------------------
 *
 * catalog/move_plan.c
 *		Moves that run, moves that have failed and will be tried again, and the stored plan.
 *
 * See catalog/tables.h.  The stored plan is for people to look at.  It is not logged, and empty
 * after a crash: a run makes its own from policies, advice and the record of moves.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
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

	*n = (int) tier_query_plain(sql);
	moves = MemoryContextAllocZero(context, sizeof(TierRunningMove) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		moves[i].relation_oid = tier_get_oid(i, 1);
		moves[i].from_tablespace_oid = tier_get_oid(i, 2);
		moves[i].to_tablespace_oid = tier_get_oid(i, 3);
		moves[i].bytes = tier_get_float8(i, 4);
		moves[i].policy_id = tier_get_int4(i, 5);
		moves[i].policy_kind = tier_get_bool(i, 6) ?
			TIER_POLICY_FULLNESS : TIER_POLICY_TIERING;
		moves[i].is_advised = tier_get_bool(i, 7);
		moves[i].failures = tier_get_int4(i, 8);
		moves[i].phase = tier_get_text(context, i, 9);
		moves[i].blocks = tier_get_text(context, i, 10);
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

	*n = (int) tier_query_plain(sql);
	moves = MemoryContextAllocHuge(context, sizeof(TierFailedMove) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		moves[i].relation_oid = tier_get_oid(i, 1);
		moves[i].failures = tier_get_int4(i, 2);
		moves[i].next_attempt_at = tier_get_time(i, 3);
		moves[i].backs_off = tier_get_bool(i, 4);
		moves[i].error = tier_get_text(context, i, 5);
	}
	return moves;
}

static TierValue
clipped(const char *value)
{
	return tier_arg_text(value == NULL ? NULL : tier_catalog_clip(value));
}

void
tier_catalog_store_plan(const TierStoredMove *moves, int n)
{
	/* In one order, so that of two that store one waits for the other. */
	static const char sql[] =
	"INSERT INTO _tiered_storage.planned_move AS p SELECT n.*, now() FROM "
	"unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) n (relation_oid, place, "
	"from_tablespace_oid, to_tablespace_oid, from_tier, to_tier, source, policy_id, "
	"waits_for) ORDER BY n.relation_oid ON CONFLICT (relation_oid) DO UPDATE SET "
	"place = EXCLUDED.place, from_tablespace_oid = EXCLUDED.from_tablespace_oid, "
	"to_tablespace_oid = EXCLUDED.to_tablespace_oid, from_tier = EXCLUDED.from_tier, "
	"to_tier = EXCLUDED.to_tier, source = EXCLUDED.source, policy_id = EXCLUDED.policy_id, "
	"waits_for = EXCLUDED.waits_for, planned_at = EXCLUDED.planned_at "
	"WHERE (p.place, p.from_tablespace_oid, p.to_tablespace_oid, p.from_tier, p.to_tier, "
	"p.source, p.policy_id, p.waits_for) IS DISTINCT FROM (EXCLUDED.place, "
	"EXCLUDED.from_tablespace_oid, EXCLUDED.to_tablespace_oid, EXCLUDED.from_tier, "
	"EXCLUDED.to_tier, EXCLUDED.source, EXCLUDED.policy_id, EXCLUDED.waits_for)";
	static const TierColumn relation = {
		.type = OIDOID,.offset = offsetof(TierStoredMove, relation_oid)
	};
	TierBulk   *bulk = tier_bulk_create(sql);

	tier_query("DELETE FROM _tiered_storage.planned_move WHERE relation_oid <> ALL ($1)",
			   tier_arg_fields(moves, n, sizeof(TierStoredMove), &relation));
	for (int i = 0; i < n; i++)
		tier_bulk_row(bulk, tier_arg_oid(moves[i].relation_oid), tier_arg_int4(i + 1),
					  tier_arg_oid(moves[i].from_tablespace_oid),
					  tier_arg_oid(moves[i].to_tablespace_oid), clipped(moves[i].from_tier),
					  clipped(moves[i].to_tier), tier_arg_int4(moves[i].source),
					  tier_arg_int4(moves[i].policy_id), clipped(moves[i].waits_for));
	tier_bulk_finish(bulk);
}

TierStoredMove *
tier_catalog_load_plan(MemoryContext context, int *n)
{
	/* A policy may have been removed or disabled since. */
	static const char sql[] =
	"SELECT relation_oid, from_tablespace_oid, to_tablespace_oid, from_tier, to_tier, source, "
	"policy_id, waits_for, planned_at FROM _tiered_storage.planned_move p "
	"WHERE p.policy_id = 0 "
	"OR EXISTS (SELECT FROM _tiered_storage.policy t "
	"WHERE t.policy_id = p.policy_id AND t.enabled) "
	"OR EXISTS (SELECT FROM _tiered_storage.fullness_policy f "
	"WHERE f.policy_id = p.policy_id AND f.enabled) ORDER BY p.place";
	TierStoredMove *moves;

	*n = 0;
	if (RecoveryInProgress())
		return NULL;
	*n = (int) tier_query_plain(sql);
	moves = MemoryContextAllocZero(context, sizeof(TierStoredMove) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		moves[i].relation_oid = tier_get_oid(i, 1);
		moves[i].from_tablespace_oid = tier_get_oid(i, 2);
		moves[i].to_tablespace_oid = tier_get_oid(i, 3);
		moves[i].from_tier = tier_get_text(context, i, 4);
		moves[i].to_tier = tier_get_text(context, i, 5);
		moves[i].source = tier_get_int4(i, 6);
		moves[i].policy_id = tier_get_int4(i, 7);
		moves[i].waits_for = tier_get_text(context, i, 8);
		moves[i].planned_at = tier_get_time(i, 9);
	}
	return moves;
}
