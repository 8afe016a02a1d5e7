/* Residual-regularised nonsmooth Newton on contact maps (contact_newton.h). */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "solver/contact_newton_parts.h"

enum { SHORTEST = 11, LONGEST_WINDOW = 64 };
/* Bodies at rest have q_N = 0: contacts at the kink count as closed, or loads would spread by one contact per
 * iteration. */
static const double TIE = 1e-14;

static void unscale(const mor_contact_newton* N, const double* r, const double* u, double* z, double* w)
{
    int d = N->d;
    for (int c = 0; c < N->blocks; c++)
        for (int i = 0; i < d; i++) {
            int k = c * d + i, at = N->order[c] * d + i;
            z[at] = N->beta * N->scale[k] * r[k];
            w[at] = N->beta * u[k] / N->scale[k];
        }
}

/* ---------------------------------------------------------------------------- evaluation */

/* |F|^2 at (r, u + p (r - r_c)). */
static double merit(const mor_contact_newton* N, const mor_newton_settings* s, const double* r, const double* u,
                    double* F)
{
    int d = N->d;
    double theta = 0.0, v[5];
    for (int c = 0; c < N->blocks; c++) {
        const double* at = u + c * d;
        if (s->proximal > 0.0) {
            for (int i = 0; i < d; i++) v[i] = at[i] + s->proximal * (r[c * d + i] - s->centre[c * d + i]);
            at = v;
        }
        mor_contact_map_eval(s->map, d, &N->law[c], d == 1 ? s->weight : TIE, r + c * d, at, F + c * d, NULL, NULL);
        for (int i = 0; i < d; i++) theta += F[c * d + i] * F[c * d + i];
    }
    return theta;
}

/* F, A, B and the active blocks. */
static void linearise(mor_contact_newton* N, const mor_newton_settings* s, double parameter)
{
    int d = N->d;
    double v[5];
    N->active_count = 0;
    for (int c = 0; c < N->blocks; c++) {
        const double* at = N->u + c * d;
        if (s->proximal > 0.0) {
            for (int i = 0; i < d; i++) v[i] = at[i] + s->proximal * (N->r[c * d + i] - s->centre[c * d + i]);
            at = v;
        }
        double *A = N->A + (size_t)c * d * d, *B = N->B + (size_t)c * d * d;
        bool on = mor_contact_map_eval(s->map, d, &N->law[c], parameter, N->r + c * d, at, N->F + c * d, A, B);
        /* a pair whose derivative by u vanishes is decided by its own row */
        if (on && d == 1 && fabs(A[0]) < 1e-14 * fabs(B[0])) {
            N->dr[c] = -N->F[c] / B[0];
            on = false;
        } else if (!on)
            for (int i = 0; i < d; i++) N->dr[c * d + i] = -N->r[c * d + i];
        if (!on) {
            memset(A, 0, (size_t)(d * d) * sizeof *A);
            memset(B, 0, (size_t)(d * d) * sizeof *B);
            for (int i = 0; i < d; i++) B[i * d + i] = 1.0;
        }
        N->place[c] = on ? N->active_count : -1;
        if (on) N->active[N->active_count++] = c;
    }
}

/* ------------------------------------------------------------------------------ iteration */

/* u = W r + q */
static void find_velocity(mor_contact_newton* N)
{
    bool zero = true;
    for (int i = 0; i < N->n; i++) zero = zero && N->r[i] == 0.0;
    if (zero) {
        memcpy(N->u, N->q, (size_t)N->n * sizeof *N->u);
        return;
    }
    mor_newton_product(N, N->r, N->u);
    for (int i = 0; i < N->n; i++) N->u[i] += N->q[i];
}

/* The judge's error of the iterate; the best one is kept. */
static double judge(mor_contact_newton* N, mor_context* context, double step)
{
    unscale(N, N->r, N->u, N->z, N->w);
    double error = context->error(context, N->z, N->w);
    if (context->trace) mor_trace_add(context, N->iterations, step, N->z);
    if (error < N->best) {
        N->best = error;
        memcpy(N->answer, N->z, (size_t)N->n * sizeof *N->answer);
    }
    return error;
}

/* True if the proximal subproblem is solved well enough for |F| = size. */
static bool inner_done(const mor_contact_newton* N, const mor_newton_settings* s, double size)
{
    double moved = 0.0;
    for (int i = 0; i < N->n; i++) moved += (N->r[i] - s->centre[i]) * (N->r[i] - s->centre[i]);
    return size <= s->inner * s->proximal * sqrt(moved);
}

/* The step along dr, du: the first of 1, 1/2, ... that is good enough, else the best tried. 0: none is finite. */
static double line_search(mor_contact_newton* N, const mor_newton_settings* s, double limit)
{
    double best = INFINITY, best_t = 1.0, t = 1.0;
    for (int k = 0; k <= SHORTEST; k++, t *= 0.5) {
        for (int i = 0; i < N->n; i++) {
            N->trial[i] = N->r[i] + t * N->dr[i];
            N->trial_u[i] = N->u[i] + t * N->du[i];
        }
        double value = merit(N, s, N->trial, N->trial_u, N->F);
        if (value < best) best = value, best_t = t;
        if (value <= (1.0 - 1e-4 * t) * limit) return t;
    }
    return isfinite(best) ? best_t : 0.0;
}

static void advance(mor_contact_newton* N, double step, bool anew)
{
    for (int i = 0; i < N->n; i++) N->r[i] += step * N->dr[i];
    if (anew) { /* against drift of the sum */
        mor_newton_product(N, N->r, N->u);
        for (int i = 0; i < N->n; i++) N->u[i] += N->q[i];
    } else
        for (int i = 0; i < N->n; i++) N->u[i] += step * N->du[i];
    N->iterations++;
}

mor_newton_end mor_contact_newton_run(mor_contact_newton* N, const mor_newton_settings* s, mor_context* context)
{
    int n = N->n, window = s->window < 1 ? 1 : s->window > LONGEST_WINDOW ? LONGEST_WINDOW : s->window, quiet = 0;
    double history[LONGEST_WINDOW], kappa = 1.0, first = 0.0, least = INFINITY, step = 0.0;
    find_velocity(N);
    for (int it = 0;; it++) {
        double error = judge(N, context, step);
        if (isnan(error)) return MOR_NEWTON_BROKEN;
        if (error <= context->tol) return MOR_NEWTON_SOLVED;
        linearise(N, s, N->d == 1 ? s->weight : TIE);
        double theta = 0.0;
        for (int i = 0; i < n; i++) theta += N->F[i] * N->F[i];
        double size = sqrt(theta);
        if (it == 0) first = size;
        if (!(size > 0.0)) return MOR_NEWTON_STUCK;
        if (s->inner > 0.0 && it > 0 && inner_done(N, s, size)) return MOR_NEWTON_INNER;
        quiet = size < 0.999 * least ? 0 : quiet + 1;
        least = mor_min(least, size);
        if (it >= s->max_iter) return MOR_NEWTON_USED_UP;
        if (s->give_up > 0 && quiet >= s->give_up) return MOR_NEWTON_STUCK;
        if (mor_out_of_time(context)) return MOR_NEWTON_LATE;
        history[it % window] = theta;

        if (!mor_newton_direction(N, s, mor_max(s->floor, kappa * s->sigma * size / first))) return MOR_NEWTON_BROKEN;
        mor_newton_product(N, N->dr, N->du);
        double limit = 0.0;
        for (int k = 0; k <= it && k < window; k++) limit = mor_max(limit, history[k]);
        step = line_search(N, s, limit);
        if (!(step > 0.0)) return MOR_NEWTON_BROKEN;
        advance(N, step, it % 8 == 7 || N->free_product);
        if (!s->adapt) continue;
        if (step == 1.0) kappa *= 0.5;
        else if (step < 0.25) kappa = mor_min(1.0, 10.0 * kappa);
    }
}

mor_status mor_newton_status(mor_newton_end end)
{
    switch (end) {
    case MOR_NEWTON_SOLVED:
        return MOR_SOLVED;
    case MOR_NEWTON_LATE:
        return MOR_TIME_LIMIT;
    case MOR_NEWTON_BROKEN:
        return MOR_NUMERICAL;
    default:
        return MOR_NOT_CONVERGED;
    }
}
