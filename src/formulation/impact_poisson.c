/* Poisson's law of restitution: what the contact pushes back is e times what compression took.
 *
 *     compression   0 <= p_c _|_ w_c >= 0,  Coulomb's law at its end;   from nu- to nu_c
 *     expansion     p_e >= e p_c,  0 <= p_e - e p_c _|_ w+ >= 0,  Coulomb's law with |p_t| <= mu p_e at its end
 *
 * for all contacts that are closed at once. Expansion is solved by projected Gauss-Seidel on the velocities, contact by
 * contact: the normal impulse has the lower bound e p_c instead of 0, the tangential one the disc of radius mu p_e.
 *
 * With one e for all contacts and no friction this is Newton's law. With friction it differs where the slip changes
 * during the impact. Different e at contacts that push against each other may gain energy; `reflections` does not.
 *
 * S. D. Poisson, Traite de mecanique (1811); C. Glocker, F. Pfeiffer, "Multiple impacts with friction in rigid
 * multibody systems", Nonlinear Dynamics 7 (1995) 471-497. Limits: dense piles with joints converge slowly. */
#include "base/elementary.h"
#include "formulation/impact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SWEEPS = 20000 };
#define CHANGE 1e-13 /* of the fastest speed: a sweep that changes velocities less is the last one */

static void push(const mor_system* s, const mor_block* b, int d, double p, double* nu)
{
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* Y = s->response + s->entries[e].start + d * t->dof;
        for (int m = 0; m < t->dof; m++) nu[t->offset + m] += Y[m] * p;
    }
}

/* u = G' nu + bias of a block. */
static void slip(const mor_impact* k, const mor_block* b, const double* nu, double* u)
{
    const mor_system* s = k->s;
    for (int d = 0; d < b->dim; d++) {
        u[d] = k->bias[b->row + d];
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            const mor_tree_block* t = &s->trees[s->entries[e].tree];
            const double* J = s->jacobian + s->entries[e].start + d * t->dof;
            for (int m = 0; m < t->dof; m++) u[d] += J[m] * nu[t->offset + m];
        }
    }
}

/* Moves the impulse of row d to `to`; the largest change of speed it makes at its own row. */
static double move_to(const mor_impact* k, const mor_block* b, int d, double W, double to, double* p, double* nu)
{
    double change = to - p[b->row + d];
    p[b->row + d] = to;
    if (change != 0.0) push(k->s, b, d, change, nu);
    return fabs(change) * W;
}

/* Normal row: at least `least`; then friction on the disc. */
static double visit_contact(const mor_impact* k, const mor_block* b, const double* W, double least, double* p,
                            double* nu)
{
    double u[6];
    slip(k, b, nu, u);
    double change = move_to(k, b, 0, W[0], mor_max(least, p[b->row] - u[0] / W[0]), p, nu);
    if (b->dim == 1) return change;
    slip(k, b, nu, u);
    double trace = 0.0, t[2] = { 0.0, 0.0 }, radius = b->mu * p[b->row];
    int n = k->s->dimension - 1;
    for (int d = 1; d <= n; d++) trace += W[d * (b->dim + 1)];
    for (int d = 0; d < n; d++) t[d] = p[b->row + 1 + d] - u[1 + d] / trace;
    double length = mor_hypot(t[0], t[1]), scale = length > radius ? radius / length : 1.0;
    for (int d = 0; d < n; d++) change = mor_max(change, move_to(k, b, 1 + d, trace, scale * t[d], p, nu));
    return change;
}

static double visit_joint(const mor_impact* k, const mor_block* b, const double* W, double* p, double* nu)
{
    double u[6], change = 0.0;
    for (int d = 0; d < b->dim; d++) {
        slip(k, b, nu, u);
        double w = W[d * (b->dim + 1)];
        if (!(w > 0.0)) continue;
        double to = p[b->row + d] - u[d] / w;
        if (b->kind == MOR_BLOCK_BOUNDED) to = mor_min(mor_max(to, b->lower), b->upper);
        change = mor_max(change, move_to(k, b, d, w, to, p, nu));
    }
    return change;
}

/* From the end of compression, with the impulses p_plastic of it; the bias is still that of its solve. */
static void expand(mor_impact* k, double fastest)
{
    const mor_system* s = k->s;
    double *p = k->p, *nu = k->trial, change = HUGE_VAL;
    memcpy(nu, k->plastic, (size_t)s->dof * sizeof *nu);
    memset(p, 0, (size_t)s->row_count * sizeof *p);
    for (int c = 0; c < s->contact_count; c++) {
        const mor_block* b = &s->blocks[c];
        k->target[c] = k->closed[c] ? k->target[c] * k->p_plastic[b->row] : 0.0;
        if (k->target[c] > 0.0) move_to(k, b, 0, 1.0, k->target[c], p, nu);
    }
    int sweep = 0;
    for (; sweep < SWEEPS && change > CHANGE * fastest; sweep++) {
        change = 0.0;
        for (int i = 0; i < s->block_count; i++) {
            if (!k->keep[i]) continue;
            const double* W = s->diagonal + s->diagonal_start[i];
            double one = i < s->contact_count ? visit_contact(k, &s->blocks[i], W, k->target[i], p, nu)
                                              : visit_joint(k, &s->blocks[i], W, p, nu);
            change = mor_max(change, one);
        }
    }
    k->report.iterations += sweep;
    if (change <= CHANGE * fastest || k->report.status != MOR_SOLVED) return;
    k->report.residual.velocity = mor_max(k->report.residual.velocity, change);
    if (change <= s->tol) return;
    k->report.status = MOR_NOT_CONVERGED;
    snprintf(k->report.detail, sizeof k->report.detail, "expansion of an impact (poisson): %.3g m/s", change);
}

static void apply(mor_impact* k)
{
    const mor_system* s = k->s;
    double fastest = 0.0;
    mor_impact_speeds(s, k->nu, k->speed);
    for (int c = 0; c < s->contact_count; c++)
        if (k->closed[c]) fastest = mor_max(fastest, -k->speed[c]);
    memset(k->target, 0, (size_t)s->contact_count * sizeof *k->target);
    mor_impact_solve(k, k->closed, k->target, k->plastic, k->p_plastic);
    for (int c = 0; c < s->contact_count; c++) k->target[c] = k->restitution[c];
    expand(k, fastest);
    for (int i = 0; i < s->row_count; i++) k->p[i] += k->p_plastic[i];
    mor_impact_accept(k, k->trial, k->p);
}

const mor_impact_law mor_impact_poisson = { "poisson",
                                            "every closed contact pushes back e times the impulse of compression",
                                            "glocker1995", apply };
