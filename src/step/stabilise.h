/* Keeping joints together. */
#ifndef MOREAU_STEP_STABILISE_H
#define MOREAU_STEP_STABILISE_H

#include "model/step.h"

/* After the solve, over the first `rough` islands: tries the step on the draft and solves islands again with `solve`
 * until every joint's |phi| at its end is within the position tolerance (at most 10 rounds); the draft is put back
 * where it was. After the step: makes the velocities of the draft fit the joints and sets its joint_error. Both do
 * nothing without joints; `impulse` does both, `projection` the second, which then also projects the positions.
 * MOR_SYSTEM: out of memory. */
mor_code mor_stabilise_positions(mor_step* step, void (*solve)(mor_step* step, int island));
mor_code mor_stabilise_velocities(mor_step* step);
/* After the step: of what equations gave velocities, islands take back what is beyond the share that positions move
 * with (share.c). */
mor_code mor_take_back_share(const mor_step* step);

/* The state that moving the draft changes: motion of bodies, bases and joints of robots. */
typedef struct mor_trial_motion {
    mor_vec3 x, v, w, L;
    mor_quat q;
    double angle;
} mor_trial_motion;
typedef struct mor_trial {
    mor_trial_motion* bodies;
    double** robots;
} mor_trial;
/* Keeps the state of the draft in the step's arena (false: out of memory), and puts it back. */
bool mor_trial_begin(const mor_step* step, mor_trial* trial);
void mor_trial_end(mor_world* draft, const mor_trial* trial);
/* Puts one tree back. */
void mor_trial_end_tree(mor_world* draft, const mor_trial* trial, int tree);

/* A trial that is good enough is the step: keeps where it took the bodies and with which velocities; and takes them
 * there again, which costs a copy. False: nothing is kept, or the velocities are others by now. */
void mor_trial_keep(mor_step* step);
bool mor_trial_take(mor_step* step);

/* Moves all bodies and robots of the draft by the velocities of the step (step/integrate.c). */
void mor_integrate_bodies(mor_step* step);

/* Closes the joints of the draft by moving bodies, joints alone. MOR_SYSTEM: out of memory. */
mor_code mor_close_joints(const mor_step* step, double tolerance);

/* Solves an island of a step whose rows hold the joints as they are (step/hold_joints.c). False: no answer. */
bool mor_hold_island(mor_step* step, int island, void (*solve)(mor_step* step, int island));
/* Does so where answers miss the goal because contacts do not let joints close. False: out of memory. */
bool mor_hold_joints(mor_step* step, void (*solve)(mor_step* step, int island));

#endif
