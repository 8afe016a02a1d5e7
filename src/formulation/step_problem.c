/* From the assembled system to a STEP problem and back. */
#include "formulation/step_problem.h"

#include "base/arena.h"
#include "formulation/equations.h"
#include "formulation/independent.h"
#include "linalg/rows.h"
#include "problem/judge.h"
#include "problem/step.h"

#include <stdio.h>
#include <string.h>

/* Pivots of equations (formulation/independent.c) that are zero but for rounding: left out beside contacts in any case;
 * and that are small, left out where the whole problem is not solved. */
#define REDUNDANT 1e-11
#define SOFT 1e-7

bool mor_step_problem(const mor_system* s, int directions, const double* bias, const bool* keep, mor_arena* arena,
                      mor_problem* problem, int** row_of)
{
    mor_block* blocks = mor_arena_take(arena, (size_t)s->block_count * sizeof *blocks);
    int* starts = mor_arena_take(arena, (size_t)s->block_count * sizeof *starts);
    double* b = mor_arena_take(arena, (size_t)s->row_count * sizeof *b);
    int* rows = mor_arena_take(arena, (size_t)s->row_count * sizeof *rows);
    int squares = 0;
    bool dense = !keep; /* all blocks are wanted, and those of W follow each other, as solvers expect it */
    for (int i = 0; i < s->block_count; i++) {
        dense = dense && s->diagonal_start[i] == squares;
        squares += s->blocks[i].dim * s->blocks[i].dim;
    }
    double* diagonal = dense ? (double*)s->diagonal : mor_arena_take(arena, (size_t)squares * sizeof *diagonal);
    if (!blocks || !starts || !b || !rows || (!diagonal && squares > 0)) return false;
    int count = 0, row = 0, at = 0;
    for (int i = 0; i < s->block_count; i++) {
        if (keep && !keep[i]) continue;
        blocks[count] = s->blocks[i];
        blocks[count].directions = s->blocks[i].kind == MOR_BLOCK_CONTACT ? directions : 0;
        blocks[count].row = row;
        int size = s->blocks[i].dim * s->blocks[i].dim;
        if (!dense) memcpy(diagonal + at, s->diagonal + s->diagonal_start[i], (size_t)size * sizeof *diagonal);
        starts[count++] = at;
        at += size;
        for (int d = 0; d < s->blocks[i].dim; d++, row++) {
            rows[row] = s->blocks[i].row + d;
            b[row] = bias[rows[row]];
        }
    }
    *problem = (mor_problem){ .form = directions ? MOR_STEP_PYRAMID : MOR_STEP_CONE,
                              .size = row,
                              .b = b,
                              .step = { .tree_count = s->tree_count,
                                        .dof = s->dof,
                                        .trees = s->trees,
                                        .nu_free = s->nu_free,
                                        .block_count = count,
                                        .row_count = row,
                                        .blocks = blocks,
                                        .entries = s->entries,
                                        .jacobian = s->jacobian,
                                        .response = s->response,
                                        .diagonal = diagonal,
                                        .diagonal_start = starts,
                                        .bias = b } };
    *row_of = rows;
    return true;
}

mor_problem mor_system_problem(const mor_system* s, int directions, const double* bias, mor_arena* arena,
                               mor_block** blocks)
{
    mor_problem problem = { 0 };
    int* rows;
    bool ok = mor_step_problem(s, directions, bias, NULL, arena, &problem, &rows);
    if (blocks) *blocks = ok ? (mor_block*)problem.step.blocks : NULL;
    return problem;
}

mor_step_form mor_system_form(const mor_system* s)
{
    return (mor_step_form){ .tree_count = s->tree_count,
                            .dof = s->dof,
                            .trees = s->trees,
                            .nu_free = s->nu,
                            .block_count = s->block_count,
                            .row_count = s->row_count,
                            .blocks = s->blocks,
                            .entries = s->entries,
                            .jacobian = s->jacobian,
                            .response = s->response,
                            .diagonal = s->diagonal,
                            .diagonal_start = s->diagonal_start,
                            .bias = s->bias };
}

MOR_ALWAYS_INLINE void mor_system_velocity_body(const mor_system* s, const double* p, double* nu)
{
    memcpy(nu, s->nu_free, (size_t)s->dof * sizeof *nu);
    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            const mor_tree_block* t = &s->trees[s->entries[e].tree];
            mor_push(b->dim, t->dof, s->response + s->entries[e].start, p + b->row, nu + t->offset);
        }
    }
}

MOR_WIDE_VOID(extern, mor_system_velocity, (const mor_system* s, const double* p, double* nu), (s, p, nu))

void mor_bias_drift(const mor_system* s, double* bias)
{
    for (int i = 0; i < s->row_count; i++) bias[i] = s->bias ? s->bias[i] : 0.0;
    for (int c = 0; c < s->contact_count; c++) {
        const mor_block* b = &s->blocks[s->contacts[c].block];
        for (int d = 0; d < b->dim; d++) bias[b->row + d] = s->contacts[c].drift[d];
    }
}

mor_report mor_report_no_memory(void)
{
    mor_report report = { .status = MOR_NUMERICAL };
    snprintf(report.detail, sizeof report.detail, "out of memory");
    return report;
}

/* With those equations alone that do not depend on each other. False: there are none that do, or nothing came of it,
 * and z is as it was. */
static bool solve_independent(const mor_problem* problem, double limit, mor_solve_stage* stage, double* z,
                              mor_report* report)
{
    mor_problem less;
    int* rows;
    mor_arena* arena = stage->arena;
    if (!mor_independent_problem(problem, limit, &less, &rows, arena)) return false;
    double* p = mor_arena_take(arena, (size_t)less.size * sizeof *p);
    double* nu = mor_arena_take(arena, (size_t)less.step.dof * sizeof *nu);
    if (!p || !nu) return false;
    for (int i = 0; i < less.size; i++) p[i] = z[rows[i]];
    mor_equations_guess(&less.step, NULL, p, (double*)less.step.bias, arena);
    *report = stage->solve(stage, &less, true, p);
    if (report->status != MOR_SOLVED) return false;
    mor_step_velocity(&less.step, p, nu);
    if (!mor_equations_agree(problem, limit, nu, arena)) return false;
    memset(z, 0, (size_t)problem->size * sizeof *z);
    for (int i = 0; i < less.size; i++) z[rows[i]] = p[i];
    return true;
}

/* Equations beside contacts, few enough to look at in every step. */
static bool is_mixed(const mor_step_form* s)
{
    enum { FEW = 48 };
    int equations = 0, contacts = 0;
    for (int c = 0; c < s->block_count; c++) {
        if (s->blocks[c].kind == MOR_BLOCK_EQUATION) equations += s->blocks[c].dim;
        else contacts += s->blocks[c].kind == MOR_BLOCK_CONTACT;
    }
    return contacts > 0 && equations > 1 && equations <= FEW;
}

/* An island of equations by their factor alone: one solve is the answer, unless they depend on each other. False: it is
 * not, or it is the solver's business. */
static bool solve_equations(const mor_system* s, const double* bias, const mor_solve_stage* stage, mor_answer* answer,
                            mor_report* report)
{
    if (!stage->equations) return false;
    mor_problem problem = { .form = MOR_STEP_CONE, .size = s->row_count, .b = bias, .step = mor_system_form(s) };
    problem.step.nu_free = s->nu_free;
    problem.step.bias = bias;
    double* p = mor_arena_take(stage->arena, ((size_t)s->row_count + (size_t)s->dof) * sizeof *p);
    double *nu = p ? p + s->row_count : NULL,
           enough = p ? mor_equations_answer(&problem.step, stage->equations, p, nu) : 0.0;
    if (!(enough > 0.0)) return false;
    mor_report found = { .status = MOR_SOLVED, .iterations = 1, .detail = "equations" };
    found.residual = mor_judge_step_at(&problem, p, nu, NULL, stage->arena);
    if (!(found.residual.velocity <= enough)) return false;
    memcpy(answer->impulses, p, (size_t)s->row_count * sizeof *p);
    memcpy(answer->nu, nu, (size_t)s->dof * sizeof *nu);
    *report = found;
    return true;
}

mor_report mor_step_solve(const mor_system* s, int directions, const double* bias, const bool* keep,
                          mor_solve_stage* stage, mor_answer* answer)
{
    mor_problem problem;
    mor_report report, other;
    int* row_of;
    if (!keep && solve_equations(s, bias, stage, answer, &report)) return report;
    if (!mor_step_problem(s, directions, bias, keep, stage->arena, &problem, &row_of)) return mor_report_no_memory();
    if (problem.size == 0) {
        memset(answer->impulses, 0, (size_t)s->row_count * sizeof(double));
        memcpy(answer->nu, s->nu_free, (size_t)s->dof * sizeof(double));
        return (mor_report){ .status = MOR_SOLVED };
    }
    double* z = mor_arena_take(stage->arena, (size_t)problem.size * sizeof *z);
    if (!z) return mor_report_no_memory();
    bool warm = false;
    for (int i = 0; i < problem.size; i++) z[i] = answer->impulses[row_of[i]];
    mor_equations_guess(&problem.step, keep ? NULL : stage->equations, z, (double*)problem.step.bias, /* our own copy */
                        stage->arena);
    for (int i = 0; i < problem.size; i++) warm = warm || z[i] != 0.0;
    if (!is_mixed(&problem.step) || !solve_independent(&problem, REDUNDANT, stage, z, &report)) {
        report = stage->solve(stage, &problem, warm, z);
        if ((report.status == MOR_NOT_CONVERGED || report.status == MOR_NO_SOLUTION) &&
            solve_independent(&problem, SOFT, stage, z, &other))
            report = other;
    }
    memset(answer->impulses, 0, (size_t)s->row_count * sizeof(double));
    for (int i = 0; i < problem.size; i++) answer->impulses[row_of[i]] = z[i];
    mor_system_velocity(s, answer->impulses, answer->nu);
    return report;
}
