/*-------------------------------------------------------------------------
 *
 * storage/compressor.c
 *		Compression as file systems do it, with the libraries of the system.
 *
 * See storage/compressor.h.  Uses only the part of each library that is unchanged since its
 * first stable version, and declares it here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <dlfcn.h>

#include "src/model/compression.h"
#include "src/storage/compressor.h"

/* The default level of btrfs, for zstd and zlib. */
#define LEVEL 3

/* More than any of them needs for a piece that cannot be compressed. */
#define OUTPUT_BYTES (2 * TIER_PIECE_BYTES)

/* LZO1X_1_MEM_COMPRESS: 16384 pointers. */
#define LZO_MEMORY_BYTES (16384 * sizeof(void *))

/* btrfs: the compressed length, and the length of each part. */
#define LZO_HEADER_BYTES 4

/* zfs: an eighth. */
#define ZFS_LEAST_SAVED 8

typedef size_t (*ZstdCompress) (void *output, size_t output_bytes, const void *input,
								size_t input_bytes, int level);
typedef unsigned (*ZstdIsError) (size_t result);
typedef int (*Lz4Compress) (const char *input, char *output, int input_bytes, int output_bytes);
typedef int (*ZlibCompress) (unsigned char *output, unsigned long *output_bytes,
							 const unsigned char *input, unsigned long input_bytes, int level);
typedef int (*LzoCompress) (const unsigned char *input, size_t input_bytes,
							unsigned char *output, size_t *output_bytes, void *memory);

typedef struct Compressor
{
	const char *name;
	const char *library;
	const char *symbols[2];
	double		(*compress) (const char *piece, int bytes);
	double		least_saved;	/* that part of the piece; 0: one sector */
} Compressor;

/* Of this process: set once, and the same from then on. */
static void *functions[TIER_COMPRESSORS][2];

/* Nothing of one call is left for the next. */
static char output[OUTPUT_BYTES];

enum
{
	ZSTD,
	LZ4,
	ZLIB,
	LZO,
};

static double
compress_zstd(const char *piece, int bytes)
{
	size_t		result = ((ZstdCompress) functions[ZSTD][0]) (output, OUTPUT_BYTES, piece,
															  bytes, LEVEL);

	return ((ZstdIsError) functions[ZSTD][1]) (result) ? 0 : (double) result;
}

static double
compress_lz4(const char *piece, int bytes)
{
	return ((Lz4Compress) functions[LZ4][0]) (piece, output, bytes, OUTPUT_BYTES);
}

static double
compress_zlib(const char *piece, int bytes)
{
	unsigned long result = OUTPUT_BYTES;

	if (((ZlibCompress) functions[ZLIB][0]) ((unsigned char *) output, &result,
											 (const unsigned char *) piece, bytes, LEVEL) != 0)
		return 0;
	return (double) result;
}

static double
compress_lzo(const char *piece, int bytes)
{
	static char memory[LZO_MEMORY_BYTES] pg_attribute_aligned(16);
	double		total = LZO_HEADER_BYTES;

	for (int i = 0; i < bytes; i += TIER_SECTOR_BYTES)
	{
		size_t		result = OUTPUT_BYTES;

		if (((LzoCompress) functions[LZO][0]) ((const unsigned char *) piece + i,
											   Min(TIER_SECTOR_BYTES, bytes - i),
											   (unsigned char *) output, &result, memory) != 0)
			return 0;
		total += LZO_HEADER_BYTES + result;
	}
	return total;
}

static const Compressor compressors[TIER_COMPRESSORS] = {
	[ZSTD] = {"zstd", "libzstd.so.1", {"ZSTD_compress", "ZSTD_isError"}, compress_zstd, 0},
	[LZ4] = {"lz4", "liblz4.so.1", {"LZ4_compress_default"}, compress_lz4, ZFS_LEAST_SAVED},
	[ZLIB] = {"zlib", "libz.so.1", {"compress2"}, compress_zlib, 0},
	[LZO] = {"lzo", "liblzo2.so.2", {"lzo1x_1_compress"}, compress_lzo, 0},
};

const char *
tier_compressor_name(int compressor)
{
	return compressors[compressor].name;
}

int
tier_compressor_find(const char *name)
{
	for (int i = 0; i < TIER_COMPRESSORS; i++)
		if (strcmp(compressors[i].name, name) == 0)
			return i;
	return -1;
}

static bool
find_functions(int compressor, void *library)
{
	void	   *found[2] = {NULL, NULL};

	for (int i = 0; i < 2 && compressors[compressor].symbols[i] != NULL; i++)
	{
		found[i] = dlsym(library, compressors[compressor].symbols[i]);
		if (found[i] == NULL)
			return false;
	}
	memcpy(functions[compressor], found, sizeof(found));
	return true;
}

/* That of the server, else that of the system. */
const char *
tier_compressor_why_not(int compressor)
{
	void	   *library;

	if (functions[compressor][0] != NULL || find_functions(compressor, RTLD_DEFAULT))
		return NULL;
	library = dlopen(compressors[compressor].library, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return psprintf("the system has no %s", compressors[compressor].library);
	if (find_functions(compressor, library))
		return NULL;
	dlclose(library);
	return psprintf("%s of the system is incompatible", compressors[compressor].library);
}

double
tier_compressor_stored(int compressor, const char *piece, int bytes)
{
	const Compressor *c = &compressors[compressor];

	return tier_piece_stored(bytes, c->compress(piece, bytes),
							 c->least_saved > 0 ? bytes / c->least_saved : TIER_SECTOR_BYTES);
}
