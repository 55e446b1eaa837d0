/*-------------------------------------------------------------------------
 *
 * model/volume.c
 *		What a device or volume does and costs, by its size and by what is bought of it.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "src/model/number.h"
#include "src/model/volume.h"

#define MS_PER_S 1000.0

/*
 * A straight line through what there is at figures_for_gb, up to the most.  Less is there in
 * proportion at least, whatever the slope says.
 */
static double
rate_of(const TierVolume *volume, const TierVolumeRate *rate, double there, double gb)
{
	double		size = tier_amount(volume->figures_for_gb);
	double		most = tier_amount(rate->most);
	double		value = there;

	if (size > 0.0 && tier_amount(rate->per_gb) > 0.0)
	{
		value = there + rate->per_gb * (tier_amount(gb) - size);
		value = tier_larger(value, there * tier_smaller(tier_amount(gb) / size, 1.0));
	}
	return most > 0.0 ? tier_smaller(value, most) : value;
}

/* What is bought, or what comes with the size. */
static double
bought(double given, double comes_with_it)
{
	return isnan(given) ? comes_with_it : given;
}

double
tier_volume_requests(const TierVolume *volume, double gb)
{
	return rate_of(volume, &volume->requests,
				   volume->figures.parallelism * MS_PER_S / volume->figures.random_read_ms, gb);
}

double
tier_volume_throughput(const TierVolume *volume, double gb)
{
	return rate_of(volume, &volume->throughput, volume->figures.sequential_read_mb_per_s, gb);
}

/* So many times as many requests, and as much throughput. */
static TierCostProfile
times(const TierCostProfile *profile, double requests, double throughput)
{
	TierCostProfile result = *profile;
	double		least = tier_smaller(profile->parallelism, 1.0);
	double		slower;

	result.sequential_read_mb_per_s *= throughput;
	result.sequential_write_mb_per_s *= throughput;
	result.parallelism *= requests;

	/* From one at a time on, less is a longer time for each. */
	slower = tier_larger(least / result.parallelism, 1.0);
	result.random_read_ms *= slower;
	result.random_write_ms *= slower;
	result.scan_start_ms *= slower;
	result.parallelism *= slower;
	return result;
}

/* A factor; nothing that is not known changes anything. */
static double
ratio(double now, double then)
{
	double		factor = tier_amount(now) > 0.0 ? tier_amount(then) / now : 1.0;

	return factor > 0.0 ? factor : 1.0;
}

TierCostProfile
tier_volume_profile(const TierVolume *volume, double gb, double requests, double throughput)
{
	double		at = tier_amount(volume->figures_for_gb);

	return tier_volume_grown(volume, &volume->figures, at > 0.0 ? at : gb, gb, requests,
							 throughput);
}

TierCostProfile
tier_volume_grown(const TierVolume *volume, const TierCostProfile *now, double gb_now, double gb,
				  double requests, double throughput)
{
	return times(now,
				 ratio(tier_volume_requests(volume, gb_now),
					   bought(requests, tier_volume_requests(volume, gb))),
				 ratio(tier_volume_throughput(volume, gb_now),
					   bought(throughput, tier_volume_throughput(volume, gb))));
}

static double
price_of(const TierVolumeRate *rate, double amount)
{
	return tier_amount(rate->price) * tier_amount(amount - tier_amount(rate->included));
}

double
tier_volume_price(const TierVolume *volume, double gb, double requests, double throughput)
{
	double		paid_gb = tier_larger(tier_amount(gb), tier_amount(volume->least_gb));

	return paid_gb * tier_amount(volume->figures.price_per_gb_month) +
		price_of(&volume->requests, bought(requests, tier_volume_requests(volume, gb))) +
		price_of(&volume->throughput, bought(throughput, tier_volume_throughput(volume, gb)));
}
