/*-------------------------------------------------------------------------
 *
 * catalog/move_rows.c
 *		The record of moves.  See catalog/tables.h.
 *
 * A move that fails repeatedly has one row, not one for each attempt, so that the table grows
 * with the number of moved relations and not with time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"
#include "src/base/clock.h"

/* Whether advice has requested the last attempt of a row m.  Moves of undo_move() do not count. */
#define IS_ADVISED "(m.batch_id IS NOT NULL AND m.undo_of IS NULL AND m.policy_id IS NULL)"

/*
 * For so long after a move, a sample that began before the move may still detect it.  Shorter
 * than the time to move the relation away and back, with a sample each time.
 */
#define SAMPLE_UNDER_WAY "interval '1 minute'"

/* Whether a policy has returned it to a faster tier. */
#define IS_RETURN \
	"(m.policy_kind = 'tiering' AND m.undo_of IS NULL AND " \
	"(SELECT r.rank FROM _tiered_storage.tier r WHERE r.tier_name = m.from_tier) > " \
	"(SELECT r.rank FROM _tiered_storage.tier r WHERE r.tier_name = m.to_tier))"

/* Whether move_limit_per_day counts it. */
#define IS_LIMITED "(" IS_ADVISED " OR " IS_RETURN ")"

/*
 * The tries of a row m that failed in the last day, the last one included, which is about
 * to be forgotten.  Those of an hour are one, so that they remain few.  A window may be
 * open for a day, and for an hour more where clocks are changed.
 */
#define FAILED_TRIES \
	"SELECT array_agg(f.at ORDER BY f.at), array_agg(f.bytes ORDER BY f.at), " \
	"array_agg(f.limited_bytes ORDER BY f.at) FROM " \
	"(SELECT max(u.at) AS at, sum(u.bytes)::int8 AS bytes, " \
	"COALESCE(sum(u.limited_bytes), 0)::int8 AS limited_bytes " \
	"FROM unnest(m.failed_at || m.finished_at, m.failed_bytes || m.copied_bytes, " \
	"m.failed_limited_bytes || CASE WHEN " IS_LIMITED " THEN m.copied_bytes END) " \
	"u (at, bytes, limited_bytes) " \
	"WHERE u.bytes > 0 AND u.at > now() - interval '26 hours' " \
	"GROUP BY date_trunc('hour', u.at)) f"

int64
tier_catalog_begin_move(const TierMoveRow *row)
{
	static const char update_sql[] =
	"UPDATE _tiered_storage.move m SET state = 'running', relation_name = $2, kind = $3, "
	"(failed_at, failed_bytes, failed_limited_bytes) = (" FAILED_TRIES "), "
	"from_tablespace = $4, from_tablespace_oid = $20, to_tablespace = $5, "
	"to_tablespace_oid = $21, from_tier = $6, "
	"to_tier = $7, requested_by = $8, policy_id = $9, policy_kind = $22, "
	"reason = $10, method = $11, size_bytes = $12, requested_at = statement_timestamp(), "
	"started_at = clock_timestamp(), "
	"finished_at = NULL, next_attempt_at = NULL, lock_wait_ms = NULL, lock_held_ms = NULL, "
	"lock_flush_ms = NULL, copied_bytes = NULL, "
	"batch_id = $14, predicted_saved_io_s_per_hour = $15, "
	"before_io_s_per_hour = $16, predicted_io_s_per_hour = $17, undo_of = $18, "
	"elapsed_ms = NULL, waited_ms = NULL, error = NULL, sqlstate = NULL, "
	"pid = $13, backend_start = $19, placed_at = NULL, (" TIER_SQL_INDEX_IDENTITY ") = "
	"(SELECT " TIER_SQL_INDEX_IDENTITY " FROM _tiered_storage.index_identity($1)) "
	"WHERE m.move_id = (SELECT max(l.move_id) FROM _tiered_storage.move l "
	"WHERE l.relation_oid = $1) AND (m.to_tablespace_oid = $21 OR m.to_tier = $7) "
	"AND m.state IN ('failed', 'skipped') "
	"RETURNING m.move_id";
	static const char insert_sql[] =
	"INSERT INTO _tiered_storage.move (relation_oid, relation_name, kind, from_tablespace, "
	"to_tablespace, from_tier, to_tier, state, requested_by, policy_id, reason, method, "
	"size_bytes, started_at, pid, backend_start, batch_id, predicted_saved_io_s_per_hour, "
	"before_io_s_per_hour, predicted_io_s_per_hour, undo_of, from_tablespace_oid, "
	"to_tablespace_oid, policy_kind, " TIER_SQL_INDEX_IDENTITY ") "
	"SELECT $1, $2, $3, $4, $5, $6, $7, 'running', $8, $9, $10, $11, $12, clock_timestamp(), "
	"$13, $19, $14, $15, $16, $17, $18, $20, $21, $22, " TIER_SQL_INDEX_IDENTITY " "
	"FROM _tiered_storage.index_identity($1) "
	"RETURNING move_id";
	const TierValue values[] = {
		tier_arg_oid(row->relation_oid),
		tier_arg_text(row->relation_name),
		tier_arg_text(row->kind),
		tier_arg_name_text(row->from_tablespace),
		tier_arg_name_text(row->to_tablespace),
		tier_arg_name_text(row->from_tier),
		tier_arg_name_text(row->to_tier),
		tier_arg_name_text(row->requested_by),
		tier_arg_if(row->policy_id != 0, tier_arg_int4(row->policy_id)),
		tier_arg_text(row->reason),
		tier_arg_text(row->method),
		tier_arg_int8(row->size_bytes),
		tier_arg_int4(MyProcPid),
		tier_arg_if(row->batch_id != 0, tier_arg_int8(row->batch_id)),
		tier_arg_float8(row->predicted_s_per_hour),
		tier_arg_float8(row->before_s_per_hour),
		tier_arg_float8(row->after_s_per_hour),
		tier_arg_if(row->undo_of != 0, tier_arg_int8(row->undo_of)),

		/*
		 * As pg_stat_activity has it for who may see it, which we need not
		 * be.
		 */
		tier_arg_time(MyStartTimestamp),
		tier_arg_oid(row->from_tablespace_oid),
		tier_arg_oid(row->to_tablespace_oid),
		tier_arg_if(row->policy_id != 0,
					tier_arg_text(row->policy_kind == TIER_POLICY_FULLNESS ? "fullness" :
								  "tiering")),
	};

	if (tier_catalog_run(update_sql, values, lengthof(values)) == 0 &&
		tier_catalog_run(insert_sql, values, lengthof(values)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not record the move of %s", row->relation_name),
				 errdetail("Table _tiered_storage.move has not accepted the row."),
				 errhint("Drop triggers and rules that were added to that table.")));
	return tier_get_int8(0, 1);
}

void
tier_catalog_finish_move(int64 move_id, const TierMoveOutcome *outcome)
{
	static const char sql[] =
	"UPDATE _tiered_storage.move m SET state = $2, finished_at = clock_timestamp(), "
	"attempts = attempts + $3, lock_wait_ms = $4, lock_held_ms = $5, elapsed_ms = $6, "
	"lock_flush_ms = $9, copied_bytes = $10, waited_ms = $12, "
	"error = $7, sqlstate = $8, pid = NULL, backend_start = NULL, "
	"failures = CASE WHEN $2 = 'done' OR $11 THEN failures ELSE failures + 1 END, "
	"costly_failures = CASE WHEN $2 = 'done' OR $11 OR $13 THEN costly_failures "
	"ELSE costly_failures + 1 END, "
	"next_attempt_at = CASE WHEN $2 = 'done' OR $14 THEN NULL ELSE clock_timestamp() + "
	"least(interval '1 hour', interval '1 minute' * "
	"CASE WHEN $13 THEN least(10, power(2, least(failures, 10))) "
	"ELSE power(2, least(costly_failures, 10)) END) END, "
	"placed_at = CASE WHEN $2 = 'done' AND NOT EXISTS (SELECT "
	"FROM _tiered_storage.relation_state s WHERE s.relation_oid = m.relation_oid "
	"AND s.tablespace_oid <> m.to_tablespace_oid) THEN $15 END "
	"WHERE m.move_id = $1";

	tier_query(sql, tier_arg_int8(move_id), tier_arg_text(outcome->state),
			   tier_arg_int4(outcome->attempts), tier_arg_float8(outcome->lock_wait_ms),
			   tier_arg_if(outcome->lock_held_ms >= 0, tier_arg_float8(outcome->lock_held_ms)),
			   tier_arg_float8(outcome->elapsed_ms), tier_arg_text(outcome->error),
			   tier_arg_text(outcome->sqlstate),
			   tier_arg_if(outcome->lock_flush_ms >= 0, tier_arg_float8(outcome->lock_flush_ms)),
			   tier_arg_if(outcome->copied_bytes >= 0, tier_arg_int8(outcome->copied_bytes)),
			   tier_arg_bool(outcome->is_tried_again), tier_arg_float8(outcome->waited_ms),
			   tier_arg_bool(outcome->found_no_room), tier_arg_bool(outcome->was_paused),
			   tier_arg_time(tier_clock_now()));
}

int64
tier_catalog_bytes_moved_by_advice(void)
{
	static const char sql[] =
	"SELECT COALESCE(sum(CASE WHEN COALESCE(" IS_LIMITED ", false) IS FALSE THEN 0 "
	"WHEN m.state IN ('running', 'done') THEN greatest(m.size_bytes, m.copied_bytes) "
	"ELSE COALESCE(m.copied_bytes, 0) END "
	"+ COALESCE((SELECT sum(u.bytes) FROM unnest(m.failed_at, m.failed_limited_bytes) "
	"u (at, bytes) WHERE u.at > now() - interval '24 hours'), 0)), 0)::int8 "
	"FROM _tiered_storage.move m "
	"WHERE m.state = 'running' OR m.finished_at > now() - interval '24 hours'";

	tier_query_plain(sql);
	return tier_get_int8(0, 1);
}

TierLastMove *
tier_catalog_load_last_moves(MemoryContext context, const Oid *relations, int nrelations, int *n)
{
	static const char sql[] =
	"SELECT DISTINCT ON (o.present_oid) o.present_oid, "
	"CASE WHEN o.policy_kind = 'tiering' AND o.undo_of IS NULL THEN o.policy_id END, "
	"o.from_tablespace_oid, o.from_tier, o.to_tablespace_oid, o.finished_at, "
	"EXISTS (SELECT FROM _tiered_storage.relation_state s WHERE s.relation_oid = o.present_oid "
	"AND s.placed_at > o.placed_at + " SAMPLE_UNDER_WAY ") "
	"FROM (SELECT m.*, m.relation_oid AS present_oid FROM _tiered_storage.move m "
	"WHERE m.relation_oid = ANY ($1) AND m.state = 'done' "
	"UNION ALL SELECT m.*, _tiered_storage.present_relation(m) FROM _tiered_storage.move m "
	"WHERE m.index_name IS NOT NULL AND m.state = 'done' AND m.table_oid IN "
	"(SELECT i.indrelid FROM pg_catalog.pg_index i WHERE i.indexrelid = ANY ($1))) o "
	"WHERE o.present_oid = ANY ($1) ORDER BY o.present_oid, o.move_id DESC";
	static const TierColumn fields[] = {
		TIER_FIELD(TierLastMove, relation_oid, OIDOID),
		TIER_FIELD(TierLastMove, policy_id, INT4OID),
		TIER_FIELD(TierLastMove, from_tablespace_oid, OIDOID),
		TIER_FIELD(TierLastMove, from_tier, NAMEOID),
		TIER_FIELD(TierLastMove, to_tablespace_oid, OIDOID),
		TIER_FIELD(TierLastMove, finished_at, TIMESTAMPTZOID),
		TIER_FIELD(TierLastMove, placed_since, BOOLOID),
	};

	*n = (int) tier_query(sql, tier_arg_oids(relations, nrelations));
	return TIER_ROWS(context, TierLastMove, fields, *n);
}

TierRecentMove *
tier_catalog_load_recent_moves(MemoryContext context, TimestampTz since, TimestampTz until,
							   int *n)
{
	static const char sql[] =
	"SELECT _tiered_storage.present_relation(m), m.to_tablespace_oid, m.finished_at "
	"FROM _tiered_storage.move m "
	"WHERE m.state = 'done' AND m.finished_at > $1 AND m.finished_at <= $2";
	static const TierColumn fields[] = {
		TIER_FIELD(TierRecentMove, relation_oid, OIDOID),
		TIER_FIELD(TierRecentMove, to_tablespace_oid, OIDOID),
		TIER_FIELD(TierRecentMove, finished_at, TIMESTAMPTZOID),
	};

	*n = (int) tier_query(sql, tier_arg_time(since), tier_arg_time(until));
	return TIER_ROWS(context, TierRecentMove, fields, *n);
}

int64
tier_catalog_next_batch(void)
{
	tier_query_plain("SELECT nextval('_tiered_storage.move_batch')");
	return tier_get_int8(0, 1);
}

void
tier_catalog_read_identity(const Datum *values, const bool *nulls, TierIndexIdentity *identity)
{
	Datum	   *others;
	int			n;

	memset(identity, 0, sizeof(*identity));
	identity->relation_oid = DatumGetObjectId(values[0]);
	for (int i = 1; i < TIER_IDENTITY_COLUMNS; i++)
		if (nulls[i])
			return;
	identity->table_oid = DatumGetObjectId(values[1]);
	identity->name = *DatumGetName(values[2]);
	identity->definition_hash = DatumGetInt64(values[3]);
	deconstruct_array(DatumGetArrayTypeP(values[4]), OIDOID, sizeof(Oid), true, TYPALIGN_INT,
					  &others, NULL, &n);
	for (int i = 0; i < n; i++)
		identity->others = lappend_oid(identity->others, DatumGetObjectId(others[i]));
}

#define BATCH_MOVES(which) \
	"SELECT f.oid, m.from_tablespace, m.to_tablespace_oid, m.batch_id, m.relation_oid, " \
	TIER_SQL_INDEX_IDENTITY " FROM _tiered_storage.move m " \
	"LEFT JOIN pg_catalog.pg_tablespace f ON f.oid = m.from_tablespace_oid " \
	"WHERE m.state = 'done' AND " which " ORDER BY m.finished_at DESC, m.move_id DESC"

static TierBatchMove *
read_batch(MemoryContext context, int n)
{
	TierBatchMove *moves = MemoryContextAlloc(context, sizeof(TierBatchMove) * Max(n, 1));

	for (int i = 0; i < n; i++)
	{
		Datum		identity[TIER_IDENTITY_COLUMNS];
		bool		nulls[TIER_IDENTITY_COLUMNS];
		MemoryContext old_context;

		moves[i].from_tablespace_oid = tier_get_oid(i, 1);
		moves[i].from_tablespace = tier_get_name(i, 2);
		moves[i].to_tablespace_oid = tier_get_oid(i, 3);
		moves[i].batch_id = tier_get_int8(i, 4);
		for (int k = 0; k < TIER_IDENTITY_COLUMNS; k++)
			identity[k] = tier_catalog_datum(i, 5 + k, &nulls[k]);
		old_context = MemoryContextSwitchTo(context);
		tier_catalog_read_identity(identity, nulls, &moves[i].identity);
		MemoryContextSwitchTo(old_context);
	}
	return moves;
}

TierBatchMove *
tier_catalog_load_batch(MemoryContext context, int64 batch_id, int *n)
{
	*n = (int) tier_query(BATCH_MOVES("m.batch_id = $1"), tier_arg_int8(batch_id));
	return read_batch(context, *n);
}

TierBatchMove *
tier_catalog_load_last_call(MemoryContext context, const Oid *relations, int nrelations, int *n)
{
	static const char sql[] =
	BATCH_MOVES("(_tiered_storage.present_relation(m) = ANY ($1) OR m.table_oid = ANY ($1)) "
				"AND EXISTS (SELECT FROM "
				"(SELECT l.* FROM _tiered_storage.move l WHERE l.state = 'done' "
				"AND _tiered_storage.present_relation(l) = ANY ($1) "
				"ORDER BY l.move_id DESC LIMIT 1) l "
				"WHERE m.batch_id IS NOT DISTINCT FROM l.batch_id AND "
				"(m.batch_id IS NOT NULL OR (m.requested_by, m.requested_at) "
				"= (l.requested_by, l.requested_at)))");

	*n = (int) tier_query(sql, tier_arg_oids(relations, nrelations));
	return read_batch(context, *n);
}

bool
tier_catalog_batch_exists(int64 batch_id)
{
	return tier_query("SELECT FROM _tiered_storage.move m WHERE m.batch_id = $1 LIMIT 1",
					  tier_arg_int8(batch_id)) > 0;
}

char *
tier_catalog_policies_of_batch(MemoryContext context, int64 batch_id, int *n,
							   TierPolicyKind *kind)
{
	static const char sql[] =
	"SELECT count(*)::int4, string_agg(p.policy_id::text, ', ' ORDER BY p.policy_id), "
	"COALESCE(bool_or(p.is_fullness), false) "
	"FROM (SELECT policy_id, enabled, false AS is_fullness FROM _tiered_storage.policy "
	"UNION ALL SELECT policy_id, enabled, true FROM _tiered_storage.fullness_policy) p "
	"WHERE p.enabled AND p.policy_id IN "
	"(SELECT m.policy_id FROM _tiered_storage.move m WHERE m.batch_id = $1)";

	tier_query(sql, tier_arg_int8(batch_id));
	*n = tier_get_int4(0, 1);
	*kind = tier_get_bool(0, 3) ? TIER_POLICY_FULLNESS :
		TIER_POLICY_TIERING;
	return tier_get_text(context, 0, 2);
}

int64
tier_catalog_undone_by(int64 batch_id)
{

	tier_query("SELECT max(m.batch_id) FROM _tiered_storage.move m "
			   "WHERE m.undo_of = $1 AND m.state = 'done'", tier_arg_int8(batch_id));
	return tier_get_int8(0, 1);
}

void
tier_catalog_forget_move(int64 move_id)
{
	tier_query("DELETE FROM _tiered_storage.move WHERE move_id = $1", tier_arg_int8(move_id));
}

void
tier_catalog_note_moved(Oid relation_oid, Oid tablespace_oid)
{
	static const char sql[] =
	"UPDATE _tiered_storage.relation_state s "
	"SET tablespace_oid = $2, file_number = u.relfilenode, "
	"placed_at = CASE WHEN s.tablespace_oid <> $2 THEN $3 ELSE s.placed_at END, "
	"previous_tablespace_oid = s.tablespace_oid, previous_file_number = s.file_number "
	"FROM (SELECT c.oid, c.relfilenode FROM "
	"(SELECT x.relation_oid FROM _tiered_storage.relation_state x WHERE x.relation_oid IN "
	TIER_SQL_UNIT_OF_RELATION " FOR UPDATE OF x SKIP LOCKED) o "
	"CROSS JOIN LATERAL _tiered_storage.relation_entry(o.relation_oid) c) u "
	"WHERE u.oid = s.relation_oid AND u.relfilenode <> s.file_number";

	tier_query(sql, tier_arg_oid(relation_oid), tier_arg_oid(tablespace_oid),
			   tier_arg_time(tier_clock_now()));
}

TierMovePace
tier_catalog_move_pace(Oid from_tablespace_oid, Oid to_tablespace_oid)
{
	static const char sql[] =
	"WITH peer AS (SELECT a.tablespace_oid AS of_oid, b.tablespace_oid "
	"FROM _tiered_storage.tier_tablespaces a JOIN _tiered_storage.tier_tablespaces b "
	"ON b.tier_name = a.tier_name WHERE a.tablespace_oid IN ($1, $2) "
	"UNION VALUES ($1, $1), ($2, $2)) "
	"SELECT count(*)::int4, sum(l.size_bytes)::float8, "
	"sum(greatest(l.elapsed_ms - COALESCE(l.lock_wait_ms, 0) - COALESCE(l.waited_ms, 0), 0)) "
	"/ 1000 FROM (SELECT m.size_bytes, m.elapsed_ms, m.lock_wait_ms, m.waited_ms "
	"FROM _tiered_storage.move m WHERE m.state = 'done' "
	"AND m.from_tablespace_oid IN (SELECT p.tablespace_oid FROM peer p WHERE p.of_oid = $1) "
	"AND m.to_tablespace_oid IN (SELECT p.tablespace_oid FROM peer p WHERE p.of_oid = $2) "
	"ORDER BY m.move_id DESC LIMIT 100) l";
	TierMovePace pace = {0};

	tier_query(sql, tier_arg_oid(from_tablespace_oid), tier_arg_oid(to_tablespace_oid));
	pace.moves = tier_get_int4(0, 1);
	pace.bytes = tier_get_float8_or(0, 2, 0.0);
	pace.seconds = tier_get_float8_or(0, 3, 0.0);
	return pace;
}

TierRecentMove *
tier_catalog_load_placed(MemoryContext context, const Oid *relation_oids, int nrelations,
						 TimestampTz since, int *n)
{
	static const char sql[] =
	"SELECT p.relation_oid, max(p.placed_at) FROM (SELECT s.relation_oid, s.placed_at "
	"FROM _tiered_storage.relation_state s WHERE s.placed_at > $2 UNION ALL "
	"SELECT _tiered_storage.present_relation(m), m.finished_at FROM _tiered_storage.move m "
	"WHERE m.state = 'done' AND m.finished_at > $2) p WHERE p.relation_oid = ANY ($1) "
	"GROUP BY 1 ORDER BY 1";
	static const TierColumn fields[] = {
		TIER_FIELD(TierRecentMove, relation_oid, OIDOID),
		TIER_FIELD(TierRecentMove, finished_at, TIMESTAMPTZOID),
	};

	*n = (int) tier_query(sql, tier_arg_oids(relation_oids, nrelations), tier_arg_time(since));
	return TIER_ROWS(context, TierRecentMove, fields, *n);
}
