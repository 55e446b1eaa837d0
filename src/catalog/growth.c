/*-------------------------------------------------------------------------
 *
 * catalog/growth.c
 *		The store of what came to each tablespace and went from it.
 *
 * See catalog/tables.h and model/growth.h.  One row for each tablespace, written by
 * the samples that find a change, under the lock on _tiered_storage.sampler.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"

#include "src/catalog/tables.h"

#define COLUMN(name, type, field) \
	{name, type, offsetof(TierTablespaceGrowth, field), false, 0, false, false}

static const TierColumn growth_columns[] = {
	COLUMN("tablespace_oid", OIDOID, tablespace_oid),
	COLUMN("evidence_began_at", TIMESTAMPTZOID, evidence.began_at),
	COLUMN("evidence_interval_s", FLOAT8OID, evidence.interval_s),
	{"evidence_growth", BYTEAOID, offsetof(TierTablespaceGrowth, evidence.growth), false,
	sizeof(((TierTablespaceGrowth *) NULL)->evidence.growth), true, false},
};

#define NCOLUMNS ((int) lengthof(growth_columns))

TierGrowths *
tier_catalog_load_growths(MemoryContext context)
{
	TierGrowths *growths = MemoryContextAllocZero(context, sizeof(TierGrowths));
	StringInfoData sql;
	uint64		n;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT ");
	tier_columns_append(&sql, growth_columns, NCOLUMNS);
	appendStringInfoString(&sql, " FROM _tiered_storage.tablespace_growth ORDER BY 1");
	n = tier_catalog_execute(sql.data, 0, NULL, NULL, NULL);

	/* Never of size 0: it grows by repalloc. */
	growths->tablespaces = MemoryContextAllocZero(context,
												  sizeof(TierTablespaceGrowth) * Max(n, 1));
	growths->ntablespaces = (int) n;
	for (uint64 i = 0; i < n; i++)
		tier_columns_load(&growths->tablespaces[i], growth_columns, NCOLUMNS, i, 1);
	SPI_freetuptable(SPI_tuptable);
	return growths;
}

void
tier_catalog_store_growths(const TierGrowths *growths)
{
	static const char gone_sql[] =
	"DELETE FROM _tiered_storage.tablespace_growth g WHERE NOT EXISTS "
	"(SELECT FROM pg_catalog.pg_tablespace t WHERE t.oid = g.tablespace_oid)";
	Oid			types[lengthof(growth_columns)];
	StringInfoData sql;
	TierBulk   *bulk;
	bool		any = false;

	for (int i = 0; i < NCOLUMNS; i++)
		types[i] = growth_columns[i].type;
	for (int i = 0; i < growths->ntablespaces; i++)
		any |= growths->tablespaces[i].changed;
	if (!any)
		return;
	initStringInfo(&sql);
	appendStringInfoString(&sql, "INSERT INTO _tiered_storage.tablespace_growth (");
	tier_columns_append(&sql, growth_columns, NCOLUMNS);
	appendStringInfoString(&sql, ") SELECT * FROM unnest($1, $2, $3, $4) "
						   "ON CONFLICT (tablespace_oid) DO UPDATE SET ");
	tier_columns_append_update(&sql, growth_columns + 1, NCOLUMNS - 1);
	bulk = tier_bulk_create(sql.data, NCOLUMNS, types);
	for (int i = 0; i < growths->ntablespaces; i++)
	{
		Datum		values[lengthof(growth_columns)];
		bool		nulls[lengthof(growth_columns)];

		if (!growths->tablespaces[i].changed)
			continue;
		tier_columns_get(&growths->tablespaces[i], growth_columns, NCOLUMNS, values, nulls);
		tier_bulk_add(bulk, values, nulls);
	}
	tier_bulk_finish(bulk);
	tier_catalog_execute(gone_sql, 0, NULL, NULL, NULL);
}
