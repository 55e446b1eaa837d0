/*-------------------------------------------------------------------------
 *
 * catalog/tables.h
 *		The only code that reads and writes the extension's own tables.
 *
 * Everything that outlives a transaction is in a table in the schema _tiered_storage; the C
 * structs below are copies of rows, which belong to the process that loaded them and are never
 * shared between processes.  Our tables belong to the owner of the extension, and no other
 * role may write them: a function that a user calls checks the user, and then works on the
 * tables inside a scope, with the owner's rights and a fixed search_path, and executes no code
 * of the user.  Rows are changed by
 *
 *		state, the unlogged tables of sql/06_state.sql
 *					a sample, which holds the sampler's lock to the end of its
 *					transaction; a move updates the relation_state of what it
 *					has moved, if no sample has these rows locked
 *		move, move_effect
 *					the process that moves; a sample measures effects later
 *		policy, pin	sessions, by SQL functions; what migrate has found is state
 *		tier_*		sessions, by SQL functions
 *
 * and by tier_catalog_refresh_identities(), after renames and restores.
 *
 * Each statement sees the data that were committed when it began, as in READ COMMITTED.  After
 * tier_catalog_hold_snapshot() all statements of a scope use one snapshot; a decision that
 * waits for a lock must not call it.  Row locks are taken in the order relation_state,
 * move_effect.
 *
 * Memory.  A scope is a connection to SPI.  After tier_catalog_enter(), and again
 * after each statement, CurrentMemoryContext is SPI's procedure context, which
 * tier_catalog_leave() frees when it returns to the context in which the scope
 * was entered.  So functions that return more than a number take the context in
 * which the result lives, for which callers pass one that they have taken
 * before they entered; what a function does not return is freed with the scope.
 * Unless a comment says otherwise, each function below that is about tables runs
 * inside a scope, runs at least one statement, and raises the errors of SQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CATALOG_H
#define TIER_CATALOG_H

#include "postgres.h"

#include "src/catalog/circumstances.h"
#include "src/catalog/moves.h"
#include "src/catalog/policies.h"
#include "src/catalog/samples.h"
#include "src/catalog/scope.h"
#include "src/catalog/standbys.h"
#include "src/catalog/tiers.h"

#endif							/* TIER_CATALOG_H */
