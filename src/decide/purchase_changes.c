/*-------------------------------------------------------------------------
 *
 * decide/purchase_changes.c
 *		Hardware that is asked for, from JSON and back.
 *
 * One option is an object with a key for each tier that changes, {"ssd": {"add_gb": 200}};
 * several are an array of these.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"

#include "src/decide/purchase.h"

/* Beyond this, no size, rate or price is meant: an exabyte. */
#define MOST_NUMBER 1e9

typedef struct Parse
{
	TierPurchase *purchase;
	TierPurchaseOption *option;
	const char *tier_name;		/* of the change */
	TierPurchaseChange *change;
	double		add_gb;
} Parse;

static void
refuse(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid changes"),
			 errdetail_internal("%s", detail),
			 errhint("They look like '{\"ssd\": {\"add_gb\": 200}}', or an array of these; the "
					 "keys are profile, add_gb, capacity_gb, price_per_gb_month, iops, "
					 "mb_per_s, remove.")));
}

static char *
string_of(const JsonbValue *value)
{
	return pnstrdup(value->val.string.val, value->val.string.len);
}

static double
number_of(const Parse *parse, const char *key, const JsonbValue *value, bool may_be_zero)
{
	double		number;

	if (value->type != jbvNumeric)
		refuse(psprintf("\"%s\" of tier \"%s\" is not a number.", key, parse->tier_name));
	/* What does not fit is infinite, and refused below. */
	number = strtod(DatumGetCString(DirectFunctionCall1(numeric_out,
														NumericGetDatum(value->val.numeric))),
					NULL);
	if (!(number > 0.0 || (may_be_zero && number == 0.0)) || !(number <= MOST_NUMBER))
		refuse(psprintf("\"%s\" of tier \"%s\" is out of range: it must be %s, and a thousand "
						"million at most.", key, parse->tier_name,
						may_be_zero ? "0 or more" : "more than 0"));
	return number;
}

static int
volume_named(const TierPurchase *purchase, const char *name)
{
	for (int v = 0; v < purchase->nvolumes; v++)
		if (strcmp(purchase->volumes[v].name, name) == 0)
			return v;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("device profile \"%s\" does not exist", name),
			 errhint("SELECT profile FROM tiered_storage.device_profiles() lists the "
					 "profiles; set_device_profile() adds one.")));
	return -1;
}

static void
set_value(Parse *parse, const char *key, const JsonbValue *value)
{
	TierPurchaseChange *change = parse->change;

	if (strcmp(key, "profile") == 0)
	{
		if (value->type != jbvString)
			refuse(psprintf("\"profile\" of tier \"%s\" is not a name.", parse->tier_name));
		change->volume = volume_named(parse->purchase, string_of(value));
	}
	else if (strcmp(key, "remove") == 0)
	{
		if (value->type != jbvBool || !value->val.boolean)
			refuse(psprintf("\"remove\" of tier \"%s\" is not true.", parse->tier_name));
		change->is_removed = true;
	}
	else if (strcmp(key, "add_gb") == 0)
		parse->add_gb = number_of(parse, key, value, false);
	else if (strcmp(key, "capacity_gb") == 0)
		change->gb = number_of(parse, key, value, false);
	else if (strcmp(key, "price_per_gb_month") == 0)
		change->price_per_gb_month = number_of(parse, key, value, true);
	else if (strcmp(key, "iops") == 0)
		change->requests = number_of(parse, key, value, false);
	else if (strcmp(key, "mb_per_s") == 0)
		change->throughput = number_of(parse, key, value, false);
	else
		refuse(psprintf("There is no key \"%s\" for a tier.", key));
}

/* ---------------------------------------------------------------------
 * What cannot be bought
 * ---------------------------------------------------------------------
 */

static void
check_rate(const char *tier_name, const char *key, double asked, const TierVolumeRate *rate,
		   double comes_with_it, const char *profile)
{
	double		most = rate->most > 0.0 ? rate->most : INFINITY;

	if (isnan(asked))
		return;
	if (isnan(rate->price))
		refuse(psprintf("\"%s\" of tier \"%s\": profile \"%s\" has none for sale.", key,
						tier_name, profile));
	if (asked < Min(Max(rate->included, 0.0), comes_with_it) || asked > most)
		refuse(psprintf("\"%s\" of tier \"%s\": profile \"%s\" has %s to %s.", key, tier_name,
						profile, tier_advice_number(Min(Max(rate->included, 0.0),
														comes_with_it)),
						isinf(most) ? "any number" : tier_advice_number(most)));
}

static void
check_volume(const Parse *parse)
{
	const TierPurchaseChange *change = parse->change;
	const TierPurchase *purchase = parse->purchase;
	int			v = change->volume >= 0 ? change->volume : purchase->volume_of[change->tier];
	const TierVolume *volume;
	double		gb = isnan(change->gb) ? tier_purchase_gb(purchase, change->tier) : change->gb;

	if (v < 0)
	{
		if (!isnan(change->requests) || !isnan(change->throughput))
			refuse(psprintf("What is sold of the device of tier \"%s\" is not known: its profile "
							"is not in device_profiles().", parse->tier_name));
		return;
	}
	volume = &purchase->volumes[v].volume;
	if (volume->most_gb > 0.0 && gb > volume->most_gb && (change->volume >= 0 ||
														  !isnan(change->gb)))
		refuse(psprintf("Tier \"%s\" would have %s GB, and profile \"%s\" has %s at most.",
						parse->tier_name, tier_advice_number(gb), purchase->volumes[v].name,
						tier_advice_number(volume->most_gb)));
	check_rate(parse->tier_name, "iops", change->requests, &volume->requests,
			   tier_volume_requests(volume, gb), purchase->volumes[v].name);
	check_rate(parse->tier_name, "mb_per_s", change->throughput, &volume->throughput,
			   tier_volume_throughput(volume, gb), purchase->volumes[v].name);
}

/* A size that holds nothing is a slip of the unit. */
static void
check_size(const Parse *parse, const char *key, double gb)
{
	if (gb * TIER_PURCHASE_BYTES_PER_GB < BLCKSZ)
		refuse(psprintf("\"%s\" of tier \"%s\" is less than one block of %d bytes.", key,
						parse->tier_name, BLCKSZ));
}

/* Catalogs stay where they are, on another device if one likes. */
static void
check_catalogs(const TierPurchase *purchase, const TierPurchaseChange *change)
{
	const char *name = NameStr(purchase->tiers[change->tier].name);

	if (!change->is_removed || !tier_purchase_holds_catalogs(purchase, change->tier))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("tier \"%s\" cannot be removed", name),
			 errdetail("The system catalogs are there, and have to be somewhere."),
			 errhint("Ask for another device instead of it: {\"%s\": {\"profile\": \"...\"}}.",
					 name)));
}

/* Of files that are not the advice's, and what cannot leave. */
static char *
what_stays(double others, double stuck, const TierAdviceUnit *unit)
{
	char	   *files = psprintf("%s of its file systems are other files",
								 tier_advice_bytes(others));
	char	   *relations;

	if (unit == NULL)
		return psprintf("%s.", files);
	relations = psprintf("%s of it may not be anywhere else, such as %s",
						 tier_advice_bytes(stuck), tier_advice_relation_name(unit));
	return others > 0.0 ? psprintf("%s, and %s.", files, relations) : psprintf("%s.", relations);
}

/* What cannot leave must have room, beside the files of others in a device that is smaller. */
static void
check_stuck(const TierPurchase *purchase, const TierPurchaseChange *change)
{
	const TierTier *tier = &purchase->tiers[change->tier];
	double		room = change->gb * TIER_PURCHASE_BYTES_PER_GB * (1.0 - tier->reserve_fraction);
	double		others = 0.0;
	double		bytes;
	const TierAdviceUnit *unit;

	if (change->new_name != NULL || (!change->is_removed && isnan(change->gb)))
		return;
	unit = tier_purchase_stuck(purchase, change->tier, &bytes);
	if (!change->is_removed && change->gb < tier_purchase_gb(purchase, change->tier))
		others = tier_purchase_others(purchase, change->tier);
	if (change->is_removed ? unit == NULL : room >= bytes + others)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 change->is_removed ?
			 errmsg("tier \"%s\" cannot be removed", NameStr(tier->name)) :
			 errmsg("tier \"%s\" cannot be so small", NameStr(tier->name)),
			 errdetail_internal("%s", what_stays(others, bytes, unit)),
			 change->is_removed || room >= others ?
			 errhint("explain_placement() says what keeps it there, such as a pin.") :
			 errhint("If these are elsewhere then, tell what of the file systems the tier may "
					 "use: alter_tier(%s, capacity_bytes => ...).",
					 quote_literal_cstr(NameStr(tier->name)))));
}

static void
check_change(Parse *parse)
{
	TierPurchaseChange *change = parse->change;
	const TierPurchase *purchase = parse->purchase;
	bool		is_new = change->new_name != NULL;

	if (change->is_removed)
	{
		if (is_new || change->volume >= 0 || !isnan(parse->add_gb) || !isnan(change->gb) ||
			!isnan(change->price_per_gb_month) || !isnan(change->requests) ||
			!isnan(change->throughput))
			refuse(psprintf("Tier \"%s\" is removed: it has no other key.", parse->tier_name));
		return;
	}
	if (!is_new && change->volume < 0 && isnan(parse->add_gb) && isnan(change->gb) &&
		isnan(change->price_per_gb_month) && isnan(change->requests) &&
		isnan(change->throughput))
		refuse(psprintf("Nothing of tier \"%s\" changes.", parse->tier_name));
	if (is_new && (change->volume < 0 || isnan(change->gb)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tier \"%s\" does not exist", parse->tier_name),
				 errhint("SELECT tier_name FROM tiered_storage.tiers lists the tiers; a new one "
						 "has a profile and capacity_gb.")));
	check_size(parse, "add_gb", parse->add_gb);
	check_size(parse, "capacity_gb", change->gb);
	if (!isnan(parse->add_gb))
	{
		if (is_new || !isnan(change->gb))
			refuse(psprintf("Tier \"%s\" has both add_gb and capacity_gb.", parse->tier_name));
		if (purchase->tiers[change->tier].capacity_bytes < 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the capacity of tier \"%s\" is not known", parse->tier_name),
					 errhint("Tell it: alter_tier(capacity_bytes => ...); or ask with "
							 "capacity_gb instead of add_gb.")));
		change->gb = tier_purchase_gb(purchase, change->tier) + parse->add_gb;
	}
	check_volume(parse);
}

/* One tier has to be left, and have room for what can be nowhere else. */
static void
check_option(TierPurchase *purchase, const TierPurchaseOption *option)
{
	int			left = purchase->ntiers;

	for (int i = 0; i < option->nchanges; i++)
		left += (option->changes[i].new_name != NULL) - option->changes[i].is_removed;
	if (left == 0)
		refuse("No tier would be left.");
	tier_purchase_mark_gone(purchase, option);
	for (int i = 0; i < option->nchanges; i++)
	{
		check_catalogs(purchase, &option->changes[i]);
		check_stuck(purchase, &option->changes[i]);
	}
}

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

static void
start_change(Parse *parse)
{
	TierPurchase *purchase = parse->purchase;
	TierPurchaseOption *option = parse->option;
	int			tier = -1;

	for (int t = 0; t < purchase->ntiers; t++)
		if (strcmp(NameStr(purchase->tiers[t].name), parse->tier_name) == 0)
			tier = t;
	if (tier < 0)
	{
		if (parse->tier_name[0] == '\0' || strlen(parse->tier_name) >= NAMEDATALEN)
			refuse("The name of a tier is empty or too long.");
		if (purchase->spare < 0)
			refuse("There are as many tiers as there can be.");
		for (int i = 0; i < option->nchanges; i++)
			if (option->changes[i].new_name != NULL)
				refuse(psprintf("Neither \"%s\" nor \"%s\" is a tier, and one can be new.",
								option->changes[i].new_name, parse->tier_name));
	}
	option->changes = option->changes == NULL ? palloc(sizeof(TierPurchaseChange)) :
		repalloc(option->changes, sizeof(TierPurchaseChange) * (option->nchanges + 1));
	parse->change = &option->changes[option->nchanges++];
	memset(parse->change, 0, sizeof(TierPurchaseChange));
	parse->change->tier = tier >= 0 ? tier : purchase->spare;
	parse->change->new_name = tier >= 0 ? NULL : parse->tier_name;
	parse->change->volume = -1;
	parse->change->gb = parse->change->price_per_gb_month = NAN;
	parse->change->requests = parse->change->throughput = NAN;
	parse->add_gb = NAN;
}

/* The keys of an object come in no order that means anything: checked is what all of them say. */
static void
read_tier(Parse *parse, JsonbContainer *container)
{
	JsonbIterator *iterator = JsonbIteratorInit(container);
	JsonbIteratorToken token;
	JsonbValue	value;
	char	   *key = NULL;

	start_change(parse);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			key = string_of(&value);
		else if (token == WJB_VALUE)
			set_value(parse, key, &value);
	}
	check_change(parse);
}

static void
read_option(TierPurchase *purchase, JsonbContainer *container, TierPurchaseOption *option)
{
	JsonbIterator *iterator = JsonbIteratorInit(container);
	JsonbIteratorToken token;
	JsonbValue	value;
	Parse		parse = {.purchase = purchase,.option = option};

	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			parse.tier_name = string_of(&value);
		else if (token == WJB_VALUE)
		{
			if (value.type != jbvBinary || !JsonContainerIsObject(value.val.binary.data))
				refuse(psprintf("The value of \"%s\" is not an object.", parse.tier_name));
			read_tier(&parse, value.val.binary.data);
		}
	}
	if (option->nchanges == 0)
		refuse("There is an option in which nothing changes.");
	check_option(purchase, option);
}

int
tier_purchase_count_asked(Datum jsonb)
{
	Jsonb	   *document = DatumGetJsonbP(jsonb);
	int			n = JB_ROOT_IS_OBJECT(document) ? 1 : JB_ROOT_COUNT(document);

	if (JB_ROOT_IS_SCALAR(document))
		refuse("They are neither an object nor an array.");
	if (n == 0)
		refuse("There is no option in them.");
	if (n > TIER_PURCHASE_MOST_OPTIONS)
		refuse(psprintf("There are %d options; %d at once are possible.", n,
						TIER_PURCHASE_MOST_OPTIONS));
	return n;
}

TierPurchaseOption *
tier_purchase_asked(TierPurchase *purchase, Datum jsonb, int *n)
{
	Jsonb	   *document = DatumGetJsonbP(jsonb);
	TierPurchaseOption *options;
	int			expected = tier_purchase_count_asked(jsonb);

	options = palloc0(sizeof(TierPurchaseOption) * expected);
	*n = 0;
	if (JB_ROOT_IS_OBJECT(document))
		read_option(purchase, &document->root, &options[(*n)++]);
	else
		for (int i = 0; i < expected; i++)
		{
			JsonbValue *value = getIthJsonbValueFromContainer(&document->root, i);

			if (value->type != jbvBinary || !JsonContainerIsObject(value->val.binary.data))
				refuse("An element of the array is not an object.");
			read_option(purchase, value->val.binary.data, &options[(*n)++]);
		}
	return options;
}

/* ---------------------------------------------------------------------
 * Writing
 * ---------------------------------------------------------------------
 */

static void
add_key(StringInfo json, const char *key)
{
	char		before = json->data[json->len - 1];

	appendStringInfo(json, "%s\"%s\": ", before == '{' ? "" : ", ", key);
}

static void
add_number(StringInfo json, const char *key, double number)
{
	if (isnan(number))
		return;
	add_key(json, key);
	appendStringInfo(json, "%.15g", number);
}

Datum
tier_purchase_changes_of(const TierPurchase *purchase, const TierPurchaseOption *option)
{
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	for (int i = 0; i < option->nchanges; i++)
	{
		const TierPurchaseChange *change = &option->changes[i];

		if (i > 0)
			appendStringInfoString(&json, ", ");
		escape_json(&json, change->new_name != NULL ? change->new_name :
					NameStr(purchase->tiers[change->tier].name));
		appendStringInfoString(&json, ": {");
		if (change->is_removed)
			appendStringInfoString(&json, "\"remove\": true");
		if (change->volume >= 0)
		{
			add_key(&json, "profile");
			escape_json(&json, purchase->volumes[change->volume].name);
		}
		add_number(&json, "capacity_gb", change->gb);
		add_number(&json, "price_per_gb_month", change->price_per_gb_month);
		add_number(&json, "iops", change->requests);
		add_number(&json, "mb_per_s", change->throughput);
		appendStringInfoChar(&json, '}');
	}
	appendStringInfoChar(&json, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}
