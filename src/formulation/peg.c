/* Exact geometry: one disjunction per pair of convex pieces, which plane separates them (MATH section 2, `peg`).
 *
 * Find nu+, a plane kappa(g) or none for every pair g, and impulses such that
 *
 *     M nu+ = M nu_free + sum over g and rows i of kappa(g) of (G_n p_n + G_t p_t)_i
 *     0 <= p_n,i  _|_  G_n,i' nu+ + max(psi_i, 0)/h + d(psi_i)/dt >= 0,     Coulomb on row i
 *     every g with kappa(g) = none is covered by open planes through the whole step      (peg_planes.c)
 *     no g that pushes on kappa(g) has another open plane k' with s_k'(h; nu+) >= -tol_end
 *
 * Algorithm. Pairs that pushed in the last step begin on their plane. Insertion: from there, or from nu = nu_free, the
 * pairs that collide first (among those that share a body) get the plane they collide on, the step is solved, and so
 * on until all are covered; choosing from nu_free alone is wrong wherever another contact carries the load. Switching:
 * a pair that pushes on a plane although another open plane separates it moves there. Ties: of two planes that close
 * together the one stays that changes the motion less. Validation: rows are linear in normals that turn; where the
 * bodies overlap at the trial state all the same, the pair gets the best plane there (rows psi = max(0, psi(q+) - h G'
 * nu+)), at most ten times (peg_trial.c). Yielding: with friction two planes may disown each other; the pair then ends
 * on the ridge between them (peg_yield.c). The rest of the penetration is removed by a projection of positions
 * (peg_project.c) that leaves velocities alone.
 *
 * Facts. (1) p_n.(G_n' nu+) = -p_n max(psi,0)/h <= 0 and friction dissipates, so the kinetic energy after contact is
 * not above that of nu_free, whatever kappa, for contacts that do not move by themselves. (2) Frictionless, nu+ is the
 * M-projection of nu_free on the polyhedron of kappa, and a switch keeps nu+ feasible, so |nu+ - nu_free|_M does not
 * grow and switching ends. With friction it may go round: a plane is tried once per step, and again, at most 16 times,
 * when it is clearly open; after that the pair yields. (3) nu = 0 is feasible among bodies at rest, also in jams. With
 * one plane per pair this is Stewart-Trinkle with max(psi, 0) for psi.
 *
 * Restitution (e > 0): as in st, w+ >= -e w for a row that would close in the step and approaches faster than v_rest;
 * the energy fact then holds with Newton's law only for single contacts.
 *
 * Contacts come from the collision method `features`; contacts of other methods count as groups of one. Cost: 2 to 6
 * solves of the active rows per step. D. M. Flickinger, J. Williams, J. C. Trinkle (2015) for the idea and the
 * particle. */
#include "base/elementary.h"
#include "formulation/peg_planes.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CONE_AUTO, CONE_PYRAMID, CONE_EXACT, MOST_SWITCHES = 16 };

#define COARSE 1e-6 /* m/s: planes are chosen on answers as good as this */

typedef struct peg_options {
    int cone;
} peg_options;

static const mor_field peg_fields[] = { { "cone", MOR_TYPE_CHOICE, offsetof(peg_options, cone), CONE_AUTO, 0, 0,
                                          "auto|pyramid|exact", "",
                                          "friction: polygon of friction_directions corners, or the circular cone; "
                                          "auto: the circle if the solver takes it" },
                                        { 0 } };

typedef struct work {
    mor_peg peg;
    const mor_system* s;
    int directions;
    mor_solve_stage* stage;
    mor_answer* answer;
    double* bias;
    bool* keep;    /* per block */
    bool* used;    /* per contact: its row has been violated in this step */
    double* first; /* per tree: when its first pair collides */
    mor_report report;
    int solves;
    mor_peg_trial trial; /* rows of edge pairs replaced at the trial state */
    struct tie {
        int group, from, to; /* group + 1 that is on plane `to` instead of `from` to see which is better; 0: none */
        double change;       /* with `from` */
    } tie;
} work;

/* Takes the rows of the chosen planes that the present velocities violate, or that were taken before: the others do not
 * push. True if there are new ones. */
static bool take_rows(work* k)
{
    const mor_system* s = k->s;
    const mor_peg* peg = &k->peg;
    const double coarse = s->h * k->stage->coarse;
    bool any = false;
    for (int i = 0; i < s->contact_count; i++) k->keep[s->contacts[i].block] = false;
    for (int g = 0; g < peg->group_count; g++) {
        const mor_peg_group* group = &peg->groups[g];
        if (group->choice < 0 || (group->checked > 0 && !group->own)) continue;
        const mor_peg_plane* p = &peg->planes[group->choice];
        for (int c = p->first; c < p->first + p->count; c++) {
            int block = s->contacts[c].block, row = s->blocks[block].row;
            double slack = s->h * (peg->speed[c] + k->bias[row] - s->contacts[c].drift[0]);
            bool want = slack < -mor_max(group->tol_end, coarse) || (k->solves == 0 && k->answer->impulses[row] > 0.0);
            if (want && !k->used[c]) any = k->used[c] = true;
            k->keep[block] = k->used[c];
        }
    }
    return any;
}

static void solve_rows(work* k)
{
    int before = k->report.iterations;
    k->report = mor_peg_solve(&k->peg, k->directions, k->bias, k->keep, &k->trial, k->stage, k->answer);
    k->report.iterations += before;
    k->solves++;
}

/* Solves the step on the rows of the chosen planes, and on those that replace an edge pair. Rows that do not push only
 * cost time: they come in when they are violated. */
static void solve(work* k)
{
    take_rows(k);
    do solve_rows(k);
    while (take_rows(k));
}

/* Trees of a pair: those of its rows. */
static const mor_block* pair_block(const work* k, const mor_peg_group* g)
{
    return &k->s->blocks[k->s->contacts[k->peg.planes[g->first].first].block];
}

/* Pairs that collide first get the plane they collide on: first among all pairs that share a body with them, so that
 * what happens at the two ends of a pile need not wait for each other. */
static bool insert(work* k)
{
    mor_peg* peg = &k->peg;
    const mor_system* s = k->s;
    const double h = s->h;
    bool any = false;
    for (int t = 0; t < s->tree_count; t++) k->first[t] = HUGE_VAL;
    for (int g = 0; g < peg->group_count; g++) {
        mor_peg_group* group = &peg->groups[g];
        if (group->choice >= 0) continue;
        mor_peg_cover(peg, g);
        if (!(group->until < h)) continue;
        any = true;
        const mor_block* b = pair_block(k, group);
        for (int e = b->entry; e < b->entry + b->entry_count; e++)
            k->first[s->entries[e].tree] = mor_min(k->first[s->entries[e].tree], group->until);
    }
    for (int g = 0; any && g < peg->group_count; g++) {
        mor_peg_group* group = &peg->groups[g];
        if (group->choice >= 0 || !(group->until < h)) continue;
        /* a pair with one plane has no choice to make: it may as well come now */
        bool now = true;
        const mor_block* b = pair_block(k, group);
        for (int e = b->entry; e < b->entry + b->entry_count && group->count > 1; e++)
            now = now && group->until <= k->first[s->entries[e].tree] + 1e-9 * h;
        if (!now) continue;
        group->choice = group->last;
        peg->planes[group->choice].tried = true;
    }
    return any;
}

/* Pairs that pushed in the last step begin on the plane they pushed on, if it is open: impulses are the guess from that
 * step. What has changed since, switching and complementarity find; a pile that rests is then solved once or twice
 * instead of contact after contact. */
static bool begin_with_last_step(work* k)
{
    mor_peg* peg = &k->peg;
    bool any = false;
    for (int g = 0; g < peg->group_count; g++) {
        mor_peg_group* group = &peg->groups[g];
        for (int p = group->first; p < group->first + group->count; p++) {
            mor_peg_plane* plane = &peg->planes[p];
            if (!plane->held || !plane->open || plane->s > 1e6 * group->tol ||
                !mor_peg_pushes(peg, k->answer->impulses, plane))
                continue;
            mor_peg_cover(peg, g); /* for `until` and `last` */
            group->choice = p;
            plane->tried = true;
            any = true;
        }
    }
    return any;
}

/* Pairs that push although another open plane separates them at the end move to that plane. */
static bool switch_planes(work* k)
{
    mor_peg* peg = &k->peg;
    bool any = false;
    for (int g = 0; g < peg->group_count; g++) {
        mor_peg_group* group = &peg->groups[g];
        if (group->choice < 0 || group->count == 1 || group->checked > 0 || group->yield.steps > 0) continue;
        if (!mor_peg_pushes(peg, k->answer->impulses, &peg->planes[group->choice])) continue;
        int best = -1;
        /* a pair that bounces leaves by all its planes: more than its own */
        double farthest = mor_max(mor_peg_end_gap(peg, &peg->planes[group->choice]), 0.0) - group->tol_end;
        for (int p = group->first; p < group->first + group->count; p++) {
            const mor_peg_plane* other = &peg->planes[p];
            if (p == group->choice || !other->open) continue;
            double end = mor_peg_end_gap(peg, other);
            /* once more on a plane tried before only if it is clearly open: other pairs have come in since */
            if (other->tried && !(end > farthest + 10.0 * group->tol && group->switches < MOST_SWITCHES)) continue;
            if (!(end >= farthest) || mor_peg_same_rows(peg, other, &peg->planes[group->choice])) continue;
            if (!mor_peg_keeps_sector(peg, g, p, k->answer->nu, k->trial.slack)) continue;
            farthest = end;
            best = p;
        }
        if (best < 0) continue;
        group->choice = best;
        group->switches++;
        peg->planes[best].tried = true;
        any = true;
    }
    return any;
}

/* Corner against corner: two planes of a pair close together but for what the linear model is off, and which of them
 * closes last is chance. The other one is tried, and the one stays that changes the free motion less, as in peg-exact.
 * Called when nothing else moves; true if the step must be solved again. */
static bool break_ties(work* k)
{
    mor_peg* peg = &k->peg;
    struct tie* tie = &k->tie;
    if (tie->group > 0) {
        mor_peg_group* group = &peg->groups[tie->group - 1];
        tie->group = 0;
        if (group->choice == tie->to && mor_peg_change(peg, k->answer->nu) > tie->change * (1.0 + 1e-9)) {
            group->choice = tie->from;
            return true;
        }
    }
    for (int g = 0; g < peg->group_count; g++) {
        mor_peg_group* group = &peg->groups[g];
        if (group->choice < 0 || group->count == 1 || group->checked > 0 || group->yield.steps > 0) continue;
        if (!mor_peg_pushes(peg, k->answer->impulses, &peg->planes[group->choice])) continue;
        const double slack = mor_peg_bend(peg, group);
        for (int p = group->first; p < group->first + group->count && slack > group->tol_end; p++) {
            mor_peg_plane* other = &peg->planes[p];
            if (p == group->choice || !other->open || other->tried || mor_peg_end_gap(peg, other) < -slack) continue;
            if (mor_peg_same_rows(peg, other, &peg->planes[group->choice]) ||
                !mor_peg_keeps_sector(peg, g, p, k->answer->nu, k->trial.slack))
                continue;
            *tie = (struct tie){ g + 1, group->choice, p, mor_peg_change(peg, k->answer->nu) };
            group->choice = p;
            other->tried = true;
            return true;
        }
    }
    return false;
}

/* Chooses planes and solves until every condition holds. Every pass inserts a pair, tries a new plane, or uses up a
 * switch or a replacement, so it ends. */
static void choose(work* k)
{
    k->trial.slack = 4.0 * k->s->h * k->stage->coarse;
    while (insert(k) || switch_planes(k) || break_ties(k) || mor_peg_pinch(&k->peg, k->answer->nu, true) ||
           mor_peg_validate(&k->peg, k->bias, k->stage->arena, k->answer, &k->trial) ||
           mor_peg_yield(&k->peg, k->answer, k->bias, &k->trial))
        solve(k);
}

/* Planes were chosen on coarse answers. The last solves are to the solver's own tolerance, with every row of the chosen
 * planes that this answer violates: what is told of the step is the judge's verdict on it. */
static void solve_finely(work* k)
{
    k->stage->coarse = 0.0;
    if (k->solves == 0) return;
    if (!take_rows(k) && k->report.residual.velocity <= k->s->tol) return;
    solve(k);
    choose(k);
}

static mor_report peg_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    const peg_options* o = options;
    work k = { .s = s, .stage = stage, .answer = answer, .report = { .status = MOR_SOLVED } };
    bool circle = o->cone == CONE_EXACT || (o->cone == CONE_AUTO && s->cones);
    k.directions = circle ? 0 : s->directions;
    k.bias = mor_arena_alloc(stage->arena, (size_t)s->row_count * sizeof *k.bias);
    k.keep = mor_arena_alloc(stage->arena, (size_t)s->block_count * sizeof *k.keep);
    k.first = mor_arena_alloc(stage->arena, (size_t)s->tree_count * sizeof *k.first);
    k.used = mor_arena_zero(stage->arena, (size_t)s->contact_count, sizeof *k.used);
    if (!k.bias || !k.keep || !k.first || !k.used || !mor_peg_build(s, stage->arena, &k.peg))
        return mor_report_no_memory();
    for (int i = 0; i < s->block_count; i++) k.keep[i] = true;
    memcpy(answer->nu, s->nu_free, (size_t)s->dof * sizeof(double));
    mor_peg_speeds(&k.peg, s->nu_free);
    mor_peg_bias(&k.peg, k.bias);
    stage->coarse = COARSE;
    if (begin_with_last_step(&k) || s->block_count > s->contact_count) solve(&k); /* joints hold without contacts too */
    choose(&k);
    solve_finely(&k);
    if (k.solves == 0) memset(answer->impulses, 0, (size_t)s->row_count * sizeof(double));
    for (int g = 0; g < k.peg.group_count; g++) {
        const mor_peg_group* group = &k.peg.groups[g];
        const mor_peg_plane* p = &k.peg.planes[group->choice >= 0 ? group->choice : group->last];
        for (int c = p->first; c < p->first + p->count; c++) answer->held[c] = true;
    }
    return k.report;
}

const mor_formulation mor_formulation_peg = {
    .name = "peg",
    .summary = "exact geometry: which plane separates each pair of convex pieces; swept, with position projection",
    .reference = "flickinger2015",
    .produces = MOR_STEP_PYRAMID | MOR_STEP_CONE,
    .options_size = sizeof(peg_options),
    .fields = peg_fields,
    .step = peg_step,
    .groups = 1,
    .mass_inverse = true,
    .geometry = true,
    .project = mor_peg_project,
    .impacts = true,
};
