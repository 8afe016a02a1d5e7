/* Timing by repetition: a solver around the solver, which the driver calls as it calls any other, so that checks,
 * conversions and the verdict are not measured. */
#include "solver/measure.h"

#include <string.h>

typedef struct repetition {
    const mor_solver* solver;
    const void* options; /* of the solver */
    double at_least;     /* s */
    double time_limit;   /* s of every run; 0: none */
    double* mean;        /* s */
} repetition;

static mor_report repeat(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const repetition* r = options;
    size_t bytes = (size_t)mor_problem_unknowns(problem) * sizeof *z;
    mor_arena* arena = context->arena;
    double* start = mor_arena_alloc(arena, bytes + 1);
    double* again = mor_arena_alloc(arena, bytes + 1);
    if (start) memcpy(start, z, bytes);
    const mor_context first = *context;
    double begin = mor_cpu_clock(), spent = 0.0;
    mor_report report = r->solver->solve(problem, r->options, context, z);
    *r->mean = mor_cpu_clock() - begin;
    if (!start || !again || *r->mean >= r->at_least) return report;
    size_t mark = mor_arena_mark(arena);
    for (int batch = 1, runs = 0; spent < r->at_least && runs < 100000; batch *= 2) {
        begin = mor_cpu_clock();
        for (int k = 0; k < batch; k++, runs++) {
            memcpy(again, start, bytes);
            mor_context fresh = first;
            fresh.start = mor_context_clock(&fresh);
            if (r->time_limit > 0.0) fresh.deadline = fresh.start + r->time_limit;
            r->solver->solve(problem, r->options, &fresh, again);
            mor_arena_release(arena, mark);
        }
        spent += mor_cpu_clock() - begin;
        *r->mean = spent / runs;
    }
    return report;
}

mor_report mor_solve_measured(const mor_solver* solver, const void* options, const mor_problem* problem,
                              const mor_solve_options* solve_options, double* z, double at_least, mor_arena* arena)
{
    const mor_solve_options so = solve_options ? *solve_options : mor_solve_options_default();
    if (so.trace || !(at_least > 0.0)) return mor_solve(solver, options, problem, &so, z, arena);
    mor_arena* own = arena ? NULL : mor_arena_create(NULL);
    if (own) arena = own;
    if (!arena) return mor_solve(solver, options, problem, &so, z, NULL);
    size_t mark = mor_arena_mark(arena);
    void* defaults = options ? NULL : mor_arena_zero(arena, 1, solver->options_size ? solver->options_size : 1);
    if (defaults) mor_fields_default(solver->fields, defaults);
    double mean = 0.0;
    const repetition r = { solver, options ? options : defaults, at_least, so.time_limit, &mean };
    mor_solver timed = *solver;
    timed.solve = repeat;
    mor_report report =
        r.options ? mor_solve(&timed, &r, problem, &so, z, arena) : mor_solve(solver, NULL, problem, &so, z, arena);
    if (r.options) report.time_s = mean;
    if (own) mor_arena_destroy(own);
    else mor_arena_release(arena, mark);
    return report;
}
