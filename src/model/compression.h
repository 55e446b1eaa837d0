/*-------------------------------------------------------------------------
 *
 * model/compression.h
 *		Estimates the stored size on a file system that compresses, from some pieces.
 *
 * btrfs compresses at most 128 kB of a file at a time (BTRFS_MAX_UNCOMPRESSED), zfs one record,
 * 128 kB by default.  The result is stored in whole sectors; if too little is saved, the original
 * is stored.  So a relation is cut into pieces of that size, some of which are compressed.
 *
 * Pure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_COMPRESSION_H
#define TIER_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIER_PIECE_BYTES 131072
#define TIER_SECTOR_BYTES 4096

/* Fewer say nothing about how they differ, and more are not looked at. */
#define TIER_PIECES_LEAST 32
#define TIER_PIECES_MOST 512

/*
 * Bytes stored of a piece of piece_bytes that was compressed to compressed_bytes: in whole
 * sectors, and as it was unless that saves least_saved of them (btrfs: one sector; zfs: an
 * eighth of the piece).  Not positive, or not less than the piece: it could not be compressed.
 */
extern double tier_piece_stored(double piece_bytes, double compressed_bytes, double least_saved);

/*
 * The order in which n pieces (at least 1) are looked at: a permutation of 0 to n - 1 for i
 * from 0 to below 2^k, the least power of two that is not less than n, where -1 is none.  Of
 * the first 2^j there is one at random in each of 2^j parts of equal length, so that wherever
 * it ends, all of the relation has been looked at alike.  The same seed is the same order.
 */
extern int64_t tier_piece_at(uint64_t n, uint64_t i, uint64_t seed);

/* Sums over the pieces that were looked at.  All zero: none. */
typedef struct TierPieceSums
{
	double		n;
	double		bytes;
	double		stored;
	double		bytes_bytes;	/* of squares, and of products */
	double		stored_stored;
	double		bytes_stored;
} TierPieceSums;

extern void tier_piece_add(TierPieceSums *sums, double bytes, double stored);

/* Bytes of data per byte stored; the interval has it with a probability of 90 %. */
typedef struct TierCompressionEstimate
{
	double		ratio;			/* at least 1 */
	double		low;
	double		high;
} TierCompressionEstimate;

/*
 * Of a relation of so many pieces.  Sums of at least one piece; with one alone, of several,
 * the interval is all that is possible.  Where all were looked at, it is the ratio.
 */
extern TierCompressionEstimate tier_compression_estimate(const TierPieceSums *sums,
														 double pieces);

/* Returns true if the pieces are enough for the interval to be within 5 % of the ratio. */
extern bool tier_compression_is_sure(const TierPieceSums *sums, double pieces);

#endif							/* TIER_COMPRESSION_H */
