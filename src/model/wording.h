/*-------------------------------------------------------------------------
 *
 * model/wording.h
 *		Numbers as people say them: rounded, with units, never with an exponent.
 *
 * Every sentence with a number that was computed takes it from here, so that none of
 * them is wider than it may be, whatever the number is.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_WORDING_H
#define TIER_WORDING_H

/* Any of these texts, with its end. */
#define TIER_NUMBER_TEXT 32

/*
 * A count or an amount: "4,100", "12", "0.3"; a number closer to zero than half a thousandth is
 * "0", a number beyond all measure "over 999,999,999,999,999", and a value that is not a number
 * "?".
 */
extern void tier_number_text(double number, char text[TIER_NUMBER_TEXT]);

/* To three significant digits, which is more than is known of a rate. */
extern double tier_significant(double number);

/* "3.2 GB", up to EB; powers of 1024, as pg_size_pretty() has them. */
extern void tier_bytes_text(double bytes, char text[TIER_NUMBER_TEXT]);

/* Without a currency, which is not known: "0.80", "12", "4,100"; "under 0.01", not "0.00". */
extern void tier_money_text(double money, char text[TIER_NUMBER_TEXT]);

#endif							/* TIER_WORDING_H */
