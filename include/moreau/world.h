/* The world: bodies, materials, contacts, and the step as a walk through replaceable stages.
 *
 *     user function -> collision -> assemble -> formulation (calls the solver) -> integrate -> observers
 *
 *     mor_world_def def = mor_world_def_default();
 *     mor_world* world = mor_world_create(&def, &error);
 *     mor_body_def ball = mor_body_def_default();
 *     ball.shapes = &(mor_body_shape){ sphere, mor_pose_identity(), -1 }; ball.shape_count = 1;
 *     mor_world_add_body(world, &ball, &error);
 *     while (mor_world_time(world) < 1.0) mor_world_step(world, &error);
 *     mor_world_destroy(world); */
#ifndef MOREAU_WORLD_H
#define MOREAU_WORLD_H

#include "moreau/geometry.h"
#include "moreau/robot.h"
#include "moreau/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mor_world mor_world;
typedef struct mor_library mor_library;
struct mor_smooth;

/* A body that may come and go: index + 1 and generation; zero is null. Stale ids are detected. */
typedef struct mor_body_id {
    uint32_t index1, generation;
} mor_body_id;

/* ----------------------------------------------------------------------------- materials */

/* Two materials meet with friction sqrt(mu1 mu2) and restitution max(e1, e2), unless the pair has
 * an entry of its own (mor_world_set_pair). */
typedef struct mor_material {
    char name[64];
    double friction;    /* Coulomb coefficient, default 0.5 */
    double restitution; /* Newton, 0..1, default 0 */
    double density;     /* kg/m^3 (2-D: kg/m^2), default 1000 */
} mor_material;

MOR_API mor_material mor_material_default(void);
/* Index of the new material (0 is the default one, always there). */
MOR_API int mor_world_add_material(mor_world* world, const mor_material* material);
MOR_API mor_code mor_world_set_pair(mor_world* world, int material_a, int material_b, double friction,
                                    double restitution, mor_error* error);
MOR_API const mor_material* mor_world_material(const mor_world* world, int index);

/* -------------------------------------------------------------------------------- bodies */

typedef enum mor_body_kind {
    MOR_DYNAMIC,  /* moves under forces */
    MOR_FIXED,    /* never moves; may have a surface velocity (belt) */
    MOR_KINEMATIC /* moves as told */
} mor_body_kind;

typedef struct mor_body_shape {
    mor_geometry* geometry; /* a reference is taken */
    mor_pose pose;          /* shape frame in the body frame */
    int material;           /* index, or -1 for the body's material */
} mor_body_shape;

/* Tells where a kinematic body is at time t. */
typedef void (*mor_motion)(void* user, double time, mor_pose* pose);

typedef struct mor_body_def {
    char name[64]; /* empty: "body_<n>" */
    mor_body_kind kind;
    const mor_body_shape* shapes;
    int shape_count;
    int material;     /* default 0 */
    double mass;      /* kg; 0: from density and volume of the shapes */
    bool has_inertia; /* use `inertia` (about the centre of mass, body axes) */
    mor_mat3 inertia;
    bool has_com; /* use `com` (body frame) */
    mor_vec3 com;
    mor_pose pose;             /* of the body frame (the shape frame of the scene file) */
    mor_vec3 velocity;         /* of the centre of mass */
    mor_vec3 angular_velocity; /* world axes */
    mor_vec3 surface_velocity; /* world axes: belts */
    bool no_collision;         /* touches nothing */
    mor_motion motion;         /* kinematic bodies with a prescribed path; else they keep their velocity */
    void* motion_user;
} mor_body_def;

MOR_API mor_body_def mor_body_def_default(void);
/* Null id and a sentence on bad input (negative mass, impossible inertia, plane as dynamic body ...).
 * 2-D worlds use x, y and rotation about z. A dynamic body whose only shape is a particle has no
 * rotation. */
MOR_API mor_body_id mor_world_add_body(mor_world* world, const mor_body_def* def, mor_error* error);
MOR_API void mor_world_remove_body(mor_world* world, mor_body_id body);
MOR_API bool mor_body_valid(const mor_world* world, mor_body_id body);
MOR_API mor_body_id mor_world_find_body(const mor_world* world, const char* name);

/* Bodies in the order they were added, removed ones skipped: for loops and output. */
MOR_API int mor_world_body_count(const mor_world* world);
MOR_API mor_body_id mor_world_body(const mor_world* world, int index);
/* Position of the body in that order, the number used in mor_contact and recordings. */
MOR_API int mor_body_index(const mor_world* world, mor_body_id body);

typedef struct mor_body_state {
    mor_pose pose; /* of the body frame */
    mor_vec3 com;
    mor_vec3 velocity; /* of the centre of mass */
    mor_vec3 angular_velocity;
} mor_body_state;

MOR_API mor_body_state mor_body_get_state(const mor_world* world, mor_body_id body);
MOR_API void mor_body_set_state(mor_world* world, mor_body_id body, const mor_body_state* state);
MOR_API const char* mor_body_name(const mor_world* world, mor_body_id body);
MOR_API mor_body_kind mor_body_get_kind(const mor_world* world, mor_body_id body);
MOR_API mor_mass mor_body_mass(const mor_world* world, mor_body_id body); /* com and inertia in the body frame */
MOR_API int mor_body_shape_count(const mor_world* world, mor_body_id body);
MOR_API mor_body_shape mor_body_get_shape(const mor_world* world, mor_body_id body, int index);
MOR_API mor_vec3 mor_body_surface_velocity(const mor_world* world, mor_body_id body);
/* Force [N] at a world point and torque [N m], for the coming step only: call it from the user stage. */
MOR_API void mor_body_apply(mor_world* world, mor_body_id body, mor_vec3 force, mor_vec3 point);
MOR_API void mor_body_apply_torque(mor_world* world, mor_body_id body, mor_vec3 torque);
/* Contacts between the two bodies are not looked for. */
MOR_API void mor_world_ignore_pair(mor_world* world, mor_body_id a, mor_body_id b);

/* -------------------------------------------------------------------------------- robots */

/* A robot in minimal coordinates: its links are bodies named "robot/link" that touch other bodies and
 * each other; its state is the base pose and the joints'. mor_body_set_state on a link does nothing. */
typedef struct mor_robot_def {
    char name[64];
    mor_robot_model* model; /* a reference is taken */
    mor_pose pose;          /* of the base link */
    const double* s;        /* n joint positions; NULL: 0 */
    const double* nu;       /* N velocities; NULL: 0 */
    int material;
    bool collide;                 /* the links' shapes touch other bodies */
    const mor_dynamics* dynamics; /* where M, h, J, Jdot nu and poses come from (copied); NULL: the model itself */
    bool self_collision;          /* and each other, neighbours in the tree excepted */
    bool limits, damping, friction, mimic; /* of the joints, as the model has them */
    const int* materials;                  /* of the shapes of each frame, -1: `material`; NULL: all `material` */
} mor_robot_def;

MOR_API mor_robot_def mor_robot_def_default(void);
/* Its number, or -1 and a sentence. 3-D worlds only; refused if the mass matrix is singular. */
MOR_API int mor_world_add_robot(mor_world* world, const mor_robot_def* def, mor_error* error);
/* The same robot in maximal coordinates: its links become bodies "robot/link", its joints "robot/joint" joints of the
 * world with the model's limits, damping and friction. Not for massless links, mimic joints and reflected inertia:
 * refused with a sentence. There is then no robot of that name, only bodies and joints. */
MOR_API mor_code mor_world_add_linkage(mor_world* world, const mor_robot_def* def, mor_error* error);
MOR_API int mor_world_robot_count(const mor_world* world);
MOR_API int mor_world_find_robot(const mor_world* world, const char* name); /* -1: none */
MOR_API const char* mor_world_robot_name(const mor_world* world, int robot);
MOR_API const mor_robot_model* mor_world_robot_model(const mor_world* world, int robot);
/* Base pose, s (n), nu (N); any may be NULL. */
MOR_API void mor_world_robot_state(const mor_world* world, int robot, mor_pose* base, double* s, double* nu);
MOR_API void mor_world_robot_set_state(mor_world* world, int robot, const mor_pose* base, const double* s,
                                       const double* nu);
/* Adds joint forces (n) [N m, N] for the coming step only: call it from the user stage. */
MOR_API void mor_world_robot_apply(mor_world* world, int robot, const double* tau);
MOR_API mor_body_id mor_world_robot_link(const mor_world* world, int robot, int link);

/* -------------------------------------------------------------------------------- joints */

typedef enum mor_joint_kind {
    MOR_JOINT_FIXED,
    MOR_JOINT_REVOLUTE,    /* turns about the axis */
    MOR_JOINT_PRISMATIC,   /* slides along the axis */
    MOR_JOINT_CYLINDRICAL, /* both */
    MOR_JOINT_SPHERICAL,
    MOR_JOINT_UNIVERSAL, /* turns about `axis` of body 0 and `axis2` of body 1 */
    MOR_JOINT_PLANAR,    /* slides across the axis and turns about it */
    MOR_JOINT_DISTANCE,  /* keeps the distance of two points */
    MOR_JOINT_FREE,      /* no equations: the two bodies move as they like, and do not touch each other */
    MOR_JOINT_KINDS
} mor_joint_kind;

/* A joint as equations between two bodies (or links of robots: a loop), or a body and the world. The two bodies
 * do not touch each other. */
typedef struct mor_joint_def {
    char name[64];
    mor_joint_kind kind;
    mor_body_id body[2];    /* a null id is the world */
    mor_vec3 point[2];      /* world, now: where the joint is on each body; the same point but for distances */
    mor_vec3 axis, axis2;   /* world, now */
    double length;          /* distance; < 0: as it is now */
    double lower, upper;    /* of the angle or the displacement, 0 now; infinite: none (revolute, prismatic) */
    double damping;         /* N m s/rad, N s/m (revolute, prismatic) */
    double friction;        /* Coulomb, N m or N */
    double stiffness, rest; /* spring, N m/rad or N/m */
    bool motor;             /* drives the joint at motor_speed with at most motor_force */
    double motor_speed, motor_force;
    /* `rotation` holds the joint frames on body 0 and 1 (world, now), z along the axis, instead of axis and
     * axis2: the joint brings them together, and its coordinate is 0 where they agree */
    bool framed;
    mor_quat rotation[2];
} mor_joint_def;

MOR_API mor_joint_def mor_joint_def_default(void);
MOR_API const char* mor_joint_kind_name(mor_joint_kind kind);
/* Its number, or -1 and a sentence. 3-D worlds only. */
MOR_API int mor_world_add_joint(mor_world* world, const mor_joint_def* def, mor_error* error);
/* Minimal coordinates instead: bodies that revolute, prismatic, cylindrical, universal and planar joints connect become
 * the links of robots, named after their first body, whose joints cannot come apart. Bodies stay where they are, with
 * their names; limits, damping, friction, motors and springs stay. Joints of other kinds and those that close a loop
 * remain equations. Before the first step; returns how many joints went into trees, -1 and a sentence on failure (then
 * the world is of no use). */
MOR_API int mor_world_articulate(mor_world* world, mor_error* error);
MOR_API int mor_world_joint_count(const mor_world* world);
MOR_API const mor_joint_def* mor_world_joint(const mor_world* world, int joint);
/* Angle or displacement of a revolute or prismatic joint, 0 when it was added. */
MOR_API double mor_world_joint_position(const mor_world* world, int joint);
/* Largest violation of a joint now: the norm of its equations [m, rad]. */
MOR_API double mor_world_joint_error(const mor_world* world);
/* Largest rate of a joint now: the norm of the rates of its equations [m/s, rad/s]. */
MOR_API double mor_world_joint_rate(const mor_world* world);

/* Forces of a joint's equations now (6 numbers, unused ones 0): the multipliers lambda of M nu' = f + G lambda with the
 * rows as in docs/methods/integrators.md. All joints at once: 6 numbers each. Nothing moves; applied forces of the
 * coming step count, contacts, limits, motors and dry friction do not. */
MOR_API mor_code mor_world_joint_forces(mor_world* world, double* forces, mor_error* error);

/* The equations of all joints (mimic included) as they are now, how many of them are independent, and the degrees of
 * freedom that are left. rank < equations: some joints say the same twice; the motion is unique, the forces are not.
 * Works between steps. -1: rank and freedom of too many loops to count; all three: out of memory. */
typedef struct mor_joint_rank {
    int equations, rank, freedom;
} mor_joint_rank;
MOR_API mor_joint_rank mor_world_joint_rank(mor_world* world);

/* Moves bodies and robots until all joints are closed (1e-12), velocities untouched; at most 200 rounds. Returns
 * what is left of mor_world_joint_error. */
MOR_API double mor_world_assemble(mor_world* world);

/* ------------------------------------------------------------------------------ contacts */

/* A contact, as found by the collision stage; impulses are filled by the step. */
typedef struct mor_contact {
    int body[2];       /* indices in body order; normal points from body[0] to body[1] */
    int shape[2];      /* index of the shape within each body */
    mor_vec3 point[2]; /* on each body, world */
    mor_vec3 normal;   /* unit */
    double gap;        /* signed: positive apart, negative in penetration [m] */
    uint64_t feature;  /* the same features in the next step give the same number */
    int group, plane;  /* exact geometry: alternatives of one disjunction; 0 for ordinary contacts */
    bool held;         /* exact geometry: the pair is left on this plane at the end of the step (as found: of the last
                           step) */
    double friction, restitution;
    mor_vec3 surface_velocity; /* of body[1]'s surface relative to body[0]'s, beyond rigid motion */
    mor_vec3 impulse;          /* total on body[1], world [N s]; 0 before the solve */
    double normal_impulse;
    bool anchored;      /* sticking: anchored: it stuck in the last step, and since where `anchor` says */
    mor_vec3 anchor[2]; /* the point where it stuck, from each body's centre of mass in body axes */
} mor_contact;

/* Contacts of the last step, sorted by bodies, shapes and feature. Valid until the next step. */
MOR_API const mor_contact* mor_world_contacts(const mor_world* world, int* count);
/* For custom collision stages: adds a contact (body, shape, point, normal, gap, feature). Friction and
 * restitution are filled from the materials unless given (>= 0). */
MOR_API void mor_world_add_contact(mor_world* world, const mor_contact* contact);

/* ------------------------------------------------------------------- the assembled system */

/* One contact for a formulation. Its rows are (n,t,o), 2-D: (n,t). */
typedef struct mor_contact_row {
    int contact; /* index in mor_world_contacts */
    int block;   /* index in the system's blocks */
    double gap, friction, restitution;
    double epsilon;  /* AP: the contact counts as active when gap < epsilon */
    double approach; /* w = G_n' nu + d(psi)/dt at the start of the step [m/s] */
    double drift[3]; /* d(psi)/dt and d(psi_f)/dt: belts and kinematic bodies [m/s] */
    double guess[3]; /* impulses of the last step, rows of this block */
    int group, plane;
    bool held;              /* its plane was the pair's at the end of the last step */
    double old_gap;         /* of the same contact at the start of the last step; infinite: it was not reported */
    double acceleration[3]; /* d/dt(G)' nu of the rows [m/s^2]; only for formulations that ask for it */
    double centripetal[3];  /* its part w x (w x r), which differs from point to point of a body beyond rigid motion */
} mor_contact_row;

/* Everything a formulation may know of one island for one step (MATH: M, G, psi, mu, e, nu, nu_free, h). */
typedef struct mor_system {
    double h, time;
    mor_vec3 gravity;
    int dimension;
    double v_rest;  /* restitution acts above this approach speed [m/s] */
    int directions; /* corners of the friction polygon for pyramids */
    int tree_count, dof;
    const mor_tree_block* trees;
    const double* nu;      /* start of the step */
    const double* nu_free; /* what the step would give without constraints */
    int contact_count;
    const mor_contact_row* contacts;
    int block_count, row_count;
    const mor_block* blocks; /* friction set left as a circular cone: the formulation chooses */
    const mor_entry* entries;
    const double* jacobian;
    const double* response;
    const double* diagonal;
    const int* diagonal_start;
    const mor_world* world; /* for formulations that look at the geometry; may be NULL in systems made by hand */
    const double* bias; /* row_count: of equations and bounded rows; 0 for contacts, whose terms the formulation adds */
} mor_system;

/* What a formulation gives back: velocities at the end of the step and row impulses. */
typedef struct mor_answer {
    double* nu;       /* dof; nu_free on entry */
    double* impulses; /* row_count; the guess on entry */
    bool* held;       /* contact_count; false on entry. Exact geometry: rows of the plane each pair is left on */
} mor_answer;

/* Handed to a formulation: runs the chosen solver on a problem, times, traces and judges it. z: guess
 * on entry if `warm`. */
typedef struct mor_solve_stage {
    mor_report (*solve)(struct mor_solve_stage* stage, const mor_problem* problem, bool warm, double* z);
    mor_arena* arena; /* scratch of this island */
    void* user;
    double coarse; /* a larger tolerance for solves that are only looked at; 0: the solver's own */
} mor_solve_stage;

typedef struct mor_formulation {
    const char* name;
    const char* summary;
    const char* reference;
    uint32_t produces; /* mor_form bits it may hand to a solver; 0: it solves by itself */
    size_t options_size;
    const mor_field* fields;
    mor_report (*step)(const mor_system* system, const void* options, mor_solve_stage* stage, mor_answer* answer);
    int groups; /* what `features` shall give it: 0 the papers' contacts by vertex, 1 separating planes by pair */
    /* Called after the integration, may move the bodies, never their velocities. Returns the deepest penetration it
     * found before; adds the potential energy it put in to *work. May be NULL. */
    double (*project)(mor_world* world, const void* options, double* work);
    bool mass_inverse;  /* it reads mass_inverse of the trees, which large and articulated ones do not have otherwise */
    bool accelerations; /* it reads mor_contact_row.acceleration */
    /* True: positions are advanced by the velocities of the start of the step (explicit Euler). May be NULL: by those
     * of the end. */
    bool (*explicit_positions)(const void* options);
} mor_formulation;

/* Copies the geometry of the system into a STEP problem with the given bias (row_count); circular
 * cones if directions is 0. Blocks are copied to the arena so that the caller may change them. */
MOR_API mor_problem mor_system_problem(const mor_system* system, int directions, const double* bias, mor_arena* arena,
                                       mor_block** blocks);
/* nu = nu_free + M^-1 G p */
MOR_API void mor_system_velocity(const mor_system* system, const double* impulses, double* nu);

/* ----------------------------------------------------------------------------- collision */

/* One point of a manifold between shape a and shape b (A's frame first): normal from a to b. */
typedef struct mor_point {
    mor_vec3 on_a, on_b, normal; /* world */
    double gap;
    uint32_t feature; /* unique within the shape pair, stable from step to step */
    int group, plane;
    bool corner; /* no face and no edge pair realises this distance: corners or parallel edges are nearest, and the
                    shapes may pass each other (see collision/detect.c) */
} mor_point;

#define MOR_MAX_POINTS 64 /* points one pair test may return */

/* Finds contacts between two placed shapes nearer than `reach`. Returns the number of points
 * written (at most MOR_MAX_POINTS). `cache` (16 bytes kept with the pair) may only speed it up. */
typedef int (*mor_pair_test)(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                             const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points);

typedef struct mor_collision_options {
    double epsilon; /* contacts nearer than this are reported [m] */
    int reach;      /* 0 swept, 1 fixed */
    int activation; /* 0 feature, 1 body */
    double psi_min; /* deeper contacts are ignored [m] */
} mor_collision_options;

/* A collision method: fills the world's contacts. `manifold` walks the broad phase and the pair table. */
typedef struct mor_collision {
    const char* name;
    const char* summary;
    const char* reference;
    size_t options_size;
    const mor_field* fields; /* begins with mor_collision_options */
    void (*detect)(mor_world* world, const void* options);
    bool planes; /* it gives the separating planes of pairs to formulations that ask for them (mor_formulation.groups) */
} mor_collision;

/* --------------------------------------------------------------------------- integrators */

/* How trees move in a step in which nothing one-sided acts on them (no contact, limit, motor or dry friction); the
 * others take the semi-implicit step through the formulation. */
typedef struct mor_integrator {
    const char* name;
    const char* summary;
    const char* reference;
    int order;
    bool (*advance)(struct mor_smooth* motion, double h); /* NULL: the semi-implicit step */
} mor_integrator;
/* i-th integrator, NULL past the end. */
MOR_API const mor_integrator* mor_integrator_at(int i);

/* ------------------------------------------------------------------------------- methods */

typedef enum mor_on_failure { MOR_STOP, MOR_WARN, MOR_RETRY } mor_on_failure;

typedef struct mor_world_def {
    int dimension;              /* 3 or 2 */
    mor_vec3 gravity;           /* (0,0,-9.81); 2-D: (0,-9.81) */
    double step;                /* h [s], 0.01 */
    int threads;                /* islands are solved by this many threads; the answer does not depend on it */
    const mor_library* library; /* NULL: the built-in methods */
    mor_allocator allocator;
} mor_world_def;

MOR_API mor_world_def mor_world_def_default(void);
MOR_API mor_world* mor_world_create(const mor_world_def* def, mor_error* error);
MOR_API void mor_world_destroy(mor_world* world);

/* Chooses a method by name. `stage`: "formulation", "solver", "collision", "integrator",
 * "stabilisation". Unknown names are bad input with "did you mean". */
MOR_API mor_code mor_world_set_method(mor_world* world, const char* stage, const char* name, mor_error* error);
/* Sets an option of the chosen method, e.g. ("solver", "tol", "1e-10"); stage "method" holds the
 * world's own: friction_directions, friction_align, v_rest, on_failure, relinearise. */
MOR_API mor_code mor_world_set_option(mor_world* world, const char* stage, const char* option, const char* value,
                                      mor_error* error);
MOR_API const char* mor_world_method(const mor_world* world, const char* stage);
/* Whether the chosen solver takes a problem that the chosen formulation makes: MOR_OK, or a sentence that names solvers
 * which do. A step with a pair that does not fit ends as refused. */
MOR_API mor_code mor_world_check_methods(const mor_world* world, mor_error* error);
/* The world's own options, for documentation and the scene parser. */
MOR_API const mor_field* mor_world_fields(void);
/* tol, max_iter and time_limit: options of every solver in a world. */
MOR_API const mor_field* mor_world_solver_fields(void);
/* tol and halvings: options of the integrators. */
MOR_API const mor_field* mor_world_integrator_fields(void);
/* Options of a stabilisation of joints (impulse, baumgarte, projection, none); NULL: there is none of that name. */
MOR_API const mor_field* mor_world_stabilisation_fields(const char* name);

/* --------------------------------------------------------------------------------- steps */

/* Stage times of one step [s], monotonic clock. */
typedef struct mor_timing {
    double total, user, collision, assemble, formulate, solve, integrate, record;
} mor_timing;

typedef struct mor_step_report {
    int step;                            /* number of the step, from 1 */
    double time;                         /* at its end */
    mor_status status;                   /* the worst of its islands */
    int failures;                        /* islands whose solve missed its tolerance */
    int islands, contacts, problem_size; /* size: rows of the largest island's problem */
    int iterations;                      /* largest over islands */
    double residual;                     /* largest relative residual */
    double velocity_error;               /* largest, m/s */
    double penetration;                  /* deepest at the end of the step, measured by the collision geometry */
    double raw_penetration;              /* the same before a position projection; equal if there is none */
    double projection_work;              /* potential energy the projection added in this step [J] */
    double correction_work, contact_work, applied_work; /* J in this step (docs/notation.md) */
    double kinetic, potential;                          /* J at the end of the step */
    int smooth, reduced; /* groups of trees that took the chosen integrator; that took the semi-implicit step instead */
    int halvings, rescued,
        sweeps; /* of the integrator: parts that were refused and halved; parts of an implicit one that
                                      rk4 took because the iteration failed (near a position in which equations lose
                                      rank); iterations in all */
    char detail[192];
    mor_timing timing;
} mor_step_report;

/* One step of length h. MOR_OK also when a solver fails and on_failure is warn; with stop (default)
 * the state stays as before the step and MOR_OK is returned with report.status not solved: the
 * caller decides. MOR_SYSTEM: out of memory. `report` may be NULL. */
MOR_API mor_code mor_world_step(mor_world* world, mor_step_report* report, mor_error* error);

/* The stages, callable alone, in this order. mor_world_step calls these. */
MOR_API void mor_stage_user(mor_world* world);
MOR_API void mor_stage_collide(mor_world* world);
MOR_API void mor_stage_control(mor_world* world); /* controllers and motors: joint forces of the step (control.h) */
MOR_API void mor_stage_assemble(mor_world* world);
MOR_API mor_status mor_stage_solve(mor_world* world);
MOR_API void mor_stage_integrate(mor_world* world);
/* After mor_stage_assemble: the systems of the step, one per island with constraints. */
MOR_API int mor_world_island_count(const mor_world* world);
MOR_API const mor_system* mor_world_system(const mor_world* world, int island);

/* Replaces a stage for this world; NULL restores the built-in one. */
typedef void (*mor_user_stage)(void* user, mor_world* world);
typedef mor_report (*mor_formulation_stage)(void* user, const mor_system* system, mor_solve_stage* stage,
                                            mor_answer* answer);
MOR_API void mor_world_on_user(mor_world* world, mor_user_stage function, void* user);
MOR_API void mor_world_on_collide(mor_world* world, mor_user_stage function, void* user);
MOR_API void mor_world_on_solve(mor_world* world, mor_formulation_stage function, void* user);
MOR_API void mor_world_on_integrate(mor_world* world, mor_user_stage function, void* user);
/* Called after every step, in the order added; at most 8. */
typedef void (*mor_observer)(void* user, const mor_world* world, const mor_step_report* report);
MOR_API mor_code mor_world_add_observer(mor_world* world, mor_observer function, void* user, mor_error* error);

MOR_API double mor_world_time(const mor_world* world);
MOR_API int mor_world_step_count(const mor_world* world);
MOR_API double mor_world_get_step(const mor_world* world);
MOR_API void mor_world_set_step(mor_world* world, double h);
MOR_API int mor_world_dimension(const mor_world* world);
MOR_API mor_vec3 mor_world_gravity(const mor_world* world);
MOR_API void mor_world_set_gravity(mor_world* world, mor_vec3 gravity);
MOR_API const mor_library* mor_world_library(const mor_world* world);

/* ------------------------------------------------------------------------------ measures */

MOR_API double mor_world_kinetic_energy(const mor_world* world);
MOR_API double mor_world_potential_energy(const mor_world* world); /* of gravity and the springs of joints */
/* Linear momentum, then angular momentum about the origin, of the dynamic bodies. */
MOR_API void mor_world_momentum(const mor_world* world, double momentum[6]);
/* Deepest penetration now, from the collision geometry [m], 0 if none. */
MOR_API double mor_world_penetration(const mor_world* world);
/* 64-bit hash of all positions and velocities, bit for bit. */
MOR_API uint64_t mor_world_hash(const mor_world* world);

/* A snapshot restores a run bit for bit, warm start included, in a world with the same bodies and
 * methods. With buffer NULL returns the size needed; otherwise the size written, 0 if it does not fit. */
MOR_API size_t mor_world_save(const mor_world* world, void* buffer, size_t size);
MOR_API mor_code mor_world_restore(mor_world* world, const void* buffer, size_t size, mor_error* error);

#ifdef __cplusplus
}
#endif
#endif
