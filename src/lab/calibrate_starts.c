/* Where the searches of a calibration begin.
 *
 * The first start is the plan's. Without a scan the others are one point in each of equal parts of every range, in
 * random order. With `scan: N` a Sobol sequence of N points is evaluated first, and the others are the best of them,
 * each at least APART of a range away from the starts before it: errors of motions with contact have several valleys,
 * and a local search from a few points chosen blindly ends in a wrong one. */
#include "lab/calibrate_work.h"
#include "lab/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double APART = 0.1; /* of a range, in the coordinate that differs most */

static void own_start(const mor_calibration* c, const mor_cal_method* m, double* z)
{
    for (int i = 0; i < m->parameter_count; i++) {
        const mor_cal_parameter* p = &c->parameters[m->parameters[i]];
        z[i] = mor_cal_to_unit(p, p->start);
    }
}

static void blind_start(const mor_calibration* c, const mor_cal_method* m, int k, double* z)
{
    int parts = c->starts - 1, order[1000];
    mor_rng rng = { (uint64_t)c->seed + 5u };
    for (int i = 0; i < m->parameter_count; i++) {
        for (int a = 0; a < parts; a++) order[a] = a;
        for (int a = parts - 1; a > 0; a--) {
            int b = (int)(mor_rng_uniform(&rng) * (a + 1)), swap = order[a];
            if (b > a) b = a;
            order[a] = order[b], order[b] = swap;
        }
        z[i] = (order[k - 1] + 0.5) / parts;
    }
}

static bool apart(int n, const double* a, const double* b)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most > APART;
}

/* The best point of the scan that is apart from all starts so far; -1: there is none. */
static int best_left(int n, const double* points, const double* costs, long count, const double* starts, int taken)
{
    int best = -1;
    for (long i = 0; i < count; i++) {
        bool free_of_all = isfinite(costs[i]) && (best < 0 || costs[i] < costs[best]);
        for (int k = 0; k < taken && free_of_all; k++) free_of_all = apart(n, points + i * n, starts + k * n);
        if (free_of_all) best = (int)i;
    }
    return best;
}

mor_code mor_cal_make_starts(const mor_calibration* c, int method, int wanted, mor_cal_cost cost, void* user,
                             volatile bool* stop, double* starts, int* count, mor_error* error)
{
    const mor_cal_method* m = &c->methods[method];
    int n = m->parameter_count;
    own_start(c, m, starts);
    *count = wanted;
    for (int k = 1; k < wanted && c->scan == 0; k++) blind_start(c, m, k, starts + k * n);
    if (c->scan == 0 || wanted == 1) return MOR_OK;
    double* points = malloc(((size_t)n + 1) * (size_t)c->scan * sizeof *points);
    if (!points) return mor_fail(error, MOR_SYSTEM, "out of memory");
    double* costs = points + (long)n * c->scan;
    mor_code code = mor_design_fill(MOR_DESIGN_SOBOL, c->scan, n, (uint64_t)c->seed, 4, points, error);
    for (int i = 0; i < c->scan && !code; i++) costs[i] = *stop ? HUGE_VAL : cost(user, points + i * n);
    for (*count = 1; *count < wanted && !code; ++*count) {
        int best = best_left(n, points, costs, c->scan, starts, *count);
        if (best < 0) break;
        memcpy(starts + *count * n, points + best * n, (size_t)n * sizeof *starts);
    }
    free(points);
    return code;
}
