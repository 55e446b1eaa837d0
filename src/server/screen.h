/*-------------------------------------------------------------------------
 *
 * server/screen.h
 *		Wrapping of text for a terminal.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SCREEN_H
#define TIER_SCREEN_H

/*
 * Wraps the text into lines of at most `width` columns, which is two or more, between words; a
 * longer word is cut.  If the text has a statement, no word is cut, and quoted text is
 * unchanged.  The result is in the current memory context.
 */
extern char *tier_screen_wrap(const char *text, int width, bool has_statement);

#endif							/* TIER_SCREEN_H */
