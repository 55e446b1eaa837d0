/*-------------------------------------------------------------------------
 *
 * catalog/tiers.h
 *		Tiers with their tablespaces.
 *
 * Part of catalog/tables.h, which says what holds for all of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CATALOG_TIERS_H
#define TIER_CATALOG_TIERS_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "src/model/compression.h"
#include "src/model/cost.h"
#include "src/model/relation_state.h"
#include "src/model/solver/solver.h"
#include "src/storage/device.h"

/* ---------------------------------------------------------------------
 * Tiers
 * ---------------------------------------------------------------------
 */

#define TIER_MAX_TIERS TIER_SOLVER_MAX_TIERS

typedef struct TierTablespace
{
	Oid			oid;			/* never 0: the default one has its own OID */
	NameData	name;
	int			tier;			/* index into TierSet.tiers */
	bool		discovered;		/* assigned by discover_tiers(), not by a user */
	TierDevice *device;			/* as it was when the set was loaded; never
								 * NULL */
} TierTablespace;

/*
 * A row of tier, and facts about the file systems beneath its tablespaces at the time when the
 * set was loaded: device_bytes, free_bytes, device_used_bytes and, unless it is set,
 * capacity_bytes.  They do not change afterwards; where free space must be exact, it is looked
 * up again (see move/space.h).
 */
typedef struct TierTier
{
	NameData	name;
	int			rank;			/* 0: fastest */
	TierCostProfile profile;	/* as defined or calibrated; the endurance per
								 * day is computed from the two below, and the
								 * ratio of a compressed tier from its file
								 * systems, unless it is set */
	bool		price_is_assumed;	/* the price is a default, not set by a
									 * user */
	bool		compressed;
	bool		is_object_store;	/* takes only tables without writes */
	double		reserve_fraction;	/* of the capacity, kept free */
	double		high_watermark; /* fractions of the capacity */
	double		low_watermark;
	double		emptied_above;	/* those of its fullness policy, if one is */
	double		emptied_to;		/* enabled; else 0 */
	int64		capacity_bytes; /* given, else of the file systems; -1:
								 * unknown */
	int64		device_bytes;	/* size of its distinct file systems; -1:
								 * unknown */
	int64		free_bytes;		/* of these; -1: unknown */
	int64		device_used_bytes;	/* of these, by everything on them,
									 * without what they reserve; -1: unknown */
	double		endurance_tbw;	/* 10^12 bytes in TIER_ENDURANCE_DAYS; 0: not
								 * known */
	double		endurance_dwpd; /* times device_bytes in a day; 0: not known */
} TierTier;

/* Manufacturers state TBW for a warranty of usually five years. */
#define TIER_ENDURANCE_DAYS (5 * 365.25)

/* All tiers by rank, then name; all their tablespaces by OID. */
typedef struct TierSet
{
	int			ntiers;
	TierTier   *tiers;
	int			ntablespaces;
	TierTablespace *tablespaces;
} TierSet;

/*
 * Loads the tiers and looks at their devices; the set lives in the given
 * context.  Takes no lock on a tablespace.  More than TIER_MAX_TIERS tiers are an
 * error.
 */
extern TierSet *tier_catalog_load_tiers(MemoryContext context);

/* The same outside of a scope, in the current memory context; NULL: there is no extension. */
extern TierSet *tier_catalog_tiers_now(void);

/*
 * The figures of a device profile, and its drive writes per day, 0 where they are not known.
 * False: there is no such profile.
 */
extern bool tier_catalog_find_profile(const char *name, TierCostProfile *figures,
									  double *endurance_dwpd);

/*
 * Where there is one tier: statements that make two of the tablespaces that there are,
 * in the given context; NULL: there is no tablespace for a second one.
 */
extern char *tier_catalog_second_tier_statements(MemoryContext context);

/* Returns true if the tier has this tablespace now. */
extern bool tier_catalog_tier_has(const char *tier_name, Oid tablespace_oid);

/*
 * Locks the tier against removal and renaming until the end of the transaction; waits for the
 * lock.  Error: the tier was removed.
 */
extern void tier_catalog_hold_tier(const NameData *tier_name);

/*
 * The functions below work on a loaded set, inside a scope or outside of it, run no statement,
 * and allocate nothing.
 */

/*
 * The compression ratio of the tier: bytes of its files for each byte that its file systems
 * store, at most some seconds old; see tier_cost_ratio_of_files().  Looks at the files of all
 * databases.
 */
extern double tier_set_compression_ratio(const TierSet *set, int tier);

/*
 * Stored bytes of other databases on a tier with this capacity, at most some seconds old; 0 if
 * the capacity is that of the file systems, whose free space accounts for them.  Looks at
 * their files.
 */
extern double tier_set_others_bytes(const TierSet *set, int tier, double capacity_bytes);

/*
 * Returns true if the tier's capacity is less than that of its file systems, so that the bytes
 * of other databases count.
 */
extern bool tier_set_counts_others(const TierSet *set, int tier);

/*
 * Bytes that may be added to its file systems if the tier had this capacity; negative: so much of
 * the reserve is taken.  A capacity beyond the file systems' size is that of larger ones.
 * INFINITY: not known.
 */
extern double tier_set_room_on_disk(const TierSet *set, int tier, double capacity_bytes);

/*
 * Bytes, stored, that relations have of the tier's capacity at this moment, by their files,
 * whether or not a sample or a catalog knows them: all forks of relations of this database,
 * temporary ones included, and the bytes of other databases, as above.
 */
extern double tier_set_bytes_now(const TierSet *set, int tier);

/* Index of a tier by its name, or by the OID of a tablespace; -1: none. */
extern int	tier_set_find_tier(const TierSet *set, const char *name);
extern int	tier_set_tier_of_tablespace(const TierSet *set, Oid tablespace_oid);

/* The name of a tier by its index; NULL: it is none. */
extern const char *tier_set_tier_name(const TierSet *set, int tier);

/* Index of the tier of that name, or an error. */
extern int	tier_require_tier(const TierSet *set, const char *name);

/* A hint for a name that no tier has, in the current memory context. */
extern char *tier_set_name_hint(const TierSet *set, const char *name);

/*
 * Raises an error unless the current user may create on at least one of the
 * tier's tablespaces, or if it has none.  Outside of a scope, in which the
 * current user is another one.
 */
extern void tier_require_tier_rights(const TierSet *set, int tier);

/* The tablespace entry of this OID, or NULL. */
extern const TierTablespace *tier_set_tablespace(const TierSet *set, Oid tablespace_oid);

/* Returns true if they are the same, or known to be on one file system. */
extern bool tier_set_same_file_system(const TierTablespace *a, const TierTablespace *b);

/*
 * The tablespace of the tier with the most free space beyond its reserve, of those that exist, are
 * writable, and that the role may use; if there is none, any of the tier, or InvalidOid.  Of those
 * on one file system it is the first.
 */
extern Oid	tier_set_usable_tablespace(const TierSet *set, int tier, Oid role_oid);

/* Bytes that are, or will be, added to its file system since the set was loaded. */
typedef double (*TierAddedBytes) (const TierTablespace *tablespace, const void *argument);

/* The same with these added bytes; added may be NULL. */
extern Oid	tier_set_usable_after(const TierSet *set, int tier, Oid role_oid,
								  TierAddedBytes added, const void *argument);

/*
 * Why no relation can be placed on the tier, in words that follow its name ("has no
 * tablespace"), a constant; NULL if it has a tablespace that exists and is writable.
 */
extern const char *tier_set_why_closed(const TierSet *set, int tier);

/*
 * Brings stored names and OIDs of tablespaces, policies and pins up to date with
 * the cluster (renames, restores), deletes tablespaces that were dropped, and
 * records moves as failed whose process has ended.  Locks the rows that it
 * changes to the end of the transaction.
 */
extern void tier_catalog_refresh_identities(void);

#endif							/* TIER_CATALOG_TIERS_H */
