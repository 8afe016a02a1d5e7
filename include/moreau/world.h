/* The world: bodies, materials, contacts, and the step as a walk through replaceable stages.
 *
 *     user -> collide -> control -> assemble -> solve -> integrate -> stabilise -> sense -> measure -> commit
 *
 *     mor_error error = { 0 };
 *     mor_world_def def = mor_world_def_default();
 *     mor_world* world = mor_world_create(&def, &error);
 *     mor_geometry* sphere = mor_geometry_sphere(0.5, &error);
 *     mor_body_def ball = mor_body_def_default();
 *     ball.shapes = &(mor_body_shape){ sphere, mor_pose_identity(), -1 }, ball.shape_count = 1;
 *     mor_body_id id = mor_world_add_body(world, &ball, &error);
 *     mor_geometry_release(sphere); // the body has a reference of its own
 *     while (mor_world_time(world) < 1.0)
 *         if (mor_world_step(world, NULL, &error) != MOR_OK) break;
 *     printf("%g m\n", mor_body_get_state(world, id).com.z);
 *     mor_world_destroy(world);
 *
 * Threads: a world belongs to one thread at a time. Different worlds may be stepped by different threads at once; what
 * they share (geometries, robot models, libraries, scenes) must then not be made or released meanwhile. With
 * def.threads > 1 a world has workers of its own: they run the `step` of formulations, the `solve` of solvers and a
 * function of mor_world_on_solve, one call per island, several at once. All other callbacks (user, collision and
 * integration stages, motions, controllers, observers, bus, pair tests) run on the thread that steps the world.
 * Ownership: what is added is copied, geometries and robot models get one more reference; functions, their `user`
 * pointers and the library must outlive the world. Pointers that a world gives belong to it.
 * Failure: ids and numbers that are not there are the caller's mistake (an assert) unless a comment says otherwise.
 * ABI: the world is opaque; start definition structs from their *_default function, for they may grow. */
#ifndef MOREAU_WORLD_H
#define MOREAU_WORLD_H

#include "moreau/geometry.h"
#include "moreau/robot.h"
#include "moreau/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mor_world mor_world;
typedef struct mor_step mor_step;
typedef struct mor_found mor_found;
typedef struct mor_library mor_library;
struct mor_smooth;

/* A body that may come and go: index + 1 and generation; zero is null. Stale ids are detected. */
typedef struct mor_body_id {
    uint32_t index1, generation; /* place + 1 in the world; how often that place was used before */
} mor_body_id;

/* ----------------------------------------------------------------------------- materials */

/* Two materials meet with friction sqrt(mu1 mu2), restitution max(e1, e2) and the larger rolling and drilling friction,
 * unless the pair has an entry of its own (mor_world_set_pair, mor_world_set_pair_turning). */
typedef struct mor_material {
    char name[64];      /* for files and messages; may be empty */
    double friction;    /* Coulomb coefficient, default 0.5 */
    double restitution; /* coefficient e, 0..1, default 0 */
    double density;     /* kg/m^3 (2-D: kg/m^2), default 1000 */
    int impact;         /* impact law, a number of mor_impact_law_at; 0: reflections, the default */
    double rolling;     /* rolling friction [m]: the moment against rolling is at most this times the normal force */
    double drilling;    /* drilling friction [m], 3-D: the same for the spin about the normal; both 0 by default */
    double tangential;  /* restitution of slip, 0..1, for the impact law `tangential`; default 0 */
} mor_material;

/* A law of impact: what e means where contacts close (docs/methods/impact.md). Two materials meet with the law of the
 * one whose restitution is larger; of two with the same, the law with the larger number. */
typedef struct mor_impact_law mor_impact_law;
/* i-th law, NULL past the end. */
MOR_API const mor_impact_law* mor_impact_law_at(int i);
/* Its number by name, -1: there is none of that name. */
MOR_API int mor_impact_law_index(const char* name);
/* The word in scenes. */
MOR_API const char* mor_impact_law_name(const mor_impact_law* law);
/* What it says, one line. */
MOR_API const char* mor_impact_law_summary(const mor_impact_law* law);
/* Key into docs/references.bib. */
MOR_API const char* mor_impact_law_reference(const mor_impact_law* law);

/* The defaults named above, without name. */
MOR_API mor_material mor_material_default(void);
/* Index of the new material (0 is the default one, always there); -1: out of memory. */
MOR_API int mor_world_add_material(mor_world* world, const mor_material* material);
/* Friction and restitution of two materials on each other, in either order. Bad input: no such material, friction
 * below 0, restitution outside 0..1. */
MOR_API mor_code mor_world_set_pair(mor_world* world, int material_a, int material_b, double friction,
                                    double restitution, mor_error* error);
/* Rolling and drilling friction [m] of two materials on each other, in either order. Bad input: no such material, a
 * coefficient below 0 or not finite. Without a call of mor_world_set_pair friction and restitution stay those of the
 * combining rules. */
MOR_API mor_code mor_world_set_pair_turning(mor_world* world, int material_a, int material_b, double rolling,
                                            double drilling, mor_error* error);
/* The material of that index, NULL if there is none. */
MOR_API const mor_material* mor_world_material(const mor_world* world, int index);

/* -------------------------------------------------------------------------------- bodies */

/* How a body moves. */
typedef enum mor_body_kind {
    MOR_DYNAMIC,  /* moves under forces */
    MOR_FIXED,    /* never moves; may have a surface velocity (belt) */
    MOR_KINEMATIC /* moves as told */
} mor_body_kind;

/* A shape of a body. */
typedef struct mor_body_shape {
    mor_geometry* geometry; /* a reference is taken */
    mor_pose pose;          /* shape frame in the body frame */
    int material;           /* index, or -1 for the body's material */
} mor_body_shape;

/* Tells where a kinematic body is at time t [s]; on the thread that steps the world. */
typedef void (*mor_motion)(void* user, double time, mor_pose* pose);

/* A body that is to be added. */
/* What a planar body lies on: friction with the plane of a 2-D world, from points that carry the weight in equal parts:
 * three on a circle (tripod), or many on a disc. Friction 0, the default: none. */
typedef struct mor_body_support {
    double friction; /* coefficient */
    double radius;   /* of the circle or disc about the centre of mass [m] */
    bool area;       /* false: three points, the first on the body's x axis */
    double gravity;  /* that presses it on the plane [m/s^2] */
} mor_body_support;

typedef struct mor_body_def {
    char name[64];                /* empty: "body_<n>" */
    mor_body_kind kind;           /* default dynamic */
    const mor_body_shape* shapes; /* shape_count of them, copied */
    int shape_count;              /* a dynamic body without shapes needs mass and inertia */
    int material;                 /* default 0 */
    double mass;                  /* kg; 0: from density and volume of the shapes */
    bool has_inertia;             /* use `inertia` (about the centre of mass, body axes) */
    mor_mat3 inertia;             /* [kg m^2] */
    bool has_com;                 /* use `com` (body frame) */
    mor_vec3 com;                 /* [m] */
    mor_pose pose;                /* of the body frame (the shape frame of the scene file) */
    mor_vec3 velocity;            /* of the centre of mass [m/s] */
    mor_vec3 angular_velocity;    /* world axes [rad/s] */
    mor_vec3 surface_velocity;    /* world axes: belts [m/s] */
    bool no_collision;            /* touches nothing */
    mor_motion motion;            /* kinematic bodies with a prescribed path; else they keep their velocity */
    void* motion_user;            /* handed to `motion` */
    mor_body_support support;     /* 2-D: friction with the plane it lies on */
} mor_body_def;

/* A dynamic body at the origin, at rest, without shapes. */
MOR_API mor_body_def mor_body_def_default(void);
/* Adds a body. Null id and a sentence on bad input (negative mass, impossible inertia, plane as dynamic body ...).
 * 2-D worlds use x, y and rotation about z. A dynamic body whose only shape is a particle has no
 * rotation. */
MOR_API mor_body_id mor_world_add_body(mor_world* world, const mor_body_def* def, mor_error* error);
/* Removes a body with its joints; its id becomes stale. Not for links of robots. */
MOR_API void mor_world_remove_body(mor_world* world, mor_body_id body);
/* Whether the id names a body that is there. */
MOR_API bool mor_body_valid(const mor_world* world, mor_body_id body);
/* The first body of that name, or the null id. */
MOR_API mor_body_id mor_world_find_body(const mor_world* world, const char* name);

/* Number of bodies, links of robots included; they are in the order they were added, removed ones skipped. */
MOR_API int mor_world_body_count(const mor_world* world);
/* The body at a place in that order. */
MOR_API mor_body_id mor_world_body(const mor_world* world, int index);
/* Position of the body in that order, the number used in mor_contact and recordings. */
MOR_API int mor_body_index(const mor_world* world, mor_body_id body);

/* Where a body is and how it moves, in the world. */
typedef struct mor_body_state {
    mor_pose pose;             /* of the body frame */
    mor_vec3 com;              /* the centre of mass [m]; not read by mor_body_set_state */
    mor_vec3 velocity;         /* of the centre of mass [m/s] */
    mor_vec3 angular_velocity; /* [rad/s] */
} mor_body_state;

/* The state now, between steps that at the end of the last one. */
MOR_API mor_body_state mor_body_get_state(const mor_world* world, mor_body_id body);
/* Puts a body somewhere else. Between steps, or from the user stage. No effect on links of robots. */
MOR_API void mor_body_set_state(mor_world* world, mor_body_id body, const mor_body_state* state);
/* Its name; valid until bodies are added or removed. */
MOR_API const char* mor_body_name(const mor_world* world, mor_body_id body);
/* Dynamic, fixed or kinematic. */
MOR_API mor_body_kind mor_body_get_kind(const mor_world* world, mor_body_id body);
MOR_API mor_mass mor_body_mass(const mor_world* world, mor_body_id body); /* com and inertia in the body frame */
/* Changes the mass [kg] of a dynamic body; its inertia changes in proportion, its velocities stay. Between steps. Bad
 * input: a mass out of range, a body that is fixed, kinematic or a link of a robot. */
MOR_API mor_code mor_body_set_mass(mor_world* world, mor_body_id body, double mass, mor_error* error);
/* Number of shapes. */
MOR_API int mor_body_shape_count(const mor_world* world, mor_body_id body);
/* A shape of the body; its geometry belongs to the body (no reference is taken). */
MOR_API mor_body_shape mor_body_get_shape(const mor_world* world, mor_body_id body, int index);
/* Velocity of its surface relative to it, world axes [m/s]: belts. */
MOR_API mor_vec3 mor_body_surface_velocity(const mor_world* world, mor_body_id body);
/* Adds a force [N] at a world point, for the coming step only: call it from the user function, which is asked again for
 * every attempt of a step, or before the step. */
MOR_API void mor_body_apply(mor_world* world, mor_body_id body, mor_vec3 force, mor_vec3 point);
/* Adds a torque [N m], world axes, as above. */
MOR_API void mor_body_apply_torque(mor_world* world, mor_body_id body, mor_vec3 torque);
/* Contacts between the two bodies are not looked for. MOR_SYSTEM: out of memory, and nothing has changed. */
MOR_API mor_code mor_world_ignore_pair(mor_world* world, mor_body_id a, mor_body_id b);
/* Which shapes touch: two of different bodies do if the types of one and the affinities of the other have a bit in
 * common. Shapes that this was not called for have the lower 32 bits of both. MOR_SYSTEM: out of memory. */
MOR_API mor_code mor_world_filter_shape(mor_world* world, mor_body_id body, int shape, uint64_t types,
                                        uint64_t affinities, mor_error* error);
/* Whether a collision method has to look at two shapes: they are of different bodies of which one can move, and neither
 * mor_world_ignore_pair, no_collision and the filters nor the rules for links of one robot keep them apart. */
MOR_API bool mor_world_may_touch(const mor_world* world, mor_body_id a, int shape_a, mor_body_id b, int shape_b);
/* Gives a shape a material of its own (index). MOR_BAD_INPUT when there is none of that number. */
MOR_API mor_code mor_world_set_shape_material(mor_world* world, mor_body_id body, int shape, int material,
                                              mor_error* error);

/* -------------------------------------------------------------------------------- robots */

/* A robot in minimal coordinates: its links are bodies named "robot/link" that touch other bodies and
 * each other; its state is the base pose and the joints'. mor_body_set_state on a link does nothing. */
typedef struct mor_robot_def {
    char name[64];                /* empty: the model's */
    mor_robot_model* model;       /* a reference is taken */
    mor_pose pose;                /* of the base link */
    const double* s;              /* n joint positions; NULL: 0 */
    const double* nu;             /* N velocities; NULL: 0 */
    int material;                 /* of its shapes, index */
    bool collide;                 /* the links' shapes touch other bodies */
    const mor_dynamics* dynamics; /* where M, h, J, Jdot nu and poses come from (copied); NULL: the model itself */
    bool self_collision;          /* and each other, but for the pairs of mor_world_left_out */
    bool limits, damping, friction, mimic; /* of the joints, as the model has them */
    bool all_pairs;       /* with self_collision: no two links are left out but those of mor_world_ignore_pair */
    const int* materials; /* of the shapes of each frame, -1: `material`; NULL: all `material` */
} mor_robot_def;

/* Two links of one robot that cannot touch each other although `self_collision` is on: neighbours, at most two joints
 * apart along the tree and through loops, or links that overlap with all joints at 0 (at the middle of their limits
 * where these exclude 0). */
typedef struct mor_left_out {
    mor_body_id body[2]; /* of the links */
    double depth;        /* how deep they overlap in that position [m]; 0: they are neighbours */
} mor_left_out;

/* At the origin, touches others and not itself; limits, damping, friction and mimic as the model has them. */
MOR_API mor_robot_def mor_robot_def_default(void);
/* Adds a robot. Its number, or -1 and a sentence. 3-D worlds only; refused if the mass matrix is singular. */
MOR_API int mor_world_add_robot(mor_world* world, const mor_robot_def* def, mor_error* error);
/* The same robot in maximal coordinates: its links become bodies "robot/link", its joints "robot/joint" joints of the
 * world with the model's limits, damping and friction. Not for massless links, mimic joints and reflected inertia:
 * refused with a sentence. There is then no robot of that name, only bodies and joints. */
MOR_API mor_code mor_world_add_linkage(mor_world* world, const mor_robot_def* def, mor_error* error);
/* Number of robots. */
MOR_API int mor_world_robot_count(const mor_world* world);
MOR_API int mor_world_find_robot(const mor_world* world, const char* name); /* -1: none */
/* Its name. */
MOR_API const char* mor_world_robot_name(const mor_world* world, int robot);
/* Its model; lives as long as the world. */
MOR_API const mor_robot_model* mor_world_robot_model(const mor_world* world, int robot);
/* Writes base pose, s (n) [rad, m], nu (N); any may be NULL. */
MOR_API void mor_world_robot_state(const mor_world* world, int robot, mor_pose* base, double* s, double* nu);
/* Sets what is not NULL. Between steps, or from the user stage. */
MOR_API void mor_world_robot_set_state(mor_world* world, int robot, const mor_pose* base, const double* s,
                                       const double* nu);
/* Adds joint forces (n) [N m, N] for the coming step only: call it from the user stage. */
MOR_API void mor_world_robot_apply(mor_world* world, int robot, const double* tau);
/* The body of a link; the null id for a base that is fixed to the world. */
MOR_API mor_body_id mor_world_robot_link(const mor_world* world, int robot, int link);

/* Sets bodies down: moves them together along gravity (z without gravity, in 2-D y) until their lowest point touches
 * body `on`; the null id: whatever they would meet first. All links of a robot move it as a whole. *lift (may be NULL):
 * how far up they were moved, < 0: down [m]. Bad input: nothing lies below them, they have no shapes, or a joint holds
 * them to something that stays. Between steps. */
MOR_API mor_code mor_world_put_on(mor_world* world, const mor_body_id* bodies, int count, mor_body_id on, double* lift,
                                  mor_error* error);
/* The pairs of links that self_collision leaves out, in the order of the robots, and of their links. Neighbours without
 * shapes are not listed. Known from the first step or mor_world_look on; joints that are added later add to it. The
 * list belongs to the world, until the next step. */
MOR_API const mor_left_out* mor_world_left_out(const mor_world* world, int* count);

/* -------------------------------------------------------------------------------- joints */

/* What a joint leaves free. */
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
    char name[64];          /* empty: "joint_<n>" */
    mor_joint_kind kind;    /* default revolute */
    mor_body_id body[2];    /* a null id is the world */
    mor_vec3 point[2];      /* world, now: where the joint is on each body; the same point but for distances */
    mor_vec3 axis, axis2;   /* world, now */
    double length;          /* distance [m]; < 0: as it is now */
    double lower, upper;    /* of the angle or the displacement [rad, m], 0 now; infinite: none (revolute, prismatic).
                               Distance: of |d| - length; with one of them it is no equation but a rope or a stop, and
                               its two bodies can touch */
    double damping;         /* N m s/rad, N s/m (revolute, prismatic) */
    double friction;        /* Coulomb, N m or N */
    double stiffness, rest; /* spring [N m/rad, N/m] and where it is at rest [rad, m] */
    bool motor;             /* drives the joint at motor_speed with at most motor_force */
    double motor_speed, motor_force; /* [rad/s, m/s]; [N m, N] */
    /* `rotation` holds the joint frames on body 0 and 1 (world, now), z along the axis, instead of axis and
     * axis2: the joint brings them together, and its coordinate is 0 where they agree */
    bool framed;
    mor_quat rotation[2]; /* only if `framed` */
} mor_joint_def;

/* A revolute joint about z between the world and the world: set the bodies. */
MOR_API mor_joint_def mor_joint_def_default(void);
/* The word of scenes: "revolute" ...; NULL for a value that is none. */
MOR_API const char* mor_joint_kind_name(mor_joint_kind kind);
/* Adds a joint. Its number, or -1 and a sentence. 2-D worlds have fixed, revolute (about z), prismatic (axis in the
 * plane), distance and free joints. */
MOR_API int mor_world_add_joint(mor_world* world, const mor_joint_def* def, mor_error* error);
/* Minimal coordinates instead: bodies that revolute, prismatic, cylindrical, universal and planar joints connect become
 * the links of robots, named after their first body, whose joints cannot come apart. Bodies stay where they are, with
 * their names; limits, damping, friction, motors and springs stay. Joints of other kinds and those that close a loop
 * remain equations. Before the first step; returns how many joints went into trees, -1 and a sentence on failure (then
 * the world is of no use). */
MOR_API int mor_world_articulate(mor_world* world, mor_error* error);
/* Number of joints that are equations. */
MOR_API int mor_world_joint_count(const mor_world* world);
/* A joint as it was added; valid until joints are added or removed. */
MOR_API const mor_joint_def* mor_world_joint(const mor_world* world, int joint);
/* Angle [rad] or displacement [m] of a revolute or prismatic joint, 0 when it was added; 0 for other kinds. */
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
    int equations, rank, freedom; /* -1 as told above */
} mor_joint_rank;
/* Counts them; nothing moves. */
MOR_API mor_joint_rank mor_world_joint_rank(mor_world* world);

/* Moves bodies and robots until all joints are closed (1e-12), velocities untouched; at most 200 rounds. Returns
 * what is left of mor_world_joint_error. */
MOR_API double mor_world_assemble(mor_world* world);

/* ------------------------------------------------------------------------------ contacts */

/* A contact, as found by the collision stage; impulses are filled by the step. */
typedef struct mor_contact {
    int body[2];       /* indices in body order; normal points from body[0] to body[1] */
    int shape[2];      /* index of the shape within each body */
    mor_vec3 point[2]; /* on each body, world; apart by the gap along the normal. Two moving bodies that meet within the
                          step: the arms at the impact, put to where the bodies are now (collision/sweep.c) */
    mor_vec3 normal;   /* unit */
    double gap;        /* signed: positive apart, negative in penetration [m] */
    uint64_t feature;  /* the same features in the next step give the same number */
    int group, plane;  /* exact geometry: alternatives of one disjunction; 0 for ordinary contacts */
    bool held;         /* exact geometry: the pair is left on this plane at the end of the step (as found: of the last
                           step) */
    double friction, restitution; /* of the two materials */
    int impact;                   /* impact law of the two materials, filled together with the restitution */
    mor_vec3 surface_velocity;    /* of body[1]'s surface relative to body[0]'s, beyond rigid motion */
    mor_vec3 impulse;             /* total on body[1], world [N s]; 0 before the solve */
    double normal_impulse;        /* along `normal` [N s] */
    bool anchored;                /* it stuck in the last step, and since at `anchor` (sticking: anchored) */
    mor_vec3 anchor[2];           /* the point where it stuck, from each body's centre of mass in body axes */
    double rolling, drilling;     /* friction against rolling and spinning [m] */
    double tangential;            /* restitution of slip */
    mor_vec3 moment;              /* their impulse on body[1], world [N m s] */
} mor_contact;

/* Contacts of the last step, sorted by bodies, shapes and feature. Valid until the next step. */
MOR_API const mor_contact* mor_world_contacts(const mor_world* world, int* count);
/* For collision methods and custom collision stages: adds a contact (body, shape, point, normal, gap, feature).
 * Friction and restitution are filled from the materials unless given (>= 0). MOR_SYSTEM: out of memory. */
MOR_API mor_code mor_found_add(mor_found* found, const mor_contact* contact);
/* Contacts of the step before, with impulses, sorted: what a method may remember planes and features from. */
MOR_API const mor_contact* mor_found_last(const mor_found* found, int* count);

/* ------------------------------------------------------------------- the assembled system */

/* One contact for a formulation. Its rows are (n,t,o), 2-D: (n,t). */
typedef struct mor_contact_row {
    int contact;                       /* index in mor_world_contacts */
    int block;                         /* index in the system's blocks */
    double gap, friction, restitution; /* signed distance [m]; coefficients of the pair */
    int impact;                        /* impact law of the pair, a number of mor_impact_law_at */
    double tangential;                 /* restitution of slip of the pair */
    double recovery;        /* fastest speed at which penetration is undone [m/s]; infinite: within one step */
    double epsilon;         /* AP: the contact counts as active when gap < epsilon */
    double approach;        /* w = G_n' nu + d(psi)/dt at the start of the step [m/s] */
    double drift[6];        /* d(psi)/dt and d(psi_f)/dt: belts and kinematic bodies [m/s] */
    double guess[6];        /* impulses of the last step, rows of this block */
    int group, plane;       /* exact geometry, as in mor_contact */
    bool held;              /* its plane was the pair's at the end of the last step */
    double old_gap;         /* of the same contact at the start of the last step; infinite: it was not reported */
    double acceleration[3]; /* d/dt(G)' nu of the rows [m/s^2]; only for formulations that ask for it */
    double centripetal[3];  /* its part w x (w x r), which differs from point to point of a body beyond rigid motion */
    double turning;         /* rows 3 to 5 are this length [m] times angular velocities, so that all rows are in m/s */
} mor_contact_row;

/* One side of a contact, at the start of the step. */
typedef struct mor_contact_side {
    const mor_geometry* shape; /* NULL: a stored frame, which has no shapes */
    mor_pose shape_pose;       /* of the shape in the body frame */
    mor_vec3 com;              /* centre of mass in the body frame */
    mor_vec3 x;                /* centre of mass, world */
    mor_quat q;                /* body frame to world */
    mor_vec3 v, w;             /* of the centre of mass; angular */
    bool fixed;                /* never moves */
    bool link;                 /* of a robot: it does not move as a free body */
    int tree;                  /* its tree in the system, -1: none */
} mor_contact_side;

/* Where a contact is, for formulations that ask for it (mor_formulation.geometry). */
typedef struct mor_contact_geometry {
    mor_vec3 point[2];        /* on each body, world */
    mor_vec3 normal, t, o;    /* directions of the rows: normal from body 0 to 1, two tangents */
    uint64_t feature;         /* of the contact: the same from step to step */
    mor_contact_side side[2]; /* the two bodies */
} mor_contact_geometry;

/* Everything a formulation may know of one island for one step (MATH: M, G, psi, mu, e, nu, nu_free, h). */
typedef struct mor_system {
    double h, time;                       /* length of the step and time at its start [s] */
    mor_vec3 gravity;                     /* m/s^2 */
    int dimension;                        /* of the world: 3 or 2 */
    double v_rest;                        /* restitution acts above this approach speed [m/s] */
    int directions;                       /* corners of the friction polygon for pyramids */
    int tree_count, dof;                  /* trees of the island, and their velocities in all */
    const mor_tree_block* trees;          /* tree_count: where their velocities and mass blocks are */
    const double* nu;                     /* start of the step */
    const double* nu_free;                /* what the step would give without constraints */
    int contact_count;                    /* contacts of the island */
    const mor_contact_row* contacts;      /* contact_count; their blocks come first */
    int block_count, row_count;           /* blocks of rows: contacts, then joints; rows in all */
    const mor_block* blocks;              /* friction set left as a circular cone: the formulation chooses */
    const mor_entry* entries;             /* of the blocks: which tree, and where its coefficients begin */
    const double* jacobian;               /* G', block by block and tree by tree, rows of dof numbers */
    const double* response;               /* G' M^-1, laid out likewise */
    const double* diagonal;               /* the dim x dim blocks of W = G' M^-1 G on its diagonal */
    const int* diagonal_start;            /* block_count: where each of them begins */
    const mor_contact_geometry* geometry; /* contact_count; NULL: not asked for */
    double tol;                           /* velocity error at which a step counts as solved [m/s] */
    int step;                             /* how many steps were taken before this one */
    bool cones;                           /* the chosen solver takes circular cones */
    const double* bias; /* row_count: of equations and bounded rows; 0 for contacts, whose terms the formulation adds */
} mor_system;

/* What a formulation gives back: velocities at the end of the step and row impulses. */
typedef struct mor_answer {
    double* nu;       /* dof; nu_free on entry */
    double* impulses; /* row_count; the guess on entry */
    bool* held;       /* contact_count; false on entry. Exact geometry: rows of the plane each pair is left on */
    double* move;     /* dof: velocities that positions move with; NaN on entry, left so or NULL: nu does that */
    double* shift;    /* dof; 0 on entry: how far positions are corrected beyond that [m, rad], as a projection would */
} mor_answer;

/* Handed to a formulation: runs the chosen solver on a problem, times, traces and judges it. z: guess
 * on entry if `warm`. */
typedef struct mor_solve_stage {
    /* z has as many numbers as the problem has unknowns: the answer on return. */
    mor_report (*solve)(struct mor_solve_stage* stage, const mor_problem* problem, bool warm, double* z);
    mor_arena* arena;                /* scratch of this island */
    void* user;                      /* of whoever made the stage */
    double coarse;                   /* a larger tolerance for solves that are only looked at; 0: the solver's own */
    struct mor_equations* equations; /* the library's own: the factor of an island that has nothing but equations */
    struct mor_workers* workers;     /* the library's own: threads for one large island; NULL: none */
    /* the library's own, for those who follow iterates: how unknowns that are not rows of contacts make impulses; NULL:
     * they are rows, or it is not known */
    const struct mor_unknowns* unknowns;
} mor_solve_stage;

typedef struct mor_formulation {
    const char* name;        /* the word in scenes */
    const char* summary;     /* one line */
    const char* reference;   /* key into docs/references.bib */
    uint32_t produces;       /* mor_form bits it may hand to a solver; 0: it solves by itself */
    size_t options_size;     /* of its option struct; 0: none */
    const mor_field* fields; /* its options; may be NULL without any */
    /* Solves one island for one step and fills `answer`; what it returns is what the world is told. Runs on worker
     * threads. */
    mor_report (*step)(const mor_system* system, const void* options, mor_solve_stage* stage, mor_answer* answer);
    int groups; /* what `features` shall give it: 0 the papers' contacts by vertex, 1 separating planes by pair */
    /* Called after the integration, may move the bodies of the step's draft, never their velocities. Returns the
     * deepest penetration it found before; adds the potential energy it put in to *work. May be NULL. */
    double (*project)(mor_step* step, const void* options, double* work);
    bool mass_inverse;  /* it reads mass_inverse of the trees, which large and articulated ones do not have otherwise */
    bool accelerations; /* it reads mor_contact_row.acceleration */
    bool geometry;      /* it reads mor_system.geometry */
    /* True: positions are advanced by the velocities of the start of the step (explicit Euler). May be NULL: by those
     * of the end. */
    bool (*explicit_positions)(const void* options);
    bool gaps;   /* its normal rows take gap/h: a step can be solved again about its end (relinearise) */
    int turning; /* 0: no contact has rolling or drilling friction; 1: rolling; 2: both */
    /* True: bodies in contact overlap on purpose, so the world does not move them apart. May be NULL: they do not. */
    bool (*overlaps)(const void* options);
    /* The step applies the impact laws around it (docs/methods/impact.md) and calls it without restitution. */
    bool impacts;
    /* Its answers say how far bodies move (mor_answer.move), and bodies that nothing touches fly along parabolas. */
    bool flies;
    /* The library's own: its step uses stage->workers. Islands that are large are given to it one after the other. */
    bool threads;
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
    double gap;                  /* as in mor_contact [m] */
    uint32_t feature;            /* unique within the shape pair, stable from step to step */
    int group, plane;            /* as in mor_contact; 0 for ordinary contacts */
    bool corner; /* no face and no edge pair realises this distance: corners or parallel edges are nearest, and the
                    shapes may pass each other (see collision/detect.c) */
} mor_point;

#define MOR_MAX_POINTS 64 /* points one pair test may return */

/* Finds contacts between two placed shapes nearer than `reach`. Returns the number of points
 * written (at most MOR_MAX_POINTS). `cache` (16 bytes kept with the pair) may only speed it up. */
typedef int (*mor_pair_test)(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                             const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points);

/* Options that every collision method begins with. */
typedef struct mor_collision_options {
    double epsilon; /* contacts nearer than this are reported [m]; negative: mor_pair_epsilon */
    int reach;      /* 0 swept: epsilon grows by what a pair can move in the step; 1 fixed */
    int activation; /* 0 feature: each feature by its own distance; 1 body: all of a pair that is near */
    double psi_min; /* deeper contacts are ignored [m] */
} mor_collision_options;

/* The distance within which contacts of two shapes are reported [m]: the option as given or, left to the method, a
 * hundredth of the radius of the smaller shape's bounding sphere. Particles have no size: the other shape counts, up
 * to 1 m. */
MOR_API double mor_pair_epsilon(const mor_collision_options* options, const mor_geometry* a, const mor_geometry* b);

/* A collision method: finds the contacts of a state. `manifold` walks the broad phase and the pair table. */
typedef struct mor_collision {
    const char* name;        /* the word in scenes */
    const char* summary;     /* one line */
    const char* reference;   /* key into docs/references.bib, or "" */
    size_t options_size;     /* at least that of mor_collision_options */
    const mor_field* fields; /* begins with mor_collision_options */
    /* Adds the contacts of `world`, which may be the draft of a step, to `found`. MOR_BAD_INPUT with a sentence ends
     * the step; MOR_SYSTEM: out of memory. Runs on the caller's thread. */
    mor_code (*detect)(void* memory, const mor_world* world, const void* options, mor_found* found, mor_error* error);
    /* Memory of the method, one per world, made when the method is chosen (NULL: out of memory). It may save time from
     * step to step (broad phase, caches); the contacts found must not depend on it. Both NULL: no memory. */
    void* (*create)(const mor_allocator* allocator);
    /* Ends that memory. */
    void (*destroy)(void* memory);
    /* It gives the separating planes of pairs to formulations that ask for them (mor_formulation.groups). */
    bool planes;
} mor_collision;

/* --------------------------------------------------------------------------- integrators */

/* How trees move in a step in which nothing one-sided acts on them (no contact, limit, motor or dry friction); the
 * others take the semi-implicit step through the formulation. */
typedef struct mor_integrator {
    const char* name;                                     /* the word in scenes */
    const char* summary;                                  /* one line */
    const char* reference;                                /* key into docs/references.bib, or "" */
    int order;                                            /* the error of a run falls with h to this power */
    bool (*advance)(struct mor_smooth* motion, double h); /* NULL: the semi-implicit step */
} mor_integrator;
/* i-th integrator, NULL past the end. */
MOR_API const mor_integrator* mor_integrator_at(int i);

/* ------------------------------------------------------------------------------- methods */

/* What a world does when a solver misses its tolerance. */
typedef enum mor_on_failure { MOR_STOP, MOR_WARN, MOR_RETRY, MOR_PARTS } mor_on_failure;

/* A world that is to be made. */
typedef struct mor_world_def {
    int dimension;              /* 3 or 2 */
    mor_vec3 gravity;           /* (0,0,-9.81); 2-D: give (0,-9.81) [m/s^2] */
    double step;                /* h [s], 0.01 */
    int threads;                /* that work on islands, bodies, robots and pairs of shapes; the answer is the same */
    const mor_library* library; /* NULL: the built-in methods */
    mor_allocator allocator;    /* where its memory comes from */
} mor_world_def;

/* The defaults named above: 3-D, one thread, built-in methods, malloc. */
MOR_API mor_world_def mor_world_def_default(void);
/* An empty world. NULL and a sentence on bad input (step, dimension) or without memory. */
MOR_API mor_world* mor_world_create(const mor_world_def* def, mor_error* error);
/* Frees the world and releases what it holds references to. NULL is allowed. */
MOR_API void mor_world_destroy(mor_world* world);

/* Chooses a method by name. `stage`: "formulation", "solver", "collision", "integrator",
 * "stabilisation". Unknown names are bad input with "did you mean". */
MOR_API mor_code mor_world_set_method(mor_world* world, const char* stage, const char* name, mor_error* error);
/* Sets an option of the chosen method, e.g. ("solver", "tol", "1e-10"); stage "method" holds the
 * world's own: friction_directions, friction_align, v_rest, on_failure, relinearise. */
MOR_API mor_code mor_world_set_option(mor_world* world, const char* stage, const char* option, const char* value,
                                      mor_error* error);
/* The name of the chosen method of a stage; NULL: there is no such stage. */
MOR_API const char* mor_world_method(const mor_world* world, const char* stage);
/* Chooses formulation and solver together and refuses a pair that does not fit; on failure nothing has changed. NULL:
 * keeps the present one. */
MOR_API mor_code mor_world_set_methods(mor_world* world, const char* formulation, const char* solver, mor_error* error);
/* Whether the chosen solver takes a problem that the chosen formulation makes: MOR_OK, or a sentence that names solvers
 * which do. A step with a pair that does not fit returns this, whatever on_failure says. */
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

/* Stage times of one step [s], monotonic clock. Steps of less than 20 us without observers are timed as a whole, and
 * their stages by the shares of every 16th step: reading the clock would be a tenth of their time. */
typedef struct mor_timing {
    double total, user, collision, assemble, formulate, solve, integrate, record; /* record: the observers */
} mor_timing;

typedef struct mor_step_report {
    int step;                            /* number of the step, from 1 */
    double time;                         /* at its end */
    mor_status status;                   /* the worst of its islands */
    int failures;                        /* islands whose error is above what counts as failure */
    int below_goal;                      /* islands that missed the accuracy asked for, but not so far */
    int islands, contacts, problem_size; /* size: rows of the largest island's problem */
    int iterations;                      /* largest over islands */
    double residual;                     /* largest relative residual */
    double velocity_error;               /* largest, m/s */
    double penetration;                  /* deepest at the end of the step, measured by the collision geometry */
    double raw_penetration;              /* the same before a position projection; equal if there is none */
    double projection_work;              /* by which undoing overlaps raised E in this step [J] */
    double correction_work, contact_work, applied_work; /* J in this step (docs/notation.md) */
    double kinetic, potential;                          /* J at the end of the step */
    int smooth, reduced; /* groups of trees that took the chosen integrator; that took the semi-implicit step instead */
    int halvings, rescued,
        sweeps; /* of the integrator: parts that were refused and halved; parts of an implicit one that
                                      rk4 took because the iteration failed (near a position in which equations lose
                                      rank); iterations in all */
    int struck; /* free bodies that a blow turned further than the step resolves: solved again with the inertia of the
                   step's start, so that no energy is gained */
    char detail[192];
    mor_timing timing; /* of all attempts at the step */
    double length;     /* of the step [s] */
    int rejected;      /* variable steps: lengths that were tried and refused before this one */
    int parts;         /* in how many parts it was taken (on_failure); 0: in one piece */
    int missed;        /* variable steps: 1 if the least step was taken although its error is above the tolerance */
    int approximate;   /* islands answered by a method with a fixed budget (MOR_APPROXIMATE) */
    int cured;         /* mechanisms and robots whose velocities were scaled so that the step makes no energy */
} mor_step_report;

/* One step of length h: the stages below, again with other means as the option on_failure says.
 *
 *   MOR_OK         the step was taken. With on_failure warn also when a solver failed: report.status tells
 *   MOR_STOPPED    it was not solved (stop), or not even in parts (parts, the default, and retry), or there were too
 *                  many failures in a row (warn, max_failures): the world is as before, report.status and the sentence
 *                  tell why
 *   MOR_BAD_INPUT  formulation and solver do not fit, or a pair of shapes has no collision test; the world is as before
 *   MOR_SYSTEM     out of memory; the world is as before
 *
 * `report` and `error` may be NULL. */
MOR_API mor_code mor_world_step(mor_world* world, mor_step_report* report, mor_error* error);

/* A step as a value: what one step makes, before it becomes the state of the world. mor_world_step works in a step of
 * its own; a caller who wants to stop between stages makes one and calls the stages in this order. They give the same
 * bits. A step may be used again, for this world or another. */
MOR_API mor_step* mor_step_create(const mor_world* world, mor_error* error); /* NULL: out of memory or threads */
MOR_API void mor_step_destroy(mor_step* step);                               /* NULL is allowed */

/* Runs the user function, the only stage in which the world may change, and takes the state into the step. */
MOR_API mor_code mor_stage_user(mor_world* world, mor_step* step, mor_error* error);
/* Aims of kinematic bodies; contacts. */
MOR_API mor_code mor_stage_collide(const mor_world* world, mor_step* step, mor_error* error);
/* Controllers and motors: joint forces of the step (control.h). May be left out in worlds without control. */
MOR_API mor_code mor_stage_control(const mor_world* world, mor_step* step, mor_error* error);
/* Islands and their systems. */
MOR_API mor_code mor_stage_assemble(const mor_world* world, mor_step* step, mor_error* error);
/* Plans smooth motion, runs formulation and solver on the islands, stabilises the positions of joints, revises motors
 * at their limits, stores the impulses with the contacts. MOR_OK also for an answer that is not solved: see
 * mor_step_status. */
MOR_API mor_code mor_stage_solve(const mor_world* world, mor_step* step, mor_error* error);
/* Moves the draft. MOR_STOPPED: the answer may not be used (on_failure), or the integrator failed. */
MOR_API mor_code mor_stage_integrate(const mor_world* world, mor_step* step, mor_error* error);
/* Velocities of joints. */
MOR_API mor_code mor_stage_stabilise(const mor_world* world, mor_step* step, mor_error* error);
/* Motors' states, sensors and feet. */
MOR_API mor_code mor_stage_sense(const mor_world* world, mor_step* step, mor_error* error);
/* Contacts of the new state: penetration, and what the next step begins with. */
MOR_API mor_code mor_stage_measure(const mor_world* world, mor_step* step, mor_error* error);
/* Writes the step into the world. MOR_BAD_INPUT: the world has changed since the step began; nothing is written. */
MOR_API mor_code mor_stage_commit(mor_world* world, mor_step* step, mor_error* error);

/* The world as the step would leave it, so far: read it with any function that takes a const mor_world. Its contacts
 * are those of this step. Valid as long as the step. */
MOR_API const mor_world* mor_step_draft(const mor_step* step);
/* After mor_stage_solve: the worst of the islands. */
MOR_API mor_status mor_step_status(const mor_step* step);
/* After mor_stage_commit. */
MOR_API const mor_step_report* mor_step_last_report(const mor_step* step);
/* After mor_stage_collide, until mor_stage_commit: the contacts of this step, with impulses once it is solved. */
MOR_API const mor_contact* mor_step_contacts(const mor_step* step, int* count);
/* After mor_stage_assemble: the systems of the step, one per island with constraints, and, after mor_stage_solve, their
 * answers. Valid until the step is used again. */
MOR_API int mor_step_island_count(const mor_step* step);
/* What its formulation was given. */
MOR_API const mor_system* mor_step_system(const mor_step* step, int island);
/* Velocities and impulses that came of it. */
MOR_API const mor_answer* mor_step_answer(const mor_step* step, int island);
/* What the solver said. */
MOR_API const mor_report* mor_step_island_report(const mor_step* step, int island);
/* As mor_world_joint_forces, with the forces of the user function: after mor_stage_user. */
MOR_API mor_code mor_step_joint_forces(const mor_world* world, mor_step* step, double* forces, mor_error* error);
/* The step that began last, mor_world_step's own or one of the caller's: systems and answers of the last step. */
MOR_API const mor_step* mor_world_last_step(const mor_world* world);

/* Replaces a stage for this world; NULL restores the built-in one. */
typedef void (*mor_user_stage)(void* user, mor_world* world);
typedef mor_code (*mor_collide_stage)(void* user, const mor_world* world, mor_found* found, mor_error* error);
typedef mor_report (*mor_formulation_stage)(void* user, const mor_system* system, mor_solve_stage* stage,
                                            mor_answer* answer);
/* The user stage: called before each attempt at a step; it may change the world. A step is one attempt; one that fails
 * and is tried again (on_failure: parts, retry) is one for each part. Solving again within an attempt (motors at their
 * limits, pairs that a blow brings near) does not ask again. */
MOR_API void mor_world_on_user(mor_world* world, mor_user_stage function, void* user);
/* In place of the collision method. */
MOR_API void mor_world_on_collide(mor_world* world, mor_collide_stage function, void* user);
/* In place of the formulation; runs on worker threads, one call per island. */
MOR_API void mor_world_on_solve(mor_world* world, mor_formulation_stage function, void* user);
/* `function` gets the draft of the step and moves it. */
MOR_API void mor_world_on_integrate(mor_world* world, mor_user_stage function, void* user);
/* Called after every step, in the order added; at most 8. */
typedef void (*mor_observer)(void* user, const mor_world* world, const mor_step_report* report);
/* MOR_BAD_INPUT when there is no room for one more. */
MOR_API mor_code mor_world_add_observer(mor_world* world, mor_observer function, void* user, mor_error* error);

/* From a user stage or a controller: the step must not be taken. mor_world_step then returns MOR_BAD_INPUT with this
 * sentence (at most 255 bytes of it), and the world is as before the step but for what the user stage changed. `world`
 * is the one the function was given. */
MOR_API void mor_world_refuse(const mor_world* world, const char* sentence);
/* Lets a signal handler or another thread interrupt a step that takes long: when *flag becomes other than 0, solvers
 * stop as soon as they look, and mor_world_step returns MOR_STOPPED with the world as it was before the step. The flag
 * is only read. It must live as long as the world; NULL: none. */
MOR_API void mor_world_set_interrupt(mor_world* world, const volatile int* flag);
/* Whether the flag is set now. */
MOR_API bool mor_world_interrupted(const mor_world* world);

/* Time now [s]. */
MOR_API double mor_world_time(const mor_world* world);
/* Steps taken so far. */
MOR_API int mor_world_step_count(const mor_world* world);
/* Length of a step [s]; with variable steps, of the last one (before the first: the greatest). */
MOR_API double mor_world_get_step(const mor_world* world);
/* Changes it between steps; h must be positive. Ends variable steps. */
MOR_API void mor_world_set_step(mor_world* world, double h);

/* Variable steps: each is as long as its error allows. The error is the largest difference that a body has between one
 * step and two of half the length: of positions [m], of rotations times the radius of gyration [m], and of the same of
 * velocities [m/s], which count times the step for bodies in contact. Where contacts begin or end, velocities jump
 * whatever the step: the jump times the length counts in their place, and steps close in on an impact by bisection.
 * Global errors fall with the tolerance, about as its square root. A step costs about as much as two to three of a
 * fixed length, the search before an impact some fifty more. Stages called by hand take steps of the present length.
 * The lengths are part of the result: same input, same lengths, same bits. */
typedef struct mor_adaptive {
    double tolerance; /* of one step [m, m/s] */
    double min, max;  /* lengths of a step [s]. The least is taken even if its error is above the tolerance, and told
                         (mor_step_report.missed) */
} mor_adaptive;

/* 1e-5, 1e-9 to 0.02 s. */
MOR_API mor_adaptive mor_adaptive_default(void);
/* Chooses variable steps from the next one on; NULL: fixed ones of the present length. MOR_BAD_INPUT: a number is not
 * positive or min is above max; nothing has changed then. */
MOR_API mor_code mor_world_set_adaptive(mor_world* world, const mor_adaptive* steps, mor_error* error);
/* Whether the steps are variable; their numbers in *steps, which may be NULL. */
MOR_API bool mor_world_get_adaptive(const mor_world* world, mor_adaptive* steps);
/* With variable steps: the coming step ends at `until` [s] at the latest. For instants that must be met: the end of a
 * run, a sample, a force that begins (also from the user stage). Of several calls the earliest counts; forgotten after
 * the step. Instants that have passed are ignored. Calls of controllers with a control step of their own are met
 * without it. Fixed steps do not change. */
MOR_API void mor_world_limit_step(mor_world* world, double until);
/* Whether a run to the time `end` [s] is over: the next fixed step would end further from it than this one; variable
 * steps have met it. */
MOR_API bool mor_world_reached(const mor_world* world, double end);
/* 3 or 2. */
MOR_API int mor_world_dimension(const mor_world* world);
/* Gravity [m/s^2]. */
MOR_API mor_vec3 mor_world_gravity(const mor_world* world);
/* Changes it between steps; in 2-D worlds z is ignored. */
MOR_API void mor_world_set_gravity(mor_world* world, mor_vec3 gravity);
/* The library its methods are chosen from; NULL: the built-in ones. */
MOR_API const mor_library* mor_world_library(const mor_world* world);

/* ------------------------------------------------------------------------------ measures */

/* Of bodies and robots now [J]. */
MOR_API double mor_world_kinetic_energy(const mor_world* world);
MOR_API double mor_world_potential_energy(const mor_world* world); /* of gravity and the springs of joints [J] */
/* Linear momentum [kg m/s], then angular momentum about the origin [kg m^2/s], of the dynamic bodies. */
MOR_API void mor_world_momentum(const mor_world* world, double momentum[6]);
/* Deepest penetration now, from the collision geometry [m], 0 if none. */
MOR_API double mor_world_penetration(const mor_world* world);
/* 64-bit hash of all positions and velocities, bit for bit. */
MOR_API uint64_t mor_world_hash(const mor_world* world);

/* A snapshot restores a run bit for bit, warm start included, in a world with the same bodies and
 * methods. With buffer NULL returns the size needed; otherwise the size written, 0 if it does not fit. */
MOR_API size_t mor_world_save(const mor_world* world, void* buffer, size_t size);
/* Puts back a snapshot. Bad input: it is damaged, or of another world or version; the world then stays as it is. */
MOR_API mor_code mor_world_restore(mor_world* world, const void* buffer, size_t size, mor_error* error);

#ifdef __cplusplus
}
#endif
#endif
