/* Penalty: spring-damper contact forces, the example of a method that needs no problem and no solver.
 *
 *     f_n = max(0, -k psi - c psi'),    f_t = -mu f_n u_T / max(|u_T|, v_s)
 *
 * (never adhesive; friction regularised below the slip speed v_s, so it creeps). The step is divided
 * into `substeps`; in each, contact by contact, the force is taken at the end of the substep as far as the
 * contact's own W_cc tells (linearly implicit), which keeps stiff springs stable:
 *
 *     p_n = max(0, -h (k psi + (k h + c) u_n) / (1 + h (k h + c) W_nn))
 *     p_t = -g u_T / (1 + g W_tt),  g = mu p_n / v_s,  shortened to |p_t| <= mu p_n
 *
 * Gaps follow psi' = G_n' nu + d(psi)/dt; normals and arms stay those of the start of the step. The
 * answer depends on k and c: penetration at rest is weight / k. Nothing converges or fails here, so the
 * report has no residual.
 *
 * The original simulator's spring pulls separated bodies together; this one does not. */
#include "base/elementary.h"
#include "formulation/penalty.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct penalty_options {
    double stiffness, damping, slip_speed;
    int substeps;
} penalty_options;

static const mor_field penalty_fields[] = { { "stiffness", MOR_TYPE_DOUBLE, offsetof(penalty_options, stiffness), 1e5,
                                              1e-6, 1e15, NULL, "N/m", "spring of one contact point" },
                                            { "damping", MOR_TYPE_DOUBLE, offsetof(penalty_options, damping), 600, 0,
                                              1e15, NULL, "N s/m", "damper of one contact point" },
                                            { "slip_speed", MOR_TYPE_DOUBLE, offsetof(penalty_options, slip_speed),
                                              1e-3, 1e-12, 1e3, NULL, "m/s", "below it friction is viscous" },
                                            { "substeps", MOR_TYPE_INT, offsetof(penalty_options, substeps), 10, 1,
                                              100000, NULL, "", "substeps per step" },
                                            { 0 } };

/* u = G_block' nu + drift */
static void contact_velocity(const mor_system* s, const mor_block* b, const double* drift, const double* nu,
                             double u[3])
{
    for (int d = 0; d < b->dim; d++) u[d] = drift[d];
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start;
        for (int d = 0; d < b->dim; d++)
            for (int m = 0; m < t->dof; m++) u[d] += J[d * t->dof + m] * nu[t->offset + m];
    }
}

static void push(const mor_system* s, const mor_block* b, const double p[3], double* nu)
{
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* Y = s->response + s->entries[e].start;
        for (int d = 0; d < b->dim; d++)
            for (int m = 0; m < t->dof; m++) nu[t->offset + m] += Y[d * t->dof + m] * p[d];
    }
}

mor_report mor_penalty_step(const mor_system* s, const void* options, const mor_penalty_law* law,
                            mor_solve_stage* stage, mor_answer* answer, double* path)
{
    if (s->block_count > s->contact_count) {
        mor_report refused = { .status = MOR_REFUSED };
        snprintf(refused.detail, sizeof refused.detail,
                 "%s knows contacts only; joints, limits and joint friction need another formulation", law->name);
        return refused;
    }
    double* gap = mor_arena_alloc(stage->arena, (size_t)s->contact_count * sizeof *gap);
    if (!gap) return mor_report_no_memory();
    for (int i = 0; i < s->contact_count; i++) gap[i] = s->contacts[i].gap;
    memset(answer->impulses, 0, (size_t)s->row_count * sizeof(double));
    memcpy(answer->nu, s->nu, (size_t)s->dof * sizeof(double));
    double h = s->h / law->substeps;
    for (int k = 0; k < law->substeps; k++) {
        for (int i = 0; i < s->dof; i++) answer->nu[i] += (s->nu_free[i] - s->nu[i]) / law->substeps;
        for (int i = 0; i < s->contact_count; i++) {
            const mor_contact_row* c = &s->contacts[i];
            const mor_block* b = &s->blocks[c->block];
            const double* W = s->diagonal + s->diagonal_start[c->block];
            double u[3], p[3] = { 0 };
            contact_velocity(s, b, c->drift, answer->nu, u);
            p[0] = law->normal(options, h, gap[i], u[0], W[0]);
            if (gap[i] > 0.0 && gap[i] + h * u[0] > 0.0) p[0] = 0.0; /* not in touch */
            double g = c->friction * p[0] / law->slip_speed, size = 0.0;
            for (int d = 1; d < b->dim; d++) {
                p[d] = -g * u[d] / (1.0 + g * W[d * b->dim + d]);
                size += p[d] * p[d];
            }
            size = sqrt(size);
            if (size > c->friction * p[0])
                for (int d = 1; d < b->dim; d++) p[d] *= c->friction * p[0] / size;
            push(s, b, p, answer->nu);
            for (int d = 0; d < b->dim; d++) answer->impulses[b->row + d] += p[d];
        }
        for (int i = 0; i < s->contact_count; i++) {
            double u[3];
            contact_velocity(s, &s->blocks[s->contacts[i].block], s->contacts[i].drift, answer->nu, u);
            gap[i] += h * u[0];
        }
        for (int i = 0; path && i < s->dof; i++) path[i] += h * answer->nu[i];
    }
    mor_report report = { .status = MOR_SOLVED, .iterations = law->substeps };
    report.residual = (mor_residual){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    snprintf(report.detail, sizeof report.detail, "%s forces: nothing to converge", law->name);
    return report;
}

static double spring_damper(const void* options, double h, double gap, double u, double W)
{
    const penalty_options* o = options;
    double stiff = o->stiffness * h + o->damping;
    return mor_max(0.0, -h * (o->stiffness * gap + stiff * u) / (1.0 + h * stiff * W));
}

static mor_report penalty_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    const penalty_options* o = options;
    mor_penalty_law law = { "penalty", spring_damper, o->slip_speed, o->substeps };
    return mor_penalty_step(s, options, &law, stage, answer, NULL);
}

bool mor_penalty_overlaps(const void* options)
{
    (void)options;
    return true;
}

const mor_formulation mor_formulation_penalty = {
    .name = "penalty",
    .summary = "spring-damper forces with regularised friction; no problem, no solver",
    .reference = "moore1988",
    .produces = 0,
    .options_size = sizeof(penalty_options),
    .fields = penalty_fields,
    .step = penalty_step,
    .overlaps = mor_penalty_overlaps,
};
