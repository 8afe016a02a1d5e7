/* The contacts of a frame, see bpmd_read.c. */
#include "io/bpmd/bpmd_reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static mor_vec3 vec(const double* t) { return mor_v3(t[0], t[1], t[2]); }

/* The same for a dataset that may be missing. */
static bool optional(mor_bpmd_reader* r, const char* name, const char* other, size_t count)
{
    return !r->code && mor_bpmd_find(r, name, other) && mor_bpmd_numbers(r, name, other, count, false);
}

static void read_pairs(mor_bpmd_reader* r, size_t n)
{
    mor_bpmd_frame* f = r->frame;
    if (!mor_bpmd_integers(r, "contacts/pairs", 2 * n)) return;
    if (mor_bpmd_is_transposed(r, n, 2) && !mor_bpmd_turn(r, r->integers, sizeof *r->integers, n, 2)) return;
    for (size_t i = 0; i < n && !r->code; i++) {
        mor_bpmd_contact* c = &f->contacts[i];
        bool moves = false;
        for (int s = 0; s < 2; s++) {
            c->body[s] = mor_bpmd_body_index(f, r->integers[2 * i + (size_t)s]);
            if (c->body[s] == -2) mor_bpmd_complain(r, i, "there is no body with this id");
            else moves = moves || (c->body[s] >= 0 && f->bodies[c->body[s]].kind == MOR_DYNAMIC);
        }
        if (c->body[0] == c->body[1]) mor_bpmd_complain(r, i, "a body cannot touch itself");
        else if (!moves) mor_bpmd_complain(r, i, "neither body can move");
    }
}

/* Kinetic coefficients of others that are not the static ones: friction here has one law. */
static void tell_kinetic(mor_bpmd_reader* r, size_t n)
{
    if (r->code || r->file->dialect == MOR_BPMD_MOREAU || !mor_bpmd_find(r, "contacts/mu_k", NULL)) return;
    size_t count = mor_bpmd_points_of(r, "contacts/mu_k", NULL), per = n ? count / n : 0, differ = 0;
    if (r->code || per < 1 || per > 3 || per * n != count || !mor_bpmd_table(r, "contacts/mu_k", NULL, n, per, false))
        return;
    for (size_t i = 0; i < n; i++) differ += r->table[per * i] != r->frame->contacts[i].friction;
    char what[160];
    snprintf(what, sizeof what, "kinetic friction differs from the static one in %zu of %zu rows; the static is taken",
             differ, n);
    if (differ) mor_bpmd_note(r, what);
}

static void read_friction(mor_bpmd_reader* r, size_t n)
{
    mor_bpmd_frame* f = r->frame;
    /* one law of friction per contact: that of the first column */
    size_t count = mor_bpmd_points_of(r, "contacts/mu_s", "contacts/mu"), per = n ? count / n : 0;
    if (!r->code && (per < 1 || per * n != count || per > 3))
        r->code = mor_fail(r->error, MOR_BAD_INPUT,
                           "%s:%s: holds %zu numbers for %zu contacts; one or two per contact are expected",
                           r->file->h5.path, r->path, count, n);
    if (!mor_bpmd_table(r, "contacts/mu_s", "contacts/mu", n, per, false)) return;
    size_t differ = 0;
    for (size_t i = 0; i < n; i++) {
        mor_bpmd_contact* c = &f->contacts[i];
        c->friction = r->table[per * i];
        c->friction_2 = r->table[per * i + (per > 1)];
        if (!(c->friction >= 0.0 && c->friction_2 >= 0.0))
            mor_bpmd_complain(r, i, "the friction coefficient is negative");
        differ += c->friction != c->friction_2;
    }
    if (differ && !r->code) {
        char what[160];
        snprintf(what, sizeof what,
                 "the two columns differ in %zu of %zu rows; friction here has one coefficient: the first is taken",
                 differ, n);
        mor_bpmd_note(r, what);
    }
    tell_kinetic(r, n);
}

static void read_points(mor_bpmd_reader* r, size_t n)
{
    mor_bpmd_frame* f = r->frame;
    bool ours = r->file->dialect == MOR_BPMD_MOREAU, relative = r->file->dialect == MOR_BPMD_PAPER;
    const double* t = r->table;
    if (mor_bpmd_table(r, "contacts/points", NULL, n, 3, false))
        for (size_t i = 0; i < n; i++) {
            mor_vec3 p = vec(t + 3 * i);
            int first = f->contacts[i].body[0];
            if (relative && first >= 0) p = mor_add(p, f->bodies[first].x);
            f->contacts[i].point[0] = f->contacts[i].point[1] = p;
        }
    if (ours && mor_bpmd_table(r, "contacts/points_2", NULL, n, 3, false))
        for (size_t i = 0; i < n; i++) f->contacts[i].point[1] = vec(t + 3 * i);
}

static void read_normals(mor_bpmd_reader* r, size_t n)
{
    mor_bpmd_dialect dialect = r->file->dialect;
    if (!mor_bpmd_table(r, "contacts/normals", NULL, n, 3, false)) return;
    for (size_t i = 0; i < n; i++) {
        mor_vec3 v = vec(r->table + 3 * i);
        double size = mor_norm(v), sign = dialect == MOR_BPMD_GAZEBO ? -1.0 : 1.0;
        if (fabs(size - 1.0) > 1e-3) mor_bpmd_complain(r, i, "not a unit normal");
        r->frame->contacts[i].normal = dialect == MOR_BPMD_MOREAU ? v : mor_scale(sign / size, v);
    }
}

/* What only our own files have. */
static void read_own_contacts(mor_bpmd_reader* r, size_t n)
{
    mor_bpmd_contact* c = r->frame->contacts;
    const int* k = r->integers;
    if (mor_bpmd_integers(r, "contacts/group", n))
        for (size_t i = 0; i < n; i++) c[i].group = k[i];
    if (mor_bpmd_integers(r, "contacts/plane", n))
        for (size_t i = 0; i < n; i++) c[i].plane = k[i];
    if (mor_bpmd_find(r, "contacts/features", NULL) && mor_bpmd_integers(r, "contacts/features", 2 * n))
        for (size_t i = 0; i < n; i++) c[i].feature = (uint64_t)(uint32_t)k[2 * i] << 32 | (uint32_t)k[2 * i + 1];
    if (mor_bpmd_find(r, "contacts/shapes", NULL) && mor_bpmd_integers(r, "contacts/shapes", 2 * n))
        for (size_t i = 0; i < n; i++) {
            c[i].shape[0] = k[2 * i], c[i].shape[1] = k[2 * i + 1];
            if (k[2 * i] < 0 || k[2 * i + 1] < 0) mor_bpmd_complain(r, i, "shapes count from 0");
        }
    if (mor_bpmd_find(r, "contacts/held", NULL) && mor_bpmd_integers(r, "contacts/held", n))
        for (size_t i = 0; i < n; i++) c[i].held = k[i] != 0;
}

void mor_bpmd_read_contacts(mor_bpmd_reader* r)
{
    mor_bpmd_frame* f = r->frame;
    size_t n = (size_t)f->contact_count;
    const double* t = r->table;
    read_pairs(r, n);
    for (size_t i = 0; i < n; i++) f->contacts[i].feature = i; /* foreign frames keep their order */
    read_points(r, n);
    read_normals(r, n);
    mor_bpmd_check_normals(r);
    if (mor_bpmd_numbers(r, "contacts/gaps", "contacts/gap", n, false))
        for (size_t i = 0; i < n; i++) f->contacts[i].gap = t[i];
    for (size_t i = 0; i < n && r->file->dialect == MOR_BPMD_PAPER; i++) { /* its point is that on the first body */
        mor_bpmd_contact* c = &f->contacts[i];
        c->point[1] = mor_add(c->point[0], mor_scale(c->gap, c->normal));
    }
    read_friction(r, n);
    if (optional(r, "contacts/restitution", NULL, n))
        for (size_t i = 0; i < n; i++) {
            f->contacts[i].restitution = t[i];
            if (!(t[i] >= 0.0 && t[i] <= 1.0)) mor_bpmd_complain(r, i, "restitution is between 0 and 1");
        }
    for (size_t i = 0; i < n; i++) f->contacts[i].epsilon = -1.0, f->contacts[i].recovery = INFINITY;
    if (!r->code && mor_bpmd_find(r, "contacts/recovery", NULL) &&
        mor_bpmd_numbers(r, "contacts/recovery", NULL, n, true))
        for (size_t i = 0; i < n; i++) f->contacts[i].recovery = t[i];
    if (optional(r, "contacts/epsilon", NULL, n))
        for (size_t i = 0; i < n; i++) f->contacts[i].epsilon = t[i];
    if (optional(r, "contacts/surface_velocities", NULL, 3 * n))
        for (size_t i = 0; i < n; i++) f->contacts[i].surface_velocity = vec(t + 3 * i);
    if (optional(r, "contacts/guess", NULL, 3 * n))
        for (size_t i = 0; i < n; i++) memcpy(f->contacts[i].guess, t + 3 * i, sizeof f->contacts[i].guess);
    if (r->file->dialect == MOR_BPMD_MOREAU) read_own_contacts(r, n);
}
