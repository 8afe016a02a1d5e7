/* Extended position-based dynamics with small steps.
 *
 * The step is cut into `substeps` of length h. In each of them
 *
 *     predict     nu += (nu_free - nu_start)/substeps,   dq += h nu
 *     positions   contacts that overlap, psi = psi_start + G_n' dq < 0:
 *                   l_n += dl,  dl = (-psi - c l_n)/(W_nn + c),   c = compliance/h^2,   dq += M^-1 G_n dl
 *                 static friction: the way along the tangents since the substep began is undone where that takes no
 *                 more than mu l_n, else not at all
 *     velocities  nu = (dq - dq_before)/h
 *     impacts     sliding friction takes at most mu l_n/h; restitution e |w| for contacts that came faster than v_rest,
 *                 and no speed that undoing overlap has made
 *
 * with `iterations` passes over the positions. l/h is an impulse, so the report can be judged as that of any other
 * method. Normals and arms stay those of the start of the step, gaps move. Joints, limits and motors are met in the
 * velocities, with the bias the step gives them.
 *
 * References: Macklin, Mueller & Chentanez (2016), XPBD: position-based simulation of compliant constrained dynamics;
 * Mueller, Macklin, Chentanez, Jeschke & Kim (2020), Detailed rigid body simulation with extended position based
 * dynamics. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "formulation/budget.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"

typedef struct options {
    int substeps, iterations;
    double compliance;
} options;

static const mor_field fields[] = {
    { "substeps", MOR_TYPE_INT, offsetof(options, substeps), 20, 1, 100000, NULL, "", "substeps per step" },
    { "iterations", MOR_TYPE_INT, offsetof(options, iterations), 1, 1, 100000, NULL, "",
      "passes over the positions in a substep" },
    { "compliance", MOR_TYPE_DOUBLE, offsetof(options, compliance), 0, 0, 1e6, NULL, "m/N", "of contacts; 0: rigid" },
    { 0 }
};

/* Contacts of a pack in a substep; the multipliers are mor_budget_pack.p. */
typedef struct xpbd_pack {
    mor_four came;    /* G_n' nu before the substep; only where something bounces */
    mor_four inverse; /* 1/(W_nn + c) */
    mor_four impulse[MOR_PACK_ROWS];
    mor_four restitution;
} xpbd_pack;

typedef struct xpbd {
    mor_budget k;
    double h, compliance;    /* of a substep; over h^2 */
    double *v, *dq, *before; /* by places; before: dq at the beginning of the substep */
    double *joints, *force;  /* joint impulses, by rows; change of v by forces, by places */
    xpbd_pack* contacts;     /* of each pack */
    mor_four v_rest;
    bool bounces; /* some contact does */
    double gone;  /* of the pass: time since the step began */
} xpbd;

/* Overlap is undone, and the way along the tangents where friction can. */
MOR_ALWAYS_INLINE void positions_body(const xpbd* k, int begin, int end)
{
    const mor_packs* packs = &k->k.packs;
    const mor_four zero = { 0, 0, 0, 0 };
    for (int i = begin; i < end; i++) {
        const mor_pack* q = &packs->packs[i];
        mor_budget_pack* c = &k->k.contacts[i];
        mor_four way, before, next[MOR_PACK_ROWS], size = zero, *l = c->p;
        mor_pack_view view, old;
        mor_pack_load(q, k->dq, &view);
        mor_pack_speed(packs, q, 0, &view, k->dq, &way);
        const mor_four gap = c->gap + way + k->gone * c->drift[0];
        const mor_four_bits overlaps = (gap < zero) & (q->inverse[0] > zero);
        mor_four change = (-gap - k->compliance * l[0]) * k->contacts[i].inverse, least = -l[0];
        mor_four_max(&change, &least);
        change = MOR_FOUR_SELECT(overlaps, change, zero);
        if (!(overlaps[0] | overlaps[1] | overlaps[2] | overlaps[3])) continue;
        mor_pack_push(packs, q, 0, &change, &view, k->dq);
        l[0] += change;
        mor_pack_load(q, k->before, &old);
        for (int d = 1; d < MOR_PACK_ROWS; d++) {
            mor_pack_speed(packs, q, d, &view, k->dq, &way);
            mor_pack_speed(packs, q, d, &old, k->before, &before);
            next[d] = l[d] - (way - before + k->h * c->drift[d]) * q->inverse[d];
            size += next[d] * next[d];
        }
        const mor_four limit = c->friction * l[0];
        const mor_four_bits sticks = overlaps & ~(size > limit * limit); /* what slides is left to the velocities */
        for (int d = 1; d < MOR_PACK_ROWS; d++) {
            const mor_four more = MOR_FOUR_SELECT(sticks, next[d] - l[d], zero);
            mor_pack_push(packs, q, d, &more, &view, k->dq);
            l[d] = MOR_FOUR_SELECT(sticks, next[d], l[d]);
        }
        mor_pack_store(q, &view, k->dq);
    }
}

/* Sliding friction, restitution, and no speed of undone overlap. */
MOR_ALWAYS_INLINE void velocities_body(const xpbd* k, int begin, int end)
{
    const mor_packs* packs = &k->k.packs;
    const mor_four zero = { 0, 0, 0, 0 };
    for (int i = begin; i < end; i++) {
        const mor_pack* q = &packs->packs[i];
        mor_budget_pack* c = &k->k.contacts[i];
        xpbd_pack* x = &k->contacts[i];
        if (!mor_four_any(&c->p[0])) {
            c->p[1] = c->p[2] = zero; /* of passes before the last */
            continue;
        }
        const mor_four_bits acts = (c->p[0] > zero) & (q->inverse[0] > zero);
        mor_four p[MOR_PACK_ROWS], target[MOR_PACK_ROWS], u;
        mor_pack_view view;
        mor_pack_load(q, k->v, &view);
        for (int d = 0; d < MOR_PACK_ROWS; d++) {
            p[d] = MOR_FOUR_SELECT(acts, c->p[d] / k->h, zero);
            c->p[d] = zero; /* for the next substep */
        }
        for (int d = 1; d < MOR_PACK_ROWS; d++) {
            mor_pack_speed(packs, q, d, &view, k->v, &u);
            target[d] = p[d] - (u + c->drift[d]) * q->inverse[d];
        }
        mor_budget_friction(&k->k, q, &c->friction, target, p, &view, k->v);
        mor_pack_speed(packs, q, 0, &view, k->v, &u);
        const mor_four aim = MOR_FOUR_SELECT(x->came < -k->v_rest, -x->restitution * x->came, zero), least = -p[0];
        mor_four more = (aim - (u + c->drift[0])) * q->inverse[0];
        mor_four_max(&more, &least);
        more = MOR_FOUR_SELECT(acts, more, zero);
        mor_pack_push(packs, q, 0, &more, &view, k->v);
        mor_pack_store(q, &view, k->v);
        p[0] += more;
        for (int d = 0; d < MOR_PACK_ROWS; d++) x->impulse[d] += p[d];
    }
}

/* Speeds before the substep of the contacts that bounce. */
MOR_ALWAYS_INLINE void begin_body(const xpbd* k, int begin, int end)
{
    for (int i = begin; i < end; i++) {
        const mor_pack* q = &k->k.packs.packs[i];
        const mor_budget_pack* c = &k->k.contacts[i];
        mor_pack_view view;
        mor_four u;
        if (!mor_four_any(&k->contacts[i].restitution)) continue;
        mor_pack_load(q, k->v, &view);
        mor_pack_speed(&k->k.packs, q, 0, &view, k->v, &u);
        k->contacts[i].came = u + c->drift[0];
    }
}

MOR_WIDE_VOID(static, positions, (const xpbd* k, int begin, int end), (k, begin, end))
MOR_WIDE_VOID(static, velocities, (const xpbd* k, int begin, int end), (k, begin, end))
MOR_WIDE_VOID(static, begin, (const xpbd* k, int begin, int end), (k, begin, end))

static void visit_positions(void* k, int first, int last) { positions(k, first, last); }
static void visit_velocities(void* k, int first, int last) { velocities(k, first, last); }
static void visit_begin(void* k, int first, int last) { begin(k, first, last); }

static void substep(xpbd* k, const options* o, int n, double* impulses)
{
    const mor_system* s = k->k.s;
    if (k->bounces) mor_packs_each(&k->k.packs, visit_begin, k);
    for (int i = 0; i < k->k.packs.room; i++) {
        k->v[i] += k->force[i];
        k->before[i] = k->dq[i];
        k->dq[i] += k->h * k->v[i];
    }
    k->gone = (n + 1) * k->h;
    for (int m = 0; m < o->iterations; m++) mor_packs_sweep(&k->k.packs, visit_positions, k);
    for (int i = 0; i < k->k.packs.room; i++) k->v[i] = (k->dq[i] - k->before[i]) / k->h;
    mor_packs_sweep(&k->k.packs, visit_velocities, k);
    if (s->block_count == s->contact_count) return;
    const int first = s->blocks[s->contact_count].row; /* their rows are the last */
    memset(k->joints + first, 0, (size_t)(s->row_count - first) * sizeof *k->joints);
    mor_budget_joints(&k->k, 1.0 / o->substeps, k->joints, k->v);
    for (int i = first; i < s->row_count; i++) impulses[i] += k->joints[i];
}

static bool make_room(xpbd* k, const mor_system* s, const double* impulses, const mor_solve_stage* stage)
{
    mor_arena* arena = stage->arena;
    if (!mor_budget_open(&k->k, s, impulses, stage)) return false;
    k->v = mor_packs_velocities(&k->k.packs, arena);
    k->dq = mor_packs_velocities(&k->k.packs, arena);
    k->before = mor_packs_velocities(&k->k.packs, arena);
    k->force = mor_packs_velocities(&k->k.packs, arena);
    k->contacts = mor_arena_zero(arena, (size_t)k->k.packs.count + 1, sizeof *k->contacts);
    return k->v && k->dq && k->before && k->force && k->contacts;
}

static void fill_contacts(xpbd* k)
{
    const mor_system* s = k->k.s;
    for (int i = 0; i < k->k.packs.count; i++)
        for (int lane = 0; lane < MOR_LANES; lane++) {
            int block = k->k.packs.packs[i].block[lane];
            if (block < 0) continue;
            double W = s->diagonal[s->diagonal_start[block]];
            k->contacts[i].inverse[lane] = W > 0.0 ? 1.0 / (W + k->compliance) : 0.0;
            k->contacts[i].restitution[lane] = s->contacts[block].restitution;
            k->bounces = k->bounces || s->contacts[block].restitution > 0.0;
        }
}

/* The impulses of all substeps: they take the place of the last one's multipliers. */
static void add_impulses(const xpbd* k, double* impulses)
{
    for (int i = 0; i < k->k.packs.count; i++)
        for (int d = 0; d < MOR_PACK_ROWS; d++) k->k.contacts[i].p[d] = k->contacts[i].impulse[d];
    mor_budget_add_impulses(&k->k, impulses);
}

static mor_report xpbd_step(const mor_system* s, const void* own, mor_solve_stage* stage, mor_answer* answer)
{
    const options* o = own;
    size_t rows = (size_t)s->row_count, dof = (size_t)s->dof;
    xpbd k = { .h = s->h / o->substeps, .v_rest = { s->v_rest, s->v_rest, s->v_rest, s->v_rest } };
    k.compliance = o->compliance / (k.h * k.h);
    double* dq = mor_arena_alloc(stage->arena, (rows + dof + 1) * sizeof *dq);
    memset(answer->impulses, 0, rows * sizeof *answer->impulses);
    if (!dq || !make_room(&k, s, answer->impulses, stage)) return mor_report_no_memory();
    k.joints = dq + dof;
    fill_contacts(&k);
    for (int i = 0; i < s->dof; i++) dq[i] = (s->nu_free[i] - s->nu[i]) / o->substeps;
    mor_packs_spread(&k.k.packs, dq, k.force);
    mor_packs_spread(&k.k.packs, s->nu, k.v);
    for (int n = 0; n < o->substeps; n++) substep(&k, o, n, answer->impulses);
    add_impulses(&k, answer->impulses);
    mor_packs_collect(&k.k.packs, k.v, answer->nu);
    mor_packs_collect(&k.k.packs, k.dq, dq);
    mor_budget_positions(s, dq, answer);
    return mor_budget_report(&k.k, answer, NULL, o->substeps * o->iterations, stage->arena);
}

const mor_formulation mor_formulation_xpbd = {
    .name = "xpbd",
    .summary = "real time: positions corrected in small steps, velocities from them; approximate",
    .reference = "muller2020",
    .produces = 0,
    .options_size = sizeof(options),
    .fields = fields,
    .step = xpbd_step,
    .overlaps = mor_budget_overlaps,
    .threads = true,
};
