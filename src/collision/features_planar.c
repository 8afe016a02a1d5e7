/* Separating planes of two convex pieces in the plane: particles, discs, polygons and the convex pieces of chains.
 *
 * The planes are the edges of either piece (a separating line of two convex polygons is always along an edge of one of
 * them); the rows of an edge are the points of the other piece, its support edge cut to the length of the edge. So is
 * an edge that comes down about its support: a body that lands flat and overhangs lands on the end of the edge, not on
 * the line beyond it. A
 * particle has no edges, so its planes against a polygon are the m half-planes of the papers, max(psi_1 ... psi_m) >=
 * 0. A disc is a particle with a radius: psi = n.(c - q) - r, and beside the edges it has the plane through a corner v
 * across the line from there to its centre, n = (c - v)/|c - v|, wherever that lies between the normals of the edges
 * that meet in v.
 *
 * A chain is a row of overlapping polygons (geometry/chain_pieces.c), one group each. Numbers of planes: the part of
 * the shape the plane belongs to, and in the other shape's place the piece of the chain, if there is one. Corner v of a
 * polygon with m edges is part m + v. Cost O(V_a E_b + V_b E_a). */
#include "base/elementary.h"
#include "collision/features.h"

enum { MOST = 512 };

typedef struct piece {
    int points, planes;
    double radius;             /* of a disc; its point is the centre */
    mor_vec3 p[MOST], n[MOST]; /* points; normals of the planes */
    mor_vec3 t[MOST];          /* plane k runs from point k along t */
    double length[MOST];
} piece;

static bool round_shape(const mor_geometry* g) { return g->kind == MOR_PARTICLE || g->kind == MOR_DISC; }

int mor_features_pieces(const mor_geometry* a, const mor_geometry* b)
{
    const mor_geometry* g = a->kind == MOR_CHAIN ? a : b;
    return g->kind == MOR_CHAIN ? g->polyline->pieces->count : 1;
}

int mor_features_piece_of(const mor_geometry* a, const mor_geometry* b, uint32_t id)
{
    if (a->kind != MOR_CHAIN && b->kind != MOR_CHAIN) return 0;
    return mor_plane_kind(id) == MOR_FACE_OF_A ? mor_plane_of_b(id) : mor_plane_of_a(id);
}

/* Points and normals of a shape, or of a piece of a chain, in its own axes. */
static int parts(const mor_geometry* g, int number, const mor_vec3** points, const mor_vec3** normals)
{
    if (g->kind == MOR_POLYGON) {
        *points = g->polyline->points;
        *normals = g->polyline->normals;
        return g->polyline->point_count;
    }
    const mor_chain_pieces* all = g->polyline->pieces;
    *points = all->points + all->pieces[number].first;
    *normals = all->normals + all->pieces[number].first;
    return all->pieces[number].count;
}

static void place(const mor_placed* X, int number, piece* k)
{
    const mor_geometry* g = X->shape;
    k->radius = g->kind == MOR_DISC ? g->size[0] : 0.0;
    if (round_shape(g)) {
        k->points = 1;
        k->planes = 0;
        k->p[0] = X->p;
        return;
    }
    const mor_vec3 *p, *n;
    k->points = k->planes = parts(g, number, &p, &n);
    for (int i = 0; i < k->points; i++) {
        k->p[i] = mor_placed_point(X, p[i]);
        k->n[i] = mor_placed_vector(X, n[i]);
    }
    for (int i = 0; i < k->points; i++) {
        mor_vec3 e = mor_sub(k->p[i + 1 < k->points ? i + 1 : 0], k->p[i]);
        k->length[i] = mor_norm(e);
        k->t[i] = mor_scale(1.0 / k->length[i], e);
    }
}

static double edge_separation(const piece* X, int f, const piece* Y)
{
    double least = HUGE_VAL;
    for (int v = 0; v < Y->points; v++) least = mor_min(least, mor_dot(X->n[f], mor_sub(Y->p[v], X->p[f])));
    return least - Y->radius;
}

/* The normal at corner v towards the centre of a disc, kept between those of the two edges; true if it lies strictly
 * between them. */
static bool corner_normal(const piece* X, int v, const piece* disc, mor_vec3* n)
{
    mor_vec3 a = X->n[v > 0 ? v - 1 : X->points - 1], b = X->n[v], d = mor_sub(disc->p[0], X->p[v]);
    double past_a = mor_dot(mor_v3(-a.y, a.x, 0), d), past_b = mor_dot(mor_v3(-b.y, b.x, 0), d),
           turn = a.x * b.y - a.y * b.x; /* of the walk at v: chains right, polygons left */
    if (turn < 0.0) past_a = -past_a, past_b = -past_b;
    bool between = past_a > 0.0 && past_b < 0.0 && mor_norm(d) > 0.0;
    *n = between ? mor_normalize(d, a) : mor_dot(a, d) > mor_dot(b, d) ? a : b;
    return between;
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

static mor_feature_plane* new_plane(mor_feature_set* set, uint32_t id, mor_vec3 outward, double s, bool owner_is_a)
{
    mor_feature_plane* plane = &set->planes[set->plane_count++];
    *plane =
        (mor_feature_plane){ .id = id, .n = owner_is_a ? outward : mor_neg(outward), .s = s, .row = set->row_count };
    return plane;
}

/* Plane and row of part f of X against a particle or disc. */
static void round_row(const piece* X, int f, const piece* Y, bool owner_is_a, uint32_t id, double window,
                      mor_feature_set* set)
{
    int v = f < X->planes ? f : f - X->planes;
    mor_vec3 n = X->n[v];
    if (f >= X->planes) corner_normal(X, v, Y, &n);
    mor_vec3 low = mor_madd(Y->p[0], -Y->radius, n);
    double s = mor_dot(n, mor_sub(low, X->p[v]));
    put_row(set, new_plane(set, id, n, s, owner_is_a), low, s, owner_is_a, mor_feature(0, 0, 0), window);
}

/* The row of point v of Y above edge f of X: v itself or, where v lies beyond the end of f and the edge of Y from its
 * support comes down there, the point of that edge at the end. `lowest`: heights up to this are the support. */
static mor_vec3 row_point(const piece* X, int f, const piece* Y, int v, double lowest, double tol, uint32_t* feature)
{
    const mor_vec3 p = Y->p[v], q = X->p[f], t = X->t[f];
    const double at = mor_dot(t, mor_sub(p, q)), end = at < 0.0 ? 0.0 : X->length[f];
    *feature = mor_feature(0, v, 0);
    if (at >= -tol && at <= X->length[f] + tol) return p;
    for (int side = 0; side < 2; side++) {
        int u = side ? (v + 1 < Y->points ? v + 1 : 0) : (v > 0 ? v - 1 : Y->points - 1);
        double from = mor_dot(t, mor_sub(Y->p[u], q));
        if (mor_dot(X->n[f], mor_sub(Y->p[u], q)) > lowest || from < -tol || from > X->length[f] + tol) continue;
        *feature = mor_feature(1, at < 0.0 ? 0 : 1, 0);
        return mor_lerp(Y->p[u], p, mor_max(0.0, (end - from) / (at - from)));
    }
    return p;
}

static void edge_rows(const piece* X, int f, const piece* Y, bool owner_is_a, uint32_t id, double window,
                      mor_feature_set* set)
{
    if (set->plane_count == MOR_MAX_PLANES) return;
    if (Y->planes == 0) {
        round_row(X, f, Y, owner_is_a, id, window, set);
        return;
    }
    mor_feature_plane* plane = new_plane(set, id, X->n[f], edge_separation(X, f, Y), owner_is_a);
    mor_vec3 q = X->p[f], t = X->t[f];
    double length = X->length[f], top = plane->s + MOR_SUPPORT_TOL * mor_min(1.0, set->size),
           tol = MOR_OPEN_TOL * set->size;
    int support[2] = { -1, -1 }, count = 0;
    for (int v = 0; v < Y->points; v++) {
        double h = mor_dot(X->n[f], mor_sub(Y->p[v], q));
        if (h <= top) {
            if (count++ < 2) support[count - 1] = v;
            continue;
        }
        uint32_t feature;
        mor_vec3 p = row_point(X, f, Y, v, top, tol, &feature);
        put_row(set, plane, p, mor_dot(X->n[f], mor_sub(p, q)), owner_is_a, feature, window);
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
        uint32_t feature = mor_feature(0, support[k], 0);
        double at = k ? to : from;
        if (cut && (at < -tol || at > length + tol)) {
            double end = at < 0.0 ? 0.0 : length;
            p = mor_lerp(Y->p[support[0]], Y->p[support[1]], (end - from) / (to - from));
            feature = mor_feature(1, at < 0.0 ? 0 : 1, 0);
        }
        put_row(set, plane, p, mor_dot(X->n[f], mor_sub(p, q)), owner_is_a, feature, window);
    }
}

static uint32_t number_of(bool of_a, int part, int piece)
{
    return of_a ? mor_plane_id(MOR_FACE_OF_A, part, piece) : mor_plane_id(MOR_FACE_OF_B, piece, part);
}

void mor_features_planar_rows(const mor_placed* A, const mor_placed* B, uint32_t id, double window,
                              mor_feature_set* set)
{
    piece a, b;
    const int run = mor_features_piece_of(A->shape, B->shape, id);
    place(A, run, &a);
    place(B, run, &b);
    if (mor_plane_kind(id) == MOR_FACE_OF_A) edge_rows(&a, mor_plane_of_a(id), &b, true, id, window, set);
    else edge_rows(&b, mor_plane_of_b(id), &a, false, id, window, set);
}

/* Does an edge of X alone keep Y away by more than the window? In X's own axes, before anything is placed. */
static bool edge_keeps_away(const mor_placed* X, int run, const mor_placed* Y, double window)
{
    if (round_shape(X->shape)) return false;
    const mor_vec3 *p, *n, *q, *unused;
    const int planes = parts(X->shape, run, &p, &n);
    int points = 1;
    mor_vec3 centre = mor_v3(0, 0, 0), local[MOST];
    q = &centre;
    double radius = Y->shape->kind == MOR_DISC ? Y->shape->size[0] : 0.0;
    if (!round_shape(Y->shape)) points = parts(Y->shape, run, &q, &unused);
    for (int v = 0; v < points; v++) local[v] = mor_placed_unpoint(X, mor_placed_point(Y, q[v]));
    for (int f = 0; f < planes; f++) {
        double least = HUGE_VAL;
        for (int v = 0; v < points && least - radius >= window; v++)
            least = mor_min(least, mor_dot(n[f], mor_sub(local[v], p[f])));
        if (least - radius >= window) return true;
    }
    return false;
}

void mor_features_planar(const mor_placed* A, const mor_placed* B, int run, const mor_feature_query* o,
                         mor_feature_set* set)
{
    piece a, b;
    set->separation = HUGE_VAL;
    double bound = A->shape->radius + B->shape->radius + o->window;
    mor_vec3 d = mor_sub(B->p, A->p);
    if (mor_dot(d, d) >= bound * bound || edge_keeps_away(A, run, B, o->window) ||
        edge_keeps_away(B, run, A, o->window))
        return;
    place(A, run, &a);
    place(B, run, &b);
    /* edges of a, of b, and the corners a disc is before */
    double s[3 * MOST], best = -HUGE_VAL;
    const int edges = a.planes + b.planes;
    const bool disc = a.radius > 0.0 || b.radius > 0.0;
    int winner = 0, count = edges;
    for (int f = 0; f < (disc ? 2 * edges : edges); f++) {
        if (f < edges) {
            s[f] = f < a.planes ? edge_separation(&a, f, &b) : edge_separation(&b, f - a.planes, &a);
        } else {
            const piece *X = a.planes ? &a : &b, *Y = a.planes ? &b : &a;
            mor_vec3 n;
            s[f] = -HUGE_VAL;
            if (corner_normal(X, f - edges, Y, &n)) s[f] = mor_dot(n, mor_sub(Y->p[0], X->p[f - edges])) - Y->radius;
            count = f + 1;
        }
        if (s[f] > best) {
            best = s[f];
            winner = f;
        }
        if (best >= o->window) return;
    }
    set->separation = best;
    double deepest = -o->window; /* of the planes reported; polygons with very many edges report the nearest */
    for (int listed = MOR_MAX_PLANES; listed > MOR_MAX_PLANES - 2; deepest *= 0.5) {
        listed = 0;
        for (int f = 0; f < count; f++) listed += s[f] >= deepest;
        if (listed <= MOR_MAX_PLANES - 2 || !(deepest < -1e-300)) break;
    }
    for (int f = 0; f < count; f++) {
        bool of_a = disc ? a.planes > 0 : f < a.planes;
        int part = of_a || disc ? f : f - a.planes;
        uint32_t id = number_of(of_a, part, run);
        if (f == winner) set->best = id;
        if ((s[f] < deepest && f != winner && id != o->held) || (s[f] == -HUGE_VAL && id != o->held)) continue;
        if (of_a) edge_rows(&a, part, &b, true, id, o->window, set);
        else edge_rows(&b, part, &a, false, id, o->window, set);
    }
}
