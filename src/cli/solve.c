/* moreau solve PROBLEM... : runs solvers on stored problems and reports what the judge says. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "io/problem_file.h"
#include "io/trace_file.h"
#include "moreau/solver.h"
#include "lab/measure.h"

static const char usage[] =
    "usage: moreau solve PROBLEM... [--kind K] [--solver S | --all] [--tol 1e-8] [--max-iter N]\n"
    "                    [--time-limit SECONDS] [--solution FILE] [--trace FILE.h5] [--json]\n"
    "\n"
    "Solves stored complementarity and contact problems (.dat, FCLIB .hdf5) and prints what the judge says.\n"
    "  --kind K        lcp, mlcp, fc2d, fc3d, gfc2d, gfc3d, rfc3d, grfc3d; default: from folder or file name\n"
    "  --solver S      one of `moreau list solvers`; default: the first that applies\n"
    "  --all           every solver that applies\n"
    "  --solution FILE the answer, one number per line; global problems put velocities in FILE.vel\n"
    "  --trace FILE.h5 every iteration with all error measures\n"
    "Exit status: 0 all solved, 1 some not, 2 bad usage or input, 3 the system failed.\n";

typedef struct arguments {
    const char* kind;
    const char* solver;
    const char* solution;
    const char* trace;
    bool all, json;
    mor_solve_options options;
    char** files;
    int file_count;
} arguments;

static int complain(const char* what, const char* value)
{
    fprintf(stderr, "moreau solve: %s%s%s\n", what, value ? " " : "", value ? value : "");
    return 2;
}

static int parse(int argc, char** argv, arguments* a)
{
    static const char* const known[] = { "--kind",     "--solver", "--all",  "--tol",  "--max-iter", "--time-limit",
                                         "--solution", "--trace",  "--json", "--help", NULL };
    *a = (arguments){ .options = mor_solve_options_default(), .files = argv };
    for (int k = 1; k < argc; k++) {
        const char* word = argv[k];
        if (word[0] != '-' || word[1] == 0) {
            argv[a->file_count++] = argv[k]; /* never overtakes k */
            continue;
        }
        if (strcmp(word, "--all") == 0) a->all = true;
        else if (strcmp(word, "--json") == 0) a->json = true;
        else if (strcmp(word, "--help") == 0) {
            fputs(usage, stdout);
            return -1;
        } else {
            bool found = false;
            for (const char* const* w = known; *w; w++) found = found || strcmp(word, *w) == 0;
            if (!found) {
                const char* near = mor_did_you_mean(word, known);
                fprintf(stderr, "moreau solve: unknown option %s%s%s%s\n", word, near ? "; did you mean " : "",
                        near ? near : "", near ? "?" : "");
                return 2;
            }
            if (k + 1 >= argc) return complain("a value is missing after", word);
            const char* value = argv[++k];
            char* end;
            if (strcmp(word, "--kind") == 0) a->kind = value;
            else if (strcmp(word, "--solver") == 0) a->solver = value;
            else if (strcmp(word, "--solution") == 0) a->solution = value;
            else if (strcmp(word, "--trace") == 0) a->trace = value;
            else {
                double x = strtod(value, &end);
                if (end == value || *end || !(x > 0.0) || x > 1e300)
                    return complain("a positive number is needed after", word);
                if (strcmp(word, "--tol") == 0) a->options.tol = x;
                else if (strcmp(word, "--time-limit") == 0) a->options.time_limit = x;
                else if (x != (double)(int)x || x > 2e9) return complain("a whole number is needed after", word);
                else a->options.max_iter = (int)x;
            }
        }
    }
    if (a->file_count == 0) {
        fputs(usage, stderr);
        return 2;
    }
    if (a->solver && a->all) return complain("--solver and --all exclude each other", NULL);
    if (a->kind && !mor_form_of_kind(a->kind))
        return complain("--kind is none of lcp, mlcp, fc2d, fc3d, gfc2d, gfc3d, rfc3d, grfc3d:", a->kind);
    if (a->solution && (a->all || a->file_count > 1))
        return complain("--solution takes one problem and one solver", NULL);
    if (a->solver && !mor_library_solver(mor_cli_library(), a->solver)) {
        const char* names[64];
        int n = 0;
        for (; n < 63 && mor_library_solver_at(mor_cli_library(), n); n++)
            names[n] = mor_library_solver_at(mor_cli_library(), n)->name;
        names[n] = NULL;
        const char* near = mor_did_you_mean(a->solver, names);
        fprintf(stderr, "moreau solve: unknown solver '%s'; %s%s%s", a->solver,
                near ? "did you mean '" : "known:", near ? near : "", near ? "'?" : "");
        for (int k = 0; !near && k < n; k++) fprintf(stderr, " %s", names[k]);
        fprintf(stderr, "\n");
        return 2;
    }
    return 0;
}

/* ---------------------------------------------------------------------------------- output */

static void print_text(const char* s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') printf("\\%c", *s);
        else if ((unsigned char)*s < 0x20) printf("\\u%04x", (unsigned)(unsigned char)*s);
        else putchar(*s);
    }
    putchar('"');
}

static void print_number(double x)
{
    if (isfinite(x)) printf("%.17g", x);
    else printf("null");
}

static void print_json(const mor_problem* p, const char* name, const mor_solver* solver, const mor_report* r,
                       bool first)
{
    printf("%s\n  { \"problem\": ", first ? "[" : ",");
    print_text(name);
    printf(", \"kind\": \"%s\", \"size\": %d, \"contacts\": %d, \"solver\": \"%s\", \"status\": \"%s\",\n    "
           "\"iterations\": %d, \"time_s\": ",
           mor_form_name(p->form), p->size, p->contact_count, solver->name, mor_status_name(r->status), r->iterations);
    print_number(r->time_s);
    const char* names[] = { "relative", "absolute", "velocity", "natural",       "fb",
                            "cck",      "normal",   "friction", "friction_power" };
    const double values[] = { r->residual.relative,
                              r->residual.absolute,
                              r->residual.velocity,
                              r->residual.natural,
                              r->residual.fb,
                              r->residual.cck,
                              r->residual.normal_error,
                              r->residual.friction_error,
                              r->residual.friction_power };
    printf(", \"residual\": {");
    for (int k = 0; k < 9; k++) {
        printf("%s \"%s\": ", k ? "," : "", names[k]);
        print_number(values[k]);
    }
    printf(" },\n    \"detail\": ");
    print_text(r->detail);
    printf(" }");
}

static void print_row(const mor_problem* p, const char* name, const mor_solver* solver, const mor_report* r)
{
    printf("%-42.42s %-6s %6d  %-14s %-13s %7d %10.3e %10.2e %10.2e\n", name, mor_form_name(p->form), p->size,
           solver->name, mor_status_name(r->status), r->iterations, r->time_s, r->residual.relative,
           r->residual.absolute);
    if (r->status != MOR_SOLVED && r->detail[0]) printf("    %s\n", r->detail);
}

static bool write_numbers(const char* path, int n, const double* x)
{
    char temporary[1100];
    snprintf(temporary, sizeof temporary, "%s.part", path);
    FILE* f = fopen(temporary, "w");
    if (f) {
        for (int k = 0; k < n; k++) fprintf(f, "%.17g\n", x[k]);
        bool bad = ferror(f) != 0;
        if (fclose(f) == 0 && !bad && rename(temporary, path) == 0) return true;
        remove(temporary);
    }
    fprintf(stderr, "moreau solve: %s cannot be written: %s\n", path, strerror(errno));
    return false;
}

static bool write_solution(const char* path, const mor_problem_file* file, const double* z)
{
    const mor_problem* p = &file->problem;
    bool global = p->form & (MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING);
    int count = global ? p->size : file->columns;
    if (!write_numbers(path, count, z)) return false;
    if (!global) return true;
    char velocity[1024];
    if (snprintf(velocity, sizeof velocity, "%s.vel", path) >= (int)sizeof velocity) return false;
    return write_numbers(velocity, p->M.rows, z + p->size);
}

/* ------------------------------------------------------------------------------------- run */

static int run_one(const arguments* a, const mor_solver* solver, const mor_problem_file* file, mor_arena* arena,
                   mor_trace_file* traces, bool first)
{
    const mor_problem* p = &file->problem;
    mor_trace trace = { 0 };
    mor_solve_options options = a->options;
    double* z = calloc((size_t)mor_problem_unknowns(p) + 1, sizeof *z);
    if (!z) return 3;
    int status = 0;
    mor_report r = mor_solve_measured(solver, NULL, p, &options, z, 0.01, arena);
    mor_arena_reset(arena);
    if (traces) { /* a run of its own: judging every iteration must not disturb the one that is timed */
        double* again = calloc((size_t)mor_problem_unknowns(p) + 1, sizeof *again);
        options.trace = &trace;
        if (again) mor_solve(solver, NULL, p, &options, again, arena);
        free(again);
        mor_arena_reset(arena);
        mor_error error = { 0 };
        if (mor_trace_file_add(traces, p->name, solver->name, &trace, &error)) {
            fprintf(stderr, "moreau solve: %s\n", error.text);
            status = 3;
        }
    }
    if (a->json) print_json(p, p->name, solver, &r, first);
    else print_row(p, p->name, solver, &r);
    fflush(stdout);
    if (!status && r.status != MOR_SOLVED) status = 1;
    if (a->solution && !write_solution(a->solution, file, z)) status = 3;
    mor_trace_free(&trace);
    free(z);
    return status;
}

int mor_cli_solve(int argc, char** argv)
{
    arguments a;
    int status = parse(argc, argv, &a);
    if (status) return status < 0 ? 0 : status;
    mor_arena* arena = mor_arena_create(NULL);
    if (!arena) return 3;
    mor_error error = { 0 };
    mor_trace_file* traces = NULL;
    if (a.trace && mor_trace_file_create(a.trace, &traces, &error)) {
        fprintf(stderr, "moreau solve: %s\n", error.text);
        mor_arena_destroy(arena);
        return 3;
    }
    bool first = true;
    if (!a.json)
        printf("%-42s %-6s %6s  %-14s %-13s %7s %10s %10s %10s\n", "problem", "kind", "size", "solver", "status",
               "iter", "time [s]", "relative", "absolute");
    for (int k = 0; k < a.file_count; k++) {
        mor_problem_file file;
        mor_code code = mor_problem_read(a.files[k], a.kind, &file, &error);
        if (code) {
            fprintf(stderr, "moreau solve: %s\n", error.text);
            if ((int)code > status) status = code;
            continue;
        }
        bool ran = false;
        for (int i = 0; mor_library_solver_at(mor_cli_library(), i); i++) {
            const mor_solver* s = mor_library_solver_at(mor_cli_library(), i);
            if (a.solver ? strcmp(a.solver, s->name) != 0 : !mor_solver_applies(s, file.problem.form)) continue;
            if (ran && !a.all) break;
            int one = run_one(&a, s, &file, arena, traces, first);
            if (one > status) status = one;
            first = false;
            ran = true;
        }
        if (!ran) {
            fprintf(stderr, "moreau solve: %s: no solver takes problems of kind %s\n", a.files[k],
                    mor_form_name(file.problem.form));
            if (status < 1) status = 1;
        }
        mor_problem_file_free(&file);
    }
    if (a.json) printf("%s\n", first ? "[]" : "\n]");
    if (traces && mor_trace_file_close(traces, &error)) {
        fprintf(stderr, "moreau solve: %s\n", error.text);
        status = 3;
    }
    mor_arena_destroy(arena);
    return status;
}
