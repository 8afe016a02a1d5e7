/* qp-admm: alternating directions with one factorisation, adapted penalty, polishing and certificates.
 *
 * Problem. minimise x'Px/2 + q'x, v = G x, l <= v <= u (qp.h). P semidefinite of any rank; G may have dependent rows.
 *
 * Derivation. The augmented Lagrangian of v = G x with penalties R = diag(rho_i) is minimised over x and v in turn, x
 * with a proximal term sigma. With over-relaxation alpha and eta the multiplier of v = G x (P x + q + G'eta = 0):
 *
 *     (P + sigma I + G'R G) x~ = sigma x - q + G'(R v - eta),    v~ = G x~
 *     x+ = alpha x~ + (1 - alpha) x
 *     v+ = mid(l, alpha v~ + (1 - alpha) v + R^-1 eta, u)
 *     eta+ = eta + R (alpha v~ + (1 - alpha) v - v+)
 *
 * The matrix is factored once (Cholesky) and again only when rho changes by a factor of 5 (1.5 after 1000 iterations):
 * rho is moved by the root of the ratio of the relative primal and dual residuals. Equations get 1000 rho, rows without
 * bounds none. Unknowns are scaled to unit curvature, P and q divided by the largest entry of P first. Every `check`
 * iterations the rows whose multiplier is larger than their slack are taken as active and the KKT system is solved for
 * them (mor_qp_polish): that gives the digits ADMM is slow to give. Where that fails, every 8th time the same augmented
 * Lagrangian is minimised exactly over x and v together, with multipliers in rounds (qp_refine.c): at degenerate
 * answers no set of rows has multipliers of the right signs. If the constraints contradict each other the differences
 * of eta converge to a certificate, if the minimum is -infinity those of x do; both are tested (qp.h) and only a passed
 * test is reported as no_solution.
 *
 * Cost: O(n^3) per factorisation, O(n^2 + n m) per iteration. Limits: dense; convex; many iterations when P is badly
 * scaled. Deterministic: rho is adapted by iteration counts, never by time.
 *
 * Reference: Stellato, Banjac, Goulart, Bemporad & Boyd (2020), OSQP: an operator splitting solver for quadratic
 * programs, Math. Prog. Comp. 12, alg. 1, eq. 25, sec. 3.4, 4, 5.2. */
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "solver/qp.h"

typedef struct admm_options {
    double rho, sigma, relaxation;
    int check;
    bool adapt, polish;
} admm_options;

typedef struct splitting {
    const mor_qp* qp;
    double cost;                /* P and q are divided by this */
    double* L;                  /* factor */
    double *x, *v, *eta;        /* n, M, M */
    double *dx, *deta;          /* last differences */
    double *xt, *vt, *rhs, *Rv; /* n, M, n, M */
    double rho, sigma;
} splitting;

static double penalty(const splitting* s, int i)
{
    const mor_qp* qp = s->qp;
    if (qp->l[i] == -INFINITY && qp->u[i] == INFINITY) return 0.0;
    return qp->l[i] == qp->u[i] ? 1e3 * s->rho : s->rho;
}

static bool factor(splitting* s)
{
    const mor_qp* qp = s->qp;
    int n = qp->n;
    size_t N = (size_t)n;
    for (size_t k = 0; k < N * N; k++) s->L[k] = qp->P[k] / s->cost;
    for (int i = 0; i < qp->m; i++) {
        const double* c = qp->C + (size_t)i * N;
        double r = penalty(s, i);
        for (int b = 0; r > 0.0 && b < n; b++)
            for (int a = b; c[b] != 0.0 && a < n; a++) s->L[a + N * b] += r * c[a] * c[b];
    }
    for (int j = 0; j < n; j++) s->L[j + N * j] += s->sigma + penalty(s, qp->m + j);
    return mor_cholesky_factor(n, s->L);
}

static void iterate(splitting* s, double alpha)
{
    const mor_qp* qp = s->qp;
    int n = qp->n, M = qp->m + n;
    for (int i = 0; i < M; i++) s->Rv[i] = penalty(s, i) * s->v[i] - s->eta[i];
    mor_qp_rows_transposed(qp, s->Rv, s->rhs);
    for (int j = 0; j < n; j++) s->xt[j] = s->sigma * s->x[j] - qp->q[j] / s->cost + s->rhs[j];
    mor_cholesky_solve(n, s->L, s->xt);
    mor_qp_rows(qp, s->xt, s->vt);
    for (int j = 0; j < n; j++) {
        s->dx[j] = alpha * (s->xt[j] - s->x[j]);
        s->x[j] += s->dx[j];
    }
    for (int i = 0; i < M; i++) {
        double r = penalty(s, i), mixed = alpha * s->vt[i] + (1.0 - alpha) * s->v[i];
        if (r == 0.0) {
            s->v[i] = mixed, s->deta[i] = 0.0;
            continue;
        }
        double next = mor_min(qp->u[i], mor_max(qp->l[i], mixed + s->eta[i] / r));
        s->deta[i] = r * (mixed - next);
        s->eta[i] += s->deta[i];
        s->v[i] = next;
    }
}

/* Relative primal and dual residuals. */
static void residuals(splitting* s, double* primal, double* dual)
{
    const mor_qp* qp = s->qp;
    int n = qp->n, M = qp->m + n;
    double p = 0.0, ps = 1e-300, d = 0.0, ds = 1e-300;
    mor_qp_rows(qp, s->x, s->vt);
    for (int i = 0; i < M; i++) {
        if (penalty(s, i) == 0.0) continue;
        p = mor_max(p, fabs(s->vt[i] - s->v[i]));
        ps = mor_max(ps, mor_max(fabs(s->vt[i]), fabs(s->v[i])));
    }
    mor_dense_apply(n, n, qp->P, s->x, s->xt);
    mor_qp_rows_transposed(qp, s->eta, s->rhs);
    for (int j = 0; j < n; j++) {
        double a = s->xt[j] / s->cost, b = qp->q[j] / s->cost;
        d = mor_max(d, fabs(a + b + s->rhs[j]));
        ds = mor_max(ds, mor_max(fabs(a), mor_max(fabs(b), fabs(s->rhs[j]))));
    }
    /* the answer may be 0: what curvature 1 would make of q is a scale */
    ps = mor_max(ps, mor_norm_max(n, qp->q) / s->cost);
    *primal = p / ps, *dual = d / ds;
}

static void guess_active(const splitting* s, signed char* at)
{
    const mor_qp* qp = s->qp;
    for (int i = 0; i < qp->m + qp->n; i++) {
        at[i] = 0;
        if (qp->l[i] == qp->u[i] || s->v[i] - qp->l[i] < -s->eta[i]) at[i] = -1;
        else if (qp->u[i] - s->v[i] < s->eta[i]) at[i] = 1;
    }
}

/* Unknowns z = d x with x of unit curvature, rows of unit length again. False: out of memory. */
static bool equilibrate(mor_qp* qp, double* d, mor_arena* arena)
{
    int n = qp->n;
    size_t N = (size_t)n;
    double* q = mor_arena_alloc(arena, (N + 1) * sizeof *q);
    if (!q) return false;
    for (int j = 0; j < n; j++) {
        double curvature = qp->P[j + N * j];
        d[j] = qp->size > 0.0 ? 1.0 / sqrt(mor_max(curvature, 1e-6 * qp->size)) : 1.0;
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) qp->P[i + N * j] *= d[i] * d[j];
        q[j] = d[j] * qp->q[j];
        qp->l[qp->m + j] /= d[j], qp->u[qp->m + j] /= d[j];
    }
    qp->q = q;
    qp->size = 0.0;
    for (size_t k = 0; k < N * N; k++) qp->size = mor_max(qp->size, fabs(qp->P[k]));
    for (int i = 0; i < qp->m; i++) {
        double* row = qp->C + (size_t)i * N;
        for (int j = 0; j < n; j++) row[j] *= d[j];
        double size = mor_norm2(n, row);
        if (!(size > 0.0)) continue;
        for (int j = 0; j < n; j++) row[j] /= size;
        qp->l[i] /= size, qp->u[i] /= size;
    }
    qp->reach = 0.0;
    for (int i = 0; i < qp->m + n; i++) {
        if (isfinite(qp->l[i])) qp->reach = mor_max(qp->reach, fabs(qp->l[i]));
        if (isfinite(qp->u[i])) qp->reach = mor_max(qp->reach, fabs(qp->u[i]));
    }
    return true;
}

/* The judge's error of x, in the caller's units; x becomes z if it is the best so far. */
static void judge(const mor_context* context, const double* d, int n, double* x, double* error, double* least,
                  double* z)
{
    for (int j = 0; j < n; j++) x[j] *= d[j];
    *error = context->error(context, x, NULL);
    if (*error < *least) *least = *error, memcpy(z, x, (size_t)n * sizeof *z);
}

/* A run: the splitting, scratch, and the best answer. */
typedef struct admm_run {
    const admm_options* o;
    mor_context* context;
    mor_qp qp;
    splitting s;
    double *d, *trial, *work, *y; /* scaling; n, m + 2n, m */
    signed char *at, *last;       /* guessed active rows, now and at the last check */
    double *z, least;
    mor_report report;
} admm_run;

/* Memory, scaling and the start. False: out of memory. */
static bool open_run(admm_run* r)
{
    mor_arena* arena = r->context->arena;
    mor_qp* qp = &r->qp;
    size_t N = (size_t)qp->n, m = (size_t)qp->m + N;
    r->d = mor_arena_alloc(arena, (N + 1) * sizeof *r->d);
    if (!r->d || !equilibrate(qp, r->d, arena)) return false;
    splitting* s = &r->s;
    *s = (splitting){ .qp = qp, .rho = r->o->rho, .sigma = r->o->sigma };
    s->cost = qp->size > 0.0 ? qp->size : mor_max(mor_norm_max(qp->n, qp->q), 1e-300);
    s->L = mor_arena_alloc(arena, N * N * sizeof(double));
    double* a = mor_arena_zero(arena, 7 * N + 8 * m + 1, sizeof(double));
    r->at = mor_arena_zero(arena, 2 * m + 1, 1);
    if (!s->L || !a || !r->at) return false;
    r->last = r->at + m;
    s->x = a, s->dx = a + N, s->xt = a + 2 * N, s->rhs = a + 3 * N;
    r->trial = a + 4 * N, r->work = a + 5 * N;
    s->v = r->work + 2 * N + m, s->eta = s->v + m, s->deta = s->eta + m, s->vt = s->deta + m, s->Rv = s->vt + m;
    r->y = s->Rv + m;
    for (size_t j = 0; j < N; j++) s->x[j] = r->z[j] / r->d[j];
    mor_qp_rows(qp, s->x, s->v);
    for (size_t i = 0; i < m; i++) s->v[i] = mor_min(qp->u[i], mor_max(qp->l[i], s->v[i]));
    return true;
}

/* Answers made of the iterate after k steps: polished, refined, clipped. True if one is good enough. */
static bool try_answers(admm_run* r, int k, double primal, double dual)
{
    const mor_qp* qp = &r->qp;
    const splitting* s = &r->s;
    mor_context* context = r->context;
    int n = qp->n, M = qp->m + n;
    double error = INFINITY, worst = mor_max(primal, dual);
    guess_active(s, r->at);
    bool settled = memcmp(r->at, r->last, (size_t)M) == 0;
    memcpy(r->last, r->at, (size_t)M);
    if (r->o->polish && worst < 1e-2 && (settled || (k / r->o->check) % 10 == 0)) {
        memcpy(r->trial, s->x, (size_t)n * sizeof *r->trial);
        if (mor_qp_polish(qp, r->at, r->trial, r->y, context->arena))
            judge(context, r->d, n, r->trial, &error, &r->least, r->z);
    }
    if (r->o->polish && !(error <= context->tol) && k % (8 * r->o->check) == 0) {
        memcpy(r->trial, s->x, (size_t)n * sizeof *r->trial);
        for (int i = 0; i < M; i++) r->y[i] = -s->cost * s->eta[i];
        mor_qp_refine(qp, context, r->d, r->trial, r->y, &r->least, r->z);
    }
    if (!(error <= context->tol) && worst <= mor_max(100.0 * context->tol, 1e-13)) {
        for (int j = 0; j < n; j++) r->trial[j] = mor_min(qp->u[qp->m + j], mor_max(qp->l[qp->m + j], s->x[j]));
        judge(context, r->d, n, r->trial, &error, &r->least, r->z);
    }
    return r->least <= context->tol;
}

/* True if the last change of the iterate proves that there is no solution. */
static bool proves_none(admm_run* r)
{
    for (int i = 0; i < r->qp.m + r->qp.n; i++) r->y[i] = -r->s.deta[i];
    const char* why = NULL;
    if (mor_qp_proves_infeasible(&r->qp, r->y, r->work))
        why = "the constraints contradict each other (Farkas certificate)";
    else if (mor_qp_proves_unbounded(&r->qp, r->s.dx, r->work))
        why = "unbounded: a direction of descent without curvature or bound";
    if (!why) return false;
    r->report.status = MOR_NO_SOLUTION;
    snprintf(r->report.detail, sizeof r->report.detail, "%s", why);
    return true;
}

/* A better penalty, if it is worth a factorisation; late in a run it is sooner. False: no factor. */
static bool adapt(splitting* s, int k, double primal, double dual)
{
    double ratio = sqrt(mor_max(primal, 1e-16) / mor_max(dual, 1e-16));
    double rho = mor_min(1e6, mor_max(1e-6, s->rho * ratio)), change = k < 1000 ? 5.0 : 1.5;
    if (!(rho > change * s->rho || change * rho < s->rho)) return true;
    s->rho = rho;
    return factor(s);
}

/* False: not finite, or no factor. */
static bool iterations(admm_run* r)
{
    mor_context* context = r->context;
    splitting* s = &r->s;
    bool sound = factor(s);
    for (int k = 1; sound && k <= context->max_iter; k++) {
        iterate(s, r->o->relaxation);
        r->report.iterations = k;
        if (context->trace) {
            for (int j = 0; j < r->qp.n; j++) r->trial[j] = r->d[j] * s->x[j];
            mor_trace_add(context, k, 1.0, r->trial);
        }
        if (k % r->o->check != 0 && k != context->max_iter) continue;
        double primal, dual;
        residuals(s, &primal, &dual);
        if (!isfinite(primal) || !isfinite(dual)) sound = false;
        if (try_answers(r, k, primal, dual)) {
            r->report.status = MOR_SOLVED;
            return true;
        }
        if (proves_none(r)) break;
        if (mor_out_of_time(context)) {
            r->report.status = MOR_TIME_LIMIT;
            break;
        }
        if (r->o->adapt && (k / r->o->check) % 4 == 0 && sound) sound = adapt(s, k, primal, dual);
    }
    return sound;
}

static mor_report admm_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    admm_run r = { .o = options, .context = context, .z = z, .least = INFINITY };
    r.report.status = MOR_NOT_CONVERGED;
    int n = problem->size;
    if (!context->warm) memset(z, 0, (size_t)n * sizeof *z);
    if (!mor_qp_load(problem, &r.qp, &r.report, context->arena)) return r.report;
    if (n == 0) return r.report.status = MOR_SOLVED, r.report;
    if (!open_run(&r)) {
        r.report.status = MOR_NUMERICAL;
        snprintf(r.report.detail, sizeof r.report.detail, "out of memory for %d unknowns", n);
        return r.report;
    }
    bool sound = iterations(&r);
    if (!sound) r.report.status = MOR_NUMERICAL;
    const mor_qp* qp = &r.qp;
    if (r.least == INFINITY && sound)
        for (int j = 0; j < n; j++) z[j] = r.d[j] * mor_min(qp->u[qp->m + j], mor_max(qp->l[qp->m + j], r.s.x[j]));
    return r.report;
}

static const mor_field fields[] = {
    { "rho", MOR_TYPE_DOUBLE, offsetof(admm_options, rho), 0.1, 1e-6, 1e6, NULL, "", "first penalty of the rows" },
    { "sigma", MOR_TYPE_DOUBLE, offsetof(admm_options, sigma), 1e-6, 1e-12, 1.0, NULL, "",
      "proximal term of the unknowns" },
    { "relaxation", MOR_TYPE_DOUBLE, offsetof(admm_options, relaxation), 1.6, 0.1, 1.95, NULL, "",
      "over-relaxation alpha" },
    { "check", MOR_TYPE_INT, offsetof(admm_options, check), 25, 1, 10000, NULL, "", "iterations between checks" },
    { "adapt", MOR_TYPE_BOOL, offsetof(admm_options, adapt), 1, 0, 1, NULL, "", "adapt the penalty" },
    { "polish", MOR_TYPE_BOOL, offsetof(admm_options, polish), 1, 0, 1, NULL, "",
      "solve the KKT system of the guessed active rows" },
    { 0 },
};

extern const mor_solver mor_solver_qp_admm;
const mor_solver mor_solver_qp_admm = {
    .name = "qp-admm",
    .summary = "operator splitting with one factorisation, polishing and certificates",
    .reference = "stellato2020",
    .accepts = MOR_QP,
    .options_size = sizeof(admm_options),
    .fields = fields,
    .max_iter = 50000,
    .solve = admm_solve,
};
