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
 * Against the world or a fixed body only one body can say so. Such a contact is turned if most of this kind in the
 * frame are the wrong way round (a writer that puts the world second, whatever the normal), or if more of the other
 * contacts of the moving body face outwards than inwards. An only contact is turned if its body is a solid ball (one
 * moment of inertia in all directions, and the contact at the radius that it tells), or if the force on the body would
 * pull the contact open with the normal as stored. Else it is kept and told: a ring is pulled against its pin, a hook
 * against its bar. What is pulled so has no say when the normals of a frame are counted.
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
    static const char more[] = "\n... and more deviations in this frame";
    mor_bpmd_frame* f = r->frame;
    size_t used = strlen(f->notes), room = sizeof f->notes - used;
    if (used >= sizeof more - 1 && strcmp(f->notes + used + 1 - sizeof more, more) == 0) return;
    int n = snprintf(f->notes + used, room, "%s%s:%s: %s", used ? "\n" : "", r->file->h5.path, r->path, what);
    if (n < 0 || (size_t)n + sizeof more > room) snprintf(f->notes + used, room, "%s", more + (used == 0));
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

bool mor_bpmd_find_beside(mor_bpmd_reader* r, const char* group, const char* name)
{
    search s = { .wanted = name };
    if (!find_child(r, group, &s)) return false;
    snprintf(r->path, sizeof r->path, "%.90s%s%.60s", group, group[1] ? "/" : "", s.found);
    return true;
}

/* `name` is GROUP/DATASET of docs/bpmd.md, or a dataset of the frame. */
bool mor_bpmd_find_elsewhere(mor_bpmd_reader* r, const char* name)
{
    char group[64], path[192];
    const char* rest = strchr(name, '/');
    if (!rest) {
        snprintf(path, sizeof path, "/%s", r->frame->name);
        return mor_bpmd_find_beside(r, path, name);
    }
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

static void count_paper(void* user, const char* child)
{
    char name[64];
    fold(child, name, sizeof name);
    *(int*)user += strncmp(name, "unilateral", 10) == 0 || strncmp(name, "bilateral", 9) == 0;
}

int mor_bpmd_paper_groups(mor_bpmd_reader* r)
{
    char path[96];
    int count = 0;
    snprintf(path, sizeof path, "/%s", r->frame->name);
    return mor_h5_children(&r->file->h5, path, count_paper, &count, NULL) == MOR_OK ? count : 0;
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

/* Cosine between the normal of a contact and the way the surface of its body on side s should face; 0: unknown. */
static double facing_of(const mor_bpmd_frame* f, const mor_bpmd_contact* c, int s)
{
    if (!moves(f, c->body[s])) return 0.0;
    mor_vec3 arm = mor_sub(c->point[s], f->bodies[c->body[s]].x);
    double size = mor_norm(arm);
    return size > 0.0 ? (s ? -1.0 : 1.0) * mor_dot(arm, c->normal) / size : 0.0;
}

static int sign_of(double cosine) { return cosine > clear ? 1 : cosine < -clear ? -1 : 0; }

/* What the force on the body does to the contact with the normal as it is stored: 1 presses, -1 pulls open, 0 neither.
 */
static int pressing(const mor_bpmd_frame* f, const mor_bpmd_contact* c, int s)
{
    mor_vec3 force = f->bodies[c->body[s]].force;
    double size = mor_norm(force);
    return size > 0.0 ? sign_of((s ? -1.0 : 1.0) * mor_dot(force, c->normal) / size) : 0;
}

/* 1: the normal of a contact looks right to its bodies, -1: wrong, 0: unclear. *voices: bodies that can tell. */
static int opinion(const mor_bpmd_frame* f, const mor_bpmd_contact* c, int* voices)
{
    double sum = 0.0;
    *voices = 0;
    for (int s = 0; s < 2; s++) {
        sum += facing_of(f, c, s);
        *voices += moves(f, c->body[s]);
    }
    if (*voices) sum /= *voices;
    return sign_of(sum);
}

/* The same for counts over a frame: what may be the inside of a body has no say. */
static int vote(const mor_bpmd_frame* f, const mor_bpmd_contact* c, int* voices)
{
    int says = opinion(f, c, voices);
    bool inside = says < 0 && *voices == 1 && pressing(f, c, moves(f, c->body[0]) ? 0 : 1) > 0;
    return inside ? 0 : says;
}

/* Rows of one note: "rows 3, 8 and 12 more". */
typedef struct row_list {
    char text[160];
    int count;
} row_list;

static void add_row(row_list* l, int row)
{
    size_t used = strlen(l->text);
    if (l->count++ < 8) snprintf(l->text + used, sizeof l->text - used, "%s%d", used ? ", " : "", row);
}

static void tell_rows(mor_bpmd_reader* r, const row_list* l, const char* one, const char* several)
{
    char what[400], more[32] = "";
    if (l->count == 0) return;
    if (l->count > 8) snprintf(more, sizeof more, " and %d more", l->count - 8);
    snprintf(what, sizeof what, "%s %s%s %s", l->count > 1 ? "rows" : "row", l->text, more,
             l->count > 1 ? several : one);
    mor_bpmd_note(r, what);
}

/* Is the body a solid ball with this point on its surface? Inside of a round hole nothing of the body is nearer to its
 * centre than the contact: its radius of gyration is larger than that of a ball of this radius. */
static bool on_ball(const mor_bpmd_body* b, mor_vec3 arm)
{
    double I = (b->inertia.m[0][0] + b->inertia.m[1][1] + b->inertia.m[2][2]) / 3.0, off = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) off = fmax(off, fabs(b->inertia.m[i][j] - (i == j ? I : 0.0)));
    return I > 0.0 && off <= 1e-3 * I && fabs(mor_dot(arm, arm) * b->mass / (2.5 * I) - 1.0) < 0.02;
}

/* Single contacts whose pair is the other way round than their normal. */
static void turn_mirrored(mor_bpmd_reader* r)
{
    mor_bpmd_frame* f = r->frame;
    row_list turned = { .count = 0 }, kept = { .count = 0 };
    int single = 0, voices; /* right less wrong: contacts of one moving body; contacts of each body */
    int* of_body = calloc((size_t)f->body_count + 1, sizeof *of_body);
    if (!of_body) {
        r->code = mor_fail(r->error, MOR_SYSTEM, "out of memory");
        return;
    }
    for (int i = 0; i < f->contact_count; i++) {
        const mor_bpmd_contact* c = &f->contacts[i];
        int says = vote(f, c, &voices);
        if (voices == 1) single += says;
        for (int s = 0; s < 2; s++)
            if (moves(f, c->body[s])) of_body[c->body[s]] += sign_of(facing_of(f, c, s));
    }
    for (int i = 0; i < f->contact_count; i++) {
        mor_bpmd_contact* c = &f->contacts[i];
        if (opinion(f, c, &voices) >= 0) continue;
        const int s = moves(f, c->body[0]) ? 0 : 1, others = of_body[c->body[s]] + 1; /* this one is -1 among them */
        const mor_bpmd_body* b = &f->bodies[c->body[s]];
        bool sure =
            voices == 2 || single < 0 || others > 0 || on_ball(b, mor_sub(c->point[s], b->x)) || pressing(f, c, s) < 0;
        add_row(sure ? &turned : &kept, i);
        if (sure) c->normal = mor_scale(-1.0, c->normal);
    }
    free(of_body);
    tell_rows(r, &turned, "belongs to the pair the other way round; its normal is turned",
              "belong to the pair the other way round; their normals are turned");
    tell_rows(r, &kept, "may belong to the pair the other way round, or to the inside of a body; its normal is kept",
              "may belong to the pair the other way round, or to the inside of a body; their normals are kept");
}

void mor_bpmd_check_normals(mor_bpmd_reader* r)
{
    mor_bpmd_frame* f = r->frame;
    int balance = 0, voices;
    if (r->code || r->file->dialect == MOR_BPMD_MOREAU) return;
    for (int i = 0; i < f->contact_count; i++) balance += vote(f, &f->contacts[i], &voices);
    mor_bpmd_find(r, "contacts/normals", NULL);
    if (balance >= 0) {
        turn_mirrored(r);
        return;
    }
    mor_bpmd_note(r, r->file->dialect == MOR_BPMD_GAZEBO
                         ? "normals point away from body 1, not into it as ODE's do; read so"
                         : "normals point into body 1, not away from it as the paper says; turned");
    for (int i = 0; i < f->contact_count; i++) f->contacts[i].normal = mor_scale(-1.0, f->contacts[i].normal);
    turn_mirrored(r);
}

/* --------------------------------------------------------------------------------- solutions */

static void first_name(void* user, const char* name)
{
    char* first = user;
    if (!first[0]) snprintf(first, 64, "%s", name);
}

/* An answer of another program: impulses (contacts x 3, rows normal and two tangents as in docs/bpmd.md) in the group
 * `solutions` or in the first group there; else velocities of the bodies at the end (bodies x 6), as in Table 2. An
 * array that could be either is what its name says. */
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
    static const char* const names[] = { "impulses", "solution", "z", NULL };
    const char* found = NULL;
    bool velocities = false; /* by its name: Table 2 of the paper calls them so, six per body */
    for (int i = 0; names[i] && !found; i++) {
        snprintf(name, sizeof name, "solutions/%s", names[i]);
        if (mor_bpmd_find(r, name, NULL) || mor_bpmd_find_elsewhere(r, name)) found = "the file", velocities = i == 1;
    }
    if (!found && mor_h5_children(&r->file->h5, base, first_name, first, NULL) == MOR_OK && first[0]) {
        for (int i = 0; names[i] && !found; i++) {
            snprintf(name, sizeof name, "solutions/%s/%s", first, names[i]);
            if (mor_bpmd_find(r, name, NULL) || mor_bpmd_find_elsewhere(r, name)) found = first, velocities = i == 1;
        }
    }
    if (!found) return;
    size_t count = mor_bpmd_points_of(r, name, NULL);
    if (r->code) return;
    size_t bodies = (size_t)f->body_count;
    velocities = count == 6 * bodies && (velocities || count != 3 * n); /* both fit with two contacts per body */
    if (velocities && mor_bpmd_table(r, name, NULL, bodies, 6, false)) {
        for (size_t i = 0; i < bodies; i++) memcpy(f->bodies[i].velocity, r->table + 6 * i, 6 * sizeof(double));
        f->stored_velocities = true;
        mor_bpmd_note(r, "a stored solution of velocities alone; judged by the impulses that come nearest to them");
        snprintf(f->stored_by, sizeof f->stored_by, "%s", found);
    }
    if (velocities || count != 3 * n) {
        if (!f->stored_velocities && !r->code)
            mor_bpmd_note(r, "a stored solution with another number of unknowns than three per contact; not read");
        return;
    }
    if (!mor_bpmd_table(r, name, NULL, n, 3, false)) return;
    for (size_t i = 0; i < n; i++) memcpy(f->contacts[i].impulse, r->table + 3 * i, sizeof f->contacts[i].impulse);
    snprintf(f->stored_by, sizeof f->stored_by, "%s", found);
}
