/* How well parameters are known: intervals, correlation, what cannot be identified, and methods compared.
 *
 * Around the best point a quadratic is fitted to the error of every run,
 *
 *     e_r(y) = a_r + b_r' y + y' C_r y/2,    y = (z - z_best)/d    (z in the unit cube of the ranges)
 *
 * on 1 + 2n + (n + 1)(n + 2) points. The steps d are such that the mean error rises by one to eight standard errors of
 * its paired difference: the size at which the data begin to tell. The mean of these quadratics over runs that are
 * drawn again with replacement has its own least point; the 2.5 and 97.5 % quantiles of these points make the interval,
 * widened as Student's t asks for few runs. Their correlation is that of the parameters.
 *
 * A parameter cannot be identified when its whole range changes the error by less than a standard error, when its
 * interval covers nine tenths of the range, or when it moves with another one (|correlation| > 0.99).
 *
 * B. Efron, R. J. Tibshirani, An introduction to the bootstrap (1993); A. Raue et al., Bioinformatics 25 (2009)
 * 1923-1929 for profiles. */
#include "base/elementary.h"
#include "lab/calibrate.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 7, TERMS = (MOR_CAL_PARAMETERS + 1) * (MOR_CAL_PARAMETERS + 2) / 2, POINTS = 4 * TERMS };
#define FAR 6.0 /* steps d within which a quadratic is believed */

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

typedef struct work {
    mor_calibration* c;
    const mor_cal_method* m;
    int method, n, runs;
    mor_cal_ask ask;
    void* user;
    double z[MOR_CAL_PARAMETERS], d[MOR_CAL_PARAMETERS];
    bool flat[MOR_CAL_PARAMETERS];
    const mor_cal_point *best, *points[POINTS];
    double y[POINTS][MOR_CAL_PARAMETERS];
    int count, terms;
    double* models; /* runs x terms */
    mor_rng rng;
} work;

static const mor_cal_point* at(work* k, const double* z)
{
    double x[MOR_CAL_PARAMETERS];
    for (int i = 0; i < k->n; i++) x[i] = mor_cal_from_unit(&k->c->parameters[k->m->parameters[i]], z[i]);
    return k->ask(k->user, k->method, x, false);
}

/* Mean rise of the error over the best point, in standard errors of the paired difference. */
static double significance(const work* k, const mor_cal_point* p)
{
    double sum = 0.0, squares = 0.0, size = 0.0;
    int n = 0;
    for (int i = 0; i < k->c->run_count; i++) {
        if (!k->c->runs[i].train) continue;
        double e = p->scores[i].error - k->best->scores[i].error;
        if (isnan(e)) return HUGE_VAL;
        sum += e, squares += e * e, size += fabs(k->best->scores[i].error), n++;
    }
    double mean = sum / n, spread = sqrt(mor_max(squares / n - mean * mean, 0.0) / mor_max(n - 1, 1));
    return mean / mor_max(spread, 1e-3 * size / n + 1e-300);
}

/* A step of parameter j that the data can tell. False: stopped. */
static bool find_step(work* k, int j)
{
    k->d[j] = 0.05;
    for (int i = 0; i < TRIES; i++) {
        double z[MOR_CAL_PARAMETERS], rise = 0.0;
        for (int side = -1; side <= 1; side += 2) {
            memcpy(z, k->z, sizeof z);
            z[j] = mor_min(mor_max(z[j] + side * k->d[j], 0.0), 1.0);
            if (z[j] == k->z[j]) continue;
            const mor_cal_point* p = at(k, z);
            if (!p) return false;
            rise = mor_max(rise, significance(k, p));
        }
        k->flat[j] = rise < 1.0;
        if (rise > 8.0) k->d[j] *= 0.4;
        else if (rise < 1.0 && k->d[j] < 1.0) k->d[j] = mor_min(2.5 * k->d[j], 1.0);
        else break;
    }
    return true;
}

static bool add_point(work* k, const double* z)
{
    const mor_cal_point* p = at(k, z);
    if (!p) return false;
    double mean[3];
    if (mor_cal_mean(k->c, p->scores, true, mean) > 0 || k->count == POINTS) return true;
    for (int i = 0; i < k->n; i++) k->y[k->count][i] = (z[i] - k->z[i]) / k->d[i];
    k->points[k->count++] = p;
    return true;
}

static bool make_design(work* k)
{
    double z[MOR_CAL_PARAMETERS];
    if (!add_point(k, k->z)) return false;
    for (int j = 0; j < k->n; j++)
        for (int side = -1; side <= 1; side += 2) {
            memcpy(z, k->z, sizeof z);
            z[j] = mor_min(mor_max(z[j] + side * k->d[j], 0.0), 1.0);
            if (z[j] != k->z[j] && !add_point(k, z)) return false;
        }
    int more = (k->n + 1) * (k->n + 2);
    for (int i = 0; i < more; i++) {
        for (int j = 0; j < k->n; j++) {
            double step = 1.5 * k->d[j] * (2.0 * mor_rng_uniform(&k->rng) - 1.0);
            z[j] = k->z[j] + step;
            if (z[j] < 0.0 || z[j] > 1.0) z[j] = k->z[j] - step;
            z[j] = mor_min(mor_max(z[j], 0.0), 1.0);
        }
        if (!add_point(k, z)) return false;
    }
    return true;
}

static void features(int n, const double* y, double* f)
{
    int t = 0;
    f[t++] = 1.0;
    for (int i = 0; i < n; i++) f[t++] = y[i];
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) f[t++] = i == j ? 0.5 * y[i] * y[i] : y[i] * y[j];
}

/* The quadratic of every run, by least squares. */
static bool fit_models(work* k)
{
    int T = k->terms;
    double* A = calloc((size_t)T * (size_t)T, sizeof *A);
    k->models = calloc((size_t)k->runs * (size_t)T + 1, sizeof *k->models);
    bool ok = A && k->models;
    for (int p = 0; p < k->count && ok; p++) {
        double f[TERMS];
        int r = 0;
        features(k->n, k->y[p], f);
        for (int i = 0; i < T; i++)
            for (int j = 0; j < T; j++) A[T * i + j] += f[i] * f[j];
        for (int i = 0; i < k->c->run_count; i++) {
            if (!k->c->runs[i].train) continue;
            for (int t = 0; t < T; t++) k->models[T * r + t] += f[t] * k->points[p]->scores[i].error;
            r++;
        }
    }
    for (int i = 0; i < T && ok; i++) A[(T + 1) * i] += 1e-9 * k->count;
    ok = ok && mor_cholesky_factor(T, A);
    for (int r = 0; r < k->runs && ok; r++) mor_cholesky_solve(T, A, k->models + T * r);
    free(A);
    return ok;
}

/* The least point of a quadratic in the box that is believed, coordinate by coordinate. */
static void least(const work* k, const double* model, double* y)
{
    int n = k->n;
    double C[MOR_CAL_PARAMETERS][MOR_CAL_PARAMETERS];
    for (int i = 0, t = n + 1; i < n; i++)
        for (int j = i; j < n; j++) C[i][j] = C[j][i] = model[t++];
    memset(y, 0, (size_t)n * sizeof *y);
    for (int sweep = 0; sweep < 400; sweep++) {
        double moved = 0.0;
        for (int i = 0; i < n; i++) {
            double low = mor_max(-k->z[i] / k->d[i], -FAR), high = mor_min((1.0 - k->z[i]) / k->d[i], FAR);
            double slope = model[1 + i], to;
            for (int j = 0; j < n; j++)
                if (j != i) slope += C[i][j] * y[j];
            if (C[i][i] > 0.0) to = mor_min(mor_max(-slope / C[i][i], low), high);
            else to = slope * low + 0.5 * C[i][i] * low * low < slope * high + 0.5 * C[i][i] * high * high ? low : high;
            moved = mor_max(moved, fabs(to - y[i]));
            y[i] = to;
        }
        if (moved < 1e-6) return;
    }
}

static void mean_model(work* k, bool draw, double* model)
{
    memset(model, 0, (size_t)k->terms * sizeof *model);
    for (int i = 0; i < k->runs; i++) {
        int r = draw ? (int)(mor_rng_uniform(&k->rng) * k->runs) : i;
        if (r >= k->runs) r = k->runs - 1;
        for (int t = 0; t < k->terms; t++) model[t] += k->models[k->terms * r + t] / k->runs;
    }
}

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double quantile(double* sorted, int n, double q)
{
    double at_ = q * (n - 1);
    int i = (int)at_;
    return i + 1 < n ? sorted[i] + (at_ - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* Quantiles and correlation of the least points of drawn runs. */
static bool draw(work* k, const double* centre, mor_cal_result* r)
{
    int B = k->c->bootstrap, n = k->n;
    double *all = malloc(((size_t)B * (size_t)n + 1) * sizeof *all), *one = malloc(((size_t)B + 1) * sizeof *one);
    double model[TERMS], mean[MOR_CAL_PARAMETERS] = { 0 }, cov[MOR_CAL_PARAMETERS][MOR_CAL_PARAMETERS] = { { 0 } };
    if (!all || !one) {
        free(all), free(one);
        return false;
    }
    for (int b = 0; b < B; b++) {
        mean_model(k, true, model);
        least(k, model, all + b * n);
        for (int i = 0; i < n; i++) mean[i] += all[b * n + i] / B;
    }
    for (int b = 0; b < B; b++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) cov[i][j] += (all[b * n + i] - mean[i]) * (all[b * n + j] - mean[j]) / B;
    double few = mor_max(k->runs - 1, 1), t = (1.96 + (7.53 + 1.96) / (4.0 * few)) / 1.96 * sqrt(k->runs / few);
    for (int i = 0; i < n; i++) {
        const mor_cal_parameter* p = &k->c->parameters[k->m->parameters[i]];
        for (int b = 0; b < B; b++) one[b] = all[b * n + i];
        qsort(one, (size_t)B, sizeof *one, ascending);
        double low = k->z[i] + t * k->d[i] * mor_min(quantile(one, B, 0.025) - centre[i], 0.0);
        double high = k->z[i] + t * k->d[i] * mor_max(quantile(one, B, 0.975) - centre[i], 0.0);
        r->intervals[i].low = mor_cal_from_unit(p, mor_max(low, 0.0));
        r->intervals[i].high = mor_cal_from_unit(p, mor_min(high, 1.0));
        for (int j = 0; j < n; j++)
            r->correlation[i][j] = i == j ? 1.0 : cov[i][j] / sqrt(mor_max(cov[i][i] * cov[j][j], 1e-300));
    }
    free(all), free(one);
    return true;
}

/* ------------------------------------------------------------------------------- profiles */

typedef struct others {
    work* k;
    int held;
    double value;
} others;

static double cost_of_others(void* user, const double* rest)
{
    others* o = user;
    double z[MOR_CAL_PARAMETERS], mean[3];
    for (int i = 0, r = 0; i < o->k->n; i++) z[i] = i == o->held ? o->value : rest[r++];
    const mor_cal_point* p = at(o->k, z);
    if (!p || mor_cal_mean(o->k->c, p->scores, true, mean)) return HUGE_VAL;
    return mean[0];
}

static mor_code profile(work* k, mor_cal_result* r, mor_error* error)
{
    static volatile bool never;
    for (int j = 0; j < k->n; j++) {
        const mor_cal_parameter* p = &k->c->parameters[k->m->parameters[j]];
        mor_cal_interval* v = &r->intervals[j];
        double low = mor_cal_to_unit(p, v->low), high = mor_cal_to_unit(p, v->high), margin = 0.5 * (high - low) + 0.01;
        low = mor_max(low - margin, 0.0), high = mor_min(high + margin, 1.0);
        for (int i = 0; i < k->c->profile; i++) {
            others o = { k, j, k->c->profile > 1 ? low + (high - low) * i / (k->c->profile - 1) : k->z[j] };
            double rest[MOR_CAL_PARAMETERS], best;
            for (int a = 0, b = 0; a < k->n; a++)
                if (a != j) rest[b++] = k->z[a];
            if (k->n == 1) {
                best = cost_of_others(&o, rest);
            } else {
                mor_code code = mor_optimise("sbplx", k->n - 1, NULL, rest, cost_of_others, &o, 20 * k->n,
                                             k->c->tolerance, 0.05, 1, &never, &best, error);
                if (code) return code;
            }
            v->profile_x[v->profile_count] = mor_cal_from_unit(p, o.value);
            v->profile_error[v->profile_count++] = best;
        }
    }
    return MOR_OK;
}

/* ------------------------------------------------------------------------------- verdicts */

static void judge_parameters(const work* k, mor_cal_result* r)
{
    for (int i = 0; i < k->n; i++) {
        const mor_cal_parameter* p = &k->c->parameters[k->m->parameters[i]];
        mor_cal_interval* v = &r->intervals[i];
        double z = mor_cal_to_unit(p, r->x[i]);
        v->at_bound = z < 0.005 || z > 0.995;
        v->moved = r->x[i] != p->start;
        v->identifiable = true;
        double wide = mor_cal_to_unit(p, v->high) - mor_cal_to_unit(p, v->low);
        if (k->flat[i]) snprintf(v->why, sizeof v->why, "the error hardly changes over the range");
        else if (wide > 0.9) snprintf(v->why, sizeof v->why, "its interval covers the range");
        for (int j = 0; j < k->n && !v->why[0]; j++)
            if (j != i && fabs(r->correlation[i][j]) > 0.99)
                snprintf(v->why, sizeof v->why, "it moves with %.100s (correlation %.3f)",
                         k->c->parameters[k->m->parameters[j]].name, r->correlation[i][j]);
        if (v->why[0]) v->identifiable = false;
        if (k->flat[i]) v->low = p->low, v->high = p->high;
    }
}

static void no_interval(work* k, mor_cal_result* r, const char* why)
{
    for (int i = 0; i < k->n; i++) {
        const mor_cal_parameter* p = &k->c->parameters[k->m->parameters[i]];
        r->intervals[i] = (mor_cal_interval){ .low = p->low, .high = p->high, .moved = r->x[i] != p->start };
        snprintf(r->intervals[i].why, sizeof r->intervals[i].why, "%s", why);
        for (int j = 0; j < k->n; j++) r->correlation[i][j] = i == j ? 1.0 : NAN;
    }
}

/* The least point of the mean quadratic, if it is better than the best so far. */
static bool polish(work* k, double* centre, mor_cal_result* r)
{
    double model[TERMS], z[MOR_CAL_PARAMETERS], mean[3], old[3];
    mean_model(k, false, model);
    least(k, model, centre);
    for (int i = 0; i < k->n; i++) z[i] = mor_min(mor_max(k->z[i] + k->d[i] * centre[i], 0.0), 1.0);
    const mor_cal_point* p = at(k, z);
    if (!p) return false;
    mor_cal_mean(k->c, k->best->scores, true, old);
    for (int i = 0; i < k->count; i++) { /* points of the design may be better than what the optimiser found */
        double here[3];
        mor_cal_mean(k->c, k->points[i]->scores, true, here);
        if (here[0] < old[0]) {
            old[0] = here[0];
            memcpy(r->x, k->points[i]->x, sizeof r->x);
        }
    }
    if (mor_cal_mean(k->c, p->scores, true, mean) == 0 && mean[0] < old[0]) memcpy(r->x, p->x, sizeof r->x);
    return true;
}

mor_code mor_cal_intervals(mor_calibration* c, int method, mor_cal_ask ask, void* user, mor_error* error)
{
    mor_cal_result* r = &c->results[method];
    work* k = calloc(1, sizeof *k);
    if (!k) return mor_fail(error, MOR_SYSTEM, "out of memory");
    *k = (work){ .c = c, .m = &c->methods[method], .method = method, .ask = ask, .user = user };
    k->rng = (mor_rng){ (uint64_t)c->seed + 977u };
    k->n = k->m->parameter_count;
    k->terms = (k->n + 1) * (k->n + 2) / 2;
    for (int i = 0; i < c->run_count; i++) k->runs += c->runs[i].train;
    for (int i = 0; i < k->n; i++)
        k->z[i] = mor_min(mor_max(mor_cal_to_unit(&c->parameters[k->m->parameters[i]], r->x[i]), 0.0), 1.0);
    k->best = at(k, k->z);
    bool ok = k->best != NULL;
    mor_code code = MOR_OK;
    double centre[MOR_CAL_PARAMETERS] = { 0 };
    if (ok && (k->runs < 2 || c->bootstrap < 2)) {
        no_interval(k, r, k->runs < 2 ? "one run gives no interval" : "no interval was asked for");
    } else if (ok) {
        for (int j = 0; j < k->n && ok; j++) ok = find_step(k, j);
        ok = ok && make_design(k);
        if (ok && (k->count < k->terms || !fit_models(k))) {
            no_interval(k, r, "too few points around the best one could be simulated");
        } else if (ok) {
            ok = polish(k, centre, r);
            if (ok && !draw(k, centre, r)) code = mor_fail(error, MOR_SYSTEM, "out of memory");
            for (int i = 0; i < k->n; i++) k->z[i] = mor_cal_to_unit(&c->parameters[k->m->parameters[i]], r->x[i]);
            for (int i = 0; i < k->n; i++) { /* the interval holds the value it is about */
                r->intervals[i].low = mor_min(r->intervals[i].low, r->x[i]);
                r->intervals[i].high = mor_max(r->intervals[i].high, r->x[i]);
            }
            judge_parameters(k, r);
        }
        if (ok && !code && c->profile > 0) code = profile(k, r, error);
    }
    free(k->models);
    free(k);
    return code;
}

/* ------------------------------------------------------------------------------- methods */

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
        for (int k = 0; k < 4; k++) qsort(v + k * DRAWS, DRAWS, sizeof *v, ascending);
        for (int k = 0; k < 3; k++) {
            r->test_low[k] = quantile(v + k * DRAWS, DRAWS, 0.025);
            r->test_high[k] = quantile(v + k * DRAWS, DRAWS, 0.975);
        }
        r->ratio = mean_of(c, r->scores, test, n, 0) / mean_of(c, first->scores, test, n, 0);
        r->ratio_low = quantile(v + 3 * DRAWS, DRAWS, 0.025);
        r->ratio_high = quantile(v + 3 * DRAWS, DRAWS, 0.975);
    }
    free(test), free(v);
}
