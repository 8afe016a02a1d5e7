/* The obstacles of the scenes peg_sawtooth and peg_hills as walls of the closed-form solution. */
#ifndef MOREAU_LAB_REPRODUCE_WALLS_H
#define MOREAU_LAB_REPRODUCE_WALLS_H

#include "lab/particle.h"

static inline int mor_tooth_walls(mor_wall walls[64])
{
    int n = 0;
    for (int k = -3; k <= 15; k++) {
        walls[n++] = mor_wall_between(mor_v3(0.2 + k, 0, 0), mor_v3(1.2 + k, 0.25, 0));
        walls[n++] = mor_wall_between(mor_v3(1.2 + k, 0.25, 0), mor_v3(1.2 + k, 0, 0));
    }
    return n;
}

/* Twenty overlapping hills of ten edges: what is seen of each, between the middles to its neighbours. */
static inline int mor_hill_walls(mor_wall walls[200])
{
    int n = 0;
    const double pi = 3.14159265358979323846, half = 0.29;
    for (int h = 0; h < 20; h++)
        for (int i = 0; i < 10; i++) {
            double c = 0.3 + 0.58 * h, a = pi * (1 - i / 10.0), b = pi * (1 - (i + 1) / 10.0);
            mor_vec3 p = mor_v3(0.5 * cos(a), 0.5 * sin(a), 0), q = mor_v3(0.5 * cos(b), 0.5 * sin(b), 0),
                     e = mor_sub(q, p);
            double from = h > 0 ? fmax(0.0, (-half - p.x) / e.x) : 0.0,
                   to = h < 19 ? fmin(1.0, (half - p.x) / e.x) : 1.0;
            if (!(from < to)) continue;
            mor_vec3 u = mor_madd(p, from, e), v = mor_madd(p, to, e);
            walls[n++] = mor_wall_between(mor_v3(c + u.x, u.y, 0), mor_v3(c + v.x, v.y, 0));
        }
    return n;
}

#endif
