/* Newton's law with restitution of slip: a contact that friction can hold turns its slip round, as a rubber ball does.
 *
 *     M (nu+ - nu-) = G p,    0 <= p_n _|_ w+ + e w- >= 0,    Coulomb's law between p_t and u_t+ + e_t u_t-
 *
 * for all closed contacts at once, with e where they approach, 0 where they do not, and e_t the same. With p_t inside
 * the disc u_t+ = -e_t u_t-; on its edge friction acts against u_t+ + e_t u_t-. e_t = 0 is Newton's law.
 *
 * Energy. Let W_c <= 0 be the work of the plastic answer (e = e_t = 0). The answer goes the largest part of the way
 * from it to the one above with W <= (1 - max(e, e_t)^2) W_c; both ends are admissible, and so is what lies between. A
 * ball obeys the bound by itself. Without it friction can gain energy, as with Newton's law.
 *
 * J. J. Moreau, "Unilateral contact and dry friction in finite freedom dynamics" (1988), section 9; K. Walton,
 * "Granular element method" (1993) for e_t of balls. */
#include "formulation/impact.h"
#include "base/elementary.h"

#include <string.h>

/* u_t- of a row, drift included. */
static double slip_of(const mor_system* s, const mor_contact_row* c, int d, const double* nu)
{
    const mor_block* b = &s->blocks[c->block];
    double u = c->drift[d];
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start + d * t->dof;
        for (int m = 0; m < t->dof; m++) u += J[m] * nu[t->offset + m];
    }
    return u;
}

static void apply(mor_impact* k)
{
    const mor_system* s = k->s;
    mor_impact_speeds(s, k->nu, k->speed);
    memset(k->target, 0, (size_t)s->contact_count * sizeof *k->target);
    mor_impact_solve(k, k->closed, k->target, k->plastic, k->p_plastic);
    memset(k->u, 0, (size_t)s->row_count * sizeof *k->u);
    double largest = 0.0;
    for (int c = 0; c < s->contact_count; c++) {
        const mor_contact_row* row = &s->contacts[c];
        const mor_block* b = &s->blocks[row->block];
        if (!(k->speed[c] < -k->slow)) continue;
        k->target[c] = -k->restitution[c] * k->speed[c];
        largest = mor_max(largest, mor_max(k->restitution[c], row->tangential));
        int dim = b->dim < s->dimension ? b->dim : s->dimension;
        for (int d = 1; d < dim; d++) k->u[b->row + d] = row->tangential * slip_of(s, row, d, k->nu);
    }
    k->slip = k->u;
    mor_impact_solve(k, k->closed, k->target, k->trial, k->p);
    k->slip = NULL;
    mor_impact_limit(k, (1.0 - largest * largest) * mor_min(mor_impact_work(k, k->p_plastic, k->plastic), 0.0));
    mor_impact_take_back(k);
    mor_impact_accept(k, k->trial, k->p);
}

const mor_impact_law mor_impact_tangential = {
    "tangential", "Newton's law, and slip that friction can hold turns round with e_t; never gains energy",
    "moreau1988", apply
};
