/* Robots in a world: adding them with one body per link, their twins in the draft of a step, their state. */
#include "base/copy.h"
#include "model/articulated.h"
#include "model/dynamics.h"
#include "model/joints.h"
#include "model/world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mor_robot_def mor_robot_def_default(void)
{
    return (mor_robot_def){ .pose = { { 0, 0, 0 }, { 1, 0, 0, 0 } },
                            .collide = true,
                            .limits = true,
                            .damping = true,
                            .friction = true,
                            .mimic = true };
}

void mor_robot_free(mor_world* w, mor_robot* r)
{
    (void)w;
    if (!r) return;
    mor_robot_work_destroy(r->work);
    mor_robot_destroy(r->model);
    free(r->bodies);
    free(r->dense);
    free(r->jacobian);
    free(r->s); /* the other arrays follow it */
    free(r);
}

/* Numbers in the one block of memory that begins at s: what twins copy, and then the scratch of a step. */
static size_t copied_numbers(const mor_robot_model* m)
{
    size_t n = (size_t)m->joint_count, N = (size_t)m->dof, L = (size_t)m->link_count;
    return n + N + n + (6 * L > N ? 6 * L : N) + N + n + 3 * n + 3 * n;
}

static size_t block_numbers(const mor_robot_model* m)
{
    size_t n = (size_t)m->joint_count, N = (size_t)m->dof;
    return copied_numbers(m) + 5 * N + n + 1;
}

/* A robot at rest with all its memory. */
static mor_robot* allocate(mor_robot_model* m)
{
    mor_robot* r = calloc(1, sizeof *r);
    if (!r) return NULL;
    size_t n = (size_t)m->joint_count, N = (size_t)m->dof, L = (size_t)m->link_count;
    r->model = mor_robot_retain(m);
    r->work = mor_robot_work_create(m);
    r->bodies = malloc(L * sizeof *r->bodies);
    size_t scratch = 6 * L > N ? 6 * L : N;
    r->s = calloc(block_numbers(m), sizeof(double));
    r->dense = malloc((2 * N * N + 1) * sizeof(double));
    r->mass = r->dense ? r->dense + N * N : NULL;
    if (!r->work || !r->bodies || !r->s || !r->dense) {
        mor_robot_free(NULL, r);
        return NULL;
    }
    r->nu = r->s + n;
    r->tau = r->nu + N;
    r->wrenches = r->tau + n;
    r->force = r->wrenches + scratch;
    r->extra = r->force + N;
    r->gain = r->extra + n;
    r->viscous = r->gain + n;
    r->coulomb = r->viscous + n;
    r->memory = r->coulomb + n;
    r->bias = r->memory + 3 * n;
    r->jerk = r->bias + N;
    r->middle = r->jerk + 3 * N;
    r->drag = r->middle + N;
    return r;
}

mor_robot* mor_robot_twin(const mor_robot* from)
{
    mor_robot* r = allocate(from->model);
    if (r && from->jacobian && !(r->jacobian = malloc((6 * (size_t)from->model->dof + 1) * sizeof *r->jacobian))) {
        mor_robot_free(NULL, r);
        return NULL;
    }
    return r;
}

void mor_robot_copy(const mor_robot* from, mor_robot* to)
{
    if (to->name[0] == '\0') memcpy(to->name, from->name, sizeof to->name);
    to->tree = from->tree;
    memcpy(to->bodies, from->bodies, (size_t)from->model->link_count * sizeof *to->bodies);
    to->base = from->base;
    mor_copy(to->s, from->s, copied_numbers(from->model) * sizeof *to->s);
    to->self_collision = from->self_collision;
    to->limits = from->limits;
    to->damping = from->damping;
    to->friction = from->friction;
    to->mimic = from->mimic;
    to->dynamics = from->dynamics;
    mor_robot_copy_state(from->model, from->work, to->work);
}

void mor_robot_give_motion(mor_robot* from, mor_robot* to, bool hand)
{
    size_t n = (size_t)from->model->joint_count, N = (size_t)from->model->dof;
    to->base = from->base;
    memcpy(to->s, from->s, (n + N) * sizeof *to->s); /* nu follows */
    memcpy(to->memory, from->memory, 3 * n * sizeof *to->memory);
    if (hand) mor_robot_hand_state(from->model, from->work, to->work);
    else mor_robot_copy_state(from->model, from->work, to->work);
}

static mor_robot* make_robot(const mor_robot_def* def)
{
    mor_robot* r = allocate(def->model);
    if (!r) return NULL;
    size_t n = (size_t)def->model->joint_count, N = (size_t)def->model->dof;
    snprintf(r->name, sizeof r->name, "%s", def->name);
    r->base = (mor_pose){ def->pose.position, mor_quat_normalize(def->pose.rotation) };
    if (def->s) memcpy(r->s, def->s, n * sizeof(double));
    if (def->nu) memcpy(r->nu, def->nu, N * sizeof(double));
    r->self_collision = def->self_collision;
    r->limits = def->limits;
    r->damping = def->damping;
    r->friction = def->friction;
    r->mimic = def->mimic;
    return r;
}

/* One body per link with the shapes of the model. */
static bool add_links(mor_world* w, mor_robot* r, const mor_robot_def* def, int number)
{
    const mor_robot_model* m = r->model;
    mor_body_shape* shapes = malloc(((size_t)m->shape_count + 1) * sizeof *shapes);
    if (!shapes) return false;
    for (int i = 0; i < m->link_count; i++) {
        mor_body_def d = mor_body_def_default();
        d.shapes = shapes;
        for (int k = 0; def->collide && k < m->shape_count; k++)
            if (m->shapes[k].link == i) {
                int frame = m->shapes[k].frame,
                    own = def->materials && frame >= 0 && frame < m->frame_count ? def->materials[frame] : -1;
                shapes[d.shape_count++] = (mor_body_shape){ m->shapes[k].geometry, m->shapes[k].pose, own };
            }
        bool held = i == 0 && !m->floating;
        mor_body b = { .alive = true,
                       .kind = held ? MOR_FIXED : MOR_DYNAMIC,
                       .material = def->material,
                       .tree = held ? -1 : r->tree,
                       .robot = number + 1,
                       .link = i,
                       .mass = m->links[i].mass,
                       .q = { 1, 0, 0, 0 } };
        snprintf(b.name, sizeof b.name, "%.30s/%.32s", r->name, m->links[i].name);
        int slot = mor_world_place_body(w, &d, b);
        if (slot < 0) {
            free(shapes);
            return false;
        }
        r->bodies[i] = slot;
    }
    free(shapes);
    return true;
}

static mor_code check(const mor_world* w, const mor_robot_def* def, mor_error* error)
{
    if (!def->model) return mor_fail(error, MOR_BAD_INPUT, "a robot needs a model");
    if (w->dimension != 3) return mor_fail(error, MOR_BAD_INPUT, "robots need a 3-D world");
    if (def->material < 0 || def->material >= w->material_count)
        return mor_fail(error, MOR_BAD_INPUT, "there is no material number %d", def->material);
    for (int i = 0; def->materials && i < def->model->frame_count; i++)
        if (def->materials[i] >= w->material_count)
            return mor_fail(error, MOR_BAD_INPUT, "there is no material number %d", def->materials[i]);
    mor_quat q = def->pose.rotation;
    double n = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    bool finite =
        isfinite(def->pose.position.x + def->pose.position.y + def->pose.position.z) && isfinite(n) && n > 1e-12;
    for (int i = 0; def->s && i < def->model->joint_count; i++) finite = finite && isfinite(def->s[i]);
    for (int i = 0; def->nu && i < def->model->dof; i++) finite = finite && isfinite(def->nu[i]);
    return finite
               ? MOR_OK
               : mor_fail(error, MOR_BAD_INPUT, "the state of robot '%s' has a number that is not finite", def->name);
}

/* Springs of joints are rows on the joint's coordinate, without its equations (articulate.c has them, too). */
static bool add_springs(mor_world* w, const mor_robot* r, int number, mor_error* error)
{
    const mor_robot_model* m = r->model;
    for (int i = 1; i < m->link_count; i++) {
        const mor_link_def* l = &m->links[i];
        if (!(l->stiffness > 0.0)) continue;
        mor_joint_def d = mor_joint_def_default();
        mor_pose parent = mor_robot_link_pose(m, r->work, l->parent), own = mor_robot_link_pose(m, r->work, i),
                 zero = mor_pose_mul(&parent, &l->pose);
        mor_quat F = mor_joint_axis_frame(l->axis);
        snprintf(d.name, sizeof d.name, "%.30s/%.32s", r->name, l->joint_name);
        d.kind = l->type == MOR_PRISMATIC ? MOR_JOINT_PRISMATIC : MOR_JOINT_REVOLUTE;
        d.body[0] = mor_world_robot_link(w, number, i);
        d.body[1] = mor_world_robot_link(w, number, l->parent);
        d.point[0] = own.position, d.point[1] = zero.position;
        d.framed = true;
        d.rotation[0] = mor_quat_mul(own.rotation, F), d.rotation[1] = mor_quat_mul(zero.rotation, F);
        d.lower = d.upper = r->s[l->joint]; /* which turn the coordinate is in */
        d.stiffness = l->stiffness, d.rest = l->rest;
        int joint = mor_world_add_joint(w, &d, error);
        if (joint < 0) return false;
        mor_joint* j = &((mor_joint*)w->joints.data)[joint];
        j->articulated = true;
        j->def.lower = -INFINITY, j->def.upper = INFINITY;
    }
    return true;
}

/* The bodies there are become links. */
static void adopt_links(mor_world* w, mor_robot* r, const int* bodies, int number)
{
    for (int i = 0; i < r->model->link_count; i++) {
        r->bodies[i] = bodies[i];
        if (bodies[i] < 0) continue;
        mor_body* b = &w->bodies[bodies[i]];
        b->tree = r->tree;
        b->robot = number + 1;
        b->link = i;
    }
}

/* ----------------------------------------------------------------- links that touch each other */

bool mor_world_add_group(mor_world* w, mor_robot_model* model, const mor_body_id* bodies)
{
    const mor_allocator* a = &w->allocator;
    size_t bytes = (size_t)model->link_count * sizeof *bodies;
    mor_body_id* copy = a->resize(a->user, NULL, bytes);
    if (!copy || !mor_buffer_reserve(a, &w->groups, w->groups.count + 1, sizeof(mor_link_group))) {
        if (copy) a->resize(a->user, copy, 0);
        return false;
    }
    memcpy(copy, bodies, bytes);
    ((mor_link_group*)w->groups.data)[w->groups.count++] =
        (mor_link_group){ .model = mor_robot_retain(model), .bodies = copy, .joints = -1 };
    return true;
}

void mor_world_free_groups(mor_world* w)
{
    const mor_allocator* a = &w->allocator;
    mor_link_group* groups = w->groups.data;
    for (int i = 0; i < w->groups.count; i++) {
        mor_robot_destroy(groups[i].model);
        a->resize(a->user, groups[i].bodies, 0);
    }
    mor_buffer_free(a, &w->groups);
    mor_buffer_free(a, &w->left_out);
}

const mor_left_out* mor_world_left_out(const mor_world* w, int* count)
{
    *count = w->left_out.count;
    return w->left_out.data;
}

static bool add_group(mor_world* w, mor_robot* r, int number)
{
    mor_body_id* ids = malloc((size_t)r->model->link_count * sizeof *ids);
    for (int i = 0; ids && i < r->model->link_count; i++) ids[i] = mor_world_robot_link(w, number, i);
    bool added = ids && mor_world_add_group(w, r->model, ids);
    free(ids);
    return added;
}

int mor_world_add_robot(mor_world* w, const mor_robot_def* def, mor_error* error)
{
    return mor_world_adopt_robot(w, def, NULL, error);
}

int mor_world_adopt_robot(mor_world* w, const mor_robot_def* def, const int* bodies, mor_error* error)
{
    if (check(w, def, error) != MOR_OK) return -1;
    if (w->robot_count == w->robot_capacity) {
        int capacity = w->robot_capacity ? 2 * w->robot_capacity : 4;
        mor_robot** robots = w->allocator.resize(w->allocator.user, w->robots, (size_t)capacity * sizeof *robots);
        if (!robots) goto no_memory;
        w->robots = robots;
        w->robot_capacity = capacity;
    }
    mor_robot* r = make_robot(def);
    if (!r || !mor_world_reserve_tree(w)) {
        mor_robot_free(w, r);
        goto no_memory;
    }
    if (def->dynamics && !mor_dynamics_take(r, def->dynamics, error)) {
        mor_robot_free(w, r);
        return -1;
    }
    mor_robot_update(r->model, r->work, &r->base, r->s, r->nu);
    if (r->model->dof > 0 && !mor_robot_forward_dynamics(r->model, r->work, w->gravity, NULL, NULL, r->force)) {
        mor_fail(error, MOR_BAD_INPUT,
                 "the mass matrix of robot '%s' is singular: a part that can move has no mass or inertia", r->name);
        mor_robot_free(w, r);
        return -1;
    }
    int number = w->robot_count;
    r->tree = w->tree_count;
    w->trees[w->tree_count++] = (mor_tree){
        .kind = r->dynamics.update ? &mor_tree_plugged : &mor_tree_robot, .body = -1, .dof = r->model->dof, .robot = r
    };
    w->robots[w->robot_count++] = r;
    w->revision++;
    if (bodies) {
        adopt_links(w, r, bodies, number);
        mor_robot_write_bodies(w, r);
        return number;
    }
    if (!add_links(w, r, def, number)) goto no_memory;
    mor_robot_write_bodies(w, r);
    if (!add_springs(w, r, number, error)) return -1;
    for (int i = 0; i < r->model->link_count; i++) w->bodies[r->bodies[i]].x0 = w->bodies[r->bodies[i]].x;
    if (r->self_collision && !def->all_pairs && !add_group(w, r, number)) goto no_memory;
    return number;

no_memory:
    mor_fail(error, MOR_SYSTEM, "out of memory while adding robot '%s'", def->name);
    return -1;
}

/* -------------------------------------------------------------------------------------- state */

int mor_world_robot_count(const mor_world* w) { return w->robot_count; }

int mor_world_find_robot(const mor_world* w, const char* name)
{
    for (int i = 0; i < w->robot_count; i++)
        if (strcmp(w->robots[i]->name, name) == 0) return i;
    return -1;
}

const char* mor_world_robot_name(const mor_world* w, int robot)
{
    assert(robot >= 0 && robot < w->robot_count);
    return w->robots[robot]->name;
}

const mor_robot_model* mor_world_robot_model(const mor_world* w, int robot)
{
    assert(robot >= 0 && robot < w->robot_count);
    return w->robots[robot]->model;
}

void mor_world_robot_state(const mor_world* w, int robot, mor_pose* base, double* s, double* nu)
{
    assert(robot >= 0 && robot < w->robot_count);
    const mor_robot* r = w->robots[robot];
    if (base) *base = r->base;
    if (s) memcpy(s, r->s, (size_t)r->model->joint_count * sizeof *s);
    if (nu) memcpy(nu, r->nu, (size_t)r->model->dof * sizeof *nu);
}

void mor_world_robot_set_state(mor_world* w, int robot, const mor_pose* base, const double* s, const double* nu)
{
    assert(robot >= 0 && robot < w->robot_count);
    mor_robot* r = w->robots[robot];
    if (base) r->base = (mor_pose){ base->position, mor_quat_normalize(base->rotation) };
    if (s) memcpy(r->s, s, (size_t)r->model->joint_count * sizeof *s);
    if (nu) memcpy(r->nu, nu, (size_t)r->model->dof * sizeof *nu);
    mor_robot_update(r->model, r->work, &r->base, r->s, r->nu);
    mor_robot_write_bodies(w, r);
    w->detected = false;
}

void mor_world_robot_apply(mor_world* w, int robot, const double* tau)
{
    assert(robot >= 0 && robot < w->robot_count);
    mor_robot* r = w->robots[robot];
    for (int j = 0; j < r->model->joint_count; j++) r->tau[j] += tau[j];
    w->forced = true;
}

mor_body_id mor_world_robot_link(const mor_world* w, int robot, int link)
{
    assert(robot >= 0 && robot < w->robot_count && link >= 0 && link < w->robots[robot]->model->link_count);
    int slot = w->robots[robot]->bodies[link];
    if (slot < 0) return (mor_body_id){ 0, 0 };
    return (mor_body_id){ (uint32_t)slot + 1, w->bodies[slot].generation };
}
