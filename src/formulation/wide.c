/* Joints that exclude each other.
 *
 * The rows of a step ask for the velocity phi/h that closes a joint within it. That is right for what a step leaves.
 * Asked of joints that exclude each other (a four-bar whose lengths do not close), phi/h is speed from nothing: the
 * rows are nearly dependent and the speeds grow without bound.
 *
 * An island with joints that were found to exclude each other before the first step (step/close_joints.c) is therefore
 * asked to hold its joints as they are, G' nu+ + d(phi)/dt = 0: rest fulfils these rows, whatever else contradicts. The
 * bodies are moved towards each other after the step, without speed. Joints that a step opens far, because bodies turn
 * by radians in it, are left to the rows: moving bodies at once would carry them through what they touch.
 *
 * Contacts may keep joints open, too, by less than is tolerated: bodies that friction holds cannot close what rounding
 * has opened. Rows that ask for it contradict the contacts by phi/h, and no method reaches its goal. Where the last
 * step found that (step/stabilise.c), an island at rest holds its joints as they are. */
#include "base/elementary.h"
#include "formulation/rows.h"

#include <math.h>

#define SMALL 3e-5 /* of the radius of the smallest shape on a joint: what a joint may be open */

double mor_joint_smallest(const mor_world* w)
{
    const mor_joint* joints = w->joints.data;
    double least = INFINITY;
    for (int j = 0; j < w->joints.count; j++)
        for (int side = 0; side < 2; side++) {
            const mor_body* b = joints[j].body[side] >= 0 ? &w->bodies[joints[j].body[side]] : NULL;
            for (int s = 0; b && b->tree >= 0 && s < b->shape_count; s++)
                if (b->shapes[s].geometry->radius > 0.0) least = mor_min(least, b->shapes[s].geometry->radius);
        }
    return least;
}

double mor_joint_tolerance(const mor_world* w)
{
    const bool known = w->kinds_seen == w->revision + 1;
    return mor_min(w->options.position_tolerance, SMALL * (known ? w->smallest_jointed : mor_joint_smallest(w)));
}

/* Has the island joints that were found to exclude each other, by the state at hand or by the step's own assembly? */
static bool is_wide(const mor_world* w, mor_row_block* const* rows, int row_count, bool look)
{
    const mor_joint* joints = w->joints.data;
    for (int r = 0; r < row_count; r++) {
        const mor_row_block* b = rows[r];
        if (b->kind != MOR_BLOCK_EQUATION || b->joint < 0) continue;
        if (joints[b->joint].apart || (look && joints[b->joint].held)) return true;
    }
    return false;
}

bool mor_rows_hold(mor_world* w, mor_row_block* const* rows, int row_count, bool look)
{
    mor_joint* joints = w->joints.data;
    const bool wide = is_wide(w, rows, row_count, look);
    for (int r = 0; r < row_count && !look; r++) {
        mor_row_block* b = rows[r];
        if (b->kind != MOR_BLOCK_EQUATION) continue;
        if (b->joint >= 0) joints[b->joint].held = wide;
        for (int d = 0; wide && d < b->dim; d++) b->bias[d] = b->drift[d], b->predicted[d] = 0.0;
    }
    return wide;
}

bool mor_rows_stuck(const mor_world* w, mor_row_block* const* rows, int row_count)
{
    const mor_joint* joints = w->joints.data;
    int count = 0;
    for (int r = 0; r < row_count; r++) {
        if (rows[r]->kind != MOR_BLOCK_EQUATION || rows[r]->joint < 0) continue;
        if (joints[rows[r]->joint].differences[0][0] != MOR_JOINT_STUCK) return false;
        count++;
    }
    for (int r = 0; r < row_count && count; r++)
        for (int d = 0; rows[r]->kind == MOR_BLOCK_EQUATION && rows[r]->joint >= 0 && d < rows[r]->dim; d++)
            rows[r]->bias[d] = rows[r]->drift[d], rows[r]->predicted[d] = 0.0;
    return count > 0;
}
