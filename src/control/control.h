/* The inside of the control room: what a world keeps of motors, sensors, controllers and the bus. */
#ifndef MOREAU_CONTROL_CONTROL_H
#define MOREAU_CONTROL_CONTROL_H

#include "model/articulated.h"
#include "model/step.h"
#include "moreau/control.h"

/* One robot under control: everything by joint. */
typedef struct mor_control_robot {
    int robot;
    double* memory; /* all arrays below that are not state, one block */
    bool* actuated;
    double *ratio, *kt, *current_limit, *torque_limit, *speed_limit, *bandwidth, *damping_ratio;
    double *transmission, *transmission_inverse; /* T Gamma, n x n; NULL: diagonal by ratio */
    /* of the step at hand */
    double *command, *gain; /* sum of the controllers: what they ask for at constant velocity, and its gain */
    double* others;         /* joint forces applied by the user stage */
    double* applied;        /* by the motors at constant velocity, mean over the step */
    int* saturated;         /* -1, 0, 1 */
    double* share;          /* of the command that reaches the joint within the step (actuator dynamics), mean */
    /* start of the step, and what came of it */
    mor_pose base;
    double *s, *nu, *nudot, *tau; /* n, N, N, n: tau after the motors, mean over the step */
    double* wrenches;             /* 6 per link: contacts and applied forces */
    double *held_tau, *held_gain; /* in state: with a control step longer than the step */
    mor_robot_work *work, *start; /* scratch; the state at the start of the step */
    double *call_s, *call_nu, *call_tau, *call_gain, *gravity_torque, *vector; /* scratch */
    bool has_gravity;                                                          /* gravity_torque is that of this step */
    const double* held_gravity; /* taken as gravity_torque; NULL: it is computed (derivative/control_slopes.c) */
    struct mor_foot {
        int frame, state; /* state: contact, wrench (6), centre of pressure (3) */
        mor_pose start;   /* of the frame, at the start of the step */
    } * feet;
    int foot_count;
    int state; /* first of its numbers in the state: 2n actuator, 2n held */
} mor_control_robot;

typedef struct mor_control_entry {
    mor_controller_def def; /* owns its arrays */
    mor_motion_table table;
    void* memory; /* of the arrays */
    void* options;
    int state, state_size;
} mor_control_entry;

typedef struct mor_sensor {
    mor_sensor_def def;
    int size;  /* numbers of a reading */
    int state; /* value (size), then bias (size), then the generator (2 halves) */
} mor_sensor;

typedef struct mor_bus_listener {
    int channel;
    mor_bus_callback function;
    void* user;
    double* values;
} mor_bus_listener;

typedef struct mor_control {
    double period; /* 0: the step */
    mor_control_robot** robots;
    int robot_count;
    mor_buffer controllers; /* mor_control_entry */
    mor_buffer sensors;     /* mor_sensor */
    mor_buffer state;       /* double: all that lives longer than a step */
    double next;            /* in a long control step: the next control instant */
    mor_arena* scratch;
    const int *touch_start, *touches; /* while controllers run: contacts by robot (support.c); NULL: not known */
    mor_bus_listener listeners[64];
    int listener_count;
} mor_control;

/* The control of a world, made on first use; NULL: out of memory. */
mor_control* mor_control_of(mor_world* world);
/* The record of a robot, made on first use; NULL: out of memory. */
mor_control_robot* mor_control_robot_of(mor_world* world, int robot);
/* NULL: there is none. */
const mor_control_robot* mor_control_robot_find(const mor_world* world, int robot);
/* `count` zeroed numbers of state; their first index, -1: out of memory. */
int mor_control_reserve_state(mor_world* world, int count);
void mor_control_destroy(mor_world* world);

/* The twin of a world's control in the draft of a step: shared definitions, numbers of its own. Take: makes it and
 * copies the numbers (false: out of memory). Give: copies them back. */
bool mor_control_take(const mor_world* world, mor_control** twin);
void mor_control_give(mor_world* world, const mor_control* twin);
void mor_control_twin_destroy(mor_control* twin);

/* The four places where a step meets control; all but the last work on the step's draft. */
/* controllers and motors: joint forces and implicit gains; step: whose draft it is, NULL: without its threads */
void mor_control_begin(mor_world* draft, mor_step* step);
bool mor_control_revise(const mor_step* step, int pass); /* after the solve: true if limits changed and the step must be
                                                            solved again */
void mor_control_end(const mor_step* step);              /* after the integration: torques, sensors */
void mor_control_tell(mor_world* world);                 /* after the commit: listeners of the bus */

/* How often controllers run [s]; 0: in every step. */
double mor_control_period(const mor_world* world);

/* State as numbers for snapshots. */
int mor_control_numbers(const mor_world* world);
void mor_control_save(const mor_world* world, double* out);
void mor_control_restore(mor_world* world, const double* in);

/* actuator.c */
mor_control_robot* mor_control_robot_create(mor_world* world, int robot);
void mor_control_robot_destroy(mor_control_robot* c);
/* The twin of a robot's record (NULL: out of memory), its numbers, its end. Definitions are shared. */
mor_control_robot* mor_control_robot_twin(const mor_control_robot* c, const mor_robot_model* model);
bool mor_control_robot_copy(const mor_control_robot* from, mor_control_robot* to, const mor_robot_model* model);
/* What a step changes of it and others may read. */
void mor_control_robot_copy_state(const mor_control_robot* from, mor_control_robot* to, const mor_robot_model* model);
void mor_control_robot_twin_destroy(mor_control_robot* twin);
/* From commands and saturation flags to `applied` and the robot's tau and gain; first pass: flags from the commands. */
void mor_motors_apply(mor_world* world, mor_control_robot* c, bool first);
/* Torque of a joint for the velocity change dv, and the new actuator state. */
void mor_motors_finish(mor_world* world, mor_control_robot* c, const double* nu_new);
/* The command of a joint before its limit for a change of velocity. */
static inline double mor_motor_wish(const mor_control_robot* c, int j, double dv)
{
    return c->command[j] - c->gain[j] * dv;
}

/* support.c */
#define MOR_SUPPORT_REGULAR 1e-9 /* of the trace of A A' */
/* The link of `robot` in a contact with the surroundings, -1: none; the point on it. */
int mor_support_of(const mor_world* world, const mor_robot* robot, const mor_contact* contact, mor_vec3* point);
void mor_gravity_torque(const mor_world* world, const mor_robot* robot, mor_robot_work* work, double* vector,
                        mor_arena* scratch, double* tau);
/* The torques of all robots whose controllers ask for them, if the step has threads for it. */
void mor_gravity_torques(mor_step* step);
/* Lists the contacts of every robot, from the scratch of the control; the caller forgets them. */
void mor_control_list_touches(mor_world* world);

/* sensor.c */
void mor_sensors_read(mor_world* world);
/* Sum of contact forces on a link about a point, world axes, of the last step; also the force along the normals. */
void mor_contact_wrench(const mor_world* world, int body, int frame, mor_vec3 point, double wrench[6], double* pressure,
                        mor_vec3* cop);

extern const mor_controller mor_controller_pid, mor_controller_trajectory, mor_controller_velocity,
    mor_controller_torque, mor_controller_balance, mor_controller_general;
const mor_controller* const* mor_controllers(void);

/* Adds the slopes of a law of joints that runs once per step of length dt: of each torque by the joint's position and
 * speed. Gains are constant, and the gravity torque is added as it is. `integrals` are those after the call. False: not
 * a law of laws.c, nothing is added. */
bool mor_law_add_slopes(const mor_controller_def* def, int joints, const double* integrals, double dt, double* by_s,
                        double* by_speed);

#endif
