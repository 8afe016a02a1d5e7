/* Optimisers in the unit cube: those of NLopt, and the grid.
 *
 * S. G. Johnson, The NLopt nonlinear-optimization package; T. H. Rowan, Functional stability analysis of numerical
 * algorithms (1990) for Subplex; P. Kaelo, M. M. Ali, J. Optim. Theory Appl. 130 (2006) 253-264 for CRS2. */
#include "lab/calibrate.h"
#include "base/optimisers.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

typedef struct entry {
    mor_optimiser about;
    nlopt_algorithm algorithm; /* NLOPT_NUM_ALGORITHMS: the grid */
} entry;

#define ENTRY(name, algorithm, summary) { { name, summary }, NLOPT_##algorithm },
static const entry entries[] = { MOR_OPTIMISERS(ENTRY) };

const mor_optimiser* mor_optimiser_at(int i)
{
    return i >= 0 && (size_t)i < sizeof entries / sizeof *entries ? &entries[i].about : NULL;
}

typedef struct bridge {
    mor_cal_cost cost;
    void* user;
    volatile bool* stop;
    nlopt_opt opt;
    int n;
    double *best_z, best;
} bridge;

static double call(unsigned n, const double* z, double* gradient, void* user)
{
    (void)gradient;
    bridge* b = user;
    if (*b->stop) {
        nlopt_force_stop(b->opt);
        return b->best;
    }
    double f = b->cost(b->user, z);
    if (*b->stop) nlopt_force_stop(b->opt);
    if (f < b->best) {
        b->best = f;
        memcpy(b->best_z, z, n * sizeof *z);
    }
    return isfinite(f) ? f : 1e30;
}

/* All points of the grid, the first parameter slowest. */
static void walk_grid(bridge* b, const int* counts)
{
    int at[MOR_CAL_PARAMETERS] = { 0 };
    double z[MOR_CAL_PARAMETERS];
    for (bool more = true; more && !*b->stop;) {
        for (int i = 0; i < b->n; i++) z[i] = counts[i] > 1 ? (double)at[i] / (counts[i] - 1) : 0.5;
        call((unsigned)b->n, z, NULL, b);
        more = false;
        for (int i = b->n - 1; i >= 0 && !more; i--) {
            more = ++at[i] < counts[i];
            if (!more) at[i] = 0;
        }
    }
}

mor_code mor_optimise(const char* name, int n, const int* grid, double* z, mor_cal_cost cost, void* user,
                      int evaluations, double tol, double first_step, unsigned long seed, volatile bool* stop,
                      double* best, mor_error* error)
{
    const entry* e = entries;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].about.name, name) == 0) e = &entries[i];
    double from[MOR_CAL_PARAMETERS], low[MOR_CAL_PARAMETERS], high[MOR_CAL_PARAMETERS], f;
    bridge b = { .cost = cost, .user = user, .stop = stop, .n = n, .best_z = z, .best = HUGE_VAL };
    if (e->algorithm == NLOPT_NUM_ALGORITHMS) {
        walk_grid(&b, grid);
        *best = b.best;
        return MOR_OK;
    }
    for (int i = 0; i < n; i++) low[i] = 0.0, high[i] = 1.0, from[i] = z[i];
    b.opt = nlopt_create(e->algorithm, (unsigned)n);
    if (!b.opt) return mor_fail(error, MOR_SYSTEM, "out of memory");
    nlopt_srand(seed);
    nlopt_set_lower_bounds(b.opt, low);
    nlopt_set_upper_bounds(b.opt, high);
    nlopt_set_min_objective(b.opt, call, &b);
    nlopt_set_maxeval(b.opt, evaluations);
    nlopt_set_xtol_abs1(b.opt, tol);
    nlopt_set_ftol_rel(b.opt, 1e-9);
    nlopt_set_initial_step1(b.opt, first_step);
    nlopt_result result = nlopt_optimize(b.opt, from, &f);
    nlopt_destroy(b.opt);
    *best = b.best;
    if (result == NLOPT_OUT_OF_MEMORY) return mor_fail(error, MOR_SYSTEM, "out of memory");
    return MOR_OK; /* other results: the best point so far counts */
}
