/* Impulse-based stabilisation of joints.
 *
 * The rows of a joint hold at the start of the step, so the step would leave it a violation of second order in h.
 * Positions: the step is tried, phi at its end is added to the rows,
 *
 *     G(q)' nu+ + (sum of phi(q (+) h nu+) so far)/h = 0,
 *
 * and the island is solved again, contacts and all, from the last answer, until |phi| is within the tolerance. An
 * island with equations only is linear: its answer moves by W^-1 (-phi/h), with one factor for all rounds of the step.
 * The sum hardly changes from step to step, so it begins with what the last ones' lead to (formulation/springs.c). The
 * impulses act along G(q), as in SHAKE. Velocities: after the step W p = -G(q+)' nu, nu <- nu + M^-1 G(q+) p, straight
 * from bodies and joints where they can (formulation/linkage.c), which makes the pair RATTLE: second order, and
 * without the dissipation that corrections along G(q+) alone have (h w^2 of the energy per second for a pendulum
 * turning at w).
 *
 * Where this iteration does not converge, because bodies turn too far in a step, the plain step is taken and positions
 * are projected after it, W p = -phi(q+), q+ <- q+ (+) M^-1 G(q+) p: robust, but it dissipates. `projection` always
 * does that.
 *
 * What the velocity correction, of first order in h, does to contacts is seen by the next step.
 *
 * J. Bender, A. Schmitt, "Fast dynamic simulation of multi-body systems using impulses", VRIPhys 2006; H. C. Andersen,
 * "Rattle: a velocity version of the Shake algorithm", J. Comput. Phys. 52 (1983) 24-34. */
#include "step/stabilise.h"
#include "step/stages.h"

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "formulation/equations.h"
#include "formulation/linkage.h"
#include "formulation/rows.h"
#include "formulation/step_problem.h"
#include "linalg/rows.h"
#include "model/joints.h"
#include "problem/step.h"
#include "step/close_joints.h"
#include "step/draft.h"

#include <string.h>

enum { ROUNDS = 10 };

#define FAR 100.0           /* times the tolerance: joints are closed with damping first */
#define ROUNDING 1e-12      /* of the velocities of an island: rows that hold within this hold */
#define CONTRADICTION 1e-10 /* of what the rows are asked for: more is not rounding, they contradict each other */

/* delta = M^-1 G p with W p = rhs, for one island; false if it cannot be solved. */
static bool correction(const mor_step* k, const mor_system* s, const double* rhs, double* delta)
{
    mor_step_form form = mor_system_form(s);
    double* p = mor_arena_zero(k->arena, (size_t)s->row_count, sizeof *p);
    if (!p || !mor_equations_solve(&form, rhs, p, k->arena)) return false;
    mor_system_velocity(s, p, delta);
    for (int i = 0; i < s->dof; i++) delta[i] -= s->nu_free[i];
    return true;
}

/* Minus the rows of phi, or of G' nu, of an island's equations; returns the largest norm of a joint's. */
static double violation(const mor_island* island, bool velocity, double* out)
{
    const mor_system* s = &island->system;
    const mor_step_form form = mor_system_form(s);
    double largest = 0.0;
    if (velocity) mor_step_rows_change(&form, s->nu, out);
    else memset(out, 0, (size_t)s->row_count * sizeof *out);
    for (int r = 0; r < island->row_block_count; r++) {
        const mor_block* b = &s->blocks[s->contact_count + r];
        const double* own = velocity ? island->rows[r]->drift : island->rows[r]->phi;
        double square = 0.0;
        for (int d = 0; d < b->dim; d++) {
            double x = b->kind == MOR_BLOCK_EQUATION ? out[b->row + d] + own[d] : 0.0;
            out[b->row + d] = -x;
            square += x * x;
        }
        double size = sqrt(square);
        if (!(size <= largest)) largest = size;
    }
    return largest;
}

static void apply(mor_world* w, const mor_island* island, const double* delta, bool velocity)
{
    for (int t = 0; t < island->system.tree_count; t++) {
        const mor_tree* tree = &w->trees[island->tree_of[t]];
        tree->kind->correct(w, tree, delta + island->system.trees[t].offset, velocity);
    }
}

/* One round over all islands; the largest violation before it. */
static mor_code correct(mor_step* k, bool velocity, double tolerance, double* largest)
{
    *largest = 0.0;
    if (!mor_assemble(k)) return MOR_SYSTEM;
    for (int i = 0; i < k->island_count; i++) {
        const mor_system* s = &k->islands[i].system;
        double* rhs = mor_arena_alloc(k->arena, (size_t)s->row_count * sizeof *rhs);
        double* delta = mor_arena_alloc(k->arena, (size_t)s->dof * sizeof *delta);
        if (!rhs || !delta) return MOR_SYSTEM;
        if (k->islands[i].wide && !velocity) continue; /* close_joints.c */
        double size = violation(&k->islands[i], velocity, rhs);
        if (!(size <= *largest)) *largest = size;
        if (size > tolerance && correction(k, s, rhs, delta)) apply(k->w, &k->islands[i], delta, velocity);
    }
    return MOR_OK;
}

/* Works in a step of its own beside the one at hand: joints alone, on the same draft. */
static mor_code correct_positions(const mor_step* step, double tolerance, int rounds)
{
    mor_step beside = mor_step_beside(step);
    beside.equations = true;
    size_t mark = mor_arena_mark(beside.arena);
    mor_code code = MOR_OK;
    for (int round = 0; round < rounds && !code; round++) {
        double largest;
        code = correct(&beside, false, tolerance, &largest);
        mor_arena_release(beside.arena, mark);
        if (!(largest > tolerance)) break;
    }
    return code;
}

mor_code mor_close_joints(const mor_step* k, double tolerance) { return correct_positions(k, tolerance, ROUNDS); }

static mor_code correct_velocities(const mor_step* step, double tolerance)
{
    mor_step beside = mor_step_beside(step);
    beside.equations = true;
    if (mor_linkage_velocities(&beside, tolerance)) return MOR_OK;
    size_t mark = mor_arena_mark(beside.arena);
    double largest;
    mor_code code = correct(&beside, true, tolerance, &largest);
    mor_arena_release(beside.arena, mark);
    return code;
}

/* By Newton's method. It may end anywhere where joints exclude each other: there damped steps come first. What lifts
 * bodies by more than they have kinetic energy, which could not be taken out of their velocities, is undone: bodies
 * that turn by radians in a step open their joints far. The coming steps close them. */
static mor_code close_positions(mor_step* k, double tolerance)
{
    const mor_joint* joints = k->w->joints.data;
    bool apart = false;
    for (int i = 0; i < k->w->joints.count && !apart; i++) apart = joints[i].apart;
    const bool far = apart && k->w->joint_error > FAR * tolerance;
    size_t mark = mor_arena_mark(k->arena);
    mor_trial before;
    if (!mor_trial_begin(k, &before)) return MOR_SYSTEM;
    const double low = mor_world_potential_energy(k->w);
    mor_code code = far ? MOR_OK : correct_positions(k, tolerance, ROUNDS);
    if (!code && apart) code = mor_close_lost_joints(k, &before);
    if (!code && far) code = correct_positions(k, tolerance, ROUNDS);
    if (!apart && !(mor_world_potential_energy(k->w) - low <= mor_world_kinetic_energy(k->w)))
        mor_trial_end(k->w, &before);
    /* a projection that lifted bodies and opened joints: what closing them takes back was no work */
    const double down = mor_world_potential_energy(k->w) - low;
    if (down < 0.0 && k->projection_work > 0.0) k->projection_work = mor_max(0.0, k->projection_work + down);
    mor_arena_release(k->arena, mark);
    return code;
}

mor_code mor_stabilise_velocities(mor_step* k)
{
    mor_world* w = k->w;
    if (w->joints.count == 0) return MOR_OK;
    mor_code code = mor_take_back_share(k);
    if (code) return code;
    w->joint_error = mor_joint_error_kept(w);
    if (w->options.stabilisation == MOR_STABILISE_IMPULSE || w->options.stabilisation == MOR_STABILISE_PROJECTION) {
        double tolerance = mor_joint_tolerance(w);
        if (w->joint_error > tolerance) {
            code = close_positions(k, tolerance);
            w->joint_error = mor_joint_error_kept(w);
        }
        if (!code) code = mor_close_wide_joints(k);
        if (!code) code = correct_velocities(k, w->options.velocity_tolerance);
    } else {
        code = mor_close_wide_joints(k);
    }
    return code;
}

static bool has_joint_rows(const mor_step* k)
{
    for (int i = 0; i < k->rough; i++)
        for (int r = 0; r < k->islands[i].row_block_count; r++)
            if (k->islands[i].rows[r]->joint >= 0) return true;
    return false;
}

/* Adds phi at the end of the step to the rows of an island; the largest norm of a joint. */
static double add_violation(mor_world* w, mor_island* island)
{
    const mor_system* s = &island->system;
    double largest = 0.0, *bias = island->bias;
    double share = w->trees[island->tree_of[0]].share;
    mor_joint* joints = w->joints.data;
    for (int r = 0; r < island->row_block_count; r++) {
        mor_row_block* b = island->rows[r];
        if (b->joint < 0) continue;
        const mor_joint_row* rows;
        mor_joint_equations_kept(w, &joints[b->joint], &rows);
        double square = 0.0;
        for (int k = 0; k < b->dim; k++) {
            double phi = rows[b->of[k]].phi;
            square += phi * phi;
            bias[s->blocks[s->contact_count + r].row + k] += phi / (share * w->h);
            joints[b->joint].correction[b->of[k]] += phi / w->h;
        }
        if (!(sqrt(square) <= largest)) largest = sqrt(square);
    }
    return largest;
}

/* The differences with the correction of the last step. */
static void note_correction(mor_joint* j)
{
    mor_two now[3] = { MOR_TWO_AT(j->correction), MOR_TWO_AT(j->correction + 2), MOR_TWO_AT(j->correction + 4) };
    for (int order = 0; order < MOR_JOINT_ORDERS; order++)
        for (int k = 0; k < 3; k++) {
            double* at = j->differences[order] + 2 * k;
            const mor_two before = MOR_TWO_AT(at);
            MOR_TWO_TO(at) = now[k];
            now[k] -= before;
        }
}

/* Begins the sums of an island's joints with what is in the rows already; or takes that out of the rows. */
static void begin_corrections(mor_world* w, const mor_island* island, bool without)
{
    mor_joint* joints = w->joints.data;
    double *bias = island->bias, share = w->trees[island->tree_of[0]].share;
    for (int r = 0; r < island->row_block_count; r++) {
        const mor_row_block* b = island->rows[r];
        if (b->joint < 0) continue;
        mor_joint* j = &joints[b->joint];
        if (!without) { note_correction(j); }
        memset(j->correction, 0, sizeof j->correction);
        for (int k = 0; k < b->dim; k++) {
            if (without) bias[island->system.blocks[island->system.contact_count + r].row + k] -= b->predicted[k];
            else j->correction[b->of[k]] = share * b->predicted[k];
        }
    }
}

/* An island of equations only, whose answer can be moved instead of solved for again. */
typedef struct mover {
    mor_step_form form;
    mor_equations* equations; /* NULL: not one */
    double *phi, *p, *delta;
    double* bias;   /* that the answer is for */
    double fastest; /* velocity of the island, at least 1 m/s */
    bool known;
} mover;

/* How far the answer is from the rows it is for, m/s. */
static double rows_off(const mover* m, const mor_island* island)
{
    const mor_system* s = &island->system;
    double off = 0.0;
    mor_step_rows(&m->form, island->answer.nu, m->phi);
    for (int i = 0; i < s->row_count; i++) {
        double x = fabs(m->phi[i] - s->bias[i] + m->bias[i]);
        if (!(x <= off)) off = x;
    }
    return off;
}

/* Only if the rows hold as they are, which is not every formulation's business. */
static bool begin_mover(const mor_step* k, const mor_island* island, mover* m)
{
    const mor_world* w = k->w;
    const mor_system* s = &island->system;
    if (m->known) return m->equations != NULL;
    m->known = true;
    if (!m->bias || s->contact_count > 0 || s->block_count == 0 || w->on_solve) return false;
    m->form = mor_system_form(s);
    if (!mor_equations_only(&m->form)) return false;
    m->phi = mor_arena_zero(k->arena, (size_t)s->row_count, sizeof(double));
    m->p = mor_arena_zero(k->arena, (size_t)s->row_count, sizeof(double));
    m->delta = mor_arena_alloc(k->arena, (size_t)s->dof * sizeof(double));
    if (!m->phi || !m->p || !m->delta) return false;
    m->fastest = 1.0;
    for (int i = 0; i < s->row_count; i++) m->fastest = mor_max(m->fastest, fabs(m->bias[i]));
    for (int i = 0; i < s->dof; i++) m->fastest = mor_max(m->fastest, fabs(island->answer.nu[i]));
    double off = rows_off(m, island);
    if (!(off <= ROUNDING * m->fastest || off <= w->solver_options.tol)) return false;
    m->equations =
        island->equations ? island->equations : mor_equations_factor(&m->form, island->free_bodies, k->arena);
    return m->equations != NULL;
}

/* What add_violation put into the rows moves the answer: W p = -(rows of the answer), until they hold. False: they do
 * not, and it has to be solved for. */
static bool move_answer(mor_step* k, mor_island* island, mover* m)
{
    enum { AGAIN = 4 };
    const mor_world* w = k->w;
    const mor_system* s = &island->system;
    double off = INFINITY, least = ROUNDING * m->fastest, asked = 0.0;
    for (int i = 0; i < s->row_count; i++) {
        m->phi[i] = m->bias[i] - s->bias[i];
        asked = mor_max(asked, fabs(m->phi[i]));
    }
    memcpy(m->bias, s->bias, (size_t)s->row_count * sizeof(double));
    for (int round = 0; round < AGAIN && off > least; round++) {
        if (round)
            for (int i = 0; i < s->row_count; i++) m->phi[i] = -m->phi[i];
        mor_equations_solve_once(&m->form, m->equations, m->phi, m->p);
        mor_step_change(&m->form, m->p, m->delta);
        for (int i = 0; i < s->row_count; i++) island->answer.impulses[i] += m->p[i];
        for (int i = 0; i < s->dof; i++) island->answer.nu[i] += m->delta[i];
        double now = rows_off(m, island);
        bool slow = !(now < 0.5 * off);
        off = now;
        if (slow) break;
    }
    if (!(off <= least || (off <= w->solver_options.tol && off <= CONTRADICTION * asked))) return false;
    island->report.residual.velocity = mor_max(island->report.residual.velocity, off);
    for (int t = 0; t < s->tree_count; t++)
        memcpy(k->nu_new + w->trees[island->tree_of[t]].offset, island->answer.nu + s->trees[t].offset,
               (size_t)s->trees[t].dof * sizeof(double));
    return true;
}

/* One island's part of the rounds. */
typedef struct part {
    double* first; /* rows before any correction */
    mover mover;
    bool again, plain;
} part;

static bool begin_parts(mor_step* k, part* parts)
{
    for (int i = 0; i < k->rough; i++) {
        const mor_island* island = &k->islands[i];
        size_t bytes = (size_t)island->system.row_count * sizeof(double);
        begin_corrections(k->w, island, false);
        parts[i].plain = island->wide || island->stuck;
        parts[i].first = mor_arena_alloc(k->arena, bytes);
        parts[i].mover.bias = mor_arena_alloc(k->arena, bytes);
        if (!parts[i].first || !parts[i].mover.bias) return false;
        memcpy(parts[i].first, island->bias, bytes);
        memcpy(parts[i].mover.bias, island->bias, bytes);
    }
    return true;
}

/* Tries the step: the largest violation at its end, added to the rows. */
static double try_step(mor_step* k, const mor_trial* start, part* parts, double tolerance)
{
    double largest = 0.0;
    mor_integrate_bodies(k);
    for (int i = 0; i < k->rough; i++) {
        double size = parts[i].plain ? 0.0 : add_violation(k->w, &k->islands[i]);
        parts[i].again = i >= 64 || size > tolerance;
        if (!(size <= largest)) largest = size;
    }
    if (!(largest > tolerance)) mor_trial_keep(k);
    mor_trial_end(k->w, start);
    return largest;
}

/* The rows without any correction, solved again; projection comes after the step. False: still no answer. */
static bool solve_plain(mor_step* k, int i, part* parts, void (*solve)(mor_step* step, int island))
{
    mor_island* island = &k->islands[i];
    size_t bytes = (size_t)island->system.row_count * sizeof(double);
    memcpy(island->bias, parts[i].first, bytes);
    begin_corrections(k->w, island, true);
    parts[i].mover.known = true, parts[i].mover.equations = NULL;
    if (!mor_report_answers(k->w, &island->report)) memset(island->answer.impulses, 0, bytes);
    solve(k, i);
    return mor_report_answers(k->w, &island->report);
}

/* Corrections are of the motion as it was: where bodies meet now they may contradict the contacts, and no velocity
 * fulfils the rows. Such islands take the plain step, or one that leaves the joints as open as they are. False: one has
 * no answer even so. */
static bool drop_contradictions(mor_step* k, part* parts, void (*solve)(mor_step* step, int island))
{
    bool all = true;
    for (int i = 0; i < k->rough; i++) {
        if (mor_report_answers(k->w, &k->islands[i].report) || k->islands[i].row_block_count == 0) continue;
        if (!solve_plain(k, i, parts, solve) && !mor_hold_island(k, i, solve)) all = false;
        parts[i].plain = true;
    }
    if (!all) return false;
    k->status = MOR_SOLVED;
    for (int i = 0; i < k->island_count; i++)
        if (!mor_report_answers(k->w, &k->islands[i].report)) k->status = k->islands[i].report.status;
    return k->status == MOR_SOLVED;
}

mor_code mor_stabilise_positions(mor_step* k, void (*solve)(mor_step* step, int island))
{
    mor_world* w = k->w;
    if (w->joints.count == 0 || w->options.stabilisation != MOR_STABILISE_IMPULSE || w->on_integrate) return MOR_OK;
    if (!has_joint_rows(k)) return MOR_OK;
    size_t mark = mor_arena_mark(k->arena);
    mor_trial start;
    part* parts = mor_arena_zero(k->arena, (size_t)k->rough + 1, sizeof *parts);
    if (!parts || !mor_trial_begin(k, &start) || !begin_parts(k, parts)) return MOR_SYSTEM;
    double before = INFINITY, tolerance = mor_joint_tolerance(w);
    bool good = k->status == MOR_SOLVED || drop_contradictions(k, parts, solve);
    for (int round = 0; round < ROUNDS && good; round++) {
        double largest = try_step(k, &start, parts, tolerance);
        if (!(largest > tolerance)) break;
        bool lost = !(largest < 0.7 * before); /* too large a step: the plain one, and projection after it */
        before = largest;
        for (int i = 0; i < k->rough; i++) {
            mor_island* island = &k->islands[i];
            mover* m = &parts[i].mover;
            if (parts[i].plain || (!lost && !parts[i].again)) continue;
            if (!lost && begin_mover(k, island, m) && move_answer(k, island, m)) continue;
            m->known = true, m->equations = NULL;
            if (lost) solve_plain(k, i, parts, solve);
            else solve(k, i);
            if (!mor_report_answers(k->w, &island->report)) k->status = island->report.status;
        }
        good = k->status == MOR_SOLVED || (!lost && drop_contradictions(k, parts, solve));
        if (lost) break;
    }
    const bool held = !good || mor_hold_joints(k, solve);
    if (!k->tried) mor_arena_release(k->arena, mark);
    return held ? MOR_OK : MOR_SYSTEM;
}

double mor_world_assemble(mor_world* w)
{
    mor_step* k = w->own;
    if (w->joints.count == 0 || mor_step_take(w, k)) return w->joint_error = mor_world_joint_error(w);
    mor_trial before;
    size_t mark = mor_arena_mark(k->arena);
    if (!mor_trial_begin(k, &before)) return w->joint_error = mor_world_joint_error(w);
    correct_positions(k, 1e-12, 200);
    mor_close_lost_joints(k, &before);
    mor_arena_release(k->arena, mark);
    mor_step_give_motion(w, k);
    w->detected = false;
    return w->joint_error = mor_world_joint_error(w);
}
