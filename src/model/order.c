/*-------------------------------------------------------------------------
 *
 * model/order.c
 *		In which order moves can be made so that no tier ever overflows.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/order.h"

#define MAX_TIERS 32

/* A move taken later may have made room for an earlier candidate. */
#define MOST_PASSES 64

/* Searches for moves that could make room, or need it. */
#define MOST_EFFORT 10000000L

/* A move that can be made at all. */
typedef struct Usable
{
	int			number;
	bool		is_taken;
	double		density;		/* gain for each byte */
} Usable;

typedef struct Choice
{
	const TierOrderMove *moves;
	Usable	   *usable;			/* the largest value first */
	int			nusable;
	double		left[MAX_TIERS];
	double		bytes_left;
	int		   *order;
	int		   *places;			/* of the order, as indexes into usable */
	int			done;
	long		effort;
} Choice;

static bool
is_usable(const TierOrderMove *move, int ntiers)
{
	return move->to >= 0 && move->to < ntiers && move->from < ntiers && move->from != move->to &&
		move->size >= 0.0 && move->freed >= 0.0 && move->bytes >= 0.0;
}

/* A move that copies nothing is free and comes first.  Ties go by number. */
static int
compare_usable(const void *a, const void *b)
{
	const Usable *left = a;
	const Usable *right = b;

	if (left->density != right->density)
		return left->density > right->density ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static void
list_usable(Choice *choice, int nmoves, int ntiers)
{
	for (int i = 0; i < nmoves; i++)
	{
		const TierOrderMove *move = &choice->moves[i];
		Usable	   *usable = &choice->usable[choice->nusable];

		if (!is_usable(move, ntiers))
			continue;
		usable->number = i;
		usable->is_taken = false;
		usable->density = !(move->bytes > 0.0) ? INFINITY :
			isnan(move->gain) ? 0.0 : move->gain / move->bytes;
		choice->nusable++;
	}
	qsort(choice->usable, choice->nusable, sizeof(Usable), compare_usable);
}

/* The move is made, or unmade. */
static void
shift(double *left, const TierOrderMove *move, double sign)
{
	left[move->to] -= sign * move->size;
	if (move->from >= 0)
		left[move->from] += sign * move->freed;
}

static const TierOrderMove *
move_at(const Choice *choice, int place)
{
	return &choice->moves[choice->usable[place].number];
}

static void
take(Choice *choice, int place)
{
	const TierOrderMove *move = move_at(choice, place);

	choice->usable[place].is_taken = true;
	choice->bytes_left -= move->bytes;
	shift(choice->left, move, 1.0);
	choice->places[choice->done] = place;
	choice->order[choice->done++] = choice->usable[place].number;
}

static void
put_last_back(Choice *choice)
{
	int			place = choice->places[--choice->done];
	const TierOrderMove *move = move_at(choice, place);

	choice->usable[place].is_taken = false;
	choice->bytes_left += move->bytes;
	shift(choice->left, move, -1.0);
}

/* Takes a move with those that make room for it, or nothing. */
static void
take_with_helpers(Choice *choice, int place)
{
	const TierOrderMove *move = move_at(choice, place);
	int			before = choice->done;

	for (int i = 0; i < choice->nusable && choice->left[move->to] < move->size; i++)
	{
		const TierOrderMove *other = move_at(choice, i);

		if (choice->effort-- <= 0)
			break;
		if (i == place || choice->usable[i].is_taken || other->from != move->to ||
			other->size > choice->left[other->to] ||
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

/* All that can be taken; only of tiers that are too full, as long as they are. */
static void
take_all(Choice *choice, bool from_overfull)
{
	for (int pass = 0; pass < MOST_PASSES; pass++)
	{
		int			before = choice->done;

		for (int i = 0; i < choice->nusable; i++)
		{
			int			from = move_at(choice, i)->from;

			if (!choice->usable[i].is_taken &&
				(!from_overfull || (from >= 0 && choice->left[from] < 0.0)))
				take_with_helpers(choice, i);
		}
		if (choice->done == before)
			break;
	}
}

static void
begin_room(double *left, const double *room, int ntiers)
{
	for (int t = 0; t < ntiers; t++)
		left[t] = isnan(room[t]) ? 0.0 : room[t];
}

int
tier_order(const TierOrderMove *moves, int nmoves, const double *room, int ntiers,
		   double max_bytes, int *order, void *scratch)
{
	Choice		choice = {
		.moves = moves,
		.usable = scratch,
		.places = (int *) ((Usable *) scratch + nmoves),
		.order = order,
		.bytes_left = max_bytes,
		.effort = MOST_EFFORT,
	};

	if (nmoves <= 0 || ntiers <= 0 || ntiers > MAX_TIERS)
		return 0;
	begin_room(choice.left, room, ntiers);
	list_usable(&choice, nmoves, ntiers);
	take_all(&choice, true);
	take_all(&choice, false);
	return choice.done;
}

/*
 * The place of the order before which the helper at `place` has to be made; n: none needs it.
 * left: of its tier before it.  *left_over: of its tier at the end, without it.
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
	long		effort = MOST_EFFORT;

	if (ntiers > MAX_TIERS)
		return n;
	begin_room(left, room, ntiers);
	for (int i = 0; i < n; i++)
		shift(left, &moves[order[i]], 1.0);

	/*
	 * The last first: moves that it needs itself come before it, wherever it
	 * goes.
	 */
	for (int place = n - 1; place >= 0 && effort > 0; place--)
	{
		int			number = order[place];
		const TierOrderMove *move = &moves[number];
		double		left_over;
		int			needed;

		shift(left, move, -1.0);
		if (move->from < 0 || !helps[number])
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
