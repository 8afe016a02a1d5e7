/* Columns as central differences of looks (look.h): V, u, mu and the end along a direction, and the end by nu+. */
#include "derivative/look.h"

#include <string.h>

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
    return MOR_OK;
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
