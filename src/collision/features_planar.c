/* Separating planes of two convex pieces in the plane: particles, polygons and the convex runs of chains.
 *
 * The planes are the edges of either piece (a separating line of two convex polygons is always along an edge of one of
 * them); the rows of an edge are the points of the other piece, its support edge cut to the length of the edge. A
 * particle has no edges, so its planes against a polygon are the m half-planes of the papers, max(psi_1 ... psi_m) >= 0.
 *
 * A chain is a row of convex runs that meet in valleys. Each run is an unbounded piece: what lies beyond its ends is
 * taken as inside when it is behind all its segments, so a closed polygon is the better model where a particle may come
 * from the side (the papers' "hidden base"). Cost O(V_a E_b + V_b E_a). */
#include "collision/features.h"

enum { MOST = 512 };

typedef struct piece {
    int points, edges, first; /* `first`: number of its first edge in the shape */
    mor_vec3 p[MOST], n[MOST];
    bool closed;
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

/* Run that holds edge e of a chain. */
static int run_of_edge(const mor_polyline* C, int e)
{
    int run = 0;
    for (int i = 1; i <= e; i++) run += is_valley(C, i);
    return run;
}

static void cut_out(const mor_placed* X, int run, piece* k)
{
    const mor_geometry* g = X->shape;
    if (g->kind == MOR_PARTICLE) {
        *k = (piece){ .points = 1 };
        k->p[0] = X->p;
        return;
    }
    const mor_polyline* C = g->polyline;
    int first = 0, edges = C->edge_count;
    k->closed = g->kind == MOR_POLYGON;
    if (!k->closed) {
        int at = 0;
        while (first < C->edge_count && at < run) at += is_valley(C, ++first);
        for (edges = 1; first + edges < C->edge_count && !is_valley(C, first + edges);) edges++;
    }
    if (edges > MOST - 1) edges = MOST - 1;
    k->first = first;
    k->edges = edges;
    k->points = k->closed ? edges : edges + 1;
    for (int i = 0; i < k->points; i++) k->p[i] = mor_placed_point(X, C->points[first + i]);
    for (int i = 0; i < edges; i++) k->n[i] = mor_placed_vector(X, C->normals[first + i]);
}

static double edge_separation(const piece* X, int f, const piece* Y)
{
    double least = HUGE_VAL;
    for (int v = 0; v < Y->points; v++) least = fmin(least, mor_dot(X->n[f], mor_sub(Y->p[v], X->p[f])));
    return least;
}

static void put_row(mor_feature_set* set, mor_feature_plane* plane, mor_vec3 p, double height, bool owner_is_a, uint32_t feature, double window)
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
    uint32_t id = owner_is_a ? mor_plane_id(MOR_FACE_OF_A, X->first + f, 0) : mor_plane_id(MOR_FACE_OF_B, 0, X->first + f);
    mor_feature_plane* plane = &set->planes[set->plane_count++];
    *plane = (mor_feature_plane){ .id = id, .n = owner_is_a ? X->n[f] : mor_neg(X->n[f]), .s = edge_separation(X, f, Y), .row = set->row_count };
    mor_vec3 q = X->p[f], e = mor_sub(X->p[f + 1 < X->points ? f + 1 : 0], q);
    double length = mor_norm(e), top = plane->s + MOR_SUPPORT_TOL * fmin(1.0, set->size), tol = MOR_OPEN_TOL * set->size;
    mor_vec3 t = mor_scale(1.0 / length, e);
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
        cut = fmax(fmin(from, to), 0.0) <= fmin(fmax(from, to), length) && from != to;
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

static int run_of(const mor_placed* X, int edge) { return X->shape->kind == MOR_CHAIN ? run_of_edge(X->shape->polyline, edge) : 0; }

void mor_features_planar_rows(const mor_placed* A, const mor_placed* B, uint32_t id, double window, mor_feature_set* set)
{
    piece a, b;
    bool of_a = mor_plane_kind(id) == MOR_FACE_OF_A;
    int edge = of_a ? mor_plane_of_a(id) : mor_plane_of_b(id);
    cut_out(A, of_a ? run_of(A, edge) : 0, &a);
    cut_out(B, of_a ? 0 : run_of(B, edge), &b);
    if (of_a) edge_rows(&a, edge - a.first, &b, true, window, set);
    else edge_rows(&b, edge - b.first, &a, false, window, set);
}

void mor_features_planar(const mor_placed* A, const mor_placed* B, int run, const mor_feature_query* o, mor_feature_set* set)
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
    for (int f = 0; f < a.edges + b.edges; f++) {
        s[f] = f < a.edges ? edge_separation(&a, f, &b) : edge_separation(&b, f - a.edges, &a);
        if (s[f] > best) {
            best = s[f];
            winner = f;
        }
        if (best >= o->window) return;
    }
    set->separation = best;
    set->best = winner < a.edges ? mor_plane_id(MOR_FACE_OF_A, a.first + winner, 0) : mor_plane_id(MOR_FACE_OF_B, 0, b.first + winner - a.edges);
    for (int f = 0; f < a.edges + b.edges; f++) {
        uint32_t id = f < a.edges ? mor_plane_id(MOR_FACE_OF_A, a.first + f, 0) : mor_plane_id(MOR_FACE_OF_B, 0, b.first + f - a.edges);
        if (s[f] < -o->window && f != winner && id != o->held) continue;
        if (f < a.edges) edge_rows(&a, f, &b, true, o->window, set);
        else edge_rows(&b, f - a.edges, &a, false, o->window, set);
    }
}
