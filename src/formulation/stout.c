/* Masses for projections of positions that would turn a thin body too far.
 *
 * A projection moves bodies by dq = M^-1 G p, linear in the turn. A rod that is pushed at its side has hardly any
 * inertia about its long axis: one pass turned it by 21 rad there, the next one by as much again, and it stayed deep.
 * In which mass the least motion is measured is free to choose, so such a pass is solved again with the inertia
 *
 *     I + s tr(I) 1,     s = 0.05,
 *
 * in which bodies turn by hardly more than they move. Cost: one more solve, of passes that turn a body far only. */
#include "formulation/stout.h"

#include <string.h>

#define MORE 0.05 /* s */
#define FAR 0.5   /* rad: beyond this a turn is not linear */

void mor_stout_mass(const double* M, double* out, double* inverse)
{
    const double more = MORE * (M[21] + M[28] + M[35]);
    mor_mat3 I;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) I.m[i][j] = M[21 + 6 * i + j] + (i == j ? more : 0.0);
    const mor_mat3 inverted = mor_mat3_inverse(&I);
    if (out != M) memcpy(out, M, 36 * sizeof *out);
    memset(inverse, 0, 36 * sizeof *inverse);
    for (int i = 0; i < 3; i++) {
        inverse[7 * i] = 1.0 / M[7 * i];
        for (int j = 0; j < 3; j++) {
            out[21 + 6 * i + j] = I.m[i][j];
            inverse[21 + 6 * i + j] = inverted.m[i][j];
        }
    }
}

bool mor_turns_far(const mor_world* w, const mor_island* island, const double* dq)
{
    for (int t = 0; t < island->system.tree_count; t++) {
        const double* turn = dq + island->system.trees[t].offset + 3;
        if (w->trees[island->tree_of[t]].kind == &mor_tree_free &&
            turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] > FAR * FAR)
            return true;
    }
    return false;
}
