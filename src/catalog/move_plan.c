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
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

TierRunningMove *
tier_catalog_load_running_moves(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT m.relation_oid, m.from_tablespace_oid, m.to_tablespace_oid, m.size_bytes::float8, "
	"m.policy_id, (m.policy_kind = 'fullness')::int4, "
	"m.policy_id IS NULL AND m.batch_id IS NOT NULL AND m.undo_of IS NULL, m.failures, "
	"COALESCE(p.phase, 'starting'), CASE WHEN p.blocks_total > 0 "
	"THEN format('%s of %s blocks', p.blocks_done, p.blocks_total) END "
	"FROM _tiered_storage.move m JOIN pg_catalog.pg_stat_activity a "
	"ON a.pid = m.pid AND a.backend_start = m.backend_start "
	"LEFT JOIN LATERAL _tiered_storage.mover_progress(m.pid) p ON true "
	"WHERE m.state = 'running' ORDER BY m.started_at, m.move_id";
	static const TierColumn fields[] = {
		TIER_FIELD(TierRunningMove, relation_oid, OIDOID),
		TIER_FIELD(TierRunningMove, from_tablespace_oid, OIDOID),
		TIER_FIELD(TierRunningMove, to_tablespace_oid, OIDOID),
		TIER_FIELD(TierRunningMove, bytes, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierRunningMove, policy_id, INT4OID),
		TIER_FIELD(TierRunningMove, policy_kind, INT4OID),
		TIER_FIELD(TierRunningMove, is_advised, BOOLOID),
		TIER_FIELD(TierRunningMove, failures, INT4OID),
		TIER_FIELD(TierRunningMove, phase, TEXTOID),
		TIER_FIELD(TierRunningMove, blocks, TEXTOID),
	};

	*n = (int) tier_query_plain(sql);
	return TIER_ROWS(context, TierRunningMove, fields, *n);
}

TierFailedMove *
tier_catalog_load_failed_moves(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT l.relation_oid, l.failures, l.next_attempt_at, l.next_attempt_at > now(), l.error "
	"FROM (SELECT DISTINCT ON (m.relation_oid) m.* FROM _tiered_storage.move m "
	"ORDER BY m.relation_oid, m.move_id DESC) l "
	"WHERE l.state IN ('failed', 'skipped') ORDER BY l.relation_oid";
	static const TierColumn fields[] = {
		TIER_FIELD(TierFailedMove, relation_oid, OIDOID),
		TIER_FIELD(TierFailedMove, failures, INT4OID),
		TIER_FIELD(TierFailedMove, next_attempt_at, TIMESTAMPTZOID),
		TIER_FIELD(TierFailedMove, backs_off, BOOLOID),
		TIER_FIELD(TierFailedMove, error, TEXTOID),
	};

	*n = (int) tier_query_plain(sql);
	return TIER_ROWS(context, TierFailedMove, fields, *n);
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
	static const TierColumn fields[] = {
		TIER_FIELD(TierStoredMove, relation_oid, OIDOID),
		TIER_FIELD(TierStoredMove, from_tablespace_oid, OIDOID),
		TIER_FIELD(TierStoredMove, to_tablespace_oid, OIDOID),
		TIER_FIELD(TierStoredMove, from_tier, TEXTOID),
		TIER_FIELD(TierStoredMove, to_tier, TEXTOID),
		TIER_FIELD(TierStoredMove, source, INT4OID),
		TIER_FIELD(TierStoredMove, policy_id, INT4OID),
		TIER_FIELD(TierStoredMove, waits_for, TEXTOID),
		TIER_FIELD(TierStoredMove, planned_at, TIMESTAMPTZOID),
	};

	*n = 0;
	if (RecoveryInProgress())
		return NULL;
	*n = (int) tier_query_plain(sql);
	return TIER_ROWS(context, TierStoredMove, fields, *n);
}
