/* Calibration: for every method starts, fit, intervals, and the errors of the runs that were held out.
 *
 * Searches begin at several points (calibrate_starts.c). Evaluations are shared equally by the
 * starts; a point that was evaluated before costs nothing, so an interrupted calibration goes on by asking again, and
 * the journals of shards are put together in the same way. A fit is one method in one split. */
#include "lab/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct session {
    mor_calibration* c;
    mor_cal_journal* journal;
    mor_cal_progress progress;
    void* user;
    mor_error* error;
    mor_code code;
    volatile bool stop;
    int method, asked;
    double best;
} session;

/* A point that the fit of a method uses, whether it was simulated now or is in the journal. */
static const mor_cal_point* count(mor_calibration* c, mor_cal_point* p)
{
    if (p->counted) return p;
    p->counted = true;
    c->results[p->method].evaluations++;
    c->results[p->method].time_s += p->time_s;
    return p;
}

static const mor_cal_point* not_there(session* s, int method)
{
    s->code = mor_fail(s->error, MOR_BAD_INPUT,
                       "the journals are not whole: an evaluation of '%.60s' in split %d is missing; a shard is not "
                       "named or has not ended",
                       s->c->methods[method].name, s->c->split + 1);
    s->stop = true;
    return NULL;
}

static const mor_cal_point* ask(void* user, int method, const double* x, bool test)
{
    session* s = user;
    mor_calibration* c = s->c;
    size_t size = (size_t)c->methods[method].parameter_count * sizeof *x;
    if (s->stop) return NULL;
    s->asked++;
    for (int i = c->point_count - 1; i >= 0; i--) {
        mor_cal_point* p = c->points[i];
        if (p->split != c->split || p->method != method || p->horizon != c->after_contact || p->test != test) continue;
        if (memcmp(p->x, x, size) == 0) return count(c, p);
    }
    if (c->merged_count) return not_there(s, method);
    mor_cal_point* p = mor_cal_keep(c, method, x, test);
    if (!p) s->code = mor_fail(s->error, MOR_SYSTEM, "out of memory");
    else s->code = mor_cal_simulate(c, method, x, test, p->scores, &p->time_s, s->error);
    if (!s->code && s->journal) s->code = mor_cal_journal_add(s->journal, c, p, s->error);
    if (s->code) {
        if (p) free(p->scores), free(p), c->point_count--;
        s->stop = true;
        return NULL;
    }
    count(c, p);
    double mean[3];
    if (mor_cal_mean(c, p->scores, true, mean) == 0 && mean[0] < s->best) s->best = mean[0];
    if (s->progress && !s->progress(s->user, c, method, s->asked, s->best)) {
        s->stop = true;
        s->code = mor_fail(s->error, MOR_STOPPED, "stopped");
    }
    return p;
}

static double cost(void* user, const double* z)
{
    session* s = user;
    const mor_cal_method* m = &s->c->methods[s->method];
    double x[MOR_CAL_PARAMETERS], mean[3];
    for (int i = 0; i < m->parameter_count; i++) x[i] = mor_cal_from_unit(&s->c->parameters[m->parameters[i]], z[i]);
    const mor_cal_point* p = ask(s, s->method, x, false);
    if (!p || mor_cal_mean(s->c, p->scores, true, mean) > 0) return HUGE_VAL;
    return mean[0];
}

static int grid_points(const mor_cal_parameter* p)
{
    return p->step > 0.0 ? (int)floor((p->high - p->low) / p->step + 1.0 + 1e-9) : 11;
}

/* From all starts, or from the best point so far alone: z becomes the best point. */
static mor_code search(session* s, bool go_on, double* z, double* best, mor_error* error)
{
    mor_calibration* c = s->c;
    const mor_cal_method* m = &c->methods[s->method];
    bool grid = strcmp(c->optimiser, "grid") == 0, slopes = strcmp(c->optimiser, "gradient") == 0;
    bool global =
        strcmp(c->optimiser, "crs2") == 0 || strcmp(c->optimiser, "direct") == 0 || strcmp(c->optimiser, "isres") == 0;
    int n = m->parameter_count, starts = 1, counts[MOR_CAL_PARAMETERS];
    double f;
    *best = HUGE_VAL;
    if (slopes && m->engine)
        return mor_fail(error, MOR_BAD_INPUT,
                        "%.60s: the slopes of another engine are not known; take another optimiser", m->name);
    for (int i = 0; i < n; i++) counts[i] = grid_points(&c->parameters[m->parameters[i]]);
    double* all = malloc((size_t)c->starts * (size_t)n * sizeof *all);
    mor_code code = all ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code && go_on) memcpy(all, z, (size_t)n * sizeof *all);
    else if (!code)
        code =
            mor_cal_make_starts(c, s->method, grid || global ? 1 : c->starts, cost, s, &s->stop, all, &starts, error);
    int share = c->evaluations / starts > 1 ? c->evaluations / starts : 1;
    mor_cal_result* r = &c->results[s->method];
    for (int k = 0; k < starts && !s->stop && !code; k++) {
        double* y = all + k * n;
        int asked = s->asked, spent = r->evaluations;
        code = slopes ? mor_cal_gradient(c, s->method, y, cost, s, share, &s->stop, &f, error)
                      : mor_optimise(c->optimiser, n, counts, y, cost, s, share, c->tolerance, go_on ? 0.05 : 0.15,
                                     (unsigned long)c->seed, &s->stop, &f, error);
        if (code || !(f < *best)) continue;
        *best = f;
        r->used_up = !grid && (slopes ? r->evaluations - spent : s->asked - asked) >= share;
        memcpy(z, y, (size_t)n * sizeof *z);
    }
    free(all);
    return code ? code : s->code;
}

/* Short horizons first, if the plan has any: their errors are smooth in the values, those of long paths are rough. */
static mor_code fit(session* s, mor_error* error)
{
    mor_calibration* c = s->c;
    const mor_cal_method* m = &c->methods[s->method];
    mor_cal_result* r = &c->results[s->method];
    double best = HUGE_VAL, z[MOR_CAL_PARAMETERS];
    int whole = c->after_contact;
    mor_code code = MOR_OK;
    for (int i = 0; i < m->parameter_count; i++) r->x[i] = c->parameters[m->parameters[i]].start;
    for (int h = 0; h <= c->horizon_count && !code; h++) {
        c->after_contact = h < c->horizon_count ? c->horizons[h] : whole;
        s->best = HUGE_VAL;
        code = search(s, h > 0 && isfinite(best), z, &best, error);
    }
    c->after_contact = whole;
    if (code) return code;
    if (!isfinite(best))
        return mor_fail(error, MOR_BAD_INPUT, "%s: with no values that were tried all runs could be simulated%s%s",
                        m->name, c->refusal[0] ? "; the scene refused some: " : "", c->refusal);
    for (int i = 0; i < m->parameter_count; i++) r->x[i] = mor_cal_from_unit(&c->parameters[m->parameters[i]], z[i]);
    return MOR_OK;
}

/* Errors of all runs at the best point and at the start. */
static mor_code finish(session* s)
{
    mor_calibration* c = s->c;
    mor_cal_result* r = &c->results[s->method];
    const mor_cal_method* m = &c->methods[s->method];
    double x[MOR_CAL_PARAMETERS], mean[3];
    for (int i = 0; i < m->parameter_count; i++) x[i] = c->parameters[m->parameters[i]].start;
    const mor_cal_point* p = ask(s, s->method, x, true);
    if (!p) return s->code;
    mor_cal_mean(c, p->scores, true, mean), r->start_train = mean[0];
    mor_cal_mean(c, p->scores, false, mean), r->start_test = mean[0];
    if (!(p = ask(s, s->method, r->x, true))) return s->code;
    r->failures = mor_cal_mean(c, p->scores, true, r->train) + mor_cal_mean(c, p->scores, false, r->test);
    r->scores = malloc((size_t)c->run_count * sizeof *r->scores);
    if (!r->scores) return mor_fail(s->error, MOR_SYSTEM, "out of memory");
    memcpy(r->scores, p->scores, (size_t)c->run_count * sizeof *r->scores);
    mor_code code = mor_cal_curve(c, s->method, r->x, r->curve, s->error);
    r->done = !code;
    return code;
}

static mor_code fit_method(session* s, mor_error* error)
{
    s->best = HUGE_VAL, s->asked = 0;
    mor_code code = fit(s, error);
    if (!code) code = mor_cal_intervals(s->c, s->method, ask, s, error);
    if (!code) code = s->code;
    return code ? code : finish(s);
}

mor_code mor_calibration_run(mor_calibration* c, int jobs, const char* journal, bool resume, mor_cal_progress progress,
                             void* user, mor_error* error)
{
    session s = { .c = c, .progress = progress, .user = user, .error = error };
    c->jobs = jobs;
    for (int i = 0; i < c->merged_count; i++)
        if (mor_cal_journal_take(c, c->merged[i], error)) return error->code;
    if (journal && !(s.journal = mor_cal_journal_open(c, journal, resume, error))) return error->code;
    mor_code code = c->fit_initial || c->after_contact || c->horizon_count ? mor_cal_find_flights(c, error) : MOR_OK;
    if (!code) code = mor_cal_check_contacts(c, error);
    for (int split = 0; split < c->split_count && !code; split++) {
        mor_cal_use_split(c, split);
        for (s.method = 0; s.method < c->method_count && !code; s.method++)
            if (mor_cal_own(c, split, s.method)) code = fit_method(&s, error);
        mor_cal_compare(c);
    }
    mor_cal_use_split(c, 0);
    mor_cal_check_still(c);
    mor_cal_summarise(c);
    mor_error closing = { 0 };
    mor_code closed = mor_cal_journal_close(s.journal, code ? &closing : error);
    return code ? code : closed;
}
