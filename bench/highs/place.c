/*-------------------------------------------------------------------------
 *
 * place.c
 *		Makes a placement problem, solves it, and writes both for highs.py.
 *
 *	place KIND UNITS SEED FILE
 *
 * Prints: seconds of processor time, peak MB of the solver's memory, peak MB of
 * the process, objective, lower bound, gap, nodes, units with a choice.
 *
 * KIND is what the units are like:
 *
 *	database	sizes of all magnitudes, few hot units, and limits of size, busy
 *				time and bytes written a day; the slowest tier is ample
 *	tight		all four tiers are short of room and of busy time, and what a unit
 *				saves is about in proportion to its size, so that nearly everything
 *				is worth the same
 *
 * FILE: three int32 (units, tiers, resources), then doubles: costs by unit and
 * tier; uses by unit, tier and resource; limits by tier and resource; then int32:
 * the tier of each unit.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "src/model/solver/solver.h"

#define TIERS 4
#define RESOURCES 3				/* with the size */

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

/* Seconds per access and MB/s of four kinds of device, as the cost model has them. */
static const double access_s[TIERS] = {0.00009, 0.00015, 0.0049, 0.0124};
static const double mb_per_s[TIERS] = {6500, 530, 200, 150};

static void
fill_database(int n, double *cost, double *size, double *use, int *current,
			  double *capacity, double *limit)
{
	static const double share[TIERS] = {0.03, 0.12, 0.35, 3.0};
	double		total = 0;
	double		busy = 0;
	double		written = 0;

	for (int u = 0; u < n; u++)
	{
		double		mb = exp(random_normal() * 2.2 + 3);
		double		reads = random_unit() < 0.6 ? random_unit() : exp(random_normal() * 2 + 4);
		double		scanned_mb = random_unit() < 0.7 ? 0 : mb * exp(random_normal() - 1);
		double		writes = reads * random_unit() * 0.5;

		size[u] = floor(mb * 1e6);
		total += size[u];
		current[u] = (int) (random_unit() * TIERS);
		written += writes * 8192 * 24;
		for (int t = 0; t < TIERS; t++)
		{
			int			cell = u * TIERS + t;
			double		seconds = (reads + writes) * access_s[t] + scanned_mb / mb_per_s[t];

			cost[cell] = seconds;
			if (t != current[u])
				cost[cell] += (mb / mb_per_s[t] + mb / mb_per_s[current[u]]) / 720;
			use[cell * 2] = seconds;
			use[cell * 2 + 1] = t < 2 ? writes * 8192 * 24 : 0;
			if (t == 2)
				busy += seconds;
		}
	}
	for (int t = 0; t < TIERS; t++)
	{
		capacity[t] = floor(total * share[t]);
		limit[t * 2] = t == 2 ? 0.2 * busy : INFINITY;
		limit[t * 2 + 1] = t < 2 ? (t == 0 ? 0.5 : 0.1) * written : INFINITY;
	}
}

static void
fill_tight(int n, double *cost, double *size, double *use, int *current,
		   double *capacity, double *limit)
{
	double		total = 0;
	double		busy[TIERS] = {0};

	for (int u = 0; u < n; u++)
	{
		double		weight = 1 + floor(random_unit() * 1000);

		size[u] = weight;
		total += weight;
		current[u] = -1;
		for (int t = 0; t < TIERS; t++)
		{
			int			cell = u * TIERS + t;

			cost[cell] = floor(weight * (1 + t) * (0.9 + 0.2 * random_unit()));
			use[cell * 2] = floor(1000 * random_unit());
			use[cell * 2 + 1] = 0;
			busy[t] += use[cell * 2];
		}
	}
	for (int t = 0; t < TIERS; t++)
	{
		capacity[t] = floor(total * 0.28);
		limit[t * 2] = floor(busy[t] * 0.25);
		limit[t * 2 + 1] = INFINITY;
	}
}

static double
process_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024.0;
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

int
main(int argc, char **argv)
{
	int			n = argc == 5 ? atoi(argv[2]) : 0;
	size_t		cells = (size_t) n * TIERS;
	double	   *cost;
	double	   *size;
	double	   *use;
	int		   *current;
	double		capacity[TIERS];
	double		limit[TIERS * (RESOURCES - 1)];
	double		used[TIERS];
	int32_t		head[3];
	TierSolverProblem problem;
	TierSolverResult result;
	clock_t		begin;
	double		seconds;
	FILE	   *file;

	if (n < 1 || (strcmp(argv[1], "database") != 0 && strcmp(argv[1], "tight") != 0))
	{
		fprintf(stderr, "usage: place database|tight UNITS SEED FILE\n");
		return 2;
	}
	cost = array(cells, sizeof(double));
	size = array(n, sizeof(double));
	use = array(cells * (RESOURCES - 1), sizeof(double));
	current = array(n, sizeof(int));
	random_state = strtoull(argv[3], NULL, 10);
	if (strcmp(argv[1], "tight") == 0)
		fill_tight(n, cost, size, use, current, capacity, limit);
	else
		fill_database(n, cost, size, use, current, capacity, limit);

	memset(&problem, 0, sizeof(problem));
	memset(&result, 0, sizeof(result));
	problem.nunits = n;
	problem.ntiers = TIERS;
	problem.cost = cost;
	problem.size = size;
	problem.current = current;
	problem.capacity = capacity;
	problem.nresources = RESOURCES - 1;
	problem.use = use;
	problem.limit = limit;
	problem.alloc = counted_alloc;
	problem.release = counted_release;
	result.tier = array(n, sizeof(int));
	result.pushed_out_of = array(n, sizeof(int));
	result.used = used;

	begin = clock();
	tier_solver_solve(&problem, &result);
	seconds = (double) (clock() - begin) / CLOCKS_PER_SEC;
	printf("%.4f %.1f %.1f %.9g %.9g %.3g %ld %d%s%s\n", seconds, bytes_peak / 1e6, process_mb(),
		   result.objective, result.lower_bound, result.gap, result.nnodes, result.nactive,
		   result.limit_hit ? " limit" : "",
		   result.status == TIER_SOLVER_INFEASIBLE ? " infeasible" : "");

	file = fopen(argv[4], "wb");
	if (file == NULL)
	{
		perror(argv[4]);
		return 1;
	}
	head[0] = n;
	head[1] = TIERS;
	head[2] = RESOURCES;
	write_all(head, sizeof(int32_t), 3, file);
	write_all(cost, sizeof(double), cells, file);
	for (size_t cell = 0; cell < cells; cell++)
	{
		write_all(&size[cell / TIERS], sizeof(double), 1, file);
		write_all(&use[cell * (RESOURCES - 1)], sizeof(double), RESOURCES - 1, file);
	}
	for (int t = 0; t < TIERS; t++)
	{
		write_all(&capacity[t], sizeof(double), 1, file);
		write_all(&limit[t * (RESOURCES - 1)], sizeof(double), RESOURCES - 1, file);
	}
	write_all(result.tier, sizeof(int), n, file);
	if (fclose(file) != 0)
	{
		perror(argv[4]);
		return 1;
	}
	return 0;
}
