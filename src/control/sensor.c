/* Sensors and feet: what the last step was like, as instruments tell it.
 *
 * The equation of motion that the step solved holds at its start, with the mean acceleration and the mean contact
 * forces:
 *
 *     M(q) nudot + h(q, nu) = S tau + J' f,     nudot = (nu+ - nu)/h,    f = impulses/h
 *
 * so forces through joints come from a recursive Newton-Euler sweep at the start of the step with nudot and f. An IMU
 * reads orientation and angular velocity at the end of the step and the proper acceleration R'(J nudot + J'nu -
 * gravity) with R, J of its start: mean over the step. At rest it reads g upwards, in whatever attitude.
 *
 * reading = truth + bias + noise; bias drawn once, noise every step, both normal (Box and Muller 1958) from the
 * sensor's seed. Forces of joints that close loops act along their equations as they stand at the end of the step:
 * exact at rest, first order in h in motion. Motors, springs and limits of such joints are not seen. */
#include "base/elementary.h"
#include "control/control.h"

#include "model/joints.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMU_SIZE = 13, FOOT_NUMBERS = 10 };

/* ------------------------------------------------------------------------------------ contacts */

/* Whether shape number `shape` of the body of a link belongs to `frame` (-1: any). A frame without shapes of its own
 * stands for all of them. */
static bool of_frame(const mor_robot_model* m, int link, int shape, int frame)
{
    bool own = false, this_one = false;
    if (frame < 0) return true;
    for (int k = 0, number = 0; k < m->shape_count; k++) {
        if (m->shapes[k].link != link) continue;
        own = own || m->shapes[k].frame == frame;
        if (number++ == shape) this_one = m->shapes[k].frame == frame;
    }
    return this_one || !own;
}

void mor_contact_wrench(const mor_world* w, int body, int frame, mor_vec3 point, double wrench[6], double* pressure,
                        mor_vec3* cop)
{
    const mor_body* b = &w->bodies[body];
    const mor_robot_model* model = b->robot ? w->robots[b->robot - 1]->model : NULL;
    const mor_contact* contacts = w->contacts.data;
    mor_vec3 f = mor_v3(0, 0, 0), n = f, centre = f;
    double total = 0.0;
    for (int i = 0; i < w->contacts.count; i++) {
        const mor_contact* c = &contacts[i];
        for (int side = 0; side < 2; side++) {
            if (w->order[c->body[side]] != body || (model && !of_frame(model, b->link, c->shape[side], frame)))
                continue;
            mor_vec3 at = mor_lerp(c->point[0], c->point[1], 0.5),
                     force = mor_scale((side ? 1.0 : -1.0) / w->h, c->impulse);
            f = mor_add(f, force);
            n = mor_add(n, mor_cross(mor_sub(at, point), force));
            total += c->normal_impulse / w->h;
            centre = mor_madd(centre, c->normal_impulse / w->h, at);
        }
    }
    memcpy(wrench, (double[6]){ f.x, f.y, f.z, n.x, n.y, n.z }, 6 * sizeof(double));
    *pressure = total;
    if (cop) *cop = total > 0.0 ? mor_scale(1.0 / total, centre) : mor_v3(NAN, NAN, NAN);
}

/* Of a frame at `pose`, in its axes. */
static void frame_wrench(const mor_world* w, const mor_robot* r, mor_pose pose, int frame, double wrench[6],
                         double* pressure, mor_vec3* cop)
{
    double x[6];
    mor_contact_wrench(w, r->bodies[r->model->frames[frame].link], frame, pose.position, x, pressure, cop);
    for (int k = 0; k < 2; k++) {
        mor_vec3 v = mor_rotate(mor_quat_conj(pose.rotation), mor_v3(x[3 * k], x[3 * k + 1], x[3 * k + 2]));
        wrench[3 * k] = v.x, wrench[3 * k + 1] = v.y, wrench[3 * k + 2] = v.z;
    }
}

int mor_world_add_foot(mor_world* w, int robot, int frame, mor_error* error)
{
    if (robot < 0 || robot >= w->robot_count || frame < 0 || frame >= mor_robot_frame_count(w->robots[robot]->model)) {
        mor_fail(error, MOR_BAD_INPUT, "a foot needs a frame of a robot");
        return -1;
    }
    mor_control_robot* c = mor_control_robot_of(w, robot);
    struct mor_foot* feet = c ? realloc(c->feet, ((size_t)c->foot_count + 1) * sizeof *feet) : NULL;
    if (feet) c->feet = feet;
    int state = feet ? mor_control_reserve_state(w, FOOT_NUMBERS) : -1;
    if (state < 0) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return -1;
    }
    for (int k = 7; k < FOOT_NUMBERS; k++) ((double*)w->control->state.data)[state + k] = NAN;
    c->feet[c->foot_count] = (struct mor_foot){ .frame = frame, .state = state };
    return c->foot_count++;
}

int mor_world_foot_count(const mor_world* w, int robot)
{
    const mor_control_robot* c = mor_control_robot_find(w, robot);
    return c ? c->foot_count : 0;
}

mor_foot_state mor_world_foot(const mor_world* w, int robot, int foot)
{
    const mor_control_robot* c = mor_control_robot_find(w, robot);
    assert(c && foot >= 0 && foot < c->foot_count);
    const double* x = (const double*)w->control->state.data + c->feet[foot].state;
    mor_foot_state f = { .frame = c->feet[foot].frame, .contact = x[0] != 0.0 };
    memcpy(f.wrench, x + 1, sizeof f.wrench);
    memcpy(f.cop, x + 7, sizeof f.cop);
    return f;
}

void mor_world_foot_original(const mor_world* w, int robot, int foot, double wrench[6])
{
    const mor_control_robot* c = mor_control_robot_find(w, robot);
    mor_foot_state f = mor_world_foot(w, robot, foot);
    for (int k = 0; k < 2; k++) {
        mor_vec3 world =
            mor_rotate(c->feet[foot].start.rotation, mor_v3(f.wrench[3 * k], f.wrench[3 * k + 1], f.wrench[3 * k + 2]));
        mor_vec3 v = mor_unrotate(c->feet[0].start.rotation, k ? mor_neg(world) : world);
        wrench[3 * k] = v.x, wrench[3 * k + 1] = v.y, wrench[3 * k + 2] = v.z;
    }
}

/* ------------------------------------------------------------------------------------- sensors */

mor_sensor_def mor_sensor_def_default(void) { return (mor_sensor_def){ .frame = -1, .joint = -1, .seed = 1 }; }

static const char* const kind_names[] = { "imu", "encoder", "torque", "force", "contact" };
static const int kind_sizes[] = { IMU_SIZE, 2, 6, 6, 1 };

/* A standard normal number from the generator kept in two halves. */
static double normal(double* halves)
{
    mor_rng rng = { (uint64_t)halves[0] << 32 | (uint64_t)halves[1] };
    double u = mor_rng_uniform(&rng), v = mor_rng_uniform(&rng);
    halves[0] = (double)(rng.state >> 32);
    halves[1] = (double)(rng.state & 0xffffffffu);
    return sqrt(-2.0 * mor_log(1.0 - u)) * mor_cos(6.283185307179586 * v);
}

static mor_code check(const mor_world* w, const mor_sensor_def* d, mor_error* error)
{
    if ((int)d->kind < 0 || d->kind > MOR_SENSOR_CONTACT)
        return mor_fail(error, MOR_BAD_INPUT, "there is no sensor kind %d", (int)d->kind);
    if (d->robot < 0 || d->robot >= w->robot_count)
        return mor_fail(error, MOR_BAD_INPUT, "there is no robot number %d for a sensor", d->robot);
    const mor_robot_model* m = w->robots[d->robot]->model;
    bool on_joint = d->kind == MOR_SENSOR_ENCODER || d->kind == MOR_SENSOR_TORQUE;
    if (on_joint && (d->joint < 0 || d->joint >= m->joint_count))
        return mor_fail(error, MOR_BAD_INPUT, "sensor '%s' needs a joint", d->name);
    if (!on_joint && (d->frame < 0 || d->frame >= m->frame_count))
        return mor_fail(error, MOR_BAD_INPUT, "sensor '%s' needs a link", d->name);
    if (!(d->noise >= 0.0) || !(d->bias >= 0.0) || !(d->resolution >= 0.0) || !(d->threshold >= 0.0) ||
        !isfinite(d->noise + d->bias + d->resolution + d->threshold))
        return mor_fail(error, MOR_BAD_INPUT,
                        "noise, bias, resolution and threshold of sensor '%s' must be zero or positive", d->name);
    return MOR_OK;
}

int mor_world_add_sensor(mor_world* w, const mor_sensor_def* def, mor_error* error)
{
    if (check(w, def, error)) return -1;
    mor_control* c = mor_control_of(w);
    int size = kind_sizes[def->kind], state = -1;
    if (c && mor_control_robot_of(w, def->robot) &&
        mor_buffer_reserve(&w->allocator, &c->sensors, c->sensors.count + 1, sizeof(mor_sensor)))
        state = mor_control_reserve_state(w, 2 * size + 2);
    if (state < 0) {
        mor_fail(error, MOR_SYSTEM, "out of memory while adding a sensor");
        return -1;
    }
    mor_sensor* s = &((mor_sensor*)c->sensors.data)[c->sensors.count];
    *s = (mor_sensor){ *def, size, state };
    const mor_robot_model* m = w->robots[def->robot]->model;
    if (!s->def.name[0])
        snprintf(s->def.name, sizeof s->def.name, "%s_%.60s", kind_names[def->kind],
                 def->kind == MOR_SENSOR_ENCODER || def->kind == MOR_SENSOR_TORQUE
                     ? m->links[m->link_of_joint[def->joint]].joint_name
                     : m->frames[def->frame].name);
    double* x = (double*)c->state.data + state;
    x[2 * size] = (double)(def->seed >> 32);
    x[2 * size + 1] = (double)(def->seed & 0xffffffffu);
    for (int k = 0; k < size && def->kind != MOR_SENSOR_CONTACT; k++)
        x[size + k] = def->bias > 0.0 ? def->bias * normal(x + 2 * size) : 0.0;
    return c->sensors.count++;
}

int mor_world_sensor_count(const mor_world* w) { return w->control ? w->control->sensors.count : 0; }

const mor_sensor_def* mor_world_sensor(const mor_world* w, int sensor)
{
    assert(sensor >= 0 && sensor < mor_world_sensor_count(w));
    return &((const mor_sensor*)w->control->sensors.data)[sensor].def;
}

const double* mor_world_sensor_value(const mor_world* w, int sensor, int* count)
{
    assert(sensor >= 0 && sensor < mor_world_sensor_count(w));
    const mor_sensor* s = &((const mor_sensor*)w->control->sensors.data)[sensor];
    if (count) *count = s->size;
    return (const double*)w->control->state.data + s->state;
}

/* R = Rz(yaw) Ry(pitch) Rx(roll); at pitch = +-90 degrees roll is 0. */
static void roll_pitch_yaw(mor_quat q, double out[3])
{
    mor_mat3 R = mor_quat_matrix(q);
    double sp = -R.m[2][0];
    if (fabs(sp) < 1.0 - 1e-12) {
        out[0] = mor_atan2(R.m[2][1], R.m[2][2]);
        out[1] = mor_asin(sp);
        out[2] = mor_atan2(R.m[1][0], R.m[0][0]);
    } else {
        out[0] = 0.0;
        out[1] = sp > 0.0 ? 1.5707963267948966 : -1.5707963267948966;
        out[2] = mor_atan2(-R.m[0][1], R.m[1][1]);
    }
}

/* R' of a frame at the start of the step times (J nudot + J'nu - gravity). */
static mor_vec3 proper_acceleration(const mor_world* w, const mor_robot_model* m, mor_robot_work* work,
                                    const double* nudot, int frame)
{
    const mor_frame_def* F = &m->frames[frame];
    const mor_link_state* l = &work->states[F->link];
    mor_vec3 r = mor_mul(&l->R, F->pose.position);
    (void)w, (void)nudot;
    /* the sweep left the links' accelerations, gravity subtracted at the base */
    mor_vec3 a =
        mor_add(work->a[F->link], mor_add(mor_cross(work->b[F->link], r), mor_cross(l->w, mor_cross(l->w, r))));
    mor_pose pose = mor_robot_frame_pose(m, work, frame);
    return mor_rotate(mor_quat_conj(pose.rotation), a);
}

static void put3(double* out, mor_vec3 v) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

static void read_one(mor_world* w, const mor_sensor* s, mor_control_robot* c)
{
    const mor_robot* r = w->robots[s->def.robot];
    const mor_robot_model* m = r->model;
    int offset = m->dof - m->joint_count;
    double* x = (double*)w->control->trial.data + s->state;
    double pressure = 0.0, wrench[6];
    switch (s->def.kind) {
    case MOR_SENSOR_IMU: {
        mor_pose pose = mor_robot_frame_pose(m, r->work, s->def.frame);
        mor_vec3 v, omega;
        mor_robot_link_velocity(r->work, m->frames[s->def.frame].link, &v, &omega);
        memcpy(x, (double[4]){ pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z }, 4 * sizeof *x);
        roll_pitch_yaw(pose.rotation, x + 4);
        put3(x + 7, proper_acceleration(w, m, c->start, c->nudot, s->def.frame));
        put3(x + 10, mor_rotate(mor_quat_conj(pose.rotation), omega));
        break;
    }
    case MOR_SENSOR_ENCODER:
        x[0] = r->s[s->def.joint];
        x[1] = r->nu[offset + s->def.joint];
        break;
    case MOR_SENSOR_TORQUE: {
        int link = m->link_of_joint[s->def.joint];
        const mor_link_state* l = &c->start->states[link];
        put3(x, mor_tmul(&l->R, c->start->f[link]));
        put3(x + 3, mor_tmul(&l->R, c->start->n[link]));
        break;
    }
    case MOR_SENSOR_FORCE:
        frame_wrench(w, r, mor_robot_frame_pose(m, c->start, s->def.frame), s->def.frame, x, &pressure, NULL);
        break;
    case MOR_SENSOR_CONTACT:
        frame_wrench(w, r, mor_robot_frame_pose(m, c->start, s->def.frame), s->def.frame, wrench, &pressure, NULL);
        x[0] = pressure > s->def.threshold;
        return;
    }
    int from = s->def.kind == MOR_SENSOR_IMU ? 4 : 0; /* the quaternion stays a rotation */
    for (int k = from; k < s->size; k++) {
        x[k] += x[s->size + k];
        if (s->def.noise > 0.0) x[k] += s->def.noise * normal(x + 2 * s->size);
    }
    if (s->def.kind == MOR_SENSOR_ENCODER && s->def.resolution > 0.0)
        x[0] = s->def.resolution * floor(x[0] / s->def.resolution + 0.5);
}

/* Adds a force at a point, or a moment, to the wrench of a link about its origin. */
static void add_to_link(mor_control_robot* c, int link, bool moment, mor_vec3 v, mor_vec3 point)
{
    double* x = c->wrenches + 6 * link;
    mor_vec3 n = moment ? v : mor_cross(mor_sub(point, c->start->states[link].p), v);
    if (!moment) x[0] += v.x, x[1] += v.y, x[2] += v.z;
    x[3] += n.x, x[4] += n.y, x[5] += n.z;
}

/* What loop joints do to the links: +p along the direction on body 0, -p on body 1. */
static void gather_loops(const mor_world* w, const mor_robot* r, mor_control_robot* c)
{
    const mor_joint* joints = w->joints.data;
    for (int i = 0; i < w->joints.count; i++) {
        mor_joint_row rows[6];
        int count = mor_joint_equations(w, &joints[i], rows);
        for (int side = 0; side < 2; side++) {
            const mor_body* b = joints[i].body[side] < 0 ? NULL : &w->bodies[joints[i].body[side]];
            if (!b || b->robot == 0 || w->robots[b->robot - 1] != r) continue;
            for (int k = 0; k < count; k++)
                add_to_link(c, b->link, rows[k].spin,
                            mor_scale((side ? -1.0 : 1.0) * joints[i].memory[k] / w->h, rows[k].direction),
                            rows[k].point);
        }
    }
}

/* Adds the contacts to the applied forces on every link, as wrenches about the links' origins at the start of the step.
 * */
static void gather(const mor_world* w, const mor_robot* r, mor_control_robot* c)
{
    const mor_contact* contacts = w->contacts.data;
    for (int i = 0; i < w->contacts.count; i++)
        for (int side = 0; side < 2; side++) {
            const mor_body* b = &w->bodies[w->order[contacts[i].body[side]]];
            if (b->robot == 0 || w->robots[b->robot - 1] != r) continue;
            add_to_link(c, b->link, false, mor_scale((side ? 1.0 : -1.0) / w->h, contacts[i].impulse),
                        mor_lerp(contacts[i].point[0], contacts[i].point[1], 0.5));
        }
}

void mor_sensors_read(mor_world* w)
{
    mor_control* control = w->control;
    const mor_sensor* sensors = control->sensors.data;
    for (int i = 0; i < control->robot_count; i++) {
        mor_control_robot* c = control->robots[i];
        if (!c) continue;
        bool wanted = false, forces = false;
        for (int k = 0; k < control->sensors.count; k++) {
            wanted = wanted || sensors[k].def.robot == i;
            forces = forces || (sensors[k].def.robot == i && sensors[k].def.kind == MOR_SENSOR_TORQUE);
        }
        const mor_robot* r = w->robots[i];
        for (int f = 0; f < c->foot_count; f++) {
            double *x = (double*)control->trial.data + c->feet[f].state, pressure;
            mor_vec3 cop;
            frame_wrench(w, r, c->feet[f].start, c->feet[f].frame, x + 1, &pressure, &cop);
            x[0] = pressure > 0.0;
            put3(x + 7, cop);
        }
        if (!wanted) continue;
        if (forces) {
            gather(w, r, c);
            gather_loops(w, r, c);
            mor_robot_inverse_dynamics(r->model, c->start, w->gravity, c->nudot, c->wrenches, c->vector);
        } else {
            mor_robot_accelerations(r->model, c->start, w->gravity, c->nudot);
        }
        for (int k = 0; k < control->sensors.count; k++)
            if (sensors[k].def.robot == i) read_one(w, &sensors[k], c);
    }
}
