/*-------------------------------------------------------------------------
 *
 * move/space.c
 *		Room for a move; see move/space.h.
 *
 * Runs in the process that moves.  What others have still to write is read from their
 * progress, which they announce themselves; with track_activities off nobody
 * announces anything, and only the looks on the way are left.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include "access/xlog.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "replication/slot.h"
#include "storage/lwlock.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/storage/device.h"
#include "src/move/progress.h"
#include "src/move/space.h"
#include "src/base/sql.h"

/*
 * The least that stays free for WAL: a few segments, which the server makes in
 * advance and when it recovers, and what a dozen movers write between two looks.
 */
#define LEAST_WAL_SEGMENTS 4
#define LEAST_WAL_BYTES (64.0 * 1024 * 1024)

/* What of a large file system is left to others, but never more than max_wal_size. */
#define WAL_RESERVE_FRACTION 0.05

#define TIER_BYTES_PER_MB (1024.0 * 1024.0)

/* A file system as it is now. */
typedef struct Room
{
	bool		known;
	dev_t		device;
	uint64		fs_id;			/* as in TierDevice; 0: unknown */
	double		free_bytes;
	double		total_bytes;
} Room;

/* With fs_id only if it is asked for, since that reads all mounts. */
static Room
look_at(const char *path, bool with_fs_id)
{
	struct statvfs fs;
	struct stat st;
	Room		room = {false};

	if (stat(path, &st) != 0 || statvfs(path, &fs) != 0)
		return room;
	room.known = true;
	room.device = st.st_dev;
	if (with_fs_id)
		(void) tier_device_free_bytes(path, &room.fs_id);
	room.free_bytes = (double) fs.f_bavail * fs.f_frsize;
	room.total_bytes = (double) fs.f_blocks * fs.f_frsize;
	return room;
}

static Room
look_at_tablespace(Oid tablespace_oid, bool with_fs_id)
{
	char		path[MAXPGPATH];

	tier_device_tablespace_path(path, sizeof(path), tablespace_oid);
	return look_at(path, with_fs_id);
}

static Room
look_at_wal(bool with_fs_id)
{
	char		path[MAXPGPATH];

	snprintf(path, sizeof(path), "%s/pg_wal", DataDir);
	return look_at(path, with_fs_id);
}

/* Subvolumes share the room of their file system, and have numbers of their own. */
static bool
share_room(const Room *a, const Room *b)
{
	if (!a->known || !b->known)
		return false;
	return a->fs_id != 0 && b->fs_id != 0 ? a->fs_id == b->fs_id : a->device == b->device;
}

double
tier_space_wal_reserve(double total_bytes)
{
	double		least = Max((double) LEAST_WAL_SEGMENTS * wal_segment_size, LEAST_WAL_BYTES);

	return Max(least,
			   Min(WAL_RESERVE_FRACTION * total_bytes, max_wal_size_mb * TIER_BYTES_PER_MB));
}

/* Does anything keep WAL beyond what checkpoints would leave? */
static bool
wal_may_be_retained(void)
{
	bool		found = false;

	if (XLogArchivingActive())
		return true;
	LWLockAcquire(ReplicationSlotControlLock, LW_SHARED);
	for (int i = 0; i < max_replication_slots && !found; i++)
		found = ReplicationSlotCtl->replication_slots[i].in_use;
	LWLockRelease(ReplicationSlotControlLock);
	return found;
}

/*
 * Bytes of WAL that may pile up while so much is copied: all of it is logged.
 * Checkpoints recycle what exceeds max_wal_size, unless an archiver or a
 * replication slot that lags holds it back.
 */
static double
wal_bytes_needed(double bytes)
{
	if (!XLogIsNeeded())
		return 0;
	if (wal_may_be_retained())
		return bytes * 1.01;
	return Min(bytes * 1.01, (2.0 * max_wal_size_mb + wal_keep_size_mb) * TIER_BYTES_PER_MB);
}

/* ---------------------------------------------------------------------
 * What others have still to write
 * ---------------------------------------------------------------------
 */

/* What moves that were announced before ours have still to write. */
typedef struct Others
{
	double		bytes;
	double		bytes_there;	/* of these, to the file system of our target */
} Others;

static Others
sum_others(int64 announced_us, const Room *target)
{
	Others		others = {0, 0};

	for (int i = 0; i < MaxBackends; i++)
	{
		TierAnnouncement other;
		Room		room;
		int			pid;

		if (!tier_progress_announced(i, &pid, &other) || pid == MyProcPid ||
			other.at_us > announced_us || (other.at_us == announced_us && pid > MyProcPid))
			continue;
		others.bytes += other.bytes;
		room = look_at_tablespace(other.tablespace_oid, true);
		if (share_room(&room, target))
			others.bytes_there += other.bytes;
	}
	return others;
}

TierSpaceFlight
tier_space_flight(Oid tablespace_oid)
{
	TierSpaceFlight flight = {0};

	for (int i = 0; i < MaxBackends; i++)
	{
		TierAnnouncement other;
		bool		is_own;
		int			pid;

		if (!tier_progress_announced(i, &pid, &other) || pid == MyProcPid)
			continue;
		is_own = other.database_oid == MyDatabaseId;
		if (other.tablespace_oid == tablespace_oid)
		{
			flight.to_write_bytes += other.bytes;
			flight.arriving_bytes += is_own ? other.leaving_bytes : 0;
		}
		if (other.from_oid == tablespace_oid)
		{
			flight.leaving_bytes += other.leaving_bytes;
			flight.leaving_own_bytes += is_own ? other.leaving_bytes : 0;
		}
	}
	return flight;
}

/* ---------------------------------------------------------------------
 * Questions
 * ---------------------------------------------------------------------
 */

static char *
name_of(Oid tablespace_oid)
{
	char	   *name = get_tablespace_name(tablespace_oid);

	return name ? name : "?";
}

static char *
others_text(double bytes)
{
	return bytes > 0 ?
		psprintf(", %s are still to be written by other moves", tier_size_text(bytes)) : "";
}

TierShortage
tier_space_admit(Oid tablespace_oid, Oid from_tablespace_oid, double reserve_bytes,
				 int64 size_bytes)
{
	TierShortage shortage = {NULL, NULL};
	int64		now_us = tier_clock_monotonic_us();
	TierAnnouncement announcement = {tablespace_oid, size_bytes, now_us, from_tablespace_oid,
	size_bytes, InvalidOid};
	Room		target;
	Room		wal;
	Others		others;
	double		wal_needed;
	double		wal_reserve;
	bool		together;

	tier_progress_announce(&announcement);
	target = look_at_tablespace(tablespace_oid, true);
	wal = look_at_wal(true);
	others = sum_others(now_us, &target);
	together = share_room(&target, &wal);
	wal_needed = wal_bytes_needed(size_bytes + others.bytes);
	wal_reserve = tier_space_wal_reserve(wal.total_bytes);
	if (target.known)
	{
		double		needed = size_bytes + (together ? wal_needed : 0);
		double		reserve = together ? Max(reserve_bytes, wal_reserve) : reserve_bytes;

		if (target.free_bytes - others.bytes_there - needed < reserve)
		{
			shortage.message = psprintf("not enough space in tablespace \"%s\": "
										"%s are needed%s and %s reserved, %s are free%s",
										name_of(tablespace_oid), tier_size_text(needed),
										together ?
										" (with WAL, which is on the same file system)" : "",
										tier_size_text(reserve), tier_size_text(target.free_bytes),
										others_text(others.bytes_there));
			shortage.hint = reserve > 0 && reserve == reserve_bytes ?
				"Free space there, or lower the reserve_fraction of the tier." :
				"Free space there.";
			return shortage;
		}
	}
	if (wal.known && wal.free_bytes - wal_needed < wal_reserve)
	{
		shortage.message = psprintf("not enough space for WAL: "
									"the move may write %s and %s are reserved, %s are free%s",
									tier_size_text(wal_bytes_needed(size_bytes)),
									tier_size_text(wal_reserve),
									tier_size_text(wal.free_bytes), others_text(others.bytes));
		shortage.hint = wal_may_be_retained() ?
			"Free space in the file system of pg_wal. "
			"An archiver or a replication slot may keep WAL there." :
			"Free space in the file system of pg_wal.";
	}
	return shortage;
}

TierShortage
tier_space_look(Oid tablespace_oid, double reserve_bytes)
{
	TierShortage shortage = {NULL, NULL};
	Room		target = look_at_tablespace(tablespace_oid, false);
	Room		wal = look_at_wal(false);
	int64		next = Min(TIER_SPACE_STEP_BYTES, tier_progress_announced_bytes());

	if (target.known && target.free_bytes - next < reserve_bytes)
	{
		shortage.message = psprintf("no space is left in tablespace \"%s\": "
									"%s are free, %s reserved",
									name_of(tablespace_oid), tier_size_text(target.free_bytes),
									tier_size_text(reserve_bytes));
		shortage.hint = "Free space there, or lower the reserve_fraction of the tier.";
	}
	else if (XLogIsNeeded() && wal.known &&
			 wal.free_bytes < tier_space_wal_reserve(wal.total_bytes))
	{
		shortage.message = psprintf("no space is left for WAL: %s are free, %s reserved",
									tier_size_text(wal.free_bytes),
									tier_size_text(tier_space_wal_reserve(wal.total_bytes)));
		shortage.hint = "Free space in the file system of pg_wal. "
			"An archiver or a replication slot may keep WAL there.";
	}
	return shortage;
}

void
tier_space_written(int64 bytes)
{
	tier_progress_announced_written(bytes);
}

void
tier_space_done(void)
{
	TierAnnouncement nothing = {0};

	tier_progress_announce(&nothing);
}
