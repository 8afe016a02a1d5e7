/* Stewart-Trinkle time stepping (MATH section 2).
 *
 *     M nu+ = M nu_free + G_n p_n + G_f p_f
 *     0 <= p_n _|_ G_n' nu+ + psi/h + d(psi)/dt >= 0
 *     p_f in mu p_n P, maximal dissipation: P the polygon of `friction_directions` corners
 *
 * The last line is the pyramid of the papers, 0 <= beta _|_ D' u_T + E s >= 0, 0 <= s _|_ mu p_n - E' beta
 * >= 0, with p_f = D beta and the multipliers s, beta left to the solver. A positive gap lets the body
 * use it up within the step; a penetration is pushed out in one step, or at a bounded speed (mor_contact_row.recovery).
 * Where bodies are jammed, so that friction lets no impulse undo the penetration, the step is solved without that.
 *
 * Restitution (only where e > 0): with w = G_n' nu + d(psi)/dt, a contact that would close in this step
 * (w_free + psi/h < 0) and approaches faster than v_rest gets the row w+ >= max(-psi/h, -e w): the
 * bounce happens in the step that would reach the surface.
 *
 * Option `form` chooses how the problem is handed over: as a step (the solver converts if it must), or
 * explicitly as the mixed LCP in (nu, p_n, beta, s) or the LCP in (p_n, beta, s) of the papers.
 *
 * D. E. Stewart, J. C. Trinkle, "An implicit time-stepping scheme for rigid body dynamics with inelastic
 * collisions and Coulomb friction", Int. J. Numer. Meth. Engng 39 (1996) 2673-2691. */
#include "base/arena.h"
#include "base/elementary.h"
#include "formulation/step_problem.h"
#include "formulation/registry.h"
#include "formulation/unknowns.h"
#include "problem/convert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FORM_STEP, FORM_MLCP, FORM_LCP };

typedef struct st_options {
    int form;
} st_options;

static const mor_field st_fields[] = {
    { "form", MOR_TYPE_CHOICE, offsetof(st_options, form), FORM_STEP, 0, 0, "step|mlcp|lcp", "",
      "how the problem is handed to the solver: by contacts, as the mixed LCP with velocities, or as the LCP" },
    { 0 }
};

/* G_n' nu_free + drift of one contact. */
static double free_approach(const mor_system* s, const mor_contact_row* c)
{
    const mor_block* b = &s->blocks[c->block];
    double w = c->drift[0];
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start;
        for (int m = 0; m < t->dof; m++) w += J[m] * s->nu_free[t->offset + m];
    }
    return w;
}

static void write_bias(const mor_system* s, bool recover, double* bias)
{
    mor_bias_drift(s, bias);
    for (int i = 0; i < s->contact_count; i++) {
        const mor_contact_row* c = &s->contacts[i];
        double allowed = mor_min(-c->gap / s->h, recover ? c->recovery : 0.0); /* least normal velocity */
        if (c->restitution > 0.0 && c->approach < -s->v_rest && free_approach(s, c) + c->gap / s->h < 0.0)
            allowed = mor_max(allowed, -c->restitution * c->approach);
        bias[s->blocks[c->block].row] -= allowed;
    }
}

void mor_bias_stewart_trinkle(const mor_system* s, double* bias) { write_bias(s, true, bias); }

/* Overlaps that the rows take back slowly; not where the papers' gap/h is asked for. */
static bool recovers(const mor_system* s)
{
    bool any = false;
    for (int i = 0; i < s->contact_count; i++) {
        if (isinf(s->contacts[i].recovery)) return false;
        any = any || s->contacts[i].gap < 0.0;
    }
    return any;
}

mor_report mor_stewart_trinkle_solve(const mor_system* s, int directions, mor_solve_stage* stage, mor_answer* answer)
{
    size_t rows = (size_t)s->row_count;
    double* bias = mor_arena_take(stage->arena, 2 * rows * sizeof *bias);
    if (!bias) return mor_report_no_memory();
    double* start = bias + rows;
    memcpy(start, answer->impulses, rows * sizeof *start);
    write_bias(s, true, bias);
    mor_report report = mor_step_solve(s, directions, bias, NULL, stage, answer);
    bool failed = report.status == MOR_NOT_CONVERGED || report.status == MOR_NO_SOLUTION;
    if (!failed || !recovers(s)) return report;
    memcpy(answer->impulses, start, rows * sizeof *start);
    write_bias(s, false, bias);
    mor_report other = mor_step_solve(s, directions, bias, NULL, stage, answer);
    other.iterations += report.iterations;
    return other;
}

/* The way from the papers' forms back to impulses. */
typedef struct way_back {
    const mor_conversion *first, *second; /* second: NULL for the mixed LCP */
} way_back;

static void impulses_of(const mor_unknowns* unknowns, const double* z, double* p, mor_arena* arena)
{
    const way_back* w = unknowns->data;
    size_t mark = mor_arena_mark(arena), n = (size_t)mor_problem_unknowns(&w->first->to);
    double* middle = w->second ? mor_arena_zero(arena, n + 1, sizeof *middle) : NULL;
    if (w->second && middle) w->second->back(w->second, z, middle, arena);
    if (!w->second || middle) w->first->back(w->first, middle ? middle : z, p, arena);
    else memset(p, 0, (size_t)unknowns->step->size * sizeof *p);
    mor_arena_release(arena, mark);
}

/* The same step handed over in one of the papers' forms. */
static mor_report solve_converted(const mor_system* s, const double* bias, int form, mor_solve_stage* stage,
                                  mor_answer* answer)
{
    mor_problem step;
    int* row_of;
    if (!mor_step_problem(s, s->directions, bias, NULL, stage->arena, &step, &row_of)) return mor_report_no_memory();
    mor_conversion first, second = { 0 };
    bool no_solution = false;
    mor_report report = { .status = MOR_REFUSED };
    mor_error error = { 0 };
    mor_code code = form == FORM_MLCP ? mor_convert_step_keep_velocity(&step, &first, stage->arena, &error)
                                      : mor_convert(&step, MOR_MLCP, &first, &no_solution, stage->arena, &error);
    if (code == MOR_OK && form == FORM_LCP)
        code = mor_convert(&first.to, MOR_LCP, &second, &no_solution, stage->arena, &error);
    if (code != MOR_OK) {
        snprintf(report.detail, sizeof report.detail, "%.150s", error.text);
        return report;
    }
    const mor_problem* problem = form == FORM_LCP ? &second.to : &first.to;
    const way_back way = { &first, form == FORM_LCP ? &second : NULL };
    const mor_unknowns unknowns = { &step, impulses_of, &way };
    double* z = mor_arena_zero(stage->arena, (size_t)mor_problem_unknowns(problem), sizeof *z);
    if (!z) return mor_report_no_memory();
    stage->unknowns = &unknowns;
    report = stage->solve(stage, problem, false, z);
    stage->unknowns = NULL;
    impulses_of(&unknowns, z, answer->impulses, stage->arena);
    mor_conversion_destroy(&second);
    mor_conversion_destroy(&first);
    mor_system_velocity(s, answer->impulses, answer->nu);
    /* whatever the form, the world is told the velocity error of the step */
    mor_residual residual = mor_judge(&step, answer->impulses, stage->arena);
    report.residual.velocity = residual.velocity;
    return report;
}

static mor_report st_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    const st_options* o = options;
    if (o->form == FORM_STEP) return mor_stewart_trinkle_solve(s, s->directions, stage, answer);
    double* bias = mor_arena_take(stage->arena, (size_t)s->row_count * sizeof *bias);
    if (!bias) return mor_report_no_memory();
    mor_bias_stewart_trinkle(s, bias);
    return solve_converted(s, bias, o->form, stage, answer);
}

const mor_formulation mor_formulation_st = {
    .name = "st",
    .summary = "Stewart-Trinkle: gaps in the velocity rows, polygonal friction cone",
    .reference = "stewart1996",
    .produces = MOR_STEP_PYRAMID | MOR_MLCP | MOR_LCP,
    .options_size = sizeof(st_options),
    .fields = st_fields,
    .step = st_step,
    .impacts = true,
    .gaps = true,
    .turning = 2,
};
