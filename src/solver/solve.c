/* The driver: checks, converts, times, judges. Whatever a solver claims, the status reported here is the judge's:
 *
 *   solved          judge error <= max(tol, floor) on the problem as it was posed (floor: problem.h)
 *   no_solution     only on a proof: the solver's or a conversion's
 *   otherwise       the solver's own word, "solved" corrected to not_converged
 *
 * Solvers stop on context->error, which walks the answer back through the conversions to the
 * original problem; so a tolerance means the same thing for every method. */
#include "base/elementary.h"
#include "moreau/solver.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "linalg/dense.h"
#include "problem/convert.h"
#include "problem/judge.h"
#include "solver/pivot_table.h"
#include "solver/tree_newton.h"
#include "solver/untimed.h"

enum { LONGEST = 3 }; /* conversions in a row: STEP -> MLCP -> LCP, and one to spare */

typedef struct driver {
    const mor_problem* original;
    mor_conversion chain[LONGEST];
    int count;
    mor_judge_memory* memory; /* of steps that need no conversion */
    const double* guess;      /* of steps that need one; NULL: none */
} driver;

static const mor_problem* posed(const driver* d) { return d->count ? &d->chain[d->count - 1].to : d->original; }

/* ----------------------------------------------------------------------- ways between forms */

/* Finds the shortest sequence of forms from `form` to an accepted one, skipping the first `skip` such; returns its
 * length or -1. */
static int find_path(mor_form form, uint32_t accepts, int length, mor_form* path, int depth, int* skip)
{
    if (depth == length) return form & accepts && (*skip)-- == 0 ? length : -1;
    if (form & accepts) return -1; /* a shorter way exists and was tried */
    mor_form targets[4];
    int n = mor_convert_targets(form, targets);
    for (int k = 0; k < n; k++) {
        bool been = false;
        for (int j = 0; j < depth; j++) been = been || path[j] == targets[k];
        if (been) continue;
        path[depth] = targets[k];
        int found = find_path(targets[k], accepts, length, path, depth + 1, skip);
        if (found >= 0) return found;
    }
    return -1;
}

bool mor_solver_applies(const mor_solver* solver, mor_form form)
{
    /* cones become linear only in special cases, decided problem by problem */
    mor_form path[LONGEST];
    for (int length = 0; length <= LONGEST; length++) {
        for (int nth = 0;; nth++) {
            int skip = nth;
            if (find_path(form, solver->accepts, length, path, 0, &skip) < 0) break;
            if (!(form == MOR_STEP_CONE && length > 0 && path[0] == MOR_MLCP)) return true;
        }
    }
    return false;
}

static void release_chain(driver* d)
{
    while (d->count > 0) mor_conversion_destroy(&d->chain[--d->count]);
}

/* Converts along the first way that works. MOR_BAD_INPUT: none. */
static mor_code connect(driver* d, uint32_t accepts, bool* no_solution, mor_arena* arena, mor_error* error)
{
    mor_form path[LONGEST];
    *no_solution = false;
    if (d->original->form & accepts) return MOR_OK;
    error->text[0] = 0;
    for (int length = 1; length <= LONGEST; length++)
        for (int nth = 0;; nth++) {
            int skip = nth;
            if (find_path(d->original->form, accepts, length, path, 0, &skip) < 0) break;
            for (int k = 0; k < length; k++) {
                mor_code code = mor_convert(posed(d), path[k], &d->chain[d->count], no_solution, arena, error);
                if (code == MOR_OK) d->count++;
                else if (code == MOR_SYSTEM || *no_solution) return code;
                else break;
            }
            if (d->count == length) return MOR_OK;
            release_chain(d);
        }
    if (error->text[0]) return MOR_BAD_INPUT; /* a way there was, and why it failed */
    return mor_fail(error, MOR_BAD_INPUT, "it does not take problems of form %s", mor_form_name(d->original->form));
}

/* Answer of the problem after `from` conversions -> answer of the original, in `out`. */
static bool walk_back(const driver* d, int from, const double* z, double* out, mor_arena* arena)
{
    const double* at = z;
    for (int k = from - 1; k >= 0; k--) {
        double* next =
            k == 0 ? out : mor_arena_alloc(arena, (size_t)mor_problem_unknowns(d->chain[k].from) * sizeof *next);
        if (!next) return false;
        d->chain[k].back(&d->chain[k], at, next, arena);
        at = next;
    }
    if (from == 0) memcpy(out, z, (size_t)mor_problem_unknowns(d->original) * sizeof *out);
    return true;
}

/* ----------------------------------------------------------------------- what solvers call */

static double judge_error(const mor_context* context, const double* z, const double* w)
{
    const driver* d = context->judge;
    size_t mark = mor_arena_mark(context->arena);
    double error = NAN;
    const double* answer = z;
    if (d->count) {
        double* own = mor_arena_alloc(context->arena, (size_t)mor_problem_unknowns(d->original) * sizeof *own);
        answer = own && walk_back(d, d->count, z, own, context->arena) ? own : NULL;
    }
    if (answer && d->memory) error = mor_judge_step_velocity(d->original, answer, d->memory, context->arena);
    else if (answer) error = mor_judge_quick(d->original, answer, d->count ? NULL : w, context->arena);
    /* at rounding level the solver may stop: the driver will say so too */
    if (error > context->tol && error <= 1e-7 && error <= mor_judge_floor(d->original, answer, context->arena))
        error = context->tol;
    mor_arena_release(context->arena, mark);
    return error;
}

void mor_trace_add(mor_context* context, int iteration, double step_length, const double* z)
{
    mor_trace* trace = context->trace;
    if (!trace || (trace->every > 1 && iteration % trace->every != 0)) return;
    double now = mor_context_clock(context);
    if (trace->count == trace->capacity) {
        int capacity = trace->capacity ? 2 * trace->capacity : 256;
        mor_trace_line* lines = realloc(trace->lines, (size_t)capacity * sizeof *lines);
        if (!lines) return;
        trace->lines = lines, trace->capacity = capacity;
    }
    const driver* d = context->judge;
    size_t mark = mor_arena_mark(context->arena);
    double* answer = mor_arena_alloc(context->arena, (size_t)mor_problem_unknowns(d->original) * sizeof *answer);
    if (answer && walk_back(d, d->count, z, answer, context->arena))
        trace->lines[trace->count++] = (mor_trace_line){ iteration, now - context->start, step_length,
                                                         mor_judge(d->original, answer, context->arena) };
    if (answer && trace->each && trace->count) trace->each(trace->user, &trace->lines[trace->count - 1], answer);
    mor_arena_release(context->arena, mark);
    /* the judge's time is not the solver's */
    double spent = mor_context_clock(context) - now;
    context->start += spent;
    if (context->deadline > 0.0) context->deadline += spent;
}

void mor_trace_free(mor_trace* trace)
{
    free(trace->lines);
    trace->lines = NULL;
    trace->count = trace->capacity = 0;
}

/* CPU seconds of this thread. */
static double thread_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double mor_context_clock(const mor_context* context)
{
    return context->cpu_time ? context->lead + thread_clock() : mor_clock();
}

/* CPU time cannot run ahead of the wall clock, which is cheaper to read. */
bool mor_out_of_time(const mor_context* context)
{
    if (context->interrupt && *context->interrupt) return true;
    return context->deadline > 0.0 && mor_clock() > context->deadline &&
           (!context->cpu_time || mor_context_clock(context) > context->deadline);
}

/* ------------------------------------------------------------------------------ the driver */

mor_solve_options mor_solve_options_default(void) { return (mor_solve_options){ .tol = 1e-8 }; }

static mor_report ended(mor_status status, const char* detail)
{
    mor_report r = { .status = status };
    r.residual = (mor_residual){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    snprintf(r.detail, sizeof r.detail, "%s", detail);
    return r;
}

/* An LCP answer carried back over eliminated equations has their conditioning in it: one LU of the equations and
 * active rows in the data of the MLCP removes that. Kept if the original problem's error falls. */
static void polish_mixed(const driver* d, const double* z_to, double* z, double* error, const mor_context* context)
{
    mor_arena* arena = context->arena;
    const mor_stop stop = { mor_context_stops, context };
    int level = -1; /* the MLCP is the problem after this many conversions */
    for (int k = 0; k < d->count; k++)
        if (d->chain[k].from->form == MOR_MLCP && d->chain[k].to.form == MOR_LCP) level = k;
    if (level < 0) return;
    const mor_problem* mixed = d->chain[level].from;
    double* m = mor_arena_alloc(arena, (size_t)mixed->size * sizeof *m);
    double* trial = mor_arena_alloc(arena, (size_t)mor_problem_unknowns(d->original) * sizeof *trial);
    if (!m || !trial) return;
    d->chain[level].back(&d->chain[level], z_to, m, arena);
    mor_active_set_polish(mixed, m, NULL, NULL, &stop, arena);
    if (!walk_back(d, level, m, trial, arena)) return;
    double better = mor_judge_quick(d->original, trial, NULL, arena);
    if (better < *error) {
        *error = better;
        memcpy(z, trial, (size_t)mor_problem_unknowns(d->original) * sizeof *z);
    }
}

/* Is the error small beside that of no answer at all? Contact states of an answer that is none would be solved by the
 * polish, and the solver praised for it. */
static bool is_near(const driver* d, double e, mor_arena* arena)
{
    const double* none = mor_arena_zero(arena, (size_t)mor_problem_unknowns(d->original) + 1, sizeof *none);
    return none && e <= 1e-2 * mor_judge_quick(d->original, none, NULL, arena);
}

/* Removes what conversions added to the error e. False: z is as it was. */
static bool polish(const driver* d, const double* z_to, double* z, double e, double tol, const mor_context* context)
{
    mor_arena* arena = context->arena;
    bool tried = !(e <= 1e-3 * tol);
    if (tried && !is_near(d, e, arena)) return false;
    if (tried) polish_mixed(d, z_to, z, &e, context);
    if (!(d->original->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE)) || e <= 0.1 * tol) return tried;
    if (mor_out_of_time(context)) return tried;
    mor_step_polish(d->original, z, arena);
    return true;
}

/* A step that was solved in another form: among answers that are not unique the one of least norm (tree_newton.h). The
 * other form does not know which of its unknowns are impulses, and which answer a path of pivots or a row of sweeps
 * ends in depends on the order of the rows. limit: error that is allowed. Returns whether z has changed. */
static bool least_of_step(const driver* d, double limit, const mor_context* context, double* z)
{
    if (!(d->original->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE))) return false;
    driver direct;
    direct.original = d->original, direct.count = 0, direct.memory = NULL, direct.guess = NULL;
    mor_context own = *context;
    own.judge = &direct, own.problem = d->original, own.trace = NULL;
    return mor_tree_least(d->original, &own, limit, d->guess, z);
}

/* The guess of the caller through the conversions. */
static void start_from(const driver* d, const double* z, double* x, mor_arena* arena)
{
    const double* guess = z;
    for (int k = 0; k < d->count; k++) {
        size_t size = (size_t)mor_problem_unknowns(&d->chain[k].to);
        double* next = k == d->count - 1 ? x : mor_arena_zero(arena, size, sizeof *next);
        if (next && guess && d->chain[k].forward) d->chain[k].forward(&d->chain[k], guess, next, arena);
        guess = next;
    }
}

/* NULL: out of memory. */
static const double* copy_of(int n, const double* z, mor_arena* arena)
{
    double* copy = mor_arena_alloc(arena, ((size_t)n + 1) * sizeof *copy);
    if (copy) memcpy(copy, z, (size_t)n * sizeof *copy);
    return copy;
}

/* Options as the field table has them. NULL: out of memory. */
static const void* default_options(const mor_solver* solver, mor_arena* arena)
{
    void* own = mor_arena_zero(arena, 1, solver->options_size ? solver->options_size : 1);
    if (own) mor_fields_default(solver->fields, own);
    return own;
}

/* The answer x of the problem given to the solver becomes the answer z of the problem as posed, and is judged. */
static void verdict(driver* d, const double* x, double* z, double tol, const mor_context* context, mor_report* report)
{
    const mor_problem* problem = d->original;
    mor_arena* arena = context->arena;
    if (d->count && !walk_back(d, d->count, x, z, arena)) *report = ended(MOR_NUMERICAL, "out of memory");
    report->residual = d->memory ? mor_judge_step(problem, z, d->memory, arena) : mor_judge(problem, z, arena);
    double e = mor_judge_error(problem, &report->residual);
    if (d->count && !mor_out_of_time(context) && polish(d, x, z, e, tol, context)) {
        report->residual = mor_judge(problem, z, arena);
        e = mor_judge_error(problem, &report->residual);
    }
    /* direct methods are exact to rounding, and stay so */
    if (d->count && e <= tol && !mor_out_of_time(context) &&
        least_of_step(d, mor_min(tol, mor_max(4.0 * e, 1e-7 * tol)), context, z)) {
        report->residual = mor_judge(problem, z, arena);
        e = mor_judge_error(problem, &report->residual);
    }
    double limit = tol;
    if (!(e <= limit)) limit = mor_max(limit, mor_judge_floor(problem, z, arena));
    if (e <= limit) report->status = MOR_SOLVED;
    else if (!isfinite(e) && report->status != MOR_REFUSED && report->status != MOR_NO_SOLUTION)
        report->status = MOR_NUMERICAL;
    else if (report->status == MOR_SOLVED) report->status = MOR_NOT_CONVERGED;
    if (d->count && !report->detail[0])
        snprintf(report->detail, sizeof report->detail, "as %s with %d unknowns", mor_form_name(posed(d)->form),
                 posed(d)->size);
}

/* Conversion, solver, verdict. The caller releases the chain. timed: the report says how long it took. */
static mor_report drive(driver* d, const mor_solver* solver, const void* options, const mor_solve_options* so,
                        bool timed, double* z, mor_arena* arena)
{
    const mor_problem* problem = d->original;
    mor_error error; /* not cleared, as the chain: it would cost a small problem as much as its solution */
    mor_code code = mor_problem_check(problem, &error);
    if (code) return ended(MOR_REFUSED, error.text);
    double entered = so->time_limit > 0.0 || so->cpu_time ? mor_clock() : 0.0;
    double lead = so->cpu_time ? entered - thread_clock() : 0.0;
    bool no_solution;
    code = connect(d, solver->accepts, &no_solution, arena, &error);
    if (code)
        return ended(no_solution ? MOR_NO_SOLUTION : code == MOR_SYSTEM ? MOR_NUMERICAL : MOR_REFUSED, error.text);

    mor_judge_memory memory;
    bool step = problem->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE);
    if (step && d->count == 0 && mor_judge_memory_init(&memory, problem, arena)) d->memory = &memory;
    const mor_problem* given = posed(d);
    int n = mor_problem_unknowns(given), n0 = mor_problem_unknowns(problem);
    double* x = d->count ? mor_arena_zero(arena, (size_t)n, sizeof *x) : z;
    if (!options) options = default_options(solver, arena);
    if (!x || !options) return ended(MOR_NUMERICAL, "out of memory");
    if (so->warm && step && d->count) d->guess = copy_of(n0, z, arena);
    if (so->warm) start_from(d, z, x, arena);
    else memset(z, 0, (size_t)n0 * sizeof *z);

    mor_context context = { .arena = arena,
                            .tol = so->tol,
                            .aim = so->aim > 0.0 ? mor_min(so->aim, so->tol) : so->tol,
                            .limit = mor_max(so->limit, so->tol),
                            .warm = so->warm,
                            .error = judge_error,
                            .problem = given,
                            .judge = d,
                            .trace = so->trace,
                            .cpu_time = so->cpu_time,
                            .lead = lead,
                            .interrupt = so->interrupt,
                            .divisible = so->divisible };
    context.max_iter = so->max_iter > 0 ? so->max_iter : solver->max_iter;
    size_t mark = mor_arena_mark(arena);
    context.start = timed ? mor_context_clock(&context) : entered;
    context.deadline = so->time_limit > 0.0 ? entered + so->time_limit : 0.0;
    mor_report report = mor_out_of_time(&context) ? ended(MOR_TIME_LIMIT, "its form alone took the time there was")
                                                  : solver->solve(given, options, &context, x);
    report.time_s = timed ? mor_context_clock(&context) - context.start : 0.0;
    if ((unsigned)report.status > MOR_APPROXIMATE) report.status = MOR_NUMERICAL; /* a plug-in may return anything */
    if (report.iterations < 0) report.iterations = 0;
    mor_arena_release(arena, mark);
    verdict(d, x, z, so->tol, &context, &report);
    return report;
}

static mor_report solve(const mor_solver* solver, const void* options, const mor_problem* problem,
                        const mor_solve_options* solve_options, bool timed, double* z, mor_arena* arena)
{
    assert(solver && problem && (z || mor_problem_unknowns(problem) == 0));
    mor_solve_options so = solve_options ? *solve_options : mor_solve_options_default();
    mor_arena* own = NULL;
    if (!arena) arena = own = mor_arena_create(NULL);
    if (!arena) return ended(MOR_NUMERICAL, "out of memory");
    size_t mark = mor_arena_mark(arena);
    driver d;
    d.original = problem, d.count = 0, d.memory = NULL, d.guess = NULL;
    mor_report report = drive(&d, solver, options, &so, timed, z, arena);
    release_chain(&d);
    if (own) mor_arena_destroy(own);
    else mor_arena_release(arena, mark);
    return report;
}

mor_report mor_solve(const mor_solver* solver, const void* options, const mor_problem* problem,
                     const mor_solve_options* solve_options, double* z, mor_arena* arena)
{
    return solve(solver, options, problem, solve_options, true, z, arena);
}

mor_report mor_solve_untimed(const mor_solver* solver, const void* options, const mor_problem* problem,
                             const mor_solve_options* solve_options, double* z, mor_arena* arena)
{
    return solve(solver, options, problem, solve_options, solve_options->trace != NULL, z, arena);
}
