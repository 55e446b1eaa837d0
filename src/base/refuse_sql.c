/*-------------------------------------------------------------------------
 *
 * base/refuse_sql.c
 *		Errors of functions that are written in PL/pgSQL or SQL: SQL function.
 *
 * PostgreSQL adds a CONTEXT line for each function of the extension on the call stack.  These
 * are removed here; those of the caller's functions stay.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "src/base/refuse.h"

PG_FUNCTION_INFO_V1(tier_refuse);

/* The conditions that our functions raise, by their names in PL/pgSQL. */
static const struct
{
	const char *name;
	int			code;
}			conditions[] = {
	{"datetime_field_overflow", ERRCODE_DATETIME_FIELD_OVERFLOW},
	{"dependent_objects_still_exist", ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST},
	{"duplicate_object", ERRCODE_DUPLICATE_OBJECT},
	{"invalid_parameter_value", ERRCODE_INVALID_PARAMETER_VALUE},
	{"no_data_found", ERRCODE_NO_DATA_FOUND},
	{"null_value_not_allowed", ERRCODE_NULL_VALUE_NOT_ALLOWED},
	{"numeric_value_out_of_range", ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE},
	{"object_in_use", ERRCODE_OBJECT_IN_USE},
	{"object_not_in_prerequisite_state", ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE},
	{"program_limit_exceeded", ERRCODE_PROGRAM_LIMIT_EXCEEDED},
	{"undefined_object", ERRCODE_UNDEFINED_OBJECT},
};

static int
condition_code(const char *name)
{
	for (size_t i = 0; i < lengthof(conditions); i++)
		if (strcmp(conditions[i].name, name) == 0)
			return conditions[i].code;
	return ERRCODE_RAISE_EXCEPTION;
}

/*
 * The lines behind the last one of a function in our schemas, innermost first; context is NULL
 * where there are none at all.  Where messages are translated, all lines.
 */
static const char *
context_of_caller(const char *context)
{
	static const char sql_function[] = "SQL function \"";
	static const char *const ours[] = {"function tiered_storage.", "function _tiered_storage."};
	const char *rest = context;

	if (context == NULL)
		return "";
	for (size_t i = 0; i < lengthof(ours); i++)
		for (const char *at = context; (at = strstr(at, ours[i])) != NULL;)
		{
			at += strcspn(at, "\n");
			if (*at == '\n')
				at++;
			rest = Max(rest, at);
		}

	/*
	 * SQL functions have no schema here: what calls a function that is not
	 * public is ours.
	 */
	while (strncmp(rest, sql_function, strlen(sql_function)) == 0)
	{
		rest += strcspn(rest, "\n");
		rest += *rest == '\n';
	}
	return rest;
}

Datum
tier_call_for_sql(PGFunction function, FunctionCallInfo fcinfo)
{
	MemoryContext own = CurrentMemoryContext;
	const char *context = error_context_stack == NULL ? "" :
	context_of_caller(GetErrorContextStack());
	Datum		result = (Datum) 0;

	PG_TRY();
	{
		result = function(fcinfo);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		/* An internal error keeps all lines of its context, to be found. */
		if (geterrcode() == ERRCODE_INTERNAL_ERROR)
			PG_RE_THROW();
		MemoryContextSwitchTo(own);
		error = CopyErrorData();
		FlushErrorState();
		error->context = *context == '\0' ? NULL : unconstify(char *, context);
		ReThrowError(error);
	}
	PG_END_TRY();
	return result;
}

static char *
text_argument(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

Datum
tier_refuse(PG_FUNCTION_ARGS)
{
	char	   *code = text_argument(fcinfo, 0);
	char	   *message = text_argument(fcinfo, 1);
	char	   *detail = text_argument(fcinfo, 2);
	char	   *hint = text_argument(fcinfo, 3);
	const char *context = context_of_caller(GetErrorContextStack());

	/* The code that catches the error restores its own context stack. */
	error_context_stack = NULL;
	ereport(ERROR,
			(errcode(condition_code(code == NULL ? "" : code)),
			 errmsg_internal("%s", message == NULL ? "" : message),
			 detail == NULL ? 0 : errdetail_internal("%s", detail),
			 hint == NULL ? 0 : errhint("%s", hint),
			 *context == '\0' ? 0 : errcontext_msg("%s", context)));
	PG_RETURN_VOID();
}
