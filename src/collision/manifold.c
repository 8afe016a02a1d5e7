/* Contact manifolds of convex shapes.
 *
 * Given the unit normal n from a to b and the supporting facets F_a and F_b, the manifold is the
 * intersection of both facets projected along n. Its corners are
 *     vertices of b over F_a, vertices of a under F_b, and crossings of two edges,
 * and at each of them gap = n . (b_i - a_i), where a_i and b_i lie on F_a and F_b on one line along n.
 * The least gap over the intersection is taken at a corner. When n is the axis of least separation,
 * that least gap is the separation itself, so a manifold never hides the depth it was built for.
 *
 * One facet (the better aligned face) is the reference with plane N . x = N . q; the other is clipped
 * by the planes through the reference edges along n (I. Sutherland, G. Hodgman, 1974, "Reentrant polygon
 * clipping"). Every corner carries what it is made of; a crossing of two reference edges is a
 * reference vertex. Cost O(m_a m_b). */
#include "collision/manifold.h"

#include "base/elementary.h"

#include <assert.h>

/* An edge closer to parallel than this (sine) makes a line contact with another edge. */
#define PARALLEL_SINE 0.02
/* Corners nearer to each other than this share of the shortest facet edge are one contact. */
#define MERGE_FRACTION 2e-3
#define HALF_ROOT 0.70710678118654752440

enum { CORNERS = 2 * MOR_FACET_POINTS };

/* Corner of the polygon being clipped. */
typedef struct corner {
    mor_vec3 p;
    int kind;     /* 0 incident vertex, 1 reference vertex, 2 crossing */
    int ref, inc; /* vertex or edge numbers by kind */
    int edge;     /* outgoing edge: its number in the incident (>= 0) or ~position in the reference loop */
} corner;

/* Distances of the corners from the plane (m, q); how many lie behind it. */
static int measure_corners(const corner* in, int count, mor_vec3 m, mor_vec3 q, double tol, double* d)
{
    int behind = 0;
    for (int k = 0; k < count; k++) {
        d[k] = mor_dot(m, mor_sub(in[k].p, q));
        behind += d[k] <= tol;
    }
    return behind;
}

/* What lies behind a plane that some corners are in front of, others not; d: their distances from it. */
static int clip_plane(const corner* in, const double* d, int count, corner* out, double tol, const mor_facet* reference,
                      int side)
{
    int n = 0;
    for (int k = 0; k < count; k++) {
        const int next = k + 1 < count ? k + 1 : 0;
        const corner *a = &in[k], *b = &in[next];
        const double d0 = d[k], d1 = d[next];
        bool in0 = d0 <= tol, in1 = d1 <= tol;
        if (in0 && n < CORNERS) out[n++] = *a;
        if (in0 != in1 && n < CORNERS) {
            corner c;
            double t = d0 / (d0 - d1);
            t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
            c.p = mor_lerp(a->p, b->p, t);
            if (a->edge >= 0) {
                c.kind = 2;
                c.ref = reference->edge[side];
                c.inc = a->edge;
            } else {
                /* two reference edges meet in the vertex between them */
                int other = ~a->edge, last = reference->count - 1;
                int position = side == other + 1 || (side == 0 && other == last) ? side : other;
                c.kind = 1;
                c.ref = reference->vertex[position];
                c.inc = 0;
            }
            c.edge = in0 ? ~side : a->edge;
            out[n++] = c;
        }
    }
    return n;
}

static double shortest_edge(const mor_facet* f)
{
    double least = HUGE_VAL;
    for (int k = 0; k < f->count; k++) {
        mor_vec3 e = mor_sub(f->point[k + 1 < f->count ? k + 1 : 0], f->point[k]);
        double l = mor_dot(e, e);
        if (l < least) least = l;
    }
    return sqrt(least);
}

/* Appends unless a point with the same feature or nearly the same place is there; the deeper wins. */
static int append(mor_point* points, int count, mor_point p, double merge)
{
    for (int k = 0; k < count; k++) {
        mor_vec3 d = mor_sub(points[k].on_b, p.on_b);
        if (points[k].feature != p.feature && mor_dot(d, d) > merge * merge) continue;
        if (p.gap < points[k].gap - 1e-7 * merge) points[k] = p;
        return count;
    }
    if (count < MOR_MAX_POINTS) points[count++] = p;
    return count;
}

/* A crossing of nearly parallel edges: it lies on the line between the corners before and after it and is no deeper
 * than both; near one of them, no deeper than that one. (Else of a sliver two corners across would stay, where the
 * deeper side should.) */
static bool redundant(const corner* poly, const double* gap, int m, int before, int k, int after, double merge)
{
    if (m < 4 || poly[k].kind != 2 || gap[k] < mor_min(gap[before], gap[after])) return false;
    mor_vec3 e = mor_sub(poly[after].p, poly[before].p), d = mor_sub(poly[k].p, poly[before].p);
    double ee = mor_dot(e, e), t = mor_dot(d, e), near = merge * sqrt(ee);
    if (!(t > 0.0 && t < ee)) return false;
    if ((t < near && gap[k] < gap[before]) || (t > ee - near && gap[k] < gap[after])) return false;
    d = mor_madd(d, -t / ee, e);
    return mor_dot(d, d) < merge * merge;
}

/* Clips `inc` by the sides of `ref`; n points from ref to inc, `swapped` if ref is shape b. */
static int clip_to_face(const mor_facet* ref, const mor_facet* inc, mor_vec3 n, bool swapped, double radius_ref,
                        double radius_inc, double tol, double reach, mor_point* points, double* least)
{
    corner buffer[2][CORNERS];
    corner *poly = buffer[0], *spare = buffer[1];
    int m = inc->count;
    for (int k = 0; k < m; k++) poly[k] = (corner){ inc->point[k], 0, 0, inc->vertex[k], inc->edge[k] };
    for (int k = 0; k < ref->count && m > 0; k++) {
        mor_vec3 q = ref->point[k], e = mor_sub(ref->point[k + 1 < ref->count ? k + 1 : 0], q);
        mor_vec3 side = mor_cross(e, n);
        double l = mor_norm(side);
        if (l == 0.0) continue;
        double d[CORNERS];
        const int behind = measure_corners(poly, m, mor_scale(1.0 / l, side), q, tol, d);
        if (behind == 0) return 0;
        if (behind == m) continue;
        m = clip_plane(poly, d, m, spare, tol, ref, k);
        corner* t = poly;
        poly = spare;
        spare = t;
    }
    int count = 0, kept = m - 1, first = -1;
    double gap[CORNERS], slope = 1.0 / mor_dot(ref->normal, n);
    double merge = MERGE_FRACTION * mor_min(shortest_edge(ref), shortest_edge(inc));
    for (int k = 0; k < m; k++) {
        gap[k] = slope * mor_dot(ref->normal, mor_sub(poly[k].p, ref->point[0])) - radius_ref - radius_inc;
        if (gap[k] < *least) *least = gap[k];
    }
    for (int k = 0; k < m; k++) {
        const corner* c = &poly[k];
        if (redundant(poly, gap, m, kept, k, k + 1 < m ? k + 1 : first < 0 ? 0 : first, merge)) continue;
        kept = k;
        if (first < 0) first = k;
        if (!(gap[k] < reach)) continue;
        mor_vec3 q = mor_madd(c->p, -radius_inc, n);
        uint32_t feature;
        if (c->kind == 2)
            feature = swapped ? mor_feature(MOR_EDGE_EDGE, c->inc, c->ref) : mor_feature(MOR_EDGE_EDGE, c->ref, c->inc);
        else if ((c->kind == 0) != swapped)
            feature = mor_feature(MOR_VERTEX_OF_B, swapped ? inc->face : ref->face, c->kind == 0 ? c->inc : c->ref);
        else feature = mor_feature(MOR_VERTEX_OF_A, c->kind == 0 ? c->inc : c->ref, swapped ? ref->face : inc->face);
        mor_point p = swapped ? mor_point_on_a(q, mor_neg(n), gap[k], feature) : mor_point_on_b(q, n, gap[k], feature);
        count = append(points, count, p, merge);
    }
    return count;
}

/* Two edges: the ends of their common stretch when they are nearly parallel. */
static int clip_edges(const mor_facet* a, const mor_facet* b, mor_vec3 n, double radius_a, double radius_b, double tol,
                      double reach, mor_point* points, double* least)
{
    mor_vec3 u = mor_sub(a->point[1], a->point[0]), v = mor_sub(b->point[1], b->point[0]);
    u = mor_madd(u, -mor_dot(u, n), n);
    v = mor_madd(v, -mor_dot(v, n), n);
    double uu = mor_dot(u, u), vv = mor_dot(v, v);
    mor_vec3 c = mor_cross(u, v);
    if (uu == 0.0 || vv == 0.0 || mor_dot(c, c) > PARALLEL_SINE * PARALLEL_SINE * uu * vv) return 0;
    /* along u: a covers [0,1], b covers [t0,t1] */
    double t0 = mor_dot(u, mor_sub(b->point[0], a->point[0])) / uu,
           t1 = mor_dot(u, mor_sub(b->point[1], a->point[0])) / uu;
    double lower = mor_max(0.0, mor_min(t0, t1)), upper = mor_min(1.0, mor_max(t0, t1)), slack = tol / sqrt(uu);
    if (lower > upper + slack || t0 == t1) return 0;
    int count = 0;
    for (int k = 0; k < 2; k++) {
        double t = k == 0 ? lower : upper;
        mor_vec3 on_a = mor_lerp(a->point[0], a->point[1], t),
                 on_b = mor_lerp(b->point[0], b->point[1], (t - t0) / (t1 - t0));
        double gap = mor_dot(n, mor_sub(on_b, on_a)) - radius_a - radius_b;
        if (gap < *least) *least = gap;
        if (!(gap < reach)) continue;
        /* an end of a or an end of b */
        uint32_t feature;
        if (k == 0 ? mor_min(t0, t1) > 0.0 : mor_max(t0, t1) < 1.0)
            feature = mor_feature(MOR_VERTEX_OF_B, a->edge[0], b->vertex[(t0 < t1) == (k == 0) ? 0 : 1]);
        else feature = mor_feature(MOR_VERTEX_OF_A, a->vertex[k], b->edge[0]);
        count = append(points, count, mor_point_on_b(mor_madd(on_b, -radius_b, n), n, gap, feature),
                       1e-3 * sqrt(mor_min(uu, vv)));
    }
    return count;
}

int mor_manifold_clip(const mor_facet* a, const mor_facet* b, mor_vec3 n, double radius_a, double radius_b, double tol,
                      double reach, mor_point* points, double* least)
{
    *least = HUGE_VAL;
    double align_a = a->count > 2 ? mor_dot(a->normal, n) : 0.0, align_b = b->count > 2 ? -mor_dot(b->normal, n) : 0.0;
    if (mor_max(align_a, align_b) > 0.5) {
        if (align_a >= align_b) return clip_to_face(a, b, n, false, radius_a, radius_b, tol, reach, points, least);
        return clip_to_face(b, a, mor_neg(n), true, radius_b, radius_a, tol, reach, points, least);
    }
    if (a->count == 2 && b->count == 2) return clip_edges(a, b, n, radius_a, radius_b, tol, reach, points, least);
    return 0;
}

/* Of the points with in[k] set, the farthest in eight directions of the contact plane are kept. */
static int keep_corners(const mor_point* points, int count, const bool* in, bool* keep)
{
    static const double octant[8][2] = { { 1, 0 },  { HALF_ROOT, HALF_ROOT },   { 0, 1 },  { -HALF_ROOT, HALF_ROOT },
                                         { -1, 0 }, { -HALF_ROOT, -HALF_ROOT }, { 0, -1 }, { HALF_ROOT, -HALF_ROOT } };
    mor_vec3 t, o;
    mor_tangents(points[0].normal, mor_v3(1, 0, 0), &t, &o);
    double size = 0.0, x[MOR_MAX_POINTS], y[MOR_MAX_POINTS];
    for (int k = 0; k < count; k++) {
        mor_vec3 r = mor_sub(points[k].on_a, points[0].on_a);
        x[k] = mor_dot(t, r);
        y[k] = mor_dot(o, r);
        size = mor_max(size, mor_max(fabs(x[k]), fabs(y[k])));
    }
    int kept = 0;
    for (int d = 0; d < 8; d++) {
        int best = -1;
        double best_score = 0.0;
        for (int k = 0; k < count; k++) {
            double score = octant[d][0] * x[k] + octant[d][1] * y[k] - points[k].gap;
            /* the margin keeps the first of equals whatever the rounding */
            if (!in[k] || (best >= 0 && !(score > best_score + 1e-9 * size))) continue;
            best = k;
            best_score = score;
        }
        kept += !keep[best];
        keep[best] = true;
    }
    return kept;
}

int mor_manifold_reduce(mor_point* points, int count, int limit, double level, const double* later)
{
    assert(limit >= 8 && count <= MOR_MAX_POINTS);
    if (count <= limit) return count;
    bool lowest[MOR_MAX_POINTS], keep[MOR_MAX_POINTS] = { false };
    double least = HUGE_VAL;
    for (int k = 0; k < count; k++) least = mor_min(least, points[k].gap);
    for (int k = 0; k < count; k++) lowest[k] = points[k].gap <= least + level;
    int kept = keep_corners(points, count, lowest, keep), deepest = 0;
    while (points[deepest].gap > least) deepest++;
    kept += !keep[deepest];
    keep[deepest] = true;
    for (;;) { /* the others in the order in which they come down; beyond the limit those that arrive */
        int best = -1;
        for (int k = 0; k < count; k++) {
            double gap = later ? later[k] : points[k].gap;
            if (lowest[k] || keep[k] || (best >= 0 && !(gap < (later ? later[best] : points[best].gap)))) continue;
            best = k;
        }
        bool arrives = best >= 0 && later && later[best] < 0.0;
        if (best < 0 || (kept >= limit && !(arrives && kept < 2 * limit))) break;
        keep[best] = true;
        kept++;
    }
    int n = 0;
    for (int k = 0; k < count; k++)
        if (keep[k]) points[n++] = points[k];
    return n;
}
