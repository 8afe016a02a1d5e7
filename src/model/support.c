/* Friction of a planar body with the plane it lies on.
 *
 * The weight m g rests in equal parts on points r_k of the body: three on a circle (tripod), or many on a disc (area).
 * In a step the points' impulses p_k oppose their slip and are at most c = h mu m g/n,
 *
 *     nu = nu_f + M^-1 sum G_k p_k,    |p_k| <= c,    p_k = -c u_k/|u_k| where u_k = G_k' nu is not 0
 *
 * which is the least point of 1/2 |nu - nu_f|_M^2 + c sum |u_k|: one answer, which stops a body exactly and never turns
 * its motion round. Projected Gauss-Seidel on the points, p_k <- P(p_k - u_k/w_k), w_k = 1/m + |r_k|^2/I.
 *
 * The answer is part of the free motion of the step: contacts then act on the slowed body. So what a body is pushed
 * with is right on average over steps, and one that is pushed with less than its friction creeps by h times the speed
 * that the push gives in one step.
 *
 * S. Goyal, A. Ruina, J. Papadopoulos, "Planar sliding with dry friction", Wear 143 (1991) 307-352; J. C. Trinkle's
 * group uses the tripod for planar grasps. */
#include "base/elementary.h"
#include "model/support.h"

#include <math.h>

enum { RINGS = 4, ON_RING = 12, MOST = RINGS * ON_RING, SWEEPS = 2000 };
#define CHANGE 1e-14 /* of the speed that friction can take in the step */

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

void mor_support_slow(const mor_body_support* s, double m, double I, double angle, double h, double nu[3])
{
    double r[MOST][2], p[MOST][2] = { { 0 } };
    int n = points_of(s, angle, r);
    double most = h * s->friction * m * s->gravity / n, enough = CHANGE * n * most / m;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
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
