/* Depth of penetration by the expanding polytope.
 *
 * With C = A - B, h(n) = max n.c over C is how far A must move along -n to be free of B. The depth is
 * the least h over unit n: the distance of the origin to the boundary of C. A polytope inside C grows by
 * the support point beyond the face whose plane is nearest to the origin, until no such point lies
 * farther out (G. van den Bergen, 2001, "Proximity queries and penetration depth computation on 3D
 * game objects", section 4). Plane distances are signed, so the first tetrahedron need not contain
 * the origin.
 *
 * Whatever happens to the faces by rounding, every h(n) computed on the way is true, and the least of
 * them is returned: the pair (n, -h) always is a valid separation of the shapes. */
#include "base/elementary.h"
#include "collision/gjk.h"

#include <string.h>

enum { MAX_VERTICES = 160, MAX_FACES = 2 * MAX_VERTICES + 64 };
/* of the size: where expansion stops */
#define TOLERANCE 1e-12
/* of the size: faces that lie in one plane */
#define FLAT 1e-10

typedef struct face {
    int v[3];
    mor_vec3 n;
    double d; /* n . x = d */
} face;

typedef struct polytope {
    const mor_placed *A, *B;
    int vertex_count, face_count;
    mor_vec3 c[MAX_VERTICES], a[MAX_VERTICES], b[MAX_VERTICES];
    face faces[MAX_FACES];
    double least; /* least h so far, with its direction */
    mor_vec3 direction;
} polytope;

static int add_vertex(polytope* P, mor_vec3 n)
{
    int i = P->vertex_count++;
    P->a[i] = mor_support(P->A, n);
    P->b[i] = mor_support(P->B, mor_neg(n));
    P->c[i] = mor_sub(P->a[i], P->b[i]);
    double l = mor_norm(n), h = mor_dot(n, P->c[i]) / l;
    if (h < P->least) {
        P->least = h;
        P->direction = mor_scale(1.0 / l, n);
    }
    return i;
}

static void add_face(polytope* P, int i, int j, int k)
{
    if (P->face_count == MAX_FACES) return;
    mor_vec3 n = mor_cross(mor_sub(P->c[j], P->c[i]), mor_sub(P->c[k], P->c[i]));
    double l = mor_norm(n);
    face f = { { i, j, k }, n, HUGE_VAL };
    if (l > 0.0) {
        f.n = mor_scale(1.0 / l, n);
        f.d = mor_dot(f.n, P->c[i]);
    }
    P->faces[P->face_count++] = f;
}

/* Four corners of C that span a volume; false if C is flat. */
static bool first_tetrahedron(polytope* P, double size)
{
    static const mor_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    int i = 0, j = 0;
    double best = -1.0;
    /* the longest of the extents along the axes */
    for (int k = 0; k < 3; k++) {
        int p = add_vertex(P, axes[k]), q = add_vertex(P, mor_neg(axes[k]));
        double l = mor_norm(mor_sub(P->c[p], P->c[q]));
        if (l > best) {
            best = l;
            i = p;
            j = q;
        }
    }
    mor_vec3 e = mor_sub(P->c[j], P->c[i]), t, o;
    if (!(best > 0.0)) return false;
    mor_tangents(mor_scale(1.0 / best, e), mor_v3(1, 0, 0), &t, &o);
    int k = 0;
    double far = -1.0;
    const mor_vec3 around[4] = { t, o, mor_neg(t), mor_neg(o) };
    for (int q = 0; q < 4; q++) {
        int p = add_vertex(P, around[q]);
        double l = mor_norm(mor_cross(e, mor_sub(P->c[p], P->c[i])));
        if (l > far) {
            far = l;
            k = p;
        }
    }
    mor_vec3 n = mor_cross(e, mor_sub(P->c[k], P->c[i]));
    double l = mor_norm(n);
    if (!(l > 0.0)) return false;
    n = mor_scale(1.0 / l, n);
    int up = add_vertex(P, n), down = add_vertex(P, mor_neg(n));
    double hu = mor_dot(n, mor_sub(P->c[up], P->c[i])), hd = -mor_dot(n, mor_sub(P->c[down], P->c[i]));
    if (mor_max(hu, hd) <= 1e-14 * size) return false;
    if (hu >= hd) {
        int s = i;
        i = j;
        j = s;
    }
    int m = hu >= hd ? up : down;
    /* seen from outside counter-clockwise: apex m above (i, k, j) after the swap */
    add_face(P, i, j, k);
    add_face(P, j, i, m);
    add_face(P, k, j, m);
    add_face(P, i, k, m);
    return true;
}

/* Removes the faces that see vertex w and closes the hole with faces to w. */
static void expand(polytope* P, int w, double slack)
{
    int edges[MAX_FACES][2], edge_count = 0;
    for (int f = 0; f < P->face_count;) {
        const face* F = &P->faces[f];
        if (F->d != HUGE_VAL && mor_dot(F->n, P->c[w]) - F->d <= slack) {
            f++;
            continue;
        }
        if (F->d == HUGE_VAL) {
            /* a sliver: goes when an edge of it is already on the rim */
            bool touched = false;
            for (int k = 0; k < 3 && !touched; k++)
                for (int e = 0; e < edge_count && !touched; e++)
                    touched = edges[e][0] == F->v[(k + 1) % 3] && edges[e][1] == F->v[k];
            if (!touched) {
                f++;
                continue;
            }
        }
        for (int k = 0; k < 3; k++) {
            int i = F->v[k], j = F->v[(k + 1) % 3], e = 0;
            while (e < edge_count && !(edges[e][0] == j && edges[e][1] == i)) e++;
            if (e < edge_count) {
                edge_count--;
                edges[e][0] = edges[edge_count][0];
                edges[e][1] = edges[edge_count][1];
            } else if (edge_count < MAX_FACES) {
                edges[edge_count][0] = i;
                edges[edge_count++][1] = j;
            }
        }
        P->faces[f] = P->faces[--P->face_count];
    }
    for (int e = 0; e < edge_count; e++) add_face(P, edges[e][0], edges[e][1], w);
}

/* Points of a and b over the point of face F nearest to the origin; returns the distance of that point. */
static double witness(const polytope* P, const face* F, mor_closest* closest)
{
    const mor_vec3 *c = P->c, p = c[F->v[0]], e = mor_sub(c[F->v[1]], p), f = mor_sub(c[F->v[2]], p);
    mor_vec3 n = mor_cross(e, f);
    double nn = mor_dot(n, n), y = 0.0, z = 0.0;
    if (nn > 0.0) {
        y = mor_dot(n, mor_cross(f, p)) / nn;
        z = mor_dot(n, mor_cross(p, e)) / nn;
        y = y < 0.0 ? 0.0 : y > 1.0 ? 1.0 : y;
        z = z < 0.0 ? 0.0 : z > 1.0 - y ? 1.0 - y : z;
    }
    const mor_vec3 *a = P->a, *b = P->b;
    closest->on_a = mor_add(mor_scale(1.0 - y - z, a[F->v[0]]), mor_madd(mor_scale(y, a[F->v[1]]), z, a[F->v[2]]));
    closest->on_b = mor_add(mor_scale(1.0 - y - z, b[F->v[0]]), mor_madd(mor_scale(y, b[F->v[1]]), z, b[F->v[2]]));
    return mor_norm(mor_madd(mor_madd(p, y, e), z, f));
}

/* The same over all faces in the plane of `best`. A flat side of C is made of several triangles, and the origin lies
 * over one of them: the others have their nearest point on their rim, as far off as they are large. */
static void nearest_witness(const polytope* P, const face* best, double size, mor_closest* closest)
{
    double least = witness(P, best, closest);
    for (int f = 0; f < P->face_count; f++) {
        const face* F = &P->faces[f];
        if (!(F->d <= best->d + FLAT * size) || mor_dot(F->n, best->n) < 1.0 - FLAT) continue;
        mor_closest other = *closest;
        double distance = witness(P, F, &other);
        if (!(distance < least - FLAT * size)) continue;
        least = distance;
        *closest = other;
    }
}

void mor_epa(const mor_placed* A, const mor_placed* B, mor_closest* closest)
{
    polytope P;
    P.A = A;
    P.B = B;
    P.vertex_count = P.face_count = 0;
    P.least = HUGE_VAL;
    P.direction = mor_v3(0, 0, 1);
    double size = A->shape->radius + B->shape->radius, slack = 1e-15 * size;
    face best = { { 0, 0, 0 }, { 0, 0, 1 }, 0 };
    if (first_tetrahedron(&P, size)) {
        while (P.vertex_count < MAX_VERTICES) {
            int f = -1;
            for (int k = 0; k < P.face_count; k++)
                if (f < 0 || P.faces[k].d < P.faces[f].d) f = k;
            if (f < 0 || P.faces[f].d == HUGE_VAL) break;
            best = P.faces[f];
            int w = add_vertex(&P, best.n);
            if (mor_dot(best.n, P.c[w]) - best.d <= TOLERANCE * size) break;
            if (w == best.v[0] || P.face_count + 8 >= MAX_FACES) break;
            expand(&P, w, slack);
        }
    }
    closest->distance = -P.least;
    closest->normal = P.direction;
    nearest_witness(&P, &best, size, closest);
}
