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
 * At the ends of the intervals the errors themselves are asked, the other values moved along as in the draws. Where
 * they rise by less than three quarters of what H says, as of a friction that acts at small values only, the interval
 * goes on until they do.
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

enum { WIDER = 8 };
#define FACTOR 1.5
#define ENOUGH 0.75

/* y: value i at `reach` from the best point, the others as they go with it in the draws, all in their ranges. */
static void go_along(const mor_cal_work* k, const mor_cal_result* r, const double* deviation, int i, double reach,
                     double* y)
{
    for (int j = 0; j < k->n; j++) {
        double along = j == i ? 1.0 : r->correlation[i][j] * deviation[j] / mor_max(deviation[i], 1e-300);
        y[j] = mor_min(mor_max(k->z[j] + along * reach, 0.0), 1.0) - k->z[j];
    }
}

/* The error of a run is a mean over its measured bodies and over the samples after the first, H a sum over bodies and a
 * mean over all samples (calibrate_gradient.c). */
static int measured_bodies(const mor_calibration* c)
{
    int count = 0;
    for (int i = 0; i < c->measured_count; i++) {
        bool first = c->measured[i].kind <= MOR_CAL_ANGLE;
        for (int k = 0; k < i; k++) first = first && strcmp(c->measured[i].body, c->measured[k].body) != 0;
        count += first;
    }
    return count > 0 ? count : 1;
}

/* By how much the error of all runs rises: as H has it, and as it is (infinite: a run fails there). */
static double told_rise(const mor_cal_work* k, const double* H, const double* y)
{
    const mor_calibration* c = k->c;
    double sum = 0.0;
    for (int run = 0, r = 0; run < c->run_count; run++) {
        const mor_cal_run* of = &c->runs[run];
        if (!of->train) continue;
        bool part = c->after_contact && of->flight + c->after_contact < of->count;
        double samples = part ? of->flight + c->after_contact : of->count, rise = 0.0;
        for (int i = 0; i < k->n; i++)
            for (int j = 0; j < k->n; j++) rise += y[i] * H[(r * k->n + i) * k->n + j] * y[j];
        sum += rise * samples / mor_max(samples - 1.0, 1.0);
        r++;
    }
    return sum / (k->runs * measured_bodies(c));
}

static bool true_rise(mor_cal_work* k, const double* y, double* rise)
{
    double z[MOR_CAL_PARAMETERS], here[3], best[3];
    for (int i = 0; i < k->n; i++) z[i] = k->z[i] + y[i];
    const mor_cal_point* p = mor_cal_at(k, z);
    if (!p) return false;
    bool fails = mor_cal_mean(k->c, p->scores, true, here) > 0;
    mor_cal_mean(k->c, k->best->scores, true, best);
    *rise = fails ? HUGE_VAL : here[0] - best[0];
    return true;
}

/* How much wider value i must reach on one side; `reach` has its sign. False: stopped. */
static bool find_factor(mor_cal_work* k, const mor_cal_result* r, const double* H, const double* deviation, int i,
                        double reach, double* factor)
{
    double y[MOR_CAL_PARAMETERS], room = reach > 0.0 ? 1.0 - k->z[i] : k->z[i], rise;
    *factor = 1.0;
    if (!(fabs(reach) < room)) return true; /* it covers this side of the range */
    go_along(k, r, deviation, i, reach, y);
    double wanted = ENOUGH * told_rise(k, H, y);
    for (int t = 0; t < WIDER; t++, *factor *= FACTOR) {
        if (t > 0) go_along(k, r, deviation, i, *factor * reach, y);
        if (!true_rise(k, y, &rise)) return false;
        if (rise >= wanted || *factor * fabs(reach) >= room) return true;
    }
    return true;
}

/* Quantiles of the draws, as wide as few runs, several values and the errors at their ends ask for, and correlations.
 * *done false: stopped. */
static mor_code take_draws(mor_cal_work* k, const double* all, const double* H, double* one, mor_cal_result* r,
                           bool* done, mor_error* error)
{
    int n = k->n, B = k->c->bootstrap;
    double deviation[MOR_CAL_PARAMETERS], alone, together;
    if (!mor_cal_widths(k, all, &alone, &together)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_cal_correlate(k, all, r, deviation);
    *done = true;
    for (int i = 0; i < n && *done; i++) {
        for (int d = 0; d < B; d++) one[d] = all[d * n + i];
        qsort(one, (size_t)B, sizeof *one, mor_cal_ascending);
        double spread = 1.96 * deviation[i], down, up;
        double below = mor_max(-mor_cal_quantile(one, B, 0.025), spread),
               above = mor_max(mor_cal_quantile(one, B, 0.975), spread);
        *done = find_factor(k, r, H, deviation, i, -together * below, &down) &&
                find_factor(k, r, H, deviation, i, together * above, &up);
        if (*done) mor_cal_set_interval(k, r, i, down * below, up * above, alone, together);
    }
    return MOR_OK;
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
        code = take_draws(k, all, H, one, r, done, error);
    } else if (code != MOR_SYSTEM && code != MOR_BAD_INPUT) {
        *error = (mor_error){ 0 }, code = MOR_OK; /* a run beside the best point fails: the quadratics of the errors */
    }
    free(room);
    return code;
}
