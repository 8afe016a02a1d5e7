/* The tableau of a boxed linear complementarity problem, and its exchange steps: shared by the pivoting methods.
 *
 *   w = A z + d lambda,   l <= z <= u,   w_i >= 0 at l_i, <= 0 at u_i, 0 between         (lambda: one parameter)
 *
 * n variables are basic, written as rows of T times the n + 1 others. Variables are numbered z_k: k, w_k: n + k,
 * lambda: 2n. A is equilibrated first: A := R A C with R, C positive, so that z = C z', w = w'/R; signs and bounds stay
 * meaningful. Pivots cost n^2 multiplications, less where the pivot column has zeros. */
#ifndef MOR_SOLVER_PIVOT_TABLE_H
#define MOR_SOLVER_PIVOT_TABLE_H

#include "moreau/solver.h"

typedef struct mor_pivot_table {
    int n, stride;
    double* T;     /* n rows of n + 1 columns, padded */
    int* basic;    /* variable of row r */
    int* nonbasic; /* variable of column s */
    int* place;    /* variable -> row, or ~column */
    int* index;    /* scratch */
    double *R, *C; /* scaling */
    double *l, *u; /* bounds of z', of the scaled problem */
    double* b;     /* R b */
    double* A;     /* a copy of the scaled matrix in the layout of T (column n: zero) */
    double* x;     /* 2n + 1 values of the variables */
} mor_pivot_table;

/* LCP, MLCP or MCP with stored entries. False: out of memory. */
bool mor_pivot_load(mor_pivot_table* t, const mor_problem* problem, mor_arena* arena);
/* T := [A | d], all w basic. */
void mor_pivot_reset(mor_pivot_table* t, const double* d);
static inline double* mor_pivot_row(const mor_pivot_table* t, int r) { return t->T + (size_t)r * t->stride; }
/* Coefficient of nonbasic variable b in the row of basic variable a. */
static inline double mor_pivot_entry(const mor_pivot_table* t, int a, int b)
{
    return mor_pivot_row(t, t->place[a])[~t->place[b]];
}
static inline bool mor_pivot_is_basic(const mor_pivot_table* t, int v) { return t->place[v] >= 0; }
/* Exchanges basic variable a with nonbasic variable b. */
void mor_pivot_exchange(mor_pivot_table* t, int a, int b);
/* Right after a reset: makes the marked z basic, the free ones (all marked) first by complete pivoting on their
 * equations, then by pivots on the diagonal, largest first, and by 2x2 pivots for what is left (free ones with any
 * partner if `partners`). Marks are updated to what was done. Returns the number of free variables that stayed out. */
int mor_pivot_block(mor_pivot_table* t, bool* inside, bool partners);

/* The judge's error on the problem as posed: a mor_measure (problem/convert.h) with a mor_context as user. */
double mor_context_measure(const void* context, const double* z);
/* mor_out_of_time, for a mor_stop (linalg/dense.h) with a mor_context as user. */
bool mor_context_stops(const void* context);

#endif
