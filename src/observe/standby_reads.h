/*-------------------------------------------------------------------------
 *
 * observe/standby_reads.h
 *		Reads of standbys, pulled and added to those of this server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_STANDBY_READS_H
#define TIER_STANDBY_READS_H

#include "postgres.h"

/*
 * Worker only, outside of a transaction: asks the standbys whose time has come, one after the
 * other, and stores what each answers in a transaction of its own.  An error is in the view
 * standbys, or else in the log, and otherwise without consequence.
 */
extern void tier_standby_pull(void);

#endif							/* TIER_STANDBY_READS_H */
