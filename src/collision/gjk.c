/* Distance by the Gilbert-Johnson-Keerthi iteration.
 *
 * The distance of A and B is that of the origin to the difference C = B - A. With v the point nearest
 * to the origin of a simplex of points of C, the support point w of C in direction -v satisfies
 *     v.w / |v| <= distance <= |v|,
 * so the iteration stops when the bounds meet, and at once when the lower one passes the limit.
 * Otherwise w enters the simplex and only the face that carries the nearest point is kept.
 * (E. Gilbert, D. Johnson, S. Keerthi, 1988, "A fast procedure for computing the distance between
 * complex objects in three-dimensional space", IEEE J. Robotics Automation 4(2), section IV.)
 *
 * The nearest point of a simplex is taken as the best over its parts instead of by sign decisions on
 * determinants: dearer by a few products, but flat simplices need no special care. For polyhedra the
 * end is reached in finitely many steps; curved shapes stop where rounding stops progress, with |v| above
 * the distance: only the lower bound says that they are far. */
#include "collision/gjk.h"

#include "geometry/geometry.h"

#include <float.h>
#include <string.h>

/* above this many vertices the support point is found by walking along edges */
#define WALK_VERTICES 24
#define MAX_ITERATIONS 200
/* share of the size below which a distance has no direction */
#define NEAR 1e-9

static mor_vec3 polyhedron_support(const mor_polyhedron* P, mor_vec3 d)
{
    int best = 0;
    double far = mor_dot(d, P->vertices[0]);
    if (P->vertex_count <= WALK_VERTICES) {
        for (int i = 1; i < P->vertex_count; i++) {
            double s = mor_dot(d, P->vertices[i]);
            if (s > far) {
                far = s;
                best = i;
            }
        }
        return P->vertices[best];
    }
    for (int from = -1; from != best;) {
        from = best;
        for (int k = P->vertex_start[from]; k < P->vertex_start[from + 1]; k++) {
            const mor_edge* e = &P->edges[P->vertex_edges[k]];
            int other = e->tail == from ? e->head : e->tail;
            double s = mor_dot(d, P->vertices[other]);
            if (s > far) {
                far = s;
                best = other;
            }
        }
    }
    return P->vertices[best];
}

mor_vec3 mor_support(const mor_placed* X, mor_vec3 direction)
{
    const mor_geometry* g = X->shape;
    mor_vec3 d = mor_placed_unvector(X, direction), p;
    double rho, r = g->size[0];
    switch (g->kind) {
    case MOR_POLYHEDRON:
        p = polyhedron_support(g->polyhedron, d);
        break;
    case MOR_CAPSULE:
        p = mor_v3(0, 0, d.z < 0.0 ? -0.5 * g->size[1] : 0.5 * g->size[1]);
        break;
    case MOR_CYLINDER:
        rho = sqrt(d.x * d.x + d.y * d.y);
        p = rho > 0.0 ? mor_v3(r * d.x / rho, r * d.y / rho, 0) : mor_v3(r, 0, 0);
        p.z = d.z < 0.0 ? -0.5 * g->size[1] : 0.5 * g->size[1];
        break;
    case MOR_CONE:
        rho = sqrt(d.x * d.x + d.y * d.y);
        if (d.z * g->size[1] >= rho * r) p = mor_v3(0, 0, 0.75 * g->size[1]);
        else {
            p = rho > 0.0 ? mor_v3(r * d.x / rho, r * d.y / rho, 0) : mor_v3(r, 0, 0);
            p.z = -0.25 * g->size[1];
        }
        break;
    case MOR_ELLIPSOID:
        p = mor_ellipsoid_support(g, d);
        break;
    default:
        return X->p;
    }
    return mor_placed_point(X, p);
}

double mor_separation(const mor_placed* A, const mor_placed* B, mor_vec3 n)
{
    return mor_dot(n, mor_sub(mor_support(B, mor_neg(n)), mor_support(A, n)));
}

typedef struct simplex {
    int count;
    mor_vec3 w[4], a[4], b[4];
    double weight[4];
} simplex;

/* Nearest point of a part of the simplex to the origin: which corners, their weights, distance^2. */
typedef struct part {
    int count, corner[3];
    double weight[3];
    double square;
} part;

static void try_point(const simplex* s, int i, part* best)
{
    double q = mor_dot(s->w[i], s->w[i]);
    if (q < best->square) *best = (part){ 1, { i, 0, 0 }, { 1, 0, 0 }, q };
}

static void try_edge(const simplex* s, int i, int j, part* best)
{
    mor_vec3 p = s->w[i], e = mor_sub(s->w[j], p);
    double ee = mor_dot(e, e), t = -mor_dot(p, e);
    if (!(t > 0.0 && t < ee)) return;
    t /= ee;
    mor_vec3 v = mor_madd(p, t, e);
    double q = mor_dot(v, v);
    if (q < best->square) *best = (part){ 2, { i, j, 0 }, { 1.0 - t, t, 0 }, q };
}

static void try_face(const simplex* s, int i, int j, int k, part* best)
{
    mor_vec3 p = s->w[i], e = mor_sub(s->w[j], p), f = mor_sub(s->w[k], p), n = mor_cross(e, f);
    double nn = mor_dot(n, n);
    if (!(nn > 1e-30 * mor_dot(e, e) * mor_dot(f, f))) return;
    double y = mor_dot(n, mor_cross(f, p)) / nn, z = mor_dot(n, mor_cross(p, e)) / nn, x = 1.0 - y - z;
    if (!(x > 0.0 && y > 0.0 && z > 0.0)) return;
    /* height over the plane: more digits than the length of the combination when it is small */
    double h = mor_dot(n, p), q = h * h / nn;
    if (q < best->square) *best = (part){ 3, { i, j, k }, { x, y, z }, q };
}

static double volume(mor_vec3 a, mor_vec3 b, mor_vec3 c) { return mor_dot(a, mor_cross(b, c)); }

static bool origin_inside(const mor_vec3* w)
{
    double d[4] = { volume(w[1], w[2], w[3]), -volume(w[0], w[2], w[3]), volume(w[0], w[1], w[3]),
                    -volume(w[0], w[1], w[2]) };
    return (d[0] > 0 && d[1] > 0 && d[2] > 0 && d[3] > 0) || (d[0] < 0 && d[1] < 0 && d[2] < 0 && d[3] < 0);
}

/* Reduces the simplex to the part nearest to the origin; v is the point. False if it is inside. */
static bool reduce(simplex* s, mor_vec3* v, double* square)
{
    if (s->count == 4 && origin_inside(s->w)) return false;
    part best = { .square = HUGE_VAL };
    int n = s->count;
    for (int i = 0; i < n; i++) try_point(s, i, &best);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) try_edge(s, i, j, &best);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            for (int k = j + 1; k < n; k++) try_face(s, i, j, k, &best);
    simplex r;
    r.count = best.count;
    for (int k = 0; k < best.count; k++) {
        int i = best.corner[k];
        r.w[k] = s->w[i];
        r.a[k] = s->a[i];
        r.b[k] = s->b[i];
        r.weight[k] = best.weight[k];
    }
    *s = r;
    *square = best.square;
    if (r.count == 3) {
        /* along the normal of the face */
        mor_vec3 m = mor_cross(mor_sub(r.w[1], r.w[0]), mor_sub(r.w[2], r.w[0]));
        *v = mor_scale(mor_dot(m, r.w[0]) / mor_dot(m, m), m);
    } else {
        *v = mor_scale(r.weight[0], r.w[0]);
        for (int k = 1; k < r.count; k++) *v = mor_madd(*v, r.weight[k], r.w[k]);
    }
    return true;
}

mor_gjk_status mor_gjk(const mor_placed* A, const mor_placed* B, double limit, mor_closest* closest)
{
    const double size = A->shape->radius + B->shape->radius;
    mor_vec3 d = mor_sub(B->p, A->p), v;
    if (mor_dot(d, d) == 0.0) d = mor_v3(0, 0, 1);
    simplex s = { .count = 1, .weight = { 1 } }, last;
    s.a[0] = mor_support(A, d);
    s.b[0] = mor_support(B, mor_neg(d));
    s.w[0] = v = mor_sub(s.b[0], s.a[0]);
    double square = mor_dot(v, v), least = 0.0; /* bounds: of the distance^2 above, of the distance below */
    for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
        if (square <= NEAR * NEAR * size * size) return MOR_GJK_OVERLAP;
        mor_vec3 a = mor_support(A, v), b = mor_support(B, mor_neg(v)), w = mor_sub(b, a);
        double vw = mor_dot(v, w), distance = sqrt(square);
        if (vw > limit * distance && vw > 0.0) return MOR_GJK_FAR;
        least = vw / distance;
        if (square - vw <= 4.0 * DBL_EPSILON * (square + size * distance)) break;
        bool known = false;
        for (int k = 0; k < s.count; k++) known |= memcmp(&s.w[k], &w, sizeof w) == 0;
        if (known) break;
        last = s;
        mor_vec3 last_v = v;
        s.w[s.count] = w;
        s.a[s.count] = a;
        s.b[s.count] = b;
        s.count++;
        double next;
        if (!reduce(&s, &v, &next)) return MOR_GJK_OVERLAP;
        if (!(next < square)) {
            s = last;
            v = last_v;
            break;
        }
        square = next;
    }
    double distance = sqrt(square);
    if (least >= limit) return MOR_GJK_FAR;
    closest->distance = distance;
    closest->normal = mor_scale(1.0 / mor_norm(v), v);
    closest->on_a = closest->on_b = mor_v3(0, 0, 0);
    for (int k = 0; k < s.count; k++) {
        closest->on_a = mor_madd(closest->on_a, s.weight[k], s.a[k]);
        closest->on_b = mor_madd(closest->on_b, s.weight[k], s.b[k]);
    }
    return MOR_GJK_APART;
}
