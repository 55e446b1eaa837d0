/*-------------------------------------------------------------------------
 *
 * tap.h
 *		What the tests of pure modules share: TAP, comparisons, random numbers.
 *
 * For one program each; everything is static.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TAP_H
#define TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int	tests_run = 0;
static int	tests_failed = 0;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
ok(bool passed, const char *format,...)
{
	va_list		args;

	tests_run++;
	if (!passed)
		tests_failed++;
	printf("%sok %d - ", passed ? "" : "not ", tests_run);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

/* Equal but for rounding. */
static bool
near(double a, double b)
{
	if (a == b)
		return true;
	if (!isfinite(a) || !isfinite(b))
		return false;
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

#if defined(__GNUC__)
__attribute__((unused))
#endif
static void
is(double got, double expected, const char *name)
{
	bool		passed = near(got, expected);

	ok(passed, "%s", name);
	if (!passed)
		printf("#      got: %.17g\n# expected: %.17g\n", got, expected);
}

static uint64_t random_state;

/* splitmix64 */
static uint64_t
random_bits(void)
{
	uint64_t	z = (random_state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 <= result < below */
static int
random_int(int below)
{
	return (int) (random_bits() % (uint64_t) below);
}

static double
random_unit(void)
{
	return (double) (random_bits() >> 11) / 9007199254740992.0;
}

/* The plan, and the status of the program. */
static int
done(void)
{
	printf("1..%d\n", tests_run);
	return tests_failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif							/* TAP_H */
