/* The motion of a particle among segments in closed form: parabolas, slides and inelastic impacts. */
#ifndef MOREAU_LAB_PARTICLE_H
#define MOREAU_LAB_PARTICLE_H

#include "moreau/math.h"

#include <stdbool.h>

/* A wall from p to q, solid behind n = (unit) left of p -> q. */
typedef struct mor_wall {
    mor_vec3 p, q, n;
} mor_wall;

static inline mor_wall mor_wall_between(mor_vec3 p, mor_vec3 q)
{
    mor_vec3 e = mor_sub(q, p);
    return (mor_wall){ p, q, mor_normalize(mor_v3(-e.y, e.x, 0), mor_v3(0, 1, 0)) };
}

typedef enum mor_phase_kind { MOR_FLIGHT, MOR_SLIDE, MOR_REST } mor_phase_kind;

/* One phase of the motion: x(t) = x + v (t - from) + a (t - from)^2/2. */
typedef struct mor_phase {
    mor_phase_kind kind;
    double from;
    mor_vec3 x, v, a;
    int wall; /* the one it slides or rests on, else -1 */
} mor_phase;

/* Phases from (x, v) at t = 0 until t = end under the constant acceleration `pull` (gravity and force over mass) with
 * friction mu. Returns how many; at most `capacity` (a motion that needs more is cut there). */
int mor_particle_exact(const mor_wall* walls, int wall_count, mor_vec3 x, mor_vec3 v, mor_vec3 pull, double mu,
                       double end, mor_phase* phases, int capacity);
/* Position at time t. */
mor_vec3 mor_particle_at(const mor_phase* phases, int count, double t);

#endif
