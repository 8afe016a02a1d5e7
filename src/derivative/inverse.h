/* Derivatives of inverse dynamics in closed form. */
#ifndef MOREAU_DERIVATIVE_INVERSE_H
#define MOREAU_DERIVATIVE_INVERSE_H

#include "moreau/base.h"
#include "model/articulated.h"

/* What the robot does: positions as in its work space, and (NULL: none) velocities, accelerations, and forces that move
 * and turn with the links they act on: 6 per link, force and moment about the link's origin. */
typedef struct mor_inverse {
    const mor_robot_model* model;
    const mor_link_state* states;
    mor_vec3 gravity;
    const double *nu, *nudot, *wrenches;
} mor_inverse;

/* The derivatives of tau(q, nu, nudot) by q and by nu (NULL: not wanted), N x N, row-major. q moves as the velocities
 * do: translations and rotation vectors of the base in world axes about its origin, joint positions. Reflected inertias
 * are constant. Not for ball joints. False: out of memory. */
bool mor_inverse_slopes(const mor_inverse* x, mor_arena* arena, double* by_q, double* by_nu);

/* The same in parts, for several accelerations and forces at one state. Begin: room in the arena (NULL: out of memory),
 * which holds on to of->nu. Again: others in place of those of `of`; not moving: as if there were no velocities.
 * Matrices, and the six rows of a floating base alone (6 x N), of the accelerations and forces that were last; moving
 * as they were. */
typedef struct mor_inverse_room mor_inverse_room;
mor_inverse_room* mor_inverse_begin(const mor_inverse* of, mor_arena* arena);
void mor_inverse_again(mor_inverse_room* room, bool moving, mor_vec3 gravity, const double* nudot,
                       const double* wrenches);
void mor_inverse_matrices(const mor_inverse_room* room, bool moving, double* by_q, double* by_nu);
void mor_inverse_base(const mor_inverse_room* room, bool moving, double* by_q, double* by_nu);

/* y' of these derivatives (y: N numbers): by_q += factor y' tau_q, by_nu += factor y' tau_nu (NULL: not wanted). Cost:
 * links. False: out of memory. */
bool mor_inverse_pull(const mor_inverse* x, mor_arena* arena, const double* y, double factor, double* by_q,
                      double* by_nu);

/* a x b of motions, both about one point. */
static inline mor_twist mor_twist_cross(mor_twist a, mor_twist b)
{
    return (mor_twist){ mor_add(mor_cross(a.w, b.v), mor_cross(a.v, b.w)), mor_cross(a.w, b.w) };
}

#endif
