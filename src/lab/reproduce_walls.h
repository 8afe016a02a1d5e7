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

static inline int mor_hill_walls(mor_wall walls[200])
{
    int n = 0;
    const double pi = 3.14159265358979323846;
    for (int h = 0; h < 10; h++)
        for (int i = 0; i < 10; i++) {
            double c = 0.3 + 1.2 * h, a = pi * (1 - i / 10.0), b = pi * (1 - (i + 1) / 10.0);
            walls[n++] =
                mor_wall_between(mor_v3(c + 0.5 * cos(a), 0.5 * sin(a), 0), mor_v3(c + 0.5 * cos(b), 0.5 * sin(b), 0));
        }
    return n;
}

#endif
