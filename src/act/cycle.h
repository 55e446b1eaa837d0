/*-------------------------------------------------------------------------
 *
 * act/cycle.h
 *		What is done at each sample, by the worker and by CALL sample().
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CYCLE_H
#define TIER_CYCLE_H

/*
 * Takes a sample inside the caller's transaction, and measures the effect of moves.
 * False as from tier_sample_run(), then nothing was done.
 */
extern bool tier_cycle_sample(int patience_ms);

#endif							/* TIER_CYCLE_H */
