/* The judge of quadratic programmes: how far z is from the KKT conditions, without multipliers from the solver.
 *
 *   minimise z'Az/2 + b'z,  l <= z <= u,  cl <= C z <= cu        (A symmetric, or its symmetric part is meant)
 *
 * Rows are divided by their norms first, so that a slack is a distance. With g = A z + b, the multipliers lambda of the
 * rows are those of the least-squares problem with signs (nnls.h)
 *
 *   minimise |g - C_a' lambda - s|,  lambda_i >= 0 at a lower bound, <= 0 at an upper one, s likewise on the box
 *
 * over the rows within delta of a bound. Then w = g - C' lambda and
 *
 *   e = ( z - mid(l, z - w, u),  C z - mid(cl, C z - lambda, cu) ),   absolute |e|.
 *
 * A part of e is either a multiplier or slope that should vanish (the argument of mid lies between its bounds) or a
 * distance to a bound. With e_d and e_p the two kinds,
 *
 *   relative = max( |e_d|/max(|b|, |A z|),  |e_p|/max(|z|, min(|b|/|A|, largest bound)) )
 *
 * so that neither unit hides the other. (|z| is no scale of e_d: along an unbounded direction it would make any answer
 * look right.) A row called active too generously costs its slack in e, one called active too strictly its multiplier:
 * delta runs over 1e-4 ... 1e-10 times the size of z and the least error counts. Any z with a small |e| has multipliers
 * that show it, so the number is never too small.
 *
 * Cost: O(n k^2) for k nearly active rows, up to four times.
 * Reference: Nocedal & Wright (2006), Numerical Optimization, sec. 12.3, 16.1; Lawson & Hanson (1974). */
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "linalg/nnls.h"
#include "problem/judge.h"

typedef struct rows {
    int n, m;
    double* C;            /* m x n, row-major, unit rows */
    double *cl, *cu, *Cz; /* m */
    double *g, *w, *lambda;
} rows;

static double lower_of(const mor_problem* p, int i) { return p->lower ? p->lower[i] : 0.0; }
static double upper_of(const mor_problem* p, int i) { return p->upper ? p->upper[i] : INFINITY; }

void mor_qp_dense_rows(const mor_matrix* C, double* rows)
{
    int m = C->rows, n = C->cols;
    memset(rows, 0, (size_t)m * (size_t)n * sizeof *rows);
    for (int i = 0; i < m; i++)
        if (C->storage == MOR_DENSE)
            for (int j = 0; j < n; j++) rows[(size_t)i * n + j] = C->x[i + (size_t)j * m];
        else
            for (int k = C->p[i]; k < C->p[i + 1]; k++) rows[(size_t)i * n + C->i[k]] = C->x[k];
}

static bool qp_gradient(const mor_problem* problem, const double* z, double* g, mor_arena* arena)
{
    int n = problem->size;
    mor_matrix_apply(&problem->A, z, g);
    if (problem->A.storage != MOR_OPERATOR) {
        size_t mark = mor_arena_mark(arena);
        double* t = mor_arena_alloc(arena, ((size_t)n + 1) * sizeof *t);
        if (!t) return false;
        mor_matrix_apply_transposed(&problem->A, z, t);
        for (int i = 0; i < n; i++) g[i] = 0.5 * (g[i] + t[i]);
        mor_arena_release(arena, mark);
    }
    for (int i = 0; i < n; i++) g[i] += problem->b[i];
    return true;
}

/* Active side of a value between bounds: -1 lower, 1 upper, 0 none, 2 both. */
static int side(double x, double lower, double upper, double delta)
{
    bool low = x <= lower + delta, high = x >= upper - delta;
    if (low && high) return upper - lower <= 2.0 * delta ? 2 : x - lower <= upper - x ? -1 : 1;
    return low ? -1 : high ? 1 : 0;
}

/* Adds e = x - mid(l, x - w, u) to its kind. */
static void split(double x, double lower, double upper, double w, double* slopes, double* distances)
{
    double to = x - w;
    if (to > lower && to < upper) *slopes += w * w;
    else {
        double e = x - (to <= lower ? lower : upper);
        *distances += e * e;
    }
}

/* Fills lambda for this delta and returns the merits and the squares of e_d and e_p. */
static bool evaluate(const mor_problem* p, const rows* s, const double* z, double delta, mor_tally* tally,
                     double* slopes, double* distances, mor_arena* arena)
{
    int n = s->n, m = s->m, k = 0;
    size_t mark = mor_arena_mark(arena);
    int* from = mor_arena_alloc(arena, ((size_t)m + n + 1) * sizeof *from);
    int* sign = mor_arena_alloc(arena, ((size_t)m + n + 1) * sizeof *sign);
    if (!from || !sign) return false;
    for (int i = 0; i < m + n; i++) {
        int at = i < m ? side(s->Cz[i], s->cl[i], s->cu[i], delta)
                       : side(z[i - m], lower_of(p, i - m), upper_of(p, i - m), delta);
        if (at) from[k] = i, sign[k++] = at;
    }
    double* E = mor_arena_zero(arena, (size_t)n * ((size_t)k + 1), sizeof *E);
    bool* is_free = mor_arena_zero(arena, (size_t)k + 1, sizeof *is_free);
    double* x = mor_arena_alloc(arena, ((size_t)k + 1) * sizeof *x);
    double* left = mor_arena_alloc(arena, ((size_t)n + 1) * sizeof *left);
    if (!E || !is_free || !x || !left) return false;
    for (int c = 0; c < k; c++) {
        double direction = sign[c] == 1 ? -1.0 : 1.0;
        is_free[c] = sign[c] == 2;
        if (from[c] < m)
            for (int j = 0; j < n; j++) E[(size_t)n * c + j] = direction * s->C[(size_t)from[c] * n + j];
        else E[(size_t)n * c + from[c] - m] = direction;
    }
    if (m > 0 && !mor_nnls(n, k, E, is_free, s->g, x, left, arena)) return false;
    memset(s->lambda, 0, (size_t)m * sizeof *s->lambda);
    memcpy(s->w, s->g, (size_t)n * sizeof *s->w);
    for (int c = 0; c < k; c++) {
        if (from[c] >= m) continue;
        s->lambda[from[c]] = sign[c] == 1 ? -x[c] : x[c];
        for (int j = 0; j < n; j++) s->w[j] -= s->lambda[from[c]] * s->C[(size_t)from[c] * n + j];
    }
    memset(tally, 0, sizeof *tally);
    *slopes = *distances = 0.0;
    for (int i = 0; i < n; i++) {
        mor_tally_bounded(tally, z[i], lower_of(p, i), upper_of(p, i), s->w[i]);
        split(z[i], lower_of(p, i), upper_of(p, i), s->w[i], slopes, distances);
    }
    for (int i = 0; i < m; i++) {
        mor_tally_bounded(tally, s->Cz[i], s->cl[i], s->cu[i], s->lambda[i]);
        split(s->Cz[i], s->cl[i], s->cu[i], s->lambda[i], slopes, distances);
    }
    mor_arena_release(arena, mark);
    return true;
}

static double over(double value, double scale) { return scale > 2.2e-16 ? value / scale : value; }

/* max(|z|, min(|b|/|A|, largest bound)): the lengths that occur in the problem. */
static double length_scale(const mor_problem* p, const rows* s, const double* z)
{
    double reach = 0.0, entry = 0.0;
    for (int i = 0; i < s->m + s->n; i++) {
        double l = i < s->m ? s->cl[i] : lower_of(p, i - s->m), u = i < s->m ? s->cu[i] : upper_of(p, i - s->m);
        if (isfinite(l)) reach = mor_max(reach, fabs(l));
        if (isfinite(u)) reach = mor_max(reach, fabs(u));
    }
    const mor_matrix* A = &p->A;
    size_t count = A->storage == MOR_DENSE ? (size_t)s->n * s->n : A->storage == MOR_SPARSE ? (size_t)A->p[s->n] : 0;
    for (size_t k = 0; k < count; k++) entry = mor_max(entry, fabs(A->x[k]));
    double natural = entry > 0.0 ? mor_norm2(s->n, p->b) / entry : 0.0;
    if (reach > 0.0 && (natural > reach || entry == 0.0)) natural = reach;
    return mor_max(mor_norm2(s->n, z), natural);
}

mor_residual mor_judge_qp(const mor_problem* problem, const double* z, mor_arena* arena)
{
    mor_residual out = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    int n = problem->size, m = problem->C.rows;
    size_t mark = mor_arena_mark(arena);
    rows s = { .n = n, .m = m };
    s.C = mor_arena_alloc(arena, ((size_t)m * (size_t)n + 1) * sizeof *s.C);
    double* v = mor_arena_alloc(arena, (4 * (size_t)m + 2 * (size_t)n + 1) * sizeof *v);
    if (!s.C || !v || (m > 0 && problem->C.storage == MOR_OPERATOR)) return out;
    s.cl = v, s.cu = v + m, s.Cz = v + 2 * m, s.lambda = v + 3 * m, s.g = v + 4 * m, s.w = s.g + n;
    if (!qp_gradient(problem, z, s.g, arena)) return out;
    bool sound = true;
    for (int i = 0; i < n; i++) sound = sound && isfinite(z[i]) && isfinite(s.g[i]);
    if (!sound) {
        mor_arena_release(arena, mark);
        return out;
    }
    if (m > 0) mor_qp_dense_rows(&problem->C, s.C);
    for (int i = 0; i < m; i++) {
        double *row = s.C + (size_t)i * n, size = mor_norm2(n, row), t = 0.0;
        if (!(size > 0.0)) size = 1.0;
        for (int j = 0; j < n; j++) row[j] /= size, t += row[j] * z[j];
        s.Cz[i] = t, s.cl[i] = problem->c_lower[i] / size, s.cu[i] = problem->c_upper[i] / size;
    }
    double size = mor_max(mor_norm2(n, z), 1e-12), scale = 0.0;
    for (int i = 0; i < n; i++) scale += (s.g[i] - problem->b[i]) * (s.g[i] - problem->b[i]);
    scale = mor_max(mor_norm2(n, problem->b), sqrt(scale));
    double length = length_scale(problem, &s, z);
    for (int k = 0; k < 4; k++) {
        static const double delta[] = { 1e-8, 1e-6, 1e-10, 1e-4 };
        mor_tally t;
        double slopes, distances;
        if (!evaluate(problem, &s, z, delta[k] * size, &t, &slopes, &distances, arena)) break;
        double relative = mor_max(over(sqrt(slopes), scale), over(sqrt(distances), length));
        if (isnan(slopes) || isnan(distances) || !isfinite(scale) || !isfinite(length)) relative = NAN;
        if (relative < out.relative || isnan(out.relative)) {
            out.relative = relative, out.absolute = sqrt(t.natural);
            out.natural = 0.5 * t.natural, out.fb = 0.5 * t.fb, out.cck = 0.5 * t.cck;
        }
        if (m == 0 || out.relative <= 1e-12) break;
    }
    mor_arena_release(arena, mark);
    return out;
}
