/* Gauss-Seidel and Jacobi on the rows of a (mixed) LCP, also where rows have no diagonal.
 *
 * Sweeps by rows divide by A_ii. In the Stewart-Trinkle problem the row of s, mu p_n - e' beta >= 0, has none, and so
 * has the row of a multiplier of an upper bound. Such a row i cannot be relaxed alone. It is put into one group with
 * all rows j with A_ij != 0; groups that share a row are joined. What comes out is the splitting A = B + C with B
 * block-diagonal: one group {p_n, beta_1 ... beta_k, s} per contact, single rows everywhere else, joints among them.
 * A sweep solves
 *
 *     0 <= x_g  _|_  A_gg x_g + (b_g + sum over h != g of A_gh z_h) >= 0          (equations: = 0, x free)
 *
 * group after group with the newest z (Gauss-Seidel), or with the old ones for all groups at once (Jacobi), and goes
 * the given part of the way from z_g to x_g. Values stay >= 0 for parts up to 1; beyond they are cut at 0.
 *
 * A group's own problem: first the active set of its last solution (one small linear solve, checked), else Lemke's
 * method. Nothing but the matrix is looked at; the solver knows no contacts.
 *
 * Jacobi's damping: omega_g = min over its rows of sum_{j in g} |A_ij| / sum_j |A_ij|, which for single rows of a
 * symmetric positive semidefinite matrix is the bound of jacobi.c.
 *
 * Cost per sweep: one product with A and (group size)^3 per group. Convergence as for the sweeps by contacts (pgs.c).
 *
 * R. W. Cottle, J.-S. Pang, R. E. Stone, "The Linear Complementarity Problem", 1992, section 5.5 (block splittings). */
#include "solver/row_groups.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "solver/lemke.h"

enum { MOST_ROWS = 128, JUDGE_EVERY = 50 };

typedef struct row_groups {
    int count;
    int *first, *row;  /* count + 1; rows of each group, ascending */
    double** own;      /* per group: its own block, m x m by columns; NULL for single rows */
    bool* active;      /* per row: z_i > 0 in the last solution of its group */
    double *q, *x, *T; /* scratch of the largest group */
    int largest;
} row_groups;

static int root_of(int* parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* Entry k of row i: column and value; false past the end. */
static bool entry(const mor_rows* rows, int i, int k, int* column, double* value)
{
    if (rows->p) {
        if (rows->p[i] + k >= rows->p[i + 1]) return false;
        *column = rows->i[rows->p[i] + k];
        *value = rows->x[rows->p[i] + k];
        return true;
    }
    if (k >= rows->n) return false;
    *column = k;
    *value = rows->x[(size_t)i * (size_t)rows->n + (size_t)k];
    return true;
}

/* Rows by group, in the order of the first row of each. */
static void list_groups(row_groups* g, const mor_rows* rows, int* parent, int* number)
{
    int n = rows->n;
    g->count = 0;
    for (int i = 0; i < n; i++) number[i] = -1;
    memset(g->first, 0, ((size_t)n + 1) * sizeof *g->first);
    for (int i = 0; i < n; i++) {
        int r = root_of(parent, i);
        if (number[r] < 0) number[r] = g->count++;
        g->first[number[r] + 1]++;
    }
    for (int k = 0; k < g->count; k++) g->first[k + 1] += g->first[k];
    for (int i = n - 1; i >= 0; i--) g->row[--g->first[number[root_of(parent, i)] + 1]] = i;
    /* first[k + 1] went down to the start of group k */
    for (int k = 0; k < g->count; k++) g->first[k] = g->first[k + 1];
    g->first[g->count] = n;
}

static bool refuse(mor_report* report, mor_status status, const char* why)
{
    *report = mor_ended(status, 0, why);
    return false;
}

static bool fill_blocks(row_groups* g, const mor_rows* rows, int* place, mor_arena* arena)
{
    for (int i = 0; i < rows->n; i++) place[i] = -1;
    for (int k = 0; k < g->count; k++) {
        int m = g->first[k + 1] - g->first[k];
        const int* row = g->row + g->first[k];
        if (m == 1) continue;
        g->own[k] = mor_arena_zero(arena, (size_t)m * (size_t)m, sizeof(double));
        if (!g->own[k]) return false;
        for (int a = 0; a < m; a++) place[row[a]] = a;
        for (int a = 0; a < m; a++) {
            int column;
            double value;
            for (int e = 0; entry(rows, row[a], e, &column, &value); e++)
                if (place[column] >= 0) g->own[k][place[column] * m + a] += value;
        }
        for (int a = 0; a < m; a++) place[row[a]] = -1;
    }
    return true;
}

/* As mor_rows_open. */
static bool open_groups(row_groups* g, const mor_rows* rows, mor_arena* arena, mor_report* report)
{
    size_t n = (size_t)rows->n;
    int* parent = mor_arena_alloc(arena, (2 * n + 1) * sizeof *parent);
    *g = (row_groups){ .first = mor_arena_alloc(arena, (n + 2) * sizeof *g->first),
                       .row = mor_arena_alloc(arena, (n + 1) * sizeof *g->row),
                       .own = mor_arena_zero(arena, n + 1, sizeof *g->own),
                       .active = mor_arena_zero(arena, n + 1, sizeof *g->active) };
    if (!parent || !g->first || !g->row || !g->own || !g->active) return refuse(report, MOR_NUMERICAL, "out of memory");
    for (int i = 0; i < rows->n; i++) parent[i] = i;
    for (int i = 0; i < rows->n; i++) {
        int column;
        double value;
        if (mor_rows_relax(rows, i)) continue;
        if (!mor_rows_signed(rows, i)) {
            *report = mor_ended(MOR_REFUSED, 0, "");
            snprintf(report->detail, sizeof report->detail,
                     "equation %d has no diagonal entry; sweeps by rows cannot relax it", i);
            return false;
        }
        for (int k = 0; entry(rows, i, k, &column, &value); k++)
            if (value != 0.0) parent[root_of(parent, column)] = root_of(parent, i);
    }
    list_groups(g, rows, parent, parent + n);
    for (int k = 0; k < g->count; k++)
        if (g->first[k + 1] - g->first[k] > g->largest) g->largest = g->first[k + 1] - g->first[k];
    if (g->largest > MOST_ROWS) {
        *report = mor_ended(MOR_REFUSED, 0, "");
        snprintf(report->detail, sizeof report->detail,
                 "rows without a diagonal tie %d rows together; sweeps take at most %d at once", g->largest, MOST_ROWS);
        return false;
    }
    size_t m = (size_t)g->largest;
    g->q = mor_arena_alloc(arena, (m + 1) * sizeof *g->q);
    g->x = mor_arena_alloc(arena, (m + 1) * sizeof *g->x);
    g->T = mor_arena_alloc(arena, (m * m + m + 1) * sizeof *g->T);
    if (!g->q || !g->x || !g->T || !fill_blocks(g, rows, parent, arena))
        return refuse(report, MOR_NUMERICAL, "out of memory");
    return true;
}

/* x = -A_aa^-1 q_a on the active rows, 0 elsewhere, by elimination with pivots; true if it solves the group. */
static bool try_active(row_groups* g, const mor_rows* rows, int group, int m, double* x)
{
    const int* row = g->row + g->first[group];
    const double* A = g->own[group];
    int at[MOST_ROWS], n = 0;
    for (int a = 0; a < m; a++)
        if (g->active[row[a]] || !mor_rows_signed(rows, row[a])) at[n++] = a;
    double* T = g->T; /* n x (n + 1) */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) T[i * (n + 1) + j] = A[at[j] * m + at[i]];
        T[i * (n + 1) + n] = -g->q[at[i]];
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(T[i * (n + 1) + k]) > fabs(T[best * (n + 1) + k])) best = i;
        if (!(fabs(T[best * (n + 1) + k]) > 1e-13 * fabs(A[at[k] * m + at[k]]))) return false;
        for (int j = k; best != k && j <= n; j++) {
            double swap = T[k * (n + 1) + j];
            T[k * (n + 1) + j] = T[best * (n + 1) + j];
            T[best * (n + 1) + j] = swap;
        }
        for (int i = k + 1; i < n; i++) {
            double f = T[i * (n + 1) + k] / T[k * (n + 1) + k];
            for (int j = k; j <= n && f != 0.0; j++) T[i * (n + 1) + j] -= f * T[k * (n + 1) + j];
        }
    }
    for (int a = 0; a < m; a++) x[a] = 0.0;
    double largest = 0.0;
    for (int i = n - 1; i >= 0; i--) {
        double sum = T[i * (n + 1) + n];
        for (int j = i + 1; j < n; j++) sum -= T[i * (n + 1) + j] * x[at[j]];
        x[at[i]] = sum / T[i * (n + 1) + i];
        largest = mor_max(largest, fabs(x[at[i]]));
    }
    for (int a = 0; a < m; a++) {
        if (!mor_rows_signed(rows, row[a])) continue;
        double w = g->q[a], scale = fabs(g->q[a]);
        for (int b = 0; b < m; b++) w += A[b * m + a] * x[b], scale += fabs(A[b * m + a] * x[b]);
        if (x[a] < -1e-14 * largest || (!g->active[row[a]] && w < -1e-13 * scale)) return false;
        x[a] = mor_max(0.0, x[a]);
    }
    return true;
}

static bool pivot(row_groups* g, const mor_rows* rows, int group, int m, double* x, mor_arena* arena)
{
    double lower[MOST_ROWS];
    for (int a = 0; a < m; a++) lower[a] = mor_rows_signed(rows, g->row[g->first[group] + a]) ? 0.0 : -INFINITY;
    mor_problem own = { .form = rows->lower ? MOR_MLCP : MOR_LCP,
                        .size = m,
                        .A = { .storage = MOR_DENSE, .rows = m, .cols = m, .x = g->own[group] },
                        .b = g->q,
                        .lower = rows->lower ? lower : NULL };
    mor_solve_options options = { .tol = 1e-12 };
    size_t mark = mor_arena_mark(arena);
    memset(x, 0, (size_t)m * sizeof *x);
    mor_lemke_options lemke = { .tries = 4, .covering = MOR_LEMKE_IRREGULAR, .equilibrate = true };
    mor_report report = mor_solve(&mor_solver_lemke, &lemke, &own, &options, x, arena);
    mor_arena_release(arena, mark);
    return report.status == MOR_SOLVED;
}

/* x (rows of the group): the group's own solution, all other unknowns as in z. False: it has none. */
static bool solve_group(row_groups* g, const mor_rows* rows, int group, const double* z, double* x, mor_arena* arena)
{
    int m = g->first[group + 1] - g->first[group];
    const int* row = g->row + g->first[group];
    for (int a = 0; a < m; a++) g->q[a] = mor_rows_product(rows, row[a], z) + rows->b[row[a]];
    if (m == 1) {
        x[0] = z[row[0]] - g->q[0] / rows->diagonal[row[0]];
        if (mor_rows_signed(rows, row[0])) x[0] = mor_max(0.0, x[0]);
        return true;
    }
    for (int a = 0; a < m; a++)
        for (int b = 0; b < m; b++) g->q[a] -= g->own[group][b * m + a] * z[row[b]];
    if (try_active(g, rows, group, m, x)) return true;
    if (!pivot(g, rows, group, m, x, arena)) return false;
    for (int a = 0; a < m; a++) g->active[row[a]] = x[a] > 0.0;
    return true;
}

/* What both loops do after a sweep; true: `report` ends it. */
static bool ended(mor_context* context, int k, double change, double largest, const double* z, mor_report* report)
{
    if (!isfinite(largest)) {
        *report = mor_ended(MOR_NUMERICAL, k, "diverged");
        return true;
    }
    if (change > context->tol * largest && k % JUDGE_EVERY != 0) return false;
    if (context->error(context, z, NULL) <= context->tol) *report = mor_ended(MOR_SOLVED, k, "");
    else if (mor_out_of_time(context)) *report = mor_ended(MOR_TIME_LIMIT, k, "");
    else if (change == 0.0) *report = mor_ended(MOR_NOT_CONVERGED, k, "the sweep changes nothing any more");
    else return false;
    return true;
}

static const char* const no_answer = "a group of rows without a diagonal has no solution of its own";

mor_report mor_gauss_seidel_groups(const mor_rows* rows, double relaxation, mor_context* context, double* z)
{
    row_groups g;
    mor_report report;
    if (!open_groups(&g, rows, context->arena, &report)) return report;
    for (int k = 1; k <= context->max_iter; k++) {
        double change = 0.0, largest = 0.0;
        for (int c = 0; c < g.count; c++) {
            if (!solve_group(&g, rows, c, z, g.x, context->arena)) return mor_ended(MOR_NOT_CONVERGED, k, no_answer);
            for (int a = 0; a < g.first[c + 1] - g.first[c]; a++) {
                int i = g.row[g.first[c] + a];
                double x = z[i] + relaxation * (g.x[a] - z[i]);
                if (mor_rows_signed(rows, i)) x = mor_max(0.0, x);
                change = mor_max(change, fabs(x - z[i]));
                largest = mor_max(largest, fabs(x));
                z[i] = x;
            }
        }
        mor_trace_add(context, k, relaxation, z);
        if (ended(context, k, change, largest, z, &report)) return report;
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

/* omega of every group. */
static bool shares(const row_groups* g, const mor_rows* rows, double* omega, mor_arena* arena)
{
    int* group = mor_arena_alloc(arena, ((size_t)rows->n + 1) * sizeof *group);
    if (!group) return false;
    for (int c = 0; c < g->count; c++)
        for (int k = g->first[c]; k < g->first[c + 1]; k++) group[g->row[k]] = c;
    for (int c = 0; c < g->count; c++) {
        omega[c] = 1.0;
        for (int k = g->first[c]; k < g->first[c + 1]; k++) {
            double mine = 0.0, all = 0.0, value;
            int column;
            for (int e = 0; entry(rows, g->row[k], e, &column, &value); e++) {
                all += fabs(value);
                if (group[column] == c) mine += fabs(value);
            }
            if (all > 0.0) omega[c] = mor_min(omega[c], mine / all);
        }
    }
    return true;
}

mor_report mor_jacobi_groups(const mor_rows* rows, double damping, mor_context* context, double* z)
{
    row_groups g;
    mor_report report;
    size_t n = (size_t)rows->n;
    if (!open_groups(&g, rows, context->arena, &report)) return report;
    double* next = mor_arena_alloc(context->arena, (n + 1) * sizeof *next);
    double* omega = mor_arena_alloc(context->arena, (n + 1) * sizeof *omega);
    if (!next || !omega || !shares(&g, rows, omega, context->arena))
        return mor_ended(MOR_NUMERICAL, 0, "out of memory");
    for (int c = 0; damping > 0.0 && c < g.count; c++) omega[c] = damping;
    for (int k = 1; k <= context->max_iter; k++) {
        double change = 0.0, largest = 0.0;
        for (int c = 0; c < g.count; c++) {
            if (!solve_group(&g, rows, c, z, g.x, context->arena)) return mor_ended(MOR_NOT_CONVERGED, k, no_answer);
            for (int a = 0; a < g.first[c + 1] - g.first[c]; a++) {
                int i = g.row[g.first[c] + a];
                next[i] = z[i] + omega[c] * (g.x[a] - z[i]);
                change = mor_max(change, fabs(next[i] - z[i]));
                largest = mor_max(largest, fabs(next[i]));
            }
        }
        memcpy(z, next, n * sizeof *z);
        mor_trace_add(context, k, damping, z);
        if (ended(context, k, change, largest, z, &report)) return report;
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}
