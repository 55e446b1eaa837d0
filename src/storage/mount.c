/*-------------------------------------------------------------------------
 *
 * storage/mount.c
 *		From a path to its mount and the number of the device below it.
 *
 * Reads /proc/self/mountinfo and a little of /sys, through the prefix `root`, so that tests
 * can use fixtures of other machines.  Neither is trusted to be small: lines, values and paths
 * have fixed sizes, loops have the bounds below.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#endif
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "src/storage/mount.h"

/*
 * An overlay's options take up to a page and more; what exceeds a line is
 * ignored.  The kernel's own limit of mounts per namespace is 100000.
 */
#define MOUNT_LINE_BYTES	32768
#define MAX_MOUNTS			100000

#define MAX_BLOCK_DEVICES	10000

/* Symbolic links in a path; the kernel's own limit is 40. */
#define MAX_LINKS			40

/* ---------------------------------------------------------------------
 * Paths and values
 * ---------------------------------------------------------------------
 */

bool
tier_path_build(char *path, const char *format,...)
{
	va_list		arguments;
	int			length;

	va_start(arguments, format);
	length = vsnprintf(path, MAXPGPATH, format, arguments);
	va_end(arguments);

	return length >= 0 && length < MAXPGPATH;
}

bool
tier_path_resolve(const char *path, char *resolved)
{
	char		buffer[PATH_MAX];

	return realpath(path, buffer) != NULL &&
		strlcpy(resolved, buffer, MAXPGPATH) < MAXPGPATH;
}

const char *
tier_path_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash == NULL) ? path : slash + 1;
}

bool
tier_path_read_value(const char *directory, const char *name, char *value, int size)
{
	char		path[MAXPGPATH];
	FILE	   *file;
	bool		ok;
	size_t		length;

	if (!tier_path_build(path, "%s/%s", directory, name))
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

bool
tier_path_exists(const char *directory, const char *name)
{
	char		path[MAXPGPATH];
	struct stat st;

	return tier_path_build(path, "%s/%s", directory, name) && stat(path, &st) == 0;
}

List *
tier_path_list(const char *path, int max_entries)
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
parse_mount(char *line, TierMount *mount)
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

/* Reads one line; the part that does not fit is dropped.  False at the end. */
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
		   const char *path, TierMount *found)
{
	char	   *line = palloc(MOUNT_LINE_BYTES);
	char	   *spare = palloc(MOUNT_LINE_BYTES);
	char		mountinfo[MAXPGPATH];
	FILE	   *file;
	bool		any = false;
	bool		best_matches = false;

	if (!tier_path_build(mountinfo, "%s/proc/self/mountinfo", root) ||
		(file = AllocateFile(mountinfo, "r")) == NULL)
		return false;

	for (int i = 0; i < MAX_MOUNTS; i++)
	{
		TierMount	mount;
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
get_mount_option(const TierMount *mount, const char *name, char *value, int size)
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

bool
tier_mount_is_compressed(const TierMount *mount)
{
	static const char *const options[] = {"compress", "compress-force"};
	char		value[VALUE_BYTES];

	if (strcmp(mount->filesystem, "btrfs") != 0)
		return strcmp(mount->filesystem, "zfs") == 0;
	for (int i = 0; i < (int) lengthof(options); i++)
		if (get_mount_option(mount, options[i], value, sizeof(value)) &&
			strcmp(value, "no") != 0 && strcmp(value, "none") != 0)
			return true;
	return false;
}

bool
tier_mount_is_memory(const TierMount *mount)
{
	return strcmp(mount->filesystem, "tmpfs") == 0 ||
		strcmp(mount->filesystem, "ramfs") == 0;
}

bool
tier_mount_is_remote(const TierMount *mount)
{
	static const char *const names[] = {
		"fuse", "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "lustre", "afs", "autofs", "beegfs",
		"orangefs",
	};

	/* "fuse.juicefs", but not "fuseblk" of a local disk. */
	if (strncmp(mount->filesystem, "fuse.", strlen("fuse.")) == 0)
		return true;
	for (int i = 0; i < (int) lengthof(names); i++)
		if (strcmp(mount->filesystem, names[i]) == 0)
			return true;
	return false;
}

/* A path with each symbolic link in it, but those on a remote file system, replaced. */
bool
tier_mount_leads_to_remote(const char *path, unsigned *major, unsigned *minor)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext scratch = AllocSetContextCreate(caller, "tiered_storage mounts",
												  ALLOCSET_DEFAULT_SIZES);
	char		whole[MAXPGPATH * 2];
	bool		is_remote = false;
	int			nlinks = 0;

	MemoryContextSwitchTo(scratch);
	strlcpy(whole, path, sizeof(whole));
	for (char *end = whole; *end != '\0' && !is_remote && nlinks < MAX_LINKS;)
	{
		char		target[MAXPGPATH];
		char		rest[MAXPGPATH];
		TierMount	mount;
		ssize_t		length;

		end += 1 + strcspn(end + 1, "/");
		strlcpy(rest, end, sizeof(rest));
		*end = '\0';
		is_remote = find_mount("", 0, 0, whole, &mount) && tier_mount_is_remote(&mount);
		*major = is_remote ? mount.major : 0;
		*minor = is_remote ? mount.minor : 0;
		length = is_remote ? -1 : readlink(whole, target, sizeof(target) - 1);
		if (length > 0)
		{
			target[length] = '\0';
			if (target[0] == '/')
				whole[0] = '\0';
			else
				get_parent_directory(whole);
			snprintf(whole + strlen(whole), sizeof(whole) - strlen(whole), "%s%s%s",
					 target[0] == '/' ? "" : "/", target, rest);
			canonicalize_path(whole);
			end = whole;
			nlinks++;
		}
		else
			strcpy(end, rest);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(scratch);
	return is_remote;
}

/* ---------------------------------------------------------------------
 * From a mount to a block device
 * ---------------------------------------------------------------------
 */

static bool
read_device_number(const char *directory, unsigned *major, unsigned *minor)
{
	char		value[VALUE_BYTES];

	return tier_path_read_value(directory, "dev", value, sizeof(value)) &&
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

	if (!tier_path_build(directory, "%s/sys/class/block", root))
		return false;

	foreach(cell, tier_path_list(directory, MAX_BLOCK_DEVICES))
	{
		const char *name = lfirst(cell);

		if (strncmp(name, "dm-", 3) == 0 &&
			tier_path_build(directory, "%s/sys/class/block/%s", root, name) &&
			tier_path_read_value(directory, "dm/name", value, sizeof(value)) &&
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
		!tier_path_build(path, "%s%s", root, source))
		return false;

	if (stat(path, &st) == 0 && S_ISBLK(st.st_mode))
	{
		*major = major(st.st_rdev);
		*minor = minor(st.st_rdev);
		return true;
	}

	name = tier_path_last(tier_path_resolve(path, resolved) ? resolved : path);
	return (tier_path_build(directory, "%s/sys/class/block/%s", root, name) &&
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
find_upper_mount(const char *root, const TierMount *overlay, TierMount *below)
{
	char		upper[MAXPGPATH];

	return get_mount_option(overlay, "upperdir", upper, sizeof(upper)) &&
		upper[0] == '/' &&
		tier_path_exists(root, upper) &&
		find_mount(root, 0, 0, upper, below) &&
		strcmp(below->filesystem, "overlay") != 0;
}

void
tier_mount_find_backing(const char *root, unsigned major, unsigned minor,
						const char *path, TierBacking *backing)
{
	TierMount  *storage = &backing->storage;

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

uint64
tier_mount_fs_id(const TierBacking *backing)
{
	return (uint64) makedev(backing->major, backing->minor);
}
