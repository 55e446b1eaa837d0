/*-------------------------------------------------------------------------
 *
 * act/gate.h
 *		Decides whether an automatic move may begin now, or when.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_GATE_H
#define TIER_GATE_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/decide/window_schedule.h"

/*
 * When a move by the worker or by migrate() may begin: a move window must be open, the server
 * must not be under pressure (decide/pressure.h), and an optional move must not wear a device out
 * (decide/wear.h).  Called for each relation before it is moved, for the queue, and for
 * forecasts.  In a transaction, outside of a scope; strings live in the current memory context.
 * The cached state is at most a second old.
 */
extern TierMoveStart tier_gate_ask(const TierSet *set, const TierPlannedMove *move);

/* The same for a move of almost no bytes: whether any window is open. */
extern TierMoveStart tier_gate_ask_any(const TierSet *set, TierPressing pressing);

/*
 * Returns true if an open window limits the bytes.  Then no other process of this database can
 * take any of them until the transaction ends, and the cached state is loaded again.  Called
 * before the record of a move is made, which others count.  In a transaction, outside of a scope,
 * while holding nothing that others wait for.
 */
extern bool tier_gate_take_turn(void);

/* Discards the cached state: a move has ended, or something else begins. */
extern void tier_gate_forget(void);

/*
 * When the worker of this database looks for due moves next, or (*moves is false; moves may be
 * NULL) why it moves nothing; in words, as of this moment.
 */
extern char *tier_gate_worker_text(bool *moves);

#endif							/* TIER_GATE_H */
