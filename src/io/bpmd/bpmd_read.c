/* Reading BPMD files in three spellings, see bpmd.h and docs/bpmd.md.
 *
 * Our files are told by /meta with format = BPMD. Others have groups with `bodies` inside: named as in the ODE fork of
 * Gazebo (`quaternions`, `gaps`, `world_inertia_tensors`), or as in Table 2 of the paper (`quaternion`, `gap`,
 * `inertia`). What differs beyond names:
 *
 *              normal              points                       inertia
 *     ours     body 1 to body 2    on both bodies, world        body axes
 *     gazebo   into body 1         one per contact, world       world axes
 *     paper    away from body 1    from body 1's centre         world axes
 *
 * Bodies of the other spellings get L = I omega; contacts get no restitution, infinite epsilon and zero starting
 * impulses. Every number is checked before it is used; a message names file, dataset and row. Contacts:
 * bpmd_read_contacts.c; trees and joints: bpmd_read_trees.c. */
#include "io/bpmd/bpmd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/bpmd/bpmd_reader.h"

/* --------------------------------------------------------------------------------- frames */

/* Sets r->path to the first of two spellings that exists; false and path of the first if none does. */
bool mor_bpmd_find(mor_bpmd_reader* r, const char* name, const char* other)
{
    const char* names[2] = { name, other };
    for (int i = 0; i < 2; i++) {
        if (!names[i]) continue;
        snprintf(r->path, sizeof r->path, "/%s/%s", r->frame->name, names[i]);
        if (mor_h5_exists(&r->file->h5, r->path)) return true;
    }
    for (int i = 0; i < 2 && r->file->dialect != MOR_BPMD_MOREAU; i++)
        if (names[i] && mor_bpmd_find_elsewhere(r, names[i])) return true;
    snprintf(r->path, sizeof r->path, "/%s/%s", r->frame->name, name);
    return false;
}

/* `count` numbers into the table, all finite unless told otherwise. */
bool mor_bpmd_numbers(mor_bpmd_reader* r, const char* name, const char* other, size_t count, bool infinite)
{
    if (r->code) return false;
    mor_bpmd_find(r, name, other);
    r->code = mor_h5_read_all(&r->file->h5, r->path, MOR_H5_DOUBLE, count, r->table, r->error);
    for (size_t i = 0; i < count && !r->code; i++)
        if (infinite ? isnan(r->table[i]) : !isfinite(r->table[i]))
            r->code = mor_fail(r->error, MOR_BAD_INPUT, "%s:%s: number %zu is %g; finite numbers are expected",
                               r->file->h5.path, r->path, i, r->table[i]);
    return !r->code;
}

/* A table of rows x cols. Its shape may be flat; cols x rows is another order of the numbers: refused in our own files,
 * turned in those of others. */
bool mor_bpmd_table(mor_bpmd_reader* r, const char* name, const char* other, size_t rows, size_t cols, bool infinite)
{
    int rank = 0;
    size_t dims[MOR_H5_RANK] = { 0 };
    if (r->code) return false;
    bool found = mor_bpmd_find(r, name, other), turned = found && mor_bpmd_is_transposed(r, rows, cols);
    if (found && !turned && mor_h5_dims(&r->file->h5, r->path, &rank, dims, NULL) == MOR_OK && rank == 2 && rows > 1 &&
        rows != cols && dims[0] == cols && dims[1] == rows)
        r->code = mor_fail(r->error, MOR_BAD_INPUT,
                           "%s:%s: %zu x %zu is transposed, as MATLAB and Fortran write arrays; %zu x %zu is expected",
                           r->file->h5.path, r->path, cols, rows, rows, cols);
    if (!mor_bpmd_numbers(r, name, other, rows * cols, infinite)) return false;
    return !turned || mor_bpmd_turn(r, r->table, sizeof *r->table, rows, cols);
}

bool mor_bpmd_integers(mor_bpmd_reader* r, const char* name, size_t count)
{
    if (r->code) return false;
    mor_bpmd_find(r, name, NULL);
    r->code = mor_h5_read_all(&r->file->h5, r->path, MOR_H5_INT, count, r->integers, r->error);
    return !r->code;
}

size_t mor_bpmd_points_of(mor_bpmd_reader* r, const char* name, const char* other)
{
    int rank = 0;
    size_t dims[MOR_H5_RANK], n = 1;
    mor_bpmd_find(r, name, other);
    if (!r->code) r->code = mor_h5_dims(&r->file->h5, r->path, &rank, dims, r->error);
    for (int i = 0; i < rank && !r->code; i++) n *= dims[i];
    if (!r->code && n > 100000000)
        r->code = mor_fail(r->error, MOR_BAD_INPUT, "%s:%s: %zu numbers are too many", r->file->h5.path, r->path, n);
    return r->code ? 0 : n;
}

void mor_bpmd_complain(mor_bpmd_reader* r, size_t row, const char* what)
{
    if (!r->code)
        r->code = mor_fail(r->error, MOR_BAD_INPUT, "%s:%s: row %zu: %s", r->file->h5.path, r->path, row, what);
}

static mor_vec3 vec(const double* t) { return mor_v3(t[0], t[1], t[2]); }

static void read_masses(mor_bpmd_reader* r, size_t n)
{
    mor_bpmd_frame* f = r->frame;
    bool ours = r->file->dialect == MOR_BPMD_MOREAU;
    if (ours && mor_bpmd_integers(r, "bodies/kinds", n))
        for (size_t i = 0; i < n && !r->code; i++) {
            if (r->integers[i] < 0 || r->integers[i] > 2)
                mor_bpmd_complain(r, i, "kinds are 0 dynamic, 1 fixed, 2 kinematic");
            else f->bodies[i].kind = (mor_body_kind)r->integers[i];
        }
    if (!mor_bpmd_numbers(r, "bodies/masses", NULL, n, true)) return;
    for (size_t i = 0; i < n && !r->code; i++) {
        mor_bpmd_body* b = &f->bodies[i];
        b->mass = r->table[i];
        if (!ours && isinf(b->mass)) b->kind = MOR_FIXED;
        bool link = ours && b->mass == 0.0 && mor_bpmd_find(r, "trees/dof", NULL); /* links of robots may have none */
        mor_bpmd_find(r, "bodies/masses", NULL);
        if (!(b->mass > 0.0) && !link) mor_bpmd_complain(r, i, "the mass is not positive");
        else if (b->kind == MOR_DYNAMIC && isinf(b->mass))
            mor_bpmd_complain(r, i, "a body that moves needs a finite mass");
        b->dof = b->kind == MOR_DYNAMIC ? (f->dimension == 3 ? 6 : 3) : 0;
    }
    if (ours && mor_bpmd_integers(r, "bodies/dof", n))
        for (size_t i = 0; i < n && !r->code; i++) {
            int dof = r->integers[i];
            bool good = f->bodies[i].kind != MOR_DYNAMIC ? dof == 0
                        : f->dimension == 3              ? dof == 6
                                                         : dof == 3 || dof == 2;
            if (!good) mor_bpmd_complain(r, i, "this number of degrees of freedom does not fit the body");
            else f->bodies[i].dof = dof;
        }
}

static void read_inertia(mor_bpmd_reader* r, size_t n)
{
    bool ours = r->file->dialect == MOR_BPMD_MOREAU;
    if (!mor_bpmd_table(r, ours ? "bodies/inertia_tensors" : "bodies/world_inertia_tensors",
                        ours ? NULL : "bodies/inertia", 3 * n, 3, !ours))
        return;
    for (size_t i = 0; i < n; i++) {
        mor_bpmd_body* b = &r->frame->bodies[i];
        mor_mat3 I;
        double size = 0.0, skew = 0.0;
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) {
                I.m[j][k] = r->table[9 * i + (size_t)(3 * j + k)];
                size = fmax(size, fabs(I.m[j][k]));
                skew = fmax(skew, fabs(I.m[j][k] - r->table[9 * i + (size_t)(3 * k + j)]));
            }
        if (b->kind != MOR_DYNAMIC) continue;
        if (!(skew <= 1e-6 * size)) mor_bpmd_complain(r, i, "the inertia is not symmetric");
        if (!ours) {
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < j; k++) I.m[j][k] = I.m[k][j] = 0.5 * (I.m[j][k] + I.m[k][j]);
            mor_mat3 R = mor_quat_matrix(b->q), Rt;
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++) Rt.m[j][k] = R.m[k][j];
            b->L = mor_mul(&I, b->w);
            I = mor_mat3_rotate(&Rt, &I);
        }
        b->inertia = I;
    }
}

static int ascending(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

/* Bodies may come in any order, but no two with one id. Sorts r->integers. */
static void check_ids(mor_bpmd_reader* r, size_t n)
{
    if (r->code) return;
    qsort(r->integers, n, sizeof *r->integers, ascending);
    for (size_t i = 1; i < n && !r->code; i++)
        if (r->integers[i] == r->integers[i - 1])
            r->code = mor_fail(r->error, MOR_BAD_INPUT, "%s:%s: two bodies have the id %d", r->file->h5.path, r->path,
                               r->integers[i]);
}

static void read_bodies(mor_bpmd_reader* r)
{
    mor_bpmd_frame* f = r->frame;
    bool ours = r->file->dialect == MOR_BPMD_MOREAU;
    size_t n = (size_t)f->body_count;
    const double* t = r->table;
    if (mor_bpmd_integers(r, "bodies/ids", n))
        for (size_t i = 0; i < n; i++) {
            f->bodies[i].id = r->integers[i];
            if (r->integers[i] < 1) mor_bpmd_complain(r, i, "ids count from 1");
        }
    check_ids(r, n);
    read_masses(r, n);
    if (mor_bpmd_table(r, "bodies/positions", NULL, n, 3, false))
        for (size_t i = 0; i < n; i++) f->bodies[i].x = vec(t + 3 * i);
    if (mor_bpmd_table(r, "bodies/quaternions", "bodies/quaternion", n, 4, false))
        for (size_t i = 0; i < n; i++) {
            mor_quat q = { t[4 * i], t[4 * i + 1], t[4 * i + 2], t[4 * i + 3] };
            double size = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
            if (fabs(size - 1.0) > 1e-3) mor_bpmd_complain(r, i, "not a unit quaternion");
            f->bodies[i].q = ours ? q : mor_quat_normalize(q);
        }
    if (mor_bpmd_table(r, "bodies/velocities", NULL, n, 6, false))
        for (size_t i = 0; i < n; i++) f->bodies[i].v = vec(t + 6 * i), f->bodies[i].w = vec(t + 6 * i + 3);
    if (mor_bpmd_table(r, "bodies/forces", NULL, n, 6, true))
        for (size_t i = 0; i < n; i++) {
            f->bodies[i].force = vec(t + 6 * i), f->bodies[i].torque = vec(t + 6 * i + 3);
            for (size_t k = 6 * i; k < 6 * i + 6; k++)
                if (f->bodies[i].kind == MOR_DYNAMIC && !isfinite(t[k]))
                    mor_bpmd_complain(r, i, "the force is not finite");
        }
    if (f->dimension == 2 && mor_bpmd_numbers(r, "bodies/angles", NULL, n, false))
        for (size_t i = 0; i < n; i++) f->bodies[i].angle = t[i];
    read_inertia(r, n);
    if (ours && mor_bpmd_numbers(r, "bodies/angular_momenta", NULL, 3 * n, false))
        for (size_t i = 0; i < n; i++) f->bodies[i].L = vec(t + 3 * i);
}

/* Index of the body with this id; bodies are most often sorted by id. -2: none. */
int mor_bpmd_body_index(const mor_bpmd_frame* f, int id)
{
    if (id == -1) return -1;
    int low = 0, high = f->body_count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (f->bodies[middle].id == id) return middle;
        if (f->bodies[middle].id < id) low = middle + 1;
        else high = middle - 1;
    }
    for (int i = 0; i < f->body_count; i++)
        if (f->bodies[i].id == id) return i;
    return -2;
}

static void first_name(void* user, const char* name)
{
    char* first = user;
    if (!first[0]) snprintf(first, 64, "%s", name);
}

static void read_answer(mor_bpmd_reader* r)
{
    mor_bpmd_frame* f = r->frame;
    char base[256], first[64] = "", name[320];
    snprintf(base, sizeof base, "/%s/solutions", f->name);
    if (r->code || !mor_h5_exists(&r->file->h5, base) || mor_h5_children(&r->file->h5, base, first_name, first, NULL) ||
        !first[0])
        return;
    snprintf(base, sizeof base, "/%s/solutions/%s", f->name, first);
    if (mor_h5_get_text(&r->file->h5, base, "formulation", f->formulation, sizeof f->formulation, NULL) ||
        mor_h5_get_text(&r->file->h5, base, "solver", f->solver, sizeof f->solver, NULL))
        return; /* an answer of somebody else's layout */
    snprintf(name, sizeof name, "solutions/%s/impulses", first);
    if (mor_bpmd_numbers(r, name, NULL, 3 * (size_t)f->contact_count, true))
        for (int i = 0; i < f->contact_count; i++)
            memcpy(f->contacts[i].impulse, r->table + 3 * i, sizeof f->contacts[i].impulse);
    snprintf(name, sizeof name, "solutions/%s/velocities", first);
    if (mor_bpmd_numbers(r, name, NULL, 6 * (size_t)f->body_count, true))
        for (int i = 0; i < f->body_count; i++)
            memcpy(f->bodies[i].velocity, r->table + 6 * i, sizeof f->bodies[i].velocity);
    snprintf(name, sizeof name, "solutions/%s/iterations", first);
    if (mor_bpmd_numbers(r, name, NULL, 1, false)) f->iterations = (int)r->table[0];
    snprintf(name, sizeof name, "solutions/%s/velocity_error", first);
    if (mor_bpmd_numbers(r, name, NULL, 1, true)) f->velocity_error = r->table[0];
    f->answered = !r->code;
}

/* The step beside the frames: one for all, or one per frame. False: there is none. */
static bool read_common_step(mor_bpmd_reader* r, int index)
{
    if (!mor_bpmd_find_beside(r, "/", "step") && !mor_bpmd_find_beside(r, "/", "timestep")) return false;
    double* steps = malloc(((size_t)r->file->count + 1) * sizeof *steps);
    if (!steps) r->code = mor_fail(r->error, MOR_SYSTEM, "out of memory");
    else if (mor_h5_read_all(&r->file->h5, r->path, MOR_H5_DOUBLE, (size_t)r->file->count, steps, NULL) == MOR_OK)
        r->frame->h = steps[index];
    else r->code = mor_h5_read_all(&r->file->h5, r->path, MOR_H5_DOUBLE, 1, &r->frame->h, r->error);
    free(steps);
    return true;
}

static void read_head(mor_bpmd_reader* r, int index)
{
    mor_bpmd_frame* f = r->frame;
    bool ours = r->file->dialect == MOR_BPMD_MOREAU;
    char group[96];
    snprintf(group, sizeof group, "/%s", f->name);
    f->step = index + 1;
    f->epsilon = INFINITY;
    f->directions = 8;
    f->dimension = r->file->dimension;
    f->gravity = r->file->gravity;
    /* the paper: one for all, or one per frame */
    if (mor_bpmd_find(r, "timestep", "step") || !read_common_step(r, index)) {
        double* table = r->table;
        r->table = &f->h;
        mor_bpmd_numbers(r, "timestep", "step", 1, false);
        r->table = table;
    }
    if (!r->code && !(f->h > 0.0 && isfinite(f->h)))
        r->code = mor_fail(r->error, MOR_BAD_INPUT, "%s:%s: %g; a positive number of seconds is expected",
                           r->file->h5.path, r->path, f->h);
    f->v_rest = 2.0 * 9.81 * f->h;
    f->time = index * f->h;
    if (!ours || r->code) return;
    double value;
    r->table = &value;
    if (mor_bpmd_numbers(r, "time", NULL, 1, false)) f->time = value;
    if (mor_bpmd_numbers(r, "epsilon", NULL, 1, true)) f->epsilon = value;
    if (mor_bpmd_numbers(r, "v_rest", NULL, 1, false)) f->v_rest = value;
    if (!r->code) r->code = mor_h5_get_int(&r->file->h5, group, "step_number", &f->step, r->error);
    if (!r->code) r->code = mor_h5_get_int(&r->file->h5, group, "friction_directions", &f->directions, r->error);
    if (!r->code) r->code = mor_h5_get_int(&r->file->h5, group, "friction_align", &f->friction_align, r->error);
    if (!r->code && (f->directions < 3 || f->directions > 256))
        r->code = mor_fail(r->error, MOR_BAD_INPUT, "%s:%s@friction_directions: %d; 3 to 256 are expected",
                           r->file->h5.path, group, f->directions);
}

mor_code mor_bpmd_read(const mor_bpmd* file, int index, mor_bpmd_frame* frame, mor_error* error)
{
    memset(frame, 0, sizeof *frame);
    snprintf(frame->name, sizeof frame->name, "%s", file->names[index]);
    mor_bpmd_reader r = { .file = file, .frame = frame, .error = error };
    read_head(&r, index);
    r.table = NULL;
    size_t bodies = mor_bpmd_points_of(&r, "bodies/masses", NULL), contacts = 0;
    if (!r.code && mor_bpmd_find(&r, "contacts/pairs", NULL)) {
        contacts = mor_bpmd_points_of(&r, "contacts/pairs", NULL);
        if (contacts % 2)
            r.code = mor_fail(error, MOR_BAD_INPUT, "%s:%s: %zu ids are not pairs", file->h5.path, r.path, contacts);
        contacts /= 2;
    } else if (!r.code && mor_bpmd_find(&r, "contacts/normals", NULL)) {
        mor_bpmd_find(&r, "contacts/pairs", NULL);
        r.code = mor_fail(error, MOR_BAD_INPUT, "%s:%s: missing dataset", file->h5.path, r.path);
    }
    size_t most = 9 * bodies + 6 * contacts + 1;
    frame->body_count = (int)bodies;
    frame->contact_count = (int)contacts;
    frame->bodies = calloc(bodies + 1, sizeof *frame->bodies);
    frame->contacts = calloc(contacts + 1, sizeof *frame->contacts);
    r.table = malloc(most * sizeof(double));
    r.integers = malloc(most * sizeof(int));
    if (!r.code && (!frame->bodies || !frame->contacts || !r.table || !r.integers))
        r.code = mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_bpmd_tell_unknown(&r);
    if (!r.code && file->dialect != MOR_BPMD_MOREAU) mor_bpmd_look_at_order(&r, bodies, contacts);
    if (!r.code) read_bodies(&r);
    if (!r.code && contacts) mor_bpmd_read_contacts(&r);
    if (!r.code) mor_bpmd_read_trees(&r);
    if (!r.code) mor_bpmd_read_constraints(&r);
    if (!r.code) read_answer(&r);
    if (!r.code) mor_bpmd_read_stored(&r);
    free(r.table);
    free(r.integers);
    if (r.code) mor_bpmd_frame_clear(frame);
    return r.code;
}
