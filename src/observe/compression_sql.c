/*-------------------------------------------------------------------------
 *
 * observe/compression_sql.c
 *		estimate_compression(): how a relation would compress, by some of its pages.
 *
 * Runs in the calling backend, with its rights, and shows only how well a page compresses. The
 * parts of the relation are locked and read one after the other.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "common/pg_prng.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/base/refuse.h"
#include "src/base/clock.h"
#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/model/compression.h"
#include "src/server/relation.h"
#include "src/server/relation_pages.h"
#include "src/storage/compressor.h"
#include "src/storage/store.h"

PG_FUNCTION_INFO_V1(tier_estimate_compression);

#define PAGES_OF_PIECE (TIER_PIECE_BYTES / BLCKSZ)

/* Columns of tiered_storage.estimate_compression(), in order */
enum
{
	ESTIMATE_PART,
	ESTIMATE_COMPRESSOR,
	ESTIMATE_RATIO,
	ESTIMATE_LOW,
	ESTIMATE_HIGH,
	ESTIMATE_SIZE,
	ESTIMATE_STORED,
	ESTIMATE_PIECES,
	ESTIMATE_SAMPLED,
	ESTIMATE_ELAPSED,
	ESTIMATE_REASON,
};

/* One requested algorithm.  Reset for each part, except why_not. */
typedef struct Method
{
	int			compressor;
	const char *why_not;		/* NULL: it can be used */
	TierPieceSums sums;
	int64		elapsed_us;		/* of compressing */
} Method;

typedef struct Methods
{
	int			n;
	Method		of[TIER_COMPRESSORS];
} Methods;

/* The results for one part of the relation. */
typedef struct Part
{
	Oid			relation_oid;
	const char *why_not;		/* it could not be looked at; NULL: it was */
	BlockNumber npages;
	int64		pieces;
	int64		sampled;
	int64		elapsed_us;		/* of reading */
	bool		gave_way;		/* to a process that waited for a lock */
} Part;

static void
choose_methods(Methods *methods, const char *algorithm)
{
	int			only = algorithm == NULL ? -1 : tier_compressor_find(algorithm);

	if (algorithm != NULL && only < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown compression algorithm: \"%s\"", algorithm),
				 errhint("Algorithms are zstd, lz4, zlib and lzo; null: all of them.")));
	memset(methods, 0, sizeof(Methods));
	for (int i = 0; i < TIER_COMPRESSORS; i++)
		if (only < 0 || only == i)
			methods->of[methods->n++] = (Method)
		{
			.compressor = i,
				.why_not = tier_compressor_why_not(i)
		};
}

static void
check_rights(const TierRelationInfo *info)
{
	if (tier_relation_may_sample(info))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for %s %s", tier_relation_kind_name(info->kind),
					info->name),
			 errdetail("Its pages can be sampled by roles that may read all of its rows, by its "
					   "owner, and by tier administrators.")));
}

static void
check_relation(Oid relation_oid, TierRelationInfo *info)
{
	tier_relation_require_pages(relation_oid, info,
								"Query its partitions: SELECT e.* FROM pg_partition_tree(%s) p, "
								"tiered_storage.estimate_compression(p.relid) e WHERE p.isleaf.");
	tier_relation_check_shell(info, "SELECT * FROM tiered_storage.estimate_compression(%L)");
	check_rights(info);
}

/* The piece, read and compressed by each. */
static void
sample_piece(Part *part, Methods *methods, TierPages *pages, int64 piece, char *bytes)
{
	BlockNumber first = (BlockNumber) (piece * PAGES_OF_PIECE);
	int			n = (int) Min(PAGES_OF_PIECE, part->npages - first);
	int64		began_us = tier_clock_monotonic_us();

	tier_pages_read(pages, first, n, bytes);
	part->elapsed_us += tier_clock_monotonic_us() - began_us;
	part->sampled++;
	for (int i = 0; i < methods->n; i++)
	{
		Method	   *method = &methods->of[i];

		if (method->why_not != NULL)
			continue;
		CHECK_FOR_INTERRUPTS();
		began_us = tier_clock_monotonic_us();
		tier_piece_add(&method->sums, (double) n * BLCKSZ,
					   tier_compressor_stored(method->compressor, bytes, n * BLCKSZ));
		method->elapsed_us += tier_clock_monotonic_us() - began_us;
	}
}

static bool
are_sure(const Methods *methods, int64 pieces)
{
	for (int i = 0; i < methods->n; i++)
		if (methods->of[i].why_not == NULL &&
			!tier_compression_is_sure(&methods->of[i].sums, (double) pieces))
			return false;
	return true;
}

static void
sample_part(Part *part, Methods *methods)
{
	TierPages  *pages = NULL;
	TierRelationInfo info;
	uint64		seed = pg_prng_uint64(&pg_global_prng_state);
	char	   *bytes;

	for (int i = 0; i < methods->n; i++)
	{
		memset(&methods->of[i].sums, 0, sizeof(TierPieceSums));
		methods->of[i].elapsed_us = 0;
	}
	part->why_not = "its file system does not answer";
	if (!tier_relation_lookup(part->relation_oid, &info) ||
		tier_store_answers(info.tablespace_oid))
		pages = tier_pages_open(part->relation_oid, &part->why_not);
	if (pages == NULL)
		return;
	bytes = palloc(TIER_PIECE_BYTES);
	part->npages = tier_pages_count(pages);
	part->pieces = ((int64) part->npages + PAGES_OF_PIECE - 1) / PAGES_OF_PIECE;
	if (part->npages == 0)
		part->why_not = "it is empty";
	for (uint64 i = 0; part->npages > 0 && !are_sure(methods, part->pieces); i++)
	{
		int64		piece = tier_piece_at(part->pieces, i, seed);

		if (piece < 0)
			continue;
		sample_piece(part, methods, pages, piece, bytes);
		part->gave_way = tier_pages_are_awaited(pages);
		if (part->gave_way)
			break;
	}
	pfree(bytes);
	tier_pages_close(pages);
}

static void
put_method(TierResultRow *row, const Part *part, const Method *method)
{
	const char *why = method->why_not != NULL ? method->why_not : part->why_not;

	tier_row_clear(row);
	tier_row_datum(row, ESTIMATE_PART, ObjectIdGetDatum(part->relation_oid));
	tier_row_text(row, ESTIMATE_COMPRESSOR, tier_compressor_name(method->compressor));
	if (part->why_not == NULL || part->npages == 0)
	{
		tier_row_datum(row, ESTIMATE_SIZE, Int64GetDatum((int64) part->npages * BLCKSZ));
		tier_row_datum(row, ESTIMATE_PIECES, Int64GetDatum(part->pieces));
	}
	if (why == NULL)
	{
		TierCompressionEstimate estimate = tier_compression_estimate(&method->sums,
																	 (double) part->pieces);

		tier_row_datum(row, ESTIMATE_RATIO, Float8GetDatum(estimate.ratio));
		tier_row_datum(row, ESTIMATE_LOW, Float8GetDatum(estimate.low));
		tier_row_datum(row, ESTIMATE_HIGH, Float8GetDatum(estimate.high));
		tier_row_datum(row, ESTIMATE_STORED,
					   Int64GetDatum((int64) rint((double) part->npages * BLCKSZ /
												  estimate.ratio)));
		tier_row_datum(row, ESTIMATE_SAMPLED, Int64GetDatum(part->sampled));
		tier_row_datum(row, ESTIMATE_ELAPSED,
					   Float8GetDatum((part->elapsed_us + method->elapsed_us) / 1000.0));
		if (part->gave_way)
			why = "it ended early, because another session waits for a lock on it";
	}
	tier_row_text(row, ESTIMATE_REASON, why);
	tier_row_put(row);
}

/* The relation, its TOAST table, and, if wanted, its indexes. */
static List *
parts_of(const TierRelationInfo *info, bool include_indexes)
{
	List	   *parts = list_make1_oid(info->relation_oid);
	ListCell   *cell;

	if (OidIsValid(info->toast_oid))
		parts = lappend_oid(parts, info->toast_oid);
	if (include_indexes && info->kind != RELKIND_INDEX && info->kind != RELKIND_TOASTVALUE)
		foreach(cell, tier_relation_indexes(info->relation_oid))
			parts = lappend_oid(parts, lfirst_oid(cell));
	return parts;
}

static Datum
estimate_compression(PG_FUNCTION_ARGS)
{
	TierRelationInfo info;
	TierResultRow row;
	Methods		methods;
	ListCell   *cell;
	bool		any = false;

	tier_require_argument(fcinfo, 0, "relation");
	tier_require_argument(fcinfo, 2, "include_indexes");
	tier_result_start(fcinfo, &row);
	check_relation(PG_GETARG_OID(0), &info);
	choose_methods(&methods, PG_ARGISNULL(1) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(1)));
	for (int i = 0; i < methods.n; i++)
		any |= methods.of[i].why_not == NULL;
	foreach(cell, parts_of(&info, PG_GETARG_BOOL(2)))
	{
		Part		part = {.relation_oid = lfirst_oid(cell)};

		if (any)
			sample_part(&part, &methods);
		else
			part.why_not = methods.of[0].why_not;
		if (part.relation_oid == info.toast_oid && part.why_not != NULL && part.npages == 0)
			continue;
		for (int i = 0; i < methods.n; i++)
			put_method(&row, &part, &methods.of[i]);
	}
	return (Datum) 0;
}

Datum
tier_estimate_compression(PG_FUNCTION_ARGS)
{
	return tier_call_for_sql(estimate_compression, fcinfo);
}
