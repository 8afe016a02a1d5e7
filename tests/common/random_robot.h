/* Random trees of revolute and prismatic joints, for invariants. */
#ifndef TESTS_COMMON_RANDOM_ROBOT_H
#define TESTS_COMMON_RANDOM_ROBOT_H

#include "moreau/robot.h"

/* A model with `links` links and one frame per link, joints in shuffled order. */
mor_robot_model* random_robot(mor_rng* rng, int links, bool floating);
/* Uniform in (-size, size). */
double random_number(mor_rng* rng, double size);
/* base <- base (+) step, s <- s + step: the first 6 of `step` move a floating base. */
void random_robot_move(const mor_robot_model* model, mor_pose* base, double* s, const double* step);

#endif
