/*-------------------------------------------------------------------------
 *
 * decide/advice_options.h
 *		The options of an advice, from SQL arguments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_ADVICE_OPTIONS_H
#define TIER_ADVICE_OPTIONS_H

#include "postgres.h"

#include "fmgr.h"

#include "src/decide/advice.h"

/* Functions that give advice have these arguments, in this order. */
enum
{
	TIER_OPTION_TIERS,			/* name[] */
	TIER_OPTION_OVERRIDES,		/* jsonb */
	TIER_OPTION_HORIZON,		/* interval */
	TIER_OPTION_OBJECTIVE,		/* text */
	TIER_OPTION_SCHEMAS,		/* name[] */
	TIER_OPTION_RELATIONS,		/* regclass[] */
};

/*
 * Reads these arguments from `first` on; NULL is the default.  has_overrides: the function has
 * that one.  Raises an error for invalid values.  Allocates in the current memory context.
 */
extern void tier_advice_options_from(FunctionCallInfo fcinfo, int first, bool has_overrides,
									 TierAdviceOptions *options);

/*
 * Adds the overrides of a jsonb object {"tier": {"capacity_bytes": 1, ...}, ...}; `what` names
 * the argument in messages.
 */
extern void tier_advice_add_overrides(TierAdviceOptions *options, Datum jsonb, const char *what);

#endif							/* TIER_ADVICE_OPTIONS_H */
