/*-------------------------------------------------------------------------
 *
 * model/effect.c
 *		The effect of a move: the load after it, on the old and the new tier.
 *
 * Two costs of the same load are compared: the one that it had on the new tier
 * and the one that it would have had on the old.  The load before the move is
 * no yardstick for that after it, since nights and holidays come in between.
 *
 * The second thing that may be wrong with a prediction is the profile of a tier.  The kernel
 * counts how long a device worked, and on how much; this time is divided by the profile's
 * prediction for as much.  The factor then holds for each relation on it.
 *
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <math.h>

#include "src/model/effect.h"
#include "src/model/number.h"

#define SECONDS_PER_HOUR 3600.0
#define BYTES_PER_MB 1e6
#define MS_PER_S 1e3

/* Beyond this, either figure is no measurement of the other's device. */
#define LEAST_FACTOR 0.001
#define MOST_FACTOR 1000.0

/* As predicted is within this factor. */
#define TOLERANCE 2.0

/* With fewer requests a device says nothing of its speed. */
#define LEAST_REQUESTS 100.0

/* Work in the units of a profile. */
typedef struct Parts
{
	double		random_reads;
	double		sequential_read_bytes;
	double		random_writes;
	double		sequential_write_bytes;
	double		device_ms;		/* 0: too little work to tell */
} Parts;

/* False if a total decreased, or is not a number. */
static bool
growth(double before, double after, double *grown)
{
	*grown = after - before;
	return *grown >= 0.0 && *grown <= DBL_MAX;
}

double
tier_effect_device_ms(double busy_ms, double request_ms)
{
	return request_ms > 0.0 ? tier_smaller(busy_ms, request_ms) : busy_ms;
}

bool
tier_effect_load(const TierEffectTotals *before, const TierEffectTotals *after,
				 double seconds, bool writes_counted, double size_bytes,
				 double checkpoints_per_hour, TierCostLoad *load)
{
	TierEffectTotals grown;
	double		per_hour;

	if (!(seconds > 0.0) ||
		!growth(before->random_reads, after->random_reads, &grown.random_reads) ||
		!growth(before->sequential_reads, after->sequential_reads, &grown.sequential_reads) ||
		!growth(before->scans, after->scans, &grown.scans) ||
		!growth(before->page_writes, after->page_writes, &grown.page_writes) ||
		!growth(before->merged_writes, after->merged_writes, &grown.merged_writes) ||
		!growth(before->row_changes, after->row_changes, &grown.row_changes))
		return false;
	per_hour = SECONDS_PER_HOUR / seconds;
	*load = (TierCostLoad)
	{
		0
	};
	load->random_reads = grown.random_reads * per_hour;
	load->sequential_reads = grown.sequential_reads * per_hour;
	load->scans = grown.scans * per_hour;
	load->size_bytes = size_bytes;
	if (writes_counted)
	{
		load->page_writes = grown.page_writes * per_hour;
		load->merged_writes = grown.merged_writes * per_hour;
	}
	else
		tier_cost_estimate_writes(grown.row_changes * per_hour, size_bytes / TIER_BLOCK_BYTES,
								  checkpoints_per_hour, load);
	return true;
}

bool
tier_effect_work_between(const TierEffectWork *before, const TierEffectWork *after,
						 TierEffectWork *work)
{
	return growth(before->reads, after->reads, &work->reads) &&
		growth(before->read_bytes, after->read_bytes, &work->read_bytes) &&
		growth(before->writes, after->writes, &work->writes) &&
		growth(before->write_bytes, after->write_bytes, &work->write_bytes) &&
		growth(before->device_ms, after->device_ms, &work->device_ms);
}

/*
 * n requests with b bytes, r of them random ones of a block and the rest
 * sequential ones of s bytes:
 *
 *		b = r * block + (n - r) * s			r = (n * s - b) / (s - block)
 *
 * within [0, n].
 */
static double
random_requests(double requests, double bytes, double request_bytes)
{
	double		random = requests;

	if (request_bytes > TIER_BLOCK_BYTES)
		random = (requests * request_bytes - bytes) / (request_bytes - TIER_BLOCK_BYTES);
	return tier_larger(0.0, tier_smaller(random, requests));
}

/*
 * Random requests of a block and sequential ones of request_bytes, so that their number and
 * their bytes come out.
 */
static Parts
split(const TierEffectWork *work, double request_bytes)
{
	Parts		parts = {0};

	if (!(work->reads + work->writes >= LEAST_REQUESTS) || !(work->device_ms > 0.0) ||
		!(work->read_bytes >= 0.0) || !(work->write_bytes >= 0.0))
		return parts;
	parts.random_reads = random_requests(work->reads, work->read_bytes, request_bytes);
	parts.sequential_read_bytes =
		tier_larger(work->read_bytes - parts.random_reads * TIER_BLOCK_BYTES, 0.0);
	parts.random_writes = random_requests(work->writes, work->write_bytes, request_bytes);
	parts.sequential_write_bytes =
		tier_larger(work->write_bytes - parts.random_writes * TIER_BLOCK_BYTES, 0.0);
	parts.device_ms = work->device_ms;
	return parts;
}

/*
 * Random requests cost their access time, sequential ones their bytes, as in
 * tier_cost_busy_s_per_hour.
 */
static double
expected_ms(double random, double bytes, double random_ms, double mb_per_s)
{
	return random * random_ms + bytes / BYTES_PER_MB / mb_per_s * MS_PER_S;
}

static double
expected_reads_ms(const Parts *parts, const TierCostProfile *profile)
{
	return expected_ms(parts->random_reads, parts->sequential_read_bytes,
					   profile->random_read_ms, profile->sequential_read_mb_per_s);
}

static double
expected_writes_ms(const Parts *parts, const TierCostProfile *profile)
{
	return expected_ms(parts->random_writes, parts->sequential_write_bytes,
					   profile->random_write_ms, profile->sequential_write_mb_per_s);
}

bool
tier_effect_drop_writes(TierEffectWork *work, const TierCostProfile *profile,
						double request_bytes)
{
	Parts		parts = split(work, request_bytes);
	double		writes_ms = expected_writes_ms(&parts, profile);
	double		all_ms = expected_reads_ms(&parts, profile) + writes_ms;

	work->writes = work->write_bytes = 0.0;
	return writes_ms <= TIER_EFFECT_MOST_DOUBT * all_ms;
}

double
tier_effect_device_factor(const TierEffectWork *work, const TierCostProfile *profile,
						  double request_bytes)
{
	Parts		parts = split(work, request_bytes);
	double		expected;

	if (!(parts.device_ms > 0.0))
		return NAN;
	expected = expected_reads_ms(&parts, profile) + expected_writes_ms(&parts, profile);
	if (!(expected > 0.0 && expected <= DBL_MAX))
		return NAN;
	return tier_larger(LEAST_FACTOR, tier_smaller(work->device_ms / expected, MOST_FACTOR));
}

double
tier_effect_noise(double cost_s_per_hour)
{
	return tier_larger(TIER_EFFECT_NOISE_S_PER_HOUR, TIER_EFFECT_NOISE_SHARE * cost_s_per_hour);
}

/*
 * With p predicted, the range is [p / 2, 2 p] for a move that saves time, and [2 p, p / 2] for a
 * move that was expected to cost some: a move to a cheaper tier is worse only if it costs more
 * than twice the prediction.
 */
TierEffectVerdict
tier_effect_judge(double predicted_saved, double unmoved, double measured)
{
	double		saved = unmoved - measured;
	double		noise = tier_effect_noise(unmoved);
	double		low;
	double		high;

	if (isnan(predicted_saved))
	{
		if (fabs(saved) <= noise)
			return TIER_EFFECT_NO_DIFFERENCE;
		return saved > 0.0 ? TIER_EFFECT_BETTER : TIER_EFFECT_WORSE;
	}
	low = predicted_saved > 0.0 ? predicted_saved / TOLERANCE : predicted_saved * TOLERANCE;
	high = predicted_saved > 0.0 ? predicted_saved * TOLERANCE : predicted_saved / TOLERANCE;
	if (saved > high + noise)
		return TIER_EFFECT_BETTER;
	if (saved >= low - noise)
		return TIER_EFFECT_AS_PREDICTED;
	return saved < -noise ? TIER_EFFECT_WORSE : TIER_EFFECT_LESS;
}

const char *
tier_effect_text(TierEffectVerdict verdict)
{
	switch (verdict)
	{
		case TIER_EFFECT_AS_PREDICTED:
			return "as predicted";
		case TIER_EFFECT_BETTER:
			return "better";
		case TIER_EFFECT_LESS:
			return "less than predicted";
		case TIER_EFFECT_WORSE:
			return "worse";
		case TIER_EFFECT_NO_DIFFERENCE:
			break;
	}
	return "no difference";
}
