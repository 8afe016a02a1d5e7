/* Particles, discs and polygons against a chain: an open boundary with the solid on its right.
 *
 * A point is reported by every segment whose distance to it is below `reach`, with the signed distance
 * to the segment's line as gap. Whether the point is in the solid is told by the nearest place of the
 * chain (at a corner by the sum of both normals; beyond the ends nothing is solid). Outside, segments
 * that it is behind of do not count: the other side of a ridge is in front. Inside, a segment that
 * meets the nearest one in a ridge does not count either: leaving by one side is enough; and the
 * nearest segment always counts, however deep.
 *
 * A disc takes the true distance of its centre to ridges and ends instead, so it rolls over them. A
 * polygon meets a chain with its corners, as points, and with its edges at the ridges of the chain.
 * Cost O(m) per point; ridge: the walk turns right, valley: it turns left. */
#include "collision/manifold.h"
#include "collision/pair_tests.h"

static double cross_z(mor_vec3 a, mor_vec3 b) { return a.x * b.y - a.y * b.x; }

static mor_vec3 segment_vector(const mor_polyline* C, int i) { return mor_sub(C->points[i + 1], C->points[i]); }

/* Is point i of the chain (not an end) a ridge? */
static bool is_ridge(const mor_polyline* C, int i) { return cross_z(C->normals[i - 1], C->normals[i]) < 0.0; }

/* Nearest point of segment i: parameter and distance. */
static double segment_distance(const mor_polyline* C, int i, mor_vec3 p, double* t)
{
    mor_vec3 e = segment_vector(C, i), d = mor_sub(p, C->points[i]);
    *t = mor_dot(d, e) / mor_dot(e, e);
    double c = *t < 0.0 ? 0.0 : *t > 1.0 ? 1.0 : *t;
    return mor_norm(mor_madd(d, -c, e));
}

static double line_gap(const mor_polyline* C, int i, mor_vec3 p)
{
    return mor_dot(C->normals[i], mor_sub(p, C->points[i]));
}

/* The segment nearest to p; *inside if p is in the solid there. */
static int locate(const mor_polyline* C, mor_vec3 p, bool* inside)
{
    double least = HUGE_VAL, t = 0.0, best_t = 0.0;
    int best = 0;
    for (int i = 0; i < C->edge_count; i++) {
        double d = segment_distance(C, i, p, &t);
        if (d < least) {
            least = d;
            best = i;
            best_t = t;
        }
    }
    int corner = best_t < 0.0 ? best : best_t > 1.0 ? best + 1 : -1;
    if (corner < 0) *inside = line_gap(C, best, p) < 0.0;
    else if (corner == 0 || corner == C->edge_count) *inside = false;
    else {
        mor_vec3 n = mor_add(C->normals[corner - 1], C->normals[corner]);
        *inside = mor_dot(n, mor_sub(p, C->points[corner])) < 0.0;
        /* of the two segments at the corner the one p is less deep below */
        int other = corner == best ? best - 1 : best + 1;
        if (*inside && line_gap(C, other, p) > line_gap(C, best, p)) best = other;
    }
    return best;
}

/* Two neighbours that meet in a ridge. */
static bool share_ridge(const mor_polyline* C, int i, int j)
{
    return (i == j + 1 && is_ridge(C, i)) || (j == i + 1 && is_ridge(C, j));
}

/* Contacts of the point p (chain frame) as vertex `vertex` of shape a. */
static int point_chain(const mor_polyline* C, const mor_pose* pose, mor_vec3 p, int vertex, double reach,
                       mor_point* points, int count)
{
    bool inside;
    int nearest = locate(C, p, &inside);
    for (int i = 0; i < C->edge_count; i++) {
        double t, gap = line_gap(C, i, p);
        bool own = inside && i == nearest;
        if (!own) {
            if (segment_distance(C, i, p, &t) >= reach) continue;
            if (gap < 0.0 && (!inside || share_ridge(C, i, nearest))) continue;
        }
        if (!(gap < reach) || count == MOR_MAX_POINTS) continue;
        mor_vec3 n = mor_neg(mor_rotate(pose->rotation, C->normals[i]));
        points[count++] = mor_point_on_a(mor_pose_point(pose, p), n, gap, mor_feature(MOR_VERTEX_OF_A, vertex, i));
    }
    return count;
}

int mor_pair_particle_chain(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                            const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    (void)a;
    (void)cache;
    return point_chain(b->polyline, pose_b, mor_pose_unpoint(pose_b, pose_a->position), 0, reach, points, 0);
}

static int disc_contact(const mor_pose* pose_a, const mor_pose* pose_b, mor_vec3 outward, double distance, double r,
                        double reach, uint32_t feature, mor_point* points, int count)
{
    if (!(distance - r < reach) || count == MOR_MAX_POINTS) return count;
    mor_vec3 n = mor_neg(mor_rotate(pose_b->rotation, outward));
    points[count] = mor_point_on_a(mor_madd(pose_a->position, r, n), n, distance - r, feature);
    return count + 1;
}

int mor_pair_disc_chain(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                        double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    const mor_polyline* C = b->polyline;
    mor_vec3 c = mor_pose_unpoint(pose_b, pose_a->position);
    double r = a->size[0], t;
    bool inside;
    int nearest = locate(C, c, &inside), count = 0;
    for (int i = 0; i < C->edge_count; i++) {
        double gap = line_gap(C, i, c), d = segment_distance(C, i, c, &t);
        bool own = inside && i == nearest, over = t >= 0.0 && t <= 1.0;
        if (own || (over && d < reach + r && (gap >= 0.0 || (inside && !share_ridge(C, i, nearest)))))
            count = disc_contact(pose_a, pose_b, C->normals[i], gap, r, reach, mor_feature(MOR_VERTEX_OF_A, 0, i),
                                 points, count);
    }
    if (inside) return count;
    /* ends and ridges whose own region holds the centre */
    for (int v = 0; v <= C->edge_count; v++) {
        if (v > 0 && (segment_distance(C, v - 1, c, &t), t <= 1.0)) continue;
        if (v < C->edge_count && (segment_distance(C, v, c, &t), t >= 0.0)) continue;
        if (v > 0 && v < C->edge_count && !is_ridge(C, v)) continue;
        mor_vec3 d = mor_sub(c, C->points[v]);
        double l = mor_norm(d);
        count = disc_contact(pose_a, pose_b, mor_normalize(d, C->normals[v < C->edge_count ? v : v - 1]), l, r, reach,
                             mor_feature(MOR_CLOSEST, 0, v), points, count);
    }
    return count;
}

/* Ridge v of the chain (world point x) against the edges of the polygon. */
static int ridge_polygon(const mor_geometry* a, const mor_pose* pose_a, const mor_polyline* C, const mor_pose* pose_b,
                         int v, double reach, mor_point* points, int count)
{
    const mor_polyline* P = a->polyline;
    mor_vec3 x = mor_pose_point(pose_b, C->points[v]), p = mor_pose_unpoint(pose_a, x);
    double best = -HUGE_VAL;
    int edge = 0;
    for (int k = 0; k < P->point_count; k++) {
        double s = mor_dot(P->normals[k], mor_sub(p, P->points[k]));
        if (s >= reach) return count;
        if (s > best) {
            best = s;
            edge = k;
        }
    }
    mor_vec3 e = mor_sub(P->points[edge + 1 < P->point_count ? edge + 1 : 0], P->points[edge]),
             d = mor_sub(p, P->points[edge]);
    if (mor_dot(d, e) < 0.0 || mor_dot(d, e) > mor_dot(e, e)) return count; /* a corner of the polygon is nearer */
    /* the normal must point out of the solid between those of both sides */
    mor_vec3 n = mor_rotate(pose_a->rotation, P->normals[edge]), out = mor_neg(mor_unrotate(pose_b->rotation, n));
    if (cross_z(C->normals[v - 1], out) > 0.0 || cross_z(out, C->normals[v]) > 0.0 ||
        mor_dot(out, mor_add(C->normals[v - 1], C->normals[v])) <= 0.0)
        return count;
    if (count < MOR_MAX_POINTS) points[count++] = mor_point_on_b(x, n, best, mor_feature(MOR_VERTEX_OF_B, edge, v));
    return count;
}

int mor_pair_polygon_chain(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                           double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    const mor_polyline *P = a->polyline, *C = b->polyline;
    int count = 0;
    for (int k = 0; k < P->point_count; k++) {
        mor_vec3 p = mor_pose_unpoint(pose_b, mor_pose_point(pose_a, P->points[k]));
        count = point_chain(C, pose_b, p, k, reach, points, count);
    }
    for (int v = 1; v < C->edge_count; v++)
        if (is_ridge(C, v)) count = ridge_polygon(a, pose_a, C, pose_b, v, reach, points, count);
    return count;
}
