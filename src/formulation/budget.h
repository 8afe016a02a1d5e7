/* What methods with a fixed budget share: they visit rows one after the other a given number of times, whatever error
 * is left, and say so. The report's status is MOR_APPROXIMATE; its residual is that of the exact step (`ncp`) with the
 * impulses found, so that they can be compared with methods that solve it. */
#ifndef MOREAU_FORMULATION_BUDGET_H
#define MOREAU_FORMULATION_BUDGET_H

#include "moreau/world.h"

/* G_i' nu of row `row` of a block. */
double mor_budget_speed(const mor_system* system, const mor_block* block, int row, const double* nu);
/* nu += M^-1 G_i p of row `row` of a block. */
void mor_budget_push(const mor_system* system, const mor_block* block, int row, double p, double* nu);
/* W_ii of row `row` of block number `block`. */
double mor_budget_inertia(const mor_system* system, int block, int row);
/* Friction of a contact at the impulse p: the tangential part of `target` - p, shortened so that |p_T| <= mu p_N (the
 * disc), is pushed. */
void mor_budget_friction(const mor_system* system, int contact, const double* target, double* p, double* nu);
/* One visit to every joint, limit and motor: rows in turn, as the step assembles them. Bounds are impulses of a whole
 * step, of which this is `share`. impulses: their part of nu. */
void mor_budget_joints(const mor_system* system, double share, double* impulses, double* nu);
/* answer->nu is the velocity of the end, dq how far the positions moved: fills answer->shift. */
void mor_budget_positions(const mor_system* system, const double* dq, mor_answer* answer);
/* The report, with the error that is left. */
mor_report mor_budget_report(const mor_system* system, const mor_answer* answer, int visits, mor_arena* arena);
/* mor_formulation.overlaps of these methods: they undo penetration by themselves, a part of it in each step. */
bool mor_budget_overlaps(const void* options);

#endif
