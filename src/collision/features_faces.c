/* Rows of the plane of a face: where another polyhedron would touch it.
 *
 *     psi_i = n_f.(b_i - a_f),     b_i points of the other polyhedron Y
 *
 * The support feature of Y (points within MOR_SUPPORT_TOL of the lowest) is replaced, when it is an edge or a face, by
 * its part over the face: its vertices inside, the crossings of its edges with the sides of the face, and the face's
 * own corners under it. If nothing of it is over the face, all of it stays. Without this the friction of a body on a
 * large face acts at arms that are not there.
 *
 * So is the face of Y that comes down about a support of one or two points over the face and reaches beyond it: what
 * lands flat and overhangs lands on the rim of the face, not on the plane beyond it. Other vertices stay as they are.
 *
 * Rows are written from the shapes' own coordinates, so that a face of a body that is not turned has an exact normal.
 * Cost O(V), and O(sides x corners) where something is cut. */
#include "base/elementary.h"
#include "collision/features.h"

enum { MOST = MOR_MAX_PARTS, CORNERS = 160 };

typedef struct corner {
    mor_vec3 p;
    int kind; /* 0 vertex of the other body, 1 vertex of the face, 2 crossing */
    int other, own;
    int edge; /* outgoing: edge of the other body, or ~side of the face */
} corner;

/* Face f of X, or a half-space, and the vertices of Y over it. */
typedef struct view {
    const mor_placed *X, *Y;
    const mor_polyhedron *P, *Q; /* P: NULL for a half-space */
    int f;
    mor_vec3 outward;
    double offset, least, top, tol; /* top: heights up to this are the support */
    int support, first, second;     /* number of its vertices, and two of them */
    double height[MOST];
    mor_vec3 point[MOST];
} view;

/* Cuts the polygon by the side m.(p - q) <= tol of the face. */
static int cut(const corner* in, int count, corner* out, mor_vec3 m, mor_vec3 q, double tol, int side, int own_edge,
               const int* loop, int loop_count)
{
    int n = 0;
    for (int k = 0; k < count; k++) {
        const corner *a = &in[k], *b = &in[k + 1 < count ? k + 1 : 0];
        double d0 = mor_dot(m, mor_sub(a->p, q)), d1 = mor_dot(m, mor_sub(b->p, q));
        bool in0 = d0 <= tol, in1 = d1 <= tol;
        if (in0 && n < CORNERS) out[n++] = *a;
        if (in0 == in1 || n == CORNERS || count == 1) continue;
        corner c = { .p = mor_lerp(a->p, b->p, mor_min(1.0, mor_max(0.0, d0 / (d0 - d1)))),
                     .edge = in0 ? ~side : a->edge };
        if (a->edge >= 0) {
            c.kind = 2;
            c.other = a->edge;
            c.own = own_edge;
        } else { /* two sides of the face meet in the corner between them */
            int before = ~a->edge;
            int position = side == before + 1 || (side == 0 && before == loop_count - 1) ? side : before;
            c.kind = 1;
            c.own = loop[position];
        }
        out[n++] = c;
        if (count == 2 && k == 1) break;
    }
    return n;
}

/* The part of an edge between the sides: a polygon of two corners must not be walked round. */
static int cut_edge(const corner in[2], corner out[2], mor_vec3 m, mor_vec3 q, double tol, int own_edge)
{
    double d0 = mor_dot(m, mor_sub(in[0].p, q)), d1 = mor_dot(m, mor_sub(in[1].p, q));
    if (d0 > tol && d1 > tol) return 0;
    corner a = in[0], b = in[1];
    if ((d0 <= tol) != (d1 <= tol)) {
        corner c = { .p = mor_lerp(a.p, b.p, mor_min(1.0, mor_max(0.0, d0 / (d0 - d1)))),
                     .kind = 2,
                     .other = a.edge,
                     .own = own_edge,
                     .edge = a.edge };
        if (d0 <= tol) b = c;
        else a = c;
    }
    out[0] = a;
    out[1] = b;
    return 2;
}

static void look(view* k)
{
    k->least = HUGE_VAL;
    for (int v = 0; v < k->Q->vertex_count; v++) {
        k->point[v] = mor_placed_point(k->Y, k->Q->vertices[v]);
        k->height[v] = mor_dot(k->outward, mor_sub(k->point[v], k->X->p)) - k->offset;
        if (k->height[v] < k->least) k->least = k->height[v];
    }
}

static void find_support(view* k)
{
    k->support = 0;
    k->first = k->second = -1;
    for (int v = 0; v < k->Q->vertex_count; v++) {
        if (k->height[v] > k->top) continue;
        if (k->support == 0) k->first = v;
        if (k->support == 1) k->second = v;
        k->support++;
    }
}

/* The corners of face g of Y; 0 if it has too many. */
static int face_polygon(const view* k, int g, corner* poly)
{
    const mor_polyhedron* Q = k->Q;
    int start = Q->face_start[g], size = Q->face_start[g + 1] - start;
    if (size > CORNERS / 2) return 0;
    for (int i = 0; i < size; i++) {
        int v = Q->face_vertices[start + i];
        poly[i] = (corner){ k->point[v], 0, v, 0, Q->face_edges[start + i] };
    }
    return size;
}

/* The support as a polygon, if it is an edge or a whole face; else 0. */
static int support_polygon(const view* k, corner* poly)
{
    const mor_polyhedron* Q = k->Q;
    if (k->support == 2) {
        for (int i = Q->vertex_start[k->first]; i < Q->vertex_start[k->first + 1]; i++) {
            int e = Q->vertex_edges[i];
            if (Q->edges[e].tail != k->second && Q->edges[e].head != k->second) continue;
            poly[0] = (corner){ k->point[k->first], 0, k->first, 0, e };
            poly[1] = (corner){ k->point[k->second], 0, k->second, 0, e };
            return 2;
        }
        return 0;
    }
    if (k->support < 3) return 0;
    int g = mor_polyhedron_face_at(k->Y, k->first, mor_neg(k->outward));
    if (Q->face_start[g + 1] - Q->face_start[g] != k->support) return 0;
    int size = face_polygon(k, g, poly);
    for (int i = 0; i < size; i++)
        if (k->height[poly[i].other] > k->top) return 0;
    return size;
}

/* A side of the face: a point of it and the edge that leaves there. */
static mor_vec3 side_from(const view* k, int side, mor_vec3* edge)
{
    const int start = k->P->face_start[k->f], count = k->P->face_start[k->f + 1] - start;
    mor_vec3 q = mor_placed_point(k->X, k->P->vertices[k->P->face_vertices[start + side]]);
    int next = k->P->face_vertices[start + (side + 1) % count];
    *edge = mor_sub(mor_placed_point(k->X, k->P->vertices[next]), q);
    return q;
}

/* Cuts the polygon in buffer[0] to the face; *poly is where it is then. */
static int cut_to_face(const view* k, corner buffer[2][CORNERS], int m, const corner** poly)
{
    const int start = k->P->face_start[k->f], count = k->P->face_start[k->f + 1] - start;
    const bool edge = m == 2;
    int at = 0;
    for (int side = 0; side < count && m > 0; side++, at = 1 - at) {
        mor_vec3 e, q = side_from(k, side, &e), out = mor_normalize(mor_cross(e, k->outward), mor_v3(0, 0, 0));
        const int own = k->P->face_edges[start + side];
        if (edge) m = cut_edge(buffer[at], buffer[1 - at], out, q, k->tol, own);
        else m = cut(buffer[at], m, buffer[1 - at], out, q, k->tol, side, own, k->P->face_vertices + start, count);
    }
    *poly = buffer[at];
    return m;
}

/* Is one of the points beyond a side of the face? */
static bool beyond_face(const view* k, const corner* points, int count)
{
    const int sides = k->P->face_start[k->f + 1] - k->P->face_start[k->f];
    for (int side = 0; side < sides; side++) {
        mor_vec3 e, q = side_from(k, side, &e), out = mor_cross(e, k->outward);
        const double tol2 = k->tol * k->tol * mor_dot(out, out);
        for (int i = 0; i < count; i++) {
            double d = mor_dot(out, mor_sub(points[i].p, q));
            if (d > 0.0 && d * d > tol2) return true;
        }
    }
    return false;
}

/* The face of Y that comes down about the support, if it reaches beyond face f. */
static int falling_polygon(const view* k, corner* poly)
{
    int size = face_polygon(k, mor_polyhedron_face_at(k->Y, k->first, mor_neg(k->outward)), poly);
    bool whole = k->support == 1;
    for (int i = 0; i < size; i++) whole = whole || poly[i].other == k->second;
    return whole && size > 2 && beyond_face(k, poly, size) ? size : 0;
}

static void put_row(mor_feature_set* set, mor_feature_plane* plane, mor_vec3 p, double height, uint32_t feature,
                    double window)
{
    if (!(height < window) || set->row_count == MOR_MAX_ROWS) return;
    const bool owner_is_a = mor_plane_kind(plane->id) == MOR_FACE_OF_A;
    mor_feature_row* r = &set->rows[set->row_count++];
    if (owner_is_a) *r = (mor_feature_row){ mor_madd(p, -height, plane->n), p, height, feature };
    else *r = (mor_feature_row){ p, mor_madd(p, height, plane->n), height, feature };
    plane->row_count++;
    if (height < plane->s) plane->s = height;
}

/* Corners of a cut polygon become rows, those that coincide once. */
static void put_corners(const view* k, const corner* poly, int count, double window, mor_feature_plane* plane,
                        mor_feature_set* set)
{
    const bool owner_is_a = mor_plane_kind(plane->id) == MOR_FACE_OF_A;
    const int from = set->row_count;
    for (int i = 0; i < count; i++) {
        const corner* c = &poly[i];
        bool twice = false;
        for (int r = from; r < set->row_count && !twice; r++) {
            mor_vec3 d = mor_sub(owner_is_a ? set->rows[r].on_b : set->rows[r].on_a, c->p);
            twice = mor_dot(d, d) <= k->tol * k->tol;
        }
        if (twice) continue;
        double h = mor_dot(k->outward, mor_sub(c->p, k->X->p)) - k->offset;
        put_row(set, plane, c->p, h, mor_feature(c->kind, c->kind == 1 ? c->own : c->other, c->kind == 2 ? c->own : 0),
                window);
    }
}

void mor_features_face_rows(const mor_placed* X, int f, const mor_placed* Y, uint32_t id, double window,
                            mor_feature_set* set)
{
    if (set->plane_count == MOR_MAX_PLANES) return;
    view k;
    k.X = X, k.Y = Y, k.f = f;
    k.P = X->shape->polyhedron, k.Q = Y->shape->polyhedron;
    k.outward = k.P ? mor_placed_vector(X, k.P->normals[f]) : mor_placed_axis(X);
    k.offset = k.P ? k.P->offsets[f] : 0.0;
    look(&k);
    k.top = k.least + MOR_SUPPORT_TOL * mor_min(1.0, set->size);
    k.tol = MOR_OPEN_TOL * set->size;
    find_support(&k);
    mor_feature_plane* plane = &set->planes[set->plane_count++];
    mor_vec3 n = mor_plane_kind(id) == MOR_FACE_OF_A ? k.outward : mor_neg(k.outward);
    *plane = (mor_feature_plane){ .id = id, .n = n, .s = HUGE_VAL, .row = set->row_count };
    corner buffer[2][CORNERS], falling[2][CORNERS];
    const corner *poly = buffer[0], *down = falling[0];
    int m = k.P ? support_polygon(&k, buffer[0]) : 0, fall = 0;
    if (m > 0) m = cut_to_face(&k, buffer, m, &poly);
    if (k.P && k.support <= 2) {
        const corner point = { .p = k.point[k.first] };
        bool over = k.support == 2 ? m > 0 : !beyond_face(&k, &point, 1);
        if (over) fall = falling_polygon(&k, falling[0]);
    }
    bool replaced[MOST];
    if (fall > 0) {
        for (int v = 0; v < k.Q->vertex_count; v++) replaced[v] = false;
        for (int i = 0; i < fall; i++) replaced[falling[0][i].other] = true;
        fall = cut_to_face(&k, falling, fall, &down);
    }
    const bool all = m == 0; /* no edge, no face, or nothing of it over the face */
    for (int v = 0; v < k.Q->vertex_count; v++) {
        if (fall > 0 ? replaced[v] : k.height[v] <= k.top) continue;
        put_row(set, plane, k.point[v], k.height[v], mor_feature(0, v, 0), window);
    }
    if (fall > 0) put_corners(&k, down, fall, window, plane, set);
    else if (!all) put_corners(&k, poly, m, window, plane, set);
    for (int v = 0; all && fall == 0 && v < k.Q->vertex_count; v++)
        if (k.height[v] <= k.top) put_row(set, plane, k.point[v], k.height[v], mor_feature(0, v, 0), window);
    plane->s = mor_min(plane->s, k.least);
}
