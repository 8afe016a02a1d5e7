/* Exact local solves by cases.
 *
 * Coulomb's law with a friction set mu p_n P, P a convex polygon with corners d_j (or the interval
 * [-1,1]): the friction impulse is the point of mu p_n P that dissipates most, so with u = W p + q
 *
 *   open    q_n >= 0:                        p = 0
 *   stick   p = -W^-1 q:                     p_n >= 0, p_T in mu p_n P
 *   corner  p_T = mu p_n d_j:                u_n = 0, p_n >= 0, -u_T in the normal cone of P at d_j
 *   edge    p_T = a d_j + b d_{j+1},
 *           a, b >= 0, a + b = mu p_n:       u_n = 0, u_T . (d_{j+1} - d_j) = 0, -u_T points outwards
 *
 * W is symmetric positive definite for a contact of rigid bodies, the problem is then a strictly
 * copositive LCP and has a solution, so one of the cases fits; they are tried starting from the one that
 * fitted last time. Rounding may reject all by a hair: then the case with the smallest violation wins. */
#include "solver/local.h"
#include "base/elementary.h"
#include "problem/cone.h"

#include <math.h>

void mor_polygon_corners(int n, double* corners)
{
    for (int j = 0; j <= n; j++) mor_polygon_direction(n, j % n, corners + 2 * j);
}

bool mor_local_inverse(const double* W, double* B)
{
    double c00 = W[4] * W[8] - W[5] * W[7], c01 = W[5] * W[6] - W[3] * W[8], c02 = W[3] * W[7] - W[4] * W[6];
    double det = W[0] * c00 + W[1] * c01 + W[2] * c02;
    double scale = mor_max(fabs(W[0]), mor_max(fabs(W[4]), fabs(W[8])));
    if (!(fabs(det) > 1e-14 * scale * scale * scale)) return false;
    double s = 1.0 / det;
    B[0] = s * c00;
    B[1] = s * (W[2] * W[7] - W[1] * W[8]);
    B[2] = s * (W[1] * W[5] - W[2] * W[4]);
    B[3] = s * c01;
    B[4] = s * (W[0] * W[8] - W[2] * W[6]);
    B[5] = s * (W[2] * W[3] - W[0] * W[5]);
    B[6] = s * c02;
    B[7] = s * (W[1] * W[6] - W[0] * W[7]);
    B[8] = s * (W[0] * W[4] - W[1] * W[3]);
    return true;
}

void mor_local_interval(const double* W, const double* q, double mu, double* p)
{
    p[0] = p[1] = 0.0;
    if (q[0] >= 0.0) return;
    double det = W[0] * W[3] - W[1] * W[2];
    if (det > 1e-14 * W[0] * W[3]) {
        double pn = (-q[0] * W[3] + q[1] * W[1]) / det, pt = (-W[0] * q[1] + W[2] * q[0]) / det;
        if (pn >= 0.0 && fabs(pt) <= mu * pn) {
            p[0] = pn;
            p[1] = pt;
            return;
        }
    }
    double least = INFINITY;
    for (int side = -1; side <= 1; side += 2) { /* p_t = side mu p_n, slip against it */
        double k = W[0] + side * mu * W[1];
        if (!(k > 0.0)) continue;
        double pn = -q[0] / k;
        double slip = side * (W[2] * pn + W[3] * side * mu * pn + q[1]); /* must be <= 0 */
        if (slip < least) {
            least = slip;
            p[0] = pn;
            p[1] = side * mu * pn;
        }
    }
}

/* p_T = mu p_n d: violation of the normal-cone conditions, p filled; INFINITY if the case cannot be. */
static double try_corner(const double* W, const double* q, double mu, const double* corners, int n, int j, double* p)
{
    const double* d = corners + 2 * j;
    const double* next = corners + 2 * (j + 1);
    const double* last = corners + 2 * (j == 0 ? n - 1 : j - 1);
    double k = W[0] + mu * (W[1] * d[0] + W[2] * d[1]);
    if (!(k > 0.0)) return INFINITY;
    double pn = -q[0] / k;
    p[0] = pn;
    p[1] = mu * pn * d[0];
    p[2] = mu * pn * d[1];
    double ut = W[3] * p[0] + W[4] * p[1] + W[5] * p[2] + q[1];
    double uo = W[6] * p[0] + W[7] * p[1] + W[8] * p[2] + q[2];
    double s = -(d[0] * ut + d[1] * uo); /* sliding speed along -d */
    double a = -(next[0] * ut + next[1] * uo), b = -(last[0] * ut + last[1] * uo);
    return mor_max(mor_max(a, b) - s, -s);
}

static double try_edge(const double* W, const double* q, double mu, const double* corners, int j, double* p)
{
    const double *d = corners + 2 * j, *e = corners + 2 * (j + 1);
    double fx = e[0] - d[0], fy = e[1] - d[1];
    /* columns for a (corner d) and b (corner e): p = (a + b)/mu e_n + a d + b e */
    double ca[3], cb[3];
    for (int i = 0; i < 3; i++) {
        ca[i] = W[3 * i] / mu + W[3 * i + 1] * d[0] + W[3 * i + 2] * d[1];
        cb[i] = W[3 * i] / mu + W[3 * i + 1] * e[0] + W[3 * i + 2] * e[1];
    }
    double m00 = ca[0], m01 = cb[0];
    double m10 = fx * ca[1] + fy * ca[2], m11 = fx * cb[1] + fy * cb[2];
    double r0 = -q[0], r1 = -(fx * q[1] + fy * q[2]);
    double det = m00 * m11 - m01 * m10;
    if (det == 0.0) return INFINITY;
    double a = (r0 * m11 - m01 * r1) / det, b = (m00 * r1 - m10 * r0) / det;
    p[0] = (a + b) / mu;
    p[1] = a * d[0] + b * e[0];
    p[2] = a * d[1] + b * e[1];
    if (!(p[0] >= 0.0)) return INFINITY;
    double ut = W[3] * p[0] + W[4] * p[1] + W[5] * p[2] + q[1];
    double uo = W[6] * p[0] + W[7] * p[1] + W[8] * p[2] + q[2];
    double out = -((d[0] + e[0]) * ut + (d[1] + e[1]) * uo);
    /* impulses to velocities: W_nn is the natural scale */
    return mor_max(mor_max(-a, -b) * W[0], -out);
}

bool mor_local_stick(const double* W, const double* inverse, const double* q, double* p)
{
    if (inverse) {
        for (int i = 0; i < 3; i++)
            p[i] = -(inverse[3 * i] * q[0] + inverse[3 * i + 1] * q[1] + inverse[3 * i + 2] * q[2]);
        return true;
    }
    int weak = W[4] <= W[8] ? 1 : 2, keep = 3 - weak;
    double det = W[0] * W[4 * keep] - W[keep] * W[3 * keep];
    if (!(det > 1e-14 * W[0] * W[4 * keep])) return false;
    p[0] = (-q[0] * W[4 * keep] + W[keep] * q[keep]) / det;
    p[keep] = (-W[0] * q[keep] + W[3 * keep] * q[0]) / det;
    p[weak] = 0.0;
    double rest = W[3 * weak] * p[0] + W[3 * weak + keep] * p[keep] + q[weak];
    return fabs(rest) <= 1e-12 * (fabs(q[0]) + fabs(q[1]) + fabs(q[2]));
}

static bool inside(const double* p, double mu, int n, const double* corners)
{
    /* facet j between corners j and j+1 has the normal (d_j + d_{j+1}) and support d_j . (d_j + d_{j+1}) */
    for (int j = 0; j < n; j++) {
        const double *d = corners + 2 * j, *e = corners + 2 * (j + 1);
        double mx = d[0] + e[0], my = d[1] + e[1];
        if (mx * p[1] + my * p[2] > mu * p[0] * (d[0] * mx + d[1] * my)) return false;
    }
    return true;
}

void mor_local_polygon(const double* W, const double* inverse, const double* q, double mu, int n, const double* corners,
                       int* state, double* p)
{
    if (q[0] >= 0.0) {
        p[0] = p[1] = p[2] = 0.0;
        return;
    }
    double trial[3], least = INFINITY;
    int hint = *state, chosen = -1;
    if (mor_local_stick(W, inverse, q, trial) && trial[0] >= 0.0 && inside(trial, mu, n, corners)) {
        p[0] = trial[0], p[1] = trial[1], p[2] = trial[2];
        *state = 0;
        return;
    }
    for (int k = 0; k <= 2 * n; k++) { /* the remembered case first, then all */
        int c = k == 0 ? hint : k;
        if (c == 0 || (k > 0 && c == hint)) continue;
        double violation =
            c <= n ? try_corner(W, q, mu, corners, n, c - 1, trial) : try_edge(W, q, mu, corners, c - n - 1, trial);
        if (violation < least) {
            least = violation;
            chosen = c;
            p[0] = trial[0], p[1] = trial[1], p[2] = trial[2];
            if (least <= 0.0) break;
        }
    }
    if (chosen < 0) { /* no case is even computable: keep the bodies apart at least */
        p[0] = W[0] > 0.0 ? -q[0] / W[0] : 0.0;
        p[1] = p[2] = 0.0;
        chosen = 0;
    }
    *state = chosen;
}
