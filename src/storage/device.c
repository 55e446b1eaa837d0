/*-------------------------------------------------------------------------
 *
 * storage/device.c
 *		The device beneath a tablespace, and its free space.
 *
 * Runs in any process connected to the cluster; takes no lock and keeps
 * nothing between two calls.
 *
 * The way down: the directory's st_dev and path lead to a mount in
 * /proc/self/mountinfo; the mount, or st_dev itself, to the number of a block
 * device; its directory in sysfs to the whole disk, and through slaves/ to
 * the disks below device mapper and md; those say what they are.  Each step is
 * a function that may say "unknown"; none raises an error but for memory and
 * interrupts.  Mounts are the business of storage/mount.c.
 *
 * /sys is not trusted to be small or free of cycles: loops have the bounds
 * below.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#endif
#include <unistd.h>

#include "catalog/pg_tablespace_d.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "src/storage/device.h"
#include "src/storage/mount.h"
#include "src/storage/store.h"

/* Stacked devices: levels, disks of one device, and disks all in all. */
#define MAX_DEPTH			8
#define MAX_MEMBERS			64
#define MAX_VISITS			256

/*
 * The verdict on all the disks below one device, while we walk them: of the kind
 * the slowest so far, of the flags whether any disk has them.
 */
typedef struct DiskWalk
{
	int			visits;
	TierDeviceKind kind;
	bool		rotational;
	bool		is_virtual;
} DiskWalk;

/* A disk whose kind is known by its name. */
typedef struct DiskName
{
	const char *prefix;
	TierDeviceKind kind;
	bool		is_virtual;
} DiskName;

/* Persistent memory is nearest to NVMe among the kinds that keep their data. */
static const DiskName disk_names[] = {
	{"nvme", TIER_DEVICE_NVME, false},
	{"pmem", TIER_DEVICE_NVME, false},
	{"zram", TIER_DEVICE_MEMORY, false},
	{"ram", TIER_DEVICE_MEMORY, false},
	{"vd", TIER_DEVICE_UNKNOWN, true},	/* virtio */
	{"xvd", TIER_DEVICE_UNKNOWN, true}, /* Xen */
	{"nbd", TIER_DEVICE_UNKNOWN, true}, /* network block device */
	{"rbd", TIER_DEVICE_UNKNOWN, true}, /* Ceph */
	{"zd", TIER_DEVICE_UNKNOWN, true},	/* volume of a zfs pool */
};

/*
 * Parts of the vendor or model of disks that are emulated or served over a network.  Amazon's
 * and Google's local disks have other models, and are physical.
 */
static const char *const virtual_models[] = {
	"QEMU", "VMware", "VBOX", "Virtual", "Elastic Block Store",
	"PersistentDisk", "nvme_card-pd", "MSFT NVMe Accelerator",
};

/*---------------------------------------------------------------------
 * From a block device to the disks beneath it
 *---------------------------------------------------------------------
 */

/*
 * A device's directory in sysfs, of the whole disk if it is a partition.  The
 * directory of a partition is inside the one of its disk.
 */
static bool
find_disk(const char *link, char *directory)
{
	if (!tier_path_resolve(link, directory))
		return false;
	if (tier_path_exists(directory, "partition"))
		*strrchr(directory, '/') = '\0';
	return true;
}

/*
 * Properties of a kind.  The rank says how much a disk of this kind slows down the whole: the
 * slowest decides, and a disk we know nothing of may be slow.
 */
static const struct
{
	const char *name;
	const char *profile;
	int			rank;
}			kinds[] = {
	[TIER_DEVICE_MEMORY] = {"memory", "memory", 0},
	[TIER_DEVICE_NVME] = {"nvme", "nvme", 1},
	[TIER_DEVICE_SATA_SSD] = {"sata_ssd", "sata_ssd", 2},
	[TIER_DEVICE_UNKNOWN] = {"unknown", NULL, 3},
	[TIER_DEVICE_HDD] = {"hdd", "hdd_7200", 4},
	[TIER_DEVICE_REMOTE] = {"remote", "object_store", 5},
};

static void
add_kind(DiskWalk *walk, TierDeviceKind kind)
{
	if (kinds[kind].rank > kinds[walk->kind].rank)
		walk->kind = kind;
}

static bool
has_virtual_model(const char *directory)
{
	static const char *const files[] = {"device/vendor", "device/model"};
	char		value[VALUE_BYTES];

	for (int i = 0; i < (int) lengthof(files); i++)
	{
		if (!tier_path_read_value(directory, files[i], value, sizeof(value)))
			continue;
		for (int j = 0; j < (int) lengthof(virtual_models); j++)
		{
			if (strstr(value, virtual_models[j]) != NULL)
				return true;
		}
	}
	return false;
}

/*
 * A disk with nothing below.  The rotational flag counts only where neither
 * the name nor the model says more: virtual disks report 1 for an SSD and 0
 * for a spindle.  A loop device is judged by its own flag, not by the file.
 */
static void
add_disk(DiskWalk *walk, const char *directory)
{
	const char *name = tier_path_last(directory);
	TierDeviceKind kind = TIER_DEVICE_UNKNOWN;
	bool		is_virtual = has_virtual_model(directory);
	bool		named = false;
	char		value[VALUE_BYTES];

	if (tier_path_read_value(directory, "queue/rotational", value, sizeof(value)))
	{
		bool		rotational = (strcmp(value, "0") != 0);

		walk->rotational |= rotational;
		kind = rotational ? TIER_DEVICE_HDD : TIER_DEVICE_SATA_SSD;
	}

	for (int i = 0; i < (int) lengthof(disk_names) && !named; i++)
	{
		named = (strncmp(name, disk_names[i].prefix,
						 strlen(disk_names[i].prefix)) == 0);
		if (named)
		{
			kind = disk_names[i].kind;
			is_virtual |= disk_names[i].is_virtual;
		}
	}

	walk->is_virtual |= is_virtual;
	add_kind(walk, is_virtual ? TIER_DEVICE_UNKNOWN : kind);
}

/* A disk, or those below it, recursively. */
static void
walk_disks(DiskWalk *walk, const char *directory, int depth)
{
	char		path[MAXPGPATH];
	char		member[MAXPGPATH];
	List	   *members;
	ListCell   *cell;

	if (depth > MAX_DEPTH || walk->visits++ > MAX_VISITS ||
		!tier_path_build(path, "%s/slaves", directory))
	{
		add_kind(walk, TIER_DEVICE_UNKNOWN);
		return;
	}

	members = tier_path_list(path, MAX_MEMBERS);
	if (members == NIL)
		add_disk(walk, directory);

	foreach(cell, members)
	{
		if (tier_path_build(path, "%s/slaves/%s", directory,
							(const char *) lfirst(cell)) &&
			find_disk(path, member))
			walk_disks(walk, member, depth + 1);
		else
			add_kind(walk, TIER_DEVICE_UNKNOWN);
	}
}

/*
 * A btrfs file system may span devices, while its mount names but one.  Adds
 * the others; the one we came from is counted twice, which changes nothing.
 */
static void
walk_btrfs_members(DiskWalk *walk, const char *root, const char *device_name)
{
	char		path[MAXPGPATH];
	char		member[MAXPGPATH];
	ListCell   *cell;
	ListCell   *member_cell;

	if (!tier_path_build(path, "%s/sys/fs/btrfs", root))
		return;

	foreach(cell, tier_path_list(path, MAX_MEMBERS))
	{
		if (!tier_path_build(path, "%s/sys/fs/btrfs/%s/devices", root,
							 (const char *) lfirst(cell)) ||
			!tier_path_exists(path, device_name))
			continue;

		foreach(member_cell, tier_path_list(path, MAX_MEMBERS))
		{
			if (tier_path_build(path, "%s/sys/fs/btrfs/%s/devices/%s", root,
								(const char *) lfirst(cell),
								(const char *) lfirst(member_cell)) &&
				find_disk(path, member))
				walk_disks(walk, member, 0);
		}
		return;
	}
}

/* Sets the fields that the block device of the backing provides; directory: its own. */
static void
describe_disks(TierDevice *device, const char *root, const TierBacking *backing,
			   const char *disk, const char *device_name)
{
	DiskWalk	walk = {.kind = TIER_DEVICE_MEMORY};

	walk_disks(&walk, disk, 0);
	if (backing->has_mount &&
		strcmp(backing->storage.filesystem, "btrfs") == 0)
		walk_btrfs_members(&walk, root, device_name);

	device->kind = walk.kind;
	device->rotational = walk.rotational;
	device->is_virtual = walk.is_virtual;
}

/*
 * The part of the lookup that does not touch the directory itself: sets device, filesystem,
 * mount_point, kind, rotational, is_virtual, compressed and fs_id, which are zero, for an
 * absolute path without symbolic links.  st is the stat() of that path.
 */
static void
resolve(TierDevice *device, const struct stat *st, const char *path, const char *root)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext scratch = AllocSetContextCreate(caller,
												  "tiered_storage device",
												  ALLOCSET_DEFAULT_SIZES);
	TierBacking backing;
	char		link[MAXPGPATH];
	char		partition[MAXPGPATH];
	char		disk[MAXPGPATH];

	MemoryContextSwitchTo(scratch);
	tier_mount_find_backing(root, major(st->st_dev), minor(st->st_dev), path, &backing);
	device->fs_id = tier_mount_fs_id(&backing);

	if (backing.has_mount)
	{
		device->filesystem = MemoryContextStrdup(caller,
												 backing.mount.filesystem);
		device->mount_point = MemoryContextStrdup(caller,
												  backing.mount.mount_point);
		device->compressed = tier_mount_is_compressed(&backing.storage);
		if (tier_mount_is_memory(&backing.storage))
			device->kind = TIER_DEVICE_MEMORY;
		else if (tier_mount_is_remote(&backing.storage))
			device->kind = TIER_DEVICE_REMOTE;
	}

	if (backing.on_disk &&
		tier_path_build(link, "%s/sys/dev/block/%u:%u", root,
						backing.major, backing.minor) &&
		tier_path_resolve(link, partition) &&
		find_disk(partition, disk))
	{
		device->device = MemoryContextStrdup(caller, tier_path_last(disk));
		describe_disks(device, root, &backing, disk,
					   tier_path_last(partition));
	}

	MemoryContextSwitchTo(caller);
	MemoryContextDelete(scratch);
}

/* ---------------------------------------------------------------------
 * From a tablespace to its directory
 * ---------------------------------------------------------------------
 */

void
tier_device_tablespace_path(char *path, size_t size, Oid tablespace_oid)
{
	if (tablespace_oid == DEFAULTTABLESPACE_OID)
		strlcpy(path, "base", size);
	else if (tablespace_oid == GLOBALTABLESPACE_OID)
		strlcpy(path, "global", size);
	else
		snprintf(path, size, "pg_tblspc/%u", tablespace_oid);
}

/*
 * The absolute path of a tablespace's directory, without symbolic links.  If
 * the directory is gone, where it should be.
 */
static char *
tablespace_path(Oid tablespace_oid)
{
	char		path[MAXPGPATH];
	char		relative[TABLESPACE_PATH_BYTES];
	char		target[MAXPGPATH];
	ssize_t		length;

	tier_device_tablespace_path(relative, sizeof(relative), tablespace_oid);
	snprintf(path, sizeof(path), "%s/%s", DataDir, relative);

	if (tier_store_answers(tablespace_oid) && tier_path_resolve(path, target))
		return pstrdup(target);

	length = readlink(path, target, sizeof(target));
	if (length > 0 && length < (ssize_t) sizeof(target) && target[0] == '/')
		return pnstrdup(target, length);
	return pstrdup(path);
}

/* Bytes of n_blocks; what no int64 holds is cut. */
static int64
blocks_to_bytes(uint64 n_blocks, uint64 block_bytes)
{
	if (block_bytes > 0 && n_blocks > (uint64) PG_INT64_MAX / block_bytes)
		return PG_INT64_MAX;
	return (int64) (n_blocks * block_bytes);
}

/*
 * Returns true if the server's version directory exists in the tablespace directory.  If a
 * file system is not mounted, its mount point still exists, but is on another device.
 */
static bool
has_server_directory(Oid tablespace_oid, const char *path)
{
	char		directory[MAXPGPATH];
	struct stat st;

	if (tablespace_oid == DEFAULTTABLESPACE_OID || tablespace_oid == GLOBALTABLESPACE_OID)
		return true;
	snprintf(directory, sizeof(directory), "%s/%s", path, TABLESPACE_VERSION_DIRECTORY);
	return stat(directory, &st) == 0 && S_ISDIR(st.st_mode);
}

static void
measure_file_system(TierDevice *device)
{
	struct statvfs fs;

	if (statvfs(device->path, &fs) != 0)
		return;

	device->total_bytes = blocks_to_bytes(fs.f_blocks, fs.f_frsize);
	device->used_bytes = blocks_to_bytes(fs.f_blocks - Min(fs.f_bfree, fs.f_blocks), fs.f_frsize);
	device->free_bytes = blocks_to_bytes(fs.f_bavail, fs.f_frsize);
	device->writable = (fs.f_flag & ST_RDONLY) == 0 &&
		access(device->path, W_OK | X_OK) == 0;
}

/* The device beneath a directory.  Takes ownership of the path. */
static TierDevice *
look_beneath(char *path, Oid tablespace_oid, const char *root)
{
	TierDevice *device = palloc0(sizeof(TierDevice));
	struct stat st;

	device->tablespace_oid = tablespace_oid;
	device->path = path;
	device->total_bytes = -1;
	device->used_bytes = -1;
	device->free_bytes = -1;

	device->has_stalled = OidIsValid(tablespace_oid) && !tier_store_answers(tablespace_oid);
	if (device->has_stalled)
		device->kind = TIER_DEVICE_REMOTE;
	device->exists = !device->has_stalled && stat(device->path, &st) == 0 && S_ISDIR(st.st_mode) &&
		(!OidIsValid(tablespace_oid) || has_server_directory(tablespace_oid, device->path));
	if (device->exists)
	{
		measure_file_system(device);
		resolve(device, &st, device->path, root);
	}

	return device;
}

TierDevice *
tier_device_lookup(Oid tablespace_oid, const char *root)
{
	return look_beneath(tablespace_path(tablespace_oid), tablespace_oid, root);
}

TierDevice *
tier_device_of_directory(const char *directory, const char *root)
{
	char		path[MAXPGPATH];
	char		resolved[MAXPGPATH];

	if (is_absolute_path(directory))
		strlcpy(path, directory, sizeof(path));
	else
		snprintf(path, sizeof(path), "%s/%s", DataDir, directory);
	return look_beneath(pstrdup(tier_path_resolve(path, resolved) ? resolved : path),
						InvalidOid, root);
}

const char *
tier_device_beneath(const char *path, const char *root)
{
	TierDevice	device = {0};
	char		resolved[MAXPGPATH];
	struct stat st;

	if (!tier_path_resolve(path, resolved) || stat(resolved, &st) != 0)
		return NULL;
	resolve(&device, &st, resolved, root);
	return device.device;
}

uint64
tier_device_fs_id(const char *path)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext scratch;
	TierBacking backing;
	char		resolved[MAXPGPATH];
	struct stat st;
	uint64		fs_id;

	if (stat(path, &st) != 0)
		return 0;

	/*
	 * Only a number without a device, as of a subvolume, is looked up among
	 * the mounts.
	 */
	if (major(st.st_dev) != 0)
		return (uint64) st.st_dev;
	if (!tier_path_resolve(path, resolved))
		return 0;
	scratch = AllocSetContextCreate(caller, "tiered_storage mounts", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(scratch);
	tier_mount_find_backing("", major(st.st_dev), minor(st.st_dev), resolved, &backing);
	fs_id = tier_mount_fs_id(&backing);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(scratch);
	return fs_id;
}

/* ---------------------------------------------------------------------
 * Names
 * ---------------------------------------------------------------------
 */

bool
tier_device_is_shared(const TierDevice *a, const TierDevice *b)
{
	return (a->fs_id != 0 && a->fs_id == b->fs_id) ||
		(a->device != NULL && b->device != NULL && strcmp(a->device, b->device) == 0);
}

const char *
tier_device_kind_name(TierDeviceKind kind)
{
	return kinds[kind].name;
}

const char *
tier_device_why_not(const TierDevice *device)
{
	return device->has_stalled ? "on a file system that does not answer" :
		!device->exists ? "missing" : !device->writable ? "not writable" : NULL;
}

const char *
tier_device_profile_name(const TierDevice *device)
{
	return kinds[device->kind].profile;
}
