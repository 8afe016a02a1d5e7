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
 * auto takes cg from 1200 rows. Starts at x = r - d u(r). The function has local minima where the friction problem is
 * not monotone, as where a push begins and the start is the rest before it. Then the descent begins again: at zero,
 * then from the answer without friction (which is monotone) with mu growing to its value in 8 parts, then after 1000,
 * 4000, 16,000 and 64,000 more steps of the extragradient method from the best so far.
 * Redundant contacts make J'J singular, which lambda must bear.
 *
 * E. Todorov (2010), Implicit nonlinear complementarity: a new approach to contact dynamics. There M is diagonal and
 * gaps are left out; here W is full. */
#include "base/elementary.h"
#include "linalg/dense.h"
#include "solver/cone_system.h"
#include "solver/sweep.h"

#include <math.h>
#include <string.h>

enum { LINEAR_AUTO, LINEAR_DIRECT, LINEAR_CG, CG_FROM = 1200, SHARES = 8, STARTS = 6, PROJECTIONS = 1000 };

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
    double share;       /* of the friction: 1, less on the way there */
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
        disc(g->share * b->cone.mu[0], out[0], open, d == 2 ? 1 : 2, y + 1, out + 1, P, d, 1);
        if (d == 5) disc(g->share * b->cone.mu[1] / b->beta, out[0], open, 2, y + 3, out + 3, P, d, 3);
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

/* Everything of one solve. */
typedef struct descent {
    gn g;
    const gn_options* o;
    mor_context* context;
    bool direct;
    double *x, *e, *right, *dx, *trial, *work; /* n; work: 4 n */
    double *J, *Jt, *N, *F;                    /* n x n; direct */
    int steps;                                 /* in all */
} descent;

/* dx of (J'J + shift) dx = right. False: singular. */
static bool solve_step(const descent* k, double shift)
{
    int n = k->g.s->n;
    size_t size = (size_t)n;
    if (!k->direct) {
        solve_cg(&k->g, shift, k->right, k->dx, k->work);
        return true;
    }
    memcpy(k->F, k->N, size * size * sizeof *k->F);
    for (int i = 0; i < n; i++) k->F[i + (size_t)i * size] += shift;
    if (!mor_cholesky_factor(n, k->F)) return false;
    memcpy(k->dx, k->right, size * sizeof *k->dx);
    mor_cholesky_solve(n, k->F, k->dx);
    return true;
}

/* Damped steps from the impulses r to a root of e or a local minimum of |e|^2. */
static mor_report descend(descent* k, double* r)
{
    gn* g = &k->g;
    int n = g->s->n;
    size_t size = (size_t)n;
    mor_cone_system_velocity(g->s, r, k->e);
    for (int i = 0; i < n; i++) k->x[i] = r[i] / g->root[i] - g->root[i] * k->e[i];
    double lambda = k->o->lambda, merit = residual(g, k->x, r, k->e), first = merit;
    const int most = k->steps + k->context->max_iter; /* of this start */
    for (bool fresh = true; k->steps < most;) {
        k->steps++;
        double scale = sqrt(merit / first); /* the damping fades with the residual */
        if (fresh) {
            apply_transposed(g, k->e, k->right);
            for (int i = 0; i < n; i++) k->right[i] = -k->right[i];
            if (k->direct) normal_matrix(g, k->J, k->Jt, k->N, k->work);
        }
        double shift = mor_max(1e-14, lambda * scale), predicted = 0.0;
        if (!solve_step(k, shift)) {
            lambda = mor_max(10.0 * lambda, 1e-10);
            fresh = false;
            if (lambda > 1e12) return mor_ended(MOR_NUMERICAL, k->steps, "the normal equations are singular");
            continue;
        }
        for (int i = 0; i < n; i++)
            k->trial[i] = k->x[i] + k->dx[i], predicted += k->dx[i] * (k->right[i] + shift * k->dx[i]);
        double next = residual(g, k->trial, r, k->work);
        if (isnan(next)) return mor_ended(MOR_NUMERICAL, k->steps, "not a number");
        double gain = predicted > 0.0 ? (merit - next) / predicted : -1.0;
        fresh = next < merit;
        if (fresh) {
            memcpy(k->x, k->trial, size * sizeof *k->x);
            memcpy(k->e, k->work, size * sizeof *k->e);
            merit = next;
            lambda = mor_max(1e-14, gain > 0.75 ? lambda / 10.0 : gain > 0.25 ? lambda / 3.0 : lambda);
        } else {
            lambda = mor_max(4.0 * lambda, 1e-12);
            residual(g, k->x, r, k->work); /* P' and r of the point kept */
        }
        mor_trace_add(k->context, k->steps, fresh ? 1.0 : 0.0, r);
        if (g->share < 1.0) { /* the judge knows the whole friction only */
            if (merit <= 1e-24 * first || (!fresh && lambda > 1e6)) break;
            continue;
        }
        if (mor_cone_system_runaway(g->s, r, k->context->tol))
            return mor_ended(MOR_NOT_CONVERGED, k->steps, "the impulses grow without bound");
        if (k->context->error(k->context, r, NULL) <= k->context->tol) return mor_ended(MOR_SOLVED, k->steps, "");
        if (mor_out_of_time(k->context)) return mor_ended(MOR_TIME_LIMIT, k->steps, "");
        if (!fresh && lambda > 1e12) return mor_ended(MOR_NOT_CONVERGED, k->steps, "a local minimum of the residual");
    }
    return mor_ended(MOR_NOT_CONVERGED, k->steps, "");
}

/* Another start: the answer without friction, then with an ever larger share of it, each from the one before. */
static void start_without_friction(descent* k, double* r)
{
    memset(r, 0, (size_t)k->g.s->n * sizeof *r);
    for (int part = 0; part < SHARES; part++) {
        k->g.share = (double)part / SHARES;
        descend(k, r);
    }
    k->g.share = 1.0;
}

/* Another start: extragradient steps r~ = P_K(r - rho u^(r)), r = P_K(r - rho u^(r~)) in the metric of d, which feel no
 * local minimum; rho falls until rho |u^(r) - u^(r~)| <= 0.9 |r - r~|. */
static void start_by_extragradient(descent* k, double* r, int rounds)
{
    const mor_cone_system* s = k->g.s;
    int n = s->n;
    double *F = k->x, *other = k->e, *G = k->right, *change = k->dx, rho = 1.0;
    for (int round = 0; round < rounds && (round % 64 || !mor_out_of_time(k->context)); round++) {
        mor_cone_system_velocity(s, r, F);
        mor_cone_system_hat(s, F, F);
        for (int i = 0; i < n; i++) other[i] = r[i] - rho * s->weight[i] * F[i];
        mor_cone_system_project(s, other);
        mor_cone_system_velocity(s, other, G);
        mor_cone_system_hat(s, G, G);
        for (int i = 0; i < n; i++) change[i] = F[i] - G[i];
        double turned = rho * mor_cone_system_norm(s, change, 1);
        for (int i = 0; i < n; i++) change[i] = r[i] - other[i];
        double moved = mor_cone_system_norm(s, change, -1);
        if (turned > 0.9 * moved) {
            rho *= 0.6;
            continue;
        }
        for (int i = 0; i < n; i++) r[i] -= rho * s->weight[i] * G[i];
        mor_cone_system_project(s, r);
    }
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
    double* memory = mor_arena_alloc(context->arena, (14 + (size_t)d) * size * sizeof *memory);
    double* square = direct ? mor_arena_alloc(context->arena, 4 * size * size * sizeof *square) : NULL;
    if (!memory || (direct && !square)) return mor_ended(MOR_NUMERICAL, 0, "out of memory");
    double *root = memory, *best = root + n, *far = best + n, *rest = far + n;
    descent k = { .g = { &s, 1.0, root, NULL, rest, rest + n }, .o = o, .context = context, .direct = direct };
    k.x = rest + 2 * size, k.e = k.x + n, k.right = k.e + n, k.dx = k.right + n, k.trial = k.dx + n,
    k.work = k.trial + n;
    k.g.P = k.work + 4 * size;
    if (direct) k.J = square, k.Jt = k.J + size * size, k.N = k.Jt + size * size, k.F = k.N + size * size;
    for (int i = 0; i < n; i++) root[i] = sqrt(s.weight[i]);
    mor_report report = descend(&k, r);
    double least = context->error(context, r, NULL);
    memcpy(best, r, size * sizeof *best);
    for (int start = 0; start < STARTS && report.status == MOR_NOT_CONVERGED; start++) {
        if (start == 0) memset(r, 0, size * sizeof *r);
        else if (start == 1) start_without_friction(&k, r);
        else {
            if (start == 2) memcpy(far, best, size * sizeof *r);
            start_by_extragradient(&k, far, PROJECTIONS << 2 * (start - 2));
            memcpy(r, far, size * sizeof *r);
        }
        report = descend(&k, r);
        double error = context->error(context, r, NULL);
        if (!(error < least)) continue;
        least = error;
        memcpy(best, r, size * sizeof *best);
    }
    memcpy(r, best, size * sizeof *r);
    return report;
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
