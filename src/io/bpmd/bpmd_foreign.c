/* What files of other writers do differently, and how it is recognised.
 *
 * Names of groups. Table 2 of the paper calls them "unilateral constraints" and "bilateral constraints"; spaces become
 * underscores, or the groups are called contacts, joints.
 *
 * Order of arrays. MATLAB, Octave and Fortran write an n x 3 array as 3 x n. A shape that fits only one of the two
 * tells the order of the whole frame, and so that of square arrays.
 *
 * Direction of normals. A contact lies on the surface of its bodies. For a convex body with its centre of mass c
 * inside, the outward normal n at a point p has (p - c).n > 0. The mean over both bodies with sign, each divided by
 * |p - c|, is positive if the normal points from body 1 to body 2. If it is clearly negative (below -0.1) for most
 * contacts of a frame, all normals of the frame are turned; if only for a few, and both bodies say so, those contacts
 * have their pair mirrored. A body that is not convex may fail its own test; it takes both bodies, or most contacts.
 *
 * Each of these is told with the path of the dataset (mor_bpmd_frame.notes). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/bpmd/bpmd_reader.h"

static const double clear = 0.1; /* cosine from which on a normal is called turned */

void mor_bpmd_note(mor_bpmd_reader* r, const char* what)
{
    mor_bpmd_frame* f = r->frame;
    size_t used = strlen(f->notes), room = sizeof f->notes - used;
    int n = snprintf(f->notes + used, room, "%s%s:%s: %s", used ? "\n" : "", r->file->h5.path, r->path, what);
    if (n < 0 || (size_t)n >= room) f->notes[used] = '\0';
}

/* ---------------------------------------------------------------------------------- spelling */

static const struct {
    const char* name;
    const char* others[6];
} groups[] = { { "contacts/",
                 { "unilateral constraints/", "unilateral_constraints/", "unilateral/", "contact/",
                   "unilateral constraints (contacts)/", NULL } },
               { "constraints/",
                 { "bilateral constraints/", "bilateral_constraints/", "bilateral/", "joints/",
                   "bilateral constraints (joints)/", NULL } },
               { "solutions/", { "solution/", NULL } } };

bool mor_bpmd_find_elsewhere(mor_bpmd_reader* r, const char* name)
{
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        size_t n = strlen(groups[g].name);
        if (strncmp(name, groups[g].name, n) != 0) continue;
        for (const char* const* other = groups[g].others; *other; other++) {
            int length = snprintf(r->path, sizeof r->path, "/%s/%s%s", r->frame->name, *other, name + n);
            if (length < (int)sizeof r->path && mor_h5_exists(&r->file->h5, r->path)) return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------------------------- order */

void mor_bpmd_look_at_order(mor_bpmd_reader* r, size_t bodies, size_t contacts)
{
    const struct {
        const char *name, *other;
        size_t rows, cols;
    } tables[] = { { "bodies/positions", NULL, bodies, 3 },
                   { "bodies/quaternions", "bodies/quaternion", bodies, 4 },
                   { "bodies/velocities", NULL, bodies, 6 },
                   { "bodies/world_inertia_tensors", "bodies/inertia", 3 * bodies, 3 },
                   { "contacts/points", NULL, contacts, 3 },
                   { "contacts/normals", NULL, contacts, 3 },
                   { "contacts/mu_s", "contacts/mu", contacts, 2 },
                   { "contacts/pairs", NULL, contacts, 2 } };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        int rank = 0;
        size_t dims[MOR_H5_RANK] = { 0 }, rows = tables[i].rows, cols = tables[i].cols;
        if (rows == cols || rows < 2 || !mor_bpmd_find(r, tables[i].name, tables[i].other) ||
            mor_h5_dims(&r->file->h5, r->path, &rank, dims, NULL) || rank != 2)
            continue;
        if (dims[0] == cols && dims[1] == rows) r->across++;
        if (dims[0] == rows && dims[1] == cols) r->along++;
    }
}

bool mor_bpmd_is_transposed(mor_bpmd_reader* r, size_t rows, size_t cols)
{
    int rank = 0;
    size_t dims[MOR_H5_RANK] = { 0 };
    if (r->file->dialect == MOR_BPMD_MOREAU || rows < 2 || cols < 2 ||
        mor_h5_dims(&r->file->h5, r->path, &rank, dims, NULL) || rank != 2 || dims[0] != cols || dims[1] != rows)
        return false;
    return rows != cols || (r->across > 0 && r->along == 0);
}

bool mor_bpmd_turn(mor_bpmd_reader* r, void* table, size_t size, size_t rows, size_t cols)
{
    char *copy = malloc(rows * cols * size + 1), *to = table, what[120];
    if (!copy) {
        r->code = mor_fail(r->error, MOR_SYSTEM, "out of memory");
        return false;
    }
    memcpy(copy, table, rows * cols * size);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) memcpy(to + (i * cols + j) * size, copy + (j * rows + i) * size, size);
    free(copy);
    snprintf(what, sizeof what, "%zu x %zu is transposed; read as %zu x %zu", cols, rows, rows, cols);
    mor_bpmd_note(r, what);
    return true;
}

/* ---------------------------------------------------------------------------------- normals */

static bool moves(const mor_bpmd_frame* f, int body) { return body >= 0 && f->bodies[body].kind == MOR_DYNAMIC; }

/* Mean over the moving bodies of the cosine between n and the way the surface should face; their number. */
static int facing(const mor_bpmd_frame* f, const mor_bpmd_contact* c, double* cosine)
{
    int n = 0;
    *cosine = 0.0;
    for (int s = 0; s < 2; s++) {
        if (!moves(f, c->body[s])) continue;
        mor_vec3 arm = mor_sub(c->point[s], f->bodies[c->body[s]].x);
        double size = mor_norm(arm);
        if (!(size > 0.0)) continue;
        *cosine += (s ? -1.0 : 1.0) * mor_dot(arm, c->normal) / size;
        n++;
    }
    if (n) *cosine /= n;
    return n;
}

void mor_bpmd_check_normals(mor_bpmd_reader* r)
{
    mor_bpmd_frame* f = r->frame;
    int turned = 0, told = 0;
    double cosine;
    if (r->code || r->file->dialect == MOR_BPMD_MOREAU) return;
    for (int i = 0; i < f->contact_count; i++) {
        if (!facing(f, &f->contacts[i], &cosine) || fabs(cosine) <= clear) continue;
        told++;
        turned += cosine < 0.0;
    }
    bool all = turned > 0 && 2 * turned > told;
    mor_bpmd_find(r, "contacts/normals", NULL);
    if (all)
        mor_bpmd_note(r, r->file->dialect == MOR_BPMD_GAZEBO
                             ? "normals point away from body 1, not into it as ODE's do; read so"
                             : "normals point into body 1, not away from it as the paper says; turned");
    for (int i = 0; i < f->contact_count; i++) {
        mor_bpmd_contact* c = &f->contacts[i];
        if (all) c->normal = mor_scale(-1.0, c->normal);
        else if (facing(f, c, &cosine) == 2 && cosine < -clear) {
            char what[120];
            snprintf(what, sizeof what, "row %d belongs to the pair the other way round; its normal is turned", i);
            mor_bpmd_note(r, what);
            c->normal = mor_scale(-1.0, c->normal);
        }
    }
}

/* --------------------------------------------------------------------------------- solutions */

static void first_name(void* user, const char* name)
{
    char* first = user;
    if (!first[0]) snprintf(first, 64, "%s", name);
}

/* An answer of another program: impulses (contacts x 3, rows normal and two tangents as in docs/bpmd.md) in the group
 * `solutions` or in the first group there. Velocities alone do not tell impulses and are not judged. */
void mor_bpmd_read_stored(mor_bpmd_reader* r)
{
    mor_bpmd_frame* f = r->frame;
    size_t n = (size_t)f->contact_count;
    char base[256], first[64] = "", name[160];
    if (r->code || f->answered || n == 0) return;
    snprintf(base, sizeof base, "/%s/solutions", f->name);
    if (!mor_h5_exists(&r->file->h5, base)) snprintf(base, sizeof base, "/%s/solution", f->name);
    if (!mor_h5_exists(&r->file->h5, base)) return;
    static const char* const names[] = { "impulses", "z", "solution", NULL };
    const char* found = NULL;
    for (int i = 0; names[i] && !found; i++) {
        snprintf(name, sizeof name, "solutions/%s", names[i]);
        if (mor_bpmd_find(r, name, NULL) || mor_bpmd_find_elsewhere(r, name)) found = "the file";
    }
    if (!found && mor_h5_children(&r->file->h5, base, first_name, first, NULL) == MOR_OK && first[0]) {
        for (int i = 0; names[i] && !found; i++) {
            snprintf(name, sizeof name, "solutions/%s/%s", first, names[i]);
            if (mor_bpmd_find(r, name, NULL) || mor_bpmd_find_elsewhere(r, name)) found = first;
        }
    }
    if (!found) return;
    size_t count = mor_bpmd_points_of(r, name, NULL);
    if (r->code) return;
    if (count != 3 * n) {
        mor_bpmd_note(r, count == 6 * (size_t)f->body_count
                             ? "a stored solution of velocities alone; it has no impulses to judge"
                             : "a stored solution with another number of unknowns than three per contact; not read");
        return;
    }
    if (!mor_bpmd_table(r, name, NULL, n, 3, false)) return;
    for (size_t i = 0; i < n; i++) memcpy(f->contacts[i].impulse, r->table + 3 * i, sizeof f->contacts[i].impulse);
    snprintf(f->stored_by, sizeof f->stored_by, "%s", found);
}
