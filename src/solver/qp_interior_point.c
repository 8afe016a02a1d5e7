/* qp-interior-point: Mehrotra's predictor-corrector for convex quadratic programmes.
 *
 * Problem. minimise z'Pz/2 + q'z, l <= G z <= u (qp.h); P semidefinite of any rank, rows possibly dependent.
 *
 * Derivation. Rows with l = u are equations E z = e with multipliers y. The others get slacks and multipliers, all
 * positive:
 *
 *     s_l = G z - l, lambda_l;   s_u = u - G z, lambda_u;   P z + q = G'(lambda_l - lambda_u) + E'y;   s lambda = sigma
 *     mu
 *
 * Newton with ds = +-G dz + p (p: what the slack equations miss) and dlambda = (r_c - lambda ds)/s leaves
 *
 *     [ P + G'D G   E' ] [ dz]   [ -r_d + G'(r_c/s - D p)_l - G'(r_c/s - D p)_u ]
 *     [     E       0  ] [-dy] = [ -r_e                                         ],    D = lambda/s
 *
 * solved by LDL' with +-delta on the diagonal and refinement against delta = 0. Predictor r_c = -s lambda; then
 * sigma = (mu_aff/mu)^3 and r_c = sigma mu - s lambda - ds_aff dlambda_aff. One step length for everything, 0.995 of
 * the way to the boundary (P couples primal and dual residuals; two lengths would break r_d). Near the end the rows
 * with lambda > s are taken as active and the KKT system is solved for them (mor_qp_polish); where lambda and s are
 * both zero at the answer and Newton stalls above the tolerance, the method of multipliers takes over from there
 * (qp_refine.c).
 *
 * Cost: O((n + k)^3) per iteration for k equations, usually 8-25 iterations. Limits: dense; convex; a warm start
 * only moves the first z. A solution set that is not a point is answered by a point inside it.
 *
 * References: Mehrotra (1992), On the implementation of a primal-dual interior point method, SIAM J. Opt. 2; Nocedal &
 * Wright (2006), Numerical Optimization, alg. 16.4; Altman & Gondzio (1999), Regularized symmetric indefinite systems.
 * */
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "solver/qp.h"

typedef struct interior_options {
    double centre;
    bool polish;
} interior_options;

typedef struct side {
    double *s, *lambda, *p, *rc, *ds, *dlambda; /* M each; rows without this bound are skipped */
} side;

typedef struct iterate {
    const mor_qp* qp;
    int k;         /* equations */
    int* equation; /* their rows */
    side low, high;
    double *z, *y;   /* n, k */
    double *rd, *re; /* n, k */
    double* dz;      /* n + k: dz, -dy */
    double *K, *K0;  /* (n + k)^2 */
    int* pivot;
    double *t, *r, *Gz; /* M, n + k, M */
} iterate;

static bool has(const mor_qp* qp, int i, bool upper)
{
    return qp->l[i] != qp->u[i] && isfinite(upper ? qp->u[i] : qp->l[i]);
}

static int pairs(const iterate* it)
{
    int count = 0;
    for (int i = 0; i < it->qp->m + it->qp->n; i++) count += has(it->qp, i, false) + has(it->qp, i, true);
    return count;
}

static double product(const iterate* it, double step)
{
    double sum = 0.0;
    for (int i = 0; i < it->qp->m + it->qp->n; i++)
        for (int h = 0; h < 2; h++) {
            const side* b = h ? &it->high : &it->low;
            if (has(it->qp, i, h)) sum += (b->s[i] + step * b->ds[i]) * (b->lambda[i] + step * b->dlambda[i]);
        }
    return sum;
}

/* Residuals of the current point; returns the largest of r_d, r_e, p against their scales. */
static double residuals(iterate* it)
{
    const mor_qp* qp = it->qp;
    int n = qp->n, M = qp->m + n;
    mor_qp_rows(qp, it->z, it->Gz);
    for (int i = 0; i < M; i++)
        it->t[i] = (has(qp, i, false) ? it->low.lambda[i] : 0.0) - (has(qp, i, true) ? it->high.lambda[i] : 0.0);
    for (int c = 0; c < it->k; c++) it->t[it->equation[c]] = it->y[c];
    mor_qp_slope(qp, it->z, it->rd);
    double scale = mor_max(mor_norm_max(n, it->rd), mor_norm_max(n, qp->q)), worst = 0.0,
           room = mor_max(qp->reach, mor_norm_max(n, it->z));
    mor_qp_rows_transposed(qp, it->t, it->r);
    for (int j = 0; j < n; j++) it->rd[j] -= it->r[j];
    worst = mor_norm_max(n, it->rd) / mor_max(scale, 1e-300);
    for (int c = 0; c < it->k; c++) {
        it->re[c] = it->Gz[it->equation[c]] - qp->l[it->equation[c]];
        worst = mor_max(worst, fabs(it->re[c]) / mor_max(room, 1e-300));
    }
    for (int i = 0; i < M; i++) {
        if (has(qp, i, false))
            it->low.p[i] = it->Gz[i] - qp->l[i] - it->low.s[i],
            worst = mor_max(worst, fabs(it->low.p[i]) / mor_max(room, 1e-300));
        if (has(qp, i, true))
            it->high.p[i] = qp->u[i] - it->Gz[i] - it->high.s[i],
            worst = mor_max(worst, fabs(it->high.p[i]) / mor_max(room, 1e-300));
    }
    return worst;
}

static bool factor(iterate* it)
{
    const mor_qp* qp = it->qp;
    int n = qp->n, N = n + it->k;
    size_t ld = (size_t)N;
    memset(it->K0, 0, ld * ld * sizeof *it->K0);
    for (int j = 0; j < n; j++) memcpy(it->K0 + ld * j, qp->P + (size_t)n * j, (size_t)n * sizeof(double));
    double largest = qp->size;
    for (int i = 0; i < qp->m + n; i++) {
        double D = (has(qp, i, false) ? it->low.lambda[i] / it->low.s[i] : 0.0) +
                   (has(qp, i, true) ? it->high.lambda[i] / it->high.s[i] : 0.0);
        if (D == 0.0) continue;
        if (i >= qp->m) it->K0[(ld + 1) * (size_t)(i - qp->m)] += D;
        else {
            const double* c = qp->C + (size_t)i * n;
            for (int b = 0; b < n; b++)
                for (int a = 0; c[b] != 0.0 && a < n; a++) it->K0[a + ld * b] += D * c[a] * c[b];
        }
    }
    for (int c = 0; c < it->k; c++)
        for (int j = 0; j < n; j++) {
            int row = it->equation[c];
            double e = row < qp->m ? qp->C[(size_t)row * n + j] : row - qp->m == j ? 1.0 : 0.0;
            it->K0[n + c + ld * j] = it->K0[j + ld * (n + c)] = e;
        }
    memcpy(it->K, it->K0, ld * ld * sizeof *it->K);
    double delta = 1e-10 * mor_max(largest, 1e-300);
    for (int i = 0; i < N; i++) {
        /* relative to the entry where barrier terms dwarf P: refinement then still contracts */
        double d = i < n ? mor_max(delta, 1e-14 * it->K0[(ld + 1) * (size_t)i]) : -1e-10 / mor_max(largest, 1e-300);
        it->K[(ld + 1) * (size_t)i] += d;
    }
    return mor_ldl_factor(N, it->K, it->pivot);
}

/* dz, dy, ds, dlambda for the rc in place. */
static void direction(iterate* it)
{
    const mor_qp* qp = it->qp;
    int n = qp->n, N = n + it->k, M = qp->m + n;
    for (int i = 0; i < M; i++) {
        it->t[i] = 0.0;
        if (has(qp, i, false)) it->t[i] += (it->low.rc[i] - it->low.lambda[i] * it->low.p[i]) / it->low.s[i];
        if (has(qp, i, true)) it->t[i] -= (it->high.rc[i] - it->high.lambda[i] * it->high.p[i]) / it->high.s[i];
    }
    double *rhs = it->r, *x = it->dz, *left = it->r + N;
    mor_qp_rows_transposed(qp, it->t, rhs);
    for (int j = 0; j < n; j++) rhs[j] -= it->rd[j];
    for (int c = 0; c < it->k; c++) rhs[n + c] = -it->re[c];
    memset(x, 0, (size_t)N * sizeof *x);
    memcpy(left, rhs, (size_t)N * sizeof *left);
    double before = INFINITY;
    for (int round = 0; round < 4; round++) {
        mor_ldl_solve(N, it->K, it->pivot, left);
        for (int i = 0; i < N; i++) x[i] += left[i];
        mor_dense_apply(N, N, it->K0, x, left);
        for (int i = 0; i < N; i++) left[i] = rhs[i] - left[i];
        double now = mor_norm_max(N, left);
        if (!(now < 0.5 * before) || now == 0.0) break;
        before = now;
    }
    for (int i = 0; i < M; i++) {
        double g = mor_qp_row_dot(qp, i, x);
        if (has(qp, i, false)) {
            it->low.ds[i] = g + it->low.p[i];
            it->low.dlambda[i] = (it->low.rc[i] - it->low.lambda[i] * it->low.ds[i]) / it->low.s[i];
        }
        if (has(qp, i, true)) {
            it->high.ds[i] = -g + it->high.p[i];
            it->high.dlambda[i] = (it->high.rc[i] - it->high.lambda[i] * it->high.ds[i]) / it->high.s[i];
        }
    }
}

static double to_boundary(const iterate* it)
{
    double step = INFINITY;
    for (int i = 0; i < it->qp->m + it->qp->n; i++)
        for (int h = 0; h < 2; h++) {
            const side* b = h ? &it->high : &it->low;
            if (!has(it->qp, i, h)) continue;
            if (b->ds[i] < 0.0) step = mor_min(step, -b->s[i] / b->ds[i]);
            if (b->dlambda[i] < 0.0) step = mor_min(step, -b->lambda[i] / b->dlambda[i]);
        }
    return step;
}

static bool prepare(iterate* it, const double* z, mor_arena* arena)
{
    const mor_qp* qp = it->qp;
    int n = qp->n, M = qp->m + n;
    it->equation = mor_arena_alloc(arena, ((size_t)M + 1) * sizeof(int));
    if (!it->equation) return false;
    for (int i = 0; i < M; i++)
        if (qp->l[i] == qp->u[i]) it->equation[it->k++] = i;
    size_t m = (size_t)M, N = (size_t)n + it->k;
    double* a = mor_arena_zero(arena, 14 * m + 2 * (size_t)n + 2 * (size_t)it->k + 3 * N + 1, sizeof(double));
    it->K = mor_arena_alloc(arena, N * N * sizeof(double));
    it->K0 = mor_arena_alloc(arena, N * N * sizeof(double));
    it->pivot = mor_arena_alloc(arena, N * sizeof(int));
    if (!a || !it->K || !it->K0 || !it->pivot) return false;
    it->low = (side){ a, a + m, a + 2 * m, a + 3 * m, a + 4 * m, a + 5 * m };
    a += 6 * m;
    it->high = (side){ a, a + m, a + 2 * m, a + 3 * m, a + 4 * m, a + 5 * m };
    a += 6 * m;
    it->t = a, it->Gz = a + m, it->z = a + 2 * m, it->rd = it->z + n, it->y = it->rd + n, it->re = it->y + it->k;
    it->dz = it->re + it->k, it->r = it->dz + N; /* r: 2N */
    memcpy(it->z, z, (size_t)n * sizeof *z);
    double q = mor_norm_max(n, qp->q), length = qp->size > 0.0 ? q / qp->size : 1.0;
    length = mor_max(mor_min(mor_max(length, 1e-3 * qp->reach), 1e100), 1e-8);
    double force = mor_max(q, qp->size * length);
    if (!(force > 0.0)) force = 1.0;
    mor_qp_rows(qp, it->z, it->Gz);
    for (int i = 0; i < M; i++) {
        it->low.s[i] = mor_max(it->Gz[i] - qp->l[i], length), it->low.lambda[i] = force;
        it->high.s[i] = mor_max(qp->u[i] - it->Gz[i], length), it->high.lambda[i] = force;
    }
    return true;
}

static void advance(iterate* it, double step)
{
    const mor_qp* qp = it->qp;
    for (int j = 0; j < qp->n; j++) it->z[j] += step * it->dz[j];
    for (int c = 0; c < it->k; c++) it->y[c] -= step * it->dz[qp->n + c];
    for (int i = 0; i < qp->m + qp->n; i++)
        for (int h = 0; h < 2; h++) {
            const side* b = h ? &it->high : &it->low;
            if (has(qp, i, h)) b->s[i] += step * b->ds[i], b->lambda[i] += step * b->dlambda[i];
        }
}

static void complementarity(iterate* it, double target, bool correct)
{
    for (int i = 0; i < it->qp->m + it->qp->n; i++)
        for (int h = 0; h < 2; h++) {
            const side* b = h ? &it->high : &it->low;
            if (has(it->qp, i, h))
                b->rc[i] = target - b->s[i] * b->lambda[i] - (correct ? b->ds[i] * b->dlambda[i] : 0.0);
        }
}

/* z := the better of the iterate (clipped to its bounds) and its polished form; returns the least error so far. */
static double try_answer(iterate* it, bool polish, double* z, double least, signed char* at, double* trial, double* y,
                         mor_context* context)
{
    const mor_qp* qp = it->qp;
    int n = qp->n;
    for (int j = 0; j < n; j++) trial[j] = mor_min(qp->u[qp->m + j], mor_max(qp->l[qp->m + j], it->z[j]));
    double error = context->error(context, trial, NULL);
    if (error < least || least == INFINITY)
        least = isfinite(error) ? error : least, memcpy(z, trial, (size_t)n * sizeof *z);
    if (!polish || least <= 1e-2 * context->tol) return least;
    for (int i = 0; i < qp->m + n; i++) {
        at[i] = qp->l[i] == qp->u[i] ? -1 : 0;
        if (has(qp, i, false) && it->low.lambda[i] > it->low.s[i] * qp->size) at[i] = -1;
        if (has(qp, i, true) && it->high.lambda[i] > it->high.s[i] * qp->size) at[i] = 1;
    }
    if (mor_qp_polish(qp, at, trial, y, context->arena)) {
        error = context->error(context, trial, NULL);
        if (error < least) least = error, memcpy(z, trial, (size_t)n * sizeof *z);
    }
    return least;
}

/* Multipliers of all rows, >= 0 at lower bounds. */
static void multipliers(const iterate* it, double* y)
{
    const mor_qp* qp = it->qp;
    for (int i = 0; i < qp->m + qp->n; i++)
        y[i] = (has(qp, i, false) ? it->low.lambda[i] : 0.0) - (has(qp, i, true) ? it->high.lambda[i] : 0.0);
    for (int c = 0; c < it->k; c++) y[it->equation[c]] = it->y[c];
}

/* True if the iterate proves that there is no solution. */
static bool proves_none(const iterate* it, const double* y, double* work, mor_report* report)
{
    const mor_qp* qp = it->qp;
    const char* why = NULL;
    if (mor_qp_proves_infeasible(qp, y, work)) why = "the constraints contradict each other (Farkas certificate)";
    else if (mor_qp_proves_unbounded(qp, it->dz, work) || mor_qp_proves_unbounded(qp, it->z, work))
        why = "unbounded: a direction of descent without curvature or bound";
    if (!why) return false;
    report->status = MOR_NO_SOLUTION;
    snprintf(report->detail, sizeof report->detail, "%s", why);
    return true;
}

/* Predictor, corrector, step. Returns its length. */
static double mehrotra_step(iterate* it, int count, double mu, double centre)
{
    complementarity(it, 0.0, false);
    direction(it);
    double affine = mor_min(1.0, to_boundary(it)), after = count ? product(it, affine) / count : 0.0;
    double sigma = mu > 0.0 ? mor_pow(mor_max(after, 0.0) / mu, centre) : 0.0;
    if (count) {
        complementarity(it, sigma * mu, true);
        direction(it);
    }
    double step = mor_min(1.0, 0.995 * to_boundary(it));
    advance(it, step);
    return step;
}

static mor_report interior_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const interior_options* o = options;
    mor_report report = { .status = MOR_NOT_CONVERGED };
    mor_qp qp;
    int n = problem->size;
    if (!context->warm) memset(z, 0, (size_t)n * sizeof *z);
    if (!mor_qp_load(problem, &qp, &report, context->arena)) return report;
    if (n == 0) return report.status = MOR_SOLVED, report;
    int M = qp.m + n, stalled = 0;
    iterate it = { .qp = &qp };
    signed char* at = mor_arena_alloc(context->arena, (size_t)M + 1);
    double* trial = mor_arena_alloc(context->arena, (3 * (size_t)n + 2 * (size_t)M + 1) * sizeof *trial);
    if (!at || !trial || !prepare(&it, z, context->arena)) {
        report.status = MOR_NUMERICAL;
        snprintf(report.detail, sizeof report.detail, "out of memory for %d unknowns", n);
        return report;
    }
    double *y = trial + n, *work = y + M, least = INFINITY, step = 0.0, smallest = INFINITY;
    const int count = pairs(&it);
    for (int k = 0; k < context->max_iter; k++) {
        double worst = residuals(&it), mu = count ? product(&it, 0.0) / count : 0.0;
        double force = mor_max(mor_norm_max(n, qp.q), 1e-300), length = mor_max(mor_norm_max(n, it.z), qp.reach);
        double gap = mu / (force * mor_max(length, 1e-300));
        if (!isfinite(worst) || !isfinite(mu)) {
            report.status = MOR_NUMERICAL;
            break;
        }
        report.iterations = k;
        if (k > 0) mor_trace_add(context, k, step, it.z);
        if (worst <= 1e-5 && gap <= 1e-5) least = try_answer(&it, o->polish, z, least, at, trial, y, context);
        if (least <= context->tol) return report.status = MOR_SOLVED, report;
        double merit = mor_max(worst, gap);
        stalled = merit > 0.9 * smallest ? stalled + 1 : 0;
        smallest = mor_min(smallest, merit);
        multipliers(&it, y);
        if (k > 3 && proves_none(&it, y, work, &report)) break;
        if (stalled > 15) break;
        if (mor_out_of_time(context)) {
            report.status = MOR_TIME_LIMIT;
            break;
        }
        if (!factor(&it)) {
            report.status = MOR_NUMERICAL;
            snprintf(report.detail, sizeof report.detail, "the Newton system has no factorisation");
            break;
        }
        step = mehrotra_step(&it, count, mu, o->centre);
    }
    if (o->polish && report.status == MOR_NOT_CONVERGED) { /* stalled: degenerate */
        multipliers(&it, y);
        memcpy(trial, it.z, (size_t)n * sizeof *trial);
        mor_qp_refine(&qp, context, NULL, trial, y, &least, z);
        if (least <= context->tol) report.status = MOR_SOLVED;
    }
    if (least == INFINITY)
        for (int j = 0; j < n; j++)
            z[j] = isfinite(it.z[j]) ? mor_min(qp.u[qp.m + j], mor_max(qp.l[qp.m + j], it.z[j])) : 0.0;
    return report;
}

static const mor_field fields[] = {
    { "centre", MOR_TYPE_DOUBLE, offsetof(interior_options, centre), 3, 1, 6, NULL, "",
      "exponent of Mehrotra's centring rule" },
    { "polish", MOR_TYPE_BOOL, offsetof(interior_options, polish), 1, 0, 1, NULL, "",
      "solve the KKT system of the active rows at the end" },
    { 0 },
};

extern const mor_solver mor_solver_qp_interior_point;
const mor_solver mor_solver_qp_interior_point = {
    .name = "qp-interior-point",
    .summary = "Mehrotra's predictor-corrector, regularised for semidefinite problems",
    .reference = "mehrotra1992",
    .accepts = MOR_QP,
    .options_size = sizeof(interior_options),
    .fields = fields,
    .max_iter = 200,
    .solve = interior_solve,
};
