/*-------------------------------------------------------------------------
 *
 * catalog/move.c
 *		The record of moves.  See catalog/tables.h.
 *
 * A move that fails again and again has one row, not one for each attempt, so
 * that the table grows with what was moved and not with time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/catalog/tables.h"
#include "src/base/clock.h"

#define MOVE_NARGS 22

/* Was the last try of a row m asked for by advice?  What undo_move() moves was not. */
#define IS_ADVISED "(m.batch_id IS NOT NULL AND m.undo_of IS NULL AND m.policy_id IS NULL)"

/*
 * After a move is done, for so long a sample may still find that by itself which had begun
 * before.  Shorter than it takes somebody to move it away and back, with a sample each time.
 */
#define SAMPLE_UNDER_WAY "interval '1 minute'"

/* Did a policy take it back to a faster tier? */
#define IS_RETURN \
	"(m.policy_kind = 'tiering' AND m.undo_of IS NULL AND " \
	"(SELECT r.rank FROM _tiered_storage.tier r WHERE r.tier_name = m.from_tier) > " \
	"(SELECT r.rank FROM _tiered_storage.tier r WHERE r.tier_name = m.to_tier))"

/* Does move_limit_per_day count it? */
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

static Datum
optional_name(NameData *storage, const char *name, char *null)
{
	*null = name == NULL ? 'n' : ' ';
	if (name == NULL)
		return (Datum) 0;
	namestrcpy(storage, name);
	return NameGetDatum(storage);
}

int64
tier_catalog_begin_move(const TierMoveRow *row)
{
	static const char update_sql[] =
	"UPDATE _tiered_storage.move m SET state = 'running', relation_name = $2, kind = $3, "
	"(failed_at, failed_bytes, failed_limited_bytes) = (" FAILED_TRIES "), "
	"from_tablespace = $4, from_tablespace_oid = $20, to_tablespace = $5, "
	"to_tablespace_oid = $21, from_tier = $6, "
	"to_tier = $7, requested_by = $8, policy_id = $9, policy_kind = $22, "
	"reason = $10, method = $11, size_bytes = $12, started_at = clock_timestamp(), "
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
	static const Oid types[MOVE_NARGS] = {
		OIDOID, TEXTOID, TEXTOID, NAMEOID, NAMEOID, NAMEOID, NAMEOID, NAMEOID,
		INT4OID, TEXTOID, TEXTOID, INT8OID, INT4OID, INT8OID, FLOAT8OID,
		FLOAT8OID, FLOAT8OID, INT8OID, TIMESTAMPTZOID, OIDOID, OIDOID, TEXTOID
	};
	char		nulls[MOVE_NARGS + 1] = "                      ";
	Datum		values[MOVE_NARGS];
	NameData	names[5];
	bool		isnull;

	values[0] = ObjectIdGetDatum(row->relation_oid);
	values[1] = CStringGetTextDatum(row->relation_name);
	values[2] = CStringGetTextDatum(row->kind);
	values[3] = optional_name(&names[0], row->from_tablespace, &nulls[3]);
	values[4] = optional_name(&names[1], row->to_tablespace, &nulls[4]);
	values[5] = optional_name(&names[2], row->from_tier, &nulls[5]);
	values[6] = optional_name(&names[3], row->to_tier, &nulls[6]);
	values[7] = optional_name(&names[4], row->requested_by, &nulls[7]);
	values[8] = Int32GetDatum(row->policy_id);
	nulls[8] = row->policy_id == 0 ? 'n' : ' ';
	values[9] = CStringGetTextDatum(row->reason);
	values[10] = CStringGetTextDatum(row->method);
	values[11] = Int64GetDatum(row->size_bytes);
	values[12] = Int32GetDatum(MyProcPid);
	values[13] = Int64GetDatum(row->batch_id);
	nulls[13] = row->batch_id == 0 ? 'n' : ' ';
	values[14] = Float8GetDatum(row->predicted_s_per_hour);
	nulls[14] = isnan(row->predicted_s_per_hour) ? 'n' : ' ';
	values[15] = Float8GetDatum(row->before_s_per_hour);
	nulls[15] = isnan(row->before_s_per_hour) ? 'n' : ' ';
	values[16] = Float8GetDatum(row->after_s_per_hour);
	nulls[16] = isnan(row->after_s_per_hour) ? 'n' : ' ';
	values[17] = Int64GetDatum(row->undo_of);
	nulls[17] = row->undo_of == 0 ? 'n' : ' ';

	/* As pg_stat_activity has it for who may see it, which we need not be. */
	values[18] = TimestampTzGetDatum(MyStartTimestamp);
	values[19] = ObjectIdGetDatum(row->from_tablespace_oid);
	values[20] = ObjectIdGetDatum(row->to_tablespace_oid);
	values[21] = CStringGetTextDatum(row->policy_kind == TIER_POLICY_FULLNESS ? "fullness" :
									 "tiering");
	nulls[21] = row->policy_id == 0 ? 'n' : ' ';

	if (tier_catalog_execute(update_sql, MOVE_NARGS, types, values, nulls) == 0 &&
		tier_catalog_execute(insert_sql, MOVE_NARGS, types, values, nulls) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not record the move of %s", row->relation_name),
				 errdetail("Table _tiered_storage.move has not accepted the row."),
				 errhint("Drop triggers and rules that were added to that table.")));
	return DatumGetInt64(tier_catalog_datum(0, 1, &isnull));
}

void
tier_catalog_finish_move(int64 move_id, const TierMoveOutcome *outcome)
{
	static const char sql[] =
	"UPDATE _tiered_storage.move SET state = $2, finished_at = clock_timestamp(), "
	"attempts = attempts + $3, lock_wait_ms = $4, lock_held_ms = $5, elapsed_ms = $6, "
	"lock_flush_ms = $9, copied_bytes = $10, waited_ms = $12, "
	"error = $7, sqlstate = $8, pid = NULL, backend_start = NULL, "
	"failures = CASE WHEN $2 = 'done' OR $11 THEN failures ELSE failures + 1 END, "
	"costly_failures = CASE WHEN $2 = 'done' OR $11 OR $13 THEN costly_failures "
	"ELSE costly_failures + 1 END, "
	"next_attempt_at = CASE WHEN $2 = 'done' OR $14 THEN NULL ELSE clock_timestamp() + "
	"least(interval '1 hour', interval '1 minute' * "
	"CASE WHEN $13 THEN least(10, power(2, least(failures, 10))) "
	"ELSE power(2, least(costly_failures, 10)) END) END "
	"WHERE move_id = $1";
	static const Oid types[] = {
		INT8OID, TEXTOID, INT4OID, FLOAT8OID, FLOAT8OID, FLOAT8OID, TEXTOID, TEXTOID,
		FLOAT8OID, INT8OID, BOOLOID, FLOAT8OID, BOOLOID, BOOLOID
	};
	char		nulls[] = "              ";
	Datum		values[14];

	values[0] = Int64GetDatum(move_id);
	values[1] = CStringGetTextDatum(outcome->state);
	values[2] = Int32GetDatum(outcome->attempts);
	values[3] = Float8GetDatum(outcome->lock_wait_ms);
	values[4] = Float8GetDatum(outcome->lock_held_ms);
	nulls[4] = outcome->lock_held_ms < 0 ? 'n' : ' ';
	values[5] = Float8GetDatum(outcome->elapsed_ms);
	values[6] = outcome->error ? CStringGetTextDatum(outcome->error) : (Datum) 0;
	nulls[6] = outcome->error ? ' ' : 'n';
	values[7] = outcome->sqlstate ? CStringGetTextDatum(outcome->sqlstate) : (Datum) 0;
	nulls[7] = outcome->sqlstate ? ' ' : 'n';
	values[8] = Float8GetDatum(outcome->lock_flush_ms);
	nulls[8] = outcome->lock_flush_ms < 0 ? 'n' : ' ';
	values[9] = Int64GetDatum(outcome->copied_bytes);
	nulls[9] = outcome->copied_bytes < 0 ? 'n' : ' ';
	values[10] = BoolGetDatum(outcome->is_tried_again);
	values[11] = Float8GetDatum(outcome->waited_ms);
	values[12] = BoolGetDatum(outcome->found_no_room);
	values[13] = BoolGetDatum(outcome->was_paused);
	tier_catalog_execute(sql, lengthof(types), types, values, nulls);
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
	bool		isnull;

	tier_catalog_execute(sql, 0, NULL, NULL, NULL);
	return DatumGetInt64(tier_catalog_datum(0, 1, &isnull));
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
	static const Oid types[] = {OIDARRAYOID};
	Datum	   *oids = palloc_extended(sizeof(Datum) * Max(nrelations, 1), MCXT_ALLOC_HUGE);
	TierLastMove *moves;
	Datum		value;
	bool		isnull;

	for (int i = 0; i < nrelations; i++)
		oids[i] = ObjectIdGetDatum(relations[i]);
	value = PointerGetDatum(construct_array(oids, nrelations, OIDOID, sizeof(Oid), true,
											TYPALIGN_INT));
	*n = (int) tier_catalog_execute(sql, 1, types, &value, NULL);
	moves = MemoryContextAllocExtended(context, sizeof(TierLastMove) * Max(*n, 1),
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < *n; i++)
	{
		TierLastMove *move = &moves[i];
		Datum		tier;

		move->relation_oid = DatumGetObjectId(tier_catalog_datum(i, 1, &isnull));
		value = tier_catalog_datum(i, 2, &isnull);
		move->policy_id = isnull ? 0 : DatumGetInt32(value);
		move->from_tablespace_oid = DatumGetObjectId(tier_catalog_datum(i, 3, &isnull));
		tier = tier_catalog_datum(i, 4, &isnull);
		if (!isnull)
			move->from_tier = *DatumGetName(tier);
		move->to_tablespace_oid = DatumGetObjectId(tier_catalog_datum(i, 5, &isnull));
		move->finished_at = DatumGetTimestampTz(tier_catalog_datum(i, 6, &isnull));
		move->placed_since = DatumGetBool(tier_catalog_datum(i, 7, &isnull));
	}
	return moves;
}

TierRecentMove *
tier_catalog_load_recent_moves(MemoryContext context, TimestampTz since, TimestampTz until,
							   int *n)
{
	static const char sql[] =
	"SELECT _tiered_storage.present_relation(m), m.to_tablespace_oid, m.finished_at "
	"FROM _tiered_storage.move m "
	"WHERE m.state = 'done' AND m.finished_at > $1 AND m.finished_at <= $2";
	static const Oid types[] = {TIMESTAMPTZOID, TIMESTAMPTZOID};
	Datum		values[] = {TimestampTzGetDatum(since), TimestampTzGetDatum(until)};
	TierRecentMove *moves;
	bool		isnull;

	*n = (int) tier_catalog_execute(sql, 2, types, values, NULL);
	moves = MemoryContextAllocExtended(context, sizeof(TierRecentMove) * Max(*n, 1),
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < *n; i++)
	{
		Datum		relation = tier_catalog_datum(i, 1, &isnull);

		moves[i].relation_oid = isnull ? InvalidOid : DatumGetObjectId(relation);
		moves[i].to_tablespace_oid = DatumGetObjectId(tier_catalog_datum(i, 2, &isnull));
		moves[i].finished_at = DatumGetTimestampTz(tier_catalog_datum(i, 3, &isnull));
	}
	return moves;
}

int64
tier_catalog_next_batch(void)
{
	bool		isnull;

	tier_catalog_execute("SELECT nextval('_tiered_storage.move_batch')", 0, NULL, NULL, NULL);
	return DatumGetInt64(tier_catalog_datum(0, 1, &isnull));
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

TierBatchMove *
tier_catalog_load_batch(MemoryContext context, int64 batch_id, int *n)
{
	static const char sql[] =
	"SELECT f.oid, m.from_tablespace, m.to_tablespace_oid, m.relation_oid, "
	TIER_SQL_INDEX_IDENTITY " FROM _tiered_storage.move m "
	"LEFT JOIN pg_catalog.pg_tablespace f ON f.oid = m.from_tablespace_oid "
	"WHERE m.batch_id = $1 AND m.state = 'done' ORDER BY m.finished_at DESC, m.move_id DESC";
	static const Oid types[] = {INT8OID};
	Datum		value = Int64GetDatum(batch_id);
	TierBatchMove *moves;
	bool		isnull;

	*n = (int) tier_catalog_execute(sql, 1, types, &value, NULL);
	moves = MemoryContextAlloc(context, sizeof(TierBatchMove) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		Datum		identity[TIER_IDENTITY_COLUMNS];
		bool		nulls[TIER_IDENTITY_COLUMNS];
		MemoryContext old_context;

		value = tier_catalog_datum(i, 1, &isnull);
		moves[i].from_tablespace_oid = isnull ? InvalidOid : DatumGetObjectId(value);
		moves[i].from_tablespace = *DatumGetName(tier_catalog_datum(i, 2, &isnull));
		moves[i].to_tablespace_oid = DatumGetObjectId(tier_catalog_datum(i, 3, &isnull));
		for (int k = 0; k < TIER_IDENTITY_COLUMNS; k++)
			identity[k] = tier_catalog_datum(i, 4 + k, &nulls[k]);
		old_context = MemoryContextSwitchTo(context);
		tier_catalog_read_identity(identity, nulls, &moves[i].identity);
		MemoryContextSwitchTo(old_context);
	}
	return moves;
}

bool
tier_catalog_batch_exists(int64 batch_id)
{
	static const Oid types[] = {INT8OID};
	Datum		value = Int64GetDatum(batch_id);

	return tier_catalog_execute("SELECT FROM _tiered_storage.move m WHERE m.batch_id = $1 LIMIT 1",
								1, types, &value, NULL) > 0;
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
	static const Oid types[] = {INT8OID};
	Datum		value = Int64GetDatum(batch_id);
	Datum		policies;
	bool		isnull;

	tier_catalog_execute(sql, 1, types, &value, NULL);
	*n = DatumGetInt32(tier_catalog_datum(0, 1, &isnull));
	*kind = DatumGetBool(tier_catalog_datum(0, 3, &isnull)) ? TIER_POLICY_FULLNESS :
		TIER_POLICY_TIERING;
	policies = tier_catalog_datum(0, 2, &isnull);
	return isnull ? NULL : MemoryContextStrdup(context, TextDatumGetCString(policies));
}

bool
tier_catalog_can_undo(int64 batch_id)
{
	static const Oid types[] = {INT8OID};
	Datum		value = Int64GetDatum(batch_id);

	return tier_catalog_execute("SELECT FROM _tiered_storage.move_batches b "
								"WHERE b.batch_id = $1 AND b.undo_command IS NOT NULL",
								1, types, &value, NULL) > 0;
}

int64
tier_catalog_undone_by(int64 batch_id)
{
	static const Oid types[] = {INT8OID};
	Datum		value = Int64GetDatum(batch_id);
	Datum		undone_by;
	bool		isnull;

	tier_catalog_execute("SELECT max(m.batch_id) FROM _tiered_storage.move m "
						 "WHERE m.undo_of = $1 AND m.state = 'done'", 1, types, &value, NULL);
	undone_by = tier_catalog_datum(0, 1, &isnull);
	return isnull ? 0 : DatumGetInt64(undone_by);
}

void
tier_catalog_forget_move(int64 move_id)
{
	static const Oid types[] = {INT8OID};
	Datum		value = Int64GetDatum(move_id);

	tier_catalog_execute("DELETE FROM _tiered_storage.move WHERE move_id = $1",
						 1, types, &value, NULL);
}

void
tier_catalog_note_moved(int64 move_id, Oid relation_oid, Oid tablespace_oid)
{
	static const char state_sql[] =
	"UPDATE _tiered_storage.relation_state s "
	"SET tablespace_oid = $2, file_number = u.relfilenode, "
	"placed_at = CASE WHEN s.tablespace_oid <> $2 THEN $3 ELSE s.placed_at END, "
	"previous_tablespace_oid = s.tablespace_oid, previous_file_number = s.file_number "
	"FROM (SELECT c.oid, c.relfilenode FROM "
	"(SELECT x.relation_oid FROM _tiered_storage.relation_state x WHERE x.relation_oid IN "
	TIER_SQL_UNIT_OF_RELATION " FOR UPDATE OF x SKIP LOCKED) o "
	"CROSS JOIN LATERAL _tiered_storage.relation_entry(o.relation_oid) c) u "
	"WHERE u.oid = s.relation_oid AND u.relfilenode <> s.file_number";
	static const char move_sql[] =
	"UPDATE _tiered_storage.move m SET placed_at = $3 WHERE m.move_id = $4 "
	"AND NOT EXISTS (SELECT FROM _tiered_storage.relation_state s "
	"WHERE s.relation_oid = $1 AND s.tablespace_oid <> $2)";
	static const Oid types[] = {OIDOID, OIDOID, TIMESTAMPTZOID, INT8OID};
	Datum		values[4];

	values[0] = ObjectIdGetDatum(relation_oid);
	values[1] = ObjectIdGetDatum(tablespace_oid);
	values[2] = TimestampTzGetDatum(tier_clock_now());
	values[3] = Int64GetDatum(move_id);
	tier_catalog_execute(state_sql, 3, types, values, NULL);
	tier_catalog_execute(move_sql, 4, types, values, NULL);
}

Oid *
tier_catalog_load_backoff(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT DISTINCT m.relation_oid FROM _tiered_storage.move m "
	"WHERE m.next_attempt_at > now() AND m.state IN ('failed', 'skipped') "
	"AND m.move_id = (SELECT max(l.move_id) FROM _tiered_storage.move l "
	"WHERE l.relation_oid = m.relation_oid)";
	Oid		   *oids;
	bool		isnull;

	*n = (int) tier_catalog_execute(sql, 0, NULL, NULL, NULL);
	oids = MemoryContextAlloc(context, sizeof(Oid) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
		oids[i] = DatumGetObjectId(tier_catalog_datum(i, 1, &isnull));
	qsort(oids, *n, sizeof(Oid), oid_cmp);
	return oids;
}

TierMoveWait *
tier_catalog_load_move_waits(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT l.relation_oid, l.seconds FROM (SELECT DISTINCT ON (m.relation_oid) m.relation_oid, "
	"CASE m.sqlstate WHEN '55P03' THEN m.elapsed_ms - COALESCE(m.waited_ms, 0) "
	"ELSE m.lock_wait_ms END / 1000 AS seconds "
	"FROM _tiered_storage.move m ORDER BY m.relation_oid, m.move_id DESC) l "
	"WHERE l.seconds > 0 ORDER BY l.relation_oid";
	TierMoveWait *waits;
	bool		isnull;

	*n = (int) tier_catalog_execute(sql, 0, NULL, NULL, NULL);
	waits = MemoryContextAllocHuge(context, sizeof(TierMoveWait) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		waits[i].relation_oid = DatumGetObjectId(tier_catalog_datum(i, 1, &isnull));
		waits[i].seconds = DatumGetFloat8(tier_catalog_datum(i, 2, &isnull));
	}
	return waits;
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
	"/ 1000, "
	"percentile_disc(0.5) WITHIN GROUP (ORDER BY l.lock_held_ms), max(l.lock_held_ms) "
	"FROM (SELECT m.size_bytes, m.elapsed_ms, m.lock_wait_ms, m.waited_ms, "
	"CASE m.method WHEN 'online' THEN m.lock_held_ms END AS lock_held_ms "
	"FROM _tiered_storage.move m WHERE m.state = 'done' "
	"AND m.from_tablespace_oid IN (SELECT p.tablespace_oid FROM peer p WHERE p.of_oid = $1) "
	"AND m.to_tablespace_oid IN (SELECT p.tablespace_oid FROM peer p WHERE p.of_oid = $2) "
	"ORDER BY m.move_id DESC LIMIT 100) l";
	static const Oid types[] = {OIDOID, OIDOID};
	Datum		values[2];
	TierMovePace pace = {0};
	bool		isnull;
	Datum		value;

	values[0] = ObjectIdGetDatum(from_tablespace_oid);
	values[1] = ObjectIdGetDatum(to_tablespace_oid);
	tier_catalog_execute(sql, 2, types, values, NULL);
	pace.moves = DatumGetInt32(tier_catalog_datum(0, 1, &isnull));
	value = tier_catalog_datum(0, 2, &isnull);
	pace.bytes = isnull ? 0 : DatumGetFloat8(value);
	value = tier_catalog_datum(0, 3, &isnull);
	pace.seconds = isnull ? 0 : DatumGetFloat8(value);
	value = tier_catalog_datum(0, 4, &isnull);
	pace.lock_held_ms = isnull ? -1 : DatumGetFloat8(value);
	value = tier_catalog_datum(0, 5, &isnull);
	pace.longest_lock_ms = isnull ? -1 : DatumGetFloat8(value);
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
	static const Oid types[] = {OIDARRAYOID, TIMESTAMPTZOID};
	Datum	   *oids = palloc_extended(sizeof(Datum) * Max(nrelations, 1), MCXT_ALLOC_HUGE);
	Datum		values[2];
	TierRecentMove *placed;
	bool		isnull;

	for (int i = 0; i < nrelations; i++)
		oids[i] = ObjectIdGetDatum(relation_oids[i]);
	values[0] = PointerGetDatum(construct_array(oids, nrelations, OIDOID, sizeof(Oid), true,
												TYPALIGN_INT));
	values[1] = TimestampTzGetDatum(since);
	*n = (int) tier_catalog_execute(sql, 2, types, values, NULL);
	placed = MemoryContextAllocExtended(context, sizeof(TierRecentMove) * Max(*n, 1),
										MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < *n; i++)
	{
		placed[i].relation_oid = DatumGetObjectId(tier_catalog_datum(i, 1, &isnull));
		placed[i].finished_at = DatumGetTimestampTz(tier_catalog_datum(i, 2, &isnull));
	}
	return placed;
}

bool
tier_catalog_last_placed(const Oid *relation_oids, int n, TimestampTz since, Oid *relation_oid,
						 TimestampTz *placed_at)
{
	static const char sql[] =
	"SELECT p.relation_oid, p.placed_at FROM (SELECT s.relation_oid, s.placed_at "
	"FROM _tiered_storage.relation_state s WHERE s.placed_at > $2 UNION ALL "
	"SELECT _tiered_storage.present_relation(m), m.finished_at FROM _tiered_storage.move m "
	"WHERE m.state = 'done' AND m.finished_at > $2) p WHERE p.relation_oid = ANY ($1) "
	"ORDER BY p.placed_at DESC, p.relation_oid LIMIT 1";
	static const Oid types[] = {OIDARRAYOID, TIMESTAMPTZOID};
	Datum	   *oids = palloc_extended(sizeof(Datum) * Max(n, 1), MCXT_ALLOC_HUGE);
	Datum		values[2];
	bool		isnull;

	for (int i = 0; i < n; i++)
		oids[i] = ObjectIdGetDatum(relation_oids[i]);
	values[0] = PointerGetDatum(construct_array(oids, n, OIDOID, sizeof(Oid), true,
												TYPALIGN_INT));
	values[1] = TimestampTzGetDatum(since);
	if (tier_catalog_execute(sql, 2, types, values, NULL) == 0)
		return false;
	*relation_oid = DatumGetObjectId(tier_catalog_datum(0, 1, &isnull));
	*placed_at = DatumGetTimestampTz(tier_catalog_datum(0, 2, &isnull));
	return true;
}
