/* How well parameters are known: intervals, correlation, what cannot be identified, and methods compared.
 *
 * Around the best point a quadratic is fitted to the error of every run,
 *
 *     e_r(y) = a_r + b_r' y + y' C_r y/2,    y = (z - z_best)/d    (z in the unit cube of the ranges)
 *
 * on 1 + 2n + (n + 1)(n + 2) points. The steps d are such that the mean error rises by 5 to 40 %: a mean of distances
 * is a hyperbola in a parameter, and this is where it is still curved. The mean of these quadratics over runs that are
 * drawn again with replacement has its own least point; the 2.5 and 97.5 % quantiles of these points make the interval,
 * as wide as few runs and several values ask for (calibrate_draws.c). Where the interval is much smaller or larger than
 * the steps, they are made to fit it and all is done once more. The correlation of the points is that of the
 * parameters.
 *
 * A parameter cannot be identified when its whole range changes the error by less than a standard error, when its
 * interval covers nine tenths of the range, or when it moves with another one (|correlation| > 0.98).
 *
 * B. Efron, R. J. Tibshirani, An introduction to the bootstrap (1993); A. Raue et al., Bioinformatics 25 (2009)
 * 1923-1929 for profiles. */
#include "base/elementary.h"
#include "lab/calibrate_work.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 9 };
#define FAR 6.0 /* steps d within which a quadratic is believed */

/* Mean rise of the error over the best point: in standard errors of the paired difference, and as a part of it. */
double mor_cal_significance(const mor_cal_work* k, const mor_cal_point* p, double* part)
{
    double sum = 0.0, squares = 0.0, size = 0.0;
    int n = 0;
    *part = HUGE_VAL;
    for (int i = 0; i < k->c->run_count; i++) {
        if (!k->c->runs[i].train) continue;
        double e = p->scores[i].error - k->best->scores[i].error;
        if (isnan(e)) return HUGE_VAL;
        sum += e, squares += e * e, size += fabs(k->best->scores[i].error), n++;
    }
    double mean = sum / n, spread = sqrt(mor_max(squares / n - mean * mean, 0.0) / mor_max(n - 1, 1));
    *part = sum / mor_max(size, 1e-300);
    return mean / mor_max(spread, 1e-6 * size / n + 1e-300);
}

/* A step of parameter j that the data can tell. False: stopped. */
static bool find_step(mor_cal_work* k, int j)
{
    k->d[j] = 0.05, k->flat[j] = true;
    for (int i = 0; i < TRIES; i++) {
        double z[MOR_CAL_PARAMETERS], rise = 0.0, most = 0.0;
        int sides = 0;
        for (int side = -1; side <= 1; side += 2) {
            memcpy(z, k->z, sizeof z);
            z[j] = mor_min(mor_max(z[j] + side * k->d[j], 0.0), 1.0);
            if (z[j] == k->z[j]) continue;
            const mor_cal_point* p = mor_cal_at(k, z);
            double part, here;
            if (!p) return false;
            here = mor_cal_significance(k, p, &part);
            if (isinf(part)) continue; /* a run cannot be simulated there: a wall, not a steep error */
            sides++;
            rise = mor_max(rise, here);
            most = mor_max(most, part);
        }
        k->flat[j] = k->flat[j] && rise < 1.0; /* no step changed the error */
        if (sides == 0) most = HUGE_VAL;
        if (most > 0.4) k->d[j] *= 0.4;
        else if (most < 0.05 && k->d[j] < 1.0) k->d[j] = mor_min(2.5 * k->d[j], 1.0);
        else break;
    }
    return true;
}

/* Flat: from one end of its range to the other the error rises by less than two standard errors. Slopes at the best
 * point alone do not say so of a parameter that acts at one end only. */
static void look_at_ends(mor_cal_work* k, int j)
{
    double z[MOR_CAL_PARAMETERS], rise = HUGE_VAL, part;
    for (int end = 0; end < 2; end++) {
        memcpy(z, k->z, sizeof z);
        z[j] = end;
        const mor_cal_point* p = mor_cal_at(k, z);
        double here = p ? mor_cal_significance(k, p, &part) : HUGE_VAL;
        rise = end == 0 ? here : mor_max(rise, here);
    }
    k->flat[j] = rise < 2.0;
}

static bool add_point(mor_cal_work* k, const double* z)
{
    const mor_cal_point* p = mor_cal_at(k, z);
    if (!p) return false;
    double mean[3];
    if (mor_cal_mean(k->c, p->scores, true, mean) > 0 || k->count == MOR_CAL_POINTS) return true;
    for (int i = 0; i < k->n; i++) k->y[k->count][i] = (z[i] - k->z[i]) / k->d[i];
    k->points[k->count++] = p;
    return true;
}

static bool make_design(mor_cal_work* k)
{
    double z[MOR_CAL_PARAMETERS];
    if (!add_point(k, k->z)) return false;
    for (int j = 0; j < k->n; j++)
        for (int side = -1; side <= 1 && !k->flat[j]; side += 2) {
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
            if (k->flat[j]) z[j] = k->z[j];
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
static bool fit_models(mor_cal_work* k)
{
    int T = k->terms;
    double* A = calloc((size_t)T * (size_t)T, sizeof *A);
    k->models = calloc((size_t)k->runs * (size_t)T + 1, sizeof *k->models);
    bool ok = A && k->models;
    for (int p = 0; p < k->count && ok; p++) {
        double f[MOR_CAL_TERMS];
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

/* The least point without bounds; of one that has none, nearly flat directions made a little steeper. */
static void least_anywhere(int n, double C[MOR_CAL_PARAMETERS][MOR_CAL_PARAMETERS], const double* model, double* y)
{
    double A[MOR_CAL_PARAMETERS * MOR_CAL_PARAMETERS], trace = 1e-300;
    for (int i = 0; i < n; i++) trace += fabs(C[i][i]) / n;
    for (double ridge = 1e-6; ridge < 100.0; ridge *= 10.0) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) A[n * i + j] = C[i][j] + (i == j ? ridge * trace : 0.0);
            y[i] = -model[1 + i];
        }
        if (!mor_cholesky_factor(n, A)) continue;
        mor_cholesky_solve(n, A, y);
        return;
    }
    memset(y, 0, (size_t)n * sizeof *y);
}

/* The least point of a quadratic in the box that is believed: from that without bounds, coordinate by coordinate. */
static void least(const mor_cal_work* k, const double* model, double* y)
{
    int n = k->n;
    double C[MOR_CAL_PARAMETERS][MOR_CAL_PARAMETERS];
    for (int i = 0, t = n + 1; i < n; i++)
        for (int j = i; j < n; j++) C[i][j] = C[j][i] = model[t++];
    least_anywhere(n, C, model, y);
    double part = 1.0; /* of the way there, within the box */
    for (int i = 0; i < n; i++) {
        double low = mor_max(-k->z[i] / k->d[i], -FAR), high = mor_min((1.0 - k->z[i]) / k->d[i], FAR);
        if (k->flat[i]) y[i] = 0.0;
        if (y[i] < low) part = mor_min(part, low / y[i]);
        if (y[i] > high) part = mor_min(part, high / y[i]);
    }
    for (int i = 0; i < n; i++) y[i] *= part;
    for (int sweep = 0; sweep < 400; sweep++) {
        double moved = 0.0;
        for (int i = 0; i < n; i++) {
            double low = mor_max(-k->z[i] / k->d[i], -FAR), high = mor_min((1.0 - k->z[i]) / k->d[i], FAR);
            double slope = model[1 + i], to;
            if (k->flat[i]) continue;
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

void mor_cal_mean_model(mor_cal_work* k, bool draw, double* model)
{
    memset(model, 0, (size_t)k->terms * sizeof *model);
    for (int i = 0; i < k->runs; i++) {
        int r = draw ? (int)(mor_rng_uniform(&k->rng) * k->runs) : i;
        if (r >= k->runs) r = k->runs - 1;
        for (int t = 0; t < k->terms; t++) model[t] += k->models[k->terms * r + t] / k->runs;
    }
}

/* Quantiles and correlation of the least points of drawn runs. */
static bool draw(mor_cal_work* k, const double* centre, mor_cal_result* r, double* spread)
{
    int B = k->c->bootstrap, n = k->n;
    double *all = malloc(((size_t)B * (size_t)n + 1) * sizeof *all), *one = malloc(((size_t)B + 1) * sizeof *one);
    double model[MOR_CAL_TERMS], deviation[MOR_CAL_PARAMETERS], alone = 1.0, together = 1.0;
    bool ok = all && one;
    for (int b = 0; b < B && ok; b++) {
        mor_cal_mean_model(k, true, model);
        least(k, model, all + b * n);
    }
    ok = ok && mor_cal_widths(k, all, &alone, &together);
    if (ok) mor_cal_correlate(k, all, r, deviation);
    for (int i = 0; i < n && ok; i++) {
        for (int b = 0; b < B; b++) one[b] = all[b * n + i];
        qsort(one, (size_t)B, sizeof *one, mor_cal_ascending);
        spread[i] = mor_cal_quantile(one, B, 0.975) - mor_cal_quantile(one, B, 0.025);
        /* quantiles about the middle of the draws; where these lie to one side, because runs fail on the other, at
         * least as far as their inner spread (two thirds of the draws) asks for */
        double middle = mor_cal_quantile(one, B, 0.5);
        double inner = 0.98 * (mor_cal_quantile(one, B, 0.8413) - mor_cal_quantile(one, B, 0.1587)); /* 1.96 sigma */
        double below = mor_max(mor_max(centre[i], middle) - mor_cal_quantile(one, B, 0.025), inner);
        double above = mor_max(mor_cal_quantile(one, B, 0.975) - mor_min(centre[i], middle), inner);
        mor_cal_set_interval(k, r, i, k->d[i] * below, k->d[i] * above, alone, together);
    }
    free(all), free(one);
    return ok;
}

/* ------------------------------------------------------------------------------- verdicts */

static void judge_parameters(const mor_cal_work* k, mor_cal_result* r)
{
    for (int i = 0; i < k->n; i++) {
        const mor_cal_parameter* p = &k->c->parameters[k->m->parameters[i]];
        mor_cal_interval* v = &r->intervals[i];
        double z = mor_cal_to_unit(p, r->x[i]);
        v->at_bound = z < 0.005 || z > 0.995;
        v->moved = r->x[i] != p->start;
        v->identifiable = true;
        double wide = mor_cal_to_unit(p, v->alone_high) - mor_cal_to_unit(p, v->alone_low);
        if (k->flat[i]) snprintf(v->why, sizeof v->why, "the error hardly changes over the range");
        else if (wide > 0.9) snprintf(v->why, sizeof v->why, "its interval covers the range");
        for (int j = 0; j < k->n && !v->why[0]; j++)
            if (j != i && fabs(r->correlation[i][j]) > 0.98)
                snprintf(v->why, sizeof v->why, "it moves with %.100s (correlation %.2f)",
                         k->c->parameters[k->m->parameters[j]].name, r->correlation[i][j]);
        v->judged = true;
        if (v->why[0]) v->identifiable = false;
        if (k->flat[i]) mor_cal_widen(v, p->low), mor_cal_widen(v, p->high);
    }
}

static void no_interval(mor_cal_work* k, mor_cal_result* r, const char* why)
{
    for (int i = 0; i < k->n; i++) {
        const mor_cal_parameter* p = &k->c->parameters[k->m->parameters[i]];
        r->intervals[i] = (mor_cal_interval){
            .low = p->low, .high = p->high, .alone_low = p->low, .alone_high = p->high, .moved = r->x[i] != p->start
        };
        snprintf(r->intervals[i].why, sizeof r->intervals[i].why, "%s", why);
        for (int j = 0; j < k->n; j++) r->correlation[i][j] = i == j ? 1.0 : NAN;
    }
}

/* The least point of the mean quadratic, if it is better than the best so far. */
static bool polish(mor_cal_work* k, double* centre, mor_cal_result* r)
{
    double model[MOR_CAL_TERMS], z[MOR_CAL_PARAMETERS], mean[3], old[3];
    mor_cal_mean_model(k, false, model);
    least(k, model, centre);
    for (int i = 0; i < k->n; i++) z[i] = mor_min(mor_max(k->z[i] + k->d[i] * centre[i], 0.0), 1.0);
    const mor_cal_point* p = mor_cal_at(k, z);
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

/* The best of all points that were tried. */
static void take_best(mor_cal_work* k, mor_cal_result* r)
{
    double least, mean[3];
    mor_cal_mean(k->c, k->best->scores, true, mean);
    least = mean[0];
    for (int i = 0; i < k->c->point_count; i++) {
        const mor_cal_point* p = k->c->points[i];
        if (p->method != k->method || mor_cal_mean(k->c, p->scores, true, mean) || !(mean[0] < least)) continue;
        least = mean[0];
        k->best = p;
    }
    for (int i = 0; i < k->n; i++) {
        r->x[i] = k->best->x[i];
        k->z[i] = mor_cal_to_unit(&k->c->parameters[k->m->parameters[i]], r->x[i]);
        mor_cal_widen(&r->intervals[i], r->x[i]);
    }
}

/* Models of the runs, drawn runs, and steps that fit what comes out, once more if need be. */
static mor_code find_intervals(mor_cal_work* k, mor_cal_result* r, mor_error* error)
{
    if (strcmp(k->c->optimiser, "gradient") == 0 && k->c->error == MOR_CAL_EQ18) {
        bool done = false;
        mor_code code = mor_cal_linear_intervals(k, r, &done, error);
        for (int j = 0; j < k->n && done; j++) look_at_ends(k, j);
        if (done) judge_parameters(k, r);
        if (code || done) return code || k->c->profile == 0 ? code : mor_cal_profile(k, r, error);
    }
    for (int j = 0; j < k->n; j++)
        if (!find_step(k, j)) return MOR_OK; /* the session knows why */
    for (int pass = 0;; pass++) {
        double centre[MOR_CAL_PARAMETERS] = { 0 }, spread[MOR_CAL_PARAMETERS];
        k->count = 0;
        if (!make_design(k)) return MOR_OK;
        free(k->models);
        k->models = NULL;
        if (k->count < k->terms || !fit_models(k)) {
            no_interval(k, r, "too few points around the best one could be simulated");
            return MOR_OK;
        }
        if (!polish(k, centre, r)) return MOR_OK;
        if (!draw(k, centre, r, spread)) return mor_fail(error, MOR_SYSTEM, "out of memory");
        bool again = false;
        for (int i = 0; i < k->n && pass == 0; i++) {
            if (spread[i] > 0.3 && spread[i] < 3.0) continue;
            double to = mor_min(k->d[i] * mor_min(mor_max(spread[i], 0.1), 4.0), 1.0);
            again = again || to != k->d[i];
            k->d[i] = to;
        }
        if (!again) break;
        for (int i = 0; i < k->n; i++) k->z[i] = mor_cal_to_unit(&k->c->parameters[k->m->parameters[i]], r->x[i]);
        if (!(k->best = mor_cal_at(k, k->z))) return MOR_OK;
    }
    for (int i = 0; i < k->n; i++) { /* the interval holds the value it is about */
        k->z[i] = mor_cal_to_unit(&k->c->parameters[k->m->parameters[i]], r->x[i]);
        mor_cal_widen(&r->intervals[i], r->x[i]);
    }
    if (!(k->best = mor_cal_at(k, k->z))) return MOR_OK;
    mor_code code = mor_cal_walk_valleys(k, error);
    if (code) return code;
    take_best(k, r); /* the walk may have found a better one */
    mor_cal_take_equals(k, r);
    judge_parameters(k, r);
    return k->c->profile > 0 ? mor_cal_profile(k, r, error) : MOR_OK;
}

/* Where there are no intervals: values from one end of whose range to the other the error stays as it is. */
static void find_idle(mor_cal_work* k, mor_cal_result* r)
{
    double best[3], here[3], z[MOR_CAL_PARAMETERS];
    mor_cal_mean(k->c, k->best->scores, true, best);
    for (int i = 0; i < k->n; i++) {
        bool idle = true;
        for (int end = 0; end < 2 && idle; end++) {
            memcpy(z, k->z, sizeof z);
            z[i] = end;
            const mor_cal_point* p = mor_cal_at(k, z);
            if (!p) return;
            bool fails = mor_cal_mean(k->c, p->scores, true, here) > 0;
            idle = !fails && fabs(here[0] - best[0]) <= 1e-6 * fabs(best[0]);
        }
        mor_cal_interval* v = &r->intervals[i];
        if (!idle) continue;
        snprintf(v->why, sizeof v->why, "the error does not change over the range");
        v->judged = true;
    }
}

mor_code mor_cal_intervals(mor_calibration* c, int method, mor_cal_ask ask, void* user, mor_error* error)
{
    mor_cal_result* r = &c->results[method];
    mor_cal_work* k = calloc(1, sizeof *k);
    if (!k) return mor_fail(error, MOR_SYSTEM, "out of memory");
    *k = (mor_cal_work){ .c = c, .m = &c->methods[method], .method = method, .ask = ask, .user = user };
    k->rng = (mor_rng){ (uint64_t)c->seed + 977u };
    k->n = k->m->parameter_count;
    k->terms = (k->n + 1) * (k->n + 2) / 2;
    for (int i = 0; i < c->run_count; i++) k->runs += c->runs[i].train;
    for (int i = 0; i < k->n; i++)
        k->z[i] = mor_min(mor_max(mor_cal_to_unit(&c->parameters[k->m->parameters[i]], r->x[i]), 0.0), 1.0);
    k->best = mor_cal_at(k, k->z);
    mor_code code = MOR_OK;
    if (k->best && (k->runs < 2 || c->bootstrap < 2)) {
        no_interval(k, r, k->runs < 2 ? "one run gives no interval" : "no interval was asked for");
        if (c->bootstrap >= 2) find_idle(k, r);
    } else if (k->best) code = find_intervals(k, r, error);
    free(k->models);
    free(k);
    return code;
}
