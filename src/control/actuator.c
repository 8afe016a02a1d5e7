/* Motors: from what controllers ask for to what reaches the joints.
 *
 * A transmission with ratios and couplings moves the joints by s' = T Gamma m', Gamma = diag(1/ratio), so torques go
 * tau = (T Gamma)^-T tau_m and rotors of inertia I_m feel like (T Gamma)^-T I_m (T Gamma)^-1 at the joints. The current
 * limits bound |tau_m| <= kt i; without couplings that is |tau| <= kt i ratio and one limit with the joint's own.
 *
 * Actuator dynamics with bandwidth f, w = 2 pi f, input c constant over the step, y = tau - c:
 *
 *     first order    y' = -w y                       second order    y'' + 2 zeta w y' + w^2 y = 0
 *
 * both solved exactly: (y, y')(h) = [A B; C D] (y, y')(0), and with the integral of the equation over the step the mean
 * torque
 *
 *     mean = c + K1 y0 + K2 y0',   K1 = -(C + 2 zeta w (A - 1))/(w^2 h),   K2 = -(D - 1 + 2 zeta w B)/(w^2 h)
 *
 * (first order: K1 = (1 - A)/(w h)). The share 1 - K1 of the command acts within the step, and the same share of its
 * gain. */
#include "base/elementary.h"
#include "base/failed.h"
#include "control/control.h"

#include "base/copy.h"
#include "linalg/dense.h"

#include <stdlib.h>
#include <string.h>

void mor_control_robot_destroy(mor_control_robot* c)
{
    if (!c) return;
    mor_robot_work_destroy(c->work);
    mor_robot_work_destroy(c->start);
    free(c->memory);
    free(c->transmission);
    free(c->actuated);
    free(c->saturated);
    free(c->feet);
    free(c);
}

/* Numbers in the one block of memory. */
static size_t block_numbers(const mor_robot_model* m)
{
    return 20 * (size_t)m->joint_count + 4 * (size_t)m->dof + 6 * (size_t)m->link_count + 1;
}

static double* part(double** at, size_t n)
{
    double* mine = *at;
    *at += n;
    return mine;
}

/* Limits of the model: effort where it says one. */
static void default_limits(const mor_robot_model* m, mor_control_robot* c)
{
    for (int j = 0; j < m->joint_count; j++) {
        const mor_link_def* l = &m->links[m->link_of_joint[j]];
        c->actuated[j] = l->mimic < 0;
        c->ratio[j] = 1.0;
        c->torque_limit[j] = l->effort > 0.0 ? l->effort : INFINITY;
        c->speed_limit[j] = INFINITY;
    }
}

/* The arrays of a record in its block of memory. */
static void carve(const mor_robot_model* m, mor_control_robot* c)
{
    size_t n = (size_t)m->joint_count, N = (size_t)m->dof, L = (size_t)m->link_count;
    double* at = c->memory;
    double** by_joint[] = { &c->ratio,
                            &c->kt,
                            &c->current_limit,
                            &c->torque_limit,
                            &c->speed_limit,
                            &c->bandwidth,
                            &c->damping_ratio,
                            &c->command,
                            &c->gain,
                            &c->others,
                            &c->applied,
                            &c->share,
                            &c->s,
                            &c->tau,
                            &c->call_s,
                            &c->call_tau,
                            &c->call_gain,
                            &c->gravity_torque };
    for (size_t k = 0; k < sizeof by_joint / sizeof *by_joint; k++) *by_joint[k] = part(&at, n);
    double** by_dof[] = { &c->nu, &c->nudot, &c->call_nu, &c->vector };
    for (size_t k = 0; k < sizeof by_dof / sizeof *by_dof; k++) *by_dof[k] = part(&at, N);
    c->wrenches = part(&at, 6 * L);
}

/* A record with its memory, without definitions. */
static mor_control_robot* allocate(const mor_robot_model* m)
{
    mor_control_robot* c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->work = mor_robot_work_create(m);
    c->start = mor_robot_work_create(m);
    c->memory = calloc(block_numbers(m), sizeof(double));
    c->saturated = calloc((size_t)m->joint_count + 1, sizeof *c->saturated);
    if (!c->work || !c->start || !c->memory || !c->saturated) {
        mor_control_robot_destroy(c);
        return NULL;
    }
    carve(m, c);
    return c;
}

mor_control_robot* mor_control_robot_create(mor_world* w, int robot)
{
    const mor_robot_model* m = w->robots[robot]->model;
    mor_control_robot* c = allocate(m);
    if (!c) return NULL;
    c->robot = robot;
    c->actuated = calloc((size_t)m->joint_count + 1, sizeof *c->actuated);
    c->state = c->actuated ? mor_control_reserve_state(w, 5 * m->joint_count) : -1;
    if (c->state < 0) {
        mor_control_robot_destroy(c);
        return NULL;
    }
    default_limits(m, c);
    return c;
}

mor_control_robot* mor_control_robot_twin(const mor_control_robot* from, const mor_robot_model* model)
{
    mor_control_robot* c = allocate(model);
    if (c) c->robot = from->robot;
    return c;
}

bool mor_control_robot_copy(const mor_control_robot* from, mor_control_robot* to, const mor_robot_model* m)
{
    if (to->foot_count != from->foot_count) { /* only a twin is behind */
        struct mor_foot* feet = realloc(to->feet, (size_t)from->foot_count * sizeof *feet);
        if (!feet) return false;
        to->feet = feet;
        to->foot_count = from->foot_count;
    }
    if (from->foot_count) memcpy(to->feet, from->feet, (size_t)from->foot_count * sizeof *to->feet);
    mor_copy(to->memory, from->memory, block_numbers(m) * sizeof *to->memory);
    memcpy(to->saturated, from->saturated, (size_t)m->joint_count * sizeof *to->saturated);
    to->actuated = from->actuated;
    to->transmission = from->transmission;
    to->transmission_inverse = from->transmission_inverse;
    to->base = from->base;
    to->state = from->state;
    return true;
}

void mor_control_robot_copy_state(const mor_control_robot* from, mor_control_robot* to, const mor_robot_model* m)
{
    memcpy(to->tau, from->tau, (size_t)m->joint_count * sizeof *to->tau);
    memcpy(to->nudot, from->nudot, (size_t)m->dof * sizeof *to->nudot);
    if (from->foot_count) memcpy(to->feet, from->feet, (size_t)from->foot_count * sizeof *to->feet);
}

void mor_control_robot_twin_destroy(mor_control_robot* c)
{
    if (!c) return;
    c->actuated = NULL;
    c->transmission = NULL;
    mor_control_robot_destroy(c);
}

/* --------------------------------------------------------------------------------- definition */

/* T Gamma (row-major) and its inverse into out[0 .. n^2), out[n^2 ..). */
static mor_code transmission(int n, const double* ratio, const double* coupling, double* out, mor_error* error)
{
    double* inverse = out + n * n;
    int* pivot = malloc(((size_t)n + 1) * sizeof *pivot);
    double* copy = malloc(((size_t)(n * n) + 1) * sizeof *copy);
    bool ok = pivot && copy;
    if (!ok) mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; ok && i < n; i++)
        for (int j = 0; j < n; j++) {
            out[i * n + j] = (coupling ? coupling[i * n + j] : i == j) / (ratio ? ratio[j] : 1.0);
            copy[i + j * n] = out[i * n + j];
        }
    if (ok && n > 0 && !mor_lu_factor(n, copy, pivot)) {
        mor_fail(error, MOR_BAD_INPUT, "the coupling matrix of the motors is singular");
        ok = false;
    }
    for (int j = 0; ok && j < n; j++) {
        double column[256];
        double* x = n <= 256 ? column : NULL;
        if (!x) {
            mor_fail(error, MOR_BAD_INPUT, "motor couplings of more than 256 joints");
            ok = false;
            break;
        }
        for (int i = 0; i < n; i++) x[i] = i == j;
        mor_lu_solve(n, copy, pivot, x);
        for (int i = 0; i < n; i++) inverse[i * n + j] = x[i];
    }
    free(pivot);
    free(copy);
    return ok ? MOR_OK : mor_failed(error, MOR_BAD_INPUT);
}

mor_code mor_reflected_inertia(int n, const double* ratio, const double* rotor, const double* coupling, double* matrix,
                               mor_error* error)
{
    double* t = malloc((2 * (size_t)(n * n) + 1) * sizeof *t);
    if (!t) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_code code = transmission(n, ratio, coupling, t, error);
    const double* X = t + n * n;
    for (int i = 0; code == MOR_OK && i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) sum += X[k * n + i] * rotor[k] * X[k * n + j];
            matrix[i * n + j] = sum;
        }
    free(t);
    return code;
}

static mor_code check(const mor_robot* r, const mor_motors* d, mor_error* error)
{
    const struct {
        const char* name;
        const double* values;
        bool positive;
    } all[] = { { "ratio", d->ratio, true },
                { "kt", d->kt, false },
                { "current_limit", d->current_limit, false },
                { "torque_limit", d->torque_limit, false },
                { "speed_limit", d->speed_limit, true },
                { "viscous", d->viscous, false },
                { "coulomb", d->coulomb, false },
                { "bandwidth", d->bandwidth, false },
                { "damping_ratio", d->damping_ratio, false } };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int j = 0; all[k].values && j < r->model->joint_count; j++) {
            double x = all[k].values[j];
            if (isnan(x) || x < 0.0 || (all[k].positive && x == 0.0))
                return mor_fail(error, MOR_BAD_INPUT, "%s of joint '%s' is %g; give %s number", all[k].name,
                                r->model->links[r->model->link_of_joint[j]].joint_name, x,
                                all[k].positive ? "a positive" : "zero or a positive");
        }
    return MOR_OK;
}

mor_code mor_world_set_motors(mor_world* w, int robot, const mor_motors* d, mor_error* error)
{
    if (robot < 0 || robot >= w->robot_count)
        return mor_fail(error, MOR_BAD_INPUT, "there is no robot number %d", robot);
    mor_robot* r = w->robots[robot];
    mor_code code = check(r, d, error);
    if (code) return code;
    mor_control_robot* c = mor_control_robot_of(w, robot);
    if (!c) return mor_fail(error, MOR_SYSTEM, "out of memory");
    int n = r->model->joint_count;
    w->detected = false; /* a step copies all of the control again */
    if (d->coupling) {
        double* t = malloc((2 * (size_t)(n * n) + 1) * sizeof *t);
        if (!t) return mor_fail(error, MOR_SYSTEM, "out of memory");
        if ((code = transmission(n, d->ratio, d->coupling, t, error))) {
            free(t);
            return code;
        }
        w->revision++;
        free(c->transmission);
        c->transmission = t;
        c->transmission_inverse = t + n * n;
    }
    for (int j = 0; j < n; j++) {
        if (d->actuated) c->actuated[j] = d->actuated[j];
        if (d->ratio) c->ratio[j] = d->ratio[j];
        if (d->kt) c->kt[j] = d->kt[j];
        if (d->current_limit) c->current_limit[j] = d->current_limit[j];
        if (d->torque_limit) c->torque_limit[j] = d->torque_limit[j];
        if (d->speed_limit) c->speed_limit[j] = d->speed_limit[j];
        if (d->bandwidth) c->bandwidth[j] = d->bandwidth[j];
        if (d->damping_ratio) c->damping_ratio[j] = d->damping_ratio[j];
        if (d->viscous) r->viscous[j] = d->viscous[j];
        if (d->coulomb) r->coulomb[j] = d->coulomb[j];
        if (!c->transmission && c->kt[j] > 0.0)
            c->torque_limit[j] = mor_min(c->torque_limit[j], c->kt[j] * c->current_limit[j] * c->ratio[j]);
    }
    return MOR_OK;
}

void mor_world_motor_torques(const mor_world* w, int robot, double* tau)
{
    const mor_control_robot* c = mor_control_robot_find(w, robot);
    for (int j = 0; j < w->robots[robot]->model->joint_count; j++) tau[j] = c ? c->tau[j] : 0.0;
}

/* ------------------------------------------------------------------------------------ the step */

typedef struct response {
    double A, B, C, D, K1, K2;
} response;

static response actuator(double bandwidth, double zeta, double h)
{
    if (!(bandwidth > 0.0)) return (response){ 0 };
    double w = 6.283185307179586 * bandwidth;
    if (!(zeta > 0.0)) {
        double e = mor_exp(-w * h);
        return (response){ .A = e, .C = -w * e, .K1 = -mor_expm1(-w * h) / (w * h) };
    }
    double square = w * w * (1.0 - zeta * zeta), d = sqrt(fabs(square)), cosine, sine; /* sine: sin(d h)/d */
    double envelope = mor_exp(-zeta * w * h);
    if (d * h < 1e-7) cosine = envelope, sine = envelope * h;
    else if (square > 0.0) cosine = envelope * mor_cos(d * h), sine = envelope * mor_sin(d * h) / d;
    else { /* cosh and sinh without overflow */
        double fast = mor_exp(-(zeta * w + d) * h), slow = mor_exp((d - zeta * w) * h);
        cosine = 0.5 * (slow + fast), sine = 0.5 * (slow - fast) / d;
    }
    response r = { .A = cosine + zeta * w * sine, .B = sine, .C = -w * w * sine, .D = cosine - zeta * w * sine };
    r.K1 = -(r.C + 2.0 * zeta * w * (r.A - 1.0)) / (w * w * h);
    r.K2 = -(r.D - 1.0 + 2.0 * zeta * w * r.B) / (w * w * h);
    return r;
}

/* The command of a joint within its limits, and the gain that is left of it. */
static void limited(const mor_control_robot* c, int j, double speed, double* command, double* gain)
{
    *command = c->saturated[j] ? c->saturated[j] * c->torque_limit[j] : c->command[j];
    *gain = c->saturated[j] ? 0.0 : c->gain[j];
    if (*command * speed > 0.0 && c->speed_limit[j] < INFINITY) {
        double room = (c->speed_limit[j] - fabs(speed)) / (0.05 * c->speed_limit[j]);
        room = room < 0.0 ? 0.0 : room > 1.0 ? 1.0 : room;
        *command *= room;
        *gain *= room;
    }
}

/* Current limits of coupled motors: torques go to the motors, are cut there and come back. */
static void limit_currents(mor_control_robot* c, int n, double* command, double* gain, double* motor)
{
    bool cut = false;
    for (int k = 0; k < n; k++) {
        motor[k] = 0.0;
        for (int j = 0; j < n; j++) motor[k] += c->transmission[j * n + k] * command[j];
        double most = c->kt[k] > 0.0 ? c->kt[k] * c->current_limit[k] : INFINITY;
        if (fabs(motor[k]) <= most) continue;
        motor[k] = motor[k] > 0.0 ? most : -most;
        cut = true;
    }
    if (!cut) return;
    for (int j = 0; j < n; j++) {
        double sum = 0.0;
        for (int k = 0; k < n; k++) sum += c->transmission_inverse[k * n + j] * motor[k];
        if (fabs(sum - command[j]) > 1e-12 * (1.0 + fabs(sum))) gain[j] = 0.0;
        command[j] = sum;
    }
}

void mor_motors_apply(mor_world* w, mor_control_robot* c, bool first)
{
    mor_robot* r = w->robots[c->robot];
    int n = r->model->joint_count, offset = r->model->dof - n;
    if (n == 0) return;
    const double* memory = (const double*)w->control->state.data + c->state;
    double *command = c->call_tau, *gain = c->call_gain;
    for (int j = 0; j < n; j++) {
        if (first)
            c->saturated[j] = c->command[j] > c->torque_limit[j] ? 1 : c->command[j] < -c->torque_limit[j] ? -1 : 0;
        limited(c, j, c->nu[offset + j], &command[j], &gain[j]);
    }
    if (c->transmission) limit_currents(c, n, command, gain, c->call_s);
    for (int j = 0; j < n; j++) {
        response a = actuator(c->bandwidth[j], c->damping_ratio[j], w->h);
        c->share[j] = 1.0 - a.K1;
        c->applied[j] = c->share[j] * command[j] + a.K1 * memory[2 * j] + a.K2 * memory[2 * j + 1];
        r->tau[j] = c->others[j] + c->applied[j];
        r->gain[j] = c->share[j] * gain[j];
    }
}

void mor_motors_finish(mor_world* w, mor_control_robot* c, const double* nu_new)
{
    mor_robot* r = w->robots[c->robot];
    int n = r->model->joint_count, offset = r->model->dof - n;
    if (n == 0) return;
    double* memory = (double*)w->control->state.data + c->state;
    for (int j = 0; j < n; j++) {
        double dv = nu_new[offset + j] - c->nu[offset + j];
        c->tau[j] = c->applied[j] - r->gain[j] * dv;
        response a = actuator(c->bandwidth[j], c->damping_ratio[j], w->h);
        double command =
            c->share[j] > 0.0 ? (c->tau[j] - a.K1 * memory[2 * j] - a.K2 * memory[2 * j + 1]) / c->share[j] : 0.0;
        double y = memory[2 * j] - command, rate = memory[2 * j + 1];
        memory[2 * j] = command + a.A * y + a.B * rate;
        memory[2 * j + 1] = a.C * y + a.D * rate;
    }
}
