/* Newton's law of restitution, for all contacts that are closed at the moment of the impact at once.
 *
 *     M (nu+ - nu-) = G p,    0 <= p_n _|_ w+ + e w- >= 0,    Coulomb's law between p_t and u_t+
 *     w = G_n' nu + d(psi)/dt
 *
 * with e the contact's where it approaches, 0 where it does not. Contacts that leave faster than v_rest take no part:
 * where the impact turns them round, they have an impact of their own. One that was stopped instead would be given
 * work. One solve.
 *
 * Limits. With friction the law can gain energy: where normal and tangential directions are coupled, a contact that
 * first slips and then sticks is given back a normal speed that it was not deprived of (Kane's double pendulum). At
 * Newton's cradle it spreads the momentum: every contact but the first is told not to open.
 *
 * I. Newton, Principia (1687), Scholium to the laws of motion; J. J. Moreau, "Unilateral contact and dry friction in
 * finite freedom dynamics" (1988) for several contacts; T. R. Kane, D. A. Levinson, "Dynamics: theory and
 * applications" (1985) for the gain. */
#include "formulation/impact.h"

static void apply(mor_impact* k)
{
    mor_impact_speeds(k->s, k->nu, k->speed);
    for (int c = 0; c < k->s->contact_count; c++) {
        k->target[c] = k->speed[c] < -k->slow ? -k->restitution[c] * k->speed[c] : 0.0;
        k->act[c] = k->closed[c] && k->speed[c] <= k->slow;
    }
    mor_impact_solve(k, k->act, k->target, k->trial, k->p);
    mor_impact_accept(k, k->trial, k->p);
}

const mor_impact_law mor_impact_newton = {
    "newton", "every closed contact leaves with e times the speed it came with; may gain energy with friction",
    "moreau1988", apply
};
