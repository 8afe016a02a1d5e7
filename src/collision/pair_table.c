/* The table of pair tests: rows and columns in the order of mor_shape_kind, upper triangle only. An
 * empty cell is NULL: the shapes have no contact. */
#include "collision/pair_table.h"

#include "collision/pair_tests.h"

enum { KINDS = MOR_CUSTOM };

/* clang-format off */
static const mor_pair_test table[KINDS][KINDS] = {
    [MOR_SPHERE] = {
        [MOR_SPHERE] = mor_pair_sphere_sphere,     [MOR_PLANE] = mor_pair_sphere_plane,
        [MOR_CAPSULE] = mor_pair_sphere_capsule,   [MOR_CYLINDER] = mor_pair_sphere_cylinder,
        [MOR_CONE] = mor_pair_sphere_cone,         [MOR_POLYHEDRON] = mor_pair_sphere_polyhedron,
        [MOR_ELLIPSOID] = mor_pair_convex_ellipsoid },
    [MOR_PLANE] = {
        [MOR_CAPSULE] = mor_pair_plane_capsule,    [MOR_CYLINDER] = mor_pair_plane_cylinder,
        [MOR_CONE] = mor_pair_plane_cone,          [MOR_POLYHEDRON] = mor_pair_plane_polyhedron,
        [MOR_ELLIPSOID] = mor_pair_plane_ellipsoid },
    [MOR_CAPSULE] = {
        [MOR_CAPSULE] = mor_pair_capsule_capsule,  [MOR_CYLINDER] = mor_pair_convex_convex,
        [MOR_CONE] = mor_pair_convex_convex,       [MOR_POLYHEDRON] = mor_pair_convex_convex,
        [MOR_ELLIPSOID] = mor_pair_convex_ellipsoid },
    [MOR_CYLINDER] = {
        [MOR_CYLINDER] = mor_pair_convex_convex,   [MOR_CONE] = mor_pair_convex_convex,
        [MOR_POLYHEDRON] = mor_pair_convex_convex, [MOR_ELLIPSOID] = mor_pair_convex_ellipsoid },
    [MOR_CONE] = {
        [MOR_CONE] = mor_pair_convex_convex,       [MOR_POLYHEDRON] = mor_pair_convex_convex,
        [MOR_ELLIPSOID] = mor_pair_convex_ellipsoid },
    [MOR_POLYHEDRON] = {
        [MOR_POLYHEDRON] = mor_pair_polyhedron_polyhedron, [MOR_ELLIPSOID] = mor_pair_convex_ellipsoid },
    [MOR_ELLIPSOID] = {
        [MOR_ELLIPSOID] = mor_pair_convex_ellipsoid },
    [MOR_PARTICLE] = {
        [MOR_DISC] = mor_pair_disc_disc,           [MOR_POLYGON] = mor_pair_disc_polygon,
        [MOR_CHAIN] = mor_pair_particle_chain },
    [MOR_DISC] = {
        [MOR_DISC] = mor_pair_disc_disc,           [MOR_POLYGON] = mor_pair_disc_polygon,
        [MOR_CHAIN] = mor_pair_disc_chain },
    [MOR_POLYGON] = {
        [MOR_POLYGON] = mor_pair_polygon_polygon,  [MOR_CHAIN] = mor_pair_polygon_chain },
};
/* clang-format on */

mor_pair_test mor_pair_builtin(mor_shape_kind a, mor_shape_kind b, bool* swap)
{
    *swap = a > b;
    if ((int)a >= KINDS || (int)b >= KINDS) return NULL;
    return a > b ? table[b][a] : table[a][b];
}

int mor_pair_run(mor_pair_test test, bool swap, const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                 const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    if (!swap) return test(a, pose_a, b, pose_b, reach, cache, points);
    int count = test(b, pose_b, a, pose_a, reach, cache, points);
    for (int k = 0; k < count; k++) {
        mor_vec3 t = points[k].on_a;
        points[k].on_a = points[k].on_b;
        points[k].on_b = t;
        points[k].normal = mor_neg(points[k].normal);
    }
    return count;
}
