/*-------------------------------------------------------------------------
 *
 * act/freeze.h
 *		Freezing tables before the worker moves them to an object store.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_FREEZE_H
#define TIER_FREEZE_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "src/act/move_request.h"

/*
 * Returns true if nothing keeps the relation from its target but that its table is not frozen,
 * and adds its table to the list, in PortalContext.  In a transaction.
 */
extern bool tier_freeze_add(List **requests, const TierMoveRequest *request,
							const TierRelationInfo *info, const TierSet *set);

/*
 * Vacuums the tables of the requests, if moves may begin and the requesters may still move them.
 * Of a worker at top level, without SPI, in no transaction.  An error about one is logged; a
 * cancel is thrown.
 */
extern void tier_freeze(const List *requests);

#endif							/* TIER_FREEZE_H */
