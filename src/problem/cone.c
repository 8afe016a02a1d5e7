/* Projections on the friction cone and its polygonal stand-in.
 *
 * Let t_i be the lengths in the discs. The nearest point of K keeps their directions and minimises
 *   (N' - N)^2 + sum_i max(0, t_i - mu_i N')^2   over N' >= 0,
 * so N' = (N + sum mu_i t_i) / (1 + sum mu_i^2), the sums over the discs that are "cut": t_i > mu_i N'. The derivative
 * is increasing: exactly one choice is consistent. A disc is cut if N' falls below t_i/mu_i, so the discs are cut in
 * the order of falling t_i/mu_i: add them in that order while the next one is cut at the N' so far. */
#include "problem/cone.h"

#include "base/inline.h"

#include <assert.h>
#include <stdbool.h>

/* The bodies are compiled once more for contacts of three rows, nearly all there are: loops of known length vanish. */
MOR_ALWAYS_INLINE double length(int dim, int disc, const double* x)
{
    const double* t = x + mor_disc_row(disc);
    return mor_disc_size(dim, disc) == 1 ? fabs(t[0]) : sqrt(t[0] * t[0] + t[1] * t[1]);
}

MOR_ALWAYS_INLINE double shift_body(int dim, mor_cone cone, const double* u)
{
    double shift = 0.0;
    for (int i = 0; i < mor_disc_count(dim); i++) shift += cone.mu[i] * length(dim, i, u);
    return shift;
}

double mor_cone_shift(int dim, mor_cone cone, const double* u) { return shift_body(dim, cone, u); }

MOR_ALWAYS_INLINE void project_body(int dim, mor_cone cone, double* x)
{
    int discs = mor_disc_count(dim);
    double N = x[0], t[MOR_CONE_DISCS], polar = 0.0;
    bool inside = N >= 0.0, cut[MOR_CONE_DISCS] = { false, false, false };
    for (int i = 0; i < discs; i++) {
        t[i] = length(dim, i, x);
        polar += cone.mu[i] * t[i];
        inside = inside && t[i] <= cone.mu[i] * N;
    }
    if (polar <= -N) {
        for (int i = 0; i < dim; i++) x[i] = 0.0;
        return;
    }
    if (inside) return;
    double over = N, under = 1.0, n = N;
    for (int k = 0; k < discs; k++) {
        int next = -1;
        for (int i = 0; i < discs; i++) /* largest t/mu of the discs that are left */
            if (!cut[i] && (next < 0 || t[i] * cone.mu[next] > t[next] * cone.mu[i])) next = i;
        if (t[next] <= cone.mu[next] * n) break;
        cut[next] = true;
        over += cone.mu[next] * t[next], under += cone.mu[next] * cone.mu[next];
        n = over / under;
    }
    x[0] = n;
    for (int i = 0; i < discs; i++) {
        double f = t[i] > cone.mu[i] * n ? cone.mu[i] * n / t[i] : 1.0, *row = x + mor_disc_row(i);
        for (int j = 0; j < mor_disc_size(dim, i); j++) row[j] *= f;
    }
}

void mor_cone_project(int dim, mor_cone cone, double* x)
{
    if (dim == 3) project_body(3, cone, x);
    else project_body(dim, cone, x);
}

MOR_ALWAYS_INLINE void natural_body(int dim, mor_cone cone, double rho, const double* r, const double* u, double* out)
{
    double x[MOR_CONE_ROWS];
    for (int i = 0; i < dim; i++) x[i] = r[i] - rho * u[i];
    project_body(dim, cone, x);
    for (int i = 0; i < dim; i++) out[i] = r[i] - x[i];
}

void mor_cone_natural_convex(int dim, mor_cone cone, double rho, const double* r, const double* u, double* out)
{
    assert(dim >= 1 && dim <= MOR_CONE_ROWS);
    natural_body(dim, cone, rho, r, u, out);
}

void mor_cone_natural(int dim, mor_cone cone, double rho, const double* r, const double* u, double* out)
{
    if (dim == 3) {
        const double v[3] = { u[0] + shift_body(3, cone, u), u[1], u[2] };
        natural_body(3, cone, rho, r, v, out);
        return;
    }
    double v[MOR_CONE_ROWS];
    for (int i = 0; i < dim; i++) v[i] = u[i];
    v[0] += mor_cone_shift(dim, cone, u);
    mor_cone_natural_convex(dim, cone, rho, r, v, out);
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
