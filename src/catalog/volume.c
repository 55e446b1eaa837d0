/*-------------------------------------------------------------------------
 *
 * catalog/volume.c
 *		The price list, and which of it the tiers are.
 *
 * See catalog/tables.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "src/catalog/tables.h"

/* What is not known, as the model has it. */
static double
number_of(int row, int column, double unknown)
{
	bool		isnull;
	Datum		value = tier_catalog_datum(row, column, &isnull);

	return isnull ? unknown : DatumGetFloat8(value);
}

static char *
text_of(MemoryContext context, int row, int column)
{
	bool		isnull;
	Datum		value = tier_catalog_datum(row, column, &isnull);

	return isnull ? NULL : MemoryContextStrdup(context, TextDatumGetCString(value));
}

TierVolumeRow *
tier_catalog_load_volumes(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT profile, provider, random_read_ms, random_write_ms, sequential_read_mb_per_s, "
	"sequential_write_mb_per_s, fsync_ms, parallelism, price_per_gb_month::float8, scan_start_ms, "
	"endurance_dwpd, figures_for_gb, least_gb, most_gb, "
	"iops_per_gb, most_iops, included_iops, price_per_iops_month::float8, "
	"mb_per_s_per_gb, most_mb_per_s, included_mb_per_s, price_per_mb_per_s_month::float8 "
	"FROM tiered_storage.device_profiles() "
	"WHERE random_read_ms > 0 AND random_write_ms > 0 AND sequential_read_mb_per_s > 0 "
	"AND sequential_write_mb_per_s > 0 AND fsync_ms > 0 AND parallelism > 0";
	TierVolumeRow *rows;

	*n = (int) tier_catalog_execute(sql, 0, NULL, NULL, NULL);
	rows = MemoryContextAllocZero(context, sizeof(TierVolumeRow) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		TierVolume *volume = &rows[i].volume;

		rows[i].name = text_of(context, i, 1);
		rows[i].provider = text_of(context, i, 2);
		volume->figures.random_read_ms = number_of(i, 3, 0);
		volume->figures.random_write_ms = number_of(i, 4, 0);
		volume->figures.sequential_read_mb_per_s = number_of(i, 5, 0);
		volume->figures.sequential_write_mb_per_s = number_of(i, 6, 0);
		volume->figures.fsync_ms = number_of(i, 7, 0);
		volume->figures.parallelism = number_of(i, 8, 0);
		volume->figures.price_per_gb_month = number_of(i, 9, 0);
		volume->figures.scan_start_ms = number_of(i, 10, 0);
		volume->endurance_dwpd = number_of(i, 11, 0);
		volume->figures_for_gb = number_of(i, 12, 0);
		volume->least_gb = number_of(i, 13, 0);
		volume->most_gb = number_of(i, 14, 0);
		volume->requests.per_gb = number_of(i, 15, 0);
		volume->requests.most = number_of(i, 16, 0);
		volume->requests.included = number_of(i, 17, 0);
		volume->requests.price = number_of(i, 18, NAN);
		volume->throughput.per_gb = number_of(i, 19, 0);
		volume->throughput.most = number_of(i, 20, 0);
		volume->throughput.included = number_of(i, 21, 0);
		volume->throughput.price = number_of(i, 22, NAN);
	}
	return rows;
}

int *
tier_catalog_load_volume_of_tiers(MemoryContext context, const TierSet *set,
								  const TierVolumeRow *volumes, int n)
{
	static const char sql[] =
	"SELECT t.tier_name, t.profile FROM _tiered_storage.tier t";
	int		   *answer = MemoryContextAlloc(context, sizeof(int) * Max(set->ntiers, 1));
	int			nrows = (int) tier_catalog_execute(sql, 0, NULL, NULL, NULL);

	for (int t = 0; t < set->ntiers; t++)
		answer[t] = -1;
	for (int i = 0; i < nrows; i++)
	{
		bool		isnull;
		Name		name = DatumGetName(tier_catalog_datum(i, 1, &isnull));
		char	   *profile = TextDatumGetCString(tier_catalog_datum(i, 2, &isnull));
		int			tier = tier_set_find_tier(set, NameStr(*name));

		for (int v = 0; v < n && tier >= 0; v++)
			if (strcmp(volumes[v].name, profile) == 0)
				answer[tier] = v;
	}
	return answer;
}
