/*-------------------------------------------------------------------------
 *
 * catalog/policies.h
 *		Requests of users: policies, move windows and pins.
 *
 * Part of catalog/tables.h, which says what holds for all of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CATALOG_POLICIES_H
#define TIER_CATALOG_POLICIES_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "src/catalog/scope.h"
#include "src/catalog/tiers.h"
#include "src/model/move_window.h"
#include "src/model/policy.h"
#include "src/server/relation.h"

/* ---------------------------------------------------------------------
 * Policies
 * ---------------------------------------------------------------------
 */

/* The kind of a policy.  Policies of both kinds share one sequence of numbers. */
typedef enum TierPolicyKind
{
	TIER_POLICY_TIERING,
	TIER_POLICY_FULLNESS,
} TierPolicyKind;

typedef struct TierPolicyRow
{
	int			policy_id;
	Oid			relation_oid;	/* InvalidOid: it was dropped, or the policy
								 * is on a group of tables */
	Oid			owner_oid;		/* of the relation, as last seen; InvalidOid:
								 * a role of another cluster */
	char	   *relation_name;	/* qualified, for messages; loaded only */
	bool		is_group;		/* on all tables of a schema that no other
								 * policy is on */
	Oid			schema_oid;		/* if so; InvalidOid: does not exist */
	bool		on_shards;		/* the rows of the relation are in shards of
								 * Citus: it is on those that are here; set by
								 * decide/policy_group.c */
	struct TierGroup *group;	/* of a group, and of shards: the tables, as
								 * found by decide/policy_group.c; else NULL */
	char		relation_kind;	/* to add */
	NameData	tier_name;
	bool		has_move_after;
	Interval	move_after;
	bool		has_idle_for;
	Interval	idle_for;
	bool		has_no_writes_for;
	Interval	no_writes_for;
	double		below_reads_per_hour;	/* NaN: they do not matter */
	double		return_when_reads_per_hour; /* NaN: nothing returns */
	bool		has_return_after;
	Interval	return_after;	/* if not the default */
	bool		has_return_tier;
	NameData	return_tier;	/* if not where it came from */
	bool		include_indexes;
	bool		has_index_tier;
	NameData	index_tier;		/* if not that of the table */
	char	   *key_unit;		/* how the key tells the age; NULL: it is a
								 * time */
	char	   *time_zone;		/* of dates and intervals */
	Oid			created_by;		/* or altered; InvalidOid: that role is gone */
	bool		is_enabled;		/* loaded, and to change */
	TimestampTz added_at;		/* loaded, and to store: or altered then so
								 * that it may cause new moves */
} TierPolicyRow;

/*
 * The properties of a policy that can be altered besides its tier: columns of
 * _tiered_storage.policy, and keys of options.  An optional property has a has_ field, or is
 * NaN if unset.
 */
#define TIER_POLICY_PROPERTIES 11
extern const TierColumn tier_policy_properties[TIER_POLICY_PROPERTIES];

/* Ordered by policy_id; strings, too, are in the given context. */
extern TierPolicyRow *tier_catalog_load_policies(MemoryContext context, int *npolicies);

/*
 * Loads at least the policies with this number (0: any) and on this relation (0: any), which a
 * restored policy has by name.  Much cheaper than loading thousands of policies.
 */
extern TierPolicyRow *tier_catalog_load_policies_of(MemoryContext context, int policy_id,
													Oid relation_oid, int *npolicies);

/*
 * Adds a policy for the caller of the scope.  Returns its id; *existed says
 * that relation and tier had one already, whose id is then returned.  Errors:
 * the relation was dropped; another session adds the same policy at this moment.
 */
extern int	tier_catalog_add_policy(const TierCatalogScope *scope, const TierPolicyRow *row,
									bool *existed);

/* The number of policies that the role has created. */
extern int	tier_catalog_policies_made_by(Oid role_oid);

/*
 * Changes the policy with the id of the row to the values of the row, and to the rights of the
 * caller of the scope.  Returns false if it was removed.  Error: the relation already has a
 * policy for that tier.
 */
extern bool tier_catalog_change_policy(const TierCatalogScope *scope, const TierPolicyRow *row);

/*
 * Locks the policy against changes by others until the end of the transaction; waits for the
 * lock.
 */
extern void tier_catalog_lock_policy(TierPolicyKind kind, int policy_id);

/*
 * Enables or disables a policy by id; its rights are unchanged.  Returns false if it was
 * removed.
 */
extern bool tier_catalog_enable_policy(int policy_id, bool enabled);

/*
 * Returns true if the policy still exists, enabled and unaltered, with the rights of the same
 * role; if the tier (its own, that of its indexes or its return tier) has this tablespace; and
 * if the relation is still in the tree of its table.  Does not check the tables of a group and
 * the shards of a table: see tier_groups_find_above().
 */
extern bool tier_catalog_policy_wants(const TierPolicyRow *policy, Oid leaf_oid,
									  const NameData *tier, Oid tablespace_oid);

/* Deletes a policy by id.  Returns false if it was removed concurrently. */
extern bool tier_catalog_delete_policy(TierPolicyKind kind, int policy_id);

/* The result of an evaluation of a policy; fields that its kind does not have are -1, or NaN. */
typedef struct TierPolicyResult
{
	int			due;			/* relations */
	int			on_target;		/* already */
	double		fill;			/* of the tier; NaN: not known */
	int			leaving;		/* relations */
	const char *text;
} TierPolicyResult;

extern void tier_catalog_policy_evaluated(int policy_id, const TierPolicyResult *result);

/* ---------------------------------------------------------------------
 * Move windows (catalog/windows.c)
 * ---------------------------------------------------------------------
 */

typedef struct TierMoveWindowRow
{
	NameData	name;
	char	   *time_zone;		/* this server may not have it */
	bool		is_enabled;
	TierOpening opening;		/* opens_us 0: none */
} TierMoveWindowRow;

/* A row for each opening, in their order, or one for a window without, in the given context. */
extern TierMoveWindowRow *tier_catalog_load_move_windows(MemoryContext context, int *n);

/* Bytes of moves that run, or began in the last `seconds`, of any requester. */
extern double tier_catalog_bytes_moved_within(double seconds);

/*
 * Until when automatic moves are suspended because the server crashed during moves: for 1
 * minute from the third crash since the last completed move, then twice as long for each
 * further crash, at most an hour; 0: not suspended.
 */
extern TimestampTz tier_catalog_rests_until(void);

/* ---------------------------------------------------------------------
 * Fullness policies
 * ---------------------------------------------------------------------
 */

typedef struct TierFullnessRow
{
	int			policy_id;
	NameData	tier_name;
	NameData	target_name;
	double		high_watermark; /* NaN: that of the tier */
	double		low_watermark;
	bool		is_enabled;
} TierFullnessRow;

/* Ordered by policy_id, in the given context. */
extern TierFullnessRow *tier_catalog_load_fullness(MemoryContext context, int *n);

/*
 * Adds one for the caller of the scope.  Returns its id; *existed says that the tier
 * had one already, whose id is then returned.  Errors: a tier was removed; another
 * session adds one for this tier at this moment.
 */
extern int	tier_catalog_add_fullness(const TierCatalogScope *scope, const TierFullnessRow *row,
									  bool *existed);

/*
 * Changes the policy with the id of the row to the values of the row.  The caller of the scope
 * becomes its creator, unless disables_only.  Returns false if it was removed.
 */
extern bool tier_catalog_change_fullness(const TierCatalogScope *scope,
										 const TierFullnessRow *row, bool disables_only);

/* ---------------------------------------------------------------------
 * Pins
 * ---------------------------------------------------------------------
 */

/* A relation that is pinned to a tier. */
typedef struct TierPinned
{
	Oid			relation_oid;
	NameData	tier_name;
	char	   *pinned_as;		/* qualified name of the pinned relation:
								 * itself, its table, or a partitioned table
								 * above */
} TierPinned;

/* All that is pinned now, by OID: tables, partitions, indexes. */
typedef struct TierPins
{
	int			nrelations;
	TierPinned *relations;
} TierPins;

/*
 * Loads the relations that the pins in force hold, or only those pins that hold one relation.
 * The pins and their strings live in the given context.  Takes no lock on user objects.
 */
extern TierPins *tier_catalog_load_pins(MemoryContext context);
extern TierPins *tier_catalog_load_pin_of(MemoryContext context, Oid relation_oid);

/*
 * The pin that forbids moving the relation to a tier (index into the set, -1: to no tier), or
 * NULL if there is none.  Inside a scope or outside.  The result points into the pins.
 */
extern const TierPinned *tier_pins_against(const TierPins *pins, const TierSet *set,
										   Oid relation_oid, int tier);

/* The pin of the relation for any tier, or NULL. */
extern const TierPinned *tier_pins_find(const TierPins *pins, Oid relation_oid);

typedef struct TierPinRow
{
	Oid			relation_oid;
	Oid			owner_oid;
	char		kind;
	NameData	tier_name;
	TimestampTz until;			/* 0: for ever */
	bool		include_indexes;
} TierPinRow;

/*
 * Sets a pin for the caller of the scope, in place of the one that the
 * relation has.  The caller has brought identities up to date.  Error: the
 * relation was dropped.
 */
extern void tier_catalog_set_pin(const TierCatalogScope *scope, const TierPinRow *row);

/* Removes the relation's own pin.  Returns false if it has none. */
extern bool tier_catalog_remove_pin(Oid relation_oid);

/* Returns true if it has a pin; then sets *include_indexes. */
extern bool tier_catalog_has_pin(Oid relation_oid, bool *include_indexes);

#endif							/* TIER_CATALOG_POLICIES_H */
