/* What methods with a fixed budget share: they visit contacts, four at a time (solver/packs.h), and rows of joints, one
 * after the other, a given number of times, whatever error is left, and say so. The report's status is MOR_APPROXIMATE;
 * its residual is that of the exact step (`ncp`) with the impulses found, so that they can be compared with methods
 * that solve it. */
#ifndef MOREAU_FORMULATION_BUDGET_H
#define MOREAU_FORMULATION_BUDGET_H

#include "moreau/world.h"
#include "solver/packs.h"

#include <math.h>

/* The contacts of a pack. */
typedef struct mor_budget_pack {
    mor_four p[MOR_PACK_ROWS], drift[MOR_PACK_ROWS]; /* impulses; motion of belts and kinematic bodies */
    mor_four gap, friction;
} mor_budget_pack;

typedef struct mor_budget {
    const mor_system* s;
    mor_step_form form;
    mor_packs packs;
    mor_budget_pack* contacts; /* of each pack */
} mor_budget;

/* Packs the contacts of the island, with these impulses. k must stay where it is. False: out of memory. */
bool mor_budget_open(mor_budget* k, const mor_system* system, const double* impulses, const mor_solve_stage* stage);
/* impulses += those of the contacts. */
void mor_budget_add_impulses(const mor_budget* k, double* impulses);
/* v += M^-1 G p of contacts and joints, by rows. */
void mor_budget_push_all(const mor_budget* k, const double* joints, double* v);
/* One visit to every joint, limit and motor: rows in turn, as the step assembles them. Bounds are impulses of a whole
 * step, of which this is `share`. impulses: their part of v. */
void mor_budget_joints(const mor_budget* k, double share, double* impulses, double* v);
/* answer->nu is the velocity of the end, dq how far the positions moved: fills answer->shift. */
void mor_budget_positions(const mor_system* system, const double* dq, mor_answer* answer);
/* The report, with the error that is left. nu: nu_free + M^-1 G p of the impulses, NULL: not known. */
mor_report mor_budget_report(const mor_budget* k, const mor_answer* answer, const double* nu, int visits,
                             mor_arena* arena);
/* mor_formulation.overlaps of these methods: they undo penetration by themselves, a part of it in each step. */
bool mor_budget_overlaps(const void* options);

/* Friction of a pack at its normal impulses p[0]: the tangential part of `target` - p, shortened so that
 * |p_T| <= mu p_N (the disc), is pushed. */
MOR_ALWAYS_INLINE void mor_budget_friction(const mor_budget* k, const mor_pack* q, const mor_four* friction,
                                           const mor_four* target, mor_four* p, mor_pack_view* view, double* v)
{
    const mor_four square = target[1] * target[1] + target[2] * target[2], limit = *friction * p[0];
    const mor_four size = { sqrt(square[0]), sqrt(square[1]), sqrt(square[2]), sqrt(square[3]) };
    const mor_four factor = MOR_FOUR_SELECT(size > limit, limit / size, ((mor_four){ 1, 1, 1, 1 }));
    for (int d = 1; d < MOR_PACK_ROWS; d++) {
        const mor_four next = target[d] * factor, more = next - p[d];
        mor_pack_push(&k->packs, q, d, &more, view, v);
        p[d] = next;
    }
}

#endif
