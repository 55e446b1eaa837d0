/*-------------------------------------------------------------------------
 *
 * catalog/visibility.c
 *		Which tables are not vacuumed enough for index-only scans.  See
 *		catalog/tables.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

static Datum
oid_array(const Oid *oids, int n)
{
	Datum	   *datums = palloc_extended(sizeof(Datum) * Max(n, 1), MCXT_ALLOC_HUGE);

	for (int i = 0; i < n; i++)
		datums[i] = ObjectIdGetDatum(oids[i]);
	return PointerGetDatum(construct_array(datums, n, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
}

/*
 * Index entries that were returned, and no row was fetched for: those of index-only
 * scans on pages that are all visible.  A tenth of all is more than what scans of
 * dead entries and combined bitmaps leave.
 */
TierUnvacuumed *
tier_catalog_load_unvacuumed(MemoryContext context, const Oid *tables, int ntables,
							 double least_pages, int *n)
{
	static const char sql[] =
	"SELECT c.oid::pg_catalog.regclass::text, c.relallvisible::float8 / c.relpages, c.oid "
	"FROM (SELECT DISTINCT u FROM unnest($1) u) o (oid) "
	"CROSS JOIN LATERAL _tiered_storage.relation_entry(o.oid) c "
	"CROSS JOIN LATERAL ("
	"SELECT sum(pg_catalog.pg_stat_get_tuples_returned(i.indexrelid)) AS returned, "
	"sum(pg_catalog.pg_stat_get_tuples_fetched(i.indexrelid)) AS fetched "
	"FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid) x "
	"WHERE c.relkind IN ('r', 'm') AND c.relpages >= $2 "
	"AND c.relpages > 0 AND c.relallvisible < c.relpages * 0.5 "
	"AND x.returned - x.fetched - pg_catalog.pg_stat_get_tuples_fetched(c.oid) "
	"> x.returned * 0.1 ORDER BY c.oid";
	static const Oid types[] = {OIDARRAYOID, FLOAT8OID};
	Datum		values[2];
	TierUnvacuumed *unvacuumed;
	bool		isnull;

	values[0] = oid_array(tables, ntables);
	values[1] = Float8GetDatum(least_pages);
	*n = (int) tier_catalog_execute(sql, 2, types, values, NULL);
	unvacuumed = MemoryContextAllocHuge(context, sizeof(TierUnvacuumed) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		char	   *name = TextDatumGetCString(tier_catalog_datum(i, 1, &isnull));

		unvacuumed[i].name = MemoryContextStrdup(context, name);
		unvacuumed[i].visible_fraction = DatumGetFloat8(tier_catalog_datum(i, 2, &isnull));
		unvacuumed[i].relation_oid = DatumGetObjectId(tier_catalog_datum(i, 3, &isnull));
	}
	return unvacuumed;
}
