/* Inverse dynamics of a step: impulses and unknown forces from the velocities at its end.
 *
 *     h f = M (nu+ - nu_free) - G p(nu+)
 *
 * with p by the law of contact (inverse_impulses.c). M and nu_free of free bodies in space depend on the torque of the
 * step (model/tree.c: the inertia is that of the middle of the free motion), those of robots and of bodies on a plane
 * with friction likewise. So the force is put into the draft and the step is assembled again until nothing is left:
 * the force that is handed out is the one that the forward step needs, to rounding. Each round leaves about h |omega|
 * of what the one before left.
 *
 * A free body is known by R and L (model/tree.c). If its state at the end of the step is known, w+ is log(R+ R')/h;
 * where the step would have turned it back to keep its energy, w+ = u + A^-1 (L+ - L_free); where it was struck,
 * I^-1 L+. They are tried in this order until the end is met; with the exact law, which asks for the least force, a way
 * that needs several times the force of the first one is not taken: the values of the scene are not those of the
 * motion, and some way meets its end by accident. Robots are asked for other velocities until they end with those
 * given.
 *
 * E. Todorov (2011), A convex, smooth and invertible contact model for trajectory optimization. */
#include "derivative/inverse_impulses.h"
#include "derivative/look.h"

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "formulation/island_systems.h"
#include "moreau/state.h"
#include "step/stabilise.h"
#include "step/stages.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 100, STEADY = 30, ATTEMPTS = 12 };
#define ROUNDING 1e-13 /* of a velocity */
#define NEAR 1e-7      /* of L, and rad: further from its end a body got there another way */
#define MORE 3.0       /* times the change of the first way: a body did not get to its end like that */
#define SHARE 0.3      /* of a turned body's new guess: the rows are stiff, whole steps would overshoot */

/* How a free body got to the end of the step (model/tree.c), in the order in which it is tried; the last stands for
 * none of them, and is treated as the first. Where bodies bounce within the step it turned with two velocities, and the
 * rows have that of its end. */
enum { SWEPT, TURNED, STRUCK, UNKNOWN };

typedef struct inversion {
    mor_inverse_dynamics answer;
    mor_allocator allocator;
    mor_step* step;
    mor_arena* arena;
    mor_buffer contacts;
} inversion;

typedef struct work {
    mor_world* w; /* the draft */
    mor_step* k;
    mor_arena* arena;
    const double *q, *nu;
    const mor_inverse_options* options;
    double *target, *impulse, *rest; /* by trees */
    double** factor;                 /* of each tree */
    double *force, *change;          /* by nu */
    char* way;                       /* of each body */
    double* turned;                  /* 3 of each body: the last guess */
    double* first;                   /* of the first way: its change of velocities (n) */
    double* shift;                   /* of robots: of their velocities, what the end of the step takes (n) */
    int n, round;
    bool unique;
    int bounces;
    double left;
} work;

mor_inverse_options mor_inverse_options_default(void) { return (mor_inverse_options){ MOR_INVERSE_CONVEX, 0.0, 1e-8 }; }

void mor_world_set_time(mor_world* w, int step, double time)
{
    w->step = w->step_base = step;
    w->time = w->time_base = time;
    w->detected = false;
}

/* Adds generalised forces of one tree to what acts on its bodies. */
static void push(mor_world* w, const mor_tree* t, const double* f)
{
    w->forced = true;
    if (!t->robot) {
        mor_body* b = &w->bodies[t->body];
        bool space = t->dof == 6;
        b->force = mor_add(b->force, mor_v3(f[0], f[1], space ? f[2] : 0.0));
        if (t->dof > 2) b->torque = mor_add(b->torque, space ? mor_v3(f[3], f[4], f[5]) : mor_v3(0, 0, f[2]));
        return;
    }
    mor_robot* r = t->robot;
    int n = mor_robot_joint_count(r->model), first = t->dof - n;
    for (int j = 0; j < n; j++) r->tau[j] += f[first + j];
    if (first == 0) return;
    mor_body* b = &w->bodies[r->bodies[0]];
    mor_vec3 F = mor_v3(f[0], f[1], f[2]), T = mor_v3(f[3], f[4], f[5]);
    b->force = mor_add(b->force, F);
    b->torque = mor_add(b->torque, mor_add(T, mor_cross(mor_sub(r->base.position, b->x), F)));
}

/* Calls `each` for every tree that has numbers of nu, with where they and those of q begin. */
static void for_trees(mor_world* w, void (*each)(void* user, mor_world* w, mor_tree* t, mor_span at), void* user)
{
    mor_span at = { 0 };
    for (int i = 0; i < w->alive_count; i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        if (b->robot || b->tree < 0) continue;
        int dof = w->trees[b->tree].dof;
        each(user, w, &w->trees[b->tree], at);
        at.nu += dof, at.q += dof == 6 ? 7 : dof;
    }
    for (int i = 0; i < w->robot_count; i++) each(user, w, &w->trees[w->robots[i]->tree], mor_world_robot_span(w, i));
}

static void push_part(void* user, mor_world* w, mor_tree* t, mor_span at) { push(w, t, (const double*)user + at.nu); }

void mor_world_apply_forces(mor_world* w, const double* force) { for_trees(w, push_part, (void*)force); }

/* -------------------------------------------------------------------------------- one assembly */

/* L of M = L L', row-major; the upper triangle is not touched. */
static bool factorise(int n, double* M)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = M[i * n + j];
            for (int m = 0; m < j; m++) sum -= M[i * n + m] * M[j * n + m];
            if (i == j && !(sum > 0.0)) return false;
            M[i * n + j] = i == j ? sqrt(sum) : sum / M[j * n + j];
        }
    return true;
}

typedef struct mor_end {
    mor_quat q;
    mor_vec3 L;
} mor_end;

/* The rotation and angular momentum of a free body at the end of the step. */
static mor_end end_of(const work* s, const mor_tree* t, mor_span at)
{
    const double *q = s->q + at.q + 3, *nu = s->nu + at.nu + 3;
    mor_quat end = mor_quat_normalize((mor_quat){ q[0], q[1], q[2], q[3] });
    mor_vec3 w = mor_unrotate(end, mor_v3(nu[0], nu[1], nu[2]));
    return (mor_end){ end, mor_rotate(end, mor_mul(&s->w->bodies[t->body].mass.inertia, w)) };
}

/* w+ of the rows for a free body whose state at the end is known, by how it got there. */
static void turned_target(const work* s, const mor_tree* t, mor_span at, const double* M, double* target)
{
    const mor_body* b = &s->w->bodies[t->body];
    mor_end e = end_of(s, t, at);
    mor_mat3 R = mor_quat_matrix(b->q), inverse = mor_mat3_rotate(&R, &b->inertia_inverse);
    mor_vec3 w = mor_mul(&inverse, e.L);
    double* last = s->turned + 3 * t->body;
    if (s->way[t->body] == SWEPT || (s->way[t->body] == UNKNOWN && s->bounces == 0)) {
        const double a[] = { e.q.w, e.q.x, e.q.y, e.q.z }, from[] = { b->q.w, b->q.x, b->q.y, b->q.z };
        mor_turn_between(a, from, s->w->h, target + 3);
        return;
    }
    if (s->way[t->body] == TURNED) {
        mor_mat3 A;
        for (int i = 0; i < 9; i++) A.m[i / 3][i % 3] = M[6 * (3 + i / 3) + 3 + i % 3];
        const double* free = s->k->nu_new + t->offset + 3;
        A = mor_mat3_inverse(&A);
        mor_vec3 found = mor_add(mor_mul(&A, mor_sub(e.L, b->L_free)), mor_v3(free[0], free[1], free[2]));
        mor_vec3 before = mor_v3(last[0], last[1], last[2]);
        w = s->round ? mor_lerp(before, found, SHARE) : found;
    }
    last[0] = target[3] = w.x, last[1] = target[4] = w.y, last[2] = target[5] = w.z;
}

typedef struct targets {
    work* s;
    bool ok;
} targets;

/* Mass, its factor, where the tree shall get to and the impulse that takes it there. */
static void prepare_tree(void* user, mor_world* w, mor_tree* t, mor_span at)
{
    targets* all = user;
    work* s = all->s;
    int n = t->dof, index = (int)(t - w->trees);
    double* M = mor_arena_alloc(s->arena, (size_t)n * (size_t)n * sizeof *M);
    all->ok = all->ok && M;
    if (!all->ok) return;
    const double *prepared = mor_prepared_mass(s->k, index), *from = prepared;
    if (t->kind->fill) from = t->kind->fill(w, t, prepared, M, NULL);
    if (from != M) memcpy(M, from, (size_t)n * (size_t)n * sizeof *M);
    double *to = s->target + t->offset, *i = s->impulse + t->offset;
    const double* free = s->k->nu_new + t->offset;
    memcpy(to, s->nu + at.nu, (size_t)n * sizeof *to);
    if (s->q && t->kind == &mor_tree_free) turned_target(s, t, at, M, to);
    for (int d = 0; s->q && t->robot && d < n; d++) to[d] += s->shift[at.nu + d];
    for (int a = 0; a < n; a++) {
        i[a] = 0.0;
        for (int b = 0; b < n; b++) i[a] += M[a * n + b] * (to[b] - free[b]);
    }
    all->ok = factorise(n, M);
    s->factor[index] = M;
}

static bool solve_island(work* s, mor_island* island)
{
    const mor_system* y = &island->system;
    size_t n = (size_t)y->dof + 1;
    double *nu = mor_arena_alloc(s->arena, n * sizeof *nu), *impulse = mor_arena_alloc(s->arena, n * sizeof *impulse);
    double* rest = mor_arena_alloc(s->arena, n * sizeof *rest);
    const double** factor = mor_arena_alloc(s->arena, ((size_t)y->tree_count + 1) * sizeof *factor);
    if (!nu || !impulse || !rest || !factor) return false;
    for (int t = 0; t < y->tree_count; t++) {
        int tree = island->tree_of[t], from = s->w->trees[tree].offset;
        size_t bytes = (size_t)y->trees[t].dof * sizeof *nu;
        factor[t] = s->factor[tree];
        memcpy(nu + y->trees[t].offset, s->target + from, bytes);
        memcpy(impulse + y->trees[t].offset, s->impulse + from, bytes);
    }
    mor_inverse_island k = { .s = y, .factor = factor, .nu = nu, .impulse = impulse, .options = s->options };
    k.arena = s->arena, k.p = island->answer.impulses, k.rest = rest;
    if (!mor_inverse_impulses(&k)) return false;
    s->unique = s->unique && k.unique;
    s->bounces += k.bounces;
    for (int t = 0; t < y->tree_count; t++)
        memcpy(s->rest + s->w->trees[island->tree_of[t]].offset, rest + y->trees[t].offset,
               (size_t)y->trees[t].dof * sizeof *rest);
    return true;
}

static void add_part(void* user, mor_world* w, mor_tree* t, mor_span at)
{
    work* s = user;
    double *rest = s->rest + t->offset, h = w->h, scratch[6], *x = t->dof <= 6 ? scratch : s->impulse + t->offset;
    const double* L = s->factor[t - w->trees];
    int n = t->dof;
    memcpy(x, rest, (size_t)n * sizeof *x);
    mor_inverse_whiten(n, L, false, x);
    for (int i = n - 1; i >= 0; i--) {
        for (int m = i + 1; m < n; m++) x[i] -= L[m * n + i] * x[m];
        x[i] /= L[i * n + i];
        s->left = mor_max(s->left, fabs(x[i]));
    }
    for (int i = 0; i < n; i++) {
        rest[i] /= h;
        s->force[at.nu + i] += rest[i];
        s->change[at.nu + i] += x[i];
    }
    push(w, t, rest);
}

/* One round: what the forces so far do not explain becomes force, too. */
static mor_code improve(work* s, const mor_world* world, mor_error* error)
{
    mor_code code = mor_do_assemble(world, s->k, error);
    if (code) return code;
    int dof = s->k->dof + 1;
    s->arena = s->k->arena;
    s->target = mor_arena_zero(s->arena, (size_t)dof, sizeof(double));
    s->impulse = mor_arena_zero(s->arena, (size_t)dof, sizeof(double));
    s->rest = mor_arena_zero(s->arena, (size_t)dof, sizeof(double));
    s->factor = mor_arena_zero(s->arena, (size_t)s->w->tree_count + 1, sizeof *s->factor);
    if (!s->target || !s->impulse || !s->rest || !s->factor) return MOR_SYSTEM;
    targets all = { s, true };
    for_trees(s->w, prepare_tree, &all);
    if (!all.ok) return MOR_SYSTEM;
    memcpy(s->rest, s->impulse, (size_t)s->k->dof * sizeof(double));
    s->unique = true;
    s->bounces = 0;
    for (int i = 0; i < s->k->island_count; i++)
        if (!solve_island(s, &s->k->islands[i])) return MOR_SYSTEM;
    s->left = 0.0;
    for_trees(s->w, add_part, s);
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------- a step */

static mor_code check(const mor_world* w, const double* q, const double* nu, mor_error* error)
{
    bool finite = true;
    for (int i = 0; i < mor_world_nu_count(w); i++) finite = finite && isfinite(nu[i]);
    for (int i = 0; q && i < mor_world_q_count(w); i++) finite = finite && isfinite(q[i]);
    if (!finite) return mor_fail(error, MOR_BAD_INPUT, "the motion has numbers that are not finite");
    if (strcmp(w->integrator->name, "semi-implicit") != 0)
        return mor_fail(error, MOR_BAD_INPUT, "the integrator '%s' has no inverse; semi-implicit has one",
                        w->integrator->name);
    if (w->on_collide || w->on_solve || w->on_integrate || w->stored)
        return mor_fail(error, MOR_BAD_INPUT, "a stage of the caller's, or a stored frame, has no inverse");
    for (int i = 0; i < w->tree_count; i++)
        if (w->trees[i].body < 0 && !w->trees[i].robot)
            return mor_fail(error, MOR_BAD_INPUT, "springs and dampers of joints have no inverse");
    return MOR_OK;
}

typedef struct ends {
    const work* s;
    bool elsewhere; /* out: some body got to another state */
} ends;

/* After the integration: bodies that did not get to the end of the step go there another way. */
static void find_elsewhere(void* user, mor_world* w, mor_tree* t, mor_span at)
{
    ends* e = user;
    if (t->kind != &mor_tree_free) return;
    mor_body* b = &w->bodies[t->body];
    mor_end end = end_of(e->s, t, at);
    mor_quat d = mor_quat_mul(end.q, mor_quat_conj(b->q));
    bool there = mor_norm(mor_sub(end.L, b->L)) <= NEAR * mor_norm(b->L) && mor_norm(mor_v3(d.x, d.y, d.z)) <= NEAR;
    if (there || e->s->way[t->body] == UNKNOWN) return;
    e->s->way[t->body]++;
    e->elsewhere = true;
}

static mor_code begin(mor_world* world, work* s, mor_error* error)
{
    int step = world->step;
    if (step == 0) world->step = 1; /* the state is what it is: nothing is moved apart first */
    mor_code code = mor_stage_user(world, s->k, error);
    world->step = step;
    s->w = s->k->w;
    if (code) return code;
    s->k->found_ahead = s->w->detected = false;
    for (int i = 0; i < s->w->body_count; i++) s->w->bodies[i].struck = s->way[i] == STRUCK;
    s->k->struck = 0;
    code = mor_do_collide(world, s->k, error);
    return code ? code : mor_do_control(world, s->k, error);
}

static mor_code settle(const mor_world* world, work* s, mor_error* error)
{
    double scale = 1.0;
    for (int i = 0; i < s->n; i++) scale = mor_max(scale, fabs(s->nu[i]));
    double before = INFINITY;
    memset(s->force, 0, (size_t)s->n * sizeof(double));
    memset(s->change, 0, (size_t)s->n * sizeof(double));
    for (s->round = 0; s->round < ROUNDS; s->round++) {
        mor_code code = improve(s, world, error);
        if (code) return code;
        if (s->left <= 4e-16 * scale || (s->round > STEADY && s->left >= before)) break;
        before = s->left;
    }
    return MOR_OK;
}

static bool keep_contacts(inversion* o, const work* s)
{
    mor_step* k = s->k;
    if (!mor_buffer_reserve(&o->allocator, &o->contacts, k->contacts.count + 1, sizeof(mor_contact))) return false;
    mor_contact* to = o->contacts.data;
    for (int i = 0; i < k->contacts.count; i++) {
        to[i] = ((const mor_contact*)k->contacts.data)[i];
        to[i].impulse = to[i].moment = mor_v3(0, 0, 0);
        to[i].normal_impulse = 0.0;
    }
    for (int i = 0; i < k->island_count; i++) {
        const mor_system* y = &k->islands[i].system;
        for (int c = 0; c < y->contact_count; c++) {
            const mor_block* b = &y->blocks[y->contacts[c].block];
            const double* p = k->islands[i].answer.impulses + b->row;
            mor_contact* at = &to[y->contacts[c].contact];
            mor_vec3 t, o2;
            mor_contact_tangents(s->w, at, &t, &o2);
            at->normal_impulse = p[0];
            at->impulse = mor_scale(p[0], at->normal);
            if (b->dim > 1) at->impulse = mor_madd(at->impulse, p[1], t);
            if (b->dim > 2) at->impulse = mor_madd(at->impulse, p[2], o2);
        }
    }
    o->answer.contact_count = k->contacts.count;
    o->answer.contacts = to;
    return true;
}

/* The draft at the end of the step, with the forces and velocities that were found. */
static void finish(work* s)
{
    memcpy(s->k->nu_new, s->target, (size_t)s->k->dof * sizeof(double));
    for (int i = 0; i < s->w->tree_count; i++) { /* what nothing pushes flies freely, to the last bit */
        const mor_tree* t = &s->w->trees[i];
        double *to = s->k->nu_new + t->offset, off = 0.0, size = 1.0;
        const double* free = s->k->nu_free + t->offset;
        for (int d = 0; d < t->dof; d++) off = mor_max(off, fabs(to[d] - free[d])), size = mor_max(size, fabs(to[d]));
        if (off <= ROUNDING * size) memcpy(to, free, (size_t)t->dof * sizeof *to);
    }
    s->k->nu_move = NULL;
    mor_integrate_bodies(s->k);
}

/* Robots end a step with other velocities than its rows have (model/robot_motion.c): the rows are asked for as much
 * more. True if that changed something. */
static bool shift_robots(work* s, const double* end)
{
    double most = 0.0, size = 1.0;
    for (int i = 0; i < s->w->robot_count; i++) {
        mor_span at = mor_world_robot_span(s->w, i);
        for (int d = at.nu; d < at.nu + at.nu_count; d++) {
            s->shift[d] += s->nu[d] - end[d];
            most = mor_max(most, fabs(s->nu[d] - end[d])), size = mor_max(size, fabs(s->nu[d]));
        }
    }
    return most > ROUNDING * size;
}

/* One way, to its end. */
static mor_code go(mor_world* world, inversion* o, work* s, mor_error* error)
{
    mor_code code = begin(world, s, error);
    if (!code) code = settle(world, s, error);
    if (code) return code;
    if (!keep_contacts(o, s)) return MOR_SYSTEM;
    finish(s);
    return mor_world_get_nu(s->w, (double*)o->answer.end, s->n, error);
}

/* Ways that need several times the force of the first one are given up. */
static void find_forced(void* user, mor_world* w, mor_tree* t, mor_span at)
{
    (void)w;
    ends* e = user;
    const work* s = e->s;
    if (t->kind != &mor_tree_free || s->way[t->body] == SWEPT || s->way[t->body] == UNKNOWN) return;
    double now = 0.0, first = 0.0, size = 1.0;
    for (int i = at.nu; i < at.nu + t->dof; i++) {
        now = mor_max(now, fabs(s->change[i])), first = mor_max(first, fabs(s->first[i]));
        size = mor_max(size, fabs(s->nu[i]));
    }
    if (now <= MORE * first + ROUNDING * size) return;
    s->way[t->body] = UNKNOWN;
    e->elsewhere = true;
}

static mor_code invert(mor_world* world, inversion* o, work* s, mor_error* error)
{
    mor_inverse_dynamics* a = &o->answer;
    ends e = { s, true };
    mor_code code = MOR_OK;
    for (int way = SWEPT; way <= ATTEMPTS && e.elsewhere; way++) {
        if ((code = go(world, o, s, error))) return code;
        if (way == SWEPT) memcpy(s->first, s->change, (size_t)s->n * sizeof(double));
        e.elsewhere = s->q && shift_robots(s, a->end);
        if (s->q) for_trees(s->w, find_elsewhere, &e);
    }
    e.elsewhere = false;
    if (s->q && s->options->law == MOR_INVERSE_EXACT) for_trees(s->w, find_forced, &e);
    if (e.elsewhere && (code = go(world, o, s, error))) return code;
    a->unique = s->unique, a->bounces = s->bounces, a->left = s->left;
    a->largest_change = 0.0;
    for (int i = 0; i < s->n; i++) a->largest_change = mor_max(a->largest_change, fabs(s->change[i]));
    return MOR_OK;
}

static inversion* create(const mor_world* w, mor_error* error)
{
    size_t n = (size_t)mor_world_nu_count(w) + 1;
    inversion* o = w->allocator.resize(w->allocator.user, NULL, sizeof *o + 3 * n * sizeof(double));
    if (!o) return NULL;
    double* numbers = (double*)(o + 1);
    *o = (inversion){ .allocator = w->allocator };
    o->answer.count = (int)n - 1;
    o->answer.force = numbers, o->answer.change = numbers + n, o->answer.end = numbers + 2 * n;
    o->arena = mor_arena_create(&w->allocator);
    o->step = mor_step_create(w, error);
    if (o->arena && o->step) return o;
    mor_inverse_dynamics_destroy(&o->answer);
    return NULL;
}

mor_code mor_world_inverse(mor_world* world, const double* q, const double* nu, const mor_inverse_options* options,
                           mor_inverse_dynamics** answer, mor_error* error)
{
    mor_code code = check(world, q, nu, error);
    if (code) return code;
    int n = mor_world_nu_count(world);
    if (*answer && (*answer)->count != n) {
        mor_inverse_dynamics_destroy(*answer);
        *answer = NULL;
    }
    inversion* o = *answer ? (inversion*)*answer : create(world, error);
    if (!o) return mor_fail(error, MOR_SYSTEM, "out of memory");
    *answer = &o->answer;
    mor_inverse_options chosen = *options;
    bool convex = strcmp(world->formulation->name, "convex") == 0;
    if (!(chosen.regularisation > 0.0))
        chosen.regularisation = convex ? mor_max(*(const double*)world->formulation_options, 1e-12) : 1e-6;
    mor_arena_reset(o->arena);
    work s = { .k = o->step, .q = q, .nu = nu, .options = &chosen, .n = n };
    s.force = (double*)o->answer.force, s.change = (double*)o->answer.change;
    s.way = mor_arena_zero(o->arena, (size_t)world->body_count + 1, 1);
    s.turned = mor_arena_zero(o->arena, 3 * (size_t)world->body_count + 1, sizeof(double));
    s.shift = mor_arena_zero(o->arena, (size_t)n + 1, sizeof(double));
    s.first = mor_arena_zero(o->arena, (size_t)n + 1, sizeof(double));
    code = s.way && s.turned && s.shift && s.first ? invert(world, o, &s, error) : MOR_SYSTEM;
    return code == MOR_SYSTEM ? mor_fail(error, MOR_SYSTEM, "out of memory") : code;
}

void mor_inverse_dynamics_destroy(mor_inverse_dynamics* answer)
{
    if (!answer) return;
    inversion* o = (inversion*)answer;
    mor_allocator a = o->allocator;
    mor_step_destroy(o->step);
    mor_arena_destroy(o->arena);
    mor_buffer_free(&a, &o->contacts);
    a.resize(a.user, o, 0);
}
