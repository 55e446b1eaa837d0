/*-------------------------------------------------------------------------
 *
 * base/refuse.h
 *		Errors of functions beneath those that are written in SQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_REFUSE_H
#define TIER_REFUSE_H

#include "fmgr.h"

/*
 * Calls a function that a public one, written in SQL, consists of.  Its errors have no CONTEXT
 * but that of the public function's caller; internal errors have all of it.
 */
extern Datum tier_call_for_sql(PGFunction function, FunctionCallInfo fcinfo);

#endif							/* TIER_REFUSE_H */
