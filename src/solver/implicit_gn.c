/* Implicit complementarity by Gauss-Newton.
 *
 * Problem: FC (2-D, 3-D, rolling). One unknown x per contact row carries impulse and velocity,
 *
 *     p_n = (x_n)+,   p_T = P(x_T, disc of radius mu p_n),   u = (p - x)/d,   d_c = 3/trace W_cc
 *
 * so that Coulomb's law holds for every x (u_n >= 0 only where p_n = 0, slip opposes friction at the rim of the disc),
 * and what is left is the square, piecewise smooth system
 *
 *     e(x) = W p(x) + q - u(x) = 0,     J = W P' + (I - P')/d,   P' = dp/dx
 *
 * minimised as |e|^2 in the metric of d by Gauss-Newton with Levenberg-Marquardt damping,
 * (J'J + lambda I) dx = -J'e; lambda falls by 3 to 10 when the step does what the model says and grows by 4 when it
 * does not.
 *
 * linear = direct forms J'J (dense, n^3 + n^3/3); cg applies J and J' without forming them (two products with W each);
 * auto takes cg from 1200 rows. Starts at x = r - d u(r). Fast on well-posed problems; the function has local minima
 * where the friction problem is not monotone, and redundant contacts make J'J singular, which lambda must bear: then
 * not_converged.
 *
 * E. Todorov (2010), Implicit nonlinear complementarity: a new approach to contact dynamics. There M is diagonal and
 * gaps are left out; here W is full. */
#include "base/elementary.h"
#include "linalg/dense.h"
#include "solver/cone_system.h"
#include "solver/sweep.h"

#include <math.h>
#include <string.h>

enum { LINEAR_AUTO, LINEAR_DIRECT, LINEAR_CG, CG_FROM = 1200 };

typedef struct gn_options {
    int linear;
    double lambda;
} gn_options;

static const mor_field gn_fields[] = { { "linear", MOR_TYPE_CHOICE, offsetof(gn_options, linear), LINEAR_AUTO, 0, 0,
                                         "auto|direct|cg", "", "how the normal equations are solved" },
                                       { "lambda", MOR_TYPE_DOUBLE, offsetof(gn_options, lambda), 1e-2, 1e-12, 1e6,
                                         NULL, "", "damping at the start" },
                                       { 0 } };

/* All in scaled quantities: x = sqrt(d) x', e' = sqrt(d) e, W' = sqrt(d) W sqrt(d). */
typedef struct gn {
    const mor_cone_system* s;
    const double* root; /* n: sqrt(d) of every row */
    double* P;          /* per contact dim x dim row-major: P' */
    double *a, *b;      /* scratch, n each */
} gn;

static void disc(double mu, double pn, bool open, int k, const double* x, double* p, double* P, int dim, int at)
{
    double size = k == 1 ? fabs(x[0]) : sqrt(x[0] * x[0] + x[1] * x[1]), radius = mu * pn;
    if (size <= radius) {
        for (int i = 0; i < k; i++) p[i] = x[i], P[(at + i) * (dim + 1)] = 1.0;
        return;
    }
    double e[2] = { x[0] / size, k == 2 ? x[1] / size : 0.0 };
    for (int i = 0; i < k; i++) {
        p[i] = radius * e[i];
        P[(at + i) * dim] = open ? 0.0 : mu * e[i];
        for (int j = 0; j < k; j++) P[(at + i) * dim + at + j] = radius / size * ((i == j ? 1.0 : 0.0) - e[i] * e[j]);
    }
}

/* p(x) and P' */
static void split(const gn* g, const double* x, double* p)
{
    int d = g->s->problem->dim;
    for (int c = 0; c < g->s->count; c++) {
        const mor_cone_block* b = &g->s->blocks[c];
        const double* y = x + c * d;
        double *out = p + c * d, *P = g->P + (size_t)c * d * d;
        bool open = !(y[0] > 0.0);
        memset(P, 0, (size_t)(d * d) * sizeof *P);
        out[0] = open ? 0.0 : y[0];
        P[0] = open ? 0.0 : 1.0;
        disc(b->cone.mu[0], out[0], open, d == 2 ? 1 : 2, y + 1, out + 1, P, d, 1);
        if (d == 5) disc(b->cone.mu[1] / b->beta, out[0], open, 2, y + 3, out + 3, P, d, 3);
    }
}

/* e(x) scaled; p in natural units to `r`. Returns |e|^2. */
static double residual(const gn* g, const double* x, double* r, double* e)
{
    int n = g->s->n;
    double sum = 0.0;
    split(g, x, g->a);
    for (int i = 0; i < n; i++) r[i] = g->root[i] * g->a[i];
    mor_cone_system_velocity(g->s, r, e);
    for (int i = 0; i < n; i++) e[i] = g->root[i] * e[i] - (g->a[i] - x[i]), sum += e[i] * e[i];
    return sum;
}

/* y = P' v or P'' v by blocks */
static void slopes(const gn* g, bool transposed, const double* v, double* y)
{
    int d = g->s->problem->dim;
    for (int c = 0; c < g->s->count; c++) {
        const double* P = g->P + (size_t)c * d * d;
        for (int i = 0; i < d; i++) {
            double sum = 0.0;
            for (int j = 0; j < d; j++) sum += (transposed ? P[j * d + i] : P[i * d + j]) * v[c * d + j];
            y[c * d + i] = sum;
        }
    }
}

/* y = J v = W' (P' v) + v - P' v */
static void apply(const gn* g, const double* v, double* y)
{
    int n = g->s->n;
    slopes(g, false, v, g->a);
    for (int i = 0; i < n; i++) g->b[i] = g->root[i] * g->a[i];
    mor_matrix_apply(&g->s->problem->A, g->b, y);
    for (int i = 0; i < n; i++) y[i] = g->root[i] * y[i] + v[i] - g->a[i];
}

/* y = J' v = P''(W'' v - v) + v */
static void apply_transposed(const gn* g, const double* v, double* y)
{
    int n = g->s->n;
    for (int i = 0; i < n; i++) g->a[i] = g->root[i] * v[i];
    mor_matrix_apply_transposed(&g->s->problem->A, g->a, g->b);
    for (int i = 0; i < n; i++) g->b[i] = g->root[i] * g->b[i] - v[i];
    slopes(g, true, g->b, y);
    for (int i = 0; i < n; i++) y[i] += v[i];
}

/* (J'J + lambda) dx = right by conjugate gradients; work: 4 n */
static void solve_cg(const gn* g, double lambda, const double* right, double* dx, double* work)
{
    int n = g->s->n;
    double *r = work, *p = r + n, *Ap = p + n, *t = Ap + n, rr = 0.0, stop;
    for (int i = 0; i < n; i++) dx[i] = 0.0, r[i] = p[i] = right[i], rr += r[i] * r[i];
    stop = 1e-16 * rr;
    for (int k = 0; k < 2 * n && rr > stop; k++) {
        double pAp = 0.0, next = 0.0;
        apply(g, p, t);
        apply_transposed(g, t, Ap);
        for (int i = 0; i < n; i++) Ap[i] += lambda * p[i], pAp += p[i] * Ap[i];
        if (!(pAp > 0.0)) return;
        double a = rr / pAp;
        for (int i = 0; i < n; i++) dx[i] += a * p[i], r[i] -= a * Ap[i], next += r[i] * r[i];
        for (int i = 0; i < n; i++) p[i] = r[i] + next / rr * p[i];
        rr = next;
    }
}

/* N = J'J, dense. J is built column by column in `J`. */
static void normal_matrix(const gn* g, double* J, double* Jt, double* N, double* unit)
{
    int n = g->s->n;
    memset(unit, 0, (size_t)n * sizeof *unit);
    for (int j = 0; j < n; j++) {
        unit[j] = 1.0;
        apply(g, unit, J + (size_t)j * n);
        unit[j] = 0.0;
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) Jt[j + (size_t)i * n] = J[i + (size_t)j * n];
    memset(N, 0, (size_t)n * n * sizeof *N);
    mor_dense_multiply_add(n, n, n, 1.0, Jt, n, J, n, N, n);
}

static mor_report gn_solve(const mor_problem* problem, const void* options, mor_context* context, double* r)
{
    const gn_options* o = options;
    mor_cone_system s;
    const char* why;
    mor_status status = mor_cone_system_open(&s, problem, context->arena, &why);
    if (status != MOR_SOLVED) return mor_ended(status, 0, why);
    if (context->error(context, r, NULL) <= context->tol) return mor_ended(MOR_SOLVED, 0, "the start was good enough");
    int n = s.n, d = problem->dim;
    size_t size = (size_t)n;
    bool direct = o->linear == LINEAR_DIRECT || (o->linear == LINEAR_AUTO && n < CG_FROM);
    double* memory = mor_arena_alloc(context->arena, (12 + (size_t)d) * size * sizeof *memory);
    double* square = direct ? mor_arena_alloc(context->arena, 4 * size * size * sizeof *square) : NULL;
    if (!memory || (direct && !square)) return mor_ended(MOR_NUMERICAL, 0, "out of memory");
    double *root = memory, *x = root + n, *e = x + n, *right = e + n, *dx = right + n, *trial = dx + n, *a = trial + n,
           *b = a + n, *work = b + n, *P = work + 4 * size;
    gn g = { &s, root, P, a, b };
    double *J = square, *Jt = direct ? J + size * size : NULL, *N = direct ? Jt + size * size : NULL,
           *F = direct ? N + size * size : NULL;
    for (int i = 0; i < n; i++) root[i] = sqrt(s.weight[i]);
    mor_cone_system_velocity(&s, r, e);
    for (int i = 0; i < n; i++) x[i] = r[i] / root[i] - root[i] * e[i];
    double lambda = o->lambda, merit = residual(&g, x, r, e), first = merit;
    bool fresh = true;
    for (int k = 1; k <= context->max_iter; k++) {
        double scale = sqrt(merit / first); /* the damping fades with the residual */
        if (fresh) {
            apply_transposed(&g, e, right);
            for (int i = 0; i < n; i++) right[i] = -right[i];
            if (direct) normal_matrix(&g, J, Jt, N, work);
        }
        double shift = mor_max(1e-14, lambda * scale);
        if (direct) {
            memcpy(F, N, size * size * sizeof *F);
            for (int i = 0; i < n; i++) F[i + (size_t)i * n] += shift;
            if (!mor_cholesky_factor(n, F)) {
                lambda = mor_max(10.0 * lambda, 1e-10);
                fresh = false;
                if (lambda > 1e12) return mor_ended(MOR_NUMERICAL, k, "the normal equations are singular");
                continue;
            }
            memcpy(dx, right, size * sizeof *dx);
            mor_cholesky_solve(n, F, dx);
        } else solve_cg(&g, shift, right, dx, work);
        double predicted = 0.0;
        for (int i = 0; i < n; i++) trial[i] = x[i] + dx[i], predicted += dx[i] * (right[i] + shift * dx[i]);
        double next = residual(&g, trial, r, work);
        if (isnan(next)) return mor_ended(MOR_NUMERICAL, k, "not a number");
        double gain = predicted > 0.0 ? (merit - next) / predicted : -1.0;
        fresh = next < merit;
        if (fresh) {
            memcpy(x, trial, size * sizeof *x);
            memcpy(e, work, size * sizeof *e);
            merit = next;
            lambda = mor_max(1e-14, gain > 0.75 ? lambda / 10.0 : gain > 0.25 ? lambda / 3.0 : lambda);
        } else {
            lambda = mor_max(4.0 * lambda, 1e-12);
            residual(&g, x, r, work); /* P' and r of the point kept */
        }
        mor_trace_add(context, k, fresh ? 1.0 : 0.0, r);
        if (mor_cone_system_runaway(&s, r, context->tol))
            return mor_ended(MOR_NOT_CONVERGED, k, "the impulses grow without bound");
        if (context->error(context, r, NULL) <= context->tol) return mor_ended(MOR_SOLVED, k, "");
        if (mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
        if (!fresh && lambda > 1e12) return mor_ended(MOR_NOT_CONVERGED, k, "a local minimum of the residual");
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

const mor_solver mor_solver_implicit_gn = {
    .name = "implicit-gn",
    .summary = "implicit complementarity: damped Gauss-Newton on one unknown per contact row",
    .reference = "todorov2010",
    .accepts = MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING,
    .options_size = sizeof(gn_options),
    .fields = gn_fields,
    .max_iter = 500,
    .solve = gn_solve,
};
