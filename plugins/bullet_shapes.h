/* Shapes of Moreau as shapes of Bullet. */
#ifndef MOREAU_PLUGINS_BULLET_SHAPES_H
#define MOREAU_PLUGINS_BULLET_SHAPES_H

#include <btBulletCollisionCommon.h>

#include <memory>

#include "moreau/geometry.h"

/* A shape of Bullet. */
struct bullet_shape {
    std::unique_ptr<btCollisionShape> shape; /* empty: there is none */
    btTransform offset;                      /* of Bullet's frame in ours */
    double grown;                            /* how far its surface lies outside ours [m]: the margin of hulls */
    bool faces;                              /* pairs of these are clipped face against face */
};

/* The shape for a geometry; empty for kinds that Bullet cannot have. */
bullet_shape make_bullet_shape(const mor_geometry* geometry);

#endif
