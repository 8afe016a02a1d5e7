/* Sensitivity indices of a sweep, see sensitivity.h. */
#include "lab/sensitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOOTSTRAPS = 500, LEAST = 8 };

long mor_sensitivity_groups(const mor_sweep* s) { return s->plan->scene_count * s->plan->combinations; }

void mor_sensitivity_free(mor_sensitivity* x)
{
    free(x->index);
    x->index = NULL;
}

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Values of the group, one for each point of the design; NAN: no result. */
typedef struct group {
    const mor_plan* plan;
    double* y;
    long points;
    int d;
} group;

/* The whole numbers 0 .. n - 1 drawn n times with replacement. */
static void draw(mor_rng* rng, long n, long* picks)
{
    for (long i = 0; i < n; i++) {
        picks[i] = (long)(mor_rng_uniform(rng) * (double)n);
        if (picks[i] >= n) picks[i] = n - 1;
    }
}

/* A variance that is more than the rounding of its mean: else the measure does not vary, and has no indices. */
static bool varies(double variance, double mean) { return variance > 1e-300 && variance > 1e-26 * mean * mean; }

/* First and total indices of the base points `picks` (NULL: all). y: rows of d + 2: A, AB_1 ... AB_d, B. */
static bool sobol(const group* g, const long* base, long n, const long* picks, double* first, double* total)
{
    int d = g->d;
    double sum = 0.0, square = 0.0;
    for (long i = 0; i < n; i++) {
        const double* y = g->y + base[picks ? picks[i] : i] * (d + 2);
        sum += y[0] + y[d + 1];
    }
    double mean = sum / (2.0 * (double)n);
    for (long i = 0; i < n; i++) {
        const double* y = g->y + base[picks ? picks[i] : i] * (d + 2);
        square += (y[0] - mean) * (y[0] - mean) + (y[d + 1] - mean) * (y[d + 1] - mean);
    }
    double variance = square / (2.0 * (double)n);
    if (!varies(variance, mean)) return false;
    for (int k = 0; k < d; k++) {
        double a = 0.0, b = 0.0;
        for (long i = 0; i < n; i++) {
            const double* y = g->y + base[picks ? picks[i] : i] * (d + 2);
            a += (y[d + 1] - mean) * (y[k + 1] - y[0]);
            b += (y[0] - y[k + 1]) * (y[0] - y[k + 1]);
        }
        first[k] = a / (double)n / variance;
        total[k] = b / (2.0 * (double)n) / variance;
    }
    return true;
}

static void interval(double* samples, int n, double out[2])
{
    qsort(samples, (size_t)n, sizeof *samples, ascending);
    out[0] = samples[(int)(0.025 * n)];
    out[1] = samples[(int)(0.975 * n)];
}

/* Base points with all their runs; returns how many. */
static long whole_blocks(const group* g, long block, long* base)
{
    long n = 0;
    for (long j = 0; j < g->points / block; j++) {
        bool whole = true;
        for (long i = 0; i < block; i++) whole = whole && isfinite(g->y[j * block + i]);
        if (whole) base[n++] = j;
    }
    return n;
}

typedef bool (*estimator)(const group* g, const long* base, long n, const long* picks, double* first, double* total);

/* Estimates and their bootstrap intervals. */
static bool estimate(const group* g, long block, estimator make, mor_sensitivity* x)
{
    size_t d = (size_t)g->d;
    long* base = malloc(((size_t)g->points + 1) * 2 * sizeof *base);
    double* first = malloc((2 * d + 2 * d * BOOTSTRAPS) * sizeof *first);
    bool good = base && first;
    long n = good ? whole_blocks(g, block, base) : 0;
    x->used = n;
    good = good && n >= LEAST && make(g, base, n, NULL, first, first + d);
    for (size_t k = 0; k < d && good; k++) x->index[k].first = first[k], x->index[k].total = first[d + k];
    if (good) {
        long* picks = base + g->points + 1;
        double *samples = first + 2 * d, *one = first;
        mor_rng rng = { 12345 };
        int kept = 0;
        for (int b = 0; b < BOOTSTRAPS; b++) {
            draw(&rng, n, picks);
            if (!make(g, base, n, picks, one, one + d)) continue;
            for (size_t k = 0; k < 2 * d; k++) samples[k * BOOTSTRAPS + (size_t)kept] = one[k];
            kept++;
        }
        for (size_t k = 0; k < d && kept > 20; k++) {
            interval(samples + k * BOOTSTRAPS, kept, x->index[k].first_interval);
            interval(samples + (d + k) * BOOTSTRAPS, kept, x->index[k].total_interval);
        }
    }
    free(base);
    free(first);
    return good;
}

/* First-order indices from any points: variance of the means of bins of x_k, without what the means vary by chance. */
static bool binned(const group* g, const long* base, long n, const long* picks, double* first, double* total)
{
    int d = g->d, bins = (int)fmin(32.0, fmax(4.0, sqrt((double)n / 4.0)));
    double mean = 0.0, variance = 0.0;
    for (long i = 0; i < n; i++) mean += g->y[base[picks ? picks[i] : i]] / (double)n;
    for (long i = 0; i < n; i++) {
        double e = g->y[base[picks ? picks[i] : i]] - mean;
        variance += e * e / (double)n;
    }
    if (!varies(variance, mean)) return false;
    for (int k = 0; k < d; k++) {
        double sum[32] = { 0 }, square[32] = { 0 }, between = 0.0, within = 0.0;
        long count[32] = { 0 };
        for (long i = 0; i < n; i++) {
            long at = base[picks ? picks[i] : i];
            int b = (int)(g->plan->cube[at * d + k] * bins);
            if (b >= bins) b = bins - 1;
            double e = g->y[at] - mean;
            sum[b] += e, square[b] += e * e, count[b]++;
        }
        for (int b = 0; b < bins; b++) {
            if (count[b] == 0) continue;
            double c = (double)count[b], m = sum[b] / c;
            between += c * m * m;
            if (count[b] > 1) within += (square[b] - c * m * m) / (c - 1.0);
        }
        first[k] = (between - within) / (double)n / variance;
        total[k] = NAN;
    }
    return true;
}

/* Elementary effects: change of y over change of the coordinate that moved. */
static bool morris(const group* g, mor_sensitivity* x)
{
    int d = g->d;
    long block = d + 1;
    long* base = malloc(((size_t)g->points + 1) * sizeof *base);
    long n = base ? whole_blocks(g, block, base) : 0;
    x->used = n;
    for (long j = 0; j < n; j++)
        for (long r = 0; r < d; r++) {
            long at = base[j] * block + r;
            const double *u = g->plan->cube + at * d, *v = u + d;
            for (int k = 0; k < d; k++) {
                if (u[k] == v[k]) continue;
                double effect = (g->y[at + 1] - g->y[at]) / (v[k] - u[k]);
                x->index[k].mu += effect;
                x->index[k].mu_star += fabs(effect);
                x->index[k].sigma += effect * effect;
            }
        }
    for (int k = 0; k < d && n > 1; k++) {
        mor_sensitivity_index* i = &x->index[k];
        double c = (double)n, square = i->sigma;
        i->mu /= c, i->mu_star /= c;
        i->sigma = sqrt(fmax(0.0, (square - c * i->mu * i->mu) / (c - 1.0)));
    }
    free(base);
    return n > 1;
}

bool mor_sensitivity_make(const mor_sweep* s, int measure, long index, mor_sensitivity* x)
{
    const mor_plan* p = s->plan;
    *x = (mor_sensitivity){ .count = p->dimension,
                            .morris = p->design == MOR_DESIGN_MORRIS,
                            .total = p->design == MOR_DESIGN_SALTELLI };
    if (p->dimension == 0) return false;
    group g = { .plan = p, .points = p->points, .d = p->dimension };
    g.y = malloc(((size_t)p->points + 1) * sizeof *g.y);
    x->index = calloc((size_t)p->dimension, sizeof *x->index);
    bool good = g.y && x->index;
    for (long i = 0; i < p->points && good; i++) {
        long t = index * p->points + i;
        g.y[i] = s->status[t] < 0 ? NAN : s->values[t * s->measures + measure];
    }
    for (int k = 0, n = 0; k < p->parameter_count && good; k++)
        if (p->parameters[k].axis >= 0) x->index[n++].parameter = k;
    if (good && x->morris) good = morris(&g, x);
    else if (good) good = estimate(&g, x->total ? p->dimension + 2 : 1, x->total ? sobol : binned, x);
    free(g.y);
    if (!good) mor_sensitivity_free(x);
    return good;
}
