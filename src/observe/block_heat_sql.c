/*-------------------------------------------------------------------------
 *
 * observe/block_heat_sql.c
 *		block_heat(): which parts of a relation are hot.
 *
 * Runs in the calling backend.  The relation is looked up in the catalog and not locked:
 * concurrent changes of its file reduce the counts, and do no harm.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "catalog/pg_tablespace_d.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/compat.h"
#include "src/server/buffers.h"
#include "src/base/settings.h"
#include "src/storage/page_cache.h"
#include "src/server/relation.h"
#include "src/storage/file_size.h"
#include "src/base/sql.h"

PG_FUNCTION_INFO_V1(tier_block_heat);

#define MAX_BUCKETS 10000

/*
 * The weight of shared buffers and of the page cache in the heat of a block.
 * Being kept in shared buffers, and used there again and again, says more of a
 * block than having been read once.
 */
#define BUFFERS_WEIGHT 0.75
#define PAGECACHE_WEIGHT 0.25

/* Columns of tiered_storage.block_heat(), in order */
enum
{
	HEAT_BUCKET,
	HEAT_FIRST_BLOCK,
	HEAT_LAST_BLOCK,
	HEAT_CACHED,
	HEAT_DIRTY,
	HEAT_USAGE_SUM,
	HEAT_OS_CACHED_BYTES,
	HEAT_HEAT,
	HEAT_ERROR,
};

typedef struct Bucket
{
	double		cached;
	double		dirty;
	double		usage;
} Bucket;

typedef struct Buckets
{
	int64		nblocks;
	int			n;
	Bucket	   *buckets;
} Buckets;

/* Bucket i has the blocks from here to before the first one of i + 1. */
static int64
first_block(const Buckets *buckets, int i)
{
	return i * buckets->nblocks / buckets->n;
}

static void
add_block(void *argument, BlockNumber block, int usage, bool dirty)
{
	Buckets    *buckets = argument;
	Bucket	   *bucket;

	if (block >= buckets->nblocks)
		return;					/* added since we asked for the size */
	bucket = &buckets->buckets[(((int64) block + 1) * buckets->n - 1) / buckets->nblocks];
	bucket->cached++;
	bucket->dirty += dirty ? 1 : 0;
	bucket->usage += usage;
}

/* The file of a relation that can be looked at; else raises an error. */
static RelFileLocator
require_file(Oid relation_oid)
{
	TierRelationInfo info;
	Oid			file_number;

	tier_relation_require_pages(relation_oid, &info,
								"Query its partitions: SELECT p.relid, h.* FROM "
								"pg_partition_tree(%s) p, "
								"tiered_storage.block_heat(p.relid) h WHERE p.isleaf.");
	if (info.tablespace_oid == GLOBALTABLESPACE_OID)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s %s belongs to all databases", tier_relation_kind_name(info.kind),
						info.name),
				 errdetail("Only relations of this database are observed.")));

	/* Some catalogs have their file number in the relation map. */
	file_number = OidIsValid(info.file_number) ? info.file_number :
		tier_compat_relation_map_oid_to_filenumber(relation_oid, false);
	if (!OidIsValid(file_number))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("%s %s has no file", tier_relation_kind_name(info.kind), info.name)));
	return tier_compat_locator(info.tablespace_oid, MyDatabaseId, file_number);
}

/*
 * 0 where nothing of it is cached, 1 where each block is in shared buffers with
 * the highest usage count, and in the page cache, too.  os_cached_bytes < 0: the
 * page cache cannot be seen, and does not count.
 */
static double
heat_of(const Bucket *bucket, double share, double nblocks, int64 os_cached_bytes)
{
	double		most = nblocks * (1.0 + BM_MAX_USAGE_COUNT);
	double		buffers = Min(1.0, (bucket->cached + bucket->usage) / share / most);

	if (os_cached_bytes < 0)
		return buffers;
	return BUFFERS_WEIGHT * buffers +
		PAGECACHE_WEIGHT * Min(1.0, os_cached_bytes / (nblocks * BLCKSZ));
}

/* Rounds to a readable number of digits. */
static double
three_digits(double number)
{
	return strtod(psprintf("%.3g", number), NULL);
}

Datum
tier_block_heat(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	RelFileLocator file;
	Buckets		buckets = {0};
	double		share;
	int			wanted;

	tier_require_argument(fcinfo, 0, "relation");
	tier_require_argument(fcinfo, 1, "buckets");
	tier_result_start(fcinfo, &row);
	wanted = PG_GETARG_INT32(1);
	if (wanted < 1 || wanted > MAX_BUCKETS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"buckets\" is %d, but must be between 1 and %d", wanted, MAX_BUCKETS)));
	file = require_file(PG_GETARG_OID(0));

	buckets.nblocks = tier_file_size(tier_compat_locator_tablespace(file),
									 tier_compat_locator_file_number(file), MAIN_FORKNUM) / BLCKSZ;
	buckets.n = (int) Min(wanted, buckets.nblocks);
	if (buckets.n == 0)
	{
		ereport(NOTICE,
				(errmsg("%s has no blocks yet",
						DatumGetCString(DirectFunctionCall1(regclassout,
															PG_GETARG_DATUM(0)))),
				 errhint("Retry when it has rows. Tables that inherit from it are shown "
						 "separately.")));
		return (Datum) 0;
	}
	buckets.buckets = palloc0(sizeof(Bucket) * buckets.n);
	share = tier_buffers_visit(file, tier_test_buffer_scan_limit, add_block, &buckets);

	for (int i = 0; i < buckets.n; i++)
	{
		const Bucket *bucket = &buckets.buckets[i];
		int64		first = first_block(&buckets, i);
		int64		nblocks = first_block(&buckets, i + 1) - first;
		TierPagecacheLook look;

		if (!tier_test_page_cache ||
			!tier_pagecache_look(file, (BlockNumber) first, (BlockNumber) nblocks, &look))
			look.cached_bytes = -1;
		tier_row_clear(&row);
		tier_row_datum(&row, HEAT_BUCKET, Int32GetDatum(i + 1));
		tier_row_datum(&row, HEAT_FIRST_BLOCK, Int64GetDatum(first));
		tier_row_datum(&row, HEAT_LAST_BLOCK, Int64GetDatum(first + nblocks - 1));
		tier_row_datum(&row, HEAT_CACHED, Int64GetDatum((int64) rint(bucket->cached / share)));
		tier_row_datum(&row, HEAT_DIRTY, Int64GetDatum((int64) rint(bucket->dirty / share)));
		tier_row_datum(&row, HEAT_USAGE_SUM, Int64GetDatum((int64) rint(bucket->usage / share)));
		if (look.cached_bytes >= 0)
			tier_row_datum(&row, HEAT_OS_CACHED_BYTES, Int64GetDatum(look.cached_bytes));
		tier_row_datum(&row, HEAT_HEAT, Float8GetDatum(three_digits(heat_of(bucket, share,
																			(double) nblocks,
																			look.cached_bytes))));
		tier_row_datum(&row, HEAT_ERROR,
					   Float8GetDatum(three_digits(tier_buffers_error(bucket->cached / share,
																	  share))));
		tier_row_put(&row);
	}
	return (Datum) 0;
}
