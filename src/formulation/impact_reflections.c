/* Generalised reflections: contacts that approach bounce, and again, until none approaches.
 *
 *     repeat   A = closed contacts with w < 0
 *              nu <- the answer of Newton's law on A alone, with friction, but no more energy than compression took
 *     until A is empty
 *
 * A pass lets only those contacts bounce that approach now, all of them together. So a blow runs through a row of balls
 * contact by contact (0 0 0 0 1), as it does through balls with small gaps, while the four corners of a box that lands
 * flat act at once, and the answer does not depend on the order of contacts.
 *
 * Energy. Let nu_c be the answer with e = 0 (the end of compression), W_c <= 0 the work of its impulses. What a pass
 * gives back is at most e^2 of what compression took, as Stronge's energetic coefficient has it:
 *
 *     W <= (1 - e^2) W_c
 *
 * Without friction and with one e Newton's answer gives exactly this. Where it gives more (friction that couples normal
 * and tangential directions, different e), the pass goes the largest part of the way from nu_c to Newton's answer that
 * keeps the bound; velocities and impulses on the way are admissible because both ends are (the cones are convex).
 *
 * Passes end: an elastic frictionless pass of a finite system ends after finitely many reflections; others lose
 * energy in every pass. In a heap of balls with e < 1 speeds fall by a factor in each of hundreds of passes: what
 * approaches slower than v_rest and than a hundredth of the first approach, or still does after 16 + 4 n passes, is
 * stopped (e = 0, all n closed contacts). That takes at most 1e-4 of the energy of the first approach.
 *
 * B. Smith, D. M. Kaufman, E. Vouga, R. Tamstorf, E. Grinspun, "Reflections on simultaneous impact", ACM Trans. Graph.
 * 31 (2012) 106; W. J. Stronge, "Rigid body collisions with friction", Proc. R. Soc. A 431 (1990) 169-181. */
#include "base/elementary.h"
#include "formulation/impact.h"

#include <math.h>
#include <string.h>

#define SETTLED 1e-9 /* of the fastest approach: speeds below it do not make another pass */
#define FAINT 0.01 /* of the fastest approach: what is left of it after passes, if slower than v_rest too, is stopped */

/* Contacts that approach; their number. */
static int approaching(mor_impact* k, double slow)
{
    int count = 0;
    mor_impact_speeds(k->s, k->nu, k->speed);
    for (int c = 0; c < k->s->contact_count; c++) {
        k->act[c] = k->closed[c] && k->speed[c] < -slow;
        count += k->act[c];
    }
    return count;
}

/* Is Newton's answer on the acting contacts within the bound by itself? */
static bool plain(const mor_impact* k, double* e)
{
    bool same = true, friction = false;
    *e = -1.0;
    for (int c = 0; c < k->s->contact_count; c++) {
        if (!k->act[c]) continue;
        if (*e >= 0.0 && k->restitution[c] != *e) same = false;
        *e = mor_max(*e, k->restitution[c]);
        friction = friction || k->s->blocks[k->s->contacts[c].block].dim > 1;
    }
    return same && !friction;
}

static void reflect(mor_impact* k)
{
    const mor_system* s = k->s;
    double e;
    bool safe = plain(k, &e);
    for (int c = 0; c < s->contact_count; c++) k->target[c] = -k->restitution[c] * k->speed[c];
    mor_impact_solve(k, k->act, k->target, k->trial, k->p);
    if (!safe && e > 0.0) {
        memset(k->target, 0, (size_t)s->contact_count * sizeof *k->target);
        mor_impact_solve(k, k->act, k->target, k->plastic, k->p_plastic);
        double most = (1.0 - e * e) * mor_min(mor_impact_work(k, k->p_plastic, k->plastic), 0.0);
        mor_impact_limit(k, most);
    }
    mor_impact_take_back(k);
    mor_impact_accept(k, k->trial, k->p);
}

static void apply(mor_impact* k)
{
    int closed = 0;
    double fastest = 0.0;
    mor_impact_speeds(k->s, k->nu, k->speed);
    for (int c = 0; c < k->s->contact_count; c++) {
        closed += k->closed[c];
        if (k->closed[c]) fastest = mor_max(fastest, -k->speed[c]);
    }
    const double slow = SETTLED * fastest, faint = mor_max(mor_min(FAINT * fastest, k->slow), slow);
    for (int pass = 0; pass < 16 + 4 * closed && approaching(k, faint) > 0; pass++) {
        approaching(k, slow);
        reflect(k);
    }
    if (approaching(k, slow) == 0) return;
    memset(k->target, 0, (size_t)k->s->contact_count * sizeof *k->target);
    mor_impact_solve(k, k->closed, k->target, k->trial, k->p);
    mor_impact_accept(k, k->trial, k->p);
}

const mor_impact_law mor_impact_reflections = {
    "reflections", "contacts that approach bounce until none does, and never give back more energy than they took",
    "smith2012", apply
};
