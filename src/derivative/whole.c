/* Columns as differences of whole steps.
 *
 * A few steps are not the equations of look.h: an impact with restitution splits the step where the contact closes, the
 * stabilisation of joints solves the step again until they are closed, energy that a mechanism gained is taken out.
 * They are smooth between their switches, and each of them has a length over which differences tell. Along a direction,
 *
 *     D(l) = (z+(l) - z+(-l)) / 2 l,    D = (4 D(l/2) - D(l)) / 3,    error |D(l/2) - D(l)|
 *
 * for l from 1e-4 down by factors of 8 until the error does not fall any more; the best is taken. To one side,
 * D(l) = (z+(l) - z+) / l and D = 2 D(l/2) - D(l). A kink shows in K(l) = |z+(l) - 2 z+ + z+(-l)| / l, which falls with
 * l where there is a derivative. */
#include "derivative/look.h"

#include "base/elementary.h"
#include "moreau/state.h"
#include "step/stages.h"

#include <string.h>

#define FIRST 64.0   /* of mor_perturbation */
#define ENOUGH 1e-10 /* error, relative to the column: no other length is tried */
#define AGREE 1e-6   /* error that is allowed */
#define KINK 1e-5    /* relative to the column */
enum { LENGTHS = 6 };

typedef struct ladder {
    mor_derivation* d;
    mor_look ends[2], here;
    double *D, *half; /* columns of two lengths */
} ladder;

/* The end of the step from the state that lies `amount` along a direction. */
static mor_code step_at(mor_derivation* d, int direction, double amount, mor_look* end, mor_error* error)
{
    size_t mark = mor_arena_mark(d->arena);
    mor_code code = mor_look_begin(d);
    if (!code && !mor_perturb(d, direction, amount)) code = MOR_SYSTEM;
    d->trial->w->solver_options.tol = d->base->w->solver_options.tol;
    d->trial->found_ahead = false;
    if (!code) code = mor_step_run_stages(d->world, d->trial, error);
    if (!code) code = mor_world_get_q(d->trial->w, end->q, mor_world_q_count(d->world), error);
    if (!code) code = mor_world_get_nu(d->trial->w, end->nu, d->n, error);
    mor_perturb_release(d, direction);
    mor_arena_release(d->arena, mark);
    return code;
}

/* D(l), and K(l) over the size of the column. */
static mor_code differ(ladder* x, int direction, double l, double* D, double* kink, mor_error* error)
{
    mor_derivation* d = x->d;
    int n = 2 * d->n;
    mor_code code = step_at(d, direction, d->side < 0 ? -l : l, &x->ends[0], error);
    *kink = 0.0;
    if (d->side) {
        if (!code) mor_look_difference(d, &x->ends[0], &x->here, d->side * l, D);
        return code;
    }
    if (!code) code = step_at(d, direction, -l, &x->ends[1], error);
    if (code) return code;
    double size = 1.0, *other = mor_arena_alloc(d->arena, (size_t)(n + 1) * sizeof *other);
    if (!other) return MOR_SYSTEM;
    mor_look_difference(d, &x->ends[0], &x->here, l, D);
    mor_look_difference(d, &x->here, &x->ends[1], l, other);
    for (int i = 0; i < n; i++) {
        *kink = mor_max(*kink, fabs(D[i] - other[i]));
        D[i] = 0.5 * (D[i] + other[i]);
        size = mor_max(size, fabs(D[i]));
    }
    *kink /= size;
    return MOR_OK;
}

/* The column of one direction: the best length. */
static mor_code climb(ladder* x, int direction, double* out, bool* agree, mor_error* error)
{
    mor_derivation* d = x->d;
    int n = 2 * d->n;
    double least = INFINITY, l = FIRST * mor_perturbation(d, direction), kinked = 0.0;
    mor_code code = MOR_OK;
    for (int k = 0; k < LENGTHS && least > ENOUGH && !code; k++, l /= 8.0) {
        size_t mark = mor_arena_mark(d->arena);
        double kink[2], size = 1.0, error_now = 0.0, weight = d->side ? 1.0 : 1.0 / 3.0;
        code = differ(x, direction, l, x->D, &kink[0], error);
        if (!code) code = differ(x, direction, 0.5 * l, x->half, &kink[1], error);
        mor_arena_release(d->arena, mark);
        for (int i = 0; i < n && !code; i++) {
            size = mor_max(size, fabs(x->half[i]));
            error_now = mor_max(error_now, fabs(x->half[i] - x->D[i]));
        }
        if (code || !(error_now / size < least)) continue;
        least = error_now / size;
        kinked = kink[1] > KINK && kink[1] > 0.75 * kink[0] ? kink[1] : 0.0;
        for (int i = 0; i < n; i++) out[i] = x->half[i] + weight * (x->half[i] - x->D[i]);
    }
    if (!(least < AGREE) || kinked > 0.0) *agree = false;
    return code;
}

mor_code mor_whole_columns(mor_derivation* d, mor_columns* c, bool* agree, mor_error* error)
{
    ladder x = { .d = d };
    size_t n = 2 * (size_t)d->n;
    x.D = mor_arena_alloc(d->arena, (n + 1) * sizeof(double));
    x.half = mor_arena_alloc(d->arena, (n + 1) * sizeof(double));
    bool room = mor_look_create(d, &x.ends[0]) && mor_look_create(d, &x.ends[1]) && mor_look_create(d, &x.here);
    if (!room || !x.D || !x.half) return MOR_SYSTEM;
    *agree = true;
    mor_code code = step_at(d, -1, 0.0, &x.here, error);
    for (int j = 0; j < c->count && !code; j++) code = climb(&x, j, c->end + (size_t)j * n, agree, error);
    return code;
}
