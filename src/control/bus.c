/* The output bus: every quantity of every watched robot by name, computed when it is read.
 *
 * Channels of a robot, of its feet, then of its sensors, robot by robot: their order does not change in a run. Reading
 * uses the scratch of the world's control: one reader at a time. */
#include "control/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum quantity {
    BASE_POSE,
    JOINTS,
    NU,
    NUDOT,
    TAU,
    MASS,
    BIAS,
    COM,
    MOMENTUM,
    ROBOT_QUANTITIES,
    FOOT_POSE = ROBOT_QUANTITIES,
    FOOT_J,
    FOOT_BIAS,
    FOOT_WRENCH,
    FOOT_CONTACT,
    FOOT_COP,
    QUANTITIES
} quantity;

static const struct {
    const char *name, *frame, *unit, *when, *help;
} table[QUANTITIES] = {
    [BASE_POSE] = { "base_pose", "world", "m; quaternion w x y z", "end of the step",
                    "position and orientation of the base link's frame" },
    [JOINTS] = { "s", "joints", "rad or m", "end of the step", "joint positions" },
    [NU] = { "nu", "world axes at the base link's origin; joints", "m/s, rad/s", "end of the step",
             "generalised velocity: base linear, base angular, joints (fixed base: joints)" },
    [NUDOT] = { "nudot", "as nu", "m/s^2, rad/s^2", "mean over the step",
                "(nu at the end - nu at the start)/h, impacts included" },
    [TAU] = { "tau", "joints", "N m or N", "mean over the step",
              "torques of the motors, after limits and actuator dynamics" },
    [MASS] = { "M", "as nu", "kg, kg m, kg m^2", "end of the step", "mass matrix with reflected inertia" },
    [BIAS] = { "h", "as nu", "N, N m", "end of the step",
               "Coriolis, centrifugal and gravity terms: M nudot + h = forces" },
    [COM] = { "com", "world", "m", "end of the step", "centre of mass, base included" },
    [MOMENTUM] = { "momentum", "world axes about the centre of mass", "N s, N m s", "end of the step",
                   "linear, then angular momentum" },
    [FOOT_POSE] = { "pose", "world", "m; quaternion w x y z", "end of the step", "pose of the foot's frame" },
    [FOOT_J] = { "J", "world axes at the frame's origin", "1, m", "end of the step",
                 "Jacobian: velocity of the frame's origin and angular velocity = J nu" },
    [FOOT_BIAS] = { "Jdot_nu", "world axes at the frame's origin", "m/s^2, rad/s^2", "end of the step",
                    "acceleration of the frame at nudot = 0" },
    [FOOT_WRENCH] = { "wrench", "the foot's frame, about its origin", "N, N m",
                      "mean over the step, frame at its start", "force and moment of all contacts on the foot's link" },
    [FOOT_CONTACT] = { "contact", "", "0 or 1", "during the step", "whether a contact of the link pressed" },
    [FOOT_COP] = { "cop", "world", "m", "mean over the step", "centre of pressure; NaN without contact" },
};

static const char* const sensor_help[] = { "quaternion, roll pitch yaw, proper acceleration, angular velocity",
                                           "position, speed", "wrench through the joint on the child link",
                                           "wrench of all contacts on the link",
                                           "whether the contacts press with more than the threshold" };
static const char* const sensor_unit[] = { "1; rad; m/s^2; rad/s", "rad or m; rad/s or m/s", "N, N m", "N, N m",
                                           "0 or 1" };
static const char* const sensor_frame[] = { "the sensor's link (orientation: world)", "joint",
                                            "the child link, about its origin", "the sensor's link, about its origin",
                                            "" };
static const char* const sensor_when[] = { "end of the step; acceleration: mean over the step", "end of the step",
                                           "mean over the step", "mean over the step", "during the step" };

/* Where a channel comes from. */
typedef struct place {
    int robot, foot, sensor; /* foot, sensor: -1 if not */
    quantity what;
} place;

static int channels_of(const mor_world* w, int robot)
{
    const mor_control_robot* c = w->control->robots[robot];
    if (!c) return 0;
    int count = ROBOT_QUANTITIES + c->foot_count * (QUANTITIES - FOOT_POSE);
    for (int k = 0; k < w->control->sensors.count; k++)
        count += ((const mor_sensor*)w->control->sensors.data)[k].def.robot == robot;
    return count;
}

int mor_bus_count(const mor_world* w)
{
    int count = 0;
    for (int i = 0; w->control && i < w->control->robot_count; i++) count += channels_of(w, i);
    return count;
}

static bool find(const mor_world* w, int channel, place* p)
{
    for (int i = 0; w->control && channel >= 0 && i < w->control->robot_count; i++) {
        int count = channels_of(w, i);
        if (channel >= count) {
            channel -= count;
            continue;
        }
        const mor_control_robot* c = w->control->robots[i];
        int per_foot = QUANTITIES - FOOT_POSE;
        *p = (place){ i, -1, -1, (quantity)channel };
        if (channel < ROBOT_QUANTITIES) return true;
        channel -= ROBOT_QUANTITIES;
        if (channel < c->foot_count * per_foot) {
            p->foot = channel / per_foot;
            p->what = (quantity)(FOOT_POSE + channel % per_foot);
            return true;
        }
        channel -= c->foot_count * per_foot;
        const mor_sensor* sensors = w->control->sensors.data;
        for (int k = 0; k < w->control->sensors.count; k++)
            if (sensors[k].def.robot == i && channel-- == 0) {
                p->sensor = k;
                return true;
            }
        return false;
    }
    return false;
}

static void size_of(const mor_robot_model* m, quantity what, int* rows, int* cols)
{
    int n = m->joint_count, N = m->dof;
    const int sizes[QUANTITIES][2] = {
        [BASE_POSE] = { 7, 1 },   [JOINTS] = { n, 1 },       [NU] = { N, 1 },      [NUDOT] = { N, 1 },
        [TAU] = { n, 1 },         [MASS] = { N, N },         [BIAS] = { N, 1 },    [COM] = { 3, 1 },
        [MOMENTUM] = { 6, 1 },    [FOOT_POSE] = { 7, 1 },    [FOOT_J] = { 6, N },  [FOOT_BIAS] = { 6, 1 },
        [FOOT_WRENCH] = { 6, 1 }, [FOOT_CONTACT] = { 1, 1 }, [FOOT_COP] = { 3, 1 }
    };
    *rows = sizes[what][0];
    *cols = sizes[what][1];
}

bool mor_bus_channel_at(const mor_world* w, int channel, mor_bus_channel* out)
{
    place p;
    if (!find(w, channel, &p)) return false;
    const mor_robot* r = w->robots[p.robot];
    memset(out, 0, sizeof *out);
    if (p.sensor >= 0) {
        const mor_sensor* s = &((const mor_sensor*)w->control->sensors.data)[p.sensor];
        int k = (int)s->def.kind;
        snprintf(out->name, sizeof out->name, "%s.%s", r->name, s->def.name);
        out->frame = sensor_frame[k], out->unit = sensor_unit[k], out->when = sensor_when[k],
        out->help = sensor_help[k];
        out->rows = s->size, out->cols = 1;
        return true;
    }
    if (p.foot >= 0) {
        const char* foot = r->model->frames[w->control->robots[p.robot]->feet[p.foot].frame].name;
        snprintf(out->name, sizeof out->name, "%s.%s.%s", r->name, foot, table[p.what].name);
    } else {
        snprintf(out->name, sizeof out->name, "%s.%s", r->name, table[p.what].name);
    }
    out->frame = table[p.what].frame, out->unit = table[p.what].unit, out->when = table[p.what].when,
    out->help = table[p.what].help;
    size_of(r->model, p.what, &out->rows, &out->cols);
    return true;
}

int mor_bus_find(const mor_world* w, const char* name)
{
    mor_bus_channel c;
    for (int i = 0; mor_bus_channel_at(w, i, &c); i++)
        if (strcmp(c.name, name) == 0) return i;
    return -1;
}

static void put_pose(const mor_pose* p, double* out)
{
    memcpy(out,
           (double[7]){ p->position.x, p->position.y, p->position.z, p->rotation.w, p->rotation.x, p->rotation.y,
                        p->rotation.z },
           7 * sizeof *out);
}

void mor_bus_read(const mor_world* w, int channel, double* out)
{
    place p;
    if (!find(w, channel, &p)) return;
    const mor_robot* r = w->robots[p.robot];
    const mor_robot_model* m = r->model;
    const mor_control_robot* c = w->control->robots[p.robot];
    if (p.sensor >= 0) {
        int count;
        const double* value = mor_world_sensor_value(w, p.sensor, &count);
        memcpy(out, value, (size_t)count * sizeof *out);
        return;
    }
    int frame = p.foot >= 0 ? c->feet[p.foot].frame : -1;
    const double* foot = p.foot >= 0 ? (const double*)w->control->state.data + c->feet[p.foot].state : NULL;
    switch (p.what) {
    case BASE_POSE:
        put_pose(&r->base, out);
        break;
    case JOINTS:
        memcpy(out, r->s, (size_t)m->joint_count * sizeof *out);
        break;
    case NU:
        memcpy(out, r->nu, (size_t)m->dof * sizeof *out);
        break;
    case NUDOT:
        memcpy(out, c->nudot, (size_t)m->dof * sizeof *out);
        break;
    case TAU:
        memcpy(out, c->tau, (size_t)m->joint_count * sizeof *out);
        break;
    case MASS:
    case BIAS:
        mor_robot_update(m, c->work, &r->base, r->s, r->nu);
        if (p.what == MASS) mor_robot_mass_matrix(m, c->work, out);
        else mor_robot_inverse_dynamics(m, c->work, w->gravity, NULL, NULL, out);
        break;
    case COM: {
        mor_vec3 x = mor_robot_com(m, r->work);
        memcpy(out, (double[3]){ x.x, x.y, x.z }, 3 * sizeof *out);
        break;
    }
    case MOMENTUM:
        mor_robot_momentum(m, r->work, mor_robot_com(m, r->work), out);
        break;
    case FOOT_POSE: {
        mor_pose pose = mor_robot_frame_pose(m, r->work, frame);
        put_pose(&pose, out);
        break;
    }
    case FOOT_J:
        mor_robot_frame_jacobian(m, r->work, frame, out);
        break;
    case FOOT_BIAS:
        mor_robot_frame_bias(m, r->work, frame, out);
        break;
    case FOOT_CONTACT:
        out[0] = foot[0];
        break;
    case FOOT_WRENCH:
        memcpy(out, foot + 1, 6 * sizeof *out);
        break;
    case FOOT_COP:
        memcpy(out, foot + 7, 3 * sizeof *out);
        break;
    case QUANTITIES:
        break;
    }
}

bool mor_bus_match(const char* pattern, const char* name)
{
    const char *star = NULL, *back = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            back = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++back;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}

mor_code mor_bus_subscribe(mor_world* w, int channel, mor_bus_callback function, void* user, mor_error* error)
{
    mor_bus_channel c;
    if (!function || !mor_bus_channel_at(w, channel, &c))
        return mor_fail(error, MOR_BAD_INPUT, "there is no channel number %d on the bus", channel);
    mor_control* control = w->control;
    if (control->listener_count == (int)(sizeof control->listeners / sizeof *control->listeners))
        return mor_fail(error, MOR_BAD_INPUT, "the bus has room for %d listeners",
                        (int)(sizeof control->listeners / sizeof *control->listeners));
    double* values = calloc((size_t)(c.rows * c.cols) + 1, sizeof *values);
    if (!values) return mor_fail(error, MOR_SYSTEM, "out of memory");
    control->listeners[control->listener_count++] = (mor_bus_listener){ channel, function, user, values };
    return MOR_OK;
}
