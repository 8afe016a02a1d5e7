/* Convex polygons and open chains in the plane z = 0.
 *
 * Polygon: which side is solid does not depend on the order of the points, so clockwise points are
 * turned (the first point stays first); a closing point equal to the first, repeated points and
 * points in the middle of an edge are left out. Convex means: every point lies on the left of every
 * edge; checking all pairs also refuses polygons that wind twice. Outward normal of an edge with
 * direction (x, y): (y, -x).
 *
 * Chain: the solid is on the right when walked in order, so the order is never changed and the normal
 * is (-y, x). Edges must not be shorter than the tolerance, double back or cross.
 *
 * Cost: quadratic in the number of points; at most POINTS_MAX of them. */
#include "base/elementary.h"
#include "geometry/geometry.h"

#include <stdlib.h>

enum { POINTS_MAX = 10000 };
static const double TOLERANCE = 1e-10; /* of the diagonal: closer points are one, flatter corners straight */

static double cross2(mor_vec3 a, mor_vec3 b) { return a.x * b.y - a.y * b.x; }

static mor_polyline* polyline_new(const mor_vec3* points, int count, int edges)
{
    mor_polyline* p = malloc(sizeof *p + 2 * (size_t)count * sizeof(mor_vec3));
    if (!p) return NULL;
    p->point_count = count;
    p->edge_count = edges;
    p->pieces = NULL;
    p->points = (mor_vec3*)(p + 1);
    p->normals = p->points + count;
    for (int i = 0; i < count; i++) p->points[i] = mor_v3(points[i].x, points[i].y, 0.0);
    return p;
}

/* Diagonal of the bounds after the common checks, or -1. */
static double checked_size(const char* shape, const mor_vec3* points, int count, int least, mor_error* error)
{
    if (count < least) {
        mor_fail(error, MOR_BAD_INPUT, "%s: %d point%s; at least %d are needed", shape, count, count == 1 ? "" : "s",
                 least);
        return -1.0;
    }
    if (count > POINTS_MAX) {
        mor_fail(error, MOR_BAD_INPUT, "%s: %d points; at most %d are accepted", shape, count, POINTS_MAX);
        return -1.0;
    }
    if (!mor_points_ok(shape, points, count, error)) return -1.0;
    mor_vec3 lower = points[0], upper = points[0];
    for (int i = 0; i < count; i++) {
        if (points[i].z != 0.0) {
            mor_fail(error, MOR_BAD_INPUT, "%s: point %d has z = %g; 2-D shapes lie in the plane z = 0", shape, i,
                     points[i].z);
            return -1.0;
        }
        lower = mor_min3(lower, points[i]);
        upper = mor_max3(upper, points[i]);
    }
    double size = mor_norm(mor_sub(upper, lower));
    return mor_length_ok(shape, "diagonal of its bounds", size, error) ? size : -1.0;
}

/* Copies the points into `out` without repetitions and corners in the middle of edges. `out` is at
 * least three points or the polygon has no area. */
static int simplify(const mor_vec3* points, int count, double tolerance, mor_vec3* out, int* source)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        if (n == 0 || mor_norm(mor_sub(points[i], out[n - 1])) > tolerance) {
            source[n] = i;
            out[n++] = points[i];
        }
    while (n > 1 && mor_norm(mor_sub(out[n - 1], out[0])) <= tolerance) n--;
    for (int i = 0; i < n && n > 2;) {
        mor_vec3 a = out[(i + n - 1) % n], b = out[i], c = out[(i + 1) % n], ac = mor_sub(c, a), ab = mor_sub(b, a);
        double length = mor_norm(ac), t = mor_dot(ab, ac);
        bool between =
            length > tolerance && t > 0.0 && t < length * length && fabs(cross2(ab, ac)) <= tolerance * length;
        if (!between) {
            i++;
            continue;
        }
        for (int k = i; k + 1 < n; k++) {
            out[k] = out[k + 1];
            source[k] = source[k + 1];
        }
        n--;
    }
    return n;
}

static bool convex(const mor_vec3* p, const int* source, int n, double tolerance, mor_error* error)
{
    double deepest = tolerance;
    int edge = -1, point = -1;
    for (int i = 0; i < n; i++) {
        mor_vec3 a = p[i], ab = mor_sub(p[(i + 1) % n], a);
        double length = mor_norm(ab);
        for (int k = 0; k < n; k++) {
            if (k == i || k == (i + 1) % n) continue;
            double depth = -cross2(ab, mor_sub(p[k], a)) / length;
            if (depth > deepest) {
                deepest = depth;
                edge = i;
                point = k;
            }
        }
    }
    if (edge < 0) return true;
    mor_fail(error, MOR_BAD_INPUT,
             "polygon: not convex: point %d (%g, %g) lies %g m outside the edge from point %d to point %d; use "
             "several convex polygons on one body instead",
             source[point], p[point].x, p[point].y, deepest, source[edge], source[(edge + 1) % n]);
    return false;
}

static mor_polyline* polygon(const mor_vec3* points, int count, double size, mor_vec3* p, int* source, mor_error* error)
{
    double tolerance = TOLERANCE * size;
    int n = simplify(points, count, tolerance, p, source);
    double area = 0.0;
    for (int i = 1; i + 1 < n; i++) area += 0.5 * cross2(mor_sub(p[i], p[0]), mor_sub(p[i + 1], p[0]));
    if (n < 3 || fabs(area) <= tolerance * size) {
        mor_fail(error, MOR_BAD_INPUT, "polygon: its area is %g m^2: the points lie on a line or coincide", fabs(area));
        return NULL;
    }
    if (area < 0.0)
        for (int i = 1, j = n - 1; i < j; i++, j--) {
            mor_vec3 q = p[i];
            p[i] = p[j];
            p[j] = q;
            int s = source[i];
            source[i] = source[j];
            source[j] = s;
        }
    if (!convex(p, source, n, tolerance, error)) return NULL;
    mor_polyline* out = polyline_new(p, n, n);
    if (!out) {
        mor_fail(error, MOR_SYSTEM, "out of memory for a polygon with %d points", n);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        mor_vec3 d = mor_sub(p[(i + 1) % n], p[i]);
        double length = mor_norm(d);
        out->normals[i] = mor_v3(d.y / length + 0.0, -d.x / length + 0.0, 0.0);
    }
    return out;
}

mor_geometry* mor_geometry_polygon(const mor_vec3* points, int count, mor_error* error)
{
    double size = checked_size("polygon", points, count, 3, error);
    if (size < 0.0) return NULL;
    mor_vec3* p = malloc((size_t)count * sizeof *p);
    int* source = malloc((size_t)count * sizeof *source);
    mor_polyline* line = NULL;
    if (p && source) line = polygon(points, count, size, p, source, error);
    else mor_fail(error, MOR_SYSTEM, "out of memory for a polygon with %d points", count);
    free(p);
    free(source);
    return line ? mor_geometry_of_polyline(MOR_POLYGON, line, error) : NULL;
}

/* Do the segments ab and cd have a point in common? */
static bool segments_meet(mor_vec3 a, mor_vec3 b, mor_vec3 c, mor_vec3 d)
{
    if (mor_max(a.x, b.x) < mor_min(c.x, d.x) || mor_max(c.x, d.x) < mor_min(a.x, b.x) ||
        mor_max(a.y, b.y) < mor_min(c.y, d.y) || mor_max(c.y, d.y) < mor_min(a.y, b.y))
        return false;
    mor_vec3 ab = mor_sub(b, a), cd = mor_sub(d, c);
    double c1 = cross2(ab, mor_sub(c, a)), d1 = cross2(ab, mor_sub(d, a));
    double a1 = cross2(cd, mor_sub(a, c)), b1 = cross2(cd, mor_sub(b, c));
    bool cd_one_side = (c1 > 0 && d1 > 0) || (c1 < 0 && d1 < 0);
    bool ab_one_side = (a1 > 0 && b1 > 0) || (a1 < 0 && b1 < 0);
    return !cd_one_side && !ab_one_side;
}

mor_geometry* mor_geometry_chain(const mor_vec3* points, int count, mor_error* error)
{
    double size = checked_size("chain", points, count, 2, error);
    if (size < 0.0) return NULL;
    int n = count - 1;
    for (int i = 0; i < n; i++) {
        mor_vec3 ab = mor_sub(points[i + 1], points[i]);
        if (mor_norm(ab) <= TOLERANCE * size) {
            mor_fail(error, MOR_BAD_INPUT, "chain: points %d and %d coincide at (%g, %g); leave one out", i, i + 1,
                     points[i].x, points[i].y);
            return NULL;
        }
        if (i == 0) continue;
        mor_vec3 back = mor_sub(points[i], points[i - 1]);
        double length = mor_norm(ab) * mor_norm(back);
        if (mor_dot(ab, back) < 0.0 && fabs(cross2(back, ab)) <= TOLERANCE * length) {
            mor_fail(error, MOR_BAD_INPUT, "chain: it doubles back on itself at point %d (%g, %g)", i, points[i].x,
                     points[i].y);
            return NULL;
        }
    }
    bool closed = n > 2 && mor_norm(mor_sub(points[n], points[0])) <= TOLERANCE * size;
    for (int i = 0; i < n; i++)
        for (int j = i + 2; j < n; j++) {
            if (closed && i == 0 && j == n - 1) continue; /* they share the closing point */
            if (!segments_meet(points[i], points[i + 1], points[j], points[j + 1])) continue;
            mor_fail(error, MOR_BAD_INPUT,
                     "chain: the edge from point %d meets the edge from point %d; a boundary must not cross itself", i,
                     j);
            return NULL;
        }
    mor_polyline* line = polyline_new(points, count, n);
    if (!line) {
        mor_fail(error, MOR_SYSTEM, "out of memory for a chain with %d points", count);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        mor_vec3 d = mor_sub(points[i + 1], points[i]);
        double length = mor_norm(d);
        line->normals[i] = mor_v3(-d.y / length + 0.0, d.x / length + 0.0, 0.0);
    }
    line->normals[n] = line->normals[n - 1]; /* unused slot: edge_count is one less */
    line->pieces = mor_chain_cut(line);
    if (!line->pieces) {
        free(line);
        mor_fail(error, MOR_SYSTEM, "out of memory for a chain with %d points", count);
        return NULL;
    }
    return mor_geometry_of_polyline(MOR_CHAIN, line, error);
}
