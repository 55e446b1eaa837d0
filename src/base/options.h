/*-------------------------------------------------------------------------
 *
 * base/options.h
 *		Rarely used arguments of an SQL function, as the keys of one jsonb object.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_OPTIONS_H
#define TIER_OPTIONS_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/pg_list.h"

/* A key, the type of its value, and the argument that the value becomes. */
typedef struct TierOption
{
	const char *name;
	Oid			type;
	int			argument;
} TierOption;

/*
 * Sets arguments of call from argument `object` of fcinfo, unless that is null.  Values are
 * read as literals of their types.  Raises an error for what is not an object, for a key that
 * is not among the n options, and for a value that is an array or an object; `what` names the
 * argument.  Returns the keys (char *) whose value is null; their arguments stay as they are.
 */
extern List *tier_options_spread(FunctionCallInfo fcinfo, int object, const char *what,
								 const TierOption *options, int n, FunctionCallInfo call);

/* Returns true if the names differ at most in case and in one letter. */
extern bool tier_names_alike(const char *name, const char *other);

#endif
