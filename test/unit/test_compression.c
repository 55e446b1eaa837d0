/*-------------------------------------------------------------------------
 *
 * test_compression.c
 *		Tests of src/model/compression.c: what a file system would store.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "src/model/compression.h"
#include "tap.h"

#define PIECE ((double) TIER_PIECE_BYTES)
#define SECTOR ((double) TIER_SECTOR_BYTES)
#define MOST 4096

static void
test_stored(void)
{
	is(tier_piece_stored(PIECE, 1.0, SECTOR), SECTOR, "one sector at least");
	is(tier_piece_stored(PIECE, SECTOR, SECTOR), SECTOR, "just one");
	is(tier_piece_stored(PIECE, SECTOR + 1.0, SECTOR), 2.0 * SECTOR, "in whole sectors");
	is(tier_piece_stored(PIECE, PIECE - SECTOR, SECTOR), PIECE - SECTOR, "one is saved");
	is(tier_piece_stored(PIECE, PIECE - SECTOR + 1.0, SECTOR), PIECE, "none is saved");
	is(tier_piece_stored(PIECE, 0.9 * PIECE, PIECE / 8.0), PIECE, "less than an eighth is saved");
	is(tier_piece_stored(PIECE, 0.87 * PIECE, PIECE / 8.0), 28.0 * SECTOR, "an eighth is saved");
	is(tier_piece_stored(PIECE, 0.0, SECTOR), PIECE, "not compressed");
	is(tier_piece_stored(PIECE, 2.0 * PIECE, SECTOR), PIECE, "made longer");
	is(tier_piece_stored(2.0 * SECTOR, 100.0, SECTOR), SECTOR, "the last one is shorter");
	is(tier_piece_stored(SECTOR, 100.0, SECTOR), SECTOR, "nothing is less than a sector");
}

/* Each piece once, and of the first 2^j one in each of 2^j parts. */
static void
test_order(void)
{
	bool		once = true;
	bool		even = true;
	bool		other = false;

	for (uint64_t n = 1; n <= 300; n++)
	{
		bool		seen[512] = {false};
		uint64_t	found = 0;

		for (uint64_t i = 0; i < 512 && found < n; i++)
		{
			int64_t		piece = tier_piece_at(n, i, n * 7919);

			if (piece < 0)
				continue;
			once &= piece < (int64_t) n && !seen[piece];
			seen[piece] = true;
			found++;
			other |= piece != tier_piece_at(n, i, n * 7919 + 1);
		}
		once &= found == n;
	}
	for (int parts = 1; parts <= 1024; parts *= 2)
	{
		bool		seen[1024] = {false};

		for (int i = 0; i < parts; i++)
			seen[tier_piece_at(1024, i, 42) * parts / 1024] = true;
		for (int i = 0; i < parts; i++)
			even &= seen[i];
	}
	ok(once, "each piece is looked at once");
	ok(even, "wherever it ends, all parts have been looked at alike");
	ok(other, "another seed is another order");
	ok(tier_piece_at(1, 0, 5) == 0, "one piece");
}

/* How often the interval has the truth, of relations whose pieces differ; *n: the mean sample. */
static double
coverage(double spread, int pieces, double *n)
{
	static double stored[MOST];
	int			covered = 0;
	int			rounds = 400;

	*n = 0.0;
	for (int r = 0; r < rounds; r++)
	{
		TierPieceSums sums = {0};
		TierCompressionEstimate estimate;
		double		total = 0.0;

		for (int i = 0; i < pieces; i++)
			total += stored[i] = PIECE * (0.3 + spread * (random_unit() - 0.5));
		for (uint64_t i = 0; !tier_compression_is_sure(&sums, pieces); i++)
		{
			int64_t		piece = tier_piece_at(pieces, i, r + 1);

			if (piece >= 0)
				tier_piece_add(&sums, PIECE, stored[piece]);
		}
		estimate = tier_compression_estimate(&sums, pieces);
		covered += estimate.low <= pieces * PIECE / total * (1.0 + 1e-12) &&
			estimate.high >= pieces * PIECE / total * (1.0 - 1e-12);
		*n += sums.n / rounds;
	}
	return (double) covered / rounds;
}

static void
test_interval(void)
{
	TierPieceSums sums = {0};
	TierCompressionEstimate estimate;
	double		n;
	double		share = coverage(0.5, MOST, &n);

	ok(share > 0.84 && share < 0.96, "pieces that differ much: %.3f of intervals have it", share);

	/* (t * 0.144 / 0.3 / 0.05)^2 = 250, less what there are in all. */
	ok(n > 200.0 && n < 280.0, "after %.0f pieces on average", n);
	share = coverage(0.01, MOST, &n);
	ok(share > 0.84 && n <= 32.0, "pieces that are alike: %.3f, after %.0f", share, n);
	share = coverage(0.5, 20, &n);
	ok(share >= 1.0 && n >= 20.0, "all of a small relation is looked at: then it is known");

	tier_piece_add(&sums, PIECE, PIECE / 4.0);
	estimate = tier_compression_estimate(&sums, 100.0);
	is(estimate.ratio, 4.0, "one piece of many: its ratio,");
	is(estimate.low, 1.0, "and nothing is known");
	is(estimate.high, 32.0, "of the others");
	ok(!tier_compression_is_sure(&sums, 100.0), "which does not do");
	estimate = tier_compression_estimate(&sums, 1.0);
	is(estimate.low, 4.0, "one piece that is all");
	is(estimate.high, 4.0, "has no interval");

	memset(&sums, 0, sizeof(sums));
	for (int i = 0; i < TIER_PIECES_MOST; i++)
		tier_piece_add(&sums, PIECE, random_int(50) == 0 ? PIECE : SECTOR);
	ok(tier_compression_is_sure(&sums, 1e9), "there is an end to it");
	estimate = tier_compression_estimate(&sums, 1e9);
	ok(estimate.high - estimate.low > 0.1 * estimate.ratio, "though it is not known well");

	memset(&sums, 0, sizeof(sums));
	tier_piece_add(&sums, PIECE, PIECE / 4.0);
	tier_piece_add(&sums, SECTOR, SECTOR);
	is(tier_compression_estimate(&sums, 2.0).ratio, 33.0 / 9.0, "pieces count by their length");
}

int
main(void)
{
	test_stored();
	test_order();
	test_interval();
	return done();
}
