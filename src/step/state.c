/* The state of a world as flat arrays, see moreau/state.h. */
#include "moreau/state.h"

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "model/world.h"

#include <assert.h>
#include <string.h>

/* -------------------------------------------------------------------------------- checking */

static mor_code check_size(const char* what, int size, int rows, int columns, mor_error* error)
{
    if (size == rows * columns) return MOR_OK;
    return mor_fail(error, MOR_BAD_INPUT, "%s: the array has %d numbers; %d are needed (%d x %d)", what, size,
                    rows * columns, rows, columns);
}

static bool all_finite(const double* x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

/* Too short to have a direction. */
static bool zero_quaternion(const double* q)
{
    return !(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-12);
}

static mor_code check_quaternion(const char* what, const char* name, const double* q, mor_error* error)
{
    if (!zero_quaternion(q)) return MOR_OK;
    return mor_fail(error, MOR_BAD_INPUT, "%s: the quaternion of '%s' is zero; 1 0 0 0 means not turned", what, name);
}

static mor_code not_finite(const char* what, const char* name, mor_error* error)
{
    return mor_fail(error, MOR_BAD_INPUT, "%s: a number of '%s' is not finite", what, name);
}

/* Numbers that a 2-D world does not have must be 0, up to rounding. */
static mor_code check_planar(const char* what, const char* name, double a, double b, double c, mor_error* error)
{
    const double rounding = 1e-9;
    if (fabs(a) <= rounding && fabs(b) <= rounding && fabs(c) <= rounding) return MOR_OK;
    return mor_fail(error, MOR_BAD_INPUT, "%s: '%s' would leave the plane; a 2-D world has x, y and turns about z",
                    what, name);
}

/* ---------------------------------------------------------------------------------- bodies */

static mor_body* body_at(const mor_world* w, int index) { return &w->bodies[w->order[index]]; }

static void write_quat(mor_quat q, double* out) { memcpy(out, (double[4]){ q.w, q.x, q.y, q.z }, 4 * sizeof *out); }
static void write_vec(mor_vec3 v, double* out) { memcpy(out, (double[3]){ v.x, v.y, v.z }, 3 * sizeof *out); }
static mor_vec3 read_vec(const double* x) { return mor_v3(x[0], x[1], x[2]); }

static mor_quat read_quat(const double* x) { return mor_quat_normalize((mor_quat){ x[0], x[1], x[2], x[3] }); }

mor_code mor_world_get_poses(const mor_world* w, double* poses, int size, mor_error* error)
{
    mor_code code = check_size("poses", size, w->alive_count, 7, error);
    for (int i = 0; !code && i < w->alive_count; i++) {
        const mor_body* b = body_at(w, i);
        mor_vec3 c = b->mass.com;
        bool centred = c.x == 0.0 && c.y == 0.0 && c.z == 0.0; /* most bodies: the frame is at the centre of mass */
        write_vec(centred ? b->x : mor_body_pose(b).position, poses + 7 * i);
        write_quat(b->q, poses + 7 * i + 3);
    }
    return code;
}

mor_code mor_world_set_poses(mor_world* w, const double* poses, int size, mor_error* error)
{
    mor_code code = check_size("poses", size, w->alive_count, 7, error);
    for (int i = 0; !code && i < w->alive_count; i++) {
        const char* name = body_at(w, i)->name;
        const double* p = poses + 7 * i;
        if (body_at(w, i)->robot) continue;
        if (!all_finite(p, 7)) code = not_finite("poses", name, error);
        else code = check_quaternion("poses", name, p + 3, error);
        if (!code && w->dimension == 2) code = check_planar("poses", name, p[2], p[4], p[5], error);
    }
    for (int i = 0; !code && i < w->alive_count; i++) {
        const mor_body* b = body_at(w, i);
        mor_body_state s = { { read_vec(poses + 7 * i), read_quat(poses + 7 * i + 3) }, b->x, b->v, b->w };
        mor_body_set_state(w, mor_world_body(w, i), &s); /* passes over links */
    }
    return code;
}

mor_code mor_world_get_velocities(const mor_world* w, double* velocities, int size, mor_error* error)
{
    mor_code code = check_size("velocities", size, w->alive_count, 6, error);
    for (int i = 0; !code && i < w->alive_count; i++) {
        write_vec(body_at(w, i)->v, velocities + 6 * i);
        write_vec(body_at(w, i)->w, velocities + 6 * i + 3);
    }
    return code;
}

/* The velocity of a body that is no link; its angular momentum follows. */
static void set_velocity(mor_world* w, mor_body* b, mor_vec3 v, mor_vec3 omega)
{
    b->v = v;
    b->w = omega;
    mor_mat3 R = mor_quat_matrix(b->q), I = mor_mat3_rotate(&R, &b->mass.inertia);
    b->L = mor_mul(&I, b->w);
    w->detected = false; /* the reach of the collision follows the speed */
}

static bool keeps_velocity(const mor_body* b) { return b->robot || b->kind == MOR_FIXED; }

mor_code mor_world_set_velocities(mor_world* w, const double* velocities, int size, mor_error* error)
{
    mor_code code = check_size("velocities", size, w->alive_count, 6, error);
    for (int i = 0; !code && i < w->alive_count; i++) {
        const mor_body* b = body_at(w, i);
        const double* v = velocities + 6 * i;
        if (keeps_velocity(b)) continue;
        if (!all_finite(v, 6)) code = not_finite("velocities", b->name, error);
        else if (w->dimension == 2) code = check_planar("velocities", b->name, v[2], v[3], v[4], error);
    }
    for (int i = 0; !code && i < w->alive_count; i++) {
        const double* v = velocities + 6 * i;
        bool planar = w->dimension == 2;
        if (keeps_velocity(body_at(w, i))) continue;
        set_velocity(w, body_at(w, i), mor_v3(v[0], v[1], planar ? 0.0 : v[2]),
                     planar ? mor_v3(0, 0, v[5]) : read_vec(v + 3));
    }
    return code;
}

/* -------------------------------------------------------------------- generalised coordinates */

/* Numbers of a dynamic body that is no link; none for the others. */
static mor_span own_span(const mor_world* w, const mor_body* b)
{
    if (b->robot || b->tree < 0) return (mor_span){ 0 };
    int dof = w->trees[b->tree].dof;
    return (mor_span){ .q_count = dof == 6 ? 7 : dof, .nu_count = dof };
}

static mor_span robot_size(const mor_robot* r)
{
    int n = mor_robot_joint_count(r->model), N = mor_robot_dof(r->model);
    return (mor_span){ .q_count = n + (N > n ? 7 : 0), .nu_count = N };
}

/* The one before moved to where the next begins. */
static mor_span after(mor_span before, mor_span next)
{
    next.q = before.q + before.q_count;
    next.nu = before.nu + before.nu_count;
    return next;
}

/* The last span: where all ends. */
static mor_span end_of_bodies(const mor_world* w)
{
    mor_span s = { 0 };
    for (int i = 0; i < w->alive_count; i++) s = after(s, own_span(w, body_at(w, i)));
    return s;
}

mor_span mor_world_robot_span(const mor_world* w, int robot)
{
    assert(robot >= 0 && robot < w->robot_count);
    mor_span s = end_of_bodies(w);
    for (int i = 0; i <= robot; i++) s = after(s, robot_size(w->robots[i]));
    return s;
}

mor_span mor_body_span(const mor_world* w, mor_body_id id)
{
    const mor_body* b = mor_body_at(w, id);
    if (b->robot) return mor_world_robot_span(w, b->robot - 1);
    mor_span s = { 0 };
    for (int i = 0; i <= w->order_of[id.index1 - 1]; i++) s = after(s, own_span(w, body_at(w, i)));
    return s;
}

static mor_span whole(const mor_world* w)
{
    mor_span s = w->robot_count ? mor_world_robot_span(w, w->robot_count - 1) : end_of_bodies(w);
    return (mor_span){ .q_count = s.q + s.q_count, .nu_count = s.nu + s.nu_count };
}

int mor_world_q_count(const mor_world* w) { return whole(w).q_count; }
int mor_world_nu_count(const mor_world* w) { return whole(w).nu_count; }

mor_code mor_world_get_q(const mor_world* w, double* q, int size, mor_error* error)
{
    mor_code code = check_size("q", size, mor_world_q_count(w), 1, error);
    for (int i = 0; !code && i < w->alive_count; i++) {
        const mor_body* b = body_at(w, i);
        int count = own_span(w, b).q_count;
        if (count == 0) continue;
        if (count == 7) {
            write_vec(b->x, q);
            write_quat(b->q, q + 3);
        } else {
            memcpy(q, (double[3]){ b->x.x, b->x.y, b->angle }, (size_t)count * sizeof *q);
        }
        q += count;
    }
    for (int i = 0; !code && i < w->robot_count; i++) {
        const mor_robot* r = w->robots[i];
        int n = mor_robot_joint_count(r->model), count = robot_size(r).q_count;
        if (count > n) {
            write_vec(r->base.position, q);
            write_quat(r->base.rotation, q + 3);
        }
        memcpy(q + count - n, r->s, (size_t)n * sizeof *q);
        q += count;
    }
    return code;
}

static mor_code check_q(const mor_world* w, const double* q, mor_error* error)
{
    mor_code code = MOR_OK;
    for (int i = 0; !code && i < w->alive_count + w->robot_count; i++) {
        bool robot = i >= w->alive_count;
        const mor_robot* r = robot ? w->robots[i - w->alive_count] : NULL;
        const char* name = robot ? r->name : body_at(w, i)->name;
        int count = robot ? robot_size(r).q_count : own_span(w, body_at(w, i)).q_count;
        bool turned = robot ? count > mor_robot_joint_count(r->model) : count == 7;
        if (!all_finite(q, count)) code = not_finite("q", name, error);
        else if (turned) code = check_quaternion("q", name, q + 3, error);
        q += count;
    }
    return code;
}

mor_code mor_world_set_q(mor_world* w, const double* q, int size, mor_error* error)
{
    mor_code code = check_size("q", size, mor_world_q_count(w), 1, error);
    if (!code) code = check_q(w, q, error);
    for (int i = 0; !code && i < w->alive_count; i++) {
        mor_body* b = body_at(w, i);
        int count = own_span(w, b).q_count;
        if (count == 0) continue;
        if (count == 7) {
            b->x = read_vec(q);
            b->q = read_quat(q + 3);
        } else {
            b->x = mor_v3(q[0], q[1], 0.0);
            if (count == 3) b->angle = q[2];
            b->q = mor_quat_exp(mor_v3(0, 0, b->angle));
        }
        set_velocity(w, b, b->v, b->w);
        q += count;
    }
    for (int i = 0; !code && i < w->robot_count; i++) {
        int n = mor_robot_joint_count(w->robots[i]->model), count = robot_size(w->robots[i]).q_count;
        mor_pose base = w->robots[i]->base;
        if (count > n) base = (mor_pose){ read_vec(q), read_quat(q + 3) };
        mor_world_robot_set_state(w, i, &base, q + count - n, NULL);
        q += count;
    }
    return code;
}

mor_code mor_world_get_nu(const mor_world* w, double* nu, int size, mor_error* error)
{
    mor_code code = check_size("nu", size, mor_world_nu_count(w), 1, error);
    for (int i = 0; !code && i < w->alive_count; i++) {
        const mor_body* b = body_at(w, i);
        int count = own_span(w, b).nu_count;
        if (count == 6) {
            write_vec(b->v, nu);
            write_vec(b->w, nu + 3);
        } else {
            memcpy(nu, (double[3]){ b->v.x, b->v.y, b->w.z }, (size_t)count * sizeof *nu);
        }
        nu += count;
    }
    for (int i = 0; !code && i < w->robot_count; i++) {
        int count = robot_size(w->robots[i]).nu_count;
        memcpy(nu, w->robots[i]->nu, (size_t)count * sizeof *nu);
        nu += count;
    }
    return code;
}

mor_code mor_world_set_nu(mor_world* w, const double* nu, int size, mor_error* error)
{
    mor_code code = check_size("nu", size, mor_world_nu_count(w), 1, error);
    const double* at = nu;
    for (int i = 0; !code && i < w->alive_count + w->robot_count; i++) {
        bool robot = i >= w->alive_count;
        const mor_robot* r = robot ? w->robots[i - w->alive_count] : NULL;
        int count = robot ? robot_size(r).nu_count : own_span(w, body_at(w, i)).nu_count;
        if (!all_finite(at, count)) code = not_finite("nu", robot ? r->name : body_at(w, i)->name, error);
        at += count;
    }
    for (int i = 0; !code && i < w->alive_count; i++) {
        mor_body* b = body_at(w, i);
        int count = own_span(w, b).nu_count;
        if (count == 6) set_velocity(w, b, read_vec(nu), read_vec(nu + 3));
        else if (count > 0) set_velocity(w, b, mor_v3(nu[0], nu[1], 0.0), mor_v3(0, 0, count == 3 ? nu[2] : b->w.z));
        nu += count;
    }
    for (int i = 0; !code && i < w->robot_count; i++) {
        mor_world_robot_set_state(w, i, NULL, NULL, nu);
        nu += robot_size(w->robots[i]).nu_count;
    }
    return code;
}

/* -------------------------------------------------------------------------------- contacts */

/* Tangential impulses this near to the border of the friction set, relative to it, are on it. */
#define BORDER 1e-6

/* How far the tangential impulse reaches into the friction set: 1 on its border. In the plane and in a circular cone
 * |t| / (mu p_n); in the polygon with k corners at the angles 2 pi j / k, with phi the angle past the last corner,
 * |t| cos(phi - pi/k) / (mu p_n cos(pi/k)). */
static double friction_used(const mor_world* w, const mor_contact* c)
{
    const double pi = 3.14159265358979323846;
    mor_vec3 tangential = mor_madd(c->impulse, -c->normal_impulse, c->normal);
    double size = mor_norm(tangential), limit = c->friction * c->normal_impulse;
    int corners = w->options.friction_directions;
    bool polygon = (w->formulation->produces & MOR_STEP_PYRAMID) && !(w->formulation->produces & MOR_STEP_CONE);
    if (!(limit > 0.0)) return INFINITY;
    if (w->dimension == 3 && polygon && corners > 2 && size > 0.0) {
        mor_vec3 t, o;
        mor_contact_tangents(w, c, &t, &o);
        double angle = mor_atan2(mor_dot(tangential, o), mor_dot(tangential, t)), sector = 2.0 * pi / corners;
        double phi = angle - sector * floor(angle / sector);
        return size * mor_cos(phi - 0.5 * sector) / (limit * mor_cos(0.5 * sector));
    }
    return size / limit;
}

static int contact_state(const mor_world* w, const mor_contact* c)
{
    if (!(c->normal_impulse > 0.0)) return MOR_CONTACT_OPEN;
    return friction_used(w, c) < 1.0 - BORDER ? MOR_CONTACT_STICKS : MOR_CONTACT_SLIDES;
}

int mor_world_contact_count(const mor_world* w)
{
    int count;
    mor_world_contacts(w, &count);
    return count;
}

mor_code mor_world_get_contacts(const mor_world* w, const mor_contact_columns* out, int count, mor_error* error)
{
    int n;
    const mor_contact* c = mor_world_contacts(w, &n);
    if (count != n) return mor_fail(error, MOR_BAD_INPUT, "contacts: there is room for %d; the world has %d", count, n);
    for (int i = 0; i < n; i++) {
        if (out->bodies) {
            out->bodies[2 * i] = c[i].body[0];
            out->bodies[2 * i + 1] = c[i].body[1];
        }
        if (out->points) write_vec(mor_lerp(c[i].point[0], c[i].point[1], 0.5), out->points + 3 * i);
        if (out->normals) write_vec(c[i].normal, out->normals + 3 * i);
        if (out->gaps) out->gaps[i] = c[i].gap;
        if (out->impulses) write_vec(c[i].impulse, out->impulses + 3 * i);
        if (out->states) out->states[i] = contact_state(w, &c[i]);
    }
    return MOR_OK;
}

mor_code mor_world_get_impulses(const mor_world* w, double* impulses, int size, mor_error* error)
{
    mor_code code = check_size("impulses", size, mor_world_contact_count(w), 3, error);
    if (code) return code;
    return mor_world_get_contacts(w, &(mor_contact_columns){ .impulses = impulses }, size / 3, error);
}

mor_code mor_world_set_impulses(mor_world* w, const double* impulses, int size, mor_error* error)
{
    mor_contact* c = w->contacts.data;
    mor_code code = check_size("impulses", size, w->contacts.count, 3, error);
    for (int i = 0; !code && i < w->contacts.count; i++) {
        const double* p = impulses + 3 * i;
        double normal = mor_dot(read_vec(p), c[i].normal), rounding = 1e-9 * mor_norm(read_vec(p));
        if (!all_finite(p, 3))
            code = mor_fail(error, MOR_BAD_INPUT, "impulses: row %d has a number that is not finite", i);
        else if (normal < -rounding)
            code = mor_fail(error, MOR_BAD_INPUT,
                            "impulses: row %d pulls (%g N s along its normal); contacts only push", i, normal);
    }
    for (int i = 0; !code && i < w->contacts.count; i++) {
        c[i].impulse = read_vec(impulses + 3 * i);
        c[i].normal_impulse = mor_max(0.0, mor_dot(c[i].impulse, c[i].normal));
        w->detected = false; /* nothing kept from the last step is trusted */
    }
    return code;
}
