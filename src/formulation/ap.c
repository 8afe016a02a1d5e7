/* Anitescu-Potra time stepping: Stewart-Trinkle without the psi/h term (MATH section 2).
 *
 *     0 <= p_n _|_ G_n' nu+ + d(psi)/dt >= 0        for contacts with psi < epsilon
 *
 * A contact within epsilon may not approach at all, so a body hovers at the distance where its contact became active;
 * penetration is not corrected. Contacts farther than epsilon, which the widened reach of the collision stage may
 * report, take no part. That is meant for steps whose ways are short beside epsilon. Where a contact would go through
 * in this step (through.c), or ten times epsilon deep, it stops at the surface, as with st, and so do the others of the
 * island; else the body would come out again where it likes, as fast as it came. A contact that bounces does so at the
 * distance it has when the step begins:
 *
 *     G_n' nu+ + d(psi)/dt >= e |approach|          if it approaches faster than v_rest
 *
 * (of several contacts of two bodies those that come first).
 *
 * M. Anitescu, F. A. Potra, "Formulating dynamic multi-rigid-body contact problems with friction as
 * solvable linear complementarity problems", Nonlinear Dynamics 14 (1997) 231-247. */
#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "formulation/through.h"

#include <math.h>

#define TOO_DEEP 10.0 /* times epsilon */
#define SAME 1e-6     /* of epsilon: gaps that differ by less are those of a flat landing */

static bool same_trees(const mor_system* s, const mor_block* a, const mor_block* b)
{
    if (a->entry_count != b->entry_count) return false;
    for (int e = 0; e < a->entry_count; e++)
        if (s->entries[a->entry + e].tree != s->entries[b->entry + e].tree) return false;
    return true;
}

/* Is no other contact of the same bodies nearer? Rows that guard what may turn in the blow, as the ball about a plate's
 * centre, are farther than the contact that bounces. */
static bool comes_first(const mor_system* s, int i)
{
    const mor_contact_row* c = &s->contacts[i];
    for (int j = 0; j < s->contact_count; j++) {
        const mor_contact_row* other = &s->contacts[j];
        const bool nearer = other->gap < c->gap - SAME * c->epsilon && other->approach < 0.0;
        if (nearer && same_trees(s, &s->blocks[c->block], &s->blocks[other->block])) return false;
    }
    return true;
}

static mor_report ap_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    (void)options;
    double* bias = mor_arena_alloc(stage->arena, (size_t)s->row_count * sizeof *bias);
    bool* keep = mor_arena_alloc(stage->arena, (size_t)s->block_count * sizeof *keep);
    if (!bias || !keep) return mor_report_no_memory();
    for (int i = 0; i < s->block_count; i++) keep[i] = true;
    mor_bias_drift(s, bias);
    bool fast = false;
    for (int i = 0; i < s->contact_count && !fast; i++)
        fast =
            s->contacts[i].gap >= s->contacts[i].epsilon && mor_goes_through(s, i, TOO_DEEP * s->contacts[i].epsilon);
    for (int i = 0; i < s->contact_count; i++) {
        const mor_contact_row* c = &s->contacts[i];
        const bool near = c->gap < c->epsilon;
        const bool bounces = c->restitution > 0.0 && c->approach < -s->v_rest &&
                             (near || (mor_goes_through(s, i, TOO_DEEP * c->epsilon) && comes_first(s, i)));
        keep[c->block] = near || fast;
        if (!near && fast && !bounces) bias[s->blocks[c->block].row] += c->gap / s->h;
        if (bounces) bias[s->blocks[c->block].row] += c->restitution * c->approach;
    }
    return mor_step_solve(s, s->directions, bias, keep, stage, answer);
}

const mor_formulation mor_formulation_ap = {
    .name = "ap",
    .summary = "Anitescu-Potra: contacts within epsilon may not approach",
    .reference = "anitescu1997",
    .produces = MOR_STEP_PYRAMID,
    .options_size = 0,
    .step = ap_step,
    .geometry = true,
    .turning = 2,
};
