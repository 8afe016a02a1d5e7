/* The equations of joints between two bodies: what they ask of positions and velocities. */
#ifndef MOREAU_MODEL_JOINTS_H
#define MOREAU_MODEL_JOINTS_H

#include "model/world.h"

/* One equation phi = 0 with d(phi)/dt = direction . (velocity of body 0 - velocity of body 1): of their
 * material points at `point`, or of their angular velocities. */
typedef struct mor_joint_row {
    bool spin;
    mor_vec3 direction, point;
    double phi; /* m or rad */
} mor_joint_row;

/* The rotation that takes z to the unit vector a the short way. */
mor_quat mor_joint_axis_frame(mor_vec3 a);
/* The joint frame on one side, in the world. */
mor_pose mor_joint_frame(const mor_world* world, const mor_joint* joint, int side);
/* Writes the equations of a joint at the present state; returns how many, at most 6. */
int mor_joint_equations(const mor_world* world, const mor_joint* joint, mor_joint_row rows[6]);
/* A distance joint with a spring, damper or limits: it has no equations, but a free coordinate. */
bool mor_joint_soft(const mor_joint* joint);
/* The free coordinate of a revolute or prismatic joint or a soft distance (phi holds it, angles unwound near
 * `joint->coordinate`); false for other kinds. */
bool mor_joint_free_row(const mor_world* world, const mor_joint* joint, mor_joint_row* row);

/* The rotation whose columns are three orthogonal unit vectors, by the largest of its four numbers (Shepperd 1978). */
mor_quat mor_quat_of_axes(mor_vec3 x, mor_vec3 y, mor_vec3 z);

#endif
