/* Exact geometry by enumeration, the reference in the plane (eq. 23 read rightly, MATH section 2).
 *
 * Per pair g:  max_k s_k(nu+) >= 0, and an impulse only on a plane that is touched while no other separates. A *leaf*
 * picks one plane per pair and is a Stewart-Trinkle problem; a leaf is valid if it is solved and no pair pushes on a
 * plane while another is clearly open at the end. There may be several valid leaves (sharp corners, seams). Selection:
 * leaves whose planes were all open at the start come first, and among equals the one that changes the free motion
 * least in the M-norm. Without the first rule a fast particle is let through thin parts: least impulse over all planes
 * is zero impulse behind the body.
 *
 * Pairs that cannot be reached (every row of some open plane stays positive for the free velocity and all leaves) still
 * take part: the number of leaves is the product of the planes, at most LEAVES; beyond, the step is refused. In space:
 * refused. */
#include "formulation/peg_planes.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAVES = 20000 };

static double change(const mor_system* s, const double* nu)
{
    double sum = 0.0;
    for (int t = 0; t < s->tree_count; t++) {
        const mor_tree_block* b = &s->trees[t];
        for (int i = 0; i < b->dof; i++)
            for (int j = 0; j < b->dof; j++)
                sum += (nu[b->offset + i] - s->nu_free[b->offset + i]) * b->mass[i * b->dof + j] *
                       (nu[b->offset + j] - s->nu_free[b->offset + j]);
    }
    return sum;
}

/* min psi_i + h w_i, penetration included */
static double end_gap(const mor_peg* peg, const mor_peg_plane* k)
{
    double least = HUGE_VAL;
    for (int c = k->first; c < k->first + k->count; c++)
        least = fmin(least, peg->s->contacts[c].gap + peg->s->h * peg->speed[c]);
    return least;
}

static bool valid(mor_peg* peg, const mor_answer* answer)
{
    const mor_system* s = peg->s;
    for (int g = 0; g < peg->group_count; g++) {
        const mor_peg_group* group = &peg->groups[g];
        const mor_peg_plane* chosen = &peg->planes[group->choice];
        bool pushes = false;
        for (int c = chosen->first; c < chosen->first + chosen->count; c++) {
            int block = s->contacts[c].block;
            pushes = pushes || answer->impulses[s->blocks[block].row] * s->diagonal[s->diagonal_start[block]] > 1e-12;
        }
        if (!pushes) continue;
        for (int k = group->first; k < group->first + group->count; k++)
            if (k != group->choice && end_gap(peg, &peg->planes[k]) > 10.0 * group->tol) return false;
    }
    return !mor_peg_pinch(peg, answer->nu, false);
}

static mor_report exact_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    (void)options;
    mor_peg peg;
    mor_report best = { .status = MOR_REFUSED };
    if (s->dimension != 2) {
        snprintf(best.detail, sizeof best.detail, "peg-exact enumerates planes in 2-D worlds only; use peg");
        return best;
    }
    double* bias = mor_arena_alloc(stage->arena, (size_t)s->row_count * sizeof *bias);
    bool* keep = mor_arena_alloc(stage->arena, (size_t)s->block_count * sizeof *keep);
    double* guess = mor_arena_alloc(stage->arena, (size_t)s->row_count * sizeof *guess);
    double* nu = mor_arena_alloc(stage->arena, (size_t)s->dof * sizeof *nu);
    double* impulses = mor_arena_zero(stage->arena, (size_t)s->row_count, sizeof *impulses);
    if (!bias || !keep || !guess || !nu || !impulses || !mor_peg_build(s, stage->arena, &peg))
        return mor_report_no_memory();
    int* chosen = mor_arena_zero(stage->arena, (size_t)peg.group_count + 1, sizeof *chosen);
    if (!chosen) return mor_report_no_memory();
    memcpy(guess, answer->impulses, (size_t)s->row_count * sizeof *guess);
    mor_bias_stewart_trinkle(s, bias);
    double leaves = 1.0;
    for (int g = 0; g < peg.group_count; g++) {
        leaves *= peg.groups[g].count;
        peg.groups[g].choice = peg.groups[g].first;
    }
    if (leaves > LEAVES) {
        snprintf(best.detail, sizeof best.detail, "%.3g leaves to enumerate; peg-exact takes at most %d", leaves,
                 LEAVES);
        return best;
    }
    best = (mor_report){ .status = MOR_NOT_CONVERGED };
    snprintf(best.detail, sizeof best.detail, "none of the %.0f choices of planes is a solution", leaves);
    double best_cost = HUGE_VAL;
    int best_closed = 0, iterations = 0;
    for (int leaf = 0; leaf < (int)leaves; leaf++) {
        int closed = 0, code = leaf;
        for (int i = 0; i < s->block_count; i++) keep[i] = true;
        for (int i = 0; i < s->contact_count; i++) keep[s->contacts[i].block] = false;
        for (int g = 0; g < peg.group_count; g++) {
            mor_peg_group* group = &peg.groups[g];
            group->choice = group->first + code % group->count;
            code /= group->count;
            const mor_peg_plane* k = &peg.planes[group->choice];
            closed += !k->open;
            for (int c = k->first; c < k->first + k->count; c++) keep[s->contacts[c].block] = true;
        }
        mor_answer one = { nu, answer->impulses, NULL };
        memcpy(answer->impulses, guess, (size_t)s->row_count * sizeof *guess);
        size_t mark = mor_arena_mark(stage->arena);
        mor_report report = mor_step_solve(s, s->directions, bias, keep, stage, &one);
        mor_arena_release(stage->arena, mark);
        iterations += report.iterations;
        if (report.status != MOR_SOLVED) continue;
        mor_peg_speeds(&peg, nu);
        double cost = change(s, nu);
        if (!valid(&peg, &one) ||
            !(closed < best_closed || best_cost == HUGE_VAL || (closed == best_closed && cost < best_cost)))
            continue;
        best = report;
        best_cost = cost;
        best_closed = closed;
        memcpy(impulses, answer->impulses, (size_t)s->row_count * sizeof *impulses);
        for (int g = 0; g < peg.group_count; g++) chosen[g] = peg.groups[g].choice;
    }
    memcpy(answer->impulses, impulses, (size_t)s->row_count * sizeof *impulses);
    mor_system_velocity(s, impulses, answer->nu);
    for (int g = 0; g < peg.group_count && best_cost < HUGE_VAL; g++) {
        const mor_peg_plane* k = &peg.planes[chosen[g]];
        for (int c = k->first; c < k->first + k->count; c++) answer->held[c] = true;
    }
    best.iterations = iterations;
    return best;
}

const mor_formulation mor_formulation_peg_exact = {
    .name = "peg-exact",
    .summary = "exact geometry in the plane by enumeration of the planes of all pairs: the reference",
    .reference = "flickinger2015",
    .produces = MOR_STEP_PYRAMID,
    .options_size = 0,
    .step = exact_step,
    .groups = 1,
    .mass_inverse = true,
};
