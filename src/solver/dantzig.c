/* dantzig: Cottle and Dantzig's principal pivoting, one row at a time, for linear complementarity problems with bounds.
 *
 * Problem. w = A z + b, l <= z <= u, w_i >= 0 at l_i, <= 0 at u_i, 0 between (LCP, MLCP, MCP; friction with given
 * bounds).
 *
 * Algorithm (Baraff's view: the clamped rows C have w = 0, the others N sit at a bound). All z start at the bound
 * nearest to zero, the free ones in C. While some row r of N has w_r of the wrong sign, z_r is driven away from its
 * bound and the others follow so that w_C = 0:
 *
 *     dz_C = -A_CC^-1 A_Cr,   dw_N = A_Nr - A_NC A_CC^-1 A_Cr
 *
 * until   w_r = 0               r joins C; the row is done for good
 *         z_r at its other bound  r stays in N there; done
 *         some z_j, j in C, meets a bound      j leaves C; go on
 *         some w_j, j in N, meets zero         j joins C; go on.
 * Rows that are satisfied stay so; there are at most n drives. Leaving and joining are principal pivots on the diagonal
 * entry of the tableau, which is positive if A is symmetric positive definite. If it vanishes, the pair (j, r) is
 * pivoted as a 2x2 block: then w_r is the driven variable and is moved to zero (Cottle, Pang & Stone, alg. 4.2.11 for
 * row sufficient matrices). A negative one means that A is outside these classes; the pair is tried, else the method
 * gives up. If nothing blocks, the driven direction is a ray.
 *
 * Cost: n^2 per pivot; usually about as many pivots as rows in C at the end. Iterations are pivots.
 * Limits: terminates with an answer for positive (semi)definite and row sufficient A. Other matrices (the pyramids of
 * Stewart and Trinkle among them) are tried; failure is not_converged, no_solution only with a Farkas certificate
 * y >= 0, A'y <= 0, b'y < 0. Singular blocks of equations are refused.
 *
 * References: Cottle & Dantzig (1968), Complementary pivot theory of mathematical programming, Lin. Alg. Appl. 1;
 * Cottle, Pang & Stone (1992), sec. 4.1-4.3; Baraff (1994), Fast contact force computation for nonpenetrating rigid
 * bodies, sec. 4. */
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "problem/convert.h"
#include "problem/entries.h"
#include "solver/pivot_table.h"

typedef struct dantzig_options {
    int order;
} dantzig_options;

typedef struct state {
    mor_pivot_table t;
    signed char* side; /* of z in N: -1 lower, 1 upper */
    double zero;       /* |w| below this is zero */
} state;

typedef enum ending { DONE, RAY, STUCK, USED_UP, LATE } ending;

static int complement(const state* s, int v) { return v < s->t.n ? v + s->t.n : v - s->t.n; }

/* How wrong the sign of w_k is (k in N); 0 if right. */
static double wrongness(const state* s, int k)
{
    const mor_pivot_table* t = &s->t;
    int w = t->n + k;
    if (!mor_pivot_is_basic(t, w) || t->l[k] == t->u[k]) return 0.0;
    double x = s->side[k] < 0 ? -t->x[w] : t->x[w];
    return x > s->zero ? x : 0.0;
}

static void move(state* s, int column, double amount)
{
    mor_pivot_table* t = &s->t;
    for (int i = 0; i < t->n; i++) {
        double a = mor_pivot_row(t, i)[column];
        if (a != 0.0) t->x[t->basic[i]] += amount * a;
    }
    t->x[t->nonbasic[column]] += amount;
}

/* The basic variable that first blocks a move of the driven one; -1: none. Not w_r, not rows that are still wrong. */
static int first_block(const state* s, int r, int column, double dir, double* step)
{
    const mor_pivot_table* t = &s->t;
    int n = t->n, best = -1;
    double largest = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) largest = mor_max(largest, fabs(mor_pivot_row(t, i)[column]));
    *step = INFINITY;
    for (int i = 0; i < n; i++) {
        int v = t->basic[i], k = v < n ? v : v - n;
        double rate = mor_pivot_row(t, i)[column] * dir, bound;
        if (v == n + r || !(fabs(rate) > 1e-11 * largest)) continue;
        if (v < n) bound = rate < 0.0 ? t->l[k] : t->u[k];
        else {
            if (t->l[k] == t->u[k] || wrongness(s, k) > 0.0) continue;
            if ((s->side[k] < 0) != (rate < 0.0)) continue;
            bound = 0.0;
        }
        if (!isfinite(bound)) continue;
        double ratio = mor_max((bound - t->x[v]) / rate, 0.0);
        if (ratio < *step - 1e-13 * mor_min(*step, 1e300) || (ratio <= *step && fabs(rate) > size))
            *step = ratio, best = v, size = fabs(rate);
    }
    return best;
}

static ending drive(state* s, int r, mor_context* context, int* pivots, double* out)
{
    mor_pivot_table* t = &s->t;
    int n = t->n, wr = n + r, driven = r; /* z_r, or w_r after a 2x2 pivot */
    double away = s->side[r] < 0 ? 1.0 : -1.0;
    for (;;) {
        if (++*pivots > context->max_iter) return USED_UP;
        if ((*pivots & (n > 500 ? 0 : 15)) == 0 && mor_out_of_time(context)) return LATE;
        int column = ~t->place[driven];
        double dir = driven == r ? away : t->x[wr] < 0.0 ? 1.0 : -1.0, step, own, arrive = INFINITY;
        int block = first_block(s, r, column, dir, &step);
        if (driven == r) {
            double rate = mor_pivot_entry(t, wr, r) * dir;
            own = away > 0.0 ? t->u[r] - t->x[r] : t->x[r] - t->l[r];
            if ((t->x[wr] < 0.0) == (rate > 0.0) && fabs(rate) > 1e-13) arrive = fabs(t->x[wr]) / fabs(rate);
        } else own = fabs(t->x[wr]);
        if (block < 0 && !isfinite(own) && !isfinite(arrive)) return RAY;
        /* in a tie the row is done: going on with w_r = 0 would lose its sign */
        if (arrive <= (1.0 + 1e-11) * step && arrive <= own) {
            move(s, column, dir * arrive);
            mor_pivot_exchange(t, wr, r);
            t->x[wr] = 0.0;
            return DONE;
        }
        if (own <= step) {
            move(s, column, dir * own);
            if (driven == r) s->side[r] = away > 0.0 ? 1 : -1, t->x[r] = away > 0.0 ? t->u[r] : t->l[r];
            else t->x[wr] = 0.0;
            return DONE;
        }
        move(s, column, dir * step);
        int other = complement(s, block), k = block < n ? block : other;
        if (block < n) s->side[k] = fabs(t->x[k] - t->l[k]) <= fabs(t->u[k] - t->x[k]) ? -1 : 1;
        t->x[block] = block >= n ? 0.0 : s->side[k] < 0 ? t->l[k] : t->u[k];
        if (block == r) { /* driven w_r, and z_r met a bound: back to driving z_r, or done at the other bound */
            mor_pivot_exchange(t, r, wr);
            if ((s->side[r] < 0) == (away < 0.0)) return wrongness(s, r) > 0.0 ? STUCK : DONE;
            driven = r;
            continue;
        }
        double diagonal = mor_pivot_entry(t, block, other);
        if (diagonal > 1e-9) mor_pivot_exchange(t, block, other);
        else {
            int partner = complement(s, driven); /* basic */
            if (!(fabs(mor_pivot_entry(t, block, driven)) > 1e-10)) return STUCK;
            mor_pivot_exchange(t, block, driven);
            if (!(fabs(mor_pivot_entry(t, partner, other)) > 1e-10)) return STUCK;
            mor_pivot_exchange(t, partner, other);
            driven = partner;
        }
        if (context->trace) {
            for (int i = 0; i < n; i++) out[i] = t->C[i] * t->x[i];
            mor_trace_add(context, *pivots, 1.0, out);
        }
    }
}

/* Farkas certificate from the direction in which z_r could be driven for ever (LCP only). */
static bool proves_infeasible(const state* s, const mor_problem* problem, int r, double* y, double* g)
{
    const mor_pivot_table* t = &s->t;
    int n = t->n;
    if (problem->form != MOR_LCP || mor_pivot_is_basic(t, r)) return false;
    for (int i = 0; i < n; i++)
        y[i] = mor_pivot_is_basic(t, i) ? mor_max(0.0, t->C[i] * mor_pivot_entry(t, i, r)) : i == r ? t->C[i] : 0.0;
    double length = mor_norm_max(n, y), descent = 0.0, size = 0.0, reach = 0.0, largest = 0.0;
    if (!(length > 0.0)) return false;
    for (int i = 0; i < n; i++) {
        y[i] = y[i] < 1e-12 * length ? 0.0 : y[i] / length;
        descent += problem->b[i] * y[i], size += fabs(problem->b[i]) * y[i];
    }
    mor_matrix_apply_transposed(&problem->A, y, g);
    for (int j = 0; j < n; j++) reach = mor_max(reach, g[j]);
    const mor_matrix* A = &problem->A;
    for (size_t k = 0; k < (A->storage == MOR_DENSE ? (size_t)n * n : (size_t)A->p[n]); k++)
        largest = mor_max(largest, fabs(A->x[k]));
    return descent < -1e-8 * size && reach <= 1e-11 * largest;
}

/* The start: equations solved, every other variable at its bound of least size. False: report says why. */
static bool begin(state* s, const mor_problem* problem, bool* inside, mor_report* report, mor_arena* arena)
{
    int n = problem->size;
    mor_pivot_table* t = &s->t;
    bool enough = mor_pivot_load(t, problem, arena);
    s->side = mor_arena_zero(arena, (size_t)n + 1, 1);
    if (!enough || !s->side || !inside) {
        report->status = MOR_NUMERICAL;
        snprintf(report->detail, sizeof report->detail, "out of memory for a tableau of %d rows", n);
        return false;
    }
    mor_pivot_reset(t, t->b);
    for (int i = 0; i < n; i++) inside[i] = t->l[i] == -INFINITY && t->u[i] == INFINITY;
    if (mor_pivot_block(t, inside, false) > 0) {
        snprintf(report->detail, sizeof report->detail, "the block of equations is singular");
        return false;
    }
    memset(t->x, 0, (2 * (size_t)n + 1) * sizeof *t->x);
    t->x[2 * n] = 1.0;
    for (int i = 0; i < n; i++) {
        if (inside[i]) continue;
        s->side[i] = fabs(t->l[i]) <= fabs(t->u[i]) ? -1 : 1;
        t->x[i] = s->side[i] < 0 ? t->l[i] : t->u[i];
    }
    for (int r = 0; r < n; r++) {
        const double* row = mor_pivot_row(t, r);
        double sum = 0.0;
        for (int c = 0; c <= n; c++)
            if (row[c] != 0.0) sum += row[c] * t->x[t->nonbasic[c]];
        t->x[t->basic[r]] = sum;
    }
    s->zero = 1e-13 * mor_max(mor_norm_max(n, t->b), 1e-300);
    return true;
}

/* The row to be driven next, -1: all are right. */
static int next_row(const state* s, const bool* given_up, bool first)
{
    int r = -1;
    double worst = 0.0;
    for (int k = 0; k < s->t.n; k++) {
        double wrong = given_up[k] ? 0.0 : wrongness(s, k);
        if (!(wrong > worst)) continue;
        worst = wrong, r = k;
        if (first) break;
    }
    return r;
}

static mor_report dantzig_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const dantzig_options* o = options;
    mor_report report = { .status = MOR_REFUSED };
    int n = problem->size;
    memset(z, 0, (size_t)n * sizeof *z);
    if (problem->A.storage == MOR_OPERATOR) {
        snprintf(report.detail, sizeof report.detail, "pivoting needs the entries of the matrix");
        return report;
    }
    state s;
    size_t N = (size_t)n;
    bool* marks = mor_arena_zero(context->arena, 2 * N + 1, sizeof(bool));
    double* work = mor_arena_alloc(context->arena, (2 * N + 1) * sizeof *work);
    bool* given_up = marks ? marks + n : NULL;
    if (!begin(&s, problem, work ? marks : NULL, &report, context->arena)) return report;
    mor_pivot_table* t = &s.t;
    report.status = MOR_NOT_CONVERGED;
    ending end = DONE;
    for (int drives = 0; drives < 3 * n + 1; drives++) {
        int r = next_row(&s, given_up, o->order == 1);
        if (r < 0) break;
        end = drive(&s, r, context, &report.iterations, z);
        if (end == RAY && proves_infeasible(&s, problem, r, work, work + n)) {
            report.status = MOR_NO_SOLUTION;
            snprintf(report.detail, sizeof report.detail,
                     "a drive without end, with a certificate: y >= 0, A'y <= 0, b'y < 0");
            return report;
        }
        if (end == USED_UP || end == LATE) break;
        if (end != RAY && end != STUCK) continue;
        snprintf(report.detail, sizeof report.detail, "row %d: %s; the matrix is not row sufficient, or no solution", r,
                 end == RAY ? "nothing blocks its drive" : "no pivot");
        /* consistent only while every pair has one nonbasic member */
        given_up[r] = true;
        if (end == STUCK || !mor_pivot_is_basic(t, n + r)) break;
    }
    for (int i = 0; i < n; i++) {
        z[i] = mor_min(mor_upper_of(problem, i), mor_max(mor_lower_of(problem, i), t->C[i] * t->x[i]));
        if (!isfinite(z[i])) z[i] = 0.0;
    }
    double error = context->error(context, z, NULL);
    if (!(error <= 1e-3 * context->tol))
        error = mor_boxed_polish(problem, z, mor_context_measure, context, context->arena);
    if (error <= context->tol) report.status = MOR_SOLVED, report.detail[0] = 0;
    else if (end == LATE) report.status = MOR_TIME_LIMIT;
    return report;
}

static const mor_field fields[] = {
    { "order", MOR_TYPE_CHOICE, offsetof(dantzig_options, order), 0, 0, 0, "worst|first", "",
      "which row is driven next" },
    { 0 },
};

extern const mor_solver mor_solver_dantzig;
const mor_solver mor_solver_dantzig = {
    .name = "dantzig",
    .summary = "Cottle and Dantzig's principal pivoting with bounds, one row at a time",
    .reference = "cottle1968",
    .accepts = MOR_LCP | MOR_MLCP | MOR_MCP,
    .options_size = sizeof(dantzig_options),
    .fields = fields,
    .max_iter = 20000,
    .solve = dantzig_solve,
};
