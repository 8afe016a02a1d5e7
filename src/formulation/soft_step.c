/* Soft step: temporal Gauss-Seidel with soft contacts and relaxation, the method of Box2D version 3 and Box3D.
 *
 * The step is cut into `substeps` of length h. In each of them
 *
 *     velocities  nu += (nu_free - nu_start)/substeps
 *     warm start  nu += M^-1 G p        the impulses of the substep before
 *     solve       one pass with soft contacts
 *     move        dq += h nu
 *     relax       one pass with hard contacts and without feedback
 *
 * so gaps are followed, psi = psi_start + G_n' dq, while normals and arms stay those of the start. A contact that
 * overlaps is a damped spring of `hertz` and damping ratio zeta, made implicit, with omega = 2 pi hertz, a = 2 zeta + h
 * omega:
 *
 *     bias rate  omega/a,   mass scale  m = h omega a/(1 + h omega a),   impulse scale  i = 1/(1 + h omega a)
 *     p <- max(0, p - m (u_n + max(omega/a psi, -push_speed))/W_nn - i p)
 *
 * one that is apart is kept from passing, u_n >= -psi/h. hertz is at most a quarter of the substeps per second;
 * contacts with what cannot move are twice as stiff. Friction: |p_T| <= mu p_n, the disc. After the last substep
 * contacts that came faster than v_rest get their restitution. The impulses of relaxing count, the feedback's speed
 * does not: the velocities at the end hold none of it.
 *
 * Defaults as in Box2D: 4 substeps, 30 Hz, ratio 10, push_speed 3 m/s. Joints, limits and motors are visited as rows in
 * each pass, with the bias the step gives them. It differs in friction, which Box3D takes at the middle of a manifold,
 * and in moving arms, which turn there.
 *
 * Reference: Catto (2024), Solver2D, box2d.org; Macklin, Storey, Lu, Terdiman, Chentanez, Jeschke & Mueller (2019),
 * Small steps in physics simulation. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "formulation/budget.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"

typedef struct options {
    int substeps;
    double hertz, damping, push_speed;
} options;

static const mor_field fields[] = {
    { "substeps", MOR_TYPE_INT, offsetof(options, substeps), 4, 1, 100000, NULL, "", "substeps per step" },
    { "hertz", MOR_TYPE_DOUBLE, offsetof(options, hertz), 30, 1e-3, 1e9, NULL, "Hz",
      "stiffness of contacts that overlap; at most a quarter of the substeps per second" },
    { "damping", MOR_TYPE_DOUBLE, offsetof(options, damping), 10, 0, 1e6, NULL, "", "their damping ratio" },
    { "push_speed", MOR_TYPE_DOUBLE, offsetof(options, push_speed), 3, 0, 1e6, NULL, "m/s",
      "largest speed at which overlap is undone" },
    { 0 }
};

typedef struct softness {
    double rate, mass, impulse;
} softness;

static softness soften(double hertz, double zeta, double h)
{
    double omega = 2.0 * 3.14159265358979323846 * hertz, a = 2.0 * zeta + h * omega, b = h * omega * a;
    return (softness){ omega / a, b / (1.0 + b), 1.0 / (1.0 + b) };
}

/* The softness of a pack's contacts, lane by lane. */
typedef struct soft_pack {
    mor_four rate, mass, impulse;
    mor_four most; /* largest normal impulse so far */
} soft_pack;

typedef struct soft_step {
    mor_budget k;
    double h, push_speed; /* of a substep; of the options */
    double *v, *dq;       /* velocities and way, by places */
    double* joints;       /* impulses of joints in the substep, by rows */
    soft_pack* softness;
    double gone; /* of the pass: time since the step began */
    bool soft;
} soft_step;

/* One pass over the contacts. */
MOR_ALWAYS_INLINE void visit_body(const soft_step* k, int begin, int end)
{
    const double gone = k->gone;
    const bool soft = k->soft;
    const mor_packs* packs = &k->k.packs;
    const mor_four zero = { 0, 0, 0, 0 }, one = { 1, 1, 1, 1 };
    const mor_four fastest = { -k->push_speed, -k->push_speed, -k->push_speed, -k->push_speed };
    for (int i = begin; i < end; i++) {
        const mor_pack* q = &packs->packs[i];
        mor_budget_pack* c = &k->k.contacts[i];
        soft_pack* f = &k->softness[i];
        mor_pack_view view;
        mor_four way, u, target[MOR_PACK_ROWS];
        mor_pack_load(q, k->dq, &view);
        mor_pack_speed(packs, q, 0, &view, k->dq, &way);
        mor_pack_load(q, k->v, &view);
        mor_pack_speed(packs, q, 0, &view, k->v, &u);
        const mor_four gap = c->gap + way + gone * c->drift[0];
        const mor_four_bits apart = gap > zero;
        mor_four bias = zero, mass = one, impulse = zero;
        if (soft) {
            bias = f->rate * gap;
            mor_four_max(&bias, &fastest);
            mass = MOR_FOUR_SELECT(apart, one, f->mass), impulse = MOR_FOUR_SELECT(apart, zero, f->impulse);
        }
        bias = MOR_FOUR_SELECT(apart, gap / k->h, bias);
        mor_four next = c->p[0] - mass * (u + c->drift[0] + bias) * q->inverse[0] - impulse * c->p[0];
        mor_four_max(&next, &zero);
        const mor_four more = next - c->p[0];
        c->p[0] = next;
        mor_four_max(&f->most, &next);
        if (!mor_four_any(&more) && !mor_four_any(&next) && !mor_four_any(&c->p[1]) && !mor_four_any(&c->p[2]))
            continue;
        mor_pack_push(packs, q, 0, &more, &view, k->v);
        for (int d = 1; d < MOR_PACK_ROWS; d++) {
            mor_pack_speed(packs, q, d, &view, k->v, &u);
            target[d] = c->p[d] - (u + c->drift[d]) * q->inverse[d];
        }
        mor_budget_friction(&k->k, q, &c->friction, target, c->p, &view, k->v);
        mor_pack_store(q, &view, k->v);
    }
}

MOR_WIDE_VOID(static, visit, (const soft_step* k, int begin, int end), (k, begin, end))

static void visit_packs(void* k, int begin, int end) { visit(k, begin, end); }

static void visit_all(soft_step* k, double gone, bool soft)
{
    k->gone = gone;
    k->soft = soft;
    mor_packs_sweep(&k->k.packs, visit_packs, k);
}

/* Contacts that came fast and pushed get their restitution, one after the other. */
static void restitution(const soft_step* k, double* impulses)
{
    const mor_system* s = k->k.s;
    for (int i = 0; i < k->k.packs.count; i++)
        for (int lane = 0; lane < MOR_LANES; lane++) {
            const mor_pack* q = &k->k.packs.packs[i];
            if (q->block[lane] < 0) continue;
            const mor_contact_row* c = &s->contacts[q->block[lane]];
            const mor_block* b = &s->blocks[q->block[lane]];
            bool pushed = k->softness[i].most[lane] != 0.0;
            if (!(c->approach < -s->v_rest) || !(c->restitution > 0.0) || !pushed) continue;
            double u = mor_packs_row_speed(&k->k.packs, q->block[lane], 0, k->v) + c->drift[0];
            double more = -(u + c->restitution * c->approach) * q->inverse[0][lane];
            more = mor_max(-impulses[b->row], more);
            mor_packs_row_push(&k->k.packs, q->block[lane], 0, more, k->v);
            impulses[b->row] += more;
        }
}

/* Contacts with what cannot move are twice as stiff. */
static void find_softness(const soft_step* k, const options* o)
{
    double hertz = mor_min(o->hertz, 0.25 / k->h);
    const softness moving = soften(hertz, o->damping, k->h), still = soften(2.0 * hertz, o->damping, k->h);
    for (int i = 0; i < k->k.packs.count; i++)
        for (int lane = 0; lane < MOR_LANES; lane++) {
            int block = k->k.packs.packs[i].block[lane];
            const softness* f = block >= 0 && k->k.s->blocks[block].entry_count > 1 ? &moving : &still;
            soft_pack* out = &k->softness[i];
            out->rate[lane] = f->rate, out->mass[lane] = f->mass, out->impulse[lane] = f->impulse;
        }
}

static bool make_room(soft_step* k, const mor_system* s, const double* impulses, const mor_solve_stage* stage)
{
    mor_arena* arena = stage->arena;
    if (!mor_budget_open(&k->k, s, impulses, stage)) return false;
    k->softness = mor_arena_zero(arena, (size_t)k->k.packs.count + 1, sizeof *k->softness);
    k->v = mor_packs_velocities(&k->k.packs, arena);
    k->dq = mor_packs_velocities(&k->k.packs, arena);
    return k->softness && k->v && k->dq;
}

/* What the substep before leaves to the next: forces of a substep, and the impulses as a guess. */
static void begin_substep(const soft_step* k, const double* force)
{
    for (int i = 0; i < k->k.packs.room; i++) k->v[i] += force[i];
    mor_budget_push_all(&k->k, k->joints, k->v);
}

static mor_report soft_step_step(const mor_system* s, const void* own, mor_solve_stage* stage, mor_answer* answer)
{
    const options* o = own;
    size_t rows = (size_t)s->row_count, dof = (size_t)s->dof;
    soft_step k = { .h = s->h / o->substeps, .push_speed = o->push_speed };
    double* dq = mor_arena_alloc(stage->arena, (rows + dof + 1) * sizeof *dq);
    if (!dq) return mor_report_no_memory();
    k.joints = dq + dof;
    for (int i = 0; i < s->row_count; i++) k.joints[i] = answer->impulses[i] / o->substeps, answer->impulses[i] = 0.0;
    if (!make_room(&k, s, k.joints, stage)) return mor_report_no_memory();
    double* force = mor_packs_velocities(&k.k.packs, stage->arena);
    if (!force) return mor_report_no_memory();
    find_softness(&k, o);
    for (int i = 0; i < s->dof; i++) dq[i] = (s->nu_free[i] - s->nu[i]) / o->substeps;
    mor_packs_spread(&k.k.packs, dq, force);
    mor_packs_spread(&k.k.packs, s->nu, k.v);
    for (int n = 0; n < o->substeps; n++) {
        begin_substep(&k, force);
        mor_budget_joints(&k.k, 1.0 / o->substeps, k.joints, k.v);
        visit_all(&k, n * k.h, true);
        for (int i = 0; i < k.k.packs.room; i++) k.dq[i] += k.h * k.v[i];
        mor_budget_joints(&k.k, 1.0 / o->substeps, k.joints, k.v);
        visit_all(&k, (n + 1) * k.h, false);
        mor_budget_add_impulses(&k.k, answer->impulses);
        int first = s->contact_count < s->block_count ? s->blocks[s->contact_count].row : s->row_count;
        for (int i = first; i < s->row_count; i++) answer->impulses[i] += k.joints[i];
    }
    restitution(&k, answer->impulses);
    mor_packs_collect(&k.k.packs, k.v, answer->nu);
    mor_packs_collect(&k.k.packs, k.dq, dq);
    mor_budget_positions(s, dq, answer);
    return mor_budget_report(&k.k, answer, answer->nu, 2 * o->substeps, stage->arena);
}

const mor_formulation mor_formulation_soft_step = {
    .name = "soft-step",
    .summary = "real time: small steps with soft contacts and relaxation, as Box2D and Box3D; approximate",
    .reference = "catto2024",
    .produces = 0,
    .options_size = sizeof(options),
    .fields = fields,
    .step = soft_step_step,
    .overlaps = mor_budget_overlaps,
    .threads = true,
};
