/*-------------------------------------------------------------------------
 *
 * model/order.c
 *		In which order moves can be made so that no tier ever overflows.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "src/model/order.h"

#define MAX_TIERS 32

typedef enum Preference
{
	BY_GAIN,
	BY_LEAST_GAIN,
	SMALL_FIRST,
	LARGE_FIRST,
	N_PREFERENCES
} Preference;

/* Gain for each byte; what has no bytes is free and comes first. */
static double
density(const TierOrderMove *move)
{
	if (!(move->size > 0.0))
		return INFINITY;
	return isnan(move->gain) ? 0.0 : move->gain / move->size;
}

/* Is a to be tried before b?  Ties go by number, so that the order is certain. */
static bool
comes_before(const TierOrderMove *moves, int a, int b, Preference preference)
{
	double		left = 0.0;
	double		right = 0.0;

	switch (preference)
	{
		case BY_GAIN:
			left = density(&moves[b]);
			right = density(&moves[a]);
			break;
		case BY_LEAST_GAIN:
			left = density(&moves[a]);
			right = density(&moves[b]);
			break;
		case SMALL_FIRST:
			left = moves[a].size;
			right = moves[b].size;
			break;
		case LARGE_FIRST:
		default:
			left = moves[b].size;
			right = moves[a].size;
			break;
	}
	if (left < right)
		return true;
	if (left > right)
		return false;
	return a < b;
}

/* Heap sort: needs no context and no memory. */
static void
sift(const TierOrderMove *moves, int *heap, int root, int n, Preference preference)
{
	for (;;)
	{
		int			child = 2 * root + 1;
		int			swap;

		if (child >= n)
			return;
		if (child + 1 < n && comes_before(moves, heap[child], heap[child + 1], preference))
			child++;
		if (!comes_before(moves, heap[root], heap[child], preference))
			return;
		swap = heap[root];
		heap[root] = heap[child];
		heap[child] = swap;
		root = child;
	}
}

static void
sort(const TierOrderMove *moves, int *list, int n, Preference preference)
{
	for (int i = n / 2 - 1; i >= 0; i--)
		sift(moves, list, i, n, preference);
	for (int i = n - 1; i > 0; i--)
	{
		int			swap = list[0];

		list[0] = list[i];
		list[i] = swap;
		sift(moves, list, 0, i, preference);
	}
}

static bool
is_usable(const TierOrderMove *move, int ntiers)
{
	return move->to >= 0 && move->to < ntiers && move->from < ntiers && move->from != move->to &&
		move->size >= 0.0 && move->freed >= 0.0;
}

/* All moves that are possible, tried in one order of preference. */
static int
attempt(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
		Preference preference, int *order, int *pending)
{
	double		left[MAX_TIERS];
	int			npending = 0;
	int			done = 0;

	for (int t = 0; t < ntiers; t++)
		left[t] = room[t] > 0.0 ? room[t] : 0.0;
	for (int i = 0; i < nmoves; i++)
		if (is_usable(&moves[i], ntiers))
			pending[npending++] = i;
	sort(moves, pending, npending, preference);

	for (int pass = 0; pass < TIER_ORDER_PASSES && npending > 0; pass++)
	{
		int			kept = 0;

		for (int i = 0; i < npending; i++)
		{
			const TierOrderMove *move = &moves[pending[i]];

			if (move->size > left[move->to])
			{
				pending[kept++] = pending[i];
				continue;
			}
			left[move->to] -= move->size;
			if (move->from >= 0)
				left[move->from] += move->freed;
			order[done++] = pending[i];
		}
		if (kept == npending)
			break;
		npending = kept;
	}
	return done;
}

int
tier_order(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
		   int *order, int *scratch)
{
	int		   *other = scratch;
	int		   *pending = scratch + nmoves;
	int			best;

	if (nmoves <= 0 || ntiers <= 0 || ntiers > MAX_TIERS)
		return 0;
	best = attempt(moves, nmoves, room, ntiers, BY_GAIN, order, pending);
	for (int p = BY_GAIN + 1; p < N_PREFERENCES && best < nmoves; p++)
	{
		int			n = attempt(moves, nmoves, room, ntiers, (Preference) p, other, pending);

		if (n > best)
		{
			best = n;
			memcpy(order, other, sizeof(int) * (size_t) n);
		}
	}
	return best;
}

/* What is chosen so far. */
typedef struct Choice
{
	const TierOrderMove *moves;
	const int  *list;			/* usable moves, what is worth most first */
	int			nlist;
	double		left[MAX_TIERS];
	double		bytes_left;
	bool	   *chosen;
	int		   *helpers;		/* of the move that is looked at */
	long		effort;
} Choice;

static void
take(Choice *choice, int number)
{
	const TierOrderMove *move = &choice->moves[number];

	choice->chosen[number] = true;
	choice->bytes_left -= move->size;
	choice->left[move->to] -= move->size;
	if (move->from >= 0)
		choice->left[move->from] += move->freed;
}

static void
put_back(Choice *choice, int number)
{
	const TierOrderMove *move = &choice->moves[number];

	choice->chosen[number] = false;
	choice->bytes_left += move->size;
	choice->left[move->to] += move->size;
	if (move->from >= 0)
		choice->left[move->from] -= move->freed;
}

/* Takes one with what makes room for it, or nothing; returns how many. */
static int
take_with_helpers(Choice *choice, int number)
{
	const TierOrderMove *move = &choice->moves[number];
	int			nhelpers = 0;

	for (int i = 0; i < choice->nlist && choice->left[move->to] < move->size; i++)
	{
		int			helper = choice->list[i];
		const TierOrderMove *other = &choice->moves[helper];

		if (choice->effort-- <= 0)
			break;
		if (helper == number || choice->chosen[helper] || other->from != move->to ||
			other->size > choice->left[other->to] || other->size + move->size > choice->bytes_left)
			continue;
		take(choice, helper);
		choice->helpers[nhelpers++] = helper;
	}
	if (choice->left[move->to] >= move->size && choice->bytes_left >= move->size)
	{
		take(choice, number);
		return nhelpers + 1;
	}
	for (int i = 0; i < nhelpers; i++)
		put_back(choice, choice->helpers[i]);
	return 0;
}

int
tier_order_choose(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
				  double max_bytes, bool *chosen, int *scratch)
{
	Choice		choice;
	int			n = 0;

	if (nmoves <= 0 || ntiers <= 0 || ntiers > MAX_TIERS)
		return 0;
	memset(&choice, 0, sizeof(choice));
	choice.moves = moves;
	choice.list = scratch;
	choice.chosen = chosen;
	choice.helpers = scratch + nmoves;
	choice.bytes_left = max_bytes;
	choice.effort = TIER_ORDER_EFFORT;
	for (int t = 0; t < ntiers; t++)
		choice.left[t] = room[t] > 0.0 ? room[t] : 0.0;
	for (int i = 0; i < nmoves; i++)
	{
		chosen[i] = false;
		if (is_usable(&moves[i], ntiers))
			scratch[choice.nlist++] = i;
	}
	sort(moves, scratch, choice.nlist, BY_GAIN);

	/* What was taken later may have made room for what came before. */
	for (int pass = 0; pass < TIER_ORDER_PASSES; pass++)
	{
		int			before = n;

		for (int i = 0; i < choice.nlist; i++)
			if (!chosen[choice.list[i]])
				n += take_with_helpers(&choice, choice.list[i]);
		if (n == before)
			break;
	}
	return n;
}
