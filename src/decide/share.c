/*-------------------------------------------------------------------------
 *
 * decide/share.c
 *		What the databases of the cluster may have of a tier that several of them want; see
 *		decide/share.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "src/base/clock.h"
#include "src/base/settings.h"
#include "src/decide/share.h"
#include "src/server/database_files.h"

/* Wishes change as loads do, by half-lives of a day, and cost the evaluation of all policies. */
#define LONGEST_INTERVAL_US INT64CONST(300000000)

/* So many times nothing was said: the worker does not run, however busy the others are. */
#define MISSED_INTERVALS 3

int64
tier_share_interval_us(void)
{
	return Max(Min(LONGEST_INTERVAL_US, (int64) tier_migrate_interval_s * 1000000),
			   (int64) tier_sample_interval_s * 1000000);
}

bool
tier_share_is_current(const TierPublished *published)
{
	return tier_clock_monotonic_us() - published->at_us <=
		MISSED_INTERVALS * Max(LONGEST_INTERVAL_US, tier_share_interval_us());
}

TierPublished *
tier_share_published(int *n)
{
	int			nrows;
	TierPublished *rows = tier_cluster_copy(&nrows);

	/* The launcher removes them, too, but not at once. */
	*n = 0;
	for (int i = 0; i < nrows; i++)
	{
		if (!tier_cluster_has_database(rows[i].database_oid))
			continue;
		if (*n != i)
			rows[*n] = rows[i];
		(*n)++;
	}
	return rows;
}

static bool
has_same_tablespaces(const TierSet *set, int tier, const TierPublished *row)
{
	int			n = 0;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		if (set->tablespaces[i].tier != tier)
			continue;
		if (n == TIER_MAX_PUBLISHED_TABLESPACES || n == row->ntablespaces ||
			row->tablespaces[n] != set->tablespaces[i].oid)
			return false;
		n++;
	}
	return n > 0 && n == row->ntablespaces;
}

static bool
may_share(const TierSet *set, int tier, const TierPublished *row)
{
	return tier_share_is_current(row) &&
		strcmp(NameStr(row->tier_name), NameStr(set->tiers[tier].name)) == 0 &&
		has_same_tablespaces(set, tier, row);
}

static bool
takes_part(const TierShared *shared, const TierPublished *rows, Oid database_oid)
{
	for (int i = 0; i < shared->n; i++)
		if (rows[shared->rows[i]].database_oid == database_oid)
			return true;
	return false;
}

/* What databases have in the tablespaces of the tier, by their files. */
static void
look_at_files(const TierSet *set, int tier, const TierPublished *rows, TierShared *shared)
{
	double		used = 0.0;
	double		others = 0.0;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		TierDatabaseFiles *files;
		int			n;

		if (set->tablespaces[i].tier != tier)
			continue;
		files = tier_database_files(set->tablespaces[i].oid, &n);
		for (int f = 0; f < n; f++)
			if (takes_part(shared, rows, files[f].database_oid))
				used += files[f].bytes;
			else
				others += files[f].bytes;
		pfree(files);
	}
	shared->used_bytes = tier_cost_stored_bytes(used, &set->tiers[tier].profile);
	shared->others_bytes = tier_cost_stored_bytes(others, &set->tiers[tier].profile);
}

TierShared *
tier_share_find(const TierSet *set, int tier, const TierPublished *rows, int nrows)
{
	TierShared *shared = palloc0(sizeof(TierShared));

	shared->own = -1;
	shared->usable_bytes = INFINITY;
	shared->rows = palloc(sizeof(int) * Max(nrows, 1));
	for (int i = 0; i < nrows; i++)
	{
		if (!may_share(set, tier, &rows[i]))
			continue;
		if (rows[i].database_oid == MyDatabaseId)
		{
			shared->own = shared->n;
			shared->own_capacity_bytes = rows[i].capacity_bytes;
		}
		if (rows[i].capacity_bytes >= 0.0)
			shared->usable_bytes = Min(shared->usable_bytes, rows[i].capacity_bytes *
									   (1.0 - rows[i].reserve_fraction));
		shared->rows[shared->n++] = i;
	}
	shared->demands = palloc(sizeof(TierShareDemand) * Max(shared->n, 1));
	for (int i = 0; i < shared->n; i++)
		shared->demands[i] = rows[shared->rows[i]].demand;
	if (shared->n > 1)
		look_at_files(set, tier, rows, shared);
	return shared;
}

/*
 * What the databases have to share: the capacity as they say it is, of which others have a part,
 * and not more than they have and is free.
 */
static double
shared_bytes(const TierSet *set, int tier, const TierShared *shared, double capacity_bytes)
{
	const TierTier *t = &set->tiers[tier];
	double		usable;

	if (capacity_bytes < 0.0)
		return INFINITY;
	usable = capacity_bytes * (1.0 - t->reserve_fraction);

	/* Who asks what another capacity would change means that of all. */
	if (shared->own < 0 || capacity_bytes == shared->own_capacity_bytes)
		usable = Min(usable, shared->usable_bytes);
	return Min(usable - shared->others_bytes,
			   tier_set_room_on_disk(set, tier, capacity_bytes) + shared->used_bytes);
}

double
tier_share_price(const TierSet *set, int tier, const TierShared *shared, double capacity_bytes,
				 double *shares)
{
	return tier_share_clear(shared->demands, shared->n,
							shared->n > 1 ? shared_bytes(set, tier, shared, capacity_bytes) :
							INFINITY, shares);
}
