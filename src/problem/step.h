/* Products with the tree form of one time step: never forms W.
 *
 *   nu = nu_free + M^-1 G p,   u = G' nu + b
 *
 * Cost: proportional to the number of Jacobian coefficients. */
#ifndef MOR_PROBLEM_STEP_H
#define MOR_PROBLEM_STEP_H

#include "moreau/problem.h"
#include "problem/cone.h"

/* nu (dof) */
void mor_step_velocity(const mor_step_form* step, const double* p, double* nu);
/* dnu = M^-1 G dp (dof) */
void mor_step_change(const mor_step_form* step, const double* dp, double* dnu);
/* f = G x (dof) */
void mor_step_forces(const mor_step_form* step, const double* x, double* f);
/* u (row_count) */
void mor_step_rows(const mor_step_form* step, const double* nu, double* u);
/* u += G' nu and q += G' free, in one go */
void mor_step_rows_both(const mor_step_form* step, const double* nu, const double* free, double* u, double* q);
/* du = G' dnu (row_count), without b, which may be larger than du by orders of magnitude */
void mor_step_rows_change(const mor_step_form* step, const double* dnu, double* du);
/* True if the friction of this block is limited by a polygon; false for circular cones, intervals (one tangent:
 * the same thing) and frictionless contacts. */
static inline bool mor_block_is_polygonal(const mor_block* block)
{
    return block->kind == MOR_BLOCK_CONTACT && block->directions > 0 &&
           ((block->dim >= 3 && block->mu > 0.0) || (block->dim >= 5 && block->mu_roll > 0.0));
}
/* The coefficients of a contact block. */
static inline mor_cone mor_block_cone(const mor_block* b)
{
    return (mor_cone){ { b->mu, b->dim >= 5 ? b->mu_roll : 0.0, b->dim >= 6 ? b->mu_drill : 0.0 } };
}
/* rho = 1/|W_cc|_F of a block, 1 if W_cc is zero. */
double mor_step_rho(const mor_step_form* step, int block);

#endif
