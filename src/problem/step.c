/* Products with G and M^-1 in tree form (step.h). */
#include "problem/step.h"

#include "linalg/rows.h"

#include <string.h>

/* u += G' nu */
MOR_ALWAYS_INLINE void add_velocities(const mor_step_form* step, const double* nu, double* u)
{
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* block = &step->blocks[c];
        for (int e = block->entry; e < block->entry + block->entry_count; e++) {
            const mor_tree_block* tree = &step->trees[step->entries[e].tree];
            const double *J = step->jacobian + step->entries[e].start, *v = nu + tree->offset;
            mor_rows(block->dim, tree->dof, J, v, u + block->row);
        }
    }
}

MOR_ALWAYS_INLINE void mor_step_rows_body(const mor_step_form* step, const double* nu, double* u)
{
    if (step->row_count > 0) memcpy(u, step->bias, (size_t)step->row_count * sizeof *u);
    add_velocities(step, nu, u);
}

MOR_ALWAYS_INLINE void mor_step_rows_change_body(const mor_step_form* step, const double* dnu, double* du)
{
    if (step->row_count > 0) memset(du, 0, (size_t)step->row_count * sizeof *du);
    add_velocities(step, dnu, du);
}

/* u += G' nu, q += G' free */
MOR_ALWAYS_INLINE void mor_step_rows_both_body(const mor_step_form* step, const double* nu, const double* free,
                                               double* u, double* q)
{
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* block = &step->blocks[c];
        for (int e = block->entry; e < block->entry + block->entry_count; e++) {
            const mor_tree_block* tree = &step->trees[step->entries[e].tree];
            const double* J = step->jacobian + step->entries[e].start;
            mor_rows(block->dim, tree->dof, J, nu + tree->offset, u + block->row);
            mor_rows(block->dim, tree->dof, J, free + tree->offset, q + block->row);
        }
    }
}

MOR_WIDE_VOID(extern, mor_step_rows_both,
              (const mor_step_form* step, const double* nu, const double* free, double* u, double* q),
              (step, nu, free, u, q))
MOR_WIDE_VOID(extern, mor_step_rows, (const mor_step_form* step, const double* nu, double* u), (step, nu, u))
MOR_WIDE_VOID(extern, mor_step_rows_change, (const mor_step_form* step, const double* dnu, double* du), (step, dnu, du))

/* out += the rows of J, times x */
MOR_ALWAYS_INLINE void add_rows(const mor_step_form* step, const double* rows, const double* x, double* out)
{
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* block = &step->blocks[c];
        for (int e = block->entry; e < block->entry + block->entry_count; e++) {
            const mor_tree_block* tree = &step->trees[step->entries[e].tree];
            const double* J = rows + step->entries[e].start;
            mor_push(block->dim, tree->dof, J, x + block->row, out + tree->offset);
        }
    }
}

MOR_ALWAYS_INLINE void mor_step_velocity_body(const mor_step_form* step, const double* p, double* nu)
{
    if (step->dof > 0) memcpy(nu, step->nu_free, (size_t)step->dof * sizeof *nu);
    add_rows(step, step->response, p, nu);
}

MOR_ALWAYS_INLINE void mor_step_change_body(const mor_step_form* step, const double* dp, double* dnu)
{
    if (step->dof > 0) memset(dnu, 0, (size_t)step->dof * sizeof *dnu);
    add_rows(step, step->response, dp, dnu);
}

MOR_ALWAYS_INLINE void mor_step_forces_body(const mor_step_form* step, const double* x, double* f)
{
    if (step->dof > 0) memset(f, 0, (size_t)step->dof * sizeof *f);
    add_rows(step, step->jacobian, x, f);
}

MOR_WIDE_VOID(extern, mor_step_velocity, (const mor_step_form* step, const double* p, double* nu), (step, p, nu))
MOR_WIDE_VOID(extern, mor_step_change, (const mor_step_form* step, const double* dp, double* dnu), (step, dp, dnu))
MOR_WIDE_VOID(extern, mor_step_forces, (const mor_step_form* step, const double* x, double* f), (step, x, f))

double mor_step_rho(const mor_step_form* step, int c)
{
    const double* W = step->diagonal + step->diagonal_start[c];
    int dim = step->blocks[c].dim;
    double s = 0.0;
    for (int k = 0; k < dim * dim; k++) s += W[k] * W[k];
    return s > 0.0 ? 1.0 / sqrt(s) : 1.0;
}
