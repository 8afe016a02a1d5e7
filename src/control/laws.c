/* Joint laws: PID on positions (constant or over time), on speeds, and torques over time.
 *
 * Implicit (the default): the law is evaluated at the end of the step,
 *
 *     tau = kp (s*(t+h) - s - h s'+) + kd (s*'(t+h) - s'+) + i + g(q)
 *         = tau_0 - (kd + h kp) (s'+ - s'),     tau_0 at s'+ = s',
 *
 * the limit of a controller much faster than the step: stable for any gains, first order in h. Sampled: the law of a
 * digital controller that reads s, s' at its instants and holds the torque; it needs (kd + p kp) p smaller than the
 * inertia.
 *
 * i' = ki (s* - s), kept within integral_limit. g: gravity compensation (support.c).
 *
 * J. Tan, K. Liu, G. Turk (2011), Stable proportional-derivative controllers, IEEE CG&A 31. */
#include "control/control.h"

static int one_per_joint(const mor_robot_model* model, const void* options)
{
    (void)options;
    return mor_robot_joint_count(model);
}

static void goal(const mor_control_call* c, int j, double t, double* value, double* rate)
{
    *value = c->def->target[j];
    *rate = 0.0;
    if (c->def->table && c->def->table->has[j]) mor_motion_at(c->def->table, j, t, value, rate);
}

static double integrate(const mor_control_call* c, int j, double error)
{
    double limit = c->def->integral_limit, i = c->state[j] + c->dt * c->def->ki[j] * error;
    return c->state[j] = i > limit ? limit : i < -limit ? -limit : i;
}

static void position_law(const mor_control_call* c)
{
    const mor_controller_def* d = c->def;
    int n = mor_robot_joint_count(c->model), offset = mor_robot_dof(c->model) - n;
    double ahead = d->sampled ? 0.0 : c->horizon;
    for (int j = 0; j < n; j++) {
        if (!d->joints[j]) continue;
        double value, rate, speed = c->nu[offset + j];
        goal(c, j, c->time + ahead, &value, &rate);
        double error = value - c->s[j] - ahead * speed;
        c->tau[j] = d->kp[j] * error + d->kd[j] * (rate - speed) + (c->gravity_torque ? c->gravity_torque[j] : 0.0);
        if (d->ki[j] != 0.0) c->tau[j] += integrate(c, j, error);
        if (!d->sampled) c->gain[j] = d->kd[j] + c->step * d->kp[j];
    }
}

static void velocity_law(const mor_control_call* c)
{
    const mor_controller_def* d = c->def;
    int n = mor_robot_joint_count(c->model), offset = mor_robot_dof(c->model) - n;
    for (int j = 0; j < n; j++) {
        if (!d->joints[j]) continue;
        double value, rate;
        goal(c, j, c->time + (d->sampled ? 0.0 : c->horizon), &value, &rate);
        double error = value - c->nu[offset + j];
        c->tau[j] = d->kd[j] * error + (c->gravity_torque ? c->gravity_torque[j] : 0.0);
        if (d->ki[j] != 0.0) c->tau[j] += integrate(c, j, error);
        if (!d->sampled) c->gain[j] = d->kd[j];
    }
}

static void torque_law(const mor_control_call* c)
{
    const mor_controller_def* d = c->def;
    for (int j = 0; j < mor_robot_joint_count(c->model); j++) {
        if (!d->joints[j]) continue;
        double rate;
        goal(c, j, c->time + 0.5 * c->dt, &c->tau[j], &rate);
        if (c->gravity_torque) c->tau[j] += c->gravity_torque[j];
    }
}

/* The integral moves on with the error, unless it is at its limit. */
static double integral_slope(const mor_controller_def* d, int j, double integral, double dt)
{
    return d->ki[j] != 0.0 && fabs(integral) < d->integral_limit ? dt * d->ki[j] : 0.0;
}

bool mor_law_add_slopes(const mor_controller_def* d, int n, const double* integrals, double dt, double* by_s,
                        double* by_speed)
{
    bool position = d->type->control == position_law, velocity = d->type->control == velocity_law;
    double ahead = d->sampled ? 0.0 : dt;
    for (int j = 0; j < n && (position || velocity); j++) {
        if (!d->joints[j]) continue;
        double i = integral_slope(d, j, integrals[j], dt), kp = position ? d->kp[j] + i : 0.0;
        by_s[j] -= kp;
        by_speed[j] -= ahead * kp + d->kd[j] + (velocity ? i : 0.0);
    }
    return position || velocity || d->type->control == torque_law;
}

const mor_controller mor_controller_pid = {
    .name = "pid",
    .summary = "joint positions: kp, ki, kd on the error, optional gravity compensation",
    .reference = "tan2011",
    .state_size = one_per_joint,
    .control = position_law,
    .joints_only = true,
};
const mor_controller mor_controller_trajectory = {
    .name = "trajectory",
    .summary = "joint positions over time (file or moves), with speeds fed forward: the law of pid",
    .reference = "tan2011",
    .state_size = one_per_joint,
    .control = position_law,
    .joints_only = true,
};
const mor_controller mor_controller_velocity = {
    .name = "velocity",
    .summary = "joint speeds, constant or over time: kd on the error of the speed, ki on its integral",
    .reference = "tan2011",
    .state_size = one_per_joint,
    .control = velocity_law,
    .joints_only = true,
};
const mor_controller mor_controller_torque = {
    .name = "torque",
    .summary = "joint torques, constant or over time",
    .reference = "",
    .control = torque_law,
    .joints_only = true,
};
