/*-------------------------------------------------------------------------
 *
 * model/wording.c
 *		Numbers as people say them.
 *
 * See model/wording.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/model/number.h"
#include "src/model/wording.h"

/* A larger number is an error, and its digits mean nothing. */
#define MOST 999999999999999.0

#define LEAST_NUMBER 5e-4
#define LEAST_MONEY 0.005

/* From here on, cents tell nothing. */
#define MANY_CENTS 9.995

double
tier_significant(double number)
{
	double		unit;

	if (number == 0.0 || !isfinite(number))
		return number;
	unit = pow(10.0, floor(log10(fabs(number))) - 2.0);

	/* Of a fraction, the reciprocal of the unit is exact. */
	return unit >= 1.0 ? rint(number / unit) * unit :
		rint(number * rint(1.0 / unit)) / rint(1.0 / unit);
}

static void
number_text(double number, char *text, size_t size)
{
	char		digits[TIER_NUMBER_TEXT];
	size_t		ndigits;
	size_t		n = 0;

	if (number > 1e3 || number < -1e3)
		number = tier_significant(number);
	ndigits = (size_t) snprintf(digits, sizeof(digits), "%.0f", number);
	for (size_t i = 0; i < ndigits && n + 2 < size; i++)
	{
		if (i > 0 && (ndigits - i) % 3 == 0 && digits[i - 1] != '-')
			text[		n++] = ',';
		text[		n++] = digits[i];
	}
	text[		n] = '\0';
}

void
tier_number_text(double number, char text[TIER_NUMBER_TEXT])
{
	if (isnan(number))
		strcpy(text, "?");
	else if (fabs(number) < LEAST_NUMBER)
		strcpy(text, "0");
	else if (fabs(number) < 9.5)
		snprintf(text, TIER_NUMBER_TEXT, fabs(number) < 0.095 ? "%.1g" : "%.2g", number);
	else if (number > MOST)
		strcpy(text, "over 999,999,999,999,999");
	else if (number < -MOST)
		strcpy(text, "under -999,999,999,999,999");
	else
		number_text(number, text, TIER_NUMBER_TEXT);
}

void
tier_bytes_text(double bytes, char text[TIER_NUMBER_TEXT])
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
	const int	last = sizeof(units) / sizeof(units[0]) - 1;
	char		number[TIER_NUMBER_TEXT];
	int			unit = 0;

	while (bytes >= 999.5 && unit < last)
	{
		bytes /= 1024.0;
		unit++;
	}
	tier_number_text(bytes, number);
	snprintf(text, TIER_NUMBER_TEXT, "%.25s %.5s", number, units[unit]);
}

void
tier_money_text(double money, char text[TIER_NUMBER_TEXT])
{
	if (fabs(money) < LEAST_MONEY)
		strcpy(text, money == 0.0 ? "0" : "under 0.01");
	else if (fabs(money) < MANY_CENTS)
		snprintf(text, TIER_NUMBER_TEXT, "%.2f", money);
	else
		tier_number_text(money, text);
}
