/* A sphere against a cylinder, a cone or a polyhedron: signed distance of its centre c to the solid,
 * less the radius.
 *
 * Outside, the distance is to the nearest point of the solid. Inside, it is minus the depth below the
 * nearest face, along that face's normal, so the normal does not turn round when the centre passes
 * through the surface of a face.
 *
 * Cylinder and cone are solids of revolution: in the half plane (rho, z) through c they are a convex
 * polygon, and the nearest point is found on its two or three sides. The polyhedron takes the greatest
 * of n_f . c - d_f over its faces first: it is the depth inside, a lower bound of the distance outside
 * and the distance itself if c projects into the face; else the nearest edge decides. Cost O(F + E). */
#include "collision/manifold.h"
#include "collision/pair_tests.h"

/* Sphere a at the origin, nearest point q of b, outward normal of b at q, signed distance of the centre. */
static int emit(double radius, mor_vec3 outward, double distance, double reach, uint32_t feature,
                const mor_pose* pose_a, mor_point* points)
{
    double gap = distance - radius;
    if (!(gap < reach)) return 0;
    mor_vec3 n = mor_neg(outward);
    points[0] = mor_point_on_a(mor_scale(radius, n), n, gap, feature);
    return mor_points_to_world(points, 1, pose_a);
}

/* Signed distance of (x, y) to a convex polygon in the plane given by `count` consecutive corners of
 * an open chain, counter-clockwise; *n is the outward direction there, *side the edge or vertex. */
static double profile_distance(const double (*p)[2], int count, double x, double y, double n[2], int* side)
{
    double deepest = -HUGE_VAL, nearest = HUGE_VAL, best[2] = { 1, 0 };
    int deepest_side = 0, nearest_side = 0;
    bool inside = true;
    for (int k = 0; k + 1 < count; k++) {
        double ex = p[k + 1][0] - p[k][0], ey = p[k + 1][1] - p[k][1], l = sqrt(ex * ex + ey * ey);
        double nx = ey / l, ny = -ex / l, rx = x - p[k][0], ry = y - p[k][1], s = nx * rx + ny * ry;
        if (s > 0.0) inside = false;
        if (s > deepest) {
            deepest = s;
            deepest_side = k;
            n[0] = nx;
            n[1] = ny;
        }
        double t = (rx * ex + ry * ey) / (l * l);
        double c = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
        double dx = rx - c * ex, dy = ry - c * ey, d = sqrt(dx * dx + dy * dy);
        if (d < nearest) {
            nearest = d;
            bool vertex = t < 0.0 || t > 1.0;
            nearest_side = t < 0.0 ? 16 + k : t > 1.0 ? 17 + k : k;
            best[0] = vertex && d > 0.0 ? dx / d : nx;
            best[1] = vertex && d > 0.0 ? dy / d : ny;
        }
    }
    *side = inside ? deepest_side : nearest_side;
    if (inside) return deepest;
    n[0] = best[0];
    n[1] = best[1];
    return nearest;
}

static int sphere_revolution(const mor_geometry* a, const mor_pose* pose_a, const mor_pose* pose_b,
                             const double (*profile)[2], int count, double reach, mor_point* points)
{
    mor_vec3 c = mor_pose_unpoint(pose_b, pose_a->position);
    double rho = sqrt(c.x * c.x + c.y * c.y), n[2] = { 1, 0 };
    mor_vec3 radial = rho > 0.0 ? mor_v3(c.x / rho, c.y / rho, 0) : mor_v3(1, 0, 0);
    int side;
    double d = profile_distance(profile, count, rho, c.z, n, &side);
    mor_vec3 outward = mor_rotate(pose_b->rotation, mor_v3(n[0] * radial.x, n[0] * radial.y, n[1]));
    return emit(a->size[0], outward, d, reach, mor_feature(MOR_CLOSEST, 0, side), pose_a, points);
}

int mor_pair_sphere_cylinder(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                             const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    double r = b->size[0], h = 0.5 * b->size[1];
    const double profile[4][2] = { { 0, -h }, { r, -h }, { r, h }, { 0, h } };
    return sphere_revolution(a, pose_a, pose_b, profile, 4, reach, points);
}

int mor_pair_sphere_cone(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                         double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    double r = b->size[0], h = b->size[1];
    const double profile[3][2] = { { 0, -0.25 * h }, { r, -0.25 * h }, { 0, 0.75 * h } };
    return sphere_revolution(a, pose_a, pose_b, profile, 3, reach, points);
}

/* Does the projection of c along the normal of face f fall into the face? */
static bool over_face(const mor_polyhedron* P, int f, mor_vec3 c)
{
    int start = P->face_start[f], end = P->face_start[f + 1];
    for (int k = start; k < end; k++) {
        mor_vec3 p = P->vertices[P->face_vertices[k]], q = P->vertices[P->face_vertices[k + 1 < end ? k + 1 : start]];
        if (mor_dot(mor_cross(mor_sub(q, p), P->normals[f]), mor_sub(c, p)) > 0.0) return false;
    }
    return true;
}

int mor_pair_sphere_polyhedron(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                               const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    const mor_polyhedron* P = b->polyhedron;
    mor_vec3 c = mor_pose_unpoint(pose_b, pose_a->position), outward;
    double r = a->size[0], limit = r + reach, deepest = -HUGE_VAL, distance;
    int face = 0;
    for (int f = 0; f < P->face_count; f++) {
        double s = mor_dot(P->normals[f], c) - P->offsets[f];
        if (s >= limit) return 0;
        if (s > deepest) {
            deepest = s;
            face = f;
        }
    }
    uint32_t feature = mor_feature(MOR_VERTEX_OF_A, 0, face);
    outward = P->normals[face];
    distance = deepest;
    if (deepest > 0.0 && !over_face(P, face, c)) {
        double least = HUGE_VAL;
        mor_vec3 offset = outward;
        for (int k = 0; k < P->edge_count; k++) {
            mor_vec3 p = P->vertices[P->edges[k].tail], e = mor_sub(P->vertices[P->edges[k].head], p),
                     d = mor_sub(c, p);
            double t = mor_dot(d, e) / mor_dot(e, e);
            t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
            d = mor_madd(d, -t, e);
            double l = mor_dot(d, d);
            if (l < least) {
                least = l;
                offset = d;
                feature = t == 0.0   ? mor_feature(MOR_CLOSEST, 0, P->edges[k].tail)
                          : t == 1.0 ? mor_feature(MOR_CLOSEST, 0, P->edges[k].head)
                                     : mor_feature(MOR_EDGE_EDGE, 0, k);
            }
        }
        /* another face in front of the centre may be nearer than any edge */
        distance = sqrt(least);
        for (int f = 0; f < P->face_count; f++) {
            double s = mor_dot(P->normals[f], c) - P->offsets[f];
            if (s > 0.0 && s < distance && over_face(P, f, c)) {
                distance = s;
                offset = P->normals[f];
                feature = mor_feature(MOR_VERTEX_OF_A, 0, f);
            }
        }
        /* closer to an edge than rounding can tell a direction: keep the face normal */
        if (distance > 1e-12 * b->radius) outward = mor_normalize(offset, outward);
        else distance = deepest;
    }
    return emit(r, mor_rotate(pose_b->rotation, outward), distance, reach, feature, pose_a, points);
}
