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
 * contact, so that a sliding point feels friction; `continuous` does not. When a point touches that did not before, the
 * velocity jumps first (gauss_impact.c); points whose gap is above `touch` get no force.
 *
 * The pyramid alone is a relaxation of Coulomb's law: a point that slides at v_T is made to separate at mu |v_T|, by a
 * normal force of several times the weight. `friction: coulomb` (default) repeats the QP with mu s added to the normal
 * rows until s is the slip speed
 *
 *     s = max_j -d_j . u_T(p(s)),
 *
 * (De Saxce's term; Cadoux 2009), accelerated by Anderson's method, because the plain iteration contracts by about mu^2
 * only. The fixed point is the Stewart-Trinkle problem of the touching contacts, and the judge says how well it is
 * solved. A sticking robot needs one QP. `friction: convex` stops after the first QP with s = 0, as the original does;
 * the report then tells the relaxation error.
 *
 * `direct`: before any QP, what the contacts did in the last step (open, stick, slide) is solved as linear equations
 * (solver/state_guess.h), with circular cones, and kept if the judge finds Coulomb's law fulfilled; the QPs are for the
 * steps in which something changes.
 *
 * compat: the original's numbers. Square pyramid in contact axes, touching is gap <= 0, continuous and stick unless
 * chosen otherwise, no impact in the first step, loops with the damped inverse k = 0.001, positions by explicit Euler,
 * nothing corrects a penetration, impacts do not show in the wrenches. (Loops are closed at the velocity level also
 * here.)
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
#include "formulation/step_problem.h"
#include "linalg/dense.h"
#include "model/world.h"
#include "problem/cone.h"
#include "problem/judge.h"
#include "problem/step.h"
#include "solver/state_guess.h"

#include <stdio.h>
#include <string.h>

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

enum { MEMORY = 5 }; /* of Anderson's method */

typedef struct fixed_point {
    int n, count;
    double *s, *r; /* the point and image - point */
    double *old_s, *old_r;
    double *ds, *dr; /* MEMORY columns of differences */
} fixed_point;

/* Next point from s and r: s + r - (dS + dR) gamma, gamma the least-squares solution of dR gamma = r; never below 0,
 * and never back where the image is ahead. */
static void anderson(fixed_point* f, int round)
{
    int n = f->n, m;
    if (round > 0) {
        int at = (round - 1) % MEMORY;
        for (int i = 0; i < n; i++) {
            f->ds[at * n + i] = f->s[i] - f->old_s[i];
            f->dr[at * n + i] = f->r[i] - f->old_r[i];
        }
        if (f->count < MEMORY) f->count++;
    }
    memcpy(f->old_s, f->s, (size_t)n * sizeof *f->s);
    memcpy(f->old_r, f->r, (size_t)n * sizeof *f->r);
    m = f->count < n ? f->count : n;
    double A[MEMORY * MEMORY], gamma[MEMORY] = { 0 }, largest = 0.0;
    const double* D[MEMORY];
    const double* S[MEMORY];
    for (int k = 0; k < m; k++) { /* the latest m */
        int at = ((round - 1 - k) % MEMORY + MEMORY) % MEMORY;
        D[k] = f->dr + at * n, S[k] = f->ds + at * n;
    }
    for (int a = 0; a < m; a++)
        for (int b = 0; b < m; b++) {
            double sum = 0.0;
            for (int i = 0; i < n; i++) sum += D[a][i] * D[b][i];
            A[a + b * m] = sum;
            if (a == b) largest = mor_max(largest, sum);
        }
    for (int a = 0; a < m; a++) {
        A[a + a * m] += 1e-12 * largest + 1e-300;
        for (int i = 0; i < n; i++) gamma[a] += D[a][i] * f->r[i];
    }
    if (m > 0 && mor_cholesky_factor(m, A)) mor_cholesky_solve(m, A, gamma);
    else memset(gamma, 0, sizeof gamma);
    for (int i = 0; i < n; i++) {
        double x = f->s[i] + f->r[i];
        for (int k = 0; k < m; k++) x -= (S[k][i] + D[k][i]) * gamma[k];
        /* the image grows faster than s: onwards, until the contact opens */
        if (f->r[i] > 0.0 && x < f->s[i]) x = 10.0 * (f->s[i] + f->r[i]);
        f->s[i] = mor_max(x, 0.0);
    }
}

/* max(0, max_j -d_j . u_T) of a contact block. */
static double slip_speed(const mor_block* b, const double* u)
{
    if (b->dim == 2) return fabs(u[1]);
    double s = 0.0, d[2];
    for (int j = 0; j < b->directions; j++) {
        mor_polygon_direction(b->directions, j, d);
        s = mor_max(s, -(d[0] * u[1] + d[1] * u[2]));
    }
    return s;
}

typedef struct verdict {
    const mor_problem* problem;
    double tol;
    mor_arena* arena;
    mor_judge_memory* memory; /* or NULL */
} verdict;

static bool content(const void* user, const double* p)
{
    const verdict* v = user;
    size_t mark = mor_arena_mark(v->arena);
    double error = mor_judge_step_velocity(v->problem, p, v->memory, v->arena);
    bool good = error <= v->tol || (error <= 1e-7 && error <= mor_judge_floor(v->problem, p, v->arena));
    mor_arena_release(v->arena, mark);
    return good;
}

/* Repeats the QP until the slip speeds agree with those it was given. */
static mor_report coulomb(mor_gauss* g, int rounds, double tol, mor_solve_stage* stage, bool warm, double* z, double* p,
                          double* nu)
{
    const mor_step_form* f = &g->problem.step;
    int contacts = 0;
    for (int b = 0; b < f->block_count; b++) contacts += f->blocks[b].kind == MOR_BLOCK_CONTACT && f->blocks[b].dim > 1;
    size_t C = (size_t)contacts;
    double* extra = mor_arena_zero(g->arena, (size_t)g->n + 1, sizeof *extra);
    double* u = mor_arena_alloc(g->arena, ((size_t)f->row_count + 1) * sizeof *u);
    double* memory = mor_arena_zero(g->arena, (4 + 2 * MEMORY) * C + 1, sizeof *memory);
    double* trial = mor_arena_alloc(g->arena, ((size_t)f->row_count + 1) * sizeof *trial);
    if (!extra || !u || !memory || !trial) return mor_report_no_memory();
    fixed_point x = {
        contacts, 0, memory, memory + C, memory + 2 * C, memory + 3 * C, memory + 4 * C, memory + (4 + MEMORY) * C
    };
    mor_report report = { .status = MOR_SOLVED };
    int iterations = 0;
    mor_gauss_expand(g, z, p);
    mor_gauss_rows(g, p, nu, u);
    for (int b = 0, k = 0; b < f->block_count; b++)
        if (f->blocks[b].kind == MOR_BLOCK_CONTACT && f->blocks[b].dim > 1) {
            double slip = slip_speed(&f->blocks[b], u + f->blocks[b].row);
            x.s[k++] = slip > 100.0 * tol ? slip : 0.0; /* it stuck in the last step, most likely */
        }
    for (int round = 0; round < rounds; round++) {
        for (int b = 0, k = 0; b < f->block_count; b++)
            if (f->blocks[b].kind == MOR_BLOCK_CONTACT && f->blocks[b].dim > 1)
                extra[g->unknown[f->blocks[b].row]] = f->blocks[b].mu * x.s[k++];
        report = mor_gauss_solve(g, extra, stage, warm || round > 0, z);
        iterations += report.iterations;
        bool near = report.status == MOR_NOT_CONVERGED && report.residual.relative < 1e-6; /* the judge will tell */
        if (report.status != MOR_SOLVED && !near) break;
        mor_gauss_expand(g, z, p);
        mor_gauss_rows(g, p, nu, u);
        double worst = 0.0;
        for (int b = 0, k = 0; b < f->block_count; b++) {
            const mor_block* block = &f->blocks[b];
            if (block->kind != MOR_BLOCK_CONTACT || block->dim < 2) continue;
            x.r[k] = slip_speed(block, u + block->row) - x.s[k];
            worst = mor_max(worst, block->mu * fabs(x.r[k++]));
        }
        if (worst <= 0.1 * tol) break;
        if (round >= 2 && (round & (round - 1)) == 0) { /* rounds 2, 4, 8 ...: the states may be right, and the rest
                                                           rounding of the QPs */
            memcpy(trial, p, (size_t)f->row_count * sizeof *trial);
            verdict judge = { &g->problem, tol, g->arena, NULL };
            if (mor_state_guess(&g->problem, content, &judge, trial, g->arena)) {
                memcpy(p, trial, (size_t)f->row_count * sizeof *trial);
                report.status = MOR_SOLVED;
                break;
            }
        }
        anderson(&x, round);
        if (round + 1 == rounds)
            snprintf(report.detail, sizeof report.detail, "Coulomb's law was missed by %.3g m/s after %d QPs", worst,
                     rounds);
    }
    report.iterations = iterations;
    return report;
}

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
        verdict judge = { &problem, tol, arena, mor_judge_memory_init(&memory, &problem, arena) ? &memory : NULL };
        done = warm && mor_state_guess(&problem, content, &judge, p, arena);
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

static mor_report gauss_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    const gauss_options* o = options;
    bool discrete = o->variant == 1 || (o->variant == 0 && !o->compat),
         convex = o->friction == 2 || (o->friction == 0 && o->compat);
    double touch = o->compat ? 0.0 : o->touch, damping = o->damping >= 0.0 ? o->damping : o->compat ? 1e-3 : 0.0;
    double tol = s->world ? s->world->solver_options.tol : 1e-10;
    int law = o->impact == 0 ? (o->compat ? 1 : 3) : o->impact;
    mor_arena* arena = stage->arena;
    bool* touching = mor_arena_zero(arena, (size_t)s->contact_count + 1, sizeof *touching);
    bool* keep = mor_arena_alloc(arena, ((size_t)s->block_count + 1) * sizeof *keep);
    double* base = mor_arena_alloc(arena, ((size_t)s->dof + 1) * sizeof *base);
    double* after = mor_arena_alloc(arena, ((size_t)s->dof + 1) * sizeof *after);
    double* bias = mor_arena_zero(arena, (size_t)s->row_count + 1, sizeof *bias);
    double* total = mor_arena_zero(arena, (size_t)s->row_count + 1, sizeof *total);
    double* turn = mor_arena_zero(arena, 2 * (size_t)s->contact_count + 1, sizeof *turn);
    if (!touching || !keep || !base || !after || !bias || !total || !turn) return mor_report_no_memory();

    bool fresh = false;
    for (int b = 0; b < s->block_count; b++) keep[b] = true;
    for (int c = 0; c < s->contact_count; c++) {
        const mor_contact_row* row = &s->contacts[c];
        keep[row->block] = touching[c] = row->gap <= touch;
        fresh = fresh || (touching[c] && row->old_gap > touch && (o->compat || row->approach < 0.0));
    }
    if (o->compat && s->world && s->world->step == 0) fresh = false;
    for (int c = 0; c < s->contact_count && fresh && (o->compat || law == 4); c++)
        if (touching[c] && s->contacts[c].restitution > 0.0 && s->contacts[c].approach < -s->v_rest) {
            mor_report refused = { .status = MOR_REFUSED };
            snprintf(refused.detail, sizeof refused.detail, "restitution %g needs an impact law that knows it: %s",
                     s->contacts[c].restitution,
                     o->compat ? "compat mode has none, as the original; set it to 0"
                               : "impact is none; choose two-phase, qp or stick, or set it to 0");
            memcpy(answer->nu, s->nu_free, (size_t)s->dof * sizeof *answer->nu);
            return refused;
        }
    memcpy(after, s->nu, (size_t)s->dof * sizeof *after);
    mor_report impact = { .status = MOR_SOLVED };
    if (fresh && law < 4) {
        impact = mor_gauss_impact_solve(s, touching, (mor_gauss_impact)(law - 1), s->directions, o->compat, damping,
                                        stage, after, total);
        if (impact.status != MOR_SOLVED) return impact;
        if (o->compat) memset(total, 0, (size_t)s->row_count * sizeof *total);
    }
    for (int k = 0; k < s->dof; k++) base[k] = s->nu_free[k] + (after[k] - s->nu[k]);

    for (int r = 0; r < s->row_count; r++) bias[r] = s->bias[r];
    bool warm = false;
    for (int c = 0; c < s->contact_count; c++) {
        const mor_contact_row* row = &s->contacts[c];
        const mor_block* b = &s->blocks[row->block];
        for (int d = 0; d < b->dim && touching[c]; d++) {
            double a = s->h * (row->acceleration[d] - (o->compat ? 0.0 : row->centripetal[d]));
            bias[b->row + d] = row->drift[d] + a;
            if (!discrete) bias[b->row + d] = a - row_speed(s, b, d, after);
        }
    }
    if (o->direct && !o->compat && !convex && !(damping > 0.0)) {
        mor_report report;
        if (directly(s, keep, base, bias, tol, stage->arena, total, answer, &report)) {
            report.iterations += impact.iterations;
            return report;
        }
    }
    for (int c = 0; c < s->contact_count && !o->compat; c++) { /* where the slip goes: a corner of the polygon opposes
                                                                  it */
        const mor_contact_row* row = &s->contacts[c];
        const mor_block* b = &s->blocks[row->block];
        for (int d = 1; d < 3 && b->dim == 3 && touching[c]; d++)
            turn[2 * c + d - 1] =
                -(row->drift[d] + s->h * (row->acceleration[d] - row->centripetal[d]) + row_speed(s, b, d, base));
    }
    mor_gauss g;
    if (!mor_gauss_build(&g, s, keep, s->directions, o->compat, o->compat ? NULL : turn, damping, arena))
        return mor_report_no_memory();
    mor_gauss_set(&g, base, bias);
    double* z = mor_arena_zero(arena, (size_t)g.n + 1, sizeof *z);
    double* p = mor_arena_zero(arena, (size_t)g.problem.step.row_count + 1, sizeof *p);
    double* u = mor_arena_alloc(arena, ((size_t)g.problem.step.row_count + 1) * sizeof *u);
    if (!z || !p || !u) return mor_report_no_memory();
    for (int b = 0; b < g.problem.step.block_count; b++) { /* last step's impulses, in the turned axes */
        const mor_block* block = &g.problem.step.blocks[b];
        int i = g.unknown[block->row];
        const double* guess = answer->impulses + g.row_of[block->row];
        if (i < 0) continue;
        for (int d = 0; d < block->dim; d++) z[i + d] = guess[d], warm = warm || guess[d] != 0.0;
        if (block->kind == MOR_BLOCK_CONTACT && block->dim == 3)
            z[i + 1] = g.cosine[b] * guess[1] + g.sine[b] * guess[2],
                  z[i + 2] = g.cosine[b] * guess[2] - g.sine[b] * guess[1];
    }
    mor_report report = { .status = MOR_SOLVED, .iterations = 1 };
    if (!mor_gauss_reduce(&g, false)) return mor_report_no_memory();
    if (convex) {
        report = mor_gauss_solve(&g, NULL, stage, warm, z);
        mor_gauss_expand(&g, z, p);
    } else report = coulomb(&g, o->rounds, tol, stage, warm, z, p, answer->nu);
    mor_gauss_store(&g, p, total);
    memcpy(answer->impulses, total, (size_t)s->row_count * sizeof *total);
    mor_gauss_rows(&g, p, answer->nu, u);
    report.iterations += impact.iterations;

    if (g.problem.size == 0) return report;
    report.residual = mor_judge(&g.problem, p, arena);
    double error = report.residual.velocity;
    if (convex && report.status == MOR_SOLVED)
        snprintf(report.detail, sizeof report.detail, "relaxation error %.3g m/s", error);
    if (!convex && !(damping > 0.0)) {
        double limit = error <= tol ? tol : mor_max(tol, mor_judge_floor(&g.problem, p, arena));
        if (error <= limit) report.status = MOR_SOLVED;
        else if (report.status == MOR_SOLVED) report.status = isfinite(error) ? MOR_NOT_CONVERGED : MOR_NUMERICAL;
    }
    if (g.rank < g.e && report.status == MOR_SOLVED)
        snprintf(report.detail, sizeof report.detail, "%d of %d loop equations depend on the others", g.e - g.rank,
                 g.e);
    return report;
}

static double project(mor_world* world, const void* options, double* work)
{
    const gauss_options* o = options;
    return o->compat ? 0.0 : mor_gauss_project(world, o->touch, work);
}

static bool explicit_positions(const void* options) { return ((const gauss_options*)options)->compat; }

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
    .explicit_positions = explicit_positions,
};
