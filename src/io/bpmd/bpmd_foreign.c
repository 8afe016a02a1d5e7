/* What files of other writers do differently, and how it is recognised.
 *
 * Names. Table 2 of the paper calls groups "unilateral constraints" and "bilateral constraints"; others call them
 * contacts, joints. Names are compared without capitals, spaces, underscores and the plural's s. What has an unknown
 * name is told: contacts that are passed over in silence would be another problem.
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
#include <ctype.h>
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

/* Letters and digits, small, up to a bracket; without the plural's s. */
static void fold(const char* name, char* out, size_t size)
{
    size_t n = 0;
    for (const char* p = name; *p && *p != '(' && n + 1 < size; p++)
        if (isalnum((unsigned char)*p)) out[n++] = (char)tolower((unsigned char)*p);
    if (n > 1 && out[n - 1] == 's') n--;
    out[n] = '\0';
}

static bool same_name(const char* a, const char* b)
{
    char x[64], y[64];
    fold(a, x, sizeof x);
    fold(b, y, sizeof y);
    return strcmp(x, y) == 0;
}

/* Groups of a frame, the first as in docs/bpmd.md. */
static const char* const groups[][6] = {
    { "bodies", "body", NULL },
    { "contacts", "unilateral constraints", "unilateral", "unilateral contacts", NULL },
    { "constraints", "bilateral constraints", "bilateral", "joints", "bilateral joints", NULL },
    { "solutions", NULL },
};
enum { GROUPS = sizeof groups / sizeof *groups };

/* The group of the table above that a child of a frame is; -1: none. */
static int group_of(const char* child)
{
    for (int g = 0; g < GROUPS; g++)
        for (const char* const* name = groups[g]; *name; name++)
            if (same_name(child, *name)) return g;
    return -1;
}

typedef struct search {
    const char* wanted; /* a name; NULL: the group `group` */
    int group;
    char found[64]; /* "": none so far */
} search;

static void compare_child(void* user, const char* child)
{
    search* s = user;
    bool same = s->wanted ? same_name(child, s->wanted) : group_of(child) == s->group;
    if (same && !s->found[0] && strlen(child) < sizeof s->found) snprintf(s->found, sizeof s->found, "%s", child);
}

static bool find_child(const mor_bpmd_reader* r, const char* path, search* s)
{
    return mor_h5_children(&r->file->h5, path, compare_child, s, NULL) == MOR_OK && s->found[0];
}

/* `name` is GROUP/DATASET of docs/bpmd.md. */
bool mor_bpmd_find_elsewhere(mor_bpmd_reader* r, const char* name)
{
    char group[64], path[192];
    const char* rest = strchr(name, '/');
    if (!rest) return false;
    snprintf(group, sizeof group, "%.*s", (int)(rest - name), name);
    search in_frame = { .group = group_of(group) }, in_group = { .wanted = rest + 1 };
    if (in_frame.group < 0) return false;
    snprintf(path, sizeof path, "/%s", r->frame->name);
    if (!find_child(r, path, &in_frame)) return false;
    snprintf(r->path, sizeof r->path, "/%.60s/%.60s/%.60s", r->frame->name, in_frame.found, rest + 1);
    if (mor_h5_exists(&r->file->h5, r->path)) return true;
    snprintf(path, sizeof path, "/%s/%s", r->frame->name, in_frame.found);
    if (strchr(rest + 1, '/') || !find_child(r, path, &in_group)) return false;
    snprintf(r->path, sizeof r->path, "/%.60s/%.60s/%.60s", r->frame->name, in_frame.found, in_group.found);
    return true;
}

static void tell_unknown(void* user, const char* child)
{
    mor_bpmd_reader* r = user;
    static const char* const others[] = { "timestep", "step", "time", "solver_data", "trees", NULL };
    bool known = group_of(child) >= 0;
    for (const char* const* name = others; *name; name++) known = known || same_name(child, *name);
    if (known) return;
    snprintf(r->path, sizeof r->path, "/%.60s/%.100s", r->frame->name, child);
    mor_bpmd_note(r, "the format has no such name; not read");
}

void mor_bpmd_tell_unknown(mor_bpmd_reader* r)
{
    char path[96];
    if (r->code || r->file->dialect == MOR_BPMD_MOREAU) return;
    snprintf(path, sizeof path, "/%s", r->frame->name);
    mor_h5_children(&r->file->h5, path, tell_unknown, r,
                    NULL); /* a group that cannot be listed is told by its readers */
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
    if (rows == cols && r->across > 0 && r->along > 0)
        mor_bpmd_note(r, "as many rows as columns, and the arrays of this frame come in both orders; not turned");
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
 * `solutions` or in the first group there; else velocities of the bodies at the end (bodies x 6), as in Table 2. */
void mor_bpmd_read_stored(mor_bpmd_reader* r)
{
    mor_bpmd_frame* f = r->frame;
    size_t n = (size_t)f->contact_count;
    char base[256], first[64] = "", name[160];
    if (r->code || f->answered || n == 0) return;
    search solutions = { .group = group_of("solutions") };
    snprintf(base, sizeof base, "/%s", f->name);
    if (!find_child(r, base, &solutions)) return;
    snprintf(base, sizeof base, "/%s/%s", f->name, solutions.found);
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
    size_t bodies = (size_t)f->body_count;
    if (count == 6 * bodies && count != 3 * n && mor_bpmd_table(r, name, NULL, bodies, 6, false)) {
        for (size_t i = 0; i < bodies; i++) memcpy(f->bodies[i].velocity, r->table + 6 * i, 6 * sizeof(double));
        f->stored_velocities = true;
        mor_bpmd_note(r, "a stored solution of velocities alone; judged by the impulses that come nearest to them");
        snprintf(f->stored_by, sizeof f->stored_by, "%s", found);
    }
    if (count != 3 * n) {
        if (!f->stored_velocities && !r->code)
            mor_bpmd_note(r, "a stored solution with another number of unknowns than three per contact; not read");
        return;
    }
    if (!mor_bpmd_table(r, name, NULL, n, 3, false)) return;
    for (size_t i = 0; i < n; i++) memcpy(f->contacts[i].impulse, r->table + 3 * i, sizeof f->contacts[i].impulse);
    snprintf(f->stored_by, sizeof f->stored_by, "%s", found);
}
