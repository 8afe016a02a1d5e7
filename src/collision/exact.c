/* Signed distance of two convex shapes from their support functions alone.
 *
 * Apart: GJK to rounding. Overlapping: two polyhedra by all separating directions (face normals, cross products of
 * edges): the greatest separation is the depth (S. Gottschalk, M. Lin, D. Manocha, 1996). Polyhedra with many edges and
 * curved shapes by EPA and a search from its direction, to 1e-10 of the size. A plane: the lowest point over it.
 * The pair tests of `manifold` are not used. Cost: up to edges times edges times corners. */
#include "collision/exact.h"

#include "base/elementary.h"
#include "collision/gjk.h"

enum { MOST_PRODUCTS = 20000 };

static double radius_of(const mor_geometry* g)
{
    return g->kind == MOR_SPHERE || g->kind == MOR_CAPSULE || g->kind == MOR_DISC ? g->size[0] : 0.0;
}

static bool is_convex(const mor_geometry* g)
{
    switch (g->kind) {
    case MOR_SPHERE:
    case MOR_CAPSULE:
    case MOR_CYLINDER:
    case MOR_CONE:
    case MOR_POLYHEDRON:
    case MOR_ELLIPSOID:
    case MOR_PARTICLE:
    case MOR_DISC:
        return true;
    default:
        return false;
    }
}

static bool has_volume(const mor_geometry* g)
{
    return g->kind == MOR_CYLINDER || g->kind == MOR_CONE || g->kind == MOR_POLYHEDRON || g->kind == MOR_ELLIPSOID;
}

static void try_direction(const mor_placed* A, const mor_placed* B, mor_vec3 n, mor_closest* c)
{
    double s = mor_separation(A, B, n);
    if (s > c->distance) c->distance = s, c->normal = n;
}

/* The greatest separation over all directions that faces and edges can realise. */
static void separate_polyhedra(const mor_placed* A, const mor_placed* B, mor_closest* c)
{
    const mor_polyhedron *P = A->shape->polyhedron, *Q = B->shape->polyhedron;
    c->distance = -HUGE_VAL;
    for (int f = 0; f < P->face_count; f++) try_direction(A, B, mor_placed_vector(A, P->normals[f]), c);
    for (int f = 0; f < Q->face_count; f++) try_direction(A, B, mor_neg(mor_placed_vector(B, Q->normals[f])), c);
    for (int i = 0; i < P->direction_count; i++)
        for (int j = 0; j < Q->direction_count; j++) {
            mor_vec3 n = mor_cross(mor_placed_vector(A, P->directions[i]), mor_placed_vector(B, Q->directions[j]));
            double length = mor_norm(n);
            if (length < 1e-9) continue; /* parallel: a face normal does it */
            n = mor_scale(1.0 / length, n);
            try_direction(A, B, n, c);
            try_direction(A, B, mor_neg(n), c);
        }
}

static double to_plane(const mor_placed* plane, const mor_placed* X, mor_vec3* n)
{
    *n = mor_placed_axis(plane);
    return mor_dot(*n, mor_sub(mor_support(X, mor_neg(*n)), plane->p)) - radius_of(X->shape);
}

bool mor_exact_distance(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                        double* distance, mor_vec3* normal)
{
    mor_placed A, B;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    if (a->kind == MOR_PLANE && is_convex(b)) return *distance = to_plane(&A, &B, normal), true;
    if (b->kind == MOR_PLANE && is_convex(a)) {
        *distance = to_plane(&B, &A, normal);
        *normal = mor_neg(*normal);
        return true;
    }
    if (!is_convex(a) || !is_convex(b)) return false;
    mor_closest c = { .distance = 0.0 };
    double size = mor_min(a->radius, b->radius);
    mor_gjk_status status = mor_gjk(&A, &B, HUGE_VAL, &c);
    if (status != MOR_GJK_APART || c.distance < 1e-7 * size) {
        if (!has_volume(a) && !has_volume(b)) { /* centres that coincide, axes that cross */
            if (status == MOR_GJK_OVERLAP) c.distance = 0.0, c.normal = mor_v3(0, 0, 0);
        } else if (a->kind == MOR_POLYHEDRON && b->kind == MOR_POLYHEDRON &&
                   (long long)a->polyhedron->direction_count * b->polyhedron->direction_count < MOST_PRODUCTS) {
            separate_polyhedra(&A, &B, &c);
        } else {
            mor_epa(&A, &B, &c);
            mor_climb_separation(&A, &B, 0.02, &c);
        }
    }
    *distance = c.distance - radius_of(a) - radius_of(b);
    *normal = c.normal;
    return true;
}
