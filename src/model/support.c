/* Friction of a planar body with the plane it lies on.
 *
 * The weight m g rests in equal parts on points r_k of the body: three on a circle (tripod), or many on a disc (area).
 * In a step the points' impulses p_k oppose their slip and are at most c = h mu m g/n,
 *
 *     nu = nu_f + M^-1 sum G_k p_k,    |p_k| <= c,    p_k = -c u_k/|u_k| where u_k = G_k' nu is not 0
 *
 * which is the least point of 1/2 |nu - nu_f|_M^2 + c sum |u_k|: one answer, which stops a body exactly and never turns
 * its motion round. Where it does not stop: projected Gauss-Seidel on the points, p_k <- P(p_k - u_k/w_k),
 * w_k = 1/m + |r_k|^2/I, until Newton's method finishes it (all points slide), or to the end (some do not).
 *
 * A body that contacts or joints may act on must not be slowed first: a slow push would then find it at rest and move
 * it by its inertia, as if there were no friction. Its friction is linearised about velocities nu_k with slips u_k and
 * goes into the mass, in one of two ways,
 *
 *     c |u| <= c/2 (|u|^2/|u_k| + |u_k|)                             mass + c/|u_k| G G'        (upper quadratic)
 *     c |u| ~  c t'u + c/2 |u|^2_across/|u_k|,  t = u_k/|u_k|        mass + c/|u_k| G (1 - t t') G',  impulse -c G t
 *
 * and the step is solved again about its own answer until the slips stay (support_step.c). The first never turns a
 * motion round and goes down in every pass, the second is Newton's method. A point whose slip would turn round sticks:
 * it gets the first with |u_k| = STILL h mu g, so that its slip is below that as long as its impulse is below c; above,
 * it slides that way.
 *
 * S. Goyal, A. Ruina, J. Papadopoulos, "Planar sliding with dry friction", Wear 143 (1991) 307-352; J. C. Trinkle's
 * group uses the tripod for planar grasps. */
#include "base/elementary.h"
#include "model/support.h"

#include <math.h>

enum { RINGS = 4, ON_RING = 12, MOST = RINGS * ON_RING, SWEEPS = 2000, FIRST = 6 };
#define CHANGE 1e-14 /* of the speed that friction can take in the step */
#define STILL 1e-6   /* of that speed: slower points stick */

static int points_of(const mor_body_support* s, double angle, double r[MOST][2])
{
    const double turn = 6.28318530717958647693;
    if (!s->area) {
        for (int k = 0; k < 3; k++) {
            r[k][0] = s->radius * mor_cos(angle + turn * k / 3.0);
            r[k][1] = s->radius * mor_sin(angle + turn * k / 3.0);
        }
        return 3;
    }
    for (int k = 0; k < MOST; k++) {
        double size = s->radius * sqrt((k / ON_RING + 0.5) / RINGS); /* rings of equal area */
        r[k][0] = size * mor_cos(angle + turn * (k % ON_RING + 0.5 * (k / ON_RING % 2)) / ON_RING);
        r[k][1] = size * mor_sin(angle + turn * (k % ON_RING + 0.5 * (k / ON_RING % 2)) / ON_RING);
    }
    return MOST;
}

/* Is there an answer with nu = 0? The impulses of least norm that stop the body are
 * p_k = -m v/n - I w (e_z x r_k)/sum |r|^2, because the points lie around the centre of mass: sum r_k = 0.
 * If none is above c they are an answer, and there is but one nu. */
static bool stops(int n, double r[MOST][2], double m, double I, double most, const double nu[3])
{
    double sum = 0.0, largest = 0.0;
    for (int k = 0; k < n; k++) sum += r[k][0] * r[k][0] + r[k][1] * r[k][1];
    double spin = sum > 0.0 ? I * nu[2] / sum : nu[2] == 0.0 ? 0.0 : INFINITY;
    for (int k = 0; k < n; k++)
        largest = mor_max(largest, mor_hypot(m * nu[0] / n - spin * r[k][1], m * nu[1] / n + spin * r[k][0]));
    return largest <= most;
}

/* Where every point slides the sum is smooth: Newton's method on nu from a guess,
 *
 *     g = M (nu - nu_f) + c sum G_k u_k/|u_k|,    H = M + c sum G_k (1 - t t')/|u_k| G_k',  t = u_k/|u_k|
 *
 * H is positive definite. True: the gradient vanishes there to rounding, and nu is that point; else nu is as it was. */
static bool slides(int n, double r[MOST][2], double m, double I, double c, const double free[3], double nu[3])
{
    double x[3] = { nu[0], nu[1], nu[2] }, before = INFINITY, arm = sqrt(I / m);
    for (int round = 0; round < 12; round++) {
        double g[3] = { m * (x[0] - free[0]), m * (x[1] - free[1]), I * (x[2] - free[2]) };
        mor_mat3 H = { { { m, 0, 0 }, { 0, m, 0 }, { 0, 0, I } } };
        for (int k = 0; k < n; k++) {
            double u = x[0] - x[2] * r[k][1], v = x[1] + x[2] * r[k][0], speed = sqrt(u * u + v * v);
            if (!(speed > 0.0)) return false;
            double tx = u / speed, ty = v / speed, across = -ty * -r[k][1] + tx * r[k][0], f = c / speed;
            double a[3] = { -ty, tx, across }; /* G_k of the direction across the slip */
            g[0] += c * tx, g[1] += c * ty, g[2] += c * (r[k][0] * ty - r[k][1] * tx);
            for (int i = 0; i < 9; i++) H.m[i / 3][i % 3] += f * a[i / 3] * a[i % 3];
        }
        double size = mor_max(mor_max(fabs(g[0]), fabs(g[1])), fabs(g[2]) / arm);
        if (size <= CHANGE * n * c) {
            for (int i = 0; i < 3; i++) nu[i] = x[i];
            return true;
        }
        if (!(size < 0.9 * before)) return false;
        before = size;
        mor_mat3 inverse = mor_mat3_inverse(&H);
        mor_vec3 d = mor_mul(&inverse, mor_v3(g[0], g[1], g[2]));
        x[0] -= d.x, x[1] -= d.y, x[2] -= d.z;
    }
    return false;
}

void mor_support_slow(const mor_body_support* s, double m, double I, double angle, double h, double nu[3])
{
    double r[MOST][2], p[MOST][2] = { { 0 } };
    int n = points_of(s, angle, r);
    double most = h * s->friction * m * s->gravity / n, enough = CHANGE * n * most / m;
    if (stops(n, r, m, I, most, nu)) {
        nu[0] = nu[1] = nu[2] = 0.0;
        return;
    }
    const double free[3] = { nu[0], nu[1], nu[2] };
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        if (sweep >= FIRST && sweep % FIRST == 0 && slides(n, r, m, I, most, free, nu)) return;
        double moved = 0.0;
        for (int k = 0; k < n; k++) {
            double w = 1.0 / m + (r[k][0] * r[k][0] + r[k][1] * r[k][1]) / I;
            double x = p[k][0] - (nu[0] - nu[2] * r[k][1]) / w, y = p[k][1] - (nu[1] + nu[2] * r[k][0]) / w;
            double size = mor_hypot(x, y), part = size > most ? most / size : 1.0;
            double dx = part * x - p[k][0], dy = part * y - p[k][1];
            p[k][0] += dx, p[k][1] += dy;
            nu[0] += dx / m, nu[1] += dy / m;
            nu[2] += (r[k][0] * dy - r[k][1] * dx) / I;
            moved = mor_max(moved, w * mor_max(fabs(dx), fabs(dy)));
        }
        if (moved <= enough) return;
    }
}

static double still_speed(const mor_body_support* s, double h) { return STILL * h * s->friction * s->gravity; }

void mor_support_linearise(const mor_body_support* s, double m, double I, double angle, double h,
                           const mor_support_look* look, const double at[3], double nu_free[3], double M[9],
                           double Mi[9])
{
    double r[MOST][2], still = still_speed(s, h);
    int n = points_of(s, angle, r);
    double c = h * s->friction * m * s->gravity / n;
    double g[3] = { m * nu_free[0], m * nu_free[1], I * nu_free[2] };
    mor_mat3 H = { { { m, 0, 0 }, { 0, m, 0 }, { 0, 0, I } } };
    for (int k = 0; k < n; k++) {
        double u = at[0] - at[2] * r[k][1], v = at[1] + at[2] * r[k][0], speed = sqrt(u * u + v * v);
        double x = r[k][0], y = r[k][1];
        bool sticks = speed <= still || (look->sticks >> k & 1u);
        if (sticks || look->upper) {
            double f = c / (sticks ? still : speed);
            const double G[9] = { 1, 0, -y, 0, 1, x, -y, x, x * x + y * y };
            for (int i = 0; i < 9; i++) H.m[i / 3][i % 3] += f * G[i];
        } else {
            double tx = u / speed, ty = v / speed, a[3] = { -ty, tx, x * tx + y * ty }, f = c / speed;
            g[0] -= c * tx, g[1] -= c * ty, g[2] -= c * (x * ty - y * tx);
            for (int i = 0; i < 9; i++) H.m[i / 3][i % 3] += f * a[i / 3] * a[i % 3];
        }
    }
    mor_mat3 inverse = mor_mat3_inverse(&H);
    mor_vec3 nu = mor_mul(&inverse, mor_v3(g[0], g[1], g[2]));
    nu_free[0] = nu.x, nu_free[1] = nu.y, nu_free[2] = nu.z;
    for (int i = 0; i < 9; i++) M[i] = H.m[i / 3][i % 3], Mi[i] = inverse.m[i / 3][i % 3];
}

double mor_support_change(const mor_body_support* s, double angle, double h, const double at[3], const double nu[3],
                          uint64_t* sticks)
{
    double r[MOST][2], most = 0.0, still = still_speed(s, h);
    int n = points_of(s, angle, r);
    for (int k = 0; k < n; k++) {
        double u = at[0] - at[2] * r[k][1], v = at[1] + at[2] * r[k][0], old = mor_hypot(u, v);
        double x = nu[0] - nu[2] * r[k][1], y = nu[1] + nu[2] * r[k][0], now = mor_hypot(x, y);
        bool stuck = old <= still || (*sticks >> k & 1u);
        bool sticks_now = stuck ? now <= still * (1.0 + 1e-3) : u * x + v * y <= 0.0 || now <= still;
        if (stuck && sticks_now) continue;
        most = mor_max(most, stuck || sticks_now ? 1.0 : mor_hypot(x - u, y - v) / mor_max(old, now));
        *sticks = sticks_now ? *sticks | (uint64_t)1 << k : *sticks & ~((uint64_t)1 << k);
    }
    return most;
}
