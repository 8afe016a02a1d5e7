/* gauss: contact forces by Gauss' principle of least constraint, as in the whole-body simulator, and without its
 * defects.
 *
 * The accelerations of a mechanism with contacts c and loops p are those nearest to the free ones in the metric M; the
 * forces are the multipliers (MATH section 2):
 *
 *     minimise f'A_c f/2 + a'f  over the friction pyramids,   A_c = J N J',
 *     a = [J nu/h]_discrete + Jdot nu + J nudot_free - (loops),         nudot = nudot_free + M^-1 (J'f + J_p'f_p)
 *
 * Here everything is multiplied by h: impulses p = h f, velocities u = h a. `discrete` contains the velocity of the
 * contact, so that a sliding point feels friction; `continuous` does not. When a point touches that did not before,
 * the velocity jumps first (gauss_impact.c); points whose gap is above `touch` get no force, unless a point of the
 * island would go through what it meets within this step (through.c): then all that are apart are held at the surface,
 * u >= -psi/h, and points that go through and bounce have their impact at once. Where the QPs of the impact are not
 * solved and nothing bounces, the forces of the step stop the point.
 *
 * The pyramid alone is a relaxation of Coulomb's law: a point that slides at v_T is made to separate at mu |v_T|, by a
 * normal force of several times the weight. `friction: coulomb` (default) repeats the QP with mu s added to the normal
 * rows until s is the slip speed
 *
 *     s = max_j -d_j . u_T(p(s)),
 *
 * (gauss_coulomb.c). The fixed point is the Stewart-Trinkle problem of the touching contacts, and the judge says how
 * well it is solved. A sticking robot needs one QP. `friction: convex` stops after the first QP with s = 0, as the
 * original does; the report then tells the relaxation error.
 *
 * `direct`: before any QP, what the contacts did in the last step (open, stick, slide) is solved as linear equations
 * (solver/state_guess.h), with circular cones, and kept if the judge finds Coulomb's law fulfilled; the QPs are for
 * the steps in which something changes.
 *
 * The iteration need not converge: steep sliding lets the image of s grow faster than s, and points that jam have
 * several answers. After 3 QPs a solver that takes whole steps (`auto`) gets the problem of the fixed point itself,
 * with circular cones, and at once where there are more than 48 rows; other solvers go on up to `rounds`.
 *
 * compat: the original's numbers. Square pyramid in contact axes, touching is gap <= 0, continuous and stick unless
 * chosen otherwise, no impact in the first step, loops with the damped inverse k = 0.001, positions by explicit
 * Euler, nothing corrects a penetration, fast bodies pass thin ones, impacts do not show in the wrenches. (Loops are
 * closed at the velocity level also here.)
 *
 * Jdot nu is taken without the part w x (w x r) of a body's own points about its origin (compat: with it): no
 * acceleration of a rigid foot can cancel that at four points at once, H cannot reach it, and the QP would answer with
 * forces that squeeze the foot up to the edges of the pyramids.
 *
 * Limits: restitution only where there is an impact law (not `none`, not in compat mode: refused); dense in the
 * contacts of an island.
 *
 * Reference: papers of the whole-body simulator (Guedelha et al. 2024); F. Cadoux (2009), An optimization-based
 * algorithm for Coulomb's frictional contact; D. G. Anderson (1965), Iterative procedures for nonlinear integral
 * equations. */
#include "formulation/gauss.h"

#include "base/elementary.h"
#include "formulation/registry.h"
#include "formulation/gauss_verdict.h"
#include "formulation/step_problem.h"
#include "formulation/through.h"
#include "problem/step.h"
#include "solver/state_guess.h"

#include <stdio.h>
#include <string.h>

enum { VARIANT_AUTO, VARIANT_DISCRETE, VARIANT_CONTINUOUS };
enum { FRICTION_AUTO, FRICTION_COULOMB, FRICTION_CONVEX };

/* QPs before the solver gets the problem as a whole, if it takes such problems; at once with more rows than that */
enum { FEW_ROUNDS = 3, MANY_ROWS = 48 };

typedef struct gauss_options {
    int variant, friction, impact, rounds;
    bool compat, direct;
    double touch, damping;
} gauss_options;

static const mor_field gauss_fields[] = {
    { "variant", MOR_TYPE_CHOICE, offsetof(gauss_options, variant), 0, 0, 0, "auto|discrete|continuous", "",
      "whether J nu/h is part of the constraint; auto: discrete, in compat mode continuous" },
    { "friction", MOR_TYPE_CHOICE, offsetof(gauss_options, friction), 0, 0, 0, "auto|coulomb|convex", "",
      "Coulomb's law by repeated QPs, or one QP (a sliding point is lifted); auto: coulomb, in compat mode convex" },
    { "impact", MOR_TYPE_CHOICE, offsetof(gauss_options, impact), 0, 0, 0, "auto|stick|qp|two-phase|none", "",
      "what happens at touch-down; auto: two-phase, in compat mode stick" },
    { "compat", MOR_TYPE_BOOL, offsetof(gauss_options, compat), 0, 0, 1, NULL, "",
      "the numbers of the original simulator, with its defects" },
    { "touch", MOR_TYPE_DOUBLE, offsetof(gauss_options, touch), 1e-6, 0, 1, NULL, "m",
      "contacts with at most this gap carry forces; deeper ones are moved out by half of their depth in every step "
      "(compat: 0, never moved)" },
    { "damping", MOR_TYPE_DOUBLE, offsetof(gauss_options, damping), -1, -1, 1e3, NULL, "",
      "k of the damped inverse of the loops; 0: rank-revealing and exact; -1 (auto): 0, in compat mode 0.001" },
    { "direct", MOR_TYPE_BOOL, offsetof(gauss_options, direct), 1, 0, 1, NULL, "",
      "try the contact states of the last step by one linear solve first, and ask a QP only if the judge is not "
      "content (never in compat mode)" },
    { "rounds", MOR_TYPE_INT, offsetof(gauss_options, rounds), 100, 1, 100000, NULL, "", "most QPs for Coulomb's law" },
    { 0 }
};

#define ROUNDING 1e-12 /* of what an impact does: energy that its sums may be wrong by */

/* d . velocity of a contact's row d at nu. */
static double row_speed(const mor_system* s, const mor_block* b, int d, const double* nu)
{
    double sum = 0.0;
    for (int k = b->entry; k < b->entry + b->entry_count; k++) {
        const mor_tree_block* t = &s->trees[s->entries[k].tree];
        const double* J = s->jacobian + s->entries[k].start + d * t->dof;
        for (int m = 0; m < t->dof; m++) sum += J[m] * nu[t->offset + m];
    }
    return sum;
}

/* What the contacts did in the last step, solved for the data of this one with circular cones; true if the judge is
 * content: the answer is complete then. */
static bool directly(const mor_system* s, const bool* keep, const double* base, const double* bias, double tol,
                     mor_arena* arena, double* total, mor_answer* answer, mor_report* report)
{
    size_t mark = mor_arena_mark(arena);
    mor_problem problem;
    int* row_of;
    bool done = false, warm = false;
    mor_judge_memory memory = { 0 };
    double* p = mor_arena_alloc(arena, ((size_t)s->row_count + 1) * sizeof *p);
    if (p && mor_step_problem(s, 0, bias, keep, arena, &problem, &row_of) && problem.size > 0) {
        problem.step.nu_free = base;
        for (int r = 0; r < problem.size; r++) warm = (p[r] = answer->impulses[row_of[r]]) != 0.0 || warm;
        mor_gauss_verdict judge = { &problem, tol, arena,
                                    mor_judge_memory_init(&memory, &problem, arena) ? &memory : NULL };
        done = warm && mor_state_guess(&problem, false, mor_gauss_content, &judge, p, arena);
    }
    if (done) {
        *report = (mor_report){ .status = MOR_SOLVED,
                                .iterations = 1,
                                .residual = mor_judge_step(&problem, p, memory.z ? &memory : NULL, arena) };
        for (int r = 0; r < problem.size; r++) total[row_of[r]] += p[r];
        memcpy(answer->impulses, total, (size_t)s->row_count * sizeof *total);
        mor_step_velocity(&problem.step, p, answer->nu);
    }
    mor_arena_release(arena, mark);
    return done;
}

/* The options with their defaults put in. */
typedef struct laws {
    bool discrete; /* J nu/h is part of the constraint */
    bool convex;   /* one QP, no repetition for Coulomb's law */
    bool compat;   /* the original's numbers */
    bool direct;   /* the states of the last step are tried first */
    mor_gauss_impact impact;
    double touch, damping, tol;
    int rounds;
} laws;

static laws resolve(const gauss_options* o, const mor_system* s)
{
    laws l = { .compat = o->compat, .rounds = o->rounds };
    l.discrete = o->variant == VARIANT_DISCRETE || (o->variant == VARIANT_AUTO && !o->compat);
    l.convex = o->friction == FRICTION_CONVEX || (o->friction == FRICTION_AUTO && o->compat);
    l.touch = o->compat ? 0.0 : o->touch;
    l.damping = o->damping >= 0.0 ? o->damping : o->compat ? 1e-3 : 0.0;
    l.tol = s->tol > 0.0 ? s->tol : 1e-10;
    static const mor_gauss_impact impacts[] = { MOR_IMPACT_TWO_PHASE, MOR_IMPACT_STICK, MOR_IMPACT_QP,
                                                MOR_IMPACT_TWO_PHASE, MOR_IMPACT_NONE };
    l.impact = o->impact == 0 && o->compat ? MOR_IMPACT_STICK : impacts[o->impact];
    l.direct = o->direct && !o->compat && !l.convex && !(l.damping > 0.0);
    return l;
}

typedef struct scratch {
    bool* touching; /* per contact: it carries forces */
    bool* ahead;    /* per contact: it is apart and must not be passed */
    bool* keep;     /* per block */
    double* base;   /* nu_free after the impact */
    double* after;  /* nu after the impact */
    double* bias;   /* per row */
    double* total;  /* impulses of impact and forces, per row */
    double* impact; /* those of the impact */
    double* turn;   /* two per contact: where the slip goes */
} scratch;

static bool make_scratch(const mor_system* s, mor_arena* arena, scratch* k)
{
    size_t contacts = (size_t)s->contact_count, dof = (size_t)s->dof, rows = (size_t)s->row_count;
    k->touching = mor_arena_zero(arena, contacts + 1, sizeof *k->touching);
    k->ahead = mor_arena_zero(arena, contacts + 1, sizeof *k->ahead);
    k->keep = mor_arena_alloc(arena, ((size_t)s->block_count + 1) * sizeof *k->keep);
    k->base = mor_arena_alloc(arena, (dof + 1) * sizeof *k->base);
    k->after = mor_arena_alloc(arena, (dof + 1) * sizeof *k->after);
    k->bias = mor_arena_zero(arena, rows + 1, sizeof *k->bias);
    k->total = mor_arena_zero(arena, rows + 1, sizeof *k->total);
    k->impact = mor_arena_zero(arena, rows + 1, sizeof *k->impact);
    k->turn = mor_arena_zero(arena, 2 * contacts + 1, sizeof *k->turn);
    return k->touching && k->ahead && k->keep && k->base && k->after && k->bias && k->total && k->impact && k->turn;
}

/* It touches now, did not at the start of the last step, and comes nearer. */
static bool is_fresh_touch(const laws* l, const mor_contact_row* row)
{
    return row->gap <= l->touch && row->old_gap > l->touch && (l->compat || row->approach < 0.0);
}

/* Contacts that are apart, where one of them would be passed in this step; true if one has its impact now. */
static bool look_ahead(const mor_system* s, const laws* l, scratch* k)
{
    bool fast = false, fresh = false;
    for (int c = 0; c < s->contact_count && !l->compat; c++)
        fast = fast || (!k->touching[c] && mor_goes_through(s, c, INFINITY));
    for (int c = 0; c < s->contact_count && fast; c++) {
        const mor_contact_row* row = &s->contacts[c];
        if (k->touching[c]) continue;
        const bool bounces = row->restitution > 0.0 && row->approach < -s->v_rest && mor_goes_through(s, c, INFINITY);
        k->keep[row->block] = true;
        k->touching[c] = bounces;
        k->ahead[c] = !bounces;
        fresh = fresh || bounces;
    }
    return fresh;
}

/* Gate: which contacts carry forces. True: one of them is a touch-down. */
static bool gate(const mor_system* s, const laws* l, scratch* k)
{
    bool fresh = false;
    for (int b = 0; b < s->block_count; b++) k->keep[b] = true;
    for (int c = 0; c < s->contact_count; c++) {
        const mor_contact_row* row = &s->contacts[c];
        k->keep[row->block] = k->touching[c] = row->gap <= l->touch;
        fresh = fresh || is_fresh_touch(l, row);
    }
    fresh = look_ahead(s, l, k) || fresh;
    return fresh && !(l->compat && s->step == 0);
}

/* Restitution where no impact law knows it: MOR_REFUSED with a sentence. */
static mor_report check_restitution(const mor_system* s, const laws* l, const scratch* k)
{
    mor_report report = { .status = MOR_SOLVED };
    for (int c = 0; c < s->contact_count && (l->compat || l->impact == MOR_IMPACT_NONE); c++) {
        const mor_contact_row* row = &s->contacts[c];
        if (!k->touching[c] || !(row->restitution > 0.0) || !(row->approach < -s->v_rest)) continue;
        report.status = MOR_REFUSED;
        snprintf(report.detail, sizeof report.detail, "restitution %g needs an impact law that knows it: %s",
                 row->restitution,
                 l->compat ? "compat mode has none, as the original; set it to 0"
                           : "impact is none; choose two-phase, qp or stick, or set it to 0");
        break;
    }
    return report;
}

/* A body that turns far in the step has other velocities at its end than at its start, and a blow that takes energy
 * from those of the start may add some to these. */
static bool makes_energy(const mor_system* s, const scratch* k)
{
    double gain = 0.0, size = 0.0;
    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        for (int d = 0; d < b->dim; d++) {
            const double p = k->total[b->row + d];
            if (p == 0.0) continue;
            const double change = row_speed(s, b, d, k->after) - row_speed(s, b, d, s->nu);
            gain += p * (row_speed(s, b, d, s->nu_free) + 0.5 * change);
            size += fabs(p * change);
        }
    }
    for (int c = 0; c < s->contact_count; c++) {
        const mor_contact_row* row = &s->contacts[c];
        const mor_block* b = &s->blocks[row->block];
        for (int d = 0; d < b->dim; d++) gain += k->total[b->row + d] * row->drift[d];
    }
    return gain > ROUNDING * size;
}

/* The impact of the velocities `from`: those after it, and its impulses. */
static mor_report strike(const mor_system* s, const laws* l, mor_solve_stage* stage, const double* from, scratch* k)
{
    memcpy(k->after, from, (size_t)s->dof * sizeof *k->after);
    memset(k->total, 0, (size_t)s->row_count * sizeof *k->total);
    return mor_gauss_impact_solve(s, k->touching, l->impact, s->directions, l->compat, l->damping, stage, k->after,
                                  k->total);
}

/* Impact: the velocity after it, and the free velocity that goes with it. */
static mor_report jump(const mor_system* s, const laws* l, mor_solve_stage* stage, bool fresh, scratch* k)
{
    mor_report report = { .status = MOR_SOLVED };
    const double* from = s->nu;
    memcpy(k->after, s->nu, (size_t)s->dof * sizeof *k->after);
    if (fresh && l->impact != MOR_IMPACT_NONE) {
        report = strike(s, l, stage, from, k);
        if (report.status == MOR_SOLVED && !l->compat && makes_energy(s, k)) {
            const int iterations = report.iterations;
            from = s->nu_free;
            report = strike(s, l, stage, from, k);
            report.iterations += iterations;
        }
        if (report.status != MOR_SOLVED) return report;
        if (l->compat) memset(k->total, 0, (size_t)s->row_count * sizeof *k->total);
    }
    for (int i = 0; i < s->dof; i++) k->base[i] = s->nu_free[i] + (k->after[i] - from[i]);
    return report;
}

/* Velocities of the rows beyond G' nu. Not `bent`: without what the motion at hand turns the rows by. */
static void write_bias(const mor_system* s, const laws* l, bool bent, scratch* k)
{
    for (int r = 0; r < s->row_count; r++) k->bias[r] = s->bias[r];
    for (int c = 0; c < s->contact_count; c++) {
        const mor_contact_row* row = &s->contacts[c];
        const mor_block* b = &s->blocks[row->block];
        for (int d = 0; d < b->dim && k->touching[c]; d++) {
            double a = bent ? s->h * (row->acceleration[d] - (l->compat ? 0.0 : row->centripetal[d])) : 0.0;
            k->bias[b->row + d] = l->discrete ? row->drift[d] + a : a - row_speed(s, b, d, k->after);
        }
        for (int d = 0; d < b->dim && k->ahead[c]; d++)
            k->bias[b->row + d] = row->drift[d] + (d == 0 ? row->gap / s->h : 0.0);
    }
}

/* Where the slip goes: a corner of the polygon opposes it. */
static void find_turns(const mor_system* s, scratch* k)
{
    for (int c = 0; c < s->contact_count; c++) {
        const mor_contact_row* row = &s->contacts[c];
        const mor_block* b = &s->blocks[row->block];
        for (int d = 1; d < 3 && b->dim == 3 && (k->touching[c] || k->ahead[c]); d++)
            k->turn[2 * c + d - 1] =
                -(row->drift[d] + s->h * (row->acceleration[d] - row->centripetal[d]) + row_speed(s, b, d, k->base));
    }
}

/* Last step's impulses, in the turned axes; true if there are any. */
static bool write_guess(const mor_gauss* g, const mor_answer* answer, double* z)
{
    bool warm = false;
    for (int b = 0; b < g->problem.step.block_count; b++) {
        const mor_block* block = &g->problem.step.blocks[b];
        int i = g->unknown[block->row];
        const double* guess = answer->impulses + g->row_of[block->row];
        if (i < 0) continue;
        for (int d = 0; d < block->dim; d++) z[i + d] = guess[d], warm = warm || guess[d] != 0.0;
        if (block->kind != MOR_BLOCK_CONTACT || block->dim != 3) continue;
        z[i + 1] = g->cosine[b] * guess[1] + g->sine[b] * guess[2];
        z[i + 2] = g->cosine[b] * guess[2] - g->sine[b] * guess[1];
    }
    return warm;
}

/* What the answer is worth. */
static void judge(const mor_gauss* g, const laws* l, const double* p, mor_arena* arena, mor_report* report)
{
    if (g->problem.size == 0) return;
    report->residual = mor_judge(&g->problem, p, arena);
    double error = report->residual.velocity;
    if (l->convex && report->status == MOR_SOLVED)
        snprintf(report->detail, sizeof report->detail, "relaxation error %.3g m/s", error);
    if (!l->convex && !(l->damping > 0.0)) {
        double limit = error <= l->tol ? l->tol : mor_max(l->tol, mor_judge_floor(&g->problem, p, arena));
        if (error <= limit) report->status = MOR_SOLVED;
        else if (report->status == MOR_SOLVED) report->status = isfinite(error) ? MOR_NOT_CONVERGED : MOR_NUMERICAL;
    }
    if (g->rank < g->e && report->status == MOR_SOLVED)
        snprintf(report->detail, sizeof report->detail, "%d of %d loop equations depend on the others", g->e - g->rank,
                 g->e);
}

/* The forces by one QP, or by several for Coulomb's law. */
static mor_report by_qp(const mor_system* s, const laws* l, mor_solve_stage* stage, scratch* k, mor_answer* answer)
{
    mor_arena* arena = stage->arena;
    if (!l->compat) find_turns(s, k);
    mor_gauss g;
    if (!mor_gauss_build(&g, s, k->keep, s->directions, l->compat, l->compat ? NULL : k->turn, l->damping, arena))
        return mor_report_no_memory();
    mor_gauss_set(&g, k->base, k->bias);
    double* z = mor_arena_zero(arena, (size_t)g.n + 1, sizeof *z);
    double* p = mor_arena_zero(arena, (size_t)g.problem.step.row_count + 1, sizeof *p);
    double* u = mor_arena_alloc(arena, ((size_t)g.problem.step.row_count + 1) * sizeof *u);
    if (!z || !p || !u) return mor_report_no_memory();
    bool warm = write_guess(&g, answer, z);
    mor_report report;
    if (!mor_gauss_reduce(&g, false)) return mor_report_no_memory();
    if (l->convex) {
        report = mor_gauss_solve(&g, NULL, stage, warm, z);
        mor_gauss_expand(&g, z, p);
    } else {
        report = mor_gauss_coulomb(&g, l->rounds, l->tol, stage, warm, z, p, answer->nu);
    }
    mor_gauss_store(&g, p, k->total);
    memcpy(answer->impulses, k->total, (size_t)s->row_count * sizeof *k->total);
    mor_gauss_rows(&g, p, answer->nu, u);
    judge(&g, l, p, arena, &report);
    return report;
}

/* The same as one problem with circular cones, handed to the solver by trees and contacts. */
static mor_report by_step(const mor_system* s, mor_solve_stage* stage, const scratch* k, mor_answer* answer)
{
    mor_system moved = *s;
    moved.nu_free = k->base;
    mor_report report = mor_step_solve(&moved, 0, k->bias, k->keep, stage, answer);
    for (int r = 0; r < s->row_count; r++) answer->impulses[r] += k->impact[r];
    return report;
}

/* By QPs, and where these do not settle as one problem, if the chosen solver takes such. */
static mor_report find_forces(const mor_system* s, const laws* l, mor_solve_stage* stage, scratch* k,
                              mor_answer* answer)
{
    bool other = s->cones && !l->convex && !l->compat && !(l->damping > 0.0);
    laws few = *l;
    if (other && few.rounds > FEW_ROUNDS) few.rounds = FEW_ROUNDS;
    int rows = 0;
    for (int b = 0; b < s->block_count; b++)
        if (k->keep[b] && s->blocks[b].kind != MOR_BLOCK_EQUATION) rows += s->blocks[b].dim;
    bool first = other && rows > MANY_ROWS;
    mor_report step = { .status = MOR_NOT_CONVERGED };
    if (first) step = by_step(s, stage, k, answer);
    if (step.status == MOR_SOLVED) return step;
    mor_report report = by_qp(s, first ? l : &few, stage, k, answer);
    report.iterations += step.iterations;
    if (report.status == MOR_SOLVED || first || !other) return report;
    step = by_step(s, stage, k, answer);
    step.iterations += report.iterations;
    return step;
}

/* Would the forces of the step do what the impact does? Without restitution they stop what comes, with the velocity of
 * the contact in their rows. */
static bool stops_anyway(const mor_system* s, const laws* l, const scratch* k)
{
    for (int c = 0; c < s->contact_count; c++)
        if (k->touching[c] && s->contacts[c].restitution > 0.0) return false;
    return l->discrete && !l->compat;
}

static mor_report gauss_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    const laws l = resolve(options, s);
    scratch k;
    if (!make_scratch(s, stage->arena, &k)) return mor_report_no_memory();
    bool fresh = gate(s, &l, &k);
    mor_report refused = { .status = MOR_SOLVED };
    if (fresh) refused = check_restitution(s, &l, &k);
    if (refused.status != MOR_SOLVED) {
        memcpy(answer->nu, s->nu_free, (size_t)s->dof * sizeof *answer->nu);
        return refused;
    }
    mor_report impact = jump(s, &l, stage, fresh, &k), report;
    const bool open = impact.status == MOR_NOT_CONVERGED || impact.status == MOR_NO_SOLUTION;
    if (open && stops_anyway(s, &l, &k)) {
        int iterations = impact.iterations;
        memset(k.total, 0, (size_t)s->row_count * sizeof *k.total);
        impact = jump(s, &l, stage, false, &k);
        impact.iterations = iterations;
    }
    if (impact.status != MOR_SOLVED) return impact;
    memcpy(k.impact, k.total, (size_t)s->row_count * sizeof *k.impact);
    write_bias(s, &l, true, &k);
    if (!l.direct || !directly(s, k.keep, k.base, k.bias, l.tol, stage->arena, k.total, answer, &report))
        report = find_forces(s, &l, stage, &k, answer);
    report.iterations += impact.iterations;
    if (report.status == MOR_NO_SOLUTION && l.discrete && !l.compat) { /* rest is an answer to the rows as they are */
        const int iterations = report.iterations;
        memcpy(k.total, k.impact, (size_t)s->row_count * sizeof *k.total);
        write_bias(s, &l, false, &k);
        report = find_forces(s, &l, stage, &k, answer);
        report.iterations += iterations;
    }
    return report;
}

static double project(mor_step* step, const void* options, double* work)
{
    const gauss_options* o = options;
    return o->compat ? 0.0 : mor_gauss_project(step, o->touch, work);
}

/* As the original does. */
static bool compat(const void* options) { return ((const gauss_options*)options)->compat; }

const mor_formulation mor_formulation_gauss = {
    .name = "gauss",
    .summary =
        "Gauss' principle of least constraint: contact forces by QPs, impacts at touch-down (whole-body simulator)",
    .reference = "guedelha2024",
    .produces = MOR_QP,
    .options_size = sizeof(gauss_options),
    .fields = gauss_fields,
    .step = gauss_step,
    .project = project,
    .accelerations = true,
    .geometry = true,
    .explicit_positions = compat,
    .overlaps = compat,
};
