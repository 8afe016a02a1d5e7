/* W = G' M^-1 G of a time step by its blocks, and where the entries of a converted matrix are collected. */
#ifndef MOR_PROBLEM_STEP_MATRIX_H
#define MOR_PROBLEM_STEP_MATRIX_H

#include <math.h>

#include "moreau/problem.h"

/* Collects entries of an n x n matrix: dense when small, triplets when large. */
typedef struct mor_sink {
    int n;
    double* dense;
    int count, capacity;
    int *row, *col;
    double* x;
    mor_arena* arena;
    bool failed;
} mor_sink;

/* An empty n x n matrix. False: out of memory. */
bool mor_sink_open(mor_sink* s, int n, mor_arena* arena);
/* Adds `value` to entry (i, j). Lack of memory is told by mor_sink_close. */
void mor_sink_put(mor_sink* s, int i, int j, double value);
/* The matrix that was collected. False: out of memory. */
bool mor_sink_close(mor_sink* s, mor_matrix* A);

/* Equations and rows without bounds: their impulses are free. */
static inline bool mor_block_is_free(const mor_block* b)
{
    return b->kind == MOR_BLOCK_EQUATION ||
           (b->kind == MOR_BLOCK_BOUNDED && b->lower == -INFINITY && b->upper == INFINITY);
}

/* W block row by block row, by the lists of blocks on each tree: for block a and every block b that shares a tree with
 * it, visit(user, a, b, W_ab) with W_ab dim_a x dim_b row-major; b ascending. False: out of memory. */
typedef void (*mor_block_visit)(void* user, int a, int b, const double* W);
bool mor_step_visit_W(const mor_step_form* step, mor_block_visit visit, void* user, mor_arena* arena);

#endif
