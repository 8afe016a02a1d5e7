/* Two cards lean against each other, edge against edge. Which way do they push?
 *
 * At an edge the outward normals of a body fill the cone between the normals of both faces, N_a = cone(f_1, f_2). Edge
 * on parallel edge, every n in N_a and -N_b separates the bodies; the geometry alone does not choose one. Choosing a
 * face of one of them, as separating axes do, tilts the force out of the middle, and friction must carry what is only
 * a matter of choice. The middle of the common cone is the choice that does not depend on which body comes first and
 * keeps mirror symmetry: two mirrored cards push along the common normal of the mirror, and stand as long as
 * mu >= 1/(2 tan theta) at the floor.
 *
 * In a plane across the edges this is corner against corner. Cost O(E) for contacts along one line, nothing else. */
#include "collision/edge_touch.h"

/* sine of the angle between edges that are parallel */
#define PARALLEL 1e-5
/* of rounding in the comparison of unit vectors */
#define ROUNDING 1e-9

static bool in_cone(mor_vec3 along, mor_vec3 a, mor_vec3 b, mor_vec3 r)
{
    double turn = mor_dot(along, mor_cross(a, b)), sign = turn < 0.0 ? -1.0 : 1.0;
    return sign * mor_dot(along, mor_cross(a, r)) >= -ROUNDING && sign * mor_dot(along, mor_cross(r, b)) >= -ROUNDING &&
           mor_dot(r, mor_add(a, b)) > 0.0;
}

bool mor_common_direction(mor_vec3 along, mor_vec3 a0, mor_vec3 a1, mor_vec3 b0, mor_vec3 b1, mor_vec3* middle)
{
    const mor_vec3 ray[4] = { a0, a1, b0, b1 };
    mor_vec3 end[2];
    int found = 0;
    double least = 1.0 - ROUNDING;
    bool inside[4] = { in_cone(along, b0, b1, a0), in_cone(along, b0, b1, a1), in_cone(along, a0, a1, b0),
                       in_cone(along, a0, a1, b1) };
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            if (inside[i] && inside[j] && mor_dot(ray[i], ray[j]) < least) {
                least = mor_dot(ray[i], ray[j]);
                end[0] = ray[i];
                end[1] = ray[j];
                found = 2;
            }
    if (found < 2) return false;
    *middle = mor_normalize(mor_add(end[0], end[1]), end[0]);
    return true;
}

/* The edge of X on whose line both points lie, or -1. */
static int edge_through(const mor_placed* X, mor_vec3 p, mor_vec3 q, double tol)
{
    const mor_polyhedron* P = X->shape->polyhedron;
    p = mor_placed_unpoint(X, p);
    q = mor_placed_unpoint(X, q);
    for (int k = 0; k < P->edge_count; k++) {
        mor_vec3 tail = P->vertices[P->edges[k].tail], e = mor_sub(P->vertices[P->edges[k].head], tail);
        double ee = mor_dot(e, e), slack = tol * sqrt(ee);
        mor_vec3 dp = mor_sub(p, tail), dq = mor_sub(q, tail);
        double tp = mor_dot(dp, e), tq = mor_dot(dq, e);
        if (tp < -slack || tp > ee + slack || tq < -slack || tq > ee + slack) continue;
        dp = mor_madd(dp, -tp / ee, e);
        dq = mor_madd(dq, -tq / ee, e);
        if (mor_dot(dp, dp) <= tol * tol && mor_dot(dq, dq) <= tol * tol) return k;
    }
    return -1;
}

static void edge_facet(const mor_placed* X, int k, mor_facet* f)
{
    const mor_polyhedron* P = X->shape->polyhedron;
    const mor_edge* e = &P->edges[k];
    f->count = 2;
    f->face = k;
    f->vertex[0] = e->tail;
    f->vertex[1] = e->head;
    f->edge[0] = f->edge[1] = k;
    f->point[0] = mor_placed_point(X, P->vertices[e->tail]);
    f->point[1] = mor_placed_point(X, P->vertices[e->head]);
}

int mor_edges_touch(const mor_placed* A, const mor_placed* B, double tol, double reach, mor_point* points, int count)
{
    if (count < 2) return count;
    /* the two points farthest apart; the others between them */
    int far = 1;
    for (int k = 2; k < count; k++)
        if (mor_norm(mor_sub(points[k].on_a, points[0].on_a)) > mor_norm(mor_sub(points[far].on_a, points[0].on_a)))
            far = k;
    mor_vec3 p = points[0].on_a, d = mor_sub(points[far].on_a, p);
    double length = mor_norm(d);
    if (!(length > 10.0 * tol)) return count;
    d = mor_scale(1.0 / length, d);
    for (int k = 0; k < count; k++) {
        mor_vec3 off = mor_sub(points[k].on_a, p);
        if (fabs(points[k].gap) > tol || mor_norm(mor_madd(off, -mor_dot(off, d), d)) > tol) return count;
    }
    int ea = edge_through(A, points[0].on_a, points[far].on_a, tol);
    int eb = ea < 0 ? -1 : edge_through(B, points[0].on_b, points[far].on_b, tol);
    if (eb < 0) return count;
    mor_facet fa, fb;
    edge_facet(A, ea, &fa);
    edge_facet(B, eb, &fb);
    mor_vec3 u = mor_normalize(mor_sub(fa.point[1], fa.point[0]), d), v = mor_sub(fb.point[1], fb.point[0]), n;
    if (mor_norm(mor_cross(u, v)) > PARALLEL * mor_norm(v)) return count;
    const mor_polyhedron *P = A->shape->polyhedron, *Q = B->shape->polyhedron;
    if (!mor_common_direction(u, mor_placed_vector(A, P->normals[P->edges[ea].left]),
                              mor_placed_vector(A, P->normals[P->edges[ea].right]),
                              mor_neg(mor_placed_vector(B, Q->normals[Q->edges[eb].left])),
                              mor_neg(mor_placed_vector(B, Q->normals[Q->edges[eb].right])), &n))
        return count;
    mor_point line[MOR_MAX_POINTS];
    double least;
    int found = mor_manifold_clip(&fa, &fb, n, 0, 0, tol, reach, line, &least);
    if (found == 0) return count;
    for (int k = 0; k < found; k++) points[k] = line[k];
    return found;
}
