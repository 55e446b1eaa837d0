/*-------------------------------------------------------------------------
 *
 * catalog/move_plan.c
 *		Moves that run, moves that have failed and will be tried again, and the stored plan.
 *
 * See catalog/tables.h.  The stored plan is only for display.  It is unlogged, and empty after
 * a crash: each run makes a new plan from policies, advice and the record of moves.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"

Oid *
tier_catalog_load_running(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT m.relation_oid FROM _tiered_storage.move m JOIN pg_catalog.pg_stat_activity a "
	"ON a.pid = m.pid AND a.backend_start = m.backend_start WHERE m.state = 'running'";
	static const TierColumn field = {.type = OIDOID};

	*n = (int) tier_query_plain(sql);
	return tier_rows(context, &field, 1, sizeof(Oid), *n);
}

TierBackoff *
tier_catalog_load_backoff(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT m.relation_oid, m.next_attempt_at FROM _tiered_storage.move m "
	"WHERE m.next_attempt_at > now() AND m.state IN ('failed', 'skipped') "
	"AND m.move_id = (SELECT max(l.move_id) FROM _tiered_storage.move l "
	"WHERE l.relation_oid = m.relation_oid) ORDER BY m.relation_oid";
	static const TierColumn fields[] = {
		TIER_FIELD(TierBackoff, relation_oid, OIDOID),
		TIER_FIELD(TierBackoff, next_attempt_at, TIMESTAMPTZOID),
	};

	*n = (int) tier_query_plain(sql);
	return TIER_ROWS(context, TierBackoff, fields, *n);
}

int
tier_catalog_move_failures(Oid relation_oid)
{
	static const char sql[] =
	"SELECT m.failures FROM _tiered_storage.move m WHERE m.relation_oid = $1 "
	"ORDER BY m.move_id DESC LIMIT 1";

	return tier_query(sql, tier_arg_oid(relation_oid)) > 0 ? tier_get_int4(0, 1) : 0;
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
