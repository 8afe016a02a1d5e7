/* What became worse since an earlier comparison.
 *
 * Runs are paired by problem, formulation, solver and tolerance. For each method (the last three) the pairs that both
 * comparisons solved give ratios r_p = new/old of CPU time, iterations and error, and
 *
 *     ratio = exp( mean_p log r_p ),    [low, high] = 99.9 % interval by bootstrap over the problems.
 *
 * Times are divided by the median ratio of all other solvers first: a machine that is busier today is not a slower
 * method. Iterations and errors of the same program are the same bits, so there every difference is real; times need
 * the interval. Found is what is worse beyond doubt and large enough to matter:
 *
 *     slower           low > 1.05, at least 5 problems
 *     more iterations  low > 1.05
 *     less accurate    low > 2, over the runs whose error is above a thousandth of the tolerance
 *     unsolved         solved then, not now; a time limit counts only if then less than half of it was used
 *
 * The bootstrap draws 2000 samples with a fixed seed: the same files give the same answer.
 *
 * Reference: B. Efron, R. Tibshirani (1993), An Introduction to the Bootstrap, sec. 13.3. */
#include "lab/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/failed.h"
#include "io/json/json_read.h"

enum { SAMPLES = 2000, FEWEST = 5 };

typedef struct old_run {
    const char *problem, *formulation, *solver;
    double tol, time, error, iterations;
    bool solved;
} old_run;

static int compare_old(const void* a, const void* b)
{
    const old_run *x = a, *y = b;
    int c = strcmp(x->problem, y->problem);
    if (!c) c = strcmp(x->formulation, y->formulation);
    if (!c) c = strcmp(x->solver, y->solver);
    return c ? c : (x->tol > y->tol) - (x->tol < y->tol);
}

static const char* text_of(const mor_json_value* run, const char* key)
{
    const mor_json_value* v = mor_json_get(run, key);
    return v && v->kind == MOR_JSON_TEXT ? v->text : "";
}

static double number_of(const mor_json_value* run, const char* key)
{
    const mor_json_value* v = mor_json_get(run, key);
    return v && v->kind == MOR_JSON_NUMBER ? v->number : NAN;
}

static old_run* read_old(const mor_json_document* d, int* count, mor_error* error)
{
    const mor_json_value* runs = mor_json_get(mor_json_root(d), "runs");
    if (!runs || runs->kind != MOR_JSON_LIST) {
        mor_json_fail(d, mor_json_root(d), error, "no list of runs: not a document of compare --json");
        return NULL;
    }
    old_run* all = calloc((size_t)runs->count + 1, sizeof *all);
    if (!all) mor_fail(error, MOR_SYSTEM, "out of memory");
    *count = 0;
    for (const mor_json_value* r = runs->first; all && r; r = r->next)
        all[(*count)++] = (old_run){ text_of(r, "problem"),      text_of(r, "formulation"),
                                     text_of(r, "solver"),       number_of(r, "tol"),
                                     number_of(r, "total_s"),    number_of(r, "error"),
                                     number_of(r, "iterations"), strcmp(text_of(r, "status"), "solved") == 0 };
    if (all) qsort(all, (size_t)*count, sizeof *all, compare_old);
    return all;
}

static const old_run* find_old(const old_run* all, int count, const mor_lab* lab, const mor_lab_run* r)
{
    old_run key = { lab->problems[r->problem].name,
                    mor_lab_formulation_name(lab, r->formulation),
                    mor_lab_solver_name(lab, r->solver),
                    lab->options.tols[r->tol],
                    0,
                    0,
                    0,
                    false };
    return bsearch(&key, all, (size_t)count, sizeof key, compare_old);
}

/* -------------------------------------------------------------------------------- statistics */

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Mean of n logarithms and its interval. */
static void interval(const double* logs, int n, double* mean, double* low, double* high)
{
    static const double tail = 0.0005;
    double *means = malloc(SAMPLES * sizeof *means), sum = 0.0;
    uint64_t state = 0x9e3779b97f4a7c15u; /* fixed: the same files, the same answer */
    for (int i = 0; i < n; i++) sum += logs[i];
    *mean = *low = *high = sum / n;
    if (!means) return;
    for (int s = 0; s < SAMPLES; s++) {
        double one = 0.0;
        for (int i = 0; i < n; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            one += logs[(int)((state >> 33) % (uint64_t)n)];
        }
        means[s] = one / n;
    }
    qsort(means, SAMPLES, sizeof *means, ascending);
    *low = means[(int)(tail * SAMPLES)];
    *high = means[SAMPLES - 1 - (int)(tail * SAMPLES)];
    free(means);
}

static void add(mor_lab_watch* w, const mor_lab_finding* finding)
{
    if (w->count == w->capacity) {
        int capacity = w->capacity ? 2 * w->capacity : 16;
        mor_lab_finding* grown = realloc(w->findings, (size_t)capacity * sizeof *grown);
        if (!grown) return;
        w->findings = grown;
        w->capacity = capacity;
    }
    w->findings[w->count++] = *finding;
}

/* ---------------------------------------------------------------------------------- findings */

typedef struct pairs {
    const mor_lab* lab;
    const old_run** old; /* of every run, NULL: not there */
    double* logs;        /* scratch, one per problem */
    mor_lab_watch* watch;
} pairs;

/* Median of the ratios of time of all solvers but one (-2: of all). */
static double busier(const pairs* p, int without)
{
    int n = 0;
    for (int i = 0; i < p->lab->run_count; i++) {
        const mor_lab_run* r = &p->lab->runs[i];
        if (r->solver == without || !p->old[i] || !p->old[i]->solved || r->status != MOR_SOLVED) continue;
        double one = r->total_s / p->old[i]->time;
        if (one > 0.0 && isfinite(one)) p->logs[n++] = one;
    }
    if (!n) return p->watch->machine;
    qsort(p->logs, (size_t)n, sizeof *p->logs, ascending);
    return p->logs[n / 2];
}

static double ratio_of(mor_lab_change what, const mor_lab_run* now, const old_run* then, double tol)
{
    if (what == MOR_LAB_SLOWER) return now->total_s / then->time;
    if (what == MOR_LAB_MORE_STEPS) return (now->iterations + 1.0) / (then->iterations + 1.0);
    return fmax(now->error, 1e-3 * tol) / fmax(then->error, 1e-3 * tol);
}

static void look(const pairs* p, mor_lab_change what, int f, int s, int t)
{
    const mor_lab* lab = p->lab;
    double tol = lab->options.tols[t], largest = -INFINITY, mean, low, high;
    const double least = what == MOR_LAB_SLOWER ? 1.05 : what == MOR_LAB_MORE_STEPS ? 1.05 : 2.0;
    double machine = what == MOR_LAB_SLOWER ? busier(p, s) : 1.0;
    mor_lab_finding found = { .what = what, .formulation = f, .solver = s, .tol = t };
    for (int i = 0; i < lab->run_count; i++) {
        const mor_lab_run* r = &lab->runs[i];
        if (r->formulation != f || r->solver != s || r->tol != t || !p->old[i] || r->status != MOR_SOLVED ||
            !p->old[i]->solved)
            continue;
        double one = ratio_of(what, r, p->old[i], tol);
        if (!(one > 0.0) || !isfinite(one)) continue;
        if (what == MOR_LAB_SLOWER) one /= machine;
        if (one > largest) largest = one, found.example = r->problem;
        p->logs[found.problems++] = log(one);
    }
    if (found.problems < (what == MOR_LAB_SLOWER ? FEWEST : 1)) return;
    interval(p->logs, found.problems, &mean, &low, &high);
    found.ratio = exp(mean), found.low = exp(low), found.high = exp(high);
    if (found.low > least) add(p->watch, &found);
}

static void look_for_unsolved(const pairs* p, int f, int s, int t)
{
    const mor_lab* lab = p->lab;
    mor_lab_finding found = { MOR_LAB_UNSOLVED, f, s, t, 0, NAN, NAN, NAN, -1 };
    for (int i = 0; i < lab->run_count; i++) {
        const mor_lab_run* r = &lab->runs[i];
        if (r->formulation != f || r->solver != s || r->tol != t || !p->old[i] || !p->old[i]->solved ||
            r->status == MOR_SOLVED || (r->status == MOR_TIME_LIMIT && p->old[i]->time > 0.5 * lab->options.time_limit))
            continue;
        if (found.example < 0) found.example = r->problem;
        found.problems++;
    }
    if (found.problems) add(p->watch, &found);
}

mor_code mor_lab_watch_make(const mor_lab* lab, const char* path, mor_lab_watch* watch, mor_error* error)
{
    *watch = (mor_lab_watch){ .machine = 1.0 };
    mor_json_document* d = mor_json_read_file(path, error);
    if (!d) return mor_failed(error, MOR_BAD_INPUT);
    int count = 0;
    old_run* all = read_old(d, &count, error);
    pairs p = { lab, calloc((size_t)lab->run_count + 1, sizeof *p.old),
                malloc(((size_t)lab->run_count + 1) * sizeof *p.logs), watch };
    mor_code code = all ? MOR_OK : mor_failed(error, MOR_BAD_INPUT);
    if (!code && (!p.old || !p.logs)) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < lab->run_count && !code; i++)
        if ((p.old[i] = find_old(all, count, lab, &lab->runs[i]))) watch->compared++;
    if (!code && watch->compared == 0)
        code = mor_fail(error, MOR_BAD_INPUT, "%s: no run in common: other problems, methods or tolerances", path);
    if (!code) watch->machine = busier(&p, -2);
    for (int f = -1; f < lab->formulation_count && !code; f++)
        for (int s = -1; s < lab->solver_count; s++)
            for (int t = 0; t < lab->options.tol_count; t++) {
                for (int what = MOR_LAB_SLOWER; what < MOR_LAB_UNSOLVED; what++)
                    look(&p, (mor_lab_change)what, f, s, t);
                look_for_unsolved(&p, f, s, t);
            }
    free(p.old);
    free(p.logs);
    free(all);
    mor_json_free(d);
    return code;
}

void mor_lab_watch_free(mor_lab_watch* watch)
{
    free(watch->findings);
    memset(watch, 0, sizeof *watch);
}

const char* mor_lab_change_name(mor_lab_change what)
{
    static const char* const names[] = { "slower", "more iterations", "less accurate", "unsolved" };
    return names[what];
}
