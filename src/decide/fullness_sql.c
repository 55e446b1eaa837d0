/*-------------------------------------------------------------------------
 *
 * decide/fullness_sql.c
 *		SQL functions that add, change and remove fullness policies: check, call, return.
 *
 * A fullness policy affects the relations of all roles, so it takes more than an EXECUTE
 * privilege: it is for tier administrators, as tiers are.  It moves relations with the rights of
 * their owners.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/decide/tier_fullness.h"
#include "src/decide/policy_calls.h"
#include "src/server/relation.h"

PG_FUNCTION_INFO_V1(tier_add_fullness_policy);

static void
require_administrator(void)
{
	if (tier_is_administrator(GetUserId()))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("must be tier administrator"),
			 errdetail("A fullness policy moves the relations of all owners."),
			 errhint("Roles with EXECUTE on tiered_storage.alter_tier() are tier "
					 "administrators.")));
}

/*
 * The watermarks in force.  In a row, NaN stands for an absent one, so an argument of NaN must be
 * distinguished from none.
 */
static void
check_watermarks(const TierFullnessRow *row, const TierTier *tier)
{
	double		high = isnan(row->high_watermark) ? tier->high_watermark : row->high_watermark;
	double		low = isnan(row->low_watermark) ? tier->low_watermark : row->low_watermark;

	if (low > 0.0 && low < high && high <= 1.0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid watermarks for the fullness policy of tier \"%s\": "
					"low %s and high %s", NameStr(row->tier_name), tier_given_text(low),
					tier_given_text(high)),
			 isnan(row->high_watermark) == isnan(row->low_watermark) ? 0 :
			 errdetail("The %s watermark is the default, which is that of the tier.",
					   isnan(row->high_watermark) ? "high" : "low"),
			 errhint("Watermarks are shares of the capacity with 0 < low < high <= 1.")));
}

static double
watermark_argument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	double		value = PG_ARGISNULL(argument) ? NAN : PG_GETARG_FLOAT8(argument);

	if (!PG_ARGISNULL(argument) && isnan(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be NaN", name),
				 errhint("Watermarks are shares of the capacity with 0 < low < high <= 1.")));
	return value;
}

/*
 * The tiers exist, and the target is a slower one; so no policies can lead in a circle.
 */
static void
check_tiers(const TierSet *set, const TierFullnessRow *row)
{
	int			tier = tier_require_tier(set, NameStr(row->tier_name));
	int			target = tier_require_tier(set, NameStr(row->target_name));

	if (set->tiers[target].rank <= set->tiers[tier].rank)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("tier \"%s\" is not slower than tier \"%s\"", NameStr(row->target_name),
						NameStr(row->tier_name)),
				 errdetail("Their ranks are %d and %d.", set->tiers[target].rank,
						   set->tiers[tier].rank),
				 errhint("The target must have a higher rank, so that relations cannot "
						 "move in a circle.")));
	if (!OidIsValid(tier_set_usable_tablespace(set, target, GetUserId())))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tier \"%s\" has no tablespace", NameStr(row->target_name)),
				 errhint("Give it one with tiered_storage.alter_tier().")));
	check_watermarks(row, &set->tiers[tier]);
}

/*
 * A relation that leaves a tier frees its room at once.  The replay of the WAL after a crash
 * needs that room again, and the server does not start without it.
 */
static void
warn_of_crash_room(const TierSet *set, const TierFullnessRow *row)
{
	TierFullnessQuestion question = {0};
	int			tier = tier_require_tier(set, NameStr(row->tier_name));
	double		high = isnan(row->high_watermark) ? set->tiers[tier].high_watermark :
	row->high_watermark;
	double		wal_bytes = max_wal_size_mb * 1048576.0;
	TierFullnessLevel level;
	double		room;
	double		enough;

	if (!(set->tiers[tier].capacity_bytes > 0))
		return;
	level = tier_fullness_level(set, tier, &question);
	room = tier_fullness_crash_room(&level, high);
	if (!tier_fullness_may_lack_crash_room(&level, high))
		return;
	enough = floor((high - (wal_bytes - room) / level.capacity_bytes) * 100.0 + 1e-6) / 100.0;
	ereport(WARNING,
			(errmsg("tier \"%s\" may have too little room after a crash",
					NameStr(row->tier_name)),
			 errdetail("At its high watermark of %s it has %s free, and max_wal_size is "
					   "%s. Crash recovery rewrites relations that left the tier since "
					   "the last checkpoint, and fails if they do not fit.",
					   tier_given_text(high), tier_size_text(Max(room, 0.0)),
					   tier_size_text(wal_bytes)),
			 enough > 0.0 ?
			 errhint("Use a high_watermark of %g or less, or lower max_wal_size.", enough) :
			 errhint("Lower max_wal_size.")));
}

static TierSet *
load_tiers(TierFullnessRow **rows, int *n)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierSet    *set;

	tier_catalog_enter(&scope);
	set = tier_catalog_load_tiers(context);
	*rows = tier_catalog_load_fullness(context, n);
	tier_catalog_leave(&scope);
	return set;
}

Datum
tier_add_fullness_policy(PG_FUNCTION_ARGS)
{
	bool		if_not_exists = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
	TierCatalogScope scope;
	TierFullnessRow row = {0};
	TierFullnessRow *rows;
	TierSet    *set;
	int			nrows;
	bool		existed;
	int			policy_id;

	tier_require_writable("tiered_storage.add_fullness_policy()");
	tier_require_argument(fcinfo, 0, "tier");
	tier_require_argument(fcinfo, 1, "target");
	row.tier_name = *PG_GETARG_NAME(0);
	row.target_name = *PG_GETARG_NAME(1);
	row.high_watermark = watermark_argument(fcinfo, 2, "high_watermark");
	row.low_watermark = watermark_argument(fcinfo, 3, "low_watermark");
	require_administrator();
	set = load_tiers(&rows, &nrows);
	check_tiers(set, &row);

	tier_catalog_enter(&scope);
	policy_id = tier_catalog_add_fullness(&scope, &row, &existed);
	tier_catalog_leave(&scope);
	if (!existed)
		warn_of_crash_room(set, &row);
	if (existed)
		ereport(if_not_exists ? NOTICE : ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("tier \"%s\" already has a fullness policy%s", NameStr(row.tier_name),
						if_not_exists ? ", skipping" : ""),
				 if_not_exists ? 0 :
				 errhint("Change it with tiered_storage.alter_policy(), "
						 "or use if_not_exists => true.")));
	PG_RETURN_INT32(policy_id);
}

static bool
matches(const TierFullnessRow *row, FunctionCallInfo fcinfo)
{
	return (PG_ARGISNULL(POLICY_OF_TIER) ||
			strcmp(NameStr(row->tier_name), NameStr(*PG_GETARG_NAME(POLICY_OF_TIER))) == 0) &&
		(PG_ARGISNULL(POLICY_ID) || row->policy_id == PG_GETARG_INT32(POLICY_ID));
}

static void
unset_property(TierFullnessRow *row, const char *property)
{
	bool		is_high = strcmp(property, "high_watermark") == 0;

	if (!is_high && strcmp(property, "low_watermark") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("property \"%s\" of a fullness policy must not be null", property),
				 errhint("high_watermark and low_watermark can be null.")));
	*(is_high ? &row->high_watermark : &row->low_watermark) = NAN;
}

static TierFullnessRow
altered(const TierFullnessRow *row, FunctionCallInfo fcinfo, const List *unset)
{
	TierFullnessRow result = *row;
	ListCell   *cell;

	if (!PG_ARGISNULL(POLICY_ENABLED))
		result.is_enabled = PG_GETARG_BOOL(POLICY_ENABLED);
	if (!PG_ARGISNULL(POLICY_TIER))
		result.target_name = *PG_GETARG_NAME(POLICY_TIER);
	if (!PG_ARGISNULL(POLICY_HIGH))
		result.high_watermark = watermark_argument(fcinfo, POLICY_HIGH, "high_watermark");
	if (!PG_ARGISNULL(POLICY_LOW))
		result.low_watermark = watermark_argument(fcinfo, POLICY_LOW, "low_watermark");
	foreach(cell, unset)
		unset_property(&result, lfirst(cell));
	return result;
}

Datum
tier_fullness_alter(FunctionCallInfo fcinfo, const List *unset)
{
	bool		if_exists = !PG_ARGISNULL(POLICY_IF_EXISTS) &&
	PG_GETARG_BOOL(POLICY_IF_EXISTS);
	bool		disables_only = !tier_policy_changes(fcinfo, unset, "fullness");
	TierCatalogScope scope;
	TierFullnessRow *rows;
	TierSet    *set;
	int			nrows;
	int			changed = 0;

	require_administrator();

	/* Loaded under the lock, so that other sessions cannot change them. */
	(void) load_tiers(&rows, &nrows);
	tier_catalog_enter(&scope);
	for (int i = 0; i < nrows; i++)
		if (matches(&rows[i], fcinfo))
			tier_catalog_lock_policy(TIER_POLICY_FULLNESS, rows[i].policy_id);
	tier_catalog_leave(&scope);
	set = load_tiers(&rows, &nrows);
	for (int i = 0; i < nrows; i++)
	{
		TierFullnessRow row;

		if (!matches(&rows[i], fcinfo))
			continue;
		row = altered(&rows[i], fcinfo, unset);
		if (!disables_only)
			check_tiers(set, &row);
		tier_catalog_enter(&scope);
		changed += tier_catalog_change_fullness(&scope, &row, disables_only);
		tier_catalog_leave(&scope);
		if (row.is_enabled)
			warn_of_crash_room(set, &row);
	}
	if (changed == 0)
		tier_policy_complain_of_none(fcinfo, "fullness", if_exists);
	PG_RETURN_INT32(changed);
}

Datum
tier_fullness_remove(FunctionCallInfo fcinfo)
{
	bool		if_exists = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);
	TierCatalogScope scope;
	TierFullnessRow *rows;
	int			nrows;
	int			removed = 0;

	require_administrator();
	(void) load_tiers(&rows, &nrows);
	tier_catalog_enter(&scope);
	for (int i = 0; i < nrows; i++)
		if (matches(&rows[i], fcinfo))
			removed += tier_catalog_delete_policy(TIER_POLICY_FULLNESS, rows[i].policy_id);
	tier_catalog_leave(&scope);
	if (removed == 0)
		tier_policy_complain_of_none(fcinfo, "fullness", if_exists);
	PG_RETURN_INT32(removed);
}
