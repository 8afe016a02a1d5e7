/* Joints in maximal coordinates: equations between two bodies.
 *
 * Body 0 moves against body 1 (or the world). Each carries a joint frame, A on body 1 and B on body 0, with
 * origins a, b, z along the axis; d = b - a, w = w_0 - w_1, v = v_0 - v_1 at a common point.
 *
 *     point       d . e_k = 0 (world axes)                 v . e_k
 *     line        d . x_A = d . y_A = 0                     v . x_A, v . y_A at b
 *     plane       d . z_A = 0                               v . z_A at b
 *     distance    |d| - l = 0                               v . d/|d|
 *     no turning  2 vec(q_A^-1 q_B) = 0                     w . e_k of A
 *     parallel    (z_A x z_B) . x_A, . y_A = 0              w . x_A, w . y_A
 *     crossing    z_A . y_B = 0                             w . (y_B x z_A)
 *
 *     fixed = point + no turning, revolute = point + parallel, prismatic = line + no turning, cylindrical =
 *     line + parallel, spherical = point, universal = point + crossing, planar = plane + parallel.
 *
 * A distance with stiffness or damping is no equation but a spring, one with limits a rope or a stop: its free
 * coordinate is |d| - l.
 *
 * The rates are exact on the constraint and to first order in the violation off it. */
#include "model/joints.h"

#include "base/elementary.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char* const names[MOR_JOINT_KINDS] = { "fixed",     "revolute", "prismatic", "cylindrical", "spherical",
                                                    "universal", "planar",   "distance",  "free" };

const char* mor_joint_kind_name(mor_joint_kind kind) { return (unsigned)kind < MOR_JOINT_KINDS ? names[kind] : NULL; }

mor_joint_def mor_joint_def_default(void)
{
    return (mor_joint_def){ .kind = MOR_JOINT_REVOLUTE,
                            .axis = { 0, 0, 1 },
                            .axis2 = { 1, 0, 0 },
                            .length = -1.0,
                            .lower = -INFINITY,
                            .upper = INFINITY };
}

mor_pose mor_joint_frame(const mor_world* w, const mor_joint* j, int side)
{
    if (j->body[side] < 0) return j->frame[side];
    const mor_body* b = &w->bodies[j->body[side]];
    mor_pose body = { b->x, b->q };
    return mor_pose_mul(&body, &j->frame[side]);
}

static void axes_of(mor_quat q, mor_vec3 e[3])
{
    mor_mat3 R = mor_quat_matrix(q);
    for (int i = 0; i < 3; i++) e[i] = mor_v3(R.m[0][i], R.m[1][i], R.m[2][i]);
}

bool mor_joint_soft(const mor_joint* j)
{
    const mor_joint_def* d = &j->def;
    bool limited = isfinite(d->lower) || isfinite(d->upper);
    return d->kind == MOR_JOINT_DISTANCE && (d->stiffness > 0.0 || d->damping > 0.0 || limited);
}

/* The equations; and where the frames are, if somebody wants to know. */
static int equations_of(const mor_world* w, const mor_joint* j, mor_joint_row rows[6], mor_joint_axes* axes)
{
    const mor_vec3 world[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    mor_joint_kind k = j->def.kind;
    if (k == MOR_JOINT_FREE || mor_joint_soft(j) || j->articulated) return 0;
    mor_pose B = mor_joint_frame(w, j, 0), A = mor_joint_frame(w, j, 1);
    mor_vec3 d = mor_sub(B.position, A.position), middle = mor_lerp(A.position, B.position, 0.5), ea[3], eb[3];
    int n = 0;
    if (k != MOR_JOINT_SPHERICAL && k != MOR_JOINT_DISTANCE) {
        axes_of(A.rotation, ea);
        axes_of(B.rotation, eb);
        if (axes) *axes = (mor_joint_axes){ { ea[0], ea[1], ea[2] }, eb[0], { B.position, A.position } };
    }
    if (k == MOR_JOINT_DISTANCE) {
        double length = mor_norm(d);
        mor_vec3 u = mor_normalize(d, mor_v3(0, 0, 1));
        rows[n++] = (mor_joint_row){ false, u, middle, length - j->def.length };
        return n;
    }
    if (k == MOR_JOINT_PRISMATIC || k == MOR_JOINT_CYLINDRICAL) {
        for (int i = 0; i < 2; i++) rows[n++] = (mor_joint_row){ false, ea[i], B.position, mor_dot(d, ea[i]) };
    } else if (k == MOR_JOINT_PLANAR) {
        rows[n++] = (mor_joint_row){ false, ea[2], B.position, mor_dot(d, ea[2]) };
    } else {
        for (int i = 0; i < 3; i++) rows[n++] = (mor_joint_row){ false, world[i], middle, mor_axis(d, i) };
    }
    if (k == MOR_JOINT_FIXED || k == MOR_JOINT_PRISMATIC) {
        /* in A's axes: a light part that turns about one of them has a row of its own */
        mor_quat e = mor_quat_mul(mor_quat_conj(A.rotation), B.rotation);
        double s = e.w < 0.0 ? -2.0 : 2.0;
        double v[3] = { s * e.x, s * e.y, s * e.z };
        for (int i = 0; i < 3; i++) rows[n++] = (mor_joint_row){ true, ea[i], middle, v[i] };
    } else if (k == MOR_JOINT_UNIVERSAL) {
        rows[n++] = (mor_joint_row){ true, mor_cross(eb[1], ea[2]), middle, mor_dot(ea[2], eb[1]) };
    } else if (k != MOR_JOINT_SPHERICAL) {
        mor_vec3 c = mor_cross(ea[2], eb[2]);
        for (int i = 0; i < 2; i++) rows[n++] = (mor_joint_row){ true, ea[i], middle, mor_dot(c, ea[i]) };
    }
    return n;
}

int mor_joint_equations(const mor_world* w, const mor_joint* j, mor_joint_row rows[6])
{
    return equations_of(w, j, rows, NULL);
}

/* x and q of a body are neighbours. */
_Static_assert(offsetof(mor_body, q) == offsetof(mor_body, x) + sizeof(mor_vec3) &&
                   sizeof(mor_pose) == sizeof(mor_vec3) + sizeof(mor_quat),
               "a body's place is not a pose");

int mor_joint_equations_kept(const mor_world* w, mor_joint* j, const mor_joint_row** rows)
{
    mor_joint_look* look = &j->look;
    bool same = look->count >= 0;
    for (int side = 0; side < 2; side++) {
        if (j->body[side] < 0) continue;
        const mor_vec3* place = &w->bodies[j->body[side]].x;
        if (same && memcmp(place, &look->at[side], sizeof(mor_pose)) == 0) continue;
        memcpy(&look->at[side], place, sizeof(mor_pose));
        same = false;
    }
    if (!same) {
        bool coordinate = j->def.kind == MOR_JOINT_REVOLUTE || j->def.kind == MOR_JOINT_PRISMATIC;
        look->filled = false;
        look->count = equations_of(w, j, look->rows, coordinate ? &look->axes : NULL);
    }
    *rows = look->rows;
    return look->count;
}

/* The row of a revolute or prismatic joint's coordinate. */
static mor_joint_row coordinate_row(const mor_joint* j, const mor_joint_axes* x)
{
    mor_joint_row row = { j->def.kind == MOR_JOINT_REVOLUTE, x->a[2], x->origin[0], 0.0 };
    if (!row.spin) {
        row.phi = mor_dot(mor_sub(x->origin[0], x->origin[1]), x->a[2]);
        return row;
    }
    double angle = mor_atan2(mor_dot(x->b, x->a[1]), mor_dot(x->b, x->a[0])), turn = 6.283185307179586477;
    row.phi = angle + turn * floor((j->coordinate - angle) / turn + 0.5);
    return row;
}

bool mor_joint_free_row(const mor_world* w, const mor_joint* j, mor_joint_row* row)
{
    bool soft = mor_joint_soft(j);
    if (!soft && j->def.kind != MOR_JOINT_REVOLUTE && j->def.kind != MOR_JOINT_PRISMATIC) return false;
    mor_pose B = mor_joint_frame(w, j, 0), A = mor_joint_frame(w, j, 1);
    if (soft) {
        mor_vec3 d = mor_sub(B.position, A.position), middle = mor_lerp(A.position, B.position, 0.5);
        *row = (mor_joint_row){ false, mor_normalize(d, mor_v3(0, 0, 1)), middle, mor_norm(d) - j->def.length };
        return true;
    }
    mor_vec3 ea[3], eb[3];
    axes_of(A.rotation, ea);
    axes_of(B.rotation, eb);
    *row = coordinate_row(j, &(mor_joint_axes){ { ea[0], ea[1], ea[2] }, eb[0], { B.position, A.position } });
    return true;
}

bool mor_joint_free_row_kept(const mor_world* w, const mor_joint* j, mor_joint_row* row)
{
    bool kept = j->look.count > 0 && (j->def.kind == MOR_JOINT_REVOLUTE || j->def.kind == MOR_JOINT_PRISMATIC);
    if (!kept) return mor_joint_free_row(w, j, row);
    *row = coordinate_row(j, &j->look.axes);
    return true;
}

mor_quat mor_quat_of_axes(mor_vec3 x, mor_vec3 y, mor_vec3 z)
{
    double c[4] = { 1 + x.x + y.y + z.z, 1 + x.x - y.y - z.z, 1 - x.x + y.y - z.z, 1 - x.x - y.y + z.z };
    int k = 0;
    for (int i = 1; i < 4; i++)
        if (c[i] > c[k]) k = i;
    double a = y.z - z.y, b = z.x - x.z, d = x.y - y.x;
    double xy = x.y + y.x, xz = z.x + x.z, yz = y.z + z.y;
    mor_quat q = k == 0   ? (mor_quat){ c[0], a, b, d }
                 : k == 1 ? (mor_quat){ a, c[1], xy, xz }
                 : k == 2 ? (mor_quat){ b, xy, c[2], yz }
                          : (mor_quat){ d, xz, yz, c[3] };
    return mor_quat_normalize(q);
}

/* The rotation that takes z to n and x to the part of `along` across it. */
static mor_quat frame_of(mor_vec3 z, mor_vec3 along)
{
    mor_vec3 x, y;
    mor_tangents(z, along, &x, &y);
    return mor_quat_of_axes(x, y, z);
}

static bool finite3(mor_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

/* In the plane bodies turn about z and slide across it. */
static mor_code check_planar(const mor_joint_def* d, mor_error* error)
{
    bool turning = d->kind == MOR_JOINT_REVOLUTE, sliding = d->kind == MOR_JOINT_PRISMATIC;
    if (!turning && !sliding && d->kind != MOR_JOINT_FIXED && d->kind != MOR_JOINT_DISTANCE &&
        d->kind != MOR_JOINT_FREE)
        return mor_fail(error, MOR_BAD_INPUT,
                        "joint '%s' is %s; in 2-D joints are fixed, revolute, prismatic, distance or free", d->name,
                        names[d->kind]);
    bool across = fabs(d->axis.z) <= 1e-12 * mor_norm(d->axis), along = fabs(d->axis.x) + fabs(d->axis.y) <= 1e-12;
    if (!d->framed && ((sliding && !across) || (turning && !along)))
        return mor_fail(error, MOR_BAD_INPUT, "the axis of joint '%s' must be %s in 2-D", d->name,
                        sliding ? "in the plane, [x, y]" : "z");
    if (d->point[0].z != 0.0 || d->point[1].z != 0.0)
        return mor_fail(error, MOR_BAD_INPUT, "the point of joint '%s' is not in the plane z = 0", d->name);
    return MOR_OK;
}

static mor_code check(const mor_world* w, const mor_joint_def* d, mor_error* error)
{
    if ((unsigned)d->kind >= MOR_JOINT_KINDS)
        return mor_fail(error, MOR_BAD_INPUT, "there is no joint of kind %d", (int)d->kind);
    mor_code code = w->dimension == 2 ? check_planar(d, error) : MOR_OK;
    if (code) return code;
    for (int i = 0; i < 2; i++)
        if (d->body[i].index1 && !mor_body_valid(w, d->body[i]))
            return mor_fail(error, MOR_BAD_INPUT, "a body of joint '%s' is not there", d->name);
    if (d->body[0].index1 == d->body[1].index1)
        return mor_fail(error, MOR_BAD_INPUT, "joint '%s' connects a body with itself", d->name);
    if (!finite3(d->point[0]) || !finite3(d->point[1]))
        return mor_fail(error, MOR_BAD_INPUT, "the point of joint '%s' is not finite", d->name);
    for (int i = 0; d->framed && i < 2; i++) {
        mor_quat q = d->rotation[i];
        double size = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
        if (!isfinite(size) || !(size > 1e-12))
            return mor_fail(error, MOR_BAD_INPUT, "an orientation of joint '%s' is not a rotation", d->name);
    }
    bool axis = !d->framed && d->kind != MOR_JOINT_FREE && d->kind != MOR_JOINT_FIXED &&
                d->kind != MOR_JOINT_SPHERICAL && d->kind != MOR_JOINT_DISTANCE;
    if (axis && (!finite3(d->axis) || !(mor_norm(d->axis) > 1e-9)))
        return mor_fail(error, MOR_BAD_INPUT,
                        "the axis of joint '%s' has no length; give a direction such as [0, 0, 1]", d->name);
    if (d->kind == MOR_JOINT_UNIVERSAL && !d->framed) {
        double s = mor_norm(d->axis) * mor_norm(d->axis2);
        if (!finite3(d->axis2) || !(s > 1e-18) || !(fabs(mor_dot(d->axis, d->axis2)) < 1e-6 * s))
            return mor_fail(error, MOR_BAD_INPUT, "axis2 of the universal joint '%s' is not across its axis", d->name);
    }
    if (!(d->lower <= d->upper))
        return mor_fail(error, MOR_BAD_INPUT, "joint '%s' has the lower limit %g above the upper limit %g", d->name,
                        d->lower, d->upper);
    if (!(d->damping >= 0.0) || !(d->friction >= 0.0) || !(d->stiffness >= 0.0) || !(d->motor_force >= 0.0) ||
        !isfinite(d->motor_speed) || !isfinite(d->rest))
        return mor_fail(error, MOR_BAD_INPUT,
                        "damping, friction, stiffness and motor force of joint '%s' are at least 0", d->name);
    bool dynamic = false;
    for (int i = 0; i < 2; i++) dynamic = dynamic || (d->body[i].index1 && w->bodies[d->body[i].index1 - 1].tree >= 0);
    if (!dynamic) return mor_fail(error, MOR_BAD_INPUT, "joint '%s' connects nothing that moves freely", d->name);
    if (d->kind == MOR_JOINT_DISTANCE && d->length == 0.0)
        return mor_fail(error, MOR_BAD_INPUT, "joint '%s' keeps the distance 0; use a spherical joint", d->name);
    return MOR_OK;
}

int mor_world_add_joint(mor_world* w, const mor_joint_def* def, mor_error* error)
{
    if (check(w, def, error) != MOR_OK) return -1;
    if (!mor_buffer_reserve(&w->allocator, &w->joints, w->joints.count + 1, sizeof(mor_joint))) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return -1;
    }
    bool spring =
        (def->stiffness > 0.0 || def->damping > 0.0) &&
        (def->kind == MOR_JOINT_REVOLUTE || def->kind == MOR_JOINT_PRISMATIC || def->kind == MOR_JOINT_DISTANCE);
    if (spring && !mor_world_reserve_tree(w)) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return -1;
    }
    mor_joint j = { .def = *def, .spring = -1, .look.count = -1 };
    mor_vec3 z = mor_normalize(def->axis, mor_v3(0, 0, 1));
    /* in the plane x_A stands up, and its row is left out */
    bool flat = w->dimension == 2 && def->kind == MOR_JOINT_PRISMATIC;
    mor_quat A = frame_of(z, flat ? mor_v3(0, 0, 1) : mor_v3(1, 0, 0)), B = A;
    if (def->kind == MOR_JOINT_UNIVERSAL) { /* y_B is axis2, across z_A */
        mor_vec3 y = mor_normalize(def->axis2, mor_v3(1, 0, 0));
        B = frame_of(z, mor_cross(y, z));
    }
    if (def->framed) {
        B = mor_quat_normalize(def->rotation[0]);
        A = mor_quat_normalize(def->rotation[1]);
    }
    mor_pose world[2] = { { def->point[0], B }, { def->point[1], A } };
    for (int i = 0; i < 2; i++) {
        j.body[i] = (int)def->body[i].index1 - 1;
        j.frame[i] = world[i];
        if (j.body[i] >= 0) {
            mor_pose body = { w->bodies[j.body[i]].x, w->bodies[j.body[i]].q }, back = mor_pose_inverse(&body);
            j.frame[i] = mor_pose_mul(&back, &world[i]);
        }
    }
    if (!(j.def.length >= 0.0)) j.def.length = mor_norm(mor_sub(def->point[0], def->point[1]));
    if (def->kind == MOR_JOINT_DISTANCE && j.def.length == 0.0) {
        mor_fail(error, MOR_BAD_INPUT, "joint '%s' keeps the distance 0; use a spherical joint", def->name);
        return -1;
    }
    bool rope = mor_joint_soft(&j) && !spring; /* its bodies still meet */
    if (!rope && j.body[0] >= 0 && j.body[1] >= 0 && mor_world_ignore_pair(w, def->body[0], def->body[1])) {
        mor_fail(error, MOR_SYSTEM, "out of memory while adding joint '%s'", def->name);
        return -1;
    }
    w->revision++;
    mor_joint_row row;
    /* the turn the limits speak of */
    if (mor_joint_free_row(w, &j, &row)) j.coordinate = row.phi;
    /* an angle outside of the limits is counted by the turn that brings it nearest to their middle */
    if ((j.coordinate < def->lower || j.coordinate > def->upper) && isfinite(def->lower) && isfinite(def->upper)) {
        j.coordinate = 0.5 * (def->lower + def->upper);
        if (mor_joint_free_row(w, &j, &row)) j.coordinate = row.phi;
    }
    if (spring) {
        j.spring = w->tree_count;
        w->trees[w->tree_count++] = (mor_tree){
            .kind = &mor_tree_spring, .body = -1, .dof = 1, .stiffness = def->stiffness, .damping = def->damping
        };
    }
    ((mor_joint*)w->joints.data)[w->joints.count] = j;
    return w->joints.count++;
}

int mor_world_joint_count(const mor_world* w) { return w->joints.count; }

const mor_joint_def* mor_world_joint(const mor_world* w, int joint)
{
    assert(joint >= 0 && joint < w->joints.count);
    return &((const mor_joint*)w->joints.data)[joint].def;
}

double mor_world_joint_position(const mor_world* w, int joint)
{
    assert(joint >= 0 && joint < w->joints.count);
    mor_joint_row row;
    return mor_joint_free_row(w, &((const mor_joint*)w->joints.data)[joint], &row) ? row.phi : 0.0;
}

/* The larger of an error and that of a joint; what is not finite stays. */
static double worse(double error, int n, const mor_joint_row* rows)
{
    double square = 0.0;
    for (int k = 0; k < n; k++) square += rows[k].phi * rows[k].phi;
    return sqrt(square) <= error ? error : sqrt(square);
}

double mor_world_joint_error(const mor_world* w)
{
    double largest = 0.0;
    for (int i = 0; i < w->joints.count; i++) {
        mor_joint_row rows[6];
        int n = mor_joint_equations(w, &((const mor_joint*)w->joints.data)[i], rows);
        largest = worse(largest, n, rows);
    }
    return largest;
}

double mor_joint_error_kept(mor_world* w)
{
    double largest = 0.0;
    for (int i = 0; i < w->joints.count; i++) {
        const mor_joint_row* rows;
        int n = mor_joint_equations_kept(w, &((mor_joint*)w->joints.data)[i], &rows);
        largest = worse(largest, n, rows);
    }
    return largest;
}

double mor_world_joint_rate(const mor_world* w)
{
    double largest = 0.0;
    for (int i = 0; i < w->joints.count; i++) {
        const mor_joint* j = &((const mor_joint*)w->joints.data)[i];
        mor_joint_row rows[6];
        int n = mor_joint_equations(w, j, rows);
        double square = 0.0;
        for (int k = 0; k < n; k++) {
            double rate = 0.0;
            for (int side = 0; side < 2; side++) {
                if (j->body[side] < 0) continue;
                const mor_body* b = &w->bodies[j->body[side]];
                mor_vec3 v = rows[k].spin ? b->w : mor_body_point_velocity(b, rows[k].point);
                rate += (side ? -1.0 : 1.0) * mor_dot(rows[k].direction, v);
            }
            square += rate * rate;
        }
        if (!(sqrt(square) <= largest)) largest = sqrt(square);
    }
    return largest;
}
