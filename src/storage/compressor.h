/*-------------------------------------------------------------------------
 *
 * storage/compressor.h
 *		Compression as file systems do it, with the libraries of the system.
 *
 * The server is linked with some of them, for its own use.  They are found when one is
 * asked for, so that the extension is built without their headers and is loaded where
 * they are missing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_COMPRESSOR_H
#define TIER_COMPRESSOR_H

#include "postgres.h"

/* zstd, lz4, zlib, lzo: numbers from 0 */
#define TIER_COMPRESSORS 4

/* The name as file systems have it, and its number; -1: it is none of them. */
extern const char *tier_compressor_name(int compressor);
extern int	tier_compressor_find(const char *name);

/*
 * NULL: it can be used.  Else why not, in words.  May load a library, which stays for as long
 * as the process.
 */
extern const char *tier_compressor_why_not(int compressor);

/*
 * Bytes that are stored of a piece of at most TIER_PIECE_BYTES, model/compression.h, if it
 * is compressed by the file system that has this algorithm: lzo is that of btrfs, which does
 * so sector by sector, lz4 that of zfs.  Only of one that can be used.
 */
extern double tier_compressor_stored(int compressor, const char *piece, int bytes);

#endif							/* TIER_COMPRESSOR_H */
