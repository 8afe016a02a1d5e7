/* Columns as central differences of looks (look.h): V, u, mu and the end along a direction, and the end by nu+. */
#include "derivative/look.h"

#include "collision/pair_table.h"
#include "derivative/touch.h"

#include <string.h>

#define LONG 1000.0 /* of the short length: 1e-3 of the size */
#define BENT 1e-3   /* what differences over a length and half of it may differ by */

/* Does a kept contact have a normal that is iterated, and known to 1e-8 (touch.h)? */
static bool is_rough(const mor_derivation* d)
{
    const mor_world* w = d->base->w;
    bool rough = false, swap;
    for (int k = 0; k < d->kept_count && !rough; k++) {
        if (d->kept[k].contact < 0) continue;
        const mor_contact* c = (const mor_contact*)d->base->contacts.data + d->kept[k].contact;
        const mor_geometry* shape[2] = { NULL, NULL };
        for (int side = 0; side < 2; side++) {
            const mor_body* b = &w->bodies[w->order[c->body[side]]];
            if (c->shape[side] >= 0 && c->shape[side] < b->shape_count)
                shape[side] = b->shapes[c->shape[side]].geometry;
        }
        if (shape[0] && shape[1]) rough = mor_touch_iterates(mor_library_pair(w->library, shape[0], shape[1], &swap));
    }
    return rough;
}

/* V and u again, from two long lengths where these agree. */
static mor_code look_far(mor_derivation* d, int direction, mor_look* a, mor_look* b, double* V, double* u,
                         mor_error* error)
{
    size_t mark = mor_arena_mark(d->arena), count = (size_t)(d->dof + d->rows);
    double *D = mor_arena_alloc(d->arena, (2 * count + 1) * sizeof *D), step = LONG * mor_perturbation(d, direction);
    mor_code code = D ? MOR_OK : MOR_SYSTEM;
    bool lost = false;
    for (int k = 0; k < 2 && !code && !lost; k++, step *= 0.5) {
        code = mor_look_at(d, direction, step, a, error);
        if (!code) code = mor_look_at(d, direction, -step, b, error);
        lost = a->lost || b->lost;
        double* to = D + (size_t)k * count;
        for (int i = 0; i < d->dof && !code; i++) to[i] = (a->V[i] - b->V[i]) / (2.0 * step);
        for (int i = 0; i < d->rows && !code; i++) to[d->dof + i] = (a->u[i] - b->u[i]) / (2.0 * step);
    }
    for (size_t i = 0; i < count && !code && !lost; i++) {
        double fine = D[count + i], off = fine - D[i];
        if (fabs(off) > BENT * (1.0 + fabs(fine))) continue;
        *(i < (size_t)d->dof ? &V[i] : &u[i - (size_t)d->dof]) = fine + off / 3.0;
    }
    mor_arena_release(d->arena, mark);
    return code;
}

mor_code mor_look_columns(mor_derivation* d, int direction, mor_look* a, mor_look* b, mor_columns* c, bool* lost,
                          mor_error* error)
{
    double step = mor_perturbation(d, direction);
    if (d->one_sided) step *= d->side;
    mor_code code = mor_look_at(d, direction, step, a, error);
    if (!code && d->one_sided) code = mor_look_at(d, -1, 0.0, b, error);
    else if (!code) code = mor_look_at(d, direction, -step, b, error);
    if (code) return code;
    *lost = *lost || a->lost || b->lost;
    double by = d->one_sided ? step : 2.0 * step, *V = c->V + (size_t)direction * d->dof,
           *u = c->u + (size_t)direction * d->rows;
    for (int i = 0; i < d->dof; i++) V[i] = (a->V[i] - b->V[i]) / by;
    for (int i = 0; i < d->rows; i++) u[i] = (a->u[i] - b->u[i]) / by;
    for (int i = 0; i < d->kept_count; i++) c->mu[(size_t)direction * d->kept_count + i] = (a->mu[i] - b->mu[i]) / by;
    mor_look_difference(d, a, b, by, c->end + (size_t)direction * 2 * d->n);
    bool far = direction < d->n && !d->one_sided && !d->projecting && is_rough(d);
    return far ? look_far(d, direction, a, b, V, u, error) : MOR_OK;
}

/* end += E_nu dnu+, column by column; E_nu by differences over the velocities of all trees. Trees move apart from each
 * other unless joints tie them, so the k-th velocity of all trees is moved at once. */
mor_code mor_look_ends(mor_derivation* d, mor_look* a, mor_look* b, mor_columns* c, mor_error* error)
{
    const mor_world* w = d->base->w;
    bool tied = w->joints.count > 0;
    int widest = 0;
    for (int i = 0; i < w->tree_count; i++) widest = w->trees[i].dof > widest ? w->trees[i].dof : widest;
    size_t mark = mor_arena_mark(d->arena);
    double* nu = mor_arena_alloc(d->arena, ((size_t)d->dof + 1) * sizeof *nu);
    double* E = mor_arena_alloc(d->arena, (size_t)(2 * d->n + 1) * sizeof *E);
    int* of =
        mor_arena_alloc(d->arena, ((size_t)d->n + 1) * sizeof *of); /* number of nu -> its velocity in all trees */
    if (!nu || !E || !of) return MOR_SYSTEM;
    for (int i = 0; i < d->n; i++) of[i] = w->trees[d->tree[i]].offset + d->part[i];
    mor_code code = MOR_OK;
    double step = 1e-6;
    for (int m = 0; m < (tied ? d->dof : widest) && !code; m++) {
        for (int side = 0; side < 2 && !code; side++) {
            memcpy(nu, d->nu, (size_t)d->dof * sizeof *nu);
            for (int i = 0; i < w->tree_count; i++)
                for (int k = 0; k < w->trees[i].dof; k++)
                    if ((tied ? w->trees[i].offset : 0) + k == m) nu[w->trees[i].offset + k] += side ? -step : step;
            code = mor_look_at_end(d, nu, side ? b : a, error);
        }
        if (code) break;
        mor_look_difference(d, a, b, 2.0 * step, E);
        for (int j = 0; j < c->count; j++) {
            const double* dV = c->V + (size_t)j * d->dof;
            double* end = c->end + (size_t)j * 2 * d->n;
            for (int i = 0; i < 2 * d->n; i++)
                if (E[i] != 0.0 && d->loaded[d->tree[i % d->n]])
                    end[i] += E[i] * dV[tied ? m : of[i % d->n] - d->part[i % d->n] + m];
        }
    }
    mor_arena_release(d->arena, mark);
    return code;
}
