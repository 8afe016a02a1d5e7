/* Intervals of a fit by least squares (error eq18, optimiser gradient): the runs are drawn again, and each draw is
 * fitted by one step of Gauss and Newton from the best point.
 *
 * With H_r = J_r' J_r and b_r = J_r' e_r of run r there, the least point of the runs drawn is z - (sum H_r)^-1 sum b_r,
 * in the ranges: a value that would leave its range is held at the border and the others are solved again, the worst
 * first. So a parameter that the data do not tell goes through its whole range and takes along those that move with it,
 * as far as its range allows. No point beside the best one need be simulated but those of the differences, which
 * matters where runs fail nearby.
 *
 * A value that the best point has at a border, and that would leave, is pushed there by noise in most draws as well:
 * their scatter says nothing of how well it is known. Such a value is freed of its push, sum b = 0, and goes both ways
 * through as much as its range; what it would have been without the border lies no nearer to the truth (D. W. K.
 * Andrews, Econometrica 68 (2000) 399-405).
 *
 * B. Efron, R. J. Tibshirani, An introduction to the bootstrap (1993), chapter 9. */
#include "base/elementary.h"
#include "lab/calibrate_work.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least point y of a quadratic H, b in the box. */
static void least_in_box(int n, const double* low, const double* high, const double* H, const double* b, double* y)
{
    double held[MOR_CAL_PARAMETERS] = { 0 };
    bool fixed[MOR_CAL_PARAMETERS] = { false };
    for (int round = 0; round <= n; round++) {
        double A[MOR_CAL_PARAMETERS * MOR_CAL_PARAMETERS], most = 0.0;
        int pivot[MOR_CAL_PARAMETERS], worst = -1;
        for (int i = 0; i < n; i++) most = mor_max(most, H[i * n + i]);
        for (int i = 0; i < n; i++) {
            y[i] = fixed[i] ? held[i] : -b[i];
            for (int j = 0; j < n; j++) A[j * n + i] = fixed[i] ? i == j : H[i * n + j];
            A[i * n + i] += 1e-14 * most + 1e-300;
        }
        if (!mor_lu_factor(n, A, pivot)) {
            memset(y, 0, (size_t)n * sizeof *y);
            return;
        }
        mor_lu_solve(n, A, pivot, y);
        double out = 1e-12;
        for (int i = 0; i < n; i++) {
            double beyond = mor_max(low[i] - y[i], y[i] - high[i]);
            if (!fixed[i] && beyond > out) out = beyond, worst = i;
        }
        if (worst < 0) return;
        fixed[worst] = true;
        held[worst] = y[worst] < low[worst] ? low[worst] : high[worst];
    }
}

/* How far values may go from the best point; those that a border holds are freed of their push. */
static void free_held(const mor_cal_work* k, double* b, double* low, double* high)
{
    for (int i = 0; i < k->n; i++) {
        double push = 0.0;
        for (int r = 0; r < k->runs; r++) push += b[r * k->n + i] / k->runs;
        low[i] = -k->z[i], high[i] = 1.0 - k->z[i];
        bool held = (k->z[i] <= 0.0 && push > 0.0) || (k->z[i] >= 1.0 && push < 0.0);
        for (int r = 0; r < k->runs && held; r++) b[r * k->n + i] -= push;
        if (held) low[i] = -1.0, high[i] = 1.0;
    }
}

void mor_cal_draw_linear(mor_cal_work* k, const double* H, double* b, double* all)
{
    int n = k->n, B = k->c->bootstrap;
    double low[MOR_CAL_PARAMETERS], high[MOR_CAL_PARAMETERS];
    free_held(k, b, low, high);
    for (int draw = 0; draw < B; draw++) {
        double sum[MOR_CAL_PARAMETERS * MOR_CAL_PARAMETERS] = { 0 }, slope[MOR_CAL_PARAMETERS] = { 0 };
        for (int i = 0; i < k->runs; i++) {
            int r = (int)(mor_rng_uniform(&k->rng) * k->runs);
            if (r >= k->runs) r = k->runs - 1;
            for (int e = 0; e < n * n; e++) sum[e] += H[r * n * n + e];
            for (int e = 0; e < n; e++) slope[e] += b[r * n + e];
        }
        least_in_box(n, low, high, sum, slope, all + draw * n);
    }
}

/* Quantiles of the draws, as wide as few runs and several values ask for, and correlations. */
static bool take_draws(mor_cal_work* k, const double* all, double* one, mor_cal_result* r)
{
    int n = k->n, B = k->c->bootstrap;
    double deviation[MOR_CAL_PARAMETERS], alone, together;
    if (!mor_cal_widths(k, all, &alone, &together)) return false;
    mor_cal_correlate(k, all, r, deviation);
    for (int i = 0; i < n; i++) {
        for (int d = 0; d < B; d++) one[d] = all[d * n + i];
        qsort(one, (size_t)B, sizeof *one, mor_cal_ascending);
        double spread = 1.96 * deviation[i];
        double below = mor_max(-mor_cal_quantile(one, B, 0.025), spread),
               above = mor_max(mor_cal_quantile(one, B, 0.975), spread);
        mor_cal_set_interval(k, r, i, below, above, alone, together);
    }
    return true;
}

mor_code mor_cal_linear_intervals(mor_cal_work* k, mor_cal_result* r, bool* done, mor_error* error)
{
    size_t n = (size_t)k->n, runs = (size_t)k->runs, draws = (size_t)k->c->bootstrap;
    double* room = calloc(runs * (n * n + n) + draws * (n + 1) + 1, sizeof *room);
    *done = false;
    if (!room) return mor_fail(error, MOR_SYSTEM, "out of memory");
    double *H = room, *b = H + runs * n * n, *all = b + runs * n, *one = all + draws * n;
    mor_code code = mor_cal_linearise_runs(k->c, k->method, k->z, H, b, error);
    if (!code) {
        mor_cal_draw_linear(k, H, b, all);
        *done = take_draws(k, all, one, r);
        if (!*done) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    } else if (code != MOR_SYSTEM && code != MOR_BAD_INPUT) {
        *error = (mor_error){ 0 }, code = MOR_OK; /* a run beside the best point fails: the quadratics of the errors */
    }
    free(room);
    return code;
}
