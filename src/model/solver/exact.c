/*-------------------------------------------------------------------------
 *
 * model/solver/exact.c
 *		Branch and bound on the core.
 *
 * A node of the tree is a set of decisions, each of which binds a unit to an
 * option or takes one away from it.  The dual of model/solver/dual.c bounds what a
 * node can lead to.  A node ends when its bound is not better than the best
 * placement known, when it has no placement at all, or when its units do not
 * split.  Otherwise a unit that splits is chosen, the one for which both answers
 * raise the bound most.
 *
 * The node with the least bound is next, because that raises the bound of the
 * whole; but mostly a child of the last one, which is at hand, and now and then
 * down to the end, which leads to good placements.  The tree is a list of nodes
 * with their parents; when it gets too large the search ends.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "src/model/solver/private.h"

/* Memory for nodes, in bytes. */
#define MAX_TREE_BYTES (96.0 * 1024 * 1024)

/* A share below this, or that much below 1, is whole. */
#define SPLIT 1e-7

/* So many dives go to the end, and later one in so many. */
#define FIRST_DIVES 8
#define DIVE_EVERY 16

/* Each of the first nodes is rounded, and later one in so many. */
#define FIRST_ROUNDS 64
#define ROUND_EVERY 8

/* Of the units that split, so many are looked ahead for. */
#define MAX_CANDIDATES 3

typedef struct Node
{
	double		bound;
	int			parent;
	int			option;			/* what the decision is about, -1: root */
	bool		binds;			/* the unit to it; else takes it away */
} Node;

typedef struct Tree
{
	const TierSolverCore *core;
	TierSolverRun *run;
	TierSolverSearch *search;
	TierSolverDual *dual;
	Node	   *nodes;
	int			nnodes;
	int			capacity;
	int			max_nodes;
	int		   *heap;			/* open nodes, least bound first */
	int			nheap;
	unsigned char *gone;		/* by option: no part of anything better */
	double	   *loss;			/* by option: at the root, above the best */
	int		   *option;			/* by unit: scratch */
	double		ended_bound;	/* least bound of nodes that ended */
	double		current_bound;	/* of the node at hand, INFINITY: none */
	long		ndives;
	bool		full_dive;
	bool		out_of_room;
} Tree;


/*-------------------------------------------------------------------------
 * Nodes and the heap
 *-------------------------------------------------------------------------
 */

static bool
comes_first(const Tree *tree, int a, int b)
{
	if (tree->nodes[a].bound != tree->nodes[b].bound)
		return tree->nodes[a].bound < tree->nodes[b].bound;
	return a > b;
}

static void
push(Tree *tree, int node)
{
	int			at = tree->nheap++;

	while (at > 0 && comes_first(tree, node, tree->heap[(at - 1) / 2]))
	{
		tree->heap[at] = tree->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	tree->heap[at] = node;
}

static int
pop(Tree *tree)
{
	int			top = tree->heap[0];
	int			node = tree->heap[--tree->nheap];
	int			at = 0;

	for (;;)
	{
		int			child = 2 * at + 1;

		if (child >= tree->nheap)
			break;
		if (child + 1 < tree->nheap &&
			comes_first(tree, tree->heap[child + 1], tree->heap[child]))
			child++;
		if (!comes_first(tree, tree->heap[child], node))
			break;
		tree->heap[at] = tree->heap[child];
		at = child;
	}
	tree->heap[at] = node;
	return top;
}

static void *
grow(Tree *tree, void *old, size_t old_bytes, size_t bytes)
{
	void	   *larger = tier_solver_alloc(tree->run, bytes, 1);

	memcpy(larger, old, old_bytes);
	tier_solver_release(tree->run, old);
	return larger;
}

/* False when the tree is as large as it may be. */
static bool
make_room(Tree *tree, int more)
{
	size_t		n = tree->capacity;

	if (tree->nnodes + more <= tree->capacity)
		return true;
	if (2 * tree->capacity > tree->max_nodes)
		return false;
	tree->nodes = grow(tree, tree->nodes, n * sizeof(Node), 2 * n * sizeof(Node));
	tree->heap = grow(tree, tree->heap, n * sizeof(int), 2 * n * sizeof(int));
	tree->capacity *= 2;
	return true;
}

static int
add_node(Tree *tree, int parent, double bound, int option, bool binds)
{
	int			number = tree->nnodes++;
	Node	   *node = &tree->nodes[number];

	node->bound = bound;
	node->parent = parent;
	node->option = option;
	node->binds = binds;
	return number;
}

static void
apply_decision(Tree *tree, const Node *node)
{
	const TierSolverCore *core = tree->core;
	unsigned char *forbidden = tree->dual->forbidden;
	int			unit;

	if (node->option < 0)
		return;
	unit = core->owner[node->option];
	if (!node->binds)
	{
		forbidden[node->option] = 1;
		return;
	}
	for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
		if (o != node->option)
			forbidden[o] = 1;
}

/* All decisions that lead to a node; the climb begins at the bottom. */
static void
load(Tree *tree, int number)
{
	TierSolverDual *dual = tree->dual;

	memcpy(dual->forbidden, tree->gone, tree->core->noptions);
	for (int at = number; at >= 0; at = tree->nodes[at].parent)
		apply_decision(tree, &tree->nodes[at]);
	tier_solver_dual_restart(dual);
	tier_solver_dual_focus(dual);
}


/*-------------------------------------------------------------------------
 * The best placement
 *-------------------------------------------------------------------------
 */

/* Nothing that costs as much as this is of interest. */
static double
cutoff_of(const Tree *tree)
{
	double		best = tree->search->best_cost;

	return isinf(best) ? INFINITY : best - TIER_SOLVER_ROUNDING * fabs(best);
}

/* Options that cost more at the prices of the root than there is to gain. */
static void
drop_options(Tree *tree)
{
	double		most = cutoff_of(tree) - tree->search->root_bound;

	for (int o = 0; o < tree->core->noptions; o++)
	{
		if (tree->loss[o] > most)
			tree->gone[o] = 1;
		if (tree->gone[o])
			tree->dual->forbidden[o] = 1;
	}
}

static void
offer(Tree *tree, const int *option, double cost)
{
	TierSolverSearch *search = tree->search;

	if (!(cost < cutoff_of(tree)))
		return;
	search->best_cost = cost;
	search->improved = true;
	memcpy(search->best, option, tree->core->nunits * sizeof(int));
	drop_options(tree);
}


/*-------------------------------------------------------------------------
 * One node
 *-------------------------------------------------------------------------
 */

static void
end_node(Tree *tree, double bound)
{
	if (bound < tree->ended_bound)
		tree->ended_bound = bound;
}

/*
 * Of a solved node, what can be no part of anything better below it.  The bound
 * has to be that of the prices.
 */
static void
drop_locally(Tree *tree)
{
	const TierSolverCore *core = tree->core;
	TierSolverDual *dual = tree->dual;
	double		most = cutoff_of(tree) - dual->bound;

	if (isinf(most))
		return;
	for (int i = 0; i < dual->nlive; i++)
	{
		int			unit = dual->live[i];
		double		least = tier_solver_dual_reduced(dual, dual->key[unit]);

		for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
			if (!dual->forbidden[o] && !dual->is_tie[o] && o != dual->key[unit] &&
				tier_solver_dual_reduced(dual, o) - least > most)
				dual->forbidden[o] = 1;
	}
	tier_solver_spend(tree->run, dual->nlive_options);
	tier_solver_dual_focus(dual);
}

/* How evenly it splits, and how much is at stake. */
static double
weight_of(const TierSolverDual *dual, int tie)
{
	const TierSolverCore *core = dual->core;
	int			option = dual->tie[tie];
	int			key = dual->key[core->owner[option]];

	return dual->x[tie] * (1.0 - dual->x[tie]) *
		(fabs(core->work[option] - core->work[key]) +
		 tier_solver_dual_reduced(dual, option) - core->work[option]);
}

/* By that, is it among the first few? */
static bool
is_candidate(const TierSolverDual *dual, int tie)
{
	double		weight = weight_of(dual, tie);
	int			before = 0;

	for (int i = 0; i < dual->nties; i++)
		if (i != tie && dual->x[i] > SPLIT && dual->x[i] < 1.0 - SPLIT)
			before += weight_of(dual, i) > weight;
	return before < MAX_CANDIDATES;
}

/* What to decide next: an option, and -1 if there is nothing to decide. */
static int
choose_split(Tree *tree, bool *binds_first)
{
	TierSolverDual *dual = tree->dual;
	double		best_score = -1.0;
	int			best = -1;

	*binds_first = true;
	for (int i = 0; i < dual->nties; i++)
	{
		double		without;
		double		with;
		double		score;

		if (dual->x[i] < SPLIT || dual->x[i] > 1.0 - SPLIT)
			continue;
		if (!is_candidate(dual, i))
			continue;
		without = fmin(tier_solver_dual_gain_without(dual, i), 1e9);
		with = fmin(tier_solver_dual_gain_with(dual, i), 1e9);
		score = fmax(without, 1e-9) * fmax(with, 1e-9);
		if (score > best_score)
		{
			best_score = score;
			best = dual->tie[i];
			*binds_first = with <= without;
		}
	}
	return best;
}

/*
 * Units do not split, and yet too much is somewhere, by less than the dual can
 * see: decide about the largest that is free in such a row, or any.
 */
static int
choose_free(Tree *tree, const double *used)
{
	const TierSolverCore *core = tree->core;
	const TierSolverDual *dual = tree->dual;
	double		largest = -1.0;
	int			best = -1;

	for (int unit = 0; unit < core->nunits; unit++)
	{
		int			o = tree->option[unit];
		double		use = 0.0;
		int			allowed = 0;

		for (int k = core->first[unit]; k < core->first[unit + 1]; k++)
			allowed += !dual->forbidden[k];
		if (allowed < 2)
			continue;
		for (int r = 0; r < core->nresources; r++)
		{
			int			row = core->tier[o] * core->nresources + r;

			if (used[row] > core->room[row] + core->slack[row])
				use = fmax(use, core->use[(size_t) o * core->nresources + r]);
		}
		if (use > largest)
		{
			largest = use;
			best = o;
		}
	}
	return best;
}

/* The placement of a node whose units do not split. */
static void
take_keys(Tree *tree)
{
	const TierSolverDual *dual = tree->dual;

	memcpy(tree->option, dual->key, tree->core->nunits * sizeof(int));
	for (int i = 0; i < dual->nties; i++)
		if (dual->x[i] > 0.5)
			tree->option[tree->core->owner[dual->tie[i]]] = dual->tie[i];
}

/*
 * Solves the node at hand, whose decisions are in place.  Returns the option to
 * decide about, or -1 if the node has ended.
 */
static int
visit(Tree *tree, int number, bool *binds_first)
{
	TierSolverSearch *search = tree->search;
	TierSolverDual *dual = tree->dual;
	Node	   *node = &tree->nodes[number];
	TierSolverDualStatus status;
	double		used[TIER_SOLVER_MAX_ROWS];
	double		cost;
	int			split = -1;

	search->nnodes++;
	status = tier_solver_dual_solve(dual, cutoff_of(tree));
	if (status == TIER_SOLVER_DUAL_INFEASIBLE)
		return -1;
	node->bound = fmax(node->bound, dual->bound);
	tree->current_bound = node->bound;
	if (node->bound >= cutoff_of(tree))
	{
		end_node(tree, node->bound);
		return -1;
	}

	if (status == TIER_SOLVER_DUAL_OPTIMAL)
	{
		split = choose_split(tree, binds_first);
		if (split < 0)
		{
			take_keys(tree);
			if (tier_solver_core_check(tree->core, tree->option, used, &cost))
			{
				offer(tree, tree->option, cost);
				end_node(tree, node->bound);
				return -1;
			}
		}
	}
	if (search->nnodes <= FIRST_ROUNDS || search->nnodes % ROUND_EVERY == 0)
	{
		if (status == TIER_SOLVER_DUAL_OPTIMAL && tier_solver_round(dual, tree->option, &cost))
			offer(tree, tree->option, cost);
		if (node->bound >= cutoff_of(tree))
		{
			end_node(tree, node->bound);
			return -1;
		}
	}
	if (split < 0)
	{
		/* Keys may be stale where the dual gave up. */
		for (int unit = 0; unit < tree->core->nunits; unit++)
		{
			int			o = dual->key[unit];

			for (int k = tree->core->first[unit];
				 dual->forbidden[o] && k < tree->core->first[unit + 1]; k++)
				if (!dual->forbidden[k])
					o = k;
			tree->option[unit] = o;
		}
		if (tier_solver_core_check(tree->core, tree->option, used, &cost))
			offer(tree, tree->option, cost);
		*binds_first = false;
		split = choose_free(tree, used);
		if (split < 0)
			return -1;			/* all is decided */
		return split;
	}
	drop_locally(tree);
	return split;
}


/*-------------------------------------------------------------------------
 * The search
 *-------------------------------------------------------------------------
 */

static double
bound_of_all(const Tree *tree)
{
	double		bound = fmin(tree->ended_bound, tree->current_bound);

	if (tree->nheap > 0)
		bound = fmin(bound, tree->nodes[tree->heap[0]].bound);
	return fmin(bound, tree->search->best_cost);
}

static bool
must_stop(const Tree *tree)
{
	const TierSolverSearch *search = tree->search;
	double		gap = search->best_cost - bound_of_all(tree);

	if (tree->run->interrupted || tree->out_of_room)
		return true;
	if (tree->run->effort >= search->effort_limit)
		return true;
	if (isinf(search->best_cost))
		return tree->run->effort >= search->futile_limit;
	return tree->run->effort >= search->polish_limit &&
		gap <= search->gap_wanted * fabs(search->best_cost);
}

/* Is the child worth following at once, or is an open node more so? */
static bool
follows(const Tree *tree, double bound)
{
	double		least = bound_of_all(tree);
	double		cutoff = cutoff_of(tree);

	if (tree->full_dive || isinf(cutoff) || tree->nheap == 0)
		return true;
	return bound <= least + 0.4 * (cutoff - least);
}

static void
search_tree(Tree *tree)
{
	int			current = 0;

	load(tree, 0);
	tree->full_dive = true;
	while (!must_stop(tree))
	{
		double		bound;
		int			option;
		int			other;
		bool		binds_first;

		if (current < 0)
		{
			if (tree->nheap == 0)
			{
				tree->search->complete = true;
				return;
			}
			current = pop(tree);
			if (tree->nodes[current].bound >= cutoff_of(tree))
			{
				end_node(tree, tree->nodes[current].bound);
				current = -1;
				continue;
			}
			tree->current_bound = tree->nodes[current].bound;
			tree->ndives++;
			tree->full_dive = tree->ndives <= FIRST_DIVES || tree->ndives % DIVE_EVERY == 0 ||
				isinf(tree->search->best_cost);
			load(tree, current);
		}

		option = visit(tree, current, &binds_first);
		if (option < 0)
		{
			tree->current_bound = INFINITY;
			current = -1;
			continue;
		}
		if (!make_room(tree, 2))
		{
			tree->out_of_room = true;
			return;
		}
		bound = tree->nodes[current].bound;
		other = add_node(tree, current, bound, option, !binds_first);
		current = add_node(tree, current, bound, option, binds_first);
		push(tree, other);
		if (follows(tree, bound))
			apply_decision(tree, &tree->nodes[current]);
		else
		{
			push(tree, current);
			tree->current_bound = INFINITY;
			current = -1;
		}
	}
}

static void
measure_losses(Tree *tree)
{
	const TierSolverCore *core = tree->core;

	for (int unit = 0; unit < core->nunits; unit++)
	{
		double		least = INFINITY;

		for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
		{
			tree->loss[o] = core->cost[o] - core->work[o] +
				tier_solver_dual_reduced(tree->dual, o);
			least = fmin(least, tree->loss[o]);
		}
		for (int o = core->first[unit]; o < core->first[unit + 1]; o++)
			tree->loss[o] -= least;
	}
}

void
tier_solver_search(const TierSolverCore *core, TierSolverSearch *search)
{
	TierSolverRun *run = core->run;
	Tree		tree;

	memset(&tree, 0, sizeof(tree));
	tree.core = core;
	tree.run = run;
	tree.search = search;
	tree.ended_bound = tree.current_bound = INFINITY;
	tree.dual = tier_solver_dual_make(core);
	tree.gone = tier_solver_alloc(run, core->noptions, 1);
	tree.loss = tier_solver_alloc(run, core->noptions, sizeof(double));
	tree.option = tier_solver_alloc(run, core->nunits, sizeof(int));
	memset(tree.gone, 0, core->noptions);
	tree.max_nodes = (int) (MAX_TREE_BYTES / (sizeof(Node) + sizeof(int)));
	tree.capacity = 64;
	tree.nodes = tier_solver_alloc(run, tree.capacity, sizeof(Node));
	tree.heap = tier_solver_alloc(run, tree.capacity, sizeof(int));
	search->improved = search->complete = false;

	/* The root: its prices tell what can never pay. */
	if (tier_solver_dual_solve(tree.dual, INFINITY) == TIER_SOLVER_DUAL_INFEASIBLE)
	{
		search->complete = true;
		search->bound = search->best_cost;
	}
	else
	{
		search->root_bound = tree.dual->bound;
		measure_losses(&tree);
		drop_options(&tree);
		tree.current_bound = tree.dual->bound;
		(void) add_node(&tree, -1, tree.dual->bound, -1, false);
		search_tree(&tree);
		search->bound = bound_of_all(&tree);
	}

	tier_solver_release(run, tree.nodes);
	tier_solver_release(run, tree.heap);
	tier_solver_release(run, tree.gone);
	tier_solver_release(run, tree.loss);
	tier_solver_release(run, tree.option);
	tier_solver_dual_free(tree.dual);
}
