/* The right-hand sides of the implicit function theorem without looks at the whole step: V, u and the end of the step
 * by the state, tree by tree and contact by contact.
 *
 * What is local is done locally: a contact depends on its two bodies (touch.h), the free motion of a body on that body
 * (free_slopes.c), that of a robot on that robot (robot_slopes.c, inverse.h). The cost is that of the bodies and
 * contacts, not of bodies times directions. */
#ifndef MOREAU_DERIVATIVE_SLOPES_H
#define MOREAU_DERIVATIVE_SLOPES_H

#include "derivative/look.h"
#include "derivative/touch.h"

struct mor_weights; /* pull.h */

/* One tree. Matrices are row-major. */
typedef struct mor_tree_slopes {
    int first;        /* its first number in nu */
    bool local;       /* it moves freely and is a robot: `free` holds all, by differences */
    bool mixed;       /* contacts outside of patches: the state of others moves it, too */
    mor_vec3 F, N;    /* of a body: impulses of the step, moment about the centre of mass */
    double* wrenches; /* of a robot: 6 per link, impulses over h, about the links' origins */
    double* V;        /* dof x 2 dof: V by the own state, in impulses (M V) for robots; NULL: nu_free = nu + const */
    double* end_z;    /* bodies: 2 dof x 2 dof, by the own state at fixed nu+. Robots: base velocity, 6 x 2 dof */
    double* end_v;    /* bodies: 2 dof x dof, column-major, by nu+. Robots: base velocity, 6 x dof */
    mor_mat3 turn, turn_by; /* robots: rotation of the base at the end by that at the start, and by its velocity */
} mor_tree_slopes;

typedef struct mor_slopes {
    mor_tree_slopes* trees;
    mor_touch* touches; /* by contact of the base step */
} mor_slopes;

/* Fills the columns of the state and of joint forces; the others are left. *done = false: this step has something that
 * is not known here, and nothing is filled. `lost` as in touch.h. */
mor_code mor_slopes_fill(mor_derivation* d, mor_slopes* s, mor_columns* c, bool* done, bool* lost, mor_error* error);
/* end += what follows from the state and from dnu+ (c->V after the solve). The draft of the base step may be advanced
 * by it. *done = false: the end of a robot is not known here, and the draft is put back. */
mor_code mor_slopes_end(mor_derivation* d, mor_slopes* s, mor_columns* c, bool* done);
/* The stage `integrate` of the base step; and its draft as it was before. */
mor_code mor_slopes_advance(mor_derivation* d);
void mor_slopes_put_back(mor_derivation* d);
/* Is the input's column filled by mor_slopes_fill? */
bool mor_slopes_has_input(const mor_derivation* d, const mor_input* input);

/* contact_slopes.c: u, and of V the impulses that change, in the columns of positions; loads of the trees. With
 * `pull` in place of the columns: their sum with these weights (pull.h). */
mor_code mor_contact_slopes(mor_derivation* d, mor_slopes* s, mor_columns* c, const struct mor_weights* pull);

/* slopes.c: are the pieces of this step known? Memory for them; the geometry of contacts (*done = false: not known). */
bool mor_slopes_possible(const mor_derivation* d);
mor_code mor_slopes_begin(mor_derivation* d, mor_slopes* s, bool* done, bool* lost);
/* x := M^-1 x of a tree. */
void mor_slopes_respond(const mor_derivation* d, const mor_tree* tree, double* x);

/* free_slopes.c: V and the end of a body of its own. */
mor_code mor_free_slopes(mor_derivation* d, int tree, mor_tree_slopes* t);

/* robot_slopes.c */
bool mor_robot_slopes_possible(const mor_derivation* d, const mor_robot* robot, bool loaded);
mor_code mor_robot_slopes(mor_derivation* d, const mor_slopes* s, int tree, mor_tree_slopes* t, bool* done);
mor_code mor_robot_end_slopes(mor_derivation* d, int tree, mor_tree_slopes* t, bool* done);
/* The same with weights (pull.h), in the other order: the end, then V. */
mor_code mor_robot_end_pull(mor_derivation* d, int tree, struct mor_weights* w, bool* done);
mor_code mor_robot_pull(mor_derivation* d, const mor_slopes* s, int tree, mor_tree_slopes* t, struct mor_weights* w,
                        bool* done);
/* A robot that moves freely. */
mor_code mor_robot_local_slopes(mor_derivation* d, int tree, mor_tree_slopes* t, mor_error* error);

/* gravity_slopes.c: what gravity compensation gives, by the positions of the robot, n x N. `room` is one of inverse.h
 * at these positions; its accelerations and forces are others afterwards. */
struct mor_inverse_room;
mor_code mor_gravity_slopes(mor_derivation* d, const mor_slopes* s, const mor_robot* robot,
                            struct mor_inverse_room* room, double* out);
/* y' of these: by_q += y' out, y of n numbers. */
mor_code mor_gravity_pull(mor_derivation* d, const mor_slopes* s, const mor_robot* robot, const double* y,
                          double* by_q);

/* Laws of joints: each joint's force and implicit gain by its own position and velocity, and the force by the gravity
 * torque that it is given; n numbers each. */
typedef struct mor_law_slopes {
    bool joints, gravity; /* they are such laws; they are given one */
    double *tau_q, *tau_v, *gain_q, *gain_v, *tau_g;
} mor_law_slopes;

/* control_slopes.c: laws of joints (out->joints false: the controllers are others, or there are none). *done = false: a
 * motor is at a limit that was found by solving again. */
mor_code mor_joint_laws(mor_derivation* d, const mor_slopes* s, int robot, mor_law_slopes* out, bool* done);
/* Joint forces and implicit gains of other controllers by the state of the robot, n x 2 N each. */
mor_code mor_control_slopes(mor_derivation* d, const mor_slopes* s, int robot, double* tau, double* gain, bool* done);

#endif
