/* The shared tableau of the pivoting methods; see pivot_table.h.
 *
 * Reference: Cottle, Pang & Stone (1992), The Linear Complementarity Problem, sec. 2.3 (pivoting). */
#include "solver/pivot_table.h"

#include <string.h>

#include "linalg/tableau.h"
#include "problem/entries.h"

bool mor_pivot_load(mor_pivot_table* t, const mor_problem* problem, mor_arena* arena)
{
    int n = problem->size;
    size_t N = (size_t)n;
    *t = (mor_pivot_table){ .n = n, .stride = (n + 1 + 3) & ~3 };
    size_t size = N * (size_t)t->stride;
    t->A = mor_arena_zero(arena, size + 1, sizeof(double));
    t->T = mor_arena_alloc(arena, (size + 1) * sizeof(double));
    int* ints = mor_arena_alloc(arena, (6 * N + 8) * sizeof(int));
    double* v = mor_arena_alloc(arena, (9 * N + 8) * sizeof(double));
    if (!t->A || !t->T || !ints || !v) return false;
    t->basic = ints, t->nonbasic = ints + n, t->place = t->nonbasic + n + 1, t->index = t->place + 2 * n + 1;
    t->R = v, t->C = v + n, t->l = v + 2 * n, t->u = v + 3 * n, t->b = v + 4 * n, t->x = v + 5 * n;
    double* work = t->x + 2 * n + 1;
    for (int i = 0; i < n; i++) mor_matrix_get_row(&problem->A, i, t->A + (size_t)i * t->stride);
    mor_tableau_equilibrate(n, t->stride, t->A, t->R, t->C, work);
    for (int i = 0; i < n; i++) {
        t->l[i] = mor_lower_of(problem, i) / t->C[i];
        t->u[i] = mor_upper_of(problem, i) / t->C[i];
        t->b[i] = problem->b[i] * t->R[i];
    }
    return true;
}

void mor_pivot_reset(mor_pivot_table* t, const double* d)
{
    int n = t->n;
    memcpy(t->T, t->A, (size_t)n * t->stride * sizeof *t->T);
    for (int i = 0; i < n; i++) {
        mor_pivot_row(t, i)[n] = d[i];
        t->basic[i] = n + i, t->place[n + i] = i;
        t->nonbasic[i] = i, t->place[i] = ~i;
    }
    t->nonbasic[n] = 2 * n, t->place[2 * n] = ~n;
}

void mor_pivot_exchange(mor_pivot_table* t, int a, int b)
{
    int r = t->place[a], s = ~t->place[b];
    mor_tableau_pivot(t->n, t->n + 1, t->stride, t->T, r, s, t->index);
    t->basic[r] = b, t->nonbasic[s] = a;
    t->place[b] = r, t->place[a] = ~s;
}

static bool is_free(const mor_pivot_table* t, int i) { return t->l[i] == -INFINITY && t->u[i] == INFINITY; }

/* All free z into the basis by complete pivoting on their equations; false if that block is singular. Which equation a
 * variable is exchanged with does not matter once all of them are. */
static bool take_free(mor_pivot_table* t)
{
    int n = t->n, left = 0;
    for (int i = 0; i < n; i++) left += is_free(t, i);
    for (; left > 0; left--) {
        double largest = 1e-9;
        int row = -1, column = -1;
        for (int i = 0; i < n; i++) {
            if (!is_free(t, i) || !mor_pivot_is_basic(t, n + i)) continue;
            const double* T = mor_pivot_row(t, t->place[n + i]);
            for (int k = 0; k < n; k++) {
                if (t->nonbasic[k] >= n || !is_free(t, t->nonbasic[k])) continue;
                if (fabs(T[k]) > largest) largest = fabs(T[k]), row = n + i, column = t->nonbasic[k];
            }
        }
        if (row < 0) return false;
        mor_pivot_exchange(t, row, column);
    }
    return true;
}

/* A partner k for the 2x2 pivot on {i, k}; -1 if there is none. */
static int partner_of(const mor_pivot_table* t, int i, const bool* inside, bool outside, double* det)
{
    int n = t->n, best = -1;
    *det = 1e-9;
    const double* row = mor_pivot_row(t, t->place[n + i]);
    for (int k = 0; k < n; k++) {
        if (k == i || mor_pivot_is_basic(t, k) || (!outside && !inside[k])) continue;
        double across = row[~t->place[k]];
        if (across == 0.0) continue;
        double d = fabs(across * mor_pivot_entry(t, n + k, i) - row[~t->place[i]] * mor_pivot_entry(t, n + k, k));
        if (d > *det) *det = d, best = k;
    }
    return best;
}

int mor_pivot_block(mor_pivot_table* t, bool* inside, bool partners)
{
    int n = t->n, left_out = 0;
    const double small = 1e-9;
    for (int i = 0; i < n; i++) t->x[i] = mor_pivot_row(t, i)[n];
    if (!take_free(t)) mor_pivot_reset(t, t->x);
    for (;;) { /* diagonal, largest first */
        int best = -1, second = -1;
        double largest = small, det;
        for (int i = 0; i < n; i++) {
            if (!inside[i] || mor_pivot_is_basic(t, i)) continue;
            double a = fabs(mor_pivot_entry(t, n + i, i));
            if (a > largest) largest = a, best = i;
        }
        if (best >= 0) {
            mor_pivot_exchange(t, n + best, best);
            continue;
        }
        /* none: a pair, inside first, then free variables with any partner */
        for (int outside = 0; outside < (partners ? 2 : 1) && second < 0; outside++)
            for (int i = 0; i < n && second < 0; i++) {
                if (!inside[i] || mor_pivot_is_basic(t, i) || (outside && !is_free(t, i))) continue;
                best = i, second = partner_of(t, i, inside, outside, &det);
            }
        if (second < 0) break;
        mor_pivot_exchange(t, n + best, second);
        mor_pivot_exchange(t, n + second, best);
        inside[second] = true;
    }
    for (int i = 0; i < n; i++) {
        left_out += inside[i] && !mor_pivot_is_basic(t, i) && is_free(t, i);
        inside[i] = mor_pivot_is_basic(t, i);
    }
    return left_out;
}

bool mor_context_stops(const void* context) { return mor_out_of_time(context); }

double mor_context_measure(const void* context, const double* z)
{
    return ((const mor_context*)context)->error(context, z, NULL);
}
