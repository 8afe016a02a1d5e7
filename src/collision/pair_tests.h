/* The pair tests, all of type mor_pair_test (world.h), named after the two kinds in table order. */
#ifndef MOR_COLLISION_PAIR_TESTS_H
#define MOR_COLLISION_PAIR_TESTS_H

#include "moreau/world.h"

#define MOR_DECLARE_PAIR(name)                                                                                         \
    int name(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,             \
             double reach, uint32_t cache[4], mor_point* points)

/* pair_round.c: spheres, capsules, planes */
MOR_DECLARE_PAIR(mor_pair_sphere_sphere);
MOR_DECLARE_PAIR(mor_pair_sphere_plane);
MOR_DECLARE_PAIR(mor_pair_sphere_capsule);
MOR_DECLARE_PAIR(mor_pair_plane_capsule);
MOR_DECLARE_PAIR(mor_pair_capsule_capsule);
/* pair_plane.c: the other shapes on a plane */
MOR_DECLARE_PAIR(mor_pair_plane_cylinder);
MOR_DECLARE_PAIR(mor_pair_plane_cone);
MOR_DECLARE_PAIR(mor_pair_plane_polyhedron);
/* pair_sphere.c: a sphere and a solid */
MOR_DECLARE_PAIR(mor_pair_sphere_cylinder);
MOR_DECLARE_PAIR(mor_pair_sphere_cone);
MOR_DECLARE_PAIR(mor_pair_sphere_polyhedron);
/* pair_polyhedron.c, pair_box.c */
MOR_DECLARE_PAIR(mor_pair_polyhedron_polyhedron);
MOR_DECLARE_PAIR(mor_pair_box_box);
/* Are two boxes farther apart than `reach` along the axis that mor_pair_box_box left in the cache? Then it finds no
 * points. False: nothing is known. */
bool mor_boxes_apart(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                     double reach, const uint32_t cache[4]);
/* Do two boxes overlap by more than rounding? Then the normal of all points of the test is *normal. */
bool mor_boxes_overlap(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                       mor_vec3* normal);
/* pair_convex.c: any two of capsule, cylinder, cone, polyhedron */
MOR_DECLARE_PAIR(mor_pair_convex_convex);
/* pair_ellipsoid.c: a plane, or any other convex shape, and an ellipsoid */
MOR_DECLARE_PAIR(mor_pair_plane_ellipsoid);
MOR_DECLARE_PAIR(mor_pair_convex_ellipsoid);
/* pair_planar.c, pair_chain.c: 2-D */
MOR_DECLARE_PAIR(mor_pair_disc_disc); /* particles are discs of radius 0 */
MOR_DECLARE_PAIR(mor_pair_disc_polygon);
MOR_DECLARE_PAIR(mor_pair_polygon_polygon);
MOR_DECLARE_PAIR(mor_pair_particle_chain);
MOR_DECLARE_PAIR(mor_pair_disc_chain);
MOR_DECLARE_PAIR(mor_pair_polygon_chain);

#endif
