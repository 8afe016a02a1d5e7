/* Where a step meets control: controllers run, motors turn their wishes into joint forces, sensors read what came of
 * it.
 *
 * With a control period p and a step h
 *
 *     p = 0 or p = h    every controller runs once per step,
 *     p < h             h/p times (rounded), at instants t, t + p, ...: the state is extrapolated with constant
 *     velocities
 *                       and the mean of the torques acts,
 *     p > h             in the first step at or after every multiple of p; its answer is held in between: torque and
 *                       gain of implicit laws, tau - K (v - v at the instant), torques of sampled ones.
 *
 * A controller answers with tau and a gain K: for a change of joint velocity dv in the step its torque is tau - K dv,
 * which joins the mass block of the robot (M + h K) and so is exact whatever contacts do to dv. A motor at its limit
 * has K = 0 and the limit as torque; which motors are there is found by solving again until the set fits
 * (mor_control_revise).
 *
 * All that lives longer than a step is in one array of numbers. A step works on a copy of it in its draft: a step that
 * is not taken, or is taken again in parts, leaves no trace. */
#include "control/control.h"
#include "model/articulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mor_control* mor_control_of(mor_world* w)
{
    if (w->control) return w->control;
    w->revision++;
    mor_control* c = calloc(1, sizeof *c);
    if (c && !(c->scratch = mor_arena_create(&w->allocator))) {
        free(c);
        c = NULL;
    }
    return w->control = c;
}

const mor_control_robot* mor_control_robot_find(const mor_world* w, int robot)
{
    return w->control && robot >= 0 && robot < w->control->robot_count ? w->control->robots[robot] : NULL;
}

mor_control_robot* mor_control_robot_of(mor_world* w, int robot)
{
    mor_control* c = mor_control_of(w);
    if (!c) return NULL;
    if (c->robot_count < w->robot_count) {
        mor_control_robot** robots = realloc(c->robots, (size_t)w->robot_count * sizeof *robots);
        if (!robots) return NULL;
        c->robots = robots;
        while (c->robot_count < w->robot_count) c->robots[c->robot_count++] = NULL;
    }
    if (!c->robots[robot]) {
        c->robots[robot] = mor_control_robot_create(w, robot);
        w->revision++;
    }
    return c->robots[robot];
}

mor_code mor_world_watch_robot(mor_world* w, int robot, mor_error* error)
{
    if (robot < 0 || robot >= w->robot_count)
        return mor_fail(error, MOR_BAD_INPUT, "there is no robot number %d", robot);
    return mor_control_robot_of(w, robot) ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
}

int mor_control_reserve_state(mor_world* w, int count)
{
    mor_control* c = mor_control_of(w);
    if (!c) return -1;
    int first = c->state.count;
    if (count == 0) return first; /* a robot without joints */
    if (!mor_buffer_reserve(&w->allocator, &c->state, first + count, sizeof(double))) return -1;
    memset((double*)c->state.data + first, 0, (size_t)count * sizeof(double));
    c->state.count = first + count;
    w->revision++;
    return first;
}

void mor_control_destroy(mor_world* w)
{
    mor_control* c = w->control;
    if (!c) return;
    for (int i = 0; i < c->robot_count; i++) mor_control_robot_destroy(c->robots[i]);
    free(c->robots);
    mor_control_entry* e = c->controllers.data;
    for (int i = 0; i < c->controllers.count; i++) {
        free(e[i].memory);
        free(e[i].options);
    }
    for (int i = 0; i < c->listener_count; i++) free(c->listeners[i].values);
    mor_buffer_free(&w->allocator, &c->controllers);
    mor_buffer_free(&w->allocator, &c->sensors);
    mor_buffer_free(&w->allocator, &c->state);
    mor_arena_destroy(c->scratch);
    free(c);
    w->control = NULL;
}

mor_code mor_world_set_control_step(mor_world* w, double period, mor_error* error)
{
    if (!(period >= 0.0) || !isfinite(period))
        return mor_fail(error, MOR_BAD_INPUT, "control step %g; give zero or a positive number of seconds", period);
    mor_control* c = mor_control_of(w);
    if (!c) return mor_fail(error, MOR_SYSTEM, "out of memory");
    c->period = period;
    w->revision++;
    return MOR_OK;
}

double mor_control_period(const mor_world* w) { return w->control ? w->control->period : 0.0; }

/* ------------------------------------------------------------------------------- controllers */

mor_controller_def mor_controller_def_default(void)
{
    return (mor_controller_def){ .integral_limit = INFINITY, .from = -INFINITY, .until = INFINITY };
}

int mor_world_controller_count(const mor_world* w) { return w->control ? w->control->controllers.count : 0; }

const mor_controller_def* mor_world_controller(const mor_world* w, int controller)
{
    return &((mor_control_entry*)w->control->controllers.data)[controller].def;
}

mor_code mor_world_set_target(mor_world* w, int controller, const double* target, mor_error* error)
{
    if (controller < 0 || controller >= mor_world_controller_count(w))
        return mor_fail(error, MOR_BAD_INPUT, "there is no controller number %d", controller);
    mor_control_entry* e = &((mor_control_entry*)w->control->controllers.data)[controller];
    size_t n = (size_t)mor_robot_joint_count(w->robots[e->def.robot]->model);
    for (size_t j = 0; j < n; j++)
        if (!isfinite(target[j]))
            return mor_fail(error, MOR_BAD_INPUT, "a target of controller '%s' is not finite", e->def.name);
    memcpy((double*)e->def.target, target, n * sizeof *target); /* the entry's own memory */
    return MOR_OK;
}

/* Copies n numbers (or zeros) to *at and moves it on. */
static double* take(double** at, const double* from, size_t n)
{
    double* mine = *at;
    if (from) memcpy(mine, from, n * sizeof *mine);
    *at += n;
    return mine;
}

static mor_code check_controller(const mor_world* w, const mor_controller_def* d, mor_error* error)
{
    if (!d->type || !d->type->control) return mor_fail(error, MOR_BAD_INPUT, "a controller needs a type");
    if (d->robot < 0 || d->robot >= w->robot_count)
        return mor_fail(error, MOR_BAD_INPUT, "there is no robot number %d to control", d->robot);
    int n = mor_robot_joint_count(w->robots[d->robot]->model);
    if (d->table && d->table->joints != n)
        return mor_fail(error, MOR_BAD_INPUT, "the table of controller '%s' has %d joints, its robot has %d", d->name,
                        d->table->joints, n);
    const double* numbers[] = { d->target, d->kp, d->ki, d->kd };
    for (int k = 0; k < 4; k++)
        for (int j = 0; numbers[k] && j < n; j++)
            if (!isfinite(numbers[k][j]))
                return mor_fail(error, MOR_BAD_INPUT, "controller '%s' has a number that is not finite", d->name);
    return MOR_OK;
}

int mor_world_add_controller(mor_world* w, const mor_controller_def* def, mor_error* error)
{
    if (check_controller(w, def, error)) return -1;
    mor_control* c = mor_control_of(w);
    mor_control_robot* r = c ? mor_control_robot_of(w, def->robot) : NULL;
    if (!r || !mor_buffer_reserve(&w->allocator, &c->controllers, c->controllers.count + 1, sizeof(mor_control_entry)))
        goto no_memory;
    const mor_robot_model* m = w->robots[def->robot]->model;
    size_t n = (size_t)m->joint_count, rows = def->table ? (size_t)def->table->rows : 0;
    mor_control_entry* e = &((mor_control_entry*)c->controllers.data)[c->controllers.count];
    memset(e, 0, sizeof *e);
    e->def = *def;
    e->memory = calloc(4 * n + rows * (n + 1) + 1, sizeof(double) + 2 * sizeof(bool));
    size_t size = def->type->options_size;
    e->options = calloc(1, size ? size : 1);
    if (!e->memory || !e->options) goto no_entry;
    double* at = e->memory;
    e->def.target = take(&at, def->target, n);
    e->def.kp = take(&at, def->kp, n);
    e->def.ki = take(&at, def->ki, n);
    e->def.kd = take(&at, def->kd, n);
    if (def->table) {
        e->table = *def->table;
        e->table.times = take(&at, def->table->times, rows);
        e->table.values = take(&at, def->table->values, rows * n);
    }
    bool* flags = (bool*)at;
    for (size_t j = 0; j < n; j++) flags[j] = r->actuated[j] && (!def->joints || def->joints[j]);
    e->def.joints = flags;
    if (def->table) {
        for (size_t j = 0; j < n; j++) flags[n + j] = !def->table->has || def->table->has[j];
        e->table.has = flags + n;
        e->def.table = NULL; /* set when asked for: entries move */
    }
    if (def->options) memcpy(e->options, def->options, size);
    else mor_fields_default(def->type->fields, e->options);
    e->def.options = e->options;
    e->state_size = def->type->state_size ? def->type->state_size(m, e->options) : 0;
    e->state = mor_control_reserve_state(w, e->state_size);
    if (e->state < 0) goto no_entry;
    if (!e->def.name[0]) snprintf(e->def.name, sizeof e->def.name, "%.40s_%d", def->type->name, c->controllers.count);
    w->revision++;
    return c->controllers.count++;

no_entry:
    free(e->memory);
    free(e->options);
no_memory:
    mor_fail(error, MOR_SYSTEM, "out of memory while adding controller '%s'", def->name);
    return -1;
}

/* One call of every controller of a robot at an instant `ahead` of the step's start. */
static void run_controllers(mor_world* w, mor_control_robot* r, double ahead, double dt, double weight, double* tau,
                            double* gain)
{
    mor_control* c = w->control;
    mor_robot* robot = w->robots[r->robot];
    const mor_robot_model* m = robot->model;
    int n = m->joint_count, offset = m->dof - n;
    mor_pose base = r->base;
    if (m->floating && ahead > 0.0) {
        base.position = mor_madd(base.position, ahead, mor_v3(r->nu[0], r->nu[1], r->nu[2]));
        base.rotation = mor_quat_normalize(
            mor_quat_mul(mor_quat_exp(mor_scale(ahead, mor_v3(r->nu[3], r->nu[4], r->nu[5]))), base.rotation));
    }
    mor_control_entry* entries = c->controllers.data;
    for (int i = 0; i < c->controllers.count; i++) {
        mor_control_entry* e = &entries[i];
        if (e->def.robot != r->robot || w->time + ahead < e->def.from || w->time + ahead >= e->def.until) continue;
        if (e->def.gravity_compensation && !r->has_gravity) {
            if (r->held_gravity) memcpy(r->gravity_torque, r->held_gravity, (size_t)n * sizeof(double));
            else mor_gravity_torque(w, robot, r->work, r->vector, c->scratch, r->gravity_torque);
            r->has_gravity = true;
        }
        memcpy(r->call_s, r->s, (size_t)n * sizeof(double));
        mor_robot_move(m, r->call_s, ahead, r->nu + offset);
        memcpy(r->call_nu, r->nu, (size_t)m->dof * sizeof(double));
        memset(r->call_tau, 0, (size_t)n * sizeof(double));
        memset(r->call_gain, 0, (size_t)n * sizeof(double));
        if (!e->def.type->joints_only) mor_robot_update(m, r->work, &base, r->call_s, r->call_nu);
        e->def.table = e->table.rows ? &e->table : NULL;
        mor_control_call call = { .world = w,
                                  .def = &e->def,
                                  .options = e->options,
                                  .robot = r->robot,
                                  .model = m,
                                  .work = r->work,
                                  .time = w->time + ahead,
                                  .dt = dt,
                                  .step = dt > w->h ? dt : w->h,
                                  .horizon = dt > w->h ? dt : w->h - ahead,
                                  .gravity = w->gravity,
                                  .base = base,
                                  .s = r->call_s,
                                  .nu = r->call_nu,
                                  .gravity_torque = e->def.gravity_compensation ? r->gravity_torque : NULL,
                                  .state = (double*)c->state.data + e->state,
                                  .scratch = c->scratch,
                                  .tau = r->call_tau,
                                  .gain = r->call_gain };
        size_t mark = mor_arena_mark(c->scratch);
        e->def.type->control(&call);
        mor_arena_release(c->scratch, mark);
        for (int j = 0; j < n; j++) {
            if (!r->actuated[j]) continue;
            tau[j] += weight * r->call_tau[j];
            gain[j] += weight * (r->call_gain[j] > 0.0 ? r->call_gain[j] : 0.0);
        }
    }
}

/* Does anything read the state of robot number i at the start of the step? */
static bool has_sensors(const mor_control* c, int i)
{
    for (int k = 0; k < c->sensors.count; k++)
        if (((const mor_sensor*)c->sensors.data)[k].def.robot == i) return true;
    return false;
}

void mor_control_begin(mor_world* w, mor_step* step)
{
    mor_control* c = w->control;
    if (!c) return;
    mor_arena_reset(c->scratch);
    double p = c->period > 0.0 ? c->period : w->h;
    bool slow = p > w->h * (1.0 + 1e-9), due = !slow;
    int calls = slow ? 1 : (int)floor(w->h / p + 0.5);
    if (slow && w->time >= c->next - 1e-6 * w->h) {
        due = true;
        c->next = p * (floor((w->time + 1e-6 * w->h) / p) + 1.0);
    }
    for (int i = 0; i < c->robot_count; i++)
        if (c->robots[i]) c->robots[i]->has_gravity = false;
    if (due && w->robot_count > 1) mor_control_list_touches(w);
    if (step && due) mor_gravity_torques(step);
    for (int i = 0; i < c->robot_count; i++) {
        mor_control_robot* r = c->robots[i];
        if (!r) continue;
        mor_robot* robot = w->robots[i];
        int n = robot->model->joint_count;
        size_t bytes = (size_t)n * sizeof(double);
        memcpy(r->others, robot->tau, bytes);
        r->base = robot->base;
        memcpy(r->s, robot->s, bytes);
        memcpy(r->nu, robot->nu, (size_t)robot->model->dof * sizeof(double));
        bool sensed = has_sensors(c, i);
        if (sensed) mor_robot_copy_state(robot->model, robot->work, r->start);
        for (int k = 0; k < r->foot_count; k++)
            r->feet[k].start = mor_robot_frame_pose(robot->model, robot->work, r->feet[k].frame);
        memset(r->command, 0, bytes);
        memset(r->gain, 0, bytes);
        for (int k = 0; due && k < calls; k++)
            run_controllers(w, r, slow ? 0.0 : k * w->h / calls, slow ? p : w->h / calls, 1.0 / calls, r->command,
                            r->gain);
        if (slow) {
            double *held = (double*)c->state.data + r->state + 2 * n, *gain = held + n, *speed = gain + n;
            const double* now = robot->nu + robot->model->dof - n;
            if (due) {
                memcpy(held, r->command, bytes);
                memcpy(gain, r->gain, bytes);
                memcpy(speed, now, bytes);
            }
            memcpy(r->gain, gain, bytes);
            for (int j = 0; j < n; j++) r->command[j] = held[j] - gain[j] * (now[j] - speed[j]);
        }
        mor_motors_apply(w, r, true);
        for (int l = 0; sensed && l < robot->model->link_count; l++) { /* for torque sensors, about the link's origin */
            if (robot->bodies[l] < 0) continue;
            const mor_body* b = &w->bodies[robot->bodies[l]];
            mor_vec3 t = mor_add(b->torque, mor_cross(mor_sub(b->x, robot->work->states[l].p), b->force));
            memcpy(r->wrenches + 6 * l, (double[6]){ b->force.x, b->force.y, b->force.z, t.x, t.y, t.z },
                   6 * sizeof(double));
        }
    }
    c->touch_start = c->touches = NULL;
}

bool mor_control_revise(const mor_step* k, int pass)
{
    mor_world* w = k->w;
    mor_control* c = w->control;
    if (!c || pass > 12) return false;
    bool changed = false;
    for (int i = 0; i < c->robot_count; i++) {
        mor_control_robot* r = c->robots[i];
        if (!r) continue;
        mor_robot* robot = w->robots[i];
        int n = robot->model->joint_count, offset = robot->model->dof - n;
        const double* nu = k->nu_new + w->trees[robot->tree].offset + offset;
        bool own = false;
        for (int j = 0; j < n; j++) {
            double limit = r->torque_limit[j], wish = mor_motor_wish(r, j, nu[j] - r->nu[offset + j]);
            if (!(limit < INFINITY) || r->gain[j] == 0.0) continue;
            int now = r->saturated[j];
            if (now == 0 && fabs(wish) > limit * (1.0 + 1e-9)) now = wish > 0.0 ? 1 : -1;
            else if (now != 0 && wish * now < limit * (1.0 - 1e-9) && pass < 4) now = 0;
            own = own || now != r->saturated[j];
            r->saturated[j] = now;
        }
        if (own) mor_motors_apply(w, r, false);
        changed = changed || own;
    }
    return changed;
}

void mor_control_end(const mor_step* step)
{
    mor_world* w = step->w;
    mor_control* c = w->control;
    if (!c) return;
    for (int i = 0; i < c->robot_count; i++) {
        mor_control_robot* r = c->robots[i];
        if (!r) continue;
        mor_robot* robot = w->robots[i];
        int N = robot->model->dof;
        mor_motors_finish(w, r, step->nu_new + w->trees[robot->tree].offset);
        for (int k = 0; k < N; k++) r->nudot[k] = (robot->nu[k] - r->nu[k]) / w->h;
        memset(robot->gain, 0, (size_t)robot->model->joint_count * sizeof(double));
    }
    mor_sensors_read(w);
}

void mor_control_tell(mor_world* w)
{
    mor_control* c = w->control;
    for (int i = 0; c && i < c->listener_count; i++) {
        mor_bus_listener* l = &c->listeners[i];
        mor_bus_channel channel;
        if (!mor_bus_channel_at(w, l->channel, &channel)) continue;
        mor_bus_read(w, l->channel, l->values);
        l->function(l->user, w->time, &channel, l->values);
    }
}

/* --------------------------------------------------------------------------------- snapshots */

/* The state, the next control instant, then per robot what the bus and the sensors tell of the last step. */
int mor_control_numbers(const mor_world* w)
{
    if (!w->control) return 0;
    int count = w->control->state.count + 1;
    for (int i = 0; i < w->control->robot_count; i++)
        if (w->control->robots[i]) count += w->robots[i]->model->dof + w->robots[i]->model->joint_count;
    return count;
}

static double* carry(double* at, double* numbers, int count, bool store)
{
    if (store) memcpy(at, numbers, (size_t)count * sizeof *at);
    else memcpy(numbers, at, (size_t)count * sizeof *at);
    return at + count;
}

static void carry_all(mor_world* w, double* at, bool store)
{
    mor_control* c = w->control;
    if (!c) return;
    if (c->state.count) at = carry(at, c->state.data, c->state.count, store);
    at = carry(at, &c->next, 1, store);
    for (int i = 0; i < c->robot_count; i++) {
        if (!c->robots[i]) continue;
        at = carry(at, c->robots[i]->nudot, w->robots[i]->model->dof, store);
        at = carry(at, c->robots[i]->tau, w->robots[i]->model->joint_count, store);
    }
}

void mor_control_save(const mor_world* w, double* out) { carry_all((mor_world*)w, out, true); }
void mor_control_restore(mor_world* w, const double* in) { carry_all(w, (double*)in, false); }
