/*-------------------------------------------------------------------------
 *
 * catalog/standby_tier.c
 *		The store of what standbys' devices are.
 *
 * See catalog/tables.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/compat.h"
#include "src/catalog/tables.h"

/* False, and the figure as it was, where none was told. */
static bool
read_figure(uint64 row, int column, double *figure)
{
	bool		isnull;
	Datum		value = tier_catalog_datum(row, column, &isnull);

	if (!isnull)
		*figure = DatumGetFloat8(value);
	return !isnull;
}

static void
read_profile(uint64 row, TierCostProfile *profile)
{
	if (read_figure(row, 3, &profile->random_read_ms))
	{
		profile->scan_start_ms = 0;
		profile->calibrated = false;
	}
	read_figure(row, 5, &profile->sequential_read_mb_per_s);
	read_figure(row, 4, &profile->random_write_ms);
	read_figure(row, 6, &profile->sequential_write_mb_per_s);
	read_figure(row, 7, &profile->parallelism);
}

static int
find_standby(const TierStandbyDevices *devices, const char *name)
{
	for (int i = 0; i < devices->n; i++)
		if (strcmp(NameStr(devices->names[i]), name) == 0)
			return i;
	return -1;
}

/* What each of them has by now of what all have read. */
static void
load_reads(MemoryContext context, TierStandbyDevices *devices)
{
	static const char sql[] =
	"SELECT r.relation_oid, r.standby_name, r.reads / r.all_reads FROM ("
	"SELECT h.relation_oid, h.standby_name, l.reads, "
	"sum(l.reads) OVER (PARTITION BY h.relation_oid) AS all_reads "
	"FROM _tiered_storage.standby_heat h, "
	"LATERAL _tiered_storage.standby_reads_left(h.reads, h.reads_at) l (reads)) r "
	"WHERE r.all_reads > 0 AND EXISTS (SELECT FROM _tiered_storage.standby_tier s "
	"WHERE s.standby_name = r.standby_name) ORDER BY r.relation_oid, r.standby_name";
	uint64		n = tier_catalog_execute(sql, 0, NULL, NULL, NULL);
	bool		isnull;

	devices->reads = MemoryContextAllocHuge(context, sizeof(TierStandbyReads) * Max(n, 1));
	for (uint64 row = 0; row < n; row++)
	{
		TierStandbyReads *reads = &devices->reads[devices->nreads];
		Name		name = DatumGetName(tier_catalog_datum(row, 2, &isnull));

		reads->relation_oid = DatumGetObjectId(tier_catalog_datum(row, 1, &isnull));
		reads->standby = find_standby(devices, NameStr(*name));
		reads->share = DatumGetFloat8(tier_catalog_datum(row, 3, &isnull));
		if (reads->standby >= 0)
			devices->nreads++;
	}
}

TierStandbyDevices
tier_catalog_load_standby_devices(MemoryContext context, const TierSet *set)
{
	static const char sql[] =
	"SELECT standby_name, tier_name, random_read_ms, random_write_ms, "
	"sequential_read_mb_per_s, sequential_write_mb_per_s, parallelism "
	"FROM _tiered_storage.standby_tier ORDER BY standby_name, tier_name";
	TierStandbyDevices devices = {0};
	int			n = (int) tier_catalog_execute(sql, 0, NULL, NULL, NULL);
	bool		isnull;

	if (n == 0)
		return devices;
	devices.names = MemoryContextAlloc(context, sizeof(NameData) * n);
	for (int row = 0; row < n; row++)
	{
		Name		name = DatumGetName(tier_catalog_datum(row, 1, &isnull));

		if (find_standby(&devices, NameStr(*name)) < 0)
			devices.names[devices.n++] = *name;
	}
	devices.profiles = MemoryContextAlloc(context, sizeof(TierCostProfile) * devices.n *
										  Max(set->ntiers, 1));
	for (int t = 0; t < set->ntiers; t++)
		for (int s = 0; s < devices.n; s++)
			devices.profiles[t * devices.n + s] = set->tiers[t].profile;
	for (int row = 0; row < n; row++)
	{
		Name		name = DatumGetName(tier_catalog_datum(row, 1, &isnull));
		Name		tier_name = DatumGetName(tier_catalog_datum(row, 2, &isnull));
		int			standby = find_standby(&devices, NameStr(*name));
		int			tier = tier_set_find_tier(set, NameStr(*tier_name));

		if (tier >= 0)
			read_profile(row, &devices.profiles[tier * devices.n + standby]);
	}
	load_reads(context, &devices);
	return devices;
}
