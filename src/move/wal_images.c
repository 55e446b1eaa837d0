/*-------------------------------------------------------------------------
 *
 * move/wal_images.c
 *		Compressing the images of pages that a move writes to the WAL.
 *
 * A server that was built without a codec cannot replay such images: its recovery fails.  This
 * server can, and so can a server that the same binaries restore from its archive.  A standby
 * may have been built differently, so nothing is compressed while there is one, connected or
 * with a slot, unless the administrator has set a codec.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"

#include "src/compat.h"
#include "src/move/wal_images.h"
#include "src/server/wal_lag.h"

/* A standby may come while a large relation is copied. */
#define LOOK_EVERY_BLOCKS ((64 * 1024 * 1024) / BLCKSZ)

/* Less than this part saved is not worth the CPU. */
#define LEAST_SAVED 0.2

/* Of 256 kB each: data of one relation is mostly of one kind. */
#define PLAIN_BATCHES 64

/* The codec to use; the current setting, if there is none. */
static int
codec(void)
{
#ifdef USE_LZ4
	return WAL_COMPRESSION_LZ4;
#elif defined(USE_ZSTD)
	return WAL_COMPRESSION_ZSTD;
#else
	return wal_compression;
#endif
}

int
tier_wal_images_begin(TierWalImages *images)
{
	int			setting = wal_compression;

	if (setting != WAL_COMPRESSION_NONE && setting != WAL_COMPRESSION_PGLZ)
		return setting;
	if (!images->is_known || images->logged_blocks >= LOOK_EVERY_BLOCKS)
	{
		images->may_compress = !tier_wal_is_streamed();
		images->is_known = true;
		images->logged_blocks = 0;
	}
	if (images->may_compress && images->plain_batches == 0)
		wal_compression = codec();
	return setting;
}

void
tier_wal_images_end(TierWalImages *images, int setting, int nblocks, XLogRecPtr start,
					XLogRecPtr end)
{
	bool		compressed = wal_compression != setting;

	wal_compression = setting;
	images->logged_blocks += nblocks;
	if (images->plain_batches > 0)
		images->plain_batches--;
	else if (compressed && nblocks > 1 &&
			 (double) (end - start) > (1.0 - LEAST_SAVED) * nblocks * BLCKSZ)
		images->plain_batches = PLAIN_BATCHES;
}
