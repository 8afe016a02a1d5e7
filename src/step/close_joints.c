/* Joints that are far open, closed by moving bodies and never by speed.
 *
 *     min sum_i phi_i(q)^2 / D_i,      D the diagonal of W = G' M^-1 G at the point at hand
 *
 * by damped Gauss-Newton steps (Levenberg, Marquardt): dq = -M^-1 G (W + e D)^-1 phi is a direction of descent for
 * every e > 0. e grows until the step makes the sum smaller and no body moves farther than is trusted; otherwise it is
 * undone. Joints that can be closed are: near a solution e goes to 0, which is Newton's method. Joints that exclude
 * each other end where G D^-1 phi = 0, the compromise that springs instead of joints would have. There the undamped
 * step has no bound, which threw bodies about.
 *
 * Before the first step this runs until it ends, and a dozen times more from places drawn near that end; what is open
 * afterwards is taken for joints that exclude each other, and those of that island are marked `apart` until a step
 * finds them closed. After a step a few rounds bring wide islands (formulation/wide.c) back to the compromise. The
 * potential energy that this adds is projection_work, and is taken out of the velocities of the island
 * as far as it has any (step/mechanism_energy.c). Joints that are apart lift bodies by no more than that: their
 * compromise must not be a source of energy.
 *
 * Cost: an assembly and a sparse factor per round, for wide islands only. References: K. Levenberg, Quart. Appl. Math.
 * 2 (1944) 164-168; D. W. Marquardt, J. SIAM 11 (1963) 431-441. */
#include "step/close_joints.h"

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "formulation/equations.h"
#include "formulation/rows.h"
#include "formulation/step_problem.h"
#include "model/joints.h"
#include "problem/step.h"
#include "step/draft.h"
#include "step/mechanism_energy.h"
#include "step/stabilise.h"

#include <math.h>
#include <string.h>

enum { FIRST_ROUNDS = 300, LOST_ROUNDS = 40, STEP_ROUNDS = 4, TRIES = 10, IDLE = 8, AGAIN = 12 };

#define LEAST 1e-9      /* of the damping e */
#define MORE 30.0       /* after a step that was undone */
#define LESS 0.01       /* after one that was not */
#define PROGRESS 0.999  /* of the sum: rounds above this are idle */
#define TURN 0.5        /* rad in a round */
#define APART_TURN 0.1  /* the same of joints that are apart, after a step */
#define SHAKEN 0.7      /* rad */
#define STILL_OPEN 10.0 /* times the tolerance: not closed */

/* What a closing may do, and how far it is with each island. */
typedef struct closing {
    bool all; /* islands that are not wide, too */
    int rounds;
    double tolerance; /* m, rad */
    double* damping;  /* by island */
    double* spare;    /* by island: energy that may be used to lift bodies [J] */
    int* idle;
    double work;
} closing;

/* phi of the equations after dq, 0 in other rows; the largest of a joint. */
static double errors_at(mor_world* w, const mor_island* island, const double* dq, double* phi)
{
    const mor_system* s = &island->system;
    double largest = 0.0;
    memset(phi, 0, (size_t)s->row_count * sizeof *phi);
    for (int r = 0; r < island->row_block_count; r++) {
        const mor_row_block* b = island->rows[r];
        const mor_block* block = &s->blocks[s->contact_count + r];
        const mor_joint_row* rows = NULL;
        double square = 0.0;
        if (b->kind != MOR_BLOCK_EQUATION) continue;
        if (b->joint >= 0) mor_joint_equations_kept(w, &((mor_joint*)w->joints.data)[b->joint], &rows);
        for (int d = 0; d < b->dim; d++) {
            double x = rows ? rows[b->of[d]].phi : b->phi[d];
            for (int e = block->entry; !rows && dq && e < block->entry + block->entry_count; e++) { /* mimics: linear */
                const mor_tree_block* t = &s->trees[s->entries[e].tree];
                for (int m = 0; m < t->dof; m++)
                    x += s->jacobian[s->entries[e].start + d * t->dof + m] * dq[t->offset + m];
            }
            phi[block->row + d] = x;
            square += x * x;
        }
        if (!(sqrt(square) <= largest)) largest = sqrt(square);
    }
    return largest;
}

/* 1/D of the equations. */
static void weights(const mor_system* s, double* out)
{
    for (int b = 0; b < s->block_count; b++)
        for (int d = 0; d < s->blocks[b].dim; d++) {
            const mor_block* block = &s->blocks[b];
            double sum = 0.0;
            for (int e = block->entry; e < block->entry + block->entry_count; e++) {
                int dof = s->trees[s->entries[e].tree].dof, at = s->entries[e].start + d * dof;
                for (int m = 0; m < dof; m++) sum += s->jacobian[at + m] * s->response[at + m];
            }
            out[block->row + d] = sum > 0.0 ? 1.0 / sum : 0.0;
        }
}

static double weighted(int n, const double* weight, const double* phi)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += weight[i] * phi[i] * phi[i];
    return sum;
}

/* How many of a tree's velocities, from the first, are of translation; slides of robots count as angles. */
static int linear_part(const mor_world* w, const mor_tree* tree)
{
    if (tree->body >= 0) return w->dimension == 2 ? 2 : 3;
    if (!tree->robot) return tree->dof;
    return tree->dof > mor_robot_joint_count(tree->robot->model) ? 3 : 0;
}

/* Does dq move a body farther than is trusted: by `far` m, or by `turn` rad? */
static bool too_far(const mor_world* w, const mor_island* island, const double* dq, double far, double turn)
{
    for (int t = 0; t < island->system.tree_count; t++) {
        const mor_tree* tree = &w->trees[island->tree_of[t]];
        const double* d = dq + island->system.trees[t].offset;
        const int linear = linear_part(w, tree);
        for (int m = 0; m < tree->dof; m++)
            if (!(fabs(d[m]) <= (m < linear ? far : turn))) return true;
    }
    return false;
}

/* The kinetic energy hardly changes (mor_tree_move), and is not yet that of velocities that fit the joints: it does not
 * count. */
static void move(mor_world* w, const mor_island* island, const double* dq)
{
    for (int t = 0; t < island->system.tree_count; t++)
        mor_tree_move(w, &w->trees[island->tree_of[t]], dq + island->system.trees[t].offset);
}

/* One round of an island; false: out of memory. */
static bool close_island(mor_step* k, int index, const mor_trial* trial, closing* c)
{
    const mor_island* island = &k->islands[index];
    const mor_system* s = &island->system;
    mor_step_form form = mor_system_form(s);
    size_t n = (size_t)s->row_count;
    double* phi = mor_arena_alloc(k->arena, n * sizeof *phi);
    double* next = mor_arena_alloc(k->arena, n * sizeof *next);
    double* weight = mor_arena_alloc(k->arena, n * sizeof *weight);
    double* p = mor_arena_zero(k->arena, n, sizeof *p);
    double* dq = mor_arena_alloc(k->arena, (size_t)s->dof * sizeof *dq);
    if (!phi || !next || !weight || !p || !dq) return false;
    double largest = errors_at(k->w, island, NULL, phi), far = 0.0;
    if (!(largest > c->tolerance)) {
        c->idle[index] = IDLE;
        return true;
    }
    double kinetic, before, after;
    mor_island_energy(k->w, island, &kinetic, &before);
    weights(s, weight);
    double sum = weighted(s->row_count, weight, phi);
    for (size_t i = 0; i < n; i++) far += fabs(phi[i]), next[i] = -phi[i];
    c->idle[index]++;
    for (int attempt = 0; attempt < TRIES; attempt++) {
        size_t mark = mor_arena_mark(k->arena);
        mor_equations* q = mor_equations_factor_damped(&form, c->damping[index], k->arena);
        if (q) {
            for (size_t i = 0; i < n; i++) next[i] = -phi[i];
            mor_equations_solve_once(&form, q, next, p);
            mor_step_change(&form, p, dq);
        }
        mor_arena_release(k->arena, mark);
        if (q && !too_far(k->w, island, dq, far, isinf(c->spare[index]) ? TURN : APART_TURN)) {
            move(k->w, island, dq);
            errors_at(k->w, island, dq, next);
            double now = weighted(s->row_count, weight, next);
            mor_island_energy(k->w, island, &kinetic, &after);
            if (now < sum && after - before <= c->spare[index]) {
                c->spare[index] -= mor_max(0.0, after - before);
                if (now < PROGRESS * sum) c->idle[index] = 0;
                c->damping[index] = mor_max(LEAST, LESS * c->damping[index]);
                k->w->trees[island->tree_of[0]].lifted += after - before;
                return true;
            }
            for (int t = 0; t < s->tree_count; t++) mor_trial_end_tree(k->w, trial, island->tree_of[t]);
        }
        c->damping[index] *= MORE;
    }
    c->idle[index] = IDLE;
    return true;
}

static bool is_apart(const mor_world* w, const mor_island* island)
{
    for (int r = 0; r < island->row_block_count; r++)
        if (island->rows[r]->joint >= 0 && ((const mor_joint*)w->joints.data)[island->rows[r]->joint].apart)
            return true;
    return false;
}

/* Rounds over all islands that take part; the last assembly stays in *beside. */
static mor_code close_all(const mor_step* k, mor_step* beside, closing* c)
{
    *beside = mor_step_beside(k);
    beside->equations = true;
    double before = mor_world_potential_energy(k->w);
    for (int round = 0; round < c->rounds; round++) {
        size_t mark = mor_arena_mark(k->arena);
        mor_trial trial;
        if (!mor_assemble(beside)) return MOR_SYSTEM;
        if (round == 0) {
            c->damping = mor_arena_alloc(k->arena, ((size_t)beside->island_count + 1) * sizeof *c->damping);
            c->idle = mor_arena_zero(k->arena, (size_t)beside->island_count + 1, sizeof *c->idle);
            c->spare = mor_arena_alloc(k->arena, ((size_t)beside->island_count + 1) * sizeof *c->spare);
            if (!c->damping || !c->idle || !c->spare) return MOR_SYSTEM;
            for (int i = 0; i < beside->island_count; i++) {
                double kinetic, potential;
                mor_island_energy(k->w, &beside->islands[i], &kinetic, &potential);
                c->damping[i] = LEAST;
                c->spare[i] = is_apart(k->w, &beside->islands[i]) ? kinetic : INFINITY;
            }
            mark = mor_arena_mark(k->arena);
        }
        if (!mor_trial_begin(beside, &trial)) return MOR_SYSTEM;
        bool any = false;
        for (int i = 0; i < beside->island_count; i++) {
            if (round >= STEP_ROUNDS && isfinite(c->spare[i])) continue;
            if (c->idle[i] >= IDLE || !(c->all || beside->islands[i].wide)) continue;
            any = true;
            if (!close_island(beside, i, &trial, c)) return MOR_SYSTEM;
        }
        if (!any) break;
        mor_arena_release(k->arena, mark);
    }
    c->work += mor_world_potential_energy(k->w) - before;
    return MOR_OK;
}

/* The largest error of every island now, in the order of the assembly. */
static mor_code island_errors(const mor_step* k, mor_step* beside, double** errors)
{
    *beside = mor_step_beside(k);
    beside->equations = true;
    if (!mor_assemble(beside)) return MOR_SYSTEM;
    *errors = mor_arena_zero(k->arena, (size_t)beside->island_count + 1, sizeof **errors);
    for (int i = 0; *errors && i < beside->island_count; i++) {
        const mor_island* island = &beside->islands[i];
        double* phi = mor_arena_alloc(k->arena, ((size_t)island->system.row_count + 1) * sizeof *phi);
        if (!phi) return MOR_SYSTEM;
        (*errors)[i] = errors_at(k->w, island, NULL, phi);
    }
    return *errors ? MOR_OK : MOR_SYSTEM;
}

/* Moves the bodies of an island somewhere near, by about `far` m and SHAKEN rad. */
static bool shake(const mor_step* k, const mor_island* island, double far, mor_rng* rng)
{
    double* dq = mor_arena_zero(k->arena, (size_t)island->system.dof + 1, sizeof *dq);
    if (!dq) return false;
    for (int t = 0; t < island->system.tree_count; t++) {
        const mor_tree* tree = &k->w->trees[island->tree_of[t]];
        const int linear = linear_part(k->w, tree);
        for (int m = 0; m < tree->dof; m++)
            dq[island->system.trees[t].offset + m] = (2.0 * mor_rng_uniform(rng) - 1.0) * (m < linear ? far : SHAKEN);
    }
    move(k->w, island, dq);
    return true;
}

/* Islands that stayed open once more from somewhere near: a descent may end where only its own neighbourhood is worse.
 * What does not help is undone. */
static mor_code try_again(const mor_step* k, double tolerance, closing* c, mor_rng* rng, bool* open)
{
    mor_step beside;
    mor_trial before;
    double *old, *now;
    mor_code code = island_errors(k, &beside, &old);
    if (code) return code;
    if (!mor_trial_begin(k, &before)) return MOR_SYSTEM;
    *open = false;
    for (int i = 0; i < beside.island_count; i++) {
        if (!(old[i] > STILL_OPEN * tolerance)) continue;
        *open = true;
        if (!shake(k, &beside.islands[i], old[i], rng)) return MOR_SYSTEM;
    }
    if (!*open) return MOR_OK;
    if ((code = close_all(k, &beside, c)) || (code = island_errors(k, &beside, &now))) return code;
    for (int i = 0; i < beside.island_count; i++) {
        if (!(old[i] > STILL_OPEN * tolerance) || now[i] <= STILL_OPEN * tolerance) continue;
        for (int t = 0; t < beside.islands[i].system.tree_count; t++)
            mor_trial_end_tree(k->w, &before, beside.islands[i].tree_of[t]);
    }
    return MOR_OK;
}

/* Marks the joints of islands that are still open. */
static mor_code mark_apart(const mor_step* k, double tolerance)
{
    mor_step beside;
    double* errors;
    mor_joint* joints = k->w->joints.data;
    mor_code code = island_errors(k, &beside, &errors);
    for (int i = 0; !code && i < beside.island_count; i++) {
        const mor_island* island = &beside.islands[i];
        for (int r = 0; r < island->row_block_count; r++)
            if (island->rows[r]->joint >= 0) joints[island->rows[r]->joint].apart = errors[i] > STILL_OPEN * tolerance;
    }
    return code;
}

mor_code mor_joints_close(mor_step* k)
{
    mor_world* w = k->w;
    mor_joint* joints = w->joints.data;
    for (int i = 0; i < w->joints.count; i++) joints[i].apart = false;
    double tolerance = mor_joint_tolerance(w);
    if (!(mor_joint_error_kept(w) > tolerance)) return MOR_OK;
    closing c = { .all = true, .rounds = FIRST_ROUNDS, .tolerance = 0.01 * tolerance };
    mor_step beside;
    size_t mark = mor_arena_mark(k->arena);
    double before = mor_world_potential_energy(w);
    mor_code code = close_all(k, &beside, &c);
    mor_rng rng = { 1 };
    bool open = !code;
    for (int i = 0; i < AGAIN && !code && open; i++) code = try_again(k, tolerance, &c, &rng, &open);
    k->projection_work += mor_world_potential_energy(w) - before;
    if (!code) code = mark_apart(k, tolerance);
    mor_arena_release(k->arena, mark);
    return code;
}

mor_code mor_joints_begin(mor_world* w, mor_step* k)
{
    const mor_formulation* f = w->formulation;
    if (w->joints.count == 0 || w->joints_seen == w->revision + 1 || w->stored) return MOR_OK;
    w->joints_seen = w->revision + 1;
    if (w->options.stabilisation == MOR_STABILISE_NONE || w->on_integrate) return MOR_OK;
    if (f->explicit_positions && f->explicit_positions(w->formulation_options)) return MOR_OK;
    if (!(mor_world_joint_error(w) > mor_joint_tolerance(w))) return MOR_OK;
    mor_code code = mor_step_take(w, k);
    if (code) return code;
    k->projection_work = 0.0;
    if ((code = mor_joints_close(k))) return code;
    for (int i = 0; i < w->joints.count; i++)
        ((mor_joint*)w->joints.data)[i].apart = ((const mor_joint*)k->w->joints.data)[i].apart;
    if (w->step > 0) return mor_step_take(w, k);
    w->start_work += k->projection_work;
    w->detected = false;
    mor_step_give_motion(w, k);
    return MOR_OK;
}

/* The largest error of joints that are not held. */
static double free_error(mor_world* w)
{
    double largest = 0.0;
    mor_joint* joints = w->joints.data;
    for (int i = 0; i < w->joints.count; i++) {
        const mor_joint_row* rows;
        int n = joints[i].held ? 0 : mor_joint_equations_kept(w, &joints[i], &rows);
        double square = 0.0;
        for (int d = 0; d < n; d++) square += rows[d].phi * rows[d].phi;
        if (!(sqrt(square) <= largest)) largest = sqrt(square);
    }
    return largest;
}

mor_code mor_close_lost_joints(mor_step* k, const mor_trial* before)
{
    double tolerance = mor_joint_tolerance(k->w);
    double newton = free_error(k->w);
    if (newton <= STILL_OPEN * tolerance) return MOR_OK;
    size_t mark = mor_arena_mark(k->arena);
    mor_trial after;
    if (!mor_trial_begin(k, &after)) return MOR_SYSTEM;
    mor_trial_end(k->w, before);
    closing c = { .all = true, .rounds = LOST_ROUNDS, .tolerance = 0.01 * tolerance };
    mor_step beside;
    double start = mor_world_potential_energy(k->w);
    mor_code code = close_all(k, &beside, &c);
    if (!code && free_error(k->w) > mor_max(newton, STILL_OPEN * tolerance)) { /* from the other side */
        mor_trial_end(k->w, &after);
        code = close_all(k, &beside, &c);
    }
    k->projection_work += mor_world_potential_energy(k->w) - start;
    mor_arena_release(k->arena, mark);
    return code;
}

mor_code mor_close_wide_joints(mor_step* k)
{
    bool any = false;
    for (int i = 0; i < k->island_count && !any; i++) any = k->islands[i].wide;
    if (!any) return MOR_OK;
    mor_world* w = k->w;
    closing c = { .rounds = LOST_ROUNDS, .tolerance = 0.01 * mor_joint_tolerance(w) };
    mor_step beside;
    size_t mark = mor_arena_mark(k->arena);
    mor_code code = close_all(k, &beside, &c);
    k->projection_work += c.work;
    w->joint_error = mor_joint_error_kept(w);
    if (!code && w->joint_error <= mor_joint_tolerance(w))
        for (int i = 0; i < w->joints.count; i++) ((mor_joint*)w->joints.data)[i].apart = false;
    mor_arena_release(k->arena, mark);
    return code;
}
