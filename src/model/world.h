/* The inside of a world: model, state, methods. What one step makes is in model/step.h.
 *
 * Bodies carry geometry and pose; trees carry generalised velocities and mass (docs/notation.md).
 * A free, planar or particle body is a tree of its own; an articulated robot will be one tree with
 * many bodies. Formulations and solvers see trees only. */
#ifndef MOREAU_MODEL_WORLD_H
#define MOREAU_MODEL_WORLD_H

#include "moreau/library.h"
#include "moreau/robot.h"

#include <stddef.h>

struct mor_tree_kind;
struct mor_control;

/* About which velocities the friction with the plane is linearised in this step (model/support_step.c). */
typedef struct mor_support_look {
    bool touched; /* something may act on the body: contacts or joints */
    bool chosen;  /* `at` holds; else the velocities of the start */
    bool upper;   /* by the upper quadratic, else by the tangent */
    int passes;
    uint64_t sticks; /* points, by bits */
    double at[3];
} mor_support_look;

/* What every step reads comes first: many bodies are in few lines of the cache then. */
typedef struct mor_body {
    bool alive;
    bool no_collision;
    bool struck; /* in this step the inertia is that of the start (model/tree.c); not state */
    bool alike;  /* a free body whose inertia is the same about all axes; known from prepare to advance */
    uint32_t generation;
    mor_body_kind kind;
    int shape_count;
    int material;
    int tree;        /* -1: fixed or kinematic */
    int weld;        /* the first of the bodies that welds hold together, -1: the world; of drafts (mor_find_welds) */
    int robot, link; /* robot: index + 1, 0: a body of its own; its link */
    mor_body_shape* shapes;
    uint64_t (*filters)[2]; /* types and affinities of the shapes; NULL: the usual (filters.c) */
    mor_vec3 x;             /* centre of mass, world */
    mor_quat q;
    double angle;  /* 2-D: unbounded rotation about z; q follows it */
    mor_vec3 v, w; /* of the centre of mass; angular, world */
    mor_vec3 L;    /* free bodies: angular momentum about the centre of mass (the state; w follows) */
    mor_mass mass; /* body frame; com is where x is */
    mor_mat3 inertia_inverse;
    mor_vec3 L_free;        /* L + h torque, between prepare and advance; not state, nor is the next */
    mor_quat q_free;        /* where the free motion of the step ends, likewise; unset if `alike` */
    mor_vec3 force, torque; /* for the coming step */
    mor_vec3 surface_velocity;
    mor_motion motion;
    void* motion_user;
    mor_body_support support;
    mor_support_look look; /* of the step, not state (model/support_step.c) */
    mor_vec3 x0;           /* where it was added */
    char name[64];
} mor_body;

/* Bytes from x to L: the motion, which is copied and compared as one. */
#define MOR_BODY_MOTION (offsetof(mor_body, L) + sizeof(mor_vec3) - offsetof(mor_body, x))

/* Has it no velocity at all? */
static inline bool mor_body_is_still(const mor_body* b)
{
    return b->v.x == 0.0 && b->v.y == 0.0 && b->v.z == 0.0 && b->w.x == 0.0 && b->w.y == 0.0 && b->w.z == 0.0;
}

/* A tree instance: how its velocities are made, not what they are. */
typedef struct mor_tree {
    const struct mor_tree_kind* kind;
    int body; /* its body; -1: a robot, whose links are bodies, or the spring of a joint */
    int dof;
    int offset; /* in the step's velocity arrays, set by the assembly */
    struct mor_robot* robot;
    double stiffness, damping; /* of a spring */
    /* of the step: positions move with nu + share (nu+ - nu); 1 unless springs ask for less (formulation/springs.c) */
    double share;
    const double* move; /* of the step: the velocities that positions move with; NULL: those of the end */
    const struct mor_stored_tree* stored; /* of a frame (model/stored.h) */
    double lifted; /* of drafts: energy that moving its island together added in this step [J] (step/close_joints.c) */
    double raised; /* of drafts: what projections lifted its island by, over its kinetic energy (projection_energy.c) */
} mor_tree;

/* What the step must know of a kind of tree. All lengths are dof. */
typedef struct mor_tree_kind {
    const char* name;
    int dof; /* 0: the tree's own */
    /* nu at the start, nu_free, mass block and inverse (row-major) for a step h under gravity and
     * the applied forces. May store midpoint data in the body for `advance`. A kind with `fill` may need the mass
     * block itself: it goes to `mass` or, if that is NULL, to memory of the tree; the inverse is left alone. Free
     * bodies may be asked without them (NULL). */
    void (*prepare)(mor_world* world, const mor_tree* tree, double* nu, double* nu_free, double* mass,
                    double* mass_inverse);
    /* coefficients c such that c . nu = direction . velocity of the body's material point at r from
     * the centre of mass; scaled by sign */
    void (*row)(const mor_tree* tree, const mor_body* body, mor_vec3 r, mor_vec3 direction, double sign, double* c);
    /* the same for direction . angular velocity of the body */
    void (*spin)(const mor_tree* tree, const mor_body* body, mor_vec3 direction, double sign, double* c);
    /* new state from the velocity at the end of the step */
    void (*advance)(mor_world* world, const mor_tree* tree, const double* nu_free, const double* nu,
                    const double* mass);
    /* moves the state by `delta`: positions q (+) delta, or velocities nu + delta */
    void (*correct)(mor_world* world, const mor_tree* tree, const double* delta, bool velocity);
    /* out = c' M^-1; NULL: by the inverse block */
    void (*respond)(const mor_tree* tree, const double* c, double* out);
    /* mass block and, if not NULL, its inverse, for trees with constraints; NULL: `prepare` wrote them. Returns where
     * the block is: in `mass`, or where `prepare` left it, which stays until the tree is prepared so again; NULL:
     * nowhere. `prepared`: what that was given. */
    const double* (*fill)(mor_world* world, const mor_tree* tree, const double* prepared, double* mass,
                          double* inverse);
    /* acceleration, at constant nu, of the velocity of the body's point at r from the centre of mass whose part `arm`
     * keeps its direction instead of turning with the body (round shapes) */
    mor_vec3 (*acceleration)(const mor_tree* tree, const mor_body* body, mor_vec3 r, mor_vec3 arm);
    /* M^-1 times the six rows (velocity of the centre of mass, angular velocity) of a body, out[8 dof + row]; false:
     * not this way. May be NULL. For trees with constraints, after `fill`. */
    bool (*respond6)(const mor_tree* tree, const mor_body* body, double* out);
    /* `row` for three directions at once, dof apart; NULL: one by one */
    void (*rows3)(const mor_tree* tree, const mor_body* body, mor_vec3 r, const mor_vec3 direction[3], double sign,
                  double* c);
} mor_tree_kind;

/* Moves the state by delta, q (+) delta, to undo penetration; returns the change of kinetic energy, which is slight:
 * where keeping the angular momentum (velocities) would change it more, a free body keeps it in its own axes instead,
 * and the velocities of a robot are scaled down. */
double mor_tree_move(mor_world* world, const mor_tree* tree, const double* delta);
/* Whether the velocity change of a free body in this step is too large for the inertia of the middle of its free motion
 * (model/tree.c); not if it is `struck` already. */
bool mor_free_is_struck(const mor_world* world, const mor_tree* tree, const double* nu_free, const double* nu,
                        const double* mass);

/* Does the mass block of this tree stay as it is while the body turns? So it is for free bodies with the same inertia
 * about all axes, as spheres and cubes. M, M_inverse: written then, unless NULL. */
bool mor_free_mass_stays(const mor_world* world, const mor_tree* tree, double* M, double* M_inverse);

extern const mor_tree_kind mor_tree_free, mor_tree_planar, mor_tree_particle, mor_tree_robot, mor_tree_spring;

/* A robot in the world: one tree, one body per link. */
typedef struct mor_robot {
    char name[64];
    mor_robot_model* model;
    mor_robot_work* work; /* at the present state */
    int tree;
    int* bodies; /* link -> slot; -1: a link without a body (articulate.c) */
    mor_pose base;
    double *s, *nu;
    double* tau;                      /* applied joint forces of the coming step, n */
    double* wrenches;                 /* 6 per link, scratch */
    double *force, *extra;            /* scratch: dof, n */
    double *middle, *bias, *jerk;     /* of the step, dof each: velocity at which the velocity products are taken; these
                                         and gravity; scratch (3 dof) */
    double* drag;                     /* damping of joints, n */
    double energy;                    /* of the step: that of its start, and the work of all impulses but gravity's at
                                         the velocity of the end [J] */
    double projected;                 /* of the step: energy that position projections added [J] */
    bool looped;                      /* joints close loops or hold it to other bodies */
    double *gain, *viscous, *coulomb; /* n each, of motors: implicit gain of the coming step, friction beyond the
                                         model's */
    double* memory; /* impulses of limits (lower, upper) and friction of every joint, 3 n, last step */
    bool self_collision, limits, damping, friction, mimic;
    mor_dynamics dynamics;           /* plugged in; update NULL: the model's own */
    double *dense, *mass, *jacobian; /* factor of M and M (N^2 each); plugged in: 6 N scratch */
    bool factored;                   /* both are those of this step, dense as L'DL */
    bool touched;                    /* the step at hand has a contact with one of its links */
} mor_robot;

/* One equation phi = 0 with d(phi)/dt = direction . (velocity of body 0 - velocity of body 1): of their
 * material points at `point`, or of their angular velocities. */
typedef struct mor_joint_row {
    bool spin;
    mor_vec3 direction, point;
    double phi; /* m or rad */
} mor_joint_row;

/* Where the frames of a joint are: axes x, y, z of that on body 1, x of that on body 0, both origins. */
typedef struct mor_joint_axes {
    mor_vec3 a[3], b, origin[2];
} mor_joint_axes;

/* The equations of a joint where its bodies were last looked at (mor_joint_equations_kept). */
typedef struct mor_joint_look {
    int count; /* -1: never */
    mor_pose at[2];
    mor_joint_row rows[6];
    mor_joint_axes axes; /* of joints with a free coordinate */
    bool filled;         /* J has the coefficients of the rows, and none is to be left out (formulation/rows.c) */
    double J[2][36];     /* of both sides, where they are free bodies: rows of six */
} mor_joint_look;

/* Rows of a joint shorter than this times the longest are left out. */
#define MOR_ROW_NULL 1e-7

/* Contacts at rest kept it open in the last step, by less than is tolerated (step/stabilise.c). */
#define MOR_JOINT_STUCK INFINITY

enum {
    MOR_JOINT_ORDERS = 6
}; /* of the differences that are kept: they foretell a correction (formulation/springs.c) */

/* A joint between two bodies in maximal coordinates; also closes loops between links of robots. */
typedef struct mor_joint {
    mor_joint_def def;
    int body[2];          /* slots; -1: the world */
    mor_pose frame[2];    /* joint frame in each body's centre-of-mass frame (body axes); world: in the world */
    double coordinate;    /* of one-dof joints: angle (unwound) or distance */
    double memory[10];    /* impulses of the last step: rows, then limit, motor, friction, spring */
    double correction[6]; /* m/s: what the stabilisation added to the last step's motion (step/stabilise.c) */
    /* backward differences, of order 0 and more, of the corrections up to that of the step before; [0][0] may be
     * MOR_JOINT_STUCK */
    double differences[MOR_JOINT_ORDERS][6];
    int spring;          /* the tree that stands for its spring and damper, -1: none */
    bool apart;          /* it cannot be closed together with others (step/close_joints.c) */
    bool held;           /* of drafts: its island is `wide` in this step (formulation/wide.c) */
    bool articulated;    /* a tree of links holds it: no equations, only motor and spring (articulate.c) */
    mor_joint_look look; /* of drafts only */
} mor_joint;

/* Links of a robot that may touch each other, in either coordinates. */
typedef struct mor_link_group {
    mor_robot_model* model;
    mor_body_id* bodies; /* by link */
    int joints;          /* of the world, when its pairs were looked at last; -1: never */
} mor_link_group;

typedef struct mor_pair_rule {
    int a, b;
    double friction, restitution; /* NaN: by the combining rules */
    double rolling, drilling;     /* NaN likewise */
} mor_pair_rule;

typedef struct mor_method_options {
    int friction_directions;
    int friction_align; /* 0 world-x, 1 slip */
    int sticking;       /* 0 velocity, 1 anchored */
    double v_rest;      /* < 0: auto */
    int on_failure;
    int max_failures; /* warn: so many failed steps in a row end the run; 0: any number */
    int relinearise;
    int rest;                                      /* MOR_REST_... */
    int gap_correction;                            /* MOR_GAP_... */
    double recovery_speed;                         /* m/s and rad/s, of `bounded` */
    double limit;                                  /* m/s: the error of a step that counts as failure */
    int stabilisation;                             /* MOR_STABILISE_... */
    double position_tolerance, velocity_tolerance; /* of joints, impulse stabilisation and projection */
    double gain;                                   /* of Baumgarte's: part of a violation that a step takes away */
    double integrator_tolerance; /* gauss6: bend of the accelerations beyond which a step is halved; 0: any */
    int halvings;                /* how often at most */
} mor_method_options;

enum { MOR_GAP_PROJECTION, MOR_GAP_BOUNDED, MOR_GAP_VELOCITY };
enum { MOR_REST_SKIP, MOR_REST_SOLVE };
enum { MOR_STABILISE_IMPULSE, MOR_STABILISE_BAUMGARTE, MOR_STABILISE_PROJECTION, MOR_STABILISE_NONE };

typedef struct mor_solver_options {
    double tol;
    int max_iter;
    double time_limit;
} mor_solver_options;

/* Variable steps (step/adaptive.c). */
typedef struct mor_adaptive_state {
    bool on;
    mor_adaptive steps;
    double next;          /* two steps as long as the next trial [s] */
    double half;          /* a step that is tried already, 0: none */
    double until;         /* the coming step ends then at the latest [s] */
    int rejected, missed; /* of the last step: trials that were refused; its error is above the tolerance */
} mor_adaptive_state;

/* A growing array that never shrinks: a warm step does not allocate. */
typedef struct mor_buffer {
    void* data;
    int count, capacity;
} mor_buffer;

struct mor_world {
    mor_allocator allocator;
    const mor_library* library;
    int dimension;
    mor_vec3 gravity;
    double h, time;
    int step;
    double time_base; /* time and step number when h was last set */
    int step_base;
    mor_adaptive_state adaptive;

    bool forced;       /* forces have been applied since the last step */
    uint32_t revision; /* counts changes of what the world is made of: a step that began before one is refused */

    mor_body* bodies;
    int body_count, body_capacity; /* slots, dead ones included */
    int* order;                    /* alive slots in the order they were added */
    int* order_of;                 /* slot -> position in order, -1 dead */
    int alive_count;
    mor_tree* trees;
    int tree_count, tree_capacity;
    mor_robot** robots;
    int robot_count, robot_capacity;
    mor_buffer joints;         /* mor_joint */
    struct mor_stored* stored; /* a world made from a frame (model/stored.h), else NULL */
    double start_depth,
        start_work;          /* what the scene overlapped before the first step [m], and what undoing it took [J] */
    uint32_t kinds_seen;     /* revision + 1 of the world whose bodies the next two speak of; 0: none */
    bool kinematic;          /* it has kinematic bodies */
    double smallest_jointed; /* mor_joint_smallest */
    uint32_t joints_seen;    /* revision + 1 of the world whose joints were looked at (step/close_joints.c); 0: never */
    double joint_error;      /* largest |phi| at the end of the last step [m, rad] */

    mor_material* materials;
    int material_count, material_capacity;
    mor_buffer pair_rules; /* mor_pair_rule */
    mor_buffer ignored;    /* uint64_t keys a<b of body slots, sorted */
    mor_buffer groups;     /* mor_link_group */
    mor_buffer left_out;   /* mor_left_out */

    struct mor_control* control; /* motors, sensors, controllers; NULL: none */

    /* collision */
    mor_buffer contacts; /* mor_contact, of the last step, with impulses: the warm start. In the draft of a step: of
                            this step */
    bool detected;       /* the step `last` holds the contacts of the coming step, found at the end of the last one to
                            measure the penetration (mor_step.ahead) */
    double deepest;      /* largest penetration the last detection saw, before psi_min */
    double surprise; /* m/s: pairs are looked for as if bodies were this much faster (step.c); 0 but for one stage */
    void* collision_memory; /* of the method (mor_collision.create); it saves time and changes nothing that is found */

    /* methods */
    const mor_collision* collision;
    const mor_formulation* formulation;
    const mor_solver* solver;
    const mor_integrator* integrator;
    void *collision_options, *formulation_options, *solver_own_options;
    mor_solver_options solver_options;
    mor_method_options options;
    int threads;

    const volatile int* interrupt; /* other than 0: stop the step; may be NULL */

    /* stages replaced by the caller */
    mor_user_stage on_user, on_integrate;
    bool steady; /* forces of on_user do not depend on the state */
    mor_collide_stage on_collide;
    void *on_user_data, *on_collide_data, *on_integrate_data;
    mor_formulation_stage on_solve;
    void* on_solve_data;
    bool watched; /* on_solve only looks on: it calls the formulation's own step */
    struct {
        mor_observer function;
        void* user;
    } observers[8];
    int observer_count;

    char refusal[256]; /* why the step that has begun must not be taken (mor_world_refuse); "": nothing against it */
    int failed_in_row; /* steps, up to the last */
    const mor_formulation* fitting_formulation; /* methods that were found to fit */
    const mor_solver* fitting_solver;
    const mor_collision* fitting_collision;
    struct mor_step* own;        /* the step that mor_world_step works in */
    struct mor_step* last;       /* the step that began last: own, or one of the caller's */
    struct mor_step* derived[3]; /* steps that derivatives look at, made by the first of them (derivative/): the step, a
                                    trial beside it, and the step that follows it when a gradient goes back */
    mor_arena* derivative_room;  /* and their memory */
};

/* Does the caller solve the steps, by a function of its own? */
static inline bool mor_world_own_solve(const mor_world* w) { return w->on_solve && !w->watched; }
/* May it have kinematic bodies? True where nobody has looked since a change. */
static inline bool mor_world_kinematic(const mor_world* w) { return w->kinds_seen != w->revision + 1 || w->kinematic; }

/* Room for `count` elements of `size` bytes; false when out of memory. */
bool mor_buffer_reserve(const mor_allocator* allocator, mor_buffer* buffer, int count, size_t size);
void mor_buffer_free(const mor_allocator* allocator, mor_buffer* buffer);

mor_body* mor_body_at(const mor_world* world, mor_body_id id);
/* Pose of the body frame. */
mor_pose mor_body_pose(const mor_body* body);
/* World pose of one of its shapes. */
mor_pose mor_body_shape_pose(const mor_body* body, int shape);
/* Angular momentum about the centre of mass: the state of free bodies, I w of links. */
mor_vec3 mor_body_spin(const mor_body* body);
/* Velocity of the material point at world position p. */
mor_vec3 mor_body_point_velocity(const mor_body* body, mor_vec3 p);
/* Friction and restitution of two shapes, by rule or pair table, written into a contact. */
void mor_world_combine(const mor_world* world, const mor_body* a, int shape_a, const mor_body* b, int shape_b,
                       mor_contact* contact);
/* Whether materials or pairs have rolling (1) or drilling friction too (2), as mor_formulation.turning. */
int mor_world_turning(const mor_world* world);
/* Does anything bounce in this world? */
bool mor_world_bounces(const mor_world* world);
bool mor_world_ignores(const mor_world* world, int slot_a, int slot_b);
/* Whether the filters of two shapes let them touch. */
bool mor_shapes_meet(const mor_body* a, int shape_a, const mor_body* b, int shape_b);
/* Notes that the links of a robot may touch each other (collision/self_pairs.h); false: out of memory. */
bool mor_world_add_group(mor_world* world, mor_robot_model* model, const mor_body_id* bodies);
void mor_world_free_groups(mor_world* world);
/* Frees bodies, trees, materials and contacts. */
void mor_world_free_model(mor_world* world);
/* Puts a body with mass, state and tree already set into a slot; shapes are copied from the definition. -1: no memory.
 * */
int mor_world_place_body(mor_world* world, const mor_body_def* def, mor_body body);
/* Room for one more tree. */
bool mor_world_reserve_tree(mor_world* world);
/* Writes poses and velocities of the links into their bodies. */
void mor_robot_write_bodies(mor_world* world, const mor_robot* robot);
void mor_robot_free(mor_world* world, mor_robot* robot);
/* A robot with memory of its own and the same model, for the draft of a step; NULL: no memory. */
mor_robot* mor_robot_twin(const mor_robot* robot);
/* State, forces, remembered impulses and kinematics, from a robot to its twin or back. */
void mor_robot_copy(const mor_robot* from, mor_robot* to);
/* What a step changes of it: motion, kinematics, remembered impulses. `hand`: `from` looks at the kinematics of `to`
 * from then on, which saves a copy (mor_robot_hand_state). */
void mor_robot_give_motion(mor_robot* from, mor_robot* to, bool hand);
/* As mor_world_add_robot, but its links are bodies that are there already: link -> slot, -1 for a link without a body.
 * The link of a body has its axes and any origin. Their own trees are left to the caller. */
int mor_world_adopt_robot(mor_world* world, const mor_robot_def* def, const int* bodies, mor_error* error);

#endif
