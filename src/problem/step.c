/* Products with G and M^-1 in tree form (step.h). */
#include "problem/step.h"

#include "linalg/rows.h"

#include <string.h>

MOR_ALWAYS_INLINE void mor_step_velocity_body(const mor_step_form* step, const double* p, double* nu)
{
    if (step->dof > 0) memcpy(nu, step->nu_free, (size_t)step->dof * sizeof *nu);
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* block = &step->blocks[c];
        for (int e = block->entry; e < block->entry + block->entry_count; e++) {
            const mor_tree_block* tree = &step->trees[step->entries[e].tree];
            const double* Y = step->response + step->entries[e].start;
            double* v = nu + tree->offset;
            if (block->dim == 3) {
                mor_push3(tree->dof, Y, p + block->row, v);
                continue;
            }
            for (int r = 0; r < block->dim; r++) {
                double impulse = p[block->row + r];
                if (impulse != 0.0)
                    for (int k = 0; k < tree->dof; k++) v[k] += Y[r * tree->dof + k] * impulse;
            }
        }
    }
}

MOR_WIDE_VOID(extern, mor_step_velocity, (const mor_step_form* step, const double* p, double* nu), (step, p, nu))

MOR_ALWAYS_INLINE void mor_step_rows_body(const mor_step_form* step, const double* nu, double* u)
{
    if (step->row_count > 0) memcpy(u, step->bias, (size_t)step->row_count * sizeof *u);
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* block = &step->blocks[c];
        for (int e = block->entry; e < block->entry + block->entry_count; e++) {
            const mor_tree_block* tree = &step->trees[step->entries[e].tree];
            const double *J = step->jacobian + step->entries[e].start, *v = nu + tree->offset;
            if (block->dim == 3) {
                mor_rows3(tree->dof, J, v, u + block->row);
                continue;
            }
            for (int r = 0; r < block->dim; r++) {
                double s = 0.0;
                for (int k = 0; k < tree->dof; k++) s += J[r * tree->dof + k] * v[k];
                u[block->row + r] += s;
            }
        }
    }
}

MOR_WIDE_VOID(extern, mor_step_rows, (const mor_step_form* step, const double* nu, double* u), (step, nu, u))

double mor_step_rho(const mor_step_form* step, int c)
{
    const double* W = step->diagonal + step->diagonal_start[c];
    int dim = step->blocks[c].dim;
    double s = 0.0;
    for (int k = 0; k < dim * dim; k++) s += W[k] * W[k];
    return s > 0.0 ? 1.0 / sqrt(s) : 1.0;
}
