/*-------------------------------------------------------------------------
 *
 * move/space.c
 *		Space for a move; see move/space.h.
 *
 * Runs in the process that moves.  The bytes that other moves have yet to write are read from
 * their progress, in which they announce them: a reservation that cannot be left behind,
 * because it ends with the process.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/statvfs.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "replication/slot.h"
#include "storage/lwlock.h"

#include "src/compat.h"
#include "src/storage/database_files.h"
#include "src/storage/device.h"
#include "src/storage/store.h"
#include "src/move/progress.h"
#include "src/move/space.h"
#include "src/base/sql.h"

/*
 * The least that stays free for WAL: a few segments, which the server makes in
 * advance and when it recovers, and what a dozen movers write between two looks.
 */
#define LEAST_WAL_SEGMENTS 4
#define LEAST_WAL_BYTES (64.0 * 1024 * 1024)

/* The part of a large file system that stays free for others, but at most max_wal_size. */
#define WAL_RESERVE_FRACTION 0.05

#define TIER_BYTES_PER_MB (1024.0 * 1024.0)

/*
 * All blocks go into the WAL, several in a record: what records and the pages of the WAL
 * have of headers is less than that.
 */
#define WAL_BYTES_PER_BYTE 1.01

/* With fs_id only if it is asked for, since that may read all mounts. */
static TierRoom
look_at(const char *path, bool with_fs_id)
{
	struct statvfs fs;
	struct stat st;
	TierRoom	room = {false};

	if (stat(path, &st) != 0 || statvfs(path, &fs) != 0)
		return room;
	room.known = true;
	room.device = st.st_dev;
	if (with_fs_id)
		room.fs_id = tier_device_fs_id(path);
	room.free_bytes = (double) fs.f_bavail * fs.f_frsize;
	room.total_bytes = (double) fs.f_blocks * fs.f_frsize;
	return room;
}

static TierRoom
look_at_tablespace(Oid tablespace_oid, bool with_fs_id)
{
	char		path[MAXPGPATH];

	if (!tier_store_answers(tablespace_oid))
		return (TierRoom)
	{
		false
	};
	tier_device_tablespace_path(path, sizeof(path), tablespace_oid);
	return look_at(path, with_fs_id);
}

static TierRoom
look_at_wal(bool with_fs_id)
{
	char		path[MAXPGPATH];

	snprintf(path, sizeof(path), "%s/pg_wal", DataDir);
	return look_at(path, with_fs_id);
}

/* Subvolumes share the room of their file system, and have numbers of their own. */
static bool
share_room(const TierRoom *a, const TierRoom *b)
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

/* Returns true if archiving or a slot may retain WAL beyond the next checkpoints. */
bool
tier_space_wal_is_retained(void)
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

double
tier_space_wal_bytes(double logged_bytes)
{
	return XLogIsNeeded() ? logged_bytes * WAL_BYTES_PER_BYTE : 0.0;
}

/*
 * Bytes of WAL that may pile up while so much is copied.  Checkpoints recycle what
 * exceeds max_wal_size, unless an archiver or a replication slot that lags holds it back.
 */
static double
wal_bytes_needed(double bytes)
{
	double		written = tier_space_wal_bytes(bytes);

	return tier_space_wal_is_retained() ? written :
		Min(written, (2.0 * max_wal_size_mb + wal_keep_size_mb) * TIER_BYTES_PER_MB);
}

/* ---------------------------------------------------------------------
 * Bytes that other moves have still to write
 * ---------------------------------------------------------------------
 */

/* The announcement of process number i, if it is another process and announced earlier. */
static bool
is_ahead(int i, int64 announced_us, TierAnnouncement *other)
{
	int			pid;

	return tier_progress_announced(i, &pid, other) && pid != MyProcPid &&
		(other->at_us < announced_us || (other->at_us == announced_us && pid < MyProcPid));
}

/* Of moves that were announced before ours. */
static void
add_others(TierSpace *space, int64 announced_us)
{
	for (int i = 0; i < MaxBackends; i++)
	{
		TierAnnouncement other;
		TierRoom	room;

		if (!is_ahead(i, announced_us, &other))
			continue;
		space->others_bytes += other.bytes;
		room = look_at_tablespace(other.tablespace_oid, true);
		if (share_room(&room, &space->target))
			space->others_there_bytes += other.bytes;
	}
}

double
tier_space_arriving(Oid tablespace_oid, int64 announced_us)
{
	double		bytes = 0;

	for (int i = 0; i < MaxBackends; i++)
	{
		TierAnnouncement other;

		if (is_ahead(i, announced_us, &other) && other.tablespace_oid == tablespace_oid)
			bytes += other.bytes;
	}
	return bytes;
}

/*
 * The order matters: bytes that another process writes in between, and withdraws from its
 * announcement, are counted twice instead of missed.
 */
double
tier_space_taken(const TierSpace *space, Oid tablespace_oid)
{
	double		bytes = tier_space_arriving(tablespace_oid, space->announced_us);

	return bytes + tier_database_files_of_all(tablespace_oid);
}

TierSpaceFlight
tier_space_flight(Oid tablespace_oid)
{
	TierSpaceFlight flight = {0};
	int64		own_at_us = tier_progress_announced_at();

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
			flight.to_write_own_bytes += is_own ? other.bytes : 0;
		}
		if (other.from_oid == tablespace_oid && is_ahead(i, own_at_us, &other))
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
others_text(double bytes)
{
	return bytes > 0 ?
		psprintf(", %s are still to be written by other moves", tier_size_text(bytes)) : "";
}

int64
tier_space_announce(Oid tablespace_oid, Oid from_tablespace_oid, int64 size_bytes)
{
	TierAnnouncement announcement = {tablespace_oid, size_bytes, 0, from_tablespace_oid,
	size_bytes, InvalidOid};

	return tier_progress_announce(&announcement);
}

TierSpace
tier_space_measure(Oid tablespace_oid, int64 announced_us)
{
	TierSpace	space = {0};

	space.tablespace_oid = tablespace_oid;
	space.announced_us = announced_us;
	space.target = look_at_tablespace(tablespace_oid, true);
	space.wal = look_at_wal(true);
	space.together = share_room(&space.target, &space.wal);
	add_others(&space, announced_us);
	return space;
}

TierSpaceNeed
tier_space_need(const TierSpace *space, double reserve_bytes, double size_bytes,
				double logged_bytes)
{
	TierSpaceNeed need;

	need.wal_bytes = wal_bytes_needed(logged_bytes + space->others_bytes);
	need.own_wal_bytes = wal_bytes_needed(logged_bytes);
	need.wal_reserve_bytes = tier_space_wal_reserve(space->wal.total_bytes);
	need.bytes = size_bytes + (space->together ? need.wal_bytes : 0);
	need.reserve_bytes = space->together ? Max(reserve_bytes, need.wal_reserve_bytes) :
		reserve_bytes;
	return need;
}

TierObstacle
tier_space_shortage(const TierSpace *space, double reserve_bytes, double size_bytes,
					double logged_bytes)
{
	TierSpaceNeed need = tier_space_need(space, reserve_bytes, size_bytes, logged_bytes);
	double		free_bytes = space->target.free_bytes - space->earlier_bytes;
	TierObstacle shortage = {.sqlstate = ERRCODE_DISK_FULL};

	if (!space->target.known ||
		free_bytes - space->others_there_bytes - need.bytes >= need.reserve_bytes)
		return shortage;
	shortage.message = psprintf("not enough space in tablespace \"%s\": "
								"%s are needed%s and %s reserved, %s are free%s",
								tier_tablespace_name(space->tablespace_oid),
								tier_size_text(need.bytes),
								space->together ?
								" (with WAL, which is on the same file system)" : "",
								tier_size_text(need.reserve_bytes),
								tier_size_text(Max(free_bytes, 0.0)),
								others_text(space->others_there_bytes));
	shortage.hint = need.reserve_bytes > 0 && need.reserve_bytes == reserve_bytes ?
		"Free space there, or lower the reserve_fraction of the tier." :
		"Free space there.";
	return shortage;
}

TierObstacle
tier_space_wal_shortage(const TierSpace *space, double logged_bytes)
{
	TierSpaceNeed need = tier_space_need(space, 0, logged_bytes, logged_bytes);
	TierObstacle shortage = {.sqlstate = ERRCODE_DISK_FULL};

	if (need.own_wal_bytes <= 0 || !space->wal.known ||
		space->wal.free_bytes - need.wal_bytes >= need.wal_reserve_bytes)
		return shortage;
	shortage.message = psprintf("not enough space for WAL: "
								"the move may write %s and %s are reserved, %s are free%s",
								tier_size_text(need.own_wal_bytes),
								tier_size_text(need.wal_reserve_bytes),
								tier_size_text(space->wal.free_bytes),
								others_text(space->others_bytes));
	shortage.hint = tier_space_wal_is_retained() ?
		"Free space in the file system of pg_wal. "
		"An archiver or a replication slot may keep WAL there." :
		"Free space in the file system of pg_wal.";
	return shortage;
}

bool
tier_space_shares_room(const TierSpace *space, Oid tablespace_oid)
{
	TierRoom	room = look_at_tablespace(tablespace_oid, true);

	return share_room(&room, &space->target);
}

static bool
is_short(const TierRoom *wal)
{
	return wal->known && wal->free_bytes < tier_space_wal_reserve(wal->total_bytes);
}

bool
tier_space_wal_is_short(void)
{
	TierRoom	wal = look_at_wal(false);

	return is_short(&wal);
}

TierObstacle
tier_space_look(Oid tablespace_oid, double reserve_bytes)
{
	TierObstacle shortage = {.sqlstate = ERRCODE_DISK_FULL};
	TierRoom	target = look_at_tablespace(tablespace_oid, false);
	TierRoom	wal = look_at_wal(false);
	int64		next = Min(TIER_SPACE_STEP_BYTES, tier_progress_announced_bytes());

	if (target.known && target.free_bytes - next < reserve_bytes)
	{
		shortage.message = psprintf("no space is left in tablespace \"%s\": "
									"%s are free, %s reserved",
									tier_tablespace_name(tablespace_oid),
									tier_size_text(target.free_bytes),
									tier_size_text(reserve_bytes));
		shortage.hint = "Free space there, or lower the reserve_fraction of the tier.";
	}
	else if (XLogIsNeeded() && is_short(&wal))
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

	(void) tier_progress_announce(&nothing);
}
