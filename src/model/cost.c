/*-------------------------------------------------------------------------
 *
 * model/cost.c
 *		The cost of a relation on a tier: device time, money, and the move there.
 *
 * The model in one line: a random access costs the device its access time, a sequential one costs
 * only its bytes.  So all functions here turn counts of 8 kB blocks into seconds in which the
 * device is busy with them.  The hits of the page cache of the operating system are not known
 * here.
 *
 * Counts come from counters and estimates, and those may be absent, stale or contradict each
 * other.  A value that is not a positive finite number counts as 0, and each estimate is kept
 * within the limits that the counters prove.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>

#include "src/model/cost.h"
#include "src/model/number.h"

#define BYTES_PER_MB 1e6
#define BYTES_PER_GB 1e9
#define MS_PER_S 1e3

#define S_PER_HOUR 3600.0
#define HOURS_PER_MONTH 730.0

/* What file systems over an object store read at once; JuiceFS cuts files into such blocks. */
#define OBJECT_BYTES 4194304.0

/* The time of a process to look at a page; sequential reads hide behind it. */
#define PAGE_LOOK_S 5e-6

/*
 * Compression by a file system works on records (btrfs: 128 kB).  Unpacking one takes some 0.1
 * ms.  The cost of a single write was measured: half the rate, two to four times the bytes.
 */
#define RECORD_BYTES 131072.0
#define UNPACK_BYTES_PER_S 1e9
#define REWRITE_TIME 2.0
#define REWRITE_BYTES 3.0

/* Of a file system of which nothing else is known; an assumption. */
#define PRIOR_RATIO 2.0

/* The largest ratio that can be configured. */
#define MOST_RATIO 1e6

/* A new btrfs has 6 MB used, which is less than a tenth of this. */
#define LEAST_USED_BYTES 64e6

/* As many as PostgreSQL can serve (MAX_BACKENDS). */
#define MOST_CLIENTS 262143.0

/* Of work that is asked for in an hour: more than any device could ever do. */
#define MOST_HOURS 1e9

/* More reserve than this is no reserve but a tier that holds nothing. */
#define MAX_RESERVE_FRACTION 0.99

/* Block requests that were part of a sequential run, as far as we can tell. */
typedef struct SequentialRequests
{
	double		low;
	double		mid;
	double		high;
} SequentialRequests;

/*
 * Heap: sequential scans that returned k rows have passed
 *
 *		k * pages / tuples		[blocks]
 *
 * At least one block per scan: one that finds only dead rows returns nothing,
 * one under a LIMIT ends early, but each asks for a block.  At most
 * (scans + 1) * pages, because one scan may have begun before the period;
 * that bounds the harm of a row count from long ago.
 *
 * Without a row count the same two bounds are all that is known, and a scan
 * that reads the whole table is the usual one.
 */
static SequentialRequests
heap_sequential_requests(const TierCostCounters *counters, double fetched)
{
	SequentialRequests requests;
	double		scans = tier_amount(counters->scans);
	double		tuples_read = tier_amount(counters->tuples_read);
	double		pages = tier_amount(counters->pages);
	double		tuples = tier_amount(counters->tuples);
	double		least;
	double		most;

	if (pages > 0.0)
	{
		least = tier_smaller(scans, fetched);
		most = tier_smaller((scans + 1.0) * pages, fetched);
		if (least > most)
			least = most;
	}
	else
	{
		/* Truncated since: its size then is not known. */
		least = 0.0;
		most = fetched;
	}

	if (scans <= 0.0 && tuples_read <= 0.0)
		requests.low = requests.mid = requests.high = 0.0;
	else if (pages > 0.0 && tuples > 0.0)
	{
		requests.mid = tier_clamp(tuples_read * (pages / tuples), least, most);
		requests.low = requests.high = requests.mid;
	}
	else
	{
		requests.low = least;
		requests.high = most;
		if (pages > 0.0)
			requests.mid = tier_clamp(scans * pages, least, most);
		else
			requests.mid = (least + most) / 2.0;
	}
	return requests;
}

/*
 * Index: a scan descends from the root to its first leaf, each block of it at
 * random, and then walks along the leaves.  With e = tuples / pages entries on
 * a leaf, a scan that returns k entries crosses (k - 1) / e ends of leaves on
 * average.  The sum over all scans that returned something is
 *
 *		(entries - scans that returned something) * pages / tuples	[blocks]
 *
 * whichever of them returned many and which few.  How many returned nothing
 * is unknown: mid assumes none of them and high all but one, so low = mid.
 * Each scan asks for one random block at least, the rest can be leaves.
 *
 * Without an entry count a leaf may hold one entry or all of them.
 *
 * The walk is charged as sequential although splits scatter the leaves of an
 * old B-tree; statistics do not show how much.
 */
static SequentialRequests
index_sequential_requests(const TierCostCounters *counters, double fetched)
{
	SequentialRequests requests;
	double		scans = tier_amount(counters->scans);
	double		entries = tier_amount(counters->tuples_read);
	double		pages = tier_amount(counters->pages);
	double		tuples = tier_amount(counters->tuples);
	double		further = tier_amount(entries - scans);
	double		most = tier_amount(fetched - scans);

	if (pages > 0.0 && tuples > 0.0)
	{
		double		pages_per_entry = pages / tuples;

		most = tier_smaller(most, (scans + 1.0) * pages);
		requests.mid = tier_smaller(further * pages_per_entry, most);
		requests.low = requests.mid;
		requests.high = tier_smaller(tier_amount(entries - 1.0) * pages_per_entry, most);
		if (requests.high < requests.mid)
			requests.high = requests.mid;
	}
	else
	{
		requests.low = 0.0;
		requests.mid = 0.0;
		requests.high = tier_smaller(entries, most);
	}
	return requests;
}

/*
 * Of `fetched` requests q were sequential, and `misses` of them all were not
 * found in shared buffers.  Which of the two kinds the hits belong to is
 * unknown:
 *
 *		low		all hits were sequential requests	max(0, q - hits)
 *		mid		both kinds hit alike				misses * q / fetched
 *		high	all hits were random requests		min(q, misses)
 *
 * For one q, low <= mid <= high follows from q <= fetched; each grows with q,
 * so it also holds for q low <= q mid <= q high.
 */
TierCostAttribution
tier_cost_attribute(const TierCostCounters *counters)
{
	TierCostAttribution result;
	SequentialRequests requests;
	double		fetched = tier_amount(counters->blocks_fetched);
	double		hits = tier_smaller(tier_amount(counters->blocks_hit), fetched);

	if (counters->is_index)
		requests = index_sequential_requests(counters, fetched);
	else
		requests = heap_sequential_requests(counters, fetched);

	result.misses = fetched - hits;
	result.sequential_low = tier_amount(requests.low - hits);
	result.sequential_high = tier_smaller(requests.high, result.misses);
	result.sequential_mid = 0.0;
	if (fetched > 0.0)
		result.sequential_mid = result.misses * (requests.mid / fetched);

	/* Only rounding can violate the order. */
	result.sequential_mid = tier_clamp(result.sequential_mid, 0.0,
									   result.sequential_high);
	result.sequential_low = tier_smaller(result.sequential_low,
										 result.sequential_mid);
	return result;
}

/*
 * Seconds for a number of bytes; a bandwidth that is not positive cannot move
 * any, ever.
 */
static double
transfer_s(double bytes, double mb_per_s)
{
	if (bytes <= 0.0)
		return 0.0;
	if (!(mb_per_s > 0.0))
		return INFINITY;
	return bytes / BYTES_PER_MB / mb_per_s;
}

static double
ratio_of(const TierCostProfile *profile)
{
	double		ratio = tier_amount(profile->compression_ratio);

	return ratio > 1.0 ? ratio : 1.0;
}

/*
 * busy = (R + n') * read_ms / 1000 + B / bandwidth
 *		+ (W - m) * write_ms / 1000 + M / write bandwidth		[s per hour]
 * B = sequential blocks * 8192 bytes, M = m * 8192 bytes.  n' counts the scans for
 * which the device has to take up a new position: no more than blocks were read, for
 * a scan that finds everything in shared buffers positions nothing.
 */
TierCost
tier_cost_on(const TierCostLoad *load, const TierCostProfile *profile)
{
	TierCost	cost;
	double		sequential = tier_amount(load->sequential_reads);
	double		random = tier_amount(load->random_reads);
	double		scans = tier_smaller(tier_amount(load->scans), sequential);
	double		parallelism = profile->parallelism > 1.0 && profile->parallelism <= DBL_MAX ?
	profile->parallelism : 1.0;
	double		read_s = tier_amount(profile->random_read_ms) / MS_PER_S;
	double		write_s = tier_amount(profile->random_write_ms) / MS_PER_S;
	double		page_bytes = TIER_BLOCK_BYTES;
	double		merged = tier_smaller(tier_amount(load->merged_writes),
									  tier_amount(load->page_writes));
	double		writes = tier_amount(load->page_writes) - merged;
	double		written_bytes = TIER_BLOCK_BYTES;
	double		ratio = ratio_of(profile);
	double		read_single_s;
	double		single_s;
	double		stream_s;
	double		merged_s;

	if (ratio > 1.0)
	{
		if (!profile->calibrated)
		{
			double		record_bytes = RECORD_BYTES / ratio;

			if (record_bytes > TIER_BLOCK_BYTES)
				read_s += transfer_s(record_bytes - TIER_BLOCK_BYTES,
									 profile->sequential_read_mb_per_s);
			read_s += RECORD_BYTES / UNPACK_BYTES_PER_S;
			write_s *= REWRITE_TIME;
			page_bytes /= ratio;
		}
		written_bytes *= REWRITE_BYTES;
	}
	read_single_s = (random + scans) * read_s;
	single_s = read_single_s + writes * write_s;
	stream_s = transfer_s(sequential * page_bytes, profile->sequential_read_mb_per_s);
	merged_s = transfer_s(merged * page_bytes, profile->sequential_write_mb_per_s);
	cost.busy_s = single_s + stream_s + merged_s;
	cost.occupied_s = single_s / parallelism + stream_s + merged_s;
	cost.wait_s = read_single_s + tier_amount(stream_s - sequential * PAGE_LOOK_S);

	/* Blocks written in a run are compressed once, and rewrite nothing. */
	cost.written_bytes = writes * written_bytes + merged * TIER_BLOCK_BYTES / ratio;

	/* A bandwidth that is not positive moves nothing, ever. */
	if (!(cost.busy_s <= DBL_MAX))
		cost.wait_s = INFINITY;
	return cost;
}

double
tier_cost_busy_s_per_hour(const TierCostLoad *load,
						  const TierCostProfile *profile)
{
	return tier_cost_on(load, profile).busy_s;
}

/* NaN is 1. */
static double
clients_of(double clients)
{
	return tier_clamp(clients, 1.0, MOST_CLIENTS);
}

static double
hours_of(double utilisation)
{
	return tier_smaller(tier_amount(utilisation), MOST_HOURS);
}

/* The S below. */
static double
queue_root(double u, double clients)
{
	return sqrt((1.0 - u) * (1.0 - u) + 4.0 * u / clients);
}

/*
 * A closed network of one device and n clients that have n hours of other work besides the work
 * of an hour, so that it takes an hour as long as the device is idle.  If the work takes T hours,
 * the device is occupied for the share u / T of the time.  By the arrival theorem, a request finds
 * the queue of a network with one client less, which Schweitzer (1979) and Bard approximate by
 * (n - 1) / n of the queue with n.  So it stays for u / (1 - a u / T) in all, with
 * a = (n - 1) / n, and
 *
 *		n T = n + u / (1 - a u / T)			T = (1 + u + S) / 2
 *		S = sqrt((1 - u)^2 + 4 u / n)
 *		waiting = n T - n - u = 4 u^2 a / ((1 + u + S) (1 - u + S))
 *
 * The last of these loses no digits.  S is a norm of a linear function of u, so T is convex; for
 * n towards infinity it is u^2 / (1 - u), for one client 0.
 */
static double
queue_hours(double u, double clients)
{
	double		root = queue_root(u, clients);

	/* (1 - u + S) * (u - 1 + S) = 4 u / n, of which one factor is a sum. */
	if (u > 1.0)
		return clients / 2.0 * (u - 1.0 + root) - u;
	return 4.0 * u * u * (1.0 - 1.0 / clients) / ((1.0 + u + root) * (1.0 - u + root));
}

double
tier_cost_queue_s(double utilisation, double clients)
{
	return S_PER_HOUR * queue_hours(hours_of(utilisation), clients_of(clients));
}

double
tier_cost_queue_s_per_hour(double utilisation, double clients)
{
	double		u = hours_of(utilisation);
	double		n = clients_of(clients);
	double		hours = queue_hours(u, n);

	return S_PER_HOUR * hours / (1.0 + (u + hours) / n);
}

double
tier_cost_ratio_of_files(double file_bytes, double used_bytes, bool shared)
{
	double		used = tier_amount(used_bytes);
	double		ratio = used < LEAST_USED_BYTES ? 0.0 : tier_amount(file_bytes) / used;
	double		least = shared || used < LEAST_USED_BYTES ? PRIOR_RATIO : 1.0;

	return fmin(fmax(ratio, least), MOST_RATIO);
}

double
tier_cost_stored_bytes(double size_bytes, const TierCostProfile *profile)
{
	return tier_amount(size_bytes) / ratio_of(profile);
}

double
tier_cost_price_per_month(double size_bytes, const TierCostLoad *load,
						  const TierCostProfile *profile, double reserve_fraction)
{
	double		reserve = tier_clamp(tier_amount(reserve_fraction), 0.0,
									 MAX_RESERVE_FRACTION);
	double		requests = tier_amount(load->random_reads) + tier_amount(load->scans) +
	tier_amount(load->sequential_reads) * TIER_BLOCK_BYTES / OBJECT_BYTES;

	return tier_amount(profile->price_per_gb_month) *
		(tier_cost_stored_bytes(size_bytes, profile) / BYTES_PER_GB) / (1.0 - reserve) +
		tier_amount(profile->price_per_million_reads) * requests * HOURS_PER_MONTH / 1e6;
}

double
tier_cost_move_s(double size_bytes, const TierCostProfile *from,
				 const TierCostProfile *to)
{
	double		bytes = tier_amount(size_bytes);

	return transfer_s(bytes, from->sequential_read_mb_per_s) +
		transfer_s(bytes, to->sequential_write_mb_per_s);
}

/*
 * Changes that fall on random pages: with m = changes / checkpoints / pages
 * changes on a page between two checkpoints, on average, the share of pages
 * with at least one change is s = 1 - exp(-m), so
 *
 *		W = pages * checkpoints * s		[pages per hour]
 *
 * That is about the number of changes while m is small, and all pages at
 * every checkpoint when it is large.  The page before one that is written is
 * written, too, with the chance s, so W * s are merged with it.
 */
void
tier_cost_estimate_writes(double row_changes_per_hour, double pages,
						  double checkpoints_per_hour, TierCostLoad *load)
{
	double		changes = tier_amount(row_changes_per_hour);
	double		most = tier_amount(pages) * tier_amount(checkpoints_per_hour);
	double		share;

	load->page_writes = load->merged_writes = 0.0;
	if (!(most > 0.0))
		return;
	share = -expm1(-changes / most);
	load->page_writes = tier_smaller(most * share, changes);
	load->merged_writes = load->page_writes * share;
}

void
tier_cost_estimate_table_writes(double row_changes_per_hour, double pages, double rows,
								double grown_pages_per_hour, double checkpoints_per_hour,
								TierCostLoad *load)
{
	double		changes = tier_amount(row_changes_per_hour);
	double		checkpoints = tier_amount(checkpoints_per_hour);
	double		density = pages > 0.0 ? tier_amount(rows) / pages : 0.0;
	double		appended = tier_smaller(tier_amount(grown_pages_per_hour) * density, changes);
	double		written;

	tier_cost_estimate_writes(changes - appended, pages, checkpoints, load);
	if (!(appended > 0.0) || !(checkpoints > 0.0))
		return;
	written = tier_smaller(appended / density + checkpoints, appended);
	load->page_writes += written;
	load->merged_writes += tier_amount(written - checkpoints);
}
