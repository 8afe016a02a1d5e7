/* Answers with the right active set, improved in the original data.
 *
 * l <= z <= u, w = A z + b. With S = { l_i < z_i - w_i < u_i } and the others at the bound they are beyond,
 *   A_SS z_S = -(b_S + A_SR z_R)
 * is solved by LU (rows scaled by powers of two: partial pivoting then compares like with like) and refined. Redundant
 * rows make A_SS singular; then the least correction of what is there is tried, and variables it would make negative
 * leave S. A result is kept only if it has a smaller error. */
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/tableau.h"
#include "problem/convert.h"
#include "problem/entries.h"
#include "problem/judge.h"

typedef struct active {
    const mor_problem* problem;
    mor_measure measure;
    const void* user;
    const mor_stop* stop; /* NULL: never */
    mor_arena* arena;
    int n, k;           /* unknowns, size of S */
    int *set, *place;   /* S, and where an unknown is in it or -1 */
    double *w, *trial;  /* n */
    double *A, *LU, *b; /* k k, k k, 4 k */
    int* pivot;
    double error; /* of z */
} active;

static double error_of(const active* a, const double* z)
{
    return a->measure ? a->measure(a->user, z) : mor_judge_quick(a->problem, z, NULL, a->arena);
}

static bool stops(const active* a) { return a->stop && a->stop->now(a->stop->user); }

/* Keeps the trial if it is better. */
static bool keep(active* a, double* z)
{
    double better = error_of(a, a->trial);
    if (!(better < a->error || (isnan(a->error) && !isnan(better)))) return false;
    a->error = better;
    memcpy(z, a->trial, (size_t)a->n * sizeof *z);
    return true;
}

/* Finds S and makes room. False: out of memory, too large, or an operator. */
static bool choose(active* a, const double* z)
{
    enum { MOST = 3000 }; /* dense: 72 MB and some seconds */
    size_t n = (size_t)a->n + 1;
    if (a->problem->A.storage == MOR_OPERATOR) return false;
    a->w = mor_arena_alloc(a->arena, n * sizeof *a->w);
    a->trial = mor_arena_alloc(a->arena, n * sizeof *a->trial);
    a->set = mor_arena_alloc(a->arena, n * sizeof *a->set);
    a->place = mor_arena_alloc(a->arena, n * sizeof *a->place);
    if (!a->w || !a->trial || !a->set || !a->place) return false;
    mor_matrix_apply(&a->problem->A, z, a->w);
    for (int i = 0; i < a->n; i++) {
        double l = mor_lower_of(a->problem, i), u = mor_upper_of(a->problem, i);
        double at = z[i] - (a->w[i] + a->problem->b[i]);
        a->place[i] = -1;
        if (at > l && at < u) a->place[i] = a->k, a->set[a->k++] = i;
        a->trial[i] = a->place[i] >= 0 ? 0.0 : at >= u ? u : l;
    }
    if (a->k > MOST) return false;
    size_t k = (size_t)a->k;
    a->A = mor_arena_alloc(a->arena, (k * k + 1) * sizeof *a->A);
    a->LU = mor_arena_alloc(a->arena, (k * k + 1) * sizeof *a->LU);
    a->b = mor_arena_alloc(a->arena, 4 * (k + 1) * sizeof *a->b);
    a->pivot = mor_arena_alloc(a->arena, (k + 1) * sizeof *a->pivot);
    return a->A && a->LU && a->b && a->pivot;
}

/* z_S by LU with refinement. */
static void solve_set(active* a, double* z)
{
    int k = a->k;
    double *b = a->b, *x = b + k, *work = x + k;
    mor_matrix_apply(&a->problem->A, a->trial, a->w);
    mor_matrix_get_principal(&a->problem->A, k, a->set, a->place, a->A);
    for (int r = 0; r < k; r++) {
        int i = a->set[r];
        x[r] = b[r] = -mor_scale_row(k, k, a->A + r) * (a->problem->b[i] + a->w[i]);
    }
    memcpy(a->LU, a->A, (size_t)k * k * sizeof *a->LU);
    if (!mor_lu_factor(k, a->LU, a->pivot)) return;
    mor_lu_solve(k, a->LU, a->pivot, x);
    mor_lu_refine(k, a->A, a->LU, a->pivot, b, x, 3, work);
    for (int r = 0; r < k; r++) a->trial[a->set[r]] = x[r];
    keep(a, z);
}

/* The least correction of z that solves the rows of S; only without upper bounds. */
static void correct_set(active* a, double* z)
{
    int k = a->k;
    double* x = a->b;
    memcpy(a->trial, z, (size_t)a->n * sizeof *z);
    for (int round = 0; round < 8 && k > 0 && !stops(a); round++) {
        mor_matrix_apply(&a->problem->A, a->trial, a->w);
        for (int r = 0; r < k; r++) x[r] = -(a->w[a->set[r]] + a->problem->b[a->set[r]]);
        mor_matrix_get_principal(&a->problem->A, k, a->set, a->place, a->LU);
        if (mor_least_norm_until(k, a->LU, x, 1e-13, a->stop, a->arena) < 0) break;
        int kept = 0;
        for (int r = 0; r < k; r++) {
            int i = a->set[r];
            a->trial[i] += x[r];
            if (mor_lower_of(a->problem, i) == -INFINITY || a->trial[i] > 0.0) a->place[i] = kept, a->set[kept++] = i;
            else a->trial[i] = 0.0, a->place[i] = -1;
        }
        if (!keep(a, z) && kept == k) break;
        k = kept;
    }
}

static double polish(const mor_problem* problem, bool correct, double* z, mor_measure measure, const void* user,
                     const mor_stop* stop, mor_arena* arena)
{
    active a = {
        .problem = problem, .measure = measure, .user = user, .stop = stop, .arena = arena, .n = problem->size
    };
    a.error = error_of(&a, z);
    size_t mark = mor_arena_mark(arena);
    if (choose(&a, z) && !stops(&a)) {
        solve_set(&a, z);
        if (correct) correct_set(&a, z);
    }
    mor_arena_release(arena, mark);
    return a.error;
}

double mor_active_set_polish(const mor_problem* problem, double* z, mor_measure measure, const void* user,
                             const mor_stop* stop, mor_arena* arena)
{
    return polish(problem, true, z, measure, user, stop, arena);
}

double mor_boxed_polish(const mor_problem* problem, double* z, mor_measure measure, const void* user, mor_arena* arena)
{
    return polish(problem, false, z, measure, user, NULL, arena);
}
