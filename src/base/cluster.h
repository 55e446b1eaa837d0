/*-------------------------------------------------------------------------
 *
 * base/cluster.h
 *		What the databases of the cluster tell each other about their tiers.
 *
 * Exists only when the library was preloaded; without that nobody says anything.  It is lost
 * with a restart or a crash, and said again by the first cycle of each worker.  No relation is
 * named in it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CLUSTER_H
#define TIER_CLUSTER_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "src/model/share.h"

/* All rows together; a database whose rows do not fit publishes none. */
#define TIER_MAX_PUBLISHED 512

/* Of one tier; of a tier with more, the first ones. */
#define TIER_MAX_PUBLISHED_TABLESPACES 16

/*
 * A tier as one database defines it, what that has on it, and what it wants of it.  All rows
 * of a database are replaced at once, by its worker, and removed when the database has gone or
 * has lost the extension.  Guarded by a lock of their own.
 */
typedef struct TierPublished
{
	Oid			database_oid;
	int64		at_us;			/* when that was said; by
								 * tier_clock_monotonic_us */
	TimestampTz published_at;	/* the same, for people */

	/* The definition. */
	NameData	tier_name;
	int			ntablespaces;	/* all; only the first ones are there */
	Oid			tablespaces[TIER_MAX_PUBLISHED_TABLESPACES];	/* ascending */
	int			rank;
	double		capacity_bytes; /* given, or of the file systems; negative:
								 * not known */
	bool		capacity_is_given;
	double		reserve_fraction;
	double		high_watermark;
	double		low_watermark;
	double		price_per_gb_month;
	double		random_read_ms;
	double		sequential_read_mb_per_s;

	/* What the database has there, and wants. */
	double		used_bytes;		/* stored, of relations that are placed */
	double		occupied_s;		/* of the device, per hour; 3600 is all */
	TierShareDemand demand;
} TierPublished;

/*
 * Is there still such a database?  Not if its DROP DATABASE was interrupted.  What one has said
 * stays in shared memory until the launcher looks again, which may take a minute, so readers ask
 * this, in a transaction and with no lock of shared memory held.  An OID is not given to another
 * database as long as somebody remembers what the first one has said.
 */
extern bool tier_cluster_has_database(Oid database_oid);

/* Installs the shared memory hooks; only while preloading. */
extern void tier_cluster_init(void);

/*
 * Replaces what this database has said.  n = 0: it says nothing any more.  False: there is no
 * room for all of it, and it says nothing.
 */
extern bool tier_cluster_publish(Oid database_oid, const TierPublished *rows, int n);

/* Removes what all other databases but these have said; only where the library was preloaded. */
extern void tier_cluster_keep(const Oid *database_oids, int n);

/* Copies everything into the current memory context, in no particular order. */
extern TierPublished *tier_cluster_copy(int *n);

/* When the database has last said something, by tier_clock_monotonic_us; 0: it has not. */
extern int64 tier_cluster_published_at(Oid database_oid);

#endif							/* TIER_CLUSTER_H */
