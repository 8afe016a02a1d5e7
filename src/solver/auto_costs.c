/* auto on time steps: what sweeps and Newton steps cost, counted from the structure of the step.
 *
 *   sweep    per block of rows: 4 d sum(dof) for the products with G' and M^-1 G, and the block's own solution
 *   Newton   the factorisation (fronts of the tree matrix, or dense), its assembly, and the products of eight sweeps:
 *            velocities, directions, the line search, the judge
 *
 * An operation inside a large product takes a quarter of the time of one in a small block: the factorisation counts so
 * much. A Newton run from afar takes 15 to 30 steps, hardly more on large islands than on small ones; the number of
 * sweeps grows with the length of contact chains, and their rate is seen after a few. So both can be compared. */
#include "solver/auto.h"

#include <math.h>

#define PRODUCT 0.25        /* of an operation in a product of large blocks, beside one in a small block */
#define NEWTON_STEPS 15.0   /* of a run that sweeps are compared with: few, as giving up sweeps late costs twice */
#define SWEEPS_PER_STEP 8.0 /* products with G of a Newton step, in sweeps */
#define DEAR 40.0 /* sweeps for one Newton step: the near ones take three, sweeps from a guess about a hundred */

/* The block's own solution. */
static double local_operations(const mor_block* b)
{
    if (b->kind == MOR_BLOCK_BOUNDED || b->dim == 1) return 10.0;
    if (b->kind == MOR_BLOCK_EQUATION) return b->dim * b->dim * b->dim;
    return b->dim == 2 ? 30.0 : b->dim == 3 ? 100.0 : 3000.0;
}

mor_tree_matrix* mor_auto_tree(mor_auto* R)
{
    const mor_step_form* s = &R->problem->step;
    if (R->tree || mor_tree_matrix_unfit(s)) return R->tree;
    mor_tree_matrix* K = mor_arena_alloc(R->context->arena, sizeof *K);
    if (K && mor_tree_matrix_open(K, s, R->context->arena)) R->tree = K;
    return R->tree;
}

static const mor_auto_costs* count(mor_auto* R)
{
    mor_auto_costs* costs = &R->costs;
    if (costs->newton > 0.0) return costs;
    const mor_step_form* s = &R->problem->step;
    double n = s->dof, dense = 0.0;
    costs->sweep = 1.0;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        double dof = 0.0;
        for (int e = b->entry; e < b->entry + b->entry_count; e++) dof += s->trees[s->entries[e].tree].dof;
        costs->sweep += 4.0 * b->dim * dof + local_operations(b);
        dense += 2.0 * b->dim * dof * (dof + b->dim);
    }
    dense = PRODUCT * (2.0 / 3.0 * n * n * n + dense);
    costs->newton = SWEEPS_PER_STEP * costs->sweep;
    if (s->dof <= MOR_TREE_NEWTON_DENSE) costs->newton += dense;
    else costs->newton += mor_auto_tree(R) ? PRODUCT * mor_tree_matrix_operations(R->tree) : INFINITY;
    return costs;
}

double mor_auto_sweeps_allowed(mor_auto* R)
{
    const mor_auto_costs* costs = count(R);
    return NEWTON_STEPS * costs->newton / costs->sweep;
}

bool mor_auto_newton_is_dear(mor_auto* R)
{
    const mor_auto_costs* costs = count(R);
    return costs->newton > DEAR * costs->sweep;
}
