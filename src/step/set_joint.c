/* Joints put at a position by hand, see set_joint.h.
 *
 * Of a joint between bodies the part that hangs on one of its sides is found by walking along the other joints. If that
 * walk meets neither the other side nor anything that stays (the world, fixed bodies, robots), the part is moved as
 * one: turned about the joint's axis, or shifted along it. In loops only the body itself is moved, in small pieces, and
 * after each piece all joints are closed again, with the two bodies of the joint made heavy so that the others follow.
 * Cost O(bodies + joints), in loops that of an assembly per piece. */
#include "step/set_joint.h"

#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "model/joint_places.h"
#include "model/joints.h"
#include "model/world.h"

#define PIECE 0.05      /* rad or m: how far a joint of a loop is moved at once */
#define MOST_PIECES 400 /* of one call */
#define CLOSED 1e-8     /* m, rad: joints are closed */
#define HEAVY 1e6       /* times the mass */

/* A place: a link of a robot, or a joint of the world. */
typedef struct place_of {
    int robot, link; /* robot -1: a joint between bodies */
    mor_joint* joint;
} place_of;

static bool find_place(const mor_world* w, int place, place_of* found)
{
    int k = place;
    if (k < 0) return false;
    for (int r = 0; r < w->robot_count; r++)
        for (int i = 0; i < mor_robot_link_count(w->robots[r]->model); i++) {
            if (!mor_joint_is_placed(w, r, i) || k-- > 0) continue;
            *found = (place_of){ r, i, NULL };
            return true;
        }
    mor_joint* joints = w->joints.data;
    for (int i = 0; i < w->joints.count; i++) {
        if (joints[i].articulated || k-- > 0) continue;
        *found = (place_of){ -1, -1, &joints[i] };
        return true;
    }
    return false;
}

static bool has_coordinate(const mor_world* w, const place_of* p)
{
    if (p->robot < 0) return p->joint->def.kind == MOR_JOINT_REVOLUTE || p->joint->def.kind == MOR_JOINT_PRISMATIC;
    const mor_link_def* link = mor_robot_link(w->robots[p->robot]->model, p->link);
    return (link->type == MOR_REVOLUTE || link->type == MOR_PRISMATIC) && link->joint >= 0 && link->mimic < 0;
}

bool mor_joint_limits(const mor_world* w, int place, double* lower, double* upper)
{
    place_of p;
    if (!find_place(w, place, &p) || !has_coordinate(w, &p)) return false;
    const mor_link_def* link = p.robot >= 0 ? mor_robot_link(w->robots[p.robot]->model, p.link) : NULL;
    *lower = link ? link->lower : p.joint->def.lower;
    *upper = link ? link->upper : p.joint->def.upper;
    return true;
}

/* ------------------------------------------------------------------------------ between bodies */

static bool moves(const mor_world* w, int slot)
{
    return slot >= 0 && w->bodies[slot].kind == MOR_DYNAMIC && !w->bodies[slot].robot;
}

/* Marks the bodies that hang on one side of a joint; false: something else holds them. */
static bool part_behind(const mor_world* w, const mor_joint* j, int side, bool* part)
{
    memset(part, 0, (size_t)w->body_count * sizeof *part);
    if (!moves(w, j->body[side])) return false;
    part[j->body[side]] = true;
    const mor_joint* joints = w->joints.data;
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < w->joints.count; i++) {
            const mor_joint* k = &joints[i];
            if (k == j || mor_joint_soft(k) || k->def.kind == MOR_JOINT_FREE) continue;
            bool in[2] = { k->body[0] >= 0 && part[k->body[0]], k->body[1] >= 0 && part[k->body[1]] };
            if (in[0] == in[1]) continue;
            int other = k->body[in[0] ? 1 : 0];
            if (!moves(w, other)) return false;
            part[other] = true;
            grown = true;
        }
    }
    int across = j->body[1 - side];
    return across < 0 || !part[across];
}

/* Moves the marked bodies by `by` along the free direction of the joint. */
static void move_part(mor_world* w, const mor_joint_row* row, const bool* part, double by)
{
    mor_quat turn = mor_quat_exp(mor_scale(by, row->direction));
    for (int i = 0; i < w->body_count; i++) {
        mor_body* b = &w->bodies[i];
        if (!part[i] || !b->alive) continue;
        if (!row->spin) {
            b->x = mor_add(b->x, mor_scale(by, row->direction));
            continue;
        }
        b->x = mor_add(row->point, mor_rotate(turn, mor_sub(b->x, row->point)));
        b->q = mor_quat_normalize(mor_quat_mul(turn, b->q));
        if (w->dimension == 2) b->angle += by * row->direction.z, b->q = mor_quat_exp(mor_v3(0, 0, b->angle));
    }
    w->detected = false;
}

/* The marked bodies move with the body before the joint as if welded to it. */
static void weld(mor_world* w, int before, const bool* part)
{
    mor_vec3 v = mor_v3(0, 0, 0), omega = v, x = v;
    if (before >= 0) v = w->bodies[before].v, omega = w->bodies[before].w, x = w->bodies[before].x;
    for (int i = 0; i < w->body_count; i++) {
        mor_body* b = &w->bodies[i];
        if (!part[i] || !b->alive) continue;
        b->v = mor_add(v, mor_cross(omega, mor_sub(b->x, x)));
        b->w = omega;
        mor_mat3 R = mor_quat_matrix(b->q), I = mor_mat3_rotate(&R, &b->mass.inertia);
        b->L = mor_mul(&I, b->w);
    }
}

static double coordinate(const mor_world* w, mor_joint* j, mor_joint_row* row)
{
    return mor_joint_free_row(w, j, row) ? row->phi : 0.0;
}

static mor_body_id id_of(const mor_world* w, int slot)
{
    return (mor_body_id){ (uint32_t)slot + 1, w->bodies[slot].generation };
}

static void make_heavy(mor_world* w, const mor_joint* j, double masses[2])
{
    for (int s = 0; s < 2; s++) {
        masses[s] = moves(w, j->body[s]) ? w->bodies[j->body[s]].mass.mass : 0.0;
        if (masses[s] > 0.0) mor_body_set_mass(w, id_of(w, j->body[s]), HEAVY * masses[s], NULL);
    }
}

static void make_light(mor_world* w, const mor_joint* j, const double masses[2])
{
    for (int s = 0; s < 2; s++)
        if (masses[s] > 0.0) mor_body_set_mass(w, id_of(w, j->body[s]), masses[s], NULL);
}

static mor_code move_in_pieces(mor_world* w, mor_joint* j, double q, const bool* part, int side, mor_error* error)
{
    mor_joint_row row;
    double now = coordinate(w, j, &row);
    for (int n = 0; n < MOST_PIECES && fabs(q - now) > 1e-9; n++) {
        double by = mor_max(-PIECE, mor_min(PIECE, q - now));
        move_part(w, &row, part, side ? -by : by);
        j->coordinate = now + by;
        if (!(mor_world_assemble(w) < CLOSED))
            return mor_fail(error, MOR_BAD_INPUT, "joint '%s' cannot be at %g: its loop does not close there",
                            j->def.name, q);
        double then = coordinate(w, j, &row);
        j->coordinate = then;
        const bool stuck = fabs(q - then) > 0.999 * fabs(q - now);
        now = then;
        if (stuck) break; /* the loop goes no further, or that is as near as it gets */
    }
    if (fabs(q - now) <= PIECE) return MOR_OK;
    return mor_fail(error, MOR_BAD_INPUT, "joint '%s' cannot be at %g: its loop goes to %g", j->def.name, q, now);
}

/* The coordinate counts the turns of body 0 against body 1: side 1 moves it the other way. */
static mor_code set_between(mor_world* w, mor_joint* j, double q, bool* part, mor_error* error)
{
    int side = part_behind(w, j, 1, part) ? 1 : part_behind(w, j, 0, part) ? 0 : -1;
    mor_joint_row row;
    double now = coordinate(w, j, &row);
    if (side >= 0) {
        move_part(w, &row, part, side ? now - q : q - now);
        j->coordinate = q;
        weld(w, j->body[1 - side], part);
        return MOR_OK;
    }
    side = moves(w, j->body[1]) ? 1 : 0;
    if (!moves(w, j->body[side]))
        return mor_fail(error, MOR_BAD_INPUT, "joint '%s' holds nothing that can be moved alone", j->def.name);
    memset(part, 0, (size_t)w->body_count * sizeof *part);
    part[j->body[side]] = true;
    double masses[2];
    make_heavy(w, j, masses);
    mor_code code = move_in_pieces(w, j, q, part, side, error);
    make_light(w, j, masses);
    return code;
}

/* ------------------------------------------------------------------------------------- robots */

static mor_code set_robot(mor_world* w, const place_of* p, double q, mor_error* error)
{
    const mor_robot_model* model = w->robots[p->robot]->model;
    int n = mor_robot_joint_count(model), N = mor_robot_dof(model), joint = mor_robot_link(model, p->link)->joint;
    double* s = malloc((size_t)(n + N + 1) * sizeof *s);
    if (!s) return mor_fail(error, MOR_SYSTEM, "out of memory");
    double* nu = s + n;
    mor_world_robot_state(w, p->robot, NULL, s, nu);
    s[joint] = q;
    nu[N - n + joint] = 0.0;
    for (int i = 0; i < mor_robot_link_count(model); i++) {
        const mor_link_def* l = mor_robot_link(model, i);
        if (l->joint < 0 || l->mimic != joint) continue;
        s[l->joint] = l->mimic_ratio * q + l->mimic_offset;
        nu[N - n + l->joint] = 0.0;
    }
    mor_world_robot_set_state(w, p->robot, NULL, s, nu);
    free(s);
    if (w->joints.count > 0 && !(mor_world_assemble(w) < CLOSED))
        return mor_fail(error, MOR_BAD_INPUT, "joint '%s' cannot be at %g: its loop does not close there",
                        mor_robot_link(model, p->link)->joint_name, q);
    return MOR_OK;
}

mor_code mor_joint_set_position(mor_world* w, int place, double q, mor_error* error)
{
    place_of p;
    double lower, upper;
    if (!find_place(w, place, &p)) return mor_fail(error, MOR_BAD_INPUT, "there is no joint number %d", place);
    if (!mor_joint_limits(w, place, &lower, &upper))
        return mor_fail(error, MOR_BAD_INPUT, "only revolute and prismatic joints have one position");
    if (!(q >= lower && q <= upper && isfinite(q)))
        return mor_fail(error, MOR_BAD_INPUT, "%g is outside of the joint's limits, %g to %g", q, lower, upper);
    size_t size = mor_world_save(w, NULL, 0);
    unsigned char* before = malloc(size);
    bool* part = calloc((size_t)w->body_count + 1, sizeof *part);
    mor_code code = before && part ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) {
        mor_world_save(w, before, size);
        code = p.robot >= 0 ? set_robot(w, &p, q, error) : set_between(w, p.joint, q, part, error);
        if (code) mor_world_restore(w, before, size, NULL);
    }
    free(before);
    free(part);
    return code;
}
