/*-------------------------------------------------------------------------
 *
 * decide/block_range_sql.c
 *		Which ranges of a relation's blocks are in shared buffers.
 *
 * Runs in the backend that calls.  No lock on the relation; one pass over the
 * buffer headers (see server/buffers.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "src/compat.h"
#include "src/server/buffers.h"
#include "src/server/relation.h"
#include "src/server/file_size.h"
#include "src/base/sql.h"

PG_FUNCTION_INFO_V1(tier_cached_ranges);

#define MAX_RANGES 1000

typedef struct CachedRanges
{
	int64		nblocks;
	int			nranges;
	int64		cached[MAX_RANGES];
} CachedRanges;

static void
count_block(void *argument, BlockNumber block, int usage, bool dirty)
{
	CachedRanges *ranges = argument;

	/* What was added since the file was looked at is newest, too. */
	int64		position = Min((int64) block, ranges->nblocks - 1);

	ranges->cached[position * ranges->nranges / ranges->nblocks]++;
}

/* The range's first block: the least that count_block puts into it. */
static int64
first_block(const CachedRanges *ranges, int range)
{
	return (range * ranges->nblocks + ranges->nranges - 1) / ranges->nranges;
}

/* _tiered_storage.cached_ranges(relation, ranges) */
Datum
tier_cached_ranges(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	TierRelationInfo info;
	CachedRanges *ranges;

	tier_require_argument(fcinfo, 0, "relation");
	tier_require_argument(fcinfo, 1, "ranges");
	tier_result_start(fcinfo, &row);
	ranges = palloc0(sizeof(CachedRanges));
	ranges->nranges = PG_GETARG_INT32(1);
	if (ranges->nranges < 1 || ranges->nranges > MAX_RANGES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"ranges\" must be between 1 and %d", MAX_RANGES)));
	tier_relation_require(PG_GETARG_OID(0), &info);
	if (info.file_number == 0 || info.persistence == RELPERSISTENCE_TEMP)
		return (Datum) 0;

	ranges->nblocks = tier_file_size(info.tablespace_oid, info.file_number, MAIN_FORKNUM) / BLCKSZ;
	ranges->nranges = (int) Min(ranges->nranges, ranges->nblocks);
	if (ranges->nblocks == 0)
		return (Datum) 0;
	tier_buffers_visit(tier_compat_locator(info.tablespace_oid, MyDatabaseId, info.file_number),
					   NBuffers, count_block, ranges);
	for (int i = 0; i < ranges->nranges; i++)
	{
		tier_row_clear(&row);
		tier_row_datum(&row, 0, Int32GetDatum(i + 1));
		tier_row_datum(&row, 1, Int64GetDatum(first_block(ranges, i)));
		tier_row_datum(&row, 2,
					   Int64GetDatum(first_block(ranges, i + 1) - first_block(ranges, i)));
		tier_row_datum(&row, 3, Int64GetDatum(ranges->cached[i]));
		tier_row_put(&row);
	}
	return (Datum) 0;
}
