/* From drawn fits to intervals: how many standard errors an interval is wide, and how the values go together.
 *
 * R runs are drawn again, B times, and each draw is fitted. Of one value alone the interval has Student's quantile
 *
 *     t(0.975, R - 1) sqrt(R/(R - 1))
 *
 * in the place of 1.96: the spread is that of R runs about their own mean. Several such intervals do not hold at once
 * as often as each does: of three independent ones with 95 % each, 86 %. All values of a fit together lie within
 *
 *     t((1 + L)/2, R - 1) sqrt(R/(R - 1)),    L: 0.95 quantile over the draws of max_i |2 u_i - 1|
 *
 * where u_i is the rank of value i among the draws, as a part of B (ties share theirs). L is 0.95 where one value tells
 * the others, and at most 0.95^(1/n) (Sidak), of n independent ones. Ranks, because draws that miss the few runs which
 * tell a value go far and say nothing of how values go together.
 *
 * Z. Sidak, J. Amer. Stat. Assoc. 62 (1967) 626-633; R. Beran, J. Amer. Stat. Assoc. 83 (1988) 679-686. */
#include "base/elementary.h"
#include "lab/calibrate_work.h"

#include <math.h>
#include <stdlib.h>

#define LEVEL 0.95
#define NORMAL 1.959963984540054 /* standard errors for 95 % of a normal distribution */
enum { MANY = 1000 };            /* runs beyond which Student's quantile is as good as the normal one */

/* How much of Student's distribution lies within |t| = sqrt(nu) tan(angle) (Abramowitz and Stegun 26.7.3, 26.7.4). */
static double student_within(double angle, int nu)
{
    double s = mor_sin(angle), c = mor_cos(angle), term = nu % 2 ? c : 1.0, sum = 0.0;
    for (int k = nu % 2; k <= nu - 2; k += 2) {
        sum += term;
        term *= c * c * (k + 1) / (k + 2);
    }
    return nu % 2 ? (angle + s * sum) * 0.6366197723675814 : s * sum;
}

double mor_cal_student(double level, int nu)
{
    double low = 0.0, high = 1.5707963267948966;
    if (nu < 1) nu = 1;
    if (nu > MANY) nu = MANY;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (student_within(middle, nu) < level) low = middle;
        else high = middle;
    }
    return sqrt(nu) * mor_tan(low);
}

static int by_value(const void* a, const void* b)
{
    double x = **(double*const*)a, y = **(double*const*)b;
    return (x > y) - (x < y);
}

/* most[d] := max(most[d], |2 u - 1|) of value i. */
static void rank_draws(const mor_cal_work* k, const double* all, int i, const double** sorted, double* most)
{
    int B = k->c->bootstrap, n = k->n;
    for (int d = 0; d < B; d++) sorted[d] = all + d * n + i;
    qsort(sorted, (size_t)B, sizeof *sorted, by_value);
    for (int d = 0, last; d < B; d = last) {
        for (last = d + 1; last < B && *sorted[last] == *sorted[d];) last++;
        double out = fabs((double)(d + last) / B - 1.0);
        for (int e = d; e < last; e++) {
            int draw = (int)((sorted[e] - all) / n);
            most[draw] = mor_max(most[draw], out);
        }
    }
}

/* L, see above. False: out of memory. */
static bool common_level(const mor_cal_work* k, const double* all, double* level)
{
    int B = k->c->bootstrap, free_values = 0;
    const double** sorted = malloc(((size_t)B + 1) * sizeof *sorted);
    double* most = calloc((size_t)B + 1, sizeof *most);
    bool ok = sorted && most;
    for (int i = 0; i < k->n && ok; i++) {
        if (k->flat[i]) continue;
        rank_draws(k, all, i, sorted, most);
        free_values++;
    }
    if (ok) {
        qsort(most, (size_t)B, sizeof *most, mor_cal_ascending);
        double sidak = mor_pow(LEVEL, 1.0 / mor_max(free_values, 1));
        *level = mor_min(mor_max(mor_cal_quantile(most, B, LEVEL), LEVEL), sidak);
    }
    free(sorted), free(most);
    return ok;
}

bool mor_cal_widths(const mor_cal_work* k, const double* all, double* alone, double* together)
{
    int few = k->runs > 2 ? k->runs - 1 : 1;
    double level, unit = sqrt((double)k->runs / few) / NORMAL;
    if (!common_level(k, all, &level)) return false;
    *alone = unit * mor_cal_student(LEVEL, few);
    *together = unit * mor_cal_student(level, few);
    return true;
}

void mor_cal_correlate(const mor_cal_work* k, const double* all, mor_cal_result* r, double* deviation)
{
    int n = k->n, B = k->c->bootstrap;
    double mean[MOR_CAL_PARAMETERS] = { 0 }, cov[MOR_CAL_PARAMETERS][MOR_CAL_PARAMETERS] = { { 0 } };
    for (int d = 0; d < B; d++)
        for (int i = 0; i < n; i++) mean[i] += all[d * n + i] / B;
    for (int d = 0; d < B; d++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) cov[i][j] += (all[d * n + i] - mean[i]) * (all[d * n + j] - mean[j]) / B;
    for (int i = 0; i < n; i++) {
        deviation[i] = sqrt(cov[i][i]);
        for (int j = 0; j < n; j++)
            r->correlation[i][j] = i == j ? 1.0 : cov[i][j] / sqrt(mor_max(cov[i][i] * cov[j][j], 1e-300));
    }
}

void mor_cal_set_interval(const mor_cal_work* k, mor_cal_result* r, int i, double below, double above, double alone,
                          double together)
{
    const mor_cal_parameter* p = &k->c->parameters[k->m->parameters[i]];
    double z = k->z[i];
    r->intervals[i] = (mor_cal_interval){ .low = mor_cal_from_unit(p, mor_max(z - together * below, 0.0)),
                                          .high = mor_cal_from_unit(p, mor_min(z + together * above, 1.0)),
                                          .alone_low = mor_cal_from_unit(p, mor_max(z - alone * below, 0.0)),
                                          .alone_high = mor_cal_from_unit(p, mor_min(z + alone * above, 1.0)) };
}

void mor_cal_widen(mor_cal_interval* v, double x)
{
    v->low = mor_min(v->low, x), v->high = mor_max(v->high, x);
    v->alone_low = mor_min(v->alone_low, x), v->alone_high = mor_max(v->alone_high, x);
}
