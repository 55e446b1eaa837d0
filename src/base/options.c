/*-------------------------------------------------------------------------
 *
 * base/options.c
 *		Rarely used arguments of an SQL function, as the keys of one jsonb object.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "src/base/options.h"

bool
tier_names_alike(const char *name, const char *other)
{
	char	   *left = str_tolower(name, strlen(name), DEFAULT_COLLATION_OID);
	char	   *right = str_tolower(other, strlen(other), DEFAULT_COLLATION_OID);

	return varstr_levenshtein_less_equal(left, (int) strlen(left), right, (int) strlen(right),
										 1, 1, 1, 1, true) <= 1;
}

static char *
key_hint(const char *key, const TierOption *options, int n)
{
	StringInfoData keys;

	initStringInfo(&keys);
	for (int i = 0; i < n; i++)
	{
		if (strlen(key) < NAMEDATALEN && tier_names_alike(options[i].name, key))
			return psprintf("Did you mean \"%s\"?", options[i].name);
		appendStringInfo(&keys, "%s%s", i == 0 ? "Valid keys are " : ", ", options[i].name);
	}
	return psprintf("%s.", keys.data);
}

static const TierOption *
find_option(const JsonbValue *key, const char *what, const TierOption *options, int n)
{
	char	   *name = pnstrdup(key->val.string.val, key->val.string.len);

	for (int i = 0; i < n; i++)
		if (strcmp(options[i].name, name) == 0)
			return &options[i];
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s has no key \"%s\"", what, name),
			 errhint("%s", key_hint(name, options, n))));
	return NULL;				/* not reached */
}

/* The value as a literal; NULL: it is null. */
static char *
value_text(const JsonbValue *value, const char *what, const char *key)
{
	switch (value->type)
	{
		case jbvNull:
			return NULL;
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return DatumGetCString(DirectFunctionCall1(numeric_out,
													   NumericGetDatum(value->val.numeric)));
		case jbvBool:
			return pstrdup(value->val.boolean ? "true" : "false");
		default:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("key \"%s\" of %s must have a string, a number or a boolean",
							key, what)));
	}
	return NULL;				/* not reached */
}

/* The error of a type's input function does not name the key. */
static void
name_key(void *key)
{
	errcontext("value of \"%s\"", (const char *) key);
}

List *
tier_options_spread(FunctionCallInfo fcinfo, int object, const char *what,
					const TierOption *options, int n, FunctionCallInfo call)
{
	List	   *nulls = NIL;
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	v;
	Jsonb	   *jb;

	if (PG_ARGISNULL(object))
		return NIL;
	jb = PG_GETARG_JSONB_P(object);
	if (!JB_ROOT_IS_OBJECT(jb))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be an object", what),
				 errhint("For example {\"%s\": ...}.", options[0].name)));
	it = JsonbIteratorInit(&jb->root);
	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		const TierOption *option;
		char	   *literal;
		Oid			input;
		Oid			parameter;
		ErrorContextCallback callback = {error_context_stack, name_key, NULL};

		if (token != WJB_KEY)
			continue;
		option = find_option(&v, what, options, n);
		(void) JsonbIteratorNext(&it, &v, true);
		literal = value_text(&v, what, option->name);

		if (literal == NULL)
		{
			nulls = lappend(nulls, pstrdup(option->name));
			continue;
		}
		getTypeInputInfo(option->type, &input, &parameter);
		callback.arg = unconstify(char *, option->name);
		error_context_stack = &callback;
		call->args[option->argument].value = OidInputFunctionCall(input, literal, parameter, -1);
		call->args[option->argument].isnull = false;
		error_context_stack = callback.previous;
	}
	return nulls;
}
