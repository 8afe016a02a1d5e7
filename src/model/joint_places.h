/* Where joints sit on their bodies: what a drawing or a recording must know of them, of joints between bodies
 * and of the joints inside robots alike. */
#ifndef MOREAU_MODEL_JOINT_PLACES_H
#define MOREAU_MODEL_JOINT_PLACES_H

#include "moreau/world.h"

typedef struct mor_joint_place {
    char name[2 * MOR_NAME_SIZE]; /* of robots: "robot/joint" */
    mor_joint_kind kind;
    int body[2];                /* in body order; -1: the world. Of robots: parent, child */
    mor_vec3 point[2], axis[2]; /* in the frame of each body; world: in the world */
} mor_joint_place;

/* Robots first, then joints between bodies. Joints of removed bodies are left out. With list NULL only counts. */
int mor_joint_places(const mor_world* world, mor_joint_place* list);

/* Angle or displacement of each of them now, in the same order; 0 for kinds without one coordinate. */
void mor_joint_positions(const mor_world* world, double* positions);

/* Whether a link's joint is one of them: it has a body of its own and a parent. */
bool mor_joint_is_placed(const mor_world* world, int robot, int link);

#endif
