/* Bodies and joints of an MJCF file to robot models.
 *
 * MuJoCo turns a body about the anchor p of each of its joints in turn, in the body's own frame:
 *
 *     X = X_parent X_body  prod_k  T(p_k) J_k(q_k - ref_k) T(-p_k)
 *
 * A link of a model sits on its joint, so every joint becomes a link with the frame T(p_k) J_k at the end of what
 * stands before it; the first links of a body with several joints have no mass, the last carries the body, whose frame
 * in it is T(-p_k). Positions of joints are MuJoCo's qpos (ref is in the joint frame); of ball joints they are the
 * rotation vector of its quaternion. Velocities are MuJoCo's qvel but for the base, whose angular velocity is in world
 * axes here.
 *
 * Equalities between joints of one tree become mimics: q_1 = c_0 + c_1 q_2. */
#include "io/mjcf/mjcf.h"
#include "model/articulated.h"

#include <stdio.h>
#include <string.h>

typedef struct builder {
    mor_mjcf* m;
    int tree;
    mor_link_def* links;
    double* reflected;
    int link_count, joint_count;
} builder;

static void name_of(char out[MOR_NAME_SIZE], const char* name, const char* what, int number)
{
    if (name) snprintf(out, MOR_NAME_SIZE, "%.95s", name);
    else snprintf(out, MOR_NAME_SIZE, "%s_%d", what, number);
}

static mor_code check_names(mor_mjcf* m)
{
    for (int i = 1; i < m->bodies_count; i++) {
        const char* name = m->bodies[i].name;
        if (name && strlen(name) >= MOR_NAME_SIZE - 1)
            return mor_xml_fail(m->bodies[i].at, m->error, "the name is longer than %d characters", MOR_NAME_SIZE - 2);
        for (int k = 0; name && k < i; k++)
            if (m->bodies[k].name && strcmp(m->bodies[k].name, name) == 0)
                return mor_xml_fail(m->bodies[i].at, m->error, "there are two bodies called '%.60s'", name);
    }
    for (int i = 0; i < m->joints_count; i++) {
        const char* name = m->joints[i].name;
        if (name && strlen(name) >= MOR_NAME_SIZE - 3)
            return mor_xml_fail(m->joints[i].at, m->error, "the name is longer than %d characters", MOR_NAME_SIZE - 4);
        for (int k = 0; name && k < i; k++)
            if (m->joints[k].name && strcmp(m->joints[k].name, name) == 0)
                return mor_xml_fail(m->joints[i].at, m->error, "there are two joints called '%.60s'", name);
    }
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------ trees */

static mor_mjcf_tree* add_tree(mor_mjcf* m, int root, bool floating)
{
    mor_mjcf_tree* t = MOR_MJCF_ADD(m, trees);
    if (!t) return NULL;
    *t = (mor_mjcf_tree){ .root = root, .floating = floating, .base = mor_pose_identity() };
    if (root > 0) {
        name_of(t->name, m->bodies[root].name, "body", root);
        t->base = m->bodies[root].pose;
    } else {
        snprintf(t->name, sizeof t->name, "%.95s", m->model);
    }
    return t;
}

/* Which tree every body belongs to. */
static mor_code assign_trees(mor_mjcf* m)
{
    int joined = -1; /* the tree of what is joined to the world */
    for (int i = 1; i < m->bodies_count; i++) {
        mor_mjcf_body* b = &m->bodies[i];
        const mor_mjcf_body* p = &m->bodies[b->parent];
        b->moving = b->joint_count ? i : p->moving;
        b->tree = p->tree;
        if (b->mocap && b->joint_count) return mor_xml_fail(b->at, m->error, "a mocap body has no joints");
        if (p->tree >= 0 || !b->joint_count) continue;
        bool floating = m->joints[b->joint].type == MOR_MJCF_FREE;
        if (floating || joined < 0) {
            if (!add_tree(m, floating ? i : -1, floating)) return MOR_SYSTEM;
            if (!floating) joined = m->trees_count - 1;
        }
        b->tree = floating ? m->trees_count - 1 : joined;
    }
    for (int i = 0, address = 0; i < m->joints_count; i++) {
        static const int numbers[] = { 1, 1, 4, 7 };
        m->joints[i].address = address;
        m->joints[i].tree = m->bodies[m->joints[i].body].tree;
        address += numbers[m->joints[i].type];
        m->qpos_count = address;
    }
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------ links */

static void add_mass(mor_link_def* link, const mor_mass* mass, const mor_pose* pose)
{
    if (!(mass->mass > 0.0)) return;
    mor_mass parts[2] = { link->mass, mor_mass_transform(mass, pose) };
    link->mass = parts[0].mass > 0.0 ? mor_mass_combine(parts, 2) : parts[1];
}

static mor_link_def* new_link(builder* b, const mor_mjcf_joint* j, int parent, const mor_pose* pose, const char* letter)
{
    mor_link_def* l = &b->links[b->link_count];
    *l = mor_link_def_default();
    char name[MOR_NAME_SIZE], body[MOR_NAME_SIZE];
    name_of(name, j->name, "joint", (int)(j - b->m->joints));
    name_of(body, b->m->bodies[j->body].name, "body", j->body);
    snprintf(l->joint_name, sizeof l->joint_name, "%.92s%s", name, letter);
    snprintf(l->name, sizeof l->name, "%.46s:%.46s", body, l->joint_name); /* the body's own name for its last link */
    l->parent = parent;
    l->joint = b->joint_count++;
    l->pose = *pose;
    const mor_mjcf* m = b->m;
    l->damping = m->no_passive ? 0.0 : j->damping;
    l->friction = m->no_friction ? 0.0 : j->friction;
    b->reflected[l->joint] = j->armature;
    b->link_count++;
    return l;
}

static void add_joint(builder* b, mor_mjcf_joint* j, int* link, mor_pose* frame)
{
    const mor_mjcf* m = b->m;
    mor_pose anchor = { j->pos, { 1, 0, 0, 0 } }, at = mor_pose_mul(frame, &anchor);
    j->number = b->joint_count;
    *frame = (mor_pose){ mor_neg(j->pos), { 1, 0, 0, 0 } };
    if (j->type == MOR_MJCF_BALL) {
        static const char* const letters[] = { ".x", ".y", ".z" };
        for (int k = 0; k < 3; k++) {
            mor_link_def* l = new_link(b, j, *link, &at, letters[k]);
            l->type = MOR_BALL;
            l->axis = mor_v3(k == 0, k == 1, k == 2);
            *link = b->link_count - 1;
            at = mor_pose_identity();
        }
        return;
    }
    mor_vec3 axis = mor_scale(1.0 / mor_norm(j->axis), j->axis);
    mor_pose back = j->type == MOR_MJCF_SLIDE ? (mor_pose){ mor_scale(-j->ref, axis), { 1, 0, 0, 0 } }
                                              : (mor_pose){ { 0, 0, 0 }, mor_quat_axis_angle(axis, -j->ref) };
    at = mor_pose_mul(&at, &back);
    mor_link_def* l = new_link(b, j, *link, &at, "");
    l->type = j->type == MOR_MJCF_SLIDE ? MOR_PRISMATIC : MOR_REVOLUTE;
    l->axis = axis;
    l->stiffness = m->no_passive ? 0.0 : j->stiffness;
    l->rest = j->springref;
    bool limited = j->limited == 1 || (j->limited == 0 && j->has_range && m->autolimits);
    if (limited && !m->no_limit) {
        l->lower = j->range[0];
        l->upper = j->range[1];
    }
    *link = b->link_count - 1;
}

/* The links of a tree, its bodies placed on them. */
static void add_links(builder* b)
{
    mor_mjcf* m = b->m;
    mor_mjcf_tree* t = &m->trees[b->tree];
    b->links[0] = mor_link_def_default();
    snprintf(b->links[0].name, sizeof b->links[0].name, "world");
    b->link_count = 1;
    for (int i = 1; i < m->bodies_count; i++) {
        mor_mjcf_body* body = &m->bodies[i];
        if (body->tree != b->tree) continue;
        int link = 0;
        mor_pose frame = mor_pose_identity();
        if (i == t->root) {
            name_of(b->links[0].name, body->name, "body", i);
        } else {
            const mor_mjcf_body* p = &m->bodies[body->parent];
            link = p->tree == b->tree ? p->link : 0;
            frame = mor_pose_mul(&p->in_link, &body->pose);
            for (int k = 0; k < body->joint_count; k++) add_joint(b, &m->joints[body->joint + k], &link, &frame);
            if (body->joint_count) name_of(b->links[link].name, body->name, "body", i);
        }
        frame.rotation = mor_quat_normalize(frame.rotation);
        body->link = link;
        body->in_link = frame;
        add_mass(&b->links[link], &body->mass, &frame);
    }
}

/* q_1 = c_0 + c_1 q_2 for joints of this tree. */
static mor_code add_mimics(builder* b)
{
    mor_mjcf* m = b->m;
    for (int i = 0; i < m->equalities_count && !m->no_equality; i++) {
        const mor_mjcf_equality* q = &m->equalities[i];
        if (q->type != 2) continue;
        const mor_mjcf_joint *j = &m->joints[q->object[0]], *k = q->object[1] >= 0 ? &m->joints[q->object[1]] : NULL;
        if (j->tree != b->tree) continue;
        if (k && k->tree != j->tree)
            return mor_xml_fail(q->at, m->error, "the joints of an equality belong to one tree of bodies");
        for (int l = 1; l < b->link_count; l++)
            if (b->links[l].joint == j->number) {
                if (b->links[l].mimic >= 0)
                    return mor_xml_fail(q->at, m->error, "the joint follows another one already");
                b->links[l].mimic = k ? k->number : j->number;
                b->links[l].mimic_ratio = k ? q->polynomial[1] : 0.0;
                b->links[l].mimic_offset = j->ref + q->polynomial[0] - (k ? q->polynomial[1] * k->ref : 0.0);
            }
    }
    return MOR_OK;
}

/* Bodies and sites as frames. Bodies that do not move are frames of what is joined to the world. */
static mor_frame_def* add_frames(builder* b, int* count)
{
    mor_mjcf* m = b->m;
    mor_frame_def* frames = mor_arena_zero(m->arena, (size_t)(m->bodies_count + m->sites_count) + 1, sizeof *frames);
    int n = 0;
    bool world = m->trees[b->tree].root < 0;
    for (int i = 0; frames && i < m->bodies_count; i++) {
        mor_mjcf_body* body = &m->bodies[i];
        if (body->tree != b->tree && !(world && body->tree < 0)) continue;
        body->frame = n;
        frames[n].link = body->tree < 0 ? 0 : body->link;
        frames[n].pose = body->in_link;
        name_of(frames[n++].name, body->name, "body", i);
    }
    int bodies = n;
    for (int i = 0; frames && i < m->sites_count; i++) {
        mor_mjcf_site* s = &m->sites[i];
        const mor_mjcf_body* body = &m->bodies[s->body];
        if (body->frame < 0 || (body->tree != b->tree && !(world && body->tree < 0))) continue;
        s->frame = n;
        frames[n].link = frames[body->frame].link;
        frames[n].pose = mor_pose_mul(&body->in_link, &s->pose);
        name_of(frames[n].name, s->name, "site", i);
        for (int k = 0; k < bodies; k++)
            if (s->name && strcmp(frames[k].name, s->name) == 0)
                snprintf(frames[n].name, sizeof frames[n].name, "site:%.90s", s->name);
        n++;
    }
    *count = n;
    return frames;
}

static mor_code make_model(mor_mjcf* m, int tree)
{
    size_t room = 1;
    for (int i = 0; i < m->joints_count; i++) room += m->joints[i].type == MOR_MJCF_BALL ? 3 : 1;
    builder b = { .m = m, .tree = tree };
    b.links = mor_arena_zero(m->arena, room, sizeof *b.links);
    b.reflected = mor_arena_zero(m->arena, room, sizeof *b.reflected);
    if (!b.links || !b.reflected) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    add_links(&b);
    mor_code code = add_mimics(&b);
    if (code) return code;
    int frame_count = 0;
    mor_frame_def* frames = add_frames(&b, &frame_count);
    if (!frames) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    mor_mjcf_tree* t = &m->trees[tree];
    mor_error inner = { 0 };
    t->model = mor_robot_create(b.links, b.link_count, frames, frame_count, t->floating, &inner);
    if (!t->model) return mor_fail(m->error, inner.code, "%s: %s", m->path, inner.text);
    return mor_robot_set_reflected(t->model, b.reflected, NULL, m->error);
}

mor_code mor_mjcf_grow_trees(mor_mjcf* m)
{
    mor_code code = check_names(m);
    if (!code) code = assign_trees(m);
    for (int i = 1; i < m->bodies_count && !code; i++) { /* what does not move */
        mor_mjcf_body* b = &m->bodies[i];
        if (b->tree >= 0) continue;
        b->in_link = mor_pose_mul(&m->bodies[b->parent].in_link, &b->pose);
        b->in_link.rotation = mor_quat_normalize(b->in_link.rotation);
    }
    for (int i = 0; i < m->trees_count && !code; i++) code = make_model(m, i);
    return code;
}

mor_pose mor_mjcf_reference_pose(const mor_mjcf* m, int body)
{
    mor_pose pose = mor_pose_identity();
    for (int i = body; i > 0; i = m->bodies[i].parent) pose = mor_pose_mul(&m->bodies[i].pose, &pose);
    pose.rotation = mor_quat_normalize(pose.rotation);
    return pose;
}

/* ------------------------------------------------------------------------------------ state */

static void place_joint(mor_mjcf* m, const mor_mjcf_joint* j, const double* q, const double* v)
{
    mor_mjcf_tree* t = &m->trees[j->tree];
    int offset = t->floating ? 6 : 0;
    if (j->type == MOR_MJCF_FREE) {
        t->start = (mor_pose){ { q[0], q[1], q[2] }, mor_quat_normalize((mor_quat){ q[3], q[4], q[5], q[6] }) };
        if (!v) return;
        mor_vec3 w = mor_rotate(t->start.rotation, mor_v3(v[3], v[4], v[5]));
        memcpy(t->nu, (double[6]){ v[0], v[1], v[2], w.x, w.y, w.z }, 6 * sizeof(double));
    } else if (j->type == MOR_MJCF_BALL) {
        mor_vec3 x = mor_quat_log(mor_quat_normalize((mor_quat){ q[0], q[1], q[2], q[3] }));
        memcpy(t->s + j->number, (double[3]){ x.x, x.y, x.z }, 3 * sizeof(double));
        if (v) memcpy(t->nu + offset + j->number, v, 3 * sizeof(double));
    } else {
        t->s[j->number] = q[0];
        if (v) t->nu[offset + j->number] = v[0];
    }
}

mor_code mor_mjcf_start(mor_mjcf* m, const char* name, mor_error* error)
{
    static const int velocities[] = { 1, 1, 3, 6 };
    m->key = -1;
    for (int i = 0; i < m->keys_count && m->key < 0; i++)
        if (m->keys[i].name && strcmp(m->keys[i].name, name ? name : "home") == 0) m->key = i;
    if (name && strcmp(name, "reference") != 0 && m->key < 0)
        return mor_fail(error, MOR_BAD_INPUT, "%s: there is no keyframe '%.60s'", m->path, name);
    const mor_mjcf_key* k = m->key >= 0 ? &m->keys[m->key] : NULL;
    for (int i = 0; i < m->trees_count; i++) {
        mor_mjcf_tree* t = &m->trees[i];
        t->start = t->base;
        if (!t->s) t->s = mor_arena_zero(m->arena, (size_t)mor_robot_joint_count(t->model) + 1, sizeof *t->s);
        if (!t->nu) t->nu = mor_arena_zero(m->arena, (size_t)mor_robot_dof(t->model) + 1, sizeof *t->nu);
        if (!t->s || !t->nu) return mor_fail(error, MOR_SYSTEM, "out of memory");
        memset(t->nu, 0, (size_t)mor_robot_dof(t->model) * sizeof *t->nu);
    }
    for (int i = 0, at = 0; i < m->joints_count; at += velocities[m->joints[i++].type]) {
        const mor_mjcf_joint* j = &m->joints[i];
        double reference[7] = { j->ref };
        const mor_pose* b = &m->bodies[j->body].pose;
        if (j->type == MOR_MJCF_FREE)
            memcpy(reference,
                   (double[7]){ b->position.x, b->position.y, b->position.z, b->rotation.w, b->rotation.x,
                                b->rotation.y, b->rotation.z },
                   sizeof reference);
        if (j->type == MOR_MJCF_BALL) reference[0] = 1.0;
        place_joint(m, j, k && k->qpos ? k->qpos + j->address : reference, k && k->qvel ? k->qvel + at : NULL);
    }
    for (int i = 0; i < m->actuators_count; i++)
        m->actuators[i].control = k && k->ctrl && i < k->ctrl_count ? k->ctrl[i] : 0.0;
    return MOR_OK;
}
