/*-------------------------------------------------------------------------
 *
 * place.c
 *		Makes a placement problem, solves it, and writes both for highs.py.
 *
 *	place KIND TIERS UNITS SEED FILE
 *
 * Prints: units, seconds of processor time, peak MB of the solver's memory, objective,
 * lower bound, "kept" or "not-kept" for the limits.
 *
 * KIND is what the units are like:
 *
 *	database	sizes of all magnitudes, few hot units, and limits of size, busy
 *				time and bytes written a day; the slowest tier is ample
 *	few			the same, but three units have 90 % of the bytes
 *	tight		all tiers are short of room and of busy time, and what a unit
 *				saves is about in proportion to its size, so that nearly everything
 *				is worth the same
 *	recorded	units come from standard input, a line each: MB, and seconds an hour of
 *				random reads, sequential reads and writes on an HDD, where all of them
 *				are; UNITS is the percentage of all bytes that the fastest tier holds,
 *				the next one holds twice as much, and the last one everything
 *
 * FILE: three int32 (units, tiers, resources), then doubles: costs by unit and
 * tier; uses by unit, tier and resource; limits by tier and resource; then int32:
 * the tier of each unit in the answer, and at the start.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/model/solver/solver.h"

#define MOST_TIERS 4
#define RESOURCES 3				/* with the size */
#define MOST_RECORDED 10000

/* One instance, laid out as the solver wants it. */
static int	ntiers;
static int	nunits;
static double *cost;
static double *use;
static double limit[MOST_TIERS * RESOURCES];
static int *start;

static uint64_t random_state;

/* splitmix64 */
static double
random_unit(void)
{
	uint64_t	z = (random_state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (double) ((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* About normal, mean 0 and deviation 1. */
static double
random_normal(void)
{
	double		sum = 0;

	for (int i = 0; i < 12; i++)
		sum += random_unit();
	return sum - 6;
}

/* Memory that the solver holds, and at most held. */
static size_t bytes_now = 0;
static size_t bytes_peak = 0;

typedef union Header
{
	size_t		bytes;
	max_align_t align;
} Header;

static void *
counted_alloc(size_t bytes)
{
	Header	   *header = malloc(sizeof(Header) + bytes);

	if (header == NULL)
		abort();
	header->bytes = bytes;
	bytes_now += bytes;
	if (bytes_now > bytes_peak)
		bytes_peak = bytes_now;
	return header + 1;
}

static void
counted_release(void *ptr)
{
	Header	   *header = (Header *) ptr - 1;

	bytes_now -= header->bytes;
	free(header);
}

static void *
array(size_t n, size_t size)
{
	void	   *ptr = calloc(n, size);

	if (ptr == NULL)
		abort();
	return ptr;
}

/* Seconds per access, MB/s, and share of all bytes, of the kinds of device of 2, 3 and 4 tiers. */
static const double access_s[MOST_TIERS] = {0.00009, 0.00015, 0.0049, 0.0124};
static const double mb_per_s[MOST_TIERS] = {6500, 530, 200, 150};
static const int devices[MOST_TIERS + 1][MOST_TIERS] = {
	{0}, {0}, {1, 3}, {0, 1, 3}, {0, 1, 2, 3}
};
static const double shares[MOST_TIERS + 1][MOST_TIERS] = {
	{0}, {0}, {0.25, 3.0}, {0.06, 0.3, 3.0}, {0.03, 0.12, 0.35, 3.0}
};

static double *
use_of(int unit, int tier)
{
	return &use[((size_t) unit * ntiers + tier) * RESOURCES];
}

static void
fill_database(bool is_few)
{
	double		total = 0;
	double		busy[MOST_TIERS] = {0};
	double		written = 0;
	double		small_mb = 0;

	for (int u = nunits - 1; u >= 0; u--)
	{
		bool		is_large = is_few && u < 3;
		double		mb = is_large ? 9 * small_mb * (0.2 + 0.27 * random_unit()) :
		exp(random_normal() * 2.2 + 3);
		double		reads = is_large ? mb * exp(random_normal() * 1.5) :
		random_unit() < 0.6 ? random_unit() : exp(random_normal() * 2 + 4);
		double		scanned_mb = random_unit() < 0.7 ? 0 : mb * exp(random_normal() - 1);
		double		writes = reads * random_unit() * 0.5;

		small_mb += is_large ? 0 : mb;
		total += floor(mb * 1e6);
		start[u] = (int) (random_unit() * ntiers);
		written += writes * 8192 * 24;
		for (int t = 0; t < ntiers; t++)
		{
			int			device = devices[ntiers][t];
			double		seconds = (reads + writes) * access_s[device] +
			scanned_mb / mb_per_s[device];
			double	   *uses = use_of(u, t);

			cost[u * ntiers + t] = seconds;
			if (t != start[u])
				cost[u * ntiers + t] +=
					(mb / mb_per_s[device] + mb / mb_per_s[devices[ntiers][start[u]]]) / 720;
			uses[0] = floor(mb * 1e6);
			uses[1] = seconds;
			uses[2] = device < 2 ? writes * 8192 * 24 : 0;
			busy[t] += seconds;
		}
	}
	for (int t = 0; t < ntiers; t++)
	{
		int			device = devices[ntiers][t];

		limit[t * RESOURCES] = floor(total * shares[ntiers][t] *
									 (t == ntiers - 1 ? 1 : exp(random_normal() * 0.5)));
		limit[t * RESOURCES + 1] = device == 2 ? 0.2 * busy[t] : INFINITY;
		limit[t * RESOURCES + 2] = device < 2 ? (device == 0 ? 0.5 : 0.3) * written : INFINITY;
	}
}

static void
fill_tight(void)
{
	double		total = 0;
	double		busy[MOST_TIERS] = {0};

	for (int u = 0; u < nunits; u++)
	{
		double		weight = 1 + floor(random_unit() * 1000);

		total += weight;
		start[u] = -1;
		for (int t = 0; t < ntiers; t++)
		{
			double	   *uses = use_of(u, t);

			cost[u * ntiers + t] = floor(weight * (1 + t) * (0.9 + 0.2 * random_unit()));
			uses[0] = weight;
			uses[1] = floor(1000 * random_unit());
			uses[2] = 0;
			busy[t] += uses[1];
		}
	}
	for (int t = 0; t < ntiers; t++)
	{
		limit[t * RESOURCES] = floor(total * 1.12 / ntiers);
		limit[t * RESOURCES + 1] = floor(busy[t] / ntiers);
		limit[t * RESOURCES + 2] = INFINITY;
	}
}

/* Returns how many there are; the device of HDDs is the last one. */
static int
fill_recorded(int percent)
{
	double		mb;
	double		random_s;
	double		sequential_s;
	double		written_s;
	double		total = 0;
	int			n = 0;

	while (n < MOST_RECORDED &&
		   scanf("%lf %lf %lf %lf", &mb, &random_s, &sequential_s, &written_s) == 4)
	{
		double		bytes = floor(fmax(mb, 0.5) * 1e6);

		start[n] = ntiers - 1;
		total += bytes;
		for (int t = 0; t < ntiers; t++)
		{
			int			device = devices[ntiers][t];

			cost[n * ntiers + t] =
				(random_s + written_s) * access_s[device] / access_s[MOST_TIERS - 1] +
				sequential_s * mb_per_s[MOST_TIERS - 1] / mb_per_s[device];
			use_of(n, t)[0] = bytes;
		}
		n++;
	}
	for (int row = 0; row < ntiers * RESOURCES; row++)
		limit[row] = INFINITY;
	for (int t = 0; t < ntiers - 1; t++)
		limit[t * RESOURCES] = floor(total * percent * (t + 1) / 100);
	return n;
}

static void
write_all(const void *data, size_t size, size_t n, FILE *file)
{
	if (fwrite(data, size, n, file) != n)
	{
		perror("place");
		exit(1);
	}
}

static void
write_instance(const char *name, const int *tier)
{
	size_t		cells = (size_t) nunits * ntiers;
	int32_t		head[3] = {nunits, ntiers, RESOURCES};
	FILE	   *file = fopen(name, "wb");

	if (file == NULL)
	{
		perror(name);
		exit(1);
	}
	write_all(head, sizeof(int32_t), 3, file);
	write_all(cost, sizeof(double), cells, file);
	write_all(use, sizeof(double), cells * RESOURCES, file);
	write_all(limit, sizeof(double), (size_t) ntiers * RESOURCES, file);
	write_all(tier, sizeof(int), nunits, file);
	write_all(start, sizeof(int), nunits, file);
	if (fclose(file) != 0)
	{
		perror(name);
		exit(1);
	}
}

int
main(int argc, char **argv)
{
	const char *kind = argc == 6 ? argv[1] : "";
	TierSolverProblem problem;
	TierSolverResult result;
	clock_t		begin;
	double		seconds;
	bool		is_recorded;
	int			most;

	ntiers = argc == 6 ? atoi(argv[2]) : 0;
	nunits = argc == 6 ? atoi(argv[3]) : 0;
	is_recorded = strcmp(kind, "recorded") == 0;
	if (nunits < 1 || ntiers < 2 || ntiers > MOST_TIERS ||
		(!is_recorded && strcmp(kind, "database") != 0 && strcmp(kind, "few") != 0 &&
		 strcmp(kind, "tight") != 0))
	{
		fprintf(stderr, "usage: place database|few|tight|recorded 2..4 UNITS SEED FILE\n");
		return 2;
	}
	most = is_recorded ? MOST_RECORDED : nunits;
	cost = array((size_t) most * ntiers, sizeof(double));
	use = array((size_t) most * ntiers * RESOURCES, sizeof(double));
	start = array(most, sizeof(int));
	random_state = strtoull(argv[4], NULL, 10);
	if (is_recorded)
		nunits = fill_recorded(nunits);
	else if (strcmp(kind, "tight") == 0)
		fill_tight();
	else
		fill_database(strcmp(kind, "few") == 0);

	memset(&problem, 0, sizeof(problem));
	memset(&result, 0, sizeof(result));
	problem.nunits = nunits;
	problem.ntiers = ntiers;
	problem.nresources = RESOURCES;
	problem.cost = cost;
	problem.use = use;
	problem.limit = limit;
	problem.start = start;
	problem.alloc = counted_alloc;
	problem.release = counted_release;
	result.tier = array(nunits, sizeof(int));

	begin = clock();
	tier_solver_solve(&problem, &result);
	seconds = (double) (clock() - begin) / CLOCKS_PER_SEC;
	printf("%d %.4f %.1f %.9g %.9g %s\n", nunits, seconds, bytes_peak / 1e6, result.objective,
		   result.lower_bound, result.keeps_limits ? "kept" : "not-kept");
	write_instance(argv[5], result.tier);
	return 0;
}
