/* The circular friction cone of one contact: exact, by Newton's method, or by projection.
 *
 * Exact, two tangents. With u = W p + q, eliminate p_n from u_n = 0:
 *     S = W_TT - W_Tn W_nT/W_nn,   b = q_T - W_Tn q_n/W_nn,   u_T = S p_T + b
 *   open    q_n >= 0:          p = 0
 *   stick   p = -W^-1 q        if |p_T| <= mu p_n
 *   slip    u_T = -a p_T, a > 0:   p_T(a) = -(S + a I)^-1 b,  p_n(a) = -(q_n + W_nT p_T)/W_nn,
 *           |p_T(a)| = mu p_n(a)
 * phi(a) = mu p_n/|p_T| - 1 is negative at the (inadmissible) sticking point a = 0 and grows like a, nearly a straight
 * line: Newton inside a bracket needs 2 to 4 steps, fewer when started from the root of the last sweep. No quartic, no
 * projection parameter, W_cc may be unsymmetric.
 *
 * Newton, 2, 3, 5 or 6 rows: Alart and Curnier's function with rho_n = 1/W_nn, rho = 1/max W_TT per disc,
 *     F_n = p_n - (p_n - rho_n u_n)+,   F_T = p_T - P(p_T - rho_T u_T, disc of radius mu (p_n - rho_n u_n)+)
 * and the same for rolling and drilling; steps halved until |F| falls. Rolling contacts have no scalar equation, so
 * this is also their exact solver: it starts from the old impulse, and if that fails from the sticking one.
 *
 * Projection: p <- P_K(p - rho u^), rho = 1/|W|: once per visit, as the oldest codes do.
 *
 * P. Alart, A. Curnier (1991), A mixed formulation for frictional contact problems prone to Newton like solution
 * methods; F. Jourdan, P. Alart, M. Jean (1998), A Gauss-Seidel like algorithm to solve frictional contact problems. */
#include "base/elementary.h"
#include "linalg/dense.h"
#include "problem/cone.h"
#include "solver/local.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* -------------------------------------------------------------------------- the scalar root */

typedef struct slip_problem {
    double S[4], b[2], q, Wn[3], mu; /* Wn: W_nn, W_nt, W_no */
} slip_problem;

/* phi(a) and its derivative; p filled. False: S + a I is not regular enough, a is too small. */
static bool slip_at(const slip_problem* s, double a, double* p, double* phi, double* slope)
{
    double m00 = s->S[0] + a, m11 = s->S[3] + a, det = m00 * m11 - s->S[1] * s->S[2];
    if (!(det > 1e-30 * (m00 * m00 + m11 * m11)) || !(m00 + m11 > 0.0)) return false;
    double x = -(m11 * s->b[0] - s->S[1] * s->b[1]) / det, y = -(m00 * s->b[1] - s->S[2] * s->b[0]) / det;
    double dx = -(m11 * x - s->S[1] * y) / det, dy = -(m00 * y - s->S[2] * x) / det;
    double n = -(s->q + s->Wn[1] * x + s->Wn[2] * y) / s->Wn[0], dn = -(s->Wn[1] * dx + s->Wn[2] * dy) / s->Wn[0];
    double size = sqrt(x * x + y * y);
    p[0] = n, p[1] = x, p[2] = y;
    *phi = s->mu * n / size - 1.0;
    *slope = s->mu * (dn / size - n * (x * dx + y * dy) / (size * size * size));
    return true;
}

static void slip(const double* W, const double* q, double mu, double* root, double* p)
{
    slip_problem s = { .q = q[0], .Wn = { W[0], W[1], W[2] }, .mu = mu };
    s.S[0] = W[4] - W[3] * W[1] / W[0], s.S[1] = W[5] - W[3] * W[2] / W[0];
    s.S[2] = W[7] - W[6] * W[1] / W[0], s.S[3] = W[8] - W[6] * W[2] / W[0];
    s.b[0] = q[1] - W[3] * q[0] / W[0], s.b[1] = q[2] - W[6] * q[0] / W[0];
    double size = sqrt(s.b[0] * s.b[0] + s.b[1] * s.b[1]), n0 = -q[0] / W[0];
    if (!(size > 0.0) || !(mu > 0.0)) {
        p[0] = n0, p[1] = p[2] = 0.0;
        return;
    }
    double guess = size / (mu * n0) - 0.5 * (s.S[0] + s.S[3]); /* exact where S is a multiple of I and W_nT = 0 */
    double lo = 0.0, hi = INFINITY, a = *root > 0.0 ? *root : guess > 0.0 ? guess : 0.5 * (fabs(s.S[0]) + fabs(s.S[3]));
    if (!(a > 0.0)) a = size / (mu * n0);
    for (int k = 0; k < 100; k++) {
        double phi, slope;
        bool regular = slip_at(&s, a, p, &phi, &slope);
        if (regular && fabs(phi) <= 4.0 * DBL_EPSILON) break;
        if (!regular || phi < 0.0) lo = a;
        else hi = a;
        double next = regular && slope > 0.0 ? a - phi / slope : -1.0;
        if (!(next > lo && next < hi)) next = isinf(hi) ? 4.0 * lo : lo > 0.0 ? 0.5 * (lo + hi) : 0.1 * hi;
        if (next == a || !(next > DBL_MIN)) break;
        a = next;
    }
    *root = a;
}

static void exact3(const double* W, const double* inverse, const double* q, double mu, double* root, double* p)
{
    p[0] = p[1] = p[2] = 0.0;
    if (q[0] >= 0.0 || !(W[0] > 0.0)) return;
    double trial[3];
    if (mor_local_stick(W, inverse, q, trial) && trial[0] >= 0.0 &&
        trial[1] * trial[1] + trial[2] * trial[2] <= mu * mu * trial[0] * trial[0]) {
        p[0] = trial[0], p[1] = trial[1], p[2] = trial[2];
        return;
    }
    slip(W, q, mu, root, p);
}

/* ----------------------------------------------------------------------- Alart and Curnier */

/* F(p), and J = dF/dp (column-major) if wanted. Returns |F|^2. */
static double alart_curnier(int dim, const double* W, const double* q, mor_cone cone, const double* p, double* F,
                            double* J)
{
    double u[MOR_CONE_ROWS], rho[1 + MOR_CONE_DISCS] = { 1.0 / W[0], 0.0, 0.0, 0.0 }, sum = 0.0;
    for (int i = 0; i < dim; i++) {
        u[i] = q[i];
        for (int j = 0; j < dim; j++) u[i] += W[i * dim + j] * p[j];
    }
    for (int i = 1; i < dim; i++) {
        double* r = &rho[1 + mor_disc_of(i)];
        *r = mor_max(*r, W[i * dim + i]);
    }
    for (int d = 1; d <= MOR_CONE_DISCS; d++) rho[d] = rho[d] > 0.0 ? 1.0 / rho[d] : rho[0];
    if (J) memset(J, 0, (size_t)(dim * dim) * sizeof *J);
    double a = p[0] - rho[0] * u[0];
    if (a <= 0.0) {
        for (int i = 0; i < dim; i++) {
            F[i] = p[i], sum += F[i] * F[i];
            if (J) J[i + i * dim] = 1.0;
        }
        return sum;
    }
    F[0] = rho[0] * u[0];
    for (int j = 0; J && j < dim; j++) J[j * dim] = rho[0] * W[j];
    for (int disc = 1; disc <= mor_disc_count(dim); disc++) {
        int at = mor_disc_row(disc - 1), k = mor_disc_size(dim, disc - 1);
        double slope = cone.mu[disc - 1], radius = slope * a, t[2] = { 0, 0 }, size = 0.0;
        for (int i = 0; i < k; i++) t[i] = p[at + i] - rho[disc] * u[at + i], size += t[i] * t[i];
        size = sqrt(size);
        if (size <= radius) {
            for (int i = 0; i < k; i++) {
                F[at + i] = rho[disc] * u[at + i];
                for (int j = 0; J && j < dim; j++) J[at + i + j * dim] = rho[disc] * W[(at + i) * dim + j];
            }
            continue;
        }
        double mean[2] = { t[0] / size, t[1] / size };
        for (int i = 0; i < k; i++) {
            F[at + i] = p[at + i] - radius * mean[i];
            for (int j = 0; J && j < dim; j++) {
                double da = (j == 0 ? 1.0 : 0.0) - rho[0] * W[j], dt[2] = { 0, 0 }, along = 0.0;
                for (int l = 0; l < k; l++) {
                    dt[l] = (at + l == j ? 1.0 : 0.0) - rho[disc] * W[(at + l) * dim + j];
                    along += mean[l] * dt[l];
                }
                J[at + i + j * dim] =
                    (at + i == j ? 1.0 : 0.0) - slope * da * mean[i] - radius / size * (dt[i] - along * mean[i]);
            }
        }
    }
    for (int i = 0; i < dim; i++) sum += F[i] * F[i];
    return sum;
}

/* Improves p; returns |F| relative to |p|. */
static double newton(int dim, const double* W, const double* q, mor_cone cone, int steps, double* p)
{
    double F[MOR_CONE_ROWS], J[MOR_CONE_ROWS * MOR_CONE_ROWS], x[MOR_CONE_ROWS];
    double merit = alart_curnier(dim, W, q, cone, p, F, J);
    for (int k = 0; k < steps; k++) {
        double size = mor_norm2(dim, p);
        if (sqrt(merit) <= 8.0 * DBL_EPSILON * size || merit == 0.0) break;
        int pivot[MOR_CONE_ROWS];
        double dx[MOR_CONE_ROWS];
        for (int i = 0; i < dim; i++) dx[i] = -F[i], J[i + i * dim] += 1e-14;
        if (!mor_lu_factor(dim, J, pivot)) break;
        mor_lu_solve(dim, J, pivot, dx);
        double t = 1.0, best = INFINITY, best_t = 0.0;
        for (int h = 0; h < 12; h++, t *= 0.5) {
            for (int i = 0; i < dim; i++) x[i] = p[i] + t * dx[i];
            double m = alart_curnier(dim, W, q, cone, x, F, NULL);
            if (m < best) best = m, best_t = t;
            if (m <= (1.0 - 1e-4 * t) * merit) break;
        }
        if (!(best < merit)) break;
        for (int i = 0; i < dim; i++) p[i] += best_t * dx[i];
        merit = alart_curnier(dim, W, q, cone, p, F, J);
    }
    double size = mor_norm2(dim, p);
    return size > 0.0 ? sqrt(merit) / size : sqrt(merit);
}

/* One projected step with rho = 1/|W|. */
static void project(int dim, const double* W, const double* q, mor_cone cone, double* p)
{
    double u[MOR_CONE_ROWS], norm = mor_norm2(dim * dim, W);
    for (int i = 0; i < dim; i++) {
        u[i] = q[i];
        for (int j = 0; j < dim; j++) u[i] += W[i * dim + j] * p[j];
    }
    if (!(norm > 0.0)) return;
    u[0] += mor_cone_shift(dim, cone, u);
    for (int i = 0; i < dim; i++) p[i] -= u[i] / norm;
    mor_cone_project(dim, cone, p);
}

/* Rolling and drilling: Newton from several starts, the best kept and put into the cone. */
static void exact_by_newton(int dim, const double* W, const double* q, mor_cone cone, double* p)
{
    double best[MOR_CONE_ROWS], left = INFINITY;
    size_t bytes = (size_t)dim * sizeof *p;
    for (int start = 0; start < 3; start++) {
        double x[MOR_CONE_ROWS];
        memcpy(x, p, bytes);
        if (start == 1) { /* without friction */
            memset(x, 0, sizeof x);
            x[0] = -q[0] / W[0];
        } else if (start == 2) { /* sticking */
            double A[MOR_CONE_ROWS * MOR_CONE_ROWS];
            int pivot[MOR_CONE_ROWS];
            for (int i = 0; i < dim; i++) {
                x[i] = -q[i];
                for (int j = 0; j < dim; j++) A[i + dim * j] = W[i * dim + j];
            }
            if (!mor_lu_factor(dim, A, pivot)) break;
            mor_lu_solve(dim, A, pivot, x);
        }
        double e = newton(dim, W, q, cone, 40, x);
        if (e < left) left = e, memcpy(best, x, bytes);
        if (left <= 1e-12) break;
    }
    memcpy(p, best, bytes);
    if (left > 1e-6)
        for (int k = 0; k < 50; k++) project(dim, W, q, cone, p);
    else mor_cone_project(dim, cone, p);
}

void mor_local_cone(mor_local_kind kind, int dim, const double* W, const double* inverse, const double* q,
                    mor_cone cone, double* root, double* p)
{
    if (kind == MOR_LOCAL_PROJECTION) {
        project(dim, W, q, cone, p);
    } else if (q[0] >= 0.0 || !(W[0] > 0.0)) {
        for (int i = 0; i < dim; i++) p[i] = 0.0;
    } else if (kind == MOR_LOCAL_NEWTON) {
        newton(dim, W, q, cone, 10, p);
        mor_cone_project(dim, cone, p);
    } else if (dim == 2) mor_local_interval(W, q, cone.mu[0], p);
    else if (dim == 3) exact3(W, inverse, q, cone.mu[0], root, p);
    else exact_by_newton(dim, W, q, cone, p);
}
