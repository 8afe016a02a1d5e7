/* Plug-ins: shared objects with methods, given to the command line with --plugin FILE.so.
 *
 *     static mor_report solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
 *     {
 *         (void)problem, (void)options, (void)context, (void)z;
 *         return (mor_report){ .status = MOR_NOT_CONVERGED };
 *     }
 *     static const mor_solver mine = { .name = "mine", .summary = "does nothing", .reference = "", .accepts = MOR_LCP,
 *                                      .max_iter = 1, .solve = solve };
 *     MOR_PLUGIN_SOLVERS(&mine)
 *
 * or, for other kinds of methods, a function mor_plugin_entry that returns a mor_plugin of your own. Its version, the
 * sizes of the descriptors and `border`, a number made of the types that both sides use, are checked before anything is
 * used: a plug-in built against other headers is refused with a sentence.
 *
 * Threads: mor_plugin_entry is called once, on the main thread; the functions of a method run where its header says.
 * Ownership: descriptors are constant and stay loaded until the program ends.
 * ABI: this is the one interface that is checked at run time; descriptors of another size are refused. */
#ifndef MOREAU_PLUGIN_H
#define MOREAU_PLUGIN_H

#include "moreau/border.h"
#include "moreau/control.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOR_PLUGIN_VERSION 5 /* 5: mor_plugin.border; 4: methods work on a mor_step (docs/migration.md) */

/* An error measure of one's own for `moreau compare`: how wrong z is as an answer of `problem`, beside what the judge
 * found. It is shown and stored; whether a run is solved stays the judge's verdict. Called in several processes at
 * once. */
typedef double (*mor_plugin_error)(const mor_problem* problem, const double* z, const mor_residual* judged);

/* What a plug-in brings. */
typedef struct mor_plugin {
    uint32_t version;                                       /* MOR_PLUGIN_VERSION */
    uint32_t solver_size, formulation_size, collision_size; /* sizeof(mor_solver) ... */
    const mor_solver* const* solvers;                       /* NULL-terminated, or NULL */
    const mor_formulation* const* formulations;             /* the same */
    const mor_collision* const* collisions;                 /* the same */
    uint32_t controller_size;                               /* sizeof(mor_controller) */
    const mor_controller* const* controllers;               /* NULL-terminated, or NULL */
    /* since version 3 */
    mor_plugin_error error; /* NULL: none */
    const char* error_name; /* one word for tables; NULL: "user" */
    /* since version 5 */
    uint32_t border; /* MOR_PLUGIN_BORDER: the headers it was built with */
} mor_plugin;

/* A number made of the declarations of all types that a plug-in and the program both use (MOR_BORDER_TYPES), and of
 * the sizes of the structs, which also depend on the compiler and its options: it changes with either. Here as a
 * polynomial modulo 2^32. */
#define MOR_PLUGIN_BORDER (MOR_BORDER_TYPES + MOR_PLUGIN_BORDER_SOLVER * 1000003u + MOR_PLUGIN_BORDER_STEP)
#define MOR_PLUGIN_BORDER_SOLVER                                                                                       \
    ((((((((uint32_t)sizeof(mor_problem) * 31u + sizeof(mor_matrix)) * 31u + sizeof(mor_step_form)) * 31u +            \
         sizeof(mor_report)) *                                                                                         \
            31u +                                                                                                      \
        sizeof(mor_residual)) *                                                                                        \
           31u +                                                                                                       \
       sizeof(mor_context)) *                                                                                          \
          31u +                                                                                                        \
      offsetof(mor_context, interrupt)) *                                                                              \
         31u +                                                                                                         \
     sizeof(mor_trace))
#define MOR_PLUGIN_BORDER_STEP                                                                                         \
    ((((((((uint32_t)sizeof(mor_solver) * 31u + sizeof(mor_formulation)) * 31u + sizeof(mor_collision)) * 31u +        \
         sizeof(mor_controller)) *                                                                                     \
            31u +                                                                                                      \
        sizeof(mor_system)) *                                                                                          \
           31u +                                                                                                       \
       sizeof(mor_answer)) *                                                                                           \
          31u +                                                                                                        \
      sizeof(mor_solve_stage)) *                                                                                       \
         31u +                                                                                                         \
     sizeof(mor_contact))

/* What the shared object exports under the name "mor_plugin_entry". */
typedef const mor_plugin* (*mor_plugin_function)(void);
/* Defined by the plug-in, not by the library. */
MOR_API const mor_plugin* mor_plugin_entry(void);

/* Defines mor_plugin_entry for a list of pointers to solvers. */
#define MOR_PLUGIN_SOLVERS(...)                                                                                        \
    const mor_plugin* mor_plugin_entry(void)                                                                           \
    {                                                                                                                  \
        static const mor_solver* const solvers[] = { __VA_ARGS__, NULL };                                              \
        static const mor_plugin plugin = { MOR_PLUGIN_VERSION,                                                         \
                                           sizeof(mor_solver),                                                         \
                                           sizeof(mor_formulation),                                                    \
                                           sizeof(mor_collision),                                                      \
                                           solvers,                                                                    \
                                           NULL,                                                                       \
                                           NULL,                                                                       \
                                           sizeof(mor_controller),                                                     \
                                           NULL,                                                                       \
                                           NULL,                                                                       \
                                           NULL,                                                                       \
                                           (uint32_t)MOR_PLUGIN_BORDER };                                              \
        return &plugin;                                                                                                \
    }

/* The same for controllers: types that scenes name under `controllers`. */
#define MOR_PLUGIN_CONTROLLERS(...)                                                                                    \
    const mor_plugin* mor_plugin_entry(void)                                                                           \
    {                                                                                                                  \
        static const mor_controller* const controllers[] = { __VA_ARGS__, NULL };                                      \
        static const mor_plugin plugin = { MOR_PLUGIN_VERSION,                                                         \
                                           sizeof(mor_solver),                                                         \
                                           sizeof(mor_formulation),                                                    \
                                           sizeof(mor_collision),                                                      \
                                           NULL,                                                                       \
                                           NULL,                                                                       \
                                           NULL,                                                                       \
                                           sizeof(mor_controller),                                                     \
                                           controllers,                                                                \
                                           NULL,                                                                       \
                                           NULL,                                                                       \
                                           (uint32_t)MOR_PLUGIN_BORDER };                                              \
        return &plugin;                                                                                                \
    }

/* The same for an error measure. */
#define MOR_PLUGIN_ERROR(function, name)                                                                               \
    const mor_plugin* mor_plugin_entry(void)                                                                           \
    {                                                                                                                  \
        static const mor_plugin plugin = { MOR_PLUGIN_VERSION,                                                         \
                                           sizeof(mor_solver),                                                         \
                                           sizeof(mor_formulation),                                                    \
                                           sizeof(mor_collision),                                                      \
                                           NULL,                                                                       \
                                           NULL,                                                                       \
                                           NULL,                                                                       \
                                           sizeof(mor_controller),                                                     \
                                           NULL,                                                                       \
                                           function,                                                                   \
                                           name,                                                                       \
                                           (uint32_t)MOR_PLUGIN_BORDER };                                              \
        return &plugin;                                                                                                \
    }

#ifdef __cplusplus
}
#endif
#endif
