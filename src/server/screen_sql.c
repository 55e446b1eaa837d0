/*-------------------------------------------------------------------------
 *
 * server/screen_sql.c
 *		Wrapping of text for a terminal, as SQL functions.
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

#include "src/server/screen.h"

PG_FUNCTION_INFO_V1(tier_first_columns);
PG_FUNCTION_INFO_V1(tier_wrap);

/*
 * Adds the next character to a line, in which nothing moves the cursor unless it is quoted;
 * returns its columns.
 */
static int
add_character(StringInfo line, const char **at, const char *end, bool is_quoted)
{
	int			bytes = pg_encoding_mblen(GetDatabaseEncoding(), *at);
	int			columns = pg_dsplen(*at);

	if (columns < 0 && !is_quoted)
		appendStringInfoChar(line, ' ');
	else
		appendBinaryStringInfo(line, *at, Min(bytes, end - *at));
	*at += Min(bytes, end - *at);
	return columns < 0 ? 1 : columns;
}

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
		int			before = line.len;

		used += add_character(&line, &at, end, false);
		if (used > width)
		{
			line.len = before;
			break;
		}
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(line.data, line.len));
}

char *
tier_screen_wrap(const char *at, int width, bool has_statement)
{
	const char *end = at + strlen(at);
	int			space = -1;		/* where the line can be broken */
	int			used = 0;		/* columns of the line */
	int			word = 0;		/* of these, behind the space */
	char		quote = '\0';	/* in which we are */
	StringInfoData lines;

	initStringInfo(&lines);
	while (at < end)
	{
		const char *character = at;
		int			before = lines.len;
		bool		is_quoted = quote != '\0';
		int			columns = add_character(&lines, &at, end, is_quoted);

		if (has_statement && (*character == '\'' || *character == '"') &&
			(!is_quoted || quote == *character))
			quote = is_quoted ? '\0' : *character;
		if (lines.data[before] == ' ' && !is_quoted)
		{
			/* One of several, or the first of a line, is none. */
			if (used == 0 || space == before - 1)
				lines.len = before;
			else
			{
				space = before;
				used++;
				word = 0;
			}
			continue;
		}
		if (used + columns > width && space >= 0)
		{
			lines.data[space] = '\n';
			space = -1;
			used = word;
		}
		if (used + columns > width && used > 0 && !has_statement)
		{
			lines.len = before;
			appendStringInfoChar(&lines, '\n');
			(void) add_character(&lines, &character, end, false);
			used = word = 0;
		}
		used += columns;
		word += columns;
	}
	while (lines.len > 0 && lines.data[lines.len - 1] == ' ')
		lines.len--;
	lines.data[lines.len] = '\0';
	return lines.data;
}

Datum
tier_wrap(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(tier_screen_wrap(text_to_cstring(PG_GETARG_TEXT_PP(0)),
													  PG_GETARG_INT32(1),
													  PG_GETARG_BOOL(2))));
}
