/* Contact maps and their derivatives, by cases (contact_map.h). */
#include "solver/contact_map.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"

static bool pair(mor_contact_map map, double weight, double r, double u, double* F, double* A, double* B)
{
    if (map == MOR_MAP_MINMAP) {
        F[0] = r <= u ? r : u;
        if (r <= u) return false;
        if (A) A[0] = 1.0, B[0] = 0.0;
        return true;
    }
    F[0] = map == MOR_MAP_CCK ? mor_cck(r, u, weight) : mor_fb(r, u);
    if (!A) return true;
    double s = sqrt(r * r + u * u);
    /* at the kink: the element of the generalised Jacobian for the direction (1,1) */
    const double kink = 1.0 - 0.70710678118654752;
    /* 1 - r/s without cancellation for r > 0: (s - r)/s = u^2/(s (s + r)) */
    double b = s == 0.0 ? kink : r > 0.0 ? u * u / (s * (s + r)) : 1.0 - r / s;
    double a = s == 0.0 ? kink : u > 0.0 ? r * r / (s * (s + u)) : 1.0 - u / s;
    if (map == MOR_MAP_CCK) {
        b = weight * b + (r > 0.0 ? (1.0 - weight) * mor_max(u, 0.0) : 0.0);
        a = weight * a + (u > 0.0 ? (1.0 - weight) * mor_max(r, 0.0) : 0.0);
    }
    A[0] = a, B[0] = b;
    return true;
}

enum { LAMBDA_TENTHS = 7 }; /* of cck for contacts: 0.7, as the BPMD paper */

/* One friction disc with rows at ... at+k-1. */
static void disc(mor_contact_map map, int d, int at, int k, double mu, double rho_n, double rho, double a,
                 const double* r, const double* u, double* F, double* A, double* B)
{
    double t[2] = { 0, 0 }, size = 0.0;
    bool plain = map != MOR_MAP_ALART_CURNIER; /* the radius is the impulse's own */
    double radius = plain ? mor_max(r[0], 0.0) : a;
    for (int i = 0; i < k; i++) {
        t[i] = r[at + i] - rho * u[at + i];
        size += t[i] * t[i];
    }
    size = sqrt(size);
    if (mu > 0.0 && size <= mu * radius) {
        for (int i = 0; i < k; i++) {
            F[at + i] = rho * u[at + i];
            if (A) A[(at + i) * d + at + i] = rho;
        }
        return;
    }
    double limit = mu * radius;
    for (int i = 0; i < k; i++) {
        double e = size > 0.0 ? t[i] / size : 0.0;
        F[at + i] = r[at + i] - limit * e;
        if (!A) continue;
        for (int j = 0; j < k; j++) {
            double P = size > 0.0 ? ((i == j ? 1.0 : 0.0) - t[i] * t[j] / (size * size)) / size : 0.0;
            A[(at + i) * d + at + j] = limit * rho * P;
            B[(at + i) * d + at + j] = (i == j ? 1.0 : 0.0) - limit * P;
        }
        if (plain) B[(at + i) * d] = r[0] > 0.0 ? -mu * e : 0.0;
        else {
            B[(at + i) * d] = -mu * e;
            A[(at + i) * d] = mu * rho_n * e;
        }
    }
}

/* The friction polygon of size s = mu a: t lies in the sector of the edge whose outward normal m it has most of. There
 * P(t) is t, the foot on that edge, or one of its ends:
 *   edge    P = t - (m.t - s h) m,  h = m.d_j:   dP/dt = I - m m', dP/ds = h m
 *   corner  P = s d_j:                           dP/dt = 0,        dP/ds = d_j */
static void polygon(const mor_contact_law* law, int d_rows, int disc, double a, const double* r, const double* u,
                    double* F, double* A, double* B)
{
    const int at = mor_disc_row(disc);
    double rho = law->rho[1 + disc], mu = law->cone.mu[disc], s = mu * a;
    double t[2] = { r[at] - rho * u[at], r[at + 1] - rho * u[at + 1] }, most = -INFINITY;
    int edge = 0;
    for (int j = 0; j < law->directions; j++) {
        const double *d = law->corners + 2 * j, *e = d + 2;
        double along = (d[0] + e[0]) * t[0] + (d[1] + e[1]) * t[1];
        if (along > most) most = along, edge = j;
    }
    const double *d = law->corners + 2 * edge, *e = d + 2;
    double m[2] = { d[0] + e[0], d[1] + e[1] }, size = sqrt(m[0] * m[0] + m[1] * m[1]);
    m[0] /= size, m[1] /= size;
    double h = m[0] * d[0] + m[1] * d[1], over = m[0] * t[0] + m[1] * t[1] - s * h;
    double P[2] = { t[0], t[1] }, Q[4] = { 1, 0, 0, 1 }, g[2] = { 0, 0 }; /* P(t), dP/dt, dP/ds */
    if (!(over <= 0.0)) {
        double f[2] = { -m[1], m[0] }, half = s * fabs(f[0] * e[0] + f[1] * e[1]), slide = f[0] * t[0] + f[1] * t[1];
        if (fabs(slide) <= half) {
            for (int i = 0; i < 2; i++) {
                P[i] = t[i] - over * m[i];
                g[i] = h * m[i];
                for (int j = 0; j < 2; j++) Q[2 * i + j] = f[i] * f[j];
            }
        } else {
            const double* corner = slide * (f[0] * e[0] + f[1] * e[1]) > 0.0 ? e : d;
            for (int i = 0; i < 2; i++) P[i] = s * corner[i], g[i] = corner[i], Q[2 * i] = Q[2 * i + 1] = 0.0;
        }
    }
    for (int i = 0; i < 2; i++) {
        int row = at + i;
        F[row] = over <= 0.0 ? rho * u[row] : r[row] - P[i];
        if (!A) continue;
        for (int j = 0; j < 2; j++) {
            A[row * d_rows + at + j] = rho * Q[2 * i + j];
            B[row * d_rows + at + j] = (i == j ? 1.0 : 0.0) - Q[2 * i + j];
        }
        B[row * d_rows] = -mu * g[i];
        A[row * d_rows] = mu * law->rho[0] * g[i];
    }
}

/* F = r - P_K(y), y = r - rho u^;  B = I - DP, A = rho DP [1 mu u_T'/|u_T|; 0 I]. */
static bool natural(int d, const mor_contact_law* law, const double* r, const double* u, double* F, double* A,
                    double* B)
{
    int k = d - 1;
    double rho = mor_min(law->rho[0], law->rho[1]), mu = law->cone.mu[0], slip = 0.0, T = 0.0, y[3], e[2] = { 0, 0 },
           g[2] = { 0, 0 };
    for (int i = 1; i <= k; i++) slip += u[i] * u[i];
    slip = sqrt(slip);
    y[0] = r[0] - rho * (u[0] + mu * slip);
    for (int i = 1; i <= k; i++) {
        y[i] = r[i] - rho * u[i];
        T += y[i] * y[i];
        if (slip > 0.0) g[i - 1] = u[i] / slip;
    }
    T = sqrt(T);
    if (mu * T <= -y[0]) {
        for (int i = 0; i < d; i++) F[i] = r[i];
        return false;
    }
    double DP[9] = { 0 };
    if (T <= mu * y[0]) {
        F[0] = r[0] - y[0];
        for (int i = 1; i <= k; i++) F[i] = r[i] - y[i];
        for (int i = 0; i < d; i++) DP[i * d + i] = 1.0;
    } else {
        double c = 1.0 / (1.0 + mu * mu), N = c * (y[0] + mu * T);
        for (int i = 0; i < k; i++) e[i] = y[i + 1] / T;
        F[0] = r[0] - N;
        for (int i = 0; i < k; i++) F[i + 1] = r[i + 1] - mu * N * e[i];
        DP[0] = c;
        for (int i = 0; i < k; i++) {
            DP[i + 1] = DP[(i + 1) * d] = c * mu * e[i];
            for (int j = 0; j < k; j++)
                DP[(i + 1) * d + j + 1] = c * mu * mu * e[i] * e[j] + mu * N / T * ((i == j ? 1.0 : 0.0) - e[i] * e[j]);
        }
    }
    if (!A) return true;
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) B[i * d + j] = (i == j ? 1.0 : 0.0) - DP[i * d + j];
        A[i * d] = rho * DP[i * d];
        for (int j = 0; j < k; j++) A[i * d + j + 1] = rho * (DP[i * d + j + 1] + DP[i * d] * mu * g[j]);
    }
    return true;
}

bool mor_contact_map_eval(mor_contact_map map, int d, const mor_contact_law* law, double parameter, const double* r,
                          const double* u, double* F, double* A, double* B)
{
    if (d == 1) return pair(map, parameter, r[0], u[0], F, A, B);
    if (map == MOR_MAP_NATURAL && d < 5) return natural(d, law, r, u, F, A, B);
    double a = r[0] - law->rho[0] * u[0];
    bool phi = map == MOR_MAP_FISCHER || map == MOR_MAP_CCK;
    if (!phi && !(a > 0.0 || a > -parameter)) {
        for (int i = 0; i < d; i++) F[i] = r[i];
        return false;
    }
    if (A) {
        memset(A, 0, (size_t)(d * d) * sizeof *A);
        memset(B, 0, (size_t)(d * d) * sizeof *B);
        A[0] = law->rho[0];
    }
    F[0] = law->rho[0] * u[0];
    if (phi) {
        pair(map, LAMBDA_TENTHS / 10.0, r[0], law->rho[0] * u[0], F, A, B);
        if (A) A[0] *= law->rho[0];
    }
    for (int i = 0; i < mor_disc_count(d); i++) {
        int rows = mor_disc_size(d, i);
        if (rows == 2 && law->directions) polygon(law, d, i, a, r, u, F, A, B);
        else disc(map, d, mor_disc_row(i), rows, law->cone.mu[i], law->rho[0], law->rho[1 + i], a, r, u, F, A, B);
    }
    return true;
}
