/* The position projection (step/project.c) in the derivative of a step.
 *
 * With `gap_correction: projection` a step that ends with an overlap moves the bodies, pass by pass:
 *
 *     dq = M^-1 G p,    0 <= p _|_ psi + G' dq >= 0,    phi + G' dq = 0,    z <- T(z, dq)
 *
 * It is a frictionless step problem, so the same theorem holds. Along a direction dz, with dV the change of M^-1 G p
 * and du_0 that of psi + G' dq while p and dq are held, the contacts with p > 0 have
 *
 *     W d(p) = -(du_0 + G' dV),    d(dq) = dV + M^-1 G d(p),    dz <- T_z dz + T_dq d(dq).
 *
 * A pass looks at the islands one by one, with the looks of the step (look.h). Where nothing is deep, nothing is done:
 * the price is the end of the base step and one search for contacts. */
#include "derivative/projection.h"

#include "base/elementary.h"
#include "derivative/active.h"
#include "formulation/assemble.h"
#include "formulation/rows.h"
#include "moreau/state.h"
#include "step/stages.h"

#include <string.h>

#define EDGE 1e-11 /* m: the answer of a pass tells no less */
#define SAME 1e-7  /* m, rad, m/s */
#define DEEP 1e-4  /* of the smaller shape: where the projection begins to act, as in step/project.c */

typedef struct watch {
    mor_derivation* d;
    mor_columns* c;
    mor_projection_answer* out;
    mor_error* error;
} watch;

/* The rows of the island that act; weak ones count as open. */
static mor_code keep_rows(mor_derivation* d, int island, const double* p, const double* dq, mor_law* laws, bool* weak)
{
    const mor_island* it = &d->base->islands[island];
    const mor_system* s = &it->system;
    double* bias = mor_arena_zero(d->arena, (size_t)s->row_count + 1, sizeof *bias);
    bool* counts = mor_arena_zero(d->arena, (size_t)s->block_count + 1, sizeof *counts);
    if (!bias || !counts) return MOR_SYSTEM;
    mor_projection_bias(it, bias, counts);
    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        if (!counts[i]) continue;
        mor_law law = { .margin = INFINITY, .phase = MOR_PHASE_STICK };
        for (int r = 0; r < b->dim && b->dim <= 3; r++) law.A_u[r * b->dim + r] = 1.0;
        if (b->kind != MOR_BLOCK_EQUATION) {
            double u = bias[b->row], closed = s->diagonal[s->diagonal_start[i]] * fabs(p[b->row]);
            for (int e = b->entry; e < b->entry + b->entry_count; e++) {
                const mor_tree_block* t = &s->trees[s->entries[e].tree];
                for (int m = 0; m < t->dof; m++) u += s->jacobian[s->entries[e].start + m] * dq[t->offset + m];
            }
            if (closed < EDGE && fabs(u) < EDGE) *weak = true;
            if (closed <= fabs(u) || closed < EDGE) continue;
        }
        bool contact = i < s->contact_count;
        d->kept[d->kept_count] = (mor_kept){ .island = island, .block = i, .row = d->rows, .dim = b->dim };
        d->kept[d->kept_count].contact = contact ? s->contacts[i].contact : -1;
        d->kept[d->kept_count].sticks = contact; /* carried along where it is not found */
        if (!contact) d->kept[d->kept_count].key = mor_memory_key(d->trial, it->rows[i - s->contact_count]->memory);
        memcpy(d->p + d->rows, p + b->row, (size_t)b->dim * sizeof(double));
        laws[d->kept_count++] = law;
        d->rows += b->dim;
    }
    return MOR_OK;
}

/* A derivation of the pass: dq in place of velocities. */
static mor_code begin(const watch* w, mor_step* beside, int island, const double* p, const double* dq,
                      mor_derivation* d, mor_law** laws)
{
    const mor_island* it = &beside->islands[island];
    const mor_world* world = beside->w;
    size_t blocks = (size_t)it->system.block_count + 1, rows = (size_t)it->system.row_count + 1;
    *d = *w->d;
    d->base = beside;
    d->projecting = true;
    d->input_count = d->kept_count = d->rows = d->patch_count = 0;
    d->patches = NULL, d->patch_of = NULL, d->patch_laws = NULL;
    d->kept = mor_arena_zero(d->arena, blocks, sizeof *d->kept);
    d->p = mor_arena_zero(d->arena, rows, sizeof(double));
    d->bias_shift = mor_arena_zero(d->arena, rows, sizeof(double));
    d->loaded = mor_arena_zero(d->arena, (size_t)world->tree_count + 1, sizeof *d->loaded);
    d->nu = mor_arena_zero(d->arena, (size_t)d->dof + 1, sizeof(double));
    *laws = mor_arena_zero(d->arena, blocks, sizeof **laws);
    if (!d->kept || !d->p || !d->bias_shift || !d->loaded || !d->nu || !*laws) return MOR_SYSTEM;
    for (int t = 0; t < it->system.tree_count; t++) {
        const mor_tree* tree = &world->trees[it->tree_of[t]];
        d->loaded[it->tree_of[t]] = true;
        memcpy(d->nu + tree->offset, dq + it->system.trees[t].offset, (size_t)tree->dof * sizeof(double));
    }
    return keep_rows(d, island, p, dq, *laws, &w->out->weak);
}

/* end := P end, where P has its own columns for the numbers of trees in the island and is the identity elsewhere. */
static mor_code apply(const mor_derivation* d, const int* number, int count, const mor_columns* P, mor_columns* c)
{
    int n = d->n;
    double* was = mor_arena_alloc(d->arena, ((size_t)count + 1) * sizeof *was);
    if (!was) return MOR_SYSTEM;
    for (int j = 0; j < c->count; j++) {
        double* end = c->end + (size_t)j * 2 * n;
        for (int k = 0; k < count; k++) was[k] = end[number[k]], end[number[k]] = 0.0;
        for (int k = 0; k < count; k++)
            for (int i = 0; i < count && was[k] != 0.0; i++)
                end[number[i]] += P->end[(size_t)k * 2 * n + number[i]] * was[k];
    }
    return MOR_OK;
}

/* Columns of the pass for the numbers of the island's trees. */
static mor_code fill(mor_derivation* d, const mor_law* laws, const int* number, int count, mor_columns* P, bool* lost,
                     mor_error* error)
{
    mor_look a, b;
    size_t all = 2 * (size_t)d->n;
    mor_columns one = { .count = 1 };
    P->V = mor_arena_zero(d->arena, (size_t)count * d->dof + 1, sizeof(double));
    P->u = mor_arena_zero(d->arena, (size_t)count * d->rows + 1, sizeof(double));
    P->mu = mor_arena_zero(d->arena, (size_t)count * d->kept_count + 1, sizeof(double));
    P->end = mor_arena_zero(d->arena, (size_t)count * all + 1, sizeof(double));
    one.V = mor_arena_zero(d->arena, all * d->dof + 1, sizeof(double));
    one.u = mor_arena_zero(d->arena, all * d->rows + 1, sizeof(double));
    one.mu = mor_arena_zero(d->arena, all * d->kept_count + 1, sizeof(double));
    one.end = mor_arena_zero(d->arena, all * all + 1, sizeof(double));
    bool room = P->V && P->u && P->mu && P->end && one.V && one.u && one.mu && one.end;
    if (!room || !mor_look_create(d, &a) || !mor_look_create(d, &b)) return MOR_SYSTEM;
    mor_code code = MOR_OK;
    for (int k = 0; k < count && !code; k++) {
        int j = number[k];
        code = mor_look_columns(d, j, &a, &b, &one, lost, error);
        memcpy(P->V + (size_t)k * d->dof, one.V + (size_t)j * d->dof, (size_t)d->dof * sizeof(double));
        memcpy(P->u + (size_t)k * d->rows, one.u + (size_t)j * d->rows, (size_t)d->rows * sizeof(double));
        memcpy(P->end + (size_t)k * all, one.end + (size_t)j * all, all * sizeof(double));
    }
    if (!code && d->kept_count) code = mor_active_solve(d, laws, 0, d->kept_count, P);
    if (!code) code = mor_look_ends(d, &a, &b, P, error);
    return code;
}

static mor_code moves(void* user, mor_step* beside, int island, const double* p, const double* dq)
{
    const watch* w = user;
    mor_derivation d;
    mor_law* laws;
    size_t mark = mor_arena_mark(w->d->arena);
    mor_code code = begin(w, beside, island, p, dq, &d, &laws);
    int count = 0, *number = code ? NULL : mor_arena_alloc(d.arena, (2 * (size_t)d.n + 1) * sizeof *number);
    if (!number) return MOR_SYSTEM;
    for (int j = 0; j < 2 * d.n; j++)
        if (d.loaded[d.tree[j % d.n]]) number[count++] = j;
    mor_columns P = { .count = count, .own = true };
    code = fill(&d, laws, number, count, &P, &w->out->lost, w->error);
    if (!code) code = apply(&d, number, count, &P, w->c);
    w->out->islands++;
    mor_arena_release(w->d->arena, mark);
    return code;
}

/* Does the base step end where looks at it do? What the derivative does not know of would show here. */
static mor_code compare_ends(const mor_derivation* d, bool* same, mor_error* error)
{
    mor_look end;
    if (!d->end_q) return MOR_OK;
    if (!mor_look_create(d, &end)) return MOR_SYSTEM;
    int count = mor_world_q_count(d->world);
    mor_code code = mor_world_get_q(d->base->w, end.q, count, error);
    if (!code) code = mor_world_get_nu(d->base->w, end.nu, d->n, error);
    for (int i = 0; i < count && !code; i++) *same = *same && fabs(end.q[i] - d->end_q[i]) < SAME;
    for (int i = 0; i < d->n && !code; i++)
        *same = *same && fabs(end.nu[i] - d->end_nu[i]) < SAME * mor_max(1.0, fabs(end.nu[i]));
    return code;
}

static double distance(const mor_step* k)
{
    const mor_contact* contacts = k->ahead.data;
    double least = INFINITY;
    for (int i = 0; i < k->ahead.count; i++)
        least = mor_min(least, contacts[i].gap + DEEP * mor_contact_size(k->w, &contacts[i]));
    return least;
}

mor_code mor_projection_columns(mor_derivation* d, mor_columns* c, mor_projection_answer* out, mor_error* error)
{
    *out = (mor_projection_answer){ .same = true, .distance = INFINITY };
    watch w = { d, c, out, error };
    const mor_projection_observer observer = { moves, &w };
    mor_code code = d->advanced ? MOR_OK : mor_do_integrate(d->world, d->base, error);
    if (!code) code = mor_do_stabilise(d->world, d->base, error);
    if (!code) code = compare_ends(d, &out->same, error);
    if (!code) code = mor_measure_observed(d->world, d->base, &observer, error);
    if (d->base->cured) out->same = false; /* by however little: by the state it may be much */
    if (!code && !out->islands) out->distance = distance(d->base);
    return code;
}

double mor_projection_distance(const mor_step* k)
{
    return !k || !k->found_ahead || k->projected ? -1.0 : mor_max(0.0, distance(k));
}
