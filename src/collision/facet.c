/* Supporting facets of convex shapes: the face, edge or vertex that lies farthest in a direction.
 *
 * A facet that is turned away from its supporting position by a small angle still counts, because the
 * gaps of its corners are known exactly and the contact will be on all of them soon: faces up to
 * acos(FACE_COSINE) = 11.5 degrees, edges up to asin(EDGE_SINE) = 11.5 degrees. Larger angles give more
 * points that are far from touching; smaller ones let a rocking body lose points it needs.
 *
 * Caps of cylinders and cones are 16-gons inscribed in the circle, their corners fixed in the shape so
 * that their numbers last; the caller adds the true deepest point where it lies between corners. */
#include "collision/gjk.h"

#define FACE_COSINE 0.98
#define EDGE_SINE 0.2
#define CAP_SIDES 16

/* cos(k pi / 8) */
static const double cosine[CAP_SIDES] = {
    1,  0.92387953251128675613,  0.70710678118654752440,  0.38268343236508977173,
    0,  -0.38268343236508977173, -0.70710678118654752440, -0.92387953251128675613,
    -1, -0.92387953251128675613, -0.70710678118654752440, -0.38268343236508977173,
    0,  0.38268343236508977173,  0.70710678118654752440,  0.92387953251128675613,
};

void mor_facet_face(const mor_placed* X, int f, mor_facet* facet)
{
    const mor_polyhedron* P = X->shape->polyhedron;
    int start = P->face_start[f], size = P->face_start[f + 1] - start;
    int count = size < MOR_FACET_POINTS ? size : MOR_FACET_POINTS;
    facet->count = count;
    facet->face = f;
    facet->normal = mor_placed_vector(X, P->normals[f]);
    for (int k = 0; k < count; k++) {
        int i = start + (count == size ? k : (int)((long)k * size / count));
        facet->vertex[k] = P->face_vertices[i];
        facet->edge[k] = P->face_edges[i];
        facet->point[k] = mor_placed_point(X, P->vertices[P->face_vertices[i]]);
    }
}

int mor_polyhedron_face_at(const mor_placed* X, int v, mor_vec3 n)
{
    const mor_polyhedron* P = X->shape->polyhedron;
    mor_vec3 local = mor_placed_unvector(X, n);
    int best = 0;
    double best_dot = -HUGE_VAL;
    for (int k = P->vertex_start[v]; k < P->vertex_start[v + 1]; k++) {
        const mor_edge* e = &P->edges[P->vertex_edges[k]];
        double l = mor_dot(P->normals[e->left], local), r = mor_dot(P->normals[e->right], local);
        if (l > best_dot) {
            best_dot = l;
            best = e->left;
        }
        if (r > best_dot) {
            best_dot = r;
            best = e->right;
        }
    }
    return best;
}

static void facet_point(mor_facet* f, mor_vec3 p, int vertex)
{
    f->count = 1;
    f->face = 0;
    f->point[0] = p;
    f->vertex[0] = vertex;
    f->edge[0] = 0;
}

static void facet_edge(mor_facet* f, mor_vec3 p, int p_vertex, mor_vec3 q, int q_vertex, int edge)
{
    f->count = 2;
    f->face = edge;
    f->point[0] = p;
    f->point[1] = q;
    f->vertex[0] = p_vertex;
    f->vertex[1] = q_vertex;
    f->edge[0] = f->edge[1] = edge;
}

static void facet_of_polyhedron(const mor_placed* X, mor_vec3 n, mor_facet* f)
{
    const mor_polyhedron* P = X->shape->polyhedron;
    mor_vec3 d = mor_placed_unvector(X, n);
    int v = 0;
    double far = -HUGE_VAL;
    for (int i = 0; i < P->vertex_count; i++) {
        double s = mor_dot(d, P->vertices[i]);
        if (s > far) {
            far = s;
            v = i;
        }
    }
    int face = mor_polyhedron_face_at(X, v, n);
    if (mor_dot(P->normals[face], d) > FACE_COSINE) {
        mor_facet_face(X, face, f);
        return;
    }
    int edge = -1;
    double least = EDGE_SINE;
    for (int k = P->vertex_start[v]; k < P->vertex_start[v + 1]; k++) {
        const mor_edge* e = &P->edges[P->vertex_edges[k]];
        mor_vec3 u = mor_sub(P->vertices[e->head], P->vertices[e->tail]);
        double s = fabs(mor_dot(u, d)) / mor_norm(u);
        if (s < least) {
            least = s;
            edge = P->vertex_edges[k];
        }
    }
    if (edge < 0) {
        facet_point(f, mor_placed_point(X, P->vertices[v]), v);
        return;
    }
    const mor_edge* e = &P->edges[edge];
    facet_edge(f, mor_placed_point(X, P->vertices[e->tail]), e->tail, mor_placed_point(X, P->vertices[e->head]),
               e->head, edge);
}

/* Disc of radius r at height z, seen from the side `sign` of the axis. Vertices 0..15 (16..31 below). */
static void facet_cap(const mor_placed* X, double r, double z, double sign, mor_facet* f)
{
    f->count = CAP_SIDES;
    f->face = sign > 0 ? 1 : 2;
    f->normal = mor_scale(sign, mor_placed_axis(X));
    for (int k = 0; k < CAP_SIDES; k++) {
        int i = sign > 0 ? k : (CAP_SIDES - k) % CAP_SIDES;
        f->point[k] = mor_placed_point(X, mor_v3(r * cosine[i], r * cosine[(i + 12) % CAP_SIDES], z));
        f->vertex[k] = f->edge[k] = sign > 0 ? i : CAP_SIDES + i;
    }
}

static void facet_of_round(const mor_placed* X, mor_vec3 n, mor_facet* f)
{
    const mor_geometry* g = X->shape;
    mor_vec3 d = mor_placed_unvector(X, n);
    double rho = sqrt(d.x * d.x + d.y * d.y), r = g->size[0];
    mor_vec3 u = rho > 0.0 ? mor_v3(d.x / rho, d.y / rho, 0) : mor_v3(1, 0, 0);
    if (g->kind == MOR_CYLINDER) {
        double h = 0.5 * g->size[1], sign = d.z < 0.0 ? -1.0 : 1.0;
        if (fabs(d.z) > FACE_COSINE) facet_cap(X, r, sign * h, sign, f);
        else if (fabs(d.z) < EDGE_SINE)
            facet_edge(f, mor_placed_point(X, mor_v3(r * u.x, r * u.y, -h)), 34,
                       mor_placed_point(X, mor_v3(r * u.x, r * u.y, h)), 33, 40);
        else facet_point(f, mor_placed_point(X, mor_v3(r * u.x, r * u.y, sign * h)), sign > 0 ? 33 : 34);
        return;
    }
    /* cone: base at -height/4, apex at 3 height/4; side normal (height, radius)/slant in (rho, z) */
    double height = g->size[1], slant = sqrt(height * height + r * r);
    mor_vec3 rim = mor_v3(r * u.x, r * u.y, -0.25 * height), apex = mor_v3(0, 0, 0.75 * height);
    double along = fabs(-rho * r + d.z * height) / slant;
    if (-d.z > FACE_COSINE) facet_cap(X, r, -0.25 * height, -1.0, f);
    else if (along < EDGE_SINE && d.z * height + rho * r > 0.0)
        facet_edge(f, mor_placed_point(X, rim), 34, mor_placed_point(X, apex), 33, 40);
    else if (rho * r - d.z * height > 0.0) facet_point(f, mor_placed_point(X, rim), 34);
    else facet_point(f, mor_placed_point(X, apex), 33);
}

void mor_facet_support(const mor_placed* X, mor_vec3 n, mor_facet* f)
{
    const mor_geometry* g = X->shape;
    switch (g->kind) {
    case MOR_POLYHEDRON:
        facet_of_polyhedron(X, n, f);
        return;
    case MOR_CYLINDER:
    case MOR_CONE:
        facet_of_round(X, n, f);
        return;
    case MOR_CAPSULE: {
        mor_vec3 u = mor_placed_axis(X);
        double h = 0.5 * g->size[1], s = mor_dot(u, n);
        if (fabs(s) < EDGE_SINE && h > 0.0) facet_edge(f, mor_madd(X->p, -h, u), 0, mor_madd(X->p, h, u), 1, 0);
        else facet_point(f, mor_madd(X->p, s < 0.0 ? -h : h, u), s < 0.0 ? 0 : 1);
        return;
    }
    case MOR_ELLIPSOID:
        facet_point(f, mor_support(X, n), 0);
        return;
    default:
        facet_point(f, X->p, 0);
        return;
    }
}
