/* The contact law next to an answer (law.h). With s = u_t/|u_t|, P = I - s s', a closed contact
 *
 *     sticks    du = 0
 *     slides    du_n = 0,   dp_t + s (mu dp_n + p_n dmu) + mu p_n/|u_t| P du_t = 0
 *
 * and on a polygon with corners c_k, between which the edges have the outward normal m_k at the distance a: it slides
 * with p_t on an edge, (c_k+1 - c_k)' du_t = 0 and m_k' dp_t = a (mu dp_n + p_n dmu), or in a corner,
 * dp_t = c_k (mu dp_n + p_n dmu). The convex law has u + R p in place of u and du_n = mu s' du_t + |u_t| dmu.
 *
 * Which of these holds is read off the natural map: of two complementary numbers the larger one, both as velocities,
 * is the one that counts. Their difference is the distance to the next change. */
#include "derivative/law.h"

#include "base/elementary.h"

#include <string.h>

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* du = 0 in the rows from `first` */
static void hold(mor_law* l, int dim, int first)
{
    for (int i = first; i < dim; i++) l->A_u[i * dim + i] = 1.0;
}

/* p_t on the border, opposite to the slip. */
static void slide_on_cone(mor_law* l, int dim, const double* p, const double* u, double slip, double mu)
{
    double s[2] = { u[1] / slip, dim > 2 ? u[2] / slip : 0.0 };
    for (int i = 1; i < dim; i++) {
        l->A_p[i * dim + i] = 1.0;
        l->A_p[i * dim] = mu * s[i - 1];
        l->g[i] = p[0] * s[i - 1];
        for (int j = 1; j < dim && dim > 2; j++)
            l->A_u[i * dim + j] = mu * p[0] / slip * ((i == j) - s[i - 1] * s[j - 1]);
    }
}

static void corner(int k, int directions, double c[2])
{
    double angle = 2.0 * 3.14159265358979323846 * k / directions;
    c[0] = mor_cos(angle), c[1] = mor_sin(angle);
}

/* p_t on an edge or in a corner of the polygon, the point where -u_t leans. */
static void slide_on_polygon(mor_law* l, const double* p, const double* u, double mu, int directions)
{
    double radius = mu * p[0], best = -1e300, second = -1e300, c[2], d[2];
    int first = 0, next = 0;
    for (int k = 0; k < directions; k++) { /* the corners that give most against the slip */
        corner(k, directions, c);
        double value = -(c[0] * u[1] + c[1] * u[2]);
        if (value > best) second = best, next = first, best = value, first = k;
        else if (value > second) second = value, next = k;
    }
    corner(first, directions, c);
    corner(next, directions, d);
    bool in_corner = mor_hypot(p[1] - radius * c[0], p[2] - radius * c[1]) < 1e-6 * radius;
    if (in_corner) {
        for (int i = 1; i < 3; i++) {
            l->A_p[3 * i + i] = 1.0;
            l->A_p[3 * i] = -mu * c[i - 1];
            l->g[i] = -p[0] * c[i - 1];
        }
        return;
    }
    double m[2] = { 0.5 * (c[0] + d[0]), 0.5 * (c[1] + d[1]) }, a = mor_hypot(m[0], m[1]);
    l->A_u[3 + 1] = d[0] - c[0], l->A_u[3 + 2] = d[1] - c[1];
    l->A_p[6 + 1] = m[0] / a, l->A_p[6 + 2] = m[1] / a;
    l->A_p[6] = -a * mu, l->g[2] = -a * p[0];
}

/* How far p_t is from the border of the friction set. */
static double inside(int dim, const double* p, double mu, int directions)
{
    if (dim < 3) return mu * p[0] - fabs(p[1]);
    if (!directions) return mu * p[0] - mor_hypot(p[1], p[2]);
    double least = 1e300, c[2], d[2];
    for (int k = 0; k < directions; k++) {
        corner(k, directions, c);
        corner(k + 1, directions, d);
        double m[2] = { 0.5 * (c[0] + d[0]), 0.5 * (c[1] + d[1]) }, a = mor_hypot(m[0], m[1]);
        least = smaller(least, a * mu * p[0] - (m[0] * p[1] + m[1] * p[2]) / a);
    }
    return least;
}

mor_law mor_contact_law(int dim, const double* p, const double* u_in, double mu, const double* W, int directions,
                        bool relaxed, double R, double edge)
{
    mor_law l = { .phase = MOR_PHASE_OPEN };
    double u[3] = { 0 };
    for (int i = 0; i < dim; i++) u[i] = u_in[i] + (relaxed ? R * p[i] : 0.0);
    double slip = dim > 2 ? mor_hypot(u[1], u[2]) : dim > 1 ? fabs(u[1]) : 0.0;
    double opening = relaxed ? u[0] - mu * slip : u[0];
    double closed = W[0] * p[0];
    for (int i = 1; i < dim; i++) l.slip[i - 1] = u[i];
    l.margin = fabs(closed - opening);
    l.weak = larger(closed, opening) < edge;
    if (closed <= opening || l.weak) { /* dp = 0 */
        for (int i = 0; i < dim; i++) l.A_p[i * dim + i] = 1.0;
        return l;
    }
    double reserve = dim > 1 ? W[dim + 1] * inside(dim, p, mu, directions) : 0.0;
    hold(&l, dim, 0);
    l.phase = MOR_PHASE_STICK;
    if (dim > 1 && mu > 0.0) {
        l.margin = smaller(l.margin, fabs(reserve - slip));
        l.weak = larger(reserve, slip) < edge;
    }
    if (l.weak) { /* as if it slid: if then nothing makes it slip, others hold it and its state does not matter */
        l.phase = MOR_PHASE_SLIDE;
        for (int i = 1; i < dim; i++) {
            l.A_u[i * dim + i] = 0.0;
            l.A_p[i * dim + i] = 1.0;
            l.A_p[i * dim] = -p[i] / p[0];
        }
    } else if (dim > 1 && (mu == 0.0 || slip > reserve)) {
        l.phase = MOR_PHASE_SLIDE;
        memset(l.A_u, 0, sizeof l.A_u);
        l.A_u[0] = 1.0;
        if (mu == 0.0 || slip == 0.0)
            for (int i = 1; i < dim; i++) l.A_p[i * dim + i] = 1.0;
        else if (directions && dim > 2) slide_on_polygon(&l, p, u, mu, directions);
        else slide_on_cone(&l, dim, p, u, slip, mu);
        if (relaxed && slip > 0.0) {
            for (int i = 1; i < dim; i++) l.A_u[i] = -mu * u[i] / slip;
            l.g[0] = -slip;
        }
    }
    if (relaxed) /* A_u acts on u + R p */
        for (int i = 0; i < dim * dim; i++) l.A_p[i] += R * l.A_u[i];
    return l;
}
