/*-------------------------------------------------------------------------
 *
 * storage/device.h
 *		The device beneath a tablespace, and its free space.
 *
 * The story of this room.  Each process asks the operating system for the device beneath a
 * tablespace whenever it needs it.  This room stores nothing: a TierDevice is a snapshot in
 * the memory of the caller.
 *
 *		device.c		tablespace -> directory -> mount -> block device -> kind
 *		mount.c			the part of it that reads /proc/self/mountinfo
 *		store.c			whether its file system answers
 *		file_size.c		sizes of the files of a relation
 *		database_files.c	those of each database
 *		page_cache.c	how much of a relation's file the system has in memory
 *		calibrate.c		how fast the device is, by a scratch file
 *
 * Nothing here locks a database object or reads a table.  A device that cannot be identified
 * is "unknown" and not an error, because samples and lists of tiers must not fail for it; only
 * a calibration, which the user has requested, raises an error.  Free space is that of the
 * moment: to keep a disk from filling up, move/space.c looks again while it copies.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DEVICE_H
#define TIER_DEVICE_H

#include "postgres.h"

/*
 * See tier_device_profile_name() for the profiles that are assumed for them.  UNKNOWN is that of
 * a struct of zeros.
 */
typedef enum TierDeviceKind
{
	TIER_DEVICE_UNKNOWN,
	TIER_DEVICE_HDD,
	TIER_DEVICE_SATA_SSD,
	TIER_DEVICE_NVME,
	TIER_DEVICE_MEMORY,			/* tmpfs and the like */
	TIER_DEVICE_REMOTE,			/* a file system over a network, or in user
								 * space, as of an object store */
} TierDeviceKind;

/*
 * One tablespace and the device beneath it.  Filled in once by tier_device_lookup() and not
 * changed afterwards; path and the other strings live where it lives.
 */
typedef struct TierDevice
{
	Oid			tablespace_oid;
	char	   *path;			/* absolute directory of the tablespace,
								 * symbolic links resolved; where the link in
								 * pg_tblspc points to if nothing is there */
	bool		has_stalled;	/* its file system does not answer
								 * (storage/store.h): the directory counts as
								 * missing */
	bool		exists;			/* the directory, and of a user's tablespace
								 * the server's in it, can be stat'ed; if not,
								 * all below is unknown */
	bool		writable;		/* ... and is on a file system mounted rw, and
								 * access(W_OK|X_OK) says yes */
	char	   *device;			/* the whole disk's name as in /sys/block,
								 * e.g. "sda", "nvme0n1", "loop3", "dm-0"; for
								 * stacked devices the top one; NULL: unknown */
	char	   *filesystem;		/* type as in mountinfo, NULL: unknown */
	char	   *mount_point;	/* NULL: unknown */
	TierDeviceKind kind;		/* of the slowest lower device; UNKNOWN for
								 * virtual disks, whatever their flag says */
	bool		rotational;		/* as the kernel says; any lower device's */
	bool		is_virtual;		/* virtio, xen, ...: do not trust rotational;
								 * any lower device's */
	bool		compressed;		/* btrfs mounted with compress, or zfs; a
								 * property of a single btrfs file or zfs
								 * dataset is not looked at */
	uint64		fs_id;			/* equal iff two tablespaces share a file
								 * system (st_dev; for btrfs that of the
								 * source device; for overlay that of the
								 * upper directory); 0: unknown, and equal to
								 * nothing */
	int64		total_bytes;	/* file system size, -1: unknown */
	int64		used_bytes;		/* as df says; with what is free less than the
								 * size where something is reserved, -1:
								 * unknown */
	int64		free_bytes;		/* free for an unprivileged user (f_bavail),
								 * -1: unknown */
} TierDevice;

/* Bytes of a tablespace's path within the data directory, at most. */
#define TABLESPACE_PATH_BYTES 32

/*
 * A tablespace's directory, or symbolic link, relative to the data directory,
 * whether it exists or not.  size: at least TABLESPACE_PATH_BYTES.
 */
extern void tier_device_tablespace_path(char *path, size_t size, Oid tablespace_oid);

/*
 * Looks at the directory of one tablespace.  For pg_default the cluster's base directory; user
 * tablespaces through pg_tblspc (symlink or in-place directory).  Never fails because of the
 * configuration of the machine: unknown facts are NULL, UNKNOWN or -1.  Errors only for memory
 * and interrupts.  Reads /proc and /sys; takes no lock.  Result and strings live in the
 * current memory context, which is restored.  `root` is put before /proc and /sys: "" but in
 * tests, which have fixtures.
 */
extern TierDevice *tier_device_lookup(Oid tablespace_oid, const char *root);

/*
 * The same of a directory of the server that is no tablespace, such as pg_wal, which may be
 * a symbolic link: absolute, or relative to the data directory ("" is that itself).  Its
 * tablespace_oid is 0.
 */
extern TierDevice *tier_device_of_directory(const char *directory, const char *root);

/*
 * The name of the whole disk beneath a path, as in TierDevice; NULL: not known.  Like
 * tier_device_lookup otherwise.
 */
extern const char *tier_device_beneath(const char *path, const char *root);

/* Returns true if two tablespaces are known to share a file system or a disk. */
extern bool tier_device_is_shared(const TierDevice *a, const TierDevice *b);

/* "unknown", "hdd", "sata_ssd", "nvme", "memory", "remote" */
extern const char *tier_device_kind_name(TierDeviceKind kind);

/* "missing", "not writable": why nothing can be put there; NULL: it can. */
extern const char *tier_device_why_not(const TierDevice *device);

/*
 * The name of the profile that is assumed for a device until it is calibrated:
 * hdd_7200, sata_ssd, nvme, memory, object_store.  NULL when the kind is
 * unknown: then only a calibration, or the user, can tell.
 */
extern const char *tier_device_profile_name(const TierDevice *device);

/* The fs_id, as in TierDevice, of what holds path; 0: unknown.  Allocates nothing that stays. */
extern uint64 tier_device_fs_id(const char *path);

#endif							/* TIER_DEVICE_H */
