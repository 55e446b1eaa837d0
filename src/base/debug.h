/*-------------------------------------------------------------------------
 *
 * base/debug.h
 *		Where tests stop a mover, break it, or take a rule away from it.
 *
 * Only in debug builds (make TIER_DEBUG=1).  Elsewhere nothing of it is left.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DEBUG_H
#define TIER_DEBUG_H

#ifdef TIER_DEBUG

/*
 * A point that tests know by its name.  Waits there as long as somebody holds
 * the advisory lock (tier_debug_lock_class, hash of the name), with whatever
 * locks we have.  Then, if the name is that of tiered_storage.debug_fault,
 * what that says happens: an error, a FATAL error, or SIGKILL to ourselves.
 */
extern void tier_debug_point(const char *name);

/* Is this rule named in tiered_storage.debug_skip, to see its test fail? */
extern bool tier_debug_skips(const char *rule);

/* What is put before /proc and /sys: tiered_storage.debug_root. */
extern const char *tier_debug_root(void);

extern void tier_debug_init(void);

#else

#define tier_debug_point(name) ((void) 0)
#define tier_debug_skips(rule) false
#define tier_debug_root() ""
#define tier_debug_init() ((void) 0)

#endif

#endif							/* TIER_DEBUG_H */
