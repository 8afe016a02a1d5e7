/* Writing BPMD files: the layout, and a recorder that never leaves a broken file.
 *
 * HDF5 cannot add groups to a file in a way that survives being killed at any instant (its crash-safe SWMR mode
 * allows no new objects). So a batch of frames is appended to a copy, FILE.part, which is closed and then renamed to
 * FILE: every reader sees a complete file at every instant. A flush costs a copy of the file, so the next one comes
 * after 20 times the duration of the last (at least half a second): at most 5 % of the run goes into copying, and a
 * killed run loses only what came after the last flush. */
#include "base/elementary.h"
#include "io/bpmd.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/h5.h"
#include "io/scene_def.h"
#include "model/world.h"

/* --------------------------------------------------------------------------------- layout */

static const char* const conventions[][2] = {
    { "units", "SI: m, kg, s, N, N m, rad" },
    { "frames", "world axes, except inertia_tensors (body axes)" },
    { "quaternions", "real part first; body axes to world axes" },
    { "velocities", "per body: linear of the centre of mass, then angular" },
    { "forces", "per body: force, then torque; gravity included, gyroscopic terms excluded" },
    { "positions", "of the centre of mass" },
    { "normals", "from body 1 to body 2" },
    { "points", "on body 1; points_2 on body 2" },
    { "gaps", "positive apart, negative in penetration" },
    { "pairs", "body ids from 1; -1 is the world" },
    { "impulses", "contact rows (normal, tangent 1, tangent 2) as in contacts/tangents, on body 2 [N s]" },
    { "constraints", "rows: J v + bias = 0 on (linear, angular) of both bodies of a pair; bounds are impulses [N s]; "
                     "kinds 0 equation, 1 bounded, 2 joint of a tree (maximal coordinates only)" },
    { "trees", "generalised velocities: M, nu, nu_free (without contacts and constraints, springs of joints included); "
               "sparse rows jacobian/{p,i,x} are compressed by row" },
    { "masses", "infinite for bodies that do not move under forces (kinds 1 fixed, 2 kinematic)" },
};

static uint64_t hash_text(const char* text)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

mor_code mor_bpmd_create(const char* path, const mor_bpmd_meta* meta, mor_error* error)
{
    char part[1100], hash[24];
    if (access(path, F_OK) == 0)
        return mor_fail(error, MOR_BAD_INPUT, "%s: file exists; frames are never written over others", path);
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return mor_fail(error, MOR_BAD_INPUT, "%.200s...: name too long", path);
    remove(part);
    mor_h5 h5;
    mor_code code = mor_h5_create(&h5, part, error);
    if (code) return code;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)hash_text(meta->scene_text));
    const char* texts[][2] = { { "format", "BPMD" },
                               { "producer", "moreau " MOR_VERSION_STRING },
                               { "scene_name", meta->scene_name },
                               { "scene_hash", hash },
                               { "formulation", meta->formulation },
                               { "solver", meta->solver },
                               { "collision", meta->collision },
                               { "formulation_options", meta->formulation_options },
                               { "solver_options", meta->solver_options },
                               { "scene_file", meta->scene_file ? meta->scene_file : "" },
                               { "scene_overrides", meta->scene_overrides ? meta->scene_overrides : "" } };
    code = mor_h5_group(&h5, "/meta", error);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !code; i++)
        code = mor_h5_set_text(&h5, "/meta", texts[i][0], texts[i][1], error);
    for (size_t i = 0; i < sizeof conventions / sizeof *conventions && !code; i++)
        code = mor_h5_set_text(&h5, "/meta", conventions[i][0], conventions[i][1], error);
    if (!code) code = mor_h5_set_int(&h5, "/meta", "version", 1, error);
    if (!code) code = mor_h5_set_int(&h5, "/meta", "dimension", meta->dimension, error);
    const double g[3] = { meta->gravity.x, meta->gravity.y, meta->gravity.z };
    if (!code) code = mor_h5_set_doubles(&h5, "/meta", "gravity", g, 3, error);
    if (!code) code = mor_h5_write_texts(&h5, "/meta/scene", meta->scene_text, strlen(meta->scene_text) + 1, 1, error);
    mor_code closed = mor_h5_close(&h5, code ? NULL : error);
    if (!code) code = closed;
    if (!code && rename(part, path) != 0)
        code = mor_fail(error, MOR_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
    if (code) remove(part);
    return code;
}

/* Paths: a frame's group and a name of up to 160 in it. */
enum { PATH_ROOM = 256 };

/* One frame under construction: `table` is scratch for one dataset. */
typedef struct writer {
    mor_h5* h5;
    const char* group;
    double* table;
    int* integers;
    mor_error* error;
    mor_code code;
} writer;

static void put(writer* w, const char* name, mor_h5_type type, size_t rows, size_t cols)
{
    if (w->code) return;
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", w->group, name);
    size_t dims[2] = { rows, cols };
    int rank = cols == 1 ? 1 : 2;
    w->code = mor_h5_write(w->h5, path, type, rank, dims, type == MOR_H5_INT ? (void*)w->integers : (void*)w->table,
                           w->error);
}

static void group(writer* w, const char* name)
{
    if (w->code) return;
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s%s%s", w->group, *name ? "/" : "", name);
    w->code = mor_h5_group(w->h5, path, w->error);
}

static void scalar(writer* w, const char* name, double value)
{
    if (w->code) return;
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", w->group, name);
    size_t one = 1;
    w->code = mor_h5_write(w->h5, path, MOR_H5_DOUBLE, 0, &one, &value, w->error);
}

static void three(double* to, mor_vec3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

static void put_bodies(writer* w, const mor_bpmd_frame* f)
{
    size_t n = (size_t)f->body_count;
    double* t = w->table;
    group(w, "bodies");
#define EACH(...)                                                                                                      \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        const mor_bpmd_body* b = &f->bodies[i];                                                                        \
        __VA_ARGS__                                                                                                    \
    }
    EACH(w->integers[i] = b->id;) put(w, "bodies/ids", MOR_H5_INT, n, 1);
    EACH(w->integers[i] = b->kind == MOR_DYNAMIC ? 1 : -1;) put(w, "bodies/states", MOR_H5_INT, n, 1);
    EACH(w->integers[i] = (int)b->kind;) put(w, "bodies/kinds", MOR_H5_INT, n, 1);
    EACH(w->integers[i] = b->dof;) put(w, "bodies/dof", MOR_H5_INT, n, 1);
    EACH(t[i] = b->mass;) put(w, "bodies/masses", MOR_H5_DOUBLE, n, 1);
    EACH(three(t + 3 * i, b->x);) put(w, "bodies/positions", MOR_H5_DOUBLE, n, 3);
    EACH(t[4 * i] = b->q.w; t[4 * i + 1] = b->q.x; t[4 * i + 2] = b->q.y; t[4 * i + 3] = b->q.z;)
    put(w, "bodies/quaternions", MOR_H5_DOUBLE, n, 4);
    EACH(t[i] = b->angle;) if (f->dimension == 2) put(w, "bodies/angles", MOR_H5_DOUBLE, n, 1);
    EACH(three(t + 6 * i, b->v); three(t + 6 * i + 3, b->w);) put(w, "bodies/velocities", MOR_H5_DOUBLE, 6 * n, 1);
    EACH(three(t + 6 * i, b->force); three(t + 6 * i + 3, b->torque);) put(w, "bodies/forces", MOR_H5_DOUBLE, 6 * n, 1);
    EACH(three(t + 3 * i, b->L);) put(w, "bodies/angular_momenta", MOR_H5_DOUBLE, n, 3);
    EACH(for (int r = 0; r < 3; r++) for (int c = 0; c < 3; c++) t[9 * i + 3 * r + c] = b->inertia.m[r][c];)
    put(w, "bodies/inertia_tensors", MOR_H5_DOUBLE, 3 * n, 3);
    EACH(mor_mat3 R = mor_quat_matrix(b->q); mor_mat3 I = mor_mat3_rotate(&R, &b->inertia);
         for (int r = 0; r < 3; r++) for (int c = 0; c < 3; c++) t[9 * i + 3 * r + c] = b->kind == MOR_DYNAMIC
                                                                                            ? I.m[r][c]
                                                                                        : r == c ? INFINITY
                                                                                                 : 0.0;)
    put(w, "bodies/world_inertia_tensors", MOR_H5_DOUBLE, 3 * n, 3);
#undef EACH
}

static void put_contacts(writer* w, const mor_bpmd_frame* f)
{
    size_t n = (size_t)f->contact_count;
    double* t = w->table;
    group(w, "contacts");
#define EACH(...)                                                                                                      \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        const mor_bpmd_contact* c = &f->contacts[i];                                                                   \
        __VA_ARGS__                                                                                                    \
    }
    EACH(for (int s = 0; s < 2; s++) w->integers[2 * i + (size_t)s] = c->body[s] < 0 ? -1 : f->bodies[c->body[s]].id;)
    put(w, "contacts/pairs", MOR_H5_INT, n, 2);
    EACH(three(t + 3 * i, c->point[0]);) put(w, "contacts/points", MOR_H5_DOUBLE, n, 3);
    EACH(three(t + 3 * i, c->point[1]);) put(w, "contacts/points_2", MOR_H5_DOUBLE, n, 3);
    EACH(three(t + 3 * i, c->normal);) put(w, "contacts/normals", MOR_H5_DOUBLE, n, 3);
    EACH(mor_vec3 a; mor_vec3 b; if (f->dimension == 2) a = mor_v3(-c->normal.y, c->normal.x, 0), b = mor_v3(0, 0, 1);
         else mor_tangents(c->normal, mor_v3(1, 0, 0), &a, &b); three(t + 6 * i, a); three(t + 6 * i + 3, b);)
    if (f->friction_align == 0) put(w, "contacts/tangents", MOR_H5_DOUBLE, n, 6);
    EACH(t[i] = c->gap;) put(w, "contacts/gaps", MOR_H5_DOUBLE, n, 1);
    EACH(t[2 * i] = t[2 * i + 1] = c->friction;) put(w, "contacts/mu_s", MOR_H5_DOUBLE, n, 2);
    EACH(t[3 * i] = t[3 * i + 1] = t[3 * i + 2] = c->friction;) put(w, "contacts/mu_k", MOR_H5_DOUBLE, n, 3);
    EACH(t[i] = c->restitution;) put(w, "contacts/restitution", MOR_H5_DOUBLE, n, 1);
    EACH(three(t + 3 * i, c->surface_velocity);) put(w, "contacts/surface_velocities", MOR_H5_DOUBLE, n, 3);
    EACH(w->integers[i] = c->group;) put(w, "contacts/group", MOR_H5_INT, n, 1);
    EACH(w->integers[i] = c->plane;) put(w, "contacts/plane", MOR_H5_INT, n, 1);
    EACH(w->integers[2 * i] = c->shape[0]; w->integers[2 * i + 1] = c->shape[1];)
    put(w, "contacts/shapes", MOR_H5_INT, n, 2);
    EACH(w->integers[2 * i] = (int)(uint32_t)(c->feature >> 32); w->integers[2 * i + 1] = (int)(uint32_t)c->feature;)
    put(w, "contacts/features", MOR_H5_INT, n, 2);
    EACH(w->integers[i] = c->held;) put(w, "contacts/held", MOR_H5_INT, n, 1);
    EACH(memcpy(t + 3 * i, c->guess, sizeof c->guess);) put(w, "contacts/guess", MOR_H5_DOUBLE, n, 3);
    if (!f->answered) return;
    char name[96], path[160], full[PATH_ROOM];
    group(w, "solutions");
    snprintf(name, sizeof name, "solutions/%s-%s", f->formulation, f->solver);
    group(w, name);
    snprintf(path, sizeof path, "%s/impulses", name);
    EACH(memcpy(t + 3 * i, c->impulse, sizeof c->impulse);) put(w, path, MOR_H5_DOUBLE, n, 3);
#undef EACH
    for (int i = 0; i < f->body_count; i++) memcpy(t + 6 * i, f->bodies[i].velocity, sizeof f->bodies[i].velocity);
    snprintf(path, sizeof path, "%s/velocities", name);
    put(w, path, MOR_H5_DOUBLE, 6 * (size_t)f->body_count, 1);
    snprintf(path, sizeof path, "%s/iterations", name);
    scalar(w, path, f->iterations);
    snprintf(path, sizeof path, "%s/velocity_error", name);
    scalar(w, path, f->velocity_error);
    snprintf(full, sizeof full, "%s/%s", w->group, name);
    if (!w->code) w->code = mor_h5_set_text(w->h5, full, "status", mor_status_name((mor_status)f->status), w->error);
    if (!w->code) w->code = mor_h5_set_text(w->h5, full, "formulation", f->formulation, w->error);
    if (!w->code) w->code = mor_h5_set_text(w->h5, full, "solver", f->solver, w->error);
}

/* Compressed rows under <name>/jacobian. */
static void put_sparse(writer* w, const char* name, size_t rows, const int* p, const int* columns, const double* values)
{
    char path[96];
    snprintf(path, sizeof path, "%s/jacobian", name);
    group(w, path);
    int* integers = w->integers;
    double* table = w->table;
    w->integers = (int*)p;
    snprintf(path, sizeof path, "%s/jacobian/p", name);
    put(w, path, MOR_H5_INT, rows + 1, 1);
    w->integers = (int*)columns;
    snprintf(path, sizeof path, "%s/jacobian/i", name);
    put(w, path, MOR_H5_INT, (size_t)p[rows], 1);
    w->table = (double*)values;
    snprintf(path, sizeof path, "%s/jacobian/x", name);
    put(w, path, MOR_H5_DOUBLE, (size_t)p[rows], 1);
    w->integers = integers;
    w->table = table;
}

static void put_array(writer* w, const char* name, const double* data, size_t count)
{
    double* table = w->table;
    w->table = (double*)data;
    put(w, name, MOR_H5_DOUBLE, count, 1);
    w->table = table;
}

static void put_trees(writer* w, const mor_bpmd_frame* f)
{
    size_t n = (size_t)f->tree_count, mass = 0, jacobian = 0;
    group(w, "trees");
    for (size_t t = 0; t < n; t++) {
        size_t dof = (size_t)f->trees[t].dof;
        w->integers[t] = (int)dof;
        if (f->trees[t].articulated) mass += dof * dof;
    }
    put(w, "trees/dof", MOR_H5_INT, n, 1);
    for (int t = 0, at = 0; t < f->tree_count; at += f->trees[t++].dof) w->integers[t] = at;
    put(w, "trees/offset", MOR_H5_INT, n, 1);
    for (size_t t = 0; t < n; t++) w->integers[t] = f->trees[t].articulated;
    put(w, "trees/articulated", MOR_H5_INT, n, 1);
    for (size_t t = 0; t < n; t++) w->integers[t] = f->trees[t].q_count;
    put(w, "trees/q_count", MOR_H5_INT, n, 1);
    put_array(w, "trees/mass", f->mass, mass);
    put_array(w, "trees/nu", f->nu, (size_t)f->dof);
    put_array(w, "trees/nu_free", f->nu_free, (size_t)f->dof);
    put_array(w, "trees/nu_new", f->nu_new, (size_t)f->dof);
    put_array(w, "trees/q", f->q, (size_t)f->q_count);
    for (int i = 0; i < f->body_count; i++) {
        w->integers[i] = f->bodies[i].tree;
        if (f->bodies[i].link >= 0) jacobian += 6 * (size_t)f->trees[f->bodies[i].tree].dof;
    }
    put(w, "bodies/tree", MOR_H5_INT, (size_t)f->body_count, 1);
    put_array(w, "bodies/jacobian", f->link_jacobian, jacobian);
    put_sparse(w, "contacts", 3 * (size_t)f->contact_count, f->contact_p, f->contact_columns, f->contact_values);
}

static void put_constraints(writer* w, const mor_bpmd_frame* f)
{
    size_t n = (size_t)f->constraint_count, m = (size_t)f->row_count;
    double* t = w->table;
    group(w, "constraints");
    for (size_t i = 0; i < n; i++) w->integers[i] = f->constraints[i].rows;
    put(w, "constraints/rows", MOR_H5_INT, n, 1);
    for (size_t i = 0; i < n; i++) w->integers[i] = (int)f->constraints[i].kind;
    put(w, "constraints/kinds", MOR_H5_INT, n, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < 2; s++)
            w->integers[2 * i + s] = f->constraints[i].body[s] < 0 ? -1 : f->bodies[f->constraints[i].body[s]].id;
    put(w, "constraints/pairs", MOR_H5_INT, n, 2);
    for (size_t i = 0; i < m; i++) memcpy(t + 12 * i, f->rows[i].body, sizeof f->rows[i].body);
    put(w, "constraints/Jacobian", MOR_H5_DOUBLE, m, 12);
#define EACH(name, what)                                                                                               \
    for (size_t i = 0; i < m; i++) t[i] = (what);                                                                      \
    put(w, "constraints/" name, MOR_H5_DOUBLE, m, 1)
    EACH("violations", f->rows[i].violation);
    EACH("time_derivative", 0.0);
    EACH("bias", f->rows[i].bias);
    EACH("guess", f->rows[i].guess);
    EACH("impulses", f->rows[i].impulse);
#undef EACH
    for (size_t i = 0; i < m; i++) t[2 * i] = f->rows[i].lower, t[2 * i + 1] = f->rows[i].upper;
    put(w, "constraints/bounds", MOR_H5_DOUBLE, m, 2);
    int at = 0;
    for (size_t i = 0; i < m; i++) w->integers[i] = at, at += f->rows[i].count;
    w->integers[m] = at;
    if (f->tree_count) put_sparse(w, "constraints", m, w->integers, f->columns, f->values);
}

static mor_code put_frame(mor_h5* h5, const mor_bpmd_frame* f, int number, mor_error* error)
{
    char name[64];
    snprintf(name, sizeof name, "/mbs_frame%06d", number);
    size_t most = 9 * ((size_t)f->body_count + 1), second = 6 * ((size_t)f->contact_count + 1);
    size_t third = 12 * ((size_t)f->row_count + 1), fourth = 2 * ((size_t)f->constraint_count + 1),
           fifth = (size_t)f->tree_count + 1;
    if (second > most) most = second;
    if (third > most) most = third;
    if (fourth > most) most = fourth;
    if (fifth > most) most = fifth;
    writer w = { .h5 = h5,
                 .group = name,
                 .error = error,
                 .table = malloc(most * sizeof(double)),
                 .integers = malloc(most * sizeof(int)) };
    if (!w.table || !w.integers) w.code = mor_fail(error, MOR_SYSTEM, "out of memory");
    group(&w, "");
    scalar(&w, "timestep", f->h);
    scalar(&w, "time", f->time);
    scalar(&w, "epsilon", f->epsilon);
    scalar(&w, "v_rest", f->v_rest);
    if (!w.code) w.code = mor_h5_set_int(h5, name, "step_number", f->step, error);
    if (!w.code) w.code = mor_h5_set_int(h5, name, "friction_directions", f->directions, error);
    if (!w.code) w.code = mor_h5_set_int(h5, name, "friction_align", f->friction_align, error);
    if (!w.code) put_bodies(&w, f);
    if (!w.code) put_contacts(&w, f);
    if (!w.code && f->tree_count) put_trees(&w, f);
    if (!w.code && f->constraint_count) put_constraints(&w, f);
    free(w.table);
    free(w.integers);
    return w.code;
}

static mor_code copy_file(const char* from, const char* to, mor_error* error)
{
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    enum { BLOCK = 1 << 20 };
    char* block = malloc(BLOCK);
    bool good = in && out && block;
    size_t n;
    while (good && (n = fread(block, 1, BLOCK, in)) > 0) good = fwrite(block, 1, n, out) == n;
    good = good && !ferror(in);
    int reason = errno;
    if (in) fclose(in);
    if (out && fclose(out) != 0) good = false, reason = errno;
    free(block);
    return good ? MOR_OK : mor_fail(error, MOR_SYSTEM, "%s: cannot be written: %s", to, strerror(reason));
}

mor_code mor_bpmd_append(const char* path, const mor_bpmd_frame* frames, int count, int first, mor_error* error)
{
    char part[1100];
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return mor_fail(error, MOR_BAD_INPUT, "%.200s...: name too long", path);
    mor_h5 h5;
    mor_code code = copy_file(path, part, error);
    if (!code) code = mor_h5_reopen(&h5, part, error);
    if (code) {
        remove(part);
        return code;
    }
    for (int i = 0; i < count && !code; i++) code = put_frame(&h5, &frames[i], first + i, error);
    if (code) mor_h5_abandon(&h5);
    mor_code closed = mor_h5_close(&h5, code ? NULL : error);
    if (!code) code = closed;
    if (!code && rename(part, path) != 0)
        code = mor_fail(error, MOR_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
    if (code) remove(part);
    return code;
}

/* ------------------------------------------------------------------------------- recorder */

enum { MOST_BYTES = 64 << 20 }; /* of waiting frames */

struct mor_bpmd_recorder {
    char path[1024];
    mor_world* world;
    mor_user_stage user; /* the user stage that was there */
    void* user_data;
    int every, from, to;
    mor_bpmd_before before;
    mor_formulation_stage solve; /* the solve stage that was there */
    void* solve_data;
    mor_bpmd_frame* waiting;
    int waiting_count, waiting_capacity, written;
    size_t waiting_bytes;
    double due; /* when the next flush may come */
    mor_error error;
};

static void flush(mor_bpmd_recorder* r)
{
    if (!r->waiting_count || r->error.code) return;
    double start = mor_clock();
    if (!mor_bpmd_append(r->path, r->waiting, r->waiting_count, r->written + 1, &r->error))
        r->written += r->waiting_count;
    for (int i = 0; i < r->waiting_count; i++) mor_bpmd_frame_clear(&r->waiting[i]);
    r->waiting_count = 0;
    r->waiting_bytes = 0;
    double end = mor_clock();
    r->due = end + mor_max(0.5, 20.0 * (end - start));
}

static void before_step(void* user, mor_world* world)
{
    mor_bpmd_recorder* r = user;
    if (r->user) r->user(r->user_data, world);
    if (mor_bpmd_capture_bodies(world, &r->before) && !r->error.code)
        mor_fail(&r->error, MOR_SYSTEM, "%s: out of memory", r->path);
}

/* Sees what every island is solved from, also when stabilisation solves again. Islands may come from several threads,
 * each in its own slot. */
static mor_report at_solve(void* user, const mor_system* system, mor_solve_stage* stage, mor_answer* answer)
{
    mor_bpmd_recorder* r = user;
    const mor_world* w = r->world;
    mor_bpmd_capture_start(w, system, answer, &r->before);
    return r->solve ? r->solve(r->solve_data, system, stage, answer)
                    : w->formulation->step(system, w->formulation_options, stage, answer);
}

static void after_step(void* user, const mor_world* world, const mor_step_report* report)
{
    mor_bpmd_recorder* r = user;
    if (!r->world || r->error.code || report->step < r->from || report->step > r->to ||
        (report->step - 1) % r->every != 0)
        return;
    if (r->waiting_count == r->waiting_capacity) {
        int capacity = r->waiting_capacity ? 2 * r->waiting_capacity : 16;
        mor_bpmd_frame* grown = realloc(r->waiting, (size_t)capacity * sizeof *grown);
        if (!grown) {
            mor_fail(&r->error, MOR_SYSTEM, "%s: out of memory", r->path);
            return;
        }
        r->waiting = grown;
        r->waiting_capacity = capacity;
    }
    mor_bpmd_frame* f = &r->waiting[r->waiting_count];
    mor_code code = mor_bpmd_capture(world, &r->before, f);
    if (code) {
        mor_fail(&r->error, code, code == MOR_SYSTEM ? "%s: out of memory" : "%s: bodies came or went inside step",
                 r->path);
        return;
    }
    r->waiting_count++;
    r->waiting_bytes += (size_t)f->body_count * sizeof *f->bodies + (size_t)f->contact_count * sizeof *f->contacts +
                        (size_t)f->row_count * sizeof *f->rows;
    if (mor_clock() >= r->due || r->waiting_bytes > MOST_BYTES) flush(r);
}

static void print_options(const mor_field* fields, const void* options, char* text, size_t size)
{
    text[0] = '\0';
    for (const mor_field* f = fields; f && f->name; f++) {
        char value[64];
        mor_field_print(f, options, value, sizeof value);
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", f->name, value);
    }
}

mor_bpmd_recorder* mor_bpmd_record(const char* path, mor_world* world, const mor_scene* scene, int every,
                                   mor_error* error)
{
    char formulation[512], solver[512], common[256];
    print_options(world->formulation->fields, world->formulation_options, formulation, sizeof formulation);
    print_options(mor_world_solver_fields(), &world->solver_options, common, sizeof common);
    print_options(world->solver->fields, world->solver_own_options, solver, sizeof solver - sizeof common - 2);
    if (solver[0]) strcat(solver, " ");
    strcat(solver, common);
    mor_bpmd_meta meta = { scene ? mor_scene_name(scene) : "",
                           scene ? mor_scene_text(scene) : "",
                           world->formulation->name,
                           world->solver->name,
                           world->collision->name,
                           formulation,
                           solver,
                           world->gravity,
                           world->dimension,
                           scene ? scene->file : NULL,
                           scene ? scene->overrides : NULL };
    mor_bpmd_recorder* r = calloc(1, sizeof *r);
    if (!r || snprintf(r->path, sizeof r->path, "%s", path) >= (int)sizeof r->path) {
        mor_fail(error, MOR_SYSTEM, "%.200s: out of memory or name too long", path);
        free(r);
        return NULL;
    }
    r->world = world;
    r->every = every < 1 ? 1 : every;
    r->to = 2147483647;
    r->user = world->on_user;
    r->user_data = world->on_user_data;
    if (mor_bpmd_create(path, &meta, error) || mor_world_add_observer(world, after_step, r, error)) {
        free(r);
        return NULL;
    }
    mor_world_on_user(world, before_step, r);
    r->solve = world->on_solve;
    r->solve_data = world->on_solve_data;
    mor_world_on_solve(world, at_solve, r);
    return r;
}

void mor_bpmd_record_range(mor_bpmd_recorder* r, int from, int to)
{
    r->from = from;
    r->to = to;
    r->due = INFINITY;
}

mor_code mor_bpmd_close(mor_bpmd_recorder* r, mor_error* error)
{
    if (!r) return MOR_OK;
    flush(r);
    mor_code code = r->error.code;
    if (code && error) *error = r->error;
    mor_world* w = r->world;
    mor_world_on_user(w, r->user, r->user_data);
    mor_world_on_solve(w, r->solve, r->solve_data);
    for (int i = 0; i < w->observer_count; i++)
        if (w->observers[i].user == r) {
            memmove(&w->observers[i], &w->observers[i + 1],
                    (size_t)(w->observer_count - i - 1) * sizeof w->observers[0]);
            w->observer_count--;
            break;
        }
    for (int i = 0; i < r->waiting_count; i++) mor_bpmd_frame_clear(&r->waiting[i]);
    free(r->waiting);
    mor_bpmd_before_clear(&r->before);
    free(r);
    return code;
}
