/* The papers' contacts: vertices against faces, and crossing edges.
 *
 * A vertex v of one body and a face f of the other make a contact when the distance of v to the face's polygon (in the
 * plane: the segment) is below epsilon; its gap is psi = n_f.(v - a_f), the distance to the supporting plane, which
 * extends beyond the polygon. With `whole` (activation: body) all faces of the body count as soon as one is near.
 * Contacts of one vertex with one body (one convex piece of a chain) are a group, its sub-contacts the planes: outside
 * when outside of one of them.
 *
 * In space a face counts for a vertex only if the vertex can be the one that touches: no neighbour lies behind it by
 * more than asin(0.3) (the "applicability" of the original simulator); otherwise two cubes side by side would hold each
 * other by every side. Edge pairs with crossing Gauss arcs that are nearer than epsilon are groups of one.
 *
 * These groups lose or invent edge contacts in space (docs/methods/peg.md): they are here for st, ap and peg-heuristic
 * as the papers have them. D. M. Flickinger, J. Williams, J. C. Trinkle, "Performance of a method for formulating
 * geometrically exact complementarity constraints in multibody dynamic simulation", J. Comput. Nonlinear Dyn. 10
 * (2015). Cost O(V_a F_b + V_b F_a + E_a E_b). */
#include "base/elementary.h"
#include "collision/features.h"

enum { MOST_FACES = MOR_MAX_PARTS };
#define APPLICABLE (-0.3)

typedef struct list {
    mor_point* points;
    int count, capacity, group;
} list;

static void put(list* l, bool vertex_of_b, mor_vec3 v, mor_vec3 outward, double gap, uint32_t feature, int group,
                int plane)
{
    if (l->count == l->capacity) return;
    mor_point p =
        vertex_of_b ? mor_point_on_b(v, outward, gap, feature) : mor_point_on_a(v, mor_neg(outward), gap, feature);
    p.group = group;
    p.plane = plane;
    l->points[l->count++] = p;
}

/* -------------------------------------------------------------------------------- in space */

/* Distance of a point (local axes of P) to the polygon of face f. */
static double polygon_distance(const mor_polyhedron* P, int f, mor_vec3 v)
{
    int start = P->face_start[f], count = P->face_start[f + 1] - start;
    mor_vec3 n = P->normals[f];
    double height = mor_dot(n, v) - P->offsets[f], best = HUGE_VAL;
    bool inside = true;
    for (int k = 0; k < count; k++) {
        mor_vec3 p = P->vertices[P->face_vertices[start + k]],
                 e = mor_sub(P->vertices[P->face_vertices[start + (k + 1) % count]], p);
        mor_vec3 d = mor_sub(v, p);
        if (mor_dot(mor_cross(e, n), d) <= 0.0) continue;
        inside = false;
        double t = mor_min(1.0, mor_max(0.0, mor_dot(d, e) / mor_dot(e, e)));
        best = mor_min(best, mor_norm(mor_madd(d, -t, e)));
    }
    return inside ? fabs(height) : best;
}

/* min over the neighbours a of vertex v of n.(a - v)/|a - v| */
static double applicability(const mor_placed* Y, int v, mor_vec3 n)
{
    const mor_polyhedron* Q = Y->shape->polyhedron;
    mor_vec3 local = mor_placed_unvector(Y, n);
    double least = HUGE_VAL;
    for (int k = Q->vertex_start[v]; k < Q->vertex_start[v + 1]; k++) {
        const mor_edge* e = &Q->edges[Q->vertex_edges[k]];
        mor_vec3 d = mor_sub(Q->vertices[e->tail == v ? e->head : e->tail], Q->vertices[v]);
        least = mor_min(least, mor_dot(local, d) / mor_norm(d));
    }
    return least;
}

static void vertices_on_faces(const mor_placed* X, const mor_placed* Y, bool x_is_a, double epsilon, bool whole,
                              list* l)
{
    const mor_polyhedron *P = X->shape->polyhedron, *Q = Y->shape->polyhedron;
    int faces = P ? P->face_count : 1;
    for (int v = 0; v < Q->vertex_count; v++) {
        mor_vec3 world = mor_placed_point(Y, Q->vertices[v]), local = mor_placed_unpoint(X, world);
        if (P && mor_norm(local) > X->shape->radius + epsilon) continue;
        bool near[MOST_FACES], any = false;
        for (int f = 0; f < faces; f++) {
            mor_vec3 n = P ? mor_placed_vector(X, P->normals[f]) : mor_placed_axis(X);
            near[f] = (P ? polygon_distance(P, f, local) : local.z) < epsilon && applicability(Y, v, n) > APPLICABLE;
            any = any || near[f];
        }
        if (!any) continue;
        l->group++;
        int plane = 0;
        for (int f = 0; f < faces; f++) {
            if (!near[f] && !whole) continue;
            mor_vec3 n = P ? mor_placed_vector(X, P->normals[f]) : mor_placed_axis(X);
            double gap = P ? mor_dot(P->normals[f], local) - P->offsets[f] : local.z;
            put(l, x_is_a, world, n, gap,
                x_is_a ? mor_feature(MOR_VERTEX_OF_B, f, v) : mor_feature(MOR_VERTEX_OF_A, v, f), l->group, ++plane);
        }
    }
}

static void crossing_edges(const mor_placed* A, const mor_placed* B, double epsilon, list* l)
{
    const mor_polyhedron *P = A->shape->polyhedron, *Q = B->shape->polyhedron;
    for (int i = 0; i < P->edge_count; i++) {
        const mor_edge* a = &P->edges[i];
        mor_vec3 p = mor_placed_point(A, P->vertices[a->tail]),
                 u = mor_sub(mor_placed_point(A, P->vertices[a->head]), p);
        mor_vec3 L = mor_placed_vector(A, P->normals[a->left]), R = mor_placed_vector(A, P->normals[a->right]);
        for (int j = 0; j < Q->edge_count; j++) {
            const mor_edge* b = &Q->edges[j];
            double lu = -mor_dot(mor_placed_vector(B, Q->normals[b->left]), u),
                   ru = -mor_dot(mor_placed_vector(B, Q->normals[b->right]), u);
            if (lu * ru >= 0.0) continue;
            mor_vec3 q = mor_placed_point(B, Q->vertices[b->tail]),
                     v = mor_sub(mor_placed_point(B, Q->vertices[b->head]), q);
            double Lv = mor_dot(L, v), Rv = mor_dot(R, v);
            if (Lv * Rv >= 0.0 || ru * Lv <= 0.0) continue;
            mor_vec3 n = mor_cross(u, v), w = mor_sub(q, p);
            double nn = mor_dot(n, n), uu = mor_dot(u, u), vv = mor_dot(v, v), uv = mor_dot(u, v);
            if (nn < 1e-8 * uu * vv) continue;
            /* the nearest points of the lines must lie on the edges */
            double s = (mor_dot(u, w) * vv - uv * mor_dot(v, w)) / nn, t = (s * uv - mor_dot(v, w)) / vv;
            if (s < 0.0 || s > 1.0 || t < 0.0 || t > 1.0) continue;
            n = mor_scale(1.0 / sqrt(nn), n);
            if (mor_dot(n, mor_add(L, R)) < 0.0) n = mor_neg(n);
            mor_vec3 on_a = mor_madd(p, s, u), on_b = mor_madd(q, t, v);
            double gap = mor_dot(n, mor_sub(on_b, on_a));
            if (fabs(gap) >= epsilon) continue;
            put(l, true, on_b, n, gap, mor_feature(MOR_EDGE_EDGE, i, j), ++l->group, 1);
        }
    }
}

/* -------------------------------------------------------------------------------- in the plane */

static int point_count(const mor_geometry* g) { return g->kind == MOR_PARTICLE ? 1 : g->polyline->point_count; }

/* No neighbour of vertex v lies behind the line by more than the limit. Ends and valleys of chains never touch. */
static bool applicable_planar(const mor_placed* Y, int v, mor_vec3 outward)
{
    const mor_geometry* g = Y->shape;
    if (g->kind == MOR_PARTICLE) return true;
    const mor_polyline* C = g->polyline;
    int n = C->point_count, before = v - 1, after = v + 1;
    if (g->kind == MOR_CHAIN) {
        if (before < 0 || after >= n ||
            C->normals[v - 1].x * C->normals[v].y - C->normals[v - 1].y * C->normals[v].x >= 0.0)
            return false;
    } else {
        before = (v + n - 1) % n;
        after = (v + 1) % n;
    }
    mor_vec3 local = mor_placed_unvector(Y, outward);
    int neighbours[2] = { before, after };
    for (int k = 0; k < 2; k++) {
        mor_vec3 d = mor_sub(C->points[neighbours[k]], C->points[v]);
        if (mor_dot(local, d) < APPLICABLE * mor_norm(d)) return false;
    }
    return true;
}

static void points_on_lines(const mor_placed* X, const mor_placed* Y, bool x_is_a, double epsilon, bool whole, list* l)
{
    if (X->shape->kind == MOR_PARTICLE) return;
    const mor_polyline* C = X->shape->polyline;
    for (int v = 0; v < point_count(Y->shape); v++) {
        mor_vec3 world = Y->shape->kind == MOR_PARTICLE ? Y->p : mor_placed_point(Y, Y->shape->polyline->points[v]);
        mor_vec3 local = mor_placed_unpoint(X, world);
        if (mor_norm(local) > X->shape->radius + epsilon) continue;
        bool any = false;
        for (int pass = 0; pass < 2; pass++) {
            int plane = 0, piece = 0, last = -1;
            for (int f = 0; f < C->edge_count; f++) {
                while (C->pieces && f >= C->pieces->pieces[piece].edge + C->pieces->pieces[piece].edges) piece++;
                mor_vec3 p = C->points[f], e = mor_sub(C->points[f + 1 < C->point_count ? f + 1 : 0], p),
                         d = mor_sub(local, p);
                double t = mor_min(1.0, mor_max(0.0, mor_dot(d, e) / mor_dot(e, e)));
                bool near = mor_norm(mor_madd(d, -t, e)) < epsilon;
                mor_vec3 n = mor_placed_vector(X, C->normals[f]);
                if (!applicable_planar(Y, v, n)) continue;
                if (pass == 0) any = any || near;
                else if (near || whole) {
                    if (piece != last) l->group++, plane = 0; /* a chain is outside when it is outside of every piece */
                    last = piece;
                    put(l, x_is_a, world, n, mor_dot(C->normals[f], d),
                        x_is_a ? mor_feature(MOR_VERTEX_OF_B, f, v) : mor_feature(MOR_VERTEX_OF_A, v, f), l->group,
                        ++plane);
                }
            }
            if (!any) break;
        }
    }
}

int mor_features_vertex(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                        double epsilon, bool whole, mor_point* points, int capacity)
{
    mor_placed A, B;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    list l = { points, 0, capacity, 0 };
    if (a->dimension == 2) {
        points_on_lines(&A, &B, true, epsilon, whole, &l);
        points_on_lines(&B, &A, false, epsilon, whole, &l);
    } else {
        if (b->kind == MOR_POLYHEDRON) vertices_on_faces(&A, &B, true, epsilon, whole, &l);
        if (a->kind == MOR_POLYHEDRON) vertices_on_faces(&B, &A, false, epsilon, whole, &l);
        if (a->kind == MOR_POLYHEDRON && b->kind == MOR_POLYHEDRON) crossing_edges(&A, &B, epsilon, &l);
    }
    return mor_points_to_world(points, l.count, pose_a);
}
