/* Separating planes of two convex pieces in the plane: particles, polygons and the convex runs of chains.
 *
 * The planes are the edges of either piece (a separating line of two convex polygons is always along an edge of one of
 * them); the rows of an edge are the points of the other piece, its support edge cut to the length of the edge. A
 * particle has no edges, so its planes against a polygon are the m half-planes of the papers, max(psi_1 ... psi_m) >=
 * 0.
 *
 * A chain is a row of convex runs that meet in valleys. Each run is a piece without a floor: behind all its segments
 * and between two sides that go into the solid from its ends, along the mean n of its first and last normal. Without
 * the sides the line of a run would reach beyond its ends and fill the valleys beside it. At a valley the side of one
 * run lies in the other's solid, an internal face like the seam of two tiles. Beyond the open ends there is nothing: a
 * closed polygon says better what is meant there. Cost O(V_a E_b + V_b E_a). */
#include "base/elementary.h"
#include "collision/features.h"

enum { MOST = 512 };

typedef struct piece {
    int points, planes;
    int first;                 /* number of its first point in the shape */
    mor_vec3 p[MOST], n[MOST]; /* points; normals of the planes */
    mor_vec3 q[MOST], t[MOST]; /* plane k runs from q along t */
    double length[MOST];
    int id[MOST]; /* of the planes: edges of the shape; sides of run r are numbered edge_count + 2 r, + 1 */
} piece;

static double cross_z(mor_vec3 a, mor_vec3 b) { return a.x * b.y - a.y * b.x; }

static bool is_valley(const mor_polyline* C, int i) { return cross_z(C->normals[i - 1], C->normals[i]) >= 0.0; }

int mor_features_pieces(const mor_geometry* a, const mor_geometry* b)
{
    const mor_geometry* g = a->kind == MOR_CHAIN ? a : b;
    if (g->kind != MOR_CHAIN) return 1;
    int runs = 1;
    for (int i = 1; i < g->polyline->edge_count; i++) runs += is_valley(g->polyline, i);
    return runs;
}

/* Run that holds plane e of a chain. */
static int run_of_edge(const mor_polyline* C, int e)
{
    if (e >= C->edge_count) return (e - C->edge_count) / 2;
    int run = 0;
    for (int i = 1; i <= e; i++) run += is_valley(C, i);
    return run;
}

static void add_plane(piece* k, int id, mor_vec3 n, mor_vec3 q, mor_vec3 t, double length)
{
    int at = k->planes++;
    k->n[at] = n;
    k->q[at] = q;
    k->t[at] = t;
    k->length[at] = length;
    k->id[at] = id;
}

static void cut_out(const mor_placed* X, int run, piece* k)
{
    const mor_geometry* g = X->shape;
    k->points = k->planes = k->first = 0;
    if (g->kind == MOR_PARTICLE) {
        k->points = 1;
        k->p[0] = X->p;
        return;
    }
    const mor_polyline* C = g->polyline;
    int first = 0, edges = C->edge_count;
    const bool closed = g->kind == MOR_POLYGON;
    if (!closed) {
        int at = 0;
        while (first < C->edge_count && at < run) at += is_valley(C, ++first);
        for (edges = 1; first + edges < C->edge_count && !is_valley(C, first + edges);) edges++;
    }
    if (edges > MOST - 3) edges = MOST - 3;
    k->first = first;
    k->points = closed ? edges : edges + 1;
    for (int i = 0; i < k->points; i++) k->p[i] = mor_placed_point(X, C->points[first + i]);
    for (int i = 0; i < edges; i++) {
        mor_vec3 e = mor_sub(k->p[i + 1 < k->points ? i + 1 : 0], k->p[i]);
        double length = mor_norm(e);
        add_plane(k, first + i, mor_placed_vector(X, C->normals[first + i]), k->p[i], mor_scale(1.0 / length, e),
                  length);
    }
    if (closed) return;
    /* outward at the start */
    mor_vec3 up = mor_normalize(mor_add(k->n[0], k->n[edges - 1]), k->n[0]), back = mor_v3(-up.y, up.x, 0);
    add_plane(k, C->edge_count + 2 * run, back, k->p[0], mor_neg(up), HUGE_VAL);
    add_plane(k, C->edge_count + 2 * run + 1, mor_neg(back), k->p[edges], mor_neg(up), HUGE_VAL);
}

static double edge_separation(const piece* X, int f, const piece* Y)
{
    double least = HUGE_VAL;
    for (int v = 0; v < Y->points; v++) least = mor_min(least, mor_dot(X->n[f], mor_sub(Y->p[v], X->q[f])));
    return least;
}

static void put_row(mor_feature_set* set, mor_feature_plane* plane, mor_vec3 p, double height, bool owner_is_a,
                    uint32_t feature, double window)
{
    if (!(height < window) || set->row_count == MOR_MAX_ROWS) return;
    mor_feature_row* r = &set->rows[set->row_count++];
    if (owner_is_a) *r = (mor_feature_row){ mor_madd(p, -height, plane->n), p, height, feature };
    else *r = (mor_feature_row){ p, mor_madd(p, height, plane->n), height, feature };
    plane->row_count++;
}

static void edge_rows(const piece* X, int f, const piece* Y, bool owner_is_a, double window, mor_feature_set* set)
{
    if (set->plane_count == MOR_MAX_PLANES) return;
    uint32_t id = owner_is_a ? mor_plane_id(MOR_FACE_OF_A, X->id[f], 0) : mor_plane_id(MOR_FACE_OF_B, 0, X->id[f]);
    mor_feature_plane* plane = &set->planes[set->plane_count++];
    *plane = (mor_feature_plane){
        .id = id, .n = owner_is_a ? X->n[f] : mor_neg(X->n[f]), .s = edge_separation(X, f, Y), .row = set->row_count
    };
    mor_vec3 q = X->q[f], t = X->t[f];
    double length = X->length[f], top = plane->s + MOR_SUPPORT_TOL * mor_min(1.0, set->size),
           tol = MOR_OPEN_TOL * set->size;
    int support[2] = { -1, -1 }, count = 0;
    for (int v = 0; v < Y->points; v++) {
        double h = mor_dot(X->n[f], mor_sub(Y->p[v], q));
        if (h > top) put_row(set, plane, Y->p[v], h, owner_is_a, mor_feature(0, Y->first + v, 0), window);
        else if (count++ < 2) support[count - 1] = v;
    }
    double from = 0.0, to = 0.0;
    bool cut = count == 2;
    if (cut) {
        from = mor_dot(t, mor_sub(Y->p[support[0]], q));
        to = mor_dot(t, mor_sub(Y->p[support[1]], q));
        cut = mor_max(mor_min(from, to), 0.0) <= mor_min(mor_max(from, to), length) && from != to;
    }
    for (int k = 0; k < 2 && support[k] >= 0; k++) {
        mor_vec3 p = Y->p[support[k]];
        uint32_t feature = mor_feature(0, Y->first + support[k], 0);
        double along = k ? to : from;
        if (cut && (along < -tol || along > length + tol)) {
            double end = along < 0.0 ? 0.0 : length;
            p = mor_lerp(Y->p[support[0]], Y->p[support[1]], (end - from) / (to - from));
            feature = mor_feature(1, along < 0.0 ? 0 : 1, 0);
        }
        put_row(set, plane, p, mor_dot(X->n[f], mor_sub(p, q)), owner_is_a, feature, window);
    }
}

static int run_of(const mor_placed* X, int edge)
{
    return X->shape->kind == MOR_CHAIN ? run_of_edge(X->shape->polyline, edge) : 0;
}

void mor_features_planar_rows(const mor_placed* A, const mor_placed* B, uint32_t id, double window,
                              mor_feature_set* set)
{
    piece a, b;
    bool of_a = mor_plane_kind(id) == MOR_FACE_OF_A;
    int edge = of_a ? mor_plane_of_a(id) : mor_plane_of_b(id);
    cut_out(A, of_a ? run_of(A, edge) : 0, &a);
    cut_out(B, of_a ? 0 : run_of(B, edge), &b);
    const piece* owner = of_a ? &a : &b;
    int f = 0;
    while (f < owner->planes - 1 && owner->id[f] != edge) f++;
    if (of_a) edge_rows(&a, f, &b, true, window, set);
    else edge_rows(&b, f, &a, false, window, set);
}

void mor_features_planar(const mor_placed* A, const mor_placed* B, int run, const mor_feature_query* o,
                         mor_feature_set* set)
{
    piece a, b;
    set->separation = HUGE_VAL;
    double bound = A->shape->radius + B->shape->radius + o->window;
    mor_vec3 d = mor_sub(B->p, A->p);
    if (mor_dot(d, d) >= bound * bound) return;
    cut_out(A, A->shape->kind == MOR_CHAIN ? run : 0, &a);
    cut_out(B, B->shape->kind == MOR_CHAIN ? run : 0, &b);
    double s[2 * MOST], best = -HUGE_VAL;
    int winner = 0;
    for (int f = 0; f < a.planes + b.planes; f++) {
        s[f] = f < a.planes ? edge_separation(&a, f, &b) : edge_separation(&b, f - a.planes, &a);
        if (s[f] > best) {
            best = s[f];
            winner = f;
        }
        if (best >= o->window) return;
    }
    set->separation = best;
    set->best = winner < a.planes ? mor_plane_id(MOR_FACE_OF_A, a.id[winner], 0)
                                  : mor_plane_id(MOR_FACE_OF_B, 0, b.id[winner - a.planes]);
    for (int f = 0; f < a.planes + b.planes; f++) {
        uint32_t id =
            f < a.planes ? mor_plane_id(MOR_FACE_OF_A, a.id[f], 0) : mor_plane_id(MOR_FACE_OF_B, 0, b.id[f - a.planes]);
        if (s[f] < -o->window && f != winner && id != o->held) continue;
        if (f < a.planes) edge_rows(&a, f, &b, true, o->window, set);
        else edge_rows(&b, f - a.planes, &a, false, o->window, set);
    }
}
