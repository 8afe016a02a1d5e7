/* Surfaces: from loose face loops to one closed, outward, connected surface with twins.
 *
 * All tolerances are lengths: t = tolerance * (diagonal of the bounding box).
 *   1 weld      vertices closer than t become the first of them; faces that lose a corner shrink,
 *               faces left with fewer than three vertices and exact copies of faces are dropped.
 *   2 twins     every directed edge a -> b must meet exactly one b -> a; if not, faces thinner than t
 *               are dropped and it is tried once more; then the mesh is open, has an edge with three or
 *               more faces, or a face that is wound the wrong way.
 *   3 surface   one connected piece with V - E + F = 2 and volume; negative volume turns all faces.
 *
 * Cost: n log n. Normals by Newell's sum: M. Newell, in Sutherland, Sproull, Schumacker (1974), A
 * characterization of ten hidden-surface algorithms, Computing Surveys 6(1). */
#include "geometry/surface.h"

#include "base/elementary.h"

#include <stdlib.h>
#include <string.h>

static mor_vec3 unit(mor_vec3 v)
{
    double n = mor_norm(v); /* division, not multiplication: (0, 0, a) becomes exactly (0, 0, 1) */
    return n > 0.0 ? mor_v3(v.x / n + 0.0, v.y / n + 0.0, v.z / n + 0.0) : mor_v3(0, 0, 0);
}

mor_face_plane mor_plane_of_loop(const mor_vec3* points, const int* loop, int n)
{
    mor_vec3 sum = { 0, 0, 0 }, o = points[loop[0]], mean = { 0, 0, 0 };
    double longest = 0.0;
    for (int k = 0; k < n; k++) {
        mor_vec3 a = mor_sub(points[loop[k]], o), b = mor_sub(points[loop[(k + 1) % n]], o);
        sum = mor_add(sum, mor_cross(a, b));
        mean = mor_madd(mean, 1.0 / n, a);
        longest = mor_max(longest, mor_norm(mor_sub(b, a)));
    }
    double area = 0.5 * mor_norm(sum);
    mor_vec3 normal = unit(sum);
    return (mor_face_plane){ normal, mor_dot(normal, mor_add(o, mean)), area,
                             longest > 0.0 ? 2.0 * area / longest : 0.0 };
}

bool mor_surface_out_of_memory(const mor_surface* m)
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
                mor_fail(error, MOR_BAD_INPUT, "%s: face %d names vertex %d; there are vertices 0 to %d", shape, f, *v,
                         in->point_count - 1);
                return false;
            }
    }
    return true;
}

/* Size and tolerance. */
static bool measure(mor_surface* m, const mor_face_loops* in)
{
    mor_vec3 lower = in->points[0], upper = in->points[0];
    double far = 0.0;
    for (int i = 0; i < in->point_count; i++) {
        lower = mor_min3(lower, in->points[i]);
        upper = mor_max3(upper, in->points[i]);
        far = mor_max(far, mor_norm(in->points[i]));
    }
    m->size = mor_norm(mor_sub(upper, lower));
    m->t = mor_max(m->tolerance * m->size, 1e-15 * far); /* not below the spacing of the coordinates */
    return mor_length_ok(m->shape, "diagonal of its bounds", m->size, m->error);
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

/* Sorted along a skew direction, so that points on a grid do not pile up. */
bool mor_points_weld(mor_arena* arena, const mor_vec3* points, int count, double t, int* representative)
{
    sweep_key* keys = mor_arena_alloc(arena, (size_t)count * sizeof *keys);
    if (!keys) return false;
    const mor_vec3 skew = { 0.5812381937190965, 0.6297086143545934, 0.5154026783204357 };
    for (int i = 0; i < count; i++) {
        keys[i] = (sweep_key){ mor_dot(skew, points[i]), i };
        representative[i] = i;
    }
    qsort(keys, (size_t)count, sizeof *keys, compare_sweep);
    for (int a = 0; a < count; a++)
        for (int b = a + 1; b < count && keys[b].at - keys[a].at <= t; b++) {
            int i = keys[a].index, j = keys[b].index;
            if (mor_norm(mor_sub(points[i], points[j])) > t) continue;
            while (representative[i] != i) i = representative[i];
            while (representative[j] != j) j = representative[j];
            if (i < j) representative[j] = i;
            else representative[i] = j;
        }
    for (int i = 0; i < count; i++) representative[i] = representative[representative[i]];
    return true;
}

/* Fills the loops with welded vertices. Returns false when a face touches itself. */
static bool take_faces(mor_surface* m, const mor_face_loops* in, const int* representative, mor_notes* notes)
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
static int drop_faces(mor_surface* m, const bool* drop)
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

int mor_compare_edge_keys(const void* a, const void* b)
{
    const mor_edge_key *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool same_loop(const mor_surface* m, int f, int g)
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
static int find_twins(mor_surface* m, mor_edge_key* keys, bool* drop, int* copies)
{
    int n = m->corner_count, open = 0, open_at = -1;
    for (int f = 0; f < m->face_count; f++) {
        drop[f] = false;
        for (int k = m->start[f]; k < m->start[f + 1]; k++) {
            int a = m->corners[k], b = m->corners[k + 1 < m->start[f + 1] ? k + 1 : m->start[f]];
            m->half[k] = (mor_half_edge){ a, b, f, -1 };
            keys[k] = (mor_edge_key){ a < b ? a : b, a < b ? b : a, k };
        }
    }
    qsort(keys, (size_t)n, sizeof *keys, mor_compare_edge_keys);
    bool wrong = false, copy = false;
    int first = -1, second = -1, around = 0;
    for (int i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && keys[j].low == keys[i].low && keys[j].high == keys[i].high; j++) {}
        mor_half_edge *a = &m->half[keys[i].index], *b = j > i + 1 ? &m->half[keys[i + 1].index] : NULL;
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
    const mor_half_edge* h = &m->half[wrong ? first : open_at];
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

static bool connect(mor_surface* m, mor_notes* notes)
{
    mor_edge_key* keys = mor_arena_alloc(m->arena, (size_t)m->corner_count * sizeof *keys);
    bool* drop = mor_arena_alloc(m->arena, (size_t)m->face_count * sizeof *drop + 1);
    if (!keys || !drop) return mor_surface_out_of_memory(m);
    int copies = 0, result;
    bool thin_tried = false;
    for (;;) {
        while ((result = find_twins(m, keys, drop, &copies)) == TWINS_AGAIN) {}
        if (result == TWINS_OK || thin_tried) break;
        thin_tried = true;
        int thin = 0;
        for (int f = 0; f < m->face_count; f++) {
            mor_face_plane p = mor_plane_of_loop(m->points, m->corners + m->start[f], m->start[f + 1] - m->start[f]);
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

/* ----------------------------------------------------------------------------- 3 surface */

/* Faces reachable from face 0 over edges. */
static int count_connected(const mor_surface* m, int* queue, bool* seen)
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

static bool surface_ok(mor_surface* m, int point_count)
{
    int* queue = mor_arena_alloc(m->arena, (size_t)m->face_count * sizeof *queue);
    bool* seen = mor_arena_alloc(m->arena, (size_t)(m->face_count > point_count ? m->face_count : point_count));
    if (!queue || !seen) return mor_surface_out_of_memory(m);
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
                 "in a point; cut it into convex pieces (in scenes: decompose: {} beside mesh)",
                 m->shape, used, m->corner_count / 2, m->face_count, euler);
        return false;
    }
    return true;
}

static void reverse_faces(mor_surface* m)
{
    for (int f = 0; f < m->face_count; f++)
        for (int i = m->start[f] + 1, j = m->start[f + 1] - 1; i < j; i++, j--) {
            int c = m->corners[i];
            m->corners[i] = m->corners[j];
            m->corners[j] = c;
        }
}

/* Volume by tetrahedra from the first corner; also the area of the surface. */
static double volume_of(const mor_surface* m, double* area)
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
static bool volume_ok(mor_surface* m, mor_notes* notes, double* volume)
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

bool mor_surface_take(mor_surface* m, const mor_face_loops* in, mor_notes* notes)
{
    if (!input_ok(m->shape, in, m->error)) return false;
    size_t corners = 0, faces = (size_t)in->count;
    for (int f = 0; f < in->count; f++) corners += (size_t)in->sizes[f];
    int* representative = mor_arena_alloc(m->arena, (size_t)in->point_count * sizeof *representative);
    m->start = mor_arena_alloc(m->arena, (faces + 1) * sizeof(int));
    m->corners = mor_arena_alloc(m->arena, corners * sizeof(int));
    m->source = mor_arena_alloc(m->arena, faces * sizeof(int));
    m->half = mor_arena_alloc(m->arena, corners * sizeof *m->half);
    m->planes = mor_arena_alloc(m->arena, faces * sizeof *m->planes);
    if (!representative || !m->start || !m->corners || !m->source || !m->half || !m->planes)
        return mor_surface_out_of_memory(m);
    m->start[0] = 0;
    if (!measure(m, in)) return false;
    if (!mor_points_weld(m->arena, m->points, in->point_count, m->t, representative))
        return mor_surface_out_of_memory(m);
    if (!take_faces(m, in, representative, notes)) return false;
    if (m->face_count < 4) {
        mor_fail(m->error, MOR_BAD_INPUT,
                 "%s: only %d of its %d faces have any area at a size of %g m; a solid has at least 4", m->shape,
                 m->face_count, in->count, m->size);
        return false;
    }
    double thick = mor_points_thickness(m->points, m->point_count);
    if (thick <= m->t) {
        mor_fail(m->error, MOR_BAD_INPUT,
                 "%s: it is flat: all points lie within %g m of a plane; a solid needs thickness", m->shape, thick);
        return false;
    }
    return connect(m, notes) && surface_ok(m, in->point_count) && volume_ok(m, notes, &m->volume);
}
