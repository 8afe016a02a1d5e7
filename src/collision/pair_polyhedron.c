/* Convex polyhedra by separating axes.
 *
 * s(n) = min n.b - max n.a is the separation along the unit axis n. Its greatest value over the face
 * normals of a, those of b (reversed) and the cross products of edges is
 *   - minus the depth when the polyhedra overlap;
 *   - their distance when a face and a vertex, or the insides of two edges, are nearest;
 *   - less than the distance when a vertex is nearest to a vertex or an edge. This is seen from
 *     the contact itself (no point of it is as near as s), and GJK finds the distance then.
 * Shapes that are clearly apart need no edge axes: either a face realises the distance or GJK gives it.
 * An edge pair can only matter if the arcs of its face normals on the unit sphere cross, those of b
 * reversed: with u the edge of a between faces L, R and v that of b between l, r
 *     (l.u)(r.u) < 0,  (L.v)(R.v) < 0,  (r.u)(L.v) > 0 (both arcs on one hemisphere)
 * (D. Gregorius, 2013, "The separating axis test between convex polyhedra", GDC). The separation of
 * such a pair is n.(q - p) with p, q on the edges: no support function is needed.
 *
 * Cost O(F_a V_b + F_b V_a + E_a E_b), the last only over edges near the other shape and only when no
 * face separates clearly; meant for polyhedra up to some hundred edges. The cache holds the last axis farther than
 * `reach`; it is tried first, and a pair it separates has no contacts however the search would end. */
#include "collision/pair_polyhedron.h"

#include "base/elementary.h"
#include "collision/gjk.h"
#include "collision/pair_tests.h"

#define FACE_COSINE 0.98
#define RESTING_POINTS 8
#define EDGE_BLOCK 64
/* share of the size: GJK's normal has ten digits from here on */
#define CLEARLY_APART 1e-5

/* Vertex of P farthest in the local direction d. */
static int far_vertex(const mor_polyhedron* P, mor_vec3 d, double* far)
{
    int best = 0;
    *far = mor_dot(d, P->vertices[0]);
    for (int i = 1; i < P->vertex_count; i++) {
        double s = mor_dot(d, P->vertices[i]);
        if (s > *far) {
            *far = s;
            best = i;
        }
    }
    return best;
}

/* Separation of Y from face f of X. */
static double face_separation(const mor_placed* X, int f, const mor_placed* Y)
{
    const mor_polyhedron* P = X->shape->polyhedron;
    mor_vec3 n = mor_placed_vector(X, P->normals[f]);
    double far;
    far_vertex(Y->shape->polyhedron, mor_neg(mor_placed_unvector(Y, n)), &far);
    return mor_dot(n, mor_sub(Y->p, X->p)) - P->offsets[f] - far;
}

/* ------------------------------------------------------------------------- contact points */

/* Nearest points of the lines through two edges, held within the edges. */
static void edge_points(const mor_placed* A, int i, const mor_placed* B, int j, mor_vec3* pa, mor_vec3* pb)
{
    const mor_polyhedron *P = A->shape->polyhedron, *Q = B->shape->polyhedron;
    mor_vec3 p = mor_placed_point(A, P->vertices[P->edges[i].tail]),
             u = mor_sub(mor_placed_point(A, P->vertices[P->edges[i].head]), p);
    mor_vec3 q = mor_placed_point(B, Q->vertices[Q->edges[j].tail]),
             v = mor_sub(mor_placed_point(B, Q->vertices[Q->edges[j].head]), q);
    mor_vec3 w = mor_sub(q, p);
    double uu = mor_dot(u, u), vv = mor_dot(v, v), uv = mor_dot(u, v), uw = mor_dot(u, w), vw = mor_dot(v, w);
    double det = uu * vv - uv * uv, s = det > 0.0 ? (uw * vv - uv * vw) / det : 0.0;
    s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
    double t = (s * uv - vw) / vv;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    s = (uw + t * uv) / uu;
    s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
    *pa = mor_madd(p, s, u);
    *pb = mor_madd(q, t, v);
}

/* The face beside edge e that looks along n if it is near enough to lying flat, else the edge. */
static void facet_at_edge(const mor_placed* X, int e, mor_vec3 n, mor_facet* facet)
{
    const mor_polyhedron* P = X->shape->polyhedron;
    const mor_edge* edge = &P->edges[e];
    mor_vec3 d = mor_placed_unvector(X, n);
    double left = mor_dot(P->normals[edge->left], d), right = mor_dot(P->normals[edge->right], d);
    if (mor_max(left, right) > FACE_COSINE) {
        mor_facet_face(X, left >= right ? edge->left : edge->right, facet);
        return;
    }
    facet->count = 2;
    facet->face = e;
    facet->vertex[0] = edge->tail;
    facet->vertex[1] = edge->head;
    facet->edge[0] = facet->edge[1] = e;
    facet->point[0] = mor_placed_point(X, P->vertices[edge->tail]);
    facet->point[1] = mor_placed_point(X, P->vertices[edge->head]);
}

/* Contact where the nearest features are found by GJK. */
static int closest_contact(const mor_placed* A, const mor_placed* B, const mor_axis_choice* axis, double tol,
                           double reach, mor_point* points)
{
    mor_closest c;
    mor_gjk_status status = mor_gjk(A, B, reach, &c);
    if (status == MOR_GJK_FAR) return 0;
    if (status == MOR_GJK_OVERLAP) {
        /* touching at corners: any axis of separation is a good normal */
        c.normal = axis->n;
        c.distance = axis->separation;
        c.on_b = mor_support(B, mor_neg(axis->n));
    }
    mor_facet fa, fb;
    double least;
    mor_facet_support(A, c.normal, &fa);
    mor_facet_support(B, mor_neg(c.normal), &fb);
    int count = mor_manifold_clip(&fa, &fb, c.normal, 0, 0, tol, reach, points, &least);
    if (least > c.distance + tol && c.distance < reach && count < MOR_MAX_POINTS)
        points[count++] = mor_point_on_b(c.on_b, c.normal, c.distance, mor_feature(MOR_CLOSEST, 0, 0));
    count = mor_manifold_reduce(points, count, RESTING_POINTS);
    for (int i = 0; i < count; i++) points[i].corner = true;
    return count;
}

int mor_polyhedra_contact(const mor_placed* A, const mor_placed* B, const mor_axis_choice* axis, double reach,
                          mor_point* points)
{
    const double size = mor_min(A->shape->radius, B->shape->radius), tol = 1e-9 * size + 1e-9 * fabs(axis->separation);
    const mor_vec3 n = axis->n;
    mor_facet fa, fb;
    mor_point deepest;
    double least, far;
    if (axis->kind == MOR_AXIS_FACE_A) {
        int v = far_vertex(B->shape->polyhedron, mor_placed_unvector(B, mor_neg(n)), &far);
        mor_facet_face(A, axis->i, &fa);
        mor_facet_face(B, mor_polyhedron_face_at(B, v, mor_neg(n)), &fb);
        deepest = mor_point_on_b(mor_placed_point(B, B->shape->polyhedron->vertices[v]), n, axis->separation,
                                 mor_feature(MOR_VERTEX_OF_B, axis->i, v));
    } else if (axis->kind == MOR_AXIS_FACE_B) {
        int v = far_vertex(A->shape->polyhedron, mor_placed_unvector(A, n), &far);
        mor_facet_face(B, axis->j, &fb);
        mor_facet_face(A, mor_polyhedron_face_at(A, v, n), &fa);
        deepest = mor_point_on_a(mor_placed_point(A, A->shape->polyhedron->vertices[v]), n, axis->separation,
                                 mor_feature(MOR_VERTEX_OF_A, v, axis->j));
    } else {
        mor_vec3 pa, pb;
        edge_points(A, axis->i, B, axis->j, &pa, &pb);
        facet_at_edge(A, axis->i, n, &fa);
        facet_at_edge(B, axis->j, mor_neg(n), &fb);
        deepest = mor_point_on_b(pb, n, axis->separation, mor_feature(MOR_EDGE_EDGE, axis->i, axis->j));
        if (axis->separation > 0.0 && mor_norm(mor_sub(pb, pa)) > axis->separation + tol)
            return closest_contact(A, B, axis, tol, reach, points);
    }
    int count = mor_manifold_clip(&fa, &fb, n, 0, 0, tol, reach, points, &least);
    if (least > axis->separation + tol) {
        if (axis->separation > 0.0 && axis->kind != MOR_AXIS_EDGES)
            return closest_contact(A, B, axis, tol, reach, points);
        if (count < MOR_MAX_POINTS) points[count++] = deepest;
    }
    return mor_manifold_reduce(points, count, RESTING_POINTS);
}

/* --------------------------------------------------------------------------------- search */

static bool cached_axis_separates(const mor_placed* A, const mor_placed* B, double reach, const uint32_t cache[4])
{
    const mor_polyhedron *P = A->shape->polyhedron, *Q = B->shape->polyhedron;
    double s = -HUGE_VAL, margin = 1e-9 * (fabs(reach) + A->shape->radius + B->shape->radius);
    int i = (int)cache[1], j = (int)cache[2];
    switch (cache[0]) {
    case 1 + MOR_AXIS_FACE_A:
        if (i < P->face_count) s = face_separation(A, i, B);
        break;
    case 1 + MOR_AXIS_FACE_B:
        if (j < Q->face_count) s = face_separation(B, j, A);
        break;
    case 1 + MOR_AXIS_EDGES:
        if (i < P->edge_count && j < Q->edge_count) {
            mor_vec3 u = mor_placed_vector(A, mor_sub(P->vertices[P->edges[i].head], P->vertices[P->edges[i].tail]));
            mor_vec3 v = mor_placed_vector(B, mor_sub(Q->vertices[Q->edges[j].head], Q->vertices[Q->edges[j].tail]));
            mor_vec3 n = mor_normalize(mor_cross(u, v), mor_v3(0, 0, 1));
            if (mor_dot(n, mor_sub(B->p, A->p)) < 0.0) n = mor_neg(n);
            s = mor_separation(A, B, n);
        }
        break;
    default:
        break;
    }
    return s > reach + margin;
}

static void remember(uint32_t cache[4], int kind, int i, int j)
{
    cache[0] = 1 + (uint32_t)kind;
    cache[1] = (uint32_t)i;
    cache[2] = (uint32_t)j;
}

/* An edge of b in the frame of a, with its face normals reversed. */
typedef struct other_edge {
    mor_vec3 q, v, l, r;
    double vv;
    int index;
} other_edge;

static mor_aabb grown(mor_aabb b, double margin)
{
    mor_vec3 m = mor_v3(margin, margin, margin);
    return (mor_aabb){ mor_sub(b.lower, m), mor_add(b.upper, m) };
}

static bool meets(const mor_aabb* box, mor_vec3 p, mor_vec3 q)
{
    return mor_min(p.x, q.x) <= box->upper.x && mor_max(p.x, q.x) >= box->lower.x &&
           mor_min(p.y, q.y) <= box->upper.y && mor_max(p.y, q.y) >= box->lower.y &&
           mor_min(p.z, q.z) <= box->upper.z && mor_max(p.z, q.z) >= box->lower.z;
}

/* Bounds of B's vertices in the frame of A. */
static mor_aabb bounds_in(const mor_placed* A, const mor_placed* B)
{
    const mor_polyhedron* Q = B->shape->polyhedron;
    mor_aabb box = { { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
    for (int k = 0; k < Q->vertex_count; k++) {
        mor_vec3 x = mor_placed_unpoint(A, mor_placed_point(B, Q->vertices[k]));
        box.lower = mor_min3(box.lower, x);
        box.upper = mor_max3(box.upper, x);
    }
    return box;
}

/* Best edge pair; false as soon as one separates by `reach` or more. The edges of a contact lie within
 * `margin`, its distance or depth, of the other shape: edges farther off are passed over. */
static bool search_edges(const mor_placed* A, const mor_placed* B, double reach, double margin, uint32_t cache[4],
                         mor_axis_choice* best)
{
    const mor_polyhedron *P = A->shape->polyhedron, *Q = B->shape->polyhedron;
    const mor_aabb near_a = grown(bounds_in(A, A), margin), near_b = grown(bounds_in(A, B), margin);
    *best = (mor_axis_choice){ .kind = MOR_AXIS_EDGES, .separation = -HUGE_VAL };
    for (int j = 0; j < Q->edge_count;) {
        other_edge block[EDGE_BLOCK];
        int m = 0;
        for (; j < Q->edge_count && m < EDGE_BLOCK; j++) {
            const mor_edge* f = &Q->edges[j];
            other_edge* o = &block[m];
            o->q = mor_placed_unpoint(A, mor_placed_point(B, Q->vertices[f->tail]));
            mor_vec3 head = mor_placed_unpoint(A, mor_placed_point(B, Q->vertices[f->head]));
            if (!meets(&near_a, o->q, head)) continue;
            o->v = mor_sub(head, o->q);
            o->l = mor_neg(mor_placed_unvector(A, mor_placed_vector(B, Q->normals[f->left])));
            o->r = mor_neg(mor_placed_unvector(A, mor_placed_vector(B, Q->normals[f->right])));
            o->vv = mor_dot(o->v, o->v);
            o->index = j;
            m++;
        }
        for (int i = 0; i < P->edge_count; i++) {
            const mor_edge* e = &P->edges[i];
            const mor_vec3 p = P->vertices[e->tail], u = mor_sub(P->vertices[e->head], p);
            const mor_vec3 L = P->normals[e->left], R = P->normals[e->right];
            if (!meets(&near_b, p, P->vertices[e->head])) continue;
            for (int k = 0; k < m; k++) {
                const other_edge* o = &block[k];
                double ru = mor_dot(o->r, u);
                if (mor_dot(o->l, u) * ru >= 0.0) continue;
                double Lv = mor_dot(L, o->v);
                if (Lv * mor_dot(R, o->v) >= 0.0 || ru * Lv <= 0.0) continue;
                mor_vec3 n = mor_cross(u, o->v);
                double nn = mor_dot(n, n);
                if (nn < 1e-14 * mor_dot(u, u) * o->vv) continue;
                n = mor_scale((mor_dot(n, mor_add(L, R)) < 0.0 ? -1.0 : 1.0) / sqrt(nn), n);
                double s = mor_dot(n, mor_sub(o->q, p));
                if (s <= best->separation) continue;
                *best = (mor_axis_choice){ MOR_AXIS_EDGES, i, o->index, n, s };
                if (s >= reach) {
                    remember(cache, MOR_AXIS_EDGES, i, o->index);
                    return false;
                }
            }
        }
    }
    best->n = mor_placed_vector(A, best->n);
    return true;
}

int mor_pair_polyhedron_polyhedron(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                                   const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    if (a->polyhedron->is_box && b->polyhedron->is_box)
        return mor_pair_box_box(a, pose_a, b, pose_b, reach, cache, points);
    mor_placed A, B;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    double bound = a->radius + b->radius + reach;
    if (bound <= 0.0 || mor_dot(B.p, B.p) >= bound * bound) return 0;
    if (cached_axis_separates(&A, &B, reach, cache)) return 0;

    const mor_polyhedron *P = a->polyhedron, *Q = b->polyhedron;
    const double size = mor_min(a->radius, b->radius);
    mor_axis_choice best = { .separation = -HUGE_VAL }, edges;
    for (int f = 0; f < P->face_count; f++) {
        double s = face_separation(&A, f, &B);
        if (s > best.separation) best = (mor_axis_choice){ MOR_AXIS_FACE_A, f, 0, { 0, 0, 0 }, s };
        if (s >= reach) {
            remember(cache, MOR_AXIS_FACE_A, f, 0);
            return 0;
        }
    }
    for (int f = 0; f < Q->face_count; f++) {
        double s = face_separation(&B, f, &A);
        if (s > best.separation + (best.kind == MOR_AXIS_FACE_A ? mor_axis_tolerance(s, size) : 0.0))
            best = (mor_axis_choice){ MOR_AXIS_FACE_B, 0, f, { 0, 0, 0 }, s };
        if (s >= reach) {
            remember(cache, MOR_AXIS_FACE_B, 0, f);
            return 0;
        }
    }
    if (best.kind == MOR_AXIS_FACE_A) best.n = mor_placed_vector(&A, P->normals[best.i]);
    else best.n = mor_neg(mor_placed_vector(&B, Q->normals[best.j]));
    /* apart by a good margin the face either realises the distance or GJK finds it: no edges needed */
    if (best.separation > CLEARLY_APART * size)
        return mor_points_to_world(points, mor_polyhedra_contact(&A, &B, &best, reach, points), pose_a);
    mor_closest c;
    mor_gjk_status status = mor_gjk(&A, &B, reach, &c);
    if (status == MOR_GJK_FAR) return 0;
    if (status == MOR_GJK_APART && c.distance > CLEARLY_APART * size)
        return mor_points_to_world(points, closest_contact(&A, &B, &best, 1e-9 * size, reach, points), pose_a);
    /* touching or overlapping: the depth is at most that of the best face */
    if (!search_edges(&A, &B, reach, 2.0 * CLEARLY_APART * size + mor_max(-best.separation, 0.0), cache, &edges))
        return 0;
    if (edges.separation > best.separation + mor_axis_tolerance(edges.separation, size)) best = edges;
    return mor_points_to_world(points, mor_polyhedra_contact(&A, &B, &best, reach, points), pose_a);
}
