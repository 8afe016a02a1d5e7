/* Convex polyhedra from face loops: check convexity, merge coplanar faces, number edges.
 *
 * Steps 1 to 3 (weld, twins, surface) are in surface.c; t is their tolerance, a length.
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
 * On merging: A. Barber, D. Dobkin, H. Huhdanpaa (1996), The quickhull algorithm for convex hulls, ACM
 * TOMS 22(4). */
#include "base/elementary.h"
#include "geometry/surface.h"

#include <stdlib.h>
#include <string.h>

static const double REPAIR = 1e-4;        /* of the diagonal: deeper dents are meant, not rounding */
static const double REPAIR_VOLUME = 1e-6; /* of the hull's volume: dents of slivers hold nothing */

typedef struct dent {
    double depth;
    int vertex, face;
} dent;

static double above(const mor_face_plane* p, mor_vec3 x) { return mor_dot(p->normal, x) - p->offset; }

static int next_half(const mor_surface* m, int h)
{
    int f = m->half[h].face;
    return h + 1 < m->start[f + 1] ? h + 1 : m->start[f];
}

/* --------------------------------------------------------------------------- 4 convexity */

static bool faces_flat(mor_surface* m, dent* worst)
{
    for (int f = 0; f < m->face_count; f++) {
        m->planes[f] = mor_plane_of_loop(m->points, m->corners + m->start[f], m->start[f + 1] - m->start[f]);
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

static void deepest_edge(const mor_surface* m, dent* worst)
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

static bool lies_in(const mor_surface* m, int g, const mor_face_plane* p, double t)
{
    if (mor_dot(m->planes[g].normal, p->normal) <= 0.0 && m->planes[g].width > t) return false;
    for (int k = m->start[g]; k < m->start[g + 1]; k++)
        if (fabs(above(p, m->points[m->corners[k]])) > t) return false;
    return true;
}

/* region[f]: the face that f became part of. */
static bool find_regions(const mor_surface* m, double t, int* region)
{
    area_key* order = mor_arena_alloc(m->arena, (size_t)m->face_count * sizeof *order);
    int* queue = mor_arena_alloc(m->arena, (size_t)m->face_count * sizeof *queue);
    if (!order || !queue) return mor_surface_out_of_memory(m);
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

static bool on_border(const mor_surface* m, const int* region, int h)
{
    return region[m->half[h].face] != region[m->half[m->half[h].twin].face];
}

/* Walks around the region from half edge h: the next border edge. */
static int next_border(const mor_surface* m, const int* region, int h)
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
static bool trace_regions(const mor_surface* m, const int* region, int* degree, int point_count, loops* out)
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
                   f * sizeof(double) + e * sizeof(mor_vec3) + (f + 1 + v + 1 + e + 3 * corners) * sizeof(int) +
                   16 * 12;
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
    P->directions = carve(&at, e, sizeof *P->directions);
    P->edge_direction = carve(&at, e, sizeof(int));
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
    if (!P->is_box) return;
    P->half = h;
    for (int e = 0; e < P->edge_count; e++) {
        mor_vec3 t = P->vertices[P->edges[e].tail], s = P->vertices[P->edges[e].head], m = mor_add(t, s),
                 d = mor_sub(s, t);
        int axis = d.x != 0.0 ? 0 : d.y != 0.0 ? 1 : 2;
        P->box_edges[axis][mor_axis(m, (axis + 1) % 3) > 0.0][mor_axis(m, (axis + 2) % 3) > 0.0] = e;
    }
}

/* Parallel edges share a direction. Small polyhedra only gain by it; beyond 512 edges every edge has its own. */
static void find_directions(mor_polyhedron* P)
{
    for (int e = 0; e < P->edge_count; e++) {
        mor_vec3 u =
            mor_normalize(mor_sub(P->vertices[P->edges[e].head], P->vertices[P->edges[e].tail]), mor_v3(1, 0, 0));
        int d = P->edge_count > 512 ? P->direction_count : 0;
        for (; d < P->direction_count; d++) {
            mor_vec3 c = mor_cross(u, P->directions[d]);
            if (mor_dot(c, c) <= 1e-28) break;
        }
        if (d == P->direction_count) P->directions[P->direction_count++] = u;
        P->edge_direction[e] = mor_dot(u, P->directions[d]) > 0.0 ? d : ~d;
    }
}

/* Edges in the order in which the faces first meet them; false if they do not pair up. */
static bool number_edges(mor_polyhedron* P, mor_arena* arena)
{
    int n = P->face_start[P->face_count];
    mor_edge_key* keys = mor_arena_alloc(arena, (size_t)n * sizeof *keys);
    int *face = mor_arena_alloc(arena, (size_t)n * sizeof *face),
        *twin = mor_arena_alloc(arena, (size_t)n * sizeof *twin);
    if (!keys || !face || !twin) return false;
    for (int f = 0; f < P->face_count; f++)
        for (int k = P->face_start[f]; k < P->face_start[f + 1]; k++) {
            int a = P->face_vertices[k];
            int b = P->face_vertices[k + 1 < P->face_start[f + 1] ? k + 1 : P->face_start[f]];
            keys[k] = (mor_edge_key){ a < b ? a : b, a < b ? b : a, k };
            face[k] = f;
        }
    qsort(keys, (size_t)n, sizeof *keys, mor_compare_edge_keys);
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

static mor_polyhedron* finish(const mor_surface* m, const loops* in, const int* degree, int point_count)
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
        P->normals[f] = mor_plane_of_loop(P->vertices, loop, n).normal;
        P->offsets[f] = mor_dot(P->normals[f], P->vertices[loop[0]]);
        for (int k = 1; k < n; k++)
            P->offsets[f] = mor_max(P->offsets[f], mor_dot(P->normals[f], P->vertices[loop[k]]));
    }
    if (!number_edges(P, m->arena)) {
        mor_polyhedron_free(P);
        return NULL;
    }
    detect_box(P);
    find_directions(P);
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
static mor_polyhedron* merge(const mor_surface* m, int point_count, loops* out)
{
    size_t faces = (size_t)m->face_count, corners = (size_t)m->corner_count;
    int *region = mor_arena_alloc(m->arena, faces * sizeof(int)),
        *degree = mor_arena_alloc(m->arena, (size_t)point_count * sizeof(int));
    out->start = mor_arena_alloc(m->arena, (faces + 1) * sizeof(int));
    out->corners = mor_arena_alloc(m->arena, corners * sizeof(int));
    out->source = mor_arena_alloc(m->arena, faces * sizeof(int));
    if (!region || !degree || !out->start || !out->corners || !out->source) {
        mor_surface_out_of_memory(m);
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

static mor_polyhedron* refuse_dent(const mor_surface* m, const dent* d, mor_vec3 p, int vertex)
{
    mor_fail(
        m->error, MOR_BAD_INPUT,
        "%s: not convex: vertex %d (%g, %g, %g) lies %g m outside the plane of face %d; cut it into convex "
        "pieces (in scenes: decompose: {} beside mesh), or take its hull (hull: { mesh: FILE }) if the hollow does "
        "not matter",
        m->shape, vertex, p.x, p.y, p.z, d->depth, d->face);
    return NULL;
}

/* The hull if the mesh differs from it by rounding only, else NULL and the sentence about the dent. */
static mor_polyhedron* repair_dent(const mor_surface* m, const dent* d, mor_vec3 p, double volume, bool repair,
                                   mor_notes* notes)
{
    if (!repair) return refuse_dent(m, d, p, d->vertex);
    mor_vec3* used = mor_arena_alloc(m->arena, (size_t)m->corner_count * sizeof *used);
    if (!used) {
        mor_surface_out_of_memory(m);
        return NULL;
    }
    for (int k = 0; k < m->corner_count; k++) used[k] = m->points[m->corners[k]];
    /* what is bent by rounding shall come out flat; more than 1e-5 would flatten real edges */
    double tolerance = mor_max(MOR_TOLERANCE_MESH, mor_min(4.0 * d->depth / m->size, 1e-5));
    mor_polyhedron* hull = mor_polyhedron_hull(m->shape, used, m->corner_count, tolerance, m->error);
    if (!hull) return NULL;
    double full = mor_polyhedron_volume(hull);
    if (d->depth > REPAIR * m->size && fabs(full - volume) > REPAIR_VOLUME * full) {
        mor_polyhedron_free(hull);
        return refuse_dent(m, d, p, d->vertex);
    }
    mor_note(notes, "convex but for %.2g m of rounding: replaced by its hull", d->depth);
    return hull;
}

static mor_polyhedron* build(mor_surface* m, const mor_face_loops* in, bool repair, mor_notes* notes)
{
    if (!mor_surface_take(m, in, notes)) return NULL;
    dent worst = { m->t, -1, -1 };
    if (!faces_flat(m, &worst)) return NULL;
    deepest_edge(m, &worst);
    if (worst.face >= 0) {
        worst.face = m->source[worst.face];
        return repair_dent(m, &worst, m->points[worst.vertex], m->volume, repair, notes);
    }
    loops merged = { 0 };
    mor_polyhedron* P = merge(m, in->point_count, &merged);
    if (!P) return NULL;
    worst.depth = 4 * m->t; /* merged faces may be off by t at both ends */
    deepest_vertex(P, &merged, &worst);
    if (worst.face >= 0) {
        mor_vec3 p = P->vertices[worst.vertex];
        mor_polyhedron_free(P);
        return repair_dent(m, &worst, p, m->volume, repair, notes);
    }
    return P;
}

mor_polyhedron* mor_polyhedron_build(const char* shape, const mor_face_loops* in, double tolerance, bool repair,
                                     mor_notes* notes, mor_error* error)
{
    mor_surface m = { .shape = shape,
                      .error = error,
                      .points = in->points,
                      .point_count = in->point_count,
                      .tolerance = tolerance,
                      .arena = mor_arena_create(NULL) };
    if (!m.arena) {
        mor_surface_out_of_memory(&m);
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
    memcpy(P->directions, old->directions, (size_t)old->edge_count * sizeof *P->directions);
    memcpy(P->edge_direction, old->edge_direction, (size_t)old->edge_count * sizeof(int));
    P->direction_count = old->direction_count;
    P->is_box = old->is_box;
    memcpy(P->box_edges, old->box_edges, sizeof P->box_edges);
    P->half = mor_scale(s, old->half);
    return P;
}
