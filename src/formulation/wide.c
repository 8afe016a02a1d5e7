/* Joints that are too far open for rows to close.
 *
 * The rows of a step ask for the velocity phi/h that closes a joint within it. That is right for what a step leaves,
 * far below the position tolerance. Asked of a joint that is open by more, because its bodies were placed apart, or
 * because it excludes others (a four-bar whose lengths do not close), phi/h is speed from nothing; and where joints
 * exclude each other, the rows are nearly dependent and the speeds grow without bound.
 *
 * An island with a joint open by more than WIDE times the tolerance, or with one that was found to exclude others, is
 * therefore asked to hold its joints as they are, G' nu+ + d(phi)/dt = 0: rest fulfils these rows, whatever else
 * contradicts. The bodies are moved towards each other after the step, without speed (step/close_joints.c). */
#include "base/elementary.h"
#include "formulation/rows.h"

#include <math.h>

#define WIDE 100.0 /* times the tolerance: stabilisation leaves less */
#define SMALL 3e-5 /* of the radius of the smallest shape on a joint: what a joint may be open */

double mor_joint_tolerance(const mor_world* w)
{
    const mor_joint* joints = w->joints.data;
    double least = w->options.position_tolerance;
    for (int j = 0; j < w->joints.count; j++)
        for (int side = 0; side < 2; side++) {
            const mor_body* b = joints[j].body[side] >= 0 ? &w->bodies[joints[j].body[side]] : NULL;
            for (int s = 0; b && b->tree >= 0 && s < b->shape_count; s++)
                if (b->shapes[s].geometry->radius > 0.0) least = mor_min(least, SMALL * b->shapes[s].geometry->radius);
        }
    return least;
}

/* Is the island too far open, by the state at hand or, of joints, by the step's own assembly? */
static bool is_wide(const mor_world* w, mor_row_block* const* rows, int row_count, bool look)
{
    const mor_joint* joints = w->joints.data;
    const int how = w->options.stabilisation;
    const bool closes = how == MOR_STABILISE_IMPULSE || how == MOR_STABILISE_PROJECTION;
    double largest = 0.0;
    for (int r = 0; r < row_count; r++) {
        const mor_row_block* b = rows[r];
        if (b->kind != MOR_BLOCK_EQUATION) continue;
        if (b->joint >= 0 && (joints[b->joint].apart || (look && joints[b->joint].held))) return true;
        const bool counts = b->joint < 0 || (closes && !look);
        for (int d = 0; counts && d < b->dim; d++)
            if (!(fabs(b->phi[d]) <= largest)) largest = fabs(b->phi[d]);
    }
    /* what is within the option's tolerance is looked at no further */
    if (largest <= w->options.position_tolerance) return false;
    return largest > WIDE * mor_joint_tolerance(w);
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
