/* The state of a world as flat arrays, read and written in one call each: for bindings, sweeps, optimisers.
 *
 *     mor_error error = { 0 };
 *     mor_scene* scene = mor_scene_load("scenes/bounce.yaml", NULL, NULL, &error);
 *     mor_world* world = mor_scene_build(scene, 1, &error);
 *     int n = mor_world_body_count(world);
 *     double* poses = malloc(7 * n * sizeof *poses);
 *     mor_world_get_poses(world, poses, 7 * n, &error);
 *     poses[2] += 0.1; // the first body, 0.1 m up
 *     mor_world_set_poses(world, poses, 7 * n, &error);
 *     free(poses);
 *     mor_world_destroy(world);
 *     mor_scene_destroy(scene);
 *
 * All arrays are row-major and hold doubles (int32_t where said). `size` is the number of elements of the array, not of
 * bytes, and must be exactly the size that is said: another one is bad input, and nothing is read or written. What is
 * written is checked first: a number that is not finite or a zero quaternion is bad input with a sentence that names
 * the body, and the world stays as it was. Quaternions are w first and are normalised when written.
 *
 * Writing a state between two steps moves the bodies at once; contacts are found again by the next step. To restore a
 * run bit for bit, warm start and controllers included, use mor_world_save and mor_world_restore.
 *
 * Order of bodies: as in mor_world_body, removed ones skipped. Threads: as for the world, one at a time. No function
 * below allocates. */
#ifndef MOREAU_STATE_H
#define MOREAU_STATE_H

#include "moreau/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------- bodies, one row each */

/* n x 7: position of the body frame [m], then its quaternion w x y z. 2-D worlds: z = 0, quaternions about z. */
MOR_API mor_code mor_world_get_poses(const mor_world* world, double* poses, int size, mor_error* error);
/* Velocities stay. Rows of links of robots are passed over: their poses follow from mor_world_set_q. 2-D worlds refuse
 * z and turns out of the plane. */
MOR_API mor_code mor_world_set_poses(mor_world* world, const double* poses, int size, mor_error* error);

/* n x 6: velocity of the centre of mass [m/s], angular velocity [rad/s], world axes. */
MOR_API mor_code mor_world_get_velocities(const mor_world* world, double* velocities, int size, mor_error* error);
/* Poses stay. Rows of links of robots and of fixed bodies are passed over. 2-D worlds refuse vz, wx and wy. */
MOR_API mor_code mor_world_set_velocities(mor_world* world, const double* velocities, int size, mor_error* error);

/* -------------------------------------------------------------- generalised coordinates */

/* q and nu hold first the dynamic bodies that are no links, in body order, then the robots, in robot order:
 *
 *     body, 3-D       q: centre of mass (3), quaternion (4)          nu: its velocity (3), angular velocity (3)
 *     body, 2-D       q: centre of mass (2), angle                   nu: its velocity (2), angular velocity
 *     particle, 2-D   q: position (2)                                nu: velocity (2)
 *     robot           q: joint positions s (n); a floating base puts position (3) and quaternion (4) of the base link
 *                        in front
 *                     nu: joint velocities (n); a floating base puts velocity (3) and angular velocity (3) in front
 *
 * Fixed and kinematic bodies have none. Angles of 2-D bodies are not wound back to one turn. */
typedef struct mor_span {
    int q, q_count;   /* first element and number of them in q */
    int nu, nu_count; /* the same in nu */
} mor_span;

/* Numbers of q. */
MOR_API int mor_world_q_count(const mor_world* world);
/* Numbers of nu. */
MOR_API int mor_world_nu_count(const mor_world* world);
/* Where a body's numbers are; links: those of their robot; fixed and kinematic bodies: counts of 0. O(bodies). */
MOR_API mor_span mor_body_span(const mor_world* world, mor_body_id body);
/* Where a robot's numbers are. */
MOR_API mor_span mor_world_robot_span(const mor_world* world, int robot);

/* Reads all q. */
MOR_API mor_code mor_world_get_q(const mor_world* world, double* q, int size, mor_error* error);
/* Velocities nu stay: angular velocities in world axes, joint velocities. */
MOR_API mor_code mor_world_set_q(mor_world* world, const double* q, int size, mor_error* error);
/* Reads all nu. */
MOR_API mor_code mor_world_get_nu(const mor_world* world, double* nu, int size, mor_error* error);
/* Writes all nu. */
MOR_API mor_code mor_world_set_nu(mor_world* world, const double* nu, int size, mor_error* error);

/* ------------------------------------------------------------------------------ contacts */

/* What a contact did in the last step, by its impulse: nothing; stuck, strictly inside the friction set; slid, on its
 * border (or without friction). The friction set is the circular cone, or the polygon of mor_world's
 * friction_directions where the formulation uses one. */
enum { MOR_CONTACT_OPEN = 0, MOR_CONTACT_STICKS = 1, MOR_CONTACT_SLIDES = 2 };

/* Columns of the contacts of the last step, in the order of mor_world_contacts; m rows each. The caller owns the
 * memory; a NULL column is left out. */
typedef struct mor_contact_columns {
    int32_t* bodies;  /* m x 2: indices in body order; the normal points from the first to the second */
    double* points;   /* m x 3: halfway between the points of the two bodies, world [m] */
    double* normals;  /* m x 3 */
    double* gaps;     /* m: at the start of the step [m], negative in penetration */
    double* impulses; /* m x 3: on the second body, world [N s] */
    int32_t* states;  /* m: MOR_CONTACT_... */
} mor_contact_columns;

MOR_API int mor_world_contact_count(const mor_world* world); /* m */
/* `count` must be m. */
MOR_API mor_code mor_world_get_contacts(const mor_world* world, const mor_contact_columns* columns, int count,
                                        mor_error* error);
/* m x 3: on the second body, world [N s]. */
MOR_API mor_code mor_world_get_impulses(const mor_world* world, double* impulses, int size, mor_error* error);
/* Overwrites the impulses of the last step: the start from which solvers that take one begin the next step, and what
 * mor_world_contacts and contact wrenches say until then. The normal part must not pull (be below zero). */
MOR_API mor_code mor_world_set_impulses(mor_world* world, const double* impulses, int size, mor_error* error);

#ifdef __cplusplus
}
#endif
#endif
