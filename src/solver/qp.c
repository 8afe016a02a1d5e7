/* What the QP methods share; see qp.h.
 *
 * Proofs. If G'y = 0 and l <= G z <= u then 0 = y'G z >= l'y+ - u'y-: a positive right side is a contradiction
 * (Farkas). In floating point G'y = eta and the contradiction only holds for |z| < value/|eta|; we ask for 1e4 times
 * the largest bound. Polishing. [P + d I, G_a'; G_a, -d I] is always invertible (quasidefinite, Vanderbei 1995);
 * refinement against d = 0 converges with factor d/(d + sigma) on the range of the true matrix, so dependent rows and a
 * singular P are harmless if the system is consistent (Stellato et al. 2020, OSQP, sec. 4). */
#include "solver/qp.h"

#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "problem/judge.h"

bool mor_qp_load(const mor_problem* problem, mor_qp* qp, mor_report* report, mor_arena* arena)
{
    int n = problem->size, m = problem->C.rows;
    size_t N = (size_t)n;
    report->status = MOR_REFUSED;
    if (problem->A.storage == MOR_OPERATOR || (m > 0 && problem->C.storage == MOR_OPERATOR)) {
        snprintf(report->detail, sizeof report->detail, "needs the entries of the matrices, not an operator");
        return false;
    }
    *qp = (mor_qp){ .n = n, .m = m, .q = problem->b };
    qp->P = mor_arena_zero(arena, N * N + 1, sizeof(double));
    qp->C = mor_arena_alloc(arena, ((size_t)m * N + 1) * sizeof(double));
    qp->l = mor_arena_alloc(arena, ((size_t)m + N + 1) * sizeof(double));
    qp->u = mor_arena_alloc(arena, ((size_t)m + N + 1) * sizeof(double));
    double* work = mor_arena_alloc(arena, (N * N + N + 1) * sizeof(double));
    int* order = mor_arena_alloc(arena, (N + 1) * sizeof(int));
    if (!qp->P || !qp->C || !qp->l || !qp->u || !work || !order) {
        report->status = MOR_NUMERICAL;
        snprintf(report->detail, sizeof report->detail, "out of memory for %d unknowns", n);
        return false;
    }
    const mor_matrix* A = &problem->A;
    for (int i = 0; i < n; i++)
        if (A->storage == MOR_DENSE)
            for (int j = 0; j < n; j++) qp->P[i + N * j] = 0.5 * A->x[i + N * j] + 0.5 * A->x[j + N * i];
        else
            for (int k = A->p[i]; k < A->p[i + 1]; k++) {
                qp->P[i + N * A->i[k]] += 0.5 * A->x[k];
                qp->P[A->i[k] + N * i] += 0.5 * A->x[k];
            }
    for (size_t k = 0; k < N * N; k++) qp->size = mor_max(qp->size, fabs(qp->P[k]));
    if (!mor_symmetric_part_is_semidefinite(n, qp->P, 1e-10, work, order)) {
        snprintf(report->detail, sizeof report->detail, "the quadratic form is not convex (a negative eigenvalue)");
        return false;
    }
    if (m > 0) mor_qp_dense_rows(&problem->C, qp->C);
    for (int i = 0; i < m; i++) {
        double *row = qp->C + (size_t)i * N, size = mor_norm2(n, row);
        qp->l[i] = problem->c_lower[i], qp->u[i] = problem->c_upper[i];
        if (!(size > 0.0)) {
            if (qp->l[i] > 0.0 || qp->u[i] < 0.0) {
                report->status = MOR_NO_SOLUTION;
                snprintf(report->detail, sizeof report->detail, "row %d is zero and its bounds exclude 0", i);
                return false;
            }
            qp->l[i] = -INFINITY, qp->u[i] = INFINITY;
            continue;
        }
        for (int j = 0; j < n; j++) row[j] /= size;
        qp->l[i] /= size, qp->u[i] /= size;
    }
    for (int j = 0; j < n; j++) {
        qp->l[m + j] = problem->lower ? problem->lower[j] : 0.0;
        qp->u[m + j] = problem->upper ? problem->upper[j] : INFINITY;
    }
    for (int i = 0; i < m + n; i++) {
        if (isfinite(qp->l[i])) qp->reach = mor_max(qp->reach, fabs(qp->l[i]));
        if (isfinite(qp->u[i])) qp->reach = mor_max(qp->reach, fabs(qp->u[i]));
    }
    report->status = MOR_NOT_CONVERGED;
    return true;
}

double mor_qp_row_dot(const mor_qp* qp, int row, const double* x)
{
    if (row >= qp->m) return x[row - qp->m];
    const double* c = qp->C + (size_t)row * qp->n;
    double s = 0.0;
    for (int j = 0; j < qp->n; j++) s += c[j] * x[j];
    return s;
}

void mor_qp_rows(const mor_qp* qp, const double* x, double* out)
{
    for (int i = 0; i < qp->m + qp->n; i++) out[i] = mor_qp_row_dot(qp, i, x);
}

void mor_qp_rows_transposed(const mor_qp* qp, const double* y, double* out)
{
    memcpy(out, y + qp->m, (size_t)qp->n * sizeof *out);
    for (int i = 0; i < qp->m; i++) {
        const double* c = qp->C + (size_t)i * qp->n;
        for (int j = 0; y[i] != 0.0 && j < qp->n; j++) out[j] += y[i] * c[j];
    }
}

void mor_qp_slope(const mor_qp* qp, const double* z, double* g)
{
    mor_dense_apply(qp->n, qp->n, qp->P, z, g);
    for (int i = 0; i < qp->n; i++) g[i] += qp->q[i];
}

bool mor_qp_proves_infeasible(const mor_qp* qp, const double* y, double* work)
{
    int M = qp->m + qp->n;
    double largest = mor_norm_max(M, y), value = 0.0, parts = 0.0, eta;
    if (!(largest > 0.0) || !isfinite(largest)) return false;
    for (int i = 0; i < M; i++) {
        double yi = y[i] / largest, bound = yi > 0.0 ? qp->l[i] : qp->u[i];
        if (fabs(yi) <= 1e-11) continue; /* left out of the sum, left in G'y */
        if (!isfinite(bound)) return false;
        value += bound * yi, parts += fabs(bound * yi);
    }
    mor_qp_rows_transposed(qp, y, work);
    eta = mor_norm2(qp->n, work) / largest;
    return value > 1e-8 * parts && value > 1e4 * eta * mor_max(qp->reach, 1e-30);
}

bool mor_qp_proves_unbounded(const mor_qp* qp, const double* d, double* work)
{
    int n = qp->n, M = qp->m + n;
    double largest = mor_norm_max(n, d), slope = 0.0, parts = 0.0;
    if (!(largest > 0.0) || !isfinite(largest)) return false;
    double* Gd = work;
    mor_qp_rows(qp, d, Gd);
    for (int i = 0; i < M; i++) {
        if (isfinite(qp->u[i]) && Gd[i] > 1e-10 * largest) return false;
        if (isfinite(qp->l[i]) && Gd[i] < -1e-10 * largest) return false;
    }
    double* Pd = work + M;
    mor_dense_apply(n, n, qp->P, d, Pd);
    for (int i = 0; i < n; i++) slope += qp->q[i] * d[i], parts += fabs(qp->q[i] * d[i]);
    return mor_norm_max(n, Pd) <= 1e-10 * qp->size * largest && slope < -1e-8 * parts;
}

bool mor_qp_polish(const mor_qp* qp, const signed char* at, double* z, double* y, mor_arena* arena)
{
    int n = qp->n, M = qp->m + n, k = 0;
    size_t mark = mor_arena_mark(arena);
    int* row = mor_arena_alloc(arena, ((size_t)M + 1) * sizeof *row);
    if (!row) return false;
    for (int i = 0; i < M; i++)
        if (at[i]) row[k++] = i;
    int N = n + k;
    double* K = mor_arena_zero(arena, (size_t)N * N + 1, sizeof *K);
    double* v = mor_arena_alloc(arena, (4 * (size_t)N + 1) * sizeof *v);
    int* pivot = mor_arena_alloc(arena, ((size_t)N + 1) * sizeof *pivot);
    bool done = false;
    if (K && v && pivot) {
        double *rhs = v, *x = v + N, *r = v + 2 * N, scale = qp->size > 0.0 ? qp->size : 1.0;
        /* unknowns (dz, -y/scale); P divided by scale so that both blocks have size one */
        const double delta = 1e-8;
        for (int j = 0; j < n; j++) {
            for (int i = j; i < n; i++) K[i + (size_t)j * N] = qp->P[i + (size_t)j * n] / scale;
            K[j + (size_t)j * N] += delta;
        }
        for (int c = 0; c < k; c++) {
            for (int j = 0; j < n; j++)
                K[n + c + (size_t)j * N] = row[c] < qp->m        ? qp->C[(size_t)row[c] * n + j]
                                           : row[c] - qp->m == j ? 1.0
                                                                 : 0.0;
            K[n + c + (size_t)(n + c) * N] = -delta;
        }
        mor_qp_slope(qp, z, rhs);
        for (int j = 0; j < n; j++) rhs[j] /= -scale;
        for (int c = 0; c < k; c++)
            rhs[n + c] = (at[row[c]] < 0 ? qp->l[row[c]] : qp->u[row[c]]) - mor_qp_row_dot(qp, row[c], z);
        memset(x, 0, (size_t)N * sizeof *x);
        if (mor_ldl_factor(N, K, pivot)) {
            double before = INFINITY;
            double* kept = v + 3 * N;
            for (int round = 0; round < 40; round++) {
                /* r = rhs - K0 x */
                mor_dense_apply(n, n, qp->P, x, r);
                for (int j = 0; j < n; j++) r[j] = rhs[j] - r[j] / scale;
                for (int c = 0; c < k; c++) {
                    double nu = x[n + c], g = mor_qp_row_dot(qp, row[c], x);
                    if (row[c] < qp->m)
                        for (int j = 0; j < n; j++) r[j] -= nu * qp->C[(size_t)row[c] * n + j];
                    else r[row[c] - qp->m] -= nu;
                    r[n + c] = rhs[n + c] - g;
                }
                double now = mor_norm_max(N, r);
                if (!(now < before)) {
                    memcpy(x, kept, (size_t)N * sizeof *x);
                    break;
                }
                done = true;
                if (now == 0.0 || (round > 4 && now > 0.5 * before)) break;
                before = now;
                memcpy(kept, x, (size_t)N * sizeof *x);
                mor_ldl_solve(N, K, pivot, r);
                for (int i = 0; i < N; i++) x[i] += r[i];
            }
        }
        if (done) {
            memset(y, 0, (size_t)M * sizeof *y);
            for (int j = 0; j < n; j++) z[j] += x[j];
            for (int c = 0; c < k; c++) {
                y[row[c]] = -scale * x[n + c];
                if (row[c] >= qp->m) z[row[c] - qp->m] = at[row[c]] < 0 ? qp->l[row[c]] : qp->u[row[c]];
            }
        }
    }
    mor_arena_release(arena, mark);
    return done;
}
