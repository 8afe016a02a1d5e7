/* Joints that contacts do not let close.
 *
 * The rows of a joint ask for the velocity that closes it, G' nu+ + phi/h = 0. Contacts, friction and limits may leave
 * no room for that: a mechanism that rests on the floor and is open by 1e-8 m. The rows contradict the contacts then,
 * and no method reaches its goal. The rows that hold the joints as they are, G' nu+ + d(phi)/dt = 0, have an answer: if
 * nothing moves the joints or the contacts, it is rest. Limits that are exceeded are held so, too.
 *
 * They are taken where the others have no answer, and where their answer misses the goal and the one of these does not.
 * An island that was held so and rests, with all its joints within the tolerance, is held at once in the next step
 * (formulation/wide.c). Once it moves by more than it is open, its joints are closed again. */
#include "base/elementary.h"
#include "formulation/assemble.h"
#include "formulation/rows.h"
#include "model/joints.h"
#include "step/stabilise.h"
#include "step/stages.h"

#include <math.h>
#include <string.h>

bool mor_hold_island(mor_step* k, int i, void (*solve)(mor_step* step, int island))
{
    mor_island* island = &k->islands[i];
    double* bias = island->bias;
    for (int r = 0; r < island->row_block_count; r++) {
        const mor_row_block* b = island->rows[r];
        for (int d = 0; (b->joint >= 0 || b->gap < 0.0) && d < b->dim; d++)
            bias[island->system.blocks[island->system.contact_count + r].row + d] = b->drift[d];
    }
    memset(island->answer.impulses, 0, (size_t)island->system.row_count * sizeof(double));
    solve(k, i);
    return mor_report_answers(k->w, &island->report);
}

/* The largest phi of an island's joints; does it move by less than that in the step? */
static double largest_error(const mor_step* k, const mor_island* island, bool* rests)
{
    double largest = 0.0, fastest = 0.0;
    for (int r = 0; r < island->row_block_count; r++) {
        double square = 0.0;
        for (int d = 0; island->rows[r]->joint >= 0 && d < island->rows[r]->dim; d++)
            square += island->rows[r]->phi[d] * island->rows[r]->phi[d];
        largest = mor_max(largest, sqrt(square));
    }
    for (int i = 0; i < island->system.dof; i++) fastest = mor_max(fastest, fabs(island->answer.nu[i]));
    *rests = fastest * k->w->h <= largest;
    return largest;
}

/* Tries rows that hold the joints of an island as they are. What is no better is undone. False: out of memory. */
static bool try_to_hold(mor_step* k, int i, void (*solve)(mor_step* step, int island))
{
    mor_island* island = &k->islands[i];
    const mor_system* s = &island->system;
    const mor_report before = island->report;
    const size_t rows = (size_t)s->row_count, dof = (size_t)s->dof;
    double* kept = mor_arena_alloc(k->arena, (rows + 2 * dof) * sizeof *kept);
    if (!kept) return false;
    memcpy(kept, island->answer.impulses, rows * sizeof *kept);
    memcpy(kept + rows, island->answer.nu, dof * sizeof *kept);
    if (island->answer.move) memcpy(kept + rows + dof, island->answer.move, dof * sizeof *kept);
    mor_hold_island(k, i, solve);
    mor_joint* joints = k->w->joints.data;
    const bool solved = island->report.status == MOR_SOLVED;
    for (int r = 0; solved && r < island->row_block_count; r++)
        if (island->rows[r]->joint >= 0)
            memset(joints[island->rows[r]->joint].correction, 0, sizeof joints->correction);
    if (solved) return true;
    island->report = before;
    memcpy(island->answer.impulses, kept, rows * sizeof *kept);
    memcpy(island->answer.nu, kept + rows, dof * sizeof *kept);
    if (island->answer.move) memcpy(island->answer.move, kept + rows + dof, dof * sizeof *kept);
    for (int t = 0; t < s->tree_count; t++) {
        const int to = k->w->trees[island->tree_of[t]].offset, from = s->trees[t].offset;
        const size_t bytes = (size_t)s->trees[t].dof * sizeof(double);
        memcpy(k->nu_new + to, island->answer.nu + from, bytes);
        if (k->nu_move && island->answer.move) memcpy(k->nu_move + to, island->answer.move + from, bytes);
    }
    return true;
}

bool mor_hold_joints(mor_step* k, void (*solve)(mor_step* step, int island))
{
    mor_joint* joints = k->w->joints.data;
    const double tolerance = mor_joint_tolerance(k->w);
    for (int i = 0; i < k->rough; i++) {
        mor_island* island = &k->islands[i];
        const bool below = mor_report_below_goal(k->w, &island->report);
        bool rests;
        if (!(below || island->stuck) || island->wide || island->row_block_count == 0) continue;
        if (below && !island->stuck && !try_to_hold(k, i, solve)) return false;
        if (island->report.status != MOR_SOLVED || !(largest_error(k, island, &rests) <= tolerance) || !rests) continue;
        for (int r = 0; r < island->row_block_count; r++)
            if (island->rows[r]->joint >= 0) joints[island->rows[r]->joint].differences[0][0] = MOR_JOINT_STUCK;
    }
    return true;
}
