/* Clipping a part of a solid by a plane, exactly.
 *
 * A part is the solid within a convex cell, cut out plane by plane. Its surface is the clipped triangles of the mesh
 * and, on each plane, a cap. The cap need not be triangulated: the clipped triangles have a boundary on the plane, a
 * set of directed segments a -> b, and the cone (b, a, c) over them from any point c of the plane closes the chain. The
 * triangles of a cone may overlap and may be turned, but in sums over signed tetrahedra the overlaps cancel: volume and
 * moments are those of the true cap, whatever its shape. When the part is cut again its cones are clipped like other
 * triangles.
 *
 * Corners of the part, for its convex hull, are corners of the clipped mesh triangles, and the points where three
 * planes of the cell meet inside the solid (winding number > 0). Corners of cones are not.
 *
 * Points within EPS of the plane count as on it. A triangle that lies in the plane is left out: the cone over the
 * boundary of the others replaces it. Points on a shared edge are computed from its lower to its higher end, once. */
#include "geometry/part.h"

#include <stdint.h>
#include <string.h>

static const double EPS = 1e-9; /* of the diagonal; the mesh was welded at 1e-6 */

mor_part mor_part_whole(const mor_solid* s)
{
    return (
        mor_part){ .points = s->points, .point_count = s->point_count, .faces = s->faces, .face_count = s->face_count };
}

mor_mass mor_part_mass(const mor_part* part)
{
    mor_moments sum = { .c = part->point_count ? part->points[0] : mor_v3(0, 0, 0) };
    for (int f = 0; f < part->face_count; f++) {
        const int* t = part->faces[f];
        mor_moments_add(&sum, part->points[t[0]], part->points[t[1]], part->points[t[2]]);
    }
    for (int f = 0; f < part->cap_count; f++)
        mor_moments_add(&sum, part->caps[f][0], part->caps[f][1], part->caps[f][2]);
    return mor_moments_mass(&sum);
}

int mor_part_corners(const mor_solid* s, const mor_part* part, mor_plane plane, mor_vec3* out, int room)
{
    int n = 0;
    double slack = EPS * s->diagonal;
    for (int i = 0; i < part->cell_count; i++)
        for (int j = i + 1; j < part->cell_count; j++) {
            const mor_plane *a = &part->cell[i], *b = &part->cell[j];
            mor_vec3 bc = mor_cross(b->normal, plane.normal);
            double det = mor_dot(a->normal, bc);
            if (fabs(det) < 1e-6) continue; /* nearly parallel */
            mor_vec3 x = mor_scale(a->offset, bc);
            x = mor_madd(x, b->offset, mor_cross(plane.normal, a->normal));
            x = mor_scale(1.0 / det, mor_madd(x, plane.offset, mor_cross(a->normal, b->normal)));
            bool within = true;
            for (int k = 0; k < part->cell_count && within; k++)
                within = k == i || k == j || mor_dot(part->cell[k].normal, x) <= part->cell[k].offset + slack;
            if (within && n < room && mor_solid_winding(s, x) > 0) out[n++] = x;
        }
    return n;
}

/* What a clip writes. */
typedef struct clipping {
    mor_plane plane;
    mor_part* out;
    mor_vec3 apex;  /* of the cones */
    int* number;    /* of the old points in the new list, -1: none yet */
    uint64_t* keys; /* of cut edges: a hash table of numbers */
    int* values;
    uint32_t mask;
} clipping;

static bool before(mor_vec3 a, mor_vec3 b)
{
    if (a.x != b.x) return a.x < b.x;
    if (a.y != b.y) return a.y < b.y;
    return a.z < b.z;
}

static mor_vec3 crossing(mor_vec3 a, double da, mor_vec3 b, double db)
{
    if (before(b, a)) return mor_lerp(b, a, db / (db - da));
    return mor_lerp(a, b, da / (da - db));
}

static int keep_point(clipping* c, const mor_part* in, int p)
{
    if (c->number[p] < 0) {
        c->number[p] = c->out->point_count;
        c->out->points[c->out->point_count++] = in->points[p];
    }
    return c->number[p];
}

static int cut_edge(clipping* c, const mor_part* in, const double* d, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    uint64_t key = ((uint64_t)(uint32_t)low << 32 | (uint32_t)high) + 1;
    uint32_t h = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32) & c->mask;
    while (c->keys[h] && c->keys[h] != key) h = (h + 1) & c->mask;
    if (!c->keys[h]) {
        c->keys[h] = key;
        c->values[h] = c->out->point_count;
        c->out->points[c->out->point_count++] = crossing(in->points[low], d[low], in->points[high], d[high]);
    }
    return c->values[h];
}

static void add_cap(clipping* c, mor_vec3 a, mor_vec3 b, mor_vec3 apex)
{
    mor_vec3* t = c->out->caps[c->out->cap_count++];
    t[0] = a;
    t[1] = b;
    t[2] = apex;
}

static void clip_face(clipping* c, const mor_part* in, const double* d, const int* t)
{
    int polygon[4], n = 0;
    bool on[4], below = false;
    for (int k = 0; k < 3; k++) below = below || d[t[k]] < 0.0;
    if (!below) return;
    for (int k = 0; k < 3; k++) {
        int a = t[k], b = t[(k + 1) % 3];
        if (d[a] <= 0.0) {
            on[n] = d[a] == 0.0;
            polygon[n++] = keep_point(c, in, a);
        }
        if ((d[a] < 0.0 && d[b] > 0.0) || (d[a] > 0.0 && d[b] < 0.0)) {
            on[n] = true;
            polygon[n++] = cut_edge(c, in, d, a, b);
        }
    }
    for (int k = 1; k + 1 < n; k++) {
        int* f = c->out->faces[c->out->face_count++];
        f[0] = polygon[0];
        f[1] = polygon[k];
        f[2] = polygon[k + 1];
    }
    for (int k = 0; k < n; k++)
        if (on[k] && on[(k + 1) % n])
            add_cap(c, c->out->points[polygon[(k + 1) % n]], c->out->points[polygon[k]], c->apex);
}

static void clip_cap(clipping* c, const mor_vec3 t[3], double eps)
{
    mor_vec3 polygon[4];
    double d[3];
    bool on[4], below = false;
    int n = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = mor_dot(c->plane.normal, t[k]) - c->plane.offset;
        if (fabs(d[k]) <= eps) d[k] = 0.0;
        below = below || d[k] < 0.0;
    }
    if (!below) return;
    for (int k = 0; k < 3; k++) {
        int j = (k + 1) % 3;
        if (d[k] <= 0.0) {
            on[n] = d[k] == 0.0;
            polygon[n++] = t[k];
        }
        if ((d[k] < 0.0 && d[j] > 0.0) || (d[k] > 0.0 && d[j] < 0.0)) {
            on[n] = true;
            polygon[n++] = crossing(t[k], d[k], t[j], d[j]);
        }
    }
    for (int k = 1; k + 1 < n; k++) add_cap(c, polygon[0], polygon[k], polygon[k + 1]);
    for (int k = 0; k < n; k++)
        if (on[k] && on[(k + 1) % n]) add_cap(c, polygon[(k + 1) % n], polygon[k], c->apex);
}

/* Memory for what a clip can write at most. */
static bool make_room(clipping* c, mor_arena* arena, const mor_part* in, const double* d)
{
    size_t across = 0, touching = 0;
    for (int f = 0; f < in->face_count; f++) {
        int below = 0, above = 0;
        for (int k = 0; k < 3; k++) below += d[in->faces[f][k]]<0.0, above += d[in->faces[f][k]]> 0.0;
        across += below && above;
        touching += below && below < 3;
    }
    uint32_t slots = 16;
    while (slots < 6 * across) slots *= 2;
    c->mask = slots - 1;
    c->keys = mor_arena_zero(arena, slots, sizeof *c->keys);
    c->values = mor_arena_alloc(arena, slots * sizeof *c->values);
    c->number = mor_arena_alloc(arena, ((size_t)in->point_count + 1) * sizeof *c->number);
    mor_part* out = c->out;
    size_t points = (size_t)in->point_count + 2 * across + 1, caps = 3 * (size_t)in->cap_count + touching + 1;
    size_t pairs = (size_t)in->cell_count * (size_t)in->cell_count / 2;
    out->points = mor_arena_alloc(arena, points * sizeof *out->points);
    out->faces = mor_arena_alloc(arena, ((size_t)in->face_count + across + 1) * sizeof *out->faces);
    out->caps = mor_arena_alloc(arena, caps * sizeof *out->caps);
    out->corners = mor_arena_alloc(arena, ((size_t)in->corner_count + pairs + 1) * sizeof *out->corners);
    out->cell = mor_arena_alloc(arena, ((size_t)in->cell_count + 1) * sizeof *out->cell);
    return c->keys && c->values && c->number && out->points && out->faces && out->caps && out->corners && out->cell;
}

bool mor_part_clip(const mor_solid* s, mor_arena* arena, const mor_part* in, mor_plane plane, mor_part* below)
{
    double eps = EPS * s->diagonal;
    double* d = mor_arena_alloc(arena, ((size_t)in->point_count + 1) * sizeof *d);
    clipping c = { .plane = plane, .out = below };
    *below = (mor_part){ 0 };
    if (!d) return false;
    for (int i = 0; i < in->point_count; i++) {
        d[i] = mor_dot(plane.normal, in->points[i]) - plane.offset;
        if (fabs(d[i]) <= eps) d[i] = 0.0;
    }
    if (!make_room(&c, arena, in, d)) return false;
    for (int i = 0; i < in->point_count; i++) c.number[i] = -1;
    mor_vec3 middle = mor_lerp(s->low, s->high, 0.5);
    c.apex = mor_madd(middle, plane.offset - mor_dot(plane.normal, middle), plane.normal);
    for (int f = 0; f < in->face_count; f++) clip_face(&c, in, d, in->faces[f]);
    for (int f = 0; f < in->cap_count; f++) clip_cap(&c, (const mor_vec3*)in->caps[f], eps);
    for (int i = 0; i < in->corner_count; i++)
        if (mor_dot(plane.normal, in->corners[i]) <= plane.offset + eps)
            below->corners[below->corner_count++] = in->corners[i];
    below->corner_count +=
        mor_part_corners(s, in, plane, below->corners + below->corner_count, in->cell_count * in->cell_count / 2);
    if (in->cell_count) memcpy(below->cell, in->cell, (size_t)in->cell_count * sizeof *in->cell);
    below->cell_count = in->cell_count;
    below->cell[below->cell_count++] = plane;
    return true;
}
