/* Bodies of a world: adding, removing, state, forces; ids with generations. */
#include "base/elementary.h"
#include "model/stored.h"
#include "model/world.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

bool mor_buffer_reserve(const mor_allocator* allocator, mor_buffer* buffer, int count, size_t size)
{
    if (count <= buffer->capacity) return true;
    int capacity = buffer->capacity ? buffer->capacity : 64;
    while (capacity < count) {
        if (capacity > INT32_MAX / 2) return false;
        capacity *= 2;
    }
    void* data = allocator->resize(allocator->user, buffer->data, (size_t)capacity * size);
    if (!data) return false;
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void mor_buffer_free(const mor_allocator* allocator, mor_buffer* buffer)
{
    if (buffer->data) allocator->resize(allocator->user, buffer->data, 0);
    *buffer = (mor_buffer){ 0 };
}

/* Doubles the arrays that grow with the bodies. */
static bool reserve_bodies(mor_world* w)
{
    if (w->body_count < w->body_capacity) return true;
    int capacity = w->body_capacity ? 2 * w->body_capacity : 16;
    const mor_allocator* a = &w->allocator;
    mor_body* bodies = a->resize(a->user, w->bodies, (size_t)capacity * sizeof *bodies);
    if (!bodies) return false;
    w->bodies = bodies;
    int* order = a->resize(a->user, w->order, (size_t)capacity * sizeof *order);
    if (!order) return false;
    w->order = order;
    int* order_of = a->resize(a->user, w->order_of, (size_t)capacity * sizeof *order_of);
    if (!order_of) return false;
    w->order_of = order_of;
    w->body_capacity = capacity;
    return true;
}

bool mor_world_reserve_tree(mor_world* w)
{
    if (w->tree_count < w->tree_capacity) return true;
    int capacity = w->tree_capacity ? 2 * w->tree_capacity : 16;
    mor_tree* trees = w->allocator.resize(w->allocator.user, w->trees, (size_t)capacity * sizeof *trees);
    if (!trees) return false;
    w->trees = trees;
    w->tree_capacity = capacity;
    return true;
}

mor_body_def mor_body_def_default(void)
{
    return (mor_body_def){ .kind = MOR_DYNAMIC, .pose = { { 0, 0, 0 }, { 1, 0, 0, 0 } } };
}

static bool finite3(mor_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

/* kg: beyond, energies and inertias leave what double precision can hold beside those of other bodies. */
#define LEAST_MASS 1e-18
#define MOST_MASS 1e18

/* Mass, centre of mass and inertia in the body frame, from what the definition gives. */
static mor_code body_mass(const mor_world* w, const mor_body_def* def, mor_mass* out, mor_error* error)
{
    mor_mass total = { 0 };
    for (int i = 0; i < def->shape_count; i++) {
        const mor_body_shape* s = &def->shapes[i];
        int material = s->material >= 0 ? s->material : def->material;
        mor_mass part = s->geometry->unit;
        double density = w->materials[material].density;
        part.mass *= density;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) part.inertia.m[r][c] *= density;
        part = mor_mass_transform(&part, &s->pose);
        mor_mass parts[2] = { total, part };
        if (part.mass > 0.0) total = total.mass > 0.0 ? mor_mass_combine(parts, 2) : part;
    }
    if (def->mass < 0.0 || !isfinite(def->mass))
        return mor_fail(error, MOR_BAD_INPUT,
                        "mass %g is not positive; give a positive number of kg, or 0 to take it from the density",
                        def->mass);
    if (def->mass == 0.0 && total.mass <= 0.0)
        return mor_fail(error, MOR_BAD_INPUT, "a dynamic body without volume needs a mass");
    if (def->mass > 0.0) { /* scale the distribution of the shapes */
        double s = total.mass > 0.0 ? def->mass / total.mass : 0.0;
        total.mass = def->mass;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) total.inertia.m[r][c] *= s;
    }
    if (!(total.mass >= LEAST_MASS && total.mass <= MOST_MASS))
        return mor_fail(error, MOR_BAD_INPUT, "mass %g kg is out of range; allowed: %g to %g kg", total.mass,
                        LEAST_MASS, MOST_MASS);
    if (def->has_com) total.com = def->com;
    if (def->has_inertia) total.inertia = def->inertia;
    *out = total;
    return MOR_OK;
}

static const mor_tree_kind* choose_tree(const mor_world* w, const mor_body_def* def)
{
    if (w->dimension == 3) return &mor_tree_free;
    bool point = def->shape_count == 1 && def->shapes[0].geometry->kind == MOR_PARTICLE && !def->has_inertia;
    return point ? &mor_tree_particle : &mor_tree_planar;
}

static mor_code check_definition(const mor_world* w, const mor_body_def* def, mor_error* error)
{
    mor_quat q = def->pose.rotation;
    double n = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!finite3(def->pose.position) || !isfinite(n))
        return mor_fail(error, MOR_BAD_INPUT, "the pose has a number that is not finite");
    if (!(n > 1e-12))
        return mor_fail(error, MOR_BAD_INPUT, "the orientation is a zero quaternion; [1, 0, 0, 0] means not turned");
    if (!finite3(def->velocity) || !finite3(def->angular_velocity) || !finite3(def->surface_velocity))
        return mor_fail(error, MOR_BAD_INPUT, "a velocity is not finite");
    const mor_body_support* s = &def->support;
    if (!(s->friction >= 0.0 && isfinite(s->friction)) || !(s->radius >= 0.0 && isfinite(s->radius)) ||
        !(s->gravity >= 0.0 && isfinite(s->gravity)))
        return mor_fail(error, MOR_BAD_INPUT, "friction, radius and gravity of a support are at least 0");
    if (s->friction > 0.0 && w->dimension == 3)
        return mor_fail(error, MOR_BAD_INPUT, "only planar bodies have a support; in 3-D put the body on a plane");
    if (def->material < 0 || def->material >= w->material_count)
        return mor_fail(error, MOR_BAD_INPUT, "there is no material number %d", def->material);
    for (int i = 0; i < def->shape_count; i++) {
        const mor_geometry* g = def->shapes[i].geometry;
        if (def->shapes[i].material >= w->material_count)
            return mor_fail(error, MOR_BAD_INPUT, "there is no material number %d", def->shapes[i].material);
        if (g->dimension != w->dimension)
            return mor_fail(error, MOR_BAD_INPUT, "shape '%s' is %d-D but the world is %d-D", g->label, g->dimension,
                            w->dimension);
        if (def->kind != MOR_FIXED && (g->kind == MOR_PLANE || g->kind == MOR_CHAIN))
            return mor_fail(error, MOR_BAD_INPUT, "a %s has no mass and cannot move; make the body fixed", g->label);
    }
    return MOR_OK;
}

/* Inertia that the tree of this body can work with, and its inverse. */
static mor_code check_inertia(const mor_world* w, mor_body* b, const mor_tree_kind* tree, mor_error* error)
{
    if (tree == &mor_tree_particle) return MOR_OK;
    if (w->dimension == 2) {
        double I = b->mass.inertia.m[2][2];
        if (!(I > 0.0) || !isfinite(I)) return mor_fail(error, MOR_BAD_INPUT, "inertia %g about z is not positive", I);
        return MOR_OK;
    }
    mor_code code = mor_mass_check(&b->mass, error);
    if (code == MOR_OK) b->inertia_inverse = mor_mat3_inverse(&b->mass.inertia);
    return code;
}

/* Of unit length but for rounding? Such a rotation is kept bit for bit: what was read is what is set. */
static bool is_unit(mor_quat q)
{
    double square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    return fabs(square - 1.0) <= 8e-16;
}

/* Writes pose and velocity of the body frame's definition into the state of the centre of mass. */
static void set_state(const mor_world* w, mor_body* b, const mor_pose* pose, mor_vec3 v, mor_vec3 omega)
{
    b->q = is_unit(pose->rotation) ? pose->rotation : mor_quat_normalize(pose->rotation);
    if (w->dimension == 2) {
        b->angle = 2.0 * mor_atan2(b->q.z, b->q.w);
        b->q = mor_quat_exp(mor_v3(0, 0, b->angle));
    }
    b->x = mor_add(pose->position, mor_rotate(b->q, b->mass.com));
    b->v = v;
    b->w = omega;
    if (w->dimension == 2) {
        b->x.z = b->v.z = 0.0;
        b->w = mor_v3(0, 0, omega.z);
    }
    mor_mat3 R = mor_quat_matrix(b->q), I = mor_mat3_rotate(&R, &b->mass.inertia);
    b->L = mor_mul(&I, b->w);
}

int mor_world_place_body(mor_world* w, const mor_body_def* def, mor_body b)
{
    const mor_allocator* a = &w->allocator;
    int slot = -1;
    for (int i = 0; i < w->body_count && w->alive_count < w->body_count && slot < 0; i++)
        if (!w->bodies[i].alive) slot = i;
    bool fresh = slot < 0;
    if (fresh && !reserve_bodies(w)) return -1;
    b.shape_count = def->shape_count;
    if (b.shape_count > 0) {
        b.shapes = a->resize(a->user, NULL, (size_t)b.shape_count * sizeof *b.shapes);
        if (!b.shapes) return -1;
        for (int i = 0; i < b.shape_count; i++) {
            b.shapes[i] = def->shapes[i];
            b.shapes[i].pose.rotation = mor_quat_normalize(b.shapes[i].pose.rotation);
            mor_geometry_retain(b.shapes[i].geometry);
        }
    }
    if (fresh) {
        slot = w->body_count++;
        b.generation = 1;
    } else {
        b.generation = w->bodies[slot].generation + 1;
    }
    if (!b.name[0]) snprintf(b.name, sizeof b.name, "body_%d", slot);
    w->bodies[slot] = b;
    w->detected = false;
    w->revision++;
    w->order_of[slot] = w->alive_count;
    w->order[w->alive_count++] = slot;
    return slot;
}

mor_body_id mor_world_add_body(mor_world* w, const mor_body_def* def, mor_error* error)
{
    const mor_body_id none = { 0, 0 };
    if (check_definition(w, def, error) != MOR_OK) return none;

    mor_body b = {
        .alive = true, .kind = def->kind, .material = def->material, .tree = -1, .shape_count = def->shape_count
    };
    const mor_tree_kind* tree = choose_tree(w, def);
    if (def->kind == MOR_DYNAMIC) {
        if (body_mass(w, def, &b.mass, error) != MOR_OK || check_inertia(w, &b, tree, error) != MOR_OK) return none;
    } else if (def->has_com) {
        b.mass.com = def->com;
    }
    b.surface_velocity = def->surface_velocity;
    b.support = def->support;
    b.no_collision = def->no_collision;
    b.motion = def->motion;
    b.motion_user = def->motion_user;
    mor_pose start = { def->pose.position, mor_quat_normalize(def->pose.rotation) };
    set_state(w, &b, &start, def->kind == MOR_FIXED ? mor_v3(0, 0, 0) : def->velocity,
              def->kind == MOR_FIXED ? mor_v3(0, 0, 0) : def->angular_velocity);
    b.x0 = b.x;
    snprintf(b.name, sizeof b.name, "%s", def->name);

    if (def->kind == MOR_DYNAMIC) {
        if (!mor_world_reserve_tree(w)) goto no_memory;
        b.tree = w->tree_count;
    }
    int slot = mor_world_place_body(w, def, b);
    if (slot < 0) goto no_memory;
    if (def->kind == MOR_DYNAMIC)
        w->trees[w->tree_count++] = (mor_tree){ .kind = tree, .body = slot, .dof = tree->dof };
    return (mor_body_id){ (uint32_t)slot + 1, w->bodies[slot].generation };

no_memory:
    mor_fail(error, MOR_SYSTEM, "out of memory while adding body '%s'", def->name);
    return none;
}

mor_code mor_body_set_mass(mor_world* w, mor_body_id id, double mass, mor_error* error)
{
    mor_body* b = mor_body_at(w, id);
    if (b->kind != MOR_DYNAMIC || b->robot)
        return mor_fail(error, MOR_BAD_INPUT, "the mass of '%s' cannot be changed: it is %s", b->name,
                        b->robot ? "in the model of its robot" : "no body that moves under forces");
    if (!(mass >= LEAST_MASS && mass <= MOST_MASS))
        return mor_fail(error, MOR_BAD_INPUT, "mass %g kg is out of range; allowed: %g to %g kg", mass, LEAST_MASS,
                        MOST_MASS);
    double s = mass / b->mass.mass;
    b->mass.mass = mass;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) b->mass.inertia.m[r][c] *= s, b->inertia_inverse.m[r][c] /= s;
    b->L = mor_scale(s, b->L);
    w->revision++;
    return MOR_OK;
}

static void free_body(mor_world* w, mor_body* b)
{
    for (int i = 0; i < b->shape_count; i++) mor_geometry_release(b->shapes[i].geometry);
    if (b->shapes) w->allocator.resize(w->allocator.user, b->shapes, 0);
    if (b->filters) w->allocator.resize(w->allocator.user, b->filters, 0);
    b->shapes = NULL, b->filters = NULL;
    b->shape_count = 0;
    b->alive = false;
}

static void remove_tree(mor_world* w, int tree)
{
    memmove(&w->trees[tree], &w->trees[tree + 1], (size_t)(w->tree_count - tree - 1) * sizeof *w->trees);
    w->tree_count--;
    for (int i = 0; i < w->body_count; i++)
        if (w->bodies[i].alive && w->bodies[i].tree > tree) w->bodies[i].tree--;
    for (int i = 0; i < w->robot_count; i++)
        if (w->robots[i]->tree > tree) w->robots[i]->tree--;
    mor_joint* joints = w->joints.data;
    for (int i = 0; i < w->joints.count; i++)
        if (joints[i].spring > tree) joints[i].spring--;
}

void mor_world_remove_body(mor_world* w, mor_body_id id)
{
    mor_body* b = mor_body_at(w, id);
    int slot = (int)id.index1 - 1, at = w->order_of[slot];
    assert(b->robot == 0); /* links stay with their robot */
    if (b->tree >= 0) remove_tree(w, b->tree);
    mor_joint* joints = w->joints.data;
    int left = 0;
    for (int i = 0; i < w->joints.count; i++) {
        bool gone = joints[i].body[0] == slot || joints[i].body[1] == slot;
        if (gone && joints[i].spring >= 0) remove_tree(w, joints[i].spring);
        if (gone) joints[i].spring = -1;
        else joints[left++] = joints[i];
    }
    w->joints.count = left;
    free_body(w, b);
    memmove(&w->order[at], &w->order[at + 1], (size_t)(w->alive_count - at - 1) * sizeof *w->order);
    w->alive_count--;
    w->order_of[slot] = -1;
    for (int i = at; i < w->alive_count; i++) w->order_of[w->order[i]] = i;
    uint64_t* keys = w->ignored.data;
    int kept = 0;
    for (int i = 0; i < w->ignored.count; i++)
        if ((int)(keys[i] >> 32) != slot && (int)(uint32_t)keys[i] != slot) keys[kept++] = keys[i];
    w->ignored.count = kept;
    /* contacts are numbered by body order: what was remembered no longer fits */
    w->detected = false;
    w->revision++;
    w->contacts.count = 0;
}

void mor_world_free_model(mor_world* w)
{
    const mor_allocator* a = &w->allocator;
    for (int i = 0; i < w->body_count; i++)
        if (w->bodies[i].alive) free_body(w, &w->bodies[i]);
    a->resize(a->user, w->bodies, 0);
    a->resize(a->user, w->order, 0);
    a->resize(a->user, w->order_of, 0);
    a->resize(a->user, w->trees, 0);
    a->resize(a->user, w->materials, 0);
    for (int i = 0; i < w->robot_count; i++) mor_robot_free(w, w->robots[i]);
    a->resize(a->user, w->robots, 0);
    mor_stored_free(w->stored);
    mor_buffer_free(a, &w->joints);
    mor_buffer_free(a, &w->pair_rules);
    mor_buffer_free(a, &w->ignored);
    mor_world_free_groups(w);
    mor_buffer_free(a, &w->contacts);
}

bool mor_body_valid(const mor_world* w, mor_body_id id)
{
    return id.index1 > 0 && (int)id.index1 <= w->body_count && w->bodies[id.index1 - 1].alive &&
           w->bodies[id.index1 - 1].generation == id.generation;
}

mor_body* mor_body_at(const mor_world* w, mor_body_id id)
{
    assert(mor_body_valid(w, id));
    return &w->bodies[id.index1 - 1];
}

mor_body_id mor_world_find_body(const mor_world* w, const char* name)
{
    for (int i = 0; i < w->alive_count; i++)
        if (strcmp(w->bodies[w->order[i]].name, name) == 0) return mor_world_body(w, i);
    return (mor_body_id){ 0, 0 };
}

int mor_world_body_count(const mor_world* w) { return w->alive_count; }

mor_body_id mor_world_body(const mor_world* w, int index)
{
    assert(index >= 0 && index < w->alive_count);
    int slot = w->order[index];
    return (mor_body_id){ (uint32_t)slot + 1, w->bodies[slot].generation };
}

int mor_body_index(const mor_world* w, mor_body_id id)
{
    mor_body_at(w, id);
    return w->order_of[id.index1 - 1];
}

mor_pose mor_body_pose(const mor_body* b) { return (mor_pose){ mor_sub(b->x, mor_rotate(b->q, b->mass.com)), b->q }; }

static bool is_zero(const mor_vec3* v) { return v->x == 0.0 && v->y == 0.0 && v->z == 0.0; }

mor_pose mor_body_shape_pose(const mor_body* b, int shape)
{
    const mor_pose* own = &b->shapes[shape].pose;
    const mor_quat* q = &own->rotation;
    if (q->w == 1.0 && q->x == 0.0 && q->y == 0.0 && q->z == 0.0 && is_zero(&own->position) && is_zero(&b->mass.com))
        return (mor_pose){ mor_add(b->x, mor_v3(0, 0, 0)), { b->q.w, b->q.x + 0.0, b->q.y + 0.0, b->q.z + 0.0 } };
    mor_pose body = mor_body_pose(b); /* the product above in full: no -0 there, either */
    return mor_pose_mul(&body, own);
}

mor_vec3 mor_body_spin(const mor_body* b)
{
    if (!b->robot) return b->L;
    mor_mat3 R = mor_quat_matrix(b->q), I = mor_mat3_rotate(&R, &b->mass.inertia);
    return mor_mul(&I, b->w);
}

mor_vec3 mor_body_point_velocity(const mor_body* b, mor_vec3 p)
{
    return mor_add(b->v, mor_cross(b->w, mor_sub(p, b->x)));
}

mor_body_state mor_body_get_state(const mor_world* w, mor_body_id id)
{
    const mor_body* b = mor_body_at(w, id);
    return (mor_body_state){ mor_body_pose(b), b->x, b->v, b->w };
}

void mor_body_set_state(mor_world* w, mor_body_id id, const mor_body_state* state)
{
    mor_body* b = mor_body_at(w, id);
    if (b->robot) return;
    w->detected = false;
    set_state(w, b, &state->pose, state->velocity, state->angular_velocity);
}

const char* mor_body_name(const mor_world* w, mor_body_id id) { return mor_body_at(w, id)->name; }
mor_body_kind mor_body_get_kind(const mor_world* w, mor_body_id id) { return mor_body_at(w, id)->kind; }
mor_mass mor_body_mass(const mor_world* w, mor_body_id id) { return mor_body_at(w, id)->mass; }
int mor_body_shape_count(const mor_world* w, mor_body_id id) { return mor_body_at(w, id)->shape_count; }
mor_vec3 mor_body_surface_velocity(const mor_world* w, mor_body_id id) { return mor_body_at(w, id)->surface_velocity; }

mor_body_shape mor_body_get_shape(const mor_world* w, mor_body_id id, int index)
{
    const mor_body* b = mor_body_at(w, id);
    assert(index >= 0 && index < b->shape_count);
    return b->shapes[index];
}

void mor_body_apply(mor_world* w, mor_body_id id, mor_vec3 force, mor_vec3 point)
{
    mor_body* b = mor_body_at(w, id);
    b->force = mor_add(b->force, force);
    b->torque = mor_add(b->torque, mor_cross(mor_sub(point, b->x), force));
    w->forced = true;
}

void mor_body_apply_torque(mor_world* w, mor_body_id id, mor_vec3 torque)
{
    mor_body* b = mor_body_at(w, id);
    b->torque = mor_add(b->torque, torque);
    w->forced = true;
}

static uint64_t pair_key(int a, int b)
{
    return a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
}

/* Position of the first key not below `key`. */
static int lower_bound(const mor_buffer* keys, uint64_t key)
{
    int low = 0, high = keys->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (((const uint64_t*)keys->data)[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

mor_code mor_world_ignore_pair(mor_world* w, mor_body_id a, mor_body_id b)
{
    mor_body_at(w, a), mor_body_at(w, b);
    uint64_t key = pair_key((int)a.index1 - 1, (int)b.index1 - 1);
    int at = lower_bound(&w->ignored, key);
    if (at < w->ignored.count && ((uint64_t*)w->ignored.data)[at] == key) return MOR_OK;
    if (!mor_buffer_reserve(&w->allocator, &w->ignored, w->ignored.count + 1, sizeof key)) return MOR_SYSTEM;
    uint64_t* keys = w->ignored.data;
    memmove(keys + at + 1, keys + at, (size_t)(w->ignored.count - at) * sizeof key);
    keys[at] = key;
    w->ignored.count++;
    w->detected = false;
    w->revision++;
    return MOR_OK;
}

bool mor_world_ignores(const mor_world* w, int a, int b)
{
    if (w->bodies[a].no_collision || w->bodies[b].no_collision) return true;
    int robot = w->bodies[a].robot;
    if (robot && robot == w->bodies[b].robot && !w->robots[robot - 1]->self_collision) return true;
    if (w->ignored.count == 0) return false;
    uint64_t key = pair_key(a, b);
    int at = lower_bound(&w->ignored, key);
    return at < w->ignored.count && ((const uint64_t*)w->ignored.data)[at] == key;
}
