/* moreau solve PROBLEM... : runs solvers on stored problems and reports what the judge says. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/laboratory.h"
#include "cli/options.h"
#include "io/text/output.h"
#include "moreau/solver.h"
#include "solver/measure.h"

typedef struct arguments {
    const char* kind;
    const char* solver;
    const char* solution;
    const char* trace;
    bool all, json;
    bool silent; /* standard output is for the answer */
    mor_solve_options options;
    char** files; /* argv: its first words are overwritten */
    int file_count;
} arguments;

static int take_file(void* user, char* word)
{
    arguments* a = user;
    a->files[a->file_count++] = word; /* never overtakes the parser */
    return 0;
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--kind", "K", "lcp, mlcp, fc2d, fc3d, gfc2d, gfc3d, rfc3d, grfc3d; default: from folder or file name",
      MOR_CLI_TEXT, AT(kind) },
    { "--solver", "S", "one of `moreau list solvers`; default: the first that applies", MOR_CLI_TEXT, AT(solver) },
    { "--all", NULL, "every solver that applies", MOR_CLI_FLAG, AT(all) },
    { "--tol", "T", "relative error at which an answer counts as solved (1e-8)", MOR_CLI_NUMBER, AT(options.tol),
      .min = DBL_MIN, .max = 1e300, .expected = "a positive number" },
    { "--max-iter", "N", "most iterations; default: the solver's", MOR_CLI_WHOLE, AT(options.max_iter), .min = 1,
      .max = 2e9, .expected = "a positive whole number" },
    { "--time-limit", "SECONDS", "of each solve; default: none", MOR_CLI_NUMBER, AT(options.time_limit), .min = DBL_MIN,
      .max = 1e300, .expected = "a positive number of seconds" },
    { "--solution", "FILE",
      "the answer, one number per line; global problems put velocities in FILE.vel; -: standard output", MOR_CLI_TEXT,
      AT(solution), .writes = true },
    { "--trace", "FILE.h5", "every iteration with all error measures", MOR_CLI_TEXT, AT(trace), .writes = true },
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, AT(json) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "solve",
    .usage = "PROBLEM... [options]",
    .about = "Solves stored complementarity and contact problems (.dat, FCLIB .hdf5) and prints what the judge says.\n",
    .options = options,
    .more = "Exit status: 0 all solved, 1 some not, 2 bad usage or input, 3 the system failed.\n",
    .operand = take_file,
};

static int unknown_solver(const char* name)
{
    const char* names[64] = { 0 };
    for (int n = 0; n < 63 && mor_library_solver_at(mor_cli_library(), n); n++)
        names[n] = mor_library_solver_at(mor_cli_library(), n)->name;
    if (mor_did_you_mean(name, names)) return mor_cli_unknown("solve", "solver", name, names);
    fprintf(stderr, "moreau solve: unknown solver '%s'; known:", name);
    for (int k = 0; names[k]; k++) fprintf(stderr, " %s", names[k]);
    fprintf(stderr, "\n");
    return MOR_BAD_INPUT;
}

static int parse(int argc, char** argv, arguments* a)
{
    *a = (arguments){ .options = mor_solve_options_default(), .files = argv };
    int status = mor_cli_parse(&command, argc, argv, a);
    if (status) return status;
    if (a->file_count == 0) {
        mor_cli_print_usage(&command, stderr);
        return mor_cli_usage("solve", "which problem?");
    }
    if (a->solver && a->all) return mor_cli_usage("solve", "--solver and --all exclude each other");
    if (a->kind && !mor_form_of_kind(a->kind))
        return mor_cli_usage("solve", "--kind %s: expected lcp, mlcp, fc2d, fc3d, gfc2d, gfc3d, rfc3d or grfc3d",
                             a->kind);
    if (a->solution && (a->all || a->file_count > 1))
        return mor_cli_usage("solve", "--solution takes one problem and one solver");
    if (a->solution && a->json && mor_output_is_standard(a->solution))
        return mor_cli_usage("solve", "--solution - and --json both want standard output");
    a->silent = a->solution && mor_output_is_standard(a->solution);
    if (a->solver && !mor_library_solver(mor_cli_library(), a->solver)) return unknown_solver(a->solver);
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
    mor_error error = { 0 };
    FILE* f = mor_output_open(path, &error);
    for (int k = 0; f && k < n; k++) fprintf(f, "%.17g\n", x[k]);
    if (f && mor_output_close(f, path, true, &error) == MOR_OK) return true;
    fprintf(stderr, "moreau solve: %s\n", error.text);
    return false;
}

static bool write_solution(const char* path, const mor_problem_file* file, const double* z)
{
    const mor_problem* p = &file->problem;
    bool global = p->form & (MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING);
    int count = global ? p->size : file->columns;
    if (global && mor_output_is_standard(path)) {
        fprintf(stderr, "moreau solve: --solution -: a global problem has two answers; give a file\n");
        return false;
    }
    if (!write_numbers(path, count, z)) return false;
    if (!global) return true;
    char velocity[1024];
    if (snprintf(velocity, sizeof velocity, "%s.vel", path) >= (int)sizeof velocity) return false;
    return write_numbers(velocity, p->M.rows, z + p->size);
}

/* ------------------------------------------------------------------------------------- run */

static int out_of_memory(void)
{
    fprintf(stderr, "moreau solve: out of memory\n");
    return MOR_SYSTEM;
}

static int run_one(const arguments* a, const mor_solver* solver, const mor_problem_file* file, mor_arena* arena,
                   mor_trace_file* traces, bool first)
{
    const mor_problem* p = &file->problem;
    mor_trace trace = { 0 };
    mor_solve_options options = a->options;
    double* z = calloc((size_t)mor_problem_unknowns(p) + 1, sizeof *z);
    if (!z) return out_of_memory();
    int status = 0;
    mor_report r = mor_solve_measured(solver, NULL, p, &options, z, 0.01, arena);
    mor_arena_reset(arena);
    if (traces) { /* a run of its own: judging every iteration must not disturb the one that is timed */
        double* again = calloc((size_t)mor_problem_unknowns(p) + 1, sizeof *again);
        options.trace = &trace;
        if (!again) status = out_of_memory();
        else mor_solve(solver, NULL, p, &options, again, arena);
        free(again);
        mor_arena_reset(arena);
        mor_error error = { 0 };
        if (mor_cli_trace_add(traces, p->name, solver->name, &trace, &error)) {
            fprintf(stderr, "moreau solve: %s\n", error.text);
            status = 3;
        }
    }
    if (a->json) print_json(p, p->name, solver, &r, first);
    else if (!a->silent) print_row(p, p->name, solver, &r);
    fflush(stdout);
    if (!status && r.status != MOR_SOLVED) status = 1;
    if (a->solution && !write_solution(a->solution, file, z)) status = 3;
    mor_trace_free(&trace);
    free(z);
    return status;
}

/* HDF5 opens files by their names, and what came through a pipe has none (standard_input.c). */
static mor_code load(const char* path, const char* kind, mor_problem_file* file, mor_error* error)
{
    struct stat what;
    if (stat(path, &what) == 0 && what.st_nlink == 0 && mor_is_hdf5(path))
        return mor_fail(error, MOR_BAD_INPUT,
                        "HDF5 cannot be read from a pipe; write it to a file, or give it by < FILE");
    return mor_cli_problem_load(path, kind, file, error);
}

int mor_cli_solve(int argc, char** argv)
{
    arguments a;
    int status = parse(argc, argv, &a);
    if (status) return status;
    mor_arena* arena = mor_arena_create(NULL);
    if (!arena) return out_of_memory();
    mor_error error = { 0 };
    mor_trace_file* traces = NULL;
    if (a.trace && mor_cli_trace_create(a.trace, &traces, &error)) {
        fprintf(stderr, "moreau solve: %s\n", error.text);
        mor_arena_destroy(arena);
        return error.code;
    }
    bool first = true;
    if (!a.json && !a.silent)
        printf("%-42s %-6s %6s  %-14s %-13s %7s %10s %10s %10s\n", "problem", "kind", "size", "solver", "status",
               "iter", "time [s]", "relative", "absolute");
    for (int k = 0; k < a.file_count; k++) {
        mor_problem_file file;
        mor_code code = load(mor_cli_file(a.files[k]), a.kind, &file, &error);
        if (code) {
            mor_cli_fail_in("solve", &error);
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
    if (traces && mor_cli_trace_close(traces, &error)) {
        fprintf(stderr, "moreau solve: %s\n", error.text);
        status = 3;
    }
    mor_arena_destroy(arena);
    return status;
}
