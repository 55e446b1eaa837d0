/*-------------------------------------------------------------------------
 *
 * base/debug.h
 *		Points at which tests stop a mover, make it fail, or disable a rule.
 *
 * Only in debug builds (make TIER_DEBUG=1); in other builds the macros expand to nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DEBUG_H
#define TIER_DEBUG_H

#ifdef TIER_DEBUG

/*
 * A point that tests know by its name.  Waits while another session holds the advisory lock
 * (first key 'tier', second the hash of the name); this process keeps its locks meanwhile.
 * Then, if tiered_storage.debug_fault names the point, raises an error or a FATAL error, or
 * kills this process, as the setting says.
 */
extern void tier_debug_point(const char *name);

/*
 * A step for one relation.  Raises an error if tiered_storage.debug_relation names both:
 * "sample:a,verify:b", by the names of relations without their schema.
 */
extern void tier_debug_relation(const char *step, Oid relation_oid);

/* Returns true if tiered_storage.debug_skip names this rule, so that its test must fail. */
extern bool tier_debug_skips(const char *rule);

/* The prefix of /proc and /sys: tiered_storage.debug_root. */
extern const char *tier_debug_root(void);

/*
 * Constants that a test may set to another value, as tiered_storage.debug_NAME; negative:
 * not set.
 */
extern int	tier_debug_lock_attempts;
extern int	tier_debug_lock_hold_limit_ms;
extern int	tier_debug_lag_timeout_s;
extern int	tier_debug_tracked_relations;
extern int	tier_debug_track_group;
extern int	tier_debug_counters_lag_ms;

#define tier_debug_constant(name, value) (tier_debug_##name < 0 ? (value) : tier_debug_##name)

/* Defines the settings; called once, from _PG_init. */
extern void tier_debug_init(void);

#else

#define tier_debug_point(name) ((void) 0)
#define tier_debug_relation(step, relation_oid) ((void) 0)
#define tier_debug_skips(rule) false
#define tier_debug_root() ""
#define tier_debug_constant(name, value) (value)
#define tier_debug_init() ((void) 0)

#endif

#endif							/* TIER_DEBUG_H */
