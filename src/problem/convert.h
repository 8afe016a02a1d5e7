/* Exact conversions between problem forms, and the way back for answers. Never a relaxation.
 *
 *   STEP (polygons, intervals, no friction) -> MLCP     the Stewart-Trinkle rows
 *   STEP (cones)                            -> FC2D, FC3D, FC_ROLLING   equations by Schur complement
 *   MLCP -> LCP     free variables eliminated
 *   LCP  -> MCP, MLCP -> MCP, LCP -> MLCP    a change of name
 *   GFC  -> FC      W = H' M^-1 H
 *
 * Everything lives in the arena given, except what `destroy` frees. */
#ifndef MOR_PROBLEM_CONVERT_H
#define MOR_PROBLEM_CONVERT_H

#include "problem/step_matrix.h"

typedef struct mor_conversion {
    const mor_problem* from;
    mor_problem to;
    /* Answer of `to` -> answer of `from`. Scratch from `arena`, given back. */
    void (*back)(const struct mor_conversion* conversion, const double* z_to, double* z_from, mor_arena* arena);
    /* Guess for `from` -> guess for `to`; NULL: start from zero. */
    void (*forward)(const struct mor_conversion* conversion, const double* z_from, double* z_to, mor_arena* arena);
    void (*destroy)(struct mor_conversion* conversion); /* NULL: nothing to free */
    void* data;
} mor_conversion;

/* One conversion. MOR_BAD_INPUT with a sentence when this problem has no exact image in that form, MOR_SYSTEM when
 * memory is short. *no_solution is set when the conversion proves that the equations contradict each other. */
mor_code mor_convert(const mor_problem* from, mor_form to, mor_conversion* conversion, bool* no_solution,
                     mor_arena* arena, mor_error* error);
/* Frees what the arena does not hold. */
void mor_conversion_destroy(mor_conversion* conversion);
/* The forms that mor_convert knows from `form`, most wanted first: writes up to 4, returns how many. */
int mor_convert_targets(mor_form form, mor_form* targets);

/* STEP -> MLCP keeping the velocities: unknowns [nu; p_b; p_n; beta; s; ...] with the rows M nu - G p = M nu_free in
 * front. Needs the mass blocks. */
mor_code mor_convert_step_keep_velocity(const mor_problem* from, mor_conversion* conversion, mor_arena* arena,
                                        mor_error* error);

/* Improves an answer that has the right active set (polish_active.c): solves the rows { l_i < z_i - w_i < u_i } for
 * their variables with all others at their bounds, in the original data, by LU with refinement. Keeps a result only if
 * `measure` (NULL: the judge) finds a smaller error. Returns the error of z on return. O(k^3) for k such rows. */
typedef double (*mor_measure)(const void* user, const double* z);
double mor_boxed_polish(const mor_problem* problem, double* z, mor_measure measure, const void* user, mor_arena* arena);
/* The same for an LCP or MLCP, and where the set is singular the least correction that keeps them non-negative, unless
 * `stop` (NULL: never) says that it shall end. */
struct mor_stop;
double mor_active_set_polish(const mor_problem* problem, double* z, mor_measure measure, const void* user,
                             const struct mor_stop* stop, mor_arena* arena);

/* Improves the answer of a STEP by solving the equations its contact states imply (polish_step.c). Returns the velocity
 * error of p on return. */
double mor_step_polish(const mor_problem* problem, double* p, mor_arena* arena);

/* The parts (convert_step.c, convert_mlcp.c, convert_global.c). */
mor_code mor_convert_step_to_mlcp(const mor_problem* from, bool keep_velocity, mor_conversion* conversion,
                                  mor_arena* arena, mor_error* error);
mor_code mor_convert_step_to_cones(const mor_problem* from, mor_form to, mor_conversion* conversion, mor_arena* arena,
                                   mor_error* error);
mor_code mor_convert_mlcp_to_lcp(const mor_problem* from, mor_conversion* conversion, bool* no_solution,
                                 mor_arena* arena, mor_error* error);
mor_code mor_convert_global_to_local(const mor_problem* from, mor_conversion* conversion, mor_arena* arena,
                                     mor_error* error);

#endif
