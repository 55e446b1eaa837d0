/*-------------------------------------------------------------------------
 *
 * observe/device_io.c
 *		I/O of devices, compared with the requests of PostgreSQL.
 *
 * Runs within a sample, in one process for a database at a time (the lock on
 * _tiered_storage.sampler).
 *
 * The predicted reads of a device are the sum of the reads that should have reached it
 * (observe/device_reads.c, before any factor); the kernel counts its actual reads.  Least
 * squares over periods give a factor.  The unexplained rest shows how far the factor can be
 * trusted: it contains the I/O of other programs, backups and relations of other databases.
 *
 * There are two such fits, for bytes and for requests.  Sequential reads cost bytes, and
 * hardly any requests, because the kernel reads ahead; random ones cost requests, and their
 * bytes say little: where a part of a file is in the page cache, the kernel takes neighbors of
 * random reads for runs, and reads ahead.
 *
 * Counters of a relation are reported when a transaction ends, those of a device at once.  So
 * periods are combined into a window until no open transaction is old in comparison with it,
 * but for an hour at most.
 *
 * model/device_state.h documents the state of a device.  Bounded: devices and file systems per
 * sample.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_database.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "pgstat.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/storage/device.h"
#include "src/observe/device_io.h"
#include "src/model/heat.h"
#include "src/storage/database_files.h"
#include "src/server/processes.h"
#include "src/storage/mount.h"
#include "src/storage/store.h"

#define MAX_DEVICES 64

/* Windows: see the top.  A transaction is old from this share of it on. */
#define LONGEST_WINDOW_S 3600.0
#define OLD_TRANSACTION_SHARE 0.1
#define OLD_TRANSACTION_S 1.0

/* Less than this is no load that a fit could learn from. */
#define QUIET_BYTES 1048576.0

/* The kernel's own default, where its setting cannot be read. */
#define DEFAULT_READ_AHEAD_KB 128

#define SECTOR_BYTES 512		/* in the kernel's statistics, always */
#define STAT_LINE_BYTES 512

/* Where there are too few requests, their fit says nothing. */
bool
tier_device_is_explained(const TierDeviceState *state)
{
	return tier_fit_explains(&state->fit) &&
		(!tier_fit_is_known(&state->request_fit) || tier_fit_explains(&state->request_fit));
}

const TierDeviceState *
tier_devices_find(const TierDevices *devices, Oid tablespace_oid)
{
	for (int i = 0; i < devices->ndevices; i++)
	{
		const TierDeviceState *state = &devices->devices[i];

		for (int j = 0; j < state->ntablespaces; j++)
			if (state->tablespaces[j] == tablespace_oid)
				return state;
	}
	return NULL;
}

/* ---------------------------------------------------------------------
 * Devices and their counters
 * ---------------------------------------------------------------------
 */

/* Names of devices by the number of the file system, for one sample. */
typedef struct FileSystem
{
	dev_t		number;
	const char *device;			/* NULL: none that is known */
} FileSystem;

#define MAX_FILE_SYSTEMS 256

typedef struct FileSystems
{
	int			n;
	FileSystem	entries[MAX_FILE_SYSTEMS];
} FileSystems;

/*
 * The name of a tablespace's device; NULL: none that is known.  From a
 * path to the device takes many steps, so it is done once for each file system.
 */
static const char *
device_of(FileSystems *known, Oid tablespace_oid)
{
	char		path[TABLESPACE_PATH_BYTES];
	struct stat st;
	const char *device;

	tier_device_tablespace_path(path, sizeof(path), tablespace_oid);
	if (!tier_store_answers(tablespace_oid) || stat(path, &st) != 0)
		return NULL;
	for (int i = 0; i < known->n; i++)
		if (known->entries[i].number == st.st_dev)
			return known->entries[i].device;

	device = tier_device_lookup(tablespace_oid, tier_debug_root())->device;
	if (known->n < MAX_FILE_SYSTEMS)
	{
		known->entries[known->n].number = st.st_dev;
		known->entries[known->n++].device = device;
	}
	return device;
}

static TierDeviceState *
find_or_add_device(TierDevices *devices, const char *name)
{
	TierDeviceState *state;

	for (int i = 0; i < devices->ndevices; i++)
		if (strcmp(devices->devices[i].device, name) == 0)
			return &devices->devices[i];
	if (devices->ndevices == MAX_DEVICES)
		return NULL;

	/* One is always there, so that this can grow it. */
	devices->devices = repalloc(devices->devices,
								sizeof(TierDeviceState) * (devices->ndevices + 1));
	state = &devices->devices[devices->ndevices++];
	memset(state, 0, sizeof(TierDeviceState));
	state->device = pstrdup(name);
	state->instance = "";
	return state;
}

/* A device with none of its former tablespaces is taken for another of that name. */
static bool
has_common_tablespace(const Oid *a, int na, const Oid *b, int nb)
{
	for (int i = 0; i < na; i++)
		if (bsearch(&a[i], b, nb, sizeof(Oid), oid_cmp) != NULL)
			return true;
	return false;
}

static void
set_tablespaces(TierDeviceState *state, Oid *tablespaces, int n)
{
	if (!has_common_tablespace(state->tablespaces, state->ntablespaces, tablespaces, n))
	{
		memset(&state->fit, 0, sizeof(state->fit));
		memset(&state->request_fit, 0, sizeof(state->request_fit));
		memset(&state->rates, 0, sizeof(state->rates));
		memset(&state->totals, 0, sizeof(state->totals));
		state->fit_at = state->counters_at = state->observed_since = state->window_since = 0;
	}
	state->tablespaces = tablespaces;
	state->ntablespaces = n;
	state->present = true;
}

/* Finds the devices beneath all tablespaces. */
static void
find_devices(TierDevices *devices)
{
	FileSystems *known = palloc0(sizeof(FileSystems));
	const List *tablespaces = tier_tablespaces();
	int			n = list_length(tablespaces);
	const char **names = palloc(sizeof(char *) * Max(n, 1));

	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		names[i] = device_of(known, list_nth_oid(tablespaces, i));
	}
	for (int i = 0; i < n; i++)
	{
		TierDeviceState *state;
		Oid		   *members;
		int			nmembers = 0;

		if (names[i] == NULL)
			continue;
		state = find_or_add_device(devices, names[i]);
		if (state == NULL || state->present)
			continue;
		members = palloc(sizeof(Oid) * n);
		for (int j = i; j < n; j++)
			if (names[j] != NULL && strcmp(names[j], names[i]) == 0)
				members[nmembers++] = list_nth_oid(tablespaces, j);
		set_tablespaces(state, members, nmembers);
	}
	pfree(known);

	/* Where they are now, no two devices have the same tablespace. */
	for (int i = 0; i < devices->ndevices; i++)
		if (!devices->devices[i].present)
			devices->devices[i].ntablespaces = 0;
}

/*
 * Identifies one lifetime of the counters: the boot, and the sequence number that the kernel
 * assigns to each new disk (5.15 and up).
 */
static char *
device_instance(const char *directory)
{
	char		path[MAXPGPATH];
	char		boot[VALUE_BYTES] = "";
	char		sequence[VALUE_BYTES] = "";

	if (tier_path_build(path, "%s/proc/sys/kernel/random", tier_debug_root()))
		(void) tier_path_read_value(path, "boot_id", boot, sizeof(boot));
	(void) tier_path_read_value(directory, "diskseq", sequence, sizeof(sequence));
	return psprintf("%s/%s", boot, sequence);
}

/*
 * Reads the kernel's counters of a device; *instance identifies their lifetime.  Returns false
 * if it has none, or if they cannot be read.
 */
static bool
read_counters(const char *device, TierDeviceCounters *counters, char **instance)
{
	char		directory[MAXPGPATH];
	char		line[STAT_LINE_BYTES];
	long long	reads;
	long long	sectors_read;
	long long	writes;
	long long	sectors_written;
	long long	busy_ms;
	long long	read_ms;
	long long	write_ms;

	/* Fields: see the kernel's Documentation/block/stat.rst. */
	if (!tier_path_build(directory, "%s/sys/class/block/%s", tier_debug_root(), device) ||
		!tier_path_read_value(directory, "stat", line, sizeof(line)) ||
		sscanf(line, "%lld %*s %lld %lld %lld %*s %lld %lld %*s %lld",
			   &reads, &sectors_read, &read_ms, &writes, &sectors_written, &write_ms,
			   &busy_ms) != 7 ||
		reads < 0 || writes < 0 || busy_ms < 0 || read_ms < 0 || write_ms < 0 ||
		sectors_read < 0 || sectors_read > PG_INT64_MAX / SECTOR_BYTES ||
		sectors_written < 0 || sectors_written > PG_INT64_MAX / SECTOR_BYTES)
		return false;
	counters->reads = reads;
	counters->read_bytes = sectors_read * SECTOR_BYTES;
	counters->writes = writes;
	counters->write_bytes = sectors_written * SECTOR_BYTES;
	counters->busy_ms = busy_ms;
	counters->read_ms = read_ms;
	counters->write_ms = write_ms;
	*instance = device_instance(directory);
	return true;
}

static bool
went_back(const TierDeviceCounters *before, const TierDeviceCounters *now)
{
	return now->reads < before->reads || now->read_bytes < before->read_bytes ||
		now->writes < before->writes || now->write_bytes < before->write_bytes ||
		now->busy_ms < before->busy_ms;
}

/* ---------------------------------------------------------------------
 * Prediction and fit
 * ---------------------------------------------------------------------
 */

/* Blocks read and bytes of temporary files, of all databases of the cluster. */
static void
read_cluster_totals(int64 *blocks_read, int64 *temp_bytes)
{
	Relation	catalog = table_open(DatabaseRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	List	   *databases = list_make1_oid(InvalidOid); /* shared catalogs */
	ListCell   *cell;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		databases = lappend_oid(databases, ((Form_pg_database) GETSTRUCT(tuple))->oid);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);

	*blocks_read = *temp_bytes = 0;
	foreach(cell, databases)
	{
		const PgStat_StatDBEntry *entry = pgstat_fetch_stat_dbentry(lfirst_oid(cell));

		if (entry == NULL)
			continue;
		*blocks_read += Max(tier_compat_database_blocks_read(entry), 0);
		*temp_bytes += Max(tier_compat_database_temp_bytes(entry), 0);
	}
}

/* For how many seconds the oldest counters of others have not been handed on. */
static double
oldest_transaction_s(void)
{
	TimestampTz oldest = tier_processes_oldest();

	return oldest == 0 ? 0.0 : tier_seconds_between(oldest, GetCurrentTimestamp());
}

/*
 * Adds the window to the fit.  Reads of other databases may have come from this device or from
 * another one: the more of them, the less the window weighs.
 */
static void
close_window(TierDeviceState *state, TimestampTz now)
{
	double		ours = state->window_predicted;
	double		all = ours + state->window_foreign;

	if (ours >= QUIET_BYTES || state->window_read >= QUIET_BYTES)
	{
		double		weight = all > 0 ? ours / all : 1.0;
		double		elapsed_s = 0.0;

		if (state->fit_at != 0)
			elapsed_s = tier_seconds_between(state->fit_at, now);
		tier_fit_add(&state->fit, ours, state->window_read, weight, elapsed_s,
					 TIER_HALF_LIFE_FAST_S);
		tier_fit_add(&state->request_fit, state->window_predicted_reads * BLCKSZ,
					 state->window_reads * BLCKSZ,
					 weight, elapsed_s, TIER_HALF_LIFE_FAST_S);
		state->fit_at = now;
	}
	state->window_since = 0;
}

static void
advance(double *rate, double events, double period_s)
{
	*rate = tier_heat_advance(*rate, events, period_s, TIER_HALF_LIFE_FAST_S);
}

static void
add_period(TierDeviceState *state, TimestampTz from, TimestampTz now, double oldest_s)
{
	TierDeviceRates *rates = &state->rates;
	double		device_ms = tier_effect_device_ms(state->last.busy_ms,
												  state->last.read_ms + state->last.write_ms);
	double		window_s;

	if (state->observed_since == 0)
		state->observed_since = from;
	advance(&rates->reads, state->last.reads, state->period_s);
	advance(&rates->read_bytes, state->last.read_bytes, state->period_s);
	advance(&rates->writes, state->last.writes, state->period_s);
	advance(&rates->write_bytes, state->last.write_bytes, state->period_s);
	advance(&rates->busy_ms, state->last.busy_ms, state->period_s);
	advance(&rates->device_ms, device_ms, state->period_s);
	state->totals.reads += state->last.reads;
	state->totals.read_bytes += state->last.read_bytes;
	state->totals.writes += state->last.writes;
	state->totals.write_bytes += state->last.write_bytes;
	state->totals.device_ms += device_ms;

	if (state->window_since == 0)
	{
		state->window_since = from;
		state->window_predicted = state->window_read = state->window_foreign = 0.0;
		state->window_predicted_reads = state->window_reads = 0.0;
	}
	state->window_predicted += state->predicted_bytes;
	state->window_read += state->last.read_bytes;
	state->window_predicted_reads += state->predicted_reads;
	state->window_reads += state->last.reads;
	state->window_foreign += state->foreign_bytes;
	window_s = tier_seconds_between(state->window_since, now);
	if (oldest_s <= Max(OLD_TRANSACTION_S, OLD_TRANSACTION_SHARE * window_s) ||
		window_s >= LONGEST_WINDOW_S)
		close_window(state, now);
}

static int
read_queue_kb(const char *device, const char *name)
{
	char		directory[MAXPGPATH];
	char		value[VALUE_BYTES];
	int			kb = 0;

	if (tier_path_build(directory, "%s/sys/class/block/%s/queue", tier_debug_root(), device) &&
		tier_path_read_value(directory, name, value, sizeof(value)))
		kb = atoi(value);
	return kb;
}

/* Blocks that one request of a sequential scan reads. */
static double
blocks_per_request(const char *device)
{
	int			ahead_kb = read_queue_kb(device, "read_ahead_kb");
	int			most_kb = read_queue_kb(device, "max_sectors_kb");

	if (ahead_kb <= 0)
		ahead_kb = DEFAULT_READ_AHEAD_KB;
	if (most_kb > 0)
		ahead_kb = Min(ahead_kb, most_kb);
	return Max(ahead_kb * 1024.0 / BLCKSZ, 1.0);
}

double
tier_device_request_bytes(const TierDeviceState *state)
{
	return blocks_per_request(state->device) * BLCKSZ;
}

/* The predicted reads of this database from a device, before any factor. */
typedef struct Prediction
{
	double		blocks_per_request; /* of a long scan */
	double		blocks;
	double		requests;
} Prediction;

static Prediction *
predict(const TierDevices *devices, const TierRelationState *states, int nstates)
{
	Prediction *predictions = palloc0(sizeof(Prediction) * Max(devices->ndevices, 1));

	for (int i = 0; i < devices->ndevices; i++)
		if (devices->devices[i].present)
			predictions[i].blocks_per_request = blocks_per_request(devices->devices[i].device);
	for (int i = 0; i < nstates; i++)
	{
		const TierRelationState *state = &states[i];
		const TierDeviceState *device;
		Prediction *prediction;
		double		sequential;

		if (!state->period.active)
			continue;
		device = tier_devices_find(devices, state->id.tablespace_oid);
		if (device == NULL)
			continue;
		prediction = &predictions[device - devices->devices];
		sequential = state->period.device_sequential + state->period.device_maintenance;
		prediction->blocks += state->period.device_random + sequential;
		prediction->requests += state->period.device_random +
			tier_fit_scan_requests(sequential, Max(state->stored.size_bytes, 0) / (double) BLCKSZ,
								   prediction->blocks_per_request);
	}
	return predictions;
}

/* The counters are of one device, because find has discarded the state of a replaced one. */
static void
count_wear(TierDeviceState *state, const TierDeviceCounters *now_counters, bool goes_on,
		   TimestampTz now)
{
	state->wear_s = state->wear_bytes = 0.0;
	if (state->counters_at == 0 || now <= state->counters_at)
		return;
	state->wear_s = tier_seconds_between(state->counters_at, now);
	state->wear_bytes = (double) now_counters->write_bytes -
		(goes_on ? (double) state->counters.write_bytes : 0.0);
}

/* Brings one device up to date; foreign: bytes. */
static void
observe_device(TierDeviceState *state, const Prediction *predicted, double foreign,
			   TimestampTz last_sample_at, TimestampTz now, double oldest_s)
{
	TierDeviceCounters counters = {0};
	char	   *instance = state->instance;
	bool		readable = read_counters(state->device, &counters, &instance);
	bool		goes_on = readable && strcmp(state->instance, instance) == 0 &&
	!went_back(&state->counters, &counters);
	bool		continues = goes_on && last_sample_at != 0 && now > last_sample_at &&
	state->counters_at == last_sample_at;

	state->wear_s = 0.0;
	if (readable)
		count_wear(state, &counters, goes_on, now);
	state->period_s = continues ? tier_seconds_between(state->counters_at, now) : 0.0;
	memset(&state->last, 0, sizeof(state->last));
	state->predicted_bytes = state->predicted_reads = 0.0;
	state->foreign_bytes = continues ? foreign : 0.0;
	if (continues)
	{
		state->last.reads = counters.reads - state->counters.reads;
		state->last.read_bytes = counters.read_bytes - state->counters.read_bytes;
		state->last.writes = counters.writes - state->counters.writes;
		state->last.write_bytes = counters.write_bytes - state->counters.write_bytes;
		state->last.busy_ms = counters.busy_ms - state->counters.busy_ms;
		state->last.read_ms = (uint32) counters.read_ms - (uint32) state->counters.read_ms;
		state->last.write_ms = (uint32) counters.write_ms - (uint32) state->counters.write_ms;
		state->predicted_bytes = predicted->blocks * BLCKSZ;
		state->predicted_reads = predicted->requests;
		add_period(state, state->counters_at, now, oldest_s);
	}
	else
		state->window_since = 0;
	state->counters = counters;
	state->counters_at = readable ? now : 0;
	state->instance = instance;
}

/* Of these relations, on this server. */
static double
blocks_read(const TierRelationState *states, int nstates)
{
	double		ours = 0.0;

	for (int i = 0; i < nstates; i++)
		if (states[i].period.active)
			ours += states[i].period.attribution.misses -
				states[i].period.standby_attribution.misses +
				states[i].period.maintenance_reads + states[i].period.added_blocks;
	return ours;
}

double
tier_device_foreign_blocks(const TierDevices *devices, const TierRelationState *states,
						   int nstates)
{
	const TierDeviceState *latest = NULL;
	int64		blocks;
	int64		temp_bytes;

	for (int i = 0; i < devices->ndevices; i++)
		if (latest == NULL || devices->devices[i].counters_at > latest->counters_at)
			latest = &devices->devices[i];
	if (latest == NULL || latest->counters_at == 0)
		return -1.0;

	/*
	 * A counter that went back was reset: the reads of other databases are
	 * not known.
	 */
	read_cluster_totals(&blocks, &temp_bytes);
	if (blocks < latest->cluster_blocks_read)
		return -1.0;
	return Max(blocks - latest->cluster_blocks_read - blocks_read(states, nstates), 0.0);
}

bool
tier_device_counters_are_late(double period_s)
{
	return oldest_transaction_s() > Max(OLD_TRANSACTION_S, OLD_TRANSACTION_SHARE * period_s);
}

void
tier_device_io_observe(TierDevices *devices, const TierRelationState *states, int nstates,
					   TimestampTz last_sample_at, TimestampTz now)
{
	double		oldest_s = oldest_transaction_s();
	double		ours = blocks_read(states, nstates);
	Prediction *predicted;
	int64		cluster_blocks_read;
	int64		temp_bytes;

	find_devices(devices);
	predicted = predict(devices, states, nstates);
	read_cluster_totals(&cluster_blocks_read, &temp_bytes);
	for (int i = 0; i < devices->ndevices; i++)
	{
		TierDeviceState *state = &devices->devices[i];
		double		foreign;

		if (!state->present)
			continue;

		/* A counter that went back was reset: what others did is not known. */
		foreign = Max((double) (cluster_blocks_read - state->cluster_blocks_read) - ours, 0.0) *
			BLCKSZ +
			Max(temp_bytes - state->cluster_temp_bytes, 0);
		state->cluster_blocks_read = cluster_blocks_read;
		state->cluster_temp_bytes = temp_bytes;
		observe_device(state, &predicted[i], foreign,
					   last_sample_at, now, oldest_s);
	}
}

bool
tier_device_holds_wal(const TierDeviceState *device)
{
	const char *wal = tier_device_beneath("pg_wal", tier_debug_root());

	return wal != NULL && strcmp(wal, device->device) == 0;
}
