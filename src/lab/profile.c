/* Performance profiles: with t_ps the time of solver s on problem p, and infinity where it failed,
 *
 *     r_ps = t_ps / min_s t_ps,     rho_s(tau) = |{ p : r_ps <= tau }| / |P|
 *
 * rho_s(1) is how often s is the fastest, rho_s(inf) how often it succeeds. P holds every problem of the set, also
 * those that nobody solved: a common failure lowers all curves. While a comparison is not complete, P holds only the
 * problems on which all its solvers have run: a run that was not made has neither succeeded nor failed. A data profile
 * is the same against absolute time. The time is total_s.
 *
 * E. D. Dolan, J. J. More (2002), Benchmarking optimization software with performance profiles, eq. (2.1);
 * J. J. More, S. M. Wild (2009), Benchmarking derivative-free optimization algorithms. */
#include "lab/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median_of(double* values, int n)
{
    if (n == 0) return NAN;
    qsort(values, (size_t)n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

static void score(const mor_lab* lab, mor_lab_profile* p, int k, double* scratch)
{
    mor_lab_score* s = &p->scores[k];
    int n = p->problem_count;
    const double* t = p->time + (size_t)k * (size_t)n;
    double* other = scratch + n;
    *s = (mor_lab_score){ .solver = p->solvers[k], .problems = n };
    double sum = 0.0;
    int errors = 0;
    for (int i = 0; i < n; i++) {
        const mor_lab_run* run = mor_lab_find(lab, p->problems[i], p->formulation, p->solvers[k], p->tol);
        if (run && isfinite(run->error)) scratch[errors++] = run->error;
    }
    s->median_error = median_of(scratch, errors);
    for (int i = 0; i < n; i++) {
        if (!isfinite(t[i])) continue;
        const mor_lab_run* run = mor_lab_find(lab, p->problems[i], p->formulation, p->solvers[k], p->tol);
        scratch[s->solved] = t[i];
        other[s->solved++] = run->iterations;
        sum += log(t[i] / p->best[i]);
        s->fastest += t[i] == p->best[i];
    }
    s->ratio = s->solved ? exp(sum / s->solved) : NAN;
    s->median = median_of(scratch, s->solved);
    s->median_iterations = median_of(other, s->solved);
}

/* Is a run of this problem planned and not made? */
static bool unfinished(const mor_lab* lab, int problem, int formulation, int tol)
{
    for (int s = 0; s < lab->solver_count; s++)
        if (!mor_lab_find(lab, problem, formulation, s, tol) && mor_lab_slot(lab, problem, formulation, s, tol) >= 0)
            return true;
    return false;
}

bool mor_lab_profile_make(const mor_lab* lab, int formulation, int tol, bool (*member)(const mor_lab_problem* problem),
                          mor_lab_profile* p)
{
    *p = (mor_lab_profile){ .formulation = formulation, .tol = tol };
    int n = lab->problem_count;
    p->problems = malloc(((size_t)n + 1) * sizeof *p->problems);
    p->best = malloc(((size_t)n + 1) * sizeof *p->best);
    p->time = malloc(((size_t)n + 1) * ((size_t)lab->solver_count + 1) * sizeof *p->time);
    double* scratch = malloc((2 * (size_t)n + 2) * sizeof *scratch);
    if (!p->problems || !p->best || !p->time || !scratch) {
        free(scratch);
        mor_lab_profile_free(p);
        return false;
    }
    bool seen[MOR_LAB_METHODS] = { false };
    for (int i = 0; i < n; i++) { /* problems with a run at this formulation and tolerance */
        bool any = false;
        if ((lab->problems[i].frame < 0) != (formulation < 0) || (member && !member(&lab->problems[i]))) continue;
        if (!lab->complete && unfinished(lab, i, formulation, tol)) {
            p->unfinished++;
            continue;
        }
        for (int s = 0; s < lab->solver_count; s++)
            if (mor_lab_find(lab, i, formulation, s, tol)) any = seen[s] = true;
        if (any) p->problems[p->problem_count++] = i;
    }
    for (int s = 0; s < lab->solver_count; s++)
        if (seen[s]) p->solvers[p->solver_count++] = s;
    int m = p->problem_count;
    for (int i = 0; i < m; i++) {
        p->best[i] = INFINITY;
        for (int k = 0; k < p->solver_count; k++) {
            const mor_lab_run* r = mor_lab_find(lab, p->problems[i], formulation, p->solvers[k], tol);
            double t = r && r->status == MOR_SOLVED ? fmax(r->total_s, 1e-9) : INFINITY;
            p->time[(size_t)k * (size_t)m + (size_t)i] = t;
            p->best[i] = fmin(p->best[i], t);
        }
    }
    for (int k = 0; k < p->solver_count; k++) score(lab, p, k, scratch);
    free(scratch);
    return true;
}

void mor_lab_profile_free(mor_lab_profile* p)
{
    free(p->problems);
    free(p->best);
    free(p->time);
    memset(p, 0, sizeof *p);
}

double mor_lab_rho(const mor_lab_profile* p, int k, double tau)
{
    int n = p->problem_count, good = 0;
    const double* t = p->time + (size_t)k * (size_t)n;
    for (int i = 0; i < n; i++) good += isfinite(t[i]) && t[i] <= tau * p->best[i];
    return n ? (double)good / n : 0.0;
}

double mor_lab_delta(const mor_lab_profile* p, int k, double limit)
{
    int n = p->problem_count, good = 0;
    const double* t = p->time + (size_t)k * (size_t)n;
    for (int i = 0; i < n; i++) good += t[i] <= limit;
    return n ? (double)good / n : 0.0;
}

int mor_lab_winner(const mor_lab_profile* p)
{
    int best = -1;
    for (int k = 0; k < p->solver_count; k++) {
        const mor_lab_score *s = &p->scores[k], *b = best < 0 ? NULL : &p->scores[best];
        if (s->solved == 0) continue;
        if (!b || s->solved > b->solved || (s->solved == b->solved && s->ratio < b->ratio)) best = k;
    }
    return best;
}
