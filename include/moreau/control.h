/* Control of robots: motors, sensors, controllers, and the output bus.
 *
 *     mor_error error = { 0 };
 *     mor_urdf_options options = mor_urdf_options_default();
 *     options.floating = false;
 *     mor_world_def world_def = mor_world_def_default();
 *     mor_world* world = mor_world_create(&world_def, &error);
 *     mor_robot_def def = mor_robot_def_default();
 *     snprintf(def.name, sizeof def.name, "arm");
 *     def.model = mor_urdf_read("scenes/robots/arm2.urdf", &options, NULL, 0, &error);
 *     int arm = mor_world_add_robot(world, &def, &error);
 *     mor_robot_destroy(def.model); // the world has a reference of its own
 *     double goal[2] = { 0.3, -0.5 }, kp[2] = { 100, 50 }, kd[2] = { 10, 5 }, tau[2];
 *     mor_controller_def c = mor_controller_def_default();
 *     c.type = mor_library_controller(NULL, "pid"), c.robot = arm, c.target = goal, c.kp = kp, c.kd = kd;
 *     mor_world_add_controller(world, &c, &error);
 *     while (mor_world_time(world) < 1.0)
 *         if (mor_world_step(world, NULL, &error) != MOR_OK) break;
 *     mor_bus_read(world, mor_bus_find(world, "arm.tau"), tau);
 *     printf("torques %g %g N m\n", tau[0], tau[1]);
 *     mor_world_destroy(world);
 *
 * The walk of one step: user function, collision, controllers (as often as the control step asks) with the sensors of
 * the last step, their torques through the motors, then the rest of the step; after the integration sensors are read.
 * Controllers get the draft of the step as their world (mor_step_draft): its contacts are those just found.
 *
 * Threads: as for the world (world.h). Controllers and callbacks of the bus run on the thread that steps the world.
 * Ownership: definitions are copied, arrays in them too; types of controllers must outlive the world.
 * ABI: start definitions from their *_default function; plugin.h tells the library the size of mor_controller. */
#ifndef MOREAU_CONTROL_H
#define MOREAU_CONTROL_H

#include "moreau/library.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------- motors */

/* The motors of a robot, arrays of n numbers by joint (NULL: as said). What controllers ask for passes, in this order,
 *
 *     current limit   |(T Gamma)' tau| <= kt current_limit for every motor, Gamma = diag(1/ratio)
 *     torque limit    |tau| <= torque_limit at the joint
 *     speed limit     torque along the motion falls to 0 over the last 5 % before speed_limit
 *     dynamics        of first or second order with the given bandwidth
 *
 * Torques of mor_world_robot_apply go to the joints as they are. */
typedef struct mor_motors {
    const bool* actuated;        /* NULL: all */
    const double* ratio;         /* turns of the motor per turn of the joint; NULL: 1 */
    const double* kt;            /* motor constant [N m/A]; NULL or 0: no current limit */
    const double* current_limit; /* [A] */
    const double* torque_limit;  /* at the joint [N m, N]; NULL: the model's effort where it is positive; inf: none */
    const double* speed_limit;   /* of the joint [rad/s, m/s]; NULL: none */
    const double* viscous;       /* friction at the joint [N m s/rad], beyond the model's damping; implicit */
    const double* coulomb;       /* dry friction at the joint [N m], beyond the model's; rows of the step's problem */
    const double* bandwidth;     /* [Hz]; NULL or 0: the torque follows at once */
    const double* damping_ratio; /* of a second-order actuator; NULL or 0: first order */
    const double* coupling;      /* T, n x n row-major: joint speeds = T Gamma motor speeds; NULL: identity */
} mor_motors;

/* Keeps torques and accelerations of a robot for the bus. Scenes do this for all; so does anything below. */
MOR_API mor_code mor_world_watch_robot(mor_world* world, int robot, mor_error* error);
/* The motors of a robot; arrays are copied. Before the first step. Bad input for numbers that are not finite or have
 * the wrong sign, and for a coupling that is singular. */
MOR_API mor_code mor_world_set_motors(mor_world* world, int robot, const mor_motors* motors, mor_error* error);
/* What rotors add to the joints' inertia, (T Gamma)^-T diag(rotor) (T Gamma)^-1, into `matrix` (n x n): for
 * mor_robot_set_reflected. Bad input when T is singular. */
MOR_API mor_code mor_reflected_inertia(int n, const double* ratio, const double* rotor, const double* coupling,
                                       double* matrix, mor_error* error);
/* Joint torques of the last step, after the motors, mean over the step (n) [N m, N]. */
MOR_API void mor_world_motor_torques(const mor_world* world, int robot, double* tau);

/* ---------------------------------------------------------------------------------- feet */

/* A frame of a robot at which contact is watched: the contacts of the shapes that belong to it, or of all shapes of its
 * link if none does. */
typedef struct mor_foot_state {
    int frame;        /* its number in the model */
    bool contact;     /* a contact of the link pressed in the last step */
    double wrench[6]; /* force and moment about the frame's origin on the link, axes of the frame [N, N m] */
    /* centre of pressure: where the moment of the normal forces vanishes, world; NaN without contact */
    double cop[3];
} mor_foot_state;

/* Watches a frame. Its number among the robot's feet, or -1 and a sentence. */
MOR_API int mor_world_add_foot(mor_world* world, int robot, int frame, mor_error* error);
/* Feet of a robot. */
MOR_API int mor_world_foot_count(const mor_world* world, int robot);
/* What a foot felt: mean over the last step, at the poses of its start. */
MOR_API mor_foot_state mor_world_foot(const mor_world* world, int robot, int foot);
/* The same wrench as the original whole-body simulator reports it: in the axes of the robot's first foot, with the
 * moment turned round. */
MOR_API void mor_world_foot_original(const mor_world* world, int robot, int foot, double wrench[6]);

/* ------------------------------------------------------------------------------- sensors */

/* What a sensor reads: how many numbers, and which. */
typedef enum mor_sensor_kind {
    MOR_SENSOR_IMU,     /* 13: quaternion of the frame (w x y z), roll pitch yaw, proper acceleration, angular velocity,
                           both in the frame */
    MOR_SENSOR_ENCODER, /* 2: position and speed of a joint */
    MOR_SENSOR_TORQUE,  /* 6: wrench the parent exerts on the child through a joint, about the child's origin, child's
                           axes */
    MOR_SENSOR_FORCE,   /* 6: wrench of all contacts on a link, about a frame's origin, frame's axes */
    MOR_SENSOR_CONTACT  /* 1: whether the contacts of a link press with more than `threshold` */
} mor_sensor_kind;

/* A sensor of a robot. */
typedef struct mor_sensor_def {
    char name[MOR_NAME_SIZE]; /* empty: from kind and place */
    mor_sensor_kind kind;     /* what it reads */
    int robot;                /* its number in the world */
    int frame;                /* IMU, force, contact */
    int joint;                /* encoder, torque */
    double noise;             /* standard deviation of white noise, in the unit of the reading */
    double bias;              /* standard deviation of a constant bias, drawn once */
    double resolution;        /* encoders: positions are rounded to multiples; 0: not */
    double threshold;         /* contact switches [N] */
    uint64_t seed;            /* of noise and bias; sensors with the same seed draw the same numbers */
} mor_sensor_def;

/* An IMU of robot 0 without place, noise and bias; seed 1. */
MOR_API mor_sensor_def mor_sensor_def_default(void);
/* Adds a sensor; `def` is copied. Its number, or -1 and a sentence. */
MOR_API int mor_world_add_sensor(mor_world* world, const mor_sensor_def* def, mor_error* error);
/* Sensors of all robots. */
MOR_API int mor_world_sensor_count(const mor_world* world);
/* The definition of a sensor; lives as long as the world. */
MOR_API const mor_sensor_def* mor_world_sensor(const mor_world* world, int sensor);
/* What it read at the end of the last step, `count` numbers; valid until the next step. */
MOR_API const double* mor_world_sensor_value(const mor_world* world, int sensor, int* count);

/* --------------------------------------------------------------------------- controllers */

/* Values over time for joints. Between rows cubic (values and slopes continuous) or linear or held; before the first
 * row its values, after the last one's; `period` > 0 repeats. */
typedef struct mor_motion_table {
    int rows, joints;     /* joints: n of the robot */
    const double* times;  /* increasing [s] */
    const double* values; /* rows x joints */
    const bool* has;      /* joints: which columns are given */
    int interpolation;    /* 0 cubic, 1 linear, 2 hold */
    double period;        /* [s]; 0: once */
} mor_motion_table;

/* Value and first derivative of one joint at time t [s]. */
MOR_API void mor_motion_at(const mor_motion_table* table, int joint, double t, double* value, double* rate);

typedef struct mor_controller mor_controller;

/* A controller of one robot. */
typedef struct mor_controller_def {
    char name[64];                       /* for messages; empty: from the type */
    const mor_controller* type;          /* must outlive the world */
    int robot;                           /* its number in the world */
    const bool* joints;                  /* which it acts on; NULL: all that are actuated */
    const double *target, *kp, *ki, *kd; /* n each; NULL: 0 */
    const mor_motion_table* table;       /* targets, or torques, over time; copied; NULL: `target` */
    bool gravity_compensation;           /* adds mor_world_gravity_torque */
    bool sampled;          /* torques are computed from the state at the control instants and held; else gains are
                              implicit */
    double integral_limit; /* largest torque of the integral part; inf: none */
    double from, until;    /* acts in this time [s] */
    const void* options;   /* of the type, its options_size bytes; NULL: its defaults */
} mor_controller_def;

/* No type, robot 0, no gains, acts at all times. */
MOR_API mor_controller_def mor_controller_def_default(void);

/* What a controller is given, and what it gives back. It is asked at every control instant of an attempt at a step
 * (mor_world_on_user); with variable steps also in the trials that choose their length. What it remembers belongs into
 * `state`: attempts and trials that are not taken leave none of it. */
typedef struct mor_control_call {
    const mor_world* world;        /* as it is at the start of the step */
    const mor_controller_def* def; /* as it was added */
    const void* options;           /* of the type */
    int robot;                     /* its number in the world */
    const mor_robot_model* model;  /* of that robot */
    mor_robot_work* work;          /* updated to base, s, nu (unless joints_only): for the functions of robot.h; may be
                               overwritten */
    double time;                   /* of this control instant */
    double dt;                     /* to the next one */
    double step;                   /* h of the world, or the control step if that is longer */
    double horizon;                /* from this instant to its end */
    mor_vec3 gravity;              /* [m/s^2] */
    mor_pose base;                /* state at this instant; within a step it is extrapolated with constant velocities */
    const double *s, *nu;         /* n; N */
    const double* gravity_torque; /* n: joint torques that hold this pose, see mor_world_gravity_torque */
    double* state;                /* state_size numbers of its own, 0 at the start; saved in snapshots */
    mor_arena* scratch;           /* released after the call */
    double* tau;                  /* n, 0 on entry: joint torques */
    /* n, 0 on entry: if the joint's speed changes by dv in the step, its torque is tau - gain dv. The step takes this
     * implicitly, so that stiff gains need no small step. 0: torque is held */
    double* gain;
} mor_control_call;

/* A type of controller: one registry line. Plug-ins append theirs (plugin.h). */
struct mor_controller {
    const char* name;                                                     /* the word in scenes */
    const char* summary;                                                  /* one line */
    const char* reference;                                                /* key into docs/references.bib, or "" */
    size_t options_size;                                                  /* of its option struct; 0: none */
    const mor_field* fields;                                              /* its options; may be NULL */
    int (*state_size)(const mor_robot_model* model, const void* options); /* numbers kept from call to call; NULL: 0 */
    void (*control)(const mor_control_call* call); /* on the thread that steps the world; allocates nothing */
    bool joints_only;                              /* it does not read call->work, which is then left as it is */
};

/* Adds a controller. Its number, or -1 and a sentence. Everything is copied but `type`, which must outlive the world.
 * Torques of several controllers add up. */
MOR_API int mor_world_add_controller(mor_world* world, const mor_controller_def* def, mor_error* error);
/* Controllers of all robots. */
MOR_API int mor_world_controller_count(const mor_world* world);
/* The definition of a controller; lives as long as the world. */
MOR_API const mor_controller_def* mor_world_controller(const mor_world* world, int controller);
/* Other targets for a controller, n numbers [rad, m], from the next control instant on; snapshots do not hold them. Bad
 * input: no such controller, a number that is not finite. */
MOR_API mor_code mor_world_set_target(mor_world* world, int controller, const double* target, mor_error* error);
/* Controllers run every `period` seconds: several times in a step, once in it or in every few. 0: once per step. */
MOR_API mor_code mor_world_set_control_step(mor_world* world, double period, mor_error* error);
/* Joint torques (n) that hold the robot's present pose at rest. Fixed base: the gravity part of h. Floating base: the
 * base cannot be driven, so the contacts of the last step carry the weight: forces f at their points with least sum of
 * squares such that the base is in balance, tau = g - J' f. Without contacts the base part is left unbalanced. */
MOR_API void mor_world_gravity_torque(const mor_world* world, int robot, double* tau);

/* The type of that name, or NULL. NULL library: the built-in types. */
MOR_API const mor_controller* mor_library_controller(const mor_library* library, const char* name);
/* i-th type in registry order, NULL past the end. */
MOR_API const mor_controller* mor_library_controller_at(const mor_library* library, int i);
/* Appends a type, which must outlive the library. Bad input when the name is taken or `control` is missing. */
MOR_API mor_code mor_library_add_controller(mor_library* library, const mor_controller* controller, mor_error* error);

/* ------------------------------------------------------------------------ the output bus */

/* Every quantity of every robot by name, "robot.quantity": docs/robots.md has the table. */
typedef struct mor_bus_channel {
    char name[192];                         /* "robot.quantity" */
    const char *frame, *unit, *when, *help; /* frame of the numbers, unit, moment of the step, one sentence */
    int rows, cols;                         /* row-major */
} mor_bus_channel;

/* Number of channels, in a fixed order; the list grows with robots, feet and sensors. */
MOR_API int mor_bus_count(const mor_world* world);
/* Describes a channel. False past the end. */
MOR_API bool mor_bus_channel_at(const mor_world* world, int channel, mor_bus_channel* out);
/* The channel of that name. -1: no such name. */
MOR_API int mor_bus_find(const mor_world* world, const char* name);
/* Writes rows x cols numbers as they are now (docs/robots.md says of which moment). */
MOR_API void mor_bus_read(const mor_world* world, int channel, double* values);
/* Whether a name matches a pattern with * for any characters. */
MOR_API bool mor_bus_match(const char* pattern, const char* name);
/* `function` gets the values of the chosen channel after every step; at most 64. */
typedef void (*mor_bus_callback)(void* user, double time, const mor_bus_channel* channel, const double* values);
/* Subscribes to a channel. Bad input when it is not there or 64 are taken. */
MOR_API mor_code mor_bus_subscribe(mor_world* world, int channel, mor_bus_callback function, void* user,
                                   mor_error* error);

#ifdef __cplusplus
}
#endif
#endif
