/* Inverse dynamics with contact: impulses and unknown forces from a motion.
 *
 *     mor_error error = { 0 };
 *     mor_scene* scene = mor_scene_load("scenes/incline.yaml", NULL, NULL, &error);
 *     mor_world* world = mor_scene_build(scene, 1, &error);
 *     mor_inverse_options options = mor_inverse_options_default();
 *     double* nu = calloc(mor_world_nu_count(world), sizeof *nu); // everything stops within the step
 *     mor_inverse_dynamics* d = NULL;
 *     if (mor_world_inverse(world, NULL, nu, &options, &d, &error) == MOR_OK)
 *         printf("%d contacts, largest unknown change of a velocity %g\n", d->contact_count, d->largest_change);
 *     mor_inverse_dynamics_destroy(d);
 *     free(nu);
 *     mor_world_destroy(world);
 *     mor_scene_destroy(scene);
 *
 * A step is M (nu+ - nu_free) = G p + h f. The state and nu+ are known; p are the impulses of contacts and joints, f
 * the forces that nobody told the world of: those of a hand, a wind, a motor, a wrong mass. docs/inverse.md has the
 * laws, what is unique and what is not. */
#ifndef MOREAU_INVERSE_H
#define MOREAU_INVERSE_H

#include "moreau/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which law of contact is inverted. */
typedef enum mor_inverse_law {
    MOR_INVERSE_CONVEX, /* that of the formulation `convex`: p is a function of the velocities, so it is unique */
    MOR_INVERSE_EXACT   /* Coulomb's cone, that of `ncp`: open contacts bear nothing, sliding ones a known direction,
                           sticking ones what explains the motion with the least unknown force */
} mor_inverse_law;

typedef struct mor_inverse_options {
    mor_inverse_law law;   /* default convex */
    double regularisation; /* of the convex law; 0 (default): the formulation's if that is `convex`, else 1e-6 */
    double slip;           /* exact law: contacts that are slower stick, and that come apart slower are closed [m/s];
                              default 1e-8, for measured motion what its noise makes of a velocity */
} mor_inverse_options;

/* The convex law, 0 and 1e-8. */
MOR_API mor_inverse_options mor_inverse_options_default(void);

/* What a motion says about one step. */
typedef struct mor_inverse_dynamics {
    int contact_count;           /* contacts of the step */
    const mor_contact* contacts; /* contact_count, with the impulses that were found */
    int count;                   /* mor_world_nu_count */
    const double* force;         /* count: f, in the order of nu (moreau/state.h) [N, N m] */
    const double* change;        /* count: what h f makes of the velocities [m/s, rad/s] */
    const double* end;           /* count: nu of the state that the step ends in */
    double largest_change;       /* the largest of `change` */
    double left;                 /* of nu+: what force and impulses do not explain, rounding [m/s, rad/s] */
    bool unique;                 /* false: several contacts share their load in more than one way; the force is unique
                                    all the same */
    int bounces;                 /* contacts with restitution that hit: their impulse is the one within the friction
                                    cone that explains the motion best, whatever the law of impact */
} mor_inverse_dynamics;

/* Of the coming step of the world, which is not taken: the world stays as it is. The known forces of the step (gravity,
 * applied forces, user stage, controllers) act. nu: velocities at the end of the step, in the order of moreau/state.h.
 * q: the state of the end, or NULL. Free bodies in space turn about changing axes; with q their nu is that of the end,
 * as in mor_world_get_nu; without, nu is the velocity that takes the body from pose to pose in the step, as differences
 * of poses give it. `answer`: NULL before the first call; later calls use its memory again.
 * MOR_BAD_INPUT: numbers that are not finite, an integrator other than semi-implicit, springs in joints, stages of the
 * caller's; MOR_SYSTEM: out of memory. */
MOR_API mor_code mor_world_inverse(mor_world* world, const double* q, const double* nu,
                                   const mor_inverse_options* options, mor_inverse_dynamics** answer, mor_error* error);
MOR_API void mor_inverse_dynamics_destroy(mor_inverse_dynamics* answer); /* NULL is allowed */

/* Adds generalised forces (mor_world_nu_count numbers, in the order of nu) to those applied in the coming step. */
MOR_API void mor_world_apply_forces(mor_world* world, const double* force);
/* Number of steps and time of the world, for motions that are followed without steps: forces, motions of kinematic
 * bodies and controllers that depend on the time see it. */
MOR_API void mor_world_set_time(mor_world* world, int step, double time);

#ifdef __cplusplus
}
#endif
#endif
