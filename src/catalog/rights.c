/*-------------------------------------------------------------------------
 *
 * catalog/rights.c
 *		Rights on the extension's objects that somebody has given, across an update of
 *		the extension: the script of an update calls this for each (src/sql/update).
 *
 * What the script of an extension grants counts as what the extension came with, and
 * pg_dump leaves it out, since CREATE EXTENSION grants it again.  A right that a user
 * has given, and that the update only gives again, would be lost by the next dump and
 * restore.  So this one statement runs as if no script did.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/extension.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(tier_change_right);

/* _tiered_storage.change_right(statement): a GRANT or REVOKE */
Datum
tier_change_right(PG_FUNCTION_ARGS)
{
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(0));
	bool		is_script = creating_extension;
	int			result;

	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s", "change_right")));
	if (!is_script)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s can only be called by a script of an extension", "change_right()")));
	SPI_connect();
	PG_TRY();
	{
		creating_extension = false;
		result = SPI_execute(statement, false, 0);
	}
	PG_FINALLY();
	{
		creating_extension = is_script;
	}
	PG_END_TRY();
	if (result != SPI_OK_UTILITY)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(result));
	SPI_finish();
	PG_RETURN_VOID();
}
