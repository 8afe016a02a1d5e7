/* Impulse-based stabilisation of joints.
 *
 * The step leaves a joint a violation phi of second order in h, because its rows hold at the start of the
 * step. Positions are corrected by impulses p with
 *
 *     W p = -phi(q),   q <- q (+) M^-1 G p      repeated until |phi| is within the tolerance,
 *
 * and then velocities by W p = -G' nu, nu <- nu + M^-1 G p. Adding the position impulses' velocity M^-1 G p/h, as
 * the original does before its velocity correction, changes nothing: it lies in the range that the
 * M-orthogonal velocity correction removes.
 *
 * Contacts are not asked: what a correction of size h^2 does to a gap is seen by the next step.
 *
 * J. Bender, A. Schmitt, "Fast dynamic simulation of multi-body systems using impulses", VRIPhys 2006. */
#include "step/stabilise.h"

#include "formulation/assemble.h"
#include "formulation/equations.h"
#include "formulation/rows.h"

#include <string.h>

enum { ROUNDS = 10 };

/* The equations of an island as a step without the other rows' say. */
static mor_step_form form_of(const mor_system* s)
{
    return (mor_step_form){ .tree_count = s->tree_count, .dof = s->dof, .trees = s->trees, .nu_free = s->nu, .block_count = s->block_count,
                            .row_count = s->row_count, .blocks = s->blocks, .entries = s->entries, .jacobian = s->jacobian, .response = s->response,
                            .diagonal = s->diagonal, .diagonal_start = s->diagonal_start, .bias = s->bias };
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

void mor_stabilise_joints(mor_world* w)
{
    if (w->joints.count == 0) return;
    if (w->options.stabilisation == MOR_STABILISE_IMPULSE) {
        mor_island* islands = w->islands;
        int count = w->island_count, contacts = w->contacts.count, old = w->old_contacts.count;
        w->contacts.count = w->old_contacts.count = 0;
        double *nu = w->nu, *nu_free = w->nu_free, *nu_new = w->nu_new;
        size_t mark = mor_arena_mark(w->arena);
        for (int round = 0; round < ROUNDS; round++) {
            double largest = correct(w, false, w->options.position_tolerance);
            mor_arena_release(w->arena, mark);
            if (!(largest > w->options.position_tolerance) || w->out_of_memory) break;
        }
        if (!w->out_of_memory) correct(w, true, w->options.velocity_tolerance);
        mor_arena_release(w->arena, mark);
        w->islands = islands;
        w->island_count = count;
        w->contacts.count = contacts;
        w->old_contacts.count = old;
        w->nu = nu, w->nu_free = nu_free, w->nu_new = nu_new;
    }
    w->joint_error = mor_world_joint_error(w);
}
