/* Intervals of a fit by least squares (error eq18, optimiser gradient): the runs are drawn again, and each draw is
 * fitted by one step of Gauss and Newton from the best point.
 *
 * With H_r = J_r' J_r and b_r = J_r' e_r of run r there, the least point of the runs drawn is z - (sum H_r)^-1 sum b_r,
 * in the ranges: a value that would leave its range is held at the border and the others are solved again, the worst
 * first. So a parameter that the data do not tell goes through its whole range and takes along those that move with it,
 * as far as its range allows. No point beside the best one need be simulated but those of the differences, which
 * matters where runs fail nearby.
 *
 * B. Efron, R. J. Tibshirani, An introduction to the bootstrap (1993), chapter 9. */
#include "base/elementary.h"
#include "lab/calibrate_work.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least point y about z of a quadratic H, b in the unit cube. */
static void least_in_cube(int n, const double* z, const double* H, const double* b, double* y)
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
            double beyond = mor_max(-z[i] - y[i], y[i] - (1.0 - z[i]));
            if (!fixed[i] && beyond > out) out = beyond, worst = i;
        }
        if (worst < 0) return;
        fixed[worst] = true;
        held[worst] = y[worst] < 0.0 ? -z[worst] : 1.0 - z[worst];
    }
}

static void add_draws(mor_cal_work* k, const double* H, const double* b, double* all)
{
    int n = k->n, B = k->c->bootstrap;
    for (int draw = 0; draw < B; draw++) {
        double sum[MOR_CAL_PARAMETERS * MOR_CAL_PARAMETERS] = { 0 }, slope[MOR_CAL_PARAMETERS] = { 0 };
        for (int i = 0; i < k->runs; i++) {
            int r = (int)(mor_rng_uniform(&k->rng) * k->runs);
            if (r >= k->runs) r = k->runs - 1;
            for (int e = 0; e < n * n; e++) sum[e] += H[r * n * n + e];
            for (int e = 0; e < n; e++) slope[e] += b[r * n + e];
        }
        least_in_cube(n, k->z, sum, slope, all + draw * n);
    }
}

/* Quantiles, widened as Student's t asks for few runs, and correlations of the draws. */
static void take_draws(mor_cal_work* k, const double* all, double* one, mor_cal_result* r)
{
    int n = k->n, B = k->c->bootstrap;
    double few = mor_max(k->runs - 1, 1), t = (1.96 + (7.53 + 1.96) / (4.0 * few)) / 1.96 * sqrt(k->runs / few);
    double mean[MOR_CAL_PARAMETERS] = { 0 }, cov[MOR_CAL_PARAMETERS][MOR_CAL_PARAMETERS] = { { 0 } };
    for (int d = 0; d < B; d++)
        for (int i = 0; i < n; i++) mean[i] += all[d * n + i] / B;
    for (int d = 0; d < B; d++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) cov[i][j] += (all[d * n + i] - mean[i]) * (all[d * n + j] - mean[j]) / B;
    for (int i = 0; i < n; i++) {
        const mor_cal_parameter* p = &k->c->parameters[k->m->parameters[i]];
        for (int d = 0; d < B; d++) one[d] = all[d * n + i];
        qsort(one, (size_t)B, sizeof *one, mor_cal_ascending);
        double low = mor_min(mor_cal_quantile(one, B, 0.025), 0.0),
               high = mor_max(mor_cal_quantile(one, B, 0.975), 0.0);
        double spread = 1.96 * sqrt(cov[i][i]);
        low = k->z[i] - t * mor_max(-low, spread), high = k->z[i] + t * mor_max(high, spread);
        r->intervals[i] = (mor_cal_interval){ .low = mor_cal_from_unit(p, mor_max(low, 0.0)),
                                              .high = mor_cal_from_unit(p, mor_min(high, 1.0)) };
        for (int j = 0; j < n; j++)
            r->correlation[i][j] = i == j ? 1.0 : cov[i][j] / sqrt(mor_max(cov[i][i] * cov[j][j], 1e-300));
    }
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
        add_draws(k, H, b, all);
        take_draws(k, all, one, r);
        *done = true;
    } else if (code != MOR_SYSTEM && code != MOR_BAD_INPUT) {
        *error = (mor_error){ 0 }, code = MOR_OK; /* a run beside the best point fails: the quadratics of the errors */
    }
    free(room);
    return code;
}
