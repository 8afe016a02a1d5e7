/* Multifrontal LU of a sparse matrix of d x d blocks with symmetric pattern.
 *
 * The blocks chosen by a list (others are left out) are eliminated in an order given by the caller up to a postordering
 * of the elimination tree. Columns with (nearly) the same structure form supernodes; each is eliminated in a dense
 * front
 *
 *   [F11 F12]    P F11 = L11 U11,  U12 = L11^-1 P F12,  L21 = F21 U11^-1,  update F22 - L21 U12
 *   [F21 F22]
 *
 * and its update is added into the parent's front. Pivoting stays inside F11: enough for contact matrices with a
 * regularised diagonal; a pivot that is tiny beside its column ends in `false`, and the caller must use another method
 * or regularise more.
 *
 * Cost: planar contact graphs of n blocks with a good order: O(n^1.5) operations, O(n log n) memory. All memory comes
 * from the arena.
 * References: Duff & Reid (1983), The multifrontal solution of indefinite sparse symmetric linear systems; Liu (1992),
 * The multifrontal method for sparse matrix solution: theory and practice; Liu (1990), The role of elimination trees in
 * sparse factorization. */
#ifndef MOR_LINALG_FRONT_LU_H
#define MOR_LINALG_FRONT_LU_H

#include "linalg/block_sparse.h"

typedef struct mor_front_lu {
    int n, d;          /* blocks eliminated, block size */
    int *node, *block; /* block of the matrix -> place in the elimination, or -1; and back */
    int fronts;
    int* first;                    /* fronts + 1: places of the front's own blocks */
    int *start, *rows;             /* the front's rows, as places: own ones, then those below, ascending */
    int *parent, *child, *sibling; /* of fronts; children last first */
    size_t* at;                    /* where the front's factors begin */
    double* factors;               /* per front: m x k [L11\U11; L21], then k x (m - k) U12 */
    int* pivot;                    /* scalar row swaps inside F11 */
    double *front, *stack, *work;
    size_t factor_size, front_size, stack_size;
    int* local;
} mor_front_lu;

/* mirror[k]: the position of block (j, i) when position k holds block (i, j). `mirror`: as many ints as blocks. */
void mor_bsr_mirror(const mor_bsr* pattern, int* mirror);
/* Analyses the sub-matrix of the `count` blocks in `active` (ascending). False: out of memory. */
bool mor_front_lu_analyse(mor_front_lu* lu, const mor_bsr* pattern, const int* active, int count, mor_arena* arena);
/* Multiplications and additions of one factorisation. */
double mor_front_lu_operations(const mor_front_lu* lu);
/* Factors the sub-matrix with values x (layout of pattern->x). False: a pivot is too small or not finite. */
bool mor_front_lu_factor(mor_front_lu* lu, const mor_bsr* pattern, const int* mirror, const double* x);
/* b := A^-1 b, b by `active` blocks: d numbers for active[0], then active[1], ... */
void mor_front_lu_solve(mor_front_lu* lu, const int* active, double* b);

#endif
