/*-------------------------------------------------------------------------
 *
 * server/screen_sql.c
 *		A text as a terminal shows it: SQL function for the short views.
 *
 * A name may have letters that are two columns wide, accents that take none, and
 * characters that move the cursor, of which psql shows the code instead.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(tier_first_columns);

Datum
tier_first_columns(PG_FUNCTION_ARGS)
{
	const char *at = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int			width = PG_GETARG_INT32(1);
	const char *end = at + strlen(at);
	int			used = 0;
	StringInfoData line;

	initStringInfo(&line);
	while (at < end)
	{
		int			bytes = pg_encoding_mblen(GetDatabaseEncoding(), at);
		int			columns = pg_dsplen(at);

		/* What moves the cursor has no width. */
		used += columns < 0 ? 1 : columns;
		if (used > width)
			break;
		bytes = Min(bytes, end - at);
		if (columns < 0)
			appendStringInfoChar(&line, ' ');
		else
			appendBinaryStringInfo(&line, at, bytes);
		at += bytes;
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(line.data, line.len));
}
