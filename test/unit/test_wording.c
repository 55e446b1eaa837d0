/*-------------------------------------------------------------------------
 *
 * test_wording.c
 *		Tests of numbers in words.  Prints TAP; run it by test/unit/run.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "tap.h"
#include "src/model/wording.h"

typedef void (*Text) (double number, char text[TIER_NUMBER_TEXT]);

static void
says(Text of, double number, const char *expected)
{
	char text[	TIER_NUMBER_TEXT];

	of(number, text);
	ok(strcmp(text, expected) == 0, "%s", expected);
	if (strcmp(text, expected) != 0)
		printf("#      got: %s\n", text);
}

static void
test_examples(void)
{
	says(tier_number_text, 0.0, "0");
	says(tier_number_text, 2.2e-05, "0");
	says(tier_number_text, 0.0005, "0.0005");
	says(tier_number_text, 0.099, "0.099");
	says(tier_number_text, 9.49, "9.5");
	says(tier_number_text, 9.5, "10");
	says(tier_number_text, 999.7, "1,000");
	says(tier_number_text, 4104.0, "4,100");
	says(tier_number_text, -4104.0, "-4,100");
	says(tier_number_text, 1e12, "1,000,000,000,000");
	says(tier_number_text, 1e15, "over 999,999,999,999,999");
	says(tier_number_text, -INFINITY, "under -999,999,999,999,999");
	says(tier_number_text, (double) NAN, "?");
	says(tier_bytes_text, 0.0, "0 bytes");
	says(tier_bytes_text, 8192.0, "8 kB");
	says(tier_bytes_text, 999600.0, "976 kB");
	says(tier_bytes_text, 1023.0, "1 kB");
	says(tier_bytes_text, 1e15, "909 TB");
	says(tier_bytes_text, 9.3e18, "8.1 EB");
	says(tier_money_text, 0.0, "0");
	says(tier_money_text, 2.2e-05, "under 0.01");
	says(tier_money_text, 0.8, "0.80");
	says(tier_money_text, -0.8, "-0.80");
	says(tier_money_text, 9.996, "10");
	says(tier_money_text, 103.22, "103");
}

/* Whatever the number: no exponent, and none wider than a sentence has room for. */
static void
test_any(Text of, const char *name)
{
	int			wrong = 0;

	random_state = 20261124;
	for (int i = 0; i < 200000; i++)
	{
		double		number = pow(10.0, 340.0 * random_unit() - 20.0) * (random_int(2) ? 1 : -1);
		char text[	TIER_NUMBER_TEXT];
		size_t		length;

		if (i % 3 > 0)
			number = pow(10.0, 40.0 * random_unit() - 20.0);
		of(number, text);
		length = strlen(text);
		if (length > 0 && length < TIER_NUMBER_TEXT && strstr(text, "e+") == NULL &&
			strstr(text, "e-") == NULL && strstr(text, "inf") == NULL)
			continue;
		if (wrong++ < 3)
			printf("# %s of %g: %s\n", name, number, text);
	}
	ok(wrong == 0, "%s: no exponent, %d have one", name, wrong);
}

int
main(void)
{
	test_examples();
	test_any(tier_number_text, "numbers");
	test_any(tier_bytes_text, "bytes");
	test_any(tier_money_text, "money");
	return done();
}
