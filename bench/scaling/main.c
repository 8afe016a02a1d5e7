/* How the cost of solvers grows: chains, planar sheets and towers of spheres.
 *
 *   bench_scaling OUTPUT        writes OUTPUT/scaling.md
 *
 * Chains: CPU time per iteration of splitting methods for 1e3, 1e4 and 1e5 contacts (100 iterations from zero,
 * preparation included); linear is a ratio of 10 per line. Sheets: CPU time per iteration of nsn on W = G' M^-1 G, each
 * size in a child of its own, so that its peak memory is its own. Towers: the lightest sphere below, the heaviest
 * above, masses in geometric progression. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/piles.h"
#include "moreau/solver.h"

typedef struct result {
    int contacts, iterations;
    double time, error, memory; /* memory: growth of the peak while solving, bytes */
    mor_status status;
} result;

static result solve(const char* name, const pile* heap, int max_iter, double limit)
{
    const mor_problem* p = &heap->problem;
    result r = { .contacts = p->contact_count };
    double* z = calloc((size_t)p->size, sizeof *z);
    if (!z) exit(3);
    mor_solve_options o = mor_solve_options_default();
    o.max_iter = max_iter;
    o.time_limit = limit;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    double begin = mor_cpu_clock();
    mor_report report = mor_solve(mor_solver_builtin(name), NULL, p, &o, z, NULL);
    r.time = mor_cpu_clock() - begin;
    getrusage(RUSAGE_SELF, &after);
    r.memory = 1024.0 * (double)(after.ru_maxrss - before.ru_maxrss);
    r.iterations = report.iterations, r.status = report.status, r.error = report.residual.relative;
    free(z);
    return r;
}

/* The same in a child. */
static result apart(const char* name, pile_kind kind, int width, int height, double mu, int max_iter, double limit)
{
    result* shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    result r = { .status = MOR_NUMERICAL, .time = NAN };
    if (shared == MAP_FAILED) return r;
    *shared = r;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        pile heap;
        if (pile_build(&heap, kind, width, height, mu, 1.0, 0.0)) *shared = solve(name, &heap, max_iter, limit);
        _exit(0);
    }
    if (pid > 0) waitpid(pid, NULL, 0);
    r = *shared;
    munmap(shared, sizeof *shared);
    return r;
}

static void chains(FILE* f)
{
    static const char* const names[] = { "nsgs", "prox-ncp", "extragradient", "admm", "nsn" };
    fprintf(f,
            "## Chains: cost per iteration\n\nZigzag columns of spheres, mu 0.5. 100 iterations (nsn 10) from zero, "
            "best of 3, with preparation; the exponent is "
            "that of the last factor 10.\n\n| solver | 1e3 contacts | 1e4 | 1e5 | exponent |\n|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        double per[3];
        for (int j = 0; j < 3; j++) {
            pile heap;
            if (!pile_build(&heap, PILE_CHAIN, j == 0 ? 1000 : j == 1 ? 10000 : 100000, 1, 0.5, 1.0, 0.0)) exit(3);
            per[j] = INFINITY;
            for (int round = 0; round < 3; round++) {
                result r = solve(names[k], &heap, strcmp(names[k], "nsn") == 0 ? 10 : 100, 0.0);
                if (r.iterations > 0) per[j] = fmin(per[j], r.time / r.iterations);
            }
            pile_free(&heap);
        }
        fprintf(f, "| `%s` | %.3g ms | %.3g ms | %.3g ms | %.2f |\n", names[k], 1e3 * per[0], 1e3 * per[1],
                1e3 * per[2], log10(per[2] / per[1]));
        printf("chain %-14s %10.3e %10.3e %10.3e s per iteration, exponent %.2f\n", names[k], per[0], per[1], per[2],
               log10(per[2] / per[1]));
        fflush(stdout);
    }
}

static void sheets(FILE* f)
{
    static const int width[] = { 8, 16, 26, 32, 46, 64 };
    enum { COUNT = sizeof width / sizeof *width };
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    fprintf(f, "\n## Planar sheets: `nsn`\n\nHexagonal vertical sheets, mu 0.2. Memory: growth of the peak during the "
               "solve.\n\n"
               "| contacts | iterations | per iteration | memory | status |\n|---|---|---|---|---|\n");
    for (int k = 0; k < COUNT; k++) {
        result best = apart("nsn", PILE_SHEET, width[k], width[k], 0.2, 30, 60.0);
        for (int round = 1; round < 3; round++) {
            result r = apart("nsn", PILE_SHEET, width[k], width[k], 0.2, 30, 60.0);
            if (r.time < best.time) best.time = r.time;
        }
        double per = best.time / best.iterations, x = log(best.contacts), y = log(per);
        if (k > 0) sx += x, sy += y, sxx += x * x, sxy += x * y;
        fprintf(f, "| %d | %d | %.3g ms | %.3g MB | %s |\n", best.contacts, best.iterations, 1e3 * per,
                best.memory / 1e6, mor_status_name(best.status));
        printf("sheet %6d contacts %4d its %10.3e s per iteration %8.1f MB %s\n", best.contacts, best.iterations, per,
               best.memory / 1e6, mor_status_name(best.status));
        fflush(stdout);
    }
    int n = COUNT - 1;
    double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    fprintf(f,
            "\nExponent of the time per iteration (least squares without the smallest): **%.2f**; 1.6 is wanted at "
            "most. 30 iterations at most are timed here.\n",
            slope);
    printf("sheet exponent %.2f\n", slope);
    fprintf(f, "\nSheets to 1e-8 with 240 s on the wall:\n\n| contacts | mu | solver | status | error | iterations | "
               "CPU s |\n|---|---|---|---|---|---|---|\n");
    static const struct {
        const char* solver;
        int width;
        double mu;
    } hard[] = { { "auto", 14, 0.5 }, { "auto", 26, 0.2 }, { "auto", 26, 0.5 } };
    for (size_t k = 0; k < sizeof hard / sizeof *hard; k++) {
        result r = apart(hard[k].solver, PILE_SHEET, hard[k].width, hard[k].width, hard[k].mu, 0, 240.0);
        fprintf(f, "| %d | %.1f | `%s` | %s | %.1e | %d | %.3g |\n", r.contacts, hard[k].mu, hard[k].solver,
                mor_status_name(r.status), r.error, r.iterations, r.time);
        printf("sheet %d mu %.1f %s: %s, error %.1e, %d its, %.2f s\n", r.contacts, hard[k].mu, hard[k].solver,
               mor_status_name(r.status), r.error, r.iterations, r.time);
        fflush(stdout);
    }
}

static void towers(FILE* f)
{
    static const char* const names[] = { "auto", "nsn", "ppa", "admm", "nsgs" };
    static const struct {
        int bodies;
        double push;
    } made[] = { { 2, 0.0 }, { 10, 0.0 }, { 10, 1.0 }, { 30, 0.0 } };
    fprintf(f, "\n## Towers: heaviest above, mass ratio 1e6\n\nTo 1e-8, 10 s each; *pushed*: 1 m/s sideways.\n\n| "
               "bodies | solver | status | error | iterations | CPU s |\n|---|---|---|---|---|---|\n");
    for (size_t j = 0; j < sizeof made / sizeof *made; j++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            pile heap;
            if (!pile_build(&heap, PILE_TOWER, made[j].bodies, 1, 0.5, 1e6, made[j].push)) exit(3);
            result r = solve(names[k], &heap, 0, 10.0);
            fprintf(f, "| %d%s | `%s` | %s | %.1e | %d | %.3g |\n", made[j].bodies,
                    made[j].push > 0.0 ? ", pushed" : "", names[k], mor_status_name(r.status), r.error, r.iterations,
                    r.time);
            printf("tower %d%s %-6s %s %.1e %d its %.3g s\n", made[j].bodies, made[j].push > 0.0 ? " pushed" : "",
                   names[k], mor_status_name(r.status), r.error, r.iterations, r.time);
            pile_free(&heap);
        }
}

int main(int argc, char** argv)
{
    char path[1100], line[256], machine[200] = "", load[64] = "";
    if (argc != 2) return fprintf(stderr, "usage: bench_scaling OUTPUT\n"), 2;
    FILE* f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':'))
            snprintf(machine, sizeof machine, "%.*s", (int)strcspn(strchr(line, ':') + 2, "\n"), strchr(line, ':') + 2);
    if (f) fclose(f);
    f = fopen("/proc/loadavg", "r");
    if (f && fgets(line, sizeof line, f)) snprintf(load, sizeof load, "%.*s", (int)strcspn(line, " \n"), line);
    if (f) fclose(f);
    snprintf(path, sizeof path, "%s/scaling.md", argv[1]);
    f = fopen(path, "w");
    if (!f) return fprintf(stderr, "bench_scaling: %s cannot be written\n", path), 3;
    fprintf(f,
            "# Scaling of the solvers\n\nWritten by `make bench-solvers`, not by hand. Moreau %s, %s, load %s, one "
            "thread, CPU time. Spheres that rotate, as reduced contact "
            "problems with three rows per contact.\n\n",
            mor_version(), machine, load);
    chains(f);
    sheets(f);
    towers(f);
    return fclose(f) == 0 ? 0 : 3;
}
