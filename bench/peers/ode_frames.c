/* ODE's own problems: runs scenes in ODE, stores the steps as BPMD files in the layout of its fork in Gazebo (from its
 * contact joints), and measures ODE's solvers and Moreau's on the same frames with the same judge.
 *
 *     bench_ode_frames [-o DIR] [--frames]
 *
 * --frames: only the files, with ODE's answer (QuickStep, 20 iterations) in each frame.
 *
 * The problem is ODE's, not ours: normal velocity >= ERP depth/h, and for every contact two friction directions t_1,
 * t_2 (dPlaneSpace) with |f_1|, |f_2| <= mu f_n each (dContactApprox1). That square is a polygon of four corners on the
 * circle of radius sqrt(2) mu, turned by 45 degrees: rows are turned accordingly and the problem is a step with
 * pyramids. Spheres and cubes only, so that inertia and gyroscopic terms do not depend on the orientation. Impulses of
 * ODE come from its joint feedback; the error of an answer is mor_judge's velocity error [m/s].
 *
 * Times are CPU time. ODE: dWorldStep or dWorldQuickStep alone (it assembles, solves and integrates; collision is
 * outside). Moreau: assembly of the frame plus the solver, from zero (cold) and from the impulses of the step before
 * (warm, as in a simulation; ODE keeps none). Sweeps of neither pay for the judge. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <ode/ode.h>

#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "io/bpmd/bpmd.h"
#include "io/hdf5/h5.h"
#include "model/step.h"

enum { MOST_BODIES = 4096, MOST_CONTACTS = 20000, PER_PAIR = 16, MOST_STEP_CONTACTS = 300 };
static const double erp = 0.2, cfm = 1e-10;

typedef struct simulation {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    int body_count; /* dynamic ones */
    dBodyID body[MOST_BODIES];
    double mu, h;
    mor_vec3 gravity;
    int contact_count;
    dContact contact[MOST_CONTACTS];
    dBodyID pair[MOST_CONTACTS][2];
    dJointFeedback feedback[MOST_CONTACTS];
} simulation;

static void quiet(int number, const char* text, va_list list) { (void)number, (void)text, (void)list; }

static void die(const char* text)
{
    fprintf(stderr, "bench_ode_frames: %s\n", text);
    exit(1);
}

/* ---------------------------------------------------------------------------------- ODE */

static simulation* make(const char* name, const char* const* sets)
{
    char path[512];
    mor_error error = { 0 };
    snprintf(path, sizeof path, "%s/%s.yaml", MOREAU_SCENES, name);
    mor_scene* scene = mor_scene_load(path, sets, NULL, &error);
    mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (!w) die(error.text);
    simulation* s = calloc(1, sizeof *s);
    if (!s) die("out of memory");
    s->world = dWorldCreate();
    s->space = dHashSpaceCreate(NULL);
    s->group = dJointGroupCreate(0);
    s->gravity = w->gravity;
    s->h = w->h;
    s->mu = 0.5;
    dWorldSetGravity(s->world, s->gravity.x, s->gravity.y, s->gravity.z);
    dWorldSetERP(s->world, erp);
    dWorldSetCFM(s->world, cfm);
    for (int i = 0; i < w->alive_count; i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        const mor_geometry* g = b->shapes[0].geometry;
        mor_pose pose = mor_body_shape_pose(b, 0);
        if (b->kind == MOR_DYNAMIC) s->mu = w->materials[b->material].friction;
        if (g->kind == MOR_PLANE) {
            mor_vec3 n = mor_rotate(pose.rotation, mor_v3(0, 0, 1));
            dCreatePlane(s->space, n.x, n.y, n.z, mor_dot(n, pose.position));
            continue;
        }
        bool box = g->kind == MOR_POLYHEDRON && g->polyhedron->is_box;
        if (!box && g->kind != MOR_SPHERE) die("only spheres, cubes and planes");
        const double* half = box ? &g->polyhedron->half.x : NULL;
        dGeomID geom =
            box ? dCreateBox(s->space, 2 * half[0], 2 * half[1], 2 * half[2]) : dCreateSphere(s->space, g->size[0]);
        if (b->kind == MOR_DYNAMIC) {
            dMass mass;
            if (box) dMassSetBoxTotal(&mass, b->mass.mass, 2 * half[0], 2 * half[1], 2 * half[2]);
            else dMassSetSphereTotal(&mass, b->mass.mass, g->size[0]);
            if (s->body_count == MOST_BODIES) die("too many bodies");
            dBodyID body = s->body[s->body_count++] = dBodyCreate(s->world);
            dBodySetMass(body, &mass);
            dGeomSetBody(geom, body);
            dBodySetLinearVel(body, b->v.x, b->v.y, b->v.z);
            dBodySetAngularVel(body, b->w.x, b->w.y, b->w.z);
        }
        const dReal q[4] = { pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z };
        dGeomSetPosition(geom, pose.position.x, pose.position.y, pose.position.z);
        dGeomSetQuaternion(geom, q);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return s;
}

static void destroy(simulation* s)
{
    dJointGroupDestroy(s->group);
    dSpaceDestroy(s->space);
    dWorldDestroy(s->world);
    free(s);
}

static void near(void* data, dGeomID a, dGeomID b)
{
    simulation* s = data;
    dBodyID one = dGeomGetBody(a), two = dGeomGetBody(b);
    if (!one && !two) return;
    dContact found[PER_PAIR];
    int n = dCollide(a, b, PER_PAIR, &found[0].geom, sizeof(dContact));
    for (int i = 0; i < n; i++) {
        if (s->contact_count == MOST_CONTACTS) die("too many contacts");
        dContact* c = &s->contact[s->contact_count];
        *c = found[i];
        memset(&c->surface, 0, sizeof c->surface);
        c->surface.mode = dContactApprox1;
        c->surface.mu = s->mu;
        s->pair[s->contact_count][0] = one ? one : two;
        s->pair[s->contact_count++][1] = one ? two : NULL;
        if (!one) /* the first body is one that moves; the normal points into it */
            for (int k = 0; k < 3; k++) c->geom.normal[k] = -c->geom.normal[k];
    }
}

static void collide(simulation* s)
{
    s->contact_count = 0;
    dSpaceCollide(s->space, s, near);
}

/* One step with the contacts as they are; CPU seconds of ODE alone. iterations 0: dWorldStep. */
static double step(simulation* s, int iterations)
{
    for (int i = 0; i < s->contact_count; i++) {
        dJointID j = dJointCreateContact(s->world, s->group, &s->contact[i]);
        dJointAttach(j, s->pair[i][0], s->pair[i][1]);
        dJointSetFeedback(j, &s->feedback[i]);
    }
    if (iterations) dWorldSetQuickStepNumIterations(s->world, iterations);
    double begin = mor_cpu_clock();
    if (iterations) dWorldQuickStep(s->world, s->h);
    else dWorldStep(s->world, s->h);
    double used = mor_cpu_clock() - begin;
    dJointGroupEmpty(s->group);
    return used;
}

typedef struct state {
    dReal x[3], q[4], v[3], w[3];
} state;

static state* save(const simulation* s)
{
    state* all = malloc((size_t)(s->body_count + 1) * sizeof *all);
    if (!all) die("out of memory");
    for (int i = 0; i < s->body_count; i++) {
        memcpy(all[i].x, dBodyGetPosition(s->body[i]), 3 * sizeof(dReal));
        memcpy(all[i].q, dBodyGetQuaternion(s->body[i]), 4 * sizeof(dReal));
        memcpy(all[i].v, dBodyGetLinearVel(s->body[i]), 3 * sizeof(dReal));
        memcpy(all[i].w, dBodyGetAngularVel(s->body[i]), 3 * sizeof(dReal));
    }
    return all;
}

static void restore(simulation* s, const state* all)
{
    for (int i = 0; i < s->body_count; i++) {
        dBodySetPosition(s->body[i], all[i].x[0], all[i].x[1], all[i].x[2]);
        dBodySetQuaternion(s->body[i], all[i].q);
        dBodySetLinearVel(s->body[i], all[i].v[0], all[i].v[1], all[i].v[2]);
        dBodySetAngularVel(s->body[i], all[i].w[0], all[i].w[1], all[i].w[2]);
        dBodySetForce(s->body[i], 0, 0, 0);
        dBodySetTorque(s->body[i], 0, 0, 0);
    }
}

/* ----------------------------------------------------------------------------- BPMD files */

typedef struct file {
    mor_h5 h5;
    char group[64];
} file;

static void put(file* f, const char* name, mor_h5_type type, size_t rows, size_t cols, const void* data)
{
    char path[160];
    mor_error error = { 0 };
    size_t dims[2] = { rows, cols };
    snprintf(path, sizeof path, "%s/%s", f->group, name);
    if (mor_h5_write(&f->h5, path, type,
                     rows == 0   ? 0
                     : cols == 1 ? 1
                                 : 2,
                     rows == 0 ? (size_t[]){ 1, 1 } : dims, data, &error))
        die(error.text);
}

static int id_of(const simulation* s, dBodyID body)
{
    for (int i = 0; i < s->body_count; i++)
        if (s->body[i] == body) return i + 1;
    return -1;
}

static void write_frame(file* f, const simulation* s, int number)
{
    mor_error error = { 0 };
    size_t n = (size_t)s->body_count, m = (size_t)s->contact_count;
    double* t = calloc(9 * (n + m) + 9, sizeof *t);
    int* k = calloc(2 * (n + m) + 2, sizeof *k);
    if (!t || !k) die("out of memory");
    const char* groups[] = { "", "/bodies", "/contacts" };
    for (int g = 0; g < 3; g++) {
        char path[96];
        snprintf(path, sizeof path, "/mbs_frame%06d%s", number, groups[g]);
        if (mor_h5_group(&f->h5, path, &error)) die(error.text);
    }
    snprintf(f->group, sizeof f->group, "/mbs_frame%06d", number);
    put(f, "timestep", MOR_H5_DOUBLE, 0, 1, &s->h);
#define BODIES(...)                                                                                                    \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        dBodyID b = s->body[i];                                                                                        \
        dMass mass;                                                                                                    \
        dBodyGetMass(b, &mass);                                                                                        \
        __VA_ARGS__                                                                                                    \
    }
    BODIES(memcpy(t + 3 * i, dBodyGetPosition(b), 3 * sizeof *t);) put(f, "bodies/positions", MOR_H5_DOUBLE, n, 3, t);
    BODIES(memcpy(t + 4 * i, dBodyGetQuaternion(b), 4 * sizeof *t);)
    put(f, "bodies/quaternions", MOR_H5_DOUBLE, n, 4, t);
    BODIES(memcpy(t + 6 * i, dBodyGetLinearVel(b), 3 * sizeof *t);
           memcpy(t + 6 * i + 3, dBodyGetAngularVel(b), 3 * sizeof *t);)
    put(f, "bodies/velocities", MOR_H5_DOUBLE, 6 * n, 1, t);
    BODIES(const double w[6] = { mass.mass * s->gravity.x, mass.mass * s->gravity.y, mass.mass * s->gravity.z };
           memcpy(t + 6 * i, w, sizeof w);)
    put(f, "bodies/forces", MOR_H5_DOUBLE, 6 * n, 1, t);
    BODIES(t[i] = mass.mass;) put(f, "bodies/masses", MOR_H5_DOUBLE, n, 1, t);
    BODIES(for (size_t r = 0; r < 3; r++) for (size_t c = 0; c < 3; c++) t[9 * i + 3 * r + c] = mass.I[4 * r + c];)
    put(f, "bodies/world_inertia_tensors", MOR_H5_DOUBLE, 3 * n, 3, t);
    BODIES((void)b; k[i] = (int)i + 1;) put(f, "bodies/ids", MOR_H5_INT, n, 1, k);
    BODIES(k[i] = dBodyIsEnabled(b) ? 1 : -1;) put(f, "bodies/states", MOR_H5_INT, n, 1, k);
#undef BODIES
    for (size_t i = 0; i < m; i++) k[2 * i] = id_of(s, s->pair[i][0]), k[2 * i + 1] = id_of(s, s->pair[i][1]);
    put(f, "contacts/pairs", MOR_H5_INT, m, 2, k);
    for (size_t i = 0; i < m; i++) memcpy(t + 3 * i, s->contact[i].geom.pos, 3 * sizeof *t);
    put(f, "contacts/points", MOR_H5_DOUBLE, m, 3, t);
    for (size_t i = 0; i < m; i++) memcpy(t + 3 * i, s->contact[i].geom.normal, 3 * sizeof *t);
    put(f, "contacts/normals", MOR_H5_DOUBLE, m, 3, t);
    for (size_t i = 0; i < m; i++) t[i] = -s->contact[i].geom.depth;
    put(f, "contacts/gaps", MOR_H5_DOUBLE, m, 1, t);
    for (size_t i = 0; i < 3 * m; i++) t[i] = s->mu;
    put(f, "contacts/mu_s", MOR_H5_DOUBLE, m, 2, t);
    put(f, "contacts/mu_k", MOR_H5_DOUBLE, m, 3, t);
    free(t);
    free(k);
}

/* --------------------------------------------------------------------- ODE's problem, posed */

typedef struct posed {
    mor_world* w;
    mor_bpmd_frame frame;
    int* order;     /* the world's contact -> the frame's */
    mor_vec3* axes; /* the world's contact -> the turned t, o */
    mor_arena* arena;
    mor_problem* problem; /* per island */
    double** guess;       /* per island: starting impulses of a warm start, see remember() */
    double assemble_s;
} posed;

/* Turns the friction rows of a block: rows 1, 2 become c t + s o, -s t + c o. */
static void turn(const mor_system* s, const mor_block* b, int block, double c, double sn)
{
    double *J = (double*)s->jacobian, *Y = (double*)s->response, *W = (double*)s->diagonal + s->diagonal_start[block];
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        int dof = s->trees[s->entries[e].tree].dof;
        for (int which = 0; which < 2; which++) {
            double* row = (which ? Y : J) + s->entries[e].start;
            for (int m = 0; m < dof; m++) {
                double t = row[dof + m], o = row[2 * dof + m];
                row[dof + m] = c * t + sn * o;
                row[2 * dof + m] = -sn * t + c * o;
            }
        }
    }
    memset(W, 0, 9 * sizeof *W);
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        int dof = s->trees[s->entries[e].tree].dof;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int m = 0; m < dof; m++)
                    W[3 * i + j] += Y[s->entries[e].start + i * dof + m] * J[s->entries[e].start + j * dof + m];
    }
}

static posed pose(const mor_bpmd* file, int index, const simulation* s)
{
    posed p = { .arena = mor_arena_create(NULL) };
    mor_error error = { 0 };
    if (mor_bpmd_read(file, index, &p.frame, &error)) die(error.text);
    for (int i = 0; i < p.frame.contact_count; i++)
        p.frame.contacts[i].gap *= erp, p.frame.contacts[i].friction *= sqrt(2.0);
    p.frame.directions = 4;
    p.order = malloc(((size_t)p.frame.contact_count + 1) * sizeof *p.order);
    p.axes = malloc((2 * (size_t)p.frame.contact_count + 2) * sizeof *p.axes);
    p.w = mor_bpmd_world(&p.frame, NULL, p.order, &error);
    if (!p.w || !p.order || !p.axes) die(error.text);
    int rounds = 0;
    double begin = mor_cpu_clock();
    do mor_stage_assemble(p.w, p.w->own, NULL), rounds++;
    while (mor_cpu_clock() - begin < 0.02);
    p.assemble_s = (mor_cpu_clock() - begin) / rounds;
    p.problem = mor_arena_zero(p.arena, (size_t)p.w->last->island_count + 1, sizeof *p.problem);
    for (int i = 0; i < p.w->last->island_count; i++) {
        const mor_system* sys = &p.w->last->islands[i].system;
        for (int c = 0; c < sys->contact_count; c++) {
            int contact = sys->contacts[c].contact, block = sys->contacts[c].block;
            mor_vec3 t, o, n = p.frame.contacts[p.order[contact]].normal;
            mor_tangents(n, mor_v3(1, 0, 0), &t, &o);
            const dReal* from = s->contact[p.order[contact]].geom.normal;
            dVector3 one, two;
            dPlaneSpace(from, one, two);
            mor_vec3 corner = mor_scale(sqrt(0.5), mor_v3(one[0] + two[0], one[1] + two[1], one[2] + two[2]));
            double cosine = mor_dot(corner, t), sine = mor_dot(corner, o);
            p.axes[2 * contact] = mor_add(mor_scale(cosine, t), mor_scale(sine, o));
            p.axes[2 * contact + 1] = mor_add(mor_scale(-sine, t), mor_scale(cosine, o));
            turn(sys, &sys->blocks[block], block, cosine, sine);
        }
        double* bias = mor_arena_alloc(p.arena, (size_t)sys->row_count * sizeof *bias);
        if (!bias) die("out of memory");
        mor_bias_stewart_trinkle(sys, bias);
        p.problem[i] = mor_system_problem(sys, 4, bias, p.arena, NULL);
        if (!p.problem[i].size) die("out of memory");
    }
    return p;
}

/* Solves the step before as a simulation would have, to 1e-6 m/s, and gives its impulses to the contacts of the same
 * bodies nearest to it. */
static void remember(posed* p, const posed* before)
{
    mor_vec3* impulse = calloc((size_t)before->frame.contact_count + 1, sizeof *impulse); /* by the frame's contact */
    bool* taken = calloc((size_t)before->frame.contact_count + 1, sizeof *taken);
    p->guess = mor_arena_zero(p->arena, (size_t)p->w->last->island_count + 1, sizeof *p->guess);
    if (!impulse || !taken || !p->guess) die("out of memory");
    for (int i = 0; i < before->w->last->island_count; i++) {
        const mor_system* sys = &before->w->last->islands[i].system;
        double* z = mor_arena_zero(before->arena, (size_t)sys->row_count, sizeof *z);
        mor_solve_options o = { .tol = 1e-6, .time_limit = 2.0 };
        mor_solve(mor_library_solver(NULL, "auto"), NULL, &before->problem[i], &o, z, before->arena);
        for (int c = 0; c < sys->contact_count; c++) {
            int contact = sys->contacts[c].contact, row = sys->blocks[sys->contacts[c].block].row;
            mor_vec3 n = before->frame.contacts[before->order[contact]].normal;
            impulse[before->order[contact]] =
                mor_add(mor_scale(z[row], n), mor_add(mor_scale(z[row + 1], before->axes[2 * contact]),
                                                      mor_scale(z[row + 2], before->axes[2 * contact + 1])));
        }
    }
    for (int i = 0; i < p->w->last->island_count; i++) {
        const mor_system* sys = &p->w->last->islands[i].system;
        double* z = p->guess[i] = mor_arena_zero(p->arena, (size_t)sys->row_count, sizeof *z);
        if (!z) die("out of memory");
        for (int c = 0; c < sys->contact_count; c++) {
            int contact = sys->contacts[c].contact, row = sys->blocks[sys->contacts[c].block].row, best = -1;
            const mor_bpmd_contact* now = &p->frame.contacts[p->order[contact]];
            double nearest = 0.1;
            for (int k = 0; k < before->frame.contact_count; k++) {
                const mor_bpmd_contact* old = &before->frame.contacts[k];
                double d = mor_norm(mor_sub(old->point[0], now->point[0]));
                if (!taken[k] && old->body[0] == now->body[0] && old->body[1] == now->body[1] && d < nearest)
                    nearest = d, best = k;
            }
            if (best < 0) continue;
            taken[best] = true;
            z[row] = fmax(0.0, mor_dot(impulse[best], now->normal));
            z[row + 1] = mor_dot(impulse[best], p->axes[2 * contact]);
            z[row + 2] = mor_dot(impulse[best], p->axes[2 * contact + 1]);
        }
    }
    free(impulse);
    free(taken);
}

static void unpose(posed* p)
{
    free(p->order);
    free(p->axes);
    mor_world_destroy(p->w);
    mor_bpmd_frame_clear(&p->frame);
    mor_arena_destroy(p->arena);
}

/* The error of the impulses in the simulation's feedback. */
static double judge_ode(const posed* p, const simulation* s)
{
    double worst = 0.0;
    for (int i = 0; i < p->w->last->island_count; i++) {
        const mor_system* sys = &p->w->last->islands[i].system;
        size_t mark = mor_arena_mark(p->arena);
        double* z = mor_arena_zero(p->arena, (size_t)sys->row_count, sizeof *z);
        if (!z) die("out of memory");
        for (int c = 0; c < sys->contact_count; c++) {
            int contact = sys->contacts[c].contact, row = sys->blocks[sys->contacts[c].block].row;
            const dReal* f = s->feedback[p->order[contact]].f1; /* on body 1: ours is on body 2 */
            mor_vec3 on2 = mor_v3(-s->h * f[0], -s->h * f[1], -s->h * f[2]);
            z[row] = mor_dot(on2, p->frame.contacts[p->order[contact]].normal);
            z[row + 1] = mor_dot(on2, p->axes[2 * contact]);
            z[row + 2] = mor_dot(on2, p->axes[2 * contact + 1]);
        }
        worst = fmax(worst, mor_judge(&p->problem[i], z, p->arena).velocity);
        mor_arena_release(p->arena, mark);
    }
    return worst;
}

/* Points of error against time of all solvers on a frame: sums of times and largest errors over its islands. Sweeps are
 * run for a fixed number of iterations, as QuickStep is, without asking the judge; pivoting and Newton methods until
 * they are done, judge and conversions included. CPU times, means over at least 3 ms. */
enum { POINTS = 512 };
typedef struct curve {
    int count;
    double time[POINTS], error[POINTS];
    const char* solver[POINTS];
} curve;

static double never(const mor_context* context, const double* z, const double* w)
{
    (void)context, (void)z, (void)w;
    return INFINITY;
}

static bool add_point(const posed* p, const mor_solver* solver, int sweeps, double tol, bool warm, double give_up,
                      curve* out)
{
    double time = 0.0, worst = 0.0;
    char options[512];
    if (solver->options_size > sizeof options) die("options are too large");
    memset(options, 0, sizeof options);
    mor_fields_default(solver->fields, options);
    for (int i = 0; i < p->w->last->island_count; i++) {
        int rounds = 0;
        double begin = mor_cpu_clock(), used;
        do {
            size_t mark = mor_arena_mark(p->arena);
            double* z = mor_arena_zero(p->arena, (size_t)p->problem[i].size, sizeof *z);
            bool good = true;
            if (warm) memcpy(z, p->guess[i], (size_t)p->problem[i].size * sizeof *z);
            if (sweeps) {
                mor_context context = { .arena = p->arena,
                                        .tol = 0.0,
                                        .max_iter = sweeps,
                                        .warm = warm,
                                        .error = never,
                                        .problem = &p->problem[i] };
                solver->solve(&p->problem[i], options, &context, z);
            } else {
                mor_solve_options o = { .tol = tol, .time_limit = give_up, .warm = warm, .cpu_time = true };
                good = mor_solve(solver, NULL, &p->problem[i], &o, z, p->arena).status == MOR_SOLVED;
            }
            used = mor_cpu_clock() - begin;
            if (rounds++ == 0) {
                worst = fmax(worst, mor_judge(&p->problem[i], z, p->arena).velocity);
                begin = mor_cpu_clock() - used;
            }
            mor_arena_release(p->arena, mark);
            if (!good) return false;
        } while (used < 3e-3 / p->w->last->island_count);
        time += used / rounds;
    }
    if (out->count < POINTS)
        out->solver[out->count] = solver->name, out->time[out->count] = time + p->assemble_s,
        out->error[out->count++] = worst;
    return true;
}

static void follow(const posed* p, bool warm, double give_up, curve* out)
{
    static const char* const sweeping[] = { "psor", "pgs", NULL };
    static const char* const finishing[] = { "nsn-tree", "auto", "nsn", "lemke", "path", "minmap-newton", NULL };
    out->count = 0;
    for (int i = 0; sweeping[i]; i++)
        for (double n = 1.0; n < 700.0; n *= 1.25) /* 1 ... */
            if (add_point(p, mor_library_solver(NULL, sweeping[i]), (int)ceil(n), 0.0, warm, give_up, out) &&
                out->time[out->count - 1] > give_up)
                break;
    for (int i = 0; finishing[i]; i++)
        for (double tol = i < 2 ? 1e-1 : 1e-10; tol > 0.9e-10;
             tol *= tol > 1e-5 ? 0.1 : 1e-5) /* pivoting knows no tolerance */
            add_point(p, mor_library_solver(NULL, finishing[i]), 0, tol, warm, give_up, out);
}

/* ------------------------------------------------------------------------------- the table */

typedef struct scene_case {
    const char *label, *name, *set;
    int first, every, frames;
} scene_case;

static const scene_case cases[] = {
    { "cube of 125 spheres", "s1", NULL, 20, 60, 3 },
    { "pyramid of 55 cubes", "s2", NULL, 20, 60, 3 },
    { "pile of 216 cubes", "s3_6", NULL, 120, 60, 3 },
    { "cube sliding down a slope", "s4_slide", NULL, 20, 60, 3 },
    { "1000 kg on 1 kg", "s5", "bodies.top.mass=1e3", 20, 60, 3 },
    { "27 spheres", "spheres_27", NULL, 20, 60, 3 },
};

static const int iterations[] = { 20, 200, 2000, 0 };

/* One comparison: a frame, a solver of ODE, cold [0] and warm [1]. */
typedef struct result {
    int scene, ode, contacts;
    double error, time;         /* ODE's */
    double ratio[2], better[2]; /* our time to that error over its time; its error over ours at its time; NAN: never,
                                    none */
    bool holds[2];
} result;

/* The two columns of one start, and whether the claim holds. */
static void report(const curve* points, double ode, double error, int warm, result* r)
{
    double same = INFINITY, then = INFINITY; /* time to the same error; error at the same time */
    const char *same_name = "-", *then_name = "-";
    for (int n = 0; n < points->count; n++) {
        if (points->error[n] <= error && points->time[n] < same) same = points->time[n], same_name = points->solver[n];
        if (points->time[n] <= ode && points->error[n] < then) then = points->error[n], then_name = points->solver[n];
    }
    bool good = same <= 0.5 * ode || 100.0 * then <= error;
    if (isfinite(same)) printf("%.3g (%s), %.2f of it | ", 1e6 * same, same_name, same / ode);
    else printf("- | ");
    if (isfinite(then)) printf("%.1e (%s), %.3g× better | %s | ", then, then_name, error / then, good ? "yes" : "no");
    else printf("- | %s | ", good ? "yes" : "no");
    r->ratio[warm] = isfinite(same) ? same / ode : NAN;
    r->better[warm] = isfinite(then) ? error / then : NAN;
    r->holds[warm] = good;
}

static const char* ode_name(int k, char* text, size_t size)
{
    if (iterations[k]) snprintf(text, size, "QuickStep %d", iterations[k]);
    else snprintf(text, size, "dWorldStep");
    return text;
}

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Median of those that are numbers. */
static double median(const double* values, int n, int* finite)
{
    double kept[64];
    *finite = 0;
    for (int i = 0; i < n && *finite < 64; i++)
        if (!isnan(values[i])) kept[(*finite)++] = values[i];
    if (!*finite) return NAN;
    qsort(kept, (size_t)*finite, sizeof *kept, ascending);
    return *finite % 2 ? kept[*finite / 2] : 0.5 * (kept[*finite / 2 - 1] + kept[*finite / 2]);
}

/* Medians over the frames of a scene with one solver of ODE; false if it was not run there. */
static bool line(const result* all, int count, int scene, int ode, const char* label, double* error)
{
    double e[64], t[64], ratio[2][64], better[2][64];
    int n = 0, holds[2] = { 0, 0 }, contacts = 0, got;
    char name[32];
    for (int i = 0; i < count && n < 64; i++) {
        if (all[i].scene != scene || all[i].ode != ode) continue;
        contacts = contacts ? contacts : all[i].contacts;
        e[n] = all[i].error, t[n] = all[i].time;
        for (int w = 0; w < 2; w++)
            ratio[w][n] = all[i].ratio[w], better[w][n] = all[i].better[w], holds[w] += all[i].holds[w];
        n++;
    }
    if (!n) return false;
    *error = median(e, n, &got);
    if (!label) return true;
    printf("| %s | %d | %s | %.1e | %.3g |", label, contacts, ode_name(ode, name, sizeof name), *error,
           1e6 * median(t, n, &got));
    for (int w = 0; w < 2; w++) {
        double x = median(ratio[w], n, &got);
        if (got == n) printf(" %.2f |", x);
        else if (got) printf(" %.2f (%d of %d) |", x, got, n);
        else printf(" – |");
        x = median(better[w], n, &got);
        if (got) printf(" %.2g× |", x);
        else printf(" – |");
        printf(" %d of %d |", holds[w], n);
    }
    printf("\n");
    return true;
}

static const char* const head =
    "| scene | contacts | ODE's solver | its error [m/s] | its time [µs] | cold: our time to that error / its time | "
    "accuracy at its time | holds | warm: time ratio | accuracy at its time | holds |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|\n";

/* The page's two tables: ODE's default and its most accurate solver per scene; then all. */
static void summary(const result* all, int count)
{
    int scenes = (int)(sizeof cases / sizeof *cases), odes = (int)(sizeof iterations / sizeof *iterations);
    double error;
    printf("\nPer scene, ODE's default and its most accurate solver (medians over the frames):\n\n%s", head);
    for (int s = 0; s < scenes; s++) {
        int best = -1;
        double least = INFINITY;
        for (int k = 0; k < odes; k++)
            if (line(all, count, s, k, NULL, &error) && error < least) least = error, best = k;
        line(all, count, s, 0, cases[s].label, &error);
        if (best > 0) line(all, count, s, best, cases[s].label, &error);
    }
    printf("\nAll:\n\n%s", head);
    for (int s = 0; s < scenes; s++)
        for (int k = 0; k < odes; k++) line(all, count, s, k, cases[s].label, &error);
}

static void compare_frame(const scene_case* c, simulation* s, posed* p, int index, result* results, int* all)
{
    enum { ODES = sizeof iterations / sizeof *iterations };
    state* start = save(s);
    double ode[ODES] = { 0 }, error[ODES] = { 0 }, longest = 0.0;
    for (int k = 0; k < ODES; k++) {
        if (iterations[k] == 0 && s->contact_count > MOST_STEP_CONTACTS) continue;
        int rounds = 0;
        do {
            restore(s, start);
            dRandSetSeed(0);
            ode[k] += step(s, iterations[k]);
            if (rounds == 0) error[k] = judge_ode(p, s);
            rounds++;
        } while (ode[k] < 0.01 && rounds < 1000);
        restore(s, start);
        ode[k] /= rounds;
        longest = fmax(longest, ode[k]);
    }
    static curve points[2];
    for (int warm = 0; warm < 2; warm++) follow(p, warm, fmin(1.5 * longest, 0.1), &points[warm]);
    for (int k = 0; k < ODES; k++) {
        if (ode[k] == 0.0) continue;
        char name[32];
        result* r = &results[(*all)++];
        *r = (result){
            .scene = (int)(c - cases), .ode = k, .contacts = s->contact_count, .error = error[k], .time = ode[k]
        };
        printf("| %s | %d | %d | %s | %.1e | %.3g | ", c->label, index + 1, s->contact_count,
               ode_name(k, name, sizeof name), error[k], 1e6 * ode[k]);
        for (int warm = 0; warm < 2; warm++) report(&points[warm], ode[k], error[k], warm, r);
        printf("\n");
        fflush(stdout);
    }
    free(start);
}

/* Appends the step with its contacts as they are to the file and poses it. */
static posed store(const char* path, const simulation* s, int number)
{
    mor_error error = { 0 };
    file f;
    if (number == 1 ? mor_h5_begin(&f.h5, path, &error) : mor_h5_extend(&f.h5, path, &error)) die(error.text);
    write_frame(&f, s, number);
    if (mor_h5_finish(&f.h5, MOR_OK, &error)) die(error.text);
    mor_bpmd* file = mor_bpmd_open(path, &error);
    if (!file || mor_bpmd_get_dialect(file) != MOR_BPMD_GAZEBO) die(error.text);
    posed p = pose(file, number - 1, s);
    mor_bpmd_free(file);
    return p;
}

/* ODE's impulses beside the problem, rows as in docs/bpmd.md: normal from body 1 to body 2, on body 2. */
static void write_answer(file* f, const simulation* s)
{
    size_t m = (size_t)s->contact_count;
    double* p = calloc(3 * m + 1, sizeof *p);
    mor_error error = { 0 };
    if (!p) die("out of memory");
    for (size_t i = 0; i < m; i++) {
        const dReal *n1 = s->contact[i].geom.normal, *on1 = s->feedback[i].f1;
        mor_vec3 n = mor_v3(-n1[0], -n1[1], -n1[2]), t, o, on2 = mor_v3(-s->h * on1[0], -s->h * on1[1], -s->h * on1[2]);
        mor_tangents(n, mor_v3(1, 0, 0), &t, &o);
        p[3 * i] = mor_dot(on2, n), p[3 * i + 1] = mor_dot(on2, t), p[3 * i + 2] = mor_dot(on2, o);
    }
    char path[96];
    for (int g = 0; g < 2; g++) {
        snprintf(path, sizeof path, "%s/solutions%s", f->group, g ? "/ode-quickstep" : "");
        if (mor_h5_group(&f->h5, path, &error)) die(error.text);
    }
    put(f, "solutions/ode-quickstep/impulses", MOR_H5_DOUBLE, m, 3, p);
    free(p);
}

/* The files alone. */
static void only_frames(const char* folder)
{
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char* sets[] = { cases[c].set, NULL };
        simulation* s = make(cases[c].name, cases[c].set ? sets : NULL);
        mor_error error = { 0 };
        file f;
        char path[512];
        snprintf(path, sizeof path, "%s/gazebo-%s.h5", folder, cases[c].name);
        remove(path);
        if (mor_h5_begin(&f.h5, path, &error)) die(error.text);
        dRandSetSeed(0);
        for (int frame = 0, steps = 0; frame < cases[c].frames; frame++) {
            for (; steps < cases[c].first + frame * cases[c].every; steps++) {
                collide(s);
                step(s, 20);
            }
            collide(s);
            write_frame(&f, s, frame + 1);
            step(s, 20);
            steps++;
            write_answer(&f, s);
        }
        if (mor_h5_finish(&f.h5, MOR_OK, &error)) die(error.text);
        printf("gazebo   %s\n", path);
        destroy(s);
    }
}

int main(int argc, char** argv)
{
    const char* folder = "ode-frames";
    bool frames = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) folder = argv[++i];
        else if (strcmp(argv[i], "--frames") == 0) frames = true;
    }
    mkdir(folder, 0777);
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    dSetMessageHandler(quiet);
    if (frames) {
        only_frames(folder);
        return 0;
    }
    printf(
        "| scene | frame | contacts | ODE's solver | its error [m/s] | its time [µs] | cold: time to that error [µs] | "
        "error in that time [m/s] | holds | warm: time to that error [µs] | error in that time [m/s] | holds |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    static result results[sizeof cases / sizeof *cases * 16 * (sizeof iterations / sizeof *iterations)];
    int won[2] = { 0, 0 }, all = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char* sets[] = { cases[c].set, NULL };
        simulation* s = make(cases[c].name, cases[c].set ? sets : NULL);
        char path[512];
        snprintf(path, sizeof path, "%s/ode-%s.h5", folder, cases[c].name);
        remove(path);
        /* two steps that follow each other, the second is compared */
        for (int frame = 0, steps = 0; frame < cases[c].frames; frame++) {
            for (; steps < cases[c].first + frame * cases[c].every; steps++) {
                collide(s);
                step(s, 200);
            }
            collide(s);
            posed before = store(path, s, 2 * frame + 1);
            step(s, 200);
            steps++;
            collide(s);
            posed now = store(path, s, 2 * frame + 2);
            remember(&now, &before);
            compare_frame(&cases[c], s, &now, frame, results, &all);
            unpose(&before);
            unpose(&now);
        }
        destroy(s);
    }
    for (int i = 0; i < all; i++)
        for (int warm = 0; warm < 2; warm++) won[warm] += results[i].holds[warm];
    summary(results, all);
    printf("\nOf %d lines the claim holds for %d cold, %d warm.\n", all, won[0], won[1]);
    return 0;
}
