/* Open intervals of separating planes within a step, and how long they cover it.
 *
 * Row i of plane k moves by the linear model psi_ki(t) = psi_ki + t w_i, w = G_n' nu + d(psi)/dt (the column is the
 * exact derivative, rotation of the normal included). s_k(t) = min_i psi_ki(t) is concave, so plane k is open on one
 * interval:
 *
 *     [0, c_k]    if s_k >= -tol at the start (psi is read as max(psi, 0))
 *     [o_k, c_k]  otherwise: o_k when the last row behind has come to -tol. (What slides over a ridge leaves the side
 *                 of the next piece at the moment its top opens: rounding must not make a wall of that.)
 *     c_k         when the first row reaches 0; never, if no row ends below -tol_end
 *
 * A pair that would collide so may miss the next plane by what the linear model is off, (h^2/2) (w^2 r + 2 w v)
 * (mor_peg_bend): a corner of a polygon that slides over the ridge between two tiles leaves one plane at the moment the
 * next one opens.
 *
 * A pair is covered until the largest t such that [0, t] is a chain of overlapping open intervals beginning with one
 * that is open at 0; the plane that closes last is the one it collides on. Without the chain ("is some plane open at
 * the end?") a fast body tunnels. If nothing is open at 0, only the plane the pair was left on counts, else the one
 * with the largest s_k: a penetrating plane that was never used must not become the way out (a peg 1e-5 too wide would
 * fall in). */
#include "formulation/peg_planes.h"
#include "base/elementary.h"
#include "formulation/step_problem.h"

#include <math.h>
#include <string.h>

#define TOL 1e-9      /* of the size of the smaller body: open */
#define TOL_END 1e-10 /* open at the end of the step */
#define BEND 1e-3     /* most that planes may miss each other by for what the linear model is off */

/* Size of the smaller body of a contact; *particle is the side of a particle, if there is one. */
static double contact_size(const mor_system* s, int contact, int* particle)
{
    double size = HUGE_VAL;
    for (int side = 0; side < 2 && s->geometry; side++) {
        const mor_contact_side* b = &s->geometry[contact].side[side];
        if (!b->shape) continue; /* contacts of a stored frame have no shapes */
        if (b->shape->kind != MOR_PARTICLE) size = mor_min(size, b->shape->radius);
        else if (b->tree >= 0 && !b->link) *particle = side;
    }
    return isfinite(size) ? size : 1.0;
}

static uint32_t plane_number(const mor_system* s, int contact)
{
    if (!s->geometry || s->contacts[contact].group == 0) return 0xffffffffu;
    return (uint32_t)(s->geometry[contact].feature >> 32);
}

static void set_particle(mor_peg* peg, int group, int contact, int side)
{
    peg->groups[group].particle = 1 + peg->s->geometry[contact].side[side].tree;
    peg->groups[group].particle_side = side;
    peg->particles = true;
}

/* Do two contacts act on the same trees? */
static bool same_trees(const mor_system* s, int c, int d)
{
    const mor_block *a = &s->blocks[s->contacts[c].block], *b = &s->blocks[s->contacts[d].block];
    if (a->entry_count != b->entry_count) return false;
    for (int i = 0; i < a->entry_count; i++)
        if (s->entries[a->entry + i].tree != s->entries[b->entry + i].tree) return false;
    return true;
}

bool mor_peg_build(const mor_system* s, mor_arena* arena, mor_peg* peg)
{
    int n = s->contact_count;
    mor_peg_plane* found = mor_arena_alloc(arena, (size_t)n * sizeof *found);
    *peg = (mor_peg){ .s = s };
    peg->planes = mor_arena_alloc(arena, (size_t)n * sizeof *peg->planes);
    peg->groups = mor_arena_alloc(arena, (size_t)n * sizeof *peg->groups);
    peg->speed = mor_arena_alloc(arena, (size_t)n * sizeof *peg->speed);
    int* number = mor_arena_alloc(arena, (size_t)n * sizeof *number); /* the collision stage's number of each group */
    if (!found || !peg->planes || !peg->groups || !peg->speed || !number) return false;
    int planes = 0, groups = 0;
    for (int c = 0; c < n; c++) {
        const mor_contact_row* row = &s->contacts[c];
        const mor_contact_row* before = c ? &s->contacts[c - 1] : NULL;
        if (before && row->group && row->group == before->group && row->plane == before->plane) {
            mor_peg_plane* k = &found[planes - 1];
            k->count++;
            k->s = mor_min(k->s, row->gap);
            continue;
        }
        /* the pieces of a chain come interleaved: look back among the groups of the same trees */
        int g = row->group ? groups - 1 : -1;
        while (g >= 0 && number[g] != row->group) g = same_trees(s, c, peg->groups[g].first) ? g - 1 : -1;
        if (g < 0) {
            g = groups++;
            number[g] = row->group;
            int side = -1;
            double size = contact_size(s, c, &side);
            peg->groups[g] =
                (mor_peg_group){ .tol = TOL * size, .tol_end = TOL_END * size, .first = c, .choice = -1, .last = -1 };
            if (side >= 0 && row->group) set_particle(peg, g, c, side);
        }
        peg->groups[g].count++;
        found[planes++] = (mor_peg_plane){
            .first = c, .count = 1, .group = g, .id = plane_number(s, c), .held = row->held, .s = row->gap
        };
    }
    int at = 0;
    for (int g = 0; g < groups; g++) {
        peg->groups[g].first = at;
        at += peg->groups[g].count;
        peg->groups[g].count = 0;
    }
    for (int k = 0; k < planes; k++) {
        mor_peg_group* g = &peg->groups[found[k].group];
        peg->planes[g->first + g->count++] = found[k];
    }
    peg->plane_count = planes;
    peg->group_count = groups;
    for (int g = 0; g < groups; g++) {
        mor_peg_group* group = &peg->groups[g];
        mor_peg_plane *first = &peg->planes[group->first], *best = first, *held = NULL;
        bool any = false;
        for (mor_peg_plane* k = first; k < first + group->count; k++) {
            k->open = k->s >= -group->tol;
            any = any || k->open;
            if (k->held) held = k;
            if (k->s > best->s) best = k;
        }
        if (!any) (held ? held : best)->open = true;
        if (!any) /* deep: one plane only, no chain to others */
            for (mor_peg_plane* k = first; k < first + group->count; k++) k->tried = !k->open;
    }
    return true;
}

void mor_peg_speeds(mor_peg* peg, const double* nu)
{
    const mor_system* s = peg->s;
    peg->nu = nu;
    for (int c = 0; c < s->contact_count; c++) {
        const mor_block* b = &s->blocks[s->contacts[c].block];
        double w = s->contacts[c].drift[0];
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            const mor_tree_block* t = &s->trees[s->entries[e].tree];
            const double* J = s->jacobian + s->entries[e].start;
            for (int m = 0; m < t->dof; m++) w += J[m] * nu[t->offset + m];
        }
        peg->speed[c] = w;
    }
}

void mor_peg_bias(const mor_peg* peg, double* bias)
{
    const mor_system* s = peg->s;
    mor_bias_drift(s, bias);
    for (int i = 0; i < s->contact_count; i++) {
        const mor_contact_row* c = &s->contacts[i];
        double allowed = -mor_max(c->gap, 0.0) / s->h;
        if (c->restitution > 0.0 && c->approach < -s->v_rest && peg->speed[i] < allowed)
            allowed = mor_max(allowed, -c->restitution * c->approach);
        bias[s->blocks[c->block].row] -= allowed;
    }
}

double mor_peg_end_gap(const mor_peg* peg, const mor_peg_plane* k)
{
    double least = HUGE_VAL;
    for (int c = k->first; c < k->first + k->count; c++)
        least = mor_min(least, mor_max(peg->s->contacts[c].gap, 0.0) + peg->s->h * peg->speed[c]);
    return least;
}

double mor_peg_bend(const mor_peg* peg, const mor_peg_group* g)
{
    const mor_system* s = peg->s;
    const mor_peg_plane* first = &peg->planes[g->first];
    if (!s->geometry || first->id == MOR_NO_PLANE) return 0.0;
    const mor_contact_geometry* c = &s->geometry[first->first];
    double spin = 0.0, arm = 0.0;
    mor_vec3 v = mor_v3(0, 0, 0);
    for (int side = 0; side < 2; side++) {
        const mor_contact_side* b = &c->side[side];
        if (b->fixed) continue;
        mor_vec3 x = mor_sub(c->point[side], b->x), w = b->w, u = b->v;
        if (b->tree >= 0 && !b->link && peg->nu) {
            const mor_tree_block* t = &s->trees[b->tree];
            const double* nu = peg->nu + t->offset;
            u = mor_v3(nu[0], nu[1], s->dimension == 3 ? nu[2] : 0.0);
            w = s->dimension == 3 ? mor_v3(nu[3], nu[4], nu[5]) : mor_v3(0, 0, t->dof == 3 ? nu[2] : 0.0);
        }
        spin += mor_norm(w);
        arm += b->shape ? mor_norm(x) + b->shape->radius : mor_norm(x);
        u = mor_add(u, mor_cross(w, x));
        v = side ? mor_add(v, u) : mor_sub(v, u);
    }
    return mor_min(BEND / TOL * g->tol, 0.5 * s->h * s->h * spin * (spin * arm + 2.0 * mor_norm(v)));
}

static void interval(const mor_peg* peg, const mor_peg_group* g, mor_peg_plane* k, double slack)
{
    const double h = peg->s->h;
    k->opens = k->shut ? HUGE_VAL : 0.0;
    k->closes = HUGE_VAL;
    for (int c = k->first; c < k->first + k->count; c++) {
        double psi = peg->s->contacts[c].gap, w = peg->speed[c];
        if (k->open) psi = mor_max(psi, 0.0);
        else if (psi < -g->tol - slack) k->opens = w > 0.0 ? mor_max(k->opens, (-psi - g->tol - slack) / w) : HUGE_VAL;
        if (w < 0.0 && psi + h * w < -g->tol_end) k->closes = mor_min(k->closes, mor_max(psi, 0.0) / -w);
    }
}

/* Do two planes close together? Those of a particle also when it is within the tolerance of the one when the other
 * closes: it flies into the corner between them, and rounding must not say on which side of it. */
static bool close_together(const mor_peg* peg, const mor_peg_group* g, const mor_peg_plane* a, const mor_peg_plane* b)
{
    if (a->closes == b->closes) return true;
    if (!g->particle || !(a->closes < HUGE_VAL) || !(b->closes < HUGE_VAL)) return false;
    const mor_peg_plane* later = a->closes > b->closes ? a : b;
    return fabs(a->closes - b->closes) * fabs(peg->speed[later->first]) <= 10.0 * g->tol;
}

/* The plane that ends the chain of open intervals that begins with `last`. */
static mor_peg_plane* chain_end(const mor_peg* peg, const mor_peg_group* g, mor_peg_plane* last)
{
    mor_peg_plane *first = &peg->planes[g->first], *end = first + g->count;
    for (bool grown = true; grown && last->closes < peg->s->h;) {
        mor_peg_plane* next = last;
        for (mor_peg_plane* k = first; k < end; k++)
            if (!k->open && k->opens <= last->closes && k->closes > next->closes) next = k;
        grown = next != last;
        last = next;
    }
    return last;
}

void mor_peg_cover(mor_peg* peg, int group)
{
    mor_peg_group* g = &peg->groups[group];
    mor_peg_plane *first = &peg->planes[g->first], *end = first + g->count, *last = NULL;
    bool deep = true;
    for (mor_peg_plane* k = first; k < end; k++) {
        interval(peg, g, k, 0.0);
        deep = deep && (k->s < -g->tol);
        if (!k->open) continue;
        bool better = !last || k->closes > last->closes;
        if (last && close_together(peg, g, k, last)) /* remembered first, then the farther at the end */
            better = k->held || (!last->held && mor_peg_end_gap(peg, k) > mor_peg_end_gap(peg, last));
        if (better) last = k;
    }
    if (!deep) last = chain_end(peg, g, last);
    /* a corner that slides over a ridge: one plane opens as the other closes, but for what the model is off */
    const double slack = deep || g->count == 1 || !(last->closes < peg->s->h) ? 0.0 : mor_peg_bend(peg, g);
    if (slack > 0.0) {
        for (mor_peg_plane* k = first; k < end; k++)
            if (!k->open) interval(peg, g, k, slack);
        mor_peg_plane* farther = chain_end(peg, g, last);
        if (!(farther->closes < peg->s->h)) last = farther;
    }
    g->last = (int)(last - peg->planes);
    g->until = last->closes;
}

double mor_peg_change(const mor_peg* peg, const double* nu)
{
    const mor_system* s = peg->s;
    double sum = 0.0;
    for (int t = 0; t < s->tree_count; t++) {
        const mor_tree_block* b = &s->trees[t];
        for (int i = 0; i < b->dof; i++)
            for (int j = 0; j < b->dof; j++)
                sum += (nu[b->offset + i] - s->nu_free[b->offset + i]) * b->mass[i * b->dof + j] *
                       (nu[b->offset + j] - s->nu_free[b->offset + j]);
    }
    return sum;
}

bool mor_peg_same_rows(const mor_peg* peg, const mor_peg_plane* a, const mor_peg_plane* b)
{
    const mor_system* s = peg->s;
    if (!s->geometry || a->count != b->count) return false;
    double tol = peg->groups[a->group].tol;
    for (int i = a->first; i < a->first + a->count; i++) {
        const mor_contact_geometry* p = &s->geometry[i];
        bool match = false;
        for (int j = b->first; j < b->first + b->count && !match; j++) {
            const mor_contact_geometry* q = &s->geometry[j];
            match = mor_norm(mor_sub(p->point[0], q->point[0])) <= tol &&
                    fabs(s->contacts[i].gap - s->contacts[j].gap) <= tol && mor_dot(p->normal, q->normal) > 1.0 - 1e-12;
        }
        if (!match) return false;
    }
    return true;
}
