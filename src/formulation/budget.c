/* Visits to rows, and the honest report (budget.h). */
#include "formulation/budget.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "linalg/rows.h"
#include "moreau/problem.h"

double mor_budget_speed(const mor_system* s, const mor_block* b, int row, const double* nu)
{
    double u = 0.0;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double *J = s->jacobian + s->entries[e].start + row * t->dof, *v = nu + t->offset;
        u += t->dof == 6 ? mor_inner(6, J, v) : mor_inner(t->dof, J, v);
    }
    return u;
}

void mor_budget_push(const mor_system* s, const mor_block* b, int row, double p, double* nu)
{
    if (p == 0.0) return;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* Y = s->response + s->entries[e].start + row * t->dof;
        if (t->dof == 6) mor_subtract(6, -p, Y, nu + t->offset);
        else mor_subtract(t->dof, -p, Y, nu + t->offset);
    }
}

double mor_budget_inertia(const mor_system* s, int block, int row)
{
    return s->diagonal[s->diagonal_start[block] + row * (s->blocks[block].dim + 1)];
}

void mor_budget_friction(const mor_system* s, int contact, const double* target, double* p, double* nu)
{
    const mor_contact_row* c = &s->contacts[contact];
    const mor_block* b = &s->blocks[c->block];
    double size = 0.0, limit = c->friction * p[0], next[3];
    int last = b->dim < 3 ? b->dim : 3;
    for (int d = 1; d < last; d++) size += target[d] * target[d];
    size = sqrt(size);
    for (int d = 1; d < last; d++) {
        next[d] = size > limit ? target[d] * limit / size : target[d];
        mor_budget_push(s, b, d, next[d] - p[d], nu);
        p[d] = next[d];
    }
}

void mor_budget_joints(const mor_system* s, double share, double* impulses, double* nu)
{
    for (int i = s->contact_count; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        for (int d = 0; d < b->dim; d++) {
            double W = mor_budget_inertia(s, i, d), *p = &impulses[b->row + d];
            if (!(W > 0.0)) continue;
            double u = mor_budget_speed(s, b, d, nu) + (s->bias ? s->bias[b->row + d] : 0.0), next = *p - u / W;
            if (b->kind == MOR_BLOCK_BOUNDED) next = mor_min(mor_max(next, share * b->lower), share * b->upper);
            mor_budget_push(s, b, d, next - *p, nu);
            *p = next;
        }
    }
}

void mor_budget_positions(const mor_system* s, const double* dq, mor_answer* answer)
{
    for (int i = 0; answer->shift && i < s->dof; i++) answer->shift[i] = dq[i] - s->h * answer->nu[i];
}

mor_report mor_budget_report(const mor_system* s, const mor_answer* answer, int visits, mor_arena* arena)
{
    mor_report report = { .status = MOR_APPROXIMATE, .iterations = visits };
    double* bias = mor_arena_alloc(arena, ((size_t)s->row_count + 1) * sizeof *bias);
    if (!bias) return mor_report_no_memory();
    mor_bias_stewart_trinkle(s, bias);
    mor_problem exact = mor_system_problem(s, 0, bias, arena, NULL);
    report.residual = mor_judge(&exact, answer->impulses, arena);
    for (int i = 0; i < s->dof; i++)
        if (!isfinite(answer->nu[i])) report.status = MOR_NUMERICAL;
    snprintf(report.detail, sizeof report.detail, "error of the exact step %.2g m/s", report.residual.velocity);
    return report;
}

bool mor_budget_overlaps(const void* options)
{
    (void)options;
    return true;
}
