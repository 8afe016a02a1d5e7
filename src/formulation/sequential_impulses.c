/* Sequential impulses with split impulse: the method of Bullet.
 *
 * `iterations` passes over the rows, joints first, then all normals, then all friction rows, each by itself:
 *
 *     p_i <- p_i + (a_i - G_i' nu)/W_ii,   normals p >= 0,   friction |p_t|, |p_o| <= mu p_n (a box, not a disc)
 *
 * from `warm_start` times the impulses of the last step. The aim of a normal row is e |w| (restitution), less gap/h
 * while the bodies are apart. Penetration d = -gap aims at erp d/h more (Baumgarte's feedback); where it is deeper than
 * `split_threshold` it is undone apart from that, by push velocities from passes of their own,
 *
 *     q_i <- max(0, q_i + (erp d/h - G_i' nu_push)/W_ii),   nu_push = M^-1 G q,
 *
 * which move the bodies in this step and are then forgotten: they add no energy. Their turning part counts `turn_erp`.
 * The defaults are those of Bullet: 10 passes, erp 0.2, threshold 0.04 m, turn_erp 0.1, warm start 0.85.
 *
 * It differs from Bullet in what the rows are made of: contacts, tangents and joints are those of this library, and
 * both tangents have friction (SOLVER_USE_2_FRICTION_DIRECTIONS). No cfm: rows are hard. What is left is what so many
 * passes leave: the report says approximate, with the error of the exact step.
 *
 * Limits: friction along a diagonal of the tangents is up to sqrt(2) too strong; while a gap is open, gap/h is taken
 * from the restitution, so that small steps bounce too little.
 *
 * References: Catto (2006), Fast and simple physics using sequential impulses; Coumans (2015), Bullet physics
 * simulation; Baumgarte (1972), Stabilization of constraints and integrals of motion. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "formulation/budget.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"

typedef struct options {
    int iterations;
    double erp, split_threshold, turn_erp, warm_start;
} options;

static const mor_field fields[] = {
    { "iterations", MOR_TYPE_INT, offsetof(options, iterations), 10, 1, 1000000, NULL, "", "passes over the rows" },
    { "erp", MOR_TYPE_DOUBLE, offsetof(options, erp), 0.2, 0, 1, NULL, "", "part of a penetration undone in a step" },
    { "split_threshold", MOR_TYPE_DOUBLE, offsetof(options, split_threshold), 0.04, 0, 1e6, NULL, "m",
      "penetration from which push velocities undo it; less: the velocities themselves" },
    { "turn_erp", MOR_TYPE_DOUBLE, offsetof(options, turn_erp), 0.1, 0, 1, NULL, "",
      "part of the turning of push velocities" },
    { "warm_start", MOR_TYPE_DOUBLE, offsetof(options, warm_start), 0.85, 0, 1, NULL, "",
      "part of the last step's impulses to begin with" },
    { 0 }
};

/* What normal rows aim at: velocities, and push velocities. */
static void find_aims(const mor_system* s, const options* o, double* aim, double* push_aim)
{
    for (int i = 0; i < s->contact_count; i++) {
        const mor_contact_row* c = &s->contacts[i];
        aim[i] = -c->drift[0], push_aim[i] = 0.0;
        if (c->approach < -s->v_rest) aim[i] -= c->restitution * c->approach;
        if (c->gap > 0.0) aim[i] -= c->gap / s->h;
        else if (-c->gap < o->split_threshold) aim[i] -= o->erp * c->gap / s->h;
        else push_aim[i] = -o->erp * c->gap / s->h;
    }
}

static void solve_normal(const mor_system* s, int contact, double aim, double* p, double* nu)
{
    int block = s->contacts[contact].block;
    const mor_block* b = &s->blocks[block];
    double W = mor_budget_inertia(s, block, 0);
    if (!(W > 0.0)) return;
    double next = mor_max(0.0, *p + (aim - mor_budget_speed(s, b, 0, nu)) / W);
    mor_budget_push(s, b, 0, next - *p, nu);
    *p = next;
}

static void solve_friction(const mor_system* s, int contact, double* p, double* nu)
{
    const mor_contact_row* c = &s->contacts[contact];
    const mor_block* b = &s->blocks[c->block];
    for (int d = 1; d < b->dim && d < 3; d++) {
        double W = mor_budget_inertia(s, c->block, d), limit = c->friction * p[0];
        if (!(W > 0.0)) continue;
        double next = p[d] - (mor_budget_speed(s, b, d, nu) + c->drift[d]) / W;
        next = mor_min(mor_max(next, -limit), limit);
        mor_budget_push(s, b, d, next - p[d], nu);
        p[d] = next;
    }
}

static mor_report sequential_step(const mor_system* s, const void* own, mor_solve_stage* stage, mor_answer* answer)
{
    const options* o = own;
    size_t n = (size_t)s->contact_count, dof = (size_t)s->dof;
    double* aim = mor_arena_zero(stage->arena, 3 * n + 2 * dof + 1, sizeof *aim);
    if (!aim) return mor_report_no_memory();
    double *push_aim = aim + n, *push = push_aim + n, *push_nu = push + n, *dq = push_nu + dof;
    double *nu = answer->nu, *p = answer->impulses;
    find_aims(s, o, aim, push_aim);
    for (int i = 0; i < s->row_count; i++) p[i] *= o->warm_start;
    mor_system_velocity(s, p, nu);
    for (int k = 0; k < o->iterations; k++) {
        mor_budget_joints(s, 1.0, p, nu);
        for (int i = 0; i < s->contact_count; i++)
            solve_normal(s, i, aim[i], &p[s->blocks[s->contacts[i].block].row], nu);
        for (int i = 0; i < s->contact_count; i++) solve_friction(s, i, &p[s->blocks[s->contacts[i].block].row], nu);
        for (int i = 0; i < s->contact_count; i++)
            if (push_aim[i] > 0.0) solve_normal(s, i, push_aim[i], &push[i], push_nu);
    }
    for (int t = 0; t < s->tree_count; t++) {
        const mor_tree_block* tree = &s->trees[t];
        for (int i = tree->offset; i < tree->offset + tree->dof; i++) {
            bool turns =
                s->dimension == 3 ? tree->dof == 6 && i >= tree->offset + 3 : tree->dof == 3 && i == tree->offset + 2;
            dq[i] = s->h * (nu[i] + (turns ? o->turn_erp : 1.0) * push_nu[i]);
        }
    }
    mor_budget_positions(s, dq, answer);
    return mor_budget_report(s, answer, o->iterations, stage->arena);
}

const mor_formulation mor_formulation_sequential_impulses = {
    .name = "sequential-impulses",
    .summary = "real time: passes over the rows and split impulses, as Bullet; approximate",
    .reference = "catto2006",
    .produces = 0,
    .options_size = sizeof(options),
    .fields = fields,
    .step = sequential_step,
    .overlaps = mor_budget_overlaps,
};
