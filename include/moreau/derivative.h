/* Derivatives of a step, through contact and friction.
 *
 *     mor_error error = { 0 };
 *     mor_scene* scene = mor_scene_load("scenes/incline.yaml", NULL, NULL, &error);
 *     mor_world* world = mor_scene_build(scene, 1, &error);
 *     mor_derivative* d = NULL;
 *     if (mor_world_derivative(world, NULL, 0, &d, &error) == MOR_OK && d->differentiable)
 *         printf("%d x %d numbers, %d contacts stick\n", d->rows, d->columns, d->sticking);
 *     mor_derivative_destroy(d);
 *     mor_world_destroy(world);
 *     mor_scene_destroy(scene);
 *
 * The answer of a step solves the contact law to rounding, so the implicit function theorem gives the true derivative
 * wherever no contact changes between open, sticking and sliding (docs/methods/derivatives.md). Where one is about to,
 * the answer says so: `differentiable` is false and `why` names the contact.
 *
 * The state is written in the coordinates of its velocities: 2 n numbers, n = mor_world_nu_count. The first n move the
 * positions, q (+) delta: translations [m], rotation vectors in world axes [rad], joint positions; the last n are
 * velocities nu, in the order of moreau/state.h. Rotations of the base of a robot and of bodies keep their angular
 * velocities.
 *
 * The position projection at the end of a step (gap_correction: projection, the default) is part of it. Overlaps of a
 * scene are undone before its first step, in the world itself: the derivative is by the state that this leaves.
 *
 * Applied forces are those of the step, in their directions, on the body they act on: how a scene's `at` and `frame:
 * body`, or a function of yours, would change them with the state is not followed. `forces_held` tells.
 *
 * Which steps have one: formulations ncp, mncp, implicit, st and convex; by differences of the step also ap, peg,
 * peg-heuristic and peg-exact; the integrator semi-implicit; contacts without rolling and drilling friction. Others are
 * refused with a sentence. */
#ifndef MOREAU_DERIVATIVE_H
#define MOREAU_DERIVATIVE_H

#include "moreau/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What else, beside the state, the derivative is taken of. */
typedef enum mor_input_kind {
    MOR_INPUT_FORCE,       /* on a body during the step: component 0 to 2 force [N], 3 to 5 torque [N m] */
    MOR_INPUT_JOINT_FORCE, /* on joint `component` of robot `index` [N m, N] */
    MOR_INPUT_FRICTION,    /* coefficient of material `index` */
    MOR_INPUT_RESTITUTION, /* of material `index` */
    MOR_INPUT_MASS,        /* of a body that is no link [kg]; its inertia grows in proportion */
    MOR_INPUT_SIZE,        /* factor (1: as it is) by which the shapes of a body grow about its centre of mass, mass and
                              inertia as they are */
    MOR_INPUT_GRAVITY,     /* component 0 to 2 [m/s^2] */
    MOR_INPUT_KP,          /* gains and target of controller `index`, of joint `component` */
    MOR_INPUT_KI,
    MOR_INPUT_KD,
    MOR_INPUT_TARGET /* [rad, m] */
} mor_input_kind;

typedef struct mor_input {
    mor_input_kind kind; /* what it is */
    int index;           /* body (in body order), robot, material or controller */
    int component;       /* as the kind says */
} mor_input;

/* The derivative of the state after a step (or several), and what is known of it. */
typedef struct mor_derivative {
    int rows;             /* 2 n: the state after the step */
    int columns;          /* 2 n + inputs: the state before it, then the inputs in their order */
    const double* matrix; /* rows x columns, row-major */
    bool differentiable;  /* false: some contact or bound is about to change its state, see `why` */
    char why[192];        /* "": it is differentiable */
    bool unique; /* false: sliding contacts share their load in more than one way, and the motion depends on it;
                             the smallest change of the impulses is taken */
    int open, sticking, sliding; /* contacts of the step, by what they did */
    int weak;                    /* contacts and bounds on the edge between two states */
    double distance;             /* to the nearest change of a contact's state, or of what is done about its overlap
                                    [m/s]; infinite without contacts, NaN where it is not known (exact geometry, ap) */
    double residual;             /* velocity error of the step it is taken of [m/s] */
    bool differences; /* taken by differences of the step, solved on both sides: for impacts with restitution, exact
                         geometry, ap, and joints that are solved for again */
    double smoothed;  /* of a smoothed step: how far its velocities are from those of the step [m/s, rad/s] */
    const double* end_velocities; /* nu after the smoothed step, n numbers; NULL: the step itself is derived */
    bool forces_held; /* forces act that may follow the state, and are taken as constant: those of a scene with `at` or
                         `frame: body`, of MJCF, or of a function of mor_world_on_user */
} mor_derivative;

/* Of the coming step of the world, which is not taken: the world stays as it is. `inputs` may be NULL if count is 0.
 * MOR_BAD_INPUT: a method or an input that has no derivative, with a sentence; MOR_STOPPED: the step cannot be solved;
 * MOR_SYSTEM: out of memory. */
MOR_API mor_code mor_world_derivative(mor_world* world, const mor_input* inputs, int count, mor_derivative** derivative,
                                      mor_error* error);
/* At an edge between two states of contacts: column by column the derivative to one side, the limit of
 * (z+(z + t e) - z+(z))/t for t from above (side 1) or from below (side -1); side 0 is mor_world_derivative. Where no
 * contact is on an edge both are the same. `differentiable` is true if every column has its one-sided derivative. */
MOR_API mor_code mor_world_derivative_sided(mor_world* world, const mor_input* inputs, int count, int side,
                                            mor_derivative** derivative, mor_error* error);
/* Through switches: the derivative of a step whose contact law is smoothed by `smoothing` k [m/s] > 0,
 *
 *     (W p_n) u_n = k^2,    p_t = -mu p_n u_t / sqrt(|u_t|^2 + k^2),
 *
 * at the smoothed step's own answer, which `smoothed` m/s lie between it and the true one. It is the derivative of that
 * function, not of the step: contacts at a distance push a little, those that stick creep. All contacts that were found
 * take part; bounds of joints and the position projection do not. MOR_BAD_INPUT beside the above: formulations st and
 * convex, and steps with an impact or with joints that are solved for again. MOR_STOPPED: the smoothed law could not be
 * solved. Zero: mor_world_derivative. */
MOR_API mor_code mor_world_derivative_smoothed(mor_world* world, const mor_input* inputs, int count, double smoothing,
                                               mor_derivative** derivative, mor_error* error);
MOR_API void mor_derivative_destroy(mor_derivative* derivative); /* NULL is allowed */

/* Takes `steps` steps and gives the derivative of the last state by the first one and by inputs that are constant over
 * all of them: the product of the derivatives of the steps. Counts are sums over the steps, `distance` the smallest,
 * `differentiable` holds for all. Cost: steps times that of one. */
MOR_API mor_code mor_world_derivatives(mor_world* world, int steps, const mor_input* inputs, int count,
                                       mor_derivative** derivative, mor_error* error);

/* Backwards: given the gradient of a number by the state after `steps` steps (2 n), its gradient by the state now (2 n)
 * and by the inputs of every step (steps x count, row-major; NULL: not wanted). Takes the steps; the world ends where
 * they end. States are kept while they fit into 64 MiB, then every second one and so on; the steps between are taken
 * again. `derivative`, if not NULL, gets what is known of the steps, without a matrix. */
MOR_API mor_code mor_world_adjoint(mor_world* world, int steps, const double* gradient, const mor_input* inputs,
                                   int count, double* state_gradient, double* input_gradients,
                                   mor_derivative** derivative, mor_error* error);

#ifdef __cplusplus
}
#endif
#endif
