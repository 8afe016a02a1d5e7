/* The equations of joints between two bodies: what they ask of positions and velocities. */
#ifndef MOREAU_MODEL_JOINTS_H
#define MOREAU_MODEL_JOINTS_H

#include "model/world.h"

/* The rotation that takes z to the unit vector a the short way. */
mor_quat mor_joint_axis_frame(mor_vec3 a);
/* The joint frame on one side, in the world. */
mor_pose mor_joint_frame(const mor_world* world, const mor_joint* joint, int side);
/* Writes the equations of a joint at the present state; returns how many, at most 6. */
int mor_joint_equations(const mor_world* world, const mor_joint* joint, mor_joint_row rows[6]);
/* The same, kept with the joint: bodies that are where they were have the equations they had. Those of the end of a
 * step are those of the next one's start. The rows are good until the next call. */
int mor_joint_equations_kept(const mor_world* world, mor_joint* joint, const mor_joint_row** rows);
/* mor_world_joint_error of a draft, by the equations that are kept. */
double mor_joint_error_kept(mor_world* draft);
/* A distance joint with a spring, damper or limits: it has no equations, but a free coordinate. */
bool mor_joint_soft(const mor_joint* joint);
/* The free coordinate of a revolute or prismatic joint or a soft distance (phi holds it, angles unwound near
 * `joint->coordinate`); false for other kinds. */
bool mor_joint_free_row(const mor_world* world, const mor_joint* joint, mor_joint_row* row);
/* The same right after mor_joint_equations_kept, whose frames it takes. */
bool mor_joint_free_row_kept(const mor_world* world, const mor_joint* joint, mor_joint_row* row);

/* The rotation whose columns are three orthogonal unit vectors, by the largest of its four numbers (Shepperd 1978). */
mor_quat mor_quat_of_axes(mor_vec3 x, mor_vec3 y, mor_vec3 z);

#endif
