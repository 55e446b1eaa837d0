/*-------------------------------------------------------------------------
 *
 * tier_device.h
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
	char	   *path;			/* absolute directory of the tablespace */
	bool		exists;			/* the directory can be stat'ed */
	bool		writable;		/* ... and is on a file system mounted rw, and
								 * access(W_OK|X_OK) says yes */
	char	   *device;			/* the whole disk's name as in /sys/block, e.g.
								 * "sda", "nvme0n1", "loop3", "dm-0"; for
								 * stacked devices the top one; NULL: unknown */
	char	   *filesystem;		/* type as in mountinfo, NULL: unknown */
	char	   *mount_point;	/* NULL: unknown */
	TierDeviceKind kind;
	bool		rotational;		/* as the kernel says; any lower device's */
	bool		is_virtual;		/* virtio, xen, ...: do not trust rotational */
	bool		compressed;		/* btrfs compress=, zfs */
	uint64		fs_id;			/* equal iff two tablespaces share a file
								 * system (st_dev; for btrfs that of the
								 * source device) */
	int64		total_bytes;	/* file system size, -1: unknown */
	int64		free_bytes;		/* free for an unprivileged user (f_bavail),
								 * -1: unknown */
} TierDevice;

/*
 * Looks at the directory of one tablespace.  For pg_default the cluster's
 * base directory; user tablespaces through pg_tblspc (symlink or in-place
 * directory).  Never fails for what the machine looks like: what cannot be
 * known is NULL, UNKNOWN or -1.  Reads /proc and /sys; takes no lock; result
 * and strings live in the current memory context.  `root` is the prefix
 * for /proc and /sys, "" in production, so that fixtures can be tested.
 */
extern TierDevice *tier_device_lookup(Oid tablespace_oid, const char *root);

/* The prior profile's name for a kind: hdd_7200, sata_ssd, nvme, ... */
extern const char *tier_device_profile_name(const TierDevice *device);

/* Free bytes (f_bavail) of the file system that holds path; -1: unknown. */
extern int64 tier_device_free_bytes(const char *path, uint64 *fs_id);

#endif							/* TIER_DEVICE_H */
