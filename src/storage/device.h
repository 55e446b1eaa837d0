/*-------------------------------------------------------------------------
 *
 * storage/device.h
 *		From a tablespace to the device beneath it, and how full that is.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DEVICE_H
#define TIER_DEVICE_H

#include "postgres.h"

/* Named after the priors of the device profiles; see tier_device_profile(). */
typedef enum TierDeviceKind
{
	TIER_DEVICE_UNKNOWN,
	TIER_DEVICE_HDD,
	TIER_DEVICE_SATA_SSD,
	TIER_DEVICE_NVME,
	TIER_DEVICE_MEMORY,			/* tmpfs and the like */
} TierDeviceKind;

typedef struct TierDevice
{
	Oid			tablespace_oid;
	char	   *path;			/* absolute directory of the tablespace,
								 * symbolic links resolved; where the link in
								 * pg_tblspc points to if nothing is there */
	bool		exists;			/* the directory can be stat'ed; if not, all
								 * below is unknown */
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
	int64		free_bytes;		/* free for an unprivileged user (f_bavail),
								 * -1: unknown */
} TierDevice;

/* Bytes of a tablespace's path within the data directory, at most. */
#define TABLESPACE_PATH_BYTES 32

/* A tablespace's directory, or symbolic link, within the data directory. */
extern void tier_device_tablespace_path(char *path, size_t size, Oid tablespace_oid);

/*
 * Looks at the directory of one tablespace.  For pg_default the cluster's
 * base directory; user tablespaces through pg_tblspc (symlink or in-place
 * directory).  Never fails for what the machine looks like: what cannot be
 * known is NULL, UNKNOWN or -1.  Reads /proc and /sys; takes no lock; result
 * and strings live in the current memory context.  `root` is the prefix
 * for /proc and /sys, "" in production, so that fixtures can be tested.
 */
extern TierDevice *tier_device_lookup(Oid tablespace_oid, const char *root);

/*
 * The part of the lookup that does not touch the directory itself: sets
 * device, filesystem, mount_point, kind, rotational, is_virtual, compressed
 * and fs_id for an absolute path without symbolic links on the device number
 * major:minor (its st_dev), and leaves the other fields as they are.  0:0 is a
 * device number nobody has: the path alone then finds the mount.
 */
extern void tier_device_resolve(TierDevice *device, unsigned major,
								unsigned minor, const char *path,
								const char *root);

/* "unknown", "hdd", "sata_ssd", "nvme", "memory" */
extern const char *tier_device_kind_name(TierDeviceKind kind);

/*
 * The prior profile's name for a device: hdd_7200, sata_ssd, nvme, memory.
 * NULL when the kind is unknown: then only a calibration, or the user, can
 * tell.
 */
extern const char *tier_device_profile_name(const TierDevice *device);

/*
 * Free bytes (f_bavail) of the file system that holds path; -1: unknown.
 * *fs_id, unless fs_id is NULL, is as in TierDevice.
 */
extern int64 tier_device_free_bytes(const char *path, uint64 *fs_id);

#endif							/* TIER_DEVICE_H */
