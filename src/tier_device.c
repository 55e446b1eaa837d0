/*-------------------------------------------------------------------------
 *
 * tier_device.c
 *		From a tablespace to the device beneath it, and how full that is.
 *
 * Runs in any process connected to the cluster; takes no lock and keeps
 * nothing between two calls.
 *
 * The way down: the directory's st_dev and path lead to a mount in
 * /proc/self/mountinfo; the mount, or st_dev itself, to the number of a block
 * device; its directory in sysfs to the whole disk, and through slaves/ to
 * the disks below device mapper and md; those say what they are.  Each step is
 * a function that may say "unknown"; none raises an error but for memory and
 * interrupts.  All reading of /proc and /sys goes through the prefix `root`,
 * so that tests can show this file machines that we do not have.
 *
 * Neither /proc nor /sys is trusted to be small or free of cycles: lines,
 * values and paths have fixed sizes, loops have the bounds below.
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
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "tier_device.h"

/*
 * An overlay's options take up to a page and more; what exceeds a line is
 * ignored.  The kernel's own limit of mounts per namespace is 100000.
 */
#define MOUNT_LINE_BYTES	32768
#define MAX_MOUNTS			100000

/* Stacked devices: levels, disks of one device, and disks all in all. */
#define MAX_DEPTH			8
#define MAX_MEMBERS			64
#define MAX_VISITS			256

#define MAX_BLOCK_DEVICES	10000

/* A value in sysfs, such as a disk's model */
#define VALUE_BYTES			128

/* One line of mountinfo; the strings point into a line of our own. */
typedef struct Mount
{
	unsigned	major;			/* 0 for btrfs, tmpfs, overlay, nfs, ... */
	unsigned	minor;
	char	   *mount_point;
	char	   *filesystem;
	char	   *source;
	char	   *options;		/* of the file system; still escaped */
} Mount;

/* What lies beneath a path. */
typedef struct Backing
{
	bool		has_mount;
	Mount		mount;			/* where the path is; unset if !has_mount */
	Mount		storage;		/* the same, or below an overlay the mount of
								 * its upper directory */
	bool		on_disk;		/* the number below is a block device's */
	unsigned	major;			/* else it means the file system only */
	unsigned	minor;
} Backing;

/* The verdict on all the disks below one device, while we walk them. */
typedef struct DiskWalk
{
	int			visits;
	TierDeviceKind kind;
	bool		rotational;
	bool		is_virtual;
} DiskWalk;

/* A disk whose name alone says what it is. */
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
 * Parts of the vendor or model of disks that somebody emulates or serves over
 * a network.  Amazon's and Google's local disks have other models, and are
 * what they seem to be.
 */
static const char *const virtual_models[] = {
	"QEMU", "VMware", "VBOX", "Virtual", "Elastic Block Store",
	"PersistentDisk", "nvme_card-pd", "MSFT NVMe Accelerator",
};

/* ---------------------------------------------------------------------
 * Paths and values
 * ---------------------------------------------------------------------
 */

/* False when the path does not fit into MAXPGPATH bytes. */
static bool build_path(char *path, const char *format,...) pg_attribute_printf(2, 3);

static bool
build_path(char *path, const char *format,...)
{
	va_list		arguments;
	int			length;

	va_start(arguments, format);
	length = vsnprintf(path, MAXPGPATH, format, arguments);
	va_end(arguments);

	return length >= 0 && length < MAXPGPATH;
}

/* Without symbolic links; resolved has MAXPGPATH bytes. */
static bool
resolve_links(const char *path, char *resolved)
{
	char		buffer[PATH_MAX];

	return realpath(path, buffer) != NULL &&
		strlcpy(resolved, buffer, MAXPGPATH) < MAXPGPATH;
}

static const char *
last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash == NULL) ? path : slash + 1;
}

/* The first line of a small file, trailing white space removed. */
static bool
read_value(const char *directory, const char *name, char *value, int size)
{
	char		path[MAXPGPATH];
	FILE	   *file;
	bool		ok;
	size_t		length;

	if (!build_path(path, "%s/%s", directory, name))
		return false;
	file = AllocateFile(path, "r");
	if (file == NULL)
		return false;
	ok = (fgets(value, size, file) != NULL);
	FreeFile(file);
	if (!ok)
		return false;

	length = strlen(value);
	while (length > 0 && strchr(" \t\r\n", value[length - 1]) != NULL)
		value[--length] = '\0';
	return true;
}

static bool
path_exists(const char *directory, const char *name)
{
	char		path[MAXPGPATH];
	struct stat st;

	return build_path(path, "%s/%s", directory, name) && stat(path, &st) == 0;
}

/* The entries of a directory, at most max_entries; nothing stays open. */
static List *
list_directory(const char *path, int max_entries)
{
	List	   *names = NIL;
	DIR		   *directory = AllocateDir(path);
	struct dirent *entry;

	if (directory == NULL)
		return NIL;

	while (list_length(names) < max_entries &&
		   (entry = ReadDirExtended(directory, path, DEBUG1)) != NULL)
	{
		if (entry->d_name[0] != '.')
			names = lappend(names, pstrdup(entry->d_name));
	}

	FreeDir(directory);
	return names;
}

/* ---------------------------------------------------------------------
 * Mounts
 * ---------------------------------------------------------------------
 */

static bool
is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Undoes in place the escapes of mountinfo: \040 for a blank, and so on. */
static char *
unescape(char *string)
{
	char	   *to = string;

	for (const char *from = string; *from != '\0';)
	{
		if (from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) &&
			is_octal(from[3]))
		{
			*to++ = (char) (((from[1] - '0') << 6) | ((from[2] - '0') << 3) |
							(from[3] - '0'));
			from += 4;
		}
		else
			*to++ = *from++;
	}
	*to = '\0';
	return string;
}

/*
 * "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,a=b", with
 * any number of fields before the single dash; see proc_pid_mountinfo(5).
 */
static bool
parse_mount(char *line, Mount *mount)
{
	char	   *fields[6];
	char	   *field;

	line[strcspn(line, "\n")] = '\0';

	for (int i = 0; i < 6; i++)
	{
		if ((fields[i] = strsep(&line, " ")) == NULL)
			return false;
	}
	if (sscanf(fields[2], "%u:%u", &mount->major, &mount->minor) != 2)
		return false;

	do
	{
		if ((field = strsep(&line, " ")) == NULL)
			return false;
	} while (strcmp(field, "-") != 0);

	mount->mount_point = unescape(fields[4]);
	if ((field = strsep(&line, " ")) == NULL)
		return false;
	mount->filesystem = unescape(field);
	if ((field = strsep(&line, " ")) == NULL)
		return false;
	mount->source = unescape(field);
	mount->options = (line == NULL) ? "" : line;
	return true;
}

/* mount_point is the path or one of the directories above it. */
static bool
path_is_below(const char *path, const char *mount_point)
{
	size_t		length = strlen(mount_point);

	if (length > 0 && mount_point[length - 1] == '/')
		length--;
	return strncmp(path, mount_point, length) == 0 &&
		(path[length] == '/' || path[length] == '\0');
}

/* Reads one line; what does not fit is dropped.  False at the end. */
static bool
read_line(FILE *file, char *line, int size)
{
	int			c;

	if (fgets(line, size, file) == NULL)
		return false;
	if (strchr(line, '\n') == NULL)
	{
		while ((c = getc(file)) != EOF && c != '\n')
			;
	}
	return true;
}

/*
 * The mount that a path is on: of the mounts with the device number, or if
 * there is none of all, the one with the longest mount point; of equals the
 * last, because it covers the others.  The number comes first because a mount
 * may be hidden below another one.  btrfs has a number per subvolume that is
 * not in mountinfo.
 *
 * The strings of *found live in the current memory context.
 */
static bool
find_mount(const char *root, unsigned major, unsigned minor,
		   const char *path, Mount *found)
{
	char	   *line = palloc(MOUNT_LINE_BYTES);
	char	   *spare = palloc(MOUNT_LINE_BYTES);
	char		mountinfo[MAXPGPATH];
	FILE	   *file;
	bool		any = false;
	bool		best_matches = false;

	if (!build_path(mountinfo, "%s/proc/self/mountinfo", root) ||
		(file = AllocateFile(mountinfo, "r")) == NULL)
		return false;

	for (int i = 0; i < MAX_MOUNTS; i++)
	{
		Mount		mount;
		bool		matches;

		CHECK_FOR_INTERRUPTS();

		if (!read_line(file, line, MOUNT_LINE_BYTES))
			break;
		if (!parse_mount(line, &mount) ||
			!path_is_below(path, mount.mount_point))
			continue;

		matches = (mount.major == major && mount.minor == minor);
		if (!any || (matches && !best_matches) ||
			(matches == best_matches &&
			 strlen(mount.mount_point) >= strlen(found->mount_point)))
		{
			char	   *unused = spare;

			*found = mount;
			any = true;
			best_matches = matches;
			spare = line;
			line = unused;
		}
	}

	FreeFile(file);
	return any;
}

/*
 * The value of an option ("" if it has none), the last one where it is given
 * twice.  False: not given, or its value is too long.
 */
static bool
get_mount_option(const Mount *mount, const char *name, char *value, int size)
{
	size_t		name_length = strlen(name);
	bool		found = false;

	for (const char *option = mount->options; *option != '\0';)
	{
		size_t		length = strcspn(option, ",");
		const char *rest = option + name_length;

		if (length >= name_length &&
			strncmp(option, name, name_length) == 0 &&
			(length == name_length || *rest == '='))
		{
			size_t		skip = name_length + (length > name_length ? 1 : 0);

			found = (length - skip < (size_t) size);
			if (found)
			{
				memcpy(value, option + skip, length - skip);
				value[length - skip] = '\0';
				unescape(value);
			}
		}

		option += length;
		if (*option == ',')
			option++;
	}

	return found;
}

static bool
is_compressed(const Mount *mount)
{
	static const char *const options[] = {"compress", "compress-force"};
	char		value[VALUE_BYTES];

	if (strcmp(mount->filesystem, "zfs") == 0)
		return true;
	if (strcmp(mount->filesystem, "btrfs") != 0)
		return false;

	for (int i = 0; i < (int) lengthof(options); i++)
	{
		if (get_mount_option(mount, options[i], value, sizeof(value)) &&
			strcmp(value, "no") != 0 && strcmp(value, "none") != 0)
			return true;
	}
	return false;
}

static bool
is_memory(const Mount *mount)
{
	return strcmp(mount->filesystem, "tmpfs") == 0 ||
		strcmp(mount->filesystem, "ramfs") == 0;
}

/* ---------------------------------------------------------------------
 * From a mount to a block device
 * ---------------------------------------------------------------------
 */

static bool
read_device_number(const char *directory, unsigned *major, unsigned *minor)
{
	char		value[VALUE_BYTES];

	return read_value(directory, "dev", value, sizeof(value)) &&
		sscanf(value, "%u:%u", major, minor) == 2;
}

/*
 * Device mapper's /dev/mapper/NAME, without asking /dev: containers often
 * have /sys, but not the nodes.
 */
static bool
find_mapper_device(const char *root, const char *mapper_name,
				   unsigned *major, unsigned *minor)
{
	char		directory[MAXPGPATH];
	char		value[VALUE_BYTES];
	ListCell   *cell;

	if (!build_path(directory, "%s/sys/class/block", root))
		return false;

	foreach(cell, list_directory(directory, MAX_BLOCK_DEVICES))
	{
		const char *name = lfirst(cell);

		if (strncmp(name, "dm-", 3) == 0 &&
			build_path(directory, "%s/sys/class/block/%s", root, name) &&
			read_value(directory, "dm/name", value, sizeof(value)) &&
			strcmp(value, mapper_name) == 0)
			return read_device_number(directory, major, minor);
	}
	return false;
}

/* The number of the device that a mount's source names, such as /dev/sda1. */
static bool
find_source_device(const char *root, const char *source,
				   unsigned *major, unsigned *minor)
{
	char		path[MAXPGPATH];
	char		resolved[MAXPGPATH];
	char		directory[MAXPGPATH];
	const char *name;
	struct stat st;

	/* "tank/data" or "//server/share" are no devices. */
	if (strncmp(source, "/dev/", 5) != 0 ||
		!build_path(path, "%s%s", root, source))
		return false;

	if (stat(path, &st) == 0 && S_ISBLK(st.st_mode))
	{
		*major = major(st.st_rdev);
		*minor = minor(st.st_rdev);
		return true;
	}

	name = last_component(resolve_links(path, resolved) ? resolved : path);
	return (build_path(directory, "%s/sys/class/block/%s", root, name) &&
			read_device_number(directory, major, minor)) ||
		find_mapper_device(root, name, major, minor);
}

/*
 * The mount of an overlay's upper directory, which is where a tablespace's
 * files are in the end.  Inside a container that directory usually belongs to
 * the host and is not there, or its path means something else; then we do not
 * know.
 */
static bool
find_upper_mount(const char *root, const Mount *overlay, Mount *below)
{
	char		upper[MAXPGPATH];

	return get_mount_option(overlay, "upperdir", upper, sizeof(upper)) &&
		upper[0] == '/' &&
		path_exists(root, upper) &&
		find_mount(root, 0, 0, upper, below) &&
		strcmp(below->filesystem, "overlay") != 0;
}

/* The strings of *backing live in the current memory context. */
static void
find_backing(const char *root, unsigned major, unsigned minor,
			 const char *path, Backing *backing)
{
	Mount	   *storage = &backing->storage;

	memset(backing, 0, sizeof(*backing));
	backing->major = major;
	backing->minor = minor;
	backing->on_disk = (major != 0);
	backing->has_mount = find_mount(root, major, minor, path, &backing->mount);
	if (!backing->has_mount)
		return;

	*storage = backing->mount;
	if (strcmp(storage->filesystem, "overlay") == 0)
	{
		if (!find_upper_mount(root, &backing->mount, storage))
		{
			*storage = backing->mount;
			return;
		}
		backing->on_disk = false;
	}

	/* A btrfs subvolume's number would not be that of its neighbour. */
	if (!backing->on_disk)
	{
		backing->major = storage->major;
		backing->minor = storage->minor;
		backing->on_disk = (storage->major != 0) ||
			find_source_device(root, storage->source,
							   &backing->major, &backing->minor);
	}
}

static uint64
backing_fs_id(const Backing *backing)
{
	return (uint64) makedev(backing->major, backing->minor);
}

/* ---------------------------------------------------------------------
 * From a block device to what it is made of
 * ---------------------------------------------------------------------
 */

/*
 * A device's directory in sysfs, of the whole disk if it is a partition.  The
 * directory of a partition is inside the one of its disk.
 */
static bool
find_disk(const char *link, char *directory)
{
	if (!resolve_links(link, directory))
		return false;
	if (path_exists(directory, "partition"))
		*strrchr(directory, '/') = '\0';
	return true;
}

/*
 * How bad it is for the whole when one of its disks is of this kind: the
 * slowest decides, and a disk we know nothing of may be slow.
 */
static int
kind_rank(TierDeviceKind kind)
{
	switch (kind)
	{
		case TIER_DEVICE_MEMORY:
			return 0;
		case TIER_DEVICE_NVME:
			return 1;
		case TIER_DEVICE_SATA_SSD:
			return 2;
		case TIER_DEVICE_UNKNOWN:
			return 3;
		case TIER_DEVICE_HDD:
			return 4;
	}
	return 3;
}

static void
add_kind(DiskWalk *walk, TierDeviceKind kind)
{
	if (kind_rank(kind) > kind_rank(walk->kind))
		walk->kind = kind;
}

static bool
has_virtual_model(const char *directory)
{
	static const char *const files[] = {"device/vendor", "device/model"};
	char		value[VALUE_BYTES];

	for (int i = 0; i < (int) lengthof(files); i++)
	{
		if (!read_value(directory, files[i], value, sizeof(value)))
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
	const char *name = last_component(directory);
	TierDeviceKind kind = TIER_DEVICE_UNKNOWN;
	bool		is_virtual = has_virtual_model(directory);
	bool		named = false;
	char		value[VALUE_BYTES];

	if (read_value(directory, "queue/rotational", value, sizeof(value)))
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
		!build_path(path, "%s/slaves", directory))
	{
		add_kind(walk, TIER_DEVICE_UNKNOWN);
		return;
	}

	members = list_directory(path, MAX_MEMBERS);
	if (members == NIL)
		add_disk(walk, directory);

	foreach(cell, members)
	{
		if (build_path(path, "%s/slaves/%s", directory,
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

	if (!build_path(path, "%s/sys/fs/btrfs", root))
		return;

	foreach(cell, list_directory(path, MAX_MEMBERS))
	{
		if (!build_path(path, "%s/sys/fs/btrfs/%s/devices", root,
						(const char *) lfirst(cell)) ||
			!path_exists(path, device_name))
			continue;

		foreach(member_cell, list_directory(path, MAX_MEMBERS))
		{
			if (build_path(path, "%s/sys/fs/btrfs/%s/devices/%s", root,
						   (const char *) lfirst(cell),
						   (const char *) lfirst(member_cell)) &&
				find_disk(path, member))
				walk_disks(walk, member, 0);
		}
		return;
	}
}

/* Sets what the block device of the backing says; directory: its own. */
static void
describe_disks(TierDevice *device, const char *root, const Backing *backing,
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

void
tier_device_resolve(TierDevice *device, unsigned major, unsigned minor,
					const char *path, const char *root)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext scratch = AllocSetContextCreate(caller,
												  "tiered_storage device",
												  ALLOCSET_DEFAULT_SIZES);
	Backing		backing;
	char		link[MAXPGPATH];
	char		partition[MAXPGPATH];
	char		disk[MAXPGPATH];

	device->device = NULL;
	device->filesystem = NULL;
	device->mount_point = NULL;
	device->kind = TIER_DEVICE_UNKNOWN;
	device->rotational = false;
	device->is_virtual = false;
	device->compressed = false;

	MemoryContextSwitchTo(scratch);
	find_backing(root, major, minor, path, &backing);
	device->fs_id = backing_fs_id(&backing);

	if (backing.has_mount)
	{
		device->filesystem = MemoryContextStrdup(caller,
												 backing.mount.filesystem);
		device->mount_point = MemoryContextStrdup(caller,
												  backing.mount.mount_point);
		device->compressed = is_compressed(&backing.storage);
		if (is_memory(&backing.storage))
			device->kind = TIER_DEVICE_MEMORY;
	}

	if (backing.on_disk &&
		build_path(link, "%s/sys/dev/block/%u:%u", root,
				   backing.major, backing.minor) &&
		resolve_links(link, partition) &&
		find_disk(partition, disk))
	{
		device->device = MemoryContextStrdup(caller, last_component(disk));
		describe_disks(device, root, &backing, disk,
					   last_component(partition));
	}

	MemoryContextSwitchTo(caller);
	MemoryContextDelete(scratch);
}

/* ---------------------------------------------------------------------
 * From a tablespace to its directory
 * ---------------------------------------------------------------------
 */

/*
 * The absolute path of a tablespace's directory, without symbolic links.  If
 * the directory is gone, where it should be.
 */
static char *
tablespace_path(Oid tablespace_oid)
{
	char		path[MAXPGPATH];
	char		target[MAXPGPATH];
	ssize_t		length;

	if (tablespace_oid == DEFAULTTABLESPACE_OID)
		snprintf(path, sizeof(path), "%s/base", DataDir);
	else if (tablespace_oid == GLOBALTABLESPACE_OID)
		snprintf(path, sizeof(path), "%s/global", DataDir);
	else
		snprintf(path, sizeof(path), "%s/pg_tblspc/%u", DataDir,
				 tablespace_oid);

	if (resolve_links(path, target))
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

static void
measure_file_system(TierDevice *device)
{
	struct statvfs fs;

	if (statvfs(device->path, &fs) != 0)
		return;

	device->total_bytes = blocks_to_bytes(fs.f_blocks, fs.f_frsize);
	device->free_bytes = blocks_to_bytes(fs.f_bavail, fs.f_frsize);
	device->writable = (fs.f_flag & ST_RDONLY) == 0 &&
		access(device->path, W_OK | X_OK) == 0;
}

TierDevice *
tier_device_lookup(Oid tablespace_oid, const char *root)
{
	TierDevice *device = palloc0(sizeof(TierDevice));
	struct stat st;

	device->tablespace_oid = tablespace_oid;
	device->path = tablespace_path(tablespace_oid);
	device->kind = TIER_DEVICE_UNKNOWN;
	device->total_bytes = -1;
	device->free_bytes = -1;

	device->exists = (stat(device->path, &st) == 0 && S_ISDIR(st.st_mode));
	if (device->exists)
	{
		measure_file_system(device);
		tier_device_resolve(device, major(st.st_dev), minor(st.st_dev),
							device->path, root);
	}

	return device;
}

int64
tier_device_free_bytes(const char *path, uint64 *fs_id)
{
	struct stat st;
	struct statvfs fs;
	char		resolved[MAXPGPATH];

	if (fs_id != NULL)
		*fs_id = 0;

	if (!resolve_links(path, resolved) || stat(resolved, &st) != 0)
		return -1;

	if (fs_id != NULL)
	{
		MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
													  "tiered_storage mounts",
													  ALLOCSET_DEFAULT_SIZES);
		MemoryContext caller = MemoryContextSwitchTo(scratch);
		Backing		backing;

		find_backing("", major(st.st_dev), minor(st.st_dev), resolved,
					 &backing);
		*fs_id = backing_fs_id(&backing);
		MemoryContextSwitchTo(caller);
		MemoryContextDelete(scratch);
	}

	if (statvfs(resolved, &fs) != 0)
		return -1;
	return blocks_to_bytes(fs.f_bavail, fs.f_frsize);
}

/* ---------------------------------------------------------------------
 * Names
 * ---------------------------------------------------------------------
 */

const char *
tier_device_kind_name(TierDeviceKind kind)
{
	switch (kind)
	{
		case TIER_DEVICE_UNKNOWN:
			return "unknown";
		case TIER_DEVICE_HDD:
			return "hdd";
		case TIER_DEVICE_SATA_SSD:
			return "sata_ssd";
		case TIER_DEVICE_NVME:
			return "nvme";
		case TIER_DEVICE_MEMORY:
			return "memory";
	}
	return "unknown";
}

const char *
tier_device_profile_name(const TierDevice *device)
{
	switch (device->kind)
	{
		case TIER_DEVICE_UNKNOWN:
			return NULL;
		case TIER_DEVICE_HDD:
			return "hdd_7200";
		case TIER_DEVICE_SATA_SSD:
			return "sata_ssd";
		case TIER_DEVICE_NVME:
			return "nvme";
		case TIER_DEVICE_MEMORY:
			return "memory";
	}
	return NULL;
}
