/* An ellipsoid and any other convex shape, from their support functions: one contact point.
 *
 * The signed distance of two convex shapes is the greatest separation over unit directions,
 *     s(n) = n . w(n),   w(n) = x_B(-n) - x_A(n),
 * x(n) being the farthest point in direction n; shapes that overlap have local maxima, and GJK (apart) or EPA
 * (overlapping) start near the one that counts. Their normals of curved shapes are only good to about the square root
 * of rounding, and worse for small gaps. So s(n) is climbed by Newton's method on the sphere: with tangents t, o at n,
 *     (T' K T + s I) step = T' w,   T = [t o],   K = dx_A/dn + dx_B/dn,
 * where for semi-axes D the ellipsoid has x = D^2 n/|D n| and dx/dn = (D^2 - x x')/|D n| in its own frame. Parts of the
 * other shape with a kink are taken one by one: normals of faces are directions known exactly, edges (and the axis of a
 * capsule) leave a circle of directions with one tangent, vertices have dx/dn = 0. The greatest separation found is the
 * distance, since every s(n) is a lower bound of it. Cylinders and cones, whose rims have kinks of their own, are
 * climbed by compass search (pair_convex.c).
 *
 * Accuracy: gap and normal to rounding, the place of the contact to rounding times the radius of curvature (compass
 * search: 1e-8 of the size). Cost: GJK, then three to six Newton steps per part. On a plane the answer is closed. */
#include "base/elementary.h"
#include "collision/gjk.h"
#include "collision/pair_tests.h"

/* K(n) of an ellipsoid, added to a 2 x 2 matrix in the tangents: K_tt, K_to, K_oo. */
static void add_curvature(const mor_placed* X, mor_vec3 n, mor_vec3 t, mor_vec3 o, double K[3])
{
    if (X->shape->kind != MOR_ELLIPSOID) return;
    const double* a = X->shape->size;
    mor_vec3 d = mor_placed_unvector(X, n), u = mor_placed_unvector(X, t), v = mor_placed_unvector(X, o);
    mor_vec3 D2 = mor_v3(a[0] * a[0], a[1] * a[1], a[2] * a[2]);
    mor_vec3 Dd = mor_v3(D2.x * d.x, D2.y * d.y, D2.z * d.z);
    double length = sqrt(mor_dot(d, Dd)), xu = mor_dot(Dd, u) / length, xv = mor_dot(Dd, v) / length;
    K[0] += (D2.x * u.x * u.x + D2.y * u.y * u.y + D2.z * u.z * u.z - xu * xu) / length;
    K[1] += (D2.x * u.x * v.x + D2.y * u.y * v.y + D2.z * u.z * v.z - xu * xv) / length;
    K[2] += (D2.x * v.x * v.x + D2.y * v.y * v.y + D2.z * v.z * v.z - xv * xv) / length;
}

typedef struct climber {
    const mor_placed *A, *B;
    mor_vec3 n; /* the best direction so far */
    double s;
    double slack; /* the first exact direction replaces the iterated one; the next must be better than rounding */
} climber;

static void offer(climber* c, mor_vec3 n, double s)
{
    if (!(s > c->s - c->slack)) return;
    c->s = s, c->n = n;
    c->slack = -1e-14 * c->B->shape->radius;
}

/* Climbs from n; with an edge along the circle of directions square to it. `corner`: x_A stays there. */
static void climb(climber* c, mor_vec3 n, const mor_vec3* edge, const mor_vec3* corner)
{
    const double least = 1e-15;
    if (edge) n = mor_normalize(mor_madd(n, -mor_dot(n, *edge), *edge), n);
    double s = mor_separation(c->A, c->B, n);
    for (int k = 0; k < 40; k++) {
        mor_vec3 t, o, x = corner ? *corner : mor_support(c->A, n), w = mor_sub(mor_support(c->B, mor_neg(n)), x);
        if (edge) t = mor_cross(*edge, n), o = *edge;
        else mor_tangents(n, mor_v3(1, 0, 0), &t, &o);
        double K[3] = { 0, 0, 0 }, height = mor_dot(n, w), g = mor_dot(t, w), f = edge ? 0.0 : mor_dot(o, w);
        add_curvature(c->A, n, t, o, K);
        add_curvature(c->B, n, t, o, K);
        K[0] += height, K[2] += height;
        if (edge) K[1] = 0.0, K[2] = 1.0;
        double det = K[0] * K[2] - K[1] * K[1];
        if (!(K[0] > 0.0) || !(det > 0.0)) break; /* so deep that the maximum is not round any more */
        double p = (K[2] * g - K[1] * f) / det, q = (K[0] * f - K[1] * g) / det, size = sqrt(p * p + q * q);
        double part = size > 0.3 ? 0.3 / size : 1.0;
        bool better = false;
        for (int halving = 0; halving < 8 && !better; halving++, part *= 0.5) {
            mor_vec3 m = mor_normalize(mor_madd(mor_madd(n, part * p, t), part * q, o), n);
            double next = mor_separation(c->A, c->B, m);
            /* the last steps change s by less than its rounding */
            better = next > s || (size < 1e-6 && next >= s - 1e-15 * (fabs(s) + c->B->shape->radius));
            if (better) n = m, s = next;
        }
        if (!better || size < least) break;
    }
    offer(c, n, s);
}

/* The parts of a polyhedron near direction n. */
static void climb_polyhedron(climber* c, mor_vec3 n)
{
    const double near = 0.995; /* cosine: faces within 6 degrees of the start */
    const mor_placed* A = c->A;
    const mor_polyhedron* P = A->shape->polyhedron;
    mor_vec3 d = mor_placed_unvector(A, n);
    int v = 0;
    double far = -HUGE_VAL;
    for (int i = 0; i < P->vertex_count; i++)
        if (mor_dot(d, P->vertices[i]) > far) far = mor_dot(d, P->vertices[i]), v = i;
    for (int f = 0; f < P->face_count; f++) {
        if (mor_dot(P->normals[f], d) < near) continue;
        mor_vec3 m = mor_placed_vector(A, P->normals[f]);
        offer(c, m, mor_separation(A, c->B, m));
    }
    for (int k = P->vertex_start[v]; k < P->vertex_start[v + 1]; k++) {
        const mor_edge* e = &P->edges[P->vertex_edges[k]];
        mor_vec3 along = mor_sub(P->vertices[e->head], P->vertices[e->tail]);
        along = mor_placed_vector(A, mor_scale(1.0 / mor_norm(along), along));
        if (fabs(mor_dot(along, n)) < 0.3) climb(c, n, &along, NULL);
    }
    mor_vec3 corner = mor_placed_point(A, P->vertices[v]);
    climb(c, n, NULL, &corner);
}

static void improve(const mor_placed* A, const mor_placed* B, double step, mor_closest* closest)
{
    if (A->shape->kind == MOR_CYLINDER || A->shape->kind == MOR_CONE) {
        mor_climb_separation(A, B, step, closest);
        return;
    }
    climber c = { .A = A, .B = B, .n = closest->normal, .s = mor_separation(A, B, closest->normal) };
    for (int round = 0; round < 3; round++) {
        mor_vec3 n = c.n;
        c.slack = 1e-12 * B->shape->radius;
        if (A->shape->kind == MOR_POLYHEDRON) climb_polyhedron(&c, n);
        else {
            mor_vec3 axis = mor_placed_axis(A);
            if (A->shape->kind == MOR_CAPSULE) climb(&c, n, &axis, NULL);
            climb(&c, n, NULL, NULL);
        }
        if (mor_norm(mor_sub(n, c.n)) < 1e-9) break;
    }
    closest->normal = c.n, closest->distance = c.s;
}

int mor_pair_plane_ellipsoid(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                             const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    mor_placed A, B;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    mor_vec3 n = mor_placed_axis(&A), x = mor_support(&B, mor_neg(n));
    double gap = mor_dot(n, x);
    if (!(gap < reach)) return 0;
    points[0] = mor_point_on_b(x, n, gap, mor_feature(MOR_CLOSEST, 0, 0));
    return mor_points_to_world(points, 1, pose_a);
}

int mor_pair_convex_ellipsoid(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                              const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    mor_placed A, B;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    double radius = a->kind == MOR_SPHERE || a->kind == MOR_CAPSULE ? a->size[0] : 0.0, bound = a->radius + b->radius;
    bound += reach;
    if (bound <= 0.0 || mor_dot(B.p, B.p) >= bound * bound) return 0;
    mor_closest c;
    mor_gjk_status status = mor_gjk(&A, &B, reach + radius, &c);
    if (status == MOR_GJK_FAR) return 0;
    bool deep = status == MOR_GJK_OVERLAP || c.distance < 1e-7 * mor_min(a->radius, b->radius);
    if (deep) mor_epa(&A, &B, &c);
    improve(&A, &B, deep ? 0.02 : 1e-4, &c);
    double gap = c.distance - radius;
    if (!(gap < reach)) return 0;
    points[0] = mor_point_on_b(mor_support(&B, mor_neg(c.normal)), c.normal, gap, mor_feature(MOR_CLOSEST, 0, 0));
    return mor_points_to_world(points, 1, pose_a);
}
