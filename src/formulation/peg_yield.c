/* Pairs for which no single plane is an answer: with friction, pushing on plane a may open plane b, and pushing on b
 * may open a.
 *
 * Frictionless switching ends (peg.c, fact 2). Coulomb's law is not monotone, and then a pair can be left with two
 * planes that disown each other. The condition of the step is max_k s_k(h) = 0 for a pair that pushes; at the ridge
 * where both planes meet it has the answer that lies between the two. It is found by letting the rows of the plane in
 * use yield by theta >= 0,
 *
 *     0 <= p_n,i  _|_  G_n,i' nu+ + (max(psi_i,0) + theta)/h + d(psi_i)/dt >= 0,
 *
 * until the largest gap at the end, e(theta) = max over the other open planes of s_k(h; nu+), is no longer positive, or
 * the pair pushes no more: the pair goes a little past plane a and ends on plane b. e is positive at theta = 0; for
 * large theta the pair does not push. A root of e is bracketed and found by the Illinois rule (a secant whose idle end
 * counts half). Should the answer jump there, the end where the planes are not open is taken, and what overlap it
 * leaves is projected. So the loop ends, and no pair is returned that pushes while another open plane separates it.
 * Since the rows only yield, p_n G_n' nu+ <= 0 and fact (1) of peg.c holds: contact dissipates.
 *
 * Pairs whose rows were taken at the trial state (peg_trial.c) are judged by the true geometry there, e = max_k
 * s_k(q+). Pairs that meet within the step and turn on do not yield: they push then, and may be apart at the end.
 *
 * Cost: a solve per iteration, in about one of a thousand steps of piles of hulls; nothing otherwise. */
#include "base/elementary.h"
#include "formulation/peg_planes.h"

#include <math.h>

enum { ITERATIONS = 24, MOST = 60 }; /* of the bracket; after that the rows give way for good */

bool mor_peg_pushes(const mor_peg* peg, const double* impulses, const mor_peg_plane* p)
{
    const mor_system* s = peg->s;
    for (int c = p->first; c < p->first + p->count; c++) {
        int block = s->contacts[c].block;
        if (impulses[s->blocks[block].row] * s->diagonal[s->diagonal_start[block]] > 1e-13) return true;
    }
    return false;
}

/* e of a pair that pushes. */
static double excess(const mor_peg* peg, int g, const double* nu, double slack)
{
    const mor_peg_group* group = &peg->groups[g];
    if (group->checked > 0) return mor_peg_trial_separation(peg, g, nu);
    double largest = -HUGE_VAL, own = mor_max(mor_peg_end_gap(peg, &peg->planes[group->choice]), 0.0);
    for (int p = group->first; p < group->first + group->count; p++)
        if (p != group->choice && peg->planes[p].open &&
            !mor_peg_same_rows(peg, &peg->planes[p], &peg->planes[group->choice]) &&
            mor_peg_keeps_sector(peg, g, p, nu, slack))
            largest = mor_max(largest, mor_peg_end_gap(peg, &peg->planes[p]) - own);
    return largest;
}

/* Moves the rows in use by d. */
static void give(const mor_peg* peg, int g, double d, double* bias, mor_peg_trial* t)
{
    const mor_system* s = peg->s;
    const mor_peg_plane* p = &peg->planes[peg->groups[g].choice];
    const double speed = d / s->h;
    for (int c = p->first; c < p->first + p->count; c++) {
        int row = s->blocks[s->contacts[c].block].row;
        bias[row] += speed;
        if (t->room.capacity) t->bias[row] += speed;
    }
    const mor_system* added = &t->room.system;
    for (int i = 0; i < t->room.added; i++)
        if (t->group[i] == g) t->bias[added->blocks[added->contacts[s->contact_count + i].block].row] += speed;
}

bool mor_peg_yield(mor_peg* peg, const mor_answer* answer, double* bias, mor_peg_trial* trial)
{
    bool any = false;
    for (int g = 0; g < peg->group_count; g++) {
        mor_peg_group* group = &peg->groups[g];
        if (group->choice < 0 || group->swept || (group->count == 1 && group->checked == 0)) continue;
        mor_peg_yielding* y = &group->yield;
        const bool push = mor_peg_pushes(peg, answer->impulses, &peg->planes[group->choice]);
        const double tol = group->checked > 0 ? 50.0 * group->tol : group->tol_end;
        double e = push ? excess(peg, g, answer->nu, trial->slack) : -HUGE_VAL;
        if (y->steps == 0 ? !(e > 2.0 * tol) : (e <= 2.0 * tol && e >= -100.0 * tol)) continue; /* as it should be */
        if (y->steps >= ITERATIONS && e <= 2.0 * tol) continue;
        if (y->steps >= MOST) continue;
        double theta = y->theta, next;
        if (e > 0.0) {
            if (y->steps && y->side > 0) y->below *= 0.5;
            y->low = theta, y->above = e, y->side = 1;
        } else {
            if (y->side < 0) y->above *= 0.5;
            y->high = theta, y->below = e, y->bracketed = true, y->side = -1;
        }
        /* a bracket far narrower than e: the other pairs have moved on, it holds no more */
        if (y->bracketed && y->steps < ITERATIONS && isfinite(e) && y->high - y->low < 1e-3 * fabs(e)) {
            if (e > 0.0) y->bracketed = false;
            else y->low = mor_max(0.0, theta + e), y->above = -e;
        }
        if (!y->bracketed) next = theta + (y->steps < ITERATIONS ? e : 2.0 * mor_max(e, theta));
        else if (y->steps >= ITERATIONS) next = y->high = e > 0.0 && theta >= y->high ? 2.0 * theta : y->high;
        else if (isfinite(y->below) && (y->steps & 7) != 7)
            next = y->low + (y->high - y->low) * y->above / (y->above - y->below);
        else next = 0.5 * (y->low + y->high);
        y->steps++;
        if (!(fabs(next - theta) > 0.0)) continue;
        give(peg, g, next - theta, bias, trial);
        y->theta = next;
        any = true;
    }
    return any;
}
