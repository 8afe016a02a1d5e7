/* Entries and bounds of problems whose matrix is stored, whatever way it is. */
#ifndef MOR_PROBLEM_ENTRIES_H
#define MOR_PROBLEM_ENTRIES_H

#include <math.h>

#include "moreau/problem.h"

/* A_ij, 0 if it is not stored. Sparse: O(entries of the row). */
double mor_matrix_entry(const mor_matrix* A, int i, int j);
/* Row i, columns 0 ... cols-1, into `row`: what is not stored is left as it was (zero it first). */
void mor_matrix_get_row(const mor_matrix* A, int i, double* row);
/* P_rc = A_(set_r)(set_c) for r, c < k: column-major k x k, overwritten. place[set_r] = r and -1 elsewhere. */
void mor_matrix_get_principal(const mor_matrix* A, int k, const int* set, const int* place, double* P);

/* Bounds of unknown i of an LCP, MLCP or MCP. */
static inline double mor_lower_of(const mor_problem* p, int i)
{
    return p->form == MOR_LCP || !p->lower ? 0.0 : p->lower[i];
}
static inline double mor_upper_of(const mor_problem* p, int i)
{
    return p->form == MOR_MCP && p->upper ? p->upper[i] : INFINITY;
}

#endif
