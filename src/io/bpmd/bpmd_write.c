/* Writing BPMD files: the layout, and a recorder that never leaves a broken file.
 *
 * HDF5 cannot add groups to a file in a way that survives being killed at any instant (its crash-safe SWMR mode
 * allows no new objects). So a batch of frames is appended to a copy in memory, which takes the place of FILE in one
 * step: every reader sees a complete file at every instant. A flush costs a copy of the file, so the next one comes
 * after 20 times the duration of the last (at least half a second): at most 5 % of the run goes into copying, and a
 * killed run loses only what came after the last flush. */
#include "io/bpmd/bpmd.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/bpmd/bpmd_writer.h"
#include "io/hdf5/h5.h"
#include "io/scene/scene_def.h"
#include "model/world.h"

/* --------------------------------------------------------------------------------- layout */

static const char* const conventions[][2] = {
    { "units", "SI: m, kg, s, N, N m, rad" },
    { "frames", "world axes, except inertia_tensors (body axes)" },
    { "quaternions", "real part first; body axes to world axes" },
    { "velocities", "per body: linear of the centre of mass, then angular" },
    { "forces", "per body: force, then torque; gravity included, gyroscopic terms excluded" },
    { "positions", "of the centre of mass" },
    { "free_velocities",
      "of the step without contacts and joints, gyroscopic terms included: velocities at the end are "
      "free_velocities + M^-1 J' impulses with masses and free_inertia_tensors (world axes)" },
    { "action", "impulses act at the middle of points and points_2 if both lie on one normal (to 1e-9 m), else at the "
                "point of each body; with opposite signs on the two bodies" },
    { "stick", "1 sticks (slip below 1e-6 m/s), 0 slides, -1 open (no normal impulse), -2 not told; rows: iterations, "
               "columns: contacts; the last row is the answer" },
    { "errors", "one number per iteration, the last is the answer; iteration: its number, counted anew in every solve "
                "of the step; pairs and units: docs/notation.md" },
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
    char hash[24];
    if (access(path, F_OK) == 0)
        return mor_fail(error, MOR_BAD_INPUT, "%s: file exists; frames are never written over others", path);
    mor_h5 h5;
    mor_code code = mor_h5_begin(&h5, path, error);
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
    if (meta->paper) /* only who wrote it: the rest is in the paper */
        return mor_h5_finish(&h5, mor_h5_set_text(&h5, "/", "producer", "moreau " MOR_VERSION_STRING, error), error);
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
    return mor_h5_finish(&h5, code, error);
}

/* Paths: a frame's group and a name of up to 160 in it. */
enum { PATH_ROOM = 256 };

typedef mor_bpmd_writer writer;

void mor_bpmd_put(writer* w, const char* name, mor_h5_type type, size_t rows, size_t cols)
{
    if (w->code) return;
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", w->group, name);
    size_t dims[2] = { rows, cols };
    int rank = cols == 1 ? 1 : 2;
    w->code = mor_h5_write(w->h5, path, type, rank, dims, type == MOR_H5_INT ? (void*)w->integers : (void*)w->table,
                           w->error);
}

void mor_bpmd_put_group(writer* w, const char* name)
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
    mor_bpmd_put_group(w, "bodies");
#define EACH(...)                                                                                                      \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        const mor_bpmd_body* b = &f->bodies[i];                                                                        \
        __VA_ARGS__                                                                                                    \
    }
    EACH(w->integers[i] = b->id;) mor_bpmd_put(w, "bodies/ids", MOR_H5_INT, n, 1);
    EACH(w->integers[i] = b->kind == MOR_DYNAMIC ? 1 : -1;) mor_bpmd_put(w, "bodies/states", MOR_H5_INT, n, 1);
    EACH(w->integers[i] = (int)b->kind;) mor_bpmd_put(w, "bodies/kinds", MOR_H5_INT, n, 1);
    EACH(w->integers[i] = b->dof;) mor_bpmd_put(w, "bodies/dof", MOR_H5_INT, n, 1);
    EACH(t[i] = b->mass;) mor_bpmd_put(w, "bodies/masses", MOR_H5_DOUBLE, n, 1);
    EACH(three(t + 3 * i, b->x);) mor_bpmd_put(w, "bodies/positions", MOR_H5_DOUBLE, n, 3);
    EACH(t[4 * i] = b->q.w; t[4 * i + 1] = b->q.x; t[4 * i + 2] = b->q.y; t[4 * i + 3] = b->q.z;)
    mor_bpmd_put(w, "bodies/quaternions", MOR_H5_DOUBLE, n, 4);
    EACH(t[i] = b->angle;) if (f->dimension == 2) mor_bpmd_put(w, "bodies/angles", MOR_H5_DOUBLE, n, 1);
    EACH(three(t + 6 * i, b->v); three(t + 6 * i + 3, b->w);)
    mor_bpmd_put(w, "bodies/velocities", MOR_H5_DOUBLE, 6 * n, 1);
    EACH(three(t + 6 * i, b->force); three(t + 6 * i + 3, b->torque);)
    mor_bpmd_put(w, "bodies/forces", MOR_H5_DOUBLE, 6 * n, 1);
    EACH(three(t + 3 * i, b->L);) mor_bpmd_put(w, "bodies/angular_momenta", MOR_H5_DOUBLE, n, 3);
    EACH(for (int r = 0; r < 3; r++) for (int c = 0; c < 3; c++) t[9 * i + 3 * r + c] = b->inertia.m[r][c];)
    mor_bpmd_put(w, "bodies/inertia_tensors", MOR_H5_DOUBLE, 3 * n, 3);
    EACH(mor_mat3 R = mor_quat_matrix(b->q); mor_mat3 I = mor_mat3_rotate(&R, &b->inertia);
         for (int r = 0; r < 3; r++) for (int c = 0; c < 3; c++) t[9 * i + 3 * r + c] = b->kind == MOR_DYNAMIC
                                                                                            ? I.m[r][c]
                                                                                        : r == c ? INFINITY
                                                                                                 : 0.0;)
    mor_bpmd_put(w, "bodies/world_inertia_tensors", MOR_H5_DOUBLE, 3 * n, 3);
    EACH(memcpy(t + 6 * i, b->free, sizeof b->free);)
    if (f->answered) mor_bpmd_put(w, "bodies/free_velocities", MOR_H5_DOUBLE, 6 * n, 1);
    EACH(for (int r = 0; r < 3; r++) for (int c = 0; c < 3; c++) t[9 * i + 3 * r + c] = b->free_inertia.m[r][c];)
    if (f->answered) mor_bpmd_put(w, "bodies/free_inertia_tensors", MOR_H5_DOUBLE, 3 * n, 3);
#undef EACH
}

void mor_bpmd_put_lines(writer* w, const mor_bpmd_frame* f, const char* name, const char* const* names)
{
    const double one[MOR_BPMD_MEASURES] = { f->iterations,   f->total_fb,       f->total_cck,     f->natural,
                                            f->normal_error, f->friction_error, f->friction_power };
    size_t lines = f->lines ? (size_t)f->line_count : 1, contacts = (size_t)f->contact_count;
    const double* values = f->lines ? f->lines : one;
    char path[160], full[PATH_ROOM];
    for (int m = 0; m < MOR_BPMD_MEASURES; m++) {
        if (!names[m]) continue;
        snprintf(path, sizeof path, "%s/%s", name, names[m]);
        for (size_t k = 0; k < lines; k++) w->table[k] = values[k * MOR_BPMD_MEASURES + (size_t)m];
        mor_bpmd_put(w, path, MOR_H5_DOUBLE, lines, 1);
    }
    if (w->code) return;
    size_t dims[2] = { lines, contacts };
    signed char* states = f->states ? f->states : (signed char*)w->integers;
    for (size_t c = 0; !f->states && c < contacts; c++) states[c] = (signed char)f->contacts[c].stick;
    snprintf(full, sizeof full, "%s/%s/stick", w->group, name);
    w->code = mor_h5_write(w->h5, full, MOR_H5_BYTE, 2, dims, states, w->error);
}

static const char* const measures[MOR_BPMD_MEASURES] = { "iteration",    "total_error_fb", "total_error_cck", "natural",
                                                         "normal_error", "friction_error", "friction_power" };

static void put_contacts(writer* w, const mor_bpmd_frame* f)
{
    size_t n = (size_t)f->contact_count;
    double* t = w->table;
    mor_bpmd_put_group(w, "contacts");
#define EACH(...)                                                                                                      \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        const mor_bpmd_contact* c = &f->contacts[i];                                                                   \
        __VA_ARGS__                                                                                                    \
    }
    EACH(for (int s = 0; s < 2; s++) w->integers[2 * i + (size_t)s] = c->body[s] < 0 ? -1 : f->bodies[c->body[s]].id;)
    mor_bpmd_put(w, "contacts/pairs", MOR_H5_INT, n, 2);
    EACH(three(t + 3 * i, c->point[0]);) mor_bpmd_put(w, "contacts/points", MOR_H5_DOUBLE, n, 3);
    EACH(three(t + 3 * i, c->point[1]);) mor_bpmd_put(w, "contacts/points_2", MOR_H5_DOUBLE, n, 3);
    EACH(three(t + 3 * i, c->normal);) mor_bpmd_put(w, "contacts/normals", MOR_H5_DOUBLE, n, 3);
    EACH(mor_vec3 a; mor_vec3 b; if (f->dimension == 2) a = mor_v3(-c->normal.y, c->normal.x, 0), b = mor_v3(0, 0, 1);
         else mor_tangents(c->normal, mor_v3(1, 0, 0), &a, &b); three(t + 6 * i, a); three(t + 6 * i + 3, b);)
    if (f->friction_align == 0) mor_bpmd_put(w, "contacts/tangents", MOR_H5_DOUBLE, n, 6);
    EACH(t[i] = c->gap;) mor_bpmd_put(w, "contacts/gaps", MOR_H5_DOUBLE, n, 1);
    EACH(t[2 * i] = c->friction; t[2 * i + 1] = c->friction_2;) mor_bpmd_put(w, "contacts/mu_s", MOR_H5_DOUBLE, n, 2);
    EACH(t[3 * i] = t[3 * i + 1] = t[3 * i + 2] = c->friction;) mor_bpmd_put(w, "contacts/mu_k", MOR_H5_DOUBLE, n, 3);
    EACH(t[i] = c->restitution;) mor_bpmd_put(w, "contacts/restitution", MOR_H5_DOUBLE, n, 1);
    EACH(t[i] = c->epsilon >= 0.0 ? c->epsilon : f->epsilon;) mor_bpmd_put(w, "contacts/epsilon", MOR_H5_DOUBLE, n, 1);
    EACH(t[i] = c->recovery;) mor_bpmd_put(w, "contacts/recovery", MOR_H5_DOUBLE, n, 1);
    EACH(three(t + 3 * i, c->surface_velocity);) mor_bpmd_put(w, "contacts/surface_velocities", MOR_H5_DOUBLE, n, 3);
    EACH(w->integers[i] = c->group;) mor_bpmd_put(w, "contacts/group", MOR_H5_INT, n, 1);
    EACH(w->integers[i] = c->plane;) mor_bpmd_put(w, "contacts/plane", MOR_H5_INT, n, 1);
    EACH(w->integers[2 * i] = c->shape[0]; w->integers[2 * i + 1] = c->shape[1];)
    mor_bpmd_put(w, "contacts/shapes", MOR_H5_INT, n, 2);
    EACH(w->integers[2 * i] = (int)(uint32_t)(c->feature >> 32); w->integers[2 * i + 1] = (int)(uint32_t)c->feature;)
    mor_bpmd_put(w, "contacts/features", MOR_H5_INT, n, 2);
    EACH(w->integers[i] = c->held;) mor_bpmd_put(w, "contacts/held", MOR_H5_INT, n, 1);
    EACH(memcpy(t + 3 * i, c->guess, sizeof c->guess);) mor_bpmd_put(w, "contacts/guess", MOR_H5_DOUBLE, n, 3);
    if (!f->answered) return;
    char name[96], path[160], full[PATH_ROOM];
    mor_bpmd_put_group(w, "solutions");
    snprintf(name, sizeof name, "solutions/%s-%s", f->formulation, f->solver);
    mor_bpmd_put_group(w, name);
    snprintf(path, sizeof path, "%s/impulses", name);
    EACH(memcpy(t + 3 * i, c->impulse, sizeof c->impulse);) mor_bpmd_put(w, path, MOR_H5_DOUBLE, n, 3);
#undef EACH
    for (int i = 0; i < f->body_count; i++) memcpy(t + 6 * i, f->bodies[i].velocity, sizeof f->bodies[i].velocity);
    snprintf(path, sizeof path, "%s/velocities", name);
    mor_bpmd_put(w, path, MOR_H5_DOUBLE, 6 * (size_t)f->body_count, 1);
    snprintf(path, sizeof path, "%s/iterations", name);
    scalar(w, path, f->iterations);
    snprintf(path, sizeof path, "%s/velocity_error", name);
    scalar(w, path, f->velocity_error);
    mor_bpmd_put_lines(w, f, name, measures);
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
    mor_bpmd_put_group(w, path);
    int* integers = w->integers;
    double* table = w->table;
    w->integers = (int*)p;
    snprintf(path, sizeof path, "%s/jacobian/p", name);
    mor_bpmd_put(w, path, MOR_H5_INT, rows + 1, 1);
    w->integers = (int*)columns;
    snprintf(path, sizeof path, "%s/jacobian/i", name);
    mor_bpmd_put(w, path, MOR_H5_INT, (size_t)p[rows], 1);
    w->table = (double*)values;
    snprintf(path, sizeof path, "%s/jacobian/x", name);
    mor_bpmd_put(w, path, MOR_H5_DOUBLE, (size_t)p[rows], 1);
    w->integers = integers;
    w->table = table;
}

static void put_array(writer* w, const char* name, const double* data, size_t count)
{
    double* table = w->table;
    w->table = (double*)data;
    mor_bpmd_put(w, name, MOR_H5_DOUBLE, count, 1);
    w->table = table;
}

static void put_trees(writer* w, const mor_bpmd_frame* f)
{
    size_t n = (size_t)f->tree_count, mass = 0, jacobian = 0;
    mor_bpmd_put_group(w, "trees");
    for (size_t t = 0; t < n; t++) {
        size_t dof = (size_t)f->trees[t].dof;
        w->integers[t] = (int)dof;
        if (f->trees[t].articulated) mass += dof * dof;
    }
    mor_bpmd_put(w, "trees/dof", MOR_H5_INT, n, 1);
    for (int t = 0, at = 0; t < f->tree_count; at += f->trees[t++].dof) w->integers[t] = at;
    mor_bpmd_put(w, "trees/offset", MOR_H5_INT, n, 1);
    for (size_t t = 0; t < n; t++) w->integers[t] = f->trees[t].articulated;
    mor_bpmd_put(w, "trees/articulated", MOR_H5_INT, n, 1);
    for (size_t t = 0; t < n; t++) w->integers[t] = f->trees[t].q_count;
    mor_bpmd_put(w, "trees/q_count", MOR_H5_INT, n, 1);
    put_array(w, "trees/mass", f->mass, mass);
    put_array(w, "trees/nu", f->nu, (size_t)f->dof);
    put_array(w, "trees/nu_free", f->nu_free, (size_t)f->dof);
    put_array(w, "trees/nu_new", f->nu_new, (size_t)f->dof);
    put_array(w, "trees/q", f->q, (size_t)f->q_count);
    for (int i = 0; i < f->body_count; i++) {
        w->integers[i] = f->bodies[i].tree;
        if (f->bodies[i].link >= 0) jacobian += 6 * (size_t)f->trees[f->bodies[i].tree].dof;
    }
    mor_bpmd_put(w, "bodies/tree", MOR_H5_INT, (size_t)f->body_count, 1);
    put_array(w, "bodies/jacobian", f->link_jacobian, jacobian);
    put_sparse(w, "contacts", 3 * (size_t)f->contact_count, f->contact_p, f->contact_columns, f->contact_values);
}

static void put_constraints(writer* w, const mor_bpmd_frame* f)
{
    size_t n = (size_t)f->constraint_count, m = (size_t)f->row_count;
    double* t = w->table;
    mor_bpmd_put_group(w, "constraints");
    for (size_t i = 0; i < n; i++) w->integers[i] = f->constraints[i].rows;
    mor_bpmd_put(w, "constraints/rows", MOR_H5_INT, n, 1);
    for (size_t i = 0; i < n; i++) w->integers[i] = (int)f->constraints[i].kind;
    mor_bpmd_put(w, "constraints/kinds", MOR_H5_INT, n, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < 2; s++)
            w->integers[2 * i + s] = f->constraints[i].body[s] < 0 ? -1 : f->bodies[f->constraints[i].body[s]].id;
    mor_bpmd_put(w, "constraints/pairs", MOR_H5_INT, n, 2);
    for (size_t i = 0; i < m; i++) memcpy(t + 12 * i, f->rows[i].body, sizeof f->rows[i].body);
    mor_bpmd_put(w, "constraints/Jacobian", MOR_H5_DOUBLE, m, 12);
#define EACH(name, what)                                                                                               \
    for (size_t i = 0; i < m; i++) t[i] = (what);                                                                      \
    mor_bpmd_put(w, "constraints/" name, MOR_H5_DOUBLE, m, 1)
    EACH("violations", f->rows[i].violation);
    EACH("time_derivative", 0.0);
    EACH("bias", f->rows[i].bias);
    EACH("guess", f->rows[i].guess);
    EACH("impulses", f->rows[i].impulse);
#undef EACH
    for (size_t i = 0; i < m; i++) t[2 * i] = f->rows[i].lower, t[2 * i + 1] = f->rows[i].upper;
    mor_bpmd_put(w, "constraints/bounds", MOR_H5_DOUBLE, m, 2);
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
           fifth = (size_t)f->tree_count + 1, sixth = (size_t)f->line_count + 1;
    if (second > most) most = second;
    if (third > most) most = third;
    if (fourth > most) most = fourth;
    if (fifth > most) most = fifth;
    if (sixth > most) most = sixth;
    writer w = { .h5 = h5,
                 .group = name,
                 .error = error,
                 .table = malloc(most * sizeof(double)),
                 .integers = malloc(most * sizeof(int)) };
    if (!w.table || !w.integers) w.code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!mor_h5_exists(h5, "/meta")) {
        if (!w.code) mor_bpmd_put_paper(&w, f);
        free(w.table);
        free(w.integers);
        return w.code;
    }
    mor_bpmd_put_group(&w, "");
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

mor_code mor_bpmd_append_until(const char* path, const mor_bpmd_frame* frames, int count, int first,
                               const volatile int* flag, mor_error* error)
{
    mor_h5 h5;
    mor_code code = mor_h5_extend(&h5, path, error);
    if (code) return code;
    for (int i = 0; i < count && !code; i++)
        code = flag && *flag ? mor_fail(error, MOR_STOPPED, "%.600s: not written to its end", path)
                             : put_frame(&h5, &frames[i], first + i, error);
    return mor_h5_finish(&h5, code, error);
}

mor_code mor_bpmd_append(const char* path, const mor_bpmd_frame* frames, int count, int first, mor_error* error)
{
    return mor_bpmd_append_until(path, frames, count, first, NULL, error);
}
