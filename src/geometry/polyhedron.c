/* Convex polyhedra from face loops: weld, find neighbours, check, merge coplanar faces, number edges.
 *
 * All tolerances are lengths: t = tolerance * (diagonal of the bounding box).
 *   1 weld      vertices closer than t become the first of them; faces that lose a corner shrink,
 *               faces left with fewer than three vertices and exact copies of faces are dropped.
 *   2 twins     every directed edge a -> b must meet exactly one b -> a; if not, faces thinner than t
 *               are dropped and it is tried once more; then the mesh is open, has an edge with three or
 *               more faces, or a face that is wound the wrong way.
 *   3 surface   one connected piece with V - E + F = 2 and volume; negative volume turns all faces.
 *   4 convexity across each edge the corners of the smaller face may not rise above the plane of the
 *               larger one by more than t (the smaller may be a sliver whose normal is noise).
 *   5 merge     in order of falling area every free face gathers the neighbours whose corners lie
 *               within t of its plane: no chains of small angles, so no drift. Vertices with fewer than
 *               three merged faces around them vanish.
 *   6 planes    normals by Newell's sum, offset such that no corner of the face is above it; then every
 *               vertex against every face: step 4 alone accepts solids that wind twice, such as the
 *               great icosahedron.
 * A mesh that fails 4 or 6 by no more than REPAIR of its size, or whose volume equals its hull's, is
 * convex but for rounding and becomes its hull; all others are refused with the deepest place.
 *
 * Cost: n log n, and faces x vertices for step 6.
 *
 * References: M. Newell, in Sutherland, Sproull, Schumacker (1974), A characterization of ten hidden
 * surface algorithms, Computing Surveys 6(1); A. Barber, D. Dobkin, H. Huhdanpaa (1996), The quickhull
 * algorithm for convex hulls, ACM TOMS 22(4), on merging. */
#include "geometry/polyhedron.h"

#include <stdlib.h>
#include <string.h>

static const double REPAIR = 1e-4;        /* of the diagonal: deeper dents are meant, not rounding */
static const double REPAIR_VOLUME = 1e-6; /* of the hull's volume: dents of slivers hold nothing */

typedef struct half_edge {
    int tail, head, face, twin;
} half_edge;

/* One directed edge in the sorted list that finds twins. */
typedef struct edge_key {
    int low, high, index;
} edge_key;

typedef struct plane {
    mor_vec3 normal;
    double offset, area, width; /* width: twice the area over the longest edge */
} plane;

/* The mesh while it is worked on. Everything is in the arena. */
typedef struct mesh {
    const char* shape;
    mor_arena* arena;
    mor_error* error;
    const mor_vec3* points;
    double size, t;
    int face_count, corner_count;
    int *start, *corners; /* loops of faces */
    int* source;          /* face of the caller */
    half_edge* half;      /* one per corner: from it to the next */
    plane* planes;
} mesh;

typedef struct dent {
    double depth;
    int vertex, face;
} dent;

static mor_vec3 unit(mor_vec3 v)
{
    double n = mor_norm(v); /* division, not multiplication: (0, 0, a) becomes exactly (0, 0, 1) */
    return n > 0.0 ? mor_v3(v.x / n + 0.0, v.y / n + 0.0, v.z / n + 0.0) : mor_v3(0, 0, 0);
}

static plane plane_of_loop(const mor_vec3* points, const int* loop, int n)
{
    mor_vec3 sum = { 0, 0, 0 }, o = points[loop[0]], mean = { 0, 0, 0 };
    double longest = 0.0;
    for (int k = 0; k < n; k++) {
        mor_vec3 a = mor_sub(points[loop[k]], o), b = mor_sub(points[loop[(k + 1) % n]], o);
        sum = mor_add(sum, mor_cross(a, b));
        mean = mor_madd(mean, 1.0 / n, a);
        longest = fmax(longest, mor_norm(mor_sub(b, a)));
    }
    double area = 0.5 * mor_norm(sum);
    mor_vec3 normal = unit(sum);
    return (plane){ normal, mor_dot(normal, mor_add(o, mean)), area, longest > 0.0 ? 2.0 * area / longest : 0.0 };
}

static double above(const plane* p, mor_vec3 x) { return mor_dot(p->normal, x) - p->offset; }

static bool out_of_memory(const mesh* m)
{
    mor_fail(m->error, MOR_SYSTEM, "%s: out of memory", m->shape);
    return false;
}

/* ------------------------------------------------------------------------ 0 input, 1 weld */

static bool input_ok(const char* shape, const mor_face_loops* in, mor_error* error)
{
    const char* wrong = NULL;
    if (in->point_count < 4 || in->count < 4) wrong = "a closed solid has at least 4 vertices and 4 faces";
    if (in->point_count > MOR_PIECE_POINTS_MAX || in->count > MOR_PIECE_FACES_MAX)
        wrong = "that is more than a convex piece for collisions should have; simplify it or take its hull";
    if (wrong) {
        mor_fail(error, MOR_BAD_INPUT, "%s: %d vertices and %d faces; %s", shape, in->point_count, in->count, wrong);
        return false;
    }
    if (!mor_points_ok(shape, in->points, in->point_count, error)) return false;
    const int* v = in->vertices;
    long corners = 0;
    for (int f = 0; f < in->count; f++) {
        if (in->sizes[f] < 3 || (corners += in->sizes[f]) > 10L * MOR_PIECE_FACES_MAX) {
            mor_fail(error, MOR_BAD_INPUT, "%s: face %d has %d vertices; a face has at least 3", shape, f,
                     in->sizes[f]);
            return false;
        }
        for (int k = 0; k < in->sizes[f]; k++, v++)
            if (*v < 0 || *v >= in->point_count) {
                mor_fail(error, MOR_BAD_INPUT, "%s: face %d names vertex %d; there are vertices 0 to %d", shape, f,
                         *v, in->point_count - 1);
                return false;
            }
    }
    return true;
}

typedef struct sweep_key {
    double at;
    int index;
} sweep_key;

static int compare_sweep(const void* a, const void* b)
{
    const sweep_key *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* representative[i]: the first point within t of point i. Sorted along a skew direction, so that
 * points on a grid do not pile up. */
static bool weld(mesh* m, int count, int* representative)
{
    sweep_key* keys = mor_arena_alloc(m->arena, (size_t)count * sizeof *keys);
    if (!keys) return out_of_memory(m);
    const mor_vec3 skew = { 0.5812381937190965, 0.6297086143545934, 0.5154026783204357 };
    for (int i = 0; i < count; i++) {
        keys[i] = (sweep_key){ mor_dot(skew, m->points[i]), i };
        representative[i] = i;
    }
    qsort(keys, (size_t)count, sizeof *keys, compare_sweep);
    for (int a = 0; a < count; a++)
        for (int b = a + 1; b < count && keys[b].at - keys[a].at <= m->t; b++) {
            int i = keys[a].index, j = keys[b].index;
            if (mor_norm(mor_sub(m->points[i], m->points[j])) > m->t) continue;
            while (representative[i] != i) i = representative[i];
            while (representative[j] != j) j = representative[j];
            if (i < j) representative[j] = i;
            else representative[i] = j;
        }
    for (int i = 0; i < count; i++) representative[i] = representative[representative[i]];
    return true;
}

/* Fills the loops with welded vertices. Returns false when a face touches itself. */
static bool take_faces(mesh* m, const mor_face_loops* in, const int* representative, mor_notes* notes)
{
    int welded = 0, dropped = 0, n = 0;
    const int* v = in->vertices;
    for (int i = 0; i < in->point_count; i++) welded += representative[i] != i;
    for (int f = 0; f < in->count; v += in->sizes[f], f++) {
        int begin = n;
        for (int k = 0; k < in->sizes[f]; k++) {
            int p = representative[v[k]];
            if (n == begin || m->corners[n - 1] != p) m->corners[n++] = p;
        }
        while (n > begin + 1 && m->corners[n - 1] == m->corners[begin]) n--;
        if (n - begin < 3) {
            n = begin;
            dropped++;
            continue;
        }
        for (int a = begin; a < n; a++)
            for (int b = a + 1; b < n; b++)
                if (m->corners[a] == m->corners[b]) {
                    mor_fail(m->error, MOR_BAD_INPUT, "%s: face %d passes twice through vertex %d (%g, %g, %g)",
                             m->shape, f, m->corners[a], m->points[m->corners[a]].x, m->points[m->corners[a]].y,
                             m->points[m->corners[a]].z);
                    return false;
                }
        m->source[m->face_count++] = f;
        m->start[m->face_count] = n;
    }
    m->corner_count = n;
    if (welded) mor_note(notes, "%d duplicate vert%s welded", welded, welded == 1 ? "ex" : "ices");
    if (dropped) mor_note(notes, "%d face%s without area dropped", dropped, dropped == 1 ? "" : "s");
    return true;
}

/* Removes the faces marked in `drop`. */
static int drop_faces(mesh* m, const bool* drop)
{
    int kept = 0, n = 0, begin = 0;
    for (int f = 0; f < m->face_count; f++) {
        int end = m->start[f + 1];
        if (!drop[f]) {
            for (int k = begin; k < end; k++) m->corners[n++] = m->corners[k];
            m->source[kept++] = m->source[f];
            m->start[kept] = n;
        }
        begin = end;
    }
    int dropped = m->face_count - kept;
    m->face_count = kept;
    m->corner_count = n;
    return dropped;
}

/* ------------------------------------------------------------------------------- 2 twins */

static int compare_keys(const void* a, const void* b)
{
    const edge_key *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool same_loop(const mesh* m, int f, int g)
{
    int n = m->start[f + 1] - m->start[f];
    if (m->start[g + 1] - m->start[g] != n) return false;
    const int *a = m->corners + m->start[f], *b = m->corners + m->start[g];
    int shift = 0;
    while (shift < n && b[shift] != a[0]) shift++;
    for (int k = 0; k < n; k++)
        if (a[k] != b[(k + shift) % n]) return false;
    return true;
}

enum { TWINS_OK, TWINS_WRONG, TWINS_AGAIN };

/* Pairs the half edges. Copies of a face met on the way are dropped: TWINS_AGAIN. */
static int find_twins(mesh* m, edge_key* keys, bool* drop, int* copies)
{
    int n = m->corner_count, open = 0, open_at = -1;
    for (int f = 0; f < m->face_count; f++) {
        drop[f] = false;
        for (int k = m->start[f]; k < m->start[f + 1]; k++) {
            int a = m->corners[k], b = m->corners[k + 1 < m->start[f + 1] ? k + 1 : m->start[f]];
            m->half[k] = (half_edge){ a, b, f, -1 };
            keys[k] = (edge_key){ a < b ? a : b, a < b ? b : a, k };
        }
    }
    qsort(keys, (size_t)n, sizeof *keys, compare_keys);
    bool wrong = false, copy = false;
    int first = -1, second = -1, around = 0;
    for (int i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && keys[j].low == keys[i].low && keys[j].high == keys[i].high; j++) {}
        half_edge *a = &m->half[keys[i].index], *b = j > i + 1 ? &m->half[keys[i + 1].index] : NULL;
        if (j - i == 2 && a->tail == b->head) {
            a->twin = keys[i + 1].index;
            b->twin = keys[i].index;
            continue;
        }
        if (j - i == 1) {
            if (open++ == 0) open_at = keys[i].index;
            continue;
        }
        for (int x = i; x < j; x++)
            for (int y = x + 1; y < j; y++) {
                int f = m->half[keys[x].index].face, g = m->half[keys[y].index].face;
                if (f != g && same_loop(m, f, g)) drop[f > g ? f : g] = copy = true;
            }
        if (!wrong) {
            wrong = true;
            around = j - i;
            first = keys[i].index;
            second = keys[i + 1].index;
        }
    }
    if (copy) {
        *copies += drop_faces(m, drop);
        return TWINS_AGAIN;
    }
    if (!wrong && open == 0) return TWINS_OK;
    const half_edge* h = &m->half[wrong ? first : open_at];
    mor_vec3 p = m->points[h->tail], q = m->points[h->head];
    if (!wrong)
        mor_fail(m->error, MOR_BAD_INPUT,
                 "%s: the surface is open: %d edge%s only one face, such as the edge from vertex %d (%g, %g, %g) to "
                 "%d (%g, %g, %g) of face %d; close the hole",
                 m->shape, open, open == 1 ? " has" : "s have", h->tail, p.x, p.y, p.z, h->head, q.x, q.y, q.z,
                 m->source[h->face]);
    else if (around == 2)
        mor_fail(m->error, MOR_BAD_INPUT,
                 "%s: faces %d and %d run the same way along the edge from vertex %d (%g, %g, %g) to %d (%g, %g, %g); "
                 "one of them is wound the wrong way round",
                 m->shape, m->source[h->face], m->source[m->half[second].face], h->tail, p.x, p.y, p.z, h->head, q.x,
                 q.y, q.z);
    else
        mor_fail(m->error, MOR_BAD_INPUT,
                 "%s: not a manifold: %d faces meet in the edge from vertex %d (%g, %g, %g) to %d (%g, %g, %g); a "
                 "solid has two faces at every edge",
                 m->shape, around, h->tail, p.x, p.y, p.z, h->head, q.x, q.y, q.z);
    return TWINS_WRONG;
}

static bool connect(mesh* m, mor_notes* notes)
{
    edge_key* keys = mor_arena_alloc(m->arena, (size_t)m->corner_count * sizeof *keys);
    bool* drop = mor_arena_alloc(m->arena, (size_t)m->face_count * sizeof *drop + 1);
    if (!keys || !drop) return out_of_memory(m);
    int copies = 0, result;
    bool thin_tried = false;
    for (;;) {
        while ((result = find_twins(m, keys, drop, &copies)) == TWINS_AGAIN) {}
        if (result == TWINS_OK || thin_tried) break;
        thin_tried = true;
        int thin = 0;
        for (int f = 0; f < m->face_count; f++) {
            plane p = plane_of_loop(m->points, m->corners + m->start[f], m->start[f + 1] - m->start[f]);
            drop[f] = p.width <= m->t;
            thin += drop[f];
        }
        if (thin == 0 || thin == m->face_count) break;
        drop_faces(m, drop);
        mor_note(notes, "%d face%s without area dropped", thin, thin == 1 ? "" : "s");
    }
    if (result != TWINS_OK) return false;
    if (copies) mor_note(notes, "%d repeated face%s dropped", copies, copies == 1 ? "" : "s");
    return true;
}

static int next_half(const mesh* m, int h)
{
    int f = m->half[h].face;
    return h + 1 < m->start[f + 1] ? h + 1 : m->start[f];
}

/* ----------------------------------------------------------------------------- 3 surface */

/* Faces reachable from face 0 over edges. */
static int count_connected(const mesh* m, int* queue, bool* seen)
{
    int n = 1;
    memset(seen, 0, (size_t)m->face_count * sizeof *seen);
    queue[0] = 0;
    seen[0] = true;
    for (int i = 0; i < n; i++)
        for (int h = m->start[queue[i]]; h < m->start[queue[i] + 1]; h++) {
            int g = m->half[m->half[h].twin].face;
            if (!seen[g]) {
                seen[g] = true;
                queue[n++] = g;
            }
        }
    return n;
}

static bool surface_ok(mesh* m, int point_count)
{
    int* queue = mor_arena_alloc(m->arena, (size_t)m->face_count * sizeof *queue);
    bool* seen = mor_arena_alloc(m->arena, (size_t)(m->face_count > point_count ? m->face_count : point_count));
    if (!queue || !seen) return out_of_memory(m);
    int reached = count_connected(m, queue, seen);
    if (reached < m->face_count) {
        mor_fail(m->error, MOR_BAD_INPUT,
                 "%s: it has separate parts (%d faces hang together, %d others do not touch them); give each part as "
                 "a piece of its own, in files as an object or group of its own",
                 m->shape, reached, m->face_count - reached);
        return false;
    }
    memset(seen, 0, (size_t)point_count);
    int used = 0;
    for (int k = 0; k < m->corner_count; k++)
        if (!seen[m->corners[k]]) {
            seen[m->corners[k]] = true;
            used++;
        }
    int euler = used - m->corner_count / 2 + m->face_count;
    if (euler != 2) {
        mor_fail(m->error, MOR_BAD_INPUT,
                 "%s: %d vertices - %d edges + %d faces = %d instead of 2: it has a hole through it or touches itself "
                 "in a point; use a compound of convex pieces",
                 m->shape, used, m->corner_count / 2, m->face_count, euler);
        return false;
    }
    return true;
}

static void reverse_faces(mesh* m)
{
    for (int f = 0; f < m->face_count; f++)
        for (int i = m->start[f] + 1, j = m->start[f + 1] - 1; i < j; i++, j--) {
            int c = m->corners[i];
            m->corners[i] = m->corners[j];
            m->corners[j] = c;
        }
}

/* Volume by tetrahedra from the first corner; also the area of the surface. */
static double volume_of(const mesh* m, double* area)
{
    mor_vec3 o = m->points[m->corners[0]];
    double volume = 0.0;
    *area = 0.0;
    for (int f = 0; f < m->face_count; f++) {
        mor_vec3 a = mor_sub(m->points[m->corners[m->start[f]]], o);
        for (int k = m->start[f] + 1; k + 1 < m->start[f + 1]; k++) {
            mor_vec3 b = mor_sub(m->points[m->corners[k]], o), c = mor_sub(m->points[m->corners[k + 1]], o);
            volume += mor_dot(a, mor_cross(b, c)) / 6;
            *area += 0.5 * mor_norm(mor_cross(mor_sub(b, a), mor_sub(c, a)));
        }
    }
    return volume;
}

/* Refuses flat meshes, turns inside-out ones. */
static bool volume_ok(mesh* m, mor_notes* notes, double* volume)
{
    double area;
    *volume = volume_of(m, &area);
    if (fabs(*volume) <= m->t * area) {
        mor_fail(m->error, MOR_BAD_INPUT,
                 "%s: it is flat: a volume of %g m^3 within a surface of %g m^2 and a size of %g m; a solid needs "
                 "thickness",
                 m->shape, fabs(*volume), area, m->size);
        return false;
    }
    if (*volume < 0.0) {
        *volume = -*volume;
        reverse_faces(m);
        if (!connect(m, NULL)) return false;
        mor_note(notes, "inside-out: all faces turned");
    }
    return true;
}

/* --------------------------------------------------------------------------- 4 convexity */

static bool faces_flat(mesh* m, dent* worst)
{
    for (int f = 0; f < m->face_count; f++) {
        m->planes[f] = plane_of_loop(m->points, m->corners + m->start[f], m->start[f + 1] - m->start[f]);
        for (int k = m->start[f]; k < m->start[f + 1]; k++) {
            double off = fabs(above(&m->planes[f], m->points[m->corners[k]]));
            if (off > REPAIR * m->size) {
                mor_vec3 p = m->points[m->corners[k]];
                mor_fail(m->error, MOR_BAD_INPUT,
                         "%s: face %d is not flat: vertex %d (%g, %g, %g) is %g m off its plane; split it into "
                         "triangles",
                         m->shape, m->source[f], m->corners[k], p.x, p.y, p.z, off);
                return false;
            }
            if (off > worst->depth) *worst = (dent){ off, m->corners[k], f };
        }
    }
    return true;
}

static void deepest_edge(const mesh* m, dent* worst)
{
    for (int h = 0; h < m->corner_count; h++) {
        int f = m->half[h].face, g = m->half[m->half[h].twin].face;
        if (m->planes[f].area < m->planes[g].area) continue; /* f is the larger, or both are tried */
        for (int k = m->start[g]; k < m->start[g + 1]; k++) {
            double depth = above(&m->planes[f], m->points[m->corners[k]]);
            if (depth > worst->depth) *worst = (dent){ depth, m->corners[k], f };
        }
    }
}

/* ------------------------------------------------------------------------------- 5 merge */

typedef struct area_key {
    double area;
    int face;
} area_key;

static int compare_area(const void* a, const void* b)
{
    const area_key *x = a, *y = b;
    if (x->area != y->area) return x->area > y->area ? -1 : 1;
    return (x->face > y->face) - (x->face < y->face);
}

static bool lies_in(const mesh* m, int g, const plane* p, double t)
{
    if (mor_dot(m->planes[g].normal, p->normal) <= 0.0 && m->planes[g].width > t) return false;
    for (int k = m->start[g]; k < m->start[g + 1]; k++)
        if (fabs(above(p, m->points[m->corners[k]])) > t) return false;
    return true;
}

/* region[f]: the face that f became part of. */
static bool find_regions(const mesh* m, double t, int* region)
{
    area_key* order = mor_arena_alloc(m->arena, (size_t)m->face_count * sizeof *order);
    int* queue = mor_arena_alloc(m->arena, (size_t)m->face_count * sizeof *queue);
    if (!order || !queue) return out_of_memory(m);
    for (int f = 0; f < m->face_count; f++) {
        order[f] = (area_key){ m->planes[f].area, f };
        region[f] = -1;
    }
    qsort(order, (size_t)m->face_count, sizeof *order, compare_area);
    for (int i = 0; i < m->face_count; i++) {
        int seed = order[i].face, n = 0;
        if (region[seed] >= 0) continue;
        region[seed] = seed;
        if (m->planes[seed].width <= t) /* a sliver has no normal of its own: it joins a neighbour */
            for (int h = m->start[seed]; h < m->start[seed + 1]; h++) {
                int g = m->half[m->half[h].twin].face;
                if (region[g] >= 0 && g != seed && lies_in(m, seed, &m->planes[region[g]], 4 * t)) {
                    region[seed] = region[g];
                    break;
                }
            }
        if (region[seed] != seed) continue;
        queue[n++] = seed;
        for (int a = 0; a < n; a++)
            for (int h = m->start[queue[a]]; h < m->start[queue[a] + 1]; h++) {
                int g = m->half[m->half[h].twin].face;
                if (region[g] >= 0 || !lies_in(m, g, &m->planes[seed], t)) continue;
                region[g] = seed;
                queue[n++] = g;
            }
    }
    return true;
}

static bool on_border(const mesh* m, const int* region, int h)
{
    return region[m->half[h].face] != region[m->half[m->half[h].twin].face];
}

/* Walks around the region from half edge h: the next border edge. */
static int next_border(const mesh* m, const int* region, int h)
{
    h = next_half(m, h);
    while (!on_border(m, region, h)) h = next_half(m, m->half[h].twin);
    return h;
}

typedef struct loops {
    int face_count, corner_count;
    int *start, *corners, *source;
} loops;

/* Loops of the regions over the vertices where three or more meet. False if a region is not a disc. */
static bool trace_regions(const mesh* m, const int* region, int* degree, int point_count, loops* out)
{
    memset(degree, 0, (size_t)point_count * sizeof *degree);
    for (int h = 0; h < m->corner_count; h++) degree[m->half[h].tail] += on_border(m, region, h);
    bool* done = mor_arena_zero(m->arena, (size_t)m->corner_count, sizeof *done);
    bool* traced = mor_arena_zero(m->arena, (size_t)m->face_count, sizeof *traced);
    if (!done || !traced) return false;
    out->face_count = out->corner_count = out->start[0] = 0;
    for (int h = 0; h < m->corner_count; h++) { /* faces in order, so regions by their first face */
        if (done[h] || !on_border(m, region, h)) continue;
        int r = region[m->half[h].face];
        if (traced[r]) return false; /* a second border: a ring, or two parts */
        traced[r] = true;
        for (int e = h; !done[e]; e = next_border(m, region, e)) {
            done[e] = true;
            if (degree[m->half[e].tail] >= 3) out->corners[out->corner_count++] = m->half[e].tail;
        }
        int n = out->corner_count - out->start[out->face_count];
        if (n < 3) return false;
        out->source[out->face_count++] = m->source[r];
        out->start[out->face_count] = out->corner_count;
    }
    return out->face_count >= 4;
}

/* ------------------------------------------------------------------ 6 the finished object */

static void* carve(char** at, size_t count, size_t size)
{
    void* block = *at;
    *at += (count * size + 15) & ~(size_t)15;
    return block;
}

/* One block for the object and its arrays. */
static mor_polyhedron* polyhedron_new(int vertices, int edges, int faces)
{
    size_t corners = 2 * (size_t)edges, v = (size_t)vertices, e = (size_t)edges, f = (size_t)faces;
    size_t total = sizeof(mor_polyhedron) + v * sizeof(mor_vec3) + e * sizeof(mor_edge) + f * sizeof(mor_vec3) +
                   f * sizeof(double) + (f + 1 + v + 1 + 3 * corners) * sizeof(int) + 16 * 10;
    mor_polyhedron* P = calloc(1, total);
    if (!P) return NULL;
    char* at = (char*)P;
    carve(&at, 1, sizeof *P);
    P->vertex_count = vertices;
    P->edge_count = edges;
    P->face_count = faces;
    P->vertices = carve(&at, v, sizeof *P->vertices);
    P->normals = carve(&at, f, sizeof *P->normals);
    P->offsets = carve(&at, f, sizeof *P->offsets);
    P->edges = carve(&at, e, sizeof *P->edges);
    P->face_start = carve(&at, f + 1, sizeof(int));
    P->face_vertices = carve(&at, corners, sizeof(int));
    P->face_edges = carve(&at, corners, sizeof(int));
    P->vertex_start = carve(&at, v + 1, sizeof(int));
    P->vertex_edges = carve(&at, corners, sizeof(int));
    return P;
}

void mor_polyhedron_free(mor_polyhedron* polyhedron) { free(polyhedron); }

static void detect_box(mor_polyhedron* P)
{
    if (P->vertex_count != 8 || P->face_count != 6) return;
    mor_vec3 h = { fabs(P->vertices[0].x), fabs(P->vertices[0].y), fabs(P->vertices[0].z) };
    for (int i = 0; i < 8; i++) {
        mor_vec3 v = P->vertices[i];
        if (fabs(v.x) != h.x || fabs(v.y) != h.y || fabs(v.z) != h.z) return;
    }
    P->is_box = h.x > 0 && h.y > 0 && h.z > 0;
    if (P->is_box) P->half = h;
}

/* Edges in the order in which the faces first meet them; false if they do not pair up. */
static bool number_edges(mor_polyhedron* P, mor_arena* arena)
{
    int n = P->face_start[P->face_count];
    edge_key* keys = mor_arena_alloc(arena, (size_t)n * sizeof *keys);
    int *face = mor_arena_alloc(arena, (size_t)n * sizeof *face), *twin = mor_arena_alloc(arena, (size_t)n * sizeof *twin);
    if (!keys || !face || !twin) return false;
    for (int f = 0; f < P->face_count; f++)
        for (int k = P->face_start[f]; k < P->face_start[f + 1]; k++) {
            int a = P->face_vertices[k];
            int b = P->face_vertices[k + 1 < P->face_start[f + 1] ? k + 1 : P->face_start[f]];
            keys[k] = (edge_key){ a < b ? a : b, a < b ? b : a, k };
            face[k] = f;
        }
    qsort(keys, (size_t)n, sizeof *keys, compare_keys);
    for (int i = 0; i < n; i += 2) {
        if (i + 1 >= n || keys[i].low != keys[i + 1].low || keys[i].high != keys[i + 1].high) return false;
        if (i + 2 < n && keys[i].low == keys[i + 2].low && keys[i].high == keys[i + 2].high) return false;
        if (P->face_vertices[keys[i].index] == P->face_vertices[keys[i + 1].index]) return false;
        twin[keys[i].index] = keys[i + 1].index;
        twin[keys[i + 1].index] = keys[i].index;
    }
    int e = 0;
    for (int k = 0; k < n; k++) {
        if (twin[k] < k) {
            P->face_edges[k] = P->face_edges[twin[k]];
            continue;
        }
        P->edges[e] = (mor_edge){ P->face_vertices[k], P->face_vertices[twin[k]], face[k], face[twin[k]] };
        P->face_edges[k] = e++;
    }
    for (int i = 0; i < P->edge_count; i++) {
        P->vertex_start[P->edges[i].tail + 1]++;
        P->vertex_start[P->edges[i].head + 1]++;
    }
    for (int v = 0; v < P->vertex_count; v++) P->vertex_start[v + 1] += P->vertex_start[v];
    int* fill = mor_arena_alloc(arena, (size_t)P->vertex_count * sizeof *fill);
    if (!fill) return false;
    memcpy(fill, P->vertex_start, (size_t)P->vertex_count * sizeof *fill);
    for (int i = 0; i < P->edge_count; i++) {
        P->vertex_edges[fill[P->edges[i].tail]++] = i;
        P->vertex_edges[fill[P->edges[i].head]++] = i;
    }
    return true;
}

static mor_polyhedron* finish(const mesh* m, const loops* in, const int* degree, int point_count)
{
    int* number = mor_arena_alloc(m->arena, (size_t)point_count * sizeof *number);
    if (!number) return NULL;
    int vertices = 0;
    for (int i = 0; i < point_count; i++) number[i] = degree[i] >= 3 ? vertices++ : -1;
    if (vertices - in->corner_count / 2 + in->face_count != 2 || in->corner_count % 2) return NULL;
    mor_polyhedron* P = polyhedron_new(vertices, in->corner_count / 2, in->face_count);
    if (!P) return NULL;
    for (int i = 0; i < point_count; i++)
        if (number[i] >= 0) P->vertices[number[i]] = m->points[i];
    memcpy(P->face_start, in->start, ((size_t)in->face_count + 1) * sizeof(int));
    for (int k = 0; k < in->corner_count; k++) P->face_vertices[k] = number[in->corners[k]];
    for (int f = 0; f < P->face_count; f++) {
        const int* loop = P->face_vertices + P->face_start[f];
        int n = P->face_start[f + 1] - P->face_start[f];
        P->normals[f] = plane_of_loop(P->vertices, loop, n).normal;
        P->offsets[f] = mor_dot(P->normals[f], P->vertices[loop[0]]);
        for (int k = 1; k < n; k++) P->offsets[f] = fmax(P->offsets[f], mor_dot(P->normals[f], P->vertices[loop[k]]));
    }
    if (!number_edges(P, m->arena)) {
        mor_polyhedron_free(P);
        return NULL;
    }
    detect_box(P);
    return P;
}

static void deepest_vertex(const mor_polyhedron* P, const loops* in, dent* worst)
{
    for (int f = 0; f < P->face_count; f++)
        for (int v = 0; v < P->vertex_count; v++) {
            double depth = mor_dot(P->normals[f], P->vertices[v]) - P->offsets[f];
            if (depth > worst->depth) *worst = (dent){ depth, v, in->source[f] };
        }
}

/* Merges with the tolerance, and if that makes impossible faces with smaller ones, down to none. */
static mor_polyhedron* merge(const mesh* m, int point_count, loops* out)
{
    size_t faces = (size_t)m->face_count, corners = (size_t)m->corner_count;
    int *region = mor_arena_alloc(m->arena, faces * sizeof(int)), *degree = mor_arena_alloc(m->arena, (size_t)point_count * sizeof(int));
    out->start = mor_arena_alloc(m->arena, (faces + 1) * sizeof(int));
    out->corners = mor_arena_alloc(m->arena, corners * sizeof(int));
    out->source = mor_arena_alloc(m->arena, faces * sizeof(int));
    if (!region || !degree || !out->start || !out->corners || !out->source) {
        out_of_memory(m);
        return NULL;
    }
    static const double factors[] = { 1.0, 1e-2, 1e-4, -1.0 };
    for (int i = 0; i < 4; i++) {
        if (!find_regions(m, factors[i] * m->t, region)) return NULL;
        if (!trace_regions(m, region, degree, point_count, out)) continue;
        mor_polyhedron* P = finish(m, out, degree, point_count);
        if (P) return P;
    }
    mor_fail(m->error, MOR_BAD_INPUT,
             "%s: its faces cannot be joined into a solid (%d faces, size %g m); try the hull of its points instead",
             m->shape, m->face_count, m->size);
    return NULL;
}

/* ----------------------------------------------------------------------------- the driver */

static mor_polyhedron* refuse_dent(const mesh* m, const dent* d, mor_vec3 p, int vertex)
{
    mor_fail(m->error, MOR_BAD_INPUT,
             "%s: not convex: vertex %d (%g, %g, %g) lies %g m outside the plane of face %d; use a compound of convex "
             "pieces, or its hull if the hollow does not matter",
             m->shape, vertex, p.x, p.y, p.z, d->depth, d->face);
    return NULL;
}

/* The hull if the mesh differs from it by rounding only, else NULL and the sentence about the dent. */
static mor_polyhedron* repair_dent(const mesh* m, const dent* d, mor_vec3 p, double volume, bool repair,
                                   mor_notes* notes)
{
    if (!repair) return refuse_dent(m, d, p, d->vertex);
    mor_vec3* used = mor_arena_alloc(m->arena, (size_t)m->corner_count * sizeof *used);
    if (!used) {
        out_of_memory(m);
        return NULL;
    }
    for (int k = 0; k < m->corner_count; k++) used[k] = m->points[m->corners[k]];
    /* what is bent by rounding shall come out flat; more than 1e-5 would flatten real edges */
    double tolerance = fmax(MOR_TOLERANCE_MESH, fmin(4.0 * d->depth / m->size, 1e-5));
    mor_polyhedron* hull = mor_polyhedron_hull(m->shape, used, m->corner_count, tolerance, m->error);
    if (!hull) return NULL;
    double full = mor_polyhedron_volume(hull);
    if (d->depth > REPAIR * m->size && full - volume > REPAIR_VOLUME * full) {
        mor_polyhedron_free(hull);
        return refuse_dent(m, d, p, d->vertex);
    }
    mor_note(notes, "convex but for %.2g m of rounding: replaced by its hull", d->depth);
    return hull;
}

static mor_polyhedron* build(mesh* m, const mor_face_loops* in, bool repair, mor_notes* notes)
{
    size_t corners = 0, faces = (size_t)in->count;
    for (int f = 0; f < in->count; f++) corners += (size_t)in->sizes[f];
    int* representative = mor_arena_alloc(m->arena, (size_t)in->point_count * sizeof *representative);
    m->start = mor_arena_alloc(m->arena, (faces + 1) * sizeof(int));
    m->corners = mor_arena_alloc(m->arena, corners * sizeof(int));
    m->source = mor_arena_alloc(m->arena, faces * sizeof(int));
    m->half = mor_arena_alloc(m->arena, corners * sizeof *m->half);
    m->planes = mor_arena_alloc(m->arena, faces * sizeof *m->planes);
    if (!representative || !m->start || !m->corners || !m->source || !m->half || !m->planes) {
        out_of_memory(m);
        return NULL;
    }
    m->start[0] = 0;
    if (!weld(m, in->point_count, representative) || !take_faces(m, in, representative, notes)) return NULL;
    if (m->face_count < 4) {
        mor_fail(m->error, MOR_BAD_INPUT,
                 "%s: only %d of its %d faces have any area at a size of %g m; a solid has at least 4", m->shape,
                 m->face_count, in->count, m->size);
        return NULL;
    }
    double volume, thick = mor_points_thickness(m->points, in->point_count);
    if (thick <= m->t) {
        mor_fail(m->error, MOR_BAD_INPUT, "%s: it is flat: all points lie within %g m of a plane; a solid needs thickness",
                 m->shape, thick);
        return NULL;
    }
    dent worst = { m->t, -1, -1 };
    if (!connect(m, notes) || !surface_ok(m, in->point_count) || !volume_ok(m, notes, &volume)) return NULL;
    if (!faces_flat(m, &worst)) return NULL;
    deepest_edge(m, &worst);
    if (worst.face >= 0) {
        worst.face = m->source[worst.face];
        return repair_dent(m, &worst, m->points[worst.vertex], volume, repair, notes);
    }
    loops merged = { 0 };
    mor_polyhedron* P = merge(m, in->point_count, &merged);
    if (!P) return NULL;
    worst.depth = 4 * m->t; /* merged faces may be off by t at both ends */
    deepest_vertex(P, &merged, &worst);
    if (worst.face >= 0) {
        mor_vec3 p = P->vertices[worst.vertex];
        mor_polyhedron_free(P);
        return repair_dent(m, &worst, p, volume, repair, notes);
    }
    return P;
}

mor_polyhedron* mor_polyhedron_build(const char* shape, const mor_face_loops* in, double tolerance, bool repair,
                                     mor_notes* notes, mor_error* error)
{
    if (!input_ok(shape, in, error)) return NULL;
    mor_vec3 lower = in->points[0], upper = in->points[0];
    double far = 0.0;
    for (int i = 0; i < in->point_count; i++) {
        lower = mor_min3(lower, in->points[i]);
        upper = mor_max3(upper, in->points[i]);
        far = fmax(far, mor_norm(in->points[i]));
    }
    mesh m = { .shape = shape, .error = error, .points = in->points };
    m.size = mor_norm(mor_sub(upper, lower));
    m.t = fmax(tolerance * m.size, 1e-15 * far); /* not below the spacing of the coordinates */
    if (!mor_length_ok(shape, "diagonal of its bounds", m.size, error)) return NULL;
    m.arena = mor_arena_create(NULL);
    if (!m.arena) {
        out_of_memory(&m);
        return NULL;
    }
    mor_polyhedron* P = build(&m, in, repair, notes);
    mor_arena_destroy(m.arena);
    return P;
}

mor_polyhedron* mor_polyhedron_scaled(const mor_polyhedron* old, double s)
{
    mor_polyhedron* P = polyhedron_new(old->vertex_count, old->edge_count, old->face_count);
    if (!P) return NULL;
    size_t corners = 2 * (size_t)old->edge_count * sizeof(int);
    for (int i = 0; i < old->vertex_count; i++) P->vertices[i] = mor_scale(s, old->vertices[i]);
    for (int f = 0; f < old->face_count; f++) P->offsets[f] = s * old->offsets[f];
    memcpy(P->normals, old->normals, (size_t)old->face_count * sizeof *P->normals);
    memcpy(P->edges, old->edges, (size_t)old->edge_count * sizeof *P->edges);
    memcpy(P->face_start, old->face_start, ((size_t)old->face_count + 1) * sizeof(int));
    memcpy(P->face_vertices, old->face_vertices, corners);
    memcpy(P->face_edges, old->face_edges, corners);
    memcpy(P->vertex_start, old->vertex_start, ((size_t)old->vertex_count + 1) * sizeof(int));
    memcpy(P->vertex_edges, old->vertex_edges, corners);
    P->is_box = old->is_box;
    P->half = mor_scale(s, old->half);
    return P;
}
