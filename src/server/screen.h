/*-------------------------------------------------------------------------
 *
 * server/screen.h
 *		A text as a terminal shows it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_SCREEN_H
#define TIER_SCREEN_H

/*
 * The text in lines of at most so many columns, two or more, broken between words; a word that is
 * longer is cut.  If it has a statement no word is cut, and what is quoted stays as it is.  In the
 * current memory context.
 */
extern char *tier_screen_wrap(const char *text, int width, bool has_statement);

#endif							/* TIER_SCREEN_H */
