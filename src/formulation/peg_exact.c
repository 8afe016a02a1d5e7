/* Exact geometry by enumeration, the reference in the plane (eq. 23 read rightly, MATH section 2).
 *
 * Per pair g:  max_k s_k(nu+) >= 0, and an impulse only on a plane that is touched while no other separates. A *leaf*
 * picks one plane per pair and is a Stewart-Trinkle problem; a leaf is valid if it is solved and no pair pushes on a
 * plane while another that was open at the start is clearly open at the end. There may be several valid leaves (sharp
 * corners, seams). Selection: leaves that push only on planes that were open at the start and bound the sector a
 * particle comes from (peg_pinch.c) come first, and among equals the one that changes the free motion least in the
 * M-norm. (A pair that does not push may go over to a plane that opens in the step: what slides over a ridge does.)
 * Without the first rule a fast particle is let through thin parts: least impulse over all planes is zero impulse
 * behind the body.
 *
 * With friction two planes may disown each other (peg_yield.c) and no leaf be valid: the one is taken whose pairs push
 * against the smallest gap. A pair that does not push must be covered through the whole step (peg_planes.c), not only
 * be apart at its end: the end alone lets a particle cut through corners.
 *
 * Only pairs that matter are enumerated. The first problem has none; a pair that its answer does not leave covered is
 * added, and so on. An answer that suits the pairs left out is one of the whole problem, in which these do not push. A
 * particle that passes between two pieces that touch (peg_pinch.c) adds all its pairs, and leaves in which it does so
 * are no solutions. The number of leaves is the product of the planes of the pairs added, at most LEAVES; beyond, the
 * step is refused. In space: refused. As in peg, gaps are read as max(psi, 0), pairs that turn far in the step are
 * looked at along their motion and get the rows of where they first overlap (peg_trial.c), and what linearisation
 * leaves of penetration is projected. */
#include "base/elementary.h"
#include "formulation/peg_planes.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAVES = 20000 };

typedef struct enumeration {
    mor_peg peg;
    bool* active; /* per group */
    int* chosen;  /* per group: plane of the best leaf */
    double *bias, *guess, *nu, *impulses;
    bool* keep;
    bool sealed; /* leaves in which a particle passes between pieces do not count */
    mor_peg_trial trial;
} enumeration;

/* 0 for a solution, HUGE_VAL if some pair is not covered; else the largest gap at the end of an open plane of a pair
 * that pushes on another one. */
static double excess(enumeration* k, const mor_answer* answer)
{
    double worst = 0.0;
    mor_peg* peg = &k->peg;
    const mor_system* s = peg->s;
    for (int g = 0; g < peg->group_count; g++) {
        if (!k->active[g]) continue;
        const mor_peg_group* group = &peg->groups[g];
        const mor_peg_plane* chosen = &peg->planes[group->choice];
        bool pushes = false;
        for (int c = chosen->first; c < chosen->first + chosen->count; c++) {
            int block = s->contacts[c].block;
            pushes = pushes || answer->impulses[s->blocks[block].row] * s->diagonal[s->diagonal_start[block]] > 1e-12;
        }
        mor_peg_cover(peg, g);
        if (!pushes && group->until < s->h) return HUGE_VAL;
        if (!pushes) continue;
        if (!chosen->open && group->last != group->choice && group->until < s->h) return HUGE_VAL;
        for (int p = group->first; p < group->first + group->count; p++) {
            double gap = p != group->choice && peg->planes[p].open ? mor_peg_end_gap(peg, &peg->planes[p]) : 0.0;
            if (gap > 10.0 * group->tol) worst = mor_max(worst, gap);
        }
    }
    return k->sealed && mor_peg_pinch(peg, answer->nu, false) ? HUGE_VAL : worst;
}

/* How many pairs push on a plane that was not open at the start, or does not bound the way their particle came. */
static int doubtful(const enumeration* k, const mor_answer* answer)
{
    const mor_peg* peg = &k->peg;
    int count = 0;
    for (int g = 0; g < peg->group_count; g++) {
        const mor_peg_plane* p = &peg->planes[peg->groups[g].choice];
        if (!k->active[g] || !mor_peg_pushes(peg, answer->impulses, p)) continue;
        count += (p->open ? 0 : 1) + (mor_peg_astray(peg, g, answer->nu) ? 1 : 0);
    }
    return count;
}

/* Picks the planes of a leaf. */
static void pick(enumeration* k, int leaf)
{
    mor_peg* peg = &k->peg;
    const mor_system* s = peg->s;
    for (int i = 0; i < s->block_count; i++) k->keep[i] = true;
    for (int i = 0; i < s->contact_count; i++) k->keep[s->contacts[i].block] = false;
    for (int g = 0; g < peg->group_count; g++) {
        if (!k->active[g]) continue;
        mor_peg_group* group = &peg->groups[g];
        group->choice = group->first + leaf % group->count;
        leaf /= group->count;
        const mor_peg_plane* p = &peg->planes[group->choice];
        for (int c = p->first; c < p->first + p->count; c++) k->keep[s->contacts[c].block] = true;
    }
}

/* Solves all leaves of the active pairs and keeps the best in k->impulses and k->chosen. */
static mor_report enumerate(enumeration* k, mor_solve_stage* stage, mor_answer* answer)
{
    mor_peg* peg = &k->peg;
    const mor_system* s = peg->s;
    mor_report best = { .status = MOR_NOT_CONVERGED };
    double leaves = 1.0, best_cost = HUGE_VAL, best_excess = HUGE_VAL;
    int best_doubts = 0, iterations = 0;
    for (int g = 0; g < peg->group_count; g++)
        if (k->active[g]) leaves *= peg->groups[g].count;
    if (leaves > LEAVES) {
        best.status = MOR_REFUSED;
        snprintf(best.detail, sizeof best.detail, "%.3g leaves to enumerate; peg-exact takes at most %d", leaves,
                 LEAVES);
        return best;
    }
    snprintf(best.detail, sizeof best.detail, "none of the %.0f choices of planes is a solution", leaves);
    memset(k->impulses, 0, (size_t)s->row_count * sizeof *k->impulses);
    for (int leaf = 0; leaf < (int)leaves; leaf++) {
        pick(k, leaf);
        mor_answer one = { .nu = k->nu, .impulses = answer->impulses };
        memcpy(answer->impulses, k->guess, (size_t)s->row_count * sizeof *k->guess);
        size_t mark = mor_arena_mark(stage->arena);
        mor_report report = mor_step_solve(s, s->directions, k->bias, k->keep, stage, &one);
        mor_arena_release(stage->arena, mark);
        iterations += report.iterations;
        if (report.status != MOR_SOLVED) continue;
        mor_peg_speeds(peg, k->nu);
        double cost = mor_peg_change(peg, k->nu);
        double off = excess(k, &one);
        int doubts = off < HUGE_VAL ? doubtful(k, &one) : 0;
        bool better = off < best_excess;
        if (off == best_excess && off < HUGE_VAL)
            better = doubts < best_doubts || (doubts == best_doubts && cost < best_cost);
        if (!better) continue;
        best = report;
        best_excess = off;
        best_cost = cost;
        best_doubts = doubts;
        memcpy(k->impulses, answer->impulses, (size_t)s->row_count * sizeof *k->impulses);
        for (int g = 0; g < peg->group_count; g++) k->chosen[g] = peg->groups[g].choice;
    }
    memcpy(answer->impulses, k->impulses, (size_t)s->row_count * sizeof *k->impulses);
    mor_system_velocity(s, k->impulses, answer->nu);
    mor_peg_speeds(peg, answer->nu);
    best.iterations = iterations;
    return best;
}

/* Adds the pairs that the answer does not suit; false if it suits all. */
static bool add_pairs(enumeration* k, const mor_answer* answer)
{
    mor_peg* peg = &k->peg;
    bool any = false;
    for (int g = 0; g < peg->group_count; g++) {
        if (k->active[g]) continue;
        mor_peg_cover(peg, g);
        if (peg->groups[g].until < peg->s->h) any = k->active[g] = true;
    }
    if (any || k->sealed || !mor_peg_pinch(peg, answer->nu, false)) return any;
    for (int g = 0; g < peg->group_count; g++)
        if (peg->groups[g].particle) k->active[g] = true;
    return k->sealed = true;
}

/* Pairs that the rows of the trial state have pushed out of their cover get the plane they collide on. */
static bool insert(enumeration* k)
{
    mor_peg* peg = &k->peg;
    bool any = false;
    for (int g = 0; g < peg->group_count; g++) {
        mor_peg_group* group = &peg->groups[g];
        mor_peg_cover(peg, g);
        if (group->choice >= 0 || !(group->until < peg->s->h)) continue;
        group->choice = group->last;
        any = true;
    }
    return any;
}

/* The chosen planes looked at in the state they lead to. */
static void validate(enumeration* k, mor_solve_stage* stage, mor_answer* answer, mor_report* report)
{
    mor_peg* peg = &k->peg;
    const mor_system* s = peg->s;
    for (int g = 0; g < peg->group_count; g++) {
        bool pushes = k->active[g] && mor_peg_pushes(peg, answer->impulses, &peg->planes[k->chosen[g]]);
        peg->groups[g].choice = pushes ? k->chosen[g] : -1;
    }
    while (report->status == MOR_SOLVED && /* inserting also finds the planes that cover the others */
           (insert(k) || mor_peg_validate(peg, k->bias, stage->arena, answer, &k->trial))) {
        int before = report->iterations;
        for (int i = 0; i < s->contact_count; i++) k->keep[s->contacts[i].block] = false;
        for (int g = 0; g < peg->group_count; g++) {
            const mor_peg_group* group = &peg->groups[g];
            if (group->choice < 0 || (group->checked > 0 && !group->own)) continue;
            const mor_peg_plane* p = &peg->planes[group->choice];
            for (int c = p->first; c < p->first + p->count; c++) k->keep[s->contacts[c].block] = true;
        }
        *report = mor_peg_solve(peg, s->directions, k->bias, k->keep, &k->trial, stage, answer);
        report->iterations += before;
    }
}

static mor_report exact_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    (void)options;
    enumeration k = { 0 };
    mor_report report = { .status = MOR_REFUSED };
    if (s->dimension != 2) {
        snprintf(report.detail, sizeof report.detail, "peg-exact enumerates planes in 2-D worlds only; use peg");
        return report;
    }
    const size_t rows = (size_t)s->row_count;
    k.bias = mor_arena_alloc(stage->arena, rows * sizeof *k.bias);
    k.keep = mor_arena_alloc(stage->arena, (size_t)s->block_count * sizeof *k.keep);
    k.guess = mor_arena_alloc(stage->arena, rows * sizeof *k.guess);
    k.nu = mor_arena_alloc(stage->arena, (size_t)s->dof * sizeof *k.nu);
    k.impulses = mor_arena_zero(stage->arena, rows, sizeof *k.impulses);
    if (!k.bias || !k.keep || !k.guess || !k.nu || !k.impulses || !mor_peg_build(s, stage->arena, &k.peg))
        return mor_report_no_memory();
    k.chosen = mor_arena_zero(stage->arena, (size_t)k.peg.group_count + 1, sizeof *k.chosen);
    k.active = mor_arena_zero(stage->arena, (size_t)k.peg.group_count + 1, sizeof *k.active);
    if (!k.chosen || !k.active) return mor_report_no_memory();
    memcpy(k.guess, answer->impulses, rows * sizeof *k.guess);
    mor_peg_speeds(&k.peg, s->nu_free);
    mor_peg_bias(&k.peg, k.bias);
    int iterations = 0;
    do {
        report = enumerate(&k, stage, answer);
        iterations += report.iterations;
    } while (report.status == MOR_SOLVED && add_pairs(&k, answer));
    report.iterations = iterations;
    validate(&k, stage, answer, &report);
    for (int g = 0; g < k.peg.group_count && report.status == MOR_SOLVED; g++) {
        const mor_peg_group* group = &k.peg.groups[g];
        const mor_peg_plane* p = &k.peg.planes[group->choice >= 0 ? group->choice : group->last];
        for (int c = p->first; c < p->first + p->count; c++) answer->held[c] = true;
    }
    return report;
}

const mor_formulation mor_formulation_peg_exact = {
    .name = "peg-exact",
    .summary = "exact geometry in the plane by enumeration of the planes of all pairs: the reference",
    .reference = "flickinger2015",
    .produces = MOR_STEP_PYRAMID,
    .options_size = 0,
    .step = exact_step,
    .groups = 1,
    .geometry = true,
    .mass_inverse = true,
    .project = mor_peg_project,
    .impacts = true,
};
