/* Impulse-based stabilisation of joints.
 *
 * The rows of a joint hold at the start of the step, so the step would leave it a violation of second order in h.
 * Positions: the step is tried, phi at its end is added to the rows,
 *
 *     G(q)' nu+ + (sum of phi(q (+) h nu+) so far)/h = 0,
 *
 * and the island is solved again, contacts and all, from the last answer, until |phi| is within the tolerance. An
 * island with equations only is linear: its answer moves by W^-1 (-phi/h), with one factor for all rounds of the step.
 * The sum hardly changes from step to step, so it begins with the last one's. The impulses act along G(q), as in SHAKE.
 * Velocities: after the step W p = -G(q+)' nu, nu <- nu + M^-1 G(q+) p, which makes the pair RATTLE: second order, and
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

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "formulation/equations.h"
#include "formulation/rows.h"
#include "model/joints.h"
#include "problem/step.h"

#include <string.h>

enum { ROUNDS = 10 };

#define ROUNDING 1e-12 /* of the velocities of an island: rows that hold within this hold */

/* The equations of an island as a step without the other rows' say. */
static mor_step_form form_of(const mor_system* s)
{
    return (mor_step_form){ .tree_count = s->tree_count,
                            .dof = s->dof,
                            .trees = s->trees,
                            .nu_free = s->nu,
                            .block_count = s->block_count,
                            .row_count = s->row_count,
                            .blocks = s->blocks,
                            .entries = s->entries,
                            .jacobian = s->jacobian,
                            .response = s->response,
                            .diagonal = s->diagonal,
                            .diagonal_start = s->diagonal_start,
                            .bias = s->bias };
}

/* delta = M^-1 G p with W p = rhs, for one island; false if it cannot be solved. */
static bool correction(mor_world* w, const mor_system* s, const double* rhs, double* delta)
{
    mor_step_form form = form_of(s);
    double* p = mor_arena_zero(w->arena, (size_t)s->row_count, sizeof *p);
    if (!p || !mor_equations_solve(&form, rhs, p, w->arena)) return false;
    mor_system_velocity(s, p, delta);
    for (int i = 0; i < s->dof; i++) delta[i] -= s->nu_free[i];
    return true;
}

/* Minus the rows of phi, or of G' nu, of an island's equations; returns the largest norm of a joint's. */
static double violation(const mor_island* island, bool velocity, double* out)
{
    const mor_system* s = &island->system;
    double largest = 0.0;
    memset(out, 0, (size_t)s->row_count * sizeof *out);
    for (int r = 0; r < island->row_block_count; r++) {
        const mor_block* b = &s->blocks[s->contact_count + r];
        if (b->kind != MOR_BLOCK_EQUATION) continue;
        double square = 0.0;
        for (int d = 0; d < b->dim; d++) {
            double x = island->rows[r]->phi[d];
            if (velocity) {
                x = island->rows[r]->drift[d];
                for (int e = b->entry; e < b->entry + b->entry_count; e++) {
                    const mor_tree_block* t = &s->trees[s->entries[e].tree];
                    const double* J = s->jacobian + s->entries[e].start + d * t->dof;
                    for (int m = 0; m < t->dof; m++) x += J[m] * s->nu[t->offset + m];
                }
            }
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
static double correct(mor_world* w, bool velocity, double tolerance)
{
    mor_assemble(w);
    double largest = 0.0;
    for (int i = 0; i < w->island_count && !w->out_of_memory; i++) {
        const mor_system* s = &w->islands[i].system;
        double* rhs = mor_arena_alloc(w->arena, (size_t)s->row_count * sizeof *rhs);
        double* delta = mor_arena_alloc(w->arena, (size_t)s->dof * sizeof *delta);
        if (!rhs || !delta) {
            w->out_of_memory = true;
            break;
        }
        double size = violation(&w->islands[i], velocity, rhs);
        if (!(size <= largest)) largest = size;
        if (size > tolerance && correction(w, s, rhs, delta)) apply(w, &w->islands[i], delta, velocity);
    }
    return largest;
}

mor_step_memory mor_step_set_aside(mor_world* w)
{
    mor_step_memory k = { w->islands, w->island_count, w->contacts.count, w->old_contacts.count,
                          w->nu,      w->nu_free,      w->nu_new };
    w->contacts.count = w->old_contacts.count = 0;
    return k;
}

void mor_step_put_back(mor_world* w, const mor_step_memory* k)
{
    w->islands = k->islands;
    w->island_count = k->island_count;
    w->contacts.count = k->contacts;
    w->old_contacts.count = k->old;
    w->nu = k->nu, w->nu_free = k->nu_free, w->nu_new = k->nu_new;
}

static void correct_positions(mor_world* w, double tolerance, int rounds)
{
    size_t mark = mor_arena_mark(w->arena);
    for (int round = 0; round < rounds; round++) {
        double largest = correct(w, false, tolerance);
        mor_arena_release(w->arena, mark);
        if (!(largest > tolerance) || w->out_of_memory) break;
    }
}

/* Islands whose positions move with a share of the end velocity take the rest back of what equations gave it
 * (formulation/springs.c). */
static void take_back(mor_world* w)
{
    for (int i = 0; i < w->island_count; i++) {
        const mor_island* island = &w->islands[i];
        const mor_system* s = &island->system;
        double rest = 1.0 - w->trees[island->tree_of[0]].share;
        if (!(rest > 0.0)) continue;
        size_t mark = mor_arena_mark(w->arena);
        double* delta = mor_arena_zero(w->arena, (size_t)s->dof, sizeof *delta);
        bool any = false;
        for (int b = s->contact_count; delta && b < s->block_count; b++) {
            const mor_block* block = &s->blocks[b];
            if (block->kind != MOR_BLOCK_EQUATION) continue;
            any = true;
            for (int e = block->entry; e < block->entry + block->entry_count; e++) {
                const mor_tree_block* t = &s->trees[s->entries[e].tree];
                const double* Y = s->response + s->entries[e].start;
                for (int d = 0; d < block->dim; d++)
                    for (int m = 0; m < t->dof; m++)
                        delta[t->offset + m] -= rest * Y[d * t->dof + m] * island->answer.impulses[block->row + d];
            }
        }
        if (any) apply(w, island, delta, true);
        if (!delta) w->out_of_memory = true;
        mor_arena_release(w->arena, mark);
    }
}

void mor_stabilise_velocities(mor_world* w)
{
    if (w->joints.count == 0) return;
    take_back(w);
    if (w->options.stabilisation == MOR_STABILISE_IMPULSE || w->options.stabilisation == MOR_STABILISE_PROJECTION) {
        mor_step_memory k = mor_step_set_aside(w);
        if (mor_world_joint_error(w) > w->options.position_tolerance)
            correct_positions(w, w->options.position_tolerance, ROUNDS);
        size_t mark = mor_arena_mark(w->arena);
        correct(w, true, w->options.velocity_tolerance);
        mor_arena_release(w->arena, mark);
        mor_step_put_back(w, &k);
    }
    w->joint_error = mor_world_joint_error(w);
}

/* The state a trial step changes: motion of bodies, bases and joints of robots. */
typedef struct motion {
    mor_vec3 x, v, w, L;
    mor_quat q;
    double angle;
} motion;

typedef struct state {
    motion* bodies;
    double** robots;
} state;

static void carry_robot(mor_robot* r, double* at, bool store)
{
    size_t n = (size_t)mor_robot_joint_count(r->model), N = (size_t)mor_robot_dof(r->model);
    if (store) {
        memcpy(at, &r->base, sizeof r->base);
        memcpy(at + 7, r->s, n * sizeof(double));
        memcpy(at + 7 + n, r->nu, N * sizeof(double));
    } else {
        memcpy(&r->base, at, sizeof r->base);
        memcpy(r->s, at + 7, n * sizeof(double));
        memcpy(r->nu, at + 7 + n, N * sizeof(double));
    }
}

static bool save(mor_world* w, state* s)
{
    s->bodies = mor_arena_alloc(w->arena, (size_t)w->body_count * sizeof *s->bodies);
    s->robots = mor_arena_zero(w->arena, (size_t)w->robot_count + 1, sizeof *s->robots);
    if (!s->bodies || !s->robots) return false;
    for (int i = 0; i < w->body_count; i++) {
        const mor_body* b = &w->bodies[i];
        s->bodies[i] = (motion){ b->x, b->v, b->w, b->L, b->q, b->angle };
    }
    for (int i = 0; i < w->robot_count; i++) {
        size_t count = (size_t)(7 + mor_robot_joint_count(w->robots[i]->model) + mor_robot_dof(w->robots[i]->model));
        if (!(s->robots[i] = mor_arena_alloc(w->arena, count * sizeof(double)))) return false;
        carry_robot(w->robots[i], s->robots[i], true);
    }
    return true;
}

static void bring_back(mor_world* w, const state* s)
{
    for (int i = 0; i < w->body_count; i++) {
        const motion* m = &s->bodies[i];
        mor_body* b = &w->bodies[i];
        b->x = m->x, b->v = m->v, b->w = m->w, b->L = m->L, b->q = m->q, b->angle = m->angle;
    }
    for (int i = 0; i < w->robot_count; i++) {
        mor_robot* r = w->robots[i];
        carry_robot(r, s->robots[i], false);
        mor_robot_update(r->model, r->work, &r->base, r->s, r->nu);
    }
}

static bool has_joint_rows(const mor_world* w)
{
    for (int i = 0; i < w->island_count; i++)
        for (int r = 0; r < w->islands[i].row_block_count; r++)
            if (w->islands[i].rows[r]->joint >= 0) return true;
    return false;
}

/* Adds phi at the end of the step to the rows of an island; the largest norm of a joint. */
static double add_violation(mor_world* w, mor_island* island)
{
    const mor_system* s = &island->system;
    double largest = 0.0, *bias = (double*)s->bias; /* the assembly's own array */
    double h = w->h * w->trees[island->tree_of[0]].share;
    mor_joint* joints = w->joints.data;
    for (int r = 0; r < island->row_block_count; r++) {
        mor_row_block* b = island->rows[r];
        if (b->joint < 0) continue;
        mor_joint_row rows[6];
        mor_joint_equations(w, &joints[b->joint], rows);
        double square = 0.0;
        for (int k = 0; k < b->dim; k++) {
            double phi = rows[b->of[k]].phi;
            square += phi * phi;
            bias[s->blocks[s->contact_count + r].row + k] += phi / h;
            joints[b->joint].correction[b->of[k]] += phi / h;
        }
        if (!(sqrt(square) <= largest)) largest = sqrt(square);
    }
    return largest;
}

/* Begins the sums of an island's joints with what is in the rows already; or takes that out of the rows. */
static void begin_corrections(mor_world* w, const mor_island* island, bool without)
{
    mor_joint* joints = w->joints.data;
    double* bias = (double*)island->system.bias;
    for (int r = 0; r < island->row_block_count; r++) {
        const mor_row_block* b = island->rows[r];
        if (b->joint < 0) continue;
        memset(joints[b->joint].correction, 0, sizeof joints[b->joint].correction);
        for (int k = 0; k < b->dim; k++) {
            if (without) bias[island->system.blocks[island->system.contact_count + r].row + k] -= b->predicted[k];
            else joints[b->joint].correction[b->of[k]] = b->predicted[k];
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
static bool begin_mover(mor_world* w, const mor_island* island, mover* m)
{
    const mor_system* s = &island->system;
    if (m->known) return m->equations != NULL;
    m->known = true;
    if (!m->bias || s->contact_count > 0 || s->block_count == 0 || w->on_solve) return false;
    for (int i = 0; i < s->block_count; i++)
        if (s->blocks[i].kind != MOR_BLOCK_EQUATION) return false;
    m->form = form_of(s);
    m->phi = mor_arena_zero(w->arena, (size_t)s->row_count, sizeof(double));
    m->p = mor_arena_zero(w->arena, (size_t)s->row_count, sizeof(double));
    m->delta = mor_arena_alloc(w->arena, (size_t)s->dof * sizeof(double));
    if (!m->phi || !m->p || !m->delta) return false;
    m->fastest = 1.0;
    for (int i = 0; i < s->row_count; i++) m->fastest = mor_max(m->fastest, fabs(m->bias[i]));
    for (int i = 0; i < s->dof; i++) m->fastest = mor_max(m->fastest, fabs(island->answer.nu[i]));
    double off = rows_off(m, island);
    if (!(off <= ROUNDING * m->fastest || off <= w->solver_options.tol)) return false;
    m->equations = mor_equations_factor(&m->form, w->arena);
    return m->equations != NULL;
}

/* What add_violation put into the rows moves the answer. False: the rows do not hold afterwards, it has to be solved
 * for. */
static bool move_answer(mor_world* w, mor_island* island, mover* m)
{
    const mor_system* s = &island->system;
    for (int i = 0; i < s->row_count; i++) m->phi[i] = m->bias[i] - s->bias[i];
    if (!mor_equations_solve_again(&m->form, m->equations, m->phi, m->p)) return false;
    mor_system_velocity(s, m->p, m->delta);
    for (int i = 0; i < s->row_count; i++) island->answer.impulses[i] += m->p[i];
    for (int i = 0; i < s->dof; i++) island->answer.nu[i] += m->delta[i] - s->nu_free[i];
    memcpy(m->bias, s->bias, (size_t)s->row_count * sizeof(double));
    double off = rows_off(m, island);
    if (!(off <= ROUNDING * m->fastest || off <= w->solver_options.tol)) return false;
    island->report.residual.velocity = mor_max(island->report.residual.velocity, off);
    for (int t = 0; t < s->tree_count; t++)
        memcpy(w->nu_new + w->trees[island->tree_of[t]].offset, island->answer.nu + s->trees[t].offset,
               (size_t)s->trees[t].dof * sizeof(double));
    return true;
}

mor_status mor_stabilise_positions(mor_world* w, mor_status status, void (*solve)(mor_world* world, int island))
{
    if (w->joints.count == 0 || w->options.stabilisation != MOR_STABILISE_IMPULSE || w->on_integrate) return status;
    if (!has_joint_rows(w)) return status;
    size_t mark = mor_arena_mark(w->arena);
    state start;
    if (!save(w, &start)) {
        w->out_of_memory = true;
        return MOR_NUMERICAL;
    }
    double** first = mor_arena_zero(w->arena, (size_t)w->island_count + 1, sizeof *first);
    mover* movers = mor_arena_zero(w->arena, (size_t)w->island_count + 1, sizeof *movers);
    double before = INFINITY;
    for (int i = 0; i < w->island_count; i++) begin_corrections(w, &w->islands[i], false);
    for (int i = 0; first && movers && i < w->island_count; i++) {
        size_t rows = (size_t)w->islands[i].system.row_count;
        first[i] = mor_arena_alloc(w->arena, rows * sizeof(double));
        movers[i].bias = mor_arena_alloc(w->arena, rows * sizeof(double));
        if (first[i]) memcpy(first[i], w->islands[i].system.bias, rows * sizeof(double));
        if (movers[i].bias) memcpy(movers[i].bias, w->islands[i].system.bias, rows * sizeof(double));
    }
    for (int round = 0; round < ROUNDS && status == MOR_SOLVED; round++) {
        mor_integrate_bodies(w);
        double largest = 0.0;
        bool again[64] = { false };
        for (int i = 0; i < w->island_count; i++) {
            double size = add_violation(w, &w->islands[i]);
            if (i < 64) again[i] = size > w->options.position_tolerance;
            if (!(size <= largest)) largest = size;
        }
        bring_back(w, &start);
        if (!(largest > w->options.position_tolerance)) break;
        bool lost = !(largest < 0.7 * before); /* too large a step: the plain one, and projection after it */
        before = largest;
        for (int i = 0; lost && i < w->island_count; i++) {
            if (first && first[i])
                memcpy((double*)w->islands[i].system.bias, first[i],
                       (size_t)w->islands[i].system.row_count * sizeof(double));
            begin_corrections(w, &w->islands[i], true);
            if (i < 64) again[i] = true;
        }
        for (int i = 0; i < w->island_count; i++) {
            if (i < 64 && !again[i]) continue;
            if (movers && !lost && begin_mover(w, &w->islands[i], &movers[i]) &&
                move_answer(w, &w->islands[i], &movers[i]))
                continue;
            if (movers) movers[i].known = true, movers[i].equations = NULL;
            solve(w, i);
            if (w->islands[i].report.status != MOR_SOLVED) status = w->islands[i].report.status;
        }
        if (lost) break;
    }
    mor_arena_release(w->arena, mark);
    return status;
}

double mor_world_assemble(mor_world* w)
{
    if (w->joints.count == 0) return 0.0;
    mor_step_memory k = mor_step_set_aside(w);
    correct_positions(w, 1e-12, 200);
    mor_step_put_back(w, &k);
    w->detected = false;
    return w->joint_error = mor_world_joint_error(w);
}
