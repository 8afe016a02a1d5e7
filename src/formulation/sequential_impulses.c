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

typedef struct sequence {
    mor_budget k;
    const options* o;
    double *v, *push_v;              /* velocities, push velocities */
    mor_four *aim, *push_aim, *push; /* of each pack: what normal rows aim at, and impulses of the push velocities */
} sequence;

/* What normal rows aim at: velocities, and push velocities. */
static void find_aims(void* user, int begin, int end)
{
    sequence* q = user;
    const options* o = q->o;
    const mor_system* s = q->k.s;
    for (int i = begin; i < end; i++)
        for (int lane = 0; lane < MOR_LANES; lane++) {
            int block = q->k.packs.packs[i].block[lane];
            if (block < 0) continue;
            const mor_contact_row* c = &s->contacts[block];
            double aim = -c->drift[0];
            if (c->approach < -s->v_rest) aim -= c->restitution * c->approach;
            if (c->gap > 0.0) aim -= c->gap / s->h;
            else if (-c->gap < o->split_threshold) aim -= o->erp * c->gap / s->h;
            else q->push_aim[i][lane] = -o->erp * c->gap / s->h;
            q->aim[i][lane] = aim;
        }
}

MOR_ALWAYS_INLINE void normals_body(const sequence* q, int begin, int end)
{
    const mor_packs* packs = &q->k.packs;
    const mor_four zero = { 0, 0, 0, 0 };
    for (int i = begin; i < end; i++) {
        const mor_pack* pack = &packs->packs[i];
        mor_four *p = q->k.contacts[i].p, u;
        mor_pack_view view;
        mor_pack_load(pack, q->v, &view);
        mor_pack_speed(packs, pack, 0, &view, q->v, &u);
        mor_four next = p[0] + (q->aim[i] - u) * pack->inverse[0];
        mor_four_max(&next, &zero);
        const mor_four more = next - p[0];
        p[0] = next;
        if (!mor_four_any(&more)) continue;
        mor_pack_push(packs, pack, 0, &more, &view, q->v);
        mor_pack_store(pack, &view, q->v);
    }
}

/* Both tangents of a contact that pushes, or did: a box. */
MOR_ALWAYS_INLINE void frictions_body(const sequence* q, int begin, int end)
{
    const mor_packs* packs = &q->k.packs;
    for (int i = begin; i < end; i++) {
        const mor_pack* pack = &packs->packs[i];
        mor_budget_pack* c = &q->k.contacts[i];
        if (!mor_four_any(&c->p[0]) && !mor_four_any(&c->p[1]) && !mor_four_any(&c->p[2])) continue;
        const mor_four limit = c->friction * c->p[0], lower = -limit;
        mor_pack_view view;
        mor_pack_load(pack, q->v, &view);
        for (int d = 1; d < MOR_PACK_ROWS; d++) {
            mor_four u;
            mor_pack_speed(packs, pack, d, &view, q->v, &u);
            mor_four next = c->p[d] - (u + c->drift[d]) * pack->inverse[d];
            mor_four_max(&next, &lower);
            mor_four_min(&next, &limit);
            const mor_four more = next - c->p[d];
            mor_pack_push(packs, pack, d, &more, &view, q->v);
            c->p[d] = next;
        }
        mor_pack_store(pack, &view, q->v);
    }
}

/* Push velocities of the contacts that are deep. */
MOR_ALWAYS_INLINE void pushes_body(const sequence* q, int begin, int end)
{
    const mor_packs* packs = &q->k.packs;
    const mor_four zero = { 0, 0, 0, 0 };
    for (int i = begin; i < end; i++) {
        if (!mor_four_any(&q->push_aim[i])) continue;
        const mor_pack* pack = &packs->packs[i];
        mor_four u;
        mor_pack_view view;
        mor_pack_load(pack, q->push_v, &view);
        mor_pack_speed(packs, pack, 0, &view, q->push_v, &u);
        mor_four next = q->push[i] + (q->push_aim[i] - u) * pack->inverse[0];
        mor_four_max(&next, &zero);
        next = MOR_FOUR_SELECT(q->push_aim[i] > zero, next, zero);
        const mor_four more = next - q->push[i];
        mor_pack_push(packs, pack, 0, &more, &view, q->push_v);
        mor_pack_store(pack, &view, q->push_v);
        q->push[i] = next;
    }
}

MOR_WIDE_VOID(static, normals, (const sequence* q, int begin, int end), (q, begin, end))
MOR_WIDE_VOID(static, frictions, (const sequence* q, int begin, int end), (q, begin, end))
MOR_WIDE_VOID(static, pushes, (const sequence* q, int begin, int end), (q, begin, end))

static void visit_normals(void* q, int begin, int end) { normals(q, begin, end); }
static void visit_frictions(void* q, int begin, int end) { frictions(q, begin, end); }
static void visit_pushes(void* q, int begin, int end) { pushes(q, begin, end); }

/* Is anything so deep? */
static bool has_pushes(const sequence* q)
{
    for (int i = 0; i < q->k.packs.count; i++)
        if (mor_four_any(&q->push_aim[i])) return true;
    return false;
}

/* How far the positions move: push velocities count in this step only. */
static void find_ways(const sequence* q, const options* o, const double* nu, double* push_nu, double* dq)
{
    const mor_system* s = q->k.s;
    mor_packs_collect(&q->k.packs, q->push_v, push_nu);
    for (int t = 0; t < s->tree_count; t++) {
        const mor_tree_block* tree = &s->trees[t];
        for (int i = tree->offset; i < tree->offset + tree->dof; i++) {
            bool turns =
                s->dimension == 3 ? tree->dof == 6 && i >= tree->offset + 3 : tree->dof == 3 && i == tree->offset + 2;
            dq[i] = s->h * (nu[i] + (turns ? o->turn_erp : 1.0) * push_nu[i]);
        }
    }
}

static bool make_room(sequence* q, const mor_system* s, const double* impulses, const mor_solve_stage* stage)
{
    mor_arena* arena = stage->arena;
    if (!mor_budget_open(&q->k, s, impulses, stage)) return false;
    size_t n = (size_t)q->k.packs.count;
    q->aim = mor_arena_zero(arena, 3 * n + 1, sizeof *q->aim);
    q->v = mor_packs_velocities(&q->k.packs, arena);
    q->push_v = mor_packs_velocities(&q->k.packs, arena);
    if (!q->aim || !q->v || !q->push_v) return false;
    q->push_aim = q->aim + n, q->push = q->push_aim + n;
    return true;
}

static mor_report sequential_step(const mor_system* s, const void* own, mor_solve_stage* stage, mor_answer* answer)
{
    const options* o = own;
    sequence q = { .o = o };
    double *nu = answer->nu, *p = answer->impulses;
    double* ways = mor_arena_alloc(stage->arena, (2 * (size_t)s->dof + 1) * sizeof *ways);
    for (int i = 0; i < s->row_count; i++) p[i] *= o->warm_start;
    if (!ways || !make_room(&q, s, p, stage)) return mor_report_no_memory();
    mor_packs_each(&q.k.packs, find_aims, &q);
    const bool deep = has_pushes(&q);
    mor_packs_spread(&q.k.packs, s->nu_free, q.v);
    mor_budget_push_all(&q.k, p, q.v);
    for (int k = 0; k < o->iterations; k++) {
        mor_budget_joints(&q.k, 1.0, p, q.v);
        mor_packs_sweep(&q.k.packs, visit_normals, &q);
        mor_packs_sweep(&q.k.packs, visit_frictions, &q);
        if (deep) mor_packs_sweep(&q.k.packs, visit_pushes, &q);
    }
    for (int c = 0; c < s->contact_count; c++)
        for (int d = 0; d < s->blocks[c].dim; d++) p[s->blocks[c].row + d] = 0.0;
    mor_budget_add_impulses(&q.k, p);
    mor_packs_collect(&q.k.packs, q.v, nu);
    find_ways(&q, o, nu, ways, ways + s->dof);
    mor_budget_positions(s, ways + s->dof, answer);
    return mor_budget_report(&q.k, answer, nu, o->iterations, stage->arena);
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
    .threads = true,
};
