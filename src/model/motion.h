/* One tree in smooth motion: its configuration, momentum and forces at any trial state. */
#ifndef MOREAU_MODEL_MOTION_H
#define MOREAU_MODEL_MOTION_H

#include "model/world.h"

/* How many numbers a configuration has. */
int mor_motion_size(const mor_tree* tree);
/* First of the three angular velocities in nu, or -1: coordinates that do not add. Those of ball joints do not
 * either. */
int mor_motion_turn(const mor_tree* tree);
/* First velocity of the next ball joint from `from` on, or -1. */
int mor_motion_ball(const mor_tree* tree, int from);
/* Velocities nu to rates of the chart xi. */
void mor_motion_chart(const mor_tree* tree, const double* xi, double* nu);
/* The configuration and velocity of the tree now. */
void mor_motion_get(const mor_world* world, const mor_tree* tree, double* q, double* nu);
/* Puts the tree at q (+) xi (xi NULL: at q) with velocity nu. Links of robots are written to their bodies only if
 * `links` (for rows of joints). */
void mor_motion_place(mor_world* world, const mor_tree* tree, const double* q, const double* xi, const double* nu,
                      bool links);

/* At the present state: p = M nu; f with p' = f + rows; a = nu' without rows. Gravity, applied forces and the damping
 * of robots' joints are in f and a. `mor_motion_accelerate` leaves what `mor_motion_solve` needs. False: singular. */
void mor_motion_momentum(const mor_world* world, const mor_tree* tree, double* p, double* f);
bool mor_motion_accelerate(mor_world* world, const mor_tree* tree, double* a);
/* Prepares x = (M + h D)^-1 y at the present configuration, D the damping of robots' joints. */
bool mor_motion_factor(mor_world* world, const mor_tree* tree, double h);
void mor_motion_solve(const mor_world* world, const mor_tree* tree, const double* y, double* x);

/* d/dt exp(x) = [dexp_x x']x exp(x): rotation vectors against angular velocities in world axes. */
mor_vec3 mor_dexp(mor_vec3 x, mor_vec3 y);
mor_vec3 mor_dexp_inverse(mor_vec3 x, mor_vec3 y);

#endif
