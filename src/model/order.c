/*-------------------------------------------------------------------------
 *
 * model/order.c
 *		In which order moves can be made so that no tier ever overflows.
 *
 *-------------------------------------------------------------------------
 */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "src/model/order.h"

#define MAX_TIERS 32

typedef enum Preference
{
	BY_GAIN,					/* for each second */
	BY_LEAST_GAIN,
	SMALL_FIRST,
	LARGE_FIRST,
	N_PREFERENCES,
	BY_DENSITY = N_PREFERENCES	/* gain for each byte; not for an order */
} Preference;

static double
gain_of(const TierOrderMove *move)
{
	return isnan(move->gain) ? 0.0 : move->gain;
}

/* Gain for each of something; what takes nothing of it is free and comes first. */
static double
gain_per(double gain, double amount)
{
	return amount > 0.0 ? gain / amount : INFINITY;
}

static double
rate(const TierOrderMove *move)
{
	return gain_per(gain_of(move), move->seconds);
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
			left = rate(&moves[b]);
			right = rate(&moves[a]);
			break;
		case BY_LEAST_GAIN:
			left = rate(&moves[a]);
			right = rate(&moves[b]);
			break;
		case BY_DENSITY:
			left = gain_per(gain_of(&moves[b]), moves[b].bytes);
			right = gain_per(gain_of(&moves[a]), moves[a].bytes);
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
		move->size >= 0.0 && move->freed >= 0.0 && move->bytes >= 0.0;
}

/* The moves that can be made at all, by number; returns how many. */
static int
list_usable(const TierOrderMove *moves, int nmoves, int ntiers, int *list)
{
	int			n = 0;

	for (int i = 0; i < nmoves; i++)
		if (is_usable(&moves[i], ntiers))
			list[n++] = i;
	return n;
}

/* An order that is being made. */
typedef struct Attempt
{
	const TierOrderMove *moves;
	double		left[MAX_TIERS];
	int		   *order;
	int			done;			/* so many are in it */
	int		   *pending;		/* in order of preference; TAKEN: is in it;
								 * ~number: helps, and may be taken back */
	int			npending;
	int			helpers_end;	/* behind the last of these */
	long		effort;
} Attempt;

#define TAKEN INT_MIN

static void
make(Attempt *attempt, int number)
{
	const TierOrderMove *move = &attempt->moves[number];

	attempt->left[move->to] -= move->size;
	if (move->from >= 0)
		attempt->left[move->from] += move->freed;
	attempt->order[attempt->done++] = number;
}

static void
take_last_back(Attempt *attempt)
{
	const TierOrderMove *move = &attempt->moves[attempt->order[--attempt->done]];

	attempt->left[move->to] += move->size;
	if (move->from >= 0)
		attempt->left[move->from] -= move->freed;
}

static bool
fits(const Attempt *attempt, const TierOrderMove *move)
{
	return move->size <= attempt->left[move->to];
}

/*
 * Makes what makes room for the pending move at `place`, and the move itself; false:
 * not enough can.  To be settled.  *together: what all of that gains for each second.
 */
static bool
make_with_helpers(Attempt *attempt, int place, double *together)
{
	const TierOrderMove *move = &attempt->moves[attempt->pending[place]];
	double		gain = gain_of(move);
	double		seconds = move->seconds;

	attempt->helpers_end = place + 1;
	for (int i = place + 1; i < attempt->npending && !fits(attempt, move); i++)
	{
		const TierOrderMove *helper;

		if (attempt->effort-- <= 0)
			break;
		if (attempt->pending[i] == TAKEN)
			continue;
		helper = &attempt->moves[attempt->pending[i]];
		if (helper->from != move->to || !(helper->freed > 0.0) || !fits(attempt, helper))
			continue;
		make(attempt, attempt->pending[i]);
		attempt->pending[i] = ~attempt->pending[i];
		attempt->helpers_end = i + 1;
		gain += gain_of(helper);
		seconds += helper->seconds;
	}
	*together = gain_per(gain, seconds);
	if (!fits(attempt, move))
		return false;
	make(attempt, attempt->pending[place]);
	return true;
}

/* The helpers, and the move at `place` if it was made, are in the order or not. */
static void
settle(Attempt *attempt, int place, int before, bool keep)
{
	while (!keep && attempt->done > before)
		take_last_back(attempt);
	for (int i = place; i < attempt->helpers_end; i++)
		if (attempt->pending[i] < 0 && attempt->pending[i] != TAKEN)
			attempt->pending[i] = keep ? TAKEN : ~attempt->pending[i];
	if (keep)
		attempt->pending[place] = TAKEN;
}

/* Puts a pending move behind what is worth more than `worth` for each second. */
static bool
put_off(Attempt *attempt, int place, double worth)
{
	int			number = attempt->pending[place];
	int			to = place;

	for (int i = place + 1; i < attempt->npending; i++)
		if (attempt->pending[i] >= 0)
		{
			if (rate(&attempt->moves[attempt->pending[i]]) <= worth)
				break;
			to = i;
		}
	memmove(&attempt->pending[place], &attempt->pending[place + 1],
			sizeof(int) * (size_t) (to - place));
	attempt->pending[to] = number;
	attempt->effort -= to - place;
	return to != place;
}

typedef enum Helped
{
	HELPED,						/* made, and what makes room for it */
	PUT_OFF,					/* something else is at its place now */
	NO_HELP,
} Helped;

/*
 * A move that has no room: now, later, or not yet?  Two of them may each put the other
 * off, so that the caller says when that has an end.
 */
static Helped
help(Attempt *attempt, int place, bool may_put_off)
{
	int			before = attempt->done;
	double		together;
	Helped		helped = HELPED;

	if (attempt->effort <= 0)
		return NO_HELP;
	if (!make_with_helpers(attempt, place, &together) || !(together > 0.0))
		helped = NO_HELP;
	else if (may_put_off && put_off(attempt, place, together))
		helped = PUT_OFF;
	settle(attempt, place, before, helped == HELPED);
	return helped;
}

/* All moves of `pending` that are possible, tried in one order of preference. */
static int
try_order(const TierOrderMove *moves, const double *room, int ntiers,
		  Preference preference, int *order, int *pending, int npending)
{
	Attempt		attempt;

	memset(&attempt, 0, sizeof(attempt));
	attempt.moves = moves;
	attempt.order = order;
	attempt.pending = pending;
	attempt.npending = npending;
	attempt.effort = TIER_ORDER_EFFORT;
	for (int t = 0; t < ntiers; t++)
		attempt.left[t] = isnan(room[t]) ? 0.0 : room[t];
	sort(moves, pending, attempt.npending, preference);

	for (int pass = 0; pass < TIER_ORDER_PASSES && attempt.npending > 0; pass++)
	{
		int			before = attempt.done;
		int			kept = 0;
		int			times_put_off = 0;	/* what was at this place */

		for (int i = 0; i < attempt.npending;)
		{
			Helped		helped = NO_HELP;

			if (pending[i] != TAKEN && fits(&attempt, &moves[pending[i]]))
				make(&attempt, pending[i]);
			else if (pending[i] != TAKEN)
			{
				if (preference == BY_GAIN)
					helped = help(&attempt, i, times_put_off < attempt.npending - i);
				if (helped == PUT_OFF)
				{
					times_put_off++;
					continue;
				}
				if (helped == NO_HELP)
					pending[kept++] = pending[i];
			}
			i++;
			times_put_off = 0;
		}
		if (attempt.done == before)
			break;
		attempt.npending = kept;
	}
	return attempt.done;
}

/* What is chosen so far. */
typedef struct Choice
{
	const TierOrderMove *moves;
	int		   *list;			/* usable moves, what is worth most first;
								 * ~number: chosen */
	int			nlist;
	double		left[MAX_TIERS];
	double		bytes_left;
	int		   *order;			/* in which they were chosen, and can be made */
	int			done;
	int		   *places;			/* in the list, of what is in the order */
	long		effort;
} Choice;

static void
take(Choice *choice, int place)
{
	int			number = choice->list[place];
	const TierOrderMove *move = &choice->moves[number];

	choice->list[place] = ~number;
	choice->bytes_left -= move->bytes;
	choice->left[move->to] -= move->size;
	if (move->from >= 0)
		choice->left[move->from] += move->freed;
	choice->places[choice->done] = place;
	choice->order[choice->done++] = number;
}

static void
put_last_back(Choice *choice)
{
	int			number = choice->order[--choice->done];
	const TierOrderMove *move = &choice->moves[number];

	choice->list[choice->places[choice->done]] = number;
	choice->bytes_left += move->bytes;
	choice->left[move->to] += move->size;
	if (move->from >= 0)
		choice->left[move->from] -= move->freed;
}

/* Takes one with what makes room for it, or nothing. */
static void
take_with_helpers(Choice *choice, int place)
{
	const TierOrderMove *move = &choice->moves[choice->list[place]];
	int			before = choice->done;

	for (int i = 0; i < choice->nlist && choice->left[move->to] < move->size; i++)
	{
		const TierOrderMove *other;

		if (choice->effort-- <= 0)
			break;
		if (i == place || choice->list[i] < 0)
			continue;
		other = &choice->moves[choice->list[i]];
		if (other->from != move->to || other->size > choice->left[other->to] ||
			other->bytes + move->bytes > choice->bytes_left)
			continue;
		take(choice, i);
	}
	if (choice->left[move->to] >= move->size && choice->bytes_left >= move->bytes)
		take(choice, place);
	else
		while (choice->done > before)
			put_last_back(choice);
}

/* In `order`, in which they can be made; list, places: arrays of nmoves. */
static int
choose(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
	   double max_bytes, int *order, int *list, int *places)
{
	Choice		choice;

	memset(&choice, 0, sizeof(choice));
	choice.moves = moves;
	choice.list = list;
	choice.places = places;
	choice.order = order;
	choice.bytes_left = max_bytes;
	choice.effort = TIER_ORDER_EFFORT;
	for (int t = 0; t < ntiers; t++)
		choice.left[t] = isnan(room[t]) ? 0.0 : room[t];
	choice.nlist = list_usable(moves, nmoves, ntiers, list);
	sort(moves, list, choice.nlist, BY_DENSITY);

	/* What was taken later may have made room for what came before. */
	for (int pass = 0; pass < TIER_ORDER_PASSES; pass++)
	{
		int			before = choice.done;

		for (int i = 0; i < choice.nlist; i++)
			if (list[i] >= 0)
				take_with_helpers(&choice, i);
		if (choice.done == before)
			break;
	}
	return choice.done;
}

/* What comes of an order. */
typedef struct Outcome
{
	double		over;			/* by how much tiers are too full after it */
	double		gained;			/* by what gains anything */
	int			made;
} Outcome;

/* Sums in the order of the numbers, so that the same moves are worth the same in any order. */
static Outcome
outcome_of(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
		   const int *order, int n, int *scratch)
{
	Outcome		outcome = {0.0, 0.0, n};
	double		left[MAX_TIERS];

	for (int t = 0; t < ntiers; t++)
		left[t] = isnan(room[t]) ? 0.0 : room[t];
	for (int i = 0; i < nmoves; i++)
		scratch[i] = 0;
	for (int i = 0; i < n; i++)
		scratch[order[i]] = 1;
	for (int i = 0; i < nmoves; i++)
	{
		if (!scratch[i])
			continue;
		if (gain_of(&moves[i]) > 0.0)
			outcome.gained += gain_of(&moves[i]);
		left[moves[i].to] -= moves[i].size;
		if (moves[i].from >= 0)
			left[moves[i].from] += moves[i].freed;
	}
	for (int t = 0; t < ntiers; t++)
		if (left[t] < 0.0)
			outcome.over -= left[t];
	return outcome;
}

static bool
is_better(const Outcome *a, const Outcome *b)
{
	if (a->over != b->over)
		return a->over < b->over;
	if (a->gained != b->gained)
		return a->gained > b->gained;
	return a->made > b->made;
}

int
tier_order(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
		   int *order, int *scratch)
{
	int		   *other = scratch;
	int		   *pending = scratch + nmoves;
	Outcome		best = {0};

	if (nmoves <= 0 || ntiers <= 0 || ntiers > MAX_TIERS)
		return 0;

	/* The last one is that of what would be chosen without a limit. */
	for (int p = BY_GAIN; p <= N_PREFERENCES && best.made < nmoves; p++)
	{
		Outcome		outcome;
		int			n;

		if (p == N_PREFERENCES)
			n = choose(moves, nmoves, room, ntiers, INFINITY, other, pending,
					   scratch + 2 * nmoves);
		else
		{
			n = list_usable(moves, nmoves, ntiers, pending);
			n = try_order(moves, room, ntiers, (Preference) p, other, pending, n);
		}
		outcome = outcome_of(moves, nmoves, room, ntiers, other, n, pending);
		if (p == BY_GAIN || is_better(&outcome, &best))
		{
			best = outcome;
			memcpy(order, other, sizeof(int) * (size_t) n);
		}
	}
	return best.made;
}

int
tier_order_choose(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
				  double max_bytes, int *order, int *scratch)
{
	int		   *other = scratch;
	int		   *pending = scratch + nmoves;
	int			n;

	if (nmoves <= 0 || ntiers <= 0 || ntiers > MAX_TIERS)
		return 0;
	n = choose(moves, nmoves, room, ntiers, max_bytes, order, pending, scratch + 2 * nmoves);

	/*
	 * The order in which they were chosen is not that in which most is gained
	 * soonest.
	 */
	memcpy(pending, order, sizeof(int) * (size_t) n);
	if (try_order(moves, room, ntiers, BY_GAIN, other, pending, n) == n)
		memcpy(order, other, sizeof(int) * (size_t) n);
	return n;
}

/*
 * Before which place of the order the helper at `place` has to be made; n: nobody needs
 * it.  left: of its tier before it.  *left_over: of its tier at the end, without it.
 */
static int
needed_before(const TierOrderMove *moves, const int *order, int n, int place, double left,
			  double *left_over)
{
	int			tier = moves[order[place]].from;
	int			needed = n;

	for (int i = place + 1; i < n && needed == n; i++)
	{
		const TierOrderMove *move = &moves[order[i]];

		if (move->to == tier)
		{
			if (move->size > left)
				needed = i;
			left -= move->size;
		}
		if (move->from == tier)
			left += move->freed;
	}
	*left_over = left;
	return needed;
}

static void
put_before(int *order, int from, int to)
{
	int			number = order[from];

	memmove(&order[from], &order[from + 1], sizeof(int) * (size_t) (to - 1 - from));
	order[to - 1] = number;
}

int
tier_order_spare(const TierOrderMove *moves, int *order, int n, const double *room, int ntiers,
				 const bool *helps, bool *missed)
{
	double		left[MAX_TIERS];
	long		effort = TIER_ORDER_EFFORT;

	if (ntiers > MAX_TIERS)
		return n;
	for (int t = 0; t < ntiers; t++)
		left[t] = isnan(room[t]) ? 0.0 : room[t];
	for (int i = 0; i < n; i++)
	{
		left[moves[order[i]].to] -= moves[order[i]].size;
		if (moves[order[i]].from >= 0)
			left[moves[order[i]].from] += moves[order[i]].freed;
	}

	/* The last first: what it needs itself comes before it, wherever it goes. */
	for (int place = n - 1; place >= 0 && effort > 0; place--)
	{
		int			number = order[place];
		const TierOrderMove *move = &moves[number];
		double		left_over;
		int			needed;

		left[move->to] += move->size;
		if (move->from < 0)
			continue;
		left[move->from] -= move->freed;
		if (!helps[number])
			continue;
		needed = needed_before(moves, order, n, place, left[move->from], &left_over);
		effort -= n - place;
		if (needed < n)
			put_before(order, place, needed);
		else if (missed[move->from] && left_over >= 0.0)
		{
			missed[move->to] = true;
			put_before(order, place, n--);
		}
	}
	return n;
}
