/*-------------------------------------------------------------------------
 *
 * decide/cluster_sql.c
 *		The SQL function behind the view cluster_tiers: what all databases say of their tiers.
 *
 * Runs in the backend that calls, on a copy of shared memory.  Shares are those of the tiers as
 * this database defines them, as in its advice.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/tablespace.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/decide/share.h"
#include "src/server/database_files.h"

PG_FUNCTION_INFO_V1(tier_cluster_tiers);

#define BYTES_PER_GB 1e9
#define S_PER_HOUR 3600.0

/* Two calibrations of one device differ by less than this factor. */
#define SAME_DEVICE 1.5

/* What is shared, of one tier of this database. */
typedef struct ClusterTier
{
	TierShared *shared;
	double	   *shares;
	double		price;			/* 0: there is room for all */
} ClusterTier;

/* ---------------------------------------------------------------------
 * Disagreement
 * ---------------------------------------------------------------------
 */

/* What differs, in words, and the arguments of alter_tier() that end it. */
typedef struct Difference
{
	StringInfoData words;
	StringInfoData arguments;
} Difference;

static void
add_difference(Difference *difference, const char *words, const char *argument)
{
	appendStringInfo(&difference->words, "%s%s", difference->words.len > 0 ? "; " : "", words);
	appendStringInfo(&difference->arguments, ", %s", argument);
}

static bool
differs_by_much(double a, double b)
{
	return a > 0.0 && b > 0.0 && (a > b * SAME_DEVICE || b > a * SAME_DEVICE);
}

static void
compare_number(Difference *difference, const char *name, double there, double here, bool differs)
{
	if (differs)
		add_difference(difference, psprintf("%s is %.15g there, %.15g here", name, there, here),
					   psprintf("%s => %.15g", name, here));
}

static const char *
capacity_text(double bytes)
{
	return bytes < 0.0 ? "unknown" : tier_size_text(bytes);
}

/* Two that nobody has given are both that of the file systems. */
static void
compare_capacity(Difference *difference, const TierPublished *there, const TierTier *here)
{
	bool		is_given = here->capacity_bytes != here->device_bytes;

	if ((!is_given && !there->capacity_is_given) ||
		there->capacity_bytes == (double) here->capacity_bytes)
		return;
	add_difference(difference,
				   psprintf("capacity is %s there, %s here", capacity_text(there->capacity_bytes),
							capacity_text((double) here->capacity_bytes)),
				   !is_given ? "unset => '{capacity_bytes}'" :
				   psprintf("capacity_bytes => " INT64_FORMAT, here->capacity_bytes));
}

/* "{a,b}", of those that still exist. */
static ArrayType *
names_of(const Oid *oids, int n)
{
	Datum	   *names = palloc(sizeof(Datum) * Max(n, 1));
	int			found = 0;

	for (int i = 0; i < n; i++)
	{
		char	   *name = get_tablespace_name(oids[i]);

		if (name != NULL)
			names[found++] = CStringGetTextDatum(name);
	}
	return construct_array(names, found, TEXTOID, -1, false, TYPALIGN_INT);
}

static char *
text_of(ArrayType *array)
{
	return OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(array));
}

static int
tablespaces_here(const TierSet *set, int tier, Oid *oids)
{
	int			n = 0;

	for (int i = 0; i < set->ntablespaces; i++)
		if (set->tablespaces[i].tier == tier)
			oids[n++] = set->tablespaces[i].oid;
	return n;
}

static void
compare_tablespaces(Difference *difference, const TierSet *set, int tier,
					const TierPublished *row)
{
	Oid		   *oids = palloc(sizeof(Oid) * Max(set->ntablespaces, 1));
	int			n = tablespaces_here(set, tier, oids);
	int			compared = Min(n, TIER_MAX_PUBLISHED_TABLESPACES);
	char	   *here;

	if (n == row->ntablespaces && memcmp(oids, row->tablespaces, sizeof(Oid) * compared) == 0)
		return;
	here = text_of(names_of(oids, n));
	add_difference(difference,
				   psprintf("tablespaces are %s there, %s here",
							text_of(names_of(row->tablespaces,
											 Min(row->ntablespaces,
												 TIER_MAX_PUBLISHED_TABLESPACES))), here),
				   psprintf("tablespaces => %s", quote_literal_cstr(here)));
}

/* The tier of this database that the row is about: by name, else by a tablespace; -1: none. */
static int
counterpart(const TierSet *set, const TierPublished *row)
{
	int			tier = tier_set_find_tier(set, NameStr(row->tier_name));

	for (int i = 0; i < Min(row->ntablespaces, TIER_MAX_PUBLISHED_TABLESPACES) && tier < 0; i++)
		tier = tier_set_tier_of_tablespace(set, row->tablespaces[i]);
	return tier;
}

/* What makes the database of the row say the same as this one; false: it does. */
static bool
find_difference(const TierSet *set, int tier, const TierPublished *row, Difference *difference)
{
	const TierTier *here = &set->tiers[tier];
	bool		renamed = strcmp(NameStr(here->name), NameStr(row->tier_name)) != 0;

	initStringInfo(&difference->words);
	initStringInfo(&difference->arguments);
	if (renamed)
		add_difference(difference, psprintf("is called \"%s\" here", NameStr(here->name)),
					   psprintf("new_name => %s", quote_literal_cstr(NameStr(here->name))));
	compare_tablespaces(difference, set, tier, row);
	compare_number(difference, "rank", row->rank, here->rank, row->rank != here->rank);
	compare_capacity(difference, row, here);
	compare_number(difference, "reserve_fraction", row->reserve_fraction, here->reserve_fraction,
				   row->reserve_fraction != here->reserve_fraction);
	compare_number(difference, "low_watermark", row->low_watermark, here->low_watermark,
				   row->low_watermark != here->low_watermark);
	compare_number(difference, "high_watermark", row->high_watermark, here->high_watermark,
				   row->high_watermark != here->high_watermark);
	compare_number(difference, "price_per_gb_month", row->price_per_gb_month,
				   here->profile.price_per_gb_month,
				   row->price_per_gb_month != here->profile.price_per_gb_month);
	compare_number(difference, "random_read_ms", row->random_read_ms,
				   here->profile.random_read_ms,
				   differs_by_much(row->random_read_ms, here->profile.random_read_ms));
	compare_number(difference, "sequential_read_mb_per_s", row->sequential_read_mb_per_s,
				   here->profile.sequential_read_mb_per_s,
				   differs_by_much(row->sequential_read_mb_per_s,
								   here->profile.sequential_read_mb_per_s));
	return difference->words.len > 0;
}

/* ---------------------------------------------------------------------
 * Rows
 * ---------------------------------------------------------------------
 */

/* Columns of the view. */
enum
{
	DATABASE_NAME, TIER_NAME, TABLESPACES, RANK, CAPACITY, RESERVE, PRICE, RANDOM_READ,
	SEQUENTIAL_READ, USED, BUSY, WANTED, WISHES, SHARE, CLEARING_PRICE, STATE,
	PUBLISHED_AT, DISAGREEMENT, COMMAND
};

/* [[bytes, device-seconds per hour that each GB of them saves], ...] */
static char *
wishes_text(const TierShareDemand *demand)
{
	StringInfoData line;

	initStringInfo(&line);
	appendStringInfoChar(&line, '[');
	if (demand->kept_bytes > 0.0)
		appendStringInfo(&line, "[%.0f, null]", demand->kept_bytes);
	for (int s = 0; s < demand->nsteps; s++)
		appendStringInfo(&line, "%s[%.0f, %.4g]", line.len > 1 ? ", " : "",
						 demand->steps[s].bytes, demand->steps[s].price * BYTES_PER_GB);
	appendStringInfoChar(&line, ']');
	return line.data;
}

static void
set_bytes(TierResultRow *row, int column, double bytes)
{
	if (bytes >= 0.0 && bytes < 9.2e18)
		tier_row_datum(row, column, Int64GetDatum((int64) bytes));
}

static void
set_definition(TierResultRow *row, const TierPublished *published)
{
	tier_row_name(row, TIER_NAME, tier_foreign_text(NameStr(published->tier_name)));
	tier_row_datum(row, TABLESPACES,
				   PointerGetDatum(names_of(published->tablespaces,
											Min(published->ntablespaces,
												TIER_MAX_PUBLISHED_TABLESPACES))));
	tier_row_datum(row, RANK, Int32GetDatum(published->rank));
	set_bytes(row, CAPACITY, published->capacity_bytes);
	tier_row_datum(row, RESERVE, Float8GetDatum(published->reserve_fraction));
	tier_row_datum(row, PRICE, Float8GetDatum(published->price_per_gb_month));
	tier_row_datum(row, RANDOM_READ, Float8GetDatum(published->random_read_ms));
	tier_row_datum(row, SEQUENTIAL_READ, Float8GetDatum(published->sequential_read_mb_per_s));
	tier_row_time(row, PUBLISHED_AT, published->published_at);
}

/* What it gets: its share, and what there is in any case where there is room for all. */
static void
set_share(TierResultRow *row, const ClusterTier *tier, int published)
{
	for (int i = 0; i < tier->shared->n; i++)
		if (tier->shared->rows[i] == published)
		{
			set_bytes(row, SHARE, tier->shares[i]);
			tier_row_datum(row, CLEARING_PRICE, Float8GetDatum(tier->price * BYTES_PER_GB));
		}
}

static void
put_published(TierResultRow *row, const TierSet *set, const ClusterTier *tiers,
			  const TierPublished *rows, int i)
{
	const TierPublished *published = &rows[i];
	const char *name = tier_foreign_text(NameStr(published->tier_name));
	int			tier = counterpart(set, published);
	Difference	difference;

	tier_row_clear(row);
	tier_row_name(row, DATABASE_NAME, get_database_name(published->database_oid));
	set_definition(row, published);
	set_bytes(row, USED, published->used_bytes);
	tier_row_datum(row, BUSY, Float8GetDatum(published->occupied_s / S_PER_HOUR));
	if (tier_share_is_current(published))
	{
		set_bytes(row, WANTED, tier_share_wanted(&published->demand));
		tier_row_datum(row, WISHES,
					   DirectFunctionCall1(jsonb_in,
										   CStringGetDatum(wishes_text(&published->demand))));
	}
	tier_row_text(row, STATE, tier_share_is_current(published) ? "published" : "outdated");
	if (tier >= 0)
		set_share(row, &tiers[tier], i);
	if (tier >= 0 && published->database_oid != MyDatabaseId &&
		find_difference(set, tier, published, &difference))
	{
		tier_row_text(row, DISAGREEMENT, difference.words.data);
		tier_row_text(row, COMMAND,
					  psprintf("SELECT tiered_storage.alter_tier(%s%s)",
							   quote_literal_cstr(name), difference.arguments.data));
	}
	tier_row_put(row);
}

/* Databases that say nothing, and what they have of a tier of this one. */
static void
put_silent(TierResultRow *row, const TierSet *set, int tier, const TierPublished *rows, int nrows)
{
	for (int i = 0; i < set->ntablespaces; i++)
	{
		TierDatabaseFiles *files;
		int			nfiles;

		if (set->tablespaces[i].tier != tier)
			continue;
		files = tier_database_files(set->tablespaces[i].oid, &nfiles);
		for (int f = 0; f < nfiles; f++)
		{
			char	   *name = get_database_name(files[f].database_oid);
			bool		is_silent = name != NULL && files[f].bytes > 0.0;

			for (int r = 0; r < nrows && is_silent; r++)
				is_silent = rows[r].database_oid != files[f].database_oid;
			if (!is_silent)
				continue;
			tier_row_clear(row);
			tier_row_name(row, DATABASE_NAME, name);
			tier_row_name(row, TIER_NAME, NameStr(set->tiers[tier].name));
			tier_row_datum(row, TABLESPACES,
						   PointerGetDatum(names_of(&set->tablespaces[i].oid, 1)));
			set_bytes(row, USED, tier_cost_stored_bytes(files[f].bytes,
														&set->tiers[tier].profile));
			tier_row_text(row, STATE, "not published");
			tier_row_put(row);
		}
		pfree(files);
	}
}

static TierSet *
load_tiers(void)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierSet    *set;

	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(context);
	tier_catalog_leave(&scope);
	MemoryContextSwitchTo(context);
	return set;
}

Datum
tier_cluster_tiers(PG_FUNCTION_ARGS)
{
	TierResultRow row;
	TierSet    *set;
	TierPublished *rows;
	ClusterTier *tiers;
	int			nrows;

	tier_result_start(fcinfo, &row);
	set = load_tiers();
	rows = tier_share_published(&nrows);
	tiers = palloc(sizeof(ClusterTier) * Max(set->ntiers, 1));
	for (int t = 0; t < set->ntiers; t++)
	{
		tiers[t].shared = tier_share_find(set, t, rows, nrows);
		tiers[t].shares = palloc(sizeof(double) * Max(tiers[t].shared->n, 1));
		tiers[t].price = tier_share_price(set, t, tiers[t].shared,
										  (double) set->tiers[t].capacity_bytes, tiers[t].shares);
	}
	for (int i = 0; i < nrows; i++)
		put_published(&row, set, tiers, rows, i);
	for (int t = 0; t < set->ntiers; t++)
		put_silent(&row, set, t, rows, nrows);
	return (Datum) 0;
}
