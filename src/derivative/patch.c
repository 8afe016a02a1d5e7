/* Three or more contacts of the same two bodies that all stick hold these bodies to each other, six equations however
 * many points: u = T t, with t the motion of one body against the other at the middle of the points, T (3 m x 6).
 *
 * Where the points have one normal n and lie in one plane, and nothing moves between the two bodies (rest, or a motion
 * together), the change of u at fixed nu+ is that of the gaps, and it lies in the range of T: a motion (s, r) of one
 * body against the other gives
 *
 *     t = (n n.s, r - n n.r)/h,    and what the motion at fixed nu+ itself changes of the velocities.
 *
 * Points that wander on the bodies, normals that turn and loads that shift do nothing then: there is no velocity for
 * them to act on, and the six impulses are free. So neither the geometry of the single contacts nor their differences
 * are needed. */
#include "derivative/patch.h"

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "linalg/dense.h"

#include <string.h>

#define STILL 1e-8 /* m/s: relative velocities below do not tell */
#define FLAT 1e-9  /* of the arms, and of normals */

static bool sticks(const mor_derivation* d, const mor_law* laws, int k)
{
    return d->kept[k].contact >= 0 && d->kept[k].dim == 3 && laws[k].phase == MOR_PHASE_STICK && !laws[k].weak &&
           laws[k].A_p[0] == 0.0; /* not the convex law, which yields */
}

int mor_patch_end(const mor_derivation* d, const mor_law* laws, int first, int last)
{
    const mor_contact* contacts = d->base->contacts.data;
    int k = first;
    if (!sticks(d, laws, first)) return first + 1;
    const mor_contact* a = &contacts[d->kept[first].contact];
    for (; k < last && d->kept[k].island == d->kept[first].island && sticks(d, laws, k); k++) {
        const mor_contact* b = &contacts[d->kept[k].contact];
        if (b->body[0] != a->body[0] || b->body[1] != a->body[1]) break;
    }
    return k;
}

static mor_vec3 middle(const mor_contact* c) { return mor_lerp(c->point[0], c->point[1], 0.5); }

bool mor_patch_make(mor_derivation* d, int first, int last, mor_patch* b)
{
    const mor_contact* contacts = d->base->contacts.data;
    int m = 3 * (last - first);
    double full[36] = { 0 };
    *b = (mor_patch){ .first = first, .last = last, .normal = contacts[d->kept[first].contact].normal };
    for (int k = first; k < last; k++)
        b->at = mor_madd(b->at, 1.0 / (last - first), middle(&contacts[d->kept[k].contact]));
    for (int k = first; k < last; k++)
        b->length = mor_max(b->length, mor_norm(mor_sub(contacts[d->kept[k].contact].point[0], b->at)));
    b->T = mor_arena_alloc(d->arena, 6 * (size_t)m * sizeof *b->T);
    b->project = mor_arena_alloc(d->arena, 6 * (size_t)m * sizeof *b->project);
    if (!b->T || !b->project || !(b->length > 0.0)) return false;
    for (int k = first; k < last; k++) {
        const mor_contact* c = &contacts[d->kept[k].contact];
        mor_vec3 way[3] = { c->normal }, arm = mor_scale(1.0 / b->length, mor_sub(middle(c), b->at));
        mor_contact_tangents(d->base->w, c, &way[1], &way[2]);
        for (int r = 0; r < 3; r++) {
            mor_vec3 turn = mor_cross(arm, way[r]);
            const double row[6] = { way[r].x, way[r].y, way[r].z, turn.x, turn.y, turn.z };
            for (int i = 0; i < 6; i++) b->T[3 * (k - first) + r + i * m] = row[i];
            for (int i = 0; i < 6; i++)
                for (int j = 0; j <= i; j++) full[6 * i + j] += row[i] * row[j];
        }
    }
    for (int i = 0; i < 6; i++)
        for (int j = i + 1; j < 6; j++) full[6 * i + j] = full[6 * j + i];
    if (!mor_cholesky6(full, b->L)) return false;
    for (int i = 0; i < 6; i++)
        if (!(b->L[7 * i] * b->L[7 * i] > 1e-6)) return false;
    return true;
}

const double* mor_patch_projector(mor_patch* b)
{
    int m = 3 * (b->last - b->first);
    for (int r = 0; r < m && !b->projects; r++) {
        double* column = b->project + 6 * r;
        for (int i = 0; i < 6; i++) column[i] = b->T[r + i * m];
        mor_cholesky6_solve(b->L, column);
    }
    b->projects = true;
    return b->project;
}

void mor_patch_project(mor_patch* b, const double* from, double* u, bool* torn)
{
    int m = 3 * (b->last - b->first);
    double any = 0.0, left = 0.0;
    for (int r = 0; r < m; r++) any = mor_max(any, fabs(from[r]));
    memset(u, 0, 6 * sizeof *u);
    if (any == 0.0) return;
    const double* project = mor_patch_projector(b);
    for (int r = 0; r < m; r++)
        for (int i = 0; i < 6; i++) u[i] += project[6 * r + i] * from[r];
    for (int r = 0; r < m; r++) {
        double rest = from[r];
        for (int i = 0; i < 6; i++) rest -= b->T[r + i * m] * u[i];
        left = mor_max(left, fabs(rest));
    }
    if (left > MOR_TORN * mor_max(any, 1.0)) *torn = true;
}

/* One normal, one plane, and no motion between the bodies. */
static bool is_still(const mor_derivation* d, const mor_patch* b)
{
    const mor_contact* contacts = d->base->contacts.data;
    for (int k = b->first; k < b->last; k++) {
        const mor_contact* c = &contacts[d->kept[k].contact];
        const mor_system* s = &d->base->islands[d->kept[k].island].system;
        mor_vec3 off = mor_sub(c->normal, b->normal);
        if (d->anchored && d->anchored[d->kept[k].contact]) return false;
        if (d->kept[k].clipped != d->kept[b->first].clipped || mor_norm(c->surface_velocity) > 0.0) return false;
        if (mor_norm(off) > FLAT || fabs(mor_dot(mor_sub(middle(c), b->at), b->normal)) > FLAT * b->length)
            return false;
        if (!d->kept[k].clipped && fabs(s->contacts[d->kept[k].block].gap) > STILL * s->h) return false;
        if (d->kept[k].clipped && s->contacts[d->kept[k].block].recovery > STILL) return false;
    }
    return true;
}

mor_code mor_patches_find(mor_derivation* d, const mor_law* laws)
{
    size_t count = (size_t)d->kept_count + 1;
    d->patches = mor_arena_zero(d->arena, count, sizeof *d->patches);
    d->patch_of = mor_arena_alloc(d->arena, count * sizeof *d->patch_of);
    d->patch_laws = laws;
    d->patch_count = 0;
    if (!d->patches || !d->patch_of) return MOR_SYSTEM;
    for (int k = 0, end; k < d->kept_count; k = end) {
        mor_patch* b = &d->patches[d->patch_count];
        end = mor_patch_end(d, laws, k, d->kept_count);
        bool is = end - k >= 3 && mor_patch_make(d, k, end, b);
        if (!is) end = k + 1;
        for (int i = k; i < end; i++) d->patch_of[i] = is ? d->patch_count : -1;
        if (!is) continue;
        b->still = !d->side && is_still(d, b);
        d->patch_count++;
    }
    return MOR_OK;
}
