/* Solvers: one struct of functions per method, one registry line, one way to call them.
 *
 *     double a[4] = { 2, 1, 1, 2 }, b[2] = { -1, -1 }, z[2];
 *     mor_problem problem = { .form = MOR_LCP, .size = 2, .b = b };
 *     problem.A = (mor_matrix){ .storage = MOR_DENSE, .rows = 2, .cols = 2, .x = a };
 *     mor_solve_options o = mor_solve_options_default();
 *     mor_report r = mor_solve(mor_solver_builtin("lemke"), NULL, &problem, &o, z, NULL);
 *     printf("%s: z = %g, %g\n", mor_status_name(r.status), z[0], z[1]);
 *
 * base, linalg, problem and solver know no mechanics and are usable alone.
 *
 * Threads: mor_solve may run on any number of threads at once, each with its own z, arena and trace. A world with
 * several threads calls `solve` of its solver on its workers: a solver keeps nothing between calls but what lies in its
 * arena.
 * Ownership: descriptors and their tables are constant; appended ones are borrowed (library.h).
 * ABI: plugin.h tells the library the size of mor_solver it was compiled with. */
#ifndef MOREAU_SOLVER_H
#define MOREAU_SOLVER_H

#include "moreau/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a solve may use and must respect. */
typedef struct mor_context {
    mor_arena* arena; /* all scratch memory */
    double tol;       /* on mor_judge_error: the goal, at which a problem counts as solved */
    double aim;       /* what methods should reach that converge fast: at most tol. A caller that solves one problem
                         after another from the last answer gives less than tol, so that errors do not add up */
    double limit;     /* the error that counts as failure, at least tol: in between no last resort is worth its time */
    int max_iter;     /* iterations allowed; what counts as one is the solver's own */
    double deadline;  /* mor_context_clock() after which to stop with MOR_TIME_LIMIT; 0 = none */
    bool warm;        /* z holds a guess worth starting from; otherwise it is zero */
    mor_trace* trace; /* NULL: no trace */
    double start;     /* mor_context_clock() at the start, for the trace */
    /* The judge on the problem as it was posed (before conversions), in its own units. Solvers stop
     * when error(...) <= tol. `w` may be NULL, or A z + b if the solver has it. */
    double (*error)(const struct mor_context* context, const double* z, const double* w);
    const mor_problem* problem;    /* the problem the solver was given */
    const void* judge;             /* private to the driver */
    bool cpu_time;                 /* start and deadline count CPU time of the thread: mor_context_clock */
    double lead;                   /* private to the driver: mor_clock() ahead of the CPU clock at the start */
    const volatile int* interrupt; /* as in mor_solve_options */
    bool divisible;                /* as in mor_solve_options */
} mor_context;

/* A solver: one registry line. */
typedef struct mor_solver {
    const char* name;        /* the word used in scenes, on the command line and in recordings */
    const char* summary;     /* one line */
    const char* reference;   /* key into docs/references.bib */
    uint32_t accepts;        /* mor_form bits it solves without conversion */
    size_t options_size;     /* of its option struct; 0: none */
    const mor_field* fields; /* its own options, beside tol, max_iter and time_limit; may be NULL */
    int max_iter;            /* default */
    /* z: starting guess on entry (zero unless context->warm), answer on return. No other memory
     * than context->arena, no globals, no printing. Fills status, iterations and detail; the
     * driver judges and times. */
    mor_report (*solve)(const mor_problem* problem, const void* options, mor_context* context, double* z);
} mor_solver;

/* How mor_solve runs a solver. */
typedef struct mor_solve_options {
    double tol;                    /* 1e-8: the goal */
    double aim, limit;             /* mor_context; 0: tol */
    int max_iter;                  /* 0: the solver's default */
    double time_limit;             /* seconds for conversion and solver, 0: none */
    bool warm;                     /* start from the z given */
    mor_trace* trace;              /* filled if not NULL */
    bool cpu_time;                 /* time_limit is CPU time of this thread, not time on the wall */
    const volatile int* interrupt; /* not NULL: when a signal handler or another thread makes it other than 0, the
                                      solver stops as soon as it looks, with MOR_TIME_LIMIT */
    bool divisible; /* the caller can pose easier problems instead, as a step that may be taken in parts: no last resort
                       is worth its time */
} mor_solve_options;

/* The defaults named above. */
MOR_API mor_solve_options mor_solve_options_default(void);

/* Runs one solver on one problem: checks the data, converts the form if the solver does not take
 * it (STEP -> MLCP -> LCP, STEP -> FC, GFC -> FC, MLCP -> LCP, LCP -> MCP; never a relaxation), times it,
 * converts the answer back and judges it on the problem as given: status is MOR_SOLVED only if
 * the judge says so. `options` is the solver's own struct or NULL for defaults. `arena` may be
 * NULL: a temporary one is used. z has mor_problem_unknowns() entries. Bad data and lack of memory are MOR_REFUSED and
 * MOR_NUMERICAL with a sentence in `detail`. */
MOR_API mor_report mor_solve(const mor_solver* solver, const void* options, const mor_problem* problem,
                             const mor_solve_options* solve_options, double* z, mor_arena* arena);

/* True if the solver takes this form, directly or through an exact conversion. */
MOR_API bool mor_solver_applies(const mor_solver* solver, mor_form form);

/* For solvers: appends a line when a trace is wanted (judged outside the solver's clock). */
MOR_API void mor_trace_add(mor_context* context, int iteration, double step_length, const double* z);
/* Frees the lines of a trace (they are grown on the heap: start with a zeroed struct). */
MOR_API void mor_trace_free(mor_trace* trace);
/* For solvers: true when the deadline has passed or somebody interrupts. Costs a clock read. */
MOR_API bool mor_out_of_time(const mor_context* context);

/* For solvers: the clock that start and deadline are read from. */
MOR_API double mor_context_clock(const mor_context* context);

/* Built-in solvers, NULL-terminated, in a fixed order. */
MOR_API const mor_solver* const* mor_solvers(void);
/* The built-in solver of that name, or NULL. (mor_library in library.h also knows plug-ins.) */
MOR_API const mor_solver* mor_solver_builtin(const char* name);

#ifdef __cplusplus
}
#endif
#endif
