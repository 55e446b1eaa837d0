/*-------------------------------------------------------------------------
 *
 * decide/policy_shards.c
 *		What is said of a tiering policy on tables whose rows are in shards of Citus.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/decide/policy_group.h"
#include "src/decide/policy_shards.h"
#include "src/server/relation.h"

static void
append_interval(StringInfo statement, const char *argument, bool is_given,
				const Interval *interval)
{
	if (is_given)
		appendStringInfo(statement, "%s => '%s', ", argument,
						 DatumGetCString(DirectFunctionCall1(interval_out,
															 IntervalPGetDatum(interval))));
}

static void
append_literal(StringInfo statement, const char *argument, const char *value)
{
	if (value != NULL)
		appendStringInfo(statement, "%s => %s, ", argument, quote_literal_cstr(value));
}

static void
append_number(StringInfo statement, const char *argument, float8 value)
{
	if (!isnan(value))
		appendStringInfo(statement, "%s => %s, ", argument,
						 DatumGetCString(DirectFunctionCall1(float8out, Float8GetDatum(value))));
}

/* How the key becomes an age. */
static void
append_key(StringInfo statement, const TierPolicyRow *policy)
{
	append_literal(statement, "age_from", policy->age_from_newest ? "newest" : NULL);
	append_literal(statement, "key_unit", policy->key.unit);
	append_literal(statement, "key_epoch",
				   policy->key.has_epoch ? timestamptz_to_str(policy->key.epoch) : NULL);
	if (policy->key.shift != 0)
		appendStringInfo(statement, "key_shift => %d, ", policy->key.shift);
}

static void
append_return(StringInfo statement, const TierPolicyRow *policy)
{
	append_number(statement, "return_when_reads_per_hour", policy->return_reads_per_hour);
	append_interval(statement, "return_after", policy->has_return_after, &policy->return_after);
	append_literal(statement, "return_tier",
				   policy->has_return_tier ? NameStr(policy->return_tier) : NULL);
}

char *
tier_policy_statement_for_shards(const TierPolicyRow *policy, bool has_time_zone,
								 bool if_not_exists)
{
	char	   *name = get_rel_name(policy->relation_oid);
	char	   *schema = get_namespace_name(get_rel_namespace(policy->relation_oid));
	StringInfoData statement;

	if (name == NULL || schema == NULL)
		return NULL;
	initStringInfo(&statement);
	appendStringInfo(&statement,
					 "SELECT * FROM tiered_storage.add_tiering_policy_on_all_nodes(%s, ",
					 quote_literal_cstr(quote_qualified_identifier(schema, name)));
	append_interval(&statement, "move_after", policy->has_move_after, &policy->move_after);
	append_interval(&statement, "idle_for", policy->has_idle_for, &policy->idle_for);
	append_interval(&statement, "no_writes_for", policy->has_no_writes_for,
					&policy->no_writes_for);
	append_number(&statement, "below_reads_per_hour", policy->below_reads_per_hour);
	append_key(&statement, policy);
	append_return(&statement, policy);
	append_literal(&statement, "time_zone", has_time_zone ? policy->time_zone : NULL);
	append_literal(&statement, "index_tier",
				   policy->has_index_tier ? NameStr(policy->index_tier) : NULL);
	if (!policy->include_indexes)
		appendStringInfoString(&statement, "include_indexes => false, ");
	if (if_not_exists)
		appendStringInfoString(&statement, "if_not_exists => true, ");
	appendStringInfo(&statement, "tier => %s)", quote_literal_cstr(NameStr(policy->tier_name)));
	return statement.data;
}

void
tier_policy_notice_shells(const TierPolicyRow *policy)
{
	Oid			first_oid;
	int			n = policy->is_group ? tier_group_count_shells(policy, &first_oid) : 0;
	TierRelationInfo first;

	if (n == 0 || !tier_relation_lookup(first_oid, &first))
		return;
	ereport(NOTICE,
			(errmsg("the policy moves none of the tables whose rows are in shards of Citus, "
					"but the shards among its tables"),
			 n == 1 ? errdetail("This is %s.", first.name) :
			 errdetail("These are %s and %d more.", first.name, n - 1),
			 errhint("tiered_storage.add_tiering_policy_on_all_nodes() is for the shards of a "
					 "table, wherever they are.")));
}
