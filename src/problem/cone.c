/* Projections on the friction cone and its polygonal stand-in.
 *
 * Let t = |T|, s = |R|. The nearest point of K keeps the directions of T and R and minimises
 *   (N' - N)^2 + max(0, t - mu N')^2 + max(0, s - mu_roll N')^2   over N' >= 0,
 * so N' = (N + mu t [t cut] + mu_roll s [s cut]) / (1 + mu^2 [t cut] + mu_roll^2 [s cut]) where "cut" means
 * the radius exceeds its disc at N'. The derivative is increasing: exactly one choice is consistent. */
#include "problem/cone.h"

#include <assert.h>

void mor_cone_project(int dim, double mu, double mu_roll, double* x)
{
    double N = x[0];
    double t = dim < 2 ? 0.0 : dim == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
    double s = dim < 5 ? 0.0 : sqrt(x[3] * x[3] + x[4] * x[4]);
    if (mu * t + mu_roll * s <= -N) { /* in the polar cone */
        for (int i = 0; i < dim; i++) x[i] = 0.0;
        return;
    }
    if (t <= mu * N && s <= mu_roll * N) return;
    if (dim < 5) {
        double n = (N + mu * t) / (1.0 + mu * mu), scale = t > 0.0 ? mu * n / t : 0.0;
        x[0] = n;
        for (int i = 1; i < dim; i++) x[i] *= scale;
        return;
    }
    double n = (N + mu * t + mu_roll * s) / (1.0 + mu * mu + mu_roll * mu_roll);
    if (t > mu * N && s <= mu_roll * ((N + mu * t) / (1.0 + mu * mu))) n = (N + mu * t) / (1.0 + mu * mu);
    else if (s > mu_roll * N && t <= mu * ((N + mu_roll * s) / (1.0 + mu_roll * mu_roll)))
        n = (N + mu_roll * s) / (1.0 + mu_roll * mu_roll);
    double f = t > mu * n ? mu * n / t : 1.0, g = s > mu_roll * n ? mu_roll * n / s : 1.0;
    x[0] = n;
    x[1] *= f, x[2] *= f;
    x[3] *= g, x[4] *= g;
}

void mor_cone_natural_convex(int dim, double mu, double mu_roll, double rho, const double* r, const double* u,
                             double* out)
{
    double x[5];
    assert(dim >= 1 && dim <= 5);
    for (int i = 0; i < dim; i++) x[i] = r[i] - rho * u[i];
    mor_cone_project(dim, mu, mu_roll, x);
    for (int i = 0; i < dim; i++) out[i] = r[i] - x[i];
}

void mor_cone_natural(int dim, double mu, double mu_roll, double rho, const double* r, const double* u, double* out)
{
    double v[5];
    for (int i = 0; i < dim; i++) v[i] = u[i];
    if (dim == 2) v[0] += mu * fabs(u[1]);
    if (dim >= 3) v[0] += mu * sqrt(u[1] * u[1] + u[2] * u[2]);
    if (dim == 5) v[0] += mu_roll * sqrt(u[3] * u[3] + u[4] * u[4]);
    mor_cone_natural_convex(dim, mu, mu_roll, rho, r, v, out);
}

static const double two_pi = 6.283185307179586;

#include "base/elementary.h"
#include "problem/polygon_table.h"

void mor_polygon_direction(int directions, int j, double d[2])
{
    if (directions >= TABLE_FIRST && directions <= TABLE_LAST && j >= 0 && j < directions) {
        /* 3 + 4 + ... + (directions - 1) entries come before */
        const double* at = table[(directions - TABLE_FIRST) * (directions + TABLE_FIRST - 1) / 2 + j];
        d[0] = at[0], d[1] = at[1];
        return;
    }
    /* multiples of a right angle come out exact: a box sliding along an axis has no sideways rounding */
    if ((4 * j) % directions == 0) {
        int q = (4 * j / directions) % 4;
        d[0] = q == 0 ? 1.0 : q == 2 ? -1.0 : 0.0;
        d[1] = q == 1 ? 1.0 : q == 3 ? -1.0 : 0.0;
        return;
    }
    double angle = two_pi * j / directions;
    d[0] = mor_cos(angle), d[1] = mor_sin(angle);
}

int mor_polygon_split(int directions, const double T[2], double beta[2])
{
    beta[0] = beta[1] = 0.0;
    if (!(fabs(T[0]) + fabs(T[1]) > 0.0)) return 0;
    double angle = mor_atan2(T[1], T[0]);
    if (angle < 0.0) angle += two_pi;
    int j = (int)(angle * directions / two_pi);
    if (j >= directions) j = directions - 1;
    double a[2], b[2];
    mor_polygon_direction(directions, j, a);
    mor_polygon_direction(directions, (j + 1) % directions, b);
    double det = a[0] * b[1] - a[1] * b[0];
    beta[0] = (T[0] * b[1] - T[1] * b[0]) / det;
    beta[1] = (a[0] * T[1] - a[1] * T[0]) / det;
    return j;
}
