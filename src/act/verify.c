/*-------------------------------------------------------------------------
 *
 * act/verify.c
 *		The effect of moves: predicted before, measured after.
 *
 * The mover runs the first half: the cost of the relation before the move, and the expected cost
 * afterwards.  Samples run the second half.  The first sample after the move stores the totals of
 * the relation and of its new device; the first one after EFFECT_PERIOD_US takes the difference.
 * So nothing is written in between.  Smoothed rates, which still contain the time before the
 * move, are not used.  Counters that are reset do no harm, since the totals are kept by the
 * extension.
 *
 * The place of a relation is read from pg_class and not from the sample, because a move may have
 * ended since.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "postmaster/bgworker.h"
#include "utils/memutils.h"

#include "src/base/attempt.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/left_out.h"
#include "src/base/settings.h"
#include "src/decide/forecast.h"
#include "src/model/effect.h"
#include "src/model/relation_load.h"
#include "src/observe/device_io.h"
#include "src/observe/sample.h"
#include "src/storage/memory.h"
#include "src/act/verify.h"

/* In one sample. */
#define MOST_EFFECTS 1000

/* A day, so that the load of the night counts as well. */
#define EFFECT_PERIOD_US ((int64) SECS_PER_DAY * USECS_PER_SEC)

/* The unit of predictions and measurements. */
#define SECONDS_PER_HOUR 3600.0

/* ---------------------------------------------------------------------
 * Before
 * ---------------------------------------------------------------------
 */

static bool
is_any_read(const TierRelationState *states, int n)
{
	for (int i = 0; i < n; i++)
		if (states[i].stored.rates.random_slow + states[i].stored.rates.sequential_slow > 0.0)
			return true;
	return false;
}

/* Of states that are not read the page cache has nothing; the sum goes over all relations. */
static void
set_basis(TierRelationLoadBasis *basis, const TierRelationState *states, int n)
{
	basis->now = tier_clock_now();
	basis->writes_since = tier_catalog_writes_since();
	basis->checkpoints_per_hour = tier_checkpoints_per_hour();
	if (is_any_read(states, n))
	{
		TierMemory	memory = tier_memory_look(tier_debug_root());

		basis->memory_is_new = memory.is_new;
		basis->memory_fills = memory.is_free && tier_catalog_read_bytes() <= memory.bytes;
	}
}

void
tier_verify_expect(const TierSet *set, const TierRelationInfo *info, Oid to_tablespace_oid,
				   double *before_s_per_hour, double *predicted_s_per_hour)
{
	const TierCostProfile *from = tier_forecast_profile(set, info->tablespace_oid);
	const TierCostProfile *to = tier_forecast_profile(set, to_tablespace_oid);
	TierRelationLoadBasis basis = {0};
	TierRelationLoad load = {0};
	TierRelationState *states;
	bool		is_known = false;
	int			n;

	*before_s_per_hour = *predicted_s_per_hour = NAN;
	states = tier_catalog_load_unit(CurrentMemoryContext, info->relation_oid, &n);
	for (int i = 0; i < n; i++)
		is_known |= states[i].id.relation_oid == info->relation_oid;
	if (!is_known)
		return;
	set_basis(&basis, states, n);
	for (int i = 0; i < n; i++)
	{
		/* A TOAST table and its index have the persistence of their table. */
		states[i].id.persistence = info->persistence;
		tier_relation_load_add(&load, &states[i], &basis);
	}
	if (from != NULL)
		*before_s_per_hour = tier_cost_busy_s_per_hour(&load.middle, from);
	if (to != NULL)
		*predicted_s_per_hour = tier_cost_busy_s_per_hour(&load.middle, to);
}

/*
 * The busy time of the device as a multiple of its profile's prediction; NaN if its figures are
 * not plausible.  Where only those of its writes are not, the reads alone are compared, if they
 * are nearly all of the load.
 */
static double
factor_of(const TierDeviceState *device, TierEffectWork *work, const TierCostProfile *profile)
{
	double		request_bytes;

	if (!tier_device_is_explained(device))
		return NAN;
	request_bytes = tier_device_request_bytes(device);
	if (tier_device_holds_wal(device) && !tier_effect_drop_writes(work, profile, request_bytes))
		return NAN;
	return tier_effect_device_factor(work, profile, request_bytes);
}

/*
 * The recent work of the device beneath the old tier, compared with its profile.  NaN if its
 * figures are not plausible.
 */
static double
factor_lately(Oid tablespace_oid, const TierCostProfile *profile, TimestampTz now)
{
	TierDevices *devices = tier_catalog_load_devices(CurrentMemoryContext);
	const TierDeviceState *device = tier_devices_find(devices, tablespace_oid);
	TierEffectWork work;
	double		hours;

	if (device == NULL)
		return NAN;
	hours = Min(tier_seconds_between(device->observed_since, now), TIER_HALF_LIFE_FAST_S) /
		SECONDS_PER_HOUR;
	work.reads = device->rates.reads * hours;
	work.read_bytes = device->rates.read_bytes * hours;
	work.writes = device->rates.writes * hours;
	work.write_bytes = device->rates.write_bytes * hours;
	work.device_ms = device->rates.device_ms * hours;
	return factor_of(device, &work, profile);
}

void
tier_verify_begin(int64 move_id, int64 batch_id, const TierSet *set, Oid relation_oid,
				  Oid from_tablespace_oid, Oid to_tablespace_oid)
{
	const TierCostProfile *from = tier_forecast_profile(set, from_tablespace_oid);
	const TierCostProfile *to = tier_forecast_profile(set, to_tablespace_oid);
	TimestampTz now = tier_clock_now();
	TierEffect	effect;

	memset(&effect, 0, sizeof(effect));
	effect.move_id = move_id;
	effect.batch_id = batch_id;
	effect.relation_oid = relation_oid;
	effect.to_tablespace_oid = to_tablespace_oid;
	effect.from_factor = NAN;
	if (from == NULL || to == NULL)
		effect.not_measurable = "in no tier";
	else
		effect.from_factor = factor_lately(from_tablespace_oid, from, now);
	tier_catalog_begin_effect(&effect, now);
}

/* ---------------------------------------------------------------------
 * After
 * ---------------------------------------------------------------------
 */

/* Why the effect cannot be measured, or NULL. */
static const char *
obstacle(const TierEffect *effect)
{
	if (!effect->exists)
		return "dropped";
	if (effect->tablespace_oid != effect->to_tablespace_oid)
		return "moved again";
	return NULL;
}

static void
start(TierEffect *effect, const TierDevices *devices, TimestampTz now)
{
	const TierDeviceState *device = tier_devices_find(devices, effect->to_tablespace_oid);

	effect->not_measurable = obstacle(effect);
	effect->since = now;
	effect->before = effect->after;
	effect->device = NULL;
	if (device != NULL)
	{
		effect->device = device->device;
		effect->device_before = device->totals;
	}
}

/* How the new device compares with its profile, from the one moment to the other. */
static double
factor_since(TierEffect *effect, const TierDevices *devices, const TierCostProfile *profile)
{
	const TierDeviceState *device = tier_devices_find(devices, effect->to_tablespace_oid);
	TierEffectWork work;

	if (device == NULL || effect->device == NULL || strcmp(device->device, effect->device) != 0 ||
		device->observed_since > effect->since ||
		!tier_effect_work_between(&effect->device_before, &device->totals, &work))
		return NAN;
	return factor_of(device, &work, profile);
}

/*
 * Uses the figures of both devices, or of neither: a measured figure of one and a configured
 * figure of the other are not comparable.
 */
static void
measure(TierEffect *effect, const TierSet *set, const TierDevices *devices,
		TimestampTz writes_since, TimestampTz now)
{
	const TierCostProfile *from = tier_forecast_profile(set, effect->from_tablespace_oid);
	const TierCostProfile *to = tier_forecast_profile(set, effect->to_tablespace_oid);
	TierCostLoad load;
	double		to_factor;

	effect->not_measurable = obstacle(effect);
	if (effect->not_measurable != NULL)
		return;
	if (effect->sampled_since > effect->since ||
		!tier_effect_load(&effect->before, &effect->after,
						  tier_seconds_between(effect->since, now),
						  effect->is_permanent && writes_since != 0 &&
						  writes_since <= effect->since,
						  effect->size_bytes, tier_checkpoints_per_hour(), &load))
	{
		effect->not_measurable = "observation lost";
		return;
	}
	if (from == NULL || to == NULL)
	{
		effect->not_measurable = "in no tier";
		return;
	}
	to_factor = factor_since(effect, devices, to);
	effect->by_device = !isnan(effect->from_factor) && !isnan(to_factor);

	effect->unmoved_s_per_hour = tier_cost_busy_s_per_hour(&load, from);
	effect->measured_s_per_hour = tier_cost_busy_s_per_hour(&load, to);
	if (effect->by_device)
	{
		effect->unmoved_s_per_hour *= effect->from_factor;
		effect->measured_s_per_hour *= to_factor;
	}
}

/* A worker has no client, so it warns in the log. */
static void
warn_of(const TierWorseBatch *batch)
{
	ereport(MyBgworkerEntry != NULL ? LOG : WARNING,
			(errmsg("batch " INT64_FORMAT " has made things worse: "
					"it takes %.1f s of device time per hour more than without it",
					batch->batch_id, -batch->measured_s_per_hour),
			 isnan(batch->predicted_s_per_hour) ? 0 :
			 errdetail("It was predicted to %s %.1f s per hour. Measured: %d of its %d moves.",
					   batch->predicted_s_per_hour < 0 ? "take" : "save",
					   fabs(batch->predicted_s_per_hour),
					   batch->measured_moves, batch->moves),
			 errhint("CALL tiered_storage.undo_move(" INT64_FORMAT ") moves the relations back.",
					 batch->batch_id)));
}

/* Effects of which the one half or the other is due. */
typedef struct Settling
{
	const TierDevices *devices;
	const TierSet *set;
	TimestampTz writes_since;
	TimestampTz now;
	TimestampTz until;
	bool		has_started;	/* the time is over; else it begins */
	TierEffect *effect;			/* the one that is done now */
} Settling;

static void
settle_step(void *argument)
{
	Settling   *settling = argument;
	TierEffect *effect = settling->effect;

	tier_debug_relation("verify", effect->relation_oid);
	if (settling->has_started)
	{
		measure(effect, settling->set, settling->devices, settling->writes_since, settling->now);
		tier_catalog_settle_effect(effect, settling->now);
	}
	else
	{
		start(effect, settling->devices, settling->now);
		tier_catalog_start_effect(effect, settling->now);
	}
}

/*
 * MOST_EFFECTS at most.  Those that are left out stay open, and are not in the way of the others,
 * however many they are.
 */
static void
run_effects(Settling *settling, TierPass *pass, bool has_started, MemoryContext context)
{
	int			done = 0;
	int			left_out = 0;
	int			n;

	settling->has_started = has_started;
	do
	{
		TierEffect *effects = tier_catalog_load_effects(context, has_started, settling->until,
														left_out, MOST_EFFECTS, &n);

		for (int i = 0; i < n; i++)
		{
			ErrorData  *error = NULL;
			bool		skips = tier_pass_skips(pass, effects[i].relation_oid);

			CHECK_FOR_INTERRUPTS();
			settling->effect = &effects[i];
			if (!skips)
				error = tier_attempt(settle_step, settling);
			if (error != NULL)
				(void) tier_pass_failed(pass, effects[i].relation_oid, NULL, error);
			if (skips || error != NULL)
				left_out++;
			else
				done++;
		}
	} while (n == MOST_EFFECTS && done < MOST_EFFECTS);
}

/* The input and the result of judge_step(). */
typedef struct Judgment
{
	int64		batch_id;
	bool		is_worse;		/* then the rest is known */
	TierWorseBatch worse;
} Judgment;

static void
judge_step(void *argument)
{
	Judgment   *judgment = argument;

	judgment->is_worse = tier_catalog_judge_batch(judgment->batch_id, &judgment->worse);
}

/* Each in a separate subtransaction: few are complete at a time. */
static void
judge_batches(MemoryContext context)
{
	TierPass	pass;
	int			n;
	int64	   *batch_ids = tier_catalog_complete_batches(context, &n);

	tier_pass_begin(&pass, TIER_STEP_JUDGE);
	for (int i = 0; i < n; i++)
	{
		Judgment	judgment = {.batch_id = batch_ids[i]};
		Oid			key = (Oid) batch_ids[i];
		ErrorData  *error;

		if (tier_pass_skips(&pass, key))
			continue;
		error = tier_attempt(judge_step, &judgment);
		if (error != NULL)
			(void) tier_pass_failed(&pass, key, psprintf("batch " INT64_FORMAT, batch_ids[i]),
									error);
		else if (judgment.is_worse)
			warn_of(&judgment.worse);
	}
	tier_pass_end(&pass);
}

/* gone: relations that were dropped, or moved outside of the extension.  Inside a scope. */
static void
run(const TierDevices *devices, const Oid *gone, int ngone, TimestampTz now)
{
	MemoryContext context = CurrentMemoryContext;
	Settling	settling = {.devices = devices,.now = now};
	TierPass	pass;

	/* 1. Relations that have left their place, even if only for a while. */
	tier_catalog_follow_rebuilt();
	tier_catalog_settle_gone(gone, ngone, now);

	/* 2. The time of some is over, that of others begins. */
	settling.writes_since = tier_catalog_writes_since();
	settling.set = tier_catalog_load_tiers(context);
	tier_pass_begin(&pass, TIER_STEP_VERIFY);
	settling.until = now - EFFECT_PERIOD_US;
	run_effects(&settling, &pass, true, context);
	settling.until = now;
	run_effects(&settling, &pass, false, context);
	tier_pass_end(&pass);

	/* 3. Batches of which all is known now. */
	judge_batches(context);
}

bool
tier_verify_sample(int patience_ms)
{
	/* Goes also with an attempt that fails. */
	MemoryContext context = AllocSetContextCreate(CurTransactionContext,
												  "tiered_storage sample",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	TierSampleResult result;
	TierCatalogScope scope;
	bool		sampled;

	sampled = tier_sample_run(patience_ms, &result);
	if (sampled)
	{
		tier_catalog_enter(&scope);
		MemoryContextSwitchTo(context);
		run(result.devices, result.gone, result.ngone, result.sampled_at);
		tier_catalog_leave(&scope);
	}
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return sampled;
}
