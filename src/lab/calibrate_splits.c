/* Several splits into training and held-out runs: every method is fitted in each, on its training runs alone.
 *
 * A method's number over the splits: for every run the mean over the splits in which it is held out, then the mean over
 * runs. Intervals by drawing runs again (a run with all its splits, of all methods: paired). They hold the scatter of
 * runs; that of the fits shows in the least and the most of the splits. */
#include "lab/calibrate_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mor_code mor_cal_make_splits(mor_calibration* c, int count, mor_error* error)
{
    c->split_count = count;
    c->trains = calloc((size_t)count * (size_t)c->run_count + 1, sizeof *c->trains);
    c->all = calloc((size_t)count * MOR_CAL_METHODS, sizeof *c->all);
    c->summaries = calloc(MOR_CAL_METHODS, sizeof *c->summaries);
    if (!c->trains || !c->all || !c->summaries) return mor_fail(error, MOR_SYSTEM, "out of memory");
    return MOR_OK;
}

void mor_cal_use_split(mor_calibration* c, int split)
{
    c->split = split;
    c->results = c->all + (size_t)split * MOR_CAL_METHODS;
    for (int i = 0; i < c->run_count; i++)
        c->runs[i].train = c->trains[(size_t)split * (size_t)c->run_count + (size_t)i];
}

bool mor_cal_own(const mor_calibration* c, int split, int method)
{
    return c->shards < 2 || (split * c->method_count + method) % c->shards == c->shard - 1;
}

/* Mean of each run over the splits that hold it out (all splits if none holds any out): error, position, rotation. NaN:
 * it has none, or a split's simulation failed. */
static void run_means(const mor_calibration* c, int method, double* means)
{
    bool held_out = false;
    for (int i = 0; i < c->split_count * c->run_count; i++) held_out = held_out || !c->trains[i];
    for (int i = 0; i < c->run_count; i++) {
        double sum[3] = { 0 };
        int count = 0;
        for (int s = 0; s < c->split_count; s++) {
            const mor_cal_result* r = &c->all[s * MOR_CAL_METHODS + method];
            if (c->trains[s * c->run_count + i] == held_out) continue;
            sum[0] += r->scores[i].error, sum[1] += r->scores[i].position, sum[2] += r->scores[i].rotation;
            count++;
        }
        for (int k = 0; k < 3; k++) means[3 * i + k] = count ? sum[k] / count : NAN;
    }
}

static void spread(const mor_calibration* c, int method, mor_cal_summary* m)
{
    for (int s = 0; s < c->split_count; s++) {
        const mor_cal_result* r = &c->all[s * MOR_CAL_METHODS + method];
        for (int k = 0; k < 3; k++) {
            double x = isnan(r->test[k]) ? r->train[k] : r->test[k];
            if (s == 0 || x < m->least[k]) m->least[k] = x;
            if (s == 0 || x > m->most[k]) m->most[k] = x;
        }
    }
}

enum { DRAWS = 2000 };

/* Means over `runs` of one method and of the first one: what 6 numbers. */
static void mean_pair(const double* own, const double* first, const int* runs, int n, double sum[6])
{
    for (int k = 0; k < 6; k++) sum[k] = 0.0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) sum[k] += own[3 * runs[i] + k] / n, sum[3 + k] += first[3 * runs[i] + k] / n;
}

static void summarise(const mor_calibration* c, const double* own, const double* first, double* room, int* runs,
                      mor_cal_summary* m)
{
    int n = 0, *drawn = runs + c->run_count;
    double sum[6];
    for (int i = 0; i < c->run_count; i++)
        if (!isnan(own[3 * i]) && !isnan(first[3 * i])) runs[n++] = i;
    for (int k = 0; k < 3; k++)
        m->test[k] = m->low[k] = m->high[k] = m->ratio[k] = m->ratio_low[k] = m->ratio_high[k] = NAN;
    m->median = m->ninth = NAN;
    if (n < 2) return;
    for (int i = 0; i < n; i++) room[i] = own[3 * runs[i] + 1];
    qsort(room, (size_t)n, sizeof *room, mor_cal_ascending);
    m->median = mor_cal_quantile(room, n, 0.5), m->ninth = mor_cal_quantile(room, n, 0.9);
    mean_pair(own, first, runs, n, sum);
    for (int k = 0; k < 3; k++) m->test[k] = sum[k], m->ratio[k] = sum[k] / sum[3 + k];
    mor_rng rng = { (uint64_t)c->seed + 43u };
    for (int b = 0; b < DRAWS; b++) {
        for (int i = 0; i < n; i++) {
            int at = (int)(mor_rng_uniform(&rng) * n);
            drawn[i] = runs[at < n ? at : n - 1];
        }
        mean_pair(own, first, drawn, n, sum);
        for (int k = 0; k < 3; k++) room[k * DRAWS + b] = sum[k], room[(3 + k) * DRAWS + b] = sum[k] / sum[3 + k];
    }
    for (int k = 0; k < 6; k++) {
        double* v = room + k * DRAWS;
        qsort(v, DRAWS, sizeof *v, mor_cal_ascending);
        *(k < 3 ? &m->low[k] : &m->ratio_low[k - 3]) = mor_cal_quantile(v, DRAWS, 0.025);
        *(k < 3 ? &m->high[k] : &m->ratio_high[k - 3]) = mor_cal_quantile(v, DRAWS, 0.975);
    }
}

void mor_cal_summarise(mor_calibration* c)
{
    size_t runs = (size_t)c->run_count;
    double *own = malloc((6 * runs + 1) * sizeof *own), *first = own ? own + 3 * runs : NULL;
    double* room = malloc((6 * DRAWS + runs) * sizeof *room);
    int* list = malloc((2 * runs + 1) * sizeof *list);
    for (int k = 0; k < c->method_count && own && room && list; k++) {
        mor_cal_summary* m = &c->summaries[k];
        *m = (mor_cal_summary){ 0 };
        for (int s = 0; s < c->split_count; s++) m->splits += c->all[s * MOR_CAL_METHODS + k].done;
        if (m->splits < c->split_count || c->summaries[0].splits < c->split_count) continue;
        run_means(c, k, own);
        run_means(c, 0, first);
        summarise(c, own, first, room, list, m);
        spread(c, k, m);
    }
    free(own), free(room), free(list);
}
