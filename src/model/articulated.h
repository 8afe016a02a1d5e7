/* The inside of a robot model and its work space: flat arrays, one record per link, parents first. */
#ifndef MOREAU_MODEL_ARTICULATED_H
#define MOREAU_MODEL_ARTICULATED_H

#include "base/spatial.h"
#include "moreau/robot.h"

/* What the recursions read of one link. */
typedef struct mor_link_constant {
    int parent;
    int dof; /* index in nu */
    bool prismatic;
    int ball;   /* 1, 2, 3: one of the three links of a ball joint; 0: none */
    mor_mat3 R; /* joint frame in the parent's link frame */
    mor_vec3 r;
    mor_vec3 axis;  /* link frame */
    mor_rigid body; /* link axes, about the link's origin */
} mor_link_constant;

/* What they write. */
typedef struct mor_link_state {
    mor_mat3 R;              /* link to world */
    mor_vec3 p;              /* origin */
    mor_vec3 r;              /* from the parent's origin, world axes */
    mor_vec3 axis;           /* world */
    mor_vec3 v, w;           /* of the origin; angular */
    mor_vec3 bias_v, bias_w; /* acceleration over the joint at qdd = 0, beyond rigid motion with the parent */
    mor_rigid body;          /* world axes, about the origin */
} mor_link_state;

/* Left by the articulated-body algorithm for mor_robot_solve. */
typedef struct mor_link_factor {
    mor_inertia6 inertia;
    mor_vec3 Uf, Un; /* inertia times joint axis */
    double inverse;  /* 1/(S'U + reflected + extra) */
} mor_link_factor;

struct mor_robot_model {
    int references;
    int link_count, joint_count, dof, frame_count, shape_count, shape_capacity;
    bool floating;
    double mass;
    mor_link_def* links;
    mor_link_constant* constants;
    mor_frame_def* frames;
    mor_link_shape* shapes;
    int* link_of_joint;
    int* lambda;       /* dof -> the dof it moves on, -1: none; the branch structure of M */
    int* sequence;     /* dofs, carriers first */
    double* reflected; /* n: diagonal */
    double* coupling;  /* n x n, or NULL */
    /* it couples joints of one path to the base only, where M has entries anyway: L'DL without fill */
    bool path_coupling;
    bool balls; /* it has ball joints */
};

/* Sums over the links: mass properties about the base's origin, momentum about it, kinetic energy. */
typedef struct mor_link_sums {
    mor_rigid body;
    mor_vec3 p, L, com; /* L about the centre of mass; com in the world */
    double kinetic;
} mor_link_sums;

/* What a step needs of the states at its end, and the next at its start: made while they are at hand, forgotten when
 * they are written. */
typedef struct mor_link_summary {
    bool known;
    mor_link_sums sums; /* without inertia */
    double kinetic;     /* mor_robot_kinetic_energy */
} mor_link_summary;

struct mor_robot_work {
    int link_count;
    mor_link_summary summary;
    mor_link_state* states; /* its own, or those of the work space that they were handed to */
    mor_link_state* spare;  /* its own memory while it looks at another's; NULL: `states` is its own */
    mor_link_factor* factors;
    mor_vec3 *a, *b; /* per link: linear and angular accelerations */
    mor_vec3 *f, *n; /* per link: forces and moments */
    mor_vec3* w;     /* per link: angular velocities of mor_robot_bias */
    mor_rigid* composite;
    double* joint; /* per link: joint velocities, then joint forces of a sweep */
    double* u;
    double base_L[36]; /* Cholesky factor of the base's articulated inertia */
    double* dense;     /* dof^2: M and its Cholesky factor, only with a reflected inertia matrix */
    double* vector;    /* dof */
};

/* x := M^-1 x for eight right-hand sides, x[8 dof + side], that are zero off the path from `link` to the base: the six
 * velocities of a point of the link and two to spare; link -1: zero nowhere. With the factor of mor_robot_factor. */
void mor_robot_factor_solve8(const mor_robot_model* model, const double* LDL, int link, double* x);

/* What mor_robot_update wrote, from one work space to another. */
void mor_robot_copy_state(const mor_robot_model* model, const mor_robot_work* from, mor_robot_work* to);
/* The same without copying it: `to` gets the memory of `from`, which gets that of `to` in exchange and goes on looking
 * at its own until it writes (to places of its own) or copies. `to` must live as long as `from` looks. */
void mor_robot_hand_state(const mor_robot_model* model, mor_robot_work* from, mor_robot_work* to);

/* The outward half of inverse dynamics: a and b of the work space. */
void mor_robot_accelerations(const mor_robot_model* model, mor_robot_work* work, mor_vec3 gravity, const double* nudot);
/* Inverse dynamics with velocities nu (NULL: none) instead of those of the work space, which stay. */
void mor_robot_bias(const mor_robot_model* model, mor_robot_work* work, mor_vec3 gravity, const double* nu,
                    const double* nudot, double* out);
/* mor_robot_update of the velocities only. */
void mor_robot_velocities(const mor_robot_model* model, mor_robot_work* work, const double* nu);
/* Inverse dynamics at rest in the positions of `at`: only the forces of `scratch` are written. */
void mor_robot_statics(const mor_robot_model* model, const mor_robot_work* at, mor_robot_work* scratch,
                       mor_vec3 gravity, const double* wrenches, double* out);

/* s := s (+) h x: positions moved by h times the joint velocities x (n). */
void mor_robot_move(const mor_robot_model* model, double* s, double h, const double* x);
/* Rates of the chart s = s_0 (+) xi: x (n), joint velocities on entry, xi' on return. */
void mor_robot_chart(const mor_robot_model* model, const double* xi, double* x);
/* The rotation vector, at most pi long, of a unit quaternion. */
mor_vec3 mor_quat_log(mor_quat q);
/* Kinematics of a link of a ball joint, its parent's done (ball.c). */
void mor_ball_update(const mor_robot_model* model, mor_robot_work* work, int link, const double* s, const double* nu);
void mor_ball_velocities(const mor_robot_model* model, mor_robot_work* work, int link, const double* nu);
/* Angular velocity of what a ball joint carries, given that of its parent link in w. */
mor_vec3 mor_ball_spin(const mor_robot_model* model, const mor_robot_work* work, int link, const mor_vec3* w,
                       const double* nu);
/* Whether the ball joints among the links are written as they must be. */
mor_code mor_ball_check(const mor_link_def* links, int count, mor_error* error);

static inline int mor_robot_offset(const mor_robot_model* m) { return m->floating ? 6 : 0; }

/* mor_robot_forward_dynamics with `extra` (n, NULL: 0) added to the joint diagonal of M: implicit damping. */
bool mor_robot_forward_with(const mor_robot_model* model, mor_robot_work* work, mor_vec3 gravity, const double* f,
                            const double* wrenches, const double* extra, double* nudot);

/* Only what mor_robot_solve needs, with `extra` as above: no forces, no accelerations. False: singular. */
bool mor_robot_prepare_solve(const mor_robot_model* model, mor_robot_work* work, const double* extra);

#endif
