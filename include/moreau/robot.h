/* Articulated robots in minimal coordinates: trees of revolute and prismatic joints on a fixed or
 * floating base, their kinematics and dynamics, and how to read them from URDF.
 *
 *     mor_error error = { 0 };
 *     char notes[1000];
 *     mor_urdf_options options = mor_urdf_options_default();
 *     options.floating = false;
 *     mor_robot_model* model = mor_urdf_read("scenes/robots/arm2.urdf", &options, notes, sizeof notes, &error);
 *     mor_robot_work* work = mor_robot_work_create(model);
 *     mor_pose base = mor_pose_identity();
 *     double s[2] = { 0.5, 0.2 }, nu[2] = { 0, 0 }, tau[2] = { 0, 0 }, nudot[2];
 *     mor_robot_update(model, work, &base, s, nu);
 *     if (mor_robot_forward_dynamics(model, work, mor_v3(0, 0, -9.81), tau, NULL, nudot))
 *         printf("%g %g rad/s^2\n", nudot[0], nudot[1]);
 *     mor_robot_work_destroy(work);
 *     mor_robot_destroy(model);
 *
 * n joints with positions s; N = n, or n + 6 with a floating base. Generalised velocity
 *
 *     nu = [ velocity of the base link's origin ; angular velocity of the base ; s_dot ]
 *
 * in world axes ("mixed" representation); a fixed base has the joint part only. The equation of motion
 *
 *     M(q) nudot + h(q, nu) = f,   h = Coriolis, centrifugal and gravity terms
 *
 * with f = [0; tau] + sum J' wrench. Links are numbered parents first, link 0 is the base; joints and
 * their positions keep the order of the caller's list (URDF: order of appearance). Frames are named
 * poses fixed to links. Nothing below allocates except the makers.
 *
 * Threads: a model is constant after its last mor_robot_add_shape or mor_robot_set_reflected and may then be read by
 * any number of threads, each with its own work space. Counting owners (retain, destroy, worlds that take a reference)
 * is not atomic: do it on one thread. The functions of a mor_dynamics run on the thread that steps the world.
 * Ownership: mor_robot_create and mor_urdf_read give one owner; pointers into a model live as long as it does.
 * ABI: models and work spaces are opaque; definition structs may grow, so start from their *_default function. */
#ifndef MOREAU_ROBOT_H
#define MOREAU_ROBOT_H

#include "moreau/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOR_NAME_SIZE 96 /* names of links, joints and frames, the terminating zero included */

/* What a joint of a robot does. A ball joint is three links in a row, each the parent of the next, all MOR_BALL: their
 * positions are the rotation vector of the last one against the joint frame of the first [rad], at most pi long when a
 * step ends; their velocities are its angular velocity against the parent in its own axes (not the rate of the rotation
 * vector). The three have the axes x, y, z and consecutive numbers; the second and third have the identity as pose, the
 * first two no mass. */
typedef enum mor_joint_type { MOR_REVOLUTE, MOR_PRISMATIC, MOR_BALL } mor_joint_type;

/* One link and the joint that carries it. The link frame sits on the joint: at position s it is the
 * joint frame `pose` (seen from the parent link) turned by s about `axis`, or moved by s along it. */
typedef struct mor_link_def {
    char name[MOR_NAME_SIZE];         /* of the link; unique */
    char joint_name[MOR_NAME_SIZE];   /* of the joint that carries it; unique */
    int parent;                       /* link number, less than this one's; -1 for the base, which has no joint */
    mor_joint_type type;              /* of the joint */
    int joint;                        /* position of the joint in s, 0 ... n-1 */
    mor_pose pose;                    /* joint frame in the parent's link frame */
    mor_vec3 axis;                    /* link frame, unit (made so) */
    mor_mass mass;                    /* link frame; mass 0 is allowed */
    double lower, upper;              /* position limits [rad, m]; -inf, inf: none */
    double effort, speed;             /* limits of the motor [N m, N; rad/s, m/s]; inf: none */
    double damping, friction;         /* viscous [N m s/rad, N s/m]; Coulomb [N m, N] */
    int mimic;                        /* joint this one follows as s = ratio s_mimic + offset, or -1 */
    double mimic_ratio, mimic_offset; /* offset in [rad, m] */
    double stiffness, rest; /* spring [N m/rad, N/m] and where it is at rest [rad, m]; revolute and prismatic */
} mor_link_def;

/* A named pose that is fixed to a link. */
typedef struct mor_frame_def {
    char name[MOR_NAME_SIZE]; /* unique */
    int link;                 /* its number */
    mor_pose pose;            /* in the link frame */
} mor_frame_def;

/* A collision shape of a link. */
typedef struct mor_link_shape {
    int link;               /* its number */
    mor_geometry* geometry; /* the model takes a reference */
    mor_pose pose;          /* in the link frame */
    int frame;              /* the frame it belongs to (URDF: its own link, before merging), -1: the link's */
} mor_link_shape;

typedef struct mor_robot_model mor_robot_model;
typedef struct mor_robot_work mor_robot_work;

/* A link of mass 0 without name and parent, with a revolute joint about x, no limits, no friction. */
MOR_API mor_link_def mor_link_def_default(void);
/* A model with one owner. Copies everything. Refused (NULL and a sentence): parents after children, joints that do not
 * number 0 ... n-1, zero axes, numbers that are not finite, negative mass. */
MOR_API mor_robot_model* mor_robot_create(const mor_link_def* links, int link_count, const mor_frame_def* frames,
                                          int frame_count, bool floating, mor_error* error);
/* One more owner: destroy frees the model when the last one lets go. */
MOR_API mor_robot_model* mor_robot_retain(mor_robot_model* model);
/* One owner less; the last one frees the model. NULL is allowed. */
MOR_API void mor_robot_destroy(mor_robot_model* model);
/* Adds a collision shape; a reference is taken. Bad input when the link or the frame is not there. */
MOR_API mor_code mor_robot_add_shape(mor_robot_model* model, const mor_link_shape* shape, mor_error* error);

MOR_API int mor_robot_dof(const mor_robot_model* model);         /* N */
MOR_API int mor_robot_joint_count(const mor_robot_model* model); /* n */
/* Links, base included. */
MOR_API int mor_robot_link_count(const mor_robot_model* model);
/* Frames. */
MOR_API int mor_robot_frame_count(const mor_robot_model* model);
/* Collision shapes of all links. */
MOR_API int mor_robot_shape_count(const mor_robot_model* model);
/* Whether the base moves freely. */
MOR_API bool mor_robot_floating(const mor_robot_model* model);
MOR_API double mor_robot_mass(const mor_robot_model* model); /* of all links, base included [kg] */
/* Link number `link`, 0 the base. Numbers out of range are the caller's mistake, here and below. */
MOR_API const mor_link_def* mor_robot_link(const mor_robot_model* model, int link);
/* The link that joint number `joint` (its place in s) carries. */
MOR_API int mor_robot_link_of_joint(const mor_robot_model* model, int joint);
/* Frame number `frame`. */
MOR_API const mor_frame_def* mor_robot_frame(const mor_robot_model* model, int frame);
/* Collision shape number `shape`. */
MOR_API const mor_link_shape* mor_robot_shape(const mor_robot_model* model, int shape);
MOR_API int mor_robot_find_frame(const mor_robot_model* model, const char* name); /* -1: none */
MOR_API int mor_robot_find_joint(const mor_robot_model* model, const char* name); /* number in s; -1: none */

/* Inertia of motors reflected through their gears, added to the joint block of M: n numbers for a
 * diagonal, or n x n (row-major, symmetric, positive semidefinite) when transmissions couple joints;
 * NULL clears. Set it before making work spaces. */
MOR_API mor_code mor_robot_set_reflected(mor_robot_model* model, const double* diagonal, const double* matrix,
                                         mor_error* error);

/* What the algorithms write between calls, for one state of one robot. NULL: out of memory. */
MOR_API mor_robot_work* mor_robot_work_create(const mor_robot_model* model);
/* Frees a work space. NULL is allowed. */
MOR_API void mor_robot_work_destroy(mor_robot_work* work);

/* The state all functions below speak of: pose of the base link frame, joint positions (n), velocities
 * (N; NULL: at rest). O(links). */
MOR_API void mor_robot_update(const mor_robot_model* model, mor_robot_work* work, const mor_pose* base, const double* s,
                              const double* nu);
/* f = M nudot + h - sum J' wrench by the recursive Newton-Euler algorithm, O(links). nudot NULL: 0.
 * wrenches (NULL: none): 6 numbers per link, force and moment about the link's origin, world axes. With
 * gravity and nudot = 0 this is h; with nu = 0 also g. Reflected inertia is included. */
MOR_API void mor_robot_inverse_dynamics(const mor_robot_model* model, mor_robot_work* work, mor_vec3 gravity,
                                        const double* nudot, const double* wrenches, double* f);
/* nudot for generalised forces f (N; NULL: 0) by the articulated-body algorithm, O(links) (with a
 * reflected inertia matrix: by M and its factor). False if M is singular at this state: a massless link
 * that can move, or a number that is not finite. */
MOR_API bool mor_robot_forward_dynamics(const mor_robot_model* model, mor_robot_work* work, mor_vec3 gravity,
                                        const double* f, const double* wrenches, double* nudot);
/* x = M^-1 f with what the last forward dynamics left in `work`, O(links) (x may be f). */
MOR_API void mor_robot_solve(const mor_robot_model* model, mor_robot_work* work, const double* f, double* x);
/* M (N x N, row-major) by the composite-rigid-body algorithm, O(links x depth). */
MOR_API void mor_robot_mass_matrix(const mor_robot_model* model, mor_robot_work* work, double* M);
/* M = L'DL in place, where L has the sparsity of the tree (no fill): false if M is not positive definite.
 * For a mass matrix without reflected inertia matrix. */
MOR_API bool mor_robot_factor(const mor_robot_model* model, double* M);
/* x := M^-1 x with that factor. */
MOR_API void mor_robot_factor_solve(const mor_robot_model* model, const double* LDL, double* x);

/* Where a link is in the world. */
MOR_API mor_pose mor_robot_link_pose(const mor_robot_model* model, const mor_robot_work* work, int link);
/* Where a frame is in the world. */
MOR_API mor_pose mor_robot_frame_pose(const mor_robot_model* model, const mor_robot_work* work, int frame);
/* H (4x4, row-major) of a frame without the detour over quaternions. */
MOR_API void mor_robot_frame_matrix(const mor_robot_model* model, const mor_robot_work* work, int frame, double H[16]);
/* 6 x N, row-major: velocity of the frame's origin, angular velocity, world axes. */
MOR_API void mor_robot_frame_jacobian(const mor_robot_model* model, const mor_robot_work* work, int frame, double* J);
/* d/dt(J) nu: acceleration of the frame's origin and angular acceleration at nudot = 0. */
MOR_API void mor_robot_frame_bias(const mor_robot_model* model, const mor_robot_work* work, int frame, double bias[6]);
/* c . nu = direction . velocity of the material point of `link` at world position `point`; c has N. */
MOR_API void mor_robot_point_row(const mor_robot_model* model, const mor_robot_work* work, int link, mor_vec3 point,
                                 mor_vec3 direction, double* c);
/* Velocity of the link's origin [m/s] and angular velocity [rad/s], world axes. */
MOR_API void mor_robot_link_velocity(const mor_robot_work* work, int link, mor_vec3* v, mor_vec3* omega);
/* Centre of mass in the world, base included [m]. */
MOR_API mor_vec3 mor_robot_com(const mor_robot_model* model, const mor_robot_work* work);
/* Linear momentum [kg m/s], then angular momentum about `point` [kg m^2/s]. */
MOR_API void mor_robot_momentum(const mor_robot_model* model, const mor_robot_work* work, mor_vec3 point,
                                double momentum[6]);
/* nu' M nu / 2 [J], reflected inertia included. */
MOR_API double mor_robot_kinetic_energy(const mor_robot_model* model, const mor_robot_work* work);
/* Of the links in a uniform field of gravity [J], 0 with the centre of mass at the world's origin. */
MOR_API double mor_robot_potential_energy(const mor_robot_model* model, const mor_robot_work* work, mor_vec3 gravity);

/* ------------------------------------------------------------- another rigid-body library */

/* The quantities a simulated robot asks for, as one table, so that another library can compute them. Conventions
 * as above (mixed representation, row-major, world axes); `self` is handed to every function. After `update` all
 * others speak of that state. */
typedef struct mor_dynamics {
    const char* name; /* for messages */
    void* self;       /* handed to every function; must outlive the world */
    /* the state that all others speak of: base pose, s (n), nu (N) */
    void (*update)(void* self, const mor_pose* base, const double* s, const double* nu);
    void (*mass)(void* self, double* M);                     /* N x N, reflected inertia included */
    void (*bias)(void* self, mor_vec3 gravity, double* h);   /* N */
    void (*link_pose)(void* self, int link, mor_pose* pose); /* in the world */
    void (*link_jacobian)(void* self, int link, double* J);  /* 6 x N, of the link's origin */
    void (*link_bias)(void* self, int link, double bias[6]); /* Jdot nu of it */
} mor_dynamics;

/* ---------------------------------------------------------------------------------- URDF */

/* How a URDF file is read. */
typedef struct mor_urdf_options {
    bool floating;             /* base: floating, or fixed to the world */
    const char* const* joints; /* joints to keep, in this order; NULL: all, in order of appearance */
    int joint_count;           /* length of `joints` */
    const double* locked;      /* positions of all movable joints in order of appearance, used for those
                                  that are not kept; NULL: 0 */
    bool shapes;               /* read collision shapes */
    const char* packages;      /* where package://NAME/... and model://NAME/... are looked for, beside the
                                  directories above the file: a :-separated list; NULL: none */
    bool strict;               /* refuse impossible inertias instead of telling them in the notes */
} mor_urdf_options;

/* Floating base, all joints, no shapes, impossible inertias told in the notes. */
MOR_API mor_urdf_options mor_urdf_options_default(void);
/* A model with one owner. Every URDF link becomes a frame. Links on fixed and locked joints are merged into the link
 * that carries them. What was passed over or looks wrong is told in `notes`, one line each ("file:line:column:
 * ..."); may be NULL. NULL and a sentence with position on bad input. */
MOR_API mor_robot_model* mor_urdf_read(const char* path, const mor_urdf_options* options, char* notes,
                                       size_t notes_size, mor_error* error);

#ifdef __cplusplus
}
#endif
#endif
