/* GMRES with modified Gram-Schmidt and Givens rotations; CG; CGNR (krylov.h). */
#include "linalg/krylov.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"

static double dot(int n, const double* x, const double* y)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

static void add(int n, double a, const double* restrict x, double* restrict y)
{
    for (int i = 0; i < n; i++) y[i] += a * x[i];
}

int mor_gmres(int n, mor_product A, void* user, const double* diagonal, const double* b, double* x, double tol,
              int restart, int max_products, double* work)
{
    int m = restart, products = 0;
    double *V = work, *t = V + (size_t)(m + 1) * n, *s = t + n, *H = s + n, *c = H + (size_t)(m + 1) * m, *sn = c + m,
           *g = sn + m;
    double goal = tol * mor_norm2(n, b);
    while (products < max_products) {
        A(user, x, t);
        products++;
        for (int i = 0; i < n; i++) V[i] = b[i] - t[i];
        double size = mor_norm2(n, V);
        if (!(size > goal)) break;
        for (int i = 0; i < n; i++) V[i] /= size;
        g[0] = size;
        int k = 0;
        while (k < m && products < max_products) {
            double *v = V + (size_t)k * n, *next = v + n;
            for (int i = 0; i < n; i++) t[i] = diagonal ? v[i] / diagonal[i] : v[i];
            A(user, t, next);
            products++;
            double* h = H + (size_t)k * (m + 1);
            for (int j = 0; j <= k; j++) {
                h[j] = dot(n, next, V + (size_t)j * n);
                add(n, -h[j], V + (size_t)j * n, next);
            }
            h[k + 1] = mor_norm2(n, next);
            if (!isfinite(h[k + 1])) return products;
            if (h[k + 1] > 0.0)
                for (int i = 0; i < n; i++) next[i] /= h[k + 1];
            double below = h[k + 1];
            for (int j = 0; j < k; j++) {
                double a = c[j] * h[j] + sn[j] * h[j + 1];
                h[j + 1] = -sn[j] * h[j] + c[j] * h[j + 1];
                h[j] = a;
            }
            double r = mor_hypot(h[k], below);
            if (r == 0.0) break; /* A is singular on the space: nothing to gain */
            c[k] = h[k] / r, sn[k] = below / r, h[k] = r;
            g[k + 1] = -sn[k] * g[k];
            g[k] *= c[k];
            k++;
            if (fabs(g[k]) <= goal || below == 0.0) break;
        }
        if (k == 0) break;
        for (int i = k - 1; i >= 0; i--) {
            for (int j = i + 1; j < k; j++) g[i] -= H[i + (size_t)j * (m + 1)] * g[j];
            g[i] /= H[i + (size_t)i * (m + 1)];
        }
        memset(s, 0, (size_t)n * sizeof *s);
        for (int j = 0; j < k; j++) add(n, g[j], V + (size_t)j * n, s);
        for (int i = 0; i < n; i++) x[i] += diagonal ? s[i] / diagonal[i] : s[i];
    }
    return products;
}

int mor_cg_normal(int n, mor_product A, mor_product At, void* user, const double* b, double* x, double tol,
                  int max_products, double* work)
{
    double *r = work, *g = r + n, *p = g + n, *q = p + n;
    int products = 1;
    double goal = tol * mor_norm2(n, b);
    A(user, x, q);
    for (int i = 0; i < n; i++) r[i] = b[i] - q[i];
    At(user, r, g);
    memcpy(p, g, (size_t)n * sizeof *p);
    double gg = dot(n, g, g);
    while (products < max_products && mor_norm2(n, r) > goal && gg > 0.0) {
        A(user, p, q);
        products++;
        double qq = dot(n, q, q);
        if (!(qq > 0.0) || !isfinite(qq)) break;
        double a = gg / qq;
        add(n, a, p, x);
        add(n, -a, q, r);
        At(user, r, g);
        double next = dot(n, g, g), ratio = next / gg;
        for (int i = 0; i < n; i++) p[i] = g[i] + ratio * p[i];
        gg = next;
    }
    return products;
}

int mor_cg(int n, mor_product A, void* user, const double* b, double* x, double tol, int max_products, double* work)
{
    double *r = work, *p = r + n, *q = p + n;
    int products = 1;
    double goal = tol * mor_norm2(n, b);
    A(user, x, q);
    for (int i = 0; i < n; i++) p[i] = r[i] = b[i] - q[i];
    double rr = dot(n, r, r);
    while (products < max_products && sqrt(rr) > goal) {
        A(user, p, q);
        products++;
        double pq = dot(n, p, q);
        if (!(pq > 0.0) || !isfinite(pq)) break;
        double a = rr / pq;
        add(n, a, p, x);
        add(n, -a, q, r);
        double next = dot(n, r, r), ratio = next / rr;
        for (int i = 0; i < n; i++) p[i] = r[i] + ratio * p[i];
        rr = next;
    }
    return products;
}
