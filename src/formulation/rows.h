/* Rows of a step beside contacts: joints, loops, limits, motors, friction in joints. */
#ifndef MOREAU_FORMULATION_ROWS_H
#define MOREAU_FORMULATION_ROWS_H

#include "model/step.h"

/* A block of rows on at most two trees and a spring's, before it finds its island. */
typedef struct mor_row_block {
    mor_block_kind kind;
    int dim;
    int tree[3];  /* -1: none, and none after it; tree[0] is always there */
    double* J[3]; /* dim x dof(tree) */
    double bias[6], phi[6];
    double gap;          /* of a limit: how far it is away; else NaN */
    double drift[6];     /* of bias: what kinematic bodies contribute */
    double predicted[6]; /* of bias: the correction of the last step */
    double lower, upper;
    int joint;      /* of an equation: its joint, else -1 */
    int of[6];      /* row of the joint's equations */
    double* memory; /* dim impulses: the guess, and where the answer goes */
} mor_row_block;

/* All blocks of the step in a fixed order, from the arena. False: out of memory. */
bool mor_collect_rows(mor_step* step, mor_row_block** blocks, int* count);

/* Gives the springs of an island their mass and bias, and its trees the share of their end velocity in their motion
 * (springs.c). `touching`: it has contacts. */
void mor_springs_settle(mor_step* step, mor_row_block* const* rows, int row_count, const int* trees, int tree_count,
                        bool touching);

/* Were joints of an island found to exclude each other? Then its equations hold them as they are (wide.c). `look`: the
 * rows stay, and the answer for joints is that of the step's own assembly. */
bool mor_rows_hold(mor_world* draft, mor_row_block* const* rows, int row_count, bool look);
/* Did contacts keep the joints of an island open by a little in the last step (MOR_JOINT_STUCK)? Then its equations
 * hold them as they are. */
bool mor_rows_stuck(const mor_world* world, mor_row_block* const* rows, int row_count);
/* Radius of the smallest shape on a joint [m]; infinite: there is none. */
double mor_joint_smallest(const mor_world* world);
/* What joints may be open [m, rad]: the option, or less between small bodies. Closing a joint lifts bodies. */
double mor_joint_tolerance(const mor_world* world);

/* Coefficients of one row of a joint on the tree of a body: direction . velocity of the material point, or angular. */
void mor_joint_coefficients(const mor_world* world, const mor_body* body, bool spin, mor_vec3 direction, mor_vec3 point,
                            double sign, double* c);

/* out = c' M^-1 of a tree. */
void mor_tree_response(const mor_step* step, int tree, const double* c, double* out);
/* The same for `count` rows, one after the other. */
void mor_tree_responses(const mor_step* step, int tree, int count, const double* c, double* out);

#endif
