/*-------------------------------------------------------------------------
 *
 * catalog/tier.c
 *		The tiers, their tablespaces and the devices beneath them.
 *
 * See catalog/tables.h.  Definitions come from the tables.  Sizes and free space come from the
 * file systems each time the tiers are loaded, and are not stored.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/compat.h"
#include "src/base/options.h"
#include "src/catalog/tables.h"
#include "src/storage/database_files.h"

PG_FUNCTION_INFO_V1(tier_is_alike);

static void
read_tier(TierTier *tier, uint64 row)
{

	tier->name = tier_get_name(row, 1);
	tier->rank = tier_get_int4(row, 2);
	tier->profile.random_read_ms = tier_get_float8(row, 3);
	tier->profile.random_write_ms = tier_get_float8(row, 4);
	tier->profile.sequential_read_mb_per_s = tier_get_float8(row, 5);
	tier->profile.sequential_write_mb_per_s = tier_get_float8(row, 6);
	tier->profile.fsync_ms = tier_get_float8(row, 7);
	tier->profile.parallelism = tier_get_float8(row, 8);
	tier->profile.price_per_gb_month = tier_get_float8(row, 9);
	tier->price_is_assumed = tier_get_bool(row, 10);
	tier->reserve_fraction = tier_get_float8(row, 11);
	tier->high_watermark = tier_get_float8(row, 12);
	tier->compressed = tier_get_bool(row, 13);
	tier->capacity_bytes = (int64) tier_get_float8_or(row, 14, -1.0);
	tier->free_bytes = tier->device_used_bytes = -1;
	tier->profile.compression_ratio = tier->compressed ? tier_get_float8_or(row, 15, 0.0) : 0.0;
	tier->endurance_tbw = tier_get_float8_or(row, 16, 0.0);
	tier->endurance_dwpd = tier_get_float8_or(row, 17, 0.0);
	tier->profile.calibrated = tier_get_bool(row, 18);
	tier->low_watermark = tier_get_float8(row, 19);
	tier->is_object_store = tier_get_bool(row, 23);
	tier->profile.price_per_million_reads = tier_get_float8(row, 24);
	if (tier_get_bool(row, 20))
	{
		tier->emptied_above = tier_get_float8(row, 21);
		tier->emptied_to = tier_get_float8(row, 22);
	}
}

/*
 * Sets the bytes that may be written to the devices in a day: by TBW over five years, by DWPD,
 * or the lower of both.
 */
static void
set_endurance(TierTier *tier, int64 device_bytes)
{
	double		per_day = INFINITY;

	if (tier->endurance_tbw > 0)
		per_day = tier->endurance_tbw * 1e12 / TIER_ENDURANCE_DAYS;
	if (tier->endurance_dwpd > 0 && device_bytes > 0)
		per_day = Min(per_day, tier->endurance_dwpd * device_bytes);
	tier->profile.endurance_bytes_per_day = isinf(per_day) ? 0.0 : per_day;
}

/* Sums the distinct file systems beneath a tier into its capacity and free space. */
static void
add_up_file_systems(TierSet *set, int tier_index)
{
	TierTier   *tier = &set->tiers[tier_index];
	int64		total = -1;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		const TierDevice *device = set->tablespaces[i].device;
		bool		seen = false;

		if (set->tablespaces[i].tier != tier_index || device->total_bytes < 0)
			continue;
		for (int j = 0; j < i && !seen; j++)
			seen = set->tablespaces[j].tier == tier_index &&
				set->tablespaces[j].device->total_bytes >= 0 &&
				set->tablespaces[j].device->fs_id == device->fs_id;
		if (seen)
			continue;
		total = Max(total, 0) + device->total_bytes;
		tier->free_bytes = Max(tier->free_bytes, 0) + Max(device->free_bytes, 0);
		tier->device_used_bytes = Max(tier->device_used_bytes, 0) + Max(device->used_bytes, 0);
	}
	tier->device_bytes = total;
	if (tier->capacity_bytes < 0)
		tier->capacity_bytes = total;
	set_endurance(tier, total >= 0 ? total : tier->capacity_bytes);
}

TierSet *
tier_catalog_load_tiers(MemoryContext context)
{
	static const char tiers_sql[] =
	"SELECT t.tier_name, rank, random_read_ms, random_write_ms, "
	"sequential_read_mb_per_s, sequential_write_mb_per_s, "
	"fsync_ms, parallelism, price_per_gb_month::float8, price_is_assumed, "
	"reserve_fraction, t.high_watermark, compressed, t.capacity_bytes::float8, "
	"compression_ratio, endurance_tbw, endurance_dwpd, "
	"EXISTS (SELECT FROM _tiered_storage.tier_calibration c WHERE c.tier_name = t.tier_name), "
	"t.low_watermark, f.policy_id IS NOT NULL, COALESCE(f.high_watermark, t.high_watermark), "
	"COALESCE(f.low_watermark, t.low_watermark), t.profile = 'object_store', "
	"COALESCE(price_per_million_reads, 0) "
	"FROM _tiered_storage.tier t LEFT JOIN _tiered_storage.fullness_policy f "
	"ON f.tier_name = t.tier_name AND f.enabled ORDER BY rank, t.tier_name";
	static const char tablespaces_sql[] =
	"SELECT tier_name, tablespace_oid, tablespace_name, discovered "
	"FROM _tiered_storage.tier_tablespaces ORDER BY tablespace_oid";
	TierSet    *set = MemoryContextAllocZero(context, sizeof(TierSet));
	MemoryContext old_context;
	int			nrows;

	set->ntiers = (int) tier_query_plain(tiers_sql);
	if (set->ntiers > TIER_MAX_TIERS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many tiers"),
				 errdetail("%d tiers are defined, and at most %d can be.",
						   set->ntiers, TIER_MAX_TIERS)));
	set->tiers = MemoryContextAllocZero(context, sizeof(TierTier) * Max(set->ntiers, 1));
	for (int i = 0; i < set->ntiers; i++)
		read_tier(&set->tiers[i], i);

	nrows = (int) tier_query_plain(tablespaces_sql);
	set->tablespaces = MemoryContextAllocZero(context, sizeof(TierTablespace) * Max(nrows, 1));
	old_context = MemoryContextSwitchTo(context);
	for (int i = 0; i < nrows; i++)
	{
		TierTablespace *tablespace = &set->tablespaces[set->ntablespaces];
		NameData	tier_name = tier_get_name(i, 1);

		/* The second statement may see a tier that the first did not. */
		tablespace->tier = tier_set_find_tier(set, NameStr(tier_name));
		if (tablespace->tier < 0)
			continue;
		tablespace->oid = tier_get_oid(i, 2);
		tablespace->name = tier_get_name(i, 3);
		tablespace->discovered = tier_get_bool(i, 4);
		tablespace->device = tier_device_lookup(tablespace->oid, "");
		set->ntablespaces++;
	}
	MemoryContextSwitchTo(old_context);

	for (int i = 0; i < set->ntiers; i++)
	{
		TierTier   *tier = &set->tiers[i];

		add_up_file_systems(set, i);
		if (tier->compressed && tier->profile.compression_ratio <= 0)
			tier->profile.compression_ratio = tier_set_compression_ratio(set, i);
	}
	return set;
}

TierSet *
tier_catalog_tiers_now(void)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierSet    *set;

	if (!tier_catalog_try_enter(&scope))
		return NULL;
	set = tier_catalog_load_tiers(context);
	tier_catalog_leave(&scope);
	return set;
}

bool
tier_catalog_find_profile(const char *name, TierCostProfile *figures, double *endurance_dwpd)
{
	static const char sql[] =
	"SELECT random_read_ms, random_write_ms, sequential_read_mb_per_s, "
	"sequential_write_mb_per_s, fsync_ms, parallelism, price_per_gb_month::float8, "
	"COALESCE(endurance_dwpd, 0), COALESCE(price_per_million_reads, 0) "
	"FROM _tiered_storage.device_profiles() WHERE profile = $1";
	double	   *fields[] = {
		&figures->random_read_ms, &figures->random_write_ms, &figures->sequential_read_mb_per_s,
		&figures->sequential_write_mb_per_s, &figures->fsync_ms, &figures->parallelism,
		&figures->price_per_gb_month, endurance_dwpd, &figures->price_per_million_reads
	};

	memset(figures, 0, sizeof(TierCostProfile));
	if (tier_query(sql, tier_arg_text(name)) == 0)
		return false;
	for (int i = 0; i < (int) lengthof(fields); i++)
		*fields[i] = tier_get_float8(0, i + 1);
	return true;
}

int
tier_set_find_tier(const TierSet *set, const char *name)
{
	for (int i = 0; i < set->ntiers; i++)
		if (strcmp(NameStr(set->tiers[i].name), name) == 0)
			return i;
	return -1;
}

int
tier_require_tier(const TierSet *set, const char *name)
{
	int			tier = tier_set_find_tier(set, name);

	if (tier < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tier \"%s\" does not exist", name),
				 errhint("%s", tier_set_name_hint(set, name))));
	return tier;
}

char *
tier_set_name_hint(const TierSet *set, const char *name)
{
	for (int i = 0; i < set->ntiers; i++)
		if (tier_names_alike(NameStr(set->tiers[i].name), name))
			return psprintf("Did you mean \"%s\"?", NameStr(set->tiers[i].name));
	return pstrdup("SELECT tier_name FROM tiered_storage.tiers lists the tiers; "
				   "add_tier() defines one.");
}

/* _tiered_storage.is_alike(name, name) */
Datum
tier_is_alike(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(tier_names_alike(NameStr(*PG_GETARG_NAME(0)), NameStr(*PG_GETARG_NAME(1))));
}

void
tier_require_tier_rights(const TierSet *set, int tier)
{
	bool		allowed = false;
	bool		any = false;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		Oid			tablespace_oid = set->tablespaces[i].oid;

		if (set->tablespaces[i].tier != tier)
			continue;
		any = true;
		allowed |= tablespace_oid == MyDatabaseTableSpace ||
			tier_compat_may_create_in_tablespace(tablespace_oid, GetUserId());
	}
	if (!any)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tier \"%s\" has no tablespace", NameStr(set->tiers[tier].name)),
				 errhint("Give it one with tiered_storage.alter_tier().")));
	if (!allowed)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for the tablespaces of tier \"%s\"",
						NameStr(set->tiers[tier].name)),
				 errhint("GRANT CREATE ON TABLESPACE allows it.")));
}

const TierTablespace *
tier_set_tablespace(const TierSet *set, Oid tablespace_oid)
{
	for (int i = 0; i < set->ntablespaces; i++)
		if (set->tablespaces[i].oid == tablespace_oid)
			return &set->tablespaces[i];
	return NULL;
}

bool
tier_set_same_file_system(const TierTablespace *a, const TierTablespace *b)
{
	return a->oid == b->oid || (a->device->fs_id != 0 && a->device->fs_id == b->device->fs_id);
}

/* The bytes that may still be added to its file system, whose reserve stays free. */
static double
room_of(const TierSet *set, const TierTablespace *tablespace, TierAddedBytes added,
		const void *argument)
{
	const TierDevice *device = tablespace->device;

	return device->free_bytes -
		set->tiers[tablespace->tier].reserve_fraction * Max(device->total_bytes, 0) -
		(added == NULL ? 0.0 : added(tablespace, argument));
}

/*
 * Returns true if the candidate has more room.  Two tablespaces on one file system have the same,
 * although it may have changed between two looks.
 */
static bool
is_roomier(const TierSet *set, const TierTablespace *candidate, const TierTablespace *best,
		   TierAddedBytes added, const void *argument)
{
	return !tier_set_same_file_system(candidate, best) &&
		room_of(set, candidate, added, argument) > room_of(set, best, added, argument);
}

/* Returns true if it exists, is writable, and the role may create relations there. */
static bool
may_use(const TierTablespace *tablespace, Oid role_oid)
{
	return tier_device_why_not(tablespace->device) == NULL &&
		(tablespace->oid == MyDatabaseTableSpace ||
		 tier_compat_may_create_in_tablespace(tablespace->oid, role_oid));
}

Oid
tier_set_usable_tablespace(const TierSet *set, int tier, Oid role_oid)
{
	return tier_set_usable_after(set, tier, role_oid, NULL, NULL);
}

Oid
tier_set_usable_after(const TierSet *set, int tier, Oid role_oid, TierAddedBytes added,
					  const void *argument)
{
	const TierTablespace *best = NULL;
	bool		best_allowed = false;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		const TierTablespace *candidate = &set->tablespaces[i];
		bool		allowed;

		if (candidate->tier != tier)
			continue;
		allowed = may_use(candidate, role_oid);
		if (best == NULL || (allowed && !best_allowed) ||
			(allowed == best_allowed && is_roomier(set, candidate, best, added, argument)))
		{
			best = candidate;
			best_allowed = allowed;
		}
	}
	return best == NULL ? InvalidOid : best->oid;
}

const char *
tier_set_why_closed(const TierSet *set, int tier)
{
	const char *why = "has no tablespace";

	for (int i = 0; i < set->ntablespaces; i++)
	{
		const TierDevice *device = set->tablespaces[i].device;

		if (set->tablespaces[i].tier != tier)
			continue;
		if (tier_device_why_not(device) == NULL)
			return NULL;
		why = device->exists ? "has no tablespace that can be written to" :
			device->has_stalled ? "has no tablespace whose file system answers" :
			"has no tablespace whose directory is there";
	}
	return why;
}

int
tier_set_tier_of_tablespace(const TierSet *set, Oid tablespace_oid)
{
	const TierTablespace *tablespace = tier_set_tablespace(set, tablespace_oid);

	return tablespace == NULL ? -1 : tablespace->tier;
}

const char *
tier_set_tier_name(const TierSet *set, int tier)
{
	return tier < 0 ? NULL : NameStr(set->tiers[tier].name);
}

/* The stored bytes of files on a tier. */
static double
stored_bytes(const TierSet *set, int tier, double (*bytes_of) (Oid tablespace_oid))
{
	double		bytes = 0;

	for (int i = 0; i < set->ntablespaces; i++)
		if (set->tablespaces[i].tier == tier)
			bytes += bytes_of(set->tablespaces[i].oid);
	return tier_cost_stored_bytes(bytes, &set->tiers[tier].profile);
}

static bool
is_less_than_disks(const TierTier *tier, double capacity_bytes)
{
	return capacity_bytes >= 0 &&
		(tier->device_bytes < 0 || capacity_bytes < tier->device_bytes);
}

double
tier_set_others_bytes(const TierSet *set, int tier, double capacity_bytes)
{
	return is_less_than_disks(&set->tiers[tier], capacity_bytes) ?
		stored_bytes(set, tier, tier_database_files_of_others_lately) : 0;
}

double
tier_set_room_on_disk(const TierSet *set, int tier, double capacity_bytes)
{
	const TierTier *t = &set->tiers[tier];
	double		more = Max(0.0, capacity_bytes - t->device_bytes);

	if (capacity_bytes < 0 || t->free_bytes < 0)
		return INFINITY;
	return t->free_bytes - t->reserve_fraction * Min(capacity_bytes, (double) t->device_bytes) +
		more * (1.0 - t->reserve_fraction);
}

bool
tier_set_counts_others(const TierSet *set, int tier)
{
	const TierTier *t = &set->tiers[tier];

	return is_less_than_disks(t, (double) t->capacity_bytes);
}

double
tier_set_bytes_now(const TierSet *set, int tier)
{
	return stored_bytes(set, tier, tier_database_files_of_own) +
		(tier_set_counts_others(set, tier) ?
		 stored_bytes(set, tier, tier_database_files_of_others) : 0);
}

char *
tier_catalog_second_tier_statements(MemoryContext context)
{
	tier_query_plain("SELECT _tiered_storage.second_tier_statements()");
	return tier_get_text(context, 0, 1);
}

bool
tier_catalog_tier_has(const char *tier_name, Oid tablespace_oid)
{
	static const char sql[] =
	"SELECT FROM _tiered_storage.tier_tablespaces t "
	"WHERE t.tier_name = $1 AND t.tablespace_oid = $2";
	NameData	name;

	namestrcpy(&name, tier_name);
	return tier_query(sql, tier_arg_name(&name), tier_arg_oid(tablespace_oid)) > 0;
}

void
tier_catalog_hold_tier(const NameData *tier_name)
{
	static const char sql[] =
	"SELECT FROM _tiered_storage.tier t WHERE t.tier_name = $1 FOR KEY SHARE";
	NameData	name = *tier_name;

	if (tier_query(sql, tier_arg_name(&name)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tier \"%s\" does not exist", NameStr(name)),
				 errdetail("It was removed or renamed concurrently."),
				 errhint("SELECT tier_name FROM tiered_storage.tiers lists the tiers.")));
}
