/* Actuators as MuJoCo has them: a force on a length that is a sum of joint positions,
 *
 *     l = sum c_k s_k,   f = clamp((g . (1, l, l')) u + b . (1, l, l')),   tau_k = c_k f,
 *
 * u the control or, with dynamics, an activation: u' = control, or u' = (control - u)/T. The law is evaluated at the
 * end of the step as in laws.c: with l -> l + h l', df/dl' = -(K_d + h K) and the diagonal of c c' (K_d + h K)
 * implicit; where an actuator pulls on several joints, their coupling is taken at the start of the step. A force at its
 * limit is held. Lifts cancel the weight of masses: tau += J' (-m g).
 *
 * E. Todorov, T. Erez, Y. Tassa (2012), MuJoCo: a physics engine for model-based control, IROS 2012. */
#include "control/general.h"

#include "base/elementary.h"
#include "control/control.h"

static int one_per_actuator(const mor_robot_model* model, const void* options)
{
    (void)model;
    return ((const mor_general*)options)->count;
}

static double clamp(double x, double lower, double upper) { return x < lower ? lower : x > upper ? upper : x; }

/* The activation at the end of the interval, and what acts in it. */
static double input(const mor_control_call* c, const mor_general_actuator* a, double* state)
{
    if (a->dynamics == MOR_ACT_NONE) return a->control;
    if (a->dynamics == MOR_ACT_INTEGRATOR) *state += c->dt * a->control;
    else *state = a->control + (*state - a->control) * mor_exp(-c->dt / a->time_constant);
    return *state = clamp(*state, a->least, a->most);
}

static void pull(const mor_control_call* c, const mor_general_actuator* a, double* state)
{
    int offset = mor_robot_dof(c->model) - mor_robot_joint_count(c->model);
    double ahead = c->def->sampled ? 0.0 : c->horizon, u = input(c, a, state), l = a->offset, rate = 0.0;
    for (int k = 0; k < a->terms; k++) {
        l += a->coef[k] * c->s[a->joint[k]];
        rate += a->coef[k] * c->nu[offset + a->joint[k]];
    }
    double stiffness = -(a->bias[1] + a->gain[1] * u), damping = -(a->bias[2] + a->gain[2] * u), at = l + ahead * rate;
    double f = a->gain[0] * u + a->bias[0] - stiffness * at - damping * rate;
    if (a->slackened) { /* a dead band: the spring pulls from its ends only */
        double beyond = at < a->slack[0] ? at - a->slack[0] : at > a->slack[1] ? at - a->slack[1] : 0.0;
        f = -stiffness * beyond - damping * rate;
        if (beyond == 0.0) stiffness = 0.0;
    }
    double held = clamp(f, a->lower, a->upper), gain = held == f ? mor_max(0.0, damping + c->step * stiffness) : 0.0;
    for (int k = 0; k < a->terms; k++) {
        c->tau[a->joint[k]] += a->coef[k] * held;
        if (!c->def->sampled) c->gain[a->joint[k]] += a->coef[k] * a->coef[k] * gain;
    }
}

static void lift(const mor_control_call* c, const mor_general_lift* x)
{
    int n = mor_robot_joint_count(c->model), N = mor_robot_dof(c->model);
    double* row = mor_arena_alloc(c->scratch, ((size_t)N + 1) * sizeof *row);
    if (!row) return;
    mor_pose pose = mor_robot_link_pose(c->model, c->work, x->link);
    mor_robot_point_row(c->model, c->work, x->link, mor_pose_point(&pose, x->at), mor_scale(-x->mass, c->gravity), row);
    for (int j = 0; j < n; j++) c->tau[j] += row[N - n + j];
}

static void control(const mor_control_call* c)
{
    const mor_general* o = c->options;
    for (int i = 0; i < o->count; i++) pull(c, &o->actuators[i], &c->state[i]);
    for (int j = 0; o->force_limit && j < mor_robot_joint_count(c->model); j++) {
        double held = clamp(c->tau[j], o->force_limit[2 * j], o->force_limit[2 * j + 1]);
        if (held != c->tau[j]) c->gain[j] = 0.0;
        c->tau[j] = held;
    }
    for (int i = 0; i < o->lift_count; i++) lift(c, &o->lifts[i]);
}

const mor_controller mor_controller_general = {
    .name = "general",
    .summary = "actuators of an MJCF file: gain and bias on joints and fixed tendons; added by the reader",
    .reference = "todorov2012",
    .options_size = sizeof(mor_general),
    .state_size = one_per_actuator,
    .control = control,
};
