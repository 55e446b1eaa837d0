/*-------------------------------------------------------------------------
 *
 * observe/device_reads.h
 *		The last step of a sample: estimating which reads of PostgreSQL reached the device.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_DEVICE_READS_H
#define TIER_DEVICE_READS_H

#include "postgres.h"

#include "src/model/device_state.h"
#include "src/model/relation_state.h"

/*
 * Of the relations that were active, estimates which of their reads reached the
 * device (device_* and load_* of the period), and advances the rates device_*;
 * after the merge of a sample, once.  Looks at the page cache of those that read
 * most, and of some others in turn, as far as the time allows.  Relations whose
 * share of it changed noticeably get `changed`.  Where the page cache cannot be
 * seen, only the fit says what reached the device; without
 * tiered_storage.test_page_cache all reads did.  worker_bytes: what I/O workers
 * have read from devices in these period_s seconds, for whomever; 0: not known.
 */
extern void tier_device_reads_correct(const TierDevices *devices,
									  TierRelationState *states, int nstates,
									  double worker_bytes, double period_s);

#endif							/* TIER_DEVICE_READS_H */
