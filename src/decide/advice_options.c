/*-------------------------------------------------------------------------
 *
 * decide/advice_options.c
 *		The options of an advice, from SQL arguments.
 *
 * Names of tiers are checked when the tiers are loaded, by decide/advice.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "src/decide/advice_options.h"
#include "src/base/sql.h"
#include "src/catalog/tables.h"
#include "src/server/relation.h"

/* The figures that may be overridden, and their valid ranges. */
typedef struct OverrideKey
{
	const char *name;
	size_t		offset;
	double		least;
	bool		least_is_allowed;
	double		most;			/* exclusive; INFINITY: anything finite */
} OverrideKey;

static const OverrideKey override_keys[] = {
	{"capacity_bytes", offsetof(TierTier, capacity_bytes), 0, true, 9.2e18},
	{"reserve_fraction", offsetof(TierTier, reserve_fraction), 0, true, 1},
	{"price_per_gb_month", offsetof(TierTier, profile.price_per_gb_month), 0, true, INFINITY},
	{"random_read_ms", offsetof(TierTier, profile.random_read_ms), 0, false, INFINITY},
	{"random_write_ms", offsetof(TierTier, profile.random_write_ms), 0, false, INFINITY},
	{"sequential_read_mb_per_s", offsetof(TierTier, profile.sequential_read_mb_per_s),
	0, false, INFINITY},
	{"sequential_write_mb_per_s", offsetof(TierTier, profile.sequential_write_mb_per_s),
	0, false, INFINITY},
	{"parallelism", offsetof(TierTier, profile.parallelism), 0, false, INFINITY},
	{"compression_ratio", offsetof(TierTier, profile.compression_ratio), 1, true, INFINITY},
};

static TierOverride *
new_override(TierAdviceOptions *options, const char *tier_name)
{
	TierOverride *override;

	options->overrides = options->overrides == NULL ?
		palloc(sizeof(TierOverride)) :
		repalloc(options->overrides, sizeof(TierOverride) * (options->noverrides + 1));
	override = &options->overrides[options->noverrides++];
	memset(override, 0, sizeof(TierOverride));
	namestrcpy(&override->tier_name, tier_name);
	return override;
}

static char *
string_of(const JsonbValue *value)
{
	return pnstrdup(value->val.string.val, value->val.string.len);
}

static void
refuse_overrides(const char *what, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid %s", what),
			 errdetail_internal("%s", detail),
			 errhint("It looks like '{\"ssd\": {\"profile\": \"nvme\", "
					 "\"capacity_bytes\": 200000000000}}'; the keys are profile, capacity_bytes, "
					 "reserve_fraction, price_per_gb_month, random_read_ms, random_write_ms, "
					 "sequential_read_mb_per_s, sequential_write_mb_per_s, parallelism, "
					 "compression_ratio.")));
}

static void
set_profile(TierOverride *override, const JsonbValue *value, const char *what)
{
	TierCostProfile *device = palloc(sizeof(TierCostProfile));
	TierCatalogScope scope;
	char	   *name;
	bool		found;

	if (value->type != jbvString)
		refuse_overrides(what, "The value of \"profile\" is not a string.");
	name = string_of(value);
	tier_catalog_enter(&scope);
	found = tier_catalog_find_profile(name, device, &override->endurance_dwpd);
	tier_catalog_leave(&scope);
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("device profile \"%s\" does not exist", name),
				 errhint("SELECT profile FROM tiered_storage.device_profiles() "
						 "lists the profiles.")));
	override->device = device;
}

static void
set_override(TierOverride *override, const char *name, const JsonbValue *value, const char *what)
{
	double		number;

	if (strcmp(name, "profile") == 0)
	{
		set_profile(override, value, what);
		return;
	}
	for (int i = 0; i < (int) lengthof(override_keys); i++)
	{
		const OverrideKey *key = &override_keys[i];

		if (strcmp(key->name, name) != 0)
			continue;
		if (value->type != jbvNumeric)
			refuse_overrides(what, psprintf("The value of \"%s\" is not a number.", name));
		/* A number that does not fit is infinite, and refused. */
		number = strtod(DatumGetCString(DirectFunctionCall1(numeric_out,
															NumericGetDatum(value->val.numeric))),
						NULL);
		if (number < key->least || (number == key->least && !key->least_is_allowed) ||
			!(number < key->most))
			refuse_overrides(what, psprintf("The value of \"%s\" is out of range.", name));
		override->offset = key->offset;
		override->value = number;
		return;
	}
	refuse_overrides(what, psprintf("There is no key \"%s\" for a tier.", name));
}

/* The next key of an object and its value, in which objects are not entered; NULL: the end. */
static char *
next_key(JsonbIterator **iterator, JsonbValue *value)
{
	JsonbIteratorToken token;
	char	   *key;

	while ((token = JsonbIteratorNext(iterator, value, true)) != WJB_KEY)
		if (token == WJB_DONE)
			return NULL;
	key = string_of(value);
	(void) JsonbIteratorNext(iterator, value, true);
	return key;
}

void
tier_advice_add_overrides(TierAdviceOptions *options, Datum jsonb, const char *what)
{
	Jsonb	   *document = DatumGetJsonbP(jsonb);
	JsonbIterator *tiers;
	JsonbValue	value;
	char	   *tier;
	char	   *key;

	if (!JB_ROOT_IS_OBJECT(document))
		refuse_overrides(what, "It is not an object with a key for each tier.");
	tiers = JsonbIteratorInit(&document->root);
	while ((tier = next_key(&tiers, &value)) != NULL)
	{
		JsonbIterator *figures;

		if (strlen(tier) >= NAMEDATALEN)
			refuse_overrides(what, "The name of a tier is too long.");
		if (value.type != jbvBinary || !JsonContainerIsObject(value.val.binary.data))
			refuse_overrides(what, psprintf("The value of \"%s\" is not an object.", tier));

		/* The tier has to exist, whatever figures follow. */
		(void) new_override(options, tier);
		figures = JsonbIteratorInit(value.val.binary.data);
		while ((key = next_key(&figures, &value)) != NULL)
			set_override(new_override(options, tier), key, &value, what);
	}
}

static Datum *
elements_of(Datum array, Oid type, const char *what, int *n)
{
	Datum	   *elements;
	bool	   *nulls;
	int16		length;
	bool		by_value;
	char		align;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(DatumGetArrayTypeP(array), type, length, by_value, align,
					  &elements, &nulls, n);
	if (*n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be empty", what),
				 errhint("Omit it to include all.")));
	for (int i = 0; i < *n; i++)
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not contain nulls", what)));
	return elements;
}

static double
horizon_argument(const Interval *horizon)
{
	double		hours = tier_interval_seconds(horizon) / SECS_PER_HOUR;

	if (!(hours >= 1.0) || hours > 100.0 * 365.25 * 24.0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid horizon"),
				 errdetail("A move must pay off within the horizon, which is between one "
						   "hour and 100 years.")));
	return hours;
}

static TierObjective
objective_argument(const char *name)
{
	if (strcmp(name, "time") != 0 && strcmp(name, "money") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid objective: \"%s\"", name),
				 errhint("Valid values are \"time\" and \"money\".")));
	return strcmp(name, "time") == 0 ? TIER_OBJECTIVE_TIME : TIER_OBJECTIVE_MONEY;
}

static List *
relations_argument(Datum array)
{
	List	   *relations = NIL;
	Datum	   *elements;
	int			n;

	elements = elements_of(array, REGCLASSOID, "relations", &n);
	for (int i = 0; i < n; i++)
	{
		Oid			relation_oid = DatumGetObjectId(elements[i]);
		TierRelationInfo info;

		tier_relation_require(relation_oid, &info);
		if (info.kind != RELKIND_RELATION && info.kind != RELKIND_PARTITIONED_TABLE &&
			info.kind != RELKIND_MATVIEW && info.kind != RELKIND_INDEX &&
			info.kind != RELKIND_PARTITIONED_INDEX)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("cannot recommend a placement for %s %s",
							tier_relation_kind_name(info.kind), info.name),
					 errhint("Placements are recommended for tables, partitioned tables, "
							 "materialized views and indexes.")));
		relations = lappend_oid(relations, relation_oid);
	}
	return relations;
}

void
tier_advice_options_from(FunctionCallInfo fcinfo, int first, bool has_overrides,
						 TierAdviceOptions *options)
{
#define AT(option) (first + (option) - (!has_overrides && (option) > TIER_OPTION_OVERRIDES))
#define GIVEN(option) (!PG_ARGISNULL(AT(option)))
#define ARGUMENT(option) PG_GETARG_DATUM(AT(option))
	Datum	   *elements;
	int			n;

	tier_advice_default_options(options);
	if (GIVEN(TIER_OPTION_TIERS))
	{
		elements = elements_of(ARGUMENT(TIER_OPTION_TIERS), NAMEOID, "tiers", &n);
		for (int i = 0; i < n; i++)
			options->tiers = lappend(options->tiers, pstrdup(NameStr(*DatumGetName(elements[i]))));
	}
	if (has_overrides && GIVEN(TIER_OPTION_OVERRIDES))
		tier_advice_add_overrides(options, ARGUMENT(TIER_OPTION_OVERRIDES), "overrides");
	if (GIVEN(TIER_OPTION_HORIZON))
		options->horizon_hours =
			horizon_argument(DatumGetIntervalP(ARGUMENT(TIER_OPTION_HORIZON)));
	if (GIVEN(TIER_OPTION_OBJECTIVE))
		options->objective =
			objective_argument(TextDatumGetCString(ARGUMENT(TIER_OPTION_OBJECTIVE)));
	if (GIVEN(TIER_OPTION_SCHEMAS))
	{
		elements = elements_of(ARGUMENT(TIER_OPTION_SCHEMAS), NAMEOID, "schemas", &n);
		for (int i = 0; i < n; i++)
			options->schemas = lappend_oid(options->schemas,
										   get_namespace_oid(NameStr(*DatumGetName(elements[i])),
															 false));
	}
	if (GIVEN(TIER_OPTION_RELATIONS))
		options->relations = relations_argument(ARGUMENT(TIER_OPTION_RELATIONS));
#undef AT
#undef GIVEN
#undef ARGUMENT
}
