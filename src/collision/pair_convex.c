/* Any two of capsule, cylinder, cone and polyhedron, from their support functions.
 *
 * Distance d and normal of the cores come from GJK, or from EPA when the cores overlap; the gap is d
 * less the radii of capsules. Both iterations leave the normal of curved shapes with an error of the
 * order of the square root of rounding, though the distance is exact to second order. So the normal
 * is then replaced by a direction known in closed form if one within SNAP of it separates as well:
 * face normals of polyhedra, axes, normals across an axis and an edge or two axes, normals from an axis
 * to the witness point. s(n) = min n.b - max n.a decides; d is its greatest value in every case. Where
 * none fits (rims against edges, vertices and rims) a compass search climbs s(n), along the ridge
 * that a supporting edge makes if there is one: the normal is then good to about 1e-8, the gap to
 * its square.
 *
 * The points are the intersection of the supporting facets (manifold.c), and the closest points
 * themselves where these facets meet nowhere as near. Those of EPA are as uncertain as its normal, so
 * they are found again by GJK with B moved out along the normal: that leaves them what they are. Cost:
 * some ten to forty support evaluations. */
#include "base/elementary.h"
#include "collision/gjk.h"
#include "collision/pair_tests.h"

/* of the sixteen that stand for a cap */
#define CAP_POINTS 8
/* of the size: shapes so far apart have closest points */
#define OUT 1e-3
/* sine of the angle within which an exact direction replaces the iterated one */
#define SNAP 1e-3

static double core_radius(const mor_geometry* g) { return g->kind == MOR_CAPSULE ? g->size[0] : 0.0; }

typedef struct snapper {
    const mor_placed *A, *B;
    mor_vec3 start, n;
    double separation, slack;
} snapper;

/* Takes +-d if it is near the iterated normal and separates no less. */
static void offer(snapper* s, mor_vec3 d)
{
    double dd = mor_dot(d, d), c = mor_dot(d, s->start);
    if (!(dd > 0.0) || c * c < (1.0 - SNAP * SNAP) * dd) return;
    d = mor_scale((c < 0.0 ? -1.0 : 1.0) / sqrt(dd), d);
    double t = mor_separation(s->A, s->B, d);
    if (t < s->separation - s->slack) return;
    if (t > s->separation) s->separation = t;
    s->slack = 0.0; /* the first exact direction stands unless another is better */
    s->n = d;
}

static bool has_axis(const mor_geometry* g) { return g->kind != MOR_POLYHEDRON; }

static void offer_faces(snapper* s, const mor_placed* X)
{
    if (X->shape->kind != MOR_POLYHEDRON) return;
    const mor_polyhedron* P = X->shape->polyhedron;
    mor_vec3 d = mor_placed_unvector(X, s->start);
    for (int f = 0; f < P->face_count; f++)
        if (fabs(mor_dot(P->normals[f], d)) > 0.999) offer(s, mor_placed_vector(X, P->normals[f]));
}

/* Side lines: across the axis of X and the edges (or the axis) of Y. */
static void offer_across(snapper* s, const mor_placed* X, const mor_placed* Y)
{
    if (X->shape->kind != MOR_CYLINDER && X->shape->kind != MOR_CAPSULE) return;
    mor_vec3 u = mor_placed_axis(X);
    if (fabs(mor_dot(u, s->start)) > SNAP) return;
    if (has_axis(Y->shape)) {
        offer(s, mor_cross(u, mor_placed_axis(Y)));
        return;
    }
    const mor_polyhedron* P = Y->shape->polyhedron;
    mor_vec3 d = mor_placed_unvector(Y, s->start), w = mor_placed_unvector(Y, u);
    for (int k = 0; k < P->edge_count; k++) {
        mor_vec3 e = mor_sub(P->vertices[P->edges[k].head], P->vertices[P->edges[k].tail]);
        if (fabs(mor_dot(e, d)) <= SNAP * mor_norm(e)) offer(s, mor_placed_vector(Y, mor_cross(w, e)));
    }
}

/* From the axis of X to the point q of the other shape, and the start projected across the axis. */
static void offer_radial(snapper* s, const mor_placed* X, mor_vec3 q)
{
    if (X->shape->kind != MOR_CYLINDER) return;
    mor_vec3 u = mor_placed_axis(X), r = mor_sub(q, X->p);
    if (fabs(mor_dot(u, s->start)) > SNAP) return;
    offer(s, mor_madd(r, -mor_dot(r, u), u));
    offer(s, mor_madd(s->start, -mor_dot(s->start, u), u));
}

/* Unit direction of the supporting edge or side line that n is nearly square to: s(n) has a kink
 * across it. */
static int find_ridge(const mor_placed* X, mor_vec3 n, mor_vec3* ridge)
{
    if (X->shape->kind == MOR_ELLIPSOID) return 0;
    if (X->shape->kind != MOR_POLYHEDRON) {
        *ridge = mor_placed_axis(X);
        return X->shape->kind != MOR_CONE && fabs(mor_dot(*ridge, n)) < 0.01;
    }
    mor_facet f;
    mor_facet_support(X, n, &f);
    if (f.count != 2) return 0;
    *ridge = mor_normalize(mor_sub(f.point[1], f.point[0]), mor_v3(0, 0, 1));
    return fabs(mor_dot(*ridge, n)) < 0.01;
}

void mor_climb_separation(const mor_placed* A, const mor_placed* B, double step, mor_closest* c)
{
    static const double compass[8][2] = { { 1, 0 },  { 0.8, 0.6 },   { 0, 1 },  { -0.6, 0.8 },
                                          { -1, 0 }, { -0.8, -0.6 }, { 0, -1 }, { 0.6, -0.8 } };
    mor_vec3 ridge[2], n = c->normal, t, o;
    int ridges = find_ridge(A, n, &ridge[0]);
    ridges += find_ridge(B, n, &ridge[ridges]);
    double best = mor_separation(A, B, n);
    for (int evaluations = 0; step > 1e-9 && evaluations < 2000;) {
        bool better = false;
        mor_tangents(n, mor_v3(1, 0, 0), &t, &o);
        mor_vec3 from = n;
        for (int k = 0; k < 8; k++)
            for (int r = -1; r < ridges; r++) {
                mor_vec3 m = mor_madd(mor_madd(from, step * compass[k][0], t), step * compass[k][1], o);
                if (r >= 0) m = mor_madd(m, -mor_dot(m, ridge[r]), ridge[r]);
                m = mor_normalize(m, from);
                double s = mor_separation(A, B, m);
                evaluations++;
                if (s > best) {
                    best = s;
                    n = m;
                    better = true;
                }
            }
        if (!better) step *= 0.5;
    }
    c->normal = n;
    c->distance = best;
}

static bool snap(const mor_placed* A, const mor_placed* B, double size, mor_closest* c)
{
    snapper s = { A, B, c->normal, c->normal, c->distance, 1e-11 * size };
    offer_faces(&s, A);
    offer_faces(&s, B);
    if (A->shape->kind == MOR_CYLINDER || A->shape->kind == MOR_CONE) offer(&s, mor_placed_axis(A));
    if (B->shape->kind == MOR_CYLINDER || B->shape->kind == MOR_CONE) offer(&s, mor_placed_axis(B));
    offer_across(&s, A, B);
    offer_across(&s, B, A);
    if (s.slack > 0.0) {
        offer_radial(&s, A, c->on_b);
        offer_radial(&s, B, c->on_a);
    }
    if (s.slack > 0.0) return false;
    c->normal = s.n;
    c->distance = mor_separation(A, B, s.n);
    return true;
}

/* Closest points of shapes that touch, with B moved by `out` along the normal. */
static void find_again(const mor_placed* A, const mor_placed* B, double out, mor_closest* c)
{
    mor_placed moved = *B;
    moved.p = mor_madd(B->p, out, c->normal);
    mor_closest apart;
    if (mor_gjk(A, &moved, HUGE_VAL, &apart) == MOR_GJK_APART) c->on_b = mor_madd(apart.on_b, -out, c->normal);
}

int mor_pair_convex_convex(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                           double reach, uint32_t cache[4], mor_point* points)
{
    mor_placed A, B;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    double bound = a->radius + b->radius + reach, ra = core_radius(a), rb = core_radius(b);
    if (bound <= 0.0 || mor_dot(B.p, B.p) >= bound * bound) return 0;
    const double size = mor_min(a->radius, b->radius);
    (void)cache;

    mor_closest c;
    mor_gjk_status status = mor_gjk(&A, &B, reach + ra + rb, &c);
    if (status == MOR_GJK_FAR) return 0;
    bool deep = status == MOR_GJK_OVERLAP || c.distance < 1e-7 * size;
    if (deep) mor_epa(&A, &B, &c);
    if (!snap(&A, &B, size, &c)) {
        mor_climb_separation(&A, &B, deep ? 0.02 : 1e-4, &c);
        snap(&A, &B, size, &c);
    }
    double gap = c.distance - ra - rb, tol = 1e-9 * size, least;
    if (!(gap < reach)) return 0;

    mor_facet fa, fb;
    mor_facet_support(&A, c.normal, &fa);
    mor_facet_support(&B, mor_neg(c.normal), &fb);
    int count = mor_manifold_clip(&fa, &fb, c.normal, ra, rb, tol, reach, points, &least);
    count = mor_manifold_reduce(points, count, CAP_POINTS, HUGE_VAL, NULL);
    if (least > gap + tol) {
        if (deep) find_again(&A, &B, OUT * size - c.distance, &c);
        points[count++] =
            mor_point_on_b(mor_madd(c.on_b, -rb, c.normal), c.normal, gap, mor_feature(MOR_CLOSEST, 0, 0));
    }
    return mor_points_to_world(points, count, pose_a);
}
