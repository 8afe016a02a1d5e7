/* Means over runs, ranges as unit cubes, and methods compared by their held-out errors. */
#include "base/elementary.h"
#include "lab/calibrate_work.h"

#include <math.h>
#include <stdlib.h>

double mor_cal_to_unit(const mor_cal_parameter* p, double x)
{
    return p->logarithmic ? mor_log(x / p->low) / mor_log(p->high / p->low) : (x - p->low) / (p->high - p->low);
}

double mor_cal_from_unit(const mor_cal_parameter* p, double z)
{
    double x = p->logarithmic ? p->low * mor_exp(z * mor_log(p->high / p->low)) : p->low + z * (p->high - p->low);
    return mor_min(mor_max(x, p->low), p->high);
}

int mor_cal_mean(const mor_calibration* c, const mor_cal_score* s, bool train, double mean[3])
{
    int count = 0, failed = 0;
    mean[0] = mean[1] = mean[2] = 0.0;
    for (int i = 0; i < c->run_count; i++) {
        if (c->runs[i].train != train) continue;
        failed += isnan(s[i].error);
        if (isnan(s[i].error)) continue;
        count++;
        mean[0] += s[i].error, mean[1] += s[i].position, mean[2] += s[i].rotation;
    }
    for (int k = 0; k < 3; k++) mean[k] = count ? mean[k] / count : NAN;
    return failed;
}

const mor_cal_point* mor_cal_at(mor_cal_work* k, const double* z)
{
    double x[MOR_CAL_PARAMETERS];
    for (int i = 0; i < k->n; i++) x[i] = mor_cal_from_unit(&k->c->parameters[k->m->parameters[i]], z[i]);
    return k->ask(k->user, k->method, x, false);
}

int mor_cal_ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double mor_cal_quantile(const double* sorted, int n, double q)
{
    double at_ = q * (n - 1);
    int i = (int)at_;
    return i + 1 < n ? sorted[i] + (at_ - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

static double mean_of(const mor_calibration* c, const mor_cal_score* s, const int* runs, int n, int what)
{
    double sum = 0.0;
    (void)c;
    for (int i = 0; i < n; i++)
        sum += what == 0 ? s[runs[i]].error : what == 1 ? s[runs[i]].position : s[runs[i]].rotation;
    return sum / n;
}

/* Intervals of the means over the test runs and of their ratio to the first method's, runs drawn again. */
void mor_cal_compare(mor_calibration* c)
{
    enum { DRAWS = 2000 };
    int n = 0, *test = malloc(((size_t)c->run_count + 1) * 2 * sizeof *test), *drawn = test + c->run_count;
    double* v = malloc(4 * DRAWS * sizeof *v);
    bool held_out = false;
    for (int i = 0; i < c->run_count; i++) held_out = held_out || !c->runs[i].train;
    for (int m = 0; m < c->method_count && test && v; m++) {
        mor_cal_result* r = &c->results[m];
        const mor_cal_result* first = &c->results[0];
        r->ratio = r->ratio_low = r->ratio_high = NAN;
        for (int k = 0; k < 3; k++) r->test_low[k] = r->test_high[k] = NAN;
        if (!r->done || !first->done) continue;
        n = 0;
        for (int i = 0; i < c->run_count; i++)
            if (c->runs[i].train != held_out && !isnan(r->scores[i].error) && !isnan(first->scores[i].error))
                test[n++] = i;
        if (n < 2) continue;
        mor_rng rng = { (uint64_t)c->seed + 41u };
        for (int b = 0; b < DRAWS; b++) {
            for (int i = 0; i < n; i++) {
                int at_ = (int)(mor_rng_uniform(&rng) * n);
                drawn[i] = test[at_ < n ? at_ : n - 1];
            }
            for (int k = 0; k < 3; k++) v[k * DRAWS + b] = mean_of(c, r->scores, drawn, n, k);
            v[3 * DRAWS + b] = v[b] / mean_of(c, first->scores, drawn, n, 0);
        }
        for (int k = 0; k < 4; k++) qsort(v + k * DRAWS, DRAWS, sizeof *v, mor_cal_ascending);
        for (int k = 0; k < 3; k++) {
            r->test_low[k] = mor_cal_quantile(v + k * DRAWS, DRAWS, 0.025);
            r->test_high[k] = mor_cal_quantile(v + k * DRAWS, DRAWS, 0.975);
        }
        r->ratio = mean_of(c, r->scores, test, n, 0) / mean_of(c, first->scores, test, n, 0);
        r->ratio_low = mor_cal_quantile(v + 3 * DRAWS, DRAWS, 0.025);
        r->ratio_high = mor_cal_quantile(v + 3 * DRAWS, DRAWS, 0.975);
    }
    free(test), free(v);
}
