/* Routh's law: one contact after the other, each followed along its normal impulse (routh.c).
 *
 *     repeat   c = the closed contact that approaches fastest
 *              nu += M^-1 G_c p,  p from Routh's path with e as Poisson or as Stronge has it
 *     until none approaches
 *
 * Slip may stop, turn or start during the impact, so friction acts as it comes, not by the slip at the end of a phase.
 * Joints hold meanwhile: the response M^-1 G_c is that of the system with its joints. Limits and motors act after the
 * impact, in what is left of the step. No impact of a contact gains energy.
 *
 * Limits. Contacts that close at the same moment act one after the other, the fastest first, equal ones in their order,
 * as those of `reflections` do not: a box that lands flat leaves a little turned. What still approaches after 64 + 16 n
 * impacts is stopped (e = 0, all n closed contacts). Rows of rolling friction do not act in the impact.
 *
 * References: routh.c; for several contacts A. P. Ivanov, "On multiple impact", J. Appl. Math. Mech. 59 (1995)
 * 887-902. */
#include "formulation/impact.h"
#include "formulation/routh.h"
#include "formulation/step_problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SETTLED 1e-9 /* of the fastest approach: slower ones are none */

/* Y[d] = M^-1 G_c e_d with joints that hold, and the joints' impulses q[d]. Solved in the size of the speeds at hand,
 * because a solver's tolerance is a speed. */
static void respond(mor_impact* k, const mor_block* b, int d, double size, double* Y, double* q)
{
    mor_system s = *k->s;
    double inertia = s.diagonal[s.diagonal_start[b - s.blocks]], scale = inertia > 0.0 ? size / inertia : 1.0;
    memset(Y, 0, (size_t)s.dof * sizeof *Y);
    memset(q, 0, (size_t)s.row_count * sizeof *q);
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s.trees[s.entries[e].tree];
        const double* column = s.response + s.entries[e].start + d * t->dof;
        for (int m = 0; m < t->dof; m++) Y[t->offset + m] = column[m];
    }
    bool joints = false;
    for (int i = 0; i < s.block_count; i++) {
        k->keep[i] = i >= s.contact_count && s.blocks[i].kind == MOR_BLOCK_EQUATION;
        joints = joints || k->keep[i];
    }
    if (!joints) return;
    for (int i = 0; i < s.dof; i++) k->w[i] = scale * Y[i];
    memset(k->bias, 0, (size_t)s.row_count * sizeof *k->bias);
    s.nu_free = k->w;
    mor_answer answer = { .nu = Y, .impulses = q };
    size_t mark = mor_arena_mark(k->stage->arena);
    mor_report report = mor_step_solve(&s, k->directions, k->bias, k->keep, k->stage, &answer);
    mor_arena_release(k->stage->arena, mark);
    if (k->report.status == MOR_SOLVED && report.status != MOR_SOLVED) k->report = report;
    k->report.iterations += report.iterations;
    for (int i = 0; i < s.dof; i++) Y[i] /= scale;
    for (int i = 0; i < s.row_count; i++) q[i] /= scale;
}

static double along(const mor_system* s, const mor_block* b, int d, const double* x)
{
    double u = 0.0;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start + d * t->dof;
        for (int m = 0; m < t->dof; m++) u += J[m] * x[t->offset + m];
    }
    return u;
}

static void strike(mor_impact* k, int c, double size, mor_routh_end end)
{
    const mor_system* s = k->s;
    const mor_contact_row* row = &s->contacts[c];
    const mor_block* b = &s->blocks[row->block];
    double *Y[3] = { k->trial, k->plastic, k->v }, *q[3] = { k->p, k->p_plastic, k->u };
    double W[9] = { 0 }, u[3] = { 0 }, p[3] = { 0 };
    int dim = b->dim < s->dimension ? b->dim : s->dimension;
    for (int d = 0; d < dim; d++) respond(k, b, d, size, Y[d], q[d]);
    for (int i = 0; i < dim; i++) {
        u[i] = row->drift[i] + along(s, b, i, k->nu);
        for (int d = 0; d < dim; d++) W[3 * i + d] = along(s, b, i, Y[d]);
    }
    double e = u[0] < -k->slow ? k->restitution[c] : 0.0;
    if (!mor_routh_impact(dim, W, 3, dim > 1 ? b->mu : 0.0, e, end, u, p)) {
        k->report.status = MOR_NUMERICAL;
        snprintf(k->report.detail, sizeof k->report.detail, "the path of an impact (routh) does not end");
        return;
    }
    for (int d = 0; d < dim; d++) {
        k->impulses[b->row + d] += p[d];
        for (int i = 0; i < s->dof; i++) k->nu[i] += Y[d][i] * p[d];
        for (int i = 0; i < s->row_count; i++) k->impulses[i] += q[d][i] * p[d];
    }
    k->report.iterations++;
}

/* The closed contact that approaches fastest, -1: none does. */
static int fastest_of(mor_impact* k, double slow)
{
    int first = -1;
    mor_impact_speeds(k->s, k->nu, k->speed);
    for (int c = 0; c < k->s->contact_count; c++)
        if (k->closed[c] && k->speed[c] < -slow && (first < 0 || k->speed[c] < k->speed[first])) first = c;
    return first;
}

static void apply(mor_impact* k, mor_routh_end end)
{
    int closed = 0, first = fastest_of(k, 0.0);
    if (first < 0) return;
    double size = -k->speed[first], slow = SETTLED * size;
    for (int c = 0; c < k->s->contact_count; c++) closed += k->closed[c];
    for (int n = 0; n < 64 + 16 * closed && first >= 0; n++) {
        strike(k, first, size, end);
        if (k->report.status == MOR_NUMERICAL) return;
        first = fastest_of(k, slow);
    }
    if (first < 0) return;
    memset(k->target, 0, (size_t)k->s->contact_count * sizeof *k->target);
    mor_impact_solve(k, k->closed, k->target, k->trial, k->p);
    mor_impact_accept(k, k->trial, k->p);
}

static void apply_poisson(mor_impact* k) { apply(k, MOR_ROUTH_POISSON); }
static void apply_stronge(mor_impact* k) { apply(k, MOR_ROUTH_STRONGE); }

const mor_impact_law mor_impact_routh_poisson = {
    "routh-poisson", "each contact along its normal impulse, slip as it comes; pushes back e times compression",
    "routh1905", apply_poisson
};
const mor_impact_law mor_impact_routh_stronge = {
    "routh-stronge",
    "each contact along its normal impulse, slip as it comes; gives back e^2 of the work of compression", "stronge1990",
    apply_stronge
};
