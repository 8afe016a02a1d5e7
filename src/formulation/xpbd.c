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

typedef struct xpbd {
    const mor_system* s;
    double h, compliance;      /* of a substep; over h^2 */
    double *nu, *dq, *before;  /* before: dq at the beginning of the substep */
    double *l, *came, *joints; /* multipliers by rows; G_n' nu before the substep, by contacts; joint impulses */
} xpbd;

static void solve_position(const xpbd* k, int contact, double gone)
{
    const mor_system* s = k->s;
    const mor_contact_row* c = &s->contacts[contact];
    const mor_block* b = &s->blocks[c->block];
    double *l = k->l + b->row, W = mor_budget_inertia(s, c->block, 0);
    double gap = c->gap + mor_budget_speed(s, b, 0, k->dq) + gone * c->drift[0];
    if (!(gap < 0.0) || !(W > 0.0)) return;
    double change = mor_max(-l[0], (-gap - k->compliance * l[0]) / (W + k->compliance));
    mor_budget_push(s, b, 0, change, k->dq);
    l[0] += change;
    double next[3] = { 0 }, size = 0.0;
    for (int d = 1; d < b->dim && d < 3; d++) {
        double Wt = mor_budget_inertia(s, c->block, d);
        double way = mor_budget_speed(s, b, d, k->dq) - mor_budget_speed(s, b, d, k->before) + k->h * c->drift[d];
        next[d] = Wt > 0.0 ? l[d] - way / Wt : 0.0;
        size += next[d] * next[d];
    }
    if (size > c->friction * c->friction * l[0] * l[0]) return; /* it slides: left to the velocities */
    for (int d = 1; d < b->dim && d < 3; d++) mor_budget_push(s, b, d, next[d] - l[d], k->dq), l[d] = next[d];
}

static void solve_velocity(const xpbd* k, int contact, double* impulses)
{
    const mor_system* s = k->s;
    const mor_contact_row* c = &s->contacts[contact];
    const mor_block* b = &s->blocks[c->block];
    double *l = k->l + b->row, W = mor_budget_inertia(s, c->block, 0);
    if (!(l[0] > 0.0) || !(W > 0.0)) return;
    double p[3] = { l[0] / k->h }, target[3] = { 0 };
    for (int d = 1; d < b->dim && d < 3; d++) p[d] = l[d] / k->h;
    for (int d = 1; d < b->dim && d < 3; d++) {
        double Wt = mor_budget_inertia(s, c->block, d);
        target[d] = Wt > 0.0 ? p[d] - (mor_budget_speed(s, b, d, k->nu) + c->drift[d]) / Wt : 0.0;
    }
    mor_budget_friction(s, contact, target, p, k->nu);
    double u = mor_budget_speed(s, b, 0, k->nu) + c->drift[0], came = k->came[contact];
    double aim = came < -s->v_rest ? -c->restitution * came : 0.0;
    double more = mor_max(-p[0], (aim - u) / W);
    mor_budget_push(s, b, 0, more, k->nu);
    impulses[b->row] += p[0] + more;
    for (int d = 1; d < b->dim && d < 3; d++) impulses[b->row + d] += p[d];
}

static void substep(const xpbd* k, const options* o, int n, double* impulses)
{
    const mor_system* s = k->s;
    memset(k->l, 0, (size_t)s->row_count * sizeof *k->l);
    for (int i = 0; i < s->contact_count; i++)
        k->came[i] = mor_budget_speed(s, &s->blocks[s->contacts[i].block], 0, k->nu) + s->contacts[i].drift[0];
    for (int i = 0; i < s->dof; i++) {
        k->nu[i] += (s->nu_free[i] - s->nu[i]) / o->substeps;
        k->before[i] = k->dq[i];
        k->dq[i] += k->h * k->nu[i];
    }
    for (int m = 0; m < o->iterations; m++)
        for (int i = 0; i < s->contact_count; i++) solve_position(k, i, (n + 1) * k->h);
    for (int i = 0; i < s->dof; i++) k->nu[i] = (k->dq[i] - k->before[i]) / k->h;
    for (int i = 0; i < s->contact_count; i++) solve_velocity(k, i, impulses);
    memset(k->joints, 0, (size_t)s->row_count * sizeof *k->joints);
    mor_budget_joints(s, 1.0 / o->substeps, k->joints, k->nu);
    for (int i = 0; i < s->row_count; i++) impulses[i] += k->joints[i];
}

static mor_report xpbd_step(const mor_system* s, const void* own, mor_solve_stage* stage, mor_answer* answer)
{
    const options* o = own;
    size_t rows = (size_t)s->row_count, dof = (size_t)s->dof;
    double* v = mor_arena_zero(stage->arena, 2 * rows + 2 * dof + (size_t)s->contact_count + 1, sizeof *v);
    if (!v) return mor_report_no_memory();
    xpbd k = { .s = s, .h = s->h / o->substeps, .nu = answer->nu, .dq = v, .before = v + dof, .l = v + 2 * dof };
    k.joints = k.l + rows, k.came = k.joints + rows;
    k.compliance = o->compliance / (k.h * k.h);
    memset(answer->impulses, 0, rows * sizeof *answer->impulses);
    memcpy(k.nu, s->nu, dof * sizeof *k.nu);
    for (int n = 0; n < o->substeps; n++) substep(&k, o, n, answer->impulses);
    mor_budget_positions(s, k.dq, answer);
    return mor_budget_report(s, answer, o->substeps * o->iterations, stage->arena);
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
};
