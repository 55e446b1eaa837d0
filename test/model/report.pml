/*
 * What a search has found, counted for each rule that was taken away: the search goes
 * on, but not behind what went wrong.  With -DTRAIL it stops there, and pan writes the
 * way to it.
 */

/* A rule without which so much goes wrong is not looked at any further. */
#define ENOUGH 5000

#ifdef TRAIL
#define wrong(what) note(what)
#define note(what) printf(#what); assert(false)
#define reached(what) skip
#define go_on() skip
#else
#define wrong(what) note(what); false
#define note(what) c_code { count(now.world, now.without, #what); }
#define reached(what) c_code { count(now.world, now.without, "+" #what); }
#define go_on() c_expr { enough[now.without] < ENOUGH }
#endif

#ifndef TRAIL
c_decl {
\#include <stdio.h>
\#include <string.h>

	static struct { int world, without; const char *what; unsigned long n; } counts[1024];
	static int enough[256];

	static void
	count(int world, int without, const char *what)
	{
		int		i;

		for (i = 0; counts[i].what != NULL; i++)
			if (counts[i].world == world && counts[i].without == without &&
				strcmp(counts[i].what, what) == 0)
				break;
		counts[i].world = world;
		counts[i].without = without;
		counts[i].what = what;
		counts[i].n++;
		if (what[0] != '+')
			enough[without]++;
	}

	static void print_counts(void) __attribute__((destructor));

	static void
	print_counts(void)
	{
		int		i;

		for (i = 0; counts[i].what != NULL; i++)
			printf("count %d %d %s %lu\n", counts[i].world, counts[i].without,
				   counts[i].what, counts[i].n);
	}
}
#endif
