/* The families of random LCPs of num4lcp at the sizes at which the original solvers were measured, and our solvers of
 * the same kind on them.
 *
 *   bench_num4lcp OUTPUT        writes OUTPUT/num4lcp.md
 *
 *   pd       A = U diag(i/N) U', U the left singular vectors of a matrix of uniform numbers
 *   contact  6 x 6 blocks, half of them filled, A = (R + R')/2 made positive definite by a shift, then rows and columns
 *   of normal, four friction and one
 *            slack variable overwritten in the pattern of the Stewart-Trinkle LCP
 *   b        x uniform, entries below 0.5 set to zero, b = -A x where x > 0 and 0 elsewhere
 *
 * The numbers of the original are CPU seconds of GNU Octave 7.3 on one thread of a similar machine (tol_rel 1e-4, 100
 * iterations); the streams of random numbers differ, the families and sizes do not. Ours run to 1e-8, so their answers
 * are better; projected Gauss-Seidel gets the same 100 sweeps. For Newton methods with direct solves the measure is the
 * time of `iterations` LU factorisations (LAPACK dgetrf) of that size in the same run. Reference: Erleben (2013),
 * Numerical methods for linear complementarity problems in physics-based animation. */
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moreau/solver.h"
#include "solver/measure.h"

enum { SIZES = 4 };
static const int sizes[2][SIZES] = { { 50, 100, 200, 400 }, { 48, 102, 198, 402 } };
static const char* const families[2] = { "pd", "contact" };

typedef struct method {
    const char *original, *ours, *options; /* options: "name=value name=value" */
    int max_iter;                          /* 0: the solver's own */
    bool direct;                           /* judged by factorisations instead of the original */
    double time[2][SIZES], merit[2][SIZES];
} method;

static const method methods[] = {
    { "lemke",
      "lemke",
      "",
      0,
      false,
      { { 0.0086, 0.0845, 0.5646, 4.3038 }, { 0.0037, 0.0100, 0.0254, 0.2268 } },
      { { 2.038e-29, 1.495e-28, 2.827e-27, 1.513e-26 }, { 9.074e-30, 5.097e-28, 4.093e-27, 1.241e-26 } } },
    { "pgs",
      "pgs",
      "order=forward",
      100,
      false,
      { { 0.0902, 0.1763, 0.3813, 0.6324 }, { 0.0054, 0.0168, 0.0592, 0.2980 } },
      { { 5.194e-08, 3.406e-04, 2.845e-02, 6.216e-01 }, { 6.423e+02, 9.931e+03, 5.046e+04, 2.777e+05 } } },
    { "fischer_newton, random (gmres)",
      "fischer-newton",
      "linear=gmres",
      0,
      false,
      { { 0.0551, 0.1018, 0.1898, 0.6400 }, { 0.0682, 0.2078, 0.3048, 0.5750 } },
      { { 6.784e-22, 1.181e-21, 7.527e-19, 1.020e-17 }, { 2.063e-18, 8.860e-16, 4.308e-27, 3.951e-25 } } },
    { "minmap_newton (gmres)",
      "minmap-newton",
      "linear=gmres",
      0,
      false,
      { { 0.0237, 0.0360, 0.0552, 0.1047 }, { 0.0177, 0.0344, 0.0510, 0.0861 } },
      { { 1.967e-25, 9.551e-25, 1.599e-24, 2.365e-24 }, { 2.552e+00, 1.190e+03, 8.323e+03, 2.040e+04 } } },
    { "minmap_newton (gmres)",
      "minmap-newton",
      "linear=direct",
      0,
      false,
      { { 0.0237, 0.0360, 0.0552, 0.1047 }, { 0.0177, 0.0344, 0.0510, 0.0861 } },
      { { 1.967e-25, 9.551e-25, 1.599e-24, 2.365e-24 }, { 2.552e+00, 1.190e+03, 8.323e+03, 2.040e+04 } } },
    { "minmap_newton (gmres)",
      "minmap-newton",
      "linear=gmres sigma=0",
      0,
      false,
      { { 0.0237, 0.0360, 0.0552, 0.1047 }, { 0.0177, 0.0344, 0.0510, 0.0861 } },
      { { 1.967e-25, 9.551e-25, 1.599e-24, 2.365e-24 }, { 2.552e+00, 1.190e+03, 8.323e+03, 2.040e+04 } } },
    { "minmap_newton (gmres)",
      "minmap-newton",
      "linear=direct sigma=0",
      0,
      false,
      { { 0.0237, 0.0360, 0.0552, 0.1047 }, { 0.0177, 0.0344, 0.0510, 0.0861 } },
      { { 1.967e-25, 9.551e-25, 1.599e-24, 2.365e-24 }, { 2.552e+00, 1.190e+03, 8.323e+03, 2.040e+04 } } },
    { "ip_lcp",
      "interior-point",
      "",
      0,
      false,
      { { 0.0328, 0.1534, 0.7393, 4.3705 }, { 0.0298, 0.1849, 0.6643, 3.0009 } },
      { { 4.574e-30, 4.944e-29, 6.255e-28, 8.206e-27 }, { 2.604e-29, 6.477e-29, 2.969e-28, 5.581e-16 } } },
    { "fischer_newton, perturbation (direct)",
      "fischer-newton",
      "linear=direct",
      0,
      true,
      { { 0.0021, 0.0028, 0.0077, 0.0459 }, { 0.0021, 0.0071, 0.0262, 0.1233 } },
      { { 3.417e-22, 6.178e-20, 2.155e-20, 2.676e-23 }, { 5.779e-16, 5.002e-17, 4.404e-21, 3.248e-16 } } },
    { "fischer_newton, penalized (direct)",
      "cck-newton",
      "linear=direct",
      0,
      true,
      { { 0.0022, 0.0031, 0.0057, 0.0263 }, { 0.0029, 0.0067, 0.0205, 0.0951 } },
      { { 3.417e-22, 6.178e-20, 2.155e-20, 1.416e-19 }, { 1.494e-16, 5.628e-16, 1.922e+00, 6.610e+00 } } },
};

/* ------------------------------------------------------------------------------ generators */

static void fill(double* A, int n, mor_rng* rng)
{
    for (int k = 0; k < n * n; k++) A[k] = mor_rng_uniform(rng);
}

static void make_pd(int n, double* A, mor_rng* rng)
{
    double *R = malloc((size_t)n * n * sizeof *R), *s = malloc(2 * (size_t)n * sizeof *s);
    if (!R || !s) exit(3);
    fill(R, n, rng);
    LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'O', 'N', n, n, R, n, s, NULL, 1, NULL, 1, s + n); /* R := U */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) sum += R[i + k * n] * (k + 1.0) / n * R[j + k * n];
            A[i + j * n] = sum;
        }
    free(R), free(s);
}

static void make_contact(int n, double* A, mor_rng* rng)
{
    enum { B = 6 };
    double *R = malloc((size_t)n * n * sizeof *R), *s = malloc((size_t)n * sizeof *s);
    if (!R || !s) exit(3);
    fill(R, n, rng);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i + j * n] = 0.5 * (R[i + j * n] + R[j + i * n]);
    for (int first = 0; first < n; first += B)
        for (int column = 0; column < n; column += B)
            if (A[first + B / 2 + (column + B / 2) * n] > 0.5)
                for (int k = 0; k < B * B; k++) A[first + k % B + (column + k / B) * n] = 0.0;
    memcpy(R, A, (size_t)n * n * sizeof *R);
    LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'U', n, R, n, s);
    for (int i = 0; i < n && s[0] <= 0.0; i++) A[i + i * n] += 0.5 - s[0];
    for (int first = 0; first < n; first += B)
        for (int column = 0; column < n; column += B) {
            if (A[first + column * n] == 0.0) continue;
            A[first + 5 + column * n] = 0.5;
            A[first + 5 + (column + 5) * n] = A[first + (column + 5) * n] = 0.0;
            for (int k = 1; k <= 4; k++) A[first + 5 + (column + k) * n] = -1.0, A[first + k + (column + 5) * n] = 1.0;
        }
    free(R), free(s);
}

static void make_b(int n, const double* A, double* b, mor_rng* rng)
{
    double* x = malloc((size_t)n * sizeof *x);
    if (!x) exit(3);
    for (int i = 0; i < n; i++) x[i] = mor_rng_uniform(rng), x[i] = x[i] < 0.5 ? 0.0 : x[i];
    for (int i = 0; i < n; i++) {
        b[i] = 0.0;
        for (int j = 0; j < n && x[i] > 0.0; j++) b[i] -= A[i + j * n] * x[j];
    }
    free(x);
}

/* ------------------------------------------------------------------------------ measurement */

static double time_lu(int n, const double* A)
{
    double *F = malloc((size_t)n * n * sizeof *F), best = INFINITY;
    lapack_int* pivot = malloc((size_t)n * sizeof *pivot);
    if (!F || !pivot) exit(3);
    for (int round = 0; round < 5; round++) {
        double spent = 0.0;
        int count = 0;
        while (spent < 0.01) {
            memcpy(F, A, (size_t)n * n * sizeof *F);
            for (int i = 0; i < n; i++) F[i + i * n] += 1.0;
            double begin = mor_cpu_clock();
            LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, F, n, pivot);
            spent += mor_cpu_clock() - begin;
            count++;
        }
        best = fmin(best, spent / count);
    }
    free(F), free(pivot);
    return best;
}

typedef struct outcome {
    double time, merit;
    int iterations;
    mor_status status;
} outcome;

static outcome run(const method* m, const mor_problem* p, mor_arena* arena)
{
    const mor_solver* solver = mor_solver_builtin(m->ours);
    outcome o = { .time = NAN, .merit = NAN, .status = MOR_REFUSED };
    if (!solver) return o;
    void* options = calloc(1, solver->options_size + 1);
    double* z = calloc((size_t)p->size, sizeof *z);
    if (!options || !z) exit(3);
    mor_error error = { 0 };
    mor_fields_default(solver->fields, options);
    char text[100];
    snprintf(text, sizeof text, "%s", m->options);
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest));) {
        char* value = strchr(word, '=');
        *value++ = '\0';
        if (mor_fields_set(solver->fields, options, word, value, &error)) {
            fprintf(stderr, "bench_num4lcp: %s\n", error.text);
            exit(2);
        }
    }
    mor_solve_options s = mor_solve_options_default();
    s.max_iter = m->max_iter;
    for (int round = 0; round < 5; round++) {
        mor_report r = mor_solve_measured(solver, options, p, &s, z, 0.01, arena);
        mor_arena_reset(arena);
        o.status = r.status, o.iterations = r.iterations, o.merit = r.residual.natural;
        o.time = round ? fmin(o.time, r.time_s) : r.time_s;
        if (r.status == MOR_REFUSED) break;
    }
    free(options), free(z);
    return o;
}

static void row(FILE* f, const method* m, const mor_problem* p, int family, int k, double lu, mor_arena* arena)
{
    outcome o = run(m, p, arena);
    fprintf(f, "| %s | %d | %s | %.4g / %.1e | `%s` %s |", families[family], p->size, m->original, m->time[family][k],
            m->merit[family][k], m->ours, m->options);
    if (o.status == MOR_REFUSED) fprintf(f, " refused | | | |\n");
    else {
        fprintf(f, " %.3g / %.1e | %d | %.0f |", o.time, o.merit, o.iterations, m->time[family][k] / o.time);
        if (m->direct) fprintf(f, " %.2f |\n", o.time / (o.iterations * lu));
        else fprintf(f, " |\n");
    }
    printf("%-8s %4d %-16s %-22s %10.3e merit %8.1e %5d its  %8.1f times  %5.2f factorisations per iteration  %s\n",
           families[family], p->size, m->ours, m->options, o.time, o.merit, o.iterations, m->time[family][k] / o.time,
           o.time / (o.iterations * lu), mor_status_name(o.status));
    fflush(stdout);
}

int main(int argc, char** argv)
{
    char path[1100], line[256], machine[200] = "", load[64] = "";
    if (argc != 2) return fprintf(stderr, "usage: bench_num4lcp OUTPUT\n"), 2;
    snprintf(path, sizeof path, "%s/num4lcp.md", argv[1]);
    FILE* f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':'))
            snprintf(machine, sizeof machine, "%.*s", (int)strcspn(strchr(line, ':') + 2, "\n"), strchr(line, ':') + 2);
    if (f) fclose(f);
    f = fopen("/proc/loadavg", "r");
    if (f && fgets(line, sizeof line, f)) snprintf(load, sizeof load, "%.*s", (int)strcspn(line, " \n"), line);
    if (f) fclose(f);
    f = fopen(path, "w");
    if (!f) return fprintf(stderr, "bench_num4lcp: %s cannot be written\n", path), 3;
    fprintf(f,
            "# Against the solvers of the original\n\nWritten by `make bench-solvers`, not by hand. Moreau %s, %s, "
            "load %s, one thread.\n\n",
            mor_version(), machine, load);
    fprintf(f, "Random LCPs of num4lcp at the sizes at which its solvers were measured (GNU Octave 7.3, one thread; "
               "CPU seconds / natural merit ½|min(z, w)|²). "
               "The generators are the same, the streams of random numbers are not. The original stops at a relative "
               "change of 1e-4, ours at a relative error of 1e-8 "
               "(CPU time, solver alone, best of 5); `pgs` gets the same 100 sweeps. *times* is original / ours. For "
               "Newton methods with direct solves *per LU* is "
               "total time / (iterations × one LAPACK dgetrf of that size in this run); 1.5 is wanted at most.\n\n");
    fprintf(f, "| family | n | original | its s / merit | ours | our s / merit | iterations | times | per LU "
               "|\n|---|---|---|---|---|---|---|---|---|\n");
    mor_arena* arena = mor_arena_create(NULL);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        for (int family = 0; family < 2; family++)
            for (int j = 0; j < SIZES; j++) {
                int n = sizes[family][j];
                mor_rng rng = { (uint64_t)n };
                for (int i = 0; i < 10; i++) mor_rng_uniform(&rng);
                double *A = malloc((size_t)n * n * sizeof *A), *b = malloc((size_t)n * sizeof *b);
                if (!A || !b || !arena) return 3;
                (family ? make_contact : make_pd)(n, A, &rng);
                make_b(n, A, b, &rng);
                mor_problem p = {
                    .form = MOR_LCP, .size = n, .b = b, .A = { .storage = MOR_DENSE, .rows = n, .cols = n, .x = A }
                };
                row(f, &methods[k], &p, family, j, time_lu(n, A), arena);
                free(A), free(b);
            }
    mor_arena_destroy(arena);
    return fclose(f) == 0 ? 0 : 3;
}
