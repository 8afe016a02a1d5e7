/* Our own solver on stored problems, beside the built-in ones: extragradient (Korpelevich 1976) for LCPs,
 *
 *     y = max(0, z - t (A z + b)),    z <- max(0, z - t (A y + b))
 *
 * with a step t that halves while t |A (z - y)| > 0.9 |z - y| and grows slowly otherwise. It needs products with A only
 * and converges for monotone problems (A positive semidefinite, symmetric or not).
 *
 * Without arguments the example writes three problems as text files, reads them back and solves them; with a directory,
 * it runs on every LCP file (.dat) there, for instance a collection of recorded problems. Every answer is judged by the
 * library, never by the solver. */
#include <dirent.h>
#include <moreau/moreau.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double norm(int n, const double* x)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static mor_report solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    (void)options;
    int n = problem->size;
    mor_report report = { .status = MOR_NOT_CONVERGED };
    double* y = mor_arena_alloc(context->arena, 4 * (size_t)n * sizeof *y);
    if (!y) return (mor_report){ .status = MOR_NUMERICAL, .detail = "out of memory" };
    double *w = y + n, *v = w + n, *d = v + n, t = 1.0;
    for (int k = 1; k <= context->max_iter && !mor_out_of_time(context); k++) {
        mor_matrix_apply(&problem->A, z, w);
        for (int i = 0; i < n; i++) w[i] += problem->b[i];
        report.iterations = k;
        mor_trace_add(context, k, t, z);
        if (context->error(context, z, w) <= context->tol) {
            report.status = MOR_SOLVED; /* the driver judges again */
            return report;
        }
        for (;; t *= 0.5) {
            for (int i = 0; i < n; i++) y[i] = fmax(0.0, z[i] - t * w[i]), d[i] = z[i] - y[i];
            mor_matrix_apply(&problem->A, d, v);
            if (t * norm(n, v) <= 0.9 * norm(n, d) || t < 1e-12) break;
        }
        for (int i = 0; i < n; i++) z[i] = fmax(0.0, z[i] - t * (w[i] - v[i])); /* A y + b = w - A d */
        if (t * norm(n, v) < 0.4 * norm(n, d)) t *= 1.5;
    }
    return report;
}

static const mor_solver own = {
    .name = "own-extragradient",
    .summary = "extragradient with an adaptive step",
    .reference = "korpelevich1976",
    .accepts = MOR_LCP,
    .max_iter = 100000,
    .solve = solve,
};

/* ------------------------------------------------------------------------------ problem files */

/* Siconos text format: n, storage 0 and sizes, n^2 numbers column by column, n numbers. */
static double* read_lcp(const char* path, int* n)
{
    FILE* f = fopen(path, "r");
    int head[6];
    double* data = NULL;
    bool good = f != NULL;
    for (int k = 0; k < 6 && good; k++) good = fscanf(f, "%d", &head[k]) == 1;
    if (good && head[0] > 0 && head[0] < 4000 && head[1] == 0 && head[2] == head[0] && head[3] == head[0]) {
        size_t count = (size_t)head[0] * (size_t)head[0] + (size_t)head[0];
        data = malloc(count * sizeof *data);
        for (size_t k = 0; data && k < count; k++)
            if (fscanf(f, "%lf", &data[k]) != 1) {
                free(data);
                data = NULL;
            }
        *n = head[0];
    }
    if (f) fclose(f);
    return data;
}

static bool write_lcp(const char* path, int n, double (*entry)(int, int), double (*right)(int))
{
    FILE* f = fopen(path, "w");
    if (!f) return false;
    fprintf(f, "%d\n0 %d %d %d %d\n", n, n, n, n, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) fprintf(f, "%.17g\n", entry(i, j));
    for (int i = 0; i < n; i++) fprintf(f, "%.17g\n", right(i));
    return fclose(f) == 0;
}

/* 0: the obstacle problem, a string over an obstacle; 1: skew plus identity, which diverges without the second
 * projection; 2: Murty's example */
static double string_entry(int i, int j) { return i == j ? 2.0 : abs(i - j) == 1 ? -1.0 : 0.0; }
static double string_right(int i) { return i < 10 || i >= 20 ? -0.01 : 0.02; }
static double skew_entry(int i, int j) { return i == j ? 0.1 : i < j ? 1.0 : -1.0; }
static double skew_right(int i) { return i % 2 ? 1.0 : -1.0; }
static double murty_entry(int i, int j) { return i == j ? 1.0 : j > i ? 2.0 : 0.0; }
static double murty_right(int i) { return (void)i, -1.0; }

static int run(const char* path, const char* name)
{
    int n = 0, solved = 0;
    double* data = read_lcp(path, &n);
    if (!data) return printf("%-28s is not a dense LCP file\n", name), 0;
    mor_problem problem = { .form = MOR_LCP,
                            .size = n,
                            .name = name,
                            .b = data + (size_t)n * (size_t)n,
                            .A = { .storage = MOR_DENSE, .rows = n, .cols = n, .x = data } };
    const mor_solver* solvers[] = { &own, mor_solver_builtin("pgs"), mor_solver_builtin("lemke"),
                                    mor_solver_builtin("auto") };
    double* z = calloc((size_t)n, sizeof *z);
    for (int k = 0; z && k < 4; k++) {
        mor_solve_options options = mor_solve_options_default();
        options.time_limit = 3.0;
        mor_report r = mor_solve(solvers[k], NULL, &problem, &options, z, NULL);
        printf("%-28s %5d  %-18s %-14s %7d iterations  %9.2e s  error %8.1e\n", name, n, solvers[k]->name,
               mor_status_name(r.status), r.iterations, r.time_s, r.residual.relative);
        if (k == 0) solved = r.status == MOR_SOLVED;
    }
    free(z);
    free(data);
    return solved;
}

int main(int argc, char** argv)
{
    if (argc > 1) { /* a directory of problems */
        DIR* directory = opendir(argv[1]);
        if (!directory) return fprintf(stderr, "%s is not a directory\n", argv[1]), 2;
        int count = 0, solved = 0;
        for (struct dirent* e; (e = readdir(directory));) {
            char path[4096];
            size_t length = strlen(e->d_name);
            if (length < 4 || strcmp(e->d_name + length - 4, ".dat") != 0) continue;
            snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
            solved += run(path, e->d_name);
            count++;
        }
        closedir(directory);
        printf("%s solves %d of %d\n", own.name, solved, count);
        return count > 0 ? 0 : 1;
    }
    static const struct {
        const char* name;
        double (*entry)(int, int);
        double (*right)(int);
        int n;
    } made[] = { { "string", string_entry, string_right, 30 },
                 { "skew", skew_entry, skew_right, 20 },
                 { "murty", murty_entry, murty_right, 8 } };
    int solved = 0;
    for (int k = 0; k < 3; k++) {
        char path[] = "/tmp/moreau-lcp-XXXXXX";
        int descriptor = mkstemp(path);
        if (descriptor < 0 || !write_lcp(path, made[k].n, made[k].entry, made[k].right)) return 3;
        solved += run(path, made[k].name);
        remove(path);
    }
    return solved == 3 ? 0 : 1;
}
