/*-------------------------------------------------------------------------
 *
 * catalog/move_effect.c
 *		The store of effects: the baselines of moves, and the results.
 *
 * See catalog/tables.h, TierEffect.  A row of move_effect is deleted soon after
 * that of its move; there is no foreign key, as the end of a move would have to
 * wait for its check.
 *
 * The mover and the sampler both lock rows in the order relation_state,
 * move_effect.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"

/* Structs of doubles and nothing else, which are stored as arrays. */
#define TOTALS_FIELDS ((int) (sizeof(TierEffectTotals) / sizeof(double)))
#define WORK_FIELDS ((int) (sizeof(TierEffectWork) / sizeof(double)))

/* ---------------------------------------------------------------------
 * Effects
 * ---------------------------------------------------------------------
 */

void
tier_catalog_begin_effect(const TierEffect *effect, TimestampTz now)
{
	static const char settle_sql[] =
	"UPDATE _tiered_storage.move_effect SET settled_at = $2, not_measurable = 'moved again' "
	"WHERE relation_oid = $1 AND settled_at IS NULL";
	static const char insert_sql[] =
	"INSERT INTO _tiered_storage.move_effect (move_id, batch_id, relation_oid, "
	"to_tablespace_oid, from_factor, not_measurable, settled_at) "
	"VALUES ($1, $2, $3, $4, $5, $6, $7)";

	tier_query(settle_sql, tier_arg_oid(effect->relation_oid), tier_arg_time(now));
	tier_query(insert_sql, tier_arg_int8(effect->move_id),
			   tier_arg_if(effect->batch_id != 0, tier_arg_int8(effect->batch_id)),
			   tier_arg_oid(effect->relation_oid), tier_arg_oid(effect->to_tablespace_oid),
			   tier_arg_float8(effect->from_factor), tier_arg_text(effect->not_measurable),
			   tier_arg_if(effect->not_measurable != NULL, tier_arg_time(now)));
}

/*
 * An index that was built anew has begun to count anew: what its move was worth is measured of
 * the index that there is now, from now on.
 */
void
tier_catalog_follow_rebuilt(void)
{
	static const char sql[] =
	"UPDATE _tiered_storage.move_effect e SET relation_oid = p.oid, observed_since = NULL, "
	"totals = NULL, device = NULL, device_totals = NULL "
	"FROM _tiered_storage.move m "
	"CROSS JOIN LATERAL (SELECT _tiered_storage.present_relation(m)) p (oid) "
	"WHERE e.settled_at IS NULL AND m.move_id = e.move_id AND m.table_oid IS NOT NULL "
	"AND p.oid <> e.relation_oid";

	tier_query_plain(sql);
}

void
tier_catalog_settle_gone(const Oid *gone, int ngone, TimestampTz now)
{
	static const char sql[] =
	"UPDATE _tiered_storage.move_effect e SET settled_at = g.now_at, "
	"not_measurable = CASE WHEN c.oid IS NULL THEN 'dropped' ELSE 'moved again' END "
	"FROM unnest($1, $2, $3) g (relation_oid, default_tablespace, now_at) "
	"LEFT JOIN LATERAL _tiered_storage.relation_entry(g.relation_oid) c ON true "
	"WHERE e.relation_oid = g.relation_oid AND e.settled_at IS NULL "
	"AND (c.oid IS NULL OR CASE c.reltablespace WHEN 0 THEN g.default_tablespace "
	"ELSE c.reltablespace END <> e.to_tablespace_oid)";
	TierBulk   *bulk = tier_bulk_create(sql);

	for (int i = 0; i < ngone; i++)
		tier_bulk_row(bulk, tier_arg_oid(gone[i]), tier_arg_oid(MyDatabaseTableSpace),
					  tier_arg_time(now));
	tier_bulk_finish(bulk);
}

TierEffect *
tier_catalog_load_effects(MemoryContext context, bool started, TimestampTz until, int first,
						  int most, int *n)
{
	static const char select_sql[] =
	"SELECT e.move_id, e.relation_oid, e.to_tablespace_oid, m.from_tablespace_oid, "
	"e.from_factor, e.observed_since, e.device, c.oid IS NOT NULL, "
	"CASE c.reltablespace WHEN 0 THEN $2 ELSE c.reltablespace END, "
	"c.relpersistence = 'p', s.sampled_since, "
	"(s.size_bytes + COALESCE(t.size_bytes, 0))::float8, e.totals, e.device_totals, "
	"CASE WHEN s.relation_oid IS NOT NULL THEN "
	"ARRAY[s.total_random_reads, s.total_sequential_reads, "
	"s.total_scans, s.total_page_writes, s.total_merged_writes, s.total_row_changes] END "
	"FROM _tiered_storage.move_effect e "
	"LEFT JOIN LATERAL _tiered_storage.relation_entry(e.relation_oid) c ON true "
	"LEFT JOIN _tiered_storage.relation_state s ON s.relation_oid = e.relation_oid "
	"LEFT JOIN _tiered_storage.relation_state t ON t.relation_oid = c.reltoastrelid "
	"LEFT JOIN _tiered_storage.move m ON m.move_id = e.move_id "
	"WHERE e.settled_at IS NULL AND %s ORDER BY e.observed_since, e.move_id "
	"OFFSET $4 LIMIT $3";
	static const TierColumn fields[] = {
		TIER_FIELD(TierEffect, move_id, INT8OID),
		TIER_FIELD(TierEffect, relation_oid, OIDOID),
		TIER_FIELD(TierEffect, to_tablespace_oid, OIDOID),
		TIER_FIELD(TierEffect, from_tablespace_oid, OIDOID),
		TIER_FIELD(TierEffect, from_factor, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierEffect, since, TIMESTAMPTZOID),
		TIER_FIELD(TierEffect, device, TEXTOID),
		TIER_FIELD(TierEffect, exists, BOOLOID),
		TIER_FIELD(TierEffect, tablespace_oid, OIDOID),
		TIER_FIELD(TierEffect, is_permanent, BOOLOID),
		TIER_FIELD(TierEffect, sampled_since, TIMESTAMPTZOID),
		TIER_FIELD(TierEffect, size_bytes, FLOAT8OID),
	};
	StringInfoData sql;
	TierEffect *effects;

	initStringInfo(&sql);
	appendStringInfo(&sql, select_sql,
					 started ? "e.observed_since <= $1" :
					 "(e.observed_since IS NULL OR e.observed_since > $1)");
	*n = (int) tier_query(sql.data, tier_arg_time(until), tier_arg_oid(MyDatabaseTableSpace),
						  tier_arg_int4(most), tier_arg_int4(first));
	effects = TIER_ROWS(context, TierEffect, fields, *n);
	for (int i = 0; i < *n; i++)
	{
		/* Not sampled, though it is there: then nothing is known from before. */
		if (effects[i].sampled_since == 0)
			effects[i].sampled_since = DT_NOEND;
		tier_get_float8s(i, 13, &effects[i].before, TOTALS_FIELDS);
		tier_get_float8s(i, 14, &effects[i].device_before, WORK_FIELDS);
		tier_get_float8s(i, 15, &effects[i].after, TOTALS_FIELDS);
	}
	SPI_freetuptable(SPI_tuptable);
	return effects;
}

/*
 * True for one that can be measured; any other is settled, whether its
 * measurement was started or not.  One at a time: they are few, and SQL has no
 * arrays of arrays of different lengths.
 */
static bool
settle_unless_measurable(const TierEffect *effect, TimestampTz now)
{
	static const char sql[] =
	"UPDATE _tiered_storage.move_effect SET settled_at = $2, not_measurable = $3 "
	"WHERE move_id = $1 AND settled_at IS NULL";

	if (effect->not_measurable == NULL)
		return true;
	tier_query(sql, tier_arg_int8(effect->move_id), tier_arg_time(now),
			   tier_arg_text(effect->not_measurable));
	return false;
}

void
tier_catalog_start_effect(const TierEffect *effect, TimestampTz now)
{
	static const char sql[] =
	"UPDATE _tiered_storage.move_effect "
	"SET observed_since = $2, totals = $3, device = $4, device_totals = $5 "
	"WHERE move_id = $1 AND settled_at IS NULL";

	if (settle_unless_measurable(effect, now))
		tier_query(sql, tier_arg_int8(effect->move_id), tier_arg_time(effect->since),
				   tier_arg_float8s(&effect->before, TOTALS_FIELDS),
				   tier_arg_text(effect->device),
				   tier_arg_if(effect->device != NULL,
							   tier_arg_float8s(&effect->device_before, WORK_FIELDS)));
}

void
tier_catalog_settle_effect(const TierEffect *effect, TimestampTz now)
{
	static const char sql[] =
	"UPDATE _tiered_storage.move_effect SET settled_at = $2, unmoved_io_s_per_hour = $3, "
	"measured_io_s_per_hour = $4, source = $5 "
	"WHERE move_id = $1 AND settled_at IS NULL";

	if (settle_unless_measurable(effect, now))
		tier_query(sql, tier_arg_int8(effect->move_id), tier_arg_time(now),
				   tier_arg_float8(effect->unmoved_s_per_hour),
				   tier_arg_float8(effect->measured_s_per_hour),
				   tier_arg_text(effect->by_device ? "device" : "profile"));
}

int64 *
tier_catalog_complete_batches(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT DISTINCT e.batch_id FROM _tiered_storage.move_effect e "
	"WHERE e.batch_id IS NOT NULL AND e.batch_effect IS NULL AND e.settled_at IS NOT NULL "
	"AND NOT EXISTS (SELECT FROM _tiered_storage.move_effect o WHERE o.batch_id = e.batch_id "
	"AND o.batch_effect IS NULL AND o.settled_at IS NULL) ORDER BY e.batch_id";
	static const TierColumn field = {.type = INT8OID};

	*n = (int) tier_query_plain(sql);
	return tier_rows(context, &field, 1, sizeof(int64), *n);
}

bool
tier_catalog_judge_batch(int64 batch_id, TierWorseBatch *worse)
{
	static const char sql[] =
	"WITH judged AS (SELECT b.*, EXISTS (SELECT FROM _tiered_storage.move_effect o "
	"WHERE o.batch_id = b.batch_id AND o.batch_effect = 'worse') AS was_worse "
	"FROM _tiered_storage.move_batches b WHERE b.batch_id = $1), "
	"stored AS (UPDATE _tiered_storage.move_effect e SET batch_effect = j.effect FROM judged j "
	"WHERE e.batch_id = j.batch_id AND e.batch_effect IS NULL) "
	"SELECT predicted_saved_io_s_per_hour, measured_saved_io_s_per_hour, "
	"measured_moves, moves_done "
	"FROM judged WHERE effect = 'worse' AND NOT was_worse AND undo_command IS NOT NULL";

	if (tier_query(sql, tier_arg_int8(batch_id)) == 0)
		return false;
	worse->batch_id = batch_id;
	worse->predicted_s_per_hour = tier_get_float8(0, 1);
	worse->measured_s_per_hour = tier_get_float8(0, 2);
	worse->measured_moves = (int) tier_get_int8(0, 3);
	worse->moves = (int) tier_get_int8(0, 4);
	return true;
}
