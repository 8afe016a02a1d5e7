/* r_{k+1} ~ the solution of the problem with W + alpha I, q - alpha r_k (proximal.h). */
#include "solver/proximal.h"

#include "base/elementary.h"

#include <math.h>
#include <string.h>

mor_newton_end mor_proximal_run(mor_contact_newton* N, const mor_proximal_settings* s, mor_context* context, int* outer)
{
    int n = N->n;
    size_t mark = mor_arena_mark(N->arena);
    double* centre = mor_arena_alloc(N->arena, 3 * (size_t)n * sizeof *centre);
    if (!centre) return MOR_NEWTON_BROKEN;
    double *before = centre + n, alpha = s->alpha, shrink = s->shrink, theta = 0.5, last = INFINITY;
    mor_newton_end end = MOR_NEWTON_USED_UP;
    int start = N->iterations;
    memcpy(centre, N->r, (size_t)n * sizeof *centre);
    for (*outer = 0; *outer < s->max_outer && N->iterations - start < s->inner_total; ++*outer) {
        mor_newton_settings inner = { .map = s->map,
                                      .floor = 1e-14,
                                      .window = 8,
                                      .proximal = alpha,
                                      .centre = centre,
                                      .inner = 0.1,
                                      .max_iter = s->max_inner,
                                      .give_up = s->extrapolate ? 20 : 0 };
        memcpy(before, N->r, (size_t)n * sizeof *before);
        end = mor_contact_newton_run(N, &inner, context);
        if (end == MOR_NEWTON_SOLVED || end == MOR_NEWTON_LATE) break;
        if (end != MOR_NEWTON_INNER) { /* failed: a stronger pull, from the same centre */
            alpha = mor_min(s->alpha * 10.0, alpha * s->grow);
            if (s->extrapolate) shrink = sqrt(shrink);
            memcpy(N->r, centre, (size_t)n * sizeof *N->r);
            theta = 0.5;
            continue;
        }
        double moved = 0.0;
        for (int i = 0; i < n; i++) moved += (N->r[i] - centre[i]) * (N->r[i] - centre[i]);
        double error = alpha * sqrt(moved);
        if (s->extrapolate) {
            theta = error < last ? mor_min(64.0, 2.0 * theta) : 0.5;
            for (int i = 0; i < n; i++) {
                double r = N->r[i], c = centre[i];
                centre[i] = alpha <= s->least ? r + theta * (r - c) : r;
            }
        } else memcpy(centre, N->r, (size_t)n * sizeof *centre);
        last = error;
        alpha = mor_max(s->least, alpha * shrink);
    }
    mor_arena_release(N->arena, mark);
    return end == MOR_NEWTON_INNER ? MOR_NEWTON_USED_UP : end;
}
