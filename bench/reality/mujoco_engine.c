/* MuJoCo as a method of `moreau calibrate`: one free box on the plane z = 0, or in a planar world one rectangle on the
 * line y = 0.
 *
 * MuJoCo has no planar worlds: the rectangle is a box as deep as it is wide on two slides and a hinge, which touches
 * the floor with two equal corners where the rectangle has one.
 *
 * Size, mass, centre of mass, inertia, state, gravity and step are those of the world; the engine's own values are
 *
 *     friction
 *     time_constant [s], damping_ratio    solref of the contact
 *     least, width [m]                    solimp: impedance at depth 0, and the depth at which it is 0.95
 *
 * Elliptic cones, Newton's method, condim 3. The step of MuJoCo is semi-implicit: over a flight of time t it falls by
 * g h t / 2 too far. The first velocity is given half a step of gravity back, so that flights are exact as those of
 * the other methods are. */
#include "moreau/lab.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The centre of mass of the pattern lies off the frame: MuJoCo would else mark the body as one whose frames agree, and
 * not look at another centre of mass later. */
#define OPTIONS "<mujoco><option cone='elliptic' solver='Newton' iterations='100' tolerance='1e-10'/><worldbody>"
#define BODY                                                                                                           \
    "<inertial pos='0 0 0.1' mass='1' diaginertia='1 1 1'/><geom type='box' size='1 1 1' condim='3'/></body>"          \
    "</worldbody></mujoco>"

static const char* const texts[2] = {
    OPTIONS "<geom type='plane' size='0 0 1' condim='3'/><body><freejoint/>" BODY,
    OPTIONS "<geom type='plane' size='0 0 1' condim='3' euler='-90 0 0'/><body><joint type='slide' axis='1 0 0'/>"
            "<joint type='slide' axis='0 1 0'/><joint type='hinge' axis='0 0 1'/>" BODY,
};

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static mjModel* patterns[2];

/* The model, in space or in the plane, is read once; every run copies it. */
static mjModel* read_pattern(bool planar, mor_error* error)
{
    const char* text = texts[planar];
    pthread_mutex_lock(&loading);
    if (!patterns[planar]) {
        char path[] = "/tmp/moreau-mujoco-XXXXXX", why[300] = "no temporary file";
        int file = mkstemp(path);
        if (file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text))
            patterns[planar] = mj_loadXML(path, NULL, why, sizeof why);
        if (file >= 0) close(file), unlink(path);
        if (!patterns[planar])
            error->code = MOR_SYSTEM, snprintf(error->text, sizeof error->text, "MuJoCo: %.200s", why);
    }
    pthread_mutex_unlock(&loading);
    return patterns[planar];
}

static void set_value(mjModel* m, const char* name, double value)
{
    for (int g = 0; g < 2; g++) {
        if (strcmp(name, "friction") == 0) m->geom_friction[3 * g] = value;
        if (strcmp(name, "time_constant") == 0) m->geom_solref[mjNREF * g] = value;
        if (strcmp(name, "damping_ratio") == 0) m->geom_solref[mjNREF * g + 1] = value;
        if (strcmp(name, "least") == 0) m->geom_solimp[mjNIMP * g] = value;
        if (strcmp(name, "width") == 0) m->geom_solimp[mjNIMP * g + 2] = value;
    }
}

/* Known names: a plan with another one is told so. */
static bool known(const char* name)
{
    static const char* const names[] = { "friction", "time_constant", "damping_ratio", "least", "width" };
    for (int i = 0; i < 5; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static void set_body(const mor_world* world, mor_body_id body, mjModel* m, mjData* d)
{
    mor_mass mass = mor_body_mass(world, body);
    mor_body_state s = mor_body_get_state(world, body);
    mor_vec3 g = mor_world_gravity(world), spin = mor_unrotate(s.pose.rotation, s.angular_velocity);
    double h = mor_world_get_step(world);
    mor_vec3 arm = mor_rotate(s.pose.rotation, mass.com);
    mor_vec3 v = mor_sub(s.velocity, mor_cross(s.angular_velocity, arm)); /* of the frame's origin */
    mor_vec3 half = mor_geometry_support(mor_body_get_shape(world, body, 0).geometry, mor_v3(1, 1, 1));
    bool planar = mor_world_dimension(world) == 2;
    if (planar) half.z = half.x;
    m->opt.timestep = h;
    m->geom_size[3] = half.x, m->geom_size[4] = half.y, m->geom_size[5] = half.z;
    m->geom_rbound[1] = mor_norm(half);
    m->body_mass[1] = mass.mass;
    for (int i = 0; i < 3; i++) m->body_inertia[3 + i] = mass.inertia.m[i][i];
    m->body_ipos[3] = mass.com.x, m->body_ipos[4] = mass.com.y, m->body_ipos[5] = mass.com.z;
    m->opt.gravity[0] = g.x, m->opt.gravity[1] = g.y, m->opt.gravity[2] = g.z;
    mj_setConst(m, d);
    mj_resetData(m, d);
    v = mor_madd(v, -0.5 * h, g);
    const double q[7] = { s.pose.position.x, s.pose.position.y, s.pose.position.z, s.pose.rotation.w,
                          s.pose.rotation.x, s.pose.rotation.y, s.pose.rotation.z };
    const double u[6] = { v.x, v.y, v.z, spin.x, spin.y, spin.z };
    memcpy(d->qpos, q, (planar ? 2 : 7) * sizeof *q);
    memcpy(d->qvel, u, (planar ? 2 : 6) * sizeof *u);
    if (planar) d->qpos[2] = 2.0 * atan2(q[6], q[3]), d->qvel[2] = spin.z;
}

static mor_pose pose_of(const mjModel* m, const mjData* d)
{
    const double* q = d->qpos;
    if (m->nq == 3) return (mor_pose){ { q[0], q[1], 0.0 }, { cos(0.5 * q[2]), 0.0, 0.0, sin(0.5 * q[2]) } };
    return (mor_pose){ { q[0], q[1], q[2] }, { q[3], q[4], q[5], q[6] } };
}

/* Between two steps the pose moves evenly. */
static mor_pose between(mor_pose a, mor_pose b, double part)
{
    mor_quat q = { a.rotation.w + part * (b.rotation.w - a.rotation.w),
                   a.rotation.x + part * (b.rotation.x - a.rotation.x),
                   a.rotation.y + part * (b.rotation.y - a.rotation.y),
                   a.rotation.z + part * (b.rotation.z - a.rotation.z) };
    return (mor_pose){ mor_madd(a.position, part, mor_sub(b.position, a.position)), mor_quat_normalize(q) };
}

mor_code moreau_engine(const mor_world* world, const mor_body_id* bodies, int body_count, const double* times,
                       int time_count, const mor_engine_value* values, int value_count, mor_pose* poses,
                       mor_error* error);

mor_code moreau_engine(const mor_world* world, const mor_body_id* bodies, int body_count, const double* times,
                       int time_count, const mor_engine_value* values, int value_count, mor_pose* poses,
                       mor_error* error)
{
    for (int i = 0; i < value_count; i++)
        if (!known(values[i].name) || body_count != 1) {
            snprintf(error->text, sizeof error->text, "the engine of MuJoCo moves one body and knows no value '%.60s'",
                     values[i].name);
            return error->code = MOR_BAD_INPUT;
        }
    const mjModel* shared = read_pattern(mor_world_dimension(world) == 2, error);
    mjModel* m = shared ? mj_copyModel(NULL, shared) : NULL;
    mjData* d = m ? mj_makeData(m) : NULL;
    if (!d) return error->code = MOR_SYSTEM;
    for (int i = 0; i < value_count; i++) set_value(m, values[i].name, values[i].value);
    set_body(world, bodies[0], m, d);
    mor_pose before = pose_of(m, d), now = before;
    double h = m->opt.timestep;
    bool lost = false;
    for (int k = 0; k < time_count; k++) {
        while (d->time < times[k] - 1e-6 * h) {
            before = now;
            mj_step(m, d);
            now = pose_of(m, d);
        }
        double part = times[k] < d->time ? 1.0 - (d->time - times[k]) / h : 1.0;
        poses[k] = between(before, now, part);
        lost = lost || d->warning[mjWARN_BADQPOS].number || d->warning[mjWARN_BADQVEL].number ||
               d->warning[mjWARN_BADQACC].number;
    }
    mj_deleteData(d);
    mj_deleteModel(m);
    if (lost) snprintf(error->text, sizeof error->text, "MuJoCo left the numbers it can represent");
    return lost ? (error->code = MOR_STOPPED) : MOR_OK;
}
