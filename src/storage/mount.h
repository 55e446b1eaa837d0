/*-------------------------------------------------------------------------
 *
 * storage/mount.h
 *		From a path to its mount and the number of the device below it.
 *
 * For storage/device.c; storage/memory.c reads values with it.  `root` is put before /proc and
 * /sys; paths are buffers of MAXPGPATH bytes.  Errors only for memory and interrupts.  Lists,
 * strings and mounts live in the current memory context; device.c calls them in a scratch
 * context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_MOUNT_H
#define TIER_MOUNT_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* A value in sysfs, such as a disk's model */
#define VALUE_BYTES			128

/*
 * One line of mountinfo, see proc_pid_mountinfo(5); the strings point into a copy
 * of the line.
 */
typedef struct TierMount
{
	unsigned	major;			/* 0 for btrfs, tmpfs, overlay, nfs, ... */
	unsigned	minor;
	char	   *mount_point;
	char	   *filesystem;		/* type, such as "ext4" */
	char	   *source;			/* "/dev/sda1", "tank/data", ... */
	char	   *options;		/* of the file system; still escaped */
} TierMount;

/* The storage beneath a path.  Both mounts mean nothing without has_mount. */
typedef struct TierBacking
{
	bool		has_mount;
	TierMount	mount;			/* where the path is */
	TierMount	storage;		/* the same, or below an overlay the mount of
								 * its upper directory, if that is known */
	bool		on_disk;		/* the number below is a block device's */
	unsigned	major;			/* else it means the file system only */
	unsigned	minor;
} TierBacking;

/* As snprintf(), into MAXPGPATH bytes; false when the path does not fit. */
extern bool tier_path_build(char *path, const char *format,...) pg_attribute_printf(2, 3);

/* Without symbolic links; false when it does not exist or does not fit. */
extern bool tier_path_resolve(const char *path, char *resolved);

/* The part of a path after the last slash. */
extern const char *tier_path_last(const char *path);

/* The first line of a small file, trailing white space removed; false: there is none. */
extern bool tier_path_read_value(const char *directory, const char *name, char *value, int size);

extern bool tier_path_exists(const char *directory, const char *name);

/*
 * The entries of a directory, without those that begin with a dot, at most
 * max_entries; NIL if it cannot be read.  Nothing stays open.
 */
extern List *tier_path_list(const char *path, int max_entries);

/* As far as type and mount options tell; see TierDevice.compressed. */
extern bool tier_mount_is_compressed(const TierMount *mount);

/* tmpfs and ramfs. */
extern bool tier_mount_is_memory(const TierMount *mount);

/* A file system over a network, or one in user space that has no block device. */
extern bool tier_mount_is_remote(const TierMount *mount);

/*
 * Returns true if an absolute path is on a remote file system, which is not touched: only
 * symbolic links before it are followed.  The number of its device, else 0, is written.
 */
extern bool tier_mount_leads_to_remote(const char *path, unsigned *major, unsigned *minor);

/*
 * Finds the storage beneath an absolute path without symbolic links, on the file system with
 * that device number (st_dev); 0:0: only the path finds the mount.  *backing is overwritten.
 */
extern void tier_mount_find_backing(const char *root, unsigned major, unsigned minor,
									const char *path, TierBacking *backing);

/* Equal for two paths on one file system; see TierDevice.fs_id. */
extern uint64 tier_mount_fs_id(const TierBacking *backing);

#endif							/* TIER_MOUNT_H */
