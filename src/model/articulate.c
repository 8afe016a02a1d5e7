/* Minimal coordinates from bodies and joints: the inverse of linkage.c.
 *
 * Bodies are nodes, joints edges, the world and fixed bodies one more node. A spanning tree is grown along revolute,
 * prismatic, cylindrical, universal and planar joints, breadth first in the order of the joints, from the world as far
 * as it reaches and then from the first body of what is left, which gets a floating base; or from the heaviest body
 * that hangs on it, if the first is lighter than LIGHT of it: a light base moves what is heavy by the rounding
 * and the order of its own step. Its bodies become links: same axes, origin on the joint,
 *
 *     revolute, prismatic    one link
 *     cylindrical            slide along z, turn about z
 *     universal              turn about z of A, then about y of B
 *     planar                 slide along x, slide along y, turn about z      (of A; all but the last link without mass
 *     or body)
 *
 * Positions are measured as the joint's own coordinate is (body 0 against body 1). Limits, damping and dry friction go
 * over to the link; motors and springs stay rows on the joint's coordinate, without its equations. Spherical, fixed and
 * distance joints and those that close a loop stay equations between links.
 *
 * Velocities that the joints do not allow are projected, nu = M^-1 sum J' (momentum of the bodies), which is what an
 * impulse of the joints would leave. Cost O(bodies + joints). */
#include "model/articulated.h"
#include "model/joints.h"
#include "model/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUND = -1 };

#define LIGHT 0.1 /* of the heaviest body: a lighter first body is no base */

typedef struct grower {
    mor_world* w;
    int *first, *next; /* body slot -> its joints: entry 2 joint + side; the list goes on at next[entry] */
    int* link_of;      /* slot -> link in the robot it belongs to, -1: none yet */
    bool* taken;       /* joint */
    mor_link_def* links;
    int* body;      /* link -> slot, -1: none */
    int* source;    /* link -> joint */
    mor_pose* pose; /* link -> pose in the world */
    int link_count;
} grower;

static mor_joint* joint_at(const mor_world* w, int i) { return &((mor_joint*)w->joints.data)[i]; }

/* The node of one side of a joint: a slot that can move, GROUND, or -2 for what no tree can hold: kinematic bodies and
 * links of other robots. */
static int node(const mor_world* w, int slot)
{
    if (slot < 0) return GROUND;
    const mor_body* b = &w->bodies[slot];
    if (b->kind == MOR_FIXED && !b->robot) return GROUND;
    return b->tree >= 0 && w->trees[b->tree].kind == &mor_tree_free ? slot : -2;
}

static bool usable(const mor_joint* j)
{
    mor_joint_kind k = j->def.kind;
    return k == MOR_JOINT_REVOLUTE || k == MOR_JOINT_PRISMATIC || k == MOR_JOINT_CYLINDRICAL ||
           k == MOR_JOINT_UNIVERSAL || k == MOR_JOINT_PLANAR;
}

/* One link more on `parent`, its joint frame and axis given in the world. */
static int add_link(grower* g, int parent, int source, mor_pose joint_frame, mor_joint_type type, mor_vec3 axis)
{
    int i = g->link_count++;
    mor_link_def* l = &g->links[i];
    *l = mor_link_def_default();
    mor_pose back = mor_pose_inverse(&g->pose[parent]);
    l->parent = parent;
    l->joint = i - 1;
    l->type = type;
    l->pose = mor_pose_mul(&back, &joint_frame);
    l->axis = mor_unrotate(joint_frame.rotation, axis);
    g->pose[i] = joint_frame;
    g->body[i] = -1;
    g->source[i] = source;
    snprintf(l->joint_name, sizeof l->joint_name, "%s", joint_at(g->w, source)->def.name);
    snprintf(l->name, sizeof l->name, "%.64s link %d", l->joint_name, i);
    return i;
}

/* Mass and name of a link that is a body. `at`: the link's origin in the world. */
static void be_body(grower* g, int link, int slot, mor_vec3 at)
{
    const mor_body* b = &g->w->bodies[slot];
    mor_link_def* l = &g->links[link];
    l->mass = b->mass;
    l->mass.com = mor_unrotate(b->q, mor_sub(b->x, at));
    snprintf(l->name, sizeof l->name, "%s", b->name);
    g->body[link] = slot;
    g->link_of[slot] = link;
    g->pose[link].position = at;
}

/* The links of a joint, `side` of which is the child. */
static void attach(grower* g, int joint, int side, int parent)
{
    mor_joint* j = joint_at(g->w, joint);
    int slot = j->body[side];
    mor_pose B = mor_joint_frame(g->w, j, 0), A = mor_joint_frame(g->w, j, 1), own = side ? A : B, other = side ? B : A;
    mor_quat q = g->w->bodies[slot].q;
    /* body 0 against body 1: seen from a child that is body 1 everything runs backwards */
    double sign = side ? -1.0 : 1.0;
    mor_vec3 z = mor_scale(sign, mor_rotate(A.rotation, mor_v3(0, 0, 1)));
    mor_pose at = { other.position, q };
    int last;
    switch (j->def.kind) {
    case MOR_JOINT_PRISMATIC:
        last = add_link(g, parent, joint, at, MOR_PRISMATIC, z);
        break;
    case MOR_JOINT_CYLINDRICAL:
        last = add_link(g, parent, joint, at, MOR_PRISMATIC, z);
        last = add_link(g, last, joint, at, MOR_REVOLUTE, z);
        break;
    case MOR_JOINT_PLANAR:
        last = add_link(g, parent, joint, at, MOR_PRISMATIC, mor_scale(sign, mor_rotate(A.rotation, mor_v3(1, 0, 0))));
        last = add_link(g, last, joint, at, MOR_PRISMATIC, mor_scale(sign, mor_rotate(A.rotation, mor_v3(0, 1, 0))));
        last = add_link(g, last, joint, at, MOR_REVOLUTE, z);
        break;
    case MOR_JOINT_UNIVERSAL: { /* the axis of the parent's side first: that of the child's turns with the first
                                       link */
        mor_vec3 y = mor_scale(sign, mor_rotate(B.rotation, mor_v3(0, 1, 0)));
        last = add_link(g, parent, joint, at, MOR_REVOLUTE, side ? y : z);
        last = add_link(g, last, joint, at, MOR_REVOLUTE, side ? z : y);
        break;
    }
    default:
        last = add_link(g, parent, joint, at, MOR_REVOLUTE, z);
    }
    be_body(g, last, slot, own.position);
    mor_link_def* l = &g->links[last];
    if (j->def.kind == MOR_JOINT_REVOLUTE || j->def.kind == MOR_JOINT_PRISMATIC) {
        l->lower = j->def.lower, l->upper = j->def.upper;
        l->friction = j->def.friction;
        if (!(j->def.stiffness > 0.0)) l->damping = j->def.damping;
    }
    g->taken[joint] = true;
}

/* All that hangs on the links there are, breadth first. */
static void grow(grower* g, int from)
{
    for (int l = from; l < g->link_count; l++) {
        if (g->body[l] < 0) continue;
        for (int e = g->first[g->body[l]]; e >= 0; e = g->next[e]) {
            int joint = e / 2, child = 1 - e % 2, slot = node(g->w, joint_at(g->w, joint)->body[child]);
            if (slot >= 0 && g->link_of[slot] < 0 && !g->taken[joint] && usable(joint_at(g->w, joint)))
                attach(g, joint, child, l);
        }
    }
}

/* The body that a floating tree of what hangs on `slot` begins with; grows it for that and takes it back. */
static int choose_base(grower* g, int slot)
{
    const mor_world* w = g->w;
    int heaviest = slot;
    g->links[0] = mor_link_def_default();
    g->links[0].parent = -1;
    g->pose[0] = mor_body_pose(&w->bodies[slot]);
    g->link_count = 1;
    be_body(g, 0, slot, g->pose[0].position);
    grow(g, 0);
    for (int l = 0; l < g->link_count; l++) {
        const int body = g->body[l];
        if (l > 0) g->taken[g->source[l]] = false;
        if (body < 0) continue;
        if (w->bodies[body].mass.mass > w->bodies[heaviest].mass.mass) heaviest = body;
        g->link_of[body] = -1;
    }
    return w->bodies[slot].mass.mass < LIGHT * w->bodies[heaviest].mass.mass ? heaviest : slot;
}

/* Positions now: 0, but for joints whose frames did not agree when they were made. The joint frame is turned back by as
 * much. */
static void present_positions(grower* g, double* s)
{
    for (int i = 1; i < g->link_count; i++) {
        mor_joint* j = joint_at(g->w, g->source[i]);
        mor_joint_row row;
        s[i - 1] = 0.0;
        bool one = j->def.kind == MOR_JOINT_REVOLUTE || j->def.kind == MOR_JOINT_PRISMATIC;
        if (!one || !mor_joint_free_row(g->w, j, &row)) continue;
        s[i - 1] = row.phi;
        mor_link_def* l = &g->links[i];
        if (l->type == MOR_REVOLUTE)
            l->pose.rotation = mor_quat_mul(l->pose.rotation, mor_quat_axis_angle(l->axis, -row.phi));
    }
}

/* nu = M^-1 sum J' momentum */
static bool present_velocities(const grower* g, const mor_robot_model* m, const mor_pose* base, const double* s,
                               double* nu)
{
    mor_robot_work* work = mor_robot_work_create(m);
    double* momenta = calloc((size_t)m->link_count * 6 + (size_t)m->dof + 1, sizeof *momenta);
    double* f = momenta + (size_t)m->link_count * 6;
    bool ok = work && momenta;
    if (ok) mor_robot_update(m, work, base, s, NULL);
    for (int i = 0; ok && i < m->link_count; i++) {
        if (g->body[i] < 0) continue;
        const mor_body* b = &g->w->bodies[g->body[i]];
        mor_vec3 p = mor_scale(b->mass.mass, b->v), arm = mor_sub(b->x, mor_robot_link_pose(m, work, i).position),
                 h = mor_add(b->L, mor_cross(arm, p));
        memcpy(momenta + 6 * i, (double[6]){ p.x, p.y, p.z, h.x, h.y, h.z }, 6 * sizeof(double));
    }
    if (ok) {
        mor_robot_inverse_dynamics(m, work, mor_v3(0, 0, 0), NULL, momenta, f);
        for (int k = 0; k < m->dof; k++) f[k] = -f[k];
        ok = mor_robot_forward_dynamics(m, work, mor_v3(0, 0, 0), f, NULL, nu);
    }
    mor_robot_work_destroy(work);
    free(momenta);
    return ok;
}

/* The links there are, as a robot of the world. */
static mor_code finish(grower* g, bool floating, mor_error* error)
{
    mor_world* w = g->w;
    int named = floating ? 0 : 1;
    double* s = calloc(2 * (size_t)g->link_count + 7, sizeof *s);
    if (!s) return mor_fail(error, MOR_SYSTEM, "out of memory");
    double* nu = s + g->link_count;
    present_positions(g, s);
    mor_robot_model* model = mor_robot_create(g->links, g->link_count, NULL, 0, floating, error);
    mor_code code = model ? MOR_OK : MOR_BAD_INPUT;
    mor_robot_def d = mor_robot_def_default();
    while (named < g->link_count - 1 && g->body[named] < 0) named++;
    snprintf(d.name, sizeof d.name, "%s", w->bodies[g->body[named]].name);
    d.model = model;
    d.pose = g->pose[0];
    d.s = s;
    d.nu = nu;
    d.self_collision = true;
    d.mimic = false;
    if (model && !present_velocities(g, model, &d.pose, s, nu))
        code = mor_fail(
            error, MOR_BAD_INPUT,
            "the tree of body '%s' has no velocities in minimal coordinates: a part that can move has no inertia",
            d.name);
    if (code == MOR_OK && mor_world_adopt_robot(w, &d, g->body, error) < 0) code = MOR_BAD_INPUT;
    mor_robot_destroy(model);
    free(s);
    return code;
}

/* Trees of bodies that are links now, and of springs without a joint, are given up; numbers close up. */
static void drop_trees(mor_world* w, int* map)
{
    int count = 0;
    for (int t = 0; t < w->tree_count; t++) map[t] = -1;
    for (int i = 0; i < w->joints.count; i++)
        if (joint_at(w, i)->spring >= 0) map[joint_at(w, i)->spring] = 0;
    for (int t = 0; t < w->tree_count; t++) {
        const mor_tree* tree = &w->trees[t];
        bool kept = tree->kind == &mor_tree_spring ? map[t] == 0 : tree->body < 0 || w->bodies[tree->body].tree == t;
        map[t] = kept ? count : -1;
        if (kept) w->trees[count++] = *tree;
    }
    w->tree_count = count;
    for (int i = 0; i < w->body_count; i++)
        if (w->bodies[i].tree >= 0) w->bodies[i].tree = map[w->bodies[i].tree];
    for (int i = 0; i < w->robot_count; i++) w->robots[i]->tree = map[w->robots[i]->tree];
    for (int i = 0; i < w->joints.count; i++)
        if (joint_at(w, i)->spring >= 0) joint_at(w, i)->spring = map[joint_at(w, i)->spring];
}

/* Joints that are in trees keep their motor and spring, or go. */
static int drop_joints(grower* g)
{
    mor_world* w = g->w;
    int left = 0, taken = 0;
    for (int i = 0; i < w->joints.count; i++) {
        mor_joint j = *joint_at(w, i);
        taken += g->taken[i];
        if (g->taken[i]) {
            bool sprung = j.def.stiffness > 0.0, driven = j.def.motor && j.def.motor_force > 0.0;
            if (!sprung && !driven) continue;
            j.articulated = true;
            j.def.lower = -INFINITY, j.def.upper = INFINITY, j.def.friction = 0.0;
            if (!sprung) j.spring = -1, j.def.damping = 0.0;
        }
        *joint_at(w, left++) = j;
    }
    w->joints.count = left;
    return taken;
}

int mor_world_articulate(mor_world* w, mor_error* error)
{
    size_t joints = (size_t)w->joints.count, bodies = (size_t)w->body_count, most = 1 + 3 * joints;
    if (joints == 0) return 0;
    grower g = { .w = w };
    int* integers = malloc((2 * bodies + 2 * joints + 2 * most) * sizeof *integers);
    g.taken = calloc(joints, sizeof *g.taken);
    g.links = malloc(most * sizeof *g.links);
    g.pose = malloc(most * sizeof *g.pose);
    int* map = NULL;
    mor_code code = integers && g.taken && g.links && g.pose ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    int taken = -1;
    if (code != MOR_OK) goto done;
    g.first = integers, g.link_of = g.first + bodies, g.next = g.link_of + bodies, g.body = g.next + 2 * joints,
    g.source = g.body + most;
    for (size_t i = 0; i < bodies; i++) g.first[i] = g.link_of[i] = -1;
    for (int e = 2 * (int)joints - 1; e >= 0; e--) { /* lists in the order of the joints */
        int slot = joint_at(w, e / 2)->body[e % 2];
        g.next[e] = -1;
        if (slot >= 0) g.next[e] = g.first[slot], g.first[slot] = e;
    }
    for (int i = 0; code == MOR_OK && i < (int)joints; i++) /* from the world */
        for (int side = 0; code == MOR_OK && side < 2; side++) {
            mor_joint* j = joint_at(w, i);
            int slot = node(w, j->body[side]);
            if (g.taken[i] || !usable(j) || node(w, j->body[1 - side]) != GROUND || slot < 0 || g.link_of[slot] >= 0)
                continue;
            g.links[0] = mor_link_def_default();
            g.links[0].parent = -1;
            snprintf(g.links[0].name, sizeof g.links[0].name, "world");
            g.body[0] = -1;
            g.pose[0] = mor_pose_identity();
            g.link_count = 1;
            attach(&g, i, side, 0);
            grow(&g, 1);
            code = finish(&g, false, error);
        }
    for (int slot = 0; code == MOR_OK && slot < (int)bodies; slot++) { /* from the first body of what floats */
        if (!w->bodies[slot].alive || node(w, slot) != slot || g.link_of[slot] >= 0 || g.first[slot] < 0) continue;
        const int root = choose_base(&g, slot);
        mor_pose pose = mor_body_pose(&w->bodies[root]);
        g.links[0] = mor_link_def_default();
        g.links[0].parent = -1;
        g.pose[0] = pose;
        g.link_count = 1;
        be_body(&g, 0, root, pose.position);
        grow(&g, 0);
        if (g.link_count > 1) code = finish(&g, true, error);
    }
    if (code != MOR_OK) goto done;
    taken = drop_joints(&g);
    map = malloc(((size_t)w->tree_count + 1) * sizeof *map);
    if (!map) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        taken = -1;
        goto done;
    }
    drop_trees(w, map);
    w->detected = false;
    w->revision++;
done:
    free(map);
    free(integers);
    free(g.taken);
    free(g.links);
    free(g.pose);
    return taken;
}
