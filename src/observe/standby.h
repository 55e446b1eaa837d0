/*-------------------------------------------------------------------------
 *
 * observe/standby.h
 *		Reads of standbys, pulled and added to those of this server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_STANDBY_H
#define TIER_STANDBY_H

#include "postgres.h"

/*
 * Worker only, outside of a transaction: pulls the counters of the standbys
 * whose time has come, in a transaction of its own.  An error is logged, and
 * otherwise without consequence.
 */
extern void tier_standby_pull(void);

#endif							/* TIER_STANDBY_H */
