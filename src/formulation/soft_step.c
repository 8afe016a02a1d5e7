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

typedef struct soft_step {
    const mor_system* s;
    const options* o;
    double h;               /* of a substep */
    softness moving, still; /* contacts of two bodies that move, and with what does not */
    double *nu, *dq, *p;    /* p: impulses of the substep */
    double* most;           /* of each contact: largest normal impulse so far */
} soft_step;

static void visit(const soft_step* k, int contact, double gone, bool soft)
{
    const mor_system* s = k->s;
    const mor_contact_row* c = &s->contacts[contact];
    const mor_block* b = &s->blocks[c->block];
    double *p = k->p + b->row, W = mor_budget_inertia(s, c->block, 0);
    if (!(W > 0.0)) return;
    double gap = c->gap + mor_budget_speed(s, b, 0, k->dq) + gone * c->drift[0];
    double u = mor_budget_speed(s, b, 0, k->nu) + c->drift[0], bias = 0.0, mass = 1.0, impulse = 0.0;
    if (gap > 0.0) bias = gap / k->h;
    else if (soft) {
        const softness* f = b->entry_count > 1 ? &k->moving : &k->still;
        bias = mor_max(f->rate * gap, -k->o->push_speed);
        mass = f->mass, impulse = f->impulse;
    }
    double next = mor_max(0.0, p[0] - mass * (u + bias) / W - impulse * p[0]), target[3] = { 0 };
    mor_budget_push(s, b, 0, next - p[0], k->nu);
    p[0] = next;
    k->most[contact] = mor_max(k->most[contact], next);
    for (int d = 1; d < b->dim && d < 3; d++) {
        double Wt = mor_budget_inertia(s, c->block, d);
        target[d] = Wt > 0.0 ? p[d] - (mor_budget_speed(s, b, d, k->nu) + c->drift[d]) / Wt : 0.0;
    }
    mor_budget_friction(s, contact, target, p, k->nu);
}

static void restitution(const soft_step* k, double* impulses)
{
    const mor_system* s = k->s;
    for (int i = 0; i < s->contact_count; i++) {
        const mor_contact_row* c = &s->contacts[i];
        const mor_block* b = &s->blocks[c->block];
        double W = mor_budget_inertia(s, c->block, 0);
        if (!(c->approach < -s->v_rest) || !(c->restitution > 0.0) || k->most[i] == 0.0 || !(W > 0.0)) continue;
        double u = mor_budget_speed(s, b, 0, k->nu) + c->drift[0];
        double more = mor_max(-impulses[b->row], -(u + c->restitution * c->approach) / W);
        mor_budget_push(s, b, 0, more, k->nu);
        impulses[b->row] += more;
    }
}

static mor_report soft_step_step(const mor_system* s, const void* own, mor_solve_stage* stage, mor_answer* answer)
{
    const options* o = own;
    size_t rows = (size_t)s->row_count, dof = (size_t)s->dof;
    double* v = mor_arena_zero(stage->arena, rows + 2 * dof + (size_t)s->contact_count + 1, sizeof *v);
    if (!v) return mor_report_no_memory();
    soft_step k = { .s = s, .o = o, .h = s->h / o->substeps, .nu = answer->nu, .p = v, .dq = v + rows };
    double* zero = v + rows + dof; /* of pushes by the warm start */
    k.most = zero + dof;
    double hertz = mor_min(o->hertz, 0.25 / k.h);
    k.moving = soften(hertz, o->damping, k.h);
    k.still = soften(2.0 * hertz, o->damping, k.h);
    for (int i = 0; i < s->row_count; i++) k.p[i] = answer->impulses[i] / o->substeps, answer->impulses[i] = 0.0;
    memcpy(k.nu, s->nu, dof * sizeof *k.nu);
    mor_system still = *s;
    still.nu_free = zero;
    double* warm = mor_arena_alloc(stage->arena, (dof + 1) * sizeof *warm);
    if (!warm) return mor_report_no_memory();
    for (int n = 0; n < o->substeps; n++) {
        mor_system_velocity(&still, k.p, warm);
        for (int i = 0; i < s->dof; i++) k.nu[i] += (s->nu_free[i] - s->nu[i]) / o->substeps + warm[i];
        mor_budget_joints(s, 1.0 / o->substeps, k.p, k.nu);
        for (int i = 0; i < s->contact_count; i++) visit(&k, i, n * k.h, true);
        for (int i = 0; i < s->dof; i++) k.dq[i] += k.h * k.nu[i];
        mor_budget_joints(s, 1.0 / o->substeps, k.p, k.nu);
        for (int i = 0; i < s->contact_count; i++) visit(&k, i, (n + 1) * k.h, false);
        for (int i = 0; i < s->row_count; i++) answer->impulses[i] += k.p[i];
    }
    restitution(&k, answer->impulses);
    mor_budget_positions(s, k.dq, answer);
    return mor_budget_report(s, answer, 2 * o->substeps, stage->arena);
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
};
