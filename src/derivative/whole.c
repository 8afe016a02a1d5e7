/* Columns as differences of whole steps.
 *
 * A few steps are not the equations of look.h: an impact with restitution splits the step where the contact closes, the
 * stabilisation of joints solves the step again until they are closed, energy that a mechanism gained is taken out.
 * They are smooth between their switches, and each of them has a length over which differences tell. Along a direction,
 * with D_k the central difference over l_k = l_0 / 2^k,
 *
 *     R_k = (4 D_k+1 - D_k) / 3,    T_k = (16 R_k+1 - R_k) / 15,    error |T_k - R_k+1|
 *
 * until the error does not fall any more; the best is taken (Richardson). To one side D_k has errors of order l, and
 * R_k = 2 D_k+1 - D_k, T_k = (4 R_k+1 - R_k) / 3. Iterations that end at a tolerance leave noise, which long lengths
 * drown and extrapolation makes usable. A kink shows in the T of the two sides, which agree where there is a
 * derivative. */
#include "derivative/look.h"

#include "base/elementary.h"
#include "moreau/state.h"
#include "step/stages.h"

#include <string.h>

#define FIRST 512.0  /* of mor_perturbation */
#define ENOUGH 1e-10 /* error, relative to the column: no other length is tried */
#define AGREE 1e-6   /* error that is allowed */
#define KINK 1e-5    /* relative to the column */
enum { LENGTHS = 18, IDLE = 4 };

typedef struct ladder {
    mor_derivation* d;
    mor_look ends[2], here;
    double* D[LENGTHS]; /* central differences, or to one side */
    double* F[LENGTHS]; /* forward differences */
    double* T;
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

/* D and F of one length. */
static mor_code differ(ladder* x, int direction, double l, int k, mor_error* error)
{
    mor_derivation* d = x->d;
    int n = 2 * d->n;
    double *D = x->D[k], *F = x->F[k];
    mor_code code = step_at(d, direction, d->side < 0 ? -l : l, &x->ends[0], error);
    if (!code) mor_look_difference(d, &x->ends[0], &x->here, d->side < 0 ? -l : l, F);
    memcpy(D, F, (size_t)n * sizeof *D);
    if (code || d->side) return code;
    code = step_at(d, direction, -l, &x->ends[1], error);
    if (code) return code;
    mor_look_difference(d, &x->here, &x->ends[1], l, D);
    for (int i = 0; i < n; i++) D[i] = 0.5 * (D[i] + F[i]);
    return MOR_OK;
}

/* The limit of differences to one side over three lengths, each half of the one before. */
static double one_sided(double a, double b, double c) { return (4.0 * (2.0 * c - b) - (2.0 * b - a)) / 3.0; }

/* T of lengths k, k + 1, k + 2: its error, and how far the two sides are apart, both over the size of the column. */
static double extrapolate(const ladder* x, int k, double* T, double* kink)
{
    int n = 2 * x->d->n;
    double p = x->d->side ? 2.0 : 4.0, q = x->d->side ? 4.0 : 16.0, size = 1.0, error = 0.0;
    *kink = 0.0;
    for (int i = 0; i < n; i++) {
        double a = x->D[k][i], b = x->D[k + 1][i], c = x->D[k + 2][i];
        double coarse = (p * b - a) / (p - 1.0), fine = (p * c - b) / (p - 1.0);
        T[i] = (q * fine - coarse) / (q - 1.0);
        size = mor_max(size, fabs(T[i]));
        error = mor_max(error, fabs(T[i] - fine));
        double ahead = one_sided(x->F[k][i], x->F[k + 1][i], x->F[k + 2][i]), both = one_sided(a, b, c);
        *kink = mor_max(*kink, 2.0 * fabs(ahead - both));
    }
    *kink /= size;
    return error / size;
}

/* The column of one direction: the best lengths. */
static mor_code climb(ladder* x, int direction, double* out, bool* agree, mor_error* error)
{
    mor_derivation* d = x->d;
    double least = INFINITY, l = FIRST * mor_perturbation(d, direction), kinked = 0.0;
    mor_code code = MOR_OK;
    for (int k = 0, idle = 0; k < LENGTHS && (least > ENOUGH || kinked > KINK) && idle < IDLE && !code; k++, l *= 0.5) {
        double kink;
        code = differ(x, direction, l, k, error);
        if (code || k < 2) continue;
        double now = extrapolate(x, k - 2, x->T, &kink);
        if (kink > KINK) now += kink; /* curvature of a long length, or there at all of them */
        idle = now < least || least > AGREE ? 0 : idle + 1;
        if (!(now < least)) continue;
        least = now, kinked = kink;
        memcpy(out, x->T, 2 * (size_t)d->n * sizeof *out);
    }
    if (!(least < AGREE) || kinked > KINK) *agree = false;
    return code;
}

static bool of_body(const mor_derivation* d, int column)
{
    mor_input_kind kind = column < 2 * d->n ? MOR_INPUT_FORCE : d->inputs[column - 2 * d->n].kind;
    return kind == MOR_INPUT_MASS || kind == MOR_INPUT_SIZE;
}

static mor_code climb_all(mor_derivation* d, mor_columns* c, bool bodies, bool* agree, mor_error* error)
{
    ladder x = { .d = d };
    size_t n = 2 * (size_t)d->n;
    double* numbers = mor_arena_alloc(d->arena, (2 * LENGTHS + 1) * (n + 1) * sizeof *numbers);
    for (int k = 0; k < LENGTHS && numbers; k++) x.D[k] = numbers + 2 * (size_t)k * (n + 1), x.F[k] = x.D[k] + n + 1;
    if (numbers) x.T = numbers + 2 * LENGTHS * (n + 1);
    bool room = mor_look_create(d, &x.ends[0]) && mor_look_create(d, &x.ends[1]) && mor_look_create(d, &x.here);
    if (!room || !numbers) return MOR_SYSTEM;
    *agree = true;
    mor_code code = step_at(d, -1, 0.0, &x.here, error);
    for (int j = 0; j < c->count && !code; j++)
        if (!bodies || of_body(d, j)) code = climb(&x, j, c->end + (size_t)j * n, agree, error);
    return code;
}

mor_code mor_whole_columns(mor_derivation* d, mor_columns* c, bool* agree, mor_error* error)
{
    return climb_all(d, c, false, agree, error);
}

mor_code mor_whole_inputs(mor_derivation* d, mor_columns* c, bool* agree, mor_error* error)
{
    return climb_all(d, c, true, agree, error);
}
