/* The exact Coulomb cone with the Newton-Euler rows kept: the mixed complementarity problem of the papers.
 *
 *     M v = H r + f,   u = H' v + b,   Coulomb's law between u and r for every contact
 *
 * with v = nu+, H = G, f = M nu_free, r = p and the bias b of `ncp`. Option `form`:
 *   global   hands over M, H, f, b (GFC2D, GFC3D). Solvers of reduced problems get W = H' M^-1 H by conversion. All
 *   contacts of
 *            an island must have the same number of rows, and there may be no joints; otherwise the step form is handed
 *            over and the report says so.
 *   step     hands over the tree form, which holds the same matrices by blocks.
 *
 * References as for `ncp`; V. Acary, B. Brogliato (2008), Numerical Methods for Nonsmooth Dynamical Systems. */
#include "formulation/registry.h"
#include "formulation/step_problem.h"

#include "linalg/sparse.h"

#include <stdio.h>
#include <string.h>

enum { FORM_GLOBAL, FORM_STEP };

typedef struct mncp_options {
    int form;
} mncp_options;

static const mor_field mncp_fields[] = {
    { "form", MOR_TYPE_CHOICE, offsetof(mncp_options, form), FORM_GLOBAL, 0, 0, "global|step", "",
      "how the problem is handed to the solver: as M, H, f, b, or by trees and contacts" },
    { 0 }
};

static mor_matrix as_matrix(const mor_csr* A)
{
    return (mor_matrix){ .storage = MOR_SPARSE, .rows = A->rows, .cols = A->cols, .x = A->x, .p = A->p, .i = A->i };
}

/* M, H, f, b and mu of the system. False: out of memory. */
static bool global_problem(const mor_system* s, const double* bias, int dim, mor_arena* arena, mor_problem* problem)
{
    int mass = 0, coefs = 0;
    for (int t = 0; t < s->tree_count; t++) mass += s->trees[t].dof * s->trees[t].dof;
    for (int c = 0; c < s->block_count; c++)
        for (int e = 0; e < s->blocks[c].entry_count; e++)
            coefs += dim * s->trees[s->entries[s->blocks[c].entry + e].tree].dof;
    int most = mass > coefs ? mass : coefs;
    int* row = mor_arena_alloc(arena, (size_t)most * sizeof *row);
    int* col = mor_arena_alloc(arena, (size_t)most * sizeof *col);
    double* x = mor_arena_alloc(arena, (size_t)most * sizeof *x);
    double* f = mor_arena_zero(arena, (size_t)s->dof, sizeof *f);
    double* mu = mor_arena_alloc(arena, (size_t)s->block_count * sizeof *mu);
    mor_csr M, H;
    if (!row || !col || !x || !f || !mu) return false;
    int k = 0;
    for (int t = 0; t < s->tree_count; t++) {
        const mor_tree_block* tree = &s->trees[t];
        for (int i = 0; i < tree->dof; i++)
            for (int j = 0; j < tree->dof; j++) {
                row[k] = tree->offset + i, col[k] = tree->offset + j, x[k] = tree->mass[i * tree->dof + j];
                f[row[k]] += x[k] * s->nu_free[col[k]];
                k++;
            }
    }
    if (!mor_csr_from_triplets(&M, s->dof, s->dof, k, row, col, x, arena)) return false;
    k = 0;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        mu[c] = b->mu;
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            const mor_tree_block* tree = &s->trees[s->entries[e].tree];
            const double* J = s->jacobian + s->entries[e].start;
            for (int d = 0; d < dim; d++)
                for (int m = 0; m < tree->dof; m++, k++)
                    row[k] = tree->offset + m, col[k] = b->row + d, x[k] = J[d * tree->dof + m];
        }
    }
    if (!mor_csr_from_triplets(&H, s->dof, s->row_count, k, row, col, x, arena)) return false;
    *problem = (mor_problem){ .form = dim == 2 ? MOR_GFC2D : MOR_GFC3D,
                              .size = s->row_count,
                              .b = bias,
                              .contact_count = s->block_count,
                              .dim = dim,
                              .mu = mu,
                              .M = as_matrix(&M),
                              .H = as_matrix(&H),
                              .f = f };
    return true;
}

static mor_report mncp_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    const mncp_options* o = options;
    double* bias = mor_arena_alloc(stage->arena, (size_t)s->row_count * sizeof *bias);
    if (!bias) return mor_report_no_memory();
    mor_bias_stewart_trinkle(s, bias);
    int dim = s->block_count ? s->blocks[0].dim : 0;
    bool uniform = dim == 2 || dim == 3;
    for (int c = 0; c < s->block_count; c++)
        uniform = uniform && s->blocks[c].kind == MOR_BLOCK_CONTACT && s->blocks[c].dim == dim;
    if (o->form == FORM_STEP || !uniform) {
        mor_report report = mor_stewart_trinkle_solve(s, 0, stage, answer);
        if (o->form == FORM_GLOBAL && !report.detail[0])
            snprintf(report.detail, sizeof report.detail, "rows of several kinds: handed over by trees and contacts");
        return report;
    }
    mor_problem problem, step;
    int* row_of;
    double* z = mor_arena_alloc(stage->arena, (size_t)(s->row_count + s->dof) * sizeof *z);
    if (!z || !global_problem(s, bias, dim, stage->arena, &problem) ||
        !mor_step_problem(s, 0, bias, NULL, stage->arena, &step, &row_of))
        return mor_report_no_memory();
    bool warm = false;
    for (int i = 0; i < s->row_count; i++) z[i] = answer->impulses[i], warm = warm || z[i] != 0.0;
    memcpy(z + s->row_count, s->nu_free, (size_t)s->dof * sizeof *z);
    mor_report report = stage->solve(stage, &problem, warm, z);
    memcpy(answer->impulses, z, (size_t)s->row_count * sizeof *z);
    mor_system_velocity(s, answer->impulses, answer->nu);
    /* whatever the form, the world is told the velocity error of the step */
    report.residual.velocity = mor_judge(&step, answer->impulses, stage->arena).velocity;
    return report;
}

const mor_formulation mor_formulation_mncp = {
    .name = "mncp",
    .summary = "exact Coulomb cone with the Newton-Euler rows kept",
    .reference = "acary2008",
    .produces = MOR_GFC2D | MOR_GFC3D | MOR_STEP_CONE,
    .options_size = sizeof(mncp_options),
    .fields = mncp_fields,
    .step = mncp_step,
    .impacts = true,
    .gaps = true,
    .turning = 2,
};
