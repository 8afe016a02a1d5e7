/* Spheres, capsules and planes among each other, in closed form.
 *
 * A sphere is a point c with radius r, a capsule a segment c +- h u with radius r, a plane the
 * half-space u . (x - p) <= 0. The gap of two round shapes is the distance of their cores less both
 * radii; its normal is the direction between the nearest core points. Where cores meet the
 * direction is undefined and a fixed one is taken: across both axes, or world z for points.
 *
 * Nearest points of two segments: V. Lumelsky, 1985, "On fast computation of distance between line
 * segments", by clamping one parameter and recomputing the other. Two nearly parallel capsules touch
 * along a line and give the two ends of their common stretch. */
#include "collision/manifold.h"
#include "collision/pair_tests.h"

/* sine below which two capsules count as parallel */
#define PARALLEL_SINE 0.02

static double clamp(double x, double lower, double upper) { return x < lower ? lower : x > upper ? upper : x; }

/* Contact of two balls, relative to the origin of the caller. */
static int ball_ball(mor_vec3 a, double radius_a, mor_vec3 b, double radius_b, mor_vec3 fallback, double reach,
                     uint32_t feature, mor_point* point)
{
    mor_vec3 d = mor_sub(b, a);
    double l = mor_norm(d), gap = l - radius_a - radius_b;
    if (!(gap < reach)) return 0;
    mor_vec3 n = mor_normalize(d, fallback);
    *point = mor_point_on_b(mor_madd(b, -radius_b, n), n, gap, feature);
    return 1;
}

int mor_pair_sphere_sphere(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                           double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    mor_vec3 c = mor_sub(pose_b->position, pose_a->position);
    int n = ball_ball(mor_v3(0, 0, 0), a->size[0], c, b->size[0], mor_v3(0, 0, 1), reach,
                      mor_feature(MOR_CLOSEST, 0, 0), points);
    return mor_points_to_world(points, n, pose_a);
}

int mor_pair_sphere_plane(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                          double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    (void)b;
    mor_vec3 u = mor_rotate(pose_b->rotation, mor_v3(0, 0, 1));
    double gap = mor_dot(u, mor_sub(pose_a->position, pose_b->position)) - a->size[0];
    if (!(gap < reach)) return 0;
    points[0] =
        mor_point_on_a(mor_madd(pose_a->position, -a->size[0], u), mor_neg(u), gap, mor_feature(MOR_CLOSEST, 0, 0));
    return 1;
}

int mor_pair_sphere_capsule(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                            const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    mor_vec3 u = mor_rotate(pose_b->rotation, mor_v3(0, 0, 1)), c = mor_sub(pose_b->position, pose_a->position);
    double h = 0.5 * b->size[1], t = clamp(-mor_dot(u, c), -h, h);
    mor_vec3 across = mor_rotate(pose_b->rotation, mor_v3(1, 0, 0));
    int n = ball_ball(mor_v3(0, 0, 0), a->size[0], mor_madd(c, t, u), b->size[0], across, reach,
                      mor_feature(MOR_CLOSEST, 0, 0), points);
    return mor_points_to_world(points, n, pose_a);
}

int mor_pair_plane_capsule(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                           double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    (void)a;
    mor_vec3 n = mor_rotate(pose_a->rotation, mor_v3(0, 0, 1)), u = mor_rotate(pose_b->rotation, mor_v3(0, 0, 1));
    mor_vec3 c = mor_sub(pose_b->position, pose_a->position);
    double h = 0.5 * b->size[1], r = b->size[0];
    int count = 0, ends = h > 0.0 ? 2 : 1;
    for (int k = 0; k < ends; k++) {
        mor_vec3 e = mor_madd(c, k == 0 ? -h : h, u);
        double gap = mor_dot(n, e) - r;
        if (gap < reach)
            points[count++] = mor_point_on_b(mor_madd(e, -r, n), n, gap, mor_feature(MOR_VERTEX_OF_B, 0, k));
    }
    return mor_points_to_world(points, count, pose_a);
}

int mor_pair_capsule_capsule(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                             const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    mor_placed A, B;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    mor_vec3 u = mor_placed_axis(&A), v = mor_placed_axis(&B), c = B.p;
    double ha = 0.5 * a->size[1], hb = 0.5 * b->size[1], ra = a->size[0], rb = b->size[0];
    double uv = mor_dot(u, v), uc = mor_dot(u, c), vc = mor_dot(v, c);
    mor_vec3 w = mor_cross(u, v);
    double sine2 = mor_dot(w, w);

    /* nearest points s u and c + t v: minimise |c + t v - s u|^2 over |s| <= ha, |t| <= hb */
    double s = sine2 > 1e-20 ? clamp((uc - uv * vc) / sine2, -ha, ha) : clamp(uc, -ha, ha);
    double t = clamp(s * uv - vc, -hb, hb);
    s = clamp(uc + t * uv, -ha, ha);
    mor_vec3 pa = mor_scale(s, u), pb = mor_madd(c, t, v), d = mor_sub(pb, pa);
    double l = mor_norm(d);
    if (!(l - ra - rb < reach)) return 0;
    mor_vec3 fallback, other;
    mor_tangents(u, mor_v3(1, 0, 0), &fallback, &other);
    if (sine2 > 1e-20) fallback = mor_scale(1.0 / sqrt(sine2), w);
    /* digits of d are lost when the axes cross: the common perpendicular is exact then */
    bool crossing = sine2 > 1e-6 && fabs(s) < ha && fabs(t) < hb;
    mor_vec3 n = mor_normalize(d, fallback);
    if (crossing && l < 1e-6 * (ra + rb)) n = mor_dot(d, fallback) < 0.0 ? mor_neg(fallback) : fallback;

    int count = 0;
    if (sine2 < PARALLEL_SINE * PARALLEL_SINE && ha > 0.0 && hb > 0.0) {
        mor_facet fa, fb;
        double least;
        mor_facet_support(&A, n, &fa);
        mor_facet_support(&B, mor_neg(n), &fb);
        count = mor_manifold_clip(&fa, &fb, n, ra, rb, 1e-9 * (ha + hb), reach, points, &least);
        if (least > l - ra - rb + 1e-9 * (ra + rb)) count = 0;
    }
    if (count == 0) count = ball_ball(pa, ra, pb, rb, n, reach, mor_feature(MOR_CLOSEST, 0, 0), points);
    return mor_points_to_world(points, count, pose_a);
}
