/* The matrix M + sum_c G_c H_c G_c' on the velocities of a step, factored by trees.
 *
 * Opened once for a step, factored for each set of H, then solved as often as wanted.
 *
 * H_c is a dim x dim block (row-major, not necessarily symmetric) for each block of rows, at step->diagonal_start[c].
 * Its graph is that of the bodies: trees that share a block of rows. Trees are cut into nodes of `d` velocities (6 in
 * space,
 * 3 in the plane), short ones are filled up with ones on the diagonal, and the blocks are factored by fronts
 * (linalg/front_lu.h) in an order of least degree. Pattern and order are found once, by `open`.
 * Cost: a pile of n bodies: O(n^1.5) to O(n^2) per factor. All memory comes from the arena. */
#ifndef MOR_SOLVER_TREE_MATRIX_H
#define MOR_SOLVER_TREE_MATRIX_H

#include "linalg/front_lu.h"
#include "moreau/problem.h"

typedef struct mor_tree_matrix {
    const mor_step_form* step;
    int d, nodes;
    int* first;   /* tree -> its first node */
    int* node_of; /* place in the order -> node, and back */
    int* place_of;
    int* active; /* 0, 1, ... nodes - 1 */
    int* mirror;
    int* slots; /* where the first block of (entry, entry) of every block of rows lies; -1: looked up */
    mor_bsr K;
    mor_front_lu lu;
    double* rhs;
} mor_tree_matrix;

/* Why a step cannot be taken, or NULL. */
const char* mor_tree_matrix_unfit(const mor_step_form* step);
/* False: out of memory. */
bool mor_tree_matrix_open(mor_tree_matrix* K, const mor_step_form* step, mor_arena* arena);
/* Operations of one factorisation and its assembly, counted from the pattern. */
double mor_tree_matrix_operations(const mor_tree_matrix* K);
/* False: a pivot is too small. */
bool mor_tree_matrix_factor(mor_tree_matrix* K, const double* H);
/* x (dof) := K^-1 x */
void mor_tree_matrix_solve(mor_tree_matrix* K, double* x);

#endif
