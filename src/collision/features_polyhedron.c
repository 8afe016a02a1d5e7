/* Separating planes of two convex polyhedra (or a half-space and a polyhedron) and their rows.
 *
 *   face f of A    psi_i = n_f.(b_i - a_f) over the vertices b_i of B
 *   face f of B    the same with the vertices of A, n_k = -n_f
 *   edge pair      u of A between faces L, R and v of B between l, r with crossing Gauss arcs,
 *                      (l.u)(r.u) < 0,  (L.v)(R.v) < 0,  (r.u)(L.v) > 0       (B's normals reversed),
 *                  n = +-(u x v)/|u x v| outward from A, one row at the nearest points of the segments, psi = n.(p_B -
 *                  p_A)
 *
 * Rows of a face plane are cut to the face (features_faces.c).
 *
 * Edge pairs pass three filters (the third, at the trial state, is the formulation's):
 *   near            distance of the segments <= distance of the bodies + 2 m: the linear model of a far pair is
 *   worthless not degenerate  n farther than `turn` from the normals of the four faces beside, if their plane is open:
 *   the face
 *                   plane with its clipped rows says the same, and a single row would let the body turn about its point
 * Nearly parallel edges (sine below 1e-4) are dropped: a face plane separates there.
 *
 * Work happens in A's axes. Cost O(F_a V_b + F_b V_a + E_a (F_b + E_b)). Polyhedra with more than MOST parts of a
 * kind are refused with a sentence. */
#include "base/elementary.h"
#include "collision/features.h"
#include "collision/gjk.h"

#include <string.h>

enum { MOST = MOR_MAX_PARTS };
#define PARALLEL_SINE 1e-4

const char* mor_features_too_large(const mor_geometry* g)
{
    if (g->kind == MOR_POLYGON && g->polyline->point_count > 512) return "512 edges";
    if (g->kind != MOR_POLYHEDRON) return NULL;
    const mor_polyhedron* P = g->polyhedron;
    return P->vertex_count > MOST || P->edge_count > MOST || P->face_count > MOST ? "2048 vertices, edges or faces"
                                                                                  : NULL;
}

bool mor_features_exact(const mor_geometry* a, const mor_geometry* b)
{
    const mor_geometry* both[2] = { a, b };
    bool bounded = false, faces = false;
    for (int i = 0; i < 2; i++) {
        const mor_geometry* g = both[i];
        switch (g->kind) {
        case MOR_POLYHEDRON:
            if (mor_features_too_large(g)) return false;
            faces = bounded = true;
            break;
        case MOR_POLYGON:
            if (mor_features_too_large(g)) return false;
            faces = bounded = true;
            break;
        case MOR_PARTICLE:
        case MOR_DISC:
            bounded = true;
            break;
        case MOR_PLANE:
        case MOR_CHAIN:
            faces = true;
            break;
        default:
            return false;
        }
    }
    return bounded && faces && a->dimension == b->dimension;
}

/* ----------------------------------------------------------------------------------- rows */

/* Nearest points of two segments p + s u, q + t v. */
static double segment_points(mor_vec3 p, mor_vec3 u, mor_vec3 q, mor_vec3 v, mor_vec3* on_a, mor_vec3* on_b)
{
    mor_vec3 w = mor_sub(q, p);
    double uu = mor_dot(u, u), vv = mor_dot(v, v), uv = mor_dot(u, v), uw = mor_dot(u, w), vw = mor_dot(v, w);
    double det = uu * vv - uv * uv, s = det > 0.0 ? (uw * vv - uv * vw) / det : 0.0;
    s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
    double t = (s * uv - vw) / vv;
    if (t < 0.0 || t > 1.0) {
        t = t < 0.0 ? 0.0 : 1.0;
        s = (uw + t * uv) / uu;
        s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
    }
    *on_a = mor_madd(p, s, u);
    *on_b = mor_madd(q, t, v);
    return mor_norm(mor_sub(*on_b, *on_a));
}

static void edge_ends(const mor_placed* X, int e, mor_vec3* p, mor_vec3* u)
{
    const mor_polyhedron* P = X->shape->polyhedron;
    *p = mor_placed_point(X, P->vertices[P->edges[e].tail]);
    *u = mor_placed_vector(X, mor_sub(P->vertices[P->edges[e].head], P->vertices[P->edges[e].tail]));
}

static void edge_rows(const mor_placed* A, int i, const mor_placed* B, int j, uint32_t id, mor_feature_set* set)
{
    const mor_polyhedron* P = A->shape->polyhedron;
    if (set->plane_count == MOR_MAX_PLANES || set->row_count == MOR_MAX_ROWS) return;
    mor_vec3 p, u, q, v, on_a, on_b;
    edge_ends(A, i, &p, &u);
    edge_ends(B, j, &q, &v);
    mor_vec3 n = mor_cross(u, v),
             out = mor_placed_vector(A, mor_add(P->normals[P->edges[i].left], P->normals[P->edges[i].right]));
    n = mor_normalize(n, mor_normalize(out, mor_v3(0, 0, 1)));
    if (mor_dot(n, out) < 0.0) n = mor_neg(n);
    segment_points(p, u, q, v, &on_a, &on_b);
    double gap = mor_dot(n, mor_sub(on_b, on_a));
    set->rows[set->row_count] = (mor_feature_row){ on_a, on_b, gap, 0 };
    set->planes[set->plane_count++] = (mor_feature_plane){ id, n, gap, set->row_count++, 1 };
}

void mor_features_solid_rows(const mor_placed* A, const mor_placed* B, uint32_t id, double window, mor_feature_set* set)
{
    switch (mor_plane_kind(id)) {
    case MOR_FACE_OF_A:
        mor_features_face_rows(A, mor_plane_of_a(id), B, id, window, set);
        return;
    case MOR_FACE_OF_B:
        mor_features_face_rows(B, mor_plane_of_b(id), A, id, window, set);
        return;
    default:
        edge_rows(A, mor_plane_of_a(id), B, mor_plane_of_b(id), id, set);
        return;
    }
}

/* --------------------------------------------------------------------------------- planes */

typedef struct candidate {
    uint32_t id;
    double s;
} candidate;

typedef struct search {
    const mor_polyhedron *P, *Q;
    mor_mat3 R; /* B's axes in A's */
    mor_vec3 p;
    mor_vec3 vertex[MOST], normal[MOST], dir[MOST]; /* of B, in A's axes */
    double offset[MOST];
    double open_a[MOST], open_b[MOST]; /* s of the face planes */
    candidate list[MOR_MAX_PLANES];
    int count;
    double best;
    uint32_t best_id;
} search;

static double face_a(const search* k, int f)
{
    mor_vec3 n = k->P->normals[f];
    double least = HUGE_VAL;
    for (int v = 0; v < k->Q->vertex_count; v++) {
        double d = mor_dot(n, k->vertex[v]);
        if (d < least) least = d;
    }
    return least - k->P->offsets[f];
}

static double face_b(const search* k, int f)
{
    mor_vec3 n = k->normal[f];
    double least = HUGE_VAL;
    for (int v = 0; v < k->P->vertex_count; v++) {
        double d = mor_dot(n, k->P->vertices[v]);
        if (d < least) least = d;
    }
    return least - k->offset[f];
}

/* Two boxes: s of all face planes by their half sizes, s = +-n.p - sum_i |n_i| a_i - b. */
static void box_faces(search* k)
{
    const mor_vec3 a = k->P->half, b = k->Q->half;
    double by_a[3][2], by_b[3][2]; /* axis, side */
    for (int i = 0; i < 3; i++) {
        mor_vec3 row = mor_v3(k->R.m[i][0], k->R.m[i][1], k->R.m[i][2]),
                 column = mor_v3(k->R.m[0][i], k->R.m[1][i], k->R.m[2][i]);
        double reach_b = fabs(row.x) * b.x + fabs(row.y) * b.y + fabs(row.z) * b.z + mor_axis(a, i);
        double reach_a = fabs(column.x) * a.x + fabs(column.y) * a.y + fabs(column.z) * a.z + mor_axis(b, i);
        double pa = mor_axis(k->p, i), pb = mor_dot(column, k->p);
        by_a[i][0] = -pa - reach_b;
        by_a[i][1] = pa - reach_b;
        by_b[i][0] = pb - reach_a;
        by_b[i][1] = -pb - reach_a;
    }
    for (int f = 0; f < k->P->face_count; f++) {
        mor_vec3 n = k->P->normals[f];
        int axis = n.x != 0.0 ? 0 : n.y != 0.0 ? 1 : 2;
        k->open_a[f] = by_a[axis][mor_axis(n, axis) > 0.0];
    }
    for (int f = 0; f < k->Q->face_count; f++) {
        mor_vec3 n = k->Q->normals[f];
        int axis = n.x != 0.0 ? 0 : n.y != 0.0 ? 1 : 2;
        k->open_b[f] = by_b[axis][mor_axis(n, axis) > 0.0];
    }
}

/* The list keeps the planes nearest to being open. */
static void keep(search* k, uint32_t id, double s)
{
    if (s > k->best) {
        k->best = s;
        k->best_id = id;
    }
    int at = k->count;
    if (at == MOR_MAX_PLANES) {
        at = 0;
        for (int i = 1; i < k->count; i++)
            if (k->list[i].s < k->list[at].s) at = i;
        if (k->list[at].s >= s) return;
    } else {
        k->count++;
    }
    k->list[at] = (candidate){ id, s };
}

static void relate(search* k, const mor_placed* A, const mor_placed* B)
{
    mor_mat3 t = mor_mat3_transpose(&A->R);
    k->R = mor_mat3_mul(&t, &B->R);
    k->p = mor_tmul(&A->R, mor_sub(B->p, A->p));
}

static void place_b(search* k)
{
    const mor_polyhedron* Q = k->Q;
    for (int v = 0; v < Q->vertex_count; v++) k->vertex[v] = mor_add(k->p, mor_mul(&k->R, Q->vertices[v]));
    for (int f = 0; f < Q->face_count; f++) {
        k->normal[f] = mor_mul(&k->R, Q->normals[f]);
        k->offset[f] = Q->offsets[f] + mor_dot(k->normal[f], k->p);
    }
}

double mor_features_solid_along(const mor_placed* A, const mor_placed* B, uint32_t id)
{
    int kind = mor_plane_kind(id);
    if (kind == MOR_EDGE_PAIR) {
        mor_vec3 p, u, q, v;
        edge_ends(A, mor_plane_of_a(id), &p, &u);
        edge_ends(B, mor_plane_of_b(id), &q, &v);
        mor_vec3 n = mor_cross(u, v);
        double l = mor_norm(n);
        if (l <= PARALLEL_SINE * mor_norm(u) * mor_norm(v)) return -HUGE_VAL;
        n = mor_scale(1.0 / l, n);
        if (mor_dot(n, mor_sub(q, p)) < 0.0) n = mor_neg(n);
        return mor_separation(A, B, n);
    }
    const mor_placed* X = kind == MOR_FACE_OF_A ? A : B;
    int f = kind == MOR_FACE_OF_A ? mor_plane_of_a(id) : mor_plane_of_b(id);
    mor_vec3 n = mor_placed_vector(X, X->shape->polyhedron->normals[f]);
    return mor_separation(A, B, X == A ? n : mor_neg(n));
}

typedef struct edge_candidate {
    int i, j;
    mor_vec3 n;
    double s, distance;
} edge_candidate;

enum { MOST_EDGE_PAIRS = 256 };

static bool beside_open_face(const search* k, const edge_candidate* c, double turn, double tol)
{
    double cosine = 1.0 - 0.5 * turn * turn; /* below cos(turn) by less than turn^4/24 */
    const mor_edge *a = &k->P->edges[c->i], *b = &k->Q->edges[c->j];
    return (k->open_a[a->left] >= -tol && mor_dot(c->n, k->P->normals[a->left]) > cosine) ||
           (k->open_a[a->right] >= -tol && mor_dot(c->n, k->P->normals[a->right]) > cosine) ||
           (k->open_b[b->left] >= -tol && -mor_dot(c->n, k->normal[b->left]) > cosine) ||
           (k->open_b[b->right] >= -tol && -mor_dot(c->n, k->normal[b->right]) > cosine);
}

typedef struct edge_list {
    edge_candidate found[MOST_EDGE_PAIRS];
    int count;
} edge_list;

/* Takes a crossing pair with its outward unit normal into account; false if it separates by more than the window. */
static bool consider(search* k, int i, int j, mor_vec3 n, const mor_feature_query* o, double tol, uint32_t cache[4],
                     edge_list* list)
{
    const mor_edge *a = &k->P->edges[i], *b = &k->Q->edges[j];
    mor_vec3 p = k->P->vertices[a->tail], q = k->vertex[b->tail];
    double s = mor_dot(n, mor_sub(q, p));
    if (s >= o->window) {
        cache[0] = 1 + mor_plane_id(MOR_EDGE_PAIR, i, j);
        k->best = s;
        return false;
    }
    if (s > k->best) {
        k->best = s;
        k->best_id = mor_plane_id(MOR_EDGE_PAIR, i, j);
    }
    edge_candidate c = { i, j, n, s, 0.0 };
    if (s < -o->window || beside_open_face(k, &c, o->turn, tol)) return true;
    mor_vec3 on_a, on_b;
    c.distance =
        segment_points(p, mor_sub(k->P->vertices[a->head], p), q, mor_sub(k->vertex[b->head], q), &on_a, &on_b);
    int at = list->count;
    if (at < MOST_EDGE_PAIRS) {
        list->count++;
    } else { /* the nearest to being open stay */
        at = 0;
        for (int e = 1; e < list->count; e++)
            if (list->found[e].s < list->found[at].s) at = e;
        if (list->found[at].s >= c.s) return true;
    }
    list->found[at] = c;
    return true;
}

/* Two boxes: for every pair of axes and either sign exactly one pair of edges supports the normal. */
static bool search_box_edges(search* k, const mor_feature_query* o, double tol, uint32_t cache[4], edge_list* list)
{
    const int(*A)[2][2] = k->P->box_edges;
    const int(*B)[2][2] = k->Q->box_edges;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            mor_vec3 v = mor_v3(k->R.m[0][j], k->R.m[1][j], k->R.m[2][j]);
            mor_vec3 n = mor_cross(i == 0 ? mor_v3(1, 0, 0) : i == 1 ? mor_v3(0, 1, 0) : mor_v3(0, 0, 1), v);
            double l = mor_norm(n);
            if (l < PARALLEL_SINE) continue;
            n = mor_scale(1.0 / l, n);
            mor_vec3 local = mor_tmul(&k->R, n);
            double a1 = mor_axis(n, (i + 1) % 3), a2 = mor_axis(n, (i + 2) % 3), b1 = mor_axis(local, (j + 1) % 3),
                   b2 = mor_axis(local, (j + 2) % 3);
            /* the arcs only touch: a face says the same */
            if (a1 == 0.0 || a2 == 0.0 || b1 == 0.0 || b2 == 0.0) continue;
            if (!consider(k, A[i][a1 > 0][a2 > 0], B[j][b1 < 0][b2 < 0], n, o, tol, cache, list) ||
                !consider(k, A[i][a1 < 0][a2 < 0], B[j][b1 > 0][b2 > 0], mor_neg(n), o, tol, cache, list))
                return false;
        }
    return true;
}

/* Whether an arc crosses the great circle of an edge depends on the edge's direction only, so parallel edges are looked
 * at together: for direction u of A the edges of B with (l.u)(r.u) < 0, for each edge of A along u and each direction v
 * of those the sign of (L.v)(R.v), and one normal per pair of directions. */
static bool search_all_edges(search* k, const mor_feature_query* o, double tol, uint32_t cache[4], edge_list* list)
{
    const mor_polyhedron *P = k->P, *Q = k->Q;
    double lift[MOST];
    mor_vec3 v[MOST], normal[MOST];
    int across[MOST];        /* edges of B whose arcs cross the circle of u; ~j: from behind */
    signed char known[MOST]; /* by direction of B: is its normal known for this u: 1, parallel: -1 */
    signed char side[MOST];  /* by direction of B, for one edge of A: 0 not asked, 2 does not cross, or the sign of
                                   L.v */
    for (int b = 0; b < Q->direction_count; b++) v[b] = mor_mul(&k->R, Q->directions[b]);
    for (int a = 0; a < P->direction_count; a++) {
        const mor_vec3 u = P->directions[a];
        int count = 0;
        for (int f = 0; f < Q->face_count; f++) lift[f] = mor_dot(k->normal[f], u);
        for (int j = 0; j < Q->edge_count; j++) {
            double l = lift[Q->edges[j].left], r = lift[Q->edges[j].right];
            if (l * r < 0.0) across[count++] = r < 0.0 ? j : ~j;
        }
        memset(known, 0, (size_t)Q->direction_count);
        for (int i = 0; i < P->edge_count; i++) {
            const int along = P->edge_direction[i];
            if ((along < 0 ? ~along : along) != a) continue;
            const mor_vec3 L = P->normals[P->edges[i].left], R = P->normals[P->edges[i].right];
            memset(side, 0, (size_t)Q->direction_count);
            for (int c = 0; c < count; c++) {
                const int j = across[c] < 0 ? ~across[c] : across[c], to = Q->edge_direction[j], b = to < 0 ? ~to : to;
                if (side[b] == 0) {
                    double Lv = mor_dot(L, v[b]), Rv = mor_dot(R, v[b]);
                    side[b] = (signed char)(Lv * Rv >= 0.0 ? 2 : Lv > 0.0 ? 1 : -1);
                }
                /* (r.u)(L.v) > 0 with the signs of both edges against their directions */
                if (side[b] == 2 || ((across[c] < 0) ^ (along < 0) ^ (to < 0) ^ (side[b] < 0))) continue;
                if (known[b] == 0) {
                    mor_vec3 n = mor_cross(u, v[b]);
                    double nn = mor_dot(n, n);
                    known[b] = nn < PARALLEL_SINE * PARALLEL_SINE ? -1 : 1;
                    if (known[b] > 0) normal[b] = mor_scale(1.0 / sqrt(nn), n);
                }
                if (known[b] < 0) continue;
                bool outward = mor_dot(normal[b], mor_add(L, R)) >= 0.0;
                if (!consider(k, i, j, outward ? normal[b] : mor_neg(normal[b]), o, tol, cache, list)) return false;
            }
        }
    }
    return true;
}

/* Least distance of a corner of either box to the other box. */
static double corners_apart(const search* k)
{
    double least = HUGE_VAL;
    for (int v = 0; v < 8; v++) {
        mor_vec3 q = k->vertex[v], p = mor_tmul(&k->R, mor_sub(k->P->vertices[v], k->p)), a = k->P->half,
                 b = k->Q->half;
        mor_vec3 d =
            mor_v3(mor_max(fabs(q.x) - a.x, 0.0), mor_max(fabs(q.y) - a.y, 0.0), mor_max(fabs(q.z) - a.z, 0.0));
        mor_vec3 e =
            mor_v3(mor_max(fabs(p.x) - b.x, 0.0), mor_max(fabs(p.y) - b.y, 0.0), mor_max(fabs(p.z) - b.z, 0.0));
        least = mor_min(least, mor_min(mor_dot(d, d), mor_dot(e, e)));
    }
    return sqrt(least);
}

/* Crossing arcs; false if one of them separates by more than the window. */
static bool search_edges(search* k, const mor_placed* A, const mor_placed* B, const mor_feature_query* o, double tol,
                         uint32_t cache[4])
{
    const mor_polyhedron* Q = k->Q;
    edge_list list;
    list.count = 0;
    for (int j = 0; j < Q->edge_count; j++)
        k->dir[j] = mor_sub(k->vertex[Q->edges[j].head], k->vertex[Q->edges[j].tail]);
    if (!(k->P->is_box && Q->is_box ? search_box_edges(k, o, tol, cache, &list)
                                    : search_all_edges(k, o, tol, cache, &list)))
        return false;
    /* near: the distance of the bodies lies between the best separation and what some of their points are apart; it is
     * looked up only if these do not decide */
    double near = mor_max(k->best, 0.0), far = HUGE_VAL;
    bool asked = k->best <= 0.0;
    for (int c = 0; c < list.count; c++) far = mor_min(far, list.found[c].distance);
    if (!asked && list.count && k->P->is_box && Q->is_box) far = mor_min(far, corners_apart(k));
    for (int c = 0; c < list.count; c++) {
        const edge_candidate* e = &list.found[c];
        if (e->distance > far + 2.0 * o->motion + tol) continue;
        if (e->distance > near + 2.0 * o->motion && !asked) {
            mor_closest closest;
            asked = true;
            if (mor_gjk(A, B, HUGE_VAL, &closest) == MOR_GJK_APART) near = mor_max(near, closest.distance);
        }
        if (e->distance <= near + 2.0 * o->motion + tol) keep(k, mor_plane_id(MOR_EDGE_PAIR, e->i, e->j), e->s);
    }
    return true;
}

/* Do the arcs of a remembered pair of edges still cross? */
static bool still_crosses(const search* k, uint32_t id)
{
    const mor_edge *a = &k->P->edges[mor_plane_of_a(id)], *b = &k->Q->edges[mor_plane_of_b(id)];
    mor_vec3 u = mor_sub(k->P->vertices[a->head], k->P->vertices[a->tail]), v = k->dir[mor_plane_of_b(id)];
    double lu = -mor_dot(k->normal[b->left], u), ru = -mor_dot(k->normal[b->right], u);
    double Lv = mor_dot(k->P->normals[a->left], v), Rv = mor_dot(k->P->normals[a->right], v);
    return lu * ru < 0.0 && Lv * Rv < 0.0 && ru * Lv > 0.0;
}

/* A half-space and a polyhedron. */
static void one_plane(const mor_placed* A, const mor_placed* B, const mor_feature_query* o, mor_feature_set* set)
{
    bool first = A->shape->kind == MOR_PLANE;
    if (first) mor_features_face_rows(A, 0, B, mor_plane_id(MOR_FACE_OF_A, 0, 0), o->window, set);
    else mor_features_face_rows(B, 0, A, mor_plane_id(MOR_FACE_OF_B, 0, 0), o->window, set);
    set->separation = set->planes[0].s;
    set->best = set->planes[0].id;
    if (set->separation >= o->window) set->plane_count = set->row_count = 0;
}

void mor_features_solid(const mor_placed* A, const mor_placed* B, const mor_feature_query* o, uint32_t cache[4],
                        mor_feature_set* set)
{
    if (A->shape->kind == MOR_PLANE || B->shape->kind == MOR_PLANE) {
        one_plane(A, B, o, set);
        return;
    }
    double bound = A->shape->radius + B->shape->radius + o->window;
    mor_vec3 d = mor_sub(B->p, A->p);
    set->separation = HUGE_VAL;
    if (mor_dot(d, d) >= bound * bound || (cache[0] && mor_features_solid_along(A, B, cache[0] - 1) >= o->window))
        return;
    search k;
    k.P = A->shape->polyhedron;
    k.Q = B->shape->polyhedron;
    k.count = 0;
    k.best = -HUGE_VAL;
    relate(&k, A, B);
    const bool boxes = k.P->is_box && k.Q->is_box;
    if (boxes) box_faces(&k);
    else place_b(&k);
    const double tol = MOR_OPEN_TOL * set->size;
    for (int f = 0; f < k.P->face_count; f++) {
        double s = boxes ? k.open_a[f] : (k.open_a[f] = face_a(&k, f));
        if (s >= o->window) {
            cache[0] = 1 + mor_plane_id(MOR_FACE_OF_A, f, 0);
            return;
        }
        if (s >= -o->window || s > k.best) keep(&k, mor_plane_id(MOR_FACE_OF_A, f, 0), s);
    }
    for (int f = 0; f < k.Q->face_count; f++) {
        double s = boxes ? k.open_b[f] : (k.open_b[f] = face_b(&k, f));
        if (s >= o->window) {
            cache[0] = 1 + mor_plane_id(MOR_FACE_OF_B, 0, f);
            return;
        }
        if (s >= -o->window || s > k.best) keep(&k, mor_plane_id(MOR_FACE_OF_B, 0, f), s);
    }
    if (boxes) place_b(&k);
    if (!search_edges(&k, A, B, o, tol, cache)) return;
    set->separation = k.best;
    set->best = k.best_id;
    if (k.best < -tol && mor_plane_kind(k.best_id) == MOR_EDGE_PAIR) keep(&k, k.best_id, k.best);
    bool held = o->held == MOR_NO_PLANE || (mor_plane_kind(o->held) == MOR_EDGE_PAIR && !still_crosses(&k, o->held));
    for (int c = 0; c < k.count; c++) {
        if (k.list[c].s < -o->window && k.list[c].id != k.best_id && k.list[c].id != o->held) continue;
        bool twice = false;
        for (int e = 0; e < c && !twice; e++) twice = k.list[e].id == k.list[c].id;
        if (twice) continue;
        held = held || k.list[c].id == o->held;
        mor_features_solid_rows(A, B, k.list[c].id, o->window, set);
    }
    if (!held) mor_features_solid_rows(A, B, o->held, o->window, set);
}
