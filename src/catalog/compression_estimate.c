/*-------------------------------------------------------------------------
 *
 * catalog/compression_estimate.c
 *		The store of what was estimated of how relations compress.
 *
 * See catalog/tables.h.  Rows are added and never changed, so that who estimates waits for
 * nobody; the last one counts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "executor/spi.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"

/* Rows of a restore or a damaged file count as what is possible. */
static double
possible_ratio(double ratio)
{
	return ratio >= 1.0 ? Min(ratio, (double) TIER_PIECE_BYTES / TIER_SECTOR_BYTES) : 1.0;
}

static void
forget_earlier(const TierEstimateRow *row)
{
	static const char sql[] =
	"DELETE FROM _tiered_storage.compression_estimate WHERE ctid = ANY (ARRAY("
	"SELECT ctid FROM _tiered_storage.compression_estimate "
	"WHERE relation_oid = $1 AND algorithm = $2 FOR UPDATE SKIP LOCKED))";

	tier_query(sql, tier_arg_oid(row->relation_oid), tier_arg_name(&row->algorithm));
}

void
tier_catalog_add_estimates(const TierEstimateRow *rows, int n)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.compression_estimate (relation_oid, algorithm, estimated_at, "
	"ratio, ratio_low, ratio_high, size_bytes, pieces, sampled_pieces, file_number) "
	"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, "
	"(SELECT r.relfilenode FROM _tiered_storage.relation_entry($1) r))";

	for (int i = 0; i < n; i++)
	{
		if (!IsolationUsesXactSnapshot())
			forget_earlier(&rows[i]);
		tier_query(sql, tier_arg_oid(rows[i].relation_oid), tier_arg_name(&rows[i].algorithm),
				   tier_arg_time(rows[i].estimated_at), tier_arg_float8(rows[i].estimate.ratio),
				   tier_arg_float8(rows[i].estimate.low), tier_arg_float8(rows[i].estimate.high),
				   tier_arg_int8(rows[i].size_bytes), tier_arg_int8(rows[i].pieces),
				   tier_arg_int8(rows[i].sampled_pieces));
	}
}

TierEstimateRow *
tier_catalog_load_estimates(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT relation_oid, algorithm, estimated_at, "
	"ratio, ratio_low, ratio_high, size_bytes, unused_reason IS NULL "
	"FROM _tiered_storage.last_estimates ORDER BY relation_oid, algorithm";
	static const TierColumn fields[] = {
		TIER_FIELD(TierEstimateRow, relation_oid, OIDOID),
		TIER_FIELD(TierEstimateRow, algorithm, NAMEOID),
		TIER_FIELD(TierEstimateRow, estimated_at, TIMESTAMPTZOID),
		TIER_FIELD(TierEstimateRow, estimate.ratio, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierEstimateRow, estimate.low, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierEstimateRow, estimate.high, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierEstimateRow, size_bytes, INT8OID),
		TIER_FIELD(TierEstimateRow, counts, BOOLOID),
	};
	TierEstimateRow *rows;

	*n = (int) tier_query_plain(sql);
	rows = TIER_ROWS(context, TierEstimateRow, fields, *n);
	for (int i = 0; i < *n; i++)
	{
		rows[i].estimate.ratio = possible_ratio(rows[i].estimate.ratio);
		rows[i].estimate.low = possible_ratio(rows[i].estimate.low);
		rows[i].estimate.high = possible_ratio(rows[i].estimate.high);
		rows[i].size_bytes = Max(rows[i].size_bytes, 0);
	}
	return rows;
}

void
tier_catalog_maintain_estimates(void)
{
	static const char sql[] =
	"DELETE FROM _tiered_storage.compression_estimate WHERE ctid = ANY (ARRAY("
	"SELECT e.ctid FROM _tiered_storage.compression_estimate e "
	"WHERE _tiered_storage.relation_persistence(e.relation_oid) IS NULL "
	"OR EXISTS (SELECT FROM _tiered_storage.compression_estimate l "
	"WHERE l.relation_oid = e.relation_oid AND l.algorithm = e.algorithm "
	"AND l.estimated_at > e.estimated_at) FOR UPDATE OF e SKIP LOCKED))";

	tier_query_plain(sql);
}
