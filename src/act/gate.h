/*-------------------------------------------------------------------------
 *
 * act/gate.h
 *		May a move begin now that nobody has asked for, or when?
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_GATE_H
#define TIER_GATE_H

#include "postgres.h"

#include "src/catalog/tables.h"
#include "src/decide/window_schedule.h"

/*
 * When would a move begin that the worker or migrate() makes: is a move window open, is
 * the server not under pressure (decide/pressure.h), and does an optional one wear nothing
 * out (decide/wear.h)?  For each relation before
 * it is moved, for the queue, and for whoever wants to know beforehand.  In a
 * transaction, outside of a scope; strings live in the current memory context.  What it
 * knows is a second old at most.
 */
extern TierMoveStart tier_gate_ask(const TierSet *set, const TierPlannedMove *move);

/* The same of a move of next to nothing: is any window open? */
extern TierMoveStart tier_gate_ask_any(const TierSet *set, TierPressing pressing);

/*
 * Does an open window permit only so many bytes more?  Then no other process of this database
 * takes of them until the transaction ends, and what is known is looked up again.  Before the
 * record of a move is made, which others count.  In a transaction, outside of a scope, with
 * nothing held that others wait for.
 */
extern bool tier_gate_take_turn(void);

/* What is known is looked up again: a move has ended, or something else begins. */
extern void tier_gate_forget(void);

/*
 * When the worker of this database looks what is due, or (*moves is false, which may be
 * NULL) why it moves nothing; in words, of the moment.
 */
extern char *tier_gate_worker_text(bool *moves);

#endif							/* TIER_GATE_H */
